// Models of units by least squares, and the error that they carry from the defects of the inputs (quality_online.h).
//
// Columns are centred and divided by their standard deviation, so that nothing depends on units of measure; what does not move
// is left out. A small ridge keeps models of few states, whose columns depend on each other, bounded. The triangular
// factor is made from blocks of rows by Householder reflections: the samples are read once, and memory does not grow with them.
#include "quality/quality_online.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_arena.h"
#include "base/base_check.h"
#include "linalg/linalg_dense.h"

#define RIDGE                                                                                      \
  1e-9  // per column and square root of a row: far above rounding, far below what samples tell
#define STILL     1e-12  // of the largest magnitude: a column that moves less is constant
#define CONDITION 1e10   // of P and W, worse is not solved

#define WORK ((int64_t)1000000000)  // rows times squares of columns of a fit

enum {
  BLOCK = 256,        // rows that are reflected together
  MAX_COLUMNS = 400,  // of a fit
};

typedef struct model {
  double *A, *B;  // n_lags matrices each
  double residual;
  size_t first_y, first_u;
} model;

struct yoke_online {
  yoke_arena arena;
  const yoke_online_unit* units;
  model* models;
  size_t n_units;
  const yoke_online_link* links;
  size_t n_links, n_lags;
  size_t n_y, n_u;  // of all units
  bool* is_fed;     // per input: by a link

  double *P, *W;  // n_y x n_y
  double* scale;  // n_y: standard deviations of the outputs
  // the error at j; the past of its parts in rings of n_lags rows
  int64_t j;
  double *e, *ez, *em;
  double *y_old, *y_new, *u, *u_last, *m, *w, *r, *part, *share;  // work
};

yoke_status yoke__online_create(const yoke_online_unit units[], size_t n_units,
                                const yoke_online_link links[], size_t n_links, size_t n_lags,
                                yoke_online** out) {
  *out = NULL;
  yoke_online* o = calloc(1, sizeof *o);
  YOKE_TRY_MEMORY(o);
  *o = (yoke_online){
      .units = units, .n_units = n_units, .links = links, .n_links = n_links, .n_lags = n_lags};
  yoke_arena* arena = &o->arena;
  o->models = yoke__arena_array(arena, n_units + 1, sizeof *o->models);
  for (size_t i = 0; i < n_units && o->models != NULL; i++) {
    const size_t n_y = units[i].n_y, n_u = units[i].n_u;
    o->models[i].first_y = o->n_y;
    o->models[i].first_u = o->n_u;
    o->models[i].A = yoke__arena_array(arena, n_lags * n_y * n_y + 1, sizeof(double));
    o->models[i].B = yoke__arena_array(arena, n_lags * n_y * n_u + 1, sizeof(double));
    o->n_y += n_y;
    o->n_u += n_u;
  }
  const size_t n_y = o->n_y + 1, n_u = o->n_u + 1;
  o->is_fed = yoke__arena_array(arena, n_u, sizeof *o->is_fed);
  for (size_t i = 0; i < n_links && o->is_fed != NULL; i++) {
    o->is_fed[links[i].to] = true;
  }
  const size_t n_square = o->n_y <= YOKE_ONLINE_OUTPUTS ? n_y * n_y : 1;
  double** all[] = {&o->e, &o->scale, &o->y_old, &o->y_new, &o->r, &o->share, &o->u,     &o->m,
                    &o->w, &o->part,  &o->ez,    &o->em,    &o->P, &o->W,     &o->u_last};
  const size_t sizes[] = {n_y, n_y, n_y,          n_y,          n_y,      n_y,      n_u, n_u,
                          n_u, n_u, n_lags * n_y, n_lags * n_u, n_square, n_square, n_u};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    *all[i] = yoke__arena_array(arena, sizes[i], sizeof(double));
  }
  if (yoke__arena_status(arena) < 0) {
    yoke__online_destroy(&o);
    return YOKE_NO_MEMORY;
  }
  *out = o;
  return YOKE_OK;
}

