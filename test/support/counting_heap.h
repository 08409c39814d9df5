// A malloc family in front of glibc's that counts its calls, in any thread: n_heap_calls. For tests of loops that must not
// make any; include it in one file of a program. Sanitizers bring their own allocator: IS_HEAP_COUNTED is 0 there.
#ifndef YOKE_TEST_COUNTING_HEAP_H
#define YOKE_TEST_COUNTING_HEAP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "support/check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_HEAP_COUNTED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_HEAP_COUNTED 0
#endif
#endif
#if !defined(IS_HEAP_COUNTED) && defined(__GLIBC__)
#define IS_HEAP_COUNTED 1
#elif !defined(IS_HEAP_COUNTED)
#define IS_HEAP_COUNTED 0
#endif

static atomic_long n_heap_calls;

#if IS_HEAP_COUNTED
// NOLINTBEGIN(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name): glibc's own names
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t n, size_t size);
extern void* __libc_realloc(void* p, size_t size);
extern void __libc_free(void* p);

void* malloc(size_t size) {
  atomic_fetch_add(&n_heap_calls, 1);
  return __libc_malloc(size);
}
void* calloc(size_t n, size_t size) {
  atomic_fetch_add(&n_heap_calls, 1);
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t size) {
  atomic_fetch_add(&n_heap_calls, 1);
  return __libc_realloc(p, size);
}
void free(void* p) {
  atomic_fetch_add(&n_heap_calls, 1);
  __libc_free(p);
}
// NOLINTEND(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name)
#endif

// Fails where calls are not counted although they should be.
static inline void check_heap_is_counted(void) {
  const long before = atomic_load(&n_heap_calls);
  void* volatile piece = malloc(16);
  free(piece);
  assert_true(!IS_HEAP_COUNTED || atomic_load(&n_heap_calls) >= before + 2);
}

#endif
