// The inside of an exported FMU: one instance of a unit with the life cycle of FMI, for both versions of the standard.
//
//   runtime_config.c    resources/yoke.txt -> model, arguments, settings
//   runtime_instance.c  life cycle: instantiated -> initialising -> stepping -> terminated, or failed
//   runtime_access.c    variables by value reference
//   runtime_state.c     saved states as blocks and as bytes
//   runtime_derivative.c  directional derivatives, derivatives of states
//   runtime_fmi2.c, runtime_fmi3.c   the functions of the standards; they translate and do nothing else
//   runtime_files.c     reading a file with the C library alone
//   runtime_twin.c      settings of a twin
//   runtime_library.c   the shared library of a user's own unit
//   runtime_host.c      no processes
//
// Value references count elements: variable 0 has 0, ..., n_0 - 1, variable 1 has n_0, ... In FMI 2.0 each element is a
// variable of its own; in FMI 3.0 an array has the reference of its first element. The one behind the last element is
// the time (FMI 3.0 only), those behind it are the derivatives of the states (export_states.h).
//
// Nothing is global: instances do not know each other. Needs libc and libm.
#ifndef YOKE_EXPORT_RUNTIME_H
#define YOKE_EXPORT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_arena.h"
#include "export/export_circuit.h"
#include "export/export_states.h"
#include "unit/unit.h"
#include "yoke/status.h"
#include "yoke/unit.h"

// The status values that both versions of FMI share, by number.
typedef enum yoke_runtime_status {
  YOKE_RUNTIME_OK,
  YOKE_RUNTIME_WARNING,
  YOKE_RUNTIME_DISCARD,
  YOKE_RUNTIME_ERROR,
  YOKE_RUNTIME_FATAL,
} yoke_runtime_status;

// Where in its life an instance stands; bits, so that functions can name several.
typedef enum yoke_runtime_phase {
  YOKE_RUNTIME_INSTANTIATED = 1 << 0,
  YOKE_RUNTIME_INITIALISING = 1 << 1,
  YOKE_RUNTIME_STEPPING = 1 << 2,
  YOKE_RUNTIME_TERMINATED = 1 << 3,
  YOKE_RUNTIME_FAILED = 1 << 4,  // a call returned an error: read, reset, set a state, or free
} yoke_runtime_phase;

// What yoke.txt says.
typedef struct yoke_runtime_setting {
  const char* name;
  char* const* values;  // as they stand in the file
  size_t n;
} yoke_runtime_setting;

typedef struct yoke_runtime_config {
  const yoke_unit_ops* ops;
  yoke_export_circuit* circuit;  // where the ops come from, of a netlist; else NULL
  void* library;                 // the same of a shared library in the resources
  const char* token;
  bool has_event_mode;  // offered, by FMI 3.0
  const yoke_argument* arguments;
  size_t n_arguments;
  const yoke_runtime_setting* settings;
  size_t n_settings;
} yoke_runtime_config;

// One element of a variable; from n_variables on the derivative of a state.
typedef struct yoke_runtime_slot {
  uint32_t variable, element;
} yoke_runtime_slot;

// What the importer gave to be called back with; each version of FMI uses what it needs.
typedef struct yoke_runtime_host {
  void* environment;
  const void* callbacks;   // FMI 2.0: a structure
  void (*function)(void);  // FMI 3.0: a function
} yoke_runtime_host;

typedef struct yoke_runtime yoke_runtime;

// Hands a message to the importer; text is one line.
typedef void (*yoke_runtime_logger)(const yoke_runtime* rt, yoke_runtime_status status,
                                    const char* category, const char* text);

enum {
  YOKE_RUNTIME_LOG_WARNING = 1u << YOKE_RUNTIME_WARNING,
  YOKE_RUNTIME_LOG_DISCARD = 1u << YOKE_RUNTIME_DISCARD,
  YOKE_RUNTIME_LOG_ERROR = 1u << YOKE_RUNTIME_ERROR,
  YOKE_RUNTIME_LOG_FATAL = 1u << YOKE_RUNTIME_FATAL,
  YOKE_RUNTIME_LOG_ALL = YOKE_RUNTIME_LOG_WARNING | YOKE_RUNTIME_LOG_DISCARD |
                         YOKE_RUNTIME_LOG_ERROR | YOKE_RUNTIME_LOG_FATAL,
};

