// Faults on demand: a list of times, from the system file, a script, or written at run time.
//
//   "0.5 drop-out lm 0 0.02"     time [s], fault, place, value, duration [s]; commas or blanks; 0 s: to the end
//
// Places are mut, lm or both for motors, drives and sensors, out (commands), in (reports) or both for the link. A fault acts
// on whole cycles: from the first that begins at or after its time to the last that begins before its end.
#ifndef YOKE_MODELS_RIG_FAULT_H
#define YOKE_MODELS_RIG_FAULT_H

#include <stddef.h>
#include <stdint.h>

#include "models/rig/rig_drive.h"

typedef enum yoke_rig_fault_kind {
  YOKE_RIG_NONE,
  YOKE_RIG_FREEZE,    // the cell repeats its last sample
  YOKE_RIG_OFFSET,    // value [N.m] on the cell
  YOKE_RIG_NOISE,     // standard deviation [N.m] on top of the cell's own
  YOKE_RIG_DROP_OUT,  // no encoder: speed and position stay; the drive trips after 4 ms
  YOKE_RIG_TRIP,      // the drive trips
  YOKE_RIG_RUNAWAY,   // the drive ignores its command and gives this torque [N.m]
  YOKE_RIG_OVERHEAT,  // extra heat in the winding [W]
  YOKE_RIG_BUS_LOSS,  // nothing passes the link
  YOKE_RIG_LOSS,      // from here on of the link: probability on top of its own
  YOKE_RIG_DUPLICATE,
  YOKE_RIG_REORDER,
  YOKE_RIG_DELAY,  // [s]
  YOKE_RIG_JITTER,
  YOKE_RIG_N_FAULTS,
} yoke_rig_fault_kind;

enum { YOKE_RIG_AT_MUT, YOKE_RIG_AT_LM, YOKE_RIG_AT_OUT, YOKE_RIG_AT_IN, YOKE_RIG_AT_BOTH };

// What faults do to one direction of the link; all zero: nothing.
typedef struct yoke_rig_link_upset {
  int64_t is_down;
  double loss, duplicate, reorder;  // probabilities on top
  double delay, jitter;             // [s], on top
} yoke_rig_link_upset;

// Everything that acts in a cycle.
typedef struct yoke_rig_upsets {
  yoke_rig_upset motors[YOKE_RIG_N_MOTORS];
  yoke_rig_link_upset links[2];  // out, in
} yoke_rig_upsets;

enum { YOKE_RIG_MAX_FAULTS = 32 };

typedef struct yoke_rig_fault {
  int64_t kind, place;  // YOKE_RIG_AT_...
  double time, value, duration;
} yoke_rig_fault;

typedef struct yoke_rig_faults {
  int64_t n_faults;
  yoke_rig_fault list[YOKE_RIG_MAX_FAULTS];
  yoke_rig_fault live;  // acts while its kind is not none, whatever its times
} yoke_rig_faults;

// NULL-terminated names, in the order of the kinds: "none", "freeze", ...
extern const char* const yoke__rig_fault_names[];
// The same for the places: "mut", "lm", "out", "in", "both".
extern const char* const yoke__rig_place_names[];

// One line of n bytes; a problem is returned as text, with its column from 1 (0: the whole line; column may be NULL). NULL: the
// fault was added.
const char* yoke__rig_fault_add(yoke_rig_faults* faults, const char* line, size_t n, int* column);
// What acts at time t.
yoke_rig_upsets yoke__rig_fault_apply(const yoke_rig_faults* faults, double t);

#endif
