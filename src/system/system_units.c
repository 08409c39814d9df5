// Stage 1: instances of all units and laws, with their parameters and start values.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_call.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "system/system.h"
#include "system/system_port.h"
#include "system/system_twin.h"
#include "unit/fmu/unit_fmu.h"
#include "unit/port/unit_port.h"

// the heaviest work that still fits one thread's share makes a second thread pay [s]
#define WORTH_A_THREAD 20e-6
#define MAX_THREADS    256  // as the reader of system files allows

static const char* const causality_words[] = {"an input", "an output", "a parameter",
                                              "a tunable parameter", "a state"};

// ---------------------------------------------------------------------------------------------------------
// settings

static void report_no_memory(yoke_system* system, const yoke_setting* setting, const char* what) {
  yoke__messages_fail(system->messages, YOKE_NO_MEMORY, setting->value->place, "%s: %s", what,
                      yoke_status_text(YOKE_NO_MEMORY));
}

// The values of a setting. All failures have their message.
static yoke_status read_values(yoke_system* system, const yoke_setting* setting,
                               const yoke_variable* variable, const char* what, void** values,
                               size_t* n_rows, size_t* n_cols) {
  const yoke_status status =
      yoke__node_values(setting->value, variable->type, variable->items, what, &system->arena,
                        system->messages, values, n_rows, n_cols);
  if (status == YOKE_NO_MEMORY) {
    report_no_memory(system, setting, what);
  }
  return status;
}

// A value of the file as storage of the variable's type; NULL after a message.
static void* convert(yoke_system* system, const yoke_setting* setting,
                     const yoke_variable* variable, const char* what) {
  void* values = NULL;
  size_t n_rows = 0, n_cols = 0;
  if (read_values(system, setting, variable, what, &values, &n_rows, &n_cols) < 0) {
    return NULL;
  }
  const size_t n = yoke__variable_count(variable);
  const size_t want_rows = variable->n_rows == 0 ? 1 : variable->n_rows;
  const size_t want_cols = variable->n_cols == 0 ? 1 : variable->n_cols;
  const bool is_vector = want_rows == 1 || want_cols == 1;
  if (n_rows * n_cols != n || (!is_vector && n_rows != want_rows)) {
    if (n == 1) {
      yoke__error(system->messages, setting->value->place, "%s: expected one value, found %zu",
                  what, n_rows * n_cols);
    } else if (is_vector) {
      yoke__error(system->messages, setting->value->place,
                  "%s: expected a list of %zu values, found %zu", what, n, n_rows * n_cols);
    } else {
      yoke__error(system->messages, setting->value->place,
                  "%s: expected %zu rows of %zu values, found %zu x %zu", what, want_rows,
                  want_cols, n_rows, n_cols);
    }
    return NULL;
  }
  if (variable->type != YOKE_STRING) {
    return values;
  }

  // texts go from pointers into fixed room
  char* room = yoke__arena_array(&system->arena, n, variable->max_size);
  const char* const* texts = values;
  if (room == NULL) {
    report_no_memory(system, setting, what);
  }
  for (size_t i = 0; room != NULL && i < n; i++) {
    if (strlen(texts[i]) >= variable->max_size) {
      yoke__error(system->messages, setting->value->place, "%s: the text is longer than %zu bytes",
                  what, variable->max_size - 1);
      return NULL;
    }
    memcpy(room + i * variable->max_size, texts[i], strlen(texts[i]) + 1);
  }
  return room;
}

// can a start value be given
static bool has_start(const yoke_variable* variable) {
  return (variable->causality == YOKE_STATE && (variable->flags & YOKE_VARIABLE_READ_ONLY) == 0) ||
         variable->causality == YOKE_INPUT ||
         (variable->causality == YOKE_OUTPUT && (variable->flags & YOKE_VARIABLE_HAS_START) != 0);
}

// the names a user may write in this place, for "did you mean"
static const char* nearest_setting(const yoke_system_unit* unit, bool is_start, const char* name) {
  const yoke_unit_ops* ops = unit->unit.ops;
  const yoke_unit_info* info = unit->unit.info;
  const char* nearest = NULL;
  for (size_t i = 0; i < ops->n_structure && !is_start; i++) {
    nearest = yoke__nearer_name(name, nearest, ops->structure[i].name);
  }
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_causality c = info->variables[i].causality;
    const bool is_parameter = c == YOKE_PARAMETER || c == YOKE_TUNABLE;
    if (is_start ? has_start(&info->variables[i]) : is_parameter) {
      nearest = yoke__nearer_name(name, nearest, info->variables[i].name);
    }
  }
  return nearest;
}

