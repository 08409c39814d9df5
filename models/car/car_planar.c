// A radio-controlled car in the plane (e-Car): body on two suspensions, driven by a motor in the front wheel.
//
//   x = [x_G, y_G, theta, s_F, s_R];  F_i = k (s_0 - s_i) - c s_i'
//   Q = [tau / r, -m g, tau (1 + (-l/2 sin theta + h cos theta) / r), F_F, F_R]
//   phi_1 = s_F - s_R - l sin theta = 0,  phi_2 = s_R + b sin(theta_F + theta) - y_G = 0
//
//   reduced      three coordinates; s_R = y - b sin(theta_F + theta), s_F = s_R + l sin theta
//   constrained  five: [M J^T; J 0] [x''; lambda] = [Q; -J' x'],  M = diag(m, m, J_z, 0, 0)
//
// l: distance of the wheels, h: G above the line AB, b = |BG|, theta_F its angle. y is measured from the axles. Classical
// Runge-Kutta, `inner_steps` per call. Of the motion x'/r depends on the torque alone, so that the speed at the end of a cycle is
// known ahead: omega has direct feedthrough from tau, as a load of the rig should have (models/rig/rig_inertia.c).
// Source: B. Rodriguez Frade, doctoral thesis, A Coruna 2021, section 6.2.3; what is chosen here: README.md.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "linalg/linalg_dense.h"
#include "models/car/car.h"

#define COUNT(array)    (sizeof(array) / sizeof((array)[0]))
#define MAX_INNER_STEPS 100000

enum { X, Y, THETA, S_F, S_R, N_Q };  // coordinates
enum { N_BORDERED = N_Q + 2 };
enum { REDUCED, CONSTRAINED };

typedef struct motion {
  double q[N_Q], v[N_Q];
} motion;

typedef struct planar {
  double tau, omega;
  double x, v, dy, y, theta, s_F, s_R, violation, E;  // outputs
  double ax, ay, atheta;                              // accelerations at the present point
  motion now;
  double l, h, r, m, g, k, c, s_0, ahead;
  int64_t formulation, inner_steps;
} planar;

static const char* const formulation_items[] = {"reduced", "constrained", NULL};

#define ROW(member_, dim_, text_, type_, causality_, flags_, start_, items_)                       \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = (type_), .causality = (causality_),  \
    .flags = (flags_), .start = (start_), .items = (items_), .offset = offsetof(planar, member_)   \
  }
#define REAL(member_, dim_, text_, causality_, flags_, start_)                                     \
  ROW(member_, dim_, text_, YOKE_REAL, causality_, flags_, start_, NULL)
#define OUTPUT(member_, dim_, text_) REAL(member_, dim_, text_, YOKE_OUTPUT, 0, 0.0)
#define START_OUTPUT(member_, dim_, text_)                                                         \
  REAL(member_, dim_, text_, YOKE_OUTPUT, YOKE_VARIABLE_HAS_START, 0.0)
#define SETTING(member_, dim_, text_, start_) REAL(member_, dim_, text_, YOKE_PARAMETER, 0, start_)

enum { TAU, OMEGA };
static const yoke_feedthrough through[] = {{OMEGA, TAU}};

