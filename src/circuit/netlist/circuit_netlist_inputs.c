// .input: quantities that can be changed from outside while the simulation runs.
//
//   .input NAME=default [dim]     a new quantity for expressions
//   .input NAME [dim=..]          the parameter, or the value of the element, of this name
//
// Parameters and new quantities must be known before the first expression is compiled; elements
// exist only afterwards.
#include <stdio.h>
#include <string.h>

#include "base/base_dim.h"
#include "circuit/netlist/circuit_netlist_reader.h"

typedef struct yoke_input_request request;

static bool is_dim(yoke_span text) {
  char buffer[64];
  yoke_dim dim;
  if (text.n == 0 || text.n >= sizeof buffer) {
    return false;
  }
  memcpy(buffer, text.text, text.n);
  buffer[text.n] = '\0';
  return yoke__dim_parse(buffer, &dim);
}

static void set_dim(yoke_cursor* cursor, request* last, yoke_token token) {
  char cut[YOKE_SHOWN_SIZE];
  yoke_span text = token.span;
  if (text.n >= 2 && text.text[0] == '[' && text.text[text.n - 1] == ']') {
    text = (yoke_span){text.text + 1, text.n - 2};
  }
  if (token.kind != YOKE_TOKEN_WORD || last == NULL || !is_dim(text)) {
    yoke__cursor_error(cursor, token.span.text,
                       ".input: '%s' is no dimension; expected V, A, K, W, ...",
                       yoke__shown(token.span, cut));
    return;
  }
  last->dim = text;
}

static request* add_request(yoke_netlist_reader* reader, const yoke_cursor* cursor,
                            yoke_span name) {
  char cut[YOKE_SHOWN_SIZE];
  if (yoke__names_find(&reader->inputs, name) != YOKE_NO_INDEX) {
    yoke__cursor_error(cursor, name.text, "the input '%s' is named twice", yoke__shown(name, cut));
    return NULL;
  }
  const request self = {.name = name,
                        .statement = (uint32_t)(cursor->statement - reader->statements)};
  reader->is_out_of_memory |= !yoke__names_put(&reader->inputs, name, (uint32_t)reader->n_requests);
  return !reader->is_out_of_memory &&
                 yoke__reader_append(reader, &reader->requests, &reader->n_requests,
                                     &reader->max_requests, sizeof self, &self)
             ? &reader->requests[reader->n_requests - 1]
             : NULL;
}

// NAME with or without a default, at the cursor.
static request* read_request(yoke_cursor* cursor) {
  yoke_netlist_reader* reader = cursor->reader;
  yoke_span name;
  char what[YOKE_SHOWN_SIZE];
  const bool has_start = yoke__cursor_take_key(cursor, &name);
  if (!has_start) {
    name = yoke__cursor_next(cursor).span;
  }
  double start = 0.0;
  yoke__shown(name, what);
  if (has_start && !yoke__netlist_number(cursor, yoke__cursor_next(cursor), what, &start)) {
    return NULL;
  }
  request* self = add_request(reader, cursor, name);
  if (self == NULL) {
    return NULL;
  }
  self->has_start = has_start;
  self->start = start;

  // a dimension behind the default
  yoke_cursor ahead = *cursor;
  yoke_span key;
  if (has_start && yoke__cursor_peek(cursor).kind == YOKE_TOKEN_WORD &&
      !yoke__cursor_take_key(&ahead, &key)) {
    set_dim(cursor, self, yoke__cursor_next(cursor));
  }
  return self;
}

static void read_directive(yoke_cursor* cursor) {
  request* last = NULL;
  yoke_span key;
  if (yoke__cursor_peek(cursor).kind == YOKE_TOKEN_END) {
    yoke__cursor_error(cursor, NULL, "expected '.input NAME=default [dim]' or '.input NAME'");
  }
  while (yoke__cursor_peek(cursor).kind != YOKE_TOKEN_END) {
    yoke_cursor ahead = *cursor;
    if (yoke__cursor_take_key(&ahead, &key) && yoke__span_is(key, "dim")) {
      *cursor = ahead;
      set_dim(cursor, last, yoke__cursor_next(cursor));
      continue;
    }
    if (yoke__cursor_peek(cursor).kind != YOKE_TOKEN_WORD) {
      yoke__netlist_expect_end(cursor);
      return;
    }
    last = read_request(cursor);
    if (last == NULL) {
      return;
    }
  }
}

