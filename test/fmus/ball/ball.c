// A bouncing ball: h' = v, v' = -g; at h = 0 and v < 0 the speed becomes -e v, and the ball lies still once it is below
// v_min. From h0 = 1 it hits the ground first at t = sqrt(2/g), then after 2 e^k v0 / g each time.
// Co-simulation follows the parabolas exactly from impact to impact.
#include "skeleton.h"

#include <math.h>

enum { H = 1, DER_H, V, DER_V, G, E, V_MIN, BOUNCES, Z };

typedef struct values {
  double x[2];  // h, v
  double dh, dv, z;
  double g, e, v_min;
  int32_t n_bounces;
  bool is_lying;
} values;

static const fmu_variable variables[] = {
    {H, REAL, START, offsetof(values, x[0]), 1},
    {DER_H, REAL, READ, offsetof(values, dh), 1},
    {V, REAL, START, offsetof(values, x[1]), 1},
    {DER_V, REAL, READ, offsetof(values, dv), 1},
    {G, REAL, START, offsetof(values, g), 1},
    {E, REAL, TUNE, offsetof(values, e), 1},
    {V_MIN, REAL, START, offsetof(values, v_min), 1},
    {BOUNCES, INT32, READ, offsetof(values, n_bounces), 1},
    {Z, REAL, READ, offsetof(values, z), 1},
};

static void start(fmu* m) {
  *(values*)m->values = (values){.x = {1.0, 0.0}, .g = 9.81, .e = 0.7, .v_min = 0.1};
}

static double* states(fmu* m) {
  return ((values*)m->values)->x;
}

static void derivatives(fmu* m, double dx[]) {
  const values* v = m->values;
  dx[0] = v->x[1];
  dx[1] = v->is_lying ? 0.0 : -v->g;
}

static void indicators(fmu* m, double z[]) {
  const values* v = m->values;
  // lying still is no event: the indicator stays away from zero then
  z[0] = v->is_lying ? 1.0 : v->x[0] == 0.0 && v->x[1] > 0.0 ? 1e-300 : v->x[0];
}

static void outputs(fmu* m) {
  values* v = m->values;
  double dx[2];
  derivatives(m, dx);
  v->dh = dx[0];
  v->dv = dx[1];
  indicators(m, &v->z);
}

static void bounce(values* v) {
  v->x[0] = 0.0;
  v->x[1] = -v->e * v->x[1];
  v->n_bounces++;
  if (v->x[1] < v->v_min) {
    v->x[1] = 0.0;
    v->is_lying = true;
  }
}

static void event(fmu* m, fmu_event* event) {
  values* v = m->values;
  // whoever looks for the impact may stop a little before it
  if (v->x[0] <= 1e-8 && v->x[1] < 0.0 && !v->is_lying) {
    bounce(v);
    event->are_states_changed = true;
  }
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  double left = h;
  (void)t, (void)result;
  while (left > 0.0 && !v->is_lying) {
    // h + v s - g s^2 / 2 = 0: the later root, without cancellation while rising
    const double s = (v->x[1] + sqrt(v->x[1] * v->x[1] + 2.0 * v->g * v->x[0])) / v->g;
    if (s > left) {
      v->x[0] += (v->x[1] - 0.5 * v->g * left) * left;
      v->x[1] -= v->g * left;
      break;
    }
    v->x[1] -= v->g * s;
    bounce(v);
    left -= s;
  }
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-ball",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .outputs = outputs,
    .step = step,
    .n_states = 2,
    .n_indicators = 1,
    .states = states,
    .derivatives = derivatives,
    .indicators = indicators,
    .event = event,
};
