// What refers to nodes and elements, once all are there: laws with v(), t(), i(), p(), controlling
// sources, coupled inductors, start values.
#include <stdio.h>
#include <string.h>

#include "base/base_number.h"
#include "circuit/netlist/circuit_netlist_reader.h"

static yoke_span node_name(const void* owner, size_t i) {
  const char* name = ((const yoke_network*)owner)->nodes[i].name;
  return (yoke_span){name, strlen(name)};
}

static yoke_span element_name(const void* owner, size_t i) {
  const char* name = ((const yoke_network*)owner)->elements[i].name;
  return (yoke_span){name, strlen(name)};
}

// Reports a node or element that is not there.
static void report_unknown(yoke_netlist_reader* reader, const yoke_statement* statement,
                           const char* what, bool is_node, yoke_span name) {
  const yoke_network* network = reader->network;
  char cut[YOKE_SHOWN_SIZE], text[YOKE_HINT_SIZE];
  yoke__netlist_hint(reader, name, network, is_node ? network->n_nodes : network->n_elements,
                     is_node ? node_name : element_name, text);
  yoke__netlist_error(reader, statement, name.text, "%s: there is no %s '%s'%s", what,
                      is_node ? "node" : "element", yoke__shown(name, cut), text);
}

static yoke_name_answer find_flow(yoke_netlist_reader* reader, const yoke_frame* frame, char letter,
                                  yoke_span name, yoke_live_terms* out) {
  const yoke_network* network = reader->network;
  const uint32_t index = yoke__netlist_find_element(reader, frame, name);
  if (index == YOKE_NO_INDEX) {
    if (yoke__names_find(&reader->temperatures, name) != YOKE_NO_INDEX) {
      yoke__netlist_error(reader, &reader->scope_statement, name.text,
                          "%s: the heat flow of a temperature source can be recorded, but not used "
                          "in expressions",
                          reader->scope_what);
    } else {
      report_unknown(reader, &reader->scope_statement, reader->scope_what, false, name);
    }
    return YOKE_NAME_REFUSED;
  }
  const yoke_element* element = &network->elements[index];
  if (letter == 'p' && element->domain == YOKE_THERMAL) {
    yoke__netlist_error(reader, &reader->scope_statement, name.text,
                        "%s: a heat flow is a power already: use i() instead of p()",
                        reader->scope_what);
    return YOKE_NAME_REFUSED;
  }
  *out = (yoke_live_terms){.has_current = true, .current = index};
  if (letter == 'p') {
    out->has_voltage = true;
    out->a = element->a;
    out->b = element->b;

    // a diode takes up what its series resistance does, too
    if (element->kind == YOKE_JUNCTION) {
      yoke__text_clear(&reader->name);
      yoke__text_add(&reader->name, "%s#rs", element->name);
      const uint32_t series = reader->name.status < 0
                                  ? YOKE_NO_INDEX
                                  : yoke__network_find_element(network, reader->name.bytes);
      out->b = series == YOKE_NO_INDEX ? out->b : network->elements[series].b;
    }
  }
  return YOKE_NAME_FOUND;
}

yoke_name_answer yoke__netlist_find_live(yoke_netlist_reader* reader, const yoke_frame* frame,
                                         char letter, yoke_span a, yoke_span b,
                                         yoke_live_terms* out) {
  if (letter == 'i' || letter == 'p') {
    return find_flow(reader, frame, letter, a, out);
  }
  *out = (yoke_live_terms){.has_voltage = true};
  out->a = yoke__netlist_find_node(reader, frame, a);
  out->b = b.n == 0 ? 0 : yoke__netlist_find_node(reader, frame, b);
  if (out->a == YOKE_NO_INDEX || out->b == YOKE_NO_INDEX) {
    report_unknown(reader, &reader->scope_statement, reader->scope_what, true,
                   out->a == YOKE_NO_INDEX ? a : b);
    return YOKE_NAME_REFUSED;
  }
  return YOKE_NAME_FOUND;
}

// ---- what waits

