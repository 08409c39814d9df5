// A linear model of a unit by differences of its steps; see study_difference.h.
#include "study/study_difference_part.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_status.h"
#include "linalg/linalg_dense.h"

#define PULSE      1e-4  // of an input, relative to its size or 1
#define HEIGHT     100   // of the Hankel matrix, about
#define LEAST_LAGS 8     // rows or columns of blocks
#define STRETCH    4     // by which a trial is made longer
#define MOST_SPAN  1600  // calls that the rows or columns may reach over
#define MOST_ORDER YOKE_DIFFERENCE_ORDER
#define NOISE      1e-12  // of a value: what is below this share of it, over the pulse, is no answer
#define RANK_DROP  1e-6   // what differences leave of round-off and curvature
#define DRIFT      1e-4  // of a multiplier beyond 1 that fits to responses that do not grow may have
#define CLOSE      1e-4  // of the responses, relative: good enough for the order
#define GOOD       0.02  // largest difference of a response from the model's, relative
#define ALIASED                                                                                    \
  0.3  // the same inside a pulse of several calls: a sampled controller may miss by so much, a fast motion misses by 1

// ---- responses

static yoke_status call_once(yoke_trial* r, const double u[], double t, double y[]) {
  const double h = r->call;
  yoke_step_result result = {.t_reached = t + h};
  if (r->u->ops->advance != NULL) {
    YOKE_TRY(r->u->ops->advance(r->u->self, t, h, u, y, &result));
  } else {
    YOKE_TRY(yoke__unit_set_inputs(r->u, u));
    if (r->u->ops->step != NULL) {
      YOKE_TRY(r->u->ops->step(r->u->self, t, h, &result));
    }
    YOKE_TRY(yoke__unit_get_outputs(r->u, y));
  }
  const bool is_done =
      (result.flags & (YOKE_STEP_DISCARDED | YOKE_STEP_EARLY_RETURN | YOKE_STEP_END_WANTED)) == 0;
  return is_done && yoke__are_finite(r->p, y) ? YOKE_OK : YOKE_NO_SUPPORT;
}

yoke_status yoke__trial_call(yoke_trial* r, const double u[], size_t k, double y[]) {
  yoke_status status = YOKE_OK;
  for (int64_t i = 0; i < r->n_calls && status >= 0; i++) {
    const double since = (double)((int64_t)k * r->n_calls + i) * r->call;
    status = call_once(r, u, r->at->t + r->at->ran_on + since, y);
  }
  return status;
}

// A pulse's length with the inputs in `moved`; the outputs of its calls, times `weight`, are added to the fine responses.
static yoke_status call_in_parts(yoke_trial* r, size_t k, size_t j, double weight) {
  const double begin = r->at->t + r->at->ran_on;
  for (size_t i = 0; i < (size_t)r->n_calls; i++) {
    const size_t at = k * (size_t)r->n_calls + i;
    YOKE_TRY(call_once(r, r->moved, begin + (double)at * r->call, r->y));
    for (size_t o = 0; o < r->p && at < r->n_fine; o++) {
      r->fine[(at * r->p + o) * r->m + j] += weight * r->y[o];
    }
  }
  return YOKE_OK;
}

// What follows a pulse of d at input j, times `weight`, is added to the responses.
static yoke_status add_pulse(yoke_trial* r, size_t j, double d, double weight) {
  YOKE_TRY(yoke__unit_restore(r->u, r->image, r->image_size));
  memcpy(r->moved, r->at->u, r->m * sizeof *r->moved);
  for (size_t k = 0; k < r->n; k++) {
    r->moved[j] = r->at->u[j] + (k == 0 ? d : 0);
    YOKE_TRY(call_in_parts(r, k, j, weight));
    for (size_t i = 0; i < r->p; i++) {
      r->noise[i] = fmax(r->noise[i], NOISE * fabs(r->y[i] / d));
      r->h[(k * r->p + i) * r->m + j] += weight * r->y[i];
    }
  }
  return YOKE_OK;
}

