// The variables of a circuit:
//
//   inputs     `.input`
//   outputs    `.output`; without it what `.print`, `.save` and `.probe` name; without these all node voltages
//   states     the rest of what is named, voltages of capacitors v(c1) and currents of inductors i(l1) with
//              their start values, every node voltage and element current
//
// Temperatures are t(node), heat flows i(element). A name that is there already is not given twice:
// a node v(c1) goes before a capacitor c1, which is vc(c1) then. Parts made by the reader (series
// resistance of a diode) appear only if the netlist names them.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/base_map.h"
#include "unit/circuit/unit_circuit_part.h"

#define MAX_NAME 256

static const char node_text[] = "voltage of a node";
static const char temperature_text[] = "temperature of a node";
static const char current_text[] = "current of an element";
static const char heat_text[] = "heat flow of an element";
static const char flow_text[] = "heat flow out of a temperature source";
static const char capacitor_text[] = "voltage of a capacitor";
static const char probe_text[] = "named by the netlist";
static const char input_text[] = "input of the netlist";

typedef struct builder {
  const yoke_network* network;
  yoke_arena* arena;
  yoke_messages* messages;
  yoke_variable* variables;
  circuit_slot* slots;
  size_t n;
  yoke_map names;
  bool* has_capacitor;  // per node: one from it to a fixed node, so its start value can be given
} builder;

// -------------------------------------------------------------------------------------------------
// what can be given a start value

static void mark_nodes(builder* b) {
  const yoke_network* network = b->network;
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const yoke_element* element = &network->elements[e];
    if (element->kind != YOKE_CAPACITOR) {
      continue;
    }
    if (network->nodes[element->b].is_fixed) {
      b->has_capacitor[element->a] = true;
    }
    if (network->nodes[element->a].is_fixed) {
      b->has_capacitor[element->b] = true;
    }
  }
}

// a state behind a probe: a node with a capacitor to a fixed one, the current of an inductor
static void find_start(const builder* b, circuit_slot* slot, double* start) {
  const yoke_network* network = b->network;
  const yoke_probe* probe = &slot->probe;
  if (probe->kind == YOKE_PROBE_VOLTAGE) {
    const yoke_network_node* node = &network->nodes[probe->index];
    slot->has_start = slot->is_node_start = b->has_capacitor[probe->index] && !node->is_fixed;
    *start = node->has_start ? node->start : 0;
  } else if (probe->kind == YOKE_PROBE_CURRENT) {
    const yoke_element* element = &network->elements[probe->index];
    slot->has_start = element->kind == YOKE_INDUCTOR;
    *start = element->has_start ? element->start : 0;
  }
  slot->start_index = probe->index;
}

// -------------------------------------------------------------------------------------------------
// variables

// names of SPICE ignore case: v(...) and i(...) are in small letters
static void lower(char* text) {
  for (; *text != '\0'; text++) {
    *text = (char)tolower((unsigned char)*text);
  }
}

static void make_name(char* to, const char* letter, const char* name) {
  snprintf(to, MAX_NAME, "%s(%s)", letter, name);
  lower(to);
}

// NULL: the name is taken, or there is no memory (*status)
static yoke_variable* add(builder* b, const char* name, yoke_status* status) {
  char* kept = yoke__arena_text(b->arena, name, strlen(name));
  if (kept == NULL) {
    *status = YOKE_NO_MEMORY;
    return NULL;
  }
  if (strchr(kept, '(') != NULL) {
    lower(kept);
  }
  if (yoke__map_find(&b->names, kept) != YOKE_NOT_FOUND) {
    return NULL;
  }
  yoke__map_add(&b->names, kept, b->n);
  yoke_variable* variable = &b->variables[b->n++];
  *variable = (yoke_variable){
      .name = kept, .type = YOKE_REAL, .n_rows = 1, .n_cols = 1, .offset = YOKE_NO_OFFSET};
  return variable;
}

