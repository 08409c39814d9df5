// A system ready to run: units made and wired, signals numbered, grids and orders fixed. Constant while stepping;
// everything that changes is in yoke_state (master/). The one exception are the units themselves, which own their state.
//
// All real outputs of all units are one vector Y, all real inputs one vector U. A tap moves one number from Y to U.
//
//   unit a      unit b         law c
//   [y y y y] [y y]          [y]            Y      taps: Y[from] * gain + offset -> U[to]
//   [u u]     [u u u]        [u u u u]      U
#ifndef YOKE_SYSTEM_H
#define YOKE_SYSTEM_H

#include "base/base_arena.h"
#include "base/base_clock.h"
#include "base/base_map.h"
#include "base/base_message.h"
#include "base/base_pool.h"
#include "quality/quality_ledger.h"
#include "record/record.h"
#include "scenario/scenario.h"
#include "system/system_registry.h"
#include "unit/unit.h"
#include "unit/unit_file.h"
#include "yoke/coupling.h"

// A typed value (anything but real input <- real output) that a unit reads or delivers: where it lies in the typed
// outputs V or the typed inputs W.
typedef yoke_value_place yoke_system_typed;

// What is known of the direct feedthrough of an output, and how it is known (system_feedthrough.c).
typedef enum yoke_through_kind {
  YOKE_THROUGH_ZERO,
  YOKE_THROUGH_KNOWN,  // its value D is there when the system is initialised
  YOKE_THROUGH_UNKNOWN,
} yoke_through_kind;

typedef enum yoke_through_how {
  // zero or known
  YOKE_THROUGH_BY_FILE,
  YOKE_THROUGH_BY_UNIT,          // zero: it declares what its outputs follow
  YOKE_THROUGH_BY_DEPENDENCIES,  // zero: those of an FMU
  YOKE_THROUGH_BY_EXCHANGE,      // known: evaluated again at every exchange
  YOKE_THROUGH_BY_DERIVATIVES,
  YOKE_THROUGH_BY_PROBE,
  // unknown
  YOKE_THROUGH_NOT_SAID,
  YOKE_THROUGH_OF_MACHINE,
  YOKE_THROUGH_SWITCHED,
  YOKE_THROUGH_BENT,
  YOKE_THROUGH_REFUSED,
  YOKE_THROUGH_STILL,
  YOKE_THROUGH_NOT_LINEAR,
  YOKE_THROUGH_BEHIND_LAW,
  YOKE_N_THROUGH_HOWS,
} yoke_through_how;

typedef struct yoke_through {
  yoke_through_kind kind;
  yoke_through_how how;
} yoke_through;

extern const char* const yoke__through_kind_words[];  // "zero", "known", "unknown"
extern const char* const yoke__through_how_words[];   // for people

// How much of the units' outputs is read, each more than the one before (system_reading.c, master_reading.c).
typedef enum yoke_reading {
  YOKE_READ_USED,      // what connections, methods, bonds, limits and judged signals need
  YOKE_READ_RECORDED,  // what is recorded, too
  YOKE_READ_ALL,
  YOKE_N_READINGS,
} yoke_reading;

// One number of D that the file gives: local indices of output and input.
typedef struct yoke_system_gain {
  size_t y, u;
  double value;  // NaN: the output follows the input, the value is not given
} yoke_system_gain;

