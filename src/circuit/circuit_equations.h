// The equations of a network in full coordinates (specification 1.1-1.3):
//
//   x = [ V of every node, fixed ones included ; I of every element ]
//   Phi(x, t) = 0                    m algebraic rows
//   A(x) xdot + b(x, t) = 0          p differential rows
//
// with one sparse pattern for J = [Phi_x ; a0 A + (dA/dx) xdot + db/dx] and one for Ahat = [Phi_x ;
// A]. Every element keeps slots into the values; evaluation writes through them. Rows: fixed nodes,
// elements that are not C or L in their order, Kirchhoff's current law of nodes that are not fixed,
// then capacitors and inductors in their order (and junctions that hold a charge, I - i(v) - C(v)
// v' = 0, or I - i(v) - q' = 0 within a step).
#ifndef YOKE_CIRCUIT_EQUATIONS_H
#define YOKE_CIRCUIT_EQUATIONS_H

#include "circuit/circuit_junction.h"
#include "circuit/circuit_signals.h"
#include "linalg/linalg_sparse.h"

typedef struct yoke_equations yoke_equations;  // circuit_equations.c

// gmin as in yoke_circuit_options, resolved.
yoke_status yoke__equations_create(const yoke_network* network, yoke_signals* signals,
                                   const bool is_closed[], double gmin, yoke_arena* arena,
                                   yoke_equations** out);
void yoke__equations_sizes(const yoke_equations* self, uint32_t* n, uint32_t* m, uint32_t* p);
const yoke_sparse_pattern* yoke__equations_pattern(const yoke_equations* self);       // of J
const yoke_sparse_pattern* yoke__equations_ahat_pattern(const yoke_equations* self);  // of Ahat
bool yoke__equations_is_linear(const yoke_equations* self);
bool yoke__equations_is_constant(const yoke_equations* self);  // no switches either
// 1 for the entries of J that contain a0: with two values of a0 they differ between slots of
// factors.
const uint8_t* yoke__equations_dynamic(const yoke_equations* self);
bool yoke__equations_has_junctions(const yoke_equations* self);

// f and, if J is not NULL, J at x with xdot = a0 x + c (c NULL: 0), with the signals as last
// updated. v_limited: voltage at which each junction is evaluated (index: element), NULL to
// evaluate at x.
void yoke__equations_evaluate(yoke_equations* self, const double x[], double a0, const double c[],
                              const double v_limited[], double f[], double J[]);
// What rounding leaves of each row of f at x, from its terms in J, when the last iteration has
// changed x by dx and no longer converges.
void yoke__equations_floor(const yoke_equations* self, const double x[], const double dx[],
                           const double J[], double floor[]);
// ---- circuit_equations_charge.c: the charge of junctions as state, for the stages of a step.
// Between begin and end the rows of junctions are I - i(v) - q' with q' = a0 q(v) + c, where c comes
// from the charges at the past values x[0] (newest), x[1], ... and from the rates of the step's
// stages. Without it, and for everything that knows v' rather than a formula, they have C(v) v'.
struct yoke_method_stage;
// A step from x_k: its rate is that of stage 0.
void yoke__equations_begin_charges(yoke_equations* self, const double x[]);
void yoke__equations_gather_charges(yoke_equations* self, const struct yoke_method_stage* stage,
                                    const double* const x[]);
// Keeps the rates at the solution x of stage s = 1, 2, ... for later stages.
void yoke__equations_note_charges(yoke_equations* self, uint32_t s, const double x[]);
void yoke__equations_end_charges(yoke_equations* self);

// An element whose law is not finite at x or has a slope that is not, and its value; YOKE_NO_INDEX
// if there is none.
uint32_t yoke__equations_find_undefined(const yoke_equations* self, const double x[],
                                        double* value);

// Moves v_limited towards the voltages at x as far as Newton's method may go; true if one was held
// back.
bool yoke__equations_limit(const yoke_equations* self, const double x[], double v_limited[]);
// v_limited := the voltages at x.
void yoke__equations_unlimit(const yoke_equations* self, const double x[], double v_limited[]);
// v_limited := voltages at which every junction conducts as little: pivots chosen there are not
// entries of junctions where others will do, so they serve for all states.
void yoke__equations_conduct(const yoke_equations* self, double v_limited[]);
// Conductance across every junction from now on: continuation towards the operating point.
void yoke__equations_set_gmin(yoke_equations* self, double gmin);
// Ahat and bhat = [Phi_t ; b] at x; signals with rates updated. v_limited as above.
void yoke__equations_derivatives(yoke_equations* self, const double x[], const double v_limited[],
                                 double Ahat[], double bhat[]);
// df/d(input) at x.
void yoke__equations_input(yoke_equations* self, const double x[], double a0, const double c[],
                           uint32_t input, double f_u[]);
// The node, or n_nodes + the element, that a row belongs to; YOKE_NO_INDEX: there is no such row.
uint32_t yoke__equations_row_owner(const yoke_equations* self, uint32_t row);
// "v(out)" or "i(r1)" of a column; "node out", "element r1" of a row: for messages.
void yoke__equations_name(const yoke_equations* self, uint32_t column, char* to, size_t size);
void yoke__equations_row_name(const yoke_equations* self, uint32_t row, char* to, size_t size);

// ---- circuit_start.c: the initial configuration with prescribed states (specification 3).
// state: one per capacitor and inductor (index: element), NaN where it is free: then from the
// operating point; of a junction with a charge its voltage. level: one per node, NaN where it has
// none, or NULL; nodes that have one are held there while the operating point is sought, whose
// states are taken then. A level without effect is a warning. x, xdot: n. Takes heap.
typedef struct yoke_start_report {
  double residual;  // ||Phi||
  int n_iterations;
  uint32_t n_moved;            // prescribed states that could not be kept
  bool is_least_squares;       // the equations with prescribed states were singular
  yoke_circuit_reason reason;  // of a failure; sent to the messages, too
} yoke_start_report;
yoke_status yoke__circuit_initial(yoke_equations* equations, yoke_signals* signals,
                                  const yoke_network* network, const double state[],
                                  const double level[], double t, double x[], double xdot[],
                                  yoke_start_report* report, yoke_messages* messages);

#endif
