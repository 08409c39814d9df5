// Thermal networks in their own words. A thermal node's voltage is its temperature in K, a current
// is a heat flow in W; heat capacities and heat sources stand on node 0, the reference of 0 K.
//
//   thermal_resistance NAME A B VALUE       [K/W]
//   thermal_conductance NAME A B VALUE      [W/K]
//   heat_capacity NAME NODE VALUE [T0=..]   [J/K], [K]
//   heat_source NAME NODE VALUE|wave|{expr}   [W], into NODE
//   temperature_source NAME NODE VALUE|wave|{expr}   [K], fixes NODE
//
// A value may be followed by its dimension: 2 kJ/K, 0.5 K/W, 20 degC.
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_dim.h"
#include "base/base_number.h"
#include "circuit/netlist/circuit_netlist_reader.h"

// factor and offset from a dimension as written to the SI one; false if it does not fit.
static bool find_scale(yoke_span text, const char* dim, double* factor, double* offset) {
  char buffer[64];
  if (text.n >= 2 && text.text[0] == '[' && text.text[text.n - 1] == ']') {
    text = (yoke_span){text.text + 1, text.n - 2};
  }
  if (text.n == 0 || text.n >= sizeof buffer) {
    return false;
  }
  memcpy(buffer, text.text, text.n);
  buffer[text.n] = '\0';
  const yoke_dim_kinship kinship = yoke__dim_relation(buffer, dim, factor, offset);
  return kinship == YOKE_DIM_SAME || kinship == YOKE_DIM_SCALED;
}

// A word that starts with a number: its dimension or SPICE scale is attached to it. False after a
// message.
static bool read_attached(yoke_cursor* cursor, yoke_token* token, const char* what, const char* dim,
                          double* factor, double* offset) {
  const char *at = token->span.text, *end = at + token->span.n;
  double number;
  const char* next = yoke__number_scan(at, end, &number);
  if (token->kind != YOKE_TOKEN_WORD || next == NULL || next == end) {
    return true;
  }
  const yoke_span rest = {next, (size_t)(end - next)};
  const char* behind;
  token->span.n = (size_t)(next - at);
  if (find_scale(rest, dim, factor, offset)) {
    return true;
  }
  *factor = yoke__number_scale(next, end, &behind);
  if (behind == end) {
    return true;
  }
  char cut[YOKE_SHOWN_SIZE];
  return yoke__cursor_error(cursor, at, "%s: '%s' does not fit, expected %s", what,
                            yoke__shown(rest, cut), dim);
}

bool yoke__netlist_quantity(yoke_cursor* cursor, const char* what, const char* dim,
                            bool is_reciprocal, yoke_netlist_value* out) {
  yoke_token token = yoke__cursor_next(cursor);
  yoke_span key;
  double factor = 1.0, offset = 0.0;
  if (!read_attached(cursor, &token, what, dim, &factor, &offset)) {
    return false;
  }

  // a dimension of its own, but not the key of what follows
  yoke_cursor ahead = *cursor;
  const yoke_token unit = yoke__cursor_peek(cursor);
  if (token.kind != YOKE_TOKEN_END && unit.kind == YOKE_TOKEN_WORD &&
      !yoke__cursor_take_key(&ahead, &key)) {
    double unit_factor = 1.0;
    yoke__cursor_next(cursor);
    if (!find_scale(unit.span, dim, &unit_factor, &offset)) {
      char cut[YOKE_SHOWN_SIZE];
      return yoke__cursor_error(cursor, unit.span.text, "%s: '%s' does not fit, expected %s", what,
                                yoke__shown(unit.span, cut), dim);
    }
    factor *= unit_factor;
  }
  const yoke_expression_wrap wrap = {is_reciprocal ? 1.0 / factor : factor, offset, is_reciprocal};
  if (!yoke__netlist_value(cursor, token, what, &wrap, out)) {
    return false;
  }
  if (out->has_references) {
    // compiled again later, with what belongs to it
    out->text = token.span;
    out->number = factor;
  }
  return true;
}