typedef struct yoke_system_unit {
  const char* name;
  const yoke_scenario_unit* source;
  yoke_unit unit;
  bool is_law;
  bool is_fresh;  // outputs are read again with the new inputs at exchange points
  size_t*
      refresh_at;  // per variable of a fresh unit: 1 + the entry of refresh_order that gives its final value; 0: its step
  bool
      is_fresh_between;  // and after every other call: its inputs move between exchanges (YOKE_COUPLING_FRESH)
  int thread;       // all calls to it come from there
  int64_t n_calls;  // of a macro step, by `calls`; 0: it has a step of its own
  bool is_paced;    // their number is left to `calls: auto`
  bool
      meets_at_steps;  // it has a step of its own and exchanges at it: all connections are left to `auto`
  int64_t period;                // ticks between calls
  double step;                   // the same [s]
  double tolerance;              // iterative schemes
  double cost_s;                 // computing time of a step, as given or tried; 0: small or unknown
  int64_t n_steps;               // calls per slot, if it is called at least once in each
  int64_t n_slots;               // slots per call, if it is slower than the slots
  size_t u, y;                   // where its inputs and outputs start in U and Y
  size_t first_tap, n_taps;      // taps into it: all of them, in order of U
  size_t first_group, n_groups;  // coupling groups that feed it
  int derivative_order;          // highest order of input derivatives it takes and gets; 0: none
  size_t first_strip, n_strips;  // where its values between exchanges go
  size_t first_send, n_sends;
  bool has_through_sends;          // some of them are brought up to date
  bool has_late_sends;             // some of them wait for the unit to be evaluated
  size_t first_flow, n_flows;      // metered connections that it feeds, in flows,
  size_t first_inflow, n_inflows;  // and that feed it, in inflows
  const size_t* integrals;         // outputs of which it gives the integral over each of its steps
  size_t n_integrals;
  yoke_system_typed* typed_outputs;      // what is used first, then what is recorded, then the rest
  size_t n_typed_read[YOKE_N_READINGS];  // so many of them are read
  const bool* is_read[YOKE_READ_ALL];    // per variable: a real output that is used, or recorded
  yoke_system_typed* typed_inputs;
  size_t n_typed_outputs, n_typed_inputs;
  size_t image, image_size;  // where its saved state lies
  bool has_linear;           // its linear model is wanted at every exchange, or in every iteration:
  size_t linear, n_states;   // A, B, C, D from here on behind the outputs of all units in Y
  bool takes_slope;          // iterative schemes: it gets its inputs with their slope
  yoke_inputs inputs;        // of the file, or of a coupling that it is a member of
  bool keeps_start;  // `inputs: start`, or a connection of it has a method that knows no means
  bool takes_means;  // `inputs: mean`: it holds its inputs and gets their means over its calls
  // iterative schemes: variables of outputs with feedthrough, then of all inputs, where the unit's directional derivatives
  // tell how these outputs follow; NULL: they need not, or cannot
  const size_t* through;
  size_t n_through;  // such outputs
  // `feedthrough` of the file: outputs of which it says everything, by number of y, and what they follow; NULL: none
  const bool* is_through_given;
  const yoke_system_gain* gains;
  size_t n_gains;
  bool is_steered;                 // some of its inputs are led to a value when a paced run stops
  bool is_own;                     // it has a thread of its own
  size_t first_source, n_sources;  // of all its real inputs, if it wants to know how good they are
} yoke_system_unit;

// One entry of `safe`.
typedef struct yoke_system_action {
  size_t unit, u;   // the input, as an index into U
  bool is_typed;    // no real one: it is set, not ramped
  size_t variable;  // then: which
  double to, over;
} yoke_system_action;

// An output that the settings of a coupling method name.
typedef struct yoke_system_named {
  size_t key;  // of ops->signals
  size_t unit, variable, element, n;
} yoke_system_named;

// A coupling method with its settings, and whom it serves.
typedef struct yoke_system_method {
  const yoke_coupling_ops* ops;
  const double* parameters;  // ops->n_parameters
  const char* const* files;  // ops->n_files
  const yoke_system_named*
      named;  // signals that the settings name, in the order of the method's table
  size_t n_named;
  size_t bond;        // YOKE_NOT_FOUND: it serves connections, not a bond
  const char* owner;  // "bond 'spring'", for messages
  const char* name;   // of the bond or coupling
  bool is_own;        // of a shared library of the user's
  yoke_place place;
} yoke_system_method;

// What is done about a connection that carries a flow (system_flows.c).
typedef enum yoke_flow_use {
  YOKE_FLOW_NONE,
  YOKE_FLOW_METERED,   // sent and arrived amounts are counted, samples are exchanged
  YOKE_FLOW_AVERAGED,  // the same, and the mean over the exchange interval is exchanged
} yoke_flow_use;

// Where a real input comes from, of a unit that wants to know how good its values are (yoke_unit_ops.set_input_info).
typedef struct yoke_system_source {
  size_t unit, variable;  // the output; YOKE_NOT_FOUND: it is not connected, or by a typed value
  bool has_info;          // that unit may say more
  bool is_held;           // stays as it is until the next exchange
  bool is_mean;           // of the output since the exchange before
  int64_t every, delay;   // exchange interval [slots]; in exchange intervals
  size_t ring;            // first of `delay` numbers of samples that are on their way
} yoke_system_source;

