// The states that an exported FMU lists with their derivatives. Exporter and runtime ask the unit the same question, so that
// the description and the binary agree.
//
// Value references: elements of variables 0, ..., n - 1; the time n (FMI 3.0); the derivative of state i n + 1 + i.
#ifndef YOKE_EXPORT_STATES_H
#define YOKE_EXPORT_STATES_H

#include <stdint.h>

#include "base/base_arena.h"
#include "unit/unit.h"

typedef struct yoke_export_states {
  size_t n;           // 0: the unit lists none
  size_t* variables;  // of each state, in the order of the unit's linear model
} yoke_export_states;

// Fills *out; memory comes from arena. Units without `linearise`, `rates` or `derivative`, and those whose real inputs,
// outputs or states are no scalars, have none. YOKE_NO_MEMORY.
yoke_status yoke__export_states_find(const yoke_unit* unit, yoke_arena* arena,
                                     yoke_export_states* out);

// Directional derivatives of FMI are offered for scalars only: are the real inputs and outputs?
bool yoke__export_has_scalar_ports(const yoke_unit* unit);
// Can a start value be given?
bool yoke__export_has_start(const yoke_variable* variable);

static inline uint32_t yoke__export_states_reference(size_t n_elements, size_t state) {
  return (uint32_t)(n_elements + 1 + state);
}

#endif
