// Two windows of samples side by side: does one linear model fit both of them as well as one model each?
//
// Sums of products are kept in blocks, a ring per output, so that windows of any number of whole blocks can be compared at any
// time. No heap; adding a row takes (q + 1) (q + 2) / 2 multiplications, comparing as many as three Cholesky factors.
#ifndef YOKE_COUPLE_MPSM_WINDOW_H
#define YOKE_COUPLE_MPSM_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include "couple/couple_pieces.h"

typedef struct yoke_mpsm_window_setup {
  size_t n;            // regressions, one per output
  size_t q;            // parameters of each
  size_t n_blocks;     // that are kept, the one being filled aside
  double least_share;  // of the motion: what a model misses counts as at least that, in squares
} yoke_mpsm_window_setup;

typedef struct yoke_mpsm_window {
  yoke_mpsm_window_setup setup;
  size_t n_sums;  // of a block: lower triangle by rows, number of samples, square of the motion
  size_t newest, n_whole;       // block that is being filled, whole blocks before it
  double* sums;                 // n x (n_blocks + 1) x n_sums
  double *now, *before, *both;  // n_sums: work
} yoke_mpsm_window;

// Lays it into the pieces, which are zero; counts them if they have no memory.
void yoke__mpsm_window_lay(yoke_pieces* from, const yoke_mpsm_window_setup* setup,
                           yoke_mpsm_window* to);
// One sample of regression i: q regressors and behind them the output; motion: of the output since the last one.
void yoke__mpsm_window_add(yoke_mpsm_window* window, size_t i, const double row[], double motion);
// The block is whole, the next one begins.
void yoke__mpsm_window_next(yoke_mpsm_window* window);
// Forgets all blocks.
void yoke__mpsm_window_clear(yoke_mpsm_window* window);
// F of the newest n_now whole blocks against the n_before blocks before them, regression i; -1 if there are
// too few samples, or nothing moves.
// n_now + n_before at most n_whole.
double yoke__mpsm_window_compare(const yoke_mpsm_window* window, size_t i, size_t n_now,
                                 size_t n_before);

#endif
