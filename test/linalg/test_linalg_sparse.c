// Sparse LU against what must hold: small backward errors on random patterns with zeros on the
// diagonal, refactor = factor, kernels agree, slots are independent, what is singular is found, a
// growth that is too large is noticed and repaired in reserved space.
#include <float.h>

#include "linalg/linalg_dense.h"
#include "linalg/sparse_cases.h"

typedef struct solver {
  yoke_arena arena;
  yoke_sparse* lu;
} solver;

// the solver keeps the address of the arena
static void open_solver(solver* s, const sparse_case* c, yoke_sparse_settings settings) {
  *s = (solver){0};
  const yoke_sparse_pattern pattern = case_pattern(c);
  check_ok(yoke__sparse_create(&pattern, &settings, &s->arena, &s->lu));
}

static void close_solver(solver* s) {
  yoke__sparse_destroy(&s->lu);
  yoke__arena_free(&s->arena);
}

static yoke_sparse_stats stats_of(const solver* s) {
  yoke_sparse_stats stats;
  yoke__sparse_get_stats(s->lu, &stats);
  return stats;
}

// every kernel that is there; the list with KLU's pivots among the candidates and without
static const yoke_sparse_settings kernels[] = {
    {.kernel = YOKE_SPARSE_AUTO},
    {.kernel = YOKE_SPARSE_DENSE},
    {.kernel = YOKE_SPARSE_LIST},
    {.kernel = YOKE_SPARSE_LIST, .without_klu = true},
    {.kernel = YOKE_SPARSE_KLU, .pivot_tolerance = 0.1},  // does not watch its growth in factor
};
#define N_KERNELS (sizeof kernels / sizeof kernels[0])

// The library may be missing: then its kernel says so.
static bool is_there(const yoke_sparse_settings* settings) {
  static const int32_t starts[] = {0, 1}, rows[] = {0};
  const yoke_sparse_pattern pattern = {1, starts, rows, NULL};
  yoke_arena arena = {0};
  yoke_sparse* lu = NULL;
  const yoke_status status = yoke__sparse_create(&pattern, settings, &arena, &lu);
  yoke__sparse_destroy(&lu);
  yoke__arena_free(&arena);
  if (status == YOKE_NO_SUPPORT) {
    assert_int_equal(settings->kernel, YOKE_SPARSE_KLU);
    return false;
  }
  check_ok(status);
  return true;
}

static sparse_case one, two;

// Backward error of LU: |A x - b| <= c n eps g |A| |x| with the element growth g (Higham, Accuracy
// and Stability of Numerical Algorithms, 2nd ed., theorem 9.5 with rho_n); c = 8. Norms are of the
// whole matrix, entries are between -1 and 1. Factor keeps the growth below 100.
static void test_random_patterns(void** state) {
  (void)state;
  uint64_t seed = 11;
  for (size_t k = 0; k < N_KERNELS; k++) {
    if (!is_there(&kernels[k])) {
      continue;
    }
    for (int round = 0; round < 150; round++) {
      const int32_t n = round < 30 ? 1 + round % 10 : 1 + random_index(&seed, CASE_N_MAX);
      const int32_t n_more = random_index(&seed, 4 * n + 1);
      case_random(&one, n, n_more, 0.0, &seed);
      solver s;
      open_solver(&s, &one, kernels[k]);
      int32_t column = -1;
      const yoke_status status = yoke__sparse_factor(s.lu, one.values, &column);
      check_ok(status);
      double x[CASE_N_MAX];
      memcpy(x, one.b, sizeof x);
      yoke__sparse_solve(s.lu, 0, x);
      const yoke_sparse_stats stats = stats_of(&s);
      const double growth = fmax(1.0, stats.growth);
      const double bound =
          8.0 * (double)n * DBL_EPSILON * (kernels[k].kernel == YOKE_SPARSE_KLU ? 1e3 : growth);
      check_between(case_residual(&one, one.values, x), 0.0, bound);
      check_between(stats.growth, 0.0, 100.0);
      check_between(stats.rcond, 0.0, 1.0);
      close_solver(&s);
    }
  }
}

