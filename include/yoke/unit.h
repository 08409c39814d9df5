// The contract of a unit: what a subsystem says about itself and what a master may ask of it.
//
// A unit is a block of memory (`self`) and a table of operations. A missing operation is NULL and means
// "not supported" or, where said below, "do the obvious thing": a unit whose values lie in one flat struct
// needs a table of variables with their offsets, a `step` and a `refresh`, and nothing else.
// A worked example is examples/own_unit.c; the concept page is docs/unit.md.
//
// Order of calls (all from one thread):
//   create, describe, [choose_integrals], set (parameters, start values), enter_init,
//   {set_inputs, refresh, get_outputs}*, exit_init,
//   {set_inputs, [set_input_derivatives], [set_input_info], step, get_outputs, [get_integrals],
//    [set_inputs, refresh, get_outputs]}*,
//   terminate, close.
#ifndef YOKE_UNIT_H
#define YOKE_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/message.h"
#include "yoke/status.h"
#include "yoke/version.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a unit is made from; in a system file the key that names it: `fmu: right.fmu`.
typedef enum yoke_unit_kind {
  YOKE_KIND_NONE,     // not known
  YOKE_KIND_MODEL,    // native model, built in or added by the program
  YOKE_KIND_LAW,      // the same without state, evaluated with the exchange
  YOKE_KIND_FMU,      // FMI 1.0, 2.0 or 3.0
  YOKE_KIND_CIRCUIT,  // netlist
  YOKE_KIND_LIBRARY,  // model in a shared library of the user
  YOKE_KIND_PORT,     // signals of a machine or another program, with no model
  YOKE_KIND_TWIN,     // estimator of a thermal network, from a netlist and sensor readings
  YOKE_N_KINDS,
} yoke_unit_kind;

// The word of a kind in messages and files: "model", "law", "fmu", "circuit", "library", "port", "twin"; "" for any other value.
YOKE_API const char* yoke_unit_kind_text(yoke_unit_kind kind);

typedef enum yoke_type {
  YOKE_REAL,         // double
  YOKE_INTEGER,      // int64_t
  YOKE_BOOLEAN,      // int64_t, 0 or 1
  YOKE_ENUMERATION,  // int64_t, index into `items`
  YOKE_STRING,       // char[max_size], NUL-terminated
  YOKE_BINARY,       // uint64_t number of bytes, then max_size bytes
} yoke_type;

typedef enum yoke_causality {
  YOKE_INPUT,
  YOKE_OUTPUT,
  YOKE_PARAMETER,  // fixed once initialisation ends
  YOKE_TUNABLE,    // a parameter that may change, or be connected, at exchange points
  YOKE_STATE,      // internal: has a start value, may be read and recorded
} yoke_causality;

enum {
  YOKE_VARIABLE_HAS_START = 1u << 0,  // input: may stay unconnected, `start` is a sensible default;
                                      // output: is also a state, so a start value may be given
  YOKE_VARIABLE_READ_ONLY =
      1u << 1,  // state: may be read and recorded, but has no start value to give
  YOKE_VARIABLE_IS_FILE =
      1u << 2,  // string: names a file, relative to the folder of the system file
  YOKE_VARIABLE_NONLINEAR =
      1u << 3,  // real scalar parameter: the unit is linear (YOKE_UNIT_LINEAR) only while it is 0
  YOKE_VARIABLE_FEEDTHROUGH_UNKNOWN =
      1u
      << 4,  // output: nobody knows which inputs it follows at once; `feedthrough` lists them all
  YOKE_VARIABLE_DISCRETE =
      1u << 5,  // real output: moves at events only, so nobody extrapolates it by himself
  YOKE_VARIABLE_UNSEEN =
      1u << 6,  // the unit's own frames (yoke_unit_frames) do not carry it: unknown at the bench
  YOKE_VARIABLE_CONSTANT = 1u << 7,  // state: never changes while the unit runs, or is the time
};

// `offset` of a variable that does not lie in the unit's struct.
#define YOKE_NO_OFFSET ((size_t)-1)

