// A description that differs from another one only in how it is computed: shorter steps, another method. Running both tells
// how far a result depends on that.
#ifndef YOKE_SCENARIO_COMPANION_H
#define YOKE_SCENARIO_COMPANION_H

#include "scenario/scenario.h"

// What must be known of a unit of the system as it was built.
typedef struct yoke_companion_unit {
  int64_t most;        // by how much its step may be divided, a power of two; 1: it stays
  int64_t n_calls;     // per exchange, at least 1
  int64_t calls;       // in a macro step by `calls`; 0 and 1: it has a step
  double solver_step;  // of a circuit or a model-exchange FMU [s]; 0: it has none of its own
} yoke_companion_unit;

typedef struct yoke_companion_recipe {
  bool is_halved;      // every step: of exchanges, units and solvers
  int64_t n_calls;     // least calls of a unit per exchange; 0: as many as it has
  const char* method;  // of all connections that it can serve; NULL: as the file says; "hold": none
  int order;           // of all connections, with a method
  const char* const* settings;  // of that method, "key", "value", ..., NULL; NULL: none
  yoke_scheme scheme;           // with a method; the file's without one
  const char* const* dropped;   // keys of couplings that are left out, NULL-terminated; NULL: none
} yoke_companion_recipe;

// By how much the step of a unit is divided.
int64_t yoke__companion_divisor(const yoke_companion_recipe* recipe,
                                const yoke_companion_unit* unit);
// units: one per unit and law of the scenario. connections: all of the system as it was built, those of bonds included, with
// `average` and the interval as they act there; they take the place of those of the scenario. The companion shares texts and files with the original, which must outlive it.
// YOKE_NO_SUPPORT: a step has too many digits to be halved.
yoke_status yoke__scenario_companion(const yoke_scenario* original,
                                     const yoke_companion_unit units[],
                                     const yoke_scenario_connection connections[],
                                     size_t n_connections, const yoke_companion_recipe* recipe,
                                     yoke_scenario** out);

#endif
