// Shared libraries that a user compiled against the public headers, each with one table `yoke_library`; see yoke/registry.h.
#ifndef YOKE_UNIT_LIBRARY_H
#define YOKE_UNIT_LIBRARY_H

#include "base/base_arena.h"
#include "unit/unit_models.h"
#include "yoke/registry.h"

// A loaded library. The tables it holds live until it is closed.
typedef struct yoke_shared_library {
  yoke_arena arena;
  void* handle;              // of the loader
  yoke_models units;         // complete and usable
  yoke_library_table table;  // couplings and results are complete, not yet checked further
} yoke_shared_library;

// Loads it, in a process of its own first: one that crashes, ends the program or hangs while it is loaded, or whose table
// leads nowhere, ends in a message. YOKE_IO: it cannot be loaded; YOKE_BAD_INPUT: it has no usable table.
yoke_status yoke__library_open(const char* path, yoke_shared_library** out, const yoke_sink* sink);
void yoke__library_close(yoke_shared_library** handle);

// The unit of that name; with NULL the only one. NULL after a message.
const yoke_unit_ops* yoke__library_unit(const yoke_shared_library* library, const char* model,
                                        const yoke_sink* sink);

// The table itself, or a copy with zeros where it was made with older headers and is shorter. NULL after a message.
// what: "unit", "coupling method", ... for the message.
const void* yoke__table_accept(yoke_arena* arena, const void* table, size_t size, const char* what,
                               const yoke_sink* sink);

#endif
