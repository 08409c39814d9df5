// Thermal words, inputs and outputs, electric losses that heat a thermal network, and benchmark
// pmsm as a netlist.
#include "test_circuit_netlist.h"

static void test_words(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\n"
                ".param c0=2000\n"
                "thermal_resistance R1 case sink 0.5 K/W\n"
                "THERMAL_RESISTANCE R2 case sink 500m\n"
                "thermal_resistance R3 case sink 0.5K/W\n"
                "thermal_conductance G1 case sink 4 W/K\n"
                "thermal_conductance G2 case sink 4mW/K\n"
                "heat_capacity C1 case 2 kJ/K T0=20 degC\n"
                "heat_capacity C2 case {c0} J/K T0=300\n"
                "heat_capacity C3 case 2k\n"
                "heat_source Q1 case 1.5 kW\n"
                "heat_source Q2 case SIN(0 10 1)\n"
                "heat_source Q3 case {5*time}\n"
                "temperature_source amb sink 25degC\n"
                "temperature_source wave other PWL(0 300 1 400)\n"
                "thermal_resistance R4 other case 1\n"
                "temperature_source kelvin third 300K\n"
                "thermal_resistance R5 third case 1\n"
                ".ic t(case)=30degC\n");
  check_near(value_of(&r, "r1"), 0.5, 0.0);
  check_near(value_of(&r, "r2"), 0.5, 0.0);
  check_near(value_of(&r, "r3"), 0.5, 0.0);
  check_near(value_of(&r, "g1"), 0.25, 0.0);
  check_near(value_of(&r, "g2"), 250.0, 1e-12);
  check_near(value_of(&r, "c1"), 2000.0, 0.0);
  check_near(element_of(&r, "c1")->start, 293.15, 1e-12);
  check_near(value_of(&r, "c2"), 2000.0, 0.0);
  check_near(element_of(&r, "c2")->start, 300.0, 0.0);
  check_near(value_of(&r, "c3"), 2000.0, 0.0);
  assert_false(element_of(&r, "c3")->has_start);
  check_near(value_of(&r, "q1"), 1500.0, 0.0);
  check_nodes(&r, "c1", "case", "0");
  check_nodes(&r, "q1", "0", "case");  // into the node
  assert_int_equal(element_of(&r, "q2")->value.wave->kind, YOKE_WAVE_SIN);
  assert_int_equal(element_of(&r, "q3")->value.law->n_live, 1);
  assert_int_equal(element_of(&r, "r1")->domain, YOKE_THERMAL);
  assert_int_equal(node_of(&r, "case")->domain, YOKE_THERMAL);
  check_near(node_of(&r, "case")->start, 303.15, 1e-12);
  assert_true(node_of(&r, "sink")->is_fixed);
  assert_string_equal(node_of(&r, "sink")->fixed_name, "amb");
  check_near(node_of(&r, "sink")->fixed.constant, 298.15, 1e-12);
  check_near(node_of(&r, "third")->fixed.constant, 300.0, 0.0);
  check_near(yoke__wave_value(node_of(&r, "other")->fixed.wave, 0.5), 350.0, 1e-12);
  free_reading(&r);
}

// A constant is a resistance; 0 and laws, which may become 0, are heat flows.
static void test_conductances(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\n.input g=2\nheat_capacity C1 a 1 T0=300\ntemperature_source T1 b 400\n"
                "thermal_conductance G1 a b 4 mW/K\nthermal_conductance G2 a b 0\n"
                "thermal_conductance G3 a b {g} kW/K\nthermal_conductance G4 a b {2*t(a)} mW/K\n");
  assert_string_equal(r.text, "");
  assert_int_equal(element_of(&r, "g1")->kind, YOKE_RESISTOR);
  check_relative(value_of(&r, "g1"), 250.0, 1e-15);
  assert_int_equal(element_of(&r, "g2")->kind, YOKE_CURRENT);
  check_near(value_of(&r, "g2"), 0.0, 0.0);
  const double live[] = {2.0};
  static const char* const laws[] = {"g3", "g4"};
  static const double values[] = {2000.0, 4e-3};
  for (size_t i = 0; i < 2; i++) {
    const yoke_element* element = element_of(&r, laws[i]);
    assert_true(yoke__element_is_conductance(element));
    check_relative(yoke__expression_evaluate(element->value.law, live, NULL), values[i], 1e-15);
  }
  free_reading(&r);
}

