// Variants of coupling on the dual mass oscillator, and their maps.
#ifndef YOKE_TEST_STABILITY_GRID_H
#define YOKE_TEST_STABILITY_GRID_H

#include "couple/couple_mpsm_mbcorr.h"
#include "support/check.h"
#include "support/dual_mass.h"

typedef enum variant {
  ZOH,
  FOH,
  NEPCE,
  MPSM,      // step 2 exact, held value, no step 1
  MPSM_FD,   // fully discrete
  MODIFIED,  // without step 3
  RAMP,      // without the refinement, as the table has it
  EDE,       // mpsm with step 1: samples of every micro step, held between them
  MBCORR,    // reconstruction, step 1 as in EDE but with reset
  N_VARIANTS,
} variant;

static inline yoke_stability_case variant_case(const dual_mass* mass, variant which, double step) {
  const yoke_stability_method methods[N_VARIANTS] = {
      [ZOH] = YOKE_STABILITY_ZOH,       [FOH] = YOKE_STABILITY_FOH,
      [NEPCE] = YOKE_STABILITY_NEPCE,   [MPSM] = YOKE_STABILITY_MPSM,
      [MPSM_FD] = YOKE_STABILITY_MPSM,  [MODIFIED] = YOKE_STABILITY_MPSM,
      [RAMP] = YOKE_STABILITY_MPSM,     [EDE] = YOKE_STABILITY_MPSM,
      [MBCORR] = YOKE_STABILITY_MBCORR,
  };
  yoke_stability_case c = dual_mass_case(mass, methods[which], step);
  if (which == MPSM_FD) {
    c.options.time = YOKE_MPSM_DISCRETE;
  } else if (which == MODIFIED) {
    c.is_modified = true;
  } else if (which == RAMP) {
    c.options.shape = YOKE_MPSM_RAMP;
    c.options.keeps_ramp_jump = false;
  } else if (which == EDE) {
    c.options.uses_ede = true;
    c.options.between = YOKE_MPSM_HELD;
    c.sees_inside = true;
  } else if (which == MBCORR) {
    c.options = yoke__mbcorr_options(false);
    c.options.between = YOKE_MPSM_HELD;
  }
  return c;
}

// ---- maps over (step, stiffness, damping) by the amplitude criterion, as published

typedef struct grid_axes {
  const double *steps, *stiffness, *damping;  // steps ascending, equally spaced
  size_t n_steps, n_stiffness, n_damping;
} grid_axes;

// Over 0.3 s: is no output larger in the last fifth of the time than in the first?
static inline bool grid_decays(const dual_mass* mass, const yoke_stability_case* c) {
  enum { P = 3 };
  yoke_stability* self;
  const yoke_status status = yoke__stability_open(c, &self);
  if (status == YOKE_DIVERGED) {
    return false;
  }
  check_ok(status);
  const double *x = dual_mass_start, *C = mass->units[1].C, *D = mass->units[1].D;
  double* z = calloc(yoke__stability_size(self), sizeof *z);
  double y[P], last[P] = {0};
  double first[P] = {fabs(x[0]), fabs(x[1]),
                     fabs(C[0] * x[2] + C[1] * x[3] + D[0] * x[0] + D[1] * x[1])};
  assert_non_null(z);
  check_ok(yoke__stability_start(self, x, z));
  const size_t n_steps = (size_t)floor(0.3 / c->step + 1e-9);
  bool is_good = true;
  for (size_t k = 1; k <= n_steps && is_good; k++) {
    yoke__stability_step(self, z, y, NULL);
    for (size_t i = 0; i < P; i++) {
      is_good = is_good && isfinite(y[i]);
      first[i] = 5 * k <= n_steps ? fmax(first[i], fabs(y[i])) : first[i];
      last[i] = 5 * k >= 4 * n_steps ? fmax(last[i], fabs(y[i])) : last[i];
    }
  }
  free(z);
  yoke__stability_close(&self);
  return is_good && last[0] <= first[0] && last[1] <= first[1] && last[2] <= first[2];
}

// is_stable[(i_stiffness * n_damping + i_damping) * n_steps + i_step], 0 or 1.
static inline void grid_map(const grid_axes* axes, variant which, uint8_t is_stable[]) {
  size_t at = 0;
  for (size_t i = 0; i < axes->n_stiffness; i++) {
    for (size_t j = 0; j < axes->n_damping; j++) {
      dual_mass mass;
      dual_mass_open(&mass, axes->stiffness[i], axes->damping[j]);
      for (size_t k = 0; k < axes->n_steps; k++, at++) {
        const yoke_stability_case c = variant_case(&mass, which, axes->steps[k]);
        is_stable[at] = grid_decays(&mass, &c);
      }
    }
  }
}

// ---- the size of the stable region
//
// The region lies in the plane of log10(stiffness / damping) and step; several pairs share a ratio,
// so the plane is cut into cells of a quarter decade by one step, and a cell counts if enough of
// its points are stable. Only cells that hang together (over edges) with the smallest step belong
// to the region: at large steps aliasing makes islands in which a run looks stable.
// Source: MPSM specification 9.3.

#define FIRST_EDGE (-2.125)  // so that 0.01, 0.1, 1, ... lie in the middle of a cell [decades]
#define CELL       0.25      // [decades]

// Size of the stable region in the plane of log10(stiffness / damping) and step.
typedef struct grid_area {
  double area;          // of the region that touches the smallest step [step unit * decades]
  double islands;       // of all other stable cells
  double total;         // of all cells that hold a point
  double largest_step;  // of the region
} grid_area;

enum { EMPTY, UNSTABLE, STABLE, REGION };

typedef struct cells {
  size_t n_columns, n_rows;
  long first;       // number of the first column
  uint8_t* kind;    // n_columns x n_rows
  uint32_t* count;  // points in a cell, and stable ones: 2 x n_columns x n_rows
} cells;

static inline long column_of(double stiffness, double damping) {
  return lround(floor((log10(stiffness / damping) - FIRST_EDGE) / CELL));
}

static inline void find_columns(const grid_axes* axes, cells* grid) {
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

static inline void count_points(const grid_axes* axes, const uint8_t is_stable[],
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
static inline void grow_region(cells* grid) {
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

static inline void measure(const grid_axes* axes, double share, cells* grid, grid_area* out) {
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

// Cells are a quarter decade (edges at 10^(-2.125 + 0.25 i)) by one step. A cell counts if at least
// `share` of its points are stable, and one at least. is_used: n_stiffness * n_damping flags, pairs
// that take part; NULL: all. Takes memory.
static inline yoke_status grid_area_of(const grid_axes* axes, const uint8_t is_stable[],
                                       const uint8_t is_used[], double share, grid_area* out) {
  *out = (grid_area){0};
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

#endif
