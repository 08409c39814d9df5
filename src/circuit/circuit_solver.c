// The front of the solver: options, time, inputs, switches and readings; the equations are solved by an engine.
#include "circuit/circuit_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "circuit/circuit_engine.h"
#include "circuit/network/circuit_guard.h"

#define N_ENGINES 3
// times that the initial configuration is solved again because a switch saw another control than assumed
#define MAX_SWITCH_ROUNDS 8

struct yoke_circuit {
  yoke_circuit_core core;
  const yoke_circuit_engine* engine;
  void* self;
  uint32_t n;             // full coordinates
  double *x, *xdot;       // work: initial configuration, sensitivities
  double *start, *state;  // prescribed states, NaN where free; index: element
  uint32_t *switches, n_switches;
  double*
      level;  // of each node: what `.ic` holds it at while the operating point is sought, or NaN
  yoke_guard guard;
  uint32_t *flow_starts,
      *flow_elements;  // elements at each fixed node, compressed rows over all nodes
  const yoke_probe** integrands;
  size_t n_integrands;
  double *integrals,
      *integrand;       // over the steps since the start; values where the next step begins
  bool is_behind_jump;  // a switch moved, and the values do not show it yet
};

static const yoke_circuit_engine* const engines[N_ENGINES] = {&yoke__engine_nodal,
                                                              &yoke__engine_dae, &yoke__engine_ode};

// ---------------------------------------------------------------------------------------------------------
// options

static yoke_status refuse(yoke_messages* messages, const yoke_network* network, const char* text) {
  yoke__error(messages, (yoke_place){.source = network->path}, "%s", text);
  return YOKE_BAD_INPUT;
}

static yoke_status check_options(const yoke_network* network, const yoke_circuit_options* options,
                                 yoke_messages* messages) {
  const bool is_explicit =
      options->method == YOKE_CIRCUIT_EULER || options->method == YOKE_CIRCUIT_RK4;
  if (!(options->step > 0.0) || !yoke__is_finite(options->step)) {
    return refuse(messages, network,
                  "the solver needs a step above 0: '.tran STEP STOP' or '.yoke step=...'");
  }
  if (is_explicit != (options->formulation == YOKE_FORMULATION_ODE)) {
    return refuse(
        messages, network,
        "methods 'euler' and 'rk4' and formulation 'ode' belong together: give both or neither");
  }
  if (options->iterations < 0 || options->max_iterations < 0 || options->n_passes < 0) {
    return refuse(messages, network, "numbers of iterations and passes cannot be negative");
  }
  return YOKE_OK;
}

static void resolve_options(const yoke_network* network, yoke_circuit_options* options) {
  options->max_iterations = options->max_iterations > 0 ? options->max_iterations : 50;
  options->tolerance = options->tolerance > 0.0 ? options->tolerance : 1e-9;
  options->alpha = options->alpha > 0.0 ? options->alpha : 1e10;
  options->n_passes = options->n_passes > 0 ? options->n_passes : 1;
  options->max_factor_bytes = options->max_factor_bytes > 0 ? options->max_factor_bytes : 16u << 20;

  // gmin below 0: none; 0: what the netlist says
  options->gmin = options->gmin < 0.0   ? 0.0
                  : options->gmin > 0.0 ? options->gmin
                                        : network->run.gmin;
  if (options->method == YOKE_CIRCUIT_TRNP) {
    options->projection = YOKE_PROJECTION_OFF;
  }
}

// ---------------------------------------------------------------------------------------------------------
// creation

static void list_switches(yoke_circuit* circuit) {
  const yoke_network* network = circuit->core.network;
  for (uint32_t e = 0; e < network->n_elements; e++) {
    if (network->elements[e].kind == YOKE_SWITCH) {
      circuit->switches[circuit->n_switches++] = e;
    }
  }
}

