// One component takes a shorter way through the monitor and the correction. It must give the same bits as the general one,
// which is forced here: a step length that seems to have changed, and a correction that is not known to have one component.
#include "energy/energy_correction.h"

#include "support/check.h"

typedef struct twins {
  yoke_correction usual, general;
  double memory[2][4];
} twins;

static double uniform(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 9007199254740992.0;
}

// A swing with noise, steps of the action, a rate that rests for a while, and now and then a value that is not finite.
static void make_sample(int k, uint64_t* seed, double* B, double* A) {
  static const double bad[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
  const double t = 1e-3 * k;
  *B = 40 + 30 * cos(11 * t) + (k % 900 > 450 ? 60 : 0) + uniform(seed);
  *A = k % 1700 < 40 ? 0 : 5 * sin(11 * t + 0.3) + 0.2 * uniform(seed);
  if (uniform(seed) < 0.002) {
    *(uniform(seed) < 0.5 ? A : B) = bad[k % 3];
  }
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// bit by bit, so that -0 is not 0
static void check_same(double usual, double general, const char* what, int k) {
  if (bits_of(usual) != bits_of(general)) {
    fail_msg("step %d: %s is %.17g the short way, %.17g the long way", k, what, usual, general);
  }
}

static void compare(const twins* t, int k) {
  const yoke_correction *u = &t->usual, *g = &t->general;
  check_same(u->corr[0], g->corr[0], "the correction", k);
  check_same(u->accumulated, g->accumulated, "the accumulated energy", k);
  check_same(u->step_energy, g->step_energy, "the energy of the step", k);
  check_same(u->change_peak, g->change_peak, "the peak change", k);
  check_same(u->residual, g->residual, "the residual", k);
  check_same(u->monitor.power, g->monitor.power, "dP", k);
  check_same(u->monitor.rho, g->monitor.rho, "rho", k);
  check_same(u->monitor.offset[0], g->monitor.offset[0], "the offset", k);
  assert_true(u->is_suspended == g->is_suspended && u->hold == g->hold);
}

// all settings that have a branch of their own
static yoke_correction_settings settings_of(int variant) {
  yoke_correction_settings s = variant == 0 ? yoke__correction_bare : yoke__correction_defaults;
  s.mu = 0.5;
  s.gamma = variant == 1 ? HUGE_VAL : variant == 2 ? 0.1 : s.gamma;
  s.is_clip_needed = variant == 3;
  s.max_action = variant == 4 ? 0.3 : s.max_action;
  s.max_energy = variant == 5 ? 0.01 : s.max_energy;
  s.min_rate_abs = variant == 6 ? 1 : s.min_rate_abs;
  s.gate = variant == 7 ? HUGE_VAL : s.gate;
  s.mu = variant == 8 ? 0 : s.mu;
  return s;
}

static void test_correction_same_bits(void** state) {
  (void)state;
  for (int variant = 0; variant < 9; variant++) {
    uint64_t seed = 11 + (uint64_t)variant;
    const yoke_correction_settings s = settings_of(variant);
    twins t;
    double B, A;
    make_sample(50, &seed, &B, &A);
    yoke__correction_start(&t.usual, &s, 1, t.memory[0], &B, &A);
    yoke__correction_start(&t.general, &s, 1, t.memory[1], &B, &A);
    assert_true(t.usual.is_single);
    t.general.is_single = false;
    for (int k = 51; k <= 20000; k++) {
      make_sample(k, &seed, &B, &A);
      if (k % 1000 == 0) {
        yoke__correction_jump(&t.usual);
        yoke__correction_jump(&t.general);
      } else if (k % 770 == 0) {
        yoke__correction_lose(&t.usual);
        yoke__correction_lose(&t.general);
      }
      const double h = k % 5000 < 2500 ? 1e-3 : 2e-3;
      t.general.monitor.h = (double)NAN;
      yoke__correction_update(&t.usual, h, h, &B, &A);
      yoke__correction_update(&t.general, h, h, &B, &A);
      compare(&t, k);
    }
    const yoke_correction_counts *u = &t.usual.counts, *g = &t.general.counts;
    print_message("variant %d: %d clips, %d skips, %d gated, %d lost\n", variant, (int)u->n_clips,
                  (int)u->n_skips, (int)u->n_gates, (int)u->n_lost);
    assert_memory_equal(u, g, sizeof *u);
    assert_true(u->n_skips > 100 && u->n_lost > 10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_correction_same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
