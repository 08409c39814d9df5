// The driver: traces, the controller with preview, live, and that the same throttle gives the same run wherever it comes from (B-27).
#include "models/driver/driver.h"

#include "support/trial.h"
#include "yoke/yoke.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const yoke_unit_ops* const ops = &yoke__model_driver;
static const int64_t mode_pi = 1, mode_live = 2, hold = 1;

static yoke_argument choice(const char* name, const int64_t* value) {
  return (yoke_argument){name, YOKE_ENUMERATION, 1, 1, value};
}

// the manoeuvre of the e-Car, steps included
static void test_script(void** state) {
  (void)state;
  static const double points[] = {0.2, 0, 1.2, 0.35,  2,   0.35,  2,   0,
                                  2.5, 0, 2.5, -0.25, 3.3, -0.25, 3.3, 0};
  static const double rows[][2] = {{0, 0},          {0.2, 0}, {0.7, 0.175}, {1.2, 0.35},
                                   {1.9999, 0.35},  {2, 0},   {2.4999, 0},  {2.5, -0.25},
                                   {3.2999, -0.25}, {3.3, 0}, {1e6, 0}};
  const yoke_argument argument = trial_matrix("points", 8, 2, points);
  trial d;
  trial_open(&d, ops, &argument, 1);
  trial_check_description(&d);
  trial_start(&d, 0.0);
  for (size_t i = 0; i < COUNT(rows); i++) {
    trial_refresh(&d, rows[i][0]);
    check_near(trial_get(&d, "throttle"), rows[i][1], 1e-14);
  }
  (void)trial_step(&d, 0.6, 0.1);  // the output belongs to the end
  check_near(trial_get(&d, "throttle"), 0.175, 1e-14);
  trial_check_rollback(&d, 0.7, 0.1);
  trial_close(&d);
}

static void test_hold(void** state) {
  (void)state;
  static const double points[] = {0, 1, 0.1, 2, 0.3, 3};
  const yoke_argument arguments[] = {trial_matrix("points", 3, 2, points),
                                     choice("interpolation", &hold)};
  trial d;
  trial_open(&d, ops, arguments, 2);
  trial_start(&d, 0.0);
  (void)trial_step(&d, 0.1 + 0.1, 0.1);  // 0.30000000000000004
  check_near(trial_get(&d, "throttle"), 3.0, 0.0);
  trial_refresh(&d, 0.29);
  check_near(trial_get(&d, "throttle"), 2.0, 0.0);
  trial_close(&d);
}

// u = K_P e + I with the limits; the integral waits at them
static void test_controller(void** state) {
  (void)state;
  static const double points[] = {0, 0, 1, 10};
  const yoke_argument arguments[] = {trial_matrix("points", 2, 2, points),
                                     choice("mode", &mode_pi)};
  trial d;
  trial_open(&d, ops, arguments, 2);
  trial_set(&d, "K_P", 0.1);
  trial_set(&d, "T_I", 0.5);
  trial_set(&d, "preview", 0.2);
  trial_set(&d, "u_max", 0.5);
  trial_start(&d, 0.0);
  trial_set(&d, "speed", 1.0);
  double integral = 0.0;
  for (int k = 0; k < 10; k++) {
    const double t = k * 0.05, e = 10.0 * (t + 0.2) - 1.0, wish = 0.1 * e + integral;
    (void)trial_step(&d, t, 0.05);
    check_near(trial_get(&d, "error"), e, 1e-12);
    check_near(trial_get(&d, "throttle"), fmin(wish, 0.5), 1e-12);
    integral += wish <= 0.5 ? 0.05 * 0.1 * e / 0.5 : 0.0;
  }
  trial_check_rollback(&d, 0.5, 0.05);
  trial_check_feedthrough(&d, 0.5);
  trial_close(&d);
}

// A gain alone follows a ramp of an inertia by J / K_P = 0.16 s too late; to look as far ahead takes that away on the ramp.
static void test_preview_helps(void** state) {
  (void)state;
  static const double points[] = {0, 0, 0.5, 0, 2, 6, 3, 6};
  double rms[2];
  for (int i = 0; i < 2; i++) {
    const yoke_argument arguments[] = {trial_matrix("points", 4, 2, points),
                                       choice("mode", &mode_pi)};
    trial d;
    trial_open(&d, ops, arguments, 2);
    trial_set(&d, "K_P", 0.5);
    trial_set(&d, "T_I", 1e6);
    trial_set(&d, "preview", i == 0 ? 0.0 : 0.16);
    trial_start(&d, 0.0);
    double v = 0.0, sum = 0.0;
    for (int k = 0; k < 3000; k++) {
      trial_set(&d, "speed", v);
      (void)trial_step(&d, k * 1e-3, 1e-3);
      v += 1e-3 * trial_get(&d, "throttle") / 0.08;  // a car of 2 kg on wheels of 40 mm
      const double t = (k + 1) * 1e-3, want = fmin(fmax(4.0 * (t - 0.5), 0.0), 6.0);
      sum += t > 1.5 && t < 1.8 ? (v - want) * (v - want) : 0.0;
    }
    rms[i] = sqrt(sum / 300.0);
    trial_close(&d);
  }
  check_near(rms[0], 4.0 * 0.16, 0.02);
  check_near(rms[1], 0.0, 0.02);
}

