// One step of the `nodal` engine. A stage is
//
//   1 sources and values at its time             yoke__signals_update, yoke__nodal_follow_values
//   2 history: j of every branch with a state    carry_condensed or combine
//   3 right-hand side: rows are sums of items    gather_rows
//   4 solution: one for a linear network, else Newton's method
//   5 rates of the states                        finish_stage (not when condensed)
//
// A method with one stage and one past value (trapezoidal rule, backward Euler) on constant
// branches is condensed: from c' = w x + d xdot, xdot = a0 x + c and x = linear in v and j follows
// j' = from_v (v - E) + from_j j, so that j is all that is kept of a branch and the step of a
// linear network is steps 1 to 4 once.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_os.h"
#include "circuit/nodal/circuit_nodal.h"

// an update beyond this is not a solution at all
#define HOPELESS 1e-3
// of a sum of a few terms
#define ROUNDING 1e-15

// Adds the time since *since to a kind of cost.
static void charge(yoke_circuit_core* core, int kind, int64_t* since) {
  if (core->is_measured) {
    const int64_t now = yoke__os_now_ns();
    core->cost_ns[kind] += (double)(now - *since);
    *since = now;
  }
}

// -------------------------------------------------------------------------------------------------
// history

static void carry_condensed(yoke_nodal* self) {
  const yoke_nodal_set* set = &self->sets[0];
  const uint32_t n_plain = self->n_plain_states;
  const uint32_t n = self->n_branch_states;
  const uint32_t* restrict p = self->state_p;
  const uint32_t* restrict q = self->state_q;
  const double* restrict V = self->V;
  const double* restrict from_v = set->from_v;
  const double* restrict from_j = set->from_j;
  double* restrict J = self->J;
  double* restrict minus = self->J + self->n_items;

  // j' = from_v (V_p - V_q) + from_j j; minus: the same for the other end
  for (uint32_t k = 0; k < n_plain; k++) {
    const double j = from_v[k] * (V[p[k]] - V[q[k]]) + from_j[k] * J[k];
    J[k] = j;
    minus[k] = -j;
  }
  // emfs of these branches come in the same order
  const double* e = self->emf;
  for (uint32_t k = n_plain; k < n; k++) {
    const double v = V[p[k]] - V[q[k]] - e[self->state_emf[k - n_plain]];
    const double j = from_v[k] * v + from_j[k] * J[k];
    J[k] = j;
    minus[k] = -j;
  }
}

// Past values with their weights.
typedef struct past {
  uint32_t n;
  const double* from[YOKE_METHOD_MAX_HISTORY + YOKE_METHOD_MAX_STAGES];
  double w[YOKE_METHOD_MAX_HISTORY + YOKE_METHOD_MAX_STAGES];
} past;

static past past_of(const yoke_nodal* self, const yoke_method_stage* stage) {
  const uint32_t n_history = self->core->plan.n_history;
  past terms = {0};

  // c = sum w_i x_(n-i) + sum d_i xdot_i
  for (uint32_t i = 0; i < stage->n_x; i++) {
    terms.from[terms.n] = self->X[(self->head + i) % n_history];
    terms.w[terms.n++] = stage->x_weight[i];
  }
  for (uint32_t i = 0; i < stage->n_d; i++) {
    if (stage->d_weight[i] != 0.0) {
      terms.from[terms.n] = self->D[i];
      terms.w[terms.n++] = stage->d_weight[i];
    }
  }
  return terms;
}

// c := sum of past values with their weights; the usual numbers of them without a loop inside
static void combine(const past* terms, uint32_t n, double* restrict c) {
  const double* restrict f0 = terms->from[0];
  const double* restrict f1 = terms->from[1];
  const double* restrict f2 = terms->from[2];
  const double w0 = terms->w[0];
  const double w1 = terms->w[1];
  const double w2 = terms->w[2];
  if (f0 == NULL) {
    return;
  }
  if (terms->n == 1) {
    for (uint32_t k = 0; k < n; k++) {
      c[k] = w0 * f0[k];
    }
    return;
  }
  if (terms->n == 2) {
    for (uint32_t k = 0; k < n; k++) {
      c[k] = w0 * f0[k] + w1 * f1[k];
    }
    return;
  }
  for (uint32_t k = 0; k < n; k++) {
    c[k] = w0 * f0[k] + w1 * f1[k] + w2 * f2[k];
  }
  for (uint32_t i = 3; i < terms->n; i++) {
    const double* restrict fi = terms->from[i];
    const double wi = terms->w[i];
    for (uint32_t k = 0; k < n; k++) {
      c[k] += wi * fi[k];
    }
  }
}

