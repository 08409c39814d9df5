// The run-time arithmetic of coupling elements: against the formulas of the specification, rest, repeated questions, cost.
#include <stddef.h>

static size_t n_multiply_adds;

static inline double count_multiply_add(double a, double b, double c) {
  n_multiply_adds++;
  return a * b + c;
}
#define YOKE_SYNTH_MULTIPLY_ADD(a, b, c) count_multiply_add(a, b, c)
#include "synth/synth_element.h"

#include "support/check.h"
#include "support/counting_heap.h"
#include "support/normal_noise.h"
#include "synth/synth_design.h"

static yoke_synth_element element_of(size_t order) {
  yoke_synth_settings s = yoke__synth_settings_default(YOKE_RECIPE_CUSTOM, 0.05, 1e-3);
  s.smoother_hz = 100;
  s.pole = 300;
  s.order = order;
  s.is_transparent = order >= 2;
  yoke_synth_design d;
  check_ok(yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &d, NULL));
  return d.element;
}

// Recipe general with n states, poles right of -600 rad/s.
static yoke_synth_element general_of(size_t order) {
  yoke_synth_settings s = yoke__synth_settings_default(YOKE_RECIPE_GENERAL, 0.05, 1e-3);
  s.pole = 600;
  s.order = order;
  yoke_synth_design d;
  check_ok(yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &d, NULL));
  return d.element;
}

// (H15) and the direct form of the smoother, literally
static void test_formulas(void** state) {
  (void)state;
  normal_noise noise = {.seed = 3};
  for (size_t n = 1; n <= YOKE_SYNTH_ORDER_MAX; n++) {
    const yoke_synth_element e = element_of(n);
    yoke_synth_lead lead;
    yoke_synth_smoother smoother;
    yoke__synth_lead_start(&e, 0, &lead);
    yoke__synth_smoother_start(&e, 0, &smoother);
    double x[YOKE_SYNTH_ORDER_MAX + 1] = {0}, u1 = 0, u2 = 0, y1 = 0, y2 = 0, size = 0;
    for (size_t i = 0; i <= n; i++) {
      size += fabs(e.c[i]);
    }
    for (int k = 0; k < 500; k++) {
      const double u = noise_even(&noise);
      double left = x[0], y = 0;
      x[0] = u;
      for (size_t i = 1; i <= n; i++) {
        const double old = x[i];
        x[i] = e.p * old + e.g * (x[i - 1] + left);
        left = old;
      }
      for (size_t i = 0; i <= n; i++) {
        y += e.c[i] * x[i];
      }
      check_near(yoke__synth_lead_step(&e, &lead, u), y, 1e-14 * size);
      const double smooth = e.b[0] * u + e.b[1] * u1 + e.b[2] * u2 - e.a[0] * y1 - e.a[1] * y2;
      u2 = u1;
      u1 = u;
      y2 = y1;
      y1 = smooth;
      check_near(yoke__synth_smoother_step(&e, &smoother, u), smooth, 1e-13);
    }
  }
}

// a constant leaves both ends as it came, from the first step on
static void check_rest(const yoke_synth_element e, double tolerance) {
  static const double values[] = {0, 1, -3.25, 1e6};
  double largest = 0;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    yoke_synth_lead lead;
    yoke_synth_smoother smoother;
    yoke__synth_lead_start(&e, values[i], &lead);
    yoke__synth_smoother_start(&e, values[i], &smoother);
    for (int k = 0; k < 100; k++) {
      const double sent = yoke__synth_lead_step(&e, &lead, values[i]);
      largest = fmax(largest, fabs(sent - values[i]) / fmax(1, fabs(values[i])));
      check_near(sent, values[i], tolerance * fabs(values[i]));
      check_near(yoke__synth_smoother_step(&e, &smoother, sent), values[i],
                 tolerance * fabs(values[i]));
    }
  }
  print_message("rest: off by %.2g\n", largest);
}

static void test_rest(void** state) {
  (void)state;
  check_rest(element_of(4), 1e-12);
  check_rest(general_of(6), 1e-12);
}

// an output may be asked for as often as wanted and is the one that the step gives, bit by bit
static void check_output(const yoke_synth_element e) {
  normal_noise noise = {.seed = 5};
  yoke_synth_lead lead = {{0}};
  yoke_synth_smoother smoother = {{0}};
  for (int k = 0; k < 100; k++) {
    const double u = noise_even(&noise);
    (void)yoke__synth_lead_output(&e, &lead, 7);
    const double sent = yoke__synth_lead_output(&e, &lead, u);
    assert_true(yoke__synth_lead_step(&e, &lead, u) == sent);
    (void)yoke__synth_smoother_output(&e, &smoother, 7);
    const double received = yoke__synth_smoother_output(&e, &smoother, sent);
    assert_true(yoke__synth_smoother_step(&e, &smoother, sent) == received);
  }
}

static void test_output(void** state) {
  (void)state;
  check_output(element_of(4));
  check_output(general_of(6));
}

// HI-13: fewer than 60 multiply-adds for both ends of a signal, also with the output asked for once more at each; no heap;
// the same bits again
static void check_cost(const yoke_synth_element e, size_t step, size_t output) {
  double first = 0;
  for (int pass = 0; pass < 2; pass++) {
    yoke_synth_lead lead;
    yoke_synth_smoother smoother;
    yoke__synth_lead_start(&e, 1, &lead);
    yoke__synth_smoother_start(&e, 1, &smoother);
    const long before = atomic_load(&n_heap_calls);
    n_multiply_adds = 0;
    double y = 0;
    for (int k = 0; k < 1000; k++) {
      y = yoke__synth_smoother_step(&e, &smoother, yoke__synth_lead_step(&e, &lead, k % 7));
    }
    assert_int_equal(atomic_load(&n_heap_calls), before);
    assert_int_equal(n_multiply_adds, 1000 * step);
    n_multiply_adds = 0;
    (void)yoke__synth_smoother_output(&e, &smoother, yoke__synth_lead_output(&e, &lead, 1));
    assert_int_equal(n_multiply_adds, output);
    assert_true(step + output < 60);
    assert_true(pass == 0 || y == first);
    first = y;
  }
}

static void test_cost(void** state) {
  (void)state;
  check_heap_is_counted();
  check_cost(element_of(4), 17 + 5, 9 + 1);
  // a triangle of n (n + 1) / 2, one more per pair of poles, 2 n + 1
  check_cost(general_of(4), 10 + 2 + 9 + 5, 5 + 1);
  check_cost(general_of(6), 21 + 2 + 13 + 5, 7 + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formulas),
      cmocka_unit_test(test_rest),
      cmocka_unit_test(test_output),
      cmocka_unit_test(test_cost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