void yoke__online_destroy(yoke_online** online) {
  if (*online != NULL) {
    yoke__arena_free(&(*online)->arena);
    free(*online);
    *online = NULL;
  }
}

// -------------------------------------------------------------------------------------------------
// samples

static size_t stride_of(const yoke_online_unit* unit) {
  return unit->n_y + unit->n_u * (unit->has_last ? 2 : 1);
}

static const double* outputs_at(const yoke_online_unit* unit, int64_t j) {
  return j == 0 ? unit->start : unit->rows + (size_t)(j - 1) * stride_of(unit);
}

// mean over the sub-step j -> j+1
static const double* inputs_at(const yoke_online_unit* unit, int64_t j) {
  return unit->rows + (size_t)j * stride_of(unit) + unit->n_y;
}

// the ones that y_j was computed with
static const double* inputs_before(const yoke_online_unit* unit, int64_t j) {
  return j == 0 ? unit->start + unit->n_y
                : inputs_at(unit, j - 1) + (unit->has_last ? unit->n_u : 0);
}

// out: z_j
static void state_part(const yoke_online_unit* unit, int64_t j, double out[]) {
  const double *y = outputs_at(unit, j), *u = inputs_before(unit, j);
  for (size_t r = 0; r < unit->n_y; r++) {
    double sum = y[r];
    for (size_t c = 0; c < unit->n_u; c++) {
      const double d = unit->D[r * unit->n_u + c];
      sum -= d == 0 ? 0 : d * u[c];
    }
    out[r] = sum;
  }
}

// -------------------------------------------------------------------------------------------------
// least squares

// The fit of one unit.
typedef struct fit {
  const yoke_online_unit* unit;
  size_t n_lags, n_in;      // lags; signals of the unit: z, then u
  int64_t n_rows, n_used;   // samples; rows of the fit
  double *mean, *scale;     // n_in; scale 0: it does not move
  size_t* columns;          // of all lags: lag * n_in + signal
  size_t n_columns, n_all;  // of the regressors, the last one constant; and the targets behind them
  double* R;                // n_all x n_all, upper triangle
  double* block;            // n_all columns of BLOCK numbers
  double* row;              // (n_lags + 1) * n_in: z and u, newest first
} fit;

static double dot(const double a[], const double b[], size_t n) {
  double s[4] = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (size_t k = 0; k < 4; k++) {
      s[k] += a[i + k] * b[i + k];
    }
  }
  for (; i < n; i++) {
    s[0] += a[i] * b[i];
  }
  return (s[0] + s[1]) + (s[2] + s[3]);
}

// R := the triangular factor of R with n rows of the block below it. The block is overwritten.
static void reflect(fit* f, size_t n) {
  for (size_t k = 0; k < f->n_all; k++) {
    double *r = f->R + k * f->n_all, *v = f->block + k * BLOCK;
    const double below = dot(v, v, n);
    if (below == 0) {
      continue;
    }
    const double norm = sqrt(r[k] * r[k] + below);
    const double diagonal = r[k] > 0 ? -norm : norm;
    const double head = r[k] - diagonal;  // v = (head, block): no cancellation
    const double beta = 1 / (norm * fabs(head));
    for (size_t c = k + 1; c < f->n_all; c++) {
      double* x = f->block + c * BLOCK;
      const double s = beta * (head * r[c] + dot(v, x, n));
      r[c] -= s * head;
      for (size_t i = 0; i < n; i++) {
        x[i] -= s * v[i];
      }
    }
    r[k] = diagonal;
  }
}

// the j of row i of the fit: all, or spread over all
static int64_t pick(const fit* f, int64_t i) {
  const int64_t first = (int64_t)f->n_lags - 1, n = f->n_rows - first;
  return first + (n <= f->n_used ? i : i * n / f->n_used);
}

static void signals_at(const fit* f, int64_t j, double out[]) {
  state_part(f->unit, j, out);
  memcpy(out + f->unit->n_y, inputs_at(f->unit, j), f->unit->n_u * sizeof *out);
}

