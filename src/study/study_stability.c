// Stability of a linear coupled system under a coupling method.
//
//   z^{k+1} = M z^k,   z = (states of the units, memory of the coupling);   stable: radius(M) < 1
//
// M is built by stepping unit vectors, with the same functions that couple a run, so that what is
// judged is what runs. One communication step: the coupling gives inputs u + u' t + u'' t^2 / 2,
// each unit goes through the parts of the step,
//
//   x := T x + T0 u + T1 u' + T2 u''
//                            explicit Euler: T = I + hA, T0 = hB, T1 = T2 = 0
//                            exact: blocks of exp of [[A, B, 0, 0], [0, 0, I, 0], ...] h
//                            calls: blocks of [[F, G, 0, 0], [0, I, hI, h^2/2 I], ...]^n, F and G
//                            over one call with held input
//
// and the coupling looks at the outputs. Page: docs/analyse.md, "Equation" and "Two ways to a radius".
// Assumes linear units, one rate, no exogenous inputs.
#include "study/study_stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_arena.h"
#include "base/base_check.h"
#include "couple/couple_mpsm_mbcorr.h"
#include "linalg/linalg_dense.h"

// A multiplier of 1 of a free motion, as round-off leaves it: alone, or one of several that belong together.
#define FREE_ALONE     1e-8
#define FREE_DEFECTIVE 1e-5
#define LASTING        0.8  // of a motion from exchange to exchange: less is forgotten

typedef struct part {  // of a unit: transition over one part of the step
  double *T, *T0, *T1, *T2;
  double lag;  // between the last call and the end of the part [s]: its inputs are that old
  size_t first_x, first_y, first_u;
} part;

struct yoke_stability {
  yoke_arena arena;
  yoke_stability_case c;
  yoke_stability_unit* units;
  part* parts;
  size_t n_x, p, s, size, n_parts;
  double* L;
  double *through, *closed,
      *sent;  // p x s, I - through L factored, p numbers; NULL: outputs are sent as they are
  size_t* pivots;
  yoke_mpsm* cluster;
  double *y, *u, *slope, *curve, *u_now, *u_last, *w, *mean, *inner, *next, *work;
  double* history;  // in z, behind the states: see step_signal and step_model
};

yoke_stability_case yoke__stability_case_default(void) {
  return (yoke_stability_case){
      .method = YOKE_STABILITY_MPSM,
      .options = yoke__mpsm_options_default(),
  };
}

static bool uses_model(const yoke_stability* self) {
  return self->c.method == YOKE_STABILITY_MPSM || self->c.method == YOKE_STABILITY_MBCORR;
}

// ---- opening

static double* numbers(yoke_stability* self, size_t n) {
  return yoke__arena_array(&self->arena, n, sizeof(double));
}

static double* copy_of(yoke_stability* self, const double from[], size_t n) {
  double* to = numbers(self, n);
  if (to != NULL && n > 0) {
    memcpy(to, from, n * sizeof *to);
  }
  return to;
}

static yoke_status copy_units(yoke_stability* self, const yoke_stability_case* c) {
  self->units = yoke__arena_array(&self->arena, c->n_units, sizeof *self->units);
  self->parts = yoke__arena_array(&self->arena, c->n_units, sizeof *self->parts);
  YOKE_TRY_MEMORY(self->units && self->parts);
  for (size_t i = 0; i < c->n_units; i++) {
    const yoke_stability_unit* from = &c->units[i];
    const size_t n = from->n_states, m = from->n_inputs, o = from->n_outputs;
    self->units[i] = (yoke_stability_unit){n,
                                           m,
                                           o,
                                           copy_of(self, from->A, n * n),
                                           copy_of(self, from->B, n * m),
                                           copy_of(self, from->C, o * n),
                                           copy_of(self, from->D, o * m)};
    self->parts[i] = (part){
        .T = numbers(self, n * n),
        .T0 = numbers(self, n * m),
        .T1 = numbers(self, n * m),
        .T2 = numbers(self, n * m),
        .first_x = self->n_x,
        .first_y = self->p,
        .first_u = self->s,
    };
    YOKE_TRY_MEMORY(self->units[i].D && self->parts[i].T2);
    self->n_x += n;
    self->p += o;
    self->s += m;
  }
  self->L = copy_of(self, c->L, self->s * self->p);
  return self->L != NULL ? YOKE_OK : YOKE_NO_MEMORY;
}

