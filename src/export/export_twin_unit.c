// A twin whose network does not change, as its filter and names.
//
// Inputs of the network are v = offset + map u: u are the known inputs of the netlist and, under their own names, sources with a wave.
// Laws of time and of temperatures are no such function and are refused, as are elements that change and sensors whose noise the
// twin finds out on its way.
#include "export/export_twin_unit.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/twin/twin_part.h"
#include "unit/unit.h"

#define SAME 1e-12  // of two slopes of a law, relative
#define NONE UINT32_MAX

typedef struct reader {
  const yoke_export_job* unit;
  const twin* w;
  const yoke_network* circuit;
  yoke_arena* arena;
  yoke_messages* messages;
  yoke_export_twin_job* job;
  yoke_export_twin_label* inputs;
  size_t n_inputs, r;
  uint32_t *of_input,
      *of_source;  // place among the inputs of inputs of the netlist, of sources with a wave; else NONE
  double *map, *offset;
  double *slopes, *other, *kept;  // scratch, per input of the netlist
} reader;

static yoke_status refuse(const reader* x, yoke_place place, const char* format, const char* name) {
  yoke__error(x->messages, place, format, name);
  return YOKE_NO_SUPPORT;
}

// ---- what can be written

static yoke_status check_elements(const reader* x) {
  const twin_network* n = &x->w->network;
  if (n->n_moving == 0) {
    return YOKE_OK;
  }
  const yoke_element* e = &x->circuit->elements[n->resistor_element[n->moving[0]]];
  return refuse(
      x, e->place,
      "'%s' changes: only linear twins with constant elements can be written as C; export "
      "an FMU instead (--fmi)",
      e->name);
}

static yoke_status check_sensors(const reader* x) {
  const yoke_twin_settings* s = x->w->settings;
  for (size_t i = 0; i < x->w->n_sensors; i++) {
    if (x->w->sensor_texts[i].is_assumed) {
      return refuse(x, s->sensors[i].place,
                    "sensor '%s' has no sigma, and C code does not estimate the noise of sensors: "
                    "give its sigma",
                    s->sensors[i].name);
    }
  }
  if (x->w->late != NULL) {
    yoke__message_add(x->messages, YOKE_WARNING, x->w->file->settings.place,
                      "the C code takes each reading as one of the present step, late ones too");
  }
  return YOKE_OK;
}

// ---- inputs

static const yoke_circuit_value* value_of(const reader* x, const twin_input* from) {
  return from->kind == TWIN_OF_NODE ? &x->circuit->nodes[from->index].fixed
                                    : &x->circuit->elements[from->index].value;
}

static bool is_wave(const reader* x, const twin_input* from) {
  if (from->kind == TWIN_OF_INPUT) {
    return false;
  }
  const yoke_circuit_value* value = value_of(x, from);
  return value->law == NULL && value->wave != NULL && value->wave->kind != YOKE_WAVE_DC;
}

static const char* dim_of(const reader* x, const twin_input* from) {
  const bool is_node = from->kind == TWIN_OF_NODE;
  const yoke_element* e = is_node ? NULL : &x->circuit->elements[from->index];
  const bool is_thermal =
      (is_node ? x->circuit->nodes[from->index].domain : e->domain) == YOKE_THERMAL;
  const bool is_potential = is_node || e->kind == YOKE_VOLTAGE;
  return is_thermal ? (is_potential ? "K" : "W") : (is_potential ? "V" : "A");
}

// The inputs that the twin has as a unit, then sources with waves.
static void list_inputs(reader* x) {
  const twin* w = x->w;
  for (uint32_t i = 0; i < x->circuit->n_inputs; i++) {
    const yoke_circuit_input* input = &x->circuit->inputs[i];
    x->of_input[i] = NONE;
    if (!w->network.is_unknown[i]) {
      x->of_input[i] = (uint32_t)x->n_inputs;
      x->inputs[x->n_inputs++] = (yoke_export_twin_label){input->name, input->dim, input->start};
    }
  }
  for (size_t i = 0; i < x->r; i++) {
    const twin_input* from = &w->network.inputs[i];
    x->of_source[i] = NONE;
    if (is_wave(x, from)) {
      x->of_source[i] = (uint32_t)x->n_inputs;
      x->inputs[x->n_inputs++] =
          (yoke_export_twin_label){w->network.heat.input_names[i], dim_of(x, from), w->v[i]};
    }
  }
}

// The law at the signals' inputs, and its slopes.
static double look(const reader* x, const yoke_expression* law, double slopes[]) {
  double gradient[YOKE_EXPRESSION_MAX_LIVE];
  const double value = yoke__signals_law(x->w->network.signals, law, NULL, gradient);
  for (uint32_t i = 0; i < x->circuit->n_inputs; i++) {
    slopes[i] = 0.0;
  }
  for (uint32_t i = 0; i < law->n_live; i++) {
    slopes[law->live[i].index] += gradient[i];
  }
  return value;
}

static bool has_only_inputs(const yoke_expression* law) {
  for (uint32_t i = 0; i < law->n_live; i++) {
    if (law->live[i].kind != YOKE_LIVE_INPUT) {
      return false;
    }
  }
  return true;
}

// Slopes that are the same for three sets of inputs; *value: at 0, where the filter adds what is unknown.
static bool read_slopes(reader* x, const yoke_expression* law, double* value) {
  double* input = x->w->network.signals->input;
  bool is_same = true;
  for (int round = 0; round < 3; round++) {
    for (uint32_t i = 0; i < x->circuit->n_inputs; i++) {
      input[i] = round == 0 ? 0.0 : round == 1 ? 1.3 + i : -1e3 / (1.0 + i);
    }
    const double now = look(x, law, round == 0 ? x->slopes : x->other);
    *value = round == 0 ? now : *value;
    for (uint32_t i = 0; i < x->circuit->n_inputs && round > 0; i++) {
      is_same = is_same && fabs(x->slopes[i] - x->other[i]) <= SAME * fabs(x->slopes[i]);
    }
  }
  return is_same && yoke__is_finite(*value);
}

