// The blocks that protect: slopes that are limited, limits that fall with a temperature.
#include "models/blocks/blocks.h"
#include "support/trial.h"

// initialisation must fail with a text that holds `part`
static void start_refuses(const trial* d, const char* part) {
  HEAR(err);
  assert_true(yoke__unit_enter_init(&d->unit, 0.0, 1.0, &err.sink) < 0);
  check_contains(err.text, part);
}

// a step must fail, and the unit say why
static void step_refuses(const trial* d, const char* part) {
  HEAR(err);
  yoke_step_result result = {.t_reached = 1.0};
  assert_int_equal(d->unit.ops->step(d->unit.self, 0.0, 1.0, &result), YOKE_BAD_INPUT);
  yoke__unit_reason(&d->unit, &err.sink);
  check_contains(err.text, part);
}

// ---- rate_limit

// powers of two: no rounding
static void test_rate_limit(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_rate_limit, NULL, 0);
  trial_check_description(&d);
  assert_true((d.unit.info->flags & YOKE_UNIT_SAMPLED) != 0);
  trial_set(&d, "rate", 2.0);
  trial_set(&d, "fall", 0.5);

  // it starts at the first input, however that is found
  trial_set(&d, "u", 40.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "y"), 40.0, 0.0);

  // as steep as allowed, up and down: the input itself
  const double u[] = {40.5, 41.0, 40.875, 40.75, 41.25};
  for (int k = 0; k < 5; k++) {
    trial_set(&d, "u", u[k]);
    (void)trial_step(&d, 0.25 * k, 0.25);
    check_near(trial_get(&d, "y"), u[k], 0.0);
  }
  assert_int_equal(trial_get_whole(&d, "n_limited"), 0);

  // steeper: the slope alone, until the input is reached
  const double want[] = {41.75, 42.25, 42.75, 43.0, 43.0};
  for (int k = 0; k < 5; k++) {
    trial_set(&d, "u", 43.0);
    (void)trial_step(&d, 0.25 * k, 0.25);
    check_near(trial_get(&d, "y"), want[k], 0.0);
  }
  assert_int_equal(trial_get_whole(&d, "n_limited"), 3);
  for (int k = 0; k < 8; k++) {
    trial_set(&d, "u", 0.0);
    (void)trial_step(&d, 0.25 * k, 0.25);
    check_near(trial_get(&d, "y"), 43.0 - 0.125 * (k + 1), 0.0);
  }
  assert_int_equal(trial_get_whole(&d, "n_limited"), 11);
  trial_check_feedthrough(&d, 0.0);  // none: what it gives belongs to the start of its step
  trial_check_rollback(&d, 0.0, 0.1);
  trial_close(&d);
}

// without `fall` both ways are the same; 0 never falls: what ages does not get younger
static void test_rate_limit_falls(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_rate_limit, NULL, 0);
  trial_set(&d, "rate", 4.0);
  trial_start(&d, 0.0);
  trial_set(&d, "u", -10.0);
  (void)trial_step(&d, 0.0, 0.5);
  check_near(trial_get(&d, "y"), -2.0, 0.0);
  trial_set(&d, "fall", 0.0);
  (void)trial_step(&d, 0.5, 0.5);
  check_near(trial_get(&d, "y"), -2.0, 0.0);

  // tunable: from the next step on
  trial_set(&d, "fall", 16.0);
  (void)trial_step(&d, 1.0, 0.5);
  check_near(trial_get(&d, "y"), -10.0, 0.0);

  // a NaN must come through: the master looks for it
  trial_set(&d, "u", (double)NAN);
  (void)trial_step(&d, 1.5, 0.5);
  assert_true(isnan(trial_get(&d, "y")));
  trial_close(&d);
}

static void test_rate_limit_refuses(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_rate_limit, NULL, 0);
  trial_set(&d, "rate", -1.0);
  start_refuses(&d, "rate is -1 per second, expected 0 or more");
  trial_set(&d, "rate", (double)NAN);
  start_refuses(&d, "rate is nan per second");
  trial_set(&d, "rate", 1.0);
  trial_set(&d, "fall", HUGE_VAL);
  start_refuses(&d, "fall is inf per second");
  trial_set(&d, "fall", -1.0);
  trial_start(&d, 0.0);
  trial_set(&d, "rate", -2.0);  // by a connection
  step_refuses(&d, "rate is -2 per second");
  trial_close(&d);
}

// ---- derate

static void open_derate(trial* d) {
  trial_open(d, &yoke__model_derate, NULL, 0);
  trial_set(d, "low", 400.0);
  trial_set(d, "high", 420.0);
  trial_set(d, "limit", 310.0);
}

static double derate_at(trial* d, double T) {
  trial_set(d, "T", T);
  trial_refresh(d, 0.0);
  return trial_get(d, "y");
}

