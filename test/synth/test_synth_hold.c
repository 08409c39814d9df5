// Holds in the frequency domain: series, peaks, images; and that what runs in time is what these formulas say.
// Numbers: HINF specification 4.2.
#include <complex.h>

#include "support/check.h"
#include "synth/synth_hold.h"

#define PI 3.14159265358979323846

// The closed forms as the specification prints them.
static double complex printed(yoke_synth_hold hold, double complex x) {
  const double complex E = cexp(-x), p = (1 - E) / x;
  switch (hold) {
  case YOKE_SYNTH_ZOH:
    return p;
  case YOKE_SYNTH_FOH:
    return (1 + x) * p * p;
  default:
    return (0.5 - E + E * E / 2) * (2 - E * (x * x + 2 * x + 2)) / (x * x * x) +
           (1.5 - 2 * E + E * E / 2) * (1 - E - x * E) / (x * x) + p;
  }
}

// HI-01: the first two coefficients of the series of hold - 1, by values on a circle around 0.
static void test_HI_01_series(void** state) {
  (void)state;
  static const double first[] = {-1.0 / 2, -5.0 / 12, -3.0 / 8};
  static const double second[] = {1.0 / 6, 1.0 / 3, 29.0 / 60};
  for (yoke_synth_hold hold = YOKE_SYNTH_ZOH; hold < YOKE_SYNTH_N_HOLDS; hold++) {
    const int order = (int)hold + 1;
    // two circles: one where the series is summed, one where the closed form is
    for (int far = 0; far < 2; far++) {
      const double radius = far ? 1 : 0.1;
      double complex c[5] = {0};
      for (int k = 0; k < 64; k++) {
        const double complex x = radius * cexp((double complex)I * (2 * PI * k / 64));
        for (int i = 0; i < 5; i++) {
          c[i] += yoke__synth_hold_error(hold, x) / cpow(x, i) / 64;
        }
      }
      for (int i = 0; i < order; i++) {
        check_near(cabs(c[i]), 0, 1e-10);
      }
      check_near(creal(c[order]), first[hold], 1e-6);
      check_near(creal(c[order + 1]), second[hold], 1e-6);
    }
    // and at one small x, where 1 + x - 1 would leave nothing of it
    const double x = 1e-7;
    check_relative(creal(yoke__synth_hold_error(hold, x)) / pow(x, order), first[hold], 1e-5);
  }
}

// HI-01: peak gains.
static void test_HI_01_peaks(void** state) {
  (void)state;
  static const double gains[] = {1, 1.5876, 2.8325};
  for (yoke_synth_hold hold = YOKE_SYNTH_ZOH; hold < YOKE_SYNTH_N_HOLDS; hold++) {
    double at, largest = 0, place = 0;
    check_near(yoke__synth_hold_peak(hold, &at), gains[hold], 1e-4);
    for (int i = 1; i < 100000; i++) {
      const double size = cabs(yoke__synth_hold_at(hold, (double complex)I * (i * 1e-3)));
      place = size > largest ? i * 1e-3 : place;
      largest = fmax(largest, size);
    }
    check_near(yoke__synth_hold_peak(hold, &at), largest, 1e-6);
    check_near(at, place, 1e-3);
  }
}

static void test_values(void** state) {
  (void)state;
  static const double w[] = {0.1, 0.2, 0.5, 1, 2, PI};
  static const double sizes[][6] = {{0.0500, 0.0999, 0.2483, 0.4863, 0.8937, 1.1854},
                                    {0.0042, 0.0166, 0.1023, 0.3870, 1.2332, 1.8963},
                                    {0.0004, 0.0030, 0.0455, 0.3325, 1.8293, 3.1854}};
  for (yoke_synth_hold hold = YOKE_SYNTH_ZOH; hold < YOKE_SYNTH_N_HOLDS; hold++) {
    for (size_t i = 0; i < 6; i++) {
      const double complex x = (double complex)I * w[i];
      check_near(cabs(yoke__synth_hold_error(hold, x)), sizes[hold][i], 5.1e-5);
      check_near(cabs(yoke__synth_hold_at(hold, x) - printed(hold, x)), 0, 1e-11);
    }
    // both sides of the change from series to closed form
    for (int i = 0; i < 62; i++) {
      const double complex turn = cexp((double complex)I * (0.1 * i));
      const double complex below = yoke__synth_hold_at(hold, (0.5 - 1e-9) * turn);
      check_near(cabs(below - printed(hold, (0.5 - 1e-9) * turn)), 0, 1e-13);
    }
    check_near(cabs(yoke__synth_hold_at(hold, 0) - 1), 0, 0);
  }
  // half a step of delay
  check_near(carg(yoke__synth_hold_at(YOKE_SYNTH_ZOH, (double complex)I * 1.2)), -0.6, 1e-14);
}

// The images add up to the held signal: at an exchange, to the mean of what was held before and after it.
static void test_images(void** state) {
  (void)state;
  const double w = 3, step = 0.2;
  for (yoke_synth_hold hold = YOKE_SYNTH_ZOH; hold < YOKE_SYNTH_N_HOLDS; hold++) {
    double complex sum = 0, before = 0;
    const int n = 20000;
    for (int i = -n; i <= n; i++) {
      sum += yoke__synth_hold_image(hold, w, step, i);
    }
    // what the samples before foretell for this instant: 1, 2 - 1, 3 - 3 + 1 of them
    static const double foretold[][3] = {{1}, {2, -1}, {3, -3, 1}};
    for (int i = 0; i <= (int)hold; i++) {
      before += foretold[hold][i] * cexp(-(double complex)I * (w * step * (i + 1)));
    }
    check_near(cabs(sum - (1 + before) / 2), 0, 1e-4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_HI_01_series),
      cmocka_unit_test(test_HI_01_peaks),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_images),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
