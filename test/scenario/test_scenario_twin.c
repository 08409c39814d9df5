// Keys of a twin: what they give, each mistake with its position, --set and changes of the file's text.
#include "scenario/scenario_edit.h"
#include "scenario_helper.h"

#define HEAD "yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits:\n  rig: {model: m}\n"

static const char good[] =
    HEAD "  twin:\n"
         "    twin: inverter.cir\n"
         "    step: 2e-3\n"
         "    sensors:\n"
         "      T(S1): {from: rig.t1, sigma: 0.5, delay: 0.01}\n"
         "      t(x1.s2): rig.t2\n"
         "      \"t(s1,s3)\": {from: 'rig.T [x]', gain: 2, offset: 273.15, exchange: 0.1}\n"
         "      v(out):\n"
         "    unknown:\n"
         "      q1: {walk: 10}\n"
         "      R_dbc: {as: conductance, bounds: [100u, 1], start: 30m, sd: 0.02}\n"
         "      offset(T(S1)): {sd: 2}\n"
         "      c_hs:\n"
         "    inputs: {q2: motor.loss, speed: {from: motor.omega, gain: 0.5}}\n"
         "    filter: derivative\n"
         "    noise: {walk: 0.1, rate_walk: 3, start: 0.2, rate_start: 4, gate: 5, jitter: 1e-9}\n"
         "    reset: 3\n"
         "    with: {R_HS: 0.8k}\n"
         "    start: {T(case): 320}\n"
         "connections: [twin.T(case) -> rig.u, twin.sd.V(out) -> rig.w]\n";

static void check_connection(const yoke_scenario_connection* c, const char* from, const char* to,
                             bool is_sensor) {
  char text[128];
  snprintf(text, sizeof text, "%s.%s", c->from.unit, c->from.variable);
  assert_string_equal(text, from);
  snprintf(text, sizeof text, "%s.%s", c->to.unit, c->to.variable);
  assert_string_equal(text, to);
  assert_true(c->is_of_unit);
  assert_int_equal(c->is_held, is_sensor);
}

static void test_all_keys(void** state) {
  (void)state;
  reading* r = reading_good(good);
  const yoke_scenario* s = r->scenario;
  const yoke_scenario_unit* unit = &s->units[1];
  const yoke_scenario_twin* twin = &unit->twin;
  assert_int_equal(unit->kind, YOKE_KIND_TWIN);
  assert_string_equal(unit->type, "inverter.cir");

  // quantities ignore case, names without brackets are as they are written
  static const char* const sensors[] = {"t(s1)", "t(x1.s2)", "t(s1,s3)", "v(out)"};
  static const char* const unknowns[] = {"q1", "R_dbc", "offset(t(s1))", "c_hs"};
  assert_int_equal(twin->n_sensors, 4);
  assert_int_equal(twin->n_unknowns, 4);
  for (int i = 0; i < 4; i++) {
    assert_string_equal(twin->sensors[i].name, sensors[i]);
    assert_string_equal(twin->unknowns[i].name, unknowns[i]);
  }
  check_near(twin->sensors[0].sigma, 0.5, 0);
  check_near(twin->sensors[1].sigma, 0, 0);
  const yoke_scenario_unknown* r_dbc = &twin->unknowns[1];
  assert_int_equal(r_dbc->as, YOKE_AS_CONDUCTANCE);
  check_near(r_dbc->lower, 1e-4, 1e-19);
  check_near(r_dbc->upper, 1, 0);
  check_near(r_dbc->start, 0.03, 1e-17);
  check_near(r_dbc->sd, 0.02, 0);
  assert_true(isnan(r_dbc->walk));
  check_near(twin->unknowns[0].walk, 10, 0);
  assert_true(isnan(twin->unknowns[3].start) && isnan(twin->unknowns[3].lower));
  assert_int_equal(twin->unknowns[3].as, YOKE_AS_DEFAULT);
  assert_string_equal(yoke__filter_words[twin->filter], "derivative");
  const double noise[] = {twin->walk,    twin->rate_walk, twin->start_sd,
                          twin->rate_sd, twin->gate,      twin->jitter};
  const double want[] = {0.1, 3, 0.2, 4, 5, 1e-9};
  for (int i = 0; i < 6; i++) {
    check_near(noise[i], want[i], 0);
  }
  assert_int_equal(twin->most_resets, 3);

  // sources are ordinary connections behind those of the file
  assert_int_equal(s->n_connections, 7);
  assert_string_equal(s->connections[0].from.variable, "t(case)");
  assert_string_equal(s->connections[1].from.variable, "sd.v(out)");
  assert_false(s->connections[0].is_of_unit);
  check_connection(&s->connections[2], "rig.t1", "twin.sensor.t(s1)", true);
  check_near(s->connections[2].delay.value, 0.01, 0);
  check_connection(&s->connections[3], "rig.t2", "twin.sensor.t(x1.s2)", true);
  check_connection(&s->connections[4], "rig.T [x]", "twin.sensor.t(s1,s3)", true);
  assert_true(s->connections[4].has_gain && s->connections[4].exchange.is_given);
  check_near(s->connections[4].offset, 273.15, 0);
  check_connection(&s->connections[5], "motor.loss", "twin.q2", false);
  assert_false(s->connections[5].has_gain);
  check_connection(&s->connections[6], "motor.omega", "twin.speed", false);
  check_near(s->connections[6].gain, 0.5, 0);
  assert_string_equal(unit->with[0].name, "r_hs");
  assert_string_equal(unit->start[0].name, "t(case)");
  reading_free(r);
}

