// Descriptions of FMI 1.0, 2.0 and 3.0 that use every part of their standard: each value arrives where it belongs.
#include "fmi/fmi_helper.h"

#include <math.h>

static void check_roles(const yoke_fmi_description* d, const char* name, yoke_fmi_type type,
                        yoke_fmi_causality causality, yoke_fmi_variability variability,
                        yoke_fmi_initial initial) {
  const yoke_fmi_variable* v = variable(d, name);
  if (v->type != type || v->causality != causality || v->variability != variability ||
      v->initial != initial) {
    fail_msg("'%s' is %s %s %s %s", name, yoke__fmi_type_name((yoke_fmi_type)v->type),
             yoke__fmi_causality_name((yoke_fmi_causality)v->causality),
             yoke__fmi_variability_name((yoke_fmi_variability)v->variability),
             yoke__fmi_initial_name((yoke_fmi_initial)v->initial));
  }
}

static double start_of(const yoke_fmi_description* d, const char* name) {
  double x = -1;
  assert_true(yoke__fmi_start_real(variable(d, name), &x, 1));
  return x;
}

static int64_t integer_of(const yoke_fmi_description* d, const char* name) {
  int64_t x = -1;
  assert_true(yoke__fmi_start_integer(variable(d, name), &x, 1));
  return x;
}

// The dependencies of an entry, as "a b".
static const char* dependencies(const yoke_fmi_description* d, const yoke_fmi_unknown* u) {
  static char text[256];
  size_t n = 0;
  text[0] = '\0';
  for (size_t i = u->first; i < u->first + u->n; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%s/%d", i == u->first ? "" : " ",
                          d->variables[d->dependencies[i]].name, d->dependency_kinds[i]);
  }
  return u->has_dependencies ? text : "all";
}

static const char* name_of(const yoke_fmi_description* d, const yoke_fmi_unknown* u) {
  return d->variables[u->variable].name;
}

// ---- FMI 2.0

static void test_fmi2_head(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full2.xml");
  assert_int_equal(d->version, 2);
  assert_string_equal(d->model_name, "Full two");
  assert_string_equal(d->token, "{8c4e810f-3df3-4a00-8276-176fa3c9f9e0}");
  assert_string_equal(d->description, "every part of a description");
  assert_string_equal(d->author, "A. Author");
  assert_string_equal(d->model_version, "1.2");
  assert_string_equal(d->copyright, "nobody");
  assert_string_equal(d->license, "MIT");
  assert_string_equal(d->generation_tool, "a tool");
  assert_string_equal(d->generation_date, "2024-02-03T04:05:06Z");
  assert_true(d->is_naming_structured);
  assert_int_equal(d->n_event_indicators, 2);
  assert_int_equal(d->n_log_categories, 2);
  assert_string_equal(d->log_categories[1], "logStatusError");
  assert_true(d->experiment.has_start && d->experiment.has_stop && d->experiment.has_tolerance &&
              d->experiment.has_step);
  check_near(d->experiment.start, 1, 0);
  check_near(d->experiment.stop, 2.5, 0);
  check_near(d->experiment.tolerance, 1e-4, 0);
  check_near(d->experiment.step, 0.01, 0);
  yoke__fmi_free(&d);
  assert_null(d);
}

// What our own exports add; what others add, and what a later version of Yoke may add, is passed over in silence.
static void test_own_annotation(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full2.xml");
  assert_true(d->own.is_linear);
  assert_string_equal(d->own.solver, "exact euler");
  assert_string_equal(d->own.solver_variable, "gear");
  assert_string_equal(d->own.steps_variable, "n");
  check_near(d->own.internal_step, 1e-3, 0);
  assert_int_equal(d->own.n_nonlinear, 2);
  assert_string_equal(d->own.nonlinear[0], "m");
  assert_string_equal(d->own.nonlinear[1], "g");
  yoke__fmi_free(&d);
  d = read_data("full3.xml");
  assert_false(d->own.is_linear);
  assert_string_equal(d->own.solver, "rk4");
  assert_string_equal(d->own.steps_variable, "");
  check_near(d->own.internal_step, 0, 0);
  assert_int_equal(d->own.n_nonlinear, 0);
  yoke__fmi_free(&d);
}

