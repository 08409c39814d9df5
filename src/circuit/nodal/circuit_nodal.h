// What the files of the `nodal` engine share (docs/circuit_nodal.md).
//
//   circuit_nodal_reduce.c   network -> known nodes, merged branches, unknowns
//   circuit_nodal_stamp.c    pattern, places in the matrix, coefficients, factors per switch state
//   circuit_nodal_law.c      junctions and laws of voltages and currents, linearised
//   circuit_nodal_step.c     one step: history, right-hand side, solution
//   circuit_nodal_read.c     every voltage, current and rate from what was solved
//   circuit_nodal_sense.c    refresh with states held, sensitivities
//   circuit_nodal.c          the table of operations, memory, images
//
// All potentials and solved currents lie in one vector V: places 0 .. n-1 are unknown, the others
// are known. Each branch lies between two places and has i = g (V_p - V_q) + j; j goes to the
// right-hand side through a list of items, each stored with both signs so that a row is a plain sum
// of items.
#ifndef YOKE_CIRCUIT_NODAL_H
#define YOKE_CIRCUIT_NODAL_H

#include "circuit/circuit_engine.h"
#include "circuit/network/circuit_junction.h"

// of the method, and one more for refresh
#define YOKE_NODAL_MAX_SETS 3

typedef enum yoke_nodal_kind {
  YOKE_NODAL_STATIC,    // resistors and voltage sources: i = g (v - E)
  YOKE_NODAL_STATE,     // the same with inductors or capacitors: i = g (v - E) + j
  YOKE_NODAL_JUNCTION,  // one junction, resistors and voltage sources
  YOKE_NODAL_SOURCE,    // current source
  YOKE_NODAL_SWITCH,
  YOKE_NODAL_GAIN,     // current by another voltage or current
  YOKE_NODAL_LAW,      // current by a law of voltages and currents
  YOKE_NODAL_VOLTAGE,  // v - z i = E, its current is an unknown
  YOKE_NODAL_COUPLED,  // inductor with mutual inductances, its current is an unknown
} yoke_nodal_kind;

// An element of a branch; sign -1: it points from q to p.
typedef struct yoke_nodal_member {
  uint32_t element;
  int sign;
} yoke_nodal_member;

typedef struct yoke_nodal_branch {
  yoke_nodal_kind kind;
  uint32_t p, q;      // places of its ends
  uint32_t current;   // place of its current; YOKE_NO_INDEX if that is no unknown
  uint32_t first, n;  // members
  uint32_t item;      // index among those of its kind
  uint32_t emf;       // index among the emfs; YOKE_NO_INDEX without voltage source
  uint32_t law;       // index among the laws; YOKE_NO_INDEX
  uint32_t state;     // index among the states; YOKE_NO_INDEX
  uint32_t row[2];    // equations that its current stands in: its nodes', or the one of its current
  double sign[2];
  uint32_t c, d;  // places of what controls it: difference of two, or one current (d YOKE_NO_INDEX)
  uint32_t at[4];          // values at (row 0, p), (row 0, q), (row 1, p), (row 1, q)
  uint32_t at_control[4];  // the same with c and d
  uint32_t at_self;        // (current, current)
  uint32_t at_current[2];  // (p, current), (q, current)
} yoke_nodal_branch;

// Coefficients and factors for one a0.
typedef struct yoke_nodal_set {
  double a0;
  double *g, *s;            // of each state: i = g (v - E) + s c
  double* x_v;              // x = x_v (v - E) + state_i j
  double *from_v, *from_j;  // condensed: next j = from_v (v - E) + from_j j
  double* emf_g;            // of each emf: what it is multiplied with
  double *base, *full;      // values without switches and laws; with switches
  double largest;           // of full
  bool is_base_stale, is_full_stale;
  bool* is_ready;    // factors of each switch state
  bool is_factored;  // not linear: the factors are those of its last solution
  yoke_sparse* lu;
} yoke_nodal_set;

// Junctions of all branches, as structure of arrays.
typedef struct yoke_nodal_junctions {
  uint32_t n;
  uint32_t *p, *q;
  uint32_t* row;              // 2 each; n of the network for a known node
  double* sign;               // 2 each
  uint32_t* at;               // 4 each
  double *known_p, *known_q;  // 1 if that end is known
  uint32_t* emf;              // YOKE_NO_INDEX without
  uint32_t* state;            // YOKE_NO_INDEX without charge
  const yoke_junction_model** model;
  yoke_junction* law;
  double* rs;
  // in the block: point of linearisation, current and di/dv there; of the branch i = g (V_p - V_q)
  // + j
  double *v, *i, *slope, *g, *j;
} yoke_nodal_junctions;

// A law of voltages and currents: phi(y), a current or the negative voltage of a row.
typedef struct yoke_nodal_law {
  uint32_t branch, element, n, state;
  uint32_t* place;  // n: of y in V
  uint32_t* at;     // 2 n: values at (row 0 and 1, y)
  uint32_t row[2];  // n of the network for a known node
  double sign[2];
  uint32_t live[YOKE_EXPRESSION_MAX_LIVE];  // index into y; YOKE_NO_INDEX for time and inputs
  double value;                             // of the last linearisation
  // in the block: y and derivatives of the last linearisation (n each); phi and its derivative by
  // the value
  double *y, *slope, *phi;
} yoke_nodal_law;

