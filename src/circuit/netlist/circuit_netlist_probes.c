// What is recorded and what a unit gives out.
//
//   .print [tran] v(a) v(a,b) i(r1) p(r1) t(c) node {expression} all   also .plot .save .probe
//   .output v(out) [name=vout] ...     .output {expression} name=x [dim=W]
//
// ngspice's other spellings are understood: v1#branch is i(v1), @r1[i] is i(r1), @r1[p] is p(r1),
// par('expression').
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "circuit/netlist/circuit_netlist_reader.h"

static bool is_gap(char c) {
  return yoke__is_blank(c) || c == ',';
}

// One item as written: up to a blank outside of brackets. Empty at the end.
static yoke_token next_item(yoke_cursor* cursor) {
  const char *at = cursor->at, *end = cursor->end;
  while (at < end && is_gap(*at)) {
    at++;
  }
  yoke_token item = {YOKE_TOKEN_END, {at, 0}};
  if (at < end && (*at == '{' || *at == '\'')) {
    return yoke__cursor_next(cursor);
  }
  int depth = 0;
  for (; at < end && (depth > 0 || !is_gap(*at)); at++) {
    depth += *at == '(' || *at == '{' ? 1 : *at == ')' || *at == '}' ? -1 : 0;

    // "v (a)" is one item
    if (at + 1 < end && depth == 0 && at == item.span.text && is_gap(at[1]) && at[1] != ',') {
      const char* next = at + 1;
      while (next < end && is_gap(*next)) {
        next++;
      }
      at = next < end && *next == '(' ? next - 1 : at;
    }
  }
  item.span.n = (size_t)(at - item.span.text);
  item.kind = item.span.n == 0 ? YOKE_TOKEN_END : YOKE_TOKEN_WORD;
  cursor->at = at;
  return item;
}

// The span between two bytes, copied with other text around it, NUL-terminated; NULL without
// memory.
static const char* surround(yoke_netlist_reader* reader, const char* before, yoke_span inside,
                            const char* behind) {
  const size_t n = strlen(before), m = strlen(behind);
  char* text = yoke__arena_take(&reader->arena, n + inside.n + m + 1);
  if (text == NULL) {
    reader->is_out_of_memory = true;
    return NULL;
  }
  memcpy(text, before, n);
  memcpy(text + n, inside.text, inside.n);
  memcpy(text + n + inside.n, behind, m);
  text[n + inside.n + m] = '\0';
  return text;
}

// ---- laws as probes

// A number as a law.
static const yoke_expression* constant_law(yoke_netlist_reader* reader, double number,
                                           const char* text) {
  const yoke_operation operation = {.code = YOKE_OP_NUMBER, .number = number};
  const yoke_live none = {YOKE_LIVE_TIME, 0};
  const yoke_expression law = {&operation, 1, &none, 0, text};
  const yoke_expression* kept = yoke__network_keep_law(reader->network, &law);
  reader->is_out_of_memory = reader->is_out_of_memory || kept == NULL;
  return kept;
}

static bool make_law(yoke_cursor* cursor, yoke_span text, const char* what, yoke_probe* out) {
  yoke_netlist_reader* reader = cursor->reader;
  yoke_netlist_value value;
  if (!yoke__netlist_compile(reader, cursor->statement, cursor->frame, text, what, NULL, &value)) {
    return false;
  }
  const char* name = surround(reader, "", text, "");
  const char* dim = out->dim == NULL ? "" : out->dim;
  *out =
      (yoke_probe){.kind = YOKE_PROBE_LAW,
                   .name = name,
                   .dim = dim,
                   .law = value.law != NULL ? value.law : constant_law(reader, value.number, name),
                   .place = yoke__statement_place(reader, cursor->statement, text.text)};
  return out->law != NULL && name != NULL;
}

// ---- items

