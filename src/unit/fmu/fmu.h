// The inside of an FMU unit, shared by the files of this folder.
//
//   unit_fmu.c      opens the file, fills the table of operations, creates and closes instances, state images
//   fmu_layout.c    description -> variables as the rest of the library sees them
//   fmu_batch.c     variables beside the real inputs and outputs, fetched together by type
//   fmu_choose.c    those of the real outputs that somebody reads
//   fmu_log.c       messages of the binary, kept until somebody asks
//   fmu_guard.c     the floating-point mode is the caller's
//   fmu_version2.c  calls of FMI 2.0             fmu_version3.c  calls of FMI 3.0
//   fmu_version1.c  FMI 1.0 in the words of 2.0
//   fmu_cs2.c       co-simulation, FMI 2.0       fmu_cs3.c       co-simulation, FMI 3.0 with events
//   fmu_trial.c     co-simulation: outputs with new inputs by a step that is taken back
//   fmu_me.c        model exchange: a solver around either version
//   fmu_se.c        scheduled execution, FMI 3.0: model partitions at the ticks of their clocks
//   fmu_linear.c    the linear model, of co-simulation and model exchange
#ifndef YOKE_UNIT_FMU_FMU_H
#define YOKE_UNIT_FMU_FMU_H

#include "base/base_arena.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "fmi/fmi2.h"
#include "fmi/fmi3.h"
#include "fmi/fmi_binary.h"
#include "fmi/fmi_description.h"
#include "fmi/fmi_package.h"
#include "unit/unit_file.h"
#include "yoke/unit.h"

#define FMU_TEXT_SIZE      256   // bytes of a string variable, NUL included
#define FMU_PARAMETER_SIZE 4096  // of a string parameter
#define FMU_BINARY_SIZE    4096  // of a binary variable that does not say how long it gets

// A file with the settings of one unit.
typedef struct fmu_file {
  yoke_unit_file base;
  yoke_arena arena;
  yoke_unit_file_settings settings;
  yoke_fmi_package* package;  // the store's
  const yoke_fmi_description* description;
  const yoke_fmi_interface* interface_type;
  bool is_model_exchange, is_scheduled;  // neither: co-simulation
  yoke_unit_ops ops;                     // this unit's table
  yoke_unit_ops bare;                    // the same without a look at the floating-point mode
  yoke_unit_ops plain;                   // the same without trial steps, if has_trial
  bool has_trial;                        // outputs are read again by trial steps
  yoke_unit_ops isolated;                // the same through another process, if that is wanted
  yoke_variable* structure;              // structural parameters
  size_t n_structure;
} fmu_file;

// Single numbers of the types that nearly all FMUs have go the shortest way to and from the binary.
typedef enum fmu_way {
  FMU_ANY_WAY,
  FMU_INTEGER2,
  FMU_BOOLEAN2,
  FMU_INT32,
  FMU_BOOLEAN3,
  FMU_TEXTS,
} fmu_way;

// The FMI side of a yoke variable (same index as in info.variables).
typedef struct fmu_slot {
  uint32_t variable;  // index in the description
  uint32_t n;         // elements
  uint32_t reference;
  uint8_t type;           // yoke_fmi_type
  uint8_t way;            // fmu_way
  const int64_t* values;  // enumeration: values of the items, in the order of yoke_variable.items
  size_t n_values;
} fmu_slot;

// Real inputs or outputs as the dense vector sees them.
typedef struct fmu_dense {
  const uint32_t* refs;    // Float64: one per variable
  size_t n_refs, n;        // variables, numbers
  const size_t* index;     // per number its place in the dense vector; NULL: 0, 1, 2, ...
  double* numbers;         // n, if there is an index
  const uint32_t* refs32;  // Float32, the same
  size_t n_refs32, n32;
  const size_t* index32;
  float* numbers32;
} fmu_dense;

typedef struct fmu_layout {
  yoke_unit_info info;
  const fmu_slot* slots;  // info.n_variables
  fmu_dense inputs, outputs;
  size_t clock;  // index of the independent variable, or YOKE_FMI_NONE
  size_t n_u, n_y;
  bool is_feedthrough_cut;  // more pairs than anybody can keep
} fmu_layout;

enum { FMU_LOG_SIZE = 32768 };

// Messages of the binary, oldest first: severity, text, NUL; severity, text, NUL; ... Full: further ones are counted.
typedef struct fmu_log {
  size_t used, n_dropped;
  bool is_verbose;
  char last[512];  // the newest warning or error, for failures
  char text[FMU_LOG_SIZE];
} fmu_log;

typedef enum fmu_phase {
  FMU_INSTANTIATED,
  FMU_INITIALISING,
  FMU_RUNNING,
  FMU_FAILED,  // returned error: only free is allowed
  FMU_DEAD,    // returned fatal: nothing is allowed
  FMU_TERMINATED,
} fmu_phase;