// One resolved connection.
typedef struct yoke_system_link {
  const yoke_scenario_connection* source;
  size_t from_unit, from_variable, from_element;
  size_t to_unit, to_variable, to_element;
  size_t n;  // elements
  double gain, offset;
  int order;
  bool has_order;    // it, or its bond, names one
  bool is_held;      // it, or its bond, names `method: hold`
  bool is_auto;      // it, its bond or a coupling of its units names `method: auto`
  bool is_named;     // a coupling of its units does, or the method of its bond wants it so
  int64_t interval;  // exchange interval [ticks]
  int64_t delay;     // in exchange intervals
  size_t method;     // index into methods; 0: hold
  bool is_resolved;  // it goes from an output to an input; else there was a message
  bool is_dense;     // real output to real input: goes through taps; otherwise through a move
  yoke_flow_use flow;
  bool is_flow_sampled;  // it may change between the samples, and nothing but samples is known
} yoke_system_link;

typedef struct yoke_tap {
  size_t from, to;  // indices into Y and U
  double gain, offset;
  int order;
  int64_t every;  // exchange interval [slots]
  int64_t delay;  // in exchange intervals; 0: none
  size_t fifo;    // first of `delay` numbers in the delay lines
  size_t link;
  size_t mean;     // 1 + the flow whose mean it delivers; 0: the output itself
  size_t through;  // 1 + the output in `throughs` that it delivers brought up to date; 0: as it is
} yoke_tap;

// An output that follows inputs of its unit at once (system_through.c): what it will be is known before it is sent. Those of
// laws and fresh units are only looked through: these units are evaluated again themselves.
typedef struct yoke_system_through {
  size_t unit, y;     // y: index into Y
  size_t first, n;    // its inputs: terms of D
  size_t loop;        // 1 + the closed chain it belongs to; 0: none
  bool is_partial;    // it follows more: what is not known before the exchange
  bool is_evaluated;  // of a law or a fresh unit
} yoke_system_through;

// One number of D.
typedef struct yoke_through_term {
  size_t tap;     // that feeds the input: index into taps
  size_t u;       // index into U
  size_t source;  // 1 + the output in `throughs` that the tap delivers; 0: as it is, or delayed
  double value;   // given by the file; NaN: it is found at the start
  bool is_blind;  // what the tap brings is not known before the exchange
  bool
      is_silent;  // the unit does not say that the output follows it: a probe of its start proves nothing
} yoke_through_term;

// Outputs that follow each other at once in a closed chain: solved for together.
typedef struct yoke_through_loop {
  size_t first, n;  // in throughs
  size_t at;        // where its matrix begins among those of all loops
  bool is_solved;   // else these outputs are sent as they are
} yoke_through_loop;

// One number of a connection whose amounts are counted: what was sent in each exchange interval, and what arrived.
typedef struct yoke_system_flow {
  size_t link, from, to;  // indices into links, Y and U
  size_t element;         // of the connection
  int64_t every;          // exchange interval [slots]
  int64_t delay;          // in exchange intervals
  double gain, offset;    // of the connection
  double scale;           // SI units of the amount per unit of the output and second
  const char* dim;        // of the amount: "J", "kg"
  size_t integral;        // among those of the sender, or YOKE_NOT_FOUND: trapezoids over its calls
  size_t lag;             // first of delay + 1 entries in the state
  bool is_averaged, is_from_law;
} yoke_system_flow;

// A typed connection: bytes from V (or one number from Y) to W (or one number to U).
typedef enum yoke_move_kind {
  YOKE_MOVE_BYTES,             // V -> W
  YOKE_MOVE_ITEMS,             // the same, between an enumeration and an integer
  YOKE_MOVE_REAL_TO_TYPED,     // Y[from] -> double in W (tunable parameter)
  YOKE_MOVE_INTEGER_TO_REAL,   // int64 in V -> U[to]
  YOKE_MOVE_INTEGER_TO_TYPED,  // int64 in V -> double in W
} yoke_move_kind;

typedef struct yoke_move {
  yoke_move_kind kind;
  size_t from, to;  // indices into Y/U, or bytes into V/W
  size_t n;         // bytes, or numbers
  double gain, offset;
  size_t from_unit, unit;      // the giving and the receiving one
  const int64_t* values_from;  // of the items of an enumeration that gives: NULL: their index
  const int64_t* values_to;    // of one that receives
  size_t n_values_to;
} yoke_move;

// What is exchanged together: for one unit, or for all units that need no order among themselves.
typedef struct yoke_intake {
  int64_t every;         // [slots]
  const uint32_t* from;  // plain copies Y[from[i]] -> U[to[i]]
  const uint32_t* to;
  size_t n_copies;
  const yoke_tap* taps;  // with gain, offset or delay
  size_t n_taps;
  const yoke_move* moves;
  size_t n_moves;
  const size_t* groups;  // groups that take a sample now
  size_t n_groups;
} yoke_intake;