struct yoke_runtime {
  yoke_arena arena;  // configuration; lives as long as the instance
  yoke_runtime_config config;
  const char* name;
  const char* directory;  // resources

  yoke_arena unit_arena;  // tables of the unit
  yoke_unit unit;
  yoke_runtime_slot* slots;
  size_t n_slots;
  size_t* indices;  // room for three lists of n_slots + states.n
  char* value;      // room for the largest value, for variables without an offset
  char* room;       // the same for one that is being put together

  // derivatives of the states as variables, and what directional derivatives are made of
  yoke_export_states states;
  yoke_variable* rates;  // states.n
  double* rate_values;   // states.n
  double *A, *B;         // of the linear model
  double* slopes;        // n_slots + states.n: derivatives of outputs
  size_t* columns;       // per variable: column of [A B] for states and real inputs; else -1

  yoke_runtime_phase phase;
  bool is_experiment_set;  // FMI 2.0
  bool is_dirty;           // something was set since the outputs were computed
  bool uses_events;        // FMI 3.0: the importer asked for event mode
  bool
      is_in_event_mode;  // while stepping: outputs may be read after inputs were set, but no step is done
  double t_start, t_stop;
  double time;

  // The unit as it was before its initialisation: a start value that is set during initialisation goes back to it, and the
  // unit is initialised anew before anything is read. Inputs survive that.
  char* start_image;
  size_t image_size;
  char* inputs;     // values of all inputs, one after another
  bool is_started;  // initialising: the unit's own initialisation was done with what is set

  // the last step
  double t_reached;
  bool is_end_wanted;
  double first_step;  // of a unit that wants all steps alike; 0: none yet

  // messages
  yoke_runtime_logger logger;
  yoke_runtime_host host;
  uint32_t log_mask;
};

// ---- life cycle
// An instance with its unit made and set. NULL after a message. logger may be NULL. directory: of the resources.
yoke_runtime* yoke__runtime_create(const char* name, const char* token, const char* directory,
                                   yoke_runtime_logger logger, const yoke_runtime_host* host,
                                   bool is_logging);
void yoke__runtime_free(yoke_runtime* rt);
yoke_runtime_status yoke__runtime_setup(yoke_runtime* rt, double t_start, bool has_stop,
                                        double t_stop);
yoke_runtime_status yoke__runtime_enter_init(yoke_runtime* rt);
yoke_runtime_status yoke__runtime_exit_init(yoke_runtime* rt);
yoke_runtime_status yoke__runtime_step(yoke_runtime* rt, double t, double h);
yoke_runtime_status yoke__runtime_terminate(yoke_runtime* rt);
yoke_runtime_status yoke__runtime_reset(yoke_runtime* rt);

// False after a message if the instance is NULL (then there is nobody to tell) or in none of these phases.
bool yoke__runtime_expect(const yoke_runtime* rt, unsigned phases, const char* function);
// Says why and returns the status.
yoke_runtime_status yoke__runtime_say(const yoke_runtime* rt, yoke_runtime_status status,
                                      const char* format, ...) YOKE_PRINTF(3, 4);
// names: n categories; none with is_on: all.
yoke_runtime_status yoke__runtime_log_choose(yoke_runtime* rt, bool is_on, size_t n,
                                             const char* const names[]);

// ---- variables
// Makes sure that reading is allowed and that outputs belong to the inputs at hand; an error after a message.
yoke_runtime_status yoke__runtime_begin_get(yoke_runtime* rt, const char* function);
// Back to before the unit's own initialisation, for a start value that is set while initialising.
yoke_runtime_status yoke__runtime_rewind(yoke_runtime* rt);

// How a variable shows itself in FMI.
typedef enum yoke_runtime_kind {
  YOKE_RUNTIME_REAL,
  YOKE_RUNTIME_WHOLE,  // integer or enumeration
  YOKE_RUNTIME_BOOLEAN,
  YOKE_RUNTIME_STRING,
  YOKE_RUNTIME_BINARY,
} yoke_runtime_kind;

static inline const yoke_variable* yoke__runtime_variable(const yoke_runtime* rt,
                                                          const yoke_runtime_slot* slot) {
  const size_t n = rt->unit.info->n_variables;
  return slot->variable < n ? &rt->unit.info->variables[slot->variable]
                            : &rt->rates[slot->variable - n];
}

