// Element lines with SPICE letters: R C L K, V I B, E G F H; D, S and W are in
// circuit_netlist_models.c.
//
//   R1 a b value [m=] [scale=] [tc1=] [tc2=] [temp=] [dtemp=]       C1, L1 likewise, with [ic=]
//   K1 L1 L2 ... k                                                  M = k sqrt(L1 L2) for each pair
//   V1 a b [dc] value | wave                                        I1 likewise
//   E1 a b c d gain | E1 a b value={expression}                     G1 likewise
//   F1 a b V1 gain                                                  H1 likewise
//   B1 a b V={expression} | I={expression}
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "circuit/netlist/circuit_netlist_reader.h"

#define ZERO_CELSIUS 273.15  // [K]

bool yoke__netlist_nodes(yoke_cursor* cursor, yoke_span name, yoke_domain domain, const char* form,
                         uint32_t* a, uint32_t* b) {
  char cut[YOKE_SHOWN_SIZE];
  const yoke_token first = yoke__cursor_next(cursor), second = yoke__cursor_next(cursor);
  if (first.kind != YOKE_TOKEN_WORD || second.kind != YOKE_TOKEN_WORD) {
    if (!cursor->is_failed) {
      yoke__shown(name, cut);
      yoke__cursor_error(cursor, NULL, "expected '%s %s'", cut, form);
    }
    return false;
  }
  *a = yoke__netlist_node(cursor, first.span, domain);
  *b = yoke__netlist_node(cursor, second.span, domain);
  return !cursor->reader->is_out_of_memory;
}

uint32_t yoke__netlist_add_value(yoke_cursor* cursor, yoke_span name, yoke_element* element,
                                 const yoke_netlist_value* value,
                                 const yoke_expression_wrap* wrap) {
  element->control = element->control == 0 ? YOKE_NO_INDEX : element->control;
  element->value.constant = value->is_constant ? value->number : 0.0;
  element->value.law = value->law;
  const uint32_t index = yoke__netlist_add(cursor, name, element);
  if (index != YOKE_NO_INDEX && value->has_references) {
    yoke__netlist_wait(cursor, YOKE_WAITING_VALUE, index, value->text, wrap);
  }
  return index;
}

// ---- R, C, L

// What may stand on the line of an R, C or L.
typedef struct passive {
  yoke_token value;
  double m, scale, tc1, tc2, temperature, start;  // temperature [K]
  bool has_value, has_start;
} passive;

// One name=value pair.
static bool read_passive_key(yoke_cursor* cursor, yoke_span key, char letter, const char* what,
                             passive* out) {
  yoke_netlist_reader* reader = cursor->reader;
  const yoke_token token = yoke__cursor_next(cursor);
  const char own[] = {letter, '\0'};
  static const char* const names[] = {"m", "scale", "tc1", "tc2", "temp", "dtemp", "ic"};
  double number = 0.0;
  if (yoke__span_is(key, own)) {
    out->value = token;
    out->has_value = true;
    return true;
  }
  const size_t i = yoke__span_among(key, names, YOKE_COUNT(names));
  if (i == YOKE_COUNT(names) || (i == 6 && letter == 'r')) {
    yoke__cursor_ignore(cursor, what, key);
    return true;
  }
  if (!yoke__netlist_number(cursor, token, what, &number)) {
    return false;
  }
  double* const places[] = {&out->m,           &out->scale,       &out->tc1,  &out->tc2,
                            &out->temperature, &out->temperature, &out->start};
  *places[i] = i == 4   ? number + ZERO_CELSIUS
               : i == 5 ? reader->network->run.temperature + number
                        : number;
  out->has_start = out->has_start || i == 6;
  return true;
}

static bool read_passive(yoke_cursor* cursor, char letter, const char* what, passive* out) {
  *out = (passive){.m = 1.0, .scale = 1.0, .temperature = cursor->reader->network->run.temperature};
  yoke_span key;
  while (!cursor->is_failed) {
    const yoke_token token = yoke__cursor_peek(cursor);
    if (token.kind == YOKE_TOKEN_END) {
      break;
    }
    if (yoke__cursor_take_key(cursor, &key)) {
      if (!read_passive_key(cursor, key, letter, what, out)) {
        return false;
      }
    } else if (!out->has_value) {
      out->value = yoke__cursor_next(cursor);
      out->has_value = true;
    } else {
      return yoke__netlist_expect_end(cursor);
    }
  }
  if (!out->has_value && !cursor->is_failed) {
    yoke__cursor_error(cursor, NULL, "%s: a value is missing: expected '%s node node value'", what,
                       what);
  }
  return out->has_value && !cursor->is_failed;
}