static yoke_status add_inputs(builder* b) {
  const yoke_network* network = b->network;
  for (uint32_t i = 0; i < network->n_inputs; i++) {
    const yoke_circuit_input* input = &network->inputs[i];
    yoke_status status = YOKE_OK;
    yoke_variable* variable = add(b, input->name, &status);
    if (variable == NULL) {
      yoke__error(b->messages, input->place, "a second input '%s'", input->name);
      return status < 0 ? status : YOKE_BAD_INPUT;
    }
    variable->dim = input->dim;
    variable->text = input_text;
    variable->causality = YOKE_INPUT;
    variable->flags = YOKE_VARIABLE_HAS_START;
    variable->start = input->start;
    b->slots[b->n - 1] = (circuit_slot){.kind = CIRCUIT_INPUT, .input = i};
  }
  return YOKE_OK;
}

// A probe as an output or as something to be read; a taken name is passed over.
static yoke_status add_probe(builder* b, const yoke_probe* probe, const char* text,
                             yoke_causality causality) {
  yoke_status status = YOKE_OK;
  yoke_variable* variable = add(b, probe->name, &status);
  if (variable == NULL) {
    return status;
  }
  circuit_slot* slot = &b->slots[b->n - 1];
  *slot = (circuit_slot){.kind = CIRCUIT_QUANTITY, .probe = *probe};
  slot->probe.name = variable->name;
  find_start(b, slot, &variable->start);
  variable->dim = probe->dim;
  variable->text = text;
  variable->causality = causality;
  if (causality == YOKE_OUTPUT) {
    variable->flags = slot->has_start ? YOKE_VARIABLE_HAS_START : 0;
  } else {
    variable->flags = slot->has_start ? 0 : YOKE_VARIABLE_READ_ONLY;
  }
  return YOKE_OK;
}

static yoke_status add_node(builder* b, uint32_t n, yoke_causality causality) {
  const yoke_network_node* node = &b->network->nodes[n];
  const bool is_thermal = node->domain == YOKE_THERMAL;
  char name[MAX_NAME];
  if (n == 0 || node->is_internal) {
    return YOKE_OK;
  }
  make_name(name, is_thermal ? "t" : "v", node->name);
  const yoke_probe probe = {.kind = YOKE_PROBE_VOLTAGE,
                            .name = name,
                            .dim = is_thermal ? "K" : "V",
                            .index = n,
                            .place = node->place};
  YOKE_TRY(add_probe(b, &probe, is_thermal ? temperature_text : node_text, causality));

  // what flows out of a temperature source has no element of its own
  if (causality == YOKE_OUTPUT || node->fixed_name == NULL) {
    return YOKE_OK;
  }
  make_name(name, "i", node->fixed_name);
  const yoke_probe flow = {.kind = YOKE_PROBE_FLOW,
                           .name = name,
                           .dim = is_thermal ? "W" : "A",
                           .index = n,
                           .place = node->place};
  return add_probe(b, &flow, flow_text, causality);
}

static yoke_status add_nodes(builder* b, yoke_causality causality) {
  for (uint32_t n = 0; n < b->network->n_nodes; n++) {
    YOKE_TRY(add_node(b, n, causality));
  }
  return YOKE_OK;
}

static yoke_status add_current(builder* b, uint32_t e) {
  const yoke_element* element = &b->network->elements[e];
  const bool is_thermal = element->domain == YOKE_THERMAL;
  char name[MAX_NAME];
  if (element->is_internal) {
    return YOKE_OK;
  }
  make_name(name, "i", element->name);
  const yoke_probe probe = {.kind = YOKE_PROBE_CURRENT,
                            .name = name,
                            .dim = is_thermal ? "W" : "A",
                            .index = e,
                            .place = element->place};
  return add_probe(b, &probe, is_thermal ? heat_text : current_text, YOKE_STATE);
}

