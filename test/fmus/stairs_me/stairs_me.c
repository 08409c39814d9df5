// A counter that rises at multiples of `period` (time events, told in advance), and its integral: x' = counter.
// Model exchange only. The end of the run is wanted when the counter reaches `last` (0: never).
#include "skeleton.h"

#include <math.h>

enum { COUNTER = 1, X, DER_X, PERIOD, LAST };

typedef struct values {
  double x, dx, period;
  int32_t counter, last;
  int64_t n_events;
} values;

static const fmu_variable variables[] = {
    {COUNTER, INT32, START, offsetof(values, counter), 1},
    {X, REAL, START, offsetof(values, x), 1},
    {DER_X, REAL, READ, offsetof(values, dx), 1},
    {PERIOD, REAL, START, offsetof(values, period), 1},
    {LAST, INT32, START, offsetof(values, last), 1},
};

static void start(fmu* m) {
  ((values*)m->values)->period = 0.2;
}

static double slack(double t) {
  return 1e-12 * fmax(1.0, fabs(t));
}

static int initialise(fmu* m) {
  values* v = m->values;
  v->n_events = (int64_t)floor((m->time + slack(m->time)) / v->period);
  return FMU_OK;
}

static double* states(fmu* m) {
  return &((values*)m->values)->x;
}

static void derivatives(fmu* m, double dx[]) {
  dx[0] = (double)((const values*)m->values)->counter;
}

static void outputs(fmu* m) {
  derivatives(m, &((values*)m->values)->dx);
}

static void event(fmu* m, fmu_event* event) {
  values* v = m->values;
  while ((double)(v->n_events + 1) * v->period <= m->time + slack(m->time)) {
    v->n_events++;
    v->counter++;
  }
  event->is_end_wanted = v->last > 0 && v->counter >= v->last;
  event->has_next = true;
  event->t_next = (double)(v->n_events + 1) * v->period;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-stairs_me",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .initialise = initialise,
    .outputs = outputs,
    .n_states = 1,
    .states = states,
    .derivatives = derivatives,
    .event = event,
};
