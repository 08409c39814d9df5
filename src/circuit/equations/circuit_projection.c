// Projection of derivatives; see circuit_projection.h.
//
// Where Ahat is regular the feasible set is one point and xdot = -Ahat^-1 bhat (`direct`).
// Otherwise the augmented Lagrangian, in the form
//
//   [ I      Ahat^T   ] [ xdot ]   [ xdot*               ]
//   [ Ahat  -I/alpha  ] [ mu   ] = [ -bhat - sigma/alpha ]      then sigma := mu,
//
// which is (I + alpha Ahat^T Ahat) xdot = xdot* - alpha Ahat^T bhat - Ahat^T sigma, as published,
// with the new multiplier mu = sigma + alpha (Ahat xdot + bhat) kept as an unknown. `auto` measures
// each row in its own largest entry, -r_i^2/alpha in place of -1/alpha: the same constraints, but a row with a
// capacitor of 1 uF counts as much as one with 1 F. With one alpha for all rows it hardly counts,
// the rates of small capacitors are pulled away from i/C and TR loses its order. Squaring Ahat would square its
// condition: with heat capacities of 5000 J/K and alpha = 1e10 the published matrix has 1 beside
// 2.5e17 and loses its identity part.
#include "circuit/equations/circuit_projection.h"

#include <math.h>
#include <string.h>

#include "circuit/equations/circuit_border.h"

// The penalty form has 1 beside -1/alpha and factors that grow accordingly when a bridge
// commutates; what round-off does then is undone by one step of refinement, where new pivots would
// be needed otherwise.
#define GROWTH_LIMIT 1e13

// `auto`: how much more a differential row counts than one that was differentiated. Where both
// cannot hold, as in a loop of capacitors and sources behind a corner, i = C v' must: TR goes on
// from it.
#define FIRMER 1e9
// where differential rows depend on each other (capacitors in parallel) and so much is singular
#define FIRMER_OF_DEPENDENT 1e3

struct yoke_projection {
  yoke_projection_settings settings;
  yoke_equations* equations;
  yoke_signals* signals;
  yoke_arena* arena;
  uint32_t n, m;  // rows; the first m are differentiated constraints
  bool is_direct, is_constant, is_stale;
  yoke_sparse *direct, *penalty;
  yoke_border* border;       // rows that change are kept out of `penalty`; NULL: they are in it
  yoke_sparse_pattern wide;  // of the augmented matrix, 2n
  uint32_t *slot_of_ahat, *slot_of_transpose;  // places of each entry of Ahat in it
  uint32_t *slot_of_one, *slot_of_alpha;       // of the diagonal
  uint32_t *varying, n_varying;                // entries of Ahat
  double *ahat, *bhat;
  double *wide_values, *rhs, *sigma;
  double* scale;          // r_i^2 / alpha of each row
  double firm;            // how much more differential rows count
  double *wanted, *rest;  // right-hand side and its remainder, 2n
  double* v_typical;      // where pivots are chosen; NULL: no junctions
  uint64_t n_repivots;
};

static uint32_t count_entries(const yoke_sparse_pattern* pattern) {
  return (uint32_t)pattern->starts[pattern->n];
}

