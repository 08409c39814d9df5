// Total energy residual of one bond, from the four signals at its ends (SI units, vectors of n):
//
//   e_in  action as its receiver got it      e_out  action as its sender gave it
//   f_in  rate as its receiver got it        f_out  rate as its sender gave it
//
//   dP = e_in . f_out - f_in . e_out  =  d_e . f_in - e_in . d_f,   d_e = e_in - e_out,  d_f = f_in - f_out
//   TER = sum of |dP| dt,  throughput = sum of |e_in . f_in| dt,
//   flow part = sum of |e_out . d_f| dt,  effort part = sum of |d_e . f_out| dt,  TER <= flow + effort part
//
// Convention (it decides rankings): inputs as held during the step that just ended, outputs as read at its end, both
// valid over that whole step. Page: docs/ledger.md, "Two residuals".
// Source: S. Glumac, N. Varga, F. Raos, Z. Kovacic, Co-simulation perspective on evaluating the simulation with the
// engine test bench in the loop (2022); throughput and parts are ours.
#ifndef YOKE_ENERGY_TER_H
#define YOKE_ENERGY_TER_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/energy_sum.h"

typedef struct yoke_ter {
  yoke_sum_pair sizes;   // TER and throughput [J]
  yoke_sum net;          // sum of dP dt, signed [J]
  double flow, effort;   // the two parts [J]
  double flow_defect;    // sum of |d_f| dt
  double effort_defect;  // sum of |d_e| dt
  double power;          // dP of the last interval, its mean [W]; 0 if that was left out
  double passed;         // e_in . f_in of the last interval, its mean [W]; 0 if that was left out
  uint64_t n_bad;        // intervals left out because a value was not finite
} yoke_ter;

static inline double yoke__ter_total(const yoke_ter* ter) {
  return ter->sizes.high[0] + ter->sizes.low[0];
}

static inline double yoke__ter_throughput(const yoke_ter* ter) {
  return ter->sizes.high[1] + ter->sizes.low[1];
}

// The four signals of a bond at one instant.
typedef struct yoke_ter_sample {
  const double *e_in, *f_out, *f_in, *e_out;
} yoke_ter_sample;

// Means over an interval, added up. The split into parts is for the eye and needs no compensation.
static inline void yoke__ter_add_means(yoke_ter* ter, double dt, double power, double power_size,
                                       double passed, double passed_size, double flow,
                                       double effort, double flow_defect, double effort_defect) {
  // whatever is not finite in any value makes this sum not finite
  const double probe =
      (power_size + passed_size + flow + effort + flow_defect + effort_defect) * dt;
  if (!(probe <= DBL_MAX && dt >= 0)) {
    ter->n_bad++;
    ter->power = ter->passed = 0;
    return;
  }
  ter->power = power;
  ter->passed = passed;
  yoke__sum_pair_add(&ter->sizes, power_size * dt, passed_size * dt);
  yoke__sum_add(&ter->net, power * dt);
  ter->flow += flow * dt;
  ter->effort += effort * dt;
  ter->flow_defect += flow_defect * dt;
  ter->effort_defect += effort_defect * dt;
}

// An interval of dt [s] in which all four are constant, for one component.
static inline void yoke__ter_add_one(yoke_ter* ter, double dt, double e_in, double f_out,
                                     double f_in, double e_out) {
  // d_e and d_f of held signals are constant over the interval
  const double d_e = e_in - e_out, d_f = f_in - f_out;
  const double power = e_in * f_out - f_in * e_out, passed = e_in * f_in;
  yoke__ter_add_means(ter, dt, power, fabs(power), passed, fabs(passed), fabs(e_out * d_f),
                      fabs(d_e * f_out), fabs(d_f), fabs(d_e));
}

// An interval of dt [s] in which all four are constant. Values that are not finite are counted, not added.
void yoke__ter_add(yoke_ter* ter, double dt, size_t n, const yoke_ter_sample* sample);
// dP by its definition.
double yoke__ter_power(size_t n, const yoke_ter_sample* sample);

typedef enum yoke_ter_signal { YOKE_E_IN, YOKE_F_OUT, YOKE_F_IN, YOKE_E_OUT } yoke_ter_signal;

// An interval of dt [s] in which the four are straight lines between the samples at its ends: |dP| is integrated
// exactly, split at the roots of the parabola dP (vector bonds: of the sum).
void yoke__ter_add_linear(yoke_ter* ter, double dt, size_t n, const yoke_ter_sample* left,
                          const yoke_ter_sample* right);
// Integral over [0, 1] of |c0 + c1 s + c2 s^2|, exact by roots; NaN if a number is not finite.
double yoke__ter_integrate_magnitude(const double c[3]);

#endif
