// log of matrices whose logarithm is known, and against the exponential.
#include <float.h>

#include "linalg/linalg_dense.h"
#include "support/check.h"

#define N_MAX     12
#define TOLERANCE (64 * DBL_EPSILON)

static double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static void test_known(void** state) {
  (void)state;
  double L[9];
  // a few roots, each of which doubles the round-off
  const double rotation[] = {cos(1.0), -sin(1.0), sin(1.0), cos(1.0)};
  check_ok(yoke__logm(2, rotation, L));
  check_near(L[0], 0, TOLERANCE);
  check_near(L[1], -1, TOLERANCE);
  check_near(L[2], 1, TOLERANCE);
  // a chain of integrators, whose exponential is a defective matrix
  const double chain[] = {1, 0.1, 0.005, 0, 1, 0.1, 0, 0, 1};
  const double want[] = {0, 0.1, 0, 0, 0, 0.1, 0, 0, 0};
  check_ok(yoke__logm(3, chain, L));
  for (int i = 0; i < 9; i++) {
    check_near(L[i], want[i], TOLERANCE);
  }
  const double spread[] = {1e-8, 0, 0, 1e6};
  check_ok(yoke__logm(2, spread, L));
  check_relative(L[0], log(1e-8), 1e-13);
  check_relative(L[3], log(1e6), 1e-13);
}

// The principal one of exp(A) is A while the eigenvalues of A stay within pi of the real axis.
static void test_inverse_of_the_exponential(void** state) {
  (void)state;
  uint64_t seed = 7;
  for (size_t n = 1; n <= N_MAX; n++) {
    double A[N_MAX * N_MAX], E[N_MAX * N_MAX], L[N_MAX * N_MAX];
    for (size_t i = 0; i < n * n; i++) {
      A[i] = 2.5 * random_number(&seed) / (double)n - (i % (n + 1) == 0 ? 1 : 0);
    }
    check_ok(yoke__expm(n, A, E));
    check_ok(yoke__logm(n, E, L));
    for (size_t i = 0; i < n * n; i++) {
      check_near(L[i], A[i], N_MAX * TOLERANCE);
    }
  }
}

static void test_none(void** state) {
  (void)state;
  double L[4];
  const double negative[] = {-1, 0, 0, 2}, singular[] = {1, 1, 1, 1};
  assert_true(yoke__logm(2, negative, L) < 0);
  assert_true(yoke__logm(2, singular, L) < 0);
  const double nan[] = {(double)NAN, 0, 0, 1};
  assert_int_equal(yoke__logm(2, nan, L), YOKE_BAD_ARG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known),
      cmocka_unit_test(test_inverse_of_the_exponential),
      cmocka_unit_test(test_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
