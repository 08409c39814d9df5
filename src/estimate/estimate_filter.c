// The life of a filter: start, steps, results. The methods stand in files of their own.
#include "estimate/estimate_filter.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "estimate/estimate_filter_part.h"
#include "estimate/estimate_kalman.h"
#include "linalg/linalg_dense.h"

#define LOST_SD                                                                                    \
  10.0  // mean square of the innovations, in standard deviations, that no sound filter has for long

#define ROUNDING 1e-12  // of a variance, in a correction

static yoke_status diverge(yoke_estimate* f, yoke_estimate_reason reason) {
  if (f->head->reason == YOKE_ESTIMATE_SOUND) {
    f->head->reason = reason;
  }
  return YOKE_DIVERGED;
}

// ---- model and inputs

// Everything that follows from elements and unknowns.
static yoke_status refresh(yoke_estimate* f) {
  YOKE_TRY(yoke__heat_model_update(&f->model));
  YOKE_TRY(yoke__discrete(f->p, f->model.Fc, f->setup.h, f->E, f->Psi1, f->Psi2, f->work));
  return f->method == YOKE_ESTIMATE_DERIVATIVE ? yoke__derivative_refresh(f)
                                               : yoke__linear_refresh(f);
}

// After q has changed: the model, the unknown inputs and the temperatures follow.
static yoke_status follow(yoke_estimate* f) {
  yoke__theta_apply(f, f->q + f->rho_at, &f->model, f->v);
  if (f->has_elements) {
    YOKE_TRY(refresh(f));
  }
  yoke__heat_model_temperatures(&f->model, f->q, f->v, f->x);
  return YOKE_OK;
}

// Known inputs of now. A jump of them is one of z'.
static yoke_status take_inputs(yoke_estimate* f, const double v[]) {
  // with derivatives a jump of a known input is a jump Gc dv of z'
  bool has_jump = false;
  for (size_t i = 0; i < f->r; i++) {
    if (!f->is_unknown_input[i] && !yoke__is_finite(v[i])) {
      return YOKE_NOT_FINITE;
    }
    f->line[i] = f->is_unknown_input[i] ? 0.0 : v[i] - f->v[i];
    has_jump = has_jump || f->line[i] != 0.0;
  }
  if (!has_jump) {
    return YOKE_OK;
  }
  for (size_t i = 0; i < f->r; i++) {
    f->v[i] = f->is_unknown_input[i] ? f->v[i] : v[i];
  }
  if (f->method == YOKE_ESTIMATE_DERIVATIVE) {
    yoke__mat_vec_add(f->p, f->r, f->model.Gc, f->line, f->q + f->p);
  }
  yoke__heat_model_temperatures(&f->model, f->q, f->v, f->x);
  return YOKE_OK;
}

// z' = Fc z + Gc v.
static void rate_of(const yoke_estimate* f, double rate[]) {
  yoke__mat_vec(f->p, f->p, f->model.Fc, f->q, rate);
  yoke__mat_vec_add(f->p, f->r, f->model.Gc, f->v, rate);
}

void yoke__filter_move_z(const yoke_estimate* f, const yoke_heat_model* model, const double E[],
                         const double Psi1[], const double Psi2[], const double v[],
                         const double slope[], double z[]) {
  const size_t p = f->p;

  // z := E z + Psi1 Gc v + Psi2 Gc v'
  double *moved = f->heat, *push = f->push;
  yoke__mat_vec(p, p, E, z, moved);
  yoke__mat_vec(p, f->r, model->Gc, v, push);
  yoke__mat_vec_add(p, p, Psi1, push, moved);
  if (slope != NULL) {
    yoke__mat_vec(p, f->r, model->Gc, slope, push);
    yoke__mat_vec_add(p, p, Psi2, push, moved);
  }
  memcpy(z, moved, p * sizeof *z);
}

// ---- start

