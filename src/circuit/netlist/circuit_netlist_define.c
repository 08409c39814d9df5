// Statements -> definitions: subcircuits with their ports and defaults, parameters, functions and
// models of each level, and which element lines belong where. Nothing is evaluated yet, so that
// things may be used before they are defined.
#include <string.h>

#include "base/base_check.h"
#include "circuit/netlist/circuit_netlist_reader.h"

#define MAX_FUNCTION_ARGS 32

static const yoke_statement* statement_of(const yoke_netlist_reader* reader, uint32_t index) {
  return &reader->statements[index];
}

// Says where a name stood before.
static void report_twice(yoke_netlist_reader* reader, uint32_t statement, const char* what,
                         yoke_span name, uint32_t before) {
  char cut[YOKE_SHOWN_SIZE];
  const yoke_place first = yoke__statement_place(reader, statement_of(reader, before), NULL);
  yoke__netlist_error(reader, statement_of(reader, statement), name.text,
                      "the %s '%s' was defined before at %s:%d", what, yoke__shown(name, cut),
                      first.source, first.line);
}

static uint32_t add_definition(yoke_netlist_reader* reader, yoke_span name, uint32_t statement,
                               uint32_t parent) {
  const yoke_definition definition = {.name = name, .statement = statement, .parent = parent};
  return yoke__reader_append(reader, &reader->definitions, &reader->n_definitions,
                             &reader->max_definitions, sizeof definition, &definition)
             ? (uint32_t)reader->n_definitions - 1
             : YOKE_NO_INDEX;
}

static void put_name(yoke_netlist_reader* reader, yoke_names* names, yoke_span name, size_t index) {
  if (!yoke__names_put(names, name, (uint32_t)index)) {
    reader->is_out_of_memory = true;
  }
}

// ---- parameters

static void add_parameter(yoke_netlist_reader* reader, yoke_definition* self,
                          const yoke_parameter* parameter) {
  const uint32_t known = yoke__names_find(&self->parameter_names, parameter->name);
  if (known < self->n_parameters && self->parameters != NULL) {
    // the later one holds, as in SPICE; what an instance may give stays so
    char cut[YOKE_SHOWN_SIZE];
    const bool is_argument = self->parameters[known].is_argument;
    yoke__netlist_warn(reader, statement_of(reader, parameter->statement), parameter->name.text,
                       "the parameter '%s' is defined again; this value holds",
                       yoke__shown(parameter->name, cut));
    self->parameters[known] = *parameter;
    self->parameters[known].is_argument = is_argument;
    return;
  }
  if (yoke__reader_append(reader, &self->parameters, &self->n_parameters, &self->max_parameters,
                          sizeof *parameter, parameter)) {
    put_name(reader, &self->parameter_names, parameter->name, self->n_parameters - 1);
  }
}

static bool is_valid_name(yoke_span name) {
  bool is_valid = name.n > 0 && yoke__is_name_start(name.text[0]);
  for (size_t i = 1; is_valid && i < name.n; i++) {
    is_valid = yoke__is_name_part(name.text[i]) && name.text[i] != '.';
  }
  return is_valid;
}

// name = value pairs up to the end
static void read_parameters(yoke_cursor* cursor, yoke_definition* self, uint32_t statement,
                            bool is_argument) {
  yoke_netlist_reader* reader = cursor->reader;
  char cut[YOKE_SHOWN_SIZE];
  while (yoke__cursor_peek(cursor).kind != YOKE_TOKEN_END && !cursor->is_failed) {
    const yoke_token found = yoke__cursor_peek(cursor);
    yoke_parameter parameter = {.statement = statement, .is_argument = is_argument};
    if (!yoke__cursor_take_key(cursor, &parameter.name)) {
      yoke__cursor_error(cursor, found.span.text, "expected 'name = value', found '%s'",
                         yoke__shown(found.span, cut));
      return;
    }
    parameter.text = yoke__cursor_rest_of_value(cursor);
    if (!is_valid_name(parameter.name)) {
      yoke__cursor_error(cursor, parameter.name.text,
                         "'%s' is no name for a parameter: expected letters, digits and '_'",
                         yoke__shown(parameter.name, cut));
    } else if (parameter.text.n == 0) {
      yoke__cursor_error(cursor, parameter.name.text, "the parameter '%s' lacks its value",
                         yoke__shown(parameter.name, cut));
    } else {
      add_parameter(reader, self, &parameter);
    }
  }
}

