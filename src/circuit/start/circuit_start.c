// The initial configuration: x with Phi(x, t) = 0 and the states as prescribed, and xdot. Page:
// docs/circuit_methods.md, "Initial configuration".
//
// Every capacitor and inductor puts one row in the place of its differential equation:
//
//   capacitor  V_a - V_b = v0   (prescribed)   or   I = 0           (free: operating point)
//   inductor   I = i0           (prescribed)   or   V_a - V_b = 0   (free)
//
// so the pattern of J serves. Rows on voltages must not close loops with voltage sources and each
// other, rows on currents must not form cut sets with current sources: a graph search finds those
// that would. A free one then takes the other row with 0. A prescribed one follows from the others,
// and so does its value; what is missing is how the capacitors of a loop share their current, or
// the inductors of a cut set their voltage, which only rates decide. Then x and xdot are found
// together from
//
//   Phi(x) = 0,  rows of independent states,  Phi_x xdot + Phi_t = 0,  A xdot + b(x) = 0,
//
// closed by one rate of each dependent element (I' of a capacitor, V_a' - V_b' of an inductor),
// which is free, set to 0. If that is singular too (states bound by controlled sources), capacitors
// get a series resistance and inductors a parallel conductance so small that states move by less
// than round-off in the values shown.
//
// Levels of nodes (`.ic` without uic) are no states. They hold their nodes while the operating
// point is sought (circuit_levels.c), all states are taken from it, and the above follows with
// these.
//
// The rows stand in circuit_start_rows.c, their solution in circuit_start_newton.c.
#include "circuit/start/circuit_start.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "circuit/start/circuit_start_part.h"

#define MAX_ITERATIONS  100   // 50 suffice without junctions; limiting takes steps of its own
#define HELD_ITERATIONS 25    // in the loop
#define KEPT            1e-9  // a prescribed state counts as kept
#define PENALTY         1e10
#define PASSES          5
#define REGULAR         1e-15  // pivots of a graded, regular matrix: cut-off junctions have 1e-14 S
#define MAX_ASKED       256    // levels that are asked for their effect, one solution each

// ------------------------------------------------------------------------------------------
// creation

