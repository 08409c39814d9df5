// The system file as a plain description: what the user wrote, checked for form but not yet wired.
// Names are not resolved here (that needs the units; see system/).
#ifndef YOKE_SCENARIO_H
#define YOKE_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_arena.h"
#include "base/base_clock.h"
#include "base/base_message.h"
#include "yoke/unit.h"

// One node of the file with its position.
typedef enum yoke_node_kind { YOKE_NODE_SCALAR, YOKE_NODE_LIST, YOKE_NODE_MAP } yoke_node_kind;

typedef struct yoke_node {
  yoke_node_kind kind;
  yoke_place place;
  const char* text;  // scalar: its text
  bool is_quoted;    // scalar: was in quotes, so never a number, boolean or null
  bool is_refused;   // reported already (an alias): readers skip it without another message
  int text_column;   // scalar: column of text[0] if the text stands verbatim in one line, else 0
  struct yoke_node* first;  // list, map: children in file order
  struct yoke_node* next;   // sibling
  const char* key;          // child of a map: its key
  yoke_place key_place;
  size_t n_children;
} yoke_node;

// A value given for a variable of a unit (`with`, `start`); its type is known only to the unit.
typedef struct yoke_setting {
  const char* name;
  yoke_place place;  // of the name
  const yoke_node* value;
} yoke_setting;

// `feedthrough` of a unit: one output, and the inputs that it follows at once.
typedef struct yoke_scenario_gain {
  const char* input;
  yoke_place place;
  bool has_value;
  double value;  // dy/du
} yoke_scenario_gain;

typedef struct yoke_scenario_through {
  const char* output;
  yoke_place place;
  const yoke_scenario_gain* gains;
  size_t n;
} yoke_scenario_through;

typedef struct yoke_scenario_time {
  double value;  // [s]
  yoke_decimal exact;
  bool is_given;
  yoke_place place;
} yoke_scenario_time;

typedef enum yoke_scheme {
  YOKE_JACOBI,
  YOKE_GAUSS_SEIDEL,
  YOKE_ITERATIVE_JACOBI,
  YOKE_ITERATIVE_GAUSS_SEIDEL,
} yoke_scheme;

typedef enum yoke_exchange { YOKE_STALE, YOKE_FRESH } yoke_exchange;
// What a unit that holds its inputs during a call gets of its signals: their value at the start of the call, or their mean over
// it with direct feedthrough brought up to date.
typedef enum yoke_inputs { YOKE_INPUTS_START, YOKE_INPUTS_MEAN } yoke_inputs;

#define YOKE_MAX_CALLS 1000  // of a unit in a macro step, by `calls`

// `calls: auto`: what the loops of the system ask for at the start (master_scout.c).
typedef struct yoke_scenario_pace {
  int64_t calls;   // in a macro step; 0: not known
  int64_t wanted;  // the same without the upper limit
  double fastest;  // |lambda| of the fastest mode of the loops [1/s]; 0: none takes part in a loop
} yoke_scenario_pace;

// `calls: auto` of an FMU: what a macro step of it takes (system_cost.c).
typedef struct yoke_scenario_trial {
  int64_t calls;        // that are worth it: 1, 2, 5 or 10; 0: not known
  double one_s, ten_s;  // in one call, in ten; one_s is 0 where ten cost next to nothing
} yoke_scenario_trial;

// Inputs of a unit that holds them over a call, on the line from the start of the macro step to its end.
typedef enum yoke_iteration_mode {
  YOKE_ITERATE_MEAN,         // in the middle of the call
  YOKE_ITERATE_INTERPOLATE,  // at the start of the call
  YOKE_ITERATE_HOLD_END      // at the end of the macro step
} yoke_iteration_mode;
typedef enum yoke_iteration_update {
  YOKE_UPDATE_FIXED_POINT,
  YOKE_UPDATE_RELAXATION,
  YOKE_UPDATE_AITKEN,
  YOKE_UPDATE_QUASI_NEWTON,
} yoke_iteration_update;