// A variable from outside that a group relies on: whether its sample is a real one must be asked.
typedef struct yoke_validity {
  size_t unit, variable;
  size_t signal;     // that it concerns; YOKE_NOT_FOUND: a probe, so all of them
  bool is_foretold;  // `on_loss: extrapolate`, while the last real one is not too old
} yoke_validity;

// A coupling method at work on some taps of one receiving unit. A method over a cluster has one group that takes the
// samples of all units, and for each of them one that is fed from it.
typedef enum yoke_group_role {
  YOKE_GROUP_WHOLE,    // takes samples and feeds its unit
  YOKE_GROUP_CLUSTER,  // takes samples for all its members
  YOKE_GROUP_MEMBER,   // feeds its unit
} yoke_group_role;

typedef struct yoke_group {
  yoke_group_role role;
  size_t sampler;  // the group that takes its samples: itself, or the cluster's
  size_t sink;     // of that group's sinks the one that feeds the unit
  const yoke_coupling_ops* ops;
  yoke_coupling_setup setup;
  const yoke_tap* taps;                      // setup.n_signals
  const size_t* sources;                     // setup.n_signals: the unit each signal comes from
  const size_t* probes;                      // setup.n_probes: indices into Y,
  const double *probe_scale, *probe_offset;  // times this plus that
  const yoke_validity* validities;
  size_t n_validities;
  size_t method;
  size_t unit;
  int64_t every;           // [slots]
  size_t self, self_size;  // where its memory lies in the state
  size_t sample;           // where its samples and probes lie,
  size_t input;            // then its inputs
  size_t derivatives;      // and their derivatives
  bool is_mean;            // the unit gets means over its calls
  // the unit is fresh and the method takes part in that: per signal 1 + the entry of refresh_order after which its sample is
  // final, 0: from the start
  bool is_fresh;
  const size_t* final_at;
  size_t first_signal;  // number of its first signal among those of all groups
} yoke_group;

// Something kept after every call of a unit between two exchanges: for the ledger, or for a coupling method.
typedef struct yoke_strip {
  size_t n;                // numbers each way
  const size_t *in, *out;  // indices into U and Y
  size_t at;               // where its first call goes in the strips: n received, then n given
} yoke_strip;

typedef struct yoke_group_send {
  size_t group, signal;
  const yoke_tap* tap;
  size_t through;  // 1 + the output in `throughs`, which is brought up to date; 0: as it is
  size_t
      late_at;  // 1 + the entry of refresh_order behind which the last one of a slot is sent; 0: at once
} yoke_group_send;

// One direction of a bond, resolved.
typedef struct yoke_system_pair {
  size_t from_unit, from_variable, from_element;
  size_t to_unit, to_variable, to_element;  // YOKE_NOT_FOUND if nothing is moved
  size_t n;                                 // elements
  size_t link;                              // what carries it, or YOKE_NOT_FOUND
} yoke_system_pair;

typedef struct yoke_system_bond {
  const char* name;
  const yoke_scenario_bond* source;  // NULL: found from dimensions
  yoke_place place;
  yoke_system_pair *action, *rate;  // n_pairs each
  size_t n_pairs;
  size_t n;  // components
  double sign;
  size_t action_unit, rate_unit;  // who gives the action, who gives the rate
  int64_t interval;               // exchange interval [ticks]
  yoke_ledger_bond ledger;
} yoke_system_bond;

// A closed chain of direct feedthrough: alternating outputs and inputs.
typedef struct yoke_system_variable {
  size_t unit, variable;
} yoke_system_variable;

typedef struct yoke_system_loop {
  const yoke_system_variable* variables;
  size_t n;
} yoke_system_loop;

// One number of a real output that takes part in a connection, a law or a bond: what a run is judged by.
typedef struct yoke_system_signal {
  size_t unit, variable, element;
  size_t y;       // index into Y
  int64_t every;  // macro steps between two of its exchanges, at least 1
  size_t loop;    // of its unit (unit_loops)
  bool is_in_bond;
} yoke_system_signal;

// A limit of one number (`quality: {stop: {above: ...}}`).
typedef struct yoke_system_limit {
  const yoke_scenario_signal_limit* source;
  const char* name;  // as a column of a recording has it
  const char* dim;   // "" if there is none
  bool is_fetched;   // a local quantity: `at` bytes in V; else number `at` of Y
  size_t at;
} yoke_system_limit;

