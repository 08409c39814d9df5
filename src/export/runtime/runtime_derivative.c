// Directional derivatives, and the derivatives of the states as variables.
//
//   out[i] = sum_j d(unknown i)/d(known j) seed[j]
//
// Outputs come from the unit's own `derivative`, rows of x' = f(x, u) from A and B of its linear model at the present point.
#include <stdio.h>
#include <string.h>

#include "export/runtime/runtime.h"

#define NO_COLUMN ((size_t)-1)

// "der(x)" as a variable that nobody sets.
static yoke_status name_rate(yoke_runtime* rt, size_t state) {
  const char* of = rt->unit.info->variables[rt->states.variables[state]].name;
  const size_t size = strlen(of) + sizeof "der()";
  char* name = yoke__arena_take(&rt->unit_arena, size);
  if (name == NULL) {
    return YOKE_NO_MEMORY;
  }
  snprintf(name, size, "der(%s)", of);
  rt->rates[state] = (yoke_variable){.name = name,
                                     .type = YOKE_REAL,
                                     .causality = YOKE_STATE,
                                     .flags = YOKE_VARIABLE_READ_ONLY,
                                     .offset = YOKE_NO_OFFSET};
  return YOKE_OK;
}

static void lay_columns(yoke_runtime* rt) {
  const yoke_unit_info* info = rt->unit.info;
  const size_t n = rt->states.n;
  for (size_t i = 0; i < info->n_variables; i++) {
    const bool is_input = info->variables[i].causality == YOKE_INPUT;
    const size_t dense = rt->unit.dense[i];
    rt->columns[i] = is_input && dense != YOKE_NOT_DENSE ? n + dense : NO_COLUMN;
  }
  for (size_t i = 0; i < n; i++) {
    rt->columns[rt->states.variables[i]] = i;
  }
}

yoke_status yoke__runtime_derivative_open(yoke_runtime* rt) {
  yoke_arena* arena = &rt->unit_arena;
  YOKE_TRY(yoke__export_states_find(&rt->unit, arena, &rt->states));
  const size_t n = rt->states.n, n_u = rt->unit.n_u;
  if (n == 0) {
    return YOKE_OK;
  }
  rt->rates = yoke__arena_array(arena, n, sizeof *rt->rates);
  rt->rate_values = yoke__arena_array(arena, n, sizeof *rt->rate_values);
  rt->A = yoke__arena_array(arena, n * n, sizeof *rt->A);
  rt->B = yoke__arena_array(arena, n * n_u + 1, sizeof *rt->B);
  rt->slopes = yoke__arena_array(arena, rt->n_slots + n, sizeof *rt->slopes);
  rt->columns = yoke__arena_array(arena, rt->unit.info->n_variables, sizeof *rt->columns);
  if (rt->rates == NULL || rt->rate_values == NULL || rt->A == NULL || rt->B == NULL ||
      rt->slopes == NULL || rt->columns == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < n; i++) {
    YOKE_TRY(name_rate(rt, i));
  }
  lay_columns(rt);
  return YOKE_OK;
}

const double* yoke__runtime_rate(yoke_runtime* rt, size_t state) {
  const yoke_status status =
      rt->unit.ops->rates(rt->unit.self, NULL, rt->rate_values, rt->states.n);
  if (status < 0) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "'%s' cannot be read: %s",
                            rt->rates[state].name, yoke_status_text(status));
    return NULL;
  }
  return &rt->rate_values[state];
}

// References to indices of real scalars, derivatives of states behind the variables; false after a message.
static bool find_scalars(yoke_runtime* rt, const uint32_t references[], size_t n, size_t to[]) {
  static const yoke_runtime_access how = {"a directional derivative", YOKE_RUNTIME_REAL, true};
  for (size_t i = 0; i < n; i++) {
    const yoke_runtime_slot* slot = yoke__runtime_find(rt, references[i], &how);
    if (slot == NULL) {
      return false;
    }
    if (yoke__variable_count(yoke__runtime_variable(rt, slot)) != 1) {
      (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "arrays have no directional derivatives");
      return false;
    }
    to[i] = slot->variable;
  }
  return true;
}