static void test_fmi2_interfaces(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full2.xml");
  const yoke_fmi_interface *me = &d->model_exchange, *cs = &d->co_simulation;
  assert_true(me->is_given && cs->is_given && !d->scheduled_execution.is_given);
  assert_string_equal(me->model_identifier, "full_me");
  assert_string_equal(cs->model_identifier, "full_cs");
  assert_true(me->completed_step_not_needed && me->has_directional_derivatives);
  assert_false(me->can_get_and_set_state || me->needs_execution_tool);
  assert_true(cs->needs_execution_tool && cs->can_handle_variable_step &&
              cs->can_interpolate_inputs && cs->can_run_asynchronously &&
              cs->can_be_instantiated_only_once && cs->can_get_and_set_state &&
              cs->can_serialise_state);
  assert_false(cs->has_directional_derivatives || cs->has_event_mode);
  assert_int_equal(cs->max_output_derivative_order, 2);
  assert_int_equal(cs->n_source_files, 2);
  assert_string_equal(cs->source_files[1], "more.c");
  assert_int_equal(me->n_source_files, 0);
  yoke__fmi_free(&d);
}

static void test_fmi2_definitions(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full2.xml");
  assert_int_equal(d->n_units, 4);
  assert_string_equal(d->units[0].name, "m/s");
  assert_true(d->units[0].has_base && d->units[0].m == 1 && d->units[0].s == -1);
  check_near(d->units[1].offset, 273.15, 0);
  check_near(d->units[2].factor, 1000, 0);
  assert_true(d->units[2].kg == 1 && d->units[2].s == -2);
  assert_false(d->units[3].has_base);
  assert_int_equal(d->n_typedefs, 3);
  assert_string_equal(d->typedefs[0].quantity, "Velocity");
  assert_string_equal(d->typedefs[0].display_unit, "km/h");
  size_t n = 0;
  const yoke_fmi_item* items = yoke__fmi_items(d, variable(d, "gear"), &n);
  assert_int_equal(n, 3);
  assert_string_equal(items[0].name, "R");
  assert_int_equal(items[0].value, -1);
  assert_string_equal(items[0].description, "back");
  assert_int_equal(items[2].value, 7);
  assert_null(yoke__fmi_items(d, variable(d, "n"), &n));
  assert_int_equal(n, 0);
  yoke__fmi_free(&d);
}

static void test_fmi2_variables(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full2.xml");
  assert_int_equal(d->n_variables, 12);
  check_roles(d, "time", YOKE_FMI_FLOAT64, YOKE_FMI_INDEPENDENT, YOKE_FMI_CONTINUOUS,
              YOKE_FMI_NO_INITIAL);
  check_roles(d, "body.v", YOKE_FMI_FLOAT64, YOKE_FMI_OUTPUT, YOKE_FMI_CONTINUOUS, YOKE_FMI_EXACT);
  check_roles(d, "der(body.v)", YOKE_FMI_FLOAT64, YOKE_FMI_LOCAL, YOKE_FMI_CONTINUOUS,
              YOKE_FMI_CALCULATED);
  check_roles(d, "F", YOKE_FMI_FLOAT64, YOKE_FMI_INPUT, YOKE_FMI_CONTINUOUS, YOKE_FMI_NO_INITIAL);
  check_roles(d, "gear", YOKE_FMI_ENUMERATION, YOKE_FMI_INPUT, YOKE_FMI_DISCRETE,
              YOKE_FMI_NO_INITIAL);
  check_roles(d, "n", YOKE_FMI_INT32, YOKE_FMI_PARAMETER, YOKE_FMI_TUNABLE, YOKE_FMI_EXACT);
  check_roles(d, "is_on", YOKE_FMI_BOOLEAN, YOKE_FMI_OUTPUT, YOKE_FMI_DISCRETE,
              YOKE_FMI_CALCULATED);
  check_roles(d, "title", YOKE_FMI_STRING, YOKE_FMI_PARAMETER, YOKE_FMI_FIXED, YOKE_FMI_EXACT);
  check_roles(d, "m", YOKE_FMI_FLOAT64, YOKE_FMI_CALCULATED_PARAMETER, YOKE_FMI_FIXED,
              YOKE_FMI_CALCULATED);
  check_roles(d, "g", YOKE_FMI_FLOAT64, YOKE_FMI_LOCAL, YOKE_FMI_CONSTANT, YOKE_FMI_EXACT);
  check_roles(d, "T", YOKE_FMI_FLOAT64, YOKE_FMI_LOCAL, YOKE_FMI_CONTINUOUS, YOKE_FMI_APPROX);

  const yoke_fmi_variable* v = variable(d, "body.v");
  assert_string_equal(v->description, "speed & sign");
  assert_string_equal(v->unit, "m/s");  // of its type
  assert_true(v->reinit && v->is_multiple_set_allowed);
  assert_int_equal(v->line, 29);
  check_near(start_of(d, "body.v"), 15, 0);
  assert_string_equal(variable(d, "F")->unit, "kN");
  assert_false(variable(d, "F")->is_multiple_set_allowed);
  assert_string_equal(variable(d, "title")->start, "a \"b\"");
  assert_null(variable(d, "is_on")->start);
  assert_int_equal(integer_of(d, "gear"), 7);
  assert_int_equal(variable(d, "der(body.v)")->derivative_of, 2);
  yoke__fmi_free(&d);
}

