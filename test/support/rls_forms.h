// Jacobians of models with several lags as the literature has them, for comparison: worse than one lag, and than lags that
// are remembered (yoke__rls_memory).
#ifndef YOKE_TEST_RLS_FORMS_H
#define YOKE_TEST_RLS_FORMS_H

#include "identify/identify_rls.h"

// Gilbert's realisation. One regression per output gives every output its own poles z_l, L = max(N, M) of them (those beyond
// N are 0), and residues r_l that are rows of inputs:
//
//   A = diag(z_l),  B = (r_l),  C = (1 .. 1),   Sy = C A C+ = (sum z_l) / L,   S1 = C B = sum r_l
//
// The sum of the poles is the coefficient a_1, and the sum of the residues is the first Markov parameter b_1, so that no pole
// has to be found. Source: MPSM specification 7.1.3; E. G. Gilbert, J. SIAM Control 1 (1963) 128-151.
static inline void rls_gilbert(const yoke_rls* rls, yoke_jacobian_discrete* to) {
  const size_t n = rls->setup.n, N = rls->setup.n_y_lags, M = rls->setup.n_u_lags;
  yoke__rls_jacobian(rls, to);
  for (size_t i = 0; i < n; i++) {
    to->Sy[i * n + i] /= (double)(N > M ? N : M);
  }
}

// N = 1, M = 2: S0 takes the second lag.
static inline void rls_direct(const yoke_rls* rls, yoke_jacobian_discrete* to) {
  const size_t n = rls->setup.n, m = rls->setup.m;
  yoke__rls_jacobian(rls, to);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < m; j++) {
      to->S0[i * m + j] = rls->parameters[i * rls->n_parameters + 1 + 2 * j + 1];
    }
  }
}

#endif
