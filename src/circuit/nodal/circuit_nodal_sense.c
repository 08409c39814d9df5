// Refresh and sensitivities of the `nodal` engine.
//
// refresh: the states x hold and everything else follows the inputs and switches as they are now:
//
//   c = xdot - a0 x,  solve,  xdot := a0 x' + c     a few times
//
// Its fixed point has x' = x. A round leaves 1/(1 + a0 tau) of the error of a mode with time
// constant tau, so that a0 need not be so large that a0 x drowns the rates of slow states. xdot to
// begin with is that of a backward Euler step of 1/a0, which knows the slopes of sources: in a loop
// of capacitors and sources nothing else does. The states themselves are put back before the next
// step, which takes over only the rates behind the jump.
//
// sensitivity: one solution with the factors at hand. An input changes values; in each branch that
// gives an offset of its voltage or current, and what is known on top of it:
//
//   R  i dR     V  dE     L  (di/dt) dL     C  -(dv/dt) dC / (a0 C)     voltages within a branch
#include <math.h>
#include <string.h>

#include "circuit/nodal/circuit_nodal.h"

// -------------------------------------------------------------------------------------------------
// refresh

void yoke__nodal_hide(yoke_nodal* self) {
  memcpy(self->block, self->kept, self->n_block * sizeof(double));
  self->set = self->kept_set;
  self->is_shown = false;
  self->is_switching = true;
}

// what is left of the error of a mode: 1e-12 for tau = h/100
#define REFRESH_ROUNDS 4

// Rates of the states as they are shown: i/C and (v - R i)/L of branches, the difference quotient
// of others.
static double rate_shown(const yoke_nodal* self, uint32_t b) {
  const yoke_nodal_branch* branch = &self->branches[b];
  double rate = 0.0;
  if (branch->kind != YOKE_NODAL_STATE) {
    (void)yoke__nodal_state(self, b, &rate);
    return rate;
  }

  // R, L, 1/C of the chain
  const yoke_nodal_sums sums = yoke__nodal_sum_members(self, branch);
  const double e = yoke__nodal_emf(self, branch->emf);
  const double v = self->V[branch->p] - self->V[branch->q] - e;
  const double i = yoke__nodal_branch_current(self, b);

  // i / C or (v - R i) / L
  return self->state_v[branch->state] != 0.0 ? i * sums.elastance : (v - sums.r * i) / sums.l;
}

// Methods that reuse rates go on with those behind a jump of inputs or switches.
static void take_rates(yoke_nodal* self) {
  const yoke_method_plan* plan = &self->core->plan;
  const bool is_first = self->core->k < plan->n_first;
  const yoke_method_stage* stage = is_first ? &plan->first.stages[0] : &plan->regular.stages[0];

  // a method without rates needs none
  if (stage->n_d == 0) {
    return;
  }

  // into the kept block: what is shown is put back
  double* c = self->kept + (self->c - self->block);
  double* D = self->kept + (self->D[0] - self->block);
  for (uint32_t b = 0; b < self->n_branches; b++) {
    const uint32_t k = self->branches[b].state;
    if (k == YOKE_NO_INDEX) {
      continue;
    }
    const double rate = rate_shown(self, b);
    if (self->is_condensed) {
      // c = w x + d xdot, as the condensed step wants it
      c[k] = stage->x_weight[0] * self->work_states[k] + stage->d_weight[0] * rate;
    } else {
      D[k] = rate;
    }
  }
  self->is_given = self->is_condensed;
}

yoke_status yoke__nodal_refresh(void* memory) {
  yoke_nodal* self = memory;
  yoke_circuit_core* core = self->core;
  const yoke_circuit_counts counts = core->counts;
  const uint32_t set = self->n_sets - 1;
  if (self->is_shown) {
    yoke__nodal_hide(self);
  }
  memcpy(self->kept, self->block, self->n_block * sizeof(double));
  self->kept_set = self->set;
  yoke_status status = YOKE_OK;

  // rounds of c = xdot - a0 x, solve; each leaves 1 / (1 + a0 tau) of the error
  for (int round = 0; status >= 0 && round < REFRESH_ROUNDS; round++) {
    // c = xdot - a0 x with the states as they were at the jump
    yoke__nodal_hold_states(self, set);
    // the first one looks 1 / a0 ahead for the slopes of sources
    yoke__signals_update(core->signals,
                         yoke__core_time(core) + (round == 0 ? 1.0 / self->sets[set].a0 : 0.0));
    yoke__nodal_follow_values(self);
    self->is_shown = true;
    status = yoke__nodal_solve(self, set);
  }
  if (status >= 0) {
    take_rates(self);
  }
  // not a part of any step
  core->counts = counts;
  return status;
}