// All kernels solve a well conditioned system to the same numbers: its condition is below 1e3, so
// 1e-12 leaves a factor of 5 or more over n eps.
static void test_kernels_agree_with_dense(void** state) {
  (void)state;
  uint64_t seed = 12;
  for (int round = 0; round < 60; round++) {
    const int32_t n = 1 + random_index(&seed, 100);
    case_random(&one, n, 3 * n, 2.0, &seed);
    static double A[100 * 100];
    double want[100];
    size_t pivots[100];
    memset(A, 0, sizeof A);
    for (int32_t j = 0; j < n; j++) {
      for (int32_t e = one.starts[j]; e < one.starts[j + 1]; e++) {
        A[one.rows[e] * n + j] = one.values[e];
      }
    }
    memcpy(want, one.b, sizeof want);
    check_ok(yoke__solve((size_t)n, A, want, pivots));
    for (size_t k = 0; k < N_KERNELS; k++) {
      if (!is_there(&kernels[k])) {
        continue;
      }
      solver s;
      open_solver(&s, &one, kernels[k]);
      check_ok(yoke__sparse_factor(s.lu, one.values, NULL));
      double x[CASE_N_MAX];
      memcpy(x, one.b, sizeof x);
      yoke__sparse_solve(s.lu, 0, x);
      for (int32_t i = 0; i < n; i++) {
        check_near(x[i], want[i], 1e-12);
      }
      close_solver(&s);
    }
  }
}

// New values for the entries marked as varying; strong ones keep their size within 20 %.
static void vary(const sparse_case* c, double values[], uint64_t* seed) {
  for (int32_t e = 0; e < c->starts[c->n]; e++) {
    const double factor = 1.0 + 0.2 * random_number(seed);
    values[e] = c->varying[e] ? c->values[e] * factor : c->values[e];
  }
}

static void test_refactor_equals_factor(void** state) {
  (void)state;
  uint64_t seed = 13;
  static double values[CASE_N_MAX * CASE_N_MAX];
  for (int round = 0; round < 36; round++) {
    const int32_t n = 1 + random_index(&seed, CASE_N_MAX);
    case_random(&one, n, 3 * n, 2.0, &seed);

    // everything varies, a tenth, or nothing
    for (int32_t e = 0; e < one.starts[n]; e++) {
      one.varying[e] = round % 3 == 0 || (round % 3 == 1 && random_index(&seed, 10) == 0);
    }
    for (size_t k = 0; k < N_KERNELS; k++) {
      if (!is_there(&kernels[k])) {
        continue;
      }
      solver s;
      open_solver(&s, &one, kernels[k]);
      check_ok(yoke__sparse_factor(s.lu, one.values, NULL));
      for (int again = 0; again < 5; again++) {
        vary(&one, values, &seed);
        check_ok(yoke__sparse_refactor(s.lu, 0, values));
        solver fresh;
        open_solver(&fresh, &one, kernels[k]);
        check_ok(yoke__sparse_factor(fresh.lu, values, NULL));
        double x[CASE_N_MAX], want[CASE_N_MAX];
        memcpy(x, one.b, sizeof x);
        memcpy(want, one.b, sizeof want);
        yoke__sparse_solve(s.lu, 0, x);
        yoke__sparse_solve(fresh.lu, 0, want);
        for (int32_t i = 0; i < n; i++) {
          check_near(x[i], want[i], 1e-12);
        }
        close_solver(&fresh);
      }
      assert_int_equal(stats_of(&s).n_refactored, 5);
      assert_int_equal(stats_of(&s).n_solved, 5);
      close_solver(&s);
    }
  }
}

