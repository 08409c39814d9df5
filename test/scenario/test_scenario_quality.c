// The keys that watch bonds: `quality`, the same in a bond, residual, mu, energy, a bond that is not wanted, and the
// step that the residual chooses.
#include "scenario/scenario_helper.h"

#define HEAD                                                                                       \
  "yoke: 1\n"                                                                                      \
  "time: {stop: 1, step: 1e-3}\n"                                                                  \
  "units: {a: {model: m}, b: {model: m}}\n"
#define BOND(more) HEAD "bonds: {s: {action: a.f, rate: b.v" more "}}\n"

static void test_nothing_given(void** state) {
  (void)state;
  reading* r = reading_good(BOND(""));
  const yoke_scenario* s = r->scenario;
  const yoke_scenario_watch* watches[] = {&s->watch, &s->bonds[0].watch};
  for (size_t i = 0; i < 2; i++) {
    const yoke_scenario_watch* w = watches[i];
    const double numbers[] = {w->warn.rho,  w->warn.eps, w->warn.rter, w->stop.rho, w->stop.eps,
                              w->stop.rter, w->window,   w->settle,    w->persist,  w->hysteresis};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
      assert_true(isnan(numbers[k]));
    }
  }
  assert_true(s->is_finding);
  assert_false(s->stops_growth);
  assert_false(s->adaptive.is_given);
  assert_false(s->bonds[0].is_refused);
  assert_int_equal(s->bonds[0].residual, YOKE_BOND_SAMPLES);
  assert_true(isnan(s->bonds[0].mu) && isnan(s->bonds[0].energy));
  reading_free(r);
}

static void test_all_keys(void** state) {
  (void)state;
  reading* r = reading_good(
      HEAD "quality:\n"
           "  find: false\n"
           "  warn: {rho: 0.1, eps: 0.2, rter: 0.3}\n"
           "  stop: {rho: 0.4, eps: 0.5, rter: 0.6, growth: true}\n"
           "  period: 0.3\n  window: 2\n  settle: 0\n  persist: 0\n  hysteresis: 1\n"
           "bonds:\n"
           "  s: {action: a.f, rate: b.v, residual: partner-held, mu: -0.25, energy: 5, period: 6, "
           "warn: {rho: 1}, stop: {eps: 2}, window: 3, settle: 4, persist: 7, hysteresis: 0.5}\n"
           "  a-b: false\n");
  const yoke_scenario* s = r->scenario;
  assert_false(s->is_finding);
  assert_true(s->stops_growth);
  check_near(s->watch.warn.rho, 0.1, 0);
  check_near(s->watch.warn.eps, 0.2, 0);
  check_near(s->watch.warn.rter, 0.3, 0);
  check_near(s->watch.stop.rho, 0.4, 0);
  check_near(s->watch.stop.eps, 0.5, 0);
  check_near(s->watch.stop.rter, 0.6, 0);
  check_near(s->watch.period, 0.3, 0);
  check_near(s->watch.window, 2, 0);
  check_near(s->watch.settle, 0, 0);
  check_near(s->watch.persist, 0, 0);
  check_near(s->watch.hysteresis, 1, 0);
  const yoke_scenario_bond* bond = &s->bonds[0];
  assert_int_equal(bond->residual, YOKE_BOND_PARTNER_HELD);
  check_near(bond->mu, -0.25, 0);
  check_near(bond->energy, 5, 0);
  check_near(bond->watch.period, 6, 0);
  check_near(bond->watch.warn.rho, 1, 0);
  check_near(bond->watch.stop.eps, 2, 0);
  assert_true(isnan(bond->watch.warn.eps) && isnan(bond->watch.stop.rho));
  check_near(bond->watch.window, 3, 0);
  check_near(bond->watch.settle, 4, 0);
  check_near(bond->watch.persist, 7, 0);
  check_near(bond->watch.hysteresis, 0.5, 0);
  assert_int_equal(s->n_bonds, 2);
  assert_true(s->bonds[1].is_refused);
  assert_string_equal(s->bonds[1].name, "a-b");
  reading_free(r);

  r = reading_good(HEAD "quality: {stop: {growth: false}}\n");
  assert_false(r->scenario->stops_growth);
  assert_true(isnan(r->scenario->watch.stop.rho));
  reading_free(r);

  // left empty
  r = reading_good(HEAD "quality: {warn: , stop: }\n");
  assert_true(isnan(r->scenario->watch.warn.rho));
  reading_free(r);
}

