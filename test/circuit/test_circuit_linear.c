// Linear models of circuits: closed forms, numeric differentiation of the solver, time constants of
// the specification (5.4, 5.5), dependent states, random networks against the solver's own
// solution.
#include "base/base_message.h"
#include "support/check.h"

#include "circuit/linear/circuit_linear.h"
#include "circuit/netlist/circuit_netlist.h"
#include "linalg/linalg_dense.h"
#include "support/circuits.h"

#define MAX_OUT 16
#define MAX_N   200

// -------------------------------------------------------------------------------------------------
// a netlist and its model

typedef struct bed {
  yoke_network* network;
  yoke_circuit* circuit;
  yoke_arena arena;
  yoke_circuit_linear linear;
  const yoke_probe* outputs[MAX_OUT];
  yoke_status status;
  char err[YOKE_MESSAGE_TEXT_SIZE];
} bed;

static void make_model(bed* b, bool is_whole) {
  for (uint32_t i = 0; i < b->network->n_outputs; i++) {
    b->outputs[i] = &b->network->outputs[i];
  }
  const yoke_linear_settings settings = {
      .outputs = b->outputs, .n_outputs = b->network->n_outputs, .is_whole = is_whole};
  YOKE_CATCH(err);
  b->status = yoke__circuit_linear_make(b->circuit, &settings, &b->arena, &b->linear, &err.sink);
  memcpy(b->err, err.text, sizeof b->err);
}

static void open_text(bed* b, const char* text, const yoke_circuit_options* options) {
  yoke_messages messages = {0};
  const yoke_netlist_settings settings = {.path = "test.cir"};
  *b = (bed){0};
  if (yoke__netlist_read_text(text, strlen(text), &settings, &messages, &b->network) < 0) {
    yoke__messages_print(&messages, stderr);
    fail_msg("the netlist is refused");
  }
  b->circuit = circuits_start(b->network, options);
  yoke__messages_free(&messages);
}

static void close_bed(bed* b) {
  yoke__circuit_destroy(&b->circuit);
  yoke__network_destroy(&b->network);
  yoke__arena_free(&b->arena);
}

static void open_model(bed* b, const char* text) {
  open_text(b, text, &(yoke_circuit_options){.step = 1e-3});
  make_model(b, false);
  if (b->status < 0) {
    fail_msg("no model: %s", b->err);
  }
}

static void check_matrix(const double got[], const double want[], size_t n, double tolerance) {
  for (size_t i = 0; i < n; i++) {
    check_near(got[i], want[i], tolerance * fmax(1.0, fabs(want[i])));
  }
}

// -------------------------------------------------------------------------------------------------
// closed forms

// B1: two parallel capacitors are one state
static void test_rlc(void** state) {
  (void)state;
  bed b;
  open_model(&b, "rlc\n.input u=0 V\nV1 2 0 {u}\nR1 2 3 10\nL1 3 0 100m IC=0\n"
                 "C1 3 0 400m IC=0\nC2 3 0 200m IC=0\n.output v(3)\n.output i(l1)\n.output i(c1)\n"
                 ".output i(c2)\n.output i(r1)\n.end\n");
  const double A[] = {0, 1 / 0.1, -1 / 0.6, -1 / (10 * 0.6)};
  const double B[] = {0, 1 / (10 * 0.6)};
  // i(c1) is two thirds of what the resistor brings and the inductor leaves
  const double C[] = {0, 1, 1, 0, -2.0 / 3, -0.1 * 2 / 3, -1.0 / 3, -0.1 / 3, 0, -0.1};
  const double D[] = {0, 0, 0.1 * 2 / 3, 0.1 / 3, 0.1};
  assert_int_equal(b.linear.n_states, 2);
  assert_int_equal(b.linear.n_inputs, 1);
  check_matrix(b.linear.A, A, 4, 1e-13);
  check_matrix(b.linear.B, B, 2, 1e-13);
  check_matrix(b.linear.C, C, 10, 1e-13);
  check_matrix(b.linear.D, D, 5, 1e-13);
  close_bed(&b);
}

