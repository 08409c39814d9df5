// Solution with the factors of linalg_sparse_list.c, b := A \ b:
//
//   forward    w_k = b_row(k) - sum_j l_kj w_j                    ones on the diagonal of L
//   backward   x_col(k) = (w_k - sum_c u_kc x_col(c)) / u_kk      reciprocal pivots
//
// The work vector is numbered in the order of the backward sweep, and the values of L and U lie in
// the order in which they are read: only the factors of the products are gathered. Rows are sorted
// by the level of their dependence, within a level by their length; rows of equal length form a run
// with one branch-free loop. Levels go through the lengths up and down in turn, so that runs join.
#include <string.h>

#include "linalg/linalg_sparse_part.h"

#define MAX_LANES  2
#define MAX_LENGTH 2  // of rows in chains
#define MIN_CHAIN  8  // rows

yoke_status yoke__sparse_sweeps_create(int32_t n, size_t capacity, yoke_arena* arena,
                                       yoke_sparse_sweeps* out) {
  const size_t rows = (size_t)n;
  *out = (yoke_sparse_sweeps){0};
  yoke_sparse_sweep* const sweeps[] = {&out->forward, &out->backward};
  for (size_t i = 0; i < 2; i++) {
    sweeps[i]->runs = yoke__arena_array(arena, rows, sizeof *sweeps[i]->runs);
    sweeps[i]->row = yoke__arena_array(arena, rows, sizeof(int32_t));
    sweeps[i]->index = yoke__arena_array(arena, capacity, sizeof(int32_t));
  }
  out->target = yoke__arena_array(arena, rows, sizeof(int32_t));
  out->place = yoke__arena_array(arena, capacity, sizeof(int32_t));
  out->level = yoke__arena_array(arena, rows, sizeof(int32_t));
  out->bucket = yoke__arena_array(arena, 2 * rows + 2, sizeof(int32_t));
  out->sorted = yoke__arena_array(arena, 2 * rows, sizeof(int32_t));
  out->w = yoke__arena_array(arena, rows, sizeof(double));
  return yoke__arena_status(arena);
}

// ---- compile

// Order of the rows of one factor into self->sorted: by level, then by length, upwards in even levels
// and downwards in odd ones; otherwise as they come, so that chains side by side keep their sides.
static void sort_rows(yoke_sparse_sweeps* self, const int32_t start[], int32_t n, int32_t key[]) {
  int32_t* natural = self->sorted + n;

  // rows in their own order, which a stable sort keeps among equals
  for (int32_t k = 0; k < n; k++) {
    const int32_t length = start[k + 1] - start[k];
    natural[k] = k;
    // downwards in odd levels: n - length sorts the other way with the same counting sort
    key[k] = self->level[k] % 2 == 0 ? length : n - length;
  }

  // sorting by the lesser key first and then stably by the greater one orders by both
  yoke__sparse_sort(key, n + 1, natural, n, self->sorted, self->bucket);
  memcpy(natural, self->sorted, (size_t)n * sizeof *natural);
  yoke__sparse_sort(self->level, n + 1, natural, n, self->sorted, self->bucket);
}

// The entry of row k in column c; -1: none.
static int32_t find_entry(const int32_t start[], const int32_t col[], int32_t k, int32_t c) {
  for (int32_t e = start[k]; e < start[k + 1]; e++) {
    if (col[e] == c) {
      return e;
    }
  }
  return -1;
}

// How many rows from the i-th on are of the same length and need the row n_lanes before them.
static int32_t chain_extent(const int32_t start[], const int32_t col[], const int32_t sorted[],
                            int32_t n, int32_t i, int32_t n_lanes) {
  const int32_t length = start[sorted[i] + 1] - start[sorted[i]];
  int32_t end = i;

  // row `end` reads the result of the row n_lanes before it
  while (end < n && start[sorted[end] + 1] - start[sorted[end]] == length &&
         (end < i + n_lanes || find_entry(start, col, sorted[end], sorted[end - n_lanes]) >= 0)) {
    end++;
  }
  return end - i;
}

