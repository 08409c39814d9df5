// TE-13: the sum of 1e8 terms, almost three hours of a sampler at 0.1 ms, against long double; YOKE_TER_SAMPLES sets
// another number (make soak: a day).
#include <stdlib.h>

#include "energy/energy_ter.h"
#include "support/check.h"

static void test_drift_TE_13(void** state) {
  (void)state;
  yoke_ter ter = {0};
  long double exact = 0;
  double naive = 0, e_in = 0, f_out = 1;
  uint64_t seed = 99;
  const double f_in = 0.3, e_out = 0.7;
  const yoke_ter_sample s = {&e_in, &f_out, &f_in, &e_out};
  const char* wanted = getenv("YOKE_TER_SAMPLES");
  const long long n = wanted == NULL ? 100000000 : strtoll(wanted, NULL, 10);
  assert_true(n > 0);
  for (long long k = 0; k < n; k++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    e_in = (double)(seed >> 11) / 9007199254740992.0;
    yoke__ter_add(&ter, 1e-4, 1, &s);
    const double term = fabs(ter.power) * 1e-4;
    exact += (long double)term;
    naive += term;
  }
  const double got = yoke__ter_total(&ter);
  print_message("%.3g terms: off by %.2g, plain sum by %.2g (relative)\n", (double)n,
                (double)((long double)got / exact - 1), (double)((long double)naive / exact - 1));
  assert_true(fabsl((long double)got - exact) < 1e-12L * exact);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_drift_TE_13)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
