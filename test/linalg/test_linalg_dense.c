// Products and LU against slow twins in long double, sizes 1 to 40; singular matrices are refused.
#include <float.h>

#include "linalg/linalg_dense.h"
#include "support/check.h"

#define N_MAX 40

// own generator: the same numbers on every machine
static double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static void fill(size_t count, double a[], uint64_t* seed) {
  for (size_t i = 0; i < count; i++) {
    a[i] = random_number(seed);
  }
}

// one element of A B by the definition; bound: sum |a b|, which scales the rounding error
static double slow_product(size_t k, size_t n, const double* row, const double* B, size_t j,
                           double* bound) {
  long double sum = 0.0L, size = 0.0L;
  for (size_t l = 0; l < k; l++) {
    const long double term = (long double)row[l] * (long double)B[l * n + j];
    sum += term;
    size += fabsl(term);
  }
  *bound = (double)size;
  return (double)sum;
}

static void test_mat_mul_and_vec(void** state) {
  (void)state;
  static double A[N_MAX * N_MAX], B[N_MAX * N_MAX], C[N_MAX * N_MAX], y[N_MAX], z[N_MAX];
  uint64_t seed = 1;
  for (size_t size = 1; size <= N_MAX; size++) {
    const size_t m = size, k = 1 + (size * 7) % N_MAX, n = 1 + (size * 13) % N_MAX;
    fill(m * k, A, &seed);
    fill(k * n, B, &seed);
    yoke__mat_mul(m, k, n, A, B, C);
    for (size_t i = 0; i < m; i++) {
      for (size_t j = 0; j < n; j++) {
        double bound = 0.0;
        const double want = slow_product(k, n, A + i * k, B, j, &bound);
        check_near(C[i * n + j], want, (double)(k + 1) * DBL_EPSILON * bound);
      }
    }

    // a vector is a matrix with one column
    yoke__mat_vec(m, k, A, B, y);
    fill(m, z, &seed);
    static double before[N_MAX];
    memcpy(before, z, sizeof before);
    yoke__mat_vec_add(m, k, A, B, z);
    for (size_t i = 0; i < m; i++) {
      double bound = 0.0;
      const double want = slow_product(k, 1, A + i * k, B, 0, &bound);
      check_near(y[i], want, (double)(k + 1) * DBL_EPSILON * bound);
      check_near(z[i], before[i] + want, (double)(k + 2) * DBL_EPSILON * (bound + fabs(before[i])));
    }
  }
}

// P A = L U element by element: the backward error of partial pivoting on random matrices stays
// near n * eps * max |u| (growth is small; theory allows more, practice does not)
static void test_lu_gives_back_the_matrix(void** state) {
  (void)state;
  static double A[N_MAX * N_MAX], LU[N_MAX * N_MAX], P[N_MAX * N_MAX];
  size_t pivots[N_MAX];
  uint64_t seed = 2;
  for (size_t n = 1; n <= N_MAX; n++) {
    fill(n * n, A, &seed);
    memcpy(LU, A, sizeof A);
    check_ok(yoke__lu_factor(n, LU, pivots));
    memcpy(P, A, sizeof A);
    for (size_t k = 0; k < n; k++) {
      for (size_t j = 0; j < n; j++) {
        const double swapped = P[pivots[k] * n + j];
        P[pivots[k] * n + j] = P[k * n + j];
        P[k * n + j] = swapped;
      }
    }
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        long double sum = 0.0L, bound = 0.0L;
        for (size_t l = 0; l <= i && l <= j; l++) {
          const long double factor = l == i ? 1.0L : (long double)LU[i * n + l];
          sum += factor * (long double)LU[l * n + j];
          bound += fabsl(factor * (long double)LU[l * n + j]);
        }
        check_near((double)sum, P[i * n + j], (double)n * DBL_EPSILON * (double)bound);
        if (j < i) {
          check_between(fabs(LU[i * n + j]), 0.0, 1.0);  // partial pivoting
        }
      }
    }
  }
}

static void test_solve_residual(void** state) {
  (void)state;
  static double A[N_MAX * N_MAX], LU[N_MAX * N_MAX];
  double b[N_MAX], x[N_MAX];
  size_t pivots[N_MAX];
  uint64_t seed = 3;
  for (size_t n = 1; n <= N_MAX; n++) {
    fill(n * n, A, &seed);
    fill(n, b, &seed);
    memcpy(LU, A, sizeof A);
    memcpy(x, b, sizeof b);
    check_ok(yoke__solve(n, LU, x, pivots));

    // small residual relative to |A| |x|: backward stability, whatever the condition number
    for (size_t i = 0; i < n; i++) {
      double bound = 0.0;
      const double got = slow_product(n, 1, A + i * n, x, 0, &bound);
      check_near(got, b[i], 8.0 * (double)n * DBL_EPSILON * (bound + fabs(b[i])));
    }
  }
}

// needs row exchanges: zero on the diagonal
static void test_solve_needs_pivots(void** state) {
  (void)state;
  double A[] = {0, 2, 0, 0, 0, 4, 8, 0, 0};
  double b[] = {6, 20, 16};
  size_t pivots[3];
  check_ok(yoke__solve(3, A, b, pivots));
  check_near(b[0], 2.0, 0.0);
  check_near(b[1], 3.0, 0.0);
  check_near(b[2], 5.0, 0.0);
}

static void test_singular_is_refused(void** state) {
  (void)state;
  static double A[N_MAX * N_MAX];
  size_t pivots[N_MAX];
  uint64_t seed = 4;
  for (size_t n = 1; n <= N_MAX; n++) {
    // a zero column stays exactly zero in elimination
    fill(n * n, A, &seed);
    for (size_t i = 0; i < n; i++) {
      A[i * n + n / 2] = 0.0;
    }
    assert_int_equal(yoke__lu_factor(n, A, pivots), YOKE_SINGULAR);

    // NaN and infinity, wherever they stand
    fill(n * n, A, &seed);
    A[(n - 1) * n + n / 2] = (double)NAN;
    assert_int_equal(yoke__lu_factor(n, A, pivots), YOKE_SINGULAR);
    fill(n * n, A, &seed);
    A[n / 3 * n + n - 1] = (double)INFINITY;
    assert_int_equal(yoke__lu_factor(n, A, pivots), YOKE_SINGULAR);
  }

  // equal rows: 2 and 4 are exact, so the second pivot is exactly 0
  double equal[] = {2, 4, 2, 4}, b[] = {1, 1};
  assert_int_equal(yoke__solve(2, equal, b, pivots), YOKE_SINGULAR);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mat_mul_and_vec),     cmocka_unit_test(test_lu_gives_back_the_matrix),
      cmocka_unit_test(test_solve_residual),      cmocka_unit_test(test_solve_needs_pivots),
      cmocka_unit_test(test_singular_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
