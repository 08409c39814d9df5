// Bohl exponents of a sequence of step matrices: does x^{k+1} = M_k x^k decay whatever the time it
// is looked at?
//
//   beta = limsup_{K -> inf} sup_l ||M_{l+K-1} ... M_l||^(1/K),   exponentially stable: beta < 1
//
// evaluated for one K. Products over all windows of length K cost three multiplications each: the
// sequence is cut into blocks of K matrices, a window that starts at place r of a block is the
// product of the rest of this block (from r on) and the first r of the next.
// Source: S. Genser, thesis, Graz 2020, section 3.3.2. Page: docs/analyse.md, "A run that was recorded".
// Assumes that K steps neither overflow nor vanish altogether.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg_dense.h"
#include "study/study_stability.h"

typedef struct bohl {
  size_t n, K;
  const double* matrices;
  const double* scale;
  double* rest;     // K + 1 matrices: product from place r of the block to its end; the last is I
  double* head;     // first r matrices of the next block
  double *T, *svd;  // work
} bohl;

static void set_identity(size_t n, double A[]) {
  memset(A, 0, n * n * sizeof *A);
  for (size_t i = 0; i < n; i++) {
    A[i * n + i] = 1;
  }
}

// Products of the block that starts at matrix `first`, from each place to its end.
static void multiply_block(bohl* b, size_t first) {
  const size_t nn = b->n * b->n;

  // rest_r = M_{K-1} .. M_r from the end of the block: rest_r = rest_(r+1) M_r
  set_identity(b->n, b->rest + b->K * nn);
  for (size_t r = b->K; r-- > 0;) {
    yoke__mat_mul(b->n, b->n, b->n, b->rest + (r + 1) * nn, b->matrices + (first + r) * nn,
                  b->rest + r * nn);
  }
}

// Largest singular value of D^-1 A D, D = diag(scale); A is overwritten. Not computed where the
// Frobenius norm, which is never smaller, does not exceed `beyond`: then that is returned.
static yoke_status norm_2(const bohl* b, double A[], double beyond, double* norm) {
  const size_t n = b->n;
  double sum = 0;
  for (size_t i = 0; i < n * n; i++) {
    // D^-1 A D, and its Frobenius norm on the way
    A[i] *= b->scale != NULL ? b->scale[i % n] / b->scale[i / n] : 1;
    sum += A[i] * A[i];
  }
  if (sqrt(sum) <= beyond) {
    *norm = beyond;
    return YOKE_OK;
  }
  double *U = b->svd, *s = U + n * n, *V = s + n, *work = V + n * n;
  YOKE_TRY(yoke__svd(n, n, A, U, s, V, work));
  *norm = s[0];
  return YOKE_OK;
}

static yoke_status sweep(bohl* b, size_t count, double* value) {
  const size_t n = b->n, nn = n * n, K = b->K;
  double largest = 0;
  for (size_t l = 0; l + K <= count; l++) {
    // window l: rest of its block from r on, then the first r of the next
    const size_t r = l % K;
    if (r == 0) {
      multiply_block(b, l);
      set_identity(n, b->head);
    } else {
      // head := M_(l+K-1) head
      memcpy(b->T, b->head, nn * sizeof *b->T);
      yoke__mat_mul(n, n, n, b->matrices + (l + K - 1) * nn, b->T, b->head);
    }
    double norm;
    yoke__mat_mul(n, n, n, b->head, b->rest + r * nn, b->T);
    YOKE_TRY(norm_2(b, b->T, largest, &norm));
    largest = norm > largest ? norm : largest;
  }

  // K-th root of the largest norm
  *value = pow(largest, 1 / (double)K);
  return YOKE_OK;
}

yoke_status yoke__stability_bohl(size_t n, const double matrices[], size_t count, size_t K,
                                 const double scale[], double* value) {
  *value = (double)NAN;
  if (n == 0 || K == 0 || count < K) {
    return YOKE_BAD_ARG;
  }
  const size_t nn = n * n;
  double* memory = calloc((K + 3) * nn + 2 * nn + n + yoke__svd_work_size(n, n), sizeof *memory);
  YOKE_TRY_MEMORY(memory);
  bohl b = {n, K, matrices, scale, memory, NULL, NULL, NULL};
  b.head = b.rest + (K + 1) * nn;
  b.T = b.head + nn;
  b.svd = b.T + nn;
  const yoke_status status = sweep(&b, count, value);
  free(memory);
  return status;
}