// which elements touch which fixed node, for the flow out of it
static void list_flows(yoke_circuit* circuit) {
  const yoke_network* network = circuit->core.network;
  uint32_t* starts = circuit->flow_starts;
  for (uint32_t e = 0; e < network->n_elements; e++) {
    // counting sort: starts[n + 1] counts what touches node n, sums make
    // it the place where n + 1 begins
    const uint32_t ends[2] = {network->elements[e].a, network->elements[e].b};
    for (int i = 0; i < 2; i++) {
      starts[ends[i] + 1] += network->nodes[ends[i]].is_fixed;
    }
  }
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    starts[n + 1] += starts[n];
  }

  // to fill in moves starts[n] on to where n ends, which is where n + 1 begins:
  // put back by one place afterwards
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const uint32_t ends[2] = {network->elements[e].a, network->elements[e].b};
    for (int i = 0; i < 2; i++) {
      if (network->nodes[ends[i]].is_fixed) {
        circuit->flow_elements[starts[ends[i]]++] = e;
      }
    }
  }
  memmove(starts + 1, starts, network->n_nodes * sizeof *starts);
  starts[0] = 0;
}

// What `.ic` says holds nodes at the operating point; without one it goes to the elements instead.
static void list_levels(yoke_circuit* circuit) {
  const yoke_network* network = circuit->core.network;
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    const bool is_level = network->nodes[n].has_start && circuit->core.options.is_operating_point;
    circuit->level[n] = is_level ? network->nodes[n].start : (double)NAN;
  }
}

// The voltage that `.ic` gives across an element; what it does not name is 0.
static double voltage_from_nodes(const yoke_network* network, uint32_t e) {
  const yoke_network_node* a = &network->nodes[network->elements[e].a];
  const yoke_network_node* b = &network->nodes[yoke__network_outer_end(network, e)];
  return (a->has_start ? a->start : 0.0) - (b->has_start ? b->start : 0.0);
}

// What is prescribed for a capacitor, an inductor or the charge of a junction: IC=, or free;
// without an operating point .ic, else 0 (heat: the ambient temperature).
static double start_of(const yoke_circuit* circuit, uint32_t e) {
  const yoke_network* network = circuit->core.network;
  const yoke_element* element = &network->elements[e];
  if (element->has_start) {
    return element->start;
  }
  if (circuit->core.options.is_operating_point) {
    return (double)NAN;
  }
  const uint32_t b = yoke__network_outer_end(network, e);
  const bool is_named = network->nodes[element->a].has_start || network->nodes[b].has_start;
  if (is_named && (element->kind == YOKE_CAPACITOR || element->kind == YOKE_JUNCTION)) {
    return voltage_from_nodes(network, e);
  }
  return element->domain == YOKE_THERMAL ? network->run.temperature : 0.0;
}

static yoke_status take_memory(yoke_circuit* circuit) {
  yoke_circuit_core* core = &circuit->core;
  const yoke_network* network = core->network;
  yoke_arena* arena = &core->arena;
  circuit->n = network->n_nodes + network->n_elements;
  circuit->x = yoke__arena_array(arena, circuit->n, sizeof(double));
  circuit->xdot = yoke__arena_array(arena, circuit->n, sizeof(double));
  circuit->start = yoke__arena_array(arena, network->n_elements, sizeof(double));
  circuit->state = yoke__arena_array(arena, network->n_elements, sizeof(double));
  circuit->switches = yoke__arena_array(arena, network->n_elements, sizeof(uint32_t));
  circuit->flow_starts = yoke__arena_array(arena, (size_t)network->n_nodes + 2, sizeof(uint32_t));
  circuit->flow_elements =
      yoke__arena_array(arena, 2 * (size_t)network->n_elements, sizeof(uint32_t));
  core->is_closed = yoke__arena_array(arena, network->n_elements, sizeof(bool));
  circuit->level = yoke__arena_array(arena, network->n_nodes, sizeof(double));
  return yoke__arena_status(arena);
}

