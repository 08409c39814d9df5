// Twins as FMU 2.0 and 3.0 against the unit they come from: scenario 4 of the circuit gives the same estimates, bit by bit, and so do
// twins with unknown elements, offsets and bounds; states go out and come back; readings that are missing; what is refused.
#include "exported_netlist.h"

// ---- the plant of scenario 4: heat that oscillates, and noise

// SplitMix64, and normal numbers by Box and Muller.
static double uniform(uint64_t* seed) {
  uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

static double normal(uint64_t* seed) {
  const double u = 1.0 - uniform(seed), angle = 6.283185307179586 * uniform(seed);
  return sqrt(-2.0 * log(u)) * cos(angle);
}

// C1 T2' = Q0 - (T2 - T3) / R2 and C2 T3' = (T2 - T3) / R2 - (T3 - 300) / R3, by steps of a hundredth.
static void step_plant(double z[2], double t, double h) {
  for (int i = 0; i < 100; i++) {
    const double heat = 10 * (1 + sin(31.41592653589793 * (t + i * h / 100)));
    const double through = (z[0] - z[1]) / 2;
    z[0] += h / 100 * (heat - through) / 0.1;
    z[1] += h / 100 * (through - (z[1] - 300) / 3) / 0.2;
  }
}

static size_t find(const yoke_unit* unit, const char* name) {
  const size_t at = yoke__unit_find(unit, name);
  if (at == (size_t)-1) {
    fail_msg("the twin has no '%s'", name);
  }
  return at;
}

static void set_both(const yoke_unit* unit, fmu_instance* f, const char* name, double value) {
  const size_t at = find(unit, name);
  check_ok(yoke__unit_set(unit, at, &value, sizeof value));
  assert_int_equal(fmu_set(f, at, &value), FMU_OK);
}

static const char settings_4[] =
    ", sensors: {t(n2): {sigma: 0.5}, t(n3): {sigma: 0.5}}, "
    "unknown: {q0: {start: 10, sd: 3.16, walk: 44.7}}, noise: {start: 0.1}";

static void scenario_4(int fmi, int n_steps) {
  const double h = 1e-3;
  char path[4000];
  exported e;
  fmu_instance f;
  open_netlist(&e, "twin", scenario_path("twin-circuit/circuit.cir", path, sizeof path), settings_4,
               h, fmi);
  const yoke_unit* unit = e.unit;
  YOKE_CATCH(err);
  fmu_open(&f, &e);
  double z[] = {299, 301}, sum = 0.0;
  uint64_t seed = 1;
  check_ok(yoke__unit_enter_init(unit, 0.0, (double)INFINITY, &err.sink));
  assert_int_equal(fmu_enter(&f, 0.0), FMU_OK);
  check_ok(yoke__unit_exit_init(unit));
  assert_int_equal(fmu_exit(&f), FMU_OK);
  compare(unit, &f, path, -1);
  for (int k = 0; k < n_steps; k++) {
    yoke_step_result result = {.t_reached = (k + 1) * h};
    set_both(unit, &f, "sensor.t(n2)", z[0] + 0.5 * normal(&seed));
    // a reading that is no number is missing
    const double noise = 0.5 * normal(&seed);
    set_both(unit, &f, "sensor.t(n3)", k % 100 == 7 ? (double)NAN : z[1] + noise);
    check_ok(unit->ops->step(unit->self, k * h, h, &result));
    assert_int_equal(fmu_step(&f, k * h, h), FMU_OK);
    compare(unit, &f, path, k);
    step_plant(z, k * h, h);
    double estimate = 0.0;
    check_ok(yoke__unit_get(unit, find(unit, "t(n2)"), &estimate, sizeof estimate));
    sum += k * h > 0.5 ? (estimate - z[0]) * (estimate - z[0]) : 0.0;
  }
  if (n_steps == 5000) {
    check_between(sqrt(sum / 4500), 0, 0.24);
  }
  assert_int_equal(f.n_messages, 0);
  fmu_close(&f);
  exported_close(&e);
}

static void test_scenario_4_fmi2_E_09(void** state) {
  (void)state;
  scenario_4(2, 5000);
}

static void test_scenario_4_fmi3_E_09(void** state) {
  (void)state;
  scenario_4(3, 5000);
}

// ---- other twins, and states

static void check_twin(const char* name, const char* settings, double h, int fmi) {
  char path[4000];
  exported e;
  fmu_instance f, other;
  open_netlist(&e, "twin", scenario_path(name, path, sizeof path), settings, h, fmi);
  const yoke_unit* unit = e.unit;
  fmu_open(&f, &e);
  fmu_open(&other, &e);
  start(unit, &f, name);
  start(NULL, &other, name);
  run(unit, &f, name, h, 0, SAVE_AT, true);
  void* state = NULL;
  assert_int_equal(fmu_get_state(&f, &state), FMU_OK);
  run(unit, &f, name, h, SAVE_AT, N_STEPS - SAVE_AT, true);
  repeat(&f, &other, name, h, state);
  assert_int_equal(fmu_free_state(&f, &state), FMU_OK);
  assert_int_equal(fmu_terminate(&f), FMU_OK);
  fmu_close(&f);
  fmu_close(&other);
  exported_close(&e);
}

static void all_twins(int fmi) {
  static const char circuit[] = "twin-circuit/circuit.cir";
  check_twin(circuit, settings_4, 1e-3, fmi);
  check_twin(circuit,
             ", sensors: {t(n1): {sigma: 0.5}, t(n2): {}, t(n3): {sigma: 0.2}}, unknown: "
             "{R1: {start: 3, bounds: [0.5, 20]}, R2: {start: 1, as: conductance}, "
             "offset(t(n3)): {sd: 2}}, reset: 2, late: 5e-3",
             1e-3, fmi);
  check_twin(circuit,
             ", sensors: {t(n2): {sigma: 0.5}, i(r3): {sigma: 0.1}}, unknown: {C1: {start: 0.5}}, "
             "filter: unscented, noise: {walk: 0.1, gate: 5}, start: {t(n2): 310}",
             1e-3, fmi);
}

static void test_twins_fmi2(void** state) {
  (void)state;
  all_twins(2);
}

static void test_twins_fmi3(void** state) {
  (void)state;
  all_twins(3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scenario_4_fmi2_E_09),
      cmocka_unit_test(test_scenario_4_fmi3_E_09),
      cmocka_unit_test(test_twins_fmi2),
      cmocka_unit_test(test_twins_fmi3),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