static void euler_part(const yoke_stability_unit* unit, double h, part* to) {
  const size_t n = unit->n_states;

  // explicit Euler: x + h (A x + B u)
  for (size_t i = 0; i < n * n; i++) {
    to->T[i] = h * unit->A[i] + (i % (n + 1) == 0 ? 1 : 0);
  }
  for (size_t i = 0; i < n * unit->n_inputs; i++) {
    to->T0[i] = h * unit->B[i];
  }
}

// The first rows of a transition of states and inputs: T, T0 and as many more blocks as the inputs have parts.
static void read_blocks(const yoke_stability_unit* unit, const double Z[], size_t n_parts,
                        part* to) {
  const size_t n = unit->n_states, m = unit->n_inputs, N = n + n_parts * m;
  double* const blocks[] = {to->T0, to->T1, to->T2};
  for (size_t i = 0; i < n; i++) {
    memcpy(to->T + i * n, Z + i * N, n * sizeof *Z);
    for (size_t k = 0; k < n_parts; k++) {
      memcpy(blocks[k] + i * m, Z + i * N + n + k * m, m * sizeof *Z);
    }
  }
}

static yoke_status exact_part(const yoke_stability_unit* unit, double h, part* to) {
  const size_t n = unit->n_states, m = unit->n_inputs, N = n + 3 * m;
  double* big = calloc(N * N, sizeof *big);
  YOKE_TRY_MEMORY(big);

  // h times the generator of (x, u, u', u''): x' = A x + B u, and each part of the input
  // is the integral of the next; u'' is constant. The exponential holds all transitions
  // at once, also for a singular A
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      big[i * N + j] = h * unit->A[i * n + j];
    }
    for (size_t j = 0; j < m; j++) {
      big[i * N + n + j] = h * unit->B[i * m + j];
    }
  }

  // rows of u and u': both shifted diagonals are one, since u' follows u and u'' follows u'
  for (size_t i = 0; i < 2 * m; i++) {
    big[(n + i) * N + n + m + i] = h;
  }
  const yoke_status status = yoke__expm(N, big, big);

  // the rows of x alone: the inputs are known anyway
  if (status >= 0) {
    read_blocks(unit, big, 3, to);
  }
  free(big);
  return status;
}

// Z := Z^k, N x N, by repeated squaring. work: 2 N N.
static void matrix_power(size_t N, double Z[], size_t k, double work[]) {
  double *result = work, *product = work + N * N;
  memset(result, 0, N * N * sizeof *result);
  for (size_t i = 0; i < N; i++) {
    result[i * N + i] = 1;
  }

  // Z^k from the bits of k: result takes Z^(2^i) where bit i is set, Z
  // goes from Z^(2^i) to its square
  for (; k > 0; k /= 2) {
    if (k % 2 == 1) {
      yoke__mat_mul(N, N, N, Z, result, product);
      memcpy(result, product, N * N * sizeof *result);
    }
    // the last square would be unused, and could overflow
    if (k > 1) {
      yoke__mat_mul(N, N, N, Z, Z, product);
      memcpy(Z, product, N * N * sizeof *Z);
    }
  }
  memcpy(Z, result, N * N * sizeof *Z);
}

static size_t count_of(double whole, double length) {
  // the nearest number of pieces; bounded, so that the cast is defined
  return (size_t)fmin(fmax(1, floor(whole / length + 0.5)), 1e9);
}

// k times the blocks T and T0 of `to`, which last `call` each and take the input as it is when they begin: held (one part),
// or a parabola (its value and two derivatives).
static yoke_status repeat_part(const yoke_stability_unit* unit, size_t n_parts, double call,
                               size_t k, part* to) {
  const size_t n = unit->n_states, m = unit->n_inputs, N = n + n_parts * m;
  double* Z = calloc(3 * N * N, sizeof *Z);
  YOKE_TRY_MEMORY(Z);

  // Z = [[T, T0], [0, I]] for a held input: (x, u) -> (x, u) over one call
  for (size_t i = 0; i < N; i++) {
    Z[i * N + i] = 1;
  }
  for (size_t i = 0; i < n; i++) {
    memcpy(Z + i * N, to->T + i * n, n * sizeof *Z);
    memcpy(Z + i * N + n, to->T0 + i * m, m * sizeof *Z);
  }

  // for a parabola its value and slope are carried to the next call exactly: u + call u' + call^2/2
  // u'', u' + call u''; within the call it is held
  for (size_t i = 0; i < m && n_parts == 3; i++) {
    Z[(n + i) * N + n + m + i] = call;
    Z[(n + i) * N + n + 2 * m + i] = 0.5 * call * call;
    Z[(n + m + i) * N + n + 2 * m + i] = call;
  }
  matrix_power(N, Z, k, Z + N * N);
  read_blocks(unit, Z, n_parts, to);
  free(Z);
  return YOKE_OK;
}