static void check_limit(const yoke_scenario_signal_limit* limit, const char* name, double value,
                        bool is_above, bool is_stop) {
  assert_string_equal(limit->signal.text, name);
  assert_true(limit->signal.place.line > 0);
  check_near(limit->value, value, 0);
  assert_true(limit->is_above == is_above && limit->is_stop == is_stop);
}

// Any number is a limit; of each kind they stay in the order of the file.
static void test_limits_of_signals(void** state) {
  (void)state;
  reading* r = reading_good(HEAD "quality:\n"
                                 "  stop: {rho: 1, above: {twin.t(magnets): 420, \"a.x[0]\": -1}, "
                                 "below: {\"*\": 0}}\n"
                                 "  warn: {below: {b.y: -5}, above: {b.y: 5}}\n");
  const yoke_scenario* s = r->scenario;
  assert_int_equal(s->n_signal_limits, 5);
  check_limit(&s->signal_limits[0], "b.y", 5, true, false);
  check_limit(&s->signal_limits[1], "b.y", -5, false, false);
  check_limit(&s->signal_limits[2], "twin.t(magnets)", 420, true, true);
  check_limit(&s->signal_limits[3], "a.x[0]", -1, true, true);
  check_limit(&s->signal_limits[4], "*", 0, false, true);
  check_near(s->watch.stop.rho, 1, 0);
  reading_free(r);

  r = reading_good(HEAD "quality: {stop: {above: , below: {}}, warn: {above: ~}}\n");
  assert_int_equal(r->scenario->n_signal_limits, 0);
  reading_free(r);
}

static void test_mistakes_in_limits_of_signals(void** state) {
  (void)state;
  check_messages(HEAD "quality: {stop: {above: 420}}\n",
                 "4:25: error: 'above': expected a map of signals and their limits, found 420");
  check_messages(HEAD "quality: {warn: {below: {a.x: .nan, a.y: hot}}}\n",
                 "4:31: error: 'a.x': expected a number, found .nan (numbers must be finite)\n"
                 "4:42: error: 'a.y': expected a number, found the text 'hot'");
  check_messages(HEAD "quality: {stop: {over: {a.x: 1}}}\n",
                 "4:18: error: unknown key 'over' in 'stop'; known keys: rho, eps, rter, growth, "
                 "above, below");
  // a bond has none
  check_messages(BOND(", warn: {above: {a.x: 1}}"),
                 "4:44: error: unknown key 'above' in 'warn'; known keys: rho, eps, rter");
}

static void test_adaptive_step(void** state) {
  (void)state;
  reading* r = reading_good(
      "yoke: 1\ntime: {stop: 1, step: {min: 1e-4, max: 1e-2, rho: 0.1}}\nunits: {a: {model: m}}\n");
  const yoke_scenario* s = r->scenario;
  assert_true(s->adaptive.is_given);
  check_near(s->adaptive.min.value, 1e-4, 0);
  check_near(s->adaptive.max.value, 1e-2, 0);
  check_near(s->adaptive.rho, 0.1, 0);
  check_near(s->step.value, 1e-4, 0);  // the shortest: everything counts in it
  assert_true(s->step.is_given);
  assert_true(s->step.exact.mantissa == 1 && s->step.exact.exponent == -4);
  reading_free(r);

  r = reading_good(
      "yoke: 1\ntime: {stop: 1, step: {min: 1e-3, max: 1e-3}}\nunits: {a: {model: m}}\n");
  check_between(r->scenario->adaptive.rho, 0.001, 0.25);  // a default
  reading_free(r);
}

