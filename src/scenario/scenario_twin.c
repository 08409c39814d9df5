// Keys of a unit that is a twin: `sensors`, `unknown`, `inputs`, `filter`, `noise`, `reset` and `late` (docs/twin.md). Where `sensors` and
// `inputs` say `from`, connections are made of it, so that everything behind this file finds ordinary ones.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "scenario/scenario_reader.h"

const char* const yoke__filter_words[] = {"auto",     "linear",    "derivative",
                                          "extended", "unscented", NULL};
static const char* const as_words[] = {"resistance", "conductance", NULL};
static const char* const twin_keys_only[] = {"sensors", "unknown", "filter", "noise",
                                             "reset",   "late",    NULL};
static const yoke_integers reset_range = {0, 1000000};

#define NONE ((double)NAN)
const yoke_scenario_twin yoke__no_twin = {.walk = NONE,
                                          .rate_walk = NONE,
                                          .start_sd = NONE,
                                          .rate_sd = NONE,
                                          .gate = NONE,
                                          .jitter = NONE};

// ---- sensors and inputs

// An entry of `sensors` or `inputs`.
typedef struct source {
  yoke_scenario_connection connection;
  double sigma;
} source;

// of an input: what it brings stays until the next sample
static void read_hold(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  static const char* const methods[] = {"hold", NULL};
  size_t which = 0;
  (void)rule;
  *(bool*)field = yoke__read_choice(reader, node, methods, &which);
}

#define OF(field) offsetof(source, field)
static const yoke_key sensor_keys[] = {
    {"from", yoke__key_endpoint, &yoke__shape_value, OF(connection.from), NULL},
    {"sigma", yoke__key_number, &yoke__shape_value, OF(sigma), &yoke__range_positive},
    {"gain", yoke__key_number, &yoke__shape_value, OF(connection.gain), &yoke__range_any},
    {"offset", yoke__key_number, &yoke__shape_value, OF(connection.offset), &yoke__range_any},
    {"delay", yoke__key_time, &yoke__shape_value, OF(connection.delay), &yoke__range_not_negative},
    {"exchange", yoke__key_time, &yoke__shape_value, OF(connection.exchange),
     &yoke__range_positive},
};
static const yoke_key input_keys[] = {
    {"from", yoke__key_endpoint, &yoke__shape_value, OF(connection.from), NULL},
    {"gain", yoke__key_number, &yoke__shape_value, OF(connection.gain), &yoke__range_any},
    {"offset", yoke__key_number, &yoke__shape_value, OF(connection.offset), &yoke__range_any},
    {"delay", yoke__key_time, &yoke__shape_value, OF(connection.delay), &yoke__range_not_negative},
    {"exchange", yoke__key_time, &yoke__shape_value, OF(connection.exchange),
     &yoke__range_positive},
    {"method", read_hold, &yoke__shape_value, OF(connection.is_held), NULL},
    {"average", yoke__key_average, &yoke__shape_value, OF(connection), NULL},
};
#undef OF
// `from` may stand alone: t(s1): rig.t1
static const yoke_shape sensor_shape = {.kind = YOKE_SHAPE_KEYS,
                                        .keys = sensor_keys,
                                        .n_keys = YOKE_COUNT(sensor_keys),
                                        .text_key = "from"};
static const yoke_shape input_shape = {.kind = YOKE_SHAPE_KEYS,
                                       .keys = input_keys,
                                       .n_keys = YOKE_COUNT(input_keys),
                                       .text_key = "from"};
const yoke_shape yoke__shape_sensors = {.kind = YOKE_SHAPE_NAMES, .entry = &sensor_shape};

// Where a path of --set may lead: `inputs` are those of a twin or of a port, which is known only when all keys are.
static const yoke_key any_input_keys[] = {
    {"from", NULL, &yoke__shape_value, 0, NULL},     {"gain", NULL, &yoke__shape_value, 0, NULL},
    {"offset", NULL, &yoke__shape_value, 0, NULL},   {"delay", NULL, &yoke__shape_value, 0, NULL},
    {"exchange", NULL, &yoke__shape_value, 0, NULL}, {"unit", NULL, &yoke__shape_value, 0, NULL},
    {"type", NULL, &yoke__shape_value, 0, NULL},     {"as", NULL, &yoke__shape_value, 0, NULL},
    {"scale", NULL, &yoke__shape_value, 0, NULL},    {"start", NULL, &yoke__shape_value, 0, NULL},
    {"method", NULL, &yoke__shape_value, 0, NULL},   {"average", NULL, &yoke__shape_value, 0, NULL},
};
static const yoke_shape any_input_shape = {.kind = YOKE_SHAPE_KEYS,
                                           .keys = any_input_keys,
                                           .n_keys = YOKE_COUNT(any_input_keys),
                                           .text_key = "from"};
