// Two inertias tied to ground by springs and dampers and to each other by a shaft, exchanging
// torque and speed.
//   shaft: phi' = omega,  phi_other' = u (the speed received, integrated on its own side)
//          J omega' = -(c + ck) phi - (d + dk) omega + ck phi_other + dk u
//          tau = ck phi + dk omega - ck phi_other - dk u
//   load:  phi' = omega,  J omega' = -c phi - d omega + u (the torque received)
// Both are written as z' = A z with z = (phi, omega, phi_other, u) and u' = 0, so that the solver
// `exact` is one product with exp(A h). Source: benchmark of the total energy residual (power-bond)
// literature (see README.md). Assumes inputs that are constant during one call of step.
#include "models/rotor/rotor.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg_dense.h"
#include "ode/ode.h"

// z = (phi, omega, phi_other, u); the first N_STATES are states
enum { PHI, OMEGA, PHI_OTHER, INPUT, N_Z, N_STATES = 3 };
enum { SOLVER_EXACT, SOLVER_EULER, SOLVER_RK4, SOLVER_TRAPEZOIDAL, N_SOLVERS };
enum { N_WORK = 192, MAX_MICRO_STEPS = 1000000 };

static const char* const solver_items[] = {"exact", "euler", "rk4", "trapezoidal", NULL};
#define SOLVERS                                                                                    \
  { YOKE_SOLVER_EXACT, YOKE_SOLVER_EULER, YOKE_SOLVER_RK4, YOKE_SOLVER_TRAPEZOIDAL }
static const yoke_ode_method solver_methods[N_SOLVERS] = {
    [SOLVER_EULER] = YOKE_ODE_EULER,
    [SOLVER_RK4] = YOKE_ODE_RK4,
    [SOLVER_TRAPEZOIDAL] = YOKE_ODE_TRAPEZOIDAL,
};

// Both units use this struct; each has its own table of the variables that it shows.
typedef struct rotor {
  double z[N_Z];
  double tau, E;
  double J, c, d, ck, dk;
  double A[N_Z * N_Z];           // from the parameters, in enter_init
  double transition[N_Z * N_Z];  // exp(A h_transition)
  double h_transition;           // 0: not computed yet
  int64_t solver, micro_steps;
} rotor;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REAL(name_, member_, dim_, text_, causality_, start_)                                      \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .text = (text_), .type = YOKE_REAL, .causality = (causality_), \
    .start = (start_), .offset = offsetof(rotor, member_)                                          \
  }
// a state that is also an output: it has a start value
#define STATE_OUTPUT(name_, member_, dim_, text_, start_)                                          \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .text = (text_), .type = YOKE_REAL, .causality = YOKE_OUTPUT,  \
    .flags = YOKE_VARIABLE_HAS_START, .start = (start_), .offset = offsetof(rotor, member_)        \
  }
#define WHOLE(name_, member_, text_, type_, start_, items_)                                        \
  {                                                                                                \
    .name = (name_), .dim = "1", .text = (text_), .type = (type_), .causality = YOKE_PARAMETER,    \
    .start = (start_), .items = (items_), .offset = offsetof(rotor, member_)                       \
  }
#define MOTION_ROWS                                                                                \
  STATE_OUTPUT("omega", z[OMEGA], "rad/s", "speed", 0.0),                                          \
      STATE_OUTPUT("phi", z[PHI], "rad", "angle", 0.0),                                            \
      REAL("E", E, "J", "energy of the inertia and its ground spring", YOKE_OUTPUT, 0.0)
#define SOLVER_ROWS                                                                                \
  WHOLE("solver", solver, "integrator", YOKE_ENUMERATION, SOLVER_EXACT, solver_items),             \
      WHOLE("micro_steps", micro_steps, "internal steps per call", YOKE_INTEGER, 1, NULL)

