// Twins as units: the filters of src/estimate on the network of a netlist behind the operations of yoke/unit.h.
//
// One step from t to t + h:
//   1  inputs of t; laws of resistances at the present estimate
//   2  readings of t that are there: valid, and not the same sample as before; late ones go to the step that they belong to
//   3  correct, then predict to t + h with the inputs held
//   4  outputs of t + h; the verdict on the innovations
//
// A filter that has diverged starts anew from an estimate of KEEP steps before or earlier, as often as `reset` allows; then the
// network goes on alone. Neither takes heap.
#include "unit/twin/unit_twin.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_image.h"
#include "unit/circuit/unit_circuit_part.h"
#include "unit/twin/twin_part.h"
#include "unit/unit.h"

// steps between two kept estimates: longer than a filter is wrong before it says so
#define KEEP        (YOKE_ESTIMATE_PATIENCE + 100)
#define SUSPECT     5.0    // root mean square of normalised innovations
#define NEAR_STEP   1e-9   // of the length of a step, relative
#define NEAR_TIME   0.5    // of a time stamp to a step, in steps
#define MAX_LATE    10000  // steps of the ring of late readings
#define START_UP    2.0    // time constants (the slowest) that belong to the start
#define LEAST_START 50
#define MOST_START  100000
#define MOST_PASSES 50     // of laws and temperatures at the start
#define SETTLED     1e-12  // of a temperature, relative
// noise of sensors whose sigma is not given: readings that the first guess counts for, memory, and bounds as factors of it
#define NOISE_TRUST  200.0
#define NOISE_MEMORY 20000.0
#define NOISE_RANGE  1e3

static void close_twin(void* self);

yoke_twin_settings yoke__twin_settings_default(void) {
  const double none = (double)NAN;
  return (yoke_twin_settings){.walk = none,
                              .rate_walk = none,
                              .start_sd = none,
                              .rate_sd = none,
                              .gate = none,
                              .jitter = none};
}

