// FMUs in the master: the same numbers as native units (CS-27), all schemes, exact time, failures with their reasons.
#include "master/master.h"
#include "support/check.h"
#include "support/sim.h"
#include "unit/fmu/fmu.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char* folder(void) {
  const char* path = getenv("YOKE_FMUS");
  assert_non_null(path);
  return path;
}

// left and right of the linear oscillator: native (version 0) or as FMUs
static sim open_oscillator(int version, const char* lines, const char* options) {
  char left[512] = "model: oscillator.force", right[512] = "model: oscillator.mass";
  if (version > 0) {
    snprintf(left, sizeof left, "fmu: '%s/oscillator_force%d.fmu'%s", folder(), version, options);
    snprintf(right, sizeof right, "fmu: '%s/oscillator_mass%d.fmu'%s", folder(), version, options);
  }
  return sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                  "time: {stop: 10, step: 1e-3}\n"
                  "%s"
                  "units:\n"
                  "  left: {%s, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}\n"
                  "  right: {%s, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}\n"
                  "connections:\n"
                  "  - right.x -> left.x_other\n"
                  "bonds:\n"
                  "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}\n",
                  lines, left, right);
}

static const char* const signals[] = {"left.x", "left.v", "left.f", "right.x", "right.v"};

// CS-27: LO M1, M2 as FMUs give the built-in result to 1e-12
static void test_equals_native(void** state) {
  (void)state;
  static const char* const variants[] = {"", "scheme: gauss-seidel\n", "threads: 2\n"};
  for (size_t i = 0; i < COUNT(variants); i++) {
    for (int version = 2; version <= 3; version++) {
      sim native = open_oscillator(0, variants[i], "");
      sim fmus = open_oscillator(version, variants[i], "");
      double most = 0;
      for (int k = 0; k < 10000; k++) {
        sim_steps(&native, 1);
        sim_steps(&fmus, 1);
        for (size_t j = 0; j < COUNT(signals); j++) {
          const double want = sim_read(&native, signals[j]), got = sim_read(&fmus, signals[j]);
          most = fmax(most, fabs(got - want) / fmax(1, fabs(want)));
        }
      }
      print_message("CS-27 FMI %d %s: largest difference %.3g\n", version, variants[i], most);
      check_between(most, 0, 1e-12);
      sim_close(&native);
      sim_close(&fmus);
    }
  }
}

// CS-27: direct feedthrough is found from the XML
static void test_feedthrough(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    sim s = open_oscillator(version, "", "");
    const yoke_unit* left = &s.system->units[0].unit;
    const yoke_unit* right = &s.system->units[1].unit;
    const size_t f = yoke__unit_find(left, "f");
    assert_true(yoke__unit_has_feedthrough(left, f, yoke__unit_find(left, "x_other")));
    assert_true(yoke__unit_has_feedthrough(left, f, yoke__unit_find(left, "v_other")));
    assert_int_equal(left->info->n_feedthrough, 2);
    assert_int_equal(right->info->n_feedthrough, 0);
    sim_close(&s);
  }
}

// Iterative schemes roll an FMU back through its own states. Outputs that follow inputs at once cannot be read again without
// a step: the linear model of the FMU tells what they lack.
static sim open_iterative(int version) {
  char left[512] = "model: oscillator.force", right[512] = "model: oscillator.mass";
  if (version > 0) {
    snprintf(left, sizeof left, "fmu: '%s/oscillator_force%d.fmu'", folder(), version);
    snprintf(right, sizeof right, "fmu: '%s/oscillator_mass%d.fmu'", folder(), version);
  }
  return sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 10, step: 1e-3}\n"
      "scheme: iterative-jacobi\n"
      "units:\n"
      "  left: {%s, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}\n"
      "  right: {%s, with: {m: 1, k: 1000}, start: {x: 0, v: -100}, step: 5e-4}\n"
      "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n",
      left, right);
}

static void test_iterative(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    sim native = open_iterative(0), fmus = open_iterative(version);
    sim_steps(&native, 2000);
    sim_steps(&fmus, 2000);
    for (size_t j = 0; j < COUNT(signals); j++) {
      check_relative(sim_read(&fmus, signals[j]), sim_read(&native, signals[j]), 1e-12);
    }
    assert_true(fmus.state->iteration.n_iterations > 2000);
    sim_close(&native);
    sim_close(&fmus);
  }
}

// A run that starts late, and one whose step counter is past 1e9: every FMU is told the exact time of every step, all of
// them the same, and the run ends at the right step.
static void check_exact_time(const char* left, const char* right, double start, int64_t first) {
  enum { N = 10000 };
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                   "time: {start: %.17g, stop: %.17g, step: 1e-3}\n"
                   "units:\n"
                   "  left: {fmu: '%s/%s'}\n"
                   "  right: {fmu: '%s/%s'}\n",
                   start, start + (double)(first + N) * 1e-3, folder(), left, folder(), right);
  // as if the steps before had been done
  assert_int_equal(s.system->n_slots, first + N);
  s.state->n_slots = first;
  s.state->t = yoke__clock_time(&s.system->clock, first * s.system->slot);
  for (int64_t k = 1; k <= N; k++) {
    sim_steps(&s, 1);
    const double t = start + (double)(first + k - 1) / 1000;
    check_near(s.state->t, start + (double)(first + k) / 1000, 0);
    for (size_t i = 0; i < 2; i++) {
      check_near(((const fmu*)s.system->units[i].unit.self)->t_end, t + 1e-3, 0);
    }
  }
  assert_int_equal(s.state->n_slots, s.system->n_slots);
  sim_close(&s);
}