// B2: L i_j' = v(d_j) - v_j with v(d_j) a chain of resistors fed by all currents behind
static void check_ladder(uint32_t n_loops) {
  bed b = {.network = circuits_ladder(n_loops)};
  b.circuit = circuits_start(b.network, &(yoke_circuit_options){.step = 1e-3});
  make_model(&b, true);
  check_ok(b.status);
  const size_t n = 2 * (size_t)n_loops;
  assert_int_equal(b.linear.n_states, n);
  assert_int_equal(b.linear.n_inputs, 1);
  for (size_t j = 0; j < n_loops; j++) {
    const double* di = b.linear.A + 2 * j * n;
    const double* dv = di + n;
    check_relative(b.linear.B[2 * j], 10.0, 1e-11);
    check_near(b.linear.B[2 * j + 1], 0.0, 1e-11);
    for (size_t q = 0; q < n_loops; q++) {
      const double shared = (double)(1 + (q < j ? q : j));
      check_relative(di[2 * q], -10.0 * shared / 0.1, 1e-11);
      check_near(di[2 * q + 1], q == j ? -10.0 : 0.0, 1e-10);
      check_near(dv[2 * q], q == j ? 10.0 : 0.0, 1e-10);
      check_near(dv[2 * q + 1], 0.0, 1e-10);
    }
  }
  close_bed(&b);
}

static void test_ladder(void** state) {
  (void)state;
  check_ladder(1);
  check_ladder(2);
  check_ladder(20);
  check_ladder(60);
}

