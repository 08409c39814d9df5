// A circuit unit or a twin whose parameters may be set until it is initialised.
//
// The parameters of a netlist shape its equations, so the unit inside is made anew, with the start
// values and inputs that were given, when it is initialised with others than it was made with.
// Variables: those of the inner unit, then the parameters that are plain numbers.
#include "export/export_circuit.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/base_check.h"
#include "unit/circuit/unit_circuit.h"
#include "unit/twin/unit_twin.h"

struct yoke_export_circuit {
  yoke_unit_file* inner;
  yoke_unit_ops ops;
};

typedef struct circuit_fmu {
  const yoke_export_circuit* file;
  const char* name;  // of the unit
  yoke_arena arena, inner_arena;
  yoke_unit inner;
  yoke_unit_info info;
  size_t n_inner, n_parameters;
  const char** names;  // of parameters
  // what an image begins with: values of the parameters, start values that were set
  double* parameters;
  double* starts;   // per inner variable; NaN: not set
  double* made;     // parameters that the inner unit was made with
  bool is_started;  // initialised: values are those of the inner unit
  bool is_stale;    // the inner unit has run: it cannot begin again
} circuit_fmu;

static void close_unit(void* self);

// -------------------------------------------------------------------------------------------------
// the inner unit

static yoke_status make_inner(circuit_fmu* c, const yoke_sink* sink) {
  const yoke_unit_ops* ops = c->file->inner->ops;
  yoke_arena scratch = {0};
  yoke_argument* arguments = yoke__arena_array(&scratch, c->n_parameters + 1, sizeof *arguments);
  size_t n = 0;
  YOKE_TRY_MEMORY(arguments);
  // what is as the netlist says stays unsaid: the unit is then made of the file as it is
  for (size_t i = 0; i < c->n_parameters; i++) {
    const double start = c->info.variables[c->n_inner + i].start;
    if (c->parameters[i] != start) {
      arguments[n++] = (yoke_argument){.name = c->names[i],
                                       .type = YOKE_REAL,
                                       .n_rows = 1,
                                       .n_cols = 1,
                                       .value = &c->parameters[i]};
    }
  }
  const yoke_unit_args args = {
      .name = c->name, .arguments = arguments, .n_arguments = n, .context = ops->context};
  const yoke_status status = yoke__unit_create(ops, &args, &c->inner_arena, &c->inner, sink);
  yoke__arena_free(&scratch);
  if (status >= 0 && c->n_parameters > 0) {
    memcpy(c->made, c->parameters, c->n_parameters * sizeof *c->made);
  }
  return status;
}

static bool is_made_with(const circuit_fmu* c) {
  return c->n_parameters == 0 ||
         memcmp(c->made, c->parameters, c->n_parameters * sizeof *c->made) == 0;
}

