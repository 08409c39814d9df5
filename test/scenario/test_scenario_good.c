// Good system files: every form of every key, and the defaults of what is not given.
#include "scenario_helper.h"

static const char minimal[] = "yoke: 1\n"
                              "time: {stop: 10, step: 1e-3}\n"
                              "units: {left: {model: oscillator.force}}\n";

static const char full[] =
    "%YAML 1.1\n"
    "---\n"
    "yoke: 1\n"
    "name: linear oscillator\n"
    "text: |\n"
    "  Two masses [[[ with a \"spring'.\n"
    "time: {start: -0.5, stop: 10, step: 1e-3}\n"
    "scheme: iterative-gauss-seidel\n"
    "exchange: fresh\n"
    "threads: 4\n"
    "order: [right, left]\n"
    "iteration: {mode: hold-end, update: aitken, relaxation: 0.7, tolerance: 1e-6, max: 20}\n"
    "units:\n"
    "  left:\n"
    "    model: oscillator.force\n"
    "    with: {m: 1, 'odd name': [1, 2], 'kc.sub[1]': 3}\n"
    "    start: {x: 0, v: 100}\n"
    "    exchange: stale\n"
    "  right_2-b: {model: oscillator.displacement, step: 2.5e-4, tolerance: 1e-4, cost: 2e-5}\n"
    "laws: {spring: {law: spring_damper, with: {k: 100, c: 0}, start: {x: 1}, cost: 0}}\n"
    "connections:\n"
    "  - right_2-b.x -> left.x_other\n"
    "  - {from: left.f, to: right_2-b.f, gain: -2, offset: 0.5, order: 1, delay: 2e-3, exchange: "
    "1e-2}\n"
    "  - \"left.\\\"odd -> name\\\" -> right_2-b.u\"\n"
    "  - '\"left.a \\\"b\\\" \\\\\" -> right_2-b.der(x)[1,2]'\n"
    "  - left.a.b.c[0]->spring.x\n"
    "  - {from: left.odd -> name, to: 'right_2-b.quo\"te'}\n"
    "bonds:\n"
    "  spring: {action: left.f -> right_2-b.f, rate: right_2-b.v -> left.v_other, sign: -1,\n"
    "           coupling: {method: energy, k_i: 0.25}}\n"
    "  plane: {action: [left.fx, left.fy], rate: [left.vx, left.vy -> right_2-b.vy]}\n"
    "couplings:\n"
    "  loop: {method: mpsm, members: [left, right_2-b], horizon: 5}\n"
    "record: {signals: [left.*, \"*.x\"], every: 10, formats: [csv, mat]}\n";

static void test_minimal_file_gets_the_defaults(void** state) {
  (void)state;
  reading* r = reading_good(minimal);
  const yoke_scenario* s = r->scenario;
  assert_string_equal(s->path, "dir/t.yaml");
  assert_string_equal(s->directory, "dir");
  assert_string_equal(s->name, "t");
  assert_string_equal(s->text, "");
  assert_false(s->start.is_given);
  check_near(s->start.value, 0, 0);
  check_near(s->stop.value, 10, 0);
  check_near(s->step.value, 1e-3, 0);
  assert_true(s->step.exact.mantissa == 1 && s->step.exact.exponent == -3);
  assert_true(s->stop.exact.mantissa == 1 && s->stop.exact.exponent == 1);
  assert_int_equal(s->scheme, YOKE_JACOBI);
  assert_int_equal(s->exchange, YOKE_STALE);
  assert_int_equal(s->threads, 0);
  assert_int_equal(s->iteration.mode, YOKE_ITERATE_MEAN);
  assert_int_equal(s->iteration.update, YOKE_UPDATE_FIXED_POINT);
  check_near(s->iteration.relaxation, 0.5, 0);
  check_near(s->iteration.tolerance, 1e-9, 0);
  assert_int_equal(s->iteration.max, 50);
  assert_int_equal(s->n_units, 1);
  assert_int_equal(s->n_order + s->n_connections + s->n_bonds + s->n_couplings, 0);
  assert_true(s->is_finding);
  assert_int_equal(s->n_record_signals, 1);
  assert_string_equal(s->record_signals[0].text, "*");
  assert_int_equal(s->record_every, 1);
  assert_int_equal(s->n_record_formats, 0);

  // the unit
  const yoke_scenario_unit* unit = &s->units[0];
  assert_string_equal(unit->name, "left");
  assert_int_equal(unit->kind, YOKE_KIND_MODEL);
  assert_string_equal(unit->type, "oscillator.force");
  assert_int_equal(unit->place.line, 3);
  assert_int_equal(unit->place.column, 9);
  assert_int_equal(unit->type_place.column, 23);
  assert_false(unit->is_law || unit->step.is_given || unit->has_exchange);
  assert_int_equal(unit->n_with + unit->n_start, 0);
  check_near(unit->tolerance + unit->cost_s, 0, 0);
  reading_free(r);
}

