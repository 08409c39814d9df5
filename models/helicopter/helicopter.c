// Linearised helicopter and its H-infinity controller, each by explicit Euler.
//
//   airframe    x' = A x + B u,    y = C x          u: controls (4), y: motion (6)
//   controller  in modal form (helicopter_data.h)   u: command - motion (6), y: controls (4)
//
// Neither has feedthrough. The airframe alone is unstable, the loop is stable and stiff (3.6e5).
// Explicit Euler, because the published figures depend on it. Source: helicopter_data.h. Assumes
// inputs that are constant during a call.
#include "models/helicopter/helicopter.h"

#include <stddef.h>

#include "linalg/linalg_dense.h"
#include "models/helicopter/helicopter_data.h"
#include "models/models_support.h"

enum { MAX_MICRO_STEPS = 1000000 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ELEMENT(struct_, member_, i_, name_, text_, causality_)                                    \
  {                                                                                                \
    .name = (name_), .text = (text_), .type = YOKE_REAL, .causality = (causality_),                \
    .offset = offsetof(struct_, member_) + (i_) * sizeof(double)                                   \
  }
#define MICRO_STEPS(struct_)                                                                       \
  {                                                                                                \
    .name = "micro_steps", .dim = "1", .text = "internal steps per call", .type = YOKE_INTEGER,    \
    .causality = YOKE_PARAMETER, .start = 1, .offset = offsetof(struct_, micro_steps)              \
  }
#define CONTROL_ROWS(struct_, member_, causality_)                                                 \
  ELEMENT(struct_, member_, 0, "main", "collective of the main rotor [rad]", causality_),          \
      ELEMENT(struct_, member_, 1, "longitudinal", "longitudinal cyclic [rad]", causality_),       \
      ELEMENT(struct_, member_, 2, "lateral", "lateral cyclic [rad]", causality_),                 \
      ELEMENT(struct_, member_, 3, "tail", "collective of the tail rotor [rad]", causality_)
#define MOTION_ROWS(struct_, member_, causality_)                                                  \
  ELEMENT(struct_, member_, 0, "heave", "rate of climb [ft/s]", causality_),                       \
      ELEMENT(struct_, member_, 1, "pitch", "attitude [rad]", causality_),                         \
      ELEMENT(struct_, member_, 2, "roll", "attitude [rad]", causality_),                          \
      ELEMENT(struct_, member_, 3, "turn", "rate of the heading [rad/s]", causality_),             \
      ELEMENT(struct_, member_, 4, "roll_rate", "rate of roll [rad/s]", causality_),               \
      ELEMENT(struct_, member_, 5, "pitch_rate", "rate of pitch [rad/s]", causality_)

static yoke_status check_micro_steps(int64_t n, const yoke_sink* sink) {
  if (n < 1 || n > MAX_MICRO_STEPS) {
    return yoke_fail(sink, YOKE_BAD_ARG, "micro_steps is %lld, expected 1 to %d", (long long)n,
                     MAX_MICRO_STEPS);
  }
  return YOKE_OK;
}

static void fill(double to[], size_t n, const double values[]) {
  for (size_t i = 0; to != NULL && i < n; i++) {
    to[i] = values != NULL ? values[i] : 0.0;
  }
}

// The states are the variables from `first` on.
static yoke_status name_states(size_t first, size_t n, size_t states[], size_t n_states) {
  for (size_t i = 0; i < n && states != NULL && n == n_states; i++) {
    states[i] = first + i;
  }
  return n == n_states ? YOKE_OK : YOKE_BAD_ARG;
}

// ---- airframe

typedef struct airframe {
  double u[N_CONTROLS], y[N_MEASURED], x[N_AIRFRAME];
  int64_t micro_steps;
} airframe;

#define AIRFRAME_STATE(i_, name_, text_) ELEMENT(airframe, x, i_, name_, text_, YOKE_STATE)

static const yoke_variable airframe_variables[] = {
    CONTROL_ROWS(airframe, u, YOKE_INPUT),
    MOTION_ROWS(airframe, y, YOKE_OUTPUT),
    AIRFRAME_STATE(0, "theta", "pitch attitude [rad]"),
    AIRFRAME_STATE(1, "phi", "roll attitude [rad]"),
    AIRFRAME_STATE(2, "p", "rate of roll [rad/s]"),
    AIRFRAME_STATE(3, "q", "rate of pitch [rad/s]"),
    AIRFRAME_STATE(4, "xi", "rate of yaw [rad/s]"),
    AIRFRAME_STATE(5, "vx", "velocity forward [ft/s]"),
    AIRFRAME_STATE(6, "vy", "velocity sideways [ft/s]"),
    AIRFRAME_STATE(7, "vz", "velocity along the vertical axis [ft/s]"),
    MICRO_STEPS(airframe),
};

static const yoke_unit_info airframe_info = {
    .variables = airframe_variables,
    .n_variables = COUNT(airframe_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_LINEAR,
    .self_size = sizeof(airframe),
    .solver = {.method = YOKE_SOLVER_EULER, .parts = COUNT(airframe_variables)},
};

static yoke_status airframe_refresh(void* self, double t) {
  airframe* a = self;
  (void)t;

  // y = C x
  yoke__mat_vec(N_MEASURED, N_AIRFRAME, airframe_C, a->x, a->y);
  return YOKE_OK;
}

static yoke_status airframe_enter_init(void* self, double t_start, double t_stop,
                                       const yoke_sink* sink) {
  (void)t_stop;
  YOKE_TRY(check_micro_steps(((airframe*)self)->micro_steps, sink));
  return airframe_refresh(self, t_start);
}

static yoke_status airframe_step(void* self, double t, double h, yoke_step_result* result) {
  airframe* a = self;
  (void)result;
  const double micro = h / (double)a->micro_steps;
  double forced[N_AIRFRAME], dx[N_AIRFRAME];

  // B u is constant during the call: computed once
  yoke__mat_vec(N_AIRFRAME, N_CONTROLS, airframe_B, a->u, forced);
  for (int64_t j = 0; j < a->micro_steps; j++) {
    yoke__mat_vec(N_AIRFRAME, N_AIRFRAME, airframe_A, a->x, dx);
    // explicit Euler: x := x + h (A x + B u)
    for (size_t i = 0; i < N_AIRFRAME; i++) {
      a->x[i] += micro * (dx[i] + forced[i]);
    }
  }
  return airframe_refresh(self, t);
}

// outputs by the controls (no feedthrough) and by the states
static bool airframe_partial(const void* self, size_t unknown, size_t known, double* partial) {
  const size_t first_y = N_CONTROLS, first_x = N_CONTROLS + N_MEASURED;
  (void)self;
  *partial = 0.0;
  if (unknown < first_y || unknown >= first_x || known >= first_x + N_AIRFRAME ||
      (known >= first_y && known < first_x)) {
    return false;
  }

  // dy/dx = C; dy/du = 0
  if (known >= first_x) {
    *partial = airframe_C[(unknown - first_y) * N_AIRFRAME + known - first_x];
  }
  return true;
}

static yoke_status airframe_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                       const size_t knowns[], size_t n_knowns, const double seed[],
                                       double out[]) {
  return yoke__model_derivative(self, airframe_partial, unknowns, n_unknowns, knowns, n_knowns,
                                seed, out);
}

static yoke_status airframe_linearise(void* self, yoke_linear* model) {
  (void)self;
  model->n_states = N_AIRFRAME;
  model->n_inputs = N_CONTROLS;
  model->n_outputs = N_MEASURED;
  fill(model->A, COUNT(airframe_A), airframe_A);
  fill(model->B, COUNT(airframe_B), airframe_B);
  fill(model->C, COUNT(airframe_C), airframe_C);
  fill(model->D, (size_t)N_MEASURED * N_CONTROLS, NULL);
  return YOKE_OK;
}

static yoke_status airframe_rates(const void* self, size_t states[], double dx[], size_t n_states) {
  const airframe* a = self;
  YOKE_TRY(name_states(N_CONTROLS + N_MEASURED, N_AIRFRAME, states, n_states));
  if (dx != NULL) {
    // x' = A x + B u
    yoke__mat_vec(N_AIRFRAME, N_AIRFRAME, airframe_A, a->x, dx);
    yoke__mat_vec_add(N_AIRFRAME, N_CONTROLS, airframe_B, a->u, dx);
  }
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_helicopter_airframe = {
    .name = "helicopter.airframe",
    .text = "linearised helicopter; receives controls, returns motion",
    .info = &airframe_info,
    .enter_init = airframe_enter_init,
    .step = airframe_step,
    .refresh = airframe_refresh,
    .derivative = airframe_derivative,
    .linearise = airframe_linearise,
    .rates = airframe_rates,
};

// ---- controller

typedef struct controller {
  double u[N_MEASURED], y[N_CONTROLS], x[N_CONTROLLER];
  int64_t micro_steps;
} controller;

#define MODE(i_, name_) ELEMENT(controller, x, (i_)-1, name_, "state of a mode", YOKE_STATE)

static const yoke_variable controller_variables[] = {
    MOTION_ROWS(controller, u, YOKE_INPUT),
    CONTROL_ROWS(controller, y, YOKE_OUTPUT),
    MODE(1, "x1"),
    MODE(2, "x2"),
    MODE(3, "x3"),
    MODE(4, "x4"),
    MODE(5, "x5"),
    MODE(6, "x6"),
    MODE(7, "x7"),
    MODE(8, "x8"),
    MODE(9, "x9"),
    MODE(10, "x10"),
    MODE(11, "x11"),
    MODE(12, "x12"),
    MODE(13, "x13"),
    MODE(14, "x14"),
    MODE(15, "x15"),
    MODE(16, "x16"),
    MODE(17, "x17"),
    MODE(18, "x18"),
    MODE(19, "x19"),
    MODE(20, "x20"),
    MICRO_STEPS(controller),
};

static const yoke_unit_info controller_info = {
    .variables = controller_variables,
    .n_variables = COUNT(controller_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_LINEAR,
    .self_size = sizeof(controller),
    .solver = {.method = YOKE_SOLVER_EULER, .parts = COUNT(controller_variables)},
};

static size_t states_of(const mode* m) {
  return m->omega != 0.0 ? 2 : 1;
}

// What state `part` (0, or 1 of a pair) gives to a control.
static double output_of(const mode* m, size_t part, size_t control) {
  // real mode: y = cr x; pair: y = 2 Re(c (xr + j xi)) = 2 cr xr - 2 ci xi
  if (m->omega == 0.0) {
    return m->cr[control];
  }
  return part == 0 ? 2.0 * m->cr[control] : -2.0 * m->ci[control];
}

static yoke_status controller_refresh(void* self, double t) {
  controller* c = self;
  (void)t;

  // sum over the modes, in their order
  for (size_t i = 0; i < N_CONTROLS; i++) {
    const double* x = c->x;
    c->y[i] = 0.0;
    for (size_t k = 0; k < COUNT(controller_modes); k++) {
      for (size_t part = 0; part < states_of(&controller_modes[k]); part++) {
        c->y[i] += output_of(&controller_modes[k], part, i) * *x++;
      }
    }
  }
  return YOKE_OK;
}

static yoke_status controller_enter_init(void* self, double t_start, double t_stop,
                                         const yoke_sink* sink) {
  (void)t_stop;
  YOKE_TRY(check_micro_steps(((controller*)self)->micro_steps, sink));
  return controller_refresh(self, t_start);
}

// One mode over all internal steps: modes do not see each other, and its input is constant.
static void advance_mode(const mode* m, const double u[], double h, int64_t n_steps, double x[]) {
  // input of the mode: br u + j bi u
  double forced_r = 0.0, forced_i = 0.0;
  for (size_t j = 0; j < N_MEASURED; j++) {
    forced_r += m->br[j] * u[j];
    forced_i += m->bi[j] * u[j];
  }

  // real mode: x' = sigma x + forced
  if (m->omega == 0.0) {
    for (int64_t k = 0; k < n_steps; k++) {
      x[0] += h * (m->sigma * x[0] + forced_r);
    }
    return;
  }

  // pair: (xr + j xi)' = (sigma + j omega)(xr + j xi) + forced, with both old values
  for (int64_t k = 0; k < n_steps; k++) {
    const double xr = x[0], xi = x[1];
    x[0] += h * (m->sigma * xr - m->omega * xi + forced_r);
    x[1] += h * (m->omega * xr + m->sigma * xi + forced_i);
  }
}

static yoke_status controller_step(void* self, double t, double h, yoke_step_result* result) {
  controller* c = self;
  (void)result;
  double* x = c->x;
  for (size_t k = 0; k < COUNT(controller_modes); k++) {
    const mode* m = &controller_modes[k];
    advance_mode(m, c->u, h / (double)c->micro_steps, c->micro_steps, x);
    x += states_of(m);
  }
  return controller_refresh(self, t);
}

// The mode's rows of A and B and columns of C, from state `at` on; each matrix may be NULL.
static void place_mode(const mode* m, size_t at, yoke_linear* model) {
  const size_t n = N_CONTROLLER;
  for (size_t part = 0; part < states_of(m); part++) {
    const double* b = part == 0 ? m->br : m->bi;
    if (model->A != NULL) {
      // block [sigma, -omega; omega, sigma]
      model->A[(at + part) * n + at + part] = m->sigma;
      if (m->omega != 0.0) {
        model->A[(at + part) * n + at + 1 - part] = part == 0 ? -m->omega : m->omega;
      }
    }
    for (size_t j = 0; j < N_MEASURED && model->B != NULL; j++) {
      model->B[(at + part) * N_MEASURED + j] = b[j];
    }
    for (size_t i = 0; i < N_CONTROLS && model->C != NULL; i++) {
      model->C[i * n + at + part] = output_of(m, part, i);
    }
  }
}

static yoke_status controller_linearise(void* self, yoke_linear* model) {
  (void)self;
  model->n_states = N_CONTROLLER;
  model->n_inputs = N_MEASURED;
  model->n_outputs = N_CONTROLS;
  fill(model->A, (size_t)N_CONTROLLER * N_CONTROLLER, NULL);
  fill(model->D, (size_t)N_CONTROLS * N_MEASURED, NULL);
  size_t at = 0;
  for (size_t k = 0; k < COUNT(controller_modes); k++) {
    place_mode(&controller_modes[k], at, model);
    at += states_of(&controller_modes[k]);
  }
  return YOKE_OK;
}

static yoke_status controller_rates(const void* self, size_t states[], double dx[],
                                    size_t n_states) {
  const controller* c = self;
  const double* x = c->x;
  YOKE_TRY(name_states(N_MEASURED + N_CONTROLS, N_CONTROLLER, states, n_states));
  for (size_t k = 0; k < COUNT(controller_modes) && dx != NULL; k++) {
    const mode* m = &controller_modes[k];
    const size_t n = states_of(m);
    // rows of the block, then the input
    dx[0] = m->sigma * x[0] - (n == 2 ? m->omega * x[1] : 0.0);
    if (n == 2) {
      dx[1] = m->omega * x[0] + m->sigma * x[1];
    }
    for (size_t part = 0; part < n; part++) {
      for (size_t j = 0; j < N_MEASURED; j++) {
        dx[part] += (part == 0 ? m->br : m->bi)[j] * c->u[j];
      }
    }
    dx += n;
    x += n;
  }
  return YOKE_OK;
}

// outputs by the deviations (no feedthrough) and by the states
static bool controller_partial(const void* self, size_t unknown, size_t known, double* partial) {
  const size_t first_y = N_MEASURED, first_x = N_MEASURED + N_CONTROLS;
  (void)self;
  *partial = 0.0;
  if (unknown < first_y || unknown >= first_x || known >= first_x + N_CONTROLLER ||
      (known >= first_y && known < first_x)) {
    return false;
  }
  size_t at = first_x;
  for (size_t k = 0; k < COUNT(controller_modes); k++) {
    const mode* m = &controller_modes[k];
    if (known >= at && known < at + states_of(m)) {
      *partial = output_of(m, known - at, unknown - first_y);
    }
    at += states_of(m);
  }
  return true;
}

static yoke_status controller_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                         const size_t knowns[], size_t n_knowns,
                                         const double seed[], double out[]) {
  return yoke__model_derivative(self, controller_partial, unknowns, n_unknowns, knowns, n_knowns,
                                seed, out);
}

const yoke_unit_ops yoke__model_helicopter_controller = {
    .name = "helicopter.controller",
    .text = "H-infinity controller of the helicopter; receives deviations, returns controls",
    .info = &controller_info,
    .enter_init = controller_enter_init,
    .step = controller_step,
    .refresh = controller_refresh,
    .derivative = controller_derivative,
    .linearise = controller_linearise,
    .rates = controller_rates,
};
