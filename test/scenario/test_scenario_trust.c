// The section `trust`: signals that decide, thresholds, limits of signals, companions.
#include "scenario/scenario_helper.h"

#define HEAD                                                                                       \
  "yoke: 1\n"                                                                                      \
  "time: {stop: 1, step: 1e-3}\n"                                                                  \
  "units: {a: {model: m}, b: {model: m}}\n"

static void check_defaults(const char* text) {
  reading* r = reading_good(text);
  const yoke_scenario_trust* t = &r->scenario->trust;
  assert_true(t->n_signals == 0 && t->n_limits == 0);
  check_near(t->limit, 0.05, 0);
  check_near(t->wrong, 0.10, 0);
  assert_int_equal(t->companions, YOKE_COMPANIONS_AUTO);
  assert_true(t->is_status && !t->is_bands);
  reading_free(r);
}

static void test_nothing_given(void** state) {
  (void)state;
  check_defaults(HEAD);
  check_defaults(HEAD "trust:\n");
  check_defaults(HEAD "trust: {}\n");
  check_defaults(HEAD "trust: {limits: }\n");
}

static void test_all_keys(void** state) {
  (void)state;
  reading* r = reading_good(HEAD "trust:\n"
                                 "  signals: [a.s, \"b.*\"]\n"
                                 "  limit: 0.02\n"
                                 "  wrong: 0.5\n"
                                 "  limits: {a.s: 2e-3, \"b.x[0]\": 5}\n"
                                 "  companions: half\n"
                                 "  status: false\n"
                                 "  bands: true\n");
  const yoke_scenario_trust* t = &r->scenario->trust;
  assert_true(t->is_given);
  assert_int_equal(t->n_signals, 2);
  assert_string_equal(t->signals[0].text, "a.s");
  assert_string_equal(t->signals[1].text, "b.*");
  check_near(t->limit, 0.02, 0);
  check_near(t->wrong, 0.5, 0);
  assert_int_equal(t->n_limits, 2);
  assert_string_equal(t->limits[0].signal.text, "a.s");
  check_near(t->limits[0].value, 2e-3, 0);
  assert_string_equal(t->limits[1].signal.text, "b.x[0]");
  check_near(t->limits[1].value, 5, 0);
  assert_int_equal(t->limits[1].signal.place.line, 8);
  assert_int_equal(t->companions, YOKE_COMPANIONS_HALF);
  assert_true(!t->is_status && t->is_bands);
  reading_free(r);

  // one name stands for a list
  r = reading_good(HEAD "trust: {signals: a.s}\n");
  assert_int_equal(r->scenario->trust.n_signals, 1);
  reading_free(r);
}

static void test_companions(void** state) {
  (void)state;
  for (size_t i = 0; yoke__companion_words[i] != NULL; i++) {
    char text[300];
    snprintf(text, sizeof text, HEAD "trust: {companions: %s}\n", yoke__companion_words[i]);
    reading* r = reading_good(text);
    assert_int_equal(r->scenario->trust.companions, i);
    reading_free(r);
  }
}

static reading* set(const char* text, const char* change) {
  return reading_of_bytes(text, strlen(text), &change, 1);
}

static void test_set(void** state) {
  (void)state;
  const char* plain = HEAD;
  reading* r = set(plain, "trust.limit=0.02");
  check_near(r->scenario->trust.limit, 0.02, 0);
  assert_true(r->scenario->trust.is_given);
  reading_free(r);
  r = set(plain, "trust.limits.a.s=2e-3");
  assert_int_equal(r->scenario->trust.n_limits, 1);
  assert_string_equal(r->scenario->trust.limits[0].signal.text, "a.s");
  check_near(r->scenario->trust.limits[0].value, 2e-3, 0);
  reading_free(r);
  r = set(HEAD "trust: {limits: {a.s: 1, b.s: 2}}\n", "trust.limits.b.s=3");
  assert_int_equal(r->scenario->trust.n_limits, 2);
  check_near(r->scenario->trust.limits[1].value, 3, 0);
  reading_free(r);
  r = set(plain, "trust.signals=[a.s, b.s]");
  assert_int_equal(r->scenario->trust.n_signals, 2);
  reading_free(r);
  r = set(plain, "trust={companions: none, status: false}");
  assert_int_equal(r->scenario->trust.companions, YOKE_COMPANIONS_NONE);
  assert_false(r->scenario->trust.is_status);
  reading_free(r);
  r = set(plain, "trust.limt=0.02");
  check_contains(r->text, "--set trust.limt: error: 'limt' not found in 'trust'; did you mean "
                          "'limit'?");
  reading_free(r);
  r = set(plain, "trust.limit=0.2");
  check_contains(r->text, "--set trust.limit: error: 'trust': expected limit below wrong, found "
                          "limit 0.2 and wrong 0.1 (wrong is the default)");
  reading_free(r);
}

static void test_mistakes(void** state) {
  (void)state;
  check_messages(HEAD "trust: both\n",
                 "4:8: error: 'trust': expected a map, found the text 'both'");
  check_messages(HEAD "trust: {limt: 1}\n",
                 "4:9: error: unknown key 'limt' in 'trust'; did you mean 'limit'?");
  check_messages(HEAD "trust: {limit: 0, wrong: -1}\n",
                 "4:16: error: 'limit': expected a number greater than 0, found 0\n"
                 "4:26: error: 'wrong': expected a number greater than 0, found -1");
  check_messages(HEAD "trust: {limit: 5 %, wrong: .inf}\n",
                 "4:16: error: 'limit': expected a number greater than 0, found the text '5 %'\n"
                 "4:28: error: 'wrong': expected a number greater than 0, found .inf (numbers must "
                 "be finite)");
  check_messages(HEAD "trust: {limit: 0.2, wrong: 0.2}\n",
                 "4:16: error: 'trust': expected limit below wrong, found limit 0.2 and wrong 0.2");
  check_messages(HEAD "trust: {wrong: 0.01}\n",
                 "4:16: error: 'trust': expected limit below wrong, found limit 0.05 and wrong "
                 "0.01 (limit is the default)");
  check_messages(HEAD "trust: {companions: bth}\n",
                 "4:21: error: 'companions': expected auto, both, half, cheap or none, found the "
                 "text 'bth'; did you mean 'both'?");
  check_messages(HEAD "trust: {status: 3, bands: yes}\n",
                 "4:17: error: 'status': expected false or true, found 3\n"
                 "4:27: error: 'bands': expected false or true, found the text 'yes'");
  check_messages(HEAD "trust: {limits: 2e-3}\n",
                 "4:17: error: 'limits': expected a map of signals and their limits, found 2e-3");
  check_messages(HEAD "trust: {limits: {a.s: 0, b.s: }}\n",
                 "4:23: error: 'a.s': expected a number greater than 0, found 0\n"
                 "4:31: error: 'b.s': expected a number greater than 0, found nothing");
  check_messages(HEAD "trust: {signals: {a: 1}}\n",
                 "4:18: error: 'signals': expected a list of texts, found a map");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_given), cmocka_unit_test(test_all_keys),
      cmocka_unit_test(test_companions),    cmocka_unit_test(test_set),
      cmocka_unit_test(test_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
