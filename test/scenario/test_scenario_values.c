// Values of variables: yoke__node_values for every type and shape, yoke__node_child, and patterns.
#include "scenario_helper.h"

// Reads the value of `units.a.with.v` as a type. The caller frees with value_free.
typedef struct value {
  reading* r;
  yoke_arena arena;
  yoke_messages messages;
  yoke_status status;
  void* values;
  size_t n_rows, n_cols;
  char text[4096];
} value;

static value* value_of(const char* text, yoke_type type, const char* const items[]) {
  char file[2048];
  snprintf(file, sizeof file,
           "yoke: 1\ntime: {stop: 1, step: 1}\nunits: {a: {model: m, with: {v: %s}}}\n", text);
  value* v = calloc(1, sizeof *v);
  assert_non_null(v);
  v->r = reading_good(file);
  v->status = yoke__node_values(v->r->scenario->units[0].with[0].value, type, items,
                                "parameter 'v' of unit 'a'", &v->arena, &v->messages, &v->values,
                                &v->n_rows, &v->n_cols);
  yoke__messages_format(&v->messages, v->text, sizeof v->text);
  assert_true((v->status == YOKE_OK) == (v->values != NULL));
  assert_true((v->status == YOKE_OK) == (v->messages.n_errors == 0));
  return v;
}

static void value_free(value* v) {
  yoke__arena_free(&v->arena);
  yoke__messages_free(&v->messages);
  reading_free(v->r);
  free(v);
}

static void check_shape(const value* v, size_t n_rows, size_t n_cols) {
  if (v->status != YOKE_OK) {
    fail_msg("status %d: %s", (int)v->status, v->text);
  }
  assert_int_equal(v->n_rows, n_rows);
  assert_int_equal(v->n_cols, n_cols);
}

static void test_reals(void** state) {
  (void)state;
  static const struct {
    const char* text;
    double number;
  } cases[] = {{"1", 1},       {"-2.5e-3", -2.5e-3},
               {"+4", 4},      {".5", 0.5},
               {"5.", 5},      {"1E3", 1000},
               {"1e+3", 1000}, {"0", 0},
               {"010", 10},    {"1e-400", 0},
               {"0.1", 0.1},   {"1.7976931348623157e308", 1.7976931348623157e308}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    value* v = value_of(cases[i].text, YOKE_REAL, NULL);
    check_shape(v, 1, 1);
    check_near(((double*)v->values)[0], cases[i].number, 0);
    value_free(v);
  }
}

static void test_lists_and_matrices(void** state) {
  (void)state;
  value* v = value_of("[1, 2, 3]", YOKE_REAL, NULL);
  check_shape(v, 3, 1);
  check_near(((double*)v->values)[2], 3, 0);
  value_free(v);

  // row by row
  v = value_of("[[1, 2, 3], [4, 5, 6]]", YOKE_REAL, NULL);
  check_shape(v, 2, 3);
  for (int i = 0; i < 6; i++) {
    check_near(((double*)v->values)[i], i + 1, 0);
  }
  value_free(v);
  v = value_of("[[7]]", YOKE_INTEGER, NULL);
  check_shape(v, 1, 1);
  assert_true(((int64_t*)v->values)[0] == 7);
  value_free(v);
}

static void test_other_types(void** state) {
  (void)state;
  value* v = value_of("[-9223372036854775808, 9223372036854775807, +3]", YOKE_INTEGER, NULL);
  check_shape(v, 3, 1);
  assert_true(((int64_t*)v->values)[0] == INT64_MIN);
  assert_true(((int64_t*)v->values)[1] == INT64_MAX);
  value_free(v);

  v = value_of("[true, false]", YOKE_BOOLEAN, NULL);
  check_shape(v, 2, 1);
  assert_true(((int64_t*)v->values)[0] == 1 && ((int64_t*)v->values)[1] == 0);
  value_free(v);

  static const char* const items[] = {"off", "standby", "on", NULL};
  v = value_of("[on, 'off']", YOKE_ENUMERATION, items);
  check_shape(v, 2, 1);
  assert_true(((int64_t*)v->values)[0] == 2 && ((int64_t*)v->values)[1] == 0);
  value_free(v);

  // any scalar is a text, also a number
  v = value_of("[abc, '1', 2.50, true, '']", YOKE_STRING, NULL);
  check_shape(v, 5, 1);
  static const char* const texts[] = {"abc", "1", "2.50", "true", ""};
  for (size_t i = 0; i < 5; i++) {
    assert_string_equal(((const char**)v->values)[i], texts[i]);
  }
  value_free(v);
}

