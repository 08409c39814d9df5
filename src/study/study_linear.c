// From a built system to the linear model of its loops; see study_linear.h.
//
// Laws are evaluated by the master at the exchange, with the outputs of this instant: their inputs v = P y + Q z, their
// outputs z = D (P y + Q z), so z = (I - D Q)^-1 D P y, and the units get u = L1 y + L2 z.
#include "study/study_linear.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_status.h"
#include "couple/couple_auto.h"
#include "couple/couple_mpsm.h"
#include "linalg/linalg_dense.h"
#include "study/study_difference.h"
#include "study/study_linear_engine.h"
#include "study/study_linear_part.h"
#include "synth/synth_loop_part.h"

// A motion neither grows nor decays if its real part is below these shares of its size and of the fastest.
#define STILL     1e-9
#define ROUND_OFF 1e-14
#define BLUR      1e-7  // of a multiplier by differences
#define NEARLY    1e-3  // of the answers of a unit, relative: from here on it is reported

static const yoke_place nowhere = {0};

// ---- loops

typedef struct builder {
  yoke_system* system;
  const yoke_state* state;
  yoke_linear_loops* to;
  yoke_messages* messages;
  size_t *y_place, *u_place;  // per Y and U: position among those of the loops; YOKE_NOT_FOUND
  size_t *z_place, *v_place;  // the same for outputs and inputs of laws
  size_t n_z, n_v;
} builder;

static size_t giver_of(const yoke_system* system, const yoke_tap* tap) {
  return system->links[tap->link].from_unit;
}

static size_t taker_of(const yoke_system* system, const yoke_tap* tap) {
  return system->links[tap->link].to_unit;
}

// Whether something that unit gives comes back to it.
static bool comes_back(const yoke_system* system, size_t unit, bool seen[], size_t stack[]) {
  size_t n = 0;
  memset(seen, 0, system->n_units * sizeof *seen);
  stack[n++] = unit;

  // breadth does not matter: any path back to the unit is one
  while (n > 0) {
    const size_t at = stack[--n];
    for (size_t i = 0; i < system->n_links; i++) {
      const yoke_system_link* link = &system->links[i];
      if (!link->is_dense || link->from_unit != at) {
        continue;
      }
      if (link->to_unit == unit) {
        return true;
      }
      if (!seen[link->to_unit]) {
        seen[link->to_unit] = true;
        stack[n++] = link->to_unit;
      }
    }
  }
  return false;
}

static yoke_status mark_loops(builder* b) {
  const size_t n = b->system->n_units;
  bool* seen = yoke__arena_array(&b->to->arena, n, sizeof *seen);
  size_t* stack = yoke__arena_array(&b->to->arena, n + 1, sizeof *stack);
  YOKE_TRY_MEMORY(seen && stack);
  for (size_t i = 0; i < n; i++) {
    b->to->units[i].is_in_loop = comes_back(b->system, i, seen, stack);
  }
  return YOKE_OK;
}

static bool is_loop_tap(const builder* b, const yoke_tap* tap) {
  return b->to->units[giver_of(b->system, tap)].is_in_loop &&
         b->to->units[taker_of(b->system, tap)].is_in_loop;
}

// What no matrix of a step is made for. The step is the exchange interval if there is one, else the macro step.
static void look_at_taps(builder* b) {
  const yoke_system* system = b->system;
  yoke_linear_loops* to = b->to;
  const yoke_tap* first = NULL;
  bool has_several = false;
  for (size_t t = 0; t < system->n_taps; t++) {
    const yoke_tap* tap = &system->taps[t];
    if (!is_loop_tap(b, tap)) {
      continue;
    }
    first = first == NULL ? tap : first;
    has_several = has_several || tap->every != first->every;
    if (tap->delay > 0) {
      to->general = "delays";
    }
  }
  to->general = has_several ? "several exchange intervals" : to->general;

  // the slot counts the units of time of the clock between two exchanges
  const int64_t every = first == NULL || has_several ? system->macro : first->every * system->slot;
  to->step = first == NULL ? 0 : yoke__clock_seconds(&system->clock, every);
}

// Where the loops are run, semi-implicit Euler is followed, too.
static yoke_status name_solvers(builder* b) {
  for (size_t i = 0; i < b->to->n_units && b->to->general != NULL; i++) {
    yoke_linear_unit* unit = &b->to->units[i];
    if (unit->semi_implicit_step > 0) {
      char text[96];
      snprintf(text, sizeof text, "semi-implicit Euler, %.6g s", unit->semi_implicit_step);
      unit->solver_text = yoke__linear_text(&b->to->arena, text);
      YOKE_TRY_MEMORY(unit->solver_text);
    }
  }
  return YOKE_OK;
}

