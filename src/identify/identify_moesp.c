// MOESP over a window, on LAPACK.
//
// With r block rows U (m r x c) and Y (n r x c) of the data,
//
//   1  [U; Y] = [[L11, 0], [L21, L22]] Q^T                       (QR of the transpose, Q not formed)
//   2  L22 = [Us Un] diag(s) V^T, the order is the number of columns of Us
//   3  G = Us s^(1/2): block row i is C A^i
//   4  C = first block row of G;  G(without last) A = G(without first), least squares
//   5  Un^T L21 L11^-1 = [K_1 .. K_r],  Un^T = [N_1 .. N_r]:
//      K_j = N_j D + (N_{j+1} C + .. + N_r C A^{r-j-1}) B for all j, least squares for D and B
//
// Signals are scaled by their standard deviation before, the model is scaled back. With the pairing
// `shifted` D is forced to 0.
// Source: M. Verhaegen, P. Dewilde, Subspace model identification part 1, Int. J. Control 56 (1992)
// 1187-1210; doctoral thesis on model-based pre-step stabilisation (Graz 2020), section 2.4, with
// its misprints mended.
//
// L^T is an upper triangle R of r (n + m) columns; it is made here from a window, or has been kept from
// sample to sample (identify_moesp_factor.c).
//
// Assumes white noise on the outputs at most, inputs that excite r m directions, and no feedback of
// the noise into the inputs; coupled units break the last one, which is one reason why it is
// fragile there.
#include "identify/identify_moesp.h"

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"
#include "linalg/linalg_lapack.h"

#define INPUT_DROP 1e-12  // of singular values of L11: directions that the inputs never took

// Sizes: N = n r, M = m r, K = N + M. Matrices column by column.
struct yoke_moesp {
  yoke_moesp_setup setup;
  size_t n_outputs_r, n_inputs_r, n_columns;  // N, M, K
  size_t max_rows;                            // rows of data
  double* data;                               // max_rows x K
  double* tau;                                // K
  double* R;                                  // K x K
  double *L22, *U, *values;                   // N x N, N x N, N
  double *gamma, *upper, *lower;              // N x order each
  double *R11, *X;                            // M x M, M x N
  double *rows, *right;                       // (r N) x (n + order), the same x m
  double* singular;                           // work of dgelsd
  double *A, *B, *C, *D;                      // the model, row by row
  double* scale;                              // n + m
  double *work, *memory;
  int n_work;
  int* integers;  // integers of dgelsd
};

// ---- set-up

static yoke_status refuse(const char* what, const yoke_sink* sink) {
  return yoke_fail(sink, YOKE_BAD_ARG, "subspace identification needs %s", what);
}

static yoke_status check_setup(const yoke_moesp_setup* s, const yoke_sink* sink) {
  const size_t width = s->n + s->m;
  if (s->n == 0 || s->m == 0 || s->n > YOKE_MOESP_MAX_COLUMNS || s->m > YOKE_MOESP_MAX_COLUMNS) {
    return refuse("at least one output and one input", sink);
  }
  if (s->n_rows < 2 || s->n_rows > YOKE_MOESP_MAX_COLUMNS ||
      s->n_rows * width > YOKE_MOESP_MAX_COLUMNS) {
    return refuse("at least 2 block rows, and block rows times signals up to 2000", sink);
  }
  if (s->order == 0 || s->order > s->n * (s->n_rows - 1)) {
    return refuse("an order from 1 to outputs times (block rows - 1)", sink);
  }
  if (s->window < (s->n_rows + 1) * width + s->n_rows ||
      s->window > (size_t)INT_MAX / YOKE_MOESP_MAX_COLUMNS) {
    char text[128];
    snprintf(text, sizeof text, "a window of %zu samples or more (and up to %d) for this set-up",
             (s->n_rows + 1) * width + s->n_rows, INT_MAX / YOKE_MOESP_MAX_COLUMNS);
    return refuse(text, sink);
  }
  if (!(s->tolerance > 0.0 && s->tolerance < 1.0)) {
    return refuse("a tolerance between 0 and 1", sink);
  }
  return YOKE_OK;
}

