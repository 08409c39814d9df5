// States of a unit for FMI: x' = f(x, u) with variables for x. See export_states.h.
#include "export/export_states.h"

#include <string.h>

bool yoke__export_has_start(const yoke_variable* variable) {
  switch (variable->causality) {
  case YOKE_INPUT:
  case YOKE_PARAMETER:
  case YOKE_TUNABLE:
    return true;
  case YOKE_OUTPUT:
    return (variable->flags & YOKE_VARIABLE_HAS_START) != 0;
  case YOKE_STATE:
    return (variable->flags & YOKE_VARIABLE_READ_ONLY) == 0;
  }
  return false;
}

bool yoke__export_has_scalar_ports(const yoke_unit* unit) {
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    const bool is_port = v->causality == YOKE_INPUT || v->causality == YOKE_OUTPUT;
    if (is_port && v->type == YOKE_REAL && yoke__variable_count(v) != 1) {
      return false;
    }
  }
  return true;
}

// Different real scalars that move with time.
static bool are_sound(const yoke_unit* unit, const size_t variables[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    const yoke_variable* v =
        variables[i] < unit->info->n_variables ? &unit->info->variables[variables[i]] : NULL;
    if (v == NULL || v->type != YOKE_REAL || yoke__variable_count(v) != 1 ||
        (v->causality != YOKE_STATE && v->causality != YOKE_OUTPUT)) {
      return false;
    }
    for (size_t j = 0; j < i; j++) {
      if (variables[j] == variables[i]) {
        return false;
      }
    }
  }
  return true;
}

yoke_status yoke__export_states_find(const yoke_unit* unit, yoke_arena* arena,
                                     yoke_export_states* out) {
  const yoke_unit_ops* ops = unit->ops;
  yoke_linear model = {0};
  *out = (yoke_export_states){0};
  if (ops->linearise == NULL || ops->rates == NULL || ops->derivative == NULL ||
      !yoke__export_has_scalar_ports(unit) || ops->linearise(unit->self, &model) < 0 ||
      model.n_states == 0 || model.n_states > unit->info->n_variables) {
    return YOKE_OK;
  }
  size_t* variables = yoke__arena_array(arena, model.n_states, sizeof *variables);
  YOKE_TRY_MEMORY(variables);
  memset(variables, 0xff, model.n_states * sizeof *variables);  // none yet
  if (ops->rates(unit->self, variables, NULL, model.n_states) >= 0 && model.n_inputs == unit->n_u &&
      model.n_outputs == unit->n_y && are_sound(unit, variables, model.n_states)) {
    *out = (yoke_export_states){model.n_states, variables};
  }
  return YOKE_OK;
}