// The same number means different variables for different types; the same number and type is one value.
static void test_fmi2_references(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full2.xml");
  assert_int_equal(yoke__fmi_find_reference(d, 1), yoke__fmi_find(d, "body.v"));
  assert_int_equal(yoke__fmi_find_typed(d, 1, YOKE_FMI_FLOAT64), yoke__fmi_find(d, "body.v"));
  assert_int_equal(yoke__fmi_find_typed(d, 1, YOKE_FMI_INT32), yoke__fmi_find(d, "gear"));
  assert_int_equal(yoke__fmi_find_typed(d, 1, YOKE_FMI_ENUMERATION), yoke__fmi_find(d, "gear"));
  assert_int_equal(yoke__fmi_find_typed(d, 1, YOKE_FMI_BOOLEAN), yoke__fmi_find(d, "is_on"));
  assert_int_equal(yoke__fmi_find_typed(d, 1, YOKE_FMI_STRING), yoke__fmi_find(d, "title"));
  assert_true(yoke__fmi_find_reference(d, 77) == YOKE_FMI_NONE);
  assert_true(yoke__fmi_find(d, "nobody") == YOKE_FMI_NONE);
  assert_int_equal(variable(d, "speed")->alias_of, 1 + yoke__fmi_find(d, "body.v"));
  assert_int_equal(variable(d, "gear")->alias_of, 0);
  yoke__fmi_free(&d);
}

static void test_fmi2_structure(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full2.xml");
  assert_int_equal(d->outputs.n, 3);
  assert_string_equal(name_of(d, &d->outputs.items[0]), "body.v");
  assert_string_equal(dependencies(d, &d->outputs.items[0]), "");
  assert_string_equal(name_of(d, &d->outputs.items[1]), "is_on");
  assert_string_equal(dependencies(d, &d->outputs.items[1]), "F/0 gear/4");
  assert_string_equal(dependencies(d, &d->outputs.items[2]), "all");
  assert_int_equal(d->states_derivatives.n, 1);
  assert_string_equal(dependencies(d, &d->states_derivatives.items[0]), "body.v/1 F/2");
  assert_int_equal(d->initial_unknowns.n, 2);
  assert_int_equal(d->initial_unknowns.items[1].line, 49);
  yoke__fmi_free(&d);
}

// ---- FMI 3.0

static void test_fmi3_head(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full3.xml");
  const yoke_fmi_interface* cs = &d->co_simulation;
  assert_int_equal(d->version, 3);
  assert_string_equal(d->token, "token-3");
  assert_true(d->model_exchange.needs_completed_step &&
              d->model_exchange.has_evaluate_discrete_states);
  assert_true(d->scheduled_execution.is_given);
  assert_true(cs->can_get_and_set_state && cs->can_serialise_state &&
              cs->has_directional_derivatives && cs->has_adjoint_derivatives &&
              cs->has_element_dependencies && cs->can_handle_variable_step && cs->has_event_mode &&
              cs->might_return_early && cs->can_return_early && cs->has_intermediate_update);
  check_near(cs->fixed_internal_step, 0.001, 0);
  assert_int_equal(cs->max_output_derivative_order, 1);
  assert_true(d->units[0].rad == 1 && d->units[0].s == -1);
  yoke__fmi_free(&d);
}

