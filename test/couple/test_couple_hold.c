// Polynomial extrapolation: exactness (CS-03), fallback at the start, reset, derivatives.
#include "couple/couple_hold.h"
#include "support/check.h"

enum { N = 4 };  // one signal of each order

typedef struct fixture {
  _Alignas(64) unsigned char memory[1024];
  int orders[N];
  yoke_coupling_sink sink;
  yoke_coupling_setup setup;
} fixture;

static void open_hold(fixture* f, double interval) {
  memset(f, 0, sizeof *f);
  for (int i = 0; i < N; i++) {
    f->orders[i] = i;
  }
  f->sink = (yoke_coupling_sink){0, N, interval / 10};
  f->setup = (yoke_coupling_setup){
      .n_signals = N, .orders = f->orders, .n_sinks = 1, .sinks = &f->sink, .interval = interval};
  assert_true(yoke__couple_hold.size(&f->setup) <= sizeof f->memory);
  check_ok(yoke__couple_hold.prepare(f->memory, &f->setup, NULL));
}

// signal i follows a polynomial of degree i in (t - t0)
static double polynomial(int degree, double t) {
  static const double c[4] = {3, -2, 0.7, 0.11};
  double sum = 0;
  for (int i = degree; i >= 0; i--) {
    sum = sum * t + c[i];
  }
  return sum;
}

static void observe_at(fixture* f, int64_t k, double t) {
  double y[N];
  for (int i = 0; i < N; i++) {
    y[i] = polynomial(i, t);
  }
  yoke__couple_hold.observe(f->memory, &(yoke_coupling_moment){.k = k}, y, NULL);
}

// CS-03: degree n is reproduced exactly by order n, also far from the origin of time. The interval is a power of two, so that
// sample times at 1e6 s are exact and only the extrapolation is judged.
static void test_exact_for_polynomials_CS_03(void** state) {
  (void)state;
  static const double starts[] = {0, 1e6};
  const double interval = 1.0 / 128;
  for (int s = 0; s < 2; s++) {
    fixture f;
    open_hold(&f, interval);
    double most = 0;
    for (int64_t k = 0; k < 6; k++) {
      const double t = starts[s] + (double)k * interval;
      observe_at(&f, k, t - starts[s]);
      for (int j = 0; j <= 8 && k >= 3; j++) {
        const double tau = j * interval / 8;
        double u[N];
        yoke__couple_hold.input(f.memory, 0, tau, u);
        for (int i = 0; i < N; i++) {
          const double error = fabs(u[i] - polynomial(i, (t + tau) - starts[s]));
          most = error > most ? error : most;
        }
      }
    }
    print_message("polynomials from t = %g s: error %.2g\n", starts[s], most);
    assert_true(most <= 1e-10);
  }
}

static void test_sample_itself_at_tau_zero(void** state) {
  (void)state;
  fixture f;
  open_hold(&f, 1e-3);
  double u[N];
  for (int64_t k = 0; k < 5; k++) {
    observe_at(&f, k, 0.1 * (double)k * (double)k);
    yoke__couple_hold.input(f.memory, 0, 0, u);
    for (int i = 0; i < N; i++) {
      assert_true(u[i] == polynomial(i, 0.1 * (double)k * (double)k));
    }
  }
}

// with k + 1 samples known, order n is min(n, k)
static void test_fallback_at_the_start_and_after_reset(void** state) {
  (void)state;
  fixture f;
  open_hold(&f, 1);
  static const double samples[] = {1, 3, 10, -4};
  for (int round = 0; round < 2; round++) {
    for (int k = 0; k < 4; k++) {
      const double y[N] = {samples[k], samples[k], samples[k], samples[k]};
      yoke__couple_hold.observe(f.memory, &(yoke_coupling_moment){.k = k}, y, NULL);
      double u[N];
      yoke__couple_hold.input(f.memory, 0, 0.5, u);
      // Lagrange polynomial through the last m + 1 samples at s = 0.5
      for (int i = 0; i < N; i++) {
        const int m = i < k ? i : k;
        double want = 0;
        for (int a = 0; a <= m; a++) {
          double weight = 1;
          for (int b = 0; b <= m; b++) {
            weight *= a == b ? 1 : (0.5 + b) / (double)(b - a);
          }
          want += weight * samples[k - a];
        }
        check_near(u[i], want, 1e-12);
      }
    }
    yoke__couple_hold.reset(f.memory, YOKE_RESET_DISCONTINUITY, NULL);
    double u[N];
    yoke__couple_hold.input(f.memory, 0, 0.5, u);
    for (int i = 0; i < N; i++) {
      assert_true(u[i] == samples[3]);  // held until new samples arrive
    }
  }
}

static void test_derivatives(void** state) {
  (void)state;
  fixture f;
  const double interval = 0.1;
  open_hold(&f, interval);
  for (int64_t k = 0; k < 5; k++) {
    observe_at(&f, k, (double)k * interval);
  }
  const double tau = 0.03, d = 1e-5;
  double low[N], high[N], middle[N], first[N], second[N], third[N];
  yoke__couple_hold.input(f.memory, 0, tau - d, low);
  yoke__couple_hold.input(f.memory, 0, tau, middle);
  yoke__couple_hold.input(f.memory, 0, tau + d, high);
  yoke__couple_hold.input_derivatives(f.memory, 0, tau, 1, first);
  yoke__couple_hold.input_derivatives(f.memory, 0, tau, 2, second);
  yoke__couple_hold.input_derivatives(f.memory, 0, tau, 3, third);
  for (int i = 0; i < N; i++) {
    check_near(first[i], (high[i] - low[i]) / (2 * d), 1e-8);
    check_near(second[i], (high[i] - 2 * middle[i] + low[i]) / (d * d), 1e-4);
    check_near(third[i], i == 3 ? 6 * 0.11 : 0, 1e-9);
  }
}

// Slope of the error on sin t: order n has error of order n + 1 in the interval.
static void test_order(void** state) {
  (void)state;
  double last[N] = {0};
  for (int level = 0; level < 4; level++) {
    fixture f;
    const double interval = 0.1 / (1 << level);
    open_hold(&f, interval);
    for (int64_t k = -3; k <= 0; k++) {
      const double v = sin(1 + (double)k * interval);
      const double y[N] = {v, v, v, v};
      yoke__couple_hold.observe(f.memory, &(yoke_coupling_moment){.k = k + 3}, y, NULL);
    }
    double u[N];
    yoke__couple_hold.input(f.memory, 0, interval, u);
    for (int i = 0; i < N; i++) {
      const double error = fabs(u[i] - sin(1 + interval));
      if (level > 0) {
        check_near(log2(last[i] / error), i + 1, 0.15);
      }
      last[i] = error;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact_for_polynomials_CS_03),
      cmocka_unit_test(test_sample_itself_at_tau_zero),
      cmocka_unit_test(test_fallback_at_the_start_and_after_reset),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
