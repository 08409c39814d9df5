// Balanced truncation: closed forms, Gramians by their own equations, the bound against the largest
// gain of the error over frequencies, integrators kept apart.
#include "support/check.h"

#include <complex.h>

#include "linalg/linalg_balance.h"
#include "linalg/linalg_dense.h"

#define MAX_N 130

typedef double _Complex complex_number;

// A system to play with; row by row.
typedef struct plant {
  yoke_balance_model model;
  double A[MAX_N * MAX_N], B[MAX_N * 3], C[3 * MAX_N];
} plant;

static plant* new_plant(size_t n, size_t n_u, size_t n_y) {
  plant* p = calloc(1, sizeof *p);
  assert_non_null(p);
  p->model = (yoke_balance_model){.n = n, .n_u = n_u, .n_y = n_y, .A = p->A, .B = p->B, .C = p->C};
  return p;
}

static double draw(uint64_t* seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-53 - 0.5;
}

// Ladder of specification 5.2: states i_1, v_1, i_2, v_2, ...; output the last voltage and the
// first current.
static plant* new_ladder(size_t n_loops) {
  const size_t n = 2 * n_loops;
  plant* p = new_plant(n, 1, 2);
  for (size_t j = 0; j < n_loops; j++) {
    for (size_t q = 0; q < n_loops; q++) {
      p->A[2 * j * n + 2 * q] = -100.0 * (double)(1 + (q < j ? q : j));
    }
    p->A[2 * j * n + 2 * j + 1] = -10.0;
    p->A[(2 * j + 1) * n + 2 * j] = 10.0;
    p->B[2 * j] = 10.0;
  }
  p->C[1] = 1.0;
  p->C[n] = 1.0;
  return p;
}

// c (jw - A)^-1 B of input u
static complex_number transfer(size_t n, const double A[], const double B[], size_t n_u, size_t u,
                               const double c[], double w) {
  // (jw - A) = R + jI as a real system of twice the size
  double* M = calloc(4 * n * n + 1, sizeof *M);
  double* b = calloc(2 * n + 1, sizeof *b);
  size_t* pivots = calloc(2 * n + 1, sizeof *pivots);
  assert_true(M != NULL && b != NULL && pivots != NULL);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      M[i * 2 * n + j] = M[(n + i) * 2 * n + n + j] = -A[i * n + j];
    }
    M[i * 2 * n + n + i] = -w;
    M[(n + i) * 2 * n + i] = w;
    b[i] = B[i * n_u + u];
  }
  check_ok(yoke__solve(2 * n, M, b, pivots));
  double re = 0.0, im = 0.0;
  for (size_t i = 0; i < n; i++) {
    re += c[i] * b[i];
    im += c[i] * b[n + i];
  }
  free(M);
  free(b);
  free(pivots);
  return re + im * (complex_number)I;
}

// Frobenius norm of the error at one frequency: not below the largest singular value
static double gain_of_error(const yoke_balance_model* m, const yoke_reduction* r, double w) {
  double sum = 0.0;
  for (size_t u = 0; u < m->n_u; u++) {
    for (size_t y = 0; y < m->n_y; y++) {
      const complex_number g = transfer(m->n, m->A, m->B, m->n_u, u, m->C + y * m->n, w);
      const complex_number h =
          r->n == 0 ? 0.0 : transfer(r->n, r->A, r->B, m->n_u, u, r->C + y * r->n, w);
      sum += cabs(g - h) * cabs(g - h);
    }
  }
  return sqrt(sum);
}

// the largest over a grid of frequencies
static double worst_gain(const yoke_balance_model* m, const yoke_reduction* r, double low,
                         double high) {
  double worst = 0.0;
  for (int i = 0; i <= 30; i++) {
    worst = fmax(worst, gain_of_error(m, r, low * pow(high / low, i / 30.0)));
  }
  return worst;
}

// one state: b c / (s + a) has the singular value |b c| / (2 a)
static void test_first_order(void** state) {
  (void)state;
  plant* p = new_plant(1, 1, 1);
  yoke_arena arena = {0};
  yoke_reduction r;
  p->A[0] = -4;
  p->B[0] = 3;
  p->C[0] = -5;
  check_ok(yoke__balance_reduce(&p->model, 1, 0, &arena, &r));
  assert_int_equal(r.n, 1);
  check_relative(r.hankel[0], 15.0 / 8, 1e-14);
  check_relative(r.A[0], -4, 1e-14);
  check_relative(r.C[0] * r.B[0], -15, 1e-14);
  check_near(r.bound, 0.0, 0.0);
  // without any state the bound is reached: the gain at 0 is 15/4
  check_ok(yoke__balance_reduce(&p->model, 0, 4.0, &arena, &r));
  assert_int_equal(r.n, 0);
  check_relative(r.bound, 15.0 / 4, 1e-14);
  yoke__arena_free(&arena);
  free(p);
}