static yoke_status add_through(yoke_trial* r, size_t j, double d, double weight) {
  if (r->image != NULL) {
    YOKE_TRY(yoke__unit_restore(r->u, r->image, r->image_size));
  }
  memcpy(r->moved, r->at->u, r->m * sizeof *r->moved);
  r->moved[j] += d;
  YOKE_TRY(yoke__unit_set_inputs(r->u, r->moved));
  YOKE_TRY(r->u->ops->refresh(r->u->self, r->at->t + r->at->ran_on));
  YOKE_TRY(yoke__unit_get_outputs(r->u, r->y));
  for (size_t i = 0; i < r->p; i++) {
    r->D[i * r->m + j] += weight * r->y[i];
  }
  return yoke__are_finite(r->p, r->y) ? YOKE_OK : YOKE_NO_SUPPORT;
}

// An algebraic element has no steps.
static bool is_algebraic(const yoke_trial* r) {
  return (r->u->info->flags & YOKE_UNIT_ALGEBRAIC) != 0;
}

// Outputs that do not count, or do not answer.
static void leave_out_rest(const yoke_trial* r) {
  for (size_t i = 0; i < r->p; i++) {
    double largest = 0;
    for (size_t k = 0; k < r->n; k++) {
      for (size_t j = 0; j < r->m; j++) {
        largest = fmax(largest, fabs(r->h[(k * r->p + i) * r->m + j]));
      }
    }
    if (r->at->is_output_used[i] && largest > r->noise[i]) {
      continue;
    }
    for (size_t k = 0; k < r->n; k++) {
      memset(r->h + (k * r->p + i) * r->m, 0, r->m * sizeof *r->h);
    }
    if (r->D != NULL && !r->at->is_output_used[i]) {
      memset(r->D + i * r->m, 0, r->m * sizeof *r->D);
    }
  }
}

static yoke_status respond(yoke_trial* r) {
  for (size_t j = 0; j < r->m; j++) {
    if (!r->at->is_input_used[j]) {
      continue;
    }
    const double d = PULSE * fmax(fabs(r->at->u[j]), 1);
    for (int side = 1; side >= -1; side -= 2) {
      if (!is_algebraic(r) && r->image != NULL) {
        YOKE_TRY(add_pulse(r, j, side * d, side / (2 * d)));
      }
      if (r->D != NULL) {
        YOKE_TRY(add_through(r, j, side * d, side / (2 * d)));
      }
    }
  }
  yoke__trial_shaken_responses(r);
  leave_out_rest(r);
  return YOKE_OK;
}

static bool has_declared_feedthrough(const yoke_trial* r) {
  const yoke_unit_info* info = r->u->info;
  return info->n_feedthrough > 0;
}

// ---- the model

// Scales of outputs and inputs, so that no unit of measurement counts more than another.
static void find_scales(const yoke_trial* r, size_t n, double of_y[], double of_u[]) {
  for (size_t i = 0; i < r->p; i++) {
    of_y[i] = 0;
  }
  for (size_t j = 0; j < r->m; j++) {
    of_u[j] = 0;
  }
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < r->p; i++) {
      for (size_t j = 0; j < r->m; j++) {
        of_y[i] = fmax(of_y[i], fabs(yoke__trial_response(r, k)[i * r->m + j]));
      }
    }
  }
  for (size_t i = 0; i < r->p; i++) {
    of_y[i] = of_y[i] > 0 ? of_y[i] : 1;
  }
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < r->p; i++) {
      for (size_t j = 0; j < r->m; j++) {
        of_u[j] = fmax(of_u[j], fabs(yoke__trial_response(r, k)[i * r->m + j]) / of_y[i]);
      }
    }
  }
  for (size_t j = 0; j < r->m; j++) {
    of_u[j] = of_u[j] > 0 ? of_u[j] : 1;
  }
}

// The Hankel matrix of h_first, h_first+1, ..., its singular vectors, and U^T H' V with H' one call later.
typedef struct hankel {
  size_t rows, columns, k;
  double *H, *U, *s, *V, *P, *rest;
} hankel;

