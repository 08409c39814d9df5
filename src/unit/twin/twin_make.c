// A twin from its settings: the netlist with its parameters, sensors, unknowns, defaults, variables, the filter, and memory.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/twin/twin_part.h"

#define NEAR        1e-9   // of a number of steps to a whole one
#define MAX_LATE    10000  // steps of the ring of late readings
#define START_UP    2.0    // time constants (the slowest) that belong to the start
#define LEAST_START 50
#define MOST_START  100000

static yoke_status read_given(twin* w, const yoke_unit_args* args, yoke_netlist_parameter given[]) {
  for (size_t i = 0; i < args->n_arguments; i++) {
    const yoke_argument* a = &args->arguments[i];
    if (a->type != YOKE_REAL || a->n_rows > 1 || a->n_cols > 1) {
      return yoke__error(&w->messages, w->file->settings.place,
                         "parameter '%s': expected one number", a->name);
    }
    given[i] = (yoke_netlist_parameter){a->name, *(const double*)a->value};
  }
  if (args->n_arguments == 0) {
    return YOKE_OK;
  }
  const yoke_netlist_settings settings = {.path = w->file->network->path,
                                          .parameters = given,
                                          .n_parameters = args->n_arguments,
                                          .known = w->file->network};
  return yoke__netlist_read_file(&settings, &w->messages, &w->own);
}

static yoke_status find_sensors(twin* w) {
  const yoke_twin_settings* s = w->settings;
  yoke_status status = YOKE_OK;
  w->n_sensors = s->n_sensors;
  w->sensors = yoke__arena_array(&w->arena, s->n_sensors + 1, sizeof *w->sensors);
  w->sensor_texts = yoke__arena_array(&w->arena, s->n_sensors + 1, sizeof *w->sensor_texts);
  YOKE_TRY(yoke__arena_status(&w->arena));
  for (size_t i = 0; i < s->n_sensors; i++) {
    const yoke_twin_sensor* given = &s->sensors[i];
    yoke_probe probe;
    const char* why = NULL;
    w->sensors[i] = (yoke_sensor){.name = given->name, .sigma = given->sigma};
    if (yoke__network_find_probe(w->network.circuit, given->name, given->place, &w->messages,
                                 &w->arena, &probe) < 0) {
      status = YOKE_BAD_INPUT;
      continue;
    }
    if (!yoke__twin_network_row(&w->network, &probe, &w->sensors[i].row, &why)) {
      status = yoke__error(&w->messages, given->place, "sensor '%s': %s", given->name, why);
    }
    w->sensor_texts[i].dim = probe.dim;
  }
  return status;
}

static size_t late_steps(const twin* w) {
  const double n = w->settings->late_s / w->setup.h;
  return w->settings->late_s > 0 ? (size_t)fmin(ceil(n * (1 - NEAR)) + 1, MAX_LATE) : 0;
}

static yoke_status make_filter(twin* w) {
  yoke_estimate_setup* s = &w->setup;
  const yoke_sink sink = yoke__messages_sink(&w->messages);
  yoke_context about;
  yoke__context_init(&about, &sink, w->file->settings.place, NULL, (double)NAN);
  s->network = &w->network.heat;
  s->g = w->network.g;
  s->c = w->network.c;
  s->sensors = w->sensors;
  s->unknowns = w->unknowns;
  s->n_sensors = w->n_sensors;
  s->n_unknowns = w->n_unknowns;
  s->outputs = w->layout.rows;
  s->n_outputs = w->layout.n_all_rows;
  s->method = (yoke_estimate_method)w->settings->filter;
  YOKE_TRY(yoke__estimate_prepare(s, &w->arena, &w->filter, &about.sink));
  const size_t n_late = late_steps(w);
  if (n_late > 0) {
    YOKE_TRY(yoke__late_prepare(s, w->filter, n_late, &w->arena, &w->late));
  }
  w->n_start = (uint64_t)fmin(fmax(START_UP * w->slowest / s->h, LEAST_START), MOST_START);
  w->consistency = yoke__consistency_prepare(w->n_sensors, 0, &w->arena);
  w->consistency_size = yoke__consistency_size(w->n_sensors);
  return yoke__arena_status(&w->arena);
}