// Two states with known Gramians: A = -diag(1, 2), B = (1, 1), C = (1, 1): P = Q = [1/2 1/3; 1/3
// 1/4]; their product has the eigenvalues ((1/2 + 1/4 +- sqrt((1/4)^2 + 4/9)) / 2)^2.
static void test_second_order(void** state) {
  (void)state;
  plant* p = new_plant(2, 1, 1);
  yoke_arena arena = {0};
  yoke_reduction r;
  p->A[0] = -1;
  p->A[3] = -2;
  p->B[0] = p->B[1] = p->C[0] = p->C[1] = 1;
  check_ok(yoke__balance_reduce(&p->model, 1, 0, &arena, &r));
  const double root = sqrt(0.0625 + 4.0 / 9);
  check_relative(r.hankel[0], (0.75 + root) / 2, 1e-14);
  check_near(r.hankel[1], (0.75 - root) / 2, 1e-15);
  check_relative(r.bound, 2 * r.hankel[1], 1e-15);
  const double worst = worst_gain(&p->model, &r, 1e-3, 1e3);
  assert_true(worst <= r.bound * (1 + 1e-12));
  // poles alternate with zeros: the bound is met at frequency 0
  check_relative(gain_of_error(&p->model, &r, 0.0), r.bound, 1e-12);
  yoke__arena_free(&arena);
  free(p);
}

// random stable systems of several inputs and outputs, complex eigenvalues among them
static void test_random(void** state) {
  (void)state;
  uint64_t seed = 4711;
  for (int trial = 0; trial < 30; trial++) {
    const size_t n = 2 + (size_t)(trial % 12), n_u = 1 + (size_t)(trial % 3);
    const size_t n_y = 1 + (size_t)(trial % 2);
    plant* p = new_plant(n, n_u, n_y);
    yoke_arena arena = {0};
    yoke_reduction r;
    double re[MAX_N], im[MAX_N], most = -1e9;
    for (size_t i = 0; i < n * n; i++) {
      p->A[i] = draw(&seed);
    }
    for (size_t i = 0; i < n * n_u; i++) {
      p->B[i] = draw(&seed);
    }
    for (size_t i = 0; i < n * n_y; i++) {
      p->C[i] = draw(&seed);
    }
    check_ok(yoke__eigenvalues(n, p->A, re, im));
    for (size_t i = 0; i < n; i++) {
      most = fmax(most, re[i]);
    }
    for (size_t i = 0; i < n; i++) {
      p->A[i * n + i] -= most + 0.05;
    }
    // all states: the same transfer function
    check_ok(yoke__balance_reduce(&p->model, n, 0, &arena, &r));
    assert_true(gain_of_error(&p->model, &r, 0.3) < 1e-9 * r.hankel[0]);
    for (size_t order = 1; order < n; order++) {
      check_ok(yoke__balance_reduce(&p->model, order, 0, &arena, &r));
      const double worst = worst_gain(&p->model, &r, 1e-3, 1e2);
      // several ports: the Frobenius norm may be above the norm that the bound is for
      const double ports = sqrt((double)(n_u < n_y ? n_u : n_y));
      if (!(worst <= ports * r.bound * (1 + 1e-9) + 1e-12 * r.hankel[0])) {
        fail_msg("trial %d, order %zu of %zu: gain %.6g, bound %.6g", trial, order, n, worst,
                 r.bound);
      }
    }
    yoke__arena_free(&arena);
    free(p);
  }
}

// ladders: the tolerance is kept, few states stay, the state of start is mapped
static void test_ladder(void** state) {
  (void)state;
  static const double tolerances[] = {1e-2, 1e-4, 1e-6, 1e-8};
  for (size_t n_loops = 20; n_loops <= 60; n_loops += 20) {
    plant* p = new_ladder(n_loops);
    for (size_t i = 0; i < 4; i++) {
      yoke_arena arena = {0};
      yoke_reduction r;
      check_ok(yoke__balance_reduce(&p->model, 0, tolerances[i], &arena, &r));
      assert_true(r.bound <= tolerances[i]);
      assert_true(r.n < 2 * n_loops);
      const double worst = worst_gain(&p->model, &r, 1e-2, 1e5);
      printf("ladder %zu, tolerance %.0e: %zu of %zu states, bound %.3g, largest error %.3g\n",
             n_loops, tolerances[i], r.n, 2 * n_loops, r.bound, worst);
      assert_true(worst <= r.bound * (1 + 1e-9) + 1e-12 * r.hankel[0]);
      assert_int_equal(r.n_apart, 0);
      yoke__arena_free(&arena);
    }
    free(p);
  }
}

