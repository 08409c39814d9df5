// The three operations of a method's image from one walk over its memory.
#ifndef YOKE_COUPLE_IMAGE_H
#define YOKE_COUPLE_IMAGE_H

#include <stdint.h>

#include "base/base_image.h"

// static void walk(void* memory, yoke_image* image): counting and saving change nothing in memory.
#define YOKE_COUPLING_IMAGE(name, walk)                                                            \
  static size_t name##_image_size(const void* memory) {                                            \
    yoke_image image = {NULL, NULL, 0};                                                            \
    walk((void*)(uintptr_t)memory, &image);                                                        \
    return image.used;                                                                             \
  }                                                                                                \
  static void name##_save(const void* memory, void* to) {                                          \
    yoke_image image = {to, NULL, 0};                                                              \
    walk((void*)(uintptr_t)memory, &image);                                                        \
  }                                                                                                \
  static void name##_restore(void* memory, const void* from) {                                     \
    yoke_image image = {NULL, from, 0};                                                            \
    walk(memory, &image);                                                                          \
  }

#endif
