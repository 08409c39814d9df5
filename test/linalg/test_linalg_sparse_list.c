// The compiled list from inside: the same bytes as elimination row by row, whatever varies; pivots
// that go bad are noticed and replaced in the space reserved, without heap; the fallback for lists
// that would be too long; a ladder of 25 001 unknowns.
#include <float.h>

#include "linalg/linalg_sparse_part.h"
#include "linalg/sparse_cases.h"
#include "support/counting_heap.h"

static sparse_case one;

// ---- the parts by hand

typedef struct parts {
  yoke_arena arena;
  yoke_sparse_matrix matrix;
  yoke_sparse_factors factors;
  yoke_sparse_sweeps sweeps;
  yoke_sparse_list list;
  double *scale, *work;
} parts;

// Rows of the case, as create makes them.
static void make_matrix(parts* p, const sparse_case* c) {
  const int32_t n = c->n, n_nonzeros = c->starts[n];
  int32_t* row_starts = yoke__arena_array(&p->arena, (size_t)n + 1, sizeof *row_starts);
  int32_t* cols = yoke__arena_array(&p->arena, (size_t)n_nonzeros, sizeof *cols);
  int32_t* at = yoke__arena_array(&p->arena, (size_t)n_nonzeros, sizeof *at);
  int32_t to = 0;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      for (int32_t e = c->starts[j]; e < c->starts[j + 1]; e++) {
        if (c->rows[e] == i) {
          cols[to] = j;
          at[to++] = e;
        }
      }
    }
    row_starts[i + 1] = to;
  }
  p->matrix = (yoke_sparse_matrix){.n = n,
                                   .n_nonzeros = n_nonzeros,
                                   .starts = c->starts,
                                   .rows = c->rows,
                                   .row_starts = row_starts,
                                   .cols = cols,
                                   .at = at,
                                   .varying = c->varying};
}

static void make_parts(parts* p, const sparse_case* c, double clean_cost, size_t max_products) {
  *p = (parts){0};
  make_matrix(p, c);
  const size_t n = (size_t)c->n, capacity = n * n + n + 16;
  yoke_sparse_pivoting* pivoting = yoke__sparse_pivoting_create(&p->matrix, capacity, &p->arena);
  assert_non_null(pivoting);
  check_ok(yoke__sparse_factors_create(&p->matrix, capacity, &p->arena, &p->factors));
  check_ok(yoke__sparse_sweeps_create(c->n, capacity, &p->arena, &p->sweeps));
  check_ok(yoke__sparse_list_create(capacity, max_products, &p->arena, &p->list));
  check_ok(yoke__sparse_pivoting_run(pivoting, &p->matrix, c->values, 0.1, clean_cost,
                                     &p->factors.order, NULL));
  check_ok(yoke__sparse_factors_make(&p->factors, &p->matrix));
  p->scale = yoke__arena_array(&p->arena, n, sizeof(double));
  p->work = yoke__arena_array(&p->arena, n, sizeof(double));
  for (size_t i = 0; i < n; i++) {
    p->scale[i] = 1.0;
  }
  yoke__sparse_sweeps_make(&p->sweeps, &p->factors, c->n);
  yoke__sparse_list_make(&p->list, &p->factors, p->sweeps.place, p->scale, c->n);
}

static double rows_run(const parts* p, bool is_full, const double values[], double lu[]) {
  return yoke__sparse_rows_run(&p->factors, p->sweeps.place, p->scale, p->matrix.n, is_full, values,
                               lu, p->work);
}

static void vary(const sparse_case* c, double values[], uint64_t* seed) {
  for (int32_t e = 0; e < c->starts[c->n]; e++) {
    const double factor = 1.0 + 0.2 * random_number(seed);
    values[e] = c->varying[e] ? c->values[e] * factor : c->values[e];
  }
}