static void test_wrong_dimensions(void** state) {
  (void)state;
  const struct {
    const char *line, *message;
  } cases[] = {
      {"thermal_resistance R1 a b 1 W/K", "R1: 'W/K' does not fit, expected K/W"},
      {"thermal_resistance R1 a b 1Ohm", "R1: 'Ohm' does not fit, expected K/W"},
      {"thermal_conductance R1 a b 1 K/W", "expected W/K"},
      {"thermal_conductance R1 a b 0", "only current sources ('R1') join node"},
      {"heat_capacity C1 a 5 J", "expected J/K"},
      {"heat_capacity C1 a 5 T0=20V", "'V' does not fit, expected K"},
      {"heat_capacity C1 a 5 T1=20", "unknown parameter 'T1', expected T0"},
      {"heat_capacity C1 0 5", "node 0 is the reference"},
      {"heat_source Q1 a 5 K", "expected W"},
      {"temperature_source T1 a 5 W", "expected K"},
      {"temperature_source T1 a {t(b)}", "may depend on time and inputs only"},
      {"temperature_source T1 a", "a value is missing"},
      {"thermal_resistance R1 a", "expected 'R1 node node value'"},
      {"heat_source", "expected 'heat_source NAME NODE VALUE'"},
      {"heat_source Q1", "expected a node and a value behind the name"},
      {"heat_sauce Q1 a 5", "unknown element 'heat_sauce'; did you mean 'heat_source'?"},
      {"R1 b 0 5", "is electric here, but thermal"},
      {"heat_source Q1 b {p(R9)}", "a heat flow is a power already"},
      {"heat_source Q1 b {i(amb)}", "the heat flow of a temperature source can be recorded"},
      {"temperature_source amb b 5", "was used before"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[400];
    reading r;
    snprintf(text, sizeof text,
             "t\nthermal_resistance R9 b amb_node 1\ntemperature_source amb amb_node 300\n%s\n",
             cases[i].line);
    read_netlist(&r, text);
    if (r.status != YOKE_BAD_INPUT || strstr(r.text, cases[i].message) == NULL) {
      fail_msg("'%s': status %d, expected '%s', found:\n%s", cases[i].line, r.status,
               cases[i].message, r.text);
    }
    check_contains(r.text, "x.cir:4: error: ");
    free_reading(&r);
  }
}

static double rule(const yoke_live* live, void* self) {
  (void)self;
  return live->kind == YOKE_LIVE_CURRENT ? 3.0
         : live->kind == YOKE_LIVE_INPUT ? 7.0
                                         : (double)live->index;
}

// losses of an electric circuit heat a thermal network, which changes the resistance
static void test_losses_heat(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\n"
                "V1 1 0 10\n"
                "R1 1 0 {10*(1+0.004*(t(case)-300))}\n"
                "*yoke heat_source Q1 case {p(r1)}\n"
                "*yoke heat_capacity C1 case 5\n"
                "*yoke thermal_resistance Rt case amb 2\n"
                "*yoke temperature_source Ta amb 300\n");
  const yoke_expression* heat = element_of(&r, "q1")->value.law;
  // (v(1) - 0) i(r1) with v = index of the node
  const uint32_t node = yoke__network_find_node(r.network, "1");
  check_near(evaluate_law(heat, rule, NULL), 3.0 * node, 0.0);
  assert_true(yoke__expression_has_state(element_of(&r, "r1")->value.law));
  free_reading(&r);
}

