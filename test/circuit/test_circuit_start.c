// The initial configuration: prescribed states (CI-04), steady state (CI-17), known answers of the
// rectifier, states that depend on each other, and what cannot be started.
#include "circuit/equations/circuit_equations.h"

#include "circuit/network/circuit_build.h"
#include "support/check.h"
#include "support/circuits.h"

typedef struct fixture {
  yoke_network* network;
  yoke_arena arena;
  yoke_signals* signals;
  yoke_equations* equations;
  double *state, *x, *xdot;
  bool* is_closed;
  yoke_start_report report;
  yoke_messages messages;
} fixture;

static fixture open_start(yoke_network* network, double gmin) {
  fixture f = {.network = network};
  const size_t n = (size_t)network->n_nodes + network->n_elements;
  check_ok(yoke__signals_create(network, &f.arena, &f.signals));
  f.is_closed = yoke__arena_array(&f.arena, network->n_elements, sizeof(bool));
  f.state = yoke__arena_array(&f.arena, network->n_elements, sizeof(double));
  f.x = yoke__arena_array(&f.arena, n, sizeof(double));
  f.xdot = yoke__arena_array(&f.arena, n, sizeof(double));
  assert_true(f.is_closed != NULL && f.state != NULL && f.x != NULL && f.xdot != NULL);
  check_ok(yoke__equations_create(network, f.signals, f.is_closed, gmin, &f.arena, &f.equations));
  for (uint32_t e = 0; e < network->n_elements; e++) {
    f.state[e] = network->elements[e].has_start ? network->elements[e].start : (double)NAN;
  }
  return f;
}

static yoke_status solve(fixture* f) {
  return yoke__circuit_initial(f->equations, f->signals, f->network, f->state, NULL, 0, f->x,
                               f->xdot, &f->report, &f->messages);
}

static void solve_well(fixture* f) {
  const yoke_status status = solve(f);
  if (status < 0) {
    char text[512];
    yoke__messages_format(&f->messages, text, sizeof text);
    fail_msg("%s: %s", yoke_status_text(status), text);
  }
}

static void close_start(fixture* f) {
  yoke__arena_free(&f->arena);
  yoke__messages_free(&f->messages);
  yoke__network_destroy(&f->network);
}

static double voltage(const fixture* f, const char* node) {
  return f->x[yoke__network_find_node(f->network, node)];
}

static double current(const fixture* f, const char* element) {
  return f->x[f->network->n_nodes + yoke__network_find_element(f->network, element)];
}

static double voltage_rate(const fixture* f, const char* node) {
  return f->xdot[yoke__network_find_node(f->network, node)];
}

static double current_rate(const fixture* f, const char* element) {
  return f->xdot[f->network->n_nodes + yoke__network_find_element(f->network, element)];
}

static void prescribe(fixture* f, const char* element, double value) {
  f->state[yoke__network_find_element(f->network, element)] = value;
}

static void test_pmsm_CI_04(void** state) {
  (void)state;
  static const char* const states[] = {"1", "2", "6", "9", "10", "11", "12", "13", "14"};
  fixture f = open_start(circuits_pmsm(true), 0);
  solve_well(&f);
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    check_near(voltage(&f, states[i]), 300, 0);
  }
  check_near(current(&f, "Rwater"), -20000, 1e-6);
  check_near(voltage(&f, "3"), 300.113149, 1e-5);
  check_near(voltage(&f, "4"), 301.735985, 1e-5);
  check_near(voltage(&f, "5"), 301.924567, 1e-5);
  check_near(voltage(&f, "7"), 300, 1e-9);
  check_near(voltage(&f, "8"), 300, 1e-9);
  check_between(f.report.residual, 0, 1e-9);
  assert_int_equal(f.report.n_moved, 0);
  assert_false(f.report.is_least_squares);
  // heat capacities heat up with what flows in
  check_relative(voltage_rate(&f, "9"), 2000.0 / 2000, 1e-9);
  check_relative(voltage_rate(&f, "10"), 20000.0 / 3000, 1e-9);
  close_start(&f);
}