// -------------------------------------------------------------------------------------------------
// what an input changes

static double law_slope(const yoke_nodal* self, const yoke_expression* law, uint32_t input,
                        const yoke_nodal_law* point) {
  const yoke_signals* signals = self->core->signals;
  double live[YOKE_EXPRESSION_MAX_LIVE];
  double gradient[YOKE_EXPRESSION_MAX_LIVE];
  double sum = 0.0;
  for (uint32_t i = 0; i < law->n_live; i++) {
    const yoke_live* from = &law->live[i];
    live[i] = from->kind == YOKE_LIVE_TIME    ? signals->t
              : from->kind == YOKE_LIVE_INPUT ? signals->input[from->index]
              : point != NULL                 ? point->y[point->live[i]]
                                              : 0.0;
  }

  // d law / d input at the point at hand
  (void)yoke__expression_evaluate(law, live, gradient);
  for (uint32_t i = 0; i < law->n_live; i++) {
    sum += law->live[i].kind == YOKE_LIVE_INPUT && law->live[i].index == input ? gradient[i] : 0.0;
  }
  return sum;
}

// d(value) of elements, d(potential) of known nodes
static void differentiate_values(yoke_nodal* self, uint32_t input) {
  const yoke_network* network = self->core->network;
  const yoke_signals* signals = self->core->signals;
  memset(self->d_element, 0, network->n_elements * sizeof(double));
  memset(self->dV, 0, self->n_places * sizeof(double));
  for (uint32_t i = 0; i < signals->n_moving_elements; i++) {
    const uint32_t e = signals->moving_elements[i];
    const yoke_expression* law = network->elements[e].value.law;
    self->d_element[e] = law != NULL ? law_slope(self, law, input, NULL) : 0.0;
  }
  for (uint32_t i = 0; i < self->n_laws; i++) {
    const uint32_t e = self->laws[i].element;
    self->d_element[e] = law_slope(self, network->elements[e].value.law, input, &self->laws[i]);
  }
  for (uint32_t i = 0; i < signals->n_moving_nodes; i++) {
    const uint32_t n = signals->moving_nodes[i];
    const yoke_expression* law = network->nodes[n].fixed.law;
    self->dV[self->node_place[n]] = law != NULL ? law_slope(self, law, input, NULL) : 0.0;
  }

  // held nodes follow the ones before them
  for (uint32_t i = 0; i < self->n_held; i++) {
    const yoke_nodal_held* held = &self->held[i];
    self->dV[held->place] = self->dV[held->from] + held->sign * self->d_element[held->element];
  }
}

// Offset of the voltage of a member in the direction of its branch.
static double member_offset(const yoke_nodal* self, uint32_t b, const yoke_nodal_member* member) {
  const uint32_t e = member->element;
  const double change = self->d_element[e];
  double rate = 0.0;
  if (change == 0.0) {
    return 0.0;
  }
  switch (self->core->network->elements[e].kind) {
  case YOKE_RESISTOR:
    // dR i
    return change * yoke__nodal_branch_current(self, b);
  case YOKE_VOLTAGE:
    // v = E, with the sign that the member has in its branch
    return (double)member->sign * change;
  case YOKE_INDUCTOR:
    (void)yoke__nodal_state(self, b, &rate);
    // L x' : dL (di/dt)
    return rate * change;
  case YOKE_CAPACITOR:
    (void)yoke__nodal_state(self, b, &rate);
    // -(dC / C) v' / a0
    return -rate * change / (self->sets[self->set].a0 * self->stamped[e]);
  default:
    return 0.0;
  }
}

static double control_of(const yoke_nodal* self, const yoke_nodal_branch* branch) {
  return branch->c == YOKE_NO_INDEX   ? 0.0
         : branch->d == YOKE_NO_INDEX ? self->V[branch->c]
                                      : self->V[branch->c] - self->V[branch->d];
}

static double branch_slope(const yoke_nodal* self, uint32_t b) {
  const yoke_nodal_branch* branch = &self->branches[b];
  return branch->kind == YOKE_NODAL_STATIC     ? self->coefficient[b]
         : branch->kind == YOKE_NODAL_STATE    ? self->sets[self->set].g[branch->state]
         : branch->kind == YOKE_NODAL_JUNCTION ? self->junctions.g[branch->item]
                                               : 0.0;
}

