// `inputs` and `outputs` of a unit behind a port that has no model: what travels, in this order, and how.
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_dim.h"
#include "scenario/scenario_reader.h"

#define MOST 1000  // numbers of one datagram, as in unit/port/port_frame.h

// in the order of unit/port/port_wire.h
static const char* const wire_words[] = {"f64", "f32", "i8",  "u8",  "i16",
                                         "u16", "i32", "u32", "i64", NULL};
// in the order of yoke_type
static const char* const type_words[] = {"real", "integer", "boolean", NULL};
enum { F64, F32, I64 = 8 };

static void read_dim(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  (void)rule;
  const char* text = NULL;
  yoke_dim dim;
  if (!yoke__read_text(reader, node, &text)) {
    return;
  }
  if (!yoke__dim_parse(text, &dim)) {
    char found[YOKE_FOUND_SIZE];
    yoke__error(reader->messages, node->place,
                "'unit': expected a physical unit such as N.m or rad/s, found %s; leave it out if "
                "there is none",
                yoke__node_found(node, found));
    return;
  }
  *(const char**)to = text;
}

static void read_scale(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  double scale = 1;
  if (!yoke__read_number(reader, node, rule, &scale)) {
    return;
  }
  if (scale == 0) {
    yoke__error(reader->messages, node->place, "'scale': expected a number that is not 0");
    return;
  }
  *(double*)to = scale;
}

#define OF(field) offsetof(yoke_scenario_signal, field)
static const yoke_key signal_keys[] = {
    {"unit", read_dim, &yoke__shape_value, OF(dim), NULL},
    {"type", yoke__key_choice, &yoke__shape_value, OF(type), type_words},
    {"as", yoke__key_choice, &yoke__shape_value, OF(as), wire_words},
    {"scale", read_scale, &yoke__shape_value, OF(scale), &yoke__range_any},
    {"offset", yoke__key_number, &yoke__shape_value, OF(offset), &yoke__range_any},
    {"start", yoke__key_number, &yoke__shape_value, OF(start), &yoke__range_any},
};
#undef OF
static const yoke_shape signal_shape = YOKE_SHAPE_OF(signal_keys);
const yoke_shape yoke__shape_signals = {.kind = YOKE_SHAPE_NAMES, .entry = &signal_shape};

// What fits only to some types.
static void check_signal(yoke_reader* reader, const yoke_node* node, yoke_scenario_signal* s) {
  const bool is_real = s->type == YOKE_REAL;
  const yoke_node* as = yoke__node_child(node, "as");
  const yoke_node* scaled =
      yoke__node_first_of(node, (const char* const[]){"scale", "offset", NULL});
  const yoke_node* start = yoke__node_child(node, "start");
  if (as == NULL) {
    s->as = is_real ? F64 : I64;
  } else if (!is_real && (s->as == F64 || s->as == F32)) {
    yoke__error(reader->messages, as->place,
                "'as' of '%s': integers and booleans travel as i8, u8, i16, u16, i32, u32 or i64",
                node->key);
  }
  if (scaled != NULL && !is_real) {
    yoke__error(reader->messages, scaled->key_place, "'%s' of '%s' is for reals", scaled->key,
                node->key);
  }
  s->has_start = start != NULL;
  if (start != NULL && s->type == YOKE_BOOLEAN && s->start != 0 && s->start != 1) {
    yoke__error(reader->messages, start->place, "'start' of '%s': expected 0 or 1", node->key);
  } else if (start != NULL && s->type == YOKE_INTEGER &&
             (s->start < -9e15 || s->start > 9e15 || s->start != (double)(int64_t)s->start)) {
    yoke__error(reader->messages, start->place, "'start' of '%s': expected a whole number",
                node->key);
  }
}

void yoke__read_signals(yoke_reader* reader, const yoke_node* node, void* to, const void* rule) {
  (void)rule;
  yoke_scenario_signals* signals = to;
  signals->place = node->key_place;
  signals->is_given = true;
  if (yoke__node_is_null(node) ||
      !yoke__expect_kind(reader, node, YOKE_NODE_MAP,
                         "a map of signals such as torque: {unit: N.m, as: i16, scale: 0.001}")) {
    return;
  }
  yoke_scenario_signal* all = yoke__reader_array(reader, node->n_children + 1, sizeof *all);
  for (const yoke_node* child = node->first; all != NULL && child != NULL; child = child->next) {
    if (child->is_refused) {
      continue;
    }
    if (signals->n == MOST) {
      yoke__error(reader->messages, child->key_place,
                  "'%s': more than %d numbers cannot go through a port", node->key, MOST);
      break;
    }
    yoke_scenario_signal* s = &all[signals->n++];
    *s = (yoke_scenario_signal){.name = child->key, .place = child->key_place, .scale = 1};
    yoke__name_check(reader, child, "signal");
    char cut[YOKE_FOUND_SIZE], where[YOKE_FOUND_SIZE + 16];
    snprintf(where, sizeof where, "signal '%s'", yoke__text_cut(child->key, cut));
    if (!yoke__node_is_null(child)) {
      yoke__shape_walk(reader, child, &signal_shape, where, s);
    }
    check_signal(reader, child, s);
  }
  signals->all = all;
}

// ---- the unit they belong to

// False: reported.
static bool check_doubled(yoke_reader* reader, const yoke_scenario_port* port) {
  bool is_sound = true;
  for (size_t i = 0; i < port->outputs.n; i++) {
    for (size_t k = 0; k < port->inputs.n; k++) {
      if (strcmp(port->outputs.all[i].name, port->inputs.all[k].name) == 0) {
        yoke__error(reader->messages, port->outputs.all[i].place,
                    "'%s' is an input of this unit already", port->outputs.all[i].name);
        is_sound = false;
      }
    }
  }
  return is_sound;
}

void yoke__signals_read(yoke_reader* reader, const yoke_node* node, yoke_scenario_unit* unit,
                        const char* where) {
  const yoke_scenario_port* port = &unit->port;
  const yoke_node* inputs = yoke__node_first_of(node, (const char* const[]){"inputs", NULL});
  if (inputs != NULL) {
    yoke__read_signals(reader, inputs, &unit->port.inputs, NULL);
  }
  if (!port->inputs.is_given && !port->outputs.is_given) {
    return;
  }
  const yoke_place place = port->inputs.is_given ? port->inputs.place : port->outputs.place;
  const char* key = port->inputs.is_given ? "inputs" : "outputs";
  if (unit->kind != YOKE_KIND_NONE) {
    yoke__error(reader->messages, place,
                "%s: '%s' is for a port without a model; this unit's signals are those of its '%s'",
                where, key, yoke_unit_kind_text(unit->kind));
    return;
  }
  if (!port->is_given) {
    yoke__error(reader->messages, place,
                "%s: '%s' without a model is for a machine or another program: write port: udp or "
                "port: shm",
                where, key);
    unit->is_kind_refused = true;
    return;
  }
  if (port->inputs.n + port->outputs.n == 0) {
    yoke__error(reader->messages, place, "%s: '%s': expected at least one signal, found none",
                where, key);
  }
  const bool is_sound = check_doubled(reader, port);
  unit->kind = YOKE_KIND_PORT;
  unit->type = !is_sound ? NULL : port->carrier == 1 ? "shm" : "udp";  // NULL: it is not made
  unit->type_place = port->place;
}
