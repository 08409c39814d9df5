// Event mode and scheduled execution of FMI 3.0: clocks, values that wait, what an instance remembers between its calls.
//
// Everything that a step changes lies in one block without pointers (`live`), so that a saved state of the binary and
// our side of it are saved and restored together (unit_fmu.c).
#ifndef YOKE_UNIT_FMU_FMU_EVENTS_H
#define YOKE_UNIT_FMU_FMU_EVENTS_H

#include "unit/fmu/fmu.h"

enum {
  FMU_MAX_ROUNDS = 100,    // updates of the discrete states in one event
  FMU_MAX_EVENTS = 10000,  // events and early returns in one step
};

// When a clock ticks next. With a fraction: origin + counter / resolution; else: origin + offset + n * interval. Both
// come from an integer, so that the millionth tick is as exact as the first.
typedef struct fmu_tick {
  bool is_known, is_fraction, has_ticked;
  uint64_t counter, each, resolution;
  uint64_t n;
  double origin, offset, interval;
  double t_last;  // the tick before
} fmu_tick;

// An input clock that ticks by time; fmu_tick is its changing part.
typedef struct fmu_clock {
  uint32_t reference;
  uint32_t index;  // in the variables of the description
  const yoke_fmi_clock* source;
  bool is_periodic;  // constant, fixed, calculated, tunable
  bool is_asked;     // the interval comes from the binary, in every event
} fmu_clock;

// A value that waits on our side: a discrete input until the next event, or, if it has clocks, until one of them ticks; a
// clocked output until somebody reads it.
typedef struct fmu_waiting {
  size_t variable;
  size_t at, size;               // typed: bytes in `values`; real: place in u or y
  size_t first_clock, n_clocks;  // in `clocked` of the description
} fmu_waiting;

// A clock that the binary ticks: an output or a local.
typedef struct fmu_shown {
  size_t variable;
  size_t first_clock, n_clocks;  // clocks it depends on itself
} fmu_shown;

// The fixed part of the block; arrays follow.
typedef struct fmu_live {
  bool is_in_event_mode;
  bool has_next;       // the binary knows its next time event
  bool is_end_wanted;  // asked for before the first step
  bool is_changed;     // a discrete real input differs from what the binary has
  bool has_jumped;     // discrete inputs were handed over since the last step
  double t_next;
  double t_tried;  // a time event that was offered a rounding too early and not taken
  size_t n_waiting, n_waiting_clocked;
} fmu_live;

// What a step without event mode touches, in as few cache lines as it takes.
typedef struct fmu_near3 {
  fmi3SetFloat64TYPE* set_real;
  fmi3DoStepTYPE* do_step;
  fmi3GetFloat64TYPE* get_real;
  const uint32_t *inputs, *outputs;  // in `refs` if they fit
  size_t n_inputs, n_u, n_outputs, n_y;
  bool is_wide;  // Float32 is among them, or a part of the outputs is read: not so near
  uint32_t refs[2 * FMU_NEAR_REFS];
} fmu_near3;

typedef struct fmu_events {
  // of every FMI 3.0 instance
  fmu_near3 near;
  void* room;  // for one variable in the binary's own type
  // of event mode
  bool is_used;
  fmu_live* live;
  fmu_dense continuous, discrete;  // real inputs without clocks
  fmu_dense plain;                 // real outputs without clocks
  const fmu_dense* plain_read;     // those of them that somebody reads
  double *u, *y;                   // dense vectors as last given, as last read
  fmu_clock* clocks;
  fmu_tick* ticks;
  size_t n_clocks;
  fmu_clock* triggers;  // input clocks that somebody else ticks
  uint8_t* levels;      // the boolean that drives each
  size_t n_triggers;
  fmu_shown* shown;
  uint8_t* shown_ticked;  // since the start of the step
  size_t n_shown;
  bool* is_on;        // per variable of the description: a clock that is active in this round
  uint32_t* ticking;  // for one call: references
  bool* active;       // and what goes with them
  fmu_waiting *inputs, *outputs;  // typed: discrete inputs and tunable parameters; clocked outputs
  fmu_waiting *real_inputs, *real_outputs;  // real, clocked
  uint8_t* is_waiting;                      // per typed input
  size_t n_inputs, n_outputs, n_real_inputs, n_real_outputs;
  unsigned char* values;
  uint32_t* place;  // per variable 1 + its index in the list of its kind; 0: none
  // scheduled execution: the activation on its way
  bool is_activating;
  double t_activation;
  yoke_status update_status;  // of what was asked for in the callback
} fmu_events;

