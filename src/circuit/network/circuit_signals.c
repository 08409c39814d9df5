// The values of sources and elements at a time.
#include "circuit/network/circuit_signals.h"

#include <math.h>
#include <string.h>


static bool is_law_moving(const yoke_circuit_value* value) {
  return value->law != NULL && !yoke__expression_has_state(value->law);
}

static bool is_moving(const yoke_circuit_value* value) {
  return (value->wave != NULL && value->wave->kind != YOKE_WAVE_DC) || is_law_moving(value);
}

// Values that stand in the matrix rather than on the right-hand side.
static bool is_in_matrix(yoke_element_kind kind) {
  return kind != YOKE_VOLTAGE && kind != YOKE_CURRENT && kind != YOKE_JUNCTION &&
         kind != YOKE_SWITCH;
}

static double value_at(const yoke_signals* self, const yoke_circuit_value* value, double t) {
  // a wave depends on time alone, a moving law on time and inputs, everything else is
  // constant or belongs to the equations
  if (value->wave != NULL) {
    return yoke__wave_value(value->wave, t);
  }
  if (is_law_moving(value)) {
    return yoke__signals_law(self, value->law, NULL, NULL);
  }
  return value->constant;
}

static void list_elements(yoke_signals* self) {
  const yoke_network* network = self->network;
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const yoke_element* element = &network->elements[e];
    if (is_moving(&element->value)) {
      self->moving_elements[self->n_moving_elements++] = e;
      self->is_matrix_moving |= is_in_matrix(element->kind);
    }
    self->n_state_elements += yoke__expression_has_state(element->value.law);
  }
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    if (network->nodes[n].is_fixed && is_moving(&network->nodes[n].fixed)) {
      self->moving_nodes[self->n_moving_nodes++] = n;
    }
  }
}

static void fill_constants(yoke_signals* self) {
  const yoke_network* network = self->network;
  for (uint32_t i = 0; i < network->n_inputs; i++) {
    self->u[i] = network->inputs[i].start;
    self->input[i] = self->u[i];
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    self->element[e] = value_at(self, &network->elements[e].value, 0.0);
  }
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    if (network->nodes[n].is_fixed) {
      self->node[n] = value_at(self, &network->nodes[n].fixed, 0.0);
    }
  }
}

yoke_status yoke__signals_create(const yoke_network* network, yoke_arena* arena,
                                 yoke_signals** out) {
  const size_t n_e = network->n_elements;
  const size_t n_n = network->n_nodes;
  const size_t n_u = network->n_inputs;
  yoke_signals* self = yoke__arena_take(arena, sizeof *self);

  // value and rate of each element and node; value, u, u', u'' of each input
  double* reals = yoke__arena_array(arena, 2 * n_e + 2 * n_n + 4 * n_u, sizeof *reals);
  uint32_t* lists = yoke__arena_array(arena, n_e + n_n, sizeof *lists);
  YOKE_TRY(yoke__arena_status(arena));
  *self = (yoke_signals){
      .network = network,
      .element = reals,
      .element_rate = reals + n_e,
      .node = reals + 2 * n_e,
      .node_rate = reals + 2 * n_e + n_n,
      .input = reals + 2 * n_e + 2 * n_n,
      .u = reals + 2 * n_e + 2 * n_n + n_u,
      .du = reals + 2 * n_e + 2 * n_n + 2 * n_u,
      .ddu = reals + 2 * n_e + 2 * n_n + 3 * n_u,
      .moving_elements = lists,
      .moving_nodes = lists + n_e,
  };
  list_elements(self);
  fill_constants(self);
  *out = self;
  return YOKE_OK;
}

void yoke__signals_update(yoke_signals* self, double t) {
  const yoke_network* network = self->network;
  const double s = t - self->t_input;
  self->t = t;
  for (uint32_t i = 0; i < network->n_inputs; i++) {
    // u + s u' + s^2/2 u'', s since the input was written
    self->input[i] = self->u[i] + s * (self->du[i] + 0.5 * s * self->ddu[i]);
  }
  for (uint32_t i = 0; i < self->n_moving_elements; i++) {
    const uint32_t e = self->moving_elements[i];
    self->element[e] = value_at(self, &network->elements[e].value, t);
  }
  for (uint32_t i = 0; i < self->n_moving_nodes; i++) {
    const uint32_t n = self->moving_nodes[i];
    self->node[n] = value_at(self, &network->nodes[n].fixed, t);
  }
}

// d/dt of a value that changes with time or inputs
static double rate_at(const yoke_signals* self, const yoke_circuit_value* value, double t) {
  if (value->wave != NULL) {
    return yoke__wave_slope(value->wave, t);
  }
  double gradient[YOKE_EXPRESSION_MAX_LIVE];
  double rate = 0.0;

  // d/dt law(t, u) = law_t + sum law_u u'
  yoke__signals_law(self, value->law, NULL, gradient);
  for (uint32_t i = 0; i < value->law->n_live; i++) {
    const yoke_live* live = &value->law->live[i];
    // chain rule: 1 for the time, u' + s u'' for an input
    const double slope = live->kind == YOKE_LIVE_TIME
                             ? 1.0
                             : self->du[live->index] + (t - self->t_input) * self->ddu[live->index];
    rate += gradient[i] * slope;
  }
  return rate;
}

void yoke__signals_update_rates(yoke_signals* self, double t) {
  const yoke_network* network = self->network;
  yoke__signals_update(self, t);
  for (uint32_t i = 0; i < self->n_moving_elements; i++) {
    const uint32_t e = self->moving_elements[i];
    self->element_rate[e] = rate_at(self, &network->elements[e].value, t);
  }
  for (uint32_t i = 0; i < self->n_moving_nodes; i++) {
    const uint32_t n = self->moving_nodes[i];
    self->node_rate[n] = rate_at(self, &network->nodes[n].fixed, t);
  }
}

double yoke__signals_law(const yoke_signals* self, const yoke_expression* law, const double x[],
                         double gradient[]) {
  double live[YOKE_EXPRESSION_MAX_LIVE];
  for (uint32_t i = 0; i < law->n_live; i++) {
    const yoke_live* from = &law->live[i];
    switch (from->kind) {
    case YOKE_LIVE_TIME:
      live[i] = self->t;
      break;
    case YOKE_LIVE_INPUT:
      live[i] = self->input[from->index];
      break;
    case YOKE_LIVE_VOLTAGE:
      live[i] = x == NULL ? (double)NAN : x[from->index];
      break;
    case YOKE_LIVE_CURRENT:
      live[i] = x == NULL ? (double)NAN : x[self->network->n_nodes + from->index];
      break;
    }
  }
  return yoke__expression_evaluate(law, live, gradient);
}