static void report_unknown_setting(yoke_system* system, const yoke_system_unit* unit,
                                   const yoke_setting* setting, bool is_start) {
  const char* nearest = nearest_setting(unit, is_start, setting->name);
  const char* name = unit->unit.ops->name;
  const bool is_listed =
      nearest == NULL && yoke__models_find(yoke__registry_units(system->registry), name) != NULL;
  yoke__error_near(system->messages, setting->place, nearest, "'%s' has no %s '%s'%s%s", name,
                   is_start ? "state or input" : "parameter", setting->name,
                   is_listed ? "; see yoke info " : "", is_listed ? name : "");
}

// the place in which a setting stands
typedef enum setting_kind { SETTING_WITH, SETTING_START, SETTING_VALUE } setting_kind;

static void apply_setting(yoke_system* system, yoke_system_unit* unit, const yoke_setting* setting,
                          setting_kind kind) {
  const size_t index = yoke__unit_find(&unit->unit, setting->name);
  bool is_start = kind == SETTING_START;
  if (index == YOKE_NOT_FOUND) {
    report_unknown_setting(system, unit, setting, is_start);
    return;
  }
  const yoke_variable* variable = &unit->unit.info->variables[index];
  const yoke_causality c = variable->causality;
  const bool is_parameter = c == YOKE_PARAMETER || c == YOKE_TUNABLE;
  is_start = kind == SETTING_VALUE ? !is_parameter : is_start;
  if (is_start ? !has_start(variable) : !is_parameter) {
    yoke__error(system->messages, setting->place, "'%s' of '%s' is %s%s", setting->name,
                unit->unit.ops->name, causality_words[c],
                !has_start(variable) && !is_parameter ? " and cannot be set"
                : is_start                            ? "; set it under 'with'"
                                                      : "; set it under 'start'");
    return;
  }
  char what[256];
  snprintf(what, sizeof what, "%s '%s' of '%s'", is_start ? "start value" : "parameter",
           setting->name, unit->name);
  const void* value = convert(system, setting, variable, what);
  if (value == NULL) {
    return;
  }
  const yoke_status status =
      yoke__unit_set(&unit->unit, index, value, yoke__variable_size(variable));
  if (status < 0) {
    YOKE_CATCH(why);
    yoke__unit_reason(&unit->unit, &why.sink);
    yoke__error(system->messages, setting->place, "%s was refused by the unit%s%s", what,
                why.text[0] == '\0' ? "" : ": ", why.text);
  }
}

// ---------------------------------------------------------------------------------------------------------
// creation

static const yoke_variable* find_structure(const yoke_unit_ops* ops, const char* name) {
  for (size_t i = 0; i < ops->n_structure; i++) {
    if (strcmp(ops->structure[i].name, name) == 0) {
      return &ops->structure[i];
    }
  }
  return NULL;
}

// the settings that create needs, as arguments; their shape is the unit's business
static yoke_status collect_arguments(yoke_system* system, const yoke_system_unit* unit,
                                     yoke_unit_args* args) {
  const yoke_scenario_unit* source = unit->source;
  yoke_argument* arguments =
      yoke__arena_array(&system->arena, source->n_with + source->n_values + 1, sizeof *arguments);
  YOKE_TRY_MEMORY(arguments);
  *args = (yoke_unit_args){unit->name, system->scenario->directory, arguments, 0,
                           unit->unit.ops->context};
  bool is_sound = true;
  for (size_t i = 0; i < source->n_with + source->n_values; i++) {
    const yoke_setting* setting =
        i < source->n_with ? &source->with[i] : &source->values[i - source->n_with];
    const yoke_variable* variable = find_structure(unit->unit.ops, setting->name);
    if (variable == NULL) {
      continue;
    }
    char what[256];
    snprintf(what, sizeof what, "parameter '%s' of '%s'", setting->name, unit->name);
    void* values = NULL;
    size_t n_rows = 0, n_cols = 0;
    if (read_values(system, setting, variable, what, &values, &n_rows, &n_cols) < 0) {
      is_sound = false;
      continue;
    }
    arguments[args->n_arguments++] =
        (yoke_argument){variable->name, variable->type, n_rows, n_cols, values};
  }
  return is_sound ? YOKE_OK : YOKE_BAD_INPUT;
}

