// exp of matrices whose exponential is known, and against a slow Taylor sum in long double.
#include <float.h>

#include "linalg/linalg_dense.h"
#include "support/check.h"

#define N_MAX 40

static double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static void test_rotation(void** state) {
  (void)state;
  for (int i = 0; i <= 40; i++) {
    // the error of squaring grows with the angle: a few eps per radian
    const double angle = 0.001 * pow(1.5, i);
    const double A[] = {0, -angle, angle, 0};
    double E[4];
    check_ok(yoke__expm(2, A, E));
    const double tolerance = 4.0 * DBL_EPSILON * (1.0 + angle);
    check_near(E[0], cos(angle), tolerance);
    check_near(E[1], -sin(angle), tolerance);
    check_near(E[2], sin(angle), tolerance);
    check_near(E[3], cos(angle), tolerance);
  }
}

static void test_nilpotent(void** state) {
  (void)state;
  // A^3 = 0, so exp(A) = I + A + A^2 / 2 exactly
  const double A[] = {0, 2, 3, 0, 0, 4, 0, 0, 0};
  const double want[] = {1, 2, 7, 0, 1, 4, 0, 0, 1};
  double E[9];
  check_ok(yoke__expm(3, A, E));
  for (int i = 0; i < 9; i++) {
    check_near(E[i], want[i], 16 * DBL_EPSILON * 7);
  }

  // large norm: overscaling costs digits in proportion to the scaling, not all of them
  const double B[] = {0, 1e6, 0, 0};
  check_ok(yoke__expm(2, B, E));
  check_near(E[0], 1.0, 1e-12);
  check_relative(E[1], 1e6, 1e-12);
  check_near(E[2], 0.0, 0.0);
}

static void test_zero_and_diagonal(void** state) {
  (void)state;
  static double A[N_MAX * N_MAX], E[N_MAX * N_MAX];
  for (size_t n = 1; n <= N_MAX; n++) {
    memset(A, 0, sizeof A);
    check_ok(yoke__expm(n, A, E));
    for (size_t i = 0; i < n * n; i++) {
      check_near(E[i], i % (n + 1) == 0 ? 1.0 : 0.0, 4 * DBL_EPSILON);
    }

    // from exp(-n) to exp(n); every element goes through all squarings of the largest
    for (size_t i = 0; i < n; i++) {
      A[i * n + i] = (double)n - 2.0 * (double)i;
    }
    check_ok(yoke__expm(n, A, E));
    for (size_t i = 0; i < n; i++) {
      check_relative(E[i * n + i], exp(A[i * n + i]), 8 * DBL_EPSILON * (double)(n + 1));
    }
  }
}

static void test_jordan_block(void** state) {
  (void)state;
  // exp(J) = exp(lambda) * t^k / k! on the k-th upper diagonal, with t = 1
  enum { N = 6 };
  const double lambda = -3.0;
  double A[N * N] = {0}, E[N * N];
  for (size_t i = 0; i < N; i++) {
    A[i * N + i] = lambda;
    if (i + 1 < N) {
      A[i * N + i + 1] = 1.0;
    }
  }
  check_ok(yoke__expm(N, A, E));
  for (size_t i = 0; i < N; i++) {
    double want = exp(lambda);
    for (size_t j = i; j < N; j++) {
      check_near(E[i * N + j], want, 64 * DBL_EPSILON * exp(lambda));
      want /= (double)(j - i + 1);
    }
    for (size_t j = 0; j < i; j++) {
      check_near(E[i * N + j], 0.0, 0.0);
    }
  }
}

// eigenvalues -1 and -1000 in nearly parallel directions: exp(A) = e^-1 (A + 1000 I) / 999 + a part
// with e^-1000, which is nothing
static void test_large_norm(void** state) {
  (void)state;
  const double A[] = {998, 1998, -999, -1999};
  double E[4];
  check_ok(yoke__expm(2, A, E));
  const double slow = exp(-1.0), norm = 3997.0;
  check_near(E[0], 2 * slow, norm * DBL_EPSILON * 4);
  check_near(E[1], 2 * slow, norm * DBL_EPSILON * 4);
  check_near(E[2], -slow, norm * DBL_EPSILON * 4);
  check_near(E[3], -slow, norm * DBL_EPSILON * 4);
}