static const yoke_variable variables[] = {
    REAL(tau, "N.m", "torque of the motor between body and front wheel", YOKE_INPUT, 0, 0.0),
    OUTPUT(omega, "rad/s", "wheel speed `ahead` from now with the present torque"),
    START_OUTPUT(x, "m", "way of the centre of mass"),
    START_OUTPUT(v, "m/s", "its speed"),
    START_OUTPUT(dy, "m", "height above rest"),
    OUTPUT(y, "m", "height above the axles"),
    START_OUTPUT(theta, "rad", "pitch"),
    OUTPUT(s_F, "m", "length of the front suspension"),
    OUTPUT(s_R, "m", "length of the rear suspension"),
    OUTPUT(violation, "m", "larger error of the two constraints"),
    OUTPUT(E, "J", "kinetic, spring and potential energy, above rest"),
    REAL(ax, "m/s2", "x'' with the torque of the last call", YOKE_STATE, YOKE_VARIABLE_READ_ONLY,
         0.0),
    REAL(ay, "m/s2", "y''", YOKE_STATE, YOKE_VARIABLE_READ_ONLY, 0.0),
    REAL(atheta, "rad/s2", "theta''", YOKE_STATE, YOKE_VARIABLE_READ_ONLY, 0.0),
    SETTING(l, "m", "distance of the wheel centres", 0.18),
    SETTING(h, "m", "centre of mass above the line between the suspensions", 0.01),
    SETTING(r, "m", "radius of the wheels", 0.04),
    SETTING(m, "kg", "mass of the body", 2.0),
    SETTING(g, "m/s2", "gravity", 9.81),
    SETTING(k, "N/m", "stiffness of one suspension", 3000.0),
    SETTING(c, "N.s/m", "damping of one suspension", 100.0),
    SETTING(s_0, "m", "its natural length", 0.04),
    SETTING(ahead, "s", "how far ahead omega looks: the cycle of the rig", 1e-3),
    ROW(formulation, NULL, "three coordinates, or five with constraints", YOKE_ENUMERATION,
        YOKE_PARAMETER, 0, REDUCED, formulation_items),
    ROW(inner_steps, "1", "internal steps per call", YOKE_INTEGER, YOKE_PARAMETER, 0, 10.0, NULL),
};

static const yoke_unit_info info = {
    .variables = variables,
    .n_variables = COUNT(variables),
    .feedthrough = through,
    .n_feedthrough = COUNT(through),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(planar),
    .solver = {.method = YOKE_SOLVER_RK4, .parts = COUNT(variables)},
};

// ---- geometry

typedef struct shape {
  double b, theta_F, J_z;
} shape;

static shape shape_of(const planar* s) {
  // the mass as one point at B's distance: J_z = m b^2
  const double b = hypot(0.5 * s->l, s->h);
  return (shape){.b = b, .theta_F = atan2(s->h, 0.5 * s->l), .J_z = s->m * b * b};
}

// Lengths and their rates from body coordinates.
static void suspend(const planar* s, const shape* p, motion* x) {
  const double theta = x->q[THETA], rate = x->v[THETA];

  // phi_2 = 0: s_R = y - b sin(theta_F + theta), and its rate
  x->q[S_R] = x->q[Y] - p->b * sin(p->theta_F + theta);
  x->v[S_R] = x->v[Y] - p->b * cos(p->theta_F + theta) * rate;

  // phi_1 = 0: s_F = s_R + l sin theta, and its rate
  x->q[S_F] = x->q[S_R] + s->l * sin(theta);
  x->v[S_F] = x->v[S_R] + s->l * cos(theta) * rate;
}

static double force(const planar* s, const motion* x, int i) {
  return s->k * (s->s_0 - x->q[i]) - s->c * x->v[i];
}

// Q of the five coordinates.
static void applied_forces(const planar* s, const motion* x, double Q[N_Q]) {
  const double theta = x->q[THETA];

  // traction tau / r along x, weight along y
  Q[X] = s->tau / s->r;
  Q[Y] = -s->m * s->g;

  // reaction of the motor on the body, and the lever of the traction about G
  Q[THETA] = s->tau * (1.0 + (-0.5 * s->l * sin(theta) + s->h * cos(theta)) / s->r);
  Q[S_F] = force(s, x, S_F);
  Q[S_R] = force(s, x, S_R);
}

// ---- accelerations

static void accelerate_reduced(const planar* s, const shape* p, const motion* x, double a[N_Q]) {
  motion whole = *x;
  double Q[N_Q];
  suspend(s, p, &whole);
  applied_forces(s, &whole, Q);
  const double theta = x->q[THETA];

  // ds_R / d theta and ds_F / d theta: levers of the suspension forces
  const double rear = -p->b * cos(p->theta_F + theta), front = rear + s->l * cos(theta);

  // projected on the three coordinates: M a = T^T Q
  a[X] = Q[X] / s->m;
  a[Y] = (Q[Y] + Q[S_F] + Q[S_R]) / s->m;
  a[THETA] = (Q[THETA] + Q[S_F] * front + Q[S_R] * rear) / p->J_z;
  a[S_F] = a[S_R] = 0.0;  // follow from the others
}

