// Residual power of a bond: hand checks of first steps (CS-04), sign, offset, peaks, vectors, lost samples.
#include "energy/energy_monitor.h"

#include "support/check.h"

static const yoke_monitor_settings seconds = {.peak_time = 1, .offset_time = 2, .offset_gain = 1};

enum { MAX_N = 3 };

typedef struct fixture {
  yoke_monitor monitor;
  double memory[3 * MAX_N];
} fixture;

static const yoke_monitor_settings plain = {HUGE_VAL, HUGE_VAL, 0};

static void start(fixture* f, const yoke_monitor_settings* settings, size_t n, const double B[],
                  const double A[]) {
  assert_true(yoke__monitor_numbers(n) <= sizeof f->memory / sizeof *f->memory);
  yoke__monitor_start(&f->monitor, settings, n, f->memory, B, A);
}

// First step of the oscillators at rest, +100 and -100 m/s: x1 = 100 H, the force is made of the old x2 = 0.
static void test_oscillators_CS_04(void** state) {
  (void)state;
  static const struct {
    double H;
    int has_root_spring;
    double want;
  } rows[] = {{1e-3, 0, 1000}, {5e-3, 0, 5000}, {1e-3, 1, 3162.278}};
  for (size_t i = 0; i < 3; i++) {
    const double x1 = 100 * rows[i].H, f1 = 100 * (rows[i].has_root_spring ? sqrt(x1) : x1);
    fixture f;
    start(&f, &plain, 1, (double[]){0}, (double[]){-100});
    yoke__monitor_update(&f.monitor, rows[i].H, &f1, (double[]){-100});
    check_relative(f.monitor.power, rows[i].want, 1e-6);
    assert_true(f.monitor.power == f.monitor.power_smooth);
  }
}

// First step of the two pendula (minimal coordinates, semi-implicit Euler) written out; a bond with two components.
static void test_pendula_CS_04(void** state) {
  (void)state;
  const double pi = acos(-1), g = 9.81, k = 6, H = 1e-3;
  const double l1 = 2.5, l2 = 3.5, m1 = 1, m2 = 2, theta1 = pi / 4, theta2 = pi / 18;
  const double tip1[2] = {l1 * sin(theta1), -l1 * cos(theta1)};
  const double tip2[2] = {7 + l2 * sin(theta2), -l2 * cos(theta2)};
  const double F0[2] = {k * (tip1[0] - tip2[0]), k * (tip1[1] - tip2[1])};

  // m l^2 theta'' = P . d tip / d theta
  const double w1 = H * (-F0[0] * cos(theta1) + (-F0[1] - m1 * g) * sin(theta1)) / (m1 * l1);
  const double w2 = H * (F0[0] * cos(theta2) + (F0[1] - m2 * g) * sin(theta2)) / (m2 * l2);
  const double new1 = theta1 + H * w1, new2 = theta2 + H * w2;
  const double F1[2] = {k * (l1 * sin(new1) - tip2[0]), k * (-l1 * cos(new1) - tip2[1])};
  const double A1[2] = {l2 * w2 * cos(new2), l2 * w2 * sin(new2)};
  fixture f;
  start(&f, &plain, 2, F0, (double[]){0, 0});
  yoke__monitor_update(&f.monitor, H, F1, A1);
  check_relative(f.monitor.power, 0.592357, 1e-6);
}

// B = cos wt, A = sin wt: dP = sin wH at every step, both peaks reach 1
static void test_smooth_signals(void** state) {
  (void)state;
  const double w = 10, H = 1e-3;
  fixture f;
  start(&f, &plain, 1, (double[]){1}, (double[]){0});
  for (int k = 1; k <= 2000; k++) {
    const double B = cos(w * H * k), A = sin(w * H * k);
    yoke__monitor_update(&f.monitor, H, &B, &A);
    check_near(f.monitor.power, sin(w * H), 5e-15);  // arguments up to 20 are rounded by 2e-15
  }
  check_relative(f.monitor.rho, sin(w * H), 1e-4);
}

// A constant action carries no energy error, however large; 9.6.
static void test_static_load(void** state) {
  (void)state;
  const double H = 1e-3, load = 8829;
  fixture f;
  start(&f, &seconds, 1, &load, (double[]){0});
  double most = 0;
  for (int k = 1; k <= 1000; k++) {
    const double A = sin(20 * H * k);
    yoke__monitor_update(&f.monitor, H, &load, &A);
    most = fmax(most, fabs(f.monitor.power));
    assert_true(f.monitor.power_smooth == 0);
    assert_true(f.monitor.rho == 0);
  }
  check_relative(most, load * 20 * H, 1e-3);

  // a step of the load is learned with the time constant: 1 - 1/e of it after offset_time
  for (int k = 0; k < 2000; k++) {
    yoke__monitor_update(&f.monitor, H, (double[]){load + 100}, (double[]){0});
  }
  check_near(f.monitor.offset[0] - load, 100 * (1 - exp(-1)), 0.02);
}

