// Parameters and expressions in their scope.
//
// A name is looked up in the instance where it is used, then in the instance that contains it, and
// so on up to the top level (ngspice does the same). Parameters are computed when they are first
// needed. One that needs another which is not yet known is put aside and compiled again later;
// those put aside form the chain that a cycle shows.
#include <stdio.h>
#include <string.h>

#include "base/base_number.h"
#include "circuit/netlist/circuit_netlist_reader.h"

#define ZERO_CELSIUS 273.15  // [K]

yoke_frame* yoke__frame_create(yoke_netlist_reader* reader, const yoke_definition* definition,
                               const yoke_frame* parent, yoke_span instance) {
  const size_t n_parameters = definition->n_parameters;
  yoke_frame* self = yoke__arena_take(&reader->arena, sizeof *self);
  yoke_frame_value* values =
      n_parameters == 0 ? NULL : yoke__arena_array(&reader->arena, n_parameters, sizeof *values);
  const size_t n_outer = parent == NULL ? 0 : parent->n_prefix;
  const size_t n_prefix = parent == NULL ? 0 : n_outer + instance.n + 1;
  char* prefix = yoke__arena_take(&reader->arena, n_prefix + 1);
  if (self == NULL || (values == NULL && n_parameters > 0) || prefix == NULL) {
    reader->is_out_of_memory = true;
    return NULL;
  }
  if (parent != NULL) {
    memcpy(prefix, parent->prefix, n_outer);
    memcpy(prefix + n_outer, instance.text, instance.n);
    prefix[n_prefix - 1] = '.';
  }
  *self = (yoke_frame){.definition = definition,
                       .parent = parent,
                       .prefix = prefix,
                       .n_prefix = n_prefix,
                       .values = values,
                       .depth = parent == NULL ? 0 : parent->depth + 1};
  for (size_t i = 0; i < n_parameters; i++) {
    const yoke_parameter* parameter = &definition->parameters[i];
    values[i] = (yoke_frame_value){
        .text = parameter->text, .scope = self, .statement = parameter->statement};
  }
  return self;
}

// ---- the scope of expressions

static yoke_name_answer find_name(void* self, yoke_span name, yoke_named_value* out) {
  yoke_netlist_reader* reader = self;
  for (const yoke_frame* f = reader->scope_frame; f != NULL; f = f->parent) {
    const uint32_t index = yoke__names_find(&f->definition->parameter_names, name);
    if (index == YOKE_NO_INDEX) {
      continue;
    }
    const yoke_frame_value* value = &f->values[index];
    if (value->state == YOKE_VALUE_DONE) {
      *out = value->value;
      return YOKE_NAME_FOUND;
    }
    if (value->state == YOKE_VALUE_FAILED) {
      return YOKE_NAME_REFUSED;
    }
    reader->wanted = (struct yoke_pending){f, index};
    return YOKE_NAME_PENDING;
  }
  const uint32_t input = yoke__names_find(&reader->inputs, name);
  if (input != YOKE_NO_INDEX) {
    *out = (yoke_named_value){.is_live = true, .live = {YOKE_LIVE_INPUT, input}};
    return YOKE_NAME_FOUND;
  }
  if (yoke__span_is(name, "temper")) {
    *out = (yoke_named_value){.number = reader->network->run.temperature - ZERO_CELSIUS};
    return YOKE_NAME_FOUND;
  }
  return YOKE_NAME_UNKNOWN;
}

static const yoke_user_function* find_function(void* self, yoke_span name) {
  const yoke_netlist_reader* reader = self;
  for (const yoke_frame* f = reader->scope_frame; f != NULL; f = f->parent) {
    const uint32_t index = yoke__names_find(&f->definition->function_names, name);
    if (index != YOKE_NO_INDEX) {
      return &f->definition->functions[index];
    }
  }
  return NULL;
}

static void report(void* self, size_t offset, const char* text) {
  yoke_netlist_reader* reader = self;
  yoke__netlist_error(reader, &reader->scope_statement, reader->scope_text + offset, "%s: %s",
                      reader->scope_what, text);
}

static yoke_name_answer find_live(void* self, char letter, yoke_span a, yoke_span b,
                                  yoke_live_terms* out) {
  yoke_netlist_reader* reader = self;
  if (reader->is_parameter) {
    report(self, 0,
           "a parameter cannot depend on voltages or currents; use .func or an expression "
           "at the element");
    return YOKE_NAME_REFUSED;
  }
  reader->has_references = true;
  if (!reader->is_resolving) {
    // a stand-in: the expression is compiled again later
    *out = (yoke_live_terms){.has_current = true, .current = 1};
    return YOKE_NAME_FOUND;
  }
  return yoke__netlist_find_live(reader, reader->scope_frame, letter, a, b, out);
}