static void read_rlc(yoke_cursor* cursor, yoke_span name, const char* what) {
  const char letter = yoke__lower(name.text[0]);
  yoke_element element = {.kind = letter == 'r'   ? YOKE_RESISTOR
                                  : letter == 'c' ? YOKE_CAPACITOR
                                                  : YOKE_INDUCTOR};
  passive parts;
  yoke_netlist_value value = {0};
  if (!yoke__netlist_nodes(cursor, name, YOKE_ELECTRIC, "node node value", &element.a,
                           &element.b) ||
      !read_passive(cursor, letter, what, &parts)) {
    return;
  }
  if (!(parts.m > 0.0)) {
    yoke__cursor_error(cursor, NULL, "%s: m must be positive", what);
    return;
  }

  // m in parallel; temperature as SPICE has it
  const double dt = parts.temperature - cursor->reader->tnom;
  const double factor = (letter == 'c' ? parts.m : 1.0 / parts.m) * parts.scale *
                        (1.0 + dt * (parts.tc1 + dt * parts.tc2));
  const yoke_expression_wrap wrap = {.factor = factor};
  element.start = parts.start;
  element.has_start = parts.has_start;
  if (yoke__netlist_value(cursor, parts.value, what, &wrap, &value)) {
    yoke__netlist_add_value(cursor, name, &element, &value, &wrap);
  }
}

// ---- V, I, B

static void read_source(yoke_cursor* cursor, yoke_span name, const char* what) {
  yoke_element element = {.kind = yoke__lower(name.text[0]) == 'v' ? YOKE_VOLTAGE : YOKE_CURRENT};
  yoke_source_value source = {0};
  if (!yoke__netlist_nodes(cursor, name, YOKE_ELECTRIC, "node node value", &element.a,
                           &element.b) ||
      !yoke__netlist_source(cursor, what, &source)) {
    return;
  }
  element.value.wave = source.has_wave ? &source.wave : NULL;
  yoke__netlist_add_value(cursor, name, &element, &source.value, NULL);
}

// An expression up to the end of the line, or up to a further name=value.
static bool read_law(yoke_cursor* cursor, const char* what, yoke_netlist_value* out) {
  const yoke_span text = yoke__cursor_rest_of_value(cursor);
  yoke_span key;
  if (text.n == 0) {
    return yoke__cursor_error(cursor, NULL, "%s: an expression is missing", what);
  }
  while (yoke__cursor_take_key(cursor, &key)) {
    yoke__cursor_rest_of_value(cursor);
    yoke__cursor_ignore(cursor, what, key);
  }
  return yoke__netlist_compile(cursor->reader, cursor->statement, cursor->frame, text, what, NULL,
                               out);
}

static void read_behaviour(yoke_cursor* cursor, yoke_span name, const char* what) {
  yoke_element element = {.kind = YOKE_VOLTAGE};
  yoke_netlist_value value = {0};
  yoke_span key;
  if (!yoke__netlist_nodes(cursor, name, YOKE_ELECTRIC, "node node V={expression}", &element.a,
                           &element.b)) {
    return;
  }
  if (!yoke__cursor_take_key(cursor, &key) ||
      !(yoke__span_is(key, "v") || yoke__span_is(key, "i"))) {
    yoke__cursor_error(cursor, NULL,
                       "%s: expected 'V={expression}' or 'I={expression}' behind the nodes", what);
    return;
  }
  element.kind = yoke__span_is(key, "v") ? YOKE_VOLTAGE : YOKE_CURRENT;
  if (read_law(cursor, what, &value)) {
    yoke__netlist_add_value(cursor, name, &element, &value, NULL);
  }
}

// ---- E, G, F, H

// The gain, and m= of current sources.
static bool read_gain(yoke_cursor* cursor, const char* what, bool has_m, yoke_netlist_value* out) {
  const yoke_token token = yoke__cursor_next(cursor);
  yoke_span key;
  double m = 1.0;
  while (yoke__cursor_take_key(cursor, &key)) {
    if (!has_m || !yoke__span_is(key, "m")) {
      char cut[YOKE_SHOWN_SIZE];
      return yoke__cursor_error(cursor, key.text, "%s: unknown parameter '%s'", what,
                                yoke__shown(key, cut));
    }
    if (!yoke__netlist_number(cursor, yoke__cursor_next(cursor), what, &m)) {
      return false;
    }
  }
  const yoke_expression_wrap wrap = {.factor = m};
  if (!yoke__netlist_expect_end(cursor) || !yoke__netlist_value(cursor, token, what, &wrap, out)) {
    return false;
  }
  if (out->has_references) {
    return yoke__cursor_error(cursor, token.span.text,
                              "%s: the gain depends on voltages or currents; use a B source", what);
  }
  return true;
}