static void test_pmsm_steady_CI_17(void** state) {
  (void)state;
  static const struct {
    const char* node;
    double T;
  } points[] = {{"1", 364.151268},  {"2", 364.658145},  {"6", 328.238303},  {"9", 450.238303},
                {"10", 322.413991}, {"11", 332.947234}, {"12", 332.947234}, {"13", 354.013721},
                {"14", 354.013721}, {"3", 362.712272},  {"4", 334.778675},  {"5", 331.535552},
                {"7", 348.238303},  {"8", 448.238303}};
  fixture f = open_start(circuits_pmsm(false), 0);
  solve_well(&f);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    check_near(voltage(&f, points[i].node), points[i].T, 1e-5);
  }
  const double out = current(&f, "Rwater") + current(&f, "Rbear1") + current(&f, "Rbear2");
  check_near(out, 2450, 1e-6);
  close_start(&f);
}

// x = 0, and by symmetry the floating DC side follows half of the source
static void test_rectifier_known_answers(void** state) {
  (void)state;
  static const double gmins[] = {0, 1e-12};
  for (int i = 0; i < 2; i++) {
    fixture f = open_start(circuits_rectifier(), gmins[i]);
    prescribe(&f, "L1", 0);
    solve_well(&f);
    for (uint32_t j = 0; j < f.network->n_nodes + f.network->n_elements; j++) {
      check_near(f.x[j], 0, 1e-12);
    }
    check_near(voltage_rate(&f, "2"), 3141.593, 1e-3);
    check_near(voltage_rate(&f, "3"), 1570.796, 1e-2);
    check_near(voltage_rate(&f, "5"), 1570.796, 1e-2);
    close_start(&f);
  }
}

// rlc with a source that is not 0 at the start: the capacitors share 10 A as 2 to 1, and V' = I /
// (C1 + C2)
static void test_parallel_capacitors(void** state) {
  (void)state;
  yoke_network* network = circuits_rlc();
  yoke_circuit_value* source = &network->elements[yoke__network_find_element(network, "E1")].value;
  *source = (yoke_circuit_value){.constant = 100};
  fixture f = open_start(network, 0);
  prescribe(&f, "C1", 0);
  prescribe(&f, "C2", 0);
  prescribe(&f, "L1", 0);
  solve_well(&f);
  check_near(current(&f, "R1"), 10, 1e-12);
  check_near(current(&f, "C1"), 20.0 / 3, 1e-12);
  check_near(current(&f, "C2"), 10.0 / 3, 1e-12);
  check_near(voltage_rate(&f, "3"), 10 / 0.6, 1e-11);
  check_near(current_rate(&f, "R1"), -10 / 6.0, 1e-11);
  assert_int_equal(f.report.n_moved, 0);
  assert_true(f.report.is_least_squares);
  check_between(f.report.residual, 0, 1e-12);

  // values that contradict each other: the first one holds, the other is reported
  prescribe(&f, "C1", 2);
  prescribe(&f, "C2", 5);
  solve_well(&f);
  check_near(voltage(&f, "3"), 2, 1e-12);
  assert_int_equal(f.report.n_moved, 1);
  assert_int_equal(f.messages.n_warnings, 1);
  close_start(&f);
}

// a capacitor across a source: its current is C E'
static void test_capacitor_across_source(void** state) {
  (void)state;
  yoke_network* network = NULL;
  check_ok(yoke__network_create("index 2", &network));
  circuits_add_sine(network, YOKE_VOLTAGE, "E1", "1", "0", 0, 100, 5);
  circuits_add_constant(network, YOKE_CAPACITOR, "C1", "1", "0", 0.01);
  fixture f = open_start(network, 0);
  prescribe(&f, "C1", 0);
  solve_well(&f);
  check_relative(current(&f, "C1"), 0.01 * 100 * 10 * 3.14159265358979, 1e-12);
  assert_int_equal(f.report.n_moved, 0);
  close_start(&f);
}

