// Full coordinates with Newton's method: published errors of the linear benchmarks and the thermal
// ones' starts (CI-05 to CI-10, CI-18, CI-19), orders, L-stability, switches, images,
// sensitivities, no heap.
#include "circuit/circuit_solver.h"
#include "circuit/network/circuit_build.h"
#include "support/check.h"
#include "support/circuits.h"
#include "support/failing_heap.h"

static yoke_circuit_options dae(yoke_circuit_method method, yoke_circuit_startup startup,
                                double h) {
  return (yoke_circuit_options){
      .formulation = YOKE_FORMULATION_DAE, .method = method, .startup = startup, .step = h};
}

static circuits_result run(const circuits_problem* problem, yoke_circuit_method method,
                           yoke_circuit_startup startup, double h) {
  const yoke_circuit_options options = dae(method, startup, h);
  const circuits_result result = circuits_run(problem, &options);
  check_ok(result.status);
  // linear circuits: one iteration, factored before the run
  assert_int_equal(result.counts.max_iterations, 1);
  assert_int_equal(result.counts.n_refactors, 0);
  assert_int_equal(result.counts.n_repivots, 0);
  return result;
}

static void check_errors(circuits_result result, double v, double i, double tolerance) {
  check_relative(result.v, v, tolerance);
  check_relative(result.i, i, tolerance);
}

static void test_rlc_tr_CI_05(void** state) {
  (void)state;
  circuits_problem p = circuits_open(CIRCUITS_RLC, 0);
  check_errors(run(&p, YOKE_CIRCUIT_TR, YOKE_STARTUP_TR_XI, 2.5e-3), 2.503e-4, 3.781e-4, 0.01);
  check_errors(run(&p, YOKE_CIRCUIT_TRNP, YOKE_STARTUP_TR_XI, 2.5e-3), 2.503e-4, 3.781e-4, 0.01);
  // alpha >= 1e6; a smaller one shows (table of 2.4)
  yoke_circuit_options options = dae(YOKE_CIRCUIT_TR, YOKE_STARTUP_TR_XI, 2.5e-3);
  options.projection = YOKE_PROJECTION_PENALTY;
  static const double alphas[] = {1e6, 1e9, 1e12};
  for (int i = 0; i < 3; i++) {
    options.alpha = alphas[i];
    check_errors(circuits_run(&p, &options), 2.503e-4, 3.781e-4, 0.01);
  }
  options.alpha = 1e4;
  check_errors(circuits_run(&p, &options), 2.49e-4, 3.71e-4, 0.01);
  circuits_close(&p);
}

static void test_rlc_bdf_CI_06_CI_07(void** state) {
  (void)state;
  circuits_problem p = circuits_open(CIRCUITS_RLC, 0);
  const double h = 2.5e-3;
  check_errors(run(&p, YOKE_CIRCUIT_BDF2, YOKE_STARTUP_CONST, h), 8.423e-4, 7.566e-4, 0.01);
  check_errors(run(&p, YOKE_CIRCUIT_BDF3, YOKE_STARTUP_CONST, h), 1.422e-4, 3.284e-4, 0.01);
  check_errors(run(&p, YOKE_CIRCUIT_BDF2, YOKE_STARTUP_TR_XI, h), 9.982e-4, 1.509e-3, 0.01);
  check_errors(run(&p, YOKE_CIRCUIT_BDF3, YOKE_STARTUP_TR_XI, h), 4.793e-5, 3.158e-5, 0.01);
  circuits_close(&p);
}

