// The state-space unit: exactness for held inputs, orders of its solvers, shapes and names.
#include <float.h>

#include "base/base_message.h"
#include "models/state_space/state_space.h"
#include "support/trial.h"

static const yoke_unit_ops* const ops = &yoke__model_state_space;
enum { EXACT, EULER, RK4, TRAPEZOIDAL };

// a damped oscillator: x'' = -25 x - x' + u; outputs x, v and the acceleration (feedthrough)
static const double A[] = {0, 1, -25, -1}, B[] = {0, 1};
static const double C[] = {1, 0, 0, 1, -25, -1}, D[] = {0, 0, 1};
static const double x0[] = {0.5, -2.0};

static void open_oscillator(trial* d, int64_t solver) {
  const yoke_argument arguments[] = {trial_matrix("A", 2, 2, A), trial_matrix("B", 2, 1, B),
                                     trial_matrix("C", 3, 2, C), trial_matrix("D", 3, 1, D),
                                     trial_matrix("x0", 2, 1, x0)};
  trial_open(d, ops, arguments, 5);
  trial_set_whole(d, "solver", solver);
}

// motion under a constant force: x = u/25 + e^(-t/2) (a cos wt + b sin wt), w = sqrt(24.75)
static double exact_x(double t, double u) {
  const double w = sqrt(24.75), a = x0[0] - u / 25.0, b = (x0[1] + 0.5 * a) / w;
  return u / 25.0 + exp(-0.5 * t) * (a * cos(w * t) + b * sin(w * t));
}

static double exact_v(double t, double u) {
  const double w = sqrt(24.75), a = x0[0] - u / 25.0, b = (x0[1] + 0.5 * a) / w;
  return exp(-0.5 * t) * ((b * w - 0.5 * a) * cos(w * t) - (a * w + 0.5 * b) * sin(w * t));
}

static void test_description(void** state) {
  (void)state;
  trial d;
  open_oscillator(&d, EXACT);
  trial_check_description(&d);
  assert_int_equal(d.unit.n_u, 1);
  assert_int_equal(d.unit.n_y, 3);
  trial_set(&d, "u1", 3.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "y1"), 0.5, 0.0);
  check_near(trial_get(&d, "y2"), -2.0, 0.0);
  check_near(trial_get(&d, "y3"), -12.5 + 2.0 + 3.0, 1e-15);
  assert_int_equal(d.unit.info->n_feedthrough, 1);  // only the nonzero element of D
  trial_check_feedthrough(&d, 0.0);
  trial_check_derivative(&d, 0.0, 1e-9);
  trial_close(&d);
}

// exact for any step: long and short steps meet the same analytic motion
static void test_exact_solver(void** state) {
  (void)state;
  const double steps[] = {1e-3, 0.1, 0.7, 5.0};
  for (int i = 0; i < 4; i++) {
    trial d;
    open_oscillator(&d, EXACT);
    trial_set(&d, "u1", 3.0);
    trial_start(&d, 0.0);
    for (int k = 0; k < 200; k++) {
      (void)trial_step(&d, k * steps[i], steps[i]);
      check_near(trial_get(&d, "y1"), exact_x((k + 1) * steps[i], 3.0), 1e-13 * (k + 10));
    }
    trial_close(&d);
  }
}

// the length of the step changes from call to call
static void test_exact_with_changing_step(void** state) {
  (void)state;
  trial d;
  open_oscillator(&d, EXACT);
  trial_set(&d, "u1", -7.0);
  trial_start(&d, 0.0);
  double t = 0.0;
  for (int k = 0; k < 100; k++) {
    const double h = 0.01 * (1 + k % 3);
    (void)trial_step(&d, t, h);
    t += h;
    check_near(trial_get(&d, "y1"), exact_x(t, -7.0), 1e-12);
  }
  trial_close(&d);
}

// singular A (two integrators in a row): Ad = [1 h; 0 1], Bd = [h^2/2; h]; C defaults to identity
static void test_double_integrator(void** state) {
  (void)state;
  const double A2[] = {0, 1, 0, 0}, B2[] = {0, 1};
  const yoke_argument arguments[] = {trial_matrix("A", 2, 2, A2), trial_matrix("B", 2, 1, B2)};
  trial d;
  trial_open(&d, ops, arguments, 2);
  trial_check_description(&d);
  assert_int_equal(d.unit.n_y, 2);
  assert_int_equal(d.unit.info->n_feedthrough, 0);
  trial_set(&d, "x1", 1.0);
  trial_set(&d, "x2", 2.0);
  trial_set(&d, "u1", 3.0);
  trial_start(&d, 0.0);
  (void)trial_step(&d, 0.0, 0.5);
  check_near(trial_get(&d, "y1"), 1.0 + 1.0 + 0.375, 1e-15);
  check_near(trial_get(&d, "y2"), 3.5, 1e-15);
  trial_check_feedthrough(&d, 0.0);
  trial_close(&d);
}

