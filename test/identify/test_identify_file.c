// Identified models in files: round trip bit by bit, fitting into another run, messages.
#include "base/base_message.h"
#include "base/base_os.h"
#include "base/base_temp.h"
#include "identify/identify_file.h"
#include "identify/identify_rls.h"
#include "support/check.h"
#include "support/heard.h"

static HEAR(err);

static const char* outputs[] = {"x", "v"};
static const char* inputs[] = {"force", "load"};
static double parameters[] = {0.95, 1.0 / 3, -2e-300, -0.4, 5e17, 0.1};
static double variances[] = {0.02, 1e6};

static yoke_identified_unit unit_of(void) {
  return (yoke_identified_unit){.name = "mass",
                                .step = 0.1,
                                .time = 8.0,
                                .n = 2,
                                .m = 2,
                                .outputs = outputs,
                                .inputs = inputs,
                                .n_y_lags = 1,
                                .n_u_lags = 1,
                                .parameters = parameters,
                                .variances = variances};
}

static void test_round_trip(void** state) {
  (void)state;
  yoke_temp* temp = NULL;
  yoke_arena arena = {0};
  char path[512];
  yoke_identified_unit unit = unit_of();
  const yoke_identified models = {1, &unit};
  yoke_identified back;
  check_ok(yoke__temp_create(&temp, &err.sink));
  yoke__os_path_join(yoke__temp_path(temp), "models.json", path, sizeof path);
  check_ok(yoke__identified_write(path, &models, &err.sink));
  if (yoke__identified_read(path, &arena, &back, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(back.n_units, 1);
  const yoke_identified_unit* u = &back.units[0];
  assert_string_equal(u->name, "mass");
  assert_true(u->step == 0.1 && u->time == 8.0 && u->n == 2 && u->m == 2);
  assert_true(u->n_y_lags == 1 && u->n_u_lags == 1);
  assert_string_equal(u->outputs[1], "v");
  assert_string_equal(u->inputs[0], "force");
  assert_memory_equal(u->parameters, parameters, sizeof parameters);
  assert_memory_equal(u->variances, variances, sizeof variances);

  // nothing half-written stays behind; a second write replaces the first
  char part[600];
  snprintf(part, sizeof part, "%s.part", path);
  assert_false(yoke__os_is_file(part));
  unit.time = 9.0;
  check_ok(yoke__identified_write(path, &models, &err.sink));
  check_ok(yoke__identified_read(path, &arena, &back, &err.sink));
  assert_true(back.units[0].time == 9.0);

  // what cannot be written is said with the path
  unit.time = (double)NAN;
  assert_int_equal(yoke__identified_write(path, &models, &err.sink), YOKE_BAD_ARG);
  check_contains(err.text, "models.json: a model holds numbers that are not finite");
  unit.time = 1.0;
  assert_int_equal(yoke__identified_write("/no/such/folder/m.json", &models, &err.sink), YOKE_IO);
  check_contains(err.text, "cannot write /no/such/folder/m.json");
  assert_int_equal(yoke__identified_read("/no/such/m.json", &arena, &back, &err.sink), YOKE_IO);
  assert_int_equal(back.n_units, 0);
  yoke__arena_free(&arena);
  yoke__temp_remove(&temp);
}

// ---- into another run

static yoke_status fit(const yoke_identified_want* want, double to[]) {
  yoke_identified_unit unit = unit_of();
  const yoke_identified models = {1, &unit};
  heard_clear(&err);
  return yoke__identified_fit(&models, "models.json", want, to, &err.sink);
}

static void test_fit_by_name_and_step(void** state) {
  (void)state;
  static const char *const other_outputs[] = {"v", "x"}, *const other_inputs[] = {"load", "force"};
  yoke_identified_want want = {"mass", 0.1, 2, 2, other_outputs, other_inputs, 1, 1};
  double p[6];
  check_ok(fit(&want, p));
  const double swapped[] = {-0.4, 0.1, 5e17, 0.95, -2e-300, 1.0 / 3};
  assert_memory_equal(p, swapped, sizeof p);

  // three times the step: the model stepped three times
  want.step = 0.3;
  check_ok(fit(&want, p));
  check_relative(p[0], -0.4 * -0.4 * -0.4, 1e-14);
  check_relative(p[1], 0.1 * (1 - 0.4 + 0.16), 1e-14);
  check_relative(p[3], 0.95 * 0.95 * 0.95, 1e-14);
  check_relative(p[5], (1 + 0.95 + 0.95 * 0.95) / 3, 1e-14);

  // more lags than the file has: the others are 0, at its step and at another one
  want.n_y_lags = want.n_u_lags = 2;
  double q[12];
  check_ok(fit(&want, q));
  const double wide[] = {p[0], 0, p[1], 0, p[2], 0, p[3], 0, p[4], 0, p[5], 0};
  for (size_t i = 0; i < 12; i++) {
    check_near(q[i], wide[i], 1e-14 * fabs(wide[i]));
  }
}

static void test_fit_refuses(void** state) {
  (void)state;
  static const char *const o[] = {"x", "v", "a"}, *const i[] = {"force", "load", "heat"};
  static const char* const other[] = {"x", "w"};
  const struct {
    yoke_identified_want want;
    const char* text;
  } bad[] = {
      {{"shaft", 0.1, 2, 2, o, i, 1, 1}, "models.json: error: unit 'shaft': no model of it"},
      {{"mass", 0.1, 2, 2, other, i, 1, 1}, "unit 'mass': the file has no output 'w'"},
      {{"mass", 0.1, 1, 2, o, i, 1, 1}, "the file has 2 outputs, the unit 1"},
      {{"mass", 0.1, 2, 3, o, i, 1, 1}, "the file has no input 'heat'"},
      {{"mass", 0.1, 2, 2, o, i, 1, 0}, "the file has 1 and 1 lags of outputs and inputs"},
      {{"mass", 0.05, 2, 2, o, i, 1, 1},
       "wanted is the shorter step 0.05 s: the model of 'v' has a pole at 0 or below"},
  };
  double p[16];
  for (size_t c = 0; c < sizeof bad / sizeof *bad; c++) {
    assert_int_equal(fit(&bad[c].want, p), YOKE_BAD_INPUT);
    check_contains(err.text, bad[c].text);
  }
}

// Loaded into the estimator of another run, the parameters are those of the file.
static void test_into_estimator(void** state) {
  (void)state;
  static _Alignas(64) unsigned char block[4096];
  const yoke_identified_want want = {
      "mass", 0.1, 2, 2, (const char* const*)outputs, (const char* const*)inputs, 1, 1};
  double p[6], back[6];
  yoke_rls rls;
  const yoke_rls_setup setup = {2, 2, 1, 1, 0.996, YOKE_RLS_P0};
  check_ok(fit(&want, p));
  check_ok(yoke__rls_prepare(&rls, &setup, block, &err.sink));
  check_ok(yoke__rls_load(&rls, p, YOKE_RLS_P0_LOAD));
  yoke__rls_read(&rls, back);
  assert_memory_equal(back, parameters, sizeof back);
  check_near(yoke__rls_mean_variance(&rls, 0), YOKE_RLS_P0_LOAD, 0.0);
}

// ---- messages

#define HEAD "{\"format\": \"yoke-identified\", \"version\": 1, \"units\": ["
#define NAMES                                                                                      \
  "\"name\": \"a\", \"step\": 0.1, \"time\": 1, \"outputs\": [\"y\"], \"inputs\": [\"u\"]"
#define LAGS ", \"output_lags\": 1, \"input_lags\": 1"
#define TAIL "]}"

static void test_messages(void** state) {
  (void)state;
  static const struct {
    const char *text, *want;
  } bad[] = {
      {"", "f.json:1: error: '[' or '{' expected near end of file"},
      {"[]", "not a file of identified models"},
      {"{\"format\": \"yoke-identified\", \"version\": 2, \"units\": []}",
       "version 2 of identified models, this program reads version 1"},
      {"{\"format\": \"yoke-identified\", \"version\": 1}", "expected 'units'"},
      {HEAD "{}" TAIL, "expected a 'name'"},
      {HEAD "{\"name\": \"a\"}" TAIL, "f.json: error: unit 'a': expected 'step': a number"},
      {HEAD "{\"name\": \"a\", \"step\": 0, \"time\": 1}" TAIL, "'step' above 0 [s], found 0"},
      {HEAD "{\"name\": \"a\", \"step\": 1, \"time\": 1, \"outputs\": []}" TAIL,
       "expected 'outputs': a list of 1 to"},
      {HEAD "{\"name\": \"a\", \"step\": 1, \"time\": 1, \"outputs\": [\"y\", \"y\"]}" TAIL,
       "name 'y' stands twice in 'outputs'"},
      {HEAD "{\"name\": \"a\", \"step\": 1, \"time\": 1, \"outputs\": [3]}" TAIL,
       "names that are not empty in 'outputs'"},
      {HEAD "{" NAMES ", \"output_lags\": 1.5}" TAIL, "a whole number from 1 to 8, found 1.5"},
      {HEAD "{" NAMES LAGS "}" TAIL, "expected 'models': a list of 1, one per output, found 0"},
      {HEAD "{" NAMES LAGS ", \"models\": [{\"parameters\": [1]}]}" TAIL,
       "expected 2 parameters for each of the 1 outputs, found 1 in all"},
      {HEAD "{" NAMES LAGS ", \"models\": [{\"parameters\": [1, null]}]}" TAIL,
       "model of output 'y': expected numbers"},
      {HEAD "{" NAMES LAGS ", \"models\": [{\"parameters\": [1, 2]}]}" TAIL,
       "expected 'variance': a number"},
      {HEAD "{" NAMES LAGS ", \"models\": [{\"parameters\": [1, 2], \"variance\": -1}]}" TAIL,
       "'variance' of 0 or more, found -1"},
      {HEAD "{" NAMES LAGS
            ", \"models\": [{\"parameters\": [1, 2], \"variance\": 1}]}, {" NAMES LAGS
            ", \"models\": [{\"parameters\": [1, 2], \"variance\": 1}]}" TAIL,
       "unit 'a' stands twice"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    yoke_arena arena = {0};
    yoke_identified models = {9, NULL};
    heard_clear(&err);
    assert_int_equal(yoke__identified_parse(bad[i].text, strlen(bad[i].text), "f.json", &arena,
                                            &models, &err.sink),
                     YOKE_BAD_INPUT);
    check_contains(err.text, bad[i].want);
    assert_int_equal(models.n_units, 0);
    yoke__arena_free(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_fit_by_name_and_step),
      cmocka_unit_test(test_fit_refuses), cmocka_unit_test(test_into_estimator),
      cmocka_unit_test(test_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
