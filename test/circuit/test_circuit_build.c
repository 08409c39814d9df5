// Networks made by a program: names, copies, probes, growth, running out of memory.
#include <time.h>

#include "circuit/network/circuit_build.h"

#include "support/check.h"
#include "support/circuits.h"
#include "support/failing_heap.h"

static const yoke_place here = {"x.cir", 7, 3};

static yoke_network* make(void) {
  yoke_network* network = NULL;
  check_ok(yoke__network_create("a title", &network));
  return network;
}

// ---- names

static void test_empty_network(void** state) {
  (void)state;
  yoke_network* network = make();
  assert_string_equal(network->title, "a title");
  assert_int_equal(network->n_nodes, 1);
  assert_true(network->nodes[0].is_fixed);
  assert_string_equal(network->nodes[0].name, "0");
  check_near(network->nodes[0].fixed.constant, 0, 0);
  check_near(network->run.temperature, 300.15, 0);
  check_near(network->run.gmin, 1e-12, 0);
  assert_int_equal(network->n_elements, 0);
  yoke__network_destroy(&network);
  assert_null(network);
  yoke__network_destroy(&network);  // again: nothing
}

static void test_names_ignore_case(void** state) {
  (void)state;
  yoke_network* network = make();
  const uint32_t out = yoke__network_node(network, "Out", YOKE_ELECTRIC, here);
  assert_int_equal(out, 1);
  assert_int_equal(yoke__network_node(network, "oUT", YOKE_ELECTRIC, here), out);
  assert_int_equal(yoke__network_find_node(network, "OUT"), out);
  assert_string_equal(network->nodes[out].name, "Out");  // as first written
  assert_int_equal(yoke__network_find_node(network, "Ou"), YOKE_NO_INDEX);
  assert_int_equal(yoke__network_find_node(network, "Outx"), YOKE_NO_INDEX);

  // ground has two names, and only whole ones
  assert_int_equal(yoke__network_node(network, "GND", YOKE_THERMAL, here), 0);
  assert_int_equal(yoke__network_find_node(network, "gnd"), 0);
  assert_int_equal(yoke__network_find_node(network, "0"), 0);
  assert_int_equal(yoke__network_node(network, "gnd1", YOKE_ELECTRIC, here), 2);

  const uint32_t r = circuits_add_constant(network, YOKE_RESISTOR, "R1", "out", "0", 5);
  assert_int_equal(yoke__network_find_element(network, "r1"), r);
  assert_int_equal(yoke__network_find_element(network, "out"), YOKE_NO_INDEX);
  assert_int_equal(network->n_nodes, 3);
  yoke__network_destroy(&network);
}

// all that the caller had may go away after it was added
static void test_everything_is_copied(void** state) {
  (void)state;
  yoke_network* network = make();
  char name[] = "V1", source[] = "x.cir", text[] = "2*time";
  double table[] = {0, 1, 2, 3};
  yoke_operation operations[] = {{YOKE_OP_NUMBER, 0, 2}, {YOKE_OP_LIVE, 0, 0}, {YOKE_OP_MUL, 0, 0}};
  yoke_live live[] = {{YOKE_LIVE_TIME, 0}};
  yoke_wave wave = {.kind = YOKE_WAVE_PWL, .table = table, .n_points = 2, .repeat_from = -1};
  yoke_expression law = {operations, 3, live, 1, text};
  yoke_junction_model junction = {.is = 1e-14, .n = 1, .vt = 0.025};
  yoke_switch_model switching = {.r_on = 1, .r_off = 1e6};
  yoke_element element = {.kind = YOKE_VOLTAGE,
                          .name = name,
                          .a = 1,
                          .control = YOKE_NO_INDEX,
                          .value = {.wave = &wave},
                          .junction = &junction,
                          .switching = &switching,
                          .condition = &law,
                          .place = {source, 3, 4}};
  yoke__network_node(network, "a", YOKE_ELECTRIC, here);
  const uint32_t index = yoke__network_add(network, &element);
  assert_int_equal(index, 0);

  memset(name, '#', 2);
  memset(source, '#', 5);
  memset(text, '#', 6);
  memset(table, 0x7f, sizeof table);
  memset(operations, 0x7f, sizeof operations);
  memset(live, 0x7f, sizeof live);
  memset(&wave, 0x7f, sizeof wave);
  memset(&junction, 0x7f, sizeof junction);
  memset(&switching, 0x7f, sizeof switching);
  const yoke_element* kept = &network->elements[0];
  assert_string_equal(kept->name, "V1");
  assert_string_equal(kept->place.source, "x.cir");
  check_near(yoke__wave_value(kept->value.wave, 1), 2, 0);
  check_near(kept->junction->is, 1e-14, 0);
  check_near(kept->switching->r_off, 1e6, 0);
  assert_string_equal(kept->condition->text, "2*time");
  assert_int_equal(kept->condition->operations[2].code, YOKE_OP_MUL);
  assert_int_equal(kept->condition->live[0].kind, YOKE_LIVE_TIME);
  yoke__network_destroy(&network);
}