// Factors of three matrices side by side, refactored in any order, give bit by bit what each gives
// alone; and the same calls give the same bytes.
static void test_slots_are_independent(void** state) {
  (void)state;
  uint64_t seed = 14;
  static double values[3][CASE_N_MAX * CASE_N_MAX];
  for (int round = 0; round < 20; round++) {
    const int32_t n = 1 + random_index(&seed, 120);
    case_random(&one, n, 2 * n, 2.0, &seed);
    for (int32_t e = 0; e < one.starts[n]; e++) {
      one.varying[e] = random_index(&seed, 3) == 0;
    }
    for (size_t k = 1; k < N_KERNELS; k++) {
      if (!is_there(&kernels[k])) {
        continue;
      }
      yoke_sparse_settings many = kernels[k];
      many.n_slots = 3;
      solver s;
      open_solver(&s, &one, many);
      check_ok(yoke__sparse_factor(s.lu, one.values, NULL));
      static const size_t order[] = {2, 0, 1};
      for (size_t i = 0; i < 3; i++) {
        vary(&one, values[order[i]], &seed);
        check_ok(yoke__sparse_refactor(s.lu, order[i], values[order[i]]));
      }
      for (size_t slot = 0; slot < 3; slot++) {
        solver alone;
        open_solver(&alone, &one, kernels[k]);
        check_ok(yoke__sparse_factor(alone.lu, one.values, NULL));
        check_ok(yoke__sparse_refactor(alone.lu, 0, values[slot]));
        double x[CASE_N_MAX], want[CASE_N_MAX];
        memcpy(x, one.b, sizeof x);
        memcpy(want, one.b, sizeof want);
        yoke__sparse_solve(s.lu, slot, x);
        yoke__sparse_solve(alone.lu, 0, want);
        assert_memory_equal(x, want, (size_t)n * sizeof *x);
        close_solver(&alone);
      }
      close_solver(&s);
    }
  }
}

// Kuhn's algorithm, recursive: the slow twin of the structural rank.
// NOLINTNEXTLINE(misc-no-recursion): at most 60 deep
static bool augment(const sparse_case* c, int32_t j, bool seen[], int32_t col_of[]) {
  for (int32_t e = c->starts[j]; e < c->starts[j + 1]; e++) {
    const int32_t i = c->rows[e];
    if (!seen[i]) {
      seen[i] = true;
      if (col_of[i] < 0 || augment(c, col_of[i], seen, col_of)) {
        col_of[i] = j;
        return true;
      }
    }
  }
  return false;
}

static int32_t slow_rank(const sparse_case* c) {
  int32_t col_of[CASE_N_MAX], rank = 0;
  for (int32_t i = 0; i < c->n; i++) {
    col_of[i] = -1;
  }
  for (int32_t j = 0; j < c->n; j++) {
    bool seen[CASE_N_MAX] = {false};
    rank += augment(c, j, seen, col_of);
  }
  return rank;
}

static void test_structural_rank(void** state) {
  (void)state;
  uint64_t seed = 15;
  static uint8_t map[CASE_N_MAX * CASE_N_MAX];
  int n_singular = 0, n_regular = 0;
  for (int round = 0; round < 300; round++) {
    const int32_t n = 1 + random_index(&seed, 60);
    memset(map, 0, sizeof map);
    for (int32_t k = random_index(&seed, 5 * n); k > 0; k--) {
      map[random_index(&seed, n) * n + random_index(&seed, n)] = 1;
    }
    case_from_map(&one, n, map);
    const yoke_sparse_pattern pattern = case_pattern(&one);
    int32_t rank = -1, column_of[CASE_N_MAX], n_matched = 0;
    bool is_matched[CASE_N_MAX] = {false};
    check_ok(yoke__sparse_structural_rank(&pattern, &rank, column_of));
    assert_int_equal(rank, slow_rank(&one));

    // each row has an entry in its column, and no column serves twice
    for (int32_t i = 0; i < n; i++) {
      if (column_of[i] >= 0) {
        assert_true(map[i * n + column_of[i]] != 0 && !is_matched[column_of[i]]);
        is_matched[column_of[i]] = true;
        n_matched++;
      }
    }
    assert_int_equal(n_matched, rank);

    // without the columns left over the others still have that rank
    for (int32_t i = 0; i < n * n; i++) {
      map[i] = is_matched[i % n] ? map[i] : 0;
    }
    case_from_map(&two, n, map);
    assert_int_equal(slow_rank(&two), rank);

    // no values can help
    for (int32_t e = 0; e < one.starts[n]; e++) {
      one.values[e] = random_number(&seed);
    }
    for (size_t k = 0; k < N_KERNELS && rank < n; k++) {
      solver s = {0};
      int32_t column = -1;
      yoke_status status = yoke__sparse_create(&pattern, &kernels[k], &s.arena, &s.lu);
      if (status == YOKE_OK) {
        status = yoke__sparse_factor(s.lu, one.values, &column);
        assert_false(yoke__sparse_is_valid(s.lu, 0));
        check_between((double)column, 0.0, (double)(n - 1));
      }
      assert_true(status == YOKE_SINGULAR ||
                  (kernels[k].kernel == YOKE_SPARSE_KLU && status == YOKE_NO_SUPPORT));
      close_solver(&s);
    }
    n_singular += rank < n;
    n_regular += rank == n;
  }
  // both kinds were met
  check_between((double)n_singular, 30.0, 300.0);
  check_between((double)n_regular, 30.0, 300.0);
}

