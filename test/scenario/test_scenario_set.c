// `--set path=value`: the same places and the same messages as in the file.
#include "scenario_helper.h"

static const char base[] =
    "yoke: 1\n"
    "time: {stop: 10, step: 1e-3}\n"
    "units:\n"
    "  left: {model: osc, with: {k: 1, a.b: 2, c: [1, 2, 3], 'd[0]': 4}}\n"
    "  right: {model: osc}\n"
    "  third: {model: osc, with: }\n"
    "laws: {spring: {law: spring_damper, with: {k: 100}}}\n"
    "connections:\n"
    "  - left.x -> right.y\n"
    "  - {from: right.x, to: left.y}\n"
    "  - \"left.\\\"odd -> name\\\" -> third.u\"\n"
    "bonds: {b: {action: left.f, rate: left.v, coupling: {method: energy, opt: {x: 1}}}}\n"
    "couplings: {loop: {method: mpsm, members: [left, right]}}\n";

static reading* set_one(const char* set) {
  return reading_of_bytes(base, strlen(base), &set, 1);
}

static reading* set_good(const char* set) {
  reading* r = set_one(set);
  if (r->status != YOKE_OK || r->n_errors > 0) {
    fail_msg("--set %s: status %d, messages:\n%s", set, (int)r->status, r->text);
  }
  return r;
}

static const yoke_node* setting(const reading* r, size_t unit, const char* name) {
  const yoke_scenario_unit* u = &r->scenario->units[unit];
  for (size_t i = 0; i < u->n_with; i++) {
    if (strcmp(u->with[i].name, name) == 0) {
      return u->with[i].value;
    }
  }
  fail_msg("no setting %s", name);
  return NULL;
}

static void test_values_that_are_there(void** state) {
  (void)state;
  reading* r = set_good("time.step=2.5e-4");
  assert_true(r->scenario->step.exact.mantissa == 25 && r->scenario->step.exact.exponent == -5);
  assert_string_equal(r->scenario->step.place.source, "--set time.step");
  assert_int_equal(r->scenario->step.place.line, 0);
  reading_free(r);

  r = set_good("units.left.with.k=7");
  assert_string_equal(setting(r, 0, "k")->text, "7");
  assert_int_equal(r->scenario->units[0].n_with, 4);
  reading_free(r);

  // names of variables contain dots and brackets
  r = set_good("units.left.with.a.b=7");
  assert_string_equal(setting(r, 0, "a.b")->text, "7");
  reading_free(r);
  r = set_good("units.left.with.d[0]=7");
  assert_string_equal(setting(r, 0, "d[0]")->text, "7");
  reading_free(r);

  r = set_good("laws.spring.with.k=5");
  assert_string_equal(setting(r, 3, "k")->text, "5");
  reading_free(r);

  r = set_good("couplings.loop.members[1]=third");
  const yoke_node* members = yoke__node_child(r->scenario->couplings[0].node, "members");
  assert_string_equal(members->first->next->text, "third");
  assert_null(members->first->next->next);
  reading_free(r);

  r = set_good("bonds.b.coupling.opt.x=a=b");
  const yoke_node* opt = yoke__node_child(r->scenario->bonds[0].coupling, "opt");
  assert_string_equal(yoke__node_child(opt, "x")->text, "a=b");
  reading_free(r);
}

static void test_values_that_are_created(void** state) {
  (void)state;
  reading* r = set_good("record.every=5");
  assert_int_equal(r->scenario->record_every, 5);
  reading_free(r);

  r = set_good("time.start=-1");
  check_near(r->scenario->start.value, -1, 0);
  reading_free(r);

  // `with` is missing at one unit and empty at another
  r = set_good("units.right.with.k=2");
  assert_string_equal(setting(r, 1, "k")->text, "2");
  assert_string_equal(r->scenario->units[1].with[0].place.source, "--set units.right.with.k");
  reading_free(r);
  r = set_good("units.third.with.der(x)[1].y=2");
  assert_string_equal(setting(r, 2, "der(x)[1].y")->text, "2");
  reading_free(r);

  r = set_good("bonds.b.coupling.k_i=0.25");
  assert_string_equal(yoke__node_child(r->scenario->bonds[0].coupling, "k_i")->text, "0.25");
  reading_free(r);

  r = set_one("quality.warn.rho=0.1");
  check_ok(r->status);
  check_near(r->scenario->watch.warn.rho, 0.1, 0);
  reading_free(r);
}

