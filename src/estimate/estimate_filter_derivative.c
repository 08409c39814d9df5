// The filter with derivatives and perfect measurements: q = [z; z'; rho].
//
// Prediction, without the dependence on rho:
//
//   z := z + Psi1 z' + Psi2 Gc v',   z' := E z' + Psi1 Gc v',   F = [I Psi1 0; 0 E 0; 0 0 I]
//
// Correction: after the sensors the heat balance of every capacity, 0 = K z + M v - c z' [W], is taken as a measurement whose
// reading is 0 and whose noise is 0 (or `jitter`); it brings back what the prediction leaves out. All rows are linearised at the
// same q, and the innovation of a row is corrected for what the rows before it moved: the result is that of all rows at once.
//
// A walk of an unknown input moves z' by g = d z'/d rho = Gc * factors: with the variance w per step,
//
//   Q = w phi phi',   phi = [0; g; 1]
//
// that is, the input jumps at the end of the step. phi fulfils the heat balance exactly. It has to: noise that violates it,
// however little, would be removed by the perfect measurements, and the walk with it. Source: B. Rodriguez Frade, doctoral
// thesis, A Coruna 2021, equations 4.28 to 4.40; Q as a product of phi is ours. Page: docs/twin.md, "How it works".
#include <string.h>

#include "estimate/estimate_filter_part.h"
#include "estimate/estimate_kalman.h"
#include "linalg/linalg_dense.h"

// ---- matrices

static void fill_transition(const yoke_estimate* f) {
  const size_t p = f->p, n = f->n;
  memset(f->F, 0, 2 * p * n * sizeof *f->F);

  // F = [I Psi1 0; 0 E 0], rows of z and z'
  for (size_t i = 0; i < p; i++) {
    f->F[i * n + i] = 1.0;
    memcpy(f->F + i * n + p, f->Psi1 + i * p, p * sizeof *f->F);
    memcpy(f->F + (p + i) * n + p, f->E + i * p, p * sizeof *f->F);
  }
}

// Noise that moves the states by phi with the variance w.
static void add_noise(size_t n, double w, const double phi[], double Q[]) {
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b < n && phi[a] != 0.0; b++) {
      Q[a * n + b] += w * (phi[a] * phi[b]);
    }
  }
}

// z' moves with rho_j, an input, which walks with the variance w in a step.
static void add_walk(const yoke_estimate* f, size_t j, double w) {
  const yoke_unknown* unknown = &f->setup.unknowns[j];
  const size_t p = f->p, n = f->n;
  double* phi = f->prior;
  memset(phi, 0, n * sizeof *phi);

  // phi = [0; Gc factors; 1]
  for (size_t i = 0; i < p; i++) {
    for (size_t t = 0; t < unknown->n_targets; t++) {
      phi[p + i] += unknown->factors[t] * f->model.Gc[i * f->r + unknown->targets[t]];
    }
  }

  // for comparison with the published form: the noise of z' and rho without their covariance
  if (f->setup.has_loose_walks) {
    for (size_t i = p; i < 2 * p; i++) {
      f->Q[i * (n + 1)] += w * (phi[i] * phi[i]);
      phi[i] = 0.0;
    }
  }
  phi[f->rho_at + j] = 1.0;
  add_noise(n, w, phi, f->Q);
}

static void fill_noise(const yoke_estimate* f) {
  const yoke_estimate_setup* s = &f->setup;
  const size_t p = f->p, n = f->n;
  memset(f->Q, 0, n * n * sizeof *f->Q);
  for (size_t i = 0; i < p; i++) {
    f->Q[i * n + i] = s->z_walk * s->z_walk * s->h;
  }
  yoke__filter_add_rate_noise(f, f->Q);
  for (size_t j = 0; j < f->n_rho; j++) {
    // variance per step: density times h
    const double w = s->h * yoke__filter_walk_density(f, j);
    if (w > 0.0 && s->unknowns[j].kind == YOKE_UNKNOWN_INPUT) {
      add_walk(f, j, w);
    } else {
      f->Q[(f->rho_at + j) * (n + 1)] = w;
    }
  }
}

