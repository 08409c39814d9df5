// mu from the mean age tau of the rate inside the action that acts on the rate's unit.
//
// A coupling of stiffness k whose rate is tau old adds the force k tau v, a damper of the wrong sign: it creates
// k tau v^2. The mean of dP = B_k A_k+1 - B_k+1 A_k is 2 H k v^2, so mu = tau / (2 H). With the partner held the mean
// of dP is H k v^2, so mu = tau / H. All ages here are in units of H:
//
//   feedthrough   1           the action was computed with the rate of the last exchange,
//                 h_a / H     or, if that is extrapolated, with its value at the start of the last call
//                 0           evaluated again at the exchange (fresh, law)
//   no feedthrough, held rate  (1 - h_a / H) / 2  in a unit that is called several times: the mean age of what it
//                 integrates. An extension by the same reasoning; not published
//   held action   (1 - h_r / H) / 2  in a rate unit that is called several times, if the action is not extrapolated
//   delays        as they are
//
// Source: B. Rodriguez Frade, doctoral thesis, A Coruna 2021, section 5.5, for values of mu; that they are ages is ours. Page:
// docs/ledger.md, "From residual power to energy: mu". Assumes one unit with feedthrough and explicit solvers; products of
// the two units' motions are neglected, so the true ratio varies by problem (0.47 for 0.5 on the linear oscillator).
#include "energy/energy_mu.h"
#include "base/base_check.h"

#include <math.h>

// Share of the interval that one call of a unit takes.
static double call_share(double step, double interval) {
  // a unit called once per exchange takes the whole interval
  return step > 0 && step < interval ? step / interval : 1;
}

// Age of what is held while a unit is called several times.
static double held_age(double share, int order) {
  // a value held for n calls is on average (1 - 1/n) / 2 of the interval older than a straight line
  return order == 0 ? (1 - share) / 2 : 0;
}

// Age of the rate inside the action when it is sent.
static double sending_age(const yoke_mu_case* c, double share) {
  if (c->is_fresh) {
    return 0;
  }
  if (c->has_feedthrough) {
    // extrapolated, the rate is as old as the start of the last call
    return c->order_rate == 0 ? 1 : share;
  }
  return held_age(share, c->order_rate);
}

double yoke__energy_mu(const yoke_mu_case* c) {
  const double H = c->interval;
  if (!(H > 0 && yoke__is_finite(H))) {
    return (double)NAN;
  }

  // tau / H with the partner held, tau / (2 H) with samples
  const double hold = held_age(call_share(c->step_rate, H), c->order_action);
  if (c->is_partner_held) {
    return hold + c->delay_action / H;
  }
  const double sending = sending_age(c, call_share(c->step_action, H));
  return (sending + hold + (c->delay_action + c->delay_rate) / H) / 2;
}
