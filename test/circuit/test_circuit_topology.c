// What the check of a network finds: each message with its names, no message where nothing is
// wrong, and random networks against the rank and the index of their equations.
#include <time.h>

#include "circuit/network/circuit_build.h"

#include "support/check.h"
#include "support/circuits.h"
#include "support/failing_heap.h"

enum { TEXT_SIZE = 8192 };

// A network under construction and what its check says.
typedef struct trial {
  yoke_network* network;
  yoke_messages messages;
  int line;  // elements are added line by line
  char text[TEXT_SIZE];
} trial;

static void begin(trial* self) {
  memset(self, 0, sizeof *self);
  self->line = 1;
  check_ok(yoke__network_create("t", &self->network));
}

static yoke_status run(trial* self) {
  const yoke_status status = yoke__network_check(self->network, &self->messages);
  yoke__messages_format(&self->messages, self->text, sizeof self->text);
  return status;
}

static void end(trial* self) {
  yoke__messages_free(&self->messages);
  yoke__network_destroy(&self->network);
}

static uint32_t node(trial* self, const char* name, yoke_domain domain) {
  return yoke__network_node(self->network, name, domain, (yoke_place){"t.cir", self->line, 0});
}

// one more element on the next line
static yoke_element* put(trial* self, yoke_element_kind kind, const char* name, const char* a,
                         const char* b, double value) {
  self->line++;
  const yoke_element element = {.kind = kind,
                                .name = name,
                                .a = node(self, a, YOKE_ELECTRIC),
                                .b = node(self, b, YOKE_ELECTRIC),
                                .control = YOKE_NO_INDEX,
                                .value = {.constant = value},
                                .place = {"t.cir", self->line, 0}};
  const uint32_t index = yoke__network_add(self->network, &element);
  return &self->network->elements[index];
}

static void put_mutual(trial* self, const char* name, const char* l1, const char* l2, double k) {
  self->line++;
  const yoke_mutual mutual = {.name = name,
                              .l1 = yoke__network_find_element(self->network, l1),
                              .l2 = yoke__network_find_element(self->network, l2),
                              .k = k,
                              .place = {"t.cir", self->line, 0}};
  yoke__network_add_mutual(self->network, &mutual);
}

static void put_diode(trial* self, const char* name, const char* a, const char* b, double rs) {
  static const yoke_junction_model model = {.is = 1e-15, .n = 1.5, .vt = 0.025852};
  self->line++;
  yoke__network_add_diode(self->network, name, node(self, a, YOKE_ELECTRIC),
                          node(self, b, YOKE_ELECTRIC), &model, rs,
                          (yoke_place){"t.cir", self->line, 0});
}

static void ask_for_operating_point(trial* self) {
  self->network->run.has_tran = true;
}

// numbers of errors, warnings and notes, and the end of the trial
static void check_counts(trial* self, size_t n_errors, size_t n_warnings, size_t n_notes) {
  const yoke_status status = run(self);
  size_t n = 0;
  for (size_t i = 0; i < self->messages.n; i++) {
    n += self->messages.all[i].severity == YOKE_NOTE;
  }
  if (self->messages.n_errors != n_errors || self->messages.n_warnings != n_warnings ||
      n != n_notes || (status == YOKE_OK) != (n_errors == 0)) {
    fail_msg("%zu errors, %zu warnings, %zu notes instead of %zu, %zu, %zu; status %d:\n%s",
             self->messages.n_errors, self->messages.n_warnings, n, n_errors, n_warnings, n_notes,
             (int)status, self->text);
  }
}

// ---- nothing wrong

static void put_rlc(trial* self) {
  put(self, YOKE_VOLTAGE, "V1", "2", "0", 1);
  put(self, YOKE_RESISTOR, "R1", "2", "3", 10);
  put(self, YOKE_INDUCTOR, "L1", "3", "0", 0.1);
  put(self, YOKE_CAPACITOR, "C1", "3", "0", 0.4);
  put(self, YOKE_CAPACITOR, "C2", "3", "0", 0.2);
}

// benchmark rlc: parallel capacitors are no trouble
static void test_rlc_is_silent(void** state) {
  (void)state;
  for (int has_tran = 0; has_tran < 2; has_tran++) {
    trial t;
    begin(&t);
    put_rlc(&t);
    t.network->run.has_tran = has_tran != 0;
    check_counts(&t, 0, 0, 0);
    end(&t);
  }
}

static void put_ladder(trial* self, int n) {
  put(self, YOKE_VOLTAGE, "E1", "n2", "0", 1);
  for (int i = 1; i <= n; i++) {
    char r[16], l[16], c[16], from[16], d[16], e[16];
    snprintf(r, sizeof r, "R%d", i);
    snprintf(l, sizeof l, "L%d", i);
    snprintf(c, sizeof c, "C%d", i);
    snprintf(from, sizeof from, "n%d", i == 1 ? 2 : 2 * i - 1);
    snprintf(d, sizeof d, "n%d", 2 * i + 1);
    snprintf(e, sizeof e, "n%d", 2 * i + 2);
    put(self, YOKE_RESISTOR, r, from, d, 10);
    put(self, YOKE_INDUCTOR, l, d, e, 0.1);
    put(self, YOKE_CAPACITOR, c, e, "0", 0.1);
  }
}

