// Matrices as values: a thin layer over linalg_dense.h, see the header.
#include "synth/synth_matrix.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"

#define SINGULAR 1e-15

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

yoke_matrix yoke__matrix_zero(yoke_arena* w, size_t n_rows, size_t n_columns) {
  return (yoke_matrix){n_rows, n_columns,
                       yoke__arena_array(w, larger(n_rows * n_columns, 1), sizeof(double))};
}

// A result of this size where one of the factors has no elements.
static yoke_matrix nothing(size_t n_rows, size_t n_columns) {
  return (yoke_matrix){n_rows, n_columns, NULL};
}

yoke_matrix yoke__matrix_identity(yoke_arena* w, size_t n, double value) {
  const yoke_matrix I = yoke__matrix_zero(w, n, n);

  // also value I
  for (size_t i = 0; I.a != NULL && i < n; i++) {
    I.a[i * n + i] = value;
  }
  return I;
}

yoke_matrix yoke__matrix_from(yoke_arena* w, size_t n_rows, size_t n_columns, const double a[]) {
  if (a == NULL) {
    return nothing(n_rows, n_columns);
  }
  const yoke_matrix M = yoke__matrix_zero(w, n_rows, n_columns);
  if (M.a != NULL && n_rows * n_columns > 0) {
    memcpy(M.a, a, n_rows * n_columns * sizeof *a);
  }
  return M;
}

yoke_matrix yoke__matrix_copy(yoke_arena* w, yoke_matrix A) {
  return yoke__matrix_from(w, A.n_rows, A.n_columns, A.a);
}

yoke_matrix yoke__matrix_mul(yoke_arena* w, yoke_matrix A, yoke_matrix B) {
  if (A.a == NULL || B.a == NULL) {
    return nothing(A.n_rows, B.n_columns);
  }
  const yoke_matrix M = yoke__matrix_zero(w, A.n_rows, B.n_columns);
  if (M.a != NULL) {
    yoke__mat_mul(A.n_rows, A.n_columns, B.n_columns, A.a, B.a, M.a);
  }
  return M;
}

yoke_matrix yoke__matrix_mul3(yoke_arena* w, yoke_matrix A, yoke_matrix B, yoke_matrix C) {
  return yoke__matrix_mul(w, yoke__matrix_mul(w, A, B), C);
}

yoke_matrix yoke__matrix_add(yoke_arena* w, yoke_matrix A, yoke_matrix B, double factor) {
  if (B.a == NULL) {
    return nothing(A.n_rows, A.n_columns);
  }
  const yoke_matrix M = yoke__matrix_copy(w, A);
  for (size_t i = 0; M.a != NULL && i < M.n_rows * M.n_columns; i++) {
    M.a[i] += factor * B.a[i];
  }
  return M;
}

yoke_matrix yoke__matrix_scale(yoke_arena* w, yoke_matrix A, double factor) {
  const yoke_matrix M = yoke__matrix_copy(w, A);
  for (size_t i = 0; M.a != NULL && i < M.n_rows * M.n_columns; i++) {
    M.a[i] *= factor;
  }
  return M;
}

yoke_matrix yoke__matrix_transpose(yoke_arena* w, yoke_matrix A) {
  if (A.a == NULL) {
    return nothing(A.n_columns, A.n_rows);
  }
  const yoke_matrix M = yoke__matrix_zero(w, A.n_columns, A.n_rows);
  for (size_t i = 0; M.a != NULL && i < A.n_rows; i++) {
    for (size_t j = 0; j < A.n_columns; j++) {
      M.a[j * A.n_rows + i] = A.a[i * A.n_columns + j];
    }
  }
  return M;
}

// to(i.., j..) := B
static void put(yoke_matrix to, size_t i, size_t j, yoke_matrix B) {
  for (size_t k = 0; k < B.n_rows && B.n_columns > 0; k++) {
    memcpy(to.a + (i + k) * to.n_columns + j, B.a + k * B.n_columns, B.n_columns * sizeof *B.a);
  }
}

yoke_matrix yoke__matrix_block(yoke_arena* w, yoke_matrix A, size_t i, size_t j, size_t n_rows,
                               size_t n_columns) {
  if (A.a == NULL) {
    return nothing(n_rows, n_columns);
  }
  const yoke_matrix M = yoke__matrix_zero(w, n_rows, n_columns);
  for (size_t k = 0; M.a != NULL && k < n_rows && n_columns > 0; k++) {
    memcpy(M.a + k * n_columns, A.a + (i + k) * A.n_columns + j, n_columns * sizeof *M.a);
  }
  return M;
}

yoke_matrix yoke__matrix_blocks(yoke_arena* w, yoke_matrix A, yoke_matrix B, yoke_matrix C,
                                yoke_matrix D) {
  const size_t n = A.n_rows + C.n_rows, m = A.n_columns + B.n_columns;
  if (A.a == NULL || B.a == NULL || C.a == NULL || D.a == NULL) {
    return nothing(n, m);
  }
  const yoke_matrix M = yoke__matrix_zero(w, n, m);
  if (M.a != NULL) {
    put(M, 0, 0, A);
    put(M, 0, A.n_columns, B);
    put(M, A.n_rows, 0, C);
    put(M, A.n_rows, A.n_columns, D);
  }
  return M;
}

yoke_matrix yoke__matrix_beside(yoke_arena* w, yoke_matrix A, yoke_matrix B) {
  return yoke__matrix_blocks(w, A, B, yoke__matrix_zero(w, 0, A.n_columns),
                             yoke__matrix_zero(w, 0, B.n_columns));
}

yoke_matrix yoke__matrix_above(yoke_arena* w, yoke_matrix A, yoke_matrix B) {
  return yoke__matrix_blocks(w, A, yoke__matrix_zero(w, A.n_rows, 0), B,
                             yoke__matrix_zero(w, B.n_rows, 0));
}

