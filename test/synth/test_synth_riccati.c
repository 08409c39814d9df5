// Riccati equations: closed forms, residual and stability on random problems, a slow twin, problems without a solution.
#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "synth/synth_riccati.h"
#include "synth/synth_system.h"

static uint64_t seed;

static double random_number(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(seed >> 11) / 4503599627370496.0 - 1.0;
}

static yoke_matrix random_matrix(yoke_arena* w, size_t n, size_t m) {
  const yoke_matrix M = yoke__matrix_zero(w, n, m);
  for (size_t i = 0; i < n * m; i++) {
    M.a[i] = random_number();
  }
  return M;
}

// M'M + value I
static yoke_matrix random_positive(yoke_arena* w, size_t n, double value) {
  const yoke_matrix M = random_matrix(w, n, n);
  return yoke__matrix_add(w, yoke__matrix_mul(w, yoke__matrix_transpose(w, M), M),
                          yoke__matrix_identity(w, n, value), 1);
}

static yoke_riccati scalar(yoke_arena* w, bool is_discrete, double a, double b, double q, double r,
                           double s) {
  return (yoke_riccati){is_discrete,
                        yoke__matrix_identity(w, 1, a),
                        yoke__matrix_identity(w, 1, b),
                        yoke__matrix_identity(w, 1, q),
                        yoke__matrix_identity(w, 1, r),
                        yoke__matrix_identity(w, 1, s)};
}

// b^2 X^2 / r - 2 (a - b s / r) X - (q - s^2 / r) = 0, the larger root
static void test_scalar(void** state) {
  (void)state;
  yoke_arena w = {0};
  for (int i = 0; i <= 8; i++) {
    const double a = -3 + 0.75 * i;
    const double b = 2, q = 5, r = 0.5, s = 0.3;
    const yoke_riccati p = scalar(&w, false, a, b, q, r, s);
    yoke_riccati_solution found;
    check_ok(yoke__riccati_solve(&w, &p, &found));
    const double a0 = a - b * s / r, g = b * b / r, q0 = q - s * s / r;
    const double X = (a0 + sqrt(a0 * a0 + g * q0)) / g;
    check_relative(found.X.a[0], X, 1e-13);
    check_relative(found.F.a[0], -(b * X + s) / r, 1e-13);
    check_relative(found.least, X, 1e-13);
  }

  // discrete, b = q = r = 1, a = 1: X^2 - X - 1 = 0
  const yoke_riccati p = scalar(&w, true, 1, 1, 1, 1, 0);
  yoke_riccati_solution found;
  check_ok(yoke__riccati_solve(&w, &p, &found));
  check_relative(found.X.a[0], (1 + sqrt(5)) / 2, 1e-13);
  yoke__arena_free(&w);
}

// Of order 1 to 9 with a definite weight: X > 0, A + B F stable, the residual near rounding. With the weight of H-infinity,
// diag(-gamma^2, 1), too, as long as gamma is large.
static void test_random(void** state) {
  (void)state;
  double worst = 0;
  for (size_t k = 0; k < 120; k++) {
    yoke_arena w = {0};
    seed = 7000 + k;
    const size_t n = 1 + k % 9, m = 1 + k % 3;
    const bool is_discrete = k % 2 == 1;
    yoke_riccati p = {
        .is_discrete = is_discrete, .A = random_matrix(&w, n, n), .B = random_matrix(&w, n, m + 1)};
    p.Q = random_positive(&w, n, 0.5);
    p.R = random_positive(&w, m + 1, 0.5);
    p.S = yoke__matrix_scale(&w, random_matrix(&w, n, m + 1), 0.05);
    if (k % 4 >= 2) {
      p.R.a[0] = -1e10;
      for (size_t i = 1; i <= m; i++) {
        p.R.a[i] = p.R.a[i * (m + 1)] = 0;
      }
    }
    yoke_riccati_solution found;
    check_ok(yoke__riccati_solve(&w, &p, &found));
    assert_true(found.least > 0);
    // X = Z2 Z1^-1: rounding grows with the condition of Z1, about |X|
    worst = fmax(worst, found.residual / (1 + found.size));
    check_between(found.residual, 0, 1e-13 * (1 + found.size));
    const yoke_synth_system loop = {
        is_discrete, yoke__matrix_add(&w, p.A, yoke__matrix_mul(&w, p.B, found.F), 1),
        yoke__matrix_zero(&w, n, 1), yoke__matrix_zero(&w, 1, n), yoke__matrix_zero(&w, 1, 1)};
    double instability = 0;
    check_ok(yoke__system_instability(loop, &instability));
    assert_true(instability < 0);
    yoke__arena_free(&w);
  }
  print_message("120 Riccati equations: residual at most %.1e (1 + |X|)\n", worst);
}