static void test_fmi3_types(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full3.xml");
  static const struct {
    const char* name;
    yoke_fmi_type type;
    int64_t start;
  } integers[] = {
      {"i8", YOKE_FMI_INT8, -128},
      {"u8", YOKE_FMI_UINT8, 255},
      {"i16", YOKE_FMI_INT16, -32768},
      {"u16", YOKE_FMI_UINT16, 65535},
      {"i32", YOKE_FMI_INT32, INT32_MIN},
      {"u32", YOKE_FMI_UINT32, UINT32_MAX},
      {"i64", YOKE_FMI_INT64, INT64_MIN},
      {"u64", YOKE_FMI_UINT64, -1},  // the same 64 bits
      {"mode", YOKE_FMI_ENUMERATION, INT64_C(9000000000)},
  };
  for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
    assert_int_equal(variable(d, integers[i].name)->type, integers[i].type);
    assert_true(integer_of(d, integers[i].name) == integers[i].start);
  }
  check_roles(d, "rows", YOKE_FMI_UINT64, YOKE_FMI_STRUCTURAL_PARAMETER, YOKE_FMI_FIXED,
              YOKE_FMI_EXACT);
  check_roles(d, "f", YOKE_FMI_FLOAT32, YOKE_FMI_INPUT, YOKE_FMI_CONTINUOUS, YOKE_FMI_NO_INITIAL);
  assert_true(variable(d, "f")->is_intermediate);
  check_near(start_of(d, "f"), 1.5, 0);

  const yoke_fmi_variable* raw = variable(d, "raw");
  unsigned char bytes[4] = {9, 9, 9, 9};
  assert_int_equal(raw->max_size, 4);
  assert_int_equal(yoke__fmi_start_binary(raw, NULL, 0), 3);
  assert_int_equal(yoke__fmi_start_binary(raw, bytes, 4), 3);
  assert_true(bytes[0] == 0 && bytes[1] == 0xff && bytes[2] == 0xa1 && bytes[3] == 9);
  assert_int_equal(yoke__fmi_start_binary(raw, bytes, 2), 2);
  yoke__fmi_free(&d);
}

static void test_fmi3_arrays(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full3.xml");
  const yoke_fmi_variable* a = variable(d, "A");
  double x[6];
  assert_int_equal(a->n_dimensions, 2);
  assert_int_equal(d->dimensions[a->first_dimension].variable, yoke__fmi_find(d, "rows"));
  assert_int_equal(d->dimensions[a->first_dimension].start, 2);
  assert_true(d->dimensions[a->first_dimension + 1].variable == YOKE_FMI_NONE);
  assert_int_equal(yoke__fmi_size(d, a), 6);
  assert_int_equal(yoke__fmi_size(d, variable(d, "f")), 1);
  assert_true(yoke__fmi_start_real(a, x, 6));
  check_near(x[5], 6, 0);

  int64_t b[3];
  assert_true(yoke__fmi_start_integer(variable(d, "b"), b, 3));
  assert_true(b[0] == 1 && b[1] == 0 && b[2] == 1);
  assert_string_equal(variable(d, "s")->start, "one\x1f\x1fthree <");
  yoke__fmi_free(&d);
}

static void test_fmi3_clocks(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full3.xml");
  assert_int_equal(d->n_clocks, 2);
  const yoke_fmi_clock *tick = &d->clocks[0], *tock = &d->clocks[1];
  assert_int_equal(tick->variable, yoke__fmi_find(d, "tick"));
  assert_int_equal(tick->interval, YOKE_FMI_INTERVAL_CONSTANT);
  check_near(tick->interval_decimal, 0.25, 0);
  check_near(tick->shift_decimal, 0.5, 0);
  assert_int_equal(tick->priority, 3);
  assert_int_equal(tock->interval, YOKE_FMI_INTERVAL_TRIGGERED);
  assert_true(isnan(tock->interval_decimal));
  assert_true(tock->has_counter && tock->supports_fraction && tock->can_be_deactivated);
  assert_true(tock->resolution == 1000 && tock->interval_counter == 10 && tock->shift_counter == 5);
  assert_int_equal(d->n_clocked, 2);
  assert_int_equal(d->clocked[1].variable, yoke__fmi_find(d, "sampled"));
  assert_int_equal(d->clocked[1].clock, yoke__fmi_find(d, "tock"));
  assert_true(variable(d, "sampled")->has_clocks);
  yoke__fmi_free(&d);
}

