// FMUs as units: what co-simulation and model exchange, FMI 2.0 and 3.0 have in common.
#include "unit/fmu/unit_fmu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_call.h"
#include "base/base_message.h"
#include "unit/fmu/fmu_solver.h"
#include "unit/host/unit_host.h"
#include "unit/unit.h"

// A state that the binary keeps, with our side of it.
typedef struct fmu_saved {
  struct fmu_saved* next;
  void* state;
  _Alignas(16) unsigned char kept[];
} fmu_saved;

// What `save` writes: a state, which belongs to the instance and is used again by the next save.
typedef struct fmu_image {
  const fmu* owner;
  fmu_saved* saved;
} fmu_image;

// ---------------------------------------------------------------------------------------------------------
// outcomes of calls

yoke_status yoke__fmu_judge(fmu* f, int code, const char* call) {
  static const char* const words[] = {"ok", "warning", "discard", "error", "fatal", "pending"};
  if (code == 0 || code == 1) {
    return YOKE_OK;
  }
  const bool is_known = code >= 0 && code < (int)(sizeof words / sizeof words[0]);
  char other[32];
  snprintf(other, sizeof other, "the unknown status %d", code);
  const char* why = f->log.last;
  // units of FMI 1.0 are called through the table of FMI 2.0 (fmu_version1.c); theirs is fmiDoStep
  const bool is_renamed = f->description->version == 1 && strncmp(call, "fmi2", 4) == 0;
  snprintf(f->message, sizeof f->message, "%s%s returned %s%s%.380s", is_renamed ? "fmi" : "",
           is_renamed ? call + 4 : call, is_known ? words[code] : other, why[0] == '\0' ? "" : ": ",
           why);
  if (code == 4) {
    f->phase = FMU_DEAD;
  } else if (code != 2) {
    f->phase = FMU_FAILED;
  }
  return YOKE_UNIT_FAILED;
}

// ---------------------------------------------------------------------------------------------------------
// life

static void close_fmu(void* self);

static yoke_status bind(fmu* f, const yoke_sink* sink) {
  const fmu_file* file = f->file;
  char path[4200];
  YOKE_TRY(yoke__fmi_binary_path(file->package, file->interface_type, path, sizeof path));
  yoke__fmi_resources_path(file->package, f->resources, sizeof f->resources);
  const unsigned part = file->is_model_exchange ? YOKE_FMI_ME
                        : file->is_scheduled    ? YOKE_FMI_SE
                                                : YOKE_FMI_CS;
  YOKE_TRY(yoke__fmi_binary_open(path, file->interface_type->model_identifier,
                                 f->description->version, part, &f->binary, sink));
  f->f2 = &f->binary->f2;
  f->f3 = &f->binary->f3;
  yoke__call_add_binary(f->name, path);
  return YOKE_OK;
}

// instantiating may be refused for want of the tool
static yoke_status instantiate(fmu* f, const yoke_sink* sink) {
  const uint64_t mode = yoke__os_float_mode();
  const yoke_status status = f->version->instantiate(f);
  yoke__fmu_guard(mode);
  char hint[512] = "";
  const char* tool = f->description->generation_tool;
  if (f->file->interface_type->needs_execution_tool) {
    snprintf(hint, sizeof hint, "it says that it needs the tool that made it%s%s%s",
             tool[0] == '\0' ? "" : " (", tool, tool[0] == '\0' ? "" : ")");
  }
  if (status < 0 && f->message[0] != '\0') {
    yoke_send(sink, &(yoke_message){.severity = YOKE_ERROR,
                                    .status = status,
                                    .time = (double)NAN,
                                    .text = f->message,
                                    .hint = hint});
  }
  return status;
}

// A file belongs to one unit: what its table offers may still be taken back while the unit is made.
static fmu_file* file_of(const void* context) {
  const union {
    const void* constant;
    fmu_file* own;
  } to = {context};
  return to.own;
}

// without feedthrough there is nothing to read again
void yoke__fmu_settle_trial(const yoke_unit_ops* ops, const yoke_unit_info* info) {
  fmu_file* file = file_of(ops->context);
  if (file->has_trial && info->n_feedthrough == 0) {
    file->has_trial = false;
    file->ops.refresh = NULL;
    file->isolated.refresh = NULL;
  }
}

