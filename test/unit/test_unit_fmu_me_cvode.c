// Model exchange with CVODE: accuracy, events, input jumps, stop times, and what is said where the companion library is missing.
// The companion is built where SUNDIALS is there (YOKE_CVODE); else those tests are skipped.
#define _POSIX_C_SOURCE 200809L
#include "base/base_message.h"
#include "me_toy.h"

#define G 9.81

static char companion[4096];  // set once in main; empty: missing

static bool is_missing(void) {
  if (companion[0] == '\0') {
    print_message("skipped: SUNDIALS is missing\n");
    return true;
  }
  return false;
}

// n_derivatives counts evaluations
static void swing(const toy* m, double dx[]) {
  dx[0] = m->now.x[1];
  dx[1] = -m->now.x[0] + m->now.u[0];
}

// without inputs CVODE runs on from step to step: the error follows the tolerance, and short steps of the unit cost little
static void test_tolerance(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 2, .x0 = {0, 1}, .rhs = swing};
  if (is_missing()) {
    skip();
  }
  static const double tolerances[] = {1e-6, 1e-8, 1e-10};
  double last = 1;
  for (int i = 0; i < 3; i++) {
    toy* m = toy_open(
        &model, (yoke_unit_file_settings){.solver = "cvode", .solver_tolerance = tolerances[i]});
    m->n_derivatives = 0;
    double worst = 0;
    for (int k = 0; k < 100; k++) {
      toy_step(m, 0.1 * k, 0.1);
      worst = fmax(worst, fabs(m->now.x[0] - sin(0.1 * (k + 1))));
    }
    print_message("tolerance %g: error %.2g with %lld evaluations\n", tolerances[i], worst,
                  (long long)m->n_derivatives);
    // ten seconds: the local errors add up
    check_between(worst, 1e-3 * tolerances[i], 300 * tolerances[i]);
    assert_true(worst < last / 5);
    last = worst;
    toy_close(m);
  }
}

// the default tolerance is the experiment's, else 1e-6
static void test_default_tolerance(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 2, .x0 = {0, 1}, .rhs = swing};
  if (is_missing()) {
    skip();
  }
  double x[3];
  for (int i = 0; i < 3; i++) {
    toy* m = toy_create(&model, (yoke_unit_file_settings){.solver = "cvode",
                                                          .solver_tolerance = i == 0 ? 1e-6 : 0});
    m->description.experiment.has_tolerance = i == 2;
    m->description.experiment.tolerance = 1e-9;
    YOKE_CATCH(err);
    check_ok(yoke__fmu_open_me(&m->f, &err.sink));
    check_ok(m->ops.exit_init(&m->f));
    toy_run(m, 0, 1, 5);
    x[i] = m->now.x[0];
    toy_close(m);
  }
  assert_true(x[0] == x[1]);
  assert_true(fabs(x[2] - sin(5)) < 0.1 * fabs(x[0] - sin(5)));
}

static void stiff(const toy* m, double dx[]) {
  dx[0] = -1e6 * (m->now.x[0] - cos(m->now.t));
}

static void test_stiff(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = stiff};
  if (is_missing()) {
    skip();
  }
  toy* m = toy_open(&model, (yoke_unit_file_settings){.solver = "cvode"});
  m->n_derivatives = 0;
  toy_run(m, 0, 1, 3);
  print_message("stiff: error %.2g, %lld evaluations\n", m->now.x[0] - cos(3),
                (long long)m->n_derivatives);
  check_near(m->now.x[0], cos(3), 1e-4);
  assert_true(m->n_derivatives < 2000);  // explicit steps would have to be below 2.8e-6 s
  toy_close(m);
}

static void fall(const toy* m, double dx[]) {
  dx[0] = m->now.x[1];
  dx[1] = -G;
}

static void height(const toy* m, double z[]) {
  z[0] = m->now.x[0];
}

static void bounce(toy* m, fmu_event* event) {
  if (m->now.x[0] <= 0 && m->now.x[1] < 0) {
    m->now.x[0] = 1e-300;
    m->now.x[1] *= -0.7;
    m->now.events[32 + m->now.mode++] = m->now.t;
    event->are_states_changed = true;
  }
}

static void test_ball(void** state) {
  (void)state;
  static const toy_model model = {
      .n_x = 2, .n_z = 1, .x0 = {1, 0}, .rhs = fall, .indicators = height, .update = bounce};
  if (is_missing()) {
    skip();
  }
  toy* m = toy_open(&model, (yoke_unit_file_settings){.solver = "cvode", .solver_tolerance = 1e-9});
  toy_run(m, 0, 0.05, 40);
  const double t0 = sqrt(2 / G);
  double t = t0, flight = 2 * t0, worst = 0;
  int n = 0;
  for (; t < 2; n++) {
    worst = fmax(worst, fabs(m->now.events[32 + n] - t));
    flight *= 0.7;
    t += flight;
  }
  print_message("ball: %d bounces, times off by %.2g s\n", n, worst);
  assert_int_equal(m->now.mode, n);
  check_near(worst, 0, 1e-7);
  toy_close(m);
}

static void tick(toy* m, fmu_event* event) {
  if (m->now.n_updates > 1 && m->now.t >= 0.1 * (double)(m->now.mode + 1)) {
    m->now.mode++;
  }
  event->has_next = true;
  event->t_next = 0.1 * (double)(m->now.mode + 1);
}

