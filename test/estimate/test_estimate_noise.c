// Noise levels from records and from innovations.
#include "estimate/estimate_noise.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/normal_noise.h"

enum { N = 2000 };
static double record[N], work[2 * N];

// A thermal transient with a drift and a slow oscillation, 1 kHz.
static double signal(size_t k) {
  const double t = 1e-3 * (double)k;
  return 300 + 25 * (1 - exp(-t / 0.12)) + 4 * t + 3 * sin(2 * 3.14159265358979323846 * 5 * t);
}

static yoke_noise_level level_of(double sigma, double step, uint64_t seed) {
  normal_noise noise = {.seed = seed};
  for (size_t k = 0; k < N; k++) {
    const double value = signal(k) + sigma * noise_next(&noise);
    record[k] = step > 0 ? step * round(value / step) : value;
  }
  yoke_noise_level level = {0};
  check_ok(yoke__noise_of_record(N, record, &level, work));
  return level;
}

// Within 10 % from 2000 samples, and the standard deviation that is told holds.
static void test_sigma_of_smooth_signal(void** state) {
  (void)state;
  static const double sigmas[] = {0.02, 0.1, 0.5, 3};
  for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++) {
    double squares = 0;
    enum { N_SEEDS = 25 };
    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
      const yoke_noise_level level = level_of(sigmas[i], 0, seed);
      check_relative(level.sigma, sigmas[i], 0.1);
      check_between(level.sd / level.sigma, 0.01, 0.03);
      squares += (level.sigma - sigmas[i]) * (level.sigma - sigmas[i]) / (level.sd * level.sd);
      assert_true(level.step == 0);
      assert_int_equal(level.n_used + level.n_out, N - (size_t)level.order);
    }
    // chi-square with 25 degrees of freedom: 0.1 % and 99.9 % of it, with room for the signal that is left
    check_between(squares, 8.6, 1.5 * 52.6);
  }
}

// Without noise what is left is what the differences leave of the signal.
static void test_no_noise(void** state) {
  (void)state;
  const yoke_noise_level level = level_of(0, 0, 1);
  check_between(level.sigma, 0, 1e-4);
}

static void test_outliers_and_gaps(void** state) {
  (void)state;
  level_of(0.5, 0, 3);
  for (size_t k = 20; k < N; k += 100) {
    record[k] += 40;
    record[k + 50] = (double)NAN;
  }
  yoke_noise_level level;
  check_ok(yoke__noise_of_record(N, record, &level, work));
  check_relative(level.sigma, 0.5, 0.1);
  check_between((double)level.n_out, 20, 20 * 5 + 10);
}

// A step of 0.5 K on noise of 0.5 K adds step^2 / 12; on little noise the step alone is left.
static void test_quantised(void** state) {
  (void)state;
  for (uint64_t seed = 0; seed < 5; seed++) {
    yoke_noise_level level = level_of(0.5, 0.5, seed);
    check_relative(level.sigma, sqrt(0.25 + 0.25 / 12), 0.1);
    check_relative(level.step, 0.5, 1e-9);
    level = level_of(0.01, 0.5, seed);
    assert_true(level.sigma >= 0.5 / sqrt(12));
    check_relative(level.step, 0.5, 1e-9);
    // written in decimals
    level = level_of(0.05, 0.1, seed);
    check_relative(level.step, 0.1, 1e-6);
    check_relative(level.sigma, sqrt(0.05 * 0.05 + 0.01 / 12), 0.15);
  }
  // a record that rests, but for one step
  for (size_t k = 0; k < N; k++) {
    record[k] = k < 700 ? 300 : 300.25;
  }
  yoke_noise_level level;
  check_ok(yoke__noise_of_record(N, record, &level, work));
  assert_true(level.sigma >= 0.25 / sqrt(12));
}

static void test_too_few(void** state) {
  (void)state;
  yoke_noise_level level;
  assert_int_equal(yoke__noise_of_record(16, record, &level, work), YOKE_BAD_ARG);
  assert_int_equal(yoke__noise_of_record(0, record, &level, work), YOKE_BAD_ARG);
  for (size_t k = 0; k < N; k++) {
    record[k] = k % 2 ? (double)NAN : 1;
  }
  assert_int_equal(yoke__noise_of_record(N, record, &level, work), YOKE_BAD_ARG);
}

// ---- running

// A random walk x with steps of sd q, read with noise r: a filter of one state that believes r0 at first.
typedef struct walker {
  normal_noise noise;
  double x, estimate, P;
} walker;

static double walk(walker* w, yoke_noise* n, double q, double r, size_t n_steps) {
  double mean = 0;
  for (size_t k = 0; k < n_steps; k++) {
    w->x += q * noise_next(&w->noise);
    w->P += q * q;
    const double sigma = n->sigma, S = w->P + sigma * sigma;
    const double innovation = w->x + r * noise_next(&w->noise) - w->estimate;
    w->estimate += w->P / S * innovation;
    w->P *= sigma * sigma / S;
    yoke__noise_add(n, innovation, sqrt(S), sigma);
    yoke__noise_add(n, (double)NAN, sqrt(S), sigma);
    mean += n->sigma / (double)n_steps;
  }
  return mean;
}

// From a belief that is wrong by factors of 5, with a state that moves little and one that moves more than it is read.
static void test_running(void** state) {
  (void)state;
  check_heap_is_counted();
  const long before = atomic_load(&n_heap_calls);
  static const double guesses[] = {0.1, 0.5, 2.5}, walks[] = {0.01, 0.1, 0.5};
  for (size_t i = 0; i < 9; i++) {
    walker w = {.noise = {.seed = i}, .P = 1};
    yoke_noise n;
    yoke__noise_start(&n, guesses[i / 3], 1e-3, 1e3, 20, 4000);
    walk(&w, &n, walks[i % 3], 0.5, 8000);
    // sd of sigma: 1 / sqrt(2 n) / (r / S), S / r = 2 where the walk is as large as the noise
    check_relative(walk(&w, &n, walks[i % 3], 0.5, 4000), 0.5, 0.1);
    // and it follows a change
    walk(&w, &n, walks[i % 3], 1.0, 20000);
    check_relative(walk(&w, &n, walks[i % 3], 1.0, 4000), 1.0, 0.1);
  }
  assert_int_equal(atomic_load(&n_heap_calls) - before, 0);
}

static void test_bounds(void** state) {
  (void)state;
  walker w = {.noise = {.seed = 1}, .P = 1};
  yoke_noise n;
  yoke__noise_start(&n, 0.5, 0.2, 0.8, 20, 1000);
  walk(&w, &n, 0.01, 0.01, 8000);
  assert_true(n.sigma == 0.2);
  walk(&w, &n, 0.01, 5, 8000);
  assert_true(n.sigma == 0.8);
  assert_int_equal(n.n, 16000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sigma_of_smooth_signal),
      cmocka_unit_test(test_no_noise),
      cmocka_unit_test(test_outliers_and_gaps),
      cmocka_unit_test(test_quantised),
      cmocka_unit_test(test_too_few),
      cmocka_unit_test(test_running),
      cmocka_unit_test(test_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
