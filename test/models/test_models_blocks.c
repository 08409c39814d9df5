// The general blocks: values, messages, and the promises of their descriptions.
#include "models/blocks/blocks.h"
#include "support/trial.h"

static const double pi = 3.14159265358979323846;

static void test_constant(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_constant, NULL, 0);
  trial_check_description(&d);
  trial_set(&d, "value", 4.5);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "y"), 4.5, 0.0);
  trial_set(&d, "value", -1.0);
  (void)trial_step(&d, 0.0, 1.0);
  check_near(trial_get(&d, "y"), -1.0, 0.0);
  trial_check_rollback(&d, 0.0, 0.1);
  trial_close(&d);
}

static void test_sine(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_sine, NULL, 0);
  trial_check_description(&d);
  trial_set(&d, "offset", 2.0);
  trial_set(&d, "amplitude", 3.0);
  trial_set(&d, "frequency", 5.0);
  trial_set(&d, "t0", 0.01);
  trial_set(&d, "phase", pi / 6.0);
  trial_start(&d, 0.01);
  check_near(trial_get(&d, "y"), 3.5, 1e-14);  // sin 30 degrees is one half

  // a quarter of a period minus the phase: the crest; half a period further: the trough
  trial_refresh(&d, 0.01 + (0.25 - 1.0 / 12.0) / 5.0);
  check_near(trial_get(&d, "y"), 5.0, 1e-13);
  (void)trial_step(&d, 0.01, (0.75 - 1.0 / 12.0) / 5.0);
  check_near(trial_get(&d, "y"), -1.0, 1e-13);

  // mean and mean square over 100 equal parts of a period are exact
  double mean = 0.0, square = 0.0;
  for (int k = 0; k < 100; k++) {
    trial_refresh(&d, k * 0.002);
    mean += trial_get(&d, "y") / 100.0;
    square += pow(trial_get(&d, "y") - 2.0, 2.0) / 100.0;
  }
  check_near(mean, 2.0, 1e-13);
  check_near(square, 4.5, 1e-12);
  trial_check_rollback(&d, 0.0, 0.1);
  trial_close(&d);
}

// the step comes with the step that reaches its time, for any sum of roundings in t + h
static void test_step(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_step, NULL, 0);
  trial_check_description(&d);
  trial_set(&d, "before", -2.0);
  trial_set(&d, "after", 7.0);
  for (int at = 1; at <= 2000; at++) {
    const double h = 0.1, time = at * 0.1;
    trial_set(&d, "time", time);
    trial_start(&d, 0.0);
    check_near(trial_get(&d, "y"), -2.0, 0.0);
    (void)trial_step(&d, (at - 2) * h, h);
    check_near(trial_get(&d, "y"), -2.0, 0.0);
    (void)trial_step(&d, (at - 1) * h, h);
    check_near(trial_get(&d, "y"), 7.0, 0.0);
  }
  trial_check_rollback(&d, 0.0, 0.1);
  trial_close(&d);
}

static void test_ramp(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_ramp, NULL, 0);
  trial_check_description(&d);
  trial_set(&d, "offset", 1.0);
  trial_set(&d, "slope", -2.0);
  trial_set(&d, "t0", 3.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "y"), 1.0, 0.0);
  (void)trial_step(&d, 0.0, 5.0);
  check_near(trial_get(&d, "y"), -3.0, 1e-15);
  trial_refresh(&d, 1003.0);
  check_near(trial_get(&d, "y"), -1999.0, 1e-12);  // without end
  trial_set(&d, "duration", 1.5);
  trial_refresh(&d, 1003.0);
  check_near(trial_get(&d, "y"), -2.0, 1e-15);
  trial_refresh(&d, 4.0);
  check_near(trial_get(&d, "y"), -1.0, 1e-15);
  trial_check_rollback(&d, 0.0, 0.7);
  trial_close(&d);
}

