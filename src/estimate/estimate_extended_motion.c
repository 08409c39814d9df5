// The step of the deviation, d+ = E d + G e, of the unit's matrices: estimate_extended.h.
#include <string.h>

#include "base/base_check.h"
#include "estimate/estimate_extended_part.h"
#include "estimate/estimate_model.h"
#include "linalg/linalg_dense.h"

static void prepare_disturbance(yoke_extended_motion* motion, const double walk[],
                                yoke_arena* arena) {
  const size_t n_d = motion->n_states, n = n_d + motion->n_unknowns;
  motion->W = yoke__arena_array(arena, n_d * n_d + 1, sizeof(double));
  motion->Q_d = yoke__arena_array(arena, n_d * n_d + 1, sizeof(double));
  motion->Q = yoke__arena_array(arena, n * n + 1, sizeof(double));
  for (size_t i = 0; i < n_d && motion->W != NULL; i++) {
    // W of white noise on x': walk^2 per second
    motion->W[i * (n_d + 1)] = walk[i] * walk[i];
  }
}

void yoke__extended_motion_prepare(yoke_extended_motion* motion, const yoke_extended_setup* setup,
                                   const size_t column[], size_t n_inputs, yoke_arena* arena) {
  const size_t n = setup->n_states, p = setup->n_outputs;
  *motion = (yoke_extended_motion){.n_states = n,
                                   .n_inputs = n_inputs,
                                   .n_unknowns = setup->n_unknowns,
                                   .column = column,
                                   .h = setup->h};
  const struct {
    double** at;
    size_t size;
  } arrays[] = {
      {&motion->A, n * n},
      {&motion->B, n * n_inputs},
      {&motion->C, p * n},
      {&motion->D, p * n_inputs},
      {&motion->A_mean, n * n},
      {&motion->B_mean, n * n_inputs},
      {&motion->A_used, n * n},
      {&motion->B_used, n * n_inputs},
      {&motion->E, n * n},
      {&motion->Psi1, n * n},
      {&motion->Psi2, n * n},
      {&motion->G, n * n_inputs},
      {&motion->F, n * (n + setup->n_unknowns)},
      {&motion->work, yoke__discrete_work_size(n)},
  };
  for (size_t i = 0; i < YOKE_COUNT(arrays); i++) {
    *arrays[i].at = yoke__arena_array(arena, arrays[i].size + 1, sizeof(double));
  }
  if (setup->state_walk != NULL) {
    prepare_disturbance(motion, setup->state_walk, arena);
  }
}

void yoke__extended_motion_turn(yoke_extended_motion* motion) {
  const size_t n = motion->n_states;
  memcpy(motion->A_mean, motion->A, n * n * sizeof(double));
  memcpy(motion->B_mean, motion->B, n * motion->n_inputs * sizeof(double));
}

// mean: what there was at the start of the step.
static void add_end(size_t n, const double end[], double mean[]) {
  // mean of A (or B) over the step: second order in h where the matrices change
  for (size_t i = 0; i < n; i++) {
    mean[i] = 0.5 * mean[i] + 0.5 * end[i];
  }
}

// Whether they differ from those used before, which they then become.
static bool is_new(const yoke_extended_motion* motion, size_t n, const double now[],
                   double used[]) {
  if (motion->has_F && memcmp(now, used, n * sizeof *now) == 0) {
    return false;
  }
  memcpy(used, now, n * sizeof *now);
  return true;
}

static yoke_status integrate(yoke_extended_motion* m) {
  const size_t n_d = m->n_states, n = n_d + m->n_unknowns;

  // E = exp(A h), Psi1 = int_0^h exp(A s) ds
  YOKE_TRY(yoke__discrete(n_d, m->A_used, m->h, m->E, m->Psi1, m->Psi2, m->work));
  if (m->Q != NULL) {
    // Q = int_0^h exp(A s) W exp(A' s) ds
    YOKE_TRY(yoke__discrete_noise(n_d, m->A_used, m->W, m->h, m->Q_d, m->work));
    for (size_t i = 0; i < n_d; i++) {
      memcpy(m->Q + i * n, m->Q_d + i * n_d, n_d * sizeof *m->Q);
    }
  }
  return YOKE_OK;
}

static void fill_F(yoke_extended_motion* m) {
  const size_t n_d = m->n_states, n = n_d + m->n_unknowns;

  // G = Psi1 B
  yoke__mat_mul(n_d, n_d, m->n_inputs, m->Psi1, m->B_used, m->G);

  // F = [E G], rows of d only
  for (size_t i = 0; i < n_d; i++) {
    memcpy(m->F + i * n, m->E + i * n_d, n_d * sizeof *m->F);
    for (size_t j = 0; j < m->n_unknowns; j++) {
      const size_t c = m->column[j];
      m->F[i * n + n_d + j] = c == YOKE_NO_COLUMN ? 0.0 : m->G[i * m->n_inputs + c];
    }
  }
}

yoke_status yoke__extended_motion_end(yoke_extended_motion* motion) {
  const size_t n_A = motion->n_states * motion->n_states;
  const size_t n_B = motion->n_states * motion->n_inputs;
  add_end(n_A, motion->A, motion->A_mean);
  add_end(n_B, motion->B, motion->B_mean);

  // only when the matrices have changed, to the bit: the exponential is most of the work
  const bool is_A_new = is_new(motion, n_A, motion->A_mean, motion->A_used);
  const bool is_B_new = is_new(motion, n_B, motion->B_mean, motion->B_used);
  if (is_A_new) {
    motion->has_F = false;
    YOKE_TRY(integrate(motion));
  }
  if (is_A_new || is_B_new) {
    fill_F(motion);
    motion->has_F = true;
  }
  return YOKE_OK;
}
