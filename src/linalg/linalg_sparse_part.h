// What the files linalg_sparse_*.c share. The way of a matrix:
//
//   pivot order (linalg_sparse_pivot.c, linalg_sparse_klu.c)  row[k], col[k] of the k-th pivot
//   symbolic    (linalg_sparse_symbolic.c)                     rows of L and U, what varies, costs
//   compile     (linalg_sparse_list.c, linalg_sparse_solve.c)  operations of refactor and of solve
//   run         (the same)                                     values of one slot
//
// Entries of the factors have ids: pivots 0..n-1, then L row by row, then U row by row (without
// pivots). Their values lie elsewhere, at place[id], in the order in which solve reads them. The
// arrays have a capacity, so that new pivots can be taken without heap.
#ifndef YOKE_LINALG_SPARSE_PART_H
#define YOKE_LINALG_SPARSE_PART_H

#include <math.h>

#include "linalg/linalg_sparse.h"

// The matrix: columns as the caller gave them, and rows with the index of each entry in values.
typedef struct yoke_sparse_matrix {
  int32_t n, n_nonzeros;
  const int32_t *starts, *rows;           // columns
  const int32_t *row_starts, *cols, *at;  // rows; at: index in values
  const uint8_t* varying;                 // by index in values
} yoke_sparse_matrix;

// max |row|
static inline double yoke__sparse_row_max(const yoke_sparse_matrix* m, const double values[],
                                          int32_t row) {
  double largest = 0.0;

  // in the order of the row's entries
  for (int32_t e = m->row_starts[row]; e < m->row_starts[row + 1]; e++) {
    largest = fmax(largest, fabs(values[m->at[e]]));
  }
  return largest;
}

typedef struct yoke_sparse_order {
  int32_t *row, *col;  // n each: where pivot k stands in the matrix
} yoke_sparse_order;

// ---- own pivots: Markowitz cost with a threshold on the values

typedef struct yoke_sparse_pivoting yoke_sparse_pivoting;

// n_nodes: entries that the matrix may have at any moment of the elimination. The arena knows
// whether there was memory for all of it.
yoke_sparse_pivoting* yoke__sparse_pivoting_create(const yoke_sparse_matrix* matrix, size_t n_nodes,
                                                   yoke_arena* arena);
// How pivots that leave varying entries alone are preferred: those of a Markowitz cost up to
// clean_cost go first; negative: no preference. Without heap. YOKE_SINGULAR: *column cannot be
// reached by any pivot; YOKE_FULL: more than n_nodes entries.
yoke_status yoke__sparse_pivoting_run(yoke_sparse_pivoting* self, const yoke_sparse_matrix* matrix,
                                      const double values[], double tolerance, double clean_cost,
                                      yoke_sparse_order* order, int32_t* column);

// Entries looked at and updated by all runs so far: a measure of work.
double yoke__sparse_pivoting_operations(const yoke_sparse_pivoting* self);

// ---- rows of L and U

typedef struct yoke_sparse_factors {
  size_t capacity;           // of l_col and u_col together with n: entries
  int32_t *l_start, *l_col;  // rows of L in pivot order, ascending, diagonal left out
  int32_t *u_start, *u_col;  // rows of U likewise
  int32_t* inverse_col;      // pivot number of a column of the matrix
  int32_t* inverse_row;      // pivot number of a row of the matrix
  int32_t* source;           // by id: index in values, -1: fill
  uint8_t* is_dirty;         // by id: depends on varying values
  int32_t* work;             // 2 n
  yoke_sparse_order order;   // row[k], col[k]
  // multiply-and-subtract of a partial factorisation, with multiplications by pivots
  double n_dirty_operations;
  double n_merged;  // entries of U that were merged into rows below, a measure of work
} yoke_sparse_factors;

yoke_status yoke__sparse_factors_create(const yoke_sparse_matrix* matrix, size_t capacity,
                                        yoke_arena* arena, yoke_sparse_factors* out);
// id_of[c] := id of the entry in row k and column c.
void yoke__sparse_mark_row(const yoke_sparse_factors* self, int32_t n, int32_t k, int32_t id_of[]);
// From self->order. YOKE_FULL: capacity.
yoke_status yoke__sparse_factors_make(yoke_sparse_factors* self, const yoke_sparse_matrix* matrix);

static inline int32_t yoke__sparse_n_entries(const yoke_sparse_factors* f, int32_t n) {
  return n + f->l_start[n] + f->u_start[n];
}

// ---- solve: sweeps over rows of equal length

static inline int32_t yoke__sparse_larger(int32_t a, int32_t b) {
  return a > b ? a : b;
}

typedef struct yoke_sparse_run {
  int32_t length;  // entries per row
  int32_t n_rows;
  int32_t n_lanes;  // > 0: the last entry of each row is for the row so many before it
} yoke_sparse_run;

typedef struct yoke_sparse_sweep {
  int32_t n_runs;
  yoke_sparse_run* runs;  // capacity n
  int32_t* row;           // per row in order: forward its right-hand side, backward its unknown
  int32_t* index;         // per entry in order: where the factor of the product stands
} yoke_sparse_sweep;

typedef struct yoke_sparse_sweeps {
  yoke_sparse_sweep forward, backward;
  int32_t* target;  // forward: where the row's result goes in the work vector
  int32_t* place;   // by id: position in the values of a slot
  int32_t* level;   // n, work
  int32_t* bucket;  // work of sorting, 2 n + 2
  int32_t* sorted;  // n, work
  double* w;        // n
} yoke_sparse_sweeps;