static void clear_results(yoke_estimate* f) {
  *f->head = (yoke_estimate_head){0};
  memset(f->n_hits, 0, f->n_rho * sizeof *f->n_hits);
  memset(f->n_at_bound, 0, f->n_rho * sizeof *f->n_at_bound);
  for (size_t j = 0; j < f->n_rho; j++) {
    f->frozen_sd[j] = -1.0;
  }
  for (size_t i = 0; i < f->setup.n_sensors; i++) {
    f->innovation[i] = f->innovation_sd[i] = (double)NAN;
  }
}

// z' of wrong guesses is wrong by much more than its own doubt: one step of noise comes on top, as for every later instant.
static void start_covariance(const yoke_estimate* f) {
  const size_t n = f->n;
  memset(f->P, 0, n * n * sizeof *f->P);

  // P_0 = diag(z_sd^2, rate_sd^2, start_sd^2)
  for (size_t i = 0; i < f->rho_at; i++) {
    const double sd = i < f->p ? f->setup.z_sd[i] : f->setup.rate_sd;
    f->P[i * (n + 1)] = sd * sd;
  }
  if (f->method == YOKE_ESTIMATE_DERIVATIVE) {
    yoke__filter_add_rate_noise(f, f->P);
  }
  for (size_t j = 0; j < f->n_rho; j++) {
    f->P[(f->rho_at + j) * (n + 1)] = f->start_sd[j] * f->start_sd[j];
  }
}

// The model with these values of the unknowns.
static yoke_status begin(yoke_estimate* f, const double values[], const double v[]) {
  clear_results(f);
  for (size_t i = 0; i < f->r; i++) {
    if (!f->is_unknown_input[i] && !yoke__is_finite(v[i])) {
      return YOKE_NOT_FINITE;
    }
    f->v[i] = v[i];
  }
  for (size_t j = 0; j < f->n_rho; j++) {
    const yoke_unknown* unknown = &f->setup.unknowns[j];
    // theta: 1 / R for a conductance, the value itself otherwise
    f->q[f->rho_at + j] = yoke__theta_of(unknown, values == NULL ? unknown->start : values[j]);
  }
  yoke__theta_apply(f, f->q + f->rho_at, &f->model, f->v);
  return refresh(f);
}

// What follows from z, which is in q already.
static yoke_status finish(yoke_estimate* f) {
  if (f->method == YOKE_ESTIMATE_DERIVATIVE) {
    rate_of(f, f->q + f->p);
  }
  yoke__heat_model_temperatures(&f->model, f->q, f->v, f->x);
  return yoke__are_finite(f->n, f->q) ? YOKE_OK : YOKE_NOT_FINITE;
}

static yoke_status start(yoke_estimate* f, const double values[], const double z[],
                         const double v[]) {
  YOKE_TRY(begin(f, values, v));
  memcpy(f->q, z, f->p * sizeof *z);
  start_covariance(f);
  return finish(f);
}

// With z = z_rest + J (theta - guess), J = d z_rest / d theta, an unknown adds J s s J' to the covariance of z, and J s s to that of z
// and theta. s is the deviation of its value as one of theta, to first order: rest is about linear in resistances, and
// conductances may be off by much more where a resistance may be 0 as well.
static yoke_status add_rest(yoke_estimate* f, const double given[]) {
  const size_t p = f->p, n = f->n;

  // J_j = -K^-1 d(heat)/d theta_j: how rest moves with theta_j
  yoke__filter_heat_slopes(f, f->D);
  for (size_t j = 0; j < f->n_rho; j++) {
    const yoke_unknown* unknown = &f->setup.unknowns[j];
    const size_t at = f->rho_at + j;
    const double scale = yoke__theta_scale(unknown, f->q[at]);
    // s from sd of the value by |d value / d theta|
    const double s = fmin(unknown->sd / scale, f->start_sd[j]);
    double* e = f->D + j * p;
    YOKE_TRY(yoke__heat_model_settle(&f->model, e));
    // a temperature that was given does not follow the unknowns
    for (size_t i = 0; i < p; i++) {
      e[i] *= given != NULL && !isnan(given[i]) ? 0.0 : s;
    }
    // P_zz += (J s)(J s)', P_z,theta = (J s) s
    for (size_t i = 0; i < p; i++) {
      for (size_t k = 0; k < p; k++) {
        f->P[i * n + k] += e[i] * e[k];
      }
      f->P[i * n + at] = f->P[at * n + i] = s * e[i];
    }
  }
  return YOKE_OK;
}