static void test_mistakes(void** state) {
  (void)state;
  static const char* const items[] = {"off", "standby", "on", NULL};
#define WHAT ": error: parameter 'v' of unit 'a': "
  static const struct {
    const char* text;
    yoke_type type;
    const char* message;
  } cases[] = {
      {"abc", YOKE_REAL, "3:33" WHAT "expected a number, found the text 'abc'"},
      {"'1'", YOKE_REAL, "3:33" WHAT "expected a number, found the text '1' (in quotes)"},
      {"true", YOKE_REAL, "3:33" WHAT "expected a number, found true"},
      {"~", YOKE_REAL, "3:33" WHAT "expected a number, found nothing"},
      {".inf", YOKE_REAL, "3:33" WHAT "expected a number, found .inf (numbers must be finite)"},
      {"-1e999", YOKE_REAL,
       "3:33" WHAT "expected a number, found -1e999, which is too large for a number"},
      {"{x: 1}", YOKE_REAL, "3:33" WHAT "expected a value or a list, found a map"},
      {"[]", YOKE_REAL, "3:33" WHAT "expected a value, found an empty list"},
      {"[[]]", YOKE_REAL, "3:34" WHAT "expected a value, found an empty list"},
      {"[[1, 2], [3]]", YOKE_REAL, "3:42" WHAT "a row of 1 values, but the first row has 2"},
      {"[[1], 2]", YOKE_REAL, "3:39" WHAT "expected a list like the first entry"},
      {"[1, [2]]", YOKE_REAL, "3:37" WHAT "expected a single value like the first entry"},
      {"[1, {a: 2}]", YOKE_REAL, "3:37" WHAT "expected a single value like the first entry"},
      {"[[[1]]]", YOKE_REAL, "3:35" WHAT "expected a number, found a list"},
      {"[[[1]]]", YOKE_ENUMERATION, "3:35" WHAT "expected off, standby or on, found a list"},
      {"[[[1]]]", YOKE_BOOLEAN, "3:35" WHAT "expected true or false, found a list"},
      {"[[[1]]]", YOKE_STRING, "3:35" WHAT "expected a text, found a list"},
      {"1.5", YOKE_INTEGER, "3:33" WHAT "expected an integer, found 1.5"},
      {"9223372036854775808", YOKE_INTEGER,
       "3:33" WHAT "expected an integer, found 9223372036854775808"},
      {"yes", YOKE_BOOLEAN, "3:33" WHAT "expected true or false, found the text 'yes'"},
      {"1", YOKE_BOOLEAN, "3:33" WHAT "expected true or false, found 1"},
      {"'true'", YOKE_BOOLEAN, "3:33" WHAT "expected true or false, found the text 'true'"},
      {"standbi", YOKE_ENUMERATION,
       "3:33" WHAT
       "expected off, standby or on, found the text 'standbi'; did you mean 'standby'?"},
      {"~", YOKE_STRING, "3:33" WHAT "expected a text, found nothing"},
      {"x", YOKE_BINARY, "3:33" WHAT "binary values cannot be written in a system file"},
  };
#undef WHAT
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    value* v = value_of(cases[i].text, cases[i].type, items);
    char want[512];
    snprintf(want, sizeof want, "dir/t.yaml:%s\n", cases[i].message);
    if (strcmp(v->text, want) != 0) {
      fail_msg("%s\ngot:      %sexpected: %s", cases[i].text, v->text, want);
    }
    assert_int_equal(v->status, YOKE_BAD_INPUT);
    value_free(v);
  }
}

// All bad elements of a list are reported.
static void test_all_bad_elements(void** state) {
  (void)state;
  value* v = value_of("[a, 1, b]", YOKE_REAL, NULL);
  assert_int_equal(v->messages.n_errors, 2);
  check_contains(v->text, "3:34: error");
  check_contains(v->text, "3:40: error");
  value_free(v);
}

static void test_children(void** state) {
  (void)state;
  value* v = value_of("{b: 1, a: [2]}", YOKE_REAL, NULL);
  const yoke_node* map = v->r->scenario->units[0].with[0].value;
  assert_string_equal(yoke__node_child(map, "b")->text, "1");
  assert_int_equal(yoke__node_child(map, "a")->n_children, 1);
  assert_null(yoke__node_child(map, "c"));
  assert_null(yoke__node_child(yoke__node_child(map, "a"), "b"));
  assert_null(yoke__node_child(NULL, "a"));
  value_free(v);
}

static void test_patterns(void** state) {
  (void)state;
  static const struct {
    const char *pattern, *text;
    bool is_match;
  } cases[] = {
      {"*", "", true},
      {"*", "left.x", true},
      {"", "", true},
      {"", "a", false},
      {"left.*", "left.x", true},
      {"left.*", "left.", true},
      {"left.*", "right.x", false},
      {"*.x", "left.x", true},
      {"*.x", "left.xx", false},
      {"*.x", "left.x.x", true},
      {"l*t.?", "left.x", true},
      {"l*t.?", "left.", false},
      {"?", "", false},
      {"a*b*c", "a1b2b3c", true},
      {"a*b*c", "a1c2b", false},
      {"**a**", "bab", true},
      {"u.x[0]", "u.x[0]", true},  // brackets are part of names
      {"u.x[0]", "u.x0", false},
      {"u.x[?]", "u.x[7]", true},
      {"u.?", "u.\xc3\xa9", true},  // one character of two bytes
      {"u.??", "u.\xc3\xa9", false},
      {"*?\xc3\xa9", "\xc3\xa9\xc3\xa9", true},
      {"Left.x", "left.x", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (yoke__glob_match(cases[i].pattern, cases[i].text) != cases[i].is_match) {
      fail_msg("pattern '%s' on '%s': expected %s", cases[i].pattern, cases[i].text,
               cases[i].is_match ? "a match" : "no match");
    }
  }
}

// Many stars on a long text: one pass per star at most, not exponential.
static void test_hard_patterns_are_quick(void** state) {
  (void)state;
  static char text[20001], pattern[201];
  memset(text, 'a', sizeof text - 1);
  for (size_t i = 0; i + 1 < sizeof pattern; i += 2) {
    pattern[i] = '*';
    pattern[i + 1] = 'a';
  }
  assert_true(yoke__glob_match(pattern, text));
  pattern[sizeof pattern - 2] = 'b';
  assert_false(yoke__glob_match(pattern, text));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reals),
      cmocka_unit_test(test_lists_and_matrices),
      cmocka_unit_test(test_other_types),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_all_bad_elements),
      cmocka_unit_test(test_children),
      cmocka_unit_test(test_patterns),
      cmocka_unit_test(test_hard_patterns_are_quick),
  };
  return cmocka_run_group_tests_name("scenario_values", tests, NULL, NULL);
}