// inputs of very different size: each column of Bd keeps its digits, A its own scaling
static void test_large_input_matrix(void** state) {
  (void)state;
  const double A1[] = {-2.0}, B1[] = {1e15, 1.0, 1e-15};
  const yoke_argument arguments[] = {trial_matrix("A", 1, 1, A1), trial_matrix("B", 1, 3, B1)};
  for (int i = 0; i < 3; i++) {
    trial d;
    trial_open(&d, ops, arguments, 2);
    const char* const names[] = {"u1", "u2", "u3"};
    trial_set(&d, names[i], 1.0);
    trial_start(&d, 0.0);
    (void)trial_step(&d, 0.0, 0.3);
    check_relative(trial_get(&d, "y1"), B1[i] * (1.0 - exp(-0.6)) / 2.0, 8 * DBL_EPSILON);
    trial_close(&d);
  }
}

// error after 1 s against the exact solution, in the energy norm: the error of x alone happens to
// pass through zero near that time (all of it stands in v) and would show a false order
static double solver_error(int64_t solver, int n_steps, int64_t micro_steps) {
  trial d;
  open_oscillator(&d, solver);
  trial_set(&d, "u1", 3.0);
  trial_set_whole(&d, "micro_steps", micro_steps);
  trial_start(&d, 0.0);
  const double h = 1.0 / n_steps;
  for (int k = 0; k < n_steps; k++) {
    (void)trial_step(&d, k * h, h);
  }
  const double error = hypot(5.0 * (trial_get(&d, "y1") - exact_x(1.0, 3.0)),
                             trial_get(&d, "y2") - exact_v(1.0, 3.0));
  trial_close(&d);
  return error;
}

static void test_orders(void** state) {
  (void)state;
  static const struct {
    int64_t solver;
    int n_steps;
    double order;
  } cases[] = {{EULER, 2000, 1.0}, {RK4, 50, 4.0}, {TRAPEZOIDAL, 100, 2.0}};
  for (int c = 0; c < 3; c++) {
    double coarse = solver_error(cases[c].solver, cases[c].n_steps, 1);
    for (int i = 1; i <= 3; i++) {
      const double fine = solver_error(cases[c].solver, cases[c].n_steps << i, 1);
      check_near(log2(coarse / fine), cases[c].order, 0.15);
      coarse = fine;
    }

    // micro steps are steps: same error up to the rounding of h / 4
    const double whole = solver_error(cases[c].solver, 400, 1);
    check_near(solver_error(cases[c].solver, 100, 4), whole, 1e-12);
  }
}

// h |lambda| = 1e4: the trapezoidal rule stays bounded and finds the rest position
static void test_trapezoidal_stiff(void** state) {
  (void)state;
  const double A1[] = {-1e6, 0, 1, -1}, B1[] = {1e6, 0};
  const yoke_argument arguments[] = {trial_matrix("A", 2, 2, A1), trial_matrix("B", 2, 1, B1)};
  trial d;
  trial_open(&d, ops, arguments, 2);
  trial_set_whole(&d, "solver", TRAPEZOIDAL);
  trial_set(&d, "u1", 1.0);
  trial_set(&d, "x1", 1.0);
  trial_start(&d, 0.0);
  for (int k = 0; k < 1000; k++) {
    (void)trial_step(&d, k * 0.01, 0.01);
    check_near(trial_get(&d, "y1"), 1.0, 1e-9);
  }
  check_near(trial_get(&d, "y2"), 1.0 - exp(-10.0), 1e-8);
  trial_close(&d);
}

