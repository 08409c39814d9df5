// Outputs of a co-simulation FMU with new inputs, by a trial step: a short step that is taken back.
//
// Between two steps the standard allows no outputs to be read after inputs were set (FMI 2.0, and FMI 3.0 in step mode).
// After a step it does. So `refresh` saves the state of the binary, takes a step of d seconds with the new inputs and leaves
// the binary there: everything that is read of it now is that of the trial. What moves the unit next restores the state.
//
//   CLEAN --inputs are set--> SET --refresh, or something is read--> SHOWN --set, step, save, ...--> SET
//     ^                                                                                               |
//     +------------------------------------------- step ----------------------------------------------+
//
//   y(t + d) = y(t, u_new) + d dy/dt,  d = 2^-20 of the interval at which the unit is called
//
// so an output is off by about a millionth of what it moves in a step by itself. Shorter steps come too close to the
// tolerances that solvers have for the time, longer ones show the motion of the unit.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit/fmu/fmu.h"
#include "unit/fmu/unit_fmu.h"

#define SHARE     0x1p-20             // of the interval between two calls
#define LEAST     (64 * DBL_EPSILON)  // of the time: t + d must be distinguished from t
#define LACKS     "its binary lacks the functions that save and restore states"
#define FAR_AHEAD 0x1p-10  // of the interval: a trial that ends there is none

typedef enum trial_place { TRIAL_CLEAN, TRIAL_SET, TRIAL_SHOWN } trial_place;

// Where the binary stands; goes with every saved state.
typedef struct trial_now {
  double t;       // of the binary without the trial
  int64_t place;  // trial_place; an image never has TRIAL_SHOWN
} trial_now;

struct fmu_trial {
  trial_now now;
  void* state;         // of the binary, before the trial
  double clock;        // what the binary showed of its clock after initialisation; NaN: nothing
  double *u, *u_step;  // inputs as set, and of the last step
  double* y_step;      // outputs that the last step left
  bool has_outputs;    // y_step is there
  int64_t n_asked, n_moved;  // refreshes with inputs that changed; those in which an output did
};

static const yoke_unit_ops* plain(const fmu* f) {
  return &f->file->plain;
}

static double length_at(const fmu_file* file, double t) {
  return fmax(SHARE * file->settings.call_step, LEAST * fabs(t));
}

double yoke__fmu_trial_ahead(const fmu* f) {
  return f->trial != NULL && f->trial->now.place == TRIAL_SHOWN
             ? length_at(f->file, f->trial->now.t)
             : 0;
}

bool yoke__fmu_trial_hides_clock(const fmu* f) {
  return f->trial != NULL && f->trial->now.place == TRIAL_SET;
}

// ---------------------------------------------------------------------------------------------------------
// the trial

// What does without trials.
static const char* way_out(const fmu_file* file) {
  const yoke_unit_file_settings* s = &file->settings;
  return !s->is_iterated ? "use exchange: stale for this unit"
         : s->is_fresh   ? "use exchange: stale for this unit and scheme: jacobi"
                         : "use scheme: jacobi, or iteration: {mode: hold-end}";
}

static yoke_status refuse(fmu* f, double d, const char* what, const char* why) {
  char text[sizeof f->message];
  snprintf(text, sizeof text, "it %s a trial step of %.3g s%s%.250s; %s", what, d,
           why[0] == '\0' ? "" : ": ", why, way_out(f->file));
  memcpy(f->message, text, sizeof text);
  return YOKE_UNIT_FAILED;
}

// NaN: the binary does not show it.
static double read_clock(fmu* f) {
  const size_t clock = f->layout.clock;
  const fmu_phase phase = f->phase;
  double own = (double)NAN;
  if (clock != YOKE_FMI_NONE && f->layout.info.variables[clock].type == YOKE_REAL &&
      plain(f)->get(f, clock, &own, sizeof own) < 0) {
    f->phase = f->phase == FMU_DEAD ? FMU_DEAD : phase;
    own = (double)NAN;
  }
  return own;
}

// A binary with a fixed internal step may go further than it was asked to. The first trial tells.
static yoke_status check_clock(fmu* f, double d) {
  const double before = f->trial->clock, own = isnan(before) ? before : read_clock(f);
  f->trial->clock = (double)NAN;
  if (isnan(own) || fabs(own - before) <= d + FAR_AHEAD * f->file->settings.call_step) {
    return YOKE_OK;
  }
  char why[96];
  snprintf(why, sizeof why, "its own clock went from %.12g to %.12g s", before, own);
  return refuse(f, d, "does not keep to", why);
}