// `time.step: {min, max, rho}`: the residual power chooses the communication step (off line only).
typedef struct yoke_scenario_adaptive {
  bool is_given;
  yoke_scenario_time min, max;
  double rho;  // what the step aims at; default 0.02
  yoke_place place;
} yoke_scenario_adaptive;

// What a run that is paced by the clock does once a step ends after its deadline (docs/pace.md).
typedef enum yoke_overrun {
  YOKE_OVERRUN_CONTINUE,  // go on at the next grid time; simulated time falls behind the clock
  YOKE_OVERRUN_HOLD,      // the same, but `limit` overruns in a row stop the run
  YOKE_OVERRUN_SKIP,      // compute what was missed without the physical units; `limit` as above
  YOKE_OVERRUN_STOP,      // the first overrun stops the run
  YOKE_OVERRUN_CATCH_UP,  // the next steps follow at once; not with physical units
} yoke_overrun;

extern const char* const yoke__overrun_words[];  // "continue", ..., NULL

#define YOKE_PACE_LIMIT                                                                            \
  3  // overruns in a row, or slots of lag, from which on a run was not in time

// `time.pace`.
typedef struct yoke_scenario_pacing {
  bool is_given;
  double factor;  // simulated seconds per second of the clock; default 1
  yoke_overrun overrun;
  int64_t limit;    // default YOKE_PACE_LIMIT
  double watchdog;  // longest step [s]; 0: no watchdog; NaN: not given
  yoke_place place;
} yoke_scenario_pacing;

typedef struct yoke_scenario_iteration {
  yoke_iteration_mode mode;      // default mean
  yoke_iteration_update update;  // default fixed-point
  double relaxation;  // default 0.5 for `relaxation`, first factor of `aitken`; in (0, 2)
  double tolerance;   // default 1e-9, relative to max(1, |y|)
  int64_t max;        // default 50, 1..10000
} yoke_scenario_iteration;

// Units that come out of a file, and units in a process of their own.
typedef enum yoke_scenario_interface {
  YOKE_SCENARIO_INTERFACE_AUTO,
  YOKE_SCENARIO_CO_SIMULATION,
  YOKE_SCENARIO_MODEL_EXCHANGE,
  YOKE_SCENARIO_SCHEDULED_EXECUTION,
} yoke_scenario_interface;

typedef enum yoke_scenario_wait {
  YOKE_SCENARIO_WAIT_AUTO,
  YOKE_SCENARIO_WAIT_SPIN,
  YOKE_SCENARIO_WAIT_SLEEP,
} yoke_scenario_wait;

typedef struct yoke_scenario_isolation {
  bool is_given;  // `isolate: process`
  yoke_scenario_wait wait;
  double timeout_s;  // longest call; 0: the default
  double memory;     // bytes; 0: no limit
} yoke_scenario_isolation;

typedef struct yoke_scenario_solver {
  const char* method;  // NULL: not given
  double step;         // [s]; 0: not given
  double tolerance;    // 0: not given
  // circuits
  const char* formulation;  // NULL: not given
  int64_t iterations;       // fixed number; 0: not given
} yoke_scenario_solver;

// units and laws
// What an input may be when it is sent: `limits: {omega: {min: 0, max: 490, slope: 2000}}`. Infinite: not given.
typedef struct yoke_scenario_bounds {
  const char* name;
  yoke_place place;
  double min, max, slope;  // slope: change per second
} yoke_scenario_bounds;

// One number that goes through a port without a model: `torque: {unit: N.m, as: i16, scale: 0.001}`.
typedef struct yoke_scenario_signal {
  const char* name;
  yoke_place place;
  const char* dim;  // NULL: not given
  yoke_type type;   // real, integer or boolean
  int as;           // rank of the word: f64, f32, i8, u8, i16, u16, i32, u32, i64
  double scale, offset, start;
  bool has_start;
} yoke_scenario_signal;

typedef struct yoke_scenario_signals {
  bool is_given;
  yoke_place place;
  const yoke_scenario_signal* all;
  size_t n;
} yoke_scenario_signals;

