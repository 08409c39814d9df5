// All 176 settings of the tuning map of SB-1 with the inertia, each a run of 10 s through the master (TE-10).
#include "engine_rig_helper.h"

static void test_map_te10(void** state) {
  (void)state;
  double most = 0, least = HUGE_VAL, most_at[2] = {0}, least_at[2] = {0};
  for (int K_P = 10; K_P <= 25; K_P++) {
    for (int T_I = 150; T_I <= 250; T_I += 10) {
      const rig_case c = rig_setting(1, K_P, T_I / 1000.0);
      const double ter = rig_run(&c).ter;
      if (ter > most) {
        most = ter;
        most_at[0] = K_P;
        most_at[1] = T_I;
      }
      if (ter < least) {
        least = ter;
        least_at[0] = K_P;
        least_at[1] = T_I;
      }
    }
  }
  print_message("largest %.4f at (%g, %g ms), smallest %.4f at (%g, %g ms)\n", most, most_at[0],
                most_at[1], least, least_at[0], least_at[1]);
  check_near(most_at[0], 10, 0);
  check_near(most_at[1], 150, 0);
  check_near(least_at[0], 25, 0);
  check_near(least_at[1], 150, 0);
  check_relative(most, 8.777, 2e-3);
  check_relative(least, 6.832, 2e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_map_te10)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
