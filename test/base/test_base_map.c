// Names to indices, against a twin that searches a list from its start.
#include "base/base_map.h"

#include "support/check.h"

enum { N = 4000, NAME_SIZE = 24 };

typedef struct twin {
  const char* names[N];
  size_t indices[N];
  size_t n;
} twin;

static size_t twin_find(const twin* t, const char* name) {
  for (size_t i = 0; i < t->n; i++) {
    if (strcmp(t->names[i], name) == 0) {
      return t->indices[i];
    }
  }
  return YOKE_NOT_FOUND;
}

static size_t twin_add(twin* t, const char* name, size_t index) {
  const size_t known = twin_find(t, name);
  if (known == YOKE_NOT_FOUND) {
    t->names[t->n] = name;
    t->indices[t->n++] = index;
  }
  return known;
}

static uint64_t random_next(uint64_t* state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

// short names over few letters: many repetitions, many with a common beginning
static void random_name(uint64_t* random, char name[NAME_SIZE]) {
  const size_t length = (size_t)(random_next(random) % 7);
  for (size_t i = 0; i < length; i++) {
    name[i] = "ab_.0"[random_next(random) % 5];
  }
  name[length] = '\0';
}

static void test_random_against_twin(void** state) {
  (void)state;
  static char names[N][NAME_SIZE];
  static twin t;
  uint64_t random = 1;
  static const size_t rooms[] = {0, 1, 7, 8, 9, 100, N};
  for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++) {
    yoke_arena arena = {0};
    yoke_map map;
    t.n = 0;
    check_ok(yoke__map_create(rooms[r], &arena, &map));
    for (size_t i = 0; i < rooms[r]; i++) {
      random_name(&random, names[i]);
      const size_t got = yoke__map_add(&map, names[i], i);
      const size_t want = twin_add(&t, names[i], i);
      if (got != want) {
        fail_msg("adding '%s' as %zu: got %zu, expected %zu", names[i], i, got, want);
      }
    }
    for (size_t i = 0; i < 3000; i++) {
      char name[NAME_SIZE];
      random_name(&random, name);
      const size_t got = yoke__map_find(&map, name), want = twin_find(&t, name);
      if (got != want) {
        fail_msg("'%s' among %zu: got %zu, expected %zu", name, t.n, got, want);
      }
    }
    yoke__arena_free(&arena);
  }
}

// a table that is as full as it may be still answers for names it does not hold
static void test_full_table(void** state) {
  (void)state;
  static char names[N][NAME_SIZE];
  yoke_arena arena = {0};
  yoke_map map;
  check_ok(yoke__map_create(N, &arena, &map));
  for (size_t i = 0; i < N; i++) {
    snprintf(names[i], NAME_SIZE, "unit%zu", i);
    assert_int_equal(yoke__map_add(&map, names[i], N - i), YOKE_NOT_FOUND);
  }
  for (size_t i = 0; i < N; i++) {
    char copy[NAME_SIZE];
    snprintf(copy, NAME_SIZE, "unit%zu", i);
    assert_int_equal(yoke__map_find(&map, copy), N - i);
    assert_int_equal(yoke__map_add(&map, copy, 5), N - i);  // the first one counts
    snprintf(copy, NAME_SIZE, "Unit%zu", i);
    assert_int_equal(yoke__map_find(&map, copy), YOKE_NOT_FOUND);
  }
  yoke__arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_against_twin),
      cmocka_unit_test(test_full_table),
  };
  return cmocka_run_group_tests_name("base_map", tests, NULL, NULL);
}
