// The coupling problem as a plant of general synthesis: the element K1 between two units.
//
//   u -> K1 -> hold H* -> smoother K2 -> u~          minimise || W_f (1 - K2 H* K1) ||_inf
//
//   w = u,  the element's output v,   z = W_f (u - K2 H* v),   y = u          P22 = 0: a problem of model matching
//
//   K2 = w2^2 / (s^2 + 2 zeta w2 s + w2^2)      W_f the same with f_w, its own damping      H* = (N(x) - N(-x)) / (x N(x)), x = s Dt
//
// H* is the exact hold (1 - e^-x) / x with Pade's approximant N(-x) / N(x) in place of e^-x. D12 is 0, so that the plant needs a
// penalty on v (yoke_synth_general_settings). Source: W. Chen, licentiate thesis, Chalmers 2019, paper
// III. Page: docs/synth_general.md, "The coupling problem".
#ifndef YOKE_SYNTH_PLANT_H
#define YOKE_SYNTH_PLANT_H

#include "synth/synth_general.h"

#define YOKE_SYNTH_PADE_MAX 3

typedef struct yoke_synth_coupling {
  double interval;          // Dt [s]
  double smoother_hz;       // f2 of K2
  double smoother_damping;  // zeta of K2
  double band_hz;           // f_w of W_f
  double band_damping;      // of W_f
  size_t pade;              // order of H*: 1 to 3
} yoke_synth_coupling;

// Those of docs/synth_general.md: Dt = 50 ms, f2 = 100 Hz, f_w = 3 Hz, dampings 0.7071, Pade 2; f2 and f_w in proportion to
// 1 / Dt.
yoke_synth_coupling yoke__synth_coupling_default(double interval);

// K2, H*, W_f on their own.
yoke_synth_system yoke__synth_low_pass(yoke_arena* w, double hz, double damping);
yoke_synth_system yoke__synth_pade_hold(yoke_arena* w, double interval, size_t pade);

// The plant; it lies in w. YOKE_BAD_INPUT with a message: a setting is out of range. YOKE_NO_MEMORY.
yoke_status yoke__synth_coupling_plant(yoke_arena* w, const yoke_synth_coupling* settings,
                                       yoke_synth_general_plant* plant, const yoke_sink* sink);

// max | W_f (1 - K2 H* K1) | over all frequencies: gamma of any stable K1, without the penalty.
yoke_status yoke__synth_coupling_norm(const yoke_synth_coupling* settings, yoke_synth_system K1,
                                      double* norm);

// K1 with its gain at frequency 0 made 1, so that a constant arrives unchanged: K1 / K1(0). false: K1(0) is 0 or not finite.
bool yoke__synth_normalise_gain(yoke_arena* w, yoke_synth_system* K1);

#endif