static yoke_span parameter_name(const void* owner, size_t i) {
  return ((const yoke_definition*)owner)->parameters[i].name;
}

static const char* hint(void* self, yoke_span name) {
  yoke_netlist_reader* reader = self;
  static const char nothing[] = "";
  const yoke_definition* definition = reader->scope_frame->definition;
  char text[YOKE_HINT_SIZE];
  yoke__netlist_hint(reader, name, definition, definition->n_parameters, parameter_name, text);
  if (text[0] == '\0') {
    return nothing;
  }
  const char* kept = yoke__arena_text(&reader->arena, text, strlen(text));
  return kept == NULL ? nothing : kept;
}

static yoke_status compile_once(yoke_netlist_reader* reader, const yoke_statement* statement,
                                const yoke_frame* frame, yoke_span text, const char* what,
                                const yoke_expression_wrap* wrap, bool is_parameter,
                                yoke_compiled* out) {
  const yoke_expression_scope scope = {reader, find_name, find_function, find_live, report, hint};
  reader->scope_frame = frame;
  reader->scope_statement = *statement;
  reader->scope_text = text.text;
  reader->scope_what = what;
  reader->has_references = false;
  reader->is_parameter = is_parameter;
  const yoke_status status = yoke__expression_compile(&reader->compiler, text, &scope, wrap, out);
  reader->is_out_of_memory = reader->is_out_of_memory || status == YOKE_NO_MEMORY;
  return status;
}

// ---- parameters that need each other

static yoke_span pending_name(const struct yoke_pending* pending) {
  return pending->frame->definition->parameters[pending->index].name;
}

// "a -> b -> a", from where the cycle starts
static void report_cycle(yoke_netlist_reader* reader) {
  char text[400] = "", cut[YOKE_SHOWN_SIZE];
  size_t n = 0, first = 0;
  while (first + 1 < reader->n_pending && (reader->pending[first].frame != reader->wanted.frame ||
                                           reader->pending[first].index != reader->wanted.index)) {
    first++;
  }
  for (size_t i = first; i < reader->n_pending && n < sizeof text - 100; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, "%s -> ",
                          yoke__shown(pending_name(&reader->pending[i]), cut));
  }
  const struct yoke_pending* last = &reader->pending[reader->n_pending - 1];
  const yoke_frame_value* value = &last->frame->values[last->index];
  yoke__netlist_error(reader, &reader->statements[value->statement], value->text.text,
                      "parameters depend on themselves: %s%s", text,
                      yoke__shown(pending_name(&reader->wanted), cut));
}

static bool push_pending(yoke_netlist_reader* reader) {
  if (!yoke__reader_append(reader, &reader->pending, &reader->n_pending, &reader->max_pending,
                           sizeof reader->wanted, &reader->wanted)) {
    return false;
  }
  reader->wanted.frame->values[reader->wanted.index].state = YOKE_VALUE_BUSY;
  return true;
}

// A copy of a law that lives as long as the reader.
static const yoke_expression* keep_law(yoke_netlist_reader* reader, const yoke_expression* law) {
  yoke_expression* copy = yoke__arena_take(&reader->arena, sizeof *copy);
  yoke_operation* operations =
      yoke__arena_array(&reader->arena, law->n_operations, sizeof *operations);
  yoke_live* live = yoke__arena_array(&reader->arena, law->n_live, sizeof *live);
  if (copy == NULL || operations == NULL || live == NULL) {
    reader->is_out_of_memory = true;
    return NULL;
  }
  memcpy(operations, law->operations, law->n_operations * sizeof *operations);
  memcpy(live, law->live, law->n_live * sizeof *live);
  *copy = (yoke_expression){operations, law->n_operations, live, law->n_live, NULL};
  return copy;
}

static void store(yoke_netlist_reader* reader, yoke_frame_value* value, yoke_status status,
                  const yoke_compiled* compiled) {
  value->state = status < 0 ? YOKE_VALUE_FAILED : YOKE_VALUE_DONE;
  if (status < 0) {
    return;
  }
  if (compiled->is_constant) {
    value->value = (yoke_named_value){.number = compiled->number};
    return;
  }
  value->value = (yoke_named_value){.law = keep_law(reader, &compiled->law)};
}

// Computes the parameter that was wanted, and all that it needs.
static void compute_wanted(yoke_netlist_reader* reader) {
  const size_t bottom = reader->n_pending;
  if (!push_pending(reader)) {
    return;
  }
  while (reader->n_pending > bottom && !reader->is_out_of_memory) {
    const struct yoke_pending top = reader->pending[reader->n_pending - 1];
    yoke_frame_value* value = &top.frame->values[top.index];
    char cut[YOKE_SHOWN_SIZE], what[YOKE_SHOWN_SIZE + 16];
    snprintf(what, sizeof what, "parameter %s", yoke__shown(pending_name(&top), cut));
    yoke_compiled compiled;
    const yoke_status status = compile_once(reader, &reader->statements[value->statement],
                                            value->scope, value->text, what, NULL, true, &compiled);
    if (status < 0 || !compiled.is_pending) {
      store(reader, value, status, &compiled);
      reader->n_pending--;
    } else if (reader->wanted.frame->values[reader->wanted.index].state == YOKE_VALUE_BUSY) {
      report_cycle(reader);
      value->state = YOKE_VALUE_FAILED;
      reader->n_pending--;
    } else {
      push_pending(reader);
    }
  }
}