static const yoke_variable shaft_variables[] = {
    REAL("omega_other", z[INPUT], "rad/s", "speed of the other side", YOKE_INPUT, 0.0),
    REAL("tau", tau, "N.m", "torque of the shaft on the other side", YOKE_OUTPUT, 0.0),
    MOTION_ROWS,
    REAL("phi_other", z[PHI_OTHER], "rad", "integral of omega_other", YOKE_STATE, 0.0),
    REAL("J", J, "kg.m2", "inertia", YOKE_PARAMETER, 10.0),
    REAL("c", c, "N.m/rad", "stiffness to ground", YOKE_PARAMETER, 1.0),
    REAL("d", d, "N.m.s/rad", "damping to ground", YOKE_PARAMETER, 1.0),
    REAL("ck", ck, "N.m/rad", "stiffness of the shaft", YOKE_PARAMETER, 1.0),
    REAL("dk", dk, "N.m.s/rad", "damping of the shaft", YOKE_PARAMETER, 2.0),
    SOLVER_ROWS,
};

static const yoke_variable load_variables[] = {
    {.name = "tau",
     .dim = "N.m",
     .text = "torque received",
     .type = YOKE_REAL,
     .causality = YOKE_INPUT,
     .offset = offsetof(rotor, z[INPUT])},
    MOTION_ROWS,
    REAL("J", J, "kg.m2", "inertia", YOKE_PARAMETER, 10.0),
    REAL("c", c, "N.m/rad", "stiffness to ground", YOKE_PARAMETER, 1.0),
    REAL("d", d, "N.m.s/rad", "damping to ground", YOKE_PARAMETER, 2.0),
    SOLVER_ROWS,
};

// tau (1) depends on omega_other (0)
static const yoke_feedthrough shaft_feedthrough[] = {{1, 0}};

