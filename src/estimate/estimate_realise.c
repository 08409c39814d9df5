// The model of low order: estimate_response.h has the equations.
#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "estimate/estimate_response_part.h"
#include "linalg/linalg_dense.h"

#define MOST_COLUMNS 48  // of the matrix of free responses: beyond it only powers of 2 are taken
#define MOST_ORDER   32
#define GOOD_ERROR   0.05  // of an order
#define DROP         1e-4  // states that hardly show in the outputs get nothing from another model
#define RESTLESS     3.0
#define MUCH_BETTER  10.0  // what a pair of states divides the error by
// what a power of A may grow by over four times the horizon: much where the responses still grow themselves, as those of a chain
// of capacities do at first
#define MOST_GROWTH 1e4
#define REST_GROWTH 0.5  // where they have come to rest

typedef struct power_pair {
  double *power, *sum;
} power_pair;

struct yoke_realise {
  size_t max_rows, max_columns, max_order;
  const yoke_response* r;
  // of the level at hand
  unsigned level;
  size_t n_i, n_j, j_stride;  // times of rows (with 0) and of columns
  double zeta, most_growth, growth, error;
  const double* sums;
  double *output_scale, *input_scale;
  // matrices
  double *H, *U, *values, *V, *svd_work;
  double *O, *D, *F;  // rows x max_order: C A^i, differences of it, sums
  double *lhs, *rhs, *ls_work;
  double *ahead,
      *reached;  // rows x max_order: C A^i of the model; (max_order x n_inputs) per time: x_i
  double *A, *M, *lu;
  power_pair room[3];
  size_t* pivots;
};

// ---- memory

static size_t count_columns(size_t n_inputs, unsigned level, size_t* stride) {
  const size_t n = yoke__response_n_times(level);
  *stride = n * n_inputs > MOST_COLUMNS ? 2 : 1;
  return *stride == 1 ? n : level + 1u;
}

yoke_realise* yoke__realise_prepare(const yoke_response* r, size_t max_order, yoke_arena* arena) {
  yoke_realise* w = yoke__arena_take(arena, sizeof *w);
  if (w == NULL) {
    return NULL;
  }
  size_t stride, most = 1;
  for (unsigned level = 0; level <= r->max_level; level++) {
    const size_t n = count_columns(r->n_inputs, level, &stride);
    most = n > most ? n : most;
  }
  const size_t rows = r->n_outputs * (yoke__response_n_times(r->max_level) + 1);
  const size_t columns = r->n_inputs * most, thin = rows < columns ? rows : columns;
  const size_t order = max_order < MOST_ORDER ? max_order : MOST_ORDER;
  *w = (yoke_realise){.max_rows = rows, .max_columns = columns, .max_order = order};
  w->output_scale = yoke__arena_array(arena, r->n_outputs + 1, sizeof(double));
  w->input_scale = yoke__arena_array(arena, r->n_inputs + 1, sizeof(double));
  w->H = yoke__arena_array(arena, rows * columns, sizeof(double));
  w->U = yoke__arena_array(arena, rows * thin, sizeof(double));
  w->V = yoke__arena_array(arena, columns * thin, sizeof(double));
  w->values = yoke__arena_array(arena, thin, sizeof(double));
  w->svd_work = yoke__arena_array(arena, yoke__svd_work_size(rows, columns), sizeof(double));
  double** const tall[] = {&w->O, &w->D, &w->F, &w->ahead, &w->lhs};
  for (size_t i = 0; i < YOKE_COUNT(tall); i++) {
    *tall[i] = yoke__arena_array(arena, rows * order, sizeof(double));
  }
  const size_t n_times = yoke__response_n_times(r->max_level);
  w->reached = yoke__arena_array(arena, n_times * order * r->n_inputs, sizeof(double));
  w->rhs = yoke__arena_array(arena, rows, sizeof(double));
  w->ls_work = yoke__arena_array(arena, 2 * order, sizeof(double));
  double** const squares[] = {&w->A,           &w->M,
                              &w->lu,          &w->room[0].power,
                              &w->room[0].sum, &w->room[1].power,
                              &w->room[1].sum, &w->room[2].power,
                              &w->room[2].sum};
  for (size_t i = 0; i < YOKE_COUNT(squares); i++) {
    *squares[i] = yoke__arena_array(arena, order * order, sizeof(double));
  }
  w->pivots = yoke__arena_array(arena, order, sizeof *w->pivots);
  return yoke__arena_status(arena) < 0 ? NULL : w;
}

