// The variables of a twin:
//
//   inputs     `.input` of the netlist that are not unknown; sensor.NAME, the reading of each sensor
//   outputs    what `.output` names, or all temperatures (voltages); the unknowns; sd.NAME of all of these; innovation.SENSOR; nis; sigma.SENSOR where it
//              is not given;              hits.NAME of unknowns with bounds, readings, resets, verdict
//   states     temperatures of capacities that are no outputs, for their start values
//
// Quantities are in small letters. A name that is used twice is an error: the system file chooses names of unknowns, the netlist
// those of its outputs.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_map.h"
#include "unit/twin/twin_part.h"

#define MAX_NAME 320

static const char* const verdict_items[] = {"starting", "consistent", "inconsistent", "diverged",
                                            NULL};

typedef struct builder {
  twin* w;
  const yoke_network* circuit;
  yoke_variable* variables;
  twin_slot* slots;
  size_t n, n_room;
  uint32_t* known;
  yoke_heat_row* rows;
  size_t* row_variables;  // variable of each row and unknown, for the names of deviations
  yoke_map names;
  bool is_out_of_memory;
} builder;

static yoke_status refuse_name(builder* b, const char* name) {
  return yoke__error(&b->w->messages, b->w->file->settings.place,
                     "the name '%s' is used twice: choose another one, for an output with .output "
                     "... name= in the netlist",
                     name);
}

// NULL after a message.
static yoke_variable* add(builder* b, const char* name, twin_slot slot, yoke_causality causality,
                          const char* dim, const char* text) {
  char* kept = yoke__arena_text(&b->w->arena, name, strlen(name));
  if (kept == NULL) {
    b->is_out_of_memory = true;
    return NULL;
  }
  if (yoke__map_find(&b->names, kept) != YOKE_NOT_FOUND) {
    refuse_name(b, kept);
    return NULL;
  }
  yoke__map_add(&b->names, kept, b->n);
  b->slots[b->n] = slot;
  yoke_variable* variable = &b->variables[b->n++];
  *variable = (yoke_variable){.name = kept,
                              .dim = dim,
                              .text = text,
                              .causality = causality,
                              .type = slot.kind == TWIN_SLOT_WHOLE ? YOKE_INTEGER : YOKE_REAL,
                              .n_rows = 1,
                              .n_cols = 1,
                              .offset = YOKE_NO_OFFSET};
  return variable;
}

static twin_slot slot_of(twin_slot_kind kind, size_t index) {
  return (twin_slot){kind, index, YOKE_NO_INDEX};
}

// ---- inputs

static void add_inputs(builder* b) {
  twin* w = b->w;
  for (uint32_t i = 0; i < b->circuit->n_inputs; i++) {
    const yoke_circuit_input* input = &b->circuit->inputs[i];
    if (w->network.is_unknown[i]) {
      continue;
    }
    yoke_variable* v = add(b, input->name, slot_of(TWIN_SLOT_INPUT, w->layout.n_known), YOKE_INPUT,
                           input->dim, "input of the netlist");
    if (v != NULL) {
      v->flags = YOKE_VARIABLE_HAS_START;
      v->start = input->start;
    }
    b->known[w->layout.n_known++] = i;
  }
  for (size_t i = 0; i < w->n_sensors; i++) {
    char name[MAX_NAME];
    snprintf(name, sizeof name, "sensor.%.280s", w->sensors[i].name);
    add(b, name, slot_of(TWIN_SLOT_SENSOR, w->layout.n_known + i), YOKE_INPUT,
        w->sensor_texts[i].dim, "reading of a sensor");
  }
  w->layout.n_inputs = w->layout.n_known + w->n_sensors;
}

// ---- rows

static uint32_t capacity_at(const twin* w, uint32_t heat_node) {
  for (size_t i = 0; i < w->network.heat.n_capacities; i++) {
    if (w->network.heat.capacities[i].node == heat_node) {
      return (uint32_t)i;
    }
  }
  return YOKE_NO_INDEX;
}

