// The constants, names and sizes of a linear filter that is written as C.
#include "export/export_twin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"

typedef struct maker {
  const yoke_export_twin_job* job;
  yoke_export_twin_model* model;
  const yoke_sink* sink;
} maker;

static void* keep(maker* k, size_t n, size_t size, yoke_status* status) {
  void* at = yoke__arena_array(&k->model->arena, n + 1, size);
  *status = at == NULL ? YOKE_NO_MEMORY : *status;
  return at;
}

// ---- names

// Heat or temperature?
static const char* dim_of_row(const yoke_heat_network* network, yoke_heat_row row) {
  if (row.kind == YOKE_ROW_FLOW) {
    return "W";
  }
  for (size_t i = 0; row.kind == YOKE_ROW_INPUT && i < network->n_sources; i++) {
    if (network->sources[i].input == row.index) {
      return "W";
    }
  }
  return "K";
}

static const char* dim_of_unknown(const yoke_estimate_setup* setup, const yoke_unknown* u) {
  const bool is_offset = u->kind == YOKE_UNKNOWN_OFFSET;
  return is_offset ? dim_of_row(setup->network, setup->sensors[u->targets[0]].row)
                   : dim_of_row(setup->network, (yoke_heat_row){YOKE_ROW_INPUT, u->targets[0], 0});
}

// Known inputs of the network, one by one.
static yoke_status take_network_inputs(maker* k) {
  yoke_export_twin_model* m = k->model;
  const yoke_heat_network* network = m->c.setup->network;
  yoke_status status = YOKE_OK;
  for (size_t i = 0; i < m->c.r; i++) {
    m->n_u += m->c.is_unknown_input[i] ? 0 : 1;
  }
  double* map = keep(k, m->c.r * m->n_u, sizeof *map, &status);
  m->offset = keep(k, m->c.r, sizeof *m->offset, &status);
  YOKE_TRY(status);
  for (size_t i = 0, n = 0; i < m->c.r; i++) {
    if (!m->c.is_unknown_input[i]) {
      const yoke_heat_row row = {YOKE_ROW_INPUT, (uint32_t)i, 0};
      YOKE_TRY(yoke__export_c_name(&m->arena, m->inputs, n, network->input_names[i],
                                   dim_of_row(network, row), m->c.v[i]));
      map[i * m->n_u + n++] = 1.0;
    }
  }
  m->map = map;
  return YOKE_OK;
}

static yoke_status name_inputs(maker* k) {
  yoke_export_twin_model* m = k->model;
  const yoke_export_twin_job* job = k->job;
  if (job->inputs == NULL) {
    return take_network_inputs(k);
  }
  for (size_t i = 0; i < job->n_inputs; i++) {
    YOKE_TRY(yoke__export_c_name(&m->arena, m->inputs, i, job->inputs[i].name, job->inputs[i].dim,
                                 job->inputs[i].start));
  }
  m->n_u = job->n_inputs;
  m->map = job->map;
  m->offset = job->offset;
  return YOKE_OK;
}

static yoke_status name_outputs(maker* k) {
  yoke_export_twin_model* m = k->model;
  const yoke_estimate_setup* setup = m->c.setup;
  for (size_t i = 0; i < m->n_outputs; i++) {
    char text[32];
    snprintf(text, sizeof text, "output %zu", i + 1);
    const yoke_export_twin_label* label = k->job->outputs != NULL ? &k->job->outputs[i] : NULL;
    const char* dim = label != NULL && label->dim != NULL
                          ? label->dim
                          : dim_of_row(setup->network, setup->outputs[i]);
    YOKE_TRY(yoke__export_c_name(&m->arena, m->outputs, i, label != NULL ? label->name : text, dim,
                                 0.0));
  }
  return YOKE_OK;
}

