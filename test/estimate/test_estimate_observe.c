// Reports of what the sensors can tell: E-14.
#include "base/base_message.h"
#include "estimate/estimate_observe.h"
#include "estimate_scenario.h"
#include "support/check.h"

static YOKE_CATCH(err);
static yoke_arena arena;

static int close_arena(void** state) {
  (void)state;
  yoke__arena_free(&arena);
  return 0;
}

static const double some_sd[] = {1, 1, 1, 1, 1};
static const yoke_sensor rc_sensors[] = {{"T1", {YOKE_ROW_TEMPERATURE, 0, 0}, 0.5},
                                         {"T2", {YOKE_ROW_TEMPERATURE, 1, 0}, 0.5},
                                         {"T3", {YOKE_ROW_TEMPERATURE, 2, 0}, 0.5}};
static const yoke_sensor inverter_sensors[] = {{"S1", {YOKE_ROW_TEMPERATURE, 6, 0}, 0.5},
                                               {"S2", {YOKE_ROW_TEMPERATURE, 7, 0}, 0.5},
                                               {"S3", {YOKE_ROW_TEMPERATURE, 8, 0}, 0.5},
                                               {"T11", {YOKE_ROW_TEMPERATURE, 10, 0}, 0.5},
                                               {"T12", {YOKE_ROW_TEMPERATURE, 11, 0}, 0.5}};

static yoke_estimate_setup rc_setup(size_t first_sensor, size_t n_sensors,
                                    const yoke_unknown unknowns[], size_t n_unknowns) {
  return (yoke_estimate_setup){.network = &rc_network,
                               .g = rc_g,
                               .c = rc_c,
                               .sensors = rc_sensors + first_sensor,
                               .n_sensors = n_sensors,
                               .unknowns = unknowns,
                               .n_unknowns = n_unknowns,
                               .h = 1e-3,
                               .z_sd = some_sd,
                               .rate_walk = 30};
}

