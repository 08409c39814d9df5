#include "circuit/oracle/oracle_trace.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "circuit/oracle/oracle_random.h"

static void add_signal(oracle_signals* signals, bool is_current, uint32_t index, const char* name) {
  if (signals->n == ORACLE_MAX_SIGNALS) {
    return;
  }
  oracle_signal* signal = &signals->list[signals->n++];
  *signal = (oracle_signal){.is_current = is_current, .index = index};
  snprintf(signal->name, sizeof signal->name, "%c(%.20s)", is_current ? 'i' : 'v', name);
  for (char* c = signal->name; *c != '\0'; c++) {
    *c = (char)tolower((unsigned char)*c);
  }
}

void oracle_signals_of(const yoke_network* network, oracle_signals* signals) {
  *signals = (oracle_signals){.n_times = ORACLE_N_GRID};
  for (size_t i = 0; i < signals->n_times; i++) {
    signals->times[i] = ORACLE_GRID * (double)(i + 1);
  }
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    const yoke_network_node* node = &network->nodes[n];
    if (!node->is_fixed && !node->is_internal && strcmp(node->name, "tick") != 0) {
      add_signal(signals, false, n, node->name);
    }
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    if (network->elements[e].kind == YOKE_INDUCTOR) {
      add_signal(signals, true, e, network->elements[e].name);
    }
  }
}

double oracle_distance(const oracle_signals* signals, const oracle_trace* a, const oracle_trace* b,
                       size_t s) {
  double largest = 0.0;
  for (size_t k = 0; k < signals->n_times; k++) {
    const double d = fabs(a->values[s][k] - b->values[s][k]);
    largest = d <= largest ? largest : d;  // keeps NaN
    if (isnan(d)) {
      return d;
    }
  }
  return largest;
}

double oracle_scale(const oracle_signals* signals, const oracle_trace* a, size_t s) {
  double largest = 0.0;
  for (size_t i = 0; i < signals->n; i++) {
    for (size_t k = 0;
         signals->list[i].is_current == signals->list[s].is_current && k < signals->n_times; k++) {
      largest = fmax(largest, fabs(a->values[i][k]));
    }
  }
  return largest;
}
