// Between the files of study_linear.
#ifndef YOKE_STUDY_LINEAR_PART_H
#define YOKE_STUDY_LINEAR_PART_H

#include <string.h>

#include "study/study_linear.h"

static inline const char* yoke__linear_text(yoke_arena* arena, const char* text) {
  return yoke__arena_text(arena, text, strlen(text));
}

static inline double* yoke__linear_numbers(yoke_arena* arena, size_t n) {
  return yoke__arena_array(arena, n, sizeof(double));
}

// Poles and feedthrough of its model. A model with NaN in it is none.
yoke_status yoke__linear_look_at(yoke_arena* arena, yoke_linear_unit* to);

#endif
