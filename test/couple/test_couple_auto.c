// The method of signals that name none: exact where a polynomial is, holding where extrapolation makes things worse, and what
// it says of itself.
#include "couple/couple_auto.h"
#include "support/check.h"

enum { N = 3 };

typedef struct fixture {
  _Alignas(64) unsigned char memory[2048];
  int orders[N];
  yoke_coupling_sink sink;
  yoke_coupling_setup setup;
} fixture;

static const yoke_coupling_ops* const ops = &yoke__couple_auto;

static void open_auto(fixture* f, double interval) {
  memset(f, 0, sizeof *f);
  for (int i = 0; i < N; i++) {
    f->orders[i] = 2;
  }
  f->sink = (yoke_coupling_sink){0, N, interval};
  f->setup = (yoke_coupling_setup){
      .n_signals = N, .orders = f->orders, .n_sinks = 1, .sinks = &f->sink, .interval = interval};
  assert_true(ops->size(&f->setup) <= sizeof f->memory);
  check_ok(ops->prepare(f->memory, &f->setup, NULL));
}

static void observe(fixture* f, int64_t k, double a, double b, double c) {
  ops->observe(f->memory, &(yoke_coupling_moment){.k = k}, (const double[]){a, b, c}, NULL);
}

static double parabola(double t) {
  return 3 - 2 * t + 0.7 * t * t;
}

// A constant, a line and a parabola are told exactly from the third sample on; means are those of the polynomials.
static void test_exact_for_polynomials(void** state) {
  (void)state;
  fixture f;
  const double interval = 1.0 / 16;
  open_auto(&f, interval);
  for (int64_t k = 0; k < 40; k++) {
    const double t = (double)k * interval;
    observe(&f, k, 4, 1 + 2 * t, parabola(t));
    double u[N], mean[N];
    ops->input(f.memory, 0, interval / 2, u);
    ops->input_mean(f.memory, 0, 0, interval, mean);
    if (k >= 2) {
      const double s = t + interval / 2;
      check_near(u[0], 4, 0);
      check_near(u[1], 1 + 2 * s, 1e-13);
      check_near(u[2], parabola(s), 1e-13);
      check_near(mean[2], parabola(s) + 0.7 * interval * interval / 12, 1e-13);
    }
  }
}

// What swings from sample to sample is held: the mean of an alternating signal is met by no polynomial, and holding makes the
// least of it. A jump in a calm signal is forgotten.
static void test_swinging_signals_are_held(void** state) {
  (void)state;
  fixture f;
  open_auto(&f, 1);
  for (int64_t k = 0; k < 100; k++) {
    observe(&f, k, k % 2 == 0 ? 1 : -1, sin(0.05 * (double)k), k < 50 ? 0 : 1);
    double u[N];
    ops->input(f.memory, 0, 0.5, u);
    if (k >= 10) {
      assert_true(u[0] == (k % 2 == 0 ? 1 : -1));
      check_near(u[1], sin(0.05 * ((double)k + 0.5)), 1e-4);
    }
    if (k >= 60) {
      assert_true(u[2] == 1);
    }
  }
  double health[5];
  ops->health(f.memory, health);
  print_message("held %g, linear %g, quadratic %g, fallback %g, changes %g\n", health[0], health[1],
                health[2], health[3], health[4]);
  check_near(health[0] + health[1] + health[2], 300, 0);
  assert_true(health[2] >= 95 && health[0] >= 95);
}

// Values that overflow when squared leave it able to choose again.
static void test_huge_values(void** state) {
  (void)state;
  fixture f;
  open_auto(&f, 1);
  for (int64_t k = 0; k < 400; k++) {
    const double t = (double)k;
    observe(&f, k, k == 5 ? 1e200 : 0, k == 5 ? -1e300 : parabola(0.01 * t), t);
  }
  double u[N];
  ops->input(f.memory, 0, 1, u);
  check_near(u[0], 0, 0);
  check_near(u[2], 400, 0);
  assert_true(isfinite(u[1]));
}