// "@r1[i]" -> "i(r1)"; NULL if it is not understood
static const char* read_device(yoke_netlist_reader* reader, yoke_span text) {
  const char* open = memchr(text.text, '[', text.n);
  if (open == NULL || text.text[text.n - 1] != ']') {
    return NULL;
  }
  const yoke_span name = {text.text + 1, (size_t)(open - text.text) - 1};
  const yoke_span what = {open + 1, text.n - (size_t)(open - text.text) - 2};
  if (yoke__span_is(what, "i") || yoke__span_is(what, "id") || yoke__span_is(what, "current")) {
    return surround(reader, "i(", name, ")");
  }
  return yoke__span_is(what, "p") || yoke__span_is(what, "power")
             ? surround(reader, "p(", name, ")")
             : NULL;
}

// The spelling that yoke__network_find_probe reads; NULL for what is not understood.
static const char* normal_text(yoke_netlist_reader* reader, yoke_span text) {
  const char* bracket = memchr(text.text, '(', text.n);
  static const char branch[] = "#branch";
  const size_t n_branch = sizeof branch - 1;
  if (text.text[0] == '@') {
    return read_device(reader, text);
  }
  if (bracket == NULL) {
    if (text.n > n_branch &&
        yoke__span_is((yoke_span){text.text + text.n - n_branch, n_branch}, branch)) {
      return surround(reader, "i(", (yoke_span){text.text, text.n - n_branch}, ")");
    }
    return surround(reader, "v(", text, ")");
  }
  yoke_span word = {text.text, (size_t)(bracket - text.text)};
  while (word.n > 0 && is_gap(word.text[word.n - 1])) {
    word.n--;
  }
  const bool is_known =
      word.n == 1 && word.text[0] != '\0' && strchr("vitp", yoke__lower(word.text[0])) != NULL;
  return is_known ? surround(reader, "", text, "") : NULL;
}

// par('expression') -> the expression
static bool is_par(yoke_span* text) {
  if (text->n < 6 || !yoke__span_is((yoke_span){text->text, 4}, "par(") ||
      text->text[text->n - 1] != ')') {
    return false;
  }
  *text = (yoke_span){text->text + 4, text->n - 5};
  if (text->n >= 2 && text->text[0] == '\'' && text->text[text->n - 1] == '\'') {
    *text = (yoke_span){text->text + 1, text->n - 2};
  }
  return true;
}

// The power of a diode with its series resistance is a law; that of other elements is read
// directly.
static bool refine_power(yoke_cursor* cursor, yoke_probe* out) {
  const yoke_network* network = cursor->reader->network;
  if (out->kind != YOKE_PROBE_POWER || network->elements[out->index].kind != YOKE_JUNCTION) {
    return true;
  }
  const yoke_probe plain = *out;
  const yoke_span text = {plain.name, strlen(plain.name)};
  if (!make_law(cursor, text, plain.name, out)) {
    return false;
  }
  out->name = plain.name;
  out->dim = plain.dim;
  return true;
}

typedef enum answer { ITEM_FOUND, ITEM_IGNORED, ITEM_FAILED } answer;

static answer read_item(yoke_cursor* cursor, yoke_token item, const char* what, yoke_probe* out) {
  yoke_netlist_reader* reader = cursor->reader;
  yoke_span text = item.span;
  *out = (yoke_probe){0};
  if (item.kind == YOKE_TOKEN_EXPRESSION || is_par(&text)) {
    return make_law(cursor, text, what, out) ? ITEM_FOUND : ITEM_FAILED;
  }
  const char* normal = normal_text(reader, text);
  if (normal == NULL) {
    if (!reader->is_out_of_memory) {
      yoke__cursor_ignore(cursor, what, text);
    }
    return ITEM_IGNORED;
  }
  const yoke_place place = yoke__statement_place(reader, cursor->statement, text.text);
  const yoke_status status = yoke__network_find_probe(reader->network, normal, place,
                                                      reader->messages, &reader->arena, out);
  reader->is_out_of_memory = reader->is_out_of_memory || status == YOKE_NO_MEMORY;
  out->place = place;
  return status >= 0 && refine_power(cursor, out) ? ITEM_FOUND : ITEM_FAILED;
}