yoke_status yoke__estimate_start_rest(yoke_estimate* f, const double given[], const double v[]) {
  size_t n_given = 0;
  for (size_t i = 0; given != NULL && i < f->p; i++) {
    n_given += isnan(given[i]) ? 0 : 1;
  }
  if (given != NULL && n_given == f->p) {
    return start(f, NULL, given, v);
  }
  YOKE_TRY(begin(f, NULL, v));
  YOKE_TRY(yoke__heat_model_rest(&f->model, f->v, f->q));
  yoke__heat_model_temperatures(&f->model, f->q, f->v, f->x);
  start_covariance(f);
  YOKE_TRY(add_rest(f, given));
  for (size_t i = 0; i < f->p && given != NULL; i++) {
    f->q[i] = isnan(given[i]) ? f->q[i] : given[i];
  }
  return finish(f);
}

yoke_status yoke__estimate_start(yoke_estimate* f, const double z[], const double v[]) {
  return z == NULL ? yoke__estimate_start_rest(f, NULL, v) : start(f, NULL, z, v);
}

yoke_status yoke__estimate_start_at(yoke_estimate* f, const double values[], const double z[],
                                    const double v[]) {
  return start(f, values, z, v);
}

void yoke__estimate_set_sigma(yoke_estimate* f, size_t sensor, double sigma) {
  f->sensors[sensor].sigma = sigma;
}

yoke_status yoke__estimate_set_mean(yoke_estimate* f, const double q[], const double P[]) {
  memcpy(f->q, q, f->n * sizeof *q);
  if (P != NULL) {
    memcpy(f->P, P, f->n * f->n * sizeof *P);
  }
  return follow(f) < 0 ? diverge(f, YOKE_ESTIMATE_NOT_FINITE) : YOKE_OK;
}

// ---- readings

bool yoke__filter_has_reading(const double readings[], const bool have[], size_t sensor) {
  return (have == NULL || have[sensor]) && yoke__is_finite(readings[sensor]);
}

void yoke__filter_note_missing(yoke_estimate* f, size_t sensor) {
  f->head->counts.n_missing++;
  f->innovation[sensor] = f->innovation_sd[sensor] = (double)NAN;
}

bool yoke__filter_note_reading(yoke_estimate* f, size_t sensor, double e, double s) {
  const double gate = f->setup.gate;
  f->head->counts.n_readings++;
  f->innovation[sensor] = e;
  f->innovation_sd[sensor] = sqrt(s);

  // e^2 > g^2 S without the square root
  if (gate > 0.0 && e * e > gate * gate * s) {
    f->head->counts.n_gated++;
    return false;
  }
  return true;
}

double yoke__filter_row_innovation(const yoke_estimate* f, const double H[], double innovation) {
  // e - H (q - q_prior): all rows are linearised at the prior, as if taken at once
  for (size_t i = 0; i < f->n; i++) {
    innovation -= H[i] * (f->q[i] - f->prior[i]);
  }
  return innovation;
}

