// A counter that rises at multiples of `period`, and its integral: x' = counter. With event mode a step ends at the event
// (early return) or, if it must not, runs through and counts by itself, as without event mode.
// The input u is discrete: y = 2 u changes at events, that is in event mode, or between steps if there is none.
// The end of the run is wanted when the counter reaches `last` (0: never).
#include "skeleton.h"

#include <math.h>

typedef struct values {
  double u, y, x;
  double period;
  int32_t counter, last;
  int64_t n_events;  // from the start time on; the counter may have another start value
} values;

static const fmu_variable variables[] = {
    {1, REAL, DISCRETE, offsetof(values, u), 1},     {2, REAL, READ, offsetof(values, y), 1},
    {3, INT32, START, offsetof(values, counter), 1}, {4, REAL, START, offsetof(values, x), 1},
    {5, REAL, START, offsetof(values, period), 1},   {6, INT32, START, offsetof(values, last), 1},
};

// An event belongs to a time if it is not later than this much after it.
static double slack(double t) {
  return 1e-12 * fmax(1.0, fabs(t));
}

static double next_event(const values* v) {
  return (double)(v->n_events + 1) * v->period;
}

static void start(fmu* m) {
  ((values*)m->values)->period = 0.2;
}

static int initialise(fmu* m) {
  values* v = m->values;
  if (!(v->period > 0.0)) {
    fmu_log(m, FMU_ERROR, "logStatusError", "period must be above 0");
    return FMU_ERROR;
  }
  // events at or before the start time are over
  v->n_events = (int64_t)floor((m->time + slack(m->time)) / v->period);
  v->y = 2.0 * v->u;
  return FMU_OK;
}

static void outputs(fmu* m) {
  values* v = m->values;
  // with event mode the discrete output moves only there
  if (!m->has_event_mode || m->mode == INITIALISATION) {
    v->y = 2.0 * v->u;
  }
}

static bool is_over(const values* v) {
  return v->last > 0 && v->counter >= v->last;
}

static void event(fmu* m, fmu_event* event) {
  values* v = m->values;
  while (next_event(v) <= m->time + slack(m->time)) {
    v->n_events++;
    v->counter++;
  }
  v->y = 2.0 * v->u;
  event->is_end_wanted = is_over(v);
  event->has_next = true;
  event->t_next = next_event(v);
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  double from = t;
  while (next_event(v) <= t + h + slack(t + h)) {
    const double at = fmin(next_event(v), t + h);
    v->x += (at - from) * (double)v->counter;
    from = at;
    const bool is_end = at >= t + h - slack(t + h);
    if (m->has_event_mode && (is_end || m->may_return_early)) {
      // the counter moves in event mode
      result->is_event_needed = true;
      result->is_early = !is_end;
      result->t = is_end ? t + h : at;
      return FMU_OK;
    }
    v->n_events++;
    v->counter++;
  }
  v->x += (t + h - from) * (double)v->counter;
  result->is_end_wanted = is_over(v);
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-stairs",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .initialise = initialise,
    .outputs = outputs,
    .step = step,
    .event = event,
};