// What an event update of model exchange or event mode brings.
typedef struct fmu_event {
  bool is_again_needed;  // another update at the same time
  bool is_end_wanted;
  bool are_nominals_changed, are_states_changed;
  bool has_next;  // a time event is known
  double t_next;
} fmu_event;

typedef struct fmu fmu;

// The calls that differ between the versions. Every one returns YOKE_OK or a failure with fmu->message set (through
// yoke__fmu_check). storage: as in yoke/unit.h.
typedef struct fmu_version {
  yoke_status (*instantiate)(fmu* f);  // after bind
  void (*free_instance)(fmu* f);
  yoke_status (*set)(fmu* f, const fmu_slot* slot, const yoke_variable* v, const void* storage);
  yoke_status (*get)(fmu* f, const fmu_slot* slot, const yoke_variable* v, void* storage);
  // n_refs variables of one type into raw, as the binary has them; NULL: one by one
  yoke_status (*get_raw)(fmu* f, yoke_fmi_type type, const uint32_t refs[], size_t n_refs,
                         void* raw, size_t n);
  yoke_status (*set_reals)(fmu* f, const fmu_dense* dense, const double numbers[]);
  yoke_status (*get_reals)(fmu* f, const fmu_dense* dense, double numbers[]);
  yoke_status (*enter_init)(fmu* f, double t_start, double t_stop);
  yoke_status (*exit_init)(fmu* f);
  yoke_status (*terminate)(fmu* f);
  yoke_status (*get_state)(fmu* f, void** state);  // *state NULL: a new one
  yoke_status (*set_state)(fmu* f, void* state);
  void (*free_state)(fmu* f, void** state);
  yoke_status (*state_size)(fmu* f, void* state, size_t* size);
  yoke_status (*write_state)(fmu* f, void* state, void* bytes, size_t size);
  yoke_status (*read_state)(fmu* f, const void* bytes, size_t size, void** state);
  yoke_status (*directional)(fmu* f, const uint32_t unknowns[], size_t n_unknowns,
                             const uint32_t knowns[], size_t n_knowns, const double seed[],
                             double out[]);
  // model exchange
  yoke_status (*enter_event_mode)(fmu* f);
  yoke_status (*update_discrete_states)(fmu* f, fmu_event* event);
  yoke_status (*enter_continuous_mode)(fmu* f);
  yoke_status (*completed_step)(fmu* f, bool* is_event_needed, bool* is_end_wanted);
  yoke_status (*set_time)(fmu* f, double t);
  yoke_status (*set_states)(fmu* f, const double x[], size_t n);
  yoke_status (*get_states)(fmu* f, double x[], size_t n);
  yoke_status (*get_nominals)(fmu* f, double x[], size_t n);
  yoke_status (*get_derivatives)(fmu* f, double dx[], size_t n);
  yoke_status (*get_indicators)(fmu* f, double z[], size_t n);
} fmu_version;

extern const fmu_version yoke__fmu_version1, yoke__fmu_version2, yoke__fmu_version3;

// What the linear model is made of (fmu_linear.c); n_y is that of the layout.
typedef struct fmu_linear {
  size_t n_x;
  uint32_t* states;              // n_x
  uint32_t* unknowns;            // n_x derivatives of the states, n_y outputs
  double* column;                // n_x + n_y: of [A; C] or [B; D]
  unsigned char* is_continuous;  // n_u
  bool is_refused;               // the FMU answered with an error: it is not asked again
} fmu_linear;

enum { FMU_NEAR_REFS = 4 };

// What a step of FMI 2.0 touches, in as few cache lines as it takes.
typedef struct fmu_near {
  fmi2SetRealTYPE* set_real;
  fmi2DoStepTYPE* do_step;
  fmi2GetRealTYPE* get_real;
  const uint32_t *inputs, *outputs;  // in `refs` if they fit
  size_t n_inputs, n_outputs;
  double* to;  // where outputs go first if they are a part of all; else NULL
  uint32_t refs[2 * FMU_NEAR_REFS];
} fmu_near;

