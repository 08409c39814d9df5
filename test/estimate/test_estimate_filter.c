// What every filter does beside estimating: missing readings, gates, bounds, freezing, saved states, refusals, no heap; E-19.
#include "base/base_message.h"
#include "base/base_os.h"
#include "estimate/estimate_filter.h"
#include "estimate/estimate_kalman.h"
#include "estimate_scenario.h"
#include "support/check.h"
#include "support/counting_heap.h"

static YOKE_CATCH(err);
static yoke_arena arena;
static const double h = 1e-3;
static const double z_sd[] = {0.5, 0.5, 1, 1, 1};
static const yoke_sensor sensors[] = {{"T1", {YOKE_ROW_TEMPERATURE, 0, 0}, 0.5},
                                      {"T2", {YOKE_ROW_TEMPERATURE, 1, 0}, 0.5},
                                      {"T3", {YOKE_ROW_TEMPERATURE, 2, 0}, 0.5}};
static const yoke_heat_row outputs[] = {{YOKE_ROW_TEMPERATURE, 0, 0},
                                        {YOKE_ROW_TEMPERATURE, 1, 0},
                                        {YOKE_ROW_INPUT, 0, 0},
                                        {YOKE_ROW_FLOW, 2, 0},
                                        {YOKE_ROW_TEMPERATURE, 3, 0}};

static int close_arena(void** state) {
  (void)state;
  yoke__arena_free(&arena);
  return 0;
}

static yoke_estimate_setup circuit_setup(const yoke_unknown unknowns[], size_t n_unknowns) {
  return (yoke_estimate_setup){.network = &rc_network,
                               .g = rc_g,
                               .c = rc_c,
                               .sensors = sensors,
                               .n_sensors = 3,
                               .unknowns = unknowns,
                               .n_unknowns = n_unknowns,
                               .outputs = outputs,
                               .n_outputs = YOKE_COUNT(outputs),
                               .h = h,
                               .z_sd = z_sd,
                               .z_walk = 0.01,
                               .rate_sd = 0.1,
                               .rate_walk = walk_of(1, h)};
}

// The heat as an unknown that walks.
static yoke_unknown walking_heat(double start) {
  yoke_unknown heat = unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, start, 5);
  heat.walk = 3;
  return heat;
}

static void read_circuit(plant* rc, uint64_t* seed, double y[3]) {
  const double* x = plant_read(rc, rc_v);
  for (int i = 0; i < 3; i++) {
    y[i] = x[i] + 0.5 * random_normal(seed);
  }
}

// Steps with readings of the circuit.
static void run(yoke_estimate* f, plant* rc, int n, uint64_t* seed) {
  for (int k = 0; k < n; k++) {
    double y[3];
    read_circuit(rc, seed, y);
    check_ok(yoke__estimate_correct(f, rc_v, y, NULL));
    check_ok(yoke__estimate_predict(f, rc_v, NULL));
    plant_step(rc, rc_v, NULL);
  }
}

static void check_covariance(const yoke_estimate* f) {
  const size_t n = yoke__estimate_size(f);
  const double* P = yoke__estimate_covariance(f);
  double padded[16 * 16], L[16 * 16];
  assert_true(n <= 16);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      assert_true(P[i * n + j] == P[j * n + i]);
      padded[i * n + j] = P[i * n + j] * (i == j ? 1 + 1e-9 : 1);
    }
  }
  check_ok(yoke__kalman_root(n, padded, L));
}

// ---- outputs and unknowns

