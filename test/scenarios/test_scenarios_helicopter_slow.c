// Table of the helicopter over the exchange interval: held signals, nepce and mpsm, learnt and with loaded
// models, against the published figures (MPSM specification 11.6).
#include "scenarios/helicopter_run.h"

// Error and roughness as published; below 0: not given.
typedef struct published {
  int n_micro;  // of 2 ms
  double held[2], nepce[2], learnt[2], loaded[2];
} published;

static const published rows[] = {
    {10, {0.0013, 0}, {0.0009, 0}, {0.0031, 0}, {-1, -1}},
    {40, {0.0061, 0}, {0.0033, 0}, {0.0153, 0}, {-1, -1}},
    {50, {0.0078, 0.0005}, {0.0041, 0}, {0.0196, 0}, {0.0234, 0}},
    {60, {0.0095, 0.0019}, {1, 1}, {0.0239, 0.0006}, {0.0297, 0.0014}},
    {70, {0.0114, 0.0032}, {1, 1}, {0.0283, 0.0014}, {0.0366, 0.0017}},
    {80, {0.0173, 0.0061}, {1, 1}, {0.0333, 0.0015}, {0.0442, 0.0019}},
    {90, {1, 1}, {1, 1}, {0.0607, 0.0065}, {0.0525, 0.0022}},
    {100, {1, 1}, {1, 1}, {0.333, 0.162}, {0.0613, 0.0025}},
    {110, {1, 1}, {1, 1}, {1, 1}, {0.0699, 0.0035}},
    {130, {1, 1}, {1, 1}, {1, 1}, {0.0904, 0.0042}},
    {150, {1, 1}, {1, 1}, {1, 1}, {0.1077, 0.0047}},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static void print_row(const char* name, double step, helicopter_figures got, const double want[2]) {
  print_message("%-8s %.2f s: %.4f / %.4f", name, step, got.epsilon, got.sigma);
  if (want[0] >= 0) {
    print_message("   published %.4g / %.4g", want[0], want[1]);
  }
  print_message("\n");
}

// Held signals are the published ones to a unit of the last digit.
static void test_held(void** state) {
  (void)state;
  for (size_t i = 0; i < N_ROWS; i++) {
    const helicopter_figures got = helicopter_try("helicopter/held.yaml", rows[i].n_micro, NULL);
    print_row("held", rows[i].n_micro * HELI_MICRO, got, rows[i].held);
    check_near(got.epsilon, rows[i].held[0], 1.5e-4);
    check_near(got.sigma, rows[i].held[1], 1.5e-4);
  }
}

// nepce is lost at the same interval as published. Below that it is better, because the missed mean of the
// commands is made up for too; with commands held a plain loop gives the published 0.0009, 0.0033, 0.0041.
static void test_nepce(void** state) {
  (void)state;
  for (size_t i = 0; i < N_ROWS; i++) {
    const helicopter_figures got = helicopter_try("helicopter/nepce.yaml", rows[i].n_micro, NULL);
    print_row("nepce", rows[i].n_micro * HELI_MICRO, got, rows[i].nepce);
    assert_true(rows[i].nepce[0] < 1 ? got.epsilon <= rows[i].nepce[0] : got.epsilon == 1);
  }
}

// Without the guard, which the published method does not have: at 0.14 s with loaded models it goes back to
// signals for a while, and does well (0.0328 instead of 0.0367).
static helicopter_figures try_mpsm(const char* name, int n_micro, double t_learning) {
  const double step = n_micro * HELI_MICRO;
  char learning[64], switching[64];
  snprintf(learning, sizeof learning, "couplings.loop.learning=%.12g", t_learning / step);
  snprintf(switching, sizeof switching, "couplings.loop.switching=%.12g", 1 / step);
  const char* sets[] = {learning, switching, "couplings.loop.guard=off", NULL};
  return helicopter_try(name, n_micro, sets);
}

// 12 s of learning: published to a unit of the last digit as long as held signals are stable; at 0.18 and
// 0.2 s the learning is a race between growth and model, and the last digits depend on guards of the
// identification.
static void test_learnt(void** state) {
  (void)state;
  for (size_t i = 0; i < N_ROWS; i++) {
    const helicopter_figures got = try_mpsm("helicopter/mpsm.yaml", rows[i].n_micro, 12);
    const bool is_race = rows[i].n_micro == 90 || rows[i].n_micro == 100;
    print_row("learnt", rows[i].n_micro * HELI_MICRO, got, rows[i].learnt);
    check_near(got.epsilon, rows[i].learnt[0], is_race ? 3e-3 : 1.5e-4);
    check_near(got.sigma, rows[i].learnt[1], is_race ? 1.5e-3 : 1.5e-4);
  }
}

// Models of the run at 0.1 s, taken at 8 s, 2 s of learning: stable up to 0.3 s. The search for the trend has
// two valleys in one of the signals at 0.3 s, so that the roughness is 0.004 or 0.008.
static void test_loaded(void** state) {
  (void)state;
  for (size_t i = 2; i < N_ROWS; i++) {
    const helicopter_figures got = try_mpsm("helicopter/mpsm-loaded.yaml", rows[i].n_micro, 2);
    print_row("loaded", rows[i].n_micro * HELI_MICRO, got, rows[i].loaded);
    check_near(got.epsilon, rows[i].loaded[0], i == 2 ? 1.5e-3 : 3e-4);
    check_near(got.sigma, rows[i].loaded[1], i == N_ROWS - 1 ? 4e-3 : 1.5e-4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_held),
      cmocka_unit_test(test_nepce),
      cmocka_unit_test(test_learnt),
      cmocka_unit_test(test_loaded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
