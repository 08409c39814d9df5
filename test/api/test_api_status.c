// How a run ends: done, diverged, stopped by its growth, failed; the same whether it is run or stepped.
#include "api/api_helper.h"

// The signal loop of the trust specification, section 10. %s: time, then what follows
#define LOOP                                                                                       \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {%s}\nunits:\n"                                         \
  "  reference: {model: step, with: {time: 1}}\n"                                                  \
  "  difference: {model: sum, with: {signs: [1, -1]}}\n"                                           \
  "  gain: {model: gain, with: {k: 40}}\n"                                                         \
  "  plant: {model: state_space, with: {A: [[-1]], B: [[1]], outputs: [y]}}\n"                     \
  "connections: [reference.y -> difference.u1, plant.y -> difference.u2, difference.y -> "         \
  "gain.u, gain.y -> plant.u1]\n%s"

static yoke_simulation* open_loop(const yoke_sink* sink, const char* time, const char* rest) {
  char text[1024];
  snprintf(text, sizeof text, LOOP, time, rest);
  return api_open(NULL, sink, text);
}

static void check_summary(const yoke_simulation* sim, const char* part) {
  char* json = NULL;
  check_ok(yoke_simulation_summary(sim, &json));
  check_contains(json, part);
  yoke_text_free(&json);
}

static void test_diverged(void** state) {
  (void)state;
  HEAR(told);
  yoke_run_info info;
  yoke_simulation* sim = open_loop(&told.sink, "stop: 10, step: 0.05", "");
  check_summary(sim, "\"status\": \"not started\"");
  assert_int_equal(yoke_simulation_run(sim, NULL, &info), YOKE_OK);
  assert_true(info.is_diverged && info.is_growing && !info.is_violated);
  assert_int_equal(info.n_steps, 200);
  check_contains(told.text, "plant.y diverges: it grew 220 times within 16 exchanges");
  check_summary(sim, "\"status\": \"diverged\"");
  check_summary(sim, "\"verdict\": \"wrong\"");
  api_close(&sim);
}

// With companions growth is known at the end of the run, whether it is right once they have ended.
static void test_growing_before_it_is_judged(void** state) {
  (void)state;
  yoke_run_info info;
  yoke_run_trust trust;
  yoke_simulation* sim = open_loop(NULL, "stop: 10, step: 0.05", "");
  const yoke_run_settings settings = {.trust = YOKE_TRUST_BOTH};
  assert_int_equal(yoke_simulation_run(sim, &settings, &info), YOKE_OK);
  assert_true(info.is_growing && !info.is_diverged);
  check_ok(yoke_simulation_judge(sim, NULL));
  check_ok(yoke_simulation_get_trust(sim, &trust));
  assert_true(trust.is_diverged);
  api_close(&sim);
}

// Stepped, nobody is told, but the summary says the same. On the way it is not finished.
static void test_diverged_step_by_step(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = open_loop(&told.sink, "stop: 10, step: 0.05", "");
  for (int i = 0; i < 200; i++) {
    assert_int_equal(yoke_simulation_step(sim), YOKE_OK);
    if (i == 150) {
      check_summary(sim, "\"status\": \"not finished\"");
    }
  }
  check_summary(sim, "\"status\": \"diverged\"");
  check_summary(sim, "plant.y diverges: it grew 220 times within 16 exchanges");
  assert_string_equal(told.text, "");
  api_close(&sim);
}

static void test_done(void** state) {
  (void)state;
  yoke_run_info info;
  yoke_simulation* sim = open_loop(NULL, "stop: 10, step: 0.01", "");
  assert_int_equal(yoke_simulation_run(sim, NULL, &info), YOKE_OK);
  assert_false(info.is_diverged || info.is_growing);
  check_summary(sim, "\"status\": \"done\"");
  api_close(&sim);
}

static void test_stopped_by_growth(void** state) {
  (void)state;
  HEAR(told);
  yoke_run_info info;
  yoke_simulation* sim =
      open_loop(&told.sink, "stop: 10, step: 0.05", "quality: {stop: {growth: true}}\n");
  assert_int_equal(yoke_simulation_run(sim, NULL, &info), YOKE_STOPPED);
  assert_true(info.is_diverged);
  assert_int_equal(info.n_steps, 108);
  check_near(info.t_reached, 5.4, 1e-9);
  assert_true(yoke_simulation_is_done(sim));
  const yoke_message* failure = yoke_simulation_failure(sim);
  assert_non_null(failure);
  check_contains(failure->text, "difference.y diverges: it grew 1.14e+12 times from t = 1 s");
  check_contains(told.text, failure->text);
  check_summary(sim, "\"status\": \"diverged\"");
  api_close(&sim);
}

// A saved state knows the growth so far: what is restored alarms at the same exchange.
static void test_restored(void** state) {
  (void)state;
  yoke_simulation *a = open_loop(NULL, "stop: 10, step: 0.05", ""),
                  *b = open_loop(NULL, "stop: 10, step: 0.05", "");
  for (int i = 0; i < 30; i++) {
    check_ok(yoke_simulation_step(a));
    check_ok(yoke_simulation_step(b));
  }
  const size_t size = yoke_simulation_image_size(a);
  void* image = calloc(1, size);
  check_ok(yoke_simulation_save(a, image, size));
  check_ok(yoke_simulation_run_to(a, 9));
  check_ok(yoke_simulation_restore(a, image, size));
  check_ok(yoke_simulation_run(a, NULL, NULL));
  check_ok(yoke_simulation_run(b, NULL, NULL));
  for (int i = 0; i < 2; i++) {
    check_summary(i == 0 ? a : b, "plant.y diverges: it grew 220 times within 16 exchanges, from "
                                  "t = 1 s to t = 2 s, and reached 5.96e+25");
  }
  free(image);
  api_close(&a);
  api_close(&b);
}

static void test_not_finite_is_a_failure(void** state) {
  (void)state;
  yoke_run_info info;
  yoke_simulation* sim = open_loop(NULL, "stop: 2000, step: 0.05", "");
  assert_true(yoke_simulation_run(sim, NULL, &info) < 0);
  assert_false(info.is_diverged);
  check_summary(sim, "\"status\": \"failed\"");
  api_close(&sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_diverged),
      cmocka_unit_test(test_growing_before_it_is_judged),
      cmocka_unit_test(test_diverged_step_by_step),
      cmocka_unit_test(test_done),
      cmocka_unit_test(test_stopped_by_growth),
      cmocka_unit_test(test_restored),
      cmocka_unit_test(test_not_finite_is_a_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