static void test_top_level_keys(void** state) {
  (void)state;
  reading* r = reading_good(full);
  const yoke_scenario* s = r->scenario;
  assert_string_equal(s->name, "linear oscillator");
  assert_string_equal(s->text, "Two masses [[[ with a \"spring'.\n");
  assert_true(s->start.is_given);
  check_near(s->start.value, -0.5, 0);
  assert_true(s->start.exact.mantissa == -5 && s->start.exact.exponent == -1);
  assert_int_equal(s->scheme, YOKE_ITERATIVE_GAUSS_SEIDEL);
  assert_int_equal(yoke__node_child(s->tree, "scheme")->place.line, 8);
  assert_int_equal(s->exchange, YOKE_FRESH);
  assert_int_equal(s->threads, 4);
  assert_int_equal(s->n_order, 2);
  assert_string_equal(s->order[0].text, "right");
  assert_int_equal(s->order[1].place.column, 16);
  assert_int_equal(s->iteration.mode, YOKE_ITERATE_HOLD_END);
  assert_int_equal(s->iteration.update, YOKE_UPDATE_AITKEN);
  check_near(s->iteration.relaxation, 0.7, 0);
  check_near(s->iteration.tolerance, 1e-6, 0);
  assert_int_equal(s->iteration.max, 20);
  assert_int_equal(s->n_record_signals, 2);
  assert_string_equal(s->record_signals[1].text, "*.x");
  assert_int_equal(s->record_every, 10);
  assert_int_equal(s->n_record_formats, 2);
  assert_string_equal(s->record_formats[1].text, "mat");
  reading_free(r);
}

static void test_units_and_laws(void** state) {
  (void)state;
  reading* r = reading_good(full);
  const yoke_scenario* s = r->scenario;
  assert_int_equal(s->n_units, 3);
  const yoke_scenario_unit *left = &s->units[0], *right = &s->units[1], *law = &s->units[2];
  assert_int_equal(left->n_with, 3);
  assert_string_equal(left->with[1].name, "odd name");
  assert_int_equal(left->with[1].value->kind, YOKE_NODE_LIST);
  assert_string_equal(left->with[2].name, "kc.sub[1]");
  assert_int_equal(left->n_start, 2);
  assert_string_equal(left->start[1].value->text, "100");
  assert_true(left->has_exchange);
  assert_int_equal(left->exchange, YOKE_STALE);
  assert_string_equal(right->name, "right_2-b");
  assert_true(right->step.exact.mantissa == 25 && right->step.exact.exponent == -5);
  check_near(right->tolerance, 1e-4, 0);
  check_near(right->cost_s, 2e-5, 0);
  assert_true(law->is_law);
  assert_int_equal(law->kind, YOKE_KIND_LAW);
  assert_string_equal(law->type, "spring_damper");
  assert_int_equal(law->n_with, 2);
  assert_int_equal(law->n_start, 1);
  reading_free(r);
}

static void check_end(const yoke_scenario_endpoint* end, const char* unit, const char* variable) {
  assert_string_equal(end->unit, unit);
  assert_string_equal(end->variable, variable);
}

static void test_connections(void** state) {
  (void)state;
  reading* r = reading_good(full);
  const yoke_scenario_connection* c = r->scenario->connections;
  assert_int_equal(r->scenario->n_connections, 6);

  // the short form and its defaults
  check_end(&c[0].from, "right_2-b", "x");
  check_end(&c[0].to, "left", "x_other");
  check_near(c[0].gain, 1, 0);
  check_near(c[0].offset, 0, 0);
  assert_int_equal(c[0].order, 0);
  assert_false(c[0].delay.is_given || c[0].exchange.is_given);
  assert_int_equal(c[0].to.place.line, 22);
  assert_int_equal(c[0].to.place.column, 20);

  // the long form
  check_end(&c[1].from, "left", "f");
  check_near(c[1].gain, -2, 0);
  check_near(c[1].offset, 0.5, 0);
  assert_int_equal(c[1].order, 1);
  assert_true(c[1].delay.exact.mantissa == 2 && c[1].delay.exact.exponent == -3);
  assert_true(c[1].exchange.is_given);
  check_near(c[1].exchange.value, 1e-2, 0);

  // odd names
  check_end(&c[2].from, "left", "odd -> name");
  check_end(&c[2].to, "right_2-b", "u");
  check_end(&c[3].from, "left", "a \"b\" \\");
  check_end(&c[3].to, "right_2-b", "der(x)[1,2]");
  check_end(&c[4].from, "left", "a.b.c[0]");
  check_end(&c[4].to, "spring", "x");
  check_end(&c[5].from, "left", "odd -> name");
  check_end(&c[5].to, "right_2-b", "quo\"te");
  reading_free(r);
}

