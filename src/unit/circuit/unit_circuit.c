// Circuits as units: the fixed-step solver of src/circuit behind the operations of yoke/unit.h.
//
// A call from t to t + h is n = h / step whole steps of the solver, inputs going along the
// polynomials that the master gives (u + du s + ddu s^2/2) or held. While the system is initialised
// every new set of inputs gives a new initial configuration, so that an operating point fits to
// what the partners say; later `refresh` solves the algebraic equations with the states held.
#include "unit/circuit/unit_circuit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_message.h"
#include "unit/circuit/unit_circuit_part.h"
#include "unit/host/unit_host.h"
#include "unit/unit.h"

#define NEAR      1e-9   // of a number of steps to a whole one, relative
#define NEAR_TIME 1e-3   // of the master's time to the solver's, in steps
#define SAME      1e-14  // of two inputs, relative
#define MAX_INNER 1e9    // steps of the solver in one call
#define STEP_NS   1.5    // cost of one number of the factors in one solution

// numbers of an image per input: u, du, ddu, u_last
#define N_KEPT 4

static void close_unit(void* self);

// -------------------------------------------------------------------------------------------------
// life

// a file belongs to one system: what it keeps for the first unit may be taken
static circuit_file* file_of(const void* context) {
  const union {
    const void* constant;
    circuit_file* own;
  } to = {context};
  return to.own;
}

// warnings were given when the file was opened
static void send_errors(const yoke_messages* messages, const yoke_sink* sink) {
  for (size_t i = 0; i < messages->n; i++) {
    if (messages->all[i].severity == YOKE_ERROR) {
      yoke_send(sink, &messages->all[i]);
    }
  }
}

// the network with parameters of this unit
static yoke_status read_own(circuit_unit* c, const yoke_unit_args* args, yoke_messages* messages) {
  yoke_netlist_parameter* given = yoke__arena_array(&c->arena, args->n_arguments, sizeof *given);
  YOKE_TRY(yoke__arena_status(&c->arena));
  for (size_t i = 0; i < args->n_arguments; i++) {
    const yoke_argument* a = &args->arguments[i];
    if (a->type != YOKE_REAL || a->n_rows > 1 || a->n_cols > 1) {
      yoke__error(messages, c->file->settings.place, "parameter '%s': expected one number",
                  a->name);
      return YOKE_BAD_INPUT;
    }
    given[i] = (yoke_netlist_parameter){a->name, *(const double*)a->value};
  }
  const yoke_netlist_settings settings = {
      .path = c->file->network->path,
      .parameters = given,
      .n_parameters = args->n_arguments,
      .known = c->file->network,
  };
  YOKE_TRY(yoke__netlist_read_file(&settings, messages, &c->own));
  c->network = c->own;
  return YOKE_OK;
}

static yoke_status take_memory(circuit_unit* c) {
  const size_t n_inputs = c->layout.n_inputs, n = c->layout.info.n_variables;
  c->u = yoke__arena_array(&c->arena, N_KEPT * n_inputs, sizeof(double));
  c->u_started = yoke__arena_array(&c->arena, n_inputs, sizeof(double));
  c->column = yoke__arena_array(&c->arena, n, sizeof(double));
  c->probes = yoke__arena_array(&c->arena, n, sizeof(const yoke_probe*));
  YOKE_TRY(yoke__arena_status(&c->arena));
  c->du = c->u + n_inputs;
  c->ddu = c->du + n_inputs;
  c->u_last = c->ddu + n_inputs;
  for (size_t i = 0; i < n_inputs; i++) {
    c->u[i] = c->layout.info.variables[i].start;
  }
  return YOKE_OK;
}

// the inputs stand in front of the solver's own image
static size_t inputs_size(const circuit_unit* c) {
  return (N_KEPT * c->layout.n_inputs * sizeof(double) + 15u) & ~(size_t)15u;
}