static void least_squares_of(yoke_moesp* s, int rows, int columns, int n_right, double* A,
                             double* B, int ld, int* info) {
  // directions of the data that never occurred are left at 0 instead of blowing up
  const double drop = INPUT_DROP;
  int rank = 0;
  dgelsd_(&rows, &columns, &n_right, A, &rows, B, &ld, s->singular, &drop, &rank, s->work,
          &s->n_work, s->integers, info);
}

// What LAPACK wants for one shape: doubles and integers.
static void ask_least_squares(int rows, int columns, int n_right, int* n_work, int* n_integers) {
  const int ask = -1, ld = rows > columns ? rows : columns;
  const double drop = INPUT_DROP;
  double wanted[2] = {0.0}, nothing = 0.0;
  int integers[2] = {0}, rank = 0, info = 0;
  dgelsd_(&rows, &columns, &n_right, &nothing, &rows, &nothing, &ld, &nothing, &drop, &rank, wanted,
          &ask, integers, &info);
  *n_work = (int)fmax((double)*n_work, wanted[0]);
  *n_integers = integers[0] > *n_integers ? integers[0] : *n_integers;
}

static void ask_lapack(const yoke_moesp* s, int* n_work, int* n_integers) {
  const int ask = -1, one = 1;
  const int rows = (int)s->max_rows, K = (int)s->n_columns, N = (int)s->n_outputs_r;
  const int M = (int)s->n_inputs_r, n = (int)s->setup.n, m = (int)s->setup.m;
  const int order = (int)s->setup.order, r = (int)s->setup.n_rows;
  double wanted = 0.0, nothing = 0.0;
  int info = 0;
  dgeqrf_(&rows, &K, &nothing, &rows, &nothing, &wanted, &ask, &info);
  *n_work = (int)wanted;
  dgesvd_("A", "N", &N, &N, &nothing, &N, &nothing, &nothing, &N, &nothing, &one, &wanted, &ask,
          &info, 1, 1);
  *n_work = (int)fmax((double)*n_work, wanted);
  ask_least_squares(N - n, order, order, n_work, n_integers);
  ask_least_squares(M, M, N, n_work, n_integers);
  ask_least_squares(r * N, n + order, m, n_work, n_integers);
  // a smaller order may ask for other block sizes, never for twice as much
  *n_work *= 2;
  *n_integers *= 2;
}

static double* take(double** at, size_t n) {
  double* piece = *at;
  *at += n;
  return piece;
}

// Lays the arrays out from `at`; called once with NULL to count them.
static size_t lay_out(yoke_moesp* s, double* memory) {
  const size_t n = s->setup.n, m = s->setup.m, r = s->setup.n_rows, order = s->setup.order;
  const size_t N = s->n_outputs_r, M = s->n_inputs_r, K = s->n_columns;
  struct {
    double** to;
    size_t count;
  } pieces[] = {
      {&s->data, s->max_rows * K},
      {&s->tau, K},
      {&s->R, K * K},
      {&s->L22, N * N},
      {&s->U, N * N},
      {&s->values, N},
      {&s->gamma, N * order},
      {&s->upper, N * order},
      {&s->lower, N * order},
      {&s->R11, M * M},
      {&s->X, M * N},
      {&s->rows, r * N * (n + order)},
      {&s->right, r * N * m},
      {&s->singular, K},
      {&s->A, order * order},
      {&s->B, order * m},
      {&s->C, n * order},
      {&s->D, n * m},
      {&s->scale, n + m},
      {&s->work, (size_t)s->n_work},
  };
  size_t total = 0;
  for (size_t i = 0; i < YOKE_COUNT(pieces); i++) {
    if (memory != NULL) {
      *pieces[i].to = take(&memory, pieces[i].count);
    }
    total += pieces[i].count;
  }
  return total;
}