static void test_bonds_and_couplings(void** state) {
  (void)state;
  reading* r = reading_good(full);
  const yoke_scenario* s = r->scenario;
  assert_int_equal(s->n_bonds, 2);
  const yoke_scenario_bond *spring = &s->bonds[0], *plane = &s->bonds[1];
  assert_string_equal(spring->name, "spring");
  assert_int_equal(spring->n_action, 1);
  assert_true(spring->action[0].has_to);
  check_end(&spring->action[0].to, "right_2-b", "f");
  check_end(&spring->rate[0].from, "right_2-b", "v");
  check_near(spring->sign, -1, 0);
  assert_string_equal(yoke__node_child(spring->coupling, "method")->text, "energy");
  assert_int_equal(plane->n_action, 2);
  assert_int_equal(plane->n_rate, 2);
  assert_false(plane->rate[0].has_to);
  assert_true(plane->rate[1].has_to);
  check_near(plane->sign, 1, 0);
  assert_null(plane->coupling);
  assert_int_equal(s->n_couplings, 1);
  assert_string_equal(s->couplings[0].method, "mpsm");
  assert_int_equal(yoke__node_child(s->couplings[0].node, "members")->n_children, 2);
  assert_string_equal(yoke__node_child(s->couplings[0].node, "horizon")->text, "5");
  reading_free(r);
}

// Optional sections may be left empty: somebody commented their entries out.
static void test_empty_sections_count_as_absent(void** state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text,
           "%slaws:\nconnections:\nbonds: ~\ncouplings: null\niteration:\nrecord:\norder:\n"
           "quality:\n",
           minimal);
  reading* r = reading_good(text);
  assert_int_equal(r->scenario->n_connections + r->scenario->n_bonds, 0);
  assert_int_equal(r->scenario->n_record_signals, 1);
  reading_free(r);
  reading_free(
      reading_good("yoke: 1\ntime: {stop: 1, step: 1}\nunits: {a: {model: m, with: , start: }}\n"));
}

static void test_single_texts_where_lists_are_expected(void** state) {
  (void)state;
  char text[512];
  snprintf(text, sizeof text, "%sorder: left\nrecord: {signals: left.x, formats: hdf5}\n", minimal);
  reading* r = reading_good(text);
  assert_int_equal(r->scenario->n_order, 1);
  assert_string_equal(r->scenario->record_signals[0].text, "left.x");
  assert_string_equal(r->scenario->record_formats[0].text, "hdf5");
  reading_free(r);
}

// Byte order mark, all kinds of line ends, an explicit end, JSON: all the same system.
static void test_other_spellings_of_the_file(void** state) {
  (void)state;
  static const char* const texts[] = {
      "\xef\xbb\xbfyoke: 1\ntime: {stop: 10, step: 1e-3}\nunits: {left: {model: m}}\n",
      "yoke: 1\r\ntime: {stop: 10, step: 1e-3}\r\nunits: {left: {model: m}}\r\n",
      "yoke: 1\rtime: {stop: 10, step: 1e-3}\runits: {left: {model: m}}\r",
      "# c\n---\nyoke: 1\ntime: {stop: 10, step: 1e-3}\nunits: {left: {model: m}}\n...\n# end\n",
      "{\"yoke\": 1, 'time': {\"stop\": 10, \"step\": 0.001}, \"units\": {left: {model: 'm'}}}",
      "yoke: 1\ntime: {stop: +10.0, step: 100.E-5}\nunits: {left: {model: m}}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    reading* r = reading_good(texts[i]);
    check_near(r->scenario->stop.value, 10, 0);
    assert_true(r->scenario->step.exact.mantissa == 1 && r->scenario->step.exact.exponent == -3);
    assert_string_equal(r->scenario->units[0].type, "m");
    reading_free(r);
  }
}

// Positions count lines and characters, not bytes.
static void test_positions_count_characters(void** state) {
  (void)state;
  check_messages("yoke: 1\r\ntime: {stop: 1, step: 1}\r\nunits: {a: {model: m}}\r\n"
                 "name: \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\r\n"
                 "record: {signals: [\"\xc3\xa9\xe2\x82\xac\"], every: 0}\r\n",
                 "5:34: error: 'every': expected an integer of at least 1, found 0");
  check_messages("\xef\xbb\xbfyoke: x\ntime: {stop: 1, step: 1}\nunits: {a: {model: m}}\n",
                 "1:7: error: 'yoke': expected an integer of at least 1, found the text 'x'");
}