static void test_inputs(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\n"
                ".param speed=100 double={2*speed}\n"
                ".input speed dim=rad/s\n"
                ".input load=5 A\n"
                ".input V1 R1 Qe\n"
                ".input Ta=310\n"
                ".input free=1 [V] other=2\n"
                "V1 1 0 12\n"
                "R1 1 0 4\n"
                "I1 1 0 {load}\n"
                "R2 1 0 {double}\n"
                "R3 1 0 {1+free*other+V1}\n"
                "heat_source Qe case 150\n"
                "thermal_resistance Rt case amb 2\n"
                "temperature_source Ta amb 300\n");
  const struct {
    const char *name, *dim;
    double start;
  } want[] = {{"speed", "rad/s", 100}, {"load", "A", 5}, {"V1", "V", 12},  {"R1", "Ohm", 4},
              {"Qe", "W", 150},        {"Ta", "K", 310}, {"free", "V", 1}, {"other", "", 2}};
  assert_int_equal(r.network->n_inputs, 8);
  for (uint32_t i = 0; i < 8; i++) {
    assert_string_equal(r.network->inputs[i].name, want[i].name);
    assert_string_equal(r.network->inputs[i].dim, want[i].dim);
    check_near(r.network->inputs[i].start, want[i].start, 0.0);
  }
  assert_int_equal(element_of(&r, "v1")->value.law->live[0].index, 2);
  assert_int_equal(node_of(&r, "amb")->fixed.law->live[0].index, 5);
  check_near(evaluate_law(element_of(&r, "r2")->value.law, rule, NULL), 14.0, 0.0);
  assert_int_equal(element_of(&r, "r3")->value.law->n_live, 3);
  free_reading(&r);
}

