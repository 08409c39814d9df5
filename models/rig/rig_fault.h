// Faults on demand: a list of times, from the system file, a script, or written at run time.
//
//   "0.5 drop-out lm 0 0.02"     time [s], fault, node, value, duration [s]; commas or blanks; 0 s: to the end
//
// A fault acts on whole cycles: from the first that begins at or after its time to the last that begins before its end.
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
  YOKE_RIG_BUS_LOSS,  // nothing passes the link, both directions
  YOKE_RIG_N_FAULTS,
} yoke_rig_fault_kind;

enum { YOKE_RIG_MAX_FAULTS = 32 };

typedef struct yoke_rig_fault {
  int64_t kind, node;  // node 0, 1: motor under test, load motor
  double time, value, duration;
} yoke_rig_fault;

typedef struct yoke_rig_faults {
  int64_t n_faults;
  yoke_rig_fault list[YOKE_RIG_MAX_FAULTS];
  yoke_rig_fault live;  // acts while its kind is not none, whatever its times
} yoke_rig_faults;

// NULL-terminated names, in the order of the kinds: "none", "freeze", ...
extern const char* const yoke__rig_fault_names[];

// One line of n bytes; a problem is returned as text, NULL if the fault was added.
const char* yoke__rig_fault_add(yoke_rig_faults* faults, const char* line, size_t n);
// Sets what acts at time t; true while the bus is lost.
bool yoke__rig_fault_apply(const yoke_rig_faults* faults, double t,
                           yoke_rig_upset upsets[YOKE_RIG_N_MOTORS]);

#endif
