// The central H-infinity element of a continuous plant for one gamma, and whether there is one.
#ifndef YOKE_SYNTH_CENTRAL_H
#define YOKE_SYNTH_CENTRAL_H

#include "synth/synth_general.h"

// A continuous plant in the coordinates of the formulas: D12 = [0; I], D21 = [0 I], D22 = 0. u = to_u u~, y~ = to_y y.
typedef struct yoke_central {
  size_t m1, m2, p1, p2;  // w, u, z, y
  yoke_matrix A, B1, B2, C1, C2, D11;
  yoke_matrix to_u, to_y, D22;
  double unit;         // of time: s = unit s~
  double gain;         // of z and w: gamma~ = gain gamma
  double least_gamma;  // no element below it, by D11 alone
} yoke_central;

// Why a plant has no such coordinates, or no element.
typedef enum yoke_irregular {
  YOKE_REGULAR,
  YOKE_D12_WITHOUT_RANK,
  YOKE_D21_WITHOUT_RANK,
  YOKE_P12_WITH_ZERO,  // on the imaginary axis
  YOKE_P21_WITH_ZERO,
} yoke_irregular;

// *why says what is wrong with the plant (the status is YOKE_OK all the same), and *frequency of a zero where it lies [rad/s].
yoke_status yoke__central_init(yoke_arena* w, const yoke_synth_general_plant* plant,
                               yoke_central* central, yoke_irregular* why, double* frequency);

// A mode with Re >= 0 (|lambda| >= 1) that B cannot move: its eigenvalue in *re, *im, and true. The dual is asked for with A', C'.
yoke_status yoke__find_fixed_mode(yoke_matrix A, yoke_matrix B, bool is_discrete, bool* is_found,
                                  double* re, double* im);

// Whether there is an element for this gamma; if so, and K is not NULL, the central one, in the plant's own coordinates, but for the
// plant without D22 (yoke__system_feed_through).
yoke_status yoke__central_try(yoke_arena* w, const yoke_central* central, double gamma,
                              bool* is_possible, yoke_synth_system* K);

#endif