const yoke_shape yoke__shape_inputs = {.kind = YOKE_SHAPE_NAMES, .entry = &any_input_shape};

// Quantities of netlists, t(case), are in small letters; other names as they are written.
static const char* name_of(yoke_reader* reader, const yoke_scenario_unit* unit, const char* name) {
  const bool ignores_case = yoke__scenario_has_netlist(unit) && strchr(name, '(') != NULL;
  char* kept = ignores_case ? yoke__reader_array(reader, strlen(name) + 1, 1) : NULL;
  for (size_t i = 0; kept != NULL && name[i] != '\0'; i++) {
    kept[i] = (char)tolower((unsigned char)name[i]);
  }
  return kept == NULL ? name : kept;
}

// False: reported. is_sensor: of `sensors`.
static bool read_source(yoke_reader* reader, const yoke_node* node, bool is_sensor, source* to) {
  char cut[YOKE_FOUND_SIZE], where[YOKE_FOUND_SIZE + 16];
  *to = (source){.connection = {.gain = 1, .place = node->place, .is_of_unit = true}};
  if (yoke__node_is_null(node)) {
    return true;
  }
  if (node->kind == YOKE_NODE_SCALAR) {
    return yoke__read_endpoint(reader, node, &to->connection.from);
  }
  static const char* const scaling[] = {"gain", "offset", NULL};
  snprintf(where, sizeof where, "%s '%s'", is_sensor ? "sensor" : "input",
           yoke__text_cut(node->key, cut));
  to->connection.has_gain = yoke__node_first_of(node, scaling) != NULL;
  return yoke__shape_walk(reader, node, is_sensor ? &sensor_shape : &input_shape, where, to);
}

// The connection into the unit's input, if there is a source.
static void add_connection(yoke_reader* reader, yoke_scenario_unit* unit, const source* from,
                           const char* name, bool is_sensor, yoke_scenario_connection all[]) {
  static const char prefix[] = "sensor.";
  if (from->connection.from.unit == NULL) {
    return;
  }
  char* variable = yoke__reader_array(reader, sizeof prefix + strlen(name), 1);
  if (variable == NULL) {
    return;
  }
  snprintf(variable, sizeof prefix + strlen(name), "%s%s", is_sensor ? prefix : "", name);
  yoke_scenario_connection* to = &all[unit->twin.n_connections++];
  *to = from->connection;
  to->to = (yoke_scenario_endpoint){unit->name, variable, from->connection.from.place};
  // a reading is the sample as it is: what lies between two of them is the filter's business
  to->is_held = to->is_held || is_sensor;
}

static bool is_named_before(yoke_reader* reader, yoke_place place, const char* name,
                            const char* before) {
  if (before == NULL || strcmp(name, before) != 0) {
    return false;
  }
  char cut[YOKE_FOUND_SIZE];
  yoke__error(reader->messages, place, "'%s' is given twice: quantities of a netlist ignore case",
              yoke__text_cut(name, cut));
  return true;
}

static void read_sensors(yoke_reader* reader, const yoke_node* node, yoke_scenario_unit* unit,
                         yoke_scenario_connection connections[]) {
  yoke_scenario_twin* twin = &unit->twin;
  yoke_scenario_sensor* all = yoke__reader_array(reader, node->n_children + 1, sizeof *all);
  for (const yoke_node* child = node->first; all != NULL && child != NULL; child = child->next) {
    source from;
    const char* name = name_of(reader, unit, child->key);
    bool is_good = !child->is_refused && read_source(reader, child, true, &from);
    for (size_t i = 0; is_good && i < twin->n_sensors; i++) {
      is_good = !is_named_before(reader, child->key_place, name, all[i].name);
    }
    if (is_good) {
      add_connection(reader, unit, &from, name, true, connections);
      all[twin->n_sensors++] = (yoke_scenario_sensor){name, child->key_place, from.sigma};
    }
  }
  twin->sensors = all;
}