// what a call takes, from the sizes alone: stages times solutions times the numbers in the factors
static double guess_cost(const circuit_unit* c) {
  static const double n_stages[YOKE_CIRCUIT_N_METHODS] = {2, 1, 1, 1, 1, 1, 3, 5, 1, 4};
  yoke_circuit_sizes sizes;
  yoke__circuit_get_sizes(c->circuit, &sizes);
  const double n_iterations =
      c->options.iterations > 0 ? c->options.iterations : (sizes.is_linear ? 1 : 3);
  const double called = c->file->settings.call_step;
  const double n_inner = called > 0 ? fmax(1, round(called / c->options.step)) : 1;
  const double n_numbers = (double)sizes.n_factors * (sizes.is_constant ? 1 : 3) +
                           2.0 * (double)(c->network->n_elements + c->network->n_nodes);
  return 1e-9 * STEP_NS * n_numbers * n_iterations * n_inner * n_stages[c->options.method];
}

static yoke_status build(circuit_unit* c, const yoke_unit_args* args, yoke_messages* messages) {
  circuit_file* file = file_of(args->context);
  if (args->n_arguments > 0) {
    YOKE_TRY(read_own(c, args, messages));
  }
  YOKE_TRY(yoke__circuit_choose_options(c->network, &file->settings, messages, &c->options));
  if (c->own == NULL && file->circuit != NULL) {
    c->circuit = file->circuit;
    file->circuit = NULL;
  } else {
    YOKE_TRY(yoke__circuit_create(c->network, &c->options, messages, &c->circuit));
  }
  YOKE_TRY(yoke__circuit_lay_out(c->network, &c->arena, messages, &c->layout));
  YOKE_TRY(take_memory(c));
  c->layout.info.flags |= YOKE_UNIT_PORTABLE;
  c->layout.info.image_size = inputs_size(c) + yoke__circuit_image_size(c->circuit);
  c->layout.info.cost_s = guess_cost(c);
  c->layout.info.solver = (yoke_unit_solver){.method = YOKE_SOLVER_OTHER, .step = c->options.step};
  const yoke_circuit_method method = c->options.method;
  c->uses_rates = method != YOKE_CIRCUIT_BDF1 && method != YOKE_CIRCUIT_BDF2 &&
                  method != YOKE_CIRCUIT_BDF3 && c->options.formulation != YOKE_FORMULATION_ODE;
  return YOKE_OK;
}

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  circuit_unit* c = calloc(1, sizeof *c);
  YOKE_TRY_MEMORY(c);
  c->file = args->context;
  c->network = c->file->network;
  yoke_messages messages = {0};
  const yoke_status status = build(c, args, &messages);
  if (status < 0) {
    send_errors(&messages, sink);
    close_unit(c);
  } else {
    *self = c;
  }
  yoke__messages_free(&messages);
  return status;
}

static const yoke_unit_info* describe(const void* self) {
  return &((const circuit_unit*)self)->layout.info;
}

static void close_unit(void* self) {
  circuit_unit* c = self;
  yoke__circuit_destroy(&c->circuit);
  yoke__messages_free(&c->warnings);
  yoke__messages_free(&c->faults);
  yoke__network_destroy(&c->own);
  yoke__arena_free(&c->arena);
  free(c);
}

// -------------------------------------------------------------------------------------------------
// variables

static yoke_status set(void* self, size_t variable, const void* value, size_t size) {
  circuit_unit* c = self;
  const circuit_slot* slot = &c->layout.slots[variable];
  double number = 0;
  if (size != sizeof number) {
    return YOKE_BAD_ARG;
  }
  memcpy(&number, value, sizeof number);
  if (slot->kind == CIRCUIT_INPUT) {
    c->u[slot->input] = number;
    return YOKE_OK;
  }
  if (!slot->has_start || c->phase == CIRCUIT_RUNNING) {
    return YOKE_NO_SUPPORT;
  }
  return yoke__circuit_set_start(c->circuit, slot->is_node_start, slot->start_index, number);
}

static double value_of(const circuit_unit* c, size_t variable) {
  const circuit_slot* slot = &c->layout.slots[variable];
  return slot->kind == CIRCUIT_INPUT ? c->u[slot->input]
                                     : yoke__circuit_probe(c->circuit, &slot->probe);
}

static yoke_status get(const void* self, size_t variable, void* value, size_t size) {
  const circuit_unit* c = self;
  const double number = value_of(c, variable);
  if (size != sizeof number) {
    return YOKE_BAD_ARG;
  }
  memcpy(value, &number, sizeof number);
  return YOKE_OK;
}

