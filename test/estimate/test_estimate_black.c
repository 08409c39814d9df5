// Estimates on a unit that is a black box: as good as the filter that knows it where it is linear, and with a verdict that can be
// relied on where it is not. Whether instances can be restored makes no difference.
#include "estimate/estimate_kalman.h"
#include "heat_toy.h"
#include "support/counting_heap.h"

#define HEAT_WALKS TOY_UNKNOWN(10, 2, 3, -INFINITY, INFINITY)
#define R2_WIDE    TOY_UNKNOWN(3, 1, 0, 0.01, INFINITY)
#define R2_GUESS   TOY_UNKNOWN(3, 0.7, 0, 0.01, INFINITY)
#define R12_GUESS  TOY_UNKNOWN(2, 0.5, 0, 0.01, INFINITY)

enum { N_STEPS = 8000 };

static size_t n_runs(void) {
  return getenv("YOKE_FULL") != NULL ? 200 : 20;
}

// ---- the filter that knows the unit: [T1, T2, Q], exact

typedef struct plain {
  double q[3], P[9], F[9], offset[3], work[18], PH[3];
} plain;

static plain open_plain(void) {
  plain f = {.q = {300, 300, 10}, .P = {[8] = 4}, .F = {[8] = 1}};
  toy_matrix(&toy_start, f.F, f.offset);
  return f;
}

static void step_plain(plain* f, double reading) {
  static const double H[3] = {0, 1, 0};
  const double s = yoke__kalman_variance(3, f->P, H, TOY_SIGMA * TOY_SIGMA, f->PH);
  check_ok(yoke__kalman_correct(3, f->q, f->P, H, TOY_SIGMA * TOY_SIGMA, reading - f->q[1], s,
                                f->PH, f->work));
}

static void move_plain(plain* f, double walk) {
  double to[3];
  for (size_t i = 0; i < 3; i++) {
    to[i] = f->offset[i];
    for (size_t c = 0; c < 3; c++) {
      to[i] += f->F[3 * i + c] * f->q[c];
    }
  }
  memcpy(f->q, to, sizeof to);
  yoke__kalman_predict(3, f->F, NULL, f->P, f->work);
  f->P[8] += walk * walk * TOY_H;
}

// Where the unit is linear the estimates are those of the filter that knows it. What is left comes from the first steps, in which
// there is no model yet, and is forgotten.
static void test_as_the_filter_that_knows(void** state) {
  (void)state;
  static const toy_case of = {
      .n_unknowns = 1, .n_sensors = 1, .what = {TOY_Q}, .unknowns = {HEAT_WALKS}, .n_steps = 4000};
  static const bool have[2] = {true, true};
  static toy_study s;
  toy_open(&s, &of, 3);
  plain f = open_plain();
  double worst_T = 0, worst_Q = 0, worst_sd = 0;
  for (size_t k = 0; k < of.n_steps; k++) {
    double known, readings[2], T, Q, sd;
    toy_read(&s, k, &known, readings);
    check_ok(yoke__black_correct(s.black, &known, readings, have));
    step_plain(&f, readings[0]);
    if (k >= 2000) {
      yoke__shadow_output(yoke__black_shadow(s.black), 0, &T, &sd);
      worst_T = fmax(worst_T, fabs(T - f.q[0]));
      worst_sd = fmax(worst_sd, fabs(sd / sqrt(f.P[0]) - 1));
      yoke__deviation_unknown_of(yoke__shadow_filter(yoke__black_shadow(s.black)), 0, &Q, &sd);
      worst_Q = fmax(worst_Q, fabs(Q - f.q[2]));
      worst_sd = fmax(worst_sd, fabs(sd / sqrt(f.P[8]) - 1));
    }
    toy_move(&s, known);
    move_plain(&f, 3);
    check_ok(yoke__black_advance(s.black));
  }
  yoke__arena_free(&s.arena);
  print_message("differences: %.2g K, %.2g W, sd %.2g\n", worst_T, worst_Q, worst_sd);
  check_near(worst_T, 0, 1e-6);
  check_near(worst_Q, 0, 1e-6);
  check_near(worst_sd, 0, 1e-8);
}

// ---- truthfulness

typedef struct tally {
  size_t n, n_verdicts[4], most_passes;
  double hidden_nees, hidden_rms, nees[TOY_UNKNOWNS];
} tally;

