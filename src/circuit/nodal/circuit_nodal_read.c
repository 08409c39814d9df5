// Reading the `nodal` engine: what was merged away or never was an unknown is worked out when it is
// asked for.
//
//   a node inside a branch       from its end by the voltages of the members before it
//   a current                    of its branch: i = g (v - E) + j
//   a source that holds a node   Kirchhoff's law of all nodes held through it
#include <math.h>

#include "circuit/nodal/circuit_nodal.h"

double yoke__nodal_branch_current(const yoke_nodal* self, uint32_t b) {
  const yoke_nodal_branch* branch = &self->branches[b];
  const double* V = self->V;
  const double v = V[branch->p] - V[branch->q];
  if (branch->current != YOKE_NO_INDEX) {
    return V[branch->current];
  }
  switch (branch->kind) {
  case YOKE_NODAL_STATIC:
    // g (v - E)
    return self->coefficient[b] * (v - yoke__nodal_emf(self, branch->emf));
  case YOKE_NODAL_STATE:
    // g (v - E) + j
    return self->sets[self->set].g[branch->state] * (v - yoke__nodal_emf(self, branch->emf)) +
           self->J[branch->state];
  case YOKE_NODAL_JUNCTION:
    return self->junctions.g[branch->item] * v + self->junctions.j[branch->item];
  case YOKE_NODAL_SOURCE:
    return self->J[self->first_source + branch->item];
  case YOKE_NODAL_SWITCH:
    return self->switch_g[branch->item] * v;
  case YOKE_NODAL_GAIN:
    return self->coefficient[b] *
           (V[branch->c] - (branch->d != YOKE_NO_INDEX ? V[branch->d] : 0.0));
  case YOKE_NODAL_LAW:
    return yoke__nodal_law_current(&self->laws[branch->law], V);
  default:
    return (double)NAN;
  }
}

double yoke__nodal_law_value(const void* memory, uint32_t element) {
  const yoke_nodal* self = memory;
  const uint32_t b = self->element_branch[element];
  const uint32_t law = b != YOKE_NO_INDEX ? self->branches[b].law : YOKE_NO_INDEX;
  // without a branch of its own (both ends on one node) it has no effect: any value will do
  return law != YOKE_NO_INDEX ? self->laws[law].value : 1.0;
}

// Across the junction of a branch.
static double junction_voltage(const yoke_nodal* self, uint32_t b) {
  const yoke_nodal_branch* branch = &self->branches[b];

  // v - E - rs i
  return self->V[branch->p] - self->V[branch->q] - yoke__nodal_emf(self, branch->emf) -
         self->junctions.rs[branch->item] * yoke__nodal_branch_current(self, b);
}

// Where the junction was evaluated last, which is where it is unless it was limited.
static double junction_charge(const yoke_nodal* self, uint32_t k) {
  double capacitance = 0.0;
  return yoke__junction_charge(self->junctions.model[k], self->junctions.v[k], &capacitance);
}

static double state_value(const yoke_nodal* self, uint32_t b) {
  const yoke_nodal_branch* branch = &self->branches[b];
  const double v = self->V[branch->p] - self->V[branch->q] - yoke__nodal_emf(self, branch->emf);
  const uint32_t e = self->members[branch->first].element;
  switch (branch->kind) {
  case YOKE_NODAL_STATE:
    // i of inductors, v - E - R i of capacitors
    return self->state_i[branch->state] * yoke__nodal_branch_current(self, b) +
           self->state_v[branch->state] * v;
  case YOKE_NODAL_JUNCTION:
    return junction_charge(self, branch->item);
  case YOKE_NODAL_LAW:
    return self->core->network->elements[e].kind == YOKE_CAPACITOR
               ? v
               : yoke__nodal_branch_current(self, b);
  default:
    return yoke__nodal_branch_current(self, b);
  }
}

double yoke__nodal_state(const yoke_nodal* self, uint32_t b, double* rate) {
  const uint32_t state = self->branches[b].state;
  const yoke_nodal_set* set = &self->sets[self->set];
  const double x = state_value(self, b);
  if (rate != NULL) {
    // condensed: c is not kept, but j = s c is
    const bool is_condensed = self->is_condensed && !self->is_shown;
    *rate = set->a0 * x + (is_condensed ? self->J[state] / set->s[state] : self->c[state]);
  }
  return x;
}

