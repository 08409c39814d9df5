// Order reduction: the error bound, frequency 0, the order that a tolerance needs, systems that cannot be reduced.
#include "support/check.h"
#include "support/heard.h"
#include "synth/synth_norm.h"
#include "synth/synth_reduce.h"

static HEAR(err);
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

// Stable, of any damping.
static yoke_synth_system random_system(yoke_arena* w, size_t k) {
  seed = 40000 + k;
  const size_t n = 2 + k % 9, m = 1 + k % 2, p = 1 + k / 2 % 2;
  yoke_synth_system G = {k % 2 == 1, random_matrix(w, n, n), random_matrix(w, n, m),
                         random_matrix(w, p, n), random_matrix(w, p, m)};
  double instability = 0;
  check_ok(yoke__system_instability(G, &instability));
  G.A = G.is_discrete
            ? yoke__matrix_scale(w, G.A, 0.97 / (1 + instability))
            : yoke__matrix_add(w, G.A, yoke__matrix_identity(w, n, instability + 0.05), -1);
  return G;
}

static double norm_of(yoke_synth_system G) {
  yoke_synth_norm found;
  check_ok(yoke__synth_norm(G, 1e-9, &found));
  return found.norm;
}

// Of every order: the error is below the bound and, but for rounding, above the largest value dropped (no system of that order
// comes nearer); it is 0 at frequency 0, and the result is stable.
static void test_bound(void** state) {
  (void)state;
  size_t n_cases = 0;
  double nearest = 0;
  for (size_t k = 0; k < 60; k++) {
    yoke_arena w = {0};
    const yoke_synth_system G = random_system(&w, k);
    for (size_t order = 1; order < G.A.n_rows; order++) {
      yoke_synth_reduction less;
      check_ok(yoke__synth_reduce(&w, G, order, 0, &less, &err.sink));
      assert_int_equal(less.system.A.n_rows, order);
      assert_int_equal(less.hankel.n_rows, G.A.n_rows);
      double sum = 0;
      for (size_t i = order; i < G.A.n_rows; i++) {
        sum += 2 * less.hankel.a[i];
      }
      check_relative(less.bound, sum, 1e-12);
      const yoke_synth_system rest = yoke__system_difference(&w, G, less.system);
      const double error = norm_of(rest), size = norm_of(G);
      const double rounding = 1e-10 * size;
      assert_true(error <= less.bound + rounding);
      assert_true(error >= less.hankel.a[order] - rounding);
      check_between(yoke__system_gain_at(NULL, rest, 0), 0, rounding);
      double instability = 0;
      check_ok(yoke__system_instability(less.system, &instability));
      assert_true(instability < 0);
      if (less.bound > 1e4 * rounding) {
        nearest = fmax(nearest, error / less.bound);
      }
      n_cases++;
    }
    yoke__arena_free(&w);
  }
  print_message("%zu reductions: error up to %.4f of the bound\n", n_cases, nearest);
}

static void test_tolerance(void** state) {
  (void)state;
  for (size_t k = 0; k < 20; k++) {
    yoke_arena w = {0};
    const yoke_synth_system G = random_system(&w, k);
    const double size = norm_of(G);
    size_t before = G.A.n_rows;
    for (int i = 0; i < 6; i++) {
      const double tolerance = 1e-6 * size * pow(10, i);
      yoke_synth_reduction less;
      check_ok(yoke__synth_reduce(&w, G, 0, tolerance, &less, &err.sink));
      const size_t r = less.system.A.n_rows;
      assert_true(less.bound <= tolerance && r <= before);
      // one state less would not do
      assert_true(r == 0 || less.bound + 2 * less.hankel.a[r - 1] > tolerance);
      before = r;
    }
    yoke__arena_free(&w);
  }
}

// States that nothing moves or shows have values of 0 and go first, without an error.
static void test_superfluous(void** state) {
  (void)state;
  yoke_arena w = {0};
  const yoke_synth_system G = random_system(&w, 4);
  const size_t n = G.A.n_rows, m = G.D.n_columns, p = G.D.n_rows;
  const yoke_synth_system idle = {false, yoke__matrix_identity(&w, 2, -3),
                                  yoke__matrix_zero(&w, 2, m), random_matrix(&w, p, 2),
                                  yoke__matrix_zero(&w, p, m)};
  yoke_synth_reduction less;
  check_ok(yoke__synth_reduce(&w, yoke__system_difference(&w, G, idle), n, 0, &less, &err.sink));
  check_between(less.bound, 0, 1e-12 * norm_of(G));
  check_between(norm_of(yoke__system_difference(&w, G, less.system)), 0, 1e-10 * norm_of(G));

  // no states at all
  check_ok(yoke__synth_reduce(&w, yoke__system_gain(&w, true, G.D), 0, 0, &less, &err.sink));
  assert_int_equal(less.system.A.n_rows, 0);
  yoke__arena_free(&w);
}

static void test_refused(void** state) {
  (void)state;
  yoke_arena w = {0};
  yoke_synth_reduction less;
  yoke_synth_system G = random_system(&w, 2);
  G.A = yoke__matrix_identity(&w, G.A.n_rows, 0.25);
  assert_int_equal(yoke__synth_reduce(&w, G, 1, 0, &less, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text,
                 "only a stable element can be reduced: this one has a pole at Re = 0.25");
  G.is_discrete = true;
  G.A = yoke__matrix_identity(&w, G.A.n_rows, -1.5);
  assert_int_equal(yoke__synth_reduce(&w, G, 1, 0, &less, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "a pole at |z| = 1.5");
  G.D.a[0] = (double)NAN;
  assert_int_equal(yoke__synth_reduce(&w, G, 1, 0, &less, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "a number of the element is NaN or infinite");
  yoke__arena_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bound),
      cmocka_unit_test(test_tolerance),
      cmocka_unit_test(test_superfluous),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
