// The dual mass oscillator; equations in dual_mass.h.
#include "support/dual_mass.h"

#include "linalg/linalg_dense.h"
#include "support/check.h"

static const double m1 = 10, m2 = 10, c1 = 1e6, c2 = 1e7, d1 = 1, d2 = 2;

const double dual_mass_start[4] = {0.1, 0, 0, 0};
const double dual_mass_L[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};

void dual_mass_open(dual_mass* self, double ck, double dk) {
  *self = (dual_mass){
      .ck = ck,
      .dk = dk,
      .A1 = {0, 1, -c1 / m1, -d1 / m1},
      .B1 = {0, 1 / m1},
      .C1 = {1, 0, 0, 1},
      .A2 = {0, 1, -(c2 + ck) / m2, -(d2 + dk) / m2},
      .B2 = {0, 0, ck / m2, dk / m2},
      .C2 = {ck, dk},
      .D2 = {-ck, -dk},
  };
  self->units[0] = (yoke_stability_unit){2, 1, 2, self->A1, self->B1, self->C1, self->D1};
  self->units[1] = (yoke_stability_unit){2, 2, 1, self->A2, self->B2, self->C2, self->D2};
}

void dual_mass_jacobians(const dual_mass* self, yoke_jacobian_continuous* J) {
  for (int i = 0; i < 2; i++) {
    const yoke_stability_unit* unit = &self->units[i];
    const yoke_identify_states states = {unit->n_states, unit->n_outputs, unit->n_inputs, unit->A,
                                         unit->B,        unit->C,         unit->D};
    double work[256];
    assert_true(yoke__jacobian_states_work_size(&states) <= 256);
    check_ok(yoke__jacobian_of_states(&states, &J[i], NULL, work));
  }
}

yoke_stability_case dual_mass_case(const dual_mass* self, yoke_stability_method method,
                                   double step) {
  yoke_stability_case c = yoke__stability_case_default();
  c.units = self->units;
  c.n_units = 2;
  c.L = dual_mass_L;
  c.step = step;
  c.micro_step = DUAL_MASS_MICRO;
  c.method = method;
  c.sees_inside = method == YOKE_STABILITY_NEPCE || method == YOKE_STABILITY_MBCORR;
  return c;
}

static void whole_matrix(const dual_mass* self, double A[16]) {
  const double ck = self->ck, dk = self->dk;
  const double rows[16] = {
      0,        1,        0,        0,   //
      -c1 - ck, -d1 - dk, ck,       dk,  // divided by the mass below
      0,        0,        0,        1,   //
      ck,       dk,       -c2 - ck, -d2 - dk,
  };
  for (int i = 0; i < 16; i++) {
    A[i] = i / 4 == 1 ? rows[i] / m1 : i / 4 == 3 ? rows[i] / m2 : rows[i];
  }
}

void dual_mass_whole(const dual_mass* self, double step, bool is_exact, double x[4], double y[3]) {
  double A[16], next[4];
  whole_matrix(self, A);
  if (is_exact) {
    for (int i = 0; i < 16; i++) {
      A[i] *= step;
    }
    check_ok(yoke__expm(4, A, A));
    yoke__mat_vec(4, 4, A, x, next);
    memcpy(x, next, sizeof next);
  }
  const long n = is_exact ? 0 : lround(step / DUAL_MASS_MICRO);
  for (long j = 0; j < n; j++) {
    yoke__mat_vec(4, 4, A, x, next);
    for (int i = 0; i < 4; i++) {
      x[i] += DUAL_MASS_MICRO * next[i];
    }
  }
  y[0] = x[0];
  y[1] = x[1];
  y[2] = self->ck * (x[2] - x[0]) + self->dk * (x[3] - x[1]);
}

double dual_mass_error_of(const dual_mass* self, double step, double duration,
                          void (*advance)(void* context, double y[3]), void* context) {
  double x[4], y[3], whole[3], low[3], high[3], sum[3] = {0, 0, 0};
  memcpy(x, dual_mass_start, sizeof x);
  dual_mass_whole(self, 0, false, x, whole);
  memcpy(low, whole, sizeof low);
  memcpy(high, whole, sizeof high);
  const long n = lround(floor(duration / step + 1e-9));
  for (long k = 1; k <= n; k++) {
    advance(context, y);
    dual_mass_whole(self, step, false, x, whole);
    for (int i = 0; i < 3; i++) {
      low[i] = fmin(low[i], whole[i]);
      high[i] = fmax(high[i], whole[i]);
      sum[i] += fabs(y[i] - whole[i]) / (high[i] - low[i] + 1e-12) / (double)n;
    }
  }
  const double error = hypot(0.5 * (sum[0] + sum[1]), sum[2]);
  return isnan(error) ? (double)INFINITY : error;
}

typedef struct stepper {
  yoke_stability* coupled;
  double z[64];
} stepper;

static void advance_matrix(void* context, double y[3]) {
  stepper* s = context;
  yoke__stability_step(s->coupled, s->z, y, NULL);
}

double dual_mass_error(const dual_mass* self, const yoke_stability_case* c, double duration) {
  stepper s;
  const yoke_status status = yoke__stability_open(c, &s.coupled);
  if (status == YOKE_DIVERGED) {
    return (double)INFINITY;
  }
  check_ok(status);
  assert_true(yoke__stability_size(s.coupled) <= 64);
  check_ok(yoke__stability_start(s.coupled, dual_mass_start, s.z));
  const double error = dual_mass_error_of(self, c->step, duration, advance_matrix, &s);
  yoke__stability_close(&s.coupled);
  return error;
}