static tally run_many(const toy_case* of, size_t n) {
  tally t = {.n = n};
  for (size_t i = 0; i < n; i++) {
    const toy_result r = toy_run(of, 1000 + 7919 * i);
    t.n_verdicts[r.verdict]++;
    t.hidden_nees += r.hidden_nees / (double)n;
    t.hidden_rms += r.hidden_rms * r.hidden_rms / (double)n;
    t.most_passes = r.n_passes > t.most_passes ? r.n_passes : t.most_passes;
    for (size_t j = 0; j < of->n_unknowns; j++) {
      t.nees[j] += r.nees[j] / (double)n;
    }
  }
  print_message(
      "%-34s consistent %3zu of %zu, inconsistent %3zu, diverged %zu; hidden: rms %.3g K, "
      "NEES %.2f; unknowns: NEES",
      of->name, t.n_verdicts[YOKE_TWIN_CONSISTENT], n, t.n_verdicts[YOKE_TWIN_INCONSISTENT],
      t.n_verdicts[YOKE_TWIN_DIVERGED], sqrt(t.hidden_rms), t.hidden_nees);
  for (size_t j = 0; j < of->n_unknowns; j++) {
    print_message(" %.2f", t.nees[j]);
  }
  print_message("; passes %zu\n", t.most_passes);
  return t;
}

// Right model: consistent in 95 % at least, and the errors are as large as the standard deviations say. Mean NEES of n runs: 1 with a
// standard deviation of sqrt(2 / n) for unknowns.
static void check_right(const toy_case* of) {
  const size_t n = n_runs();
  const tally t = run_many(of, n);
  assert_true((double)t.n_verdicts[YOKE_TWIN_CONSISTENT] >= 0.95 * (double)n);
  check_between(t.hidden_nees, 0.2, 1 + 5 * sqrt(2 / (double)n));
  for (size_t j = 0; j < of->n_unknowns; j++) {
    check_between(t.nees[j], 0.1, 1 + 5 * sqrt(2 / (double)n));
  }
}

static void check_wrong(const toy_case* of) {
  const size_t n = n_runs();
  const tally t = run_many(of, n);
  assert_true((double)(t.n_verdicts[YOKE_TWIN_INCONSISTENT] + t.n_verdicts[YOKE_TWIN_DIVERGED]) >=
              0.95 * (double)n);
}

static void test_input_of_a_linear_unit(void** state) {
  (void)state;
  static const toy_case of = {.name = "heat, linear",
                              .n_unknowns = 1,
                              .n_sensors = 1,
                              .what = {TOY_Q},
                              .unknowns = {HEAT_WALKS},
                              .n_steps = N_STEPS};
  check_right(&of);
}

static void test_input_of_a_radiator(void** state) {
  (void)state;
  static const toy_case of = {.name = "heat, radiating",
                              .n_unknowns = 1,
                              .n_sensors = 1,
                              .what = {TOY_Q},
                              .unknowns = {HEAT_WALKS},
                              .rad = 3,
                              .n_steps = N_STEPS};
  check_right(&of);
}

// Temperatures follow from products of heat and resistances: both far from the guesses. What pulses of the heat do to the response
// does not follow from any model with constant coefficients.
static void test_parameters_in_pulses(void** state) {
  (void)state;
  toy_case of = {.name = "two resistances, pulses",
                 .n_unknowns = 2,
                 .n_sensors = 2,
                 .what = {TOY_R12, TOY_R2},
                 .unknowns = {R12_GUESS, R2_GUESS},
                 .has_pulses = true,
                 .n_steps = N_STEPS};
  check_right(&of);
  of.name = "the same, restored";
  of.can_restore = true;
  check_right(&of);
}

static void test_parameter_of_a_radiator(void** state) {
  (void)state;
  toy_case of = {.name = "resistance, radiating, pulses",
                 .n_unknowns = 1,
                 .n_sensors = 1,
                 .what = {TOY_R2},
                 .unknowns = {R2_WIDE},
                 .rad = 3,
                 .has_pulses = true,
                 .n_steps = N_STEPS};
  check_right(&of);
  of.name = "the same, restored";
  of.can_restore = true;
  check_right(&of);
}