// The transition over one call of length h with held input, in blocks T and T0 of `to`.
static yoke_status one_call(const yoke_stability_unit* unit, double h, double micro_step,
                            part* to) {
  if (micro_step == 0) {
    return exact_part(unit, h, to);
  }

  // Euler with the step that divides h and is nearest to the wanted one
  const size_t k = count_of(h, micro_step);
  euler_part(unit, h / (double)k, to);
  return repeat_part(unit, 1, h, k, to);
}

// Several calls in a part of length h; each takes the input as it is when it begins.
static yoke_status call_part(const yoke_stability_unit* unit, double h, size_t n_calls,
                             double micro_step, part* to) {
  const size_t size = unit->n_states * unit->n_inputs * sizeof *to->T1;

  // T0 first: it is what one call does with what it was given; the parts u',
  // u'' only act from call to call
  const double call = h / (double)n_calls;
  YOKE_TRY(one_call(unit, call, micro_step, to));
  memset(to->T1, 0, size);
  memset(to->T2, 0, size);
  return n_calls == 1 ? YOKE_OK : repeat_part(unit, 3, call, n_calls, to);
}

static yoke_status solver_part(const yoke_stability_unit* unit, const yoke_stability_solver* solver,
                               double h, part* to) {
  if (solver->is_discrete) {
    memcpy(to->T, unit->A, unit->n_states * unit->n_states * sizeof *to->T);
    memcpy(to->T0, unit->B, unit->n_states * unit->n_inputs * sizeof *to->T0);
    return YOKE_OK;
  }

  // an output at the end of the part still has the input of the last call
  // in it, which began `lag` before
  if (solver->call_step > 0) {
    const size_t n_calls = count_of(h, solver->call_step);
    to->lag = h / (double)n_calls;
    return call_part(unit, h, n_calls, solver->micro_step, to);
  }
  // a solver that follows its inputs: Euler looks at them at the start of each of its steps
  return solver->micro_step > 0
             ? call_part(unit, h, count_of(h, solver->micro_step), solver->micro_step, to)
             : exact_part(unit, h, to);
}

static yoke_status make_parts(yoke_stability* self) {
  const double h = self->c.step / (double)self->n_parts;
  for (size_t i = 0; i < self->c.n_units; i++) {
    if (self->c.solvers != NULL) {
      YOKE_TRY(solver_part(&self->units[i], &self->c.solvers[i], h, &self->parts[i]));
    } else if (self->c.micro_step > 0) {
      euler_part(&self->units[i], h, &self->parts[i]);
    } else {
      YOKE_TRY(exact_part(&self->units[i], h, &self->parts[i]));
    }
  }
  return YOKE_OK;
}

// Exact Jacobians of one unit into the cluster.
static yoke_status set_exact(yoke_stability* self, size_t i) {
  const yoke_stability_unit* unit = &self->units[i];
  const size_t n = unit->n_outputs, m = unit->n_inputs;

  // the outputs as states of a model of their own, by C and its inverse:
  // dy/dt = Jy y + Ju u + Jd du/dt
  const yoke_identify_states states = {unit->n_states, n, m, unit->A, unit->B, unit->C, unit->D};
  yoke_jacobian_continuous J = {n, m, numbers(self, n * n), numbers(self, n * m),
                                numbers(self, n * m)};
  double* work = numbers(self, yoke__jacobian_states_work_size(&states));
  YOKE_TRY_MEMORY(J.Jy && J.Ju && J.Jd && work);
  if (unit->n_states > 0) {
    YOKE_TRY(yoke__jacobian_of_states(&states, &J, NULL, work));
  } else {
    memcpy(J.Jd, unit->D, n * m * sizeof *J.Jd);  // no memory: dy/dt = D du/dt
  }
  return yoke__mpsm_set_continuous(self->cluster, i, &J);
}