// j = s c
static void fill_history(yoke_nodal* self, const yoke_nodal_set* set) {
  const double* restrict s = set->s;
  const double* restrict c = self->c;
  double* restrict J = self->J;
  double* restrict minus = self->J + self->n_items;

  // j = s c for every state, with both signs
  for (uint32_t k = 0; k < self->n_branch_states; k++) {
    const double j = s[k] * c[k];
    J[k] = j;
    minus[k] = -j;
  }
}

void yoke__nodal_hold_states(yoke_nodal* self, uint32_t a) {
  const yoke_nodal_set* set = &self->sets[a];
  for (uint32_t b = 0; b < self->n_branches; b++) {
    const uint32_t k = self->branches[b].state;
    if (k != YOKE_NO_INDEX) {
      // c = xdot - a0 x, with x held
      double rate = 0.0;
      const double x = yoke__nodal_state(self, b, &rate);
      self->work_states[k] = self->is_shown ? self->work_states[k] : x;
      self->c[k] = (self->is_shown ? rate : 0.0) - set->a0 * self->work_states[k];
    }
  }
  fill_history(self, set);
}

// x and xdot of the states first .. end-1; e: their emfs, NULL without.
static void finish_branches(const yoke_nodal* self, const yoke_nodal_set* set, uint32_t first,
                            uint32_t end, double* restrict X, double* restrict D) {
  const uint32_t* restrict p = self->state_p;
  const uint32_t* restrict q = self->state_q;
  const double* restrict V = self->V;
  const double* restrict J = self->J;
  const double* restrict c = self->c;
  const double* restrict by_v = set->x_v;
  const double* restrict by_i = self->state_i;
  const double a0 = set->a0;
  if (first == 0) {
    // x = x_v v + i j, xdot = a0 x + c
    for (uint32_t k = 0; k < end; k++) {
      const double x = by_v[k] * (V[p[k]] - V[q[k]]) + by_i[k] * J[k];
      X[k] = x;
      D[k] = a0 * x + c[k];
    }
    return;
  }
  for (uint32_t k = first; k < end; k++) {
    const double e = self->emf[self->state_emf[k - first]];
    const double x = by_v[k] * (V[p[k]] - V[q[k]] - e) + by_i[k] * J[k];
    X[k] = x;
    D[k] = a0 * x + c[k];
  }
}

// The rates of this stage; at the end of the step also the new values.
static void finish_stage(yoke_nodal* self, const yoke_method_step* step, uint32_t s) {
  const bool is_last = s + 1 == step->n_stages;
  const yoke_nodal_set* set = &self->sets[self->set];
  const uint32_t n_history = self->core->plan.n_history;

  // the oldest history vector takes the newest values
  const uint32_t oldest = (self->head + n_history - 1) % n_history;
  double* X = is_last ? self->X[oldest] : self->work_states;
  double* D = self->D[is_last ? 0 : s + 1];
  finish_branches(self, set, self->n_plain_states, self->n_branch_states, X, D);
  finish_branches(self, set, 0, self->n_plain_states, X, D);
  for (uint32_t i = 0; i < self->n_other_states; i++) {
    const yoke_nodal_branch* branch = &self->branches[self->other_states[i]];
    // coupled inductors, laws and charges
    const double x = yoke__nodal_state(self, self->other_states[i], NULL);
    X[branch->state] = x;
    D[branch->state] = set->a0 * x + self->c[branch->state];
  }
  self->head = is_last ? oldest : self->head;
}

// -------------------------------------------------------------------------------------------------
// right-hand side

static void set_item(yoke_nodal* self, uint32_t item, double value) {
  self->J[item] = value;
  self->J[self->n_items + item] = -value;
}

