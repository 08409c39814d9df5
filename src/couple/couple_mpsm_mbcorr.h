// Model-based corrector, a rival of pre-step stabilisation: a held input that adds what the last
// one missed in the integral of the model-corrected signal.
//
// A reconstruction: S. Genser, thesis, Graz 2020, names the method and says what it keeps, but prints
// no equation.
//   w~ = L y~ + g,   u = w~^k + (mean of w~ over the last step - w~^{k-1}),   u = w^0 at k = 0
// y~ from step 1 with reset; w~^{k-1} is what the last step ended with.
#ifndef YOKE_COUPLE_MPSM_MBCORR_H
#define YOKE_COUPLE_MPSM_MBCORR_H

#include "couple/couple_mpsm_predict.h"

// Options with which a cluster serves the corrector: step 1 in continuous time, reset (or carried
// over), exact, with means.
yoke_mpsm_options yoke__mbcorr_options(bool carries_over);

// At T^k: the inputs of the next step, u (s). w_last (s): w~ of the last exchange point, replaced
// by that of this one; at k = 0 the caller puts L y^0 + g^0. Calls correct and accept of the
// cluster. work: s. YOKE_SINGULAR if the cluster is not ready, YOKE_DIVERGED if an input is not
// finite.
yoke_status yoke__mbcorr_step(yoke_mpsm* cluster, const yoke_mpsm_sample* now, double w_last[],
                              double u[], double work[]);

#endif
