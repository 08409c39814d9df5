// Many events in one model, several of them at the same time, all with known answers (t counts from the start):
//   s    a relay: rises with slope 1 to 1, falls with slope -2 to 0, and so on: it turns at 1, 1.5, 2.5, 3, 4, ...
//   c    the time as a state; a crossing of 0.5 is noted once, in t_half
//   n    counts time events at 0, 0.25, 0.5, ...: the first is due when the run starts
//   h1, h2  two balls dropped together from 1 m with e = 0.7 and 0.5: they hit the ground first in the same instant.
//        As vendors do it, the height becomes the smallest positive number; below v_min a ball lies still.
// At t = 0.5 the crossing of c and a time event coincide, at 1, 1.5, 2.5, ... turns and time events. Model exchange only.
#include "skeleton.h"

#include <float.h>

enum { N_STATES = 6 };

typedef struct ball {
  double e;
  bool is_lying;
  double n;
} ball;

typedef struct values {
  double x[N_STATES];  // s, c, h1, v1, h2, v2
  double dx[N_STATES];
  double slope, n_turns, t_turn, t_half, n, t_start, is_begun;
  ball balls[2];
} values;

static const fmu_variable variables[] = {
    {1, REAL, START, offsetof(values, x[0]), 1},
    {2, REAL, START, offsetof(values, x[1]), 1},
    {3, REAL, START, offsetof(values, x[2]), 1},
    {4, REAL, START, offsetof(values, x[3]), 1},
    {5, REAL, START, offsetof(values, x[4]), 1},
    {6, REAL, START, offsetof(values, x[5]), 1},
    {7, REAL, READ, offsetof(values, dx[0]), 1},
    {8, REAL, READ, offsetof(values, dx[1]), 1},
    {9, REAL, READ, offsetof(values, dx[2]), 1},
    {10, REAL, READ, offsetof(values, dx[3]), 1},
    {11, REAL, READ, offsetof(values, dx[4]), 1},
    {12, REAL, READ, offsetof(values, dx[5]), 1},
    {13, REAL, READ, offsetof(values, n_turns), 1},
    {14, REAL, READ, offsetof(values, t_turn), 1},
    {15, REAL, READ, offsetof(values, t_half), 1},
    {16, REAL, READ, offsetof(values, n), 1},
    {17, REAL, READ, offsetof(values, balls[0].n), 1},
    {18, REAL, READ, offsetof(values, balls[1].n), 1},
};

static const double g = 9.81, v_min = 0.1, period = 0.25;

static void start(fmu* m) {
  *(values*)m->values =
      (values){.x = {0, 0, 1, 0, 1, 0}, .slope = 1, .balls = {{.e = 0.7}, {.e = 0.5}}};
}

static double* states(fmu* m) {
  return ((values*)m->values)->x;
}

static void derivatives(fmu* m, double dx[]) {
  const values* v = m->values;
  dx[0] = v->slope;
  dx[1] = 1;
  for (int i = 0; i < 2; i++) {
    dx[2 + 2 * i] = v->x[3 + 2 * i];
    dx[3 + 2 * i] = v->balls[i].is_lying ? 0 : -g;
  }
}

static void indicators(fmu* m, double z[]) {
  const values* v = m->values;
  z[0] = v->x[0] - 1;
  z[1] = v->x[0];
  z[2] = v->x[1] - 0.5;
  for (int i = 0; i < 2; i++) {
    z[3 + i] = v->balls[i].is_lying ? 1 : v->x[2 + 2 * i];
  }
}

static void outputs(fmu* m) {
  derivatives(m, ((values*)m->values)->dx);
}

static void turn(values* v, double t, double slope) {
  v->slope = slope;
  v->n_turns++;
  v->t_turn = t - v->t_start;
}

static bool bounce(ball* b, double* h, double* speed) {
  if (b->is_lying || *h > 0 || *speed >= 0) {
    return false;
  }
  *h = DBL_MIN;
  *speed *= -b->e;
  b->n++;
  if (*speed < v_min) {
    b->is_lying = true;
    *speed = 0;
  }
  return true;
}

static void event(fmu* m, fmu_event* event) {
  values* v = m->values;
  const double t = m->time;
  event->has_next = true;
  // the first update only says that an event is due at once
  if (v->is_begun == 0) {
    v->is_begun = 1;
    v->t_start = t;
    event->t_next = t;
    return;
  }
  if (v->slope > 0 && v->x[0] > 1) {
    turn(v, t, -2);
  } else if (v->slope < 0 && v->x[0] <= 0) {
    turn(v, t, 1);
  }
  if (v->t_half == 0 && v->x[1] > 0.5) {
    v->t_half = t - v->t_start;
  }
  for (int i = 0; i < 2; i++) {
    event->are_states_changed |= bounce(&v->balls[i], &v->x[2 + 2 * i], &v->x[3 + 2 * i]);
  }
  if (t >= v->t_start + v->n * period) {
    v->n++;
  }
  event->t_next = v->t_start + v->n * period;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-medley",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .outputs = outputs,
    .n_states = N_STATES,
    .n_indicators = 5,
    .states = states,
    .derivatives = derivatives,
    .indicators = indicators,
    .event = event,
};