static void test_fmi3_aliases_and_structure(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full3.xml");
  const size_t x = yoke__fmi_find(d, "x");
  const yoke_fmi_variable* place = variable(d, "place");
  assert_int_equal(place->alias_of, x + 1);
  assert_int_equal(place->reference, 20);
  assert_string_equal(place->unit, "rad/s");
  assert_string_equal(variable(d, "position")->description, "the same");
  assert_int_equal(yoke__fmi_find_reference(d, 20), x);
  assert_int_equal(variable(d, "dx")->derivative_of, x + 1);

  // an alias of an output needs no entry of its own
  assert_int_equal(d->outputs.n, 3);
  assert_string_equal(dependencies(d, &d->outputs.items[2]), "f/3 mode/0 tick/0");
  assert_int_equal(d->states_derivatives.n, 1);
  assert_int_equal(d->clocked_states.n, 1);
  assert_string_equal(dependencies(d, &d->clocked_states.items[0]), "all");
  assert_int_equal(d->initial_unknowns.n, 1);
  assert_int_equal(d->event_indicators.n, 1);
  assert_int_equal(d->n_event_indicators, 1);
  yoke__fmi_free(&d);
}

// ---- FMI 1.0

static void test_fmi1(void** state) {
  (void)state;
  yoke_fmi_description* d = read_data("full1.xml");
  const yoke_fmi_interface* cs = &d->co_simulation;
  assert_int_equal(d->version, 1);
  assert_string_equal(cs->model_identifier, "full_one");
  assert_true(cs->is_given && cs->needs_execution_tool && cs->can_handle_variable_step &&
              cs->can_interpolate_inputs);
  assert_false(d->model_exchange.is_given || cs->can_get_and_set_state);
  check_roles(d, "u", YOKE_FMI_FLOAT64, YOKE_FMI_INPUT, YOKE_FMI_CONTINUOUS, YOKE_FMI_NO_INITIAL);
  check_roles(d, "k", YOKE_FMI_FLOAT64, YOKE_FMI_PARAMETER, YOKE_FMI_FIXED, YOKE_FMI_EXACT);
  check_roles(d, "k2", YOKE_FMI_FLOAT64, YOKE_FMI_CALCULATED_PARAMETER, YOKE_FMI_FIXED,
              YOKE_FMI_CALCULATED);
  check_roles(d, "c", YOKE_FMI_INT32, YOKE_FMI_LOCAL, YOKE_FMI_CONSTANT, YOKE_FMI_EXACT);
  check_roles(d, "x", YOKE_FMI_FLOAT64, YOKE_FMI_LOCAL, YOKE_FMI_CONTINUOUS, YOKE_FMI_APPROX);
  check_roles(d, "colour", YOKE_FMI_ENUMERATION, YOKE_FMI_INPUT, YOKE_FMI_DISCRETE,
              YOKE_FMI_NO_INITIAL);
  assert_string_equal(variable(d, "u")->unit, "rad");
  assert_true(variable(d, "minus_y")->is_negated);
  assert_int_equal(variable(d, "minus_y")->alias_of, 1 + yoke__fmi_find(d, "y"));
  size_t n = 0;
  const yoke_fmi_item* items = yoke__fmi_items(d, variable(d, "colour"), &n);
  assert_int_equal(n, 2);
  assert_int_equal(items[1].value, 2);

  // outputs say themselves what they depend on; one that says nothing depends on everything
  assert_int_equal(d->outputs.n, 3);
  assert_string_equal(dependencies(d, &d->outputs.items[0]), "u/0");
  assert_string_equal(dependencies(d, &d->outputs.items[1]), "");
  assert_string_equal(name_of(d, &d->outputs.items[2]), "w");
  assert_string_equal(dependencies(d, &d->outputs.items[2]), "all");
  yoke__fmi_free(&d);
}

// ---- start values as numbers

