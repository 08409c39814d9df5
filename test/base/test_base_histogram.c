// Quantiles from logarithmic classes against exact ones from sorted data. 16 classes per factor of
// two: the middle of a class is at most 1/32 of its value away, the rest is the rank inside it.
#include "base/base_histogram.h"

#include "support/check.h"

enum { N = 20000 };

typedef int64_t (*source)(uint64_t r);

static int64_t from_all_decades(uint64_t r) {
  return (int64_t)exp((double)(r % 1000000) * 1e-6 * log(1e15));
}
static int64_t from_one_decade(uint64_t r) {
  return 1000 + (int64_t)(r % 9000);
}
static int64_t from_few_nanoseconds(uint64_t r) {
  return (int64_t)(r % 40);
}
static int64_t from_two_places(uint64_t r) {
  return r % 100 < 97 ? 1500 + (int64_t)(r % 7) : 2000000;
}
static int64_t from_powers_of_two(uint64_t r) {
  return INT64_C(1) << (r % 62);
}

static int compare(const void* left, const void* right) {
  const int64_t a = *(const int64_t*)left, b = *(const int64_t*)right;
  return a < b ? -1 : a > b;
}

static void test_quantiles_of_random_data(void** state) {
  (void)state;
  static const source sources[] = {from_all_decades, from_one_decade, from_few_nanoseconds,
                                   from_two_places, from_powers_of_two};
  static const double quantiles[] = {0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1};
  static int64_t values[N];
  static yoke_histogram histogram;
  uint64_t random = 1;
  for (size_t s = 0; s < sizeof sources / sizeof sources[0]; s++) {
    memset(&histogram, 0, sizeof histogram);
    for (size_t i = 0; i < N; i++) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      values[i] = sources[s](random >> 33);
      yoke__histogram_add(&histogram, values[i]);
    }
    qsort(values, N, sizeof values[0], compare);
    assert_int_equal(histogram.n, N);
    assert_int_equal(histogram.min, values[0]);
    assert_int_equal(histogram.max, values[N - 1]);
    double worst = 0, last = 0;
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
      const double exact = (double)values[(size_t)ceil(quantiles[i] * N - 1e-9) - 1];
      const double got = yoke__histogram_quantile(&histogram, quantiles[i]);
      if (fabs(got - exact) > 0.07 * exact) {
        fail_msg("data %zu, quantile %g: %.6g, exact %.6g", s, quantiles[i], got, exact);
      }
      worst = exact > 0 ? fmax(worst, fabs(got - exact) / exact) : worst;
      assert_true(got >= last);
      last = got;
    }
    print_message("data %zu: quantiles within %.2f %%\n", s, worst * 100);
  }
}

static void test_few_values(void** state) {
  (void)state;
  static yoke_histogram histogram;
  memset(&histogram, 0, sizeof histogram);
  assert_true(yoke__histogram_quantile(&histogram, 0.5) == 0);

  // one value is known exactly
  yoke__histogram_add(&histogram, 123457);
  for (int i = 0; i <= 10; i++) {
    assert_true(yoke__histogram_quantile(&histogram, 0.1 * i) == 123457);
  }
  yoke__histogram_add(&histogram, 3);
  check_near(yoke__histogram_quantile(&histogram, 0.5), 3, 0);
  check_relative(yoke__histogram_quantile(&histogram, 0.51), 123457, 0.05);
}

// the ends of the range: clocks that went back, centuries
static void test_extreme_values(void** state) {
  (void)state;
  static yoke_histogram histogram;
  memset(&histogram, 0, sizeof histogram);
  static const int64_t values[] = {INT64_MIN, -5, 0, 1, 15, 16, 17, INT64_MAX - 1, INT64_MAX};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    yoke__histogram_add(&histogram, values[i]);
  }
  assert_int_equal(histogram.n, 9);
  assert_int_equal(histogram.min, INT64_MIN);
  assert_int_equal(histogram.max, INT64_MAX);
  check_near(yoke__histogram_quantile(&histogram, 0.5), 15, 0);
  check_relative(yoke__histogram_quantile(&histogram, 1), 9.223372036854775807e18, 0.05);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quantiles_of_random_data),
      cmocka_unit_test(test_few_values),
      cmocka_unit_test(test_extreme_values),
  };
  return cmocka_run_group_tests_name("base_histogram", tests, NULL, NULL);
}
