// Front of the sparse solver: chooses the kernel, lays out memory, keeps slots and counts.
//
// Several orders of pivots are tried in factor: own ones (linalg_sparse_pivot.c) without and with a
// preference for pivots away from varying entries, and KLU's with AMD and COLAMD. The one stays that
// promises the shortest refactor and solve: operations count, and so do chains of dependence.
// Repivot uses own pivots only.
#include "linalg/linalg_sparse.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_sparse_part.h"

#define DENSE_MAX       4                // AUTO: beyond, the list wins; bench/bench_sparse.c
#define MAX_PRODUCTS    (64u << 20)      // 512 MB of the list
#define MAX_ENTRIES     (INT32_MAX / 8)  // of the factors, so that indices fit
#define GENEROUS_N      400              // below, the reserve may be as large as a full matrix
#define CAREFUL_GROWTH  100.0            // above, factor and repivot try a stricter threshold
#define CAREFUL_WORK    10.0  // times the work of factors that grow is worth others that do not
#define GROWTH_LIMIT    1e8
#define PIVOT_TOLERANCE 0.01  // to start with

struct yoke_sparse {
  yoke_sparse_matrix matrix;
  yoke_sparse_settings settings;  // resolved
  yoke_sparse_stats stats;
  yoke_arena* arena;
  size_t n_slots;
  uint8_t* is_valid;  // by slot
  double* lu;         // slots one behind the other
  size_t lu_stride;   // doubles of a slot
  double* scale;      // by row of the matrix: 1 / max |row|
  double* work;       // n
  double clean_cost;  // of own pivots
  // list
  size_t capacity;
  yoke_sparse_factors factors;
  yoke_sparse_sweeps sweeps;
  yoke_sparse_list list;
  yoke_sparse_pivoting* pivoting;
  yoke_sparse_order spare, fallback, previous;  // of repivot: tried, best so far, as before
  // dense
  int32_t* place;  // by value
  int32_t* rows;   // slots of n
  // KLU
  yoke_sparse_klu* klu;
};

// ---- create

static bool is_pattern(const yoke_sparse_pattern* p) {
  if (p == NULL || p->n < 0 || p->starts == NULL || p->starts[0] != 0 ||
      (p->n > 0 && p->rows == NULL)) {
    return false;
  }
  for (int32_t j = 0; j < p->n; j++) {
    if (p->starts[j + 1] < p->starts[j]) {
      return false;
    }
    // rows strictly ascending within a column: no entry twice
    for (int32_t e = p->starts[j]; e < p->starts[j + 1]; e++) {
      const bool ascends = e == p->starts[j] || p->rows[e] > p->rows[e - 1];
      if (p->rows[e] < 0 || p->rows[e] >= p->n || !ascends) {
        return false;
      }
    }
  }
  return p->starts[p->n] <= MAX_ENTRIES;
}

// Rows from columns: a counting sort, so columns ascend within a row.
static void make_rows(int32_t n, const int32_t starts[], const int32_t rows[], int32_t row_starts[],
                      int32_t cols[], int32_t at[]) {
  // entries per row, shifted by one
  for (int32_t e = 0; e < starts[n]; e++) {
    row_starts[rows[e] + 1]++;
  }

  // first positions by summing up
  for (int32_t i = 0; i < n; i++) {
    row_starts[i + 1] += row_starts[i];
  }
  for (int32_t j = 0; j < n; j++) {
    for (int32_t e = starts[j]; e < starts[j + 1]; e++) {
      const int32_t to = row_starts[rows[e]]++;
      cols[to] = j;
      at[to] = e;
    }
  }

  // filling moved each start to the next row's: shift back
  memmove(row_starts + 1, row_starts, (size_t)n * sizeof *row_starts);
  row_starts[0] = 0;
}

static yoke_status copy_pattern(yoke_sparse* self, const yoke_sparse_pattern* p) {
  const size_t n = (size_t)p->n, n_nonzeros = (size_t)p->starts[p->n];
  int32_t* starts = yoke__arena_array(self->arena, n + 1, sizeof *starts);
  int32_t* rows = yoke__arena_array(self->arena, n_nonzeros, sizeof *rows);
  int32_t* row_starts = yoke__arena_array(self->arena, n + 1, sizeof *row_starts);
  int32_t* cols = yoke__arena_array(self->arena, n_nonzeros, sizeof *cols);
  int32_t* at = yoke__arena_array(self->arena, n_nonzeros, sizeof *at);
  uint8_t* varying = yoke__arena_array(self->arena, n_nonzeros, 1);
  YOKE_TRY(yoke__arena_status(self->arena));
  memcpy(starts, p->starts, (n + 1) * sizeof *starts);
  if (n_nonzeros > 0) {
    memcpy(rows, p->rows, n_nonzeros * sizeof *rows);
  }
  for (size_t e = 0; e < n_nonzeros; e++) {
    varying[e] = p->varying == NULL || p->varying[e] != 0;
  }
  make_rows(p->n, starts, rows, row_starts, cols, at);
  self->matrix = (yoke_sparse_matrix){.n = p->n,
                                      .n_nonzeros = p->starts[p->n],
                                      .starts = starts,
                                      .rows = rows,
                                      .row_starts = row_starts,
                                      .cols = cols,
                                      .at = at,
                                      .varying = varying};
  return YOKE_OK;
}