// The discrete equation is the limit of its own recursion X+ = Q + A'X A - A'X B (R + B'X B)^-1 B'X A.
static void test_recursion(void** state) {
  (void)state;
  for (size_t k = 0; k < 10; k++) {
    yoke_arena w = {0};
    seed = 8000 + k;
    const size_t n = 2 + k % 4, m = 1 + k % 2;
    yoke_riccati p = {
        .is_discrete = true, .A = random_matrix(&w, n, n), .B = random_matrix(&w, n, m)};
    p.Q = random_positive(&w, n, 0.1);
    p.R = random_positive(&w, m, 0.1);
    p.S = yoke__matrix_zero(&w, n, m);
    const yoke_matrix A_t = yoke__matrix_transpose(&w, p.A), B_t = yoke__matrix_transpose(&w, p.B);
    yoke_matrix X = p.Q;
    bool is_singular = false;
    for (size_t i = 0; i < 2000; i++) {
      const yoke_matrix XA = yoke__matrix_mul(&w, X, p.A);
      const yoke_matrix weight = yoke__matrix_add(&w, p.R, yoke__matrix_mul3(&w, B_t, X, p.B), 1);
      const yoke_matrix F =
          yoke__matrix_solve(&w, weight, yoke__matrix_mul(&w, B_t, XA), &is_singular);
      const yoke_matrix rest = yoke__matrix_add(&w, XA, yoke__matrix_mul3(&w, X, p.B, F), -1);
      X = yoke__matrix_add(&w, p.Q, yoke__matrix_mul(&w, A_t, rest), 1);
    }
    assert_false(is_singular);
    yoke_riccati_solution found;
    check_ok(yoke__riccati_solve(&w, &p, &found));
    const double off = yoke__matrix_largest(yoke__matrix_add(&w, found.X, X, -1));
    check_between(off / yoke__matrix_largest(X), 0, 1e-10);
    yoke__arena_free(&w);
  }
}

static void test_without_solution(void** state) {
  (void)state;
  yoke_arena w = {0};
  yoke_riccati_solution found;

  // an unstable mode that u does not move
  yoke_riccati p = scalar(&w, false, 1, 0, 1, 1, 0);
  assert_int_equal(yoke__riccati_solve(&w, &p, &found), YOKE_SINGULAR);
  p = scalar(&w, true, 2, 0, 1, 1, 0);
  assert_int_equal(yoke__riccati_solve(&w, &p, &found), YOKE_SINGULAR);

  // x'' = 0 with no weight on it: eigenvalues on the axis
  p = scalar(&w, false, 0, 1, -1, 1, 0);
  assert_int_equal(yoke__riccati_solve(&w, &p, &found), YOKE_SINGULAR);

  p = scalar(&w, false, (double)NAN, 1, 1, 1, 0);
  assert_int_equal(yoke__riccati_solve(&w, &p, &found), YOKE_BAD_ARG);

  // nothing to solve
  const yoke_matrix none = yoke__matrix_zero(&w, 0, 0);
  p = (yoke_riccati){false,
                     none,
                     yoke__matrix_zero(&w, 0, 1),
                     none,
                     yoke__matrix_identity(&w, 1, 1),
                     yoke__matrix_zero(&w, 0, 1)};
  check_ok(yoke__riccati_solve(&w, &p, &found));
  assert_int_equal(found.F.n_rows, 1);
  yoke__arena_free(&w);
}

// Against LAPACK.
static void test_symmetric_eigenvalues(void** state) {
  (void)state;
  for (size_t n = 1; n <= 12; n++) {
    yoke_arena w = {0};
    seed = 9000 + n;
    const yoke_matrix M = random_matrix(&w, n, n);
    const yoke_matrix A = yoke__matrix_add(&w, M, yoke__matrix_transpose(&w, M), 1);
    const yoke_matrix values = yoke__matrix_eigenvalues_symmetric(&w, A);
    double re[12], im[12];
    check_ok(yoke__eigenvalues(n, A.a, re, im));
    for (size_t i = 0; i < n; i++) {
      // the i-th smallest of theirs: as many are below it
      size_t below = 0;
      for (size_t j = 0; j < n; j++) {
        below += re[j] < values.a[i] - 1e-12;
      }
      assert_int_equal(below, i);
    }
    yoke__arena_free(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scalar),
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_recursion),
      cmocka_unit_test(test_without_solution),
      cmocka_unit_test(test_symmetric_eigenvalues),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
