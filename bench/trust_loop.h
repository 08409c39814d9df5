// Random coupled linear systems for the study of the error bands: chains of two, three or four masses, each tied to ground,
// each joint a spring and a damper, cut at the joints. Every unit is a model state_space with the exact solution for a held
// input, so that all errors are errors of the coupling.
//
//   mass        0.1 to 10 kg, ground spring 1 to 100 N/m, joint 1 to 1e4 times the mean ground spring
//   damping     0.003 to 1 of the critical one, of each ground and each joint
//   joint       force-displacement: one unit holds the spring, gets x and v, returns f
//               torque-speed: one unit holds the spring and integrates the partner's speed itself, returns the torque
//               displacement-displacement: both hold the spring, get x and v; no bond
//   bonds       force-displacement in four of five systems, torque-speed always
//   start       at random; without stretch; or at rest with a constant force on one unit
//
// All numbers come from the seed of the system. The reference is the undivided system by the matrix exponential over one
// exchange interval.
#ifndef YOKE_BENCH_TRUST_LOOP_H
#define YOKE_BENCH_TRUST_LOOP_H

#include <stdbool.h>
#include <string.h>

#include "bench/trust_text.h"
#include "linalg/linalg_dense.h"
#include "models/models_random.h"

enum {
  LOOP_UNITS = 4,
  LOOP_JOINTS = 3,
  LOOP_STATES = 4,  // of a unit: x, v, and the partner's angle of two torque-speed joints
  LOOP_PORTS = 5,   // of a unit, each way: two of each joint and the constant force
  LOOP_LINKS = 4 * LOOP_JOINTS,
  LOOP_WHOLE = LOOP_UNITS * LOOP_STATES,
  LOOP_INPUTS = LOOP_UNITS * LOOP_PORTS
};

typedef enum loop_joint { LOOP_FORCE, LOOP_TORQUE, LOOP_DISPLACEMENT } loop_joint;

// x' = A x + B u, y = C x + D u, rows of LOOP_STATES and LOOP_PORTS numbers
typedef struct loop_unit {
  size_t nx, nu, ny;
  double A[LOOP_STATES][LOOP_STATES], B[LOOP_STATES][LOOP_PORTS];
  double C[LOOP_PORTS][LOOP_STATES], D[LOOP_PORTS][LOOP_PORTS];
  double x0[LOOP_STATES];
  double mass;
  double load;  // of the input without a source; only where has_load
  bool has_load;
  char inputs[LOOP_PORTS][8], outputs[LOOP_PORTS][8];
} loop_unit;

// Output `out` of unit `from` feeds input `in` of unit `to`.
typedef struct loop_link {
  size_t from, out, to, in;
  int bond;  // -1: none
  bool is_action;
} loop_link;

typedef struct loop {
  int64_t seed;
  uint64_t n_drawn;
  size_t n_units, n_links;
  loop_unit units[LOOP_UNITS];
  loop_link links[LOOP_LINKS];
  int n_bonds;
  double slowest,
      fastest;   // natural frequencies of a unit on its ground spring, and with its joints [rad/s]
  double limit;  // largest stable exchange interval of held signals [s]
} loop;

// ---------------------------------------------------------------------------------------------------------
// numbers of a seed

static inline double loop_uniform(loop* s, double low, double high) {
  return low + (high - low) * yoke__random_uniform(s->seed, 0, s->n_drawn++);
}

static inline double loop_log_uniform(loop* s, double low, double high) {
  return low * pow(high / low, loop_uniform(s, 0, 1));
}

// ---------------------------------------------------------------------------------------------------------
// units and joints

static inline size_t loop_add_input(loop_unit* u, const char* name, size_t joint) {
  snprintf(u->inputs[u->nu], sizeof u->inputs[0], "%s%zu", name, joint);
  return u->nu++;
}

// An output that is there already is used again: x and v serve both joints of a unit.
static inline size_t loop_add_output(loop_unit* u, const char* name) {
  for (size_t i = 0; i < u->ny; i++) {
    if (strcmp(u->outputs[i], name) == 0) {
      return i;
    }
  }
  snprintf(u->outputs[u->ny], sizeof u->outputs[0], "%s", name);
  if (name[0] == 'x' || name[0] == 'v') {
    u->C[u->ny][name[0] == 'x' ? 0 : 1] = 1;
  }
  return u->ny++;
}