static void resolve_law(yoke_netlist_reader* reader, const yoke_waiting* waiting) {
  yoke_netlist_value value;
  char cut[YOKE_SHOWN_SIZE];
  const char* name = reader->network->elements[waiting->element].name;
  if (!yoke__netlist_compile(reader, &reader->statements[waiting->statement], waiting->frame,
                             waiting->text, yoke__shown((yoke_span){name, strlen(name)}, cut),
                             &waiting->wrap, &value)) {
    return;
  }
  yoke_element* element = &reader->network->elements[waiting->element];
  if (waiting->kind == YOKE_WAITING_CONDITION) {
    if (value.law == NULL) {
      yoke__netlist_error(reader, &reader->statements[waiting->statement], NULL,
                          "%s: the condition is constant", cut);
    }
    element->condition = value.law;
  } else {
    element->value.constant = value.number;
    element->value.law = value.law;
  }
}

static void resolve_control(yoke_netlist_reader* reader, const yoke_waiting* waiting) {
  const yoke_statement* statement = &reader->statements[waiting->statement];
  yoke_network* network = reader->network;
  char cut[YOKE_SHOWN_SIZE], own[YOKE_SHOWN_SIZE];
  const char* name = network->elements[waiting->element].name;
  yoke__shown((yoke_span){name, strlen(name)}, own);
  const uint32_t control = yoke__netlist_find_element(reader, waiting->frame, waiting->text);
  if (control == YOKE_NO_INDEX) {
    report_unknown(reader, statement, own, false, waiting->text);
    return;
  }
  const yoke_element_kind kind = network->elements[control].kind;
  if (kind != YOKE_VOLTAGE && kind != YOKE_VCVS && kind != YOKE_CCVS && kind != YOKE_INDUCTOR) {
    yoke__netlist_error(reader, statement, waiting->text.text,
                        "%s: '%s' is no voltage source; measure the current by one of 0 V", own,
                        yoke__shown(waiting->text, cut));
    return;
  }
  network->elements[waiting->element].control = control;
}

#define MAX_COUPLED 32

static bool is_coil(yoke_token token) {
  return token.kind == YOKE_TOKEN_WORD && yoke__lower(token.span.text[0]) == 'l';
}

// K1 L1 L2 ... k
static void resolve_mutual(yoke_netlist_reader* reader, const yoke_waiting* waiting) {
  const yoke_statement* statement = &reader->statements[waiting->statement];
  yoke_cursor cursor = yoke__cursor_open(reader, statement, waiting->frame);
  const yoke_span name = yoke__cursor_next(&cursor).span;
  char what[YOKE_SHOWN_SIZE], cut[YOKE_SHOWN_SIZE];
  yoke__shown(name, what);
  uint32_t coils[MAX_COUPLED];
  size_t n = 0;
  double k = 0.0;
  while (n < MAX_COUPLED && is_coil(yoke__cursor_peek(&cursor))) {
    const yoke_span coil = yoke__cursor_next(&cursor).span;
    coils[n] = yoke__netlist_find_element(reader, waiting->frame, coil);
    if (coils[n] == YOKE_NO_INDEX) {
      report_unknown(reader, statement, what, false, coil);
      return;
    }
    if (reader->network->elements[coils[n]].kind != YOKE_INDUCTOR) {
      yoke__netlist_error(reader, statement, coil.text, "%s: '%s' is no inductor", what,
                          yoke__shown(coil, cut));
      return;
    }
    n++;
  }
  const yoke_token token = yoke__cursor_peek(&cursor);
  double unused;
  const char* end = token.span.text + token.span.n;
  if (token.kind == YOKE_TOKEN_WORD &&
      yoke__number_scan_suffix(token.span.text, end, &unused) == NULL) {
    yoke__netlist_error(reader, statement, token.span.text, "%s: '%s' is no inductor", what,
                        yoke__shown(token.span, cut));
    return;
  }
  if (n < 2) {
    yoke__netlist_error(reader, statement, NULL, "expected '%s L1 L2 k'", what);
    return;
  }
  if (!yoke__netlist_number(&cursor, yoke__cursor_next(&cursor), what, &k) ||
      !yoke__netlist_expect_end(&cursor)) {
    return;
  }
  const char* full = yoke__netlist_full_name(reader, waiting->frame, name);
  for (size_t i = 0; full != NULL && i < n; i++) {
    for (size_t j = i + 1; j < n; j++) {
      const yoke_mutual mutual = {full, coils[i], coils[j], k,
                                  yoke__statement_place(reader, statement, NULL)};
      if (yoke__network_add_mutual(reader->network, &mutual) == YOKE_NO_INDEX) {
        reader->is_out_of_memory = true;
        return;
      }
    }
  }
}