// One variable. Its name is unique in the unit and has no control characters. Arrays are n_rows x n_cols, row by row, at most
// 2^31 - 1 elements; 0 is read as 1. Storage of a value, wherever one is passed as `void*`: n elements of the C type named at
// yoke_type, one after another.
typedef struct yoke_variable {
  const char* name;
  const char*
      dim;  // physical unit such as "N" or "m/s"; NULL or "" if none is known, "1" if dimensionless
  const char* text;  // one line for people
  yoke_type type;
  yoke_causality causality;
  uint32_t flags;          // YOKE_VARIABLE_*
  size_t n_rows, n_cols;   // 0 is read as 1
  double start;            // start value of each element; integers, booleans, enumerations: rounded
  const char* start_text;  // start value of a string
  const char* const* items;  // enumeration: NULL-terminated list of names
  const int64_t*
      item_values;  // what the items are as numbers, in files and where one meets an integer or a real;
                    // NULL: 0, 1, 2, ...
  size_t max_size;  // string, binary: bytes one value may take, NUL included
  size_t offset;    // where the value lies in `self`, or YOKE_NO_OFFSET
} yoke_variable;

// The variable with index `output` depends on `input` at the same instant (direct feedthrough).
typedef struct yoke_feedthrough {
  size_t output, input;
} yoke_feedthrough;

enum {
  YOKE_UNIT_PHYSICAL = 1u << 0,    // a real machine: cannot repeat a step, does not wait
  YOKE_UNIT_FIXED_STEP = 1u << 1,  // every step has the same length
  YOKE_UNIT_ALGEBRAIC = 1u << 2,   // no state and no step: may be used as a law
  YOKE_UNIT_IMPLICIT = 1u << 3,    // solver uses the input at the end of its step
  YOKE_UNIT_FLAT = 1u << 4,    // `self` is one block of info->self_size bytes without pointers: the
                               // caller saves and restores it by copying, also for another process
  YOKE_UNIT_LINEAR = 1u << 5,  // its equations are linear with constant coefficients; see also
                               // YOKE_VARIABLE_NONLINEAR
  YOKE_UNIT_PORTABLE =
      1u << 6,  // what `save` writes has no pointers: another process may restore it
  YOKE_UNIT_SAMPLED =
      1u << 7,  // its step belongs to what it does: it counts calls, or draws a number in each
  YOKE_UNIT_AUTONOMOUS = 1u << 8,  // nothing in it depends on time but through its inputs
};

// How a unit advances its states during a call.
typedef enum yoke_solver_method {
  YOKE_SOLVER_UNKNOWN,
  YOKE_SOLVER_EXACT,  // exact for inputs that are held during the call
  YOKE_SOLVER_EULER,  // explicit
  YOKE_SOLVER_SEMI_IMPLICIT_EULER,
  YOKE_SOLVER_RK4,
  YOKE_SOLVER_TRAPEZOIDAL,
  YOKE_SOLVER_OTHER,
  YOKE_SOLVER_DOPRI5,  // from here on with steps that a tolerance chooses
  YOKE_SOLVER_CVODE,
  YOKE_N_SOLVERS,
} yoke_solver_method;

// The word of a method in messages and files: "euler", "rk4", ...; "unknown" for any other value.
YOKE_API const char* yoke_solver_text(yoke_solver_method method);

enum { YOKE_MAX_CHOICES = 8 };  // of a solver

// The unit's own solver, for whoever judges the stability of a coupling (docs/analyse.md). All zero: nothing is known,
// and the unit is taken as exact. Its internal step is `step`; where that is 0, the length of a call divided by the value
// of the variable `parts`.
typedef struct yoke_unit_solver {
  yoke_solver_method method;  // unknown with a step: explicit Euler is assumed
  double step;                // internal step [s]; 0: depends on the call, or none
  size_t parts;               // 1 + index of an integer variable: internal steps per call; 0: one
  size_t choice;  // 1 + index of an enumeration that chooses the method; 0: it is `method`
  yoke_solver_method methods[YOKE_MAX_CHOICES];  // what its items stand for, in their order
} yoke_unit_solver;