static void test_gain(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_gain, NULL, 0);
  trial_check_description(&d);
  assert_true((d.unit.info->flags & YOKE_UNIT_ALGEBRAIC) != 0);
  trial_set(&d, "k", -3.0);
  trial_set(&d, "u", 2.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "y"), -6.0, 0.0);
  trial_set(&d, "k", 0.5);  // tunable: takes effect with the next evaluation
  (void)trial_step(&d, 0.0, 0.1);
  check_near(trial_get(&d, "y"), 1.0, 0.0);
  trial_check_feedthrough(&d, 0.0);
  trial_check_derivative(&d, 0.0, 1e-10);
  trial_check_rollback(&d, 0.0, 0.1);
  double D = 0.0;
  yoke_linear model = {.D = &D};
  check_ok(d.unit.ops->linearise(d.unit.self, &model));
  assert_int_equal(model.n_states, 0);
  check_near(D, 0.5, 0.0);
  trial_close(&d);
}

static void test_sum(void** state) {
  (void)state;
  trial d;

  // without settings: two inputs, both added
  trial_open(&d, &yoke__model_sum, NULL, 0);
  trial_check_description(&d);
  assert_int_equal(d.unit.n_u, 2);
  assert_int_equal(d.unit.n_y, 1);
  trial_close(&d);

  // signs set the number of inputs
  const double signs[] = {1.0, -1.0, -1.0, 0.5};
  const yoke_argument arguments[] = {trial_matrix("signs", 4, 1, signs)};
  trial_open(&d, &yoke__model_sum, arguments, 1);
  trial_check_description(&d);
  const double u[] = {10.0, 1.0, 2.0, 4.0};
  check_ok(yoke__unit_set_inputs(&d.unit, u));
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "y"), 9.0, 0.0);
  trial_set(&d, "u3", 0.0);
  (void)trial_step(&d, 0.0, 0.1);
  check_near(trial_get(&d, "y"), 11.0, 0.0);
  trial_check_feedthrough(&d, 0.0);
  trial_check_derivative(&d, 0.0, 1e-9);
  trial_check_rollback(&d, 0.0, 0.1);
  double D[4];
  yoke_linear model = {.D = D};
  check_ok(d.unit.ops->linearise(d.unit.self, &model));
  assert_int_equal(model.n_inputs, 4);
  assert_memory_equal(D, signs, sizeof signs);
  trial_close(&d);

  // n alone, the largest allowed number
  const int64_t many = 10000;
  const yoke_argument large[] = {trial_whole("n", &many)};
  trial_open(&d, &yoke__model_sum, large, 1);
  assert_int_equal(d.unit.n_u, 10000);
  assert_string_equal(d.unit.info->variables[9999].name, "u10000");
  trial_close(&d);
}

static void test_sum_refuses(void** state) {
  (void)state;
  const double signs[] = {1.0, (double)NAN, -1.0};
  const int64_t zero = 0, two = 2, too_many = 10001;
  const yoke_argument n_zero[] = {trial_whole("n", &zero)};
  const yoke_argument n_many[] = {trial_whole("n", &too_many)};
  const yoke_argument mismatch[] = {trial_whole("n", &two), trial_matrix("signs", 3, 1, signs)};
  const yoke_argument not_finite[] = {trial_matrix("signs", 3, 1, signs)};
  trial_refuses(&yoke__model_sum, n_zero, 1, "n is 0, expected 1 to 10000");
  trial_refuses(&yoke__model_sum, n_many, 1, "n is 10001");
  trial_refuses(&yoke__model_sum, mismatch, 2, "signs has 3 values, expected 2 as n");
  trial_refuses(&yoke__model_sum, not_finite, 1, "signs: value 2 is not finite");
}

