// The three operations of a method's image from one walk over its memory.
#ifndef YOKE_COUPLE_IMAGE_H
#define YOKE_COUPLE_IMAGE_H

#include "base/base_image.h"

// The same address; counting and saving change nothing there.
static inline void* yoke__image_memory(const void* memory) {
  const union {
    const void* given;
    void* memory;
  } address = {memory};
  return address.memory;
}

// static void walk(void* memory, yoke_image* image)
#define YOKE_COUPLING_IMAGE(name, walk)                                                            \
  static size_t name##_image_size(const void* memory) {                                            \
    yoke_image image = {NULL, NULL, 0};                                                            \
    walk(yoke__image_memory(memory), &image);                                                      \
    return image.used;                                                                             \
  }                                                                                                \
  static void name##_save(const void* memory, void* to) {                                          \
    yoke_image image = {to, NULL, 0};                                                              \
    walk(yoke__image_memory(memory), &image);                                                      \
  }                                                                                                \
  static void name##_restore(void* memory, const void* from) {                                     \
    yoke_image image = {NULL, from, 0};                                                            \
    walk(memory, &image);                                                                          \
  }

#endif
