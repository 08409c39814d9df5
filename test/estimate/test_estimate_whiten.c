// Search for walks that make the innovation white, on a function whose answer is known and on the circuit with disturbed heat.
#include "estimate/estimate_innovation.h"
#include "estimate/estimate_whiten.h"
#include "estimate_scenario.h"
#include "support/normal_noise.h"

#define H  1e-3
#define PI 3.14159265358979323846
enum { N_STEPS = 5000 };

static YOKE_CATCH(err);
static double inputs[N_STEPS][2], readings[N_STEPS][2], truth[N_STEPS];

// ---- the search alone

static double around(void* to, double factor) {
  const double answer = *(const double*)to;
  return factor < 1e-3 * answer ? (double)NAN : pow(answer / factor, 0.3);
}

static void test_search(void** state) {
  (void)state;
  const yoke_whiten_settings settings = yoke__whiten_default();
  yoke_whiten_result r;
  for (int i = 0; i < 20; i++) {
    double answer = 2e-6 * pow(3.7, i);
    yoke__whiten_search(around, &answer, &settings, &r);
    assert_int_equal(r.end, YOKE_WHITEN_FOUND);
    check_relative(r.factor, answer, 0.025);
    assert_true(isfinite(r.ratio) && r.n_runs < 25);
  }
  double answer = 1e9;
  yoke__whiten_search(around, &answer, &settings, &r);
  assert_int_equal(r.end, YOKE_WHITEN_ALL_TOO_SMALL);
  assert_true(r.factor == settings.largest);
  answer = 1e-9;
  yoke__whiten_search(around, &answer, &settings, &r);
  assert_int_equal(r.end, YOKE_WHITEN_ALL_TOO_LARGE);
  assert_true(r.factor == settings.smallest);
}

// ---- scenario 4: true heat 10 (1 + sin(10 pi t)) W, believed constant; sensors at nodes 2 and 3

static const double z_sd[2] = {0.1, 0.1};
static yoke_sensor sensors[2];
static yoke_unknown heat[1];

// amplitude of the disturbance, as a part of the mean
static void record_scenario(double amplitude, uint64_t seed) {
  yoke_arena arena = {0};
  normal_noise noise = {.seed = seed};
  plant p = plant_make(&rc_network, rc_g, rc_c, rc_z0, H, &arena);
  for (size_t k = 0; k < N_STEPS; k++) {
    // held at the mean of the step
    const double t = H * (double)k, w = 10 * PI;
    const double mean = (cos(w * t) - cos(w * (t + H))) / (w * H);
    const double v[2] = {10 * (1 + amplitude * mean), 300};
    inputs[k][0] = 10;
    inputs[k][1] = 300;
    truth[k] = 10 * (1 + amplitude * sin(w * t));
    const double* x = plant_read(&p, v);
    readings[k][0] = x[1] + 0.5 * noise_next(&noise);
    readings[k][1] = x[2] + 0.5 * noise_next(&noise);
    plant_step(&p, v, NULL);
  }
  yoke__arena_free(&arena);
}

static yoke_estimate_setup setup_of(double walk_variance, yoke_estimate_method method) {
  sensors[0] = sensor_of("T2", 1, 0.5);
  sensors[1] = sensor_of("T3", 2, 0.5);
  heat[0] = unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 10, sqrt(10));
  heat[0].walk = walk_of(walk_variance, H);
  return (yoke_estimate_setup){.network = &rc_network,
                               .g = rc_g,
                               .c = rc_c,
                               .sensors = sensors,
                               .unknowns = heat,
                               .n_sensors = 2,
                               .n_unknowns = 1,
                               .method = method,
                               .h = H,
                               .z_sd = z_sd,
                               .rate_sd = 0.1,
                               .rate_walk = 1e-3,
                               .jitter = 1e-10};
}

static const yoke_estimate_record scenario = {
    .n = N_STEPS, .v = &inputs[0][0], .readings = &readings[0][0], .z = rc_z0};