static void test_ladder_is_silent(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put_ladder(&t, 50);
  ask_for_operating_point(&t);
  check_counts(&t, 0, 0, 0);
  end(&t);
}

// benchmark rectifier: its load hangs on four junctions, which gmin carries
static void test_rectifier_gets_a_note(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put(&t, YOKE_VOLTAGE, "E1", "2", "0", 1);
  put(&t, YOKE_RESISTOR, "R1", "3", "4", 10);
  put(&t, YOKE_INDUCTOR, "L1", "4", "5", 0.1);
  put_diode(&t, "D1", "2", "3", 1e-3);
  put_diode(&t, "D2", "0", "3", 1e-3);
  put_diode(&t, "D3", "5", "0", 1e-3);
  put_diode(&t, "D4", "5", "2", 1e-3);
  ask_for_operating_point(&t);
  check_counts(&t, 0, 0, 1);
  check_contains(t.text, "t.cir:3: note: only junctions ('D1', 'D2', 'D3', 'D4') join nodes "
                         "'3', '4', '5' and 2 more (5 in all) to the rest");
  check_contains(t.text, "gmin = 1e-12 S");
  yoke__messages_free(&t.messages);

  // without gmin it is more than a note
  t.network->run.gmin = 0;
  check_counts(&t, 0, 1, 0);
  check_contains(t.text, "float while those block; gmin is 0");
  end(&t);
}

// what controlled sources make possible: conductances and impedances without a resistor
static void test_driven_sources_are_not_suspected(void** state) {
  (void)state;
  trial t;
  begin(&t);

  // a node between a current source and a conductance made of a VCCS
  put(&t, YOKE_CURRENT, "I1", "0", "a", 1);
  yoke_element* g = put(&t, YOKE_VCCS, "G1", "a", "0", 1e-3);
  g->c = g->a;
  g->d = 0;

  // a source parallel to a resistance made of a CCVS that is its own control
  put(&t, YOKE_VOLTAGE, "V1", "b", "0", 1);
  yoke_element* h = put(&t, YOKE_CCVS, "H1", "b", "0", 50);
  h->control = 3;

  // an ammeter in parallel with a source that follows it
  put(&t, YOKE_VOLTAGE, "Vam", "c", "0", 0);
  yoke_element* h2 = put(&t, YOKE_CCVS, "H2", "c", "0", 2);
  h2->control = 4;
  put(&t, YOKE_RESISTOR, "R1", "c", "b", 1);
  ask_for_operating_point(&t);
  check_counts(&t, 0, 0, 0);
  end(&t);
}

// ---- parts

static void test_isolated_parts(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put_rlc(&t);
  put(&t, YOKE_RESISTOR, "R8", "p", "q", 1);    // line 7
  put(&t, YOKE_CAPACITOR, "C8", "q", "r", 1);   // 8
  put(&t, YOKE_RESISTOR, "R8b", "r", "p", 1);   // 9
  put(&t, YOKE_INDUCTOR, "L9", "s1", "s2", 1);  // 10: a winding alone
  put(&t, YOKE_RESISTOR, "R9", "s1", "s2", 1);
  node(&t, "lonely", YOKE_ELECTRIC);
  check_counts(&t, 3, 0, 0);
  check_contains(t.text, "t.cir:7: error: no path to ground or a fixed node from nodes 'p', 'q', "
                         "'r' (3 in all)");
  check_contains(t.text, "t.cir:10: error: no path to ground or a fixed node from nodes 's1', "
                         "'s2' (2 in all)");
  check_contains(t.text, "nothing is connected to node 'lonely'");
  end(&t);

  // a fixed node serves as well as ground
  begin(&t);
  put(&t, YOKE_RESISTOR, "R1", "a", "env", 1);
  put(&t, YOKE_CAPACITOR, "C1", "a", "env", 1);
  circuits_fix(t.network, "Tenv", "env", 300);
  check_counts(&t, 0, 0, 0);
  end(&t);
}

static void test_current_source_cuts(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put(&t, YOKE_CURRENT, "I1", "0", "a", 1);   // line 2
  put(&t, YOKE_CURRENT, "I2", "b", "0", 1);   // 3
  put(&t, YOKE_RESISTOR, "R1", "a", "b", 1);  // 4
  put(&t, YOKE_CURRENT, "I3", "c", "0", 1);   // 5
  put(&t, YOKE_RESISTOR, "R2", "d", "0", 1);
  put(&t, YOKE_CURRENT, "I4", "d", "c", 1);
  check_counts(&t, 2, 0, 0);
  check_contains(t.text, "t.cir:2: error: only current sources ('I1', 'I2') join nodes 'a', 'b' (2 "
                         "in all) to the rest");
  check_contains(t.text, "t.cir:5: error: only current sources ('I3', 'I4') join node 'c' (1 in "
                         "all) to the rest");
  end(&t);

  // driven sources whose control does not see the part
  begin(&t);
  put(&t, YOKE_RESISTOR, "R1", "a", "0", 1);
  yoke_element* g = put(&t, YOKE_VCCS, "G1", "x", "0", 1);
  g->c = g->a - 1;
  g->d = 0;
  put(&t, YOKE_CURRENT, "I1", "0", "x", 1);
  put(&t, YOKE_CURRENT, "I2", "0", "a", 1);
  check_counts(&t, 1, 0, 0);
  check_contains(t.text, "only current sources ('G1', 'I1') join node 'x'");
  end(&t);
}

