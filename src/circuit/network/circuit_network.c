// Names of a network: look-up without regard to case, and probes from their text.
//
// Hash: FNV-1a (Fowler, Noll, Vo), 32 bits, over lower-case bytes.
#include "circuit/network/circuit_network.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "circuit/network/circuit_index.h"

#define MAX_COMPARED 2000000u  // names compared for hints over all messages: about a quarter second
#define MAX_SHOWN    80        // characters of a name in a message

static char lower(char c) {
  return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static uint32_t hash_of(const char* name, size_t n) {
  // offset basis and prime of FNV-1a with 32 bits
  uint32_t hash = UINT32_C(2166136261);
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ (unsigned char)lower(name[i])) * UINT32_C(16777619);
  }
  return hash;
}

// name has n characters, other ends with NUL
static bool is_same(const char* name, size_t n, const char* other) {
  for (size_t i = 0; i < n; i++) {
    if (other[i] == '\0' || lower(name[i]) != lower(other[i])) {
      return false;
    }
  }
  return other[n] == '\0';
}

static const char* name_of(const yoke_network* network, yoke_name_kind kind, uint32_t index) {
  if (kind == YOKE_NAME_ELEMENT) {
    return network->elements[index].name;
  }
  return kind == YOKE_NAME_NODE ? network->nodes[index].name : network->nodes[index].fixed_name;
}

// the slot of the name, or the empty one where it belongs
static yoke_name_slot* slot_of(const yoke_network* network, yoke_name_kind kind, uint32_t hash,
                               const char* name, size_t n) {
  const yoke_name_table* table = &network->index->names[kind];
  uint32_t at = hash & table->mask;

  // linear probing: the name is at its hash or behind it, before the first empty slot; hashes are
  // compared first, they rarely agree by chance
  while (table->slots[at].index != YOKE_NO_INDEX &&
         (table->slots[at].hash != hash ||
          !is_same(name, n, name_of(network, kind, table->slots[at].index)))) {
    at = (at + 1) & table->mask;
  }
  return &table->slots[at];
}

// twice the room, or the first
static yoke_status grow(yoke_name_table* table) {
  const size_t room = table->slots == NULL ? 64 : 2 * ((size_t)table->mask + 1);
  if (room > UINT32_MAX / 2) {
    return YOKE_NO_MEMORY;
  }
  yoke_name_slot* slots = malloc(room * sizeof *slots);
  YOKE_TRY_MEMORY(slots);
  memset(slots, 0xff, room * sizeof *slots);  // every index YOKE_NO_INDEX

  // all names are different: no comparison needed
  const uint32_t mask = (uint32_t)(room - 1);
  for (size_t i = 0; table->slots != NULL && i <= table->mask; i++) {
    if (table->slots[i].index != YOKE_NO_INDEX) {
      uint32_t at = table->slots[i].hash & mask;
      while (slots[at].index != YOKE_NO_INDEX) {
        at = (at + 1) & mask;
      }
      slots[at] = table->slots[i];
    }
  }
  free(table->slots);
  table->slots = slots;
  table->mask = mask;
  return YOKE_OK;
}

yoke_status yoke__index_add(yoke_network* network, yoke_name_kind kind, uint32_t index) {
  yoke_name_table* table = &network->index->names[kind];

  // at most half full: searches are short, and there is always an empty slot where they end
  if (table->slots == NULL || 2 * (size_t)table->n > table->mask) {
    YOKE_TRY(grow(table));
  }
  const char* name = name_of(network, kind, index);
  const size_t n = strlen(name);
  const uint32_t hash = hash_of(name, n);
  yoke_name_slot* slot = slot_of(network, kind, hash, name, n);
  if (slot->index == YOKE_NO_INDEX) {
    *slot = (yoke_name_slot){hash, index};
    table->n++;
  }
  return YOKE_OK;
}

uint32_t yoke__index_find(const yoke_network* network, yoke_name_kind kind, const char* name,
                          size_t n) {
  if (network->index->names[kind].slots == NULL) {
    return YOKE_NO_INDEX;
  }
  return slot_of(network, kind, hash_of(name, n), name, n)->index;
}

// "gnd" is another name of node 0
static uint32_t find_node(const yoke_network* network, const char* name, size_t n) {
  return is_same(name, n, "gnd") ? 0 : yoke__index_find(network, YOKE_NAME_NODE, name, n);
}

// Also "r.x1.r1" for "x1.r1": SPICE puts the letter of the element in front of names inside
// subcircuits.
static uint32_t find_element(const yoke_network* network, yoke_name_kind kind, const char* name,
                             size_t n) {
  const uint32_t found = yoke__index_find(network, kind, name, n);
  if (found != YOKE_NO_INDEX || n < 5 || name[1] != '.') {
    return found;
  }

  // the last part of the name has the letter: r.x1.r1
  size_t last = n;
  while (name[last - 1] != '.') {
    last--;
  }
  if (last == 2 || last == n || lower(name[last]) != lower(name[0])) {
    return YOKE_NO_INDEX;
  }
  return yoke__index_find(network, kind, name + 2, n - 2);
}

