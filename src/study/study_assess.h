// Assessment of solvers against references: error, cost and reach of a configuration (method,
// formulation, step, number of iterations) on a problem, and the search for the cheapest one that
// is good enough. The concept page is docs/circuit_bench.md.
//
//   error        e = sqrt(1/n sum_i (y(t_i) - y_ref(t_i))^2) per monitored signal, t = 0 left out
//   time per step  thread time of a whole run over its steps, the least of several runs from
//                  one saved state
//   real-time factor  simulated time over that time; above 1 is faster than real time
//
// The problems are those of B. Rodriguez, F. Gonzalez, M. A. Naya, J. Cuadrado: Assessment of
// Methods for the Real-Time Simulation of Electronic and Thermal Circuits, Energies 13(6), 1354
// (2020), or a user's own.
#ifndef YOKE_STUDY_ASSESS_H
#define YOKE_STUDY_ASSESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_csv.h"
#include "base/base_message.h"
#include "base/base_text.h"
#include "circuit/circuit_solver.h"

#define YOKE_ASSESS_MAX_MONITORS 16

typedef enum yoke_assess_level {
  YOKE_LEVEL_NONE,  // an error is above its low level
  YOKE_LEVEL_LOW,   // 1 mV, 1 mA; 0.1 K, 1 W
  YOKE_LEVEL_HIGH,  // 10 uV, 10 uA; 0.01 K, 0.1 W
  YOKE_N_LEVELS,
} yoke_assess_level;
extern const char* const yoke__assess_level_names[YOKE_N_LEVELS];  // "none", "low", "high"

// A signal that is compared with its column of the reference.
typedef struct yoke_assess_monitor {
  const char* name;             // "v(3)", "left.x"
  double limit[YOKE_N_LEVELS];  // error allowed; infinite: not judged
  const double* reference;      // n_samples
  yoke_probe probe;             // of circuits
} yoke_assess_monitor;

// A problem: what is run, and what is right. A circuit has a network; a system has the path of its
// file.
typedef struct yoke_assess_problem {
  yoke_arena arena;
  const char* name;
  const char* title;
  const char* path;       // of a system file or FMU; NULL: circuit
  yoke_network* network;  // NULL: system
  bool is_builtin;        // has published figures
  size_t n_loops;         // of the ladder; else 0
  double stop;            // [s]
  double spacing;         // of the samples, the least distance of two [s]
  const double* t;        // n_samples, ascending, above 0
  size_t n_samples;
  yoke_assess_monitor monitors[YOKE_ASSESS_MAX_MONITORS];
  size_t n_monitors;
  yoke_csv reference;  // owns the samples where they come from a file
} yoke_assess_problem;

// ---- study_assess_problem.c

// Names of the problems that come with the program: "rlc", "ladder-N" for any N up to 100000,
// "rectifier", "pmsm".
#define YOKE_ASSESS_N_PROBLEMS 4
extern const char* const
    yoke__assess_names[YOKE_ASSESS_N_PROBLEMS + 1];  // with ladder-2, NULL behind

// One of them. YOKE_BAD_INPUT with messages.
yoke_status yoke__assess_load(const char* name, yoke_messages* messages, yoke_assess_problem** out);
// A user's netlist and a CSV whose first column is time; the others are probes (v(out), i(l1),
// t(case), p(r1)). Levels of signals without a limit are infinite. A limit is "v(out)=1e-3".
yoke_status yoke__assess_read(const char* netlist, const char* reference,
                              const char* const limits[], size_t n_limits, yoke_messages* messages,
                              yoke_assess_problem** out);
// The same for a system file or FMU; columns are unit.variable (of an FMU also the variable alone).
yoke_status yoke__assess_read_system(const char* path, const char* reference,
                                     const char* const limits[], size_t n_limits,
                                     yoke_messages* messages, yoke_assess_problem** out);
void yoke__assess_destroy(yoke_assess_problem** problem);  // NULL is fine
// The ladder of n loops as a netlist.
void yoke__assess_ladder(size_t n, yoke_text* netlist);
// Formulation and start that a netlist's `.yoke` names, as indices; -1: none.
void yoke__assess_said(const yoke_assess_problem* problem, int* formulation, int* startup);
// Does a signal have a limit? Without one nothing is said of levels.
bool yoke__assess_is_judged(const yoke_assess_problem* problem);
// Every judged signal gets this limit at both levels; every signal if none is judged yet.
void yoke__assess_set_limit(yoke_assess_problem* problem, double limit);
// Steps that divide the sample spacing: spacing / 1, 2, 4, 5, 10, 20, 40, 50, ...; 0 beyond the
// table.
double yoke__assess_step(const yoke_assess_problem* problem, size_t i);
// What the published runs used where nothing else is asked for: iterations and start of BDF.
void yoke__assess_defaults(const yoke_assess_problem* problem, yoke_circuit_options* options);

// ---- study_assess_run.c