yoke_low_model yoke__low_model_prepare(const yoke_response* r, size_t max_order,
                                       yoke_arena* arena) {
  return (yoke_low_model){
      .n_outputs = r->n_outputs,
      .n_inputs = r->n_inputs,
      .A = yoke__arena_array(arena, max_order * max_order + 1, sizeof(double)),
      .B = yoke__arena_array(arena, max_order * r->n_inputs + 1, sizeof(double)),
      .C = yoke__arena_array(arena, max_order * r->n_outputs + 1, sizeof(double)),
  };
}

// ---- the data of a level, scaled

static uint64_t row_time(size_t i) {
  return i == 0 ? 0 : yoke__response_time(i - 1);
}

static uint64_t column_time(const yoke_realise* w, size_t j) {
  return w->j_stride == 1 ? yoke__response_time(j) : UINT64_C(1) << j;
}

static double kept(const yoke_realise* w, const double from[], uint64_t lag, size_t output,
                   size_t input) {
  const yoke_response* r = w->r;
  const size_t place = yoke__response_find(r, lag);
  return from[(place * r->n_outputs + output) * r->n_inputs + input] / w->output_scale[output] /
         w->input_scale[input];
}

// Largest response of each output to 1, and of each input once outputs are scaled.
static void find_scales(yoke_realise* w) {
  const yoke_response* r = w->r;
  for (size_t o = 0; o < r->n_outputs; o++) {
    w->output_scale[o] = 1.0;
  }
  for (size_t j = 0; j < r->n_inputs; j++) {
    w->input_scale[j] = 1.0;
  }

  // two passes: outputs and inputs scale each other
  for (size_t pass = 0; pass < 2; pass++) {
    for (size_t j = 0; j < r->n_inputs; j++) {
      double most = 0.0;
      for (size_t o = 0; o < r->n_outputs; o++) {
        for (size_t i = 0; i < w->n_i; i++) {
          most = fmax(most, fabs(kept(w, r->s, row_time(i), o, j)));
        }
      }
      w->input_scale[j] *= most > 0.0 ? most : 1.0;
    }
    for (size_t o = 0; o < r->n_outputs; o++) {
      double most = 0.0;
      for (size_t j = 0; j < r->n_inputs; j++) {
        for (size_t i = 0; i < w->n_i; i++) {
          most = fmax(most, fabs(kept(w, r->s, row_time(i), o, j)));
        }
      }
      w->output_scale[o] *= most > 0.0 ? most : 1.0;
    }
  }
}

static void open_level(yoke_realise* w, const yoke_response* r, unsigned level, bool rests) {
  w->r = r;
  w->level = level;
  w->n_i = yoke__response_n_times(level) + 1;
  w->n_j = count_columns(r->n_inputs, level, &w->j_stride);

  // the horizon of the sums grows with the level, in steps of 16
  const int scale = ((int)level + 2) / 4 - 1;  // (zeta - 1) 2^level is about 1
  const size_t at = scale < 0 ? 0 : (size_t)scale;
  const size_t most = YOKE_RESPONSE_SCALES - 1;
  w->zeta = yoke__response_zeta(at < most ? at : most);
  w->sums = r->sums + (at < most ? at : most) * r->n_lags * r->n_outputs * r->n_inputs;
  find_scales(w);
  w->most_growth = rests ? REST_GROWTH : MOST_GROWTH;
}

static size_t row_of(const yoke_realise* w, size_t i, size_t output) {
  return i * w->r->n_outputs + output;
}

static size_t column_of(const yoke_realise* w, size_t j, size_t input) {
  return j * w->r->n_inputs + input;
}

static void fill_free_responses(yoke_realise* w) {
  const size_t n_columns = w->n_j * w->r->n_inputs;
  for (size_t i = 0; i < w->n_i; i++) {
    for (size_t o = 0; o < w->r->n_outputs; o++) {
      double* row = w->H + row_of(w, i, o) * n_columns;
      for (size_t j = 0; j < w->n_j; j++) {
        for (size_t u = 0; u < w->r->n_inputs; u++) {
          // H_ij = s_(i+j) - s_i
          row[column_of(w, j, u)] = kept(w, w->r->s, row_time(i) + column_time(w, j), o, u) -
                                    kept(w, w->r->s, row_time(i), o, u);
        }
      }
    }
  }
}

