// Between the files of study_difference: a unit that is tried, and the model that comes of it.
#ifndef YOKE_STUDY_DIFFERENCE_PART_H
#define YOKE_STUDY_DIFFERENCE_PART_H

#include "study/study_difference.h"

typedef struct yoke_shaken yoke_shaken;

// Work space of one unit.
typedef struct yoke_trial {
  const yoke_difference* at;
  const yoke_unit* u;
  double call;           // length [s]
  int64_t n_calls;       // of a pulse, and of the model
  size_t m, p, lags, n;  // inputs, outputs, blocks of H, responses that are needed
  size_t* offsets;       // lags: of the rows and columns of H, in calls; 0, 1, ... or growing apart
  void* image;           // where the unit stood; NULL: it cannot go back, and is shaken
  size_t image_size;
  double *moved, *y, *h;  // h: n blocks of p x m
  double* noise;          // p: what round-off makes of a response
  double* D;              // NULL: not known
  double* fine;           // see yoke_difference; NULL: not wanted
  size_t n_fine;
  size_t n_run;         // pulses' lengths that a unit without an image has run on
  yoke_shaken* shaken;  // what that showed; NULL: nothing yet
  double shaken_error;  // and how well an equation predicts it, relative
} yoke_trial;

typedef struct yoke_realisation {
  size_t rank;
  double *A, *B, *C, *D;
  double error;
} yoke_realisation;

// One call with inputs u, k calls after the point. NO_SUPPORT: it was not done, or gave no numbers.
yoke_status yoke__trial_call(yoke_trial* r, const double u[], size_t k, double y[]);
// h_(k+1), p x m.
static inline double* yoke__trial_response(const yoke_trial* r, size_t k) {
  return r->h + k * r->p * r->m;
}
// The largest difference of the first n responses from the model's, over the largest of that output and input.
yoke_status yoke__trial_error(const yoke_trial* r, size_t n, yoke_realisation* model);

// study_difference_shaken.c. Shakes the inputs while the unit runs on; then the responses follow, as many as are wanted. Fails as
// yoke__trial_call, or with NO_MEMORY.
yoke_status yoke__trial_shake(yoke_trial* r, yoke_arena* arena);
void yoke__trial_shaken_responses(yoke_trial* r);

// study_difference_states.c. True: *out is the model, from states that the unit shows; its error is set.
yoke_status yoke__trial_states(yoke_trial* r, yoke_realisation* out, bool* is_found);

#endif
