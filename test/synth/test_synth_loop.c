// The loop of two sides: gains, margins, mu, maps, limits. Numbers: HINF specification 4.5 and 5.
#include <complex.h>

#include "dual_mass_loop.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"

static yoke_synth_loop_report analyse(const yoke_synth_loop* loop) {
  yoke_synth_loop_report r;
  check_ok(yoke__synth_loop_analyse(loop, &r));
  return r;
}

// HI-03: a loop gain below 1 that sampling raises above 1.
static void test_HI_03_counter_example(void** state) {
  (void)state;
  const loop_masses m = {32.124, 42.931, 0.78921, 9.79544, 0.20022, 0.045879, 8354.9, 0.2178};
  mass_loop matrices;
  const yoke_synth_loop loop = mass_loop_make(&m, 0.138322, &matrices);
  const yoke_synth_loop_report r = analyse(&loop);
  check_near(r.gain.value, 0.602, 0.0005);
  check_near(r.sampled_gain.value, 2.675, 0.0005);
  for (yoke_synth_exchange e = YOKE_SYNTH_STALE; e <= YOKE_SYNTH_FRESH; e++) {
    yoke_synth_loop_radius radius;
    check_ok(yoke__synth_loop_radius_of(loop.sides, loop.step, e, &radius));
    check_near(radius.radius, 1.1240, 0.0005);
    assert_int_equal(radius.n_free, 1);
  }
  // what the published condition says: stable
  assert_true(r.held_gain.value < 1);
}

// HI-04: both formulas of mu.
static void test_HI_04_mu(void** state) {
  (void)state;
  static const double steps[] = {0.01, 0.05, 0.1}, mu[] = {0.1647, 0.4207, 0.6856},
                      at[] = {279, 49.9, 20.6};
  for (size_t i = 0; i < 3; i++) {
    const loop_masses m = {5, 1, 1, 1, 0.5, 0.5, 50, 5};
    mass_loop matrices;
    const yoke_synth_loop loop = mass_loop_make(&m, steps[i], &matrices);
    const yoke_synth_loop_report r = analyse(&loop);
    check_near(r.mu.value, mu[i], 0.0005);
    check_near(r.mu_turned.value, r.mu.value, 1e-13);
    check_relative(r.mu.w, at[i], 0.005);
    check_near(r.gain.value, 1.284, 0.0005);
  }
}

typedef struct trend {
  loop_masses m;
  double step, margin, db, degrees;
} trend;

// HI-05: the trends of section 5.
static void test_HI_05_margins(void** state) {
  (void)state;
  static const trend rows[] = {
      {{1, 1, 1, 1, 0.5, 0.5, 50, 5}, 0.01, 0.976, 0.26, 1.1},
      {{1, 1, 1, 1, 0.5, 0.5, 50, 5}, 0.02, 0.953, 0.53, 2.2},
      {{1, 1, 1, 1, 0.5, 0.5, 50, 5}, 0.05, 0.890, 1.41, 5.4},
      {{1, 1, 1, 1, 0.5, 0.5, 50, 5}, 0.1, 0.794, 3.08, 10.2},
      {{1, 1, 1, 1, 0.5, 0.5, 10, 5}, 0.05, 0.866, 1.40, 4.8},
      {{1, 1, 1, 1, 0.5, 0.5, 100, 5}, 0.05, 0.777, 3.00, 11.1},
      {{1, 1, 1, 1, 0.5, 0.5, 50, 1}, 0.05, 0.668, 3.09, 11.8},
      {{1, 1, 1, 1, 0.5, 0.5, 50, 10}, 0.05, 0.719, 3.22, 10.6},
      {{5, 1, 1, 1, 0.5, 0.5, 50, 5}, 0.05, 0.865, 2.05, 7.3},
      {{10, 1, 1, 1, 0.5, 0.5, 50, 5}, 0.05, 0.855, 2.20, 8.0},
      {{1, 5, 1, 1, 0.5, 0.5, 50, 5}, 0.05, 0.977, 0.32, 1.1},
      {{1, 10, 1, 1, 0.5, 0.5, 50, 5}, 0.05, 0.988, 0.16, 0.5},
      {{1, 1, 5, 1, 0.5, 0.5, 50, 5}, 0.05, 0.850, 2.27, 8.2},
      {{1, 1, 10, 1, 0.5, 0.5, 50, 5}, 0.05, 0.845, 2.33, 8.5},
      {{1, 1, 1, 5, 0.5, 0.5, 50, 5}, 0.05, 0.897, 1.44, 5.7},
      {{1, 1, 1, 10, 0.5, 0.5, 50, 5}, 0.05, 0.979, 0.85, 2.7},
      {{1, 1, 1, 1, 0.5, 1, 50, 5}, 0.05, 0.893, 1.21, 4.5},
      {{1, 1, 1, 1, 0.5, 1.5, 50, 5}, 0.05, 0.897, 1.16, 4.3},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mass_loop matrices;
    const yoke_synth_loop loop = mass_loop_make(&rows[i].m, rows[i].step, &matrices);
    const yoke_synth_loop_report r = analyse(&loop);
    printf("row %zu: margin %.4f dB %.4f degrees %.3f\n", i, r.margin.value, r.distortion_db.value,
           r.distortion_phase.value * 180 / PI);
    check_near(r.margin.value, rows[i].margin, 0.002);
    check_near(r.distortion_db.value, rows[i].db, 0.0051);
    check_near(r.distortion_phase.value * 180 / PI, rows[i].degrees, 0.051);
    check_near(r.sensitivity.value * r.margin.value, 1, 1e-9);
  }
}