yoke_status yoke__sparse_sweeps_create(int32_t n, size_t capacity, yoke_arena* arena,
                                       yoke_sparse_sweeps* out);
// The numbers `from` in the order of their keys, 0 to n_keys - 1; equal ones as they were. bucket:
// work, n_keys + 1.
void yoke__sparse_sort(const int32_t key[], int32_t n_keys, const int32_t from[], int32_t n,
                       int32_t to[], int32_t bucket[]);
void yoke__sparse_sweeps_make(yoke_sparse_sweeps* self, const yoke_sparse_factors* factors,
                              int32_t n);
// b := A \ b with the values of a slot: n reciprocal pivots, L, U.
void yoke__sparse_sweeps_run(const yoke_sparse_sweeps* self, int32_t n, int32_t n_l,
                             const double values[], double b[]);

// ---- refactor: operations in the order of their dependence

typedef struct yoke_sparse_group {
  int32_t kind;        // see linalg_sparse_list.c
  int32_t n_products;  // per entry
  int32_t n_entries;
} yoke_sparse_group;

typedef struct yoke_sparse_list {
  bool is_used;  // false: too long, refactor goes row by row
  size_t n_products, max_products;
  int32_t n_groups, n_entries;
  yoke_sparse_group* groups;  // capacity of entries
  int32_t* heads;             // 3 per entry: target, source, pivot
  double* weights;            // per entry: scale in the growth measure
  int32_t* products;          // 2 per product
  int32_t* level;             // by id, work; later the offset of products in units of one
  int32_t* count;             // by id, work
  int32_t* rank;              // by id, work: position in the order
  int32_t* sorted;            // work
  int64_t* offset;            // by rank, work
} yoke_sparse_list;

yoke_status yoke__sparse_list_create(size_t capacity, size_t max_products, yoke_arena* arena,
                                     yoke_sparse_list* out);
// place as made by the sweeps; scale: n, of the matrix' rows, at the factorisation.
void yoke__sparse_list_make(yoke_sparse_list* self, const yoke_sparse_factors* factors,
                            const int32_t place[], const double scale[], int32_t n);
// Returns the sum of weighted magnitudes, a bound of the growth; not finite if a value is not.
double yoke__sparse_list_run(const yoke_sparse_list* self, const double values[], double lu[]);

// Row by row, all rows or those with an entry that varies; work: n doubles. The same numbers bit by
// bit. Returns the sum of weighted magnitudes.
double yoke__sparse_rows_run(const yoke_sparse_factors* factors, const int32_t place[],
                             const double scale[], int32_t n, bool is_full, const double values[],
                             double lu[], double work[]);
// The largest element of the factors over the largest of its row in the matrix; work: n.
double yoke__sparse_growth(const yoke_sparse_factors* factors, const yoke_sparse_matrix* matrix,
                           const int32_t place[], const double values[], const double lu[],
                           double work[]);

// ---- dense

// One slot is n x n factors with reciprocal pivots; rows: n, the row of the
// matrix that came k-th. *column (may be NULL): the first without a pivot.
yoke_status yoke__sparse_dense_refactor(int32_t n, int32_t n_nonzeros, const int32_t place[],
                                        const double values[], double lu[], int32_t rows[],
                                        double measure[], int32_t* column);
void yoke__sparse_dense_solve(int32_t n, const double lu[], const int32_t rows[], double b[],
                              double w[]);
// Rows scaled to 1, pivots against their column: *column is the first without a usable pivot.
yoke_status yoke__sparse_dense_rank(int32_t n, int32_t n_nonzeros, const int32_t place[],
                                    const double values[], double lu[], int32_t rows[],
                                    double limits[], int32_t* column);

// ---- KLU

typedef struct yoke_sparse_klu yoke_sparse_klu;

typedef struct yoke_sparse_klu_ops {
  // Pivots as KLU chooses them; takes heap and gives it back. use_colamd: else AMD, both with the
  // block triangular form. YOKE_FULL: L and U have more than max_entries, both with a diagonal; most
  // of the work is saved then. Adds to *n_operations: entries and floating-point operations; of a
  // factorisation that was stopped, the entries it was allowed.
  yoke_status (*order)(const yoke_sparse_matrix* matrix, const double values[], double tolerance,
                       bool use_colamd, double max_entries, yoke_sparse_order* order,
                       double* n_operations);
  yoke_status (*create)(const yoke_sparse_matrix* matrix, size_t n_slots, double tolerance,
                        yoke_arena* arena, yoke_sparse_klu** out);
  void (*destroy)(yoke_sparse_klu* self);
  yoke_status (*factor)(yoke_sparse_klu* self, size_t slot, const double values[],
                        int32_t* singular_column);
  yoke_status (*refactor)(yoke_sparse_klu* self, size_t slot, const double values[],
                          double growth_limit, double* growth);
  void (*solve)(yoke_sparse_klu* self, size_t slot, double b[]);
  size_t (*n_factors)(const yoke_sparse_klu* self);
  double (*rcond)(yoke_sparse_klu* self, size_t slot);
} yoke_sparse_klu_ops;
extern const yoke_sparse_klu_ops* const yoke__sparse_klu;  // NULL: built without KLU

#endif
