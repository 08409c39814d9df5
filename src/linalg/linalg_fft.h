// Discrete Fourier transforms.
#ifndef YOKE_LINALG_FFT_H
#define YOKE_LINALG_FFT_H

#include <complex.h>
#include <stddef.h>

#include "yoke/status.h"

// x_k := sum over i of x_i exp(-2 pi j i k / n), in place; n is a power of two, turns: n / 2 numbers from yoke__fft_turns.
void yoke__fft(size_t n, double complex x[], const double complex turns[]);
void yoke__fft_turns(size_t n, double complex turns[]);

// Chirp transform (Bluestein): X_k = sum over i < n of x_i exp(-j angle i k) for k = 0 .. n_out - 1, any n and any angle.
typedef struct yoke_chirp {
  size_t n, n_out, size;  // size: power of two, at least n + n_out - 1
  double complex *turns, *chirp, *kernel, *work;
  double complex* memory;
} yoke_chirp;

yoke_status yoke__chirp_open(size_t n, size_t n_out, double angle, yoke_chirp* self);
void yoke__chirp_transform(yoke_chirp* self, const double x[], double complex X[]);
void yoke__chirp_close(yoke_chirp* self);

#endif