// n blocks of count elements; NULL also when the size overflows (addresses may have 32 bits).
static void* take_blocks(yoke_arena* arena, size_t n, size_t count, size_t size) {
  return yoke__arena_array(arena, count > 0 && n > SIZE_MAX / count ? SIZE_MAX : n * count, size);
}

static yoke_status create_dense(yoke_sparse* self) {
  const size_t n = (size_t)self->matrix.n;
  if (n > 4096) {
    return YOKE_BAD_ARG;  // 128 MB, and hours of work
  }
  // rows of the scaled copy that decides on the rank come behind the slots
  self->lu_stride = n * n;
  self->lu = take_blocks(self->arena, self->n_slots + 1, n * n, sizeof *self->lu);
  self->rows = take_blocks(self->arena, self->n_slots + 1, n, sizeof *self->rows);
  self->place =
      yoke__arena_array(self->arena, (size_t)self->matrix.n_nonzeros, sizeof *self->place);
  YOKE_TRY(yoke__arena_status(self->arena));

  // (i, j) at i n + j
  for (int32_t j = 0; j < self->matrix.n; j++) {
    for (int32_t e = self->matrix.starts[j]; e < self->matrix.starts[j + 1]; e++) {
      self->place[e] = self->matrix.rows[e] * self->matrix.n + j;
    }
  }
  return YOKE_OK;
}

static yoke_status create_kernel(yoke_sparse* self) {
  if (self->settings.kernel == YOKE_SPARSE_AUTO) {
    self->settings.kernel = self->matrix.n <= DENSE_MAX ? YOKE_SPARSE_DENSE : YOKE_SPARSE_LIST;
  }
  self->stats.kernel = self->settings.kernel;
  switch (self->settings.kernel) {
  case YOKE_SPARSE_DENSE:
    return create_dense(self);
  case YOKE_SPARSE_KLU:
    return yoke__sparse_klu == NULL
               ? YOKE_NO_SUPPORT
               : yoke__sparse_klu->create(&self->matrix, self->n_slots,
                                          self->settings.pivot_tolerance, self->arena, &self->klu);
  case YOKE_SPARSE_LIST:
    return YOKE_OK;  // laid out by factor, which knows the fill
  default:
    return YOKE_BAD_ARG;
  }
}

static void take_order(yoke_arena* arena, int32_t n, yoke_sparse_order* order) {
  order->row = yoke__arena_array(arena, (size_t)n, sizeof *order->row);
  order->col = yoke__arena_array(arena, (size_t)n, sizeof *order->col);
}

yoke_status yoke__sparse_create(const yoke_sparse_pattern* pattern,
                                const yoke_sparse_settings* settings, yoke_arena* arena,
                                yoke_sparse** out) {
  *out = NULL;
  if (!is_pattern(pattern)) {
    return YOKE_BAD_ARG;
  }
  const size_t used = arena->used;
  yoke_sparse* self = yoke__arena_take(arena, sizeof *self);
  YOKE_TRY(yoke__arena_status(arena));
  self->arena = arena;
  self->settings = settings == NULL ? (yoke_sparse_settings){0} : *settings;
  yoke_sparse_settings* s = &self->settings;

  // a setting of 0 stands for the default
  s->growth_limit = s->growth_limit > 0.0 ? s->growth_limit : GROWTH_LIMIT;
  s->pivot_tolerance = s->pivot_tolerance > 0.0 ? fmin(1.0, s->pivot_tolerance) : PIVOT_TOLERANCE;
  self->n_slots = s->n_slots > 0 ? s->n_slots : 1;
  YOKE_TRY(copy_pattern(self, pattern));
  self->is_valid = yoke__arena_array(arena, self->n_slots, 1);
  take_order(arena, pattern->n, &self->spare);
  take_order(arena, pattern->n, &self->fallback);
  take_order(arena, pattern->n, &self->previous);
  self->scale = yoke__arena_array(arena, (size_t)pattern->n, sizeof *self->scale);
  self->work = yoke__arena_array(arena, (size_t)pattern->n, sizeof *self->work);
  YOKE_TRY(yoke__arena_status(arena));
  YOKE_TRY(create_kernel(self));
  self->stats.n_nonzeros = (size_t)self->matrix.n_nonzeros;
  self->stats.n_bytes = arena->used - used;
  *out = self;
  return YOKE_OK;
}

