// The sections `units` and `laws`: what takes part in the system.
//
// A unit has exactly one key that says of which kind it is (`model`, `fmu`, `circuit`, `twin`, `library`), a law has `law`;
// `library` and the name of a model go together. Settings under `with` and `start` are kept as nodes, since only the unit knows their types.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_path.h"
#include "scenario/scenario_reader.h"

static void read_kind(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  (void)rule;
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
  if (unit->kind == YOKE_KIND_TWIN && node->kind == YOKE_NODE_MAP) {
    yoke__read_box(reader, node, unit);
    return;
  }
  yoke__read_text(reader, node, &unit->type);
  if (unit->kind == YOKE_KIND_TWIN && unit->type != NULL && yoke__path_is_fmu(unit->type)) {
    unit->twin.box = YOKE_KIND_FMU;
  }
}

// The library is the type then, and the name of the model that of a unit in it.
static void read_library(yoke_reader* reader, const yoke_node* node, yoke_scenario_unit* unit) {
  if (node == NULL || unit->is_kind_refused) {
    return;
  }
  if (unit->kind == YOKE_KIND_FMU || unit->kind == YOKE_KIND_CIRCUIT ||
      unit->kind == YOKE_KIND_TWIN) {
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

// Kinds that this version does not know how to run.
static void read_later_kind(yoke_reader* reader, const yoke_node* node, void* to,
                            const void* rule) {
  (void)rule;
  yoke__error(reader->messages, node->key_place, "%ss are not supported by this version",
              node->key);
  ((yoke_scenario_unit*)to)->is_kind_refused = true;
}

static void read_law_in_units(yoke_reader* reader, const yoke_node* node, void* to,
                              const void* rule) {
  (void)rule;
  yoke_scenario_unit* unit = to;
  yoke__error(reader->messages, node->key_place, "a law stands under 'laws', not under 'units'");
  unit->is_kind_refused = true;
}

static void read_unit_key_in_laws(yoke_reader* reader, const yoke_node* node, void* to,
                                  const void* rule) {
  (void)rule;
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

static void read_feedthrough_in_laws(yoke_reader* reader, const yoke_node* node, void* to,
                                     const void* rule) {
  (void)to;
  (void)rule;
  yoke__error(reader->messages, node->key_place,
              "a law has no 'feedthrough': it is evaluated with the exchange");
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

static void read_with(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  (void)rule;
  yoke_scenario_unit* unit = to;
  read_settings(reader, node, &unit->with, &unit->n_with);
}

static void read_start(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  (void)rule;
  yoke_scenario_unit* unit = to;
  read_settings(reader, node, &unit->start, &unit->n_start);
}

static void read_exchange(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  (void)rule;
  yoke_scenario_unit* unit = to;
  size_t choice = 0;
  unit->has_exchange = yoke__read_choice(reader, node, yoke__exchange_words, &choice);
  unit->exchange = (yoke_exchange)choice;
}

static void read_values(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  (void)rule;
  yoke_scenario_unit* unit = to;
  read_settings(reader, node, &unit->values, &unit->n_values);
}

// ---- FMUs, and processes of their own

static const char* const interfaces[] = {"auto", "co-simulation", "model-exchange",
                                         "scheduled-execution", NULL};
static const char* const flags[] = {"false", "true", "no", "yes", "off", "on", NULL};
static const char* const fmu_keys_only[] = {"interface", "log", "events", "internal_step", NULL};

static void read_log(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  size_t choice = 0;
  if (yoke__read_choice(reader, node, rule, &choice)) {
    ((yoke_scenario_unit*)to)->is_logging = choice % 2 == 1;
  }
}

static void read_events(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  size_t choice = 0;
  if (yoke__read_choice(reader, node, rule, &choice)) {
    ((yoke_scenario_unit*)to)->is_event_mode_off = choice % 2 == 0;
  }
}

static void read_internal_step(yoke_reader* reader, const yoke_node* node, void* to,
                               const void* rule) {
  (void)rule;
  yoke_scenario_unit* unit = to;
  unit->has_internal_step =
      yoke__read_number(reader, node, &yoke__range_not_negative, &unit->internal_step);
}

// the second list is that of circuit/circuit_solver.h
static const char* const fmu_methods[] = {"dopri5", "cvode", "rk4", "euler", "trapezoidal", NULL};
static const char* const circuit_methods[] = {"trbdf2",  "tr",      "trnp",  "bdf1", "bdf2", "bdf3",
                                              "esdirk3", "esdirk4", "euler", "rk4",  NULL};
static const char* const formulations[] = {"nodal", "dae", "ode", NULL};
static const char* const circuit_keys_only[] = {"formulation", "iterations", NULL};
static const yoke_integers iterations_range = {1, 1000};

// the kind of the unit, which decides about method and step, may stand behind them in the file
static const yoke_key solver_keys[] = {
    {"method", NULL, &yoke__shape_value, 0, NULL},
    {"step", NULL, &yoke__shape_value, 0, NULL},
    {"tolerance", yoke__key_number, &yoke__shape_value, offsetof(yoke_scenario_solver, tolerance),
     &yoke__range_positive},
    {"formulation", yoke__key_word, &yoke__shape_value, offsetof(yoke_scenario_solver, formulation),
     formulations},
    {"iterations", yoke__key_integer, &yoke__shape_value,
     offsetof(yoke_scenario_solver, iterations), &iterations_range},
};
static const yoke_shape solver_shape = YOKE_SHAPE_OF(solver_keys);

// `solver: rk4` or `solver: {method: rk4, step: 1e-4}`
static void read_solver(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  if (node->kind != YOKE_NODE_SCALAR) {
    yoke__shape_walk(reader, node, rule, "'solver'", to);
  }
}

static void read_isolation(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  size_t choice = 0;
  if (yoke__read_choice(reader, node, rule, &choice)) {
    *(bool*)to = choice == 1;
  }
}

static const char* const isolations[] = {"no", "process", "false", NULL};
static const char* const waits[] = {"auto", "spin", "sleep", NULL};

#define OF(field) offsetof(yoke_scenario_isolation, field)
static const yoke_key isolation_keys[] = {
    {"by", read_isolation, &yoke__shape_value, OF(is_given), isolations},
    {"timeout", yoke__key_number, &yoke__shape_value, OF(timeout_s), &yoke__range_positive},
    {"memory", yoke__key_number, &yoke__shape_value, OF(memory), &yoke__range_positive},
    {"wait", yoke__key_choice, &yoke__shape_value, OF(wait), waits},
};
#undef OF
static const yoke_shape isolation_shape = YOKE_SHAPE_OF(isolation_keys);

// `isolate: process` or `isolate: {timeout: 10, memory: 2e9, wait: sleep}`
static void read_isolate(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  yoke_scenario_isolation* isolation = to;
  if (node->kind == YOKE_NODE_SCALAR) {
    read_isolation(reader, node, &isolation->is_given, isolations);
    return;
  }
  isolation->is_given = true;
  yoke__shape_walk(reader, node, rule, "'isolate'", isolation);
}

// ---- ports

static const char* const ports[] = {"none", "udp", "shm", NULL};
static const char* const clocks[] = {"lockstep", "paced", NULL};
static const char* const losses[] = {"extrapolate", "hold", NULL};
static const char* const protocols[] = {"signals", "frames", NULL};
static const char* const port_keys_only[] = {"peer", "bind",   "clock",    "timeout",
                                             "lost", "limits", "protocol", NULL};
static const yoke_integers lost_range = {1, 1000000};
static const yoke_range timeout_range = {1e-6, 3600, false, false, "a number from 1e-6 to 3600"};

static const char* const threads[] = {"shared", "own", NULL};

static void read_thread(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  size_t choice = 0;
  *(bool*)to = yoke__read_choice(reader, node, rule, &choice) && choice == 1;
}

// `port: udp`, `port: shm`, or `port: none` to run it here
static void read_port(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  yoke_scenario_port* port = to;
  size_t choice = 0;
  port->place = node->key_place;
  port->is_given = yoke__read_choice(reader, node, rule, &choice) && choice > 0;
  port->carrier = port->is_given ? (int)choice - 1 : 0;
}

#define OF(field) offsetof(yoke_scenario_bounds, field)
static const yoke_key bounds_keys[] = {
    {"min", yoke__key_number, &yoke__shape_value, OF(min), &yoke__range_any},
    {"max", yoke__key_number, &yoke__shape_value, OF(max), &yoke__range_any},
    {"slope", yoke__key_number, &yoke__shape_value, OF(slope), &yoke__range_positive},
};
#undef OF
static const yoke_shape bounds_shape = YOKE_SHAPE_OF(bounds_keys);
static const yoke_shape limits_shape = {.kind = YOKE_SHAPE_NAMES, .entry = &bounds_shape};

static void read_limits(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  (void)rule;
  yoke_scenario_port* port = to;
  if (!yoke__expect_kind(reader, node, YOKE_NODE_MAP, "a map of inputs")) {
    return;
  }
  yoke_scenario_bounds* all = yoke__reader_array(reader, node->n_children, sizeof *all);
  for (const yoke_node* child = node->first; all != NULL && child != NULL; child = child->next) {
    if (child->is_refused) {
      continue;
    }
    yoke_scenario_bounds* bounds = &all[port->n_limits++];
    *bounds = (yoke_scenario_bounds){child->key, child->key_place, -(double)INFINITY,
                                     (double)INFINITY, (double)INFINITY};
    yoke__shape_walk(reader, child, &bounds_shape, "'limits'", bounds);
    if (bounds->min > bounds->max) {
      yoke__error(reader->messages, child->key_place, "'limits' of '%s': 'min' is above 'max'",
                  child->key);
    }
  }
  port->limits = all;
}

static void check_port(yoke_reader* reader, const yoke_node* node, const yoke_scenario_unit* unit,
                       const char* where) {
  const yoke_node* key = yoke__node_first_of(node, port_keys_only);
  if (key != NULL && yoke__node_child(node, "port") == NULL) {
    yoke__error(reader->messages, key->key_place, "%s: '%s' belongs to a port: write port: udp",
                where, key->key);
  }
  if (unit->port.is_given && unit->port.peer == NULL) {
    yoke__error(reader->messages, unit->port.place,
                "%s: 'port' needs 'peer', the address of the other end, such as "
                "peer: %s",
                where, unit->port.carrier == 1 ? "/yoke-rig" : "127.0.0.1:47001");
  }
  if (unit->port.is_given && unit->port.carrier == 1 && unit->port.bind != NULL) {
    yoke__error(reader->messages, unit->port.place,
                "%s: shared memory has one name for both ends: leave out 'bind'", where);
  }
  if (unit->port.is_given && unit->calls > 1) {
    yoke__error(reader->messages, unit->port.place,
                "%s: a unit behind a port is called once per step: leave out 'calls'", where);
  }
  if (unit->port.is_given && unit->isolation.is_given) {
    yoke__error(reader->messages, unit->port.place,
                "%s: 'port' and 'isolate' both say where it runs: leave out one", where);
  }
}

// ---- feedthrough

static bool is_none(const yoke_node* node) {
  return node->kind == YOKE_NODE_SCALAR && !node->is_quoted && strcmp(node->text, "none") == 0;
}

// The inputs of one output: `none`, `[x, v]`, or `{x: -40, v: -0.6}`.
static void read_gains(yoke_reader* reader, const yoke_node* node, yoke_scenario_through* to) {
  if (is_none(node) || node->is_refused) {
    return;
  }
  if (node->kind == YOKE_NODE_SCALAR) {
    char found[YOKE_FOUND_SIZE];
    yoke__error(reader->messages, node->place,
                "'feedthrough' of '%s': expected none, a list of inputs or a map of inputs and "
                "numbers, found %s",
                node->key, yoke__node_found(node, found));
    return;
  }
  yoke_scenario_gain* gains = yoke__reader_array(reader, node->n_children, sizeof *gains);
  for (const yoke_node* child = node->first; gains != NULL && child != NULL; child = child->next) {
    const bool is_map = node->kind == YOKE_NODE_MAP;
    yoke_scenario_gain* gain = &gains[to->n];
    gain->place = is_map ? child->key_place : child->place;
    gain->has_value = is_map;
    if (!child->is_refused &&
        (is_map ? yoke__read_number(reader, child, &yoke__range_any, &gain->value)
                : yoke__read_text(reader, child, &gain->input))) {
      gain->input = is_map ? child->key : gain->input;
      to->n++;
    }
  }
  to->gains = gains;
}

// `feedthrough: none` or `feedthrough: {f: {x: -40, v: -0.6}, g: [x], h: none}`
static void read_feedthrough(yoke_reader* reader, const yoke_node* node, void* to,
                             const void* rule) {
  (void)rule;
  yoke_scenario_unit* unit = to;
  unit->has_no_feedthrough = is_none(node);
  if (unit->has_no_feedthrough ||
      !yoke__expect_kind(reader, node, YOKE_NODE_MAP, "none or a map of outputs")) {
    return;
  }
  yoke_scenario_through* all = yoke__reader_array(reader, node->n_children, sizeof *all);
  for (const yoke_node* child = node->first; all != NULL && child != NULL; child = child->next) {
    if (!child->is_refused) {
      yoke_scenario_through* through = &all[unit->n_feedthrough++];
      *through = (yoke_scenario_through){.output = child->key, .place = child->key_place};
      read_gains(reader, child, through);
    }
  }
  unit->feedthrough = all;
}

static const yoke_shape variables_shape = {.kind = YOKE_SHAPE_VARIABLES};

// Keys without a shape are known only to be refused; hints do not name them.
// The clock counts nanoseconds.
static const yoke_range budget_range = {1e-9, 3600, false, false,
                                        "a number of seconds from 1e-9 to 3600"};

#define OF(field) offsetof(yoke_scenario_unit, field)
static const yoke_key unit_keys[] = {
    {"model", read_kind, &yoke__shape_value, 0, NULL},
    {"fmu", read_kind, &yoke__shape_value, 0, NULL},
    {"circuit", read_kind, &yoke__shape_value, 0, NULL},
    {"twin", read_kind, &yoke__shape_box, 0, NULL},
    {"library", NULL, &yoke__shape_value, 0, NULL},
    {"with", read_with, &variables_shape, 0, NULL},
    {"start", read_start, &variables_shape, 0, NULL},
    {"values", read_values, &variables_shape, 0, NULL},
    {"step", yoke__key_time, &yoke__shape_value, OF(step), &yoke__range_positive},
    {"calls", yoke__key_calls, &yoke__shape_value, OF(calls), NULL},
    {"isolate", read_isolate, &isolation_shape, OF(isolation), &isolation_shape},
    {"interface", yoke__key_choice, &yoke__shape_value, OF(interface_type), interfaces},
    {"solver", read_solver, &solver_shape, OF(solver), &solver_shape},
    {"events", read_events, &yoke__shape_value, 0, flags},
    {"internal_step", read_internal_step, &yoke__shape_value, 0, NULL},
    {"log", read_log, &yoke__shape_value, 0, flags},
    {"exchange", read_exchange, &yoke__shape_value, 0, NULL},
    {"feedthrough", read_feedthrough, &yoke__shape_free, 0, NULL},
    {"tolerance", yoke__key_number, &yoke__shape_value, OF(tolerance), &yoke__range_positive},
    {"cost", yoke__key_number, &yoke__shape_value, OF(cost_s), &yoke__range_not_negative},
    {"budget", yoke__key_number, &yoke__shape_value, OF(budget_s), &budget_range},
    {"thread", read_thread, &yoke__shape_value, OF(has_own_thread), threads},
    {"law", read_law_in_units, NULL, 0, NULL},
    {"meter", read_later_kind, NULL, 0, NULL},
    {"port", read_port, &yoke__shape_value, OF(port), ports},
    {"peer", yoke__key_text, &yoke__shape_value, OF(port.peer), NULL},
    {"bind", yoke__key_text, &yoke__shape_value, OF(port.bind), NULL},
    {"clock", yoke__key_choice, &yoke__shape_value, OF(port.clock), clocks},
    {"protocol", yoke__key_choice, &yoke__shape_value, OF(port.protocol), protocols},
    {"timeout", yoke__key_number, &yoke__shape_value, OF(port.timeout_s), &timeout_range},
    {"limits", read_limits, &limits_shape, OF(port), NULL},
    {"lost", yoke__key_integer, &yoke__shape_value, OF(port.most_lost), &lost_range},
    {"on_loss", yoke__key_choice, &yoke__shape_value, OF(on_loss), losses},
    {"inputs", NULL, &yoke__shape_inputs, 0, NULL},
    {"outputs", yoke__read_signals, &yoke__shape_signals, OF(port.outputs), NULL},
    {"sensors", NULL, &yoke__shape_sensors, 0, NULL},
    {"unknown", yoke__read_unknowns, &yoke__shape_unknowns, OF(twin), NULL},
    {"filter", yoke__read_filter, &yoke__shape_value, OF(twin), yoke__filter_words},
    {"noise", yoke__key_map, &yoke__shape_noise, OF(twin), &yoke__shape_noise},
    {"reset", yoke__read_reset, &yoke__shape_value, OF(twin), NULL},
    {"late", yoke__key_time, &yoke__shape_value, OF(twin.late), &yoke__range_not_negative},
};

static const yoke_key law_keys[] = {
    {"law", read_kind, &yoke__shape_value, 0, NULL},
    {"library", NULL, &yoke__shape_value, 0, NULL},
    {"with", read_with, &variables_shape, 0, NULL},
    {"start", read_start, &variables_shape, 0, NULL},
    {"cost", yoke__key_number, &yoke__shape_value, OF(cost_s), &yoke__range_not_negative},
    {"model", read_unit_key_in_laws, NULL, 0, NULL},
    {"step", read_unit_key_in_laws, NULL, 0, NULL},
    {"calls", read_unit_key_in_laws, NULL, 0, NULL},
    {"exchange", read_unit_key_in_laws, NULL, 0, NULL},
    {"feedthrough", read_feedthrough_in_laws, NULL, 0, NULL},
    {"tolerance", read_unit_key_in_laws, NULL, 0, NULL},
};

static const yoke_shape unit_shape = YOKE_SHAPE_OF(unit_keys);
static const yoke_shape law_shape = YOKE_SHAPE_OF(law_keys);
const yoke_shape yoke__shape_units = {.kind = YOKE_SHAPE_NAMES, .entry = &unit_shape};
const yoke_shape yoke__shape_laws = {.kind = YOKE_SHAPE_NAMES, .entry = &law_shape};

// what depends on the kind; node: of the unit
static void check_kind(yoke_reader* reader, const yoke_node* node, yoke_scenario_unit* unit,
                       const char* where) {
  const yoke_node* option = yoke__node_first_of(node, fmu_keys_only);
  const yoke_node* solver = yoke__node_first_of(node, (const char* const[]){"solver", NULL});
  if (unit->kind == YOKE_KIND_NONE || unit->is_law) {
    return;
  }
  // a twin of a unit takes what that unit takes
  const yoke_unit_kind kind = unit->kind == YOKE_KIND_TWIN ? unit->twin.box : unit->kind;
  if (option != NULL && kind != YOKE_KIND_FMU) {
    yoke__error(reader->messages, option->key_place, "%s: '%s' is for FMUs", where, option->key);
  }
  if (solver == NULL) {
    return;
  }
  const bool is_circuit = kind == YOKE_KIND_CIRCUIT;
  if (!is_circuit && kind != YOKE_KIND_FMU) {
    yoke__error(reader->messages, solver->key_place, "%s: 'solver' is for FMUs and circuits",
                where);
    return;
  }
  const yoke_node* odd = is_circuit ? NULL : yoke__node_first_of(solver, circuit_keys_only);
  if (odd != NULL) {
    yoke__error(reader->messages, odd->key_place, "%s: '%s' is for circuits", where, odd->key);
  }
  const yoke_node* method =
      solver->kind == YOKE_NODE_SCALAR ? solver : yoke__node_child(solver, "method");
  const yoke_node* step = yoke__node_child(solver, "step");
  if (method != NULL) {
    yoke__key_word(reader, method, &unit->solver.method,
                   is_circuit ? circuit_methods : fmu_methods);
  }
  if (step != NULL) {
    // a netlist's may have a suffix
    yoke__read_number(reader, is_circuit ? yoke__node_without_suffix(reader, step) : step,
                      &yoke__range_positive, &unit->solver.step);
  }
}

// Keys that mean something else for each kind.
static void read_by_kind(yoke_reader* reader, const yoke_node* node, yoke_scenario_unit* unit,
                         const char* where) {
  if (unit->kind == YOKE_KIND_TWIN) {
    yoke__read_twin(reader, node, unit, where);
    return;
  }
  yoke__signals_read(reader, node, unit, where);
  yoke__twin_keys_refuse(reader, node, unit, where);
}

static void read_unit(yoke_reader* reader, const yoke_node* node, bool is_law,
                      yoke_scenario_unit* unit) {
  *unit = (yoke_scenario_unit){
      .name = node->key, .place = node->key_place, .is_law = is_law, .twin = yoke__no_twin};
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
  read_library(reader, yoke__node_first_of(node, (const char* const[]){"library", NULL}), unit);
  if (!is_law) {
    read_by_kind(reader, node, unit, where);
  }
  if (is_map && unit->kind == YOKE_KIND_NONE && !unit->is_kind_refused) {
    yoke__error(reader->messages, node->key_place, "%s has no kind: expected the key %s", where,
                is_law                ? "'law'"
                : unit->port.is_given ? "'model', 'fmu', 'circuit' or 'library', or the signals of "
                                        "a machine in 'inputs' and 'outputs'"
                                      : "'model', 'fmu', 'circuit', 'twin' or 'library'");
  }
  check_kind(reader, node, unit, where);
  if (!is_law && is_map) {
    check_port(reader, node, unit, where);
  }
  if (unit->calls > 0 && unit->step.is_given) {
    yoke__error(reader->messages, unit->step.place,
                "%s: 'step' and 'calls' both say how often it is called: leave out one", where);
  }
  if (yoke__scenario_has_netlist(unit)) {
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