// Conductances of a network: nodes in two islands, the second without a way to ground. Its rows
// cancel up to rounding, and the column named belongs to it.
static void make_islands(sparse_case* c, int32_t n, int32_t n_first, uint64_t* seed) {
  static double G[CASE_N_MAX * CASE_N_MAX];
  static uint8_t map[CASE_N_MAX * CASE_N_MAX];
  memset(G, 0, sizeof G);
  memset(map, 0, sizeof map);
  for (int32_t k = 0; k < 3 * n; k++) {
    const bool is_first = k % n < n_first;
    const int32_t low = is_first ? 0 : n_first, size = is_first ? n_first : n - n_first;
    const int32_t a = k < n ? k : low + random_index(seed, size);
    const int32_t b = k < n && k > low ? k - 1 : low + random_index(seed, size);
    const double g = exp(3.0 * random_number(seed));
    if (a != b) {
      G[a * n + a] += g;
      G[b * n + b] += g;
      G[a * n + b] -= g;
      G[b * n + a] -= g;
      map[a * n + a] = map[b * n + b] = map[a * n + b] = map[b * n + a] = 1;
    }
  }
  G[0] += 1.0;
  map[0] = 1;
  case_from_map(c, n, map);
  for (int32_t j = 0; j < n; j++) {
    for (int32_t e = c->starts[j]; e < c->starts[j + 1]; e++) {
      c->values[e] = G[c->rows[e] * n + j];
    }
  }
}

// An isolated island leaves exact or nearly exact zeros; in either case rcond tells: a regular
// network of this kind stays above 1e-6.
static void test_floating_island(void** state) {
  (void)state;
  uint64_t seed = 16;
  int n_found = 0, n_rounds = 0;
  for (int round = 0; round < 100; round++) {
    const int32_t n = 4 + random_index(&seed, 60), n_first = 2 + random_index(&seed, n - 3);
    make_islands(&one, n, n_first, &seed);
    for (size_t k = 0; k < 4; k++) {
      solver s;
      open_solver(&s, &one, kernels[k]);
      int32_t column = -1;
      const yoke_status status = yoke__sparse_factor(s.lu, one.values, &column);
      n_rounds++;
      if (status == YOKE_SINGULAR) {
        n_found++;
        check_between((double)column, (double)n_first, (double)(n - 1));
      } else {
        check_between(stats_of(&s).rcond, 0.0, 1e-13);
      }
      close_solver(&s);

      // one resistor to ground repairs it
      const double was = one.values[one.starts[n] - 1];
      one.values[one.starts[n] - 1] += 1.0;
      open_solver(&s, &one, kernels[k]);
      check_ok(yoke__sparse_factor(s.lu, one.values, &column));
      check_between(stats_of(&s).rcond, 1e-6, 1.0);
      close_solver(&s);
      one.values[one.starts[n] - 1] = was;
    }
  }
  // rounding hides some
  check_between((double)n_found / (double)n_rounds, 0.5, 1.0);
}