static inline void loop_connect(loop* s, size_t from, size_t out, size_t to, size_t in, int bond,
                                bool is_action) {
  s->links[s->n_links++] = (loop_link){from, out, to, in, bond, is_action};
}

// The spring on the side of its owner; how the partner's motion enters is up to the joint.
static inline void loop_attach(loop_unit* u, double k, double c) {
  u->A[1][0] -= k / u->mass;
  u->A[1][1] -= c / u->mass;
}

// The owner gets x and v of its partner. Returns the input x; v is the next one.
static inline size_t loop_receive_motion(loop_unit* u, size_t joint, double k, double c) {
  const size_t x = loop_add_input(u, "to_x", joint), v = loop_add_input(u, "to_v", joint);
  loop_attach(u, k, c);
  u->B[1][x] = k / u->mass;
  u->B[1][v] = c / u->mass;
  return x;
}

static inline size_t loop_receive_force(loop_unit* u, size_t joint) {
  const size_t f = loop_add_input(u, "to_f", joint);
  u->B[1][f] = 1 / u->mass;
  return f;
}

static inline size_t loop_return_force(loop_unit* u, size_t joint) {
  char name[8];
  snprintf(name, sizeof name, "f%zu", joint);
  return loop_add_output(u, name);
}

static inline void loop_join_force(loop* s, size_t joint, size_t i, size_t j, double k, double c,
                                   int bond) {
  loop_unit *a = &s->units[i], *b = &s->units[j];
  const size_t x = loop_receive_motion(a, joint, k, c), f = loop_return_force(a, joint);
  a->C[f][0] = k;
  a->C[f][1] = c;
  a->D[f][x] = -k;
  a->D[f][x + 1] = -c;
  loop_connect(s, j, loop_add_output(b, "x"), i, x, -1, false);
  loop_connect(s, i, f, j, loop_receive_force(b, joint), bond, true);
  loop_connect(s, j, loop_add_output(b, "v"), i, x + 1, bond, false);
}

static inline void loop_join_torque(loop* s, size_t joint, size_t i, size_t j, double k, double c,
                                    int bond) {
  loop_unit *a = &s->units[i], *b = &s->units[j];
  const size_t v = loop_add_input(a, "to_v", joint), f = loop_return_force(a, joint);
  const size_t p = a->nx++;  // the partner's angle
  loop_attach(a, k, c);
  a->A[1][p] = k / a->mass;
  a->B[1][v] = c / a->mass;
  a->B[p][v] = 1;
  a->C[f][0] = k;
  a->C[f][1] = c;
  a->C[f][p] = -k;
  a->D[f][v] = -c;
  a->x0[p] = b->x0[0];
  loop_connect(s, i, f, j, loop_receive_force(b, joint), bond, true);
  loop_connect(s, j, loop_add_output(b, "v"), i, v, bond, false);
}

static inline void loop_join_displacement(loop* s, size_t joint, size_t i, size_t j, double k,
                                          double c) {
  const size_t units[2] = {i, j};
  for (int e = 0; e < 2; e++) {
    const size_t to = units[e], from = units[1 - e];
    const size_t x = loop_receive_motion(&s->units[to], joint, k, c);
    loop_connect(s, from, loop_add_output(&s->units[from], "x"), to, x, -1, false);
    loop_connect(s, from, loop_add_output(&s->units[from], "v"), to, x + 1, -1, false);
  }
}