static void test_defaults(void** state) {
  (void)state;
  reading* r = reading_good(HEAD "  twin: {twin: a.cir, sensors: {t(s1): rig.t1}}\n");
  const yoke_scenario_twin* twin = &r->scenario->units[1].twin;
  assert_int_equal(twin->n_unknowns, 0);
  assert_int_equal(twin->filter, 0);
  assert_int_equal(twin->most_resets, 0);
  assert_true(isnan(twin->walk) && isnan(twin->rate_walk) && isnan(twin->start_sd));
  assert_true(isnan(twin->rate_sd) && isnan(twin->gate) && isnan(twin->jitter));
  assert_int_equal(r->scenario->n_connections, 1);
  reading_free(r);
}

typedef struct mistake {
  const char* text;      // line 5 and on
  const char* messages;  // without the name of the file
} mistake;

static void check_mistakes(const mistake* cases, size_t n) {
  char text[4096];
  for (size_t i = 0; i < n; i++) {
    snprintf(text, sizeof text, "%s  %s", HEAD, cases[i].text);
    check_messages(text, cases[i].messages);
  }
}

#define S "sensors: {t(s): rig.t}"

static void test_mistakes(void** state) {
  (void)state;
  static const mistake cases[] = {
      {"b: {twin: [x], " S "}\n", "5:13: error: 'twin': expected a text, found a list"},
      {"b: {twin: x.cir}\n", "5:3: error: unit 'b' has no sensors: write for example sensors: "
                             "{t(s1): {from: rig.t1, sigma: 0.5}}"},
      {"b: {twin: x.cir, sensors: {}}\n",
       "5:3: error: unit 'b' has no sensors: write for example sensors: "
       "{t(s1): {from: rig.t1, sigma: 0.5}}"},
      {"b: {twin: x.cir, sensors: [t(s)]}\n",
       "5:29: error: 'sensors': expected a map of sensors such as t(s1): {from: rig.t1, sigma: "
       "0.5}, found a list"},
      {"b: {twin: x.cir, sensors: {t(s): rig}}\n",
       "5:36: error: expected 'unit.variable', found 'rig'"},
      {"b: {twin: x.cir, sensors: {t(s): {form: rig.t}}}\n",
       "5:37: error: unknown key 'form' in sensor 't(s)'; did you mean 'from'?"},
      {"b: {twin: x.cir, sensors: {t(s): {from: rig.t, sigma: 0}}}\n",
       "5:57: error: 'sigma': expected a number greater than 0, found 0"},
      {"b: {twin: x.cir, sensors: {t(s): rig.t, T(S): rig.u}}\n",
       "5:43: error: 't(s)' is given twice: quantities of a netlist ignore case"},
      {"b: {twin: x.cir, " S ", inputs: {q: }}\n",
       "5:53: error: 'inputs': 'q' needs a source, such as q: motor.loss"},
      {"b: {twin: x.cir, " S ", inputs: {q: {from: rig.t, sigma: 1}}}\n",
       "5:70: error: unknown key 'sigma' in input 'q'; known keys: from, gain, offset, delay, "
       "exchange, method, average"},
      {"b: {twin: x.cir, " S ", unknown: [q]}\n",
       "5:53: error: 'unknown': expected a map of unknowns such as q1: {walk: 10}, found a list"},
      {"b: {twin: x.cir, " S ", unknown: {q: {wlak: 1}}}\n",
       "5:58: error: unknown key 'wlak' in unknown 'q'; did you mean 'walk'?"},
      {"b: {twin: x.cir, " S ", unknown: {q: {walk: -1, sd: 0, start: x, as: r}}}\n",
       "5:64: error: 'walk': expected a number that is 0 or greater, found -1\n"
       "5:72: error: 'sd': expected a number greater than 0, found 0\n"
       "5:82: error: 'start': expected a number, found the text 'x'\n"
       "5:89: error: 'as': expected resistance or conductance, found the text 'r'"},
      {"b: {twin: x.cir, " S ", unknown: {q: {bounds: [1]}, r: {bounds: [2, 1]}, s: {bounds: 3}, "
       "u: {bounds: [a, 1]}}}\n",
       "5:66: error: 'bounds': expected two numbers [lower, upper], found 1\n"
       "5:84: error: 'bounds': expected the lower one first, found 2 and 1\n"
       "5:105: error: 'bounds': expected a list of two numbers [lower, upper], found 3\n"
       "5:122: error: 'bounds': expected a number, found the text 'a'"},
      {"b: {twin: x.cir, " S ", unknown: {q: {bounds: [1, 2], start: 3}}}\n",
       "5:81: error: 'start' of 'q': 3 lies outside of its bounds 1 and 2"},
      {"b: {twin: x.cir, " S ", filter: kalman}\n",
       "5:52: error: 'filter': expected auto, linear, derivative, extended or unscented, found the "
       "text 'kalman'"},
      {"b: {twin: x.cir, " S ", noise: 3, reset: -1}\n",
       "5:51: error: 'noise': expected a map, found 3\n"
       "5:61: error: 'reset': expected an integer from 0 to 1000000, found -1"},
      {"b: {twin: x.cir, " S ", noise: {sigma: 3}}\n",
       "5:52: error: unknown key 'sigma' in 'noise'; known keys: walk, rate_walk, start, "
       "rate_start, gate, jitter"},
      {"b: {twin: x.cir, " S ", isolate: process}\n",
       "5:44: error: unit 'b': a twin runs in this process: leave out 'isolate'"},
      {"b: {twin: x.cir, " S ", port: udp, peer: x}\n",
       "5:44: error: unit 'b': a twin runs beside the machine, not behind a port: leave out "
       "'port'"},
      {"b: {twin: x.cir, " S ", outputs: {q: }}\n",
       "5:44: error: unit 'b': 'outputs' are those of the netlist: name them there with .output"},
      {"b: {twin: x.cir, " S ", library: l.so}\n",
       "5:44: error: a second kind 'library': the unit 'b' is already given by 'twin'"},
      {"b: {twin: x.cir, circuit: y.cir, " S "}\n",
       "5:20: error: a second kind 'circuit': the unit 'b' is already given by 'twin'"},
      {"b: {twin: x.cir, " S ", solver: rk4}\n",
       "5:44: error: unit 'b': 'solver' is for FMUs and circuits"},
      // keys of a twin elsewhere
      {"b: {circuit: x.cir, " S "}\n",
       "5:23: error: unit 'b': 'sensors' belongs to a twin: write twin: in place of circuit:"},
      {"b: {model: x, filter: linear}\n",
       "5:17: error: unit 'b': 'filter' belongs to a twin: write twin: in place of model:"},
      {"b: {unknown: {q: }}\n",
       "5:3: error: unit 'b' has no kind: expected the key 'model', 'fmu', 'circuit', 'twin' or "
       "'library'\n"
       "5:7: error: unit 'b': 'unknown' belongs to a twin: write twin: model.cir"},
      {"b: {circuit: x.cir, inputs: {q: rig.t}}\n",
       "5:23: error: unit 'b': 'inputs' is for a port without a model; this unit's signals are "
       "those of its 'circuit'\n"
       "5:35: error: 'q': expected a map, found the text 'rig.t'"},
  };
  check_mistakes(cases, sizeof cases / sizeof cases[0]);
}