static void test_outputs(void** state) {
  (void)state;
  const yoke_unknown heat = walking_heat(9);
  const yoke_estimate_setup setup = circuit_setup(&heat, 1);
  yoke_estimate* f = filter_make(&setup, &arena, &err);
  assert_int_equal(yoke__estimate_method_of(f), YOKE_ESTIMATE_LINEAR);
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  double value, sd;

  // T1 = T2 + R1 Q0 with variances that add up
  yoke__estimate_output(f, 0, &value, &sd);
  check_near(value, 299 + 9, 1e-12);
  check_near(sd, sqrt(0.25 + 25), 1e-12);
  yoke__estimate_output(f, 2, &value, &sd);
  check_near(value, 9, 0);
  check_near(sd, 5, 1e-12);
  yoke__estimate_output(f, 3, &value, &sd);
  check_near(value, 1.0 / 3, 1e-12);
  check_near(sd, 0.5 / 3, 1e-12);
  yoke__estimate_output(f, 4, &value, &sd);
  check_near(value, 300, 0);
  check_near(sd, 0, 0);

  plant rc = plant_make(&rc_network, rc_g, rc_c, rc_z0, h, &arena);
  uint64_t seed = 1;
  run(f, &rc, 5000, &seed);
  yoke__estimate_unknown(f, 0, &value, &sd);
  check_near(value, 10, 4 * sd);
  check_between(sd, 0.1, 1);
  yoke__estimate_output(f, 0, &value, &sd);
  check_near(value, plant_read(&rc, rc_v)[0], 4 * sd);
  check_covariance(f);
  const yoke_estimate_counts counts = yoke__estimate_counts_of(f);
  assert_true(counts.n_steps == 5000 && counts.n_readings == 15000);
  assert_true(counts.n_missing == 0 && counts.n_gated == 0);
}

// An offset of the second of two sensors at one place, and the temperature of the air.
static void test_offset_and_imposed_temperature(void** state) {
  (void)state;
  static const yoke_sensor mine[] = {{"T2", {YOKE_ROW_TEMPERATURE, 1, 0}, 0.5},
                                     {"T2 again", {YOKE_ROW_TEMPERATURE, 1, 0}, 0.5},
                                     {"T3", {YOKE_ROW_TEMPERATURE, 2, 0}, 0.5}};
  const yoke_unknown unknowns[] = {unknown_of(YOKE_UNKNOWN_OFFSET, "offset", 1, 0, 3),
                                   unknown_of(YOKE_UNKNOWN_INPUT, "T_AIR", 1, 290, 20)};
  yoke_estimate_setup setup = circuit_setup(unknowns, 2);
  setup.sensors = mine;
  setup.z_walk = 0;
  for (int m = YOKE_ESTIMATE_LINEAR; m <= YOKE_ESTIMATE_UNSCENTED; m++) {
    setup.method = (yoke_estimate_method)m;
    yoke_estimate* f = filter_make(&setup, &arena, &err);
    plant rc = plant_make(&rc_network, rc_g, rc_c, rc_z0, h, &arena);
    check_ok(yoke__estimate_start(f, rc_z0, rc_v));
    uint64_t seed = 2;
    for (int k = 0; k < 5000; k++) {
      const double* x = plant_read(&rc, rc_v);
      const double y[] = {x[1] + 0.5 * random_normal(&seed), x[1] + 2 + 0.5 * random_normal(&seed),
                          x[2] + 0.5 * random_normal(&seed)};
      check_ok(yoke__estimate_correct(f, rc_v, y, NULL));
      check_ok(yoke__estimate_predict(f, rc_v, NULL));
      plant_step(&rc, rc_v, NULL);
    }
    double value, sd;
    yoke__estimate_unknown(f, 0, &value, &sd);
    check_near(value, 2, 4 * sd);
    check_between(sd, 0.005, 0.02);  // 0.5 / sqrt(5000) of either sensor
    yoke__estimate_unknown(f, 1, &value, &sd);
    check_near(value, 300, fmax(4 * sd, 0.5));
    check_covariance(f);
  }
}