yoke_status yoke__start_create(yoke_equations* equations, yoke_signals* signals,
                               const yoke_network* network, yoke_sparse_kernel kernel,
                               yoke_arena* arena, yoke_start** out) {
  yoke_start* self = yoke__arena_take(arena, sizeof *self);
  YOKE_TRY(yoke__arena_status(arena));
  *out = self;
  const size_t n = equations->n;
  *self = (yoke_start){.equations = equations,
                       .signals = signals,
                       .network = network,
                       .arena = arena,
                       .kernel = kernel,
                       .n = equations->n};
  self->rows = yoke__arena_array(arena, network->n_elements, sizeof *self->rows);
  self->target = yoke__arena_array(arena, network->n_elements, sizeof(double));
  self->parents = yoke__arena_array(arena, network->n_nodes, sizeof(uint32_t));
  self->J = yoke__arena_array(arena, equations->nnz, sizeof(double));
  self->ahat = yoke__arena_array(arena, equations->ahat_nnz, sizeof(double));
  double* vectors = yoke__arena_array(arena, 6 * n, sizeof(double));
  self->v_limited = yoke__arena_array(arena, network->n_elements, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  self->f = vectors;
  self->bhat = vectors + n;
  self->x = vectors + 2 * n;
  self->xdot = vectors + 3 * n;
  self->rhs = vectors + 4 * n;  // 2n
  // rows of states replace differential ones: every entry may change
  const yoke_sparse_pattern pattern = {
      .n = equations->J.n, .starts = equations->J.starts, .rows = equations->J.rows};
  const yoke_sparse_settings settings = {.kernel = kernel, .n_slots = 1};
  YOKE_TRY(yoke__sparse_create(&pattern, &settings, arena, &self->matrix));
  const yoke_projection_settings projection = {.kind = YOKE_PROJECTION_AUTO,
                                               .is_scaled = true,
                                               .alpha = PENALTY,
                                               .n_passes = PASSES,
                                               .well_conditioned = REGULAR,
                                               .kernel = kernel};
  return yoke__projection_create(&projection, equations, signals, arena, &self->projection);
}

void yoke__start_destroy(yoke_start** self) {
  if (*self != NULL) {
    yoke__sparse_destroy(&(*self)->matrix);
    yoke__sparse_destroy(&(*self)->joint);
    yoke__projection_destroy(&(*self)->projection);
    yoke__levels_destroy(&(*self)->levels);
    *self = NULL;
  }
}

// ------------------------------------------------------------------------------------------
// rates and states

// Rates where the joint system was not needed. Signals with rates are up to date.
static yoke_status find_rates(yoke_start* self) {
  memset(self->xdot, 0, self->n * sizeof(double));
  YOKE_TRY(yoke__projection_start(self->projection, self->x, NULL));
  return yoke__projection_apply(self->projection, self->x, self->xdot);
}

// Which prescribed states could not be kept, and how well Phi is satisfied.
static void fill_report(yoke_start* self, const double state[], const yoke_start_newton* run,
                        yoke_start_report* report, yoke_messages* messages) {
  const yoke_equations* equations = self->equations;
  double sum = 0.0;
  yoke__equations_evaluate(self->equations, self->x, 0.0, NULL, NULL, self->f, NULL);

  // 2-norm of the algebraic rows
  for (uint32_t i = 0; i < equations->m; i++) {
    sum += self->f[i] * self->f[i];
  }
  *report = (yoke_start_report){.residual = sqrt(sum),
                                .n_iterations = run->n_iterations,
                                .is_least_squares = self->n_dependent > 0 || self->is_soft};
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    if (self->rows[e] == YOKE_START_NONE || isnan(state[e])) {
      continue;
    }
    const yoke_element* element = &self->network->elements[e];
    const double value = yoke__stamp_state(equations, e, self->x);
    // kept up to 1e-9 of its value, or of 1 where it is small
    if (fabs(value - state[e]) > KEPT * (1.0 + fabs(state[e]))) {
      report->n_moved++;
      if (messages != NULL) {
        yoke__message_add(messages, YOKE_WARNING, element->place,
                          "'%s' cannot start at %.9g: the rest of the circuit makes it %.9g",
                          element->name, state[e], value);
      }
    }
  }
}

// The states of x as what is prescribed.
static void read_states(const yoke_start* self, const double x[], double state[]) {
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    state[e] = yoke__stamp_state(self->equations, e, x);
  }
}

static void forget_factors(yoke_start* self) {
  self->is_soft = false;
  self->has_matrix = false;
  self->has_joint = false;
}

// ------------------------------------------------------------------------------------------
// levels

static void warn_level(const yoke_start* self, uint32_t node, const char* why, double value,
                       yoke_messages* messages) {
  const yoke_network_node* at = &self->network->nodes[node];
  char number[40] = "";
  if (!isnan(value)) {
    (void)snprintf(number, sizeof number, "%.9g", value);
  }
  yoke__message_add(
      messages, YOKE_WARNING, at->start_place, ".ic %s(%.60s)=%.9g has no effect: %s%s",
      at->domain == YOKE_THERMAL ? "t" : "v", at->name, self->level[node], why, number);
}

// Levels that the rest of the circuit overrules, and those that no state depends on.
static void check_levels(yoke_start* self, yoke_messages* messages) {
  const yoke_levels* levels = &self->levels;
  uint32_t i = 0;
  for (uint32_t v = 0; v < self->network->n_nodes && messages != NULL; v++) {
    if (!yoke__start_has_level(self, v)) {
      continue;
    }
    const bool is_held = i < levels->n && levels->nodes[i] == v;
    if (!is_held && fabs(self->x[v] - self->level[v]) > KEPT * (1.0 + fabs(self->level[v]))) {
      warn_level(self, v, "sources and other start values make it ", self->x[v], messages);
    } else if (is_held && i < MAX_ASKED &&
               !yoke__levels_has_effect(levels, self->equations, i, self->rhs)) {
      warn_level(self, v, "no capacitor, inductor or charge of a diode depends on it", (double)NAN,
                 messages);
    }
    i += is_held;
  }
}