static yoke_status make_cluster(yoke_stability* self) {
  const yoke_stability_case* c = &self->c;
  size_t* sizes = yoke__arena_array(&self->arena, 2 * c->n_units, sizeof *sizes);
  YOKE_TRY_MEMORY(sizes);
  for (size_t i = 0; i < c->n_units; i++) {
    sizes[i] = self->units[i].n_outputs;
    sizes[c->n_units + i] = self->units[i].n_inputs;
  }
  const yoke_mpsm_setup setup = {
      .n_units = c->n_units,
      .n_outputs = sizes,
      .n_inputs = sizes + c->n_units,
      .L = self->L,
      .step = c->step,
      .n_samples = c->sees_inside ? self->n_parts : 1,
      .options = c->options,
  };
  const size_t size = yoke__mpsm_size(&setup);
  if (size == 0) {
    return YOKE_BAD_ARG;
  }
  void* memory = yoke__arena_take(&self->arena, size);
  YOKE_TRY_MEMORY(memory);
  YOKE_TRY(yoke__mpsm_prepare(memory, &setup, &self->cluster));
  for (size_t i = 0; i < c->n_units; i++) {
    if (c->discrete != NULL) {
      YOKE_TRY(yoke__mpsm_set_discrete(self->cluster, i, &c->discrete[i]));
    } else if (c->continuous != NULL) {
      YOKE_TRY(yoke__mpsm_set_continuous(self->cluster, i, &c->continuous[i]));
    } else {
      YOKE_TRY(set_exact(self, i));
    }
  }
  return yoke__mpsm_assemble(self->cluster);
}

// Outputs with feedthrough D are sent as y + c, c = D (L (y + c) - u_last): (I - D L) c = D (L y - u_last).
static yoke_status make_through(yoke_stability* self) {
  const size_t p = self->p, s = self->s;
  if (self->c.through == NULL) {
    return YOKE_OK;
  }
  self->through = copy_of(self, self->c.through, p * s);
  self->closed = numbers(self, p * p);
  self->sent = numbers(self, p);
  self->pivots = yoke__arena_array(&self->arena, p, sizeof *self->pivots);
  YOKE_TRY_MEMORY(self->through && self->closed && self->sent && self->pivots);

  // I - D L: the outputs feed back on themselves through the connections
  yoke__mat_mul(p, s, p, self->through, self->L, self->closed);
  for (size_t i = 0; i < p * p; i++) {
    self->closed[i] = (i % (p + 1) == 0 ? 1 : 0) - self->closed[i];
  }
  return yoke__lu_factor(p, self->closed, self->pivots);
}

static yoke_status make_vectors(yoke_stability* self) {
  const size_t p = self->p, s = self->s;

  // z holds the states and what the method remembers; with models the state of the cluster,
  // without y, w of two exchanges and c
  self->size = self->n_x + (uses_model(self) ? self->cluster->n_state : p + 3 * s);

  // the corrector: its last w~ and the inputs that it will give
  self->size += self->c.method == YOKE_STABILITY_MBCORR ? 2 * s : 0;
  double** vectors[] = {&self->y,     &self->mean,  &self->u,      &self->slope,
                        &self->curve, &self->u_now, &self->u_last, &self->w};
  for (size_t i = 0; i < YOKE_COUNT(vectors); i++) {
    *vectors[i] = numbers(self, i < 2 ? p : s);
    YOKE_TRY_MEMORY(*vectors[i]);
  }
  self->inner = numbers(self, self->n_parts * p);
  self->next = numbers(self, self->n_x);
  self->work = numbers(self, s);
  return self->inner != NULL && self->next != NULL && self->work != NULL ? YOKE_OK : YOKE_NO_MEMORY;
}

static yoke_status build(yoke_stability* self, const yoke_stability_case* c) {
  if (c->n_units == 0 || !(c->step > 0) || !(c->micro_step >= 0) ||
      (c->micro_step > 0 && c->step > 1e6 * c->micro_step)) {
    return YOKE_BAD_ARG;
  }
  self->c = *c;
  self->n_parts = c->n_inner > 1 ? c->n_inner : 1;

  // without other solvers a part of the step is one Euler step
  if (c->micro_step > 0 && c->solvers == NULL) {
    self->n_parts = (size_t)fmax(1, floor(c->step / c->micro_step + 0.5));
  }
  YOKE_TRY(copy_units(self, c));
  YOKE_TRY(make_parts(self));
  if (uses_model(self)) {
    YOKE_TRY(make_cluster(self));
  }
  YOKE_TRY(make_through(self));
  return make_vectors(self);
}

yoke_status yoke__stability_open(const yoke_stability_case* c, yoke_stability** out) {
  *out = calloc(1, sizeof **out);
  YOKE_TRY_MEMORY(*out);
  const yoke_status status = build(*out, c);
  if (status < 0) {
    yoke__stability_close(out);
  }
  return status;
}

void yoke__stability_close(yoke_stability** self) {
  if (*self != NULL) {
    yoke__arena_free(&(*self)->arena);
    free(*self);
    *self = NULL;
  }
}

size_t yoke__stability_size(const yoke_stability* self) {
  return self->size;
}

// ---- the units