// The bordered matrix is regular although M is not.
static void accelerate_constrained(const planar* s, const shape* p, const motion* x,
                                   double a[N_Q]) {
  const double theta = x->q[THETA], square = x->v[THETA] * x->v[THETA];

  // J = d phi / dq
  const double J[2][N_Q] = {
      {0.0, 0.0, -s->l * cos(theta), 1.0, -1.0},
      {0.0, -1.0, p->b * cos(p->theta_F + theta), 0.0, 1.0},
  };
  double A[N_BORDERED * N_BORDERED] = {0}, b[N_BORDERED];
  size_t pivots[N_BORDERED];

  // [M J^T; J 0], M = diag(m, m, J_z, 0, 0)
  A[X * N_BORDERED + X] = A[Y * N_BORDERED + Y] = s->m;
  A[THETA * N_BORDERED + THETA] = p->J_z;
  for (int row = 0; row < 2; row++) {
    for (int i = 0; i < N_Q; i++) {
      A[i * N_BORDERED + N_Q + row] = A[(N_Q + row) * N_BORDERED + i] = J[row][i];
    }
  }
  applied_forces(s, x, b);

  // -J' x': the quadratic velocity terms of both constraints
  b[N_Q] = -s->l * sin(theta) * square;
  b[N_Q + 1] = p->b * sin(p->theta_F + theta) * square;
  if (yoke__solve(N_BORDERED, A, b, pivots) < 0) {
    b[X] = (double)NAN;  // ends the run: the body stands on end
  }
  memcpy(a, b, N_Q * sizeof *a);
}

static void accelerate(const planar* s, const shape* p, const motion* x, double a[N_Q]) {
  if (s->formulation == CONSTRAINED) {
    accelerate_constrained(s, p, x, a);
  } else {
    accelerate_reduced(s, p, x, a);
  }
}

// ---- stepping

// x + h (v, a)
static motion shifted(const motion* x, double h, const double v[N_Q], const double a[N_Q]) {
  motion y = *x;
  for (int i = 0; i < N_Q; i++) {
    y.q[i] += h * v[i];
    y.v[i] += h * a[i];
  }
  return y;
}

static motion runge_kutta(const planar* s, const shape* p, const motion* x, double h) {
  double a[4][N_Q], v[N_Q], mean[N_Q];
  motion at[4] = {*x};

  // slopes at t, t + h/2 (two), t + h
  accelerate(s, p, &at[0], a[0]);
  at[1] = shifted(x, 0.5 * h, at[0].v, a[0]);
  accelerate(s, p, &at[1], a[1]);
  at[2] = shifted(x, 0.5 * h, at[1].v, a[1]);
  accelerate(s, p, &at[2], a[2]);
  at[3] = shifted(x, h, at[2].v, a[2]);
  accelerate(s, p, &at[3], a[3]);

  // q with the velocities of the stages, v with their accelerations, weights 1 2 2 1 over 6
  for (int i = 0; i < N_Q; i++) {
    v[i] = (at[0].v[i] + 2.0 * at[1].v[i] + 2.0 * at[2].v[i] + at[3].v[i]) / 6.0;
    mean[i] = (a[0][i] + 2.0 * a[1][i] + 2.0 * a[2][i] + a[3][i]) / 6.0;
  }
  return shifted(x, h, v, mean);
}

