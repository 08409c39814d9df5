// yoke info of a netlist: reads it and makes its unit without a system around it.
#include "app/app_circuit_view.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_circuit.h"
#include "base/base_path.h"

#define ANY_STEP 1e-3  // sizes do not depend on it

static void count(yoke_circuit_view* v) {
  const yoke_network* network = v->network;
  for (uint32_t n = 1; n < network->n_nodes; n++) {
    v->n_nodes++;
    v->n_fixed += network->nodes[n].is_fixed;
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    v->n_of_kind[network->elements[e].kind]++;
  }
}

static int print(const yoke_circuit_view* v, bool is_json) {
  if (!is_json) {
    yoke__app_circuit_text(v);
    return YOKE_EXIT_OK;
  }
  yoke_json json = {0};
  yoke__app_circuit_json(v, &json);
  return yoke__app_print_json("info", &json) ? YOKE_EXIT_OK : YOKE_EXIT_FAILED;
}

// ---- --set

static bool is_same(const char* a, const char* b) {
  while (*a != '\0' && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
    a++;
    b++;
  }
  return *a == *b;
}

const char* yoke__app_circuit_parameter(const yoke_circuit_view* view,
                                        const yoke_variable* parameter, char to[YOKE_NUMBER_SIZE]) {
  const char* text = parameter->text;
  for (size_t i = 0; i < view->n_given; i++) {
    if (is_same(view->given[i].name, parameter->name)) {
      yoke__number_format(view->given[i].value, to);
      text = to;
    }
  }
  return text;
}

// The name that the network has for it. NULL after a message.
static const char* find_parameter(const yoke_network* network, const char* path, const char* name) {
  for (uint32_t i = 0; i < network->n_parameters; i++) {
    if (is_same(network->parameters[i].name, name)) {
      return network->parameters[i].name;
    }
  }
  const char** names = calloc((size_t)network->n_parameters + 1, sizeof *names);
  for (uint32_t i = 0; names != NULL && i < network->n_parameters; i++) {
    names[i] = network->parameters[i].name;
  }
  char hint[YOKE_HINT_SIZE] = "";
  if (names != NULL) {
    yoke__app_hint(name, names, network->n_parameters, "", hint);
  }
  yoke__app_error("info", "--set %.80s: '%s' has no parameter '%.80s'%s", name, path, name, hint);
  free((void*)names);
  return NULL;
}

// NAME=VALUE, or the path that `yoke check` knows. False after a message.
static bool read_set(const yoke_circuit_view* v, const char* text, yoke_arena* arena,
                     yoke_netlist_parameter* to) {
  char unit[128], path[160];
  yoke__path_unit_name(v->path, "circuit", unit, sizeof unit);
  snprintf(path, sizeof path, "units.%s.with.", unit);
  const char* from = strncmp(text, path, strlen(path)) == 0 ? text + strlen(path) : text;
  const char* equals = strchr(from, '=');
  if (equals == NULL || equals == from) {
    yoke__app_error("info", "--set: expected NAME=VALUE, found '%.80s'", text);
    return false;
  }
  const char* name = yoke__arena_text(arena, from, (size_t)(equals - from));
  if (name == NULL) {
    yoke__app_error("info", "out of memory");
    return false;
  }
  to->name = find_parameter(v->network, v->path, name);
  if (to->name == NULL) {
    return false;
  }
  if (!yoke__number_parse_suffix(equals + 1, &to->value)) {
    yoke__app_error("info", "--set %.80s: expected a number, found '%.80s'", name, equals + 1);
    return false;
  }
  return true;
}

// The values of --set, of which a later one goes before an earlier one. False after a message.
static bool read_sets(const yoke_options* options, yoke_circuit_view* v, yoke_arena* arena) {
  size_t n = 0;
  const char* const* texts = yoke__options_values(options, "set", &n);
  yoke_netlist_parameter* given = yoke__arena_array(arena, n + 1, sizeof *given);
  for (size_t i = 0; given != NULL && i < n; i++) {
    if (!read_set(v, texts[i], arena, &given[i])) {
      return false;
    }
  }
  v->given = given;
  v->n_given = given == NULL ? 0 : n;
  return given != NULL;
}

