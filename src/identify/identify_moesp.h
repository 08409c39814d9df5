// MOESP: a state-space model of a unit from a window of its inputs and outputs.
//
// Fragile: order, block rows, window and excitation must suit each other, and most settings give
// models worse than none. Recursive least squares (identify_rls.h) is the safer choice.
//
// Two parts. The triangular factor belongs to the step path: it keeps what is needed of the samples. The solver
// belongs beside it: all its memory is taken when it is made, but LAPACK may take some of its own.
//
//   at every exchange   yoke__moesp_factor_add(&factor, y, u)
//   now and then        yoke__moesp_factor_copy(&factor, &copy), then elsewhere
//                       yoke__moesp_solve_factor(moesp, &copy, &model)
//   or of a window      yoke__moesp_solve(moesp, n_samples, samples, &model)
#ifndef YOKE_IDENTIFY_MOESP_H
#define YOKE_IDENTIFY_MOESP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "identify/identify_jacobian.h"
#include "yoke/message.h"
#include "yoke/status.h"

#define YOKE_MOESP_TOLERANCE   1e-3  // of singular values that count, order from the data
#define YOKE_MOESP_MAX_COLUMNS 2000  // r (n + m): beyond it no window is long enough

// Which input belongs to which output in x_{k+1} = A x_k + B u_k, y_k = C x_k + D u_k.
typedef enum yoke_moesp_pairing {
  YOKE_MOESP_SHIFTED,  // u_k := u^{k+1}, which acts from T^k on; D = 0
  YOKE_MOESP_ALIGNED,  // u_k := u^k, which acted until T^k; D estimated
} yoke_moesp_pairing;

typedef enum yoke_moesp_rule {
  YOKE_MOESP_FIXED,      // order as given
  YOKE_MOESP_TOLERATED,  // singular values above tolerance * the first; `order` is the most
  YOKE_MOESP_GAP,        // the largest quotient of neighbours; `order` is the most
} yoke_moesp_rule;

typedef struct yoke_moesp_setup {
  size_t n, m;       // outputs, inputs: at least 1 each
  size_t n_rows;     // r, block rows; 0: max(order + 2, 4)
  size_t order;      // states, at most n (r - 1)
  size_t window;     // samples
  double tolerance;  // YOKE_MOESP_TOLERATED; 0: YOKE_MOESP_TOLERANCE
  yoke_moesp_rule rule;
  yoke_moesp_pairing pairing;
  bool is_recursive;  // the solver takes triangular factors only, and no memory for a window
} yoke_moesp_setup;

// r: as given, or the default.
size_t yoke__moesp_rows(const yoke_moesp_setup* setup);

// A model; the matrices (row by row) belong to who made it: A order x order, B order x m, C n x
// order, D n x m, values n r.
typedef struct yoke_moesp_model {
  size_t order;
  double *A, *B, *C, *D;
  double* values;  // singular values of scaled data
  size_t n_values;
} yoke_moesp_model;

// ---- the recursive form: the triangular factor of all samples with forgetting, in the caller's memory

typedef struct yoke_moesp_factor {
  size_t n, m, n_rows;  // outputs, inputs, block rows
  yoke_moesp_pairing pairing;
  double forgetting, root;  // weight of a sample one exchange older, and its root
  int64_t n_recent;         // samples since the last gap
  int64_t n_added;          // rows of data in the triangle
  double weight;            // of all pairs: 1 + forgetting + ..
  double* triangle;         // K x K, K = r (n + m), row by row
  double *recent, *row;     // the last r pairs; K
  double *mean, *squares;   // n + m each, outputs first: squares about the mean
} yoke_moesp_factor;

// Doubles of its memory; 0 for a set-up with too many columns, which the solver refuses.
size_t yoke__moesp_factor_size(const yoke_moesp_setup* setup);
// forgetting: 1 - 1 / window is what a window of that length remembers; 1 forgets nothing.
void yoke__moesp_factor_prepare(yoke_moesp_factor* factor, const yoke_moesp_setup* setup,
                                double forgetting, double memory[]);
// y^k and u^k, in the step path: about 3 K^2 operations, no heap. A sample with a number that is not finite starts it
// anew.
void yoke__moesp_factor_add(yoke_moesp_factor* factor, const double y[], const double u[]);
// The next sample does not follow the last one; what it knows stays.
void yoke__moesp_factor_break(yoke_moesp_factor* factor);
void yoke__moesp_factor_reset(yoke_moesp_factor* factor);
// to: prepared with the same set-up.
void yoke__moesp_factor_copy(const yoke_moesp_factor* from, yoke_moesp_factor* to);

// ---- the solver

typedef struct yoke_moesp yoke_moesp;

// Takes all memory. YOKE_BAD_ARG with a message if the set-up is out of range or the window too
// short for it: at least (r + 1)(n + m) + r samples; YOKE_NO_MEMORY.
yoke_status yoke__moesp_create(const yoke_moesp_setup* setup, yoke_moesp** out,
                               const yoke_sink* sink);
void yoke__moesp_destroy(yoke_moesp** moesp);

// The model of n_samples samples (n + m numbers each, y^k before u^k, oldest first; at most `window`
// of them). *model points into the solver and holds until the next call. YOKE_BAD_ARG: too few
// samples or not finite; YOKE_SINGULAR: no singular value above 0 (a signal that never moved);
// YOKE_NO_CONVERGENCE from LAPACK. No heap of its own, not for the step path.
yoke_status yoke__moesp_solve(yoke_moesp* moesp, size_t n_samples, const double samples[],
                              yoke_moesp_model* model);

// The same of a triangular factor, which is not changed. YOKE_BAD_ARG while it has fewer rows than columns.
yoke_status yoke__moesp_solve_factor(yoke_moesp* moesp, const yoke_moesp_factor* factor,
                                     yoke_moesp_model* model);

// Jacobians of a model. The basis of the states differs from model to model, so that C of the same
// model stands on both sides of A. work: yoke__moesp_jacobian_work_size doubles. No heap.
//   shifted  Sy = C A C+, S0 = 0,            S1 = C B
//   aligned  Sy = C A C+, S0 = C B - Sy D,   S1 = D
yoke_status yoke__moesp_jacobian(const yoke_moesp_model* model, yoke_moesp_pairing pairing,
                                 yoke_jacobian_discrete* to, double work[]);
size_t yoke__moesp_jacobian_work_size(size_t n, size_t m, size_t order);

#endif
