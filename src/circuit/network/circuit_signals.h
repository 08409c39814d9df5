// The numbers that elements and fixed nodes have at a time: constants, waves, laws of time and inputs. Laws that also
// depend on voltages or currents are listed apart; engines evaluate them in every iteration.
#ifndef YOKE_CIRCUIT_SIGNALS_H
#define YOKE_CIRCUIT_SIGNALS_H

#include "circuit/network/circuit_network.h"

typedef struct yoke_signals {
  const yoke_network* network;
  double* element;  // value of each element at the time of the last update (R, C, L, V, I, gain)
  double* node;     // value of each fixed node
  double* element_rate;  // d/dt, filled by yoke__signals_update_rates
  double* node_rate;
  double* input;         // inputs at that time
  double *u, *du, *ddu;  // polynomial of each input since t_input
  double t_input;
  double t;
  // indices: what changes with time or inputs
  uint32_t *moving_elements, n_moving_elements;
  uint32_t *moving_nodes, n_moving_nodes;
  uint32_t n_state_elements;  // with laws of voltages and currents
  bool is_matrix_moving;      // an R, C, L or gain changes with time or inputs
} yoke_signals;

yoke_status yoke__signals_create(const yoke_network* network, yoke_arena* arena,
                                 yoke_signals** out);
void yoke__signals_update(yoke_signals* self, double t);
// Derivatives by time of sources and fixed nodes (of laws: by time and by the inputs' slopes).
void yoke__signals_update_rates(yoke_signals* self, double t);
// A law at a point in full coordinates x = [voltages of all nodes; currents of all elements]; gradient:
// n_live derivatives by law->live, or NULL. x may be NULL if the law has no state.
double yoke__signals_law(const yoke_signals* self, const yoke_expression* law, const double x[],
                         double gradient[]);

#endif