// Full, partial by rows and partial by the list: three ways, one result to the last bit.
static void test_list_equals_rows(void** state) {
  (void)state;
  uint64_t seed = 21;
  static double values[CASE_N_MAX * CASE_N_MAX];
  static const double clean_costs[] = {-1.0, 4.0, 1e4};
  for (int round = 0; round < 60; round++) {
    const int32_t n = 1 + random_index(&seed, 120);
    case_random(&one, n, random_index(&seed, 4 * n), 2.0, &seed);
    const int32_t share = 1 + random_index(&seed, 20);
    for (int32_t e = 0; e < one.starts[n]; e++) {
      one.varying[e] = random_index(&seed, share) == 0;
    }
    parts p;
    make_parts(&p, &one, clean_costs[round % 3], (size_t)n * (size_t)n * (size_t)n);
    assert_true(p.list.is_used);
    const size_t n_entries = (size_t)yoke__sparse_n_entries(&p.factors, n);
    double* full = yoke__arena_array(&p.arena, n_entries, sizeof *full);
    double* list = yoke__arena_array(&p.arena, n_entries, sizeof *list);
    double* rows = yoke__arena_array(&p.arena, n_entries, sizeof *rows);
    (void)rows_run(&p, true, one.values, list);
    (void)rows_run(&p, true, one.values, rows);
    for (int again = 0; again < 3; again++) {
      vary(&one, values, &seed);
      assert_true(isfinite(rows_run(&p, true, values, full)));
      assert_true(isfinite(rows_run(&p, false, values, rows)));
      assert_true(isfinite(yoke__sparse_list_run(&p.list, values, list)));
      assert_memory_equal(list, full, n_entries * sizeof *full);
      assert_memory_equal(rows, full, n_entries * sizeof *full);
    }

    // the order of solve is another one, so this is rounding: P A Q = L U on a known solution
    double x[CASE_N_MAX];
    memcpy(x, one.b, sizeof x);
    yoke__sparse_sweeps_run(&p.sweeps, n, p.factors.l_start[n], full, x);
    check_between(case_residual(&one, values, x), 0.0, 8.0 * n * DBL_EPSILON * 10.0);
    yoke__arena_free(&p.arena);
  }
}

static void test_list_that_is_too_long(void** state) {
  (void)state;
  uint64_t seed = 22;
  case_random(&one, 60, 200, 2.0, &seed);
  parts p;
  make_parts(&p, &one, -1.0, 10);
  assert_false(p.list.is_used);
  assert_int_equal(p.list.n_groups, 0);
  yoke__arena_free(&p.arena);
}

// every position of values and every id is used once
static void test_places_are_a_permutation(void** state) {
  (void)state;
  uint64_t seed = 23;
  for (int round = 0; round < 30; round++) {
    const int32_t n = 1 + random_index(&seed, 150);
    case_random(&one, n, random_index(&seed, 3 * n), 2.0, &seed);
    parts p;
    make_parts(&p, &one, -1.0, 0);
    const int32_t n_entries = yoke__sparse_n_entries(&p.factors, n);
    uint8_t* seen = yoke__arena_array(&p.arena, (size_t)n_entries, 1);
    for (int32_t id = 0; id < n_entries; id++) {
      const int32_t place = p.sweeps.place[id];
      check_between((double)place, 0.0, (double)(n_entries - 1));
      assert_int_equal(seen[place], 0);
      seen[place] = 1;
    }
    yoke__arena_free(&p.arena);
  }
}

// ---- pivots that go bad

// A chain whose first diagonal entry is the first pivot, until it all but vanishes.
static void make_chain(sparse_case* c, int32_t n) {
  static uint8_t map[CASE_N_MAX * CASE_N_MAX];
  memset(map, 0, sizeof map);
  for (int32_t i = 0; i < n; i++) {
    map[i * n + i] = 1;
    if (i + 1 < n) {
      map[i * n + i + 1] = map[(i + 1) * n + i] = 1;
    }
  }
  case_from_map(c, n, map);
  for (int32_t j = 0; j < n; j++) {
    for (int32_t e = c->starts[j]; e < c->starts[j + 1]; e++) {
      c->values[e] = c->rows[e] == j ? 3.0 : -1.0;
    }
    c->b[j] = 1.0 + 0.1 * (double)j;
  }
}