// ---- --set

static reading* set_one(const char* set) {
  const char* const sets[] = {set};
  return reading_of_bytes(good, sizeof good - 1, sets, 1);
}

static void test_set(void** state) {
  (void)state;
  // a source in its short form takes the other keys; names may contain dots and brackets
  reading* r = set_one("units.twin.sensors.t(x1.s2).sigma=0.25");
  assert_int_equal(r->status, YOKE_OK);
  check_near(r->scenario->units[1].twin.sensors[1].sigma, 0.25, 0);
  check_connection(&r->scenario->connections[3], "rig.t2", "twin.sensor.t(x1.s2)", true);
  reading_free(r);

  r = set_one("units.twin.inputs.q2.gain=3");
  assert_int_equal(r->status, YOKE_OK);
  check_near(r->scenario->connections[5].gain, 3, 0);
  assert_string_equal(r->scenario->connections[5].from.variable, "loss");
  reading_free(r);

  r = set_one("units.twin.unknown.c_hs.bounds=[1, 2]");
  assert_int_equal(r->status, YOKE_OK);
  check_near(r->scenario->units[1].twin.unknowns[3].upper, 2, 0);
  reading_free(r);

  r = set_one("units.twin.noise.gate=0");
  assert_int_equal(r->status, YOKE_OK);
  check_near(r->scenario->units[1].twin.gate, 0, 0);
  reading_free(r);

  r = set_one("units.twin.filter=linear");
  assert_int_equal(r->status, YOKE_OK);
  assert_string_equal(yoke__filter_words[r->scenario->units[1].twin.filter], "linear");
  reading_free(r);
}

