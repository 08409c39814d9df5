// What travels between the processes while a unit is made: settings and arguments one way, the description back. One walk
// over the parts writes them and reads them.
#include <string.h>

#include "unit/host/host.h"
#include "unit/unit.h"

#define MAX_SIZE (UINT64_C(1) << 40)  // of one value; more is nonsense

// An array with room for the n elements that were announced; of a written one that which is there. NULL: failed.
static void* room_for(host_pack* pack, uint64_t n, size_t size, const void* there) {
  if (pack->to != NULL) {
    const union {
      const void* constant;
      void* own;
    } to = {there};
    return to.own;  // is read only
  }
  void* all = pack->is_failed || n > pack->size
                  ? NULL
                  : yoke__arena_array(pack->arena, (size_t)n + 1, size);
  pack->is_failed = all == NULL;
  return all;
}

// ---------------------------------------------------------------------------------------------------------
// recipe

// the unit is isolated already: what concerns that stays behind
static void pack_settings(host_pack* pack, yoke_unit_file_settings* s) {
  HOST_VALUE(pack, s->kind);
  yoke__host_text(pack, &s->path);
  yoke__host_text(pack, &s->model);
  yoke__host_text(pack, &s->name);
  yoke__host_text(pack, &s->place.source);
  HOST_VALUE(pack, s->place.line);
  HOST_VALUE(pack, s->place.column);
  HOST_VALUE(pack, s->interface_type);
  yoke__host_text(pack, &s->solver);
  HOST_VALUE(pack, s->solver_step);
  HOST_VALUE(pack, s->solver_tolerance);
  HOST_VALUE(pack, s->is_paced);
  yoke__host_text(pack, &s->solver_formulation);
  HOST_VALUE(pack, s->solver_iterations);
  HOST_VALUE(pack, s->call_step);
  HOST_VALUE(pack, s->n_calls);
  HOST_VALUE(pack, s->is_logging);
  HOST_VALUE(pack, s->is_strict);
  HOST_VALUE(pack, s->is_event_mode_off);
  HOST_VALUE(pack, s->is_fresh);
  HOST_VALUE(pack, s->is_iterated);
  yoke__host_text(pack, &s->trial_folder);
}

static void pack_argument(host_pack* pack, yoke_argument* a) {
  yoke__host_text(pack, &a->name);
  HOST_VALUE(pack, a->type);
  HOST_VALUE(pack, a->n_rows);
  HOST_VALUE(pack, a->n_cols);
  const size_t n = (a->n_rows == 0 ? 1 : a->n_rows) * (a->n_cols == 0 ? 1 : a->n_cols);
  // both kinds of elements take eight bytes
  void* value = room_for(pack, n, sizeof(double), a->value);
  if (a->type != YOKE_STRING) {
    yoke__host_part(pack, value, n * sizeof(double));
  }
  for (size_t i = 0; a->type == YOKE_STRING && i < n && !pack->is_failed; i++) {
    yoke__host_text(pack, (const char**)value + i);
  }
  a->value = value;
}

// is_description_wanted is written where the pack is read
yoke_status yoke__host_recipe(host_pack* pack, yoke_unit_file_settings* settings,
                              // NOLINTNEXTLINE(readability-non-const-parameter)
                              yoke_unit_args* args, bool* is_description_wanted) {
  pack_settings(pack, settings);
  HOST_VALUE(pack, *is_description_wanted);
  yoke__host_text(pack, &args->name);
  yoke__host_text(pack, &args->directory);
  HOST_VALUE(pack, args->n_arguments);
  yoke_argument* arguments = room_for(pack, args->n_arguments, sizeof *arguments, args->arguments);
  for (size_t i = 0; i < args->n_arguments && !pack->is_failed; i++) {
    yoke_argument a = pack->to != NULL ? arguments[i] : (yoke_argument){0};
    if (a.type == YOKE_BINARY) {
      return YOKE_NO_SUPPORT;
    }
    pack_argument(pack, &a);
    if (pack->to == NULL) {
      arguments[i] = a;
    }
  }
  args->arguments = arguments;
  return pack->to != NULL ? pack->to->status : pack->is_failed ? YOKE_BAD_ARG : YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// description

// n + 1, then the items; 0 for NULL
static void pack_items(host_pack* pack, yoke_variable* v) {
  uint64_t n = v->items == NULL ? 0 : 1;
  while (n > 0 && v->items[n - 1] != NULL) {
    n++;
  }
  HOST_VALUE(pack, n);
  const char** items = n == 0 ? NULL : room_for(pack, n, sizeof *items, v->items);
  for (size_t i = 0; i + 1 < n && !pack->is_failed; i++) {
    const char* item = pack->to != NULL ? items[i] : NULL;
    yoke__host_text(pack, &item);
    if (pack->to == NULL) {
      items[i] = item;
    }
  }
  v->items = items;
}

static bool is_sound(const yoke_variable* v) {
  const uint64_t n_rows = v->n_rows == 0 ? 1 : v->n_rows, n_cols = v->n_cols == 0 ? 1 : v->n_cols;
  return n_rows < MAX_SIZE && n_cols < MAX_SIZE / n_rows &&
         v->max_size < MAX_SIZE / n_rows / n_cols && (unsigned)v->type <= YOKE_BINARY &&
         (unsigned)v->causality <= YOKE_STATE;
}

static void pack_variable(host_pack* pack, yoke_variable* v) {
  yoke__host_text(pack, &v->name);
  yoke__host_text(pack, &v->dim);
  yoke__host_text(pack, &v->text);
  HOST_VALUE(pack, v->type);
  HOST_VALUE(pack, v->causality);
  HOST_VALUE(pack, v->flags);
  HOST_VALUE(pack, v->n_rows);
  HOST_VALUE(pack, v->n_cols);
  HOST_VALUE(pack, v->start);
  yoke__host_text(pack, &v->start_text);
  HOST_VALUE(pack, v->max_size);
  pack_items(pack, v);
  pack->is_failed |= pack->to == NULL && !is_sound(v);
  v->offset = YOKE_NO_OFFSET;
}

yoke_status yoke__host_info(host_pack* pack, yoke_unit_info* info) {
  HOST_VALUE(pack, info->flags);
  HOST_VALUE(pack, info->cost_s);
  HOST_VALUE(pack, info->solver);
  HOST_VALUE(pack, info->n_variables);
  HOST_VALUE(pack, info->n_feedthrough);
  yoke_variable* variables = room_for(pack, info->n_variables, sizeof *variables, info->variables);
  yoke_feedthrough* pairs = room_for(pack, info->n_feedthrough, sizeof *pairs, info->feedthrough);
  for (size_t i = 0; i < info->n_variables && !pack->is_failed; i++) {
    yoke_variable v = pack->to != NULL ? variables[i] : (yoke_variable){0};
    pack_variable(pack, &v);
    if (pack->to == NULL) {
      variables[i] = v;
    }
  }
  yoke__host_part(pack, pairs, info->n_feedthrough * sizeof *pairs);
  info->variables = variables;
  info->feedthrough = pairs;
  YOKE_TRY(pack->arena == NULL ? YOKE_OK : yoke__arena_status(pack->arena));
  return pack->is_failed ? YOKE_BAD_ARG : YOKE_OK;
}