// Columns 0..n-1: the identity, then Ahat below. Columns n..2n-1: the rows of Ahat, then the
// diagonal.
static yoke_status make_wide_pattern(yoke_projection* self) {
  const yoke_sparse_pattern* ahat = &self->equations->Ahat;
  const uint32_t n = self->n;
  const uint32_t nnz = count_entries(ahat);
  int32_t* starts = yoke__arena_array(self->arena, 2 * (size_t)n + 1, sizeof *starts);
  int32_t* rows = yoke__arena_array(self->arena, 2 * (size_t)(nnz + n), sizeof *rows);
  uint8_t* varying = yoke__arena_array(self->arena, 2 * (size_t)(nnz + n), sizeof *varying);
  YOKE_TRY(yoke__arena_status(self->arena));
  int32_t at = 0;
  for (uint32_t j = 0; j < n; j++) {
    // column j: 1 on top, column j of Ahat below
    starts[j] = at;
    self->slot_of_one[j] = (uint32_t)at;
    rows[at++] = (int32_t)j;
    for (int32_t k = ahat->starts[j]; k < ahat->starts[j + 1]; k++) {
      self->slot_of_ahat[k] = (uint32_t)at;
      varying[at] = ahat->varying[k];
      rows[at++] = (int32_t)n + ahat->rows[k];
    }
    // rows of Ahat are counted for the second half
    for (int32_t k = ahat->starts[j]; k < ahat->starts[j + 1]; k++) {
      starts[n + (uint32_t)ahat->rows[k] + 1]++;
    }
  }
  starts[n] = at;

  // columns of the second half: a row of Ahat and the diagonal
  for (uint32_t i = 0; i < n; i++) {
    // a column of the second half: a row of Ahat and its diagonal entry
    starts[n + i + 1] += starts[n + i] + 1;
    self->slot_of_alpha[i] = (uint32_t)starts[n + i + 1] - 1;
    rows[self->slot_of_alpha[i]] = (int32_t)(n + i);
  }
  // slot_of_alpha counts down the free places of each column while the columns of Ahat are walked
  // backwards
  for (uint32_t j = n; j-- > 0;) {
    for (int32_t k = ahat->starts[j + 1]; k-- > ahat->starts[j];) {
      const uint32_t slot = --self->slot_of_alpha[ahat->rows[k]];
      self->slot_of_transpose[k] = slot;
      rows[slot] = (int32_t)j;
      varying[slot] = ahat->varying[k];
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    self->slot_of_alpha[i] = (uint32_t)starts[n + i + 1] - 1;
  }
  self->wide = (yoke_sparse_pattern){
      .n = (int32_t)(2 * n), .starts = starts, .rows = rows, .varying = varying};
  return YOKE_OK;
}

static void list_varying(yoke_projection* self) {
  const yoke_sparse_pattern* ahat = &self->equations->Ahat;
  for (uint32_t k = 0; k < count_entries(ahat); k++) {
    // without marks every entry may vary
    if (ahat->varying == NULL || ahat->varying[k]) {
      self->varying[self->n_varying++] = k;
    }
  }
}

// everything of the penalty form; only when it is needed
static yoke_status make_penalty(yoke_projection* self) {
  const uint32_t nnz = count_entries(&self->equations->Ahat);
  const size_t n = self->n;
  self->slot_of_ahat = yoke__arena_array(self->arena, nnz, sizeof(uint32_t));
  self->slot_of_transpose = yoke__arena_array(self->arena, nnz, sizeof(uint32_t));
  self->slot_of_one = yoke__arena_array(self->arena, n, sizeof(uint32_t));
  self->slot_of_alpha = yoke__arena_array(self->arena, n, sizeof(uint32_t));
  self->wide_values = yoke__arena_array(self->arena, 2 * (nnz + n), sizeof(double));
  self->rhs = yoke__arena_array(self->arena, 6 * n, sizeof(double));
  self->sigma = yoke__arena_array(self->arena, n, sizeof(double));
  self->scale = yoke__arena_array(self->arena, n, sizeof(double));
  self->varying = yoke__arena_array(self->arena, nnz, sizeof(uint32_t));
  YOKE_TRY(yoke__arena_status(self->arena));
  self->wanted = self->rhs + 2 * n;
  self->rest = self->rhs + 4 * n;
  YOKE_TRY(make_wide_pattern(self));
  list_varying(self);
  if (self->settings.is_scaled && self->settings.n_passes == 1 && !self->settings.is_refactored) {
    YOKE_TRY(yoke__border_create(&self->equations->Ahat, self->arena, &self->border));
  }
  const yoke_sparse_settings settings = {
      .kernel = self->settings.kernel, .n_slots = 1, .growth_limit = GROWTH_LIMIT};
  return yoke__sparse_create(&self->wide, &settings, self->arena, &self->penalty);
}

yoke_status yoke__projection_create(const yoke_projection_settings* settings,
                                    yoke_equations* equations, yoke_signals* signals,
                                    yoke_arena* arena, yoke_projection** out) {
  yoke_projection* self = yoke__arena_take(arena, sizeof *self);
  YOKE_TRY(yoke__arena_status(arena));
  *out = self;
  self->settings = *settings;
  self->equations = equations;
  self->signals = signals;
  self->arena = arena;
  self->is_constant = equations->is_linear && !signals->is_matrix_moving;
  self->is_stale = true;
  const yoke_sparse_pattern* ahat = &equations->Ahat;
  self->n = equations->n;
  self->m = equations->m;
  self->ahat = yoke__arena_array(arena, count_entries(ahat), sizeof(double));
  self->bhat = yoke__arena_array(arena, self->n, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  if (equations->n_junctions > 0) {
    self->v_typical = yoke__arena_array(arena, signals->network->n_elements, sizeof(double));
    YOKE_TRY(yoke__arena_status(arena));
    yoke__equations_conduct(equations, self->v_typical);
  }
  if (settings->kind == YOKE_PROJECTION_PENALTY) {
    return make_penalty(self);
  }
  const yoke_sparse_settings sparse = {.kernel = settings->kernel, .n_slots = 1};
  return yoke__sparse_create(ahat, &sparse, arena, &self->direct);
}

void yoke__projection_destroy(yoke_projection** self) {
  if (*self != NULL) {
    yoke__sparse_destroy(&(*self)->direct);
    yoke__sparse_destroy(&(*self)->penalty);
    *self = NULL;
  }
}

// Row i of Ahat in its own measure as the run begins (its column of the augmented matrix holds it):
// one that changed with the values would have to be eliminated anew in every step.
static void scale_row(yoke_projection* self, uint32_t i) {
  const int32_t end = self->wide.starts[self->n + i + 1] - 1;
  double largest = 0.0;
  for (int32_t k = self->wide.starts[self->n + i]; k < end; k++) {
    largest = fmax(largest, fabs(self->wide_values[k]));
  }

  // differential rows count 1e9 times as much: i = C v' must hold
  const double firm = i >= self->m ? self->firm : 1.0;

  // r_i^2 / (firm alpha): alpha measured in the row's own size
  self->scale[i] = self->settings.is_scaled && largest > 0.0
                       ? largest * largest / (firm * self->settings.alpha)
                       : 1.0 / self->settings.alpha;
  self->wide_values[self->slot_of_alpha[i]] = -self->scale[i];
}

static void copy_entry(yoke_projection* self, uint32_t k) {
  self->wide_values[self->slot_of_ahat[k]] = self->ahat[k];
  self->wide_values[self->slot_of_transpose[k]] = self->ahat[k];
}

static void fill_wide(yoke_projection* self) {
  const uint32_t nnz = count_entries(&self->equations->Ahat);

  // Ahat and its transpose
  for (uint32_t k = 0; k < nnz; k++) {
    copy_entry(self, k);
  }
  for (uint32_t i = 0; i < self->n; i++) {
    // identity and -scale
    self->wide_values[self->slot_of_one[i]] = 1.0;
    scale_row(self, i);
  }
}

// Rows of the border: mu = 0 in place of them.
static void take_border_out(yoke_projection* self) {
  const yoke_sparse_pattern* ahat = &self->equations->Ahat;
  for (uint32_t k = 0; k < count_entries(ahat); k++) {
    const uint32_t row = (uint32_t)ahat->rows[k];
    if (yoke__border_has_row(self->border, row)) {
      self->wide_values[self->slot_of_ahat[k]] = 0.0;
      self->wide_values[self->slot_of_transpose[k]] = 0.0;
      self->wide_values[self->slot_of_alpha[row]] = -1.0;
    }
  }
}

static yoke_status factor_wide(yoke_projection* self, double firm) {
  self->firm = firm;
  fill_wide(self);
  if (self->border != NULL) {
    take_border_out(self);
  }
  YOKE_TRY(yoke__sparse_factor(self->penalty, self->wide_values, NULL));
  if (self->border != NULL) {
    yoke__border_learn(self->border, self->penalty, self->scale, self->rhs);
  }
  return YOKE_OK;
}

// Is the direct solution to be taken? Judged at x as it is.
static yoke_status choose_kind(yoke_projection* self, int32_t* singular_column) {
  self->is_direct = false;
  if (self->direct == NULL) {
    // penalty alone: no direct matrix was made
    return YOKE_OK;
  }

  // rank by the pivots of Ahat
  const yoke_status status = yoke__sparse_factor(self->direct, self->ahat, singular_column);
  if (status < 0 && (status != YOKE_SINGULAR || self->settings.kind == YOKE_PROJECTION_DIRECT)) {
    return status;
  }
  yoke_sparse_stats stats;
  yoke__sparse_get_stats(self->direct, &stats);

  // regular enough: the feasible set is one point
  self->is_direct = self->settings.kind == YOKE_PROJECTION_DIRECT ||
                    (status >= 0 ? stats.rcond : 0.0) > self->settings.well_conditioned;
  return YOKE_OK;
}

yoke_status yoke__projection_start(yoke_projection* self, const double x[],
                                   int32_t* singular_column) {
  yoke__equations_derivatives(self->equations, x, NULL, self->ahat, self->bhat);
  YOKE_TRY(choose_kind(self, singular_column));
  if (!self->is_direct && self->penalty == NULL) {
    YOKE_TRY(make_penalty(self));
  }
  // pivots where every junction conducts a little; the next call renews the values
  if (self->v_typical != NULL) {
    yoke__equations_derivatives(self->equations, x, self->v_typical, self->ahat, self->bhat);
  }
  self->is_stale = true;
  if (self->is_direct) {
    const yoke_status status = yoke__sparse_factor(self->direct, self->ahat, NULL);
    return status == YOKE_SINGULAR && self->v_typical != NULL ? YOKE_OK : status;
  }

  // first with the differential rows firm, then with less where they depend on each other
  const yoke_status status = factor_wide(self, FIRMER);
  return status == YOKE_SINGULAR ? factor_wide(self, FIRMER_OF_DEPENDENT) : status;
}

void yoke__projection_invalidate(yoke_projection* self) {
  self->is_stale = true;
}

// With the pivots at hand, else with new ones.
static yoke_status renew(yoke_projection* self, yoke_sparse* matrix, const double values[]) {
  if (self->is_constant && !self->is_stale && !self->settings.is_refactored) {
    return YOKE_OK;
  }

  // same pivots first
  yoke_status status = yoke__sparse_refactor(matrix, 0, values);
  if (status < 0) {
    self->n_repivots++;
    status = yoke__sparse_repivot(matrix, 0, values);
  }
  self->is_stale = status < 0;
  return status;
}

// rhs := the solution, improved once by what it leaves of the right-hand side.
static void solve_refined(yoke_projection* self) {
  const size_t n = 2 * (size_t)self->n;

  // x := x + M^-1 (b - M x)
  memcpy(self->wanted, self->rhs, n * sizeof(double));
  yoke__sparse_solve(self->penalty, 0, self->rhs);

  // rows measured in their own size need no refinement
  if (self->settings.is_scaled) {
    return;
  }
  yoke__sparse_mul(&self->wide, self->wide_values, self->rhs, self->rest);
  for (size_t i = 0; i < n; i++) {
    self->rest[i] = self->wanted[i] - self->rest[i];
  }
  yoke__sparse_solve(self->penalty, 0, self->rest);
  for (size_t i = 0; i < n; i++) {
    self->rhs[i] += self->rest[i];
  }
}

// What changes is in the border, all else as it was factored.
static yoke_status apply_bordered(yoke_projection* self, double xdot[]) {
  const uint32_t n = self->n;

  // [xdot*; -bhat], rows of the border 0
  memcpy(self->rhs, xdot, n * sizeof(double));
  for (uint32_t i = 0; i < n; i++) {
    self->rhs[n + i] = -self->bhat[i];
  }
  yoke__border_clear(self->border, self->rhs + n);
  yoke__sparse_solve(self->penalty, 0, self->rhs);
  YOKE_TRY(yoke__border_apply(self->border, self->ahat, self->bhat, self->rhs));
  memcpy(xdot, self->rhs, n * sizeof(double));
  return YOKE_OK;
}

yoke_status yoke__projection_apply(yoke_projection* self, const double x[], double xdot[]) {
  const uint32_t n = self->n;
  yoke__equations_derivatives(self->equations, x, NULL, self->ahat, self->bhat);
  if (self->is_direct) {
    YOKE_TRY(renew(self, self->direct, self->ahat));
    // Ahat xdot = -bhat
    for (uint32_t j = 0; j < n; j++) {
      xdot[j] = -self->bhat[j];
    }
    yoke__sparse_solve(self->direct, 0, xdot);
    return YOKE_OK;
  }
  if (self->border != NULL) {
    return apply_bordered(self, xdot);
  }
  for (uint32_t k = 0; k < self->n_varying; k++) {
    copy_entry(self, self->varying[k]);
  }
  YOKE_TRY(renew(self, self->penalty, self->wide_values));
  memset(self->sigma, 0, n * sizeof(double));

  // augmented Lagrangian: sigma := mu after each pass
  for (int pass = 0; pass < self->settings.n_passes; pass++) {
    memcpy(self->rhs, xdot, n * sizeof(double));
    for (uint32_t i = 0; i < n; i++) {
      // right-hand side -bhat - sigma / alpha, 1 / alpha being the scale of the row
      self->rhs[n + i] = -self->bhat[i] - self->sigma[i] * self->scale[i];
    }
    solve_refined(self);
    memcpy(self->sigma, self->rhs + n, n * sizeof(double));
  }
  // every pass starts from the same xdot*: only the multipliers change
  memcpy(xdot, self->rhs, n * sizeof(double));
  return YOKE_OK;
}

uint64_t yoke__projection_n_repivots(const yoke_projection* self) {
  return self->n_repivots;
}
