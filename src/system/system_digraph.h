// A directed graph in compressed rows, and its strongly connected components.
#ifndef YOKE_SYSTEM_DIGRAPH_H
#define YOKE_SYSTEM_DIGRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "yoke/status.h"

typedef struct yoke_digraph {
  size_t n;       // nodes
  size_t* first;  // per node: its first edge; n + 1 entries
  size_t* edges;  // where they lead
  // results of yoke__digraph_sort
  size_t* order;      // nodes; where edges lead comes first
  size_t* component;  // per node
  size_t n_components;
  // work
  size_t *index, *low, *stack, *path, *next_edge;
  bool* is_on_stack;
} yoke_digraph;

// Free it also after a failure.
yoke_status yoke__digraph_allocate(yoke_digraph* graph, size_t n, size_t max_edges);
void yoke__digraph_free(yoke_digraph* graph);

// Edges are given twice, first counted and then written: clear, add each (counting), end_count, add each.
void yoke__digraph_clear(yoke_digraph* graph);
void yoke__digraph_add(yoke_digraph* graph, size_t from, size_t to, bool is_counting);
void yoke__digraph_end_count(yoke_digraph* graph);

// Order and components at once. The nodes of a component follow each other in the order.
void yoke__digraph_sort(yoke_digraph* graph);

#endif