static size_t hankel_size(const yoke_trial* r) {
  const size_t rows = r->p * r->lags, columns = r->m * r->lags, k = rows < columns ? rows : columns;
  const size_t svd = yoke__svd_work_size(rows, columns), shift = rows * k;
  return rows * columns + (rows + columns + 1 + k) * k + (svd > shift ? svd : shift);
}

static void fill_hankel(const yoke_trial* r, size_t first, const double of_y[], const double of_u[],
                        double H[]) {
  const size_t p = r->p, m = r->m, q = r->lags;
  for (size_t a = 0; a < q; a++) {
    for (size_t b = 0; b < q; b++) {
      const double* h = yoke__trial_response(r, first + r->offsets[a] + r->offsets[b]);
      for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < m; j++) {
          H[(a * p + i) * m * q + b * m + j] = h[i * m + j] / (of_y[i] * of_u[j]);
        }
      }
    }
  }
}

static yoke_status decompose(const yoke_trial* r, size_t first, const double of_y[],
                             const double of_u[], double* work, hankel* out) {
  const size_t p = r->p, m = r->m, q = r->lags, rows = p * q, columns = m * q;
  const size_t k = rows < columns ? rows : columns;
  *out = (hankel){.rows = rows, .columns = columns, .k = k};
  out->H = work;
  out->U = out->H + rows * columns;
  out->s = out->U + rows * k;
  out->V = out->s + k;
  out->P = out->V + columns * k;
  out->rest = out->P + k * k;
  fill_hankel(r, first, of_y, of_u, out->H);
  YOKE_TRY(yoke__svd(rows, columns, out->H, out->U, out->s, out->V, out->rest));
  fill_hankel(r, first + 1, of_y, of_u, out->H);
  double* HV = out->rest;
  yoke__mat_mul(rows, columns, k, out->H, out->V, HV);
  for (size_t i = 0; i < k; i++) {
    for (size_t j = 0; j < k; j++) {
      double sum = 0;
      for (size_t row = 0; row < rows; row++) {
        sum += out->U[row * k + i] * HV[row * k + j];
      }
      out->P[i * k + j] = sum;
    }
  }
  return YOKE_OK;
}

// C and A of order out->rank: observability is U S^1/2, and its first rows are C.
static void find_modes(const yoke_trial* r, const hankel* h, const double of_y[],
                       yoke_realisation* out) {
  const size_t n = out->rank;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      out->A[i * n + j] = h->P[i * h->k + j] / sqrt(h->s[i] * h->s[j]);
    }
  }
  for (size_t i = 0; i < r->p; i++) {
    for (size_t j = 0; j < n; j++) {
      out->C[i * n + j] = of_y[i] * h->U[i * h->k + j] * sqrt(h->s[j]);
    }
  }
}

// Of a long trial not every response is fitted.
static bool is_fitted(const yoke_trial* r, size_t k) {
  const size_t dense = 2 * r->lags + 1;
  return k < dense || k % (r->n / dense + 1) == 0;
}

static size_t count_fitted(const yoke_trial* r, size_t first) {
  size_t n = 0;
  for (size_t k = first; k < r->n; k++) {
    n += is_fitted(r, k);
  }
  return n;
}

// B from responses h_k = C A^(k-1) B, from h_first+1 on. work: see realise.
static yoke_status fit_inputs(const yoke_trial* r, size_t first, const double of_y[],
                              yoke_realisation* out, double* work) {
  const size_t p = r->p, m = r->m, n = out->rank, rows = p * count_fitted(r, first);
  double *O = work, *inverse = O + rows * n, *right = inverse + n * rows, *row = right + rows * m,
         *next = row + p * n, *rest = next + p * n;
  size_t at = 0;
  memcpy(row, out->C, p * n * sizeof *row);
  for (size_t k = 0; k < r->n; k++) {
    for (size_t i = 0; i < p && k >= first && is_fitted(r, k); i++, at++) {
      for (size_t j = 0; j < n; j++) {
        O[at * n + j] = row[i * n + j] / of_y[i];
      }
      for (size_t j = 0; j < m; j++) {
        const double through = k == 0 ? out->D[i * m + j] : 0;
        right[at * m + j] = (yoke__trial_response(r, k)[i * m + j] - through) / of_y[i];
      }
    }
    yoke__mat_mul(p, n, n, row, out->A, next);
    memcpy(row, next, p * n * sizeof *row);
  }
  YOKE_TRY(yoke__pseudo_inverse(rows, n, O, 1e-12, inverse, NULL, rest));
  yoke__mat_mul(n, rows, m, inverse, right, out->B);
  return YOKE_OK;
}

