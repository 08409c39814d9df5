// Recursive least squares with forgetting: a model of a unit from its inputs and outputs, renewed at
// every exchange. One regression per output, all inputs in each:
//
//   y_i^k ~ a_i1 y_i^{k-1} + .. + a_iN y_i^{k-N} + sum_j ( b_ij1 u_j^k + .. + b_ijM u_j^{k+1-M} )
//
// u^k is the input that acted until T^k. Parameters of output i, in this order: a_i1 .. a_iN, then
// b_i11 .. b_i1M, b_i21 .. b_i2M, and so on: N + M m numbers.
//
//   const size_t bytes = yoke__rls_size(&setup);
//   YOKE_TRY(yoke__rls_prepare(&rls, &setup, block, sink));  // block: bytes, aligned to 64
//   yoke__rls_update(&rls, y, u);                                       // at T^0, T^1, ...
//   yoke__rls_jacobian(&rls, &jacobian);
#ifndef YOKE_IDENTIFY_RLS_H
#define YOKE_IDENTIFY_RLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "identify/identify_jacobian.h"
#include "yoke/message.h"
#include "yoke/status.h"

#define YOKE_RLS_MAX_LAGS 8
#define YOKE_RLS_P0       1e6  // covariance at the start from zero
#define YOKE_RLS_P0_LOAD  1e2  // covariance at the start from loaded parameters

typedef struct yoke_rls_setup {
  size_t n, m;            // outputs, inputs
  size_t n_y_lags;        // N, at least 1
  size_t n_u_lags;        // M, at least 1
  double forgetting;      // lambda in (0, 1]
  double start_variance;  // P0: P = P0 I at the start
} yoke_rls_setup;

// What happened, for health records.
typedef struct yoke_rls_counts {
  int64_t n_samples;  // seen since the history began
  int64_t n_updates;  // regressions done, all outputs counted
  int64_t n_idle;     // left out: the signals carried no information
  int64_t n_capped;   // covariance held at its cap
  int64_t n_resets;   // numbers were not finite or overflowed: covariance back at P0
} yoke_rls_counts;

// Everything that changes lies in the block, without pointers into itself: a copy of the block is a
// saved state.
typedef struct yoke_rls {
  yoke_rls_setup setup;
  size_t n_parameters;      // N + M m, of one output
  yoke_rls_counts* counts;  // start of the block
  double* history;          // n N numbers y_i^{k-1} .. and M m numbers u_j^k ..
  double* residual;         // n: y^k less what the model says once it has learnt from it
  double* largest;          // n: running maximum of phi^T phi
  double* parameters;       // n x n_parameters
  double* variances;        // n x n_parameters: D of P = U D U^T
  double* factors;          // n x n_parameters (n_parameters - 1) / 2: U above its unit diagonal
  double *phi, *gain;       // n_parameters: work
} yoke_rls;

// Bytes of the block; 0 if the set-up is out of range.
size_t yoke__rls_size(const yoke_rls_setup* setup);
// Lays everything into the block and starts from zero. YOKE_BAD_ARG with a message if the set-up is
// out of range.
yoke_status yoke__rls_prepare(yoke_rls* rls, const yoke_rls_setup* setup, void* block,
                              const yoke_sink* sink);

// The sample at T^k: outputs and the inputs that led to them. The first max(N, M) samples only fill
// the history. Bounded work, no heap.
void yoke__rls_update(yoke_rls* rls, const double y[], const double u[]);
// Forgets the history, for instance after a lost sample; parameters and covariance stay.
void yoke__rls_forget_history(yoke_rls* rls);
// P := variance * I, so that everything is learnt anew; parameters stay. The cap of the trace stays
// at P0 of the set-up, or at variance if that is larger. Also forgets how large the signals were:
// after an oscillation far beyond their usual size they would count as idle.
void yoke__rls_restart(yoke_rls* rls, double variance);

// Parameters of all outputs, n x n_parameters.
void yoke__rls_read(const yoke_rls* rls, double parameters[]);
// Takes them over with P := variance * I. YOKE_BAD_ARG if one is not finite: nothing changes.
yoke_status yoke__rls_load(yoke_rls* rls, const double parameters[], double variance);
// Mean of the diagonal of P of one output.
double yoke__rls_mean_variance(const yoke_rls* rls, size_t output);
// True once every output has had a regression and all variances are positive; with several lags the
// history must be filled, too.
bool yoke__rls_is_sound(const yoke_rls* rls);

// Sy = diag(a_1), S0 = 0, S1 = b_1 (sizes n, m) from the present parameters: what the first lags say; no heap.
void yoke__rls_jacobian(const yoke_rls* rls, yoke_jacobian_discrete* to);

// What the lags beyond the first add to the next outputs (n), known at T^k:
//   a_2 y^{k-1} + .. + a_N y^{k+1-N} + b_2 u^k + .. + b_M u^{k+2-M}
void yoke__rls_memory(const yoke_rls* rls, double to[]);

// Parameters of a model with N = M = 1 for steps `ratio` >= 1 times as long, the input held over the
// long step: exact for whole ratios, in between a line between the neighbours. a: of one output; b:
// its m. YOKE_BAD_ARG if the ratio is below 1 or not finite. a_to, b_to may be a, b.
yoke_status yoke__rls_resample(double a, size_t m, const double b[], double ratio, double* a_to,
                               double b_to[]);
// The same with n lags of the output (a) and of each input (b: m times n, b_stride apart), in place, also for
// shorter steps: exact for whole ratios and for units with n states; where a pole at 0 or below has no
// continuous equivalent, a line between whole ratios. YOKE_BAD_ARG: ratio or n out of range;
// YOKE_NO_SUPPORT: such a pole, and a shorter step.
yoke_status yoke__rls_resample_lags(size_t n, size_t m, double a[], double b[], size_t b_stride,
                                    double ratio);

#endif