typedef enum yoke_port_clock {
  YOKE_PORT_LOCKSTEP,  // the other end makes one step for each datagram
  YOKE_PORT_PACED,     // it follows the clock
} yoke_port_clock;

typedef enum yoke_port_protocol {
  YOKE_PORT_SIGNALS,  // variables travel
  YOKE_PORT_FRAMES,   // frames of the unit's own
} yoke_port_protocol;

// `port: udp`: the unit runs at the other end of a socket.
typedef struct yoke_scenario_port {
  bool is_given;
  int carrier;  // rank of the word behind `port`, without none
  yoke_place place;
  const char *peer, *bind;  // addresses; NULL: not given
  yoke_port_clock clock;
  yoke_port_protocol protocol;
  double timeout_s;   // for an answer; 0: not given
  int64_t most_lost;  // answers missing in a row; 0: not given
  const yoke_scenario_bounds* limits;
  size_t n_limits;
  yoke_scenario_signals inputs, outputs;  // of a port without a model
} yoke_scenario_port;

// ---- twins (scenario_twin.c)

// A sensor of a twin: the quantity of its netlist that it reads.
typedef struct yoke_scenario_sensor {
  const char* name;  // "t(s1)"
  yoke_place place;
  double sigma;  // standard deviation of its noise; 0: not given
} yoke_scenario_sensor;

// An output of interest of the unit behind a twin.
typedef struct yoke_scenario_output {
  const char* name;
  yoke_place place;
} yoke_scenario_output;

// What the filter works with, of an unknown resistance.
typedef enum yoke_scenario_as {
  YOKE_AS_DEFAULT,
  YOKE_AS_RESISTANCE,
  YOKE_AS_CONDUCTANCE,
} yoke_scenario_as;

typedef struct yoke_scenario_unknown {
  const char* name;
  yoke_place place, as_place;
  yoke_scenario_as as;
  double start, sd, walk, lower, upper;  // NaN: not given
} yoke_scenario_unknown;

typedef struct yoke_scenario_twin {
  yoke_unit_kind
      box;  // of a twin of a unit that is a black box; YOKE_KIND_NONE: of the network of a netlist
  const yoke_scenario_output* outputs;  // of the box
  size_t n_outputs;
  const yoke_scenario_sensor* sensors;
  size_t n_sensors;
  const yoke_scenario_unknown* unknowns;
  size_t n_unknowns;
  const struct yoke_scenario_connection* connections;  // of `sensors` and `inputs`; those of the
  size_t n_connections;                                // scenario have them too
  int filter;                                          // rank of the word behind `filter`
  yoke_place filter_place;
  double walk, rate_walk, start_sd, rate_sd, gate, jitter;  // `noise`; NaN: not given
  int64_t most_resets;
  yoke_scenario_time late;  // longest delay of a reading that still counts
} yoke_scenario_twin;

extern const char* const yoke__filter_words[];  // "auto", ..., NULL

typedef struct yoke_scenario_unit {
  const char* name;
  yoke_place place;
  bool is_law;
  yoke_unit_kind kind;
  bool is_kind_refused;  // one was given that cannot be here; it was reported
  const char* type;      // its value: model name or path
  yoke_place type_place;
  const char* model;  // of a library: the unit in it; NULL: the only one
  yoke_place model_place;
  const yoke_setting* with;
  size_t n_with;
  const yoke_setting* start;
  size_t n_start;
  const yoke_setting* values;  // parameters or start values: the unit knows which
  size_t n_values;
  yoke_scenario_interface interface_type;
  yoke_scenario_isolation isolation;
  yoke_scenario_port port;
  yoke_scenario_twin twin;
  int on_loss;  // of its samples: 0 extrapolate, 1 hold
  yoke_scenario_solver solver;
  bool is_logging;          // `log: true`
  bool is_event_mode_off;   // `events: false`
  bool has_internal_step;   // `internal_step` of an FMU's own solver
  double internal_step;     // [s]; 0: exact
  yoke_scenario_time step;  // not given: time.step
  int64_t calls;            // in a macro step; 0: as the system says
  bool has_exchange;        // exchange: stale | fresh of this unit, else the system's
  yoke_exchange exchange;
  double tolerance;         // iterative schemes; 0: that of `iteration`
  double cost_s;            // expected computing time of a step; 0: what the unit says
  double budget_s;          // computing time of a macro step in a paced run; 0: no limit
  bool has_own_thread;      // `thread: own`
  bool has_no_feedthrough;  // `feedthrough: none`
  const yoke_scenario_through* feedthrough;  // outputs of which the file says it
  size_t n_feedthrough;
} yoke_scenario_unit;

