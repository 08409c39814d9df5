// A few rows V that change, beside constant ones, in the projection of derivatives:
//
//   [ I   Ac^T  V^T ] [ xdot ]   [ xdot* ]        y  = what the constant rows alone give
//   [ Ac  -Dc    0  ] [ mu   ] = [ -bc   ]   =>   (V H V^T + Dv) mu_v = V y + bv
//   [ V    0    -Dv ] [ mu_v ]   [ -bv   ]        xdot = y - H V^T mu_v
//
// with H the first block of the inverse of the constant part. Only its columns at the unknowns that
// V touches are needed; they are computed once. A bridge of four diodes then costs a system of four
// unknowns in a step instead of new factors of everything that depends on the diodes.
#ifndef YOKE_CIRCUIT_BORDER_H
#define YOKE_CIRCUIT_BORDER_H

#include "linalg/linalg_sparse.h"

typedef struct yoke_border yoke_border;  // circuit_border.c

// The rows of `ahat` that hold varying entries. *out is NULL where there are none, or so many that
// new factors are cheaper.
yoke_status yoke__border_create(const yoke_sparse_pattern* ahat, yoke_arena* arena,
                                yoke_border** out);
bool yoke__border_has_row(const yoke_border* self, uint32_t row);
void yoke__border_clear(const yoke_border* self, double values[]);  // 0 in its rows of n
// `constant`: factors of the augmented matrix, 2n unknowns, with the rows of the border taken out;
// scale: Dv (and Dc), n; work: 2n.
void yoke__border_learn(yoke_border* self, yoke_sparse* constant, const double scale[],
                        double work[]);
// y := xdot. YOKE_SINGULAR if it is not finite; y is then as it was. No heap.
yoke_status yoke__border_apply(yoke_border* self, const double ahat[], const double bhat[],
                               double y[]);

#endif