static yoke_status get_values(const void* self, const yoke_value_place places[], size_t n,
                              void* base) {
  const circuit_unit* c = self;
  for (size_t i = 0; i < n; i++) {
    const double number = value_of(c, places[i].variable);
    memcpy((char*)base + places[i].at, &number, sizeof number);
  }
  return YOKE_OK;
}

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  circuit_unit* c = self;
  if (n_u > 0) {
    memcpy(c->u, u, n_u * sizeof *u);
  }
  return YOKE_OK;
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  const circuit_unit* c = self;
  for (size_t i = 0; i < n_y; i++) {
    y[i] = yoke__circuit_probe(c->circuit, c->layout.outputs[i]);
  }
  return YOKE_OK;
}

static yoke_status choose_integrals(void* self, const size_t outputs[], size_t n) {
  circuit_unit* c = self;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  const yoke_probe** probes = yoke__arena_array(&c->arena, n + 1, sizeof *probes);
  YOKE_TRY(yoke__arena_status(&c->arena));
  for (size_t i = 0; i < n; i++) {
    if (outputs[i] >= c->layout.n_outputs) {
      return YOKE_BAD_ARG;
    }
    probes[i] = c->layout.outputs[outputs[i]];
  }
  c->n_integrals = n;
  return yoke__circuit_choose_integrals(c->circuit, probes, n);
}

static yoke_status get_integrals(const void* self, double integrals[], size_t n) {
  const circuit_unit* c = self;
  if (n != c->n_integrals) {
    return YOKE_BAD_ARG;
  }
  memcpy(integrals, yoke__circuit_integrals(c->circuit), n * sizeof *integrals);
  return YOKE_OK;
}

// of third and higher orders nothing is used
static yoke_status set_input_derivatives(void* self, int order, const double du[], size_t n_u) {
  circuit_unit* c = self;
  if (order < 1) {
    return YOKE_BAD_ARG;
  }
  if (order <= 2 && n_u > 0) {
    memcpy(order == 1 ? c->du : c->ddu, du, n_u * sizeof *du);
  }
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// initialisation

static void send_inputs(circuit_unit* c) {
  for (size_t i = 0; i < c->layout.n_inputs; i++) {
    yoke__circuit_set_input(c->circuit, (uint32_t)i, c->u[i], c->du[i], c->ddu[i]);
  }
}

// derivatives are those of one step
static void forget_derivatives(circuit_unit* c) {
  if (c->layout.n_inputs > 0) {
    memset(c->du, 0, 2 * c->layout.n_inputs * sizeof *c->du);
  }
}

// the solver's rates belong to the inputs as they are now
static void note_inputs(circuit_unit* c) {
  if (c->layout.n_inputs > 0) {
    memcpy(c->u_last, c->u, c->layout.n_inputs * sizeof *c->u);
  }
}

static yoke_status start(circuit_unit* c, double t) {
  yoke_messages messages = {0};
  send_inputs(c);
  const yoke_status status = yoke__circuit_start(c->circuit, t, &messages);
  // the last configuration is the one that the run starts from
  yoke_messages* kept = status < 0 ? &c->faults : &c->warnings;
  yoke__messages_free(kept);
  *kept = messages;
  if (status < 0) {
    return status;
  }
  if (c->layout.n_inputs > 0) {
    memcpy(c->u_started, c->u, c->layout.n_inputs * sizeof *c->u);
    note_inputs(c);
  }
  c->is_start_told = false;
  return status;
}

static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  (void)t_stop;
  circuit_unit* c = self;
  forget_derivatives(c);
  const yoke_status status = start(c, t_start);
  if (status < 0) {
    send_errors(&c->faults, sink);
    return status;
  }
  c->phase = CIRCUIT_INITIALISING;
  return YOKE_OK;
}

