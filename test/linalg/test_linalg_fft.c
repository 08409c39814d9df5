// Fourier transforms against their defining sums.
#include "linalg/linalg_fft.h"
#include "support/check.h"
#include "support/normal_noise.h"

#define PI 3.14159265358979323846

static void test_fft(void** state) {
  (void)state;
  normal_noise noise = {.seed = 3};
  for (size_t n = 1; n <= 128; n *= 2) {
    double complex x[128], X[128], turns[64];
    for (size_t i = 0; i < n; i++) {
      X[i] = x[i] = noise_even(&noise) + (double complex)I * noise_even(&noise);
    }
    yoke__fft_turns(n, turns);
    yoke__fft(n, X, turns);
    for (size_t k = 0; k < n; k++) {
      double complex sum = 0;
      for (size_t i = 0; i < n; i++) {
        sum += x[i] * cexp(-(double complex)I * (2 * PI * (double)(i * k) / (double)n));
      }
      check_near(cabs(X[k] - sum), 0, 1e-12);
    }
  }
}

// Any length, any angle, more or fewer frequencies than samples.
static void test_chirp(void** state) {
  (void)state;
  normal_noise noise = {.seed = 4};
  static const size_t lengths[] = {1, 2, 7, 100, 129}, outs[] = {1, 5, 64, 200};
  for (size_t a = 0; a < 5; a++) {
    for (size_t b = 0; b < 4; b++) {
      double x[129];
      double complex X[200];
      yoke_chirp chirp;
      const double angle = 0.0123 * (double)(a + b + 1);
      for (size_t i = 0; i < lengths[a]; i++) {
        x[i] = noise_even(&noise);
      }
      check_ok(yoke__chirp_open(lengths[a], outs[b], angle, &chirp));
      yoke__chirp_transform(&chirp, x, X);
      yoke__chirp_close(&chirp);
      for (size_t k = 0; k < outs[b]; k++) {
        double complex sum = 0;
        for (size_t i = 0; i < lengths[a]; i++) {
          sum += x[i] * cexp(-(double complex)I * (angle * (double)(i * k)));
        }
        check_near(cabs(X[k] - sum), 0, 1e-11);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fft), cmocka_unit_test(test_chirp)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