typedef struct limits {
  double kc, dc, stale, fresh;  // of force to light; 0: no limit
  double gain_heavy, gain_light;
} limits;

// HI-05: largest stable steps and loop gains; with the force to the heavy side there is no limit.
static void test_HI_05_limits(void** state) {
  (void)state;
  static const limits rows[] = {
      {50, 1, 0.142, 0.182, 0.080, 1.344},   {50, 5, 0.118, 0, 0.069, 1.432},
      {50, 20, 0.054, 0.102, 0.079, 2.587},  {200, 5, 0.044, 0.060, 0.130, 4.306},
      {1000, 1, 0.006, 0.006, 0.429, 13.78}, {1000, 20, 0.018, 0.028, 0.147, 11.14},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (int is_light = 0; is_light < 2; is_light++) {
      const loop_masses m = {is_light ? 10 : 1, is_light ? 1 : 10, 1, 1, 0.5, 0.5,
                             rows[i].kc,        rows[i].dc};
      mass_loop matrices;
      const yoke_synth_loop loop = mass_loop_make(&m, 0.05, &matrices);
      check_near(analyse(&loop).gain.value, is_light ? rows[i].gain_light : rows[i].gain_heavy,
                 is_light && rows[i].gain_light > 10 ? 0.0051 : 0.00051);
      for (yoke_synth_exchange e = YOKE_SYNTH_STALE; e <= YOKE_SYNTH_FRESH; e++) {
        const double want = !is_light ? 0 : e == YOKE_SYNTH_STALE ? rows[i].stale : rows[i].fresh;
        yoke_synth_loop_limit limit;
        check_ok(yoke__synth_loop_limit_of(loop.sides, e, 0.002, e == YOKE_SYNTH_STALE ? 3 : 1.5,
                                           &limit));
        printf("kc %g dc %g light %d exchange %d: %.3f %.3f %.6f\n", rows[i].kc, rows[i].dc,
               is_light, (int)e, limit.stable, limit.unstable, limit.border);
        if (want == 0) {
          assert_true(isinf(limit.unstable) && isinf(limit.border));
          check_near(limit.stable, e == YOKE_SYNTH_STALE ? 3 : 1.5, 1e-9);
        } else {
          check_near(limit.stable, want, 1e-9);
          check_between(limit.border, limit.stable, limit.unstable);
        }
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_HI_03_counter_example),
      cmocka_unit_test(test_HI_04_mu),
      cmocka_unit_test(test_HI_05_margins),
      cmocka_unit_test(test_HI_05_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