// Adds an element with a value that was read by yoke__netlist_quantity.
static uint32_t add_quantity(yoke_cursor* cursor, yoke_span name, yoke_element* element,
                             const yoke_netlist_value* value, bool is_reciprocal) {
  const yoke_expression_wrap wrap = {is_reciprocal ? 1.0 / value->number : value->number, 0.0,
                                     is_reciprocal};
  return yoke__netlist_add_value(cursor, name, element, value, &wrap);
}

static void read_resistance(yoke_cursor* cursor, yoke_span name, const char* what) {
  yoke_element element = {.kind = YOKE_RESISTOR, .domain = YOKE_THERMAL};
  yoke_netlist_value value = {0};
  if (yoke__netlist_nodes(cursor, name, YOKE_THERMAL, "node node value", &element.a, &element.b) &&
      yoke__netlist_quantity(cursor, what, "K/W", false, &value) &&
      yoke__netlist_expect_end(cursor)) {
    add_quantity(cursor, name, &element, &value, false);
  }
}

// A constant conductance is a resistance, one of 0 a heat flow of 0. A law may become 0 on its way,
// so it stays what it is: a heat flow that its own temperatures control.
static void read_conductance(yoke_cursor* cursor, yoke_span name, const char* what) {
  yoke_element element = {.kind = YOKE_RESISTOR, .domain = YOKE_THERMAL};
  yoke_netlist_value value = {0};
  if (!yoke__netlist_nodes(cursor, name, YOKE_THERMAL, "node node value", &element.a, &element.b)) {
    return;
  }
  yoke_cursor again = *cursor;
  if (!yoke__netlist_quantity(cursor, what, "W/K", false, &value) ||
      !yoke__netlist_expect_end(cursor)) {
    return;
  }
  const bool is_resistance = value.is_constant && value.number != 0.0;
  if (is_resistance && !yoke__netlist_quantity(&again, what, "W/K", true, &value)) {
    return;
  }
  if (value.is_constant && !is_resistance) {
    element.kind = YOKE_CURRENT;
  } else if (!is_resistance) {
    element.kind = YOKE_VCCS;
    element.c = element.a;
    element.d = element.b;
  }
  add_quantity(cursor, name, &element, &value, is_resistance);
}

// The one node of a capacity or source.
static bool read_node(yoke_cursor* cursor, const char* what, uint32_t* node) {
  const yoke_token token = yoke__cursor_next(cursor);
  if (token.kind != YOKE_TOKEN_WORD) {
    return yoke__cursor_error(cursor, NULL, "%s: expected a node and a value behind the name",
                              what);
  }
  *node = yoke__netlist_node(cursor, token.span, YOKE_THERMAL);
  if (*node == 0) {
    yoke__cursor_error(cursor, token.span.text,
                       "%s: node 0 is the reference of 0 K and cannot be used here", what);
  }
  return *node != 0 && *node != YOKE_NO_INDEX;
}

static void read_capacity(yoke_cursor* cursor, yoke_span name, const char* what) {
  yoke_element element = {.kind = YOKE_CAPACITOR, .domain = YOKE_THERMAL};
  yoke_netlist_value value = {0}, start = {0};
  yoke_span key;
  if (!read_node(cursor, what, &element.a) ||
      !yoke__netlist_quantity(cursor, what, "J/K", false, &value)) {
    return;
  }
  while (yoke__cursor_take_key(cursor, &key)) {
    if (!yoke__span_is(key, "t0") && !yoke__span_is(key, "ic")) {
      char cut[YOKE_SHOWN_SIZE];
      yoke__cursor_error(cursor, key.text, "%s: unknown parameter '%s', expected T0", what,
                         yoke__shown(key, cut));
      return;
    }
    if (!yoke__netlist_quantity(cursor, what, "K", false, &start)) {
      return;
    }
    if (!start.is_constant) {
      yoke__cursor_error(cursor, key.text, "%s: T0 must be constant", what);
      return;
    }
    element.start = start.number;
    element.has_start = true;
  }
  if (yoke__netlist_expect_end(cursor)) {
    add_quantity(cursor, name, &element, &value, false);
  }
}