static double emf_of(const yoke_nodal* self, const yoke_nodal_branch* branch) {
  double sum = 0.0;
  for (uint32_t i = 0; i < branch->n; i++) {
    // sum of the sources of the chain, in its direction
    const yoke_nodal_member* member = &self->members[branch->first + i];
    if (self->core->network->elements[member->element].kind == YOKE_VOLTAGE) {
      sum += (double)member->sign * self->core->signals->element[member->element];
    }
  }
  return sum;
}

static void update_known(yoke_nodal* self) {
  const yoke_signals* signals = self->core->signals;
  double* V = self->V;
  for (uint32_t i = 0; i < self->n_fixed; i++) {
    V[self->node_place[self->fixed_nodes[i]]] = signals->node[self->fixed_nodes[i]];
  }

  // from the roots outwards: each held node follows the one before it
  for (uint32_t i = 0; i < self->n_held; i++) {
    const yoke_nodal_held* held = &self->held[i];
    V[held->place] = V[held->from] + held->sign * signals->element[held->element];
  }
}

static void update_switches(yoke_nodal* self) {
  for (uint32_t i = 0; i < self->n_switches; i++) {
    const yoke_nodal_branch* branch = &self->branches[self->switches[i]];
    const yoke_switch_model* model = yoke__nodal_first(self, branch)->switching;
    self->switch_g[i] = 1.0 / (self->is_closed[i] ? model->r_on : model->r_off);
  }
  self->is_switching = false;
}

static void update_coupled(yoke_nodal* self) {
  const uint32_t n = self->n_of_kind[YOKE_NODAL_COUPLED];
  for (uint32_t i = 0; i < n; i++) {
    set_item(self, self->first_coupled + i, 0.0);
  }

  // row of a coupled inductor: sum M c of the others
  for (uint32_t i = 0; i < self->n_couplings; i++) {
    const yoke_nodal_coupling* coupling = &self->couplings[i];
    const uint32_t item = self->first_coupled + self->branches[coupling->branch].item;
    set_item(self, item,
             self->J[item] + coupling->m * self->c[self->branches[coupling->other].state]);
  }
}

void yoke__nodal_update_items(yoke_nodal* self, uint32_t a) {
  const yoke_nodal_set* set = &self->sets[a];
  update_known(self);
  if (self->is_switching) {
    update_switches(self);
  }

  // -g E of branches with sources; +E of sources with a row of their own (g = -1)
  for (uint32_t i = 0; i < self->n_emfs; i++) {
    self->emf[i] = emf_of(self, &self->branches[self->emf_branch[i]]);
    set_item(self, self->first_emf + i, -set->emf_g[i] * self->emf[i]);
  }
  const uint32_t* sources = self->kind_list[YOKE_NODAL_SOURCE];
  for (uint32_t i = 0; i < self->n_of_kind[YOKE_NODAL_SOURCE]; i++) {
    const uint32_t e = self->members[self->branches[sources[i]].first].element;
    set_item(self, self->first_source + i, self->core->signals->element[e]);
  }

  // known columns: -a_rk V_k on the right-hand side
  const double* known = set->full + (self->n_values - self->n_known);
  for (uint32_t i = 0; i < self->n_known; i++) {
    self->J[self->first_known + i] = -known[i] * self->V[self->known_place[i]];
  }
  if (self->n_couplings > 0) {
    update_coupled(self);
  }
}

static void gather_rows(const yoke_nodal* self, double* restrict rhs) {
  const double* restrict J = self->J;
  for (uint32_t t = 0; t < self->n_gathers; t++) {
    const yoke_nodal_gather* gather = &self->gathers[t];
    const uint32_t* restrict rows = gather->rows;
    const uint32_t* restrict at = gather->items;
    const size_t n = gather->n_rows;
    // sums in a fixed order: the same bits on every machine
    switch (gather->n_terms) {
    case 0:
      for (size_t r = 0; r < n; r++) {
        rhs[rows[r]] = 0.0;
      }
      break;
    case 1:
      for (size_t r = 0; r < n; r++) {
        rhs[rows[r]] = J[at[r]];
      }
      break;
    case 2:
      for (size_t r = 0; r < n; r++) {
        rhs[rows[r]] = J[at[2 * r]] + J[at[2 * r + 1]];
      }
      break;
    case 3:
      for (size_t r = 0; r < n; r++) {
        rhs[rows[r]] = J[at[3 * r]] + J[at[3 * r + 1]] + J[at[3 * r + 2]];
      }
      break;
    default:
      for (size_t r = 0; r < n; r++) {
        const uint32_t* items = at + r * gather->n_terms;
        double sum = 0.0;
        for (uint32_t i = 0; i < gather->n_terms; i++) {
          sum += J[items[i]];
        }
        rhs[rows[r]] = sum;
      }
      break;
    }
  }
}

