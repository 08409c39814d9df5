// The sections `units` and `laws`: what takes part in the system.
//
// A unit has exactly one key that says of which kind it is (`model`, `fmu`, `circuit`, `library`), a law has `law`;
// `library` and the name of a model go together. Settings under `with` and `start` are kept as nodes, since only the unit knows their types.
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "scenario/scenario_reader.h"

// Keys of kinds that this version does not know how to run.
typedef struct later_kind {
  const char* key;
  const char* plural;
} later_kind;

static const later_kind later_kinds[] = {
    {"twin", "twins"},
    {"meter", "meters"},
    {"port", "ports"},
};

static void read_kind(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  if (unit->kind != YOKE_KIND_NONE) {
    yoke__error(reader->messages, node->key_place,
                "a second kind '%s': the %s '%s' is already given by '%s'", node->key,
                unit->is_law ? "law" : "unit", unit->name, yoke_unit_kind_text(unit->kind));
    return;
  }
  for (int i = 0; i < YOKE_N_KINDS; i++) {
    const yoke_unit_kind kind = (yoke_unit_kind)i;
    unit->kind = strcmp(yoke_unit_kind_text(kind), node->key) == 0 ? kind : unit->kind;
  }
  unit->type_place = node->place;
  yoke__read_text(reader, node, &unit->type);
}

// the name of the model may stand behind it in the file
static void keep_library(yoke_reader* reader, const yoke_node* node, void* to) {
  (void)reader;
  ((yoke_scenario_unit*)to)->library_node = node;
}

// The library is the type then, and the name of the model that of a unit in it.
static void read_library(yoke_reader* reader, yoke_scenario_unit* unit) {
  const yoke_node* node = unit->library_node;
  if (node == NULL || unit->is_kind_refused) {
    return;
  }
  if (unit->kind == YOKE_KIND_FMU || unit->kind == YOKE_KIND_CIRCUIT) {
    yoke__error(reader->messages, node->key_place,
                "a second kind 'library': the unit '%s' is already given by '%s'", unit->name,
                yoke_unit_kind_text(unit->kind));
    return;
  }
  unit->model = unit->type;
  unit->model_place = unit->type_place;
  unit->kind = YOKE_KIND_LIBRARY;
  unit->type = NULL;
  unit->type_place = node->place;
  yoke__read_text(reader, node, &unit->type);
}

static void read_later_kind(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  for (size_t i = 0; i < YOKE_COUNT(later_kinds); i++) {
    if (strcmp(later_kinds[i].key, node->key) == 0) {
      yoke__error(reader->messages, node->key_place, "%s are not supported by this version",
                  later_kinds[i].plural);
    }
  }
  unit->is_kind_refused = true;
}

static void read_law_in_units(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  yoke__error(reader->messages, node->key_place, "a law stands under 'laws', not under 'units'");
  unit->is_kind_refused = true;
}

static void read_unit_key_in_laws(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  if (strcmp(node->key, "model") == 0) {
    yoke__error(reader->messages, node->key_place,
                "a model stands under 'units'; a law is given by 'law'");
    unit->is_kind_refused = true;
    return;
  }
  yoke__error(reader->messages, node->key_place,
              "a law has no '%s': it has no state and is evaluated with the exchange", node->key);
}

// A map from names to values, in file order.
static void read_settings(yoke_reader* reader, const yoke_node* node, const yoke_setting** out,
                          size_t* n) {
  if (yoke__node_is_null(node)) {
    return;
  }
  if (!yoke__expect_kind(reader, node, YOKE_NODE_MAP, "a map of names and values")) {
    return;
  }
  yoke_setting* all = yoke__reader_array(reader, node->n_children, sizeof *all);
  if (all == NULL) {
    return;
  }
  size_t i = 0;
  for (const yoke_node* child = node->first; child != NULL; child = child->next) {
    all[i++] = (yoke_setting){.name = child->key, .place = child->key_place, .value = child};
  }
  *out = all;
  *n = i;
}

static void read_with(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  read_settings(reader, node, &unit->with, &unit->n_with);
}

static void read_start(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  read_settings(reader, node, &unit->start, &unit->n_start);
}

static void read_step(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_time(reader, node, &yoke__range_positive, &((yoke_scenario_unit*)to)->step);
}

static void read_exchange(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  unit->has_exchange = yoke__read_exchange(reader, node, &unit->exchange);
}

static void read_tolerance(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_positive, &((yoke_scenario_unit*)to)->tolerance);
}

static void read_cost(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_not_negative, &((yoke_scenario_unit*)to)->cost_s);
}

static void read_values(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  read_settings(reader, node, &unit->values, &unit->n_values);
}

