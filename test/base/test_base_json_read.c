// JSON reader: every kind of value, escapes, what the writer wrote comes back, and bad text with
// its position; depth and memory are bounded.
#include "base/base_json_read.h"

#include "base/base_json.h"
#include "base/base_message.h"
#include "support/check.h"
#include "support/heard.h"

typedef struct parsed {
  yoke_arena arena;
  const yoke_json_value* root;
} parsed;

static parsed parse(const char* text) {
  parsed p = {{0}, NULL};
  YOKE_CATCH(err);
  // in a block of its own, so that a read behind the end is noticed
  const size_t n = strlen(text);
  char* bytes = malloc(n + (n == 0));
  assert_non_null(bytes);
  memcpy(bytes, text, n);
  if (yoke__json_parse(bytes, n, &p.arena, &p.root, &err.sink) < 0) {
    fail_msg("%s: %s", text, err.text);
  }
  free(bytes);
  return p;
}

static void every_kind_is_read(void** state) {
  (void)state;
  parsed p = parse(" {\"a\" : [1, -2.5e-3, 0, -0 , 1E+2],\"t\":true,\"f\":false,\"n\":null,\r\n\t"
                   "\"s\":\"x\",\"e\":{},\"l\":[ ],\"o\":{\"a\":{\"b\":[[3]]}}} \n");
  const yoke_json_value* root = p.root;
  assert_int_equal(root->kind, YOKE_JSON_OBJECT);
  assert_int_equal(root->n, 8);
  static const double numbers[] = {1, -2.5e-3, 0, -0.0, 100};
  size_t i = 0;
  for (const yoke_json_value* v = yoke__json_members(yoke__json_find(root, "a")); v != NULL;
       v = v->next, i++) {
    assert_int_equal(v->kind, YOKE_JSON_NUMBER);
    assert_memory_equal(&v->number, &numbers[i], sizeof(double));
    assert_null(v->key);
  }
  assert_int_equal(i, 5);
  assert_true(yoke__json_find_boolean(root, "t", false));
  assert_false(yoke__json_find_boolean(root, "f", true));
  assert_int_equal(yoke__json_find(root, "n")->kind, YOKE_JSON_NULL);
  assert_string_equal(yoke__json_find_text(root, "s", ""), "x");
  assert_int_equal(yoke__json_find(root, "e")->n, 0);
  assert_int_equal(yoke__json_find(root, "l")->kind, YOKE_JSON_ARRAY);
  const yoke_json_value* b = yoke__json_find(yoke__json_find(yoke__json_find(root, "o"), "a"), "b");
  check_near(b->first->first->number, 3, 0);

  // what is not there, or of another kind
  assert_null(yoke__json_find(root, "x"));
  assert_null(yoke__json_find(NULL, "x"));
  assert_null(yoke__json_find(b, "x"));
  check_near(yoke__json_find_number(root, "s", 7), 7, 0);
  assert_string_equal(yoke__json_find_text(root, "a", "none"), "none");
  assert_true(yoke__json_find_boolean(root, "n", true));
  yoke__arena_free(&p.arena);
}

static void outermost_value_may_be_plain(void** state) {
  (void)state;
  parsed p = parse("1.5");
  check_near(p.root->number, 1.5, 0);
  yoke__arena_free(&p.arena);
  p = parse("\"\"");
  assert_string_equal(p.root->text, "");
  yoke__arena_free(&p.arena);
}