static int compare_numbers(const void* a, const void* b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

// -1/Re of all eigenvalues, ascending
static void time_constants(const bed* b, double tau[]) {
  double re[MAX_N] = {0}, im[MAX_N] = {0};
  const size_t n = b->linear.n_states;
  check_ok(yoke__eigenvalues(n, b->linear.A, re, im));
  for (size_t i = 0; i < n; i++) {
    tau[i] = -1.0 / re[i];
  }
  qsort(tau, n, sizeof *tau, compare_numbers);
}

static void test_chain(void** state) {
  (void)state;
  bed b = {.network = circuits_chain()};
  double tau[2] = {0};
  b.circuit = circuits_start(b.network, &(yoke_circuit_options){.step = 1e-3});
  make_model(&b, true);
  check_ok(b.status);
  assert_int_equal(b.linear.n_states, 2);
  time_constants(&b, tau);
  check_near(tau[0], 0.122800, 5e-7);
  check_near(tau[1], 0.977200, 5e-7);
  close_bed(&b);
}

// specification 5.4, at the operating point, with the gap's resistance as it is there
static void test_pmsm(void** state) {
  (void)state;
  static const double want[] = {1.707, 6.088, 34.5, 45.9, 46.2, 129.2, 201.6, 204.1, 1446};
  static const double half[] = {5e-4, 5e-4, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.5};
  bed b = {.network = circuits_pmsm(false)};
  double tau[9] = {0};
  b.circuit =
      circuits_start(b.network, &(yoke_circuit_options){.step = 1, .is_operating_point = true});
  make_model(&b, false);
  check_ok(b.status);
  assert_int_equal(b.linear.n_states, 9);
  time_constants(&b, tau);
  for (int i = 0; i < 9; i++) {
    check_near(tau[i], want[i], 1.02 * half[i]);
  }
  close_bed(&b);
}

// windings: -[L] i' = ...
static void test_coupled(void** state) {
  (void)state;
  bed b;
  open_model(&b, "transformer\n.input u=0 V\nV1 a 0 {u}\nR1 a b 2\nL1 b 0 4m\nL2 c 0 1m\n"
                 "K1 L1 L2 0.5\nR2 c 0 3\n.output v(c)\n.end\n");
  // M = 1 mH: det = 4 - 1 = 3e-6
  const double A[] = {-1e-3 * 2 / 3e-6, 1e-3 * 3 / 3e-6, 1e-3 * 2 / 3e-6, -4e-3 * 3 / 3e-6};
  const double B[] = {1e-3 / 3e-6, -1e-3 / 3e-6};
  const double C[] = {0, -3};
  assert_int_equal(b.linear.n_states, 2);
  check_matrix(b.linear.A, A, 4, 1e-12);
  check_matrix(b.linear.B, B, 2, 1e-12);
  check_matrix(b.linear.C, C, 2, 1e-12);
  check_near(b.linear.D[0], 0.0, 1e-12);
  close_bed(&b);
}

// -------------------------------------------------------------------------------------------------
// dependent states

// v(m) = (C1 u + q)/(C1 + C2): the state is not v(m), but v(m) - C1/(C1 + C2) u
static void test_capacitor_loop(void** state) {
  (void)state;
  static const char text[] = "divider\n.input u=2 V\nV1 a 0 {u}\nC1 a m 1u\nC2 m 0 3u\nR1 m 0 1k\n"
                             ".output v(m)\n.output i(r1)\n%s.end\n";
  char line[300];
  bed b;
  snprintf(line, sizeof line, text, "");
  open_model(&b, line);
  assert_int_equal(b.linear.n_states, 1);
  const double rate = -1.0 / (1e3 * 4e-6);
  check_relative(b.linear.A[0], rate, 1e-12);
  // transfer function of v(m): s C1 R / (1 + s (C1 + C2) R), at s = 300
  const double s = 300.0;
  const double gain = b.linear.C[0] * b.linear.B[0] / (s - b.linear.A[0]) + b.linear.D[0];
  check_relative(gain, s * 1e-3 / (1 + s * 4e-3), 1e-12);
  check_relative(b.linear.D[0], 0.25, 1e-12);
  close_bed(&b);

  // the current of a capacitor does need u'
  snprintf(line, sizeof line, text, ".output i(c2) name=charging\n");
  open_text(&b, line, &(yoke_circuit_options){.step = 1e-3});
  make_model(&b, false);
  assert_int_equal(b.status, YOKE_NO_SUPPORT);
  check_contains(b.err, "'charging'");
  check_contains(b.err, "'u'");
  close_bed(&b);

  // and says so through the solver's own function
  open_text(&b, line, &(yoke_circuit_options){.step = 1e-3});
  uint32_t n_states = 0;
  const yoke_probe* outputs[3] = {&b.network->outputs[0], &b.network->outputs[1],
                                  &b.network->outputs[2]};
  assert_int_equal(
      yoke__circuit_linearise(b.circuit, outputs, 3, &n_states, NULL, NULL, NULL, NULL),
      YOKE_NO_SUPPORT);
  check_contains(yoke__circuit_reason(b.circuit)->text, "'charging'");
  check_ok(yoke__circuit_linearise(b.circuit, outputs, 2, &n_states, NULL, NULL, NULL, NULL));
  assert_int_equal(n_states, 1);
  close_bed(&b);
}

// two inductors in series are one state; the node between them divides the voltage
static void test_inductor_cut(void** state) {
  (void)state;
  bed b;
  open_model(&b, "series\n.input u=0 V\nV1 a 0 {u}\nR1 a b 5\nL1 b c 1m\nL2 c 0 3m\n"
                 ".output v(c)\n.output i(l2)\n.end\n");
  assert_int_equal(b.linear.n_states, 1);
  check_relative(b.linear.A[0], -5 / 4e-3, 1e-12);
  check_relative(b.linear.B[0], 1 / 4e-3, 1e-12);
  check_relative(b.linear.C[0], -5 * 0.75, 1e-12);
  check_relative(b.linear.D[0], 0.75, 1e-12);
  check_relative(b.linear.C[1], 1.0, 1e-12);
  close_bed(&b);

  // a current source makes the current known: no state, and its voltage needs u'
  open_model(&b, "forced\n.input u=0 A\nI1 0 a {u}\nL1 a b 1m\nR1 b 0 5\n.output v(b)\n.end\n");
  assert_int_equal(b.linear.n_states, 0);
  check_relative(b.linear.D[0], 5.0, 1e-12);
  close_bed(&b);
}

// a capacitor that nothing discharges, one that is short-circuited, one across a constant source
static void test_odd_capacitors(void** state) {
  (void)state;
  bed b;
  open_model(&b, "odd\n.input u=0 A\nI1 0 a {u}\nC1 a 0 2\nV1 b 0 5\nC2 b 0 1u\nR1 b 0 1k\n"
                 ".output v(a)\n.output i(c2)\n.end\n");
  assert_int_equal(b.linear.n_states, 1);
  check_near(b.linear.A[0], 0.0, 1e-15);
  check_relative(b.linear.B[0], 0.5, 1e-14);
  check_near(b.linear.C[1], 0.0, 1e-14);
  close_bed(&b);
}

// -------------------------------------------------------------------------------------------------
// numeric differentiation: rates of the states by start values and inputs, from the initial
// configuration alone

static double rate_of(const bed* b, uint32_t e, const double xdot[]) {
  const yoke_element* element = &b->network->elements[e];
  return element->kind == YOKE_INDUCTOR ? xdot[b->network->n_nodes + e]
                                        : xdot[element->a] - xdot[element->b];
}

static void rates_and_outputs(bed* b, double rates[], double outputs[]) {
  double* xdot = calloc((size_t)b->network->n_nodes + b->network->n_elements, sizeof *xdot);
  assert_non_null(xdot);
  check_ok(yoke__circuit_start(b->circuit, 0.0, NULL));
  circuits_rates(b->circuit, xdot);
  for (uint32_t i = 0; i < b->linear.n_states; i++) {
    rates[i] = rate_of(b, b->linear.states[i], xdot);
  }
  free(xdot);
  for (uint32_t i = 0; i < b->linear.n_outputs; i++) {
    outputs[i] = yoke__circuit_probe(b->circuit, b->outputs[i]);
  }
}

static void check_column(const double high[], const double low[], double d, const double matrix[],
                         size_t n, size_t n_columns, size_t column, double tolerance) {
  for (size_t i = 0; i < n; i++) {
    const double want = (high[i] - low[i]) / (2 * d);
    check_near(matrix[i * n_columns + column], want, tolerance * (1.0 + fabs(want)));
  }
}

static void check_numeric(const char* text, double tolerance) {
  bed b;
  double high[2][MAX_N] = {{0}}, low[2][MAX_N] = {{0}}, z[MAX_N] = {0};
  open_text(&b, text, &(yoke_circuit_options){.step = 1e-5, .formulation = YOKE_FORMULATION_DAE});
  make_model(&b, false);
  if (b.status < 0) {
    fail_msg("no model: %s", b.err);
  }
  const yoke_circuit_linear* m = &b.linear;
  for (uint32_t i = 0; i < m->n_states; i++) {
    const yoke_element* element = &b.network->elements[m->states[i]];
    z[i] = element->kind == YOKE_INDUCTOR ? yoke__circuit_current(b.circuit, m->states[i])
                                          : yoke__circuit_voltage(b.circuit, element->a) -
                                                yoke__circuit_voltage(b.circuit, element->b);
  }
  for (uint32_t j = 0; j < m->n_states; j++) {
    const double d = 1e-5 * (1.0 + fabs(z[j]));
    check_ok(yoke__circuit_set_start(b.circuit, false, m->states[j], z[j] + d));
    rates_and_outputs(&b, high[0], high[1]);
    check_ok(yoke__circuit_set_start(b.circuit, false, m->states[j], z[j] - d));
    rates_and_outputs(&b, low[0], low[1]);
    check_ok(yoke__circuit_set_start(b.circuit, false, m->states[j], z[j]));
    check_column(high[0], low[0], d, m->A, m->n_states, m->n_states, j, tolerance);
    check_column(high[1], low[1], d, m->C, m->n_outputs, m->n_states, j, tolerance);
  }
  for (uint32_t j = 0; j < m->n_inputs; j++) {
    const double u = m->inputs[j].value, d = 1e-5 * (1.0 + fabs(u));
    yoke__circuit_set_input(b.circuit, j, u + d, 0, 0);
    rates_and_outputs(&b, high[0], high[1]);
    yoke__circuit_set_input(b.circuit, j, u - d, 0, 0);
    rates_and_outputs(&b, low[0], low[1]);
    yoke__circuit_set_input(b.circuit, j, u, 0, 0);
    check_column(high[0], low[0], d, m->B, m->n_states, m->n_inputs, j, tolerance);
    check_column(high[1], low[1], d, m->D, m->n_outputs, m->n_inputs, j, tolerance);
  }
  close_bed(&b);
}

static void test_numeric(void** state) {
  (void)state;
  // a conducting diode, a controlled source, a power
  check_numeric(
      "diode\n.input u=3 V\nV1 a 0 {u}\nR1 a b 10\nD1 b c d\nC1 c 0 1m IC=1.9\nR2 c 0 100\n"
      "L1 c e 10m IC=0.01\nG1 e 0 b c 0.02\nR3 e 0 30\n.model d D(IS=1n N=1.5 RS=0.1)\n"
      ".output v(b)\n.output i(d1)\n.output {p(r2)} name=heat\n.end\n",
      2e-6);
  // values that depend on states and inputs: resistance, capacitance, inductance
  check_numeric("laws\n.input u=3 V\n.input w=0.5\nV1 a 0 {u}\nR1 a b {5+2*v(b)**2+w}\n"
                "C1 b 0 {1m*(1+0.1*v(b))} IC=1.2\nR2 b c 20\nL1 c 0 {10m/(1+i(l1)**2)} IC=0.4\n"
                "R3 c 0 {50+10*w*v(c)}\n.output v(c)\n.output i(r1)\n.end\n",
                2e-6);
  // a thermal network with a resistance of its temperatures
  check_numeric("warm\n.input q=100 W\nheat_source Q1 a {q}\nheat_capacity C1 a 50 J/K T0=350\n"
                "thermal_resistance R1 a b {0.1*(1+0.01*(t(a)-300))}\n"
                "heat_capacity C2 b 200 J/K T0=320\nthermal_resistance R2 b amb 0.5 K/W\n"
                "temperature_source T1 amb 300\n.output t(a)\n.output i(r2)\n.end\n",
                2e-6);
}

// -------------------------------------------------------------------------------------------------
// random networks: exp(A h) against the solver

typedef struct dice {
  uint64_t seed;
} dice;

static double draw(dice* d) {
  d->seed = d->seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(d->seed >> 11) * 0x1p-53;
}

static double between(dice* d, double low, double high) {
  return low * pow(high / low, draw(d));
}

// A chain of nodes with everything across it at random.
static void random_text(uint64_t seed, char* to, size_t size) {
  dice d = {seed * 7919 + 17};
  const int n_nodes = 3 + (int)(draw(&d) * 10);
  size_t n = (size_t)snprintf(to, size,
                              "random\n.input u=1 V\n.input w=0.5 A\nV1 n0 0 {u}\nI1 0 n%d {w}\n"
                              "Rload n%d 0 %.6g\n",
                              n_nodes, n_nodes, between(&d, 1, 100));
  for (int i = 0; i < n_nodes; i++) {
    n +=
        (size_t)snprintf(to + n, size - n, "R%d n%d n%d %.6g\n", i, i, i + 1, between(&d, 0.5, 50));
  }
  for (int i = 0; i < n_nodes; i++) {
    const int a = 1 + (int)(draw(&d) * n_nodes), kind = (int)(draw(&d) * 4);
    const int other = (int)(draw(&d) * (n_nodes + 1));
    char node[16];
    snprintf(node, sizeof node, other == 0 || other == a ? "0" : "n%d", other);
    if (kind == 0) {
      n += (size_t)snprintf(to + n, size - n, "L%d n%d %s %.6g IC=%.6g\n", i, a, node,
                            between(&d, 1e-2, 1), draw(&d) - 0.5);
    } else if (kind == 3) {
      n += (size_t)snprintf(to + n, size - n, "G%d n%d %s n%d 0 %.6g\n", i, a, node,
                            1 + (int)(draw(&d) * n_nodes), between(&d, 1e-3, 2e-2));
    } else {
      // no prescribed voltages: loops of capacitors would contradict them
      n += (size_t)snprintf(to + n, size - n, "C%d n%d %s %.6g\n", i, a, node,
                            between(&d, 1e-3, 1e-1));
    }
  }
  snprintf(to + n, size - n, ".output v(n%d)\n.output v(n1)\n.output i(r0)\n.end\n", n_nodes);
}

// y after t with constant inputs, from the model alone
static void exact_outputs(const yoke_circuit_linear* m, double t, double y[]) {
  const size_t n = m->n_states, k = m->n_inputs, size = n + k + 1;
  double* E = calloc(size * size, sizeof *E);
  double* x = calloc(size, sizeof *x);
  if (E == NULL || x == NULL) {
    free(E);
    free(x);
    fail_msg("out of memory");
    return;
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      E[i * size + j] = t * m->A[i * n + j];
    }
    for (size_t j = 0; j < k; j++) {
      E[i * size + n + j] = t * m->B[i * k + j];
    }
    E[i * size + n + k] = t * m->b[i];
  }
  check_ok(yoke__expm(size, E, E));
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      x[i] += E[i * size + j] * m->x[j];
    }
    for (size_t j = 0; j < k; j++) {
      x[i] += E[i * size + n + j] * m->inputs[j].value;
    }
    x[i] += E[i * size + n + k];
  }
  for (size_t i = 0; i < m->n_outputs; i++) {
    y[i] = m->d[i];
    for (size_t j = 0; j < n; j++) {
      y[i] += m->C[i * n + j] * x[j];
    }
    for (size_t j = 0; j < k; j++) {
      y[i] += m->D[i * k + j] * m->inputs[j].value;
    }
  }
  free(E);
  free(x);
}

