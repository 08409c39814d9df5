// Hold functions; see synth_hold.h.
//
// The impulse response of a hold of order n consists of one polynomial w_i per interval i = 0 .. n, of time t / Dt:
//
//   ZOH  1       FOH  1 + t, 1 - t       SOH  (t + 1)(t + 2) / 2, 1 - t^2, (t - 1)(t - 2) / 2
//
//   hold - 1 = sum over k > n of (-x)^k / k! sum over i of integral_i^{i+1} w_i(t) t^k dt
//
// The terms 1 <= k <= n are 0: a hold of order n is exact for polynomials of order n. This series serves near x = 0, where
// the closed forms lose x^-3 in digits; elsewhere Newton's form with the moments p_k = integral_0^1 t^(k-1) e^-xt dt,
//
//   hold = p1 + (1 - e^-x) p2 + (1 - e^-x)^2 (p2 + p3) / 2       up to the order of the hold.
#include "synth/synth_hold.h"

#include <math.h>
#include <stddef.h>

#define PI    3.14159265358979323846
#define NEAR  0.5  // |x| below which the series is used; its terms fall by 3 |x| / k
#define TERMS 28   // (3 NEAR)^28 / 28! is below 1e-24
#define ORDER 2    // largest

static const double responses[YOKE_SYNTH_N_HOLDS][ORDER + 1][ORDER + 1] = {
    {{1}},
    {{1, 1}, {1, -1}},
    {{1, 1.5, 0.5}, {1, 0, -1}, {1, -1.5, 0.5}},
};

const char* yoke__synth_hold_name(yoke_synth_hold hold) {
  static const char* const names[YOKE_SYNTH_N_HOLDS] = {"ZOH", "FOH", "SOH"};
  return (size_t)hold < YOKE_SYNTH_N_HOLDS ? names[hold] : "?";
}

// sum over i of integral_i^{i+1} w_i(t) t^k dt
static double moment(yoke_synth_hold hold, int k) {
  double sum = 0;
  for (int i = 0; i <= (int)hold; i++) {
    for (int m = 0; m <= (int)hold; m++) {
      // integral of t^(k + m) over i .. i + 1
      const int power = k + m + 1;
      sum += responses[hold][i][m] * (pow(i + 1, power) - pow(i, power)) / power;
    }
  }
  return sum;
}

static double complex series(yoke_synth_hold hold, double complex x) {
  double complex sum = 0, term = 1;
  for (int k = 1; k < TERMS; k++) {
    // (-x)^k / k!; terms up to the order of the hold are 0 exactly
    term *= -x / k;
    sum += k > (int)hold ? term * moment(hold, k) : 0;
  }
  return sum;
}

static double complex closed(yoke_synth_hold hold, double complex x) {
  const double complex E = cexp(-x), d = 1 - E;

  // moments p_k in closed form
  const double complex p1 = d / x, p2 = (d - x * E) / (x * x);
  const double complex p3 = (2 - E * (x * x + 2 * x + 2)) / (x * x * x);
  double complex sum = p1;
  sum += hold >= YOKE_SYNTH_FOH ? d * p2 : 0;
  sum += hold >= YOKE_SYNTH_SOH ? d * d * (p2 + p3) / 2 : 0;
  return sum;
}

double complex yoke__synth_hold_error(yoke_synth_hold hold, double complex x) {
  return cabs(x) < NEAR ? series(hold, x) : closed(hold, x) - 1;
}

double complex yoke__synth_hold_at(yoke_synth_hold hold, double complex x) {
  return cabs(x) < NEAR ? 1 + series(hold, x) : closed(hold, x);
}

double complex yoke__synth_hold_image(yoke_synth_hold hold, double w, double step, int n) {
  return yoke__synth_hold_at(hold, (double complex)I * (w * step + 2 * PI * n));
}

double yoke__synth_hold_peak(yoke_synth_hold hold, double* at) {
  // |hold| rises to its only maximum between 0 and 2 pi, and falls: golden section
  const double part = (sqrt(5) - 1) / 2;
  double low = 0, high = 2 * PI;
  while (high - low > 1e-9) {
    const double a = high - part * (high - low), b = low + part * (high - low);
    if (cabs(yoke__synth_hold_image(hold, a, 1, 0)) >=
        cabs(yoke__synth_hold_image(hold, b, 1, 0))) {
      high = b;
    } else {
      low = a;
    }
  }
  // ZOH only falls: its maximum is at 0 itself
  *at = hold == YOKE_SYNTH_ZOH ? 0 : low;
  return cabs(yoke__synth_hold_image(hold, *at, 1, 0));
}