// Every diagonal entry vanishes up to 1e-13: growth is 1e13 and all digits would be lost. The guard
// says so, new pivots bring the backward error down to rounding, the other slot is stale and comes
// back with a refactor, and all that without a heap call.
static void test_growth_is_noticed_and_repaired(void** state) {
  (void)state;
  static double bad[CASE_N_MAX * 3];
  for (int32_t n = 2; n <= 200; n = n < 10 ? n + 2 : n * 5 / 2) {
    const int32_t even = n - n % 2;
    make_chain(&one, even);
    for (int32_t j = 0; j < even; j++) {
      for (int32_t e = one.starts[j]; e < one.starts[j + 1]; e++) {
        bad[e] = one.rows[e] == j ? 1e-13 : one.values[e];
      }
    }
    yoke_arena arena = {0};
    yoke_sparse* lu = NULL;
    const yoke_sparse_pattern pattern = case_pattern(&one);
    const yoke_sparse_settings settings = {.kernel = YOKE_SPARSE_LIST, .n_slots = 2};
    check_ok(yoke__sparse_create(&pattern, &settings, &arena, &lu));
    check_ok(yoke__sparse_factor(lu, one.values, NULL));
    double x[CASE_N_MAX], y[CASE_N_MAX];
    memcpy(x, one.b, sizeof x);
    memcpy(y, one.b, sizeof y);

    const long before = atomic_load(&n_heap_calls);
    const yoke_status refused = yoke__sparse_refactor(lu, 0, bad);
    const bool was_valid = yoke__sparse_is_valid(lu, 0);
    const yoke_status repaired = yoke__sparse_repivot(lu, 0, bad);
    const bool is_valid = yoke__sparse_is_valid(lu, 0), is_stale = !yoke__sparse_is_valid(lu, 1);
    yoke__sparse_solve(lu, 0, x);
    const yoke_status other = yoke__sparse_refactor(lu, 1, one.values);
    const long n_calls = atomic_load(&n_heap_calls) - before;

    assert_int_equal(n_calls, 0);
    assert_int_equal(refused, YOKE_SINGULAR);
    assert_false(was_valid);
    check_ok(repaired);
    assert_true(is_valid && is_stale);
    check_between(case_residual(&one, bad, x), 0.0, 8.0 * n * DBL_EPSILON);

    // good values with the pivots of the bad ones: growth may be refused, then another repivot
    // leads back; the backward error is that of the growth allowed
    check_ok(other < 0 ? yoke__sparse_repivot(lu, 1, one.values) : other);
    yoke__sparse_solve(lu, 1, y);
    yoke_sparse_stats stats;
    yoke__sparse_get_stats(lu, &stats);
    check_between(case_residual(&one, one.values, y), 0.0,
                  8.0 * n * DBL_EPSILON * fmax(1.0, stats.growth));
    assert_in_range(stats.n_repivoted, 1, 2);
    yoke__sparse_destroy(&lu);
    yoke__arena_free(&arena);
  }
}

// Large and small rows side by side: scale is not growth. Rows of 1e9 and 1e-9 pass, and the guard
// still sees the vanishing pivot within the small row.
static void test_growth_knows_row_scales(void** state) {
  (void)state;
  make_chain(&one, 20);
  for (int32_t e = 0; e < one.starts[20]; e++) {
    one.values[e] *= one.rows[e] % 2 == 0 ? 1e9 : 1e-9;
  }
  yoke_arena arena = {0};
  yoke_sparse* lu = NULL;
  const yoke_sparse_pattern pattern = case_pattern(&one);
  const yoke_sparse_settings settings = {.kernel = YOKE_SPARSE_LIST};
  check_ok(yoke__sparse_create(&pattern, &settings, &arena, &lu));
  check_ok(yoke__sparse_factor(lu, one.values, NULL));
  yoke_sparse_stats stats;
  yoke__sparse_get_stats(lu, &stats);
  check_between(stats.growth, 0.3, 2.0);
  check_ok(yoke__sparse_refactor(lu, 0, one.values));

  // growing values are no growth either: every entry 1e12 larger, which only the exact measure tells
  static double values[CASE_N_MAX * 3];
  for (int32_t e = 0; e < one.starts[20]; e++) {
    values[e] = 1e12 * one.values[e];
  }
  check_ok(yoke__sparse_refactor(lu, 0, values));
  yoke__sparse_get_stats(lu, &stats);
  check_between(stats.growth, 0.3, 2.0);

  for (int32_t j = 0; j < 20; j++) {
    for (int32_t e = one.starts[j]; e < one.starts[j + 1]; e++) {
      values[e] = one.rows[e] == j ? 1e-12 * one.values[e] : one.values[e];
    }
  }
  assert_int_equal(yoke__sparse_refactor(lu, 0, values), YOKE_SINGULAR);
  yoke__sparse_get_stats(lu, &stats);
  check_between(stats.growth, 1e10, 1e14);
  yoke__sparse_destroy(&lu);
  yoke__arena_free(&arena);
}

