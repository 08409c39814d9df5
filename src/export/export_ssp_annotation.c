// Our annotation: everything of the system file that SSP has no place for, as YAML.
//
// The tree of the file is written back, without what the SSD says (units' kinds and values, plain connections, start and
// stop). Laws are there in full: the SSD has them as components for other tools, Yoke takes the laws. Flow style
// throughout, one line per section, and one per unit.
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_text.h"
#include "export/export_ssp_part.h"

enum { MAX_DEPTH = 80 };  // a system file has 64

// ---------------------------------------------------------------------------------------------------------
// nodes as YAML

// Letters, digits and a few others need no quotes anywhere in flow style.
static bool is_plain(const char* word) {
  for (const char* at = word; *at != '\0'; at++) {
    const bool is_word = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                         (*at >= '0' && *at <= '9') || *at == '_' || *at == '.' || *at == '+' ||
                         (*at == '-' && at[1] != '\0');
    if (!is_word) {
      return false;
    }
  }
  return word[0] != '\0';
}

static void add_quoted(yoke_text* t, const char* word) {
  static const char digits[] = "0123456789abcdef";
  yoke__text_string(t, "\"");
  for (const char* at = word; *at != '\0'; at++) {
    const unsigned char c = (unsigned char)*at;
    if (c == '"' || c == '\\') {
      const char escaped[] = {'\\', *at};
      yoke__text_append(t, escaped, sizeof escaped);
    } else if (c < 0x20 || c == 0x7f) {
      const char escaped[] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
      yoke__text_append(t, escaped, sizeof escaped);
    } else {
      yoke__text_append(t, at, 1);
    }
  }
  yoke__text_string(t, "\"");
}

static void add_key(yoke_text* t, const char* key) {
  // a key that could be taken for something else goes into quotes
  if (is_plain(key) && ((key[0] >= 'a' && key[0] <= 'z') || (key[0] >= 'A' && key[0] <= 'Z'))) {
    yoke__text_string(t, key);
  } else {
    add_quoted(t, key);
  }
  yoke__text_string(t, ": ");
}

static void add_scalar(yoke_text* t, const yoke_node* node) {
  if (!node->is_quoted && node->text[0] == '\0') {
    yoke__text_string(t, "~");
  } else if (!node->is_quoted && (is_plain(node->text) || strcmp(node->text, "~") == 0)) {
    yoke__text_string(t, node->text);
  } else {
    add_quoted(t, node->text);
  }
}

// A node with all below it in flow style.
static void add_node(yoke_text* t, const yoke_node* node) {
  const yoke_node* open[MAX_DEPTH];  // maps and lists whose next child is to come
  bool is_map[MAX_DEPTH];
  size_t depth = 0;
  const yoke_node* at = node;
  bool is_child = false;
  while (at != NULL || depth > 0) {
    if (at == NULL) {
      // this map or list is complete
      depth--;
      yoke__text_string(t, is_map[depth] ? "}" : "]");
      at = depth == 0 ? NULL : open[depth]->next;
      if (at != NULL) {
        yoke__text_string(t, ", ");
      }
      continue;
    }
    if (is_child && is_map[depth - 1]) {
      add_key(t, at->key);
    }
    if (at->kind != YOKE_NODE_SCALAR && depth < MAX_DEPTH) {
      yoke__text_string(t, at->kind == YOKE_NODE_MAP ? "{" : "[");
      open[depth] = at;
      is_map[depth++] = at->kind == YOKE_NODE_MAP;
      at = at->first;
      is_child = true;
      continue;
    }
    add_scalar(t, at);
    at = depth == 0 ? NULL : at->next;
    if (at != NULL) {
      yoke__text_string(t, ", ");
    }
  }
}

static bool is_among(const char* word, const char* const words[]) {
  for (size_t i = 0; words[i] != NULL; i++) {
    if (strcmp(words[i], word) == 0) {
      return true;
    }
  }
  return false;
}

// The keys of a map that are not in `without`, behind `first` and commas; false: there are none, and nothing was written.
static bool add_entries(yoke_text* t, const yoke_node* map, const char* const without[],
                        const char* first) {
  size_t n = 0;
  for (const yoke_node* at = map->first; at != NULL; at = at->next) {
    if (!is_among(at->key, without)) {
      yoke__text_string(t, n++ == 0 ? first : ", ");
      add_key(t, at->key);
      add_node(t, at);
    }
  }
  return n > 0;
}

static bool add_map_without(yoke_text* t, const yoke_node* map, const char* const without[]) {
  const bool has_any = add_entries(t, map, without, "{");
  yoke__text_string(t, has_any ? "}" : "");
  return has_any;
}

// ---------------------------------------------------------------------------------------------------------
// sections

