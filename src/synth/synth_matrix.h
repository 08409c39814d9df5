// Matrices as values, for formulas of control theory that are sums, products and blocks of small matrices.
//
//   const yoke_matrix F = yoke__matrix_add(w, A, yoke__matrix_mul(w, B, K), 1);      F = A + B K
//
// Every result is new and lies in an arena, so nothing is overwritten and one call frees all. Without memory a result has no
// elements (a is NULL), and so has everything computed from it: one check of yoke__arena_status at the end is enough. Off the
// step path: takes memory.
#ifndef YOKE_SYNTH_MATRIX_H
#define YOKE_SYNTH_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base_arena.h"

typedef struct yoke_matrix {
  size_t n_rows, n_columns;
  double* a;  // row by row; NULL: there was no memory
} yoke_matrix;

yoke_matrix yoke__matrix_zero(yoke_arena* w, size_t n_rows, size_t n_columns);
yoke_matrix yoke__matrix_identity(yoke_arena* w, size_t n, double value);
// A copy of n_rows * n_columns numbers.
yoke_matrix yoke__matrix_from(yoke_arena* w, size_t n_rows, size_t n_columns, const double a[]);
yoke_matrix yoke__matrix_copy(yoke_arena* w, yoke_matrix A);

// A B
yoke_matrix yoke__matrix_mul(yoke_arena* w, yoke_matrix A, yoke_matrix B);
// A B C
yoke_matrix yoke__matrix_mul3(yoke_arena* w, yoke_matrix A, yoke_matrix B, yoke_matrix C);
// A + factor B
yoke_matrix yoke__matrix_add(yoke_arena* w, yoke_matrix A, yoke_matrix B, double factor);
yoke_matrix yoke__matrix_scale(yoke_arena* w, yoke_matrix A, double factor);
yoke_matrix yoke__matrix_transpose(yoke_arena* w, yoke_matrix A);

// The block of this size from row i and column j on.
yoke_matrix yoke__matrix_block(yoke_arena* w, yoke_matrix A, size_t i, size_t j, size_t n_rows,
                               size_t n_columns);
// [A B], and A above B
yoke_matrix yoke__matrix_beside(yoke_arena* w, yoke_matrix A, yoke_matrix B);
yoke_matrix yoke__matrix_above(yoke_arena* w, yoke_matrix A, yoke_matrix B);
// [A B; C D]
yoke_matrix yoke__matrix_blocks(yoke_arena* w, yoke_matrix A, yoke_matrix B, yoke_matrix C,
                                yoke_matrix D);

// A^-1 B. An A that is singular to rounding (reciprocal condition, 1-norm, below 1e-15) gives no elements and sets *is_singular, which
// is not touched otherwise: one flag serves several calls.
yoke_matrix yoke__matrix_solve(yoke_arena* w, yoke_matrix A, yoke_matrix B, bool* is_singular);
// The same whatever the condition; no elements only if a pivot is 0.
yoke_matrix yoke__matrix_solve_any(yoke_arena* w, yoke_matrix A, yoke_matrix B);
yoke_matrix yoke__matrix_inverse(yoke_arena* w, yoke_matrix A, bool* is_singular);

// Singular values, descending, and the vectors of all rows and columns: A = U S V^T, U and V square. NULL: not wanted.
// Values is a column of max(rows, columns, 1), 0 beyond the smaller size.
void yoke__matrix_svd(yoke_arena* w, yoke_matrix A, yoke_matrix* U, yoke_matrix* values,
                      yoke_matrix* V);
// The largest singular value, and the smallest of those that the size allows; 0 of an empty matrix, NaN if an element is not finite or
// without memory. Nothing is left in w (NULL: none), which is only told of a shortage.
double yoke__matrix_norm(yoke_arena* w, yoke_matrix A);
double yoke__matrix_least_gain(yoke_arena* w, yoke_matrix A);
// Largest |element|.
double yoke__matrix_largest(yoke_matrix A);

#endif
