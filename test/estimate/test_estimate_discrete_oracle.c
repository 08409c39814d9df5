// One step of a linear system against a plain exponential in long double: E-05.
#include <float.h>

#include "estimate/estimate_model.h"
#include "estimate_benchmarks.h"
#include "oracle/tableau.h"
#include "support/check.h"

enum { MAX_N = 6 };

// exp of the chain z'' = A z': blocks E, Psi1, Psi2 of one exponential of 3 n states.
static void chain(size_t n, const double A[], double h, real E[], real Psi1[], real Psi2[]) {
  const size_t w = 3 * n;
  static real big[9 * MAX_N * MAX_N], exponential[9 * MAX_N * MAX_N];
  memset(big, 0, sizeof big);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      big[i * w + j] = (real)h * (real)A[i * n + j];
    }
    big[i * w + n + i] = big[(n + i) * w + 2 * n + i] = (real)h;
  }
  real_expm(w, big, exponential);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      E[i * n + j] = exponential[i * w + j];
      Psi1[i * n + j] = exponential[i * w + n + j];
      Psi2[i * n + j] = exponential[i * w + 2 * n + j];
    }
  }
}

static double difference(size_t n, const double got[], const real want[]) {
  double most = 0, size = 0;
  for (size_t i = 0; i < n; i++) {
    most = fmax(most, fabs((double)((real)got[i] - want[i])));
    size = fmax(size, fabs((double)want[i]));
  }
  return most / size;
}

static double worst_of_step(size_t n, const double A[], double h) {
  double E[MAX_N * MAX_N], Psi1[MAX_N * MAX_N], Psi2[MAX_N * MAX_N], work[4 * MAX_N * MAX_N];
  real Er[MAX_N * MAX_N], Psi1r[MAX_N * MAX_N], Psi2r[MAX_N * MAX_N];
  check_ok(yoke__discrete(n, A, h, E, Psi1, Psi2, work));
  chain(n, A, h, Er, Psi1r, Psi2r);
  return fmax(difference(n * n, E, Er),
              fmax(difference(n * n, Psi1, Psi1r), difference(n * n, Psi2, Psi2r)));
}

static void test_blocks_of_benchmarks_E_05(void** state) {
  (void)state;
  static const double rc[] = {-5, 5, 2.5, -25.0 / 6};
  double g[12], c[5];
  inverter_elements(&inverter_guess, g, c);
  yoke_arena arena = {0};
  yoke_heat_model m;
  check_ok(yoke__heat_model_prepare(&inverter_network, g, c, &arena, &m, NULL));
  static const double steps[] = {1e-4, 1e-3, 1e-2, 0.1, 1.0};
  for (size_t i = 0; i < YOKE_COUNT(steps); i++) {
    check_between(worst_of_step(2, rc, steps[i]), 0, 1e-12);
    check_between(worst_of_step(5, m.Fc, steps[i]), 0, 1e-12);
  }
  yoke__arena_free(&arena);
}

// A chain of capacities with imposed temperatures at its ends: time constants over four decades and more. The bound is what one
// unit in the last place of A would do.
static void test_stiff(void** state) {
  (void)state;
  for (int decade = 0; decade <= 4; decade++) {
    const double fast = pow(10, decade);
    const double A[] = {-fast - 1, fast, 0, fast, -fast - 2, 2, 0, 0.5, -0.75};
    check_between(worst_of_step(3, A, 1.0), 0, ORACLE_BLUR * 4 * DBL_EPSILON * fmax(10, 2 * fast));
  }
}

static void test_singular_and_zero(void** state) {
  (void)state;
  static const double zero[9] = {0}, nilpotent[] = {0, 1, 0, 0, 0, 1, 0, 0, 0};
  check_between(worst_of_step(3, zero, 0.1), 0, 1e-16);
  check_between(worst_of_step(3, nilpotent, 3.0), 0, 1e-15);

  double E[9], Psi1[9], Psi2[9], work[36];
  double bad[9] = {0, (double)NAN};
  assert_int_equal(yoke__discrete(3, bad, 1, E, Psi1, Psi2, work), YOKE_DIVERGED);
  bad[1] = 1e12;
  assert_int_equal(yoke__discrete(3, bad, 1, E, Psi1, Psi2, work), YOKE_DIVERGED);
  bad[1] = 0;
  bad[0] = 1e3;  // grows beyond all numbers
  assert_int_equal(yoke__discrete(3, bad, 1, E, Psi1, Psi2, work), YOKE_DIVERGED);
}

// Simpson's rule with 800 intervals on exp(A s) W exp(A' s).
static void noise_by_quadrature(size_t n, const double A[], const double W[], double h, real Q[]) {
  enum { N = 800 };
  real X[MAX_N * MAX_N], E[MAX_N * MAX_N], now[MAX_N * MAX_N], other[MAX_N * MAX_N];
  for (size_t i = 0; i < n * n; i++) {
    X[i] = (real)A[i] * (real)h / N;
    now[i] = i % (n + 1) == 0 ? 1 : 0;
    Q[i] = 0;
  }
  real_expm(n, X, E);
  for (int k = 0; k <= N; k++) {
    const real weight = (k == 0 || k == N ? 1 : k % 2 == 1 ? 4 : 2) * (real)h / N / 3;
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        for (size_t a = 0; a < n; a++) {
          for (size_t b = 0; b < n; b++) {
            Q[i * n + j] += weight * now[i * n + a] * (real)W[a * n + b] * now[j * n + b];
          }
        }
      }
    }
    real_mul(n, n, n, now, E, other);
    memcpy(now, other, sizeof now);
  }
}

static void test_noise(void** state) {
  (void)state;
  uint64_t seed = 3;
  for (int trial = 0; trial < 20; trial++) {
    const size_t n = 1 + (size_t)trial % 4;
    double A[16], root[16], W[16] = {0}, Q[16], work[64];
    for (size_t i = 0; i < n * n; i++) {
      A[i] = random_between(&seed, -1, 1) - (i % (n + 1) == 0 ? 1 : 0);
      root[i] = random_between(&seed, -1, 1);
    }
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < n; k++) {
          W[i * n + j] += root[i * n + k] * root[j * n + k];
        }
      }
    }
    static const double steps[] = {0.01, 0.3, 4.0};
    for (size_t s = 0; s < YOKE_COUNT(steps); s++) {
      real want[16];
      check_ok(yoke__discrete_noise(n, A, W, steps[s], Q, work));
      noise_by_quadrature(n, A, W, steps[s], want);
      check_between(difference(n * n, Q, want), 0, 1e-8);  // Simpson: (2 |A| h / N)^4 / 180
      for (size_t i = 0; i < n * n; i++) {
        assert_true(Q[i] == Q[i % n * n + i / n]);
      }
    }
  }

  // a random walk that is integrated: h^3/3, h^2/2, h
  static const double A[] = {0, 1, 0, 0}, W[] = {0, 0, 0, 2};
  double Q[4], work[16];
  const double h = 0.7;
  check_ok(yoke__discrete_noise(2, A, W, h, Q, work));
  check_near(Q[0], 2 * h * h * h / 3, 1e-15);
  check_near(Q[1], 2 * h * h / 2, 1e-15);
  check_near(Q[3], 2 * h, 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_of_benchmarks_E_05),
      cmocka_unit_test(test_stiff),
      cmocka_unit_test(test_singular_and_zero),
      cmocka_unit_test(test_noise),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