// two inductors in series through a node that touches nothing else: one current, voltages as 1 to 3
static void test_series_inductors(void** state) {
  (void)state;
  yoke_network* network = NULL;
  check_ok(yoke__network_create("cut set", &network));
  circuits_add_constant(network, YOKE_VOLTAGE, "E1", "1", "0", 8);
  circuits_add_constant(network, YOKE_INDUCTOR, "L1", "1", "2", 1);
  circuits_add_constant(network, YOKE_INDUCTOR, "L2", "2", "3", 3);
  circuits_add_constant(network, YOKE_RESISTOR, "R1", "3", "0", 2);
  fixture f = open_start(network, 0);
  prescribe(&f, "L1", 1);
  prescribe(&f, "L2", 1);
  solve_well(&f);
  check_near(voltage(&f, "3"), 2, 1e-12);
  check_near(voltage(&f, "2"), 8 - 6 / 4.0, 1e-12);
  check_near(current_rate(&f, "L1"), 1.5, 1e-12);
  check_near(current_rate(&f, "L2"), 1.5, 1e-12);
  assert_int_equal(f.report.n_moved, 0);

  // free: the operating point, 4 A
  prescribe(&f, "L1", (double)NAN);
  prescribe(&f, "L2", (double)NAN);
  solve_well(&f);
  check_near(current(&f, "L1"), 4, 1e-12);
  check_near(voltage(&f, "2"), 8, 1e-12);
  close_start(&f);
}

// free capacitors in series leave a node to nobody; free inductors in parallel share nothing: both
// get an answer
static void test_operating_point_of_degenerate_parts(void** state) {
  (void)state;
  yoke_network* network = NULL;
  check_ok(yoke__network_create("degenerate", &network));
  circuits_add_constant(network, YOKE_VOLTAGE, "E1", "1", "0", 6);
  circuits_add_constant(network, YOKE_CAPACITOR, "C1", "1", "2", 1e-6);
  circuits_add_constant(network, YOKE_CAPACITOR, "C2", "2", "0", 1e-6);
  circuits_add_constant(network, YOKE_RESISTOR, "R1", "1", "3", 3);
  circuits_add_constant(network, YOKE_INDUCTOR, "L1", "3", "0", 1);
  circuits_add_constant(network, YOKE_INDUCTOR, "L2", "3", "0", 1);
  fixture f = open_start(network, 0);
  solve_well(&f);
  check_near(current(&f, "L1") + current(&f, "L2"), 2, 1e-12);
  check_near(current(&f, "C1"), 0, 1e-12);
  check_between(voltage(&f, "2"), 0, 6);
  close_start(&f);
}

// 5 V, 1 kOhm and a diode: I = (5 - v) / 1000 = IS (exp(v / Vt) - 1); a chain of twelve needs the
// continuation at most
static void test_operating_point_of_diodes(void** state) {
  (void)state;
  static const unsigned lengths[] = {1, 12};
  const yoke_junction_model model = {
      .is = 1e-14, .n = 1, .bv = (double)INFINITY, .ibv = 1e-3, .vt = 0.025852};
  for (int l = 0; l < 2; l++) {
    yoke_network* network = NULL;
    check_ok(yoke__network_create("diodes", &network));
    circuits_add_constant(network, YOKE_VOLTAGE, "E1", "in", "0", 5.0 * lengths[l]);
    circuits_add_constant(network, YOKE_RESISTOR, "R1", "in", "n0", 1000);
    circuits_add_constant(network, YOKE_CAPACITOR, "C1", "n0", "0", 1e-6);
    for (unsigned i = 0; i < lengths[l]; i++) {
      char name[16], a[16], b[16];
      const yoke_place nowhere = {NULL, 0, 0};
      snprintf(name, sizeof name, "D%u", i);
      snprintf(a, sizeof a, "n%u", i);
      snprintf(b, sizeof b, "n%u", i + 1);
      yoke__network_add_diode(
          network, name, yoke__network_node(network, a, YOKE_ELECTRIC, nowhere),
          yoke__network_node(network, i + 1 < lengths[l] ? b : "0", YOKE_ELECTRIC, nowhere), &model,
          0, nowhere);
    }
    fixture f = open_start(network, 1e-12);
    solve_well(&f);
    const double v = voltage(&f, "n0") / lengths[l];
    const double i = 1e-14 * (exp(v / 0.025852) - 1) + 1e-12 * v;
    check_relative(current(&f, "R1"), i, 1e-9);
    check_near(current(&f, "R1") * 1000, (5 - v) * lengths[l], 1e-9);
    close_start(&f);
  }
}

