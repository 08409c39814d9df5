// Responses of a unit that cannot restore its state: it runs on with perturbed inputs, and an equation is fitted to its outputs,
//
//   y_k = c + N_0 u_k + sum over i = 1 .. q of (M_i y_k-i + N_i u_k-i)         u_k: during the call that ends with y_k
//
// from which follow the answers to a pulse:   h_1 = N_0,   h_k+1 = N_k + sum over i = 1 .. min(k, q) of M_i h_k+1-i.
//
// Of dependent columns those of the shortest lag are kept. The calls behind those of the fit are predicted without another look
// at the outputs; the largest miss, over what the shaking does to that output, is the error of the equation.
//
// Source: J.-N. Juang, M. Phan, L. G. Horta, R. W. Longman, Identification of observer/Kalman filter Markov parameters,
// J. Guidance 16 (1993) 320-329.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_status.h"
#include "linalg/linalg_dense.h"
#include "models_random.h"
#include "study/study_difference_part.h"

#define LEAST_ORDER 20   // q p: states that the lags can show
#define PER_NUMBER  4    // calls of the fit for every number of the equation
#define FORETOLD    100  // calls behind them
#define DROP                                                                                       \
  1e-10  // part of a column that is not of those before it, over the largest: below it is round-off
#define FINE      1e-4   // error of the equation that harder shaking is not tried for
#define BLUR      1e-9   // of an output's movement, and
#define ROUND_OFF 1e-12  // of its value: an answer below both over the shaking is none

struct yoke_shaken {
  size_t q, p, m, K;          // lags; outputs and inputs that count; columns
  size_t *outputs, *inputs;   // p, m: which
  double *of_y, *of_u;        // scales: range, amplitude
  double* theta;              // p rows of K, in these scales
  double *Y, *U;              // calls x p, calls x m: from where it began, in these scales
  double *moved, *y, *first;  // inputs of a call, all outputs, those before the first call
  size_t n_fitted, n_calls;
};

// column of the first number of lag i, from 1 on: outputs, then inputs
static size_t lag_at(const yoke_shaken* s, size_t i) {
  return 1 + s->m + (i - 1) * (s->p + s->m);
}

static yoke_status list_used(const yoke_trial* r, yoke_arena* arena, yoke_shaken* s) {
  s->outputs = yoke__arena_array(arena, r->p, sizeof *s->outputs);
  s->inputs = yoke__arena_array(arena, r->m, sizeof *s->inputs);
  YOKE_TRY_MEMORY(s->outputs && s->inputs);
  for (size_t i = 0; i < r->p; i++) {
    s->outputs[s->p] = i;
    s->p += r->at->is_output_used[i];
  }
  for (size_t j = 0; j < r->m; j++) {
    s->inputs[s->m] = j;
    s->m += r->at->is_input_used[j];
  }
  return YOKE_OK;
}

static yoke_status make_room(const yoke_trial* r, yoke_arena* arena, yoke_shaken* s) {
  s->q = LEAST_ORDER / s->p + 2;
  s->K = lag_at(s, s->q + 1);
  s->n_fitted = s->q + PER_NUMBER * s->K;
  s->n_calls = s->n_fitted + FORETOLD;
  s->of_y = yoke__arena_array(arena, s->p, sizeof(double));
  s->of_u = yoke__arena_array(arena, s->m, sizeof(double));
  s->theta = yoke__arena_array(arena, s->p * s->K, sizeof(double));
  s->Y = yoke__arena_array(arena, s->n_calls * s->p, sizeof(double));
  s->U = yoke__arena_array(arena, s->n_calls * s->m, sizeof(double));
  s->moved = yoke__arena_array(arena, r->m, sizeof(double));
  s->y = yoke__arena_array(arena, r->p, sizeof(double));
  s->first = yoke__arena_array(arena, r->p, sizeof(double));
  return yoke__arena_status(arena);
}

