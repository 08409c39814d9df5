// Errors of a coupling on a sine: published hold functions, the frequency response of the design, and the filters run in time.
#include "synth/synth_error.h"

#include <complex.h>

#include "support/check.h"

#define PI 3.14159265358979323846

static yoke_synth_design design_of(double interval, double step, double delay) {
  yoke_synth_settings s =
      yoke__synth_settings_default(delay > 0 ? YOKE_RECIPE_L : YOKE_RECIPE_T, interval, step);
  s.delay = delay;
  yoke_synth_design design;
  check_ok(yoke__synth_design(&s, 50, &design, NULL));
  return design;
}

// HI-01: |hold - 1| and |line - 1| over w Dt, table 4.2 of the specification, in the limit of many calls per exchange.
static void test_HI_01_table(void** state) {
  static const double x[] = {0.1, 0.2, 0.5, 1, 2, PI};
  static const double hold[] = {0.0500, 0.0999, 0.2483, 0.4863, 0.8937, 1.1854};
  static const double line[] = {0.0042, 0.0166, 0.1023, 0.3870, 1.2332, 1.8963};
  (void)state;
  yoke_synth_design d = {.settings = {.interval = 1, .step = 1.0 / 20000}};
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
    // rounded to four digits, and half a call of 5e-5 early
    check_near(yoke__synth_error_at(&d, YOKE_SYNTH_PATH_HOLD, x[i]).mean, hold[i], 1.3e-4);
    check_near(yoke__synth_error_at(&d, YOKE_SYNTH_PATH_LINE, x[i]).mean, line[i], 1.3e-4);
  }
}

// Low frequencies, x = w Dt: hold x / 2 and, with the steps, x / sqrt(3); line 5/12 x^2 and sqrt(31 / 120) x^2.
static void test_HI_01_series(void** state) {
  (void)state;
  const yoke_synth_design d = {.settings = {.interval = 1, .step = 1.0 / 20000}};
  const double x = 0.01;
  const yoke_synth_error hold = yoke__synth_error_at(&d, YOKE_SYNTH_PATH_HOLD, x);
  const yoke_synth_error line = yoke__synth_error_at(&d, YOKE_SYNTH_PATH_LINE, x);
  check_relative(hold.mean, x / 2, 1e-3);
  check_relative(hold.all, x / sqrt(3), 1e-3);
  check_relative(line.mean, 5.0 / 12 * x * x, 1e-2);
  check_relative(line.all, sqrt(31.0 / 120) * x * x, 1e-2);
}

// The mean of the element's answer is the frequency response that it was designed by.
static void test_mean_is_response(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    const yoke_synth_design d = design_of(0.05, k == 1 ? 0.005 : 0.001, k == 2 ? 0.1 : 0);
    for (int i = 0; i < 14; i++) {
      const double hz = 0.01 * pow(1.7, i);
      const yoke_synth_point at = yoke__synth_response(&d, 2 * PI * hz);
      const double want = cabs(1 - at.lead * at.hold * at.smoother);
      check_near(yoke__synth_error_at(&d, YOKE_SYNTH_PATH_ELEMENT, 2 * PI * hz).mean, want, 1e-9);
    }
  }
}

// The filters run over a sine until nothing but it is left: the same root mean square.
static void test_all_is_run(void** state) {
  (void)state;
  const yoke_synth_design d = design_of(0.05, 0.001, 0);
  const yoke_synth_element* e = &d.element;
  static const double hz[] = {0.4, 2.0, 7.0};
  for (size_t i = 0; i < 3; i++) {
    yoke_synth_lead lead;
    yoke_synth_smoother smoother;
    yoke__synth_lead_start(e, 0, &lead);
    yoke__synth_smoother_start(e, 0, &smoother);
    double held = 0, sum = 0;
    // whole periods of sine and exchange together: 5 s
    for (int k = 0; k < 15000; k++) {
      const double y = sin(2 * PI * hz[i] * k * 0.001);
      const double sent = yoke__synth_lead_step(e, &lead, y);
      held = k % 50 == 0 ? sent : held;
      const double u = yoke__synth_smoother_step(e, &smoother, held);
      sum += k >= 10000 ? (u - y) * (u - y) : 0;
    }
    // a sine of amplitude 1 has a root mean square of sqrt(1/2)
    const double got = yoke__synth_error_at(&d, YOKE_SYNTH_PATH_ELEMENT, 2 * PI * hz[i]).all;
    check_relative(got, sqrt(2 * sum / 5000), 1e-6);
  }
}

// Recipe T at 50 ms: lines are nearer at low frequencies with the steps, the element without them.
static void test_who_is_nearer(void** state) {
  (void)state;
  const yoke_synth_design d = design_of(0.05, 0.001, 0);
  const yoke_synth_error slow_line = yoke__synth_error_at(&d, YOKE_SYNTH_PATH_LINE, 2 * PI);
  const yoke_synth_error slow = yoke__synth_error_at(&d, YOKE_SYNTH_PATH_ELEMENT, 2 * PI);
  const yoke_synth_error fast_line = yoke__synth_error_at(&d, YOKE_SYNTH_PATH_LINE, 6 * PI);
  const yoke_synth_error fast = yoke__synth_error_at(&d, YOKE_SYNTH_PATH_ELEMENT, 6 * PI);
  assert_true(slow_line.all < slow.all && slow.mean < slow_line.mean);
  assert_true(fast.all < fast_line.all && fast.mean < fast_line.mean);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_HI_01_table),      cmocka_unit_test(test_HI_01_series),
      cmocka_unit_test(test_mean_is_response), cmocka_unit_test(test_all_is_run),
      cmocka_unit_test(test_who_is_nearer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