static void test_rlc_order_CI_08(void** state) {
  (void)state;
  static const struct {
    yoke_circuit_method method;
    double h, low, high;
  } rows[] = {{YOKE_CIRCUIT_BDF1, 2.5e-3, 0.9, 1.1},     {YOKE_CIRCUIT_TR, 2.5e-3, 1.95, 2.05},
              {YOKE_CIRCUIT_BDF2, 2.5e-3, 1.95, 2.05},   {YOKE_CIRCUIT_BDF3, 2.5e-3, 2.9, 3.1},
              {YOKE_CIRCUIT_TRBDF2, 2.5e-3, 1.95, 2.05}, {YOKE_CIRCUIT_ESDIRK3, 2.5e-3, 2.9, 3.1},
              {YOKE_CIRCUIT_ESDIRK4, 5e-3, 3.9, 4.1}};
  circuits_problem p = circuits_open(CIRCUITS_RLC, 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const circuits_result coarse = run(&p, rows[i].method, YOKE_STARTUP_TR_XI, rows[i].h);
    const circuits_result fine = run(&p, rows[i].method, YOKE_STARTUP_TR_XI, rows[i].h / 2);
    print_message("%s: %.2e -> %.2e V, orders %.3f (V), %.3f (I)\n",
                  yoke__circuit_method_names[rows[i].method], coarse.v, fine.v,
                  log2(coarse.v / fine.v), log2(coarse.i / fine.i));
    check_between(log2(coarse.v / fine.v), rows[i].low, rows[i].high);
    check_between(log2(coarse.i / fine.i), rows[i].low, rows[i].high);
  }
  circuits_close(&p);
}

static void test_ladder_CI_09(void** state) {
  (void)state;
  circuits_problem p = circuits_open(CIRCUITS_LADDER, 2);
  check_errors(run(&p, YOKE_CIRCUIT_TR, YOKE_STARTUP_TR_XI, 2.5e-3), 4.08e-4, 9.42e-4, 0.02);
  check_errors(run(&p, YOKE_CIRCUIT_BDF2, YOKE_STARTUP_CONST, 1e-3), 1.353e-4, 6.00e-4, 0.02);
  check_errors(run(&p, YOKE_CIRCUIT_BDF3, YOKE_STARTUP_CONST, 2.5e-3), 3.769e-4, 5.372e-4, 0.02);
  circuits_close(&p);
}

// the sum of currents at the node where all loops meet their resistors
static double kcl_residual(const yoke_circuit* circuit, const yoke_network* network) {
  double* sums = calloc(network->n_nodes, sizeof *sums);
  assert_non_null(sums);
  for (uint32_t e = 0; e < network->n_elements; e++) {
    sums[network->elements[e].a] -= yoke__circuit_current(circuit, e);
    sums[network->elements[e].b] += yoke__circuit_current(circuit, e);
  }
  double sum = 0;
  for (uint32_t v = 1; v < network->n_nodes; v++) {
    sum += sums[v] * sums[v];
  }
  free(sums);
  return sqrt(sum);
}

// N = 5000 is in test_circuit_published_slow.c
static void test_large_ladders_CI_10(void** state) {
  (void)state;
  static const uint32_t loops[] = {100, 1000};
  for (int i = 0; i < 2; i++) {
    yoke_network* network = circuits_ladder(loops[i]);
    const yoke_circuit_options options = dae(YOKE_CIRCUIT_TR, YOKE_STARTUP_TR_XI, 2.5e-3);
    yoke_circuit* circuit = circuits_start(network, &options);
    circuits_steps(circuit, 400);
    check_near(circuits_voltage(circuit, network, "4"), -1.711763778, 1e-6);
    check_near(circuits_current(circuit, network, "L1"), -3.872353463, 1e-6);
    check_between(kcl_residual(circuit, network), 0, 1e-8);
    yoke__circuit_destroy(&circuit);
    yoke__network_destroy(&network);
  }
}

static double pmsm_copper(yoke_circuit_startup startup) {
  yoke_network* network = circuits_pmsm(true);
  const yoke_circuit_options options = dae(YOKE_CIRCUIT_BDF3, startup, 1);
  yoke_circuit* circuit = circuits_start(network, &options);
  circuits_steps(circuit, 20);
  const double T = circuits_voltage(circuit, network, "9");
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
  return T;
}

static void test_pmsm_startup_CI_18(void** state) {
  (void)state;
  check_near(pmsm_copper(YOKE_STARTUP_TR_XI), 320.358492, 5e-4);
  check_near(pmsm_copper(YOKE_STARTUP_CONST) - 320.358492, -0.495, 0.01);
}

