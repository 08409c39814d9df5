// The dual mass benchmark with the arithmetic of the coupling element alone, no simulator around it: one system against
// published numbers, and the statistics over 2000 random systems. Source: HINF specification 9.
#include "support/check.h"
#include "support/dual_mass_cut.h"
#include "synth/synth_design.h"

static yoke_synth_design design_t(void) {
  const yoke_synth_settings s = yoke__synth_settings_default(YOKE_RECIPE_T, 0.05, CUT_STEP);
  yoke_synth_design d;
  check_ok(yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &d, NULL));
  return d;
}

static const cut_masses regular = {40, 20, 300, 600, 200, 80, 150, 60};

// HI-08, the monolithic run and the eight couplings
static void test_one_system(void** state) {
  (void)state;
  static const struct {
    cut_method method;
    bool is_stale;
    double v2_error, force_error, v2, force;
  } rows[] = {
      {CUT_ZOH, false, 0.083123, 38.25542, -0.329268, 34.86578},
      {CUT_FOH, false, 0.064294, 45.81045, -0.307592, 28.84310},
      {CUT_SOH, false, 0.066010, 61.45634, -0.316322, 30.15622},
      {CUT_ELEMENT, false, 0.058688, 44.47110, -0.317030, 26.77250},
      {CUT_ZOH, true, 0.308480, 67.27571, -0.267289, 20.90232},
      {CUT_FOH, true, 0.869523, 257.67491, 1.589977, -432.28931},
      {CUT_ELEMENT, true, 0.270152, 83.33597, -0.437086, 41.32407},
  };
  static cut_signals whole, run;
  const yoke_synth_design d = design_t();
  cut_whole(&regular, &whole);
  check_relative(whole.v2[600], 3.052940, 1e-4);
  check_relative(whole.force[600], -458.2745, 1e-4);
  check_relative(whole.v2[1000], -0.326886, 1e-4);
  check_relative(whole.force[1000], 31.56562, 1e-4);
  check_relative(whole.v2[5000], 0.091738, 1e-4);
  check_relative(whole.force[5000], 1.34583, 1e-4);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const cut_coupling by = {rows[i].method, 50, rows[i].is_stale, &d.element, 0};
    cut_run(&regular, &by, &run);
    check_relative(cut_rms(run.v2, whole.v2), rows[i].v2_error, 1e-4);
    check_relative(cut_rms(run.force, whole.force), rows[i].force_error, 1e-4);
    check_relative(run.v2[1000], rows[i].v2, 1e-4);
    check_relative(run.force[1000], rows[i].force, 1e-4);
  }
  const cut_coupling stale = {CUT_SOH, 50, true, NULL, 0};
  cut_run(&regular, &stale, &run);
  assert_true(cut_rms(run.v2, whole.v2) > 1e14);  // 1.7e15
}

// HI-09
static void test_statistics(void** state) {
  (void)state;
  static const size_t most_inaccurate[] = {90, 35, 30, 28}, most_unstable[] = {65, 55, 40, 35};
  const yoke_synth_design d = design_t();
  const cut_coupling by = {.ratio = 50, .element = &d.element};
  cut_counts n;
  cut_count(2000, 1, &by, &n);
  for (cut_method i = CUT_ZOH; i < CUT_N_METHODS; i++) {
    print_message("method %d: %zu %zu %zu %zu  unstable %zu %zu %zu %zu\n", (int)i,
                  n.inaccurate[i][0], n.inaccurate[i][1], n.inaccurate[i][2], n.inaccurate[i][3],
                  n.unstable[i][0], n.unstable[i][1], n.unstable[i][2], n.unstable[i][3]);
  }
  for (size_t j = 0; j < 4; j++) {
    check_between((double)n.inaccurate[CUT_ELEMENT][j], 0, (double)most_inaccurate[j]);
    check_between((double)n.unstable[CUT_ELEMENT][j], 0, (double)most_unstable[j]);
    assert_true(n.inaccurate[CUT_ELEMENT][j] < n.inaccurate[CUT_FOH][j]);
  }
  check_between((double)n.inaccurate[CUT_FOH][0], 70, 150);
  check_between((double)n.inaccurate[CUT_ZOH][0], 800, 1300);
  check_between((double)n.inaccurate[CUT_SOH][0], 1000, 1350);
}

// HI-10: a smoother without direct gain makes the damping force an exchange old, whatever the lead does
static void test_euler_smoother(void** state) {
  (void)state;
  const yoke_synth_design d = design_t();
  const cut_coupling by = {.ratio = 50, .element = &d.element, .euler_hz = d.settings.smoother_hz};
  cut_counts n;
  cut_count(200, 1, &by, &n);
  print_message("%zu of 200\n", n.inaccurate[CUT_ELEMENT][0]);
  assert_true(n.inaccurate[CUT_ELEMENT][0] > 190);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_system),
      cmocka_unit_test(test_statistics),
      cmocka_unit_test(test_euler_smoother),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
