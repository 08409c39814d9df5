// Stability of linear coupled systems: one communication step as a matrix, its spectral radius, the
// largest stable step, maps over step, stiffness and damping, and Bohl exponents of step sequences.
//
// Units x' = A x + B u, y = C x + D u, solved by explicit Euler in equal parts or exactly, coupled
// by u = L y under Jacobi (where L and the units come from in a system: study_linear.h). All memory of units and coupling is one vector z; a communication step
// maps z to M z, and the coupling is stable if the spectral radius of M is below 1.
#ifndef YOKE_STUDY_STABILITY_H
#define YOKE_STUDY_STABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "couple/couple_mpsm_predict.h"
#include "yoke/status.h"

typedef enum yoke_stability_method {
  YOKE_STABILITY_ZOH,     // held
  YOKE_STABILITY_FOH,     // linear
  YOKE_STABILITY_SOH,     // parabola
  YOKE_STABILITY_NEPCE,   // held, plus what the last one missed in the mean
  YOKE_STABILITY_MBCORR,  // model-based corrector (reconstruction); step 1 as in the options
  YOKE_STABILITY_MPSM,    // model-based pre-step stabilisation as in the options
} yoke_stability_method;

// Row by row: A n_states x n_states, B n_states x n_inputs, C n_outputs x n_states, D n_outputs x
// n_inputs.
typedef struct yoke_stability_unit {
  size_t n_states, n_inputs, n_outputs;
  const double *A, *B, *C, *D;
} yoke_stability_unit;

// How one unit is solved and called.
typedef struct yoke_stability_solver {
  double micro_step;  // explicit Euler in equal parts of about this length [s]; 0: exact
  double call_step;   // inputs are held from call to call, about this far apart [s]; infinite: over
                      // a whole part of the step; 0: the solver follows them
  bool takes_mean;    // a call is given the mean of the input over it, not its value at the start
  bool is_discrete;   // A and B are those of one step, whatever its length: x := A x + B u
} yoke_stability_solver;

typedef struct yoke_stability_case {
  const yoke_stability_unit* units;
  size_t n_units;
  const double* L;                       // inputs x outputs
  double step;                           // exchange interval [s]
  double micro_step;                     // of the units' solvers [s]; 0: exact
  const yoke_stability_solver* solvers;  // n_units; NULL: micro_step for all
  size_t n_inner;    // exact units: parts of a step at whose ends outputs are known; 0: 1
  bool sees_inside;  // the coupling is given the outputs of every part (NEPCE, step 1, corrector)
  bool sees_stale;  // the first of them is what was exchanged, without the jump of the inputs since
  const double*
      through;  // outputs x inputs, coupling by signals: what outputs are brought up to date by when they are sent; NULL: nothing
  yoke_stability_method method;
  bool is_choosing;   // `auto`: parabolas while they predict better than holding, else held signals
  bool is_modified;   // mpsm without its step 3
  double held_share;  // mpsm: share of held signals in the inputs, 0 to 1 (switch phase)
  double margin;      // a radius below 1 + margin counts as stable
  size_t n_free;      // multipliers of 1 that are left out of the radius
  yoke_mpsm_options options;  // of mpsm and corrector
  // Models of the units, n_units each; both NULL: from the state spaces (identify_jacobian.h)
  const yoke_jacobian_continuous* continuous;
  const yoke_jacobian_discrete* discrete;
} yoke_stability_case;

// Hybrid mpsm with the defaults of its options, solvers exact.
yoke_stability_case yoke__stability_case_default(void);

typedef struct yoke_stability yoke_stability;

// Takes memory. YOKE_BAD_ARG: sizes, steps, or options that do not go together; YOKE_SINGULAR: the
// coupled models, or the feedthrough that is brought up to date, have an algebraic loop; YOKE_NO_MEMORY. *out is NULL on failure.
yoke_status yoke__stability_open(const yoke_stability_case* c, yoke_stability** out);
void yoke__stability_close(yoke_stability** self);

// Length of z.
size_t yoke__stability_size(const yoke_stability* self);
// z at t = 0 from the states of all units (x), with consistent inputs u = L y.
yoke_status yoke__stability_start(yoke_stability* self, const double x[], double z[]);
// One communication step, z in place; y: the outputs at its end, u: the inputs that led there (each
// may be NULL).
void yoke__stability_step(yoke_stability* self, double z[], double y[], double u[]);
// M, size x size, by stepping unit vectors.
void yoke__stability_matrix(yoke_stability* self, double M[]);
// The part of M that has its eigenvalues but for some that are 0; *size: of that part. Small ones are taken whole. Takes
// memory; M: as for the whole.
yoke_status yoke__stability_core(yoke_stability* self, double M[], size_t* size);

// Spectral radius of one step. Infinite if the models overflow at this step.
yoke_status yoke__stability_radius(const yoke_stability_case* c, double* radius);
// Motions that the coupled models of mpsm keep for ever: eigenvalues of K that are 0 against the largest. A unit without
// state makes one, since models give changes of outputs, not their values, and so may one with fewer outputs than states,
// whose output alone does not say how it moves; a radius of exactly 1 is its trace. 0 if the method has no models.
yoke_status yoke__stability_count_kept(const yoke_stability_case* c, size_t* n_kept);

// ---- sequences

// max over l of ||M_{l+K-1} ... M_l||_2^(1/K), the finite form of the upper Bohl exponent; below 1
// for all long K: exponentially stable. matrices: count of size n x n, one after another. scale: n
// signal ranges (NULL: 1) in which the norm is taken. YOKE_BAD_ARG if count < K or K = 0. Takes
// memory.
yoke_status yoke__stability_bohl(size_t n, const double matrices[], size_t count, size_t K,
                                 const double scale[], double* value);

#endif