static void test_chain_CI_19(void** state) {
  (void)state;
  static const struct {
    uint64_t step;
    double T2, T3;
  } points[] = {{100, 307.694084, 301.473896},
                {500, 324.154816, 309.641576},
                {1000, 334.586541, 317.744518},
                {5000, 349.742887, 329.795509}};
  yoke_network* network = circuits_chain();
  const yoke_circuit_options options = dae(YOKE_CIRCUIT_TR, YOKE_STARTUP_TR_XI, 1e-3);
  yoke_circuit* circuit = circuits_start(network, &options);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    circuits_steps(circuit, points[i].step - circuits_step_number(circuit));
    check_near(300 + circuits_voltage(circuit, network, "2"), points[i].T2, 1e-4);
    check_near(300 + circuits_voltage(circuit, network, "3"), points[i].T3, 1e-4);
    check_near(300 + circuits_voltage(circuit, network, "1"), points[i].T2 + 10, 1e-4);
  }
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
}

// ------------------------------------------------------------------------------------------
// higher order and stiffness

// a diode that always conducts, an inductor, and a capacitor a million times faster than the source
static yoke_network* stiff_network(void) {
  const yoke_junction_model model = {
      .is = 1e-12, .n = 1, .bv = (double)INFINITY, .ibv = 1e-3, .vt = 0.025852};
  const yoke_place nowhere = {NULL, 0, 0};
  yoke_network* network = NULL;
  check_ok(yoke__network_create("stiff", &network));
  circuits_add_sine(network, YOKE_VOLTAGE, "E1", "1", "0", 5, 3, 1);
  circuits_add_constant(network, YOKE_RESISTOR, "R1", "1", "2", 10);
  circuits_add_constant(network, YOKE_INDUCTOR, "L1", "2", "3", 1);
  const uint32_t n3 = yoke__network_find_node(network, "3");
  const uint32_t n4 = yoke__network_node(network, "4", YOKE_ELECTRIC, nowhere);
  yoke__network_add_diode(network, "D1", n3, n4, &model, 0, nowhere);
  circuits_add_constant(network, YOKE_RESISTOR, "R2", "4", "0", 1);
  circuits_add_constant(network, YOKE_CAPACITOR, "C1", "4", "0", 1e-7);
  return network;
}

static double stiff_error(const yoke_network* network, yoke_circuit_method method, unsigned n,
                          double reference) {
  const yoke_circuit_options options = {.formulation = YOKE_FORMULATION_DAE,
                                        .method = method,
                                        .step = 1.0 / n,
                                        .tolerance = 1e-13,
                                        .is_operating_point = true};
  yoke_circuit* circuit = circuits_start(network, &options);
  circuits_steps(circuit, n);
  const double i = circuits_current(circuit, network, "D1");
  yoke__circuit_destroy(&circuit);
  return fabs(i - reference);
}

static void test_order_on_a_stiff_diode_circuit(void** state) {
  (void)state;
  static const struct {
    yoke_circuit_method method;
    int order;
  } rows[] = {{YOKE_CIRCUIT_TRBDF2, 2}, {YOKE_CIRCUIT_ESDIRK3, 3}, {YOKE_CIRCUIT_ESDIRK4, 4}};
  yoke_network* network = stiff_network();
  const double reference = stiff_error(network, YOKE_CIRCUIT_ESDIRK4, 8192, 0);
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    double coarse = stiff_error(network, rows[r].method, 64, reference);
    for (unsigned n = 128; n <= 256; n *= 2) {
      const double fine = stiff_error(network, rows[r].method, n, reference);
      print_message("%s n = %u: %.2e, order %.2f\n", yoke__circuit_method_names[rows[r].method], n,
                    fine, log2(coarse / fine));
      check_near(log2(coarse / fine), rows[r].order, 0.25);
      coarse = fine;
    }
  }
  yoke__network_destroy(&network);
}

