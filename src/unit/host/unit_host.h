// A unit in a process of its own: a table of operations whose calls go through shared memory to a process that holds the
// real unit. A crash, a hang or a leak there is a message here. See docs/isolation.md.
#ifndef YOKE_UNIT_HOST_H
#define YOKE_UNIT_HOST_H

#include "unit/unit_file.h"
#include "yoke/unit.h"

// How the other process makes the unit, and how it is treated.
typedef struct yoke_host_plan {
  const yoke_unit_file_settings* settings;  // read by create only
  // What the unit says of itself, as far as known here; its texts must outlive the unit. NULL: the other process tells.
  const yoke_unit_info* info;
} yoke_host_plan;

// Starts the process, makes the unit there and waits for it. On failure the sink got the reason and nothing is left behind.
yoke_status yoke__host_create(const yoke_host_plan* plan, const yoke_unit_args* args, void** self,
                              const yoke_sink* sink);

// The table for such units: it offers what `inner` offers. `create` takes its plan from args->context
// (const yoke_host_plan*); the caller sets out->context, or puts a create of its own in its place.
void yoke__host_fill_ops(const yoke_unit_ops* inner, yoke_unit_ops* out);

typedef struct yoke_host_statistics {
  int pid;
  bool is_failed;
  bool is_spinning;            // waits by spinning first
  uint64_t n_calls, n_sleeps;  // calls to the other process; those that slept until it answered
  uint64_t n_steps;
  double step_median_s, step_p99_s;  // one step as the caller sees it
  double inner_median_s;             // the part of it spent in the unit itself
} yoke_host_statistics;

void yoke__host_statistics(const void* self, yoke_host_statistics* out);

// From now on steps are measured.
void yoke__host_measure(void* self);
// Time that the unit itself took for its last step [s], and what of it was on the processor.
void yoke__host_last_step(const void* self, double* wall_s, double* cpu_s);

// The other process: argv[1] names the inherited descriptor.
int yoke__host_main(int argc, char** argv);

#endif