yoke_status yoke__filter_take_sensors(yoke_estimate* f, const double readings[],
                                      const bool have[]) {
  // q before any of these readings
  memcpy(f->prior, f->q, f->n * sizeof *f->q);
  for (size_t i = 0; i < f->setup.n_sensors; i++) {
    if (!yoke__filter_has_reading(readings, have, i)) {
      yoke__filter_note_missing(f, i);
      continue;
    }
    const double* H = f->H + i * f->n;
    // e, S = H P H' + r; then q and P by Joseph's form
    const double r = f->setup.sensors[i].sigma * f->setup.sensors[i].sigma;
    const double e = yoke__filter_row_innovation(f, H, readings[i] - f->expected[i]);
    const double s = yoke__kalman_variance(f->n, f->P, H, r, f->PH);
    if (yoke__filter_note_reading(f, i, e, s)) {
      YOKE_TRY(yoke__kalman_correct(f->n, f->q, f->P, H, r, e, s, f->PH, f->work));
    }
  }
  return YOKE_OK;
}

// ---- judgement

// Puts theta_j on a bound that it crossed; everything goes along as the covariance says it does (estimate projection; D. Simon,
// IET Control Theory and Applications 4 (2010) 1303-1318). The covariance stays, so that theta can leave again.
static void project(const yoke_estimate* f, size_t j, double bound) {
  const size_t at = f->rho_at + j;
  const double* row = f->P + at * f->n;
  if (row[at] > 0.0) {
    // q += P_j (bound - q_j) / P_jj: the conditional mean given q_j = bound
    const double step = (bound - f->q[at]) / row[at];
    for (size_t i = 0; i < f->n; i++) {
      f->q[i] += step * row[i];
    }
  }
  f->q[at] = bound;
}

// Keeps the unknowns within their bounds. YOKE_DIVERGED if an element was there for too long.
static yoke_status keep_bounds(yoke_estimate* f) {
  yoke_status status = YOKE_OK;
  const double* theta = f->q + f->rho_at;
  for (size_t j = 0; j < f->n_rho; j++) {
    const bool is_hit = theta[j] < f->lower[j] || theta[j] > f->upper[j];
    if (is_hit) {
      project(f, j, theta[j] < f->lower[j] ? f->lower[j] : f->upper[j]);
    }
    f->n_hits[j] += is_hit ? 1 : 0;
    f->n_at_bound[j] = is_hit ? f->n_at_bound[j] + 1 : 0;
    const yoke_unknown_kind kind = f->setup.unknowns[j].kind;
    // inputs and offsets may rest on a bound; an element that does so has no meaning
    if (f->n_at_bound[j] >= YOKE_ESTIMATE_PATIENCE && kind != YOKE_UNKNOWN_INPUT &&
        kind != YOKE_UNKNOWN_OFFSET) {
      status = diverge(f, YOKE_ESTIMATE_AT_BOUND);
    }
  }

  // one that was projected may have moved another one
  for (size_t j = 0; j < f->n_rho; j++) {
    f->q[f->rho_at + j] = fmin(fmax(theta[j], f->lower[j]), f->upper[j]);
  }
  return status;
}

// Are the readings of this correction where the filter expected them at all?
static yoke_status judge_readings(yoke_estimate* f, uint64_t n_gated) {
  double sum = 0.0;
  size_t n = 0;
  for (size_t i = 0; i < f->setup.n_sensors; i++) {
    const double e = f->innovation[i] / f->innovation_sd[i];
    if (!isnan(e)) {
      sum += e * e;
      n++;
    }
  }
  if (n == 0) {
    return YOKE_OK;
  }

  // lost: with a gate if all readings are outliers, without one if the mean square of e / sqrt(S)
  // is above 100; many corrections in a row
  const bool is_lost = f->setup.gate > 0.0 ? n_gated == n : sum > LOST_SD * LOST_SD * (double)n;
  f->head->n_lost = is_lost ? f->head->n_lost + 1 : 0;
  return f->head->n_lost >= YOKE_ESTIMATE_PATIENCE ? diverge(f, YOKE_ESTIMATE_LOST) : YOKE_OK;
}

