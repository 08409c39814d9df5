// The H-infinity norm: closed forms, a dense grid, invariance under the bilinear map, poles on the boundary.
#include "support/check.h"
#include "synth/synth_norm.h"

#define PI 3.14159265358979323846

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

static yoke_synth_norm norm_of(yoke_synth_system G) {
  yoke_synth_norm found;
  check_ok(yoke__synth_norm(G, 1e-10, &found));
  return found;
}

// w0^2 / (s^2 + 2 zeta w0 s + w0^2): 1 / (2 zeta sqrt(1 - zeta^2)) at w0 sqrt(1 - 2 zeta^2)
static void test_resonance(void** state) {
  (void)state;
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 6; j++) {
      const double w0 = 1e-3 * pow(100, i), zeta = 1e-6 * pow(10, j);
      yoke_arena w = {0};
      const double numerator[] = {0, 0, w0 * w0}, denominator[] = {1, 2 * zeta * w0, w0 * w0};
      const yoke_synth_norm found =
          norm_of(yoke__system_rational(&w, false, 2, numerator, denominator));
      check_relative(found.norm, 1 / (2 * zeta * sqrt(1 - zeta * zeta)), 1e-8);
      check_relative(found.frequency, w0 * sqrt(1 - 2 * zeta * zeta), 1e-4);
      yoke__arena_free(&w);
    }
  }
}

static void test_ends(void** state) {
  (void)state;
  yoke_arena w = {0};

  // s / (s + 1): 1 at infinity;  1 / (s + 2): 1/2 at 0
  const double high[] = {1, 0}, pole1[] = {1, 1}, low[] = {0, 1}, pole2[] = {1, 2};
  yoke_synth_norm found = norm_of(yoke__system_rational(&w, false, 1, high, pole1));
  check_relative(found.norm, 1, 1e-12);
  assert_true(isinf(found.frequency));
  found = norm_of(yoke__system_rational(&w, false, 1, low, pole2));
  check_relative(found.norm, 0.5, 1e-12);
  check_near(found.frequency, 0, 0);

  // 1 / (z - a): 1 / (1 - |a|) at 0 or pi
  for (int i = 0; i < 10; i++) {
    const double a = -0.99 + 0.22 * i;
    const double pole[] = {1, -a};
    found = norm_of(yoke__system_rational(&w, true, 1, low, pole));
    check_relative(found.norm, 1 / (1 - fabs(a)), 1e-10);
    check_near(found.frequency, a < 0 ? PI : 0, 1e-12);
  }

  // gains only; nothing; no signals
  const double D[] = {3, 0, 0, -4};
  found = norm_of(yoke__system_gain(&w, false, yoke__matrix_from(&w, 2, 2, D)));
  check_relative(found.norm, 4, 1e-14);
  const yoke_synth_system nothing = {false, yoke__matrix_identity(&w, 2, -1),
                                     yoke__matrix_zero(&w, 2, 1), random_matrix(&w, 1, 2),
                                     yoke__matrix_zero(&w, 1, 1)};
  check_near(norm_of(nothing).norm, 0, 0);
  yoke__arena_free(&w);
}

static void test_boundary(void** state) {
  (void)state;
  yoke_arena w = {0};
  const double one[] = {0, 1}, integrator[] = {1, 0}, turn[] = {1, 0, 4}, last[] = {0, 0, 1};
  const double alternating[] = {1, 1};
  assert_true(isinf(norm_of(yoke__system_rational(&w, false, 1, one, integrator)).norm));
  const yoke_synth_norm found = norm_of(yoke__system_rational(&w, false, 2, last, turn));
  assert_true(isinf(found.norm));
  check_relative(found.frequency, 2, 1e-12);
  assert_true(isinf(norm_of(yoke__system_rational(&w, true, 1, one, alternating)).norm));

  yoke_synth_system G = yoke__system_rational(&w, false, 1, one, alternating);
  G.B.a[0] = (double)NAN;
  yoke_synth_norm none;
  assert_int_equal(yoke__synth_norm(G, 1e-6, &none), YOKE_BAD_ARG);
  yoke__arena_free(&w);
}

// No frequency of a dense grid has a larger gain, and the bilinear map changes nothing.
static void test_grid(void** state) {
  (void)state;
  for (size_t k = 0; k < 40; k++) {
    yoke_arena w = {0};
    seed = 500 + k;
    const size_t n = 1 + k % 8, m = 1 + k % 3, p = 1 + k / 3 % 3;
    yoke_synth_system G = {false, random_matrix(&w, n, n), random_matrix(&w, n, m),
                           random_matrix(&w, p, n), random_matrix(&w, p, m)};
    double instability = 0;
    check_ok(yoke__system_instability(G, &instability));
    G.A = yoke__matrix_add(&w, G.A, yoke__matrix_identity(&w, n, instability + 0.02), -1);
    const yoke_synth_norm found = norm_of(G);
    check_relative(yoke__system_gain_at(NULL, G, found.frequency), found.norm, 1e-9);
    for (int i = 0; i < 1400; i++) {
      const double at = 1e-3 * pow(1.01, i);
      assert_true(yoke__system_gain_at(NULL, G, at) <= found.norm * (1 + 1e-9));
    }
    bool is_singular = false;
    const yoke_synth_system H = yoke__system_bilinear(&w, G, &is_singular);
    const yoke_synth_norm discrete = norm_of(H);
    check_relative(discrete.norm, found.norm, 1e-8);
    if (!isinf(found.frequency)) {
      check_near(discrete.frequency, 2 * atan(found.frequency), 1e-3);
    }
    // and back
    const yoke_synth_norm again = norm_of(yoke__system_bilinear(&w, H, &is_singular));
    assert_false(is_singular);
    check_relative(again.norm, found.norm, 1e-8);
    yoke__arena_free(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_resonance),
      cmocka_unit_test(test_ends),
      cmocka_unit_test(test_boundary),
      cmocka_unit_test(test_grid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