static void* take(unsigned char* base, size_t* at, size_t n, size_t size) {
  void* taken = base == NULL ? NULL : base + *at;
  *at += (n * size + 15) / 16 * 16;
  return taken;
}

// The arrays of the block; base NULL: only their size.
static size_t lay_block(twin* w, unsigned char* base) {
  const size_t p = w->network.heat.n_capacities;
  size_t at = 0;
  w->state = take(base, &at, 1, sizeof *w->state);
  w->u = take(base, &at, w->layout.n_inputs, sizeof *w->u);
  w->reals = take(base, &at, w->layout.n_reals, sizeof *w->reals);
  w->wholes = take(base, &at, w->layout.n_wholes, sizeof *w->wholes);
  w->z_open = take(base, &at, p, sizeof *w->z_open);
  w->kept = take(base, &at, 2 * (p + w->n_unknowns), sizeof *w->kept);
  w->pending = take(base, &at, w->n_sensors, sizeof *w->pending);
  w->sequence = take(base, &at, w->n_sensors, sizeof *w->sequence);
  w->u_before = take(base, &at, w->layout.n_known, sizeof *w->u_before);
  w->changes = take(base, &at, 2 * w->layout.n_known, sizeof *w->changes);
  w->reached = take(base, &at, w->layout.n_known, sizeof *w->reached);
  w->moving = take(base, &at, w->network.n_moving, sizeof *w->moving);
  w->noise = take(base, &at, w->n_sensors, sizeof *w->noise);
  return at;
}

static yoke_status take_memory(twin* w) {
  const size_t p = w->network.heat.n_capacities, r = w->network.heat.n_inputs;
  const size_t n_work = yoke__discrete_work_size(p) + r + 2 * p + w->network.heat.n_nodes;
  yoke_arena* arena = &w->arena;
  w->block_size = lay_block(w, NULL);
  w->block = yoke__arena_take(arena, w->block_size);
  w->E = yoke__arena_array(arena, 3 * p * p + 1, sizeof *w->E);
  w->work = yoke__arena_array(arena, n_work, sizeof *w->work);
  w->v = yoke__arena_array(arena, 5 * r + 1, sizeof *w->v);
  w->scratch = yoke__arena_array(arena, p + w->n_unknowns + 1, sizeof *w->scratch);
  w->given_z = yoke__arena_array(arena, p + 1, sizeof *w->given_z);
  w->infos = yoke__arena_array(arena, w->layout.n_inputs + 1, sizeof *w->infos);
  w->reading = yoke__arena_array(arena, w->n_sensors + 1, sizeof *w->reading);
  w->normalised = yoke__arena_array(arena, w->n_sensors + 1, sizeof *w->normalised);
  w->judged = yoke__arena_array(arena, w->n_sensors + 1, sizeof *w->judged);
  w->have = yoke__arena_array(arena, w->n_sensors + 1, sizeof *w->have);
  w->ends = yoke__arena_array(arena, w->layout.n_known + 1, sizeof *w->ends);
  w->is_held = yoke__arena_array(arena, w->layout.n_known + 1, sizeof *w->is_held);
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  w->held_names = yoke__arena_array(arena, w->layout.n_known + 1, sizeof *w->held_names);
  YOKE_TRY(yoke__arena_status(arena));
  w->line = w->v + r;
  w->slope = w->line + r;
  w->change = w->slope + r;
  w->missed = w->change + r;
  w->Psi1 = w->E + p * p;
  w->Psi2 = w->Psi1 + p * p;
  lay_block(w, w->block);
  for (size_t i = 0; i < w->layout.n_known; i++) {
    const yoke_circuit_input* input = &w->network.circuit->inputs[w->layout.known[i]];
    w->u[i] = input->start;
    for (size_t k = 0; k < w->settings->n_held; k++) {
      w->is_held[i] = w->is_held[i] || yoke__twin_is_same(w->settings->held[k], input->name);
    }
  }
  for (size_t i = 0; i < p; i++) {
    w->given_z[i] = (double)NAN;
  }
  return YOKE_OK;
}