static void look_at_exchange(builder* b) {
  static const char* const schemes[] = {NULL, "scheme gauss-seidel", "scheme iterative-jacobi",
                                        "scheme iterative-gauss-seidel"};
  const yoke_system* system = b->system;
  yoke_linear_loops* to = b->to;
  for (size_t i = 0; i < to->n_units && !to->is_fresh; i++) {
    const yoke_system_unit* unit = &system->units[i];
    to->is_fresh = to->units[i].is_in_loop && unit->is_fresh && !unit->is_law &&
                   to->units[i].n_feedthrough > 0;
  }
  if (to->general == NULL && to->is_fresh) {
    to->general = "fresh exchange";
  }
  for (size_t i = 0; i < to->n_units && to->general == NULL; i++) {
    to->general = to->units[i].difference != NULL && to->units[i].n_states > 0
                      ? "a unit is linearised by differences of its calls"
                      : NULL;
  }
  if (system->scenario->scheme != YOKE_JACOBI) {
    to->general = schemes[system->scenario->scheme];
  }
}

static void check_units(builder* b) {
  for (size_t i = 0; i < b->to->n_units; i++) {
    const yoke_linear_unit* unit = &b->to->units[i];
    if (unit->is_in_loop && !unit->has_model) {
      const yoke_sink list = yoke__messages_sink(b->messages);
      yoke_context about;
      yoke__context_init(&about, &list, nowhere, b->system->units[i].name, (double)NAN);
      yoke_fail(&about.sink, YOKE_BAD_INPUT,
                "it is in a loop, but has no linear model (%s): %s. Run the system with method "
                "mpsm on the loop, and look at the run with yoke analyse --run",
                b->system->units[i].unit.ops->name, unit->why);
    }
  }
}

// What is said about the numbers that follow.
static void note_limits(builder* b) {
  const yoke_system* system = b->system;
  size_t n_other = 0;
  if (system->is_adaptive) {
    yoke__message_add(b->messages, YOKE_NOTE, nowhere,
                      "the file uses a variable step; all figures are for fixed steps");
  }
  for (size_t i = 0; i < b->to->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    if (b->to->units[i].is_in_loop && b->to->units[i].is_solver_unknown) {
      yoke__message_add(b->messages, YOKE_NOTE, nowhere,
                        "unit '%s' is treated as exact: its internal step is unknown%s", unit->name,
                        unit->source->kind == YOKE_KIND_FMU ? "; give it with `internal_step`"
                                                            : "");
    }
    if (b->to->units[i].is_in_loop && b->to->units[i].error > NEARLY) {
      yoke__message_add(b->messages, YOKE_NOTE, nowhere,
                        "the linear model of unit '%s' has an error of %.2g %%, because the unit "
                        "is nonlinear or jumps there; the figures of its loops are as inaccurate",
                        unit->name, 100 * b->to->units[i].error);
    }
  }
  for (size_t i = 0; i < system->n_links; i++) {
    n_other += !system->links[i].is_dense;
  }
  if (n_other > 0) {
    yoke__message_add(b->messages, YOKE_NOTE, nowhere,
                      "%zu connection%s of other types than real %s left out", n_other,
                      n_other == 1 ? "" : "s", n_other == 1 ? "is" : "are");
  }
}

// Numbers the outputs and inputs that travel in loops; those of laws apart.
static yoke_status place_signals(builder* b) {
  yoke_linear_loops* to = b->to;
  const yoke_system* system = b->system;
  bool* is_used = yoke__arena_array(&to->arena, system->n_y, sizeof *is_used);
  size_t* outputs = yoke__arena_array(&to->arena, system->n_y, sizeof *outputs);
  size_t* inputs = yoke__arena_array(&to->arena, system->n_u, sizeof *inputs);
  size_t** places[] = {&b->y_place, &b->z_place, &b->u_place, &b->v_place};
  for (size_t i = 0; i < 4; i++) {
    const size_t n = i < 2 ? system->n_y : system->n_u;
    *places[i] = yoke__arena_array(&to->arena, n, sizeof(size_t));
    YOKE_TRY_MEMORY(*places[i]);
    for (size_t k = 0; k < n; k++) {
      (*places[i])[k] = YOKE_NOT_FOUND;
    }
  }
  YOKE_TRY_MEMORY(is_used && outputs && inputs);
  // taps are sorted by receiving unit and input
  for (size_t t = 0; t < system->n_taps; t++) {
    const yoke_tap* tap = &system->taps[t];
    if (is_loop_tap(b, tap)) {
      is_used[tap->from] = true;
      if (system->units[taker_of(system, tap)].is_law) {
        b->v_place[tap->to] = b->n_v++;
      } else {
        inputs[to->s] = tap->to;
        b->u_place[tap->to] = to->s++;
      }
    }
  }
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    for (size_t y = unit->y; y < unit->y + unit->unit.n_y; y++) {
      if (is_used[y] && unit->is_law) {
        b->z_place[y] = b->n_z++;
      } else if (is_used[y]) {
        outputs[to->p] = y;
        b->y_place[y] = to->p++;
      }
    }
  }
  to->outputs = outputs;
  to->inputs = inputs;
  return YOKE_OK;
}

