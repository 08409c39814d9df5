// The best settings of a grid by ascending sorting: the runs are sorted by a measure, those near
// the smallest value are kept, and of every axis the kept runs tell a setting, the mean of numbers
// and the most frequent one of names. Near settings that do equally well say how much an axis
// matters, which the single best run does not.
//
//   kept: v <= v_1 + within |v_1|, at least `least` runs, and all that are equal to the last one
#ifndef YOKE_STUDY_BEST_H
#define YOKE_STUDY_BEST_H

#include "base/base_text.h"
#include "study/study_vary.h"

// What the kept runs have on an axis.
typedef struct yoke_best_axis {
  double mean, low, high;  // of numbers; NaN on an axis that has others
  size_t mode;             // level that most of them have; of equals the one of the better run
  double share;            // of the kept runs that have it
} yoke_best_axis;

typedef struct yoke_best {
  size_t* order;         // n_points: the smallest value first, then by point; without a value last
  size_t n_ranked;       // with a value
  size_t n_kept;         // the first ones of order
  double limit;          // value that the kept ones are below, before `least` is asked
  yoke_best_axis* axes;  // n_axes
} yoke_best;

// values: n_points of the grid; what is not finite does not count. within >= 0, least >= 1.
// YOKE_NO_MEMORY. Nothing is kept if nothing counts.
yoke_status yoke__best_compute(const yoke_grid* grid, const double values[], double within,
                               size_t least, yoke_best* out);
void yoke__best_free(yoke_best* best);

// Rows of best.csv: measure,rank,kept,value, then the axes, in the order of the runs.
void yoke__best_header(const yoke_grid* grid, yoke_text* csv);
void yoke__best_rows(const yoke_grid* grid, const yoke_best* best, const double values[],
                     const char* measure, yoke_text* csv);

#endif
