// Laws of R, C and L, checked at the end of each step.
//
// A capacitance or inductance must be positive, as a constant one must. A resistance may be negative
// (a constant one too, with a warning), but where it changes its sign its law has passed 0 or
// infinity between two steps: the conductance 1/R there has no bound, and what the solution is
// behind it depends on how steps happened to fall. That is an error of the step, with the name of
// the element; a run would go on silently otherwise.
#include "circuit/network/circuit_guard.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"

#define SUSPICIOUS 1.5  // a value that changes by this factor in a step that fails

static bool is_guarded(const yoke_element* element) {
  return element->value.law != NULL && element->a != element->b &&
         (element->kind == YOKE_RESISTOR || element->kind == YOKE_CAPACITOR ||
          element->kind == YOKE_INDUCTOR);
}

// constant temperatures were checked when the network was
static bool is_constant(const yoke_network_node* node) {
  return node->is_fixed && node->fixed.wave == NULL && node->fixed.law == NULL;
}

static bool is_plain_resistor(const yoke_element* element) {
  return element->kind == YOKE_RESISTOR &&
         (element->value.law != NULL || element->value.constant > 0.0);
}

// A node that touches positive resistances only is a mean of its neighbours and never the coldest.
static void mark_nodes(const yoke_network* network, bool is_measured[]) {
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    is_measured[n] = network->nodes[n].is_fixed && !is_constant(&network->nodes[n]);
  }

  // an element that is no positive resistance can cool a node below its neighbours
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const uint32_t ends[2] = {network->elements[e].a, network->elements[e].b};
    for (int i = 0; i < 2; i++) {
      is_measured[ends[i]] |=
          !is_plain_resistor(&network->elements[e]) && !is_constant(&network->nodes[ends[i]]);
    }
  }
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    is_measured[n] &= network->nodes[n].domain == YOKE_THERMAL;
  }
}

yoke_status yoke__guard_create(const yoke_network* network, yoke_arena* arena, yoke_guard* out) {
  size_t n_elements = 0;
  size_t n_nodes = 0;
  bool* is_measured = yoke__arena_array(arena, network->n_nodes, sizeof *is_measured);
  YOKE_TRY(yoke__arena_status(arena));
  mark_nodes(network, is_measured);
  for (uint32_t e = 0; e < network->n_elements; e++) {
    n_elements += is_guarded(&network->elements[e]);
  }
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    n_nodes += is_measured[n];
  }
  *out = (yoke_guard){.elements = yoke__arena_array(arena, n_elements, sizeof(uint32_t)),
                      .signs = yoke__arena_array(arena, n_elements, sizeof(int8_t)),
                      .values = yoke__arena_array(arena, n_elements, sizeof(double)),
                      .nodes = yoke__arena_array(arena, n_nodes, sizeof(uint32_t))};
  YOKE_TRY(yoke__arena_status(arena));
  for (uint32_t e = 0; e < network->n_elements; e++) {
    if (is_guarded(&network->elements[e])) {
      out->elements[out->n_elements++] = e;
    }
  }
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    if (is_measured[n]) {
      out->nodes[out->n_nodes++] = n;
    }
  }
  return YOKE_OK;
}

void yoke__guard_start(yoke_guard* self) {
  memset(self->signs, 0, self->n_elements * sizeof *self->signs);
}

static const char* word_of(const yoke_element* element) {
  const bool is_thermal = element->domain == YOKE_THERMAL;
  return element->kind == YOKE_RESISTOR    ? (is_thermal ? "thermal resistance" : "resistance")
         : element->kind == YOKE_CAPACITOR ? (is_thermal ? "heat capacity" : "capacitance")
         : element->kind == YOKE_INDUCTOR  ? "inductance"
                                           : "value";
}

// "{1k*v(a)}"; texts of B sources have braces of their own.
static const char* show_law(const yoke_element* element, char to[64]) {
  const char* text = element->value.law->text != NULL ? element->value.law->text : "";
  const bool is_braced = text[0] == '{';
  (void)snprintf(to, 64, "%s%.59s%s", is_braced ? "" : "{", text, is_braced ? "" : "}");
  return to;
}

void yoke__guard_explain(const yoke_network* network, uint32_t index, bool is_turned, double value,
                         double t, yoke_circuit_reason* reason) {
  const yoke_element* element = &network->elements[index];
  char law[64];
  show_law(element, law);
  const bool is_possible =
      !is_guarded(element) || value > 0.0 || (value < 0.0 && element->kind == YOKE_RESISTOR);
  if (is_possible && !is_turned && yoke__is_finite(value)) {
    yoke__circuit_reason_set(reason, network, network->n_nodes + index,
                             "the %s of '%.60s' has no finite slope at t = %.9g s: its law is %s",
                             word_of(element), element->name, t, law);
    return;
  }
  char number[40] = "not a number";
  if (!isnan(value)) {
    (void)snprintf(number, sizeof number, "%.6g", value);
  }
  yoke__circuit_reason_set(reason, network, network->n_nodes + index,
                           "the %s of '%.60s' %s %s at t = %.9g s: its law is %s", word_of(element),
                           element->name, is_turned ? "has passed 0 or infinity and is" : "is",
                           number, t, law);
}

bool yoke__guard_accepts(yoke_guard* self, const yoke_network* network, uint32_t index,
                         double value, double t, yoke_circuit_reason* reason) {
  const yoke_element* element = &network->elements[self->elements[index]];

  // the sign at the first step counts: a change of it passed 0 or infinity
  const int8_t sign = (int8_t)(value > 0.0 ? 1 : value < 0.0 ? -1 : 0);
  const bool is_number = yoke__is_finite(value) && sign != 0;
  if (is_number && self->signs[index] == 0) {
    self->signs[index] = sign;
  }
  const bool is_turned = is_number && sign != self->signs[index];
  if (is_number && !is_turned && (sign > 0 || element->kind == YOKE_RESISTOR)) {
    self->values[index] = value;
    return true;
  }
  yoke__guard_explain(network, self->elements[index], is_turned, value, t, reason);
  return false;
}

bool yoke__guard_suspects(const yoke_guard* self, const yoke_network* network, uint32_t index,
                          double value, double t, yoke_circuit_reason* reason) {
  const yoke_element* element = &network->elements[self->elements[index]];
  char law[64];
  const double last = self->values[index];
  const double ratio = value / last;

  // a change by a factor of 1.5 in a step that fails is a suspect
  if (last == 0.0 || (ratio > 1.0 / SUSPICIOUS && ratio < SUSPICIOUS)) {
    return false;
  }
  yoke__circuit_reason_set(
      reason, network, network->n_nodes + self->elements[index],
      "no convergence at t = %.9g s, where the %s of '%.60s' goes from %.6g to %.6g: its "
      "law is %s",
      t, word_of(element), element->name, last, value, show_law(element, law));
  return true;
}
