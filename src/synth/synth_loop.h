// The loop of two units that exchange signals, in numbers: gains, margins, distortion, robustness, passivity, the largest
// stable exchange interval. Everything off line and on given linear models.
//
//        u1 +------+ y1            side i: x' = A x + B u, y = C x + D u, transfer matrix Q_i(s)
//     +---->|  Q1  |------+        u1 = y2, u2 = y1: positive feedback, critical point +1
//     |     +------+      |        L(s) = Q1 Q2                  loop of the coupled system
//     |     +------+      |        H_open(z) = Q1d Q2d           loop as it is sampled and held: Qid is the exact ZOH
//     +-----|  Q2  |<-----+                                      discretisation of side i
//        y2 +------+ u2            fresh: Qid = C (z I - F)^-1 G + D     stale: D is multiplied by z^-1
//
// Sides may have several inputs and outputs. A gain is then the largest singular value, and 1 - H_open stands for
// det(I - H_open); gain and phase margin are for scalar loops only (else NaN).
//
// A free integrator: with velocity coupling one side integrates its own copy of the partner's position. Q1 then has a pole at 0
// that a zero of Q2 cancels. Nothing is evaluated at 0 itself, and the eigenvalue 1 that it leaves in the exchange map is
// counted and taken out (synth_loop_map.c).
//
// Source: W. Chen, licentiate thesis, Chalmers 2019, papers I and III. Page: docs/loop.md.
#ifndef YOKE_SYNTH_LOOP_H
#define YOKE_SYNTH_LOOP_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

#include "synth/synth_hold.h"
#include "yoke/status.h"
#include "yoke/unit.h"

typedef enum yoke_synth_exchange {
  YOKE_SYNTH_STALE,  // outputs as returned by the last step
  YOKE_SYNTH_FRESH,  // feedthrough outputs are read again with the new inputs
} yoke_synth_exchange;

typedef struct yoke_synth_loop {
  yoke_linear sides[2];
  double step;  // exchange interval Dt [s]
  yoke_synth_exchange exchange;
  yoke_synth_hold
      holds[2];  // by which side i gets its input: of the gain with holds, errors, mu and passivity
  int power;  // +1: y1 u1 is power that flows into side 1 (then -y2 u2 into side 2); -1: -y1 u1 is; 0: neither
} yoke_synth_loop;

// A largest or smallest value and where it is [rad/s].
typedef struct yoke_synth_peak {
  double value, w;
} yoke_synth_peak;

// One frequency w [rad/s], 0 < w <= pi / Dt.
typedef struct yoke_synth_loop_point {
  double w;
  double complex loop;        // 1 - det(I - Q1 Q2)
  double complex open;        // 1 - det(I - H_open): for scalar loops H_open itself
  double complex distortion;  // G = det(I - Q1 Q2) / det(I - H_open): 1 if sampling changed nothing
  double side_gain[2];        // norms of Q1 and Q2
  double gain, held_gain, sampled_gain;  // norms of Q1 Q2, of Q1 Q2 with both holds, of Q1d Q2d
  double sensitivity;                    // norm of (I - H_open)^-1
  double error[2][2];  // norm of what the error xi of output i is per output j, without holds 0
  double mu;           // of two independent errors, each as large as its hold makes it
  double mu_turned;    // the same by the search over a phase (scalar loops only, else NaN)
  double passivity
      [2];  // smallest eigenvalue of the Hermitian part of the held side; NaN without power
} yoke_synth_loop_point;

typedef struct yoke_synth_loop_report {
  yoke_synth_peak gain;  // over all frequencies; infinite w: the feedthrough
  yoke_synth_peak
      held_gain;  // small gain with holds, over all frequencies: below 1 is the published condition
  yoke_synth_peak sampled_gain;  // over the unit circle: below 1 is stable, rigorously, for ZOH
  yoke_synth_peak margin;        // smallest |1 - H_open|
  yoke_synth_peak sensitivity;
  yoke_synth_peak
      gain_margin;            // smallest factor above 1 on the loop that reaches +1; infinite: none
  yoke_synth_peak gain_drop;  // largest factor below 1 that does; 0: none
  yoke_synth_peak
      phase_margin;  // smallest angle between H_open and +1 where |H_open| = 1 [rad]; infinite: nowhere
  yoke_synth_peak distortion_db;     // largest |20 log10 |G||
  yoke_synth_peak distortion_phase;  // largest |arg G| [rad]
  yoke_synth_peak error[2][2];
  yoke_synth_peak mu;  // below 1: stable for all errors as large as those of the holds
  yoke_synth_peak mu_turned;
  yoke_synth_peak passivity[2];  // nu_1, nu_2: both above 0 is stable; below 0 is no verdict
} yoke_synth_loop_report;

// Peaks are found on a grid of frequencies that is dense around every pole of the sides, the coupled system and the sampled
// loop, and then refined: they are exact to about 1e-6 of their value. Takes memory and frees it. YOKE_BAD_ARG: sizes that do
// not fit, numbers that are not finite, a step that is not above 0; YOKE_SINGULAR: an algebraic loop without solution;
// YOKE_NO_MEMORY; YOKE_DIVERGED: exp(A Dt) overflows.
yoke_status yoke__synth_loop_analyse(const yoke_synth_loop* loop, yoke_synth_loop_report* out);
// The same quantities at given frequencies [rad/s], ascending, for drawings. Fails alike.
yoke_status yoke__synth_loop_sample(const yoke_synth_loop* loop, size_t n, const double w[],
                                    yoke_synth_loop_point to[]);

// Frequencies up to pi / Dt that show every resonance, ascending [rad/s]; to be freed by the caller. Fails alike.
yoke_status yoke__synth_loop_frequencies(const yoke_synth_loop* loop, double** w, size_t* n);

// ---- one exchange interval as a matrix

// x' = A x + B u with u held over the step: x(t + step) = F x + G u. C and D as before. held: its F and G are written, its
// sizes, C and D set to those of the side.
yoke_status yoke__synth_loop_hold(const yoke_linear* side, double step, double F[], double G[]);

// The map of one interval: of the states of both sides (fresh), or of states and outputs (stale).
size_t yoke__synth_loop_map_size(const yoke_linear sides[2], yoke_synth_exchange exchange);
// M: size x size. Fails as yoke__synth_loop_analyse.
yoke_status yoke__synth_loop_map(const yoke_linear sides[2], double step,
                                 yoke_synth_exchange exchange, double M[]);

typedef struct yoke_synth_loop_radius {
  double radius;  // largest |eigenvalue| of the map, free ones taken out
  size_t
      n_free;  // eigenvalues that are 1 at every step: motions of the coupled system that neither grow nor decay
  double
      free_error;  // largest |(M - I) v| of their unit vectors v, M balanced: how well that holds; 0 without any
} yoke_synth_loop_radius;
yoke_status yoke__synth_loop_radius_of(const yoke_linear sides[2], double step,
                                       yoke_synth_exchange exchange, yoke_synth_loop_radius* out);

typedef struct yoke_synth_loop_limit {
  double
      stable;  // largest step of the grid below the first unstable one [s]; 0: the first is unstable
  double unstable;  // the first unstable one [s]; infinite: none up to the end of the grid
  double border;    // where between the two the radius passes 1, to 1e-9 of it; infinite: none
} yoke_synth_loop_limit;
// Steps resolution, 2 resolution, ... up to largest [s]. A radius below 1 is stable.
yoke_status yoke__synth_loop_limit_of(const yoke_linear sides[2], yoke_synth_exchange exchange,
                                      double resolution, double largest,
                                      yoke_synth_loop_limit* out);

#endif