// Saved in the middle and restored: the same bits; a reset holds the last sample.
static void test_image_and_reset(void** state) {
  (void)state;
  fixture f;
  open_auto(&f, 1);
  for (int64_t k = 0; k < 20; k++) {
    observe(&f, k, sin((double)k), cos(0.1 * (double)k), (double)(k * k));
  }
  unsigned char image[2048];
  assert_true(ops->image_size(f.memory) <= sizeof image);
  ops->save(f.memory, image);
  double want[N] = {0}, got[N] = {0};
  for (int turn = 0; turn < 2; turn++) {
    for (int64_t k = 20; k < 40; k++) {
      observe(&f, k, sin((double)k), cos(0.1 * (double)k), (double)(k * k));
    }
    ops->input(f.memory, 0, 0.3, turn == 0 ? want : got);
    ops->restore(f.memory, image);
  }
  assert_memory_equal(want, got, sizeof want);
  ops->reset(f.memory, YOKE_RESET_DISCONTINUITY, (const bool[]){false, true, false});
  ops->input(f.memory, 0, 0.3, got);
  assert_true(got[1] == cos(0.1 * 19));
}

// A loop that grows: held for 20 exchanges, then 40; only where it is told so. What is foretold well is not failing.
static void test_falls_back(void** state) {
  (void)state;
  fixture f;
  open_auto(&f, 1);
  int64_t k = 0;
  for (; k < 30; k++) {
    observe(&f, k, (double)k, (double)k, k % 2 == 0 ? 1 : -1);
  }
  assert_false(ops->is_failing(f.memory, 0));
  assert_true(ops->is_failing(f.memory, 2));
  for (int64_t n = 20; n <= 40; n *= 2) {
    ops->reset(f.memory, YOKE_RESET_GROWTH, (const bool[]){true, false, true});
    assert_false(ops->is_failing(f.memory, 2));  // it is held already
    double u[N];
    ops->input(f.memory, 0, 0.5, u);
    assert_true(u[0] == (double)(k - 1));
    for (int64_t end = k + n; k < end; k++) {
      observe(&f, k, (double)k, (double)k, k % 2 == 0 ? 1 : -1);
      ops->input(f.memory, 0, 0.5, u);
      assert_true(u[0] == (double)k);
      check_near(u[1], (double)k + 0.5, 1e-12);
    }
    observe(&f, k, (double)k, (double)k, k % 2 == 0 ? 1 : -1);
    ops->input(f.memory, 0, 0.5, u);
    check_near(u[0], (double)k + 0.5, 1e-12);
    k++;
  }
  yoke_coupling_service services[4];
  assert_int_equal(ops->served(f.memory, 0, services, 4), 4);
  assert_string_equal(services[3].by, "fallback");
  assert_int_equal(services[3].n, 60);
  assert_int_equal(ops->served(f.memory, 1, services, 4), 4);
  assert_int_equal(services[3].n, 0);
}

// Noise of which order 1 makes little and order 2 too much: order 1 serves, and holding does not.
static void test_noise_takes_order_1(void** state) {
  (void)state;
  fixture f;
  open_auto(&f, 1);
  // a slow line with a spread of 300 / sqrt(12) = 87; errors 2 a, 4 a, 8 a of the orders with the swing +-a: order 1 is off by
  // less than 0.3 of the spread up to a = 6.5, order 2 only up to 3.2
  for (int64_t k = 0; k < 300; k++) {
    const double a = k % 2 == 0 ? 5 : -5;
    observe(&f, k, (double)k + a, 0, 0);
  }
  yoke_coupling_service services[4];
  ops->served(f.memory, 0, services, 4);
  print_message("held %d, linear %d, quadratic %d\n", (int)services[0].n, (int)services[1].n,
                (int)services[2].n);
  double u[N];
  ops->input(f.memory, 0, 0.5, u);
  check_near(u[0], 299 - 5 + 0.5 * (1 - 10), 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact_for_polynomials),
      cmocka_unit_test(test_swinging_signals_are_held),
      cmocka_unit_test(test_huge_values),
      cmocka_unit_test(test_image_and_reset),
      cmocka_unit_test(test_falls_back),
      cmocka_unit_test(test_noise_takes_order_1),
  };
  return cmocka_run_group_tests_name("couple_auto", tests, NULL, NULL);
}
