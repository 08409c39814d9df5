// Consistent values with the states given: at the start of a run, after a switch has moved, after
// inputs have jumped.
#ifndef YOKE_CIRCUIT_START_H
#define YOKE_CIRCUIT_START_H

#include "circuit/equations/circuit_equations.h"

typedef struct yoke_start yoke_start;  // circuit_start_part.h

// Memory comes from the arena; destroy gives back what the sparse matrices hold besides.
yoke_status yoke__start_create(yoke_equations* equations, yoke_signals* signals,
                               const yoke_network* network, yoke_sparse_kernel kernel,
                               yoke_arena* arena, yoke_start** out);
void yoke__start_destroy(yoke_start** self);  // NULL is fine

// As yoke__circuit_initial. Takes heap.
yoke_status yoke__start_solve(yoke_start* self, const double wanted[], const double level[],
                              double t, double x[], double xdot[], yoke_start_report* report,
                              yoke_messages* messages);
// Readies the matrices for yoke__start_hold at x, the values of time t. Takes heap.
yoke_status yoke__start_prepare(yoke_start* self, double t, const double x[]);
// All states (capacitor voltages, inductor currents) as they are in x, everything else in x from
// the equations with the signals of time t; xdot too, or not if it is NULL. No heap, bounded work.
// On failure x and xdot are as before.
yoke_status yoke__start_hold(yoke_start* self, double t, double x[], double xdot[]);

#endif
