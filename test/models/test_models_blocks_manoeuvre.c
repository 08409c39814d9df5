// Manoeuvres: values, integrals against a fine sum, jumps, refusals.
#include "models/blocks/blocks.h"
#include "support/trial.h"

enum { SINE, CHIRP, SWEEP, PULSE, STEP_STEER, WEAVE, N_KINDS };

static const double pi = 3.14159265358979323846;

static void open_kind(trial* d, int kind, double amplitude, double frequency, double end) {
  trial_open(d, &yoke__model_manoeuvre, NULL, 0);
  trial_set_whole(d, "kind", kind);
  trial_set(d, "amplitude", amplitude);
  trial_set(d, "frequency", frequency);
  trial_set(d, "frequency_end", end);
}

static double at(trial* d, double t) {
  trial_refresh(d, t);
  return trial_get(d, "y");
}

static void test_values(void** state) {
  (void)state;
  trial d;
  open_kind(&d, SINE, 2.0, 1.0, 0.0);
  trial_check_description(&d);
  trial_set(&d, "t0", 0.5);
  trial_start(&d, 0.0);
  check_near(at(&d, 0.3), 0.0, 0.0);
  check_near(at(&d, 0.75), 2.0, 1e-14);
  check_near(at(&d, 100.25), -2.0, 1e-12);
  trial_check_rollback(&d, 0.6, 0.1);
  trial_close(&d);

  // the phase of M1 and M2 of the specification: 2 pi (f0 t + (f1 - f0) t^2 / 40)
  open_kind(&d, CHIRP, 1.5, 0.1, 1.0);
  trial_set(&d, "duration", 20.0);
  trial_start(&d, 0.0);
  for (int k = 0; k < 54; k++) {
    const double t = 0.37 * k;
    check_near(at(&d, t), 1.5 * sin(2.0 * pi * (0.1 * t + 0.9 * t * t / 40.0)), 1e-12);
  }
  check_near(at(&d, 20.0), 0.0, 0.0);
  trial_close(&d);

  // half of the time is half of the octaves: 1, 2 and 4 Hz at 0, 5 and 10 s, by the distance of
  // zero crossings
  open_kind(&d, SWEEP, 1.0, 1.0, 4.0);
  trial_set(&d, "duration", 10.0);
  trial_start(&d, 0.0);
  int n_crossings = 0;
  double first = 0.0, last = 0.0;
  for (int k = 0; k < 200000; k++) {
    const double t = 4.0 + 1e-5 * k;
    if ((at(&d, t) < 0.0) != (at(&d, t + 1e-5) < 0.0)) {
      last = t;
      first = n_crossings == 0 ? t : first;
      n_crossings++;
    }
  }
  check_near((n_crossings - 1) / (last - first) / 2.0, 2.0, 0.02);
  trial_close(&d);

  open_kind(&d, PULSE, 3.0, 1.0, 1.0);
  trial_set(&d, "t0", 1.0);
  trial_set(&d, "duration", 2.0);
  trial_set(&d, "rise", 0.5);
  trial_start(&d, 0.0);
  check_near(at(&d, 1.25), 1.5, 1e-15);
  check_near(at(&d, 2.0), 3.0, 0.0);
  check_near(at(&d, 2.9), 0.6, 1e-14);
  check_near(at(&d, 3.1), 0.0, 0.0);
  trial_close(&d);

  open_kind(&d, STEP_STEER, 3.0, 1.0, 1.0);
  trial_set(&d, "rise", 0.15);
  trial_start(&d, 0.0);
  check_near(at(&d, 0.05), 1.0, 1e-15);
  check_near(at(&d, 50.0), 3.0, 0.0);
  trial_close(&d);

  open_kind(&d, WEAVE, 1.0, 0.2, 0.0);
  trial_start(&d, 0.0);
  check_near(at(&d, 1.25), 0.25, 1e-15);
  check_near(at(&d, 6.25), 1.0, 1e-14);
  trial_close(&d);
}

// A step across all kinks, and short ones: the integral equals the sum of many.
static void test_integrals(void** state) {
  (void)state;
  const size_t output = 0;
  for (int kind = 0; kind < N_KINDS; kind++) {
    trial d;
    open_kind(&d, kind, 2.0, 0.7, 3.1);
    trial_set(&d, "t0", 0.3);
    trial_set(&d, "duration", 2.0);
    trial_set(&d, "rise", 0.4);
    check_ok(d.unit.ops->choose_integrals(d.unit.self, &output, 1));
    trial_start(&d, 0.0);
    const double h = 4.0;
    double integral = 0.0, sum = 0.0;
    (void)trial_step(&d, 0.0, h);
    check_ok(d.unit.ops->get_integrals(d.unit.self, &integral, 1));
    const int n = 400000;  // midpoints
    for (int k = 0; k < n; k++) {
      sum += at(&d, (k + 0.5) * h / n) * h / n;
    }
    check_near(integral, sum, 1e-8);

    double parts = 0.0;
    for (int k = 0; k < 64; k++) {
      double part = 0.0;
      (void)trial_step(&d, k * h / 64, h / 64);
      check_ok(d.unit.ops->get_integrals(d.unit.self, &part, 1));
      parts += part;
    }
    check_near(parts, integral, 1e-11);
    assert_int_equal(d.unit.ops->choose_integrals(d.unit.self, &output, 2), YOKE_BAD_ARG);
    trial_close(&d);
  }
}

static void test_jumps(void** state) {
  (void)state;
  trial d;
  open_kind(&d, PULSE, 3.0, 1.0, 1.0);
  trial_set(&d, "t0", 0.3);
  trial_set(&d, "duration", 0.4);
  trial_start(&d, 0.0);
  for (int k = 0; k < 10; k++) {
    const yoke_step_result result = trial_step(&d, k * 0.1, 0.1);
    const bool is_edge = k == 2 || k == 6;
    assert_int_equal((result.flags & YOKE_STEP_EVENT_NEEDED) != 0, is_edge);
    check_near(trial_get(&d, "y"), k >= 2 && k < 6 ? 3.0 : 0.0, 0.0);
  }
  trial_close(&d);

  // whole periods end in zero: no jump
  open_kind(&d, SINE, 3.0, 5.0, 0.0);
  trial_set(&d, "duration", 0.4);
  trial_start(&d, 0.0);
  for (int k = 0; k < 10; k++) {
    assert_int_equal(trial_step(&d, k * 0.1, 0.1).flags & YOKE_STEP_EVENT_NEEDED, 0);
  }
  trial_close(&d);
}

static void expect_refusal(int kind, const char* name, double value, const char* part) {
  trial d;
  HEAR(err);
  open_kind(&d, kind, 1.0, 1.0, 3.0);
  trial_set(&d, "duration", 1.0);
  trial_set(&d, name, value);
  assert_true(yoke__unit_enter_init(&d.unit, 0.0, 1.0, &err.sink) < 0);
  check_contains(err.text, part);
  trial_close(&d);
}

static void test_refusals(void** state) {
  (void)state;
  expect_refusal(CHIRP, "duration", 0.0, "need a duration above 0");
  expect_refusal(PULSE, "rise", 0.6, "two edges");
  expect_refusal(SWEEP, "frequency_end", 0.0, "of sweep and weave above 0");
  expect_refusal(WEAVE, "frequency", -1.0, "of sweep and weave above 0");
  expect_refusal(SINE, "amplitude", (double)NAN, "amplitude");
  expect_refusal(SINE, "duration", -1.0, "duration and rise");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_integrals),
      cmocka_unit_test(test_jumps),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
