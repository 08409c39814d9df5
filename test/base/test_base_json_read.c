// JSON that is read: numbers and texts come back as they were written, bad text is refused with its position, size and
// depth are bounded, members that are missing or of another kind have a default.
#include "base/base_json_read.h"

#include "base/base_check.h"
#include "base/base_json.h"
#include "base/base_message.h"
#include "support/check.h"
#include "support/heard.h"

static json_t* parse(const char* text) {
  json_t* root = NULL;
  YOKE_CATCH(err);
  // in a block of its own, so that a read behind the end is noticed
  const size_t n = strlen(text);
  char* bytes = malloc(n + (n == 0));
  assert_non_null(bytes);
  memcpy(bytes, text, n);
  if (yoke__json_parse(bytes, n, &root, &err.sink) < 0) {
    fail_msg("%s: %s", text, err.text);
  }
  free(bytes);
  return root;
}

static void members_have_defaults(void** state) {
  (void)state;
  json_t* root =
      parse(" {\"a\" : [1, -2.5e-3, 0, -0 , 1E+2],\"t\":true,\"n\":null,\r\n\t"
            "\"s\":\"x\",\"l\":[ 4, {\"name\": \"ab\", \"v\": 3}, {\"name\": \"a\"} ]} \n");
  static const double numbers[] = {1, -2.5e-3, 0, -0.0, 100};
  const json_t* a = json_object_get(root, "a");
  assert_int_equal(json_array_size(a), 5);
  for (size_t i = 0; i < 5; i++) {
    const double number = json_real_value(json_array_get(a, i));
    assert_memory_equal(&number, &numbers[i], sizeof number);
  }
  assert_string_equal(yoke__json_find_text(root, "s", ""), "x");
  const json_t* list = json_object_get(root, "l");
  check_near(yoke__json_find_number(yoke__json_find_named(list, "ab", 2), "v", 0), 3, 0);
  assert_ptr_equal(yoke__json_find_named(list, "ab", 1), json_array_get(list, 2));

  // what is not there, or of another kind
  assert_null(yoke__json_find_named(list, "b", 1));
  assert_null(yoke__json_find_named(root, "ab", 2));
  assert_null(yoke__json_find_named(NULL, "ab", 2));
  check_near(yoke__json_find_number(root, "s", 7), 7, 0);
  check_near(yoke__json_find_number(root, "t", 7), 7, 0);
  check_near(yoke__json_find_number(NULL, "v", 7), 7, 0);
  assert_string_equal(yoke__json_find_text(root, "a", "none"), "none");
  assert_string_equal(yoke__json_find_text(list, "s", "none"), "none");
  json_decref(root);
}

// the writer's text and back: the same bits and the same characters
static void what_was_written_is_read(void** state) {
  (void)state;
  static const double numbers[] = {0.1,       1e-300, 5e-324, -1.7976931348623157e308,
                                   1.0 / 3.0, 1e22,   -0.0,   9007199254740993.0};
  static const char nasty[] = "a\"b\\c/\x01\x1f</script>\xe2\x82\xac\xf0\x9f\x98\x80\n";
  yoke_json json = {0};
  yoke__json_begin_object(&json, NULL);
  yoke__json_string(&json, nasty, nasty);
  yoke__json_begin_array(&json, "numbers");
  for (size_t i = 0; i < YOKE_COUNT(numbers); i++) {
    yoke__json_number(&json, NULL, numbers[i]);
  }
  yoke__json_number(&json, NULL, (double)NAN);
  yoke__json_end_array(&json);
  yoke__json_end_object(&json);
  check_ok(yoke__json_finish(&json));
  json_t* root = parse(json.text.bytes);
  assert_string_equal(yoke__json_find_text(root, nasty, ""), nasty);
  const json_t* list = json_object_get(root, "numbers");
  for (size_t i = 0; i < YOKE_COUNT(numbers); i++) {
    const double number = json_real_value(json_array_get(list, i));
    assert_memory_equal(&number, &numbers[i], sizeof number);
  }
  assert_true(json_is_null(json_array_get(list, YOKE_COUNT(numbers))));
  json_decref(root);
  yoke__json_free(&json);
}

static void check_bad(const char* text, size_t n, const char* want) {
  HEAR(err);
  json_t* root = NULL;
  const yoke_status status = yoke__json_parse(text, n, &root, &err.sink);
  if (status != YOKE_BAD_INPUT || root != NULL || strstr(err.text, want) == NULL) {
    fail_msg("'%s': status %d, '%s', expected '%s'", text, (int)status, err.text, want);
  }
}

static void bad_text_is_refused_with_its_place(void** state) {
  (void)state;
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"", "?:1: error: '[' or '{' expected"},
      {"  \n ", "?:2:1: error: "},
      {"{\n  \"a\": }", "?:2:8: error: unexpected token near '}'"},
      {"[1,]", "?:1:4: error: "},
      {"[1 2]", "?:1:4: error: ']' expected near '2'"},
      {"[1", "']' expected near end of file"},
      {"{\"a\":1,}", "?:1:8: error: "},
      {"{a:1}", "?:1:2: error: "},
      {"{\"a\" 1}", "?:1:6: error: ':' expected"},
      {"{\"a\":1]", "?:1:7: error: '}' expected"},
      {"[1] 2", "?:1:5: error: end of file expected"},
      {"1.5", "'[' or '{' expected"},
      {"[+1]", "?:1:2: error: "},
      {"[.5]", "?:1:2: error: "},
      {"[5.]", "invalid token"},
      {"[01]", "invalid token"},
      {"[inf]", "invalid token"},
      {"[nan]", "invalid token"},
      {"[1e999]", "real number overflow"},
      {"[\"abc", "premature end of input"},
      {"[\"a\tb\"]", "control character 0x9"},
      {"[\"\\x\"]", "invalid escape"},
      {"[\"\\u12g4\"]", "invalid escape"},
      {"[\"\\u0000\"]", "\\u0000 is not allowed"},
      {"{\"a\\u0000\": 1}", "NUL byte in object key"},
      {"[\"\\ud800\"]", "invalid Unicode"},
      {"[\"\\udc00\"]", "invalid Unicode"},
      {"[\"\xff\"]", "unable to decode byte 0xff"},
      {"{\"a\": 1,\n \"a\": 2}", "?:2:4: error: duplicate object key"},
  };
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    check_bad(cases[i].text, strlen(cases[i].text), cases[i].want);
  }
  check_bad("[]\0", 3, "end of file expected");
  check_bad("[\"\0\"]", 5, "control character 0x0");
}

static void depth_and_size_are_bounded(void** state) {
  (void)state;
  enum { N = 100000 };
  char* text = malloc(N);
  assert_non_null(text);
  memset(text, '[', N);
  check_bad(text, N, "maximum parsing depth reached");

  // as deep as the writer goes
  memset(text + YOKE_JSON_DEPTH, ']', YOKE_JSON_DEPTH);
  json_t* root = NULL;
  HEAR(err);
  check_ok(yoke__json_parse(text, (size_t)2 * YOKE_JSON_DEPTH, &root, &err.sink));
  json_decref(root);

  // not looked at
  assert_int_equal(yoke__json_parse(text, YOKE_JSON_MAX_SIZE + 1, &root, &err.sink), YOKE_FULL);
  assert_string_equal(err.text, "error: more than 64 MB\n");
  assert_null(root);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_have_defaults),
      cmocka_unit_test(what_was_written_is_read),
      cmocka_unit_test(bad_text_is_refused_with_its_place),
      cmocka_unit_test(depth_and_size_are_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