static void add_time(yoke_text* t, const yoke_node* node) {
  static const char* const without[] = {"start", "stop", NULL};
  const size_t n_before = t->n;
  yoke__text_string(t, "time: ");
  if (node->kind != YOKE_NODE_MAP || !add_map_without(t, node, without)) {
    t->n = n_before;
    return;
  }
  yoke__text_string(t, "\n");
}

// FMUs of co-simulation cannot give outputs again without a step. Where that makes a difference Yoke takes the native unit
// back; where no output follows an input at once, stale is the same.
static bool is_fresh(const ssp_export* e, const yoke_scenario_unit* unit) {
  const yoke_exchange exchange = unit->has_exchange ? unit->exchange : e->job->scenario->exchange;
  return exchange == YOKE_FRESH && unit->kind != YOKE_KIND_FMU;
}

// A netlist or a shared library is inside its FMU and nowhere else.
static bool is_packed(const ssp_export_unit* unit) {
  const yoke_unit_kind kind = unit->source->kind;
  return kind == YOKE_KIND_CIRCUIT || kind == YOKE_KIND_TWIN || kind == YOKE_KIND_LIBRARY;
}

// The iterative schemes need the same of units that pass an input on at once.
static bool needs_native(const ssp_export* e, const ssp_export_unit* unit) {
  const yoke_scheme scheme = e->job->scenario->scheme;
  const bool is_iterative =
      scheme == YOKE_ITERATIVE_JACOBI || scheme == YOKE_ITERATIVE_GAUSS_SEIDEL;
  return unit->source->kind != YOKE_KIND_FMU && !is_packed(unit) &&
         unit->unit->info->n_feedthrough > 0 && (is_iterative || is_fresh(e, unit->source));
}

// The keys of one unit; false: there are none, and nothing was written.
static bool add_unit(yoke_text* t, const ssp_export* e, const yoke_node* node) {
  static const char* const of_ssp[] = {"model",  "fmu",       "with", "start",
                                       "values", "interface", NULL};
  static const char* const of_stale[] = {"model",  "fmu",       "with",     "start",
                                         "values", "interface", "exchange", NULL};
  // the solver of a netlist and the filter of a twin are set inside their FMU
  static const char* const of_packed[] = {"with",    "start",   "values",  "interface", "circuit",
                                          "library", "model",   "law",     "solver",    "exchange",
                                          "twin",    "sensors", "unknown", "inputs",    "filter",
                                          "noise",   "reset",   "late",    NULL};
  const ssp_export_unit* unit = yoke__ssp_export_find(e, node->key);
  if (unit != NULL && is_packed(unit)) {
    return add_map_without(t, node, of_packed);
  }
  if (unit != NULL && needs_native(e, unit)) {
    add_node(t, node);
    return true;
  }
  if (unit == NULL || !is_fresh(e, unit->source)) {
    return add_map_without(t, node, of_ssp);
  }
  if (add_map_without(t, node, of_stale)) {
    t->n -= t->status < 0 ? 0 : 1;  // its closing bracket
    yoke__text_string(t, ", exchange: stale}");
  } else {
    yoke__text_string(t, "{exchange: stale}");
  }
  return true;
}

static void add_units(yoke_text* t, const ssp_export* e, const yoke_node* units) {
  bool is_open = false;
  for (const yoke_node* node = units->first; node != NULL; node = node->next) {
    const size_t n_before = t->n;
    yoke__text_string(t, is_open ? "" : "units:\n");
    yoke__text_string(t, "  ");
    add_key(t, node->key);
    if (node->kind != YOKE_NODE_MAP || !add_unit(t, e, node)) {
      t->n = n_before;
      continue;
    }
    is_open = true;
    yoke__text_string(t, "\n");
  }
}

// The settings of a coupling, whose files lie in the archive under this name.
static void add_coupling(yoke_text* t, ssp_export* e, const char* name, const yoke_node* coupling) {
  if (coupling->kind != YOKE_NODE_MAP) {
    add_node(t, coupling);
    return;
  }
  yoke__text_string(t, "{");
  for (const yoke_node* at = coupling->first; at != NULL; at = at->next) {
    const char* entry = yoke__ssp_export_coupling_file(e, name, coupling, at);
    yoke_node renamed = *at;
    renamed.text = entry != NULL ? entry : at->text;
    yoke__text_string(t, at == coupling->first ? "" : ", ");
    add_key(t, at->key);
    add_node(t, &renamed);
  }
  yoke__text_string(t, "}");
}

