// Singular values, pseudo inverse and condition numbers: against LAPACK's dgesvd, by the four
// conditions of Penrose, by matrices whose answer is known.
#include <float.h>

#include "linalg/linalg_dense.h"
#include "linalg/linalg_lapack.h"
#include "support/check.h"
#include "support/counting_heap.h"

enum { N_MAX = 64 };

static double A[N_MAX * N_MAX], U[N_MAX * N_MAX], V[N_MAX * N_MAX], B[N_MAX * N_MAX];
static double X[N_MAX * N_MAX], T[N_MAX * N_MAX];
static double work[6 * N_MAX * N_MAX], s[N_MAX];

static double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

// singular values by LAPACK; row by row is the transpose, which has the same ones
static void lapack_values(size_t m, size_t n, double values[]) {
  const int rows = (int)n, columns = (int)m, one = 1, n_work = 6 * N_MAX * N_MAX;
  int info = 0;
  memcpy(B, A, m * n * sizeof *A);
  dgesvd_("N", "N", &rows, &columns, B, &rows, values, T, &one, T, &one, work, &n_work, &info, 1,
          1);
  assert_int_equal(info, 0);
}

// largest |X^T X - I|, X rows x k
static double orthogonality(size_t rows, size_t k, const double M[]) {
  double most = 0.0;
  for (size_t i = 0; i < k; i++) {
    for (size_t j = 0; j < k; j++) {
      double sum = i == j ? -1.0 : 0.0;
      for (size_t e = 0; e < rows; e++) {
        sum += M[e * k + i] * M[e * k + j];
      }
      most = fmax(most, fabs(sum));
    }
  }
  return most;
}

// largest |U diag(s) V^T - A|
static double defect(size_t m, size_t n) {
  const size_t k = smaller(m, n);
  double most = 0.0;
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      double sum = -A[i * n + j];
      for (size_t e = 0; e < k; e++) {
        sum += U[i * k + e] * s[e] * V[j * k + e];
      }
      most = fmax(most, fabs(sum));
    }
  }
  return most;
}

static void check_decomposition(size_t m, size_t n) {
  const size_t k = smaller(m, n);
  double want[N_MAX];
  lapack_values(m, n, want);
  assert_true(yoke__svd_work_size(m, n) <= sizeof work / sizeof *work);
  check_ok(yoke__svd(m, n, A, U, s, V, work));
  // backward stable: absolute errors of eps * sqrt(size) * largest value, a few of them
  const double tolerance = 20.0 * DBL_EPSILON * (double)(m + n) * want[0];
  for (size_t i = 0; i < k; i++) {
    check_near(s[i], want[i], tolerance);
    assert_true(i == 0 || s[i] <= s[i - 1]);
  }
  check_between(defect(m, n), 0.0, tolerance);
  check_between(orthogonality(m, k, U), 0.0, 20.0 * DBL_EPSILON * (double)(m + n));
  check_between(orthogonality(n, k, V), 0.0, 20.0 * DBL_EPSILON * (double)(m + n));

  // the sign rule
  for (size_t j = 0; j < k; j++) {
    double largest = 0.0, first = 0.0;
    for (size_t i = 0; i < n; i++) {
      largest = fmax(largest, fabs(V[i * k + j]));
    }
    for (size_t i = n; i-- > 0;) {
      first = fabs(V[i * k + j]) >= 0.5 * largest ? V[i * k + j] : first;
    }
    assert_true(first > 0.0);
  }
}

static void test_random_shapes_as_lapack(void** state) {
  (void)state;
  static const size_t shapes[][2] = {{1, 1},   {1, 5},   {5, 1},   {2, 1},  {1, 2},
                                     {3, 3},   {4, 7},   {7, 4},   {9, 9},  {6, 4},
                                     {20, 12}, {12, 20}, {64, 64}, {64, 30}};
  uint64_t seed = 5;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    for (int trial = 0; trial < 10; trial++) {
      for (size_t e = 0; e < shapes[i][0] * shapes[i][1]; e++) {
        A[e] = random_number(&seed);
      }
      check_decomposition(shapes[i][0], shapes[i][1]);
    }
  }
}

// columns of very different size: rows scaled over 12 decades, and products of low rank
static void test_graded_and_deficient_as_lapack(void** state) {
  (void)state;
  uint64_t seed = 77;
  for (size_t m = 2; m <= 14; m++) {
    for (size_t n = 2; n <= 14; n++) {
      const size_t rank = 1 + (m * n) % smaller(m, n);
      for (size_t e = 0; e < m * rank; e++) {
        U[e] = random_number(&seed);
      }
      for (size_t e = 0; e < rank * n; e++) {
        const size_t row = e / n;
        V[e] = random_number(&seed) * pow(10.0, -(double)row);
      }
      yoke__mat_mul(m, rank, n, U, V, A);
      check_decomposition(m, n);
    }
  }
}

