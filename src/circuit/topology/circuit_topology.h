// What the files of circuit_topology share: the network as a graph. Not for others.
//
// Vertex 0 is ground and every fixed node (they are one point: all potentials given); other
// vertices are the nodes. Edges are the elements, sorted into classes by what they fix: a voltage,
// a current, or both together.
#ifndef YOKE_CIRCUIT_TOPOLOGY_H
#define YOKE_CIRCUIT_TOPOLOGY_H

#include "circuit/network/circuit_network.h"

// "Driven" sources depend on voltages or currents of the network.
enum {
  YOKE_EDGE_SOURCE_V = 1,
  YOKE_EDGE_DRIVEN_V = 2,
  YOKE_EDGE_SOURCE_I = 4,
  YOKE_EDGE_DRIVEN_I = 8,
  YOKE_EDGE_CONDUCT = 16,  // resistors, and switches that leak when open
  YOKE_EDGE_CAPACITOR = 32,
  YOKE_EDGE_INDUCTOR = 64,
  YOKE_EDGE_JUNCTION = 128,
  YOKE_EDGE_GATE = 256,  // switches that do not leak
  YOKE_EDGE_ANY = 511,
};

typedef struct yoke_edge {
  uint32_t a, b;
  uint16_t kind;   // one of the bits above
  bool is_sensed;  // its current is used by another element's equation
} yoke_edge;

// Two vertices whose difference appears in a driven source's equation.
typedef struct yoke_sense {
  uint32_t a, b;
} yoke_sense;

typedef struct yoke_topology {
  const yoke_network* network;
  yoke_messages* messages;
  yoke_arena arena;  // everything below
  uint32_t n_nodes, n_edges, n_senses;
  yoke_edge* edges;    // of each element
  yoke_sense* senses;  // n_senses
  uint32_t* degree;    // of each node: terminals, senses and probes on it
  uint32_t* root;      // of each vertex, for one union-find at a time
  bool* is_reported;   // of each node: lies in a part that an error was reported for
  bool is_started;     // an operating point is wanted: .tran without uic
} yoke_topology;

// How messages list names: "'a', 'b' and 3 more".
#define YOKE_LIST_SIZE 512
typedef struct yoke_name_list {
  char text[YOKE_LIST_SIZE];
  size_t used;
  uint32_t n_shown, n;
} yoke_name_list;

// name NULL: only counted.
void yoke__list_add(yoke_name_list* list, const char* name);
const char* yoke__list_finish(yoke_name_list* list);

// Union-find on self->root; a root is the smallest vertex of its set, so that vertex 0's is 0.
void yoke__sets_reset(yoke_topology* self);
bool yoke__sets_join(yoke_topology* self, uint32_t a, uint32_t b);  // false: they were one already

// The value of an independent source at t = 0; NaN if it follows from a law.
double yoke__topology_start_value(const yoke_circuit_value* value);

// The checks; messages only. YOKE_NO_MEMORY, else YOKE_OK.
yoke_status yoke__topology_check_values(yoke_topology* self);   // circuit_topology_values.c
yoke_status yoke__topology_check_mutuals(yoke_topology* self);  // circuit_topology_mutual.c
yoke_status yoke__topology_check_parts(yoke_topology* self);    // circuit_topology_parts.c
yoke_status yoke__topology_check_loops(yoke_topology* self);    // circuit_topology_loops.c

#endif