// What a recorded column reads.
typedef enum yoke_column_source {
  YOKE_COLUMN_Y,      // number at index of Y
  YOKE_COLUMN_U,      // number at index of U
  YOKE_COLUMN_TYPED,  // bytes at index of V
  YOKE_COLUMN_BOND,   // number at index of the ledger's values
  YOKE_COLUMN_TRACE,  // number at index of what the method of group `element` shows
} yoke_column_source;

typedef struct yoke_system_column {
  yoke_column_source source;
  size_t index;  // see above
  size_t unit, variable, element;
  const int64_t* values;  // of the items of an enumeration; NULL: their index
  size_t n_values;
} yoke_system_column;

typedef struct yoke_system {
  yoke_arena arena;
  yoke_scenario* scenario;
  bool is_scenario_lent;          // else it is owned
  yoke_messages* messages;        // borrowed while building
  const yoke_registry* registry;  // NULL: the built-in units and methods
  bool is_running;                // a simulation of it exists
  bool is_from_memory;            // its path is only a name
  yoke_unit_store* store;         // files that units come out of
  yoke_pool* pool;

  yoke_system_unit* units;  // units, then laws
  size_t n_units, n_laws;   // n_units counts both
  yoke_map unit_index;
  yoke_system_link* links;
  size_t n_links;
  yoke_tap* taps;  // sorted by receiving unit
  size_t n_taps;
  size_t n_u, n_y;                 // numbers in U and Y
  size_t n_linear;                 // numbers of linear models behind those of Y
  size_t n_typed_out, n_typed_in;  // bytes of V and W
  size_t n_fifo;                   // numbers in delay lines

  // time
  yoke_clock clock;
  int64_t macro;           // time.step [ticks]
  int64_t slot;            // ticks between two points at which anything is exchanged or recorded
  int64_t macro_slots;     // slots of one macro step
  int64_t n_slots;         // of the whole run
  int64_t record_every;    // [slots]
  int64_t record_from;     // [slots] before the first row
  double t_start, t_stop;  // t_stop as reached by whole macro steps
  bool is_adaptive;        // the residual chooses the step: so many slots, up to
  int64_t adaptive_max;
  double adaptive_rho;

  // orders
  const size_t* init_order;     // all units and laws
  const size_t* refresh_order;  // laws and fresh units, possibly more than once
  size_t n_refresh;
  const size_t*
      unit_refresh;  // Gauss-Seidel: those of refresh_order that a unit listens to, per unit
  const size_t* unit_refresh_first;  // n_units + 1 entries
  const size_t* gs_order;            // Gauss-Seidel: all units, laws left out
  size_t n_gs;
  const yoke_system_loop* loops;
  size_t n_loops;

  const yoke_system_signal* judged;  // in order of Y
  size_t n_judged;
  const yoke_system_limit* limits;  // in order of the units
  size_t n_limits;
  // Per unit: the loop of units and laws that depend on each other it belongs to, numbered by their first unit;
  // YOKE_NOT_FOUND: none. A unit connected to itself is a loop.
  const size_t* unit_loops;
  size_t n_unit_loops;

  const yoke_system_source* sources;  // by unit
  size_t n_sources, n_source_ring;

  size_t n_moves;
  yoke_intake* intakes;  // shared ones first, then per unit
  size_t n_shared_intakes, n_intakes;
  const size_t* unit_intake;  // per unit: first of its own intakes; n_units + 1 entries
  yoke_group* groups;
  size_t n_groups, n_signals;  // groups, and signals of all of them
  size_t n_group_bytes, n_group_numbers, n_image_bytes;

  const size_t* thread_units;  // units by thread
  const size_t* thread_first;  // n_threads + 1 entries

  yoke_system_method* methods;
  size_t n_methods;
  yoke_system_bond* bonds;  // of the file, then found ones
  size_t n_bonds;
  yoke_ledger_bond* ledger_bonds;  // n_bonds, as the ledger wants them
  yoke_system_flow* flows;         // by sender
  size_t n_flows, n_lags;
  const size_t* inflows;                // indices into flows, by receiver
  bool has_law_flows;                   // a law feeds some of them
  const yoke_system_through* throughs;  // each behind those that its inputs come from
  size_t n_throughs;
  const yoke_through_loop* through_loops;
  size_t n_through_loops, n_loop_numbers;  // numbers in the matrices of all of them
  const yoke_through_term* through_terms;
  size_t n_through_terms;
  const yoke_strip* strips;  // by unit
  size_t n_strip_numbers;
  const yoke_group_send* sends;  // by unit
  // Per number of D: 1 + where its input at the end of a call stands among the numbers of the groups; 0: it stays as it is.
  const size_t* through_ends;
  size_t n_held;             // numbers of actions rebuilt with the partner held
  const char* const* hints;  // pairs that may be bonds but are ambiguous, for people
  size_t n_hints;
  bool* is_refusal_met;  // per bond of the file: its name came up while bonds were looked for

  const yoke_system_action* actions;  // `safe`
  size_t n_actions;

  const yoke_record_column* columns;
  const yoke_system_column* column_sources;
  size_t n_columns;
  const yoke_result_ops** sinks;  // of the registry that the file names as formats
  size_t n_sinks;

  int n_threads;  // of the pool,
  int n_crew;     // of which these step together; each of the others has a unit of its own
  bool is_gs_order_given;
  bool has_slow_units;
  bool
      is_exchange_plain;  // one intake of plain copies, moves and samples in every slot, and nothing else
  size_t n_record_plain;   // that many columns at the front are the front of Y
  bool is_input_recorded;  // some column is an input
} yoke_system;