// Connections of which there is more to say, and those that SSP cannot have.
static void add_connections(yoke_text* t, ssp_export* e, const ssp_export_extra* extras) {
  yoke__text_string(t, extras == NULL ? "" : "connections:\n");
  for (const ssp_export_extra* at = extras; at != NULL; at = at->next) {
    const yoke_scenario_connection* c = at->source;
    yoke__text_string(t, "  - {from: ");
    add_quoted(t, at->from);
    yoke__text_string(t, ", to: ");
    add_quoted(t, at->to);
    const struct {
      const char* key;
      bool is_given;
      double value;
    } numbers[] = {{"gain", c->gain != 1, c->gain},
                   {"offset", c->offset != 0, c->offset},
                   {"order", c->has_order, c->order},
                   {"delay", c->delay.is_given, c->delay.value},
                   {"exchange", c->exchange.is_given, c->exchange.value}};
    for (size_t i = 0; i < YOKE_COUNT(numbers); i++) {
      char number[YOKE_NUMBER_SIZE];
      yoke__number_format(numbers[i].value, number);
      if (numbers[i].is_given) {
        yoke__text_add(t, ", %s: %s", numbers[i].key, number);
      }
    }
    if (c->is_held || c->is_auto) {
      yoke__text_add(t, ", method: %s", c->is_held ? "hold" : "auto");
    }
    if (c->average != YOKE_AVERAGE_BY_RULE) {
      yoke__text_add(t, ", average: %s", c->average == YOKE_AVERAGE_YES ? "true" : "false");
    }
    if (c->coupling != NULL) {
      yoke__text_string(t, ", coupling: ");
      add_coupling(t, e, yoke__ssp_export_connection_name(e, c), c->coupling);
    }
    yoke__text_string(t, "}\n");
  }
}

// The array that a pattern names, if it is single variables in its FMU; else NULL.
static const yoke_variable* find_flat_array(const ssp_export* e, const char* pattern) {
  for (size_t i = 0; i < e->n_units; i++) {
    const size_t n = strlen(e->units[i].source->name);
    if (!e->units[i].is_flat || strncmp(pattern, e->units[i].source->name, n) != 0 ||
        pattern[n] != '.') {
      continue;
    }
    const size_t index = yoke__unit_find(e->units[i].unit, pattern + n + 1);
    const yoke_variable* v = index == (size_t)-1 ? NULL : &e->units[i].unit->info->variables[index];
    return v != NULL && yoke__variable_count(v) > 1 ? v : NULL;
  }
  return NULL;
}

// One pattern, or the names of all elements of the array that it is.
static void add_pattern(yoke_text* t, ssp_export* e, const char* pattern) {
  const yoke_variable* v = find_flat_array(e, pattern);
  if (v == NULL) {
    add_quoted(t, pattern);
    return;
  }
  const int n_unit = (int)(strchr(pattern, '.') - pattern);
  for (size_t i = 0; i < yoke__variable_count(v); i++) {
    yoke__text_string(t, i == 0 ? "" : ", ");
    add_quoted(
        t, yoke__ssp_export_text(e, "%.*s.%s", n_unit, pattern, yoke__ssp_export_element(e, v, i)));
  }
}

static void add_record(yoke_text* t, ssp_export* e, const yoke_node* record) {
  static const char* const without[] = {"signals", NULL};
  const yoke_node* signals = yoke__node_child(record, "signals");
  if (record->kind != YOKE_NODE_MAP) {
    return;
  }
  yoke__text_string(t, "record: {");
  if (signals != NULL) {
    const yoke_scenario* s = e->job->scenario;
    yoke__text_string(t, "signals: [");
    for (size_t i = 0; i < s->n_record_signals; i++) {
      yoke__text_string(t, i == 0 ? "" : ", ");
      add_pattern(t, e, s->record_signals[i].text);
    }
    yoke__text_string(t, "]");
  }
  (void)add_entries(t, record, without, signals == NULL ? "" : ", ");
  yoke__text_string(t, "}\n");
}

// ---------------------------------------------------------------------------------------------------------
// bonds

// a.x[0], or a."odd name"
static void add_endpoint(yoke_text* t, ssp_export* e, const yoke_scenario_endpoint* endpoint,
                         const char* variable) {
  yoke_text quoted = {0};
  yoke__text_string(t, endpoint->unit);
  yoke__text_string(t, ".");
  if (strpbrk(variable, " \t\n\"\\") == NULL && strstr(variable, "->") == NULL) {
    yoke__text_string(t, variable);
    return;
  }
  add_quoted(&quoted, variable);
  yoke__text_string(t, quoted.status < 0 ? "" : quoted.bytes);
  e->is_out_of_memory |= quoted.status < 0;
  yoke__text_free(&quoted);
}

