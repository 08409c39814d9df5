// Shared by the files of this folder.
//
//   twin_network.c   netlist -> thermal network, and its values at a time
//   twin_unknown.c   names -> what the filter is to find
//   twin_default.c   numbers that nobody has given
//   twin_layout.c    variables
//   twin_sight.c     what the sensors can tell, for people
//   twin_apart.c     what they cannot tell apart at rest
//   twin_open.c      the network without a filter: what goes on when that has diverged
//   twin_make.c      all of these together, and memory
//   twin_inputs.c    known inputs between two calls
//   twin_step.c      start and steps
//   twin_report.c    what to tell of a run
//   unit_twin.c      operations
#ifndef YOKE_UNIT_TWIN_PART_H
#define YOKE_UNIT_TWIN_PART_H

#include "circuit/netlist/circuit_netlist.h"
#include "circuit/network/circuit_signals.h"
#include "estimate/estimate_filter.h"
#include "estimate/estimate_innovation.h"
#include "estimate/estimate_late.h"
#include "estimate/estimate_noise.h"
#include "unit/twin/unit_twin.h"

// Where the value of an input of the thermal network comes from.
typedef struct twin_input {
  enum { TWIN_OF_ELEMENT, TWIN_OF_NODE, TWIN_OF_INPUT } kind;
  uint32_t index;  // source element, fixed node, or unknown input of the netlist
  double sign;
} twin_input;

// A source that follows an unknown input of the netlist.
typedef struct twin_share {
  uint32_t input;   // of the netlist
  uint32_t target;  // input of the thermal network
  double factor;
} twin_share;

typedef struct twin_network {
  const yoke_network* circuit;
  yoke_arena* arena;
  yoke_messages* messages;
  yoke_heat_network heat;
  yoke_signals* signals;
  // per node of the netlist: node of the thermal network; per element: its resistor, capacity, input; YOKE_NO_INDEX: none
  uint32_t *node_of, *resistor_of, *capacity_of, *input_of;
  uint32_t* fixed_input;       // per node of the netlist: its input, of fixed ones
  uint32_t* resistor_element;  // per resistor
  uint32_t* capacity_element;  // per capacity
  const twin_input* inputs;    // heat.n_inputs
  const bool* is_unknown;      // per input of the netlist
  const twin_share* shares;
  size_t n_shares;
  double *g, *c;     // of now
  uint32_t* moving;  // resistors with laws
  size_t n_moving;
  uint32_t* law_nodes;  // nodes of the netlist whose temperatures laws want
  size_t n_law_nodes;
  double* x;        // n_nodes + n_elements of the netlist: temperatures that laws see
  uint32_t* timed;  // inputs with waves or laws of time
  size_t n_timed;
  double* sums;  // 2 n_inputs: scratch
} twin_network;

// Errors go to messages, each with name and place. is_unknown: per input of the netlist.
yoke_status yoke__twin_network_make(const yoke_network* circuit, const bool is_unknown[],
                                    yoke_arena* arena, yoke_messages* messages, twin_network* out);
// Inputs v of the thermal network at time t, with signals->u and x of now. No heap.
void yoke__twin_network_inputs(const twin_network* n, double t, double v[]);
// After the inputs v of time t: the straight line `line + slope s` nearest to what they are over the step. False: that is v, held.
bool yoke__twin_network_line(const twin_network* n, double t, double h, const double v[],
                             double line[], double slope[]);
// g of now, after the inputs. True: some have changed.
bool yoke__twin_network_conductances(const twin_network* n);
// A quantity of the netlist as a row; false: a twin cannot read it, `why` says why.
bool yoke__twin_network_row(const twin_network* n, const yoke_probe* probe, yoke_heat_row* row,
                            const char** why);
const char* yoke__twin_lower(yoke_arena* arena, const char* text);

// What is to be estimated.
typedef struct twin_unknown {
  const yoke_twin_unknown* given;
  const char *name, *dim, *what;
  bool is_inverse;  // its value is 1 / that of the filter
  bool is_bounded;
  bool has_default_sd, has_default_walk;
} twin_unknown;

typedef struct twin_sensor {
  const char *name, *dim;
  bool is_assumed;  // sigma
} twin_sensor;

// Value and standard deviation of an unknown as the user wrote it.
static inline double yoke__twin_value(const twin_unknown* u, double value) {
  return u->is_inverse ? 1 / value : value;
}
static inline double yoke__twin_deviation(const twin_unknown* u, double value, double sd) {
  return u->is_inverse ? sd / (value * value) : sd;
}

