// Rows that change beside constant ones: the bordered solution is that of the whole matrix.
#include "circuit/equations/circuit_border.h"
#include "support/check.h"

enum { N = 12, N_MAX_ENTRIES = N * N };

typedef struct rows {
  int32_t starts[N + 1], row[N_MAX_ENTRIES];
  uint8_t varying[N_MAX_ENTRIES];
  double values[N_MAX_ENTRIES], b[N], scale[N], wanted[N];
} rows;

static uint64_t seed = 1;

static double uniform(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(seed >> 11) / 9007199254740992.0 * 2 - 1;
}

// A third of the entries; rows 0 to n_varying - 1 vary, some of their entries only.
static void fill_rows(rows* r, uint32_t n_varying) {
  int32_t at = 0;
  for (int32_t j = 0; j < N; j++) {
    r->starts[j] = at;
    for (int32_t i = 0; i < N; i++) {
      if (i == j || uniform() > 0.33) {
        r->row[at] = i;
        r->varying[at] = (uint32_t)i < n_varying && (i == j || uniform() > 0);
        r->values[at++] = uniform();
      }
    }
    r->b[j] = uniform();
    r->scale[j] = 1e-4 * (1.5 + uniform());
    r->wanted[j] = uniform();
  }
  r->starts[N] = at;
}

static yoke_sparse_pattern pattern_of(const rows* r) {
  return (yoke_sparse_pattern){.n = N, .starts = r->starts, .rows = r->row, .varying = r->varying};
}

// [I A^T ; A -D], all of its places; without: rows of the border taken out
static yoke_sparse* factor_whole(const rows* r, const yoke_border* without, yoke_arena* arena) {
  static int32_t starts[2 * N + 1], row[4 * N * N];
  static double values[4 * N * N];
  double dense[2 * N][2 * N] = {{0}};  // column, row
  for (int j = 0; j < N; j++) {
    dense[j][j] = 1;
    const bool is_out = without != NULL && yoke__border_has_row(without, (uint32_t)j);
    dense[N + j][N + j] = is_out ? -1 : -r->scale[j];
    for (int32_t k = r->starts[j]; k < r->starts[j + 1]; k++) {
      if (without == NULL || !yoke__border_has_row(without, (uint32_t)r->row[k])) {
        dense[j][N + r->row[k]] = r->values[k];
        dense[N + r->row[k]][j] = r->values[k];
      }
    }
  }
  for (int j = 0; j < 2 * N; j++) {
    starts[j] = 2 * N * j;
    for (int i = 0; i < 2 * N; i++) {
      row[starts[j] + i] = i;
      values[starts[j] + i] = dense[j][i];
    }
  }
  starts[(size_t)2 * N] = 4 * N * N;
  const yoke_sparse_pattern pattern = {.n = 2 * N, .starts = starts, .rows = row};
  const yoke_sparse_settings settings = {.kernel = YOKE_SPARSE_DENSE};
  yoke_sparse* whole = NULL;
  check_ok(yoke__sparse_create(&pattern, &settings, arena, &whole));
  check_ok(yoke__sparse_factor(whole, values, NULL));
  return whole;
}

static void solve(yoke_sparse* whole, const rows* r, const yoke_border* without, double x[]) {
  for (int i = 0; i < N; i++) {
    x[i] = r->wanted[i];
    x[N + i] = -r->b[i];
  }
  if (without != NULL) {
    yoke__border_clear(without, x + N);
  }
  yoke__sparse_solve(whole, 0, x);
}

// The varying entries take new values after the constant part was learnt. The condition of the
// whole is that of the penalty, 1e4: twelve digits remain.
static void equals_the_whole_matrix(void** state) {
  (void)state;
  double worst = 0;
  for (uint32_t n_varying = 1; n_varying <= 8; n_varying++) {
    yoke_arena arena = {0};
    rows r;
    yoke_border* border = NULL;
    double work[2 * N], x[2 * N], y[2 * N];
    fill_rows(&r, n_varying);
    const yoke_sparse_pattern pattern = pattern_of(&r);
    check_ok(yoke__border_create(&pattern, &arena, &border));
    assert_non_null(border);
    for (uint32_t i = 0; i < N; i++) {
      assert_int_equal(yoke__border_has_row(border, i), i < n_varying);
    }
    yoke_sparse* constant = factor_whole(&r, border, &arena);
    yoke__border_learn(border, constant, r.scale, work);
    for (int again = 0; again < 3; again++) {
      for (int32_t k = 0; k < r.starts[N]; k++) {
        r.values[k] = r.varying[k] ? 1e3 * uniform() * uniform() : r.values[k];
      }
      solve(constant, &r, border, y);
      check_ok(yoke__border_apply(border, r.values, r.b, y));
      yoke_sparse* whole = factor_whole(&r, NULL, &arena);
      solve(whole, &r, NULL, x);
      for (int i = 0; i < N; i++) {
        worst = fmax(worst, fabs(y[i] - x[i]) / (1 + fabs(x[i])));
      }
      yoke__sparse_destroy(&whole);
    }
    yoke__sparse_destroy(&constant);
    yoke__arena_free(&arena);
  }
  print_message("largest difference %.1e\n", worst);
  assert_true(worst < 1e-9);
}

// none, or so many that new factors are cheaper
static void stands_aside(void** state) {
  (void)state;
  yoke_arena arena = {0};
  rows r;
  yoke_border* border = NULL;
  fill_rows(&r, 0);
  yoke_sparse_pattern pattern = pattern_of(&r);
  check_ok(yoke__border_create(&pattern, &arena, &border));
  assert_null(border);
  fill_rows(&r, 9);
  pattern = pattern_of(&r);
  check_ok(yoke__border_create(&pattern, &arena, &border));
  assert_null(border);
  yoke__arena_free(&arena);
}

// a value that is no number leaves the derivatives as they are
static void refuses_what_is_no_number(void** state) {
  (void)state;
  yoke_arena arena = {0};
  rows r;
  yoke_border* border = NULL;
  double work[2 * N], y[2 * N], before[2 * N];
  fill_rows(&r, 2);
  const yoke_sparse_pattern pattern = pattern_of(&r);
  check_ok(yoke__border_create(&pattern, &arena, &border));
  yoke_sparse* constant = factor_whole(&r, border, &arena);
  yoke__border_learn(border, constant, r.scale, work);
  solve(constant, &r, border, y);
  memcpy(before, y, sizeof y);
  r.b[1] = (double)NAN;
  assert_int_equal(yoke__border_apply(border, r.values, r.b, y), YOKE_SINGULAR);
  assert_memory_equal(before, y, sizeof y);
  yoke__sparse_destroy(&constant);
  yoke__arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equals_the_whole_matrix),
      cmocka_unit_test(stands_aside),
      cmocka_unit_test(refuses_what_is_no_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
