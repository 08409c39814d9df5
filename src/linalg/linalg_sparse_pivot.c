// Pivots for a sparse matrix: right-looking elimination, each pivot the cheapest by the cost
// (r - 1)(c - 1) of H. Markowitz (Management Science 3, 1957), r and c being the entries left in
// its row and column, among those with |a| >= tolerance * max |column|. Candidates are looked for
// in the shortest rows and columns first and in a few of them only (I. S. Duff, A. M. Erisman, J. K.
// Reid, Direct Methods for Sparse Matrices, Oxford 1986, chapters 7 and 10). Rows are scaled by
// powers of two to a largest element in [0.5, 1) before.
//
// Entries whose value varies are followed through the elimination: as long as there are cheap
// pivots whose row and column hold none, these go first, and their part of the factors never has
// to be computed again.
//
// Lists of equal count are queues: what was touched last waits longest, so that the elimination
// works in many places at once and the dependency chains of the factors stay short.
//
// An entry below 2 eps of the largest in its column of the (scaled) matrix counts as zero: it is
// what rounding leaves of a cancellation. All space is laid out at create.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_sparse_part.h"

#define NONE              (-1)
#define ENOUGH_CANDIDATES 4  // lists searched after the first usable pivot

typedef struct node {
  double value;
  int32_t row, col;
  int32_t next[2], prev[2];  // neighbours in its row and in its column
} node;

// Rows are lines 0..n-1, columns n..2n-1. A line waits in the queue of its count.
struct yoke_sparse_pivoting {
  int32_t n;
  size_t n_nodes;
  node* nodes;
  uint8_t* is_dirty;  // by node
  int32_t first_free;
  size_t n_fresh;    // nodes never used so far
  int32_t* head;     // by line: first node
  int32_t* count;    // by line
  int32_t* n_dirty;  // by line
  uint8_t* is_queued;
  uint8_t* is_done;
  int32_t *queue_head, *queue_tail;  // by count, n + 1
  int32_t *queue_next, *queue_prev;  // by line
  int32_t lowest;                    // no queue below this has a line
  double *col_max, *zero;            // by column; col_max negative: not known
  int32_t* at;                       // by column: node of the row at hand
  double* scale;
  double n_operations;  // entries looked at or updated so far
};

yoke_sparse_pivoting* yoke__sparse_pivoting_create(const yoke_sparse_matrix* matrix, size_t n_nodes,
                                                   yoke_arena* arena) {
  const size_t n = (size_t)matrix->n;
  yoke_sparse_pivoting* self = yoke__arena_take(arena, sizeof *self);
  if (self == NULL) {
    return NULL;
  }
  self->n = matrix->n;
  self->n_nodes = n_nodes;
  self->nodes = yoke__arena_array(arena, n_nodes, sizeof *self->nodes);
  self->is_dirty = yoke__arena_array(arena, n_nodes, 1);
  int32_t** const lines[] = {&self->head, &self->count, &self->n_dirty, &self->queue_next,
                             &self->queue_prev};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    *lines[i] = yoke__arena_array(arena, 2 * n, sizeof(int32_t));
  }
  self->is_queued = yoke__arena_array(arena, 2 * n, 1);
  self->is_done = yoke__arena_array(arena, 2 * n, 1);
  self->queue_head = yoke__arena_array(arena, n + 1, sizeof(int32_t));
  self->queue_tail = yoke__arena_array(arena, n + 1, sizeof(int32_t));
  self->col_max = yoke__arena_array(arena, n, sizeof(double));
  self->zero = yoke__arena_array(arena, n, sizeof(double));
  self->at = yoke__arena_array(arena, n, sizeof(int32_t));
  self->scale = yoke__arena_array(arena, n, sizeof(double));
  return self;
}

// ---- nodes

static int32_t take_node(yoke_sparse_pivoting* self) {
  // places given back first: a chain through next[0]
  if (self->first_free != NONE) {
    const int32_t k = self->first_free;
    self->first_free = self->nodes[k].next[0];
    return k;
  }
  return self->n_fresh < self->n_nodes ? (int32_t)self->n_fresh++ : NONE;
}

static void free_node(yoke_sparse_pivoting* self, int32_t k) {
  self->nodes[k].next[0] = self->first_free;
  self->first_free = k;
}