// The slot of the next real is its row: rows come first.
static void add_row(builder* b, const char* name, const char* dim, yoke_heat_row row,
                    yoke_causality causality) {
  twin* w = b->w;
  const uint32_t capacity =
      row.kind == YOKE_ROW_TEMPERATURE ? capacity_at(w, row.index) : YOKE_NO_INDEX;
  if (causality == YOKE_STATE && capacity == YOKE_NO_INDEX) {
    return;
  }
  const size_t at = w->layout.n_rows;
  yoke_variable* v =
      add(b, name, (twin_slot){TWIN_SLOT_REAL, at, capacity}, causality, dim, "estimate");
  if (v != NULL) {
    v->flags = capacity != YOKE_NO_INDEX && causality == YOKE_OUTPUT ? YOKE_VARIABLE_HAS_START : 0;
    b->rows[at] = row;
    b->row_variables[at] = b->n - 1;
    w->layout.n_rows++;
  }
}

static void quantity_name(const yoke_network_node* node, char to[MAX_NAME]) {
  snprintf(to, MAX_NAME, "%s(%.280s)", node->domain == YOKE_THERMAL ? "t" : "v", node->name);
  for (char* at = to; *at != '\0'; at++) {
    *at = (char)tolower((unsigned char)*at);
  }
}

static void add_nodes(builder* b, yoke_causality causality) {
  for (uint32_t i = 1; i < b->circuit->n_nodes; i++) {
    const yoke_network_node* node = &b->circuit->nodes[i];
    const uint32_t at = b->w->network.node_of[i];
    char name[MAX_NAME];
    quantity_name(node, name);
    if (at == YOKE_NO_INDEX || node->is_internal ||
        (causality == YOKE_STATE && yoke__map_find(&b->names, name) != YOKE_NOT_FOUND)) {
      continue;
    }
    add_row(b, name, node->domain == YOKE_THERMAL ? "K" : "V",
            (yoke_heat_row){.kind = YOKE_ROW_TEMPERATURE, .index = at}, causality);
  }
}

static void add_named(builder* b) {
  for (uint32_t i = 0; i < b->circuit->n_outputs; i++) {
    const yoke_probe* probe = &b->circuit->outputs[i];
    const bool is_quantity = strchr(probe->name, '(') != NULL;
    const char* name = is_quantity ? yoke__twin_lower(&b->w->arena, probe->name) : probe->name;
    yoke_heat_row row;
    const char* why = NULL;
    if (name == NULL) {
      b->is_out_of_memory = true;
    } else if (yoke__twin_network_row(&b->w->network, probe, &row, &why)) {
      add_row(b, name, probe->dim, row, YOKE_OUTPUT);
    } else {
      yoke__message_add(&b->w->messages, YOKE_WARNING, probe->place,
                        "the twin has no output '%s': %s", probe->name, why);
    }
  }
}

// ---- numbers behind the rows

static size_t add_real(builder* b, const char* name, size_t at, const char* dim, const char* text) {
  add(b, name, slot_of(TWIN_SLOT_REAL, at), YOKE_OUTPUT, dim, text);
  return at + 1;
}

static void add_reals(builder* b) {
  twin* w = b->w;
  const size_t n_rows = w->layout.n_rows, n_values = n_rows + w->n_unknowns;
  char name[MAX_NAME];
  size_t at = n_rows;
  for (size_t i = 0; i < w->n_unknowns; i++) {
    b->row_variables[at] = b->n;
    at = add_real(b, w->unknown_texts[i].name, at, w->unknown_texts[i].dim, "estimate");
  }
  for (size_t i = 0; i < n_values && !b->is_out_of_memory; i++) {
    const yoke_variable* of = &b->variables[b->row_variables[i]];
    if (of->causality != YOKE_OUTPUT) {
      at++;  // its deviation has a place too
      continue;
    }
    snprintf(name, sizeof name, "sd.%.300s", of->name);
    at = add_real(b, name, at, of->dim, "standard deviation of the estimate");
  }
  for (size_t i = 0; i < w->n_sensors; i++) {
    snprintf(name, sizeof name, "innovation.%.280s", w->sensors[i].name);
    at = add_real(b, name, at, w->sensor_texts[i].dim,
                  "reading less what the filter expected; 0 without a reading");
  }
  at = add_real(b, "nis", at, "1", "sum of the squared innovations over their variances");

  // each has a place, those that nobody has given are outputs
  for (size_t i = 0; i < w->n_sensors; i++) {
    snprintf(name, sizeof name, "sigma.%.280s", w->sensors[i].name);
    if (w->sensor_texts[i].is_assumed) {
      add_real(b, name, at + i, w->sensor_texts[i].dim, "noise of the sensor as it is found");
    }
  }
  w->layout.n_reals = at + w->n_sensors;
}

