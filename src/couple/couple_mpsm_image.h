// Which parts of the memory of model-based coupling are pointers: all else is its saved state. Each walks one part of the block,
// in the order in which prepare has placed them.
#ifndef YOKE_COUPLE_MPSM_IMAGE_H
#define YOKE_COUPLE_MPSM_IMAGE_H

#include "base/base_image.h"
#include "couple/couple_mpsm_models.h"
#include "couple/couple_mpsm_phase.h"

void yoke__mpsm_guard_skip(yoke_image_block* block, yoke_mpsm_guard* guard);
void yoke__mpsm_models_skip(yoke_image_block* block, yoke_mpsm_models* models);
void yoke__mpsm_cluster_skip(yoke_image_block* block, yoke_mpsm* cluster);

#endif
