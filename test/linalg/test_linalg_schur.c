// Schur forms, deflating subspaces, pencils, complements: their defining properties on random matrices.
#include "linalg/linalg_dense.h"
#include "linalg/linalg_schur.h"
#include "support/check.h"

enum { MAX = 14 };

static uint64_t seed;

static double random_number(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(seed >> 11) / 4503599627370496.0 - 1.0;
}

static void fill(size_t n, double A[]) {
  for (size_t i = 0; i < n; i++) {
    A[i] = random_number();
  }
}

static void transpose(size_t m, size_t n, const double A[], double T[]) {
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      T[j * m + i] = A[i * n + j];
    }
  }
}

// Q'Q = 1, Q: m x n.
static void check_orthonormal(size_t m, size_t n, const double Q[]) {
  double T[MAX * MAX], P[MAX * MAX];
  transpose(m, n, Q, T);
  yoke__mat_mul(n, m, n, T, Q, P);
  for (size_t i = 0; i < n * n; i++) {
    check_near(P[i], i % (n + 1) == 0 ? 1 : 0, 1e-13);
  }
}

static void test_schur(void** state) {
  (void)state;
  double A[MAX * MAX], T[MAX * MAX], Z[MAX * MAX], AZ[MAX * MAX], ZT[MAX * MAX];
  for (size_t n = 1; n <= MAX; n++) {
    seed = n;
    fill(n * n, A);
    check_ok(yoke__schur(n, A, T, Z));
    check_orthonormal(n, n, Z);
    yoke__mat_mul(n, n, n, A, Z, AZ);
    yoke__mat_mul(n, n, n, Z, T, ZT);
    for (size_t i = 0; i < n * n; i++) {
      check_near(AZ[i], ZT[i], 1e-13 * (double)n);
    }
    // nothing below the blocks, and no two blocks that touch
    for (size_t i = 1; i < n; i++) {
      for (size_t j = 0; j + 1 < i; j++) {
        assert_true(T[i * n + j] == 0);
      }
      assert_true(i < 2 || T[i * n + i - 1] == 0 || T[(i - 1) * n + i - 2] == 0);
    }
  }
}

// N X = M X (small matrix) holds for a deflating subspace of the pencil M - lambda N: with N = 1 it is invariant under M. Its
// eigenvalues are those of M on the stable side.
static void test_stable_subspace(void** state) {
  (void)state;
  double M[MAX * MAX], N[MAX * MAX], Z[MAX * MAX], MZ[MAX * MAX], T[MAX * MAX], S[MAX * MAX];
  double re[MAX], im[MAX];
  for (size_t k = 0; k < 40; k++) {
    const size_t n = 2 + k % (MAX - 1);
    const bool is_discrete = k % 2 == 1;
    seed = 100 + k;
    fill(n * n, M);
    for (size_t i = 0; i < n * n; i++) {
      N[i] = i % (n + 1) == 0 ? 1 : 0;
    }
    size_t n_stable = 0, n_wanted = 0;
    check_ok(yoke__stable_subspace(n, M, N, is_discrete, Z, &n_stable));
    check_ok(yoke__eigenvalues(n, M, re, im));
    for (size_t i = 0; i < n; i++) {
      n_wanted += is_discrete ? hypot(re[i], im[i]) < 1 : re[i] < 0;
    }
    assert_int_equal(n_stable, n_wanted);
    check_orthonormal(n, n, Z);

    // Z'M Z: 0 below the first n_stable columns
    yoke__mat_mul(n, n, n, M, Z, MZ);
    transpose(n, n, Z, T);
    yoke__mat_mul(n, n, n, T, MZ, S);
    for (size_t i = n_stable; i < n; i++) {
      for (size_t j = 0; j < n_stable; j++) {
        check_near(S[i * n + j], 0, 1e-12);
      }
    }
  }
}

// det(M - lambda N) = 0: with N invertible the eigenvalues are those of N^-1 M, with a row of 0 one is infinite.
static void test_pencil(void** state) {
  (void)state;
  double M[MAX * MAX], N[MAX * MAX], re[MAX], im[MAX], beta[MAX];
  for (size_t n = 1; n <= MAX; n++) {
    seed = 200 + n;
    fill(n * n, M);
    fill(n * n, N);
    check_ok(yoke__pencil_eigenvalues(n, M, N, re, im, beta));

    // the sum of the eigenvalues is the trace of N^-1 M
    double sum = 0, trace = 0, lu[MAX * MAX], column[MAX];
    size_t pivots[MAX];
    memcpy(lu, N, n * n * sizeof *lu);
    check_ok(yoke__lu_factor(n, lu, pivots));
    for (size_t j = 0; j < n; j++) {
      for (size_t i = 0; i < n; i++) {
        column[i] = M[i * n + j];
      }
      yoke__lu_solve(n, lu, pivots, column);
      trace += column[j];
      sum += re[j] / beta[j];
    }
    check_near(sum, trace, 1e-9 * (1 + fabs(trace)));

    memset(N, 0, n * sizeof *N);
    check_ok(yoke__pencil_eigenvalues(n, M, N, re, im, beta));
    size_t n_infinite = 0;
    for (size_t i = 0; i < n; i++) {
      n_infinite += beta[i] <= 1e-14 * hypot(re[i], im[i]);
    }
    assert_int_equal(n_infinite, 1);
  }
}

static void test_complement(void** state) {
  (void)state;
  double A[MAX * MAX], Q[MAX * MAX], T[MAX * MAX], P[MAX * MAX];
  for (size_t m = 1; m <= MAX; m++) {
    for (size_t n = 0; n < m; n++) {
      seed = 300 + m * MAX + n;
      fill(m * n, A);
      check_ok(yoke__complement(m, n, A, Q));
      check_orthonormal(m, m - n, Q);
      transpose(m, m - n, Q, T);
      yoke__mat_mul(m - n, m, n, T, A, P);
      for (size_t i = 0; i < (m - n) * n; i++) {
        check_near(P[i], 0, 1e-14 * (double)m);
      }
    }
  }
}

static void test_refused(void** state) {
  (void)state;
  const double one[] = {1}, bad[] = {(double)NAN};
  double a[1], b[1], c[1];
  size_t n_stable = 0;
  assert_int_equal(yoke__schur(1, bad, a, b), YOKE_BAD_ARG);
  assert_int_equal(yoke__pencil_eigenvalues(1, one, bad, a, b, c), YOKE_BAD_ARG);
  assert_int_equal(yoke__stable_subspace(1, bad, one, false, a, &n_stable), YOKE_BAD_ARG);
  assert_int_equal(yoke__complement(1, 1, bad, a), YOKE_BAD_ARG);
  assert_int_equal(yoke__complement(1, 2, one, a), YOKE_BAD_ARG);
  check_ok(yoke__schur(0, one, a, b));
  check_ok(yoke__stable_subspace(0, one, one, false, a, &n_stable));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_schur),   cmocka_unit_test(test_stable_subspace),
      cmocka_unit_test(test_pencil),  cmocka_unit_test(test_complement),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
