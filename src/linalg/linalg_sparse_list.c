// Factors with known pivots. L has ones on its diagonal; entry by entry, in pivot order,
//
//   u_kc = a_kc - sum_m l_km u_mc             m < k, ascending
//   l_kj = (a_kj - sum_m l_km u_mj) / u_jj    m < j, ascending
//
// (Golub and Van Loan, Matrix Computations, 4th ed., section 3.2) with reciprocal pivots stored.
//
// The list holds, for every entry that varies, where its products stand. Entries are sorted by the
// level of their dependence, within a level by kind and number of products; equal ones form a group
// with one branch-free loop. Levels run through the kinds up and down in turn, so that groups of
// neighbouring levels join. Independent chains lie side by side and overlap in the processor.
//
// Row by row is the same arithmetic in the same order for each entry, hence bit by bit the same
// result: for the first factorisation, and for matrices whose list would be too long.
//
// Growth is watched by one sum of weighted magnitudes over all entries that are computed; the
// weights carry the scale of the rows. It is not finite if any value is not.
#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg_sparse_part.h"

// kinds of entries; _FILL: the matrix has nothing there
enum { L_ENTRY, L_FILL, U_ENTRY, U_FILL, PIVOT, PIVOT_FILL, N_KINDS };

yoke_status yoke__sparse_list_create(size_t capacity, size_t max_products, yoke_arena* arena,
                                     yoke_sparse_list* out) {
  *out = (yoke_sparse_list){.max_products = max_products};
  out->groups = yoke__arena_array(arena, capacity, sizeof *out->groups);
  out->heads = yoke__arena_array(arena, capacity, 3 * sizeof(int32_t));
  out->weights = yoke__arena_array(arena, capacity, sizeof(double));
  out->products = yoke__arena_array(arena, max_products, 2 * sizeof(int32_t));
  out->level = yoke__arena_array(arena, capacity, sizeof(int32_t));
  out->count = yoke__arena_array(arena, capacity, sizeof(int32_t));
  out->rank = yoke__arena_array(arena, capacity, sizeof(int32_t));
  out->sorted = yoke__arena_array(arena, capacity, sizeof(int32_t));
  out->offset = yoke__arena_array(arena, capacity, sizeof(int64_t));
  return yoke__arena_status(arena);
}

// ---- compile

typedef struct maker {
  yoke_sparse_list* list;
  const yoke_sparse_factors* factors;
  const int32_t* place;
  const double* scale;
  int32_t n, n_l;
  int32_t* id_of;  // by column: id in the row at hand
} maker;

// Levels and numbers of products of row k. A level is known when all products into it are, and L is
// walked in ascending order.
static void measure_row(const maker* m, int32_t k) {
  const yoke_sparse_factors* f = m->factors;
  int32_t *level = m->list->level, *count = m->list->count;

  // l_kj = (...) / u_jj waits for the pivot of row j, if that varies
  for (int32_t e = f->l_start[k]; e < f->l_start[k + 1]; e++) {
    const int32_t j = f->l_col[e], l = m->n + e;
    if (f->is_dirty[l]) {
      level[l] = yoke__sparse_larger(level[l], f->is_dirty[j] ? level[j] + 1 : 0);
    }
    // a product l_kj u_jc into entry c of row k
    for (int32_t g = f->u_start[j]; g < f->u_start[j + 1]; g++) {
      const int32_t u = m->n + m->n_l + g, id = m->id_of[f->u_col[g]];
      if (!f->is_dirty[id]) {
        continue;
      }
      count[id]++;
      level[id] = yoke__sparse_larger(level[id], f->is_dirty[l] ? level[l] + 1 : 0);
      level[id] = yoke__sparse_larger(level[id], f->is_dirty[u] ? level[u] + 1 : 0);
    }
  }
}

static int kind_of(const maker* m, int32_t id) {
  const int fill = m->factors->source[id] < 0;
  if (id < m->n) {
    return PIVOT + fill;
  }
  return (id < m->n + m->n_l ? L_ENTRY : U_ENTRY) + fill;
}

// Counting sort of `from` by key(id) into `to`; keys up to n_keys - 1, bucket: n_keys + 1.
void yoke__sparse_sort(const int32_t key[], int32_t n_keys, const int32_t from[], int32_t n,
                       int32_t to[], int32_t bucket[]) {
  memset(bucket, 0, ((size_t)n_keys + 1) * sizeof *bucket);

  // counts per key, shifted by one place, become first positions by summing up
  for (int32_t i = 0; i < n; i++) {
    bucket[key[from[i]] + 1]++;
  }
  for (int32_t c = 0; c < n_keys; c++) {
    bucket[c + 1] += bucket[c];
  }
  for (int32_t i = 0; i < n; i++) {
    to[bucket[key[from[i]]]++] = from[i];
  }
}