static void add_rows(yoke_sparse_sweep* sweep, yoke_sparse_run rows) {
  yoke_sparse_run* last = sweep->n_runs > 0 ? &sweep->runs[sweep->n_runs - 1] : NULL;
  if (last != NULL && rows.n_lanes == 0 && last->n_lanes == 0 && last->length == rows.length) {
    last->n_rows += rows.n_rows;
  } else {
    sweep->runs[sweep->n_runs++] = rows;
  }
}

static void make_runs(yoke_sparse_sweep* sweep, const int32_t start[], const int32_t col[],
                      const int32_t sorted[], int32_t n) {
  sweep->n_runs = 0;
  for (int32_t i = 0; i < n;) {
    yoke_sparse_run rows = {start[sorted[i] + 1] - start[sorted[i]], 1, 0};
    // one chain or two side by side, whichever covers more rows
    for (int32_t n_lanes = 1; n_lanes <= MAX_LANES && rows.length > 0 && rows.length <= MAX_LENGTH;
         n_lanes++) {
      const int32_t extent = chain_extent(start, col, sorted, n, i, n_lanes);
      if (extent >= MIN_CHAIN && extent > rows.n_rows) {
        rows.n_rows = extent;
        rows.n_lanes = n_lanes;
      }
    }
    add_rows(sweep, rows);
    i += rows.n_rows;
  }
}

// Entries of the i-th row in the order in which they are read: for chains the one in front of it
// last. The first rows of a chain take any order.
static void arrange(const int32_t start[], const int32_t col[], const int32_t sorted[], int32_t i,
                    int32_t in_run, int32_t n_lanes, int32_t order[]) {
  // the entry of the row before in the chain comes last: its factor is the one that is waited for
  const int32_t k = sorted[i];
  int32_t at = 0, last = -1;
  if (n_lanes > 0 && in_run >= n_lanes) {
    last = find_entry(start, col, k, sorted[i - n_lanes]);
  }
  for (int32_t e = start[k]; e < start[k + 1]; e++) {
    if (e != last) {
      order[at++] = e;
    }
  }
  if (last >= 0) {
    order[at] = last;
  }
}

// Rows of a sweep one after the other, with the numbers of their entries.
typedef struct cursor {
  const yoke_sparse_run* run;
  int32_t in_run;
} cursor;

static void next_row(cursor* c) {
  c->in_run++;
  if (c->in_run == c->run->n_rows) {
    c->run++;
    c->in_run = 0;
  }
}

// Backward first: it numbers the work vector. bucket is free by then and holds the order of a row.
static void make_sweep(yoke_sparse_sweeps* self, const yoke_sparse_factors* f, int32_t n,
                       bool is_forward) {
  yoke_sparse_sweep* sweep = is_forward ? &self->forward : &self->backward;
  const int32_t *start = is_forward ? f->l_start : f->u_start,
                *col = is_forward ? f->l_col : f->u_col;
  const int32_t first = is_forward ? n : n + f->l_start[n];  // id of the first entry

  // level of a row: longest chain of rows it waits for; U is walked from the last row
  for (int32_t i = 0; i < n; i++) {
    const int32_t k = is_forward ? i : n - 1 - i;
    self->level[k] = 0;
    for (int32_t e = start[k]; e < start[k + 1]; e++) {
      self->level[k] = yoke__sparse_larger(self->level[k], self->level[col[e]] + 1);
    }
  }
  sort_rows(self, start, n, f->work);
  make_runs(sweep, start, col, self->sorted, n);

  int32_t at = 0;
  cursor c = {sweep->runs, 0};
  for (int32_t i = 0; i < n; i++, next_row(&c)) {
    const int32_t k = self->sorted[i], length = c.run->length;
    if (is_forward) {
      self->target[i] = self->place[k];
    } else {
      // the backward sweep writes w in the order in which it reads it
      self->place[k] = i;
    }
    sweep->row[i] = is_forward ? f->order.row[k] : f->order.col[k];
    arrange(start, col, self->sorted, i, c.in_run, c.run->n_lanes, self->bucket);
    for (int32_t p = 0; p < length; p++, at++) {
      const int32_t e = self->bucket[p];
      self->place[first + e] = first + at;
      sweep->index[at] = is_forward ? self->place[col[e]] : f->order.col[col[e]];
    }
  }
}

