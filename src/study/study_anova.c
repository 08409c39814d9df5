// Effects one after another: the mean of every level (or pair) of what is left of the values is the
// effect, and is taken away from them. The effects of a full array are orthogonal, so that the
// order does not matter, and what remains at the end is the rest; nothing is computed as a
// difference of large sums. See study_anova.h.
#include "study/study_anova.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "energy/energy_sum.h"

// Values on their way.
typedef struct array {
  const yoke_grid* grid;
  double* left;     // n_points: values without the effects so far, over their size
  yoke_sum* cells;  // of the levels of an effect
  size_t n;
} array;

// Points are numbered with the last axis fastest: the level of a point on an axis is
// (point / stride) mod n.
static size_t stride_of(const yoke_grid* grid, size_t axis) {
  size_t stride = 1;
  for (size_t i = axis + 1; i < grid->n_axes; i++) {
    stride *= grid->axes[i].n;
  }
  return stride;
}

// ---- one effect

// Takes an effect away from the values; its sum of squares. Interactions need their two main
// effects gone.
static double take_effect(array* y, size_t a, size_t b) {
  const yoke_axis *one = &y->grid->axes[a], *two = &y->grid->axes[b];
  const size_t stride_a = stride_of(y->grid, a), stride_b = stride_of(y->grid, b);
  const size_t n_two = a == b ? 1 : two->n, n_cells = one->n * n_two;

  // compensated sums of the values in each cell
  for (size_t i = 0; i < n_cells; i++) {
    y->cells[i] = (yoke_sum){0, 0};
  }
  for (size_t i = 0; i < y->n; i++) {
    const size_t level_b = a == b ? 0 : i / stride_b % two->n;
    yoke__sum_add(&y->cells[i / stride_a % one->n * n_two + level_b], y->left[i]);
  }
  yoke_sum squares = {0, 0};
  assert(n_cells > 0);
  const size_t n_per_cell = y->n / n_cells;
  const double n_each = (double)n_per_cell;

  // effect of a cell: its mean; sum of squares n mean^2
  for (size_t i = 0; i < n_cells; i++) {
    const double mean = yoke__sum_value(&y->cells[i]) / n_each;
    yoke__sum_add(&squares, n_each * mean * mean);
    y->cells[i].high = mean;
  }

  // taken away: what is left is orthogonal to this effect
  for (size_t i = 0; i < y->n; i++) {
    const size_t level_b = a == b ? 0 : i / stride_b % two->n;
    y->left[i] -= y->cells[i / stride_a % one->n * n_two + level_b].high;
  }
  return yoke__sum_value(&squares);
}

static double sum_squares(const array* y) {
  yoke_sum squares = {0, 0};
  for (size_t i = 0; i < y->n; i++) {
    yoke__sum_add(&squares, y->left[i] * y->left[i]);
  }
  return yoke__sum_value(&squares);
}

// ---- all of them

// Divides by the power of two next below the largest magnitude, which rounds nothing, so that no
// square overflows or vanishes. Returns it; 1 where all is 0.
static double scale(array* y) {
  double largest = 0;
  int exponent = 0;
  for (size_t i = 0; i < y->n; i++) {
    // frexp: largest = f 2^e, f in [1/2, 1)
    largest = fmax(largest, fabs(y->left[i]));
  }
  frexp(largest, &exponent);
  const double size = largest > 0 ? ldexp(1, exponent - 1) : 1;
  for (size_t i = 0; i < y->n; i++) {
    y->left[i] /= size;
  }
  return size;
}

// Takes the mean out of the values, in two passes, since the first one is rounded like the values
// are. Returns what the rest is scaled by.
static double centre(array* y, const double values[], double* grand) {
  double mean = 0;
  for (size_t i = 0; i < y->n; i++) {
    y->left[i] = values[i];
  }
  const double size = scale(y);
  for (int pass = 0; pass < 2; pass++) {
    // the second pass takes what rounding left of the first
    yoke_sum sum = {0, 0};
    for (size_t i = 0; i < y->n; i++) {
      yoke__sum_add(&sum, y->left[i]);
    }
    const double part = yoke__sum_value(&sum) / (double)y->n;
    mean += part;
    for (size_t i = 0; i < y->n; i++) {
      y->left[i] -= part;
    }
  }
  *grand = mean * size;
  return size * scale(y);
}

static void take_all(array* y, yoke_anova* out) {
  const yoke_axis* axes = y->grid->axes;

  // main effects before interactions, which need them gone
  for (size_t order = 1; order <= 2; order++) {
    for (size_t a = 0; a < y->grid->n_axes; a++) {
      for (size_t b = order == 1 ? a : a + 1; b < (order == 1 ? a + 1 : y->grid->n_axes); b++) {
        // degrees of freedom (n_a - 1)(n_b - 1)
        const size_t freedom = (axes[a].n - 1) * (order == 1 ? 1 : axes[b].n - 1);
        if (freedom > 0) {
          const double sum = take_effect(y, a, b);
          out->effects[out->n_effects++] =
              (yoke_effect){a, b, sum, freedom, sum / (double)freedom, 0};
        }
      }
    }
  }
}

