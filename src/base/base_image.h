// A saved state as one walk over its parts: the same list counts them, writes them and reads them back. An image holds
// numbers only, so that another process may read it; pointers are left out.
#ifndef YOKE_BASE_IMAGE_H
#define YOKE_BASE_IMAGE_H

#include <assert.h>
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

// A block of memory with pointers in it, which are skipped in the order in which they lie there.
typedef struct yoke_image_block {
  yoke_image* image;
  char *at, *end;
} yoke_image_block;

static inline yoke_image_block yoke__image_open(yoke_image* image, void* block, size_t size) {
  return (yoke_image_block){image, block, (char*)block + size};
}

static inline void yoke__image_skip(yoke_image_block* block, void* first, void* end) {
  assert((char*)first >= block->at && (char*)end <= block->end);
  yoke__image_part(block->image, block->at, (size_t)((char*)first - block->at));
  block->at = end;
}
// The members from first to last of an object in the block.
#define YOKE_IMAGE_SKIP(block, object, first, last)                                                \
  yoke__image_skip((block), &(object)->first, &(object)->last + 1)

static inline void yoke__image_close(yoke_image_block* block) {
  yoke__image_skip(block, block->end, block->end);
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
