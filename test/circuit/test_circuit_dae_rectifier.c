// The rectifier: reference points (CI-11), errors of converged runs (CI-12), worst iterations
// (CI-13), projection of the derivatives (CI-14).
#include "circuit/circuit_solver.h"
#include "circuit/equations/circuit_equations.h"
#include "circuit/network/circuit_build.h"
#include "support/check.h"
#include "support/circuits.h"

static circuits_problem problem;

static int open_problem(void** state) {
  (void)state;
  problem = circuits_open(CIRCUITS_RECTIFIER, 0);
  return 0;
}

static int close_problem(void** state) {
  (void)state;
  circuits_close(&problem);
  return 0;
}

static yoke_circuit_options dae(yoke_circuit_method method, double h) {
  return (yoke_circuit_options){.formulation = YOKE_FORMULATION_DAE, .method = method, .step = h};
}

// table of 5.3
static const struct {
  double t, v, i;
} points[] = {
    {0.001, 1.094392880, 0.001805679},   {0.002, 1.195855167, 0.024700843},
    {0.005, 1.284857408, 0.243803063},   {0.010, 1.339809552, 0.986635475},
    {0.020, 1.387543596, 3.191949832},   {0.050, 1.432685493, 8.838598003},
    {0.099, 1.382994779, 2.862842091},   {0.100, 1.350491037, 2.578832306},
    {0.101, -1.766733915, 2.322430880},  {0.110, -29.535116272, 1.921068370},
    {0.150, -98.567223132, 8.855572330}, {0.500, 1.350492802, 2.578945893},
    {0.550, -98.567223128, 8.855573086}, {1.000, 1.350492802, 2.578945893},
};

// the scalar model that the errors below are measured with gives the table too
static void test_reference_against_table(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    const size_t k = (size_t)(points[i].t * 1000 + 0.5) - 1;
    check_near(problem.v[k], points[i].v, 2e-8);
    check_near(problem.i[k], points[i].i, 1e-7);
  }
}

static void test_reference_points_CI_11(void** state) {
  (void)state;
  const yoke_circuit_options options = dae(YOKE_CIRCUIT_BDF3, 1e-5);
  yoke_circuit* circuit = circuits_start(problem.network, &options);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    const uint64_t step = (uint64_t)(points[i].t * 1e5 + 0.5);
    circuits_steps(circuit, step - circuits_step_number(circuit));
    const double v = yoke__circuit_voltage(circuit, problem.plus) -
                     yoke__circuit_voltage(circuit, problem.minus);
    check_near(v, points[i].v, 1e-6);
    check_near(yoke__circuit_current(circuit, problem.element), points[i].i, 1e-6);
  }
  yoke__circuit_destroy(&circuit);
}

static void test_errors_CI_12(void** state) {
  (void)state;
  static const struct {
    yoke_circuit_method method;
    double h, v, i;
  } rows[] = {{YOKE_CIRCUIT_TR, 5e-4, 2.87e-4, 1.70e-4},
              {YOKE_CIRCUIT_BDF2, 5e-5, 6.45e-6, 7.89e-6},
              {YOKE_CIRCUIT_BDF3, 1e-4, 7.94e-6, 3.95e-6},
              {YOKE_CIRCUIT_BDF1, 1e-5, 2.64e-5, 4.69e-4}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const yoke_circuit_options options = dae(rows[i].method, rows[i].h);
    const circuits_result result = circuits_run(&problem, &options);
    check_ok(result.status);
    print_message("%s %g s: %.3e V, %.3e A\n", yoke__circuit_method_names[rows[i].method],
                  rows[i].h, result.v, result.i);
    check_relative(result.v, rows[i].v, 0.03);
    check_relative(result.i, rows[i].i, 0.03);
    assert_int_equal(result.counts.n_unconverged, 0);
    assert_int_equal(result.counts.n_repivots, 0);
  }
}

// with limiting at most 18 iterations, without as many as the table of 5.3 says
static void test_robustness_CI_13(void** state) {
  (void)state;
  static const struct {
    double h;
    uint32_t plain, limited;
  } rows[] = {{1e-3, 45, 18}, {5e-4, 25, 18}, {2.5e-4, 15, 13}, {1e-4, 9, 9}, {5e-5, 7, 7}};
  static const yoke_circuit_method methods[] = {YOKE_CIRCUIT_TR, YOKE_CIRCUIT_BDF2,
                                                YOKE_CIRCUIT_BDF3, YOKE_CIRCUIT_TRBDF2,
                                                YOKE_CIRCUIT_ESDIRK4};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
      yoke_circuit_options options = dae(methods[m], rows[i].h);
      const circuits_result limited = circuits_run(&problem, &options);
      check_ok(limited.status);
      assert_int_equal(limited.counts.n_unconverged, 0);
      check_between(limited.counts.max_iterations, 1, 18);
      options.is_unlimited = true;
      const circuits_result plain = circuits_run(&problem, &options);
      check_ok(plain.status);
      print_message("%g s %s: %u iterations at worst, %u without limiting\n", rows[i].h,
                    yoke__circuit_method_names[methods[m]], (unsigned)limited.counts.max_iterations,
                    (unsigned)plain.counts.max_iterations);
      if (methods[m] == YOKE_CIRCUIT_TR) {
        check_near(plain.counts.max_iterations, rows[i].plain, 1);
        check_near(limited.counts.max_iterations, rows[i].limited, 1);
      }
    }
  }
}