// G of estimate_response.h.
static double discounted(const yoke_realise* w, size_t i, size_t j, size_t output, size_t input) {
  const uint64_t t_i = row_time(i), t_j = column_time(w, j);

  // sum over l < i of zeta^(-1-l) H_lj: the sums are those of s, weights shifted by t_j
  const double late =
      kept(w, w->sums, t_i + t_j, output, input) - kept(w, w->sums, t_j, output, input);
  return pow(w->zeta, (double)t_j) * late - kept(w, w->sums, t_i, output, input);
}

// F (rows x columns into H, which is no longer needed): G of the last row less that of each row.
static void fill_sums(yoke_realise* w) {
  const size_t n_columns = w->n_j * w->r->n_inputs;
  for (size_t o = 0; o < w->r->n_outputs; o++) {
    for (size_t j = 0; j < w->n_j; j++) {
      for (size_t u = 0; u < w->r->n_inputs; u++) {
        // const_j is not known: it drops out of the difference from the last row
        const double last = discounted(w, w->n_i - 1, j, o, u);
        for (size_t i = 0; i < w->n_i; i++) {
          w->H[row_of(w, i, o) * n_columns + column_of(w, j, u)] = last - discounted(w, i, j, o, u);
        }
      }
    }
  }
}

// ---- the motion

// Rows of C A^i, of their differences and of the sums, for the leading n0 states.
static void fill_rows(yoke_realise* w, size_t n0, size_t n_values) {
  assert(w->r->n_outputs > 0);
  const size_t p = w->r->n_outputs, n_columns = w->n_j * w->r->n_inputs, stride = w->max_order;
  const size_t rows = w->n_i * p, last = rows - p;
  const double end = pow(w->zeta, -(double)row_time(w->n_i - 1));
  for (size_t row = 0; row < rows; row++) {
    for (size_t c = 0; c < n0; c++) {
      // H = U S V': C A^i = U S^1/2, x_j = S^1/2 V'
      w->O[row * stride + c] = w->U[row * n_values + c] * sqrt(w->values[c]);
    }
  }
  fill_sums(w);
  for (size_t row = 0; row < last; row++) {
    // rows of zeta^-i C A^i and of the sums; (D) M = F with M = (zeta I - A)^-1
    const double scale = pow(w->zeta, -(double)row_time(row / p));
    for (size_t c = 0; c < n0; c++) {
      double sum = 0.0;
      for (size_t l = 0; l < n_columns; l++) {
        sum += w->H[row * n_columns + l] * w->V[l * n_values + c];
      }
      // x_j is divided out: F V S^-1/2
      w->F[row * stride + c] = sum / sqrt(w->values[c]);
      w->D[row * stride + c] =
          scale * w->O[row * stride + c] - end * w->O[(last + row % p) * stride + c];
    }
  }
}

// X (n x n_rhs) of least squares, from the leading n columns of lhs and n_rhs of rhs.
static void solve_columns(yoke_realise* w, double drop, size_t rows, size_t n, const double lhs[],
                          const double rhs[], size_t rhs_stride, size_t n_rhs, double X[]) {
  double x[MOST_ORDER];
  for (size_t c = 0; c < n_rhs; c++) {
    for (size_t i = 0; i < rows; i++) {
      // least_squares destroys its matrix: a copy for each right-hand side
      memcpy(w->lhs + i * n, lhs + i * w->max_order, n * sizeof *lhs);
      w->rhs[i] = rhs[i * rhs_stride + c];
    }
    (void)yoke__least_squares(rows, n, w->lhs, w->rhs, x, drop, w->ls_work);
    for (size_t i = 0; i < n; i++) {
      X[i * n_rhs + c] = x[i];
    }
  }
}