// z (n_z x p) := (I - D Q)^-1 D P. work: see fold_laws.
static yoke_status solve_laws(const builder* b, const double P[], const double Q[], double D[],
                              double Z[]) {
  const size_t p = b->to->p, n_z = b->n_z, n_v = b->n_v;
  double* A = calloc(n_z * n_z + n_z + 1, sizeof *A);
  size_t* pivots = calloc(n_z + 1, sizeof *pivots);
  yoke_status status = YOKE_NO_MEMORY;
  if (A != NULL && pivots != NULL) {
    // A = I - D Q, Z = D P, then Z := A^-1 Z column by column
    yoke__mat_mul(n_z, n_v, n_z, D, Q, A);
    for (size_t i = 0; i < n_z * n_z; i++) {
      A[i] = (i % (n_z + 1) == 0 ? 1 : 0) - A[i];
    }
    yoke__mat_mul(n_z, n_v, p, D, P, Z);
    status = yoke__lu_factor(n_z, A, pivots);
    double* column = A + n_z * n_z;
    for (size_t j = 0; j < p && status >= 0; j++) {
      for (size_t i = 0; i < n_z; i++) {
        column[i] = Z[i * p + j];
      }
      yoke__lu_solve(n_z, A, pivots, column);
      for (size_t i = 0; i < n_z; i++) {
        Z[i * p + j] = column[i];
      }
    }
  }
  free(A);
  free(pivots);
  return status;
}

// Feedthrough of all laws in loops: n_z x n_v.
static void fill_laws(const builder* b, double D[]) {
  const yoke_system* system = b->system;
  for (size_t k = 0; k < system->n_units; k++) {
    const yoke_system_unit* unit = &system->units[k];
    const yoke_linear_unit* model = &b->to->units[k];
    if (!unit->is_law || !model->is_in_loop) {
      continue;
    }
    for (size_t i = 0; i < model->n_outputs; i++) {
      for (size_t j = 0; j < model->n_inputs; j++) {
        const size_t z = b->z_place[unit->y + i], v = b->v_place[unit->u + j];
        if (z != YOKE_NOT_FOUND && v != YOKE_NOT_FOUND) {
          D[z * b->n_v + v] = model->D[i * model->n_inputs + j];
        }
      }
    }
  }
}

// L of the units, with the laws in it.
static yoke_status fold_laws(builder* b) {
  yoke_linear_loops* to = b->to;
  const yoke_system* system = b->system;
  const size_t p = to->p, s = to->s, n_z = b->n_z, n_v = b->n_v;
  yoke_arena* arena = &to->arena;
  double *P = yoke__linear_numbers(arena, n_v * p), *Q = yoke__linear_numbers(arena, n_v * n_z),
         *L2 = yoke__linear_numbers(arena, s * n_z), *D = yoke__linear_numbers(arena, n_z * n_v),
         *Z = yoke__linear_numbers(arena, n_z * p);
  to->L = yoke__linear_numbers(arena, s * p);
  YOKE_TRY_MEMORY(P && Q && L2 && D && Z && to->L);
  for (size_t t = 0; t < system->n_taps; t++) {
    const yoke_tap* tap = &system->taps[t];
    if (!is_loop_tap(b, tap)) {
      continue;
    }
    const size_t y = b->y_place[tap->from], z = b->z_place[tap->from];
    const size_t u = b->u_place[tap->to], v = b->v_place[tap->to];
    // u = L1 y + L2 z, v = P y + Q z: each connection has one place in one of the four
    double* row = u != YOKE_NOT_FOUND ? (z != YOKE_NOT_FOUND ? L2 + u * n_z + z : to->L + u * p + y)
                  : z != YOKE_NOT_FOUND ? Q + v * n_z + z
                                        : P + v * p + y;
    *row = tap->gain;
  }
  if (n_z == 0) {
    return YOKE_OK;
  }
  fill_laws(b, D);
  const yoke_status status = solve_laws(b, P, Q, D, Z);
  if (status == YOKE_SINGULAR) {
    return yoke__error(b->messages, nowhere, "the laws form an algebraic loop without solution");
  }
  YOKE_TRY(status);

  // L := L1 + L2 Z
  for (size_t i = 0; i < s; i++) {
    for (size_t k = 0; k < n_z; k++) {
      for (size_t j = 0; j < p; j++) {
        to->L[i * p + j] += L2[i * n_z + k] * Z[k * p + j];
      }
    }
  }
  return YOKE_OK;
}