static void take_back(fmu* f, bool is_promised, bool is_there, const char* what) {
  if (is_promised && !is_there) {
    char line[160];
    snprintf(line, sizeof line,
             "its description promises %s, but the binary lacks the functions; run without", what);
    yoke__fmu_log_add(&f->log, YOKE_WARNING, NULL, line);
    f->log.last[0] = '\0';  // not the binary's words
  }
}

// A description may promise what the binary lacks.
static void check_promises(fmu* f, fmu_file* file) {
  const bool is_new = f->description->version == 3;
  const yoke_fmi2* f2 = f->f2;
  const yoke_fmi3* f3 = f->f3;
  yoke_unit_ops* ops = &file->ops;
  const bool can_save =
      is_new ? f3->GetFMUState != NULL && f3->SetFMUState != NULL && f3->FreeFMUState != NULL
             : f2->GetFMUstate != NULL && f2->SetFMUstate != NULL && f2->FreeFMUstate != NULL;
  const bool can_write = is_new
                             ? f3->SerializeFMUState != NULL && f3->DeserializeFMUState != NULL &&
                                   f3->SerializedFMUStateSize != NULL
                             : f2->SerializeFMUstate != NULL && f2->DeSerializeFMUstate != NULL &&
                                   f2->SerializedFMUstateSize != NULL;
  const bool can_derive =
      is_new ? f3->GetDirectionalDerivative != NULL || f3->GetAdjointDerivative != NULL
             : f2->GetDirectionalDerivative != NULL;
  const bool can_follow =
      is_new || file->is_model_exchange ||
      (f->description->version == 1 ? f->binary->f1.SetRealInputDerivatives != NULL
                                    : f2->SetRealInputDerivatives != NULL);
  take_back(f, ops->save != NULL, can_save, "states that can be saved");
  take_back(f, ops->serialise != NULL && can_save, can_write, "states as bytes");
  take_back(f, ops->derivative != NULL, can_derive, "directional derivatives");
  take_back(f, ops->set_input_derivatives != NULL, can_follow, "input derivatives");
  ops->refresh = file->has_trial && !can_save ? NULL : ops->refresh;
  ops->save = can_save ? ops->save : NULL;
  ops->restore = can_save ? ops->restore : NULL;
  ops->serialise = can_save && can_write ? ops->serialise : NULL;
  ops->deserialise = can_save && can_write ? ops->deserialise : NULL;
  ops->derivative = can_derive ? ops->derivative : NULL;
  ops->linearise = can_derive ? ops->linearise : NULL;
  ops->set_input_derivatives = can_follow ? ops->set_input_derivatives : NULL;
}

static yoke_status open_parts(fmu* f, const yoke_sink* sink) {
  if (f->file->is_model_exchange) {
    return yoke__fmu_open_me(f, sink);
  }
  if (f->file->is_scheduled) {
    return yoke__fmu_open_se(f, sink);
  }
  if (f->file->ops.linearise != NULL) {
    YOKE_TRY(yoke__fmu_linear_open(f, f->description->states_derivatives.n));
  }
  if (f->description->version == 3) {
    YOKE_TRY(yoke__fmu_open_cs3(f, sink));
  } else {
    yoke__fmu_open_cs2(f);
  }
  return f->file->has_trial && f->file->ops.refresh != NULL ? yoke__fmu_open_trial(f) : YOKE_OK;
}

// The solver: ours around model exchange; else what the system file says, then our own export, then FMI 3.0.
static void describe_solver(const fmu_file* file, const fmu_solver* own, yoke_unit_solver* solver) {
  const yoke_unit_file_settings* s = &file->settings;
  if (file->is_model_exchange) {
    const yoke_solver_method method = yoke__fmu_me_method(s, own);
    const bool is_fixed = method < YOKE_SOLVER_OTHER && s->call_step > 0;
    *solver = (yoke_unit_solver){
        .method = method,
        .step = is_fixed ? s->call_step / yoke__fmu_me_ratio(file, s->call_step) : 0};
  } else if (s->has_internal_step) {
    *solver =
        (yoke_unit_solver){.method = s->internal_step > 0 ? YOKE_SOLVER_UNKNOWN : YOKE_SOLVER_EXACT,
                           .step = s->internal_step};
  } else if (solver->method == YOKE_SOLVER_UNKNOWN) {
    solver->step = file->interface_type->fixed_internal_step;
  }
}

