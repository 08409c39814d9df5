// On-line error estimate: how far the signals of a coupled run are off, from this run alone.
//
// Every unit is called several times between two exchanges, on one grid of sub-steps j. From its samples
//
//   y_j   outputs after sub-step j-1 (y_0: at the start)
//   u_j   inputs applied during the sub-step j -> j+1
//
// a linear model of the unit is fitted (least squares over q = 0 .. lags-1, D: feedthrough, known):
//
//   z_j = y_j - D u_{j-1}        z_{j+1} = sum_q A_q z_{j-q} + sum_q B_q u_{j-q} + constant
//
// What a unit was given differs from what the outputs of the others say it should have been given. These defects of the
// inputs, with u = L y + offset over the connections, drive the error e of the outputs (run minus truth):
//
//   m_j = u_j - L (y_j + y_{j+1}) / 2        w_j = u_j - L y_{j+1}
//   P = (I - D L)^-1                         W = (I - B_0 L P / 2)^-1
//   ez_{j+1} = W ( sum_q A_q ez_{j-q} + sum_{q>0} B_q em_{j-q} + B_0 (m_j + L e_j / 2 + L P D w_j / 2) )
//   e_{j+1}  = P ( ez_{j+1} + D w_j )        em_j = m_j + L (e_j + e_{j+1}) / 2        e_0 = 0
//
// Nothing here knows units, steps or threads. Limits: docs/trust.md.
#ifndef YOKE_QUALITY_ONLINE_H
#define YOKE_QUALITY_ONLINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/status.h"

#define YOKE_ONLINE_LAGS      6
#define YOKE_ONLINE_EXCHANGES 16     // before the first estimate
#define YOKE_ONLINE_ROWS      20000  // of a fit; of more, as many are spread over all
#define YOKE_ONLINE_OUTPUTS   400    // of all units, at most
#define YOKE_ONLINE_NOISE                                                                          \
  1e-6  // of an output's standard deviation: a model with a larger residual is noisy

// A unit and its samples.
typedef struct yoke_online_unit {
  size_t n_y, n_u;
  const double* D;      // n_y x n_u, row by row
  const double* start;  // y_0, then the inputs with which it was computed
  const double*
      rows;  // row j: y_{j+1}, then u_j as a mean; and if has_last, u at the end of the sub-step
  bool has_last;
} yoke_online_unit;

// u[to] = gain y[from] + offset, summed over the links to an input; numbers among the outputs and inputs of all units side by
// side.
typedef struct yoke_online_link {
  size_t from, to;
  double gain, offset;
} yoke_online_link;

typedef struct yoke_online yoke_online;

// Units and links are borrowed. A unit without inputs has no error. YOKE_NO_MEMORY.
yoke_status yoke__online_create(const yoke_online_unit units[], size_t n_units,
                                const yoke_online_link links[], size_t n_links, size_t n_lags,
                                yoke_online** out);
void yoke__online_destroy(yoke_online** online);

// Models from the first n_rows samples; then the error stands at j = 0 again. YOKE_NO_SUPPORT: too few rows, too many signals,
// or a loop of feedthrough that cannot be solved; YOKE_INTERRUPTED: *is_cancelled, which may be NULL, became true.
yoke_status yoke__online_fit(yoke_online* online, int64_t n_rows, const atomic_bool* is_cancelled);
// A_q and B_q of a unit: n_lags matrices of n_y x n_y, and of n_y x n_u.
void yoke__online_model(const yoke_online* online, size_t unit, const double** A, const double** B);
// The largest residual of a unit's model in one sub-step, over the standard deviation of that output.
double yoke__online_residual(const yoke_online* online, size_t unit);

// Takes the error to j, not back.
void yoke__online_advance(yoke_online* online, int64_t j);
// The error of all outputs at the present j. seen: outputs as the others see them there, if they were computed again with
// newer inputs; NULL: as sampled.
void yoke__online_error(const yoke_online* online, const double seen[], double e[]);

#endif
