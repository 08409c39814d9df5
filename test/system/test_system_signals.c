// Which signals a run is judged by, and which loops of units they belong to.
#include "system/system_fixture.h"

// ---- a unit with arrays, an integer, a tunable parameter, an output of each type

typedef struct mixed {
  double in[3], out[3], real, gain;
  int64_t count_in, count;
} mixed;

#define VARIABLE(member_, type_, causality_, rows_)                                                \
  {                                                                                                \
    .name = #member_, .type = (type_), .causality = (causality_), .n_rows = (rows_),               \
    .flags = YOKE_VARIABLE_HAS_START, .offset = offsetof(mixed, member_)                           \
  }

static const yoke_variable mixed_variables[] = {
    VARIABLE(in, YOKE_REAL, YOKE_INPUT, 3),     VARIABLE(count_in, YOKE_INTEGER, YOKE_INPUT, 0),
    VARIABLE(gain, YOKE_REAL, YOKE_TUNABLE, 0), VARIABLE(count, YOKE_INTEGER, YOKE_OUTPUT, 0),
    VARIABLE(out, YOKE_REAL, YOKE_OUTPUT, 3),   VARIABLE(real, YOKE_REAL, YOKE_OUTPUT, 0),
};
static const yoke_unit_info mixed_info = {.variables = mixed_variables,
                                          .n_variables = COUNT(mixed_variables),
                                          .flags = YOKE_UNIT_FLAT,
                                          .self_size = sizeof(mixed)};

static yoke_status mixed_step(void* self, double t, double h, yoke_step_result* result) {
  (void)self;
  (void)t;
  (void)h;
  (void)result;
  return YOKE_OK;
}

static yoke_status mixed_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

static const yoke_unit_ops mixed_ops = {YOKE_UNIT_HEAD, .name = "mixed", .info = &mixed_info,
                                        .step = mixed_step, .refresh = mixed_refresh};
static const yoke_unit_ops* const own[] = {&mixed_ops};

static int make_models(void** state) {
  *state = fixture_models(own, COUNT(own));
  return 0;
}

static int free_models(void** state) {
  yoke_registry* models = *state;
  yoke_registry_destroy(&models);
  return 0;
}

// ---- checks

// The names of all signals, one blank between them; indices into Y are those of the names.
static void check_signals(const sim* s, const char* want) {
  char text[1024] = "", name[256];
  size_t used = 0;
  for (size_t i = 0; i < s->system->n_judged; i++) {
    const yoke_system_signal* signal = &s->system->judged[i];
    yoke__system_signal_name(s->system, signal, name, sizeof name);
    assert_int_equal(signal->y, sim_index(s, name));
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i == 0 ? "" : " ", name);
  }
  assert_string_equal(text, want);
}

static const yoke_system_signal* signal_of(const sim* s, const char* name) {
  const size_t y = sim_index(s, name);
  for (size_t i = 0; i < s->system->n_judged; i++) {
    if (s->system->judged[i].y == y) {
      return &s->system->judged[i];
    }
  }
  fail_msg("'%s' is not judged", name);
  return NULL;
}

static void check_loop(const sim* s, const char* unit, size_t want) {
  assert_int_equal(s->system->unit_loops[fixture_unit(s, unit)], want);
}

// ---- loops

static void test_chain_has_no_loop(void** state) {
  (void)state;
  sim s = sim_open(HEAD "units: {a: {model: sine}, b: {model: gain}, c: {model: integrator}}\n"
                        "connections: [a.y -> b.u, b.y -> c.u]\n");
  // the end of the chain goes nowhere
  check_signals(&s, "a.y b.y");
  assert_int_equal(s.system->n_unit_loops, 0);
  for (size_t i = 0; i < 2; i++) {
    assert_true(s.system->judged[i].loop == YOKE_NOT_FOUND);
    assert_int_equal(s.system->judged[i].every, 1);
    assert_false(s.system->judged[i].is_in_bond);
  }
  sim_close(&s);
}

// Two loops joined by a connection one way, and a source before them.
static void test_two_loops(void** state) {
  (void)state;
  sim s = sim_open(
      HEAD "units: {source: {model: sine}, a: {model: sum, with: {signs: [1, -1]}}, d: {model: "
           "integrator},\n"
           "        b: {model: integrator}, c: {model: sum, with: {signs: [1, -1]}}}\n"
           "connections: [source.y -> a.u1, b.y -> a.u2, a.y -> b.u, b.y -> c.u1, d.y -> c.u2, "
           "c.y -> d.u]\n");
  check_signals(&s, "source.y a.y d.y b.y c.y");
  assert_int_equal(s.system->n_unit_loops, 2);
  check_loop(&s, "source", YOKE_NOT_FOUND);
  // numbered by their first unit in the file
  check_loop(&s, "a", 0);
  check_loop(&s, "b", 0);
  check_loop(&s, "d", 1);
  check_loop(&s, "c", 1);
  assert_int_equal(signal_of(&s, "b.y")->loop, 0);
  assert_int_equal(signal_of(&s, "c.y")->loop, 1);
  assert_true(signal_of(&s, "source.y")->loop == YOKE_NOT_FOUND);
  sim_close(&s);
}

