// Maps of stability over (step, stiffness, damping) and the size of the stable region.
//
// The region lies in the plane of log10(stiffness / damping) and step; several pairs share a ratio,
// so the plane is cut into cells of a quarter decade by one step, and a cell counts if enough of
// its points are stable. Only cells that hang together (over edges) with the smallest step belong
// to the region: at large steps aliasing makes islands in which a run looks stable.
// Source: MPSM specification 9.3.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/study_stability.h"

#define FIRST_EDGE (-2.125)  // so that 0.01, 0.1, 1, ... lie in the middle of a cell [decades]
#define CELL       0.25      // [decades]

yoke_status yoke__stability_map(const yoke_stability_plan* plan, uint8_t is_stable[]) {
  const yoke_stability_axes* axes = &plan->axes;
  size_t at = 0;
  for (size_t i = 0; i < axes->n_stiffness; i++) {
    for (size_t j = 0; j < axes->n_damping; j++) {
      yoke_stability_case c = yoke__stability_case_default();
      YOKE_TRY(plan->fill(plan->context, axes->stiffness[i], axes->damping[j], &c));
      for (size_t k = 0; k < axes->n_steps; k++, at++) {
        c.step = axes->steps[k];
        bool is_good = false;
        if (plan->x != NULL) {
          YOKE_TRY(yoke__stability_amplitude(&c, plan->x, plan->duration, &is_good));
        } else {
          double radius;
          YOKE_TRY(yoke__stability_radius(&c, &radius));
          is_good = radius < 1;
        }
        is_stable[at] = is_good;
      }
    }
  }
  return YOKE_OK;
}

enum { EMPTY, UNSTABLE, STABLE, REGION };

typedef struct cells {
  size_t n_columns, n_rows;
  long first;       // number of the first column
  uint8_t* kind;    // n_columns x n_rows
  uint32_t* count;  // points in a cell, and stable ones: 2 x n_columns x n_rows
} cells;

static long column_of(double stiffness, double damping) {
  return lround(floor((log10(stiffness / damping) - FIRST_EDGE) / CELL));
}

static void find_columns(const yoke_stability_axes* axes, cells* grid) {
  long low = 0, high = -1;
  for (size_t i = 0; i < axes->n_stiffness; i++) {
    for (size_t j = 0; j < axes->n_damping; j++) {
      const long column = column_of(axes->stiffness[i], axes->damping[j]);
      low = high < low || column < low ? column : low;
      high = high < low || column > high ? column : high;
    }
  }
  grid->first = low;
  grid->n_columns = (size_t)(high - low + 1);
  grid->n_rows = axes->n_steps;
}

static void count_points(const yoke_stability_axes* axes, const uint8_t is_stable[],
                         const uint8_t is_used[], cells* grid) {
  size_t pair = 0;
  for (size_t i = 0; i < axes->n_stiffness; i++) {
    for (size_t j = 0; j < axes->n_damping; j++, pair++) {
      if (is_used != NULL && !is_used[pair]) {
        continue;
      }
      const long column = column_of(axes->stiffness[i], axes->damping[j]) - grid->first;
      uint32_t* count = grid->count + 2 * (size_t)column * grid->n_rows;
      for (size_t k = 0; k < axes->n_steps; k++) {
        count[2 * k]++;
        count[2 * k + 1] += is_stable[pair * axes->n_steps + k] != 0;
      }
    }
  }
}

// Spreads the region from the smallest step; each sweep adds what touches it, until nothing does.
static void grow_region(cells* grid) {
  const size_t C = grid->n_columns, R = grid->n_rows;
  for (size_t c = 0; c < C; c++) {
    if (grid->kind[c * R] == STABLE) {
      grid->kind[c * R] = REGION;
    }
  }
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    for (size_t i = 0; i < C * R; i++) {
      const size_t c = i / R, r = i % R;
      const bool touches =
          (c > 0 && grid->kind[i - R] == REGION) || (c + 1 < C && grid->kind[i + R] == REGION) ||
          (r > 0 && grid->kind[i - 1] == REGION) || (r + 1 < R && grid->kind[i + 1] == REGION);
      if (grid->kind[i] == STABLE && touches) {
        grid->kind[i] = REGION;
        has_changed = true;
      }
    }
  }
}

static void measure(const yoke_stability_axes* axes, double share, cells* grid,
                    yoke_stability_area* out) {
  const size_t n = grid->n_columns * grid->n_rows;
  const double spacing = axes->n_steps > 1 ? axes->steps[1] - axes->steps[0] : axes->steps[0];
  for (size_t i = 0; i < n; i++) {
    const uint32_t all = grid->count[2 * i], stable = grid->count[2 * i + 1];
    if (all > 0) {
      grid->kind[i] = stable > 0 && (double)stable >= share * (double)all ? STABLE : UNSTABLE;
    }
  }
  grow_region(grid);
  for (size_t i = 0; i < n; i++) {
    const double size = spacing * CELL, step = axes->steps[i % grid->n_rows];
    out->total += grid->kind[i] == EMPTY ? 0 : size;
    out->islands += grid->kind[i] == STABLE ? size : 0;
    if (grid->kind[i] == REGION) {
      out->area += size;
      out->largest_step = step > out->largest_step ? step : out->largest_step;
    }
  }
}

yoke_status yoke__stability_area_of(const yoke_stability_axes* axes, const uint8_t is_stable[],
                                    const uint8_t is_used[], double share,
                                    yoke_stability_area* out) {
  *out = (yoke_stability_area){0};
  if (axes->n_steps == 0 || axes->n_stiffness == 0 || axes->n_damping == 0) {
    return YOKE_BAD_ARG;
  }
  cells grid;
  find_columns(axes, &grid);
  const size_t n = grid.n_columns * grid.n_rows;
  grid.kind = calloc(n, sizeof *grid.kind);
  grid.count = calloc(2 * n, sizeof *grid.count);
  yoke_status status = YOKE_NO_MEMORY;
  if (grid.kind != NULL && grid.count != NULL) {
    count_points(axes, is_stable, is_used, &grid);
    measure(axes, share, &grid, out);
    status = YOKE_OK;
  }
  free(grid.kind);
  free(grid.count);
  return status;
}