// ---- FMUs, and processes of their own

static void note_option(yoke_scenario_unit* unit, const yoke_node* node) {
  if (unit->option == NULL) {
    unit->option = node->key;
    unit->option_place = node->key_place;
  }
}

static void read_interface(yoke_reader* reader, const yoke_node* node, void* to) {
  static const char* const names[] = {"auto", "co-simulation", "model-exchange"};
  yoke_scenario_unit* unit = to;
  size_t choice = 0;
  note_option(unit, node);
  if (yoke__read_choice(reader, node, names, YOKE_COUNT(names), &choice)) {
    unit->interface_type = (yoke_scenario_interface)choice;
  }
}

static bool read_flag(yoke_reader* reader, const yoke_node* node, bool* out) {
  static const char* const names[] = {"false", "true", "no", "yes", "off", "on"};
  size_t choice = 0;
  if (!yoke__read_choice(reader, node, names, YOKE_COUNT(names), &choice)) {
    return false;
  }
  *out = choice % 2 == 1;
  return true;
}

static void read_log(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  note_option(unit, node);
  read_flag(reader, node, &unit->is_logging);
}

static void read_events(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  bool is_on = true;
  note_option(unit, node);
  if (read_flag(reader, node, &is_on)) {
    unit->is_event_mode_off = !is_on;
  }
}

static void read_internal_step(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  note_option(unit, node);
  unit->has_internal_step =
      yoke__read_number(reader, node, &yoke__range_not_negative, &unit->internal_step);
}

// the kind of the unit may stand behind it in the file
static void keep_method(yoke_reader* reader, const yoke_node* node, void* to) {
  (void)reader;
  ((yoke_scenario_solver*)to)->method_node = node;
}

// the second list is that of circuit/circuit_solver.h
static void read_method(yoke_reader* reader, const yoke_node* node, bool is_circuit,
                        yoke_scenario_solver* to) {
  static const char* const of_fmus[] = {"euler", "rk4", "trapezoidal", "cvode"};
  static const char* const of_circuits[] = {"trbdf2", "tr",      "trnp",    "bdf1",  "bdf2",
                                            "bdf3",   "esdirk3", "esdirk4", "euler", "rk4"};
  const char* const* names = is_circuit ? of_circuits : of_fmus;
  const size_t n = is_circuit ? YOKE_COUNT(of_circuits) : YOKE_COUNT(of_fmus);
  size_t choice = 0;
  if (yoke__read_choice(reader, node, names, n, &choice)) {
    to->method = names[choice];
  }
}

static void note_circuit_key(yoke_scenario_solver* solver, const yoke_node* node) {
  solver->circuit_only_node = solver->circuit_only_node == NULL ? node : solver->circuit_only_node;
}

static void read_formulation(yoke_reader* reader, const yoke_node* node, void* to) {
  static const char* const names[] = {"nodal", "dae", "ode"};
  yoke_scenario_solver* solver = to;
  size_t choice = 0;
  note_circuit_key(solver, node);
  if (yoke__read_choice(reader, node, names, YOKE_COUNT(names), &choice)) {
    solver->formulation = names[choice];
  }
}

static void read_iterations(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_solver* solver = to;
  note_circuit_key(solver, node);
  yoke__read_integer(reader, node, 1, 1000, &solver->iterations);
}

// a netlist's may have a suffix
static void keep_step(yoke_reader* reader, const yoke_node* node, void* to) {
  (void)reader;
  ((yoke_scenario_solver*)to)->step_node = node;
}

static void read_solver_tolerance(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_positive, &((yoke_scenario_solver*)to)->tolerance);
}

static const yoke_key solver_keys[] = {
    {"method", keep_method, &yoke__shape_value},
    {"step", keep_step, &yoke__shape_value},
    {"tolerance", read_solver_tolerance, &yoke__shape_value},
    {"formulation", read_formulation, &yoke__shape_value},
    {"iterations", read_iterations, &yoke__shape_value},
};
static const yoke_shape solver_shape = {
    .kind = YOKE_SHAPE_KEYS, .keys = solver_keys, .n_keys = YOKE_COUNT(solver_keys)};

// `solver: rk4` or `solver: {method: rk4, step: 1e-4}`
static void read_solver(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  unit->solver.is_given = true;
  unit->solver.place = node->place;
  unit->solver.key_place = node->key_place;
  if (node->kind == YOKE_NODE_SCALAR) {
    keep_method(reader, node, &unit->solver);
    return;
  }
  yoke__shape_walk(reader, node, &solver_shape, "'solver'", &unit->solver);
}