// A = zeta I - M^-1
static yoke_status find_motion(yoke_realise* w, size_t n) {
  const size_t rows = (w->n_i - 1) * w->r->n_outputs;
  if (rows < n) {
    return YOKE_SINGULAR;
  }

  // M by least squares over all times and outputs
  solve_columns(w, DBL_EPSILON, rows, n, w->D, w->F, w->max_order, n, w->M);
  memcpy(w->lu, w->M, n * n * sizeof *w->M);
  YOKE_TRY(yoke__lu_factor(n, w->lu, w->pivots));
  double e[MOST_ORDER];
  for (size_t c = 0; c < n; c++) {
    // A = zeta I - M^-1, column by column
    memset(e, 0, sizeof e);
    e[c] = 1.0;
    yoke__lu_solve(n, w->lu, w->pivots, e);
    for (size_t i = 0; i < n; i++) {
      w->A[i * n + c] = (i == c ? w->zeta : 0.0) - e[i];
    }
  }
  return yoke__are_finite(n * n, w->A) ? YOKE_OK : YOKE_SINGULAR;
}

// ---- powers: A^t and I + A + .. + A^(t-1) at the times 1, 2, 3, 4, 6, 8, ..

typedef struct powers {
  size_t n, place;
  power_pair now, before, other;  // of 2^q, 2^(q-1), 3 2^(q-1)
} powers;

static powers start_powers(size_t n, const double A[], const power_pair room[3]) {
  memcpy(room[0].power, A, n * n * sizeof *A);
  memset(room[0].sum, 0, n * n * sizeof *A);
  for (size_t i = 0; i < n; i++) {
    room[0].sum[i * n + i] = 1.0;
  }
  return (powers){n, 0, room[0], room[1], room[2]};
}

// of the time a + b
static void combine(size_t n, power_pair a, power_pair b, power_pair to) {
  // A^(a+b) = A^a A^b; I + .. + A^(a+b-1) = sum_a + A^a sum_b
  yoke__mat_mul(n, n, n, a.power, b.power, to.power);
  yoke__mat_mul(n, n, n, a.power, b.sum, to.sum);
  for (size_t i = 0; i < n * n; i++) {
    to.sum[i] += a.sum[i];
  }
}

// The next time: 1 at first.
static power_pair next_power(powers* p) {
  const size_t place = p->place++;
  if (place == 0) {
    return p->now;
  }
  if (place % 2 == 0) {
    // 3 2^(q-1) = 2^q + 2^(q-1)
    combine(p->n, p->now, p->before, p->other);
    return p->other;
  }

  // 2^(q+1) = 2^q + 2^q; the spare matrices change places
  combine(p->n, p->now, p->now, p->other);
  const power_pair free = p->before;
  p->before = p->now;
  p->now = p->other;
  p->other = free;
  return p->now;
}

// ---- inputs and check

// ahead := C (I + .. + A^(t-1)) at all times t, then B by least squares against the responses.
static void find_inputs(yoke_realise* w, size_t n, double B[]) {
  const yoke_response* r = w->r;
  const size_t p = r->n_outputs, m = r->n_inputs, rows = (w->n_i - 1) * p;
  powers at = start_powers(n, w->A, w->room);
  for (size_t i = 0; i + 1 < w->n_i; i++) {
    const power_pair now = next_power(&at);
    for (size_t o = 0; o < p; o++) {
      for (size_t c = 0; c < n; c++) {
        // y_t = C (I + .. + A^(t-1)) B for a step of the input
        double sum = 0.0;
        for (size_t l = 0; l < n; l++) {
          sum += w->O[o * w->max_order + l] * now.sum[l * n + c];
        }
        w->ahead[(i * p + o) * w->max_order + c] = sum;
      }
      for (size_t u = 0; u < m; u++) {
        w->H[(i * p + o) * m + u] = kept(w, r->s, row_time(i + 1), o, u);
      }
    }
  }
  solve_columns(w, DBL_EPSILON, rows, n, w->ahead, w->H, m, m, B);
}

// ahead := C A^t, reached := x after t steps in each input; *growth: of A over four times the horizon.
static void run_model(yoke_realise* w, size_t n, const double B[], double* growth) {
  const size_t p = w->r->n_outputs, m = w->r->n_inputs;
  powers at = start_powers(n, w->A, w->room);
  for (size_t i = 0; i + 1 < w->n_i; i++) {
    const power_pair now = next_power(&at);
    for (size_t o = 0; o < p; o++) {
      for (size_t c = 0; c < n; c++) {
        double sum = 0.0;
        for (size_t l = 0; l < n; l++) {
          sum += w->O[o * w->max_order + l] * now.power[l * n + c];
        }
        w->ahead[(i * p + o) * w->max_order + c] = sum;
      }
    }
    yoke__mat_mul(n, n, m, now.sum, B, w->reached + i * w->max_order * m);
  }

  // four more places of the ladder are two doublings: A^(4 horizon)
  for (int half = 0; half < 4; half++) {
    (void)next_power(&at);
  }
  *growth = 0.0;
  for (size_t i = 0; i < n * n; i++) {
    const double element = fabs(at.now.power[i]);
    *growth = element > *growth || isnan(element) ? element : *growth;
  }
}

