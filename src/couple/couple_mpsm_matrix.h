// Matrix functions that the model-based pre-step method needs: exponentials of badly scaled
// matrices together with their integrals. Caller's work space, no heap, bounded work.
#ifndef YOKE_COUPLE_MPSM_MATRIX_H
#define YOKE_COUPLE_MPSM_MATRIX_H

#include <stddef.h>

#include "yoke/status.h"

// Powers of two d such that rows and columns of D^-1 A D weigh about the same; all 1 if that does
// not lower the 1-norm. A n x n; d: n.
void yoke__mpsm_balance(size_t n, const double A[], double d[]);

// E := exp(A), computed as D exp(D^-1 A D) D^-1; d: n powers of two. A is overwritten; E must not
// overlap it. work: yoke__expm_work_size(n); pivots: n. Fails as yoke__expm_in.
yoke_status yoke__mpsm_expm(size_t n, double A[], const double d[], double E[], double work[],
                            size_t pivots[]);

// With z = A h: E := e^z, F1 := h phi1(z), F2 := h phi2(z), each n x n, where
// phi1(z) = (e^z - 1)/z, phi2(z) = (e^z - 1 - z)/z^2, all from one exponential of size 3 n.
// work: yoke__mpsm_phi_work_size(n) doubles; pivots: 3 n. Fails as yoke__expm_in.
yoke_status yoke__mpsm_phi(size_t n, const double A[], double h, double E[], double F1[],
                           double F2[], double work[], size_t pivots[]);
size_t yoke__mpsm_phi_work_size(size_t n);

#endif
