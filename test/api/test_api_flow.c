// Flows through the public interface: the golden RC pulse of the trust specification, 6.4 (TR-15, TR-16), with and without
// companions, by circuits in this process and apart; states that are saved in between.
#include <stdlib.h>
#include <string.h>

#include "api/api_helper.h"

// 6.4: sent, arrived [J], temperature at 2 s [K]
#define GOLDEN_SENT      1.97329
#define GOLDEN_ARRIVED   1.96343
#define GOLDEN_MEAN      305.587043
#define GOLDEN_SAMPLE    293.155647
#define GOLDEN_RISE      (GOLDEN_MEAN - 293.15)
#define GOLDEN_LOST      0.9995
#define GOLDEN_SAMPLED_J 0.000891405

static yoke_system* load(const char* file, const char* const sets[], size_t n_sets) {
  char path[1024];
  snprintf(path, sizeof path, "%s/scenarios/pulsed-heater/%s.yaml", getenv("YOKE_SOURCE_DIR"),
           file);
  const yoke_load_settings settings = {.sets = sets, .n_sets = n_sets};
  yoke_system* system = NULL;
  check_ok(yoke_system_load(path, &settings, &system));
  return system;
}

static double temperature(yoke_simulation* simulation) {
  yoke_handle handle;
  double value = 0;
  check_ok(yoke_simulation_find(simulation, "body.temperature", &handle));
  check_ok(yoke_simulation_read(simulation, handle, &value));
  return value;
}

static yoke_flow_trust flow_of(yoke_simulation* simulation) {
  yoke_flow_trust flow;
  check_ok(yoke_simulation_get_flow(simulation, 0, &flow));
  assert_string_equal(flow.from, "heater.heat");
  assert_string_equal(flow.to, "body.q");
  assert_string_equal(flow.dim, "J");
  return flow;
}

// within 1 %, which is what the solver's steps of 10 us cost at the edges
static void check_averaged(yoke_simulation* simulation) {
  const yoke_flow_trust flow = flow_of(simulation);
  check_near(temperature(simulation), GOLDEN_MEAN, 0.01 * GOLDEN_RISE);
  check_relative(flow.sent, GOLDEN_SENT, 0.01);
  check_relative(flow.arrived, GOLDEN_ARRIVED, 0.01);
  check_near(flow.balance, 0, 1e-12);
  assert_true(flow.is_averaged);
  assert_int_equal(flow.verdict, YOKE_TRUSTWORTHY);
}

static void test_TR_15_mean(void** state) {
  (void)state;
  static const char* const sets[] = {"units.heater.isolate=process"};
  static const yoke_trust_mode modes[] = {YOKE_TRUST_NONE, YOKE_TRUST_BOTH};
  for (size_t i = 0; i < 4; i++) {
    yoke_system* system = load("averaged", sets, i / 2);
    const yoke_run_settings settings = {.trust = modes[i % 2]};
    yoke_connection_view connection;
    yoke_simulation* simulation = NULL;
    yoke_run_trust trust;
    yoke_flow_trust none;
    check_ok(yoke_system_get_connection(system, 0, &connection));
    assert_true(connection.is_averaged);
    check_ok(yoke_simulation_create(system, NULL, &simulation));
    check_ok(yoke_simulation_run(simulation, &settings, NULL));
    check_ok(yoke_simulation_judge(simulation, NULL));
    check_ok(yoke_simulation_get_trust(simulation, &trust));
    check_averaged(simulation);
    assert_int_equal(yoke_simulation_get_flow(simulation, 1, &none), YOKE_BAD_ARG);
    assert_int_equal(trust.verdict, i % 2 == 0 ? YOKE_VERDICT_NONE : YOKE_TRUSTWORTHY);
    yoke_simulation_destroy(&simulation);
    yoke_system_destroy(&system);
  }
}

static void test_TR_16_samples(void** state) {
  (void)state;
  static const char* const sets[] = {"trust.status=true"};
  static const yoke_trust_mode modes[] = {YOKE_TRUST_NONE, YOKE_TRUST_HALF, YOKE_TRUST_BOTH};
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    yoke_system* system = load("sampled", sets, 1);
    yoke_simulation* simulation = NULL;
    const yoke_run_settings settings = {.trust = modes[i]};
    yoke_run_trust trust;
    yoke_signal_trust signal;
    check_ok(yoke_simulation_create(system, NULL, &simulation));
    check_ok(yoke_simulation_run(simulation, &settings, NULL));
    check_ok(yoke_simulation_judge(simulation, NULL));
    check_ok(yoke_simulation_get_trust(simulation, &trust));
    assert_int_equal(trust.verdict, YOKE_WRONG);
    assert_true(trust.is_wrong);
    assert_string_equal(trust.reason,
                        "of 1.96 J sent by heater.heat to body.q only 0.0009 J arrived "
                        "(99.95 % lost)");
    check_ok(yoke_simulation_get_signal(simulation, 0, &signal));
    assert_int_equal(signal.verdict, YOKE_WRONG);
    const yoke_flow_trust flow = flow_of(simulation);
    check_near(flow.balance, GOLDEN_LOST, 1e-4);
    check_relative(flow.arrived, GOLDEN_SAMPLED_J, 0.01);
    check_near(temperature(simulation), GOLDEN_SAMPLE, 1e-4);
    assert_false(flow.is_averaged);
    assert_int_equal(flow.verdict, YOKE_WRONG);
    yoke_simulation_destroy(&simulation);
    yoke_system_destroy(&system);
  }
}

// A saved state has the amounts and the means in it, to the last bit.
static void test_saved_states(void** state) {
  (void)state;
  yoke_system* system = load("averaged", NULL, 0);
  yoke_simulation* simulation = NULL;
  check_ok(yoke_simulation_create(system, NULL, &simulation));
  check_ok(yoke_simulation_run_to(simulation, 0.73));
  const size_t size = yoke_simulation_image_size(simulation);
  void* image = calloc(1, size);
  assert_non_null(image);
  check_ok(yoke_simulation_save(simulation, image, size));
  check_ok(yoke_simulation_run_to(simulation, 2));
  const double last = temperature(simulation);
  const yoke_flow_trust flow = flow_of(simulation);
  check_ok(yoke_simulation_restore(simulation, image, size));
  assert_true(flow_of(simulation).sent < flow.sent);
  check_ok(yoke_simulation_run_to(simulation, 2));
  check_near(temperature(simulation), last, 0);
  check_near(flow_of(simulation).sent, flow.sent, 0);
  check_near(flow_of(simulation).arrived, flow.arrived, 0);
  free(image);
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_TR_15_mean),
      cmocka_unit_test(test_TR_16_samples),
      cmocka_unit_test(test_saved_states),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