// Resistances and capacities from good guesses: the filters for which this is all they can.
static void test_good_guesses(void** state) {
  (void)state;
  const yoke_unknown unknowns[] = {unknown_of(YOKE_UNKNOWN_RESISTANCE, "R1", 0, 1.2, 0.3),
                                   unknown_of(YOKE_UNKNOWN_CONDUCTANCE, "R2", 1, 1.7, 0.4),
                                   unknown_of(YOKE_UNKNOWN_CAPACITY, "C1", 0, 0.12, 0.03)};
  yoke_estimate_setup setup = circuit_setup(unknowns, 3);
  static const double truth[] = {1, 2, 0.1};
  for (int m = YOKE_ESTIMATE_DERIVATIVE; m <= YOKE_ESTIMATE_UNSCENTED; m++) {
    setup.method = (yoke_estimate_method)m;
    yoke_estimate* f = filter_make(&setup, &arena, &err);
    plant rc = plant_make(&rc_network, rc_g, rc_c, rc_z0, h, &arena);
    check_ok(yoke__estimate_start(f, rc_z0, rc_v));
    uint64_t seed = 3;
    run(f, &rc, 5000, &seed);
    for (size_t i = 0; i < 3; i++) {
      double value, sd;
      yoke__estimate_unknown(f, i, &value, &sd);
      check_near(value, truth[i], 0.03 * truth[i]);
      check_between(sd, 1e-4 * truth[i], 0.03 * truth[i]);
    }
    check_covariance(f);
  }
}

// The standard deviation of a resistance that the filter knows as 1 / R.
static void test_conductance_in_its_unit(void** state) {
  (void)state;
  yoke_unknown R2 = unknown_of(YOKE_UNKNOWN_CONDUCTANCE, "R2", 1, 2, 0.01);
  R2.walk = 0.1;
  const yoke_estimate_setup setup = circuit_setup(&R2, 1);
  yoke_estimate* f = filter_make(&setup, &arena, &err);
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  double value, sd;
  yoke__estimate_unknown(f, 0, &value, &sd);
  check_near(value, 2, 1e-15);
  check_near(sd, 0.01, 1e-4);
  for (int k = 0; k < 1000; k++) {
    check_ok(yoke__estimate_predict(f, rc_v, NULL));
  }
  yoke__estimate_unknown(f, 0, &value, &sd);
  check_relative(sd, 0.1, 0.02);
}

// ---- readings

static void test_missing_readings(void** state) {
  (void)state;
  const yoke_unknown heat = walking_heat(10);
  yoke_estimate_setup setup = circuit_setup(&heat, 1);
  for (int m = YOKE_ESTIMATE_LINEAR; m <= YOKE_ESTIMATE_UNSCENTED; m++) {
    setup.method = (yoke_estimate_method)m;
    yoke_estimate* by_flag = filter_make(&setup, &arena, &err);
    yoke_estimate* by_value = filter_make(&setup, &arena, &err);
    check_ok(yoke__estimate_start(by_flag, rc_z0, rc_v));
    check_ok(yoke__estimate_start(by_value, rc_z0, rc_v));
    uint64_t seed = 4;
    for (int k = 0; k < 200; k++) {
      const bool have[] = {k % 2 == 0, k % 3 == 0, false};
      double y[3], holes[3];
      for (int i = 0; i < 3; i++) {
        y[i] = 300 + random_normal(&seed);
        holes[i] = have[i] ? y[i] : i == 1 ? (double)INFINITY : (double)NAN;
      }
      check_ok(yoke__estimate_correct(by_flag, rc_v, y, have));
      check_ok(yoke__estimate_correct(by_value, rc_v, holes, NULL));
      for (size_t i = 0; i < 3; i++) {
        double e, sd;
        yoke__estimate_innovation(by_flag, i, &e, &sd);
        assert_true(isnan(e) == !have[i] && isnan(sd) == !have[i]);
      }
      check_ok(yoke__estimate_predict(by_flag, rc_v, NULL));
      check_ok(yoke__estimate_predict(by_value, rc_v, NULL));
    }
    const size_t n = yoke__estimate_size(by_flag);
    assert_memory_equal(yoke__estimate_mean(by_flag), yoke__estimate_mean(by_value),
                        n * sizeof(double));
    assert_int_equal(yoke__estimate_counts_of(by_flag).n_missing, 100 + 133 + 200);
    assert_int_equal(yoke__estimate_counts_of(by_flag).n_readings, 100 + 67);
  }
}

