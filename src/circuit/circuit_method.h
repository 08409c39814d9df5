// Integration formulas as stages of one form. A step from t_k to t_k + h has stages s = 1..n; each solves the network
// at t_k + theta h with
//
//   xdot_s = a0 x_s + c,    c = sum_j x_weight[j] x_{k-j} + sum_{j<s} d_weight[j] xdot_j     (xdot_0 = xdot_k)
//
// and the last stage is the end of the step. Trapezoidal rule, BDF 1-3 and stiffly accurate ESDIRK methods all fit.
#ifndef YOKE_CIRCUIT_METHOD_H
#define YOKE_CIRCUIT_METHOD_H

#include "circuit/circuit_solver.h"

#define YOKE_METHOD_MAX_STAGES  5
#define YOKE_METHOD_MAX_HISTORY 3

typedef struct yoke_method_stage {
  double theta;
  double a0;
  uint32_t slot;      // which matrix: stages with the same a0 share one
  uint32_t n_x, n_d;  // weights that are not zero: x_k .. x_{k-n_x+1}, xdot_0 .. xdot_{n_d-1}
  double x_weight[YOKE_METHOD_MAX_HISTORY];
  double d_weight[YOKE_METHOD_MAX_STAGES];
} yoke_method_stage;

typedef struct yoke_method_step {
  uint32_t n_stages;
  yoke_method_stage stages[YOKE_METHOD_MAX_STAGES];
} yoke_method_step;

// A method with its way to start: steps 0 .. n_first-1 use `first`, later ones `regular`.
typedef struct yoke_method_plan {
  yoke_method_step first, regular;
  uint32_t n_first;
  uint32_t n_slots;
  double a0[2];        // of each slot
  uint32_t n_history;  // x values kept: x_k .. x_{k-n_history+1}
  uint32_t
      n_stage_rates;  // derivatives kept within a step, xdot_0 included; 0: derivatives are never reused
  int order;
} yoke_method_plan;

// YOKE_BAD_ARG for the explicit methods of `ode` and steps that are not positive.
yoke_status yoke__method_plan_make(yoke_circuit_method method, yoke_circuit_startup startup,
                                   double h, yoke_method_plan* plan);
// BDF coefficients beta_0 .. beta_order of a grid with points t_{k+1-j} = t_{k+1} - s[j] h, s[0] = 0:
// h xdot_{k+1} = -sum of beta_j x_{k+1-j}, exact for polynomials up to the order.
yoke_status yoke__method_bdf(int order, const double s[], double beta[]);

#endif
