// One step in full coordinates: stages of the form xdot = a0 x + c (circuit_method.h), each solved
// by Newton's method (docs/circuit_methods.md, "Newton's method")
//
//   J dx = -f,  x := x + dx,   f = [Phi ; A (a0 x + c) + b]
//
// from the last solution, with a fixed number of iterations or until the update is small. Junctions
// are evaluated where limiting allows; an iteration that was or is held back never counts as
// converged.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_os.h"
#include "circuit/dae/circuit_dae.h"
#include "circuit/network/circuit_guard.h"

#define HOPELESS 1e-3  // an update above it after all iterations is a failure
// of the equations, in V and A: the round-off floor of small steps
#define SMALL_RESIDUAL 1e-9
// an iteration that shrinks the update by less has stopped converging
#define STALLED 0.25

static void begin_cost(yoke_dae* self) {
  if (self->core->is_measured) {
    self->mark_ns = yoke__os_now_ns();
  }
}

static void add_cost(yoke_dae* self, int kind) {
  if (self->core->is_measured) {
    const int64_t now = yoke__os_now_ns();
    self->core->cost_ns[kind] += (double)(now - self->mark_ns);
    self->mark_ns = now;
  }
}

yoke_status yoke__dae_renew(yoke_dae* self, uint32_t slot) {
  self->core->counts.n_refactors++;
  yoke_status status = yoke__sparse_refactor(self->matrix, slot, self->J);
  if (status < 0) {
    // other pivots; the other slots lose theirs
    self->core->counts.n_repivots++;
    status = yoke__sparse_repivot(self->matrix, slot, self->J);
    // a new order of pivots changes all slots
    self->is_stale[0] = true;
    self->is_stale[1] = true;
  }
  self->is_stale[slot] = status < 0;
  if (status < 0) {
    yoke__circuit_reason_set(&self->core->reason, self->core->network, YOKE_NO_INDEX,
                             "the equations became singular at t = %.9g s", self->core->signals->t);
  }
  return status;
}

// c = sum of old values and rates
static void gather_history(yoke_dae* self, const yoke_method_stage* stage) {
  const uint32_t n = self->n;
  double* c = self->c;

  // c = sum w_j x_(k-j) + sum d_j xdot_j
  for (uint32_t i = 0; i < n; i++) {
    c[i] = stage->x_weight[0] * self->x[0][i];
  }
  for (uint32_t j = 1; j < stage->n_x; j++) {
    for (uint32_t i = 0; i < n; i++) {
      c[i] += stage->x_weight[j] * self->x[j][i];
    }
  }
  for (uint32_t j = 0; j < stage->n_d; j++) {
    for (uint32_t i = 0; stage->d_weight[j] != 0.0 && i < n; i++) {
      c[i] += stage->d_weight[j] * self->rate[j][i];
    }
  }
}

static double norm_of(const double f[], uint32_t n) {
  double sum = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    sum += f[i] * f[i];
  }
  return sqrt(sum);
}

// x += dx with dx in f; the largest scaled update, NaN if one is not finite
static double move(yoke_dae* self) {
  double most = 0.0;
  double sum = 0.0;
  for (uint32_t i = 0; i < self->n; i++) {
    // relative for large, absolute for small unknowns
    const double dx = self->f[i];
    self->next[i] += dx;
    // against 1 where x is small: V and A
    const double change = fabs(dx) / (1.0 + fabs(self->next[i]));
    most = change > most ? change : most;
    sum += change;  // carries what is not a number
  }
  return yoke__is_finite(sum) ? most : sum;
}

// Is the matrix of this iteration to be assembled and factored?
static bool is_due(const yoke_dae* self, uint32_t slot, int iteration) {
  return self->is_stale[slot] || self->renewal == YOKE_DAE_ITERATION ||
         (self->renewal == YOKE_DAE_STAGE && iteration == 0);
}

// One iteration: *update, or *is_done before it if the residual is small enough.
static yoke_status iterate(yoke_dae* self, const yoke_method_stage* stage, int iteration,
                           bool is_residual_test, double* update, bool* is_done) {
  yoke_circuit_core* core = self->core;
  const bool is_renewed = is_due(self, stage->slot, iteration);
  const double* v_limited = core->options.is_unlimited ? NULL : self->v_limited;

  // f and, if the matrix is renewed, J at x with junctions where limiting has put them
  yoke__equations_evaluate(core->equations, self->next, stage->a0, self->c, v_limited, self->f,
                           is_renewed ? self->J : NULL);

  // |f| in the 2-norm
  *is_done = is_residual_test && norm_of(self->f, self->n) < core->options.residual;
  add_cost(self, YOKE_COST_ASSEMBLE);
  if (*is_done) {
    return YOKE_OK;
  }
  if (is_renewed) {
    YOKE_TRY(yoke__dae_renew(self, stage->slot));
    add_cost(self, YOKE_COST_FACTOR);
  }

  // J dx = -f
  for (uint32_t i = 0; i < self->n; i++) {
    self->f[i] = -self->f[i];
  }
  yoke__sparse_solve(self->matrix, stage->slot, self->f);
  core->counts.n_iterations++;
  *update = move(self);
  add_cost(self, YOKE_COST_SOLVE);
  return YOKE_OK;
}