// What a unit says about itself. Belongs to the unit; constant from create to close.
typedef struct yoke_unit_info {
  const yoke_variable* variables;
  size_t n_variables;
  const yoke_feedthrough* feedthrough;  // pairs of indices into variables
  size_t n_feedthrough;
  uint32_t flags;    // YOKE_UNIT_*
  double cost_s;     // expected computing time of one step [s]; 0 if small or unknown
  size_t self_size;  // bytes of the flat struct; 0 if the unit has its own create
  size_t
      image_size;  // bytes that save writes; 0 with YOKE_UNIT_FLAT (then self_size) or without save
  yoke_unit_solver solver;
} yoke_unit_info;

// A setting that shapes the unit (`structure` of the table below). value: storage as for yoke_variable,
// but strings are `const char*` elements.
typedef struct yoke_argument {
  const char* name;
  yoke_type type;
  size_t n_rows, n_cols;
  const void* value;
} yoke_argument;

typedef struct yoke_unit_args {
  const char* name;       // the unit's name in the system
  const char* directory;  // folder of the system file: relative paths start here
  const yoke_argument* arguments;
  size_t n_arguments;
  const void* context;  // of the table of operations
} yoke_unit_args;

enum {
  YOKE_STEP_EVENT_NEEDED =
      1u << 0,  // outputs may have jumped; event_update is wanted before the next step
  YOKE_STEP_EARLY_RETURN = 1u << 1,  // stopped before t + h
  YOKE_STEP_DISCARDED = 1u << 2,     // the step was not done
  YOKE_STEP_END_WANTED = 1u << 3,    // the unit asks to end the run
};

typedef struct yoke_step_result {
  double t_reached;     // the caller presets t + h
  uint32_t flags;       // YOKE_STEP_*; the caller presets 0
  const char* message;  // why, on failure; static or owned by the unit; the caller presets NULL
} yoke_step_result;

// How good a value from outside is (ports; all others are always valid and of age 0).
typedef struct yoke_sample_info {
  double time_stamp;  // [s] simulation time at which the value was true
  double age;  // [s]; of a value that is not valid, 0: not known, it is held and not extrapolated
  uint64_t sequence;
  bool is_valid;
  bool
      is_held;  // by set_input_info alone: the signal stays like this until the next sample; else it is on its way there
  bool is_mean;  // by set_input_info alone: it is the mean of the signal since the sample before
} yoke_sample_info;

// The unit's linear model at its present point: x' = A x + B u, y = C x + D u, row by row.
// The unit fills the sizes and those matrices that are not NULL.
typedef struct yoke_linear {
  size_t n_states, n_inputs, n_outputs;
  double *A, *B, *C, *D;
} yoke_linear;

// A variable, and where its value lies: `at` bytes behind some base.
typedef struct yoke_value_place {
  size_t variable;
  size_t at, size;
} yoke_value_place;

// The values beside the real inputs and outputs that one step takes and gives (advance_values).
typedef struct yoke_step_values {
  const yoke_value_place* inputs;  // behind given the new values, behind known the old ones
  size_t n_inputs;
  const unsigned char* given;
  unsigned char* known;
  const yoke_value_place* outputs;  // behind to, as for get_values
  size_t n_outputs;
  unsigned char* to;
  size_t refused;  // the input that was refused; the caller presets (size_t)-1
  // Of values longer than 8 bytes (texts, arrays): none of the inputs has changed; none of the outputs has. The unit may say
  // false to the second without a look.
  bool are_inputs_same, are_outputs_same;
} yoke_step_values;

// Which end of a machine an instance plays.
typedef enum yoke_unit_end {
  YOKE_END_BOTH,     // the whole unit, in one process
  YOKE_END_BENCH,    // commands from its inputs, outputs from reports; there is no machine in it
  YOKE_END_MACHINE,  // the machine: goes by commands, its inputs are not used
} yoke_unit_end;