// The value of one start: a temperature may have its dimension attached, as in 20degC.
static bool read_start(yoke_cursor* cursor, bool is_temperature, double* out) {
  if (!is_temperature) {
    return yoke__netlist_number(cursor, yoke__cursor_next(cursor), ".ic", out);
  }
  yoke_cursor word = *cursor;
  yoke__cursor_next(cursor);
  word.end = cursor->at;
  yoke_netlist_value value;
  if (cursor->is_failed || !yoke__netlist_quantity(&word, ".ic", "K", false, &value)) {
    return false;
  }
  if (!value.is_constant) {
    yoke__cursor_error(cursor, value.text.text, ".ic: the value must be constant");
  }
  *out = value.number;
  return value.is_constant;
}

static void set_start(yoke_netlist_reader* reader, const yoke_statement* statement,
                      const yoke_frame* frame, yoke_span name, double value) {
  const uint32_t node = yoke__netlist_find_node(reader, frame, name);
  if (node == YOKE_NO_INDEX) {
    report_unknown(reader, statement, ".ic", true, name);
  } else if (node == 0) {
    yoke__netlist_warn(reader, statement, name.text, ".ic: ground is 0 anyway");
  } else {
    reader->network->nodes[node].start = value;
    reader->network->nodes[node].has_start = true;
    reader->network->nodes[node].start_place = yoke__statement_place(reader, statement, name.text);
  }
}

// .ic v(a)=1 t(b)=300 ...; brackets separate words
void yoke__netlist_start_values(yoke_netlist_reader* reader, const yoke_statement* statement,
                                const yoke_frame* frame) {
  yoke_cursor cursor = yoke__cursor_open(reader, statement, frame);
  yoke__cursor_next(&cursor);
  while (yoke__cursor_peek(&cursor).kind != YOKE_TOKEN_END && !reader->is_stopped) {
    const yoke_token letter = yoke__cursor_next(&cursor), name = yoke__cursor_next(&cursor);
    const bool is_temperature = yoke__span_is(letter.span, "t");
    double value = 0.0;
    if (letter.kind != YOKE_TOKEN_WORD || !(is_temperature || yoke__span_is(letter.span, "v")) ||
        name.kind != YOKE_TOKEN_WORD || yoke__cursor_next(&cursor).kind != YOKE_TOKEN_EQUALS) {
      yoke__netlist_error(reader, statement, letter.span.text,
                          "expected '.ic v(node)=value ...' or '.ic t(node)=value ...'");
      return;
    }
    if (!read_start(&cursor, is_temperature, &value)) {
      return;
    }
    set_start(reader, statement, frame, name.span, value);
  }
}

void yoke__netlist_resolve(yoke_netlist_reader* reader) {
  reader->is_resolving = true;
  for (size_t i = 0; i < reader->n_waiting && !reader->is_out_of_memory && !reader->is_stopped;
       i++) {
    const yoke_waiting* waiting = &reader->waiting[i];
    switch (waiting->kind) {
    case YOKE_WAITING_VALUE:
    case YOKE_WAITING_CONDITION:
      resolve_law(reader, waiting);
      break;
    case YOKE_WAITING_CONTROL:
      resolve_control(reader, waiting);
      break;
    case YOKE_WAITING_MUTUAL:
      resolve_mutual(reader, waiting);
      break;
    default:
      yoke__netlist_start_values(reader, &reader->statements[waiting->statement], waiting->frame);
    }
  }
}
