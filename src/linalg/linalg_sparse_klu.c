// KLU of SuiteSparse (T. A. Davis, E. Palamadai Natarajan, Algorithm 907, ACM Transactions on
// Mathematical Software 37, 2010): its choice of pivots for our own factors, and its refactor and
// solve as a kernel to compare with. Without the library (YOKE_HAVE_KLU not defined) everything
// here answers YOKE_NO_SUPPORT.
#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg_sparse_part.h"

#ifdef YOKE_HAVE_KLU

#include <klu.h>

// entries of L or U up to which memory may be laid out in advance: 400 MB, touched as far as used
#define LIMITED_MEMORY 16e6

struct yoke_sparse_klu {
  const yoke_sparse_matrix* matrix;
  klu_common common;
  klu_symbolic* symbolic;
  klu_numeric** numeric;  // per slot
  size_t n_slots;
  int32_t *starts, *rows;  // KLU wants them without const
  double* values;
};

static void set_up(klu_common* common, double tolerance, bool use_colamd) {
  (void)klu_defaults(common);
  common->tol = tolerance;
  common->ordering = use_colamd ? 1 : 0;
  common->btf = 1;
  common->scale = 2;  // by the largest of the row
}

static yoke_status status_of(const klu_common* common) {
  switch (common->status) {
  case KLU_OK:
    return YOKE_OK;
  case KLU_OUT_OF_MEMORY:
    return YOKE_NO_MEMORY;
  case KLU_SINGULAR:
    return YOKE_SINGULAR;
  case KLU_TOO_LARGE:
    return YOKE_FULL;
  default:
    return YOKE_BAD_ARG;
  }
}

static yoke_status copy_matrix(yoke_sparse_klu* self, yoke_arena* arena) {
  const yoke_sparse_matrix* m = self->matrix;
  const size_t n = (size_t)m->n, n_nonzeros = (size_t)m->n_nonzeros;
  self->starts = yoke__arena_array(arena, n + 1, sizeof *self->starts);
  self->rows = yoke__arena_array(arena, n_nonzeros, sizeof *self->rows);
  self->values = yoke__arena_array(arena, n_nonzeros, sizeof *self->values);
  YOKE_TRY(yoke__arena_status(arena));
  memcpy(self->starts, m->starts, (n + 1) * sizeof *self->starts);
  memcpy(self->rows, m->rows, n_nonzeros * sizeof *self->rows);
  return YOKE_OK;
}

static yoke_status create(const yoke_sparse_matrix* matrix, size_t n_slots, double tolerance,
                          bool use_colamd, yoke_arena* arena, yoke_sparse_klu** out) {
  yoke_sparse_klu* self = yoke__arena_take(arena, sizeof *self);
  YOKE_TRY(yoke__arena_status(arena));
  self->matrix = matrix;
  self->n_slots = n_slots;
  self->numeric = yoke__arena_array(arena, n_slots, sizeof(void*));
  YOKE_TRY(yoke__arena_status(arena));
  YOKE_TRY(copy_matrix(self, arena));
  set_up(&self->common, tolerance, use_colamd);
  self->symbolic = klu_analyze(matrix->n, self->starts, self->rows, &self->common);

  // a structurally singular pattern is no error before there are values
  if (self->symbolic == NULL) {
    return status_of(&self->common);
  }
  *out = self;
  return YOKE_OK;
}

static yoke_status create_for_slots(const yoke_sparse_matrix* matrix, size_t n_slots,
                                    double tolerance, yoke_arena* arena, yoke_sparse_klu** out) {
  return create(matrix, n_slots, tolerance, false, arena, out);
}

static void destroy(yoke_sparse_klu* self) {
  if (self == NULL) {
    return;
  }
  for (size_t i = 0; i < self->n_slots; i++) {
    (void)klu_free_numeric(&self->numeric[i], &self->common);
  }
  (void)klu_free_symbolic(&self->symbolic, &self->common);
}

// NaN and infinities are nothing that KLU refuses: false if there are any.
static bool copy_values(yoke_sparse_klu* self, const double values[]) {
  double check = 0.0;
  for (int32_t e = 0; e < self->matrix->n_nonzeros; e++) {
    self->values[e] = values[e];
    // 0 * v is NaN for a NaN or an infinity
    check += 0.0 * values[e];
  }
  return check == 0.0;
}

static yoke_status factor(yoke_sparse_klu* self, size_t slot, const double values[],
                          int32_t* singular_column) {
  klu_numeric** numeric = &self->numeric[slot];
  (void)klu_free_numeric(numeric, &self->common);
  if (!copy_values(self, values)) {
    return YOKE_SINGULAR;
  }
  self->common.singular_col = -1;
  *numeric = klu_factor(self->starts, self->rows, self->values, self->symbolic, &self->common);
  yoke_status status = status_of(&self->common);

  if (status == YOKE_OK && *numeric != NULL) {
    // the smallest over the largest pivot: 0 where KLU stored a pivot of zero
    (void)klu_rcond(self->symbolic, *numeric, &self->common);
    status = self->common.rcond > 0.0 ? YOKE_OK : YOKE_SINGULAR;
  }
  if (status == YOKE_SINGULAR) {
    if (singular_column != NULL && self->common.singular_col >= 0 &&
        self->common.singular_col < self->matrix->n) {
      *singular_column = self->common.singular_col;
    }
    (void)klu_free_numeric(numeric, &self->common);
  }
  return status;
}

