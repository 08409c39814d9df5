// A netlist: what is in it, how large its equations are, what a run would use. Its unit is made without a system around it.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_describe.h"
#include "base/base_number.h"
#include "base/base_path.h"
#include "circuit/netlist/circuit_netlist.h"

#define ANY_STEP 1e-3  // of a netlist that gives none; sizes do not depend on it

static const char* const kind_words[YOKE_ELEMENT_N_KINDS] = {
    "resistors",
    "capacitors",
    "inductors",
    "voltage_sources",
    "current_sources",
    "junctions",
    "switches",
    "vcvs",
    "vccs",
    "ccvs",
    "cccs",
};

typedef struct view {
  const char* path;
  const yoke_sink* sink;
  bool is_refused;  // a text of --set, after a message
  yoke_arena arena;
  yoke_messages messages;         // of reader and checks
  yoke_network *plain, *changed;  // as the file stands; with the given parameters, NULL: none
  const yoke_network* network;    // one of them
  yoke_argument* given;           // with the names that the unit has
  size_t n_given;
  yoke_unit_file* file;
  yoke_unit unit;
  bool has_step;  // the netlist gives one
  yoke_unit_circuit_figures figures;
} view;

// ---- parameters

static bool is_same(const char* a, const char* b) {
  while (*a != '\0' && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
    a++;
    b++;
  }
  return *a == *b;
}

// An error about a text of --set.
static yoke_status refuse(view* v, yoke_status status, const char* name, const char* text,
                          const char* hint) {
  char file[128];
  snprintf(file, sizeof file, "--set%s%.80s", name[0] == '\0' ? "" : " ", name);
  const yoke_message message = {.severity = YOKE_ERROR,
                                .status = status,
                                .file = file,
                                .time = (double)NAN,
                                .text = text,
                                .hint = hint};
  yoke_send(v->sink, &message);
  v->is_refused = true;
  return status;
}