// What follows from others needs no rates here: only voltages of capacitors and currents of
// inductors are taken from the operating point.
static void release_dependent(yoke_start* self) {
  // the other row of the element with 0: no voltage across an inductor,
  // no current through a capacitor
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    if (self->rows[e] == YOKE_START_DEPENDENT) {
      const bool is_inductor = self->network->elements[e].kind == YOKE_INDUCTOR;
      self->rows[e] = is_inductor ? YOKE_START_VOLTAGE : YOKE_START_CURRENT;
      self->target[e] = 0.0;
    }
  }
  self->n_dependent = 0;
}

// The operating point with nodes at their levels, into x; its states into held, where nothing else
// is prescribed.
static yoke_status solve_levels(yoke_start* self, const double state[], const double level[],
                                double held[], yoke_messages* messages) {
  const uint32_t n_nodes = self->network->n_nodes;
  uint32_t* nodes = yoke__arena_array(self->arena, n_nodes, sizeof *nodes);
  double* values = yoke__arena_array(self->arena, n_nodes, sizeof *values);
  YOKE_TRY(yoke__arena_status(self->arena));
  self->level = level;
  self->levels = (yoke_levels){.nodes = nodes, .values = values};
  yoke__start_classify(self, state);
  release_dependent(self);
  YOKE_TRY(yoke__levels_create(&self->levels, self->equations, self->kernel, self->arena));
  yoke_start_newton run = {
      .may_take_heap = true, .max_iterations = MAX_ITERATIONS, .singular_column = -1};

  // a second try with states softened: series resistances and parallel conductances
  yoke_status status = yoke__start_solve_rows(self, &run);
  if (status == YOKE_SINGULAR || status == YOKE_NO_CONVERGENCE) {
    self->is_soft = true;
    self->levels.has_factors = false;
    status = yoke__start_solve_rows(self, &run);
  }
  if (status < 0) {
    yoke__start_explain(self, status, &run, messages);
    return status;
  }
  check_levels(self, messages);
  read_states(self, self->x, held);

  // what is prescribed stays so; the operating point gives the rest
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    held[e] = isnan(state[e]) ? held[e] : state[e];
  }
  return YOKE_OK;
}

// The states of the operating point with levels; the matrices are as before afterwards.
static yoke_status find_levels(yoke_start* self, const double state[], const double level[],
                               const double** out, yoke_messages* messages) {
  bool has_levels = false;
  for (uint32_t v = 0; level != NULL && v < self->network->n_nodes; v++) {
    has_levels |= !isnan(level[v]);
  }
  *out = state;
  if (!has_levels) {
    return YOKE_OK;
  }
  double* held = yoke__arena_array(self->arena, self->network->n_elements, sizeof *held);
  YOKE_TRY(yoke__arena_status(self->arena));
  forget_factors(self);
  const yoke_status status = solve_levels(self, state, level, held, messages);
  yoke__levels_destroy(&self->levels);
  self->level = NULL;
  *out = held;
  return status;
}

// ------------------------------------------------------------------------------------------
// the initial configuration

// From the last point if there is one, else from a guess.
static yoke_status solve_from(yoke_start* self, yoke_start_newton* run, bool is_warm) {
  if (is_warm) {
    memset(self->xdot, 0, self->n * sizeof(double));
    // from the operating point with levels, which is near; if that fails from a guess as without it
    const yoke_status status = yoke__start_iterate(self, run);
    if (status != YOKE_SINGULAR && status != YOKE_NO_CONVERGENCE) {
      return status;
    }
  }
  return yoke__start_solve_rows(self, run);
}