static yoke_status name_all(maker* k) {
  yoke_export_twin_model* m = k->model;
  const yoke_estimate_setup* setup = m->c.setup;
  yoke_status status = YOKE_OK;
  m->n_outputs = k->job->outputs != NULL ? k->job->n_outputs : setup->n_outputs;
  m->inputs = keep(k, m->c.r + k->job->n_inputs, sizeof *m->inputs, &status);
  m->sensors = keep(k, setup->n_sensors, sizeof *m->sensors, &status);
  m->outputs = keep(k, m->n_outputs, sizeof *m->outputs, &status);
  m->unknowns = keep(k, m->c.n_rho, sizeof *m->unknowns, &status);
  YOKE_TRY(status);
  YOKE_TRY(name_inputs(k));
  YOKE_TRY(name_outputs(k));
  for (size_t i = 0; i < setup->n_sensors; i++) {
    YOKE_TRY(yoke__export_c_name(&m->arena, m->sensors, i, setup->sensors[i].name,
                                 dim_of_row(setup->network, setup->sensors[i].row), 0.0));
  }
  for (size_t j = 0; j < m->c.n_rho; j++) {
    const yoke_unknown* u = &setup->unknowns[j];
    YOKE_TRY(yoke__export_c_name(&m->arena, m->unknowns, j, u->name, dim_of_unknown(setup, u),
                                 u->start));
  }
  return YOKE_OK;
}

// ---- numbers

static void need_node(yoke_export_twin_model* m, uint32_t node) {
  const yoke_heat_model* model = m->c.model;
  const bool is_free = model->place[node] != YOKE_HEAT_FREE && model->state[node] == YOKE_HEAT_FREE;
  for (size_t i = 0; is_free && i < m->n_free; i++) {
    if (m->free_nodes[i] == node) {
      return;
    }
  }
  if (is_free) {
    m->free_nodes[m->n_free++] = node;
  }
}

static void need_row(yoke_export_twin_model* m, yoke_heat_row row) {
  if (row.kind == YOKE_ROW_FLOW) {
    const yoke_heat_resistor* r = &m->c.setup->network->resistors[row.index];
    need_node(m, r->a);
    need_node(m, r->b);
  } else if (row.kind != YOKE_ROW_INPUT) {
    need_node(m, row.index);
    if (row.kind == YOKE_ROW_DIFFERENCE) {
      need_node(m, row.other);
    }
  }
}

static yoke_status take_nodes(maker* k) {
  yoke_export_twin_model* m = k->model;
  const yoke_estimate_setup* setup = m->c.setup;
  yoke_status status = YOKE_OK;
  m->free_nodes = keep(k, setup->network->n_nodes, sizeof *m->free_nodes, &status);
  YOKE_TRY(status);
  for (size_t i = 0; i < setup->n_sensors; i++) {
    need_row(m, setup->sensors[i].row);
  }
  for (size_t i = 0; i < m->n_outputs; i++) {
    need_row(m, setup->outputs[i]);
  }
  m->T = keep(k, m->n_free * m->c.p, sizeof *m->T, &status);
  m->B = keep(k, m->n_free * m->c.r, sizeof *m->B, &status);
  YOKE_TRY(status);
  for (size_t i = 0; i < m->n_free; i++) {
    memcpy(m->T + i * m->c.p, m->c.model->T + m->free_nodes[i] * m->c.p, m->c.p * sizeof *m->T);
    memcpy(m->B + i * m->c.r, m->c.model->B + m->free_nodes[i] * m->c.r, m->c.r * sizeof *m->B);
  }
  return YOKE_OK;
}