uint32_t yoke__network_find_node(const yoke_network* network, const char* name) {
  return find_node(network, name, strlen(name));
}

uint32_t yoke__network_outer_end(const yoke_network* network, uint32_t element) {
  const yoke_element* at = &network->elements[element];
  const yoke_element* next = at + 1;
  const bool is_series = at->kind == YOKE_JUNCTION && network->nodes[at->b].is_internal &&
                         element + 1 < network->n_elements && next->is_internal && next->a == at->b;
  return is_series ? next->b : at->b;
}

uint32_t yoke__network_find_element(const yoke_network* network, const char* name) {
  return yoke__index_find(network, YOKE_NAME_ELEMENT, name, strlen(name));
}

// ---- probes

// A probe's text taken apart: a letter and one or two names.
typedef struct probe_text {
  char letter;
  int n_names;
  const char* names[2];
  size_t sizes[2];
} probe_text;

// A search for a probe: what is constant on the way.
typedef struct search {
  const yoke_network* network;
  const char* text;
  yoke_place place;
  yoke_messages* messages;
  yoke_arena* arena;
} search;

// "x(a)" or "x(a,b)", blanks anywhere between; false if it is not of this form
static bool split_probe(const char* text, probe_text* parts) {
  const char* at = text;
  while (yoke__is_blank(*at)) {
    at++;
  }
  *parts = (probe_text){.letter = lower(*at)};
  at += *at != '\0';
  while (yoke__is_blank(*at)) {
    at++;
  }
  char end = '(';
  while (*at == end || *at == ',') {
    if (parts->n_names == 2 || (*at == ',' && parts->n_names == 0)) {
      return false;
    }

    // a name without the blanks around it
    at++;
    while (yoke__is_blank(*at)) {
      at++;
    }
    const char* name = at;
    at += strcspn(at, ",()");
    size_t n = (size_t)(at - name);
    while (n > 0 && yoke__is_blank(name[n - 1])) {
      n--;
    }
    if (n == 0) {
      return false;
    }
    parts->names[parts->n_names] = name;
    parts->sizes[parts->n_names++] = n;
    end = ',';
  }
  if (parts->n_names == 0 || *at != ')') {
    return false;
  }
  at++;
  while (yoke__is_blank(*at)) {
    at++;
  }
  return *at == '\0';
}

// the known name nearest to the one given, or NULL; names: n, NULL where there is none
static const char* nearest(const search* s, const char* name, size_t n, bool is_node) {
  const yoke_network* network = s->network;
  const size_t n_names =
      is_node ? network->n_nodes : (size_t)network->n_elements + network->n_nodes;

  // a hint compares with every name: many errors in a large network share one budget
  if (n_names > MAX_COMPARED / (s->messages->n_errors + 1)) {
    return NULL;
  }
  const char** names = malloc((n_names + 1) * sizeof *names);
  char* copy = malloc(n + 1);
  const char* found = NULL;
  if (names != NULL && copy != NULL) {
    memcpy(copy, name, n);
    copy[n] = '\0';
    size_t used = 0;
    for (uint32_t i = 0; !is_node && i < network->n_elements; i++) {
      names[used++] = network->elements[i].is_internal ? NULL : network->elements[i].name;
    }
    for (uint32_t i = 0; i < network->n_nodes; i++) {
      const yoke_network_node* node = &network->nodes[i];
      names[used++] = !is_node ? node->fixed_name : node->is_internal ? NULL : node->name;
    }
    found = yoke__nearest_name(copy, names, used);
  }
  free(names);
  free(copy);
  return found;
}

static yoke_status unknown(const search* s, const char* name, size_t n, bool is_node) {
  const char* hint = yoke__messages_is_full(s->messages) ? NULL : nearest(s, name, n, is_node);
  yoke__error_near(s->messages, s->place, hint, "%s: there is no %s '%.*s'", s->text,
                   is_node ? "node" : "element", (int)(n < MAX_SHOWN ? n : MAX_SHOWN), name);
  return YOKE_BAD_INPUT;
}

static yoke_status refuse(const search* s, const char* why) {
  yoke__error(s->messages, s->place, "'%.*s': %s", MAX_SHOWN, s->text, why);
  return YOKE_BAD_INPUT;
}

// "v(first)" or, where second is not empty, "v(first,second)" in the arena
static yoke_status name_probe(const search* s, char letter, const char* first, const char* second,
                              yoke_probe* out) {
  const size_t size = strlen(first) + strlen(second) + 5;
  char* name = yoke__arena_take(s->arena, size);
  YOKE_TRY(yoke__arena_status(s->arena));
  snprintf(name, size, "%c(%s%s%s)", letter, first, second[0] == '\0' ? "" : ",", second);
  out->name = name;
  return YOKE_OK;
}