void yoke__sparse_destroy(yoke_sparse** self) {
  if (self != NULL && *self != NULL) {
    if ((*self)->klu != NULL) {
      yoke__sparse_klu->destroy((*self)->klu);
    }
    *self = NULL;
  }
}

// ---- the list: order of pivots

// One way to choose pivots; use_klu: clean_cost has no meaning.
typedef struct way {
  bool use_klu, use_colamd;
  double clean_cost;
} way;

typedef struct trial {
  double work;       // cycles of one refactor and one solve
  size_t n_entries;  // of the factors
  double n_dirty_operations;
  double growth;
  double
      n_operations;  // of finding and measuring the order, attempts with too little space included
} trial;

static yoke_status choose_pivots(const yoke_sparse* self, way how, double tolerance, size_t n_nodes,
                                 const double values[], yoke_arena* arena, yoke_sparse_order* order,
                                 double* n_operations, int32_t* column) {
  yoke_sparse_pivoting* pivoting = yoke__sparse_pivoting_create(&self->matrix, n_nodes, arena);
  YOKE_TRY(yoke__arena_status(arena));
  const yoke_status status = yoke__sparse_pivoting_run(pivoting, &self->matrix, values, tolerance,
                                                       how.clean_cost, order, column);
  *n_operations += yoke__sparse_pivoting_operations(pivoting);
  return status;
}

// Growth of the factors of a trial, infinite if a pivot is zero; entries at their ids.
static yoke_status measure_growth(const yoke_sparse* self, const yoke_sparse_factors* factors,
                                  const double values[], yoke_arena* arena, double* growth) {
  const int32_t n = self->matrix.n, n_entries = yoke__sparse_n_entries(factors, n);
  int32_t* place = yoke__arena_array(arena, (size_t)n_entries, sizeof *place);
  double* lu = yoke__arena_array(arena, (size_t)n_entries, sizeof *lu);
  double* scale = yoke__arena_array(arena, (size_t)n, sizeof *scale);
  double* work = yoke__arena_array(arena, (size_t)n, sizeof *work);
  YOKE_TRY(yoke__arena_status(arena));

  // entries at their ids and scales of 1: growth is measured without a compiled list
  for (int32_t id = 0; id < n_entries; id++) {
    place[id] = id;
  }
  for (int32_t i = 0; i < n; i++) {
    scale[i] = 1.0;
  }
  *growth = HUGE_VAL;
  if (yoke__is_finite(yoke__sparse_rows_run(factors, place, scale, n, true, values, lu, work))) {
    *growth = yoke__sparse_growth(factors, &self->matrix, place, values, lu, work);
  }
  return YOKE_OK;
}

// Longest chain of rows that wait for each other: in the sweeps over L and U, and among the pivots
// that vary.
typedef struct depth {
  int32_t forward, backward, pivots;
} depth;

static depth measure_depth(const yoke_sparse_factors* f, int32_t n) {
  depth most = {0, 0, 0};
  int32_t *rows = f->work, *pivots = f->work + n;
  for (int32_t k = 0; k < n; k++) {
    rows[k] = 1;
    pivots[k] = f->is_dirty[k];
    // row k of the forward sweep waits for every row j with l_kj != 0
    for (int32_t e = f->l_start[k]; e < f->l_start[k + 1]; e++) {
      const int32_t j = f->l_col[e];
      rows[k] = rows[j] >= rows[k] ? rows[j] + 1 : rows[k];
      pivots[k] = f->is_dirty[n + e] && pivots[j] >= pivots[k] ? pivots[j] + 1 : pivots[k];
    }
    most.forward = rows[k] > most.forward ? rows[k] : most.forward;
    most.pivots = pivots[k] > most.pivots ? pivots[k] : most.pivots;
  }

  // row k of the backward sweep waits for every column c with u_kc != 0
  for (int32_t k = n; k-- > 0;) {
    rows[k] = 1;
    for (int32_t e = f->u_start[k]; e < f->u_start[k + 1]; e++) {
      const int32_t c = f->u_col[e];
      rows[k] = rows[c] >= rows[k] ? rows[c] + 1 : rows[k];
    }
    most.backward = rows[k] > most.backward ? rows[k] : most.backward;
  }
  return most;
}

// Cycles of one refactor and one solve, roughly: what the operations take if nothing waits, or what
// the longest chain takes, whichever is more. An operation takes about 3 cycles; a row waits about
// 14 for the one before it (multiply, subtract, through memory), a pivot 45 (division as well).
#define CYCLES_PER_ENTRY   3.0
#define CYCLES_PER_VARYING 5.0  // head of the entry in the list