// y := C x + D u of all units.
static void outputs(const yoke_stability* self, const double x[], const double u[], double y[]) {
  for (size_t i = 0; i < self->c.n_units; i++) {
    const yoke_stability_unit* unit = &self->units[i];
    const part* at = &self->parts[i];
    yoke__mat_vec(unit->n_outputs, unit->n_states, unit->C, x + at->first_x, y + at->first_y);
    yoke__mat_vec_add(unit->n_outputs, unit->n_inputs, unit->D, u + at->first_u, y + at->first_y);
  }
}

// Inputs at the end of the first j parts.
static void inputs_after(const yoke_stability* self, size_t j, double u[]) {
  const double t = self->c.step * (double)j / (double)self->n_parts;
  for (size_t i = 0; i < self->s; i++) {
    u[i] = self->u[i] + t * (self->slope[i] + 0.5 * t * self->curve[i]);
  }
}

// Inputs that the outputs at the end of the first j parts depend on.
static void inputs_before(const yoke_stability* self, size_t j, double u[]) {
  const double end = self->c.step * (double)j / (double)self->n_parts;
  for (size_t k = 0; k < self->c.n_units; k++) {
    const part* at = &self->parts[k];
    const double t = end - at->lag;
    for (size_t i = at->first_u; i < at->first_u + self->units[k].n_inputs; i++) {
      // value of the parabola at the last call, lag before the end
      u[i] = self->u[i] + t * (self->slope[i] + 0.5 * t * self->curve[i]);
    }
  }
}

// All units over one part, from inputs u_now.
static void advance_part(yoke_stability* self, size_t j, double x[]) {
  const double t = self->c.step * (double)j / (double)self->n_parts;

  // u' + t u'': the slope of the parabola where the part begins
  for (size_t i = 0; i < self->s; i++) {
    self->w[i] = self->slope[i] + t * self->curve[i];
  }
  for (size_t i = 0; i < self->c.n_units; i++) {
    const part* at = &self->parts[i];
    const size_t n = self->units[i].n_states, m = self->units[i].n_inputs;
    double* next = self->next + at->first_x;
    // x := T x + T0 u + T1 u' + T2 u''
    yoke__mat_vec(n, n, at->T, x + at->first_x, next);
    yoke__mat_vec_add(n, m, at->T0, self->u_now + at->first_u, next);
    // Euler has no T1 and T2
    if (self->c.micro_step == 0 || self->c.solvers != NULL) {
      yoke__mat_vec_add(n, m, at->T1, self->w + at->first_u, next);
      yoke__mat_vec_add(n, m, at->T2, self->curve + at->first_u, next);
    }
  }
  memcpy(x, self->next, self->n_x * sizeof *x);
}

// All units over the step: y and inner get their outputs, mean its trapezoidal mean over the step.
static void advance(yoke_stability* self, double x[]) {
  const size_t p = self->p, N = self->n_parts;
  const bool looks = self->c.sees_inside;
  if (looks) {
    if (self->c.sees_stale) {
      memcpy(self->y, x + self->n_x, p * sizeof *x);  // the history begins with y^k
    } else {
      outputs(self, x, self->u, self->y);
    }
    for (size_t i = 0; i < p; i++) {
      // trapezoids over N parts: weights 1/2, 1, ..., 1, 1/2, divided by N
      self->mean[i] = 0.5 * self->y[i];
    }
  }
  for (size_t j = 0; j < N; j++) {
    inputs_after(self, j, self->u_now);
    advance_part(self, j, x);
    // without a look inside only the end is known
    if (looks || j + 1 == N) {
      inputs_before(self, j + 1, self->u_now);
      outputs(self, x, self->u_now, self->y);
      memcpy(self->inner + j * p, self->y, p * sizeof *self->y);
    }
    for (size_t i = 0; i < p && looks; i++) {
      self->mean[i] += (j + 1 < N ? 1 : 0.5) * self->y[i];
    }
  }
  for (size_t i = 0; i < p && looks; i++) {
    self->mean[i] /= (double)N;
  }
}

// ---- coupling by signals: history = (y^k, w^{k-1}, w^{k-2}, c^k), w = L y

// The mean over a call of length h is the value at its start of another parabola.
static void take_means(yoke_stability* self) {
  for (size_t k = 0; k < self->c.n_units && self->c.solvers != NULL; k++) {
    const double h = self->c.solvers[k].takes_mean ? self->parts[k].lag : 0;
    const size_t first = self->parts[k].first_u;
    // mean of u + u' t + u'' t^2/2 over (t, t + h): (u + h/2 u' + h^2/6 u'') + (u' + h/2 u'') t +
    // u'' t^2/2; u first, with the old slope
    for (size_t i = first; i < first + self->units[k].n_inputs; i++) {
      self->u[i] += h / 2 * self->slope[i] + h * h / 6 * self->curve[i];
      self->slope[i] += h / 2 * self->curve[i];
    }
  }
}

