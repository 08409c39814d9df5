// One unit instance as the rest of the library sees it: the table of operations with every "NULL means the obvious"
// rule of yoke/unit.h filled in, and the dense vectors of its real inputs and outputs.
#ifndef YOKE_UNIT_UNIT_H
#define YOKE_UNIT_UNIT_H

#include <string.h>

#include "base/base_arena.h"
#include "base/base_check.h"
#include "base/base_map.h"
#include "yoke/unit.h"

// Doubles that lie next to each other in the unit's struct and in the dense vector.
typedef struct yoke_unit_run {
  size_t offset;  // bytes into self
  size_t at, n;   // elements of the dense vector
} yoke_unit_run;

typedef struct yoke_unit {
  const yoke_unit_ops* ops;
  const yoke_unit_info* info;
  void* self;
  bool is_self_ours;  // taken here in place of create
  size_t n_u, n_y;    // real inputs, real outputs
  const size_t*
      dense;  // per variable: position of its first element in u or y; (size_t)-1 if it has none
  yoke_unit_run* inputs;  // copies that replace a missing set_inputs / get_outputs
  yoke_unit_run* outputs;
  size_t n_inputs, n_outputs;
  yoke_map names;  // of the variables, where they are many
} yoke_unit;

#define YOKE_NOT_DENSE ((size_t)-1)

// Whether a text can be the name of a unit type or a variable: it is there and breaks no line.
bool yoke__unit_is_name(const char* name);
// Checks unit->info, as far as the rest of the library relies on it. YOKE_BAD_ARG after a message.
yoke_status yoke__unit_check(const yoke_unit* unit, const yoke_sink* sink);
// Makes an instance; tables are taken from arena. On failure the sink got the reason and nothing is left behind.
yoke_status yoke__unit_create(const yoke_unit_ops* ops, const yoke_unit_args* args,
                              yoke_arena* arena, yoke_unit* unit, const yoke_sink* sink);
void yoke__unit_close(yoke_unit* unit);

// Elements of a variable, and bytes of one element and of the whole value in storage form.
size_t yoke__variable_count(const yoke_variable* variable);
size_t yoke__variable_element_size(const yoke_variable* variable);
size_t yoke__variable_size(const yoke_variable* variable);
// Index of the variable with this name, or (size_t)-1.
size_t yoke__unit_find(const yoke_unit* unit, const char* name);

// "v", "v[2]" or "v[1,2]" -> variable and element (0 for the whole). False if there is none.
bool yoke__unit_find_element(const yoke_unit* unit, const char* text, size_t* variable,
                             size_t* element);

yoke_status yoke__unit_set(const yoke_unit* unit, size_t variable, const void* value, size_t size);
yoke_status yoke__unit_get(const yoke_unit* unit, size_t variable, void* value, size_t size);

yoke_status yoke__unit_enter_init(const yoke_unit* unit, double t_start, double t_stop,
                                  const yoke_sink* sink);
yoke_status yoke__unit_exit_init(const yoke_unit* unit);
void yoke__unit_terminate(const yoke_unit* unit);

// Sends the unit's own message about its last failure, if it has one.
void yoke__unit_reason(const yoke_unit* unit, const yoke_sink* sink);

static inline bool yoke__unit_can_refresh(const yoke_unit* unit) {
  return unit->ops->refresh != NULL;
}
// Bytes that save needs; 0 if the unit cannot roll back.
size_t yoke__unit_image_size(const yoke_unit* unit);
yoke_status yoke__unit_save(const yoke_unit* unit, void* image, size_t size);
yoke_status yoke__unit_restore(const yoke_unit* unit, const void* image, size_t size);
// The same for another process, where the unit can do it. size: as of serialise.
bool yoke__unit_is_portable(const yoke_unit* unit);
yoke_status yoke__unit_serialise(const yoke_unit* unit, void* bytes, size_t* size);
yoke_status yoke__unit_deserialise(const yoke_unit* unit, const void* bytes, size_t size);
// How the unit solves its equations if it is called every call_step [s]; *step: its internal step [s], 0 if it is exact or
// nothing is known.
yoke_solver_method yoke__unit_solver(const yoke_unit* unit, double call_step, double* step);
// Its equations are linear with constant coefficients, with its present parameters.
bool yoke__unit_is_linear(const yoke_unit* unit);
// True if output variable `output` depends on input variable `input` at the same instant.
bool yoke__unit_has_feedthrough(const yoke_unit* unit, size_t output, size_t input);

static inline yoke_status yoke__unit_set_inputs(const yoke_unit* unit, const double u[]) {
  if (unit->ops->set_inputs != NULL) {
    return unit->ops->set_inputs(unit->self, u, unit->n_u);
  }
  for (size_t i = 0; i < unit->n_inputs; i++) {
    const yoke_unit_run* run = &unit->inputs[i];
    double* to = (double*)((char*)unit->self + run->offset);
    for (size_t j = 0; j < run->n; j++) {
      to[j] = u[run->at + j];
    }
  }
  return YOKE_OK;
}

static inline yoke_status yoke__unit_get_outputs(const yoke_unit* unit, double y[]) {
  if (unit->ops->get_outputs != NULL) {
    return unit->ops->get_outputs(unit->self, y, unit->n_y);
  }
  for (size_t i = 0; i < unit->n_outputs; i++) {
    const yoke_unit_run* run = &unit->outputs[i];
    const double* from = (const double*)((const char*)unit->self + run->offset);
    for (size_t j = 0; j < run->n; j++) {
      y[run->at + j] = from[j];
    }
  }
  return YOKE_OK;
}

#endif
