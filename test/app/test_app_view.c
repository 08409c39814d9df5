// Patterns that are filled with the members of a document: values, widths, conditions, plurals; what is missing or wrong.
#define _POSIX_C_SOURCE 200809L  // strdup
#include "support/check.h"

// the program is not part of the library: its source comes in here
#include "app/app_view.c"  // NOLINT(bugprone-suspicious-include)

bool yoke__app_error(const char* command, const char* format, ...) {
  (void)command;
  (void)format;
  fail_msg("an error was printed");
  return false;
}

static const char document[] =
    "{\"text\": \"two words\", \"empty\": \"\", \"real\": 0.1, \"large\": 1e9, \"count\": 1000000,"
    " \"one\": 1, \"zero\": 0, \"yes\": true, \"no\": false, \"nothing\": null,"
    " \"list\": [1], \"hollow\": [], \"brace\": \"{text}\"}";

static void check_pattern(const json_t* root, const char* pattern, const char* want) {
  yoke_text text = {0};
  yoke__view_write(&text, root, pattern);
  check_ok(text.status);
  if (strcmp(text.bytes == NULL ? "" : text.bytes, want) != 0) {
    fail_msg("'%s' gives '%s', expected '%s'", pattern, text.bytes, want);
  }
  yoke__text_free(&text);
}

static void test_patterns(void** state) {
  (void)state;
  static const char* const cases[][2] = {
      {"", ""},
      {"plain } text", "plain } text"},
      {"{text}, {real} and {large}, {count}", "two words, 0.1 and 1e9, 1000000"},
      {"[{text:12}] [{one:3}] [{text:2}]", "[two words   ] [1  ] [two words]"},
      {"{missing}{nothing}{yes}{list}", ""},
      {"{brace}", "{text}"},
      // conditions
      {"{text?a}{empty?b}{real?c}{zero?d}{yes?e}{no?f}{nothing?g}{list?h}{hollow?i}{missing?j}",
       "aceh"},
      {"{text!a}{empty!b}{real!c}{zero!d}{yes!e}{no!f}{nothing!g}{list!h}{hollow!i}{missing!j}",
       "bdfgij"},
      {"{text@a}{empty@b}{zero@d}{no@f}{nothing@g}{hollow@i}{missing@j}", "abdfi"},
      {"{yes?1{no!2{text? {text}}}3}{no?4{yes?5}}6", "12 two words36"},
      {"{count} step{count#}, {one} step{one#}, {zero} step{zero#}",
       "1000000 steps, 1 step, 0 steps"},
      // a pattern that is not closed ends the text
      {"a{text", "atwo words"},
      {"a{yes?b", "ab"},
      {"a{", "a"},
  };
  json_t* root = json_loads(document, 0, NULL);
  assert_non_null(root);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_pattern(root, cases[i][0], cases[i][1]);
  }
  // no object at all
  check_pattern(NULL, "a{text}{yes?b}{yes!c}{one#}", "acs");
  check_pattern(json_object_get(root, "list"), "{text}{yes!c}", "c");
  json_decref(root);
}

static void test_messages(void** state) {
  (void)state;
  char* text = strdup(
      "{\"messages\": [{\"severity\": \"warning\", \"file\": \"a.cir\", \"line\": 4,"
      " \"text\": \"odd\", \"hint\": \"even\"}, {\"severity\": \"error\", \"text\": \"bad\"}],"
      " \"messages_not_listed\": 3}");
  json_t* root = yoke__view_open("info", &text);
  assert_null(text);
  yoke_messages messages = {0};
  yoke__view_messages(root, &messages);
  assert_int_equal(messages.n, 2);
  assert_int_equal(messages.n_dropped, 3);
  char lines[256];
  yoke__messages_format(&messages, lines, sizeof lines);
  assert_string_equal(lines, "a.cir:4: warning: odd; even\nerror: bad\n... and 3 more\n");
  yoke__messages_free(&messages);
  json_decref(root);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_patterns),
      cmocka_unit_test(test_messages),
  };
  return cmocka_run_group_tests_name("app_view", tests, NULL, NULL);
}
