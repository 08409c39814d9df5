// Checks of single elements: values without meaning, terminals on one node, wrong domain, loose
// ends.
//
// Zero resistances, capacitances and inductances are errors: they mean a short or a break that is
// better written so. Negative capacitances and inductances store negative energy and are errors; a
// negative resistance is legal in SPICE and occurs in star equivalents, so it is a warning. Values
// that are laws are known only while the simulation runs.
#include <math.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "circuit/network/circuit_junction.h"
#include "circuit/topology/circuit_topology.h"

#define MAX_SHOWN 60

static void complain(yoke_topology* self, yoke_severity severity, const yoke_element* element,
                     const char* what, double value, const char* hint) {
  char number[YOKE_NUMBER_SIZE];
  yoke__number_format(value, number);
  yoke__message_add(self->messages, severity, element->place, "'%.*s': %s %s%s", MAX_SHOWN,
                    element->name, what, number, hint);
}

// ---- waves

static const char* fault_of_table(const yoke_wave* wave) {
  if (wave->n_points == 0 || wave->table == NULL) {
    return "no points";
  }
  for (size_t i = 0; i < 2 * (size_t)wave->n_points; i++) {
    if (!yoke__is_finite(wave->table[i])) {
      return "a number that is not finite";
    }
    // times are the even numbers; equal ones are a jump
    if (i >= 2 && i % 2 == 0 && wave->table[i] < wave->table[i - 2]) {
      return "times that go back";
    }
  }
  return NULL;
}

// what is wrong with a wave, or NULL
static const char* fault_of_wave(const yoke_wave* wave) {
  for (size_t i = 0; i < YOKE_COUNT(wave->p); i++) {
    // a top or a period without end are fine
    const bool may_be_infinite = wave->kind == YOKE_WAVE_PULSE && (i == 5 || i == 6);
    if (!yoke__is_finite(wave->p[i]) && !(may_be_infinite && wave->p[i] > 0)) {
      return "a number that is not finite";
    }
  }
  if (wave->kind == YOKE_WAVE_PULSE &&
      (wave->p[3] < 0 || wave->p[4] < 0 || wave->p[5] < 0 || wave->p[6] < 0)) {
    return "a negative duration";
  }
  if (wave->kind == YOKE_WAVE_EXP && (wave->p[3] < 0 || wave->p[5] < 0)) {
    return "a negative time constant";
  }
  return wave->kind == YOKE_WAVE_PWL ? fault_of_table(wave) : NULL;
}

// ---- values

static void check_storage(yoke_topology* self, const yoke_element* element) {
  const bool is_inductor = element->kind == YOKE_INDUCTOR;
  const bool is_thermal = element->domain == YOKE_THERMAL;
  const double value = element->value.constant;
  const char* what = is_inductor ? "inductance" : is_thermal ? "heat capacity" : "capacitance";
  if (value == 0) {
    complain(self, YOKE_ERROR, element, what, value,
             is_inductor ? ": use a voltage source of 0 V for a short" : ": leave it out");
  } else if (value < 0) {
    complain(self, YOKE_ERROR, element, what, value,
             is_inductor ? " is negative; for the star of a transformer use coupled inductors (K)"
                         : " is negative");
  }
}

static void check_resistor(yoke_topology* self, const yoke_element* element) {
  const bool is_thermal = element->domain == YOKE_THERMAL;
  const char* what = is_thermal ? "thermal resistance" : "resistance";
  if (element->value.constant == 0) {
    complain(self, YOKE_ERROR, element, what, 0,
             is_thermal ? ": make the two nodes one, or give it a small value"
                        : ": use a voltage source of 0 V for a short, or a small value (1m)");
  } else if (element->value.constant < 0) {
    complain(self, YOKE_WARNING, element, what, element->value.constant,
             " is negative: it feeds energy into the network");
  }
}

static void check_value(yoke_topology* self, const yoke_element* element) {
  const yoke_circuit_value* value = &element->value;
  if (value->law != NULL || element->kind == YOKE_JUNCTION || element->kind == YOKE_SWITCH) {
    return;
  }
  if (value->wave != NULL) {
    const char* fault = fault_of_wave(value->wave);
    if (fault != NULL) {
      yoke__error(self->messages, element->place, "'%.*s': its wave has %s", MAX_SHOWN,
                  element->name, fault);
    }
    return;
  }
  if (!yoke__is_finite(value->constant)) {
    complain(self, YOKE_ERROR, element, "value", value->constant, " is not finite");
  } else if (element->kind == YOKE_RESISTOR) {
    check_resistor(self, element);
  } else if (element->kind == YOKE_CAPACITOR || element->kind == YOKE_INDUCTOR) {
    check_storage(self, element);
  }
}