static yoke_status open_memory(yoke_moesp* s) {
  int n_integers = 1;
  s->n_work = 1;
  ask_lapack(s, &s->n_work, &n_integers);
  s->memory = calloc(lay_out(s, NULL), sizeof *s->memory);
  s->integers = calloc((size_t)n_integers, sizeof *s->integers);
  YOKE_TRY_MEMORY(s->memory && s->integers);
  const size_t n_laid = lay_out(s, s->memory);
  assert(s->work + s->n_work == s->memory + n_laid);
  (void)n_laid;
  return YOKE_OK;
}

size_t yoke__moesp_rows(const yoke_moesp_setup* setup) {
  const size_t otherwise = setup->order + 2 > 4 ? setup->order + 2 : 4;
  return setup->n_rows > 0 ? setup->n_rows : otherwise;
}

yoke_status yoke__moesp_create(const yoke_moesp_setup* setup, yoke_moesp** out,
                               const yoke_sink* sink) {
  *out = NULL;
  yoke_moesp_setup given = *setup;
  given.n_rows = yoke__moesp_rows(setup);
  if (given.tolerance == 0.0) {
    given.tolerance = YOKE_MOESP_TOLERANCE;
  }
  YOKE_TRY(check_setup(&given, sink));
  yoke_moesp* s = calloc(1, sizeof *s);
  if (s != NULL) {
    s->setup = given;
    s->n_outputs_r = given.n * given.n_rows;
    s->n_inputs_r = given.m * given.n_rows;
    s->n_columns = s->n_outputs_r + s->n_inputs_r;
    // recursive: the triangle comes from outside, no data are kept
    s->max_rows = given.is_recursive ? 1 : given.window - given.n_rows + 1;
    yoke__lapack_use_one_thread();
  }
  if (s == NULL || open_memory(s) < 0) {
    yoke__moesp_destroy(&s);
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  *out = s;
  return YOKE_OK;
}

void yoke__moesp_destroy(yoke_moesp** moesp) {
  if (*moesp != NULL) {
    free((*moesp)->memory);
    free((*moesp)->integers);
    free(*moesp);
    *moesp = NULL;
  }
}

// ---- data

// Signal i of pair k: outputs first. The input is that of the pairing.
static double value_of(const yoke_moesp* s, const double samples[], size_t signal, size_t k) {
  const size_t width = s->setup.n + s->setup.m;
  const bool is_later = signal >= s->setup.n && s->setup.pairing == YOKE_MOESP_SHIFTED;
  return samples[(k + (is_later ? 1 : 0)) * width + signal];
}

// Its standard deviation, 1 for a signal that never moved.
static double scale_of(double variance) {
  const double deviation = sqrt(variance);
  return deviation > 0.0 && yoke__is_finite(deviation) ? deviation : 1.0;
}

static void find_scales(yoke_moesp* s, size_t n_pairs, const double samples[]) {
  for (size_t i = 0; i < s->setup.n + s->setup.m; i++) {
    // mean first, then squares about it: no cancellation of large means
    double mean = 0.0, sum = 0.0;
    bool has_moved = false;  // the mean of equal numbers is off by round-off
    for (size_t k = 0; k < n_pairs; k++) {
      mean += value_of(s, samples, i, k);
      has_moved = has_moved || value_of(s, samples, i, k) != value_of(s, samples, i, 0);
    }
    mean /= (double)n_pairs;
    for (size_t k = 0; k < n_pairs && has_moved; k++) {
      const double d = value_of(s, samples, i, k) - mean;
      sum += d * d;
    }
    s->scale[i] = scale_of(sum / (double)n_pairs);
  }
}

// The column of signal i in block row b: inputs before outputs.
static size_t column_of(const yoke_moesp* s, size_t signal, size_t b) {
  const size_t n = s->setup.n, m = s->setup.m;

  // u of all block rows first, then y: [U; Y]
  return signal < n ? s->n_inputs_r + b * n + signal : b * m + signal - n;
}

static void fill_data(yoke_moesp* s, size_t n_pairs, const double samples[]) {
  const size_t n_rows = n_pairs - s->setup.n_rows + 1;
  for (size_t i = 0; i < s->setup.n + s->setup.m; i++) {
    for (size_t b = 0; b < s->setup.n_rows; b++) {
      double* column = s->data + column_of(s, i, b) * n_rows;
      // row k of the data: samples k .. k + r - 1
      for (size_t k = 0; k < n_rows; k++) {
        column[k] = value_of(s, samples, i, b + k) / s->scale[i];
      }
    }
  }
}

static yoke_status triangularise(yoke_moesp* s, size_t n_rows) {
  const int rows = (int)n_rows, K = (int)s->n_columns;
  int info = 0;

  // [U; Y]^T = Q R, R = L^T; Q is not needed
  dgeqrf_(&rows, &K, s->data, &rows, s->tau, s->work, &s->n_work, &info);
  for (size_t j = 0; j < s->n_columns; j++) {
    for (size_t i = 0; i < s->n_columns; i++) {
      s->R[j * s->n_columns + i] = i <= j ? s->data[j * n_rows + i] : 0.0;
    }
  }
  return info == 0 ? YOKE_OK : YOKE_BAD_ARG;
}

// ---- the steps

// element (i, j) of R
static double r_at(const yoke_moesp* s, size_t i, size_t j) {
  return s->R[j * s->n_columns + i];
}

static yoke_status decompose(yoke_moesp* s) {
  const size_t N = s->n_outputs_r, M = s->n_inputs_r;
  const int size = (int)N, one = 1;
  double nothing = 0.0;
  int info = 0;

  // L22 = (lower right block of R)^T
  for (size_t j = 0; j < N; j++) {
    for (size_t i = 0; i < N; i++) {
      s->L22[j * N + i] = r_at(s, M + j, M + i);
    }
  }
  dgesvd_("A", "N", &size, &size, s->L22, &size, s->values, s->U, &size, &nothing, &one, s->work,
          &s->n_work, &info, 1, 1);
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

// The order that the rule gives; 0 if nothing moved.
static size_t choose_order(const yoke_moesp* s) {
  const double* sv = s->values;
  const double least = (double)s->n_outputs_r * DBL_EPSILON * sv[0];
  const size_t most = s->setup.order;
  if (!(sv[0] > 0.0)) {
    return 0;
  }
  if (s->setup.rule == YOKE_MOESP_FIXED) {
    return most;
  }
  size_t order = 1;
  double best = 0.0;
  for (size_t j = 0; j < most; j++) {
    // quotients of round-off say nothing
    const double gap = sv[j] > least ? sv[j] / fmax(sv[j + 1], least) : 0.0;
    if (s->setup.rule == YOKE_MOESP_GAP && gap > best) {
      best = gap;
      order = j + 1;
    }
    if (s->setup.rule == YOKE_MOESP_TOLERATED && sv[j] > s->setup.tolerance * sv[0]) {
      order = j + 1;
    }
  }
  return order;
}

// gamma, C and A.
static yoke_status find_dynamics(yoke_moesp* s, size_t order) {
  const size_t N = s->n_outputs_r, n = s->setup.n, n_upper = N - n;
  int info = 0;
  for (size_t j = 0; j < order; j++) {
    // G = Us s^(1/2)
    const double root = sqrt(s->values[j]);
    for (size_t i = 0; i < N; i++) {
      s->gamma[j * N + i] = s->U[j * N + i] * root;
    }
    // G without its last block row, and without its first
    memcpy(s->upper + j * n_upper, s->gamma + j * N, n_upper * sizeof(double));
    memcpy(s->lower + j * n_upper, s->gamma + j * N + n, n_upper * sizeof(double));
    for (size_t i = 0; i < n; i++) {
      s->C[i * order + j] = s->gamma[j * N + i];
    }
  }

  // upper A = lower
  least_squares_of(s, (int)n_upper, (int)order, (int)order, s->upper, s->lower, (int)n_upper,
                   &info);
  for (size_t i = 0; i < order; i++) {
    for (size_t j = 0; j < order; j++) {
      s->A[i * order + j] = s->lower[j * n_upper + i];
    }
  }
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

// X := (Un^T L21 L11^-1)^T, from R11 X = R12 Un.
static yoke_status find_markov_rows(yoke_moesp* s, size_t order) {
  const size_t N = s->n_outputs_r, M = s->n_inputs_r, n_free = N - order;
  int info = 0;

  // L11^T = R11
  for (size_t j = 0; j < M; j++) {
    for (size_t i = 0; i < M; i++) {
      s->R11[j * M + i] = r_at(s, i, j);
    }
  }
  for (size_t a = 0; a < n_free; a++) {
    // column a of Un: the left null space of the observability matrix
    const double* u = s->U + (order + a) * N;
    for (size_t i = 0; i < M; i++) {
      double sum = 0.0;
      for (size_t l = 0; l < N; l++) {
        sum += r_at(s, i, M + l) * u[l];
      }
      s->X[a * M + i] = sum;
    }
  }
  least_squares_of(s, (int)M, (int)M, (int)n_free, s->R11, s->X, (int)M, &info);
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

// One equation: row of column a of Un for block row j. n_d: columns of D, 0 if it is forced to 0.
static void fill_equation(yoke_moesp* s, size_t order, size_t n_d, size_t a, size_t j) {
  // K_j = N_j D + (N_(j+1) C + .. + N_r C A^(r-j-1)) B; block row l of gamma is C A^l
  const size_t N = s->n_outputs_r, n = s->setup.n, m = s->setup.m, r = s->setup.n_rows;
  const size_t n_free = N - order, n_equations = r * n_free, e = j * n_free + a;
  const double* u = s->U + (order + a) * N;
  for (size_t i = 0; i < n_d; i++) {
    s->rows[i * n_equations + e] = u[j * n + i];
  }
  for (size_t x = 0; x < order; x++) {
    double sum = 0.0;
    for (size_t l = 0; l < (r - j - 1) * n; l++) {
      sum += u[(j + 1) * n + l] * s->gamma[x * N + l];
    }
    s->rows[(n_d + x) * n_equations + e] = sum;
  }
  for (size_t i = 0; i < m; i++) {
    s->right[i * n_equations + e] = s->X[a * s->n_inputs_r + j * m + i];
  }
}

static yoke_status find_inputs(yoke_moesp* s, size_t order) {
  const size_t n = s->setup.n, m = s->setup.m, r = s->setup.n_rows;
  const size_t n_free = s->n_outputs_r - order, n_equations = r * n_free;
  const size_t n_d = s->setup.pairing == YOKE_MOESP_ALIGNED ? n : 0;
  int info = 0;
  YOKE_TRY(find_markov_rows(s, order));
  for (size_t j = 0; j < r; j++) {
    for (size_t a = 0; a < n_free; a++) {
      fill_equation(s, order, n_d, a, j);
    }
  }
  least_squares_of(s, (int)n_equations, (int)(n_d + order), (int)m, s->rows, s->right,
                   (int)n_equations, &info);

  // solution per input: D on top, B below
  for (size_t j = 0; j < m; j++) {
    const double* x = s->right + j * n_equations;
    for (size_t i = 0; i < n; i++) {
      s->D[i * m + j] = n_d > 0 ? x[i] : 0.0;
    }
    for (size_t i = 0; i < order; i++) {
      s->B[i * m + j] = x[n_d + i];
    }
  }
  return info == 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

static void scale_back(yoke_moesp* s, size_t order) {
  const size_t n = s->setup.n, m = s->setup.m;
  const double *y_scale = s->scale, *u_scale = s->scale + n;

  // y = y_scale y~, u~ = u / u_scale
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < order; j++) {
      s->C[i * order + j] *= y_scale[i];
    }
    for (size_t j = 0; j < m; j++) {
      s->D[i * m + j] *= y_scale[i] / u_scale[j];
    }
  }
  for (size_t i = 0; i < order; i++) {
    for (size_t j = 0; j < m; j++) {
      s->B[i * m + j] /= u_scale[j];
    }
  }
}

// Steps 2 to 5 from R of scaled data.
static yoke_status solve_triangle(yoke_moesp* s, yoke_moesp_model* model) {
  YOKE_TRY(decompose(s));
  const size_t order = choose_order(s);
  if (order == 0 || !(s->values[order - 1] > 0.0)) {
    return YOKE_SINGULAR;
  }
  YOKE_TRY(find_dynamics(s, order));
  YOKE_TRY(find_inputs(s, order));
  scale_back(s, order);
  *model = (yoke_moesp_model){order, s->A, s->B, s->C, s->D, s->values, s->n_outputs_r};
  const bool is_sound =
      yoke__are_finite(order * order, s->A) && yoke__are_finite(order * s->setup.m, s->B) &&
      yoke__are_finite(s->setup.n * order, s->C) && yoke__are_finite(s->setup.n * s->setup.m, s->D);
  return is_sound ? YOKE_OK : YOKE_DIVERGED;
}

yoke_status yoke__moesp_solve(yoke_moesp* moesp, size_t n_samples, const double samples[],
                              yoke_moesp_model* model) {
  yoke_moesp* s = moesp;
  const size_t width = s->setup.n + s->setup.m, r = s->setup.n_rows;
  const size_t n_lost = s->setup.pairing == YOKE_MOESP_SHIFTED ? 1 : 0;

  // as many rows as columns, at least
  if (s->setup.is_recursive || n_samples > s->setup.window ||
      n_samples < s->n_columns + r - 1 + n_lost || !yoke__are_finite(n_samples * width, samples)) {
    return YOKE_BAD_ARG;
  }
  const size_t n_pairs = n_samples - n_lost;
  yoke__lapack_use_one_thread();
  find_scales(s, n_pairs, samples);
  fill_data(s, n_pairs, samples);
  YOKE_TRY(triangularise(s, n_pairs - r + 1));
  return solve_triangle(s, model);
}

yoke_status yoke__moesp_solve_factor(yoke_moesp* moesp, const yoke_moesp_factor* factor,
                                     yoke_moesp_model* model) {
  yoke_moesp* s = moesp;
  const size_t K = s->n_columns, width = s->setup.n + s->setup.m;
  if (factor->n_rows != s->setup.n_rows || factor->n_added < (int64_t)K ||
      !yoke__are_finite(K * K, factor->triangle)) {
    return YOKE_BAD_ARG;
  }
  yoke__lapack_use_one_thread();
  for (size_t i = 0; i < width; i++) {
    // scaling of columns after the rotation: R diag(1 / scale)
    s->scale[i] = scale_of(factor->squares[i] / factor->weight);
    for (size_t b = 0; b < s->setup.n_rows; b++) {
      const size_t column = column_of(s, i, b);
      for (size_t l = 0; l < K; l++) {
        // R transposed into columns
        s->R[column * K + l] = factor->triangle[l * K + column] / s->scale[i];
      }
    }
  }
  return yoke__are_finite(K * K, s->R) ? solve_triangle(s, model) : YOKE_BAD_ARG;
}

// ---- Jacobians

size_t yoke__moesp_jacobian_work_size(size_t n, size_t m, size_t order) {
  return yoke__jacobian_states_work_size(
             &(yoke_identify_states){.n_states = order, .n = n, .m = m}) +
         n * m;
}

yoke_status yoke__moesp_jacobian(const yoke_moesp_model* model, yoke_moesp_pairing pairing,
                                 yoke_jacobian_discrete* to, double work[]) {
  const size_t n = to->n, m = to->m;
  const yoke_identify_states unit = {model->order, n, m, model->A, model->B, model->C, model->D};
  YOKE_TRY(yoke__jacobian_of_discrete_states(&unit, NULL, NULL, to, NULL, work));
  if (pairing == YOKE_MOESP_ALIGNED) {
    // aligned pairs: y_k with u_k; the new input acts through D alone, the old one through C B
    // S1 = C B + D and S0 = -Sy D so far
    for (size_t i = 0; i < n * m; i++) {
      to->S0[i] += to->S1[i] - model->D[i];
      to->S1[i] = model->D[i];
    }
  }
  return YOKE_OK;
}