// kind and number of products in one number that fits the work space of the counting sort
static int32_t class_of(const maker* m, int32_t id, int32_t n_classes) {
  // longer rows than there are classes share the last one
  const int32_t c = m->list->count[id] * N_KINDS + kind_of(m, id);
  return c < n_classes ? c : n_classes - N_KINDS + kind_of(m, id);
}

// Sorted ids of what varies: by level, and within even levels by class upwards, within odd ones
// downwards. Long rows of different length share the last classes; they make their own groups.
static int32_t sort_entries(const maker* m, int32_t n_entries) {
  yoke_sparse_list* list = m->list;
  int32_t n_dirty = 0, n_levels = 0;
  for (int32_t id = 0; id < n_entries; id++) {
    if (m->factors->is_dirty[id]) {
      list->rank[n_dirty++] = id;
      n_levels = yoke__sparse_larger(n_levels, list->level[id] + 1);
    }
  }

  // first by class, then stably by level: bucket space is as large as the entries are many
  int32_t* bucket = (int32_t*)(void*)list->offset;  // twice as many int32 as entries
  int32_t* class = list->heads;
  const int32_t n_classes = yoke__sparse_larger(N_KINDS, n_entries / N_KINDS * N_KINDS);
  for (int32_t i = 0; i < n_dirty; i++) {
    class[list->rank[i]] = class_of(m, list->rank[i], n_classes);
  }
  yoke__sparse_sort(class, n_classes, list->rank, n_dirty, list->sorted, bucket);
  memcpy(list->rank, list->sorted, (size_t)n_dirty * sizeof *list->rank);
  yoke__sparse_sort(list->level, n_levels, list->rank, n_dirty, list->sorted, bucket);

  // odd levels the other way round
  for (int32_t i = 0; i < n_dirty;) {
    int32_t end = i;
    const int32_t level = list->level[list->sorted[i]];
    while (end < n_dirty && list->level[list->sorted[end]] == level) {
      end++;
    }
    for (int32_t a = i, b = end - 1; level % 2 == 1 && a < b; a++, b--) {
      const int32_t swapped = list->sorted[a];
      list->sorted[a] = list->sorted[b];
      list->sorted[b] = swapped;
    }
    i = end;
  }
  return n_dirty;
}

// Row and column of an entry in pivot order: for weights and pivots. L and U are looked up by the
// caller row by row, so only the row is needed here.
static void write_head(const maker* m, int32_t id, int32_t row, int32_t col) {
  yoke_sparse_list* list = m->list;
  const int32_t at = list->rank[id];
  const yoke_sparse_factors* f = m->factors;

  // weight of an entry: scale of its row; of a factor l_kj: scale_k / scale_j, so that growth has
  // no unit
  const double own = m->scale[f->order.row[row]];
  int32_t* head = list->heads + 3 * (size_t)at;
  head[0] = m->place[id];
  head[1] = f->source[id];
  head[2] = col < row ? m->place[col] : 0;
  list->weights[at] = col < row ? own / m->scale[f->order.row[col]] : own;
}

static void write_row(const maker* m, int32_t k) {
  const yoke_sparse_factors* f = m->factors;
  yoke_sparse_list* list = m->list;

  // products of an entry come in ascending order of m: the same sum as row by row, bit by bit
  for (int32_t e = f->l_start[k]; e < f->l_start[k + 1]; e++) {
    const int32_t j = f->l_col[e], l = m->n + e;
    if (f->is_dirty[l]) {
      write_head(m, l, k, j);
    }
    for (int32_t g = f->u_start[j]; g < f->u_start[j + 1]; g++) {
      const int32_t id = m->id_of[f->u_col[g]];
      if (f->is_dirty[id]) {
        int32_t* product = list->products + 2 * list->offset[list->rank[id]]++;
        product[0] = m->place[l];
        product[1] = m->place[m->n + m->n_l + g];
      }
    }
  }
  if (f->is_dirty[k]) {
    write_head(m, k, k, k);
  }
  for (int32_t e = f->u_start[k]; e < f->u_start[k + 1]; e++) {
    const int32_t id = m->n + m->n_l + e;
    if (f->is_dirty[id]) {
      write_head(m, id, k, f->u_col[e]);
    }
  }
}

