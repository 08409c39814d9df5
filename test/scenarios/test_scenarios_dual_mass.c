// The dual mass oscillator of scenarios/dual-mass with impulses: errors of held signals, nepce and mpsm
// against the undivided system by the same explicit Euler, as published (MPSM specification 10.2, 10.4, 11.4).
// The same program writes the reference: YOKE_WRITE_REFERENCE=1 YOKE_SOURCE_DIR=. test_scenarios_dual_mass
#include "scenarios/mpsm_loop.h"

#define MICRO 1e-5

static const char* const signals[] = {"left.x", "left.v", "right.f"};
static const size_t units[] = {2, 1};

// ---- the undivided system: knows nothing of the units

typedef struct whole {
  bool is_linear;
  double x1, v1, x2, v2;
} whole;

static double whole_force(const whole* o) {
  const double e = o->x2 - o->x1, rate = o->v2 - o->v1;
  const double ck = o->is_linear ? 1e5 : fmax(fmin(5e5 * sqrt(fabs(e)), 2.5e5), 2.5e4);
  const double dk = o->is_linear ? 1e3 : fmax(fmin(1e3 * sqrt(fabs(rate)), 3e3), 5e2);
  return ck * e + dk * rate;
}

// Every 50 ms, for `length` internal steps, of the height at its start.
static double pulse(int64_t step, int64_t length) {
  const int64_t n_pulse = step / 5000;
  return step % 5000 < length ? 5e5 * sin(10 * 0.05 * (double)n_pulse) : 0;
}

// n_steps of `n_micro` internal steps each.
static scenario_run run_whole(bool is_linear, size_t n_steps, int n_micro, int64_t length) {
  scenario_run run = scenario_run_make(3, n_steps + 1);
  whole o = {.is_linear = is_linear, .x1 = 0.1};
  int64_t step = 0;
  for (size_t k = 0; k <= n_steps; k++) {
    run.y[0][k] = o.x1;
    run.y[1][k] = o.v1;
    run.y[2][k] = whole_force(&o);
    for (int j = 0; j < n_micro; j++, step++) {
      const double f = whole_force(&o);
      const double a1 = (-1e6 * o.x1 - o.v1 + f + pulse(step, length)) / 10;
      const double a2 = (-1e7 * o.x2 - 2 * o.v2 - f) / 10;
      o.x1 += MICRO * o.v1;
      o.x2 += MICRO * o.v2;
      o.v1 += MICRO * a1;
      o.v2 += MICRO * a2;
    }
  }
  return run;
}

// ---- nonlinear, 1 ms

typedef struct errors {
  double all, after;  // over the run, from 0.24 s on
} errors;

static errors errors_of(const char* name, const char* const sets[], const scenario_run* reference) {
  scenario_run run = scenario_run_file(name, sets, signals, 3, 1000);
  check_ok(run.status);
  const errors e = {scenario_error(&run, reference, 1, units, 2),
                    scenario_error(&run, reference, 240, units, 2)};
  scenario_run_close(&run);
  print_message("%-38s %.4f / %.4f\n", name, e.all, e.after);
  return e;
}

static void test_MP_09_nonlinear(void** state) {
  (void)state;
  scenario_run reference = run_whole(false, 1000, 100, 100);
  scenario_check_reference("dual-mass/reference-nonlinear.csv", signals, 3, &reference, 1e-3, 1);
  const errors held = errors_of("dual-mass/nonlinear-held.yaml", NULL, &reference);
  const errors nepce = errors_of("dual-mass/nonlinear-nepce.yaml", NULL, &reference);
  const errors off = errors_of("dual-mass/nonlinear-mpsm.yaml", NULL, &reference);
  const errors on = errors_of("dual-mass/nonlinear-mpsm-ede.yaml", NULL, &reference);

  // published, to the last digit printed
  check_near(held.all, 0.0681, 5e-5);
  check_near(held.after, 0.0635, 5e-5);
  check_near(off.all, 0.0367, 5e-5);
  check_near(off.after, 0.0224, 5e-5);
  check_near(on.all, 0.0329, 5e-5);
  check_near(on.after, 0.0176, 5e-5);
  check_near(nepce.all, 0.0390, 5e-5);
  check_near(nepce.after, 0.0368, 5e-5);
  assert_true(off.after <= 0.4 * held.after);
  assert_true(on.after <= 0.33 * held.after);
  scenario_run_close(&reference);
}

