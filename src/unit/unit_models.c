// Registry of unit types: native models, then the kinds of src/unit that need no file, then the caller's own.
#include "unit/unit_models.h"

#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "models/models.h"
#include "unit/meter/unit_meter.h"
#include "unit/unit.h"

// they stand on folders that models do not see
static const yoke_unit_ops* const own_kinds[] = {&yoke__unit_meter};
#define N_OWN_KINDS (sizeof own_kinds / sizeof own_kinds[0])

// What a table lacks that the engine relies on without asking again; NULL: nothing.
static const char* find_gap(const yoke_unit_ops* ops) {
  if (!yoke__unit_is_name(ops->name)) {
    return "name, or one that breaks the line";
  }
  if (ops->step == NULL && ops->refresh == NULL) {
    return "step";
  }
  if (ops->n_structure > 0 && ops->structure == NULL) {
    return "structure";
  }
  if (ops->info == NULL && ops->describe == NULL) {
    return "info or describe";
  }
  const bool is_made_here = ops->info != NULL && ops->info->self_size > 0;
  return ops->create == NULL && !is_made_here ? "create or info->self_size" : NULL;
}

yoke_status yoke__models_add(yoke_models* models, const yoke_unit_ops* ops, const yoke_sink* sink) {
  const char* gap = find_gap(ops);
  if (gap != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "the table of unit '%s' has no %s",
                     yoke__unit_is_name(ops->name) ? ops->name : "", gap);
  }
  if (ops->info != NULL) {
    const yoke_unit unit = {.ops = ops, .info = ops->info, .is_self_ours = ops->create == NULL};
    YOKE_TRY(yoke__unit_check(&unit, sink));
  }
  if (yoke__models_find(models, ops->name) != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "there is a unit '%s' already", ops->name);
  }
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  const yoke_unit_ops** larger = realloc(models->ops, (models->n + 1) * sizeof *larger);
  if (larger == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  models->ops = larger;
  models->ops[models->n++] = ops;
  return YOKE_OK;
}

size_t yoke__models_count(const yoke_models* models) {
  return yoke__n_builtin_models + N_OWN_KINDS + (models == NULL ? 0 : models->n);
}

const yoke_unit_ops* yoke__models_at(const yoke_models* models, size_t i) {
  if (i < yoke__n_builtin_models) {
    return yoke__builtin_models[i];
  }
  const size_t behind = i - yoke__n_builtin_models;
  return behind < N_OWN_KINDS ? own_kinds[behind] : models->ops[behind - N_OWN_KINDS];
}

const yoke_unit_ops* yoke__models_find(const yoke_models* models, const char* name) {
  for (size_t i = 0; i < yoke__models_count(models); i++) {
    const yoke_unit_ops* ops = yoke__models_at(models, i);
    if (strcmp(ops->name, name) == 0) {
      return ops;
    }
  }
  return NULL;
}

const char* yoke__models_nearest(const yoke_models* models, const char* name) {
  const char* nearest = NULL;
  for (size_t i = 0; i < yoke__models_count(models); i++) {
    nearest = yoke__nearer_name(name, nearest, yoke__models_at(models, i)->name);
  }
  return nearest;
}