// One member: what travels of it.
static yoke_status add_member(builder* b, size_t k, size_t list[]) {
  yoke_linear_loops* to = b->to;
  const yoke_system_unit* unit = &b->system->units[k];
  const yoke_linear_unit* model = &to->units[k];
  size_t n = 0, m = 0;
  for (size_t i = 0; i < unit->unit.n_y; i++) {
    if (b->y_place[unit->y + i] != YOKE_NOT_FOUND) {
      list[n++] = i;
    }
  }
  for (size_t i = 0; i < unit->unit.n_u; i++) {
    if (b->u_place[unit->u + i] != YOKE_NOT_FOUND) {
      list[n + m++] = i;
    }
  }
  const size_t at = to->n_members++;
  to->members[at] = k;
  to->n_x += model->n_states;
  to->solvers[at] = to->called[at] = to->once[at] = model->solver;
  if (unit->derivative_order == 0) {
    // a unit called several times per exchange takes its inputs at each call
    to->called[at].call_step = unit->step < to->step * (1 - 1e-9) ? unit->step : (double)INFINITY;
    to->called[at].takes_mean = yoke__system_has_means(b->system) && unit->takes_means;
    to->once[at].call_step = (double)INFINITY;
    to->once[at].takes_mean = yoke__system_can_take_means(unit);
  }
  return yoke__linear_select(model, list, n, list + n, m, &to->arena, &to->parts[at]);
}

static yoke_status add_members(builder* b) {
  yoke_linear_loops* to = b->to;
  const size_t n = b->system->n_units;
  to->members = yoke__arena_array(&to->arena, n, sizeof *to->members);
  to->parts = yoke__arena_array(&to->arena, n, sizeof *to->parts);
  to->solvers = yoke__arena_array(&to->arena, n, sizeof *to->solvers);
  to->called = yoke__arena_array(&to->arena, n, sizeof *to->called);
  to->once = yoke__arena_array(&to->arena, n, sizeof *to->once);
  size_t* list = yoke__arena_array(&to->arena, b->system->n_y + b->system->n_u + 1, sizeof *list);
  YOKE_TRY_MEMORY(to->members && to->parts && to->solvers && to->called && to->once && list);
  for (size_t k = 0; k < n; k++) {
    if (to->units[k].is_in_loop && !b->system->units[k].is_law) {
      YOKE_TRY(add_member(b, k, list));
    }
  }
  return YOKE_OK;
}

// ---- the coupled system

// Block diagonals of B, C, D and A into full matrices: A (n x n), B (n x s), C (p x n), D (p x s).
static void fill_blocks(const yoke_linear_loops* self, double A[], double B[], double C[],
                        double D[]) {
  const size_t n = self->n_x, p = self->p, s = self->s;
  size_t x = 0, y = 0, u = 0;
  for (size_t k = 0; k < self->n_members; k++) {
    // A, B, C, D of a member go to its own states, inputs and outputs
    const yoke_stability_unit* unit = &self->parts[k];
    for (size_t i = 0; i < unit->n_states; i++) {
      memcpy(A + (x + i) * n + x, unit->A + i * unit->n_states, unit->n_states * sizeof *A);
      memcpy(B + (x + i) * s + u, unit->B + i * unit->n_inputs, unit->n_inputs * sizeof *B);
    }
    for (size_t i = 0; i < unit->n_outputs; i++) {
      memcpy(C + (y + i) * n + x, unit->C + i * unit->n_states, unit->n_states * sizeof *C);
      memcpy(D + (y + i) * s + u, unit->D + i * unit->n_inputs, unit->n_inputs * sizeof *D);
    }
    x += unit->n_states;
    y += unit->n_outputs;
    u += unit->n_inputs;
  }
  (void)p;
}

// What the file brings up to date of the feedthrough: all of what is known, and what the file says itself.
static yoke_status find_through(builder* b) {
  yoke_linear_loops* to = b->to;
  const yoke_system* system = b->system;
  for (size_t k = 0; k < system->n_throughs; k++) {
    const yoke_system_through* t = &system->throughs[k];
    const size_t y = b->y_place[t->y];
    const yoke_system_unit* unit = &system->units[t->unit];
    const yoke_linear_unit* model = &to->units[t->unit];
    for (size_t i = t->first; i < t->first + t->n && !t->is_evaluated; i++) {
      const yoke_through_term* term = &system->through_terms[i];
      const size_t u = b->u_place[term->u];
      if (y == YOKE_NOT_FOUND || u == YOKE_NOT_FOUND) {
        continue;
      }
      if (to->through == NULL) {
        to->through = yoke__linear_numbers(&to->arena, to->p * to->s);
        YOKE_TRY_MEMORY(to->through);
      }
      to->through[y * to->s + u] =
          isnan(term->value) ? model->D[(t->y - unit->y) * model->n_inputs + (term->u - unit->u)]
                             : term->value;
    }
  }
  return YOKE_OK;
}