// ------------------------------------------------------------------------------------------
// CI-14

typedef struct derivative_check {
  double residual;  // largest |Phi_x xdot + Phi_t| over the run
  double at_half;   // V_5' at 0.5 s
  double late;      // largest |V_5'| in the last 0.1 s
} derivative_check;

static derivative_check check_derivatives(const yoke_circuit_options* options) {
  const yoke_network* network = problem.network;
  yoke_arena arena = {0};
  yoke_signals* signals = NULL;
  yoke_equations* equations = NULL;
  bool* is_closed = yoke__arena_array(&arena, network->n_elements, sizeof(bool));
  check_ok(yoke__signals_create(network, &arena, &signals));
  check_ok(yoke__equations_create(network, signals, is_closed, 1e-12, &arena, &equations));
  const uint32_t n = equations->n, m = equations->m;
  const yoke_sparse_pattern* pattern = &equations->Ahat;
  double* x = yoke__arena_array(&arena, n, sizeof(double));
  double* xdot = yoke__arena_array(&arena, n, sizeof(double));
  double* product = yoke__arena_array(&arena, n, sizeof(double));
  double* bhat = yoke__arena_array(&arena, n, sizeof(double));
  double* ahat = yoke__arena_array(&arena, (size_t)pattern->starts[n], sizeof(double));

  yoke_circuit* circuit = circuits_start(network, options);
  const uint32_t v5 = yoke__network_find_node(network, "5");
  const uint64_t n_steps = (uint64_t)(1 / options->step + 0.5);
  derivative_check result = {0};
  for (uint64_t k = 1; k <= n_steps; k++) {
    circuits_steps(circuit, 1);
    for (uint32_t v = 0; v < network->n_nodes; v++) {
      x[v] = yoke__circuit_voltage(circuit, v);
    }
    for (uint32_t e = 0; e < network->n_elements; e++) {
      x[network->n_nodes + e] = yoke__circuit_current(circuit, e);
    }
    circuits_rates(circuit, xdot);
    yoke__signals_update_rates(signals, yoke__circuit_time(circuit));
    yoke__equations_derivatives(equations, x, NULL, ahat, bhat);
    yoke__sparse_mul(pattern, ahat, xdot, product);
    double sum = 0;
    for (uint32_t i = 0; i < m; i++) {
      sum += (product[i] + bhat[i]) * (product[i] + bhat[i]);
    }
    result.residual = fmax(result.residual, sqrt(sum));
    result.at_half = 2 * k == n_steps ? xdot[v5] : result.at_half;
    result.late = k > n_steps * 9 / 10 ? fmax(result.late, fabs(xdot[v5])) : result.late;
  }
  yoke__circuit_destroy(&circuit);
  yoke__arena_free(&arena);
  return result;
}

static void test_projection_CI_14(void** state) {
  (void)state;
  static const struct {
    yoke_circuit_projection kind;
    double alpha;
  } ways[] = {{YOKE_PROJECTION_AUTO, 0},
              {YOKE_PROJECTION_PENALTY, 1e9},
              {YOKE_PROJECTION_PENALTY, 1e12},
              {YOKE_PROJECTION_DIRECT, 0}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    yoke_circuit_options options = dae(YOKE_CIRCUIT_TR, 5e-4);
    options.projection = ways[i].kind;
    options.alpha = ways[i].alpha;
    const derivative_check got = check_derivatives(&options);
    print_message("%s %.0e: |Phi'| <= %.2e, V5'(0.5 s) = %.3f V/s, |V5'| <= %.4g V/s at the end\n",
                  yoke__circuit_projection_names[ways[i].kind], ways[i].alpha, got.residual,
                  got.at_half, got.late);
    check_between(got.residual, 0, 1);
    check_near(got.at_half, -1575.2, 0.1);
    check_between(got.late, 3000, 3200);
  }
  const yoke_circuit_options bare = dae(YOKE_CIRCUIT_TRNP, 5e-4);
  const derivative_check got = check_derivatives(&bare);
  print_message("without: |Phi'| up to %.2e, |V5'| up to %.3g V/s at the end\n", got.residual,
                got.late);
  assert_true(got.late > 1e4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reference_against_table),
      cmocka_unit_test(test_reference_points_CI_11),
      cmocka_unit_test(test_errors_CI_12),
      cmocka_unit_test(test_robustness_CI_13),
      cmocka_unit_test(test_projection_CI_14),
  };
  return cmocka_run_group_tests(tests, open_problem, close_problem);
}