static void add_wholes(builder* b) {
  twin* w = b->w;
  yoke_variable* v = add(b, "verdict", slot_of(TWIN_SLOT_WHOLE, TWIN_WHOLE_VERDICT), YOKE_OUTPUT,
                         NULL, "are the innovations what model and noise make them");
  if (v != NULL) {
    v->type = YOKE_ENUMERATION;
    v->items = verdict_items;
  }
  add(b, "readings", slot_of(TWIN_SLOT_WHOLE, TWIN_WHOLE_READINGS), YOKE_OUTPUT, "1",
      "readings that the last step used");
  add(b, "resets", slot_of(TWIN_SLOT_WHOLE, TWIN_WHOLE_RESETS), YOKE_OUTPUT, "1",
      "times that the filter started anew after it had diverged");
  w->layout.n_wholes = TWIN_N_WHOLES + w->n_unknowns;
  for (size_t i = 0; i < w->n_unknowns; i++) {
    char name[MAX_NAME];
    snprintf(name, sizeof name, "hits.%.280s", w->unknown_texts[i].name);
    if (w->unknown_texts[i].is_bounded) {
      add(b, name, slot_of(TWIN_SLOT_WHOLE, TWIN_N_WHOLES + i), YOKE_OUTPUT, "1",
          "times that the estimate was held at a bound");
    }
  }
}

// ----

static yoke_status take_memory(builder* b) {
  twin* w = b->w;
  const size_t n_nodes = b->circuit->n_nodes;
  const size_t n_rows = b->circuit->n_outputs + 2 * n_nodes;
  b->n_room = b->circuit->n_inputs + 3 * w->n_sensors + 2 * n_rows + 3 * w->n_unknowns + 8;
  b->variables = yoke__arena_array(&w->arena, b->n_room, sizeof *b->variables);
  b->slots = yoke__arena_array(&w->arena, b->n_room, sizeof *b->slots);
  b->known = yoke__arena_array(&w->arena, (size_t)b->circuit->n_inputs + 1, sizeof *b->known);
  b->rows = yoke__arena_array(&w->arena, n_rows + n_nodes, sizeof *b->rows);
  b->row_variables = yoke__arena_array(&w->arena, n_rows + w->n_unknowns, sizeof *b->row_variables);
  YOKE_TRY(yoke__arena_status(&w->arena));
  return yoke__map_create(b->n_room, &w->arena, &b->names);
}

// The rows that laws want stand behind those with variables.
static void add_law_rows(builder* b) {
  twin_layout* l = &b->w->layout;
  const twin_network* n = &b->w->network;
  l->first_law_row = l->n_rows;
  for (size_t i = 0; i < n->n_law_nodes; i++) {
    b->rows[l->n_rows + i] =
        (yoke_heat_row){.kind = YOKE_ROW_TEMPERATURE, .index = n->node_of[n->law_nodes[i]]};
  }
  l->n_all_rows = l->n_rows + n->n_law_nodes;
}

yoke_status yoke__twin_lay_out(twin* w) {
  builder b = {.w = w, .circuit = w->network.circuit};
  const size_t n_errors = w->messages.n_errors;
  YOKE_TRY(take_memory(&b));
  add_inputs(&b);
  if (b.circuit->n_outputs > 0) {
    add_named(&b);
  } else {
    add_nodes(&b, YOKE_OUTPUT);
  }
  w->layout.n_outputs = w->layout.n_rows;
  add_nodes(&b, YOKE_STATE);
  add_law_rows(&b);
  add_reals(&b);
  add_wholes(&b);
  if (b.is_out_of_memory) {
    return YOKE_NO_MEMORY;
  }
  w->layout.slots = b.slots;
  w->layout.known = b.known;
  w->layout.rows = b.rows;
  w->layout.info =
      (yoke_unit_info){.variables = b.variables,
                       .n_variables = b.n,
                       .flags = YOKE_UNIT_SAMPLED | YOKE_UNIT_FIXED_STEP | YOKE_UNIT_PORTABLE};
  return w->messages.n_errors > n_errors ? YOKE_BAD_INPUT : YOKE_OK;
}