static void test_steps_that_cannot_be_made(void** state) {
  (void)state;
  const double A1[] = {4.0};
  const yoke_argument arguments[] = {trial_matrix("A", 1, 1, A1)};
  trial d;
  trial_open(&d, ops, arguments, 1);
  trial_set(&d, "x1", 1.0);
  trial_start(&d, 0.0);

  // h/2 A = 1 exactly
  trial_set_whole(&d, "solver", TRAPEZOIDAL);
  yoke_step_result result = {.t_reached = 0.5};
  assert_int_equal(d.unit.ops->step(d.unit.self, 0.0, 0.5, &result), YOKE_SINGULAR);
  check_contains(result.message, "singular");

  // exp(4000) overflows; the next, sound step is made as if nothing had been
  trial_set_whole(&d, "solver", EXACT);
  result = (yoke_step_result){.t_reached = 1000.0};
  assert_int_equal(d.unit.ops->step(d.unit.self, 0.0, 1000.0, &result), YOKE_DIVERGED);
  check_contains(result.message, "too long");
  (void)trial_step(&d, 0.0, 0.5);
  check_relative(trial_get(&d, "y1"), exp(2.0), 1e-14);

  trial_set_whole(&d, "micro_steps", 0);
  YOKE_CATCH(err);
  assert_int_equal(yoke__unit_enter_init(&d.unit, 0.0, 1.0, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "micro_steps is 0, expected 1 to 1000000");
  trial_close(&d);
}

static void test_rollback(void** state) {
  (void)state;
  for (int64_t solver = EXACT; solver <= TRAPEZOIDAL; solver++) {
    trial d;
    open_oscillator(&d, solver);
    trial_set(&d, "u1", 0.25);
    trial_start(&d, 0.0);
    trial_check_rollback(&d, 0.0, 0.01);
    trial_close(&d);
  }
}

static void test_linearise(void** state) {
  (void)state;
  trial d;
  open_oscillator(&d, EXACT);
  double a[4], b[2], c[6], e[3];
  yoke_linear model = {.A = a, .B = b, .C = c, .D = e};
  check_ok(d.unit.ops->linearise(d.unit.self, &model));
  assert_int_equal(model.n_states, 2);
  assert_int_equal(model.n_inputs, 1);
  assert_int_equal(model.n_outputs, 3);
  assert_memory_equal(a, A, sizeof A);
  assert_memory_equal(b, B, sizeof B);
  assert_memory_equal(c, C, sizeof C);
  assert_memory_equal(e, D, sizeof D);

  // sizes alone, and the sensitivity to states: dy3 = C[2] . (1, 10)
  model = (yoke_linear){0};
  check_ok(d.unit.ops->linearise(d.unit.self, &model));
  assert_int_equal(model.n_outputs, 3);
  const size_t unknown = trial_index(&d, "y3");
  const size_t knowns[] = {trial_index(&d, "x1"), trial_index(&d, "x2")};
  const double seed[] = {1.0, 10.0};
  double out = 0.0;
  check_ok(d.unit.ops->derivative(d.unit.self, &unknown, 1, knowns, 2, seed, &out));
  check_near(out, -35.0, 0.0);
  assert_int_equal(d.unit.ops->derivative(d.unit.self, knowns, 1, &unknown, 1, seed, &out),
                   YOKE_BAD_ARG);
  trial_close(&d);
}

static void test_names(void** state) {
  (void)state;
  static const char* const in[] = {"force"};
  static const char* const out[] = {"x", "v", "der(v)"};
  static const char* const states[] = {"mass.x", "mass.v"};
  static const char* const clash[] = {"x", "x2", "solver"};
  const yoke_argument good[] = {trial_matrix("A", 2, 2, A),     trial_matrix("B", 2, 1, B),
                                trial_matrix("C", 3, 2, C),     trial_texts("inputs", 1, in),
                                trial_texts("outputs", 3, out), trial_texts("states", 2, states)};
  trial d;
  trial_open(&d, ops, good, 6);
  trial_check_description(&d);
  trial_set(&d, "mass.x", 4.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "x"), 4.0, 0.0);
  check_near(trial_get(&d, "der(v)"), -100.0, 0.0);
  trial_close(&d);

  // a name of the user against a default one, and against a parameter
  const yoke_argument with_state[] = {trial_matrix("A", 2, 2, A), trial_texts("outputs", 2, clash)};
  trial_refuses(ops, with_state, 2, "the name 'x2' is used for an output and for a state");
  const yoke_argument with_parameter[] = {trial_matrix("A", 2, 2, A),
                                          trial_texts("outputs", 2, clash + 1),
                                          trial_texts("states", 2, states)};
  trial_refuses(ops, with_parameter, 3, "the name 'solver' is used for an output and for a param");
  const yoke_argument too_few[] = {trial_matrix("A", 2, 2, A), trial_texts("outputs", 1, out)};
  trial_refuses(ops, too_few, 2, "outputs has 1 name, expected 2");
  const yoke_argument no_input[] = {trial_matrix("A", 2, 2, A), trial_texts("inputs", 1, in)};
  trial_refuses(ops, no_input, 2, "inputs has 1 name, expected 0 because there is no B");
  static const char* const empty[] = {"x", ""};
  const yoke_argument nameless[] = {trial_matrix("A", 2, 2, A), trial_texts("states", 2, empty)};
  trial_refuses(ops, nameless, 2, "states: name 2 is empty");
}