// y of the last call to what is sent.
static void bring_up_to_date(yoke_stability* self) {
  const size_t p = self->p, s = self->s;
  if (self->through == NULL) {
    return;
  }

  // L y - u_last: what the inputs would be now, less what the feedthrough of the last call has seen
  inputs_before(self, self->n_parts, self->u_now);
  yoke__mat_vec(s, p, self->L, self->y, self->work);
  for (size_t i = 0; i < s; i++) {
    self->work[i] -= self->u_now[i];
  }
  yoke__mat_vec(p, s, self->through, self->work, self->sent);
  yoke__lu_solve(p, self->closed, self->pivots, self->sent);
  for (size_t i = 0; i < p; i++) {
    self->y[i] += self->sent[i];
  }
}

static void step_signal(yoke_stability* self, double z[]) {
  const size_t p = self->p, s = self->s;
  const double H = self->c.step;
  double *y = z + self->n_x, *w_1 = y + p, *w_2 = w_1 + s, *c = w_2 + s;
  memset(self->slope, 0, s * sizeof *self->slope);
  memset(self->curve, 0, s * sizeof *self->curve);
  yoke__mat_vec(s, p, self->L, y, self->u);

  // backward differences: the line through two values, w' = rise / H; the parabola through three,
  // w'' = bend / H^2 and w' at its end, half a bend steeper than the line
  for (size_t i = 0; i < s; i++) {
    const double w = self->u[i], rise = w - w_1[i], bend = rise - (w_1[i] - w_2[i]);
    if (self->c.method == YOKE_STABILITY_FOH) {
      self->slope[i] = rise / H;
    } else if (self->c.method == YOKE_STABILITY_SOH) {
      self->slope[i] = (rise + 0.5 * bend) / H;
      self->curve[i] = bend / (H * H);
    } else if (self->c.method == YOKE_STABILITY_NEPCE) {
      // what the last step missed in the mean is given back in this one
      self->u[i] = w + c[i];
    }
    w_2[i] = w_1[i];
    w_1[i] = w;
  }
  take_means(self);
  advance(self, z);
  bring_up_to_date(self);

  // what the uncorrected value missed in the mean
  memcpy(y, self->y, p * sizeof *y);
  const bool looks = self->c.sees_inside;

  // c = mean - w; from the ends alone the mean of a line, (w_k+1 + w_k)/2, is half a rise away
  yoke__mat_vec(s, p, self->L, looks ? self->mean : self->y, self->work);
  for (size_t i = 0; i < s; i++) {
    c[i] = (looks ? 1 : 0.5) * (self->work[i] - w_1[i]);
  }
}

// ---- coupling by models: history = (state of the cluster, w~^{k-1}, next inputs of the corrector)

// The share of held signals into the inputs of the model.
static void blend_held(yoke_stability* self) {
  const double held = fmin(self->c.held_share, 1);
  if (held <= 0) {
    return;
  }
  yoke__mat_vec(self->s, self->p, self->L, self->cluster->y_last, self->work);
  for (size_t i = 0; i < self->s; i++) {
    // u := (1 - held) u + held L y; a held signal has no slope
    self->u[i] = (1 - held) * self->u[i] + held * self->work[i];
    self->slope[i] *= 1 - held;
  }
}