static yoke_status find_potential(const search* s, const probe_text* parts, yoke_probe* out) {
  const yoke_network* network = s->network;
  uint32_t nodes[2] = {0, 0};
  for (int i = 0; i < parts->n_names; i++) {
    nodes[i] = find_node(network, parts->names[i], parts->sizes[i]);
    if (nodes[i] == YOKE_NO_INDEX) {
      return unknown(s, parts->names[i], parts->sizes[i], true);
    }
  }

  // ground belongs to both domains
  const yoke_network_node* first = &network->nodes[nodes[0]];
  const yoke_network_node* second = &network->nodes[nodes[1]];
  const bool is_thermal = (nodes[0] != 0 ? first : second)->domain == YOKE_THERMAL;
  if (nodes[0] != 0 && nodes[1] != 0 && first->domain != second->domain) {
    return refuse(s, "a voltage and a temperature have no difference");
  }
  if (parts->letter == 't' && !is_thermal) {
    return refuse(s, "not a node of a thermal network; voltages are v(node)");
  }
  const bool is_single = parts->n_names == 1;
  out->kind = is_single ? YOKE_PROBE_VOLTAGE : YOKE_PROBE_DIFFERENCE;
  out->dim = is_thermal ? "K" : "V";
  out->index = nodes[0];
  out->other = is_single ? YOKE_NO_INDEX : nodes[1];
  return name_probe(s, parts->letter, first->name, is_single ? "" : second->name, out);
}

static yoke_status find_flow(const search* s, const probe_text* parts, yoke_probe* out) {
  const yoke_network* network = s->network;
  const char* name = parts->names[0];
  const size_t n = parts->sizes[0];
  if (parts->n_names != 1) {
    return refuse(s, "one element is expected, e.g. i(r1)");
  }
  const uint32_t element = find_element(network, YOKE_NAME_ELEMENT, name, n);
  if (element == YOKE_NO_INDEX) {
    // a temperature source is no element: what it gives leaves its node
    const uint32_t node = find_element(network, YOKE_NAME_FIXED, name, n);
    if (node == YOKE_NO_INDEX) {
      return unknown(s, name, n, false);
    }
    if (parts->letter == 'p') {
      return refuse(s, "the heat flow of a temperature source is i(name)");
    }
    out->kind = YOKE_PROBE_FLOW;
    out->dim = network->nodes[node].domain == YOKE_THERMAL ? "W" : "A";
    out->index = node;
    return name_probe(s, parts->letter, network->nodes[node].fixed_name, "", out);
  }
  const bool is_thermal = network->elements[element].domain == YOKE_THERMAL;
  if (parts->letter == 'p' && is_thermal) {
    return refuse(s, "a heat flow is a power already: i(name)");
  }
  out->kind = parts->letter == 'p' ? YOKE_PROBE_POWER : YOKE_PROBE_CURRENT;
  out->dim = parts->letter == 'p' || is_thermal ? "W" : "A";
  out->index = element;
  return name_probe(s, parts->letter, network->elements[element].name, "", out);
}

yoke_status yoke__network_find_probe(const yoke_network* network, const char* text,
                                     yoke_place place, yoke_messages* messages, yoke_arena* arena,
                                     yoke_probe* out) {
  const search s = {network, text, place, messages, arena};
  probe_text parts;
  *out = (yoke_probe){.index = YOKE_NO_INDEX, .other = YOKE_NO_INDEX, .place = place};
  if (split_probe(text, &parts)) {
    if (parts.letter == 'v' || parts.letter == 't') {
      return find_potential(&s, &parts, out);
    }
    if (parts.letter == 'i' || parts.letter == 'p') {
      return find_flow(&s, &parts, out);
    }
  }
  return refuse(&s, "not a quantity; expected v(node), v(node,node), t(node), i(element) or "
                    "p(element)");
}

void yoke__circuit_reason_set(yoke_circuit_reason* reason, const yoke_network* network,
                              uint32_t unknown, const char* format, ...) {
  const bool is_node = unknown < network->n_nodes;
  const char* name = "";
  reason->place = (yoke_place){.source = network->path};
  if (is_node || unknown - network->n_nodes < network->n_elements) {
    const yoke_element* element = is_node ? NULL : &network->elements[unknown - network->n_nodes];
    const yoke_place* place = is_node ? &network->nodes[unknown].place : &element->place;
    name = is_node ? network->nodes[unknown].name : element->name;
    reason->place = place->source == NULL ? reason->place : *place;
  }
  (void)snprintf(reason->variable, sizeof reason->variable, "%s", name);
  va_list args;
  va_start(args, format);
  (void)vsnprintf(reason->text, sizeof reason->text, format, args);
  va_end(args);
}

void yoke__circuit_reason_send(const yoke_circuit_reason* reason, yoke_status status,
                               const yoke_sink* sink) {
  const yoke_message message = {
      .severity = YOKE_ERROR,
      .status = status,
      .file = reason->place.source,
      .line = reason->place.line,
      .column = reason->place.column,
      .variable = reason->variable[0] == '\0' ? NULL : reason->variable,
      .time = (double)NAN,
      .text = reason->text,
  };
  if (reason->text[0] != '\0') {
    yoke_send(sink, &message);
  }
}
