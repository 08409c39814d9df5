// Linear models in place of the units of a system: the same loop, run by the same master, with units whose motion is known.
//
// A stand-in has the real inputs and outputs of its unit, its feedthrough, its solver and its flags, so that the master
// treats it like the unit: means, fresh exchange, derivatives of inputs. A call of length h advances
//
//   x+ = E x + G0 u + G1 u' + G2 u'' + G3 u'''        y = C x + D u
//
// where E and G solve x' = s A x + s B u exactly, or in steps of explicit Euler. s is the time scale: one system, built once,
// is looked at with all its steps s times as long.
#ifndef YOKE_STUDY_STANDIN_H
#define YOKE_STUDY_STANDIN_H

#include "study/study_linear.h"
#include "system/system.h"

typedef struct yoke_standin yoke_standin;

// For a unit of a system. Outside of loops all outputs are 0. Lives in the arena. NULL: out of memory.
yoke_standin* yoke__standin_make(const yoke_system_unit* unit, const yoke_linear_unit* model,
                                 yoke_arena* arena);
// The table that makes units of it; one instance at a time.
const yoke_unit_ops* yoke__standin_ops(const yoke_standin* self);

void yoke__standin_scale(yoke_standin* self, double scale);
// Its states: n of them, to be read and set between calls; everything else of its memory is set to 0 with them.
size_t yoke__standin_count(const yoke_standin* self);
const double* yoke__standin_states(const yoke_standin* self);
void yoke__standin_set(yoke_standin* self, const double x[]);
void yoke__standin_clear(yoke_standin* self);
const double* yoke__standin_outputs(const yoke_standin* self, size_t* n);

#endif
