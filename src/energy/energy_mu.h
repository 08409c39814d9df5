// The factor mu between the residual power of a bond and the energy its coupling creates in a step:
// step energy error = mu * dP * H (docs/couple_energy.md).
//
//   mu = tau / (2 H)   for the residual of samples, dP = B_k A_k+1 - B_k+1 A_k
//   mu = tau / H       for the residual with the partner held, dP = (g(held) - g(new)) A_k+1
//
// tau is the mean age of the rate inside the action that acts on the unit which returns the rate.
#ifndef YOKE_ENERGY_MU_H
#define YOKE_ENERGY_MU_H

#include <stdbool.h>

typedef struct yoke_mu_case {
  double interval;                  // H: time between two exchanges of the bond [s]
  double step_action, step_rate;    // intervals at which the two units are called [s]
  int order_action;                 // extrapolation of the action on its way to the rate's unit
  int order_rate;                   // extrapolation of the motion on its way to the action's unit
  double delay_action, delay_rate;  // of the two connections [s]; negative: the method on it leads,
                                    // nepce of order 0 by H/2, interpolate by half a call
  bool has_feedthrough;             // the action follows the rate without delay inside its unit,
  bool is_fresh;                    // and is evaluated again at every exchange (law, fresh unit)
  bool is_partner_held;  // residual with the partner held (displacement-displacement); then
                         // order_action and delay_action are those of the partner's motion
} yoke_mu_case;

// NaN if the interval is not a positive number.
double yoke__energy_mu(const yoke_mu_case* c);

#endif