// A wave, or a quantity.
static bool read_source_value(yoke_cursor* cursor, const char* what, const char* dim,
                              yoke_source_value* out) {
  *out = (yoke_source_value){.value = {.is_constant = true}};
  if (yoke__netlist_is_wave(yoke__cursor_peek(cursor))) {
    if (!yoke__netlist_wave(cursor, what, out)) {
      return false;
    }
    out->value.number = out->value.has_references ? 1.0 : out->value.number;
  } else if (!yoke__netlist_quantity(cursor, what, dim, false, &out->value)) {
    return false;
  }
  return yoke__netlist_expect_end(cursor);
}

static void read_heat(yoke_cursor* cursor, yoke_span name, const char* what) {
  yoke_element element = {.kind = YOKE_CURRENT, .domain = YOKE_THERMAL};
  yoke_source_value source = {0};
  if (read_node(cursor, what, &element.b) && read_source_value(cursor, what, "W", &source)) {
    element.value.wave = source.has_wave ? &source.wave : NULL;
    add_quantity(cursor, name, &element, &source.value, false);
  }
}

static void fix_node(yoke_cursor* cursor, yoke_span name, uint32_t node,
                     const yoke_source_value* source) {
  yoke_netlist_reader* reader = cursor->reader;
  const char* full = yoke__netlist_full_name(reader, cursor->frame, name);
  if (full == NULL || yoke__netlist_is_taken(cursor, full)) {
    return;
  }
  const bool is_fixed = reader->network->nodes[node].is_fixed;
  const yoke_circuit_value value = {.constant = source->value.number,
                                    .wave = source->has_wave ? &source->wave : NULL,
                                    .law = source->value.law};
  if (yoke__network_fix_node(reader->network, full, node, &value,
                             yoke__statement_place(reader, cursor->statement, NULL)) ==
      YOKE_NO_INDEX) {
    reader->is_out_of_memory = true;
    return;
  }

  // a second source of the node is reported with the other faults of the network
  const char* kept = reader->network->nodes[node].fixed_name;
  if (!is_fixed && kept != NULL &&
      !yoke__names_put(&reader->temperatures, (yoke_span){kept, strlen(kept)}, node)) {
    reader->is_out_of_memory = true;
  }
}

static void read_temperature(yoke_cursor* cursor, yoke_span name, const char* what) {
  uint32_t node = 0;
  yoke_source_value source = {0};
  if (!read_node(cursor, what, &node) || !read_source_value(cursor, what, "K", &source)) {
    return;
  }
  if (source.value.has_references) {
    yoke__cursor_error(cursor, NULL, "%s: a temperature source may depend on time and inputs only",
                       what);
    return;
  }
  fix_node(cursor, name, node, &source);
}

bool yoke__netlist_thermal(yoke_cursor* cursor, yoke_span word) {
  static const char* const words[] = {"thermal_resistance", "thermal_conductance", "heat_capacity",
                                      "heat_source", "temperature_source"};
  const size_t i = yoke__span_among(word, words, YOKE_COUNT(words));
  if (i == YOKE_COUNT(words)) {
    // a word nearly like these is a slip, not an element whose letter is h or t
    char cut[YOKE_SHOWN_SIZE];
    const char* near = memchr(word.text, '_', word.n) == NULL
                           ? NULL
                           : yoke__nearest_name(yoke__shown(word, cut), words, YOKE_COUNT(words));
    if (near != NULL) {
      yoke__cursor_error(cursor, word.text, "unknown element '%s'; did you mean '%s'?", cut, near);
    }
    return near != NULL;
  }
  const yoke_token name = yoke__cursor_next(cursor);
  char what[YOKE_SHOWN_SIZE];
  if (name.kind != YOKE_TOKEN_WORD) {
    yoke__cursor_error(cursor, NULL, "expected '%s NAME %s VALUE'", words[i],
                       i < 2 ? "NODE NODE" : "NODE");
    return true;
  }
  yoke__shown(name.span, what);
  if (yoke__names_find(&cursor->reader->temperatures, name.span) != YOKE_NO_INDEX) {
    yoke__cursor_error(cursor, name.span.text,
                       "the name '%s' was used before by a temperature source", what);
    return true;
  }
  static void (*const readers[])(yoke_cursor*, yoke_span, const char*) = {
      read_resistance, read_conductance, read_capacity, read_heat, read_temperature};
  readers[i](cursor, name.span, what);
  return true;
}