// -------------------------------------------------------------------------------------------------
// inside a branch

// Part of one capacitor in the voltage of all capacitors of a branch.
static double capacitor_share(const yoke_nodal* self, const yoke_nodal_branch* branch, uint32_t e) {
  double sum = 0.0;
  for (uint32_t i = 0; i < branch->n; i++) {
    const uint32_t other = self->members[branch->first + i].element;
    if (self->core->network->elements[other].kind == YOKE_CAPACITOR) {
      // series capacitors share a voltage as 1/C_k over the sum of 1/C
      sum += 1.0 / self->stamped[other];
    }
  }
  return 1.0 / (self->stamped[e] * sum);
}

// The voltage of a member in the direction of its branch, which carries i.
static double member_voltage(const yoke_nodal* self, uint32_t b, const yoke_nodal_member* member,
                             double i) {
  const yoke_nodal_branch* branch = &self->branches[b];
  const uint32_t e = member->element;
  double rate = 0.0;
  switch (self->core->network->elements[e].kind) {
  case YOKE_RESISTOR:
    return self->stamped[e] * i;
  case YOKE_VOLTAGE:
    return (double)member->sign * self->core->signals->element[e];
  case YOKE_INDUCTOR:
    (void)yoke__nodal_state(self, b, &rate);
    // L i'
    return self->stamped[e] * rate;
  case YOKE_CAPACITOR:
    // its share of the common voltage, and what it had beyond that at the start
    return capacitor_share(self, branch, e) * yoke__nodal_state(self, b, NULL) +
           (self->offset != NULL ? self->offset[e] : 0.0);
  case YOKE_JUNCTION:
    return junction_voltage(self, b);
  default:
    return (double)NAN;
  }
}

double yoke__nodal_voltage(const void* memory, uint32_t node) {
  const yoke_nodal* self = memory;
  if (self->node_place[node] != YOKE_NO_INDEX) {
    return self->V[self->node_place[node]];
  }
  const uint32_t b = self->node_branch[node];
  const yoke_nodal_branch* branch = &self->branches[b];
  const double i = yoke__nodal_branch_current(self, b);
  double v = self->V[branch->p];

  // from p along the branch: node voltage less the members before it
  for (uint32_t k = 0; k < self->node_after[node]; k++) {
    v -= member_voltage(self, b, &self->members[branch->first + k], i);
  }
  return v;
}

// -------------------------------------------------------------------------------------------------
// currents

static double own_current(const yoke_nodal* self, uint32_t e) {
  return (double)self->members[self->element_member[e]].sign *
         yoke__nodal_branch_current(self, self->element_branch[e]);
}

// What all nodes behind a source that holds them send into the rest of the network.
double yoke__nodal_held(const yoke_nodal* self, uint32_t e, const double i[]) {
  const yoke_element* elements = self->core->network->elements;
  const uint32_t first = self->element_member[e];
  double sum = 0.0;

  // Kirchhoff's law of the whole part behind the source
  for (uint32_t h = first; h < self->held[first].end; h++) {
    const uint32_t node = self->held[h].node;
    for (uint32_t k = self->touch_starts[node]; k < self->touch_starts[node + 1]; k++) {
      const uint32_t other = self->touch[k];
      if (self->element_branch[other] != YOKE_NO_INDEX && elements[other].a != elements[other].b) {
        const double i_other = i != NULL ? i[other] : own_current(self, other);
        // elements with both ends on one node carry nothing out
        sum += elements[other].a == node ? i_other : -i_other;
      }
    }
  }
  return elements[e].a == self->held[first].node ? -sum : sum;
}

double yoke__nodal_current(const void* memory, uint32_t element) {
  const yoke_nodal* self = memory;
  return self->element_branch[element] != YOKE_NO_INDEX ? own_current(self, element)
                                                        : yoke__nodal_held(self, element, NULL);
}

// -------------------------------------------------------------------------------------------------
// rates
