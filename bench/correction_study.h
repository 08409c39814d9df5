// Problems for the study of the energy correction, each run through the master and held against a reference of the
// undivided system: random two-mass oscillators, pendula and manoeuvres of the hydraulic crane. Used by
// bench/bench_correction.c (prints tables) and by the slow test of the correction (asserts limits).
//
// References: oscillators by the matrix exponential of the 4 x 4 system; pendula and crane by Runge-Kutta of order 4 with
// steps of at most 0.25 and 0.05 ms (the stiffest eigenvalue of the crane is -4653 1/s). Equations: models/*/README.md.
// Errors are measured at exchange points and made relative so that problems can be compared:
//   motion   rms of (x - x_ref) over rms of (x_ref - its mean); x: right mass, x of tip 2, piston
//   energy   |E - E_ref| at the end over the energy at stake: of the start (oscillators), largest kinetic energy
//            (pendula), range of the mechanical energy (crane)
#ifndef YOKE_BENCH_CORRECTION_STUDY_H
#define YOKE_BENCH_CORRECTION_STUDY_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "linalg/linalg_dense.h"
#include "master/master.h"
#include "models/models_random.h"

typedef enum study_kind { STUDY_OSCILLATOR, STUDY_PENDULA, STUDY_CRANE } study_kind;

typedef struct study_problem {
  study_kind kind;
  double m[2], k[3], c[3];  // oscillator: masses, springs and dampers left, between, right
  double start[4];          // oscillator x1, v1, x2, v2; pendula theta1, omega1, theta2, omega2
  const char* manoeuvre;    // crane: m1, m2, m5
  double amplitude, frequency, offset;
  int64_t macro_ns;     // H
  int64_t steps_ns[2];  // of the unit that gives the action and of the one that gives the rate
  int order;            // extrapolation
  double stop;          // [s]
} study_problem;

typedef struct study_reference {
  int64_t n;                  // macro steps; arrays hold n + 1
  double *position, *energy;  // of the undivided system
  double spread, stake,
      size;  // rms of the position about its mean, energy at stake, largest |position|
} study_reference;

typedef struct study_outcome {
  bool is_diverged;  // failed, or ended further away than ten times the size of the motion
  double motion, energy;
  double max_error;          // of the position [m]
  double energy_signed;      // E - E_ref at the end over the energy at stake
  double health[16];         // of the method, if it has any
  yoke_ledger_result books;  // of the bond
} study_outcome;

// ---------------------------------------------------------------------------------------------------------
// problems

static inline double study_log_uniform(int64_t seed, uint64_t stream, uint64_t k, double low,
                                       double high) {
  return low * pow(high / low, yoke__random_uniform(seed, stream, k));
}

// largest natural frequency [rad/s], dampers left out
static inline double study_omega(const study_problem* p) {
  const double a = (p->k[0] + p->k[1]) / p->m[0], b = (p->k[1] + p->k[2]) / p->m[1];
  const double d = p->k[1] * p->k[1] / (p->m[0] * p->m[1]);
  return sqrt(0.5 * (a + b) + sqrt(0.25 * (a - b) * (a - b) + d));
}

// Number i of a family of oscillators: m 0.1 .. 10 kg, k 10 .. 1000 N/m, H = share / omega, one rate. 5 s.
static inline study_problem study_random_oscillator(int64_t seed, int i, double share) {
  study_problem p = {.kind = STUDY_OSCILLATOR, .start = {0, 100, 0, -100}, .stop = 5};
  for (uint64_t j = 0; j < 3; j++) {
    p.k[j] = study_log_uniform(seed, j, (uint64_t)i, 10, 1000);
  }
  for (uint64_t j = 0; j < 2; j++) {
    p.m[j] = study_log_uniform(seed, 3 + j, (uint64_t)i, 0.1, 10);
  }
  // a multiple of 10 ns, so that a tenth of it is a whole number too
  p.macro_ns = 10 * llround(share / study_omega(&p) * 1e8);
  p.steps_ns[0] = p.steps_ns[1] = p.macro_ns;
  return p;
}

