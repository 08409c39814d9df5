// A saved state as one walk over its parts: the same list counts them, writes them and reads them back. An image holds
// numbers only, so that another process may read it; pointers inside a struct are left out (holes).
#ifndef YOKE_BASE_IMAGE_H
#define YOKE_BASE_IMAGE_H

#include <stddef.h>
#include <string.h>

// Both NULL: it only counts.
typedef struct yoke_image {
  unsigned char* to;          // save
  const unsigned char* from;  // restore
  size_t used;
} yoke_image;

static inline void yoke__image_part(yoke_image* image, void* part, size_t size) {
  if (image->to != NULL && size > 0) {
    memcpy(image->to + image->used, part, size);
  } else if (image->from != NULL && size > 0) {
    memcpy(part, image->from + image->used, size);
  }
  image->used += size;
}
#define YOKE_IMAGE_VALUE(image, value) yoke__image_part((image), &(value), sizeof(value))

// Bytes first .. end - 1 of a struct.
typedef struct yoke_image_hole {
  size_t first, end;
} yoke_image_hole;
// The members from first to last.
#define YOKE_IMAGE_HOLE(type, first, last)                                                         \
  { offsetof(type, first), offsetof(type, last) + sizeof(((type*)NULL)->last) }

// A struct without its holes, which are listed in their order.
static inline void yoke__image_struct(yoke_image* image, void* part, size_t size,
                                      const yoke_image_hole holes[], size_t n_holes) {
  size_t at = 0;
  for (size_t i = 0; i < n_holes; i++) {
    yoke__image_part(image, (char*)part + at, holes[i].first - at);
    at = holes[i].end;
  }
  yoke__image_part(image, (char*)part + at, size - at);
}

// The next part begins where any type may lie.
static inline void yoke__image_align(yoke_image* image) {
  static const size_t alignment = 64;
  const size_t used = (image->used + alignment - 1) / alignment * alignment;
  if (image->to != NULL) {
    memset(image->to + image->used, 0, used - image->used);
  }
  image->used = used;
}

#endif