// Other settings of the method. Published figures to two units of their last digit. With two lags 4 % are
// allowed: Gilbert's realisation is not unique, and the mean of its poles depends on the factors chosen.
static void test_settings(void** state) {
  (void)state;
  static const struct {
    const char* sets[4];
    double all, after, tolerance;
  } rows[] = {
      {{"couplings.loop.ede=reset"}, 0.0340, 0.0190, 2e-4},
      {{"couplings.loop.forgetting=1"}, 0.0364, 0.0220, 2e-4},
      {{"couplings.loop.forgetting=0.99"}, 0.0366, 0.0222, 2e-4},
      {{"couplings.loop.forgetting=0.95"}, 0.0371, 0.0229, 2e-4},
      {{"couplings.loop.u_lags=2", "couplings.loop.y_lags=2"}, 0.0497, 0.0399, 2e-3},
      {{"couplings.loop.u_lags=2"}, 0.0515, 0.0428, 2e-3},
      {{"couplings.loop.u_lags=2", "couplings.loop.ede=on"}, 0.0375, 0.0234, 2e-3},
      {{"couplings.loop.y_lags=2", "couplings.loop.u_lags=1"}, 0.0647, 0.0605, 2e-3},
      {{"couplings.loop.u_lags=2", "couplings.loop.form=direct"}, 0.0440, 0.0320, 6e-4},
      {{"couplings.loop.u_lags=2", "couplings.loop.form=direct", "couplings.loop.ede=on"},
       0.0325,
       0.0171,
       6e-4},
  };
  scenario_run reference = run_whole(false, 1000, 100, 100);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    print_message("%s %s:\n  ", rows[i].sets[0], rows[i].sets[1] != NULL ? rows[i].sets[1] : "");
    const errors e = errors_of("dual-mass/nonlinear-mpsm.yaml", rows[i].sets, &reference);
    check_near(e.all, rows[i].all, rows[i].tolerance);
    check_near(e.after, rows[i].after, rows[i].tolerance);
  }
  scenario_run_close(&reference);
}

// Models by subspaces, as many states as outputs, computed at every exchange: published 0.0413 over the run and
// 0.0259 from 0.3 s on, the best of 67 settings, and fragile; 0.6 of held signals are asked for. The recursive form does
// no worse.
static void test_MP_10_subspaces(void** state) {
  (void)state;
  static const char* const updates[] = {"couplings.loop.update=window",
                                        "couplings.loop.update=recursive"};
  scenario_run reference = run_whole(false, 1000, 100, 100);
  scenario_run held = scenario_run_file("dual-mass/nonlinear-held.yaml", NULL, signals, 3, 1000);
  const double of_held = scenario_error(&held, &reference, 300, units, 2);
  for (size_t i = 0; i < 2; i++) {
    const char* const sets[] = {"couplings.loop.jacobians=moesp",
                                "couplings.loop.learning=290",
                                "couplings.loop.switching=4",
                                "couplings.loop.th_signal=4.22",
                                "couplings.loop.th_modified=1.72",
                                "couplings.loop.block_rows=4",
                                "couplings.loop.renew=0",
                                updates[i],
                                NULL};
    scenario_run run = scenario_run_file("dual-mass/nonlinear-mpsm.yaml", sets, signals, 3, 1000);
    const double error = scenario_error(&run, &reference, 300, units, 2);
    print_message("%s %.4f, from 0.3 s on %.4f; held %.4f\n", updates[i],
                  scenario_error(&run, &reference, 1, units, 2), error, of_held);
    assert_true(error <= 0.6 * of_held);
    scenario_run_close(&run);
  }
  scenario_run_close(&reference);
  scenario_run_close(&held);
}

// ---- linear, 1 to 8 ms

// Impulses of one exchange interval.
static scenario_run run_linear(const char* name, int ms, const char* const extra[]) {
  char step[64], stop[64], left[64], right[64], length[64];
  const size_t n = (size_t)(1000 / ms);
  snprintf(step, sizeof step, "time.step=%de-3", ms);
  snprintf(stop, sizeof stop, "time.stop=%de-3", ms * (int)n);
  snprintf(left, sizeof left, "units.left.with.micro_steps=%d", 100 * ms);
  snprintf(right, sizeof right, "units.right.with.micro_steps=%d", 100 * ms);
  snprintf(length, sizeof length, "units.left.with.pulse_length=%de-3", ms);
  const char* sets[RUN_MAX_SETS + 1] = {step, stop, left, right, length};
  for (size_t i = 0; extra != NULL && extra[i] != NULL; i++) {
    assert_true(i + 5 < RUN_MAX_SETS);
    sets[i + 5] = extra[i];
  }
  return scenario_run_file(name, sets, signals, 3, n);
}

// Closes the run.
static double linear_error(int ms, scenario_run run) {
  scenario_run reference = run_whole(true, run.n - 1, INT64_C(100) * ms, INT64_C(100) * ms);
  const double error = scenario_error(&run, &reference, 1, units, 2);
  scenario_run_close(&reference);
  scenario_run_close(&run);
  return error;
}