// The same with dampers of 0.1 to 3 % of the critical ones.
static inline study_problem study_damped_oscillator(int64_t seed, int i, double share) {
  study_problem p = study_random_oscillator(seed, i, share);
  for (uint64_t j = 0; j < 3; j++) {
    const double m = j == 0 ? p.m[0] : j == 2 ? p.m[1] : fmin(p.m[0], p.m[1]);
    const double zeta = study_log_uniform(seed, 5 + j, (uint64_t)i, 1e-3, 3e-2);
    p.c[j] = 2 * zeta * sqrt(p.k[j] * m);
  }
  return p;
}

// The same without dampers, one of the units 2, 5 or 10 times faster, held or linearly extrapolated.
static inline study_problem study_multirate_oscillator(int64_t seed, int i, double share) {
  static const int64_t ratios[] = {2, 5, 10};
  study_problem p = study_random_oscillator(seed, i, share);
  const double draw = yoke__random_uniform(seed, 8, (uint64_t)i);
  const int choice = (int)(draw * 12);
  p.steps_ns[choice / 6] = p.macro_ns / ratios[choice % 3];
  p.order = choice / 3 % 2;
  return p;
}

static inline study_problem study_pendula(double theta1, double theta2, double H) {
  study_problem p = {.kind = STUDY_PENDULA, .start = {theta1, 0, theta2, 0}, .stop = 10};
  p.macro_ns = p.steps_ns[0] = p.steps_ns[1] = llround(H * 1e9);
  return p;
}

// H and step of the oil in seconds
static inline study_problem study_crane(const char* manoeuvre, double frequency, double amplitude,
                                        double offset, double H, double h, int order) {
  study_problem p = {.kind = STUDY_CRANE, .manoeuvre = manoeuvre, .order = order, .stop = 10};
  p.frequency = frequency;
  p.amplitude = amplitude;
  p.offset = offset;
  p.macro_ns = p.steps_ns[1] = llround(H * 1e9);
  p.steps_ns[0] = llround(h * 1e9);
  return p;
}

// ---------------------------------------------------------------------------------------------------------
// references

static const double study_pi = 3.14159265358979323846;

static inline void study_pendula_rhs(const double x[], double dx[]) {
  const double ex = 7 + 3.5 * sin(x[2]) - 2.5 * sin(x[0]);  // from tip 1 to tip 2
  const double ey = 2.5 * cos(x[0]) - 3.5 * cos(x[2]);
  dx[0] = x[1];
  dx[1] = (6 * (ex * cos(x[0]) + ey * sin(x[0])) - 9.81 * sin(x[0])) / 2.5;
  dx[2] = x[3];
  dx[3] = (-6 * (ex * cos(x[2]) + ey * sin(x[2])) - 2 * 9.81 * sin(x[2])) / 7;
}

static inline double study_ramp(double t, double t0, double duration) {
  return fmin(fmax((t - t0) / duration, 0), 1);
}

#define STUDY_LOAD                                                                                 \
  (8829 / (65e-4 * 7.5e6))  // force of the cylinder at rest over what the pump can do

static inline double study_opening(const study_problem* p, double t) {
  const double low = sqrt(1 - STUDY_LOAD), high = sqrt(1 + STUDY_LOAD);
  const double rest = low / (low + high);
  if (strcmp(p->manoeuvre, "m1") == 0) {
    return rest + p->offset * (3 * study_ramp(t, 6, 2e-3) - study_ramp(t, 2, 1e-3));
  }
  if (strcmp(p->manoeuvre, "m5") == 0) {
    return rest + p->offset * (study_ramp(t, 1, 0.2) - study_ramp(t, 4, 0.2) -
                               study_ramp(t, 5, 0.2) + study_ramp(t, 8, 0.2));
  }
  const double envelope = fmin(study_ramp(t, 0, 1), 1 - study_ramp(t, 8, 1));
  return rest * (1 - p->amplitude * envelope * sin(2 * study_pi * p->frequency * t));
}

