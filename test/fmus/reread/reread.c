// The mass with the coupling element (oscillator_force) as a strict binary: outputs must not be read after something was set,
// before the next step (FMI 2.0, and FMI 3.0 in step mode). In event mode and in model exchange they may. `damper` may be
// quadratic, so that the feedthrough has no fixed slope. `what` goes wrong in steps shorter than half of `usual`, or in event
// mode. The descriptions differ in what they promise.
//   a = (-k x - c v - g) / m,  g = kc (x - x_other) + D(v - v_other),  v += h a,  x += h v,  f = g,  pulls = f > 0
#include "skeleton.h"

#include <math.h>

enum { X_OTHER = 1, V_OTHER, F, X, V, DER_X, DER_V, M, K, C, KC, CC, USUAL, DAMPER, WHAT, PULLS };
enum damper { LINEAR, QUADRATIC };
enum what {
  NONE,
  SHORT_ERROR,
  SHORT_DISCARD,
  SHORT_NOTHING,
  SHORT_LONG,
  EVENT_ERROR,
  EVENT_DISCARD
};

typedef struct values {
  double x_other, v_other, f, x[2], dx[2], m, k, c, kc, cc, usual;
  int64_t damper, what, is_kept;
  bool pulls;
} values;

static const fmu_variable variables[] = {
    {X_OTHER, REAL, INPUT, offsetof(values, x_other), 1},
    {V_OTHER, REAL, INPUT, offsetof(values, v_other), 1},
    {F, REAL, READ, offsetof(values, f), 1},
    {X, REAL, START, offsetof(values, x[0]), 1},
    {V, REAL, START, offsetof(values, x[1]), 1},
    {DER_X, REAL, READ, offsetof(values, dx[0]), 1},
    {DER_V, REAL, READ, offsetof(values, dx[1]), 1},
    {M, REAL, START, offsetof(values, m), 1},
    {K, REAL, START, offsetof(values, k), 1},
    {C, REAL, START, offsetof(values, c), 1},
    {KC, REAL, START, offsetof(values, kc), 1},
    {CC, REAL, START, offsetof(values, cc), 1},
    {USUAL, REAL, START, offsetof(values, usual), 1},
    {DAMPER, ENUM, START, offsetof(values, damper), 1},
    {WHAT, ENUM, START, offsetof(values, what), 1},
    {PULLS, BOOLEAN, READ, offsetof(values, pulls), 1},
};

static void start(fmu* m) {
  *(values*)m->values = (values){.m = 1.0, .k = 10.0, .kc = 100.0, .usual = 1e-3};
}

static double coupling_force(const values* o) {
  const double rate = o->x[1] - o->v_other;
  return o->kc * (o->x[0] - o->x_other) +
         (o->damper == QUADRATIC ? o->cc * (rate * fabs(rate)) : o->cc * rate);
}

static void derivatives(fmu* m, double dx[]) {
  const values* o = m->values;
  dx[0] = o->x[1];
  dx[1] = (-(o->k * o->x[0]) - o->c * o->x[1] - coupling_force(o)) / o->m;
}

static void outputs(fmu* m) {
  values* o = m->values;
  if (o->is_kept == 0) {
    o->f = coupling_force(o);
    o->pulls = o->f > 0.0;
    derivatives(m, o->dx);
  }
}

static double* states(fmu* m) {
  return ((values*)m->values)->x;
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* o = m->values;
  const bool is_short = h < 0.5 * o->usual;
  o->is_kept = is_short && o->what == SHORT_NOTHING;
  if (is_short && (o->what == SHORT_ERROR || o->what == SHORT_DISCARD)) {
    fmu_log(m, o->what == SHORT_ERROR ? FMU_ERROR : FMU_DISCARD, "logStatusError",
            "steps below %g s are too short", 0.5 * o->usual);
    result->t = t;
    return o->what == SHORT_ERROR ? FMU_ERROR : FMU_DISCARD;
  }
  if (o->is_kept != 0) {
    return FMU_OK;
  }
  if (is_short && o->what == SHORT_LONG) {
    h = o->usual;
    result->t = t + h;
  }
  double dx[2];
  derivatives(m, dx);
  o->x[1] += h * dx[1];
  o->x[0] += h * o->x[1];
  return FMU_OK;
}

static int may_read(fmu* m, bool is_set) {
  const values* o = m->values;
  if (is_set && m->mode == STEP) {
    fmu_log(m, FMU_ERROR, "logStatusError", "read after a set without a step in between");
    return FMU_ERROR;
  }
  if (is_set && m->mode == EVENT && o->what >= EVENT_ERROR) {
    fmu_log(m, FMU_ERROR, "logStatusError", "outputs are not computed in event mode");
    return o->what == EVENT_ERROR ? FMU_ERROR : FMU_DISCARD;
  }
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-reread",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .outputs = outputs,
    .step = step,
    .n_states = 2,
    .states = states,
    .derivatives = derivatives,
    .may_read = may_read,
};
