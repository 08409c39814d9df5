// Balancing by powers of two: smaller norms, exact both ways, and matrices that have no balanced form.
#include "linalg/linalg_scale.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg_dense.h"
#include "support/check.h"

static const yoke_scale_rule rules[] = {YOKE_SCALE_BY_GAIN, YOKE_SCALE_BY_FACTOR};

// Metres beside newtons: elements of 1 and 1e9 with eigenvalues of some 1e4.
static void test_mixed_units(void** state) {
  (void)state;
  static const double A[9] = {0, 1, 0, -1e5, -0.1, 0.1, 1e9, 1e3, -2e3};
  for (int i = 0; i < 2; i++) {
    double d[3], B[9];
    memcpy(B, A, sizeof B);
    yoke__scale_find(3, A, rules[i], d);
    yoke__scale_apply(3, d, B);
    assert_true(yoke__norm_1(3, B) < 1e-3 * yoke__norm_1(3, A));
    for (int k = 0; k < 3; k++) {
      int e = 0;
      check_near(frexp(d[k], &e), 0.5, 0);
    }
    yoke__scale_undo(3, d, B);
    assert_memory_equal(A, B, sizeof B);
  }
}

// A triangle and a matrix of zeros end as they are, in bounded time.
static void test_nothing_to_balance(void** state) {
  (void)state;
  static const double triangle[4] = {1, 1e8, 0, 1}, zero[4] = {0};
  for (int i = 0; i < 2; i++) {
    double d[2];
    yoke__scale_find(2, triangle, rules[i], d);
    check_near(d[0], 1, 0);
    check_near(d[1], 1, 0);
    yoke__scale_find(2, zero, rules[i], d);
    check_near(d[0], 1, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mixed_units),
      cmocka_unit_test(test_nothing_to_balance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