static inline double study_flow(double kappa, double pressure) {
  const double in = 7.6e6 - pressure, out = pressure - 0.1e6;
  return 5e-4 * 0.67 *
         (kappa * sqrt(fmax(2 * in / 850, 0)) - (1 - kappa) * sqrt(fmax(2 * out / 850, 0)));
}

// rise of a pressure with the flow into a chamber of that length
static inline double study_rise(double pressure, double length, double flow) {
  const double modulus = (1 + 6.53e-10 * pressure - 1.19e-18 * pressure * pressure) /
                         (6.53e-10 - 2 * 1.19e-18 * pressure);
  return modulus / (65e-4 * length) * flow;
}

// length and speed of the cylinder, and its lever ds/dtheta1
static inline double study_piston(const double x[], double* v, double* lever) {
  const double s = sqrt(1 - sqrt(3) / 2 * cos(x[0]));
  *lever = sqrt(3) * sin(x[0]) / (4 * s);
  *v = *lever * x[2];
  return s;
}

// x: theta1, theta2, their rates, p1, p2 [Pa]
static inline void study_crane_rhs(const study_problem* p, double t, const double x[],
                                   double dx[]) {
  double v, lever;
  const double s = study_piston(x, &v, &lever);
  const double f = 65e-4 * (x[5] - x[4]) - 1e5 * v;
  const double M11 = 200.0 / 3 + 350, M12 = 50 * cos(x[0] - x[1]), M22 = 25;
  const double swing = 50 * sin(x[0] - x[1]);
  const double r1 = lever * f - 9.81 * 450 * cos(x[0]) - swing * x[3] * x[3];
  const double r2 = swing * x[2] * x[2] - 9.81 * 50 * cos(x[1]);
  const double det = M11 * M22 - M12 * M12, kappa = study_opening(p, t);
  dx[0] = x[2];
  dx[1] = x[3];
  dx[2] = (M22 * r1 - M12 * r2) / det;
  dx[3] = (M11 * r2 - M12 * r1) / det;
  dx[4] = study_rise(x[4], 0.721 - s, 65e-4 * v + study_flow(kappa, x[4]));
  dx[5] = study_rise(x[5], s - 0.279, -65e-4 * v + study_flow(1 - kappa, x[5]));
}

static inline void study_rhs(const study_problem* p, double t, const double x[], double dx[]) {
  if (p->kind == STUDY_PENDULA) {
    study_pendula_rhs(x, dx);
  } else {
    study_crane_rhs(p, t, x, dx);
  }
}