static void test_random(void** state) {
  (void)state;
  static char text[8192];
  double worst = 0.0;
  int n_dependent = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    bed b;
    random_text(seed, text, sizeof text);
    open_text(&b, text, &(yoke_circuit_options){.step = 1e-3, .method = YOKE_CIRCUIT_ESDIRK4});
    make_model(&b, true);
    if (b.status < 0) {
      fail_msg("seed %d: %s\n%s", (int)seed, b.err, text);
    }
    uint32_t n_all = 0;
    for (uint32_t e = 0; e < b.network->n_elements; e++) {
      const yoke_element_kind kind = b.network->elements[e].kind;
      n_all += kind == YOKE_CAPACITOR || kind == YOKE_INDUCTOR;
    }
    n_dependent += b.linear.n_states < n_all;
    double y[MAX_OUT] = {0};
    exact_outputs(&b.linear, 0.2, y);
    circuits_steps(b.circuit, 200);
    for (uint32_t i = 0; i < b.linear.n_outputs; i++) {
      const double error = fabs(yoke__circuit_probe(b.circuit, b.outputs[i]) - y[i]);
      worst = fmax(worst, error);
      if (!(error < 2e-6)) {
        fail_msg("seed %d, output %d: %.3g off\n%s", (int)seed, (int)i, error, text);
      }
    }
    close_bed(&b);
  }
  printf("60 random networks, %d of them with dependent states: largest difference %.3g\n",
         n_dependent, worst);
  assert_true(n_dependent >= 5);
}

