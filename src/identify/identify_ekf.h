// Extended Kalman filter for a model of second order with one input: signal and parameters together.
//
//   y_k = -a1 y_{k-1} - a2 y_{k-2} + b1 u_{k-1} + b2 u_{k-2}       z = [y_{k-1}, y_k, a1, a2, b1, b2]
//
// Beside recursive least squares it smooths the signal that its predictions start from.
#ifndef YOKE_IDENTIFY_EKF_H
#define YOKE_IDENTIFY_EKF_H

#include <stdbool.h>

enum { YOKE_EKF_N = 6 };

typedef struct yoke_ekf_setup {
  double start_variance;  // of the parameters
  double noise;       // variance of a measurement over that of the model's own error in one sample
  double forgetting;  // in (0, 1]: the parameters' covariance grows by 1 / forgetting per sample
} yoke_ekf_setup;

// Numbers only: a copy is a saved state.
typedef struct yoke_ekf {
  double z[YOKE_EKF_N];
  double P[YOKE_EKF_N][YOKE_EKF_N];
} yoke_ekf;

void yoke__ekf_start(yoke_ekf* ekf, const yoke_ekf_setup* setup);
// A sample that nothing is known before: the last signal becomes the one before. Parameters stay.
void yoke__ekf_enter(yoke_ekf* ekf, const yoke_ekf_setup* setup, double y);
// The next sample is predicted with u_{k-1}, u_{k-2}; the update that follows has seen it.
void yoke__ekf_predict(yoke_ekf* ekf, const yoke_ekf_setup* setup, double u1, double u2);
// False if a number is not finite: the filter is as it was.
bool yoke__ekf_update(yoke_ekf* ekf, const yoke_ekf_setup* setup, double y);

#endif