// Means and standard deviations over all rows, in two passes: offsets may be large.
static void weigh(fit* f) {
  double* now = f->row;
  double* largest = f->row + f->n_in;
  memset(f->mean, 0, f->n_in * sizeof(double));
  memset(f->scale, 0, f->n_in * sizeof(double));
  memset(largest, 0, f->n_in * sizeof(double));
  for (int64_t j = 0; j < f->n_rows; j++) {
    signals_at(f, j, now);
    for (size_t i = 0; i < f->n_in; i++) {
      f->mean[i] += now[i] / (double)f->n_rows;
      largest[i] = fmax(largest[i], fabs(now[i]));
    }
  }
  for (int64_t j = 0; j < f->n_rows; j++) {
    signals_at(f, j, now);
    for (size_t i = 0; i < f->n_in; i++) {
      const double d = largest[i] == 0 ? 0 : (now[i] - f->mean[i]) / largest[i];
      f->scale[i] += d * d / (double)f->n_rows;
    }
  }
  for (size_t i = 0; i < f->n_in; i++) {
    const double deviation = sqrt(f->scale[i]);
    f->scale[i] = deviation > STILL ? deviation * largest[i] : 0;
  }
}

static void fill_row(fit* f, int64_t j, size_t at) {
  const size_t n_y = f->unit->n_y;
  state_part(f->unit, j + 1, f->row);
  for (size_t q = 0; q < f->n_lags; q++) {
    signals_at(f, j - (int64_t)q, f->row + (q + 1) * f->n_in);
  }
  f->block[(f->n_columns - 1) * BLOCK + at] = 1;
  for (size_t c = 0; c + 1 < f->n_columns; c++) {
    const size_t i = f->columns[c] % f->n_in;
    f->block[c * BLOCK + at] = (f->row[f->n_in + f->columns[c]] - f->mean[i]) / f->scale[i];
  }
  for (size_t i = 0; i < n_y; i++) {
    f->block[(f->n_columns + i) * BLOCK + at] =
        f->scale[i] == 0 ? 0 : (f->row[i] - f->mean[i]) / f->scale[i];
  }
}

static yoke_status factor(fit* f, const atomic_bool* is_cancelled) {
  memset(f->R, 0, f->n_all * f->n_all * sizeof(double));
  for (int64_t i = 0; i < f->n_used; i += BLOCK) {
    const size_t n = f->n_used - i < BLOCK ? (size_t)(f->n_used - i) : BLOCK;
    for (size_t k = 0; k < n; k++) {
      fill_row(f, pick(f, i + (int64_t)k), k);
    }
    reflect(f, n);
    if (is_cancelled != NULL && atomic_load_explicit(is_cancelled, memory_order_relaxed)) {
      return YOKE_INTERRUPTED;
    }
  }
  return YOKE_OK;
}

static void add_ridge(fit* f) {
  const double ridge = RIDGE * sqrt((double)f->n_used);
  for (size_t first = 0; first < f->n_columns; first += BLOCK) {
    const size_t n = f->n_columns - first < BLOCK ? f->n_columns - first : BLOCK;
    memset(f->block, 0, f->n_all * BLOCK * sizeof(double));
    for (size_t k = 0; k < n; k++) {
      f->block[(first + k) * BLOCK + k] = ridge;
    }
    reflect(f, n);
  }
}

// x: coefficients of target i, of scaled columns
static void solve(const fit* f, size_t i, double x[]) {
  for (size_t k = f->n_columns; k-- > 0;) {
    const double* r = f->R + k * f->n_all;
    double sum = r[f->n_columns + i];
    for (size_t c = k + 1; c < f->n_columns; c++) {
      sum -= r[c] * x[c];
    }
    x[k] = r[k] == 0 ? 0 : sum / r[k];
  }
}