static yoke_status add_node(yoke_sparse_pivoting* self, int32_t row, int32_t col, double value,
                            bool is_dirty) {
  const int32_t k = take_node(self);
  if (k == NONE) {
    return YOKE_FULL;
  }

  // each entry hangs in two chains, that of its row and that of its column
  const int32_t lines[2] = {row, self->n + col};
  self->nodes[k] = (node){.value = value, .row = row, .col = col};
  self->is_dirty[k] = is_dirty;
  for (int side = 0; side < 2; side++) {
    int32_t* const head = &self->head[lines[side]];
    self->nodes[k].next[side] = *head;
    self->nodes[k].prev[side] = NONE;
    if (*head != NONE) {
      self->nodes[*head].prev[side] = k;
    }
    *head = k;
    self->count[lines[side]]++;
    self->n_dirty[lines[side]] += is_dirty;
  }
  return YOKE_OK;
}

// side: 0 from its row, 1 from its column
static void unlink_node(yoke_sparse_pivoting* self, int32_t k, int side) {
  const node* a = &self->nodes[k];
  const int32_t line = side == 0 ? a->row : self->n + a->col;
  if (a->prev[side] != NONE) {
    self->nodes[a->prev[side]].next[side] = a->next[side];
  } else {
    self->head[line] = a->next[side];
  }
  if (a->next[side] != NONE) {
    self->nodes[a->next[side]].prev[side] = a->prev[side];
  }
  self->count[line]--;
  self->n_dirty[line] -= self->is_dirty[k];
}

// ---- queues

static void leave_queue(yoke_sparse_pivoting* self, int32_t line, int32_t count) {
  if (!self->is_queued[line]) {
    return;
  }
  const int32_t next = self->queue_next[line], prev = self->queue_prev[line];
  if (prev != NONE) {
    self->queue_next[prev] = next;
  } else {
    self->queue_head[count] = next;
  }
  if (next != NONE) {
    self->queue_prev[next] = prev;
  } else {
    self->queue_tail[count] = prev;
  }
  self->is_queued[line] = 0;
}

static void enter_queue(yoke_sparse_pivoting* self, int32_t line) {
  const int32_t count = self->count[line];
  const int32_t tail = self->queue_tail[count];
  self->queue_prev[line] = tail;
  self->queue_next[line] = NONE;
  if (tail != NONE) {
    self->queue_next[tail] = line;
  } else {
    self->queue_head[count] = line;
  }
  self->queue_tail[count] = line;
  self->is_queued[line] = 1;

  // no queue below `lowest` has a line in it
  self->lowest = count < self->lowest ? count : self->lowest;
}

// After the count of a line changed from the one it was queued with.
static void requeue(yoke_sparse_pivoting* self, int32_t line, int32_t old_count, bool clean_only) {
  // lines with varying entries stay out of the queues as long as clean pivots go first
  const bool may_wait = !clean_only || self->n_dirty[line] == 0;
  if (self->is_queued[line] && may_wait && old_count == self->count[line]) {
    return;
  }
  leave_queue(self, line, old_count);
  if (may_wait && !self->is_done[line]) {
    enter_queue(self, line);
  }
}

// ---- start

// 2^-e with max |row| in [2^(e-1), 2^e); 1 for a zero row
static void set_scales(yoke_sparse_pivoting* self, const yoke_sparse_matrix* matrix,
                       const double values[]) {
  for (int32_t i = 0; i < self->n; i++) {
    const double largest = yoke__sparse_row_max(matrix, values, i);
    int exponent = 0;
    // largest = f 2^e with f in [1/2, 1): powers of two scale without rounding
    (void)frexp(largest, &exponent);
    self->scale[i] = largest > 0.0 ? ldexp(1.0, -exponent) : 1.0;
  }
}

static yoke_status load(yoke_sparse_pivoting* self, const yoke_sparse_matrix* matrix,
                        const double values[], bool clean_only) {
  const int32_t n = self->n;
  self->first_free = NONE;
  self->n_fresh = 0;
  for (int32_t line = 0; line < 2 * n; line++) {
    self->head[line] = NONE;
    self->count[line] = 0;
    self->n_dirty[line] = 0;
    self->is_queued[line] = 0;
    self->is_done[line] = 0;
  }
  for (int32_t c = 0; c <= n; c++) {
    self->queue_head[c] = NONE;
    self->queue_tail[c] = NONE;
  }
  set_scales(self, matrix, values);
  for (int32_t j = 0; j < n; j++) {
    double largest = 0.0;
    for (int32_t e = matrix->starts[j]; e < matrix->starts[j + 1]; e++) {
      const int32_t i = matrix->rows[e];
      const double scaled = values[e] * self->scale[i];
      largest = fmax(largest, fabs(scaled));
      YOKE_TRY(add_node(self, i, j, scaled, matrix->varying[e] != 0));
    }
    // what an elimination of numbers of this size leaves of an exact zero
    self->zero[j] = 2.0 * DBL_EPSILON * largest;
    self->col_max[j] = -1.0;
    self->at[j] = NONE;
  }
  self->lowest = n;
  for (int32_t line = 0; line < 2 * n; line++) {
    if (!clean_only || self->n_dirty[line] == 0) {
      enter_queue(self, line);
    }
  }
  return YOKE_OK;
}