static inline void loop_start_units(loop* s) {
  const int start = (int)loop_uniform(s, 0, 3);
  const double x = loop_uniform(s, -1, 1);
  const size_t loaded = (size_t)loop_uniform(s, 0, (double)s->n_units);
  for (size_t i = 0; i < s->n_units; i++) {
    loop_unit* u = &s->units[i];
    const double k = loop_log_uniform(s, 1, 100), zeta = loop_log_uniform(s, 0.003, 1);
    u->mass = loop_log_uniform(s, 0.1, 10);
    u->nx = 2;
    u->A[0][1] = 1;
    u->A[1][0] = -k / u->mass;
    u->A[1][1] = -2 * zeta * sqrt(k / u->mass);
    const double own_x = loop_uniform(s, -1, 1), own_v = loop_uniform(s, -1, 1);
    u->x0[0] = start == 0 ? own_x : start == 1 ? x : 0;
    u->x0[1] = start == 0 ? own_v * sqrt(k / u->mass) : 0;
    if (start == 2 && i == loaded) {
      u->has_load = true;
      u->load = k * (0.5 + fabs(own_x));
      u->B[1][loop_add_input(u, "load", i)] = 1 / u->mass;
    }
  }
}

static inline void loop_join_units(loop* s) {
  const bool has_bonds = loop_uniform(s, 0, 1) < 0.8;
  double mean[LOOP_JOINTS] = {0};  // of the ground springs, before joints add to them
  for (size_t j = 0; j + 1 < s->n_units; j++) {
    mean[j] = sqrt(s->units[j].A[1][0] * s->units[j].mass * s->units[j + 1].A[1][0] *
                   s->units[j + 1].mass);
  }
  for (size_t j = 0; j + 1 < s->n_units; j++) {
    const double m1 = s->units[j].mass, m2 = s->units[j + 1].mass;
    const double k = loop_log_uniform(s, 1, 1e4) * mean[j];
    const double c = 2 * loop_log_uniform(s, 0.003, 1) * sqrt(k * m1 * m2 / (m1 + m2));
    const loop_joint kind = (loop_joint)loop_uniform(s, 0, 3);
    const size_t owner = j + (loop_uniform(s, 0, 1) < 0.5), partner = 2 * j + 1 - owner;
    if (kind == LOOP_FORCE) {
      loop_join_force(s, j, owner, partner, k, c, has_bonds ? s->n_bonds++ : -1);
    } else if (kind == LOOP_TORQUE) {
      loop_join_torque(s, j, owner, partner, k, c, s->n_bonds++);
    } else {
      loop_join_displacement(s, j, owner, partner, k, c);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// matrices of all units together

// Block diagonal A, B, C, D and the connections: u = L y + load.
typedef struct loop_matrices {
  size_t nx, nu, ny;
  double A[LOOP_WHOLE * LOOP_WHOLE], B[LOOP_WHOLE * LOOP_INPUTS];
  double C[LOOP_INPUTS * LOOP_WHOLE], D[LOOP_INPUTS * LOOP_INPUTS];
  double L[LOOP_INPUTS * LOOP_INPUTS];
  double load[LOOP_INPUTS], x0[LOOP_WHOLE];
} loop_matrices;

static inline void loop_assemble(const loop* s, loop_matrices* m) {
  memset(m, 0, sizeof *m);
  for (size_t i = 0; i < s->n_units; i++) {
    m->nx += s->units[i].nx;
    m->nu += s->units[i].nu;
    m->ny += s->units[i].ny;
  }
  size_t x = 0, u = 0, y = 0, first_u[LOOP_UNITS], first_y[LOOP_UNITS];
  for (size_t i = 0; i < s->n_units; i++) {
    const loop_unit* unit = &s->units[i];
    for (size_t r = 0; r < unit->nx; r++) {
      memcpy(&m->A[(x + r) * m->nx + x], unit->A[r], unit->nx * sizeof(double));
      memcpy(&m->B[(x + r) * m->nu + u], unit->B[r], unit->nu * sizeof(double));
    }
    for (size_t r = 0; r < unit->ny; r++) {
      memcpy(&m->C[(y + r) * m->nx + x], unit->C[r], unit->nx * sizeof(double));
      memcpy(&m->D[(y + r) * m->nu + u], unit->D[r], unit->nu * sizeof(double));
    }
    memcpy(&m->x0[x], unit->x0, unit->nx * sizeof(double));
    m->load[u] = unit->has_load ? unit->load : 0;  // the load is the first input
    first_u[i] = u;
    first_y[i] = y;
    x += unit->nx;
    u += unit->nu;
    y += unit->ny;
  }
  for (size_t i = 0; i < s->n_links; i++) {
    const loop_link* l = &s->links[i];
    m->L[(first_u[l->to] + l->in) * m->ny + first_y[l->from] + l->out] = 1;
  }
}

// [T G; 0 I] := exp(h [A B; 0 0]); T: nx x nx, G: nx x nu
static inline void loop_discretise(size_t nx, size_t nu, const double A[], const double B[],
                                   double h, double T[], double G[]) {
  const size_t n = nx + nu;
  double* big = calloc(n * n + 1, sizeof *big);
  for (size_t r = 0; r < nx && big != NULL; r++) {
    for (size_t c = 0; c < n; c++) {
      big[r * n + c] = h * (c < nx ? A[r * nx + c] : B[r * nu + c - nx]);
    }
  }
  if (big == NULL || yoke__expm(n, big, big) < 0) {
    fprintf(stderr, "trust study: no matrix exponential\n");
    exit(1);
  }
  for (size_t r = 0; r < nx; r++) {
    memcpy(&T[r * nx], &big[r * n], nx * sizeof *T);
    memcpy(&G[r * nu], &big[r * n + nx], nu * sizeof *G);
  }
  free(big);
}

// Growth per exchange of held signals, stale exchange: the state is (x, u),
//   x+ = T x + G u,   u+ = L (C x+ + D u)
static inline double loop_radius(const loop_matrices* m, double H) {
  enum { N = LOOP_WHOLE + LOOP_INPUTS };
  static double T[LOOP_WHOLE * LOOP_WHOLE], G[LOOP_WHOLE * LOOP_INPUTS];
  static double LC[LOOP_INPUTS * LOOP_WHOLE], LD[LOOP_INPUTS * LOOP_INPUTS];
  static double P[LOOP_INPUTS * LOOP_WHOLE], Q[LOOP_INPUTS * LOOP_INPUTS], all[N * N];
  const size_t nx = m->nx, nu = m->nu, n = nx + nu;
  loop_discretise(nx, nu, m->A, m->B, H, T, G);
  yoke__mat_mul(nu, m->ny, nx, m->L, m->C, LC);
  yoke__mat_mul(nu, m->ny, nu, m->L, m->D, LD);
  yoke__mat_mul(nu, nx, nx, LC, T, P);
  yoke__mat_mul(nu, nx, nu, LC, G, Q);
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c < n; c++) {
      const size_t ru = r - nx, cu = c - nx;
      all[r * n + c] = r < nx   ? (c < nx ? T[r * nx + c] : G[r * nu + cu])
                       : c < nx ? P[ru * nx + c]
                                : Q[ru * nu + cu] + LD[ru * nu + cu];
    }
  }
  double radius = HUGE_VAL;
  return yoke__spectral_radius(n, all, &radius) < 0 ? HUGE_VAL : radius;
}

// The constants of integration of torque-speed joints have the eigenvalue 1; rounding must not make them unstable.
static inline bool loop_is_stable(const loop_matrices* m, double H) {
  return loop_radius(m, H) <= 1 + 1e-9;
}

// The smallest exchange interval at which held signals become unstable; steps of 5 % from 1e-4 of the fastest motion, then
// halved. At most the slowest motion's radian.
static inline double loop_find_limit(const loop* s, const loop_matrices* m) {
  double H = 1e-4 / s->fastest;
  while (!loop_is_stable(m, H) && H > 1e-9 / s->fastest) {
    H /= 10;
  }
  const double most = 1 / s->slowest;
  while (H < most && loop_is_stable(m, H * 1.05)) {
    H *= 1.05;
  }
  double low = H, high = H * 1.05;
  for (int i = 0; i < 20 && H < most; i++) {
    const double middle = 0.5 * (low + high);
    *(loop_is_stable(m, middle) ? &low : &high) = middle;
  }
  return low;
}

// n_units: 2, 3 or 4
static inline void loop_make(loop* s, int64_t seed, size_t n_units) {
  *s = (loop){.seed = seed, .n_units = n_units, .slowest = HUGE_VAL};
  loop_start_units(s);
  for (size_t i = 0; i < n_units; i++) {
    s->slowest = fmin(s->slowest, sqrt(-s->units[i].A[1][0]));
  }
  loop_join_units(s);
  for (size_t i = 0; i < n_units; i++) {
    s->fastest = fmax(s->fastest, sqrt(-s->units[i].A[1][0]));
  }
  static loop_matrices m;
  loop_assemble(s, &m);
  s->limit = loop_find_limit(s, &m);
}

// ---------------------------------------------------------------------------------------------------------
// the system as a file

static inline void loop_print_matrix(study_text* t, const char* name, size_t rows, size_t columns,
                                     size_t stride, const double* M) {
  study_print(t, ", %s: [", name);
  for (size_t r = 0; r < rows; r++) {
    study_print(t, "%s[", r > 0 ? ", " : "");
    for (size_t c = 0; c < columns; c++) {
      study_print(t, "%s%.17g", c > 0 ? ", " : "", M[r * stride + c]);
    }
    study_print(t, "]");
  }
  study_print(t, "]");
}

static inline void loop_print_names(study_text* t, const char* name, size_t n,
                                    const char (*names)[8]) {
  study_print(t, ", %s: [", name);
  for (size_t i = 0; i < n; i++) {
    study_print(t, "%s%s", i > 0 ? ", " : "", names[i]);
  }
  study_print(t, "]");
}

// What follows the unit's model: its matrices, names and load.
static inline void loop_print_settings(study_text* t, const loop_unit* u) {
  study_print(t, "with: {x0: [");
  for (size_t j = 0; j < u->nx; j++) {
    study_print(t, "%s%.17g", j > 0 ? ", " : "", u->x0[j]);
  }
  study_print(t, "]");
  loop_print_matrix(t, "A", u->nx, u->nx, LOOP_STATES, &u->A[0][0]);
  loop_print_matrix(t, "B", u->nx, u->nu, LOOP_PORTS, &u->B[0][0]);
  loop_print_matrix(t, "C", u->ny, u->nx, LOOP_STATES, &u->C[0][0]);
  loop_print_matrix(t, "D", u->ny, u->nu, LOOP_PORTS, &u->D[0][0]);
  loop_print_names(t, "inputs", u->nu, u->inputs);
  loop_print_names(t, "outputs", u->ny, u->outputs);
  study_print(t, "}");
  if (u->has_load) {
    study_print(t, ", start: {%s: %.17g}", u->inputs[0], u->load);
  }
  study_print(t, "}\n");
}

static inline void loop_print_unit(study_text* t, const loop* s, size_t i, const study_way* way,
                                   study_step h) {
  study_print(t, "  u%zu: {model: state_space, ", i);
  study_print_step(t, way, h);
  loop_print_settings(t, &s->units[i]);
}

static inline void loop_print_link(study_text* t, const loop* s, const loop_link* l,
                                   const char* arrow) {
  study_print(t, "u%zu.%s%su%zu.%s", l->from, s->units[l->from].outputs[l->out], arrow, l->to,
              s->units[l->to].inputs[l->in]);
}

static inline void loop_print_bond(study_text* t, const loop* s, int bond, int order) {
  study_print(t, "  b%d: {", bond);
  for (size_t i = 0; i < s->n_links; i++) {
    if (s->links[i].bond == bond) {
      study_print(t, "%s: ", s->links[i].is_action ? "action" : "rate");
      loop_print_link(t, s, &s->links[i], " -> ");
      study_print(t, ", ");
    }
  }
  // order 0 names no method, so that one of a coupling may serve the bond
  if (order > 0) {
    study_print(t, "coupling: {method: hold, order: %d}", order);
  }
  study_print(t, "}\n");
}

// The system as a file. n: exchanges; H: exchange interval; h: of the calls; exponents of both alike or h finer.
static inline void loop_print_system(const void* self, study_method method, int64_t n, study_step H,
                                     study_step h, study_text* t) {
  const loop* s = self;
  const study_way* way = &study_ways[method];
  t->n = 0;
  study_print_head(t, way, H, h);
  study_print(t, "name: trust study, seed %" PRId64 ", %s\n", s->seed, way->name);
  study_print(t, "time: {stop: %" PRId64 "e%d, step: %" PRId64 "e%d}\n%sunits:\n", n * H.mantissa,
              H.exponent, H.mantissa, H.exponent, way->top);
  for (size_t i = 0; i < s->n_units; i++) {
    loop_print_unit(t, s, i, way, h);
  }
  study_print(t, "connections:\n");
  for (size_t i = 0; i < s->n_links; i++) {
    if (s->links[i].bond < 0) {
      study_print(t, "  - {from: ");
      loop_print_link(t, s, &s->links[i], ", to: ");
      study_print_order(t, way);
      study_print(t, "}\n");
    }
  }
  if (s->n_bonds > 0) {
    study_print(t, "bonds:\n");
  }
  for (int b = 0; b < s->n_bonds; b++) {
    loop_print_bond(t, s, b, way->order);
  }
  if (way->coupling != NULL) {
    study_print(t, "couplings:\n  loop: {%s, members: [", way->coupling);
    for (size_t i = 0; i < s->n_units; i++) {
      study_print(t, "%su%zu", i > 0 ? ", " : "", i);
    }
    study_print(t, "]}\n");
  }
}

// ---------------------------------------------------------------------------------------------------------
// the undivided system

// truth: n + 1 rows of as many numbers as there are outputs. With u = L y + w and y = C x + D u:
//   y = P (C x + D w),  P = (I - D L)^-1,    x' = (A + B L P C) x + B (L P D + I) w
static inline void loop_solve(const loop* s, int64_t n, double H, double truth[]) {
  static loop_matrices m;
  static double P[LOOP_INPUTS * LOOP_INPUTS], DL[LOOP_INPUTS * LOOP_INPUTS];
  static double PC[LOOP_INPUTS * LOOP_WHOLE], BL[LOOP_WHOLE * LOOP_INPUTS];
  static double W[LOOP_WHOLE * LOOP_WHOLE], T[LOOP_WHOLE * LOOP_WHOLE], F[LOOP_WHOLE];
  loop_assemble(s, &m);
  const size_t nx = m.nx, nu = m.nu, ny = m.ny;
  size_t pivots[LOOP_INPUTS];
  yoke__mat_mul(ny, nu, ny, m.D, m.L, DL);
  for (size_t i = 0; i < ny * ny; i++) {
    DL[i] = (i % (ny + 1) == 0 ? 1 : 0) - DL[i];
  }
  if (yoke__lu_factor(ny, DL, pivots) < 0) {
    fprintf(stderr, "trust study: an algebraic loop without a solution\n");
    exit(1);
  }
  for (size_t c = 0; c < ny; c++) {
    double column[LOOP_INPUTS] = {0};
    column[c] = 1;
    yoke__lu_solve(ny, DL, pivots, column);
    for (size_t r = 0; r < ny; r++) {
      P[r * ny + c] = column[r];
    }
  }
  yoke__mat_mul(ny, ny, nx, P, m.C, PC);
  yoke__mat_mul(nx, nu, ny, m.B, m.L, BL);
  yoke__mat_mul(nx, ny, nx, BL, PC, W);
  for (size_t i = 0; i < nx * nx; i++) {
    W[i] += m.A[i];
  }
  double Dw[LOOP_INPUTS], PDw[LOOP_INPUTS], push[LOOP_WHOLE], x[LOOP_WHOLE], old[LOOP_WHOLE];
  yoke__mat_vec(ny, nu, m.D, m.load, Dw);
  yoke__mat_vec(ny, ny, P, Dw, PDw);
  yoke__mat_vec(nx, nu, m.B, m.load, push);
  yoke__mat_vec_add(nx, ny, BL, PDw, push);
  loop_discretise(nx, 1, W, push, H, T, F);
  memcpy(x, m.x0, sizeof x);
  for (int64_t k = 0; k <= n; k++) {
    double* y = &truth[(size_t)k * ny];
    memcpy(y, PDw, ny * sizeof *y);
    yoke__mat_vec_add(ny, nx, PC, x, y);
    memcpy(old, x, sizeof old);
    yoke__mat_vec(nx, nx, T, old, x);
    for (size_t i = 0; i < nx; i++) {
      x[i] += F[i];
    }
  }
}

#endif