typedef struct twin_file {
  yoke_unit_file base;
  yoke_unit_file_settings settings;
  yoke_unit_ops ops;
  yoke_arena arena;
  yoke_netlist* read;           // NULL: somebody else has read it
  const yoke_network* network;  // of base.netlist
  yoke_variable* structure;     // top-level parameters
  size_t n_structure;
} twin_file;

// What stands behind a variable.
typedef enum twin_slot_kind {
  TWIN_SLOT_INPUT,   // of the netlist: index
  TWIN_SLOT_SENSOR,  // reading: index
  TWIN_SLOT_REAL,    // index into `reals`
  TWIN_SLOT_WHOLE,   // index into `wholes`
} twin_slot_kind;

typedef struct twin_slot {
  twin_slot_kind kind;
  size_t index;
  uint32_t capacity;  // whose start value it is; YOKE_NO_INDEX: none
} twin_slot;

enum { TWIN_WHOLE_VERDICT, TWIN_WHOLE_READINGS, TWIN_WHOLE_RESETS, TWIN_N_WHOLES };

typedef struct twin_layout {
  yoke_unit_info info;
  twin_slot* slots;
  size_t n_inputs, n_known;  // all; those of the netlist
  const uint32_t* known;     // n_known: input of the netlist
  // reals: values of rows, of unknowns; deviations of both; innovations; nis; noise of sensors. The first n_outputs rows are
  // outputs.
  size_t n_rows, n_outputs, n_reals, n_wholes;
  const yoke_heat_row* rows;
  size_t first_law_row;  // those that laws want, in the order of law_nodes, behind n_rows
  size_t n_all_rows;
} twin_layout;

typedef enum twin_phase { TWIN_MADE, TWIN_INITIALISING, TWIN_RUNNING } twin_phase;

// Changes with every step. The arrays behind it lie in the same block.
typedef struct twin_state {
  uint64_t n_resets, n_lost;  // of these divergences
  int64_t n_since_kept;       // steps,
  int64_t n_suspect;          // and those with readings that are far off
  double lost_at;             // time of the last divergence [s]
  int64_t reason,
      culprit;         // of it: yoke_estimate_reason; the unknown or sensor that shows it, -1: none
  int64_t is_open;     // the filter has diverged and nothing brings it back
  int64_t kept_newer;  // which of the two kept estimates is the newer one
  double t_next;       // where the next step begins [s]
  int64_t has_before;  // there is a call before this one
} twin_state;

typedef struct twin {
  const twin_file* file;
  const yoke_twin_settings* settings;
  yoke_arena arena;
  yoke_network* own;       // of a unit with parameters of its own, else NULL
  yoke_messages messages;  // while it is made
  twin_network network;
  yoke_heat_model open;  // the network without a filter
  double *E, *Psi1, *Psi2, *work;
  bool has_open_model;  // E and Psi1 belong to the elements as they are
  yoke_sensor* sensors;
  twin_sensor* sensor_texts;
  yoke_unknown* unknowns;
  twin_unknown* unknown_texts;
  size_t n_sensors, n_unknowns;
  yoke_estimate_setup setup;
  yoke_estimate* filter;
  yoke_late* late;  // NULL: readings are taken as they come
  yoke_consistency* consistency;
  size_t consistency_size;
  twin_layout layout;
  twin_phase phase;
  double fastest, slowest;  // time constants [s]
  double followed;          // the fastest that does not settle within a few steps
  uint64_t n_start;         // readings of a sensor that belong to the start
  double* given_z;          // start temperatures; NaN: not given
  double *v, *scratch;      // inputs of the thermal network; p + n_unknowns numbers
  double *line, *slope;     // over the step they are line + slope s
  double *change,
      *missed;    // of inputs in the step before, beside that line, and in the one before that
  bool has_line;  // false: v, held
  yoke_sample_info* infos;  // what the master said of the inputs
  bool has_infos;
  double* ends;   // n_known: scratch
  bool* is_held;  // n_known: what the settings, or the system around it, say to hold
  yoke_twin_settings exported;
  const char** held_names;  // of exported

  // one block: the state and its arrays
  unsigned char* block;
  size_t block_size;
  twin_state* state;
  double* u;  // inputs and readings
  double* reals;
  int64_t* wholes;
  double* z_open;      // p
  double* kept;        // two estimates that were good: p temperatures, n_unknowns values
  double* pending;     // per sensor: a reading of the next step; NaN: none
  uint64_t* sequence;  // per sensor: of the last reading that was taken, + 1; 0: none
  double* u_before;    // n_known: inputs of the call before
  double* changes;     // 2 x n_known: their last two changes, the latest first
  double* reached;     // n_known: where they went straight to by the call before
  double* moving;      // conductances of moving resistors, as the filter has them
  yoke_noise* noise;   // per sensor, of those without sigma

  // what the sensors can tell (twin_sight.c)
  yoke_unit_twin_state* states;  // p
  yoke_unit_twin_unknown* unknown_figures;
  yoke_unit_twin_sensor* sensor_figures;
  const double* singular;  // n_singular, of which rank are not zero
  size_t n_singular, rank, n_weak;
  yoke_unit_twin_weak* weak;
  yoke_heat_sizes sizes;

  // which unknowns they cannot tell apart at rest, in words (twin_apart.c)
  const char** apart;
  size_t n_apart;
  bool is_ambiguous;  // at the start, while temperatures move: a warning says which

  // of the present step
  double *reading, *normalised, *judged;
  bool* have;
  bool must_set;  // conductances may not be those of the filter
  const char* reason;
  char text[256];
  uint64_t n_told;
  bool is_inconsistency_told, is_far_told, is_apart_told;
} twin;