static void test_kept_things_are_not_copied_again(void** state) {
  (void)state;
  yoke_network* network = make();
  const yoke_wave wave = {.kind = YOKE_WAVE_DC, .p = {3}};
  const yoke_wave* kept = yoke__network_keep_wave(network, &wave);
  assert_ptr_not_equal(kept, &wave);
  const yoke_element element = {.kind = YOKE_VOLTAGE, .name = "v1", .value = {.wave = kept}};
  const uint32_t index = yoke__network_add(network, &element);
  assert_ptr_equal(network->elements[index].value.wave, kept);

  // equal models in a row are one
  const yoke_junction_model model = {.is = 1e-15, .n = 1.5, .vt = 0.025852};
  const yoke_junction_model same = model;
  const uint32_t d1 = yoke__network_add_diode(network, "d1", 0, 0, &model, 0, here);
  const uint32_t d2 = yoke__network_add_diode(network, "d2", 0, 0, &same, 0, here);
  assert_ptr_equal(network->elements[d1].junction, network->elements[d2].junction);
  assert_ptr_not_equal(network->elements[d1].junction, &model);
  yoke__network_destroy(&network);
}

static void test_diode_parts(void** state) {
  (void)state;
  yoke_network* network = make();
  const yoke_junction_model model = {.is = 1e-15, .n = 1.5, .vt = 0.025852};
  const uint32_t a = yoke__network_node(network, "a", YOKE_ELECTRIC, here);
  const uint32_t k = yoke__network_node(network, "k", YOKE_ELECTRIC, here);
  const uint32_t d = yoke__network_add_diode(network, "D1", a, k, &model, 1e-3, here);
  assert_int_equal(network->elements[d].kind, YOKE_JUNCTION);
  const uint32_t rs = yoke__network_find_element(network, "d1#rs");
  const uint32_t inner = yoke__network_find_node(network, "d1#1");
  assert_int_not_equal(rs, YOKE_NO_INDEX);
  assert_int_not_equal(inner, YOKE_NO_INDEX);
  assert_int_equal(network->elements[d].a, a);
  assert_int_equal(network->elements[d].b, inner);
  assert_int_equal(network->elements[rs].a, inner);
  assert_int_equal(network->elements[rs].b, k);
  check_near(network->elements[rs].value.constant, 1e-3, 0);
  assert_true(network->elements[rs].is_internal);
  assert_true(network->nodes[inner].is_internal);
  assert_false(network->elements[d].is_internal);

  // without resistance no more than the junction
  const uint32_t ideal = yoke__network_add_diode(network, "D2", a, k, &model, 0, here);
  assert_int_equal(network->elements[ideal].b, k);
  assert_int_equal(network->n_elements, 3);

  // a node that a user calls like an inner one is not joined to it
  const uint32_t users = yoke__network_node(network, "d3#1", YOKE_ELECTRIC, here);
  const uint32_t d3 = yoke__network_add_diode(network, "D3", a, k, &model, 1, here);
  assert_int_not_equal(network->elements[d3].b, users);
  yoke__network_destroy(&network);
}

