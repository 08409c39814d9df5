// Stability of a recorded run whose coupling identified models of the units.
//
// The coupling method is run again over the recorded outputs, which gives the same inputs and phases, and the least squares
// beside it, which gives the same models. Each exchange step is then a matrix (study_stability.h): units, coupling, models
// as they were at this step. The sequence of matrices is judged by its Bohl exponents.
#ifndef YOKE_STUDY_STABILITY_RUN_H
#define YOKE_STUDY_STABILITY_RUN_H

#include "base/base_csv.h"
#include "couple/couple_mpsm_phase.h"
#include "study/study_linear.h"

#define YOKE_RUN_N_LENGTHS 5
#define YOKE_RUN_N_HEALTH  32

typedef struct yoke_stability_run {
  yoke_arena arena;  // owns everything below
  const char* cluster;
  size_t n_units;
  const char** names;
  bool* is_own;              // n_units: its own linear model; else the identified one stands for it
  const char** solvers;      // n_units: how its own model is solved
  double t_start, interval;  // [s]
  size_t n_rows;             // exchange points of the recording
  size_t first, n_steps;     // steps that are judged: after learning and switching
  size_t n_left_out;         // steps before them that memory has no room for
  size_t size;               // of a step matrix
  int64_t n_phases[YOKE_MPSM_N_PHASES];  // of the steps that are judged
  bool uses_ede, resets_ede;
  size_t n_lengths;
  size_t lengths[YOKE_RUN_N_LENGTHS];  // K
  double values[YOKE_RUN_N_LENGTHS];   // largest ||Phi||^(1/K) over all windows
  size_t n_windows[YOKE_RUN_N_LENGTHS];
  double largest;          // norm of one step: bounded if finite
  bool is_stable;          // one value is below 1:
  size_t contracts_after;  // that of this K; 0: none
  bool is_below;           // all are
  double* radii;           // n_steps: spectral radius of each step
  uint8_t* phases;         // n_steps: yoke_mpsm_phase
  // the method's own figures after the last row, in the order of its table, and those that the models found again give
  const char* const* health_names;
  size_t n_health;
  double health[YOKE_RUN_N_HEALTH];
  double error_mean, error_max;
} yoke_stability_run;

// The coupling group of that name over a cluster; name NULL: the only one. YOKE_BAD_INPUT with a message; file: of the system.
yoke_status yoke__stability_run_find(const yoke_system* system, const char* name, const char* file,
                                     size_t* group, const yoke_sink* sink);
// A system that was started, and a coupling group over a cluster in it; csv: a table of results with a row at every exchange.
// Errors go to messages with YOKE_BAD_INPUT. Free in any case.
yoke_status yoke__stability_run_open(yoke_system* system, size_t group, const yoke_csv* csv,
                                     yoke_messages* messages, yoke_stability_run* out);
void yoke__stability_run_free(yoke_stability_run* run);

#endif
