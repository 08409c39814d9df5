// One step of model-based pre-step stabilisation for a cluster of q units: from outputs and inputs
// up to T^k and the interface Jacobians of the units to the inputs of [T^k, T^{k+1}].
//
//   step 1  y~ = y + delta   what the monolithic system would have: error differential equation
//   step 2  y^               the coupled surrogate, extrapolated to T^{k+1}
//   step 3  u^{k+1}          the input with which each unit alone lands on its part of y^
//
// Sizes: unit i has n_i outputs and m_i inputs; p = sum n_i, s = sum m_i; outputs and inputs of
// the units stand one after another in the vectors y (p) and u (s). Ideal coupling: u = L y + g.
// Time index: u^k is the input on [T^{k-1}, T^k], y^k the output at T^k, computed with u^k.
//
// Order of calls: size, prepare, {set_*} for every unit, assemble, start;
//   then at each T^k: [{set_*}, assemble,] correct, extrapolate, optimise or pass_on, accept.
// After prepare no call takes memory, and each has bounded work.
#ifndef YOKE_COUPLE_MPSM_PREDICT_H
#define YOKE_COUPLE_MPSM_PREDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "identify/identify_jacobian.h"
#include "yoke/status.h"

#define YOKE_MPSM_MAX_SIGNALS 512  // outputs, inputs of a cluster

typedef enum yoke_mpsm_time {
  YOKE_MPSM_CONTINUOUS,  // steps 1 and 2 are differential equations; needs continuous Jacobians
  YOKE_MPSM_DISCRETE,    // difference equations; continuous Jacobians are made discrete before
} yoke_mpsm_time;

typedef enum yoke_mpsm_shape {
  YOKE_MPSM_CONSTANT,  // held value
  YOKE_MPSM_RAMP,      // from L y^k + g^k on; continuous time only
} yoke_mpsm_shape;

// The coupling error between its samples in step 1, continuous time.
typedef enum yoke_mpsm_between {
  YOKE_MPSM_LINEAR,
  YOKE_MPSM_HELD,   // the value at the start of the interval
  YOKE_MPSM_MODEL,  // outputs follow the units' own models from the start of the step, what they
                    // then miss grows linearly: exact with exact Jacobians and end values only
} yoke_mpsm_between;

typedef struct yoke_mpsm_options {
  yoke_mpsm_time time;
  yoke_mpsm_shape shape;
  bool uses_ede;              // step 1; else y~ = y
  bool resets_ede;            // delta = 0 at the start of every step, else carried over
  yoke_mpsm_between between;  // continuous time
  bool keeps_ramp_jump;       // refinement of the ramp: it starts with a jump from u^k
  bool wants_mean;            // means of y~ over the step, for the model-based corrector
  bool is_levelled;           // a held input is the mean of the coupled signal over the step,
                              // not its end value; discrete time, without step 1
  double rank_cut;            // singular values below this share of the largest count as 0
  double cond_max;            // of I - C~, whatever the units of the signals
} yoke_mpsm_options;

typedef struct yoke_mpsm_setup {
  size_t n_units;
  const size_t* n_outputs;     // n_units
  const size_t* n_inputs;      // n_units
  const double* L;             // s x p, row by row
  double step;                 // H [s]
  size_t n_samples;            // outputs known inside a step: n equal parts; 0 and 1: its end only
  bool has_exogenous;          // g is not always 0
  const double* output_scale;  // p, positive: units of the least squares of step 3; NULL: 1
  const double* input_scale;   // s, positive; NULL: 1
  const bool* is_end;          // s: inputs that are end values even if is_levelled; NULL: none
  yoke_mpsm_options options;
} yoke_mpsm_setup;

// What is known at T^k.
typedef struct yoke_mpsm_sample {
  const double* y;        // p: outputs
  const double* u;        // s: inputs at the end of the last step
  const double* u_start;  // s: inputs at its start (between: a line); NULL: held
  const double* g;        // s: exogenous part of the inputs now; NULL: 0
  const double* g_next;   // s: at T^{k+1}; NULL: as now
  const double* known;    // p: what the models know to be added at T^{k+1}, discrete time; NULL: 0
  const double*
      inner;  // n_samples x p: outputs after each part, the last row is y; NULL: not known
} yoke_mpsm_sample;

// One unit. Matrices row by row. Discrete ones are y^{k+1} = Sy y^k + S0 u^k + S1 u^{k+1} over one step H.
typedef struct yoke_mpsm_unit {
  size_t n, m;                    // outputs, inputs
  size_t first_y, first_u;        // in the vectors of the cluster
  double *jac_y, *jac_u, *jac_d;  // n x n, n x m, n x m: as the equations of steps 1 and 2 use them
  double *sy, *s0, *s1;           // the same discrete, for step 3
  double* reach;                  // n x m: what step 3 solves with
  double* reach_inverse;          // m x n: its pseudo inverse
} yoke_mpsm_unit;