static void test_exact_time(void** state) {
  (void)state;
  check_exact_time("oscillator_force2.fmu", "oscillator_mass3.fmu", 1e6, 0);
  // these do not ask where the step before has ended
  check_exact_time("trivial2.fmu", "trivial3.fmu", 0, 1000000000);
}

// FMI 1.0: the trivial lag x += h (u - x)
static void test_fmi1(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n"
                   "units: {a: {fmu: '%s/trivial1.fmu'}, one: {model: constant, with: {value: 2}}}"
                   "\nconnections: [one.y -> a.u]\n",
                   folder());
  double x = sim_read(&s, "a.y");
  for (int k = 0; k < 10; k++) {
    sim_steps(&s, 1);
    x += 0.1 * (2 - x);
    check_near(sim_read(&s, "a.y"), x, 1e-15);
  }
  sim_close(&s);

  // its functions have the names of FMI 1.0
  s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n"
               "units: {a: {fmu: '%s/trivial1.fmu'}, one: {model: constant, with: {value: 2e9}}}\n"
               "connections: [one.y -> a.u]\n",
               folder());
  assert_int_equal(sim_run_on(&s), YOKE_UNIT_FAILED);
  check_contains(sim_failure(&s), "fmiDoStep returned error");
  sim_close(&s);
}

// what a failing FMU says reaches the user, with unit and time
static void check_failure(int version, const char* what, yoke_status want,
                          const char* const* parts) {
  char text[1024], messages[4096];
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n"
           "units: {bad: {fmu: '%s/faulty%d.fmu', with: {what: %s, at: 0.35}}}\n",
           folder(), version, what);
  sim s;
  if (sim_try(NULL, text, &s, messages, sizeof messages) < 0) {
    fail_msg("%s: %s", what, messages);
  }
  const yoke_status status = sim_run_on(&s);
  if (status != want) {
    fail_msg("%s: status %d (%s), expected %d: %s", what, (int)status, yoke_status_text(status),
             (int)want, sim_failure(&s));
  }
  for (; *parts != NULL; parts++) {
    check_contains(sim_failure(&s), *parts);
  }
  if (want < 0) {
    check_contains(sim_failure(&s), "unit 'bad'");
    check_near(s.state->t, 0.3, 1e-12);
  }
  sim_close(&s);
}

static void test_failures(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    check_failure(version, "error", YOKE_UNIT_FAILED,
                  (const char*[]){"DoStep returned error", NULL});
#if !defined(__SANITIZE_ADDRESS__)  // the standard forbids to free it, so it leaks
    check_failure(version, "fatal", YOKE_UNIT_FAILED,
                  (const char*[]){"DoStep returned fatal", NULL});
#endif
    check_failure(version, "discard", YOKE_DISCARDED, (const char*[]){"discarded", NULL});
    check_failure(version, "nan", YOKE_DIVERGED, (const char*[]){"became nan", NULL});
    check_failure(version, "warning", YOKE_OK, (const char*[]){NULL});
  }
  // a step that goes on in the FMU's own thread is waited for
  check_failure(2, "pending", YOKE_OK, (const char*[]){NULL});
}

// a system file that names what is not there
static void check_refused(const char* unit, const char* part) {
  char text[2048], messages[4096] = "";
  sim s;
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits: {a: {%s}}\n",
           unit);
  if (sim_try(NULL, text, &s, messages, sizeof messages) >= 0) {
    sim_close(&s);
    fail_msg("%s: accepted, expected '%s'", unit, part);
  }
  check_contains(messages, part);
}

static void test_refused(void** state) {
  (void)state;
  char unit[1024];
  check_refused("fmu: nowhere.fmu", "nowhere.fmu");
  check_refused("model: oscillator.mass, solver: rk4", "'solver' is for FMUs");
  snprintf(unit, sizeof unit, "fmu: '%s/oscillator_mass2.fmu', with: {mass: 1}", folder());
  check_refused(unit, "has no parameter 'mass'");
  snprintf(unit, sizeof unit, "fmu: '%s/oscillator_mass2.fmu', interface: model-exchange",
           folder());
  check_refused(unit, "no model-exchange interface");
  snprintf(unit, sizeof unit, "fmu: '%s/needs_library2.fmu'", folder());
  check_refused(unit, "libmissing_yoke_part.so");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equals_native), cmocka_unit_test(test_feedthrough),
      cmocka_unit_test(test_iterative),     cmocka_unit_test(test_exact_time),
      cmocka_unit_test(test_fmi1),          cmocka_unit_test(test_failures),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