// Values are YAML: lists, maps, quoted texts.
static void test_values_are_yaml(void** state) {
  (void)state;
  reading* r = set_good("units.left.with.c=[4, 5]");
  assert_int_equal(setting(r, 0, "c")->n_children, 2);
  reading_free(r);
  r = set_good("units.left.with.c[2]=9");
  assert_string_equal(setting(r, 0, "c")->first->next->next->text, "9");
  reading_free(r);
  r = set_good("units.left.with={k: 3}");
  assert_int_equal(r->scenario->units[0].n_with, 1);
  reading_free(r);
  r = set_good("name='a: b'");
  assert_string_equal(r->scenario->name, "a: b");
  reading_free(r);
  r = set_good("record.signals=[left.x, \"*.v\"]");
  assert_int_equal(r->scenario->n_record_signals, 2);
  reading_free(r);
}

// A connection in its short form takes further keys.
static void test_connections_by_index(void** state) {
  (void)state;
  reading* r = set_good("connections[0].order=2");
  const yoke_scenario_connection* c = r->scenario->connections;
  assert_int_equal(c[0].order, 2);
  assert_string_equal(c[0].from.unit, "left");
  assert_string_equal(c[0].to.variable, "y");
  assert_int_equal(c[0].from.place.line, 9);
  assert_int_equal(c[0].to.place.column, 15);
  assert_int_equal(r->scenario->n_connections, 3);
  reading_free(r);

  r = set_good("connections[1].gain=3");
  check_near(r->scenario->connections[1].gain, 3, 0);
  reading_free(r);

  // the odd name survives
  r = set_good("connections[2].delay=1e-3");
  assert_string_equal(r->scenario->connections[2].from.variable, "odd -> name");
  assert_string_equal(r->scenario->connections[2].to.unit, "third");
  reading_free(r);

  r = set_good("connections[1]=left.z -> right.w");
  assert_string_equal(r->scenario->connections[1].from.variable, "z");
  reading_free(r);
}

static void test_several_settings(void** state) {
  (void)state;
  static const char* const sets[] = {"time.stop=1", "time.stop=2", "connections[0].order=1",
                                     "connections[0].gain=4"};
  reading* r = reading_of_bytes(base, strlen(base), sets, 4);
  check_ok(r->status);
  check_near(r->scenario->stop.value, 2, 0);
  assert_int_equal(r->scenario->connections[0].order, 1);
  check_near(r->scenario->connections[0].gain, 4, 0);
  reading_free(r);
}