// ---- .func name(a, b) {body}

static const char* skip_blanks(const char* at, const char* end) {
  while (at < end && yoke__is_blank(*at)) {
    at++;
  }
  return at;
}

static yoke_span take_name(const char** at, const char* end) {
  *at = skip_blanks(*at, end);
  yoke_span name = {*at, 0};
  while (*at < end && yoke__is_name_part(**at)) {
    ++*at;
  }
  name.n = (size_t)(*at - name.text);
  *at = skip_blanks(*at, end);
  return name;
}

// "(a, b)" into the function; false if it is none.
static bool take_arguments(yoke_netlist_reader* reader, const char** at, const char* end,
                           yoke_user_function* out) {
  yoke_span args[MAX_FUNCTION_ARGS];
  size_t n = 0;
  if (*at == end || **at != '(') {
    return false;
  }
  do {
    ++*at;
    const yoke_span name = take_name(at, end);
    if (name.n > 0 && n < MAX_FUNCTION_ARGS) {
      args[n++] = name;
    } else if (n > 0 || *at == end || **at != ')') {
      return false;
    }
  } while (*at < end && **at == ',');
  if (*at == end || **at != ')') {
    return false;
  }
  ++*at;
  yoke_span* kept = yoke__arena_array(&reader->arena, n, sizeof *kept);
  if (kept == NULL) {
    reader->is_out_of_memory = true;
    return false;
  }
  memcpy(kept, args, n * sizeof *kept);
  out->args = kept;
  out->n_args = n;
  return true;
}

static void read_function(yoke_cursor* cursor, yoke_definition* self) {
  yoke_netlist_reader* reader = cursor->reader;
  char cut[YOKE_SHOWN_SIZE];
  const char *at = cursor->at, *end = cursor->end;
  yoke_user_function function = {.name = take_name(&at, end)};
  if (function.name.n == 0 || !take_arguments(reader, &at, end, &function)) {
    yoke__cursor_error(cursor, NULL, "expected '.func name(argument, ...) {expression}'");
    return;
  }
  if (function.name.n == 1 && strchr("vtip", yoke__lower(function.name.text[0])) != NULL) {
    yoke__cursor_error(cursor, NULL, "a function cannot be called '%s': v, t, i and p are taken",
                       yoke__shown(function.name, cut));
    return;
  }
  at = skip_blanks(at, end);
  at = at < end && *at == '=' ? skip_blanks(at + 1, end) : at;
  function.body = (yoke_span){at, (size_t)(end - at)};
  if (function.body.n >= 2 && *at == '\'' && end[-1] == '\'') {
    function.body = (yoke_span){at + 1, function.body.n - 2};
  }
  if (function.body.n == 0) {
    yoke__cursor_error(cursor, NULL, "the function '%s' lacks its expression",
                       yoke__shown(function.name, cut));
    return;
  }
  if (yoke__names_find(&self->function_names, function.name) != YOKE_NO_INDEX) {
    yoke__cursor_error(cursor, NULL, "the function '%s' is defined twice",
                       yoke__shown(function.name, cut));
    return;
  }
  if (yoke__reader_append(reader, &self->functions, &self->n_functions, &self->max_functions,
                          sizeof function, &function)) {
    put_name(reader, &self->function_names, function.name, self->n_functions - 1);
  }
}

// ---- .model name type (...)

static void read_model(yoke_cursor* cursor, yoke_definition* self, uint32_t statement) {
  yoke_netlist_reader* reader = cursor->reader;
  const yoke_token name = yoke__cursor_next(cursor), type = yoke__cursor_next(cursor);
  if (name.kind != YOKE_TOKEN_WORD || type.kind != YOKE_TOKEN_WORD) {
    yoke__cursor_error(cursor, NULL, "expected '.model name type (parameter=value ...)'");
    return;
  }
  const uint32_t known = yoke__names_find(&self->model_names, name.span);
  if (known != YOKE_NO_INDEX) {
    report_twice(reader, statement, "model", name.span, self->models[known].statement);
    return;
  }
  const yoke_netlist_model model = {.name = name.span,
                                    .type = type.span,
                                    .text = {cursor->at, (size_t)(cursor->end - cursor->at)},
                                    .statement = statement};
  if (yoke__reader_append(reader, &self->models, &self->n_models, &self->max_models, sizeof model,
                          &model)) {
    put_name(reader, &self->model_names, name.span, self->n_models - 1);
  }
}

