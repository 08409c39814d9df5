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

// The force on the first mass if that is at x and moves with v.
static double force_at(const whole* o, double x, double v) {
  const double e = o->x2 - x, rate = o->v2 - v;
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
    run.y[2][k] = force_at(&o, o.x1, o.v1);
    for (int j = 0; j < n_micro; j++, step++) {
      const double f = force_at(&o, o.x1, o.v1);
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

// Other settings of the method, published figures to two units of their last digit.
static void test_settings(void** state) {
  (void)state;
  static const struct {
    const char* sets[2];
    double all, after;
  } rows[] = {
      {{"couplings.loop.ede=reset"}, 0.0340, 0.0190},
      {{"couplings.loop.forgetting=1"}, 0.0364, 0.0220},
      {{"couplings.loop.forgetting=0.99"}, 0.0366, 0.0222},
      {{"couplings.loop.forgetting=0.95"}, 0.0371, 0.0229},
  };
  scenario_run reference = run_whole(false, 1000, 100, 100);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    print_message("%s:\n  ", rows[i].sets[0]);
    const errors e = errors_of("dual-mass/nonlinear-mpsm.yaml", rows[i].sets, &reference);
    check_near(e.all, rows[i].all, 2e-4);
    check_near(e.after, rows[i].after, 2e-4);
  }
  scenario_run_close(&reference);
}

// What is the default where nothing is named: memory and means. A little worse here than the published form, because the
// force follows the motion at once, and a third of held signals still.
static void test_default(void** state) {
  (void)state;
  static const char* const named[] = {"couplings.loop.form=memory", "couplings.loop.level=mean",
                                      NULL};
  static const char* const automatic[] = {"couplings.loop.form=auto", "couplings.loop.level=auto",
                                          NULL};
  scenario_run reference = run_whole(false, 1000, 100, 100);
  const errors held = errors_of("dual-mass/nonlinear-held.yaml", NULL, &reference);
  const errors memory = errors_of("dual-mass/nonlinear-mpsm.yaml", named, &reference);
  const errors e = errors_of("dual-mass/nonlinear-mpsm.yaml", automatic, &reference);
  // step 1 has the published form
  const errors ede = errors_of("dual-mass/nonlinear-mpsm-ede.yaml", automatic, &reference);
  assert_true(e.all == memory.all && e.after == memory.after);
  assert_true(e.after < 0.5 * held.after);
  check_near(ede.all, 0.0329, 5e-5);
  scenario_run_close(&reference);
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
  whole at;
  int n_micro;
  int64_t step, length;
} parts;

static const double parts_L[] = {0, 0, 1, 1, 0, 0, 0, 1, 0};

static void parts_start(void* context, double y[]) {
  parts* o = context;
  o->at.x1 = 0.1;
  o->at.v1 = o->at.x2 = o->at.v2 = 0;
  o->step = 0;
  y[0] = 0.1;
  y[1] = 0;
  y[2] = force_at(&o->at, 0.1, 0);
}

// Both units on their own, inputs f, x, v held.
static void parts_advance(void* context, double t, const double u[], double y[]) {
  parts* o = context;
  whole* at = &o->at;
  (void)t;
  for (int j = 0; j < o->n_micro; j++, o->step++) {
    const double f = force_at(at, u[1], u[2]);
    const double a1 = (-1e6 * at->x1 - at->v1 + u[0] + pulse(o->step, o->length)) / 10;
    const double a2 = (-1e7 * at->x2 - 2 * at->v2 - f) / 10;
    at->x1 += MICRO * at->v1;
    at->x2 += MICRO * at->v2;
    at->v1 += MICRO * a1;
    at->v2 += MICRO * a2;
  }
  y[0] = at->x1;
  y[1] = at->v1;
  y[2] = force_at(at, u[1], u[2]);
}

static scenario_run run_parts(int ms, double variance, double t_learning, const loop_models* models,
                              loop_models* at_end) {
  parts o = {.at = {.is_linear = true}, .n_micro = 100 * ms, .length = INT64_C(100) * ms};
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

// ---- nonlinear, forms of the literature that the method does not have, by its kernels

// From 0.24 s on, for subspace models from 0.3 s on.
static errors variant_error(const loop_case* variant, const scenario_run* reference) {
  parts o = {.n_micro = 100, .length = 100};
  loop_case c = *variant;
  c.n[0] = c.m[1] = 2;
  c.n[1] = c.m[0] = 1;
  c.L = parts_L;
  c.step = 1e-3;
  c.t_learning = c.window > 0 ? 0.29 : 0.22;
  c.t_switch = c.window > 0 ? 0.004 : 0.005;
  c.variance = YOKE_RLS_P0;
  c.context = &o;
  c.start = parts_start;
  c.advance = parts_advance;
  scenario_run run = loop_run(&c, 1000);
  const errors e = {scenario_error(&run, reference, 1, units, 2),
                    scenario_error(&run, reference, c.window > 0 ? 300 : 240, units, 2)};
  scenario_run_close(&run);
  return e;
}

// One lag of both is best, unequal numbers of lags are worst. With two lags 4 % are allowed: Gilbert's realisation is not
// unique, and the mean of its poles depends on the factors chosen.
static void test_MP_09_ranking(void** state) {
  (void)state;
  static const struct {
    loop_case c;
    double all, after, tolerance;
  } rows[] = {
      {{.n_y_lags = 1}, 0.0367, 0.0224, 5e-5},
      {{.uses_ede = true}, 0.0329, 0.0176, 5e-5},
      {{.n_y_lags = 2, .n_u_lags = 2}, 0.0497, 0.0399, 2e-3},
      {{.n_u_lags = 2}, 0.0515, 0.0428, 2e-3},
      {{.n_u_lags = 2, .uses_ede = true}, 0.0375, 0.0234, 2e-3},
      {{.n_y_lags = 2}, 0.0647, 0.0605, 2e-3},
      {{.n_u_lags = 2, .is_direct = true}, 0.0440, 0.0320, 6e-4},
      {{.n_u_lags = 2, .is_direct = true, .uses_ede = true}, 0.0325, 0.0171, 6e-4},
  };
  scenario_run reference = run_whole(false, 1000, 100, 100);
  double after[sizeof rows / sizeof rows[0]];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const errors e = variant_error(&rows[i].c, &reference);
    print_message("row %zu: %.4f / %.4f\n", i, e.all, e.after);
    check_near(e.all, rows[i].all, rows[i].tolerance);
    check_near(e.after, rows[i].after, rows[i].tolerance);
    after[i] = e.after;
  }
  assert_true(after[0] < after[2] && after[2] < after[3] && after[2] < after[5]);
  scenario_run_close(&reference);
}

// Models by subspaces, as many states as outputs: published 0.0413 over the run and 0.0259 from 0.3 s on over a moving
// window of 778 samples, computed at every exchange; the best of 67 settings, and fragile; 0.6 of held signals are asked for.
// The method itself has the recursive form, which forgets as much and does no worse.
static void test_MP_10_subspaces(void** state) {
  (void)state;
  static const char* const sets[] = {"couplings.loop.jacobians=moesp",
                                     "couplings.loop.learning=290",
                                     "couplings.loop.switching=4",
                                     "couplings.loop.th_signal=4.22",
                                     "couplings.loop.th_modified=1.72",
                                     "couplings.loop.forgetting=0.998714652956298",  // 1 - 1/778
                                     NULL};
  scenario_run reference = run_whole(false, 1000, 100, 100);
  scenario_run held = scenario_run_file("dual-mass/nonlinear-held.yaml", NULL, signals, 3, 1000);
  const double of_held = scenario_error(&held, &reference, 300, units, 2);
  const loop_case window = {.window = 778, .th_signal = 4.22, .th_modified = 1.72};
  const errors moving = variant_error(&window, &reference);
  scenario_run run = scenario_run_file("dual-mass/nonlinear-mpsm.yaml", sets, signals, 3, 1000);
  const errors recursive = {scenario_error(&run, &reference, 1, units, 2),
                            scenario_error(&run, &reference, 300, units, 2)};
  print_message("moving window %.4f / %.4f, recursive %.4f / %.4f; held %.4f\n", moving.all,
                moving.after, recursive.all, recursive.after, of_held);
  assert_true(moving.after <= 0.6 * of_held);
  assert_true(recursive.after <= 0.6 * of_held);
  scenario_run_close(&run);
  scenario_run_close(&reference);
  scenario_run_close(&held);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_MP_09_nonlinear), cmocka_unit_test(test_settings),
      cmocka_unit_test(test_default),         cmocka_unit_test(test_MP_09_ranking),
      cmocka_unit_test(test_MP_10_subspaces), cmocka_unit_test(test_linear_learnt),
      cmocka_unit_test(test_linear_loaded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
