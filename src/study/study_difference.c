// A linear model of a unit by differences of its steps; see study_difference.h.
#include "study/study_difference.h"

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
#define MOST_ORDER 40
#define RANK_DROP  1e-6  // what differences leave of round-off and curvature
#define GOOD       0.02  // largest difference of a response from the model's, relative

typedef struct trial {
  const yoke_system_unit* unit;
  const yoke_unit* u;
  double t;
  const double* inputs;
  size_t m, p, lags, n;  // inputs, outputs, blocks of H, responses that are needed
  void* image;
  size_t image_size;
  double *moved, *y, *h;  // h: n blocks of p x m
  double* D;              // NULL: not known
} trial;

// ---- responses

static yoke_status call(trial* r, const double u[], size_t k, double y[]) {
  const double h = r->unit->step, t = r->t + (double)k * h;
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

// What follows a pulse of d at input j, times `weight`, is added to the responses.
static yoke_status add_pulse(trial* r, size_t j, double d, double weight) {
  YOKE_TRY(yoke__unit_restore(r->u, r->image, r->image_size));
  memcpy(r->moved, r->inputs, r->m * sizeof *r->moved);
  for (size_t k = 0; k < r->n; k++) {
    r->moved[j] = r->inputs[j] + (k == 0 ? d : 0);
    YOKE_TRY(call(r, r->moved, k, r->y));
    for (size_t i = 0; i < r->p; i++) {
      r->h[(k * r->p + i) * r->m + j] += weight * r->y[i];
    }
  }
  return YOKE_OK;
}

static yoke_status add_through(trial* r, size_t j, double d, double weight) {
  YOKE_TRY(yoke__unit_restore(r->u, r->image, r->image_size));
  memcpy(r->moved, r->inputs, r->m * sizeof *r->moved);
  r->moved[j] += d;
  YOKE_TRY(yoke__unit_set_inputs(r->u, r->moved));
  YOKE_TRY(r->u->ops->refresh(r->u->self, r->t));
  YOKE_TRY(yoke__unit_get_outputs(r->u, r->y));
  for (size_t i = 0; i < r->p; i++) {
    r->D[i * r->m + j] += weight * r->y[i];
  }
  return yoke__are_finite(r->p, r->y) ? YOKE_OK : YOKE_NO_SUPPORT;
}

// An algebraic element has no steps.
static bool is_algebraic(const trial* r) {
  return (r->u->info->flags & YOKE_UNIT_ALGEBRAIC) != 0;
}

static yoke_status respond(trial* r) {
  for (size_t j = 0; j < r->m; j++) {
    const double d = PULSE * fmax(fabs(r->inputs[j]), 1);
    for (int side = 1; side >= -1; side -= 2) {
      if (!is_algebraic(r)) {
        YOKE_TRY(add_pulse(r, j, side * d, side / (2 * d)));
      }
      if (r->u->ops->refresh != NULL) {
        YOKE_TRY(add_through(r, j, side * d, side / (2 * d)));
      }
    }
  }
  return YOKE_OK;
}

static bool has_declared_feedthrough(const trial* r) {
  const yoke_unit_info* info = r->u->info;
  return info->n_feedthrough > 0;
}

// ---- the model

typedef struct realisation {
  size_t rank;
  double *A, *B, *C, *D;
  double error;
} realisation;

static double* block(const trial* r, size_t k) {
  return r->h + k * r->p * r->m;
}

// Scales of outputs and inputs, so that no unit of measurement counts more than another.
static void find_scales(const trial* r, double of_y[], double of_u[]) {
  for (size_t i = 0; i < r->p; i++) {
    of_y[i] = 0;
  }
  for (size_t j = 0; j < r->m; j++) {
    of_u[j] = 0;
  }
  for (size_t k = 0; k < r->n; k++) {
    for (size_t i = 0; i < r->p; i++) {
      for (size_t j = 0; j < r->m; j++) {
        of_y[i] = fmax(of_y[i], fabs(block(r, k)[i * r->m + j]));
      }
    }
  }
  for (size_t i = 0; i < r->p; i++) {
    of_y[i] = of_y[i] > 0 ? of_y[i] : 1;
  }
  for (size_t k = 0; k < r->n; k++) {
    for (size_t i = 0; i < r->p; i++) {
      for (size_t j = 0; j < r->m; j++) {
        of_u[j] = fmax(of_u[j], fabs(block(r, k)[i * r->m + j]) / of_y[i]);
      }
    }
  }
  for (size_t j = 0; j < r->m; j++) {
    of_u[j] = of_u[j] > 0 ? of_u[j] : 1;
  }
}

// C and A from the Hankel matrix of h_first, h_first+1, ... work: see realise.
static yoke_status find_modes(const trial* r, size_t first, const double of_y[],
                              const double of_u[], realisation* out, double* work) {
  const size_t p = r->p, m = r->m, q = r->lags, rows = p * q, columns = m * q;
  const size_t k = rows < columns ? rows : columns;
  double *H = work, *U = H + rows * columns, *s = U + rows * k, *V = s + k, *O = V + columns * k,
         *next = O + rows * MOST_ORDER, *inverse = next + rows * MOST_ORDER,
         *rest = inverse + rows * MOST_ORDER;
  for (size_t a = 0; a < q; a++) {
    for (size_t b = 0; b < q; b++) {
      const double* h = block(r, first + a + b);
      for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < m; j++) {
          H[(a * p + i) * columns + b * m + j] = h[i * m + j] / (of_y[i] * of_u[j]);
        }
      }
    }
  }
  YOKE_TRY(yoke__svd(rows, columns, H, U, s, V, rest));
  const size_t most = rows - p < MOST_ORDER ? rows - p : MOST_ORDER;
  while (out->rank < k && out->rank < most && s[out->rank] > RANK_DROP * s[0]) {
    out->rank++;
  }
  const size_t n = out->rank;
  // observability O = U S^1/2: its first rows are C, and A leads from O to O one block on
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < n; j++) {
      O[i * n + j] = U[i * k + j] * sqrt(s[j]);
    }
  }
  memcpy(next, O + p * n, (rows - p) * n * sizeof *next);
  if (n == 0) {
    return YOKE_OK;
  }
  YOKE_TRY(yoke__pseudo_inverse(rows - p, n, O, 1e-12, inverse, NULL, rest));
  yoke__mat_mul(n, rows - p, n, inverse, next, out->A);
  for (size_t i = 0; i < p; i++) {
    for (size_t j = 0; j < n; j++) {
      out->C[i * n + j] = of_y[i] * O[i * n + j];
    }
  }
  return YOKE_OK;
}