// ---- .subckt name ports [params:] [name=value ...]

static void add_port(yoke_netlist_reader* reader, yoke_definition* self, yoke_span name,
                     uint32_t statement) {
  char cut[YOKE_SHOWN_SIZE];
  if (yoke__names_find(&self->port_names, name) != YOKE_NO_INDEX) {
    yoke__netlist_error(reader, statement_of(reader, statement), name.text,
                        "the node '%s' is listed twice", yoke__shown(name, cut));
    return;
  }
  if (yoke__span_is(name, "0") || yoke__span_is(name, "gnd")) {
    yoke__netlist_error(reader, statement_of(reader, statement), name.text,
                        "ground is known everywhere: '%s' cannot be a node of .subckt",
                        yoke__shown(name, cut));
    return;
  }
  if (yoke__reader_append(reader, &self->ports, &self->n_ports, &self->max_ports, sizeof name,
                          &name)) {
    put_name(reader, &self->port_names, name, self->n_ports - 1);
  }
}

static uint32_t open_definition(yoke_cursor* cursor, uint32_t parent, uint32_t statement) {
  yoke_netlist_reader* reader = cursor->reader;
  const yoke_token name = yoke__cursor_next(cursor);
  if (name.kind != YOKE_TOKEN_WORD) {
    yoke__cursor_error(cursor, NULL, "expected '.subckt name node ... [name=value ...]'");
  }
  const uint32_t index = add_definition(reader, name.span, statement, parent);
  if (index == YOKE_NO_INDEX) {
    return parent;
  }
  yoke_names* siblings = &reader->definitions[parent].definition_names;
  const uint32_t known = yoke__names_find(siblings, name.span);
  if (known != YOKE_NO_INDEX) {
    report_twice(reader, statement, "subcircuit", name.span, reader->definitions[known].statement);
  } else if (name.kind == YOKE_TOKEN_WORD) {
    put_name(reader, siblings, name.span, index);
  }
  yoke_definition* self = &reader->definitions[index];
  for (;;) {
    yoke_cursor ahead = *cursor;
    yoke_span key;
    if (yoke__cursor_take_key(&ahead, &key) || yoke__cursor_peek(cursor).kind != YOKE_TOKEN_WORD ||
        yoke__cursor_take(cursor, "params:")) {
      break;
    }
    add_port(reader, self, yoke__cursor_next(cursor).span, statement);
  }
  read_parameters(cursor, self, statement, true);
  return index;
}

static uint32_t close_definition(yoke_cursor* cursor, uint32_t current) {
  yoke_netlist_reader* reader = cursor->reader;
  const yoke_definition* self = &reader->definitions[current];
  const yoke_token name = yoke__cursor_next(cursor);
  char cut[YOKE_SHOWN_SIZE], own[YOKE_SHOWN_SIZE];
  if (current == 0) {
    yoke__cursor_error(cursor, NULL, ".ends without .subckt");
    return current;
  }
  if (name.kind == YOKE_TOKEN_WORD && !yoke__span_equals(name.span, self->name)) {
    yoke__cursor_error(cursor, name.span.text, ".ends names '%s', but the open .subckt is '%s'",
                       yoke__shown(name.span, cut), yoke__shown(self->name, own));
  }
  return self->parent;
}

// ---- dot commands

// Read later, at the top level only.
static const char* const later[] = {".options", ".option", ".opt",   ".temp", ".tran", ".nodeset",
                                    ".print",   ".plot",   ".probe", ".save", ".yoke"};
// What would change the circuit if it were ignored.
static const struct {
  const char *word, *reason;
} refused[] = {
    {".lib", "libraries with sections are not supported; use .include"},
    {".if", "conditional netlists are not supported; use expressions"},
    {".elseif", "conditional netlists are not supported"},
    {".else", "conditional netlists are not supported"},
    {".endif", "conditional netlists are not supported"},
};

static void read_globals(yoke_cursor* cursor) {
  for (;;) {
    const yoke_token token = yoke__cursor_next(cursor);
    if (token.kind != YOKE_TOKEN_WORD) {
      return;
    }
    put_name(cursor->reader, &cursor->reader->globals, token.span, 0);
  }
}