// ---- values

static double apply_wrap(const yoke_expression_wrap* wrap, double x) {
  return wrap == NULL          ? x
         : wrap->is_reciprocal ? wrap->factor / x
                               : wrap->factor * x + wrap->offset;
}

// The text of a law for people: one line.
static const char* law_text(yoke_netlist_reader* reader, yoke_span text) {
  char* copy = yoke__arena_text(&reader->arena, text.text, text.n);
  for (char* c = copy; c != NULL && *c != '\0'; c++) {
    *c = (char)(*c == '\n' || *c == '\t' || *c == '\r' ? ' ' : *c);
  }
  return copy;
}

bool yoke__netlist_compile(yoke_netlist_reader* reader, const yoke_statement* statement,
                           const yoke_frame* frame, yoke_span text, const char* what,
                           const yoke_expression_wrap* wrap, yoke_netlist_value* out) {
  *out = (yoke_netlist_value){.text = text};
  yoke_compiled compiled;
  for (;;) {
    const yoke_status status =
        compile_once(reader, statement, frame, text, what, wrap, false, &compiled);
    if (status < 0 || reader->is_out_of_memory) {
      return false;
    }
    if (!compiled.is_pending) {
      break;
    }
    compute_wanted(reader);
  }
  out->has_references = reader->has_references && !reader->is_resolving;
  out->is_constant = compiled.is_constant && !out->has_references;
  out->number = compiled.number;
  if (out->has_references || out->is_constant) {
    return true;
  }
  compiled.law.text = law_text(reader, text);
  out->law = yoke__network_keep_law(reader->network, &compiled.law);
  reader->is_out_of_memory = reader->is_out_of_memory || out->law == NULL;
  return out->law != NULL;
}

static bool is_one_of(char c, const char* set) {
  return c != '\0' && strchr(set, c) != NULL;
}

// A word without braces that may be meant as an expression: the name of a parameter, or with an
// operator inside.
static bool is_expression(yoke_span word) {
  bool has_operator = false;
  for (size_t i = 1; i < word.n; i++) {
    has_operator = has_operator || is_one_of(word.text[i], "+-*/^<>?!&|");
  }
  return yoke__is_name_start(word.text[0]) ||
         (has_operator && is_one_of(word.text[0], "0123456789.+-"));
}

bool yoke__netlist_value(yoke_cursor* cursor, yoke_token token, const char* what,
                         const yoke_expression_wrap* wrap, yoke_netlist_value* out) {
  char cut[YOKE_SHOWN_SIZE];
  *out = (yoke_netlist_value){.text = token.span};
  if (cursor->is_failed) {
    return false;
  }
  if (token.kind == YOKE_TOKEN_END || token.kind == YOKE_TOKEN_EQUALS) {
    return yoke__cursor_error(cursor, token.span.text, "%s: %s", what,
                              token.kind == YOKE_TOKEN_END ? "a value is missing"
                                                           : "expected a value, found '='");
  }
  const char* end = token.span.text + token.span.n;
  const bool is_number = token.kind == YOKE_TOKEN_WORD &&
                         yoke__number_scan_suffix(token.span.text, end, &out->number) == end;

  // most values are plain numbers; 1/0 goes the long way to its message
  if (is_number && (wrap == NULL || !wrap->is_reciprocal || out->number != 0.0)) {
    out->number = apply_wrap(wrap, out->number);
    out->is_constant = true;
    return true;
  }
  if (token.kind == YOKE_TOKEN_WORD && !is_number && !is_expression(token.span)) {
    return yoke__cursor_error(cursor, token.span.text,
                              "%s: '%s' is no number; expected one such as 4.7k, or {expression}",
                              what, yoke__shown(token.span, cut));
  }
  return yoke__netlist_compile(cursor->reader, cursor->statement, cursor->frame, token.span, what,
                               wrap, out);
}

bool yoke__netlist_number(yoke_cursor* cursor, yoke_token token, const char* what, double* out) {
  yoke_netlist_value value;
  if (!yoke__netlist_value(cursor, token, what, NULL, &value)) {
    return false;
  }
  if (!value.is_constant) {
    return yoke__cursor_error(
        cursor, token.span.text,
        "%s: must be constant, but depends on time, inputs, voltages or currents", what);
  }
  *out = value.number;
  return true;
}