// Held signals are useless from 2 ms on and diverge from 3 ms on; learning in 20 steps works up to 4 ms,
// beyond that the held signals have destroyed what there was to learn.
static void test_linear_learnt(void** state) {
  (void)state;
  static const char* const held[] = {"couplings.loop.learning=1e6", NULL};
  static const char* const file = "dual-mass/pulsed-mpsm.yaml";
  static const double published[][2] = {{0.088, 0.025}, {0.57, 0.063}, {0, 0.130}, {0, 0.457}};
  for (int ms = 1; ms <= 5; ms++) {
    const double h = linear_error(ms, run_linear(file, ms, held));
    const double e = linear_error(ms, run_linear(file, ms, NULL));
    print_message("%d ms: held %.3g, mpsm after 20 steps %.4f\n", ms, h, e);
    if (ms <= 2) {
      check_near(h, published[ms - 1][0], 5e-3);
    } else {
      assert_true(h > 100);
    }
    if (ms <= 4) {
      check_near(e, published[ms - 1][1], ms <= 3 ? 5e-4 : 5e-3);
    } else {
      assert_true(e > 1);
    }
  }
}

// ---- linear with loaded models

typedef struct parts {
  double x1, v1, x2, v2;
  int n_micro;
  int64_t step, length;
} parts;

static const double parts_L[] = {0, 0, 1, 1, 0, 0, 0, 1, 0};

static void parts_start(void* context, double y[]) {
  parts* o = context;
  o->x1 = 0.1;
  o->v1 = o->x2 = o->v2 = 0;
  o->step = 0;
  y[0] = 0.1;
  y[1] = 0;
  y[2] = -1e4;
}

// Both units on their own, inputs f, x, v held.
static void parts_advance(void* context, double t, const double u[], double y[]) {
  parts* o = context;
  (void)t;
  for (int j = 0; j < o->n_micro; j++, o->step++) {
    const double f = 1e5 * (o->x2 - u[1]) + 1e3 * (o->v2 - u[2]);
    const double a1 = (-1e6 * o->x1 - o->v1 + u[0] + pulse(o->step, o->length)) / 10;
    const double a2 = (-1e7 * o->x2 - 2 * o->v2 - f) / 10;
    o->x1 += MICRO * o->v1;
    o->x2 += MICRO * o->v2;
    o->v1 += MICRO * a1;
    o->v2 += MICRO * a2;
  }
  y[0] = o->x1;
  y[1] = o->v1;
  y[2] = 1e5 * (o->x2 - u[1]) + 1e3 * (o->v2 - u[2]);
}

static scenario_run run_parts(int ms, double variance, double t_learning, const loop_models* models,
                              loop_models* at_end) {
  parts o = {.n_micro = 100 * ms, .length = INT64_C(100) * ms};
  const loop_case c = {.n = {2, 1},
                       .m = {1, 2},
                       .L = parts_L,
                       .step = ms * 1e-3,
                       .t_learning = t_learning,
                       .variance = variance,
                       .models = models,
                       .context = &o,
                       .start = parts_start,
                       .advance = parts_advance,
                       .t_models = 1,
                       .take_to = at_end};
  return loop_run(&c, (size_t)(1000 / ms));
}

// Models of a run with held signals at 1 ms, which is stable, resampled: no learning, and stable up to 8 ms.
// Published figures, and the same numbers by the kernels of the method.
static void test_linear_loaded(void** state) {
  (void)state;
  static const double published[] = {0.026, 0.057, 0.097, 0.138, 0.184, 0.184, 0, 0.233};
  static const size_t n[] = {2, 1}, m[] = {1, 2};
  loop_models models;
  scenario_run learnt = run_parts(1, YOKE_RLS_P0, 1e9, NULL, &models);
  scenario_run_close(&learnt);
  loop_check_models(&models, n, m, "dual-mass/models.json");
  for (int ms = 1; ms <= 8; ms++) {
    scenario_run run = run_linear("dual-mass/pulsed-loaded.yaml", ms, NULL);
    scenario_run twin = run_parts(ms, 1e-6, 0, &models, NULL);
    const double difference = loop_difference(&twin, &run), error = linear_error(ms, run);
    scenario_run_close(&twin);
    print_message("%d ms, models of 1 ms: %.4f, kernels off by %.1e\n", ms, error, difference);
    if (ms != 7) {
      check_near(error, published[ms - 1], ms <= 6 ? 1e-3 : 3e-3);
    }
    assert_true(difference < 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_MP_09_nonlinear), cmocka_unit_test(test_settings),
      cmocka_unit_test(test_MP_10_subspaces), cmocka_unit_test(test_linear_learnt),
      cmocka_unit_test(test_linear_loaded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
