// Unknowns as numbers of the filter, and readings and heat as functions of them.
//
// With x = T z + B v, a row of the network y(x, v) depends on a resistance through g = 1 / R alone (dg/dR = -g / R), on an
// unknown input v_i = factor * rho as on any input, and not on capacities:
//
//   d y / d rho_j = sum over resistors  d y / d g_e  d g_e / d theta_j   +   sum over inputs  factor_i  d y / d v_i
//
// and z' = C^-1 (K z + M v) depends on a capacity by -z'_i / c_i.
#include <math.h>
#include <string.h>

#include "estimate/estimate_filter_part.h"

// ---- theta

double yoke__theta_of(const yoke_unknown* unknown, double value) {
  return unknown->kind == YOKE_UNKNOWN_CONDUCTANCE ? 1.0 / value : value;
}

double yoke__theta_value(const yoke_unknown* unknown, double theta) {
  return yoke__theta_of(unknown, theta);
}

double yoke__theta_scale(const yoke_unknown* unknown, double theta) {
  // d value / d theta: |d(1/g)/dg| = 1 / g^2
  return unknown->kind == YOKE_UNKNOWN_CONDUCTANCE ? 1.0 / (theta * theta) : 1.0;
}

double yoke__filter_walk_density(const yoke_estimate* f, size_t j) {
  const yoke_unknown* unknown = &f->setup.unknowns[j];

  // walk of theta from the walk of the value
  const double walk = unknown->walk / yoke__theta_scale(unknown, f->q[f->rho_at + j]);
  return f->frozen_sd[j] >= 0.0 ? 0.0 : walk * walk;
}

void yoke__filter_add_rate_noise(const yoke_estimate* f, double P[]) {
  const yoke_estimate_setup* s = &f->setup;
  const size_t p = f->p;
  for (size_t i = 0; i < p; i++) {
    // block of z' in P
    double* row = P + (p + i) * f->n + p;
    row[i] += s->rate_walk * s->rate_walk * s->h;
    for (size_t j = 0; j < p && s->rate_noise != NULL; j++) {
      row[j] += s->rate_noise[i * p + j] * s->h;
    }
  }
}

// Conductance of a resistor factor * value, and its derivative by theta.
static double conductance(const yoke_unknown* unknown, double factor, double theta) {
  // g = theta / factor for theta = 1 / R, g = 1 / (factor theta) for theta = R
  return unknown->kind == YOKE_UNKNOWN_CONDUCTANCE ? theta / factor : 1.0 / (factor * theta);
}

static double conductance_slope(const yoke_unknown* unknown, double factor, double theta) {
  // dg/d theta
  return unknown->kind == YOKE_UNKNOWN_CONDUCTANCE ? 1.0 / factor : -1.0 / (factor * theta * theta);
}

void yoke__theta_apply(const yoke_estimate* f, const double theta[], yoke_heat_model* model,
                       double v[]) {
  for (size_t j = 0; j < f->n_rho; j++) {
    const yoke_unknown* unknown = &f->setup.unknowns[j];
    for (size_t t = 0; t < unknown->n_targets; t++) {
      const uint32_t target = unknown->targets[t];
      const double factor = unknown->factors[t];
      switch (unknown->kind) {
      case YOKE_UNKNOWN_RESISTANCE:
      case YOKE_UNKNOWN_CONDUCTANCE:
        model->g[target] = conductance(unknown, factor, theta[j]);
        break;
      case YOKE_UNKNOWN_CAPACITY:
        model->c[target] = factor * theta[j];
        break;
      case YOKE_UNKNOWN_INPUT:
        v[target] = factor * theta[j];
        break;
      case YOKE_UNKNOWN_OFFSET:
        break;
      }
    }
  }
}

// ---- rows