static yoke_status show(fmu* f) {
  struct fmu_trial* trial = f->trial;
  const double t = trial->now.t, d = length_at(f->file, t);
  const double t_end = f->t_end, drift = f->drift;
  yoke_step_result result = {.t_reached = t + d};
  YOKE_TRY(f->version->get_state(f, &trial->state));
  f->message[0] = '\0';
  const yoke_status status = plain(f)->step(f, t, d, &result);
  f->t_end = t_end;
  f->drift = drift;
  if (status < 0 || (result.flags & YOKE_STEP_DISCARDED) != 0) {
    char why[256];
    snprintf(why, sizeof why, "%.250s", result.message == NULL ? f->message : result.message);
    f->phase = f->phase == FMU_DEAD ? FMU_DEAD : FMU_FAILED;
    return refuse(f, d, "refused", why);
  }
  YOKE_TRY(t == f->t_start ? check_clock(f, d) : YOKE_OK);
  trial->now.place = TRIAL_SHOWN;
  return YOKE_OK;
}

// Back to where the last step ended, with the inputs as they were set since.
static yoke_status take_back(fmu* f) {
  struct fmu_trial* trial = f->trial;
  if (trial == NULL || trial->now.place != TRIAL_SHOWN) {
    return YOKE_OK;
  }
  const uint64_t mode = yoke__os_float_mode();
  const yoke_status status = f->version->set_state(f, trial->state);
  yoke__fmu_guard(mode);
  trial->now.place = TRIAL_SET;
  return status;
}

// ahead of something that changes what the next step starts with
static yoke_status before_set(fmu* f) {
  YOKE_TRY(take_back(f));
  if (f->trial != NULL && f->phase == FMU_RUNNING) {
    f->trial->now.place = TRIAL_SET;
  }
  return YOKE_OK;
}

// ahead of reading: after inputs were set only a trial may be read
static yoke_status before_get(fmu* f) {
  const bool is_set = f->trial != NULL && f->file->has_trial && f->phase == FMU_RUNNING &&
                      f->trial->now.place == TRIAL_SET;
  return is_set ? show(f) : YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// the operations

static yoke_status exit_init(void* self) {
  fmu* f = self;
  YOKE_TRY(plain(f)->exit_init(f));
  if (f->trial != NULL) {
    const uint64_t mode = yoke__os_float_mode();
    f->trial->clock = read_clock(f);
    yoke__fmu_guard(mode);
  }
  return YOKE_OK;
}

// What the step left, for as long as no trial has shown an output that moves.
static yoke_status note_outputs(fmu* f) {
  struct fmu_trial* trial = f->trial;
  if (trial == NULL || f->phase != FMU_RUNNING || trial->now.place != TRIAL_CLEAN ||
      trial->has_outputs || trial->n_moved > 0 || f->layout.n_y == 0) {
    return YOKE_OK;
  }
  trial->has_outputs = true;
  return plain(f)->get_outputs(f, trial->y_step, f->layout.n_y);
}

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  fmu* f = self;
  YOKE_TRY(note_outputs(f));
  YOKE_TRY(before_set(f));
  if (f->trial != NULL && n_u > 0) {
    memcpy(f->trial->u, u, n_u * sizeof *u);
  }
  return plain(f)->set_inputs(f, u, n_u);
}

static yoke_status set_input_derivatives(void* self, int order, const double du[], size_t n_u) {
  YOKE_TRY(before_set(self));
  return plain(self)->set_input_derivatives(self, order, du, n_u);
}

static yoke_status set(void* self, size_t variable, const void* value, size_t size) {
  YOKE_TRY(before_set(self));
  return plain(self)->set(self, variable, value, size);
}

// An FMU that computes outputs only where its own solver takes a step leaves them as they are in a trial.
static void look_at_outputs(struct fmu_trial* trial, const double y[], size_t n_y, size_t n_u) {
  if (trial->now.place == TRIAL_CLEAN) {
    memcpy(trial->y_step, y, n_y * sizeof *y);
    trial->has_outputs = true;
  } else if (trial->has_outputs && memcmp(trial->u, trial->u_step, n_u * sizeof *trial->u) != 0) {
    trial->n_asked++;
    trial->n_moved += memcmp(y, trial->y_step, n_y * sizeof *y) != 0;
  }
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  fmu* f = yoke__fmu_of(self);
  YOKE_TRY(before_get(f));
  YOKE_TRY(plain(f)->get_outputs(f, y, n_y));
  if (f->trial != NULL && f->phase == FMU_RUNNING && n_y > 0) {
    look_at_outputs(f->trial, y, n_y, f->layout.n_u);
  }
  return YOKE_OK;
}

