// JSON writer: exact text, escaping, replacement of broken UTF-8; misuse is reported.
#include "base/base_json.h"

#include "support/check.h"

static void nested_text_is_exact(void** state) {
  (void)state;
  yoke_json json = {0};
  yoke__json_begin_object(&json, NULL);
  yoke__json_string(&json, "name", "linear oscillator");
  yoke__json_integer(&json, "steps", 10000);
  yoke__json_number(&json, "rho", 0.1);
  yoke__json_number(&json, "bad", (double)NAN);
  yoke__json_boolean(&json, "late", false);
  yoke__json_begin_array(&json, "limits");
  yoke__json_number(&json, NULL, 1e-9);
  yoke__json_integer(&json, NULL, -3);
  yoke__json_string(&json, NULL, NULL);
  yoke__json_end_array(&json);
  yoke__json_begin_array(&json, "bonds");
  yoke__json_begin_object(&json, NULL);
  yoke__json_null(&json, "a");
  yoke__json_end_object(&json);
  yoke__json_begin_object(&json, NULL);
  yoke__json_end_object(&json);
  yoke__json_end_array(&json);
  yoke__json_begin_array(&json, "none");
  yoke__json_end_array(&json);
  yoke__json_end_object(&json);
  check_ok(yoke__json_finish(&json));
  assert_string_equal(json.text.bytes, "{\n"
                                       "  \"name\": \"linear oscillator\",\n"
                                       "  \"steps\": 10000,\n"
                                       "  \"rho\": 0.1,\n"
                                       "  \"bad\": null,\n"
                                       "  \"late\": false,\n"
                                       "  \"limits\": [1e-9, -3, null],\n"
                                       "  \"bonds\": [\n"
                                       "    {\n"
                                       "      \"a\": null\n"
                                       "    },\n"
                                       "    {}\n"
                                       "  ],\n"
                                       "  \"none\": []\n"
                                       "}\n");
  assert_int_equal(json.text.n, strlen(json.text.bytes));
  yoke__json_free(&json);
  assert_null(json.text.bytes);
}

static void document_begins_with_its_format(void** state) {
  (void)state;
  yoke_json json = {0};
  yoke__json_begin_document(&json, "summary");
  yoke__json_integer(&json, "steps", 3);
  yoke__json_end_object(&json);
  check_ok(yoke__json_finish(&json));
  assert_string_equal(json.text.bytes, "{\n"
                                       "  \"format\": \"yoke-summary\",\n"
                                       "  \"version\": 1,\n"
                                       "  \"steps\": 3\n"
                                       "}\n");
  yoke__json_free(&json);
}

static void check_string(const char* text, const char* want) {
  yoke_json json = {0};
  yoke__json_string(&json, NULL, text);
  check_ok(yoke__json_finish(&json));
  json.text.bytes[json.text.n - 1] = '\0';
  assert_string_equal(json.text.bytes, want);
  yoke__json_free(&json);
}

static void strings_are_escaped(void** state) {
  (void)state;
  check_string("", "\"\"");
  check_string("a\"b\\c", "\"a\\\"b\\\\c\"");
  check_string("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"");
  check_string("\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\"");
  check_string("/ </script> <b", "\"/ <\\/script> <b\"");
  check_string("m\xc2\xb2 \xe2\x82\xac \xf0\x9f\x9a\x97",
               "\"m\xc2\xb2 \xe2\x82\xac \xf0\x9f\x9a\x97\"");
}

#define BAD "\xef\xbf\xbd"

static void broken_utf8_is_replaced(void** state) {
  (void)state;
  check_string("a\xff"
               "b",
               "\"a" BAD "b\"");
  check_string("\xc3", "\"" BAD "\"");                          // cut off by the end
  check_string("\xe2\x82", "\"" BAD BAD "\"");                  // cut off by the end
  check_string("\xe2\x82\"", "\"" BAD BAD "\\\"\"");            // cut off by a quote, which stays
  check_string("\xc0\xaf", "\"" BAD BAD "\"");                  // overlong
  check_string("\xe0\x80\xaf", "\"" BAD BAD BAD "\"");          // overlong
  check_string("\xed\xa0\x80", "\"" BAD BAD BAD "\"");          // surrogate
  check_string("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"");  // beyond U+10FFFF
  check_string("\xf8\x88\x80\x80\x80", "\"" BAD BAD BAD BAD BAD "\"");
}

static void misuse_is_reported(void** state) {
  (void)state;
  // a value without key in an object
  yoke_json json = {0};
  yoke__json_begin_object(&json, NULL);
  yoke__json_integer(&json, NULL, 1);
  yoke__json_end_object(&json);
  assert_int_equal(yoke__json_finish(&json), YOKE_BAD_ARG);
  yoke__json_free(&json);

  // a key in an array
  yoke__json_begin_array(&json, NULL);
  yoke__json_integer(&json, "a", 1);
  assert_int_equal(yoke__json_finish(&json), YOKE_BAD_ARG);
  yoke__json_free(&json);

  // closed with the wrong bracket, two roots, nothing, something left open
  yoke__json_begin_array(&json, NULL);
  yoke__json_end_object(&json);
  assert_int_equal(yoke__json_finish(&json), YOKE_BAD_ARG);
  yoke__json_free(&json);
  yoke__json_integer(&json, NULL, 1);
  yoke__json_integer(&json, NULL, 2);
  assert_int_equal(yoke__json_finish(&json), YOKE_BAD_ARG);
  yoke__json_free(&json);
  assert_int_equal(yoke__json_finish(&json), YOKE_BAD_ARG);
  yoke__json_free(&json);
  yoke__json_begin_object(&json, NULL);
  assert_int_equal(yoke__json_finish(&json), YOKE_BAD_ARG);
  yoke__json_free(&json);
  yoke__json_end_object(&json);
  assert_int_equal(yoke__json_finish(&json), YOKE_BAD_ARG);
  yoke__json_free(&json);

  // deeper than the writer can count
  for (int i = 0; i <= YOKE_JSON_DEPTH; i++) {
    yoke__json_begin_array(&json, NULL);
  }
  for (int i = 0; i <= YOKE_JSON_DEPTH; i++) {
    yoke__json_end_array(&json);
  }
  assert_int_equal(yoke__json_finish(&json), YOKE_BAD_ARG);
  yoke__json_free(&json);

  // the deepest allowed nesting works
  for (int i = 0; i < YOKE_JSON_DEPTH; i++) {
    yoke__json_begin_array(&json, NULL);
  }
  for (int i = 0; i < YOKE_JSON_DEPTH; i++) {
    yoke__json_end_array(&json);
  }
  check_ok(yoke__json_finish(&json));
  yoke__json_free(&json);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nested_text_is_exact), cmocka_unit_test(document_begins_with_its_format),
      cmocka_unit_test(strings_are_escaped),  cmocka_unit_test(broken_utf8_is_replaced),
      cmocka_unit_test(misuse_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
