// Rows of L and U for given pivots, without regard to values: row k of the permuted matrix plus the
// rows of U that its entries in L bring in, kept as a sorted linked list while it grows (as in Y.
// Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., section 10.3). An entry varies if its
// value in the matrix does or if anything that is multiplied into it does.
#include <string.h>

#include "linalg/linalg_sparse_part.h"

yoke_status yoke__sparse_factors_create(const yoke_sparse_matrix* matrix, size_t capacity,
                                        yoke_arena* arena, yoke_sparse_factors* out) {
  const size_t n = (size_t)matrix->n;
  *out = (yoke_sparse_factors){.capacity = capacity};
  out->l_start = yoke__arena_array(arena, n + 1, sizeof(int32_t));
  out->u_start = yoke__arena_array(arena, n + 1, sizeof(int32_t));
  out->l_col = yoke__arena_array(arena, capacity, sizeof(int32_t));
  out->u_col = yoke__arena_array(arena, capacity, sizeof(int32_t));
  out->inverse_col = yoke__arena_array(arena, n, sizeof(int32_t));
  out->inverse_row = yoke__arena_array(arena, n, sizeof(int32_t));
  out->order.row = yoke__arena_array(arena, n, sizeof(int32_t));
  out->order.col = yoke__arena_array(arena, n, sizeof(int32_t));
  out->source = yoke__arena_array(arena, capacity, sizeof(int32_t));
  out->is_dirty = yoke__arena_array(arena, capacity, 1);
  out->work = yoke__arena_array(arena, 2 * n + 1, sizeof(int32_t));
  return yoke__arena_status(arena);
}

// Puts a column into the sorted list behind `from`; returns its place. next[n] is the list's head,
// n its end.
static int32_t insert(int32_t next[], int32_t from, int32_t col, int32_t* n_new) {
  // invariant: next[from] >= col never skips an entry, because columns of a row of U ascend
  while (next[from] < col) {
    from = next[from];
  }
  if (next[from] != col) {
    next[col] = next[from];
    next[from] = col;
    (*n_new)++;
  }
  return col;
}

// Columns of row k, ascending, from the matrix and the rows of U above; returns their number.
static int32_t merge_row(yoke_sparse_factors* self, const yoke_sparse_matrix* matrix, int32_t k,
                         int32_t next[]) {
  const int32_t n = matrix->n, i = self->order.row[k];
  int32_t count = 0;

  // the head lies behind the last column, so that every comparison with it works
  next[n] = n;
  for (int32_t e = matrix->row_starts[i]; e < matrix->row_starts[i + 1]; e++) {
    (void)insert(next, n, self->inverse_col[matrix->cols[e]], &count);
  }

  // row j of U is merged behind its own column: all its entries lie to the right of j
  for (int32_t j = next[n]; j < k; j = next[j]) {
    int32_t from = j;
    self->n_merged += self->u_start[j + 1] - self->u_start[j];
    for (int32_t e = self->u_start[j]; e < self->u_start[j + 1]; e++) {
      from = insert(next, from, self->u_col[e], &count);
    }
  }
  return count;
}

static yoke_status make_pattern(yoke_sparse_factors* self, const yoke_sparse_matrix* matrix) {
  const int32_t n = matrix->n;
  int32_t* next = self->work;
  self->n_merged = 0.0;
  self->l_start[0] = 0;
  self->u_start[0] = 0;
  for (int32_t k = 0; k < n; k++) {
    const int32_t count = merge_row(self, matrix, k, next);
    int32_t n_l = self->l_start[k], n_u = self->u_start[k];
    if ((size_t)n + (size_t)n_l + (size_t)n_u + (size_t)count > self->capacity) {
      return YOKE_FULL;
    }
    for (int32_t j = next[n]; j < n; j = next[j]) {
      if (j < k) {
        self->l_col[n_l++] = j;
      } else if (j > k) {
        self->u_col[n_u++] = j;
      }
    }
    self->l_start[k + 1] = n_l;
    self->u_start[k + 1] = n_u;
  }
  return YOKE_OK;
}

// ids of row k by column: pivots k, then L, then U
void yoke__sparse_mark_row(const yoke_sparse_factors* self, int32_t n, int32_t k, int32_t id_of[]) {
  const int32_t n_l = self->l_start[n];
  for (int32_t e = self->l_start[k]; e < self->l_start[k + 1]; e++) {
    id_of[self->l_col[e]] = n + e;
  }
  id_of[k] = k;
  for (int32_t e = self->u_start[k]; e < self->u_start[k + 1]; e++) {
    id_of[self->u_col[e]] = n + n_l + e;
  }
}

static void find_sources(yoke_sparse_factors* self, const yoke_sparse_matrix* matrix, int32_t k,
                         const int32_t id_of[]) {
  const int32_t i = self->order.row[k];
  for (int32_t e = matrix->row_starts[i]; e < matrix->row_starts[i + 1]; e++) {
    const int32_t id = id_of[self->inverse_col[matrix->cols[e]]];
    self->source[id] = matrix->at[e];
    // a source of -1 stays where fill comes in
    self->is_dirty[id] = matrix->varying[matrix->at[e]];
  }
}

// What varies in row k, and how many operations depend on it.
static void spread_dirt(yoke_sparse_factors* self, int32_t n, int32_t k, const int32_t id_of[]) {
  // l_km u_mc varies if either factor does; l_km itself does if its pivot does
  const int32_t n_l = self->l_start[n];
  for (int32_t e = self->l_start[k]; e < self->l_start[k + 1]; e++) {
    const int32_t m = self->l_col[e];
    self->is_dirty[n + e] |= self->is_dirty[m];
    for (int32_t f = self->u_start[m]; f < self->u_start[m + 1]; f++) {
      const int32_t id = id_of[self->u_col[f]];
      self->is_dirty[id] |= self->is_dirty[n + e] | self->is_dirty[n + n_l + f];
    }
  }
}

static void count_dirty(yoke_sparse_factors* self, int32_t n, int32_t k, const int32_t id_of[]) {
  // products into entries that vary, plus one multiplication by the pivot per varying l
  for (int32_t e = self->l_start[k]; e < self->l_start[k + 1]; e++) {
    const int32_t m = self->l_col[e];
    for (int32_t f = self->u_start[m]; f < self->u_start[m + 1]; f++) {
      self->n_dirty_operations += self->is_dirty[id_of[self->u_col[f]]];
    }
    self->n_dirty_operations += self->is_dirty[n + e];
  }
}

yoke_status yoke__sparse_factors_make(yoke_sparse_factors* self, const yoke_sparse_matrix* matrix) {
  const int32_t n = matrix->n;
  for (int32_t k = 0; k < n; k++) {
    self->inverse_col[self->order.col[k]] = k;
    self->inverse_row[self->order.row[k]] = k;
  }
  YOKE_TRY(make_pattern(self, matrix));

  const size_t n_entries = (size_t)yoke__sparse_n_entries(self, n);
  for (size_t id = 0; id < n_entries; id++) {
    self->source[id] = -1;
  }
  memset(self->is_dirty, 0, n_entries);
  self->n_dirty_operations = 0.0;
  for (int32_t k = 0; k < n; k++) {
    yoke__sparse_mark_row(self, n, k, self->work);
    find_sources(self, matrix, k, self->work);
    spread_dirt(self, n, k, self->work);
    count_dirty(self, n, k, self->work);
  }
  return YOKE_OK;
}