// Commands that are kept, refused or ignored.
static void sort_command(yoke_cursor* cursor, yoke_span word, uint32_t current,
                         uint32_t statement) {
  yoke_netlist_reader* reader = cursor->reader;
  char cut[YOKE_SHOWN_SIZE];
  for (size_t i = 0; i < YOKE_COUNT(refused); i++) {
    if (yoke__span_is(word, refused[i].word)) {
      yoke__cursor_error(cursor, NULL, "%s: %s", refused[i].word, refused[i].reason);
      return;
    }
  }
  const bool is_port = yoke__span_is(word, ".input") || yoke__span_is(word, ".output");
  const bool is_later =
      is_port || yoke__span_among(word, later, YOKE_COUNT(later)) < YOKE_COUNT(later);
  if (is_port && current != 0) {
    yoke__cursor_error(cursor, NULL, "%s stands outside of subcircuits only",
                       yoke__shown(word, cut));
  } else if (is_later) {
    yoke__reader_append(reader, &reader->directives, &reader->n_directives, &reader->max_directives,
                        sizeof statement, &statement);
  } else if (yoke__netlist_is_first(reader, word)) {
    yoke__cursor_warn(cursor, NULL, "'%s' is ignored", yoke__shown(word, cut));
  }
}

// The definition that is open afterwards.
static uint32_t read_command(yoke_cursor* cursor, yoke_span word, uint32_t current,
                             uint32_t statement) {
  yoke_netlist_reader* reader = cursor->reader;
  yoke_definition* self = &reader->definitions[current];
  if (yoke__span_is(word, ".subckt")) {
    return open_definition(cursor, current, statement);
  }
  if (yoke__span_is(word, ".ends")) {
    return close_definition(cursor, current);
  }
  if (yoke__span_is(word, ".param") || yoke__span_is(word, ".params")) {
    read_parameters(cursor, self, statement, false);
  } else if (yoke__span_is(word, ".func")) {
    read_function(cursor, self);
  } else if (yoke__span_is(word, ".model")) {
    read_model(cursor, self, statement);
  } else if (yoke__span_is(word, ".global")) {
    read_globals(cursor);
  } else if (yoke__span_is(word, ".ic")) {
    yoke__reader_append(reader, &self->body, &self->n_body, &self->max_body, sizeof statement,
                        &statement);
  } else {
    sort_command(cursor, word, current, statement);
  }
  return current;
}

void yoke__netlist_define(yoke_netlist_reader* reader) {
  uint32_t current = add_definition(reader, (yoke_span){"", 0}, 0, 0);
  for (uint32_t i = 0; i < reader->n_statements && !reader->is_out_of_memory && !reader->is_stopped;
       i++) {
    yoke_definition* self = &reader->definitions[current];
    if (reader->statements[i].text[0] != '.') {
      yoke__reader_append(reader, &self->body, &self->n_body, &self->max_body, sizeof i, &i);
      continue;
    }
    yoke_cursor cursor = yoke__cursor_open(reader, &reader->statements[i], NULL);
    const yoke_span word = yoke__cursor_next(&cursor).span;
    current = read_command(&cursor, word, current, i);
  }
  if (current != 0 && current != YOKE_NO_INDEX && !reader->is_stopped) {
    char cut[YOKE_SHOWN_SIZE];
    const yoke_definition* self = &reader->definitions[current];
    yoke__netlist_error(reader, statement_of(reader, self->statement), NULL,
                        "the subcircuit '%s' lacks its .ends", yoke__shown(self->name, cut));
  }
}

// ---- looking up, outwards from where it is used

const yoke_netlist_model* yoke__netlist_find_model(const yoke_netlist_reader* reader,
                                                   const yoke_definition* from, yoke_span name) {
  for (;;) {
    const uint32_t found = yoke__names_find(&from->model_names, name);
    if (found != YOKE_NO_INDEX) {
      return &from->models[found];
    }
    if (from == reader->definitions) {
      return NULL;
    }
    from = &reader->definitions[from->parent];
  }
}

uint32_t yoke__netlist_find_definition(const yoke_netlist_reader* reader,
                                       const yoke_definition* from, yoke_span name) {
  for (;;) {
    const uint32_t found = yoke__names_find(&from->definition_names, name);
    if (found != YOKE_NO_INDEX || from == reader->definitions) {
      return found;
    }
    from = &reader->definitions[from->parent];
  }
}