// A fresh inner unit with what was set.
static yoke_status remake(circuit_fmu* c, const yoke_sink* sink) {
  yoke__unit_close(&c->inner);
  yoke__arena_free(&c->inner_arena);
  YOKE_TRY(make_inner(c, sink));
  if (c->inner.info->n_variables != c->n_inner) {
    return yoke_fail(sink, YOKE_NO_SUPPORT, "with these parameters it has other variables");
  }
  for (size_t i = 0; i < c->n_inner; i++) {
    if (!isnan(c->starts[i])) {
      YOKE_TRY(yoke__unit_set(&c->inner, i, &c->starts[i], sizeof c->starts[i]));
    }
  }
  c->is_stale = false;
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// making

// A parameter that is an expression follows from others; one that is also an input is set there.
static bool is_settable(const circuit_fmu* c, const yoke_variable* parameter) {
  return !isnan(parameter->start) && yoke__unit_find(&c->inner, parameter->name) == (size_t)-1;
}

static double argument_of(const yoke_unit_args* args, const yoke_variable* parameter) {
  for (size_t i = 0; i < args->n_arguments; i++) {
    const yoke_argument* a = &args->arguments[i];
    if (strcmp(a->name, parameter->name) == 0 && a->type == YOKE_REAL) {
      return *(const double*)a->value;
    }
  }
  return parameter->start;
}

// Names and values of parameters, then the list of all variables.
static yoke_status lay_out(circuit_fmu* c, const yoke_unit_args* args) {
  const yoke_unit_ops* ops = c->file->inner->ops;
  const yoke_unit_info* inner = c->inner.info;
  c->n_inner = inner->n_variables;
  yoke_variable* variables =
      yoke__arena_array(&c->arena, c->n_inner + ops->n_structure + 1, sizeof *variables);
  c->names = yoke__arena_array(&c->arena, ops->n_structure + 1, sizeof *c->names);
  c->parameters = yoke__arena_array(&c->arena, ops->n_structure + c->n_inner + 1, sizeof(double));
  c->made = yoke__arena_array(&c->arena, ops->n_structure + 1, sizeof(double));
  YOKE_TRY_MEMORY(variables && c->names && c->parameters && c->made);
  // texts of the inner unit die with it: names are copied
  for (size_t i = 0; i < c->n_inner; i++) {
    variables[i] = inner->variables[i];
    const char* dim = inner->variables[i].dim;
    variables[i].name =
        yoke__arena_text(&c->arena, inner->variables[i].name, strlen(inner->variables[i].name));
    variables[i].dim = dim == NULL ? NULL : yoke__arena_text(&c->arena, dim, strlen(dim));
    YOKE_TRY_MEMORY(variables[i].name);
  }
  for (size_t i = 0; i < ops->n_structure; i++) {
    if (is_settable(c, &ops->structure[i])) {
      variables[c->n_inner + c->n_parameters] = ops->structure[i];
      variables[c->n_inner + c->n_parameters].text = "parameter of the netlist";
      c->names[c->n_parameters] = ops->structure[i].name;
      c->parameters[c->n_parameters++] = argument_of(args, &ops->structure[i]);
    }
  }
  c->info.variables = variables;
  c->info.n_variables = c->n_inner + c->n_parameters;
  c->starts = c->parameters + c->n_parameters;
  for (size_t i = 0; i < c->n_inner; i++) {
    c->starts[i] = (double)NAN;
  }
  return YOKE_OK;
}

static size_t head_size(const circuit_fmu* c) {
  return ((c->n_parameters + c->n_inner + 1) * sizeof(double) + 15u) & ~(size_t)15u;
}

static yoke_status build(circuit_fmu* c, const yoke_unit_args* args, const yoke_sink* sink) {
  // once as the netlist stands, to see what there is
  YOKE_TRY(make_inner(c, sink));
  YOKE_TRY(lay_out(c, args));
  for (size_t i = 0; i < c->n_parameters; i++) {
    c->made[i] = c->info.variables[c->n_inner + i].start;
  }
  if (!is_made_with(c)) {
    YOKE_TRY(remake(c, sink));
  }
  const yoke_unit_info* inner = c->inner.info;
  yoke_feedthrough* pairs = yoke__arena_array(&c->arena, inner->n_feedthrough + 1, sizeof *pairs);
  YOKE_TRY_MEMORY(pairs);
  if (inner->n_feedthrough > 0) {
    memcpy(pairs, inner->feedthrough, inner->n_feedthrough * sizeof *pairs);
  }
  c->info.feedthrough = pairs;
  c->info.n_feedthrough = inner->n_feedthrough;
  c->info.flags = inner->flags;
  c->info.cost_s = inner->cost_s;
  c->info.solver = inner->solver;
  c->info.image_size = head_size(c) + yoke__unit_image_size(&c->inner);
  return YOKE_OK;
}

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  circuit_fmu* c = calloc(1, sizeof *c);
  if (c == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  c->file = args->context;
  c->name = yoke__arena_text(&c->arena, args->name == NULL ? "" : args->name,
                             args->name == NULL ? 0 : strlen(args->name));
  const yoke_status status = c->name == NULL ? YOKE_NO_MEMORY : build(c, args, sink);
  if (status < 0) {
    close_unit(c);
  } else {
    *self = c;
  }
  return status;
}

static void close_unit(void* self) {
  circuit_fmu* c = self;
  yoke__unit_close(&c->inner);
  yoke__arena_free(&c->inner_arena);
  yoke__arena_free(&c->arena);
  free(c);
}

static const yoke_unit_info* describe(const void* self) {
  return &((const circuit_fmu*)self)->info;
}

// -------------------------------------------------------------------------------------------------
// variables

static yoke_status set(void* self, size_t variable, const void* value, size_t size) {
  circuit_fmu* c = self;
  double number = 0;
  if (size != sizeof number || variable >= c->info.n_variables) {
    return YOKE_BAD_ARG;
  }
  memcpy(&number, value, sizeof number);
  if (variable >= c->n_inner) {
    if (c->is_started || !yoke__is_finite(number)) {
      return c->is_started ? YOKE_NO_SUPPORT : YOKE_BAD_ARG;
    }
    c->parameters[variable - c->n_inner] = number;
    return YOKE_OK;
  }
  YOKE_TRY(yoke__unit_set(&c->inner, variable, value, size));
  c->starts[variable] = number;
  return YOKE_OK;
}

static bool has_start(const yoke_variable* v) {
  return v->causality == YOKE_STATE ? (v->flags & YOKE_VARIABLE_READ_ONLY) == 0
                                    : (v->flags & YOKE_VARIABLE_HAS_START) != 0;
}

static yoke_status get(const void* self, size_t variable, void* value, size_t size) {
  const circuit_fmu* c = self;
  const yoke_variable* v = &c->info.variables[variable];
  if (size != sizeof(double) || variable >= c->info.n_variables) {
    return YOKE_BAD_ARG;
  }
  if (variable >= c->n_inner) {
    memcpy(value, &c->parameters[variable - c->n_inner], size);
    return YOKE_OK;
  }
  // before it is initialised a state is what it will start from
  if (!c->is_started && v->causality != YOKE_INPUT && has_start(v)) {
    const double start = isnan(c->starts[variable]) ? v->start : c->starts[variable];
    memcpy(value, &start, size);
    return YOKE_OK;
  }
  return yoke__unit_get(&c->inner, variable, value, size);
}

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  (void)n_u;
  return yoke__unit_set_inputs(&((circuit_fmu*)self)->inner, u);
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  (void)n_y;
  return yoke__unit_get_outputs(&((const circuit_fmu*)self)->inner, y);
}

