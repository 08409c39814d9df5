// Error bands: how far a signal of a run may be off, from what two other runs of the same system gave.
//
// Companion A repeats the run with half of every step, companion B with another coupling method. Samples of all three
// are taken at the run's exchange points. With d = rms(y - a) and x = rms(y - b) over the active part of y:
//
//   both companions   band = max(2.5 d, 1.2 x)   low = min(1.2 d, 0.7 x)
//   A alone           band = 4 d                 low = 1.2 d
//   B alone           band = 3 x                 low = 0.4 x
//
// A run without companions may have an estimate e of its error itself (quality_online.h):
//
//   estimate          band = 2 rms(e), with noise 3 rms(e)     low = rms(e) / 2
//
// The error is most likely between low and band. The factors were measured on random coupled systems (docs/trust.md).
// Nothing here is absolute: a signal and its companions times any factor give the same bands times that factor.
#ifndef YOKE_QUALITY_BAND_H
#define YOKE_QUALITY_BAND_H

#include <stdbool.h>
#include <stddef.h>

// Numbers of a companion that is not usable are NaN; without any companion the bands are.
typedef struct yoke_band {
  bool is_constant;  // at rest in the run and in its usable companions: not judged
  bool is_diverged;  // the run's value is not finite or beyond 1e100: the band is infinite
  bool has_a, has_b;
  bool has_estimate;  // from the run itself, without companions
  bool is_partial;    // that ends before the signal settles
  bool is_rough;      // whose models do not fit exactly: noise, or units that are not linear
  size_t n, active;   // samples; those before the signal has settled
  double range, scale, largest;  // largest minus smallest, size of the movement, largest magnitude
  double widest;                 // largest range of the run and its usable companions
  double d, x, d_max, x_max;     // differences: rms over the active part, largest of the run
  double band, low, relative;    // of the rms error; relative to the scale
  double low_relative;           // as is low
  double band_max, low_max;      // of the largest error
  size_t at;                     // sample of the largest difference
  int digits;                    // that can be trusted, 0 to 15
  bool is_exact;                 // no companion differs anywhere
} yoke_band;

// y, a, b: n samples, each `stride` numbers after the one before. a or b NULL: that companion is not usable. Neither is
// one with a value that is not finite or beyond 1e100. Of no samples nothing is known: no band, not constant.
void yoke__band_judge(const double y[], const double a[], const double b[], size_t n, size_t stride,
                      yoke_band* out);

// A range below 1e-12 of `largest`, the largest range among signals of its kind, is rounding: the signal is at rest.
void yoke__band_settle(yoke_band* band, double largest);

// The same of any two differences: d from companion A, x from companion B; NaN: not usable, and not both.
void yoke__band_combine(double d, double x, double* band, double* low);

#define YOKE_BAND_HALF           4.0  // times d is the band of companion A alone
#define YOKE_BAND_ESTIMATE       2.0  // bounds an estimated error
#define YOKE_BAND_NOISY_ESTIMATE 3.0  // where the models that it comes from do not fit exactly

// y: n samples; e: estimated errors of the first n_known of them; both `stride` numbers apart. factor: one of the two above.
// False, and no band: no e, one that is not finite, or an error of more than half the movement, of which e says nothing.
bool yoke__band_estimate(const double y[], const double e[], size_t n, size_t n_known,
                         size_t stride, double factor, yoke_band* out);

// The band over time: out[k] is the largest difference, weighted as above, within 5 % of the run around sample k (at
// least two samples on both sides). Infinite where a value is not finite; NaN if a and b are NULL.
// work, out: n numbers each. Time proportional to n.
void yoke__band_course(const double y[], const double a[], const double b[], size_t n,
                       size_t stride, double work[], double out[]);

#endif
