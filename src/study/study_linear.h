// The linear model of a system's loops: its units linearised at the start, joined by the connections.
//
//   unit i   x' = A x + B u,  y = C x + D u      at the point at which the system stands
//   loops    u = L y                             gains of the connections, laws folded in
//
// Only what lies on a closed chain of connections takes part: a coupling cannot make anything else
// unstable. Of these units the outputs and inputs that travel in loops are kept, as a method over a
// cluster sees them.
//
// A radius comes from a matrix (study_stability.h) where one exchange interval, Jacobi, stale exchange and a method that is
// known there allow it; anything else is run (study_linear_engine.h).
#ifndef YOKE_STUDY_LINEAR_H
#define YOKE_STUDY_LINEAR_H

#include "master/master.h"
#include "study/study_stability.h"
#include "system/system.h"

// What is known of one unit or law.
typedef struct yoke_linear_unit {
  size_t unit;  // in the system
  const char *name, *model;
  bool has_model;
  bool is_in_loop;
  const char* why;  // there is no model; NULL if there is one
  size_t n_states, n_inputs, n_outputs;
  double *A, *B, *C, *D;
  double slowest, fastest;       // smallest and largest |pole| [1/s]; NaN without states
  double growth;                 // largest real part of a pole [1/s]; NaN without states
  size_t n_feedthrough;          // elements of D that are not 0
  yoke_stability_solver solver;  // as it is called in the file
  const char* solver_text;       // "explicit Euler, 1e-05 s"
  bool is_solver_unknown;        // it is taken as exact
  double
      semi_implicit_step;  // of semi-implicit Euler, where the loops are run [s]; 0: another solver
  struct yoke_difference*
      difference;     // it says nothing about its slopes: by differences of its steps
  bool is_of_calls;   // A and B are those of one call, x := A x + B u
  bool is_of_pulses;  // found by what follows a pulse, and so well does the model give that again:
  double error;       // relative to the largest answer; 0: of a unit that shows its states
  size_t n_shaken;    // calls that a unit which cannot go back was shaken in; 0: it was put back
} yoke_linear_unit;

// The methods that an analysis knows.
typedef enum yoke_linear_method {
  YOKE_LINEAR_HOLD,    // held
  YOKE_LINEAR_HOLD_1,  // straight line
  YOKE_LINEAR_HOLD_2,  // parabola
  YOKE_LINEAR_MEAN,    // held, `inputs: mean`: feedthrough up to date
  YOKE_LINEAR_AUTO,    // `auto` in its usual state: means of a parabola, an exchange at every call
  YOKE_LINEAR_NEPCE,
  YOKE_LINEAR_MPSM,      // exact Jacobians; step 2 exact, held value, no step 1
  YOKE_LINEAR_MODIFIED,  // without step 3
  YOKE_LINEAR_EDE,       // with step 1
  YOKE_LINEAR_RAMP,      // a ramp in place of the held value
  YOKE_LINEAR_MBCORR,    // model-based corrector
  // always run
  YOKE_LINEAR_INTERPOLATE,
  YOKE_LINEAR_ENERGY,
  YOKE_LINEAR_HINF,
  YOKE_LINEAR_ADAPTIVE,
  YOKE_LINEAR_FILE,  // what the file uses, as its units are called
  YOKE_LINEAR_N_METHODS,
} yoke_linear_method;
extern const char* const yoke__linear_method_names[YOKE_LINEAR_N_METHODS + 1];  // NULL at the end
extern const char* const yoke__linear_method_texts[YOKE_LINEAR_N_METHODS];

// The coupling of the loops in the file.
typedef struct yoke_linear_file {
  bool is_known;              // one method that is treated here serves all of them
  yoke_linear_method method;  // then: which
  yoke_mpsm_options options;  // of mpsm and mbcorr, and
  bool is_modified;
  bool is_auto;        // its order is chosen while running
  bool is_identified;  // its models come from the run; here they are exact
  const char* text;    // "hold, order 0", "mpsm", "mpsm and hold, order 1"
} yoke_linear_file;

// How a method is judged.
typedef struct yoke_linear_judge {
  bool is_asked;
  struct yoke_linear_engine* engine;  // NULL: by a matrix, or not at all
  const char* why;                    // not at all; else NULL
} yoke_linear_judge;

// What the coupled system does without any coupling error, free motions left out.
typedef enum yoke_linear_motion {
  YOKE_LINEAR_DECAYS,
  YOKE_LINEAR_KEEPS,  // some motion neither grows nor decays
  YOKE_LINEAR_GROWS,
} yoke_linear_motion;