static void test_start_values(void** state) {
  (void)state;
  double x[3];
  int64_t i[3];
  yoke_fmi_variable v = {.type = YOKE_FMI_FLOAT64};
  assert_true(yoke__fmi_start_real(&v, x, 3));  // none: zeros
  check_near(x[2], 0, 0);
  v.start = " 2.5 ";
  assert_true(yoke__fmi_start_real(&v, x, 3));  // one fills all
  check_near(x[0] + x[1] + x[2], 7.5, 0);
  v.start = "1 2";
  assert_true(yoke__fmi_start_real(&v, x, 3));  // missing ones are 0
  check_near(x[1], 2, 0);
  check_near(x[2], 0, 0);
  v.start = "1 2 3 4";
  assert_true(yoke__fmi_start_real(&v, x, 3));
  check_near(x[2], 3, 0);
  v.start = "1 two 3";
  assert_false(yoke__fmi_start_real(&v, x, 3));  // zeros from there on
  check_near(x[0], 1, 0);
  check_near(x[1] + x[2], 0, 0);
  v.start = "INF -INF NaN";
  assert_true(yoke__fmi_start_real(&v, x, 3));
  assert_true(isinf(x[0]) && isinf(x[1]) && x[1] < 0 && isnan(x[2]));
  v.start = "";
  assert_false(yoke__fmi_start_real(&v, x, 1));

  v.start = "True false 1";
  assert_true(yoke__fmi_start_integer(&v, i, 3));
  assert_true(i[0] == 1 && i[1] == 0 && i[2] == 1);
  v.start = "3.0";
  assert_true(yoke__fmi_start_integer(&v, i, 1));
  assert_int_equal(i[0], 3);
  v.start = "3.5";
  assert_false(yoke__fmi_start_integer(&v, i, 1));
  v.start = "tree";
  assert_false(yoke__fmi_start_integer(&v, i, 1));
  v.start = "99999999999999999999";
  assert_false(yoke__fmi_start_integer(&v, i, 1));
  v.start = "-9223372036854775809";
  assert_false(yoke__fmi_start_integer(&v, i, 1));
  v.start = "0g";
  assert_int_equal(yoke__fmi_start_binary(&v, NULL, 0), -1);
  v.start = "012";
  assert_int_equal(yoke__fmi_start_binary(&v, NULL, 0), -1);
}

// The order of the sections does not matter: everything is resolved at the end.
static void test_any_order(void** state) {
  (void)state;
  yoke_messages messages = {0};
  yoke_fmi_description* d = read_text(
      "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"g\">\n"
      "<ModelStructure><Outputs><Unknown index=\"1\" "
      "dependencies=\"2\"/></Outputs></ModelStructure>\n"
      "<ModelVariables><ScalarVariable name=\"y\" valueReference=\"1\" causality=\"output\">"
      "<Real declaredType=\"T\"/></ScalarVariable>\n"
      "<ScalarVariable name=\"u\" valueReference=\"2\" causality=\"input\">"
      "<Real unit=\"N\" start=\"0\"/></ScalarVariable></ModelVariables>\n"
      "<TypeDefinitions><SimpleType name=\"T\"><Real unit=\"N\"/></SimpleType></TypeDefinitions>\n"
      "<UnitDefinitions><Unit name=\"N\"/></UnitDefinitions>\n"
      "<CoSimulation modelIdentifier=\"m\"/></fmiModelDescription>",
      &messages);
  if (messages.n > 0) {
    fail_msg("%s", all_messages(&messages));
  }
  assert_string_equal(variable(d, "y")->unit, "N");
  assert_string_equal(dependencies(d, &d->outputs.items[0]), "u/0");
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fmi2_head),
      cmocka_unit_test(test_own_annotation),
      cmocka_unit_test(test_fmi2_interfaces),
      cmocka_unit_test(test_fmi2_definitions),
      cmocka_unit_test(test_fmi2_variables),
      cmocka_unit_test(test_fmi2_references),
      cmocka_unit_test(test_fmi2_structure),
      cmocka_unit_test(test_fmi3_head),
      cmocka_unit_test(test_fmi3_types),
      cmocka_unit_test(test_fmi3_arrays),
      cmocka_unit_test(test_fmi3_clocks),
      cmocka_unit_test(test_fmi3_aliases_and_structure),
      cmocka_unit_test(test_fmi1),
      cmocka_unit_test(test_start_values),
      cmocka_unit_test(test_any_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
