// Eigenvalues: companion matrices of polynomials with chosen roots, rotations, traces.
#include <float.h>

#include "linalg/linalg_dense.h"
#include "support/check.h"

#define N_MAX 40

static double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

// the companion matrix of z^n + c[n-1] z^(n-1) + ... + c[0]
static void companion(size_t n, const double c[], double A[]) {
  memset(A, 0, n * n * sizeof *A);
  for (size_t i = 0; i < n; i++) {
    A[i * n + n - 1] = -c[i];
    if (i > 0) {
      A[i * n + i - 1] = 1.0;
    }
  }
}

// distance from (re, im) to the nearest computed eigenvalue
static double nearest(size_t n, const double got_re[], const double got_im[], double re,
                      double im) {
  double best = HUGE_VAL;
  for (size_t i = 0; i < n; i++) {
    best = fmin(best, hypot(got_re[i] - re, got_im[i] - im));
  }
  return best;
}

static void test_roots_of_unity(void** state) {
  (void)state;
  static double A[N_MAX * N_MAX];
  double c[N_MAX], re[N_MAX], im[N_MAX];
  for (size_t n = 1; n <= N_MAX; n++) {
    // z^n = 1: a permutation matrix, perfectly conditioned
    memset(c, 0, sizeof c);
    c[0] = -1.0;
    companion(n, c, A);
    check_ok(yoke__eigenvalues(n, A, re, im));
    for (size_t k = 0; k < n; k++) {
      const double angle = 2.0 * acos(-1.0) * (double)k / (double)n;
      check_between(nearest(n, re, im, cos(angle), sin(angle)), 0.0,
                    10.0 * (double)n * DBL_EPSILON);
    }
    double radius = 0.0;
    check_ok(yoke__spectral_radius(n, A, &radius));
    check_near(radius, 1.0, 10.0 * (double)n * DBL_EPSILON);
  }
}

// (z-1)(z-2)(z-3)(z^2+2z+5): coefficients by hand, simple roots
static void test_chosen_roots(void** state) {
  (void)state;
  const double c[] = {-30, 43, -14, 4, -4};
  double A[25], re[5], im[5], radius = 0.0;
  companion(5, c, A);
  check_ok(yoke__eigenvalues(5, A, re, im));
  const double want[][2] = {{1, 0}, {2, 0}, {3, 0}, {-1, 2}, {-1, -2}};
  for (int i = 0; i < 5; i++) {
    check_between(nearest(5, re, im, want[i][0], want[i][1]), 0.0, 1e-11);
  }
  check_ok(yoke__spectral_radius(5, A, &radius));
  check_near(radius, 3.0, 1e-11);
}

// trace and exponential agree with the eigenvalues for random matrices: sum = trace, and the
// spectral radius of exp(A) is exp(largest real part)
static void test_trace_and_exponential(void** state) {
  (void)state;
  static double A[N_MAX * N_MAX], E[N_MAX * N_MAX];
  double re[N_MAX], im[N_MAX];
  uint64_t seed = 21;
  for (size_t n = 1; n <= N_MAX; n++) {
    double trace = 0.0, sum = 0.0, imaginary = 0.0, abscissa = -HUGE_VAL, radius = 0.0;
    for (size_t i = 0; i < n * n; i++) {
      A[i] = random_number(&seed) / sqrt((double)n);
      trace += i % (n + 1) == 0 ? A[i] : 0.0;
    }
    check_ok(yoke__eigenvalues(n, A, re, im));
    for (size_t i = 0; i < n; i++) {
      sum += re[i];
      imaginary += im[i];
      abscissa = fmax(abscissa, re[i]);
    }
    check_near(sum, trace, 100.0 * (double)n * DBL_EPSILON);
    check_near(imaginary, 0.0, 0.0);  // conjugate pairs are exact
    check_ok(yoke__expm(n, A, E));
    check_ok(yoke__spectral_radius(n, E, &radius));
    check_relative(radius, exp(abscissa), 1e-10);
  }
}

static void test_bad_matrices(void** state) {
  (void)state;
  const double A[] = {1, 2, (double)NAN, 3};
  double re[2], im[2], radius = 7.0;
  assert_int_equal(yoke__eigenvalues(2, A, re, im), YOKE_BAD_ARG);
  assert_int_equal(yoke__spectral_radius(2, A, &radius), YOKE_BAD_ARG);
  check_ok(yoke__spectral_radius(0, A, &radius));
  check_near(radius, 0.0, 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_roots_of_unity),
      cmocka_unit_test(test_chosen_roots),
      cmocka_unit_test(test_trace_and_exponential),
      cmocka_unit_test(test_bad_matrices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