// -------------------------------------------------------------------------------------------------
// initialisation and steps

static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  circuit_fmu* c = self;
  if (c->is_stale || !is_made_with(c)) {
    YOKE_TRY(remake(c, sink));
  }
  YOKE_TRY(yoke__unit_enter_init(&c->inner, t_start, t_stop, sink));
  c->is_started = c->is_stale = true;
  return YOKE_OK;
}

static yoke_status exit_init(void* self) {
  return yoke__unit_exit_init(&((circuit_fmu*)self)->inner);
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  circuit_fmu* c = self;
  return c->inner.ops->step(c->inner.self, t, h, result);
}

static yoke_status refresh(void* self, double t) {
  circuit_fmu* c = self;
  return c->inner.ops->refresh(c->inner.self, t);
}

// -------------------------------------------------------------------------------------------------
// states: parameters, start values, whether it is started, image of the inner unit

static yoke_status save(const void* self, void* image, size_t size) {
  const circuit_fmu* c = self;
  const size_t n = c->n_parameters + c->n_inner;
  const double is_started = c->is_started ? 1.0 : 0.0;
  if (size != c->info.image_size) {
    return YOKE_BAD_ARG;
  }
  if (n > 0) {
    memcpy(image, c->parameters, n * sizeof(double));
  }
  memcpy((char*)image + n * sizeof(double), &is_started, sizeof is_started);
  return yoke__unit_save(&c->inner, (char*)image + head_size(c), size - head_size(c));
}