// Rows of the right-hand side that are sums of the same number of items.
typedef struct yoke_nodal_gather {
  uint32_t n_rows, n_terms;
  uint32_t *rows, *items;
} yoke_nodal_gather;

// A voltage source that holds a node: V[place] = V[from] + sign E.
typedef struct yoke_nodal_held {
  uint32_t element, place, from, node;
  double sign;
  uint32_t end;  // the nodes held through this one are this .. end - 1
} yoke_nodal_held;

typedef struct yoke_nodal_coupling {
  uint32_t branch, other;  // branches
  uint32_t at;             // value at (current, other current)
  double k;                // 1 for the inductor itself
  double m;                // [H]
} yoke_nodal_coupling;

typedef struct yoke_nodal {
  yoke_circuit_core* core;
  uint32_t n, n_places;  // unknowns; length of V

  // ---- the reduced network
  yoke_nodal_branch* branches;
  uint32_t n_branches;
  yoke_nodal_member* members;
  uint32_t* node_place;   // YOKE_NO_INDEX if merged away
  uint32_t* node_branch;  // then: inside this branch,
  uint32_t* node_after;   // behind this many of its members
  uint32_t* place_node;   // node of a place, or n_nodes + element of a current
  uint32_t *element_branch, *element_member;
  yoke_nodal_held* held;
  uint32_t n_held;
  uint32_t* fixed_nodes;  // with value other than constant 0
  uint32_t n_fixed;
  uint32_t *touch_starts, *touch;  // elements at each node
  bool* is_sensed;                 // elements whose current is needed as an unknown
  bool* is_kept;                   // nodes that may not be merged away
  bool* is_coupled;                // inductors

  // ---- classes
  uint32_t* kind_list[YOKE_NODAL_COUPLED + 1];  // branches of each kind
  uint32_t n_of_kind[YOKE_NODAL_COUPLED + 1];
  uint32_t n_branch_states, n_plain_states,
      n_states;  // of STATE branches; those without emf first; all
  uint32_t *state_p, *state_q;
  uint32_t* state_emf;                     // of the states behind the plain ones
  uint32_t *other_states, n_other_states;  // branches with a state that are not STATE
  uint32_t n_charged;                      // junctions with charge
  double *state_i, *state_v;               // x = state_i i + state_v (v - E)
  uint32_t* emf_branch;
  uint32_t n_emfs;
  yoke_nodal_junctions junctions;
  yoke_nodal_law* laws;
  uint32_t n_laws;
  yoke_nodal_coupling* couplings;
  uint32_t n_couplings;
  uint32_t *moving, n_moving;  // branches whose coefficients follow signals
  double* stamped;             // value of each element in the coefficients
  double* coefficient;  // of each branch: g of STATIC, gain of GAIN, resistance or gain of VOLTAGE
  uint32_t* switches;   // branches
  uint32_t n_switches;
  bool* is_closed;    // of each of them, as stamped
  bool is_switching;  // they have changed since the last solution

  // ---- matrix
  yoke_sparse_pattern pattern;
  uint32_t
      // of the unknowns' columns, then of known ones; one more to write what is not wanted
      n_values;
  uint32_t n_known;  // entries in columns of known places
  uint32_t *known_row, *known_place;
  uint32_t n_sets;  // the last one is for refresh
  yoke_nodal_set sets[YOKE_NODAL_MAX_SETS];
  double* values;             // work: of one iteration
  uint32_t n_entries, entry;  // switch states kept
  uint64_t* entry_used;       // 0: free
  bool* entry_bits;
  uint64_t clock;

  // ---- right-hand side
  uint32_t n_items, first_emf, first_source, first_known, first_coupled;
  yoke_nodal_gather* gathers;
  uint32_t n_gathers;

  // ---- what changes, in one block for images
  double *block, *kept;  // kept: the block while refresh shows another one
  size_t n_block;
  double* V;
  double* J;  // 2 n_items: items, then their negatives
  double* emf;
  double* switch_g;  // of each switch in the last solution
  double *X[YOKE_METHOD_MAX_HISTORY], *D[YOKE_METHOD_MAX_STAGES];  // n_states each
  double* c;
  double*
      // of each element: start of a merged capacitor beyond its share; NULL if there is none
      offset;
  uint32_t head;           // X[head] is the newest
  uint32_t set, kept_set;  // of the last stage; of the block kept
  bool is_shown;           // the block shows what refresh found
  bool is_given;           // condensed: c of the next step has been worked out

  double v_largest;               // |V| of the last iteration
  double *rhs, *solution, *work;  // work: n + 1 each
  double* work_states;            // n_states
  double *dV, *d_element,
      *d_branch;  // of sensitivities: n_places, value of each element, offset of each branch
  bool is_condensed, is_linear, is_constant;
} yoke_nodal;