static const yoke_unit_info shaft_info = {
    .variables = shaft_variables,
    .n_variables = COUNT(shaft_variables),
    .feedthrough = shaft_feedthrough,
    .n_feedthrough = COUNT(shaft_feedthrough),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS | YOKE_UNIT_LINEAR,
    .self_size = sizeof(rotor),
    .solver = {.choice = COUNT(shaft_variables) - 1,
               .parts = COUNT(shaft_variables),
               .methods = SOLVERS},
};
static const yoke_unit_info load_info = {
    .variables = load_variables,
    .n_variables = COUNT(load_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS | YOKE_UNIT_LINEAR,
    .self_size = sizeof(rotor),
    .solver = {.choice = COUNT(load_variables) - 1,
               .parts = COUNT(load_variables),
               .methods = SOLVERS},
};

// E := exp(A h) by scaling, Taylor series and squaring. Takes no memory, unlike yoke__expm: it runs
// inside step. With the norm halved to at most 1/2, twenty terms leave (1/2)^21 / 21! < 1e-26.
static void exponential(const double A[N_Z * N_Z], double h, double E[N_Z * N_Z]) {
  enum { N = N_Z * N_Z, N_TERMS = 20, MAX_SQUARINGS = 60 };
  double norm = 0.0;

  // bound of the infinity norm: N_Z times the largest element
  for (int i = 0; i < N; i++) {
    norm = fmax(norm, fabs(A[i] * h) * N_Z);
  }

  // E(h) = E(h / 2^n)^(2^n)
  int n_squarings = 0;
  double scale = h;
  for (; norm > 0.5 && n_squarings < MAX_SQUARINGS; n_squarings++) {
    norm *= 0.5;
    scale *= 0.5;
  }

  // Horner: E = I + X (I + X/2 (I + X/3 (...)))
  double X[N];
  double product[N];
  for (int i = 0; i < N; i++) {
    X[i] = A[i] * scale;
    E[i] = i % (N_Z + 1) == 0 ? 1.0 : 0.0;
  }
  for (int k = N_TERMS; k >= 1; k--) {
    yoke__mat_mul(N_Z, N_Z, N_Z, X, E, product);
    for (int i = 0; i < N; i++) {
      E[i] = product[i] / k + (i % (N_Z + 1) == 0 ? 1.0 : 0.0);
    }
  }

  // n squarings undo the scaling
  for (; n_squarings > 0; n_squarings--) {
    yoke__mat_mul(N_Z, N_Z, N_Z, E, E, product);
    memcpy(E, product, sizeof product);
  }
}

// x' = A (x, u) (yoke_ode_rhs).
static void state_rates(void* self, double t, const double x[], double dx[]) {
  const rotor* r = self;
  (void)t;
  for (size_t i = 0; i < N_STATES; i++) {
    const double* row = &r->A[i * N_Z];
    dx[i] = row[PHI] * x[PHI] + row[OMEGA] * x[OMEGA] + row[PHI_OTHER] * x[PHI_OTHER] +
            row[INPUT] * r->z[INPUT];
  }
}

// One internal step of length h.
static yoke_status micro_step(rotor* r, double t, double h) {
  // z(t + h) = exp(A h) z(t): the input is a component of z with rate 0
  if (r->solver == SOLVER_EXACT) {
    if (h != r->h_transition) {
      exponential(r->A, h, r->transition);
      r->h_transition = h;
    }
    double z[N_Z];
    yoke__mat_vec(N_Z, N_Z, r->transition, r->z, z);
    memcpy(r->z, z, N_STATES * sizeof z[0]);
    return YOKE_OK;
  }
  double work[N_WORK];
  yoke_ode_corrector corrector = {0};
  return yoke__ode_step(solver_methods[r->solver], state_rates, r, t, h, N_STATES, r->z, work,
                        &corrector);
}

static void update_energy(rotor* r) {
  // 1/2 J omega^2 + 1/2 c phi^2; the shaft's energy belongs to neither side
  r->E = 0.5 * r->J * r->z[OMEGA] * r->z[OMEGA] + 0.5 * r->c * r->z[PHI] * r->z[PHI];
}

// Steps of h / micro_steps with held inputs; says so when the motion is lost.
static yoke_status advance(rotor* r, double t, double h, yoke_step_result* result) {
  // t + i h_micro, not a sum: no drift
  const double h_micro = h / (double)r->micro_steps;
  yoke_status status = YOKE_OK;
  for (int64_t i = 0; i < r->micro_steps && status >= 0; i++) {
    status = micro_step(r, t + (double)i * h_micro, h_micro);
  }
  update_energy(r);
  if (!isfinite(r->E) || !isfinite(r->z[PHI]) || !isfinite(r->z[OMEGA])) {
    result->message = "the motion of the inertia is no longer finite";
    return YOKE_DIVERGED;
  }
  if (status < 0) {
    result->message = "the integrator failed";
  }
  return status;
}

// Refuses parameters that make no rotor.
static yoke_status check_parameters(const rotor* r, const yoke_sink* sink) {
  const char* reason = NULL;
  if (!(r->J > 0.0 && isfinite(r->J))) {
    reason = "J must be above 0";
  } else if (!isfinite(r->c) || !isfinite(r->d) || !isfinite(r->ck) || !isfinite(r->dk)) {
    reason = "c, d, ck and dk must be finite";
  } else if (r->micro_steps < 1 || r->micro_steps > MAX_MICRO_STEPS) {
    reason = "micro_steps must be between 1 and 1000000";
  } else if (r->solver < 0 || r->solver >= N_SOLVERS) {
    reason = "unknown solver";
  } else if (yoke__ode_work_size(solver_methods[r->solver], N_STATES) > N_WORK) {
    reason = "the solver needs more work space than this model has";
  }
  if (reason != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", reason);
  }
  return YOKE_OK;
}

static yoke_status shaft_refresh(void* self, double t) {
  rotor* r = self;
  (void)t;

  // tau = ck phi + dk omega - ck phi_other - dk u
  r->tau = r->ck * r->z[PHI] + r->dk * r->z[OMEGA] - r->ck * r->z[PHI_OTHER] - r->dk * r->z[INPUT];
  update_energy(r);
  return YOKE_OK;
}

static yoke_status shaft_enter_init(void* self, double t_start, double t_stop,
                                    const yoke_sink* sink) {
  rotor* r = self;
  (void)t_stop;
  YOKE_TRY(check_parameters(r, sink));
  memset(r->A, 0, sizeof r->A);

  // rows of phi', omega', phi_other'; u' = 0 stays
  r->A[PHI * N_Z + OMEGA] = 1.0;
  r->A[OMEGA * N_Z + PHI] = -(r->c + r->ck) / r->J;
  r->A[OMEGA * N_Z + OMEGA] = -(r->d + r->dk) / r->J;
  r->A[OMEGA * N_Z + PHI_OTHER] = r->ck / r->J;
  r->A[OMEGA * N_Z + INPUT] = r->dk / r->J;
  r->A[PHI_OTHER * N_Z + INPUT] = 1.0;
  r->h_transition = 0.0;
  return shaft_refresh(r, t_start);
}

// The torque returned belongs to the new motion and to the speed that was held: direct feedthrough.
static yoke_status shaft_step(void* self, double t, double h, yoke_step_result* result) {
  YOKE_TRY(advance(self, t, h, result));
  return shaft_refresh(self, t + h);
}

static yoke_status load_refresh(void* self, double t) {
  (void)t;
  update_energy(self);
  return YOKE_OK;
}

static yoke_status load_enter_init(void* self, double t_start, double t_stop,
                                   const yoke_sink* sink) {
  rotor* r = self;
  (void)t_stop;
  YOKE_TRY(check_parameters(r, sink));
  memset(r->A, 0, sizeof r->A);

  // rows of phi' and omega'
  r->A[PHI * N_Z + OMEGA] = 1.0;
  r->A[OMEGA * N_Z + PHI] = -r->c / r->J;
  r->A[OMEGA * N_Z + OMEGA] = -r->d / r->J;
  r->A[OMEGA * N_Z + INPUT] = 1.0 / r->J;
  r->h_transition = 0.0;
  return load_refresh(r, t_start);
}

static yoke_status load_step(void* self, double t, double h, yoke_step_result* result) {
  return advance(self, t, h, result);
}

// d(output at offset `of`) / d(z at offset `by`).
static double output_slope(const rotor* r, size_t of, size_t by) {
  const size_t column = by / sizeof(double);  // z opens the struct
  if (of == by) {
    return 1.0;
  }
  if (of == offsetof(rotor, tau)) {
    // d tau / dz
    const double row[N_Z] = {r->ck, r->dk, -r->ck, -r->dk};
    return row[column];
  }
  if (of == offsetof(rotor, E)) {
    // d E / d phi = c phi, d E / d omega = J omega
    return column == PHI ? r->c * r->z[PHI] : column == OMEGA ? r->J * r->z[OMEGA] : 0.0;
  }
  return 0.0;
}

// Directional derivative of outputs by inputs and states; YOKE_BAD_ARG for other variables.
static yoke_status derivative(const rotor* r, const yoke_unit_info* info, const size_t unknowns[],
                              size_t n_unknowns, const size_t knowns[], size_t n_knowns,
                              const double seed[], double out[]) {
  for (size_t i = 0; i < n_unknowns; i++) {
    if (unknowns[i] >= info->n_variables || info->variables[unknowns[i]].causality != YOKE_OUTPUT) {
      return YOKE_BAD_ARG;
    }
    out[i] = 0.0;
    for (size_t j = 0; j < n_knowns; j++) {
      if (knowns[j] >= info->n_variables ||
          info->variables[knowns[j]].offset >= N_Z * sizeof(double)) {
        return YOKE_BAD_ARG;
      }
      out[i] +=
          output_slope(r, info->variables[unknowns[i]].offset, info->variables[knowns[j]].offset) *
          seed[j];
    }
  }
  return YOKE_OK;
}

// Linear model with the first n_x of phi, omega, phi_other as states and one input.
static yoke_status linearise(const rotor* r, const yoke_unit_info* info, size_t n_x,
                             yoke_linear* model) {
  size_t n_y = 0;
  for (size_t i = 0; i < info->n_variables; i++) {
    if (info->variables[i].causality != YOKE_OUTPUT) {
      continue;
    }
    // C and D from the slopes by states and by the input
    const size_t of = info->variables[i].offset;
    for (size_t j = 0; j < n_x && model->C != NULL; j++) {
      model->C[n_y * n_x + j] = output_slope(r, of, j * sizeof(double));
    }
    if (model->D != NULL) {
      model->D[n_y] = output_slope(r, of, INPUT * sizeof(double));
    }
    n_y++;
  }

  // A and B are parts of the matrix of z
  for (size_t i = 0; i < n_x; i++) {
    for (size_t j = 0; j < n_x && model->A != NULL; j++) {
      model->A[i * n_x + j] = r->A[i * N_Z + j];
    }
    if (model->B != NULL) {
      model->B[i] = r->A[i * N_Z + INPUT];
    }
  }
  model->n_states = n_x;
  model->n_inputs = 1;
  model->n_outputs = n_y;
  return YOKE_OK;
}

// The first n_x of phi, omega, phi_other as variables, and their rows of z' = A z.
static yoke_status rates(const rotor* r, const yoke_unit_info* info, size_t n_x, size_t states[],
                         double dx[], size_t n_states) {
  if (n_states != n_x) {
    return YOKE_BAD_ARG;
  }
  for (size_t i = 0; states != NULL && i < info->n_variables; i++) {
    const size_t row = info->variables[i].offset / sizeof(double);  // z opens the struct
    if (row < n_x) {
      states[row] = i;
    }
  }
  if (dx != NULL) {
    yoke__mat_vec(n_x, N_Z, r->A, r->z, dx);
  }
  return YOKE_OK;
}

static yoke_status shaft_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                    const size_t knowns[], size_t n_knowns, const double seed[],
                                    double out[]) {
  return derivative(self, &shaft_info, unknowns, n_unknowns, knowns, n_knowns, seed, out);
}