// own: of the instance; NULL: it is in another process
static void describe_abilities(const fmu_file* file, const fmu_solver* own, yoke_unit_info* info) {
  const bool is_free = file->is_model_exchange || file->is_scheduled ||
                       file->interface_type->can_handle_variable_step;
  info->flags |= is_free ? 0 : YOKE_UNIT_FIXED_STEP;
  info->image_size = file->ops.save == NULL ? 0 : sizeof(fmu_image);
  describe_solver(file, own, &info->solver);
}

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  fmu* f = calloc(1, sizeof *f);
  YOKE_TRY_MEMORY(f);
  f->file = args->context;
  f->args = args;
  f->description = f->file->description;
  f->version = f->description->version == 3   ? &yoke__fmu_version3
               : f->description->version == 1 ? &yoke__fmu_version1
                                              : &yoke__fmu_version2;
  f->log.is_verbose = f->file->settings.is_logging;
  f->no_set_prior = 1;
  f->t_end = 0;
  f->name = yoke__arena_text(&f->arena, args->name, strlen(args->name));
  yoke_status status = f->name == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  if (status >= 0) {
    status = yoke__fmu_lay_out(f->description, args, &f->arena, &f->layout, sink);
  }
  if (status >= 0) {
    status = bind(f, sink);
  }
  if (status >= 0) {
    check_promises(f, file_of(args->context));
    status = instantiate(f, sink);
  }
  if (status >= 0) {
    status = open_parts(f, sink);
  }
  if (status < 0) {
    close_fmu(f);
    return status;
  }
  if (f->layout.is_feedthrough_cut) {
    yoke__fmu_log_add(&f->log, YOKE_WARNING, NULL,
                      "too many possible dependencies: only the first 4 million are looked at");
    f->log.last[0] = '\0';
  }
  describe_abilities(f->file, f->solver, &f->layout.info);
  f->args = NULL;
  *self = f;
  return YOKE_OK;
}

static const yoke_unit_info* describe(const void* self) {
  return &((const fmu*)self)->layout.info;
}

static void terminate(void* self) {
  fmu* f = self;
  if (f->phase == FMU_RUNNING) {
    f->version->terminate(f);
    f->phase = f->phase == FMU_RUNNING ? FMU_TERMINATED : f->phase;
  }
}

// a binary that is dead must not be called: its part is lost
void yoke__fmu_free_saved(fmu* f) {
  while (f->saved != NULL) {
    fmu_saved* first = f->saved;
    f->saved = first->next;
    if (first->state != NULL && f->phase != FMU_DEAD) {
      f->version->free_state(f, &first->state);
    }
    free(first);
  }
}

static void close_fmu(void* self) {
  fmu* f = self;
  if (f->solver == NULL) {
    yoke__fmu_free_saved(f);
  }
  terminate(f);
  yoke__fmu_free_saved(f);
  yoke__fmu_close_trial(f);
  yoke__fmu_close_me(f);
  yoke__fmu_close_cs3(f);
  if (f->instance != NULL && f->phase != FMU_DEAD) {
    f->version->free_instance(f);
  }
  if (f->phase == FMU_DEAD && f->binary != NULL) {
    yoke__fmi_binary_leave(f->binary);
  }
  yoke__fmi_binary_close(&f->binary);
  yoke__arena_free(&f->arena);
  free(f);
}

yoke_status yoke__fmu_enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  fmu* f = self;
  f->t_start = t_start;
  f->t_stop = t_stop;
  f->t_end = t_start;
  const uint64_t mode = yoke__os_float_mode();
  const yoke_status status =
      f->version->enter_init(f, t_start, yoke__fmu_trial_begin(f, t_start, t_stop));
  yoke__fmu_guard(mode);
  if (status < 0) {
    return yoke_fail(sink, status, "%s", f->message);
  }
  f->phase = FMU_INITIALISING;
  return YOKE_OK;
}