// What a function of the standard reads or writes. FMI 2.0: one element per reference, whole numbers and booleans as int.
// FMI 3.0: arrays, whole numbers as int64_t, booleans as bool, and the time behind the last element.
typedef struct yoke_runtime_access {
  const char* function;
  yoke_runtime_kind kind;
  bool is_array;
} yoke_runtime_access;

// The element behind a reference, of this kind. NULL after a message.
const yoke_runtime_slot* yoke__runtime_find(const yoke_runtime* rt, uint32_t reference,
                                            const yoke_runtime_access* how);
// n_values: room of values, which all elements fill; sizes: of bytes, else NULL. Enumerations count from 0. An error after a
// message.
yoke_runtime_status yoke__runtime_get(yoke_runtime* rt, const yoke_runtime_access* how,
                                      const uint32_t references[], size_t n, void* values,
                                      size_t* sizes, size_t n_values);
// Checks that each may be set now, and that texts and bytes fit.
yoke_runtime_status yoke__runtime_set(yoke_runtime* rt, const yoke_runtime_access* how,
                                      const uint32_t references[], size_t n, const void* values,
                                      const size_t* sizes, size_t n_values);

// ---- configuration
// Reads yoke.txt of the folder. config->circuit and config->library are the caller's to close.
yoke_status yoke__runtime_config_read(const char* directory, yoke_arena* arena,
                                      yoke_runtime_config* config, const yoke_sink* sink);
// The same with the n bytes of the file; the folder is that of a netlist.
yoke_status yoke__runtime_config_parse(const char* bytes, size_t n, const char* directory,
                                       yoke_arena* arena, yoke_runtime_config* config,
                                       const yoke_sink* sink);
// The settings into a fresh unit.
yoke_status yoke__runtime_config_apply(const yoke_runtime_config* config, const yoke_unit* unit,
                                       yoke_arena* arena, const yoke_sink* sink);

// ---- a twin
// A line of it with two words at least. YOKE_BAD_INPUT, YOKE_NO_MEMORY. The first one is `twin`; words live as long as the unit.
// n_lines: of the whole file.
typedef struct yoke_runtime_twin yoke_runtime_twin;
yoke_status yoke__runtime_twin_line(char* const words[], size_t n, size_t n_lines,
                                    yoke_arena* arena, yoke_runtime_twin** twin);
const struct yoke_twin_settings* yoke__runtime_twin_settings(const yoke_runtime_twin* twin);

// ---- the unit of a shared library
// The library and its unit of this name into config; the tables live in arena. The file is in the folder.
yoke_status yoke__runtime_library_open(const char* directory, const char* file, const char* model,
                                       yoke_arena* arena, yoke_runtime_config* config,
                                       const yoke_sink* sink);
void yoke__runtime_library_close(yoke_runtime_config* config);

// ---- saved states
// *state NULL: a new one.
yoke_runtime_status yoke__runtime_state_get(yoke_runtime* rt, void** state);
yoke_runtime_status yoke__runtime_state_set(yoke_runtime* rt, const void* state);
yoke_runtime_status yoke__runtime_state_free(yoke_runtime* rt, void** state);
yoke_runtime_status yoke__runtime_state_size(const yoke_runtime* rt, const void* state,
                                             size_t* size);
yoke_runtime_status yoke__runtime_state_write(const yoke_runtime* rt, const void* state,
                                              void* bytes, size_t size);
yoke_runtime_status yoke__runtime_state_read(yoke_runtime* rt, const void* bytes, size_t size,
                                             void** state);

// ---- derivatives
// Tables of a unit that was just made.
yoke_status yoke__runtime_derivative_open(yoke_runtime* rt);
// The derivative of a state now; NULL after a message.
const double* yoke__runtime_rate(yoke_runtime* rt, size_t state);
// Of outputs and of the derivatives of states, by inputs and states. One number per reference.
yoke_runtime_status yoke__runtime_derivative(yoke_runtime* rt, const uint32_t unknowns[],
                                             size_t n_unknowns, const uint32_t knowns[],
                                             size_t n_knowns, const double seed[], double out[]);

#endif
