// General H-infinity synthesis: the element (controller) K that makes the gain from w to z smallest and the loop stable.
//
//            +-------+                 lambda x = A  x + B1  w + B2  u
//   w -----> |       | -----> z               z = C1 x + D11 w + D12 u
//            |   P   |                        y = C2 x + D21 w + D22 u
//       +--> |       | ---+            lambda: s, or z of a discrete plant
//     u |    +-------+    | y
//       +------- K <------+            minimise gamma = || P11 + P12 K (1 - P22 K)^-1 P21 ||_inf
//
// Two Riccati equations decide whether an element exists for a gamma and give the central one; bisection finds the smallest gamma. The
// element is computed a margin above it (exactly there it has infinitely fast poles), and its closed loop is checked: stable, and
// the norm below gamma.
//
// Every element exists only if the plant is regular: (A, B2) stabilisable, (C2, A) detectable, D12 of full column rank and D21 of full
// row rank (a discrete plant: at z = -1 instead), no zeros of P12 and P21 on the imaginary axis (unit circle). Each violation has
// a message of its own. A plant whose D12 lacks rank becomes regular by a penalty eps: the output eps u is appended to z.
//
// Pole region: all poles of the closed loop, those of K among them, have a real part above `least_real` (of lambda). Riccati
// methods know no such region. What is done is sound (poles and norm of the result are computed from its closed loop), but not
// optimal within the region: fast poles come from a gamma close to the smallest one, and a penalty on u makes them
// expensive. For each of a row of penalties the smallest gamma with the poles inside is searched (within 1 %), and the element with
// the smallest norm without the penalty is taken.
#ifndef YOKE_SYNTH_GENERAL_H
#define YOKE_SYNTH_GENERAL_H

#include "synth/synth_system.h"
#include "yoke/message.h"

#define YOKE_SYNTH_STATES_MAX  100  // of a plant
#define YOKE_SYNTH_SIGNALS_MAX 50   // w and u, z and y

typedef struct yoke_synth_general_plant {
  yoke_synth_system system;  // inputs w, then u; outputs z, then y
  size_t n_u, n_y;
} yoke_synth_general_plant;

typedef struct yoke_synth_general_settings {
  double tolerance;   // relative, of the smallest gamma
  double margin;      // K is made at (1 + margin) times the smallest gamma
  double gamma;       // above 0: K is made at this gamma, nothing is searched
  double penalty;     // eps: the output eps u is appended to z; 0: none
  double least_real;  // all closed-loop poles have a real part above this; -infinity: anywhere
} yoke_synth_general_settings;

typedef struct yoke_synth_general_result {
  yoke_synth_system K;
  double smallest_gamma;   // the upper end of the bisection; NaN where gamma was given
  double gamma;            // the one that K was made for
  double norm, frequency;  // of the closed loop with the penalty: below gamma; its peak
  double plant_norm;       // the same without the penalty
  double penalty;          // the final eps
  double least_real;       // smallest real part of a closed-loop pole
  double slowest;          // largest real part (modulus) of a closed-loop pole: below 0 (1)
  size_t n_riccati;        // equations solved
} yoke_synth_general_result;

yoke_synth_general_settings yoke__synth_general_default(void);

// Takes memory; K lies in w. YOKE_BAD_INPUT with a message: sizes or settings are wrong, the plant is not regular, or no
// element keeps the poles in the region; YOKE_NO_CONVERGENCE with a message: rounding left no element that passes the check;
// YOKE_NO_MEMORY.
yoke_status yoke__synth_general(yoke_arena* w, const yoke_synth_general_plant* plant,
                                const yoke_synth_general_settings* settings,
                                yoke_synth_general_result* result, const yoke_sink* sink);

// The plant with weights: z := W_z z, w := W_w w (systems with as many inputs as outputs as there are z, w; NULL: none).
yoke_synth_general_plant yoke__synth_plant_weigh(yoke_arena* w,
                                                 const yoke_synth_general_plant* plant,
                                                 const yoke_synth_system* W_z,
                                                 const yoke_synth_system* W_w);
// The plant with the outputs eps u appended to z.
yoke_synth_general_plant
yoke__synth_plant_penalise(yoke_arena* w, const yoke_synth_general_plant* plant, double eps);

#endif
