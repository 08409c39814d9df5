// Roughness of a signal and its mean distance from a reference.
//
// Noise: with z the orthonormal cosine transform (type II) of y, s_i = (2 - 2 cos(pi i / n))^2 and a
// smoothing parameter p, a penalised least-squares spline leaves M z with M_i = 1 - 1/(1 + p s_i).
// p is where the score of generalised cross-validation is least:
//
//   score(p) = mean(z^2 M^2) / mean(M)^2          variance = mean(z^2 M^2)
//
// between the p of smoothing degrees h = 0.99 and h = 1e-6,
// p = (((1 + sqrt(1 + 8 h^2)) / (4 h^2))^2 - 1) / 16. The score may have several valleys. The search is
// that of the source (golden sections and parabolas after Brent, from the golden point of the range on),
// which finds the one of strong smoothing: an oscillation of few samples counts as noise. The lowest
// valley of a signal without any noise would be that of no smoothing, and its noise 0.
// Source: D. Garcia, Robust smoothing of gridded data in one and higher dimensions with missing values,
// Comput. Stat. Data Anal. 54 (2010). Assumes equally spaced samples. To the cosine transform a slope at
// an end is a kink: of trends that are not flat there a little counts as noise.
#include "quality/quality_noise.h"

#include <math.h>
#include <stdbool.h>

#include "base/base_check.h"

static const double pi = 3.14159265358979323846;

#define TOLERANCE 1e-5  // of log10 p

enum { MAX_SEARCH = 200 };

size_t yoke__noise_work_size(size_t n) {
  return 6 * n;  // 4 n cosines, z^2, s
}

// z^2: squares of the orthonormal transform z_i = scale_i sum_j y_j cos(pi i (2 j + 1) / (2 n)).
// cosines: 4 n, a full turn.
static void transform(size_t n, const double y[], double cosines[], double squares[]) {
  const size_t turn = 4 * n;
  for (size_t k = 0; k < turn; k++) {
    cosines[k] = cos(2.0 * pi * (double)k / (double)turn);
  }
  for (size_t i = 0; i < n; i++) {
    double sum = 0.0;
    // angle i (2 j + 1) in parts of a turn, carried along without overflow
    size_t at = i;
    for (size_t j = 0; j < n; j++) {
      sum += y[j] * cosines[at];
      at += 2 * i;
      at = at >= turn ? at - turn : at;
    }
    squares[i] = sum * sum * (i == 0 ? 1.0 : 2.0) / (double)n;
  }
}

// *left: mean(z^2 M^2).
static double score(size_t n, const double squares[], const double s[], double log_p,
                    double* left) {
  const double p = pow(10.0, log_p);
  double sum = 0.0, weights = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double M = 1.0 - 1.0 / (1.0 + p * s[i]);
    sum += squares[i] * M * M;
    weights += M;
  }
  *left = sum / (double)n;
  const double mean = weights / (double)n;
  return *left / (mean * mean);
}

// Smoothing parameter of a degree of smoothing between 0 and 1, as log10.
static double log_parameter(double h) {
  const double root = (1.0 + sqrt(1.0 + 8.0 * h * h)) / (4.0 * h * h);
  return log10((root * root - 1.0) / 16.0);
}

// The problem as the search sees it.
typedef struct valley {
  size_t n;
  const double *squares, *s;
} valley;

static double height(const valley* v, double log_p) {
  double left = 0.0;
  return score(v->n, v->squares, v->s, log_p, &left);
}

// A step from the best point x towards the bottom of the parabola through x, w and v; 0 if there is none
// that lies within and is shorter than half the step before the last.
static double parabola_step(const double at[3], const double h[3], double low, double high,
                            double before_last) {
  const double x = at[0], w = at[1], v = at[2];
  const double r = (x - w) * (h[0] - h[2]), q = (x - v) * (h[0] - h[1]);
  double p = (x - v) * q - (x - w) * r;
  double d = 2.0 * (q - r);
  p = d > 0.0 ? -p : p;
  d = fabs(d);
  const bool is_good =
      fabs(p) < fabs(0.5 * d * before_last) && p > d * (low - x) && p < d * (high - x);
  return is_good ? p / d : 0.0;
}

// Keeps the three best points: x best, w second, v the w before it.
static void keep_best(double at[3], double h[3], double u, double here) {
  size_t place = 3;
  if (here <= h[0]) {
    place = 0;
  } else if (here <= h[1] || at[1] == at[0]) {
    place = 1;
  } else if (here <= h[2] || at[2] == at[0] || at[2] == at[1]) {
    place = 2;
  }
  for (size_t i = 2; i > place; i--) {
    at[i] = at[i - 1];
    h[i] = h[i - 1];
  }
  if (place < 3) {
    at[place] = u;
    h[place] = here;
  }
}

// The bottom of the valley that golden sections from the golden point of [low, high] lead to, with
// parabolas where they help.
static double descend(const valley* v, double low, double high) {
  const double golden = 0.5 * (3.0 - sqrt(5.0));
  const double start = low + golden * (high - low), first = height(v, start);
  double at[3] = {start, start, start}, h[3] = {first, first, first};
  double step = 0.0, last = 0.0;
  for (int i = 0; i < MAX_SEARCH; i++) {
    const double middle = 0.5 * (low + high), x = at[0];
    const double tolerance = 1.5e-8 * fabs(x) + TOLERANCE / 3.0;
    if (fabs(x - middle) <= 2.0 * tolerance - 0.5 * (high - low)) {
      break;
    }
    double next = 0.0;
    if (fabs(last) > tolerance) {
      next = parabola_step(at, h, low, high, last);
    }
    if (next != 0.0) {
      last = step;
      const double u = x + next;
      if (u - low < 2.0 * tolerance || high - u < 2.0 * tolerance) {
        next = copysign(tolerance, middle - x);
      }
    } else {
      last = x >= middle ? low - x : high - x;
      next = golden * last;
    }
    step = next;
    const double u = x + (fabs(step) >= tolerance ? step : copysign(tolerance, step));
    const double here = height(v, u);

    // the bracket closes around the better of the two
    if (here <= h[0]) {
      *(u >= x ? &low : &high) = x;
    } else {
      *(u < x ? &low : &high) = u;
    }
    keep_best(at, h, u, here);
  }
  return at[0];
}

yoke_status yoke__noise_variance(size_t n, const double y[], double work[], double* variance) {
  if (n < 3) {
    return YOKE_BAD_ARG;
  }
  for (size_t j = 0; j < n; j++) {
    if (!yoke__is_finite(y[j])) {
      *variance = (double)INFINITY;
      return YOKE_DIVERGED;
    }
  }
  double *squares = work + 4 * n, *s = squares + n, left = 0.0;
  transform(n, y, work, squares);
  for (size_t i = 0; i < n; i++) {
    const double root = 2.0 - 2.0 * cos(pi * (double)i / (double)n);
    s[i] = root * root;
  }

  const valley v = {n, squares, s};
  const double log_p = descend(&v, log_parameter(0.99), log_parameter(1e-6));
  (void)score(n, squares, s, log_p, &left);
  *variance = left;
  return YOKE_OK;
}