// The residual of target i with the coefficients x, from the factor without ridge; of a row.
static double residual_of(const fit* f, const double bare[], size_t i, const double x[]) {
  const size_t target = f->n_columns + i;
  double squares = 0;
  for (size_t k = 0; k < f->n_all; k++) {
    const double* r = bare + k * f->n_all;
    double d = r[target];
    for (size_t c = k; c < f->n_columns; c++) {
      d -= r[c] * x[c];
    }
    squares += d * d;
  }
  return sqrt(squares / (double)f->n_used);
}

static void read_model(const fit* f, size_t i, const double x[], model* to) {
  const size_t n_y = f->unit->n_y, n_u = f->unit->n_u;
  for (size_t c = 0; c + 1 < f->n_columns; c++) {
    const size_t lag = f->columns[c] / f->n_in, signal = f->columns[c] % f->n_in;
    const double value = x[c] * f->scale[i] / f->scale[signal];
    if (signal < n_y) {
      to->A[lag * n_y * n_y + i * n_y + signal] = value;
    } else {
      to->B[lag * n_y * n_u + i * n_u + signal - n_y] = value;
    }
  }
}

static void list_columns(fit* f) {
  f->n_columns = 0;
  for (size_t q = 0; q < f->n_lags; q++) {
    for (size_t i = 0; i < f->n_in; i++) {
      if (f->scale[i] > 0) {
        f->columns[f->n_columns++] = q * f->n_in + i;
      }
    }
  }
  f->n_columns++;  // lagged columns have means of their own
  f->n_all = f->n_columns + f->unit->n_y;
}