static yoke_status get(const void* self, size_t variable, void* value, size_t size) {
  YOKE_TRY(before_get(yoke__fmu_of(self)));
  return plain(self)->get(self, variable, value, size);
}

static yoke_status get_values(const void* self, const yoke_value_place places[], size_t n,
                              void* base) {
  YOKE_TRY(n == 0 ? YOKE_OK : before_get(yoke__fmu_of(self)));
  return plain(self)->get_values(self, places, n, base);
}

// the binary stands at the end of a step
static void settle(fmu* f, double t) {
  struct fmu_trial* trial = f->trial;
  if (trial != NULL) {
    trial->now = (trial_now){t, TRIAL_CLEAN};
    trial->has_outputs = false;
    memcpy(trial->u_step, trial->u, f->layout.n_u * sizeof *trial->u);
  }
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  fmu* f = self;
  const yoke_status status = take_back(f);
  if (status < 0) {
    result->message = f->message;
    return status;
  }
  YOKE_TRY(plain(f)->step(f, t, h, result));
  settle(f, t + h);
  return YOKE_OK;
}

static yoke_status advance(void* self, double t, double h, const double u[], double y[],
                           yoke_step_result* result) {
  fmu* f = self;
  const yoke_status status = take_back(f);
  if (status < 0) {
    result->message = f->message;
    return status;
  }
  if (f->trial != NULL) {
    memcpy(f->trial->u, u, f->layout.n_u * sizeof *u);
  }
  YOKE_TRY(plain(f)->advance(f, t, h, u, y, result));
  settle(f, t + h);
  if (f->trial != NULL && f->layout.n_y > 0) {
    look_at_outputs(f->trial, y, f->layout.n_y, f->layout.n_u);
  }
  return YOKE_OK;
}

static yoke_status refresh(void* self, double t) {
  fmu* f = self;
  if (f->phase != FMU_RUNNING) {
    return f->phase == FMU_FAILED || f->phase == FMU_DEAD ? YOKE_UNIT_FAILED : YOKE_OK;
  }
  YOKE_TRY(take_back(f));
  f->trial->now.t = t;
  return show(f);
}

static yoke_status save(const void* self, void* image, size_t size) {
  YOKE_TRY(take_back(yoke__fmu_of(self)));
  return plain(self)->save(self, image, size);
}

static yoke_status serialise(const void* self, void* bytes, size_t* size) {
  YOKE_TRY(take_back(yoke__fmu_of(self)));
  return plain(self)->serialise(self, bytes, size);
}

static void report(void* self, const yoke_sink* sink) {
  fmu* f = self;
  struct fmu_trial* trial = f->trial;
  if (trial != NULL && trial->n_asked > 0 && trial->n_moved == 0) {
    trial->n_asked = 0;
    char line[256];
    snprintf(line, sizeof line,
             "no output ever followed new inputs in a trial step: it seems to compute outputs in "
             "longer steps only. %s",
             f->file->settings.is_fresh
                 ? "The result is that of exchange: stale"
                 : "They are read with the inputs of the last call: the scheme is of first order");
    yoke__fmu_log_add(&f->log, YOKE_WARNING, NULL, line);
    f->log.last[0] = '\0';  // not the binary's words
  }
  plain(f)->report(f, sink);
}

// ---------------------------------------------------------------------------------------------------------
// why not

// Neither saved nor restored. False: both.
static bool find_no_state(const fmu_file* file, const yoke_unit_ops* ops, char* why, size_t size) {
  const bool is_old = file->description->version == 2;
  why[0] = '\0';
  if (file->description->version == 1) {
    snprintf(why, size, "FMI 1.0 cannot save and restore states");
  } else if (!file->interface_type->can_get_and_set_state) {
    snprintf(why, size, "its description does not set %s",
             is_old ? "canGetAndSetFMUstate" : "canGetAndSetFMUState");
  } else if (ops->save == NULL) {
    snprintf(why, size, LACKS);
  }
  return why[0] != '\0';
}

// False: trial steps are possible.
static bool find_obstacle(const fmu_file* file, const yoke_unit_ops* ops, char* why, size_t size) {
  const yoke_fmi_interface* i = file->interface_type;
  if (find_no_state(file, ops, why, size)) {
    return true;
  }
  if (!i->can_handle_variable_step) {
    snprintf(why, size, "its description does not set canHandleVariableCommunicationStepSize");
  } else if (i->fixed_internal_step > 0) {
    snprintf(why, size, "its own solver has a fixed step of %g s", i->fixed_internal_step);
  }
  return why[0] != '\0';
}