yoke_status yoke__derivative_refresh(yoke_estimate* f) {
  fill_transition(f);
  fill_noise(f);
  return YOKE_OK;
}

// ---- prediction

yoke_status yoke__derivative_predict(yoke_estimate* f, const double slope[]) {
  const size_t p = f->p;

  // z' is needed as it was for z: z first
  double *z = f->q, *rate = f->q + p, *moved = f->work, *push = f->work + p;

  // z += Psi1 z', z' := E z'
  yoke__mat_vec_add(p, p, f->Psi1, rate, z);
  yoke__mat_vec(p, p, f->E, rate, moved);
  if (slope != NULL) {
    // + Psi2 Gc v' and + Psi1 Gc v'
    yoke__mat_vec(p, f->r, f->model.Gc, slope, push);
    yoke__mat_vec_add(p, p, f->Psi2, push, z);
    yoke__mat_vec_add(p, p, f->Psi1, push, moved);
  }
  memcpy(rate, moved, p * sizeof *rate);
  yoke__kalman_predict_rows(f->n, 2 * p, f->F, f->Q, f->P, f->work);
  return YOKE_OK;
}

// ---- correction

// Rows of the heat balances, and what they are now.
static void fill_balances(const yoke_estimate* f, double H[], double balance[]) {
  const yoke_heat_model* m = &f->model;
  const size_t p = f->p, n = f->n;
  const double* rate = f->q + p;

  // heat K z + M v [W]
  yoke__heat_model_heat(m, f->q, f->v, balance);
  yoke__filter_heat_slopes(f, f->D);
  memset(H, 0, p * n * sizeof *H);

  // row i of [K, -diag(c), d(heat)/d rho]; balance = K z + M v - c z'
  for (size_t i = 0; i < p; i++) {
    double* row = H + i * n;
    balance[i] -= m->c[i] * rate[i];
    memcpy(row, m->K + i * p, p * sizeof *row);
    row[p + i] = -m->c[i];
    for (size_t j = 0; j < f->n_rho; j++) {
      row[2 * p + j] = f->D[j * p + i];
    }
  }

  // d(-c z')/d rho = -factor z' for a capacity
  for (size_t j = 0; j < f->n_rho; j++) {
    const yoke_unknown* unknown = &f->setup.unknowns[j];
    for (size_t t = 0; t < unknown->n_targets && unknown->kind == YOKE_UNKNOWN_CAPACITY; t++) {
      const uint32_t i = unknown->targets[t];
      H[i * n + 2 * p + j] -= unknown->factors[t] * rate[i];
    }
  }
}

yoke_status yoke__derivative_correct(yoke_estimate* f, const double readings[], const bool have[]) {
  const size_t n = f->n, n_sensors = f->setup.n_sensors;
  double *H = f->H + n_sensors * n, *balance = f->expected + n_sensors;
  for (size_t i = 0; i < n_sensors; i++) {
    f->expected[i] = yoke__filter_sensor(f, i, f->H + i * n);
  }

  // rows before the readings: all are linearised at the prior
  fill_balances(f, H, balance);
  YOKE_TRY(yoke__filter_take_sensors(f, readings, have));

  // a balance without variance is fulfilled already
  for (size_t i = 0; i < f->p; i++) {
    const double* row = H + i * n;
    const double s = yoke__kalman_variance(n, f->P, row, f->setup.jitter, f->PH);
    if (s > 0.0) {
      // the reading of a balance is 0: e = 0 - balance
      const double e = yoke__filter_row_innovation(f, row, -balance[i]);
      YOKE_TRY(yoke__kalman_correct(n, f->q, f->P, row, f->setup.jitter, e, s, f->PH, f->work));
    }
  }
  return YOKE_OK;
}