static void step_model(yoke_stability* self, double z[]) {
  const size_t p = self->p, s = self->s, n = self->cluster->n_state;
  yoke_mpsm* cluster = self->cluster;
  double *history = z + self->n_x, *w_last = history + n, *u_next = w_last + s;
  const bool is_corrector = self->c.method == YOKE_STABILITY_MBCORR;
  memcpy(cluster->state, history, n * sizeof *history);
  if (self->c.held_share >= 1) {
    yoke__mpsm_forget(cluster);  // as the method does while signals are held
  }

  // the model gives a constant or a ramp, no parabola
  memset(self->slope, 0, s * sizeof *self->slope);
  memset(self->curve, 0, s * sizeof *self->curve);

  // steps 2 and 3 from the history, which ends with step 1
  yoke_mpsm_sample now = {.y = cluster->y_last, .u = cluster->u_last};
  if (is_corrector) {
    memcpy(self->u, u_next, s * sizeof *u_next);
  } else {
    // y~ = y + delta: where the outputs would be without past coupling errors
    for (size_t i = 0; i < p; i++) {
      cluster->y_tilde[i] = cluster->y_last[i];
      cluster->y_tilde[i] += self->c.options.uses_ede ? cluster->delta[i] : 0;
    }
    yoke__mpsm_extrapolate(cluster, &now);
    yoke__mpsm_pass_on(cluster, &now, self->u, self->slope);
    for (size_t i = 0; i < self->c.n_units && !self->c.is_modified; i++) {
      const size_t first = self->parts[i].first_u;
      yoke__mpsm_optimise(cluster, i, &now, self->u + first, self->slope + first);
    }
    // a ramp is given by its end
    for (size_t i = 0; i < s; i++) {
      self->u[i] -= self->slope[i] * self->c.step;
    }
    blend_held(self);
  }
  advance(self, z);

  // step 1 over the step that ended
  inputs_after(self, self->n_parts, self->u_last);

  // the models get the input at the end of the step, and at its start where it is a ramp
  now = (yoke_mpsm_sample){.y = self->y,
                           .u = self->u_last,
                           .u_start = self->u,
                           .inner = self->c.sees_inside ? self->inner : NULL};
  if (is_corrector) {
    (void)yoke__mbcorr_step(cluster, &now, w_last, u_next, self->work);
  } else {
    yoke__mpsm_correct(cluster, &now);
    yoke__mpsm_accept(cluster, &now);
  }
  memcpy(history, cluster->state, n * sizeof *history);
}

// ---- the step as a map

void yoke__stability_step(yoke_stability* self, double z[], double y[], double u[]) {
  if (uses_model(self)) {
    step_model(self, z);
  } else {
    step_signal(self, z);
  }
  if (y != NULL) {
    memcpy(y, self->y, self->p * sizeof *y);
  }
  if (u != NULL) {
    inputs_after(self, self->n_parts, u);
  }
}

// u = L (C x + D u): solved, because feedthrough of one unit may feed that of another.
static yoke_status consistent_inputs(yoke_stability* self, const double x[], double u[]) {
  const size_t p = self->p, s = self->s;
  double* A = calloc(s * s + p, sizeof *A);
  size_t* pivots = calloc(s, sizeof *pivots);
  yoke_status status = YOKE_NO_MEMORY;
  if (A != NULL && pivots != NULL) {
    double* y = A + s * s;
    // A = I - L D, column by column: with x = 0 and a unit input y is a column of D
    for (size_t j = 0; j < s; j++) {
      // column j: what input j adds to L y
      memset(u, 0, s * sizeof *u);
      memset(self->next, 0, self->n_x * sizeof *self->next);
      u[j] = 1;
      outputs(self, self->next, u, y);
      for (size_t i = 0; i < s; i++) {
        double sum = i == j ? 1 : 0;
        for (size_t k = 0; k < p; k++) {
          sum -= self->L[i * p + k] * y[k];
        }
        A[i * s + j] = sum;
      }
    }
    // right side: with u = 0 the outputs are C x
    memset(u, 0, s * sizeof *u);
    outputs(self, x, u, y);
    yoke__mat_vec(s, p, self->L, y, u);
    status = yoke__solve(s, A, u, pivots);
  }
  free(A);
  free(pivots);
  return status;
}

yoke_status yoke__stability_start(yoke_stability* self, const double x[], double z[]) {
  const size_t p = self->p, s = self->s;
  YOKE_TRY(consistent_inputs(self, x, self->u_last));
  outputs(self, x, self->u_last, self->y);
  memset(z, 0, self->size * sizeof *z);
  memcpy(z, x, self->n_x * sizeof *x);
  double* history = z + self->n_x;
  if (uses_model(self)) {
    const size_t n = self->cluster->n_state;
    yoke__mpsm_start(self->cluster, self->y, self->u_last, NULL);
    memcpy(history, self->cluster->state, n * sizeof *history);
    if (self->c.method == YOKE_STABILITY_MBCORR) {
      memcpy(history + n, self->u_last, s * sizeof *history);
      memcpy(history + n + s, self->u_last, s * sizeof *history);
    }
  } else {
    // as if all had been constant before: w_k-1 = w_k-2 = u, c = 0
    memcpy(history, self->y, p * sizeof *history);
    memcpy(history + p, self->u_last, s * sizeof *history);
    memcpy(history + p + s, self->u_last, s * sizeof *history);
  }
  return YOKE_OK;
}

void yoke__stability_matrix(yoke_stability* self, double M[]) {
  const size_t n = self->size;
  double* z = M;  // row 0 of the transposed matrix first, put in place at the end

  // the step is linear: M e_j is column j
  for (size_t j = 0; j < n; j++, z += n) {
    memset(z, 0, n * sizeof *z);
    z[j] = 1;
    yoke__stability_step(self, z, NULL, NULL);
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) {
      const double swap = M[i * n + j];
      M[i * n + j] = M[j * n + i];
      M[j * n + i] = swap;
    }
  }
}