// Everything of a cluster; laid out in the caller's block by prepare. Others read only.
typedef struct yoke_mpsm {
  yoke_mpsm_options options;
  size_t n_units, p, s, n_samples;
  double step;
  bool has_exogenous;
  bool is_ready;      // assembled without failure
  bool is_drive_due;  // discrete time: drive_0, drive_1 are not of the present matrices yet
  double condition;   // of I - C~, least over all units of the signals; infinite: singular
  yoke_mpsm_unit* units;
  double* L;                  // s x p
  double *scale_y, *scale_u;  // p, s
  // is_levelled, else NULL: target = lead (L y^ + g') + level
  double *lead, *level;                     // s, s
  bool* is_end;                             // s
  double past;                              // weight of the last L y + g in level
  bool has_past;                            // y_last belongs to the same course
  double *A, *I_C, *R, *K;                  // p x p: A~, I - C~, its inverse, R A~ (continuous)
  double *extrapolate, *drive_0, *drive_1;  // step 2: p x p, p x s (g^k), p x s (g^{k+1})
  double *P, *Q;                            // step 1: p x p, p x s
  double *ede, *ede_0, *ede_1;              // over one part: p x p, p x s, p x s
  double *ede_y, *ede_u, *ede_slope;        // YOKE_MPSM_MODEL: p x p, p x s, p x s
  // state: one vector of n_state numbers
  double* state;
  size_t n_state;
  double *y_last, *u_last, *g_last, *eps_last, *delta, *delta_v;
  // results of the last calls
  double *eps, *y_tilde, *y_hat, *mean_tilde, *start_tilde;
  double* work;
  size_t* pivots;
} yoke_mpsm;

// Defaults: hybrid method (continuous, exact, held value), without step 1.
yoke_mpsm_options yoke__mpsm_options_default(void);

// Bytes of the block; 0 if the set-up makes no sense (no unit, a unit without outputs or inputs,
// ramp in discrete time, overflow).
size_t yoke__mpsm_size(const yoke_mpsm_setup* setup);
// Lays the cluster into memory (aligned as malloc does, zeroed). Nothing of setup is kept.
yoke_status yoke__mpsm_prepare(void* memory, const yoke_mpsm_setup* setup, yoke_mpsm** out);

// Jacobians of unit i, its sizes as in the set-up. YOKE_BAD_ARG if a size or an element is wrong,
// YOKE_DIVERGED if their exponential overflows.
yoke_status yoke__mpsm_set_continuous(yoke_mpsm* self, size_t i,
                                      const yoke_jacobian_continuous* from);
// YOKE_NO_SUPPORT with YOKE_MPSM_CONTINUOUS, else as before.
yoke_status yoke__mpsm_set_discrete(yoke_mpsm* self, size_t i, const yoke_jacobian_discrete* from);
// The global matrices. YOKE_SINGULAR if I - C~ is singular or its condition above cond_max; the
// cluster is then not ready and may not predict. delta stays what it is.
yoke_status yoke__mpsm_assemble(yoke_mpsm* self);

// k = 0: y^0 and u^0 as they are, delta = 0. u NULL: L y + g. Needs no Jacobians.
void yoke__mpsm_start(yoke_mpsm* self, const double y[], const double u[], const double g[]);
// eps^k = L y^k + g^k - u^k into self->eps. Needs no Jacobians.
void yoke__mpsm_error(yoke_mpsm* self, const yoke_mpsm_sample* now);
// Step 1: self->eps, self->delta, self->y_tilde.
void yoke__mpsm_correct(yoke_mpsm* self, const yoke_mpsm_sample* now);
// Discrete time: drive_0 and drive_1, if they are needed after all. Most clusters have g = 0.
void yoke__mpsm_drive(yoke_mpsm* self);
// Step 2: self->y_hat.
void yoke__mpsm_extrapolate(yoke_mpsm* self, const yoke_mpsm_sample* now);
// Step 3 of unit i: its m inputs at T^{k+1}, or over the whole step, into u. slope: m, or NULL if
// the shape is not a ramp; what the inputs rise per second (0 if held). u and slope: the unit's
// part.
void yoke__mpsm_optimise(yoke_mpsm* self, size_t i, const yoke_mpsm_sample* now, double u[],
                         double slope[]);
// "Modified" method: u := L y^ + g^{k+1} of all units. A ramp goes there from L y^k + g^k.
void yoke__mpsm_pass_on(const yoke_mpsm* self, const yoke_mpsm_sample* now, double u[],
                        double slope[]);
// y^k, u^k, eps^k become history. Call it last, at every T^k.
void yoke__mpsm_accept(yoke_mpsm* self, const yoke_mpsm_sample* now);
// What was before does not belong to what comes: a jump, a lost sample.
void yoke__mpsm_break(yoke_mpsm* self);
// delta := 0: the model was not used, or is new.
void yoke__mpsm_forget(yoke_mpsm* self);

// All three steps and accept. is_full: with step 3. slope: s, or NULL. YOKE_SINGULAR if the cluster
// is not ready, YOKE_DIVERGED if an input is not finite; the caller then uses its own.
yoke_status yoke__mpsm_step(yoke_mpsm* self, const yoke_mpsm_sample* now, bool is_full, double u[],
                            double slope[]);


#endif