// A reading that is 50 K off every now and then.
static void test_gate(void** state) {
  (void)state;
  const yoke_unknown heat = walking_heat(10);
  yoke_estimate_setup setup = circuit_setup(&heat, 1);
  setup.gate = 5;
  for (int m = YOKE_ESTIMATE_LINEAR; m <= YOKE_ESTIMATE_UNSCENTED; m++) {
    setup.method = (yoke_estimate_method)m;
    yoke_estimate* f = filter_make(&setup, &arena, &err);
    plant rc = plant_make(&rc_network, rc_g, rc_c, rc_z0, h, &arena);
    check_ok(yoke__estimate_start(f, rc_z0, rc_v));
    uint64_t seed = 5;
    double most = 0;
    for (int k = 0; k < 2000; k++) {
      double y[3];
      read_circuit(&rc, &seed, y);
      y[1] += k % 50 == 49 ? 50 : 0;
      check_ok(yoke__estimate_correct(f, rc_v, y, NULL));
      most = fmax(most, fabs(yoke__estimate_mean(f)[0] - rc.z[0]));
      check_ok(yoke__estimate_predict(f, rc_v, NULL));
      plant_step(&rc, rc_v, NULL);
    }
    assert_int_equal(yoke__estimate_counts_of(f).n_gated, 40);
    check_between(most, 0, 1.5);  // of 0.5 K at the start

    // nothing passes any more: the filter has lost its network
    double y[] = {500, 500, 500};
    int n_good = 0;
    while (yoke__estimate_correct(f, rc_v, y, NULL) == YOKE_OK) {
      n_good++;
    }
    assert_int_equal(n_good, YOKE_ESTIMATE_PATIENCE - 1);
    assert_int_equal(yoke__estimate_reason_of(f), YOKE_ESTIMATE_LOST);
    assert_int_equal(yoke__estimate_state_of(f), YOKE_ESTIMATE_DIVERGED);
    assert_int_equal(yoke__estimate_predict(f, rc_v, NULL), YOKE_DIVERGED);
    check_ok(yoke__estimate_start(f, rc_z0, rc_v));
    assert_int_equal(yoke__estimate_state_of(f), YOKE_ESTIMATE_RUNNING);
    assert_int_equal(yoke__estimate_counts_of(f).n_readings, 0);
  }
}

static void test_inputs_that_are_not_finite(void** state) {
  (void)state;
  const yoke_unknown heat = walking_heat(10);
  const yoke_estimate_setup setup = circuit_setup(&heat, 1);
  yoke_estimate* f = filter_make(&setup, &arena, &err);
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  double before[3];
  memcpy(before, yoke__estimate_mean(f), sizeof before);
  const double bad[] = {10, (double)NAN}, unused[] = {(double)NAN, 300}, y[] = {310, 300, 301};
  assert_int_equal(yoke__estimate_correct(f, bad, y, NULL), YOKE_NOT_FINITE);
  assert_int_equal(yoke__estimate_predict(f, bad, NULL), YOKE_NOT_FINITE);
  assert_int_equal(yoke__estimate_start(f, rc_z0, bad), YOKE_NOT_FINITE);
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  assert_memory_equal(before, yoke__estimate_mean(f), sizeof before);
  check_ok(yoke__estimate_correct(f, unused, y, NULL));  // the unknown one is not asked
  check_ok(yoke__estimate_predict(f, unused, NULL));
  assert_int_equal(yoke__estimate_state_of(f), YOKE_ESTIMATE_RUNNING);
}

// ---- bounds and freezing