// The name that the network has for it.
static yoke_status find_parameter(view* v, const char* name, const char** out) {
  const yoke_network* network = v->plain;
  const char** names =
      yoke__arena_array(&v->arena, (size_t)network->n_parameters + 1, sizeof *names);
  if (names == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (uint32_t i = 0; i < network->n_parameters; i++) {
    names[i] = network->parameters[i].name;
    if (is_same(names[i], name)) {
      *out = names[i];
      return YOKE_OK;
    }
  }
  char text[YOKE_MESSAGE_TEXT_SIZE], hint[160];
  const char* nearest = yoke__nearest_name(name, names, network->n_parameters);
  snprintf(hint, sizeof hint, "did you mean '%.100s'?", nearest == NULL ? "" : nearest);
  snprintf(text, sizeof text, "'%s' has no parameter '%.80s'", v->path, name);
  return refuse(v, YOKE_NO_SUCH_NAME, name, text, nearest == NULL ? NULL : hint);
}

// NAME=VALUE, or the path that the parameter has in a system.
static yoke_status read_set(view* v, const char* text, yoke_argument* to) {
  char unit[128], path[160], wrong[160];
  yoke__path_unit_name(v->path, "circuit", unit, sizeof unit);
  snprintf(path, sizeof path, "units.%s.with.", unit);
  const char* from = strncmp(text, path, strlen(path)) == 0 ? text + strlen(path) : text;
  const char* equals = strchr(from, '=');
  if (equals == NULL || equals == from) {
    snprintf(wrong, sizeof wrong, "expected NAME=VALUE, found '%.80s'", text);
    return refuse(v, YOKE_BAD_ARG, "", wrong, NULL);
  }
  const char* name = yoke__arena_text(&v->arena, from, (size_t)(equals - from));
  double* value = yoke__arena_array(&v->arena, 1, sizeof *value);
  if (name == NULL || value == NULL) {
    return YOKE_NO_MEMORY;
  }
  *to = (yoke_argument){.type = YOKE_REAL, .n_rows = 1, .n_cols = 1, .value = value};
  YOKE_TRY(find_parameter(v, name, &to->name));
  if (!yoke__number_parse_suffix(equals + 1, value)) {
    snprintf(wrong, sizeof wrong, "expected a number, found '%.80s'", equals + 1);
    return refuse(v, YOKE_BAD_ARG, name, wrong, NULL);
  }
  return YOKE_OK;
}

// The netlist as it stands, and with its parameters set; a later value goes before an earlier one.
static yoke_status read_netlist(view* v, const yoke_load_settings* settings) {
  const size_t n = settings->n_sets;
  yoke_netlist_settings netlist = {.path = v->path};
  YOKE_TRY(yoke__netlist_read_file(&netlist, &v->messages, &v->plain));
  v->network = v->plain;
  v->given = yoke__arena_array(&v->arena, n + 1, sizeof *v->given);
  yoke_netlist_parameter* parameters = yoke__arena_array(&v->arena, n + 1, sizeof *parameters);
  if (v->given == NULL || parameters == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (; v->n_given < n; v->n_given++) {
    yoke_argument* given = &v->given[v->n_given];
    YOKE_TRY(read_set(v, settings->sets[v->n_given], given));
    parameters[v->n_given] = (yoke_netlist_parameter){given->name, *(const double*)given->value};
  }
  if (n > 0) {
    netlist.parameters = parameters;
    netlist.n_parameters = n;
    yoke__messages_free(&v->messages);
    YOKE_TRY(yoke__netlist_read_file(&netlist, &v->messages, &v->changed));
    v->network = v->changed;
  }
  return YOKE_OK;
}

// ---- the unit

// The unit as a system would have it. The reader's remarks are known; what is wrong beyond that goes to faults.
static yoke_status make_unit(view* v, yoke_messages* faults) {
  const yoke_circuit_run* run = &v->network->run;
  v->has_step = run->step > 0 || run->step_exact > 0 || run->max_step > 0;
  const yoke_unit_file_settings settings = {.kind = YOKE_KIND_CIRCUIT,
                                            .path = v->path,
                                            .name = "circuit",
                                            .place = {v->path, 0, 0},
                                            .call_step = v->has_step ? 0 : ANY_STEP};
  YOKE_TRY(yoke__circuit_file_open(&settings, faults, &v->file));
  const yoke_unit_args args = {.name = "circuit",
                               .arguments = v->given,
                               .n_arguments = v->n_given,
                               .context = v->file->ops->context};
  const yoke_sink list = yoke__messages_sink(faults);
  yoke_context context;
  yoke__context_init(&context, &list, settings.place, NULL, (double)NAN);
  return yoke__unit_create(v->file->ops, &args, &v->arena, &v->unit, &context.sink);
}

static void receive_warning(void* to, const yoke_message* message) {
  yoke_message m = *message;
  m.severity = YOKE_WARNING;
  m.status = YOKE_OK;
  m.unit = NULL;
  yoke__messages_add(to, &m);
}

// Where the matrix has values only at an operating point, its factors do not exist before the start.
// What keeps it from starting is worth a warning, no more: the netlist can be read.
static void measure(view* v) {
  const yoke_sink warnings = {receive_warning, &v->messages};
  yoke_context context;
  yoke_step_result result = {0};
  yoke__unit_circuit_figures(v->unit.ops, v->unit.self, &v->figures);
  if (v->figures.n_factors > 0 || v->figures.n_solved == 0) {
    return;
  }
  yoke__context_init(&context, &warnings, (yoke_place){v->path, 0, 0}, NULL, (double)NAN);
  if (yoke__unit_enter_init(&v->unit, 0, 1, &context.sink) < 0) {
    return;
  }
  // a first step, whose outcome is of no interest here
  if (yoke__unit_exit_init(&v->unit) >= 0) {
    (void)v->unit.ops->step(v->unit.self, 0, v->figures.step, &result);
  }
  yoke__unit_circuit_figures(v->unit.ops, v->unit.self, &v->figures);
}

// ---- the document

void yoke__describe_sizes(const yoke_unit_circuit_figures* f, yoke_json* json) {
  yoke__json_begin_object(json, "sizes");
  yoke__json_integer(json, "n", f->n);
  yoke__json_integer(json, "m", f->m);
  yoke__json_integer(json, "p", f->p);
  yoke__json_integer(json, "nonzeros", f->n_nonzeros);
  yoke__json_integer(json, "structural_rank", f->structural_rank);
  yoke__json_integer(json, "solved", f->n_solved);
  yoke__json_integer(json, "solved_nonzeros", (int64_t)f->n_solved_nonzeros);
  if (f->n_factors > 0 || f->n_solved == 0) {
    yoke__json_integer(json, "factors", (int64_t)f->n_factors);
  } else {
    yoke__json_null(json, "factors");
  }
  yoke__json_integer(json, "bytes", (int64_t)f->n_bytes);
  yoke__json_boolean(json, "linear", f->is_linear);
  yoke__json_boolean(json, "constant", f->is_constant);
  yoke__json_end_object(json);
}

// nodes without ground
static void describe_elements(const yoke_network* network, yoke_json* json) {
  uint32_t n_fixed = 0, n_of_kind[YOKE_ELEMENT_N_KINDS] = {0};
  for (uint32_t i = 1; i < network->n_nodes; i++) {
    n_fixed += network->nodes[i].is_fixed;
  }
  for (uint32_t i = 0; i < network->n_elements; i++) {
    n_of_kind[network->elements[i].kind]++;
  }
  yoke__json_integer(json, "nodes", network->n_nodes > 0 ? (int64_t)network->n_nodes - 1 : 0);
  yoke__json_integer(json, "fixed_nodes", n_fixed);
  yoke__json_begin_object(json, "elements");
  for (int k = 0; k < YOKE_ELEMENT_N_KINDS; k++) {
    if (n_of_kind[k] > 0) {
      yoke__json_integer(json, kind_words[k], n_of_kind[k]);
    }
  }
  if (network->n_mutuals > 0) {
    yoke__json_integer(json, "couplings", network->n_mutuals);
  }
  yoke__json_end_object(json);
}

static void describe_solver(const view* v, yoke_json* json) {
  const yoke_unit_circuit_figures* f = &v->figures;
  yoke__json_begin_object(json, "solver");
  yoke__json_string(json, "formulation", f->formulation);
  yoke__json_string(json, "method", f->method);
  yoke__json_number(json, "step", v->has_step ? f->step : (double)NAN);
  yoke__json_integer(json, "fixed_iterations", f->iterations);
  yoke__json_end_object(json);
}

static void describe_run(const yoke_circuit_run* run, yoke_json* json) {
  if (!run->has_tran) {
    yoke__json_null(json, "tran");
    return;
  }
  yoke__json_begin_object(json, "tran");
  yoke__json_number(json, "step", run->step);
  yoke__json_number(json, "stop", run->stop);
  yoke__json_number(json, "start", run->start);
  yoke__json_number(json, "max_step", run->max_step);
  yoke__json_boolean(json, "uic", run->is_uic);
  yoke__json_end_object(json);
}

// Values as they are written in the netlist or were given.
static void describe_parameters(const view* v, yoke_json* json) {
  const yoke_unit_ops* ops = v->unit.ops;
  char number[YOKE_NUMBER_SIZE];
  yoke__json_begin_array(json, "parameters");
  for (size_t i = 0; i < ops->n_structure; i++) {
    const yoke_variable* parameter = &ops->structure[i];
    const char* value = parameter->text;
    for (size_t k = 0; k < v->n_given; k++) {
      if (is_same(v->given[k].name, parameter->name)) {
        yoke__number_format(*(const double*)v->given[k].value, number);
        value = number;
      }
    }
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", parameter->name);
    yoke__json_string(json, "value", value);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void describe_variables(const yoke_unit_info* info, yoke_causality causality,
                               const char* key, yoke_json* json) {
  yoke__json_begin_array(json, key);
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* variable = &info->variables[i];
    if (variable->causality != causality) {
      continue;
    }
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", variable->name);
    yoke__json_string(json, "dimension", variable->dim == NULL ? "" : variable->dim);
    if (causality == YOKE_INPUT) {
      yoke__json_number(json, "start", variable->start);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void describe_netlist(const view* v, yoke_json* json) {
  yoke__json_begin_document(json, "circuit");
  yoke__json_string(json, "kind", "circuit");
  yoke__json_string(json, "path", v->path);
  yoke__json_string(json, "title", v->network->title);
  describe_elements(v->network, json);
  yoke__describe_sizes(&v->figures, json);
  describe_solver(v, json);
  describe_run(&v->network->run, json);
  describe_parameters(v, json);
  describe_variables(v->unit.info, YOKE_INPUT, "inputs", json);
  describe_variables(v->unit.info, YOKE_OUTPUT, "outputs", json);
  yoke__describe_feedthrough(v->unit.info, json);
  yoke__describe_messages(&v->messages, json);
  yoke__json_end_object(json);
}

static void release(view* v) {
  yoke__unit_close(&v->unit);
  if (v->file != NULL) {
    v->file->close(v->file);
  }
  yoke__network_destroy(&v->changed);
  yoke__network_destroy(&v->plain);
  yoke__arena_free(&v->arena);
  yoke__messages_free(&v->messages);
}

yoke_status yoke__describe_circuit(const char* path, const yoke_load_settings* settings,
                                   yoke_json* json) {
  view v = {.path = path, .sink = settings->sink};
  yoke_messages faults = {0};
  yoke_status status = read_netlist(&v, settings);
  status = status < 0 ? status : make_unit(&v, &faults);
  if (status >= 0) {
    measure(&v);
    describe_netlist(&v, json);
  } else if (!v.is_refused) {
    const yoke_messages* reasons = faults.n_errors > 0 ? &faults : &v.messages;
    if (yoke__messages_send(reasons, settings->sink) == 0) {
      yoke__fail_at(settings->sink, status, (yoke_place){path, 0, 0}, "%s",
                    yoke_status_text(status));
    }
  }
  yoke__messages_free(&faults);
  release(&v);
  return status;
}