static yoke_status measure(const yoke_sparse* self, const yoke_sparse_factors* factors,
                           const double values[], yoke_arena* arena, trial* result) {
  const int32_t n = self->matrix.n, n_entries = yoke__sparse_n_entries(factors, n);
  const depth chains = measure_depth(factors, n);
  double n_dirty = 0.0;
  for (int32_t id = 0; id < n_entries; id++) {
    n_dirty += factors->is_dirty[id];
  }

  // throughput or latency, whichever is longer, for forward, backward and refactor
  const double cycles =
      fmax(CYCLES_PER_ENTRY * (double)(n + factors->l_start[n]), 14.0 * chains.forward) +
      fmax(CYCLES_PER_ENTRY * (double)(n + factors->u_start[n]), 14.0 * chains.backward) +
      fmax(3.0 * factors->n_dirty_operations + CYCLES_PER_VARYING * n_dirty, 45.0 * chains.pivots);
  result->work = cycles;
  result->n_entries = (size_t)n_entries;
  result->n_dirty_operations = factors->n_dirty_operations;
  return measure_growth(self, factors, values, arena, &result->growth);
}

static void copy_order(int32_t n, const yoke_sparse_order* from, yoke_sparse_order* to) {
  memcpy(to->row, from->row, (size_t)n * sizeof *to->row);
  memcpy(to->col, from->col, (size_t)n * sizeof *to->col);
}

// Pivots, pattern and cost of one way, in temporary space that grows until it fits. KLU's pivots are
// in `order` already.
static yoke_status try_way(const yoke_sparse* self, way how, double tolerance,
                           const double values[], yoke_sparse_order* order, trial* result,
                           int32_t* column) {
  const int32_t n = self->matrix.n;

  // start with four times the entries; doubled until the fill fits
  size_t capacity = 4 * (size_t)self->matrix.n_nonzeros + 4 * (size_t)n + 16;
  yoke_status status = YOKE_FULL;
  while (status == YOKE_FULL && capacity <= MAX_ENTRIES) {
    yoke_arena arena = {0};
    yoke_sparse_factors factors;
    status = yoke__sparse_factors_create(&self->matrix, capacity, &arena, &factors);
    if (status == YOKE_OK && how.use_klu) {
      copy_order(n, order, &factors.order);
    } else if (status == YOKE_OK) {
      status = choose_pivots(self, how, tolerance, capacity, values, &arena, &factors.order,
                             &result->n_operations, column);
    }
    if (status == YOKE_OK) {
      status = yoke__sparse_factors_make(&factors, &self->matrix);
      result->n_operations += factors.n_merged;
    }
    if (status == YOKE_OK) {
      status = measure(self, &factors, values, &arena, result);
    }
    if (status == YOKE_OK) {
      copy_order(n, &factors.order, order);
    }
    yoke__arena_free(&arena);
    capacity *= 2;
  }
  return status;
}

static bool some_vary_some_not(const yoke_sparse_matrix* matrix) {
  bool some_vary = false, some_not = false;
  for (int32_t e = 0; e < matrix->n_nonzeros; e++) {
    some_vary = some_vary || matrix->varying[e] != 0;
    some_not = some_not || matrix->varying[e] == 0;
  }
  return some_vary && some_not;
}

static double stricter(double tolerance) {
  // 0.01, 0.1, 1: the last one is partial pivoting
  return tolerance < 0.1 ? 0.1 : 1.0;
}

// Own pivots with the first threshold whose factors do not grow, or the strictest.
static yoke_status try_thresholds(const yoke_sparse* self, way how, const double values[],
                                  yoke_sparse_order* order, trial* result, int32_t* column) {
  double tolerance = self->settings.pivot_tolerance;
  for (;;) {
    YOKE_TRY(try_way(self, how, tolerance, values, order, result, column));
    if (result->growth <= CAREFUL_GROWTH || tolerance >= 1.0) {
      return YOKE_OK;
    }
    tolerance = stricter(tolerance);
  }
}

// Entries of L and U, both with a diagonal, beyond which a trial takes more than the best so far
// whatever else it has: what `measure` counts for entries alone. All of them vary if all of the
// matrix do. While the best grows it may be so many times as much: growth counts first.
static double most_entries(const yoke_sparse* self, const trial* best) {
  double n_varying = 0.0;
  for (int32_t e = 0; e < self->matrix.n_nonzeros; e++) {
    n_varying += self->matrix.varying[e] != 0;
  }

  // own share of the work that `measure` cannot go below
  const double work = best->growth <= CAREFUL_GROWTH ? best->work : CAREFUL_WORK * best->work;
  return n_varying == (double)self->matrix.n_nonzeros
             ? (work + CYCLES_PER_VARYING * self->matrix.n) /
                   (CYCLES_PER_ENTRY + CYCLES_PER_VARYING)
             : (work - CYCLES_PER_VARYING * n_varying) / CYCLES_PER_ENTRY;
}

