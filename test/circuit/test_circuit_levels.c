// `.ic`: without uic it holds nodes while the operating point is sought, whose states the run
// takes; with uic it goes to the capacitors and charges at its nodes. Numbers of ngspice 39 (reltol
// 1e-7, steps of 2 us and 5 ns at most) stand beside the checks.
#include "circuit/circuit_solver.h"
#include "test_circuit_netlist.h"

typedef struct running {
  reading r;
  yoke_circuit* circuit;
  yoke_messages messages;
  char told[2000];  // at the start
} running;

static const yoke_circuit_formulation both[] = {YOKE_FORMULATION_NODAL, YOKE_FORMULATION_DAE};

static void create(running* run, const char* text, yoke_circuit_formulation formulation, double h) {
  *run = (running){0};
  read_good(&run->r, text);
  const yoke_circuit_options options = {
      .step = h, .formulation = formulation, .is_operating_point = !run->r.network->run.is_uic};
  check_ok(yoke__circuit_create(run->r.network, &options, &run->messages, &run->circuit));
}

static void begin(running* run) {
  check_ok(yoke__circuit_start(run->circuit, 0.0, &run->messages));
  yoke__messages_format(&run->messages, run->told, sizeof run->told);
}

static void start(running* run, const char* text, yoke_circuit_formulation formulation, double h) {
  create(run, text, formulation, h);
  begin(run);
}

static void stop(running* run) {
  yoke__circuit_destroy(&run->circuit);
  yoke__messages_free(&run->messages);
  free_reading(&run->r);
}

static double voltage(const running* run, const char* node) {
  return yoke__circuit_voltage(run->circuit, yoke__network_find_node(run->r.network, node));
}

static double current(const running* run, const char* element) {
  return yoke__circuit_current(run->circuit, yoke__network_find_element(run->r.network, element));
}

static void steps(running* run, int n) {
  for (int k = 0; k < n; k++) {
    check_ok(yoke__circuit_step(run->circuit));
  }
}

// The node is held at 2 V without current through C1, so v(c) is 0 and C1 starts with 2 V:
// v(C1) = 5 - 3 exp(-t/2ms), v(c) = 1.5 exp(-t/2ms).
static void test_coupling_capacitor(void** state) {
  (void)state;
  for (size_t f = 0; f < 2; f++) {
    running run;
    start(&run,
          "coupling\nV1 a 0 5\nR1 a b 1k\nC1 b c 1u\nR2 c 0 1k\n.ic v(b)=2\n.tran 10u 5m\n.end\n",
          both[f], 1e-5);
    assert_string_equal(run.told, "");
    check_near(voltage(&run, "b"), 3.5, 1e-9);
    check_near(voltage(&run, "c"), 1.5, 1e-9);
    steps(&run, 100);
    // order 2: (h / 2 ms)^2 / 24 of 1.5 V
    check_near(voltage(&run, "c"), 1.5 * exp(-0.5), 2e-6);
    stop(&run);
  }
}

#define COMBINED                                                                                   \
  "combined\nV1 a 0 5\nR1 a b 1k\nC1 b 0 1u\nR2 b c 1k\nC2 c d 2u\nR3 d 0 500\nL1 c e 10m\n"       \
  "R4 e 0 200\n"

// Levels on both ends of C2. Held: v(b) = (5 + 4)/2, v(e) = v(c) = 4 as the coil is a short.
static void test_two_levels(void** state) {
  (void)state;
  for (size_t f = 0; f < 2; f++) {
    running run;
    start(&run, COMBINED ".ic v(c)=4 v(d)=0.5\n.tran 5u 5m\n.end\n", both[f], 2e-6);
    assert_string_equal(run.told, "");
    check_near(voltage(&run, "b"), 4.5, 1e-9);
    check_near(current(&run, "l1"), 0.02, 1e-11);
    check_near(voltage(&run, "c") - voltage(&run, "d"), 3.5, 1e-9);
    // ngspice: 3.999545, 1.237333, -1.797930 V, 6.358072 mA; 3.196056, 0.868768, -1.049916 V
    steps(&run, 100);
    check_near(voltage(&run, "b"), 3.9995450, 2e-5);
    check_near(voltage(&run, "c"), 1.2373327, 2e-5);
    check_near(voltage(&run, "d"), -1.7979298, 2e-5);
    check_near(current(&run, "l1"), 6.358072e-3, 2e-7);
    steps(&run, 400);
    check_near(voltage(&run, "b"), 3.1960559, 2e-5);
    check_near(voltage(&run, "c"), 0.8687678, 2e-5);
    check_near(voltage(&run, "d"), -1.0499157, 2e-5);
    stop(&run);
  }
}