// The value that a parameter would have had.
static bool read_parameter(yoke_netlist_reader* reader, request* self) {
  const uint32_t index = yoke__names_find(&reader->top->definition->parameter_names, self->name);
  if (index == YOKE_NO_INDEX) {
    return false;
  }
  self->is_parameter = true;
  if (!self->has_start) {
    char what[YOKE_SHOWN_SIZE];
    yoke_cursor cursor =
        yoke__cursor_open(reader, &reader->statements[self->statement], reader->top);
    yoke__netlist_number(&cursor, (yoke_token){YOKE_TOKEN_EXPRESSION, self->name},
                         yoke__shown(self->name, what), &self->start);
    self->has_start = true;
  }
  return true;
}

static void add_input(yoke_netlist_reader* reader, const request* self) {
  const char* name = yoke__arena_text(&reader->arena, self->name.text, self->name.n);
  const char* dim =
      yoke__arena_text(&reader->arena, self->dim.n == 0 ? "" : self->dim.text, self->dim.n);
  const yoke_circuit_input input = {
      name, dim, self->start,
      yoke__statement_place(reader, &reader->statements[self->statement], self->name.text)};
  if (name == NULL || dim == NULL ||
      yoke__network_add_input(reader->network, &input) == YOKE_NO_INDEX) {
    reader->is_out_of_memory = true;
  }
}

void yoke__netlist_override(yoke_netlist_reader* reader) {
  const yoke_netlist_settings* settings = reader->settings;
  const yoke_definition* top = reader->top->definition;
  for (size_t i = 0; i < settings->n_parameters; i++) {
    const yoke_netlist_parameter* parameter = &settings->parameters[i];
    const yoke_span name = {parameter->name, strlen(parameter->name)};
    const uint32_t index = yoke__names_find(&top->parameter_names, name);
    if (index != YOKE_NO_INDEX) {
      reader->top->values[index].state = YOKE_VALUE_DONE;
      reader->top->values[index].value = (yoke_named_value){.number = parameter->value};
    }
  }
}

// Values given for inputs that are no parameters; what is neither is reported.
static void override_inputs(yoke_netlist_reader* reader) {
  const yoke_netlist_settings* settings = reader->settings;
  for (size_t i = 0; i < settings->n_parameters; i++) {
    const yoke_span name = {settings->parameters[i].name, strlen(settings->parameters[i].name)};
    const uint32_t input = yoke__names_find(&reader->inputs, name);
    if (input != YOKE_NO_INDEX) {
      reader->requests[input].start = settings->parameters[i].value;
      reader->requests[input].has_start = true;
    } else if (yoke__names_find(&reader->top->definition->parameter_names, name) == YOKE_NO_INDEX) {
      char cut[YOKE_SHOWN_SIZE];
      yoke__error(reader->messages, (yoke_place){reader->files[0].path, 0, 0},
                  "there is no parameter '%s' at the top level", yoke__shown(name, cut));
    }
  }
}

void yoke__netlist_inputs(yoke_netlist_reader* reader) {
  // defaults are read while no input is live yet
  for (size_t i = 0; i < reader->n_directives && !reader->is_stopped; i++) {
    yoke_cursor cursor =
        yoke__cursor_open(reader, &reader->statements[reader->directives[i]], reader->top);
    if (yoke__span_is(yoke__cursor_next(&cursor).span, ".input")) {
      read_directive(&cursor);
    }
  }
  override_inputs(reader);
  for (size_t i = 0; i < reader->n_requests; i++) {
    read_parameter(reader, &reader->requests[i]);
  }

  // from here on parameters that depend on them are live, too
  for (size_t i = 0; reader->n_requests > 0 && i < reader->top->definition->n_parameters; i++) {
    yoke_frame_value* value = &reader->top->values[i];
    value->state = value->state == YOKE_VALUE_FAILED ? YOKE_VALUE_FAILED : YOKE_VALUE_NEW;
  }
  yoke__netlist_override(reader);
  for (size_t i = 0; i < reader->n_requests && !reader->is_out_of_memory; i++) {
    const request* self = &reader->requests[i];
    add_input(reader, self);
    if (self->is_parameter) {
      yoke_frame_value* value =
          &reader->top
               ->values[yoke__names_find(&reader->top->definition->parameter_names, self->name)];
      value->state = YOKE_VALUE_DONE;
      value->value = (yoke_named_value){.is_live = true, .live = {YOKE_LIVE_INPUT, (uint32_t)i}};
    }
  }
}