// Neighbours of the same kind and number of products become one group.
static void make_groups(const maker* m, int32_t n_dirty) {
  yoke_sparse_list* list = m->list;
  list->n_groups = 0;

  // products lie one behind the other in the order of the groups
  int64_t offset = 0;
  yoke_sparse_group* last = NULL;
  for (int32_t i = 0; i < n_dirty; i++) {
    const int32_t id = list->sorted[i], kind = kind_of(m, id), count = list->count[id];
    if (last == NULL || last->kind != kind || last->n_products != count) {
      last = &list->groups[list->n_groups++];
      *last = (yoke_sparse_group){kind, count, 0};
    }
    last->n_entries++;
    list->offset[i] = offset;
    offset += count;
  }
  list->n_products = (size_t)offset;
  list->n_entries = n_dirty;
}

void yoke__sparse_list_make(yoke_sparse_list* self, const yoke_sparse_factors* factors,
                            const int32_t place[], const double scale[], int32_t n) {
  const int32_t n_entries = yoke__sparse_n_entries(factors, n);
  const maker m = {self, factors, place, scale, n, factors->l_start[n], factors->work};
  self->n_products = 0;
  self->n_entries = 0;
  self->n_groups = 0;
  self->is_used = factors->n_dirty_operations <= (double)self->max_products;
  if (!self->is_used) {
    return;
  }
  memset(self->level, 0, (size_t)n_entries * sizeof *self->level);
  memset(self->count, 0, (size_t)n_entries * sizeof *self->count);

  // first pass: levels and counts
  for (int32_t k = 0; k < n; k++) {
    yoke__sparse_mark_row(factors, n, k, m.id_of);
    measure_row(&m, k);
  }
  const int32_t n_dirty = sort_entries(&m, n_entries);
  make_groups(&m, n_dirty);
  for (int32_t i = 0; i < n_dirty; i++) {
    self->rank[self->sorted[i]] = i;
  }

  // second pass: products, with the final positions known
  for (int32_t k = 0; k < n; k++) {
    yoke__sparse_mark_row(factors, n, k, m.id_of);
    write_row(&m, k);
  }
}

// ---- run

// a group's streams; advanced by its loop
typedef struct streams {
  const int32_t* head;
  const int32_t* product;
  const double* weight;
  double sum;
} streams;

static inline double reduce(double s, const int32_t product[], ptrdiff_t n_products,
                            const double lu[]) {
  // s := s - sum l_km u_mc, ascending
  for (ptrdiff_t p = 0; p < n_products; p++) {
    s -= lu[product[2 * p]] * lu[product[2 * p + 1]];
  }
  return s;
}

// Loops with kind and number of products fixed by the caller: with constants nothing is left to
// decide per entry.
static inline void run_group(int kind, ptrdiff_t n_products, int32_t n_entries,
                             const double values[], double lu[], streams* at) {
  const int32_t* head = at->head;
  const int32_t* product = at->product;
  const double* weight = at->weight;
  double sum = at->sum;
  const bool is_fill = kind == L_FILL || kind == U_FILL || kind == PIVOT_FILL;
  for (int32_t i = 0; i < n_entries; i++) {
    double s = is_fill ? 0.0 : values[head[1]];
    s = reduce(s, product, n_products, lu);
    // l_kj = s / u_jj, the reciprocal pivot being at hand
    if (kind == L_ENTRY || kind == L_FILL) {
      s *= lu[head[2]];
    }
    sum += fabs(s) * weight[i];
    if (kind == PIVOT || kind == PIVOT_FILL) {
      // 1 / u_kk
      s = 1.0 / s;
      sum += 0.0 * s;  // NaN for a zero pivot
    }
    lu[head[0]] = s;
    head += 3;
    product += 2 * n_products;
  }
  *at = (streams){head, product, weight + n_entries, sum};
}

// few products: own loops
#define CASES(kind)                                                                                \
  case kind:                                                                                       \
    switch (group.n_products) {                                                                    \
    case 0:                                                                                        \
      run_group(kind, 0, group.n_entries, values, lu, &at);                                        \
      break;                                                                                       \
    case 1:                                                                                        \
      run_group(kind, 1, group.n_entries, values, lu, &at);                                        \
      break;                                                                                       \
    case 2:                                                                                        \
      run_group(kind, 2, group.n_entries, values, lu, &at);                                        \
      break;                                                                                       \
    case 3:                                                                                        \
      run_group(kind, 3, group.n_entries, values, lu, &at);                                        \
      break;                                                                                       \
    default:                                                                                       \
      run_group(kind, group.n_products, group.n_entries, values, lu, &at);                         \
      break;                                                                                       \
    }                                                                                              \
    break

double yoke__sparse_list_run(const yoke_sparse_list* self, const double values[], double lu[]) {
  streams at = {self->heads, self->products, self->weights, 0.0};
  for (int32_t g = 0; g < self->n_groups; g++) {
    const yoke_sparse_group group = self->groups[g];
    switch (group.kind) {
      CASES(L_ENTRY);
      CASES(L_FILL);
      CASES(U_ENTRY);
      CASES(U_FILL);
      CASES(PIVOT);
      CASES(PIVOT_FILL);
    default:
      break;
    }
  }
  return at.sum;
}

