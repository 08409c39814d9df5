// Twins of a unit that is a black box.
//
//   twin_black.c         file and operations
//   twin_black_make.c    names -> sensors, unknowns, outputs; instances; the estimator
//   twin_black_layout.c  variables
//   twin_black_core.c    the two estimators behind one face
//   twin_black_step.c    start, steps, what to tell of a run
//   twin_instances.c     the instances and their threads
#ifndef YOKE_UNIT_TWIN_BLACK_PART_H
#define YOKE_UNIT_TWIN_BLACK_PART_H

#include "base/base_message.h"
#include "estimate/estimate_black.h"
#include "estimate/estimate_extended.h"
#include "unit/twin/twin_instances.h"
#include "unit/twin/unit_twin.h"

typedef struct black_file {
  yoke_unit_file base;
  yoke_unit_file_settings settings;
  yoke_unit_ops ops;
  const yoke_unit_ops** inner;
  size_t n_inner;
} black_file;

#define YOKE_BLACK_MOST_UNKNOWNS 16

// Where an unknown acts.
typedef enum black_kind {
  BLACK_INPUT,
  BLACK_PARAMETER,
  BLACK_OFFSET,
  BLACK_START,  // a start value, or a parameter that is fixed
  BLACK_REST,   // another unknown, at the start: units may begin at rest with it
} black_kind;

typedef struct black_unknown {
  const yoke_twin_unknown* given;
  const char *dim, *what;
  black_kind kind;
  size_t place;  // in the vector of inputs; of parameters; the sensor; a variable; an unknown
  bool is_bounded, has_default_sd;
} black_unknown;

typedef enum black_slot_kind {
  BLACK_SLOT_KNOWN,   // input of the unit: index among those that are known
  BLACK_SLOT_SENSOR,  // reading: index
  BLACK_SLOT_REAL,    // index into `reals`
  BLACK_SLOT_WHOLE,   // index into `wholes`
  BLACK_SLOT_INNER,   // variable of the unit: index
} black_slot_kind;

typedef struct black_slot {
  black_slot_kind kind;
  size_t index;
  size_t
      inner;  // of an estimate: variable of the unit whose start value may be given; YOKE_NOT_FOUND: none
} black_slot;

enum {
  BLACK_WHOLE_VERDICT,
  BLACK_WHOLE_READINGS,
  BLACK_WHOLE_RESETS,
  BLACK_WHOLE_PASSES,
  BLACK_N_WHOLES
};

typedef enum black_phase { BLACK_MADE, BLACK_INITIALISING, BLACK_RUNNING } black_phase;

typedef struct black_twin {
  const black_file* file;
  const yoke_twin_settings* settings;
  yoke_arena arena;
  yoke_messages messages;  // while it is made
  yoke_instances* instances;
  const yoke_unit* unit;  // the first of them
  size_t n_sets, n_members;
  bool is_restored;  // a set that has run can go back to the start

  // of the unit
  const size_t* known;  // places of known inputs in its vector
  size_t n_known;
  black_unknown* unknowns;
  double* guesses;           // of the unknowns
  size_t n_unknowns, n_all;  // of the user; those behind them are of the kind BLACK_REST
  size_t n_parameters;
  size_t* parameters;  // variables
  size_t* rows;        // places of outputs in its vector
  size_t* row_variables;
  const yoke_deviation_sensor* sensors;
  size_t n_rows, n_sensors;

  yoke_black* black;        // NULL: by derivatives
  yoke_extended* extended;  // NULL: by instances with offsets
  yoke_linear model;        // of the unit
  double* y;                // rows of the start
  double h, t_start;
  uint64_t n_steps;

  yoke_unit_info info;
  black_slot* slots;
  yoke_unit_twin_sensor* sensor_figures;
  yoke_unit_twin_unknown* unknown_figures;
  black_phase phase;

  // values: known inputs and readings; estimates of rows and unknowns, their deviations, innovations, nis
  double *u, *reals;
  int64_t* wholes;
  yoke_sample_info* infos;
  bool has_infos;
  uint64_t* sequence;  // per sensor: of the last reading that was taken, + 1; 0: none
  double* pending;     // per sensor: a reading of the next step; NaN: none

  // work of a step
  double *reading, *inner_u, *inner_parameters, *inner_y, *start_y;
  bool* is_idle;  // per member: it has nothing to say
  bool* have;
  const yoke_shadow* working;  // whose work is under way beside the steps
  size_t failed;
  const char* failure;
  char text[320];
  bool has_failed;  // numbers are not finite: nothing is estimated any more
  double failed_at;
  bool is_failure_told, is_inconsistency_told, is_far_told, is_old_told, is_doubt_told;
  double oldest;  // age of a reading that came late, in steps
} black_twin;

yoke_status yoke__twin_black_make(black_twin* w, const yoke_unit_args* args);
yoke_status yoke__twin_black_lay_out(black_twin* w);
yoke_status yoke__twin_black_enter(black_twin* w, double t, double t_stop, const yoke_sink* sink);
yoke_status yoke__twin_black_refresh(black_twin* w, double t);
yoke_status yoke__twin_black_begin(black_twin* w);
yoke_status yoke__twin_black_step(black_twin* w, double t, double h, yoke_step_result* result);
void yoke__twin_black_report(black_twin* w, const yoke_sink* sink);
yoke_black_box yoke__twin_black_box(black_twin* w);
yoke_extended_box yoke__twin_extended_box(black_twin* w);

// ---- twin_black_core.c
yoke_status yoke__twin_core_start(black_twin* w);
yoke_status yoke__twin_core_correct(black_twin* w);
yoke_status yoke__twin_core_advance(black_twin* w);
const double* yoke__twin_core_nominal(const black_twin* w);
void yoke__twin_core_output(const black_twin* w, size_t row, double* value, double* sd);
void yoke__twin_core_unknown(const black_twin* w, size_t unknown, double* value, double* sd);
void yoke__twin_core_innovation(const black_twin* w, size_t sensor, double* innovation, double* sd);
uint64_t yoke__twin_core_hits(const black_twin* w, size_t unknown);
uint32_t yoke__twin_core_passes(const black_twin* w);
size_t yoke__twin_core_find_far(const black_twin* w, double* excursion);
yoke_twin_verdict yoke__twin_core_verdict(const black_twin* w, yoke_finding* why);
bool yoke__twin_core_is_doubtful(const black_twin* w);  // unknowns have turned out to be wrong

#endif
