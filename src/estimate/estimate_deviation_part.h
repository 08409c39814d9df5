// What the files of estimate_deviation.h share: how the deviation of fast unknowns moves, by a model of low order.
#ifndef YOKE_ESTIMATE_DEVIATION_PART_H
#define YOKE_ESTIMATE_DEVIATION_PART_H

#include "estimate/estimate_deviation.h"

#define YOKE_NO_PLACE SIZE_MAX

typedef struct yoke_motion {
  yoke_low_model model;  // order 0: there is none, and b follows at once
  double *x,
      *G;  // order x inputs: after an offset as old as those of the instances; B - k x+ of the last step
  uint64_t age, rest;
  double k;       // of the last step
  double *d, *b;  // of the instances that check; b: per unknown
  double* work;   // order
} yoke_motion;

void yoke__motion_prepare(yoke_motion* motion, const yoke_deviation_setup* setup,
                          yoke_arena* arena);
void yoke__motion_clear(yoke_motion* motion, size_t n_unknowns);
// Takes the model; what it has to know of the instances that check follows from another.
void yoke__motion_take(yoke_motion* to, const yoke_deviation_renewal* renewal,
                       const yoke_motion* from, size_t n_unknowns);
// To the next step: x, G and k.
void yoke__motion_step(yoke_motion* motion);
// What the step did to the instances that check. place: per unknown, its input of the model.
void yoke__motion_check(yoke_motion* motion, const size_t place[], size_t n_unknowns,
                        const double offset[]);
double yoke__motion_output(const yoke_motion* motion, size_t output);

#endif