// ---- search

// computed when asked for: most columns are changed more often than looked at
static double col_max_of(yoke_sparse_pivoting* self, int32_t col) {
  if (self->col_max[col] < 0.0) {
    double largest = 0.0;
    for (int32_t k = self->head[self->n + col]; k != NONE; k = self->nodes[k].next[1]) {
      largest = fmax(largest, fabs(self->nodes[k].value));
    }
    self->col_max[col] = largest;
  }
  return self->col_max[col];
}

typedef struct choice {
  int32_t node;
  double cost;
  double ratio;  // |pivot| / max |column|
} choice;

static void consider(yoke_sparse_pivoting* self, int32_t k, double tolerance, bool clean_only,
                     choice* best) {
  const node* a = &self->nodes[k];
  const int32_t line = self->n + a->col;
  if (self->is_done[line] ||
      (clean_only && (self->n_dirty[a->row] != 0 || self->n_dirty[line] != 0))) {
    return;
  }

  // cost of Markowitz: the number of entries that this pivot updates
  const double cost = (double)(self->count[a->row] - 1) * (double)(self->count[line] - 1);
  if (cost > best->cost) {
    return;
  }

  // threshold |a| >= tolerance max |column| bounds the growth of each step by 1 + 1 / tolerance
  const double largest = col_max_of(self, a->col), size = fabs(a->value);
  if (size <= self->zero[a->col] || size < tolerance * largest) {
    return;
  }

  // of equal cost the relatively larger pivot
  const double ratio = size / largest;
  if (cost < best->cost || ratio > best->ratio) {
    *best = (choice){k, cost, ratio};
  }
}

static choice search(yoke_sparse_pivoting* self, double tolerance, bool clean_only) {
  choice best = {NONE, HUGE_VAL, 0.0};
  int n_searched = 0;

  // counts go up and down; the lowest queue in use is remembered and only moved up here
  while (self->lowest < self->n && self->queue_head[self->lowest] == NONE) {
    self->lowest++;
  }
  for (int32_t count = self->lowest; count <= self->n; count++) {
    for (int32_t line = self->queue_head[count]; line != NONE; line = self->queue_next[line]) {
      const bool is_row = line < self->n;
      self->n_operations += self->count[line];
      for (int32_t k = self->head[line]; k != NONE; k = self->nodes[k].next[is_row ? 0 : 1]) {
        consider(self, k, tolerance, clean_only, &best);
      }

      // longer lines cannot be cheaper; and a few candidates are enough
      n_searched += best.node != NONE;
      if (best.node != NONE && (n_searched >= ENOUGH_CANDIDATES ||
                                best.cost <= (double)(count - 1) * (double)(count - 1))) {
        return best;
      }
    }
  }
  return best;
}

// ---- elimination

// row i := row i - factor * pivot row, fill where it has no entry
static yoke_status update_row(yoke_sparse_pivoting* self, int32_t row, int32_t pivot_row,
                              double factor, bool is_dirty) {
  // the row spread out by column, so that each entry of the pivot row finds its partner at once
  for (int32_t k = self->head[row]; k != NONE; k = self->nodes[k].next[0]) {
    self->at[self->nodes[k].col] = k;
  }
  self->n_operations += self->count[row] + self->count[pivot_row];
  yoke_status status = YOKE_OK;

  // a_ic := a_ic - factor u_c; without a partner it is fill
  for (int32_t k = self->head[pivot_row]; k != NONE && status >= 0; k = self->nodes[k].next[0]) {
    const node* u = &self->nodes[k];
    const bool dirty = is_dirty || self->is_dirty[k];
    const int32_t hit = self->at[u->col];
    if (hit == NONE) {
      status = add_node(self, row, u->col, -factor * u->value, dirty);
      continue;
    }
    self->nodes[hit].value -= factor * u->value;
    if (dirty && !self->is_dirty[hit]) {
      self->is_dirty[hit] = 1;
      self->n_dirty[row]++;
      self->n_dirty[self->n + u->col]++;
    }
  }

  // undone entry by entry: clearing all n places would cost n per row
  for (int32_t k = self->head[row]; k != NONE; k = self->nodes[k].next[0]) {
    self->at[self->nodes[k].col] = NONE;
  }
  return status;
}

