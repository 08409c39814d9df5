// A periodic input clock `tick` (0.1 s), on which n counts and sum adds up the clocked input u; a triggered output clock
// `alarm` that ticks together with it whenever sum crosses a multiple of `threshold`, and counts its own ticks.
//   tick:  n += 1,  sum += u,  alarm if floor(sum / threshold) changed
// The equations of a tick are computed once, when a value is read or at the end of the event; the clocks fall back then.
#include "skeleton.h"

#include <math.h>

typedef struct values {
  bool tick, alarm, is_done;
  double u, sum, threshold;
  int32_t n, n_alarms;
} values;

static const fmu_variable variables[] = {
    {1, CLOCK, DISCRETE, offsetof(values, tick), 1},
    {2, CLOCK, READ, offsetof(values, alarm), 1},
    {3, REAL, DISCRETE, offsetof(values, u), 1},
    {4, INT32, READ, offsetof(values, n), 1},
    {5, REAL, READ, offsetof(values, sum), 1},
    {6, INT32, READ, offsetof(values, n_alarms), 1},
    {7, REAL, START, offsetof(values, threshold), 1},
};

static void start(fmu* m) {
  ((values*)m->values)->threshold = 1.0;
}

static void outputs(fmu* m) {
  values* v = m->values;
  if (m->mode != EVENT || !v->tick || v->is_done) {
    return;
  }
  const double before = floor(v->sum / v->threshold);
  v->n++;
  v->sum += v->u;
  v->alarm = floor(v->sum / v->threshold) != before;
  v->n_alarms += v->alarm;
  v->is_done = true;
}

static void event(fmu* m, fmu_event* event) {
  values* v = m->values;
  (void)event;
  outputs(m);
  v->tick = v->alarm = v->is_done = false;
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  (void)m, (void)t, (void)h, (void)result;
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-clocks",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .outputs = outputs,
    .step = step,
    .event = event,
};
