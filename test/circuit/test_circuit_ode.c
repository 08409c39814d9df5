// The formulation that is known to fail: singular for parallel capacitors (CI-02), drift of the
// constraints and errors on the ladder (table of 2.1).
#include "circuit/circuit_solver.h"
#include "circuit/equations/circuit_equations.h"
#include "circuit/network/circuit_build.h"
#include "support/check.h"
#include "support/circuits.h"

static yoke_circuit_options ode(yoke_circuit_method method, double h) {
  return (yoke_circuit_options){.formulation = YOKE_FORMULATION_ODE, .method = method, .step = h};
}

static void test_parallel_capacitors_are_refused_CI_02(void** state) {
  (void)state;
  yoke_network* network = circuits_rlc();
  const yoke_circuit_options options = ode(YOKE_CIRCUIT_RK4, 1e-3);
  yoke_messages messages = {0};
  yoke_circuit* circuit = NULL;
  assert_int_equal(yoke__circuit_create(network, &options, &messages, &circuit), YOKE_SINGULAR);
  assert_null(circuit);
  char text[512];
  yoke__messages_format(&messages, text, sizeof text);
  check_contains(text, "singular");
  check_contains(text, "capacitors in parallel");
  yoke__messages_free(&messages);
  yoke__network_destroy(&network);
}

// junctions that do not conduct: known only at the start. The node between them belongs to nobody.
static void test_cut_off_junctions_are_refused(void** state) {
  (void)state;
  const yoke_junction_model model = {
      .is = 1e-14, .n = 1, .bv = (double)INFINITY, .ibv = 1e-3, .vt = 0.025852};
  const yoke_place nowhere = {NULL, 0, 0};
  yoke_network* network = NULL;
  check_ok(yoke__network_create("cut off", &network));
  circuits_add_constant(network, YOKE_VOLTAGE, "E1", "1", "0", -10);
  const uint32_t n1 = yoke__network_find_node(network, "1");
  const uint32_t n2 = yoke__network_node(network, "2", YOKE_ELECTRIC, nowhere);
  yoke__network_add_diode(network, "D1", n1, n2, &model, 0, nowhere);
  yoke__network_add_diode(network, "D2", n2, 0, &model, 0, nowhere);
  yoke_circuit_options options = ode(YOKE_CIRCUIT_RK4, 1e-5);
  options.gmin = -1;
  yoke_messages messages = {0};
  yoke_circuit* circuit = NULL;
  check_ok(yoke__circuit_create(network, &options, &messages, &circuit));
  assert_int_equal(yoke__circuit_start(circuit, 0, &messages), YOKE_SINGULAR);
  yoke__messages_free(&messages);
  yoke__circuit_destroy(&circuit);
  // with gmin there is a solution
  options.gmin = 1e-12;
  circuit = circuits_start(network, &options);
  circuits_steps(circuit, 10);
  check_near(yoke__circuit_voltage(circuit, n2), -5, 1e-6);
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
}

// largest |Phi| over a run
static double drift(const yoke_network* network, const yoke_circuit_options* options,
                    uint64_t n_steps) {
  yoke_arena arena = {0};
  yoke_signals* signals = NULL;
  yoke_equations* equations = NULL;
  bool* is_closed = yoke__arena_array(&arena, network->n_elements, sizeof(bool));
  check_ok(yoke__signals_create(network, &arena, &signals));
  check_ok(yoke__equations_create(network, signals, is_closed, 0, &arena, &equations));
  const uint32_t n = equations->n, m = equations->m;
  double* x = yoke__arena_array(&arena, n, sizeof(double));
  double* f = yoke__arena_array(&arena, n, sizeof(double));
  yoke_circuit* circuit = circuits_start(network, options);
  double most = 0;
  for (uint64_t k = 0; k < n_steps; k++) {
    circuits_steps(circuit, 1);
    for (uint32_t v = 0; v < network->n_nodes; v++) {
      x[v] = yoke__circuit_voltage(circuit, v);
    }
    for (uint32_t e = 0; e < network->n_elements; e++) {
      x[network->n_nodes + e] = yoke__circuit_current(circuit, e);
    }
    yoke__signals_update(signals, yoke__circuit_time(circuit));
    yoke__equations_evaluate(equations, x, 0, NULL, NULL, f, NULL);
    double sum = 0;
    for (uint32_t i = 0; i < m; i++) {
      sum += f[i] * f[i];
    }
    most = fmax(most, sqrt(sum));
  }
  yoke__circuit_destroy(&circuit);
  yoke__arena_free(&arena);
  return most;
}

static void test_ladder_errors_and_drift(void** state) {
  (void)state;
  // printed digits decide the tolerance
  static const struct {
    yoke_circuit_method method;
    double h, v, i, phi, tolerance;
  } rows[] = {{YOKE_CIRCUIT_EULER, 1e-4, 1.717e-2, 3.92e-3, 3.14e-1, 0.005},
              {YOKE_CIRCUIT_EULER, 1e-5, 1.717e-3, 3.92e-4, 3.14e-2, 0.005},
              {YOKE_CIRCUIT_RK4, 2.5e-3, 1.18e-6, 3.21e-5, 1.3e-6, 0.04},
              {YOKE_CIRCUIT_RK4, 1e-3, 2.2e-8, 6.1e-7, 3.4e-8, 0.04}};
  circuits_problem p = circuits_open(CIRCUITS_LADDER, 2);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const yoke_circuit_options options = ode(rows[i].method, rows[i].h);
    const circuits_result result = circuits_run(&p, &options);
    check_ok(result.status);
    const double phi = drift(p.network, &options, (uint64_t)(1 / rows[i].h + 0.5));
    print_message("%s %g s: %.3e V, %.3e A, |Phi| %.2e\n",
                  yoke__circuit_method_names[rows[i].method], rows[i].h, result.v, result.i, phi);
    check_relative(result.v, rows[i].v, rows[i].tolerance);
    check_relative(result.i, rows[i].i, rows[i].tolerance);
    check_relative(phi, rows[i].phi, rows[i].tolerance);
  }
  circuits_close(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parallel_capacitors_are_refused_CI_02),
      cmocka_unit_test(test_cut_off_junctions_are_refused),
      cmocka_unit_test(test_ladder_errors_and_drift),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
