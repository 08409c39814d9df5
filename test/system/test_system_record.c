// Which signals are recorded: patterns, single names, elements of arrays.
#include "system/system_fixture.h"

#define UNITS                                                                                      \
  HEAD "units:\n"                                                                                  \
       "  p: {model: pendulum.force, start: {tip_other: [0, -1], vtip_other: [0, 0]}}\n"           \
       "  i: {model: integrator, start: {u: 1}}\n"                                                 \
       "  c: {model: counter}\n"

// the columns of a system with these signals are exactly `want`, separated by blanks
static void check_columns(const char* signals, const char* want) {
  sim s = sim_open(UNITS "record: {signals: [%s]}\n", signals);
  char got[1024] = "";
  size_t used = 0;
  for (size_t i = 0; i < s.system->n_columns; i++) {
    used += (size_t)snprintf(got + used, sizeof got - used, "%s%s", i == 0 ? "" : " ",
                             s.system->columns[i].name);
  }
  if (strcmp(got, want) != 0) {
    fail_msg("[%s] records\n  %s, expected\n  %s", signals, got, want);
  }
  sim_close(&s);
}

#define P_OUTPUTS "p.F[0] p.F[1] p.tip[0] p.tip[1] p.vtip[0] p.vtip[1] p.E p.Phi"

static void test_patterns(void** state) {
  (void)state;
  check_columns("\"*\"", P_OUTPUTS " i.y c.count c.toggle");
  check_columns("\"i.*\"", "i.y");
  check_columns("\"?.y\"", "i.y");
  check_columns("\"p.*tip\"", "p.tip[0] p.tip[1] p.vtip[0] p.vtip[1]");
}

// a full name may be anything the unit has; the order is that of the file
static void test_names(void** state) {
  (void)state;
  check_columns("c.limit, i.x, i.u, p.theta", "p.theta i.u i.x c.limit");
  check_columns("i.y", "i.y");
}

static void test_elements(void** state) {
  (void)state;
  check_columns("\"p.tip[1]\"", "p.tip[1]");
  check_columns("\"p.*[0]\"", "p.F[0] p.tip[0] p.vtip[0]");
  check_columns("\"p.tip_other[0]\"", "p.tip_other[0]");
  check_columns("\"p.pin[1]\", i.y", "p.pin[1] i.y");
}

// patterns that overlap record nothing twice, and none of them is called mistyped
static void test_overlap(void** state) {
  (void)state;
  check_columns("i.y, \"*\", i.y, \"i.*\", \"p.tip[0]\"", P_OUTPUTS " i.y c.count c.toggle");
}

static void test_every_variable(void** state) {
  (void)state;
  sim s = sim_open(UNITS "record: {signals: [\"**\"]}\n");
  size_t n = 0;
  for (size_t i = 0; i < s.system->n_units; i++) {
    const yoke_unit_info* info = s.system->units[i].unit.info;
    for (size_t v = 0; v < info->n_variables; v++) {
      n += yoke__variable_count(&info->variables[v]);
    }
  }
  assert_int_equal(s.system->n_columns, n);
  assert_true(s.system->n_record_plain < s.system->n_y);
  sim_close(&s);
}

// all outputs real and all recorded: a row is a copy
static void test_plain(void** state) {
  (void)state;
  sim s = sim_open(HEAD "units: {a: {model: sine}, g: {model: gain}}\nconnections: [a.y -> g.u]\n");
  assert_int_equal(s.system->n_record_plain, s.system->n_y);
  sim_close(&s);
  s = sim_open(HEAD "units: {a: {model: sine}, g: {model: gain}}\nconnections: [a.y -> g.u]\n"
                    "record: {signals: [g.y]}\n");
  assert_true(s.system->n_record_plain < s.system->n_y);
  assert_int_equal(s.system->column_sources[0].index, sim_index(&s, "g.y"));
  sim_close(&s);
}

// each column reads its own variable: one row of a run, by name
static void test_row(void** state) {
  (void)state;
  sim s = sim_open(UNITS "record: {signals: [\"p.tip[1]\", i.x, i.u, c.count, p.l]}\n");
  sim_steps(&s, 3);
  static const struct {
    const char* name;
    yoke_column_source source;
  } want[] = {{"p.tip[1]", YOKE_COLUMN_Y},
              {"p.l", YOKE_COLUMN_TYPED},
              {"i.u", YOKE_COLUMN_U},
              {"i.x", YOKE_COLUMN_TYPED},
              {"c.count", YOKE_COLUMN_TYPED}};
  assert_int_equal(s.system->n_columns, COUNT(want));
  double value = 0;
  int64_t whole = 0;
  for (size_t i = 0; i < COUNT(want); i++) {
    assert_string_equal(s.system->columns[i].name, want[i].name);
    assert_int_equal(s.system->column_sources[i].source, want[i].source);
  }
  const yoke_system_column* sources = s.system->column_sources;
  check_near(s.state->y[sources[0].index], sim_read(&s, "p.tip[1]"), 0);
  memcpy(&value, s.state->v + sources[1].index, sizeof value);
  check_near(value, 2.5, 0);
  check_near(s.state->u[sources[2].index], 1, 0);
  memcpy(&value, s.state->v + sources[3].index, sizeof value);
  check_near(value, 3e-3, 1e-18);
  memcpy(&whole, s.state->v + sources[4].index, sizeof whole);
  assert_int_equal(whole, 3);
  sim_close(&s);
}

static void test_misses(void** state) {
  (void)state;
  refuse(NULL, UNITS "record: {signals: [i.z, \"q.*\", \"p.tip[2]\"]}\n",
         "test.yaml:9:20: error: record: 'i.z' matches no variable",
         "test.yaml:9:25: warning: record: 'q.*' matches no variable",
         "test.yaml:9:32: error: record: 'p.tip[2]' matches no variable");

  // a pattern alone may match nothing: that is only a warning
  sim s = sim_open(UNITS "record: {signals: [\"q.*\"]}\n");
  assert_int_equal(s.system->n_columns, 0);
  sim_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_patterns),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_elements),
      cmocka_unit_test(test_overlap),
      cmocka_unit_test(test_every_variable),
      cmocka_unit_test(test_plain),
      cmocka_unit_test(test_row),
      cmocka_unit_test(test_misses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