// Starts that the netlist gives: T0, IC= of capacities, `.ic` of their nodes.
static void take_netlist_starts(twin* w) {
  const twin_network* n = &w->network;
  for (uint32_t i = 0; i < n->circuit->n_nodes; i++) {
    const yoke_network_node* node = &n->circuit->nodes[i];
    for (size_t k = 0; k < n->heat.n_capacities && node->has_start; k++) {
      if (n->heat.capacities[k].node == n->node_of[i]) {
        w->given_z[k] = node->start;
      }
    }
  }
  for (size_t k = 0; k < n->heat.n_capacities; k++) {
    const yoke_element* e = &n->circuit->elements[n->capacity_element[k]];
    if (e->has_start && (e->a == 0 || e->b == 0)) {
      w->given_z[k] = e->b == 0 ? e->start : -e->start;
    }
  }
}

// A temperature-dependent element and `filter: linear` contradict each other.
static yoke_status check_filter(twin* w) {
  const twin_network* n = &w->network;
  if (w->settings->filter != YOKE_ESTIMATE_LINEAR) {
    return YOKE_OK;
  }
  for (uint32_t e = 0; e < n->circuit->n_elements; e++) {
    const yoke_element* element = &n->circuit->elements[e];
    if (element->value.law != NULL && yoke__expression_has_state(element->value.law)) {
      yoke__error(&w->messages, w->settings->filter_place,
                  "'filter: linear' needs elements that do not depend on temperatures, and '%s' "
                  "does: leave out 'filter', or take extended",
                  element->name);
      return YOKE_BAD_INPUT;
    }
  }
  return YOKE_OK;
}

static size_t image_size(const twin* w) {
  return w->block_size + yoke__estimate_image_size(w->filter) + w->consistency_size +
         (w->late == NULL ? 0 : yoke__late_image_size(w->late));
}

// What a step takes, from the sizes alone: products of n x n matrices, about 1 ns each.
static double guess_cost(const twin* w) {
  const double n = (double)yoke__estimate_size(w->filter);
  const double n_rows =
      (double)(w->n_sensors + w->layout.n_all_rows + w->network.heat.n_capacities);
  return 1e-9 * (2 * n * n * n + 4 * n_rows * n * n);
}

yoke_status yoke__twin_make(twin* w, const yoke_unit_args* args) {
  yoke_netlist_parameter* given =
      yoke__arena_array(&w->arena, args->n_arguments + 1, sizeof *given);
  YOKE_TRY_MEMORY(given);
  YOKE_TRY(read_given(w, args, given));
  const yoke_network* circuit = w->own != NULL ? w->own : w->file->network;
  bool* is_unknown = yoke__arena_array(&w->arena, (size_t)circuit->n_inputs + 1, sizeof(bool));
  YOKE_TRY_MEMORY(is_unknown);
  yoke__twin_mark_inputs(circuit, w->settings, is_unknown);
  YOKE_TRY(yoke__twin_network_make(circuit, is_unknown, &w->arena, &w->messages, &w->network));

  // names of both are checked before anything ends
  const yoke_status sensors = find_sensors(w);
  const yoke_status unknowns = yoke__twin_find_unknowns(w, given, args->n_arguments);
  YOKE_TRY(sensors);
  YOKE_TRY(unknowns);
  YOKE_TRY(check_filter(w));
  if (!(w->file->settings.call_step > 0)) {
    return yoke__error(&w->messages, w->file->settings.place, "a twin needs a fixed step");
  }
  w->setup.h = w->file->settings.call_step;
  YOKE_TRY(yoke__twin_choose_defaults(w));
  YOKE_TRY(yoke__twin_lay_out(w));
  YOKE_TRY(make_filter(w));
  YOKE_TRY(take_memory(w));
  take_netlist_starts(w);
  w->layout.info.image_size = image_size(w);
  w->layout.info.cost_s = guess_cost(w);
  w->layout.info.solver = (yoke_unit_solver){.method = YOKE_SOLVER_EXACT};
  YOKE_TRY(yoke__twin_check_sight(w));
  return yoke__twin_check_apart(w);
}
