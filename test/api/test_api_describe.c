// Descriptions: every kind of thing gives its document, equal to what `yoke check --json` and a loaded system give; names that
// mean nothing, broken files and missing arguments end in a status and a message; so does a heap that runs out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "api_helper.h"
#include "support/failing_heap.h"

static const char netlist[] = "a load\n.param rload=1k\nV1 a 0 1\nR1 a b {rload}\nC1 b 0 1u\n"
                              ".tran 10u 1m\n.end\n";
static const char two[] =
    "yoke: 1\ntime: {stop: 1, step: 0.01}\nunits:\n"
    "  a: {model: oscillator.force, with: {k: 10}}\n"
    "  b: {model: oscillator.mass, start: {v: -1}}\n"
    "connections: [b.x -> a.x_other, b.v -> a.v_other, {from: a.f, to: b.f, gain: 2}]\n";

static void write_file(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  assert_true(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

// The document as a tree; the caller frees it.
static json_t* describe(const char* what, const yoke_load_settings* settings, const char* format) {
  char* text = NULL;
  check_ok(yoke_describe(what, settings, &text));
  json_t* root = json_loads(text, 0, NULL);
  yoke_text_free(&text);
  assert_null(text);
  assert_non_null(root);
  assert_string_equal(json_string_value(json_object_get(root, "format")), format);
  assert_int_equal(json_integer_value(json_object_get(root, "version")), 1);
  return root;
}

static const json_t* find(const json_t* object, const char* list, const char* name) {
  const json_t* array = json_object_get(object, list);
  for (size_t i = 0; i < json_array_size(array); i++) {
    const json_t* one = json_array_get(array, i);
    if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0) {
      return one;
    }
  }
  fail_msg("%s: there is no '%s'", list, name);
  return NULL;
}

static const char* text_of(const json_t* object, const char* key) {
  const char* text = json_string_value(json_object_get(object, key));
  assert_non_null(text);
  return text;
}

static double number_of(const json_t* object, const char* key) {
  assert_true(json_is_number(json_object_get(object, key)));
  return json_number_value(json_object_get(object, key));
}

static void test_models(void** state) {
  (void)state;
  yoke_registry* registry = api_registry();
  const yoke_load_settings settings = {.registry = registry};
  json_t* all = describe(NULL, NULL, "yoke-models");
  size_t n = 0;
  while (yoke_registry_unit(NULL, n) != NULL) {
    n++;
  }
  assert_int_equal(json_array_size(json_object_get(all, "models")), n);
  assert_string_equal(text_of(find(all, "methods", "hold"), "name"), "hold");
  json_decref(all);

  // those of a registry too
  all = describe(NULL, &settings, "yoke-models");
  assert_int_equal(json_array_size(json_object_get(all, "models")), n + 1);
  json_decref(all);
  json_t* model = describe("plant", &settings, "yoke-model");
  const json_t* u = find(model, "variables", "u");
  assert_string_equal(text_of(u, "causality"), "input");
  check_near(number_of(u, "start"), 1, 0);
  assert_true(json_is_true(json_object_get(u, "has_start")));
  assert_true(json_is_true(json_object_get(model, "variables_known")));
  json_decref(model);

  model = describe("oscillator.force", NULL, "yoke-model");
  assert_true(json_array_size(json_object_get(model, "feedthrough")) > 0);
  json_decref(model);
  // its variables follow from its parameters
  model = describe("state_space", NULL, "yoke-model");
  assert_true(json_is_false(json_object_get(model, "variables_known")));
  assert_true(json_array_size(json_object_get(model, "structure")) > 0);
  json_decref(model);

  json_t* method = describe("mpsm", NULL, "yoke-method");
  assert_string_equal(text_of(method, "serves"), "a cluster of units as a whole");
  assert_true(json_array_size(json_object_get(method, "settings")) > 10);
  json_decref(method);
  yoke_registry_destroy(&registry);
}

static void test_netlist(void** state) {
  (void)state;
  HEAR(told);
  const char* path = "api_describe.cir";
  write_file(path, netlist);
  json_t* circuit = describe(path, NULL, "yoke-circuit");
  check_near(number_of(circuit, "nodes"), 2, 0);
  check_near(number_of(json_object_get(circuit, "elements"), "resistors"), 1, 0);
  check_near(number_of(json_object_get(circuit, "tran"), "stop"), 1e-3, 0);
  assert_string_equal(text_of(find(circuit, "parameters", "rload"), "value"), "1k");
  json_decref(circuit);

  // parameters by their names or by their paths; the last value counts
  const char* const sets[] = {"RLOAD=3k", "units.api_describe.with.rload=-2k"};
  yoke_load_settings settings = {.sink = &told.sink, .sets = sets, .n_sets = 2};
  circuit = describe(path, &settings, "yoke-circuit");
  assert_string_equal(text_of(find(circuit, "parameters", "rload"), "value"), "-2000");
  const json_t* remark = json_array_get(json_object_get(circuit, "messages"), 0);
  assert_string_equal(text_of(remark, "severity"), "warning");
  check_near(number_of(remark, "line"), 4, 0);
  assert_string_equal(told.text, "");  // remarks are in the document
  json_decref(circuit);

  static const struct {
    const char *set, *text;
    yoke_status status;
  } wrong[] = {
      {"rlod=1", "--set rlod: error: 'api_describe.cir' has no parameter 'rlod'; did you mean",
       YOKE_NO_SUCH_NAME},
      {"rload", "--set: error: expected NAME=VALUE, found 'rload'", YOKE_BAD_ARG},
      {"=1", "--set: error: expected NAME=VALUE", YOKE_BAD_ARG},
      {"rload=x", "--set rload: error: expected a number, found 'x'", YOKE_BAD_ARG},
      {"rload=0", "api_describe.cir:4: error: 'R1'", YOKE_BAD_INPUT},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char* json = (char*)&told;
    heard_clear(&told);
    settings = (yoke_load_settings){.sink = &told.sink, .sets = &wrong[i].set, .n_sets = 1};
    assert_int_equal(yoke_describe(path, &settings, &json), wrong[i].status);
    assert_null(json);
    check_contains(told.text, wrong[i].text);
  }
  remove(path);
}

static void test_fmu(void** state) {
  (void)state;
  const char* fmus = getenv("YOKE_FMUS");
  assert_non_null(fmus);
  char path[1024];
  snprintf(path, sizeof path, "%s/feedthrough3.fmu", fmus);
  json_t* fmu = describe(path, NULL, "yoke-fmu");
  assert_string_equal(text_of(fmu, "file"), path);
  assert_true(json_is_true(json_object_get(json_object_get(fmu, "use"), "can_be_run")));
  assert_string_equal(text_of(find(fmu, "variables", "Enumeration_in"), "start_item"), "low");
  assert_int_equal(json_array_size(json_object_get(fmu, "messages")), 0);
  json_decref(fmu);
  snprintf(path, sizeof path, "%s/imperfect2.fmu", fmus);
  fmu = describe(path, NULL, "yoke-fmu");
  assert_int_equal(json_array_size(json_object_get(fmu, "messages")), 4);
  json_decref(fmu);
}

// What a description says about `trust`.
static const json_t* check_trust(const json_t* document, bool is_given, const char* companions,
                                 double limit) {
  const json_t* trust = json_object_get(document, "trust");
  assert_int_equal(json_is_true(json_object_get(trust, "given")), is_given);
  assert_string_equal(text_of(trust, "companions"), companions);
  check_near(number_of(trust, "limit"), limit, 0);
  check_near(number_of(trust, "wrong"), 0.10, 0);
  return trust;
}

// a file and the system loaded from it have one description
static void test_system(void** state) {
  (void)state;
  HEAR(told);
  const char* path = "api_describe.yaml";
  const char* const sets[] = {"time.step=0.02"};
  const yoke_load_settings settings = {.sink = &told.sink, .sets = sets, .n_sets = 1};
  write_file(path, two);
  yoke_system* system = NULL;
  char *of_file = NULL, *of_system = NULL;
  check_ok(yoke_describe(path, &settings, &of_file));
  check_ok(yoke_system_load(path, &settings, &system));
  check_ok(yoke_system_describe(system, &of_system));
  assert_string_equal(of_file, of_system);
  yoke_text_free(&of_file);
  yoke_text_free(&of_system);
  yoke_system_destroy(&system);

  json_t* document = describe(path, &settings, "yoke-system");
  check_near(number_of(document, "step"), 0.02, 0);
  check_near(number_of(document, "steps"), 50, 0);
  const json_t* setting = find(find(document, "units", "a"), "settings", "k");
  assert_string_equal(text_of(setting, "value"), "10");
  const json_t* links = json_object_get(document, "connections");
  assert_int_equal(json_array_size(links), 3);
  check_near(number_of(json_array_get(links, 2), "gain"), 2, 0);
  check_trust(document, false, "auto", 0.05);
  json_decref(document);

  const char* const trust[] = {"trust.limit=0.02", "trust.companions=half", "trust.signals=b.*",
                               "trust.limits.b.x=2e-3", "trust.status=false"};
  const yoke_load_settings judged = {.sink = &told.sink, .sets = trust, .n_sets = 5};
  document = describe(path, &judged, "yoke-system");
  const json_t* asked = check_trust(document, true, "half", 0.02);
  assert_false(json_is_true(json_object_get(asked, "status")));
  const json_t* signals = json_object_get(asked, "signals");
  assert_int_equal(json_array_size(signals), 1);
  assert_string_equal(json_string_value(json_array_get(signals, 0)), "b.*");
  const json_t* limit = json_array_get(json_object_get(asked, "limits"), 0);
  assert_string_equal(text_of(limit, "signal"), "b.x");
  check_near(number_of(limit, "limit"), 2e-3, 0);
  json_decref(document);
  remove(path);
}

static void test_nonsense(void** state) {
  (void)state;
  HEAR(told);
  const yoke_load_settings settings = {.sink = &told.sink};
  static const struct {
    const char *what, *text;
    yoke_status status;
  } wrong[] = {
      {"oscillator.forse", "did you mean 'oscillator.force'?", YOKE_NO_SUCH_NAME},
      {"", "'' is neither a model", YOKE_NO_SUCH_NAME},
      {"\xff\x01 %s", "is neither a model", YOKE_NO_SUCH_NAME},
      {"no_such.yaml", "no_such.yaml", YOKE_IO},
      {"no_such.fmu", "no_such.fmu", YOKE_IO},
      {"no_such.cir", "no_such.cir", YOKE_IO},
      {"./no_such.so", "no_such.so", YOKE_IO},
      {"/", "", YOKE_IO},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char* json = (char*)&told;
    heard_clear(&told);
    const yoke_status status = yoke_describe(wrong[i].what, &settings, &json);
    if (status != wrong[i].status) {
      fail_msg("'%s': %d: %s", wrong[i].what, status, told.text);
    }
    assert_null(json);
    assert_true(told.text[0] != '\0');
    check_contains(told.text, wrong[i].text);
    assert_int_equal(yoke_describe(wrong[i].what, NULL, &json), wrong[i].status);
  }

  const yoke_load_settings no_sets = {.sink = &told.sink, .n_sets = 1};
  const char* const null_set[] = {NULL};
  const yoke_load_settings of_null = {.sets = null_set, .n_sets = 1};
  char* json = (char*)&told;
  assert_int_equal(yoke_describe("gain", NULL, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_describe(NULL, NULL, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_describe("x.yaml", &no_sets, &json), YOKE_BAD_ARG);
  assert_null(json);
  assert_int_equal(yoke_describe("x.cir", &of_null, &json), YOKE_BAD_ARG);
  assert_null(json);
}

#if HAS_OWN_MALLOC

// With a heap that fails at request n; true if it was never asked that often.
static bool describe_with_failure(const char* what, long n, bool fails_onwards) {
  char* json = NULL;
  heap = (failing_heap){.is_on = true, .fails_at = n, .fails_onwards = fails_onwards};
  const yoke_status status = yoke_describe(what, NULL, &json);
  const bool is_whole = status < 0 ? json == NULL : json != NULL && json[strlen(json) - 1] == '\n';
  yoke_text_free(&json);
  heap.is_on = false;
  const bool is_done = heap.n_requests <= n;
  if (heap.n_blocks != 0 || !is_whole || (is_done && status < 0)) {
    fail_msg("%s, request %ld failed: status %d, %ld blocks are left over", what, n, status,
             heap.n_blocks);
  }
  return is_done;
}

static void test_memory(void** state) {
  (void)state;
  char fmu[1024];
  snprintf(fmu, sizeof fmu, "%s/trivial2",
           getenv("YOKE_FMUS"));  // unpacked: libzip has leaks of its own
  const char* const things[] = {NULL, "gain", "mpsm", "api_describe.cir", "api_describe.yaml", fmu};
  write_file("api_describe.cir", netlist);
  write_file("api_describe.yaml", two);
  for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
    for (int fails_onwards = 0; fails_onwards < 2; fails_onwards++) {
      long n = 0;
      while (!describe_with_failure(things[i], n, fails_onwards == 1)) {
        n++;
      }
      assert_true(n > 0);
    }
  }
  remove("api_describe.cir");
  remove("api_describe.yaml");
}

#else

// Sanitizers bring their own allocator.
static void test_memory(void** state) {
  (void)state;
  print_message("skipped: failing allocations, which sanitizers do not allow\n");
  skip();
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_models), cmocka_unit_test(test_netlist),  cmocka_unit_test(test_fmu),
      cmocka_unit_test(test_system), cmocka_unit_test(test_nonsense), cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests_name("api_describe", tests, NULL, NULL);
}