// ---- values of elements

static const char* dim_of_element(const yoke_element* element) {
  const bool is_thermal = element->domain == YOKE_THERMAL;
  switch (element->kind) {
  case YOKE_RESISTOR:
    return is_thermal ? "K/W" : "Ohm";
  case YOKE_CAPACITOR:
    return is_thermal ? "J/K" : "F";
  case YOKE_INDUCTOR:
    return "H";
  case YOKE_VOLTAGE:
    return "V";
  case YOKE_CURRENT:
    return is_thermal ? "W" : "A";
  case YOKE_VCVS:
  case YOKE_CCCS:
    return "1";
  case YOKE_VCCS:
    return is_thermal ? "W/K" : "S";
  case YOKE_CCVS:
    return "Ohm";
  default:
    return NULL;
  }
}

// The law "this input".
static const yoke_expression* make_law(yoke_netlist_reader* reader, uint32_t input) {
  const yoke_operation operation = {.code = YOKE_OP_LIVE};
  const yoke_live live = {YOKE_LIVE_INPUT, input};
  const yoke_expression law = {&operation, 1, &live, 1, reader->network->inputs[input].name};
  const yoke_expression* kept = yoke__network_keep_law(reader->network, &law);
  reader->is_out_of_memory = reader->is_out_of_memory || kept == NULL;
  return kept;
}

static void take_value(yoke_netlist_reader* reader, uint32_t input, yoke_circuit_value* value,
                       const char* dim) {
  request* self = &reader->requests[input];
  yoke_circuit_input* out = &reader->network->inputs[input];
  char cut[YOKE_SHOWN_SIZE];
  if (!self->has_start && (value->wave != NULL || value->law != NULL)) {
    yoke__netlist_error(reader, &reader->statements[self->statement], self->name.text,
                        ".input: '%s' is not constant; give a default: .input %s=value",
                        yoke__shown(self->name, cut), cut);
    return;
  }
  out->start = self->has_start ? self->start : value->constant;
  out->dim = self->dim.n == 0 ? dim : out->dim;
  *value = (yoke_circuit_value){.constant = out->start, .law = make_law(reader, input)};
}

void yoke__netlist_element_inputs(yoke_netlist_reader* reader) {
  yoke_network* network = reader->network;
  for (uint32_t i = 0; i < reader->n_requests && !reader->is_out_of_memory; i++) {
    const request* self = &reader->requests[i];
    if (self->is_parameter || i >= network->n_inputs) {
      continue;
    }
    const yoke_statement* statement = &reader->statements[self->statement];
    const uint32_t element = yoke__netlist_find_element(reader, reader->top, self->name);
    const uint32_t node = yoke__names_find(&reader->temperatures, self->name);
    char cut[YOKE_SHOWN_SIZE];
    yoke__shown(self->name, cut);
    if (element != YOKE_NO_INDEX) {
      const char* dim = dim_of_element(&network->elements[element]);
      if (dim == NULL) {
        yoke__netlist_error(reader, statement, self->name.text,
                            ".input: '%s' has no value that could be an input", cut);
      } else {
        take_value(reader, i, &network->elements[element].value, dim);
      }
    } else if (node != YOKE_NO_INDEX) {
      take_value(reader, i, &network->nodes[node].fixed, "K");
    } else if (!self->has_start) {
      yoke__netlist_error(reader, statement, self->name.text,
                          ".input: '%s' is no parameter and no element; a new quantity needs a "
                          "default: .input %s=value",
                          cut, cut);
    }
  }
}