// The calls: every input up or down by its amplitude, by chance but always the same.
static yoke_status run_on(yoke_trial* r, yoke_shaken* s, double share) {
  memcpy(s->moved, r->at->u, r->m * sizeof *s->moved);
  YOKE_TRY(yoke__unit_get_outputs(r->u, s->first));
  for (size_t j = 0; j < s->m; j++) {
    s->of_u[j] = share * fmax(fabs(r->at->u[s->inputs[j]]), 1);
  }
  memset(s->of_y, 0, s->p * sizeof *s->of_y);
  for (size_t k = 0; k < s->n_calls; k++) {
    for (size_t j = 0; j < s->m; j++) {
      const double sign = yoke__random_uniform(0, j, k) < 0.5 ? -1 : 1;
      s->U[k * s->m + j] = sign;
      s->moved[s->inputs[j]] = r->at->u[s->inputs[j]] + sign * s->of_u[j];
    }
    YOKE_TRY(yoke__trial_call(r, s->moved, r->n_run++, s->y));
    for (size_t i = 0; i < s->p; i++) {
      const double y = s->y[s->outputs[i]] - s->first[s->outputs[i]];
      s->Y[k * s->p + i] = y;
      s->of_y[i] = fmax(s->of_y[i], fabs(y));
    }
  }
  for (size_t i = 0; i < s->p; i++) {
    s->of_y[i] = s->of_y[i] > 0 ? s->of_y[i] : 1;
  }
  for (size_t k = 0; k < s->n_calls * s->p; k++) {
    s->Y[k] /= s->of_y[k % s->p];
  }
  return YOKE_OK;
}

// The columns of call k, with outputs from Y.
static void fill_row(const yoke_shaken* s, const double Y[], size_t k, double row[]) {
  row[0] = 1;
  memcpy(row + 1, s->U + k * s->m, s->m * sizeof *row);
  for (size_t i = 1; i <= s->q; i++) {
    memcpy(row + lag_at(s, i), Y + (k - i) * s->p, s->p * sizeof *row);
    memcpy(row + lag_at(s, i) + s->p, s->U + (k - i) * s->m, s->m * sizeof *row);
  }
}

static yoke_status fit(const yoke_shaken* s) {
  const size_t rows = s->n_fitted - s->q;
  double* room = calloc(rows * s->K + rows + 2 * s->K, sizeof *room);
  YOKE_TRY_MEMORY(room);
  double *A = room, *b = A + rows * s->K, *work = b + rows;
  for (size_t i = 0; i < s->p; i++) {
    for (size_t k = 0; k < rows; k++) {
      fill_row(s, s->Y, s->q + k, A + k * s->K);
      b[k] = s->Y[(s->q + k) * s->p + i];
    }
    yoke__least_squares(rows, s->K, A, b, s->theta + i * s->K, DROP, work);
  }
  free(room);
  return YOKE_OK;
}

// One more row of Y by the equation. Without the past: only what the shaking from call `first` on does.
static void go_on(const yoke_shaken* s, size_t k, bool has_past, size_t first, double row[],
                  double Y[]) {
  fill_row(s, Y, k, row);
  row[0] = has_past ? 1 : 0;
  for (size_t i = k - first + 1; i <= s->q && !has_past; i++) {
    memset(row + lag_at(s, i) + s->p, 0, s->m * sizeof *row);
  }
  for (size_t i = 0; i < s->p; i++) {
    double y = 0;
    for (size_t c = 0; c < s->K; c++) {
      y += s->theta[i * s->K + c] * row[c];
    }
    Y[k * s->p + i] = y;
  }
}

// The largest miss of what is predicted, over what the shaking meanwhile does to that output; infinite if it is no number.
static yoke_status foretell(const yoke_shaken* s, double* error) {
  const size_t n = s->n_calls * s->p;
  double* room = calloc(2 * n + s->K, sizeof *room);
  YOKE_TRY_MEMORY(room);
  double *Y = room, *answers = Y + n, *row = answers + n;
  memcpy(Y, s->Y, s->n_fitted * s->p * sizeof *Y);
  for (size_t k = s->n_fitted; k < s->n_calls; k++) {
    go_on(s, k, false, s->n_fitted, row, answers);
    go_on(s, k, true, s->n_fitted, row, Y);
  }
  *error = 0;
  for (size_t i = 0; i < s->p; i++) {
    double answer = 0, miss = 0;
    for (size_t k = s->n_fitted; k < s->n_calls; k++) {
      const double off = fabs(Y[k * s->p + i] - s->Y[k * s->p + i]);
      answer = fmax(answer, fabs(answers[k * s->p + i]));
      miss = isnan(off) ? (double)INFINITY : fmax(miss, off);
    }
    const double blur = BLUR + ROUND_OFF * fabs(s->first[s->outputs[i]]) / s->of_y[i];
    if (answer > blur || miss > blur) {
      *error = fmax(*error, miss / fmax(answer, blur));
    }
  }
  free(room);
  return YOKE_OK;
}

