// Fixed-step integrators for units. Every one does bounded work, takes no heap and keeps nothing
// between calls.
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

#endif