// Offset of the current of a branch, or of the right-hand side of its row.
static double branch_offset(const yoke_nodal* self, uint32_t b) {
  const yoke_nodal_branch* branch = &self->branches[b];
  const double change = self->d_element[self->members[branch->first].element];
  double series = 0.0;

  // sum over the chain
  for (uint32_t i = 0; i < branch->n; i++) {
    series += member_offset(self, b, &self->members[branch->first + i]);
  }
  switch (branch->kind) {
  case YOKE_NODAL_SOURCE:
    return change;
  case YOKE_NODAL_GAIN:
    return control_of(self, branch) * change;
  case YOKE_NODAL_LAW:
    return self->laws[branch->law].phi[1] * change;
  case YOKE_NODAL_VOLTAGE:
    return branch->law != YOKE_NO_INDEX ? -self->laws[branch->law].phi[1] * change
           : branch->c != YOKE_NO_INDEX ? control_of(self, branch) * change
                                        : series;
  case YOKE_NODAL_COUPLED:
    return 0.0;
  default:
    // an offset of the voltage is one of the current by the slope
    return -branch_slope(self, b) * series;
  }
}

// rows of coupled inductors: sum dM xdot, M = k sqrt(L1 L2)
static void offset_couplings(yoke_nodal* self) {
  for (uint32_t i = 0; i < self->n_couplings; i++) {
    const yoke_nodal_coupling* coupling = &self->couplings[i];
    const uint32_t one = self->members[self->branches[coupling->branch].first].element;
    const uint32_t two = self->members[self->branches[coupling->other].first].element;
    // dM = M / 2 (dL1 / L1 + dL2 / L2), dL itself on the diagonal
    const double change = one == two ? self->d_element[one]
                                     : 0.5 * coupling->m *
                                           (self->d_element[one] / self->stamped[one] +
                                            self->d_element[two] / self->stamped[two]);
    double rate = 0.0;
    (void)yoke__nodal_state(self, coupling->other, &rate);
    self->d_branch[coupling->branch] += change * rate;
  }
}

// -------------------------------------------------------------------------------------------------
// solution

static void subtract_known(const yoke_nodal* self, double rhs[]) {
  const yoke_nodal_junctions* d = &self->junctions;

  // places behind the unknowns: known nodes and their entries in the matrix
  const double* dV = self->dV;
  const double* known = self->sets[self->set].full + (self->n_values - self->n_known);
  for (uint32_t i = 0; i < self->n_known; i++) {
    // -a_rk dV_k
    rhs[self->known_row[i]] -= known[i] * dV[self->known_place[i]];
  }
  for (size_t k = 0; k < d->n; k++) {
    // known ends of junctions, left out of the matrix: j = g (dV_p - dV_q) of those
    const double j = d->g[k] * (d->known_p[k] * dV[d->p[k]] - d->known_q[k] * dV[d->q[k]]);
    rhs[d->row[2 * k]] -= d->sign[2 * k] * j;
    rhs[d->row[2 * k + 1]] -= d->sign[2 * k + 1] * j;
  }
  for (uint32_t i = 0; i < self->n_laws; i++) {
    const yoke_nodal_law* law = &self->laws[i];
    for (uint32_t k = 0; k < law->n; k++) {
      if (law->place[k] >= self->n) {
        rhs[law->row[0]] -= law->sign[0] * law->slope[k] * dV[law->place[k]];
        rhs[law->row[1]] -= law->sign[1] * law->slope[k] * dV[law->place[k]];
      }
    }
  }
}

static void fill_rows(yoke_nodal* self, double rhs[]) {
  memset(rhs, 0, ((size_t)self->n + 1) * sizeof(double));
  for (uint32_t b = 0; b < self->n_branches; b++) {
    self->d_branch[b] = branch_offset(self, b);
  }
  offset_couplings(self);
  for (uint32_t b = 0; b < self->n_branches; b++) {
    const yoke_nodal_branch* branch = &self->branches[b];
    for (int i = 0; i < 2; i++) {
      if (branch->row[i] < self->n) {
        // an offset of the current lowers the right-hand side
        rhs[branch->row[i]] -= branch->sign[i] * self->d_branch[b];
      }
    }
  }
  subtract_known(self, rhs);
}

// Factors of the last stage, made again if something else was done with them since.
static yoke_status ready_factors(yoke_nodal* self, size_t* slot) {
  *slot = self->is_linear ? self->entry : 0;

  // linear: the factors of this switch state; else those of the last iteration
  if (self->is_linear) {
    return yoke__nodal_ready(self, self->set);
  }
  yoke__nodal_assemble(self, self->set);
  if (self->sets[self->set].is_factored || self->n == 0) {
    return YOKE_OK;
  }
  memcpy(self->values, self->sets[self->set].full, ((size_t)self->n_values + 1) * sizeof(double));
  yoke__nodal_stamp_laws(self, self->V, self->values, self->work);
  self->sets[self->set].is_factored = true;
  return yoke__nodal_refactor(self, self->set, 0, self->values);
}

