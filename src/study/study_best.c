// Ascending sorting; see study_best.h.
#include "study/study_best.h"

#include <math.h>
#include <stdlib.h>

#include "base/base_check.h"
#include "energy/energy_sum.h"

// ---- order

typedef struct ranked {
  double value;
  size_t point;
} ranked;

static int compare(const void* left, const void* right) {
  const ranked *x = left, *y = right;
  const int is_lost_x = !yoke__is_finite(x->value), is_lost_y = !yoke__is_finite(y->value);
  if (is_lost_x != is_lost_y) {
    return is_lost_x - is_lost_y;
  }
  if (!is_lost_x && x->value != y->value) {
    return x->value < y->value ? -1 : 1;
  }
  return (x->point > y->point) - (x->point < y->point);
}

static yoke_status sort(const yoke_grid* grid, const double values[], yoke_best* out) {
  ranked* runs = malloc(grid->n_points * sizeof *runs);
  YOKE_TRY_MEMORY(runs);
  for (size_t i = 0; i < grid->n_points; i++) {
    runs[i] = (ranked){values[i], i};
    out->n_ranked += yoke__is_finite(values[i]) ? 1 : 0;
  }
  qsort(runs, grid->n_points, sizeof *runs, compare);
  for (size_t i = 0; i < grid->n_points; i++) {
    out->order[i] = runs[i].point;
  }
  free(runs);
  return YOKE_OK;
}

// ---- what is kept

static void keep(const double values[], double within, size_t least, yoke_best* out) {
  if (out->n_ranked == 0) {
    out->limit = (double)NAN;
    return;
  }
  const double best = values[out->order[0]];
  out->limit = best + within * fabs(best);
  while (out->n_kept < out->n_ranked) {
    const double value = values[out->order[out->n_kept]];
    // where `least` cuts, equals stay together: the order of the grid must not decide
    const bool is_equal = out->n_kept > 0 && value == values[out->order[out->n_kept - 1]];
    if (value > out->limit && out->n_kept >= least && !is_equal) {
      break;
    }
    out->n_kept++;
  }
}

// counts: room for the levels of the axis
static void sum_up(const yoke_grid* grid, size_t axis, const yoke_best* best, size_t counts[],
                   yoke_best_axis* out) {
  const yoke_axis* a = &grid->axes[axis];
  yoke_sum sum = {0, 0};
  *out = (yoke_best_axis){(double)NAN, (double)NAN, (double)NAN, 0, 0};
  for (size_t i = 0; i < a->n; i++) {
    counts[i] = 0;
  }
  for (size_t i = 0; i < best->n_kept; i++) {
    const size_t level = yoke__grid_index(grid, best->order[i], axis);
    counts[level]++;
    if (a->is_numeric) {
      yoke__sum_add(&sum, a->numbers[level] / (double)best->n_kept);
      out->low = fmin(out->low, a->numbers[level]);  // NaN gives way
      out->high = fmax(out->high, a->numbers[level]);
    }
  }
  size_t most = 0;
  for (size_t i = 0; i < best->n_kept; i++) {
    const size_t level = yoke__grid_index(grid, best->order[i], axis);
    if (counts[level] > most) {
      most = counts[level];
      out->mode = level;
    }
  }
  if (best->n_kept > 0) {
    out->share = (double)most / (double)best->n_kept;
    out->mean = a->is_numeric ? yoke__sum_value(&sum) : (double)NAN;
  }
}

yoke_status yoke__best_compute(const yoke_grid* grid, const double values[], double within,
                               size_t least, yoke_best* out) {
  size_t n_levels = 1;
  for (size_t i = 0; i < grid->n_axes; i++) {
    n_levels = grid->axes[i].n > n_levels ? grid->axes[i].n : n_levels;
  }
  *out = (yoke_best){0};
  size_t* counts = calloc(n_levels, sizeof *counts);
  out->order = calloc(grid->n_points, sizeof *out->order);
  out->axes = calloc(grid->n_axes + 1, sizeof *out->axes);
  yoke_status status = YOKE_NO_MEMORY;
  if (counts != NULL && out->order != NULL && out->axes != NULL) {
    status = sort(grid, values, out);
  }
  if (status >= 0) {
    keep(values, within, least, out);
    for (size_t i = 0; i < grid->n_axes; i++) {
      sum_up(grid, i, out, counts, &out->axes[i]);
    }
  } else {
    yoke__best_free(out);
  }
  free(counts);
  return status;
}

void yoke__best_free(yoke_best* best) {
  free(best->order);
  free(best->axes);
  *best = (yoke_best){0};
}

// ---- text

void yoke__best_header(const yoke_grid* grid, yoke_text* csv) {
  yoke__text_add(csv, "measure,rank,kept,value");
  for (size_t i = 0; i < grid->n_axes; i++) {
    yoke__text_add(csv, ",");
    yoke__text_cell(csv, grid->axes[i].path);
  }
  yoke__text_add(csv, "\n");
}

void yoke__best_rows(const yoke_grid* grid, const yoke_best* best, const double values[],
                     const char* measure, yoke_text* csv) {
  for (size_t i = 0; i < grid->n_points; i++) {
    const size_t point = best->order[i];
    yoke__text_cell(csv, measure);
    if (i < best->n_ranked) {
      yoke__text_add(csv, ",%zu,%s,", i + 1, i < best->n_kept ? "yes" : "no");
      yoke__text_number(csv, values[point]);
    } else {
      yoke__text_add(csv, ",,no,");
    }
    for (size_t k = 0; k < grid->n_axes; k++) {
      yoke__text_add(csv, ",");
      yoke__text_cell(csv, grid->axes[k].values[yoke__grid_index(grid, point, k)]);
    }
    yoke__text_add(csv, "\n");
  }
}
