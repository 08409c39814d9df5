// Ascending sorting: what is kept, what the kept runs say of an axis, ties.
#include "base/base_message.h"
#include "study/study_best.h"
#include "support/check.h"

static yoke_grid grid;

static void find(const char* const axes[], size_t n_axes, const double values[], double within,
                 size_t least, yoke_best* best) {
  YOKE_CATCH(err);
  if (yoke__grid_create(axes, n_axes, &grid, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  check_ok(yoke__best_compute(&grid, values, within, least, best));
}

static void done(yoke_best* best) {
  yoke__best_free(best);
  yoke__grid_free(&grid);
}

static void check_order(const yoke_best* best, const size_t want[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (best->order[i] != want[i]) {
      fail_msg("place %zu has point %zu, expected %zu", i, best->order[i], want[i]);
    }
  }
}

// points a b:   1x 1y 2x 2y 3x 3y     within 10 % of 1: 1, 1.05, 1.1
static void test_means_and_modes(void** state) {
  (void)state;
  static const char* const axes[] = {"a=1,2,3", "b=x,y"};
  static const double values[] = {1.1, 5, 1, 1.2, 1.05, (double)NAN};
  static const size_t order[] = {2, 4, 0, 3, 1, 5};
  yoke_best best;
  find(axes, 2, values, 0.1, 1, &best);
  check_order(&best, order, 6);
  assert_int_equal(best.n_ranked, 5);
  assert_int_equal(best.n_kept, 3);
  check_near(best.limit, 1.1, 1e-15);
  check_near(best.axes[0].mean, 2, 1e-15);
  check_near(best.axes[0].low, 1, 0);
  check_near(best.axes[0].high, 3, 0);
  // every level once: that of the best run
  assert_int_equal(best.axes[0].mode, 1);
  check_near(best.axes[0].share, 1.0 / 3, 1e-15);
  assert_int_equal(best.axes[1].mode, 0);
  check_near(best.axes[1].share, 1, 0);
  assert_true(isnan(best.axes[1].mean));
  yoke_text csv = {0};
  yoke__best_header(&grid, &csv);
  yoke__best_rows(&grid, &best, values, "m", &csv);
  assert_string_equal(csv.bytes, "measure,rank,kept,value,a,b\n"
                                 "m,1,yes,1,2,x\n"
                                 "m,2,yes,1.05,3,x\n"
                                 "m,3,yes,1.1,1,x\n"
                                 "m,4,no,1.2,2,y\n"
                                 "m,5,no,5,1,y\n"
                                 "m,,no,,3,y\n");
  yoke__text_free(&csv);
  done(&best);
}

static void test_at_least(void** state) {
  (void)state;
  static const char* const axes[] = {"a=1:6:6"};
  static const double values[] = {1, 2, 3, 3, 3, 4};
  static const size_t least[] = {1, 2, 3, 4, 5, 6, 50}, kept[] = {1, 2, 5, 5, 5, 6, 6};
  for (size_t i = 0; i < 7; i++) {
    yoke_best best;
    // the equal ones come together, whichever of them is the last that is asked for
    find(axes, 1, values, 0.1, least[i], &best);
    assert_int_equal(best.n_kept, kept[i]);
    done(&best);
  }
}

static void test_ties(void** state) {
  (void)state;
  static const char* const axes[] = {"a=p,q", "b=1,2"};
  static const double equal[] = {7, 7, 7, 7};
  static const size_t order[] = {0, 1, 2, 3};
  yoke_best best;
  find(axes, 2, equal, 0, 1, &best);
  check_order(&best, order, 4);
  assert_int_equal(best.n_kept, 4);
  // as frequent as the other: that of the run that stands first
  assert_int_equal(best.axes[0].mode, 0);
  check_near(best.axes[0].share, 0.5, 0);
  check_near(best.axes[1].mean, 1.5, 1e-15);
  done(&best);
  // of two that are as frequent the one that has the better run, though it stands later on the axis
  static const double crossed[] = {2.1, 2, 2.05, 1.99};
  find(axes, 2, crossed, 1, 1, &best);
  assert_int_equal(best.n_kept, 4);
  assert_int_equal(best.axes[0].mode, 1);
  done(&best);
}

// a tenth of the magnitude, whatever the sign
static void test_negative_and_zero(void** state) {
  (void)state;
  static const char* const axes[] = {"a=1:4:4"};
  static const double negative[] = {-8.9, -10, -9, 3}, zero[] = {1e-300, 0, 0, -0.0};
  yoke_best best;
  find(axes, 1, negative, 0.1, 1, &best);
  assert_int_equal(best.n_kept, 2);
  assert_int_equal(best.order[0], 1);
  done(&best);
  find(axes, 1, zero, 0.1, 1, &best);
  assert_int_equal(best.n_kept, 3);
  done(&best);
}

static void test_nothing(void** state) {
  (void)state;
  static const char* const axes[] = {"a=1,2"};
  static const double values[] = {(double)NAN, (double)INFINITY};
  yoke_best best;
  find(axes, 1, values, 0.1, 50, &best);
  assert_int_equal(best.n_kept, 0);
  assert_int_equal(best.n_ranked, 0);
  assert_true(isnan(best.axes[0].mean));
  done(&best);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_means_and_modes),
      cmocka_unit_test(test_at_least),
      cmocka_unit_test(test_ties),
      cmocka_unit_test(test_negative_and_zero),
      cmocka_unit_test(test_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
