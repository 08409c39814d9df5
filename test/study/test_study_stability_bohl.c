// MP-13: a run with identified models is exponentially stable: Bohl exponents of the matrices of its steps, the nonlinear
// spring by its secant at each exchange, models as they were identified there.
#include "base/base_message.h"
#include "identify/identify_rls.h"
#include "study/study_stability.h"
#include "support/dual_mass.h"
#include "support/dual_mass_pulsed.h"

#define FIRST 226  // after the switch phase
#define COUNT (N_STEPS - FIRST)

static pulsed_run recorded;

typedef struct identified {
  yoke_rls rls;
  void* block;
  yoke_jacobian_discrete jacobian;
  double Sy[4], S0[2], S1[2];
} identified;

// The same least squares as in the run: its models again from what it recorded.
static void open_identified(identified* to, size_t n, size_t m) {
  const yoke_rls_setup setup = {.n = n,
                                .m = m,
                                .n_y_lags = 1,
                                .n_u_lags = 1,
                                .forgetting = 0.996,
                                .start_variance = YOKE_RLS_P0};
  YOKE_CATCH(err);
  to->block = aligned_alloc(64, (yoke__rls_size(&setup) + 63) / 64 * 64);
  check_ok(yoke__rls_prepare(&to->rls, &setup, to->block, &err.sink));
  to->jacobian = (yoke_jacobian_discrete){n, m, to->Sy, to->S0, to->S1};
}

static void learn(identified to[2], int k) {
  yoke__rls_update(&to[0].rls, recorded.y[k], recorded.u[k]);
  yoke__rls_update(&to[1].rls, recorded.y[k] + 2, recorded.u[k] + 1);
  yoke__rls_jacobian(&to[0].rls, &to[0].jacobian);
  yoke__rls_jacobian(&to[1].rls, &to[1].jacobian);
}

// the matrix of the step that begins at exchange k; *n: its size
static void step_matrix(int k, const identified models[2], bool has_ede, double** M, size_t* n) {
  const oscillator* o = &recorded.o[k];
  const double *u = recorded.u[k + 1], ck = clamp(5e5 * sqrt(fabs(o->x2 - u[1])), 2.5e4, 2.5e5),
               dk = clamp(1e3 * sqrt(fabs(o->v2 - u[2])), 5e2, 3e3);
  dual_mass mass;
  dual_mass_open(&mass, ck, dk);
  const yoke_jacobian_discrete jacobians[] = {models[0].jacobian, models[1].jacobian};
  yoke_stability_case c = dual_mass_case(&mass, YOKE_STABILITY_MPSM, STEP);
  c.options.time = YOKE_MPSM_DISCRETE;
  c.options.uses_ede = has_ede;
  c.sees_inside = false;
  c.discrete = jacobians;
  yoke_stability* s = NULL;
  check_ok(yoke__stability_open(&c, &s));
  *n = yoke__stability_size(s);
  if (*M == NULL) {
    *M = malloc(COUNT * *n * *n * sizeof **M);
  }
  yoke__stability_matrix(s, *M + (size_t)(k - FIRST) * *n * *n);
  yoke__stability_close(&s);
}

static double range_of(size_t at, size_t stride) {
  const double* first = (const double*)&recorded + at;
  double low = *first, high = *first;
  for (size_t k = 0; k <= N_STEPS; k++) {
    low = fmin(low, first[k * stride]);
    high = fmax(high, first[k * stride]);
  }
  return high - low;
}

// Ranges of the run for what the steps carry along: states, then outputs, inputs, inputs from outside, coupling errors
// (as inputs), corrections (as outputs).
static void find_scale(size_t n, double scale[]) {
  const size_t states = offsetof(pulsed_run, o) / sizeof(double);
  double y[3];
  for (size_t i = 0; i < 4; i++) {
    scale[i] = range_of(states + i, 4);
  }
  for (size_t i = 0; i < 3; i++) {
    y[i] = range_of(i, 3);
  }
  const double u[] = {y[2], y[0], y[1]};
  const double* parts[] = {y, u, u, u, y, y};
  assert_int_equal(n, 4 + 6 * 3);
  for (size_t i = 0; i < 6; i++) {
    memcpy(scale + 4 + 3 * i, parts[i], sizeof y);
  }
}

static void test_MP_13_bohl_exponents(void** state) {
  (void)state;
  for (int has_ede = 0; has_ede < 2; has_ede++) {
    const setting settings[] = {{"ede", has_ede}};
    run_pulsed(settings, 1, -1, &recorded);
    identified models[2];
    open_identified(&models[0], 2, 1);
    open_identified(&models[1], 1, 2);
    double *M = NULL, scale[64];
    size_t n = 0;
    for (int k = 0; k < N_STEPS; k++) {
      learn(models, k);
      if (k >= FIRST) {
        step_matrix(k, models, has_ede == 1, &M, &n);
      }
    }
    find_scale(n, scale);
    static const size_t lengths[] = {25, 50, 100, 200, 400};
    for (size_t i = 0; i < 5; i++) {
      double value = 0;
      check_ok(yoke__stability_bohl(n, M, COUNT, lengths[i], scale, &value));
      print_message("ede %d, K = %zu: %.3f\n", has_ede, lengths[i], value);
      assert_true(value < 1);
    }
    free(M);
    free(models[0].block);
    free(models[1].block);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_MP_13_bohl_exponents)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