// Spinning pays only while every thread and every isolated unit has a processor of its own.
static yoke_unit_wait choose_wait(const yoke_system* system, const yoke_scenario_unit* source) {
  if (source->isolation.wait != YOKE_SCENARIO_WAIT_AUTO) {
    return (yoke_unit_wait)source->isolation.wait;
  }
  int n = system->n_threads;
  for (size_t i = 0; i < system->scenario->n_units; i++) {
    n += system->scenario->units[i].isolation.is_given;
  }
  return n <= yoke__os_n_processors() ? YOKE_WAIT_AUTO : YOKE_WAIT_SLEEP;
}

static bool is_file(const yoke_scenario_unit* source) {
  return source->kind == YOKE_KIND_FMU || source->kind == YOKE_KIND_CIRCUIT ||
         source->kind == YOKE_KIND_LIBRARY ||
         (source->kind == YOKE_KIND_TWIN && source->twin.box != YOKE_KIND_MODEL);
}

// an FMU, a netlist, a library, or a native model that is to run in a process of its own
yoke_status yoke__system_file_settings(yoke_system* system, const yoke_system_unit* unit,
                                       yoke_unit_file_settings* settings) {
  const yoke_scenario_unit* source = unit->source;
  const char* path = source->type;
  // messages name a file beside the system file as it was typed
  if (is_file(source) && path[0] != '/' && strcmp(system->scenario->directory, ".") != 0) {
    const size_t n = yoke__os_path_join(system->scenario->directory, source->type, NULL, 0) + 1;
    char* joined = yoke__arena_take(&system->arena, n);
    YOKE_TRY_MEMORY(joined);
    yoke__os_path_join(system->scenario->directory, source->type, joined, n);
    path = joined;
  }
  const yoke_twin_settings* twin = NULL;
  if (source->kind == YOKE_KIND_TWIN) {
    twin = yoke__system_twin_settings(system, source);
    YOKE_TRY_MEMORY(twin);
  }
  *settings = (yoke_unit_file_settings){
      .kind = source->kind,
      .twin = twin,
      .path = path,
      .model = source->model,
      .name = unit->name,
      .place = source->type_place,
      .model_place = source->model_place,
      .interface_type = (yoke_unit_interface)source->interface_type,
      .solver = source->solver.method,
      .solver_step = source->solver.step,
      .solver_tolerance = source->solver.tolerance,
      .is_paced = system->scenario->pacing.is_given,
      .solver_formulation = source->solver.formulation,
      .solver_iterations = (int)source->solver.iterations,
      .netlist = source->type == system->scenario->netlist_path ? system->scenario->netlist : NULL,
      .call_step = source->step.is_given ? source->step.value
                   : unit->n_calls > 1   ? system->scenario->step.value / (double)unit->n_calls
                                         : system->scenario->step.value,
      .n_calls = unit->n_calls,
      .has_internal_step = source->has_internal_step,
      .internal_step = source->internal_step,
      .is_logging = source->is_logging,
      .is_event_mode_off = source->is_event_mode_off,
      .is_fresh = unit->is_fresh,
      .is_iterated = yoke__system_is_iterative(system) &&
                     system->scenario->iteration.mode != YOKE_ITERATE_HOLD_END,
      .is_isolated = source->isolation.is_given,
      .wait = choose_wait(system, source),
      .timeout_s = source->isolation.timeout_s,
      .max_memory = (uint64_t)source->isolation.memory,
  };
  return YOKE_OK;
}

static yoke_status open_file(yoke_system* system, yoke_system_unit* unit) {
  const yoke_scenario_unit* source = unit->source;
  const yoke_sink sink = yoke__messages_sink(system->messages);
  yoke_context about;
  yoke__context_init(&about, &sink, source->type_place, unit->name, (double)NAN);
  if (system->store == NULL) {
    YOKE_TRY(yoke__unit_store_create(&system->store));
  }
  yoke_unit_file_settings settings;
  YOKE_TRY(yoke__system_file_settings(system, unit, &settings));

  // said with the line that names it, not with the place of an unpacked archive
  if (is_file(source) && !yoke__os_is_file(settings.path) &&
      !yoke__os_is_directory(settings.path)) {
    return yoke_fail(&about.sink, YOKE_BAD_INPUT, "there is no file '%s'", source->type);
  }
  yoke_messages found = {0};
  const yoke_status status =
      yoke__unit_store_open(system->store, &settings, &found, &unit->unit.ops);
  if (status < 0 && found.n_errors == 0) {
    yoke_fail(&about.sink, status, "%s", yoke_status_text(status));
  }
  yoke__messages_merge(system->messages, &found);
  yoke__messages_free(&found);
  return yoke__status_is_shortage(status) ? status : status < 0 ? YOKE_BAD_INPUT : YOKE_OK;
}