// KLU's pivots as they are; YOKE_FULL: they cannot be better than the best so far.
static yoke_status try_klu(const yoke_sparse* self, way how, const double values[],
                           const trial* best, yoke_sparse_order* order, trial* result) {
  const double tolerance = self->settings.pivot_tolerance;
  YOKE_TRY(yoke__sparse_klu->order(&self->matrix, values, tolerance, how.use_colamd,
                                   most_entries(self, best), order, &result->n_operations));
  return try_way(self, how, tolerance, values, order, result, NULL);
}

// Less work, but growth counts first.
static bool is_better(const trial* a, const trial* b) {
  const bool is_careful = a->growth <= CAREFUL_GROWTH, was_careful = b->growth <= CAREFUL_GROWTH;
  return is_careful == was_careful ? a->work < b->work : is_careful;
}

// The best way for these values. Own pivots come first: they decide whether the matrix is singular.
static yoke_status choose_order(yoke_sparse* self, const double values[],
                                yoke_sparse_order* scratch, yoke_sparse_order* order, trial* best,
                                int32_t* column) {
  // bounds on the Markowitz cost up to which clean pivots go first: none, mild, strong, nearly
  // always
  const way ways[] = {{false, false, -1.0}, {false, false, 4.0}, {false, false, 25.0},
                      {false, false, 1e4},  {true, false, -1.0}, {true, true, -1.0}};
  const bool can_prefer = some_vary_some_not(&self->matrix);

  // everything is better than nothing
  trial best_own = {.work = HUGE_VAL, .growth = HUGE_VAL};
  *best = best_own;
  self->stats.n_order_operations = 0.0;
  for (size_t i = 0; i < YOKE_COUNT(ways); i++) {
    const bool is_skipped = ways[i].use_klu ? self->settings.without_klu || yoke__sparse_klu == NULL
                                            : i > 0 && !can_prefer;
    if (is_skipped) {
      continue;
    }
    trial now = {0};
    const yoke_status status = ways[i].use_klu ? try_klu(self, ways[i], values, best, scratch, &now)
                                               : try_thresholds(self, ways[i], values, scratch,
                                                                &now, i == 0 ? column : NULL);
    self->stats.n_order_operations += now.n_operations;
    if (status < 0 && i == 0) {
      return status;
    }
    if (status < 0) {
      continue;
    }
    // repivot uses own pivots: their best preference is remembered
    if (!ways[i].use_klu && is_better(&now, &best_own)) {
      best_own = now;
      self->clean_cost = ways[i].clean_cost;
    }
    // orders change places instead of being copied
    if (is_better(&now, best)) {
      const yoke_sparse_order swapped = *order;
      *best = now;
      *order = *scratch;
      *scratch = swapped;
    }
  }
  return YOKE_OK;
}

// ---- the list: space and compilation

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

// Everything that depends on the fill, with a reserve for other pivots later.
static yoke_status lay_out(yoke_sparse* self, const trial* need) {
  const size_t n = (size_t)self->matrix.n;

  // repivoting may bring more fill: two to four times the space of now, at most a full matrix
  const size_t times = n <= GENEROUS_N ? 4 : 2, more = n <= GENEROUS_N ? 16 * n : 2 * n;
  size_t capacity = smaller(times * need->n_entries + more, n * n + n) + 16;
  capacity = capacity < need->n_entries + n + 16 ? need->n_entries + n + 16 : capacity;
  const double products = need->n_dirty_operations;
  size_t max_products = 0;
  if (products <= (double)MAX_PRODUCTS) {
    // n^3 / 3 products are those of a full matrix
    const size_t full = n <= GENEROUS_N ? n * n * n / 3 + n * n + 1 : MAX_PRODUCTS;
    max_products = smaller(times * (size_t)products + more, smaller(full, MAX_PRODUCTS));
    max_products = max_products < (size_t)products ? (size_t)products : max_products;
  }
  if (self->capacity >= capacity && self->list.max_products >= max_products) {
    return YOKE_OK;
  }
  const size_t used = self->arena->used;
  self->capacity = 0;
  YOKE_TRY(yoke__sparse_factors_create(&self->matrix, capacity, self->arena, &self->factors));
  YOKE_TRY(yoke__sparse_sweeps_create(self->matrix.n, capacity, self->arena, &self->sweeps));
  YOKE_TRY(yoke__sparse_list_create(capacity, max_products, self->arena, &self->list));
  self->pivoting = yoke__sparse_pivoting_create(&self->matrix, capacity, self->arena);
  self->lu = take_blocks(self->arena, self->n_slots, capacity, sizeof *self->lu);
  YOKE_TRY(yoke__arena_status(self->arena));

  // slots are as long as the capacity, so that new pivots with more fill need no new memory
  self->lu_stride = capacity;
  self->capacity = capacity;
  self->stats.n_bytes += self->arena->used - used;
  return YOKE_OK;
}

