// What a system may name beyond the built-in parts: units, coupling methods and result sinks of your own, from your
// program or from a shared library.
#ifndef YOKE_REGISTRY_H
#define YOKE_REGISTRY_H

#include "yoke/coupling.h"
#include "yoke/message.h"
#include "yoke/result.h"
#include "yoke/status.h"
#include "yoke/unit.h"

#ifdef __cplusplus
extern "C" {
#endif

// Built-in units and methods, plus what is added. Not changed while a system made with it exists.
typedef struct yoke_registry yoke_registry;

// A registry with nothing added yet.
YOKE_API yoke_status yoke_registry_create(yoke_registry** out);
// NULL and a pointer to NULL are fine; *registry becomes NULL. Systems made with it must be gone.
YOKE_API void yoke_registry_destroy(yoke_registry** registry);

// Adds a table. It must live as long as the registry. YOKE_BAD_ARG, with a message to sink (may be NULL) that says why: the
// table is not usable, was made for another version of the headers, or its name is taken.
YOKE_API yoke_status yoke_registry_add_unit(yoke_registry* registry, const yoke_unit_ops* ops,
                                            const yoke_sink* sink);
YOKE_API yoke_status yoke_registry_add_coupling(yoke_registry* registry,
                                                const yoke_coupling_ops* ops,
                                                const yoke_sink* sink);
YOKE_API yoke_status yoke_registry_add_result(yoke_registry* registry, const yoke_result_ops* ops,
                                              const yoke_sink* sink);

// Units and methods by index, built-in ones first; NULL beyond the last one. registry NULL: the built-in ones.
YOKE_API const yoke_unit_ops* yoke_registry_unit(const yoke_registry* registry, size_t i);
YOKE_API const yoke_coupling_ops* yoke_registry_coupling(const yoke_registry* registry, size_t i);

// ---- shared libraries

// A shared library exports one of these under the name `yoke_library`:
//   const yoke_library_table yoke_library = {YOKE_LIBRARY_HEAD, .units = units, .n_units = 1};
typedef struct yoke_library_table {
  size_t table_size;       // bytes of this table
  uint32_t table_version;  // YOKE_CONTRACT_VERSION of the headers it was compiled with
  const char* text;        // one line for people; NULL: none
  const yoke_unit_ops* const* units;
  size_t n_units;
  const yoke_coupling_ops* const* couplings;
  size_t n_couplings;
  const yoke_result_ops* const* results;
  size_t n_results;
} yoke_library_table;
#define YOKE_LIBRARY_HEAD                                                                          \
  .table_size = sizeof(yoke_library_table), .table_version = YOKE_CONTRACT_VERSION

// Defined by a shared library of yours, never by Yoke.
YOKE_API extern const yoke_library_table yoke_library;

// Loads a shared library and adds everything its table holds, or nothing; the library stays loaded as long as the registry.
// Loading and unloading are tried in a process of their own first, so that a library that crashes, exits or hangs (10 s) in
// one of them ends in a message; what its destructors do after it was used is not tried. YOKE_IO: no such file or it cannot
// be loaded; YOKE_BAD_INPUT: it has no table, one of another version, or one with an unusable entry or a name that is taken.
YOKE_API yoke_status yoke_registry_load(yoke_registry* registry, const char* path,
                                        const yoke_sink* sink);

#ifdef __cplusplus
}
#endif
#endif