static yoke_status find_type(yoke_system* system, yoke_system_unit* unit) {
  const yoke_scenario_unit* source = unit->source;
  if (source->type == NULL) {
    return YOKE_BAD_INPUT;  // reported when the file was read
  }
  if (is_file(source)) {
    return open_file(system, unit);
  }
  if (source->kind == YOKE_KIND_PORT) {
    // its table is made with the port; one without a peer was reported
    return source->port.peer == NULL ? YOKE_BAD_INPUT : YOKE_OK;
  }
  // a model, perhaps behind a twin
  const yoke_unit_ops* ops =
      yoke__models_find(yoke__registry_units(system->registry), source->type);
  if (ops == NULL) {
    const char* nearest =
        yoke__models_nearest(yoke__registry_units(system->registry), source->type);
    return yoke__error_near(system->messages, source->type_place, nearest, "unknown model '%s'%s",
                            source->type,
                            nearest == NULL ? "; `yoke info` lists the known ones" : "");
  }
  unit->unit.ops = ops;
  return source->isolation.is_given || source->kind == YOKE_KIND_TWIN ? open_file(system, unit)
                                                                      : YOKE_OK;
}

// A unit behind a port keeps its variables and loses its steps.
static yoke_status wrap_port(yoke_system* system, yoke_system_unit* unit) {
  const yoke_scenario_port* port = &unit->source->port;
  yoke_port_bounds* limits = yoke__arena_array(&system->arena, port->n_limits + 1, sizeof *limits);
  YOKE_TRY_MEMORY(limits);
  for (size_t i = 0; i < port->n_limits; i++) {
    const yoke_scenario_bounds* from = &port->limits[i];
    limits[i] = (yoke_port_bounds){from->name, from->place, from->min, from->max, from->slope};
  }
  const yoke_port_signals* signals = NULL;
  if (unit->source->kind == YOKE_KIND_PORT) {
    signals = yoke__system_port_signals(port, &system->arena);
    YOKE_TRY_MEMORY(signals);
    unit->unit.ops = &signals->ops;
  }
  const yoke_port_settings settings = {.signals = signals,
                                       .carrier = (yoke_carrier_kind)port->carrier,
                                       .peer = port->peer,
                                       .bind = port->bind,
                                       .timeout_s = port->timeout_s,
                                       .is_paced = port->clock == YOKE_PORT_PACED,
                                       .has_frames = port->protocol == YOKE_PORT_FRAMES,
                                       .most_lost = port->most_lost,
                                       .limits = limits,
                                       .n_limits = port->n_limits};
  unit->unit.ops = yoke__port_wrap(unit->unit.ops, &settings, &system->arena);
  YOKE_TRY_MEMORY(unit->unit.ops);
  return YOKE_OK;
}