static yoke_status report_divergence(yoke_dae* self) {
  yoke_circuit_core* core = self->core;
  char name[96] = "a value";
  uint32_t i = 0;
  while (i < self->n && yoke__is_finite(self->next[i])) {
    i++;
  }
  if (i < self->n) {
    yoke__equations_name(core->equations, i, name, sizeof name);
  }
  yoke__circuit_reason_set(&core->reason, core->network, i, "%s is not finite at t = %.9g s", name,
                           core->signals->t);
  return YOKE_DIVERGED;
}

// Do the equations hold at the last point all the same? Where only gmin holds a part, rounding moves
// it from one iteration to the next, and every place it moves to is a solution.
static bool is_solution(yoke_dae* self, const yoke_method_stage* stage) {
  yoke__equations_evaluate(self->core->equations, self->next, stage->a0, self->c, NULL, self->f,
                           NULL);
  return norm_of(self->f, self->n) < SMALL_RESIDUAL;
}

// Is every row as small as rounding lets it be? Where gmin alone holds a part, 1e-12 S against 1 S
// elsewhere, a residual of pure rounding moves it by more than the tolerance, in every iteration
// anew. f is still what the last iteration has changed x by.
static bool is_at_floor(yoke_dae* self, const yoke_method_stage* stage) {
  yoke__equations_floor(self->core->equations, self->next, self->f, self->J, self->floor);
  yoke__equations_evaluate(self->core->equations, self->next, stage->a0, self->c, NULL, self->f,
                           NULL);
  for (uint32_t i = 0; i < self->n; i++) {
    if (!(fabs(self->f[i]) <= self->floor[i])) {
      return false;
    }
  }
  return true;
}

// Convergence mode ran out of iterations.
static yoke_status report_iterations(yoke_dae* self, const yoke_method_stage* stage,
                                     double update) {
  self->core->counts.n_unconverged++;
  if (update <= HOPELESS || is_solution(self, stage)) {
    return YOKE_OK;
  }
  yoke__circuit_reason_set(&self->core->reason, self->core->network, YOKE_NO_INDEX,
                           "no convergence at t = %.9g s: the last update is %.3g",
                           self->core->signals->t, update);
  return YOKE_NO_CONVERGENCE;
}

static yoke_status solve_stage(yoke_dae* self, const yoke_method_stage* stage) {
  yoke_circuit_core* core = self->core;
  const yoke_circuit_options* options = &core->options;

  // a fixed number of iterations has bounded work, for real time
  const bool is_fixed = options->iterations > 0;
  const bool is_linear = core->equations->is_linear;
  // a linear system needs one iteration
  const int n_max = is_fixed ? options->iterations : is_linear ? 1 : options->max_iterations;
  bool was_limited = false;
  double update = 0.0;
  int n = 0;
  bool is_done = false;
  yoke__equations_unlimit(core->equations, self->next, self->v_limited);
  while (n < n_max && !is_done) {
    // an iteration held back by limiting has a residual of another point
    const bool is_residual_test = !is_fixed && options->residual > 0.0 && !was_limited && n > 0;
    const double last = update;
    YOKE_TRY(iterate(self, stage, n, is_residual_test, &update, &is_done));
    if (is_done) {
      break;
    }
    n++;
    if (!yoke__is_finite(update)) {
      return report_divergence(self);
    }
    // junctions move at most as far as their exponential allows
    const bool is_limited = !options->is_unlimited &&
                            yoke__equations_limit(core->equations, self->next, self->v_limited);
    // converged: not limited now or before, and the update below the tolerance
    is_done = !is_fixed && (is_linear || (!was_limited && !is_limited && options->residual <= 0.0 &&
                                          update < options->tolerance));
    // stalled: the update no longer shrinks by four, which is rounding or no convergence at all
    if (!is_done && !is_fixed && !was_limited && !is_limited && options->residual <= 0.0 && n > 2 &&
        update > STALLED * last) {
      is_done = is_at_floor(self, stage);
    }
    was_limited = is_limited;
  }
  core->counts.n_stages++;
  core->counts.max_iterations =
      (uint32_t)n > core->counts.max_iterations ? (uint32_t)n : core->counts.max_iterations;
  return is_done || is_fixed ? YOKE_OK : report_iterations(self, stage, update);
}