// Where the chains of feedthrough have no solution, outputs are sent as they are.
static yoke_status check_through(builder* b) {
  yoke_linear_loops* to = b->to;
  yoke_stability_case c;
  yoke_stability* trial = NULL;
  if (to->through == NULL || !yoke__linear_case(to, YOKE_LINEAR_FILE, to->step, &c) ||
      c.method == YOKE_STABILITY_MPSM || c.method == YOKE_STABILITY_MBCORR) {
    return YOKE_OK;
  }
  const yoke_status status = yoke__stability_open(&c, &trial);
  yoke__stability_close(&trial);
  if (status == YOKE_SINGULAR) {
    to->through = NULL;
    return YOKE_OK;
  }
  return yoke__status_is_shortage(status) ? status : YOKE_OK;
}

// A + B L (I - D L)^-1 C, its eigenvalues, and the radius of D L.
static yoke_status solve_whole(yoke_linear_loops* self, double* work, size_t* pivots) {
  const size_t n = self->n_x, p = self->p, s = self->s;
  double *A = work, *B = A + n * n, *C = B + n * s, *D = C + p * n, *DL = D + p * s,
         *BL = DL + p * p, *column = BL + n * p;
  fill_blocks(self, A, B, C, D);
  memcpy(self->D, D, p * s * sizeof *D);

  // D L: outputs that come back to themselves within an instant
  yoke__mat_mul(p, s, p, D, self->L, DL);
  YOKE_TRY(yoke__spectral_radius(p, DL, &self->direct));
  if (self->direct < 1e-12 * yoke__norm_1(p, DL)) {
    self->direct = 0;  // round-off of a nilpotent matrix
  }
  for (size_t i = 0; i < p * p; i++) {
    DL[i] = (i % (p + 1) == 0 ? 1 : 0) - DL[i];
  }

  // I - D L singular: the algebraic loop has no solution
  if (yoke__lu_factor(p, DL, pivots) < 0) {
    self->is_singular = true;
    return YOKE_OK;
  }

  // A + B L (I - D L)^-1 C, column by column
  yoke__mat_mul(n, s, p, B, self->L, BL);
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < p; i++) {
      column[i] = C[i * n + j];
    }
    yoke__lu_solve(p, DL, pivots, column);
    for (size_t i = 0; i < n; i++) {
      for (size_t k = 0; k < p; k++) {
        A[i * n + j] += BL[i * p + k] * column[k];
      }
    }
  }
  if (n == 0 || self->is_of_calls) {
    return YOKE_OK;
  }
  YOKE_TRY(yoke__synth_loop_count_zeros(n, A, &self->n_free));
  return yoke__eigenvalues(n, A, self->re, self->im);
}

// Eigenvalues that stand for free motions: the smallest ones, as many as the matrix has zeros.
static bool is_free(const yoke_linear_loops* self, size_t i) {
  const double size = hypot(self->re[i], self->im[i]);

  // rank of the eigenvalue by size: the n_free smallest ones are the zeros
  size_t n_smaller = 0;
  for (size_t k = 0; k < self->n_x; k++) {
    const double other = hypot(self->re[k], self->im[k]);
    n_smaller += other < size || (other == size && k < i);
  }
  return n_smaller < self->n_free;
}

// What differences of calls cannot tell from 0 [1/s].
static double blur_of(const yoke_linear_loops* self) {
  double blur = 0;
  for (size_t k = 0; k < self->n_members; k++) {
    const yoke_difference* tried = self->units[self->members[k]].difference;
    blur = tried == NULL ? blur : fmax(blur, BLUR / tried->unit->step);
  }
  return blur;
}

// Free motions, and the size and growth of the others.
static void sum_up(yoke_linear_loops* self) {
  const double blur = blur_of(self);
  double fastest = 0;
  size_t n_slow = 0;

  // motions slower than the blur of differences cannot be distinguished from free ones
  for (size_t i = 0; i < self->n_x; i++) {
    n_slow += hypot(self->re[i], self->im[i]) <= blur;
  }
  self->n_free = n_slow > self->n_free ? n_slow : self->n_free;
  for (size_t i = 0; i < self->n_x; i++) {
    fastest = fmax(fastest, hypot(self->re[i], self->im[i]));
  }
  for (size_t i = 0; i < self->n_x; i++) {
    const double size = hypot(self->re[i], self->im[i]);
    if (is_free(self, i)) {
      continue;
    }
    // round-off of a slow motion is that of the fastest
    const double still = STILL * size + ROUND_OFF * fastest + blur;
    const yoke_linear_motion motion = self->re[i] > still     ? YOKE_LINEAR_GROWS
                                      : self->re[i] >= -still ? YOKE_LINEAR_KEEPS
                                                              : YOKE_LINEAR_DECAYS;
    self->motion = motion > self->motion ? motion : self->motion;
    const bool is_first = isnan(self->growth);
    self->slowest = is_first ? size : fmin(self->slowest, size);
    self->fastest = is_first ? size : fmax(self->fastest, size);
    self->growth = is_first ? self->re[i] : fmax(self->growth, self->re[i]);
  }
}