// The first element of a branch.
static inline const yoke_element* yoke__nodal_first(const yoke_nodal* self,
                                                    const yoke_nodal_branch* branch) {
  return &self->core->network->elements[self->members[branch->first].element];
}

// 0 for YOKE_NO_INDEX.
static inline double yoke__nodal_emf(const yoke_nodal* self, uint32_t emf) {
  return emf != YOKE_NO_INDEX ? self->emf[emf] : 0.0;
}

// ---- circuit_nodal_reduce.c
yoke_status yoke__nodal_reduce(yoke_nodal* self);

// ---- circuit_nodal_stamp.c; a: which of the sets
// Pattern and places of all branches and laws.
yoke_status yoke__nodal_lay_matrix(yoke_nodal* self);
// Coefficients, values and room for factors of every a0.
yoke_status yoke__nodal_create_sets(yoke_nodal* self);
// Coefficients of all branches for the values in the signals; marks the matrices stale.
void yoke__nodal_fill_coefficients(yoke_nodal* self);
// Sums of R, L and 1/C over the members of a branch.
typedef struct yoke_nodal_sums {
  double r, l, elastance;
} yoke_nodal_sums;
yoke_nodal_sums yoke__nodal_sum_members(const yoke_nodal* self, const yoke_nodal_branch* branch);
// The same where values have changed.
void yoke__nodal_follow_values(yoke_nodal* self);
// Values without and with switches up to date.
void yoke__nodal_assemble(yoke_nodal* self, uint32_t a);
// Factors for a linear network in the present switch state: from those kept, else refactored.
yoke_status yoke__nodal_ready(yoke_nodal* self, uint32_t a);
// Factors of `values` with new pivots if need be.
yoke_status yoke__nodal_refactor(yoke_nodal* self, uint32_t a, size_t slot, const double values[]);
// Takes over the switch states of the core and finds or makes room for their factors.
void yoke__nodal_choose_entry(yoke_nodal* self);
// Pivots and factors from scratch at the point V; takes heap. *column: where the rank ends, if it
// does.
yoke_status yoke__nodal_factor(yoke_nodal* self, uint32_t a, const double V[], const double c[],
                               int32_t* column);

// ---- circuit_nodal_law.c
yoke_status yoke__nodal_lay_laws(yoke_nodal* self);
// The element that is the junction of such a branch.
uint32_t yoke__nodal_junction(const yoke_nodal* self, const yoke_nodal_branch* branch);
// Junctions at their points, laws at V; c: history of the states.
void yoke__nodal_linearise(yoke_nodal* self, const double V[], double a0, const double c[]);
// Adds what was linearised last to values and right-hand side (n + 1 entries).
void yoke__nodal_stamp_laws(const yoke_nodal* self, const double V[], double values[],
                            double rhs[]);
// Moves junctions on to V. False if one was limited or its linearisation was
// too far off, measured against tolerance and the current that is noise.
bool yoke__nodal_follow_junctions(yoke_nodal* self, const double V[], double a0, const double c[],
                                  double tolerance, double noise);
// Junctions at their points, for stages to begin with.
void yoke__nodal_evaluate_junctions(yoke_nodal* self, double a0, const double c[]);
// phi at the last linearisation, carried on to V.
double yoke__nodal_law_current(const yoke_nodal_law* law, const double V[]);

// ---- circuit_nodal_step.c
yoke_status yoke__nodal_step(void* memory);
// Known nodes, emfs and everything on the right-hand side but history. The matrix must be
// assembled.
void yoke__nodal_update_items(yoke_nodal* self, uint32_t a);
// Sources and history on the right-hand side, then the solution, which V holds afterwards.
yoke_status yoke__nodal_solve(yoke_nodal* self, uint32_t a);
// c := xdot - a0 x; x: of the integration, kept in work_states; xdot: 0, later that of the last
// round. For refresh.
void yoke__nodal_hold_states(yoke_nodal* self, uint32_t a);

// ---- circuit_nodal_read.c
double yoke__nodal_voltage(const void* memory, uint32_t node);
double yoke__nodal_current(const void* memory, uint32_t element);
// Of a voltage source that holds a node, from the currents of the elements there; i: those of all
// elements, NULL: the present ones.
double yoke__nodal_held(const yoke_nodal* self, uint32_t element, const double i[]);
// Of an element whose law depends on voltages or currents.
double yoke__nodal_law_value(const void* memory, uint32_t element);
// From p to q.
double yoke__nodal_branch_current(const yoke_nodal* self, uint32_t branch);
// The value of a state after the last stage and, if rate is not NULL, its derivative.
double yoke__nodal_state(const yoke_nodal* self, uint32_t branch, double* rate);

// ---- circuit_nodal_sense.c
// Back to the state of the integration after refresh.
void yoke__nodal_hide(yoke_nodal* self);
yoke_status yoke__nodal_refresh(void* memory);
yoke_status yoke__nodal_sensitivity(void* memory, uint32_t input, double dx[]);

#endif