// An instance by the table of the unit, with its settings.
static yoke_status create_unit(yoke_system* system, yoke_system_unit* unit) {
  yoke_unit_args args;
  YOKE_TRY(collect_arguments(system, unit, &args));
  const yoke_sink sink = yoke__messages_sink(system->messages);
  const size_t n_errors = system->messages->n_errors;
  yoke_context about;
  yoke__context_init(&about, &sink, unit->source->place, unit->name, (double)NAN);
  const yoke_call_scope scope = yoke__call_begin_at(unit->name, "creation", (double)NAN);
  const yoke_status status =
      yoke__unit_create(unit->unit.ops, &args, &system->arena, &unit->unit, &about.sink);
  yoke__call_end(&scope);
  if (status < 0) {
    if (system->messages->n_errors == n_errors) {
      yoke_fail(&about.sink, status, "cannot be created: %s", yoke_status_text(status));
    }
    return yoke__status_is_shortage(status) ? status : YOKE_BAD_INPUT;
  }
  const bool is_algebraic = (unit->unit.info->flags & YOKE_UNIT_ALGEBRAIC) != 0;
  if (unit->is_law && !is_algebraic) {
    yoke__error(system->messages, unit->source->type_place,
                "'%s' has a state of its own and cannot be a law; list it under 'units'",
                unit->unit.ops->name);
  } else if (!unit->is_law && unit->unit.ops->step == NULL) {
    yoke__error(system->messages, unit->source->type_place,
                "'%s' cannot be stepped; list it under 'laws'", unit->unit.ops->name);
  }
  for (size_t i = 0; i < unit->source->n_with; i++) {
    if (find_structure(unit->unit.ops, unit->source->with[i].name) == NULL) {
      apply_setting(system, unit, &unit->source->with[i], SETTING_WITH);
    }
  }
  for (size_t i = 0; i < unit->source->n_start; i++) {
    apply_setting(system, unit, &unit->source->start[i], SETTING_START);
  }
  for (size_t i = 0; i < unit->source->n_values; i++) {
    if (find_structure(unit->unit.ops, unit->source->values[i].name) == NULL) {
      apply_setting(system, unit, &unit->source->values[i], SETTING_VALUE);
    }
  }
  return YOKE_OK;
}

static yoke_status make_unit(yoke_system* system, yoke_system_unit* unit) {
  YOKE_TRY(find_type(system, unit));
  if (unit->source->port.is_given && unit->source->port.peer != NULL) {
    YOKE_TRY(wrap_port(system, unit));
  }
  return create_unit(system, unit);
}

yoke_status yoke__system_make_copy(yoke_system* system, const yoke_system_unit* unit,
                                   const yoke_unit_ops* ops, yoke_messages* messages,
                                   yoke_system_unit* copy) {
  yoke_messages* const kept = system->messages;
  *copy = *unit;
  copy->unit = (yoke_unit){.ops = ops};
  system->messages = messages;
  yoke_status status = create_unit(system, copy);
  system->messages = kept;
  if (status >= 0 && messages->n_errors > 0) {
    yoke__unit_close(&copy->unit);
    status = YOKE_BAD_INPUT;
  }
  return status;
}

// each unit is made by the thread that will run it; messages need one writer at a time, so threads take turns
typedef struct making {
  yoke_system* system;
  int turn;
  yoke_status status;
} making;

