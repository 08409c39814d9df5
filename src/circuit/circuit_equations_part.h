// What the files of the equations share: the record of an element and the owner of the patterns.
#ifndef YOKE_CIRCUIT_EQUATIONS_PART_H
#define YOKE_CIRCUIT_EQUATIONS_PART_H

#include "circuit/circuit_equations.h"

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

struct yoke_equations {
  const yoke_network* network;
  yoke_signals* signals;
  const bool* is_closed;
  uint32_t n, m, p;
  yoke_stamp* stamps;  // one per element
  uint32_t *varying_stamps, n_varying_stamps;
  uint32_t *junctions, n_junctions;
  uint32_t *fixed_nodes, n_fixed;  // node of row i
  uint32_t* kcl_rows;              // of each node; YOKE_NO_INDEX if it is fixed
  uint32_t* row_owner;             // node or element of each row
  yoke_sparse_pattern J, Ahat;
  const uint8_t* dynamic;  // entries of J that contain a0
  uint32_t* j_of_ahat;     // place in J of each entry of Ahat
  uint32_t nnz, ahat_nnz;
  double* frame;          // J of Kirchhoff's law and fixed nodes
  double *base, base_a0;  // J of everything that does not vary, for this a0
  bool has_base;
  double *xdot, *work_J;  // work: n, nnz
  bool is_linear, is_constant;
  // charges of junctions in the stages of a step (circuit_equations_charge.c); index: junction
  bool has_charges;      // there are junctions that hold one
  bool is_charge_stage;  // q' = a0 q + charge_c instead of C(v) v'
  double* charge_c;
  double* charge_rate;  // YOKE_METHOD_MAX_STAGES + 1 rows
};

// ---- circuit_equations_build.c: rows, columns, patterns and slots
yoke_status yoke__equations_build(yoke_equations* self, double gmin, yoke_arena* arena);

// ---- circuit_equations_charge.c
yoke_status yoke__equations_take_charges(yoke_equations* self, yoke_arena* arena);

// The value of an element and, for a law of voltages or currents, its gradient by law->live.
double yoke__stamp_value(const yoke_equations* self, const yoke_stamp* stamp, uint32_t element,
                         const double x[], double gradient[]);

#endif