static yoke_status judge_numbers(yoke_estimate* f) {
  if (!yoke__are_finite(f->n, f->q)) {
    return diverge(f, YOKE_ESTIMATE_NOT_FINITE);
  }
  for (size_t i = 0; i < f->n; i++) {
    const double variance = f->P[i * (f->n + 1)];
    if (!yoke__is_finite(variance)) {
      return diverge(f, YOKE_ESTIMATE_NOT_FINITE);
    }

    // what a measurement without noise determines has variance 0, up to the rounding of what a step adds
    if (variance < -ROUNDING * f->Q[i * (f->n + 1)]) {
      return diverge(f, YOKE_ESTIMATE_NOT_POSITIVE);
    }
  }
  return YOKE_OK;
}

// ---- the step

yoke_status yoke__estimate_correct(yoke_estimate* f, const double v[], const double readings[],
                                   const bool have[]) {
  if (f->head->reason != YOKE_ESTIMATE_SOUND) {
    return YOKE_DIVERGED;
  }
  YOKE_TRY(take_inputs(f, v));

  // readings gated in this correction are the difference of the counts
  const uint64_t n_gated = f->head->counts.n_gated;
  yoke_status status = YOKE_NO_SUPPORT;
  if (f->method == YOKE_ESTIMATE_DERIVATIVE) {
    status = yoke__derivative_correct(f, readings, have);
  } else if (f->method == YOKE_ESTIMATE_UNSCENTED) {
    status = yoke__unscented_correct(f, readings, have);
  } else {
    status = yoke__linear_correct(f, readings, have);
  }
  if (status < 0) {
    return diverge(f, YOKE_ESTIMATE_NOT_POSITIVE);
  }

  YOKE_TRY(judge_numbers(f));
  YOKE_TRY(keep_bounds(f));
  YOKE_TRY(judge_readings(f, f->head->counts.n_gated - n_gated));
  return follow(f) < 0 ? diverge(f, YOKE_ESTIMATE_NOT_FINITE) : YOKE_OK;
}

// Slopes of known inputs; NULL if there are none.
static const double* known_slope(const yoke_estimate* f, const double slope[]) {
  if (slope == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < f->r; i++) {
    f->slope[i] = f->is_unknown_input[i] || !yoke__is_finite(slope[i]) ? 0.0 : slope[i];
  }
  return f->slope;
}

yoke_status yoke__estimate_predict(yoke_estimate* f, const double v[], const double slope[]) {
  if (f->head->reason != YOKE_ESTIMATE_SOUND) {
    return YOKE_DIVERGED;
  }
  YOKE_TRY(take_inputs(f, v));

  const double* known = known_slope(f, slope);
  yoke_status status = YOKE_NO_SUPPORT;
  if (f->method == YOKE_ESTIMATE_DERIVATIVE) {
    status = yoke__derivative_predict(f, known);
  } else if (f->method == YOKE_ESTIMATE_UNSCENTED) {
    status = yoke__unscented_predict(f, known);
  } else {
    status = yoke__linear_predict(f, known);
  }
  if (status < 0) {
    return diverge(f, YOKE_ESTIMATE_NOT_POSITIVE);
  }
  f->head->counts.n_steps++;

  // v at the end of the step
  for (size_t i = 0; i < f->r && known != NULL; i++) {
    f->v[i] += f->setup.h * known[i];
  }
  yoke__heat_model_temperatures(&f->model, f->q, f->v, f->x);
  return judge_numbers(f);
}

// Slopes of known inputs.
static yoke_status take_slopes(const yoke_estimate* f, const double change[], bool* has_change) {
  if (f->head->reason != YOKE_ESTIMATE_SOUND) {
    return YOKE_DIVERGED;
  }
  for (size_t i = 0; i < f->r; i++) {
    f->slope[i] = f->is_unknown_input[i] ? 0.0 : change[i] / f->setup.h;
    *has_change = *has_change || f->slope[i] != 0.0;
  }
  return yoke__are_finite(f->r, f->slope) ? YOKE_OK : YOKE_NOT_FINITE;
}