// Memory for everything but the factor, whose size shows once it is known what moves.
static yoke_status begin_fit(yoke_arena* arena, fit* f) {
  const size_t n = f->n_in * f->n_lags;
  f->mean = yoke__arena_array(arena, f->n_in + 1, sizeof(double));
  f->scale = yoke__arena_array(arena, f->n_in + 1, sizeof(double));
  f->columns = yoke__arena_array(arena, n + 1, sizeof *f->columns);
  f->row = yoke__arena_array(arena, n + 2 * f->n_in + 1, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  weigh(f);
  list_columns(f);
  // wide fits take fewer rows: about a second each
  const int64_t n_wide = WORK / (int64_t)(f->n_columns * f->n_columns);
  const int64_t n_most = n_wide > YOKE_ONLINE_ROWS ? YOKE_ONLINE_ROWS : n_wide;
  f->n_used = f->n_used < n_most ? f->n_used : n_most;
  return f->n_columns > MAX_COLUMNS || f->n_used < (int64_t)f->n_columns ? YOKE_NO_SUPPORT
                                                                         : YOKE_OK;
}

static yoke_status fit_with(yoke_online* o, size_t unit, int64_t n_rows, yoke_arena* arena,
                            const atomic_bool* is_cancelled) {
  model* to = &o->models[unit];
  const int64_t n = n_rows - (int64_t)o->n_lags + 1;
  fit f = {.unit = &o->units[unit], .n_lags = o->n_lags, .n_rows = n_rows};
  f.n_in = f.unit->n_y + f.unit->n_u;
  f.n_used = n < YOKE_ONLINE_ROWS ? n : YOKE_ONLINE_ROWS;
  YOKE_TRY(begin_fit(arena, &f));
  const size_t n_factor = f.n_all * f.n_all;
  f.R = yoke__arena_array(arena, n_factor + 1, sizeof(double));
  f.block = yoke__arena_array(arena, f.n_all * BLOCK + 1, sizeof(double));
  double* bare = yoke__arena_array(arena, n_factor + 1, sizeof(double));
  double* x = yoke__arena_array(arena, f.n_columns + 1, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  YOKE_TRY(factor(&f, is_cancelled));
  memcpy(bare, f.R, n_factor * sizeof(double));
  add_ridge(&f);
  for (size_t i = 0; i < f.unit->n_y; i++) {
    o->scale[to->first_y + i] = f.scale[i];
    if (f.scale[i] > 0) {
      solve(&f, i, x);
      to->residual = fmax(to->residual, residual_of(&f, bare, i, x));
      read_model(&f, i, x, to);
    }
  }
  return YOKE_OK;
}

static yoke_status fit_unit(yoke_online* o, size_t unit, int64_t n_rows,
                            const atomic_bool* is_cancelled) {
  const yoke_online_unit* u = &o->units[unit];
  model* to = &o->models[unit];
  memset(to->A, 0, o->n_lags * u->n_y * u->n_y * sizeof(double));
  memset(to->B, 0, o->n_lags * u->n_y * u->n_u * sizeof(double));
  memset(o->scale + to->first_y, 0, u->n_y * sizeof(double));
  to->residual = 0;
  if (u->n_u == 0) {
    return YOKE_OK;
  }
  yoke_arena arena = {0};
  const yoke_status status = fit_with(o, unit, n_rows, &arena, is_cancelled);
  yoke__arena_free(&arena);
  return status;
}

// -------------------------------------------------------------------------------------------------
// products with the block diagonal matrices and the connections

// out += L y
static void add_connected(const yoke_online* o, const double y[], double factor_, double out[]) {
  for (size_t i = 0; i < o->n_links; i++) {
    out[o->links[i].to] += factor_ * o->links[i].gain * y[o->links[i].from];
  }
}

// out += M x, n_rows x n; zeros do not carry what is not finite
static void add_product(size_t n_rows, size_t n, const double M[], const double x[], double out[]) {
  for (size_t r = 0; r < n_rows; r++) {
    double sum = 0;
    for (size_t c = 0; c < n; c++) {
      const double value = M[r * n + c];
      sum += value == 0 ? 0 : value * x[c];
    }
    out[r] += sum;
  }
}

// out += D u of all units
static void add_feedthrough(const yoke_online* o, const double u[], double out[]) {
  for (size_t i = 0; i < o->n_units; i++) {
    const yoke_online_unit* unit = &o->units[i];
    const model* m = &o->models[i];
    add_product(unit->n_y, unit->n_u, unit->D, u + m->first_u, out + m->first_y);
  }
}

static void clear(double x[], size_t n) {
  memset(x, 0, n * sizeof *x);
}

// -------------------------------------------------------------------------------------------------
// P and W

// X := M^-1, n x n. Its condition is that of signals in parts of their movement. M is overwritten.
static yoke_status invert(const yoke_online* o, double M[], double X[]) {
  const size_t n = o->n_y;
  size_t* pivots = calloc(n + 1, sizeof *pivots);
  double* column = calloc(n + 1, sizeof *column);
  yoke_status status = pivots == NULL || column == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  double size = 0, inverse = 0;
  for (size_t c = 0; status >= 0 && c < n; c++) {
    double sum = 0;
    for (size_t r = 0; r < n; r++) {
      const bool moves = o->scale[r] > 0 && o->scale[c] > 0;
      sum += r == c || moves ? fabs(M[r * n + c]) * (r == c ? 1 : o->scale[c] / o->scale[r]) : 0;
    }
    size = fmax(size, sum);
  }
  if (status >= 0 && n > 0 && yoke__lu_factor(n, M, pivots) < 0) {
    status = YOKE_NO_SUPPORT;
  }
  for (size_t c = 0; status >= 0 && c < n; c++) {
    double sum = 0;
    clear(column, n);
    column[c] = 1;
    yoke__lu_solve(n, M, pivots, column);
    for (size_t r = 0; r < n; r++) {
      const bool moves = o->scale[r] > 0 && o->scale[c] > 0;
      X[r * n + c] = column[r];
      sum += r == c || moves ? fabs(column[r]) * (r == c ? 1 : o->scale[c] / o->scale[r]) : 0;
    }
    inverse = fmax(inverse, sum);
  }
  free(pivots);
  free(column);
  return status < 0 ? status : size * inverse <= CONDITION ? YOKE_OK : YOKE_NO_SUPPORT;
}

// M := I - (what `apply` does to each unit vector)
static void matrix_of(yoke_online* o, void (*apply)(yoke_online* o, const double x[], double out[]),
                      double M[]) {
  const size_t n = o->n_y;
  for (size_t c = 0; c < n; c++) {
    clear(o->y_old, n);
    clear(o->r, n);
    o->y_old[c] = 1;
    apply(o, o->y_old, o->r);
    for (size_t r = 0; r < n; r++) {
      M[r * n + c] = (r == c ? 1 : 0) - o->r[r];
    }
  }
}

// D L x
static void pass_through(yoke_online* o, const double x[], double out[]) {
  clear(o->part, o->n_u);
  add_connected(o, x, 1, o->part);
  add_feedthrough(o, o->part, out);
}

// B_0 L P x / 2
static void pass_half_step(yoke_online* o, const double x[], double out[]) {
  clear(o->share, o->n_y);
  clear(o->part, o->n_u);
  add_product(o->n_y, o->n_y, o->P, x, o->share);
  add_connected(o, o->share, 0.5, o->part);
  for (size_t i = 0; i < o->n_units; i++) {
    const model* m = &o->models[i];
    add_product(o->units[i].n_y, o->units[i].n_u, m->B, o->part + m->first_u, out + m->first_y);
  }
}

static yoke_status close_loop(yoke_online* o) {
  double* M = calloc(o->n_y * o->n_y + 1, sizeof *M);
  YOKE_TRY_MEMORY(M);
  matrix_of(o, pass_through, M);
  yoke_status status = invert(o, M, o->P);
  if (status >= 0) {
    matrix_of(o, pass_half_step, M);
    status = invert(o, M, o->W);
  }
  free(M);
  return status;
}

// -------------------------------------------------------------------------------------------------
// the error

static void restart(yoke_online* o) {
  o->j = 0;
  clear(o->e, o->n_y);
  clear(o->ez, o->n_lags * o->n_y);
  clear(o->em, o->n_lags * o->n_u);
}

yoke_status yoke__online_fit(yoke_online* o, int64_t n_rows, const atomic_bool* is_cancelled) {
  if (o->n_y > YOKE_ONLINE_OUTPUTS) {
    return YOKE_NO_SUPPORT;
  }
  for (size_t i = 0; i < o->n_units; i++) {
    YOKE_TRY(fit_unit(o, i, n_rows, is_cancelled));
  }
  YOKE_TRY(close_loop(o));
  restart(o);
  return YOKE_OK;
}

void yoke__online_model(const yoke_online* o, size_t unit, const double** A, const double** B) {
  *A = o->models[unit].A;
  *B = o->models[unit].B;
}

double yoke__online_residual(const yoke_online* o, size_t unit) {
  return o->models[unit].residual;
}

// y_old := y_j, y_new := y_{j+1}, u := u_j, u_last: at its end
static void gather(yoke_online* o) {
  for (size_t i = 0; i < o->n_units; i++) {
    const yoke_online_unit* unit = &o->units[i];
    const model* m = &o->models[i];
    memcpy(o->y_old + m->first_y, outputs_at(unit, o->j), unit->n_y * sizeof(double));
    memcpy(o->y_new + m->first_y, outputs_at(unit, o->j + 1), unit->n_y * sizeof(double));
    memcpy(o->u + m->first_u, inputs_at(unit, o->j), unit->n_u * sizeof(double));
    memcpy(o->u_last + m->first_u, inputs_before(unit, o->j + 1), unit->n_u * sizeof(double));
  }
}

// m and w; 0 for inputs that no connection feeds
static void find_defects(yoke_online* o) {
  for (size_t i = 0; i < o->n_u; i++) {
    o->m[i] = o->is_fed[i] ? o->u[i] : 0;
    o->w[i] = o->is_fed[i] ? o->u_last[i] : 0;
  }
  for (size_t i = 0; i < o->n_links; i++) {
    const yoke_online_link* l = &o->links[i];
    const double mean = 0.5 * (o->y_old[l->from] + o->y_new[l->from]);
    o->m[l->to] -= l->gain * mean + l->offset;
    o->w[l->to] -= l->gain * o->y_new[l->from] + l->offset;
  }
}

// r += what the models make of the errors so far
static void add_past(const yoke_online* o, double r[]) {
  for (size_t i = 0; i < o->n_units; i++) {
    const yoke_online_unit* unit = &o->units[i];
    const model* m = &o->models[i];
    const size_t n_y = unit->n_y, n_u = unit->n_u;
    for (size_t q = 0; q < o->n_lags && (int64_t)q <= o->j; q++) {
      const size_t at = (size_t)(o->j - (int64_t)q) % o->n_lags;
      add_product(n_y, n_y, m->A + q * n_y * n_y, o->ez + at * o->n_y + m->first_y, r + m->first_y);
      if (q > 0) {
        add_product(n_y, n_u, m->B + q * n_y * n_u, o->em + at * o->n_u + m->first_u,
                    r + m->first_y);
      }
    }
  }
}

static void advance_one(yoke_online* o) {
  const size_t n_y = o->n_y, n_u = o->n_u;
  gather(o);
  find_defects(o);

  // B_0 acts on the defect, half of the error now and half of what the feedthrough will make of it
  memcpy(o->part, o->m, n_u * sizeof(double));
  add_connected(o, o->e, 0.5, o->part);
  clear(o->r, n_y);
  clear(o->share, n_y);
  add_feedthrough(o, o->w, o->r);  // D w
  add_product(n_y, n_y, o->P, o->r, o->share);
  add_connected(o, o->share, 0.5, o->part);
  clear(o->r, n_y);
  add_past(o, o->r);
  for (size_t i = 0; i < o->n_units; i++) {
    const model* m = &o->models[i];
    add_product(o->units[i].n_y, o->units[i].n_u, m->B, o->part + m->first_u, o->r + m->first_y);
  }

  // em_j needs e_j and e_{j+1}
  double* em = o->em + (size_t)(o->j % (int64_t)o->n_lags) * n_u;
  memcpy(em, o->m, n_u * sizeof(double));
  add_connected(o, o->e, 0.5, em);

  double* ez = o->ez + (size_t)((o->j + 1) % (int64_t)o->n_lags) * n_y;
  clear(ez, n_y);
  add_product(n_y, n_y, o->W, o->r, ez);
  memcpy(o->r, ez, n_y * sizeof(double));
  add_feedthrough(o, o->w, o->r);
  clear(o->e, n_y);
  add_product(n_y, n_y, o->P, o->r, o->e);
  add_connected(o, o->e, 0.5, em);
  o->j++;
}

void yoke__online_advance(yoke_online* o, int64_t j) {
  while (o->j < j) {
    advance_one(o);
  }
}

void yoke__online_error(const yoke_online* o, const double seen[], double e[]) {
  if (seen == NULL || o->j == 0) {
    memcpy(e, o->e, o->n_y * sizeof *e);
    return;
  }
  // P (ez + D w) with D w = seen - z - D (L seen + offset)
  const double* ez = o->ez + (size_t)(o->j % (int64_t)o->n_lags) * o->n_y;
  clear(o->part, o->n_u);
  for (size_t i = 0; i < o->n_links; i++) {
    const yoke_online_link* l = &o->links[i];
    o->part[l->to] -= l->gain * seen[l->from] + l->offset;
  }
  for (size_t i = 0; i < o->n_units; i++) {
    const model* m = &o->models[i];
    state_part(&o->units[i], o->j, o->share + m->first_y);
    // inputs that nothing feeds are as they should be
    const double* u = inputs_before(&o->units[i], o->j);
    for (size_t c = 0; c < o->units[i].n_u; c++) {
      if (!o->is_fed[m->first_u + c]) {
        o->part[m->first_u + c] = -u[c];
      }
    }
  }
  for (size_t i = 0; i < o->n_y; i++) {
    o->r[i] = ez[i] + seen[i] - o->share[i];
  }
  add_feedthrough(o, o->part, o->r);
  clear(e, o->n_y);
  add_product(o->n_y, o->n_y, o->P, o->r, e);
}
