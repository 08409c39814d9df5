// What travels between the processes while a unit is made: settings and arguments one way, the description back.
#include <string.h>

#include "unit/host/host.h"
#include "unit/unit.h"

#define MAX_SIZE (UINT64_C(1) << 40)  // of one value; more is nonsense

// ---------------------------------------------------------------------------------------------------------
// recipe

static void put_settings(host_writer* to, const yoke_unit_file_settings* s) {
  yoke__host_put_number(to, (uint64_t)s->kind);
  yoke__host_put_text(to, s->path);
  yoke__host_put_text(to, s->model);
  yoke__host_put_text(to, s->name);
  yoke__host_put_text(to, s->place.source);
  yoke__host_put_number(to, (uint64_t)(int64_t)s->place.line);
  yoke__host_put_number(to, (uint64_t)(int64_t)s->place.column);
  yoke__host_put_number(to, (uint64_t)s->interface_type);
  yoke__host_put_text(to, s->solver);
  yoke__host_put_double(to, s->solver_step);
  yoke__host_put_double(to, s->solver_tolerance);
  yoke__host_put_text(to, s->solver_formulation);
  yoke__host_put_number(to, (uint64_t)(int64_t)s->solver_iterations);
  yoke__host_put_double(to, s->call_step);
  yoke__host_put_number(to, s->is_logging);
  yoke__host_put_number(to, s->is_strict);
  yoke__host_put_number(to, s->is_event_mode_off);
}

// the unit is isolated already: what concerns that stays behind
static void take_settings(host_reader* from, yoke_arena* arena, yoke_unit_file_settings* s) {
  *s = (yoke_unit_file_settings){0};
  s->kind = (yoke_unit_kind)yoke__host_take_number(from);
  s->path = yoke__host_take_text(from, arena);
  s->model = yoke__host_take_text(from, arena);
  s->name = yoke__host_take_text(from, arena);
  s->place.source = yoke__host_take_text(from, arena);
  s->place.line = (int)yoke__host_take_number(from);
  s->place.column = (int)yoke__host_take_number(from);
  s->interface_type = (yoke_unit_interface)yoke__host_take_number(from);
  s->solver = yoke__host_take_text(from, arena);
  s->solver_step = yoke__host_take_double(from);
  s->solver_tolerance = yoke__host_take_double(from);
  s->solver_formulation = yoke__host_take_text(from, arena);
  s->solver_iterations = (int)yoke__host_take_number(from);
  s->call_step = yoke__host_take_double(from);
  s->is_logging = yoke__host_take_number(from) != 0;
  s->is_strict = yoke__host_take_number(from) != 0;
  s->is_event_mode_off = yoke__host_take_number(from) != 0;
}

static size_t count_elements(const yoke_argument* a) {
  return (a->n_rows == 0 ? 1 : a->n_rows) * (a->n_cols == 0 ? 1 : a->n_cols);
}

static yoke_status put_argument(host_writer* to, const yoke_argument* a) {
  if (a->type == YOKE_BINARY) {
    return YOKE_NO_SUPPORT;
  }
  const size_t n = count_elements(a);
  yoke__host_put_text(to, a->name);
  yoke__host_put_number(to, (uint64_t)a->type);
  yoke__host_put_number(to, a->n_rows);
  yoke__host_put_number(to, a->n_cols);
  if (a->type != YOKE_STRING) {
    yoke__host_put(to, a->value, n * sizeof(double));
    return YOKE_OK;
  }
  for (size_t i = 0; i < n; i++) {
    yoke__host_put_text(to, ((const char* const*)a->value)[i]);
  }
  return YOKE_OK;
}

static void take_argument(host_reader* from, yoke_arena* arena, yoke_argument* a) {
  a->name = yoke__host_take_text(from, arena);
  a->type = (yoke_type)yoke__host_take_number(from);
  a->n_rows = (size_t)yoke__host_take_number(from);
  a->n_cols = (size_t)yoke__host_take_number(from);
  const size_t n = count_elements(a);
  if (from->is_failed || n > from->size) {
    from->is_failed = true;
    return;
  }
  // both kinds of elements take eight bytes
  void* value = yoke__arena_array(arena, n, sizeof(double));
  if (value == NULL) {
    from->is_failed = true;
  } else if (a->type == YOKE_STRING) {
    const char** texts = value;
    for (size_t i = 0; i < n; i++) {
      texts[i] = yoke__host_take_text(from, arena);
    }
  } else {
    const void* bytes = yoke__host_take(from, n * sizeof(double));
    if (bytes != NULL) {
      memcpy(value, bytes, n * sizeof(double));
    }
  }
  a->value = value;
}

yoke_status yoke__host_put_recipe(host_writer* to, const yoke_unit_file_settings* settings,
                                  const yoke_unit_args* args, bool is_description_wanted) {
  put_settings(to, settings);
  yoke__host_put_number(to, is_description_wanted);
  yoke__host_put_text(to, args->name);
  yoke__host_put_text(to, args->directory);
  yoke__host_put_number(to, args->n_arguments);
  for (size_t i = 0; i < args->n_arguments; i++) {
    YOKE_TRY(put_argument(to, &args->arguments[i]));
  }
  return to->is_failed ? YOKE_NO_MEMORY : YOKE_OK;
}

