// Method `mpsm` through its table, on the nonlinear dual mass oscillator with impulses (specification 10.2, 11.4): the
// models are identified while it runs. Published figures to the last digit printed.
#include "support/dual_mass_pulsed.h"

static double whole[N_STEPS + 1][3];

static void run_whole(void) {
  oscillator o = {.x1 = 0.1};
  for (int k = 0; k <= N_STEPS; k++) {
    whole[k][0] = o.x1;
    whole[k][1] = o.v1;
    whole[k][2] = coupling_force(&o, o.x1, o.v1);
    advance(&o, true, 0, 0, 0, impulse(k));
  }
}

typedef struct errors {
  double all, after;  // over the run, from 0.24 s on
} errors;

// Mean of |y - whole| over the range of the whole run, mean over a unit's outputs, norm over units.
static errors judge(double y[N_STEPS + 1][3]) {
  errors e = {0, 0};
  double sums[2][3] = {{0}};
  for (int i = 0; i < 3; i++) {
    double low = whole[0][i], high = whole[0][i];
    for (int k = 0; k <= N_STEPS; k++) {
      low = fmin(low, whole[k][i]);
      high = fmax(high, whole[k][i]);
    }
    for (int k = 1; k <= N_STEPS; k++) {
      const double share = fabs(y[k][i] - whole[k][i]) / (high - low);
      sums[0][i] += share / N_STEPS;
      sums[1][i] += k >= 240 ? share / (N_STEPS - 240 + 1) : 0;
    }
  }
  e.all = hypot((sums[0][0] + sums[0][1]) / 2, sums[0][2]);
  e.after = hypot((sums[1][0] + sums[1][1]) / 2, sums[1][2]);
  return e;
}

static pulsed_run last;

static errors run(const setting settings[], size_t n, int k_bad) {
  run_pulsed(settings, n, k_bad, &last);
  return judge(last.y);
}

static errors run_one(const char* name, double value, const char* other, double other_value) {
  const setting settings[] = {{name, value}, {other, other_value}};
  return run(settings, 2, -1);
}

// 0.0681 / 0.0635 held, 0.0367 / 0.0224 with models, 0.0329 / 0.0176 with step 1 (11.4)
static void test_MP_09_nonlinear_oscillator(void** state) {
  (void)state;
  const double* health = last.health;
  run_whole();
  const errors held = run_one("learning", 1e6, "", 0);
  const errors on = run_one("ede", 1, "", 0);
  const errors off = run(NULL, 0, -1);
  print_message("held %.4f / %.4f, mpsm %.4f / %.4f, with ede %.4f / %.4f\n", held.all, held.after,
                off.all, off.after, on.all, on.after);
  print_message(
      "%g steps by signals after learning, %g modified, %g full; error %.3f, at most %.2f\n",
      health[1], health[2], health[3], health[9], health[10]);
  check_between(held.all, 0.0681 - 5e-5, 0.0681 + 5e-5);
  check_between(held.after, 0.0635 - 5e-5, 0.0635 + 5e-5);
  check_between(off.all, 0.0367 - 5e-5, 0.0367 + 5e-5);
  check_between(on.all, 0.0329 - 5e-5, 0.0329 + 5e-5);
  assert_true(off.after <= 0.4 * held.after);
  assert_true(on.after <= 0.33 * held.after);
}

// Subspace models, shifted pairing, order 2/1, 4 block rows, as much memory as a window of 778 samples (11.4: 0.0413 / 0.0259
// over such a window, computed at every exchange: test/scenarios/test_scenarios_dual_mass.c).
static void test_MP_10_nonlinear_oscillator(void** state) {
  (void)state;
  run_whole();
  const errors held = run_one("learning", 1e6, "", 0);
  for (int guard = 0; guard < 2; guard++) {
    const setting settings[] = {
        {"jacobians", 1},    {"learning", 290},     {"switching", 4},
        {"th_signal", 4.22}, {"th_modified", 1.72}, {"forgetting", 1 - 1 / 778.0},
        {"guard", guard},
    };
    const errors e = run(settings, sizeof settings / sizeof settings[0], -1);
    print_message("guard %d: %.4f / %.4f; %g models, %g failed, %g exchanges by signals\n", guard,
                  e.all, e.after, last.health[14], last.health[16], last.health[1]);
    assert_true(e.after <= 0.6 * held.after);
    assert_true(last.health[14] > 0);
  }
}

// A fallback at every exchange gives what a run that never leaves learning gives, to the last bit.
static void test_MP_15_fallback_is_the_signal_bitwise(void** state) {
  (void)state;
  const setting always[] = {{"th_signal", 0}, {"th_modified", 0}};
  static double by_signals[N_STEPS + 1][3];
  run_whole();
  (void)run_one("learning", 1e6, "", 0);
  memcpy(by_signals, last.y, sizeof by_signals);
  (void)run(always, 2, -1);
  assert_true(last.health[1] > 700);
  assert_memory_equal(last.y, by_signals, sizeof by_signals);
  (void)run(NULL, 0, -1);
  assert_memory_not_equal(last.y, by_signals, sizeof by_signals);
}

// What is no number leads to the signals at once, to the last bit; then the models are used again.
static void test_MP_15_not_a_number(void** state) {
  (void)state;
  const double* health = last.health;
  run_whole();
  const errors good = run(NULL, 0, -1);
  const errors bad = run(NULL, 0, 500);
  print_message("error %.4f, with a NaN at 0.5 s %.4f; %g steps by signals, %g fallbacks for it\n",
                good.after, bad.after, health[1], health[5]);
  assert_true(health[1] >= 1 && health[1] < 50);
  assert_true(health[5] == 1);
  assert_true(bad.after < 2 * good.after);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_MP_09_nonlinear_oscillator),
      cmocka_unit_test(test_MP_10_nonlinear_oscillator),
      cmocka_unit_test(test_MP_15_fallback_is_the_signal_bitwise),
      cmocka_unit_test(test_MP_15_not_a_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