static void test_unit_connected_to_itself(void** state) {
  (void)state;
  sim s = sim_open(HEAD "units: {a: {model: sine}, b: {model: integrator, with: {k: -1}}}\n"
                        "connections: [b.y -> b.u]\n");
  check_signals(&s, "b.y");
  assert_int_equal(s.system->n_unit_loops, 1);
  check_loop(&s, "a", YOKE_NOT_FOUND);
  check_loop(&s, "b", 0);
  sim_close(&s);
}

static void test_law_in_a_loop(void** state) {
  (void)state;
  sim s = sim_open(
      HEAD "units: {left: {model: oscillator.mass, with: {sign: -1}}, right: {model: "
           "oscillator.mass}}\n"
           "laws: {spring: {law: spring_damper, with: {k: 100}}}\n"
           "connections: [left.x -> spring.x1, left.v -> spring.v1, right.x -> spring.x2, right.v "
           "-> spring.v2, spring.f -> left.f, spring.f -> right.f]\n");
  check_signals(&s, "left.x left.v right.x right.v spring.f");
  assert_int_equal(s.system->n_unit_loops, 1);
  check_loop(&s, "left", 0);
  check_loop(&s, "right", 0);
  check_loop(&s, "spring", 0);
  // the bonds that were found
  assert_true(signal_of(&s, "spring.f")->is_in_bond);
  assert_true(signal_of(&s, "left.v")->is_in_bond);
  assert_false(signal_of(&s, "left.x")->is_in_bond);
  sim_close(&s);
}

// ---- what takes part

static void test_elements_of_vectors(void** state) {
  sim s = fixture_open(*state, HEAD "units: {a: {model: mixed}, b: {model: mixed}}\n"
                                    "connections: ['a.out[1] -> b.in[0]', 'b.out -> a.in']\n");
  check_signals(&s, "a.out[1] b.out[0] b.out[1] b.out[2]");
  assert_int_equal(s.system->judged[3].element, 2);
  assert_int_equal(s.system->n_unit_loops, 1);
  sim_close(&s);
}

// A real output to a parameter is a signal; an integer is none, but it makes the loop.
static void test_typed_connections(void** state) {
  sim s = fixture_open(*state, HEAD "units: {a: {model: mixed}, b: {model: mixed}}\n"
                                    "connections: [a.real -> b.gain, b.count -> a.count_in]\n");
  check_signals(&s, "a.real");
  assert_int_equal(s.system->n_unit_loops, 1);
  assert_int_equal(s.system->judged[0].loop, 0);
  sim_close(&s);
}

static void test_bond_that_moves_nothing(void** state) {
  (void)state;
  sim s = sim_open(
      HEAD "units: {l: {model: oscillator.force, start: {x_other: 0, v_other: 0}}, r: {model: "
           "oscillator.mass}, s: {model: sine}}\n"
           "connections: [s.y -> r.f]\n"
           "quality: {find: false}\n"
           "bonds: {x: {action: l.f, rate: r.v}}\n");
  check_signals(&s, "l.f r.v s.y");
  assert_int_equal(s.system->n_unit_loops, 0);
  assert_true(signal_of(&s, "l.f")->is_in_bond && signal_of(&s, "r.v")->is_in_bond);
  assert_false(signal_of(&s, "s.y")->is_in_bond);
  sim_close(&s);
}

static void test_nothing_connected(void** state) {
  (void)state;
  sim s = sim_open(HEAD "units: {a: {model: sine}}\n");
  assert_int_equal(s.system->n_judged, 0);
  assert_int_equal(s.system->n_unit_loops, 0);
  sim_close(&s);
}

// ---- how often

static void test_exchange_intervals(void** state) {
  (void)state;
  sim s = sim_open(
      "yoke: 1\ntime: {stop: 1, step: 4e-3}\n"
      "units: {fast: {model: sine, step: 1e-3}, slow: {model: integrator, step: 12e-3}, b: {model: "
      "gain},\n        c: {model: gain, step: 1e-3}, d: {model: gain, step: 1e-3}}\n"
      "connections: [fast.y -> b.u, slow.y -> c.u, {from: b.y, to: slow.u, exchange: 24e-3},\n"
      "  {from: c.y, to: d.u, exchange: 2e-3}]\n");
  assert_int_equal(signal_of(&s, "fast.y")->every, 1);
  assert_int_equal(signal_of(&s, "slow.y")->every, 3);
  assert_int_equal(signal_of(&s, "b.y")->every, 6);
  // more often than macro steps
  assert_int_equal(signal_of(&s, "c.y")->every, 1);
  sim_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain_has_no_loop),        cmocka_unit_test(test_two_loops),
      cmocka_unit_test(test_unit_connected_to_itself), cmocka_unit_test(test_law_in_a_loop),
      cmocka_unit_test(test_elements_of_vectors),      cmocka_unit_test(test_typed_connections),
      cmocka_unit_test(test_bond_that_moves_nothing),  cmocka_unit_test(test_nothing_connected),
      cmocka_unit_test(test_exchange_intervals),
  };
  return cmocka_run_group_tests(tests, make_models, free_models);
}
