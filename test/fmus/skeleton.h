// What all test FMUs share: a model is a flat struct of values, a table of variables and a few functions; skeleton2.c
// and skeleton3.c serve it through FMI 2.0 and FMI 3.0.
//
// The skeleton is strict on purpose: a call in the wrong mode, a value set at the wrong time, an unknown reference, a
// step that does not begin where the last one ended are errors with a log message, so that a mistake of an importer shows.
// Value reference 0 is the time in every model. Models know nothing of the version, but for fmu_version.
#ifndef YOKE_TEST_FMUS_SKELETON_H
#define YOKE_TEST_FMUS_SKELETON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Exported functions; weak, so that a model may bring its own in place of one.
#define FMU_EXPORT __attribute__((visibility("default"), weak))

// the numbers are those of fmi2Status and fmi3Status
enum { FMU_OK, FMU_WARNING, FMU_DISCARD, FMU_ERROR, FMU_FATAL, FMU_PENDING };

typedef enum fmu_kind {
  REAL,  // double: Real, Float64
  FLOAT32,
  INT8,
  UINT8,
  INT16,
  UINT16,
  INT32,  // Integer of FMI 2.0
  UINT32,
  INT64,
  UINT64,
  BOOLEAN,  // bool
  TEXT,     // fmu_text
  BINARY,   // fmu_binary
  ENUM,     // int64_t: Integer of FMI 2.0, Int64 of FMI 3.0
  CLOCK,    // bool
} fmu_kind;

typedef struct fmu_text {
  char at[128];
} fmu_text;

typedef struct fmu_binary {
  size_t size;
  uint8_t at[64];
} fmu_binary;

// When a variable may be set.
typedef enum fmu_access {
  READ,      // never
  START,     // before the end of initialisation: fixed parameters, start values of states
  TUNE,      // also at events or between steps: tunable parameters
  INPUT,     // continuous input: always
  DISCRETE,  // discrete input: not in continuous-time mode, nor between steps if there is event mode
  STRUCTURE,  // configuration mode only
} fmu_access;

typedef struct fmu_variable {
  uint32_t reference;  // above 0; tables are fastest if it is the index + 1
  fmu_kind kind;
  fmu_access access;
  size_t offset;  // into the values
  size_t n;       // elements; 0 is read as 1
} fmu_variable;

typedef enum fmu_mode {
  INSTANTIATED = 1 << 0,
  CONFIGURATION = 1 << 1,
  INITIALISATION = 1 << 2,
  EVENT = 1 << 3,
  CONTINUOUS = 1 << 4,
  STEP = 1 << 5,
  INTERMEDIATE = 1 << 6,
  TERMINATED = 1 << 7,
  ACTIVATION = 1 << 8,  // scheduled execution: between partitions, in one, and in its callback
  PARTITION = 1 << 9,
  CLOCK_UPDATE = 1 << 10,
} fmu_mode;

typedef struct fmu_event {
  bool is_end_wanted;
  bool are_states_changed;
  bool has_next;
  double t_next;
} fmu_event;

typedef struct fmu_step {
  bool is_event_needed, is_end_wanted, is_early;
  double t;  // reached; preset to the end of the step
} fmu_step;

// One instance.
typedef struct fmu {
  void* values;  // of the model; with the time they are the whole state
  double time;
  double shown_time;   // what reference 0 reads: the time with the error of the clock
  double clock_error;  // [s]; 0 for honest models
  fmu_mode mode;
  bool is_co_simulation, is_logging, has_event_mode, may_return_early;
  bool is_scheduled;
  bool is_fresh;  // outputs fit the values
  bool is_set;    // something was set since the last step
  double t_stop;  // infinite if not given
  int last_status;
  bool is_end_wanted;  // FMI 2.0: what fmi2Terminated says
  double last_time;    // FMI 2.0: what fmi2LastSuccessfulTime says
  int n_pending;       // FMI 2.0: so often fmi2DoStepStatus is still pending
  char name[64];
  char resources[1024];   // path with '/' at its end, or ""
  const void* callbacks;  // FMI 2.0
  void* environment;      // FMI 3.0, as the next two
  void (*log_message)(void);
  void (*intermediate_update)(void);
  void (*clock_update)(void);  // FMI 3.0, scheduled execution, as the next two
  void (*lock_preemption)(void);
  void (*unlock_preemption)(void);
} fmu;