static yoke_status build(yoke_circuit* circuit, yoke_messages* messages) {
  yoke_circuit_core* core = &circuit->core;
  const yoke_network* network = core->network;
  YOKE_TRY(take_memory(circuit));
  YOKE_TRY(yoke__guard_create(network, &core->arena, &circuit->guard));
  list_switches(circuit);
  list_flows(circuit);
  list_levels(circuit);
  for (uint32_t e = 0; e < network->n_elements; e++) {
    circuit->start[e] = start_of(circuit, e);
  }
  for (uint32_t i = 0; i < circuit->n_switches; i++) {
    const yoke_element* element = &network->elements[circuit->switches[i]];
    core->is_closed[circuit->switches[i]] = element->has_start && element->start > 0.5;
  }
  if (core->options.formulation != YOKE_FORMULATION_ODE) {
    YOKE_TRY(
        yoke__method_plan_make(core->options.method, core->options.startup, core->h, &core->plan));
  }
  YOKE_TRY(yoke__signals_create(network, &core->arena, &core->signals));
  YOKE_TRY(yoke__equations_create(network, core->signals, core->is_closed, core->options.gmin,
                                  &core->arena, &core->equations));
  circuit->engine = engines[core->options.formulation];
  return circuit->engine->create(core, messages, &circuit->self);
}

yoke_status yoke__circuit_create(const yoke_network* network, const yoke_circuit_options* options,
                                 yoke_messages* messages, yoke_circuit** out) {
  *out = NULL;
  YOKE_TRY(check_options(network, options, messages));
  yoke_circuit* circuit = calloc(1, sizeof *circuit);
  YOKE_TRY_MEMORY(circuit);
  circuit->core.network = network;
  circuit->core.options = *options;
  circuit->core.h = options->step;
  resolve_options(network, &circuit->core.options);
  const yoke_status status = build(circuit, messages);
  if (status < 0) {
    yoke__circuit_destroy(&circuit);
    return status;
  }
  *out = circuit;
  return YOKE_OK;
}

yoke_circuit_core* yoke__circuit_core(yoke_circuit* circuit) {
  return &circuit->core;
}

void yoke__circuit_destroy(yoke_circuit** circuit) {
  if (*circuit == NULL) {
    return;
  }
  if ((*circuit)->self != NULL && (*circuit)->engine->destroy != NULL) {
    (*circuit)->engine->destroy((*circuit)->self);
  }
  yoke__arena_free(&(*circuit)->core.arena);
  free(*circuit);
  *circuit = NULL;
}

// ---------------------------------------------------------------------------------------------------------
// switches

// What closes a switch when it is above its threshold.
static double control_of(const yoke_circuit* circuit, const yoke_element* element) {
  if (element->control != YOKE_NO_INDEX) {
    return yoke__circuit_current(circuit, element->control);
  }
  return yoke__circuit_voltage(circuit, element->c) - yoke__circuit_voltage(circuit, element->d);
}

// The value of an expression at the present voltages and currents.
static double law_value(const yoke_circuit* circuit, const yoke_expression* law, double t,
                        double gradient[]) {
  double live[YOKE_EXPRESSION_MAX_LIVE];
  const yoke_signals* signals = circuit->core.signals;
  for (uint32_t i = 0; i < law->n_live; i++) {
    const yoke_live* from = &law->live[i];
    switch (from->kind) {
    case YOKE_LIVE_TIME:
      live[i] = t;
      break;
    case YOKE_LIVE_INPUT:
      live[i] = signals->input[from->index];
      break;
    case YOKE_LIVE_VOLTAGE:
      live[i] = yoke__circuit_voltage(circuit, from->index);
      break;
    case YOKE_LIVE_CURRENT:
      live[i] = yoke__circuit_current(circuit, from->index);
      break;
    }
  }
  return yoke__expression_evaluate(law, live, gradient);
}

static bool decide_switch(const yoke_circuit* circuit, uint32_t e) {
  const yoke_element* element = &circuit->core.network->elements[e];
  if (element->condition != NULL) {
    return law_value(circuit, element->condition, yoke__core_time(&circuit->core), NULL) > 0.0;
  }
  const yoke_switch_model* model = element->switching;

  // closed above V_T + V_H, open below V_T - V_H, in between as it was
  const double u = control_of(circuit, element);
  if (u > model->threshold + model->hysteresis) {
    return true;
  }
  if (u < model->threshold - model->hysteresis) {
    return false;
  }
  return circuit->core.is_closed[e];
}