static void test_capacitor_cuts(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put(&t, YOKE_VOLTAGE, "V1", "a", "0", 1);
  put(&t, YOKE_RESISTOR, "R1", "a", "b", 1);
  put(&t, YOKE_CAPACITOR, "C1", "b", "m", 1);
  put(&t, YOKE_CAPACITOR, "C2", "m", "0", 1);
  check_counts(&t, 0, 0, 0);  // without an operating point nothing is open
  ask_for_operating_point(&t);
  check_counts(&t, 0, 0, 1);
  check_contains(t.text, "t.cir:4: note: only capacitors ('C1', 'C2') join node 'm'");
  t.network->elements[3].has_start = true;
  yoke__messages_free(&t.messages);
  check_counts(&t, 0, 0, 0);

  // charged without end
  t.network->elements[3].has_start = false;
  put(&t, YOKE_CURRENT, "I1", "0", "m", 1e-3);
  yoke__messages_free(&t.messages);
  check_counts(&t, 1, 0, 0);
  check_contains(t.text, "only capacitors and current sources ('C1', 'C2', 'I1') join node 'm'");
  check_contains(t.text, "no operating point");
  t.network->run.is_uic = true;
  yoke__messages_free(&t.messages);
  check_counts(&t, 0, 0, 0);
  end(&t);
}

static void test_thermal_words(void** state) {
  (void)state;
  trial t;
  begin(&t);
  node(&t, "hot", YOKE_THERMAL);
  circuits_add_constant(t.network, YOKE_CAPACITOR, "CT1", "hot", "0", 500);
  circuits_add_constant(t.network, YOKE_CURRENT, "Q1", "0", "hot", 20);
  ask_for_operating_point(&t);
  check_counts(&t, 1, 0, 0);
  check_contains(t.text,
                 "only heat capacities and heat sources ('CT1', 'Q1') join node 'hot' (1 in "
                 "all) to the rest, which heats up without end");

  // an electric element on a thermal node
  circuits_add_constant(t.network, YOKE_RESISTOR, "R1", "hot", "0", 1);
  t.network->elements[2].domain = YOKE_ELECTRIC;
  yoke__messages_free(&t.messages);
  check_counts(&t, 1, 0, 0);
  check_contains(t.text, "'R1' is electric, but node 'hot' belongs to the thermal network");
  end(&t);
}

static void test_inductor_cut_is_index_2(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put(&t, YOKE_VOLTAGE, "V1", "a", "0", 1);
  put(&t, YOKE_INDUCTOR, "L1", "a", "m", 1);
  put(&t, YOKE_INDUCTOR, "L2", "m", "b", 1);
  put(&t, YOKE_RESISTOR, "R1", "b", "0", 1);
  check_counts(&t, 0, 0, 1);
  check_contains(t.text, "t.cir:3: note: only inductors ('L1', 'L2') join node 'm'");
  check_contains(t.text, "index 2");
  end(&t);
}

static void test_loose_ends(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put_rlc(&t);
  put(&t, YOKE_RESISTOR, "R2", "3", "open", 1);  // line 7
  check_counts(&t, 0, 1, 0);
  check_contains(t.text, "t.cir:7: warning: node 'open' has a single connection");

  // looked at by a probe it is meant so
  const yoke_probe probe = {.kind = YOKE_PROBE_VOLTAGE,
                            .name = "v(open)",
                            .index = yoke__network_find_node(t.network, "open")};
  yoke__network_add_save(t.network, &probe);
  yoke__messages_free(&t.messages);
  check_counts(&t, 0, 0, 0);
  end(&t);
}

static void test_ideal_switches(void** state) {
  (void)state;
  static const yoke_switch_model ideal = {.r_on = 0, .r_off = (double)INFINITY};
  static const yoke_switch_model leaky = {.r_on = 1e-3, .r_off = 1e6};
  for (int is_ideal = 0; is_ideal < 2; is_ideal++) {
    trial t;
    begin(&t);
    put(&t, YOKE_VOLTAGE, "V1", "a", "0", 1);
    put(&t, YOKE_SWITCH, "S1", "a", "b", 0)->switching = is_ideal != 0 ? &ideal : &leaky;
    put(&t, YOKE_RESISTOR, "R1", "b", "c", 1);
    put(&t, YOKE_SWITCH, "S2", "c", "0", 0)->switching = is_ideal != 0 ? &ideal : &leaky;
    check_counts(&t, 0, is_ideal != 0 ? 1 : 0, 0);
    if (is_ideal != 0) {
      check_contains(t.text, "only ideal switches ('S1', 'S2') join nodes 'b', 'c'");
    }
    end(&t);
  }
}

// ---- loops