static inline bool yoke__system_is_iterative(const yoke_system* system) {
  return system->scenario->scheme == YOKE_ITERATIVE_JACOBI ||
         system->scenario->scheme == YOKE_ITERATIVE_GAUSS_SEIDEL;
}

// A table of an FMU, with what unit_fmu.h says of it; behind a port it is another one.
static inline bool yoke__system_is_fmu(const yoke_system_unit* unit) {
  return unit->source->kind == YOKE_KIND_FMU && !unit->source->port.is_given;
}

// Iterative schemes (system_iterate.c): where call j of a unit's calls in a macro step has its inputs, from 0 (start of the
// macro step) to 1 (its end).
double yoke__system_call_place(const yoke_system* system, const yoke_system_unit* unit, int64_t j);
// No unit can get other inputs in an iteration than before: the result is that of scheme: jacobi.
bool yoke__system_is_iteration_idle(const yoke_system* system);

// Builds the system and takes the scenario over (also on failure). All errors go to messages.
yoke_status yoke__system_build(yoke_scenario* scenario, const yoke_registry* registry,
                               yoke_messages* messages, yoke_system** out);
// The same with a scenario that stays the caller's (is_scenario_lent) and outlives the system.
yoke_status yoke__system_build_lent(yoke_scenario* scenario, const yoke_registry* registry,
                                    yoke_messages* messages, yoke_system** out);
void yoke__system_destroy(yoke_system** handle);

// What the units have to say since they were asked last (yoke_unit_ops.report), each from its own thread, unit by unit. Not
// while anything is stepped.
void yoke__system_report(yoke_system* system, const yoke_sink* sink);

// The stages of building, in order (each in its own file); YOKE_BAD_INPUT once messages hold an error that stops it.
yoke_status yoke__system_make_units(yoke_system* system);  // system_units.c
// What the file says about a unit that comes out of a file or gets a process of its own; NO_MEMORY.
yoke_status yoke__system_file_settings(yoke_system* system, const yoke_system_unit* unit,
                                       yoke_unit_file_settings* settings);
// One more instance like that of `unit`, made by another table, for whoever closes it.
yoke_status yoke__system_make_copy(yoke_system* system, const yoke_system_unit* unit,
                                   const yoke_unit_ops* ops, yoke_messages* messages,
                                   yoke_system_unit* copy);
// Tries what a step of each FMU costs, where that decides about threads.
void yoke__system_try_costs(yoke_system* system);  // system_cost.c
// How many calls of its FMUs a system that was built with `calls: auto` should make, into one trial per unit; least: as many
// as its loops ask for. True: some unit gets fewer than it has.
bool yoke__system_try_calls(yoke_system* system, int64_t least, yoke_scenario_trial trials[]);
// The largest of 10, 5, 2 and 1 whose calls are worth it, by what one call and ten take for a macro step. is_even: not 5.
int64_t yoke__system_worth_calls(double one_s, double ten_s, bool is_even);
#define YOKE_AUTO_CALLS 10  // of units that leave what comes in to `auto`, at least
// Whether a unit would get means of its inputs, if nothing else spoke against it.
bool yoke__system_can_take_means(const yoke_system_unit* unit);  // system_through.c
// Whether the settings of a bond or a coupling name `method: auto`; map may be NULL.
bool yoke__system_names_auto(const yoke_node* map);  // system_methods.c
// Whether signals without a method that reach a unit are served by `auto`.
bool yoke__system_has_auto(const yoke_system* system,
                           const yoke_system_unit* to);  // system_calls.c