// ---------------------------------------------------------------------------------------------------------
// life

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
  return w->settings->late_s > 0 ? (size_t)fmin(ceil(n * (1 - NEAR_STEP)) + 1, MAX_LATE) : 0;
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
  w->consistency = yoke__consistency_prepare(w->n_sensors, w->n_start, &w->arena);
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
  w->v = yoke__arena_array(arena, r + 1, sizeof *w->v);
  w->scratch = yoke__arena_array(arena, p + w->n_unknowns + 1, sizeof *w->scratch);
  w->given_z = yoke__arena_array(arena, p + 1, sizeof *w->given_z);
  w->infos = yoke__arena_array(arena, w->layout.n_inputs + 1, sizeof *w->infos);
  w->reading = yoke__arena_array(arena, w->n_sensors + 1, sizeof *w->reading);
  w->normalised = yoke__arena_array(arena, w->n_sensors + 1, sizeof *w->normalised);
  w->have = yoke__arena_array(arena, w->n_sensors + 1, sizeof *w->have);
  YOKE_TRY(yoke__arena_status(arena));
  w->Psi1 = w->E + p * p;
  w->Psi2 = w->Psi1 + p * p;
  lay_block(w, w->block);
  for (size_t i = 0; i < w->layout.n_known; i++) {
    w->u[i] = w->network.circuit->inputs[w->layout.known[i]].start;
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

static yoke_status build(twin* w, const yoke_unit_args* args) {
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
  YOKE_TRY(yoke__twin_check_sight(w));
  return yoke__twin_check_apart(w);
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

static void send_all(const yoke_messages* messages, yoke_status status, const yoke_sink* sink) {
  for (size_t i = 0; i < messages->n; i++) {
    if (status >= 0 || messages->all[i].severity == YOKE_ERROR) {
      yoke_send(sink, &messages->all[i]);
    }
  }
}

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  twin* w = calloc(1, sizeof *w);
  YOKE_TRY_MEMORY(w);
  w->file = args->context;
  w->settings = w->file->settings.twin;
  const yoke_status status = build(w, args);
  send_all(&w->messages, status, sink);
  if (status < 0) {
    close_twin(w);
    return status;
  }
  w->layout.info.image_size = image_size(w);
  w->layout.info.cost_s = guess_cost(w);
  w->layout.info.solver = (yoke_unit_solver){.method = YOKE_SOLVER_EXACT};
  *self = w;
  return YOKE_OK;
}

static const yoke_unit_info* describe(const void* self) {
  return &((const twin*)self)->layout.info;
}

static void close_twin(void* self) {
  twin* w = self;
  yoke__messages_free(&w->messages);
  yoke__network_destroy(&w->own);
  yoke__arena_free(&w->arena);
  free(w);
}

// ---------------------------------------------------------------------------------------------------------
// variables

static yoke_status set(void* self, size_t variable, const void* value, size_t size) {
  twin* w = self;
  const twin_slot* slot = &w->layout.slots[variable];
  double number = 0;
  if (size != sizeof number || slot->kind == TWIN_SLOT_WHOLE) {
    return size != sizeof number ? YOKE_BAD_ARG : YOKE_NO_SUPPORT;
  }
  memcpy(&number, value, sizeof number);
  if (slot->kind == TWIN_SLOT_INPUT || slot->kind == TWIN_SLOT_SENSOR) {
    w->u[slot->index] = number;
    return YOKE_OK;
  }
  if (slot->capacity == YOKE_NO_INDEX || w->phase == TWIN_RUNNING) {
    return YOKE_NO_SUPPORT;
  }
  w->given_z[slot->capacity] = number;
  return YOKE_OK;
}

static yoke_status get(const void* self, size_t variable, void* value, size_t size) {
  const twin* w = self;
  const twin_slot* slot = &w->layout.slots[variable];
  if (size != sizeof(double)) {
    return YOKE_BAD_ARG;
  }
  const void* from = slot->kind == TWIN_SLOT_WHOLE  ? (const void*)&w->wholes[slot->index]
                     : slot->kind == TWIN_SLOT_REAL ? (const void*)&w->reals[slot->index]
                                                    : (const void*)&w->u[slot->index];
  memcpy(value, from, size);
  return YOKE_OK;
}

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  twin* w = self;
  memcpy(w->u, u, n_u * sizeof *u);
  return YOKE_OK;
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  const twin* w = self;
  size_t n = 0;
  for (size_t i = 0; i < w->layout.info.n_variables && n < n_y; i++) {
    if (w->layout.slots[i].kind == TWIN_SLOT_REAL &&
        w->layout.info.variables[i].causality == YOKE_OUTPUT) {
      y[n++] = w->reals[w->layout.slots[i].index];
    }
  }
  return YOKE_OK;
}