// Rows of the linear model for those unknowns that are derivatives of states.
static yoke_status derive_rates(yoke_runtime* rt, const size_t unknowns[], size_t n_unknowns,
                                const size_t knowns[], size_t n_knowns, const double seed[],
                                double out[]) {
  const size_t n = rt->states.n, n_u = rt->unit.n_u, n_variables = rt->unit.info->n_variables;
  yoke_linear model = {.A = rt->A, .B = rt->B};
  YOKE_TRY(rt->unit.ops->linearise(rt->unit.self, &model));
  for (size_t i = 0; i < n_unknowns; i++) {
    if (unknowns[i] < n_variables) {
      continue;
    }
    const size_t row = unknowns[i] - n_variables;
    out[i] = 0.0;
    for (size_t j = 0; j < n_knowns; j++) {
      const size_t column = rt->columns[knowns[j]];
      if (column == NO_COLUMN) {
        return YOKE_BAD_ARG;
      }
      out[i] += seed[j] * (column < n ? rt->A[row * n + column] : rt->B[row * n_u + column - n]);
    }
  }
  return YOKE_OK;
}

// What the unit derives itself, without the derivatives of states in between; of: room for the list.
static yoke_status derive_outputs(yoke_runtime* rt, const size_t unknowns[], size_t n_unknowns,
                                  const size_t knowns[], size_t n_knowns, const double seed[],
                                  size_t of[], double out[]) {
  const size_t n_variables = rt->unit.info->n_variables;
  size_t n = 0;
  for (size_t i = 0; i < n_unknowns; i++) {
    if (unknowns[i] < n_variables) {
      of[n++] = unknowns[i];
    }
  }
  if (n > 0) {
    YOKE_TRY(rt->unit.ops->derivative(rt->unit.self, of, n, knowns, n_knowns, seed, rt->slopes));
  }
  for (size_t i = n_unknowns; i-- > 0;) {
    if (unknowns[i] < n_variables) {
      out[i] = rt->slopes[--n];
    }
  }
  return YOKE_OK;
}

static yoke_status derive(yoke_runtime* rt, size_t indices[], size_t n_unknowns, size_t n_knowns,
                          const double seed[], double out[]) {
  const size_t *unknowns = indices, *knowns = indices + n_unknowns;
  const size_t n_variables = rt->unit.info->n_variables;
  bool has_rates = false;
  for (size_t i = 0; i < n_unknowns; i++) {
    has_rates = has_rates || unknowns[i] >= n_variables;
  }
  // the derivative of a state is no known; the unit would take its number for one of its variables
  for (size_t i = 0; i < n_knowns; i++) {
    if (knowns[i] >= n_variables) {
      return YOKE_BAD_ARG;
    }
  }
  if (!has_rates) {
    return rt->unit.ops->derivative(rt->unit.self, unknowns, n_unknowns, knowns, n_knowns, seed,
                                    out);
  }
  YOKE_TRY(derive_rates(rt, unknowns, n_unknowns, knowns, n_knowns, seed, out));
  return derive_outputs(rt, unknowns, n_unknowns, knowns, n_knowns, seed,
                        indices + n_unknowns + n_knowns, out);
}

yoke_runtime_status yoke__runtime_derivative(yoke_runtime* rt, const uint32_t unknowns[],
                                             size_t n_unknowns, const uint32_t knowns[],
                                             size_t n_knowns, const double seed[], double out[]) {
  const size_t most = rt->n_slots + rt->states.n;
  if (rt->unit.ops->derivative == NULL) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "this unit has no directional derivatives");
  }
  if (n_unknowns > most || n_knowns > most) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                             "a directional derivative of more variables than there are");
  }
  if (!find_scalars(rt, unknowns, n_unknowns, rt->indices) ||
      !find_scalars(rt, knowns, n_knowns, rt->indices + n_unknowns)) {
    return YOKE_RUNTIME_ERROR;
  }
  const yoke_status status = derive(rt, rt->indices, n_unknowns, n_knowns, seed, out);
  if (status >= 0) {
    return YOKE_RUNTIME_OK;
  }
  const bool is_here = status == YOKE_NO_SUPPORT;
  return yoke__runtime_say(rt, is_here ? YOKE_RUNTIME_DISCARD : YOKE_RUNTIME_ERROR,
                           "a directional derivative: %s",
                           is_here ? "there is none at this point" : "not of these variables");
}
