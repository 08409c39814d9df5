// Messages as JSON objects: every member, and only those that have a value.
#include "base/base_message_json.h"

#include "support/check.h"

static void check_json(const yoke_message* message, const char* want) {
  yoke_json json = {0};
  yoke__json_begin_array(&json, NULL);
  yoke__message_json(message, &json);
  yoke__json_end_array(&json);
  assert_int_equal(yoke__json_finish(&json), YOKE_OK);
  char flat[1024] = "";
  size_t n = 0;
  for (const char* c = json.text.bytes; *c != '\0' && n + 1 < sizeof flat; c++) {
    if (*c != '\n' && (*c != ' ' || (n > 0 && flat[n - 1] != ' '))) {
      flat[n++] = *c;
    }
  }
  yoke__json_free(&json);
  flat[n] = '\0';
  assert_string_equal(flat, want);
}

static void test_all_members(void** state) {
  (void)state;
  const yoke_message message = {.severity = YOKE_ERROR,
                                .status = YOKE_DIVERGED,
                                .file = "a.yaml",
                                .line = 3,
                                .column = 7,
                                .unit = "pump",
                                .variable = "p",
                                .time = 0.25,
                                .text = "output 'p' became nan",
                                .hint = "reduce the step"};
  check_json(&message,
             "[ { \"severity\": \"error\", \"status\": \"YOKE_DIVERGED\", \"file\": \"a.yaml\", "
             "\"line\": 3, \"column\": 7, \"unit\": \"pump\", \"variable\": \"p\", \"time\": 0.25, "
             "\"text\": \"output 'p' became nan\", \"hint\": \"reduce the step\" }]");
}

static void test_what_is_missing_is_left_out(void** state) {
  (void)state;
  const yoke_message note = {.severity = YOKE_NOTE, .time = (double)NAN, .text = "done"};
  check_json(&note, "[ { \"severity\": \"note\", \"text\": \"done\" }]");
  const yoke_message start = {.severity = YOKE_WARNING, .time = 0, .text = "slow"};
  check_json(&start, "[ { \"severity\": \"warning\", \"time\": 0, \"text\": \"slow\" }]");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_members),
                                     cmocka_unit_test(test_what_is_missing_is_left_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
