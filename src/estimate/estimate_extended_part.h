// What the files of estimate_extended.h share.
#ifndef YOKE_ESTIMATE_EXTENDED_PART_H
#define YOKE_ESTIMATE_EXTENDED_PART_H

#include "estimate/estimate_extended.h"

#define YOKE_NO_COLUMN SIZE_MAX

// ---- estimate_extended_motion.c: the linear model of a step

typedef struct yoke_extended_motion {
  size_t n_states, n_inputs, n_unknowns;
  const size_t* column;  // per unknown: of B and D; YOKE_NO_COLUMN: offset of a sensor
  double h;
  double *A, *B, *C, *D;    // at the point
  double *A_mean, *B_mean;  // of the last step
  double *A_used, *B_used;  // that F and Q are made of
  bool has_F;
  double *E, *Psi1, *Psi2, *G, *work;
  double *W, *Q_d;
  double* F;  // n_states x n: [E G]
  double* Q;  // n x n; NULL: states are not disturbed
} yoke_extended_motion;

// walk: of the states, or NULL. The arena notes where memory is out.
void yoke__extended_motion_prepare(yoke_extended_motion* motion, const yoke_extended_setup* setup,
                                   const size_t column[], size_t n_inputs, yoke_arena* arena);
// Before the matrices of the end of a step are filled in: those there are become the ones of its start.
void yoke__extended_motion_turn(yoke_extended_motion* motion);
// F and Q of the step. What is made of matrices that have not changed, bit for bit, is kept.
yoke_status yoke__extended_motion_end(yoke_extended_motion* motion);

// ---- estimate_extended_belief.c: q = [d; e] and its covariance

typedef struct yoke_belief {
  double *q, *P;
} yoke_belief;

struct yoke_extended {
  yoke_extended_setup setup;
  size_t* column;
  size_t n_inputs, n;  // n: of q
  uint64_t k;          // steps taken
  bool has_diverged;

  double *known, *theta, *y;  // of the step that ended, and of the point
  double* next_known;
  double* applied;  // per unknown
  yoke_extended_motion motion;

  yoke_belief filter;  // has taken all readings
  yoke_belief prior;   // none
  yoke_belief fresh;   // those since the last look
  bool has_fresh;
  uint64_t next_look;
  double doubt;  // at the last look
  uint32_t n_restarts;

  double *H, *PH, *work, *q_next;
  double *innovations, *sds, *e;  // per sensor; e: normalised
  double *fresh_innovations, *fresh_sds;
  uint64_t* hits;  // per unknown
  uint64_t n_gated;
  yoke_consistency* consistency;
};

void yoke__belief_start(const yoke_extended* x, yoke_belief* b);
void yoke__belief_copy(const yoke_extended* x, const yoke_belief* from, yoke_belief* to);
// What an output is expected to be. H: n.
double yoke__belief_expect(const yoke_extended* x, const yoke_belief* b, size_t output, double H[]);
// Number of readings left out. YOKE_DIVERGED: not finite. innovations and sds are NaN where there is no reading.
yoke_status yoke__belief_correct(const yoke_extended* x, yoke_belief* b, const double readings[],
                                 const bool have[], double innovations[], double sds[],
                                 uint64_t* n_gated);
// hits: NULL or per unknown.
void yoke__belief_keep_bounds(const yoke_extended* x, yoke_belief* b, uint64_t hits[]);
yoke_status yoke__belief_predict(const yoke_extended* x, yoke_belief* b);

// ---- estimate_extended_fresh.c: what the filter says against what it would say without the readings of the beginning

void yoke__fresh_start(yoke_extended* x);
void yoke__fresh_correct(yoke_extended* x, const double readings[], const bool have[]);
void yoke__fresh_predict(yoke_extended* x);
// After all readings of a step have been taken.
void yoke__fresh_look(yoke_extended* x);

#endif
