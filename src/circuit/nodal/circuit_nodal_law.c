// What is not linear in the `nodal` engine: junctions with what lies in series with them, and laws
// of voltages and currents.
//
// A junction i = f(v_j) behind a resistance, v = v_j + rs i + E, is linearised at v_j and solved
// for its current,
//
//   i = ( f + f' (v - E - v_j) ) / (1 + f' rs)
//
// which gives the same iterates as with the node between them as an unknown. The junction is
// evaluated where an iteration has taken it, which is where the next iteration or the next step
// linearises it: what the last linearisation was off by is then known without further cost, and the
// iteration ends as soon as that is small, one iteration before the change of the voltages is. An
// iteration that was limited never ends it.
//
// The state of a junction with charge is q(v_j) itself, i = f(v_j) + q', q' = a0 q(v_j) + c: what
// flows in over a step is what q has changed by, whatever the step. With C(v) v' in its place a step
// that goes from conducting to blocking (C falls by orders of magnitude) makes or loses charge.
#include <math.h>

#include "circuit/nodal/circuit_nodal.h"

// -------------------------------------------------------------------------------------------------
// layout

static yoke_status take_junctions(yoke_nodal* self, size_t n) {
  yoke_arena* arena = &self->core->arena;
  yoke_nodal_junctions* d = &self->junctions;
  uint32_t* index = yoke__arena_array(arena, 10 * n, sizeof *index);
  double* reals = yoke__arena_array(arena, 5 * n, sizeof *reals);
  d->model = yoke__arena_array(arena, n, sizeof(void*));
  d->law = yoke__arena_array(arena, n, sizeof *d->law);
  YOKE_TRY(yoke__arena_status(arena));
  d->p = index;
  d->q = index + n;
  d->emf = index + 2 * n;
  d->state = index + 3 * n;
  d->row = index + 4 * n;
  d->at = index + 6 * n;
  d->known_p = reals;
  d->known_q = reals + n;
  d->rs = reals + 2 * n;
  d->sign = reals + 3 * n;
  d->n = (uint32_t)n;
  return YOKE_OK;
}

uint32_t yoke__nodal_junction(const yoke_nodal* self, const yoke_nodal_branch* branch) {
  uint32_t m = branch->first;
  while (self->core->network->elements[self->members[m].element].kind != YOKE_JUNCTION) {
    m++;
  }
  return self->members[m].element;
}

static void lay_junction(yoke_nodal* self, yoke_nodal_branch* branch) {
  yoke_nodal_junctions* d = &self->junctions;
  const uint32_t k = branch->item;
  d->model[k] = self->core->network->elements[yoke__nodal_junction(self, branch)].junction;
  yoke__junction_init(&d->law[k], d->model[k], self->core->options.gmin);
  d->p[k] = branch->p;
  d->q[k] = branch->q;

  // an end with a known potential has no column: its part goes to the right-hand side
  d->known_p[k] = branch->p < self->n ? 0.0 : 1.0;
  d->known_q[k] = branch->q < self->n ? 0.0 : 1.0;
  d->emf[k] = branch->emf;

  // charge: one more state
  if (yoke__junction_holds_charge(d->model[k])) {
    branch->state = self->n_states++;
  }
  d->state[k] = branch->state;
  for (uint32_t i = 0; i < 2; i++) {
    d->row[2 * k + i] = branch->row[i] < self->n ? branch->row[i] : self->n;
    d->sign[2 * k + i] = branch->sign[i];
  }
}

static uint32_t count_live(const yoke_expression* law) {
  uint32_t n = 0;

  // time and inputs are no unknowns
  for (uint32_t i = 0; i < law->n_live; i++) {
    n += law->live[i].kind == YOKE_LIVE_VOLTAGE || law->live[i].kind == YOKE_LIVE_CURRENT;
  }
  return n;
}

