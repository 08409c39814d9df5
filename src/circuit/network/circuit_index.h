// Names of a network to indices, and the room of its growing arrays. Only for circuit_build.c,
// circuit_network.c and circuit_topology*.c.
//
// Hash tables with open addressing that ignore case (ASCII), at most half full; they hold indices,
// the names themselves stay in the network's arrays.
#ifndef YOKE_CIRCUIT_INDEX_H
#define YOKE_CIRCUIT_INDEX_H

#include "circuit/network/circuit_network.h"

// What is looked up by name.
typedef enum yoke_name_kind {
  YOKE_NAME_NODE,
  YOKE_NAME_ELEMENT,
  YOKE_NAME_FIXED,  // temperature sources; the index is their node
  YOKE_NAME_N_KINDS,
} yoke_name_kind;

typedef struct yoke_name_slot {
  uint32_t hash;
  uint32_t index;  // YOKE_NO_INDEX: empty
} yoke_name_slot;

typedef struct yoke_name_table {
  yoke_name_slot* slots;
  uint32_t mask, n;
} yoke_name_table;

// A second source on a node that is fixed already.
typedef struct yoke_refix {
  uint32_t node;
  const char* name;
  yoke_place place;
} yoke_refix;

#define YOKE_INDEX_N_KEPT 8

typedef struct yoke_network_index {
  yoke_name_table names[YOKE_NAME_N_KINDS];
  size_t node_room, element_room, mutual_room, input_room, output_room, save_room, refix_room;
  yoke_refix* refixes;
  uint32_t n_refixes;
  char* text;  // room for short texts: first free byte, and how many are left
  size_t text_room;
  const void* kept[YOKE_INDEX_N_KEPT];  // the last waves and laws copied
  uint32_t n_kept;
  const void *last_junction, *last_switch;  // the last models copied
  const char* source;                       // the last place's file name
} yoke_network_index;

// Adds what has just been given a name; what has it already stays. YOKE_NO_MEMORY: nothing is
// changed.
yoke_status yoke__index_add(yoke_network* network, yoke_name_kind kind, uint32_t index);
// The first n characters are the name. YOKE_NO_INDEX if there is none.
uint32_t yoke__index_find(const yoke_network* network, yoke_name_kind kind, const char* name,
                          size_t n);

#endif