// One row of map and offset. False: the law is not linear in the inputs.
static bool read_law(reader* x, const yoke_expression* law, size_t row, double sign) {
  const uint32_t n = x->circuit->n_inputs;
  double *input = x->w->network.signals->input, value = 0.0;
  if (!has_only_inputs(law)) {
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    x->kept[i] = input[i];
  }
  const bool is_linear = read_slopes(x, law, &value);
  for (uint32_t i = 0; i < n; i++) {
    input[i] = x->kept[i];
    if (x->of_input[i] != NONE) {
      x->map[row * x->n_inputs + x->of_input[i]] = sign * x->slopes[i];
    }
  }
  x->offset[row] = sign * value;
  return is_linear;
}

static yoke_status read_input(reader* x, size_t i) {
  const twin_input* from = &x->w->network.inputs[i];
  if (from->kind == TWIN_OF_INPUT) {
    return YOKE_OK;
  }
  const yoke_circuit_value* value = value_of(x, from);
  if (x->of_source[i] != NONE) {
    x->map[i * x->n_inputs + x->of_source[i]] = 1.0;
  } else if (value->law == NULL) {
    x->offset[i] = x->w->v[i];
  } else if (!read_law(x, value->law, i, from->sign)) {
    return refuse(x,
                  from->kind == TWIN_OF_NODE ? x->circuit->nodes[from->index].place
                                             : x->circuit->elements[from->index].place,
                  "'%s' is no linear function of inputs, which the C code of a twin needs; export "
                  "an FMU instead (--fmi)",
                  x->w->network.heat.input_names[i]);
  }
  return YOKE_OK;
}

static yoke_status read_inputs(reader* x) {
  const size_t n = (size_t)x->circuit->n_inputs + 1, n_most = n + x->r;
  x->inputs = yoke__arena_array(x->arena, n_most, sizeof *x->inputs);
  x->of_input = yoke__arena_array(x->arena, n, sizeof *x->of_input);
  x->of_source = yoke__arena_array(x->arena, x->r + 1, sizeof *x->of_source);
  x->offset = yoke__arena_array(x->arena, x->r + 1, sizeof *x->offset);
  x->map = yoke__arena_array(x->arena, x->r * n_most + 1, sizeof *x->map);
  x->slopes = yoke__arena_array(x->arena, 3 * n, sizeof *x->slopes);
  YOKE_TRY(yoke__arena_status(x->arena));
  x->other = x->slopes + n;
  x->kept = x->other + n;
  list_inputs(x);
  for (size_t i = 0; i < x->r; i++) {
    YOKE_TRY(read_input(x, i));
  }
  x->job->inputs = x->inputs;
  x->job->n_inputs = x->n_inputs;
  x->job->map = x->map;
  x->job->offset = x->offset;
  return YOKE_OK;
}

// ---- outputs

static yoke_status read_outputs(reader* x) {
  const twin_layout* l = &x->w->layout;
  yoke_export_twin_label* labels = yoke__arena_array(x->arena, l->n_outputs + 1, sizeof *labels);
  YOKE_TRY_MEMORY(labels);
  for (size_t i = 0; i < l->info.n_variables; i++) {
    const yoke_variable* v = &l->info.variables[i];
    if (l->slots[i].kind == TWIN_SLOT_REAL && l->slots[i].index < l->n_outputs) {
      labels[l->slots[i].index] = (yoke_export_twin_label){v->name, v->dim, 0.0};
    }
  }
  x->job->outputs = labels;
  x->job->n_outputs = l->n_outputs;
  return YOKE_OK;
}

// ---- all of it

// The unit as it starts with what the system file gives.
static yoke_status start_unit(const reader* x) {
  const yoke_export_job* job = x->unit;
  const yoke_sink list = yoke__messages_sink(x->messages);
  for (size_t i = 0; i < job->n_starts; i++) {
    const size_t index = yoke__unit_find(job->unit, job->starts[i].name);
    const bool is_known = index != (size_t)-1 && job->starts[i].n_rows * job->starts[i].n_cols == 1;
    if (!is_known || yoke__unit_set(job->unit, index, job->starts[i].value, sizeof(double)) < 0) {
      return refuse(x, x->w->file->settings.place, "the start value '%s' is not one of the twin",
                    job->starts[i].name);
    }
  }
  return yoke__unit_enter_init(job->unit, job->start, job->stop, &list);
}

yoke_status yoke__export_twin_of_unit(const yoke_export_job* unit, yoke_arena* arena,
                                      yoke_messages* messages, yoke_export_twin_job* job) {
  yoke_unit_twin_figures figures;
  if (!yoke__unit_twin_figures(unit->ops, unit->unit->self, &figures)) {
    yoke__error(messages, (yoke_place){0},
                "unit '%s' is no twin: --c goes with a netlist, or with a linear twin of a system",
                unit->name);
    return YOKE_NO_SUPPORT;
  }
  const twin* w = unit->unit->self;
  reader x = {.unit = unit,
              .w = w,
              .circuit = w->network.circuit,
              .arena = arena,
              .messages = messages,
              .job = job,
              .r = w->network.heat.n_inputs};
  job->title = figures.title;
  job->filter = w->filter;
  YOKE_TRY(check_elements(&x));
  YOKE_TRY(check_sensors(&x));
  YOKE_TRY(start_unit(&x));
  YOKE_TRY(read_inputs(&x));
  return read_outputs(&x);
}