yoke_status yoke__start_solve(yoke_start* self, const double wanted[], const double level[],
                              double t, double x[], double xdot[], yoke_start_report* report,
                              yoke_messages* messages) {
  const double* state = wanted;
  yoke__signals_update_rates(self->signals, t);
  YOKE_TRY(find_levels(self, wanted, level, &state, messages));
  const bool is_warm = state != wanted;
  yoke__start_classify(self, state);
  forget_factors(self);
  yoke_start_newton run = {.is_joint = self->n_dependent > 0,
                           .may_take_heap = true,
                           .max_iterations = MAX_ITERATIONS,
                           .singular_column = -1};
  if (run.is_joint) {
    YOKE_TRY(yoke__start_make_joint(self));
  }
  yoke_status status = solve_from(self, &run, is_warm);
  if (status == YOKE_SINGULAR || status == YOKE_NO_CONVERGENCE) {
    // bound by more than loops and cut sets
    self->is_soft = true;
    run.is_joint = false;
    status = yoke__start_solve_rows(self, &run);
  }
  if (status >= 0 && !run.is_joint) {
    status = find_rates(self);
  }
  if (status < 0) {
    yoke__start_explain(self, status, &run, messages);
    return status;
  }
  fill_report(self, state, &run, report, messages);
  memcpy(x, self->x, self->n * sizeof(double));
  memcpy(xdot, self->xdot, self->n * sizeof(double));
  return YOKE_OK;
}

yoke_status yoke__start_prepare(yoke_start* self, double t, const double x[]) {
  self->is_ready = false;
  yoke__signals_update_rates(self->signals, t);

  // whatever stands in x is prescribed: the configuration is kept, only its consistency is renewed
  read_states(self, x, self->v_limited);
  yoke__start_classify(self, self->v_limited);
  forget_factors(self);

  // one iteration at a solution chooses the pivots and takes the memory, so that holding takes none
  yoke_start_newton run = {
      .is_joint = self->n_dependent > 0, .may_take_heap = true, .max_iterations = 1};
  if (run.is_joint) {
    YOKE_TRY(yoke__start_make_joint(self));
  }
  memcpy(self->x, x, self->n * sizeof(double));
  memset(self->xdot, 0, self->n * sizeof(double));
  yoke_status status = yoke__start_iterate(self, &run);
  if (status == YOKE_SINGULAR) {
    self->is_soft = true;
    run.is_joint = false;
    status = yoke__start_iterate(self, &run);
  }
  if (status < 0 && status != YOKE_NO_CONVERGENCE) {
    return status;
  }
  if (!run.is_joint) {
    YOKE_TRY(yoke__projection_start(self->projection, x, NULL));
  }
  self->is_ready = true;
  return YOKE_OK;
}

yoke_status yoke__start_hold(yoke_start* self, double t, double x[], double xdot[]) {
  if (!self->is_ready) {
    return YOKE_SINGULAR;
  }
  yoke__signals_update_rates(self->signals, t);
  read_states(self, x, self->v_limited);

  // the states of now are held, the rest follows
  memcpy(self->target, self->v_limited, self->network->n_elements * sizeof(double));
  yoke_start_newton run = {.is_joint = self->n_dependent > 0 && !self->is_soft,
                           .max_iterations = HELD_ITERATIONS};
  memcpy(self->x, x, self->n * sizeof(double));
  memset(self->xdot, 0, self->n * sizeof(double));
  YOKE_TRY(yoke__start_iterate(self, &run));
  if (xdot != NULL && !run.is_joint) {
    yoke__projection_invalidate(self->projection);
    YOKE_TRY(yoke__projection_apply(self->projection, self->x, self->xdot));
  }
  memcpy(x, self->x, self->n * sizeof(double));
  if (xdot != NULL) {
    memcpy(xdot, self->xdot, self->n * sizeof(double));
  }
  return YOKE_OK;
}

yoke_status yoke__circuit_initial(yoke_equations* equations, yoke_signals* signals,
                                  const yoke_network* network, const double state[],
                                  const double level[], double t, double x[], double xdot[],
                                  yoke_start_report* report, yoke_messages* messages) {
  yoke_arena arena = {0};
  yoke_start* self = NULL;
  yoke_status status =
      yoke__start_create(equations, signals, network, YOKE_SPARSE_AUTO, &arena, &self);
  if (status >= 0) {
    status = yoke__start_solve(self, state, level, t, x, xdot, report, messages);
    report->reason = self->reason;
  }
  yoke__start_destroy(&self);
  yoke__arena_free(&arena);
  return status;
}