// The largest difference of a response from the model's, over the largest of that output and input.
static void find_error(const yoke_trial* r, size_t n_responses, const double of_y[],
                       const double of_u[], yoke_realisation* out, double* work) {
  const size_t p = r->p, m = r->m, n = out->rank;
  double *x = work, *next = x + n * m, *y = next + n * m;
  memcpy(x, out->B, n * m * sizeof *x);
  for (size_t k = 0; k < n_responses; k++) {
    yoke__mat_mul(p, n, m, out->C, x, y);
    for (size_t i = 0; i < p; i++) {
      for (size_t j = 0; j < m; j++) {
        const double through = k == 0 ? out->D[i * m + j] : 0;
        out->error =
            fmax(out->error, fabs(yoke__trial_response(r, k)[i * m + j] - through - y[i * m + j]) /
                                 (of_y[i] * of_u[j]));
      }
    }
    yoke__mat_mul(n, n, m, out->A, x, next);
    memcpy(x, next, n * m * sizeof *x);
  }
}

yoke_status yoke__trial_error(const yoke_trial* r, size_t n, yoke_realisation* model) {
  const size_t n_model = ((size_t)2 * MOST_ORDER + r->p + 1) * (r->m + 1);
  double* work = calloc(n_model + r->p + r->m, sizeof *work);
  YOKE_TRY_MEMORY(work);
  double *of_y = work + n_model, *of_u = of_y + r->p;
  find_scales(r, n, of_y, of_u);
  model->error = 0;
  find_error(r, n, of_y, of_u, model, work);
  free(work);
  return YOKE_OK;
}

// The model of order out->rank and its error.
static yoke_status try_order(const yoke_trial* r, const hankel* h, size_t first,
                             const double of_y[], const double of_u[], yoke_realisation* out,
                             double* work) {
  const size_t p = r->p, m = r->m;
  out->error = 0;
  if (out->rank > 0) {
    find_modes(r, h, of_y, out);
    YOKE_TRY(fit_inputs(r, first, of_y, out, work));
  }
  if (first > 0) {
    // what the first response is beyond C B
    yoke__mat_mul(p, out->rank, m, out->C, out->B, work);
    for (size_t i = 0; i < p * m; i++) {
      out->D[i] = yoke__trial_response(r, 0)[i] - work[i];
    }
  }
  find_error(r, r->n, of_y, of_u, out, work);
  return YOKE_OK;
}

// Some response is largest at its end.
static bool do_grow(const yoke_trial* r, const double of_y[], const double of_u[]) {
  double early = 0, late = 0;
  for (size_t k = 0; k < r->n; k++) {
    for (size_t i = 0; i < r->p * r->m; i++) {
      const double size = fabs(yoke__trial_response(r, k)[i]) / (of_y[i / r->m] * of_u[i % r->m]);
      *(4 * k < 3 * r->n ? &early : &late) = fmax(4 * k < 3 * r->n ? early : late, size);
    }
  }
  return late > early * (1 + CLOSE);
}

// The lowest order that answers as the unit does; else the one that comes nearest.
static yoke_status choose_order(const yoke_trial* r, const hankel* h, size_t first,
                                const double of_y[], const double of_u[], yoke_realisation* out,
                                double* work) {
  const size_t most = h->rows - r->p < MOST_ORDER ? h->rows - r->p : MOST_ORDER;
  const bool is_growing = do_grow(r, of_y, of_u);
  size_t best = 0;
  double least = (double)INFINITY;
  for (out->rank = 0;; out->rank++) {
    double radius = 0;
    YOKE_TRY(try_order(r, h, first, of_y, of_u, out, work));
    YOKE_TRY(yoke__spectral_radius(out->rank, out->A, &radius));
    const bool is_likely = radius <= 1 + DRIFT || is_growing;
    if (out->error <= CLOSE && is_likely) {
      return YOKE_OK;
    }
    if (out->error < least && is_likely) {
      least = out->error;
      best = out->rank;
    }
    if (out->rank >= most || out->rank >= h->k || h->s[out->rank] <= RANK_DROP * h->s[0]) {
      break;
    }
  }
  out->rank = best;
  return try_order(r, h, first, of_y, of_u, out, work);
}