// V' = lambda V with h lambda = -1e8: gone after one step, where the trapezoidal rule turns the
// sign
static void test_stiff_decay_L_stability(void** state) {
  (void)state;
  static const yoke_circuit_method methods[] = {YOKE_CIRCUIT_TRBDF2, YOKE_CIRCUIT_ESDIRK3,
                                                YOKE_CIRCUIT_ESDIRK4, YOKE_CIRCUIT_BDF1};
  yoke_network* network = NULL;
  check_ok(yoke__network_create("decay", &network));
  circuits_add_constant(network, YOKE_RESISTOR, "R1", "1", "0", 1);
  const uint32_t c = circuits_add_constant(network, YOKE_CAPACITOR, "C1", "1", "0", 1e-8);
  network->elements[c].start = 1;
  network->elements[c].has_start = true;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    const yoke_circuit_options options = dae(methods[i], YOKE_STARTUP_CONST, 1);
    yoke_circuit* circuit = circuits_start(network, &options);
    circuits_steps(circuit, 1);
    const double v = circuits_voltage(circuit, network, "1");
    print_message("%s: %.2e after one step\n", yoke__circuit_method_names[methods[i]], v);
    check_between(fabs(v), 0, 1e-7);
    yoke__circuit_destroy(&circuit);
  }
  const yoke_circuit_options options = dae(YOKE_CIRCUIT_TRNP, YOKE_STARTUP_CONST, 1);
  yoke_circuit* circuit = circuits_start(network, &options);
  circuits_steps(circuit, 1);
  check_near(circuits_voltage(circuit, network, "1"), -1, 1e-6);
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
}

// ------------------------------------------------------------------------------------------
// coupled inductors, switches, inputs

// A step into a transformer, L1 = L2 = L, R on both sides: the sum and the difference of the
// currents are first-order with (L + M)/R and (L - M)/R.
static void test_transformer(void** state) {
  (void)state;
  const double L = 0.1, k = 0.6, R = 2, E = 10;
  yoke_network* network = NULL;
  check_ok(yoke__network_create("transformer", &network));
  circuits_add_constant(network, YOKE_VOLTAGE, "E1", "1", "0", E);
  circuits_add_constant(network, YOKE_RESISTOR, "R1", "1", "2", R);
  circuits_add_constant(network, YOKE_RESISTOR, "R2", "3", "0", R);
  const uint32_t l1 = circuits_add_constant(network, YOKE_INDUCTOR, "L1", "2", "0", L);
  const uint32_t l2 = circuits_add_constant(network, YOKE_INDUCTOR, "L2", "3", "0", L);
  yoke__network_add_mutual(network, &(yoke_mutual){.name = "K1", .l1 = l1, .l2 = l2, .k = k});
  const yoke_circuit_options options = dae(YOKE_CIRCUIT_ESDIRK4, YOKE_STARTUP_TR_XI, 5e-4);
  yoke_circuit* circuit = circuits_start(network, &options);
  circuits_steps(circuit, 100);
  const double t = 0.05;
  const double sum = E / R * (1 - exp(-R * t / (L * (1 + k))));
  const double difference = E / R * (1 - exp(-R * t / (L * (1 - k))));
  check_near(yoke__circuit_current(circuit, l1), (sum + difference) / 2, 1e-9);
  check_near(yoke__circuit_current(circuit, l2), (sum - difference) / 2, 1e-9);
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
}

// closes at 50 ms, opens at 100 ms onto a resistor: exponentials after each
static yoke_network* switched_network(void) {
  static const yoke_switch_model model = {.r_on = 0.5, .r_off = 1e6};
  yoke_network* network = NULL;
  check_ok(yoke__network_create("switched", &network));
  circuits_add_constant(network, YOKE_VOLTAGE, "E1", "1", "0", 10);
  const uint32_t s = circuits_add_constant(network, YOKE_SWITCH, "S1", "1", "2", 0);
  network->elements[s].switching = &model;
  network->elements[s].condition = circuits_law(network, "t 0.0495 - 0.0995 t - *");
  circuits_add_constant(network, YOKE_RESISTOR, "R1", "2", "0", 4);
  circuits_add_constant(network, YOKE_INDUCTOR, "L1", "2", "3", 0.1);
  circuits_add_constant(network, YOKE_RESISTOR, "R2", "3", "0", 1);
  return network;
}