static double row_slope(const yoke_estimate* f, yoke_heat_row row, size_t j,
                        const double over_v[]) {
  const yoke_unknown* unknown = &f->setup.unknowns[j];
  const double theta = f->q[f->rho_at + j];
  double sum = 0.0;
  for (size_t t = 0; t < unknown->n_targets; t++) {
    const uint32_t target = unknown->targets[t];
    const double factor = unknown->factors[t];
    // factor dy/dv
    if (unknown->kind == YOKE_UNKNOWN_INPUT) {
      sum += factor * over_v[target];
    } else if (unknown->kind == YOKE_UNKNOWN_RESISTANCE ||
               unknown->kind == YOKE_UNKNOWN_CONDUCTANCE) {
      // dg/d theta dy/dg
      sum += conductance_slope(unknown, factor, theta) *
             yoke__heat_row_slope(&f->model, row, target, f->x);
    }
  }
  return sum;
}

double yoke__filter_row(const yoke_estimate* f, yoke_heat_row row, double H[]) {
  memset(H, 0, f->n * sizeof *H);
  yoke__heat_row_line(&f->model, row, H, f->line);
  for (size_t j = 0; j < f->n_rho; j++) {
    H[f->rho_at + j] = row_slope(f, row, j, f->line);
  }
  return yoke__heat_row_value(&f->model, row, f->x, f->v);
}

double yoke__filter_sensor(const yoke_estimate* f, size_t sensor, double H[]) {
  double value = yoke__filter_row(f, f->setup.sensors[sensor].row, H);
  for (size_t j = 0; j < f->n_rho; j++) {
    const yoke_unknown* unknown = &f->setup.unknowns[j];
    // an offset is added to the reading: dy/d rho = factor
    if (unknown->kind == YOKE_UNKNOWN_OFFSET && unknown->targets[0] == sensor) {
      H[f->rho_at + j] = unknown->factors[0];
      value += unknown->factors[0] * f->q[f->rho_at + j];
    }
  }
  return value;
}

// ---- heat

void yoke__filter_heat_slopes(const yoke_estimate* f, double D[]) {
  const yoke_heat_model* m = &f->model;
  memset(D, 0, f->n_rho * f->p * sizeof *D);
  for (size_t j = 0; j < f->n_rho; j++) {
    const yoke_unknown* unknown = &f->setup.unknowns[j];
    double* d = D + j * f->p;
    for (size_t t = 0; t < unknown->n_targets; t++) {
      const uint32_t target = unknown->targets[t];
      const double factor = unknown->factors[t];
      // d heat/d rho = M factor
      if (unknown->kind == YOKE_UNKNOWN_INPUT) {
        for (size_t i = 0; i < f->p; i++) {
          d[i] += factor * m->M[i * f->r + target];
        }
      } else if (unknown->kind == YOKE_UNKNOWN_RESISTANCE ||
                 unknown->kind == YOKE_UNKNOWN_CONDUCTANCE) {
        // d heat/d g, by the temperature drop across the resistor
        yoke__heat_model_slope(m, target, f->x,
                               conductance_slope(unknown, factor, f->q[f->rho_at + j]), d);
      }
    }
  }
}

void yoke__filter_rate_slopes(const yoke_estimate* f, double D[]) {
  const yoke_heat_model* m = &f->model;
  yoke__filter_heat_slopes(f, D);
  yoke__heat_model_heat(m, f->q, f->v, f->heat);
  for (size_t j = 0; j < f->n_rho; j++) {
    const yoke_unknown* unknown = &f->setup.unknowns[j];
    double* d = D + j * f->p;
    // z' = heat / c: d z' = d heat / c - heat / c^2 dc
    for (size_t i = 0; i < f->p; i++) {
      d[i] /= m->c[i];
    }
    for (size_t t = 0; t < unknown->n_targets && unknown->kind == YOKE_UNKNOWN_CAPACITY; t++) {
      const uint32_t i = unknown->targets[t];
      d[i] -= unknown->factors[t] * f->heat[i] / (m->c[i] * m->c[i]);
    }
  }
}