static void test_bounds(void** state) {
  (void)state;
  yoke_unknown heat = walking_heat(8);
  heat.upper = 9;
  yoke_unknown R3 = unknown_of(YOKE_UNKNOWN_RESISTANCE, "R3", 2, 2, 1);
  R3.upper = 2.5;
  for (int kind = 0; kind < 2; kind++) {
    const yoke_estimate_setup setup = circuit_setup(kind == 0 ? &heat : &R3, 1);
    yoke_estimate* f = filter_make(&setup, &arena, &err);
    plant rc = plant_make(&rc_network, rc_g, rc_c, rc_z0, h, &arena);
    check_ok(yoke__estimate_start(f, rc_z0, rc_v));
    uint64_t seed = 6;
    int k = 0;
    for (; k < 5000 && yoke__estimate_state_of(f) == YOKE_ESTIMATE_RUNNING; k++) {
      double y[3], value, sd;
      read_circuit(&rc, &seed, y);
      yoke__estimate_correct(f, rc_v, y, NULL);
      yoke__estimate_unknown(f, 0, &value, &sd);
      assert_true(value <= (kind == 0 ? 9 : 2.5));
      yoke__estimate_predict(f, rc_v, NULL);
      plant_step(&rc, rc_v, NULL);
    }

    // heat may stay at its bound, a resistance that wants to leave it is wrong
    assert_true(yoke__estimate_bound_hits(f, 0) >= YOKE_ESTIMATE_PATIENCE);
    assert_true((k == 5000) == (kind == 0));
    assert_int_equal(yoke__estimate_reason_of(f),
                     kind == 0 ? YOKE_ESTIMATE_SOUND : YOKE_ESTIMATE_AT_BOUND);
  }
}

static void test_freeze(void** state) {
  (void)state;
  yoke_unknown unknowns[] = {walking_heat(9), unknown_of(YOKE_UNKNOWN_INPUT, "T_AIR", 1, 299, 2)};
  yoke_estimate_setup setup = circuit_setup(unknowns, 2);
  for (int m = YOKE_ESTIMATE_LINEAR; m <= YOKE_ESTIMATE_UNSCENTED; m++) {
    setup.method = (yoke_estimate_method)m;
    yoke_estimate* f = filter_make(&setup, &arena, &err);
    plant rc = plant_make(&rc_network, rc_g, rc_c, rc_z0, h, &arena);
    check_ok(yoke__estimate_start(f, rc_z0, rc_v));
    uint64_t seed = 7;
    run(f, &rc, 200, &seed);
    double value[2], sd[2], now, now_sd;
    for (size_t j = 0; j < 2; j++) {
      yoke__estimate_freeze(f, j, true);
      yoke__estimate_freeze(f, j, true);
      yoke__estimate_unknown(f, j, &value[j], &sd[j]);
      assert_true(sd[j] > 0);
    }
    run(f, &rc, 500, &seed);
    for (size_t j = 0; j < 2; j++) {
      yoke__estimate_unknown(f, j, &now, &now_sd);
      assert_true(now == value[j] && now_sd == sd[j]);
    }
    yoke__estimate_freeze(f, 0, false);
    yoke__estimate_unknown(f, 0, &now, &now_sd);
    assert_true(now == value[0]);
    check_near(now_sd, sd[0], 1e-12);
    run(f, &rc, 3000, &seed);
    yoke__estimate_unknown(f, 0, &now, &now_sd);
    check_near(now, 10, 5 * now_sd + 0.5);
    assert_true(now != value[0]);
    check_covariance(f);
  }
}

// ---- elements that change