static double switched_current(double t) {
  // seen from the inductor: E' and R' of the divider while closed, R1 beside R_off while open
  const double closed_E = 10 * 4 / 4.5, closed_R = 0.5 * 4 / 4.5 + 1;
  const double open_E = 10 * 4 / (1e6 + 4), open_R = 1e6 * 4 / (1e6 + 4) + 1;
  const double i0 = open_E / open_R * (1 - exp(-open_R * 0.05 / 0.1));
  const double i1 = closed_E / closed_R;
  const double at_100 = i1 + (i0 - i1) * exp(-closed_R * 0.05 / 0.1);
  const double i2 = open_E / open_R;
  return t <= 0.1 ? i1 + (i0 - i1) * exp(-closed_R * (t - 0.05) / 0.1)
                  : i2 + (at_100 - i2) * exp(-open_R * (t - 0.1) / 0.1);
}

static void test_switches(void** state) {
  (void)state;
  static const struct {
    yoke_circuit_method method;
    // order 2 and 4 of the exponentials; BDF2 carries its history over the events: h/2 times the
    // jump of the slope, which is 200 A/s at the second
    double tolerance;
  } rows[] = {{YOKE_CIRCUIT_TRBDF2, 2e-4},
              {YOKE_CIRCUIT_TR, 2e-3},
              {YOKE_CIRCUIT_ESDIRK4, 1e-7},
              {YOKE_CIRCUIT_BDF2, 0.1}};
  yoke_network* network = switched_network();
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    const yoke_circuit_options options = dae(rows[r].method, YOKE_STARTUP_TR_XI, 1e-3);
    yoke_circuit* circuit = circuits_start(network, &options);
    double most = 0;
    for (int k = 1; k <= 200; k++) {
      circuits_steps(circuit, 1);
      if (k >= 55) {
        const double error =
            fabs(circuits_current(circuit, network, "L1") - switched_current(k * 1e-3));
        most = fmax(most, error);
      }
    }
    yoke_circuit_counts counts;
    yoke__circuit_get_counts(circuit, &counts);
    print_message("%s: %.2e A, %u switchings\n", yoke__circuit_method_names[rows[r].method], most,
                  (unsigned)counts.n_switchings);
    assert_int_equal(counts.n_switchings, 2);
    check_between(most, 0, rows[r].tolerance);
    yoke__circuit_destroy(&circuit);
  }
  yoke__network_destroy(&network);
}

// source u, 3 Ohm, 1 H, 2 Ohm
static yoke_network* driven_network(void) {
  yoke_network* network = NULL;
  check_ok(yoke__network_create("driven", &network));
  yoke__network_add_input(network, &(yoke_circuit_input){.name = "u", .dim = "V", .start = 1});
  const uint32_t e = circuits_add_constant(network, YOKE_VOLTAGE, "E1", "1", "0", 0);
  network->elements[e].value = (yoke_circuit_value){.law = circuits_law(network, "u0")};
  circuits_add_constant(network, YOKE_RESISTOR, "R1", "1", "2", 3);
  circuits_add_constant(network, YOKE_INDUCTOR, "L1", "2", "0", 1);
  circuits_add_constant(network, YOKE_RESISTOR, "R2", "2", "0", 2);
  return network;
}

