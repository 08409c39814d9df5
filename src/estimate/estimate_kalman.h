// The arithmetic of a Kalman filter: mean q and covariance P, whose sizes the caller knows. P is stored in full, row by row, and is
// exactly symmetric after every call. Measurements are taken one number at a time, in Joseph form, so that no matrix is inverted:
//
//   s = H P H' + r,  k = P H' / s,  q += k e,  P := (I - k H) P (I - k H)' + k r k'
//
// e is the innovation: the reading less what the filter expects. r may be 0 (a measurement without noise) while s > 0. A state
// whose row of P is 0 stays as it is, to the bit. Source: P. D. Joseph; G. J. Bierman, Factorization Methods for Discrete
// Sequential Estimation, 1977. No heap.
#ifndef YOKE_ESTIMATE_KALMAN_H
#define YOKE_ESTIMATE_KALMAN_H

#include <stddef.h>

#include "yoke/status.h"

// P := F P F' + Q, F n x n; Q: n x n and exactly symmetric, or NULL. work: 2 n * n.
void yoke__kalman_predict(size_t n, const double F[], const double Q[], double P[], double work[]);
// The same where the last n - m states stay as they are: only the first m rows of F (m x n) are given. Q: as above.
void yoke__kalman_predict_rows(size_t n, size_t m, const double F[], const double Q[], double P[],
                               double work[]);

// s = H P H' + r and PH = P H' (n).
double yoke__kalman_variance(size_t n, const double P[], const double H[], double r, double PH[]);
// Takes one measurement with what yoke__kalman_variance returned; PH is overwritten. work: n. Nothing happens, and YOKE_SINGULAR is
// returned, if s is not positive and finite.
yoke_status yoke__kalman_correct(size_t n, double q[], double P[], const double H[], double r,
                                 double e, double s, double PH[], double work[]);

// Lower triangular L with L L' = P (n x n); rows and columns of variance 0 stay 0. YOKE_SINGULAR if P is not positive semidefinite
// up to rounding.
yoke_status yoke__kalman_root(size_t n, const double P[], double L[]);

#endif