static yoke_status exit_init(void* self) {
  ((circuit_unit*)self)->phase = CIRCUIT_RUNNING;
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// steps

static yoke_sink start_faults(circuit_unit* c) {
  yoke__messages_free(&c->faults);
  return yoke__messages_sink(&c->faults);
}

static void keep_with_time(void* to, const yoke_message* message) {
  circuit_unit* c = to;
  char text[512];
  yoke_message full = *message;
  snprintf(text, sizeof text, "%.400s (in the solver's step from t = %.9g s)", message->text,
           yoke__circuit_time(c->circuit));
  full.text = text;
  yoke__messages_add(&c->faults, &full);
}

static yoke_status explain(circuit_unit* c, yoke_status status) {
  const yoke_sink sink = {keep_with_time, c};
  yoke__messages_free(&c->faults);
  yoke__circuit_reason_send(yoke__circuit_reason(c->circuit), status, &sink);
  return c->faults.n > 0 ? status : yoke_fail(&sink, status, "%s", yoke_status_text(status));
}

// the number of the solver's steps in h
static yoke_status count_steps(circuit_unit* c, double h) {
  const double ratio = h / c->options.step, n = round(ratio);
  if (!(n >= 1 && n <= MAX_INNER && fabs(ratio - n) <= NEAR * n)) {
    const yoke_sink sink = start_faults(c);
    return yoke_fail(&sink, YOKE_UNIT_FAILED,
                     "a step of %.9g s is not a whole number of the solver's steps of %.9g s", h,
                     c->options.step);
  }
  c->h = h;
  c->n_inner = (int64_t)n;
  return YOKE_OK;
}

static yoke_status check_time(circuit_unit* c, double t) {
  const double own = yoke__circuit_time(c->circuit);
  if (fabs(t - own) <= NEAR_TIME * c->options.step + 1e-12 * fabs(t)) {
    return YOKE_OK;
  }
  const yoke_sink sink = start_faults(c);
  return yoke_fail(&sink, YOKE_UNIT_FAILED, "asked to go on from t = %.9g s, but it is at %.9g s",
                   t, own);
}

// A method that goes on with the rates of the last step needs those behind a jump of an input: with the old ones each
// jump would cost an error of first order in the solver's step. Where the states cannot be held (a capacitor across a
// source) the method is left to find them.
static bool follow_jump(circuit_unit* c) {
  bool is_jump = false;
  for (size_t i = 0; i < c->layout.n_inputs; i++) {
    is_jump = is_jump || fabs(c->u[i] - c->u_last[i]) > SAME * fabs(c->u[i]);
  }
  if (is_jump && c->uses_rates) {
    (void)yoke__circuit_refresh(c->circuit);
  }
  return is_jump;
}

static yoke_status step_inside(circuit_unit* c, double t, double h) {
  if (h != c->h) {
    YOKE_TRY(count_steps(c, h));
  }
  YOKE_TRY(check_time(c, t));
  send_inputs(c);
  const bool is_jump = follow_jump(c);
  if (c->n_integrals > 0) {
    yoke__circuit_start_integrals(c->circuit, is_jump);
  }
  for (int64_t k = 0; k < c->n_inner; k++) {
    const yoke_status status = yoke__circuit_step(c->circuit);
    if (status < 0) {
      return explain(c, status);
    }
  }
  return YOKE_OK;
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  circuit_unit* c = self;
  const yoke_status status = step_inside(c, t, h);
  if (status < 0) {
    result->message = c->faults.n > 0 ? c->faults.all[0].text : NULL;
    return status;
  }
  for (size_t i = 0; i < c->layout.n_inputs; i++) {
    c->u_last[i] = c->u[i] + h * (c->du[i] + 0.5 * h * c->ddu[i]);
  }
  forget_derivatives(c);
  return YOKE_OK;
}

static bool is_started_with(const circuit_unit* c) {
  return c->layout.n_inputs == 0 ||
         memcmp(c->u, c->u_started, c->layout.n_inputs * sizeof *c->u) == 0;
}

static yoke_status refresh(void* self, double t) {
  circuit_unit* c = self;
  if (c->phase == CIRCUIT_RUNNING) {
    send_inputs(c);
    const yoke_status status = yoke__circuit_refresh(c->circuit);
    if (status < 0) {
      return explain(c, status);
    }
    note_inputs(c);
    return YOKE_OK;
  }
  return is_started_with(c) ? YOKE_OK : start(c, t);
}

// -------------------------------------------------------------------------------------------------
// states

static yoke_status save(const void* self, void* image, size_t size) {
  const circuit_unit* c = self;
  if (size != c->layout.info.image_size) {
    return YOKE_BAD_ARG;
  }
  if (c->layout.n_inputs > 0) {
    memcpy(image, c->u, N_KEPT * c->layout.n_inputs * sizeof *c->u);
  }
  yoke__circuit_save(c->circuit, (char*)image + inputs_size(c));
  return YOKE_OK;
}

static yoke_status restore(void* self, const void* image, size_t size) {
  circuit_unit* c = self;
  if (size != c->layout.info.image_size) {
    return YOKE_BAD_ARG;
  }
  if (c->layout.n_inputs > 0) {
    memcpy(c->u, image, N_KEPT * c->layout.n_inputs * sizeof *c->u);
  }
  yoke__circuit_restore(c->circuit, (const char*)image + inputs_size(c));
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// derivatives

// d(unknown)/d(input) over the last step of the solver, with the factors at hand
static yoke_status derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                              const size_t knowns[], size_t n_knowns, const double seed[],
                              double out[]) {
  circuit_unit* c = self;
  if (n_unknowns > c->layout.info.n_variables) {
    return YOKE_FULL;
  }
  for (size_t i = 0; i < n_unknowns; i++) {
    const circuit_slot* slot = &c->layout.slots[unknowns[i]];
    if (slot->kind == CIRCUIT_INPUT) {
      return YOKE_NO_SUPPORT;
    }
    c->probes[i] = &slot->probe;
    out[i] = 0;
  }
  for (size_t j = 0; j < n_knowns; j++) {
    const circuit_slot* slot = &c->layout.slots[knowns[j]];
    if (slot->kind != CIRCUIT_INPUT) {
      return YOKE_NO_SUPPORT;
    }
    YOKE_TRY(yoke__circuit_sensitivity(c->circuit, slot->input, c->probes, n_unknowns, c->column));
    for (size_t i = 0; i < n_unknowns; i++) {
      out[i] += c->column[i] * seed[j];
    }
  }
  return YOKE_OK;
}

static yoke_status linearise(void* self, yoke_linear* model) {
  circuit_unit* c = self;
  uint32_t n_states = 0;
  YOKE_TRY(yoke__circuit_linearise(c->circuit, c->layout.outputs, c->layout.n_outputs, &n_states,
                                   model->A, model->B, model->C, model->D));
  model->n_states = n_states;
  model->n_inputs = c->layout.n_inputs;
  model->n_outputs = c->layout.n_outputs;
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// what a person should know

static void reason(const void* self, const yoke_sink* sink) {
  send_errors(&((const circuit_unit*)self)->faults, sink);
}

static void report(void* self, const yoke_sink* sink) {
  circuit_unit* c = self;
  yoke_circuit_counts counts;
  // start values that could not be kept or have no effect
  for (size_t i = 0; i < c->warnings.n && c->phase == CIRCUIT_RUNNING && !c->is_start_told; i++) {
    yoke_send(sink, &c->warnings.all[i]);
  }
  c->is_start_told = c->is_start_told || c->phase == CIRCUIT_RUNNING;
  yoke__circuit_get_counts(c->circuit, &counts);
  if (counts.n_unconverged > c->n_unconverged_told) {
    yoke__notify(sink, YOKE_WARNING,
                 "%llu of %llu stages used all iterations without meeting the tolerance; a "
                 "smaller step of the solver helps",
                 (unsigned long long)counts.n_unconverged, (unsigned long long)counts.n_stages);
    c->n_unconverged_told = counts.n_unconverged;
  }
  if (counts.n_repivots > c->n_repivots_told) {
    yoke__notify(sink, YOKE_NOTE, "pivots were chosen anew %llu times during the run",
                 (unsigned long long)counts.n_repivots);
    c->n_repivots_told = counts.n_repivots;
  }
  if (counts.n_cold > c->n_cold_told) {
    yoke__notify(sink, YOKE_WARNING,
                 "%llu of %llu steps ended with a temperature below 0 K; the first was that of "
                 "node '%.60s' at t = %.9g s",
                 (unsigned long long)counts.n_cold, (unsigned long long)counts.n_steps,
                 c->network->nodes[counts.cold_node].name, counts.cold_time);
    c->n_cold_told = counts.n_cold;
  }
}

static bool is_ours(const yoke_unit_ops* ops) {
  return ops->create == create;
}

bool yoke__unit_circuit_figures(const yoke_unit_ops* ops, const void* self,
                                yoke_unit_circuit_figures* out) {
  if (!is_ours(ops)) {
    return false;
  }
  const circuit_unit* c = self;
  yoke_circuit_sizes s;
  yoke_circuit_counts n;
  yoke__circuit_get_sizes(c->circuit, &s);
  yoke__circuit_get_counts(c->circuit, &n);
  *out = (yoke_unit_circuit_figures){
      .title = c->network->title,
      .method = yoke__circuit_method_names[c->options.method],
      .formulation = yoke__circuit_formulation_names[c->options.formulation],
      .step = c->options.step,
      .iterations = c->options.iterations,
      .n = s.n,
      .m = s.m,
      .p = s.p,
      .n_nonzeros = s.n_nonzeros,
      .structural_rank = s.structural_rank,
      .n_solved = s.n_solved,
      .n_solved_nonzeros = s.n_solved_nonzeros,
      .n_factors = s.n_factors,
      .n_bytes = s.n_bytes,
      .is_linear = s.is_linear,
      .is_constant = s.is_constant,
      .n_steps = n.n_steps,
      .n_stages = n.n_stages,
      .n_iterations = n.n_iterations,
      .n_unconverged = n.n_unconverged,
      .n_refactors = n.n_refactors,
      .n_repivots = n.n_repivots,
      .n_switchings = n.n_switchings,
      .n_cached = n.n_cached,
      .max_iterations = n.max_iterations,
  };
  return true;
}

bool yoke__unit_circuit_is_quantity(const yoke_unit_ops* ops, const void* self, size_t variable) {
  return is_ours(ops) &&
         ((const circuit_unit*)self)->layout.slots[variable].kind == CIRCUIT_QUANTITY;
}

// -------------------------------------------------------------------------------------------------
// the file

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static void fill_ops(circuit_file* file) {
  file->ops = (yoke_unit_ops){
      .name = base_name(file->settings.path),
      .text = file->network == NULL ? "" : file->network->title,
      .structure = file->structure,
      .n_structure = file->n_structure,
      .create = create,
      .describe = describe,
      .set = set,
      .get = get,
      .get_values = get_values,
      .enter_init = enter_init,
      .exit_init = exit_init,
      .set_inputs = set_inputs,
      .get_outputs = get_outputs,
      .set_input_derivatives = set_input_derivatives,
      .step = step,
      .refresh = refresh,
      .save = save,
      .restore = restore,
      .derivative = derivative,
      .linearise = linearise,
      .reason = reason,
      .report = report,
      .close = close_unit,
      .context = file,
      .choose_integrals = choose_integrals,
      .get_integrals = get_integrals,
  };
}

// in a process of its own: the other side describes it
static yoke_status create_isolated(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  const circuit_file* file = args->context;
  const yoke_host_plan plan = {.settings = &file->settings};
  return yoke__host_create(&plan, args, self, sink);
}

static void close_file(yoke_unit_file* base) {
  circuit_file* file = (circuit_file*)base;
  yoke__circuit_destroy(&file->circuit);
  yoke__netlist_close(&file->read);
  yoke__arena_free(&file->arena);
  free(file);
}

// the circuit is made at once: what is wrong with it is said with the lines of the netlist
static yoke_status read_netlist(circuit_file* file, yoke_messages* messages) {
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
  YOKE_TRY(
      yoke__circuit_parameters(file->network, &file->arena, &file->structure, &file->n_structure));
  yoke_circuit_options options;
  YOKE_TRY(yoke__circuit_choose_options(file->network, &file->settings, messages, &options));
  return yoke__circuit_create(file->network, &options, messages, &file->circuit);
}

yoke_status yoke__circuit_file_open(const yoke_unit_file_settings* settings,
                                    yoke_messages* messages, yoke_unit_file** out) {
  circuit_file* file = calloc(1, sizeof *file);
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
  if (settings->is_isolated) {
    yoke__circuit_destroy(&file->circuit);
    yoke__host_fill_ops(&file->ops, &file->isolated);
    file->isolated.create = create_isolated;
    file->isolated.context = file;
    file->base.ops = &file->isolated;
  }
  *out = &file->base;
  return YOKE_OK;
}