// a node between two current sources: nothing says what its voltage is
static void test_singular_start_is_explained(void** state) {
  (void)state;
  yoke_network* network = NULL;
  check_ok(yoke__network_create("floating", &network));
  circuits_add_constant(network, YOKE_CURRENT, "I1", "0", "lost", 1);
  circuits_add_constant(network, YOKE_CURRENT, "I2", "lost", "0", 1);
  circuits_add_constant(network, YOKE_RESISTOR, "R1", "1", "0", 1);
  fixture f = open_start(network, 0);
  assert_int_equal(solve(&f), YOKE_SINGULAR);
  char text[512];
  yoke__messages_format(&f.messages, text, sizeof text);
  check_contains(text, "no unique solution");
  check_contains(text, "lost");
  close_start(&f);
}

// a junction with a charge: at rest it carries its DC current, prescribed it keeps its voltage
static void test_charged_junction(void** state) {
  (void)state;
  const yoke_junction_model model = {.is = 1e-14,
                                     .n = 1,
                                     .bv = (double)INFINITY,
                                     .ibv = 1e-3,
                                     .vt = 0.025852,
                                     .cjo = 1e-9,
                                     .vj = 0.8,
                                     .m = 0.5,
                                     .fc = 0.5,
                                     .tt = 1e-8};
  yoke_network* network = NULL;
  const yoke_place nowhere = {NULL, 0, 0};
  check_ok(yoke__network_create("charge", &network));
  circuits_add_constant(network, YOKE_VOLTAGE, "E1", "1", "0", 1);
  circuits_add_constant(network, YOKE_RESISTOR, "R1", "1", "2", 100);
  yoke__network_add_diode(network, "D1", yoke__network_find_node(network, "2"), 0, &model, 0,
                          nowhere);
  fixture f = open_start(network, 0);
  solve_well(&f);
  check_relative(current(&f, "D1"), 1e-14 * (exp(voltage(&f, "2") / 0.025852) - 1), 1e-9);
  prescribe(&f, "D1", 0.25);
  solve_well(&f);
  check_near(voltage(&f, "2"), 0.25, 1e-12);
  check_near(current(&f, "D1"), 0.0075, 1e-12);
  // C(0.25) v' = I - i(v)
  const double C = 1e-9 / sqrt(1 - 0.25 / 0.8);
  check_relative(voltage_rate(&f, "2"), 0.0075 / C, 1e-3);
  close_start(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pmsm_CI_04),
      cmocka_unit_test(test_pmsm_steady_CI_17),
      cmocka_unit_test(test_rectifier_known_answers),
      cmocka_unit_test(test_parallel_capacitors),
      cmocka_unit_test(test_capacitor_across_source),
      cmocka_unit_test(test_series_inductors),
      cmocka_unit_test(test_operating_point_of_degenerate_parts),
      cmocka_unit_test(test_operating_point_of_diodes),
      cmocka_unit_test(test_singular_start_is_explained),
      cmocka_unit_test(test_charged_junction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
