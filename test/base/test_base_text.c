// Growing text: what is appended, what a cell and a number become, UTF-8 and blanks.
#include "base/base_text.h"

#include "base/base_check.h"
#include "support/check.h"

static void test_append(void** state) {
  (void)state;
  yoke_text text = {0};
  yoke__text_append(&text, "abc", 2);
  yoke__text_string(&text, "");
  yoke__text_add(&text, "%d-%s", 7, "x");
  yoke__text_cell(&text, ",a \"b\"\n");
  yoke__text_number(&text, 0.1);
  yoke__text_number(&text, (double)NAN);
  assert_string_equal(text.bytes, "ab7-x\",a \"\"b\"\" \"0.1");
  assert_int_equal(text.n, strlen(text.bytes));
  yoke__text_clear(&text);
  for (int i = 0; i < 10000; i++) {
    yoke__text_append(&text, "0123456789", 10);
  }
  assert_int_equal(text.n, 100000);
  assert_int_equal(text.bytes[99999], '9');
  assert_int_equal(text.bytes[text.n], '\0');
  assert_int_equal(text.status, YOKE_OK);
  yoke__text_free(&text);
  assert_null(text.bytes);
}

static void test_utf8(void** state) {
  (void)state;
  static const struct {
    const char* bytes;
    size_t n;
  } cases[] = {{"a", 1},        {"\xc3\xa9", 2},     {"\xe2\x82\xac", 3}, {"\xf0\x9f\x98\x80", 4},
               {"\xc0\x80", 0}, {"\xe0\x80\x80", 0}, {"\xed\xa0\x80", 0}, {"\xf4\x90\x80\x80", 0},
               {"\xe2\x82", 0}, {"\x80", 0},         {"\xff", 0},         {"\xf0\x9f", 0}};
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    assert_int_equal(yoke__utf8_length(cases[i].bytes), cases[i].n);
  }
}

static void test_blanks(void** state) {
  (void)state;
  for (int c = -128; c < 128; c++) {
    assert_int_equal(yoke__is_blank((char)c), c != 0 && strchr(" \t\n\v\f\r", c) != NULL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_append),
      cmocka_unit_test(test_utf8),
      cmocka_unit_test(test_blanks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
