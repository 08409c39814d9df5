// Current and conductance of a junction, and the step that Newton's method may take on its voltage.
#ifndef YOKE_CIRCUIT_JUNCTION_H
#define YOKE_CIRCUIT_JUNCTION_H

#include "circuit/network/circuit_network.h"

// What is constant for a junction during a run.
typedef struct yoke_junction {
  double is, nvt, v_crit;
  double bv;  // breakdown begins at -bv; infinite: none
  double gmin;
  double v_linear;  // above it the exponential goes on as its tangent
} yoke_junction;

void yoke__junction_init(yoke_junction* self, const yoke_junction_model* model, double gmin);
// i(v) and g = di/dv, gmin included. Never overflows.
void yoke__junction_evaluate(const yoke_junction* self, double v, double* i, double* g);
// The voltage to evaluate at when the iteration wants to go from v_old to v_new; *is_limited is set true when they differ.
double yoke__junction_limit(const yoke_junction* self, double v_new, double v_old,
                            bool* is_limited);
// Where breakdown begins, above -BV by what it takes for IBV to flow at -BV; infinite: nowhere.
double yoke__junction_knee(const yoke_junction_model* model);
bool yoke__junction_holds_charge(const yoke_junction_model* model);
// Depletion and diffusion capacitance C(v) and dC/dv; 0 where the model has none.
double yoke__junction_capacitance(const yoke_junction_model* model, double v, double* slope);
// The charge q(v), 0 at 0 V, and C(v) = dq/dv.
double yoke__junction_charge(const yoke_junction_model* model, double v, double* capacitance);

#endif