static yoke_status set_input_info(void* self, const yoke_sample_info info[], size_t n_u) {
  twin* w = self;
  memcpy(w->infos, info, n_u * sizeof *info);
  w->has_infos = true;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// estimates to outputs

static void write_estimates(twin* w) {
  const size_t n_rows = w->layout.n_rows, n = n_rows + w->n_unknowns;
  for (size_t i = 0; i < n; i++) {
    double value = 0, sd = 0;
    if (i < n_rows) {
      yoke__estimate_output(w->filter, i, &value, &sd);
    } else {
      const twin_unknown* u = &w->unknown_texts[i - n_rows];
      yoke__estimate_unknown(w->filter, i - n_rows, &value, &sd);
      sd = yoke__twin_deviation(u, value, sd);
      value = yoke__twin_value(u, value);
    }
    // what is no number would end the run; the filter says at its next step that it has diverged
    w->reals[i] = yoke__is_finite(value) ? value : w->reals[i];
    w->reals[n + i] = yoke__is_finite(sd) ? sd : w->reals[n + i];
  }
}

static double* innovations(const twin* w) {
  return w->reals + 2 * (w->layout.n_rows + w->n_unknowns);
}

// Temperatures that laws see: those of now.
static void read_law_temperatures(twin* w) {
  const twin_network* n = &w->network;
  for (size_t i = 0; i < n->n_law_nodes; i++) {
    double value = 0, sd = 0;
    yoke__estimate_output(w->filter, w->layout.first_law_row + i, &value, &sd);
    n->x[n->law_nodes[i]] = yoke__is_finite(value) ? value : n->x[n->law_nodes[i]];
  }
}

static void keep_moving(twin* w) {
  for (size_t i = 0; i < w->network.n_moving; i++) {
    w->moving[i] = w->network.g[w->network.moving[i]];
  }
}

// ---------------------------------------------------------------------------------------------------------
// start

static void send_known(twin* w) {
  for (size_t i = 0; i < w->layout.n_known; i++) {
    w->network.signals->u[w->layout.known[i]] = w->u[i];
  }
}

// Temperatures: those that are given, the others at rest.
static yoke_status start_filter(twin* w) {
  const size_t p = w->network.heat.n_capacities;
  size_t n_given = 0;
  for (size_t i = 0; i < p; i++) {
    n_given += isnan(w->given_z[i]) ? 0 : 1;
  }
  if (n_given == p) {
    return yoke__estimate_start(w->filter, w->given_z, w->v);
  }
  YOKE_TRY(yoke__estimate_start(w->filter, NULL, w->v));
  if (n_given == 0) {
    return YOKE_OK;
  }
  for (size_t i = 0; i < p; i++) {
    w->scratch[i] = isnan(w->given_z[i]) ? yoke__estimate_mean(w->filter)[i] : w->given_z[i];
  }
  return yoke__estimate_start(w->filter, w->scratch, w->v);
}

// Laws follow temperatures, and temperatures follow laws: one round. *change: of a temperature, relative.
static yoke_status settle_laws(twin* w, double* change) {
  const twin_network* n = &w->network;
  *change = 0;
  for (size_t i = 0; i < n->n_law_nodes; i++) {
    double value = 0, sd = 0;
    yoke__estimate_output(w->filter, w->layout.first_law_row + i, &value, &sd);
    *change = fmax(*change, fabs(value - n->x[n->law_nodes[i]]) / fmax(1, fabs(value)));
  }
  read_law_temperatures(w);
  yoke__twin_network_inputs(n, n->signals->t, w->v);
  (void)yoke__twin_network_conductances(n);
  keep_moving(w);
  return yoke__estimate_set_elements(w->filter, w->network.g, w->network.c);
}

static void clear_state(twin* w) {
  unsigned char *u = (unsigned char*)w->u, *behind = u + w->layout.n_inputs * sizeof *w->u;
  memset(w->block, 0, (size_t)(u - w->block));
  memset(behind, 0, (size_t)(w->block + w->block_size - behind));
  for (size_t i = 0; i < w->n_sensors; i++) {
    w->pending[i] = (double)NAN;
    yoke__noise_start(&w->noise[i], w->sensors[i].sigma, w->sensors[i].sigma / NOISE_RANGE,
                      w->sensors[i].sigma * NOISE_RANGE, NOISE_TRUST, NOISE_MEMORY);
    yoke__estimate_set_sigma(w->filter, i, w->sensors[i].sigma);
    innovations(w)[w->n_sensors + 1 + i] = w->sensors[i].sigma;
  }
  yoke__consistency_clear(w->consistency);
}

// An estimate to which a filter that diverges later can go back.
static void keep_estimate(twin* w) {
  const size_t p = w->network.heat.n_capacities, one = p + w->n_unknowns;
  w->state->kept_newer = 1 - w->state->kept_newer;
  double* to = w->kept + (size_t)w->state->kept_newer * one;
  memcpy(to, yoke__estimate_mean(w->filter), p * sizeof *to);
  for (size_t i = 0; i < w->n_unknowns; i++) {
    double sd = 0;
    yoke__estimate_unknown(w->filter, i, &to[p + i], &sd);
  }
}

// Not while the readings are far from what the filter expects.
static void keep_now_and_then(twin* w) {
  twin_state* s = w->state;
  const double nis = innovations(w)[w->n_sensors];
  s->n_suspect += nis > SUSPECT * SUSPECT * (double)w->n_sensors;
  if (++s->n_since_kept < KEEP) {
    return;
  }
  if (s->n_suspect * 10 < s->n_since_kept) {
    keep_estimate(w);
  }
  s->n_since_kept = s->n_suspect = 0;
}

static const double* last_good(const twin* w) {
  const size_t one = w->network.heat.n_capacities + w->n_unknowns;
  return w->kept + (1 - (size_t)w->state->kept_newer) * one;
}

static yoke_status start(twin* w, double t) {
  clear_state(w);
  send_known(w);
  keep_moving(w);
  yoke__twin_network_inputs(&w->network, t, w->v);
  yoke_status status = start_filter(w);
  double change = w->network.n_moving + w->network.n_law_nodes == 0 ? 0 : 1;
  for (int i = 0; i < MOST_PASSES && status >= 0 && change > SETTLED; i++) {
    status = settle_laws(w, &change);
    status = status < 0 ? status : start_filter(w);
  }
  YOKE_TRY(status);
  if (w->late != NULL) {
    yoke__late_start(w->late, t);
  }
  keep_estimate(w);
  keep_estimate(w);
  w->has_infos = w->must_set = w->has_open_model = false;
  w->state->t_next = t;
  write_estimates(w);
  return YOKE_OK;
}

static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  twin* w = self;
  (void)t_stop;
  const yoke_status status = start(w, t_start);
  if (status < 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     status == YOKE_SINGULAR
                         ? "there is no state of rest to start from: give all temperatures under "
                           "'start'"
                         : "the estimate cannot start: an input or a start value gives no finite "
                           "temperatures");
  }
  w->phase = TWIN_INITIALISING;
  return YOKE_OK;
}

