// What a run obeys and what it reports: start values as ngspice 39 takes them (its numbers stand
// beside each check), laws of R, C and L that leave what is possible, temperatures below 0 K.
#include "circuit/circuit_solver.h"
#include "test_circuit_netlist.h"

typedef struct running {
  reading r;
  yoke_circuit* circuit;
  yoke_messages messages;
} running;

static yoke_status try_start(running* run, const char* text, yoke_circuit_formulation formulation,
                             double h) {
  *run = (running){0};
  read_good(&run->r, text);
  const yoke_circuit_options options = {
      .step = h,
      .formulation = formulation,
      .is_operating_point = !run->r.network->run.is_uic,
  };
  check_ok(yoke__circuit_create(run->r.network, &options, &run->messages, &run->circuit));
  return yoke__circuit_start(run->circuit, 0.0, &run->messages);
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

// -------------------------------------------------------------------------------------------------
// start values

#define STORAGES                                                                                   \
  "start values\n"                                                                                 \
  "V1 in 0 1\nR1 in out 1k\nC1 out 0 1u IC=0.25\n"                                                 \
  "R2 in o2 1k\nC2 o2 0 1u\n"                                                                      \
  "L1 in o3 1m IC=0.7\nR3 o3 0 1k\n"                                                               \
  ".ic v(o2)=0.5\n"

static const yoke_circuit_formulation both[] = {YOKE_FORMULATION_NODAL, YOKE_FORMULATION_DAE};

// ngspice 39 without uic: v(out) 1, i(l1) 1 mA (IC= is not seen), v(o2) 0.5 (.ic is)
static void test_ic_without_uic(void** state) {
  (void)state;
  for (size_t f = 0; f < 2; f++) {
    running run;
    check_ok(try_start(&run, STORAGES ".tran 10u 1m\n", both[f], 1e-5));
    check_contains(run.r.text, "x.cir:4: warning: IC= of C1 (and 1 more) is ignored without uic");
    check_near(voltage(&run, "out"), 1.0, 1e-12);
    check_near(current(&run, "l1"), 1e-3, 1e-12);
    check_near(voltage(&run, "o2"), 0.5, 1e-12);
    stop(&run);
  }
}

// ngspice 39 with uic: v(out) 0.25, v(o2) 0.5 behind its first, tiny step
static void test_ic_with_uic(void** state) {
  (void)state;
  const char* const runs[] = {STORAGES ".tran 10u 1m uic\n", STORAGES};
  for (size_t i = 0; i < 2; i++) {
    running run;
    check_ok(try_start(&run, runs[i], YOKE_FORMULATION_NODAL, 1e-5));
    assert_string_equal(run.r.text, "");
    check_near(voltage(&run, "out"), 0.25, 1e-12);
    check_near(current(&run, "l1"), 0.7, 1e-12);
    check_near(voltage(&run, "o2"), 0.5, 1e-12);
    stop(&run);
  }
}

static void test_ic_of_one(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\nV1 a 0 1\nR1 a b 1\nC1 b 0 1 IC=2\n.tran 1m 1\n");
  check_contains(r.text, "x.cir:4: warning: IC= of C1 is ignored without uic");
  free_reading(&r);
  // heat has no uic in SPICE: T0 is obeyed
  read_good(&r, "t\nheat_capacity C1 b 1 T0=310\nthermal_resistance R1 b 0 1\n.tran 1m 1\n");
  assert_string_equal(r.text, "");
  assert_true(element_of(&r, "c1")->has_start);
  free_reading(&r);
}

// .ic of one end of a capacitor: the other end is where the operating point has it. ngspice 39:
// v(a) 0.5, v(b) 0.25; after 1 ms v(a) 0.7328, v(b) 0.3598 with its relative tolerance of 1e-3
static void test_ic_of_one_end(void** state) {
  (void)state;
  running run;
  check_ok(try_start(&run,
                     "one end\nV1 in 0 1\nR1 in a 1k\nC1 a 0 1u\nC2 a b 1u\nR2 b 0 1k\nR3 in b 3k\n"
                     ".ic v(a)=0.5\n.tran 1u 1m\n",
                     YOKE_FORMULATION_NODAL, 1e-6));
  check_near(voltage(&run, "a"), 0.5, 1e-12);
  check_near(voltage(&run, "b"), 0.25, 1e-12);
  for (int k = 0; k < 1000; k++) {
    check_ok(yoke__circuit_step(run.circuit));
  }
  check_near(voltage(&run, "a"), 0.7328275, 5e-4);
  check_near(voltage(&run, "b"), 0.3598318, 5e-4);
  stop(&run);
}

// -------------------------------------------------------------------------------------------------
// laws

// Steps until one fails; returns its number, 0 if none did.
static int first_failure(running* run, int n) {
  for (int k = 1; k <= n; k++) {
    if (yoke__circuit_step(run->circuit) < 0) {
      return k;
    }
  }
  return 0;
}

static void test_laws_that_leave(void** state) {
  (void)state;
  static const struct {
    const char *element, *part;
    int step;  // of 0.1 s that must fail
  } cases[] = {
      // between two steps, on a step, through infinity, never a number
      {"R1 a b {1-time/0.45}", "the resistance of 'R1' has passed 0 or infinity and is -0.111", 5},
      {"R1 a b {1-2*time}", "the resistance of 'R1' is 0 at t = 0.5 s: its law is {1-2*time}", 5},
      {"R1 a b {1/(0.45-time)}", "the resistance of 'R1' has passed 0 or infinity and is -20", 5},
      {"R1 a b {sqrt(0.45-time)}", "the resistance of 'R1' is", 5},
      {"C9 b 0 {1-time/0.45}", "the capacitance of 'C9' has passed 0", 5},
      {"L1 a b {1-time/0.45}", "the inductance of 'L1' has passed 0", 5},
      // laws of voltages: v(s) is 1 - time/0.45
      {"Vs s 0 PWL(0 1 0.9 -1)\nR1 a b {v(s)}", "the resistance of 'R1' has passed 0", 5},
      {"Vs s 0 PWL(0 1 0.9 -1)\nR1 a b {sqrt(v(s))}", "the resistance of 'R1' is", 5},
      {"Vs s 0 PWL(0 1 0.9 -1)\nC9 b 0 {v(s)}", "the capacitance of 'C9' has passed 0", 5},
      // fine: always negative, always positive
      {"R1 a b {-3-time}", "", 0},
      {"R1 a b {1.5-time}", "", 0},
  };
  for (size_t f = 0; f < 2; f++) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      char text[400];
      running run;
      snprintf(text, sizeof text,
               "laws\nV1 a 0 1\nR8 a b 5\nC1 b 0 1\nR9 b 0 1\n%s\n.tran 0.1 1 uic\n",
               cases[i].element);
      check_ok(try_start(&run, text, both[f], 0.1));
      const int failed = first_failure(&run, 8);
      if (failed != cases[i].step) {
        fail_msg("%s, formulation %zu: step %d failed, not %d: %s", cases[i].element, f, failed,
                 cases[i].step, yoke__circuit_reason(run.circuit)->text);
      }
      check_contains(yoke__circuit_reason(run.circuit)->text, cases[i].part);
      stop(&run);
    }
  }
}

