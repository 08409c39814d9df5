// Grids of settings: `path=from:to:n[:log]` or `path=a,b,c` per axis, and every combination of their values.
#ifndef YOKE_STUDY_VARY_H
#define YOKE_STUDY_VARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base_arena.h"
#include "yoke/message.h"

#define YOKE_GRID_MAX_POINTS 1000000u
#define YOKE_GRID_MAX_AXES   16u

typedef struct yoke_axis {
  const char* path;     // of the system file
  const char** values;  // n texts, as the file would have them
  const char** sets;    // n texts "path=value"
  double* numbers;      // n; NaN for a value that is no number
  size_t n;
  bool is_numeric;  // all values are numbers
  bool is_log;      // evenly spaced in the logarithm
} yoke_axis;

// Points are numbered so that the last axis runs fastest.
typedef struct yoke_grid {
  yoke_axis* axes;
  size_t n_axes, n_points;
  yoke_arena arena;  // owns everything above
} yoke_grid;

// From n texts as given with --vary. Numbers of a range are rounded to 15 digits, so that 0.1:0.3:3 has a 0.2, those of a
// logarithmic one to 3 where that keeps them apart, so that 1e-4:1e-2:5:log has 0.000316; the ends are met exactly.
// YOKE_BAD_INPUT with a message "'text': what was expected"; then *out is empty.
yoke_status yoke__grid_create(const char* const texts[], size_t n, yoke_grid* out,
                              const yoke_sink* sink);
void yoke__grid_free(yoke_grid* grid);
// Index of a point's value on an axis.
size_t yoke__grid_index(const yoke_grid* grid, size_t point, size_t axis);
// "a=1, b=2" for messages.
void yoke__grid_describe(const yoke_grid* grid, size_t point, char* to, size_t size);

// Characters of text before the first of `stops` that stands outside quotes and brackets, or all of them.
size_t yoke__study_span(const char* text, const char* stops);

#endif