// `inputs` of every unit: that of the file, or of its coupling.
yoke_status yoke__system_choose_inputs(yoke_system* system);  // system_through.c
yoke_status yoke__system_plan_calls(yoke_system* system);
void yoke__system_limit_calls(yoke_system* system);
yoke_status yoke__system_wire(yoke_system* system);      // system_wire.c
yoke_status yoke__system_order(yoke_system* system);     // system_order.c
yoke_status yoke__system_schedule(yoke_system* system);  // system_schedule.c
// Sources of the inputs of units that want to know how good they are, once the grid is there.
yoke_status yoke__system_list_sources(yoke_system* system);  // system_sources.c
// What the iterative schemes ask of the units (system_iterate.c). Errors and warnings go to messages; NO_MEMORY.
yoke_status yoke__system_check_iteration(yoke_system* system);
// Is the connection the business of a coupling method, or is its sample the input? Once the grid is there.
bool yoke__system_needs_group(const yoke_system* system, const yoke_system_unit* unit,
                              const yoke_tap* tap);         // system_groups.c
yoke_status yoke__system_make_groups(yoke_system* system);  // system_groups.c
// Parts of that: what belongs to the signals of group->taps; its place among the groups and in memory.
yoke_status yoke__system_fill_signals(yoke_system* system, yoke_group* group);
yoke_status yoke__system_add_group(yoke_system* system, yoke_group* group);
// The group of a method over a cluster, and the part of it that feeds one unit (system_cluster.c).
yoke_status yoke__system_make_cluster(yoke_system* system, size_t method);
yoke_status yoke__system_make_member(yoke_system* system, size_t cluster, size_t sink);
// Room for the linear model of a unit behind the outputs. False: it has none.
bool yoke__system_reserve_linear(yoke_system* system, yoke_system_unit* unit);
// Warns of settings that change nothing.
yoke_status yoke__system_report_idle(yoke_system* system);   // system_idle.c
yoke_status yoke__system_lay_record(yoke_system* system);    // system_record.c
yoke_status yoke__system_list_signals(yoke_system* system);  // system_signals.c
yoke_status yoke__system_check_trust(yoke_system* system);   // system_trust.c: names of `trust`
yoke_status yoke__system_list_limits(yoke_system* system);   // system_limits.c: those of `quality`
// Asserts that every index lies inside of what it points into; always YOKE_OK.
yoke_status yoke__system_lay_safe(yoke_system* system);  // system_safe.c
// Which outputs anybody reads, once everything that may read them is there.
yoke_status yoke__system_list_reading(yoke_system* system);  // system_reading.c
// Whether the system can be paced by the clock; a message says why not.
yoke_status yoke__system_check_pace(const yoke_system* system, const yoke_sink* sink);
// A unit that is to have a thread of its own and, by the clock, cannot; NULL: there is none. why: what stands in the way.
const yoke_system_unit* yoke__system_find_not_own(const yoke_system* system, const char** why);
yoke_status yoke__system_check_layout(yoke_system* system);  // system_layout.c

yoke_status yoke__system_weigh_bonds(yoke_system* system);  // system_ledger.c: mu, scales
yoke_status yoke__system_lay_ledger(yoke_system* system);   // system_ledger.c: indices, strips

// Parts of wiring.
yoke_status
yoke__system_list_links(yoke_system* system);  // system_bonds.c: connections, and arrows of bonds
yoke_status yoke__system_resolve_bonds(yoke_system* system);  // system_bonds.c
// The factor by which a connection changes a quantity, beyond a change of its physical unit.
double yoke__system_si_gain(const yoke_system* system, const yoke_system_link* link);
yoke_status yoke__system_find_bonds(yoke_system* system);      // system_find.c
yoke_status yoke__system_choose_methods(yoke_system* system);  // system_methods.c
// The extrapolation order that a map {method: ..., order: n} asks for; -1: none given.
int yoke__system_method_order(const yoke_node* map);
// The order with which a real connection extrapolates, and why that is not the one it has ("" if it is).
int yoke__system_acting_order(const yoke_system* system, const yoke_system_link* link,
                              const char** why);