// ---- twin_make.c: everything but w->file and w->settings; messages stay in w.
yoke_status yoke__twin_make(twin* w, const yoke_unit_args* args);

// ---- twin_inputs.c
// Known inputs of time t, from w->u: v, line, slope. Law temperatures are to be those of now.
void yoke__twin_take_inputs(twin* w, double t);
// Before that: what inputs did in the step before beside the line, into `change`. False: nothing.
bool yoke__twin_find_change(twin* w, double t);
// The same of the step before that one, where a change that was taken for a jump goes on: into `missed`.
bool yoke__twin_find_missed(twin* w, double t);
// Estimates have started anew since.
void yoke__twin_forget_missed(twin* w);

// ---- twin_step.c
// Estimates at the start, with the inputs of now. Takes heap. YOKE_SINGULAR: there is no state of rest.
yoke_status yoke__twin_start(twin* w, double t);
// Fails with a text in w->reason.
yoke_status yoke__twin_step(twin* w, double t, double h, yoke_step_result* result);
// More readings lie beyond the gate than outliers may.
bool yoke__twin_is_gated(const twin* w);
// The unknown that is furthest from its guess, of those that are further than guess and walk allow; n_unknowns:
// none. *excursion: how far, in standard deviations.
size_t yoke__twin_find_far(const twin* w, double* excursion);

// ---- twin_report.c: what has not been reported yet.
void yoke__twin_report(twin* w, const yoke_sink* sink);

// ---- twin_unknown.c: fills unknowns and unknown_texts, but for what nobody has given (NaN).
yoke_status yoke__twin_find_unknowns(twin* w, const yoke_netlist_parameter given[], size_t n_given);
// Marks the inputs of the netlist that are unknown.
void yoke__twin_mark_inputs(const yoke_network* circuit, const yoke_twin_settings* settings,
                            bool is_unknown[]);
bool yoke__twin_is_same(const char* a, const char* b);  // names of a netlist ignore case

// ---- twin_default.c: what was not given.
yoke_status yoke__twin_choose_defaults(twin* w);

// ---- twin_sight.c: what the sensors can tell; unknowns that they cannot are warnings. And what a person wants to know.
yoke_status yoke__twin_check_sight(twin* w);
void yoke__twin_figures(const twin* w, yoke_unit_twin_figures* out);

// ---- twin_apart.c: unknowns that the sensors cannot tell apart at rest are notes.
yoke_status yoke__twin_check_apart(twin* w);
// A message says already that these cannot be distinguished; names: "'q1' and 'q2'".
bool yoke__twin_is_said(const twin* w, const char* names);

// ---- twin_layout.c
yoke_status yoke__twin_lay_out(twin* w);

// ---- twin_open.c
// From the last good estimate.
void yoke__twin_open_start(twin* w);
// What inputs did in the steps before, `change` and `missed`; elements are still those of the last step.
void yoke__twin_open_ramp(twin* w, bool has_change, bool has_missed);
// A step of it with the inputs of now, and outputs.
void yoke__twin_open_step(twin* w);

#endif