// Its quantities are those of a netlist, whose names ignore case.
static inline bool yoke__scenario_has_netlist(const yoke_scenario_unit* unit) {
  const yoke_unit_kind box = unit->twin.box;
  return unit->kind == YOKE_KIND_CIRCUIT ||
         (unit->kind == YOKE_KIND_TWIN && (box == YOKE_KIND_NONE || box == YOKE_KIND_CIRCUIT));
}

typedef struct yoke_scenario_endpoint {
  const char* unit;
  const char* variable;  // may end in [i] or [i,j], one element of an array; see system/
  yoke_place place;
} yoke_scenario_endpoint;

// One entry of `safe`: an input that is led to a value when a paced run stops.
typedef struct yoke_scenario_action {
  yoke_scenario_endpoint input;
  double to, over;  // in so many seconds of the clock; default 0, 0
  yoke_place place;
} yoke_scenario_action;

// Whether a connection carries the mean of its output over the exchange interval (`average`).
typedef enum yoke_scenario_average {
  YOKE_AVERAGE_BY_RULE,  // not given: by dimension and rates (system/system_flows.c)
  YOKE_AVERAGE_NO,
  YOKE_AVERAGE_YES,
} yoke_scenario_average;

typedef struct yoke_scenario_connection {
  yoke_scenario_endpoint from, to;
  double gain, offset;          // defaults 1, 0
  bool has_gain;                // one of them is given, so units are not compared
  int order;                    // 0..3; default 0
  bool has_order;               // it is given, in the file or by a setting
  yoke_scenario_time delay;     // default 0
  yoke_scenario_time exchange;  // not given: system_clock.c
  int64_t exchange_parts;       // of companions: so many exchanges in a macro step; 0: not given
  bool is_of_unit;              // it stands in a unit, not under `connections`
  bool is_held, is_auto;        // `method: hold`, `method: auto`: no coupling of a set serves it
  const yoke_node* coupling;    // NULL or the map {method: ..., parameters}
  yoke_scenario_average average;
  yoke_place place;
  yoke_place order_place;
  yoke_place average_place;
} yoke_scenario_connection;

// One direction of a bond: `left.f -> right.f`, or just `left.f` where nothing is moved.
typedef struct yoke_scenario_pair {
  yoke_scenario_endpoint from, to;
  bool has_to;
} yoke_scenario_pair;

// How bonds are watched: in `quality` for all of them, in a bond for itself. NaN: not given.
typedef struct yoke_scenario_limits {
  double rho, eps, rter;
} yoke_scenario_limits;

typedef struct yoke_scenario_watch {
  yoke_scenario_limits warn, stop;
  double period, window, settle, persist, hysteresis;
} yoke_scenario_watch;

typedef struct yoke_scenario_name {
  const char* text;
  yoke_place place;
} yoke_scenario_name;

// A limit of a signal in its own unit (`quality: {stop: {above: {...}}}`).
typedef struct yoke_scenario_signal_limit {
  yoke_scenario_name signal;  // a name or a glob pattern
  double value;
  bool is_above;  // it must not rise above the value; else it must not fall below
  bool is_stop;   // ends the run; else it is only noted
} yoke_scenario_signal_limit;