static yoke_status exit_init(void* self) {
  ((twin*)self)->phase = TWIN_RUNNING;
  return YOKE_OK;
}

// While the system is initialised the start follows the inputs. Afterwards outputs are those of the last step.
static yoke_status refresh(void* self, double t) {
  twin* w = self;
  return w->phase == TWIN_RUNNING ? YOKE_OK : start(w, t) < 0 ? YOKE_BAD_INPUT : YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// readings

static bool is_new(twin* w, size_t sensor, double* stamp) {
  if (!w->has_infos) {
    return true;
  }
  const yoke_sample_info* info = &w->infos[w->layout.n_known + sensor];
  if (!info->is_valid || info->sequence + 1 == w->sequence[sensor]) {
    return false;
  }
  w->sequence[sensor] = info->sequence + 1;
  *stamp = info->time_stamp;
  return true;
}

static void take_reading(twin* w, size_t sensor, double t, double value) {
  if (w->late != NULL) {
    const yoke_late_reading taken = yoke__late_reading(w->late, sensor, t, value);
    w->wholes[TWIN_WHOLE_READINGS] += taken == YOKE_READING_IN_TIME || taken == YOKE_READING_LATE;
    return;
  }
  w->reading[sensor] = value;
  w->have[sensor] = yoke__is_finite(value);
  w->wholes[TWIN_WHOLE_READINGS] += w->have[sensor];
}

// Where units are called one after another a reading may be of the end of this step: it waits for the next one.
static void take_readings(twin* w, double t) {
  w->wholes[TWIN_WHOLE_READINGS] = 0;
  for (size_t i = 0; i < w->n_sensors; i++) {
    double stamp = t;
    w->have[i] = false;
    if (!isnan(w->pending[i])) {
      take_reading(w, i, t, w->pending[i]);
      w->pending[i] = (double)NAN;
    }
    if (!is_new(w, i, &stamp)) {
      continue;
    }
    const double value = w->u[w->layout.n_known + i];
    if (stamp > t + NEAR_TIME * w->setup.h) {
      w->pending[i] = value;
    } else {
      take_reading(w, i, w->late != NULL ? stamp : t, value);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// the filter

static yoke_status set_elements(twin* w) {
  const twin_network* n = &w->network;
  const bool is_changed = yoke__twin_network_conductances(n);
  if (!is_changed && !w->must_set) {
    return YOKE_OK;
  }
  keep_moving(w);
  w->must_set = w->has_open_model = false;
  return w->late != NULL ? yoke__late_set_elements(w->late, n->g, n->c)
                         : yoke__estimate_set_elements(w->filter, n->g, n->c);
}

static yoke_status correct(twin* w) {
  return w->late != NULL ? yoke__late_correct(w->late, w->v)
                         : yoke__estimate_correct(w->filter, w->v, w->reading, w->have);
}

static yoke_status predict(twin* w) {
  return w->late != NULL ? yoke__late_predict(w->late, w->v, NULL)
                         : yoke__estimate_predict(w->filter, w->v, NULL);
}

// Innovations of this step, their sum (nis), and the noise of sensors that nobody knows.
static void note_innovations(twin* w) {
  double* to = innovations(w);
  double nis = 0;
  for (size_t i = 0; i < w->n_sensors; i++) {
    double sd = 0, innovation = 0;
    yoke__estimate_innovation(w->filter, i, &innovation, &sd);
    w->normalised[i] = innovation / sd;
    const bool is_there = yoke__is_finite(w->normalised[i]);
    to[i] = is_there ? innovation : 0;
    nis += is_there ? w->normalised[i] * w->normalised[i] : 0;
    if (w->sensor_texts[i].is_assumed && is_there) {
      yoke_noise* noise = &w->noise[i];
      const bool is_started = yoke__estimate_counts_of(w->filter).n_steps >= w->n_start;
      const double sigma =
          is_started ? yoke__noise_add(noise, innovation, sd, noise->sigma) : noise->sigma;
      yoke__estimate_set_sigma(w->filter, i, sigma);
    }
    to[w->n_sensors + 1 + i] = w->noise[i].sigma;
  }
  to[w->n_sensors] = yoke__is_finite(nis) ? nis : to[w->n_sensors];
}

size_t yoke__twin_find_far(const twin* w, double* excursion) {
  size_t found = w->n_unknowns;
  *excursion = YOKE_ESTIMATE_FAR;

  // after a new start the estimates have left their guesses without time to do so
  for (size_t i = 0; i < w->n_unknowns && w->state->n_resets == 0; i++) {
    const double distance = fabs(yoke__estimate_excursion(w->filter, i));
    found = distance > *excursion ? i : found;
    *excursion = fmax(*excursion, distance);
  }
  return found;
}

// Where as much is unknown as there are sensors, unknowns take the faults of the model upon them and the innovations stay in order.
static void judge(twin* w) {
  const double* e = w->late != NULL ? yoke__late_settled(w->late) : w->normalised;
  if (e != NULL) {
    yoke__consistency_add(w->consistency, e);
  }
  double excursion = 0;
  const yoke_twin_verdict verdict = yoke__consistency_verdict(w->consistency, false, NULL);
  const bool is_far = yoke__twin_find_far(w, &excursion) < w->n_unknowns;
  w->wholes[TWIN_WHOLE_VERDICT] =
      is_far && verdict != YOKE_TWIN_DIVERGED ? YOKE_TWIN_INCONSISTENT : verdict;
}

// ---- divergence

// What shows it: an unknown at its bound, or the sensor whose reading is furthest off; -1: nothing in particular.
static int64_t find_culprit(const twin* w, yoke_estimate_reason reason) {
  int64_t found = -1;
  double worst = 0;
  if (reason == YOKE_ESTIMATE_AT_BOUND) {
    for (size_t i = 0; i < w->n_unknowns; i++) {
      double value = 0, sd = 0;
      yoke__estimate_unknown(w->filter, i, &value, &sd);
      const bool is_at_bound = !(value > w->unknowns[i].lower * (1 + NEAR_STEP) &&
                                 value < w->unknowns[i].upper * (1 - NEAR_STEP));
      found = is_at_bound && found < 0 ? (int64_t)i : found;
    }
  }
  for (size_t i = 0; i < w->n_sensors && reason == YOKE_ESTIMATE_LOST; i++) {
    const double e = fabs(w->normalised[i]);
    found = e > worst ? (int64_t)i : found;
    worst = fmax(worst, e);
  }
  return found;
}

// No heap. False: it cannot start anew.
static bool restart(twin* w, double t) {
  const double* z = last_good(w);
  const bool is_allowed = w->state->n_resets < (uint64_t)w->settings->most_resets;
  if (!is_allowed ||
      yoke__estimate_start_at(w->filter, z + w->network.heat.n_capacities, z, w->v) < 0) {
    return false;
  }
  w->state->n_resets++;
  w->wholes[TWIN_WHOLE_RESETS] = (int64_t)w->state->n_resets;
  memcpy(w->kept + (size_t)w->state->kept_newer * (w->network.heat.n_capacities + w->n_unknowns), z,
         (w->network.heat.n_capacities + w->n_unknowns) * sizeof *z);
  w->must_set = true;
  if (w->late != NULL) {
    yoke__late_start(w->late, t);
  }
  yoke__consistency_clear(w->consistency);
  return true;
}

static void note_divergence(twin* w, double t) {
  const yoke_estimate_reason reason = yoke__estimate_reason_of(w->filter);
  w->state->n_lost++;
  w->state->lost_at = t;
  w->state->reason = reason;
  w->state->culprit = find_culprit(w, reason);
}

// ---------------------------------------------------------------------------------------------------------
// steps

static yoke_status fail(twin* w, const char* reason, yoke_step_result* result) {
  w->reason = result->message = reason;
  return YOKE_UNIT_FAILED;
}

static yoke_status check_step(twin* w, double t, double h, yoke_step_result* result) {
  if (!(fabs(h - w->setup.h) <= NEAR_STEP * w->setup.h)) {
    snprintf(w->text, sizeof w->text,
             "a step of %.9g s, but this twin was made for steps of %.9g s", h, w->setup.h);
    return fail(w, w->text, result);
  }
  if (w->late != NULL && !(fabs(t - w->state->t_next) <= 0.1 * h)) {
    snprintf(w->text, sizeof w->text, "asked to go on from t = %.9g s, but it is at %.9g s", t,
             w->state->t_next);
    return fail(w, w->text, result);
  }
  w->state->t_next = t + h;
  return YOKE_OK;
}

// The filter over one step; YOKE_DIVERGED if it did.
static yoke_status estimate(twin* w) {
  YOKE_TRY(set_elements(w));
  const yoke_status status = correct(w);
  note_innovations(w);
  YOKE_TRY(status);
  return predict(w);
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  twin* w = self;
  YOKE_TRY(check_step(w, t, h, result));
  send_known(w);
  read_law_temperatures(w);
  yoke__twin_network_inputs(&w->network, t, w->v);
  take_readings(w, t);
  if (w->state->is_open != 0) {
    w->has_open_model = w->has_open_model && !yoke__twin_network_conductances(&w->network);
    yoke__twin_open_step(w, w->v);
    return YOKE_OK;
  }
  yoke_status status = estimate(w);
  if (status == YOKE_NOT_FINITE) {
    return fail(w, "an input is not a finite number", result);
  }
  if (status < 0) {
    note_divergence(w, t);
    status = restart(w, t) ? predict(w) : status;
  }
  if (status < 0) {
    yoke__twin_open_start(w);
    yoke__twin_open_step(w, w->v);
    w->wholes[TWIN_WHOLE_VERDICT] = YOKE_TWIN_DIVERGED;
    return YOKE_OK;
  }
  judge(w);
  write_estimates(w);
  for (size_t i = 0; i < w->n_unknowns; i++) {
    w->wholes[TWIN_N_WHOLES + i] = (int64_t)yoke__estimate_bound_hits(w->filter, i);
  }
  keep_now_and_then(w);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// states

static yoke_status save(const void* self, void* image, size_t size) {
  const twin* w = self;
  unsigned char* to = image;
  if (size != w->layout.info.image_size) {
    return YOKE_BAD_ARG;
  }
  memcpy(to, w->block, w->block_size);
  to += w->block_size;
  yoke__estimate_save(w->filter, to);
  to += yoke__estimate_image_size(w->filter);
  memcpy(to, w->consistency, w->consistency_size);
  if (w->late != NULL) {
    yoke__late_save(w->late, to + w->consistency_size);
  }
  return YOKE_OK;
}

static yoke_status restore(void* self, const void* image, size_t size) {
  twin* w = self;
  const unsigned char* from = image;
  if (size != w->layout.info.image_size) {
    return YOKE_BAD_ARG;
  }
  memcpy(w->block, from, w->block_size);
  from += w->block_size;
  yoke__estimate_restore(w->filter, from);
  from += yoke__estimate_image_size(w->filter);
  memcpy(w->consistency, from, w->consistency_size);
  if (w->late != NULL) {
    yoke__late_restore(w->late, from + w->consistency_size);
  }
  for (size_t i = 0; i < w->network.n_moving; i++) {
    w->network.g[w->network.moving[i]] = w->moving[i];
  }
  for (size_t i = 0; i < w->n_sensors; i++) {
    if (w->sensor_texts[i].is_assumed) {
      yoke__estimate_set_sigma(w->filter, i, w->noise[i].sigma);
    }
  }
  w->has_open_model = false;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// what a person should know

static void reason(const void* self, const yoke_sink* sink) {
  const twin* w = self;
  if (w->reason != NULL) {
    yoke_fail(sink, YOKE_UNIT_FAILED, "%s", w->reason);
  }
}

static const char* reason_text(const twin* w, char to[160]) {
  const twin_state* s = w->state;
  switch ((yoke_estimate_reason)s->reason) {
  case YOKE_ESTIMATE_AT_BOUND:
    snprintf(to, 160, "%.60s stayed at its bound",
             s->culprit < 0 ? "an unknown" : w->unknown_texts[s->culprit].name);
    return to;
  case YOKE_ESTIMATE_LOST:
    snprintf(to, 160, "the readings of %.60s are far from what it expects",
             s->culprit < 0 ? "the sensors" : w->sensors[s->culprit].name);
    return to;
  case YOKE_ESTIMATE_NOT_POSITIVE:
    return "a variance of the estimates is not positive any more";
  case YOKE_ESTIMATE_SOUND:
  case YOKE_ESTIMATE_NOT_FINITE:
    break;
  }
  return "an estimate is not a finite number, or the network cannot be solved with it";
}

// Once: what the innovations show that model and noise do not make them.
static void report_innovations(twin* w, const yoke_sink* sink) {
  yoke_finding why;
  if (w->is_inconsistency_told || w->state->n_lost > 0 ||
      yoke__consistency_verdict(w->consistency, false, &why) != YOKE_TWIN_INCONSISTENT) {
    return;
  }
  w->is_inconsistency_told = true;
  const bool is_of_all = why.statistic == YOKE_STATISTIC_NIS;
  yoke__notify(
      sink, YOKE_WARNING,
      "the readings do not fit the model and its noise: of the innovations of %s the %s is "
      "%.3g, expected %.3g to %.3g",
      is_of_all ? "all sensors" : w->sensors[why.sensor].name, yoke__statistic_text(why.statistic),
      why.value, why.low, why.high);
}

// Once: the unknown that is furthest from its guess.
static void report_far(twin* w, const yoke_sink* sink) {
  double excursion = 0, value = 0, sd = 0;
  const bool is_told = w->is_far_told || w->state->n_lost > 0;
  const size_t far = is_told ? w->n_unknowns : yoke__twin_find_far(w, &excursion);
  if (far == w->n_unknowns) {
    return;
  }
  const twin_unknown* text = &w->unknown_texts[far];
  w->is_far_told = true;
  yoke__estimate_unknown(w->filter, far, &value, &sd);
  yoke__notify(sink, YOKE_WARNING,
               "the model or its guesses are wrong: the estimate of %s is %.6g, and %.6g was "
               "expected; that is %.0f times what its sd and walk allow",
               text->name, yoke__twin_value(text, value),
               yoke__twin_value(text, w->unknowns[far].start), excursion);
}

// Once, so that the report of the run has it.
static void report_apart(twin* w, const yoke_sink* sink) {
  for (size_t i = 0; i < w->n_apart && !w->is_apart_told; i++) {
    yoke__notify(sink, YOKE_NOTE, "%s", w->apart[i]);
  }
  w->is_apart_told = true;
}

static void report(void* self, const yoke_sink* sink) {
  twin* w = self;
  const twin_state* s = w->state;
  char text[160], more[64] = "";
  report_innovations(w, sink);
  report_far(w, sink);
  report_apart(w, sink);
  if (s->n_lost <= w->n_told) {
    return;
  }
  w->n_told = s->n_lost;
  if (s->n_lost > 1) {
    snprintf(more, sizeof more, " (%llu times so far)", (unsigned long long)s->n_lost);
  }
  yoke__notify(sink, YOKE_WARNING, "the filter diverged at t = %.9g s%s: %s; %s", s->lost_at, more,
               reason_text(w, text),
               s->is_open != 0 ? "from then on the outputs are those of the network without "
                                 "readings"
                               : "it started anew from its last good estimate");
}

static bool is_ours(const yoke_unit_ops* ops) {
  return ops->create == create;
}

bool yoke__unit_twin_figures(const yoke_unit_ops* ops, const void* self,
                             yoke_unit_twin_figures* out) {
  if (!is_ours(ops)) {
    return false;
  }
  yoke__twin_figures(self, out);
  return true;
}

// ---------------------------------------------------------------------------------------------------------
// the file

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static void fill_ops(twin_file* file) {
  file->ops = (yoke_unit_ops){
      YOKE_UNIT_HEAD,
      .name = base_name(file->settings.path),
      .text = file->network->title,
      .structure = file->structure,
      .n_structure = file->n_structure,
      .create = create,
      .describe = describe,
      .set = set,
      .get = get,
      .enter_init = enter_init,
      .exit_init = exit_init,
      .set_inputs = set_inputs,
      .get_outputs = get_outputs,
      .step = step,
      .refresh = refresh,
      .save = save,
      .restore = restore,
      .reason = reason,
      .report = report,
      .close = close_twin,
      .context = file,
      .set_input_info = set_input_info,
  };
}

static void close_file(yoke_unit_file* base) {
  twin_file* file = (twin_file*)base;
  yoke__netlist_close(&file->read);
  yoke__arena_free(&file->arena);
  free(file);
}

static yoke_status read_netlist(twin_file* file, yoke_messages* messages) {
  const yoke_netlist* netlist = file->settings.netlist;
  yoke_status status = YOKE_OK;
  if (netlist == NULL) {
    status = yoke__netlist_open(file->settings.path, &file->read);
    netlist = file->read;
  }
  if (netlist != NULL) {
    yoke__messages_merge(messages, &netlist->messages);
  }
  YOKE_TRY(status);
  assert(netlist != NULL);
  file->base.netlist = netlist;
  file->network = netlist->network;
  return yoke__circuit_parameters(file->network, &file->arena, &file->structure,
                                  &file->n_structure);
}

yoke_status yoke__twin_file_open(const yoke_unit_file_settings* settings, yoke_messages* messages,
                                 yoke_unit_file** out) {
  twin_file* file = calloc(1, sizeof *file);
  YOKE_TRY_MEMORY(file);
  file->settings = *settings;
  file->base.close = close_file;
  const yoke_status status = read_netlist(file, messages);
  if (status < 0) {
    close_file(&file->base);
    return status;
  }
  fill_ops(file);
  file->base.ops = &file->ops;
  *out = &file->base;
  return YOKE_OK;
}
