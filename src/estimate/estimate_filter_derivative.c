// The filter with derivatives and perfect measurements: q = [z; z'; rho].
//
// Prediction, equation (16) of the specification, without the dependence on rho:
//
//   z := z + Psi1 z' + Psi2 Gc v',   z' := E z' + Psi1 Gc v',   F = [I Psi1 0; 0 E 0; 0 0 I]
//
// Correction: after the sensors the heat balance of every capacity, 0 = K z + M v - c z' [W], is taken as a measurement whose
// reading is 0 and whose noise is 0 (or `jitter`); it brings back what the prediction leaves out. All rows are linearised at the
// same q, and the innovation of a row is corrected for what the rows before it moved: the result is that of all rows at once.
//
// Walks of unknown inputs move z' by g = d z'/d rho = Gc * factors. White noise of density w on rho' leaves in a step, to first
// order in h Fc,
//
//   Q = w [h^3/3 g g'  h^2/2 g g'  h^2/2 g;  .  h g g'  h g;  .  .  h]
//
// (the coherent form of rule (17)). Sources: thesis of Rodriguez, equations 4.28 to 4.40; specification, sections 6.2 and 6.4.
#include <string.h>

#include "estimate/estimate_filter_part.h"
#include "estimate/estimate_kalman.h"
#include "linalg/linalg_dense.h"

// ---- matrices

static void fill_transition(const yoke_estimate* f) {
  const size_t p = f->p, n = f->n;
  memset(f->F, 0, 2 * p * n * sizeof *f->F);
  for (size_t i = 0; i < p; i++) {
    f->F[i * n + i] = 1.0;
    memcpy(f->F + i * n + p, f->Psi1 + i * p, p * sizeof *f->F);
    memcpy(f->F + (p + i) * n + p, f->E + i * p, p * sizeof *f->F);
  }
}

// Adds a to an element and to its mirror image.
static void add_both(size_t n, double Q[], size_t i, size_t j, double a) {
  Q[i * n + j] += a;
  if (i != j) {
    Q[j * n + i] += a;
  }
}

// g: p, how much z' moves with rho_j, which walks with the density w.
static void add_walk(const yoke_estimate* f, size_t j, const double g[], double w) {
  const size_t p = f->p, n = f->n, rho = f->rho_at + j;
  const double h = f->setup.h;
  const bool is_loose = f->setup.has_loose_walks;
  for (size_t a = 0; a < p; a++) {
    if (g[a] == 0.0) {
      continue;
    }
    for (size_t b = is_loose ? a : 0; b < (is_loose ? a + 1 : p); b++) {
      const double gg = g[a] * g[b] * w;
      if (b <= a) {
        add_both(n, f->Q, p + a, p + b, h * gg);
      }
      if (!is_loose) {
        f->Q[a * n + b] += h * h * h / 3.0 * gg;
        add_both(n, f->Q, a, p + b, 0.5 * h * h * gg);
      }
    }
    if (!is_loose) {
      add_both(n, f->Q, a, rho, 0.5 * h * h * w * g[a]);
      add_both(n, f->Q, p + a, rho, h * w * g[a]);
    }
  }
}

static void fill_noise(const yoke_estimate* f) {
  const yoke_estimate_setup* s = &f->setup;
  const size_t p = f->p, n = f->n;
  memset(f->Q, 0, n * n * sizeof *f->Q);
  for (size_t i = 0; i < p; i++) {
    f->Q[i * n + i] = s->z_walk * s->z_walk * s->h;
    f->Q[(p + i) * n + p + i] = s->rate_walk * s->rate_walk * s->h;
  }
  for (size_t j = 0; j < f->n_rho; j++) {
    const yoke_unknown* unknown = &s->unknowns[j];
    const double w = unknown->walk * unknown->walk;
    if (w == 0.0 || f->frozen_sd[j] >= 0.0) {
      continue;
    }
    f->Q[(f->rho_at + j) * (n + 1)] = w * s->h;
    if (unknown->kind == YOKE_UNKNOWN_INPUT) {
      for (size_t i = 0; i < p; i++) {
        f->heat[i] = 0.0;
        for (size_t t = 0; t < unknown->n_targets; t++) {
          f->heat[i] += unknown->factors[t] * f->model.Gc[i * f->r + unknown->targets[t]];
        }
      }
      add_walk(f, j, f->heat, w);
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
  double *z = f->q, *rate = f->q + p, *moved = f->work, *push = f->work + p;
  yoke__mat_vec_add(p, p, f->Psi1, rate, z);
  yoke__mat_vec(p, p, f->E, rate, moved);
  if (slope != NULL) {
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
  yoke__heat_model_heat(m, f->q, f->v, balance);
  yoke__filter_heat_slopes(f, f->D);
  memset(H, 0, p * n * sizeof *H);
  for (size_t i = 0; i < p; i++) {
    double* row = H + i * n;
    balance[i] -= m->c[i] * rate[i];
    memcpy(row, m->K + i * p, p * sizeof *row);
    row[p + i] = -m->c[i];
    for (size_t j = 0; j < f->n_rho; j++) {
      row[2 * p + j] = f->D[j * p + i];
    }
  }
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
  fill_balances(f, H, balance);
  YOKE_TRY(yoke__filter_take_sensors(f, readings, have));

  // a balance without variance is fulfilled already
  for (size_t i = 0; i < f->p; i++) {
    const double* row = H + i * n;
    const double s = yoke__kalman_variance(n, f->P, row, f->setup.jitter, f->PH);
    if (s > 0.0) {
      const double e = yoke__filter_row_innovation(f, row, -balance[i]);
      YOKE_TRY(yoke__kalman_correct(n, f->q, f->P, row, f->setup.jitter, e, s, f->PH, f->work));
    }
  }
  return YOKE_OK;
}