// True if at least one switch changed its state.
static bool decide_switches(yoke_circuit* circuit) {
  bool is_changed = false;
  for (uint32_t i = 0; i < circuit->n_switches; i++) {
    const uint32_t e = circuit->switches[i];
    const bool is_closed = decide_switch(circuit, e);
    is_changed |= is_closed != circuit->core.is_closed[e];
    circuit->core.is_closed[e] = is_closed;
  }
  return is_changed;
}

// ---------------------------------------------------------------------------------------------------------
// what must hold (circuit_guard.h)

// The value of an element with a law at the end of a step.
static double value_of(const yoke_circuit* circuit, uint32_t e) {
  const yoke_circuit_core* core = &circuit->core;
  const yoke_expression* law = core->network->elements[e].value.law;
  if (!yoke__expression_has_state(law)) {
    return core->signals->element[e];
  }
  return circuit->engine->law_value != NULL ? circuit->engine->law_value(circuit->self, e)
                                            : law_value(circuit, law, core->signals->t, NULL);
}

// x: the initial configuration, in whose equations R may be 0, but not in those of every engine;
// NULL: the end of a step.
static yoke_status check_laws(yoke_circuit* circuit, const double x[]) {
  yoke_circuit_core* core = &circuit->core;
  for (uint32_t i = 0; i < circuit->guard.n_elements; i++) {
    const uint32_t e = circuit->guard.elements[i];
    const yoke_expression* law = core->network->elements[e].value.law;
    const double value = x != NULL && yoke__expression_has_state(law)
                             ? yoke__signals_law(core->signals, law, x, NULL)
                             : value_of(circuit, e);
    if (!yoke__guard_accepts(&circuit->guard, core->network, i, value, core->signals->t,
                             &core->reason)) {
      return YOKE_DIVERGED;
    }
  }
  return YOKE_OK;
}

// A step that failed because a value became 0 or no number, or went there too fast, says which one.
static void blame_laws(yoke_circuit* circuit, yoke_status status) {
  yoke_circuit_core* core = &circuit->core;
  for (uint32_t i = 0; status == YOKE_NO_CONVERGENCE && i < circuit->guard.n_elements; i++) {
    const double value = value_of(circuit, circuit->guard.elements[i]);
    if (yoke__is_finite(value) && yoke__guard_suspects(&circuit->guard, core->network, i, value,
                                                       core->signals->t, &core->reason)) {
      return;
    }
  }
  for (uint32_t i = 0; i < circuit->guard.n_elements; i++) {
    const double value = value_of(circuit, circuit->guard.elements[i]);
    if (value == 0.0 || !yoke__is_finite(value)) {
      (void)yoke__guard_accepts(&circuit->guard, core->network, i, value, core->signals->t,
                                &core->reason);
      return;
    }
  }
}