typedef enum yoke_bond_residual { YOKE_BOND_SAMPLES, YOKE_BOND_PARTNER_HELD } yoke_bond_residual;

// Several pairs make a vector bond.
typedef struct yoke_scenario_bond {
  const char* name;
  yoke_place place;
  const yoke_scenario_pair *action, *rate;
  size_t n_action, n_rate;
  double sign;                // +1 or -1
  const yoke_node* coupling;  // NULL or the map {method: ..., parameters}
  bool is_refused;            // `name: false`: a bond that would be found is not wanted
  yoke_bond_residual residual;
  double mu;      // NaN: automatic
  double energy;  // reference energy [J]; NaN: not given
  yoke_scenario_watch watch;
} yoke_scenario_bond;

typedef struct yoke_scenario_coupling {
  const char* name;
  yoke_place place;
  const char* method;  // NULL: it names none, but `inputs`
  yoke_place method_place;
  bool has_inputs;  // `inputs` of its members, in place of those of the file:
  yoke_inputs inputs;
  yoke_place inputs_place;
  const yoke_node* node;   // the whole map; the method reads its own parameters
  bool is_where_possible;  // connections that the method cannot serve are held, without a message
} yoke_scenario_coupling;

// Which companions judge a run (docs/trust.md).
typedef enum yoke_companions {
  YOKE_COMPANIONS_AUTO,   // both, if they do not cost too much
  YOKE_COMPANIONS_BOTH,   // half the steps, and another method at half the step
  YOKE_COMPANIONS_HALF,   // half the steps
  YOKE_COMPANIONS_CHEAP,  // half the steps, and another method at the step of the run
  YOKE_COMPANIONS_NONE,
} yoke_companions;

extern const char* const yoke__companion_words[];  // "auto", ..., NULL

// The largest error that a signal may have, in its own unit.
typedef struct yoke_scenario_trust_limit {
  yoke_scenario_name signal;  // a name or a glob pattern
  double value;
} yoke_scenario_trust_limit;

// `trust`.
typedef struct yoke_scenario_trust {
  bool is_given;
  const yoke_scenario_name* signals;  // that decide, glob patterns; none: all
  size_t n_signals;
  double limit, wrong;  // of a signal's movement; defaults 0.05, 0.10
  const yoke_scenario_trust_limit* limits;
  size_t n_limits;
  yoke_companions companions;
  bool is_status;  // a wrong run changes the exit status; default true
  bool is_bands;   // bands over time are written; default false
} yoke_scenario_trust;

typedef struct yoke_scenario {
  yoke_arena arena;              // owns everything below
  bool has_errors;               // parts could not be read: see yoke__scenario_read_parts
  bool is_companion;             // it was made from another one: scenario_companion.h
  const yoke_node* tree;         // the file with --set applied
  const char* path;              // as given
  const char* directory;         // folder of the file; of an archive: where it is unpacked
  const char* home;              // the same from the root, as the program stood when it was read
  struct yoke_netlist* netlist;  // of a netlist alone: read once, for its times and its unit
  const char* netlist_path;      // the `type` of that unit
  bool has_short_names;          // of a netlist alone: columns are its quantities, v(out) and i(l1)
  struct yoke_temp* temp;        // of an archive: removed with the scenario; else NULL
  const char* name;              // default: file stem
  const char* text;              // `text:`, a description; "" if none
  yoke_scenario_time start, stop, step;  // step: the shortest one if it is adaptive
  yoke_scenario_adaptive adaptive;
  yoke_scenario_pacing pacing;
  const yoke_scenario_action* safe;  // in the order in which they are done
  size_t n_safe;
  yoke_scheme scheme;
  yoke_exchange exchange;
  yoke_inputs inputs;
  bool has_inputs;  // the file names them
  yoke_place inputs_place, calls_place;
  int64_t calls;            // of every unit in a macro step, with an exchange at each; 0: automatic
  yoke_scenario_pace pace;  // found, not read
  bool has_trials;          // set by whoever runs it: FMUs may be tried for their cost
  const yoke_scenario_trial* trials;  // per unit; found, not read; NULL: none were made
  bool is_alone;                      // one unit of a system: its inputs are written from outside
  int64_t threads;                    // 0: automatic
  yoke_scenario_iteration iteration;
  const yoke_scenario_name* order;  // `order: [a, b]` for Gauss-Seidel
  size_t n_order;
  const yoke_scenario_unit* units;  // units first, then laws, each in file order
  size_t n_units;
  const yoke_scenario_connection* connections;
  size_t n_connections;
  const yoke_scenario_bond* bonds;
  size_t n_bonds;
  const yoke_scenario_coupling* couplings;
  size_t n_couplings;
  bool is_finding;    // bonds are found from dimensions (`quality: {find: false}` turns it off)
  bool stops_growth;  // a signal that diverges ends the run (`quality: {stop: {growth: true}}`)
  yoke_scenario_watch watch;                        // `quality`
  const yoke_scenario_signal_limit* signal_limits;  // and its limits of signals
  size_t n_signal_limits;
  yoke_scenario_trust trust;
  const yoke_scenario_name* record_signals;  // glob patterns; default one "*"
  size_t n_record_signals;
  int64_t record_every;            // default 1
  yoke_scenario_time record_from;  // nothing is recorded before; not given: from the start
  const yoke_scenario_name*
      record_formats;  // "csv", "hdf5", "mat", or a sink of the registry; empty: the caller decides
  size_t n_record_formats;
} yoke_scenario;