yoke_status yoke__host_take_recipe(host_reader* from, yoke_arena* arena,
                                   yoke_unit_file_settings* settings, yoke_unit_args* args,
                                   bool* is_description_wanted) {
  take_settings(from, arena, settings);
  *is_description_wanted = yoke__host_take_number(from) != 0;
  *args = (yoke_unit_args){.name = yoke__host_take_text(from, arena)};
  args->directory = yoke__host_take_text(from, arena);
  args->n_arguments = (size_t)yoke__host_take_number(from);
  if (from->is_failed || args->n_arguments > from->size) {
    return YOKE_BAD_ARG;
  }
  yoke_argument* arguments =
      yoke__arena_array(arena, args->n_arguments + 1, sizeof *args->arguments);
  for (size_t i = 0; i < args->n_arguments && arguments != NULL; i++) {
    take_argument(from, arena, &arguments[i]);
  }
  args->arguments = arguments;
  return from->is_failed || arguments == NULL ? YOKE_BAD_ARG : YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// description

static void put_variable(host_writer* to, const yoke_variable* v) {
  yoke__host_put_text(to, v->name);
  yoke__host_put_text(to, v->dim);
  yoke__host_put_text(to, v->text);
  yoke__host_put_number(to, (uint64_t)v->type);
  yoke__host_put_number(to, (uint64_t)v->causality);
  yoke__host_put_number(to, v->flags);
  yoke__host_put_number(to, v->n_rows);
  yoke__host_put_number(to, v->n_cols);
  yoke__host_put_double(to, v->start);
  yoke__host_put_text(to, v->start_text);
  yoke__host_put_number(to, v->max_size);
  size_t n_items = 0;
  while (v->items != NULL && v->items[n_items] != NULL) {
    n_items++;
  }
  yoke__host_put_number(to, v->items == NULL ? 0 : n_items + 1);
  for (size_t i = 0; i < n_items; i++) {
    yoke__host_put_text(to, v->items[i]);
  }
}

static const char* const* take_items(host_reader* from, yoke_arena* arena) {
  const uint64_t n = yoke__host_take_number(from);
  if (n == 0 || from->is_failed || n > from->size) {
    from->is_failed = from->is_failed || n != 0;
    return NULL;
  }
  const char** items = yoke__arena_array(arena, (size_t)n, sizeof *items);
  from->is_failed = items == NULL;
  for (size_t i = 0; i + 1 < n && !from->is_failed; i++) {
    items[i] = yoke__host_take_text(from, arena);
  }
  return items;
}

static bool is_size_sound(const yoke_variable* v) {
  const uint64_t n_rows = v->n_rows == 0 ? 1 : v->n_rows, n_cols = v->n_cols == 0 ? 1 : v->n_cols;
  return n_rows < MAX_SIZE && n_cols < MAX_SIZE / n_rows &&
         v->max_size < MAX_SIZE / n_rows / n_cols;
}

static void take_variable(host_reader* from, yoke_arena* arena, yoke_variable* v) {
  v->name = yoke__host_take_text(from, arena);
  v->dim = yoke__host_take_text(from, arena);
  v->text = yoke__host_take_text(from, arena);
  v->type = (yoke_type)yoke__host_take_number(from);
  v->causality = (yoke_causality)yoke__host_take_number(from);
  v->flags = (uint32_t)yoke__host_take_number(from);
  v->n_rows = (size_t)yoke__host_take_number(from);
  v->n_cols = (size_t)yoke__host_take_number(from);
  v->start = yoke__host_take_double(from);
  v->start_text = yoke__host_take_text(from, arena);
  v->max_size = (size_t)yoke__host_take_number(from);
  v->items = take_items(from, arena);
  v->offset = YOKE_NO_OFFSET;
  from->is_failed = from->is_failed || !is_size_sound(v) || (unsigned)v->type > YOKE_BINARY ||
                    (unsigned)v->causality > YOKE_STATE;
}

void yoke__host_put_info(host_writer* to, const yoke_unit_info* info) {
  yoke__host_put_number(to, info->flags);
  yoke__host_put_double(to, info->cost_s);
  yoke__host_put(to, &info->solver, sizeof info->solver);
  yoke__host_put_number(to, info->n_variables);
  yoke__host_put_number(to, info->n_feedthrough);
  for (size_t i = 0; i < info->n_variables; i++) {
    put_variable(to, &info->variables[i]);
  }
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    yoke__host_put_number(to, info->feedthrough[i].output);
    yoke__host_put_number(to, info->feedthrough[i].input);
  }
}

yoke_status yoke__host_take_info(host_reader* from, yoke_arena* arena, yoke_unit_info* info) {
  *info = (yoke_unit_info){.flags = (uint32_t)yoke__host_take_number(from)};
  info->cost_s = yoke__host_take_double(from);
  const void* solver = yoke__host_take(from, sizeof info->solver);
  if (solver != NULL) {
    memcpy(&info->solver, solver, sizeof info->solver);
  }
  info->n_variables = (size_t)yoke__host_take_number(from);
  info->n_feedthrough = (size_t)yoke__host_take_number(from);
  if (from->is_failed || info->n_variables > from->size || info->n_feedthrough > from->size) {
    return YOKE_BAD_ARG;
  }
  yoke_variable* variables = yoke__arena_array(arena, info->n_variables + 1, sizeof *variables);
  yoke_feedthrough* feedthrough =
      yoke__arena_array(arena, info->n_feedthrough + 1, sizeof *feedthrough);
  if (variables == NULL || feedthrough == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < info->n_variables && !from->is_failed; i++) {
    take_variable(from, arena, &variables[i]);
  }
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    feedthrough[i].output = (size_t)yoke__host_take_number(from);
    feedthrough[i].input = (size_t)yoke__host_take_number(from);
  }
  info->variables = variables;
  info->feedthrough = feedthrough;
  return from->is_failed ? YOKE_BAD_ARG : YOKE_OK;
}
