// Distributions that the limits stand on: chi-square by the incomplete gamma function, digamma and trigamma.
#include <float.h>
#include <math.h>

#include "estimate/estimate_innovation.h"

enum { MAX_TERMS = 100000, MAX_HALVINGS = 200 };

// P(a, x) = x^a e^-x / Gamma(a + 1) sum x^n / ((a + 1) .. (a + n)), for x < a + 1
static double gamma_series(double a, double x) {
  double term = 1, sum = 1;

  // terms fall at least as fast as x / (a + n) < 1
  for (int n = 1; n < MAX_TERMS && term > sum * DBL_EPSILON / 4; n++) {
    term *= x / (a + n);
    sum += term;
  }

  // x^a e^-x / Gamma(a + 1) by logarithms: no overflow for large a
  return sum * exp(a * log(x) - x - lgamma(a + 1));
}

// 1 - P(a, x) by its continued fraction (modified Lentz), for x >= a + 1
static double gamma_fraction(double a, double x) {
  // 1 / DBL_MIN stands for infinity in the first step of Lentz
  double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, product = d;
  for (int n = 1; n < MAX_TERMS; n++) {
    const double numerator = -n * (n - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    product *= c * d;
    // the fraction has converged when a factor is 1
    if (fabs(c * d - 1) < DBL_EPSILON) {
      break;
    }
  }
  return product * exp(a * log(x) - x - lgamma(a));
}

double yoke__chi_square_below(double x, double k) {
  if (!(x > 0)) {
    return 0;
  }
  if (isinf(x)) {
    return 1;
  }

  // P(k/2, x/2)
  const double a = k / 2, y = x / 2;
  return y < a + 1 ? gamma_series(a, y) : 1 - gamma_fraction(a, y);
}

// Density: the derivative of the above.
static double density(double x, double k) {
  return 0.5 * exp((k / 2 - 1) * log(x / 2) - x / 2 - lgamma(k / 2));
}

// Newton inside an interval that is halved where Newton leaves it.
double yoke__chi_square_quantile(double probability, double k) {
  if (!(probability > 0)) {
    return 0;
  }
  if (!(probability < 1)) {
    return (double)INFINITY;
  }

  // bracket [low, high] by doubling
  double low = 0, high = k + 1;
  while (yoke__chi_square_below(high, k) < probability) {
    low = high;
    high *= 2;
  }
  double x = 0.5 * (low + high);
  for (int i = 0; i < MAX_HALVINGS && high - low > 4 * DBL_EPSILON * high; i++) {
    // x := x - (P(x) - p) / density(x)
    const double miss = yoke__chi_square_below(x, k) - probability;
    *(miss < 0 ? &low : &high) = x;
    const double next = x - miss / density(x, k);
    if (fabs(next - x) <= 2 * DBL_EPSILON * x) {
      break;
    }
    x = next > low && next < high ? next : 0.5 * (low + high);
  }
  return x;
}

// Asymptotic series from 10 on; below by psi(x) = psi(x + 1) - 1 / x.
double yoke__digamma(double x) {
  double sum = 0;
  while (x < 10) {
    sum -= 1 / x;
    x += 1;
  }
  const double y = 1 / (x * x);
  return sum + log(x) - 0.5 / x -
         y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y / 132))));
}

double yoke__trigamma(double x) {
  double sum = 0;
  while (x < 10) {
    sum += 1 / (x * x);
    x += 1;
  }
  const double y = 1 / (x * x);
  return sum + 1 / x + 0.5 * y +
         y / x * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * 5.0 / 66))));
}