static yoke_status realise(const yoke_trial* r, yoke_realisation* out) {
  if (is_algebraic(r) && r->D != NULL) {
    memcpy(out->D, r->D, r->p * r->m * sizeof *out->D);
    return YOKE_OK;
  }
  const size_t p = r->p, m = r->m, tall = p * count_fitted(r, 0), n_modes = hankel_size(r);
  const size_t n_fit = 2 * tall * MOST_ORDER + tall * m + 2 * p * MOST_ORDER +
                       yoke__pseudo_inverse_work_size(tall, MOST_ORDER) + 3 * m * MOST_ORDER +
                       p * m;
  double* work = calloc(n_modes + n_fit + p + m, sizeof *work);
  YOKE_TRY_MEMORY(work);
  double *of_y = work + n_modes + n_fit, *of_u = of_y + p;
  find_scales(r, r->n, of_y, of_u);
  if (r->D != NULL) {
    memcpy(out->D, r->D, p * m * sizeof *out->D);
  }
  // what the feedthrough adds to the first response is known, or that response is left out
  const bool is_known = r->D != NULL || !has_declared_feedthrough(r);
  for (size_t i = 0; i < p * m && is_known; i++) {
    yoke__trial_response(r, 0)[i] -= out->D[i];
  }
  hankel h;
  yoke_status status = decompose(r, is_known ? 0 : 1, of_y, of_u, work, &h);
  for (size_t i = 0; i < p * m && is_known; i++) {
    yoke__trial_response(r, 0)[i] += out->D[i];
  }
  status =
      status < 0 ? status : choose_order(r, &h, is_known ? 0 : 1, of_y, of_u, out, work + n_modes);
  free(work);
  return status;
}

// exp of [A B; 0 0] h is [A_d B_d; 0 1].
bool yoke__difference_continuous(double h, yoke_linear_unit* unit) {
  const size_t n = unit->n_states, m = unit->n_inputs, k = n + m;
  double *A = unit->A, *B = unit->B;
  double* M = calloc(2 * k * k + 1, sizeof *M);
  bool is_good = M != NULL;
  if (is_good) {
    double* L = M + k * k;
    for (size_t i = 0; i < n; i++) {
      memcpy(M + i * k, A + i * n, n * sizeof *M);
      memcpy(M + i * k + n, B + i * m, m * sizeof *M);
    }
    for (size_t i = n; i < k; i++) {
      M[i * k + i] = 1;
    }
    is_good = yoke__logm(k, M, L) >= 0 && yoke__are_finite(k * k, L);
    for (size_t i = 0; i < n && is_good; i++) {
      for (size_t j = 0; j < n; j++) {
        A[i * n + j] = L[i * k + j] / h;
      }
      for (size_t j = 0; j < m; j++) {
        B[i * m + j] = L[i * k + n + j] / h;
      }
    }
  }
  free(M);
  return is_good;
}

static const char* why_refused(yoke_status status, const yoke_trial* r,
                               const yoke_realisation* found, yoke_arena* arena) {
  if (status != YOKE_OK) {
    return "it failed in trial steps with slightly changed inputs";
  }
  char text[200];
  if (r->shaken_error > GOOD) {
    snprintf(text, sizeof text,
             "it cannot restore its state, and its outputs under perturbed inputs do not fit a "
             "linear model: the error is %.2g times the effect of the perturbation",
             r->shaken_error);
    return yoke__arena_text(arena, text, strlen(text));
  }
  snprintf(text, sizeof text,
           "its response to small pulses at the inputs (%g of their size) does not fit a linear "
           "model of order %d: relative error %.2g",
           PULSE, MOST_ORDER, found->error);
  return yoke__arena_text(arena, text, strlen(text));
}

