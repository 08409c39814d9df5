// The time-domain solution of a network with fixed steps: bounded work, no heap after create.
//
// Formulations (circuit_engine.h): `nodal`, node voltages with companion models and merged series branches, the fast one
// and the default; `dae`, all node voltages and all element currents with Newton's method (docs/circuit_methods.md);
// `ode`, derivatives of the constraints, kept because it is known to fail.
//
//   create, start, {set_input, step, read}*, destroy
#ifndef YOKE_CIRCUIT_SOLVER_H
#define YOKE_CIRCUIT_SOLVER_H

#include "base/base_message.h"
#include "circuit/network/circuit_network.h"
#include "linalg/linalg_sparse.h"

typedef enum yoke_circuit_formulation {
  YOKE_FORMULATION_NODAL,
  YOKE_FORMULATION_DAE,
  YOKE_FORMULATION_ODE
} yoke_circuit_formulation;

typedef enum yoke_circuit_method {
  YOKE_CIRCUIT_TRBDF2,  // default: L-stable, order 2, two stages with one matrix
  YOKE_CIRCUIT_TR,      // trapezoidal; dae: with projection of the derivatives
  YOKE_CIRCUIT_TRNP,    // trapezoidal without projection; nodal: the same as TR
  YOKE_CIRCUIT_BDF1,
  YOKE_CIRCUIT_BDF2,
  YOKE_CIRCUIT_BDF3,
  YOKE_CIRCUIT_ESDIRK3,  // L-stable, stiffly accurate, order 3, stage order 2, three implicit stages
  YOKE_CIRCUIT_ESDIRK4,  // the same of order 4 with five implicit stages
  YOKE_CIRCUIT_EULER,    // explicit, `ode` only
  YOKE_CIRCUIT_RK4,      // explicit, `ode` only
  YOKE_CIRCUIT_N_METHODS,
} yoke_circuit_method;
// In that order: "trbdf2", "tr", "trnp", "bdf1", "bdf2", "bdf3", "esdirk3", "esdirk4", "euler", "rk4"
extern const char* const yoke__circuit_method_names[YOKE_CIRCUIT_N_METHODS + 1];
extern const char* const yoke__circuit_formulation_names[];  // "nodal", "dae", "ode"
extern const char* const yoke__circuit_startup_names[];      // "tr_xi", "const", "tr_xi_minus_1"
extern const char* const yoke__circuit_projection_names[];   // "auto", "penalty", "direct", "off"

typedef enum yoke_circuit_startup {
  YOKE_STARTUP_TR_XI,
  YOKE_STARTUP_CONST,
  YOKE_STARTUP_TR_XI_MINUS_1
} yoke_circuit_startup;
typedef enum yoke_circuit_projection {
  YOKE_PROJECTION_AUTO,     // direct where Ahat is well conditioned, else penalty
  YOKE_PROJECTION_PENALTY,  // augmented Lagrangian
  YOKE_PROJECTION_DIRECT,
  YOKE_PROJECTION_OFF,
} yoke_circuit_projection;

typedef struct yoke_circuit_options {  // all zero: the defaults
  yoke_circuit_formulation formulation;
  yoke_circuit_method method;
  double step;         // [s], required
  int iterations;      // real-time mode: exactly this many in every stage; 0: until converged
  int max_iterations;  // of convergence mode; 0: 50
  double tolerance;    // update test max |dx| / (1 + |x|); 0: 1e-9
  double
      residual;  // dae: ||f||_2 < residual ends the iteration instead (published test); 0: update test
  yoke_circuit_startup startup;
  yoke_circuit_projection projection;
  double alpha;             // penalty factor; 0: 1e10
  int n_passes;             // of the projection; 0: 1
  double gmin;              // across every junction [S]; 0: the network's; negative: none
  bool is_unlimited;        // no junction limiting
  bool is_unmerged;         // nodal: no merging of series branches
  bool is_operating_point;  // start from the DC solution where no start value is given, else from 0
  bool is_refactored;       // refactor in every iteration also where the matrix is constant
  yoke_sparse_kernel kernel;
  size_t max_factor_bytes;  // for factors kept per switch state; 0: 16 MB
} yoke_circuit_options;

typedef struct yoke_circuit_sizes {
  uint32_t n, m, p;  // of the full coordinates: unknowns, algebraic rows, differential rows
  uint32_t n_nonzeros, structural_rank;
  uint32_t n_solved;  // unknowns of the system that is really solved per stage
  size_t n_solved_nonzeros, n_factors;
  size_t n_bytes;               // memory of the solver
  bool is_linear, is_constant;  // constant: one matrix for the whole run
} yoke_circuit_sizes;

