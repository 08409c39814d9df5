// Pointers in the memory of model-based coupling; see couple_mpsm_image.h.
#include "couple/couple_mpsm_image.h"

#define SKIP(object, first, last) YOKE_IMAGE_SKIP(block, object, first, last)

void yoke__mpsm_guard_skip(yoke_image_block* block, yoke_mpsm_guard* guard) {
  SKIP(guard, w_last, farthest);
  for (size_t i = 0; i < YOKE_MPSM_GUARD_SCALES; i++) {
    SKIP(&guard->scales[i], now, normal);
  }
}

static void skip_rls(yoke_image_block* block, yoke_rls* rls) {
  SKIP(rls, counts, gain);
}

static void skip_discrete(yoke_image_block* block, yoke_jacobian_discrete* jacobian) {
  SKIP(jacobian, Sy, S1);
}

static void skip_member(yoke_image_block* block, yoke_mpsm_member* member) {
  SKIP(member, about, about);
  skip_rls(block, &member->rls);
  skip_discrete(block, &member->jacobian);
  SKIP(member, range.low, range.high);
  SKIP(member, loaded, loaded);
  SKIP(member, provided.Jy, provided.Jd);
  SKIP(member, linear, states_work);
  SKIP(member, factor.triangle, factor.squares);
  SKIP(member, solver, solver);
  SKIP(member, factor_copy.triangle, factor_copy.squares);
  skip_discrete(block, &member->found);
  SKIP(member, found_work, found_work);
}

void yoke__mpsm_models_skip(yoke_image_block* block, yoke_mpsm_models* models) {
  SKIP(models, members, members);
  SKIP(models, y_bar, errors);
  SKIP(models, unseen, unseen);
  SKIP(models, lacking, known);
  for (size_t k = 0; k < models->n_units; k++) {
    skip_member(block, &models->members[k]);
  }
}

void yoke__mpsm_cluster_skip(yoke_image_block* block, yoke_mpsm* cluster) {
  SKIP(cluster, units, is_end);
  SKIP(cluster, A, state);
  SKIP(cluster, y_last, pivots);
  for (size_t i = 0; i < cluster->n_units; i++) {
    SKIP(&cluster->units[i], jac_y, reach_inverse);
  }
}