// The last diagonal entry of the islands must exist for the test above, and does: every node has
// a neighbour. A single one without any is a zero column.
static void test_zero_column_is_named(void** state) {
  (void)state;
  uint64_t seed = 17;
  for (size_t k = 0; k < 4; k++) {
    for (int32_t n = 2; n < 40; n += 3) {
      case_random(&one, n, 3 * n, 2.0, &seed);
      const int32_t bad = random_index(&seed, n);
      for (int32_t e = one.starts[bad]; e < one.starts[bad + 1]; e++) {
        one.values[e] = 0.0;
      }
      solver s;
      open_solver(&s, &one, kernels[k]);
      int32_t column = -1;
      assert_int_equal(yoke__sparse_factor(s.lu, one.values, &column), YOKE_SINGULAR);
      assert_int_equal(column, bad);
      close_solver(&s);
    }
  }
}

// A NaN or an infinity anywhere, also where no pivot ever sees it, is refused; good values heal.
static void test_not_finite_is_refused(void** state) {
  (void)state;
  uint64_t seed = 18;
  static double values[CASE_N_MAX * CASE_N_MAX];
  for (size_t k = 0; k < N_KERNELS; k++) {
    if (!is_there(&kernels[k])) {
      continue;
    }
    case_random(&one, 12, 24, 2.0, &seed);
    solver s;
    open_solver(&s, &one, kernels[k]);
    check_ok(yoke__sparse_factor(s.lu, one.values, NULL));
    for (int32_t e = 0; e < one.starts[one.n]; e++) {
      memcpy(values, one.values, sizeof values);
      values[e] = e % 2 == 0 ? (double)NAN : (double)INFINITY;
      assert_int_equal(yoke__sparse_refactor(s.lu, 0, values), YOKE_SINGULAR);
      assert_false(yoke__sparse_is_valid(s.lu, 0));
      double x[CASE_N_MAX] = {0.0};
      yoke__sparse_solve(s.lu, 0, x);
      assert_true(isnan(x[0]) && isnan(x[one.n - 1]));
      if (kernels[k].kernel != YOKE_SPARSE_KLU) {
        assert_int_equal(yoke__sparse_repivot(s.lu, 0, values), YOKE_SINGULAR);
      }
      check_ok(yoke__sparse_refactor(s.lu, 0, one.values));
      assert_true(yoke__sparse_is_valid(s.lu, 0));
    }
    solver fresh;
    open_solver(&fresh, &one, kernels[k]);
    int32_t column = -1;
    values[one.starts[5]] = (double)NAN;
    assert_int_equal(yoke__sparse_factor(fresh.lu, values, &column), YOKE_SINGULAR);
    close_solver(&fresh);
    close_solver(&s);
  }
}

// A chain with one varying entry, on the diagonal: it becomes the last pivot, and a refactor is left
// with the products of its two neighbours. If everything varies, n operations are the least.
static void test_only_what_varies_is_computed(void** state) {
  (void)state;
  uint64_t seed = 19;
  const int32_t n = 100;
  static uint8_t map[CASE_N_MAX * CASE_N_MAX];
  memset(map, 0, sizeof map);
  for (int32_t i = 0; i < n; i++) {
    map[i * n + i] = 1;
    if (i + 1 < n) {
      map[i * n + i + 1] = map[(i + 1) * n + i] = 1;
    }
  }
  case_from_map(&one, n, map);
  for (int32_t j = 0; j < n; j++) {
    for (int32_t e = one.starts[j]; e < one.starts[j + 1]; e++) {
      one.values[e] = one.rows[e] == j ? 3.0 + random_number(&seed) : -1.0;
      one.varying[e] = j == 40 && one.rows[e] == j;
    }
    one.b[j] = 1.0;
  }
  const double was = one.values[one.starts[40] + 1];
  for (size_t k = 2; k < 4; k++) {
    solver s;
    open_solver(&s, &one, kernels[k]);
    check_ok(yoke__sparse_factor(s.lu, one.values, NULL));
    assert_int_equal(stats_of(&s).n_operations, 2);
    one.values[one.starts[40] + 1] = 20.0;
    check_ok(yoke__sparse_refactor(s.lu, 0, one.values));
    double x[CASE_N_MAX];
    memcpy(x, one.b, sizeof x);
    yoke__sparse_solve(s.lu, 0, x);
    check_between(case_residual(&one, one.values, x), 0.0, 8.0 * n * DBL_EPSILON);
    one.values[one.starts[40] + 1] = was;
    close_solver(&s);
  }
  memset(one.varying, 1, sizeof one.varying);
  solver s;
  open_solver(&s, &one, kernels[2]);
  check_ok(yoke__sparse_factor(s.lu, one.values, NULL));
  check_between((double)stats_of(&s).n_operations, (double)n, 4.0 * n);
  close_solver(&s);
}