static void test_peaks_decay(void** state) {
  (void)state;
  fixture f;
  start(&f, &seconds, 1, (double[]){0}, (double[]){0});
  yoke__monitor_update(&f.monitor, 1e-3, (double[]){0}, (double[]){8});
  for (int k = 0; k < 500; k++) {
    yoke__monitor_update(&f.monitor, 1e-3, (double[]){0}, (double[]){0});
  }
  check_relative(f.monitor.rate_peak, 8 * exp(-0.5), 1e-12);
  // another step length at once counts with its own decay
  yoke__monitor_update(&f.monitor, 0.5, (double[]){0}, (double[]){0});
  check_relative(f.monitor.rate_peak, 8 * exp(-1), 1e-12);
}

// Turning both vectors leaves all numbers.
static void test_vectors(void** state) {
  (void)state;
  const double c = cos(0.7), s = sin(0.7);
  fixture line, plane;
  start(&line, &seconds, 1, (double[]){3}, (double[]){-1});
  start(&plane, &seconds, 2, (double[]){3 * c, 3 * s}, (double[]){-c, -s});
  for (int k = 1; k < 50; k++) {
    const double B = 3 + sin(0.4 * k), A = cos(0.3 * k);
    yoke__monitor_update(&line.monitor, 0.01, &B, &A);
    yoke__monitor_update(&plane.monitor, 0.01, (double[]){B * c, B * s}, (double[]){A * c, A * s});
    check_near(plane.monitor.power, line.monitor.power, 1e-14);
    check_near(plane.monitor.power_smooth, line.monitor.power_smooth, 1e-14);
    check_near(plane.monitor.rho, line.monitor.rho, 1e-13);
    check_near(plane.monitor.change, line.monitor.change, 1e-14);
  }
}

// Displacement-displacement (9.5): a spring between x1 and x2 evaluated with the old x1.
static void test_partner_held(void** state) {
  (void)state;
  const double k = 100, H = 1e-3;
  fixture f;
  start(&f, &seconds, 1, (double[]){0}, (double[]){2});
  for (int i = 1; i < 100; i++) {
    const double old1 = 0.01 * (i - 1), new1 = 0.01 * i, x2 = sin(0.01 * i), v2 = 2;
    const double held = k * (old1 - x2), now = k * (new1 - x2);
    yoke__monitor_update_held(&f.monitor, H, &held, &now, &v2);
    check_near(f.monitor.power, -k * 0.01 * v2, 1e-12);
    assert_true(f.monitor.power == f.monitor.power_smooth);
  }
}

// One lost sample is bridged (both steps are in the next dP), a longer gap starts anew, nothing is poisoned.
static void test_lost_samples(void** state) {
  (void)state;
  const double w = 1, H = 0.01;
  static const double bad[] = {(double)NAN, HUGE_VAL, -HUGE_VAL, 1e308};
  for (size_t i = 0; i < 4; i++) {
    fixture f;
    start(&f, &plain, 1, (double[]){1}, (double[]){0});
    double peak_before = 0;
    for (int k = 1; k < 60; k++) {
      const double B = cos(w * H * k), A = sin(w * H * k);
      const int is_bad = k == 10 || (k >= 20 && k < 25);
      yoke__monitor_update(&f.monitor, H, &B, is_bad ? &bad[i] : &A);
      assert_int_equal(f.monitor.is_lost, is_bad && i < 3);
      assert_true(isfinite(f.monitor.rho) && isfinite(f.monitor.power));
      if (i == 3) {
        continue;  // a finite absurd sample is a sample
      }
      assert_true(f.monitor.rate_peak >= peak_before);
      peak_before = f.monitor.rate_peak;
      const double steps = is_bad || k == 25 ? 0 : k == 11 ? 2 : 1;
      check_near(f.monitor.power, sin(steps * w * H), 1e-15);
    }
  }
  // products that overflow count as lost too
  fixture f;
  start(&f, &plain, 1, (double[]){1e200}, (double[]){1});
  yoke__monitor_update(&f.monitor, H, (double[]){1e200}, (double[]){1e200});
  assert_true(f.monitor.is_lost && f.monitor.power == 0);
}

// A monitor that begins with a bad sample begins with the first good one.
static void test_bad_start(void** state) {
  (void)state;
  fixture f;
  start(&f, &seconds, 1, (double[]){(double)NAN}, (double[]){1});
  assert_false(f.monitor.has_samples);
  yoke__monitor_update(&f.monitor, 1, (double[]){5}, (double[]){2});
  assert_true(f.monitor.has_samples && f.monitor.offset[0] == 5 && f.monitor.power == 0);
  yoke__monitor_update(&f.monitor, 1, (double[]){5}, (double[]){3});
  assert_true(f.monitor.power == 5);
}

static void test_jump(void** state) {
  (void)state;
  fixture f;
  start(&f, &plain, 1, (double[]){1}, (double[]){1});
  yoke__monitor_jump(&f.monitor);
  yoke__monitor_update(&f.monitor, 1, (double[]){100}, (double[]){3});
  assert_true(f.monitor.power == 0 && !f.monitor.is_lost);
  yoke__monitor_update(&f.monitor, 1, (double[]){100}, (double[]){4});
  assert_true(f.monitor.power == 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_oscillators_CS_04), cmocka_unit_test(test_pendula_CS_04),
      cmocka_unit_test(test_smooth_signals),    cmocka_unit_test(test_static_load),
      cmocka_unit_test(test_peaks_decay),       cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_partner_held),      cmocka_unit_test(test_lost_samples),
      cmocka_unit_test(test_bad_start),         cmocka_unit_test(test_jump),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