static const fmu_file* file_of(const yoke_unit_ops* ops) {
  return ops->context;
}

double yoke__fmu_trial_step(const yoke_unit_ops* ops) {
  const fmu_file* file = file_of(ops);
  return file->has_trial && ops->refresh != NULL ? length_at(file, 0) : 0;
}

void yoke__fmu_no_refresh(const yoke_unit_ops* ops, char* why, size_t why_size, char* help,
                          size_t help_size) {
  const fmu_file* file = file_of(ops);
  const yoke_fmi_description* d = file->description;
  if (!find_obstacle(file, ops, why, why_size)) {
    snprintf(why, why_size, LACKS);  // in a process of its own
  }
  const bool has_events = d->version == 3 && d->co_simulation.has_event_mode;
  snprintf(help, help_size, "%s",
           has_events && file->settings.is_event_mode_off ? "leave out events: false"
           : d->model_exchange.is_given && d->version > 1 ? "interface: model-exchange"
           : d->version == 3 ? "an export with event mode or for model exchange"
                             : "an export for model exchange");
}

void yoke__fmu_no_rollback(const yoke_unit_ops* ops, char* why, size_t why_size, char* help,
                           size_t help_size) {
  const fmu_file* file = file_of(ops);
  const yoke_fmi_description* d = file->description;
  const bool has_other = !file->is_model_exchange && d->version > 1 && d->model_exchange.is_given &&
                         d->model_exchange.can_get_and_set_state;
  if (!find_no_state(file, ops, why, why_size)) {
    snprintf(why, why_size, LACKS);
  }
  snprintf(help, help_size, "%s", has_other ? "interface: model-exchange" : "");
}

// ---------------------------------------------------------------------------------------------------------
// the table

static bool is_wanted(const fmu_file* file) {
  const yoke_unit_file_settings* s = &file->settings;
  // an iteration corrects outputs by derivatives, where there are any
  return s->is_fresh || (s->is_iterated && file->ops.derivative == NULL);
}

void yoke__fmu_fill_trial(fmu_file* file) {
  yoke_unit_ops* ops = &file->ops;
  char why[256];
  if (!is_wanted(file) || ops->refresh != NULL || find_obstacle(file, ops, why, sizeof why)) {
    return;
  }
  file->plain = *ops;
  file->has_trial = true;
  ops->exit_init = exit_init;
  ops->set = set;
  ops->get = get;
  ops->get_values = get_values;
  ops->set_inputs = set_inputs;
  ops->get_outputs = get_outputs;
  ops->set_input_derivatives = ops->set_input_derivatives == NULL ? NULL : set_input_derivatives;
  ops->step = step;
  ops->advance = ops->advance == NULL ? NULL : advance;
  ops->advance_values = NULL;  // each set goes through the trial
  ops->refresh = refresh;
  ops->save = save;
  ops->serialise = ops->serialise == NULL ? NULL : serialise;
  ops->report = report;
}

yoke_status yoke__fmu_open_trial(fmu* f) {
  const size_t n_u = f->layout.n_u, n_y = f->layout.n_y;
  struct fmu_trial* trial = yoke__arena_take(&f->arena, sizeof *trial);
  double* numbers = yoke__arena_array(&f->arena, 2 * n_u + n_y + 1, sizeof *numbers);
  YOKE_TRY_MEMORY(trial && numbers);
  *trial = (struct fmu_trial){.u = numbers, .u_step = numbers + n_u, .y_step = numbers + 2 * n_u};
  trial->clock = (double)NAN;
  f->trial = trial;
  f->kept = (unsigned char*)&trial->now;
  f->kept_size = sizeof trial->now;
  f->no_set_prior = 0;
  return YOKE_OK;
}

double yoke__fmu_trial_begin(fmu* f, double t_start, double t_stop) {
  if (f->trial == NULL) {
    return t_stop;
  }
  f->trial->now = (trial_now){t_start, TRIAL_CLEAN};
  return t_stop + length_at(f->file, t_stop);
}

void yoke__fmu_close_trial(fmu* f) {
  if (f->trial != NULL && f->trial->state != NULL && f->phase != FMU_DEAD) {
    f->version->free_state(f, &f->trial->state);
  }
  f->trial = NULL;
}
