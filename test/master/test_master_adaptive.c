// for mkdtemp in the folder of the recorded rows
#define _POSIX_C_SOURCE 200809L

// The step that the residual chooses, `time.step: {min, max, rho}`: its grid, its end, what it converges to, where it is
// refused, and what it is worth on a system that is quiet for a long time and fast for a short one.
#include "master/ledger_helper.h"
#include "master/master_run.h"
#include "record/record_fixture.h"
#include "unit/unit_models.h"

static sim open_oscillator(const char* step, const char* lines) {
  return sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 1.0003, step: %s}\n"
      "%s"
      "units:\n"
      "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {v: 100}}\n"
      "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -100}}\n"
      "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> "
      "right.f]\n",
      step, lines);
}

// every time is a whole number of shortest steps, steps stay within their bounds and change as they may, the end is met
static void test_grid(void** state) {
  (void)state;
  static const char* const schemes[] = {"", "exchange: fresh\n", "scheme: gauss-seidel\n",
                                        "threads: 2\n"};
  for (size_t i = 0; i < COUNT(schemes); i++) {
    sim s = open_oscillator("{min: 1e-4, max: 3e-3, rho: 0.05}", schemes[i]);
    assert_true(s.system->is_adaptive);
    double before = 0, h_last = 0, h_least = HUGE_VAL, h_most = 0;
    int64_t n = 0;
    while (s.state->n_slots < s.system->n_slots) {
      sim_steps(&s, 1);
      n++;
      const double t = s.state->t, h = t - before;
      const double k = round(t / 1e-4);
      check_near(t, k * 1e-4, 1e-15 * k);
      check_between(h, 1e-4 * (1 - 1e-9), 3e-3 * (1 + 1e-9));
      // at most a tenth longer, or one shortest step
      if (h_last > 0) {
        assert_true(h <= fmax(h_last * 1.1, h_last + 1e-4) + 1e-12);
      }
      h_least = fmin(h_least, h);
      h_most = fmax(h_most, h);
      h_last = h;
      before = t;
    }
    check_near(s.state->t, 1.0003, 0);
    print_message("%s%lld steps from %g to %g s\n", schemes[i], (long long)n, h_least, h_most);
    assert_true(h_most > 2 * h_least);
    assert_true(n > 333 && n < 5000);
    // the books cover the whole time
    check_near(ledger_result(&s, "left-right").duration, 1.0003, 1e-9);
    assert_int_equal(ledger_result(&s, "left-right").n_samples, n);
    sim_close(&s);
  }
}

// the largest rho of every turn is what was asked for, after the start: the step follows the fastest motion
static void test_rho_is_kept(void** state) {
  (void)state;
  static const double aims[] = {0.02, 0.05, 0.1};
  for (size_t i = 0; i < COUNT(aims); i++) {
    char step[64];
    snprintf(step, sizeof step, "{min: 1e-5, max: 1e-2, rho: %g}", aims[i]);
    sim s = open_oscillator(step, "");
    double most = 0, h_least = HUGE_VAL, h_most = 0, before = 0;
    while (s.state->n_slots < s.system->n_slots) {
      sim_steps(&s, 1);
      if (s.state->t > 0.5 && s.state->n_slots < s.system->n_slots) {
        most = fmax(most, ledger_value(&s, 0, YOKE_LEDGER_RHO));
        h_least = fmin(h_least, s.state->t - before);
        h_most = fmax(h_most, s.state->t - before);
      }
      before = s.state->t;
    }
    print_message("aim %g: rho at most %.4f, steps from %.4g to %.4g s\n", aims[i], most, h_least,
                  h_most);
    check_between(most, 0.9 * aims[i], 1.2 * aims[i]);
    // two modes of 10 and 33 rad/s: the step does not swing with every turn
    check_between(h_most / h_least, 1, 2);
    sim_close(&s);
  }
}

// min = max is the fixed step, bit by bit
static void test_equal_bounds_are_a_fixed_step(void** state) {
  (void)state;
  sim fixed = open_oscillator("1e-3", ""), bound = open_oscillator("{min: 1e-3, max: 1e-3}", "");
  sim_run(&fixed);
  sim_run(&bound);
  assert_memory_equal(fixed.state->y, bound.state->y, fixed.system->n_y * sizeof(double));
  check_near(ledger_value(&bound, 0, YOKE_LEDGER_DE), ledger_value(&fixed, 0, YOKE_LEDGER_DE), 0);
  check_near(ledger_value(&bound, 0, YOKE_LEDGER_TER), ledger_value(&fixed, 0, YOKE_LEDGER_TER),
             1e-9);
  sim_close(&fixed);
  sim_close(&bound);
}

