// Least squares against the normal equations in long double; dependent columns; scaling.
#include <float.h>

#include "linalg/linalg_dense.h"
#include "support/check.h"

#define N_MAX 40
#define M_MAX 60

static double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

// A^T A x = A^T b by Gauss without pivots (A^T A is positive definite) in long double
static void normal_equations(size_t m, size_t n, const double A[], const double b[], double x[]) {
  static long double N[N_MAX][N_MAX + 1];
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= n; j++) {
      N[i][j] = 0.0L;
      for (size_t k = 0; k < m; k++) {
        N[i][j] += (long double)A[k * n + i] * (long double)(j < n ? A[k * n + j] : b[k]);
      }
    }
  }
  for (size_t k = 0; k < n; k++) {
    for (size_t i = k + 1; i < n; i++) {
      const long double factor = N[i][k] / N[k][k];
      for (size_t j = k; j <= n; j++) {
        N[i][j] -= factor * N[k][j];
      }
    }
  }
  for (size_t i = n; i-- > 0;) {
    long double sum = N[i][n];
    for (size_t j = i + 1; j < n; j++) {
      sum -= N[i][j] * (long double)x[j];
    }
    x[i] = (double)(sum / N[i][i]);
  }
}

static void test_against_normal_equations(void** state) {
  (void)state;
  static double A[M_MAX * N_MAX], copy[M_MAX * N_MAX];
  double b[M_MAX], b_copy[M_MAX], x[N_MAX], want[N_MAX], work[2 * N_MAX];
  uint64_t seed = 31;
  for (size_t n = 1; n <= N_MAX; n++) {
    const size_t m = n + 1 + n / 2 < M_MAX ? n + 1 + n / 2 : M_MAX;
    for (size_t i = 0; i < m * n; i++) {
      A[i] = random_number(&seed);
    }
    for (size_t i = 0; i < m; i++) {
      b[i] = random_number(&seed);
    }
    normal_equations(m, n, A, b, want);
    memcpy(copy, A, sizeof A);
    memcpy(b_copy, b, sizeof b);
    assert_int_equal(yoke__least_squares(m, n, copy, b_copy, x, 1e-12, work), n);

    // condition of these tall random matrices is below 1e3; its square enters with the residual
    for (size_t j = 0; j < n; j++) {
      check_near(x[j], want[j], 1e-10 * (1.0 + fabs(want[j])));
    }

    // the residual is orthogonal to every column, and its norm stands in the rest of b
    double norm = 0.0, rest = 0.0;
    for (size_t i = 0; i < m; i++) {
      double r = -b[i];
      for (size_t j = 0; j < n; j++) {
        r += A[i * n + j] * x[j];
      }
      norm = hypot(norm, r);
      rest = hypot(rest, i < n ? 0.0 : b_copy[i]);
    }
    check_near(rest, norm, 1e-12);
  }
}

// a square system is solved like any other
static void test_square_is_solve(void** state) {
  (void)state;
  static double A[N_MAX * N_MAX], copy[N_MAX * N_MAX];
  double b[N_MAX], b_copy[N_MAX], x[N_MAX], work[2 * N_MAX];
  size_t pivots[N_MAX];
  uint64_t seed = 32;
  for (size_t n = 1; n <= N_MAX; n++) {
    for (size_t i = 0; i < n * n; i++) {
      A[i] = random_number(&seed) + (i % (n + 1) == 0 ? 4.0 : 0.0);
    }
    for (size_t i = 0; i < n; i++) {
      b[i] = random_number(&seed);
    }
    memcpy(copy, A, sizeof A);
    memcpy(b_copy, b, sizeof b);
    (void)yoke__least_squares(n, n, copy, b_copy, x, 1e-13, work);
    check_ok(yoke__solve(n, A, b, pivots));
    for (size_t i = 0; i < n; i++) {
      check_near(x[i], b[i], 1e-12);
    }
  }
}

// third column = first + second: it adds nothing, gets 0, and the others solve the problem alone
static void test_dependent_columns(void** state) {
  (void)state;
  enum { M = 6, N = 5 };
  double A[M * N], small[M * 3], b[M], b_small[M], x[N], y[3], work[2 * N];
  uint64_t seed = 33;
  for (size_t i = 0; i < M; i++) {
    double* row = A + i * N;
    row[0] = random_number(&seed);
    row[1] = random_number(&seed);
    row[2] = row[0] + row[1];
    row[3] = 0.0;
    row[4] = random_number(&seed);
    small[i * 3] = row[0];
    small[i * 3 + 1] = row[1];
    small[i * 3 + 2] = row[4];
    b[i] = b_small[i] = random_number(&seed);
  }
  assert_int_equal(yoke__least_squares(M, N, A, b, x, 1e-12, work), 3);
  assert_int_equal(yoke__least_squares(M, 3, small, b_small, y, 1e-12, work), 3);
  check_near(x[2], 0.0, 0.0);
  check_near(x[3], 0.0, 0.0);
  check_near(x[0], y[0], 1e-13);
  check_near(x[1], y[1], 1e-13);
  check_near(x[4], y[2], 1e-13);
}

static void test_zero_and_extreme(void** state) {
  (void)state;
  double zero[4] = {0}, b[2] = {1, 2}, x[2] = {7, 7}, work[4];
  assert_int_equal(yoke__least_squares(2, 2, zero, b, x, 0.0, work), 0);
  check_near(x[0], 0.0, 0.0);
  check_near(x[1], 0.0, 0.0);

  // squares of these overflow or vanish, the answer does not: x = (1, -2) of b = A x
  for (int sign = -1; sign <= 1; sign += 2) {
    const double s = pow(10.0, 200.0 * sign);
    double A[] = {3 * s, 1 * s, 4 * s, 2 * s, 0, 5 * s};
    double c[] = {1 * s, 0, -10 * s};
    assert_int_equal(yoke__least_squares(3, 2, A, c, x, 1e-12, work), 2);
    check_near(x[0], 1.0, 1e-14);
    check_near(x[1], -2.0, 1e-14);
  }

  // NaN is not mistaken for a dependent column
  double A[] = {1, 0, 0, (double)NAN}, c[] = {1, 1};
  (void)yoke__least_squares(2, 2, A, c, x, 1e-12, work);
  assert_true(isnan(x[1]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_normal_equations),
      cmocka_unit_test(test_square_is_solve),
      cmocka_unit_test(test_dependent_columns),
      cmocka_unit_test(test_zero_and_extreme),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