static void test_set_mistakes(void** state) {
  (void)state;
  static const char* const cases[][2] = {
      {"units.twin.unknown.q2.walk=1",
       "--set units.twin.unknown.q2.walk: error: 'q2' not found in 'units.twin.unknown'; did you "
       "mean 'q1'?\n"},
      {"units.twin.sensors.t(x1.s2).sgima=1",
       "--set units.twin.sensors.t(x1.s2).sgima: error: 'sgima' not found in "
       "'units.twin.sensors.t(x1.s2)'; did you mean 'sigma'?\n"},
      {"units.twin.unknown.q1.walk=-1", "--set units.twin.unknown.q1.walk: error: 'walk': expected "
                                        "a number that is 0 or greater, found -1\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    reading* r = set_one(cases[i][0]);
    assert_string_equal(r->text, cases[i][1]);
    reading_free(r);
  }
}

// a setting goes into the text of the file where --set finds it
static void test_edit(void** state) {
  (void)state;
  static const char* const cases[][2] = {
      {"units.twin.unknown.q1.walk=20", "q1: {walk: 20}"},
      {"units.twin.unknown.q1.sd=5", "q1: {walk: 10, sd: 5}"},
      {"units.twin.sensors.t(x1.s2)={from: rig.t3}", "t(x1.s2): {from: rig.t3}"},
      {"units.twin.inputs.speed.gain=0.75", "speed: {from: motor.omega, gain: 0.75}"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_text out = {0};
    check_ok(yoke__scenario_edit(good, sizeof good - 1, cases[i][0], &out, NULL));
    check_contains(out.bytes, cases[i][1]);
    yoke__text_free(&out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_keys),     cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_mistakes),     cmocka_unit_test(test_set),
      cmocka_unit_test(test_set_mistakes), cmocka_unit_test(test_edit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