static yoke_status take_numbers(maker* k) {
  yoke_export_twin_model* m = k->model;
  const yoke_estimate_setup* setup = m->c.setup;
  const size_t n = m->c.n;
  yoke_status status = YOKE_OK;
  m->H = keep(k, setup->n_sensors * n, sizeof *m->H, &status);
  m->H_out = keep(k, m->n_outputs * n, sizeof *m->H_out, &status);
  m->Q = keep(k, n * (n + 1) / 2, sizeof *m->Q, &status);
  YOKE_TRY(status);
  for (size_t i = 0; i < setup->n_sensors; i++) {
    yoke__estimate_sensor_line(k->job->filter, i, m->H + i * n);
  }
  for (size_t i = 0; i < m->n_outputs; i++) {
    yoke__estimate_output_line(k->job->filter, i, m->H_out + i * n);
  }
  double* Q = m->Q;
  for (size_t i = 0; i < n; i++) {
    memcpy(Q, m->c.Q + i * (n + 1), (n - i) * sizeof *Q);
    Q += n - i;
  }
  for (size_t j = 0; j < m->c.n_rho; j++) {
    m->n_bounded += isfinite(m->c.lower[j]) || isfinite(m->c.upper[j]) ? 1 : 0;
  }
  m->has_gate = setup->gate > 0.0;
  return take_nodes(k);
}

// ---- cost

static void count_cost(yoke_export_twin_model* m) {
  const size_t n = m->c.n, p = m->c.p, r = m->c.r, n_rows = m->n_free;
  const size_t n_y = m->c.setup->n_sensors, n_out = m->n_outputs;
  const size_t nodes = n_rows * (p + r);
  m->cost.flash = sizeof(double) * (p * n + 2 * p * p + p * r + n * (n + 1) / 2 +
                                    (n_y + n_out) * n + n_y + nodes + 2 * n + 2 * m->n_bounded);
  m->cost.ram = sizeof(double) * (n + n * n + 2 * n_y) + 4 * sizeof(uint64_t) + 2 * sizeof(int) +
                (m->n_bounded > 0 ? sizeof(uint64_t) : 0);
  const size_t most = p * n > 3 * n + n_y ? p * n : 3 * n + n_y;
  m->cost.stack = sizeof(double) * (most + r + 2 * p) + 200;
  m->cost.n_predict = 2 * p * p + p * r + p * n * n + n * p * (p + 1) / 2;
  // the second pass against rounding, and bounds, included
  m->cost.n_reading = 4 * n * n + 9 * n + n * n;
  m->cost.n_output = nodes + n_out * (n * n + n);
}

// ---- the whole

static yoke_status refuse(const maker* k) {
  const yoke_estimate_method method = yoke__estimate_method_of(k->job->filter);
  if (method == YOKE_ESTIMATE_LINEAR) {
    return yoke_fail(k->sink, YOKE_BAD_ARG, "'%s': a filter is exported as it starts",
                     k->job->name);
  }
  static const char* const words[] = {"auto", "linear", "derivative", "extended", "unscented"};
  return yoke_fail(
      k->sink, YOKE_NO_SUPPORT,
      "'%s' has the %s filter: only linear twins, whose unknowns are inputs and offsets "
      "of sensors, can be written as C; export an FMU instead (--fmi)",
      k->job->name, words[method]);
}

yoke_status yoke__export_twin_make(const yoke_export_twin_job* job, yoke_export_twin_model* model,
                                   const yoke_sink* sink) {
  *model = (yoke_export_twin_model){0};
  maker k = {job, model, sink};
  if (yoke__estimate_constants_of(job->filter, &model->c) < 0) {
    return refuse(&k);
  }
  if (model->c.setup->n_sensors == 0) {
    return yoke_fail(
        sink, YOKE_NO_SUPPORT,
        "'%s' has no sensors: there is nothing to estimate; export its netlist instead", job->name);
  }
  yoke_status status = name_all(&k);
  status = status < 0 ? status : take_numbers(&k);
  if (status < 0) {
    return yoke_fail(sink, status, "%s", yoke_status_text(status));
  }
  count_cost(model);
  return YOKE_OK;
}

void yoke__export_twin_free(yoke_export_twin_model* model) {
  yoke__arena_free(&model->arena);
  *model = (yoke_export_twin_model){0};
}