// The largest mean square first; the rest as it came, since qsort is not stable.
static int compare_effects(const void* left, const void* right) {
  const yoke_effect *x = left, *y = right;
  if (x->mean != y->mean) {
    return x->mean < y->mean ? 1 : -1;
  }
  const bool is_pair_x = x->a != x->b, is_pair_y = y->a != y->b;
  if (is_pair_x != is_pair_y) {
    return is_pair_x ? 1 : -1;
  }
  return x->a != y->a ? (x->a < y->a ? -1 : 1) : (x->b > y->b) - (x->b < y->b);
}

// Shares, order, and back to the units of the values.
static void finish(yoke_anova* out, double size) {
  yoke_sum sum = {0, 0};
  size_t freedom = 0;

  // shares of the mean squares
  for (size_t i = 0; i < out->n_effects; i++) {
    yoke__sum_add(&sum, out->effects[i].mean);
    freedom += out->effects[i].freedom;
  }
  const double all = yoke__sum_value(&sum);
  for (size_t i = 0; i < out->n_effects; i++) {
    yoke_effect* e = &out->effects[i];
    e->share = all > 0 ? e->mean / all : 0;
    // squares scale with the square of the scale
    e->sum *= size * size;
    e->mean *= size * size;
  }

  // n - 1 less those of the effects
  out->rest_freedom = out->n_values - 1 - freedom;
  out->total *= size * size;
  out->rest *= size * size;
  qsort(out->effects, out->n_effects, sizeof *out->effects, compare_effects);
}

static size_t count_cells(const yoke_grid* grid) {
  size_t most = 1;
  for (size_t a = 0; a < grid->n_axes; a++) {
    for (size_t b = 0; b < grid->n_axes; b++) {
      const size_t n = grid->axes[a].n * (a == b ? 1 : grid->axes[b].n);
      most = n > most ? n : most;
    }
  }
  return most;
}

yoke_status yoke__anova_compute(const yoke_grid* grid, const double values[], yoke_anova* out) {
  *out = (yoke_anova){.n_values = grid->n_points};
  array y = {.grid = grid, .n = grid->n_points};
  y.left = malloc(y.n * sizeof *y.left);
  y.cells = malloc(count_cells(grid) * sizeof *y.cells);
  out->effects = calloc(grid->n_axes * (grid->n_axes + 1) / 2 + 1, sizeof *out->effects);
  yoke_status status = YOKE_NO_MEMORY;
  if (y.left != NULL && y.cells != NULL && out->effects != NULL) {
    const double size = centre(&y, values, &out->grand);
    out->total = sum_squares(&y);
    take_all(&y, out);
    out->rest = sum_squares(&y);
    finish(out, size);
    status = YOKE_OK;
  } else {
    yoke__anova_free(out);
  }
  free(y.cells);
  free(y.left);
  return status;
}

void yoke__anova_free(yoke_anova* anova) {
  free(anova->effects);
  *anova = (yoke_anova){0};
}

// ---- text

void yoke__anova_name(const yoke_grid* grid, const yoke_effect* effect, char* to, size_t size) {
  const bool is_pair = effect->a != effect->b;
  snprintf(to, size, "%s%s%s", grid->axes[effect->a].path, is_pair ? " x " : "",
           is_pair ? grid->axes[effect->b].path : "");
}

void yoke__anova_header(yoke_text* csv) {
  yoke__text_add(csv, "measure,a,b,ss,dof,ms,share\n");
}

static void add_row(yoke_text* csv, const char* measure, const char* a, const char* b, double sum,
                    size_t freedom, double share) {
  yoke__text_cell(csv, measure);
  yoke__text_add(csv, ",");
  yoke__text_cell(csv, a);
  yoke__text_add(csv, ",");
  yoke__text_cell(csv, b);
  yoke__text_add(csv, ",");
  yoke__text_number(csv, sum);
  yoke__text_add(csv, ",%zu,", freedom);
  yoke__text_number(csv, freedom == 0 ? (double)NAN : sum / (double)freedom);
  yoke__text_add(csv, ",");
  yoke__text_number(csv, share);
  yoke__text_add(csv, "\n");
}

void yoke__anova_rows(const yoke_grid* grid, const yoke_anova* anova, const char* measure,
                      yoke_text* csv) {
  for (size_t i = 0; i < anova->n_effects; i++) {
    const yoke_effect* e = &anova->effects[i];
    add_row(csv, measure, grid->axes[e->a].path, e->a == e->b ? "" : grid->axes[e->b].path, e->sum,
            e->freedom, e->share);
  }
  add_row(csv, measure, "(rest)", "", anova->rest, anova->rest_freedom, (double)NAN);
  add_row(csv, measure, "(total)", "", anova->total, anova->n_values - 1, (double)NAN);
}