// Laws without a value where the run starts: element, law and line, whatever the formulation.
static void test_laws_undefined_at_start(void** state) {
  (void)state;
  static const struct {
    const char *line, *part;
  } cases[] = {
      {"R1 b 0 {100*abs(v(a))}",
       "x.cir:4: error: the resistance of 'R1' is 0 at t = 0 s: its law is {100*abs(v(a))}"},
      {"R1 b 0 {sqrt(v(a))}", "x.cir:4: error: the resistance of 'R1' is 0 at t = 0 s"},
      {"B1 b 0 I={sqrt(v(a))}", "x.cir:4: error: the value of 'B1' has no finite slope at t = 0 s"},
      {"B1 b 0 I={ln(v(a))}",
       "x.cir:4: error: the value of 'B1' is -inf at t = 0 s: its law is {ln(v(a))}"},
      {"B1 b 0 V={1/(v(a)-v(a))}", "x.cir:4: error: the value of 'B1' is inf at t = 0 s"},
      {"R1 b 0 {0*time}",
       "x.cir:4: error: the resistance of 'R1' is 0 at t = 0 s: its law is {0*time}"},
  };
  for (size_t f = 0; f < 2; f++) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      char text[300];
      running run;
      snprintf(text, sizeof text, "t\nV1 a 0 SIN(0 1 1k)\nR0 a b 100\n%s\n.tran 10u 2m uic\n",
               cases[i].line);
      assert_true(try_start(&run, text, both[f], 1e-5) < 0);
      char told[2048];
      yoke__messages_format(&run.messages, told, sizeof told);
      check_contains(told, cases[i].part);
      check_contains(cases[i].part, yoke__circuit_reason(run.circuit)->variable);
      stop(&run);
    }
  }
}

// A capacitance that goes to 0 with its own voltage: the step that fails names it.
static void test_law_towards_zero(void** state) {
  (void)state;
  for (size_t f = 0; f < 2; f++) {
    running run;
    check_ok(try_start(
        &run, "t\nV1 a 0 SIN(0 1 1k)\nR0 a b 100\nC1 b 0 {1u*(0.5+v(b))}\n.tran 10u 2m uic\n",
        both[f], 1e-5));
    assert_int_equal(first_failure(&run, 200), 61);
    check_contains(yoke__circuit_reason(run.circuit)->text, "the capacitance of 'C1'");
    check_contains(yoke__circuit_reason(run.circuit)->text, "its law is {1u*(0.5+v(b))}");
    assert_int_equal(yoke__circuit_reason(run.circuit)->place.line, 4);
    assert_string_equal(yoke__circuit_reason(run.circuit)->variable, "C1");
    stop(&run);
  }
}