static void staircase(const toy* m, double dx[]) {
  dx[0] = (double)m->now.mode;
}

// time events are stop times; at large times too
static void test_time_events(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = staircase, .update = tick};
  if (is_missing()) {
    skip();
  }
  static const double steps[] = {0.1, 0.03, 1, 0.1 / 3};
  for (int i = 0; i < 4; i++) {
    toy* m = toy_open(&model, (yoke_unit_file_settings){.solver = "cvode"});
    toy_run(m, 0, steps[i], llround(3 / steps[i]));
    assert_int_equal(m->now.mode, 30);
    assert_int_equal(m->now.n_events, 30);
    check_near(m->now.x[0], 0.1 * 29 * 30 / 2, 1e-4);
    toy_close(m);
  }
}

// an input that jumps at each step, and one that follows its derivatives: restarted each time, never past the step
static void test_inputs(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 2, .rhs = swing};
  if (is_missing()) {
    skip();
  }
  // x'' = -x + u with u = 1 held: x = 1 - cos t; with u = t: x = t - sin t
  for (int is_ramp = 0; is_ramp < 2; is_ramp++) {
    toy* m =
        toy_open(&model, (yoke_unit_file_settings){.solver = "cvode", .solver_tolerance = 1e-9});
    for (int k = 0; k < 20; k++) {
      const double u[3] = {is_ramp ? 0.1 * k : 1, 0, 0}, du[3] = {is_ramp, 0, 0};
      check_ok(m->ops.set_inputs(&m->f, u, 3));
      check_ok(m->ops.set_input_derivatives(&m->f, 1, du, 3));
      toy_step(m, 0.1 * k, 0.1);
      assert_true(m->now.t == 0.1 * k + 0.1);
    }
    check_near(m->now.x[0], is_ramp ? 2 - sin(2) : 1 - cos(2), 1e-6);
    toy_close(m);
  }
}

// times of CVODE count from its last start, so a run far from zero has the same numbers
static void test_large_times(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 2, .x0 = {0, 1}, .rhs = swing};
  if (is_missing()) {
    skip();
  }
  double x[2];
  for (int i = 0; i < 2; i++) {
    const double start = i * 1e6;
    toy* m = toy_open_at(&model, (yoke_unit_file_settings){.solver = "cvode"}, start);
    toy_run(m, start, 0.125, 40);
    x[i] = m->now.x[0];
    toy_close(m);
  }
  assert_true(x[0] == x[1]);
}

static void broken(const toy* m, double dx[]) {
  dx[0] = 1;
  dx[1] = sqrt(0.5 - m->now.x[0]);
}

// CVODE tries shorter steps first; the message still names the state
static void test_nan_names_the_state(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 2, .rhs = broken};
  if (is_missing()) {
    skip();
  }
  toy* m = toy_open(&model, (yoke_unit_file_settings){.solver = "cvode"});
  yoke_step_result result;
  assert_true(toy_try_step(m, 0, 1, &result) < 0);
  print_message("%s\n", result.message);
  check_contains(result.message, "CVODE gave up at t = 0.");
  check_contains(result.message, "derivative of state 'x1' is not a number");
  toy_close(m);
}

static void test_save_and_restore(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 2, .x0 = {0, 1}, .rhs = swing};
  if (is_missing()) {
    skip();
  }
  toy* m = toy_open(&model, (yoke_unit_file_settings){.solver = "cvode", .solver_tolerance = 1e-9});
  unsigned char image[2 * sizeof(void*)] = {0};
  toy_run(m, 0, 0.1, 10);
  check_ok(m->ops.save(&m->f, image, sizeof image));
  toy_run(m, 1, 0.1, 10);
  check_near(m->now.x[0], sin(2), 1e-7);
  check_ok(m->ops.restore(&m->f, image, sizeof image));
  check_near(m->now.x[0], sin(1), 1e-7);
  toy_run(m, 1, 0.1, 10);
  check_near(m->now.x[0], sin(2), 1e-7);
  toy_close(m);
}

static void test_missing_companion(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = staircase};
  YOKE_CATCH(err);
  static const char* const places[] = {NULL, "/nowhere/yoke-cvode.so"};
  for (int i = 0; i < 2; i++) {
    if (places[i] == NULL) {
      unsetenv("YOKE_CVODE");
    } else {
      setenv("YOKE_CVODE", places[i], 1);
    }
    toy* m = toy_create(&model, (yoke_unit_file_settings){.solver = "cvode"});
    assert_int_equal(yoke__fmu_open_me(&m->f, &err.sink), YOKE_BAD_INPUT);
    check_contains(err.text, "solver 'cvode'");
    check_contains(err.text, i == 0 ? "libsundials-dev" : "/nowhere");
    toy_close(m);
  }
  if (companion[0] != '\0') {
    setenv("YOKE_CVODE", companion, 1);
  }
}

int main(void) {
  const char* place = getenv("YOKE_CVODE");
  snprintf(companion, sizeof companion, "%s", place == NULL ? "" : place);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tolerance),
      cmocka_unit_test(test_default_tolerance),
      cmocka_unit_test(test_stiff),
      cmocka_unit_test(test_ball),
      cmocka_unit_test(test_time_events),
      cmocka_unit_test(test_inputs),
      cmocka_unit_test(test_large_times),
      cmocka_unit_test(test_nan_names_the_state),
      cmocka_unit_test(test_save_and_restore),
      cmocka_unit_test(test_missing_companion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