static void make_units_of_thread(void* context, int thread) {
  making* job = context;
  if (thread != job->turn) {
    return;
  }
  for (size_t i = 0; i < job->system->n_units; i++) {
    yoke_system_unit* unit = &job->system->units[i];
    if (unit->thread == thread) {
      const yoke_status status = make_unit(job->system, unit);
      if (status < 0 && status != YOKE_BAD_INPUT) {
        job->status = status;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// threads

static int choose_n_threads(const yoke_system* system) {
  const yoke_scenario* scenario = system->scenario;
  size_t n_stepped = 0;
  double total = 0, heaviest = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    if (unit->is_own) {
      continue;
    }
    n_stepped += !unit->is_law;
    total += unit->cost_s;
    heaviest = unit->cost_s > heaviest ? unit->cost_s : heaviest;
  }
  // sequential schemes have nothing to share
  if (scenario->scheme == YOKE_GAUSS_SEIDEL || scenario->scheme == YOKE_ITERATIVE_GAUSS_SEIDEL) {
    return 1;
  }
  size_t n = (size_t)scenario->threads;
  if (n == 0) {
    n = total - heaviest >= WORTH_A_THREAD ? (size_t)yoke__os_n_processors() : 1;
  }
  n = n > n_stepped ? n_stepped : n;
  return n < 1 ? 1 : (int)n;
}

typedef struct weight {
  size_t unit;
  double cost_s;
} weight;

static int compare_weights(const void* left, const void* right) {
  const weight* a = left;
  const weight* b = right;
  if (a->cost_s != b->cost_s) {
    return a->cost_s > b->cost_s ? -1 : 1;
  }
  return a->unit < b->unit ? -1 : a->unit > b->unit;
}

// Heavy units first, each to the least loaded thread; without costs equal blocks of neighbours. Fresh units are
// evaluated between the steps by the thread that exchanges, so it must be theirs.
static yoke_status assign_threads(yoke_system* system) {
  double load[MAX_THREADS] = {0};
  const size_t n_stepped = system->n_units - system->n_laws;
  weight* weights = calloc(n_stepped + 1, sizeof *weights);
  YOKE_TRY_MEMORY(weights);
  for (size_t i = 0; i < n_stepped; i++) {
    weights[i] = (weight){i, system->units[i].cost_s};
  }
  qsort(weights, n_stepped, sizeof *weights, compare_weights);
  for (size_t i = 0; i < n_stepped; i++) {
    yoke_system_unit* unit = &system->units[weights[i].unit];
    int best = 0;
    if (unit->is_own) {
      continue;
    }
    for (int t = 1; t < system->n_crew; t++) {
      best = load[t] < load[best] ? t : best;
    }
    if (unit->is_fresh) {
      best = 0;
    } else if (weights[i].cost_s <= 0) {
      best = (int)(weights[i].unit * (size_t)system->n_crew / n_stepped);
    }
    unit->thread = best;
    load[best] += weights[i].cost_s;
  }
  free(weights);
  for (size_t i = 0, k = 0; i < n_stepped; i++) {
    if (system->units[i].is_own) {
      system->units[i].thread = system->n_crew + (int)k++;
    }
  }
  return YOKE_OK;
}

static yoke_status list_thread_units(yoke_system* system) {
  size_t* units = yoke__arena_array(&system->arena, system->n_units + 1, sizeof *units);
  size_t* first = yoke__arena_array(&system->arena, (size_t)system->n_threads + 1, sizeof *first);
  YOKE_TRY_MEMORY(units && first);
  size_t n = 0;
  for (int t = 0; t < system->n_threads; t++) {
    first[t] = n;
    for (size_t i = 0; i < system->n_units; i++) {
      if (system->units[i].thread == t && !system->units[i].is_law) {
        units[n++] = i;
      }
    }
  }
  first[system->n_threads] = n;
  system->thread_units = units;
  system->thread_first = first;
  return YOKE_OK;
}

yoke_status yoke__system_make_units(yoke_system* system) {
  const yoke_scenario* scenario = system->scenario;
  int n_own = 0;
  system->n_units = scenario->n_units;
  system->units = yoke__arena_array(&system->arena, system->n_units + 1, sizeof *system->units);
  YOKE_TRY_MEMORY(system->units);
  YOKE_TRY(yoke__map_create(system->n_units, &system->arena, &system->unit_index));
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_scenario_unit* source = &scenario->units[i];
    yoke_system_unit* unit = &system->units[i];
    unit->name = source->name;
    unit->source = source;
    unit->is_law = source->is_law;
    unit->is_fresh = (source->has_exchange ? source->exchange : scenario->exchange) == YOKE_FRESH;
    unit->tolerance = source->tolerance > 0 ? source->tolerance : scenario->iteration.tolerance;
    unit->cost_s = source->cost_s;
    // in other schemes units wait for each other
    unit->is_own = source->has_own_thread && scenario->scheme == YOKE_JACOBI && !unit->is_fresh;
    n_own += unit->is_own;
    system->n_laws += source->is_law;
    const size_t other = yoke__map_add(&system->unit_index, source->name, i);
    if (other != YOKE_NOT_FOUND && !scenario->has_errors) {
      yoke__error(system->messages, source->place, "the name '%s' is used twice, first in line %d",
                  source->name, scenario->units[other].place.line);
    }
  }

  YOKE_TRY(yoke__system_plan_calls(system));
  yoke__system_try_costs(system);
  system->n_crew = choose_n_threads(system);
  system->n_threads = system->n_crew + n_own;
  YOKE_TRY(yoke__pool_create(system->n_crew, &system->pool));
  YOKE_TRY(yoke__pool_add(system->pool, n_own));
  YOKE_TRY(assign_threads(system));
  YOKE_TRY(list_thread_units(system));
  making job = {system, 0, YOKE_OK};
  for (; job.turn < system->n_threads && job.status >= 0; job.turn++) {
    yoke__pool_run(system->pool, make_units_of_thread, &job);
  }
  YOKE_TRY(job.status);
  YOKE_TRY(yoke__system_take_feedthrough(system));
  for (size_t i = 0; i < system->n_units; i++) {
    if (yoke__system_is_fmu(&system->units[i]) && system->units[i].unit.info != NULL) {
      yoke__fmu_settle_trial(system->units[i].unit.ops, system->units[i].unit.info);
    }
  }
  return YOKE_OK;
}
