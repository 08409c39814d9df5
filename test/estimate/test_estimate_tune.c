// Parameters from a record by passes of the filter (E-07, E-15, E-16), and the same from least squares.
#include "base/base_message.h"
#include "estimate/estimate_tune.h"
#include "estimate_benchmarks.h"
#include "support/check.h"

static YOKE_CATCH(err);

#define H           1e-3
#define PER_STEP(q) sqrt((q) / H)  // walk of a variance q per step

enum { N = 5001, MOST = 3 };
static double inputs[N * 8], readings[N * MOST];
static const double ones[] = {1, 1, 1};

// Readings of a known network with noise of 0.5 K at the sensors of the setup.
static void simulate(const yoke_estimate_setup* setup, const double g[], const double c[],
                     const yoke_estimate_record* record, uint64_t seed) {
  static double residuals[N * MOST];
  yoke_estimate_setup known = *setup;
  yoke_arena arena = {0};
  yoke_heat_run* run;
  yoke_estimate_record whole = *record;
  known.g = g;
  known.c = c;
  known.n_unknowns = 0;
  whole.first = whole.end = 0;
  for (size_t i = 0; i < (size_t)N * MOST; i++) {
    readings[i] = 0;
  }
  check_ok(yoke__heat_run_prepare(&known, &whole, &arena, &run, &err.sink));
  check_ok(yoke__heat_run(run, NULL, residuals, NULL));
  for (size_t i = 0; i < record->n * setup->n_sensors; i++) {
    readings[i] = 0.5 * (random_normal(&seed) - residuals[i]);
  }
  yoke__arena_free(&arena);
}

static yoke_unknown unknown_of(yoke_unknown_kind kind, const char* name, const uint32_t targets[],
                               size_t n, double start, double variance) {
  return (yoke_unknown){.kind = kind,
                        .name = name,
                        .targets = targets,
                        .factors = ones,
                        .n_targets = n,
                        .start = start,
                        .sd = sqrt(variance),
                        .lower = -(double)INFINITY,
                        .upper = (double)INFINITY};
}

static void repeat_inputs(const double v[], size_t r) {
  for (size_t i = 0; i < N * r; i++) {
    inputs[i] = v[i % r];
  }
}

// E-07: capacities of the circuit from 1 and 10 J/K (true: 0.1, 0.2); 10 to 14 passes, within 1.5 %
static void test_scenario_2_E_07(void** state) {
  (void)state;
  static const uint32_t c1[] = {0}, c2[] = {1};
  static const double z_sd[] = {0.1, 0.1};
  static const yoke_sensor sensors[] = {{"T2", {YOKE_ROW_TEMPERATURE, 1, 0}, 0.5},
                                        {"T3", {YOKE_ROW_TEMPERATURE, 2, 0}, 0.5}};
  const yoke_unknown unknowns[] = {unknown_of(YOKE_UNKNOWN_CAPACITY, "C1", c1, 1, 1, 10),
                                   unknown_of(YOKE_UNKNOWN_CAPACITY, "C2", c2, 1, 10, 10)};
  const yoke_estimate_setup setup = {.network = &rc_network,
                                     .g = rc_g,
                                     .c = rc_c,
                                     .sensors = sensors,
                                     .n_sensors = 2,
                                     .unknowns = unknowns,
                                     .n_unknowns = 2,
                                     .h = H,
                                     .z_sd = z_sd,
                                     .rate_sd = 0.1,
                                     .rate_walk = PER_STEP(1)};
  const yoke_estimate_record record = {.n = N, .v = inputs, .readings = readings, .z = rc_z0};
  const yoke_tune_settings settings = yoke__tune_default();
  size_t least = SIZE_MAX, most = 0;
  repeat_inputs(rc_v, 2);
  for (uint64_t seed = 1; seed <= 20; seed++) {
    double values[2], sd[2];
    yoke_tune_result result = {.values = values, .sd = sd};
    simulate(&setup, rc_g, rc_c, &record, seed);
    check_ok(yoke__tune(&setup, &record, &settings, &result, &err.sink));
    least = result.n_passes < least ? result.n_passes : least;
    most = result.n_passes > most ? result.n_passes : most;
    check_relative(values[0], 0.1, 0.015);
    check_relative(values[1], 0.2, 0.015);
  }
  print_message("passes: %zu to %zu\n", least, most);
  assert_true(least >= 10 && most <= 14);
}

// ---- the inverter

static const uint32_t dbc[] = {6, 7, 8}, hs[] = {10}, w[] = {11}, c_dbc[] = {0, 1, 2}, c_hs[] = {3},
                      c_w[] = {4};
static const double inverter_z0[] = {343.15, 343.15, 343.15, 343.15, 343.15};
static const double inverter_sd[] = {1, 1, 1, 1, 1};
static const yoke_sensor inverter_sensors[] = {{"S1", {YOKE_ROW_TEMPERATURE, 6, 0}, 0.5},
                                               {"T11", {YOKE_ROW_TEMPERATURE, 10, 0}, 0.5},
                                               {"T12", {YOKE_ROW_TEMPERATURE, 11, 0}, 0.5}};