// smaller rho, smaller error, first order: towards the exact solution as a fixed step goes
static void test_converges(void** state) {
  (void)state;
  // modes 10 and sqrt(1110) rad/s with shapes (10, 1) and (-1, 10)
  const double w1 = 10, w2 = sqrt(1110), t = 1.0003;
  const double exact = 900.0 / 101 * sin(w1 * t) / w1 - 10 * 1100.0 / 101 * sin(w2 * t) / w2;
  double last = 0;
  for (int i = 0; i < 4; i++) {
    char step[64];
    snprintf(step, sizeof step, "{min: 1e-6, max: 1e-2, rho: %g}", 0.04 / (1 << i));
    sim s = open_oscillator(step, "");
    sim_run(&s);
    const double error = fabs(sim_read(&s, "right.x") - exact);
    print_message("rho %.4f: %lld steps, error %.5f m\n", 0.04 / (1 << i),
                  (long long)s.state->n_adaptive, error);
    if (i > 0) {
      check_between(last / error, 1.7, 2.4);
    }
    last = error;
    sim_close(&s);
  }
}

// ---- recorded: every step has its row

static void test_every_step_is_recorded(void** state) {
  (void)state;
  sim s = open_oscillator("{min: 1e-4, max: 3e-3}", "");
  const yoke_record_settings settings = {.directory = folder, .formats = YOKE_RECORD_CSV};
  static yoke_loop_info info;
  check_ok(sim_record(&s, &settings, &info));
  assert_int_equal(info.n_steps, s.state->n_adaptive);
  assert_int_equal(info.record.n_rows, info.n_steps + 1);  // and the start
  assert_int_equal(s.state->n_rows, info.n_steps + 1);
  check_near(info.t_reached, 1.0003, 0);
  sim_close(&s);
}

// ---- refused

static void check_refused(const char* text, const char* part) {
  sim s;
  char messages[4096];
  const yoke_status status = sim_try(NULL, text, &s, messages, sizeof messages);
  if (status >= 0) {
    sim_close(&s);
    fail_msg("accepted, expected '%s'", part);
  }
  check_contains(messages, part);
}

#define TIME "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: {min: 1e-4, max: 1e-2}}\n"
#define UNITS(left, right)                                                                         \
  "units: {left: {model: oscillator.force" left "}, right: {model: oscillator.mass" right "}}\n"
#define LINKS(more)                                                                                \
  "connections: [right.x -> left.x_other, right.v -> left.v_other, {from: left.f, to: "            \
  "right.f" more "}]\n"

static void test_refused(void** state) {
  (void)state;
  check_refused(TIME "units: {a: {model: constant}, b: {model: gain}}\nconnections: [a.y -> b.u]\n",
                "test.yaml:4:23: error: time.step: {min, max} needs a bond whose residual chooses "
                "the step, and there is none\n");
  check_refused(TIME UNITS("", "") LINKS("") "quality: {find: false}\n",
                "test.yaml:4:23: error: time.step: {min, max} needs a bond whose residual chooses "
                "the step, and there is none\n");
  check_refused(TIME "scheme: iterative-jacobi\n" UNITS("", "") LINKS(""),
                "test.yaml:4:23: error: time.step: {min, max} needs a residual, which iterative "
                "schemes do not leave\n");
  check_refused(TIME UNITS("", ", step: 1e-4") LINKS(""),
                "error: time.step: {min, max} changes the step while running, but unit 'right' "
                "(oscillator.mass) has a step of its own\n");
  check_refused(TIME UNITS("", "") LINKS(", delay: 1e-3"),
                "error: time.step: {min, max} changes the step during the run: 'delay' cannot be "
                "used with it\n");
  check_refused(TIME UNITS("", "") LINKS(", exchange: 1e-4"),
                "error: time.step: {min, max} changes the step during the run: 'exchange' cannot "
                "be used with it\n");
  check_refused(TIME UNITS("", "") LINKS(", order: 1"),
                "error: time.step: {min, max} changes the step during the run: 'order' cannot be "
                "used with it\n");
  check_refused("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: {min: 1e-3}}\n" UNITS(
                    "", "") LINKS(""),
                "test.yaml:4:23: error: 'time.step': expected both min and max, for example {min: "
                "1e-4, max: 1e-2}\n");
  check_refused(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: {min: 1e-3, max: 1e-4}}\n" UNITS(
          "", "") LINKS(""),
      "test.yaml:4:40: error: 'max': expected at least min = 0.001");
  check_refused(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: {min: 1e-3, max: 1e-2, rho: "
      "0.3}}\n" UNITS("", "") LINKS(""),
      "test.yaml:4:51: error: 'rho': expected a number above 0 and up to 0.25, found 0.3");
  check_refused("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: {min: 1e-3, max: 1e-2, "
                "roh: 0.1}}\n" UNITS("", "") LINKS(""),
                "test.yaml:4:46: error: unknown key 'roh' in 'time.step'; did you mean 'rho'?");
}