static double largest_error(const yoke_realise* w, size_t n) {
  const yoke_response* r = w->r;
  const size_t p = r->n_outputs, m = r->n_inputs;
  double worst = 0.0;

  // the model's free response against the one that was kept, at all pairs of times
  for (size_t j = 0; j + 1 < w->n_i; j++) {
    const double* x = w->reached + j * w->max_order * m;
    for (size_t i = 0; i < w->n_i; i++) {
      for (size_t o = 0; o < p; o++) {
        const double* row =
            i == 0 ? w->O + o * w->max_order : w->ahead + ((i - 1) * p + o) * w->max_order;
        for (size_t u = 0; u < m; u++) {
          double free = 0.0;
          for (size_t l = 0; l < n; l++) {
            free += row[l] * x[l * m + u];
          }
          const double seen =
              kept(w, r->s, row_time(i) + row_time(j + 1), o, u) - kept(w, r->s, row_time(i), o, u);
          const double error = fabs(free - seen);
          worst = error > worst || isnan(error) ? error : worst;
        }
      }
    }
  }
  return worst;
}

// The model of an order, for scaled outputs and inputs; its error, INFINITY if there is none. One that does not come to rest is to
// be much better than one that does.
static double try_order(yoke_realise* w, size_t n, double B[]) {
  if (find_motion(w, n) < 0) {
    return (double)INFINITY;
  }
  find_inputs(w, n, B);
  run_model(w, n, B, &w->growth);
  w->error = largest_error(w, n);
  if (!(w->growth <= w->most_growth) || !yoke__is_finite(w->error)) {
    return (double)INFINITY;
  }

  // a model that does not come to rest is chosen only if it is three times better
  return w->growth <= REST_GROWTH ? w->error : RESTLESS * w->error;
}

static void take_model(const yoke_realise* w, size_t n, yoke_low_model* model) {
  const size_t p = w->r->n_outputs, m = w->r->n_inputs;
  model->order = n;
  model->n_outputs = p;
  model->n_inputs = m;
  model->steps = UINT64_C(2) << w->level;
  memcpy(model->A, w->A, n * n * sizeof *w->A);
  for (size_t o = 0; o < p; o++) {
    for (size_t c = 0; c < n; c++) {
      // scaling undone
      model->C[o * n + c] = w->output_scale[o] * w->O[o * w->max_order + c];
    }
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t u = 0; u < m; u++) {
      model->B[i * m + u] *= w->input_scale[u];
    }
  }
}

// Noise, and what is not linear, take any number of states, each of which helps a little: states are added only where the error
// becomes much smaller with each pair of them. If that is not good enough, the lowest order that is, or the best. 0: there is none.
static size_t choose_order(size_t n0, const double errors[]) {
  size_t chosen = 0, best = 0;
  double error = 1.0;  // of the chosen one
  for (size_t n = 1; n <= n0; n++) {
    best = yoke__is_finite(errors[n]) && (best == 0 || errors[n] < errors[best]) ? n : best;
    // a factor of 10 per pair of states: less is fitting of noise
    if (errors[n] < error / pow(MUCH_BETTER, fmax(1.0, 0.5 * (double)(n - chosen)))) {
      chosen = n;
      error = errors[n];
    }
  }
  if (best == 0 || (chosen > 0 && errors[chosen] <= GOOD_ERROR)) {
    return chosen;
  }
  for (size_t n = 1; n < best; n++) {
    if (errors[n] <= fmax(GOOD_ERROR, errors[best])) {
      return n;
    }
  }
  return best;
}