// B from all responses h_k = C A^(k-1) B, from h_first+1 on. work: see realise.
static yoke_status fit_inputs(const trial* r, size_t first, const double of_y[], realisation* out,
                              double* work) {
  const size_t p = r->p, m = r->m, n = out->rank, rows = p * (r->n - first);
  double *O = work, *inverse = O + rows * n, *right = inverse + n * rows, *row = right + rows * m,
         *next = row + p * n, *rest = next + p * n;
  memcpy(row, out->C, p * n * sizeof *row);
  for (size_t k = 0; k < r->n; k++) {
    for (size_t i = 0; i < p && k >= first; i++) {
      const size_t at = (k - first) * p + i;
      for (size_t j = 0; j < n; j++) {
        O[at * n + j] = row[i * n + j] / of_y[i];
      }
      for (size_t j = 0; j < m; j++) {
        const double through = k == 0 ? out->D[i * m + j] : 0;
        right[at * m + j] = (block(r, k)[i * m + j] - through) / of_y[i];
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
static void find_error(const trial* r, const double of_y[], const double of_u[], realisation* out,
                       double* work) {
  const size_t p = r->p, m = r->m, n = out->rank;
  double *x = work, *next = x + n * m, *y = next + n * m;
  memcpy(x, out->B, n * m * sizeof *x);
  for (size_t k = 0; k < r->n; k++) {
    yoke__mat_mul(p, n, m, out->C, x, y);
    for (size_t i = 0; i < p; i++) {
      for (size_t j = 0; j < m; j++) {
        const double through = k == 0 ? out->D[i * m + j] : 0;
        out->error = fmax(out->error, fabs(block(r, k)[i * m + j] - through - y[i * m + j]) /
                                          (of_y[i] * of_u[j]));
      }
    }
    yoke__mat_mul(n, n, m, out->A, x, next);
    memcpy(x, next, n * m * sizeof *x);
  }
}

static yoke_status realise(const trial* r, realisation* out) {
  if (is_algebraic(r) && r->D != NULL) {
    memcpy(out->D, r->D, r->p * r->m * sizeof *out->D);
    return YOKE_OK;
  }
  const size_t p = r->p, m = r->m, rows = p * r->lags, columns = m * r->lags;
  const size_t k = rows < columns ? rows : columns, tall = p * r->n;
  const size_t n_modes = rows * columns + 3 * rows * MOST_ORDER + (rows + columns + 1) * k +
                         yoke__svd_work_size(rows, columns) +
                         yoke__pseudo_inverse_work_size(rows, MOST_ORDER);
  const size_t n_fit = 2 * tall * MOST_ORDER + tall * m + 2 * p * MOST_ORDER +
                       yoke__pseudo_inverse_work_size(tall, MOST_ORDER) + 3 * MOST_ORDER * m +
                       p * m;
  double* work = calloc(n_modes + n_fit + p + m, sizeof *work);
  YOKE_TRY_MEMORY(work);
  double *of_y = work + n_modes + n_fit, *of_u = of_y + p;
  find_scales(r, of_y, of_u);
  if (r->D != NULL) {
    memcpy(out->D, r->D, p * m * sizeof *out->D);
  }
  // what the feedthrough adds to the first response is known, or that response is left out
  const bool is_known = r->D != NULL || !has_declared_feedthrough(r);
  for (size_t i = 0; i < p * m && is_known; i++) {
    block(r, 0)[i] -= out->D[i];
  }
  yoke_status status = find_modes(r, is_known ? 0 : 1, of_y, of_u, out, work);
  for (size_t i = 0; i < p * m && is_known; i++) {
    block(r, 0)[i] += out->D[i];
  }
  status = status < 0 || out->rank == 0 ? status : fit_inputs(r, is_known ? 0 : 1, of_y, out, work);
  if (status >= 0 && !is_known) {
    yoke__mat_mul(p, out->rank, m, out->C, out->B, work);
    for (size_t i = 0; i < p * m; i++) {
      out->D[i] = block(r, 0)[i] - work[i];
    }
  }
  if (status >= 0) {
    find_error(r, of_y, of_u, out, work);
  }
  free(work);
  return status;
}

// From one call to continuous time: exp of [A B; 0 0] h is [A_d B_d; 0 1].
static bool make_continuous(double h, size_t n, size_t m, double A[], double B[]) {
  const size_t k = n + m;
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

static const char* why_refused(const trial* r, yoke_status status, const realisation* found,
                               yoke_arena* arena) {
  if (status == YOKE_OK && found->error <= GOOD) {
    return NULL;
  }
  if (status != YOKE_OK) {
    return "it failed in trial steps with slightly moved inputs";
  }
  char text[160];
  snprintf(text, sizeof text,
           "its answers to small pulses at the inputs (%g of their size) are not those of a linear "
           "model of order %d: off by %.2g",
           PULSE, MOST_ORDER, found->error);
  (void)r;
  return yoke__arena_text(arena, text, strlen(text));
}

static yoke_status fill(const trial* r, yoke_arena* arena, yoke_linear_unit* to) {
  realisation found = {
      .A = yoke__arena_array(arena, (size_t)MOST_ORDER * MOST_ORDER, sizeof(double)),
      .B = yoke__arena_array(arena, MOST_ORDER * r->m, sizeof(double)),
      .C = yoke__arena_array(arena, MOST_ORDER * r->p, sizeof(double)),
      .D = yoke__arena_array(arena, r->p * r->m, sizeof(double))};
  YOKE_TRY_MEMORY(found.A && found.B && found.C && found.D);
  const yoke_status status = realise(r, &found);
  if (yoke__status_is_shortage(status)) {
    return status;
  }
  to->why = why_refused(r, status, &found, arena);
  if (to->why != NULL) {
    return YOKE_OK;
  }
  const bool is_sampled = (r->u->info->flags & YOKE_UNIT_SAMPLED) != 0;
  to->is_of_calls = found.rank > 0 && (is_sampled || !make_continuous(r->unit->step, found.rank,
                                                                      r->m, found.A, found.B));
  to->has_model = true;
  to->is_by_differences = true;
  to->n_states = found.rank;
  to->A = found.A;
  to->B = found.B;
  to->C = found.C;
  to->D = found.D;
  return YOKE_OK;
}

yoke_status yoke__linear_by_differences(const yoke_system_unit* unit, double t, const double u[],
                                        yoke_arena* arena, yoke_linear_unit* to) {
  trial r = {.unit = unit,
             .u = &unit->unit,
             .t = t,
             .inputs = u,
             .m = unit->unit.n_u,
             .p = unit->unit.n_y,
             .image_size = yoke__unit_image_size(&unit->unit)};
  if (r.image_size == 0) {
    to->why = "it says nothing about its slopes, and cannot go back to try small changes";
    return YOKE_OK;
  }
  if (r.m == 0 || r.p == 0 || (unit->unit.info->flags & YOKE_UNIT_PHYSICAL) != 0) {
    to->why = "it says nothing about its slopes";
    return YOKE_OK;
  }
  const size_t wide = r.m > r.p ? r.m : r.p;
  r.lags = HEIGHT / wide > LEAST_LAGS ? HEIGHT / wide : LEAST_LAGS;
  r.n = 2 * r.lags + 1;
  yoke_arena room = {0};
  r.image = yoke__arena_take(&room, r.image_size);
  r.moved = yoke__arena_array(&room, r.m, sizeof(double));
  r.y = yoke__arena_array(&room, r.p, sizeof(double));
  r.h = yoke__arena_array(&room, r.n * r.p * r.m, sizeof(double));
  r.D =
      unit->unit.ops->refresh == NULL ? NULL : yoke__arena_array(&room, r.p * r.m, sizeof(double));
  yoke_status status = yoke__arena_status(&room);
  if (status >= 0 && yoke__unit_save(r.u, r.image, r.image_size) < 0) {
    to->why = "its state could not be saved for trial steps";
  } else if (status >= 0) {
    status = respond(&r);
    const yoke_status back = yoke__unit_restore(r.u, r.image, r.image_size);
    if (yoke__status_is_shortage(status)) {
      // nothing can be said
    } else if (status < 0 || back < 0) {
      to->why = "it failed in trial steps with slightly moved inputs";
      status = YOKE_OK;
    } else {
      status = fill(&r, arena, to);
    }
  }
  yoke__arena_free(&room);
  return status;
}
