// Random numbers by counter: known answers of the generator, moments, independence of streams and seeds. Bounds are
// four standard deviations of the estimate; the seeds are fixed, so a failure is a change of the numbers.
#include "models/models_random.h"

#include "support/check.h"

// Known-answer vectors of the reference implementation of Philox 4x32-10 (Random123): zeros, ones, digits of pi.
static void test_known_answers(void** state) {
  (void)state;
  static const struct {
    uint32_t counter[4], key[2], out[4];
  } rows[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint32_t out[4];
    yoke__random_block(rows[i].counter, rows[i].key, out);
    assert_memory_equal(out, rows[i].out, sizeof out);
  }
}

enum { N = 100000 };

// mean, variance and sixteen equal classes (chi-square with 15 degrees of freedom: mean 15, variance 30)
static void test_uniform(void** state) {
  (void)state;
  double sum = 0, squares = 0, chi = 0;
  int classes[16] = {0};
  for (uint64_t k = 0; k < N; k++) {
    const double u = yoke__random_uniform(7, 0, k);
    assert_true(u >= 0 && u < 1);
    sum += u;
    squares += (u - 0.5) * (u - 0.5);
    classes[(int)(u * 16)]++;
  }
  check_near(sum / N, 0.5, 4 * sqrt(1.0 / 12 / N));
  check_near(squares / N, 1.0 / 12, 4 * sqrt(1.0 / 180 / N));
  for (int i = 0; i < 16; i++) {
    const double want = N / 16.0;
    chi += (classes[i] - want) * (classes[i] - want) / want;
  }
  check_between(chi, 15 - 2.5 * sqrt(30.0), 15 + 4 * sqrt(30.0));
}

// moments 1 to 4 of the normal numbers: 0, 1, 0, 3 with variances 1, 2, 15, 96 over N
static void test_normal(void** state) {
  (void)state;
  double m[5] = {0}, within = 0;
  for (uint64_t k = 0; k < N; k++) {
    const double z = yoke__random_normal(7, 0, k);
    assert_true(fabs(z) < 8.6);
    for (int p = 1; p <= 4; p++) {
      m[p] += pow(z, p) / N;
    }
    within += fabs(z) < 1 ? 1.0 / N : 0;
  }
  check_near(m[1], 0, 4 * sqrt(1.0 / N));
  check_near(m[2], 1, 4 * sqrt(2.0 / N));
  check_near(m[3], 0, 4 * sqrt(15.0 / N));
  check_near(m[4], 3, 4 * sqrt(96.0 / N));
  check_near(within, 0.6826894921, 4 * sqrt(0.6827 * 0.3173 / N));
}

// neighbours, streams and seeds have nothing to do with each other
static void test_independence(void** state) {
  (void)state;
  double neighbour = 0, stream = 0, seed = 0;
  for (uint64_t k = 0; k < N; k++) {
    const double z = yoke__random_normal(7, 0, k);
    neighbour += z * yoke__random_normal(7, 0, k + 1) / N;
    stream += z * yoke__random_normal(7, 1, k) / N;
    seed += z * yoke__random_normal(8, 0, k) / N;
  }
  check_near(neighbour, 0, 4 / sqrt((double)N));
  check_near(stream, 0, 4 / sqrt((double)N));
  check_near(seed, 0, 4 / sqrt((double)N));
  // the upper halves of seed, stream and counter count too
  const uint64_t high = UINT64_C(1) << 32;
  const double z = yoke__random_uniform(7, 1, 2);
  assert_true(z != yoke__random_uniform(7 + (int64_t)high, 1, 2));
  assert_true(z != yoke__random_uniform(7, 1 + high, 2));
  assert_true(z != yoke__random_uniform(7, 1, 2 + high));
  assert_true(z != yoke__random_uniform(-7, 1, 2));
  assert_true(z == yoke__random_uniform(7, 1, 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_answers),
      cmocka_unit_test(test_uniform),
      cmocka_unit_test(test_normal),
      cmocka_unit_test(test_independence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