static void read_inputs(yoke_reader* reader, const yoke_node* node, yoke_scenario_unit* unit,
                        yoke_scenario_connection connections[]) {
  for (const yoke_node* child = node->first; child != NULL; child = child->next) {
    source from;
    if (child->is_refused || !read_source(reader, child, false, &from)) {
      continue;
    }
    if (from.connection.from.unit == NULL) {
      yoke__error(reader->messages, child->key_place,
                  "'inputs': '%s' needs a source, such as %s: motor.loss", child->key, child->key);
    }
    add_connection(reader, unit, &from, name_of(reader, unit, child->key), false, connections);
  }
}

// ---- unknowns

static void read_netlist_number(yoke_reader* reader, const yoke_node* node, void* field,
                                const void* rule) {
  yoke__key_number(reader, yoke__node_without_suffix(reader, node), field, rule);
}

static void read_bounds(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  (void)rule;
  yoke_scenario_unknown* unknown = to;
  double bounds[2] = {0, 0};
  if (!yoke__expect_kind(reader, node, YOKE_NODE_LIST, "a list of two numbers [lower, upper]")) {
    return;
  }
  if (node->n_children != 2) {
    yoke__error(reader->messages, node->place,
                "'bounds': expected two numbers [lower, upper], found %zu", node->n_children);
    return;
  }
  const yoke_node* child = node->first;
  for (int i = 0; i < 2; i++, child = child->next) {
    const char* label = reader->label;
    reader->label = "'bounds'";
    const bool is_good = yoke__read_number(reader, yoke__node_without_suffix(reader, child),
                                           &yoke__range_any, &bounds[i]);
    reader->label = label;
    if (!is_good) {
      return;
    }
  }
  if (!(bounds[0] < bounds[1])) {
    yoke__error(reader->messages, node->place,
                "'bounds': expected the lower one first, found %.9g and %.9g", bounds[0],
                bounds[1]);
    return;
  }
  unknown->lower = bounds[0];
  unknown->upper = bounds[1];
}

static void read_as(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  size_t choice = 0;
  if (yoke__read_choice(reader, node, rule, &choice)) {
    yoke_scenario_unknown* unknown = to;
    unknown->as = (yoke_scenario_as)(choice + 1);
    unknown->as_place = node->place;
  }
}

#define OF(field) offsetof(yoke_scenario_unknown, field)
static const yoke_key unknown_keys[] = {
    {"start", read_netlist_number, &yoke__shape_value, OF(start), &yoke__range_any},
    {"sd", read_netlist_number, &yoke__shape_value, OF(sd), &yoke__range_positive},
    {"walk", read_netlist_number, &yoke__shape_value, OF(walk), &yoke__range_not_negative},
    {"bounds", read_bounds, &yoke__shape_value, 0, NULL},
    {"as", read_as, &yoke__shape_value, 0, as_words},
};
#undef OF
static const yoke_shape unknown_shape = YOKE_SHAPE_OF(unknown_keys);
const yoke_shape yoke__shape_unknowns = {.kind = YOKE_SHAPE_NAMES, .entry = &unknown_shape};

static void check_unknown(yoke_reader* reader, const yoke_node* node,
                          const yoke_scenario_unknown* unknown) {
  if (unknown->start < unknown->lower || unknown->start > unknown->upper) {
    yoke__error(reader->messages, yoke__node_child(node, "start")->place,
                "'start' of '%s': %.9g lies outside of its bounds %.9g and %.9g", unknown->name,
                unknown->start, unknown->lower, unknown->upper);
  }
}

void yoke__read_unknowns(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  yoke_scenario_twin* twin = to;
  (void)rule;
  if (yoke__node_is_null(node) ||
      !yoke__expect_kind(reader, node, YOKE_NODE_MAP, "a map of unknowns such as q1: {walk: 10}")) {
    return;
  }
  yoke_scenario_unknown* all = yoke__reader_array(reader, node->n_children + 1, sizeof *all);
  for (const yoke_node* child = node->first; all != NULL && child != NULL; child = child->next) {
    char cut[YOKE_FOUND_SIZE], where[YOKE_FOUND_SIZE + 16];
    yoke_scenario_unknown* unknown = &all[twin->n_unknowns];
    *unknown = (yoke_scenario_unknown){.name = child->key,
                                       .place = child->key_place,
                                       .start = NONE,
                                       .sd = NONE,
                                       .walk = NONE,
                                       .lower = NONE,
                                       .upper = NONE};
    snprintf(where, sizeof where, "unknown '%s'", yoke__text_cut(child->key, cut));
    bool is_good = !child->is_refused;
    if (is_good && !yoke__node_is_null(child)) {
      is_good = yoke__shape_walk(reader, child, &unknown_shape, where, unknown);
      check_unknown(reader, child, unknown);
    }
    twin->n_unknowns += is_good;
  }
  twin->unknowns = all;
}

