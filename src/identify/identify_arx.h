// Prediction of a signal several samples ahead by a model that is learnt while the signal comes in:
//
//   y_k = -a1 y_{k-1} - a2 y_{k-2} + b1 u_{k-1} + b2 u_{k-2}
//
//   const size_t bytes = yoke__arx_size(&setup);
//   YOKE_TRY(yoke__arx_prepare(&arx, &setup, block, sink));  // block: bytes, aligned to 64
//   yoke__arx_update(&arx, y_k, u_{k-1});                    // sample k
//   yoke__arx_skip(&arx, u_{k-1});                           // sample k is missing
//   yoke__arx_ahead_start(&arx, &ahead);
//   y_{k+1} = yoke__arx_ahead(&arx, &ahead, u_k);            // and so on
#ifndef YOKE_IDENTIFY_ARX_H
#define YOKE_IDENTIFY_ARX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "identify/identify_ekf.h"
#include "identify/identify_rls.h"
#include "yoke/message.h"
#include "yoke/status.h"

typedef enum yoke_arx_model { YOKE_ARX_RLS, YOKE_ARX_EKF } yoke_arx_model;

typedef struct yoke_arx_setup {
  yoke_arx_model model;
  bool has_input;         // else b1 = b2 = 0
  double forgetting;      // lambda in (0, 1]
  double start_variance;  // P0
  double noise;           // of the EKF: variance of a measurement over that of the model
  double limit;           // predictions leave the range of the samples by at most so many ranges
} yoke_arx_setup;

typedef struct yoke_arx_counts {
  int64_t n_samples;   // since the history began
  int64_t n_frozen;    // samples that nothing was learnt from
  int64_t n_limited;   // predictions that were cut to the limit
  int64_t n_restarts;  // numbers were not finite: everything is learnt anew
} yoke_arx_counts;

// What changes; behind it lies the block of recursive least squares. Numbers only: a copy of the block is a saved state.
typedef struct yoke_arx_state {
  yoke_arx_counts counts;
  yoke_ekf ekf;
  double y[2], u[2];  // y_k, y_{k-1}; u_{k-1}, u_{k-2}
  double low, high;   // of all samples
  double largest_u;
  bool has_range;
} yoke_arx_state;

typedef struct yoke_arx {
  yoke_arx_setup setup;
  yoke_arx_state* state;
  yoke_rls rls;
} yoke_arx;

size_t yoke__arx_size(const yoke_arx_setup* setup);
// YOKE_BAD_ARG with a message if the set-up is out of range.
yoke_status yoke__arx_prepare(yoke_arx* arx, const yoke_arx_setup* setup, void* block,
                              const yoke_sink* sink);

// Sample k with the input of the sample before. What is not finite is taken for a missing sample.
void yoke__arx_update(yoke_arx* arx, double y, double u1);
// Sample k is missing: what the model says takes its place, and nothing is learnt.
void yoke__arx_skip(yoke_arx* arx, double u1);
// The signal has jumped, or too much of it is missing: y is its first sample. What was learnt stays.
void yoke__arx_restart(yoke_arx* arx, double y);

// Whether there is a model to predict with: the last two samples are known and something was learnt.
bool yoke__arx_is_ready(const yoke_arx* arx);
// A prediction under way. Without a model it is the last sample, however far ahead.
typedef struct yoke_arx_ahead {
  double theta[4];  // a1, a2, b1, b2
  double y[2], u1;
  bool is_held;
} yoke_arx_ahead;
void yoke__arx_ahead_start(const yoke_arx* arx, yoke_arx_ahead* ahead);
// The next prediction; u is the input at the sample before it.
double yoke__arx_ahead_step(yoke_arx* arx, yoke_arx_ahead* ahead, double u);

// a1, a2, b1, b2 as of now.
void yoke__arx_read(const yoke_arx* arx, double theta[4]);

#endif