// With b = Gc change / h, a prediction with this slope ends Psi2 b further in z and Psi1 b further in z': the heat balance stays as it
// is, because Psi1 = h I + Fc Psi2.
yoke_status yoke__estimate_ramp(yoke_estimate* f, const double change[]) {
  bool has_change = false;
  YOKE_TRY(take_slopes(f, change, &has_change));
  if (!has_change) {
    return YOKE_OK;
  }
  const size_t p = f->p;

  // z += Psi2 Gc v', z' += Psi1 Gc v'
  yoke__mat_vec(p, f->r, f->model.Gc, f->slope, f->push);
  yoke__mat_vec_add(p, p, f->Psi2, f->push, f->q);
  if (f->method == YOKE_ESTIMATE_DERIVATIVE) {
    yoke__mat_vec_add(p, p, f->Psi1, f->push, f->q + p);
  }
  for (size_t i = 0; i < f->r; i++) {
    f->v[i] += f->is_unknown_input[i] ? 0.0 : change[i];
  }
  yoke__heat_model_temperatures(&f->model, f->q, f->v, f->x);
  return YOKE_OK;
}

// d = Psi2 b was missing in z, and Fc d in z'; it has moved for a step since.
yoke_status yoke__estimate_catch_up(yoke_estimate* f, const double change[]) {
  bool has_change = false;
  YOKE_TRY(take_slopes(f, change, &has_change));
  if (!has_change) {
    return YOKE_OK;
  }
  const size_t p = f->p;
  yoke__mat_vec(p, f->r, f->model.Gc, f->slope, f->push);

  // d = Psi2 b one step later: E d
  yoke__mat_vec(p, p, f->Psi2, f->push, f->heat);
  yoke__mat_vec(p, p, f->E, f->heat, f->push);
  for (size_t i = 0; i < p; i++) {
    f->q[i] += f->push[i];
  }

  // z' follows by Fc E d
  if (f->method == YOKE_ESTIMATE_DERIVATIVE) {
    yoke__mat_vec_add(p, p, f->model.Fc, f->push, f->q + p);
  }
  yoke__heat_model_temperatures(&f->model, f->q, f->v, f->x);
  return YOKE_OK;
}

yoke_status yoke__estimate_set_elements(yoke_estimate* f, const double g[], const double c[]) {
  if (f->head->reason != YOKE_ESTIMATE_SOUND) {
    return YOKE_DIVERGED;
  }

  // z' before the change
  rate_of(f, f->heat);
  for (size_t e = 0; e < f->setup.network->n_resistors; e++) {
    f->model.g[e] = g[e];
  }
  memcpy(f->model.c, c, f->p * sizeof *c);
  if (f->method == YOKE_ESTIMATE_UNSCENTED) {
    memcpy(f->sigma.g, g, f->setup.network->n_resistors * sizeof *g);
    memcpy(f->sigma.c, c, f->p * sizeof *c);
    if (yoke__heat_model_update(&f->sigma) < 0) {
      return diverge(f, YOKE_ESTIMATE_NOT_FINITE);
    }
  }
  yoke__theta_apply(f, f->q + f->rho_at, &f->model, f->v);
  if (refresh(f) < 0) {
    return diverge(f, YOKE_ESTIMATE_NOT_FINITE);
  }

  // z' jumps as the heat does
  if (f->method == YOKE_ESTIMATE_DERIVATIVE) {
    rate_of(f, f->push);
    for (size_t i = 0; i < f->p; i++) {
      f->q[f->p + i] += f->push[i] - f->heat[i];
    }
  }
  yoke__heat_model_temperatures(&f->model, f->q, f->v, f->x);
  return YOKE_OK;
}

// ---- results

void yoke__estimate_output(const yoke_estimate* f, size_t output, double* value, double* sd) {
  *value = yoke__filter_row(f, f->setup.outputs[output], f->H);
  const double variance = yoke__kalman_variance(f->n, f->P, f->H, 0.0, f->PH);
  *sd = sqrt(fmax(variance, 0.0));
}

