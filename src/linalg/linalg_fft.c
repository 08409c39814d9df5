// Fourier transforms; see linalg_fft.h.
//
// With i k = (i^2 + k^2 - (k - i)^2) / 2 the chirp transform is a convolution,
//
//   X_k = c_k sum over i of (x_i c_i) conj(c_{k-i}),   c_i = exp(-j angle i^2 / 2)
//
// done by two transforms of a power of two. Source: L. Bluestein, IEEE Trans. Audio Electroacoustics 18 (1970).
#include "linalg/linalg_fft.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

void yoke__fft_turns(size_t n, double complex turns[]) {
  // turns[i] = exp(-2 pi j i / n), each from its own angle: a running product would add up rounding
  for (size_t i = 0; i < n / 2; i++) {
    const double angle = -2 * PI * (double)i / (double)n;
    turns[i] = cos(angle) + (double complex)I * sin(angle);
  }
}

// Puts x_i where the bits of i are read backwards.
static void reverse(size_t n, double complex x[]) {
  // k is i with its bits reversed; adding one to i carries from the highest bit of k downwards
  size_t k = 0;
  for (size_t i = 1; i < n; i++) {
    size_t bit = n >> 1;
    for (; (k & bit) != 0; bit >>= 1) {
      k ^= bit;
    }
    k |= bit;
    if (i < k) {
      const double complex a = x[i];
      x[i] = x[k];
      x[k] = a;
    }
  }
}

void yoke__fft(size_t n, double complex x[], const double complex turns[]) {
  reverse(n, x);

  // butterflies of twice the length in each pass: Cooley and Tukey, decimation in time
  for (size_t half = 1; half < n; half *= 2) {
    const size_t stride = n / (2 * half);
    for (size_t from = 0; from < n; from += 2 * half) {
      for (size_t i = 0; i < half; i++) {
        // a + t b and a - t b with the turn t of this length
        const double complex a = x[from + i], b = turns[i * stride] * x[from + half + i];
        x[from + i] = a + b;
        x[from + half + i] = a - b;
      }
    }
  }
}

yoke_status yoke__chirp_open(size_t n, size_t n_out, double angle, yoke_chirp* self) {
  const size_t longer = n > n_out ? n : n_out;
  size_t size = 1;
  *self = (yoke_chirp){.n = n, .n_out = n_out};
  if (n > SIZE_MAX / 128 || n_out > SIZE_MAX / 128) {
    return YOKE_NO_MEMORY;
  }

  // a power of two that holds n + n_out - 1 lags without wrapping around
  while (size < n + n_out) {
    size *= 2;
  }
  self->size = size;
  self->memory = calloc(size / 2 + longer + 2 * size, sizeof *self->memory);
  YOKE_TRY_MEMORY(self->memory);
  self->turns = self->memory;
  self->chirp = self->turns + size / 2;
  self->kernel = self->chirp + longer;
  self->work = self->kernel + size;
  yoke__fft_turns(size, self->turns);

  // c_i = exp(-j angle i^2 / 2)
  for (size_t i = 0; i < longer; i++) {
    const double phase = -angle * (double)i * (double)i / 2;
    self->chirp[i] = cos(phase) + (double complex)I * sin(phase);
  }
  // conj(c_m) for -n < m < n_out, negative ones from the end
  for (size_t i = 0; i < n_out; i++) {
    self->kernel[i] = conj(self->chirp[i]);
  }
  for (size_t i = 1; i < n; i++) {
    self->kernel[size - i] = conj(self->chirp[i]);
  }

  // the kernel is transformed once, for all later signals
  yoke__fft(size, self->kernel, self->turns);
  return YOKE_OK;
}

void yoke__chirp_transform(yoke_chirp* self, const double x[], double complex X[]) {
  double complex* work = self->work;

  // x_i c_i, padded with zeros
  for (size_t i = 0; i < self->size; i++) {
    work[i] = i < self->n ? x[i] * self->chirp[i] : 0;
  }
  yoke__fft(self->size, work, self->turns);
  // back by conjugation: ifft(x) = conj(fft(conj(x))) / size
  for (size_t i = 0; i < self->size; i++) {
    work[i] = conj(work[i] * self->kernel[i]);
  }
  yoke__fft(self->size, work, self->turns);

  // X_k = c_k times the convolution; 1 / size belongs to the inverse transform
  for (size_t k = 0; k < self->n_out; k++) {
    X[k] = conj(work[k]) / (double)self->size * self->chirp[k];
  }
}

void yoke__chirp_close(yoke_chirp* self) {
  free(self->memory);
  *self = (yoke_chirp){0};
}
