// A model exchange FMU without a file: a table of calls in front of a few functions of the test, so that the solver can be
// shown models that no honest FMU would be. Strict: a call in the wrong mode ends the test.
//
// Variables: inputs u0, u1 (continuous), d (discrete real), n (integer), parameter p (tunable), outputs y0, y1.
#ifndef YOKE_TEST_UNIT_ME_TOY_H
#define YOKE_TEST_UNIT_ME_TOY_H

#include "base/base_message.h"
#include "support/check.h"
#include "unit/fmu/fmu_solver.h"

enum { TOY_U0, TOY_U1, TOY_D, TOY_N, TOY_P, TOY_Y0, TOY_Y1, TOY_N_VARIABLES };
enum { TOY_MAX = 4 };  // states, indicators

typedef enum toy_mode { TOY_BEFORE, TOY_EVENT, TOY_CONTINUOUS } toy_mode;

typedef struct toy toy;

typedef struct toy_model {
  size_t n_x, n_z;
  double x0[TOY_MAX];
  void (*rhs)(const toy* m, double dx[]);
  void (*indicators)(const toy* m, double z[]);
  void (*update)(toy* m, fmu_event* event);  // NULL: nothing happens
  void (*outputs)(const toy* m, double y[]);
  bool (*completed)(toy* m);  // NULL: not wanted; true: an event
} toy_model;

// What the model remembers; all of it is its state.
typedef struct toy_memory {
  double t, x[TOY_MAX], u[3], p;  // u: u0, u1, d
  int64_t n, mode;                // n: the integer input; mode: of the model's own
  toy_mode phase;
  int64_t n_updates, n_events, n_calls;
  double events[64];  // times of the first ones
} toy_memory;

struct toy {
  fmu f;
  fmu_file file;
  yoke_fmi_description description;
  yoke_fmi_variable variables[TOY_N_VARIABLES + 2 * TOY_MAX];
  yoke_fmi_unknown derivatives[TOY_MAX];
  yoke_unit_ops ops;
  const toy_model* model;
  toy_memory now;
  int64_t n_derivatives;
};

static toy* toy_of(fmu* f) {
  return f->instance;
}

#define TOY_EXPECT(m, phase_) assert_int_equal((m)->now.phase, (phase_))

static yoke_status toy_set(fmu* f, const fmu_slot* slot, const yoke_variable* v,
                           const void* storage) {
  (void)v;
  toy* m = toy_of(f);
  assert_true(m->now.phase != TOY_CONTINUOUS);
  if (slot->reference == TOY_N) {
    memcpy(&m->now.n, storage, sizeof m->now.n);
  } else if (slot->reference == TOY_P) {
    memcpy(&m->now.p, storage, sizeof m->now.p);
  } else {
    assert_int_equal(slot->reference, TOY_D);
    memcpy(&m->now.u[2], storage, sizeof m->now.u[2]);
  }
  return YOKE_OK;
}

static yoke_status toy_set_reals(fmu* f, const fmu_dense* dense, const double numbers[]) {
  toy* m = toy_of(f);
  for (size_t i = 0; i < dense->n_refs; i++) {
    assert_true(dense->refs[i] != TOY_D || m->now.phase != TOY_CONTINUOUS);
    m->now.u[dense->refs[i]] = numbers[i];
  }
  return YOKE_OK;
}

static yoke_status toy_get_reals(fmu* f, const fmu_dense* dense, double numbers[]) {
  toy* m = toy_of(f);
  assert_int_equal(dense->n_refs, 2);
  numbers[0] = m->now.x[0];
  numbers[1] = m->now.u[0];
  if (m->model->outputs != NULL) {
    m->model->outputs(m, numbers);
  }
  return YOKE_OK;
}

static yoke_status toy_exit_init(fmu* f) {
  toy_of(f)->now.phase = TOY_EVENT;
  toy_of(f)->now.t = f->t_start;
  return YOKE_OK;
}

static yoke_status toy_enter_event_mode(fmu* f) {
  toy* m = toy_of(f);
  TOY_EXPECT(m, TOY_CONTINUOUS);
  if (m->now.n_events < 64) {
    m->now.events[m->now.n_events] = m->now.t;
  }
  m->now.n_events++;
  m->now.phase = TOY_EVENT;
  return YOKE_OK;
}

static yoke_status toy_update(fmu* f, fmu_event* event) {
  toy* m = toy_of(f);
  TOY_EXPECT(m, TOY_EVENT);
  m->now.n_updates++;
  if (m->model->update != NULL) {
    m->model->update(m, event);
  }
  return YOKE_OK;
}

static yoke_status toy_enter_continuous_mode(fmu* f) {
  TOY_EXPECT(toy_of(f), TOY_EVENT);
  toy_of(f)->now.phase = TOY_CONTINUOUS;
  return YOKE_OK;
}

