// Both causalities of the cut of two masses: the force goes to the heavier side. Numbers: HINF specification 5.
#include "dual_mass_loop.h"
#include "support/check.h"
#include "synth/synth_causality.h"

typedef struct pair {
  mass_loop matrices[2];
  yoke_synth_causality_case cases[2];
} pair;

// Force to 'heavy' and force to 'light'; masses of the two.
static void make_pair(double heavy, double light, double kc, double dc, pair* to) {
  static const char* const names[] = {"heavy", "light"};
  for (int i = 0; i < 2; i++) {
    const loop_masses m = {i == 0 ? light : heavy, i == 0 ? heavy : light, 1, 1, 0.5, 0.5, kc, dc};
    const yoke_synth_loop loop = mass_loop_make(&m, 0.05, &to->matrices[i]);
    to->cases[i] = (yoke_synth_causality_case){names[i], {loop.sides[0], loop.sides[1]}};
  }
}

static const yoke_synth_causality_settings stale = {
    .step = 0.05, .exchange = YOKE_SYNTH_STALE, .resolution = 0.002, .largest = 3, .power = -1};

// HI-05: force to heavy has no limit, force to light has one.
static void test_HI_05_force_to_heavy(void** state) {
  (void)state;
  static const double table[][4] = {{50, 1, 0.142, 1.344},   {50, 5, 0.118, 1.432},
                                    {50, 20, 0.054, 2.587},  {200, 5, 0.044, 4.306},
                                    {1000, 1, 0.006, 13.78}, {1000, 20, 0.018, 11.14}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    pair p;
    yoke_synth_choice choice;
    make_pair(10, 1, table[i][0], table[i][1], &p);
    check_ok(yoke__synth_causality_compare(p.cases, &stale, &choice));
    assert_int_equal(choice.better, 0);
    assert_true(isinf(choice.of[0].limit[YOKE_SYNTH_STALE].border));
    check_near(choice.of[1].limit[YOKE_SYNTH_STALE].stable, table[i][2], 1e-9);
    check_near(choice.of[1].report.gain.value, table[i][3], 0.0051);
    // largest |s / Z| = 1 / (2 zeta w m)
    check_relative(choice.of[0].mobility, 1 / (2 * PI * 10), 1e-4);
    check_relative(choice.of[1].mobility, 1 / (2 * PI), 1e-4);
    check_contains(choice.reason, "send the action to 'heavy': the loop is stable at every step");
    check_contains(choice.reason, "higher impedance");
    printf("%s\n", choice.reason);
  }
}

// The order in which the two are given does not matter, and neither does it where no limit decides.
static void test_order_and_mu(void** state) {
  (void)state;
  pair p;
  yoke_synth_choice choice;
  make_pair(1, 10, 200, 5, &p);  // 'heavy' is the light one here
  check_ok(yoke__synth_causality_compare(p.cases, &stale, &choice));
  assert_int_equal(choice.better, 1);
  yoke_synth_causality_settings s = stale;
  s.largest = 0.004;
  check_ok(yoke__synth_causality_compare(p.cases, &s, &choice));
  assert_int_equal(choice.better, 1);
  check_contains(choice.reason, "less sensitive");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_HI_05_force_to_heavy),
      cmocka_unit_test(test_order_and_mu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