void yoke__estimate_unknown(const yoke_estimate* f, size_t unknown, double* value, double* sd) {
  const yoke_unknown* u = &f->setup.unknowns[unknown];
  const size_t at = f->rho_at + unknown;

  // an unknown that is frozen has variance 0 in P and keeps the deviation it had
  const double theta_sd =
      f->frozen_sd[unknown] >= 0.0 ? f->frozen_sd[unknown] : sqrt(f->P[at * (f->n + 1)]);

  // sd of the value = sd of theta |d value / d theta|
  *value = yoke__theta_value(u, f->q[at]);
  *sd = theta_sd * yoke__theta_scale(u, f->q[at]);
}

double yoke__estimate_excursion(const yoke_estimate* f, size_t unknown) {
  const yoke_unknown* u = &f->setup.unknowns[unknown];
  if (u->kind != YOKE_UNKNOWN_INPUT && u->kind != YOKE_UNKNOWN_OFFSET) {
    return 0.0;
  }
  const double t = (double)f->head->counts.n_steps * f->setup.h;

  // (rho - guess) / sqrt(sd^2 + walk^2 t)
  return (f->q[f->rho_at + unknown] - u->start) / hypot(u->sd, u->walk * sqrt(t));
}

uint64_t yoke__estimate_bound_hits(const yoke_estimate* f, size_t unknown) {
  return f->n_hits[unknown];
}

void yoke__estimate_innovation(const yoke_estimate* f, size_t sensor, double* innovation,
                               double* sd) {
  *innovation = f->innovation[sensor];
  *sd = f->innovation_sd[sensor];
}

yoke_estimate_counts yoke__estimate_counts_of(const yoke_estimate* f) {
  return f->head->counts;
}

yoke_estimate_state yoke__estimate_state_of(const yoke_estimate* f) {
  return f->head->reason == YOKE_ESTIMATE_SOUND ? YOKE_ESTIMATE_RUNNING : YOKE_ESTIMATE_DIVERGED;
}

yoke_estimate_reason yoke__estimate_reason_of(const yoke_estimate* f) {
  return f->head->reason;
}

yoke_estimate_method yoke__estimate_method_of(const yoke_estimate* f) {
  return f->method;
}

size_t yoke__estimate_size(const yoke_estimate* f) {
  return f->n;
}

const double* yoke__estimate_mean(const yoke_estimate* f) {
  return f->q;
}

const double* yoke__estimate_covariance(const yoke_estimate* f) {
  return f->P;
}

// ---- freeze

void yoke__estimate_freeze(yoke_estimate* f, size_t unknown, bool is_frozen) {
  const size_t n = f->n, at = f->rho_at + unknown;
  if (is_frozen == (f->frozen_sd[unknown] >= 0.0)) {
    return;
  }
  if (is_frozen) {
    f->frozen_sd[unknown] = sqrt(fmax(f->P[at * (n + 1)], 0.0));
    // row and column of 0: no reading moves it any more
    for (size_t i = 0; i < n; i++) {
      f->P[at * n + i] = f->P[i * n + at] = 0.0;
    }
  } else {
    f->P[at * (n + 1)] = f->frozen_sd[unknown] * f->frozen_sd[unknown];
    f->frozen_sd[unknown] = -1.0;
  }

  // whether it walks; a model that was sound stays so
  if (f->method == YOKE_ESTIMATE_DERIVATIVE) {
    yoke__derivative_refresh(f);
  } else {
    yoke__linear_refresh(f);
  }
}

// ---- image

size_t yoke__estimate_image_size(const yoke_estimate* f) {
  return f->block_size + f->model.block_size;
}

void yoke__estimate_save(const yoke_estimate* f, void* image) {
  memcpy(image, f->block, f->block_size);
  memcpy((unsigned char*)image + f->block_size, f->model.block, f->model.block_size);
}

void yoke__estimate_restore(yoke_estimate* f, const void* image) {
  memcpy(f->block, image, f->block_size);
  memcpy(f->model.block, (const unsigned char*)image + f->block_size, f->model.block_size);
}