static yoke_status couple(yoke_linear_loops* self) {
  const size_t n = self->n_x, p = self->p, s = self->s;
  self->re = yoke__linear_numbers(&self->arena, n);
  self->im = yoke__linear_numbers(&self->arena, n);
  self->D = yoke__linear_numbers(&self->arena, p * s);
  double* work =
      calloc(n * n + 2 * n * s + 2 * p * n + p * s + p * p + n * p + p + 1, sizeof *work);
  size_t* pivots = calloc(p + 1, sizeof *pivots);
  yoke_status status = YOKE_NO_MEMORY;
  if (work != NULL && pivots != NULL && self->re != NULL && self->im != NULL && self->D != NULL) {
    status = solve_whole(self, work, pivots);
  }
  free(work);
  free(pivots);
  if (status >= 0 && !self->is_singular && !self->is_of_calls) {
    sum_up(self);
  }
  return status;
}

// A coupled system that decays may still grow in the steps of explicit Euler, |1 + h lambda| > 1: then no coupling helps.
static void note_euler(builder* b) {
  const yoke_linear_loops* to = b->to;
  const double h = to->n_members > 0 ? to->solvers[0].micro_step : 0;
  double worst = 0;

  // only where all units step alike is there one |1 + h lambda|
  for (size_t i = 1; i < to->n_members; i++) {
    if (to->solvers[i].micro_step != h) {
      return;
    }
  }
  for (size_t i = 0; i < to->n_x && !to->is_singular; i++) {
    // |1 + h lambda|
    worst = fmax(worst, hypot(1 + h * to->re[i], h * to->im[i]));
  }
  if (h > 0 && to->motion == YOKE_LINEAR_DECAYS && worst > 1) {
    yoke__message_add(b->messages, YOKE_NOTE, nowhere,
                      "explicit Euler with steps of %.6g s makes the coupled system unstable with "
                      "any coupling; the units need smaller internal steps",
                      h);
  }
}

// Models that cannot be joined have no motions: the methods that need them say so themselves.
static yoke_status count_kept(yoke_linear_loops* self) {
  yoke_stability_case c;
  if (self->step > 0 && yoke__linear_case(self, YOKE_LINEAR_MPSM, self->step, &c)) {
    const yoke_status status = yoke__stability_count_kept(&c, &self->n_kept);
    return yoke__status_is_shortage(status) ? status : YOKE_OK;
  }
  return YOKE_OK;
}

// ---- the file's method

static double parameter(const yoke_system_method* method, const char* name, double otherwise) {
  for (size_t i = 0; i < method->ops->n_parameters; i++) {
    if (strcmp(method->ops->parameters[i].name, name) == 0) {
      return method->parameters[i];
    }
  }
  return otherwise;
}

static void name_method(const yoke_system* system, const yoke_system_link* link, char* to,
                        size_t size) {
  const yoke_coupling_ops* ops = system->methods[link->method].ops;
  if (link->order > 0 || ops->form == YOKE_FORM_POLYNOMIAL) {
    snprintf(to, size, "%s, order %d", ops->name, link->order);
  } else {
    // order 0 of a polynomial is printed as well: hold, order 0
    snprintf(to, size, "%s", ops->name);
  }
}

// Settings of mpsm and mbcorr as far as a step matrix can show them. False: not all of them.
static bool take_options(const yoke_system_method* method, bool is_corrector,
                         yoke_linear_file* to) {
  const bool is_provided = parameter(method, "jacobians", 0) == 2;
  to->options = yoke__couple_mpsm_options(method->parameters, is_corrector, is_provided);
  to->is_modified = parameter(method, "th_modified", 1) <= 0;
  to->is_identified = !is_provided;
  return yoke__couple_mpsm_is_published(method->parameters);
}

// The row of the table that a connection belongs to; false: none.
static bool classify(const yoke_system* system, const yoke_system_link* link,
                     yoke_linear_file* to) {
  const yoke_system_method* method = &system->methods[link->method];
  switch (method->ops->form) {
  case YOKE_FORM_POLYNOMIAL:
    to->method = (yoke_linear_method)((int)YOKE_LINEAR_HOLD + link->order);
    return link->order <= 2;
  case YOKE_FORM_MEAN_ERROR:
    to->method = YOKE_LINEAR_NEPCE;
    return link->order == 0 && parameter(method, "weight", 1) == 1;
  case YOKE_FORM_PRE_STEP:
    to->method = parameter(method, "ede", 0) > 0 ? YOKE_LINEAR_EDE : YOKE_LINEAR_MPSM;
    return method->ops->parameters == yoke__couple_mpsm.parameters &&
           take_options(method, false, to);
  case YOKE_FORM_CORRECTOR:
    to->method = YOKE_LINEAR_MBCORR;
    return method->ops->parameters == yoke__couple_mbcorr.parameters &&
           take_options(method, true, to);
  case YOKE_FORM_OTHER:
    break;
  }
  return false;
}

