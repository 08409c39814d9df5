// Filters on q = [z; rho].
//
//   z := E z + Psi1 Gc v + Psi2 Gc v',   F = [E  Psi1 D; 0  I],   D = d(Fc z + Gc v)/d rho
//
// Linear: D = Gc * factors does not change, and the covariance that walks leave in a step is the exact integral over exp(A s),
// A = [Fc D; 0 0] (yoke__discrete_noise). Extended: D at the present estimates; the same integral to first order in h Fc.
#include <string.h>

#include "estimate/estimate_filter_part.h"
#include "estimate/estimate_kalman.h"
#include "linalg/linalg_dense.h"

// F from D (n_rho x p).
static void fill_transition(const yoke_estimate* f) {
  const size_t p = f->p, n = f->n;

  // F = [E, Psi1 D]
  for (size_t i = 0; i < p; i++) {
    double* row = f->F + i * n;
    memcpy(row, f->E + i * p, p * sizeof *row);
    for (size_t j = 0; j < f->n_rho; j++) {
      double sum = 0.0;
      for (size_t k = 0; k < p; k++) {
        sum += f->Psi1[i * p + k] * f->D[j * p + k];
      }
      row[p + j] = sum;
    }
  }
}

static yoke_status fill_exact_noise(const yoke_estimate* f) {
  const size_t p = f->p, n = f->n;
  double *A = f->work, *W = f->work + n * n;
  memset(A, 0, 2 * n * n * sizeof *A);

  // [z; rho]' = [Fc D; 0 0] [z; rho] + white noise with density W
  for (size_t i = 0; i < p; i++) {
    memcpy(A + i * n, f->model.Fc + i * p, p * sizeof *A);
    for (size_t j = 0; j < f->n_rho; j++) {
      A[i * n + p + j] = f->D[j * p + i];
    }
    W[i * n + i] = f->setup.z_walk * f->setup.z_walk;
  }
  for (size_t j = 0; j < f->n_rho; j++) {
    W[(p + j) * (n + 1)] = yoke__filter_walk_density(f, j);
  }
  return yoke__discrete_noise(n, A, W, f->setup.h, f->Q, f->work + 2 * n * n);
}

// White noise w on rho_j' moves z' by D_j: w [h^3/3 D D'  h^2/2 D; .  h].
static void fill_short_noise(const yoke_estimate* f) {
  const size_t p = f->p, n = f->n;
  const double h = f->setup.h;
  memset(f->Q, 0, n * n * sizeof *f->Q);
  for (size_t j = 0; j < f->n_rho; j++) {
    const double w = yoke__filter_walk_density(f, j), *d = f->D + j * p;
    if (w == 0.0) {
      continue;
    }
    // int_0^h (s D)(s D)' w ds = h^3/3 w D D', int_0^h s D w ds = h^2/2 w D
    for (size_t a = 0; a < p; a++) {
      for (size_t b = 0; b < p; b++) {
        f->Q[a * n + b] += h * h * h / 3.0 * w * (d[a] * d[b]);
      }
      f->Q[a * n + p + j] = f->Q[(p + j) * n + a] = 0.5 * h * h * w * d[a];
    }
    f->Q[(p + j) * (n + 1)] = h * w;
  }
  for (size_t i = 0; i < p; i++) {
    f->Q[i * n + i] += f->setup.z_walk * f->setup.z_walk * h;
  }
}

yoke_status yoke__linear_refresh(yoke_estimate* f) {
  if (f->method != YOKE_ESTIMATE_LINEAR) {
    return YOKE_OK;  // at each step
  }
  yoke__filter_rate_slopes(f, f->D);
  fill_transition(f);
  return fill_exact_noise(f);
}

yoke_status yoke__linear_predict(yoke_estimate* f, const double slope[]) {
  // F and Q belong to the present estimates
  if (f->method == YOKE_ESTIMATE_EXTENDED) {
    yoke__filter_rate_slopes(f, f->D);
    fill_transition(f);
    fill_short_noise(f);
  }
  yoke__filter_move_z(f, &f->model, f->E, f->Psi1, f->Psi2, f->v, slope, f->q);
  yoke__kalman_predict_rows(f->n, f->p, f->F, f->Q, f->P, f->work);
  return YOKE_OK;
}

yoke_status yoke__linear_correct(yoke_estimate* f, const double readings[], const bool have[]) {
  for (size_t i = 0; i < f->setup.n_sensors; i++) {
    f->expected[i] = yoke__filter_sensor(f, i, f->H + i * f->n);
  }
  return yoke__filter_take_sensors(f, readings, have);
}