static void test_known_elements_change(void** state) {
  (void)state;
  const yoke_unknown heat = walking_heat(10);
  yoke_estimate_setup setup = circuit_setup(&heat, 1);
  for (int m = YOKE_ESTIMATE_LINEAR; m <= YOKE_ESTIMATE_UNSCENTED; m++) {
    setup.method = (yoke_estimate_method)m;
    yoke_estimate* f = filter_make(&setup, &arena, &err);
    plant rc = plant_make(&rc_network, rc_g, rc_c, rc_z0, h, &arena);
    check_ok(yoke__estimate_start(f, rc_z0, rc_v));
    uint64_t seed = 8;
    run(f, &rc, 3000, &seed);
    const double g[] = {1, 0.4, 1.0 / 3}, c[] = {0.1, 0.3};
    memcpy(rc.model.g, g, sizeof g);
    memcpy(rc.model.c, c, sizeof c);
    check_ok(yoke__heat_model_update(&rc.model));
    check_ok(yoke__estimate_set_elements(f, g, c));
    run(f, &rc, 3000, &seed);
    double value, sd;
    yoke__estimate_unknown(f, 0, &value, &sd);
    check_near(value, 10, 4 * sd);
    check_near(yoke__estimate_mean(f)[0], rc.z[0], 0.5);
  }

  // the resistor that is unknown keeps its estimate
  const yoke_unknown R2 = unknown_of(YOKE_UNKNOWN_RESISTANCE, "R2", 1, 2.5, 1);
  setup = circuit_setup(&R2, 1);
  yoke_estimate* f = filter_make(&setup, &arena, &err);
  check_ok(yoke__estimate_start(f, NULL, rc_v));
  check_near(yoke__estimate_mean(f)[0], 300 + 10 * (2.5 + 3), 1e-9);
  check_ok(yoke__estimate_set_elements(f, rc_g, rc_c));
  check_near(filter_value(f, 0), 2.5, 0);
  check_near(yoke__estimate_mean(f)[2], 0, 1e-9);
  const double no_g[] = {0, 0.5, 0.3};
  assert_int_equal(yoke__estimate_set_elements(f, no_g, rc_c), YOKE_DIVERGED);
  assert_int_equal(yoke__estimate_state_of(f), YOKE_ESTIMATE_DIVERGED);
}

// ---- a copy continues as the original

static void test_saved_state(void** state) {
  (void)state;
  const yoke_unknown of_heat[] = {walking_heat(9), unknown_of(YOKE_UNKNOWN_OFFSET, "o", 1, 0, 1)};
  const yoke_unknown of_all[] = {walking_heat(9),
                                 unknown_of(YOKE_UNKNOWN_CONDUCTANCE, "R2", 1, 1.8, 0.5),
                                 unknown_of(YOKE_UNKNOWN_CAPACITY, "C2", 1, 0.25, 0.1)};
  for (int m = YOKE_ESTIMATE_LINEAR; m <= YOKE_ESTIMATE_UNSCENTED; m++) {
    const bool is_linear = m == YOKE_ESTIMATE_LINEAR;
    yoke_estimate_setup setup = circuit_setup(is_linear ? of_heat : of_all, is_linear ? 2 : 3);
    setup.method = (yoke_estimate_method)m;
    yoke_estimate* f = filter_make(&setup, &arena, &err);
    yoke_estimate* other = filter_make(&setup, &arena, &err);
    plant rc = plant_make(&rc_network, rc_g, rc_c, rc_z0, h, &arena);
    check_ok(yoke__estimate_start(f, rc_z0, rc_v));
    uint64_t seed = 9;
    run(f, &rc, 100, &seed);
    yoke__estimate_freeze(f, 1, true);
    const size_t size = yoke__estimate_image_size(f);
    void *image = malloc(size), *end = malloc(size), *again = malloc(size);
    yoke__estimate_save(f, image);
    plant rc_then = rc;
    uint64_t seed_then = seed;
    run(f, &rc, 100, &seed);
    yoke__estimate_save(f, end);

    // the same one, and another one that never ran
    yoke_estimate* copies[] = {f, other};
    for (int c = 0; c < 2; c++) {
      yoke__estimate_restore(copies[c], image);
      plant rc_now = rc_then;
      uint64_t seed_now = seed_then;
      run(copies[c], &rc_now, 100, &seed_now);
      yoke__estimate_save(copies[c], again);
      assert_memory_equal(end, again, size);
    }
    free(image);
    free(end);
    free(again);
  }
}