static void read_isolation(yoke_reader* reader, const yoke_node* node, void* to) {
  static const char* const names[] = {"no", "process", "false"};
  size_t choice = 0;
  if (yoke__read_choice(reader, node, names, YOKE_COUNT(names), &choice)) {
    ((yoke_scenario_isolation*)to)->is_given = choice == 1;
  }
}

static void read_wait(yoke_reader* reader, const yoke_node* node, void* to) {
  static const char* const names[] = {"auto", "spin", "sleep"};
  size_t choice = 0;
  if (yoke__read_choice(reader, node, names, YOKE_COUNT(names), &choice)) {
    ((yoke_scenario_isolation*)to)->wait = (yoke_scenario_wait)choice;
  }
}

static void read_timeout(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_positive,
                    &((yoke_scenario_isolation*)to)->timeout_s);
}

static void read_memory(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_positive, &((yoke_scenario_isolation*)to)->memory);
}

static const yoke_key isolation_keys[] = {
    {"by", read_isolation, &yoke__shape_value},
    {"timeout", read_timeout, &yoke__shape_value},
    {"memory", read_memory, &yoke__shape_value},
    {"wait", read_wait, &yoke__shape_value},
};
static const yoke_shape isolation_shape = {
    .kind = YOKE_SHAPE_KEYS, .keys = isolation_keys, .n_keys = YOKE_COUNT(isolation_keys)};

// `isolate: process` or `isolate: {timeout: 10, memory: 2e9, wait: sleep}`
static void read_isolate(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_unit* unit = to;
  unit->isolation.place = node->place;
  if (node->kind == YOKE_NODE_SCALAR) {
    read_isolation(reader, node, &unit->isolation);
    return;
  }
  unit->isolation.is_given = true;
  yoke__shape_walk(reader, node, &isolation_shape, "'isolate'", &unit->isolation);
}

static const yoke_shape variables_shape = {.kind = YOKE_SHAPE_VARIABLES};

// Keys without a shape are known only to be refused; hints do not name them.
static const yoke_key unit_keys[] = {
    {"model", read_kind, &yoke__shape_value},
    {"fmu", read_kind, &yoke__shape_value},
    {"circuit", read_kind, &yoke__shape_value},
    {"library", keep_library, &yoke__shape_value},
    {"with", read_with, &variables_shape},
    {"start", read_start, &variables_shape},
    {"values", read_values, &variables_shape},
    {"step", read_step, &yoke__shape_value},
    {"isolate", read_isolate, &isolation_shape},
    {"interface", read_interface, &yoke__shape_value},
    {"solver", read_solver, &solver_shape},
    {"events", read_events, &yoke__shape_value},
    {"internal_step", read_internal_step, &yoke__shape_value},
    {"log", read_log, &yoke__shape_value},
    {"exchange", read_exchange, &yoke__shape_value},
    {"tolerance", read_tolerance, &yoke__shape_value},
    {"cost", read_cost, &yoke__shape_value},
    {"law", read_law_in_units, NULL},
    {"twin", read_later_kind, NULL},
    {"meter", read_later_kind, NULL},
    {"port", read_later_kind, NULL},
};

static const yoke_key law_keys[] = {
    {"law", read_kind, &yoke__shape_value},     {"library", keep_library, &yoke__shape_value},
    {"with", read_with, &variables_shape},      {"start", read_start, &variables_shape},
    {"cost", read_cost, &yoke__shape_value},    {"model", read_unit_key_in_laws, NULL},
    {"step", read_unit_key_in_laws, NULL},      {"exchange", read_unit_key_in_laws, NULL},
    {"tolerance", read_unit_key_in_laws, NULL},
};

static const yoke_shape unit_shape = {
    .kind = YOKE_SHAPE_KEYS, .keys = unit_keys, .n_keys = YOKE_COUNT(unit_keys)};
static const yoke_shape law_shape = {
    .kind = YOKE_SHAPE_KEYS, .keys = law_keys, .n_keys = YOKE_COUNT(law_keys)};
const yoke_shape yoke__shape_units = {.kind = YOKE_SHAPE_NAMES, .entry = &unit_shape};
const yoke_shape yoke__shape_laws = {.kind = YOKE_SHAPE_NAMES, .entry = &law_shape};