// Newer values take the oldest one's place.
static void shift_history(yoke_dae* self) {
  const uint32_t n_history = self->core->plan.n_history;

  // pointers move, not values
  double* oldest = self->x[n_history - 1];

  // the oldest vector is free for the next step
  for (uint32_t j = n_history - 1; j > 0; j--) {
    self->x[j] = self->x[j - 1];
  }
  self->x[0] = self->next;
  self->next = oldest;
}

// The rate that fits the last stage becomes that of x_k, projected if the method asks for it.
static void finish_rates(yoke_dae* self, const yoke_method_stage* last) {
  yoke_circuit_core* core = self->core;

  // xdot = a0 x + c of the last stage
  for (uint32_t i = 0; i < self->n; i++) {
    self->rate[0][i] = last->a0 * self->next[i] + self->c[i];
  }
  if (self->projection != NULL && last->n_d > 0) {
    add_cost(self, YOKE_COST_REST);
    yoke__signals_update_rates(core->signals, core->signals->t);
    const uint64_t before = yoke__projection_n_repivots(self->projection);
    // where it fails the rates of the formula stay
    (void)yoke__projection_apply(self->projection, self->next, self->rate[0]);
    core->counts.n_repivots += yoke__projection_n_repivots(self->projection) - before;
    add_cost(self, YOKE_COST_PROJECT);
  }
}

static void gather_charges(yoke_dae* self, const yoke_method_stage* stage) {
  const double* past[YOKE_METHOD_MAX_HISTORY];
  for (uint32_t j = 0; j < YOKE_METHOD_MAX_HISTORY; j++) {
    past[j] = self->x[j];
  }
  yoke__equations_gather_charges(self->core->equations, stage, past);
}

static yoke_status do_stages(yoke_dae* self, const yoke_method_step* step) {
  yoke_circuit_core* core = self->core;
  const double t = yoke__core_time(core);
  for (uint32_t s = 0; s < step->n_stages; s++) {
    const yoke_method_stage* stage = &step->stages[s];
    const bool is_last = s + 1 == step->n_stages;
    // the end of the step from the integer, as everybody else computes it
    yoke__signals_update(core->signals, is_last ? core->t0 + (double)(core->k + 1) * core->h
                                                : t + stage->theta * core->h);
    gather_history(self, stage);
    gather_charges(self, stage);
    add_cost(self, YOKE_COST_UPDATE);
    YOKE_TRY(solve_stage(self, stage));
    for (uint32_t i = 0; !is_last && i < self->n; i++) {
      // xdot of this stage, which later stages use
      self->rate[s + 1][i] = stage->a0 * self->next[i] + self->c[i];
    }
    yoke__equations_note_charges(core->equations, s + 1, self->next);
  }
  return YOKE_OK;
}

// A step that failed where a law has no value says so.
static void blame_law(yoke_dae* self) {
  yoke_circuit_core* core = self->core;
  double value = 0.0;
  const uint32_t e = yoke__equations_find_undefined(core->equations, self->next, &value);
  if (e != YOKE_NO_INDEX) {
    yoke__guard_explain(core->network, e, false, value, core->signals->t, &core->reason);
  }
}

yoke_status yoke__dae_step(void* memory) {
  yoke_dae* self = memory;
  yoke_circuit_core* core = self->core;
  const yoke_method_step* step =
      core->k < core->plan.n_first ? &core->plan.first : &core->plan.regular;
  begin_cost(self);

  // the last solution is the first guess
  memcpy(self->next, self->x[0], self->n * sizeof(double));
  yoke__equations_begin_charges(core->equations, self->x[0]);
  const yoke_status status = do_stages(self, step);
  yoke__equations_end_charges(core->equations);
  self->has_failed = status < 0;
  if (status == YOKE_SINGULAR) {
    blame_law(self);
  }
  YOKE_TRY(status);
  const yoke_method_stage* last = &step->stages[step->n_stages - 1];
  finish_rates(self, last);
  self->last_a0 = last->a0;
  self->last_slot = last->slot;
  self->has_stage = true;
  shift_history(self);
  add_cost(self, YOKE_COST_REST);
  return YOKE_OK;
}