// Nearly upper triangular: hardly any fill with pivots on the diagonal, much without them, because
// a cycle above the diagonal is all that is left to pivot on.
enum { TRIANGLE_N = 1000, TRIANGLE_MAX = 7 * TRIANGLE_N };

typedef struct triangle {
  int32_t starts[TRIANGLE_N + 1], rows[TRIANGLE_MAX];
  double good[TRIANGLE_MAX], bad[TRIANGLE_MAX];
} triangle;

// weak: size of the diagonal in bad, at random up to it
static void make_triangle(triangle* t, int32_t n_more, double weak, uint64_t seed) {
  int32_t e = 0;
  t->starts[0] = 0;
  for (int32_t j = 0; j < TRIANGLE_N; j++) {
    bool has[TRIANGLE_N] = {false};
    for (int32_t k = 0; k < n_more && j > 1; k++) {
      has[random_index(&seed, j)] = true;
    }
    has[j] = true;
    has[j == 0 ? TRIANGLE_N - 1 : j - 1] = true;
    for (int32_t i = 0; i < TRIANGLE_N; i++) {
      if (has[i]) {
        t->rows[e] = i;
        t->good[e] = i == j ? 8.0 : random_number(&seed);
        t->bad[e] = i == j ? weak * random_number(&seed) : t->good[e];
        e++;
      }
    }
    t->starts[j + 1] = e;
  }
}

// max |A x - b| over 8 max |x|, for a solution that should be 1 + i / 1000
static double triangle_residual(const triangle* t, yoke_sparse* lu, const double values[]) {
  static double x[TRIANGLE_N], b[TRIANGLE_N], r[TRIANGLE_N];
  const yoke_sparse_pattern pattern = {TRIANGLE_N, t->starts, t->rows, NULL};
  for (int32_t i = 0; i < TRIANGLE_N; i++) {
    x[i] = 1.0 + 0.001 * i;
  }
  yoke__sparse_mul(&pattern, values, x, b);
  memcpy(x, b, sizeof x);
  yoke__sparse_solve(lu, 0, x);
  yoke__sparse_mul(&pattern, values, x, r);
  double worst = 0.0, size = 0.0;
  for (int32_t i = 0; i < TRIANGLE_N; i++) {
    const double off = fabs(r[i] - b[i]);
    worst = off <= worst ? worst : off;
    size = fmax(size, fabs(x[i]));
  }
  return worst / (8.0 * size);
}

static triangle nearly;

static void open_triangle(yoke_arena* arena, const double values[], yoke_sparse** lu,
                          yoke_sparse_stats* stats) {
  const yoke_sparse_pattern pattern = {TRIANGLE_N, nearly.starts, nearly.rows, NULL};
  const yoke_sparse_settings settings = {.kernel = YOKE_SPARSE_LIST, .without_klu = true};
  check_ok(yoke__sparse_create(&pattern, &settings, arena, lu));
  check_ok(yoke__sparse_factor(*lu, values, NULL));
  yoke__sparse_get_stats(*lu, stats);
}