static void check_models(yoke_topology* self, const yoke_element* element) {
  const yoke_junction_model* junction = element->junction;
  if (element->kind == YOKE_JUNCTION) {
    if (!(junction->is > 0 && yoke__is_finite(junction->is))) {
      complain(self, YOKE_ERROR, element, "saturation current", junction->is,
               "; it must be positive");
    }
    if (!(junction->n * junction->vt > 0 && yoke__is_finite(junction->n * junction->vt))) {
      complain(self, YOKE_ERROR, element, "emission coefficient times thermal voltage",
               junction->n * junction->vt, "; it must be positive");
    }
  }
  if (element->kind == YOKE_SWITCH) {
    const yoke_switch_model* model = element->switching;
    if (!(model->r_on >= 0 && yoke__is_finite(model->r_on))) {
      complain(self, YOKE_ERROR, element, "closed resistance", model->r_on,
               "; it must be 0 or positive");
    }
    if (!(model->r_off > 0)) {
      complain(self, YOKE_ERROR, element, "open resistance", model->r_off, "; it must be positive");
    }
  }
}

// ---- places in the network

// ground serves both domains
static void check_domain(yoke_topology* self, const yoke_element* element) {
  const uint32_t ends[2] = {element->a, element->b};
  for (int i = 0; i < 2; i++) {
    const yoke_network_node* node = &self->network->nodes[ends[i]];
    if (ends[i] != 0 && node->domain != element->domain) {
      yoke__error(self->messages, element->place,
                  "'%.*s' is %s, but node '%.*s' belongs to the %s network", MAX_SHOWN,
                  element->name, element->domain == YOKE_THERMAL ? "thermal" : "electric",
                  MAX_SHOWN, node->name, node->domain == YOKE_THERMAL ? "thermal" : "electric");
      return;
    }
  }
}

// of voltage sources the loops speak
static void check_ends(yoke_topology* self, uint32_t index) {
  const yoke_element* element = &self->network->elements[index];
  const uint16_t kind = self->edges[index].kind;
  if (element->a == element->b && (kind & (YOKE_EDGE_SOURCE_V | YOKE_EDGE_DRIVEN_V)) == 0) {
    yoke__message_add(self->messages, YOKE_WARNING, element->place,
                      "'%.*s' has both ends on node '%.*s': it has no effect", MAX_SHOWN,
                      element->name, MAX_SHOWN, self->network->nodes[element->a].name);
  }
}

// ---- temperatures are in K: none is below 0

static void check_temperature(yoke_topology* self, yoke_place place, const char* name,
                              const char* what, double kelvin) {
  if (kelvin < 0) {
    char number[YOKE_NUMBER_SIZE];
    yoke__number_format(kelvin, number);
    yoke__error(self->messages, place,
                "'%.*s': %s %s K is below absolute zero; write degC behind "
                "a temperature in degrees Celsius",
                MAX_SHOWN, name, what, number);
  }
}

// the lowest number that a wave certainly stands for
static double lowest_of_wave(const yoke_wave* wave) {
  // between its two levels
  if (wave->kind == YOKE_WAVE_PULSE || wave->kind == YOKE_WAVE_EXP) {
    return fmin(wave->p[0], wave->p[1]);
  }

  // piecewise linear: one of its corners
  double lowest = wave->kind == YOKE_WAVE_PWL ? (double)INFINITY : wave->p[0];
  for (size_t i = 0; wave->kind == YOKE_WAVE_PWL && i < wave->n_points; i++) {
    lowest = fmin(lowest, wave->table[2 * i + 1]);
  }
  return lowest;
}

static void check_node_temperature(yoke_topology* self, const yoke_network_node* node) {
  if (node->domain != YOKE_THERMAL) {
    return;
  }
  if (node->has_start) {
    check_temperature(self, node->start_place, node->name, "a start temperature of", node->start);
  }
  if (node->is_fixed && node->fixed.law == NULL) {
    const yoke_wave* wave = node->fixed.wave;
    check_temperature(self, node->place, node->fixed_name == NULL ? node->name : node->fixed_name,
                      "a temperature of",
                      wave == NULL ? node->fixed.constant : lowest_of_wave(wave));
  }
}

static void check_start_temperature(yoke_topology* self, const yoke_element* element) {
  if (element->domain == YOKE_THERMAL && element->kind == YOKE_CAPACITOR && element->has_start &&
      element->b == 0) {
    check_temperature(self, element->place, element->name, "a start temperature of",
                      element->start);
  }
}

// ---- what touches nodes