// ---- refusals

static void check_refused(const yoke_estimate_setup* setup, const char* what) {
  yoke_estimate* f = NULL;
  err.text[0] = '\0';
  assert_true(yoke__estimate_prepare(setup, &arena, &f, &err.sink) < 0);
  check_contains(err.text, what);
}

static void check_unknown_refused(yoke_unknown unknown, const char* what) {
  const yoke_estimate_setup setup = circuit_setup(&unknown, 1);
  check_refused(&setup, what);
}

static void test_refusals(void** state) {
  (void)state;
  yoke_unknown u = unknown_of(YOKE_UNKNOWN_RESISTANCE, "R1", 0, 1, 1);
  yoke_estimate_setup setup = circuit_setup(&u, 1);
  setup.method = YOKE_ESTIMATE_LINEAR;
  check_refused(&setup, "unknown 'R1': the linear filter finds no resistances");
  setup.method = YOKE_ESTIMATE_AUTO;
  setup.rate_walk = 0;
  check_refused(&setup, "rate_walk");
  setup = circuit_setup(&u, 1);
  setup.h = 0;
  check_refused(&setup, "'step': must be positive");
  setup = circuit_setup(&u, 1);
  setup.gate = -1;
  check_refused(&setup, "gate");
  static const yoke_sensor wrong = {"far", {YOKE_ROW_TEMPERATURE, 9, 0}, 0.5};
  static const yoke_sensor silent = {"silent", {YOKE_ROW_TEMPERATURE, 0, 0}, 0};
  setup = circuit_setup(&u, 1);
  setup.n_sensors = 1;
  setup.sensors = &wrong;
  check_refused(&setup, "sensor 'far': what it measures does not exist");
  setup.sensors = &silent;
  check_refused(&setup, "sensor 'silent': its standard deviation must be positive");

  yoke_unknown bad = u;
  bad.start = -1;
  check_unknown_refused(bad, "its start must be finite");
  bad = u;
  bad.lower = 2;
  check_unknown_refused(bad, "between its bounds");
  bad = u;
  bad.sd = (double)NAN;
  check_unknown_refused(bad, "its standard deviation");
  bad = u;
  bad.n_targets = 12;
  check_unknown_refused(bad, "what it belongs to does not exist");
  bad = u;
  bad.n_targets = 0;
  check_unknown_refused(bad, "there is nothing that it belongs to");
  static const double factors[] = {-1};
  bad = u;
  bad.factors = factors;
  check_unknown_refused(bad, "its factors");
  const yoke_unknown twice[] = {u, unknown_of(YOKE_UNKNOWN_CONDUCTANCE, "again", 0, 1, 1)};
  setup = circuit_setup(twice, 2);
  check_refused(&setup, "unknown 'again': what it belongs to is another unknown already");

  // a guess that makes the network impossible, and one that is only risky
  const double no_g[] = {0, 0.5, 0.3};
  setup = circuit_setup(&u, 0);
  setup.g = no_g;
  check_refused(&setup, "node '1' floats");
  setup = circuit_setup(&u, 1);
  setup.method = YOKE_ESTIMATE_EXTENDED;
  yoke_estimate* f = NULL;
  check_ok(yoke__estimate_prepare(&setup, &arena, &f, &err.sink));
  check_contains(err.text, "only from good guesses");
}

// ---- time and heap

// Best of five times 5 s of it, in ms; no heap in the steps.
static double time_of(yoke_estimate* f, const double z0[], const double v[], const double y[]) {
  double best = (double)INFINITY;
  for (int batch = 0; batch < 5; batch++) {
    check_ok(yoke__estimate_start(f, z0, v));
    const long before = atomic_load(&n_heap_calls);
    const int64_t start = yoke__os_now_ns();
    for (int k = 0; k < 5000; k++) {
      check_ok(yoke__estimate_correct(f, v, y, NULL));
      check_ok(yoke__estimate_predict(f, v, NULL));
    }
    best = fmin(best, 1e-6 * (double)(yoke__os_now_ns() - start));
    assert_int_equal(atomic_load(&n_heap_calls), before);
  }
  return best;
}