static inline void study_runge_kutta(const study_problem* p, double t, double h, size_t n,
                                     double x[]) {
  static const double part[4] = {0, 0.5, 0.5, 1};
  double k[4][6], z[6];
  for (int s = 0; s < 4; s++) {
    for (size_t i = 0; i < n; i++) {
      z[i] = x[i] + (s > 0 ? h * part[s] * k[s - 1][i] : 0);
    }
    study_rhs(p, t + part[s] * h, z, k[s]);
  }
  for (size_t i = 0; i < n; i++) {
    x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

// x := the state one macro step after step number i. transition: 4 x 4, oscillators only.
static inline void study_advance(const study_problem* p, const double transition[], int64_t i,
                                 double x[]) {
  const double H = 1e-9 * (double)p->macro_ns;
  if (p->kind == STUDY_OSCILLATOR) {
    double old[4];
    memcpy(old, x, sizeof old);
    yoke__mat_vec(4, 4, transition, old, x);
    return;
  }
  const int n = (int)ceil(H / (p->kind == STUDY_CRANE ? 0.05e-3 : 0.25e-3) * (1 - 1e-9));
  for (int j = 0; j < n; j++) {
    const double t = 1e-9 * (double)p->macro_ns * ((double)i + (double)j / n);
    study_runge_kutta(p, t, H / n, p->kind == STUDY_CRANE ? 6 : 4, x);
  }
}

// Position that is compared, mechanical energy, and its kinetic part.
static inline double study_look(const study_problem* p, const double x[], double* energy,
                                double* kinetic) {
  double v, lever;
  if (p->kind == STUDY_OSCILLATOR) {
    const double e = x[0] - x[2];
    *kinetic = 0.5 * (p->m[0] * x[1] * x[1] + p->m[1] * x[3] * x[3]);
    *energy = *kinetic + 0.5 * (p->k[0] * x[0] * x[0] + p->k[1] * e * e + p->k[2] * x[2] * x[2]);
    return x[2];
  }
  if (p->kind == STUDY_PENDULA) {
    const double ex = 7 + 3.5 * sin(x[2]) - 2.5 * sin(x[0]);
    const double ey = 2.5 * cos(x[0]) - 3.5 * cos(x[2]);
    *kinetic = 0.5 * 6.25 * x[1] * x[1] + 12.25 * x[3] * x[3];
    *energy = *kinetic - 9.81 * (2.5 * cos(x[0]) + 7 * cos(x[2])) + 3 * (ex * ex + ey * ey);
    return 7 + 3.5 * sin(x[2]);
  }
  *kinetic = 0.5 * (200.0 / 3 + 350) * x[2] * x[2] + 12.5 * x[3] * x[3] +
             50 * cos(x[0] - x[1]) * x[2] * x[3];
  *energy = *kinetic + 9.81 * (450 * sin(x[0]) + 50 * sin(x[1]));
  return study_piston(x, &v, &lever);
}

static inline void study_transition(const study_problem* p, double transition[16]) {
  const double h = 1e-9 * (double)p->macro_ns;
  const double *k = p->k, *c = p->c, *m = p->m;
  // clang-format off
  const double theta[16] = {
      0, h, 0, 0,
      -h * (k[0] + k[1]) / m[0], -h * (c[0] + c[1]) / m[0], h * k[1] / m[0], h * c[1] / m[0],
      0, 0, 0, h,
      h * k[1] / m[1], h * c[1] / m[1], -h * (k[1] + k[2]) / m[1], -h * (c[1] + c[2]) / m[1]};
  // clang-format on
  if (yoke__expm(4, theta, transition) < 0) {
    exit(1);
  }
}

static inline void study_first_state(const study_problem* p, double x[6]) {
  if (p->kind != STUDY_CRANE) {
    memcpy(x, p->start, sizeof p->start);
    return;
  }
  x[0] = study_pi / 6;
  x[1] = -study_pi / 2;
  x[2] = x[3] = 0;
  x[4] = 0.1e6 + 0.5 * (1 - STUDY_LOAD) * 7.5e6;
  x[5] = 0.1e6 + 0.5 * (1 + STUDY_LOAD) * 7.5e6;
}

// The undivided system at all exchange points; free it.
static inline study_reference study_solve(const study_problem* p) {
  study_reference r = {.n = (int64_t)floor(p->stop * 1e9 / (double)p->macro_ns * (1 + 1e-12))};
  r.position = calloc((size_t)(r.n + 1) * 2, sizeof *r.position);
  if (r.position == NULL) {
    exit(1);
  }
  r.energy = r.position + r.n + 1;
  double x[6] = {0}, transition[16], kinetic = 0, sum = 0, squares = 0;
  double least = HUGE_VAL, most = -HUGE_VAL, fastest = 0;
  if (p->kind == STUDY_OSCILLATOR) {
    study_transition(p, transition);
  }
  study_first_state(p, x);
  for (int64_t i = 0; i <= r.n; i++) {
    r.position[i] = study_look(p, x, &r.energy[i], &kinetic);
    sum += r.position[i];
    squares += r.position[i] * r.position[i];
    least = fmin(least, r.energy[i]);
    most = fmax(most, r.energy[i]);
    fastest = fmax(fastest, kinetic);
    r.size = fmax(r.size, fabs(r.position[i]));
    study_advance(p, transition, i, x);
  }
  const double mean = sum / (double)(r.n + 1);
  r.spread = sqrt(fmax(squares / (double)(r.n + 1) - mean * mean, 0));
  r.stake = p->kind == STUDY_OSCILLATOR ? r.energy[0]
            : p->kind == STUDY_PENDULA  ? fastest
                                        : most - least;
  return r;
}

static inline void study_free(study_reference* r) {
  free(r->position);
  *r = (study_reference){0};
}

// ---------------------------------------------------------------------------------------------------------
// runs through the master

// coupling: what stands between the braces of `coupling: {...}`
static inline void study_write(const study_problem* p, const char* coupling, char* text,
                               size_t size) {
  const int n = snprintf(
      text, size, "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: %.17g, step: %" PRId64 "e-9}\n",
      p->stop, p->macro_ns);
  text += n;
  size -= (size_t)n;
  if (p->kind == STUDY_OSCILLATOR) {
    snprintf(text, size,
             "units:\n"
             "  left: {model: oscillator.force, with: {m: %.17g, k: %.17g, kc: %.17g, c: %.17g, "
             "cc: %.17g}, start: {x: %.17g, v: %.17g}, step: %" PRId64 "e-9}\n"
             "  right: {model: oscillator.mass, with: {m: %.17g, k: %.17g, c: %.17g}, start: {x: "
             "%.17g, v: %.17g}, step: %" PRId64 "e-9}\n"
             "connections: [{from: right.x, to: left.x_other, order: %d}]\n"
             "bonds: {b: {action: left.f -> right.f, rate: right.v -> left.v_other, coupling: "
             "{order: %d, %s}}}\nquality: {period: 0.1}\n",
             p->m[0], p->k[0], p->k[1], p->c[0], p->c[1], p->start[0], p->start[1], p->steps_ns[0],
             p->m[1], p->k[2], p->c[2], p->start[2], p->start[3], p->steps_ns[1], p->order,
             p->order, coupling);
  } else if (p->kind == STUDY_PENDULA) {
    snprintf(text, size,
             "units:\n"
             "  one: {model: pendulum.force, with: {m: 1, l: 2.5, pin: [0, 0], k: 6}, start: "
             "{theta: %.17g, omega: %.17g}}\n"
             "  two: {model: pendulum.mass, with: {m: 2, l: 3.5, pin: [7, 0]}, start: {theta: "
             "%.17g, omega: %.17g}}\n"
             "connections: [two.tip -> one.tip_other]\n"
             "bonds: {b: {action: one.F -> two.F, rate: two.vtip -> one.vtip_other, coupling: "
             "{%s}}}\nquality: {period: 0.1}\n",
             p->start[0], p->start[1], p->start[2], p->start[3], coupling);
  } else {
    snprintf(text, size,
             "units:\n"
             "  arm: {model: crane.arm}\n"
             "  oil: {model: crane.hydraulics, with: {manoeuvre: %s, frequency: %.17g, amplitude: "
             "%.17g, offset: %.17g}, step: %" PRId64 "e-9}\n"
             "connections: [{from: arm.s, to: oil.s, order: %d}]\n"
             "bonds: {b: {action: oil.f_h -> arm.f_h, rate: arm.v -> oil.v, coupling: {order: %d, "
             "%s}}}\nquality: {period: 0.1}\n",
             p->manoeuvre, p->frequency, p->amplitude, p->offset, p->steps_ns[0], p->order,
             p->order, coupling);
  }
}

// index of unit.variable[element] in the vector of outputs
static inline size_t study_find(const yoke_system* system, const char* unit, const char* variable,
                                size_t element) {
  const size_t u = yoke__map_find(&system->unit_index, unit);
  const size_t v = yoke__unit_find(&system->units[u].unit, variable);
  return system->units[u].y + system->units[u].unit.dense[v] + element;
}

// Where position and energy are found: their sum, and the spring between if there is one.
typedef struct study_eyes {
  size_t position, energy[2], tips[4];
  size_t n_energies, n_tips;
  double stiffness;
} study_eyes;

static inline study_eyes study_open_eyes(const study_problem* p, const yoke_system* system) {
  study_eyes e = {0};
  if (p->kind == STUDY_CRANE) {
    e.position = study_find(system, "arm", "s", 0);
    e.energy[e.n_energies++] = study_find(system, "arm", "E", 0);
    return e;
  }
  const bool is_pendula = p->kind == STUDY_PENDULA;
  const char* units[2] = {is_pendula ? "one" : "left", is_pendula ? "two" : "right"};
  const char* tip = is_pendula ? "tip" : "x";
  e.n_tips = is_pendula ? 2 : 1;
  e.stiffness = is_pendula ? 6 : p->k[1];
  for (size_t i = 0; i < 2; i++) {
    e.energy[e.n_energies++] = study_find(system, units[i], "E", 0);
    for (size_t j = 0; j < e.n_tips; j++) {
      e.tips[i * e.n_tips + j] = study_find(system, units[i], tip, j);
    }
  }
  e.position = e.tips[e.n_tips];
  return e;
}

static inline double study_energy(const study_eyes* e, const double y[]) {
  double energy = 0;
  for (size_t i = 0; i < e->n_energies; i++) {
    energy += y[e->energy[i]];
  }
  for (size_t j = 0; j < e->n_tips; j++) {
    const double stretch = y[e->tips[j]] - y[e->tips[e->n_tips + j]];
    energy += 0.5 * e->stiffness * stretch * stretch;
  }
  return energy;
}

static inline yoke_system* study_build(const char* text, yoke_state** state) {
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  yoke_system* system = NULL;
  yoke_status status =
      yoke__scenario_read(text, strlen(text), "study.yaml", NULL, 0, &messages, &scenario);
  status = status < 0 ? status : yoke__system_build(scenario, NULL, &messages, &system);
  status = status < 0 ? status : yoke__master_create(system, &messages, state);
  if (status < 0) {
    yoke__messages_print(&messages, stderr);
    fprintf(stderr, "%s\n", text);
    exit(1);
  }
  yoke__messages_free(&messages);
  return system;
}

static inline void study_collect(const yoke_system* system, const yoke_state* state,
                                 study_outcome* out) {
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    if (group->ops->health != NULL && group->ops->n_health <= 16) {
      group->ops->health(state->group_memory + group->self, out->health);
    }
  }
  yoke__ledger_result(state->ledger, 0, &out->books);
  out->books.bond = NULL;  // it goes with the system
}

// One run, e.g. study_run(&p, &r, "method: energy").
static inline study_outcome study_run(const study_problem* p, const study_reference* r,
                                      const char* coupling) {
  char text[4096];
  study_write(p, coupling, text, sizeof text);
  yoke_state* state = NULL;
  yoke_system* system = study_build(text, &state);
  const study_eyes eyes = study_open_eyes(p, system);
  study_outcome out = {0};
  double squares = 0, error = 0;
  for (int64_t i = 1; i <= r->n && !out.is_diverged; i++) {
    out.is_diverged = yoke__master_step(system, state) < 0;
    error = fabs(state->y[eyes.position] - r->position[i]);
    squares += error * error;
    out.max_error = fmax(out.max_error, error);
  }
  out.motion = sqrt(squares / (double)r->n) / r->spread;
  out.energy_signed = (study_energy(&eyes, state->y) - r->energy[r->n]) / r->stake;
  out.energy = fabs(out.energy_signed);
  out.is_diverged = out.is_diverged || !(error < 10 * r->size);
  if (out.is_diverged) {
    out.motion = out.energy = out.max_error = HUGE_VAL;
  }
  study_collect(system, state, &out);
  yoke__master_destroy(system, &state);
  yoke__system_destroy(&system);
  return out;
}

// ---------------------------------------------------------------------------------------------------------
// statistics

static inline int study_compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// sorts; q from 0 to 1
static inline double study_quantile(double values[], size_t n, double q) {
  qsort(values, n, sizeof *values, study_compare);
  const double at = q * (double)(n - 1);
  const size_t i = (size_t)at;
  return i + 1 >= n ? values[n - 1] : values[i] + (at - (double)i) * (values[i + 1] - values[i]);
}

#endif