// exp(A) = (sum (A/2^10)^k / k!)^(2^10) in long double
static void slow_expm(size_t n, const double A[], long double E[]) {
  static long double X[N_MAX * N_MAX], term[N_MAX * N_MAX], next[N_MAX * N_MAX];
  for (size_t i = 0; i < n * n; i++) {
    X[i] = (long double)A[i] / 1024.0L;
    term[i] = i % (n + 1) == 0 ? 1.0L : 0.0L;
    E[i] = term[i];
  }
  for (int k = 1; k <= 20 + 10; k++) {
    // twenty terms, then ten squarings
    const long double* left = k <= 20 ? term : E;
    const long double* right = k <= 20 ? X : E;
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        long double sum = 0.0L;
        for (size_t l = 0; l < n; l++) {
          sum += left[i * n + l] * right[l * n + j];
        }
        next[i * n + j] = k <= 20 ? sum / (long double)k : sum;
      }
    }
    for (size_t i = 0; i < n * n; i++) {
      if (k <= 20) {
        term[i] = next[i];
        E[i] += next[i];
      } else {
        E[i] = next[i];
      }
    }
  }
}

static void test_random_against_taylor(void** state) {
  (void)state;
  static double A[N_MAX * N_MAX], E[N_MAX * N_MAX];
  static long double slow[N_MAX * N_MAX];
  uint64_t seed = 11;
  for (size_t n = 1; n <= N_MAX; n += (n < 8 ? 1 : 8)) {
    const double scale = (n % 3 == 0 ? 10.0 : 1.0) / sqrt((double)n);
    for (size_t i = 0; i < n * n; i++) {
      A[i] = scale * random_number(&seed);
    }
    check_ok(yoke__expm(n, A, E));
    slow_expm(n, A, slow);

    // norm-wise: conditioning of exp is at least the norm of A, here up to about 10 sqrt(n). Each of the oracle's ten
    // squarings doubles its error and adds as much again: nothing in 64 bits of mantissa, but a long double may have 53.
    double largest = 0.0, worst = 0.0;
    for (size_t i = 0; i < n * n; i++) {
      largest = fmax(largest, (double)fabsl(slow[i]));
      worst = fmax(worst, (double)fabsl(slow[i] - (long double)E[i]));
    }
    const double own = 2048.0 * (double)n * (double)LDBL_EPSILON;
    check_between(worst / largest, 0.0, 100.0 * (double)n * DBL_EPSILON + own);
  }
}

// exp(A) exp(-A) = I, and the version without heap gives the same bytes
static void test_inverse_and_in_place(void** state) {
  (void)state;
  enum { N = 5 };
  double A[N * N], B[N * N], E[N * N], F[N * N], P[N * N], work[7 * N * N];
  size_t pivots[N];
  uint64_t seed = 12;
  for (size_t i = 0; i < (size_t)N * N; i++) {
    A[i] = random_number(&seed);
    B[i] = -A[i];
  }
  assert_int_equal(yoke__expm_work_size(N), 7 * N * N);
  check_ok(yoke__expm(N, A, E));
  check_ok(yoke__expm(N, B, F));
  yoke__mat_mul(N, N, N, E, F, P);
  for (size_t i = 0; i < (size_t)N * N; i++) {
    check_near(P[i], i % (N + 1) == 0 ? 1.0 : 0.0, 1e-13);
  }
  check_ok(yoke__expm_in(N, A, A, work, pivots));
  assert_memory_equal(A, E, sizeof E);
}

static void test_bad_matrices(void** state) {
  (void)state;
  double E[4];
  const double not_a_number[] = {0, (double)NAN, 0, 0};
  const double infinite[] = {0, 1, (double)INFINITY, 0};
  const double too_big[] = {1000, 0, 0, 0};
  const double norm_overflows[] = {DBL_MAX, 0, DBL_MAX, 0};
  assert_int_equal(yoke__expm(2, not_a_number, E), YOKE_BAD_ARG);
  assert_int_equal(yoke__expm(2, infinite, E), YOKE_BAD_ARG);
  assert_int_equal(yoke__expm(2, too_big, E), YOKE_DIVERGED);
  assert_int_equal(yoke__expm(2, norm_overflows, E), YOKE_DIVERGED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rotation),
      cmocka_unit_test(test_nilpotent),
      cmocka_unit_test(test_zero_and_diagonal),
      cmocka_unit_test(test_jordan_block),
      cmocka_unit_test(test_large_norm),
      cmocka_unit_test(test_random_against_taylor),
      cmocka_unit_test(test_inverse_and_in_place),
      cmocka_unit_test(test_bad_matrices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