// -------------------------------------------------------------------------------------------------
// what is no linear circuit

static void check_refused(const char* text, const char* name, int line) {
  yoke_messages messages = {0};
  yoke_network* network = NULL;
  char where[32], all[1000];
  const yoke_netlist_settings settings = {.path = "test.cir"};
  check_ok(yoke__netlist_read_text(text, strlen(text), &settings, &messages, &network));
  assert_int_equal(yoke__circuit_linear_check(network, &messages), YOKE_NO_SUPPORT);
  yoke__messages_format(&messages, all, sizeof all);
  snprintf(where, sizeof where, "test.cir:%d", line);
  check_contains(all, name);
  check_contains(all, where);
  assert_int_equal(messages.n_errors, 1);
  yoke__messages_free(&messages);
  yoke__network_destroy(&network);
}

static void test_refused(void** state) {
  (void)state;
  check_refused("t\nV1 a 0 1\nR1 a b 1\nD1 b 0 d\n.model d D\n.end\n", "'D1'", 4);
  check_refused("t\nV1 a 0 1\nR1 a 0 {1+v(a)**2}\n.end\n", "'R1'", 3);
  check_refused("t\nV1 a 0 1\nR1 a 0 {1+0.1*time}\n.end\n", "'R1'", 3);
  check_refused("t\n.input u=1\nV1 a 0 {u*u}\nR1 a 0 1\n.end\n", "'V1'", 3);
  check_refused("t\n.input u=1\nV1 a 0 {sin(time)+u}\nR1 a 0 1\n.end\n", "'V1'", 3);
  check_refused("t\nV1 a 0 1\nS1 a b a 0 s\nR1 b 0 1\n.model s SW(VT=0.5)\n.end\n", "'S1'", 3);
}

