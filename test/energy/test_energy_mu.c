// mu against the table of the specification (CS-10), its printed examples, and the extensions by age.
#include "energy/energy_mu.h"

#include "support/check.h"

// one rounding of h/H, one of the sum
#define EXACT 2.3e-16

// force-displacement: the action has feedthrough; R = h_df / h_ndf
static yoke_mu_case table_case(double R, int order) {
  const double H = 1e-3;
  return (yoke_mu_case){
      .interval = H,
      .step_action = R < 1 ? H * R : H,
      .step_rate = R > 1 ? H / R : H,
      .order_action = order,
      .order_rate = order,
      .has_feedthrough = true,
  };
}

static double table_value(double R, int order) {
  if (R > 1) {
    return order == 0 ? 0.5 * (1.5 - 0.5 / R) : 0.5;
  }
  return order == 0 || R >= 1 ? 0.5 : 0.5 * R;
}

static void test_table_CS_10(void** state) {
  (void)state;
  static const double ratios[] = {1, 2, 5, 10, 50, 0.5, 0.2, 0.1, 0.02, 1.0 / 40};
  for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
    for (int order = 0; order <= 3; order++) {
      const yoke_mu_case c = table_case(ratios[i], order);
      check_near(yoke__energy_mu(&c), table_value(ratios[i], order), EXACT);
    }
  }
}

static void test_printed_examples_CS_10(void** state) {
  (void)state;
  const yoke_mu_case slow_hold = table_case(10, 0), slow_linear = table_case(10, 1);
  check_near(yoke__energy_mu(&slow_hold), 0.725, EXACT);
  assert_true(yoke__energy_mu(&slow_linear) == 0.5);

  // crane: hydraulics with feedthrough at 0.25 ms, exchange every 10 ms
  yoke_mu_case crane = {
      .interval = 10e-3, .step_action = 0.25e-3, .step_rate = 10e-3, .has_feedthrough = true};
  assert_true(yoke__energy_mu(&crane) == 0.5);
  crane.order_action = crane.order_rate = 1;
  check_near(yoke__energy_mu(&crane), 0.0125, EXACT);
}

// a law in the master is always fresh: only the hold in the fast unit is left
static void test_force_force_CS_10(void** state) {
  (void)state;
  yoke_mu_case c = {.interval = 1e-3,
                    .step_action = 1e-3,
                    .step_rate = 1e-3,
                    .has_feedthrough = true,
                    .is_fresh = true};
  assert_true(yoke__energy_mu(&c) == 0);
  for (int n = 2; n <= 64; n *= 2) {
    c.step_rate = 1e-3 / n;
    c.order_action = 0;
    check_near(yoke__energy_mu(&c), 0.25 * (1 - 1.0 / n), EXACT);
    c.order_action = 1;
    assert_true(yoke__energy_mu(&c) == 0);
  }
  c.step_rate = 1e-4;
  c.order_action = 0;
  check_near(yoke__energy_mu(&c), 0.225, EXACT);
}

static void test_displacement_displacement_CS_10(void** state) {
  (void)state;
  yoke_mu_case c = {
      .interval = 1e-3, .step_action = 1e-3, .step_rate = 1e-3, .is_partner_held = true};
  assert_true(yoke__energy_mu(&c) == 0);
  c.step_rate = 1e-4;
  check_near(yoke__energy_mu(&c), 0.45, EXACT);
  c.delay_action = 1e-3;  // a partner that is one exchange older
  check_near(yoke__energy_mu(&c), 1.45, 2 * EXACT);
  c.delay_action = 0;
  c.order_action = 1;
  assert_true(yoke__energy_mu(&c) == 0);
}

static void test_other_ages(void** state) {
  (void)state;
  // no feedthrough: nothing at one rate, half the held interval in a unit called ten times
  yoke_mu_case c = {.interval = 1e-3, .step_action = 1e-3, .step_rate = 1e-3};
  assert_true(yoke__energy_mu(&c) == 0);
  c.step_action = 1e-4;
  check_near(yoke__energy_mu(&c), 0.225, EXACT);
  c.order_rate = 1;
  assert_true(yoke__energy_mu(&c) == 0);

  // each exchange of delay on either side adds one half
  c = table_case(1, 0);
  c.delay_action = 2e-3;
  c.delay_rate = 1e-3;
  check_near(yoke__energy_mu(&c), 2, 4 * EXACT);

  // methods that lead: nepce on both ways leaves no age (measured in test_couple_nepce.c)
  c = table_case(1, 0);
  c.delay_action = c.delay_rate = -0.5e-3;
  check_near(yoke__energy_mu(&c), 0, EXACT);

  // an order without several calls has no effect; a step beyond the interval counts as one call
  c = table_case(1, 2);
  assert_true(yoke__energy_mu(&c) == 0.5);
  c.step_action = 5e-3;
  assert_true(yoke__energy_mu(&c) == 0.5);

  c.interval = 0;
  assert_true(isnan(yoke__energy_mu(&c)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table_CS_10),
      cmocka_unit_test(test_printed_examples_CS_10),
      cmocka_unit_test(test_force_force_CS_10),
      cmocka_unit_test(test_displacement_displacement_CS_10),
      cmocka_unit_test(test_other_ages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