// ---- one unit

// The first half of the offsets is dense, the others grow apart up to the span.
static void choose_offsets(yoke_trial* r, size_t span) {
  const size_t dense = r->lags / 2;
  for (size_t a = 0; a < r->lags; a++) {
    r->offsets[a] = a;
    if (a >= dense && span > r->lags) {
      const double part = (double)(a - dense + 1) / (double)(r->lags - dense);
      const size_t at = (size_t)((double)dense * pow((double)(span - 1) / (double)dense, part));
      r->offsets[a] = at > r->offsets[a - 1] ? at : r->offsets[a - 1] + 1;
    }
  }
}

// The responses anew, over twice the span.
static yoke_status respond_over(yoke_trial* r, size_t span, yoke_arena* room) {
  choose_offsets(r, span);
  r->n = 2 * (r->offsets[r->lags - 1] + 1) + 1;
  r->h = yoke__arena_array(room, r->n * r->p * r->m, sizeof(double));
  YOKE_TRY_MEMORY(r->h);
  memset(r->noise, 0, r->p * sizeof *r->noise);
  if (r->fine != NULL) {
    memset(r->fine, 0, r->n_fine * r->p * r->m * sizeof *r->fine);
  }
  if (r->D != NULL) {
    memset(r->D, 0, r->p * r->m * sizeof *r->D);
  }
  return respond(r);
}

static bool is_too_short(const yoke_trial* r, yoke_arena* room) {
  double* of_y = yoke__arena_array(room, r->p + r->m, sizeof *of_y);
  if (of_y == NULL || is_algebraic(r)) {
    return false;
  }
  find_scales(r, r->n, of_y, of_y + r->p);
  return do_grow(r, of_y, of_y + r->p);
}

// Slow motions need a long trial. A unit that does not answer like a linear model for so long gets a shorter one.
static yoke_status realise_long(yoke_trial* r, yoke_arena* room, yoke_realisation* out) {
  size_t span = r->lags;
  yoke_status status = YOKE_OK;
  while (status >= 0 && is_too_short(r, room) && span * STRETCH <= MOST_SPAN) {
    span *= STRETCH;
    status = respond_over(r, span, room);
  }
  for (;; span /= STRETCH) {
    status = status < 0 ? status : realise(r, out);
    if (yoke__status_is_shortage(status) || span == r->lags ||
        (status >= 0 && out->error <= GOOD)) {
      return status;
    }
    status = respond_over(r, span / STRETCH, room);
  }
}

static yoke_status fill(yoke_trial* r, yoke_arena* room, yoke_arena* arena, yoke_linear_unit* to) {
  yoke_realisation found = {
      .A = yoke__arena_array(arena, (size_t)MOST_ORDER * MOST_ORDER, sizeof(double)),
      .B = yoke__arena_array(arena, MOST_ORDER * r->m, sizeof(double)),
      .C = yoke__arena_array(arena, MOST_ORDER * r->p, sizeof(double)),
      .D = yoke__arena_array(arena, r->p * r->m, sizeof(double))};
  YOKE_TRY_MEMORY(found.A && found.B && found.C && found.D);
  bool is_found = false;
  const bool is_shaken = r->image == NULL;
  yoke_status status = is_shaken ? YOKE_OK : yoke__trial_states(r, &found, &is_found);
  if (status >= 0 && !is_found && !is_shaken && r->at->n_calls > 1) {
    r->n_calls = r->at->n_calls;
    r->fine = r->at->fine;
    r->n_fine = r->at->n_fine;
    status = respond_over(r, r->lags, room);
  }
  status = status < 0 || is_found ? status : realise_long(r, room, &found);
  if (yoke__status_is_shortage(status)) {
    return status;
  }
  found.error = fmax(found.error, r->shaken_error);
  if (!is_found && (status < 0 || found.error > GOOD)) {
    to->why = why_refused(status, r, &found, arena);
    return to->why == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  }
  to->has_model = true;
  to->is_of_pulses = !is_found;
  to->n_shaken = r->n_run * (size_t)r->n_calls;
  to->error = is_found ? 0 : found.error;
  to->n_states = found.rank;
  to->A = found.A;
  to->B = found.B;
  to->C = found.C;
  to->D = found.D;
  return YOKE_OK;
}

