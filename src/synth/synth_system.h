// Linear systems in state space, continuous (s) and discrete (z), with what synthesis does to them.
//
//   lambda x = A x + B u,   y = C x + D u          lambda: s, or z if is_discrete
//
// Systems are values; their matrices lie in an arena (synth_matrix.h).
#ifndef YOKE_SYNTH_SYSTEM_H
#define YOKE_SYNTH_SYSTEM_H

#include <complex.h>

#include "synth/synth_matrix.h"
#include "yoke/status.h"

typedef struct yoke_synth_system {
  bool is_discrete;
  yoke_matrix A, B, C, D;
} yoke_synth_system;

// Copies to another arena.
yoke_synth_system yoke__system_copy(yoke_arena* w, yoke_synth_system G);
// The system without states, y = D u.
yoke_synth_system yoke__system_gain(yoke_arena* w, bool is_discrete, yoke_matrix D);
// numerator(s) / denominator(s), coefficients of the highest power first; n: order of the denominator, at least that of the
// numerator, which also has n + 1 coefficients. Controllable form.
yoke_synth_system yoke__system_rational(yoke_arena* w, bool is_discrete, size_t n,
                                        const double numerator[], const double denominator[]);
// first, then second: y = second(first(u)).
yoke_synth_system yoke__system_series(yoke_arena* w, yoke_synth_system first,
                                      yoke_synth_system second);
// [G 0; 0 H], and G - H.
yoke_synth_system yoke__system_apart(yoke_arena* w, yoke_synth_system G, yoke_synth_system H);
yoke_synth_system yoke__system_difference(yoke_arena* w, yoke_synth_system G, yoke_synth_system H);
// The loop that K closes: the last inputs of G are K's outputs, the last outputs of G its inputs. *is_singular: I - D22 DK is.
yoke_synth_system yoke__system_loop(yoke_arena* w, yoke_synth_system G, yoke_synth_system K,
                                    bool* is_singular);

// K (I + D K)^-1: the element of a plant with the feedthrough D from u to y, from that of the same plant without it.
yoke_synth_system yoke__system_feed_through(yoke_arena* w, yoke_synth_system K, yoke_matrix D,
                                            bool* is_singular);

// To the other kind by z = (1 + s) / (1 - s), which maps the left half-plane onto the unit disk: gains, Hankel singular values
// and stability stay, frequencies bend. *is_singular: a pole at z = -1 or s = 1 goes to infinity.
yoke_synth_system yoke__system_bilinear(yoke_arena* w, yoke_synth_system G, bool* is_singular);
// A continuous one by Tustin's rule s = (2 / h) (z - 1) / (z + 1).
yoke_synth_system yoke__system_tustin(yoke_arena* w, yoke_synth_system G, double h,
                                      bool* is_singular);

// Other units for the states, powers of two, so that rows and columns of A, B, C weigh about the same.
yoke_synth_system yoke__system_balance(yoke_arena* w, yoke_synth_system G);
// s = unit * s': time in other units (continuous).
yoke_synth_system yoke__system_rescale_time(yoke_arena* w, yoke_synth_system G, double unit);

// Poles, re and im: order of the system.
yoke_status yoke__system_poles(yoke_synth_system G, double re[], double im[]);
// How far the poles are on the right side: the largest real part, or the largest modulus less 1. Negative: stable. -1 without states.
yoke_status yoke__system_instability(yoke_synth_system G, double* instability);
// The largest singular value at lambda = j at or exp(j at); at = infinity: that of D. NaN at a pole or without memory, of which w (NULL:
// none) is told; nothing else is left there.
double yoke__system_gain_at(yoke_arena* w, yoke_synth_system G, double at);
// The transfer function from input j to output i at lambda. NaN at a pole.
double complex yoke__system_response(yoke_synth_system G, size_t i, size_t j,
                                     double complex lambda);

#endif
