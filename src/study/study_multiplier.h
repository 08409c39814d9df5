// The largest multiplier of a motion: rows s_0, s_1, ... of m signals, seen once per step of a linear loop whose memory is
// hidden. Each mode goes on like z^k; the radius is the largest |z|.
//
//   H0 = [ s_k, s_k+1, ... ]   q rows of signals each (delays stand for what is hidden)     H1 = the same one step later
//   H0 = U S V^T,  A = U^T H1 V S^-1,  z = eigenvalues of A
//
// From the last rows in which the motion stands above round-off, so that few modes are left. What stays constant has z = 1:
// is_free looks at differences of rows instead, which leave it out.
// Source: dynamic mode decomposition with delays (P. Schmid, J. Fluid Mech. 656 (2010) 5-28; H. Arbabi and I. Mezic, SIAM J.
// Appl. Dyn. Syst. 16 (2017) 2096-2126).
#ifndef YOKE_STUDY_MULTIPLIER_H
#define YOKE_STUDY_MULTIPLIER_H

#include <stdbool.h>
#include <stddef.h>

#include "yoke/status.h"

typedef struct yoke_multiplier {
  double radius;    // largest |z|; 0: the motion has died out at once
  double residual;  // what the modes leave of H1, relative; large: the motion is not linear
  double growth;    // per row, by the sizes of early and late rows: rough, but true for any motion
  size_t rank;      // modes in the rows that were used
  bool is_full;     // there may be more modes than the rows can tell apart
} yoke_multiplier;

// n_free > 0: so many multipliers of 1 are left out. Takes memory. Rows hold finite numbers.
yoke_status yoke__multiplier(size_t m, size_t n, const double rows[], size_t n_free,
                             yoke_multiplier* out);

#endif