// Both ends on one node: no current, whatever the law.
static void test_law_of_short(void** state) {
  (void)state;
  for (size_t f = 0; f < 2; f++) {
    running run;
    check_ok(try_start(&run,
                       "t\nV1 a 0 SIN(0 1 1k)\nR0 a b 100\nR1 b b {v(a)}\nC1 b b {1u*v(a)}\n"
                       "R2 b 0 300\n.tran 10u 2m uic\n",
                       both[f], 1e-5));
    assert_int_equal(first_failure(&run, 100), 0);
    check_near(voltage(&run, "b"), 0.75 * voltage(&run, "a"), 1e-12);
    check_near(current(&run, "r1"), 0.0, 1e-12);
    stop(&run);
  }
}

// A conductance that is 0 until 5 s: 300 K until then, 400 - 100 exp(-(t - 5)/10) K afterwards.
static void test_conductance_of_zero(void** state) {
  (void)state;
  for (size_t f = 0; f < 2; f++) {
    running run;
    check_ok(try_start(&run,
                       "t\nheat_capacity C1 a 10 T0=300\n"
                       "thermal_conductance G1 a b {time>4.995 ? 1 : 0}\n"
                       "temperature_source T1 b 400\n.tran 0.01 10\n",
                       both[f], 0.01));
    assert_int_equal(first_failure(&run, 499), 0);
    check_near(voltage(&run, "a"), 300.0, 1e-9);
    assert_int_equal(first_failure(&run, 501), 0);
    // the jump lies within one step: 0.005 s of 10 W/K at most
    check_near(voltage(&run, "a"), 400.0 - 100.0 * exp(-0.5), 0.05);
    stop(&run);
  }
}

static void test_law_that_starts_wrong(void** state) {
  (void)state;
  running run;
  assert_true(try_start(&run, "t\nV1 a 0 1\nR1 a b 1\nC1 b 0 {time-1}\n.tran 0.1 1 uic\n",
                        YOKE_FORMULATION_NODAL, 0.1) < 0);
  check_contains(yoke__circuit_reason(run.circuit)->text, "the capacitance of 'C1' is -1 at t = 0 s");
  stop(&run);
}

// -------------------------------------------------------------------------------------------------
// temperatures

static void test_cold_constants(void** state) {
  (void)state;
  static const struct {
    const char *lines, *part;
  } cases[] = {
      {"heat_capacity C1 b 1 T0=-5",
       "x.cir:4: error: 'C1': a start temperature of -5 K is below absolute zero"},
      {"heat_capacity C1 b 1 T0=-300degC", "is below absolute zero"},
      {"heat_capacity C1 b 1\n.ic t(b)=-1", "x.cir:5: error: 'b': a start temperature of -1 K"},
      {"temperature_source T1 b -10", "x.cir:4: error: 'T1': a temperature of -10 K is below"},
      {"temperature_source T1 b PULSE(300 -1 0 1 1 1 5)", "'T1': a temperature of -1 K"},
      {"temperature_source T1 b PWL(0 300 1 -2)", "'T1': a temperature of -2 K"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[300];
    reading r;
    snprintf(text, sizeof text, "t\ntemperature_source T0 a 300\nthermal_resistance R1 a b 1\n%s\n",
             cases[i].lines);
    read_netlist(&r, text);
    assert_int_equal(r.status, YOKE_BAD_INPUT);
    check_contains(r.text, cases[i].part);
    free_reading(&r);
  }
  // 0 K itself, and degrees Celsius
  reading r;
  read_good(&r, "t\ntemperature_source T0 a -40 degC\nthermal_resistance R1 a b 1\n"
                "heat_capacity C1 b 1 T0=0\n");
  free_reading(&r);
}

// 10 J/K lose 100 W: T = 300 - 10 t falls below 0 at 30 s; of 40 steps of 1 s ten are below.
static void test_cold_run(void** state) {
  (void)state;
  for (size_t f = 0; f < 2; f++) {
    running run;
    yoke_circuit_counts counts;
    check_ok(try_start(&run,
                       "t\nheat_capacity C1 cold 10 T0=300\nheat_source Q1 cold -100\n"
                       "thermal_resistance R1 cold other 1\nheat_capacity C2 other 1n T0=300\n"
                       ".tran 1 40 uic\n",
                       both[f], 1.0));
    for (int k = 0; k < 40; k++) {
      check_ok(yoke__circuit_step(run.circuit));
    }
    yoke__circuit_get_counts(run.circuit, &counts);
    assert_int_equal(counts.n_cold, 10);
    check_near(counts.cold_time, 31.0, 1e-12);
    assert_string_equal(run.r.network->nodes[counts.cold_node].name, "cold");
    stop(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ic_without_uic),
      cmocka_unit_test(test_ic_with_uic),
      cmocka_unit_test(test_ic_of_one),
      cmocka_unit_test(test_ic_of_one_end),
      cmocka_unit_test(test_laws_that_leave),
      cmocka_unit_test(test_law_that_starts_wrong),
      cmocka_unit_test(test_laws_undefined_at_start),
      cmocka_unit_test(test_law_towards_zero),
      cmocka_unit_test(test_law_of_short),
      cmocka_unit_test(test_conductance_of_zero),
      cmocka_unit_test(test_cold_constants),
      cmocka_unit_test(test_cold_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
