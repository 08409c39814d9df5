// Extended Kalman filter of an ARX(2,2) model.
//
//   z- = f(z, u):  s1 := s2,  s2 := -a2 s1 - a1 s2 + b2 u_{k-2} + b1 u_{k-1},  parameters stay
//   P- = F P F^T + Q,  F row 1 = [0 1 0 0 0 0],  F row 2 = [-a2, -a1, -s2, -s1, u_{k-1}, u_{k-2}]
//   K  = P- H^T / (H P- H^T + R),  H = [0 1 0 0 0 0],  z = z- + K (y_k - s2)
//   P  = (I - K H) P- (I - K H)^T + K R K^T
//
// Q is 1 for s2 and 0 for the rest, which makes start_variance mean the same as in recursive least squares: with R = 0 and
// without forgetting both are the same estimate. The last line (Joseph) is (I - K H) P- for this K, and stays positive under
// round-off. s1 is y_{k-1} and s2 is y_k after the update.
// Source: L. Ljung, Asymptotic behavior of the extended Kalman filter as a parameter estimator, IEEE Trans. Autom. Control 24
// (1979); W. Chen, licentiate thesis, Chalmers 2019, paper IV, with the index of its output equation corrected: as printed, it
// gives y_{k-1} where y_k is meant.
#include "identify/identify_ekf.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"

enum { N = YOKE_EKF_N, S1 = 0, S2 = 1, FIRST_PARAMETER = 2, A1 = 2, A2, B1, B2 };

#define MODEL_VARIANCE 1.0  // Q of s2

void yoke__ekf_start(yoke_ekf* ekf, const yoke_ekf_setup* setup) {
  memset(ekf, 0, sizeof *ekf);
  for (int i = FIRST_PARAMETER; i < N; i++) {
    ekf->P[i][i] = setup->start_variance;
  }
}

void yoke__ekf_enter(yoke_ekf* ekf, const yoke_ekf_setup* setup, double y) {
  ekf->z[S1] = ekf->z[S2];
  ekf->z[S2] = y;
  for (int i = 0; i < N; i++) {
    // a new start of the states: uncorrelated with the parameters
    ekf->P[S1][i] = ekf->P[i][S1] = ekf->P[S2][i] = ekf->P[i][S2] = 0;
  }
  ekf->P[S1][S1] = ekf->P[S2][S2] = setup->noise * MODEL_VARIANCE;
}

// P_ij g_i g_j keeps P positive; the parameters' variances grow up to their start value.
static void forget(yoke_ekf* ekf, const yoke_ekf_setup* setup) {
  double growth[N] = {1, 1, 1, 1, 1, 1};
  for (int i = FIRST_PARAMETER; i < N; i++) {
    // P / lambda, capped at the start variance: growth g on rows and columns keeps P = P'
    const double grown = fmin(ekf->P[i][i] / setup->forgetting, setup->start_variance);
    growth[i] = ekf->P[i][i] > 0 ? fmax(1, sqrt(grown / ekf->P[i][i])) : 1;
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      ekf->P[i][j] *= growth[i] * growth[j];
    }
  }
}

void yoke__ekf_predict(yoke_ekf* ekf, const yoke_ekf_setup* setup, double u1, double u2) {
  double* z = ekf->z;
  if (setup->forgetting < 1) {
    forget(ekf, setup);
  }

  // row 2 of F: derivatives of the prediction by s1, s2, a1, a2, b1, b2
  const double f[N] = {-z[A2], -z[A1], -z[S2], -z[S1], u1, u2};
  // F P, then (F P) F^T; rows and columns of the parameters stay
  double row[N];
  for (int j = 0; j < N; j++) {
    row[j] = 0;
    for (int i = 0; i < N; i++) {
      row[j] += f[i] * ekf->P[i][j];
    }
  }

  // f P f' + Q
  double corner = MODEL_VARIANCE;
  for (int j = 0; j < N; j++) {
    corner += row[j] * f[j];
  }

  // row 1 of F picks s2: the new s1 has the covariance of the old s2
  for (int j = FIRST_PARAMETER; j < N; j++) {
    ekf->P[S1][j] = ekf->P[j][S1] = ekf->P[S2][j];
    ekf->P[S2][j] = ekf->P[j][S2] = row[j];
  }
  ekf->P[S1][S1] = ekf->P[S2][S2];
  ekf->P[S1][S2] = ekf->P[S2][S1] = row[S2];
  ekf->P[S2][S2] = corner;

  // z-: s2 = -a2 s1 - a1 s2 + b2 u2 + b1 u1
  const double next = -z[A2] * z[S1] - z[A1] * z[S2] + z[B2] * u2 + z[B1] * u1;
  z[S1] = z[S2];
  z[S2] = next;
}

bool yoke__ekf_update(yoke_ekf* ekf, const yoke_ekf_setup* setup, double y) {
  // S = H P- H' + R; H picks s2
  const double R = setup->noise * MODEL_VARIANCE, S = ekf->P[S2][S2] + R;
  const double innovation = y - ekf->z[S2];
  yoke_ekf next = *ekf;
  double K[N];
  for (int i = 0; i < N; i++) {
    // K = P- H' / S
    K[i] = ekf->P[i][S2] / S;
    next.z[i] += K[i] * innovation;
  }
  for (int i = 0; i < N; i++) {
    // row i of T = (I - K H) P-, then T (I - K H)^T + K R K^T
    const double t2 = ekf->P[i][S2] - K[i] * ekf->P[S2][S2];
    for (int j = i; j < N; j++) {
      const double t = ekf->P[i][j] - K[i] * ekf->P[S2][j];
      next.P[i][j] = next.P[j][i] = t - t2 * K[j] + K[i] * R * K[j];
    }
  }
  if (!yoke__are_finite(N, next.z) || !yoke__are_finite((size_t)N * N, &next.P[0][0])) {
    return false;
  }
  *ekf = next;
  return true;
}