static void test_voltage_loops(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put(&t, YOKE_VOLTAGE, "V1", "a", "0", 1);   // line 2
  put(&t, YOKE_VOLTAGE, "V2", "b", "a", 1);   // 3
  put(&t, YOKE_RESISTOR, "R1", "b", "0", 1);  // 4
  put(&t, YOKE_VOLTAGE, "V3", "b", "0", 2);   // 5: closes
  put(&t, YOKE_VOLTAGE, "V4", "c", "c", 1);   // 6: shorted
  put(&t, YOKE_RESISTOR, "R2", "c", "0", 1);
  check_counts(&t, 2, 0, 0);
  check_contains(t.text, "t.cir:5: error: loop of voltage sources ('V3', 'V2', 'V1')");
  check_contains(t.text, "t.cir:6: error: 'V4' has both ends on one node");
  end(&t);

  // controlled ones whose current nobody senses
  begin(&t);
  put(&t, YOKE_VOLTAGE, "V1", "a", "0", 1);
  yoke_element* e = put(&t, YOKE_VCVS, "E1", "a", "0", 2);
  e->c = e->a + 1;
  e->d = 0;
  put(&t, YOKE_RESISTOR, "R1", "b", "0", 1);
  put(&t, YOKE_CURRENT, "I1", "b", "0", 1);
  check_counts(&t, 1, 0, 0);
  check_contains(t.text, "t.cir:3: error: loop of voltage sources ('E1', 'V1')");
  end(&t);

  // between two fixed nodes
  begin(&t);
  put(&t, YOKE_VOLTAGE, "V1", "p", "q", 1);
  put(&t, YOKE_RESISTOR, "R1", "p", "q", 1);
  circuits_fix(t.network, "T1", "p", 300);
  circuits_fix(t.network, "T2", "q", 310);
  check_counts(&t, 1, 0, 0);
  check_contains(t.text, "loop of voltage sources ('V1', fixed nodes 'p', 'q')");
  end(&t);
}

static void test_two_sources_on_one_node(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put(&t, YOKE_RESISTOR, "R1", "env", "0", 1);
  circuits_fix(t.network, "Tenv", "env", 300);
  circuits_fix(t.network, "Tair", "env", 310);
  circuits_fix(t.network, "Tgnd", "0", 310);
  check_counts(&t, 2, 0, 0);
  check_contains(t.text, "'Tair' fixes node 'env', which is fixed by 'Tenv' already");
  check_contains(t.text, "'Tgnd' fixes node '0', which is fixed by 'ground' already");
  end(&t);
}

// steady voltage: no operating point; a sine that starts at 0: its current is open; coils alone:
// likewise
static void test_inductor_loops(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put(&t, YOKE_VOLTAGE, "V1", "a", "0", 1);
  put(&t, YOKE_INDUCTOR, "L1", "a", "0", 1);
  check_counts(&t, 0, 0, 0);
  ask_for_operating_point(&t);
  check_counts(&t, 1, 0, 0);
  check_contains(t.text,
                 "t.cir:3: error: loop of inductors and voltage sources ('L1', 'V1'): there "
                 "is no operating point");
  t.network->elements[1].has_start = true;
  yoke__messages_free(&t.messages);
  check_counts(&t, 0, 0, 0);
  end(&t);

  begin(&t);
  circuits_add_sine(t.network, YOKE_VOLTAGE, "V1", "a", "0", 0, 1, 50);
  put(&t, YOKE_INDUCTOR, "L1", "a", "0", 1);
  ask_for_operating_point(&t);
  check_counts(&t, 0, 1, 0);
  check_contains(t.text, "leaves its current open");
  end(&t);

  begin(&t);
  put_rlc(&t);
  put(&t, YOKE_INDUCTOR, "L2", "3", "0", 1);
  ask_for_operating_point(&t);
  check_counts(&t, 1, 0, 0);
  check_contains(t.text, "t.cir:7: error: loop of inductors ('L2', 'L1'): the operating point");
  t.network->run.is_uic = true;
  yoke__messages_free(&t.messages);
  check_counts(&t, 0, 0, 0);
  end(&t);
}

static void test_capacitor_loop_is_index_2(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put(&t, YOKE_VOLTAGE, "V1", "a", "0", 1);
  put(&t, YOKE_CAPACITOR, "C1", "a", "b", 1);
  put(&t, YOKE_CAPACITOR, "C2", "a", "b", 1);  // loops of capacitors alone are fine
  put(&t, YOKE_RESISTOR, "R1", "b", "0", 1);
  check_counts(&t, 0, 0, 0);
  put(&t, YOKE_CAPACITOR, "C3", "b", "0", 1);
  check_counts(&t, 0, 0, 1);
  check_contains(t.text,
                 "t.cir:6: note: loop of capacitors and voltage sources ('C3', 'C1', 'V1')");
  end(&t);
}

// ---- values

