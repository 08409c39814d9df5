// A unit driven straight through its table of operations, and the smallest possible co-simulation
// of two of them: what models are tested with before any master exists. Failures end the test.
#ifndef YOKE_TEST_MECHANICS_UNIT_H
#define YOKE_TEST_MECHANICS_UNIT_H

#include <stddef.h>

#include "yoke/unit.h"

typedef struct mech_unit {
  const yoke_unit_ops* ops;
  void* self;       // self_size bytes, owned
  size_t n_u, n_y;  // elements of all real inputs and outputs
} mech_unit;

// A new instance with all start values; close it.
mech_unit mech_unit_open(const yoke_unit_ops* ops);
void mech_unit_close(mech_unit* unit);
// An independent copy in its present state.
mech_unit mech_unit_copy(const mech_unit* unit);

// Index of a variable in the table.
size_t mech_unit_index(const mech_unit* unit, const char* name);
// One element of a real, integer or boolean variable; only reals can be read.
void mech_unit_set(mech_unit* unit, const char* name, size_t element, double value);
double mech_unit_get(const mech_unit* unit, const char* name, size_t element);
// An enumeration by the name of its item.
void mech_unit_choose(mech_unit* unit, const char* name, const char* item);

// Initialisation from start values; must succeed.
void mech_unit_init(mech_unit* unit);
// All real inputs, all real outputs, in the order of the variables.
void mech_unit_inputs(mech_unit* unit, const double u[]);
void mech_unit_outputs(const mech_unit* unit, double y[]);
void mech_unit_refresh(mech_unit* unit, double t);
// The status of the step; message (may be NULL) takes the unit's words.
yoke_status mech_unit_step(mech_unit* unit, double t, double h, const char** message);

// Changes each input element: every output that moves must be declared as feedthrough, and every
// declared pair must move. The unit must stand at a point where it does.
void mech_unit_probe(mech_unit* unit, double t, double change);

enum { MECH_MAX = 12 };

// Explicit multi-rate Jacobi coupling of two units; the inputs of each come from the other.
// A unit called once per macro step gets the outputs at t_k, one called more often an
// extrapolation.
typedef struct mech_loop {
  mech_unit* units[2];         // 0 returns the action (feedthrough), 1 the rate; not owned
  size_t source[2][MECH_MAX];  // input j of unit i takes this output of the other
  int calls[2];                // per macro step
  int order;                   // of the extrapolation, 0 to 2
  double H;                    // [s]
  size_t n_bond;               // components of the power bond
  size_t action[2], rate[2];   // its outputs of unit 0 and unit 1
  int k;                       // macro steps done
  double y[2][3][MECH_MAX];    // outputs at t_k, t_{k-1}, t_{k-2}
  double dP, dE;               // residual power and energy of the bond
} mech_loop;

// Initialises both units with consistent outputs (1 first, it has no feedthrough).
void mech_loop_start(mech_loop* loop);
// One macro step; the first failure of a unit is returned.
yoke_status mech_loop_step(mech_loop* loop);
// Steps until t = n_steps * H; must succeed.
void mech_loop_run(mech_loop* loop, int n_steps);

#endif