// what depends on the kind
static void check_solver(yoke_reader* reader, yoke_scenario_unit* unit, const char* where) {
  yoke_scenario_solver* solver = &unit->solver;
  if (!solver->is_given || unit->kind == YOKE_KIND_NONE) {
    return;
  }
  const bool is_circuit = unit->kind == YOKE_KIND_CIRCUIT;
  if (!is_circuit && unit->kind != YOKE_KIND_FMU) {
    yoke__error(reader->messages, solver->key_place, "%s: 'solver' is for FMUs and circuits",
                where);
    return;
  }
  if (!is_circuit && solver->circuit_only_node != NULL) {
    yoke__error(reader->messages, solver->circuit_only_node->key_place, "%s: '%s' is for circuits",
                where, solver->circuit_only_node->key);
  }
  if (solver->method_node != NULL) {
    read_method(reader, solver->method_node, is_circuit, solver);
  }
  if (solver->step_node != NULL) {
    yoke__read_number(reader,
                      is_circuit ? yoke__node_without_suffix(reader, solver->step_node)
                                 : solver->step_node,
                      &yoke__range_positive, &solver->step);
  }
}

static void read_unit(yoke_reader* reader, const yoke_node* node, bool is_law,
                      yoke_scenario_unit* unit) {
  *unit = (yoke_scenario_unit){.name = node->key, .place = node->key_place, .is_law = is_law};
  yoke__name_check(reader, node, is_law ? "law" : "unit");

  // an alias or a duplicate was reported and is not read
  if (node->is_refused) {
    return;
  }
  if (yoke__node_is_null(node)) {
    yoke__error(reader->messages, node->key_place,
                "'%s': expected a map such as {%s}, found nothing", unit->name,
                is_law ? "law: spring_damper" : "model: oscillator.force");
    return;
  }
  char cut[YOKE_FOUND_SIZE], where[YOKE_FOUND_SIZE + 16];
  snprintf(where, sizeof where, "%s '%s'", is_law ? "law" : "unit",
           yoke__text_cut(unit->name, cut));
  const bool is_map =
      yoke__shape_walk(reader, node, is_law ? &law_shape : &unit_shape, where, unit);
  read_library(reader, unit);
  if (is_map && unit->kind == YOKE_KIND_NONE && !unit->is_kind_refused) {
    yoke__error(reader->messages, node->key_place, "%s has no kind: expected the key %s", where,
                is_law ? "'law'" : "'model', 'fmu', 'circuit' or 'library'");
  }
  if (unit->option != NULL && unit->kind != YOKE_KIND_NONE && unit->kind != YOKE_KIND_FMU) {
    yoke__error(reader->messages, unit->option_place, "%s: '%s' is for FMUs", where, unit->option);
  }
  check_solver(reader, unit, where);
  if (unit->kind == YOKE_KIND_CIRCUIT) {
    yoke__netlist_settings_read(reader, unit);
  }
}

// All entries of one section behind those already there.
static void read_section(yoke_reader* reader, const yoke_node* map, bool is_law,
                         yoke_scenario_unit* units, size_t* n) {
  for (const yoke_node* child = map == NULL ? NULL : map->first; child != NULL;
       child = child->next) {
    if (!child->is_refused) {
      read_unit(reader, child, is_law, &units[(*n)++]);
    }
  }
}

// NULL if a section is missing, empty or no map (reported).
static const yoke_node* section_of(yoke_reader* reader, const yoke_node* node,
                                   const char* expected) {
  if (node == NULL || yoke__node_is_null(node) ||
      !yoke__expect_kind(reader, node, YOKE_NODE_MAP, expected)) {
    return NULL;
  }
  return node;
}

// A law may not have the name of a unit: both are sources of signals.
static void check_shared_names(yoke_reader* reader, const yoke_scenario_unit* units, size_t n) {
  yoke_scenario_name* names = yoke__reader_array(reader, n, sizeof *names);
  if (names == NULL) {
    return;
  }
  for (size_t i = 0; i < n; i++) {
    names[i] = (yoke_scenario_name){units[i].name, units[i].place};
  }
  yoke__names_check_twice(reader, names, n, "unit");
}

void yoke__read_units(yoke_reader* reader, const yoke_node* units, const yoke_node* laws,
                      yoke_scenario* to) {
  if (units != NULL && !units->is_refused &&
      (yoke__node_is_null(units) || (units->kind == YOKE_NODE_MAP && units->n_children == 0))) {
    yoke__error(reader->messages, units->key_place,
                "'units': expected at least one unit, found none");
  }
  const yoke_node* unit_map = section_of(reader, units, "a map of units");
  const yoke_node* law_map = section_of(reader, laws, "a map of laws");
  const size_t n_most =
      (unit_map == NULL ? 0 : unit_map->n_children) + (law_map == NULL ? 0 : law_map->n_children);
  yoke_scenario_unit* all = yoke__reader_array(reader, n_most, sizeof *all);
  if (all == NULL) {
    return;
  }
  size_t n = 0;
  read_section(reader, unit_map, false, all, &n);
  read_section(reader, law_map, true, all, &n);
  if (law_map != NULL) {
    check_shared_names(reader, all, n);
  }
  to->units = all;
  to->n_units = n;
}