// who cannot change its step says so
static yoke_status stand(void* self, double t, double h, yoke_step_result* result) {
  (void)self;
  (void)t;
  (void)h;
  (void)result;
  return YOKE_OK;
}

typedef struct port {
  double v, f;
} port;

static const yoke_variable port_variables[] = {{.name = "v",
                                                .dim = "m/s",
                                                .type = YOKE_REAL,
                                                .causality = YOKE_INPUT,
                                                .flags = YOKE_VARIABLE_HAS_START,
                                                .offset = offsetof(port, v)},
                                               {.name = "f",
                                                .dim = "N",
                                                .type = YOKE_REAL,
                                                .causality = YOKE_OUTPUT,
                                                .offset = offsetof(port, f)}};

static void test_refused_by_units(void** state) {
  (void)state;
  static const struct {
    uint32_t flags;
    const char* why;
  } kinds[] = {{YOKE_UNIT_PHYSICAL, "is a real machine"},
               {YOKE_UNIT_FIXED_STEP, "needs a fixed step"}};
  for (size_t i = 0; i < COUNT(kinds); i++) {
    const yoke_unit_info info = {.variables = port_variables,
                                 .n_variables = COUNT(port_variables),
                                 .flags = kinds[i].flags,
                                 .self_size = sizeof(port)};
    const yoke_unit_ops ops = {YOKE_UNIT_HEAD, .name = "my.port", .info = &info, .step = stand};
    yoke_registry* models = NULL;
    check_ok(yoke_registry_create(&models));
    check_ok(yoke_registry_add_unit(models, &ops, NULL));
    sim s;
    char messages[4096], want[256];
    assert_int_equal(sim_try(models,
                             TIME "units: {rig: {model: my.port}, right: {model: "
                                  "oscillator.mass}}\n"
                                  "connections: [rig.f -> right.f, right.v -> rig.v]\n",
                             &s, messages, sizeof messages),
                     YOKE_BAD_INPUT);
    snprintf(want, sizeof want,
             "test.yaml:5:9: error: time.step: {min, max} changes the step while running, but unit "
             "'rig' (my.port) %s\n",
             kinds[i].why);
    assert_string_equal(messages, want);
    yoke_registry_destroy(&models);
  }
}

// ---- what it is worth

enum { N_REFERENCE = 120000 };
static double reference[N_REFERENCE + 2];  // every 0.1 ms

typedef struct trial_run {
  double rms;
  int64_t n;
} trial_run;

// the root mean square over time of the error of the right mass
static trial_run run_trial(const char* text, const char* step) {
  sim s = sim_open(text, step);
  const size_t at = sim_index(&s, "right.x");
  trial_run r = {0};
  double sum = 0, before = 0;
  for (; s.state->n_slots < s.system->n_slots; r.n++) {
    sim_steps(&s, 1);
    const double u = s.state->t / 1e-4;
    const size_t i = u < N_REFERENCE ? (size_t)u : N_REFERENCE;
    const double exact = reference[i] + (u - (double)i) * (reference[i + 1] - reference[i]);
    sum += pow(s.state->y[at] - exact, 2) * (s.state->t - before);
    before = s.state->t;
  }
  r.rms = sqrt(sum / before);
  sim_close(&s);
  return r;
}