// ---- the unit behind a twin that is a black box

static void read_box_kind(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  (void)rule;
  yoke_scenario_unit* unit = to;
  if (unit->twin.box != YOKE_KIND_NONE) {
    yoke__error(reader->messages, node->key_place,
                "a second kind '%s': the unit behind the twin is already given by '%s'", node->key,
                yoke_unit_kind_text(unit->twin.box));
    return;
  }
  for (int i = 0; i < YOKE_N_KINDS; i++) {
    const yoke_unit_kind kind = (yoke_unit_kind)i;
    unit->twin.box = strcmp(yoke_unit_kind_text(kind), node->key) == 0 ? kind : unit->twin.box;
  }
  unit->type_place = node->place;
  yoke__read_text(reader, node, &unit->type);
}

static void read_box_outputs(yoke_reader* reader, const yoke_node* node, void* to,
                             const void* rule) {
  (void)rule;
  yoke_scenario_unit* unit = to;
  const yoke_scenario_name* names = NULL;
  size_t n = 0;
  if (!yoke__read_names(reader, node, &names, &n)) {
    return;
  }
  yoke_scenario_output* all = yoke__reader_array(reader, n + 1, sizeof *all);
  for (size_t i = 0; all != NULL && i < n; i++) {
    all[i] = (yoke_scenario_output){names[i].text, names[i].place};
  }
  unit->twin.outputs = all;
  unit->twin.n_outputs = all == NULL ? 0 : n;
}

static const yoke_key box_keys[] = {
    {"model", read_box_kind, &yoke__shape_value, 0, NULL},
    {"fmu", read_box_kind, &yoke__shape_value, 0, NULL},
    {"circuit", read_box_kind, &yoke__shape_value, 0, NULL},
    {"library", NULL, &yoke__shape_value, 0, NULL},
    {"outputs", read_box_outputs, &yoke__shape_value, 0, NULL},
};
static const yoke_shape box_keys_shape = YOKE_SHAPE_OF(box_keys);
const yoke_shape yoke__shape_box = {.kind = YOKE_SHAPE_FREE};  // a text too

void yoke__read_box(yoke_reader* reader, const yoke_node* node, yoke_scenario_unit* unit) {
  if (!yoke__shape_walk(reader, node, &box_keys_shape, "'twin'", unit)) {
    return;
  }
  const yoke_node* library = yoke__node_first_of(node, (const char* const[]){"library", NULL});
  if (library != NULL && unit->twin.box != YOKE_KIND_FMU && unit->twin.box != YOKE_KIND_CIRCUIT) {
    // the library is the type then, and the name of the model that of a unit in it
    unit->model = unit->type;
    unit->model_place = unit->type_place;
    unit->twin.box = YOKE_KIND_LIBRARY;
    unit->type = NULL;
    unit->type_place = library->place;
    yoke__read_text(reader, library, &unit->type);
  }
  if (unit->twin.box == YOKE_KIND_NONE) {
    yoke__error(reader->messages, node->place,
                "'twin': expected a netlist, or one of model, fmu, circuit and library, such as "
                "twin: {fmu: motor.fmu}");
    unit->is_kind_refused = true;
  }
}

// ---- the rest

#define OF(field) offsetof(yoke_scenario_twin, field)
static const yoke_key noise_keys[] = {
    {"walk", yoke__key_number, &yoke__shape_value, OF(walk), &yoke__range_not_negative},
    {"rate_walk", yoke__key_number, &yoke__shape_value, OF(rate_walk), &yoke__range_not_negative},
    {"start", yoke__key_number, &yoke__shape_value, OF(start_sd), &yoke__range_positive},
    {"rate_start", yoke__key_number, &yoke__shape_value, OF(rate_sd), &yoke__range_positive},
    {"gate", yoke__key_number, &yoke__shape_value, OF(gate), &yoke__range_not_negative},
    {"jitter", yoke__key_number, &yoke__shape_value, OF(jitter), &yoke__range_not_negative},
};
#undef OF
const yoke_shape yoke__shape_noise = YOKE_SHAPE_OF(noise_keys);