// Forms that are not linear: value={..}, vol=, cur=; POLY and TABLE are refused. True if it was one
// of them.
static bool read_controlled_law(yoke_cursor* cursor, yoke_span name, const char* what,
                                yoke_element* element) {
  const yoke_token token = yoke__cursor_peek(cursor);
  static const char* const words[] = {"value", "vol", "cur"};
  if (token.kind != YOKE_TOKEN_WORD) {
    return false;
  }
  if (yoke__span_is(token.span, "poly") || yoke__span_is(token.span, "table")) {
    yoke__cursor_error(cursor, token.span.text,
                       "%s: %s is not supported; write value={expression}%s", what,
                       yoke__span_is(token.span, "poly") ? "POLY" : "TABLE",
                       yoke__span_is(token.span, "poly") ? "" : " with pwl()");
    return true;
  }
  const bool is_law = yoke__span_among(token.span, words, YOKE_COUNT(words)) < YOKE_COUNT(words);
  yoke_cursor ahead = *cursor;
  yoke__cursor_next(&ahead);
  const yoke_token_kind next = yoke__cursor_peek(&ahead).kind;
  if (!is_law || (next != YOKE_TOKEN_EQUALS && next != YOKE_TOKEN_EXPRESSION)) {
    return false;
  }
  cursor->at = ahead.at;
  if (next == YOKE_TOKEN_EQUALS) {
    yoke__cursor_next(cursor);
  }
  yoke_netlist_value value = {0};
  element->kind = element->kind == YOKE_VCVS ? YOKE_VOLTAGE : YOKE_CURRENT;
  if (read_law(cursor, what, &value)) {
    yoke__netlist_add_value(cursor, name, element, &value, NULL);
  }
  return true;
}

static void read_voltage_controlled(yoke_cursor* cursor, yoke_span name, const char* what) {
  const bool is_voltage = yoke__lower(name.text[0]) == 'e';
  yoke_element element = {.kind = is_voltage ? YOKE_VCVS : YOKE_VCCS};
  yoke_netlist_value value = {0};
  static const char form[] = "node node node node gain";
  if (!yoke__netlist_nodes(cursor, name, YOKE_ELECTRIC, form, &element.a, &element.b) ||
      read_controlled_law(cursor, name, what, &element)) {
    return;
  }
  if (yoke__netlist_nodes(cursor, name, YOKE_ELECTRIC, form, &element.c, &element.d) &&
      read_gain(cursor, what, !is_voltage, &value)) {
    yoke__netlist_add_value(cursor, name, &element, &value, NULL);
  }
}

static void read_current_controlled(yoke_cursor* cursor, yoke_span name, const char* what) {
  const bool is_current = yoke__lower(name.text[0]) == 'f';
  yoke_element element = {.kind = is_current ? YOKE_CCCS : YOKE_CCVS};
  yoke_netlist_value value = {0};
  if (!yoke__netlist_nodes(cursor, name, YOKE_ELECTRIC, "node node source gain", &element.a,
                           &element.b)) {
    return;
  }
  const yoke_token control = yoke__cursor_next(cursor);
  if (control.kind != YOKE_TOKEN_WORD) {
    yoke__cursor_error(cursor, NULL, "expected '%s node node source gain'", what);
    return;
  }
  if (yoke__span_is(control.span, "poly")) {
    yoke__cursor_error(cursor, control.span.text, "%s: POLY is not supported; use a B source",
                       what);
    return;
  }
  if (!read_gain(cursor, what, is_current, &value)) {
    return;
  }
  const uint32_t index = yoke__netlist_add_value(cursor, name, &element, &value, NULL);
  if (index != YOKE_NO_INDEX) {
    yoke__netlist_wait(cursor, YOKE_WAITING_CONTROL, index, control.span, NULL);
  }
}

// ----

static void refuse_element(yoke_cursor* cursor, const char* what) {
  static const char known[] = "R C L K V I B E G F H D S W X, or a thermal word such as "
                              "thermal_resistance";
  const char letter = yoke__lower(what[0]);
  const bool is_device = letter != '\0' && strchr("qmjztoupnay", letter) != NULL;
  yoke__cursor_error(cursor, NULL, "%s '%s': expected one of %s",
                     is_device ? "this kind of element is not supported:" : "unknown element", what,
                     known);
}

void yoke__netlist_element(yoke_cursor* cursor, yoke_span name) {
  char what[YOKE_SHOWN_SIZE];
  yoke__shown(name, what);
  switch (yoke__lower(name.text[0])) {
  case 'r':
  case 'c':
  case 'l':
    read_rlc(cursor, name, what);
    break;
  case 'k':
    yoke__netlist_wait(cursor, YOKE_WAITING_MUTUAL, 0, name, NULL);
    break;
  case 'v':
  case 'i':
    read_source(cursor, name, what);
    break;
  case 'b':
    read_behaviour(cursor, name, what);
    break;
  case 'e':
  case 'g':
    read_voltage_controlled(cursor, name, what);
    break;
  case 'f':
  case 'h':
    read_current_controlled(cursor, name, what);
    break;
  case 'd':
    yoke__netlist_diode(cursor, name);
    break;
  case 's':
  case 'w':
    yoke__netlist_switch(cursor, name);
    break;
  default:
    refuse_element(cursor, what);
  }
}
