// Designs a coupling element for connections of a system, and says what it does there: on sines, in the loop, in runs.
//
//   system file -> connections of a bond -> Dt, h, delay -> element (synth_design) -> file
//                                        -> errors over frequency of hold, straight line, element (synth_error)
//                                        -> exchange interval of the loop as a matrix (synth_macro)
//                                        -> the system run with each of them, against one that exchanges at every call
//
// Everything about the system is asked of the system as it is built with `method: hold` at these connections: the times are
// those that an element gets.
#ifndef YOKE_STUDY_SYNTH_H
#define YOKE_STUDY_SYNTH_H

#include "base/base_arena.h"
#include "base/base_json.h"
#include "base/base_message.h"
#include "base/base_text.h"
#include "master/master.h"
#include "synth/synth_macro.h"

// What the command line asks for. NaN, 0, NULL: from the system, or as the recipe says.
typedef struct yoke_synth_request {
  const char* path;
  const char* const* sets;
  size_t n_sets;
  const char* const* bonds;
  size_t n_bonds;
  const char* const* connections;  // "a.y -> b.u"
  size_t n_connections;
  const char* recipe;  // T, L, custom
  double band_hz, pole, smoother_hz, delay, interval, step;
  size_t order;
  const char* to;   // file of the element
  bool is_not_run;  // the system is not run
} yoke_synth_request;

typedef struct yoke_synth_row {
  double hz;
  yoke_synth_error errors[YOKE_SYNTH_N_PATHS];
} yoke_synth_row;

// Up to this frequency that path has the smallest error; the next entry goes on from there.
typedef struct yoke_synth_winner {
  double hz;
  yoke_synth_path path;
} yoke_synth_winner;
#define YOKE_SYNTH_WINNERS 8

// Of the loop with one path; stale, then fresh.
typedef struct yoke_synth_loop_row {
  bool is_known[2];
  yoke_synth_radius radius[2];
} yoke_synth_loop_row;

// The radius that decides: without the eigenvalue of an offset. Unstable from YOKE_SYNTH_UNSTABLE on; below it is rounding.
#define YOKE_SYNTH_UNSTABLE (1 + 1e-9)
double yoke__synth_growth(const yoke_synth_radius* radius);

// The runs: the file as it is, then hold, straight line and element with the file's kind of exchange, then fresh.
enum {
  YOKE_SYNTH_RUN_FILE,
  YOKE_SYNTH_RUN_GIVEN,
  YOKE_SYNTH_RUN_FRESH = YOKE_SYNTH_RUN_GIVEN + YOKE_SYNTH_N_PATHS,
  YOKE_SYNTH_N_RUNS = YOKE_SYNTH_RUN_FRESH + YOKE_SYNTH_N_PATHS,
};

typedef struct yoke_synth_trial {
  bool is_run, has_diverged;
  const char* why;  // it was refused or failed; NULL: it was run
  double worst;     // error of the worst signal: root mean square over its range; NaN: not known
  size_t signal;    // which of the connections
} yoke_synth_trial;

typedef struct yoke_synth_study {
  yoke_arena arena;
  yoke_messages messages;        // notes
  const char *system, *subject;  // name of the system; "bond 'joint'", "left.f -> right.f"
  const char** signals;          // "left.f -> right.f", the served connections
  size_t n_signals;
  yoke_synth_design design;
  double noise_gain;
  double system_interval, system_step, system_delay;  // what the system has
  double file_interval;                               // between exchanges of the file as it is
  const char* machine;         // a unit that is one: nothing is started; NULL: none
  bool is_fitting;             // the element is for these
  const char *file, *element;  // where it was written; as the system file names it from its folder
  yoke_synth_row* rows;        // the frequencies of a table
  size_t n_rows;
  yoke_synth_row* curve;  // many: of the figure
  size_t n_curve;
  yoke_synth_winner mean[YOKE_SYNTH_WINNERS],
      all[YOKE_SYNTH_WINNERS];  // who is nearest, up to pi / Dt
  size_t n_mean, n_all;
  const char* no_loop;  // why the loop is not judged; NULL: it is
  yoke_synth_loop_row loop[YOKE_SYNTH_N_PATHS];
  const char* no_fresh;  // why there is no fresh exchange; NULL: there is
  bool is_fresh;         // the file exchanges fresh
  const char* no_runs;   // why nothing was run; NULL: it was
  yoke_synth_trial runs[YOKE_SYNTH_N_RUNS];
  double run_until;    // time that was run [s]
  size_t best;         // of the runs with these paths; YOKE_SYNTH_N_RUNS: none was run to its end
  const char** lines;  // what to write into the system file
  size_t n_lines;
  const char** sets;  // the same as "path=value", for --set
  size_t n_sets;
  char advice[900];
} yoke_synth_study;

// YOKE_BAD_INPUT with messages in out->messages: nothing can be designed for this system with these settings. YOKE_IO: the
// file cannot be written. *out is to be freed in any case.
yoke_status yoke__synth_study(const yoke_synth_request* request, yoke_synth_study* out);
void yoke__synth_study_free(yoke_synth_study* study);

// Errors over frequency as an SVG drawing (study_synth_figure.c), as a table, and all of it as JSON.
void yoke__synth_figure(const yoke_synth_study* study, yoke_text* svg);
void yoke__synth_csv(const yoke_synth_study* study, yoke_text* csv);
void yoke__synth_json(const yoke_synth_study* study, yoke_json* json);

// ---- between the files of this folder

typedef struct yoke_synth_maker {
  const yoke_synth_request* request;
  yoke_synth_study* out;
  yoke_system* system;  // with `method: hold` at the connections
  yoke_state* state;
  size_t* links;       // of the connections that are served, in the system
  const char** paths;  // where they get a coupling: "bonds.joint.coupling"
  size_t n_links, n_paths;
  size_t*
      ordered;  // of them: places in `connections` of the file where an order stands, which counts more
  size_t n_ordered;
} yoke_synth_maker;

// The description with the settings of the request and n more.
yoke_status yoke__synth_read(const yoke_synth_maker* maker, const char* const more[], size_t n,
                             yoke_messages* messages, yoke_scenario** scenario);
// The system with the settings of the request and n more; state NULL: it is not started. Messages go to `messages`.
yoke_status yoke__synth_build(const yoke_synth_maker* maker, const char* const more[], size_t n,
                              yoke_messages* messages, yoke_system** system, yoke_state** state);
// "path=value" that give the connections this coupling; room for n_paths + n_ordered.
yoke_status yoke__synth_couple(const yoke_synth_maker* maker, yoke_synth_path path,
                               const char* sets[], size_t* n);
// Fill in what the study says about the loop (study_synth_loop.c) and about runs (study_synth_run.c). NO_MEMORY.
yoke_status yoke__synth_judge_loop(yoke_synth_maker* maker);
yoke_status yoke__synth_run_all(yoke_synth_maker* maker);

#endif