static yoke_observation observe(const yoke_estimate_setup* setup, const double z[],
                                const double v[]) {
  yoke_observation o;
  if (yoke__observe(setup, z, v, &arena, &o, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  for (size_t k = 1; k < o.n; k++) {
    assert_true(o.singular[k] <= o.singular[k - 1]);
  }
  return o;
}

// Capacities show in transients only.
static void test_capacities_E_14(void** state) {
  (void)state;
  const yoke_unknown unknowns[] = {unknown_of(YOKE_UNKNOWN_CAPACITY, "C1", 0, 0.1, 0.1),
                                   unknown_of(YOKE_UNKNOWN_CAPACITY, "C2", 1, 0.2, 0.2)};
  const yoke_estimate_setup setup = rc_setup(1, 2, unknowns, 2);
  const yoke_observation rest = observe(&setup, NULL, rc_v);
  assert_int_equal(rest.n, 4);
  assert_int_equal(rest.rank, 2);
  assert_true(rest.is_seen[0] && rest.is_seen[1] && !rest.is_seen[2] && !rest.is_seen[3]);
  size_t parts[4];
  for (size_t k = 2; k < 4; k++) {
    const size_t n = yoke__observation_parts(&rest, k, parts, 4);
    for (size_t i = 0; i < n; i++) {
      assert_true(parts[i] >= 2);
    }
  }

  const yoke_observation moving = observe(&setup, rc_z0, rc_v);
  assert_int_equal(moving.rank, 4);
  assert_int_equal(moving.n_weak, 0);
  assert_true(moving.is_seen[2] && moving.is_seen[3]);
}

// R1 shows at node 1 only.
static void test_hidden_resistor(void** state) {
  (void)state;
  const yoke_unknown unknowns[] = {unknown_of(YOKE_UNKNOWN_RESISTANCE, "R1", 0, 1, 1),
                                   unknown_of(YOKE_UNKNOWN_RESISTANCE, "R2", 1, 2, 2),
                                   unknown_of(YOKE_UNKNOWN_CONDUCTANCE, "R3", 2, 3, 3)};
  const yoke_estimate_setup without = rc_setup(1, 2, unknowns, 3);
  const yoke_observation o = observe(&without, NULL, rc_v);
  assert_int_equal(o.n, 5);
  assert_int_equal(o.rank, 4);
  assert_true(!o.is_seen[2] && o.is_seen[3] && o.is_seen[4]);

  // and with it the temperature of node 1
  assert_true(!o.is_node_seen[0] && o.is_node_seen[1] && o.is_node_seen[2] && o.is_node_seen[3]);
  size_t parts[5];
  assert_int_equal(yoke__observation_parts(&o, 4, parts, 5), 1);
  assert_int_equal(parts[0], 2);

  const yoke_estimate_setup with = rc_setup(0, 3, unknowns, 3);
  const yoke_observation all = observe(&with, NULL, rc_v);
  assert_int_equal(all.rank, 5);
  assert_true(all.is_node_seen[0]);
}

// Heats of three branches, of all at once, and the coolant beside them, which shows as a common heat does.
static void test_heat_and_coolant_E_14(void** state) {
  (void)state;
  double g[12], c[5];
  inverter_elements(&inverter_tuned, g, c);
  yoke_unknown unknowns[4];
  for (uint32_t i = 0; i < 3; i++) {
    unknowns[i] = unknown_of(YOKE_UNKNOWN_INPUT, "Q", 2 * i, 208, 10);
    unknowns[i].n_targets = 2;
  }
  unknowns[3] = unknown_of(YOKE_UNKNOWN_INPUT, "T_refrigerant", 6, 343.15, 10);
  yoke_estimate_setup setup = {.network = &inverter_network,
                               .g = g,
                               .c = c,
                               .sensors = inverter_sensors,
                               .n_sensors = 3,
                               .unknowns = unknowns,
                               .n_unknowns = 3,
                               .h = 1e-3,
                               .z_sd = some_sd};
  yoke_observation o = observe(&setup, NULL, inverter_v);
  assert_int_equal(o.n, 8);
  assert_int_equal(o.rank, 8);
  assert_int_equal(o.constant_size, 8);
  assert_int_equal(o.constant_rank, 8);

  setup.n_unknowns = 4;
  o = observe(&setup, NULL, inverter_v);
  assert_int_equal(o.n, 9);
  assert_int_equal(o.constant_size, 9);
  assert_int_equal(o.constant_rank, 8);
  assert_int_equal(o.rank, 8);
  assert_true(!o.is_seen[8] && o.is_seen[0]);

  // one heat for all
  yoke_unknown one[2] = {unknowns[0], unknowns[3]};
  one[0].n_targets = 6;
  setup.unknowns = one;
  setup.n_unknowns = 1;
  o = observe(&setup, NULL, inverter_v);
  assert_int_equal(o.n, 6);
  assert_int_equal(o.rank, 6);
  assert_int_equal(o.constant_rank, 6);
  setup.n_unknowns = 2;
  o = observe(&setup, NULL, inverter_v);
  assert_int_equal(o.n, 7);
  assert_int_equal(o.rank, 6);
  assert_int_equal(o.constant_rank, 6);
}

// R_die and R_sp do not show at nodes 7, 11, 12 beside the three that do.
static void test_inverter_resistances(void** state) {
  (void)state;
  double g[12], c[5];
  inverter_elements(&inverter_guess, g, c);
  const yoke_sensor sensors[] = {inverter_sensors[0], inverter_sensors[3], inverter_sensors[4]};
  yoke_unknown unknowns[5] = {
      unknown_of(YOKE_UNKNOWN_RESISTANCE, "R_dbc", 6, inverter_guess.dbc, 1),
      unknown_of(YOKE_UNKNOWN_RESISTANCE, "R_hs", 10, inverter_guess.hs, 1),
      unknown_of(YOKE_UNKNOWN_RESISTANCE, "R_w", 11, inverter_guess.w, 1),
      unknown_of(YOKE_UNKNOWN_RESISTANCE, "R_sp", 9, inverter_guess.sp, 1),
      unknown_of(YOKE_UNKNOWN_RESISTANCE, "R_die", 0, inverter_guess.die, 1)};
  unknowns[0].n_targets = 3;
  unknowns[4].n_targets = 6;
  yoke_estimate_setup setup = {.network = &inverter_network,
                               .g = g,
                               .c = c,
                               .sensors = sensors,
                               .n_sensors = 3,
                               .unknowns = unknowns,
                               .n_unknowns = 3,
                               .h = 1e-3,
                               .z_sd = some_sd,
                               .rate_walk = 30};
  yoke_observation o = observe(&setup, NULL, inverter_v);
  assert_true(o.is_seen[5] && o.is_seen[6] && o.is_seen[7]);

  // how far the second and third branch are apart shows nowhere
  assert_int_equal(o.rank, 7);
  size_t parts[10];
  assert_int_equal(yoke__observation_parts(&o, 7, parts, 10), 2);
  assert_int_equal(parts[0] + parts[1], 1 + 2);

  // R_die shows nowhere at all; R_sp cannot be told from R_dbc
  setup.n_unknowns = 5;
  o = observe(&setup, NULL, inverter_v);
  assert_int_equal(o.rank, 7);
  assert_true(!o.is_seen[5] && o.is_seen[6] && o.is_seen[7] && !o.is_seen[8] && !o.is_seen[9]);
}

// A resistance and a capacity of one node differ while temperatures move; beside heat that walks they do not.
static void test_resistance_and_capacity(void** state) {
  (void)state;
  const yoke_unknown unknowns[] = {unknown_of(YOKE_UNKNOWN_RESISTANCE, "R3", 2, 3, 3),
                                   unknown_of(YOKE_UNKNOWN_CAPACITY, "C2", 1, 0.2, 0.2),
                                   unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 10, 5)};
  yoke_estimate_setup setup = rc_setup(2, 1, unknowns, 2);
  yoke_observation o = observe(&setup, rc_z0, rc_v);
  assert_int_equal(o.rank, 4);
  assert_int_equal(o.n_weak, 0);

  // central differences of the closed solution at the same instants
  static const double differences[] = {1, 0.2433402409, 0.0417911495, 0.0044649933};
  for (size_t k = 0; k < 4; k++) {
    check_near(o.singular[k], differences[k], 1e-7);
  }
  o = observe(&setup, NULL, rc_v);
  assert_int_equal(o.rank, 3);

  // a capacity that is hidden behind a resistance, too
  const yoke_unknown hidden[] = {unknown_of(YOKE_UNKNOWN_RESISTANCE, "R2", 1, 2, 2),
                                 unknown_of(YOKE_UNKNOWN_CAPACITY, "C1", 0, 0.1, 0.1)};
  yoke_estimate_setup behind = rc_setup(2, 1, hidden, 2);
  assert_int_equal(observe(&behind, rc_z0, rc_v).rank, 4);

  // heat that is constant leaves them apart, and heat that walks does not
  setup.n_unknowns = 3;
  setup.unknowns = unknowns;
  assert_int_equal(observe(&setup, rc_z0, rc_v).rank, 5);
  yoke_unknown walking[3] = {unknowns[0], unknowns[1], unknowns[2]};
  walking[2].walk = 1;
  setup.unknowns = walking;
  assert_true(observe(&setup, rc_z0, rc_v).rank < 5);
}

// Two rooms without connection, one sensor.
static void test_node_apart(void** state) {
  (void)state;
  static const yoke_heat_node nodes[] = {{"a", FREE_NODE}, {"b", FREE_NODE}, {"air", 0}};
  static const yoke_heat_resistor resistors[] = {{"Ra", 0, 2}, {"Rb", 1, 2}};
  static const yoke_heat_capacity capacities[] = {{"Ca", 0}, {"Cb", 1}};
  static const char* const inputs[] = {"air"};
  static const yoke_heat_network network = {nodes, resistors, capacities, NULL, inputs,
                                            3,     2,         2,          0,    1};
  static const double g[] = {1, 2}, c[] = {3, 4}, v[] = {290};
  static const yoke_sensor sensor = {"Ta", {YOKE_ROW_TEMPERATURE, 0, 0}, 0.1};
  yoke_estimate_setup setup = {.network = &network,
                               .g = g,
                               .c = c,
                               .sensors = &sensor,
                               .n_sensors = 1,
                               .h = 1,
                               .z_sd = some_sd};
  yoke_observation o = observe(&setup, NULL, v);
  assert_int_equal(o.rank, 1);
  assert_true(o.is_node_seen[0] && !o.is_node_seen[1] && o.is_node_seen[2]);
  size_t parts[2];
  assert_int_equal(yoke__observation_parts(&o, 1, parts, 2), 1);
  assert_int_equal(parts[0], 1);

  setup.n_sensors = 0;
  o = observe(&setup, NULL, v);
  assert_int_equal(o.rank, 0);
  assert_true(!o.is_node_seen[0] && o.is_node_seen[2]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_capacities_E_14, close_arena),
      cmocka_unit_test_teardown(test_hidden_resistor, close_arena),
      cmocka_unit_test_teardown(test_heat_and_coolant_E_14, close_arena),
      cmocka_unit_test_teardown(test_inverter_resistances, close_arena),
      cmocka_unit_test_teardown(test_resistance_and_capacity, close_arena),
      cmocka_unit_test_teardown(test_node_apart, close_arena),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