// -------------------------------------------------------------------------------------------------
// back to full coordinates

static double branch_change(const yoke_nodal* self, uint32_t b) {
  const yoke_nodal_branch* branch = &self->branches[b];
  const double* dV = self->dV;

  // di = g dv + offset
  const double v = dV[branch->p] - dV[branch->q];
  double sum = self->d_branch[b];
  if (branch->current != YOKE_NO_INDEX) {
    return dV[branch->current];
  }
  if (branch->kind == YOKE_NODAL_SWITCH) {
    return self->switch_g[branch->item] * v;
  }

  if (branch->kind == YOKE_NODAL_GAIN) {
    return sum + self->coefficient[b] *
                     (dV[branch->c] - (branch->d != YOKE_NO_INDEX ? dV[branch->d] : 0.0));
  }
  if (branch->kind == YOKE_NODAL_LAW) {
    const yoke_nodal_law* law = &self->laws[branch->law];
    for (uint32_t k = 0; k < law->n; k++) {
      sum += law->slope[k] * dV[law->place[k]];
    }
    return sum;
  }
  return sum + branch_slope(self, b) * v;
}

// Of the voltage of a member in the direction of its branch; rest: what the others leave of the
// branch's.
static double member_change(const yoke_nodal* self, uint32_t b, const yoke_nodal_member* member,
                            double di) {
  const uint32_t e = member->element;
  const double a0 = self->sets[self->set].a0;
  const double offset = member_offset(self, b, member);

  // offset by the input, then what the change of the branch's current does: R, a0 L, 1 / (a0 C)
  switch (self->core->network->elements[e].kind) {
  case YOKE_RESISTOR:
    return offset + self->stamped[e] * di;
  case YOKE_INDUCTOR:
    return offset + a0 * self->stamped[e] * di;
  case YOKE_CAPACITOR:
    return offset + di / (a0 * self->stamped[e]);
  default:
    return offset;
  }
}

// A node inside a branch: from the end from which no junction lies in between.
static double inner_change(const yoke_nodal* self, uint32_t node) {
  const uint32_t b = self->node_branch[node];
  const yoke_nodal_branch* branch = &self->branches[b];
  const yoke_nodal_member* members = self->members + branch->first;
  const uint32_t after = self->node_after[node];

  // unknowns and known nodes directly, inner nodes along their branch
  const double di = branch_change(self, b);
  double from_p = self->dV[branch->p];
  double from_q = self->dV[branch->q];
  bool is_behind = false;
  for (uint32_t k = 0; k < after; k++) {
    // from p down, each member takes its part; from q up, each gives it
    from_p -= member_change(self, b, &members[k], di);
    is_behind |= self->core->network->elements[members[k].element].kind == YOKE_JUNCTION;
  }
  for (uint32_t k = after; k < branch->n; k++) {
    from_q += member_change(self, b, &members[k], di);
  }
  return is_behind ? from_q : from_p;
}

static void expand(const yoke_nodal* self, double dx[]) {
  const yoke_network* network = self->core->network;
  double* di = dx + network->n_nodes;
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    dx[n] = self->node_place[n] != YOKE_NO_INDEX ? self->dV[self->node_place[n]]
                                                 : inner_change(self, n);
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const uint32_t b = self->element_branch[e];
    // dx of the unknowns; all else follows from it
    if (b != YOKE_NO_INDEX) {
      di[e] = (double)self->members[self->element_member[e]].sign * branch_change(self, b);
    }
  }
  for (uint32_t i = 0; i < self->n_held; i++) {
    di[self->held[i].element] = yoke__nodal_held(self, self->held[i].element, di);
  }
}

yoke_status yoke__nodal_sensitivity(void* memory, uint32_t input, double dx[]) {
  yoke_nodal* self = memory;
  size_t slot = 0;
  YOKE_TRY(ready_factors(self, &slot));
  differentiate_values(self, input);
  fill_rows(self, self->solution);
  if (self->n > 0) {
    yoke__sparse_solve(self->sets[self->set].lu, slot, self->solution);
  }
  memcpy(self->dV, self->solution, self->n * sizeof(double));
  expand(self, dx);
  return YOKE_OK;
}
