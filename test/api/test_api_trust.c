// Trust: verdicts of bonds, alarms, step times and health as the ledger and the methods have them.
#include "api/api_helper.h"

// %s: step, then what follows `spring`
#define OSCILLATOR                                                                                 \
  "yoke: 1\ntime: {stop: 2, step: %s}\nunits:\n"                                                   \
  "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {v: 1}}\n"               \
  "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -1}}\n"                     \
  "connections: [right.x -> left.x_other]\n"                                                       \
  "bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other%s}}\n"

static yoke_simulation* run(const yoke_sink* sink, const char* step, const char* rest) {
  char text[1024];
  snprintf(text, sizeof text, OSCILLATOR, step, rest);
  yoke_simulation* sim = api_open(NULL, sink, text);
  check_ok(yoke_simulation_run(sim, NULL, NULL));
  return sim;
}

static void test_verdicts(void** state) {
  (void)state;
  yoke_simulation *fine = run(NULL, "1e-5", ""), *coarse = run(NULL, "0.02", "");
  yoke_bond_trust f, c, total;
  check_ok(yoke_simulation_get_bond(fine, 0, &f));
  assert_string_equal(f.name, "spring");
  assert_int_equal(f.verdict, YOKE_TRUSTWORTHY);
  assert_string_equal(yoke_verdict_text(f.verdict), "trustworthy");
  assert_true(f.reason[0] != '\0' && f.n_samples >= 200000);
  assert_true(f.passed > 0 && f.energy > 0 && f.eps < 0.01);
  check_ok(yoke_simulation_get_bond(coarse, 0, &c));
  assert_int_equal(c.verdict, YOKE_WRONG);
  assert_true(c.advice[0] != '\0');
  assert_true(c.rho_mean > 10 * f.rho_mean);
  check_ok(yoke_simulation_get_bond(fine, 1, &total));
  assert_null(total.name);
  check_relative(total.passed, f.passed, 1e-12);

  yoke_step_times times;
  check_ok(yoke_simulation_get_step_times(fine, &times));
  assert_true(times.n_timed > 0 && times.median_s > 0 && times.median_s <= times.p99_s);
  assert_true(times.p99_s <= times.max_s * 1.1 && times.real_time_factor > 0);
  api_close(&fine);
  api_close(&coarse);
}

static void test_alarms(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = run(&told.sink, "0.02", ", warn: {rho: 0.01}");
  yoke_alarm_view alarm;
  check_ok(yoke_simulation_get_alarm(sim, 0, &alarm));
  assert_int_equal(alarm.bond, 0);
  assert_string_equal(alarm.indicator, "rho");
  assert_true(alarm.is_given && !alarm.is_stop);
  check_near(alarm.limit, 0.01, 0);
  assert_true(alarm.value > 0.01 && alarm.worst >= alarm.value && alarm.from >= 0);
  assert_int_equal(yoke_simulation_get_alarm(sim, SIZE_MAX, &alarm), YOKE_BAD_ARG);
  check_contains(told.text, "quality limit");
  api_close(&sim);
}

// The limit that ended a run is its failure, whoever made the steps.
static void test_stop(void** state) {
  (void)state;
  char text[1024], first[512] = "";
  snprintf(text, sizeof text, OSCILLATOR, "0.02", ", stop: {rho: 0.01}, period: 0.1");
  for (int how = 0; how < 2; how++) {
    HEAR(told);
    yoke_simulation* sim = api_open(NULL, &told.sink, text);
    yoke_status status = YOKE_OK;
    while (status == YOKE_OK) {
      status = how == 0 ? yoke_simulation_run(sim, NULL, NULL) : yoke_simulation_step(sim);
    }
    assert_int_equal(status, YOKE_STOPPED);
    const yoke_message* failure = yoke_simulation_failure(sim);
    assert_non_null(failure);
    assert_int_equal(failure->status, YOKE_STOPPED);
    check_contains(failure->text, "quality limit: ");
    check_contains(failure->hint, "try: ");
    if (how == 0) {
      snprintf(first, sizeof first, "%s", failure->text);
      check_contains(told.text, first);
    }
    assert_string_equal(failure->text, first);
    api_close(&sim);
  }
}

static void test_health(void** state) {
  (void)state;
  yoke_simulation* sim = run(NULL, "1e-3", ", coupling: {method: energy}");
  yoke_coupling_view coupling;
  double values[64];
  size_t n_with = 0;
  for (size_t i = 0; yoke_system_get_coupling(yoke_simulation_system(sim), i, &coupling) >= 0;
       i++) {
    const yoke_status status = yoke_simulation_get_health(sim, i, values, 64);
    if (coupling.ops->n_health == 0) {
      assert_int_equal(status, YOKE_NO_SUPPORT);
      continue;
    }
    check_ok(status);
    n_with++;
    for (size_t k = 0; k < coupling.ops->n_health; k++) {
      assert_true(isfinite(values[k]) && coupling.ops->health_names[k] != NULL);
    }
    assert_int_equal(yoke_simulation_get_health(sim, i, values, coupling.ops->n_health - 1),
                     YOKE_FULL);
  }
  assert_true(n_with <= 1);
  assert_int_equal(yoke_simulation_get_health(sim, SIZE_MAX, values, 64), YOKE_BAD_ARG);
  api_close(&sim);
}

static void test_bad_arguments(void** state) {
  (void)state;
  yoke_bond_trust bond;
  yoke_alarm_view alarm;
  yoke_step_times times;
  double values[4];
  assert_int_equal(yoke_simulation_get_bond(NULL, 0, &bond), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_alarm(NULL, 0, &alarm), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_step_times(NULL, &times), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_health(NULL, 0, values, 4), YOKE_BAD_ARG);
  assert_string_equal(yoke_verdict_text((yoke_verdict)99), "");
  assert_string_equal(yoke_verdict_text((yoke_verdict)-1), "");
  static const char* const texts[] = {
      "yoke: 1\ntime: {stop: 1, step: 0.1}\nunits: {r: {model: ramp}}\n"};
  yoke_simulation* sim = api_open(NULL, NULL, texts[0]);
  for (int is_started = 0; is_started < 2; is_started++) {
    assert_int_equal(yoke_simulation_get_bond(sim, 0, &bond), YOKE_BAD_ARG);  // there is none
    assert_int_equal(yoke_simulation_get_alarm(sim, 0, &alarm), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_get_step_times(sim, NULL), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_get_health(sim, 0, NULL, 4), YOKE_BAD_ARG);
    check_ok(yoke_simulation_get_step_times(sim, &times));
    check_near(times.real_time_factor, 0, 0);
    check_ok(yoke_simulation_start(sim));
  }
  api_close(&sim);
  sim = run(NULL, "1e-3", "");
  assert_int_equal(yoke_simulation_get_bond(sim, 0, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_bond(sim, 2, &bond), YOKE_BAD_ARG);
  api_close(&sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_verdicts),      cmocka_unit_test(test_alarms),
      cmocka_unit_test(test_stop),          cmocka_unit_test(test_health),
      cmocka_unit_test(test_bad_arguments),
  };
  return cmocka_run_group_tests_name("api_trust", tests, NULL, NULL);
}