static void count_cold(yoke_circuit* circuit) {
  yoke_circuit_counts* counts = &circuit->core.counts;
  for (uint32_t i = 0; i < circuit->guard.n_nodes; i++) {
    const uint32_t node = circuit->guard.nodes[i];
    if (yoke__circuit_voltage(circuit, node) < 0.0) {
      if (counts->n_cold++ == 0) {
        counts->cold_node = node;
        counts->cold_time = circuit->core.signals->t;
      }
      return;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// the run

static yoke_status configure(yoke_circuit* circuit, double t, yoke_messages* messages) {
  yoke_circuit_core* core = &circuit->core;
  yoke_start_report report = {0};
  memcpy(circuit->state, circuit->start, core->network->n_elements * sizeof(double));
  const yoke_status status =
      yoke__circuit_initial(core->equations, core->signals, core->network, circuit->state,
                            circuit->level, t, circuit->x, circuit->xdot, &report, messages);
  core->reason = report.reason;
  YOKE_TRY(status);
  yoke__guard_start(&circuit->guard);
  YOKE_TRY(check_laws(circuit, circuit->x));
  return circuit->engine->start(circuit->self, circuit->x, circuit->xdot);
}

yoke_status yoke__circuit_start(yoke_circuit* circuit, double t, yoke_messages* messages) {
  yoke_circuit_core* core = &circuit->core;
  yoke_messages own = {0};
  core->t0 = t;
  core->k = 0;
  circuit->is_behind_jump = false;
  core->counts = (yoke_circuit_counts){0};
  core->signals->t_input = t;
  yoke_status status = YOKE_OK;

  // switches follow from the configuration and it from them: repeated until no switch changes
  for (int round = 0; status >= 0 && round < MAX_SWITCH_ROUNDS; round++) {
    yoke__messages_free(&own);
    status = configure(circuit, t, &own);
    if (status < 0 || !decide_switches(circuit)) {
      break;
    }
    status = circuit->engine->switched(circuit->self);
  }
  if (status < 0 && own.n_errors == 0) {
    const yoke_sink list = yoke__messages_sink(&own);
    yoke__circuit_reason_send(&core->reason, status, &list);
  }
  // what was said of the last round, for switches as they are
  for (size_t i = 0; i < own.n && messages != NULL; i++) {
    yoke__messages_add(messages, &own.all[i]);
  }
  yoke__messages_free(&own);
  return status;
}

void yoke__circuit_set_input(yoke_circuit* circuit, uint32_t i, double u, double du, double ddu) {
  yoke_signals* signals = circuit->core.signals;
  const double t = yoke__core_time(&circuit->core);
  // all inputs share the time their polynomials start at: move the others there
  const double s = t - signals->t_input;
  if (s != 0.0) {
    for (uint32_t j = 0; j < circuit->core.network->n_inputs; j++) {
      signals->u[j] += s * (signals->du[j] + 0.5 * s * signals->ddu[j]);
      signals->du[j] += s * signals->ddu[j];
    }
    signals->t_input = t;
  }
  signals->u[i] = u;
  signals->du[i] = du;
  signals->ddu[i] = ddu;
  signals->input[i] = u;
}

yoke_status yoke__circuit_set_start(yoke_circuit* circuit, bool is_node, uint32_t index,
                                    double value) {
  const yoke_network* network = circuit->core.network;
  if (!is_node) {
    if (index >= network->n_elements) {
      return YOKE_BAD_ARG;
    }
    circuit->start[index] = value;
    return YOKE_OK;
  }
  // a node's start value: of all capacitors from it to a fixed node, whatever `.ic` says
  if (index < network->n_nodes) {
    circuit->level[index] = (double)NAN;
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const yoke_element* element = &network->elements[e];
    if (element->kind == YOKE_CAPACITOR && element->a == index &&
        network->nodes[element->b].is_fixed) {
      // v0 = V_a - V_b: less what the fixed end holds, with the sign of the end
      circuit->start[e] = value - network->nodes[element->b].fixed.constant;
    } else if (element->kind == YOKE_CAPACITOR && element->b == index &&
               network->nodes[element->a].is_fixed) {
      circuit->start[e] = network->nodes[element->a].fixed.constant - value;
    }
  }
  return index < network->n_nodes ? YOKE_OK : YOKE_BAD_ARG;
}

// ---------------------------------------------------------------------------------------------------------
// integrals

yoke_status yoke__circuit_choose_integrals(yoke_circuit* circuit, const yoke_probe* const probes[],
                                           size_t n) {
  yoke_arena* arena = &circuit->core.arena;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  circuit->integrands = yoke__arena_array(arena, n + 1, sizeof *circuit->integrands);
  circuit->integrals = yoke__arena_array(arena, n + 1, sizeof(double));
  circuit->integrand = yoke__arena_array(arena, n + 1, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t i = 0; i < n; i++) {
    circuit->integrands[i] = probes[i];
  }
  circuit->n_integrands = n;
  return YOKE_OK;
}

// Methods that start a step from rates show the values behind a jump at once; others only at the end of the next step.
static void begin_integrands(yoke_circuit* circuit, bool is_jump) {
  const yoke_method_plan* plan = &circuit->core.plan;
  const yoke_method_step* next = circuit->core.k < plan->n_first ? &plan->first : &plan->regular;
  circuit->is_behind_jump = is_jump && next->stages[0].n_d == 0;
  for (size_t i = 0; i < circuit->n_integrands; i++) {
    circuit->integrand[i] = yoke__circuit_probe(circuit, circuit->integrands[i]);
  }
}

void yoke__circuit_start_integrals(yoke_circuit* circuit, bool is_jump) {
  begin_integrands(circuit, is_jump || circuit->is_behind_jump);
  for (size_t i = 0; i < circuit->n_integrands; i++) {
    circuit->integrals[i] = 0.0;
  }
}

const double* yoke__circuit_integrals(const yoke_circuit* circuit) {
  return circuit->integrals;
}

// one more step
static void add_integrals(yoke_circuit* circuit) {
  const double h = circuit->core.h;
  for (size_t i = 0; i < circuit->n_integrands; i++) {
    const double end = yoke__circuit_probe(circuit, circuit->integrands[i]);
    const double start = circuit->is_behind_jump ? end : circuit->integrand[i];
    // trapezoidal rule: h/2 (start + end); behind a jump the value at the start is that
    // before it, and the end stands for it
    circuit->integrals[i] += 0.5 * h * (start + end);
    circuit->integrand[i] = end;
  }
  circuit->is_behind_jump = false;
}

// ---------------------------------------------------------------------------------------------------------

yoke_status yoke__circuit_step(yoke_circuit* circuit) {
  yoke_circuit_core* core = &circuit->core;
  core->reason.text[0] = '\0';

  // the order: what must hold is checked before the step counts, switches change only behind it
  const yoke_status status = circuit->engine->step(circuit->self);
  if (status < 0) {
    blame_laws(circuit, status);
    return status;
  }
  if (circuit->guard.n_elements > 0) {
    YOKE_TRY(check_laws(circuit, NULL));
  }
  if (circuit->guard.n_nodes > 0) {
    count_cold(circuit);
  }
  core->k++;
  core->counts.n_steps++;
  if (circuit->n_integrands > 0) {
    add_integrals(circuit);
  }
  if (circuit->n_switches > 0 && decide_switches(circuit)) {
    core->counts.n_switchings++;
    YOKE_TRY(circuit->engine->switched(circuit->self));
    if (circuit->n_integrands > 0) {
      begin_integrands(circuit, true);
    }
  }
  return YOKE_OK;
}

double yoke__circuit_time(const yoke_circuit* circuit) {
  return yoke__core_time(&circuit->core);
}

const yoke_circuit_reason* yoke__circuit_reason(const yoke_circuit* circuit) {
  return &circuit->core.reason;
}

yoke_status yoke__circuit_refresh(yoke_circuit* circuit) {
  return circuit->engine->refresh(circuit->self);
}

// ---------------------------------------------------------------------------------------------------------
// readings

double yoke__circuit_voltage(const yoke_circuit* circuit, uint32_t node) {
  return circuit->engine->voltage(circuit->self, node);
}

double yoke__circuit_current(const yoke_circuit* circuit, uint32_t element) {
  return circuit->engine->current(circuit->self, element);
}

// Out of a fixed node into the network.
static double flow_of(const yoke_circuit* circuit, uint32_t node, const double di[]) {
  const yoke_element* elements = circuit->core.network->elements;
  double sum = 0.0;
  for (uint32_t i = circuit->flow_starts[node]; i < circuit->flow_starts[node + 1]; i++) {
    const uint32_t e = circuit->flow_elements[i];
    if (elements[e].a != elements[e].b) {
      const double current = di != NULL ? di[e] : yoke__circuit_current(circuit, e);
      // the current of an element runs from a to b through it
      sum += elements[e].a == node ? current : -current;
    }
  }
  return sum;
}

static double voltage_of(const yoke_circuit* circuit, uint32_t e) {
  const yoke_element* element = &circuit->core.network->elements[e];
  return yoke__circuit_voltage(circuit, element->a) - yoke__circuit_voltage(circuit, element->b);
}

double yoke__circuit_probe(const yoke_circuit* circuit, const yoke_probe* probe) {
  switch (probe->kind) {
  case YOKE_PROBE_VOLTAGE:
    return yoke__circuit_voltage(circuit, probe->index);
  case YOKE_PROBE_DIFFERENCE:
    return yoke__circuit_voltage(circuit, probe->index) -
           yoke__circuit_voltage(circuit, probe->other);
  case YOKE_PROBE_CURRENT:
    return yoke__circuit_current(circuit, probe->index);
  case YOKE_PROBE_FLOW:
    return flow_of(circuit, probe->index, NULL);
  case YOKE_PROBE_POWER:
    return voltage_of(circuit, probe->index) * yoke__circuit_current(circuit, probe->index);
  case YOKE_PROBE_LAW:
    return law_value(circuit, probe->law, yoke__core_time(&circuit->core), NULL);
  }
  return (double)NAN;
}

// d(probe) for a change dx of the full coordinates and du of one input
static double probe_change(const yoke_circuit* circuit, const yoke_probe* probe, const double dx[],
                           uint32_t input) {
  const yoke_network* network = circuit->core.network;
  const double* di = dx + network->n_nodes;
  double gradient[YOKE_EXPRESSION_MAX_LIVE];
  double sum = 0.0;
  switch (probe->kind) {
  case YOKE_PROBE_VOLTAGE:
    return dx[probe->index];
  case YOKE_PROBE_DIFFERENCE:
    return dx[probe->index] - dx[probe->other];
  case YOKE_PROBE_CURRENT:
    return di[probe->index];
  case YOKE_PROBE_FLOW:
    return flow_of(circuit, probe->index, di);
  case YOKE_PROBE_POWER: {
    // d(U I) = U dI + dU I
    const yoke_element* element = &network->elements[probe->index];
    return voltage_of(circuit, probe->index) * di[probe->index] +
           (dx[element->a] - dx[element->b]) * yoke__circuit_current(circuit, probe->index);
  }
  case YOKE_PROBE_LAW:
    law_value(circuit, probe->law, yoke__core_time(&circuit->core), gradient);
    for (uint32_t i = 0; i < probe->law->n_live; i++) {
      // chain rule: time does not change, and of the inputs only the one that is asked for
      const yoke_live* live = &probe->law->live[i];
      sum += live->kind == YOKE_LIVE_VOLTAGE                         ? gradient[i] * dx[live->index]
             : live->kind == YOKE_LIVE_CURRENT                       ? gradient[i] * di[live->index]
             : live->kind == YOKE_LIVE_INPUT && live->index == input ? gradient[i]
                                                                     : 0.0;
    }
    return sum;
  }
  return (double)NAN;
}

yoke_status yoke__circuit_sensitivity(yoke_circuit* circuit, uint32_t input,
                                      const yoke_probe* const probes[], size_t n, double out[]) {
  if (input >= circuit->core.network->n_inputs) {
    return YOKE_BAD_ARG;
  }
  YOKE_TRY(circuit->engine->sensitivity(circuit->self, input, circuit->x));
  for (size_t i = 0; i < n; i++) {
    out[i] = probe_change(circuit, probes[i], circuit->x, input);
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// images: the front's own part, inputs and switches, then the engine's

typedef struct front_image {
  double t0, t_input, t;
  uint64_t k;
  uint64_t is_behind_jump;
  yoke_circuit_counts counts;
} front_image;

// A part of the image and where it lives between images; parts start at multiples of 16 bytes
// unless they follow the one before directly.
typedef struct image_part {
  void* from;
  size_t size;
  bool is_last;  // of those that follow each other
} image_part;

#define N_PARTS 5

static size_t round_up(size_t size) {
  return (size + 15u) & ~(size_t)15u;
}

// The values of waves and laws at the last update are in it: readings after a restore must be the
// same.
static void list_parts(const yoke_circuit* circuit, front_image* front, image_part parts[N_PARTS]) {
  // inputs and their derivatives lie in one piece: u, u', u'' behind the values
  const yoke_circuit_core* core = &circuit->core;
  const size_t n = core->network->n_elements;

  // without switches is_closed never changes
  const size_t n_switched = circuit->n_switches > 0 ? n : 0;
  parts[0] = (image_part){front, sizeof *front, true};
  parts[1] = (image_part){core->signals->input,
                          4 * (size_t)core->network->n_inputs * sizeof(double), true};
  parts[2] = (image_part){core->signals->element, n * sizeof(double), false};
  parts[3] = (image_part){core->signals->node, core->network->n_nodes * sizeof(double), true};
  parts[4] = (image_part){core->is_closed, n_switched * sizeof(bool), true};
}

// Where the engine's part starts; copies those of the front into an image or out of it.
static size_t copy_parts(const image_part parts[N_PARTS], char* to, const char* from) {
  size_t at = 0;
  for (size_t i = 0; i < N_PARTS; i++) {
    if (to != NULL) {
      memcpy(to + at, parts[i].from, parts[i].size);
    } else if (from != NULL) {
      memcpy(parts[i].from, from + at, parts[i].size);
    }
    at += parts[i].size;
    at = parts[i].is_last ? round_up(at) : at;
  }
  return at;
}

size_t yoke__circuit_image_size(const yoke_circuit* circuit) {
  image_part parts[N_PARTS];
  front_image front;
  list_parts(circuit, &front, parts);
  return copy_parts(parts, NULL, NULL) + round_up(circuit->engine->image_size(circuit->self));
}

void yoke__circuit_save(const yoke_circuit* circuit, void* image) {
  const yoke_circuit_core* core = &circuit->core;
  image_part parts[N_PARTS];
  front_image front = {.t0 = core->t0,
                       .t_input = core->signals->t_input,
                       .t = core->signals->t,
                       .k = core->k,
                       .is_behind_jump = circuit->is_behind_jump,
                       .counts = core->counts};
  list_parts(circuit, &front, parts);
  circuit->engine->save(circuit->self, (char*)image + copy_parts(parts, image, NULL));
}

void yoke__circuit_restore(yoke_circuit* circuit, const void* image) {
  yoke_circuit_core* core = &circuit->core;
  image_part parts[N_PARTS];
  front_image front;
  list_parts(circuit, &front, parts);
  const size_t at = copy_parts(parts, NULL, image);
  core->t0 = front.t0;
  core->k = front.k;
  circuit->is_behind_jump = front.is_behind_jump != 0;
  core->counts = front.counts;
  core->signals->t_input = front.t_input;
  core->signals->t = front.t;
  circuit->engine->restore(circuit->self, (const char*)image + at);
}

// ---------------------------------------------------------------------------------------------------------
// figures

void yoke__circuit_get_sizes(const yoke_circuit* circuit, yoke_circuit_sizes* sizes) {
  const yoke_circuit_core* core = &circuit->core;
  const yoke_sparse_pattern* pattern = &core->equations->J;
  *sizes = (yoke_circuit_sizes){.n_bytes = core->arena.used + sizeof *circuit,
                                .n_nonzeros = (uint32_t)pattern->starts[pattern->n],
                                .is_linear = core->equations->is_linear,
                                .is_constant = core->equations->is_constant,
                                .n = core->equations->n,
                                .m = core->equations->m,
                                .p = core->equations->p};
  int32_t rank = 0;

  // full rank of the pattern is necessary for regular equations, whatever the numbers are
  if (yoke__sparse_structural_rank(pattern, &rank, NULL) >= 0) {
    sizes->structural_rank = (uint32_t)rank;
  }
  circuit->engine->get_sizes(circuit->self, sizes);
}

void yoke__circuit_get_counts(const yoke_circuit* circuit, yoke_circuit_counts* counts) {
  *counts = circuit->core.counts;
}

void yoke__circuit_measure(yoke_circuit* circuit, bool is_on) {
  circuit->core.is_measured = is_on;
}

void yoke__circuit_get_costs(yoke_circuit* circuit, double ns[YOKE_COST_N]) {
  memcpy(ns, circuit->core.cost_ns, sizeof circuit->core.cost_ns);
  memset(circuit->core.cost_ns, 0, sizeof circuit->core.cost_ns);
}
