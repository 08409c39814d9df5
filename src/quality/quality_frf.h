// Frequency response from recorded signals, by averaged cross spectra. The concept page is docs/compare.md.
//
//   the record without its mean is cut into segments of T, half of each over the one before, each under a Hann window
//   X, Y: their Fourier transforms; averages over the segments:  S_xx = |X|^2, S_yy = |Y|^2, S_xy = conj(X) Y
//
//   response  H(f) = S_xy / S_xx               coherence  |S_xy|^2 / (S_xx S_yy), 0 to 1
//
// The coherence is the share of the output that the input explains linearly: noise, other inputs, nonlinearity and motions
// longer than T lower it. A motion that lasts tau is off by about 2.2 tau / T at most: what a segment's end cuts off; a sharp
// resonance needs a fine resolution. Source: P. Welch, IEEE Trans. Audio Electroacoustics 15 (1967) 70-73; J. Bendat, A. Piersol, Random
// data, chapter 6.
#ifndef YOKE_QUALITY_FRF_H
#define YOKE_QUALITY_FRF_H

#include <complex.h>
#include <stdbool.h>

#include "quality/quality_measure.h"

#define YOKE_FRF_MIN_ROWS 64  // of a record, and 16 of a segment

// Where to look: the same for two records whatever their steps, so that the responses can be compared.
typedef struct yoke_frf_grid {
  double t_first, t_last;  // part of the records that is used [s]
  double length;           // of a segment [s]
  double resolution;       // 1 / length: distance of the frequencies [Hz]
  size_t n;                // frequencies
} yoke_frf_grid;

// Frequency number k [Hz]: (k + 2) resolution.
double yoke__frf_frequency(const yoke_frf_grid* grid, size_t k);

typedef struct yoke_frf {
  size_t n, n_segments;
  double complex* response;
  double* coherence;  // NaN where input or output has no power at all
  double* power;      // share of the input's largest power density
} yoke_frf;

// The grid of two input records: their common time; frequencies up to 0.8 of half the lower sampling rate. resolution [Hz];
// 0: an eighth of the record per half segment, which gives 8 averages. YOKE_BAD_INPUT with a message: steps that are not
// equal (to a hundredth), too short a record, a resolution it does not allow, not finite values, a constant input.
yoke_status yoke__frf_grid_of(const yoke_samples inputs[2], double resolution, yoke_frf_grid* out,
                              const yoke_sink* sink);
// input and output have the same times. Memory of *out from the arena. YOKE_BAD_INPUT: the times differ, values are not
// finite.
yoke_status yoke__frf_estimate(const yoke_samples* input, const yoke_samples* output,
                               const yoke_frf_grid* grid, yoke_arena* arena, yoke_frf* out,
                               const yoke_sink* sink);

// Whether number k counts: a coherence of at least trusted, and an input with at least 1e-4 of its largest power there. Where a
// chirp never was, what leaks through the window is coherent, too, and says nothing.
bool yoke__frf_is_trusted(const yoke_frf* frf, size_t k, double trusted);

// Two responses beside each other, where both are trusted.
typedef struct yoke_frf_difference {
  size_t n_trusted;
  double db, f_db;            // largest difference of gains [dB], and where [Hz]
  double degrees, f_degrees;  // largest difference of phases
} yoke_frf_difference;
yoke_frf_difference yoke__frf_compare(const yoke_frf* result, const yoke_frf* reference,
                                      const yoke_frf_grid* grid, double trusted);

#endif