static void test_quality_and_limits_of_a_bond(void** state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text,
           "%squality: {find: false, warn: {rho: 0.2, eps: 0.02}, stop: {rter: 0.5}, window: 2}\n"
           "bonds: {b: {action: a.f, rate: a.v, mu: 0.725, energy: 1e4, period: 5, residual: "
           "partner-held, stop: {rho: 0.7}, persist: 3, hysteresis: 0.5, settle: 0}, c: false}\n",
           minimal);
  reading* r = reading_of(text);
  check_ok(r->status);
  const yoke_scenario* s = r->scenario;
  assert_false(s->is_finding);
  check_near(s->watch.warn.rho, 0.2, 0);
  check_near(s->watch.warn.eps, 0.02, 0);
  assert_true(isnan(s->watch.warn.rter) && isnan(s->watch.stop.rho));
  check_near(s->watch.stop.rter, 0.5, 0);
  check_near(s->watch.window, 2, 0);
  const yoke_scenario_bond* b = &s->bonds[0];
  check_near(b->mu, 0.725, 0);
  check_near(b->energy, 1e4, 0);
  check_near(b->watch.period, 5, 0);
  assert_int_equal(b->residual, YOKE_BOND_PARTNER_HELD);
  check_near(b->watch.stop.rho, 0.7, 0);
  check_near(b->watch.persist, 3, 0);
  check_near(b->watch.hysteresis, 0.5, 0);
  check_near(b->watch.settle, 0, 0);
  assert_true(isnan(b->watch.window));
  assert_true(s->bonds[1].is_refused);
  reading_free(r);
}

static void test_adaptive_step(void** state) {
  (void)state;
  reading* r = reading_good("yoke: 1\nunits: {a: {model: m}}\n"
                            "time: {stop: 3, step: {min: 1e-4, max: 1e-2, rho: 0.1}}\n");
  assert_true(r->scenario->adaptive.is_given);
  check_near(r->scenario->step.value, 1e-4, 0);
  check_near(r->scenario->adaptive.max.value, 1e-2, 0);
  check_near(r->scenario->adaptive.rho, 0.1, 0);
  reading_free(r);
}

// Times with more digits than an exact decimal holds fall back to the nearest double.
static void test_long_decimals(void** state) {
  (void)state;
  reading* r =
      reading_good("yoke: 1\nunits: {a: {model: m}}\n"
                   "time: {stop: 3.14159265358979323846264338, step: 0.0010000000000000000000}\n");
  check_near(r->scenario->stop.value, 3.14159265358979323846, 0);
  check_near(yoke__decimal_value(r->scenario->stop.exact), 3.14159265358979323846, 0);
  assert_true(r->scenario->step.exact.mantissa == 1 && r->scenario->step.exact.exponent == -3);
  reading_free(r);
}

static void test_name_and_folder_come_from_the_path(void** state) {
  (void)state;
  static const struct {
    const char *path, *directory, *name;
  } cases[] = {
      {"crane.yaml", ".", "crane"},
      {"a/b/crane.v2.yaml", "a/b", "crane.v2"},
      {"/crane", "/", "crane"},
      {"x.d/.hidden", "x.d", ".hidden"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_messages messages = {0};
    yoke_scenario* s = NULL;
    check_ok(yoke__scenario_read(minimal, strlen(minimal), cases[i].path, NULL, 0, &messages, &s));
    assert_string_equal(s->directory, cases[i].directory);
    assert_string_equal(s->name, cases[i].name);
    yoke__scenario_free(&s);
    yoke__messages_free(&messages);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_minimal_file_gets_the_defaults),
      cmocka_unit_test(test_top_level_keys),
      cmocka_unit_test(test_units_and_laws),
      cmocka_unit_test(test_connections),
      cmocka_unit_test(test_bonds_and_couplings),
      cmocka_unit_test(test_empty_sections_count_as_absent),
      cmocka_unit_test(test_single_texts_where_lists_are_expected),
      cmocka_unit_test(test_other_spellings_of_the_file),
      cmocka_unit_test(test_positions_count_characters),
      cmocka_unit_test(test_quality_and_limits_of_a_bond),
      cmocka_unit_test(test_adaptive_step),
      cmocka_unit_test(test_long_decimals),
      cmocka_unit_test(test_name_and_folder_come_from_the_path),
  };
  return cmocka_run_group_tests_name("scenario_good", tests, NULL, NULL);
}