static void test_bad_arguments(void** state) {
  (void)state;
  static const int32_t starts[] = {0, 2, 3}, falling[] = {0, 2, 1};
  static const int32_t good[] = {0, 1, 1}, twice[] = {1, 1, 0}, beyond[] = {0, 2, 1};
  static const int32_t turned[] = {1, 0, 1};
  const yoke_sparse_pattern patterns[] = {{2, falling, good, NULL},  {2, starts, twice, NULL},
                                          {2, starts, beyond, NULL}, {2, starts, turned, NULL},
                                          {-1, starts, good, NULL},  {2, NULL, good, NULL},
                                          {2, starts, NULL, NULL}};
  yoke_arena arena = {0};
  yoke_sparse* lu = NULL;
  for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
    assert_int_equal(yoke__sparse_create(&patterns[i], NULL, &arena, &lu), YOKE_BAD_ARG);
    assert_null(lu);
  }
  const yoke_sparse_pattern fine = {2, starts, good, NULL};
  const yoke_sparse_settings settings = {.kernel = (yoke_sparse_kernel)99};
  assert_int_equal(yoke__sparse_create(&fine, &settings, &arena, &lu), YOKE_BAD_ARG);

  // nothing before the first factor
  const yoke_sparse_settings list = {.kernel = YOKE_SPARSE_LIST};
  check_ok(yoke__sparse_create(&fine, &list, &arena, &lu));
  const double values[] = {2.0, 1.0, 4.0};
  assert_false(yoke__sparse_is_valid(lu, 0));
  assert_false(yoke__sparse_is_valid(lu, 7));
  assert_int_equal(yoke__sparse_refactor(lu, 0, values), YOKE_SINGULAR);
  assert_int_equal(yoke__sparse_repivot(lu, 0, values), YOKE_SINGULAR);
  check_ok(yoke__sparse_factor(lu, values, NULL));
  double x[] = {2.0, 9.0}, y[2];
  yoke__sparse_solve(lu, 0, x);
  check_near(x[0], 1.0, 0.0);
  check_near(x[1], 2.0, 0.0);
  yoke__sparse_mul(&fine, values, x, y);
  check_near(y[0], 2.0, 0.0);
  check_near(y[1], 9.0, 0.0);
  yoke__sparse_destroy(&lu);
  yoke__sparse_destroy(&lu);

  // no unknowns is a system, too
  const int32_t none[] = {0};
  const yoke_sparse_pattern empty = {0, none, NULL, NULL};
  for (size_t k = 0; k < 4; k++) {
    check_ok(yoke__sparse_create(&empty, &kernels[k], &arena, &lu));
    check_ok(yoke__sparse_factor(lu, values, NULL));
    check_ok(yoke__sparse_refactor(lu, 0, values));
    check_ok(yoke__sparse_repivot(lu, 0, values));
    yoke__sparse_solve(lu, 0, x);
    yoke__sparse_destroy(&lu);
  }
  yoke__arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_patterns),
      cmocka_unit_test(test_kernels_agree_with_dense),
      cmocka_unit_test(test_refactor_equals_factor),
      cmocka_unit_test(test_slots_are_independent),
      cmocka_unit_test(test_structural_rank),
      cmocka_unit_test(test_floating_island),
      cmocka_unit_test(test_zero_column_is_named),
      cmocka_unit_test(test_not_finite_is_refused),
      cmocka_unit_test(test_only_what_varies_is_computed),
      cmocka_unit_test(test_bad_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