yoke_status yoke__realise(yoke_realise* w, const yoke_response* r, unsigned level, double tolerance,
                          size_t max_order, bool rests, yoke_low_model* model) {
  open_level(w, r, level, rests);
  const size_t rows = w->n_i * r->n_outputs, columns = w->n_j * r->n_inputs;
  const size_t n_values = rows < columns ? rows : columns;
  fill_free_responses(w);
  YOKE_TRY(yoke__svd(rows, columns, w->H, w->U, w->values, w->V, w->svd_work));
  size_t n0 = 0;

  // singular values at noise level span no states
  while (n0 < n_values && n0 < w->max_order && n0 < max_order &&
         w->values[n0] > tolerance * w->values[0]) {
    n0++;
  }
  if (n0 == 0) {
    return YOKE_SINGULAR;
  }
  fill_rows(w, n0, n_values);

  double errors[MOST_ORDER + 1];

  // all orders are tried: the pencil of a larger order is not an extension of a smaller one
  for (size_t n = 1; n <= n0; n++) {
    errors[n] = try_order(w, n, model->B);
  }
  const size_t n = choose_order(n0, errors);
  if (n == 0) {
    return YOKE_NO_CONVERGENCE;
  }

  // the work space holds the last order tried: make the chosen one again
  (void)try_order(w, n, model->B);
  model->error = w->error;
  model->is_restless = w->growth > REST_GROWTH;
  take_model(w, n, model);
  return YOKE_OK;
}

// ---- what a model does

void yoke__low_model_after(const yoke_low_model* model, uint64_t k, double x[], double work[]) {
  const size_t n = model->order, square = n * n;
  const power_pair room[3] = {{work, work + square},
                              {work + 2 * square, work + 3 * square},
                              {work + 4 * square, work + 5 * square}};
  const power_pair sum = {work + 6 * square, work + 7 * square};
  const power_pair spare = {work + 8 * square, work + 9 * square};
  powers at = start_powers(n, model->A, room);
  // binary digits of k, lowest first: the sum is that of the digits so far
  memset(sum.power, 0, square * sizeof(double));
  memset(sum.sum, 0, square * sizeof(double));
  for (size_t i = 0; i < n; i++) {
    sum.power[i * n + i] = 1.0;
  }

  // the sum over k steps from the binary digits of k: log2 k products
  for (uint64_t digits = k; digits != 0; digits >>= 1) {
    if (digits & 1u) {
      combine(n, at.now, sum, spare);
      memcpy(sum.power, spare.power, square * sizeof(double));
      memcpy(sum.sum, spare.sum, square * sizeof(double));
    }
    combine(n, at.now, at.now, at.other);
    const power_pair free = at.now;
    at.now = at.other;
    at.other = free;
  }
  yoke__mat_mul(n, n, model->n_inputs, sum.sum, model->B, x);
}

// C A^t of a model at the times of the work space, outputs scaled.
static void look_ahead(yoke_realise* w, const yoke_low_model* model, size_t n_i, double rows[]) {
  const size_t n = model->order, p = model->n_outputs;
  powers at = start_powers(n, model->A, w->room);
  for (size_t i = 0; i < n_i; i++) {
    const double* power = i == 0 ? NULL : next_power(&at).power;
    for (size_t o = 0; o < p; o++) {
      for (size_t c = 0; c < n; c++) {
        double sum = i == 0 ? model->C[o * n + c] : 0.0;
        for (size_t l = 0; i > 0 && l < n; l++) {
          sum += model->C[o * n + l] * power[l * n + c];
        }
        rows[(i * p + o) * w->max_order + c] = sum / w->output_scale[o];
      }
    }
  }
}

yoke_status yoke__low_model_transfer(yoke_realise* w, const yoke_low_model* from,
                                     const yoke_low_model* to, double T[]) {
  const uint64_t steps = from->steps < to->steps ? from->steps : to->steps;
  size_t n_i = 1;

  // times up to half of the shorter horizon: both models are known there
  while (n_i < w->n_i && row_time(n_i) <= steps / 2) {
    n_i++;
  }
  const size_t rows = n_i * to->n_outputs;
  if (rows < to->order) {
    return YOKE_SINGULAR;
  }
  look_ahead(w, to, n_i, w->D);
  look_ahead(w, from, n_i, w->F);

  // T minimises C_to A_to^i T - C_from A_from^i: the same outputs from now on
  solve_columns(w, DROP, rows, to->order, w->D, w->F, w->max_order, from->order, T);
  return YOKE_OK;
}