// One pair, of arrays in single variables as many as there are elements.
static void add_pair(yoke_text* t, ssp_export* e, const yoke_scenario_pair* pair) {
  ssp_export_end from = {0}, to = {0};
  const bool has_to = pair->has_to && yoke__ssp_export_end(e, &pair->to, &to);
  if (!yoke__ssp_export_end(e, &pair->from, &from)) {
    return;
  }
  const bool is_split = yoke__ssp_export_is_split(&from, has_to ? &to : NULL);
  for (size_t i = 0; i < (is_split ? from.n : 1); i++) {
    yoke_text word = {0};
    add_endpoint(&word, e, &pair->from,
                 is_split ? yoke__ssp_export_element(e, from.variable, i) : pair->from.variable);
    if (has_to) {
      yoke__text_string(&word, " -> ");
      add_endpoint(&word, e, &pair->to,
                   is_split ? yoke__ssp_export_element(e, to.variable, i) : pair->to.variable);
    }
    yoke__text_string(t, i == 0 ? "" : ", ");
    add_quoted(t, word.status < 0 ? "" : word.bytes);
    e->is_out_of_memory |= word.status < 0;
    yoke__text_free(&word);
  }
}

static void add_pairs(yoke_text* t, ssp_export* e, const char* key,
                      const yoke_scenario_pair pairs[], size_t n) {
  yoke__text_add(t, "%s: [", key);
  for (size_t i = 0; i < n; i++) {
    yoke__text_string(t, i == 0 ? "" : ", ");
    add_pair(t, e, &pairs[i]);
  }
  yoke__text_string(t, "]");
}

static void add_bonds(yoke_text* t, ssp_export* e, const yoke_node* section) {
  static const char* const without[] = {"action", "rate", "coupling", NULL};
  const yoke_scenario* s = e->job->scenario;
  yoke__text_string(t, "bonds:\n");
  for (const yoke_node* node = section->first; node != NULL; node = node->next) {
    const yoke_scenario_bond* bond = NULL;
    for (size_t i = 0; i < s->n_bonds && bond == NULL; i++) {
      bond = strcmp(s->bonds[i].name, node->key) == 0 ? &s->bonds[i] : NULL;
    }
    yoke__text_string(t, "  ");
    add_key(t, node->key);
    if (bond == NULL || bond->is_refused || node->kind != YOKE_NODE_MAP) {
      add_node(t, node);
      yoke__text_string(t, "\n");
      continue;
    }
    yoke__text_string(t, "{");
    add_pairs(t, e, "action", bond->action, bond->n_action);
    add_pairs(t, e, ", rate", bond->rate, bond->n_rate);
    (void)add_entries(t, node, without, ", ");
    if (bond->coupling != NULL) {
      yoke__text_string(t, ", coupling: ");
      add_coupling(t, e, yoke__ssp_export_bond_name(e, bond), bond->coupling);
    }
    yoke__text_string(t, "}\n");
  }
}

// ---------------------------------------------------------------------------------------------------------
// all of it

// Names of laws and couplings on lines of their own.
static void add_named(yoke_text* t, const yoke_node* section) {
  add_key(t, section->key);
  t->n -= t->status < 0 ? 0 : 1;  // no space at the end of the line
  yoke__text_string(t, "\n");
  for (const yoke_node* at = section->first; at != NULL; at = at->next) {
    yoke__text_string(t, "  ");
    add_key(t, at->key);
    add_node(t, at);
    yoke__text_string(t, "\n");
  }
}

static void add_couplings(yoke_text* t, ssp_export* e, const yoke_node* section) {
  yoke__text_string(t, "couplings:\n");
  for (const yoke_node* c = section->first; c != NULL; c = c->next) {
    yoke__text_string(t, "  ");
    add_key(t, c->key);
    add_coupling(t, e, c->key, c);
    yoke__text_string(t, "\n");
  }
}

char* yoke__ssp_export_annotation(ssp_export* e) {
  static const char* const without[] = {"yoke", "name", "text", "connections", NULL};
  const yoke_node* tree = e->job->scenario->tree;
  yoke_text t = {0};
  yoke__text_string(&t, "\n");
  for (const yoke_node* at = tree->first; at != NULL; at = at->next) {
    if (is_among(at->key, without) || at->is_refused) {
      continue;
    }
    if (strcmp(at->key, "time") == 0) {
      add_time(&t, at);
    } else if (strcmp(at->key, "units") == 0) {
      add_units(&t, e, at);
    } else if (strcmp(at->key, "record") == 0) {
      add_record(&t, e, at);
    } else if (strcmp(at->key, "bonds") == 0 && at->kind == YOKE_NODE_MAP) {
      add_bonds(&t, e, at);
    } else if (strcmp(at->key, "couplings") == 0 && at->kind == YOKE_NODE_MAP) {
      add_couplings(&t, e, at);
    } else if (at->kind == YOKE_NODE_MAP && at->n_children > 0) {
      add_named(&t, at);
    } else {
      add_key(&t, at->key);
      add_node(&t, at);
      yoke__text_string(&t, "\n");
    }
  }
  add_connections(&t, e, e->extras);
  if (t.status < 0) {
    yoke__text_free(&t);
    return NULL;
  }
  return t.bytes;
}
