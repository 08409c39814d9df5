// The error estimate of a run that has no companions: samples of its units between exchanges (master_tape.c), models fitted to
// them in a thread of its own while the run goes on, and again at its end over everything that was kept (quality_online.h).
// What the run computes does not depend on it, and what it says at the end does not depend on time.
#ifndef YOKE_TRUST_ONLINE_H
#define YOKE_TRUST_ONLINE_H

#include "master/master.h"
#include "quality/quality_band.h"

typedef struct yoke_trust_online yoke_trust_online;

typedef struct yoke_online_info {
  int64_t n_exchanges;  // macro steps of the run
  int64_t n_estimated;  // of these, up to where samples were kept
  int64_t n_samples;    // per exchange
  int64_t n_left_out;   // sub-steps for which there was no room
  double
      residual;  // the largest of a model in one sub-step, over the standard deviation of its output
  size_t n_units;  // with a model
} yoke_online_info;

// Before the first step. Samples are kept from here on. If some signal can be estimated a thread is started, which shows the
// largest band so far in state->estimated. YOKE_NO_MEMORY.
yoke_status yoke__trust_online_begin(const yoke_system* system, yoke_state* state,
                                     yoke_trust_online** out);
// The run has ended: the last fit, in a thread of its own. Once. YOKE_INTERRUPTED: goes_on, which may be NULL and is asked now
// and then, said no.
yoke_status yoke__trust_online_finish(yoke_trust_online* online, bool (*goes_on)(void* to),
                                      void* to);
void yoke__trust_online_destroy(yoke_trust_online** online);

// After finish. The band of judged signal i; false, and why, if it has none.
bool yoke__trust_online_band(const yoke_trust_online* online, size_t i, yoke_band* out,
                             const char** why);
// Its estimated error at the rows of the trace, times `factor` a bound; *n of them, `stride` numbers apart.
const double* yoke__trust_online_errors(const yoke_trust_online* online, size_t i, double* factor,
                                        size_t* n, size_t* stride);
void yoke__trust_online_info(const yoke_trust_online* online, yoke_online_info* out);

#endif