static void set_scale(yoke_sparse* self, const double values[]) {
  const yoke_sparse_matrix* m = &self->matrix;
  for (int32_t i = 0; i < m->n; i++) {
    const double largest = yoke__sparse_row_max(m, values, i);
    // no power of two, unlike in the pivot search: it weighs sums, no element is multiplied by it
    self->scale[i] = largest > 0.0 ? 1.0 / largest : 1.0;
  }
}

// smallest over largest pivot
static double pivot_ratio(const double inverse[], int32_t n) {
  double low = HUGE_VAL, high = 0.0;
  for (int32_t i = 0; i < n; i++) {
    // inverse holds 1 / u_kk: the ratio of the smallest to the largest is the same
    const double a = fabs(inverse[i]);
    low = fmin(low, a);
    high = fmax(high, a);
  }
  return n == 0 ? 1.0 : low / high;
}

// The smallest pivot in rows whose largest element is 1: a resistor of 1e12 Ohm is none of weight.
static double weakest_pivot(const yoke_sparse* self, const double lu[]) {
  double weakest = HUGE_VAL;
  for (int32_t k = 0; k < self->matrix.n; k++) {
    // |u_kk| times the scale of its row
    const double inverse = fabs(lu[self->sweeps.place[k]]);
    weakest = fmin(weakest, self->scale[self->factors.order.row[k]] / inverse);
  }
  return weakest;
}

// The column of the first pivot that came out as zero or not finite.
static void name_pivot(const yoke_sparse* self, const double lu[], int32_t* column) {
  for (int32_t k = 0; k < self->matrix.n && column != NULL; k++) {
    if (!yoke__is_finite(lu[self->sweeps.place[k]])) {
      *column = self->factors.order.col[k];
      return;
    }
  }
}

// From an order of pivots to the values of one slot. No heap.
static yoke_status compile(yoke_sparse* self, const yoke_sparse_order* order, size_t slot,
                           const double values[], int32_t* column) {
  const int32_t n = self->matrix.n;
  double* lu = self->lu + slot * self->lu_stride;
  copy_order(n, order, &self->factors.order);
  YOKE_TRY(yoke__sparse_factors_make(&self->factors, &self->matrix));
  set_scale(self, values);
  yoke__sparse_sweeps_make(&self->sweeps, &self->factors, n);
  yoke__sparse_list_make(&self->list, &self->factors, self->sweeps.place, self->scale, n);
  self->stats.n_factors = (size_t)yoke__sparse_n_entries(&self->factors, n);
  self->stats.n_operations = (size_t)self->factors.n_dirty_operations;
  const double sum = yoke__sparse_rows_run(&self->factors, self->sweeps.place, self->scale, n, true,
                                           values, lu, self->work);
  if (!yoke__is_finite(sum)) {
    name_pivot(self, lu, column);
    return YOKE_SINGULAR;
  }
  self->stats.growth = yoke__sparse_growth(&self->factors, &self->matrix, self->sweeps.place,
                                           values, lu, self->work);
  self->stats.rcond = pivot_ratio(lu, n);
  self->stats.weakest_pivot = weakest_pivot(self, lu);
  return YOKE_OK;
}

// What does not vary is the same in all slots.
static void copy_to_slots(yoke_sparse* self, size_t from, bool is_valid) {
  // the start of every slot: entries that do not vary are computed once for all
  const size_t bytes = self->stats.n_factors * sizeof *self->lu;
  for (size_t s = 0; s < self->n_slots; s++) {
    if (s != from) {
      memcpy(self->lu + s * self->lu_stride, self->lu + from * self->lu_stride, bytes);
      self->is_valid[s] = is_valid;
    }
  }
  self->is_valid[from] = 1;
}

static yoke_status factor_in(yoke_sparse* self, const double values[], yoke_arena* arena,
                             int32_t* column) {
  yoke_sparse_order order, scratch;
  take_order(arena, self->matrix.n, &order);
  take_order(arena, self->matrix.n, &scratch);
  YOKE_TRY(yoke__arena_status(arena));
  trial best = {0};
  YOKE_TRY(choose_order(self, values, &scratch, &order, &best, column));
  YOKE_TRY(lay_out(self, &best));
  return compile(self, &order, 0, values, column);
}