void yoke__sparse_sweeps_make(yoke_sparse_sweeps* self, const yoke_sparse_factors* factors,
                              int32_t n) {
  make_sweep(self, factors, n, false);
  make_sweep(self, factors, n, true);
}

// ---- run

static inline double reduce(double s, ptrdiff_t length, const double value[], const int32_t index[],
                            const double x[]) {
  // s - sum value x, in the order of storage
  for (ptrdiff_t p = 0; p < length; p++) {
    s -= value[p] * x[index[p]];
  }
  return s;
}

static inline void forward_rows(ptrdiff_t length, int32_t n_rows, const double value[],
                                const int32_t index[], const int32_t row[], const int32_t target[],
                                const double b[], double w[]) {
  for (int32_t i = 0; i < n_rows; i++) {
    w[target[i]] = reduce(b[row[i]], length, value, index, w);
    value += length;
    index += length;
  }
}

static inline void backward_rows(ptrdiff_t length, int32_t n_rows, const double value[],
                                 const int32_t index[], const int32_t row[], const double w[],
                                 const double pivot[], double b[]) {
  for (int32_t i = 0; i < n_rows; i++) {
    b[row[i]] = reduce(w[i], length, value, index, b) * pivot[i];
    value += length;
    index += length;
  }
}

// Chains: the result goes on to the row n_lanes behind in a register, which takes half the time of
// the way through memory; two chains side by side fill each other's waiting.
static inline void forward_chain(ptrdiff_t length, int32_t n_rows, const double value[],
                                 const int32_t index[], const int32_t row[], const int32_t target[],
                                 const double b[], double w[]) {
  // first row: its last entry was read from memory anyway, as the rows before lie outside the chain
  double carry = w[index[length - 1]];
  for (int32_t i = 0; i < n_rows; i++) {
    const double s = reduce(b[row[i]], length - 1, value, index, w);
    carry = s - value[length - 1] * carry;
    w[target[i]] = carry;
    value += length;
    index += length;
  }
}

static inline void forward_pair(ptrdiff_t length, int32_t n_rows, const double value[],
                                const int32_t index[], const int32_t row[], const int32_t target[],
                                const double b[], double w[]) {
  // one register for each of the two chains
  double left = w[index[length - 1]], right = w[index[2 * length - 1]];
  int32_t i = 0;
  for (; i + 2 <= n_rows; i += 2) {
    const double s = reduce(b[row[i]], length - 1, value, index, w);
    const double t = reduce(b[row[i + 1]], length - 1, value + length, index + length, w);
    left = s - value[length - 1] * left;
    right = t - value[2 * length - 1] * right;
    w[target[i]] = left;
    w[target[i + 1]] = right;
    value += 2 * length;
    index += 2 * length;
  }

  // an odd row is left over
  forward_rows(length, n_rows - i, value, index, row + i, target + i, b, w);
}

static inline void backward_chain(ptrdiff_t length, int32_t n_rows, const double value[],
                                  const int32_t index[], const int32_t row[], const double w[],
                                  const double pivot[], double b[]) {
  double carry = b[index[length - 1]];
  for (int32_t i = 0; i < n_rows; i++) {
    const double s = reduce(w[i], length - 1, value, index, b);
    carry = (s - value[length - 1] * carry) * pivot[i];
    b[row[i]] = carry;
    value += length;
    index += length;
  }
}

