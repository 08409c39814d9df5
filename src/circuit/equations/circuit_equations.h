// The equations of a network in full coordinates (docs/circuit_methods.md, "Equations"):
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

#include "circuit/network/circuit_junction.h"
#include "circuit/network/circuit_signals.h"
#include "linalg/linalg_sparse.h"

typedef enum yoke_stamp_kind {
  YOKE_STAMP_LINEAR,
  YOKE_STAMP_JUNCTION,
  YOKE_STAMP_SWITCH
} yoke_stamp_kind;

// The part of another inductor in the row of this one: -M I', M = k sqrt(L L_other).
typedef struct yoke_coupling_stamp {
  uint32_t other;  // element
  double k;
  uint32_t slot;         // of the other current
  uint32_t* live_slots;  // of the quantities in the law of the other inductance
} yoke_coupling_stamp;

// An element whose equation is linear in its value has the row
//   voltage_sign (V_a - V_b) + current_sign I + factor value
//   factor = scale (y_p - y_q), or -1 without p
// with y = x, or xdot for capacitors and inductors. Junctions and switches have functions of their
// own.
typedef struct yoke_stamp {
  yoke_stamp_kind kind;
  bool is_dynamic;  // the row stands among the differential ones
  bool is_varying;  // the row's derivatives change within a run
  bool is_rate;     // y is xdot
  double voltage_sign, current_sign, scale;
  uint32_t a, b, i, p, q;                           // columns; p, q may be YOKE_NO_INDEX
  uint32_t row, kcl_a, kcl_b;                       // rows; YOKE_NO_INDEX at fixed nodes
  uint32_t slot_a, slot_b, slot_i, slot_p, slot_q;  // places in the values of J
  const yoke_expression* law;                       // depends on voltages or currents; else NULL
  uint32_t* live_slots;  // of law->live; YOKE_NO_INDEX for time and inputs
  yoke_coupling_stamp* couplings;
  uint32_t n_couplings;
  yoke_junction junction;
  const yoke_junction_model* charge;  // NULL: the junction holds none
  uint32_t index;                     // of a junction: among all of them
  const yoke_switch_model* switching;
} yoke_stamp;

typedef struct yoke_equations {
  const yoke_network* network;
  yoke_signals* signals;
  const bool* is_closed;
  uint32_t n, m, p;
  yoke_stamp* stamps;  // one per element
  uint32_t *junctions, n_junctions;
  uint32_t *fixed_nodes, n_fixed;  // node of row i
  uint32_t* kcl_rows;              // of each node; YOKE_NO_INDEX if it is fixed
  uint32_t* row_owner;             // node or element of each row
  yoke_sparse_pattern J, Ahat;
  // 1 for the entries of J that contain a0: with two values of a0 they differ between slots of
  // factors
  const uint8_t* dynamic;
  uint32_t* j_of_ahat;  // place in J of each entry of Ahat
  uint32_t nnz, ahat_nnz;
  double* frame;          // J of Kirchhoff's law and fixed nodes
  double *base, base_a0;  // J of everything that does not vary, for this a0
  bool has_base;
  double *xdot, *work_J;        // work: n, nnz
  bool is_linear, is_constant;  // constant: no switches either
  // charges of junctions in the stages of a step (circuit_equations_charge.c); index: junction
  bool has_charges;      // there are junctions that hold one
  bool is_charge_stage;  // q' = a0 q + charge_c instead of C(v) v'
  double* charge_c;
  double* charge_rate;  // YOKE_METHOD_MAX_STAGES + 1 rows
} yoke_equations;

// gmin as in yoke_circuit_options, resolved.
yoke_status yoke__equations_create(const yoke_network* network, yoke_signals* signals,
                                   const bool is_closed[], double gmin, yoke_arena* arena,
                                   yoke_equations** out);

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

// ---- circuit_start.c: the initial configuration with prescribed states.
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

// ---- circuit_equations_build.c: rows, columns, patterns and slots
yoke_status yoke__equations_build(yoke_equations* self, double gmin, yoke_arena* arena);

// ---- circuit_equations_charge.c
yoke_status yoke__equations_take_charges(yoke_equations* self, yoke_arena* arena);

// The state of a capacitor, an inductor or the charge of a junction at x: its current or voltage.
static inline double yoke__stamp_state(const yoke_equations* self, uint32_t e, const double x[]) {
  const yoke_stamp* stamp = &self->stamps[e];
  return self->network->elements[e].kind == YOKE_INDUCTOR ? x[stamp->i] : x[stamp->a] - x[stamp->b];
}

// The value of an element and, for a law of voltages or currents, its gradient by law->live.
double yoke__stamp_value(const yoke_equations* self, const yoke_stamp* stamp, uint32_t element,
                         const double x[], double gradient[]);

#endif
