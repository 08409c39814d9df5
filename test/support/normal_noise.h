// Normal random numbers that are the same on every machine: a 64-bit generator (splitmix64) and the polar method of Marsaglia.
#ifndef YOKE_TEST_NORMAL_NOISE_H
#define YOKE_TEST_NORMAL_NOISE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct normal_noise {
  uint64_t seed;
  double spare;
  bool has_spare;
} normal_noise;

// In -1 .. 1.
static inline double noise_even(normal_noise* noise) {
  uint64_t z = noise->seed += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ z >> 31) >> 11) / 4503599627370496.0 - 1.0;
}

// Mean 0, variance 1.
static inline double noise_next(normal_noise* noise) {
  if (noise->has_spare) {
    noise->has_spare = false;
    return noise->spare;
  }
  double x, y, r;
  do {
    x = noise_even(noise);
    y = noise_even(noise);
    r = x * x + y * y;
  } while (r >= 1 || r == 0);
  const double scale = sqrt(-2 * log(r) / r);
  noise->spare = y * scale;
  noise->has_spare = true;
  return x * scale;
}

#endif
