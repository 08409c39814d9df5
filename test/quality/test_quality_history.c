// The trajectory of a number in a fixed room: its sign over the last half of its active part.
#include "quality/quality_history.h"

#include <math.h>

#include "support/check.h"

typedef double signal(double s);  // s from 0 to 1

static double rising(double s) {
  return s;
}
static double falling(double s) {
  return -s * s;
}
static double early_dip(double s) {
  return s - 0.2;
}
static double late_dip(double s) {
  return s < 0.9 ? s : s < 0.92 ? -0.1 : s;
}
static double swinging(double s) {
  return sin(40 * s);
}
// at rest from a tenth on, with a sign change in the first half of the active part only
static double settled(double s) {
  return s < 0.03 ? -0.1 : s < 0.1 ? 10 * s : 1;
}
// the sign changes late in the active part, which is long over at the end
static double settled_late(double s) {
  return s < 0.08 ? -0.1 : s < 0.1 ? 1 : 1.1;
}
static double nothing(double s) {
  (void)s;
  return 0;
}

static void test_signs(void** state) {
  (void)state;
  static const struct {
    signal* f;
    int sign;
  } cases[] = {{rising, 1},   {falling, -1}, {early_dip, 1},    {late_dip, 0},
               {swinging, 0}, {settled, 1},  {settled_late, 0}, {nothing, 0}};
  static const int counts[] = {120, 500, 1000, 100003};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
      yoke_history h;
      yoke__history_start(&h);
      for (int j = 1; j <= counts[k]; j++) {
        yoke__history_add(&h, cases[i].f((double)j / counts[k]));
      }
      if (yoke__history_sign(&h) != cases[i].sign) {
        fail_msg("case %zu, %d samples: sign %d", i, counts[k], yoke__history_sign(&h));
      }
      assert_true(h.n < YOKE_HISTORY_CELLS);
    }
  }
}

static void test_no_samples(void** state) {
  (void)state;
  yoke_history h;
  yoke__history_start(&h);
  assert_int_equal(yoke__history_sign(&h), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_signs),
                                     cmocka_unit_test(test_no_samples)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