static void test_shapes(void** state) {
  (void)state;
  const double numbers[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const yoke_argument a = trial_matrix("A", 2, 2, A);
  trial_refuses(ops, NULL, 0, "A is missing");
  const struct {
    yoke_argument argument;
    const char* text;
  } cases[] = {
      {trial_matrix("B", 3, 1, numbers), "B has 3 rows, expected 2 as A"},
      {trial_matrix("C", 2, 3, numbers), "C has 3 columns, expected 2 as A"},
      {trial_matrix("C", 3, 1, numbers), "C has 1 column, expected 2 as A"},
      {trial_matrix("D", 2, 1, numbers), "D has 1 column, expected 0 as there is no B"},
      {trial_matrix("x0", 3, 1, numbers), "x0 has 3 rows, expected 2 as A"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const yoke_argument arguments[] = {a, cases[i].argument};
    trial_refuses(ops, arguments, 2, cases[i].text);
  }
  const yoke_argument not_square[] = {trial_matrix("A", 2, 3, numbers)};
  trial_refuses(ops, not_square, 1, "A is 2 x 3, expected a square matrix");
  const double bad[] = {0, 1, (double)INFINITY, 0};
  const yoke_argument infinite[] = {trial_matrix("A", 2, 2, bad)};
  trial_refuses(ops, infinite, 1, "A: the value in row 2, column 1 is not finite");
  const yoke_argument wrong_d[] = {a, trial_matrix("B", 2, 2, numbers),
                                   trial_matrix("C", 1, 2, numbers),
                                   trial_matrix("D", 3, 2, numbers)};
  trial_refuses(ops, wrong_d, 4, "D has 3 rows, expected 1 as C");

  // a flat list is one row of C, and all of B for a single state
  const yoke_argument flat_c[] = {a, trial_matrix("C", 2, 1, numbers)};
  trial d;
  trial_open(&d, ops, flat_c, 2);
  assert_int_equal(d.unit.n_y, 1);
  trial_set(&d, "x1", 10.0);
  trial_set(&d, "x2", 1.0);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "y1"), 12.0, 0.0);
  trial_close(&d);
  const yoke_argument flat_b[] = {trial_matrix("A", 1, 1, numbers),
                                  trial_matrix("B", 3, 1, numbers)};
  trial_open(&d, ops, flat_b, 2);
  assert_int_equal(d.unit.n_u, 3);
  trial_close(&d);
}

// forty states: a chain of lags against the same chain in small exact steps
static void test_many_states(void** state) {
  (void)state;
  enum { N = 40 };
  static double lags[N * N], input[N];
  for (size_t i = 0; i < N; i++) {
    lags[i * N + i] = -1.0;
    if (i > 0) {
      lags[i * N + i - 1] = 1.0;
    }
  }
  input[0] = 1.0;
  const yoke_argument arguments[] = {trial_matrix("A", N, N, lags), trial_matrix("B", N, 1, input)};
  trial d;
  trial_open(&d, ops, arguments, 2);
  trial_set(&d, "u1", 1.0);
  trial_start(&d, 0.0);
  (void)trial_step(&d, 0.0, 5.0);

  // step response of n equal lags: 1 - e^-t sum_{k<n} t^k / k!
  double y[N], term = exp(-5.0), sum = 0.0;
  check_ok(yoke__unit_get_outputs(&d.unit, y));
  for (int k = 0; k < N; k++) {
    sum += term;
    check_near(y[k], 1.0 - sum, 1e-14);
    term *= 5.0 / (k + 1);
  }
  trial_close(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_description),
      cmocka_unit_test(test_exact_solver),
      cmocka_unit_test(test_exact_with_changing_step),
      cmocka_unit_test(test_double_integrator),
      cmocka_unit_test(test_large_input_matrix),
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_trapezoidal_stiff),
      cmocka_unit_test(test_steps_that_cannot_be_made),
      cmocka_unit_test(test_rollback),
      cmocka_unit_test(test_linearise),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_many_states),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
