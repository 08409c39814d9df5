// What the files of the filters share.
//
//   estimate_filter_prepare.c     checks and memory
//   estimate_filter.c             life cycle, the step, results
//   estimate_filter_rows.c        readings and heat as functions of q, and their derivatives
//   estimate_filter_linear.c      linear and extended
//   estimate_filter_derivative.c
//   estimate_filter_unscented.c
//
// theta is what the filter works with of an unknown: its value, or 1 / value for YOKE_UNKNOWN_CONDUCTANCE.
//
// Invariants between calls: the model, v and x belong to the rho of q; E, Psi1, Psi2 to the model.
#ifndef YOKE_ESTIMATE_FILTER_PART_H
#define YOKE_ESTIMATE_FILTER_PART_H

#include "estimate/estimate_filter.h"

typedef struct yoke_estimate_head {
  yoke_estimate_counts counts;
  yoke_estimate_reason reason;
  uint64_t n_lost;  // corrections in a row
} yoke_estimate_head;

struct yoke_estimate {
  yoke_estimate_setup setup;  // its arrays are copies
  yoke_estimate_method method;
  size_t p, r, n_rho, n;   // n: of q
  size_t rho_at;           // of q: p, or 2 p
  bool has_elements;       // a resistance or capacity is unknown
  yoke_sensor* sensors;    // those of the setup, which may change
  bool* is_unknown_input;  // r
  double *lower, *upper;   // n_rho: of theta
  double* start_sd;        // n_rho: of theta

  // what changes: these arrays lie in one block, those of the model in another
  yoke_heat_model model;
  unsigned char* block;
  size_t block_size;
  yoke_estimate_head* head;
  uint64_t *n_hits, *n_at_bound;  // n_rho: bounds, all and in a row
  double* frozen_sd;              // n_rho: of theta; negative: it is not frozen
  double *q, *P;                  // n, n x n
  double *v, *x;  // r inputs with the estimates of unknown ones, temperatures of all nodes
  double *E, *Psi1, *Psi2;             // p x p
  double *F, *Q;                       // first rho_at rows of n x n, n x n
  double *innovation, *innovation_sd;  // n_sensors

  // scratch
  double *H, *expected;     // (n_sensors + p) x n
  double *prior, *PH;       // n
  double *line, *slope;     // r
  double *heat, *push;      // p
  double* D;                // n_rho x p: column by column, as it is used
  double* work;             // 8 n^2 + n_nodes + r
  yoke_heat_model sigma;    // unscented: the network at a sigma point
  double *points, *images;  // 2 n + 1 rows of n, of n + n_sensors
  double *joint_q, *joint_P, *joint_H, *joint_PH, *joint_work;  // for n + n_sensors states
};

// ---- estimate_filter_rows.c

double yoke__theta_of(const yoke_unknown* unknown, double value);
// The inverse, and |d value / d theta|.
double yoke__theta_value(const yoke_unknown* unknown, double theta);
double yoke__theta_scale(const yoke_unknown* unknown, double theta);
// Spectral density of the walk of theta; 0 while the unknown is frozen.
double yoke__filter_walk_density(const yoke_estimate* f, size_t j);
// Adds what a step adds to the covariance of z', a part of the n x n matrix P.
void yoke__filter_add_rate_noise(const yoke_estimate* f, double P[]);
// Elements and inputs with the unknowns at theta; the model is to be updated afterwards.
void yoke__theta_apply(const yoke_estimate* f, const double theta[], yoke_heat_model* model,
                       double v[]);
// H (n) = derivative of a row by q; its value is returned. x, v: temperatures and inputs at q.
double yoke__filter_row(const yoke_estimate* f, yoke_heat_row row, double H[]);
// The same of a sensor, with its offset.
double yoke__filter_sensor(const yoke_estimate* f, size_t sensor, double H[]);
// D (n_rho x p) = derivative of K z + M v by theta, without that of capacities, which do not appear in it.
void yoke__filter_heat_slopes(const yoke_estimate* f, double D[]);
// D (n_rho x p) = derivative of z' = Fc z + Gc v by theta.
void yoke__filter_rate_slopes(const yoke_estimate* f, double D[]);

// ---- estimate_filter.c

// Takes the readings by the first rows of H, linearised at the present q where they are `expected`.
yoke_status yoke__filter_take_sensors(yoke_estimate* f, const double readings[], const bool have[]);
// The innovation of a row after others were taken; innovation: what it was before the first of them.
double yoke__filter_row_innovation(const yoke_estimate* f, const double H[], double innovation);
bool yoke__filter_has_reading(const double readings[], const bool have[], size_t sensor);
void yoke__filter_note_missing(yoke_estimate* f, size_t sensor);
// Notes innovation e of variance s; false if the reading is to be left out.
bool yoke__filter_note_reading(yoke_estimate* f, size_t sensor, double e, double s);
// z after a step of a network with inputs v + slope s (slope may be NULL).
void yoke__filter_move_z(const yoke_estimate* f, const yoke_heat_model* model, const double E[],
                         const double Psi1[], const double Psi2[], const double v[],
                         const double slope[], double z[]);

// ---- methods: refresh for a new model; correct and predict with model, v and x of now

yoke_status yoke__linear_refresh(yoke_estimate* f);
yoke_status yoke__linear_correct(yoke_estimate* f, const double readings[], const bool have[]);
yoke_status yoke__linear_predict(yoke_estimate* f, const double slope[]);
yoke_status yoke__derivative_refresh(yoke_estimate* f);
yoke_status yoke__derivative_correct(yoke_estimate* f, const double readings[], const bool have[]);
yoke_status yoke__derivative_predict(yoke_estimate* f, const double slope[]);
yoke_status yoke__unscented_correct(yoke_estimate* f, const double readings[], const bool have[]);
yoke_status yoke__unscented_predict(yoke_estimate* f, const double slope[]);

#endif
