// TR-21: the on-line error estimate on 24 random loops that took no part in choosing its constants; the same of three and four
// units.
#include "trust/online_checks.h"

enum { FIRST = 9001, COUNT = 24 };

static void test_random_loops_TR_21(void** state) {
  (void)state;
  online_tally t = {0};
  online_study(&t, FIRST, COUNT, 2);
  online_print(&t);
  check_between((double)t.n_covered / t.n_estimates, 0.95, 1);
  check_between((double)t.n_estimates / t.n_signals, 0.7, 1);
  assert_int_equal(t.n_trusted_false, 0);
  online_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_loops_TR_21)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