static void test_mistakes(void** state) {
  (void)state;
  check_messages(HEAD "quality: 3\n", "4:10: error: 'quality': expected a map, found 3");
  check_messages(HEAD "quality: {wran: {rho: 1}}\n",
                 "4:11: error: unknown key 'wran' in 'quality'; did you mean 'warn'?");
  check_messages(HEAD "quality: {warn: {roh: 1}}\n",
                 "4:18: error: unknown key 'roh' in 'warn'; did you mean 'rho'?");
  check_messages(HEAD "quality: {warn: 0.5}\n", "4:17: error: 'warn': expected a map, found 0.5");
  check_messages(HEAD "quality: {stop: {rho: 0, eps: -1, rter: often}}\n",
                 "4:23: error: 'rho': expected a number greater than 0, found 0\n"
                 "4:31: error: 'eps': expected a number greater than 0, found -1\n"
                 "4:41: error: 'rter': expected a number greater than 0, found the text 'often'");
  check_messages(HEAD "quality: {stop: {growth: 10}}\n",
                 "4:26: error: 'growth': expected false or true, found 10");
  // it is no limit of an indicator
  check_messages(HEAD "quality: {warn: {growth: true}}\n",
                 "4:18: error: unknown key 'growth' in 'warn'; known keys: rho, eps, rter, "
                 "above, below");
  check_messages(BOND(", stop: {growth: true}"),
                 "4:44: error: unknown key 'growth' in 'stop'; known keys: rho, eps, rter");
  check_messages(HEAD "quality: {find: maybe}\n",
                 "4:17: error: 'find': expected false or true, found the text 'maybe'");
  check_messages(HEAD "quality: {window: 0, settle: -1, persist: 1.5, hysteresis: 1.1}\n",
                 "4:19: error: 'window': expected a number greater than 0, found 0\n"
                 "4:30: error: 'settle': expected a number that is 0 or greater, found -1\n"
                 "4:43: error: 'persist': expected an integer from 0 to 1000000000, found 1.5\n"
                 "4:60: error: 'hysteresis': expected a number above 0 and up to 1, found 1.1");
  check_messages(BOND(", window: 0, persist: -1"),
                 "4:45: error: 'window': expected a number greater than 0, found 0\n"
                 "4:57: error: 'persist': expected an integer from 0 to 1000000000, found -1");
  check_messages(
      BOND(", residual: held"),
      "4:47: error: 'residual': expected samples or partner-held, found the text 'held'");
  check_messages(BOND(", mu: 11"), "4:41: error: 'mu': expected a number from -10 to 10, found 11");
  check_messages(BOND(", energy: 0, period: 0"),
                 "4:45: error: 'energy': expected a number greater than 0, found 0\n"
                 "4:56: error: 'period': expected a number greater than 0, found 0");
  check_messages(BOND(", warn: {rho: x}"),
                 "4:49: error: 'rho': expected a number greater than 0, found the text 'x'");
  check_messages(HEAD "bonds: {total: {action: a.f, rate: b.v}}\n",
                 "4:9: error: a bond cannot be called 'total': that is the sum of all");
  check_messages(HEAD "bonds: {s: true}\n", "4:12: error: 's': expected a map, found true");
  check_messages(HEAD "bonds: {s: \"false\"}\n",
                 "4:12: error: 's': expected a map, found the text 'false'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_given),
      cmocka_unit_test(test_all_keys),
      cmocka_unit_test(test_limits_of_signals),
      cmocka_unit_test(test_mistakes_in_limits_of_signals),
      cmocka_unit_test(test_adaptive_step),
      cmocka_unit_test(test_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