static yoke_status look_at(yoke_difference* self, double h, yoke_arena* arena,
                           yoke_linear_unit* to) {
  const yoke_system_unit* unit = self->unit;
  yoke_trial r = {.at = self,
                  .u = &unit->unit,
                  .call = h,
                  .n_calls = 1,
                  .m = unit->unit.n_u,
                  .p = unit->unit.n_y,
                  .image_size = yoke__unit_image_size(&unit->unit)};
  if (r.m == 0 || r.p == 0 || (unit->unit.info->flags & YOKE_UNIT_PHYSICAL) != 0) {
    to->why = "it provides no derivatives";
    return YOKE_OK;
  }
  if (self->n_calls > 1) {
    self->n_fine = 2 * (size_t)self->n_calls;
    self->fine = yoke__arena_array(self->arena, self->n_fine * r.p * r.m + 1, sizeof(double));
    YOKE_TRY_MEMORY(self->fine);
  }
  const size_t wide = r.m > r.p ? r.m : r.p;
  r.lags = HEIGHT / wide > LEAST_LAGS ? HEIGHT / wide : LEAST_LAGS;
  yoke_arena room = {0};
  r.image = r.image_size == 0 ? NULL : yoke__arena_take(&room, r.image_size);
  r.moved = yoke__arena_array(&room, r.m, sizeof(double));
  r.y = yoke__arena_array(&room, r.p, sizeof(double));
  r.noise = yoke__arena_array(&room, r.p, sizeof(double));
  r.offsets = yoke__arena_array(&room, r.lags, sizeof(size_t));
  r.D =
      unit->unit.ops->refresh == NULL ? NULL : yoke__arena_array(&room, r.p * r.m, sizeof(double));
  yoke_status status = yoke__arena_status(&room);
  const bool can_return = r.image_size > 0;
  if (status >= 0 && can_return && yoke__unit_save(r.u, r.image, r.image_size) < 0) {
    to->why = "its state could not be saved for trial steps";
  } else if (status >= 0) {
    if (!can_return) {
      status = is_algebraic(&r) ? YOKE_OK : yoke__trial_shake(&r, &room);
    }
    status = status < 0 ? status : respond_over(&r, r.lags, &room);
    if (status < 0 && !yoke__status_is_shortage(status)) {
      to->why = "it failed in trial steps with slightly changed inputs";
      status = YOKE_OK;
    } else if (status >= 0) {
      status = fill(&r, &room, arena, to);
    }
    self->ran_on += (double)r.n_run * (double)r.n_calls * h;
    if (can_return && yoke__unit_restore(r.u, r.image, r.image_size) < 0) {
      to->has_model = false;
      to->why = "its state could not be restored after trial steps";
    }
  }
  yoke__arena_free(&room);
  return status;
}

// ---- what was found

struct yoke_difference_known {
  double h;
  yoke_linear_unit model;
  yoke_difference_known* next;
};

static double* copy(size_t n, const double from[], yoke_arena* arena) {
  double* to = yoke__arena_array(arena, n + 1, sizeof *to);
  if (to != NULL && from != NULL) {
    memcpy(to, from, n * sizeof *to);
  }
  return to;
}