static void test_fixed_nodes(void** state) {
  (void)state;
  yoke_network* network = make();
  const uint32_t env = circuits_fix(network, "Tenv", "env", 300);
  assert_int_equal(env, 1);
  assert_true(network->nodes[env].is_fixed);
  assert_string_equal(network->nodes[env].fixed_name, "Tenv");
  check_near(network->nodes[env].fixed.constant, 300, 0);

  // the first value stays
  assert_int_equal(circuits_fix(network, "Tother", "env", 400), env);
  assert_string_equal(network->nodes[env].fixed_name, "Tenv");
  check_near(network->nodes[env].fixed.constant, 300, 0);
  yoke__network_destroy(&network);
}

// ---- probes

// a transformer's worth of names, electric and thermal
static yoke_network* make_named(void) {
  yoke_network* network = make();
  circuits_add_constant(network, YOKE_RESISTOR, "R1", "In", "x1.out", 1);
  circuits_add_constant(network, YOKE_INDUCTOR, "x1.L1", "x1.out", "0", 1);
  circuits_add_constant(network, YOKE_VOLTAGE, "Vin", "In", "0", 1);
  const yoke_junction_model model = {.is = 1e-15, .n = 1.5, .vt = 0.025852};
  yoke__network_add_diode(network, "D1", 1, 2, &model, 1e-3, here);
  const uint32_t hot = yoke__network_node(network, "winding", YOKE_THERMAL, here);
  const uint32_t env = yoke__network_node(network, "env", YOKE_THERMAL, here);
  circuits_add_constant(network, YOKE_RESISTOR, "Rth", "winding", "env", 1);
  yoke__network_fix_node(network, "Tenv", env, &(yoke_circuit_value){.constant = 300}, here);
  assert_int_equal(network->elements[network->n_elements - 1].domain, YOKE_THERMAL);
  assert_int_equal(hot + 1, env);
  return network;
}

static void test_probes_are_found(void** state) {
  (void)state;
  static const struct {
    const char *text, *name, *dim;
    yoke_probe_kind kind;
    const char *first, *second;  // name of the element or node, or of the second node
  } cases[] = {
      {"v(in)", "v(In)", "V", YOKE_PROBE_VOLTAGE, "In", NULL},
      {" V ( IN ) ", "v(In)", "V", YOKE_PROBE_VOLTAGE, "In", NULL},
      {"v(in,X1.OUT)", "v(In,x1.out)", "V", YOKE_PROBE_DIFFERENCE, "In", "x1.out"},
      {"v( in , 0 )", "v(In,0)", "V", YOKE_PROBE_DIFFERENCE, "In", "0"},
      {"v(gnd)", "v(0)", "V", YOKE_PROBE_VOLTAGE, "0", NULL},
      {"v(d1#1)", "v(D1#1)", "V", YOKE_PROBE_VOLTAGE, "D1#1", NULL},
      {"t(winding)", "t(winding)", "K", YOKE_PROBE_VOLTAGE, "winding", NULL},
      {"v(winding)", "v(winding)", "K", YOKE_PROBE_VOLTAGE, "winding", NULL},
      {"t(winding,env)", "t(winding,env)", "K", YOKE_PROBE_DIFFERENCE, "winding", "env"},
      {"i(r1)", "i(R1)", "A", YOKE_PROBE_CURRENT, "R1", NULL},
      {"i(vin)", "i(Vin)", "A", YOKE_PROBE_CURRENT, "Vin", NULL},
      {"i(d1)", "i(D1)", "A", YOKE_PROBE_CURRENT, "D1", NULL},
      {"i(d1#rs)", "i(D1#rs)", "A", YOKE_PROBE_CURRENT, "D1#rs", NULL},
      {"i(x1.l1)", "i(x1.L1)", "A", YOKE_PROBE_CURRENT, "x1.L1", NULL},
      {"i(l.x1.l1)", "i(x1.L1)", "A", YOKE_PROBE_CURRENT, "x1.L1", NULL},  // as ngspice names it
      {"i(rth)", "i(Rth)", "W", YOKE_PROBE_CURRENT, "Rth", NULL},
      {"i(tenv)", "i(Tenv)", "W", YOKE_PROBE_FLOW, "env", NULL},
      {"p(r1)", "p(R1)", "W", YOKE_PROBE_POWER, "R1", NULL},
  };
  yoke_network* network = make_named();
  yoke_messages messages = {0};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_probe probe;
    const yoke_status status =
        yoke__network_find_probe(network, cases[i].text, here, &messages, &network->arena, &probe);
    if (status != YOKE_OK) {
      char text[512];
      yoke__messages_format(&messages, text, sizeof text);
      fail_msg("%s: %s", cases[i].text, text);
    }
    assert_string_equal(probe.name, cases[i].name);
    assert_string_equal(probe.dim, cases[i].dim);
    assert_int_equal(probe.kind, cases[i].kind);
    assert_int_equal(probe.place.line, 7);
    const bool is_node = probe.kind == YOKE_PROBE_VOLTAGE || probe.kind == YOKE_PROBE_DIFFERENCE ||
                         probe.kind == YOKE_PROBE_FLOW;
    assert_int_equal(probe.index, is_node ? yoke__network_find_node(network, cases[i].first)
                                          : yoke__network_find_element(network, cases[i].first));
    if (cases[i].second != NULL) {
      assert_int_equal(probe.other, yoke__network_find_node(network, cases[i].second));
    }
  }
  yoke__messages_free(&messages);
  yoke__network_destroy(&network);
}