// What became of a datagram.
typedef enum yoke_taken {
  YOKE_TAKEN,          // it is new
  YOKE_TAKEN_OLD,      // a newer one was there already, or the same
  YOKE_TAKEN_REFUSED,  // damaged, none of this machine's, or there is no room for it
} yoke_taken;

// Frames of a machine's own, for ports with `protocol: frames` (docs/port.md). Two instances make one unit, one at each end:
//   bench:    {command, take_report*, step}*     step takes over what was reported
//   machine:  {take_command*, step, report*}*    step goes by the newest command
// Each datagram is handed over whole, as it came: nothing in it can be relied on. None of them may allocate or wait.
typedef struct yoke_unit_frames {
  // Before enter_init.
  void (*play)(void* self, yoke_unit_end end);
  // The command of the cycle from t to t + h: bytes written, 0 if there is none.
  size_t (*command)(void* self, double t, double h, uint8_t bytes[], size_t room);
  // The command that brings the machine to rest, when the run is over. NULL: there is none.
  size_t (*halt)(void* self, uint8_t bytes[], size_t room);
  yoke_taken (*take_report)(void* self, const uint8_t bytes[], size_t n);
  yoke_taken (*take_command)(void* self, const uint8_t bytes[], size_t n);
  // The next report that is due: bytes written, 0 if there is none left.
  size_t (*report)(void* self, uint8_t bytes[], size_t room);
} yoke_unit_frames;