// With uic `.ic` goes to capacitors without IC= and to junctions that hold charge, at either end.
static void check_node_starts(yoke_topology* self, const bool is_used[]) {
  for (uint32_t n = 0; n < self->n_nodes; n++) {
    const yoke_network_node* node = &self->network->nodes[n];
    if (node->has_start && !is_used[n]) {
      char number[YOKE_NUMBER_SIZE];
      yoke__number_format(node->start, number);
      yoke__message_add(
          self->messages, YOKE_WARNING, node->start_place,
          ".ic %s(%.*s)=%s has no effect: with uic it acts through capacitors without "
          "IC= and charges of diodes, and none is at this node",
          node->domain == YOKE_THERMAL ? "t" : "v", MAX_SHOWN, node->name, number);
    }
  }
}

// Where only inductors meet a diode that stores charge but has no capacitance, their current must
// stop at once when the charge is gone.
static void check_snap(yoke_topology* self, const uint32_t n_others[], const uint32_t snaps[],
                       const bool has_coil[]) {
  for (uint32_t n = 0; n < self->n_nodes; n++) {
    if (snaps[n] != 0 && n_others[n] == 0 && has_coil[n] && !self->network->nodes[n].is_fixed) {
      const yoke_element* element = &self->network->elements[snaps[n] - 1];
      yoke__message_add(
          self->messages, YOKE_NOTE, element->place,
          "'%.*s' has TT but no CJO, and only inductors meet it at node '%.*s': when "
          "its charge is gone their current stops within one step; give the model CJO",
          MAX_SHOWN, element->name, MAX_SHOWN, self->network->nodes[n].name);
    }
  }
}

static yoke_status check_nodes(yoke_topology* self) {
  const yoke_network* network = self->network;
  bool* is_used = yoke__arena_array(&self->arena, 2 * (size_t)self->n_nodes, sizeof *is_used);
  uint32_t* n_others = yoke__arena_array(&self->arena, 2 * (size_t)self->n_nodes, sizeof *n_others);
  YOKE_TRY(yoke__arena_status(&self->arena));
  bool* has_coil = is_used + self->n_nodes;
  uint32_t* snaps = n_others + self->n_nodes;  // 1 + index of such a diode
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const yoke_element* element = &network->elements[e];
    const yoke_junction_model* junction = element->junction;
    const uint32_t ends[2] = {element->a, yoke__network_outer_end(network, e)};
    const bool is_diode = element->kind == YOKE_JUNCTION;
    const bool is_charge = (element->kind == YOKE_CAPACITOR && !element->has_start) ||
                           (is_diode && yoke__junction_holds_charge(junction));
    const bool is_snap = is_diode && junction->tt > 0.0 && !(junction->cjo > 0.0);
    // the series resistance of a diode is part of it
    const bool is_part = element->is_internal && network->nodes[element->a].is_internal;
    for (int i = 0; i < 2; i++) {
      is_used[ends[i]] |= is_charge;
      // what meets a node: coils, diodes that snap off, and anything else
      // that could take over their current
      has_coil[ends[i]] |= element->kind == YOKE_INDUCTOR;
      snaps[ends[i]] = is_snap ? e + 1 : snaps[ends[i]];
      n_others[ends[i]] += !is_snap && !is_part && element->kind != YOKE_INDUCTOR;
    }
  }
  if (network->run.is_uic) {
    check_node_starts(self, is_used);
  }
  check_snap(self, n_others, snaps, has_coil);
  return YOKE_OK;
}

yoke_status yoke__topology_check_values(yoke_topology* self) {
  const yoke_network* network = self->network;
  for (uint32_t i = 0; i < network->n_elements; i++) {
    const yoke_element* element = &network->elements[i];
    check_value(self, element);
    check_models(self, element);
    check_domain(self, element);
    check_ends(self, i);
    check_start_temperature(self, element);
  }
  for (uint32_t i = 0; i < network->n_nodes; i++) {
    const yoke_network_node* node = &network->nodes[i];
    const yoke_wave* wave = node->is_fixed ? node->fixed.wave : NULL;
    const char* fault = wave == NULL ? NULL : fault_of_wave(wave);
    if (fault != NULL) {
      yoke__error(self->messages, node->place, "'%.*s': its wave has %s", MAX_SHOWN,
                  node->fixed_name == NULL ? node->name : node->fixed_name, fault);
    }
    if (node->is_fixed && !yoke__is_finite(node->fixed.constant)) {
      yoke__error(self->messages, node->place, "the value of node '%.*s' is not finite", MAX_SHOWN,
                  node->name);
    }
    check_node_temperature(self, node);
  }
  return check_nodes(self);
}