typedef struct yoke_linear_loops {
  yoke_arena arena;  // owns everything below
  const yoke_system* system;
  const char* general;  // what no matrix is made for: "fresh exchange"; NULL: nothing
  bool is_fresh;        // feedthrough of a unit in the loops is exchanged fresh
  yoke_linear_judge judges[YOKE_LINEAR_N_METHODS];
  yoke_linear_unit* units;  // all units and laws of the system
  size_t n_units;
  size_t* members;                 // units in loops, laws left out: indices into units
  yoke_stability_unit* parts;      // n_members: their models, what travels in loops only
  yoke_stability_solver* solvers;  // n_members: solvers that follow their inputs
  yoke_stability_solver* called;   // n_members: as they are called in the file
  yoke_stability_solver*
      once;  // n_members: called once per exchange, with means where they take them
  size_t n_members;
  size_t n_x, p, s;                // states, outputs, inputs of all members
  double* L;                       // s x p
  const size_t *outputs, *inputs;  // p, s: indices into the Y and U of the system
  double* D;                       // p x s: all feedthrough
  double* through;                 // p x s: of it, what the file brings up to date; NULL: nothing
  double step;                     // exchange interval [s]
  double macro;                    // step of the file [s]
  yoke_linear_file file;
  const char*
      silent;  // a unit in the loops that does not answer its inputs here, such as a drive that is off; NULL: none
  // the coupled system without any coupling error
  double *re, *im;   // n_x eigenvalues [1/s]
  bool is_of_calls;  // a unit is known by its calls only: no eigenvalues
  bool is_singular;  // an algebraic loop without solution: no eigenvalues
  size_t
      n_free;  // motions that nothing calls back: eigenvalues of 0. They have the multiplier 1 at every step and are
               // left out of what follows and of every radius
  yoke_linear_motion motion;
  double growth;            // largest real part; NaN without states
  double slowest, fastest;  // smallest and largest size; NaN without states
  double direct;            // radius of D L: gain around the loops at one instant; 0: none
  size_t n_kept;  // motions that the models of mpsm keep for ever: yoke__stability_count_kept
} yoke_linear_loops;

// A system as it stands in `state`; both outlive *out. A unit without a linear model is moved and put back, or stays moved if
// it cannot go back: do not step the system afterwards. Notes and errors go to messages.
// YOKE_BAD_INPUT after an error: the units keep what was found (*out is then to be freed, too).
yoke_status yoke__linear_open(yoke_system* system, const yoke_state* state, yoke_messages* messages,
                              yoke_linear_loops* out);
void yoke__linear_free(yoke_linear_loops* self);

// One unit in a form that `units` has; also of units outside of loops. NO_MEMORY.
yoke_status yoke__linear_unit_of(const yoke_system* system, size_t unit, yoke_arena* arena,
                                 yoke_linear_unit* to);
// The model of a unit with the inputs and outputs that are listed (indices into its own). NO_MEMORY.
yoke_status yoke__linear_select(const yoke_linear_unit* unit, const size_t outputs[],
                                size_t n_outputs, const size_t inputs[], size_t n_inputs,
                                yoke_arena* arena, yoke_stability_unit* to);

// The case of a method at an exchange interval [s]. Points into self. False: the method of the file is not one of those
// treated here.
bool yoke__linear_case(const yoke_linear_loops* self, yoke_linear_method method, double step,
                       yoke_stability_case* out);
// The radius at a step: the exchange interval, or where there are several the macro step, to which all others are scaled.
// *margin: a radius below 1 + margin counts as stable. NO_SUPPORT: the method is not judged, see judges[method].why.
yoke_status yoke__linear_radius(yoke_linear_loops* self, yoke_linear_method method, double step,
                                double* radius, double* margin);
// Steps that are looked at.
typedef struct yoke_linear_grid {
  double resolution, largest;  // resolution, 2 resolution, ... up to the largest [s]
  double
      within;  // then between the last stable and the first unstable one until they are as near [s]; 0: not
} yoke_linear_grid;

// The first step of the grid whose radius is 1 + margin or more; if that is the first of the grid, smaller ones are looked at:
// halved until one is stable, then between the two to a twentieth. 0: no step down to resolution / 2^20 is stable.
yoke_status yoke__linear_limit(yoke_linear_loops* self, yoke_linear_method method,
                               const yoke_linear_grid* grid, double* first);
// Whether a radius takes so long that a fine grid is better looked at in two passes.
bool yoke__linear_is_large(const yoke_linear_loops* self);
// The same of one method.
bool yoke__linear_is_slow(const yoke_linear_loops* self, yoke_linear_method method);

#endif
