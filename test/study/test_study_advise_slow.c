// TR-19 on many random loops at four steps each.
#include "study/advise_checks.h"

static void test_choice_TR_19(void** state) {
  (void)state;
  static const double shares[] = {0.1, 0.3, 0.9, 3};
  check_choices(STUDY_FINAL, 100, shares, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice_TR_19)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