// The reserve, twice the first fill and a little, does not hold what a solver made for the bad
// values needs. It is said, nothing is valid, and the old values still work.
static void test_repivot_without_room(void** state) {
  (void)state;
  for (uint64_t seed = 25; seed < 28; seed++) {
    make_triangle(&nearly, 4, 1e-9, seed);
    yoke_arena arena = {0}, other = {0};
    yoke_sparse *lu = NULL, *fresh = NULL;
    yoke_sparse_stats stats, need;
    open_triangle(&arena, nearly.good, &lu, &stats);
    open_triangle(&other, nearly.bad, &fresh, &need);
    check_between((double)need.n_factors, 2.0 * (double)stats.n_factors + 3.0 * TRIANGLE_N, 1e6);

    const long before = atomic_load(&n_heap_calls);
    const yoke_status refused = yoke__sparse_refactor(lu, 0, nearly.bad);
    const yoke_status full = yoke__sparse_repivot(lu, 0, nearly.bad);
    const long n_calls = atomic_load(&n_heap_calls) - before;
    assert_int_equal(n_calls, 0);
    assert_int_equal(refused, YOKE_SINGULAR);
    assert_int_equal(full, YOKE_FULL);
    assert_false(yoke__sparse_is_valid(lu, 0));
    check_ok(yoke__sparse_refactor(lu, 0, nearly.good));
    check_between(triangle_residual(&nearly, lu, nearly.good), 0.0,
                  8.0 * TRIANGLE_N * DBL_EPSILON * fmax(1.0, stats.growth));
    yoke__sparse_destroy(&lu);
    yoke__sparse_destroy(&fresh);
    yoke__arena_free(&arena);
    yoke__arena_free(&other);
  }
}

// Pivots of the first threshold fit but grow by more than 100, those of a stricter one do not fit:
// the first are kept, since their growth is within the limit, and the error is that of the growth.
static void test_repivot_keeps_what_fits(void** state) {
  (void)state;
  make_triangle(&nearly, 2, 2.187, 15838);
  yoke_arena arena = {0};
  yoke_sparse* lu = NULL;
  yoke_sparse_stats stats;
  open_triangle(&arena, nearly.good, &lu, &stats);
  const long before = atomic_load(&n_heap_calls);
  const yoke_status status = yoke__sparse_repivot(lu, 0, nearly.bad);
  assert_int_equal(atomic_load(&n_heap_calls) - before, 0);
  check_ok(status);
  assert_true(yoke__sparse_is_valid(lu, 0));
  yoke__sparse_get_stats(lu, &stats);
  check_between(stats.growth, 100.0, 1e8);
  check_between(triangle_residual(&nearly, lu, nearly.bad), 0.0,
                8.0 * TRIANGLE_N * DBL_EPSILON * stats.growth);
  yoke__sparse_destroy(&lu);
  yoke__arena_free(&arena);
}

// ---- a large tableau