static void test_input_and_parameter_of_a_radiator(void** state) {
  (void)state;
  static const toy_case of = {.name = "heat and resistance, radiating",
                              .n_unknowns = 2,
                              .n_sensors = 2,
                              .what = {TOY_Q, TOY_R2},
                              .unknowns = {HEAT_WALKS, R2_GUESS},
                              .rad = 3,
                              .n_steps = 2 * (size_t)N_STEPS};
  check_right(&of);
}

static void test_wrong_models(void** state) {
  (void)state;
  static const toy_case capacity = {.name = "wrong: capacity 30 % off",
                                    .n_unknowns = 1,
                                    .n_sensors = 2,
                                    .what = {TOY_R12},
                                    .unknowns = {R12_GUESS},
                                    .has_pulses = true,
                                    .n_steps = N_STEPS,
                                    .wrong_C2 = 1.3};
  check_wrong(&capacity);
  static const toy_case radiation = {.name = "wrong: radiation left out",
                                     .n_unknowns = 1,
                                     .n_sensors = 2,
                                     .what = {TOY_R2},
                                     .unknowns = {R2_WIDE},
                                     .has_pulses = true,
                                     .n_steps = N_STEPS,
                                     .wrong_rad = 3};
  check_wrong(&radiation);
  static const toy_case heat = {.name = "wrong: capacity 30 % off, heat",
                                .n_unknowns = 1,
                                .n_sensors = 2,
                                .what = {TOY_Q},
                                .unknowns = {TOY_UNKNOWN(10, 2, 0.3, -INFINITY, INFINITY)},
                                .n_steps = N_STEPS,
                                .wrong_C2 = 1.3};
  check_wrong(&heat);
}

// ---- the step path

static void test_no_heap(void** state) {
  (void)state;
  static const toy_case of = {.n_unknowns = 2,
                              .n_sensors = 2,
                              .what = {TOY_Q, TOY_R2},
                              .unknowns = {HEAT_WALKS, R2_GUESS},
                              .rad = 3,
                              .n_steps = 4000};
  static const bool have[2] = {true, true};
  static toy_study s;
  check_heap_is_counted();
  toy_open(&s, &of, 5);
  const long before = atomic_load(&n_heap_calls);
  for (size_t k = 0; k < of.n_steps; k++) {
    double known, readings[2];
    toy_read(&s, k, &known, readings);
    if (yoke__black_correct(s.black, &known, readings, have) < 0) {
      fail();
    }
    toy_move(&s, known);
    if (yoke__black_advance(s.black) < 0) {
      fail();
    }
  }
  assert_int_equal(atomic_load(&n_heap_calls), before);
  assert_true(yoke__black_passes(s.black) > 1);
  yoke__arena_free(&s.arena);
}

// Readings that are missing are left out, and one sensor has a tenth of the other's rate.
static void test_missing_readings(void** state) {
  (void)state;
  static const toy_case of = {.n_unknowns = 1,
                              .n_sensors = 2,
                              .what = {TOY_R12},
                              .unknowns = {R12_GUESS},
                              .has_pulses = true,
                              .n_steps = N_STEPS};
  static toy_study s;
  toy_open(&s, &of, 5);
  for (size_t k = 0; k < of.n_steps; k++) {
    double known, readings[2];
    const bool have[2] = {k % 3 != 0, k % 10 == 0};
    toy_read(&s, k, &known, readings);
    readings[0] = k % 7 == 0 ? (double)NAN : readings[0];
    check_ok(yoke__black_correct(s.black, &known, readings, have));
    toy_move(&s, known);
    check_ok(yoke__black_advance(s.black));
  }
  double value, sd;
  yoke__deviation_unknown_of(yoke__shadow_filter(yoke__black_shadow(s.black)), 0, &value, &sd);
  check_near(value, s.theta[0], 4 * sd);
  check_between(sd, 0, 0.02);
  assert_int_equal(yoke__black_verdict(s.black, NULL), YOKE_TWIN_CONSISTENT);
  yoke__arena_free(&s.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_as_the_filter_that_knows),
      cmocka_unit_test(test_input_of_a_linear_unit),
      cmocka_unit_test(test_input_of_a_radiator),
      cmocka_unit_test(test_parameters_in_pulses),
      cmocka_unit_test(test_parameter_of_a_radiator),
      cmocka_unit_test(test_input_and_parameter_of_a_radiator),
      cmocka_unit_test(test_wrong_models),
      cmocka_unit_test(test_no_heap),
      cmocka_unit_test(test_missing_readings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
