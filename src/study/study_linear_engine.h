// The radius of a loop by running it: the system with linear models in place of its units, stepped by the master that steps
// every run. So whatever the master and the coupling methods can do is judged as it is done: fresh exchange, Gauss-Seidel,
// delays, several rates, any method. Slower than the matrices of study_stability.h, which stay for what they know.
#ifndef YOKE_STUDY_LINEAR_ENGINE_H
#define YOKE_STUDY_LINEAR_ENGINE_H

#include "study/study_linear.h"

typedef struct yoke_linear_engine yoke_linear_engine;

// NO_SUPPORT: the method cannot serve these loops, *why says why (lives as long as loops). Takes memory.
yoke_status yoke__linear_engine_open(yoke_linear_loops* loops, yoke_linear_method method,
                                     yoke_linear_engine** out, const char** why);
void yoke__linear_engine_close(yoke_linear_engine** engine);

// With all steps, exchange intervals and delays `scale` times as long as in the file. Multiplier of a macro step, that of motions which
// nothing calls back left out. Infinite if the loop overflows within a few steps.
yoke_status yoke__linear_engine_radius(yoke_linear_engine* engine, double scale, double* radius);

#endif
