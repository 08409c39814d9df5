// Strongly connected components by Tarjan's algorithm, without recursion.
#include "system/system_digraph.h"

#include <stdlib.h>
#include <string.h>

#include "yoke/status.h"

void yoke__digraph_free(yoke_digraph* g) {
  free(g->first);
  free(g->edges);
  free(g->order);
  free(g->component);
  free(g->index);
  free(g->low);
  free(g->stack);
  free(g->path);
  free(g->next_edge);
  free(g->is_on_stack);
  *g = (yoke_digraph){0};
}

yoke_status yoke__digraph_allocate(yoke_digraph* g, size_t n_nodes, size_t max_edges) {
  const size_t n = n_nodes + 2;
  *g = (yoke_digraph){.n = n_nodes};
  g->first = calloc(n, sizeof *g->first);
  g->edges = calloc(max_edges + 1, sizeof *g->edges);
  g->order = calloc(n, sizeof *g->order);
  g->component = calloc(n, sizeof *g->component);
  g->index = calloc(n, sizeof *g->index);
  g->low = calloc(n, sizeof *g->low);
  g->stack = calloc(n, sizeof *g->stack);
  g->path = calloc(n, sizeof *g->path);
  g->next_edge = calloc(n, sizeof *g->next_edge);
  g->is_on_stack = calloc(n, sizeof *g->is_on_stack);
  return g->first != NULL && g->edges != NULL && g->order != NULL && g->component != NULL &&
                 g->index != NULL && g->low != NULL && g->stack != NULL && g->path != NULL &&
                 g->next_edge != NULL && g->is_on_stack != NULL
             ? YOKE_OK
             : YOKE_NO_MEMORY;
}

void yoke__digraph_clear(yoke_digraph* g) {
  memset(g->first, 0, (g->n + 2) * sizeof *g->first);
}

void yoke__digraph_add(yoke_digraph* g, size_t from, size_t to, bool is_counting) {
  if (is_counting) {
    g->first[from + 1]++;
  } else {
    g->edges[g->next_edge[from]++] = to;
  }
}

void yoke__digraph_end_count(yoke_digraph* g) {
  for (size_t i = 0; i < g->n; i++) {
    g->first[i + 1] += g->first[i];
    g->next_edge[i] = g->first[i];
  }
}

// everything on the stack down to v is one component
static void pop_component(yoke_digraph* g, size_t v, size_t* n_stack, size_t* n_order) {
  size_t w = 0;
  do {
    w = g->stack[--*n_stack];
    g->is_on_stack[w] = false;
    g->component[w] = g->n_components;
    g->order[(*n_order)++] = w;
  } while (w != v);
  g->n_components++;
}

// `path` is the call stack
void yoke__digraph_sort(yoke_digraph* g) {
  memset(g->index, 0, g->n * sizeof *g->index);
  memset(g->is_on_stack, 0, g->n * sizeof *g->is_on_stack);
  g->n_components = 0;
  size_t counter = 0, n_stack = 0, n_order = 0;
  for (size_t root = 0; root < g->n; root++) {
    if (g->index[root] != 0) {
      continue;
    }
    size_t depth = 0;
    g->path[depth] = root;
    g->next_edge[root] = g->first[root];
    g->index[root] = g->low[root] = ++counter;
    g->stack[n_stack++] = root;
    g->is_on_stack[root] = true;
    for (;;) {
      const size_t v = g->path[depth];
      if (g->next_edge[v] < g->first[v + 1]) {
        const size_t w = g->edges[g->next_edge[v]++];
        if (g->index[w] == 0) {
          g->index[w] = g->low[w] = ++counter;
          g->next_edge[w] = g->first[w];
          g->stack[n_stack++] = w;
          g->is_on_stack[w] = true;
          g->path[++depth] = w;
        } else if (g->is_on_stack[w] && g->index[w] < g->low[v]) {
          g->low[v] = g->index[w];
        }
        continue;
      }
      if (g->low[v] == g->index[v]) {
        pop_component(g, v, &n_stack, &n_order);
      }
      if (depth == 0) {
        break;
      }
      const size_t parent = g->path[--depth];
      g->low[parent] = g->low[v] < g->low[parent] ? g->low[v] : g->low[parent];
    }
  }
}
