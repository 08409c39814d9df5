// Sparse square systems with a fixed pattern, for the step loop:
//
//   create     pattern                                                   (heap, before the run)
//   factor     values  -> pivots, factors, operation list, reserve       (heap, before the run)
//   refactor   values  -> factors with the pivots at hand                (no heap, bounded)
//   solve      b := A \ b                                                (no heap, bounded)
//   repivot    values  -> new pivots and factors in reserved space       (no heap, counted)
//
// The smallest systems are dense with partial pivoting, where refactor chooses its pivots anew.
// Larger ones get pivots of our own (Markowitz cost with a threshold) or of KLU (T. Davis, E.
// Palamadai Natarajan, ACM TOMS 37, 2010), whichever leaves less to do, and are refactored by a
// list of operations lu[d] -= lu[a] * lu[b] compiled from them; only those operations are run that
// depend on values marked as varying. docs/sparse.md explains the parts.
//
// Columns are compressed: row indices of column j are rows[starts[j] .. starts[j+1]-1], ascending.
#ifndef YOKE_LINALG_SPARSE_H
#define YOKE_LINALG_SPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_arena.h"
#include "yoke/status.h"

typedef enum yoke_sparse_kernel {
  YOKE_SPARSE_AUTO,   // dense up to 4 unknowns, else the list
  YOKE_SPARSE_DENSE,  // dense LU with partial pivoting
  YOKE_SPARSE_LIST,   // compiled operation list
  YOKE_SPARSE_KLU,    // klu_refactor and klu_solve, for comparison
} yoke_sparse_kernel;

typedef struct yoke_sparse_pattern {
  int32_t n;              // unknowns
  const int32_t* starts;  // n + 1
  const int32_t* rows;    // starts[n]
  // starts[n]; 1: the value may change between factor and refactor. NULL: all may
  const uint8_t* varying;
} yoke_sparse_pattern;

typedef struct yoke_sparse_settings {
  yoke_sparse_kernel kernel;
  // sets of factors kept side by side, e.g. one per switch state or step size; 0: 1
  size_t n_slots;
  // refactor fails when an element of the factors outgrows the matrix by this; 0: 1e8
  double growth_limit;
  // threshold of partial pivoting to start with; stricter ones follow if the factors grow; 0: 0.01
  double pivot_tolerance;
  bool without_klu;  // own pivots even where KLU is there
} yoke_sparse_settings;

typedef struct yoke_sparse_stats {
  yoke_sparse_kernel kernel;                               // in use, never AUTO
  size_t n_nonzeros, n_factors;                            // of the matrix; of L and U together
  size_t n_operations;                                     // of one refactor
  size_t n_factored, n_refactored, n_repivoted, n_solved;  // calls so far
  // of all orders of pivots that the last factor tried: entries looked at, merged and updated
  double n_order_operations;
  size_t n_bytes;
  double growth;  // of the last factor, repivot or refactor, there an upper bound while small
  double rcond;   // of the last factor, cheap estimate: smallest over largest pivot
  double weakest_pivot;  // of the last factor, with rows scaled to 1; dense and KLU: rcond
} yoke_sparse_stats;

typedef struct yoke_sparse yoke_sparse;

// The pattern is copied. Memory comes from the arena, which factor uses too, so it must stay where it
// is; what KLU takes destroy gives back.
yoke_status yoke__sparse_create(const yoke_sparse_pattern* pattern,
                                const yoke_sparse_settings* settings, yoke_arena* arena,
                                yoke_sparse** out);
void yoke__sparse_destroy(yoke_sparse** self);  // NULL is fine

// values: starts[n], in the order of the pattern. YOKE_SINGULAR: *singular_column says where the
// rank ends (index of an unknown, before permutation; may be NULL). Fills all slots.
yoke_status yoke__sparse_factor(yoke_sparse* self, const double values[], int32_t* singular_column);
// Only what is marked as varying is read. YOKE_SINGULAR if a pivot is zero, a value not finite, or
// an element of the factors, with rows scaled to 1, beyond the growth limit: the slot is then
// unusable until a repivot or a refactor succeeds. Also YOKE_SINGULAR before the first factor.
yoke_status yoke__sparse_refactor(yoke_sparse* self, size_t slot, const double values[]);
// New pivots for all slots: others are marked stale and must be refactored (dense: only this slot
// is touched). YOKE_FULL: the fill does not fit the space reserved; no slot is valid then, a
// refactor may succeed with the old pivots. YOKE_SINGULAR: the same, for want of pivots. The KLU
// kernel takes heap here.
yoke_status yoke__sparse_repivot(yoke_sparse* self, size_t slot, const double values[]);
bool yoke__sparse_is_valid(const yoke_sparse* self, size_t slot);
// NaN in all of b if the slot is not valid.
void yoke__sparse_solve(yoke_sparse* self, size_t slot, double b[]);

void yoke__sparse_get_stats(const yoke_sparse* self, yoke_sparse_stats* stats);

// y := A x
void yoke__sparse_mul(const yoke_sparse_pattern* pattern, const double values[], const double x[],
                      double y[]);
// Largest number of rows and columns that can be matched: n for a structurally regular matrix.
// column_of (may be NULL): the column that is matched with each row, -1: none. Takes heap.
yoke_status yoke__sparse_structural_rank(const yoke_sparse_pattern* pattern, int32_t* rank,
                                         int32_t column_of[]);

#endif