yoke_status yoke__fmu_exit_init(void* self) {
  fmu* f = self;
  const uint64_t mode = yoke__os_float_mode();
  const yoke_status status = f->version->exit_init(f);
  yoke__fmu_guard(mode);
  if (status >= 0) {
    f->phase = FMU_RUNNING;
  }
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// variables

typedef struct fmu_given {
  struct fmu_given* next;  // older
  size_t variable;
  double* values;
} fmu_given;

yoke_status yoke__fmu_remember(fmu* f, size_t variable, const void* value) {
  const yoke_variable* v = &f->layout.info.variables[variable];
  if (v->causality != YOKE_INPUT || v->type != YOKE_REAL || f->phase == FMU_RUNNING) {
    return YOKE_OK;
  }
  const size_t size = f->layout.slots[variable].n * sizeof(double);
  fmu_given* given = yoke__arena_take(&f->arena, sizeof *given);
  double* values = yoke__arena_take(&f->arena, size);
  YOKE_TRY_MEMORY(given && values);
  memcpy(values, value, size);
  *given = (fmu_given){f->given, variable, values};
  f->given = given;
  return YOKE_OK;
}

static yoke_status set(void* self, size_t variable, const void* value, size_t size) {
  (void)size;
  fmu* f = self;
  const yoke_variable* v = &f->layout.info.variables[variable];
  if (f->phase == FMU_FAILED || f->phase == FMU_DEAD) {
    return YOKE_UNIT_FAILED;
  }
  f->message[0] = '\0';
  if ((v->flags & YOKE_VARIABLE_READ_ONLY) != 0) {
    return YOKE_NO_SUPPORT;
  }
  YOKE_TRY(yoke__fmu_remember(f, variable, value));
  return f->version->set(f, &f->layout.slots[variable], v, value);
}

// an input that the binary does not give back has the value it starts with; false if nobody has said which that is
static bool find_start(const fmu* f, size_t variable, double* value) {
  const yoke_fmi_variable* v = &f->description->variables[f->layout.slots[variable].variable];
  const size_t n = f->layout.slots[variable].n;
  for (const fmu_given* g = f->given; g != NULL; g = g->next) {
    if (g->variable == variable) {
      memcpy(value, g->values, n * sizeof *value);
      return true;
    }
  }
  yoke__fmi_start_real(v, value, n);
  return v->start != NULL;
}

static yoke_status get(const void* self, size_t variable, void* value, size_t size) {
  (void)size;
  fmu* f = yoke__fmu_of(self);
  const yoke_variable* v = &f->layout.info.variables[variable];
  if (f->phase == FMU_FAILED || f->phase == FMU_DEAD) {
    return YOKE_UNIT_FAILED;
  }
  const bool is_real_input = v->causality == YOKE_INPUT && v->type == YOKE_REAL;
  if (is_real_input && f->phase == FMU_INITIALISING && f->description->version < 3 &&
      find_start(f, variable, value)) {
    return YOKE_OK;
  }
  const fmu_phase phase = f->phase;
  const yoke_status status = f->version->get(f, &f->layout.slots[variable], v, value);
  if (status < 0 && f->phase != FMU_DEAD && is_real_input) {
    f->phase = phase;
    find_start(f, variable, value);
    return YOKE_OK;
  }
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// states of the binary

static void copy_kept(const fmu* f, void* to, const void* from) {
  if (f->kept_size > 0) {
    memcpy(to, from, f->kept_size);
  }
}

// The past of a solver with variable order is in no image: it begins anew where a state is restored, and where one is saved,
// so that both runs go on alike.
static void forget_past(fmu* f) {
  if (f->solver != NULL) {
    yoke__fmu_cvode_forget(f);
  }
}

static yoke_status put_state(fmu* f, void* state, const void* kept) {
  YOKE_TRY(f->version->set_state(f, state));
  copy_kept(f, f->kept, kept);
  forget_past(f);
  return YOKE_OK;
}

// The first save into an image makes a state, later ones write it again. The binary may allocate: it is its state.
static yoke_status save(const void* self, void* image, size_t size) {
  fmu* f = yoke__fmu_of(self);
  fmu_image own = {0};
  if (size != sizeof own || f->phase == FMU_FAILED || f->phase == FMU_DEAD) {
    return YOKE_UNIT_FAILED;
  }
  memcpy(&own, image, sizeof own);
  const bool is_new = own.owner != f;
  if (is_new) {
    own = (fmu_image){f, calloc(1, sizeof *own.saved + f->kept_size)};
  }
  YOKE_TRY_MEMORY(own.saved);
  const yoke_status status = f->version->get_state(f, &own.saved->state);
  if (status < 0) {
    free(is_new ? own.saved : NULL);
    return status;
  }
  if (is_new) {
    own.saved->next = f->saved;
    f->saved = own.saved;
  }
  copy_kept(f, own.saved->kept, f->kept);
  f->no_set_prior = 0;
  forget_past(f);
  memcpy(image, &own, sizeof own);
  return YOKE_OK;
}

static yoke_status restore(void* self, const void* image, size_t size) {
  fmu* f = self;
  fmu_image own = {0};
  if (size != sizeof own || f->phase == FMU_DEAD) {
    return YOKE_UNIT_FAILED;
  }
  memcpy(&own, image, sizeof own);
  return own.owner == f ? put_state(f, own.saved->state, own.saved->kept) : YOKE_BAD_ARG;
}

// As bytes, what the solver keeps stands in front of the state, event mode behind it: where each begins. n: of the state.
static size_t kept_at(const fmu* f, size_t n) {
  return f->solver != NULL ? 0 : n;
}

static size_t state_at(const fmu* f) {
  return f->solver != NULL ? f->kept_size : 0;
}

static yoke_status serialise(const void* self, void* bytes, size_t* size) {
  fmu* f = yoke__fmu_of(self);
  void* state = NULL;
  YOKE_TRY(f->version->get_state(f, &state));
  size_t n = 0;
  yoke_status status = f->version->state_size(f, state, &n);
  if (status >= 0 && n + f->kept_size > *size) {
    status = YOKE_FULL;
  }
  if (status >= 0) {
    copy_kept(f, (char*)bytes + kept_at(f, n), f->kept);
    status = f->version->write_state(f, state, (char*)bytes + state_at(f), n);
  }
  f->version->free_state(f, &state);
  forget_past(f);
  *size = n + f->kept_size;
  return status;
}

static yoke_status deserialise(void* self, const void* bytes, size_t size) {
  fmu* f = self;
  void* state = NULL;
  if (size < f->kept_size) {
    return f->solver != NULL ? YOKE_BAD_ARG : YOKE_BAD_INPUT;
  }
  const size_t n = size - f->kept_size;
  yoke_status status = f->version->read_state(f, (const char*)bytes + state_at(f), n, &state);
  if (status >= 0) {
    status = put_state(f, state, (const char*)bytes + kept_at(f, n));
  }
  if (state != NULL) {
    f->version->free_state(f, &state);
  }
  return status;
}

void yoke__fmu_fill_states(bool has_bytes, yoke_unit_ops* ops) {
  ops->save = save;
  ops->restore = restore;
  ops->serialise = has_bytes ? serialise : NULL;
  ops->deserialise = has_bytes ? deserialise : NULL;
}

// ---------------------------------------------------------------------------------------------------------
// derivatives

enum { MAX_SENSITIVITY = 256 };

static yoke_status derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                              const size_t knowns[], size_t n_knowns, const double seed[],
                              double out[]) {
  fmu* f = self;
  uint32_t unknown_refs[MAX_SENSITIVITY], known_refs[MAX_SENSITIVITY];
  if (n_unknowns > MAX_SENSITIVITY || n_knowns > MAX_SENSITIVITY) {
    return YOKE_FULL;
  }
  for (size_t i = 0; i < n_unknowns; i++) {
    unknown_refs[i] = f->layout.slots[unknowns[i]].reference;
  }
  for (size_t i = 0; i < n_knowns; i++) {
    known_refs[i] = f->layout.slots[knowns[i]].reference;
  }
  if (f->is_derivative_refused) {
    return YOKE_NO_SUPPORT;
  }
  const fmu_phase before = f->phase;
  const yoke_status status =
      f->version->directional(f, unknown_refs, n_unknowns, known_refs, n_knowns, seed, out);
  // it can still be stepped; one that answered "error" is not asked again
  if (status < 0 && f->phase == FMU_FAILED) {
    f->phase = before;
    f->is_derivative_refused = true;
  }
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// what a person should know

static void reason(const void* self, const yoke_sink* sink) {
  const fmu* f = self;
  if (f->message[0] != '\0') {
    yoke_fail(sink, YOKE_UNIT_FAILED, "%s", f->message);
  }
}

// the binary's own clock against ours; a thousandth of a step is worth a word
static void look_at_clock(fmu* f) {
  const size_t clock = f->layout.clock;
  double own = 0;
  if (clock == YOKE_FMI_NONE || f->phase != FMU_RUNNING ||
      f->layout.info.variables[clock].type != YOKE_REAL || yoke__fmu_trial_hides_clock(f)) {
    return;
  }
  // an FMU need not show the trial
  const double ahead = yoke__fmu_trial_ahead(f);
  if (get(f, clock, &own, sizeof own) >= 0 && fabs(own - f->t_end) > fabs(f->drift) + ahead) {
    f->drift = own - f->t_end;
    f->drift_at = f->t_end;
  }
}

static void report(void* self, const yoke_sink* sink) {
  fmu* f = self;
  yoke__fmu_log_report(&f->log, sink);
  look_at_clock(f);
  if (!f->is_drift_told && fabs(f->drift) > 1e-9 * fmax(1, fabs(f->drift_at))) {
    f->is_drift_told = true;
    yoke__notify(sink, YOKE_WARNING,
                 "its own clock is off by %.3g s at t = %.12g s: it adds up the steps by itself",
                 f->drift, f->drift_at);
  }
  if (f->solver != NULL && f->solver->now->is_stiff && !f->solver->is_stiff_told) {
    f->solver->is_stiff_told = true;
    yoke__notify(sink, YOKE_NOTE, "the model is stiff: integrated by cvode from t = %.6g s on",
                 f->solver->t_stiff);
  }
  if (f->n_cut > 0) {
    yoke__notify(sink, YOKE_WARNING, "%lld text values were longer than %d bytes and are cut",
                 (long long)f->n_cut, FMU_TEXT_SIZE - 1);
    f->n_cut = 0;
  }
}

// ---------------------------------------------------------------------------------------------------------
// the file

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

// the interface that is wanted and there
static const yoke_fmi_interface* choose_interface(const yoke_fmi_description* d,
                                                  const yoke_unit_file_settings* settings,
                                                  yoke_messages* messages) {
  // in the order in which they are taken
  const struct {
    yoke_unit_interface kind;
    const yoke_fmi_interface* own;
    const char *name, *word;
  } all[] = {
      {YOKE_INTERFACE_CO_SIMULATION, &d->co_simulation, "co-simulation", "co-simulation"},
      {YOKE_INTERFACE_MODEL_EXCHANGE, &d->model_exchange, "model-exchange", "model exchange"},
      {YOKE_INTERFACE_SCHEDULED_EXECUTION, &d->scheduled_execution, "scheduled-execution",
       "scheduled execution"},
  };
  const yoke_unit_interface wanted = settings->interface_type;
  const char *missing = "interface that Yoke can run", *there = NULL;
  for (size_t i = 0; i < YOKE_COUNT(all); i++) {
    const bool is_wanted = wanted == YOKE_INTERFACE_AUTO || wanted == all[i].kind;
    if (is_wanted && all[i].own->is_given) {
      return all[i].own;
    }
    missing = wanted == all[i].kind ? all[i].name : missing;
    there = there == NULL && all[i].own->is_given ? all[i].word : there;
  }
  yoke__error(messages, settings->place, "'%s' has no %s%s%s%s", base_name(settings->path), missing,
              wanted == YOKE_INTERFACE_AUTO ? "" : " interface", there == NULL ? "" : "; it has ",
              there == NULL ? "" : there);
  return NULL;
}

static void fill_ops(fmu_file* file) {
  const yoke_fmi_interface* i = file->interface_type;
  const yoke_fmi_description* d = file->description;
  file->ops = (yoke_unit_ops){
      .name = base_name(file->settings.path),
      .text = d->description[0] == '\0' ? d->model_name : d->description,
      .structure = file->structure,
      .n_structure = file->n_structure,
      .create = create,
      .describe = describe,
      .set = set,
      .get = get,
      .get_values = yoke__fmu_get_values,
      .choose_outputs = yoke__fmu_choose_outputs,
      .enter_init = yoke__fmu_enter_init,
      .exit_init = yoke__fmu_exit_init,
      .reason = reason,
      .report = report,
      .terminate = terminate,
      .close = close_fmu,
      .context = file,
  };
  if (i->can_get_and_set_state) {
    yoke__fmu_fill_states(i->can_serialise_state, &file->ops);
  }
  // those of a partition belong to its tick
  if (!file->is_scheduled &&
      (i->has_directional_derivatives || (d->version == 3 && i->has_adjoint_derivatives))) {
    file->ops.derivative = derivative;
  }
  if (i->has_directional_derivatives && !file->is_model_exchange && !file->is_scheduled &&
      yoke__fmu_has_linear(d)) {
    file->ops.linearise = yoke__fmu_linearise;
  }
  if (file->is_model_exchange) {
    yoke__fmu_fill_me(file, &file->ops);
  } else if (file->is_scheduled) {
    yoke__fmu_fill_se(&file->ops);
  } else if (d->version == 3) {
    yoke__fmu_fill_cs3(file, &file->ops);
  } else if (d->version == 1) {
    yoke__fmu_fill_cs1(file, &file->ops);
  } else {
    yoke__fmu_fill_cs2(file, &file->ops);
  }
  file->ops.advance_values = file->ops.advance == NULL ? NULL : yoke__fmu_advance_values;
  yoke__fmu_fill_trial(file);
  yoke__fmu_guard_ops(file);
}

// in a process of its own the parent still knows all variables
static yoke_status create_isolated(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  fmu_file* file = file_of(args->context);
  fmu_layout* layout = yoke__arena_take(&file->arena, sizeof *layout);
  YOKE_TRY_MEMORY(layout);
  YOKE_TRY(yoke__fmu_lay_out(file->description, args, &file->arena, layout, sink));
  describe_abilities(file, NULL, &layout->info);
  const yoke_host_plan plan = {.settings = &file->settings, .info = &layout->info};
  YOKE_TRY(yoke__host_create(&plan, args, self, sink));
  // the binary may lack what its description promises
  if (file->has_trial && file->isolated.describe(*self)->image_size == 0) {
    file->isolated.refresh = NULL;
  }
  return YOKE_OK;
}

static void close_file(yoke_unit_file* base) {
  fmu_file* file = (fmu_file*)base;
  yoke__arena_free(&file->arena);
  free(file);
}

static void warn_of_tool(const fmu_file* file, yoke_messages* messages) {
  if (file->interface_type->needs_execution_tool) {
    yoke__message_add(messages, YOKE_WARNING,
                      (yoke_place){file->description->source, file->interface_type->line, 0},
                      "says that it needs an execution tool%s%s; Yoke runs it without [fmi-tool]",
                      file->description->generation_tool[0] == '\0' ? "" : ": ",
                      file->description->generation_tool);
  }
}

yoke_status yoke__fmu_file_open(yoke_fmi_package* package, const yoke_unit_file_settings* settings,
                                yoke_messages* messages, yoke_unit_file** out) {
  const yoke_fmi_description* d = package->description;
  const yoke_fmi_interface* chosen = choose_interface(d, settings, messages);
  if (chosen == NULL) {
    return YOKE_BAD_INPUT;
  }
  if (d->version == 1 && chosen == &d->model_exchange) {
    yoke__error(messages, settings->place,
                "'%s' is a model-exchange FMU of FMI 1.0, which Yoke does not run; FMI 1.0 "
                "co-simulation, FMI 2.0 and 3.0 are",
                base_name(settings->path));
    return YOKE_BAD_INPUT;
  }
  if (settings->has_internal_step && chosen == &d->model_exchange) {
    yoke__error(
        messages, settings->place,
        "unit '%s': `internal_step` is for co-simulation; model exchange is solved by Yoke, "
        "with the `step` of its `solver`",
        settings->name);
    return YOKE_BAD_INPUT;
  }
  if (settings->is_event_mode_off && chosen == &d->scheduled_execution) {
    yoke__error(
        messages, settings->place,
        "unit '%s': `events: false` does not go with scheduled execution, which has nothing "
        "but clock ticks",
        settings->name);
    return YOKE_BAD_INPUT;
  }
  fmu_file* file = calloc(1, sizeof *file);
  YOKE_TRY_MEMORY(file);
  file->settings = *settings;
  file->package = package;
  file->description = d;
  file->interface_type = chosen;
  file->is_model_exchange = chosen == &d->model_exchange;
  file->is_scheduled = chosen == &d->scheduled_execution;
  file->base.close = close_file;
  yoke_status status = yoke__fmu_structure(d, &file->arena, &file->structure, &file->n_structure);
  if (status >= 0 && !settings->is_isolated) {
    status = yoke__fmi_unpack(package, messages);
  }
  if (status < 0) {
    close_file(&file->base);
    return status;
  }
  warn_of_tool(file, messages);
  fill_ops(file);
  file->base.ops = &file->ops;
  if (settings->is_isolated) {
    yoke__host_fill_ops(&file->ops, &file->isolated);
    file->isolated.create = create_isolated;
    file->isolated.context = file;
    file->base.ops = &file->isolated;
  }
  *out = &file->base;
  return YOKE_OK;
}