static yoke_status toy_completed(fmu* f, bool* is_event, bool* is_end) {
  toy* m = toy_of(f);
  TOY_EXPECT(m, TOY_CONTINUOUS);
  m->now.n_calls++;
  *is_event = m->model->completed != NULL && m->model->completed(m);
  *is_end = false;
  return YOKE_OK;
}

static yoke_status toy_set_time(fmu* f, double t) {
  TOY_EXPECT(toy_of(f), TOY_CONTINUOUS);
  toy_of(f)->now.t = t;
  return YOKE_OK;
}

static yoke_status toy_set_states(fmu* f, const double x[], size_t n) {
  TOY_EXPECT(toy_of(f), TOY_CONTINUOUS);
  memcpy(toy_of(f)->now.x, x, n * sizeof *x);
  return YOKE_OK;
}

static yoke_status toy_get_states(fmu* f, double x[], size_t n) {
  memcpy(x, toy_of(f)->now.x, n * sizeof *x);
  return YOKE_OK;
}

static yoke_status toy_get_nominals(fmu* f, double x[], size_t n) {
  (void)f;
  for (size_t i = 0; i < n; i++) {
    x[i] = 1;
  }
  return YOKE_OK;
}

static yoke_status toy_get_derivatives(fmu* f, double dx[], size_t n) {
  (void)n;
  toy* m = toy_of(f);
  TOY_EXPECT(m, TOY_CONTINUOUS);
  m->n_derivatives++;
  m->model->rhs(m, dx);
  return YOKE_OK;
}

static yoke_status toy_get_indicators(fmu* f, double z[], size_t n) {
  (void)n;
  TOY_EXPECT(toy_of(f), TOY_CONTINUOUS);
  toy_of(f)->model->indicators(toy_of(f), z);
  return YOKE_OK;
}

static yoke_status toy_get_state(fmu* f, void** state) {
  *state = *state == NULL ? malloc(sizeof(toy_memory)) : *state;
  assert_non_null(*state);
  memcpy(*state, &toy_of(f)->now, sizeof(toy_memory));
  return YOKE_OK;
}

static yoke_status toy_set_state(fmu* f, void* state) {
  memcpy(&toy_of(f)->now, state, sizeof(toy_memory));
  return YOKE_OK;
}

static void toy_free_state(fmu* f, void** state) {
  (void)f;
  free(*state);
  *state = NULL;
}

static yoke_status toy_state_size(fmu* f, void* state, size_t* size) {
  (void)f;
  (void)state;
  *size = sizeof(toy_memory);
  return YOKE_OK;
}

static yoke_status toy_write_state(fmu* f, void* state, void* bytes, size_t size) {
  (void)f;
  memcpy(bytes, state, size);
  return YOKE_OK;
}

static yoke_status toy_read_state(fmu* f, const void* bytes, size_t size, void** state) {
  (void)f;
  assert_int_equal(size, sizeof(toy_memory));
  *state = malloc(size);
  assert_non_null(*state);
  memcpy(*state, bytes, size);
  return YOKE_OK;
}

static const fmu_version toy_version = {
    .set = toy_set,
    .set_reals = toy_set_reals,
    .get_reals = toy_get_reals,
    .exit_init = toy_exit_init,
    .get_state = toy_get_state,
    .set_state = toy_set_state,
    .free_state = toy_free_state,
    .state_size = toy_state_size,
    .write_state = toy_write_state,
    .read_state = toy_read_state,
    .enter_event_mode = toy_enter_event_mode,
    .update_discrete_states = toy_update,
    .enter_continuous_mode = toy_enter_continuous_mode,
    .completed_step = toy_completed,
    .set_time = toy_set_time,
    .set_states = toy_set_states,
    .get_states = toy_get_states,
    .get_nominals = toy_get_nominals,
    .get_derivatives = toy_get_derivatives,
    .get_indicators = toy_get_indicators,
};

