// KLU's order of pivots with a limit of the fill: the same order while the factors keep the limit,
// YOKE_FULL as soon as they do not.
#include "linalg/linalg_sparse_part.h"
#include "linalg/sparse_cases.h"

static sparse_case one;

// entries of KLU's own factors with the settings of `order`
static double count_factors(const yoke_sparse_matrix* matrix, double tolerance) {
  yoke_arena arena = {0};
  yoke_sparse_klu* klu = NULL;
  check_ok(yoke__sparse_klu->create(matrix, 1, tolerance, &arena, &klu));
  check_ok(yoke__sparse_klu->factor(klu, 0, one.values, NULL));
  const double n_factors = (double)yoke__sparse_klu->n_factors(klu);
  yoke__sparse_klu->destroy(klu);
  yoke__arena_free(&arena);
  return n_factors;
}

static yoke_status order(const yoke_sparse_matrix* matrix, bool use_colamd, double max_entries,
                         int32_t row[], int32_t col[], double* n_operations) {
  yoke_sparse_order to;
  to.row = row;
  to.col = col;
  *n_operations = 0.0;
  return yoke__sparse_klu->order(matrix, one.values, 0.01, use_colamd, max_entries, &to,
                                 n_operations);
}

static void test_fill_is_limited(void** state) {
  (void)state;
  if (yoke__sparse_klu == NULL) {
    skip();
  }
  uint64_t seed = 5;
  int32_t row[2][CASE_N_MAX], col[2][CASE_N_MAX];
  for (int round = 0; round < 300; round++) {
    // few entries more: many blocks, of all sizes; many more: one block that fills
    const int32_t n = 2 + random_index(&seed, CASE_N_MAX - 1);
    case_random(&one, n, random_index(&seed, 4 * n + 1), 0.0, &seed);
    const yoke_sparse_pattern pattern = case_pattern(&one);
    const yoke_sparse_matrix matrix = {
        .n = n, .n_nonzeros = one.starts[n], .starts = pattern.starts, .rows = pattern.rows};
    const size_t bytes = (size_t)n * sizeof row[0][0];
    double n_all = 0.0, n_operations = 0.0;
    const double n_factors = count_factors(&matrix, 0.01);

    // AMD: exactly at the limit and just below
    check_ok(order(&matrix, false, HUGE_VAL, row[0], col[0], &n_all));
    check_ok(order(&matrix, false, n_factors, row[1], col[1], &n_operations));
    assert_memory_equal(row[0], row[1], bytes);
    assert_memory_equal(col[0], col[1], bytes);
    check_near(n_operations, n_all, 0.0);
    assert_int_equal(order(&matrix, false, n_factors - 1.0, row[1], col[1], &n_operations),
                     YOKE_FULL);

    // COLAMD: fails at most where the unlimited one has more
    check_ok(order(&matrix, true, HUGE_VAL, row[0], col[0], &n_all));
    const yoke_status status = order(&matrix, true, n_factors, row[1], col[1], &n_operations);
    if (status == YOKE_OK) {
      assert_memory_equal(row[0], row[1], bytes);
      assert_memory_equal(col[0], col[1], bytes);
    } else {
      assert_int_equal(status, YOKE_FULL);
      check_between(n_all, n_factors, HUGE_VAL);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fill_is_limited)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