void yoke__read_filter(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  yoke_scenario_twin* twin = to;
  size_t choice = 0;
  if (yoke__read_choice(reader, node, rule, &choice)) {
    twin->filter = (int)choice;
    twin->filter_place = node->place;
  }
}

void yoke__read_reset(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  (void)rule;
  yoke__key_integer(reader, node, &((yoke_scenario_twin*)to)->most_resets, &reset_range);
}

typedef struct refusal {
  const char *key, *why;
} refusal;

static void refuse_keys(yoke_reader* reader, const yoke_node* node, const char* where,
                        const refusal refused[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    const yoke_node* key = yoke__node_first_of(node, (const char* const[]){refused[i].key, NULL});
    if (key != NULL) {
      yoke__error(reader->messages, key->key_place, "%s: %s", where, refused[i].why);
    }
  }
}

static const refusal of_twins[] = {
    {"port", "a twin runs beside the machine, not behind a port: leave out 'port'"},
    {"feedthrough", "a twin has no direct feedthrough: leave out 'feedthrough'"},
    {"values", "'values' is not for twins: write 'with' or 'start'"},
};
static const refusal of_networks[] = {
    {"isolate", "a twin runs in this process: leave out 'isolate'"},
    {"outputs", "'outputs' are those of the netlist: name them there with .output"},
};
// What a filter cannot do that knows its unit by inputs and outputs alone.
static const refusal of_boxes[] = {
    {"outputs", "name the outputs of interest beside the unit: twin: {fmu: motor.fmu, outputs: "
                "[t_magnet]}"},
    {"reset", "the filter on a black box restarts by itself: leave out 'reset'"},
    {"late", "a twin of a black box cannot use late readings: leave out 'late'"},
};
static const refusal of_box_noise[] = {
    {"walk", "the states of a unit have noise with 'filter: extended' only: leave out 'walk'"},
    {"start", "name the uncertain start values, such as unknown: {start(T1): {sd: 10}}, or take "
              "'filter: extended'"},
    {"rate_walk", "'rate_walk' is for networks"},
    {"rate_start", "'rate_start' is for networks"},
    {"jitter", "'jitter' is for networks"},
};
static const refusal of_extended_noise[] = {
    {"rate_walk", "'rate_walk' is for networks"},
    {"rate_start", "'rate_start' is for networks"},
    {"jitter", "'jitter' is for networks"},
};

static void refuse_for_box(yoke_reader* reader, const yoke_node* node,
                           const yoke_scenario_twin* twin, const char* where) {
  const bool is_extended = strcmp(yoke__filter_words[twin->filter], "extended") == 0;
  refuse_keys(reader, node, where, of_boxes, YOKE_COUNT(of_boxes));
  if (twin->filter != 0 && !is_extended) {
    yoke__error(reader->messages, twin->filter_place,
                "%s: 'filter: %s' is for networks; units take 'extended', which needs their "
                "derivatives, or none",
                where, yoke__filter_words[twin->filter]);
  }
  const yoke_node* noise = yoke__node_first_of(node, (const char* const[]){"noise", NULL});
  if (noise != NULL && noise->kind == YOKE_NODE_MAP && is_extended) {
    refuse_keys(reader, noise, "'noise'", of_extended_noise, YOKE_COUNT(of_extended_noise));
  } else if (noise != NULL && noise->kind == YOKE_NODE_MAP) {
    refuse_keys(reader, noise, "'noise'", of_box_noise, YOKE_COUNT(of_box_noise));
  }
  for (size_t i = 0; i < twin->n_connections; i++) {
    const yoke_scenario_connection* c = &twin->connections[i];
    if (c->is_held && c->delay.is_given) {
      yoke__error(reader->messages, c->delay.place,
                  "%s: a twin of a black box cannot use late readings: leave out 'delay'", where);
    }
  }
  for (size_t i = 0; i < twin->n_unknowns; i++) {
    if (twin->unknowns[i].as != YOKE_AS_DEFAULT) {
      yoke__error(reader->messages, twin->unknowns[i].as_place,
                  "'as' is for resistances of a netlist; this is a twin of a unit");
    }
  }
}

static const yoke_node* map_at(yoke_reader* reader, const yoke_node* node, const char* key,
                               const char* expected) {
  const yoke_node* map = yoke__node_first_of(node, (const char* const[]){key, NULL});
  return map == NULL || yoke__node_is_null(map) ||
                 !yoke__expect_kind(reader, map, YOKE_NODE_MAP, expected)
             ? NULL
             : map;
}