static double energy(const planar* s, const shape* p) {
  const motion* x = &s->now;

  // length of a suspension at rest: each carries m g / 2
  const double rest = s->s_0 - 0.5 * s->m * s->g / s->k;

  // kinetic and potential energy, the latter from the height at rest
  double E = 0.5 * s->m * (x->v[X] * x->v[X] + x->v[Y] * x->v[Y]) +
             0.5 * p->J_z * x->v[THETA] * x->v[THETA] + s->m * s->g * (x->q[Y] - rest - s->h);
  for (int i = S_F; i <= S_R; i++) {
    const double pressed = s->s_0 - x->q[i], at_rest = s->s_0 - rest;
    // spring energy above that at rest
    E += 0.5 * s->k * (pressed * pressed - at_rest * at_rest);
  }
  return E;
}

static yoke_status planar_refresh(void* self, double t) {
  planar* s = self;
  const motion* x = &s->now;
  (void)t;

  // x'' = tau / (m r) whatever the suspensions do: speed after `ahead`, over r
  s->omega = (x->v[X] + s->ahead * s->tau / (s->m * s->r)) / s->r;
  return YOKE_OK;
}

// Outputs of the present point; omega comes from refresh.
static void show(planar* s, const shape* p) {
  if (s->formulation == REDUCED) {
    suspend(s, p, &s->now);
  }
  const motion* x = &s->now;
  const double* q = x->q;
  double a[N_Q];
  accelerate(s, p, x, a);
  s->ax = a[X];
  s->ay = a[Y];
  s->atheta = a[THETA];
  s->x = q[X];
  s->v = x->v[X];
  s->y = q[Y];
  s->dy = q[Y] - (s->s_0 - 0.5 * s->m * s->g / s->k + s->h);
  s->theta = q[THETA];
  s->s_F = q[S_F];
  s->s_R = q[S_R];
  s->violation = fmax(fabs(q[S_F] - q[S_R] - s->l * sin(q[THETA])),
                      fabs(q[S_R] + p->b * sin(p->theta_F + q[THETA]) - q[Y]));
  s->E = energy(s, p);
}

static yoke_status planar_step(void* self, double t, double h, yoke_step_result* result) {
  planar* s = self;
  const shape p = shape_of(s);
  for (int64_t i = 0; i < s->inner_steps; i++) {
    s->now = runge_kutta(s, &p, &s->now, h / (double)s->inner_steps);
  }
  show(s, &p);
  (void)planar_refresh(s, t + h);
  if (!isfinite(s->omega) || !isfinite(s->theta) || !isfinite(s->y)) {
    result->message = "the motion of the car is no longer finite";
    return YOKE_DIVERGED;
  }
  return YOKE_OK;
}

static yoke_status planar_enter_init(void* self, double t_start, double t_stop,
                                     const yoke_sink* sink) {
  planar* s = self;
  (void)t_stop;
  const double positive[] = {s->l, s->h, s->r, s->m, s->g, s->k, s->s_0};
  for (size_t i = 0; i < COUNT(positive); i++) {
    if (!(positive[i] > 0.0 && isfinite(positive[i]))) {
      return yoke_fail(sink, YOKE_BAD_ARG, "%s", "l, h, r, m, g, k and s_0 must be above 0");
    }
  }
  if (!(s->c >= 0.0 && isfinite(s->c) && s->ahead >= 0.0 && isfinite(s->ahead))) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", "c and ahead must be finite and not negative");
  }
  if (s->inner_steps < 1 || s->inner_steps > MAX_INNER_STEPS) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", "inner_steps must be between 1 and 100000");
  }
  const shape p = shape_of(s);
  s->now = (motion){0};
  s->now.q[X] = s->x;
  s->now.v[X] = s->v;

  // height at rest plus the start offset
  s->now.q[Y] = s->s_0 - 0.5 * s->m * s->g / s->k + s->h + s->dy;
  s->now.q[THETA] = s->theta;
  suspend(s, &p, &s->now);
  show(s, &p);
  return planar_refresh(s, t_start);
}

const yoke_unit_ops yoke__model_car_planar = {
    .name = "car.planar",
    .text = "a small car in the plane for the test rig to imitate; receives torque, returns speed",
    .info = &info,
    .enter_init = planar_enter_init,
    .step = planar_step,
    .refresh = planar_refresh,
};
