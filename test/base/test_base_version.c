// The library says what it is: the version of its header, a commit, and flags that can change numbers.
#include "base/base_version.h"

#include "support/check.h"
#include "yoke/version.h"

// the three numbers and the text are written separately in the header
static void version_text_agrees_with_its_numbers(void** state) {
  (void)state;
  char expected[64];
  snprintf(expected, sizeof expected, "%d.%d.%d", YOKE_VERSION_MAJOR, YOKE_VERSION_MINOR,
           YOKE_VERSION_PATCH);
  assert_string_equal(yoke_version(), expected);
}

// a commit id is hexadecimal; outside of a repository it is the word "unknown"
static void commit_is_an_id_or_unknown(void** state) {
  (void)state;
  const char* commit = yoke__commit();
  if (strcmp(commit, "unknown") != 0) {
    assert_true(strlen(commit) >= 4);
    assert_int_equal(strspn(commit, "0123456789abcdef"), strlen(commit));
  }
}

static void build_names_compiler_and_contraction(void** state) {
  (void)state;
  assert_true(strncmp(yoke__build(), "gcc ", 4) == 0 || strncmp(yoke__build(), "clang ", 6) == 0);
  check_contains(yoke__build(), "-ffp-contract=off");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(version_text_agrees_with_its_numbers),
      cmocka_unit_test(commit_is_an_id_or_unknown),
      cmocka_unit_test(build_names_compiler_and_contraction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
