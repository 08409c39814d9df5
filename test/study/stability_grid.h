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

typedef struct grid_context {
  dual_mass mass;
  variant which;
} grid_context;

static inline yoke_status grid_fill(void* context, double stiffness, double damping,
                                    yoke_stability_case* c) {
  grid_context* grid = context;
  dual_mass_open(&grid->mass, stiffness, damping);
  *c = variant_case(&grid->mass, grid->which, 1e-3);
  return YOKE_OK;
}

// Amplitude criterion over 0.3 s.
static inline void grid_map(const yoke_stability_axes* axes, variant which, uint8_t is_stable[]) {
  grid_context context = {.which = which};
  const yoke_stability_plan plan = {*axes, grid_fill, &context, dual_mass_start, 0.3};
  check_ok(yoke__stability_map(&plan, is_stable));
}

#endif