static void place_live(const yoke_nodal* self, yoke_nodal_law* law, const yoke_expression* from) {
  for (uint32_t i = 0; i < from->n_live; i++) {
    const yoke_live* live = &from->live[i];
    law->live[i] = YOKE_NO_INDEX;
    if (live->kind == YOKE_LIVE_VOLTAGE || live->kind == YOKE_LIVE_CURRENT) {
      law->live[i] = law->n;
      law->place[law->n++] = live->kind == YOKE_LIVE_VOLTAGE
                                 ? self->node_place[live->index]
                                 : self->branches[self->element_branch[live->index]].current;
    }
  }
}

static yoke_status lay_law(yoke_nodal* self, uint32_t b) {
  yoke_nodal_branch* branch = &self->branches[b];
  yoke_nodal_law* law = &self->laws[branch->law];
  const uint32_t e = self->members[branch->first].element;
  const yoke_element* element = &self->core->network->elements[e];
  const size_t n_max = 4 + (size_t)count_live(element->value.law);
  uint32_t* index = yoke__arena_array(&self->core->arena, 3 * n_max, sizeof *index);
  YOKE_TRY(yoke__arena_status(&self->core->arena));
  *law = (yoke_nodal_law){.branch = b, .element = e, .place = index, .at = index + n_max};
  law->place[law->n++] = branch->p;
  law->place[law->n++] = branch->q;

  // p and q first, then the controls, then what the law reads
  if (branch->c != YOKE_NO_INDEX) {
    law->place[law->n++] = branch->c;
  }
  if (branch->d != YOKE_NO_INDEX) {
    law->place[law->n++] = branch->d;
  }
  place_live(self, law, element->value.law);
  for (int i = 0; i < 2; i++) {
    law->row[i] = branch->row[i] < self->n ? branch->row[i] : self->n;
    law->sign[i] = branch->sign[i];
  }
  if (branch->kind == YOKE_NODAL_VOLTAGE) {
    law->sign[0] = 1.0;
  }
  if (element->kind == YOKE_CAPACITOR || element->kind == YOKE_INDUCTOR) {
    branch->state = self->n_states++;
  }
  law->state = branch->state;
  return YOKE_OK;
}

