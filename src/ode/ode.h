// Integrators for units: single steps of fixed length, and steps with an estimate of their error.
// Every one does bounded work, takes no heap and keeps nothing between calls.
//
// First order:   x' = f(t, x)
// Second order:  q' = v,  v' = a(t, q, v)
#ifndef YOKE_ODE_H
#define YOKE_ODE_H

#include <stddef.h>

#include "yoke/status.h"
#include "yoke/unit.h"

// Right-hand sides. `self` is the unit: inputs and parameters are read from it.
typedef void (*yoke_ode_rhs)(void* self, double t, const double x[], double dx[]);
typedef void (*yoke_ode_acceleration)(void* self, double t, const double q[], const double v[],
                                      double a[]);

typedef enum yoke_ode_method {
  YOKE_ODE_EULER,                // x+ = x + h f(t, x); order 1
  YOKE_ODE_SEMI_IMPLICIT_EULER,  // v+ = v + h a(t, q, v), q+ = q + h v+; order 1, symplectic
  YOKE_ODE_RK4,                  // classical, order 4
  YOKE_ODE_TRAPEZOIDAL,          // implicit, order 2 (Newmark 1/4, 1/2 for second-order systems)
} yoke_ode_method;

// NULL-terminated, in the order of the methods: "euler", "semi-implicit-euler", "rk4",
// "trapezoidal"
extern const char* const yoke__ode_method_names[];
// The same for the description of a unit.
#define YOKE_ODE_SOLVERS                                                                           \
  { YOKE_SOLVER_EULER, YOKE_SOLVER_SEMI_IMPLICIT_EULER, YOKE_SOLVER_RK4, YOKE_SOLVER_TRAPEZOIDAL }

// How the implicit methods solve for the end of the step.
typedef enum yoke_ode_corrector_kind {
  YOKE_ODE_CORRECT_AUTO,         // fixed point; Newton once the fixed point is seen not to arrive
  YOKE_ODE_CORRECT_FIXED_POINT,  // never Newton
  YOKE_ODE_CORRECT_NEWTON,       // Newton from the first iteration: stiff problems
} yoke_ode_corrector_kind;

// The corrector of the implicit methods: at most max_iterations, until the change is below
// tolerance * max(1, |x|) (largest element; second order: of q and v). All zero: the defaults.
typedef struct yoke_ode_corrector {
  int max_iterations;            // of both kinds together; 0: 10
  double tolerance;              // 0: 1e-12
  int n_iterations;              // out: of the last step, both kinds
  yoke_ode_corrector_kind kind;  // 0: automatic
  int n_jacobians;               // out: finite-difference Jacobians of the last step
} yoke_ode_corrector;

// Room that any method needs for n states (first order) or n positions (second order), in doubles;
// a constant for arrays inside a flat unit.
#define YOKE_ODE_WORK_SIZE(n) (2 * (n) * (n) + 8 * (n))

// One step in place. work: yoke__ode_work_size(method, n) doubles, contents lost. corrector: NULL
// gives the defaults; the explicit methods ignore it.
// YOKE_BAD_ARG if the method does not fit the form (semi-implicit Euler needs a second-order
// system); YOKE_NO_CONVERGENCE if the corrector used all its iterations (x holds the last iterate);
// YOKE_DIVERGED if an iterate became NaN or infinite.
yoke_status yoke__ode_step(yoke_ode_method method, yoke_ode_rhs f, void* self, double t, double h,
                           size_t n, double x[], double work[], yoke_ode_corrector* corrector);
yoke_status yoke__ode_step2(yoke_ode_method method, yoke_ode_acceleration a, void* self, double t,
                            double h, size_t n, double q[], double v[], double work[],
                            yoke_ode_corrector* corrector);
// At most YOKE_ODE_WORK_SIZE(n).
size_t yoke__ode_work_size(yoke_ode_method method, size_t n);

// --- ode_pair.c: one step with an estimate of its error, for whoever chooses the step by a
// tolerance. Order 5, the estimate is of order 4.
#define YOKE_ODE_PAIR_WORK_SIZE(n) (6 * (n))

typedef struct yoke_ode_pair_step {
  const double* slope;  // n: f(t, x); that of the step before is slope_end there
  double* slope_end;    // n: out, f(t + h, x_end), the last evaluation
  double* error;        // n: out, estimate of the local error
  double h_lambda;  // out: h times the Lipschitz constant seen; above 3.25 the method is unstable
} yoke_ode_pair_step;

// x_end: the state at t + h. work: YOKE_ODE_PAIR_WORK_SIZE(n) doubles, contents lost.
void yoke__ode_pair_step(yoke_ode_rhs f, void* self, double t, double h, size_t n, const double x[],
                         double x_end[], yoke_ode_pair_step* step, double work[]);
// The error of a step in units of the tolerance: the root of the mean square of
// error_i / (tolerance * (|nominal_i| + max(|x_i|, |x_end_i|))). At most 1: accept. NaN stays NaN.
double yoke__ode_error_size(size_t n, const double error[], const double x[], const double x_end[],
                            double tolerance, const double nominals[]);
// What to multiply the length of a step of this error size with for the next one: 0.2 to 5.
double yoke__ode_step_factor(double error_size);

#endif
