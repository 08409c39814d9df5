// Error bands and verdicts on twenty random systems; all of them are in test_trust_study_slow.c, the tables in
// docs/studies/trust.md.
#include "trust/trust_checks.h"

enum { N_SYSTEMS = 20 };

static int run_linear(void** state) {
  (void)state;
  study_linear(&linear, STUDY_FINAL, N_SYSTEMS, 10);
  print_set("linear", &linear);
  return 0;
}

// A study of its own with a stiff reference: most of the time of this file.
static void test_rectifier(void** state) {
  (void)state;
  if (getenv("YOKE_FULL") == NULL) {
    print_message("left to YOKE_FULL: the rectifier\n");
    return;
  }
  static study_set circuit;
  const char* top = getenv("YOKE_SOURCE_DIR");
  study_circuit(&circuit, top == NULL ? "." : top);
  print_set("rectifier", &circuit);
  check_trustworthy(&circuit);
  check_wrong(&circuit);
  check_between(study_coverage(&circuit.all), 0.985, 1);
  study_free_set(&circuit);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bands_TR_03), cmocka_unit_test(test_trustworthy_TR_04),
      cmocka_unit_test(test_wrong_TR_05), cmocka_unit_test(test_good_TR_06),
      cmocka_unit_test(test_rectifier),
  };
  return cmocka_run_group_tests(tests, run_linear, free_linear);
}