yoke_status yoke__nodal_lay_laws(yoke_nodal* self) {
  YOKE_TRY(take_junctions(self, self->n_of_kind[YOKE_NODAL_JUNCTION]));
  self->laws = yoke__arena_array(&self->core->arena, self->n_laws, sizeof *self->laws);
  YOKE_TRY(yoke__arena_status(&self->core->arena));
  for (uint32_t b = 0; b < self->n_branches; b++) {
    if (self->branches[b].kind == YOKE_NODAL_JUNCTION) {
      lay_junction(self, &self->branches[b]);
    }
    if (self->branches[b].law != YOKE_NO_INDEX) {
      YOKE_TRY(lay_law(self, b));
    }
  }
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// linearisation

// Current and slope at the point of linearisation; with charge they depend on the stage.
static void evaluate_junction(yoke_nodal_junctions* d, uint32_t k, double a0, const double c[]) {
  const double v = d->v[k];

  // i = f(v) + q', q' = a0 q(v) + c; slope f' + a0 C
  yoke__junction_evaluate(&d->law[k], v, &d->i[k], &d->slope[k]);
  if (d->state[k] != YOKE_NO_INDEX) {
    double capacitance = 0.0;
    const double q = yoke__junction_charge(d->model[k], v, &capacitance);
    d->i[k] += a0 * q + c[d->state[k]];
    d->slope[k] += a0 * capacitance;
  }
}

void yoke__nodal_evaluate_junctions(yoke_nodal* self, double a0, const double c[]) {
  for (uint32_t k = 0; k < self->junctions.n; k++) {
    evaluate_junction(&self->junctions, k, a0, c);
  }
}

static void linearise_junctions(yoke_nodal* self) {
  yoke_nodal_junctions* d = &self->junctions;
  for (uint32_t k = 0; k < d->n; k++) {
    // i = g v + j with g = f' / (1 + f' rs), v across junction, rs and emf
    const double slope = d->slope[k];
    // 1 / (1 + f' rs): the part of v that lies across the junction
    const double share = 1.0 / (1.0 + slope * d->rs[k]);
    const double e = yoke__nodal_emf(self, d->emf[k]);
    d->g[k] = slope * share;
    d->j[k] = (d->i[k] - slope * d->v[k]) * share - d->g[k] * e;
  }
}

// phi and its derivatives by y; value: of the law, with its gradient.
static void differentiate(const yoke_nodal_law* law, yoke_element_kind kind, double value,
                          double a0, double c) {
  const double* y = law->y;
  double* slope = law->slope;
  const double v = y[0] - y[1];
  double by_v = 0.0;
  switch (kind) {
  case YOKE_RESISTOR:
    by_v = 1.0 / value;
    // i = v / R: phi, d phi / d value, d phi / dv
    law->phi[0] = v / value;
    law->phi[1] = -v / (value * value);
    break;
  case YOKE_CAPACITOR:
    // i = C (a0 v + c)
    by_v = value * a0;
    law->phi[1] = a0 * v + c;
    law->phi[0] = value * law->phi[1];
    break;
  case YOKE_INDUCTOR:
    // i = (v / L - c) / a0
    by_v = 1.0 / (value * a0);
    law->phi[0] = v * by_v - c / a0;
    law->phi[1] = -v * by_v / value;
    break;
  case YOKE_CURRENT:
  case YOKE_VOLTAGE:
    // i = value, or v - value = 0
    law->phi[1] = kind == YOKE_CURRENT ? 1.0 : -1.0;
    law->phi[0] = law->phi[1] * value;
    break;
  case YOKE_VCVS:
  case YOKE_VCCS:
    // i = gain (V_c - V_d), or v - gain (V_c - V_d) = 0
    slope[2] = kind == YOKE_VCCS ? value : -value;
    slope[3] = -slope[2];
    law->phi[0] = slope[2] * (y[2] - y[3]);
    law->phi[1] = kind == YOKE_VCCS ? y[2] - y[3] : y[3] - y[2];
    break;
  default:
    // controlled by a current
    slope[2] = kind == YOKE_CCCS ? value : -value;
    law->phi[0] = slope[2] * y[2];
    law->phi[1] = kind == YOKE_CCCS ? y[2] : -y[2];
    break;
  }
  slope[0] = by_v;
  slope[1] = -by_v;
}

static void linearise_law(yoke_nodal* self, yoke_nodal_law* law, const double V[], double a0,
                          const double c[]) {
  const yoke_element* element = &self->core->network->elements[law->element];
  const yoke_expression* from = element->value.law;
  const yoke_signals* signals = self->core->signals;
  double live[YOKE_EXPRESSION_MAX_LIVE];
  double gradient[YOKE_EXPRESSION_MAX_LIVE];
  for (uint32_t k = 0; k < law->n; k++) {
    law->y[k] = V[law->place[k]];
    law->slope[k] = 0.0;
  }

  // live values: unknowns, time or inputs
  for (uint32_t i = 0; i < from->n_live; i++) {
    live[i] = law->live[i] != YOKE_NO_INDEX          ? law->y[law->live[i]]
              : from->live[i].kind == YOKE_LIVE_TIME ? signals->t
                                                     : signals->input[from->live[i].index];
  }
  const double value = yoke__expression_evaluate(from, live, gradient);
  law->value = value;
  differentiate(law, element->kind, value, a0, law->state != YOKE_NO_INDEX ? c[law->state] : 0.0);

  // chain rule: d phi / dy += d phi / d value d value / dy
  for (uint32_t i = 0; i < from->n_live; i++) {
    if (law->live[i] != YOKE_NO_INDEX) {
      law->slope[law->live[i]] += law->phi[1] * gradient[i];
    }
  }
}

void yoke__nodal_linearise(yoke_nodal* self, const double V[], double a0, const double c[]) {
  linearise_junctions(self);
  for (uint32_t i = 0; i < self->n_laws; i++) {
    linearise_law(self, &self->laws[i], V, a0, c);
  }
}

// -------------------------------------------------------------------------------------------------
// stamps

static void stamp_junctions(const yoke_nodal_junctions* d, const double V[], double values[],
                            double rhs[]) {
  for (uint32_t k = 0; k < d->n; k++) {
    const double g = d->g[k];
    // known ends go to the right-hand side
    const double j = d->j[k] + g * (d->known_p[k] * V[d->p[k]] - d->known_q[k] * V[d->q[k]]);
    const double* sign = d->sign + 2 * (size_t)k;
    const uint32_t* at = d->at + 4 * (size_t)k;
    const uint32_t* row = d->row + 2 * (size_t)k;
    values[at[0]] += sign[0] * g;
    values[at[1]] -= sign[0] * g;
    values[at[2]] += sign[1] * g;
    values[at[3]] -= sign[1] * g;
    rhs[row[0]] -= sign[0] * j;
    rhs[row[1]] -= sign[1] * j;
  }
}

// phi + sum slope (y - y_0); what is known stays in the constant part
static void stamp_law(const yoke_nodal_law* law, uint32_t n, double values[], double rhs[]) {
  // phi_0 + sum slope (y - y_0): unknowns into the matrix, the rest to the right
  double constant = law->phi[0];
  for (size_t k = 0; k < law->n; k++) {
    const double slope = law->slope[k];
    values[law->at[2 * k]] += law->sign[0] * slope;
    values[law->at[2 * k + 1]] += law->sign[1] * slope;
    constant -= law->place[k] < n ? slope * law->y[k] : 0.0;
  }
  rhs[law->row[0]] -= law->sign[0] * constant;
  rhs[law->row[1]] -= law->sign[1] * constant;
}

void yoke__nodal_stamp_laws(const yoke_nodal* self, const double V[], double values[],
                            double rhs[]) {
  stamp_junctions(&self->junctions, V, values, rhs);
  for (uint32_t i = 0; i < self->n_laws; i++) {
    stamp_law(&self->laws[i], self->n, values, rhs);
  }
}

double yoke__nodal_law_current(const yoke_nodal_law* law, const double V[]) {
  double phi = law->phi[0];

  // the linearised current at V
  for (uint32_t k = 0; k < law->n; k++) {
    phi += law->slope[k] * (V[law->place[k]] - law->y[k]);
  }
  return phi;
}

bool yoke__nodal_follow_junctions(yoke_nodal* self, const double V[], double a0, const double c[],
                                  double tolerance, double noise) {
  yoke_nodal_junctions* d = &self->junctions;
  const bool is_unlimited = self->core->options.is_unlimited;
  bool is_limited = false;
  bool is_small = true;
  for (uint32_t k = 0; k < d->n; k++) {
    // current by the linearisation, then the voltage of the junction behind rs and emf
    const double v = V[d->p[k]] - V[d->q[k]];
    // i = g v + j
    const double i = d->g[k] * v + d->j[k];
    const double e = yoke__nodal_emf(self, d->emf[k]);
    const double v_new = v - e - d->rs[k] * i;
    // held back where the exponential is steep
    d->v[k] = is_unlimited ? v_new : yoke__junction_limit(&d->law[k], v_new, d->v[k], &is_limited);
    evaluate_junction(d, k, a0, c);
    // what the linearisation was off by, as a current and, by the slope, as a voltage
    const double off = fabs(d->i[k] - i);
    // small as a current, or small as a voltage: off / f'
    is_small &= off <= tolerance * (1.0 + fabs(i)) &&
                off <= tolerance * (1.0 + fabs(v_new)) * fabs(d->slope[k]) + noise;
  }
  return is_small && !is_limited;
}