// -------------------------------------------------------------------------------------------------
// solution

// The sum is not finite if one of them is not.
static bool is_finite(const double x[], uint32_t n) {
  double sums[4] = {0};
  uint32_t i = 0;

  // four sums side by side; an infinity or NaN in any makes the total not finite
  for (; i + 4 <= n; i += 4) {
    sums[0] += x[i];
    sums[1] += x[i + 1];
    sums[2] += x[i + 2];
    sums[3] += x[i + 3];
  }
  for (; i < n; i++) {
    sums[0] += x[i];
  }
  return yoke__is_finite((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

static void count_iterations(yoke_circuit_core* core, uint32_t n) {
  core->counts.n_stages++;
  core->counts.n_iterations += n;
  core->counts.max_iterations = n > core->counts.max_iterations ? n : core->counts.max_iterations;
}

static yoke_status solve_linear(yoke_nodal* self, uint32_t a) {
  yoke_circuit_core* core = self->core;
  // more than one only to be timed: the first one is exact
  const int n_solve =
      core->options.is_refactored && core->options.iterations > 1 ? core->options.iterations : 1;
  int64_t since = core->is_measured ? yoke__os_now_ns() : 0;
  for (int i = 0; i < n_solve; i++) {
    YOKE_TRY(yoke__nodal_ready(self, a));
    charge(core, YOKE_COST_FACTOR, &since);
    // rhs into V: the solution takes its place
    gather_rows(self, self->V);
    charge(core, YOKE_COST_ASSEMBLE, &since);
    if (self->n > 0) {
      yoke__sparse_solve(self->sets[a].lu, self->entry, self->V);
    }
    charge(core, YOKE_COST_SOLVE, &since);
  }
  count_iterations(core, (uint32_t)n_solve);
  return is_finite(self->V, self->n) ? YOKE_OK : YOKE_DIVERGED;
}

// max |dx| / (1 + |x|), and V := x. Infinite if a number is not finite.
static double take_solution(yoke_nodal* self) {
  double largest = 0.0;
  double v_largest = 0.0;
  bool is_finite_all = true;
  for (uint32_t i = 0; i < self->n; i++) {
    const double x = self->solution[i];
    // relative for large, absolute for small numbers
    const double change = fabs(x - self->V[i]) / (1.0 + fabs(x));
    is_finite_all &= change < (double)INFINITY;
    largest = change > largest ? change : largest;
    v_largest = fabs(x) > v_largest ? fabs(x) : v_largest;
    self->V[i] = x;
  }
  self->v_largest = v_largest;
  return is_finite_all ? largest : (double)INFINITY;
}

// One iteration; *change: of the unknowns. True in *is_done when nothing is left to correct.
static yoke_status iterate(yoke_nodal* self, uint32_t a, double* change, bool* is_done) {
  yoke_circuit_core* core = self->core;
  const yoke_nodal_set* set = &self->sets[a];
  int64_t since = core->is_measured ? yoke__os_now_ns() : 0;

  // linear part with the switches, right-hand side without junctions and laws
  memcpy(self->values, set->full, ((size_t)self->n_values + 1) * sizeof(double));
  memcpy(self->solution, self->rhs, ((size_t)self->n + 1) * sizeof(double));

  // junctions at v_j, laws at V
  yoke__nodal_linearise(self, self->V, set->a0, self->c);
  yoke__nodal_stamp_laws(self, self->V, self->values, self->solution);
  charge(core, YOKE_COST_ASSEMBLE, &since);
  YOKE_TRY(yoke__nodal_refactor(self, a, 0, self->values));
  charge(core, YOKE_COST_FACTOR, &since);
  if (self->n > 0) {
    yoke__sparse_solve(set->lu, 0, self->solution);
  }
  charge(core, YOKE_COST_SOLVE, &since);
  *change = take_solution(self);
  const double tolerance = core->options.tolerance;
  // Where only gmin holds a part, rounding of the currents around it moves it from one iteration to
  // the next; what the sums of currents cannot resolve is not worth an iteration.
  // rounding of a row: 1e-15 of the largest conductance times the largest voltage
  const double noise = ROUNDING * set->largest * self->v_largest;
  const bool is_small =
      yoke__nodal_follow_junctions(self, self->V, set->a0, self->c, tolerance, noise);
  // laws have no test of their own: the update decides
  *is_done = is_small && (self->n_laws == 0 || *change < tolerance);
  charge(core, YOKE_COST_REST, &since);
  return *change < (double)INFINITY ? YOKE_OK : YOKE_DIVERGED;
}

static yoke_status solve_newton(yoke_nodal* self, uint32_t a) {
  yoke_circuit_core* core = self->core;
  const int fixed = core->options.iterations;
  const int n_max = fixed > 0 ? fixed : core->options.max_iterations;
  double change = 0.0;
  bool is_done = false;
  int n = 0;
  gather_rows(self, self->rhs);

  // charges depend on a0 and c of this stage
  if (self->n_charged > 0) {
    yoke__nodal_evaluate_junctions(self, self->sets[a].a0, self->c);
  }
  while (n < n_max && (fixed > 0 || !is_done)) {
    YOKE_TRY(iterate(self, a, &change, &is_done));
    n++;
  }
  count_iterations(core, (uint32_t)n);
  self->sets[a].is_factored = true;

  // not converged but small: counted, and the step goes on
  if (fixed == 0 && !is_done) {
    core->counts.n_unconverged++;
    return change > HOPELESS ? YOKE_NO_CONVERGENCE : YOKE_OK;
  }
  return YOKE_OK;
}

yoke_status yoke__nodal_solve(yoke_nodal* self, uint32_t a) {
  self->set = a;
  yoke__nodal_assemble(self, a);
  yoke__nodal_update_items(self, a);
  return self->is_linear ? solve_linear(self, a) : solve_newton(self, a);
}

// -------------------------------------------------------------------------------------------------
// step

static yoke_status do_stage(yoke_nodal* self, const yoke_method_step* step, uint32_t s) {
  yoke_circuit_core* core = self->core;
  const yoke_method_stage* stage = &step->stages[s];
  const double k = (double)core->k;
  int64_t since = core->is_measured ? yoke__os_now_ns() : 0;
  // the end of a step is where the next one begins, to the last bit
  yoke__signals_update(core->signals, core->t0 + (k + stage->theta) * core->h);
  if (self->n_moving > 0) {
    yoke__nodal_follow_values(self);
  }

  // c was given by refresh, with the rates behind the jump
  if (self->is_given) {
    fill_history(self, &self->sets[0]);
    self->is_given = false;
  } else if (self->is_condensed) {
    carry_condensed(self);
  } else {
    const past terms = past_of(self, stage);
    combine(&terms, self->n_states, self->c);
    fill_history(self, &self->sets[stage->slot]);
  }
  charge(core, YOKE_COST_UPDATE, &since);
  YOKE_TRY(yoke__nodal_solve(self, stage->slot));
  since = core->is_measured ? yoke__os_now_ns() : 0;
  if (!self->is_condensed) {
    finish_stage(self, step, s);
  }
  charge(core, YOKE_COST_REST, &since);
  return YOKE_OK;
}

yoke_status yoke__nodal_step(void* memory) {
  yoke_nodal* self = memory;
  const yoke_method_plan* plan = &self->core->plan;
  const yoke_method_step* step = self->core->k < plan->n_first ? &plan->first : &plan->regular;
  if (self->is_shown) {
    yoke__nodal_hide(self);
  }
  for (uint32_t s = 0; s < step->n_stages; s++) {
    YOKE_TRY(do_stage(self, step, s));
  }
  return YOKE_OK;
}