// One instance: `self` of the unit.
struct fmu {
  // what every step touches
  void* instance;    // fmi2Component, fmi3Instance
  double t_end;      // where the last step was asked to end
  int no_set_prior;  // noSetFMUStatePriorToCurrentPoint: nobody rolls back
  bool is_set_late;  // inputs may have to wait for an event
  fmu_phase phase;
  fmu_near near;
  const yoke_fmi2* f2;  // of the binary, according to the version
  const yoke_fmi3* f3;
  fmu_layout layout;
  // the rest
  const fmu_version* version;
  const yoke_unit_args* args;  // during create only: structural parameters are in there
  const fmu_file* file;
  const yoke_fmi_description* description;
  yoke_fmi_binary* binary;
  const char* name;
  yoke_arena arena;
  double t_start, t_stop;
  char message[512];  // why the last call failed
  fmu_log log;
  int64_t n_cut;  // texts longer than their room
  double drift;   // largest |own time - ours| seen [s]
  double drift_at;
  bool is_drift_told;
  bool is_derivative_refused;  // the FMU answered with an error: it is not asked again
  struct fmu_saved* saved;     // states handed out through images, newest first
  // our side of a state, in one block without pointers: of the solver, or of event mode
  unsigned char* kept;
  size_t kept_size;  // 0: there is none
  fmi2CallbackFunctions callbacks2;
  char resources[4200];        // path or URI
  struct fmu_events* events;   // FMI 3.0: room for values, event mode, clocks
  struct fmu_solver* solver;   // fmu_me.c
  struct fmu_given* given;     // start values of real inputs that somebody gave
  const fmu_dense* outputs;    // real outputs that somebody reads; at the start those of the layout
  struct fmu_choice* choices;  // fmu_choose.c
  struct fmu_batches* batches;  // fmu_batch.c
  struct fmu_trial* trial;      // fmu_trial.c; NULL: there are no trial steps
  fmu_linear* linear;           // fmu_linear.c; NULL: there is no linear model
};

// --- fmu_layout.c: variables of the description with the sizes that `args` gives to the structural parameters.
// Everything lies in arena.
yoke_status yoke__fmu_lay_out(const yoke_fmi_description* d, const yoke_unit_args* args,
                              yoke_arena* arena, fmu_layout* out, const yoke_sink* sink);
// The structural parameters as `structure` of a table of operations.
yoke_status yoke__fmu_structure(const yoke_fmi_description* d, yoke_arena* arena,
                                yoke_variable** structure, size_t* n);
// Real variables of one causality as the dense vector sees them, all (is_wanted NULL) or those of the layout's variables that
// are wanted. n_all: numbers of the whole vector. Without an index only where it is all of them and 0, 1, 2, ...
yoke_status yoke__fmu_lay_dense(const fmu_layout* layout, yoke_causality causality,
                                const bool is_wanted[], yoke_arena* arena, fmu_dense* out,
                                size_t* n_all);
// What is given under this name; NULL: nothing. args may be NULL.
const yoke_argument* yoke__fmu_find_argument(const yoke_unit_args* args, const char* name);
// The method with this word of n characters; YOKE_SOLVER_OTHER if there is none.
yoke_solver_method yoke__fmu_solver_method(const char* word, size_t n);
// The item of an enumeration with this value; a value that is none of them is shown as the first.
int64_t yoke__fmu_find_item(const fmu_slot* slot, int64_t value);
// A real variable that may change at any time, not at events only.
bool yoke__fmu_is_continuous(const fmu* f, size_t variable);
// Bytes of a text of n bytes that fit.
size_t yoke__fmu_fitting(const fmu* f, const char* text, size_t n, size_t room);
// Numbers of a dense vector in the order in which the binary gets them, and back (only if there is an index).
void yoke__fmu_gather(const fmu_dense* dense, const double numbers[]);
void yoke__fmu_scatter(const fmu_dense* dense, double numbers[]);

// --- fmu_batch.c
yoke_status yoke__fmu_get_values(const void* self, const yoke_value_place places[], size_t n,
                                 void* base);
yoke_status yoke__fmu_advance_values(void* self, double t, double h, const double u[], double y[],
                                     yoke_step_values* values, yoke_step_result* result);

// --- fmu_choose.c
yoke_status yoke__fmu_choose_outputs(void* self, const bool is_read[]);

// --- fmu_linear.c
// Does the description of a co-simulation FMU list states with their derivatives, all of it continuous scalars?
bool yoke__fmu_has_linear(const yoke_fmi_description* d);
// Room and references for n_x states; f->linear stays NULL where arrays are in the way.
yoke_status yoke__fmu_linear_open(fmu* f, size_t n_x);
// The operation. YOKE_NO_SUPPORT outside of the running phase and once the FMU has answered with an error. A failure does not
// end the run: the FMU can still be stepped, unless it called itself dead.
yoke_status yoke__fmu_linearise(void* self, yoke_linear* model);

// --- fmu_log.c
// Notes are kept only if the log is verbose.
void yoke__fmu_log_add(fmu_log* log, yoke_severity severity, const char* category,
                       const char* text);
void yoke__fmu_log_report(fmu_log* log, const yoke_sink* sink);
// Those of the standard's categories for warnings and errors that the FMU lists; how many.
enum { FMU_N_STATUS_CATEGORIES = 4 };
size_t yoke__fmu_log_categories(const yoke_fmi_description* d,
                                const char* names[FMU_N_STATUS_CATEGORIES]);

