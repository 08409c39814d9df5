// The arena: pieces are aligned, zeroed and apart from each other, whatever their sizes; sizes that
// cannot be are refused; freeing gives everything back.
#include "base/base_arena.h"

#include <limits.h>
#include <stdbool.h>

#include "support/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

static bool is_zero(const unsigned char* bytes, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] != 0) {
      return false;
    }
  }
  return true;
}

static void test_pieces_are_aligned_zeroed_and_apart(void** state) {
  (void)state;
  enum { N = 3000 };
  static unsigned char* pieces[N];
  static size_t sizes[N];
  yoke_arena arena = {0};
  uint64_t random = 1;
  size_t total = 0;
  for (size_t i = 0; i < N; i++) {
    // mostly small, now and then larger than a block
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    sizes[i] = (size_t)(random >> 33) % (i % 500 == 499 ? 300000 : 700);
    pieces[i] = yoke__arena_take(&arena, sizes[i]);
    assert_non_null(pieces[i]);
    assert_int_equal((uintptr_t)pieces[i] % 64, 0);
    assert_true(is_zero(pieces[i], sizes[i]));
    memset(pieces[i], (int)(i % 255) + 1, sizes[i]);
    total += sizes[i];
  }
  assert_int_equal(arena.used, total);

  // nobody wrote into anybody else
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < sizes[i]; j++) {
      if (pieces[i][j] != i % 255 + 1) {
        fail_msg("byte %zu of piece %zu (%zu bytes) is %d", j, i, sizes[i], pieces[i][j]);
      }
    }
  }
  yoke__arena_free(&arena);
}

static void test_size_zero_and_reuse(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke__arena_free(&arena);  // an empty arena is fine
  for (int round = 0; round < 3; round++) {
    void* nothing = yoke__arena_take(&arena, 0);
    assert_non_null(nothing);
    assert_non_null(yoke__arena_array(&arena, 0, 8));
    assert_non_null(yoke__arena_array(&arena, 8, 0));
    assert_int_equal(arena.used, 0);

    // memory that was used before is handed out zeroed again
    unsigned char* piece = yoke__arena_take(&arena, 5000);
    assert_non_null(piece);
    assert_true(is_zero(piece, 5000));
    memset(piece, 0xff, 5000);
    assert_int_equal(arena.used, 5000);
    yoke__arena_free(&arena);
    assert_null(arena.blocks);
    assert_int_equal(arena.used, 0);
  }
}

static void test_impossible_sizes_are_refused(void** state) {
  (void)state;
  yoke_arena arena = {0};
  const size_t half = (size_t)1 << (sizeof(size_t) * CHAR_BIT / 2 + 1);  // its square wraps to 0
  for (size_t less = 0; less < 300; less++) {
    assert_null(yoke__arena_take(&arena, SIZE_MAX - less));
  }
  assert_null(yoke__arena_array(&arena, SIZE_MAX / 8 + 1, 8));
  assert_null(yoke__arena_array(&arena, SIZE_MAX, SIZE_MAX));
  assert_null(yoke__arena_array(&arena, half, half));

  // a refusal leaves the arena usable, and it is remembered until the arena is emptied
  assert_int_equal(arena.used, 0);
  assert_non_null(yoke__arena_array(&arena, 10, 8));
  assert_int_equal(arena.used, 80);
  assert_int_equal(yoke__arena_status(&arena), YOKE_NO_MEMORY);
  yoke__arena_free(&arena);
  assert_int_equal(yoke__arena_status(&arena), YOKE_OK);
  assert_null(yoke__arena_array(&arena, SIZE_MAX, 2));
  assert_int_equal(yoke__arena_status(&arena), YOKE_NO_MEMORY);
  yoke__arena_free(&arena);
}

static void test_texts_are_copied(void** state) {
  (void)state;
  yoke_arena arena = {0};
  char source[] = "left.force";
  char* whole = yoke__arena_text(&arena, source, strlen(source));
  char* part = yoke__arena_text(&arena, source, 4);
  char* none = yoke__arena_text(&arena, source, 0);
  memset(source, '#', sizeof source);
  assert_string_equal(whole, "left.force");
  assert_string_equal(part, "left");
  assert_string_equal(none, "");
  yoke__arena_free(&arena);
}

// a write behind a piece is found at once
static void test_red_zone(void** state) {
  (void)state;
#ifdef HAS_ASAN
  yoke_arena arena = {0};
  static const size_t sizes[] = {0, 1, 7, 8, 63, 64, 65, 1000, 65536, 100000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    char* piece = yoke__arena_take(&arena, sizes[i]);
    assert_non_null(piece);
    assert_true(sizes[i] == 0 || !__asan_address_is_poisoned(piece + sizes[i] - 1));
    assert_true(__asan_address_is_poisoned(piece + sizes[i]));
    assert_true(__asan_address_is_poisoned(piece + sizes[i] + 63));
  }
  yoke__arena_free(&arena);
#else
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pieces_are_aligned_zeroed_and_apart),
      cmocka_unit_test(test_size_zero_and_reuse),
      cmocka_unit_test(test_impossible_sizes_are_refused),
      cmocka_unit_test(test_texts_are_copied),
      cmocka_unit_test(test_red_zone),
  };
  return cmocka_run_group_tests_name("base_arena", tests, NULL, NULL);
}