static void test_derate(void** state) {
  (void)state;
  trial d;
  open_derate(&d);
  trial_check_description(&d);
  assert_true((d.unit.info->flags & YOKE_UNIT_ALGEBRAIC) != 0);
  trial_set(&d, "T", 300.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "y"), 310.0, 0.0);
  check_near(derate_at(&d, 400.0), 310.0, 0.0);
  check_near(derate_at(&d, 405.0), 232.5, 1e-12);
  check_near(derate_at(&d, 419.5), 7.75, 1e-12);
  check_near(derate_at(&d, 420.0), 0.0, 0.0);
  check_near(derate_at(&d, 500.0), 0.0, 0.0);
  assert_true(isnan(derate_at(&d, (double)NAN)));

  // a step is an evaluation
  trial_set(&d, "T", 410.0);
  (void)trial_step(&d, 0.0, 0.1);
  check_near(trial_get(&d, "y"), 155.0, 1e-12);
  trial_check_rollback(&d, 0.0, 0.1);
  trial_close(&d);
}

// an uncertain temperature counts as higher than it is likely to be
static void test_derate_by_deviations(void** state) {
  (void)state;
  trial d;
  open_derate(&d);
  trial_set(&d, "sd", 2.0);
  trial_start(&d, 0.0);
  check_near(derate_at(&d, 404.0), 248.0, 1e-12);  // sigmas are 0: sd does not count
  trial_set(&d, "sigmas", 3.0);
  check_near(derate_at(&d, 404.0), 155.0, 1e-12);
  check_near(derate_at(&d, 414.0), 0.0, 0.0);
  check_near(derate_at(&d, 394.0), 310.0, 0.0);

  // inside the band both inputs move it; the slopes are -310 / 20 and three times that
  (void)derate_at(&d, 404.0);
  trial_check_feedthrough(&d, 0.0);
  trial_check_derivative(&d, 0.0, 1e-6);
  const size_t y = trial_index(&d, "y"), T = trial_index(&d, "T"), limit = trial_index(&d, "limit");
  const double seed = 1.0;
  double slope = 0.0;
  check_ok(d.unit.ops->derivative(d.unit.self, &y, 1, &T, 1, &seed, &slope));
  check_near(slope, -15.5, 1e-12);
  check_ok(d.unit.ops->derivative(d.unit.self, &y, 1, &limit, 1, &seed, &slope));
  check_near(slope, 0.5, 1e-12);
  (void)derate_at(&d, 500.0);
  trial_check_derivative(&d, 0.0, 0.0);
  trial_close(&d);
}

static void test_derate_refuses(void** state) {
  (void)state;
  trial d;
  open_derate(&d);
  trial_set(&d, "high", 390.0);
  start_refuses(&d, "low is 400 K and high 390 K, expected low below high");
  trial_set(&d, "high", (double)NAN);
  start_refuses(&d, "low is 400 K and high nan K");
  trial_set(&d, "high", 420.0);
  trial_set(&d, "sigmas", -1.0);
  start_refuses(&d, "sigmas is -1, expected 0 or more");
  trial_set(&d, "sigmas", 0.0);
  trial_set(&d, "limit", HUGE_VAL);
  start_refuses(&d, "limit is inf, expected a finite number");
  trial_set(&d, "limit", 1.0);
  trial_start(&d, 0.0);
  trial_set(&d, "low", 420.0);  // by a connection
  step_refuses(&d, "low is 420 K and high 420 K, expected low below high");
  trial_close(&d);
}

// ---- clamp

static double clamp_at(trial* d, double u) {
  trial_set(d, "u", u);
  trial_refresh(d, 0.0);
  return trial_get(d, "y");
}

static void test_clamp(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_clamp, NULL, 0);
  trial_check_description(&d);
  assert_true((d.unit.info->flags & YOKE_UNIT_ALGEBRAIC) != 0);
  trial_set(&d, "limit", 3.0);
  trial_start(&d, 0.0);

  // driving and braking; on the limit, beside it, and none
  static const double u[] = {0.0, 2.5, 3.0, 3.5, -2.5, -3.0, -3.5, HUGE_VAL, -HUGE_VAL};
  static const double want[] = {0.0, 2.5, 3.0, 3.0, -2.5, -3.0, -3.0, 3.0, -3.0};
  for (int k = 0; k < 9; k++) {
    check_near(clamp_at(&d, u[k]), want[k], 0.0);
  }
  for (int k = -2; k <= 2; k++) {
    (void)clamp_at(&d, 2.5 * k);
    trial_check_derivative(&d, 0.0, 1e-6);
  }
  (void)trial_step(&d, 0.0, 0.1);
  check_near(trial_get(&d, "y"), 3.0, 0.0);
  trial_check_rollback(&d, 0.0, 0.1);
  trial_set(&d, "limit", 0.0);
  check_near(clamp_at(&d, 5.0), 0.0, 0.0);

  // a NaN must come through
  assert_true(isnan(clamp_at(&d, (double)NAN)));
  trial_set(&d, "limit", (double)NAN);
  assert_true(isnan(clamp_at(&d, 1.0)));
  trial_set(&d, "limit", -1.0);
  step_refuses(&d, "limit is -1, expected 0 or more");
  trial_close(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rate_limit),
      cmocka_unit_test(test_rate_limit_falls),
      cmocka_unit_test(test_rate_limit_refuses),
      cmocka_unit_test(test_derate),
      cmocka_unit_test(test_derate_by_deviations),
      cmocka_unit_test(test_derate_refuses),
      cmocka_unit_test(test_clamp),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
