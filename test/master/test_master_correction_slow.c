// CS-32: the energy correction on systems that took no part in choosing its settings; fixed seeds, starts and manoeuvres. The same with
// more of everything, and with a fresh seed: bench/bench_correction.c.
#include "bench/correction_study.h"
#include "support/check.h"

typedef study_problem (*maker)(int64_t seed, int i, double share);

// Worse in at most 5 % of the motions; in at most 1 % lost only with correction. Energies are printed.
static void check_family(const char* name, maker make, int64_t seed, double share) {
  enum { N = 200 };
  static double gains[N];
  int n_worse = 0, n_worse_energy = 0, n_lost = 0;
  for (int i = 0; i < N; i++) {
    const study_problem p = make(seed, i, share);
    study_reference r = study_solve(&p);
    const study_outcome without = study_run(&p, &r, "method: hold");
    const study_outcome with = study_run(&p, &r, "method: energy");
    study_free(&r);
    n_lost += with.is_diverged && !without.is_diverged;
    gains[i] = with.is_diverged ? (without.is_diverged ? 1 : 0) : without.motion / with.motion;
    n_worse += gains[i] < 1;
    n_worse_energy += with.energy > without.energy;
  }
  const double gain = study_quantile(gains, N, 0.5);
  print_message("%s, %d, H = %g/omega: motion worse in %d, energy in %d of %d; median gain %.2f, "
                "worst %.2f\n",
                name, (int)seed, share, n_worse, n_worse_energy, N, gain, 1 / gains[0]);
  check_between(n_worse, 0, 0.05 * N);
  check_between(n_lost, 0, 0.01 * N);
  assert_true(gain > 2);
}

static void test_oscillators_CS_32(void** state) {
  (void)state;
  check_family("undamped", study_random_oscillator, 424242, 0.02);
  check_family("undamped", study_random_oscillator, 424243, 0.1);
  check_family("damped", study_damped_oscillator, 424244, 0.02);
  check_family("damped", study_damped_oscillator, 424245, 0.1);
  check_family("multirate", study_multirate_oscillator, 424246, 0.02);
}

static void test_pendula_CS_32(void** state) {
  (void)state;
  static const double starts[][2] = {
      {0.35, -0.15}, {1.1, 0.6}, {-0.6, -0.7}, {0.9, 1.2}, {-0.2, 0.4}};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
    for (int k = 0; k < 2; k++) {
      const study_problem p = study_pendula(starts[i][0], starts[i][1], k == 0 ? 1e-3 : 4e-3);
      study_reference r = study_solve(&p);
      const study_outcome without = study_run(&p, &r, "method: hold");
      const study_outcome with = study_run(&p, &r, "method: energy");
      study_free(&r);
      print_message("pendula %.2f %.2f, %d ms: motion x %.3f, energy x %.3f\n", starts[i][0],
                    starts[i][1], k == 0 ? 1 : 4, with.motion / without.motion,
                    with.energy / without.energy);
      assert_true(with.motion < without.motion && with.energy < without.energy);
    }
  }
}

// largest deviation of the piston with the method over that without
static double crane_ratio(const study_problem* p, const char* method) {
  study_reference r = study_solve(p);
  const double without = study_run(p, &r, "method: hold").max_error;
  const double ratio = study_run(p, &r, method).max_error / without;
  study_free(&r);
  return ratio;
}

// At 2 and 5 ms at most 1.10: inputs held with the defaults, linear with the limit that knows mu.
// Six of the seven manoeuvres that nothing was chosen on; the seventh, 4 Hz, breaks the bound and stands below.
static void test_crane_CS_32(void** state) {
  (void)state;
  static const struct {
    const char *name, *kind;
    double frequency, amplitude, offset;
  } cases[] = {
      {"1.2 Hz", "m2", 1.2, 0.09, 0},         {"1.5 Hz", "m2", 1.5, 0.08, 0},
      {"2.8 Hz", "m2", 2.8, 0.07, 0},         {"trapezoid .009", "m5", 0, 0, -0.009},
      {"trapezoid .012", "m5", 0, 0, -0.012}, {"steps .008", "m1", 0, 0, 0.008},
  };
  static const char* const methods[2] = {"method: energy", "method: energy, clip: needed"};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int k = 0; k < 4; k++) {
      const int order = k / 2;
      const study_problem p = study_crane(cases[i].kind, cases[i].frequency, cases[i].amplitude,
                                          cases[i].offset, k % 2 == 0 ? 2e-3 : 5e-3, 0.2e-3, order);
      const double ratio = crane_ratio(&p, methods[order]);
      print_message("crane %s, order %d, %d ms: %.3f\n", cases[i].name, order, k % 2 == 0 ? 2 : 5,
                    ratio);
      check_between(ratio, 0, 1.10);
    }
  }
}

// Where it fails, so that nobody promises more: at 4 Hz also at 2 ms, with linear inputs and the common limit at 5 ms, and at 10 ms badly.
// The bounds are the measured ratios (1.30, 1.25, 13) within a tenth.
static void test_crane_failures(void** state) {
  (void)state;
  const study_problem fast = study_crane("m2", 4, 0.06, 0, 2e-3, 0.2e-3, 0);
  const study_problem linear = study_crane("m2", 4, 0.06, 0, 5e-3, 0.2e-3, 1);
  const study_problem coarse = study_crane("m2", 4, 0.06, 0, 10e-3, 0.2e-3, 0);
  check_relative(crane_ratio(&fast, "method: energy"), 1.296, 0.1);
  check_relative(crane_ratio(&linear, "method: energy"), 1.249, 0.1);
  check_relative(crane_ratio(&coarse, "method: energy"), 13.07, 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_oscillators_CS_32),
      cmocka_unit_test(test_pendula_CS_32),
      cmocka_unit_test(test_crane_CS_32),
      cmocka_unit_test(test_crane_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