static void test_refresh_and_sensitivity(void** state) {
  (void)state;
  yoke_network* network = driven_network();
  const yoke_circuit_options options = dae(YOKE_CIRCUIT_BDF1, YOKE_STARTUP_CONST, 1e-2);
  yoke_circuit* circuit = circuits_start(network, &options);
  circuits_steps(circuit, 10);
  const double i = circuits_current(circuit, network, "L1");
  // the inductor holds its current, the rest follows the input
  yoke__circuit_set_input(circuit, 0, 7, 0, 0);
  check_ok(yoke__circuit_refresh(circuit));
  assert_true(circuits_current(circuit, network, "L1") == i);
  check_near(circuits_voltage(circuit, network, "1"), 7, 1e-12);
  check_near(circuits_voltage(circuit, network, "2"), (7.0 / 3 - i) / (1.0 / 3 + 0.5), 1e-12);

  // d/du of one step, against two runs from one image
  const yoke_probe probe = {.kind = YOKE_PROBE_CURRENT,
                            .index = yoke__network_find_element(network, "L1")};
  const yoke_probe* const probes[] = {&probe};
  void* image = malloc(yoke__circuit_image_size(circuit));
  assert_non_null(image);
  yoke__circuit_save(circuit, image);
  circuits_steps(circuit, 1);
  double slope = 0;
  check_ok(yoke__circuit_sensitivity(circuit, 0, probes, 1, &slope));
  const double base = circuits_current(circuit, network, "L1");
  yoke__circuit_restore(circuit, image);
  yoke__circuit_set_input(circuit, 0, 7.5, 0, 0);
  circuits_steps(circuit, 1);
  check_near((circuits_current(circuit, network, "L1") - base) / 0.5, slope, 1e-12);
  assert_true(slope > 1e-3);
  free(image);
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
}

// ------------------------------------------------------------------------------------------
// images, modes, heap

static void check_same_bits(yoke_circuit* a, const yoke_circuit* b, const yoke_network* network) {
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    assert_true(yoke__circuit_voltage(a, v) == yoke__circuit_voltage(b, v));
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    assert_true(yoke__circuit_current(a, e) == yoke__circuit_current(b, e));
  }
}

// the same bits after a restore, in the same circuit and in a new one
static void test_images(void** state) {
  (void)state;
  yoke_network* networks[] = {circuits_rlc(), circuits_rectifier(), switched_network()};
  static const double steps[] = {2.5e-3, 5e-4, 1e-3};
  for (size_t i = 0; i < 3; i++) {
    for (int m = 0; m < YOKE_CIRCUIT_EULER; m++) {
      const yoke_circuit_options options =
          dae((yoke_circuit_method)m, YOKE_STARTUP_TR_XI, steps[i]);
      yoke_circuit* a = circuits_start(networks[i], &options);
      yoke_circuit* b = circuits_start(networks[i], &options);
      void* image = malloc(yoke__circuit_image_size(a));
      assert_non_null(image);
      circuits_steps(a, 70);
      yoke__circuit_save(a, image);
      circuits_steps(a, 60);
      yoke__circuit_restore(b, image);
      circuits_steps(b, 60);
      check_same_bits(a, b, networks[i]);
      yoke__circuit_restore(a, image);
      circuits_steps(a, 60);
      check_same_bits(a, b, networks[i]);
      free(image);
      yoke__circuit_destroy(&a);
      yoke__circuit_destroy(&b);
    }
    yoke__network_destroy(&networks[i]);
  }
}

// factoring in every iteration and iterating twice change nothing but the cost
static void test_modes_agree(void** state) {
  (void)state;
  circuits_problem p = circuits_open(CIRCUITS_RLC, 0);
  const circuits_result plain = run(&p, YOKE_CIRCUIT_BDF3, YOKE_STARTUP_TR_XI, 2.5e-3);
  yoke_circuit_options options = dae(YOKE_CIRCUIT_BDF3, YOKE_STARTUP_TR_XI, 2.5e-3);
  options.is_refactored = true;
  options.iterations = 2;
  const circuits_result often = circuits_run(&p, &options);
  check_relative(often.v, plain.v, 1e-7);
  assert_int_equal(often.counts.n_iterations, 2 * 4000);
  assert_int_equal(often.counts.n_refactors, 2 * 4000);
  // the three ways to project
  static const yoke_circuit_projection kinds[] = {YOKE_PROJECTION_AUTO, YOKE_PROJECTION_PENALTY,
                                                  YOKE_PROJECTION_OFF};
  for (int i = 0; i < 3; i++) {
    options = dae(YOKE_CIRCUIT_TR, YOKE_STARTUP_TR_XI, 2.5e-3);
    options.projection = kinds[i];
    check_errors(circuits_run(&p, &options), 2.503e-4, 3.781e-4, 0.01);
  }
  circuits_close(&p);
  p = circuits_open(CIRCUITS_LADDER, 2);
  options.projection = YOKE_PROJECTION_DIRECT;
  check_errors(circuits_run(&p, &options), 4.08e-4, 9.42e-4, 0.02);
  circuits_close(&p);
}