static void escapes_are_resolved(void** state) {
  (void)state;
  parsed p = parse("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\", "
                   "\"<\\/\xc3\xa9\", {\"\\u006b\": 1}]");
  const yoke_json_value* v = p.root->first;
  assert_string_equal(v->text, "\"\\/\b\f\n\r\t");
  v = v->next;
  assert_string_equal(v->text, "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  v = v->next;
  assert_string_equal(v->text, "</\xc3\xa9");
  check_near(yoke__json_find_number(v->next, "k", 0), 1, 0);
  yoke__arena_free(&p.arena);
}

// the writer's text and back: the same bits and the same characters
static void what_was_written_is_read(void** state) {
  (void)state;
  static const double numbers[] = {0.1, 1e-300, 5e-324, -1.7976931348623157e308, 1.0 / 3.0, 1e22};
  static const char nasty[] = "a\"b\\c/\x01\x1f</script>\xe2\x82\xac\n";
  yoke_json json = {0};
  yoke__json_begin_object(&json, NULL);
  yoke__json_string(&json, nasty, nasty);
  yoke__json_begin_array(&json, "numbers");
  for (size_t i = 0; i < 6; i++) {
    yoke__json_number(&json, NULL, numbers[i]);
  }
  yoke__json_number(&json, NULL, (double)NAN);
  yoke__json_end_array(&json);
  yoke__json_end_object(&json);
  check_ok(yoke__json_finish(&json));
  parsed p = parse(json.text);
  assert_string_equal(yoke__json_find_text(p.root, nasty, ""), nasty);
  const yoke_json_value* v = yoke__json_members(yoke__json_find(p.root, "numbers"));
  for (size_t i = 0; i < 6; i++, v = v->next) {
    assert_memory_equal(&v->number, &numbers[i], sizeof(double));
  }
  assert_int_equal(v->kind, YOKE_JSON_NULL);
  yoke__arena_free(&p.arena);
  yoke__json_free(&json);
}

static void bad_text_is_refused_with_its_place(void** state) {
  (void)state;
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"", "?:1:1: error: expected a value"},
      {"  \n ", "?:2:2: error: expected a value"},
      {"{\n  \"a\": }", "?:2:8: error: expected a value"},
      {"[1,]", "?:1:4: error: expected a value"},
      {"[,1]", "?:1:2: error: expected a value"},
      {"[1 2]", "?:1:4: error: expected ',' or ']'"},
      {"[1", "?:1:3: error: expected ',' or ']'"},
      {"{\"a\":1,}", "?:1:8: error: expected a name in quotes"},
      {"{a:1}", "?:1:2: error: expected a name in quotes"},
      {"{\"a\" 1}", "?:1:6: error: expected ':'"},
      {"{\"a\":1]", "?:1:7: error: expected ',' or '}'"},
      {"1 2", "?:1:3: error: something stands behind the value"},
      {"]", "?:1:1: error: expected a value"},
      {"+1", "expected a value"},
      {".5", "expected a value"},
      {"5.", "not a number"},
      {"-", "not a number"},
      {"1e", "not a number"},
      {"01", "?:1:2: error: something stands behind the value"},
      {"inf", "expected a value"},
      {"nan", "expected a value"},
      {"nul", "expected a value"},
      {"1e999", "the number is too large"},
      {"\"abc", "the string does not end"},
      {"\"abc\\", "the string does not end"},
      {"\"a\tb\"", "?:1:3: error: a control character"},
      {"\"\\x\"", "?:1:2: error: unknown escape"},
      {"\"\\u12g4\"", "four hexadecimal digits"},
      {"\"\\u12", "four hexadecimal digits"},
      {"\"\\u0000\"", "U+0000"},
      {"\"\\ud800\"", "half of a surrogate pair"},
      {"\"\\ud800\\u0041\"", "half of a surrogate pair"},
      {"\"\\udc00\"", "half of a surrogate pair"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    HEAR(err);
    yoke_arena arena = {0};
    const yoke_json_value* root = NULL;
    const yoke_status status =
        yoke__json_parse(cases[i].text, strlen(cases[i].text), &arena, &root, &err.sink);
    if (status != YOKE_BAD_INPUT || root != NULL || strstr(err.text, cases[i].want) == NULL) {
      fail_msg("'%s': status %d, '%s', expected '%s'", cases[i].text, (int)status, err.text,
               cases[i].want);
    }
    yoke__arena_free(&arena);
  }
}

static void a_zero_byte_is_no_end(void** state) {
  (void)state;
  YOKE_CATCH(err);
  yoke_arena arena = {0};
  const yoke_json_value* root = NULL;
  assert_int_equal(yoke__json_parse("1\0", 2, &arena, &root, &err.sink), YOKE_BAD_INPUT);
  assert_int_equal(yoke__json_parse("\"\\u00\0\0\"", 9, &arena, &root, &err.sink), YOKE_BAD_INPUT);
  yoke__arena_free(&arena);
}

// as deep as the writer goes, and no deeper
static void depth_is_bounded(void** state) {
  (void)state;
  char text[2 * (YOKE_JSON_DEPTH + 1) + 1] = "";
  for (size_t depth = YOKE_JSON_DEPTH; depth <= YOKE_JSON_DEPTH + 1; depth++) {
    YOKE_CATCH(err);
    yoke_arena arena = {0};
    const yoke_json_value* root = NULL;
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    const yoke_status status = yoke__json_parse(text, 2 * depth, &arena, &root, &err.sink);
    assert_int_equal(status, depth == YOKE_JSON_DEPTH ? YOKE_OK : YOKE_BAD_INPUT);
    assert_true(depth == YOKE_JSON_DEPTH || strstr(err.text, "nested too deeply") != NULL);
    yoke__arena_free(&arena);
  }
}

// many values: blocks are chained, order is kept, memory stays within some hundred bytes per value
static void large_arrays_keep_their_order(void** state) {
  (void)state;
  enum { N = 20000 };
  yoke_json json = {0};
  yoke__json_begin_array(&json, NULL);
  for (int i = 0; i < N; i++) {
    yoke__json_integer(&json, NULL, i);
  }
  yoke__json_end_array(&json);
  check_ok(yoke__json_finish(&json));
  parsed p = parse(json.text);
  assert_int_equal(p.root->n, N);
  int i = 0;
  for (const yoke_json_value* v = p.root->first; v != NULL; v = v->next, i++) {
    assert_true(v->number == i);
  }
  assert_int_equal(i, N);
  check_between((double)p.arena.used / N, 1, 200);
  yoke__arena_free(&p.arena);
  yoke__json_free(&json);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_is_read),
      cmocka_unit_test(outermost_value_may_be_plain),
      cmocka_unit_test(escapes_are_resolved),
      cmocka_unit_test(what_was_written_is_read),
      cmocka_unit_test(bad_text_is_refused_with_its_place),
      cmocka_unit_test(a_zero_byte_is_no_end),
      cmocka_unit_test(depth_is_bounded),
      cmocka_unit_test(large_arrays_keep_their_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