// forward Euler is exact for what a unit sees: an input held over the step
static void test_integrator(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_integrator, NULL, 0);
  trial_check_description(&d);
  trial_set(&d, "k", 2.0);
  trial_set(&d, "x", 1.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "y"), 1.0, 0.0);
  double want = 1.0;
  for (int k = 0; k < 64; k++) {
    const double u = (k % 7) - 3.0;
    trial_set(&d, "u", u);
    (void)trial_step(&d, k * 0.125, 0.125);
    want += 0.25 * u;  // powers of two: no rounding
    check_near(trial_get(&d, "y"), want, 0.0);
  }
  trial_check_feedthrough(&d, 0.0);
  trial_check_derivative(&d, 0.0, 0.0);
  trial_check_rollback(&d, 0.0, 0.1);
  double A = 7, B = 7, C = 7, D = 7;
  yoke_linear model = {.A = &A, .B = &B, .C = &C, .D = &D};
  check_ok(d.unit.ops->linearise(d.unit.self, &model));
  assert_int_equal(model.n_states, 1);
  assert_true(A == 0.0 && B == 2.0 && C == 1.0 && D == 0.0);
  trial_close(&d);
}

static void test_delay1(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_delay1, NULL, 0);
  trial_check_description(&d);
  trial_set(&d, "x", -1.0);
  trial_set(&d, "u", 5.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "y"), -1.0, 0.0);
  for (int k = 0; k < 10; k++) {
    trial_set(&d, "u", k);
    (void)trial_step(&d, k, 1.0);
    trial_set(&d, "u", 99.0);
    trial_refresh(&d, k + 1.0);
    check_near(trial_get(&d, "y"), k, 0.0);  // u at the start of the step, not the new one
  }
  trial_check_feedthrough(&d, 0.0);
  trial_check_rollback(&d, 0.0, 0.1);
  trial_close(&d);
}

static void test_counter(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_counter, NULL, 0);
  trial_check_description(&d);
  trial_set_whole(&d, "limit", 3);
  trial_start(&d, 0.0);
  for (int k = 1; k <= 12; k++) {
    (void)trial_step(&d, k - 1.0, 1.0);
    assert_int_equal(trial_get_whole(&d, "count"), k);
    assert_int_equal(trial_get_whole(&d, "toggle"), (k / 3) % 2);
  }
  trial_check_rollback(&d, 0.0, 1.0);
  trial_set_whole(&d, "limit", 0);
  (void)trial_step(&d, 12.0, 1.0);
  assert_int_equal(trial_get_whole(&d, "count"), 13);
  assert_int_equal(trial_get_whole(&d, "toggle"), 0);
  trial_close(&d);
}

static void test_switch(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_switch, NULL, 0);
  trial_check_description(&d);
  trial_set(&d, "a", 1.0);
  trial_set(&d, "b", 2.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "y"), 2.0, 0.0);
  trial_check_derivative(&d, 0.0, 1e-9);
  trial_set_whole(&d, "on", 1);
  (void)trial_step(&d, 0.0, 0.1);
  check_near(trial_get(&d, "y"), 1.0, 0.0);
  trial_check_derivative(&d, 0.0, 1e-9);
  trial_check_rollback(&d, 0.0, 0.1);

  // declared for both inputs and the condition, whichever is through now
  for (size_t i = 0; i < 3; i++) {
    assert_true(yoke__unit_has_feedthrough(&d.unit, 3, i));
  }
  trial_close(&d);
}

static void check_text(const trial* d, const char* want) {
  char text[64] = "";
  const size_t index = trial_index(d, "text");
  const size_t size = yoke__variable_size(&d->unit.info->variables[index]);
  assert_true(size <= sizeof text);
  check_ok(yoke__unit_get(&d->unit, index, text, size));
  assert_string_equal(text, want);
}