yoke_status yoke__trial_shake(yoke_trial* r, yoke_arena* arena) {
  static const double shares[] = {1e-4, 1e-2};
  for (size_t i = 0; i < YOKE_COUNT(shares); i++) {
    yoke_shaken* s = yoke__arena_take(arena, sizeof *s);
    YOKE_TRY_MEMORY(s);
    *s = (yoke_shaken){0};
    YOKE_TRY(list_used(r, arena, s));
    if (s->p == 0 || s->m == 0) {
      return YOKE_OK;
    }
    YOKE_TRY(make_room(r, arena, s));
    YOKE_TRY(run_on(r, s, shares[i]));
    YOKE_TRY(fit(s));
    double error = 0;
    YOKE_TRY(foretell(s, &error));
    if (r->shaken == NULL || error < r->shaken_error) {
      r->shaken = s;
      r->shaken_error = error;
    }
    if (r->shaken_error <= FINE) {
      break;
    }
  }
  return YOKE_OK;
}

// The largest of the responses of output y to input u.
static double largest_of(const yoke_trial* r, size_t y, size_t u) {
  double largest = 0;
  for (size_t k = 0; k < r->n; k++) {
    largest = fmax(largest, fabs(yoke__trial_response(r, k)[y * r->m + u]));
  }
  return largest;
}

// Of several inputs of an output one may do so little that the equation cannot tell it from its own error.
static void leave_out_doubtful(yoke_trial* r) {
  const yoke_shaken* s = r->shaken;
  for (size_t i = 0; i < s->p; i++) {
    const size_t y = s->outputs[i];
    double most = 0;
    for (size_t j = 0; j < s->m; j++) {
      most = fmax(most, largest_of(r, y, s->inputs[j]) * s->of_u[j]);
    }
    for (size_t j = 0; j < s->m; j++) {
      const size_t u = s->inputs[j];
      const bool is_doubtful = largest_of(r, y, u) * s->of_u[j] <= r->shaken_error * most;
      for (size_t k = 0; k < r->n && is_doubtful; k++) {
        yoke__trial_response(r, k)[y * r->m + u] = 0;
      }
    }
  }
}

void yoke__trial_shaken_responses(yoke_trial* r) {
  const yoke_shaken* s = r->shaken;
  for (size_t k = 0; s != NULL && k < r->n; k++) {
    for (size_t i = 0; i < s->p; i++) {
      const double* theta = s->theta + i * s->K;
      const size_t own = k == 0 ? 1 : lag_at(s, k) + s->p;  // of N_k
      const size_t y = s->outputs[i];
      for (size_t j = 0; j < s->m; j++) {
        const double blur = BLUR * s->of_y[i] + ROUND_OFF * fabs(s->first[y]);
        r->noise[y] = fmax(r->noise[y], blur / s->of_u[j]);
        double h = k <= s->q ? theta[own + j] * s->of_y[i] / s->of_u[j] : 0;
        for (size_t lag = 1; lag <= s->q && lag <= k; lag++) {
          const double* before = yoke__trial_response(r, k - lag);
          for (size_t a = 0; a < s->p; a++) {
            h += theta[lag_at(s, lag) + a] * s->of_y[i] / s->of_y[a] *
                 before[s->outputs[a] * r->m + s->inputs[j]];
          }
        }
        yoke__trial_response(r, k)[y * r->m + s->inputs[j]] = h;
      }
    }
  }
  if (s != NULL) {
    leave_out_doubtful(r);
  }
}