static void test_wrong_inputs_and_outputs(void** state) {
  (void)state;
  const struct {
    const char *line, *message;
  } cases[] = {
      {".input", "expected '.input NAME=default [dim]'"},
      {".input nobody", "'nobody' is no parameter and no element"},
      {".input x=1 x=2", "the input 'x' is named twice"},
      {".input x=1 furlong", "'furlong' is no dimension"},
      {".input x={time}", "must be constant"},
      {".input D1", "has no value that could be an input"},
      {".input Vs", "is not constant; give a default"},
      {".output", "expected '.output"},
      {".output {v(1)}", "an expression needs a name"},
      {".output v(nobody)", "there is no node 'nobody'"},
      {".output v(1) v(1)", "the output 'v(1)' is named twice"},
      {".output v(1) nam=x", "expected 'name=' or 'dim='"},
      {".output vdb(1)", "is not understood"},
      {".subckt s a\n.input a=1\n.ends", ".input stands outside of subcircuits only"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[400];
    reading r;
    snprintf(text, sizeof text, "t\nV1 1 0 1\nVs 2 0 SIN(0 1 1)\nD1 1 2 d\n.model d d\n%s\n",
             cases[i].line);
    read_netlist(&r, text);
    if (r.status != YOKE_BAD_INPUT || strstr(r.text, cases[i].message) == NULL) {
      fail_msg("'%s': status %d, expected '%s', found:\n%s", cases[i].line, r.status,
               cases[i].message, r.text);
    }
    free_reading(&r);
  }
}

// Specification 5.4: the whole benchmark in the netlist language.
static const char pmsm[] =
    "PMSM thermal equivalent circuit\n"
    ".param omega=1570 gap=0.82m rm=72.61m area=0.031936\n"
    ".param x={(gap/rm)/(1-gap/(2*rm))}\n"
    ".param p={0.0571*(1-0.625*x)+0.00056/(1-0.625*x)}\n"
    ".param fg={pi^4/(1697*p*(1-gap/(2*rm))^2)}\n"
    ".func tau(t) {(t-300)/50}\n"
    ".func nu(t) {(15.89+5.03*tau(t)+0.23*tau(t)*(tau(t)-1))*1e-6}\n"
    ".func kair(t) {(26.3+3.7*tau(t)+0.05*tau(t)*(tau(t)-1))*1e-3}\n"
    ".func tam(t) {omega^2*rm*gap^3/nu(t)^2/fg}\n"
    ".func nusselt(z) {z<1700 ? 2 : z<1e4 ? 0.128*z^0.367 : 0.409*z^0.241}\n"
    ".func rgap(t) {2*gap/(nusselt(tam(t))*kair(t)*area)}\n"
    "thermal_resistance Raxis1 1 13 1\nthermal_resistance Raxis2 1 14 1\n"
    "thermal_resistance Rinner 1 2 0.025\nthermal_resistance Router 2 3 0.015\n"
    "thermal_resistance Rgap 3 4 {rgap((t(3)+t(4))/2)}\n"
    "thermal_resistance Rtooth1 4 5 0.025\nthermal_resistance Rtooth2 5 6 0.01\n"
    "thermal_resistance Rwire 8 7 0.05\nthermal_resistance Rtang 7 6 0.01\n"
    "thermal_resistance Ryoke 6 10 0.0025\nthermal_resistance Rhous1 10 11 0.25\n"
    "thermal_resistance Rhous2 10 12 0.25\nthermal_resistance Rwater 10 15 0.001\n"
    "thermal_resistance Rcopper 9 8 0.001\nthermal_resistance Rplate1 13 11 0.5\n"
    "thermal_resistance Rplate2 14 12 0.5\nthermal_resistance Rbear1 13 16 3\n"
    "thermal_resistance Rbear2 14 16 3\n"
    "heat_capacity Caxis 1 2000 T0=300\nheat_capacity Crotor 2 5000 T0=300\n"
    "heat_capacity Ccopper 9 2000 T0=300\nheat_capacity Cstator 6 1500 T0=300\n"
    "heat_capacity Chous 10 3000 T0=300\nheat_capacity Cplate1 11 300 T0=300\n"
    "heat_capacity Cplate2 12 300 T0=300\nheat_capacity Cbear1 13 500 T0=300\n"
    "heat_capacity Cbear2 14 500 T0=300\n"
    "heat_source Qrotor 2 150\nheat_source Qcopper 9 2000\nheat_source Qtooth 5 200\n"
    "heat_source Qbear1 13 50\nheat_source Qbear2 14 50\n"
    "temperature_source water 15 320\ntemperature_source environment 16 300\n"
    ".output t(2) name=magnets\n.output i(Rwater) name=to_water\n.tran 0.5 5000\n";

static double temperature(const yoke_live* live, void* self) {
  (void)live;
  return *(const double*)self;
}

// CI-01: n = nodes + elements = 49, p = 9 capacities, m = the rest
static void test_pmsm(void** state) {
  (void)state;
  reading r;
  read_good(&r, pmsm);
  const yoke_network* n = r.network;
  uint32_t n_storages = 0;
  for (uint32_t i = 0; i < n->n_elements; i++) {
    n_storages += n->elements[i].kind == YOKE_CAPACITOR;
  }
  assert_int_equal(n->n_nodes, 17);
  assert_int_equal(n->n_nodes + n->n_elements, 49);
  assert_int_equal(n_storages, 9);
  const yoke_expression* law = element_of(&r, "rgap")->value.law;
  assert_int_equal(law->n_live, 2);
  double t = 300.0;
  check_near(evaluate_law(law, temperature, &t), 0.21511, 5e-6);
  t = 350.0;
  check_near(evaluate_law(law, temperature, &t), 0.21531, 5e-6);
  t = 400.0;
  check_near(evaluate_law(law, temperature, &t), 0.21382, 5e-6);
  assert_string_equal(n->outputs[0].dim, "K");
  assert_string_equal(n->outputs[1].dim, "W");
  free_reading(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words),        cmocka_unit_test(test_wrong_dimensions),
      cmocka_unit_test(test_conductances), cmocka_unit_test(test_losses_heat),
      cmocka_unit_test(test_inputs),       cmocka_unit_test(test_wrong_inputs_and_outputs),
      cmocka_unit_test(test_pmsm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