static yoke_status load_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                   const size_t knowns[], size_t n_knowns, const double seed[],
                                   double out[]) {
  return derivative(self, &load_info, unknowns, n_unknowns, knowns, n_knowns, seed, out);
}

static yoke_status shaft_linearise(void* self, yoke_linear* model) {
  return linearise(self, &shaft_info, N_STATES, model);
}

static yoke_status load_linearise(void* self, yoke_linear* model) {
  return linearise(self, &load_info, 2, model);
}

static yoke_status shaft_rates(const void* self, size_t states[], double dx[], size_t n_states) {
  return rates(self, &shaft_info, N_STATES, states, dx, n_states);
}

static yoke_status load_rates(const void* self, size_t states[], double dx[], size_t n_states) {
  return rates(self, &load_info, 2, states, dx, n_states);
}

const yoke_unit_ops yoke__model_rotor_shaft = {
    .name = "rotor.shaft",
    .text = "inertia with the coupling shaft; receives speed, returns torque",
    .info = &shaft_info,
    .enter_init = shaft_enter_init,
    .step = shaft_step,
    .refresh = shaft_refresh,
    .derivative = shaft_derivative,
    .linearise = shaft_linearise,
    .rates = shaft_rates,
};

const yoke_unit_ops yoke__model_rotor_load = {
    .name = "rotor.load",
    .text = "inertia; receives torque, returns speed",
    .info = &load_info,
    .enter_init = load_enter_init,
    .step = load_step,
    .refresh = load_refresh,
    .derivative = load_derivative,
    .linearise = load_linearise,
    .rates = load_rates,
};
