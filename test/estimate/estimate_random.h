// Random thermal networks.
#ifndef YOKE_TEST_ESTIMATE_RANDOM_H
#define YOKE_TEST_ESTIMATE_RANDOM_H

#include "estimate_benchmarks.h"

enum { N_NODES = 14, N_RESISTORS = 30, N_SOURCES = 4, N_INPUTS = 6 };

typedef struct random_network {
  yoke_heat_node nodes[N_NODES];
  yoke_heat_resistor resistors[N_RESISTORS];
  yoke_heat_capacity capacities[N_NODES];
  yoke_heat_source sources[N_SOURCES];
  double g[N_RESISTORS], c[N_NODES];
  yoke_heat_network network;
} random_network;

static const char* const input_names[N_INPUTS] = {"a", "b", "c", "d", "e", "f"};

static inline double random_log(uint64_t* seed, double low, double high) {
  return exp(random_between(seed, log(low), log(high)));
}

static inline uint32_t random_below(uint64_t* seed, size_t n) {
  return (uint32_t)(random_uniform(seed) * (double)n);
}

// A tree that reaches everything plus some more resistors, parallel ones too; nodes of all three kinds in any order, at least one
// with a capacity.
static inline void make_random(random_network* w, uint64_t* seed) {
  const size_t n = 2 + random_below(seed, N_NODES - 2);
  size_t n_resistors = 0, n_capacities = 0;
  const size_t first = random_below(seed, n);
  for (size_t k = 0; k < n; k++) {
    const double kind = random_uniform(seed);
    const bool is_fixed = kind < 0.2 && k != first;
    w->nodes[k] = (yoke_heat_node){"node", is_fixed ? random_below(seed, N_INPUTS) : FREE_NODE};
    if (k == first || kind > 0.6) {
      w->capacities[n_capacities] = (yoke_heat_capacity){"c", (uint32_t)k};
      w->c[n_capacities++] = random_log(seed, 0.1, 1000);
    }
    if (k > 0) {
      w->resistors[n_resistors++] = (yoke_heat_resistor){"r", (uint32_t)k, random_below(seed, k)};
    }
  }
  for (size_t i = random_below(seed, N_RESISTORS - N_NODES + 1); i > 0; i--) {
    const uint32_t a = random_below(seed, n);
    uint32_t b = random_below(seed, n - 1);
    b += b >= a ? 1 : 0;
    w->resistors[n_resistors++] = (yoke_heat_resistor){"r", a, b};
  }
  for (size_t e = 0; e < n_resistors; e++) {
    w->g[e] = random_log(seed, 0.01, 100);
  }
  for (size_t i = 0; i < N_SOURCES; i++) {
    uint32_t node = random_below(seed, n);
    node = w->nodes[node].fixed == FREE_NODE ? node : (uint32_t)first;
    w->sources[i] =
        (yoke_heat_source){"s", node, random_below(seed, N_INPUTS), random_between(seed, -1, 2)};
  }
  w->network = (yoke_heat_network){w->nodes, w->resistors, w->capacities, w->sources, input_names,
                                   n,        n_resistors,  n_capacities,  N_SOURCES,  N_INPUTS};
}

#endif
