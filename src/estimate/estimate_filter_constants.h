// The constants of a linear filter and where it starts, for whoever writes it down as a program of its own (export/export_twin.h):
//
//   q+ = [E z + Psi1 Gc v; rho],  P+ = F P F' + Q           prediction, F the first p rows
//   z := z + Psi2 Gc (v - v_before) / h                     for inputs that went straight
//   y_i = row_i(x, v) + offsets = H_i q + what v does        what sensor i is expected to read
#ifndef YOKE_ESTIMATE_FILTER_CONSTANTS_H
#define YOKE_ESTIMATE_FILTER_CONSTANTS_H

#include "estimate/estimate_filter.h"

// Everything belongs to the filter.
typedef struct yoke_estimate_constants {
  const yoke_estimate_setup* setup;
  const yoke_heat_model* model;
  size_t n, p, r, n_rho;
  const bool* is_unknown_input;       // r
  const double *lower, *upper;        // n_rho: bounds, infinite where there are none
  const double *F, *Psi1, *Psi2, *Q;  // p x n with E in its first p columns, p x p, p x p, n x n
  const double *q, *P, *v;            // as they are now
} yoke_estimate_constants;

// YOKE_NO_SUPPORT: the filter is not linear; YOKE_BAD_ARG: it is not where it started, or an unknown is frozen.
yoke_status yoke__estimate_constants_of(const yoke_estimate* f, yoke_estimate_constants* out);

// H (n) of a sensor, with its offset, and of an output.
void yoke__estimate_sensor_line(const yoke_estimate* f, size_t sensor, double H[]);
void yoke__estimate_output_line(const yoke_estimate* f, size_t output, double H[]);

#endif