// by how much the error of a fixed step is larger with equally many steps
static double advantage(const char* what, const char* text) {
  sim s = sim_open(text, "2e-5");
  const size_t at = sim_index(&s, "right.x");
  for (size_t i = 0; i <= N_REFERENCE; i++) {
    reference[i] = s.state->y[at];
    if (i < N_REFERENCE) {
      sim_steps(&s, 5);
    }
  }
  reference[N_REFERENCE + 1] = reference[N_REFERENCE];
  sim_close(&s);
  const trial_run chosen = run_trial(text, "{min: 1e-4, max: 3e-2, rho: 0.04}");
  char step[64];
  snprintf(step, sizeof step, "%.7g", round(12e6 / (double)chosen.n) * 1e-6);
  const trial_run fixed = run_trial(text, step);
  print_message("%s: %lld steps, rms error %.4g m; fixed %lld steps, %.4g m: %.2f times\n", what,
                (long long)chosen.n, chosen.rms, (long long)fixed.n, fixed.rms,
                fixed.rms / chosen.rms);
  check_near((double)fixed.n / (double)chosen.n, 1, 0.01);
  return fixed.rms / chosen.rms;
}

// fast for a second, then slow: a light mass is hit and comes to rest on a heavy one that swings on
static const char fast_then_quiet[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 12, step: %%s}\n"
    "units:\n"
    "  left: {model: oscillator.force, with: {m: %.6g, k: %.6g, kc: %.6g}, start: {v: 1}}\n"
    "  right: {model: oscillator.mass, with: {m: %.6g, k: %.6g, c: %.6g}, start: {v: -10}}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n"
    "quality: {period: 0.1}\n";

// slow, with a jump in the middle
static const char quiet_then_fast[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 12, step: %s}\n"
    "units:\n"
    "  slow: {model: sine, with: {amplitude: 1, frequency: 0.08}}\n"
    "  jump: {model: step, with: {time: 6, before: 0, after: 0.3}}\n"
    "  spring: {model: spring_damper, with: {k: 1000}, start: {v1: 0}}\n"
    "  right: {model: oscillator.mass, with: {m: 1, k: 0, c: 4}}\n"
    "laws: {target: {law: sum}}\n"
    "connections: [slow.y -> target.u1, jump.y -> target.u2, target.y -> spring.x1, right.x -> "
    "spring.x2, right.v -> spring.v2, spring.f -> right.f]\n"
    "quality: {period: 0.1}\n";

static double uniform(uint64_t* seed, double low, double high) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return low + (high - low) * (double)(*seed >> 11) / 9007199254740992.0;
}

static void test_advantage(void** state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text, fast_then_quiet, 100.0, 10.0, 100.0, 1.0, 1000.0, 4.0);
  assert_true(advantage("fast, then quiet", text) > 2);
  assert_true(advantage("quiet, then fast", quiet_then_fast) > 1.5);

  // other systems of the first kind, drawn once and not looked at before
  enum { N = 10 };
  uint64_t seed = 2026;
  int n_better = 0;
  double sum = 0, least = HUGE_VAL;
  for (int i = 0; i < N; i++) {
    const double m = uniform(&seed, 0.3, 3), w = uniform(&seed, 15, 50);
    snprintf(text, sizeof text, fast_then_quiet, uniform(&seed, 50, 200), uniform(&seed, 5, 50),
             uniform(&seed, 0.05, 0.2) * m * w * w, m, m * w * w, uniform(&seed, 2, 6) * m);
    const double ratio = advantage("random", text);
    n_better += ratio > 1;
    sum += log(ratio);
    least = fmin(least, ratio);
  }
  print_message("better in %d of %d, %.2f times on average (geometric), at least %.2f times\n",
                n_better, N, exp(sum / N), least);
  assert_true(n_better > N / 2);
  assert_true(exp(sum / N) > 1.3);
}

// where the motion stays the same there is nothing to gain: steps that change cost a little
static void test_no_advantage(void** state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text, fast_then_quiet, 1.0, 10.0, 100.0, 1.0, 1000.0, 0.0);
  check_between(advantage("steady", text), 0.4, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_grid),
      cmocka_unit_test(test_rho_is_kept),
      cmocka_unit_test(test_equal_bounds_are_a_fixed_step),
      cmocka_unit_test(test_converges),
      cmocka_unit_test_setup_teardown(test_every_step_is_recorded, make_folder, remove_folder),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_refused_by_units),
      cmocka_unit_test(test_advantage),
      cmocka_unit_test(test_no_advantage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
