// What the tests of the netlist reader share: reading a text, and asking what came out.
#ifndef TEST_CIRCUIT_NETLIST_H
#define TEST_CIRCUIT_NETLIST_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circuit/netlist/circuit_netlist.h"
#include "support/check.h"

typedef struct reading {
  yoke_status status;
  yoke_network* network;
  yoke_messages messages;
  char text[16384];  // the messages
} reading;

static inline void read_bytes_with(reading* r, const char* text, size_t n,
                                   const yoke_netlist_settings* settings) {
  memset(r, 0, sizeof *r);
  r->status = yoke__netlist_read_text(text, n, settings, &r->messages, &r->network);
  yoke__messages_format(&r->messages, r->text, sizeof r->text);
  assert_int_equal(r->status == YOKE_OK, r->network != NULL);
}

static inline void read_netlist(reading* r, const char* text) {
  const yoke_netlist_settings settings = {.path = "x.cir"};
  read_bytes_with(r, text, strlen(text), &settings);
}

// Fails with the messages unless the text is a good netlist.
static inline void read_good(reading* r, const char* text) {
  read_netlist(r, text);
  if (r->status != YOKE_OK) {
    fail_msg("status %d:\n%s", r->status, r->text);
  }
}

static inline void free_reading(reading* r) {
  yoke__network_destroy(&r->network);
  yoke__messages_free(&r->messages);
}

static inline const yoke_element* element_of(const reading* r, const char* name) {
  const uint32_t index = yoke__network_find_element(r->network, name);
  if (index == YOKE_NO_INDEX) {
    fail_msg("there is no element '%s'", name);
  }
  return &r->network->elements[index];
}

static inline const yoke_network_node* node_of(const reading* r, const char* name) {
  const uint32_t index = yoke__network_find_node(r->network, name);
  if (index == YOKE_NO_INDEX) {
    fail_msg("there is no node '%s'", name);
  }
  return &r->network->nodes[index];
}

static inline double value_of(const reading* r, const char* name) {
  return element_of(r, name)->value.constant;
}

// "a b": the nodes of an element
static inline void check_nodes(const reading* r, const char* name, const char* a, const char* b) {
  const yoke_element* element = element_of(r, name);
  assert_string_equal(r->network->nodes[element->a].name, a);
  assert_string_equal(r->network->nodes[element->b].name, b);
}

// Value of a law; every live quantity by a rule of the test.
static inline double evaluate_law(const yoke_expression* law,
                                  double (*value)(const yoke_live* live, void* self), void* self) {
  double live[YOKE_EXPRESSION_MAX_LIVE];
  for (uint32_t i = 0; i < law->n_live; i++) {
    live[i] = value(&law->live[i], self);
  }
  return yoke__expression_evaluate(law, live, NULL);
}

#endif