// --- fmu_events.c
// Does the unit use event mode: the FMU has it and nobody switched it off.
bool yoke__fmu_events_wanted(const fmu_file* file);
// Lays everything into the instance's arena. YOKE_NO_SUPPORT: the binary lacks a function.
yoke_status yoke__fmu_events_open(fmu* f, const yoke_sink* sink);
// At the end of initialisation, while the binary is still in it: intervals of the clocks, values of clocked outputs.
yoke_status yoke__fmu_events_prepare(fmu* f);
// Enters event mode, hands over what waits, updates the discrete states until nothing changes, returns to step mode.
// is_at_start: of a step, where triggered clocks tick. *is_end_wanted: the binary asks to end the run; it stays in
// event mode then.
yoke_status yoke__fmu_events_handle(fmu* f, double t, double tolerance, bool is_at_start,
                                    bool* is_end_wanted);
// Enters event mode and hands over what waits, no more: outputs may be read, no state has moved.
yoke_status yoke__fmu_events_enter(fmu* f);
// Is there a reason for an event at t: clocks and time events due within tolerance.
bool yoke__fmu_events_is_due(const fmu* f, double t, double tolerance);
// Is there a reason for one at the start of a step: inputs that wait, triggered clocks.
bool yoke__fmu_events_has_inputs(const fmu* f);
// The next clock or time event after t, if it lies clearly before `end`; else `end`.
double yoke__fmu_events_next(const fmu* f, double t, double end, double tolerance);

// Real inputs and outputs of a unit that uses these lists.
yoke_status yoke__fmu_events_set_inputs(void* self, const double u[], size_t n_u);
yoke_status yoke__fmu_events_get_outputs(const void* self, double y[], size_t n_y);

// Scheduled execution, one tick: the due clock that comes first by priority, then its place in the file (NULL: none is due),
// is taken off the list; its inputs and all without a clock are handed over; in the callback of the binary: clocks that it
// ticks, intervals of countdown clocks; afterwards the outputs of the clocks that ticked and intervals that may have changed.
// is_triggered: per clock that others tick; cleared where it is taken.
yoke_status yoke__fmu_events_take(fmu* f, double t, double tolerance, bool is_triggered[],
                                  const fmu_clock** taken);
yoke_status yoke__fmu_events_send(fmu* f, const fmu_clock* clock);
yoke_status yoke__fmu_events_update(fmu* f, double t);
yoke_status yoke__fmu_events_fetch(fmu* f, double t);

// Typed values on their way: true if the value was kept or found here and the binary need not be asked.
bool yoke__fmu_events_keep(fmu* f, const fmu_slot* slot, const void* storage, yoke_status* status);
bool yoke__fmu_events_find(fmu* f, const fmu_slot* slot, void* storage);

// --- fmu_se.c: the callback of scheduled execution.
void yoke__fmu_se_update(fmi3InstanceEnvironment environment);

// --- fmu_version3.c
// One variable straight to and from the binary.
yoke_status yoke__fmu3_send(fmu* f, const fmu_slot* slot, const yoke_variable* v,
                            const void* storage);
yoke_status yoke__fmu3_fetch(fmu* f, const fmu_slot* slot, const yoke_variable* v, void* storage);

#endif