// Connections whose flow is counted or averaged; then their places in memory, once taps are laid, and their intervals.
yoke_status yoke__system_choose_flows(yoke_system* system);  // system_flows.c
yoke_status yoke__system_layout_flows(yoke_system* system);  // system_flows.c
// `feedthrough` of the units (system_feedthrough.c): names to variables; their descriptions then say what the file says.
yoke_status yoke__system_take_feedthrough(yoke_system* system);
// What is known before the start of the inputs that an output follows, as its unit describes it or as the file says it.
yoke_through yoke__through_of_output(const yoke_system_unit* unit, size_t output);
yoke_through yoke__through_of_gain(const yoke_system_unit* unit, size_t output,
                                   const yoke_system_gain* gain);
// The same of the output that a connection carries, by all connected inputs of its unit: the least that is known of one. Once
// taps are there; what depends on rates once the grid is there. After the start: yoke__master_feedthrough.
yoke_through yoke__system_feedthrough(const yoke_system* system, size_t link);
// The first of two if less is known of it, else the second.
yoke_through yoke__through_least(yoke_through a, yoke_through b);
// Whether `inputs: mean` is asked for by some unit, and acts.
bool yoke__system_has_means(const yoke_system* system);  // system_through.c
// `inputs: mean`: which units get means, and which outputs are brought up to date.
yoke_status yoke__system_plan_means(yoke_system* system);  // system_through.c
// The outputs of a closed chain of feedthrough for a message: "a.y, b.y".
void yoke__system_loop_text(const yoke_system* system, const yoke_through_loop* loop, char* to,
                            size_t size);
yoke_status yoke__system_fit_clock(yoke_system* system);  // system_clock.c
// The common multiple of all steps in ticks, at which iterative schemes exchange; 0 after a message.
int64_t yoke__system_common_cycle(yoke_system* system);
// The exchange interval and the delay of a link; cycle > 0: that of an iterative scheme.
void yoke__system_choose_interval(yoke_system* system, yoke_system_link* link, int64_t cycle);
yoke_status yoke__system_lay_taps(yoke_system* system);  // system_taps.c

// True if a connection feeds one of n elements of a variable.
bool yoke__system_is_fed(const yoke_system* system, size_t unit, size_t variable, size_t element,
                         size_t n);
// Does the pattern mean an element of a variable: by its name, or by that of the whole variable?
bool yoke__system_is_named(const yoke_system* system, const char* pattern, size_t unit,
                           size_t variable, size_t element);
// A variable that is neither dense nor a typed output yet is fetched with these after each step: where in V.
size_t yoke__system_fetch(yoke_system* system, yoke_system_unit* unit, size_t variable);
// Does an output decide about the verdict (`trust: {signals}`; none given: all do; one with a limit of its own does)?
bool yoke__system_decides(const yoke_system* system, size_t unit, size_t variable, size_t element);
// The largest error that the file allows an output, in its own unit; NaN: none given. The last one of the file counts.
double yoke__system_error_limit(const yoke_system* system, size_t unit, size_t variable,
                                size_t element);
// Formats of the results that the system file names (YOKE_RECORD_*), else CSV.
uint32_t yoke__system_formats(const yoke_system* system);

// "unit.variable" or "unit.variable[i]" -> unit, variable, element range. what names the use in messages;
// NULL: no messages. Returns false after a message.
bool yoke__system_resolve(yoke_system* system, const yoke_scenario_endpoint* endpoint,
                          const char* what, size_t* unit, size_t* variable, size_t* element,
                          size_t* n);
// A column of a recording: "unit.variable", "unit.variable[i]" or "unit.variable[i,j]".
void yoke__system_element_name(const yoke_system_unit* unit, const yoke_variable* v, size_t i,
                               char* to, size_t size);
// The same of number `at` of a unit's real inputs or outputs.
void yoke__system_number_name(const yoke_system_unit* unit, yoke_causality causality, size_t at,
                              char* to, size_t size);
// The same of a judged signal.
void yoke__system_signal_name(const yoke_system* system, const yoke_system_signal* signal, char* to,
                              size_t size);
// The same of the output that a flow comes from, and of the input that it reaches.
void yoke__system_flow_start(const yoke_system* system, size_t flow, char* to, size_t size);
void yoke__system_flow_end(const yoke_system* system, size_t flow, char* to, size_t size);
// The unit the user probably meant, or NULL.
const char* yoke__system_nearest_unit(const yoke_system* system, const char* name);

#endif