static void test_refusals(void** state) {
  (void)state;
  static const double back[] = {1, 0, 0, 1};
  static const char* const missing[] = {"no-such-file.csv"};
  yoke_argument arguments[2] = {trial_matrix("points", 2, 2, back)};
  trial_refuses(ops, arguments, 0, "either file or points");
  trial_refuses(ops, arguments, 1, "point 2 of the trace");
  arguments[1] = trial_texts("file", 1, missing);
  trial_refuses(ops, arguments, 2, "either file or points");
  trial_refuses(ops, arguments + 1, 1, "no-such-file.csv");
  arguments[0] = trial_matrix("points", 4, 1, back);
  trial_refuses(ops, arguments, 1, "rows [time, value]");
  arguments[1] = choice("mode", &mode_live);
  trial_refuses(ops, arguments, 2, "mode live has no trace");
}

// ---------------------------------------------------------------------------------------------------------
// B-27

enum { N_STEPS = 600 };

typedef struct run_end {
  double x, theta, shaft, tau, omega;
} run_end;

// The e-Car on the rig with that driver; the throttle of every exchange goes to `trace`, or comes from it (live).
static run_end drive(const char* driver, double trace[N_STEPS + 1], bool is_live) {
  static const char format[] =
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 0.6, step: 1e-3}\n"
      "units:\n"
      "  driver: {model: driver, with: {%s}}\n"
      "  rig: {model: rig.bench, with: {latency: 1, seed: 3}}\n"
      "  car: {model: car.planar, exchange: fresh}\n"
      "connections: [driver.throttle -> rig.throttle, car.v -> driver.speed]\n"
      "bonds: {wheel: {action: rig.tau -> car.tau, rate: car.omega -> rig.omega_ref}}\n";
  const size_t size = strlen(driver) + sizeof format;
  char* text = malloc(size);
  assert_non_null(text);
  (void)snprintf(text, size, format, driver);
  HEAR(err);
  const yoke_load_settings settings = {.sink = &err.sink};
  yoke_system* system = NULL;
  if (yoke_system_parse(text, strlen(text), "test.yaml", &settings, &system) < 0) {
    fail_msg("%s", err.text);
  }
  free(text);
  yoke_simulation* simulation = NULL;
  check_ok(yoke_simulation_create(system, NULL, &simulation));
  yoke_handle throttle, live, ends[5];
  static const char* const names[] = {"car.x", "car.theta", "rig.shaft", "rig.tau", "car.omega"};
  check_ok(yoke_simulation_find(simulation, "driver.throttle", &throttle));
  check_ok(yoke_simulation_find(simulation, "driver.live", &live));
  check_ok(yoke_simulation_start(simulation));
  for (int k = 0; k <= N_STEPS; k++) {
    double value = 0.0;
    check_ok(yoke_simulation_read(simulation, throttle, &value));
    if (is_live) {
      assert_true(value == trace[k]);
    } else {
      trace[k] = value;
    }
    if (k < N_STEPS) {
      if (is_live) {
        check_ok(yoke_simulation_write(simulation, live, trace[k + 1]));
      }
      check_ok(yoke_simulation_step(simulation));
    }
  }
  double values[5];
  for (size_t i = 0; i < COUNT(names); i++) {
    check_ok(yoke_simulation_find(simulation, names[i], &ends[i]));
    check_ok(yoke_simulation_read(simulation, ends[i], &values[i]));
  }
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
  return (run_end){values[0], values[1], values[2], values[3], values[4]};
}

// B-27: recorded, scripted, live and the controller itself: the same throttle, the same run to the last bit, sensor noise and all
static void test_same_trace_same_result_b27(void** state) {
  (void)state;
  static const char* const path = "test_models_driver.csv";
  double trace[N_STEPS + 1], again[N_STEPS + 1];
  const run_end pi =
      drive("mode: pi, points: [[0, 0], [0.1, 0], [0.6, 1.5]], K_P: 0.4, T_I: 0.3, preview: 0.02",
            trace, false);
  assert_true(pi.x > 0.05);  // it drives

  // recorded
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  (void)fprintf(file, "time,throttle\n");
  char* points = malloc((size_t)64 * (N_STEPS + 2));
  assert_non_null(points);
  size_t used = (size_t)sprintf(points, "interpolation: hold, points: [");
  for (int k = 0; k <= N_STEPS; k++) {
    (void)fprintf(file, "%.17g,%.17g\n", k * 1e-3, trace[k]);
    used +=
        (size_t)sprintf(points + used, "%s[%.17g, %.17g]", k > 0 ? ", " : "", k * 1e-3, trace[k]);
  }
  (void)sprintf(points + used, "]");
  assert_int_equal(fclose(file), 0);
  const run_end recorded = drive("file: test_models_driver.csv, interpolation: hold", again, false);
  assert_memory_equal(again, trace, sizeof trace);
  assert_memory_equal(&recorded, &pi, sizeof pi);

  // scripted
  const run_end scripted = drive(points, again, false);
  assert_memory_equal(again, trace, sizeof trace);
  assert_memory_equal(&scripted, &pi, sizeof pi);

  // live, through the public interface
  const run_end live = drive("mode: live", trace, true);
  assert_memory_equal(&live, &pi, sizeof pi);

  // and another trace is another run
  trace[300] += 1e-3;
  const run_end other = drive("mode: live", trace, true);
  assert_memory_not_equal(&other, &pi, sizeof pi);
  free(points);
  assert_int_equal(remove(path), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_script),     cmocka_unit_test(test_hold),
      cmocka_unit_test(test_controller), cmocka_unit_test(test_preview_helps),
      cmocka_unit_test(test_refusals),   cmocka_unit_test(test_same_trace_same_result_b27),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
