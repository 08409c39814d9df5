// A half-wave rectifier: a sine of 50 Hz charges a capacitor through a resistor and a diode, which is a small resistor
// while it conducts and a large one while it blocks; a load discharges it.
//
//   C v' = i - v / r_load,   i = (e - v) / (r + (on ? r_on : r_off)),   e = 10 sin(2 pi 50 t)
//
// The diode switches where e = v: one event indicator. While it conducts the capacitor follows within (r + r_on) C = 40 us;
// while it blocks within r_load C = 10 ms.
#include "skeleton.h"

#include <math.h>

enum { V = 1, DER_V, I, R_ON, IS_ON, Z };

typedef struct values {
  double v, dv, i, z, r_on;
  bool is_on;
} values;

static const fmu_variable variables[] = {
    {V, REAL, START, offsetof(values, v), 1},
    {DER_V, REAL, READ, offsetof(values, dv), 1},
    {I, REAL, READ, offsetof(values, i), 1},
    {R_ON, REAL, START, offsetof(values, r_on), 1},
    {IS_ON, BOOLEAN, READ, offsetof(values, is_on), 1},
    {Z, REAL, READ, offsetof(values, z), 1},
};

static void start(fmu* m) {
  ((values*)m->values)->r_on = 0.3;
}

static double source(const fmu* m) {
  return 10.0 * sin(2.0 * 3.14159265358979323846 * 50.0 * m->time);
}

static double current(const fmu* m) {
  const values* v = m->values;
  return (source(m) - v->v) / (0.1 + (v->is_on ? v->r_on : 1e6));
}

static double* states(fmu* m) {
  return &((values*)m->values)->v;
}

static void derivatives(fmu* m, double dx[]) {
  const values* v = m->values;
  dx[0] = (current(m) - v->v / 100.0) / 100e-6;
}

static void indicators(fmu* m, double z[]) {
  z[0] = source(m) - ((values*)m->values)->v;
}

static void event(fmu* m, fmu_event* event) {
  values* v = m->values;
  (void)event;
  v->is_on = source(m) > v->v;
}

static void outputs(fmu* m) {
  values* v = m->values;
  derivatives(m, &v->dv);
  indicators(m, &v->z);
  v->i = current(m);
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-rectifier",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .outputs = outputs,
    .n_states = 1,
    .n_indicators = 1,
    .states = states,
    .derivatives = derivatives,
    .indicators = indicators,
    .event = event,
};
