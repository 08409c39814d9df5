// Axes and points of a grid.
#include <float.h>

#include "base/base_message.h"
#include "study/study_vary.h"
#include "support/check.h"

static void open_grid(yoke_grid* grid, const char* a, const char* b) {
  const char* texts[] = {a, b};
  YOKE_CATCH(err);
  if (yoke__grid_create(texts, b == NULL ? 1 : 2, grid, &err.sink) < 0) {
    fail_msg("%s was refused: %s", a, err.text);
  }
}

static void check_values(const char* text, const char* want) {
  yoke_grid grid;
  char got[512] = "";
  open_grid(&grid, text, NULL);
  for (size_t i = 0; i < grid.axes[0].n; i++) {
    const size_t used = strlen(got);
    snprintf(got + used, sizeof got - used, "%s%s", i == 0 ? "" : " ", grid.axes[0].values[i]);
  }
  assert_string_equal(got, want);
  yoke__grid_free(&grid);
}

static void test_ranges(void** state) {
  (void)state;
  check_values("a=10:25:4", "10 15 20 25");
  // decimals stay decimals: no 0.16000000000000003 (TE-12: T_I from 150 to 250 ms in steps of 10)
  check_values("a=0.15:0.25:11", "0.15 0.16 0.17 0.18 0.19 0.2 0.21 0.22 0.23 0.24 0.25");
  check_values("a=-0.3:0.3:7", "-0.3 -0.2 -0.1 0 0.1 0.2 0.3");
  check_values("a=3:1:3", "3 2 1");
  check_values("a=0:1:4", "0 0.333333333333333 0.666666666666667 1");
  check_values("a=5:5:1", "5");
  // ends are met exactly, whatever their digits
  check_values("a=0.1234567890123456:1.1234567890123457:2",
               "0.1234567890123456 1.1234567890123457");
}

static void test_logarithmic_ranges(void** state) {
  (void)state;
  check_values("a=1e-4:1e-1:4:log", "0.0001 0.001 0.01 0.1");
  check_values("a=1e-3:1e-2:3:log", "0.001 0.00316 0.01");
  check_values("a=-100:-1:3:log", "-100 -10 -1");
  // values closer than three digits keep more of them
  check_values("a=1:1.01:3:log", "1 1.00499 1.01");
  yoke_grid grid;
  open_grid(&grid, "a=1:1.00000001:1000:log", NULL);
  for (size_t i = 1; i < grid.axes[0].n; i++) {
    assert_true(grid.axes[0].numbers[i] > grid.axes[0].numbers[i - 1]);
  }
  assert_true(grid.axes[0].is_log);
  yoke__grid_free(&grid);
}

static void test_lists(void** state) {
  (void)state;
  check_values("a=1e-3,2.50,0x", "0.001 2.5 0x");
  check_values("a=jacobi, gauss-seidel", "jacobi gauss-seidel");
  check_values("a=true,false", "true false");
  check_values("a=9007199254740993,1", "9007199254740993 1");  // 2^53 + 1: no double
  check_values("a=[1,2],[3,4]", "[1,2] [3,4]");
  check_values("a=\"x:y\",'a,b'", "\"x:y\" 'a,b'");
  check_values("a=nan,inf", "nan inf");
  check_values("units.u.with.k=7", "7");
}

static void test_numbers_and_sets(void** state) {
  (void)state;
  yoke_grid grid;
  open_grid(&grid, "units.u.with.k=1,x", "scheme=jacobi");
  assert_string_equal(grid.axes[0].path, "units.u.with.k");
  assert_string_equal(grid.axes[0].sets[0], "units.u.with.k=1");
  assert_false(grid.axes[0].is_numeric);
  check_near(grid.axes[0].numbers[0], 1, 0);
  assert_true(isnan(grid.axes[0].numbers[1]));
  yoke__grid_free(&grid);
}