static void test_mistakes(void** state) {
  (void)state;
  static const struct {
    const char *set, *message;
  } cases[] = {
      {"time.step=0", "--set time.step: error: 'step': expected a number greater than 0, found 0"},
      {"time.step=abc",
       "--set time.step: error: 'step': expected a number greater than 0, found the text 'abc'"},
      {"time.stpe=1", "--set time.stpe: error: 'stpe' not found in 'time'; did you mean 'step'?"},
      {"tiem.step=1", "--set tiem.step: error: 'tiem' not found in the file; did you mean 'time'?"},
      {"units.lft.with.k=1",
       "--set units.lft.with.k: error: 'lft' not found in 'units'; did you mean 'left'?"},
      {"units.zzzzz.with.k=1", "--set units.zzzzz.with.k: error: 'zzzzz' not found in 'units'"},
      {"units.left.wiht.k=1",
       "--set units.left.wiht.k: error: 'wiht' not found in 'units.left'; did you mean 'with'?"},
      {"laws.left.with.k=1", "--set laws.left.with.k: error: 'left' not found in 'laws'"},
      {"units.left.model.x=1", "--set units.left.model.x: error: 'x' not found in "
                               "'units.left.model', which is the text 'osc'"},
      {"connections[3].order=1", "--set connections[3].order: error: 'connections' has 3 entries, "
                                 "counted from 0; found the index 3"},
      {"connections[99999999999999999999].order=1",
       "--set connections[99999999999999999999].order: error: 'connections' has 3 entries, counted "
       "from 0; found the index 99999999999999999999"},
      {"connections[x].order=1", "--set connections[x].order: error: expected an index such as [0] "
                                 "behind 'connections'"},
      {"connections[0.order=1", "--set connections[0.order: error: expected an index such as [0] "
                                "behind 'connections'"},
      {"connections.order=1",
       "--set connections.order: error: 'order' not found in 'connections', which is a list"},
      {"connections[0].ordre=1", "--set connections[0].ordre: error: 'ordre' not found in "
                                 "'connections[0]'; did you mean 'order'?"},
      {"connections[0]order=1", "--set connections[0]order: error: expected '.' or the end of the "
                                "path behind 'connections[0]'"},
      {"time[0]=1", "--set time[0]: error: 'time' has no entries: it is a map, not a list"},
      {"order[0]=left", "--set order[0]: error: 'order' has no entries: it is nothing, not a list"},
      {"time.step", "--set time.step: error: expected path=value, for example time.step=1e-3"},
      {"=1", "--set : error: expected path=value, for example time.step=1e-3"},
      {"time.step=", "--set time.step: error: expected a value behind '='"},
      {"time.=1", "--set time.: error: the path has an empty part; expected for example "
                  "time.step=1e-3"},
      {".time=1", "--set .time: error: the path has an empty part; expected for example "
                  "time.step=1e-3"},
      {"[0]=1", "--set [0]: error: the path has an empty part; expected for example "
                "time.step=1e-3"},
      {"units.left.with.k=[1, 2", "--set units.left.with.k: error: expected ',' or ']' in the list "
                                  "that starts at character 1; texts with brackets or commas need "
                                  "quotes"},
      {"units.left.with.k={a: 1, a: 2}",
       "--set units.left.with.k: error: the key 'a' is given twice"},
      {"units.left.with.k=*x", "--set units.left.with.k: error: aliases are not supported: replace "
                               "'*x' by the value it stands for, or put it into quotes"},
      {"name=\x01",
       "--set name: error: the value is not text: it contains the control character 0x01"},
      {"scheme.x=1", "--set scheme.x: error: 'x' not found in 'scheme', which is nothing"},
      {"connections[0]=left.x", "--set connections[0]: error: expected '->', found the end of "
                                "'left.x'; names with spaces, quotes or '->' go into double quotes "
                                "or the long form"},
      {"laws.left={law: l}", "--set laws.left: error: 'left' not found in 'laws'"},
      {"order=[left, left]", "--set order: error: the unit 'left' is named twice"},
      {"units.left.meter=x",
       "--set units.left.meter: error: meters are not supported by this version"},
      {"record.from=11",
       "--set record.from: error: 'from': expected a time up to the stop 10, found 11"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    reading* r = set_one(cases[i].set);
    char want[512];
    snprintf(want, sizeof want, "%s\n", cases[i].message);
    if (strcmp(r->text, want) != 0) {
      fail_msg("--set %s\ngot:      %sexpected: %s", cases[i].set, r->text, want);
    }
    reading_free(r);
  }
}

// Mistakes of several settings and of the file come together.
static void test_mistakes_come_at_once(void** state) {
  (void)state;
  static const char* const sets[] = {"time.stop=x", "foo", "units.lefd.step=1"};
  static const char text[] = "yoke: 1\ntime: {stop: 1, step: 0}\nunits: {left: {model: m}}\n";
  reading* r = reading_of_bytes(text, strlen(text), sets, 3);
  assert_int_equal(r->n_errors, 4);
  check_contains(r->text, "--set foo: error: expected path=value");
  check_contains(r->text, "--set time.stop: error: 'stop': expected a number, found the text 'x'");
  check_contains(r->text, "--set units.lefd.step: error: 'lefd' not found in 'units'");
  check_contains(r->text, "t.yaml:2:23: error: 'step': expected a number greater than 0, found 0");
  reading_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values_that_are_there), cmocka_unit_test(test_values_that_are_created),
      cmocka_unit_test(test_values_are_yaml),       cmocka_unit_test(test_connections_by_index),
      cmocka_unit_test(test_several_settings),      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_mistakes_come_at_once),
  };
  return cmocka_run_group_tests_name("scenario_set", tests, NULL, NULL);
}