// A node without a capacitor, behind the coil: i(L1) = 2 mA is what R2 carries to v(c) = v(e) = 1
// V.
static void test_level_behind_coil(void** state) {
  (void)state;
  for (size_t f = 0; f < 2; f++) {
    running run;
    start(&run, COMBINED ".ic v(e)=1\n.tran 5u 5m\n.end\n", both[f], 2e-6);
    assert_string_equal(run.told, "");
    check_near(current(&run, "l1"), 2e-3, 1e-12);
    check_near(voltage(&run, "b"), 3.0, 1e-9);
    check_near(voltage(&run, "c") - voltage(&run, "d"), 1.0, 1e-9);
    // ngspice: 2.940546, 0.597562, -0.337623 V, 3.018230 mA
    steps(&run, 100);
    check_near(voltage(&run, "b"), 2.9405457, 2e-5);
    check_near(voltage(&run, "c"), 0.5975624, 2e-5);
    check_near(voltage(&run, "d"), -0.3376232, 2e-5);
    check_near(current(&run, "l1"), 3.018230e-3, 2e-7);
    stop(&run);
  }
}

// A coil between a source and a level has no current that would fit: it starts with none.
static void test_coil_between(void** state) {
  (void)state;
  running run;
  start(&run, "t\nV1 a 0 5\nL1 a b 1m\nR1 b 0 1k\nC1 b 0 1u\n.ic v(b)=2\n.tran 1u 1m\n",
        YOKE_FORMULATION_NODAL, 1e-6);
  assert_string_equal(run.told, "");
  check_near(current(&run, "l1"), 0.0, 1e-12);
  check_near(voltage(&run, "b"), 2.0, 1e-12);
  stop(&run);
}

// The charge of a diode keeps what `.ic` gives it, with uic and without; ngspice after 0.1 us:
// -0.98521 V, after 1 us 0.692888 V.
static void test_charge_of_diode(void** state) {
  (void)state;
  static const char* const ends[] = {"", " uic"};
  for (size_t f = 0; f < 4; f++) {
    running run;
    char text[300];
    snprintf(text, sizeof text,
             "t\nV1 a 0 5\nR1 a b 1k\nD1 b 0 dd\n.model dd D(IS=1e-14 CJO=1n TT=10n)\n"
             ".ic v(b)=-2\n.tran 10n 5u%s\n",
             ends[f / 2]);
    start(&run, text, both[f % 2], 5e-9);
    assert_string_equal(run.told, "");
    check_near(voltage(&run, "b"), -2.0, 1e-9);
    steps(&run, 20);
    check_near(voltage(&run, "b"), -0.98522, 1e-4);
    steps(&run, 180);
    check_near(voltage(&run, "b"), 0.6928876, 1e-5);
    stop(&run);
  }
  // behind a series resistance it is the outer node that is named: the junction has all of it
  running run;
  start(&run,
        "t\nV1 a 0 5\nR1 a b 1k\nD1 b 0 dd\n.model dd D(IS=1e-14 CJO=1n RS=10)\n.ic v(b)=-2\n"
        ".tran 10n 5u uic\n",
        YOKE_FORMULATION_NODAL, 5e-9);
  check_near(voltage(&run, "b") - 10.0 * current(&run, "d1"), -2.0, 1e-9);
  stop(&run);
}

static void test_heat(void** state) {
  (void)state;
  running run;
  // the wall between follows from the two temperatures
  start(&run,
        "t\nheat_capacity C1 a 10\nheat_capacity C2 b 10\nthermal_resistance R1 a w 1\n"
        "thermal_resistance R2 w b 3\nthermal_resistance R3 b 0 100\nheat_capacity C3 w 1\n"
        ".ic t(a)=400 t(b)=300\n.tran 0.1 10\n",
        YOKE_FORMULATION_NODAL, 0.1);
  assert_string_equal(run.told, "");
  check_near(voltage(&run, "a"), 400.0, 1e-9);
  check_near(voltage(&run, "b"), 300.0, 1e-9);
  check_near(voltage(&run, "w"), 375.0, 1e-9);
  stop(&run);
}