// One per FMU; the version-independent part of it. Functions may be NULL.
typedef struct fmu_model {
  const char* token;  // guid, instantiationToken
  const fmu_variable* variables;
  size_t n_variables;
  size_t size;  // of the values
  bool is_only_once;
  void (*start)(fmu* m);       // start values into zeroed memory
  int (*instantiate)(fmu* m);  // after start; not FMU_OK: no instance
  int (*initialise)(fmu* m);   // end of initialisation mode
  void (*outputs)(fmu* m);     // outputs from states and inputs, before they are read
  int (*step)(fmu* m, double t, double h, fmu_step* result);
  int (*may_read)(fmu* m, bool is_set);  // is_set: since the last step
  void (*terminate)(fmu* m);
  void (*free)(fmu* m);
  size_t (*elements)(const fmu* m, const fmu_variable* variable);  // of arrays whose size changes
  // d(unknown)/d(known), by references
  double (*slope)(const fmu* m, uint32_t unknown, uint32_t known);
  // model exchange
  size_t n_states, n_indicators;
  double* (*states)(fmu* m);  // where they lie, one after another
  void (*derivatives)(fmu* m, double dx[]);
  void (*indicators)(fmu* m, double z[]);
  void (*event)(fmu* m, fmu_event* event);
  // FMI 2.0: derivatives of inputs and outputs; FMU_ERROR if there is none such
  int (*set_input_derivative)(fmu* m, uint32_t reference, int order, double value);
  int (*get_output_derivative)(fmu* m, uint32_t reference, int order, double* value);
  // FMI 3.0: a clock was set
  void (*clock)(fmu* m, uint32_t reference, bool is_active);
  // FMI 3.0: intervals that the model knows: counter / 1000 s; returns the qualifier
  int (*interval)(fmu* m, uint32_t reference, uint64_t* counter);
  int (*set_interval)(fmu* m, uint32_t reference, double seconds);
  // scheduled execution: one partition
  int (*activate)(fmu* m, uint32_t reference, double t);
} fmu_model;

extern const fmu_model fmu_this_model;
extern const int fmu_version;  // 2 or 3

// --- skeleton.c
fmu* fmu_create(const char* name, void* (*allocate)(size_t, size_t));
void fmu_reset(fmu* m);
void fmu_destroy(fmu* m, void (*release)(void*));
// False, with a log message, if the instance is in none of the modes.
bool fmu_is_in(fmu* m, unsigned modes, const char* function);
// The variable; NULL, with a log message, if there is none of that kind or, with is_set, if it must not be set now.
const fmu_variable* fmu_find(fmu* m, uint32_t reference, fmu_kind kind, bool is_set);
void* fmu_at(fmu* m, const fmu_variable* variable);
size_t fmu_elements(const fmu* m, const fmu_variable* variable);
int fmu_refresh(fmu* m);  // outputs; not FMU_OK: they must not be read
// state = time, mode, values
size_t fmu_state_size(void);
void fmu_save(const fmu* m, void* state);
void fmu_restore(fmu* m, const void* state);
int fmu_end_initialisation(fmu* m);
// Checks the time and the step, calls the model, keeps status, time and end.
int fmu_do_step(fmu* m, double t, double h, fmu_step* result);
int fmu_directional(fmu* m, const uint32_t unknowns[], size_t n_unknowns, const uint32_t knowns[],
                    size_t n_knowns, const double seed[], double out[]);
// One step of the classical Runge-Kutta method of order 4 with the model's derivatives, at most 8 states.
void fmu_runge_kutta(fmu* m, double t, double h);

// --- skeleton2.c, skeleton3.c
void fmu_log(fmu* m, int status, const char* category, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
// Messages as some vendors write them: no category, and per cent signs where they do not belong.
void fmu_log_oddly(fmu* m);
// Scheduled execution, out of a partition: the importer may ask for clocks and intervals now.
void fmu_tell_clocks(fmu* m);
// FMI 3.0: tells the importer about a point inside a step; true: it wants the step to end there. FMI 2.0: false.
bool fmu_tell_intermediate(fmu* m, double t);

#endif
