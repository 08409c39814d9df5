// Coupling elements in files: round trip bit by bit, what contradicts itself, messages.
#include "base/base_os.h"
#include "base/base_temp.h"
#include "support/check.h"
#include "support/heard.h"
#include "synth/synth_element_file.h"

static HEAR(err);

static yoke_synth_design design_of(yoke_synth_recipe recipe) {
  yoke_synth_settings s = yoke__synth_settings_default(recipe, 0.05, 1e-3);
  s.delay = recipe == YOKE_RECIPE_L ? 0.01 : 0;
  yoke_synth_design d;
  check_ok(yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &d, NULL));
  return d;
}

static void test_round_trip(void** state) {
  (void)state;
  yoke_temp* temp = NULL;
  char path[512];
  check_ok(yoke__temp_create(&temp, &err.sink));
  yoke__os_path_join(yoke__temp_path(temp), "element.json", path, sizeof path);
  for (yoke_synth_recipe recipe = YOKE_RECIPE_T; recipe <= YOKE_RECIPE_GENERAL; recipe++) {
    if (recipe == YOKE_RECIPE_CUSTOM) {
      continue;
    }
    const yoke_synth_design d = design_of(recipe);
    yoke_synth_design back;
    check_ok(yoke__synth_element_write(path, &d, &err.sink));
    if (yoke__synth_element_read(path, &back, &err.sink) < 0) {
      fail_msg("%s", err.text);
    }
    assert_memory_equal(&back.element, &d.element, sizeof d.element);
    assert_true(back.settings.interval == 0.05 && back.settings.step == 1e-3);
    assert_int_equal(back.settings.recipe, recipe);
    assert_true(back.settings.smoother_hz == d.settings.smoother_hz);
    assert_true(back.settings.pole == d.settings.pole);
    assert_true(back.settings.band_hz == d.settings.band_hz);
    assert_true(back.settings.delay == d.settings.delay);
    assert_true(back.settings.is_transparent == d.settings.is_transparent);
    assert_true(back.gamma == d.gamma && back.direct_gain == d.direct_gain);
    assert_true(back.largest_gain == d.largest_gain && back.net_delay == d.net_delay);
    assert_memory_equal(&back.model, &d.model, sizeof d.model);
    assert_true(back.model_gamma == d.model_gamma && back.settings.order == d.settings.order);
  }
  yoke__temp_remove(&temp);
}

static void test_missing_file(void** state) {
  (void)state;
  yoke_synth_design d;
  heard_clear(&err);
  assert_int_equal(yoke__synth_element_read("no/such/file.json", &d, &err.sink), YOKE_IO);
  check_contains(err.text, "no/such/file.json");
}

// The text of a good file with one piece replaced.
static void refuse_of(yoke_synth_recipe recipe, const char* from, const char* to,
                      const char* message) {
  const yoke_synth_design d = design_of(recipe);
  yoke_json json = {0};
  yoke_synth_design back;
  check_ok(yoke__synth_element_format(&d, &json));
  const char* at = strstr(json.text.bytes, from);
  if (at == NULL) {
    fail_msg("no %s in %s", from, json.text.bytes);
  }
  char text[4096];
  snprintf(text, sizeof text, "%.*s%s%s", (int)(at - json.text.bytes), json.text.bytes, to,
           at + strlen(from));
  heard_clear(&err);
  const yoke_status status =
      yoke__synth_element_parse(text, strlen(text), "e.json", &back, &err.sink);
  yoke__json_free(&json);
  if (status != YOKE_BAD_INPUT) {
    fail_msg("accepted: %s", text);
  }
  assert_int_equal(err.n, 1);
  check_contains(err.text, "e.json");
  check_contains(err.text, message);
  assert_int_equal(back.settings.order, 0);
}

static void refuse(const char* from, const char* to, const char* message) {
  refuse_of(YOKE_RECIPE_T, from, to, message);
}

static void refuse_general(const char* from, const char* to, const char* message) {
  refuse_of(YOKE_RECIPE_GENERAL, from, to, message);
}

static void test_malformed(void** state) {
  (void)state;
  refuse("{", "[", "e.json:");
  refuse("yoke-element", "yoke-identified", "not a file of a coupling element");
  refuse("\"version\": 1", "\"version\": 2", "version 2 of a coupling element");
  refuse("\"pole\"", "\"poles\"", "unknown key 'poles'");
  refuse("\"pole\": 300,", "", "expected 'pole': a number");
  refuse("\"delay\": 0", "\"delay\": \"0\"", "expected 'delay': a number");
  refuse("\"recipe\": \"T\"", "\"recipe\": \"X\"",
         "expected 'recipe': T, L, custom or general, found 'X'");
  refuse("\"transparent\": true", "\"transparent\": 1", "expected 'transparent': true or false");
  refuse("\"order\": 4", "\"order\": 4.5", "expected 'order': a whole number from 1 to 8");
  refuse("\"order\": 4", "\"order\": 400", "expected 'order': a whole number from 1 to 8");
  refuse("\"coefficients\": [", "\"coefficients\": [1, ",
         "expected 'coefficients': a list of order + 1 = 5 numbers, found 6");
  refuse("\"coefficients\": [", "\"coefficients\": [\"1\", ",
         "expected 'coefficients': a list of order + 1 = 5 numbers, found 6");
}