// exp of [A B; 0 0] h is [A_d B_d; 0 1].
static yoke_status sample(const yoke_linear_unit* from, double h, yoke_arena* arena,
                          yoke_linear_unit* to) {
  const size_t n = from->n_states, m = from->n_inputs, k = n + m;
  double* M = yoke__arena_array(arena, k * k, sizeof *M);
  *to = *from;
  to->A = yoke__arena_array(arena, n * n, sizeof *M);
  to->B = yoke__arena_array(arena, n * m + 1, sizeof *M);
  YOKE_TRY_MEMORY(M && to->A && to->B);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < k; j++) {
      M[i * k + j] = h * (j < n ? from->A[i * n + j] : from->B[i * m + j - n]);
    }
  }
  YOKE_TRY(yoke__expm(k, M, M));
  for (size_t i = 0; i < n; i++) {
    memcpy(to->A + i * n, M + i * k, n * sizeof *M);
    memcpy(to->B + i * m, M + i * k + n, m * sizeof *M);
  }
  return YOKE_OK;
}

// The outputs of the calls in a pulse and behind it against those of the model; x, next: n_states.
static bool repeats_input(const yoke_difference* self, const yoke_linear_unit* called, size_t j,
                          double x[], double next[]) {
  const size_t n = called->n_states, m = called->n_inputs, p = called->n_outputs;
  bool is_good = true;
  for (size_t i = 0; i < p; i++) {
    double size = 0, miss = 0;
    memset(x, 0, n * sizeof *x);
    for (size_t k = 0; k < self->n_fine; k++) {
      const double u = k < (size_t)self->n_calls ? 1 : 0, y = self->fine[(k * p + i) * m + j];
      double own = called->D[i * m + j] * u;
      yoke__mat_mul(n, n, 1, called->A, x, next);
      for (size_t c = 0; c < n; c++) {
        x[c] = next[c] + called->B[c * m + j] * u;
        own += called->C[i * n + c] * x[c];
      }
      size = fmax(size, fabs(y));
      miss = fmax(miss, fabs(y - own));
    }
    is_good = is_good && (!self->is_output_used[i] || miss <= ALIASED * size);
  }
  return is_good;
}

yoke_status yoke__difference_repeats(const yoke_difference* self, const yoke_linear_unit* unit,
                                     bool* out) {
  *out = true;
  if (self->n_calls == 1) {
    return YOKE_OK;
  }
  yoke_arena room = {0};
  yoke_linear_unit called;
  yoke_status status = sample(unit, self->unit->step, &room, &called);
  double* x = yoke__arena_array(&room, 2 * (unit->n_states + 1), sizeof *x);
  status = status >= 0 && x == NULL ? YOKE_NO_MEMORY : status;
  for (size_t j = 0; j < unit->n_inputs && status >= 0; j++) {
    *out = *out &&
           (!self->is_input_used[j] || repeats_input(self, &called, j, x, x + unit->n_states + 1));
  }
  yoke__arena_free(&room);
  return status;
}

yoke_status yoke__difference(yoke_difference* self, double h, yoke_arena* arena,
                             yoke_linear_unit* to) {
  // a unit that has run on stands elsewhere: it is not tried again
  const bool is_sampled =
      self->continuous != NULL && (h < self->call * (1 - 1e-9) || self->ran_on > 0);
  yoke_difference_known* known = self->known;
  while (known != NULL && known->h != h) {
    known = known->next;
  }
  if (known == NULL) {
    known = yoke__arena_take(self->arena, sizeof *known);
    YOKE_TRY_MEMORY(known);
    *known = (yoke_difference_known){.h = h, .next = self->known};
    YOKE_TRY(is_sampled ? sample(self->continuous, h, self->arena, &known->model)
                        : look_at(self, h, self->arena, &known->model));
    self->known = known;
  }
  const yoke_linear_unit* model = &known->model;
  const size_t n = model->n_states, m = self->unit->unit.n_u, p = self->unit->unit.n_y;
  to->has_model = model->has_model;
  to->why = model->why;
  to->is_of_pulses = model->is_of_pulses;
  to->error = model->error;
  to->n_shaken = model->n_shaken;
  to->n_states = n;
  if (model->has_model) {
    // the caller may make them continuous
    to->A = copy(n * n, model->A, arena);
    to->B = copy(n * m, model->B, arena);
    to->C = copy(p * n, model->C, arena);
    to->D = copy(p * m, model->D, arena);
    YOKE_TRY_MEMORY(to->A && to->B && to->C && to->D);
  }
  return YOKE_OK;
}