static void test_wrong_probes_are_explained(void** state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } cases[] = {
      {"v(inn)", "x.cir:7:3: error: v(inn): there is no node 'inn'; did you mean 'In'?"},
      {"i(r2x1)", "there is no element 'r2x1'\n"},
      {"i(tnev)", "did you mean 'Tenv'?"},
      {"v(x1.uot)", "did you mean 'x1.out'?"},
      {"i(In)", "there is no element 'In'; did you mean 'Vin'?"},
      {"i(v.x1.l1)", "there is no element 'v.x1.l1'"},
      {"t(in)", "not a node of a thermal network"},
      {"v(in,winding)", "no difference"},
      {"p(rth)", "a heat flow is a power already"},
      {"p(tenv)", "the heat flow of a temperature source is i(name)"},
      {"i(r1,vin)", "one element is expected"},
      {"", "not a quantity"},
      {"v", "not a quantity"},
      {"v(", "not a quantity"},
      {"v()", "not a quantity"},
      {"v(in", "not a quantity"},
      {"v(in,)", "not a quantity"},
      {"v(,in)", "not a quantity"},
      {"v(in,0,0)", "not a quantity"},
      {"v(in)x", "not a quantity"},
      {"v(in)(in)", "not a quantity"},
      {"v,in)", "not a quantity"},
      {"vdb(in)", "not a quantity"},
      {"z(in)", "not a quantity"},
  };
  yoke_network* network = make_named();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_messages messages = {0};
    yoke_probe probe;
    assert_int_equal(
        yoke__network_find_probe(network, cases[i].text, here, &messages, &network->arena, &probe),
        YOKE_BAD_INPUT);
    char text[512];
    yoke__messages_format(&messages, text, sizeof text);
    assert_int_equal(messages.n_errors, 1);
    check_contains(text, cases[i].part);
    yoke__messages_free(&messages);
  }
  yoke__network_destroy(&network);
}

// ---- size