static void test_zero_and_extreme_sizes(void** state) {
  (void)state;
  // zero matrix: values 0, vectors still orthonormal
  memset(A, 0, sizeof A);
  check_ok(yoke__svd(5, 3, A, U, s, V, work));
  assert_true(s[0] == 0.0 && s[2] == 0.0);
  check_between(orthogonality(5, 3, U), 0.0, 1e-15);
  check_between(orthogonality(3, 3, V), 0.0, 1e-15);

  // squares of these would overflow or vanish; a power of two changes no digit
  const double diagonal[3] = {3.0, -2.0, 0.5}, values[3] = {3.0, 2.0, 0.5};
  for (int e = -1000; e <= 1000; e += 1000) {
    memset(A, 0, sizeof A);
    for (size_t i = 0; i < 3; i++) {
      A[i * 3 + (i + 1) % 3] = ldexp(diagonal[i], e);
    }
    check_ok(yoke__svd(3, 3, A, U, s, V, work));
    for (size_t i = 0; i < 3; i++) {
      assert_true(s[i] == ldexp(values[i], e));
    }
  }
  // a column far below the other: found to full relative accuracy
  const double graded[4] = {1.0, 1e-150, 1.0, -1e-150};
  memcpy(A, graded, sizeof graded);
  check_ok(yoke__svd(2, 2, A, U, s, V, work));
  check_relative(s[0], sqrt(2.0), 4.0 * DBL_EPSILON);
  A[3] = (double)NAN;
  assert_int_equal(yoke__svd(2, 2, A, U, s, V, work), YOKE_BAD_ARG);
  A[3] = -(double)INFINITY;
  assert_int_equal(yoke__svd(2, 2, A, U, s, V, work), YOKE_BAD_ARG);
}

// largest |L M R - L| etc.: one of Penrose's conditions
static double product_defect(size_t m, size_t n, const double L[], const double M[]) {
  static double LM[N_MAX * N_MAX], LML[N_MAX * N_MAX];
  double most = 0.0;
  yoke__mat_mul(m, n, m, L, M, LM);
  yoke__mat_mul(m, m, n, LM, L, LML);
  for (size_t i = 0; i < m * n; i++) {
    most = fmax(most, fabs(LML[i] - L[i]));
  }
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < m; j++) {
      most = fmax(most, fabs(LM[i * m + j] - LM[j * m + i]));
    }
  }
  return most;
}

static void test_pseudo_inverse_by_penrose(void** state) {
  (void)state;
  uint64_t seed = 9;
  for (size_t m = 1; m <= 10; m++) {
    for (size_t n = 1; n <= 10; n++) {
      const size_t want = 1 + (m + 2 * n) % smaller(m, n);
      size_t rank = 0;
      for (size_t e = 0; e < m * want; e++) {
        U[e] = random_number(&seed);
      }
      for (size_t e = 0; e < want * n; e++) {
        V[e] = random_number(&seed);
      }
      yoke__mat_mul(m, want, n, U, V, A);
      check_ok(yoke__pseudo_inverse(m, n, A, 1e-10, X, &rank, work));
      assert_int_equal(rank, want);
      // A X A = A with A X symmetric, X A X = X with X A symmetric; X is as large as 1 / s_rank
      double largest = 1.0;
      for (size_t e = 0; e < n * m; e++) {
        largest = fmax(largest, fabs(X[e]));
      }
      check_between(product_defect(m, n, A, X), 0.0, 1e-13 * largest * largest);
      check_between(product_defect(n, m, X, A), 0.0, 1e-13 * largest * largest);
    }
  }
}

static void test_cut_off(void** state) {
  (void)state;
  const double diagonal[4] = {2.0, 0.0, 0.0, 1.9e-10};
  size_t rank = 9;
  check_ok(yoke__pseudo_inverse(2, 2, diagonal, 1e-10, X, &rank, work));
  assert_int_equal(rank, 1);
  assert_true(X[0] == 0.5 && X[3] == 0.0);
  check_ok(yoke__pseudo_inverse(2, 2, diagonal, 0.9e-10, X, &rank, work));
  assert_int_equal(rank, 2);
  check_relative(X[3], 1.0 / 1.9e-10, 1e-15);
  memset(A, 0, sizeof A);
  check_ok(yoke__pseudo_inverse(3, 2, A, 1e-10, X, &rank, work));
  assert_true(rank == 0 && X[0] == 0.0 && X[5] == 0.0);
  A[1] = (double)NAN;
  assert_int_equal(yoke__pseudo_inverse(3, 2, A, 1e-10, X, &rank, work), YOKE_BAD_ARG);
  assert_true(rank == 0 && X[1] == 0.0);
}

static void test_no_heap(void** state) {
  (void)state;
  check_heap_is_counted();
  uint64_t seed = 1;
  size_t rank = 0;
  for (size_t e = 0; e < 100; e++) {
    A[e] = random_number(&seed);
  }
  const long before = atomic_load(&n_heap_calls);
  const yoke_status status = yoke__pseudo_inverse(10, 10, A, 1e-10, X, &rank, work);
  const long after = atomic_load(&n_heap_calls);
  check_ok(status);
  assert_int_equal(after - before, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_shapes_as_lapack),
      cmocka_unit_test(test_graded_and_deficient_as_lapack),
      cmocka_unit_test(test_zero_and_extreme_sizes),
      cmocka_unit_test(test_pseudo_inverse_by_penrose),
      cmocka_unit_test(test_cut_off),
      cmocka_unit_test(test_no_heap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