static void test_accepted(void** state) {
  (void)state;
  static const char text[] = "t\n.param g=2\n.input u=1\nV1 a 0 SIN(0 1 50)\nR1 a b {g*3}\n"
                             "B1 c 0 V={2*v(b)-3*u+g**2}\nR2 c b 1\nI1 0 b {u/g}\n.end\n";
  yoke_messages messages = {0};
  yoke_network* network = NULL;
  const yoke_netlist_settings settings = {.path = "test.cir"};
  check_ok(yoke__netlist_read_text(text, strlen(text), &settings, &messages, &network));
  check_ok(yoke__circuit_linear_check(network, &messages));
  assert_int_equal(messages.n_errors, 0);
  yoke__messages_free(&messages);
  yoke__network_destroy(&network);
}

// a network beyond the limit says so
static void test_too_large(void** state) {
  (void)state;
  bed b = {.network = circuits_ladder(800)};
  b.circuit = circuits_start(b.network, &(yoke_circuit_options){.step = 1e-3});
  make_model(&b, true);
  assert_int_equal(b.status, YOKE_NO_SUPPORT);
  check_contains(b.err, "4003 voltages and currents");
  close_bed(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rlc),          cmocka_unit_test(test_ladder),
      cmocka_unit_test(test_chain),        cmocka_unit_test(test_pmsm),
      cmocka_unit_test(test_coupled),      cmocka_unit_test(test_capacitor_loop),
      cmocka_unit_test(test_inductor_cut), cmocka_unit_test(test_odd_capacitors),
      cmocka_unit_test(test_numeric),      cmocka_unit_test(test_random),
      cmocka_unit_test(test_refused),      cmocka_unit_test(test_accepted),
      cmocka_unit_test(test_too_large),
  };
  return cmocka_run_group_tests_name("circuit_linear", tests, NULL, NULL);
}