static void test_label(void** state) {
  (void)state;
  static const char* const texts[] = {"off", "", "running well"};
  const int64_t as_enumeration = 1;
  for (size_t n_arguments = 1; n_arguments <= 2; n_arguments++) {
    const yoke_argument arguments[] = {trial_texts("labels", 3, texts),
                                       {"input", YOKE_ENUMERATION, 1, 1, &as_enumeration}};
    trial d;
    trial_open(&d, &yoke__model_label, arguments, n_arguments);
    trial_check_description(&d);
    const yoke_variable* index = &d.unit.info->variables[trial_index(&d, "index")];
    assert_int_equal(index->type, n_arguments == 1 ? YOKE_INTEGER : YOKE_ENUMERATION);
    if (n_arguments == 2) {
      assert_string_equal(index->items[2], "running well");
      assert_null(index->items[3]);
    }
    trial_start(&d, 0.0);
    check_text(&d, "off");
    trial_set_whole(&d, "index", 2);
    (void)trial_step(&d, 0.0, 0.1);
    check_text(&d, "running well");
    trial_set_whole(&d, "index", 1);
    trial_refresh(&d, 0.1);
    check_text(&d, "");
    if (n_arguments == 1) {
      trial_set_whole(&d, "index", INT64_MAX);
      trial_refresh(&d, 0.1);
      check_text(&d, "running well");
      trial_set_whole(&d, "index", -5);
      trial_refresh(&d, 0.1);
      check_text(&d, "off");
    } else {
      // an enumeration has no values but its items
      const int64_t beyond = 3;
      assert_int_equal(yoke__unit_set(&d.unit, trial_index(&d, "index"), &beyond, sizeof beyond),
                       YOKE_BAD_ARG);
    }
    trial_check_rollback(&d, 0.0, 0.1);
    trial_close(&d);
  }
  trial_refuses(&yoke__model_label, NULL, 0, "labels: expected a list of 1 to 10000 texts");
}

static void test_select(void** state) {
  (void)state;
  const int64_t n = 4, zero = 0;
  const yoke_argument arguments[] = {trial_whole("n", &n)};
  const yoke_argument empty[] = {trial_whole("n", &zero)};
  trial d;
  trial_open(&d, &yoke__model_select, arguments, 1);
  trial_check_description(&d);
  assert_int_equal(d.unit.n_u, 4);
  assert_true(yoke__unit_has_feedthrough(&d.unit, trial_index(&d, "y"), trial_index(&d, "u")));
  double u[] = {3.0, -7.0, 10.0, 4.0};
  const double want[] = {-7.0, 10.0, 2.5};
  trial_start(&d, 0.0);
  for (int64_t mode = 0; mode < 3; mode++) {
    check_ok(yoke__unit_set_inputs(&d.unit, u));
    trial_set_whole(&d, "mode", mode);
    (void)trial_step(&d, 0.0, 0.1);
    double y = 0.0;
    check_ok(yoke__unit_get_outputs(&d.unit, &y));
    check_near(y, want[mode], 0.0);
  }
  trial_check_rollback(&d, 0.0, 0.1);

  // a NaN must come through in every mode: the master looks for it
  u[1] = (double)NAN;
  for (int64_t mode = 0; mode < 3; mode++) {
    check_ok(yoke__unit_set_inputs(&d.unit, u));
    trial_set_whole(&d, "mode", mode);
    trial_refresh(&d, 0.0);
    assert_true(isnan(trial_get(&d, "y")));
  }
  trial_close(&d);
  trial_refuses(&yoke__model_select, empty, 1, "n is 0, expected 1 to");
}

// an unknown or a known that is none is refused
static void test_derivative_refuses(void** state) {
  (void)state;
  const yoke_unit_ops* const all[] = {&yoke__model_gain, &yoke__model_sum, &yoke__model_integrator,
                                      &yoke__model_switch};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    trial d;
    trial_open(&d, all[i], NULL, 0);
    const size_t input = 0;
    const double seed = 1.0;
    double out = 0.0;
    assert_int_equal(d.unit.ops->derivative(d.unit.self, &input, 1, &input, 1, &seed, &out),
                     YOKE_BAD_ARG);
    trial_close(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_constant),    cmocka_unit_test(test_sine),
      cmocka_unit_test(test_step),        cmocka_unit_test(test_ramp),
      cmocka_unit_test(test_gain),        cmocka_unit_test(test_sum),
      cmocka_unit_test(test_sum_refuses), cmocka_unit_test(test_integrator),
      cmocka_unit_test(test_delay1),      cmocka_unit_test(test_counter),
      cmocka_unit_test(test_switch),      cmocka_unit_test(test_label),
      cmocka_unit_test(test_select),      cmocka_unit_test(test_derivative_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