static inline void backward_pair(ptrdiff_t length, int32_t n_rows, const double value[],
                                 const int32_t index[], const int32_t row[], const double w[],
                                 const double pivot[], double b[]) {
  double left = b[index[length - 1]], right = b[index[2 * length - 1]];
  int32_t i = 0;
  for (; i + 2 <= n_rows; i += 2) {
    const double s = reduce(w[i], length - 1, value, index, b);
    const double t = reduce(w[i + 1], length - 1, value + length, index + length, b);
    left = (s - value[length - 1] * left) * pivot[i];
    right = (t - value[2 * length - 1] * right) * pivot[i + 1];
    b[row[i]] = left;
    b[row[i + 1]] = right;
    value += 2 * length;
    index += 2 * length;
  }
  backward_rows(length, n_rows - i, value, index, row + i, w + i, pivot + i, b);
}

// loops of their own for short rows and chains; `plain`, `chain` and `pair` are calls of the functions
// above with the length open
#define BY_LENGTH(run, plain, chain, pair)                                                         \
  switch ((run).n_lanes * 8 + ((run).length < 5 ? (run).length : 5)) {                             \
  case 0:                                                                                          \
    plain(0);                                                                                      \
    break;                                                                                         \
  case 1:                                                                                          \
    plain(1);                                                                                      \
    break;                                                                                         \
  case 2:                                                                                          \
    plain(2);                                                                                      \
    break;                                                                                         \
  case 3:                                                                                          \
    plain(3);                                                                                      \
    break;                                                                                         \
  case 4:                                                                                          \
    plain(4);                                                                                      \
    break;                                                                                         \
  case 8 + 1:                                                                                      \
    chain(1);                                                                                      \
    break;                                                                                         \
  case 8 + 2:                                                                                      \
    chain(2);                                                                                      \
    break;                                                                                         \
  case 16 + 1:                                                                                     \
    pair(1);                                                                                       \
    break;                                                                                         \
  case 16 + 2:                                                                                     \
    pair(2);                                                                                       \
    break;                                                                                         \
  default:                                                                                         \
    plain((run).length);                                                                           \
    break;                                                                                         \
  }

static void run_forward(const yoke_sparse_sweep* sweep, const int32_t target[],
                        const double value[], const double b[], double w[]) {
  const int32_t *index = sweep->index, *row = sweep->row;
#define PLAIN(length) forward_rows(length, run.n_rows, value, index, row, target, b, w)
#define CHAIN(length) forward_chain(length, run.n_rows, value, index, row, target, b, w)
#define PAIR(length)  forward_pair(length, run.n_rows, value, index, row, target, b, w)
  for (int32_t r = 0; r < sweep->n_runs; r++) {
    const yoke_sparse_run run = sweep->runs[r];
    BY_LENGTH(run, PLAIN, CHAIN, PAIR);
    row += run.n_rows;
    target += run.n_rows;
    value += (size_t)run.length * (size_t)run.n_rows;
    index += (size_t)run.length * (size_t)run.n_rows;
  }
#undef PLAIN
#undef CHAIN
#undef PAIR
}

static void run_backward(const yoke_sparse_sweep* sweep, const double pivot[], const double value[],
                         const double w[], double b[]) {
  const int32_t *index = sweep->index, *row = sweep->row;
#define PLAIN(length) backward_rows(length, run.n_rows, value, index, row, w, pivot, b)
#define CHAIN(length) backward_chain(length, run.n_rows, value, index, row, w, pivot, b)
#define PAIR(length)  backward_pair(length, run.n_rows, value, index, row, w, pivot, b)
  for (int32_t r = 0; r < sweep->n_runs; r++) {
    const yoke_sparse_run run = sweep->runs[r];
    BY_LENGTH(run, PLAIN, CHAIN, PAIR);
    row += run.n_rows;
    w += run.n_rows;
    pivot += run.n_rows;
    value += (size_t)run.length * (size_t)run.n_rows;
    index += (size_t)run.length * (size_t)run.n_rows;
  }
#undef PLAIN
#undef CHAIN
#undef PAIR
}

void yoke__sparse_sweeps_run(const yoke_sparse_sweeps* self, int32_t n, int32_t n_l,
                             const double values[], double b[]) {
  // L w = b
  run_forward(&self->forward, self->target, values + n, b, self->w);

  // U x = w
  run_backward(&self->backward, values, values + n + n_l, self->w, b);
}
