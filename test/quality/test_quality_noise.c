// Noise of a signal after a trend is removed (Garcia 2010), and the mean error over the range.
#include "quality/quality_noise.h"

#include "support/check.h"
#include "support/range_error.h"
#include "yoke/status.h"

#define MAX_N 2000

static double work[6 * MAX_N];
static const double pi = 3.14159265358979323846;

// Normal numbers, the same in every run (sum of twelve uniform ones of a linear congruence).
static uint64_t seed;

static double normal(void) {
  double sum = -6.0;
  for (int i = 0; i < 12; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    sum += (double)(seed >> 11) / 9007199254740992.0;
  }
  return sum;
}

static double noise_of(size_t n, const double y[]) {
  double variance = -1.0;
  assert_true(yoke__noise_work_size(n) <= sizeof work / sizeof work[0]);
  check_ok(yoke__noise_variance(n, y, work, &variance));
  return sqrt(variance);
}

// The check of the specification: a sine with white noise of 0.1, 2000 samples. The estimate of a
// deviation from 2000 samples scatters by 0.1 / sqrt(4000) = 0.0016; four of that on both sides.
static void test_MP_sine_with_noise(void** state) {
  (void)state;
  static double y[MAX_N];
  double mean = 0.0;
  for (uint64_t run = 1; run <= 5; run++) {
    seed = run;
    for (int i = 0; i < MAX_N; i++) {
      y[i] = sin(2.0 * pi * i / MAX_N) + 0.1 * normal();
    }
    const double noise = noise_of(MAX_N, y);
    mean += noise / 5;
    check_between(noise, 0.1 - 0.0064, 0.1 + 0.0064);
  }
  print_message("noise 0.1 on a sine: %.4f in the mean of five\n", mean);
}

// Noise without a trend, and noise of another size on a trend that is flat at both ends (a slope there
// is a kink to the transform): scale and offset of the trend do not matter.
static void test_scales_with_the_noise(void** state) {
  (void)state;
  static double y[1000], z[1000];
  seed = 7;
  for (int i = 0; i < 1000; i++) {
    const double e = normal();
    y[i] = e;
    z[i] = 1e-3 * e + 5 + 2 * cos(pi * (i + 0.5) / 1000);
  }
  const double plain = noise_of(1000, y), scaled = noise_of(1000, z);
  print_message("noise 1: %.4f, noise 1e-3 on a trend of 2: %.4g\n", plain, scaled);
  check_between(plain, 0.9, 1.1);
  check_between(scaled, 0.9e-3, 1.1e-3);
}

// A smooth signal has next to none; a signal that changes its sign in every sample is nothing but.
static void test_smooth_and_rough(void** state) {
  (void)state;
  static double smooth[600], rough[600], constant[600];
  for (int i = 0; i < 600; i++) {
    smooth[i] = cos(2.0 * pi * (i + 0.5) / 600.0);
    rough[i] = smooth[i] + (i % 2 == 0 ? 0.25 : -0.25);
    constant[i] = 3.5;
  }
  assert_true(noise_of(600, smooth) < 1e-6);
  check_near(noise_of(600, rough), 0.25, 0.01);
  assert_true(noise_of(600, constant) < 1e-12);
}

// The transform keeps the sum of squares: with nothing smoothed away the variance would be mean(y^2).
// At the least smoothing that is allowed it is below that, at a lone spike far from all others above 0.
static void test_bounds(void** state) {
  (void)state;
  static double y[101];
  double mean_square = 0.0;
  seed = 11;
  for (int i = 0; i < 101; i++) {
    y[i] = normal();
    mean_square += y[i] * y[i] / 101;
  }
  const double noise = noise_of(101, y);
  assert_true(noise > 0.0 && noise * noise <= mean_square * (1 + 1e-12));
}

static void test_refuses(void** state) {
  (void)state;
  double variance = 0.0;
  const double few[] = {1, 2}, bad[] = {1, (double)NAN, 2, 3};
  assert_int_equal(yoke__noise_variance(2, few, work, &variance), YOKE_BAD_ARG);
  assert_int_equal(yoke__noise_variance(4, bad, work, &variance), YOKE_DIVERGED);
  assert_true(isinf(variance));
}

static void test_range_error(void** state) {
  (void)state;
  const double reference[] = {0, 1, 2, 4}, y[] = {0.5, 1, 1, 4};
  check_near(range_error(4, 0, y, reference), 1.5 / 4 / 4, 1e-12);
  check_near(range_error(4, 1, y, reference), 1.0 / 3 / 4, 1e-12);
  check_near(range_error(4, 0, reference, reference), 0.0, 0.0);
  const double bad[] = {0, 1, (double)INFINITY, 4};
  assert_true(isinf(range_error(4, 0, bad, reference)));
  check_near(range_error(4, 3, bad, reference), 0.0, 0.0);
  assert_true(range_error(0, 0, y, reference) == 0.0);

  // offset and scale of a signal and its reference do not matter
  double moved[4], moved_reference[4];
  for (int i = 0; i < 4; i++) {
    moved[i] = 1e3 * y[i] - 7;
    moved_reference[i] = 1e3 * reference[i] - 7;
  }
  check_near(range_error(4, 0, moved, moved_reference), 1.5 / 16, 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_MP_sine_with_noise),
      cmocka_unit_test(test_scales_with_the_noise),
      cmocka_unit_test(test_smooth_and_rough),
      cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_refuses),
      cmocka_unit_test(test_range_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