// the voltage of a capacitor, to give it a start value
static yoke_status add_capacitor(builder* b, uint32_t e) {
  const yoke_element* element = &b->network->elements[e];
  const bool is_thermal = element->domain == YOKE_THERMAL;
  char name[MAX_NAME];
  if (element->kind != YOKE_CAPACITOR || element->is_internal) {
    return YOKE_OK;
  }
  make_name(name, is_thermal ? "t" : "v", element->name);
  if (yoke__map_find(&b->names, name) != YOKE_NOT_FOUND) {
    make_name(name, is_thermal ? "tc" : "vc", element->name);
  }
  yoke_status status = YOKE_OK;
  yoke_variable* variable = add(b, name, &status);
  if (variable == NULL) {
    return status;
  }
  variable->dim = is_thermal ? "K" : "V";
  variable->text = capacitor_text;
  variable->causality = YOKE_STATE;
  variable->start = element->has_start ? element->start : 0;
  b->slots[b->n - 1] = (circuit_slot){.kind = CIRCUIT_STATE_ONLY,
                                      .probe = {.kind = YOKE_PROBE_DIFFERENCE,
                                                .name = variable->name,
                                                .dim = variable->dim,
                                                .index = element->a,
                                                .other = element->b,
                                                .place = element->place},
                                      .has_start = true,
                                      .start_index = e};
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------

static yoke_status add_named(builder* b, const yoke_probe* probes, uint32_t n,
                             yoke_causality causality, bool is_unique) {
  for (uint32_t i = 0; i < n; i++) {
    const size_t before = b->n;
    YOKE_TRY(add_probe(b, &probes[i], probe_text, causality));
    if (is_unique && b->n == before) {
      yoke__error(b->messages, probes[i].place, "the name '%s' of an output is used twice",
                  probes[i].name);
      return YOKE_BAD_INPUT;
    }
  }
  return YOKE_OK;
}

static yoke_status add_outputs(builder* b) {
  const yoke_network* network = b->network;
  if (network->n_outputs > 0) {
    return add_named(b, network->outputs, network->n_outputs, YOKE_OUTPUT, true);
  }
  if (network->n_saves > 0) {
    return add_named(b, network->saves, network->n_saves, YOKE_OUTPUT, false);
  }
  return add_nodes(b, YOKE_OUTPUT);
}

static yoke_status add_states(builder* b) {
  const yoke_network* network = b->network;
  YOKE_TRY(add_named(b, network->saves, network->n_saves, YOKE_STATE, false));
  YOKE_TRY(add_nodes(b, YOKE_STATE));
  for (uint32_t e = 0; e < network->n_elements; e++) {
    YOKE_TRY(add_current(b, e));
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    YOKE_TRY(add_capacitor(b, e));
  }
  return YOKE_OK;
}

static yoke_status take_memory(builder* b) {
  const yoke_network* network = b->network;
  const size_t n = (size_t)network->n_inputs + network->n_outputs + network->n_saves +
                   2 * ((size_t)network->n_nodes + network->n_elements);
  b->variables = yoke__arena_array(b->arena, n, sizeof *b->variables);
  b->slots = yoke__arena_array(b->arena, n, sizeof *b->slots);
  b->has_capacitor = yoke__arena_array(b->arena, network->n_nodes, sizeof *b->has_capacitor);
  YOKE_TRY(yoke__arena_status(b->arena));
  return yoke__map_create(n, b->arena, &b->names);
}

yoke_status yoke__circuit_lay_out(const yoke_network* network, yoke_arena* arena,
                                  yoke_messages* messages, circuit_layout* out) {
  builder b = {.network = network, .arena = arena, .messages = messages};
  YOKE_TRY(take_memory(&b));
  mark_nodes(&b);
  YOKE_TRY(add_inputs(&b));
  out->n_inputs = b.n;
  YOKE_TRY(add_outputs(&b));
  out->n_outputs = b.n - out->n_inputs;
  YOKE_TRY(add_states(&b));
  out->slots = b.slots;
  out->outputs = yoke__arena_array(arena, out->n_outputs, sizeof(const yoke_probe*));
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t i = 0; i < out->n_outputs; i++) {
    out->outputs[i] = &b.slots[out->n_inputs + i].probe;
  }
  yoke_feedthrough* pairs = NULL;
  size_t n_pairs = 0;
  YOKE_TRY(
      yoke__circuit_feedthrough(network, out->outputs, out->n_outputs, arena, &pairs, &n_pairs));
  out->info = (yoke_unit_info){
      .variables = b.variables, .n_variables = b.n, .feedthrough = pairs, .n_feedthrough = n_pairs};
  return YOKE_OK;
}