// ---- .print, .plot, .save, .probe

static void add_save(yoke_netlist_reader* reader, const yoke_probe* probe) {
  const yoke_span name = {probe->name, strlen(probe->name)};
  if (yoke__names_find(&reader->saved, name) != YOKE_NO_INDEX) {
    return;
  }
  const uint32_t index = yoke__network_add_save(reader->network, probe);
  if (index == YOKE_NO_INDEX) {
    reader->is_out_of_memory = true;
    return;
  }
  const char* kept = reader->network->saves[index].name;
  if (!yoke__names_put(&reader->saved, (yoke_span){kept, strlen(kept)}, index)) {
    reader->is_out_of_memory = true;
  }
}

// Every node that the user named and the current of every element.
static void add_all(yoke_cursor* cursor, bool has_voltages, bool has_currents) {
  yoke_netlist_reader* reader = cursor->reader;
  const yoke_network* network = reader->network;
  const size_t n_nodes = has_voltages ? network->n_nodes : 0;
  const size_t n = n_nodes + (has_currents ? network->n_elements : 0);
  for (size_t i = 1; i < n && !reader->is_out_of_memory; i++) {
    const bool is_node = i < n_nodes;
    const uint32_t index = (uint32_t)(is_node ? i : i - n_nodes);
    const char* name = is_node ? network->nodes[index].name : network->elements[index].name;
    const bool is_internal =
        is_node ? network->nodes[index].is_internal : network->elements[index].is_internal;
    const bool is_thermal =
        (is_node ? network->nodes[index].domain : network->elements[index].domain) == YOKE_THERMAL;
    const char* open = !is_node ? "i(" : is_thermal ? "t(" : "v(";
    const yoke_probe probe = {.kind = is_node ? YOKE_PROBE_VOLTAGE : YOKE_PROBE_CURRENT,
                              .name = surround(reader, open, (yoke_span){name, strlen(name)}, ")"),
                              .dim = is_thermal ? is_node ? "K" : "W"
                                     : is_node  ? "V"
                                                : "A",
                              .index = index,
                              .place = yoke__statement_place(reader, cursor->statement, NULL)};
    if (!is_internal && probe.name != NULL) {
      add_save(reader, &probe);
    }
  }
}

// True if the line is about another analysis.
static bool is_other_analysis(yoke_cursor* cursor) {
  static const char* const others[] = {"ac", "dc", "op", "noise", "tf", "sens", "disto", "pz"};
  if (yoke__cursor_take(cursor, "tran")) {
    return false;
  }
  for (size_t i = 0; i < YOKE_COUNT(others); i++) {
    if (yoke__cursor_take(cursor, others[i])) {
      return true;
    }
  }
  return false;
}

static void read_saves(yoke_cursor* cursor, const char* what) {
  yoke_netlist_reader* reader = cursor->reader;
  if (is_other_analysis(cursor)) {
    return;
  }
  while (!reader->is_out_of_memory && !reader->is_stopped && !cursor->is_failed) {
    const yoke_token item = next_item(cursor);
    yoke_probe probe;
    if (item.kind == YOKE_TOKEN_END) {
      return;
    }
    const bool is_all = yoke__span_is(item.span, "all");
    if (is_all || yoke__span_is(item.span, "allv") || yoke__span_is(item.span, "alli")) {
      add_all(cursor, !yoke__span_is(item.span, "alli"), !yoke__span_is(item.span, "allv"));
    } else if (item.span.n == 0 || item.span.text[0] == '(') {
      continue;  // limits of a plot
    } else if (read_item(cursor, item, what, &probe) == ITEM_FOUND) {
      add_save(reader, &probe);
    }
  }
}

// ---- .output