typedef struct yoke_circuit_counts {
  uint64_t n_steps, n_stages, n_iterations;
  uint32_t max_iterations;  // in one stage
  uint64_t n_unconverged;   // stages that used all iterations of convergence mode
  uint64_t n_refactors, n_repivots, n_switchings;
  uint64_t n_cached;  // switchings answered by factors kept
  // steps that ended with a temperature below 0 K; node and time of the first
  uint64_t n_cold;
  uint32_t cold_node;
  double cold_time;
} yoke_circuit_counts;

// Stages of a step whose cost is measured on request: signals and history; residual and tangent; factor; solve;
// projection; rest.
enum {
  YOKE_COST_UPDATE,
  YOKE_COST_ASSEMBLE,
  YOKE_COST_FACTOR,
  YOKE_COST_SOLVE,
  YOKE_COST_PROJECT,
  YOKE_COST_REST,
  YOKE_COST_N
};

typedef struct yoke_circuit yoke_circuit;

// The network must outlive the circuit. Messages name what is singular and why (floating nodes with their names).
yoke_status yoke__circuit_create(const yoke_network* network, const yoke_circuit_options* options,
                                 yoke_messages* messages, yoke_circuit** out);
void yoke__circuit_destroy(yoke_circuit** circuit);

// The initial configuration at t: states as prescribed (or from the operating point), everything else from the
// equations. May be called again. Failures are explained in messages (may be NULL).
yoke_status yoke__circuit_start(yoke_circuit* circuit, double t, yoke_messages* messages);

// From now on input i is u + du s + ddu s^2/2 with s the time since the present one.
void yoke__circuit_set_input(yoke_circuit* circuit, uint32_t i, double u, double du, double ddu);
// A start value (IC=) by element or node before start.
yoke_status yoke__circuit_set_start(yoke_circuit* circuit, bool is_node, uint32_t index,
                                    double value);

// One step of the fixed length; time is t0 + k h, never a sum. YOKE_NO_CONVERGENCE is returned only by convergence mode
// when the last update is not even small (1e-3); YOKE_SINGULAR with a reason; YOKE_DIVERGED, also where the law of a
// resistance, capacitance or inductance passes through 0 or infinity or is no number: the reason names the element.
yoke_status yoke__circuit_step(yoke_circuit* circuit);
double yoke__circuit_time(const yoke_circuit* circuit);
const yoke_circuit_reason*
yoke__circuit_reason(const yoke_circuit* circuit);  // of the last failure

// Present values. Algebraic outputs follow the inputs of the last step; refresh solves the algebraic equations again
// with the inputs as they are now and the states held.
yoke_status yoke__circuit_refresh(yoke_circuit* circuit);
double yoke__circuit_voltage(const yoke_circuit* circuit, uint32_t node);
double yoke__circuit_current(const yoke_circuit* circuit, uint32_t element);
double yoke__circuit_probe(const yoke_circuit* circuit, const yoke_probe* probe);

// From now on the integrals of n probes over the steps are kept; probes must live as long as the circuit. Takes memory.
yoke_status yoke__circuit_choose_integrals(yoke_circuit* circuit, const yoke_probe* const probes[],
                                           size_t n);
// Starts them at 0 with the present values; then each step adds h (start + end) / 2. What a switch or an input changes at once
// between two steps belongs to the step behind it. is_jump: inputs have jumped.
void yoke__circuit_start_integrals(yoke_circuit* circuit, bool is_jump);
const double* yoke__circuit_integrals(const yoke_circuit* circuit);

// d(probe)/d(input i) over the last step with the factor at hand; also the feedthrough of refresh.
yoke_status yoke__circuit_sensitivity(yoke_circuit* circuit, uint32_t input,
                                      const yoke_probe* const probes[], size_t n, double out[]);
// x' = A x + B u, y = C x + D u at the present point; states: capacitor voltages and inductor currents that are
// independent, in the order of the elements. Matrices may be NULL to ask for the sizes. Takes heap; not for the loop.
yoke_status yoke__circuit_linearise(yoke_circuit* circuit, const yoke_probe* const probes[],
                                    size_t n_probes, uint32_t* n_states, double A[], double B[],
                                    double C[], double D[]);

size_t yoke__circuit_image_size(const yoke_circuit* circuit);
void yoke__circuit_save(const yoke_circuit* circuit, void* image);
void yoke__circuit_restore(yoke_circuit* circuit, const void* image);

void yoke__circuit_get_sizes(const yoke_circuit* circuit, yoke_circuit_sizes* sizes);
void yoke__circuit_get_counts(const yoke_circuit* circuit, yoke_circuit_counts* counts);
// Costs in ns since the last call, per kind; off by default because reading the clock costs more than a small step.
void yoke__circuit_measure(yoke_circuit* circuit, bool is_on);
void yoke__circuit_get_costs(yoke_circuit* circuit, double ns[YOKE_COST_N]);

#endif