typedef struct yoke_unit_ops {
  size_t table_size;       // bytes of this table: YOKE_UNIT_HEAD fills both
  uint32_t table_version;  // of the contract
  const char* name;        // as the system file writes it, e.g. "oscillator.force"
  const char* text;        // one line for people

  // Settings (causality YOKE_PARAMETER) that create needs before it can say which variables there are.
  const yoke_variable* structure;
  size_t n_structure;

  // What the unit is, if no argument changes it. Then describe may be NULL.
  const yoke_unit_info* info;

  // Makes an instance. NULL: the caller takes info->self_size zeroed bytes and writes the start values.
  yoke_status (*create)(const yoke_unit_args* args, void** self, const yoke_sink* sink);
  const yoke_unit_info* (*describe)(const void* self);

  // Any variable by its index. NULL: the caller copies to and from `offset`.
  yoke_status (*set)(void* self, size_t variable, const void* value, size_t size);
  yoke_status (*get)(const void* self, size_t variable, void* value, size_t size);

  // Several variables in one go, each to base + at. The list is the beginning of the same one in every call; how much of it
  // is read may change between two steps, and the first call with a new length may allocate. NULL: one by one.
  yoke_status (*get_values)(const void* self, const yoke_value_place places[], size_t n,
                            void* base);

  // Initialisation. All start values and parameters are set before; states may be derived in exit_init,
  // and outputs must be right for the inputs at hand after each refresh. NULL: nothing to do.
  // A failure sends its reason to the sink.
  yoke_status (*enter_init)(void* self, double t_start, double t_stop, const yoke_sink* sink);
  yoke_status (*exit_init)(void* self);

  // All real inputs / outputs as one dense vector, in the order of the variables. NULL: by offset.
  yoke_status (*set_inputs)(void* self, const double u[], size_t n_u);
  yoke_status (*get_outputs)(const void* self, double y[], size_t n_y);

  // d^order u / dt^order of all real inputs at the start of the next step (order 1, 2, ...).
  yoke_status (*set_input_derivatives)(void* self, int order, const double du[], size_t n_u);

  // Advances from t to t + h and leaves the outputs as they follow from the inputs it was given.
  yoke_status (*step)(void* self, double t, double h, yoke_step_result* result);

  // set_inputs, step and get_outputs in one call, for foreign code and for units to which each call is dear. NULL: the three
  // of them. The caller restores the floating-point mode if it was changed. On failure result->message says what failed.
  yoke_status (*advance)(void* self, double t, double h, const double u[], double y[],
                         yoke_step_result* result);

  // Outputs again at the same time t, with the inputs as they are now. Moves no state.
  yoke_status (*refresh)(void* self, double t);

  yoke_status (*event_update)(void* self, double t, yoke_step_result* result);
  yoke_status (*sample_info)(const void* self, size_t output, yoke_sample_info* info);

  // Complete state, inputs and outputs included, to and from info->image_size bytes, which are zero before the first save.
  // Never allocate.
  yoke_status (*save)(const void* self, void* image, size_t size);
  yoke_status (*restore)(void* self, const void* image, size_t size);
  // The same in a form that another process may read; size in: room, out: bytes needed (YOKE_FULL if that is more). May
  // allocate. NULL: the image, if it is YOKE_UNIT_PORTABLE.
  yoke_status (*serialise)(const void* self, void* bytes, size_t* size);
  yoke_status (*deserialise)(void* self, const void* bytes, size_t size);

  // out[i] = sum_j d(unknown i)/d(known j) * seed[j]; indices of real scalar variables.
  yoke_status (*derivative)(void* self, const size_t unknowns[], size_t n_unknowns,
                            const size_t knowns[], size_t n_knowns, const double seed[],
                            double out[]);
  yoke_status (*linearise)(void* self, yoke_linear* model);
  // The states of `linearise`, in its order: which variable (a real scalar) each one is, and x' at the present point. Either
  // list may be NULL. YOKE_BAD_ARG if n_states is not their number.
  yoke_status (*rates)(const void* self, size_t states[], double dx[], size_t n_states);

  // Why the last operation failed, beyond its status: one message to the sink, or none. A file with a line (of a netlist),
  // a variable and a hint are welcome.
  void (*reason)(const void* self, const yoke_sink* sink);

  // What a person should know of the run so far (messages of a foreign binary, a clock that drifts): oldest first, each
  // message once. Never called during a step.
  void (*report)(void* self, const yoke_sink* sink);

  void (*terminate)(void* self);
  void (*close)(void* self);  // NULL: the caller frees what it took in place of create

  const void* context;  // handed to create in its args: for tables that are made at run time

  // For units that step inside of a call: the integrals over each step of those real outputs that the caller wants, as indices
  // into the vector of get_outputs. choose_integrals: once, before enter_init; any output may be asked for. get_integrals:
  // after a step, over t to t + h and in the order chosen. Both NULL: the caller uses the outputs at the ends of the steps.
  yoke_status (*choose_integrals)(void* self, const size_t outputs[], size_t n);
  yoke_status (*get_integrals)(const void* self, double integrals[], size_t n);

  // How it talks to its machine; NULL: a port carries its variables as they are.
  const yoke_unit_frames* frames;

  // How good the values of the real inputs are, in the order of set_inputs, behind which it is called before a step. For units
  // that must tell a new reading from one that is held. A value from a source that says nothing about it (sample_info) is valid,
  // of age 0, and its sequence counts the exchanges that renewed it; times and ages are those of the last exchange. A master that
  // knows nothing of its inputs never calls it: then every value is new.
  yoke_status (*set_input_info)(void* self, const yoke_sample_info info[], size_t n_u);

  // Which real outputs are read from now on, by variable; NULL: all of them, as at the start. get_outputs and advance may leave
  // the numbers of the others as they are. Between two steps; may allocate. For units to which every value is dear. NULL:
  // all outputs are given.
  yoke_status (*choose_outputs)(void* self, const bool is_read[]);

  // As advance, with the other values: first those of the inputs that differ from what the unit has are set, and copied to
  // where these lie; the outputs are fetched last. NULL: set, advance and get_values.
  yoke_status (*advance_values)(void* self, double t, double h, const double u[], double y[],
                                yoke_step_values* values, yoke_step_result* result);
} yoke_unit_ops;
#define YOKE_UNIT_HEAD .table_size = sizeof(yoke_unit_ops), .table_version = YOKE_CONTRACT_VERSION

#ifdef __cplusplus
}
#endif
#endif