// name= and dim= behind an item
static bool read_output_keys(yoke_cursor* cursor, yoke_span* name, yoke_span* dim) {
  yoke_span key;
  char cut[YOKE_SHOWN_SIZE];
  while (yoke__cursor_take_key(cursor, &key)) {
    yoke_span* place = yoke__span_is(key, "name") ? name : yoke__span_is(key, "dim") ? dim : NULL;
    const yoke_token token = yoke__cursor_next(cursor);
    if (place == NULL || token.kind != YOKE_TOKEN_WORD) {
      return yoke__cursor_error(cursor, key.text,
                                ".output: expected 'name=' or 'dim=' with a value, found '%s'",
                                yoke__shown(key, cut));
    }
    *place = token.span;
  }
  return true;
}

static bool is_output_taken(const yoke_network* network, const char* name) {
  const yoke_span wanted = {name, strlen(name)};
  for (uint32_t i = 0; i < network->n_outputs; i++) {
    const char* other = network->outputs[i].name;
    if (yoke__span_equals(wanted, (yoke_span){other, strlen(other)})) {
      return true;
    }
  }
  return false;
}

static void add_output(yoke_cursor* cursor, yoke_token item, yoke_probe* probe, yoke_span name,
                       yoke_span dim) {
  yoke_netlist_reader* reader = cursor->reader;
  char cut[YOKE_SHOWN_SIZE];
  if (item.kind == YOKE_TOKEN_EXPRESSION && name.n == 0) {
    yoke__cursor_error(cursor, item.span.text,
                       ".output: an expression needs a name: .output {%s} name=...",
                       yoke__shown(item.span, cut));
    return;
  }
  probe->name = name.n == 0 ? probe->name : surround(reader, "", name, "");
  probe->dim = dim.n == 0 ? probe->dim : surround(reader, "", dim, "");
  if (probe->name == NULL || probe->dim == NULL) {
    return;
  }
  if (is_output_taken(reader->network, probe->name)) {
    yoke__cursor_error(cursor, item.span.text, "the output '%s' is named twice",
                       yoke__shown((yoke_span){probe->name, strlen(probe->name)}, cut));
    return;
  }
  if (yoke__network_add_output(reader->network, probe) == YOKE_NO_INDEX) {
    reader->is_out_of_memory = true;
  }
}

static void read_outputs(yoke_cursor* cursor) {
  yoke_netlist_reader* reader = cursor->reader;
  bool is_first = true;
  while (!reader->is_out_of_memory && !reader->is_stopped && !cursor->is_failed) {
    const yoke_token item = next_item(cursor);
    yoke_span name = {NULL, 0}, dim = {NULL, 0};
    yoke_probe probe;
    if (item.kind == YOKE_TOKEN_END || item.span.n == 0) {
      if (is_first) {
        yoke__cursor_error(cursor, NULL,
                           "expected '.output v(node) [name=..]' or '.output {expression} "
                           "name=.. [dim=..]'");
      }
      return;
    }
    is_first = false;
    if (!read_output_keys(cursor, &name, &dim)) {
      return;
    }
    const answer found = read_item(cursor, item, ".output", &probe);
    if (found == ITEM_FOUND) {
      add_output(cursor, item, &probe, name, dim);
    } else if (found == ITEM_IGNORED) {
      char cut[YOKE_SHOWN_SIZE];
      yoke__cursor_error(cursor, item.span.text, ".output: '%s' is not understood",
                         yoke__shown(item.span, cut));
    }
  }
}

void yoke__netlist_probes(yoke_netlist_reader* reader) {
  static const char* const words[] = {".print", ".plot", ".save", ".probe"};
  for (size_t i = 0; i < reader->n_directives && !reader->is_out_of_memory && !reader->is_stopped;
       i++) {
    yoke_cursor cursor =
        yoke__cursor_open(reader, &reader->statements[reader->directives[i]], reader->top);
    const yoke_span word = yoke__cursor_next(&cursor).span;
    const size_t j = yoke__span_among(word, words, YOKE_COUNT(words));
    if (j < YOKE_COUNT(words)) {
      read_saves(&cursor, words[j]);
    } else if (yoke__span_is(word, ".output")) {
      read_outputs(&cursor);
    }
  }
}
