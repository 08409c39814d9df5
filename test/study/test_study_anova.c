// Analysis of variance: examples by hand, the formulas of the books in long double, sums that must
// add up, and arrays on which those formulas lose their digits.
#include "base/base_message.h"
#include "study/study_anova.h"
#include "support/check.h"

static void open_grid(yoke_grid* grid, const char* const texts[], size_t n) {
  YOKE_CATCH(err);
  if (yoke__grid_create(texts, n, grid, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
}

static const yoke_effect* find_effect(const yoke_anova* anova, size_t a, size_t b) {
  for (size_t i = 0; i < anova->n_effects; i++) {
    if (anova->effects[i].a == a && anova->effects[i].b == b) {
      return &anova->effects[i];
    }
  }
  fail_msg("no effect %zu x %zu", a, b);
  return NULL;
}

static double sum_effects(const yoke_anova* anova) {
  double sum = 0;
  for (size_t i = 0; i < anova->n_effects; i++) {
    sum += anova->effects[i].sum;
  }
  return sum;
}

// the same numbers on every machine
static double next_random(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 9007199254740992.0;
}

//        b1 b2 b3   mean        SS_A  = 3 (2^2 + 2^2)     = 24, DoF 1, MS 24
//   a1    1  2  3      2        SS_B  = 2 (2^2 + 0 + 2^2) = 16, DoF 2, MS 8
//   a2    3  6  9      6        SS_AB = 4 * 1^2           =  4, DoF 2, MS 2
//   mean  2  4  6      4        total = 9+4+1+1+4+25      = 44
static void test_two_by_three(void** state) {
  (void)state;
  static const char* const axes[] = {"a=1,2", "b=x,y,z"};
  static const double y[] = {1, 2, 3, 3, 6, 9};
  yoke_grid grid;
  yoke_anova anova;
  open_grid(&grid, axes, 2);
  check_ok(yoke__anova_compute(&grid, y, &anova));
  assert_int_equal(anova.n_effects, 3);
  check_near(anova.grand, 4, 1e-15);
  check_near(anova.total, 44, 1e-13);
  check_near(anova.rest, 0, 1e-28);
  assert_int_equal(anova.rest_freedom, 0);
  static const double sums[] = {24, 16, 4}, means[] = {24, 8, 2};
  static const size_t freedoms[] = {1, 2, 2};
  for (size_t i = 0; i < 3; i++) {
    check_near(anova.effects[i].sum, sums[i], 1e-13);
    check_near(anova.effects[i].mean, means[i], 1e-13);
    check_near(anova.effects[i].share, means[i] / 34, 1e-15);
    assert_int_equal(anova.effects[i].freedom, freedoms[i]);
  }
  char name[64];
  yoke__anova_name(&grid, &anova.effects[0], name, sizeof name);
  assert_string_equal(name, "a");
  yoke__anova_name(&grid, &anova.effects[2], name, sizeof name);
  assert_string_equal(name, "a x b");
  yoke_text csv = {0};
  yoke__anova_header(&csv);
  yoke__anova_rows(&grid, &anova, "m:u,v", &csv);
  check_contains(csv.bytes, "measure,a,b,ss,dof,ms,share\n\"m:u,v\",a,,24,1,24,0.70588");
  check_contains(csv.bytes, "\"m:u,v\",(total),,44,5,8.8,\n");
  yoke__text_free(&csv);
  yoke__anova_free(&anova);
  yoke__grid_free(&grid);
}

// y = offset + a + 2 b + 3 ab + abc / 2 with a, b, c = -1, 1: contrasts are orthogonal, and the sum
// of squares of each is 8 times its factor squared
static void fill_contrasts(double offset, double y[8]) {
  for (int i = 0; i < 8; i++) {
    const double a = i & 4 ? 1 : -1, b = i & 2 ? 1 : -1, c = i & 1 ? 1 : -1;
    y[i] = offset + a + 2 * b + 3 * a * b + a * b * c / 2;
  }
}

static void check_contrasts(double offset) {
  static const char* const axes[] = {"a=-1,1", "b=-1,1", "c=-1,1"};
  double y[8];
  yoke_grid grid;
  yoke_anova anova;
  open_grid(&grid, axes, 3);
  fill_contrasts(offset, y);
  check_ok(yoke__anova_compute(&grid, y, &anova));
  assert_int_equal(anova.n_effects, 6);
  // halves next to 1e8 are doubles: the numbers are exact but for the arithmetic
  check_near(find_effect(&anova, 0, 0)->sum, 8, 1e-13);
  check_near(find_effect(&anova, 1, 1)->sum, 32, 4e-13);
  check_near(find_effect(&anova, 0, 1)->sum, 72, 8e-13);
  check_near(find_effect(&anova, 2, 2)->sum, 0, 1e-28);
  check_near(find_effect(&anova, 0, 2)->sum, 0, 1e-28);
  check_near(find_effect(&anova, 1, 2)->sum, 0, 1e-28);
  check_near(anova.rest, 2, 1e-13);
  assert_int_equal(anova.rest_freedom, 1);
  check_near(anova.total, 114, 1e-12);
  check_near(anova.grand, offset, 1e-15 * (1 + offset));
  assert_true(anova.effects[0].a == 0 && anova.effects[0].b == 1);
  yoke__anova_free(&anova);
  yoke__grid_free(&grid);
}

static void test_two_by_two_by_two(void** state) {
  (void)state;
  check_contrasts(0);
}

static void test_large_offset(void** state) {
  (void)state;
  check_contrasts(1e8);
  // what the totals of the books make of it, so that nobody goes back to them
  double y[8], total = 0, low = 0, high = 0;
  fill_contrasts(1e8, y);
  for (int i = 0; i < 8; i++) {
    total += y[i];
    low += i & 4 ? 0 : y[i];
    high += i & 4 ? y[i] : 0;
  }
  const double naive = (low * low + high * high) / 4 - total * total / 8;
  assert_true(fabs(naive - 8) > 1e-3);
}

// SS_A = sum_i y_i^2 / (n/a) - T^2/n and SS_AB = sum_ij y_ij^2 / (n/ab) - T^2/n - SS_A - SS_B
static long double book_sum(const yoke_grid* grid, const double y[], size_t a, size_t b) {
  long double totals[64] = {0}, all = 0, sum = 0;
  const size_t n_b = a == b ? 1 : grid->axes[b].n, n_cells = grid->axes[a].n * n_b;
  for (size_t i = 0; i < grid->n_points; i++) {
    const size_t level_b = a == b ? 0 : yoke__grid_index(grid, i, b);
    totals[yoke__grid_index(grid, i, a) * n_b + level_b] += (long double)y[i];
    all += (long double)y[i];
  }
  const size_t n_each = grid->n_points / n_cells;
  for (size_t i = 0; i < n_cells; i++) {
    sum += totals[i] * totals[i] / (long double)n_each;
  }
  return sum - all * all / (long double)grid->n_points;
}

// random arrays: every effect as in the books, and everything adds up
static void test_against_the_books(void** state) {
  (void)state;
  static const char* const axes[] = {"a=1:3:3", "b=1:4:4", "one=7", "c=1:5:5", "d=p,q"};
  double y[120];
  uint64_t seed = 1;
  yoke_grid grid;
  yoke_anova anova;
  open_grid(&grid, axes, 5);
  assert_int_equal(grid.n_points, 120);
  for (int round = 0; round < 20; round++) {
    for (size_t i = 0; i < grid.n_points; i++) {
      y[i] = next_random(&seed) - 0.3;
    }
    check_ok(yoke__anova_compute(&grid, y, &anova));
    assert_int_equal(anova.n_effects, 4 + 6);  // an axis with one value has none
    double shares = 0;
    for (size_t i = 0; i < anova.n_effects; i++) {
      const yoke_effect* e = &anova.effects[i];
      long double want = book_sum(&grid, y, e->a, e->b);
      if (e->a != e->b) {
        want -= book_sum(&grid, y, e->a, e->a) + book_sum(&grid, y, e->b, e->b);
      }
      check_near(e->sum, (double)want, 1e-14 * anova.total);
      check_near(e->mean, e->sum / (double)e->freedom, 1e-15 * anova.total);
      assert_true(i == 0 || e->mean <= anova.effects[i - 1].mean);
      shares += e->share;
    }
    check_near(shares, 1, 1e-14);
    check_relative(sum_effects(&anova) + anova.rest, anova.total, 1e-13);
    yoke__anova_free(&anova);
  }
  yoke__grid_free(&grid);
}

// no square overflows or vanishes on the way to the shares
static void test_extreme_values(void** state) {
  (void)state;
  static const char* const axes[] = {"a=1,2", "b=1,2,3"};
  static const double y[] = {1, 2, 3, 3, 6, 9};
  static const double sizes[] = {1e300, 1e-300};
  yoke_grid grid;
  yoke_anova anova;
  open_grid(&grid, axes, 2);
  for (size_t k = 0; k < 2; k++) {
    double scaled[6];
    for (size_t i = 0; i < 6; i++) {
      scaled[i] = y[i] * sizes[k];
    }
    check_ok(yoke__anova_compute(&grid, scaled, &anova));
    check_near(anova.effects[0].share, 24.0 / 34, 1e-14);
    yoke__anova_free(&anova);
  }
  static const double equal[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
  check_ok(yoke__anova_compute(&grid, equal, &anova));
  check_near(anova.total, 0, 1e-30);
  yoke__anova_free(&anova);
  yoke__grid_free(&grid);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_by_three),   cmocka_unit_test(test_two_by_two_by_two),
      cmocka_unit_test(test_large_offset),   cmocka_unit_test(test_against_the_books),
      cmocka_unit_test(test_extreme_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
