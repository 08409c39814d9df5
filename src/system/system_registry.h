// What a system file may name beyond the built-in parts; see yoke/registry.h.
#ifndef YOKE_SYSTEM_REGISTRY_H
#define YOKE_SYSTEM_REGISTRY_H

#include "base/base_arena.h"
#include "unit/unit_library.h"
#include "yoke/registry.h"

struct yoke_registry {
  yoke_arena arena;
  yoke_models units;
  const yoke_coupling_ops** couplings;
  size_t n_couplings;
  const yoke_result_ops** results;
  size_t n_results;
  yoke_shared_library** libraries;
  size_t n_libraries;
};

// The units that were added; NULL: none.
static inline const yoke_models* yoke__registry_units(const yoke_registry* registry) {
  return registry == NULL ? NULL : &registry->units;
}
// A coupling method or a result sink by name; NULL: there is none. registry may be NULL.
const yoke_coupling_ops* yoke__registry_find_coupling(const yoke_registry* registry,
                                                      const char* name);
// A key that stands beside the parameters of every method: `method`, `members`, ...
bool yoke__registry_is_method_key(const char* key);
// The names of a method's settings: parameters, files, signals.
size_t yoke__registry_n_settings(const yoke_coupling_ops* ops);
const char* yoke__registry_setting_name(const yoke_coupling_ops* ops, size_t i);
// Whether a complete table has what every method needs, and sound parameters. YOKE_BAD_ARG after a message.
yoke_status yoke__registry_check_coupling(const yoke_coupling_ops* ops, const yoke_sink* sink);
const yoke_result_ops* yoke__registry_find_result(const yoke_registry* registry, const char* name);

#endif