static yoke_status restore(void* self, const void* image, size_t size) {
  circuit_fmu* c = self;
  const size_t n = c->n_parameters + c->n_inner;
  double is_started = 0.0;
  if (size != c->info.image_size) {
    return YOKE_BAD_ARG;
  }
  if (n > 0) {
    memcpy(c->parameters, image, n * sizeof(double));
  }
  memcpy(&is_started, (const char*)image + n * sizeof(double), sizeof is_started);
  c->is_started = is_started > 0.0;
  if (!c->is_started) {
    // what the inner unit holds is of no use; its inputs are read before it is made anew
    c->is_stale = true;
    for (size_t i = 0; i < c->n_inner; i++) {
      const yoke_variable* v = &c->info.variables[i];
      if (v->causality == YOKE_INPUT) {
        const double u = isnan(c->starts[i]) ? v->start : c->starts[i];
        YOKE_TRY(yoke__unit_set(&c->inner, i, &u, sizeof u));
      }
    }
    return YOKE_OK;
  }
  // a state of other parameters, saved by another instance
  if (!is_made_with(c)) {
    YOKE_TRY(remake(c, NULL));
    YOKE_TRY(yoke__unit_enter_init(&c->inner, 0.0, 0.0, NULL));
    YOKE_TRY(yoke__unit_exit_init(&c->inner));
  }
  c->is_stale = true;
  return yoke__unit_restore(&c->inner, (const char*)image + head_size(c), size - head_size(c));
}

// -------------------------------------------------------------------------------------------------
// derivatives and words

static yoke_status derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                              const size_t knowns[], size_t n_knowns, const double seed[],
                              double out[]) {
  circuit_fmu* c = self;
  for (size_t i = 0; i < n_unknowns; i++) {
    if (unknowns[i] >= c->n_inner) {
      return YOKE_NO_SUPPORT;
    }
  }
  for (size_t i = 0; i < n_knowns; i++) {
    if (knowns[i] >= c->n_inner) {
      return YOKE_NO_SUPPORT;
    }
  }
  return c->inner.ops->derivative(c->inner.self, unknowns, n_unknowns, knowns, n_knowns, seed, out);
}

static yoke_status linearise(void* self, yoke_linear* model) {
  circuit_fmu* c = self;
  return c->inner.ops->linearise(c->inner.self, model);
}

static void reason(const void* self, const yoke_sink* sink) {
  yoke__unit_reason(&((const circuit_fmu*)self)->inner, sink);
}

// -------------------------------------------------------------------------------------------------
// the file

yoke_status yoke__export_circuit_open(const yoke_unit_file_settings* settings,
                                      yoke_export_circuit** out, const yoke_sink* sink) {
  yoke_unit_file_settings own = *settings;
  yoke_export_circuit* file = calloc(1, sizeof *file);
  yoke_messages messages = {0};
  *out = NULL;
  YOKE_TRY_MEMORY(file);
  own.is_isolated = false;
  own.netlist = NULL;
  const bool is_twin = own.kind == YOKE_KIND_TWIN;
  const yoke_status status = is_twin ? yoke__twin_file_open(&own, &messages, &file->inner)
                                     : yoke__circuit_file_open(&own, &messages, &file->inner);
  for (size_t i = 0; i < messages.n && status < 0; i++) {
    yoke_send(sink, &messages.all[i]);
  }
  yoke__messages_free(&messages);
  if (status < 0) {
    free(file);
    return status;
  }
  file->ops = (yoke_unit_ops){
      .name = is_twin ? YOKE_EXPORT_TWIN : YOKE_EXPORT_CIRCUIT,
      .text = file->inner->ops->text,
      .structure = file->inner->ops->structure,
      .n_structure = file->inner->ops->n_structure,
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
      .derivative = file->inner->ops->derivative == NULL ? NULL : derivative,
      .linearise = file->inner->ops->linearise == NULL ? NULL : linearise,
      .reason = reason,
      .close = close_unit,
      .context = file,
  };
  *out = file;
  return YOKE_OK;
}

void yoke__export_circuit_close(yoke_export_circuit** file) {
  if (*file != NULL) {
    (*file)->inner->close((*file)->inner);
    free(*file);
    *file = NULL;
  }
}

const yoke_unit_ops* yoke__export_circuit_ops(const yoke_export_circuit* file) {
  return &file->ops;
}
