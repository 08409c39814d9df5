// One step of the embedded pair of Dormand and Prince: order 5, with an error estimate of order 4.
//
//   k_i = f(t + c_i h, x + h sum_j<i a_ij k_j),  i = 1..7
//   x+ = x + h sum b_i k_i,  error = h sum (b_i - b*_i) k_i
//
// The last row of a is b, so k_7 = f(t + h, x+) is the first slope of the next step. The error per
// step is kept below the tolerance by h+ = 0.9 h size^(-1/5), within a factor of 5.
//
// Stages 6 and 7 stand at the same time: |k_7 - k_6| / |x+ - x_6| estimates the Lipschitz constant.
// The method is stable on the negative real axis up to h lambda = 3.3; a step length that is held at
// this bound marks a stiff problem.
//
// Sources: J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl.
// Math. 6 (1980); Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (2nd ed.), II.4
// (step control); Hairer, Wanner, II (2nd ed.), IV.2 (stiffness detection).
#include <math.h>

#include "ode/ode.h"

enum { N_STAGES = 7 };

// clang-format off
static const double c[N_STAGES] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
static const double a[N_STAGES][N_STAGES - 1] = {
  {0},
  {1.0 / 5},
  {3.0 / 40,        9.0 / 40},
  {44.0 / 45,      -56.0 / 15,      32.0 / 9},
  {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
  {9017.0 / 3168,  -355.0 / 33,     46732.0 / 5247,  49.0 / 176, -5103.0 / 18656},
  {35.0 / 384,      0,              500.0 / 1113,   125.0 / 192, -2187.0 / 6784,  11.0 / 84},
};
// b - b*: order 5 minus order 4
static const double e[N_STAGES] = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920,
                                   -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
// clang-format on

// to := x + h sum_j<i a_ij k_j
static void fill_stage(int i, double h, size_t n, const double x[], const double* const k[N_STAGES],
                       double to[]) {
  for (size_t m = 0; m < n; m++) {
    double sum = 0;
    for (int j = 0; j < i; j++) {
      sum += a[i][j] * k[j][m];
    }
    to[m] = x[m] + h * sum;
  }
}

void yoke__ode_pair_step(yoke_ode_rhs f, void* self, double t, double h, size_t n, const double x[],
                         double x_end[], yoke_ode_pair_step* step, double work[]) {
  // k_1 is the caller's, k_2 to k_6 lie in work, k_7 is the caller's; x_6 is the last of work
  double* k_free[N_STAGES] = {NULL,         work,         work + n,       work + 2 * n,
                              work + 3 * n, work + 4 * n, step->slope_end};
  const double* const k[N_STAGES] = {step->slope, k_free[1], k_free[2], k_free[3],
                                     k_free[4],   k_free[5], k_free[6]};
  double* x_6 = work + 5 * n;
  for (int i = 1; i < N_STAGES; i++) {
    double* stage = i == N_STAGES - 1 ? x_end : x_6;
    fill_stage(i, h, n, x, k, stage);
    f(self, t + c[i] * h, stage, k_free[i]);
  }

  // error, and how strongly the slope answers to the state
  double slopes = 0, states = 0;
  for (size_t m = 0; m < n; m++) {
    double sum = 0;
    for (int i = 0; i < N_STAGES; i++) {
      sum += e[i] * k[i][m];
    }
    step->error[m] = h * sum;
    slopes += (k[6][m] - k[5][m]) * (k[6][m] - k[5][m]);
    states += (x_end[m] - x_6[m]) * (x_end[m] - x_6[m]);
  }
  step->h_lambda = states > 0 ? h * sqrt(slopes / states) : 0;
}

double yoke__ode_error_size(size_t n, const double error[], const double x[], const double x_end[],
                            double tolerance, const double nominals[]) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    const double nominal = nominals[i] != 0 ? fabs(nominals[i]) : 1;
    const double size = nominal + fmax(fabs(x[i]), fabs(x_end[i]));
    const double ratio = error[i] / (tolerance * size);
    sum += ratio * ratio;
  }
  return n == 0 ? 0 : sqrt(sum / (double)n);
}

double yoke__ode_step_factor(double error_size) {
  const double factor = 0.9 * pow(error_size, -1.0 / 5);
  return fmin(fmax(factor, 0.2), 5);
}