// ---- what follows from it

// A motion z^k is predicted by a parabola to |1 - 1/z|^3 of its size and by holding to |1 - 1/z|: where that is above 1, `auto`
// leaves the parabola. What dies out fast does not make it do so.
static yoke_status is_left(size_t n, const double M[], bool* is_left) {
  double* re = calloc(2 * n + 1, sizeof *re);
  YOKE_TRY_MEMORY(re);
  double* im = re + n;
  const yoke_status status = yoke__eigenvalues(n, M, re, im);
  *is_left = false;

  // |z - 1| > |z|, the same as |1 - 1/z| > 1: holding does worse than to predict nothing
  for (size_t i = 0; i < n && status >= 0; i++) {
    const double size = hypot(re[i], im[i]);
    *is_left = *is_left || (size > LASTING && hypot(re[i] - 1, im[i]) > size);
  }
  free(re);
  return status;
}

// The largest multiplier, without those of free motions: round-off moves one that stands alone by little, a defective one by its root.
static yoke_status largest_multiplier(size_t n, const double M[], size_t n_free, double* radius) {
  if (n_free == 0) {
    return yoke__spectral_radius(n, M, radius);
  }
  double* re = calloc(2 * n + 1, sizeof *re);
  YOKE_TRY_MEMORY(re);
  double* im = re + n;
  const yoke_status status = yoke__eigenvalues(n, M, re, im);

  // a double eigenvalue moves by the root of what disturbs the matrix
  const double within = n_free > 1 ? FREE_DEFECTIVE : FREE_ALONE;
  *radius = 0;
  for (size_t left = n_free, i = 0; i < n && status >= 0; i++) {
    if (left > 0 && hypot(re[i] - 1, im[i]) < within) {
      left--;
    } else {
      *radius = fmax(*radius, hypot(re[i], im[i]));
    }
  }
  free(re);
  return status;
}

static yoke_status radius_of(const yoke_stability_case* c, double* radius, bool* is_order_left) {
  yoke_stability* self;
  *radius = (double)INFINITY;
  *is_order_left = false;
  const yoke_status opened = yoke__stability_open(c, &self);

  // the models joined to a cluster give no finite numbers: there is no step to judge
  if (opened == YOKE_DIVERGED) {
    return YOKE_OK;
  }
  YOKE_TRY(opened);
  size_t n = self->size;
  double* M = calloc(n * n, sizeof *M);

  // the core of M lacks only multipliers of 0, which are never the largest
  yoke_status status = M == NULL ? YOKE_NO_MEMORY : yoke__stability_core(self, M, &n);
  if (status >= 0) {
    status = largest_multiplier(n, M, c->n_free, radius);
    if (status == YOKE_BAD_ARG) {
      *radius = (double)INFINITY;  // overflow within one step
      status = YOKE_OK;
    } else if (status >= 0 && c->is_choosing) {
      status = is_left(n, M, is_order_left);
    }
  }
  free(M);
  yoke__stability_close(&self);
  return status;
}

yoke_status yoke__stability_radius(const yoke_stability_case* c, double* radius) {
  bool is_order_left = false;
  YOKE_TRY(radius_of(c, radius, &is_order_left));
  if (is_order_left) {
    yoke_stability_case held = *c;
    double other = 0;
    held.method = YOKE_STABILITY_ZOH;
    YOKE_TRY(radius_of(&held, &other, &is_order_left));
    // `auto` may go to either method: the worse one counts
    *radius = fmax(*radius, other);
  }
  return YOKE_OK;
}

yoke_status yoke__stability_count_kept(const yoke_stability_case* c, size_t* n_kept) {
  yoke_stability* self;
  *n_kept = 0;
  YOKE_TRY(yoke__stability_open(c, &self));
  const size_t p = self->p;
  double* re = calloc(2 * p, sizeof *re);
  yoke_status status = re == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  if (status >= 0 && uses_model(self)) {
    double largest = 0, *im = re + p;
    status = yoke__eigenvalues(p, self->cluster->K, re, im);
    for (size_t i = 0; i < p && status >= 0; i++) {
      largest = fmax(largest, hypot(re[i], im[i]));
    }
    // a rate of 0, or as small as round-off makes it, against the fastest one
    for (size_t i = 0; i < p && status >= 0; i++) {
      *n_kept += hypot(re[i], im[i]) <= 1e-9 * largest ? 1 : 0;
    }
  }
  free(re);
  yoke__stability_close(&self);
  return status;
}