static void test_values_without_meaning(void** state) {
  (void)state;
  static const struct {
    yoke_element_kind kind;
    double value;
    size_t n_errors, n_warnings;
    const char* part;
  } cases[] = {
      {YOKE_RESISTOR, 0, 1, 0, "resistance 0: use a voltage source of 0 V for a short"},
      {YOKE_RESISTOR, -5, 0, 1, "resistance -5 is negative"},
      {YOKE_RESISTOR, (double)NAN, 1, 0, "value nan is not finite"},
      {YOKE_RESISTOR, (double)INFINITY, 1, 0, "value inf is not finite"},
      {YOKE_CAPACITOR, 0, 1, 0, "capacitance 0: leave it out"},
      {YOKE_CAPACITOR, -1e-6, 1, 0, "capacitance -1e-6 is negative"},
      {YOKE_INDUCTOR, 0, 1, 0, "inductance 0: use a voltage source"},
      {YOKE_INDUCTOR, -1e-3, 1, 0, "inductance -0.001 is negative"},
      {YOKE_CURRENT, (double)NAN, 1, 0, "value nan is not finite"},
      {YOKE_CURRENT, 0, 0, 0, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    trial t;
    begin(&t);
    put(&t, YOKE_RESISTOR, "R0", "a", "0", 1);
    put(&t, cases[i].kind, "X1", "a", "0", cases[i].value);
    check_counts(&t, cases[i].n_errors, cases[i].n_warnings, 0);
    check_contains(t.text, cases[i].part);
    if (cases[i].part[0] != '\0') {
      check_contains(t.text, "t.cir:3: ");
    }
    end(&t);
  }
}

static void test_waves_without_meaning(void** state) {
  (void)state;
  static const double back[] = {0, 1, 2, 1, 1, 1};
  static const double endless[] = {0, 1, 2, (double)INFINITY};
  static const struct {
    yoke_wave wave;
    const char* part;
  } cases[] = {
      {{.kind = YOKE_WAVE_PWL, .table = back, .n_points = 3}, "times that go back"},
      {{.kind = YOKE_WAVE_PWL, .table = endless, .n_points = 2}, "not finite"},
      {{.kind = YOKE_WAVE_PWL}, "no points"},
      {{.kind = YOKE_WAVE_PULSE, .p = {0, 1, 0, -1}}, "a negative duration"},
      {{.kind = YOKE_WAVE_EXP, .p = {0, 1, 0, -1}}, "a negative time constant"},
      {{.kind = YOKE_WAVE_SIN, .p = {0, (double)NAN}}, "not finite"},
      {{.kind = YOKE_WAVE_PULSE, .p = {0, 1, 0, 0, 0, (double)INFINITY}}, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    trial t;
    begin(&t);
    put(&t, YOKE_RESISTOR, "R0", "a", "0", 1);
    put(&t, YOKE_VOLTAGE, "V1", "a", "0", 1)->value.wave = &cases[i].wave;
    check_counts(&t, cases[i].part == NULL ? 0 : 1, 0, 0);
    check_contains(t.text, cases[i].part == NULL ? "" : cases[i].part);
    end(&t);
  }
}

static void test_both_ends_on_one_node(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put_rlc(&t);
  put(&t, YOKE_RESISTOR, "R2", "3", "3", 1);
  check_counts(&t, 0, 1, 0);
  check_contains(t.text, "t.cir:7: warning: 'R2' has both ends on node '3'");
  end(&t);
}

static void test_incomplete_elements(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put(&t, YOKE_RESISTOR, "R1", "a", "0", 1);
  put(&t, YOKE_RESISTOR, "R2", "a", "0", 1)->b = 77;
  put(&t, YOKE_CCCS, "F1", "a", "0", 1);
  put(&t, YOKE_JUNCTION, "D1", "a", "0", 1);
  put(&t, YOKE_SWITCH, "S1", "a", "0", 1);
  check_counts(&t, 4, 0, 0);
  check_contains(t.text, "t.cir:3: error: element 'R2' is incomplete");
  end(&t);
  begin(&t);
  check_counts(&t, 1, 0, 0);
  check_contains(t.text, "the network has no elements");
  end(&t);
}

// ---- couplings

static void put_coils(trial* self, int n) {
  for (int i = 1; i <= n; i++) {
    char l[16], r[16], a[16];
    snprintf(l, sizeof l, "L%d", i);
    snprintf(r, sizeof r, "R%d", i);
    snprintf(a, sizeof a, "a%d", i);
    put(self, YOKE_INDUCTOR, l, a, "0", i);
    put(self, YOKE_RESISTOR, r, a, "0", 1);
  }
}

static void test_coupling_factors(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put_coils(&t, 4);  // lines 2 to 9
  put_mutual(&t, "K1", "L1", "L2", 1);
  put_mutual(&t, "K2", "L1", "L3", -1.5);
  put_mutual(&t, "K3", "L1", "R1", 0.5);
  put_mutual(&t, "K4", "L4", "L4", 0.5);
  put_mutual(&t, "K5", "L2", "L3", 0.5);
  put_mutual(&t, "K6", "L3", "L2", 0.5);
  put_mutual(&t, "K7", "L3", "L4", (double)NAN);
  check_counts(&t, 6, 0, 0);
  check_contains(t.text, "t.cir:10: error: coupling 'K1': factor 1; it must lie between -1 and 1");
  check_contains(t.text, "t.cir:11: error: coupling 'K2': factor -1.5");
  check_contains(t.text, "t.cir:12: error: coupling 'K3': 'R1' is not an inductor");
  check_contains(t.text, "t.cir:13: error: coupling 'K4' joins 'L4' to itself");
  check_contains(t.text,
                 "t.cir:15: error: coupling 'K6' joins inductors that 'K5' couples already");
  end(&t);
}

// Three coils, each pair coupled by the same k: eigenvalues 1 - k (twice) and 1 + 2 k, so the
// limits are -1/2 and 1.
static void test_three_coils(void** state) {
  (void)state;
  static const double factors[] = {-0.6, -0.500001, -0.499999, -0.3, 0.7, 0.999};
  for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
    trial t;
    begin(&t);
    put_coils(&t, 3);
    put_mutual(&t, "K12", "L1", "L2", factors[i]);
    put_mutual(&t, "K23", "L2", "L3", factors[i]);
    put_mutual(&t, "K13", "L1", "L3", factors[i]);
    check_counts(&t, factors[i] < -0.5 ? 1 : 0, 0, 0);
    if (factors[i] < -0.5) {
      check_contains(t.text,
                     "couplings 'K12', 'K13', 'K23': their 3 inductors would store negative");
    }
    end(&t);
  }
}

// A chain of n coils, neighbours coupled by k: eigenvalues 1 + 2 k cos(i pi/(n+1)); positive
// definite while |k| < 1/(2 cos(pi/(n+1))).
static void test_chain_of_coils(void** state) {
  (void)state;
  const int n = 200;
  const double limit = 0.5 / cos(3.14159265358979323846 / (n + 1));
  for (int is_beyond = 0; is_beyond < 2; is_beyond++) {
    trial t;
    begin(&t);
    put_coils(&t, n);
    for (int i = 1; i < n; i++) {
      char k[16], a[16], b[16];
      snprintf(k, sizeof k, "K%d", i);
      snprintf(a, sizeof a, "L%d", i);
      snprintf(b, sizeof b, "L%d", i + 1);
      put_mutual(&t, k, a, b, limit * (is_beyond != 0 ? 1 + 1e-6 : 1 - 1e-6));
    }
    check_counts(&t, (size_t)is_beyond, 0, 0);
    end(&t);
  }
}

// ---- random networks against their equations

enum { MAX_UNKNOWNS = 48 };

typedef struct matrix {
  int n;
  double a[MAX_UNKNOWNS][2 * MAX_UNKNOWNS];
} matrix;

static uint32_t next_random(uint32_t* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static uint32_t pick(uint32_t* seed, uint32_t n) {
  return next_random(seed) % n;
}

// between 0.5 and 2.5
static double some_value(uint32_t* seed) {
  return 0.5 + 2.0 * (double)pick(seed, 1u << 20) / (double)(1u << 20);
}

static void swap_rows(matrix* m, int i, int j, int width) {
  for (int c = 0; c < width; c++) {
    const double keep = m->a[i][c];
    m->a[i][c] = m->a[j][c];
    m->a[j][c] = keep;
  }
}

// Eliminates the first n_columns columns, rows of `width` numbers; the rank of those columns.
// Entries are of order 1 and there are a few dozen: zeros come out below 1e-9, pivots of these
// values far above.
static int eliminate(matrix* m, int n_rows, int n_columns, int width) {
  int rank = 0;
  bool is_used[2 * MAX_UNKNOWNS] = {false};
  while (rank < n_rows) {
    int row = rank, column = 0;
    double best = 0;
    for (int i = rank; i < n_rows; i++) {
      for (int j = 0; j < n_columns; j++) {
        if (!is_used[j] && fabs(m->a[i][j]) > best) {
          best = fabs(m->a[i][j]);
          row = i;
          column = j;
        }
      }
    }
    if (best < 1e-9) {
      return rank;
    }
    is_used[column] = true;
    swap_rows(m, rank, row, width);
    for (int i = rank + 1; i < n_rows; i++) {
      const double factor = m->a[i][column] / m->a[rank][column];
      for (int j = 0; j < width; j++) {
        m->a[i][j] -= factor * m->a[rank][j];
      }
      m->a[i][column] = 0;
    }
    rank++;
  }
  return rank;
}

// E x' + K x = f of specification 1.3 in E = left half, K = right half of the columns.
static void assemble(const yoke_network* network, matrix* m) {
  const int n_v = (int)network->n_nodes, n = n_v + (int)network->n_elements;
  memset(m, 0, sizeof *m);
  m->n = n;
  assert_true(n <= MAX_UNKNOWNS);
  for (int i = 0; i < n_v; i++) {
    if (network->nodes[i].is_fixed) {
      m->a[i][n + i] = 1;
    }
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const yoke_element* x = &network->elements[e];
    const int a = (int)x->a, b = (int)x->b, current = n_v + (int)e;
    double *E = m->a[n_v + (int)e], *K = E + n;
    if (!network->nodes[a].is_fixed) {
      m->a[a][n + current] -= 1;
    }
    if (!network->nodes[b].is_fixed) {
      m->a[b][n + current] += 1;
    }
    if (x->kind == YOKE_CAPACITOR) {
      E[a] += x->value.constant;
      E[b] -= x->value.constant;
      K[current] = -1;
      continue;
    }
    if (x->kind == YOKE_CURRENT || x->kind == YOKE_VCCS || x->kind == YOKE_CCCS) {
      K[current] += 1;
    } else {
      K[a] += 1;
      K[b] -= 1;
    }
    if (x->kind == YOKE_RESISTOR) {
      K[current] -= x->value.constant;
    } else if (x->kind == YOKE_INDUCTOR) {
      E[current] -= x->value.constant;
    } else if (x->kind == YOKE_VCVS || x->kind == YOKE_VCCS) {
      K[x->c] -= x->value.constant;
      K[x->d] += x->value.constant;
    } else if (x->kind == YOKE_CCVS || x->kind == YOKE_CCCS) {
      K[n_v + (int)x->control] -= x->value.constant;
    }
  }
}

// a0 E + K is regular; a0 = 0 is the operating point
static bool is_regular(const yoke_network* network, double a0) {
  static matrix m;
  assemble(network, &m);
  for (int i = 0; i < m.n; i++) {
    for (int j = 0; j < m.n; j++) {
      m.a[i][j] = a0 * m.a[i][j] + m.a[i][m.n + j];
    }
  }
  return eliminate(&m, m.n, m.n, m.n) == m.n;
}

// index at most 1: E with the algebraic rows (those that E's elimination leaves) put below it is
// regular
static bool is_index_1(const yoke_network* network) {
  static matrix m;
  assemble(network, &m);
  const int rank = eliminate(&m, m.n, m.n, 2 * m.n);
  for (int i = rank; i < m.n; i++) {
    for (int j = 0; j < m.n; j++) {
      m.a[i][j] = m.a[i][m.n + j];
    }
  }
  return eliminate(&m, m.n, m.n, m.n) == m.n;
}

// elements between random nodes; driven ones only if asked for
static void put_random(trial* t, uint32_t* seed, bool is_driven) {
  static const yoke_element_kind kinds[] = {YOKE_RESISTOR, YOKE_CAPACITOR, YOKE_INDUCTOR,
                                            YOKE_VOLTAGE,  YOKE_CURRENT,   YOKE_VCVS,
                                            YOKE_VCCS,     YOKE_CCVS,      YOKE_CCCS};
  const uint32_t n_nodes = 3 + pick(seed, 6), n_elements = 3 + pick(seed, 14);
  for (uint32_t i = 0; i < n_elements; i++) {
    char name[16], a[16], b[16];
    const uint32_t p = pick(seed, n_nodes), q = (p + 1 + pick(seed, n_nodes - 1)) % n_nodes;
    snprintf(name, sizeof name, "x%u", i);
    snprintf(a, sizeof a, "%u", p);
    snprintf(b, sizeof b, "%u", q);
    put(t, kinds[pick(seed, is_driven ? 9 : 5)], name, a, b, some_value(seed));
  }
  if (pick(seed, 4) == 0) {
    circuits_fix(t->network, "T1", "1", 3);
  }
  for (uint32_t i = 0; i < n_elements; i++) {
    yoke_element* element = &t->network->elements[i];
    if (element->kind == YOKE_VCVS || element->kind == YOKE_VCCS) {
      element->c = pick(seed, t->network->n_nodes);
      element->d = pick(seed, t->network->n_nodes);
    } else if (element->kind == YOKE_CCVS || element->kind == YOKE_CCCS) {
      element->control = pick(seed, n_elements);
    }
  }
}

static bool says(const trial* t, const char* part) {
  return strstr(t->text, part) != NULL;
}

// R, L, C, V, I: errors where and only where the equations are singular; notes where and only where
// the index is 2; words about the operating point where and only where it is not unique
static void test_random_networks(void** state) {
  (void)state;
  size_t n_singular = 0, n_index_2 = 0, n_dc = 0;
  for (uint32_t seed = 1; seed <= 4000; seed++) {
    uint32_t random = seed * 2654435761u;
    trial t;
    begin(&t);
    put_random(&t, &random, false);
    run(&t);
    const bool is_singular = !is_regular(t.network, 1.7);
    if (is_singular != (t.messages.n_errors > 0)) {
      fail_msg("network %u is %s, but the check says\n%s", seed,
               is_singular ? "singular" : "regular", t.text);
    }

    // an inductor with a loose end is a cut set too, and is reported as a loose end
    const bool is_simple = is_singular || is_index_1(t.network);
    if (is_simple ? !is_singular && says(&t, "index 2")
                  : !says(&t, "index 2") && !says(&t, "single connection")) {
      fail_msg("network %u has index %d, but the check says\n%s", seed, is_simple ? 1 : 2, t.text);
    }
    n_singular += is_singular;
    n_index_2 += !is_singular && says(&t, "index 2");
    if (!is_singular) {
      const bool is_unique = is_regular(t.network, 0);
      ask_for_operating_point(&t);
      yoke__messages_free(&t.messages);
      run(&t);

      // a loose capacitor leaves the level of its end open as well, and is reported as a loose end
      const bool is_said = says(&t, "operating point") || says(&t, "single connection");
      if ((!is_unique && !is_said) || (is_unique && says(&t, "operating point"))) {
        fail_msg("network %u has %s operating point, but the check says\n%s", seed,
                 is_unique ? "one" : "no or any", t.text);
      }
      n_dc += !is_unique;
    }
    end(&t);
  }
  printf("4000 networks: %zu singular; of the others %zu of index 2, %zu without operating point\n",
         n_singular, n_index_2, n_dc);
  assert_true(n_singular > 400 && n_singular < 3600 && n_index_2 > 100 && n_dc > 100);
}

// with controlled sources an error still means that the equations are singular, whatever the values
static void test_random_driven_networks(void** state) {
  (void)state;
  size_t n_singular = 0, n_found = 0;
  for (uint32_t seed = 1; seed <= 4000; seed++) {
    uint32_t random = seed * 2246822519u;
    trial t;
    begin(&t);
    put_random(&t, &random, true);
    run(&t);
    const bool is_singular = !is_regular(t.network, 1.7);
    if (!is_singular && t.messages.n_errors > 0) {
      fail_msg("network %u is regular, but the check says\n%s", seed, t.text);
    }
    n_singular += is_singular;
    n_found += t.messages.n_errors > 0;
    end(&t);
  }
  printf("4000 networks with controlled sources: %zu singular, %zu of them found\n", n_singular,
         n_found);
  assert_true(2 * n_found > n_singular);
}

// ---- many

static double seconds_to_check(int n) {
  trial t;
  begin(&t);
  put_ladder(&t, n);
  const clock_t start = clock();
  check_ok(run(&t));
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  end(&t);
  return seconds;
}

static void test_checking_is_linear(void** state) {
  (void)state;
  double small = HUGE_VAL, large = HUGE_VAL;
  for (int i = 0; i < 3; i++) {
    small = fmin(small, seconds_to_check(5000));
    large = fmin(large, seconds_to_check(40000));
  }
  printf("15001 elements: %.4f s, 120001: %.4f s\n", small, large);

  // eight times as many: quadratic work would need 64 times as long
  check_between(large / fmax(small, 1e-4), 0, 24);
}

// thousands of the same mistake: a few are shown, the rest is counted
static void test_many_mistakes(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put_rlc(&t);
  for (int i = 0; i < 3000; i++) {
    char name[16], a[16], b[16];
    snprintf(name, sizeof name, "RR%d", i);
    snprintf(a, sizeof a, "p%d", i);
    snprintf(b, sizeof b, "q%d", i);
    put(&t, YOKE_RESISTOR, name, a, b, 1);
    snprintf(name, sizeof name, "VV%d", i);
    put(&t, YOKE_VOLTAGE, name, "2", "0", 1);
    snprintf(name, sizeof name, "CC%d", i);
    put(&t, YOKE_CAPACITOR, name, "2", "0", 1);
  }
  check_counts(&t, 42, 0, 1);
  check_contains(t.text, "and 2980 more parts of this kind");
  check_contains(t.text, "and 2980 more loops of this kind");
  end(&t);
}

// ---- memory

#if HAS_OWN_MALLOC
static void test_out_of_memory(void** state) {
  (void)state;
  trial t;
  begin(&t);
  put_ladder(&t, 10);
  put_coils(&t, 3);
  t.line = 0;
  put_mutual(&t, "K12", "L1", "L2", 0.5);
  heap = (failing_heap){.is_on = true, .fails_at = -1};
  check_ok(yoke__network_check(t.network, &t.messages));
  heap.is_on = false;
  const long n = heap.n_requests;
  assert_true(n > 3);
  for (long i = 0; i < n; i++) {
    heap = (failing_heap){.is_on = true, .fails_at = i};
    const yoke_status status = yoke__network_check(t.network, &t.messages);
    heap.is_on = false;
    if (status != YOKE_NO_MEMORY || heap.n_blocks != 0) {
      fail_msg("request %ld of %ld refused: status %d, %ld blocks left", i, n, (int)status,
               heap.n_blocks);
    }
  }
  end(&t);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_rlc_is_silent),
    cmocka_unit_test(test_ladder_is_silent),
    cmocka_unit_test(test_rectifier_gets_a_note),
    cmocka_unit_test(test_driven_sources_are_not_suspected),
    cmocka_unit_test(test_isolated_parts),
    cmocka_unit_test(test_current_source_cuts),
    cmocka_unit_test(test_capacitor_cuts),
    cmocka_unit_test(test_thermal_words),
    cmocka_unit_test(test_inductor_cut_is_index_2),
    cmocka_unit_test(test_loose_ends),
    cmocka_unit_test(test_ideal_switches),
    cmocka_unit_test(test_voltage_loops),
    cmocka_unit_test(test_two_sources_on_one_node),
    cmocka_unit_test(test_inductor_loops),
    cmocka_unit_test(test_capacitor_loop_is_index_2),
    cmocka_unit_test(test_values_without_meaning),
    cmocka_unit_test(test_waves_without_meaning),
    cmocka_unit_test(test_both_ends_on_one_node),
    cmocka_unit_test(test_incomplete_elements),
    cmocka_unit_test(test_coupling_factors),
    cmocka_unit_test(test_three_coils),
    cmocka_unit_test(test_chain_of_coils),
    cmocka_unit_test(test_random_networks),
    cmocka_unit_test(test_random_driven_networks),
    cmocka_unit_test(test_checking_is_linear),
    cmocka_unit_test(test_many_mistakes),
#if HAS_OWN_MALLOC
    cmocka_unit_test(test_out_of_memory),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
