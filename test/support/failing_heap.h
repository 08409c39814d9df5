// A malloc family in front of glibc's that refuses chosen requests and counts blocks; for tests of running out of memory. Include
// it in one file of a program with one thread. Sanitizers bring their own allocator: HAS_OWN_MALLOC is 0 there.
#ifndef YOKE_TEST_FAILING_HEAP_H
#define YOKE_TEST_FAILING_HEAP_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "yoke/status.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define HAS_OWN_MALLOC 0
#endif
#endif
#if !defined(HAS_OWN_MALLOC) && defined(__GLIBC__)
#define HAS_OWN_MALLOC 1
#endif

#if HAS_OWN_MALLOC

// glibc's own functions under their second names
// NOLINTBEGIN(bugprone-reserved-identifier)
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);
// NOLINTEND(bugprone-reserved-identifier)

typedef struct failing_heap {
  bool is_on;          // requests are counted
  bool fails_onwards;  // all requests from fails_at on, not only that one
  long n_requests, fails_at;
  long n_blocks;  // taken while on and not given back
} failing_heap;

static failing_heap heap;

static bool refuses(void) {
  if (!heap.is_on) {
    return false;
  }
  const long request = heap.n_requests++;
  const bool is_refused = heap.fails_onwards ? request >= heap.fails_at : request == heap.fails_at;
  errno = is_refused ? ENOMEM : errno;  // as the real one does
  return is_refused;
}

static void* counted(void* block) {
  heap.n_blocks += heap.is_on && block != NULL;
  return block;
}

// visible, so that shared libraries call them too
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
YOKE_API void* malloc(size_t size) {
  return refuses() ? NULL : counted(__libc_malloc(size));
}

YOKE_API void* calloc(size_t count, size_t size) {
  return refuses() ? NULL : counted(__libc_calloc(count, size));
}

YOKE_API void* aligned_alloc(size_t alignment, size_t size) {
  return refuses() ? NULL : counted(__libc_memalign(alignment, size));
}

YOKE_API void* realloc(void* block, size_t size) {
  if (refuses()) {
    return NULL;
  }
  return block == NULL ? counted(__libc_malloc(size)) : __libc_realloc(block, size);
}

YOKE_API void free(void* block) {
  heap.n_blocks -= heap.is_on && block != NULL;
  __libc_free(block);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

#endif  // HAS_OWN_MALLOC

#endif