void yoke__twin_keys_refuse(yoke_reader* reader, const yoke_node* node,
                            const yoke_scenario_unit* unit, const char* where) {
  const yoke_node* own = yoke__node_first_of(node, twin_keys_only);
  if (own == NULL) {
    return;
  }
  if (unit->kind == YOKE_KIND_NONE || unit->kind == YOKE_KIND_PORT) {
    yoke__error(reader->messages, own->key_place,
                "%s: '%s' belongs to a twin: write twin: model.cir", where, own->key);
  } else {
    yoke__error(reader->messages, own->key_place,
                "%s: '%s' belongs to a twin: write twin: in place of %s:", where, own->key,
                yoke_unit_kind_text(unit->kind));
  }
}

// When it is known whose names these are.
static void settle_names(yoke_reader* reader, yoke_scenario_unit* unit) {
  yoke_scenario_twin* twin = &unit->twin;
  yoke_scenario_unknown* unknowns =
      yoke__reader_array(reader, twin->n_unknowns + 1, sizeof *unknowns);
  yoke_scenario_output* outputs = yoke__reader_array(reader, twin->n_outputs + 1, sizeof *outputs);
  if (unknowns == NULL || outputs == NULL) {
    return;
  }
  for (size_t i = 0; i < twin->n_unknowns; i++) {
    unknowns[i] = twin->unknowns[i];
    unknowns[i].name = name_of(reader, unit, unknowns[i].name);
    for (size_t k = 0; k < i; k++) {
      (void)is_named_before(reader, unknowns[i].place, unknowns[i].name, unknowns[k].name);
    }
  }
  for (size_t i = 0; i < twin->n_outputs; i++) {
    outputs[i] = twin->outputs[i];
    outputs[i].name = name_of(reader, unit, outputs[i].name);
  }
  twin->unknowns = unknowns;
  twin->outputs = outputs;
}

void yoke__read_twin(yoke_reader* reader, const yoke_node* node, yoke_scenario_unit* unit,
                     const char* where) {
  const bool is_box = unit->twin.box != YOKE_KIND_NONE;
  refuse_keys(reader, node, where, of_twins, YOKE_COUNT(of_twins));
  if (!is_box) {
    refuse_keys(reader, node, where, of_networks, YOKE_COUNT(of_networks));
  }
  settle_names(reader, unit);
  const yoke_node* sensors =
      map_at(reader, node, "sensors", "a map of sensors such as t(s1): {from: rig.t1, sigma: 0.5}");
  const yoke_node* inputs =
      map_at(reader, node, "inputs", "a map of inputs such as q2: motor.loss");
  const size_t n_most =
      (sensors == NULL ? 0 : sensors->n_children) + (inputs == NULL ? 0 : inputs->n_children);
  yoke_scenario_connection* connections =
      yoke__reader_array(reader, n_most + 1, sizeof *connections);
  if (connections == NULL) {
    return;
  }
  if (sensors != NULL) {
    read_sensors(reader, sensors, unit, connections);
  }
  if (inputs != NULL) {
    read_inputs(reader, inputs, unit, connections);
  }
  unit->twin.connections = connections;
  if (is_box) {
    refuse_for_box(reader, node, &unit->twin, where);
  }
  if (yoke__node_child(node, "sensors") == NULL || (sensors != NULL && sensors->n_children == 0)) {
    yoke__error(reader->messages, unit->place,
                "%s has no sensors: write for example sensors: {t(s1): {from: rig.t1, sigma: 0.5}}",
                where);
  }
}

void yoke__read_twin_connections(yoke_reader* reader, yoke_scenario* s) {
  size_t n = s->n_connections;
  for (size_t i = 0; i < s->n_units; i++) {
    n += s->units[i].twin.n_connections;
  }
  if (n == s->n_connections) {
    return;
  }
  yoke_scenario_connection* all = yoke__reader_array(reader, n, sizeof *all);
  if (all == NULL) {
    return;
  }
  if (s->n_connections > 0) {
    memcpy(all, s->connections, s->n_connections * sizeof *all);
  }
  for (size_t i = 0; i < s->n_units; i++) {
    const yoke_scenario_twin* twin = &s->units[i].twin;
    if (twin->n_connections > 0) {
      memcpy(all + s->n_connections, twin->connections, twin->n_connections * sizeof *all);
      s->n_connections += twin->n_connections;
    }
  }
  s->connections = all;
}