static void test_contradictions(void** state) {
  (void)state;
  refuse("\"step\": 0.001", "\"step\": 0.0011", "is not a multiple of the step");
  refuse("\"delay\": 0", "\"delay\": -1", "expected a delay of 0 or more");
  refuse("\"pole\": 300", "\"pole\": 301", "recipe T has the pole a = 300 rad/s, found 301");
  refuse("\"recipe\": \"T\"", "\"recipe\": \"L\"", "recipe L has the pole a = 40 rad/s");
  refuse("\"delay\": 0", "\"delay\": 0.001", "they miss slope 0 at frequency 0");
  refuse("\"step\": 0.001", "\"step\": 0.0005", "they miss slope 0 at frequency 0");
  refuse("[7.1610060", "[7.1620060", "they miss gain 1 at frequency 0");
  refuse("\"direct_gain\": ", "\"direct_gain\": 1.00001, \"x\": ", "unknown key 'x'");
  refuse("\"direct_gain\": ", "\"direct_gain\": -",
         "'direct_gain' contradicts the rest of the file");
  refuse("\"gamma\": 0.023", "\"gamma\": 0.024",
         "'gamma' contradicts the rest of the file: found 0.024");
  refuse("\"largest_gain\": 4", "\"largest_gain\": 3",
         "'largest_gain' contradicts the rest of the file");
  refuse("\"band_frequency\": 3", "\"band_frequency\": 4",
         "'gamma' contradicts the rest of the file");
}

static void test_general(void** state) {
  (void)state;
  refuse_general("\"A\": [", "\"coefficients\": [1], \"A\": [", "unknown key 'coefficients'");
  refuse("\"coefficients\"", "\"A\"", "unknown key 'A'");
  refuse_general("\"model_gamma\"", "\"gamma_of_model\"", "unknown key 'gamma_of_model'");
  refuse_general("\"recipe\": \"general\"", "\"recipe\": \"L\"", "unknown key 'A'");
  refuse_general("\"order\": 6", "\"order\": 7", "expected an order n from 1 to 6, found 7");
  refuse_general("\"order\": 6", "\"order\": 5",
                 "expected 'A': a list of order = 5 rows of as many numbers, found 6");
  refuse_general("\"A\": [", "\"A\": [1, ", "expected 'A': a list of order = 6 rows");
  refuse_general("\"A\": [\n    [", "\"A\": [[1, ",
                 "expected 'A': a list of rows of order = 6 numbers, found 7");
  refuse_general("\"A\": [\n    [", "\"A\": [1, [", "expected 'A'");
  refuse_general("\"B\": [", "\"B\": [null, ",
                 "expected 'B': a list of order = 6 numbers, found 7");
  refuse_general("\"C\": [", "\"C\": 1, \"x\": [", "unknown key 'x'");
  refuse_general("\"D\": 0", "\"D\": NaN", "e.json");
  refuse_general("\"D\": 0", "\"D\": \"0\"", "expected 'D': a number");
  refuse_general("\"D\": 0", "\"D\": 1e-6", "the lead misses gain 1 at frequency 0 by 1e-06");
  refuse_general("\"A\": [\n    [-", "\"A\": [[9999", "only a stable element can run");
  refuse_general("\"delay\": 0", "\"delay\": 0.05", "recipe general does not support a delay");
  refuse_general("\"transparent\": false", "\"transparent\": true", "is not transparent");
  refuse_general("\"pole\": 500", "\"pole\": 400", "the smoother at f2 = 100 Hz has poles");
  refuse_general("\"pole\": 500", "\"pole\": 450", "expected all right of -P = -450 rad/s");
  refuse_general("\"band_frequency\": 3", "\"band_frequency\": 30", "carries frequencies below");
  refuse_general("\"band_frequency\": 3", "\"band_frequency\": 4",
                 "'model_gamma' contradicts the rest of the file");
  refuse_general("\"step\": 0.001", "\"step\": 0.0005",
                 "'direct_gain' contradicts the rest of the file");
  refuse_general("\"gamma\": 0.0", "\"gamma\": 0.1", "'gamma' contradicts the rest of the file");
}

static void test_times(void** state) {
  (void)state;
  const yoke_synth_design d = design_of(YOKE_RECIPE_T);
  heard_clear(&err);
  check_ok(yoke__synth_element_check_times(&d, 0.05, 1e-3, "sender left", &err.sink));
  check_ok(yoke__synth_element_check_times(&d, 0.05 * (1 + 1e-15), 1e-3, "sender left", &err.sink));
  assert_int_equal(err.n, 0);
  assert_int_equal(yoke__synth_element_check_times(&d, 0.02, 1e-3, "sender left", &err.sink),
                   YOKE_BAD_INPUT);
  check_contains(err.text, "the element is for an exchange every 0.05 s, here it is every 0.02 s");
  assert_int_equal(yoke__synth_element_check_times(&d, 0.05, 0.05, "sender left", &err.sink),
                   YOKE_BAD_INPUT);
  check_contains(err.text, "needs sender left called every 0.001 s, it is called every 0.05 s: "
                           "write `step: 0.001` there");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip), cmocka_unit_test(test_missing_file),
      cmocka_unit_test(test_malformed),  cmocka_unit_test(test_contradictions),
      cmocka_unit_test(test_general),    cmocka_unit_test(test_times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