// -------------------------------------------------------------------------------------------------
// what has no effect is said

static void test_no_effect(void** state) {
  (void)state;
  static const struct {
    const char *lines, *told;
  } cases[] = {
      // a source decides
      {"C1 b 0 1u\n.ic v(a)=3", "x.cir:5: warning: .ic v(a)=3 has no effect: sources and other "
                                "start values make it 5"},
      // nothing depends on it: v(b) is what R1 and R2 make of it
      {"R2 b 0 1k\n.ic v(b)=1",
       "x.cir:5: warning: .ic v(b)=1 has no effect: no capacitor, inductor or charge"},
      // part of it has
      {"C1 b c 1u\nR2 c 0 1k\n.ic v(b)=1", ""},
      {"C1 b 0 1u\n.ic v(a)=5", ""},
  };
  for (size_t f = 0; f < 2; f++) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      running run;
      char text[300];
      snprintf(text, sizeof text, "t\nV1 a 0 5\nR1 a b 1k\n%s\n.tran 1u 1m\n", cases[i].lines);
      start(&run, text, both[f], 1e-6);
      if (cases[i].told[0] == '\0') {
        assert_string_equal(run.told, "");
      } else {
        check_contains(run.told, cases[i].told);
      }
      stop(&run);
    }
  }
}

static void test_no_effect_with_uic(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\nV1 a 0 5\nR1 a b 1k\nC1 b 0 1u IC=2\nR2 b c 1\nC2 c 0 1u\n"
                ".ic v(b)=1 v(c)=1\n.tran 1u 1m uic\n");
  check_contains(r.text, "x.cir:7: warning: .ic v(b)=1 has no effect: with uic");
  assert_null(strstr(r.text, "v(c)"));
  free_reading(&r);
}

// Of capacitors in parallel, and across a source: the first or the source holds, both are told.
static void test_contradictions(void** state) {
  (void)state;
  for (size_t f = 0; f < 2; f++) {
    running run;
    start(&run, "t\nV1 a 0 1\nR1 a b 1\nC1 b 0 1u IC=2\nC2 b 0 1u IC=3\n.tran 1u 10u uic\n",
          both[f], 1e-6);
    check_contains(run.told, "x.cir:5: warning: 'C2' cannot start at 3: the rest of the circuit "
                             "makes it 2");
    check_near(voltage(&run, "b"), 2.0, 1e-9);
    stop(&run);
    start(&run, "t\nV1 a 0 1\nC1 a 0 1u IC=2\nR1 a 0 1\n.tran 1u 10u uic\n", both[f], 1e-6);
    check_contains(run.told, "x.cir:3: warning: 'C1' cannot start at 2: the rest of the circuit "
                             "makes it 1");
    stop(&run);
  }
}

// start: of a unit goes before `.ic`, silently.
static void test_start_of_unit(void** state) {
  (void)state;
  running run;
  create(&run, "t\nV1 a 0 5\nR1 a b 1k\nC1 b 0 1u\n.ic v(b)=2\n.tran 1u 1m\n",
         YOKE_FORMULATION_NODAL, 1e-6);
  check_ok(
      yoke__circuit_set_start(run.circuit, true, yoke__network_find_node(run.r.network, "b"), 3.0));
  begin(&run);
  assert_string_equal(run.told, "");
  check_near(voltage(&run, "b"), 3.0, 1e-12);
  stop(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_coupling_capacitor), cmocka_unit_test(test_two_levels),
      cmocka_unit_test(test_level_behind_coil),  cmocka_unit_test(test_coil_between),
      cmocka_unit_test(test_charge_of_diode),    cmocka_unit_test(test_heat),
      cmocka_unit_test(test_no_effect),          cmocka_unit_test(test_no_effect_with_uic),
      cmocka_unit_test(test_contradictions),     cmocka_unit_test(test_start_of_unit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