static yoke_status find_file_method(builder* b) {
  const yoke_system* system = b->system;
  yoke_linear_file* file = &b->to->file;
  char all[256] = "", one[64];
  file->is_known = true;
  bool is_first = true;
  size_t served_by = 0;
  for (size_t t = 0; t < system->n_taps; t++) {
    const yoke_tap* tap = &system->taps[t];
    const yoke_system_link* link = &system->links[tap->link];
    // what goes into a law has no method of its own
    if (!is_loop_tap(b, tap) || system->units[link->to_unit].is_law) {
      continue;
    }
    yoke_linear_file found = *file;
    // means of what is no polynomial are not followed
    const yoke_coupling_ops* ops = system->methods[link->method].ops;
    const bool has_means = yoke__system_has_means(system) && ops->input_mean != NULL &&
                           ops->form != YOKE_FORM_POLYNOMIAL;
    const bool is_treated = classify(system, link, &found) && !has_means;
    // two clusters with models of their own are not one
    const bool has_models = found.method >= YOKE_LINEAR_MPSM;
    const bool is_same =
        is_first || (found.method == file->method && (!has_models || link->method == served_by));
    found.is_known = is_treated && file->is_known && is_same;
    found.is_auto = file->is_auto || ops == &yoke__couple_auto;
    *file = found;
    served_by = link->method;
    name_method(system, link, one, sizeof one);
    if (strstr(all, one) == NULL) {
      const size_t used = strlen(all);
      snprintf(all + used, sizeof all - used, "%s%s", is_first ? "" : " and ", one);
    }
    is_first = false;
  }
  file->text = yoke__linear_text(&b->to->arena, all);
  return file->text == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// ---- all of it

// What of a unit travels in loops.
static yoke_difference* point_of(builder* b, size_t unit) {
  const yoke_system* system = b->system;
  const yoke_system_unit* from = &system->units[unit];
  yoke_arena* arena = &b->to->arena;
  yoke_difference* point = yoke__arena_take(arena, sizeof *point);
  bool* outputs = yoke__arena_array(arena, from->unit.n_y + 1, sizeof *outputs);
  bool* inputs = yoke__arena_array(arena, from->unit.n_u + 1, sizeof *inputs);
  if (point == NULL || outputs == NULL || inputs == NULL) {
    return NULL;
  }
  for (size_t t = 0; t < system->n_taps; t++) {
    const yoke_tap* tap = &system->taps[t];
    if (is_loop_tap(b, tap) && giver_of(system, tap) == unit) {
      outputs[tap->from - from->y] = true;
    }
    if (is_loop_tap(b, tap) && taker_of(system, tap) == unit) {
      inputs[tap->to - from->u] = true;
    }
  }
  *point = (yoke_difference){.unit = from,
                             .t = b->state->t,
                             .u = b->state->u + from->u,
                             .is_output_used = outputs,
                             .is_input_used = inputs,
                             .arena = arena};
  return point;
}

// Calls of a unit between two exchanges of the inputs that it gets in loops; 1: some come as often as it is called.
static int64_t calls_per_exchange(const builder* b, size_t i) {
  const yoke_system_unit* unit = &b->system->units[i];
  int64_t least = 0;
  for (size_t t = 0; t < b->system->n_taps; t++) {
    const yoke_tap* tap = &b->system->taps[t];
    if (is_loop_tap(b, tap) && taker_of(b->system, tap) == i) {
      const int64_t every = tap->every * b->system->slot;
      least = least == 0 || every < least ? every : least;
    }
  }

  // rounded to whole calls; below 1.5 a unit is called once per exchange
  const double calls =
      unit->step > 0 ? yoke__clock_seconds(&b->system->clock, least) / unit->step : 1;
  return calls > 1.5 && (unit->unit.info->flags & YOKE_UNIT_SAMPLED) == 0 ? (int64_t)(calls + 0.5)
                                                                          : 1;
}

static yoke_status try_unit(builder* b, size_t i) {
  yoke_linear_unit* unit = &b->to->units[i];
  const yoke_system_unit* from = &b->system->units[i];
  yoke_difference* point = point_of(b, i);
  YOKE_TRY_MEMORY(point);
  const bool is_sampled = (from->unit.info->flags & YOKE_UNIT_SAMPLED) != 0;
  bool is_continuous = false;
  // of calls one by one, where pulses over more of them give no model of continuous time
  const bool can_return = yoke__unit_image_size(&from->unit) > 0;

  // pulses over a whole exchange first, then over single calls
  for (point->n_calls = can_return ? calls_per_exchange(b, i) : 1;; point->n_calls = 1) {
    YOKE_TRY(yoke__difference(point, from->step, &b->to->arena, unit));
    const double n = unit->is_of_pulses ? (double)point->n_calls : 1;
    is_continuous = unit->has_model && unit->n_states > 0 && !is_sampled &&
                    yoke__difference_continuous(n * from->step, unit);
    if (is_continuous && unit->is_of_pulses) {
      YOKE_TRY(yoke__difference_repeats(point, unit, &is_continuous));
    }
    if (is_continuous || point->n_calls == 1 || (unit->has_model && !unit->is_of_pulses)) {
      break;
    }
    point->known = NULL;
  }
  if (!unit->has_model) {
    return YOKE_OK;
  }
  unit->difference = point;
  bool is_silent = unit->n_states == 0;
  for (size_t k = 0; k < unit->n_outputs * unit->n_inputs && is_silent; k++) {
    is_silent = unit->D[k] == 0;
  }
  b->to->silent = is_silent ? unit->name : b->to->silent;
  unit->is_of_calls = unit->n_states > 0 && !is_continuous;
  if (is_continuous && unit->is_of_pulses) {
    point->continuous = unit;
    point->call = (double)point->n_calls * from->step;
    point->known = NULL;
  }
  YOKE_TRY(yoke__linear_look_at(&b->to->arena, unit));
  char text[96];
  if (unit->n_shaken > 0) {
    snprintf(text, sizeof text, "identified from %zu calls of %.6g s", unit->n_shaken, from->step);
  } else {
    snprintf(text, sizeof text, "by differences of calls of %.6g s", from->step);
  }
  unit->solver_text =
      from->is_law ? "none, by differences" : yoke__linear_text(&b->to->arena, text);
  unit->is_solver_unknown = false;
  unit->solver = (yoke_stability_solver){0};
  unit->semi_implicit_step = 0;
  YOKE_TRY_MEMORY(unit->solver_text);
  if (unit->is_of_calls) {
    b->to->is_of_calls = true;
    unit->slowest = unit->fastest = unit->growth = (double)NAN;
  }
  return YOKE_OK;
}

// Units in loops that say nothing about their slopes are tried.
static yoke_status try_differences(builder* b) {
  for (size_t i = 0; i < b->system->n_units; i++) {
    if (b->to->units[i].is_in_loop && !b->to->units[i].has_model) {
      YOKE_TRY(try_unit(b, i));
    }
  }
  return YOKE_OK;
}

static yoke_status build(builder* b) {
  yoke_linear_loops* to = b->to;
  to->n_units = b->system->n_units;
  to->units = yoke__arena_array(&to->arena, to->n_units, sizeof *to->units);
  YOKE_TRY_MEMORY(to->units);
  for (size_t i = 0; i < to->n_units; i++) {
    YOKE_TRY(yoke__linear_unit_of(b->system, i, &to->arena, &to->units[i]));
  }
  YOKE_TRY(mark_loops(b));
  YOKE_TRY(try_differences(b));
  const size_t n_errors = b->messages->n_errors;
  look_at_taps(b);
  look_at_exchange(b);
  YOKE_TRY(name_solvers(b));
  check_units(b);
  if (b->messages->n_errors > n_errors) {
    return YOKE_BAD_INPUT;
  }
  note_limits(b);
  YOKE_TRY(place_signals(b));
  YOKE_TRY(fold_laws(b));
  YOKE_TRY(add_members(b));
  YOKE_TRY(find_file_method(b));
  YOKE_TRY(find_through(b));
  to->macro = yoke__clock_seconds(&b->system->clock, b->system->macro);
  if (to->n_members > 0) {
    YOKE_TRY(couple(to));
    YOKE_TRY(check_through(b));
    YOKE_TRY(count_kept(to));
    note_euler(b);
  }
  return YOKE_OK;
}

yoke_status yoke__linear_open(yoke_system* system, const yoke_state* state, yoke_messages* messages,
                              yoke_linear_loops* out) {
  *out = (yoke_linear_loops){
      .system = system, .growth = (double)NAN, .slowest = (double)NAN, .fastest = (double)NAN};
  builder b = {.system = system, .state = state, .to = out, .messages = messages};
  return build(&b);
}

void yoke__linear_free(yoke_linear_loops* self) {
  for (size_t i = 0; i < YOKE_LINEAR_N_METHODS; i++) {
    yoke__linear_engine_close(&self->judges[i].engine);
  }
  yoke__arena_free(&self->arena);
  *self = (yoke_linear_loops){0};
}