// sets: n texts "path=value" from the command line, applied to the tree before it is checked, so
// that they give the same messages as the file. All errors go to messages; YOKE_BAD_INPUT if there
// was one (then *out is NULL).
yoke_status yoke__scenario_read_file(const char* path, const char* const sets[], size_t n_sets,
                                     yoke_messages* messages, yoke_scenario** out);
// The same from memory; path is used for messages and as the base of relative paths.
yoke_status yoke__scenario_read(const char* bytes, size_t n, const char* path,
                                const char* const sets[], size_t n_sets, yoke_messages* messages,
                                yoke_scenario** out);
// As yoke__scenario_read_file, but a file that is sound YAML with errors in it gives what could be
// read (has_errors; ends of connections and types of units may be NULL), together with
// YOKE_BAD_INPUT: the next stage can look for more errors, so that all are reported in one go.
// netlist_stop: where the run of a netlist alone ends [s]; 0: as its `.tran` says.
yoke_status yoke__scenario_read_parts(const char* path, const char* const sets[], size_t n_sets,
                                      double netlist_stop, yoke_messages* messages,
                                      yoke_scenario** out);
// A system of one native model, for those who want the unit alone.
yoke_status yoke__scenario_read_model(const char* model, const char* unit, const char* const sets[],
                                      size_t n_sets, yoke_messages* messages, yoke_scenario** out);
void yoke__scenario_free(yoke_scenario** scenario);
// Leaves the unit with that name alone, without its port ("": the only one that has a port); *port: what it was. YOKE_BAD_INPUT
// after a message.
yoke_status yoke__scenario_keep_only(yoke_scenario* s, const char* name, yoke_messages* messages,
                                     yoke_scenario_port* port);

// Conversion of a value to the type a variable wants. `what` names it in messages ("parameter 'k'
// of unit 'left'"). Scalar, list (n x 1) or list of lists (rows x cols); a scalar is a 1x1. Results
// lie in arena. Storage: double, int64_t (integers, booleans 0/1, enumerations as index into
// items), const char* (strings).
yoke_status yoke__node_values(const yoke_node* node, yoke_type type, const char* const items[],
                              const char* what, yoke_arena* arena, yoke_messages* messages,
                              void** values, size_t* n_rows, size_t* n_cols);
// The child of a map with this key, or NULL.
const yoke_node* yoke__node_child(const yoke_node* map, const char* key);
// Shell-style match: * any text, ? one character, [abc] not supported (brackets are part of names).
bool yoke__glob_match(const char* pattern, const char* text);

#endif