static yoke_status factor_list(yoke_sparse* self, const double values[], int32_t* column) {
  yoke_arena arena = {0};
  const yoke_status status = factor_in(self, values, &arena, column);
  yoke__arena_free(&arena);
  if (status == YOKE_OK) {
    copy_to_slots(self, 0, true);
  }
  return status;
}

// ---- factor, refactor, repivot

static yoke_status refactor_dense(yoke_sparse* self, size_t slot, const double values[],
                                  int32_t* column) {
  const size_t n = (size_t)self->matrix.n;

  // pivots are chosen anew: the growth of a refactorisation has no meaning
  self->stats.growth = 1.0;
  return yoke__sparse_dense_refactor(self->matrix.n, self->matrix.n_nonzeros, self->place, values,
                                     self->lu + slot * n * n, self->rows + slot * n, self->work,
                                     column);
}

static yoke_status factor_dense(yoke_sparse* self, const double values[], int32_t* column) {
  const int32_t n = self->matrix.n;
  const size_t size = (size_t)n * (size_t)n, last = self->n_slots;

  // the scaled copy behind the slots decides on the rank; the factors keep the values unscaled
  YOKE_TRY(yoke__sparse_dense_rank(n, self->matrix.n_nonzeros, self->place, values,
                                   self->lu + last * size, self->rows + last * (size_t)n,
                                   self->work, column));
  for (size_t s = 0; s < self->n_slots; s++) {
    YOKE_TRY(refactor_dense(self, s, values, column));
    self->is_valid[s] = 1;
  }

  // reciprocal pivots on the diagonal of the first slot
  for (int32_t i = 0; i < n; i++) {
    self->work[i] = self->lu[i * n + i];
  }
  self->stats.rcond = pivot_ratio(self->work, n);
  self->stats.weakest_pivot = self->stats.rcond;
  self->stats.n_factors = size;

  // multiply-and-subtract pairs of a full elimination: n (n^2 - 1) / 3
  self->stats.n_operations = (size_t)n * ((size_t)n * (size_t)n - 1) / 3;
  return YOKE_OK;
}

static yoke_status factor_klu(yoke_sparse* self, const double values[], int32_t* column) {
  for (size_t s = 0; s < self->n_slots; s++) {
    YOKE_TRY(yoke__sparse_klu->factor(self->klu, s, values, column));
    self->is_valid[s] = 1;
  }
  self->stats.rcond = yoke__sparse_klu->rcond(self->klu, 0);
  self->stats.weakest_pivot = self->stats.rcond;
  self->stats.n_factors = yoke__sparse_klu->n_factors(self->klu);
  return YOKE_OK;
}

yoke_status yoke__sparse_factor(yoke_sparse* self, const double values[],
                                int32_t* singular_column) {
  memset(self->is_valid, 0, self->n_slots);
  self->stats.n_factored++;
  if (singular_column != NULL) {
    *singular_column = 0;
  }
  switch (self->settings.kernel) {
  case YOKE_SPARSE_DENSE:
    return factor_dense(self, values, singular_column);
  case YOKE_SPARSE_KLU:
    return factor_klu(self, values, singular_column);
  default:
    return factor_list(self, values, singular_column);
  }
}

static yoke_status refactor_list(yoke_sparse* self, size_t slot, const double values[]) {
  if (self->capacity == 0) {
    return YOKE_SINGULAR;
  }
  double* lu = self->lu + slot * self->lu_stride;
  const double limit = self->settings.growth_limit;
  double sum = 0.0;
  if (self->list.is_used) {
    sum = yoke__sparse_list_run(&self->list, values, lu);
  } else {
    sum = yoke__sparse_rows_run(&self->factors, self->sweeps.place, self->scale, self->matrix.n,
                                false, values, lu, self->work);
  }

  // the sum bounds the growth; only if it is large the exact one is worth its price
  if (!(sum <= limit)) {
    if (!yoke__is_finite(sum)) {
      self->stats.growth = HUGE_VAL;
      return YOKE_SINGULAR;
    }
    sum = yoke__sparse_growth(&self->factors, &self->matrix, self->sweeps.place, values, lu,
                              self->work);
  }
  self->stats.growth = sum;
  return sum <= limit ? YOKE_OK : YOKE_SINGULAR;
}

yoke_status yoke__sparse_refactor(yoke_sparse* self, size_t slot, const double values[]) {
  yoke_status status = YOKE_OK;
  self->stats.n_refactored++;
  switch (self->settings.kernel) {
  case YOKE_SPARSE_DENSE:
    status = refactor_dense(self, slot, values, NULL);
    break;
  case YOKE_SPARSE_KLU:
    status = yoke__sparse_klu->refactor(self->klu, slot, values, self->settings.growth_limit,
                                        &self->stats.growth);
    break;
  default:
    status = refactor_list(self, slot, values);
    break;
  }
  self->is_valid[slot] = status == YOKE_OK;
  return status;
}