// every combination once, the last axis fastest
static void test_order_of_points(void** state) {
  (void)state;
  const char* texts[] = {"a=1,2", "b=x,y,z", "c=0:1:2"};
  yoke_grid grid;
  YOKE_CATCH(err);
  char text[128];
  check_ok(yoke__grid_create(texts, 3, &grid, &err.sink));
  assert_int_equal(grid.n_points, 12);
  for (size_t point = 0; point < 12; point++) {
    assert_int_equal(yoke__grid_index(&grid, point, 0), point / 6);
    assert_int_equal(yoke__grid_index(&grid, point, 1), point / 2 % 3);
    assert_int_equal(yoke__grid_index(&grid, point, 2), point % 2);
  }
  yoke__grid_describe(&grid, 9, text, sizeof text);
  assert_string_equal(text, "a=2, b=y, c=1");
  yoke__grid_describe(&grid, 9, text, 6);  // cut, not overrun
  assert_string_equal(text, "a=2, ");
  yoke__grid_free(&grid);
}

static void check_refused(const char* text, const char* why) {
  const char* texts[] = {text};
  YOKE_CATCH(err);
  yoke_grid grid;
  const yoke_status status = yoke__grid_create(texts, 1, &grid, &err.sink);
  if (status != YOKE_BAD_INPUT) {
    fail_msg("'%s': status %d, expected a refusal", text, (int)status);
  }
  check_contains(err.text, why);
  check_contains(err.text, text);
  assert_null(grid.axes);
}

static void test_refusals(void** state) {
  (void)state;
  check_refused("a", "expected path=from:to:n");
  check_refused("=1,2", "expected path=from:to:n");
  check_refused("a=", "expected path=from:to:n");
  check_refused("a=1:2", "expected path=from:to:n");
  check_refused("a=1:2:3:log:5", "expected path=from:to:n");
  check_refused("a=x:2:3", "ends of a range must be numbers");
  check_refused("a=1:inf:3", "ends of a range must be numbers");
  check_refused("a=-1.7e308:1.7e308:3", "ends of a range must be numbers");
  check_refused("a=1:2:0", "number of points");
  check_refused("a=1:2:2.5", "number of points");
  check_refused("a=1:2:1000001", "number of points");
  check_refused("a=1:2:3:lin", "only ':log'");
  check_refused("a=0:1:3:log", "same sign");
  check_refused("a=-1:1:3:log", "same sign");
  check_refused("a=1e-300:1e300:3:log", "same sign");
  check_refused("a=1:2:1", "two different ends");
  check_refused("a=1:1:3", "equal");
  check_refused("a=1,,2", "empty");
  check_refused("a=1,2,", "empty");
  check_refused("a=1:2:3,4", "part of a list");
  check_refused("a=1,0.1e1", "there twice");
}

static void test_refused_grids(void** state) {
  (void)state;
  const char* twice[] = {"a=1,2", "b=1", "a=3"};
  const char* large[] = {"a=0:1:1000", "b=0:1:1000", "c=0:1:2"};
  const char* many[YOKE_GRID_MAX_AXES + 1];
  YOKE_CATCH(err);
  yoke_grid grid;
  assert_int_equal(yoke__grid_create(twice, 3, &grid, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "varied twice");
  assert_int_equal(yoke__grid_create(large, 3, &grid, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "more than 1000000 points");
  check_ok(yoke__grid_create(large, 2, &grid, &err.sink));
  assert_int_equal(grid.n_points, 1000000);
  yoke__grid_free(&grid);
  for (size_t i = 0; i <= YOKE_GRID_MAX_AXES; i++) {
    many[i] = "a=1";
  }
  assert_int_equal(yoke__grid_create(many, YOKE_GRID_MAX_AXES + 1, &grid, &err.sink),
                   YOKE_BAD_INPUT);
  check_contains(err.text, "at most 16");
}

static void test_span(void** state) {
  (void)state;
  assert_int_equal(yoke__study_span("a,b", ","), 1);
  assert_int_equal(yoke__study_span("v[1,2],b", ","), 6);
  assert_int_equal(yoke__study_span("\"a,\\\",b\",c", ","), 8);
  assert_int_equal(yoke__study_span("'a,", ","), 3);
  assert_int_equal(yoke__study_span("]a,b", ","), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranges),          cmocka_unit_test(test_logarithmic_ranges),
      cmocka_unit_test(test_lists),           cmocka_unit_test(test_numbers_and_sets),
      cmocka_unit_test(test_order_of_points), cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_refused_grids),   cmocka_unit_test(test_span),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
