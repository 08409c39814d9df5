// Reference solutions by SUNDIALS: CVODE (BDF, dense Newton) for stiff systems, ARKODE (explicit
// Runge-Kutta of order 8, Fehlberg 7(8)) for the others. Failures end the test.
#ifndef YOKE_TEST_REFERENCE_SOLVE_H
#define YOKE_TEST_REFERENCE_SOLVE_H

#include <stdbool.h>
#include <stddef.h>

typedef void (*reference_rhs)(const void* data, double t, const double x[], double dx[]);

// The longest step [s] that may start at x; for systems whose right-hand side is not smooth there.
typedef double (*reference_limit)(const void* data, const double x[]);

typedef struct reference_problem {
  reference_rhs f;
  const void* data;  // handed to f
  size_t n;          // states
  bool is_stiff;
  double rtol, atol;
  double max_step;        // [s]
  reference_limit limit;  // NULL, or a bound of the next step that depends on the state
  const double* breaks;   // rising times at which f has a kink: the solver starts anew there
  size_t n_breaks;
} reference_problem;

typedef struct reference_solver reference_solver;

// Starts at t = 0 from x0 (n). Keeps the problem's pointers. Close it.
reference_solver* reference_solver_open(const reference_problem* problem, const double x0[]);
// Steps exactly to t (rising from call to call; no interpolation) and copies the state to x (n).
void reference_solver_to(reference_solver* solver, double t, double x[]);
void reference_solver_close(reference_solver* solver);

#endif