// the direct projection says what it cannot do
static void test_direct_projection_of_a_singular_matrix(void** state) {
  (void)state;
  yoke_network* network = circuits_rlc();
  yoke_circuit_options options = dae(YOKE_CIRCUIT_TR, YOKE_STARTUP_TR_XI, 2.5e-3);
  options.projection = YOKE_PROJECTION_DIRECT;
  yoke_messages messages = {0};
  yoke_circuit* circuit = NULL;
  check_ok(yoke__circuit_create(network, &options, &messages, &circuit));
  assert_int_equal(yoke__circuit_start(circuit, 0, &messages), YOKE_SINGULAR);
  yoke__messages_free(&messages);
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
}

static void test_no_heap_in_steps(void** state) {
  (void)state;
#if HAS_OWN_MALLOC
  yoke_network* networks[] = {circuits_rlc(), circuits_rectifier(), switched_network(),
                              circuits_pmsm(true)};
  static const double steps[] = {2.5e-3, 5e-4, 1e-3, 1};
  for (size_t i = 0; i < 4; i++) {
    for (int m = 0; m < YOKE_CIRCUIT_EULER; m++) {
      const yoke_circuit_options options =
          dae((yoke_circuit_method)m, YOKE_STARTUP_TR_XI, steps[i]);
      yoke_circuit* circuit = circuits_start(networks[i], &options);
      heap = (failing_heap){.is_on = true, .fails_at = -1};
      yoke_status status = YOKE_OK;
      for (int k = 0; k < 400 && status >= 0; k++) {
        status = yoke__circuit_step(circuit);
      }
      heap.is_on = false;
      check_ok(status);
      assert_int_equal(heap.n_requests, 0);
      yoke__circuit_destroy(&circuit);
    }
    yoke__network_destroy(&networks[i]);
  }
#else
  skip();
#endif
}

// the stages of a step are measured on request
static void test_costs(void** state) {
  (void)state;
  yoke_network* network = circuits_rectifier();
  const yoke_circuit_options options = dae(YOKE_CIRCUIT_TR, YOKE_STARTUP_TR_XI, 1e-4);
  yoke_circuit* circuit = circuits_start(network, &options);
  double ns[YOKE_COST_N];
  circuits_steps(circuit, 10);
  yoke__circuit_get_costs(circuit, ns);
  for (int i = 0; i < YOKE_COST_N; i++) {
    assert_true(ns[i] == 0);
  }
  yoke__circuit_measure(circuit, true);
  circuits_steps(circuit, 100);
  yoke__circuit_get_costs(circuit, ns);
  for (int i = 0; i < YOKE_COST_N; i++) {
    assert_true(ns[i] > 0);
  }
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rlc_tr_CI_05),
      cmocka_unit_test(test_rlc_bdf_CI_06_CI_07),
      cmocka_unit_test(test_rlc_order_CI_08),
      cmocka_unit_test(test_ladder_CI_09),
      cmocka_unit_test(test_large_ladders_CI_10),
      cmocka_unit_test(test_pmsm_startup_CI_18),
      cmocka_unit_test(test_chain_CI_19),
      cmocka_unit_test(test_order_on_a_stiff_diode_circuit),
      cmocka_unit_test(test_stiff_decay_L_stability),
      cmocka_unit_test(test_transformer),
      cmocka_unit_test(test_switches),
      cmocka_unit_test(test_refresh_and_sensitivity),
      cmocka_unit_test(test_images),
      cmocka_unit_test(test_modes_agree),
      cmocka_unit_test(test_direct_projection_of_a_singular_matrix),
      cmocka_unit_test(test_no_heap_in_steps),
      cmocka_unit_test(test_costs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
