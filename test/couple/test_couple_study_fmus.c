#define _POSIX_C_SOURCE 200809L  // setenv
// `auto` on two-unit loops of the study whose units were exported as FMUs: they say enough (dependencies, derivatives) to be
// served as the native units are. docs/studies/coupling.md has more of them.
#include "bench/coupling_fmu.h"
#include "support/check.h"

enum { N_SYSTEMS = 6 };

// Shares within 5 points are asked for; the FMUs run the code of the models, so their signals are the same to the last bit.
static void check_twins(int fmi) {
  coupling_twin twins[COUPLING_SHARES] = {0};
  const char* build = getenv("YOKE_BUILD_DIR");
  if (build != NULL) {
    setenv("YOKE_FMU_RUNTIME", build, 0);
  }
  coupling_compare_fmus(N_SYSTEMS, fmi, twins);
  for (int s = 0; s < COUPLING_SHARES; s++) {
    const coupling_twin* t = &twins[s];
    print_message("FMI %d.0, H/H_z %g: within 1 %% %d and %d of %d, errors differ by %.3g\n", fmi,
                  coupling_shares[s], t->n_1[0], t->n_1[1], t->n, t->most);
    assert_int_equal(t->n, N_SYSTEMS);
    assert_int_equal(t->n_1[1], t->n_1[0]);
    assert_int_equal(t->n_5[1], t->n_5[0]);
    assert_int_equal(t->n_lost[1], t->n_lost[0]);
    check_between(t->most, 0, 0);
  }
  assert_true(twins[0].n_5[1] > 0);
}

static void test_fmi_2(void** state) {
  (void)state;
  check_twins(2);
}

static void test_fmi_3(void** state) {
  (void)state;
  check_twins(3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fmi_2),
      cmocka_unit_test(test_fmi_3),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