static void test_no_heap_in_the_step_E_19(void** state) {
  (void)state;
  check_heap_is_counted();
  static const char* const names[] = {"linear", "derivative", "extended", "unscented"};
  const yoke_unknown heat = walking_heat(10);
  const yoke_unknown R[] = {unknown_of(YOKE_UNKNOWN_RESISTANCE, "R1", 0, 1, 0.1),
                            unknown_of(YOKE_UNKNOWN_RESISTANCE, "R2", 1, 2, 0.1),
                            unknown_of(YOKE_UNKNOWN_RESISTANCE, "R3", 2, 3, 0.1)};
  double g[12], c[5];
  inverter_elements(&inverter_tuned, g, c);
  yoke_unknown heats[3];
  for (uint32_t i = 0; i < 3; i++) {
    heats[i] = unknown_of(YOKE_UNKNOWN_INPUT, "Q", 2 * i, 208, 10);
    heats[i].n_targets = 2;
    heats[i].walk = walk_of(100, h);
  }
  const yoke_sensor copper[] = {sensor_of("S1", 6, 0.5), sensor_of("S2", 7, 0.5),
                                sensor_of("S3", 8, 0.5)};
  static const double y_rc[] = {360, 350, 330}, y_inverter[] = {379, 379, 379};
  for (int m = YOKE_ESTIMATE_LINEAR; m <= YOKE_ESTIMATE_UNSCENTED; m++) {
    double times[3] = {0};
    yoke_estimate_setup setup = circuit_setup(&heat, 1);
    setup.sensors = sensors + 1;
    setup.n_sensors = 2;
    setup.method = (yoke_estimate_method)m;
    times[0] = time_of(filter_make(&setup, &arena, &err), NULL, rc_v, y_rc + 1);
    if (m != YOKE_ESTIMATE_LINEAR) {
      setup = circuit_setup(R, 3);
      setup.method = (yoke_estimate_method)m;
      times[1] = time_of(filter_make(&setup, &arena, &err), NULL, rc_v, y_rc);
    }
    setup = circuit_setup(heats, 3);
    setup.network = &inverter_network;
    setup.g = g;
    setup.c = c;
    setup.sensors = copper;
    setup.n_outputs = 0;
    setup.method = (yoke_estimate_method)m;
    times[2] = time_of(filter_make(&setup, &arena, &err), NULL, inverter_v, y_inverter);
    print_message("%-10s 5 s of 1 ms: scenario 4 %.1f ms, scenario 1 %.1f ms, inverter %.1f ms\n",
                  names[m - YOKE_ESTIMATE_LINEAR], times[0], times[1], times[2]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_outputs, close_arena),
      cmocka_unit_test_teardown(test_offset_and_imposed_temperature, close_arena),
      cmocka_unit_test_teardown(test_good_guesses, close_arena),
      cmocka_unit_test_teardown(test_conductance_in_its_unit, close_arena),
      cmocka_unit_test_teardown(test_missing_readings, close_arena),
      cmocka_unit_test_teardown(test_gate, close_arena),
      cmocka_unit_test_teardown(test_inputs_that_are_not_finite, close_arena),
      cmocka_unit_test_teardown(test_bounds, close_arena),
      cmocka_unit_test_teardown(test_freeze, close_arena),
      cmocka_unit_test_teardown(test_known_elements_change, close_arena),
      cmocka_unit_test_teardown(test_saved_state, close_arena),
      cmocka_unit_test_teardown(test_refusals, close_arena),
      cmocka_unit_test_teardown(test_no_heap_in_the_step_E_19, close_arena),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