// n resistors in a row with names of their own, each found again
static double seconds_to_build(uint32_t n) {
  const clock_t start = clock();
  yoke_network* network = make();
  for (uint32_t i = 0; i < n; i++) {
    char name[32], a[32], b[32];
    snprintf(name, sizeof name, "R%u", i);
    snprintf(a, sizeof a, "n%u", i);
    snprintf(b, sizeof b, "n%u", i + 1);
    circuits_add_constant(network, YOKE_RESISTOR, name, i == 0 ? "0" : a, b, 1.0 + i);
  }
  assert_int_equal(network->n_elements, n);
  assert_int_equal(network->n_nodes, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    char name[32];
    snprintf(name, sizeof name, "r%u", i);
    const uint32_t found = yoke__network_find_element(network, name);
    if (found != i || network->elements[i].a != i || network->elements[i].b != i + 1) {
      fail_msg("element %u was found as %u", i, found);
    }
  }
  yoke__network_destroy(&network);
  return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static double best_of(int n_runs, uint32_t n) {
  double best = HUGE_VAL;
  for (int i = 0; i < n_runs; i++) {
    best = fmin(best, seconds_to_build(n));
  }
  return best;
}

static void test_building_is_linear(void** state) {
  (void)state;
  const double small = best_of(3, 20000), large = best_of(3, 160000);
  printf("20000 elements: %.4f s, 160000: %.4f s\n", small, large);

  // eight times as many: a quadratic search would need 64 times as long
  check_between(large / small, 0, 24);
}

// names that differ in one place only, all lengths: no collision is taken for equality
static void test_similar_names(void** state) {
  (void)state;
  yoke_network* network = make();
  char name[2000];
  for (uint32_t n = 1; n < sizeof name; n++) {
    memset(name, 'a', n);
    name[n] = '\0';
    assert_int_equal(yoke__network_node(network, name, YOKE_ELECTRIC, here), n);
  }
  for (uint32_t n = 1; n < sizeof name; n++) {
    memset(name, 'A', n);
    name[n] = '\0';
    assert_int_equal(yoke__network_find_node(network, name), n);
    assert_int_equal(strlen(network->nodes[n].name), n);
  }
  yoke__network_destroy(&network);
}

// ---- memory

#if HAS_OWN_MALLOC
// everything a builder calls, once; true if all of it worked
static bool build_all(void) {
  yoke_network* network = NULL;
  if (yoke__network_create("t", &network) != YOKE_OK) {
    return false;
  }
  bool is_good = true;
  for (int i = 0; i < 40 && is_good; i++) {
    char name[16];
    snprintf(name, sizeof name, "r%d", i);
    is_good =
        circuits_add_constant(network, YOKE_RESISTOR, name, name, "0", 1) != YOKE_NO_INDEX &&
        circuits_add_sine(network, YOKE_VOLTAGE, name + 1, name, "0", 0, 1, 50) != YOKE_NO_INDEX &&
        circuits_fix(network, name, name + 1, 3) != YOKE_NO_INDEX &&
        circuits_fix(network, name, name + 1, 4) != YOKE_NO_INDEX;
  }
  const yoke_operation operation = {YOKE_OP_NUMBER, 0, 2};
  const yoke_expression law = {&operation, 1, NULL, 0, "2"};
  const yoke_junction_model model = {.is = 1e-15, .n = 1.5, .vt = 0.025852};
  const yoke_mutual mutual = {.name = "k1", .k = 0.5};
  const yoke_circuit_input input = {.name = "u", .dim = "V"};
  const yoke_probe probe = {.kind = YOKE_PROBE_LAW, .name = "y", .dim = "V", .law = &law};
  is_good = is_good &&
            yoke__network_add_diode(network, "d1", 0, 1, &model, 1, here) != YOKE_NO_INDEX &&
            yoke__network_add_mutual(network, &mutual) != YOKE_NO_INDEX &&
            yoke__network_add_input(network, &input) != YOKE_NO_INDEX &&
            yoke__network_add_output(network, &probe) != YOKE_NO_INDEX &&
            yoke__network_add_save(network, &probe) != YOKE_NO_INDEX;
  yoke__network_destroy(&network);
  return is_good;
}

static void test_out_of_memory(void** state) {
  (void)state;
  heap = (failing_heap){.is_on = true, .fails_at = -1};
  assert_true(build_all());
  heap.is_on = false;
  const long n = heap.n_requests;
  assert_true(n > 10);
  for (long i = 0; i < n; i++) {
    heap = (failing_heap){.is_on = true, .fails_at = i};
    const bool is_good = build_all();
    heap.is_on = false;
    if (is_good || heap.n_blocks != 0) {
      fail_msg("request %ld of %ld refused: %s, %ld blocks left", i, n,
               is_good ? "not noticed" : "noticed", heap.n_blocks);
    }
  }
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_empty_network),
    cmocka_unit_test(test_names_ignore_case),
    cmocka_unit_test(test_everything_is_copied),
    cmocka_unit_test(test_kept_things_are_not_copied_again),
    cmocka_unit_test(test_diode_parts),
    cmocka_unit_test(test_fixed_nodes),
    cmocka_unit_test(test_probes_are_found),
    cmocka_unit_test(test_wrong_probes_are_explained),
    cmocka_unit_test(test_building_is_linear),
    cmocka_unit_test(test_similar_names),
#if HAS_OWN_MALLOC
    cmocka_unit_test(test_out_of_memory),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