// The pivot's row leaves all columns but keeps its own chain; the pivot's column is taken apart.
static yoke_status eliminate(yoke_sparse_pivoting* self, int32_t pivot, bool clean_only) {
  const int32_t n = self->n, row = self->nodes[pivot].row, col = self->nodes[pivot].col;
  const double value = self->nodes[pivot].value;
  const bool is_dirty = self->is_dirty[pivot] != 0;
  leave_queue(self, row, self->count[row]);
  leave_queue(self, n + col, self->count[n + col]);
  self->is_done[row] = 1;
  self->is_done[n + col] = 1;
  unlink_node(self, pivot, 0);
  unlink_node(self, pivot, 1);

  // columns of the pivot row are queued again when all rows are done; until then out of the queues
  for (int32_t k = self->head[row]; k != NONE; k = self->nodes[k].next[0]) {
    const int32_t line = n + self->nodes[k].col;
    leave_queue(self, line, self->count[line]);
    unlink_node(self, k, 1);
    self->col_max[self->nodes[k].col] = -1.0;
  }

  // a_ik / pivot for every row with an entry in the pivot column
  for (int32_t k = self->head[n + col]; k != NONE;) {
    const int32_t next = self->nodes[k].next[1], i = self->nodes[k].row;
    const int32_t old_count = self->count[i];
    const bool dirty = is_dirty || self->is_dirty[k];
    unlink_node(self, k, 0);
    const double factor = self->nodes[k].value / value;
    free_node(self, k);
    YOKE_TRY(update_row(self, i, row, factor, dirty));
    requeue(self, i, old_count, clean_only);
    k = next;
  }

  // the pivot row is no longer needed: its nodes go back, its columns enter the queues with their
  // new counts
  for (int32_t k = self->head[row]; k != NONE;) {
    const int32_t next = self->nodes[k].next[0], line = n + self->nodes[k].col;
    requeue(self, line, self->count[line], clean_only);
    free_node(self, k);
    k = next;
  }
  free_node(self, pivot);
  return YOKE_OK;
}

double yoke__sparse_pivoting_operations(const yoke_sparse_pivoting* self) {
  return self->n_operations;
}

static void admit_all(yoke_sparse_pivoting* self) {
  // lines that were kept out because they hold varying entries
  for (int32_t line = 0; line < 2 * self->n; line++) {
    if (!self->is_queued[line] && !self->is_done[line]) {
      enter_queue(self, line);
    }
  }
}

static void name_singular(const yoke_sparse_pivoting* self, int32_t* column) {
  for (int32_t j = 0; j < self->n && column != NULL; j++) {
    if (!self->is_done[self->n + j]) {
      *column = j;
      return;
    }
  }
}

static bool are_finite(const yoke_sparse_matrix* matrix, const double values[], int32_t* column) {
  for (int32_t j = 0; j < matrix->n; j++) {
    for (int32_t e = matrix->starts[j]; e < matrix->starts[j + 1]; e++) {
      if (!yoke__is_finite(values[e])) {
        if (column != NULL) {
          *column = j;
        }
        return false;
      }
    }
  }
  return true;
}

yoke_status yoke__sparse_pivoting_run(yoke_sparse_pivoting* self, const yoke_sparse_matrix* matrix,
                                      const double values[], double tolerance, double clean_cost,
                                      yoke_sparse_order* order, int32_t* column) {
  bool clean_only = clean_cost >= 0.0;
  if (!are_finite(matrix, values, column)) {
    return YOKE_SINGULAR;
  }
  YOKE_TRY(load(self, matrix, values, clean_only));
  for (int32_t k = 0; k < self->n;) {
    const choice best = search(self, tolerance, clean_only);
    // clean pivots cheap enough are used up: from here on all lines compete
    if (clean_only && (best.node == NONE || best.cost > clean_cost)) {
      clean_only = false;
      admit_all(self);
      continue;
    }
    if (best.node == NONE) {
      name_singular(self, column);
      return YOKE_SINGULAR;
    }
    order->row[k] = self->nodes[best.node].row;
    order->col[k] = self->nodes[best.node].col;
    YOKE_TRY(eliminate(self, best.node, clean_only));
    k++;
  }
  return YOKE_OK;
}