static yoke_estimate_setup inverter_setup(const double g[], const double c[],
                                          const yoke_unknown unknowns[]) {
  return (yoke_estimate_setup){.network = &inverter_network,
                               .g = g,
                               .c = c,
                               .sensors = inverter_sensors,
                               .n_sensors = 3,
                               .unknowns = unknowns,
                               .n_unknowns = 3,
                               .h = H,
                               .z_sd = inverter_sd,
                               .rate_sd = 1,
                               .rate_walk = PER_STEP(1)};
}

// E-15: resistances from steady readings, from the first guesses and from every start of the bounds table
static void test_inverter_resistances_E_15(void** state) {
  (void)state;
  static const double starts[][3] = {
      {11.68, 5.457, 10.91}, {584, 5.457, 10.91}, {0.01, 5.457, 10.91},
      {11.68, 273, 10.91},   {11.68, 0.1, 10.91}, {11.68, 5.457, 545},
      {11.68, 5.457, 0.3},   {584, 273, 545},     {0.01, 0.1, 0.3}};
  double g[12], c[5], g_plant[12], c_plant[5];
  inverter_elements(&inverter_plant, g_plant, c_plant);
  inverter_elements(&inverter_tuned, g, c);
  const yoke_estimate_record record = {
      .n = N, .v = inputs, .readings = readings, .z = inverter_z0, .first = 4000};
  const yoke_tune_settings settings = yoke__tune_default();
  repeat_inputs(inverter_v, 8);
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    const yoke_unknown unknowns[] = {
        unknown_of(YOKE_UNKNOWN_RESISTANCE, "r_dbc", dbc, 3, starts[i][0] * 1e-3, 10),
        unknown_of(YOKE_UNKNOWN_RESISTANCE, "r_hs", hs, 1, starts[i][1] * 1e-3, 10),
        unknown_of(YOKE_UNKNOWN_RESISTANCE, "r_w", w, 1, starts[i][2] * 1e-3, 10)};
    const yoke_estimate_setup setup = inverter_setup(g, c, unknowns);
    double values[3], sd[3];
    yoke_tune_result result = {.values = values, .sd = sd};
    simulate(&setup, g_plant, c_plant, &record, 100 + i);
    check_ok(yoke__tune(&setup, &record, &settings, &result, &err.sink));
    print_message("%g %g %g mK/W: %zu passes, %.3f %.3f %.4f mK/W\n", starts[i][0], starts[i][1],
                  starts[i][2], result.n_passes, 1e3 * values[0], 1e3 * values[1], 1e3 * values[2]);
    assert_true(result.n_passes <= 8);
    check_near(values[0], 30.14e-3, 0.2e-3);
    check_near(values[1], 12.75e-3, 0.15e-3);
    check_near(values[2], 1.72e-3, 0.12e-3);
  }
}

// E-16: capacities jointly from the first three seconds, with the tuned resistances
static void test_inverter_capacities_E_16(void** state) {
  (void)state;
  double g[12], c[5], g_plant[12], c_plant[5];
  inverter_elements(&inverter_plant, g_plant, c_plant);
  inverter_elements(&inverter_tuned, g, c);
  const yoke_estimate_record record = {
      .n = 3001, .v = inputs, .readings = readings, .z = inverter_z0};
  const yoke_tune_settings settings = yoke__tune_default();
  repeat_inputs(inverter_v, 8);
  for (uint64_t seed = 1; seed <= 4; seed++) {
    const yoke_unknown unknowns[] = {
        unknown_of(YOKE_UNKNOWN_CAPACITY, "c_dbc", c_dbc, 3, 1.32, 1.7),
        unknown_of(YOKE_UNKNOWN_CAPACITY, "c_hs", c_hs, 1, 14.97, 224),
        unknown_of(YOKE_UNKNOWN_CAPACITY, "c_w", c_w, 1, 29.94, 896)};
    const yoke_estimate_setup setup = inverter_setup(g, c, unknowns);
    double values[3], sd[3];
    yoke_tune_result result = {.values = values, .sd = sd};
    simulate(&setup, g_plant, c_plant, &record, 200 + seed);
    check_ok(yoke__tune(&setup, &record, &settings, &result, &err.sink));
    print_message("%zu passes: %.3f %.2f %.1f J/K\n", result.n_passes, values[0], values[1],
                  values[2]);
    check_near(values[0], 1.27, 0.09);
    check_near(values[1], 30.8, 0.7);
    check_near(values[2], 115, 20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scenario_2_E_07),
      cmocka_unit_test(test_inverter_resistances_E_15),
      cmocka_unit_test(test_inverter_capacities_E_16),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