// Variance of the walk per step [W^2] that the search ends at.
static double search(double start, yoke_estimate_method method, yoke_whiten_result* r) {
  const yoke_estimate_setup setup = setup_of(start, method);
  const yoke_whiten_settings settings = yoke__whiten_default();
  if (yoke__whiten(&setup, &scenario, &settings, r, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  return start * r->factor * r->factor;
}

// Started far too low and far too high, ten seeds, linear and with derivatives.
static void test_search_on_scenario_4_E_13(void** state) {
  (void)state;
  double lowest = 1e9, highest = 0;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    record_scenario(1, seed);
    static const double starts[] = {1e-4, 1e4};
    double found[2];
    for (int i = 0; i < 2; i++) {
      yoke_whiten_result r;
      found[i] = search(starts[i], i == 0 ? YOKE_ESTIMATE_LINEAR : YOKE_ESTIMATE_DERIVATIVE, &r);
      assert_int_equal(r.end, YOKE_WHITEN_FOUND);
      check_between(found[i], 0.7, 7);
      check_near(r.ratio, 1, 0.05);
      check_near(r.sd, sqrt(1 / (8 * 34.0)), 1e-6);
      lowest = fmin(lowest, found[i]);
      highest = fmax(highest, found[i]);
    }
    // the filters agree, up to the width that the search leaves
    check_relative(found[1], found[0], 0.1);
  }
  print_message("search on scenario 4, ten seeds: %.2f .. %.2f W^2 per step\n", lowest, highest);
}

// T2 and the heat are best where the innovation is white: rms errors at the answer and a factor of 30 off.
static void run_errors(double walk_variance, double* error_T2, double* error_heat) {
  yoke_arena arena = {0};
  const yoke_estimate_setup setup = setup_of(walk_variance, YOKE_ESTIMATE_LINEAR);
  yoke_estimate* f = filter_make(&setup, &arena, &err);
  plant p = plant_make(&rc_network, rc_g, rc_c, rc_z0, H, &arena);
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  *error_T2 = *error_heat = 0;
  for (size_t k = 0; k < N_STEPS; k++) {
    check_ok(yoke__estimate_correct(f, inputs[k], readings[k], NULL));
    const double miss = filter_value(f, 0) - truth[k];
    const double miss_T2 = yoke__estimate_mean(f)[0] - p.z[0];
    *error_heat += k >= 500 ? miss * miss / (N_STEPS - 500) : 0;
    *error_T2 += k >= 500 ? miss_T2 * miss_T2 / (N_STEPS - 500) : 0;
    check_ok(yoke__estimate_predict(f, inputs[k], NULL));
    const double v[2] = {0.5 * (truth[k] + truth[k + 1 < N_STEPS ? k + 1 : k]), 300};
    plant_step(&p, v, NULL);
  }
  yoke__arena_free(&arena);
}

static void test_white_is_best(void** state) {
  (void)state;
  record_scenario(1, 3);
  yoke_whiten_result r;
  const double found = search(0.01, YOKE_ESTIMATE_LINEAR, &r);
  double T2[3], Q0[3];
  for (int i = 0; i < 3; i++) {
    run_errors(found * pow(30, i - 1), &T2[i], &Q0[i]);
  }
  assert_true(T2[1] < 0.7 * T2[0] && T2[1] < 0.7 * T2[2]);
  assert_true(Q0[1] < 0.7 * Q0[0] && Q0[1] < 0.7 * Q0[2]);
}

// Heat that is constant needs no walk, and the search ends with a small one.
static void test_constant_heat(void** state) {
  (void)state;
  record_scenario(0, 4);
  yoke_whiten_result r;
  const double found = search(10, YOKE_ESTIMATE_LINEAR, &r);
  check_between(found, 0, 0.1);
}

static void test_refusals(void** state) {
  (void)state;
  record_scenario(1, 1);
  yoke_whiten_settings settings = yoke__whiten_default();
  yoke_whiten_result r;
  yoke_estimate_setup setup = setup_of(0, YOKE_ESTIMATE_LINEAR);
  assert_int_equal(yoke__whiten(&setup, &scenario, &settings, &r, &err.sink), YOKE_BAD_ARG);
  check_contains(err.text, "no unknown input drifts");
  setup = setup_of(1, YOKE_ESTIMATE_LINEAR);
  settings.n_skip = 4900;
  assert_int_equal(yoke__whiten(&setup, &scenario, &settings, &r, &err.sink), YOKE_BAD_ARG);
  check_contains(err.text, "needs 5412 steps, there are 5000");
  settings.n_skip = 0;
  setup.h = -1;
  assert_true(yoke__whiten(&setup, &scenario, &settings, &r, &err.sink) < 0);
  check_contains(err.text, "step");
}

// ---- E-12: the report at the settings of E-06 and E-09

static void report_of(const yoke_estimate_setup* setup, const double record[], size_t n,
                      size_t skip, yoke_white_report reports[]) {
  yoke_arena arena = {0};
  yoke_estimate* f = filter_make(setup, &arena, &err);
  static yoke_white whites[3];
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  for (size_t i = 0; i < setup->n_sensors; i++) {
    yoke__white_clear(&whites[i]);
  }
  for (size_t k = 0; k < n; k++) {
    check_ok(yoke__estimate_correct(f, rc_v, record + k * setup->n_sensors, NULL));
    for (size_t i = 0; i < setup->n_sensors; i++) {
      double e, sd;
      yoke__estimate_innovation(f, i, &e, &sd);
      yoke__white_add(&whites[i], k >= skip ? e / sd : (double)NAN);
    }
    check_ok(yoke__estimate_predict(f, rc_v, NULL));
  }
  for (size_t i = 0; i < setup->n_sensors; i++) {
    reports[i] = yoke__white_report_of(&whites[i]);
  }
  yoke__arena_free(&arena);
}

// Three resistors from 10 K/W, 10 s, variance of z' 1 (K/s)^2 per step.
static void test_report_of_scenario_1_E_12(void** state) {
  (void)state;
  enum { N = 10000 };
  static double y[N][3];
  for (uint64_t seed = 1; seed <= 3; seed++) {
    yoke_arena arena = {0};
    normal_noise noise = {.seed = seed};
    plant p = plant_make(&rc_network, rc_g, rc_c, rc_z0, H, &arena);
    for (size_t k = 0; k < N; k++) {
      const double* x = plant_read(&p, rc_v);
      for (size_t i = 0; i < 3; i++) {
        y[k][i] = x[i] + 0.5 * noise_next(&noise);
      }
      plant_step(&p, rc_v, NULL);
    }
    yoke_unknown resistors[3];
    yoke_sensor all[3];
    for (uint32_t i = 0; i < 3; i++) {
      resistors[i] = unknown_of(YOKE_UNKNOWN_RESISTANCE, rc_resistors[i].name, i, 10, sqrt(10));
      all[i] = sensor_of(rc_nodes[i].name, i, 0.5);
    }
    const yoke_estimate_setup setup = {.network = &rc_network,
                                       .g = rc_g,
                                       .c = rc_c,
                                       .sensors = all,
                                       .unknowns = resistors,
                                       .n_sensors = 3,
                                       .n_unknowns = 3,
                                       .h = H,
                                       .z_sd = z_sd,
                                       .rate_sd = 0.1,
                                       .rate_walk = walk_of(1, H)};
    yoke_white_report r[3];
    report_of(&setup, &y[0][0], N, 1000, r);
    for (size_t i = 0; i < 3; i++) {
      if (seed == 1) {
        print_message("scenario 1, T%zu: mean %.3f variance %.3f flatness %.3f low/high %.2f\n",
                      i + 1, r[i].mean, r[i].variance, r[i].flatness, r[i].low_high);
      }
      check_near(r[i].mean, 0, 0.1);
      check_between(r[i].variance, 0.95, 1.05);
      check_between(r[i].flatness, 0.95, 1);
      assert_true(r[i].is_white);
    }
    yoke__arena_free(&arena);
  }
}

static void test_report_of_scenario_4_E_12(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    record_scenario(1, seed);
    // variance of the walk 3 W^2 per step, and that of z' of node 2 as rule (17) wants it: 3 / C1^2 = 300
    yoke_estimate_setup setup = setup_of(3, YOKE_ESTIMATE_DERIVATIVE);
    setup.has_loose_walks = true;
    yoke_white_report r[2];
    report_of(&setup, &readings[0][0], N_STEPS, 500, r);
    if (seed == 1) {
      print_message("scenario 4, T2: mean %.3f variance %.3f flatness %.3f low/high %.2f\n",
                    r[0].mean, r[0].variance, r[0].flatness, r[0].low_high);
    }
    check_between(r[0].low_high, 0.7, 1.25);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_search),
      cmocka_unit_test(test_search_on_scenario_4_E_13),
      cmocka_unit_test(test_white_is_best),
      cmocka_unit_test(test_constant_heat),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_report_of_scenario_1_E_12),
      cmocka_unit_test(test_report_of_scenario_4_E_12),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
