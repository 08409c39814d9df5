// A signal that is extrapolated: polynomial in Newton's backward form. With s = tau / interval and backward
// differences D1 = u_k - u_{k-1}, D2 = D1 - D1_{k-1}, D3 = D2 - D2_{k-1}:
//
//   u(s) = u_k + s D1 + s (s+1)/2 D2 + s (s+1) (s+2)/6 D3
//
// The same polynomial as through the Vandermonde system in absolute time, without its ill-conditioning: nothing here
// grows with t. At s = 0 every order returns the sample itself, bit by bit. While fewer than n + 1 samples are known
// (start, reset) order n falls back to what they allow. Shared by the methods that build on a hold.
#ifndef YOKE_COUPLE_POLYNOMIAL_H
#define YOKE_COUPLE_POLYNOMIAL_H

#include <stdint.h>

typedef struct yoke_polynomial {
  double u, d1, d2, d3;
  int64_t n_samples;  // since the start or the last reset, at most 4
} yoke_polynomial;

// What the differences are multiplied with: the value at s, a derivative, or a mean.
typedef struct yoke_polynomial_weights {
  double c1, c2, c3;
} yoke_polynomial_weights;

// The next sample. A difference counts only once all its samples do.
static inline void yoke__polynomial_observe(yoke_polynomial* p, double y) {
  const int64_t n = p->n_samples;
  if (n == 4) {
    // D1 = y - u_k, D2 = D1 - D1_k, D3 = D2 - D2_k
    const double first = y - p->u, second = first - p->d1;
    p->d3 = second - p->d2;
    p->d2 = second;
    p->d1 = first;
    p->u = y;
    return;
  }

  // differences of samples that are not there yet count as 0: the order falls back by itself
  const double d1 = n >= 1 ? y - p->u : 0;
  const double d2 = n >= 2 ? d1 - p->d1 : 0;
  p->d3 = n >= 3 ? d2 - p->d2 : 0;
  p->d2 = d2;
  p->d1 = d1;
  p->u = y;
  p->n_samples = n < 4 ? n + 1 : 4;
}

// The sample stays valid as a hold; its history does not.
static inline void yoke__polynomial_reset(yoke_polynomial* p) {
  *p = (yoke_polynomial){.u = p->u};
}

static inline yoke_polynomial_weights yoke__polynomial_at(double s) {
  // c1 = s, c2 = s (s + 1) / 2, c3 = s (s + 1) (s + 2) / 6
  const double c2 = s * (s + 1) / 2;
  return (yoke_polynomial_weights){s, c2, c2 * (s + 2) / 3};
}

// Weights of the derivative of the given order in time; interval [s] makes s of tau: ds/dt = 1 / interval.
static inline yoke_polynomial_weights yoke__polynomial_slope(double s, double interval, int order) {
  const double r = 1 / interval;

  // d/ds of c1, c2, c3, over the interval
  if (order == 1) {
    return (yoke_polynomial_weights){r, r * (2 * s + 1) / 2, r * (3 * s * s + 6 * s + 2) / 6};
  }
  if (order == 2) {
    return (yoke_polynomial_weights){0, r * r, r * r * (s + 1)};
  }
  return (yoke_polynomial_weights){0, 0, order == 3 ? r * r * r : 0};
}

// Weights of the mean of the polynomial between s = a and s = b: the means of s, s^2, s^3 in place of these.
static inline yoke_polynomial_weights yoke__polynomial_between(double a, double b) {
  // means of s, s^2, s^3 between a and b
  const double m1 = (a + b) / 2, m2 = (a * a + a * b + b * b) / 3;
  const double m3 = (a + b) * (a * a + b * b) / 4;

  // s (s + 1) / 2 and (s^3 + 3 s^2 + 2 s) / 6 with these means
  return (yoke_polynomial_weights){m1, (m2 + m1) / 2, (m3 + 3 * m2 + 2 * m1) / 6};
}

// The same for a call that begins tau after the sample and lasts h. The common one takes the whole interval.
static inline yoke_polynomial_weights yoke__polynomial_call(double tau, double h, double interval) {
  if (tau == 0 && h == interval) {
    return yoke__polynomial_between(0, 1);
  }
  return yoke__polynomial_between(tau / interval, (tau + h) / interval);
}

// Weights of the mean over one interval: of the polynomial itself (n_calls = 0), or of the values that a unit holds
// which reads it at the start of each of n_calls calls.
static inline yoke_polynomial_weights yoke__polynomial_mean(int64_t n_calls) {
  // means of s, s (s + 1) / 2, s (s + 1) (s + 2) / 6 over 0 .. 1
  if (n_calls <= 0) {
    return (yoke_polynomial_weights){1.0 / 2, 5.0 / 12, 3.0 / 8};
  }
  // sums of j, j (j + n), j (j + n) (j + 2 n) over j = 0 .. n - 1 in closed form
  const double n = (double)n_calls;
  const double s1 = n * (n - 1) / 2, s2 = s1 * (2 * n - 1) / 3, s3 = s1 * s1;
  return (yoke_polynomial_weights){s1 / (n * n), (s2 + n * s1) / (2 * n * n * n),
                                   (s3 + 3 * n * s2 + 2 * n * n * s1) / (6 * n * n * n * n)};
}

// The part of the polynomial that the differences make, cut off after `order`, added to `start`.
static inline double yoke__polynomial_sum(const yoke_polynomial* p, int order,
                                          yoke_polynomial_weights w, double start) {
  double value = start;
  if (order >= 1) {
    value += w.c1 * p->d1;
  }
  if (order >= 2) {
    value += w.c2 * p->d2;
  }
  if (order >= 3) {
    value += w.c3 * p->d3;
  }
  return value;
}

#endif