// ---- the unit

// the unit as a system would have it
static yoke_status make_unit(yoke_circuit_view* v, yoke_messages* messages, yoke_arena* arena,
                             yoke_unit_file** file) {
  const yoke_circuit_run* run = &v->network->run;
  v->has_step = run->step > 0 || run->step_exact > 0 || run->max_step > 0;
  const yoke_unit_file_settings settings = {.kind = YOKE_KIND_CIRCUIT,
                                            .path = v->path,
                                            .name = "circuit",
                                            .place = {v->path, 0, 0},
                                            .call_step = v->has_step ? 0 : ANY_STEP};
  YOKE_TRY(yoke__circuit_file_open(&settings, messages, file));
  yoke_argument* arguments = yoke__arena_array(arena, v->n_given + 1, sizeof *arguments);
  if (arguments == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < v->n_given; i++) {
    arguments[i] = (yoke_argument){v->given[i].name, YOKE_REAL, 1, 1, &v->given[i].value};
  }
  const yoke_unit_args args = {.name = "circuit",
                               .arguments = arguments,
                               .n_arguments = v->n_given,
                               .context = (*file)->ops->context};
  const yoke_sink list = yoke__messages_sink(messages);
  yoke_context context;
  yoke__context_init(&context, &list, settings.place, NULL, (double)NAN);
  return yoke__unit_create((*file)->ops, &args, arena, &v->unit, &context.sink);
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
static void look(yoke_circuit_view* v, yoke_messages* messages) {
  const yoke_sink warnings = {receive_warning, messages};
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

// What was taken for a view.
typedef struct parts {
  yoke_messages messages, again;
  yoke_network *plain, *network;  // as the file stands; with --set
  yoke_unit_file* file;
  yoke_arena arena;
} parts;

static void release(parts* p, yoke_circuit_view* view) {
  yoke__unit_close(&view->unit);
  if (p->file != NULL) {
    p->file->close(p->file);
  }
  yoke__network_destroy(&p->network);
  yoke__network_destroy(&p->plain);
  yoke__arena_free(&p->arena);
  yoke__messages_free(&p->again);
  yoke__messages_free(&p->messages);
}

// The netlist with --set; *is_told: the reason of a failure is out.
static yoke_status read_netlist(const yoke_options* options, yoke_circuit_view* view, parts* p,
                                bool* is_told) {
  yoke_netlist_settings settings = {.path = view->path};
  YOKE_TRY(yoke__netlist_read_file(&settings, &p->messages, &p->plain));
  view->network = p->plain;
  if (!read_sets(options, view, &p->arena)) {
    *is_told = true;
    return YOKE_BAD_ARG;
  }
  if (view->n_given == 0) {
    return YOKE_OK;
  }
  yoke__messages_free(&p->messages);
  settings.parameters = view->given;
  settings.n_parameters = view->n_given;
  YOKE_TRY(yoke__netlist_read_file(&settings, &p->messages, &p->network));
  view->network = p->network;
  return YOKE_OK;
}

int yoke__app_show_circuit(const yoke_options* options, bool is_json) {
  parts p = {0};
  bool is_told = false;
  yoke_circuit_view view = {.path = options->operands[0], .messages = &p.messages};
  yoke_status status = read_netlist(options, &view, &p, &is_told);
  if (status >= 0) {
    count(&view);
    status = make_unit(&view, &p.again, &p.arena, &p.file);
  }
  int exit_status = YOKE_EXIT_USAGE;
  if (status >= 0) {
    look(&view, &p.messages);
    exit_status = print(&view, is_json);
  } else if (!is_told) {
    yoke__messages_print(p.again.n_errors > 0 ? &p.again : &p.messages, stderr);
    if (p.again.n_errors + p.messages.n_errors == 0) {
      yoke__app_error("info", "%s: %s", view.path, yoke_status_text(status));
    }
  }
  release(&p, &view);
  return exit_status;
}