static yoke_status refactor(yoke_sparse_klu* self, size_t slot, const double values[],
                            double growth_limit, double* growth) {
  klu_numeric* numeric = self->numeric[slot];
  if (numeric == NULL || !copy_values(self, values)) {
    return YOKE_SINGULAR;
  }
  if (!klu_refactor(self->starts, self->rows, self->values, self->symbolic, numeric,
                    &self->common)) {
    return YOKE_SINGULAR;
  }

  // KLU's growth is the smallest ratio max |a| / max |u| over columns; ours is its inverse
  (void)klu_rgrowth(self->starts, self->rows, self->values, self->symbolic, numeric, &self->common);
  *growth = 1.0 / self->common.rgrowth;
  (void)klu_rcond(self->symbolic, numeric, &self->common);
  return *growth <= growth_limit && self->common.rcond > 0.0 ? YOKE_OK : YOKE_SINGULAR;
}

static void solve(yoke_sparse_klu* self, size_t slot, double b[]) {
  (void)klu_solve(self->symbolic, self->numeric[slot], self->matrix->n, 1, b, &self->common);
}

static size_t n_factors(const yoke_sparse_klu* self) {
  const klu_numeric* numeric = self->numeric[0];
  return numeric == NULL ? 0 : (size_t)numeric->lnz + (size_t)numeric->unz;
}

static double rcond(yoke_sparse_klu* self, size_t slot) {
  (void)klu_rcond(self->symbolic, self->numeric[slot], &self->common);
  return self->common.rcond;
}

// KLU lays out memory for L and U of a block, f * (its estimate) entries each, and makes it memgrow
// times as large when it is used up; a size beyond that of int ends the factorisation. So a huge
// memgrow stops it at the memory it starts with. f: the smallest that lets no block stop with
// max_entries or fewer in L and U together; a block of size m never has more than m (m + 1).
static void limit_fill(yoke_sparse_klu* self, double max_entries) {
  const klu_symbolic* s = self->symbolic;
  double f = 1.0, most = 0.0;
  if (max_entries == HUGE_VAL) {
    return;
  }

  // the fill of a block of size m is bounded by m (m + 1) / 2 in L and in U each
  for (int32_t b = 0; b < s->nblocks; b++) {
    const double size = (double)(s->R[b + 1] - s->R[b]);
    const double a = (double)(self->starts[s->R[b + 1]] - self->starts[s->R[b]]);
    const double estimate = s->Lnz[b] < 0.0 ? a : s->Lnz[b];
    if (size > 1.0) {
      f = fmax(f, fmin(0.5 * max_entries + size, 0.5 * size * (size + 1.0)) / fmax(1.0, estimate));
      most = fmax(most, estimate + size);
    }
  }
  // not limited where blocks are so unequal that what a small one needs is too much for the largest
  if (f * most <= LIMITED_MEMORY) {
    self->common.initmem = f;
    self->common.initmem_amd = f;
    self->common.memgrow = DBL_MAX;
  }
}

static double count_operations(yoke_sparse_klu* self, yoke_status status, double max_entries) {
  if (status != YOKE_OK) {
    return status == YOKE_FULL ? max_entries : 0.0;
  }
  (void)klu_flops(self->symbolic, self->numeric[0], &self->common);
  return (double)n_factors(self) + self->common.flops;
}

static yoke_status order_by_klu(const yoke_sparse_matrix* matrix, const double values[],
                                double tolerance, bool use_colamd, double max_entries,
                                yoke_sparse_order* order, double* n_operations) {
  yoke_arena arena = {0};
  yoke_sparse_klu* self = NULL;
  yoke_status status = create(matrix, 1, tolerance, use_colamd, &arena, &self);
  if (self != NULL) {
    limit_fill(self, max_entries);
    // the factorisation itself is the only way to know the pivots: thresholds depend on values
    status = factor(self, 0, values, NULL);
    *n_operations += count_operations(self, status, max_entries);
  }
  if (self != NULL && status == YOKE_OK && (double)n_factors(self) > max_entries) {
    status = YOKE_FULL;
  }
  if (self != NULL && status == YOKE_OK) {
    const size_t bytes = (size_t)matrix->n * sizeof *order->row;
    memcpy(order->row, self->numeric[0]->Pnum, bytes);
    memcpy(order->col, self->symbolic->Q, bytes);
  }
  destroy(self);
  yoke__arena_free(&arena);
  return status;
}


static const yoke_sparse_klu_ops operations = {.order = order_by_klu,
                                               .create = create_for_slots,
                                               .destroy = destroy,
                                               .factor = factor,
                                               .refactor = refactor,
                                               .solve = solve,
                                               .n_factors = n_factors,
                                               .rcond = rcond};
const yoke_sparse_klu_ops* const yoke__sparse_klu = &operations;
#else
const yoke_sparse_klu_ops* const yoke__sparse_klu = NULL;
#endif