// Pivots for these values and everything that follows from them, with stricter thresholds while the
// factors grow. If a stricter one does not fit, the best before it will do, as long as its growth is
// within the limit of refactor. *is_changed: the old pivots are gone.
static yoke_status take_pivots(yoke_sparse* self, size_t slot, const double values[],
                               bool* is_changed) {
  // thresholds from the mildest on: each stricter one brings fewer digits lost and more fill
  double tolerance = self->settings.pivot_tolerance, best_growth = HUGE_VAL;
  yoke_status status = YOKE_OK;
  bool is_last = false;
  while (!is_last) {
    status = yoke__sparse_pivoting_run(self->pivoting, &self->matrix, values, tolerance,
                                       self->clean_cost, &self->spare, NULL);
    if (status == YOKE_OK) {
      *is_changed = true;
      status = compile(self, &self->spare, slot, values, NULL);
    }
    // growth g costs about log10 g of the 16 digits: two are accepted without a stricter threshold
    if (status == YOKE_OK && self->stats.growth <= CAREFUL_GROWTH) {
      return YOKE_OK;
    }
    if (status == YOKE_OK && self->stats.growth < best_growth) {
      best_growth = self->stats.growth;
      copy_order(self->matrix.n, &self->spare, &self->fallback);
    }
    is_last = status < 0 || tolerance >= 1.0;
    tolerance = stricter(tolerance);
  }
  if (best_growth <= self->settings.growth_limit) {
    return compile(self, &self->fallback, slot, values, NULL);
  }
  return status < 0 ? status : YOKE_SINGULAR;
}

static yoke_status repivot_list(yoke_sparse* self, size_t slot, const double values[]) {
  if (self->capacity == 0) {
    return YOKE_SINGULAR;
  }
  copy_order(self->matrix.n, &self->factors.order, &self->previous);
  bool is_changed = false;
  const yoke_status status = take_pivots(self, slot, values, &is_changed);

  // back to pivots that are known to fit; what does not vary is right again in all slots
  if (status < 0 && is_changed) {
    (void)compile(self, &self->previous, slot, values, NULL);
  }
  if (is_changed) {
    copy_to_slots(self, slot, false);
  }
  self->is_valid[slot] = status >= 0;
  return status;
}

yoke_status yoke__sparse_repivot(yoke_sparse* self, size_t slot, const double values[]) {
  self->stats.n_repivoted++;
  if (self->settings.kernel == YOKE_SPARSE_DENSE) {
    const yoke_status status = refactor_dense(self, slot, values, NULL);
    self->is_valid[slot] = status == YOKE_OK;
    return status;
  }
  memset(self->is_valid, 0, self->n_slots);
  if (self->settings.kernel == YOKE_SPARSE_KLU) {
    YOKE_TRY(yoke__sparse_klu->factor(self->klu, slot, values, NULL));
    self->is_valid[slot] = 1;
    return YOKE_OK;
  }
  return repivot_list(self, slot, values);
}

bool yoke__sparse_is_valid(const yoke_sparse* self, size_t slot) {
  return slot < self->n_slots && self->is_valid[slot] != 0;
}

void yoke__sparse_solve(yoke_sparse* self, size_t slot, double b[]) {
  const size_t n = (size_t)self->matrix.n;
  self->stats.n_solved++;

  // without valid factors no number may look like a solution
  if (!self->is_valid[slot]) {
    for (size_t i = 0; i < n; i++) {
      b[i] = (double)NAN;
    }
    return;
  }
  switch (self->settings.kernel) {
  case YOKE_SPARSE_DENSE:
    yoke__sparse_dense_solve(self->matrix.n, self->lu + slot * self->lu_stride,
                             self->rows + slot * n, b, self->work);
    break;
  case YOKE_SPARSE_KLU:
    yoke__sparse_klu->solve(self->klu, slot, b);
    break;
  default:
    yoke__sparse_sweeps_run(&self->sweeps, self->matrix.n, self->factors.l_start[n],
                            self->lu + slot * self->lu_stride, b);
    break;
  }
}

void yoke__sparse_get_stats(const yoke_sparse* self, yoke_sparse_stats* stats) {
  *stats = self->stats;
}

void yoke__sparse_mul(const yoke_sparse_pattern* pattern, const double values[], const double x[],
                      double y[]) {
  memset(y, 0, (size_t)pattern->n * sizeof *y);

  // y := A x by columns
  for (int32_t j = 0; j < pattern->n; j++) {
    for (int32_t e = pattern->starts[j]; e < pattern->starts[j + 1]; e++) {
      y[pattern->rows[e]] += values[e] * x[j];
    }
  }
}