static void toy_describe(toy* m) {
  static const char* const names[] = {"x0", "x1", "x2", "x3"};
  static const yoke_variable variables[] = {
      [TOY_U0] = {.name = "u0", .type = YOKE_REAL, .causality = YOKE_INPUT},
      [TOY_U1] = {.name = "u1", .type = YOKE_REAL, .causality = YOKE_INPUT},
      [TOY_D] = {.name = "d", .type = YOKE_REAL, .causality = YOKE_INPUT},
      [TOY_N] = {.name = "n", .type = YOKE_INTEGER, .causality = YOKE_INPUT},
      [TOY_P] = {.name = "p", .type = YOKE_REAL, .causality = YOKE_TUNABLE},
      [TOY_Y0] = {.name = "y0", .type = YOKE_REAL, .causality = YOKE_OUTPUT},
      [TOY_Y1] = {.name = "y1", .type = YOKE_REAL, .causality = YOKE_OUTPUT},
  };
  static const fmu_slot slots[] = {
      {.variable = 0, .n = 1, .reference = 0}, {.variable = 1, .n = 1, .reference = 1},
      {.variable = 2, .n = 1, .reference = 2}, {.variable = 3, .n = 1, .reference = 3},
      {.variable = 4, .n = 1, .reference = 4}, {.variable = 5, .n = 1, .reference = 5},
      {.variable = 6, .n = 1, .reference = 6},
  };
  static const uint32_t inputs[] = {TOY_U0, TOY_U1, TOY_D}, outputs[] = {TOY_Y0, TOY_Y1};
  m->f.layout = (fmu_layout){
      .info = {.variables = variables, .n_variables = TOY_N_VARIABLES},
      .slots = slots,
      .inputs = {.refs = inputs, .n_refs = 3, .n = 3},
      .outputs = {.refs = outputs, .n_refs = 2, .n = 2},
      .clock = YOKE_FMI_NONE,
      .n_u = 3,
      .n_y = 2,
  };
  for (size_t i = 0; i < TOY_N_VARIABLES; i++) {
    const bool is_discrete = i == TOY_D || i == TOY_N;
    m->variables[i] =
        (yoke_fmi_variable){.name = variables[i].name,
                            .variability = is_discrete ? YOKE_FMI_DISCRETE : YOKE_FMI_CONTINUOUS};
  }
  for (size_t i = 0; i < m->model->n_x; i++) {
    const size_t state = TOY_N_VARIABLES + 2 * i;
    m->variables[state] = (yoke_fmi_variable){.name = names[i]};
    m->variables[state + 1] =
        (yoke_fmi_variable){.name = "der", .derivative_of = (uint32_t)state + 1};
    m->derivatives[i] = (yoke_fmi_unknown){.variable = state + 1};
  }
  m->description = (yoke_fmi_description){
      .version = 2,
      .variables = m->variables,
      .n_variables = TOY_N_VARIABLES + 2 * m->model->n_x,
      .states_derivatives = {m->derivatives, m->model->n_x},
      .n_event_indicators = m->model->n_z,
  };
}

// Not initialised yet. settings: solver, solver_step, solver_tolerance are read.
static toy* toy_create(const toy_model* model, yoke_unit_file_settings settings) {
  toy* m = calloc(1, sizeof *m);
  assert_non_null(m);
  m->model = model;
  toy_describe(m);
  m->description.model_exchange =
      (yoke_fmi_interface){.is_given = true, .completed_step_not_needed = model->completed == NULL};
  m->file = (fmu_file){.settings = settings,
                       .description = &m->description,
                       .interface_type = &m->description.model_exchange,
                       .is_model_exchange = true};
  m->f.instance = m;
  m->f.version = &toy_version;
  m->f.file = &m->file;
  m->f.description = &m->description;
  m->f.no_set_prior = 1;
  memcpy(m->now.x, model->x0, sizeof m->now.x);
  // as unit_fmu.c does for an FMU with states
  yoke__fmu_fill_states(true, &m->ops);
  yoke__fmu_fill_me(&m->file, &m->ops);
  return m;
}

static toy* toy_open_at(const toy_model* model, yoke_unit_file_settings settings, double t_start) {
  toy* m = toy_create(model, settings);
  YOKE_CATCH(err);
  if (yoke__fmu_open_me(&m->f, &err.sink) < 0) {
    fail_msg("open: %s", err.text);
  }
  m->f.t_start = t_start;
  m->f.phase = FMU_INITIALISING;
  check_ok(m->ops.exit_init(&m->f));
  return m;
}

static toy* toy_open(const toy_model* model, yoke_unit_file_settings settings) {
  return toy_open_at(model, settings, 0);
}

static void toy_close(toy* m) {
  yoke__fmu_free_saved(&m->f);
  yoke__fmu_close_me(&m->f);
  yoke__arena_free(&m->f.arena);
  free(m);
}

static yoke_status toy_try_step(toy* m, double t, double h, yoke_step_result* result) {
  *result = (yoke_step_result){.t_reached = t + h};
  return m->ops.step(&m->f, t, h, result);
}

static uint32_t toy_step(toy* m, double t, double h) {
  yoke_step_result result;
  const yoke_status status = toy_try_step(m, t, h, &result);
  if (status < 0) {
    fail_msg("step at %.17g: %s", t, result.message == NULL ? "no message" : result.message);
  }
  return result.flags;
}

// n steps from t0; returns all flags that came
static uint32_t toy_run(toy* m, double t0, double h, int64_t n) {
  uint32_t flags = 0;
  for (int64_t k = 0; k < n; k++) {
    flags |= toy_step(m, t0 + (double)k * h, h);
  }
  return flags;
}

#endif
