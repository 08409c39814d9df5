// Which failures of the system are shortages, and that a list of messages remembers them.
#include "base/base_status.h"

#include <errno.h>

#include "base/base_message.h"
#include "support/check.h"

static void test_errno(void** state) {
  (void)state;
  static const struct {
    int code;
    yoke_status want;
  } cases[] = {
      {ENOMEM, YOKE_NO_MEMORY},
      {ENOSPC, YOKE_SHORTAGE},
      {EDQUOT, YOKE_SHORTAGE},
      {EMFILE, YOKE_SHORTAGE},
      {ENFILE, YOKE_SHORTAGE},
      {EAGAIN, YOKE_SHORTAGE},
      {EIO, YOKE_SHORTAGE},
      {ENOENT, YOKE_IO},
      {EACCES, YOKE_IO},
      {EFBIG, YOKE_IO},
      {0, YOKE_IO},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(yoke__status_of_errno(cases[i].code), cases[i].want);
    const bool is_shortage = cases[i].want == YOKE_NO_MEMORY || cases[i].want == YOKE_SHORTAGE;
    assert_int_equal(yoke__status_is_shortage(cases[i].want), is_shortage);
    assert_true(yoke__status_is_outside(cases[i].want));
  }
  assert_false(yoke__status_is_outside(YOKE_BAD_INPUT));
  assert_false(yoke__status_is_shortage(YOKE_OK));
  assert_string_equal(yoke__errno_text(ENOMEM), "out of memory");
}

// The first shortage among the errors decides; warnings and other errors do not.
static void test_messages(void** state) {
  (void)state;
  const yoke_place nowhere = {0};
  yoke_messages list = {0}, other = {0};
  yoke__error(&list, nowhere, "wrong");
  assert_int_equal(yoke__messages_status(&list, YOKE_BAD_INPUT), YOKE_BAD_INPUT);
  const yoke_message warning = {.severity = YOKE_WARNING, .status = YOKE_SHORTAGE, .text = "w"};
  yoke__messages_add(&list, &warning);
  assert_int_equal(yoke__messages_status(&list, YOKE_BAD_INPUT), YOKE_BAD_INPUT);
  assert_int_equal(yoke__messages_fail(&other, YOKE_SHORTAGE, nowhere, "full"), YOKE_SHORTAGE);
  yoke__messages_merge(&list, &other);
  yoke__messages_fail(&list, YOKE_NO_MEMORY, nowhere, "later");
  assert_int_equal(yoke__messages_status(&list, YOKE_BAD_INPUT), YOKE_SHORTAGE);
  assert_int_equal(yoke__messages_status(&list, YOKE_OK), YOKE_OK);
  yoke__messages_free(&other);
  yoke__messages_free(&list);
  assert_int_equal(yoke__messages_status(&list, YOKE_BAD_INPUT), YOKE_BAD_INPUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_errno),
      cmocka_unit_test(test_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
