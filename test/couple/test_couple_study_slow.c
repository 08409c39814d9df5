// `auto` against plain holding on all final systems, which took no part in choosing its constants. The same tables:
// docs/studies/coupling.md, tools/make_coupling_study.
#define IS_SAMPLE false
#include "couple/coupling_checks.h"

static int run_all(void** state) {
  (void)state;
  run_final(&final_table, COUPLING_FINAL_COUNT, COUPLING_PAIRS_FINAL_COUNT);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clean),
      cmocka_unit_test(test_noisy),
  };
  return cmocka_run_group_tests(tests, run_all, free_final);
}
