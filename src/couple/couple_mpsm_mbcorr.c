// Model-based corrector (reconstruction).
//
//   u = w~^k + c^k,   c^k = mean over [T^{k-1}, T^k] of w~ - w~^{k-1},   w~ = L y~ + g
//
// The nearly energy-preserving coupling element, fed with outputs that the error differential
// equation has corrected: it keeps the integral of the estimated monolithic signal and lags behind
// it. Source: T. Haid, G. Stettinger, D. Watzenig, M. Benedikt, A model-based corrector approach for
// explicit co-simulation using subspace identification (2018), for the method; this is one of several
// formulas that fit what is published, so a comparison with it is a comparison with this formula.
// Page: docs/couple_mpsm.md, "Other methods".
#include "couple/couple_mpsm_mbcorr.h"

#include "base/base_check.h"
#include "linalg/linalg_dense.h"

yoke_mpsm_options yoke__mbcorr_options(bool carries_over) {
  yoke_mpsm_options options = yoke__mpsm_options_default();
  options.uses_ede = true;
  options.resets_ede = !carries_over;
  options.wants_mean = true;
  return options;
}

yoke_status yoke__mbcorr_step(yoke_mpsm* cluster, const yoke_mpsm_sample* now, double w_last[],
                              double u[], double work[]) {
  const size_t p = cluster->p, s = cluster->s;
  if (!cluster->is_ready) {
    return YOKE_SINGULAR;
  }

  // y~ and its mean over the last step
  yoke__mpsm_correct(cluster, now);
  yoke__mat_vec(s, p, cluster->L, cluster->mean_tilde, work);
  yoke__mat_vec(s, p, cluster->L, cluster->y_tilde, u);
  bool is_finite = true;
  for (size_t i = 0; i < s; i++) {
    // g between exchange points is a line, so its mean is that of its ends
    const double g = now->g == NULL ? 0 : now->g[i];
    const double mean = work[i] + 0.5 * (g + cluster->g_last[i]);
    // w~^k, then u = w~^k + (mean of w~ - w~^{k-1})
    const double w = u[i] + g;
    u[i] = w + (mean - w_last[i]);
    w_last[i] = w;
    is_finite = is_finite && yoke__is_finite(u[i]);
  }
  yoke__mpsm_accept(cluster, now);
  return is_finite ? YOKE_OK : YOKE_DIVERGED;
}