// An integrator (a heat capacity that nothing cools) beside two stable states, coupled to both:
// kept, exactly.
static void test_integrator(void** state) {
  (void)state;
  static const double A[] = {-1, 0.2, 0, 0.3, -20, 0, 0.5, 0.7, 0};
  plant* p = new_plant(3, 1, 1);
  yoke_arena arena = {0};
  yoke_reduction r;
  memcpy(p->A, A, sizeof A);
  p->B[0] = p->B[1] = 1;
  p->B[2] = 2;
  p->C[0] = p->C[2] = 1;
  check_ok(yoke__balance_reduce(&p->model, 2, 0, &arena, &r));
  assert_int_equal(r.n, 2);
  assert_int_equal(r.n_apart, 1);
  assert_int_equal(r.n_hankel, 2);
  assert_true(r.bound > 0);
  // at low frequencies the integrator alone counts: the error stays bounded although the gain does
  // not
  for (int i = -6; i < 3; i++) {
    const double w = pow(10, i);
    const double error = gain_of_error(&p->model, &r, w);
    if (!(error <= r.bound * (1 + 1e-6) + 1e-9 / w)) {
      fail_msg("w = %g: error %.9g, bound %.9g", w, error, r.bound);
    }
  }
  yoke__arena_free(&arena);
  free(p);
}

// z = T x: without inputs the reduced model answers a start state nearly as the whole one does
static void test_start(void** state) {
  (void)state;
  plant* p = new_ladder(10);
  yoke_arena arena = {0};
  yoke_reduction r;
  check_ok(yoke__balance_reduce(&p->model, 0, 1e-9, &arena, &r));
  // a state that inputs can reach: A^-1 B, where a constant input leads
  double x[20], A[400], z[20] = {0};
  size_t pivots[20];
  memcpy(x, p->B, sizeof x);
  memcpy(A, p->A, sizeof A);
  check_ok(yoke__solve(20, A, x, pivots));
  for (size_t i = 0; i < r.n; i++) {
    for (size_t j = 0; j < 20; j++) {
      z[i] += r.T[i * 20 + j] * x[j];
    }
  }
  for (size_t y = 0; y < 2; y++) {
    double whole = 0.0, reduced = 0.0;
    for (size_t j = 0; j < 20; j++) {
      whole += p->C[y * 20 + j] * x[j];
    }
    for (size_t j = 0; j < r.n; j++) {
      reduced += r.C[y * r.n + j] * z[j];
    }
    check_near(reduced, whole, 1e-7 * r.hankel[0]);
  }
  yoke__arena_free(&arena);
  free(p);
}

// Time constants over nine decades. All states of gain 1 are kept; the balanced basis mixes them,
// so that rounding of the fastest rate, 1e-16 * 1e9, stands beside the slowest.
static void test_stiff(void** state) {
  (void)state;
  plant* p = new_plant(4, 1, 1);
  yoke_arena arena = {0};
  yoke_reduction r;
  for (size_t i = 0; i < 4; i++) {
    const double rate = pow(1e3, (double)i);
    p->A[i * 4 + i] = -rate;
    p->B[i] = rate;
    p->C[i] = 1;
  }
  check_ok(yoke__balance_reduce(&p->model, 4, 0, &arena, &r));
  assert_int_equal(r.n, 4);
  check_near(worst_gain(&p->model, &r, 1e-3, 1e11), 0.0, 5e-7);
  yoke__arena_free(&arena);
  free(p);
}

static void test_bad(void** state) {
  (void)state;
  plant* p = new_plant(2, 1, 1);
  yoke_arena arena = {0};
  yoke_reduction r;
  p->A[1] = (double)NAN;
  assert_int_equal(yoke__balance_reduce(&p->model, 1, 0, &arena, &r), YOKE_BAD_ARG);
  // no states, no inputs, no outputs
  p->model = (yoke_balance_model){.A = p->A, .B = p->B, .C = p->C};
  check_ok(yoke__balance_reduce(&p->model, 0, 0.1, &arena, &r));
  assert_int_equal(r.n, 0);
  yoke__arena_free(&arena);
  free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_first_order), cmocka_unit_test(test_second_order),
      cmocka_unit_test(test_random),      cmocka_unit_test(test_ladder),
      cmocka_unit_test(test_integrator),  cmocka_unit_test(test_start),
      cmocka_unit_test(test_stiff),       cmocka_unit_test(test_bad),
  };
  return cmocka_run_group_tests_name("linalg_balance", tests, NULL, NULL);
}