// How much trouble is taken.
typedef struct yoke_assess_effort {
  int n_repetitions;   // timed runs at most; 0: the time is not measured
  double seconds;      // no further one after this much time
  uint64_t max_steps;  // longer runs are left out; 0: no limit
  bool has_stages;     // split the cost of a step
  bool has_worst;      // look for the slowest step
} yoke_assess_effort;

typedef struct yoke_assess_result {
  yoke_circuit_options options;
  const char* problem;
  yoke_status status;                      // YOKE_FULL: left out because of max_steps
  char reason[256];                        // why it failed
  double error[YOKE_ASSESS_MAX_MONITORS];  // NaN after a failure
  yoke_assess_level level;
  yoke_circuit_sizes sizes;
  yoke_circuit_counts counts;
  uint64_t n_steps;
  double ns_per_step;       // NaN: not measured
  double real_time_factor;  // NaN: not measured
  // slowest step over the median, each the least of several runs; NaN: not measured
  double worst_ratio;
  double share[YOKE_COST_N];  // of the stages, sum 1; NaN: not measured
} yoke_assess_result;

// Runs one configuration of a circuit problem. Failures of the solver are part of the result;
// negative only when memory is out.
yoke_status yoke__assess_run(const yoke_assess_problem* problem,
                             const yoke_circuit_options* options, const yoke_assess_effort* effort,
                             yoke_assess_result* result);
// Thread time per step from a saved state, without comparing anything [ns]: the least of n runs of
// n_steps steps.
yoke_status yoke__assess_time(const yoke_network* network, const yoke_circuit_options* options,
                              uint64_t n_steps, int n, double* ns_per_step);
// Runs a system with exchange interval `step` (0: as its file says). Time is wall time here: units
// may have threads and processes of their own.
yoke_status yoke__assess_run_system(const yoke_assess_problem* problem, double step,
                                    const yoke_assess_effort* effort, yoke_assess_result* result);
// A step fits a problem if every sample lies on its grid.
bool yoke__assess_fits(const yoke_assess_problem* problem, double step);
// The best level that all errors of a result are below; none where nothing is judged.
yoke_assess_level yoke__assess_judge(const yoke_assess_problem* problem, const double error[]);

// ---- study_assess_find.c

typedef struct yoke_assess_search {
  yoke_assess_level level;  // to be reached
  const int* iterations;    // numbers to try, ascending; only 0: until converged
  size_t n_iterations;
  size_t max_candidates;  // steps to try
} yoke_assess_search;

// The cheapest step and number of iterations that reaches the level. *is_found false: none does;
// result is then the last one tried. found (may be NULL) is called for every run.
yoke_status yoke__assess_find(const yoke_assess_problem* problem,
                              const yoke_circuit_options* options, const yoke_assess_search* search,
                              const yoke_assess_effort* effort, yoke_assess_result* result,
                              bool* is_found);

typedef struct yoke_assess_reach {
  size_t n_loops;  // the largest ladder whose step costs less than it lasts
  uint32_t n;      // its unknowns
  double ns_per_step;
  double ns_per_unknown;  // and iteration
  bool is_bounded;        // false: larger ones were not tried
} yoke_assess_reach;

// The largest ladder in real time, within 2 %. max: loops at most.
yoke_status yoke__assess_find_reach(const yoke_circuit_options* options, size_t max,
                                    yoke_assess_reach* reach);

// ---- study_assess_published.c: tables of the paper, its rectifier columns put right

typedef struct yoke_assess_published {
  const char* problem;  // "rlc", "ladder-2", "rectifier", "pmsm"
  yoke_circuit_method method;
  yoke_assess_level level;
  double step;
  int iterations;
  double error[2];  // of the first two monitors; NaN: not given
  double pc_s;      // i7-8700K, the whole run
} yoke_assess_published;

extern const yoke_assess_published yoke__assess_published[];
extern const size_t yoke__assess_n_published;
// The entry with this method, step and number of iterations (iterations 0: any), or NULL.
const yoke_assess_published* yoke__assess_find_published(const char* problem,
                                                         const yoke_circuit_options* options);
// The options of a published run: `dae`, its start-up policy, Newton's method without junction
// limiting.
void yoke__assess_published_options(const yoke_assess_problem* problem,
                                    const yoke_assess_published* row,
                                    yoke_circuit_options* options);
// Largest ladders in real time on the PC: low, high; 0: not given.
void yoke__assess_published_reach(yoke_circuit_method method, size_t n_loops[2]);

// ---- study_assess_figure.c

// Work over precision: processor time per simulated second over the error relative to the low level
// (to the signal's own size where there is no level), one line per method, one panel per problem.
void yoke__assess_draw_begin(size_t n_panels, yoke_text* svg);
void yoke__assess_draw(const yoke_assess_problem* problem, const yoke_assess_result results[],
                       size_t n, size_t number, yoke_text* svg);
void yoke__assess_draw_end(yoke_text* svg);

// The largest error of a result over its limit at a level, or over the root mean square of the
// reference where no signal has a limit.
double yoke__assess_relative(const yoke_assess_problem* problem, const double error[],
                             yoke_assess_level level);

#endif
