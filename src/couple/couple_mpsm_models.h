// The models of the units of a cluster, for pre-step stabilisation: where their Jacobians come from.
//
//   rls       recursive least squares over the samples, renewed at every exchange
//   moesp     subspace identification of a triangular factor that forgets, computed beside the steps and taken over a
//             fixed number of exchanges later, so that results do not depend on how long it took
//   provided  the linear models that the units tell, refused where their coupled surrogate grows; then rls
//
// Vectors: y outputs of the cluster, u inputs unit by unit, a unit's served signals before its exogenous inputs.
// After prepare and start no heap, but of the subspace solver in its own thread.
#ifndef YOKE_COUPLE_MPSM_MODELS_H
#define YOKE_COUPLE_MPSM_MODELS_H

#include "couple/couple_mpsm_predict.h"
#include "identify/identify_moesp.h"
#include "identify/identify_quality.h"
#include "identify/identify_rls.h"
#include "yoke/coupling.h"

typedef enum yoke_mpsm_source {
  YOKE_MPSM_BY_RLS,
  YOKE_MPSM_BY_MOESP,
  YOKE_MPSM_PROVIDED,
} yoke_mpsm_source;

// Why provided models are not used.
typedef enum yoke_mpsm_refusal {
  YOKE_MPSM_NOT_REFUSED,
  YOKE_MPSM_LACKING,  // a unit tells none, or one that is no number
  YOKE_MPSM_GROWS,    // the coupled surrogate does
  YOKE_MPSM_LOOP,     // the coupled surrogate has an algebraic loop
  YOKE_MPSM_UNSEEN,   // a unit's outputs do not tell its states as the rule asks
  YOKE_MPSM_BIASED,  // they miss in one direction all the time: a constant that Jacobians do not have
} yoke_mpsm_refusal;

typedef struct yoke_mpsm_models_setup {
  const yoke_coupling_cluster* cluster;
  const double* L;  // inputs x outputs, unit by unit
  yoke_mpsm_source source;
  yoke_rls_setup rls;      // n and m are each unit's own
  yoke_moesp_setup moesp;  // the same; order 0: the number of outputs
  size_t delay;            // exchanges from the copy of the samples to the use of a subspace model
  size_t first_use;        // exchange from which on models are needed
  const char* path;        // models to start from; NULL: none
  double step;             // exchange interval [s]
} yoke_mpsm_models_setup;

typedef struct yoke_mpsm_member {
  const yoke_coupling_unit* about;
  size_t n, m;              // outputs, inputs
  size_t first_y, first_u;  // in the vectors of the cluster
  yoke_rls rls;
  yoke_jacobian_discrete jacobian;  // of rls or moesp
  yoke_identify_range range;
  double* loaded;  // n x parameters
  // provided
  yoke_jacobian_continuous provided;
  const double* linear;  // in the last sample
  double* linear_used;   // as it was when the Jacobians were made
  double* states_work;
  size_t n_linear;
  size_t rank;  // of its output matrix, at the start
  // subspace: what the step fills, and what belongs to the work beside it
  yoke_moesp_factor factor;
  yoke_moesp* solver;
  yoke_moesp_factor factor_copy;
  yoke_jacobian_discrete found;
  double* found_work;
  yoke_status found_status;
} yoke_mpsm_member;

typedef struct yoke_mpsm_models {
  yoke_mpsm_source source;  // rls once provided ones are refused
  bool is_short;            // memory was out when they were judged
  size_t n_units;
  yoke_mpsm_member* members;
  yoke_moesp_setup moesp;
  double *y_bar, *errors;
  double step;
  int64_t k;
  int n_without;  // exchanges in a row without provided models that could be used
  bool
      is_set;  // the prediction has them; false after a failure, so that the next exchange tries again
  // subspace
  size_t delay, first_use;
  bool is_working, is_stale;  // a model is being made; of samples that do not count any more
  int64_t due;
  bool has_model;
  // for the health record
  int64_t n_models, n_late, n_failed;
  bool is_refused;
  yoke_mpsm_refusal refusal;
  size_t n_surrogates;             // units whose provided models leave dynamics out
  const yoke_mpsm_member* unseen;  // the first that the rule of the rank speaks of
  double growth;                   // of the coupled surrogate of provided models [1/s]
  const char* lacking;             // a unit that provides none
  double *bias, *spread;  // p: how far the models miss on average, with and without sign, in ranges
  double* known;  // p: what models with memory add to the next outputs; NULL: they have none
  double error;   // of the last exchange
} yoke_mpsm_models;

// Bytes of the block.
size_t yoke__mpsm_models_size(const yoke_mpsm_models_setup* setup);
// Lays everything into memory (zeroed, aligned to 64); reads setup->path. On failure nothing is left to close.
yoke_status yoke__mpsm_models_prepare(void* memory, const yoke_mpsm_models_setup* setup,
                                      yoke_mpsm_models** out, const yoke_sink* sink);
void yoke__mpsm_models_close(yoke_mpsm_models* models);

// k = 0. linear: the numbers that the cluster tells of linear models. Decides about provided ones.
void yoke__mpsm_models_start(yoke_mpsm_models* models, const double L[], const double y[],
                             const double u[], const double linear[]);
// k > 0: the step that ended now led from y_last with u to y; u_last is the input before. Learns from it and says how far
// the models miss it: e_glob into models->error. False: there is no sound model.
typedef struct yoke_mpsm_passed {
  const double *y_last, *u_last, *u, *y;
} yoke_mpsm_passed;
bool yoke__mpsm_models_observe(yoke_mpsm_models* models, const yoke_mpsm* cluster,
                               const yoke_coupling_worker* worker, const yoke_mpsm_passed* step);
// The models into the prediction, if they have changed. Fails as assembling does.
yoke_status yoke__mpsm_models_renew(yoke_mpsm_models* models, yoke_mpsm* cluster);

// Call it after renew. True once provided models have failed too often in a row: from now on they are learnt.
bool yoke__mpsm_models_give_up(yoke_mpsm_models* models);

// What was learnt was wrong: least squares forget how sure they are. A factor stays: it would take long to fill it again.
void yoke__mpsm_models_relearn(yoke_mpsm_models* models);
// The sample before the next one does not fit to it.
void yoke__mpsm_models_forget(yoke_mpsm_models* models);

// Writes the models of least squares. YOKE_NO_SUPPORT: there are none.
yoke_status yoke__mpsm_models_write(const yoke_mpsm_models* models, const char* path,
                                    const yoke_sink* sink);

#endif
