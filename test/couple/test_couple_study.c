// `auto` against plain holding on forty of the final systems; all of them are in test_couple_study_slow.c, the tables in
// docs/studies/coupling.md. And the noise of the study itself.
#define IS_SAMPLE true
#include "couple/coupling_checks.h"

enum { N_LOOPS = 32, N_PAIRS = 2 };

static int run_sample(void** state) {
  (void)state;
  run_final(&final_table, N_LOOPS, N_PAIRS);
  return 0;
}

// A displacement-displacement loop of the development seeds.
static void pose_displacement(loop* system, coupling_problem* p) {
  int64_t seed = COUPLING_DEVELOPMENT;
  do {
    coupling_make_loop(system, seed++);
  } while (system->n_units != 2 || system->n_links != 4);
  coupling_pose_loop(p, system, 0.1);
}

// Outputs without feedthrough do not know the noise of their own instant. What is left of it in what the study takes for the
// clean signal shows as a correlation with it, half or more; chance gives 1/sqrt(n).
static void test_noise_is_taken_off(void** state) {
  (void)state;
  static loop system;
  static study_text text;
  coupling_problem p;
  pose_displacement(&system, &p);
  yoke_registry* registry = NULL;
  check_ok(yoke_registry_create(&registry));
  coupling_add_units(&p, 0.01, registry);
  const coupling_file file = {COUPLING_AUTO, COUPLING_WITH_NOISE, p.n, p.H};
  p.print(p.self, &file, &text);
  double* y = coupling_allocate((size_t)(p.n + 1) * p.n_signals);
  double calls = 0;
  assert_true(coupling_simulate(&p, &text, registry, true, &calls, y));
  for (size_t i = 0; i < p.n_signals; i++) {
    double ee = 0, zz = 0, ez = 0;
    for (int64_t k = 0; k <= p.n; k++) {
      const size_t at = (size_t)k * p.n_signals + i;
      const double e = y[at] - p.truth[at];
      const double z = coupling_noise_at(p.units[i], p.outputs[i], (double)k * study_seconds(p.H));
      ee += e * e;
      zz += z * z;
      ez += e * z;
    }
    const double n = (double)(p.n + 1);
    // the deviation of n normal numbers is right to 1/sqrt(2 n)
    check_relative(sqrt(zz / n), 0.01 * p.deviations[i], 4 / sqrt(2 * n));
    check_between(ez / sqrt(ee * zz), -4 / sqrt(n), 4 / sqrt(n));
  }
  free(y);
  yoke_registry_destroy(&registry);
  coupling_free(&p);
}

// Noise hides nothing: the same feedthrough is known, and the loops ask for the same calls.
static void test_noise_hides_nothing(void** state) {
  (void)state;
  static loop system;
  coupling_problem p;
  for (int64_t seed = COUPLING_DEVELOPMENT; seed < COUPLING_DEVELOPMENT + 6; seed++) {
    coupling_make_loop(&system, seed);
    coupling_pose_loop(&p, &system, 3);
    const coupling_result clean = coupling_run(&p, COUPLING_AUTO, 0);
    const coupling_result tiny = coupling_run(&p, COUPLING_AUTO, 1e-14);
    check_near(tiny.calls, clean.calls, 0);
    // an unknown feedthrough would change it
    check_between(clean.error, 0, 0.5);
    check_near(tiny.error, clean.error, 1e-6);
    coupling_free(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clean),
      cmocka_unit_test(test_noisy),
      cmocka_unit_test(test_noise_is_taken_off),
      cmocka_unit_test(test_noise_hides_nothing),
  };
  return cmocka_run_group_tests(tests, run_sample, free_final);
}