// Ladder of N loops in sparse tableau form: voltages of 2 N + 1 nodes, currents of R, L, C. Rows of
// the current law and of the source have nothing on the diagonal. With all of b = 1 the solution is
// checked by its residual.
static void test_large_ladder(void** state) {
  (void)state;
  enum { LOOPS = 5000, NODES = 2 * LOOPS + 1, N = NODES + 3 * LOOPS };
  static int32_t starts[N + 1], rows[4 * N];
  static double values[4 * N], x[N], r[N];
  int32_t e = 0;
  for (int32_t j = 0; j < NODES; j++) {
    const int32_t l = j / 2;
    const int32_t first[] = {j == 0 ? 0 : NODES + 3 * (l - 1) + 1, NODES + 3 * l};
    rows[e] = j % 2 == 0 ? first[0] : first[1];
    values[e++] = j == 0 ? 1.0 : -1.0;
    if (j > 0) {
      rows[e] = rows[e - 1] + 1;
      values[e] = j % 2 == 0 ? 20.0 : 1.0;
      e++;
    }
    if (j % 2 == 0 && l < LOOPS) {
      rows[e] = NODES + 3 * l;
      values[e++] = 1.0;
    }
    starts[j + 1] = e;
  }
  for (int32_t l = 0; l < LOOPS; l++) {
    const int32_t from[] = {2 * l, 2 * l + 1, 2 * l + 2}, to[] = {2 * l + 1, 2 * l + 2, 0};
    const double own[] = {-0.1, -20.0, -1.0};
    for (int32_t k = 0; k < 3; k++) {
      const int32_t ends[] = {from[k], to[k]};
      for (int32_t s = 0; s < 2; s++) {
        if (ends[s] > 0) {
          rows[e] = ends[s];
          values[e++] = s == 0 ? -1.0 : 1.0;
        }
      }
      rows[e] = NODES + 3 * l + k;
      values[e++] = own[k];
      starts[NODES + 3 * l + k + 1] = e;
    }
  }
  for (int without_klu = 0; without_klu < 2; without_klu++) {
    yoke_arena arena = {0};
    yoke_sparse* lu = NULL;
    const yoke_sparse_pattern pattern = {N, starts, rows, NULL};
    const yoke_sparse_settings settings = {.without_klu = without_klu == 1};
    check_ok(yoke__sparse_create(&pattern, &settings, &arena, &lu));
    check_ok(yoke__sparse_factor(lu, values, NULL));
    yoke_sparse_stats stats;
    yoke__sparse_get_stats(lu, &stats);
    assert_int_equal(stats.kernel, YOKE_SPARSE_LIST);
    check_between((double)stats.n_factors / (double)stats.n_nonzeros, 0.0, 1.5);
    for (int again = 0; again < 2; again++) {
      for (int32_t i = 0; i < N; i++) {
        x[i] = 1.0;
      }
      yoke__sparse_solve(lu, 0, x);
      yoke__sparse_mul(&pattern, values, x, r);
      double worst = 0.0, size = 0.0;
      for (int32_t i = 0; i < N; i++) {
        worst = fmax(worst, fabs(r[i] - 1.0));
        size = fmax(size, fabs(x[i]));
      }
      check_between(worst, 0.0, 1e3 * DBL_EPSILON * 20.0 * size);
      check_ok(yoke__sparse_repivot(lu, 0, values));
    }
    yoke__sparse_destroy(&lu);
    yoke__arena_free(&arena);
  }
}

// No heap in 1000 refactors and solves; and the counter does count.
static void test_hot_path_without_heap(void** state) {
  (void)state;
  uint64_t seed = 24;
  static double values[CASE_N_MAX * CASE_N_MAX];
  static const yoke_sparse_kernel kernels[] = {YOKE_SPARSE_DENSE, YOKE_SPARSE_LIST};
  for (size_t k = 0; k < 2; k++) {
    case_random(&one, 30, 60, 2.0, &seed);
    yoke_arena arena = {0};
    yoke_sparse* lu = NULL;
    const yoke_sparse_pattern pattern = case_pattern(&one);
    const yoke_sparse_settings settings = {.kernel = kernels[k], .n_slots = 2};
    check_ok(yoke__sparse_create(&pattern, &settings, &arena, &lu));
    check_ok(yoke__sparse_factor(lu, one.values, NULL));
    const long before = atomic_load(&n_heap_calls);
    yoke_status worst = YOKE_OK;
    for (size_t i = 0; i < 1000; i++) {
      vary(&one, values, &seed);
      const yoke_status status = yoke__sparse_refactor(lu, i % 2, values);
      worst = status < worst ? status : worst;
      double x[CASE_N_MAX];
      memcpy(x, one.b, sizeof x);
      yoke__sparse_solve(lu, i % 2, x);
    }
    const long n_calls = atomic_load(&n_heap_calls) - before;
    check_ok(worst);
    assert_int_equal(n_calls, 0);
    yoke__sparse_destroy(&lu);
    yoke__arena_free(&arena);
  }
  check_heap_is_counted();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_list_equals_rows),
      cmocka_unit_test(test_list_that_is_too_long),
      cmocka_unit_test(test_places_are_a_permutation),
      cmocka_unit_test(test_growth_is_noticed_and_repaired),
      cmocka_unit_test(test_growth_knows_row_scales),
      cmocka_unit_test(test_repivot_without_room),
      cmocka_unit_test(test_repivot_keeps_what_fits),
      cmocka_unit_test(test_large_ladder),
      cmocka_unit_test(test_hot_path_without_heap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