// --- unit_fmu.c
// The outcome of a call: code 0 ok, 1 warning, 2 discard, 3 error, 4 fatal (5 pending: FMI 2.0). Sets message and phase
// on failure; `call` is the function's name.
yoke_status yoke__fmu_judge(fmu* f, int code, const char* call);
static inline yoke_status yoke__fmu_check(fmu* f, int code, const char* call) {
  return code == 0 ? YOKE_OK : yoke__fmu_judge(f, code, call);
}
// The outcome of a function of the binary that is called with these arguments.
#define FMU_CALL2(f, function, ...)                                                                \
  yoke__fmu_check((f), (int)(f)->f2->function(__VA_ARGS__), "fmi2" #function)
#define FMU_CALL3(f, function, ...)                                                                \
  yoke__fmu_check((f), (int)(f)->f3->function(__VA_ARGS__), "fmi3" #function)
// The instance behind the contract's `const void* self`: const means "moves no state", the binary may still fail.
static inline fmu* yoke__fmu_of(const void* self) {
  const union {
    const void* constant;
    fmu* own;
  } to = {self};
  return to.own;
}
// Nothing may be called any more after "fatal", which a call in between two steps (linearise) may have returned.
static inline bool yoke__fmu_is_dead(const fmu* f, yoke_step_result* result) {
  if (f->phase == FMU_DEAD && result != NULL) {
    result->message = f->message;
  }
  return f->phase == FMU_DEAD;
}
// Restores the floating-point mode if the binary changed it: before = yoke__os_float_mode() ahead of the call.
static inline void yoke__fmu_guard(uint64_t before) {
  yoke__os_float_mode_keep(before);
}

// Wraps the operations of the table, when it is complete, so that none leaves another floating-point mode behind.
void yoke__fmu_guard_ops(fmu_file* file);

// Fill the operations that differ (set_inputs, get_outputs, step, event_update, refresh, set_input_derivatives,
// exit_init, enter_init where needed); the common ones are there already.
void yoke__fmu_fill_cs1(const fmu_file* file, yoke_unit_ops* ops);
void yoke__fmu_fill_cs2(const fmu_file* file, yoke_unit_ops* ops);
void yoke__fmu_fill_cs3(const fmu_file* file, yoke_unit_ops* ops);
void yoke__fmu_fill_me(const fmu_file* file, yoke_unit_ops* ops);
// Called at the end of create and at close, if the unit needs more of its own.
void yoke__fmu_open_cs2(fmu* f);
// f->outputs are others now.
void yoke__fmu_near_outputs2(fmu* f);
void yoke__fmu_near_outputs3(fmu* f);
yoke_status yoke__fmu_open_cs3(fmu* f, const yoke_sink* sink);
void yoke__fmu_close_cs3(fmu* f);
void yoke__fmu_fill_se(yoke_unit_ops* ops);
yoke_status yoke__fmu_open_se(fmu* f, const yoke_sink* sink);
yoke_status yoke__fmu_open_me(fmu* f, const yoke_sink* sink);
void yoke__fmu_close_me(fmu* f);

// Model exchange: internal steps in a call of h seconds, as wished, or as the experiment says if that fits, or ten.
double yoke__fmu_me_ratio(const fmu_file* file, double h);

// What a step that did not return ok means (FMI 1.0 and 2.0).
yoke_status yoke__fmu_judge_cs2(fmu* f, double t, fmi2Status status, yoke_step_result* result);

// A start value of a real input: FMI 2.0 lets nobody ask for it during initialisation, so it is remembered.
yoke_status yoke__fmu_remember(fmu* f, size_t variable, const void* value);

// Saved states, of the binary together with our side (`kept`); has_bytes: also as bytes.
void yoke__fmu_fill_states(bool has_bytes, yoke_unit_ops* ops);
void yoke__fmu_free_saved(fmu* f);

// --- fmu_trial.c: `refresh` by trial steps. Wraps the operations of the table, where they are wanted and possible.
void yoke__fmu_fill_trial(fmu_file* file);
yoke_status yoke__fmu_open_trial(fmu* f);
void yoke__fmu_close_trial(fmu* f);
// The end of the run that the binary is told: the last trial goes beyond ours.
double yoke__fmu_trial_begin(fmu* f, double t_start, double t_stop);
// How far the binary is ahead [s], and whether it must not be asked for its clock now.
double yoke__fmu_trial_ahead(const fmu* f);
bool yoke__fmu_trial_hides_clock(const fmu* f);

// Common operations that others wrap.
yoke_status yoke__fmu_enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink);
yoke_status yoke__fmu_exit_init(void* self);

#endif