// X with A X = B; rows of *inverse, if wanted, are columns of A^-1. No elements if a pivot is 0.
static yoke_matrix solve_lu(yoke_arena* w, yoke_matrix A, yoke_matrix B, yoke_matrix* inverse,
                            bool* is_singular) {
  const size_t n = A.n_rows;

  // rows of X are right-hand sides
  const yoke_matrix lu = yoke__matrix_copy(w, A), X = yoke__matrix_transpose(w, B);
  size_t* pivots = yoke__arena_array(w, larger(n, 1), sizeof *pivots);
  // what fails gives a matrix without elements, which everything after it hands on
  if (lu.a == NULL || X.a == NULL || pivots == NULL) {
    return nothing(n, B.n_columns);
  }
  if (!yoke__are_finite(n * n, A.a) || yoke__lu_factor(n, lu.a, pivots) < 0) {
    *is_singular = true;
    return nothing(n, B.n_columns);
  }

  // row i of X is column i of B
  for (size_t i = 0; i < B.n_columns; i++) {
    yoke__lu_solve(n, lu.a, pivots, X.a + i * n);
  }
  for (size_t i = 0; inverse != NULL && inverse->a != NULL && i < n; i++) {
    yoke__lu_solve(n, lu.a, pivots, inverse->a + i * n);
  }
  return yoke__matrix_transpose(w, X);
}

yoke_matrix yoke__matrix_solve_any(yoke_arena* w, yoke_matrix A, yoke_matrix B) {
  bool is_singular = false;
  return solve_lu(w, A, B, NULL, &is_singular);
}

yoke_matrix yoke__matrix_solve(yoke_arena* w, yoke_matrix A, yoke_matrix B, bool* is_singular) {
  const size_t n = A.n_rows;
  yoke_matrix inverse = yoke__matrix_identity(w, n, 1);
  const yoke_matrix X = solve_lu(w, A, B, &inverse, is_singular);
  if (X.a == NULL || inverse.a == NULL) {
    return nothing(n, B.n_columns);
  }

  // |A|_1 |A^-1|_1 from the inverse itself: sizes are small, and its rows are columns of A^-1
  double inverse_norm = 0;
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
      sum += fabs(inverse.a[i * n + k]);
    }
    inverse_norm = fmax(inverse_norm, sum);
  }
  if (n > 0 && !(yoke__norm_1(n, A.a) * inverse_norm < 1 / SINGULAR)) {
    *is_singular = true;
    return nothing(n, B.n_columns);
  }
  return X;
}

yoke_matrix yoke__matrix_inverse(yoke_arena* w, yoke_matrix A, bool* is_singular) {
  return yoke__matrix_solve(w, A, yoke__matrix_identity(w, A.n_rows, 1), is_singular);
}

void yoke__matrix_svd(yoke_arena* w, yoke_matrix A, yoke_matrix* U, yoke_matrix* values,
                      yoke_matrix* V) {
  // square with zeros, so that the vectors are complete
  const size_t r = A.n_rows, c = A.n_columns, n = larger(larger(r, c), 1);
  const yoke_matrix square =
      yoke__matrix_blocks(w, A, yoke__matrix_zero(w, r, n - c), yoke__matrix_zero(w, n - r, c),
                          yoke__matrix_zero(w, n - r, n - c));
  const yoke_matrix all_u = yoke__matrix_zero(w, n, n), s = yoke__matrix_zero(w, n, 1);
  const yoke_matrix all_v = yoke__matrix_zero(w, n, n);
  double* work = yoke__arena_array(w, yoke__svd_work_size(n, n), sizeof *work);
  const bool is_there = square.a && all_u.a && s.a && all_v.a && work;
  if (is_there && yoke__svd(n, n, square.a, all_u.a, s.a, all_v.a, work) < 0) {
    // no convergence: NaN in place of singular values, which no comparison accepts
    for (size_t i = 0; i < n; i++) {
      s.a[i] = (double)NAN;
    }
  }
  if (U != NULL) {
    *U = is_there ? yoke__matrix_block(w, all_u, 0, 0, r, r) : nothing(r, r);
  }
  if (V != NULL) {
    *V = is_there ? yoke__matrix_block(w, all_v, 0, 0, c, c) : nothing(c, c);
  }
  if (values != NULL) {
    *values = is_there ? s : nothing(n, 1);
  }
}

// The singular value of this number.
static double singular_value(yoke_arena* w, yoke_matrix A, size_t i) {
  yoke_arena scratch = {0};
  yoke_matrix values = nothing(0, 0);
  if (A.a != NULL) {
    yoke__matrix_svd(&scratch, A, NULL, &values, NULL);
  }
  const double value = values.a != NULL ? values.a[i] : (double)NAN;
  if (w != NULL && values.a == NULL) {
    w->has_failed = true;
  }
  yoke__arena_free(&scratch);
  return value;
}

double yoke__matrix_norm(yoke_arena* w, yoke_matrix A) {
  return A.n_rows == 0 || A.n_columns == 0 ? 0 : singular_value(w, A, 0);
}

double yoke__matrix_least_gain(yoke_arena* w, yoke_matrix A) {
  // of as many as there are rows or columns, whichever is less: the others are 0 by shape
  const size_t n = A.n_rows < A.n_columns ? A.n_rows : A.n_columns;
  return n == 0 ? 0 : singular_value(w, A, n - 1);
}

double yoke__matrix_largest(yoke_matrix A) {
  double largest = 0;
  for (size_t i = 0; A.a != NULL && i < A.n_rows * A.n_columns; i++) {
    largest = fmax(largest, fabs(A.a[i]));
  }
  return largest;
}