// ---- row by row

typedef struct row_run {
  const yoke_sparse_factors* f;
  const int32_t* place;
  const double* scale;
  int32_t n, n_l;
  const double* values;
  double *lu, *w;
} row_run;

static bool row_varies(const row_run* r, int32_t k) {
  const uint8_t* d = r->f->is_dirty;
  bool varies = d[k] != 0;
  for (int32_t e = r->f->l_start[k]; e < r->f->l_start[k + 1]; e++) {
    varies = varies || d[r->n + e] != 0;
  }
  for (int32_t e = r->f->u_start[k]; e < r->f->u_start[k + 1]; e++) {
    varies = varies || d[r->n + r->n_l + e] != 0;
  }
  return varies;
}

static double value_of(const row_run* r, int32_t id) {
  const int32_t source = r->f->source[id];
  return source < 0 ? 0.0 : r->values[source];
}

static double run_row(const row_run* r, int32_t k) {
  const yoke_sparse_factors* f = r->f;
  const double own = r->scale[f->order.row[k]];
  double sum = 0.0;

  // row k of A, zero where fill will come
  for (int32_t e = f->l_start[k]; e < f->l_start[k + 1]; e++) {
    r->w[f->l_col[e]] = value_of(r, r->n + e);
  }
  r->w[k] = value_of(r, k);
  for (int32_t e = f->u_start[k]; e < f->u_start[k + 1]; e++) {
    r->w[f->u_col[e]] = value_of(r, r->n + r->n_l + e);
  }

  // row_k := row_k - l_kj row_j of U for every j < k with an entry
  for (int32_t e = f->l_start[k]; e < f->l_start[k + 1]; e++) {
    const int32_t j = f->l_col[e];
    const double l = r->w[j] * r->lu[r->place[j]];
    r->lu[r->place[r->n + e]] = l;
    sum += fabs(l) * (own / r->scale[f->order.row[j]]);
    for (int32_t g = f->u_start[j]; g < f->u_start[j + 1]; g++) {
      r->w[f->u_col[g]] -= l * r->lu[r->place[r->n + r->n_l + g]];
    }
  }
  sum += fabs(r->w[k]) * own;

  // reciprocal pivot; 0 times it is NaN for a pivot of zero
  r->lu[r->place[k]] = 1.0 / r->w[k];
  sum += 0.0 * r->lu[r->place[k]];
  for (int32_t e = f->u_start[k]; e < f->u_start[k + 1]; e++) {
    const double u = r->w[f->u_col[e]];
    r->lu[r->place[r->n + r->n_l + e]] = u;
    sum += fabs(u) * own;
  }
  return sum;
}

// NOLINTBEGIN(readability-non-const-parameter): written through the struct
double yoke__sparse_rows_run(const yoke_sparse_factors* factors, const int32_t place[],
                             const double scale[], int32_t n, bool is_full, const double values[],
                             double lu[], double work[]) {
  const row_run r = {factors, place, scale, n, factors->l_start[n], values, lu, work};
  double sum = 0.0;
  for (int32_t k = 0; k < n; k++) {
    if (is_full || row_varies(&r, k)) {
      sum += run_row(&r, k);
    }
  }
  return sum;
}
// NOLINTEND(readability-non-const-parameter)

// Row scales of the values at hand, then each entry against its row.
double yoke__sparse_growth(const yoke_sparse_factors* factors, const yoke_sparse_matrix* matrix,
                           const int32_t place[], const double values[], const double lu[],
                           double work[]) {
  const yoke_sparse_factors* f = factors;
  const int32_t n = matrix->n, n_l = f->l_start[n];

  // by pivot number: max |row| of the matrix
  for (int32_t i = 0; i < n; i++) {
    const double largest = yoke__sparse_row_max(matrix, values, i);
    work[f->inverse_row[i]] = largest > 0.0 ? largest : 1.0;
  }
  double growth = 0.0;
  for (int32_t k = 0; k < n; k++) {
    for (int32_t e = f->l_start[k]; e < f->l_start[k + 1]; e++) {
      // l_kj carries the ratio of two rows: l scale_j / scale_k has none
      growth = fmax(growth, fabs(lu[place[n + e]]) * work[f->l_col[e]] / work[k]);
    }
    growth = fmax(growth, 1.0 / fabs(lu[place[k]]) / work[k]);
    for (int32_t e = f->u_start[k]; e < f->u_start[k + 1]; e++) {
      growth = fmax(growth, fabs(lu[place[n + n_l + e]]) / work[k]);
    }
  }
  return growth;
}
