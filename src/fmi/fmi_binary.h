// The shared library of an FMU: loaded, its functions found, or a message that says what is in the way.
#ifndef YOKE_FMI_BINARY_H
#define YOKE_FMI_BINARY_H

#include <stddef.h>

#include "fmi/fmi1.h"
#include "fmi/fmi2.h"
#include "fmi/fmi3.h"
#include "yoke/message.h"
#include "yoke/status.h"

enum { YOKE_FMI_MAX_PARTS = 32 };

// A loaded library. The table that belongs to `version` is filled, the others are zero. Functions of get and set are never
// NULL: where the library lacks one, a stand-in returns the status Error (OK for no references).
typedef struct yoke_fmi_binary {
  int version;  // 1, 2 or 3
  yoke_fmi1 f1;
  yoke_fmi2 f2;
  yoke_fmi3 f3;
  void* library;
  void* parts[YOKE_FMI_MAX_PARTS];  // libraries shipped beside it that had to be loaded first
  size_t n_parts;
} yoke_fmi_binary;

// Loads the library at the absolute `path` and finds the functions of `version`; identifier (of the model) may stand in
// front of their names, as in FMI 1.0 and old FMUs. parts: the interface in use, YOKE_FMI_CS or YOKE_FMI_ME.
// YOKE_BAD_INPUT: a wrong machine, all libraries that are missing, an undefined symbol, all
// functions that are missing. YOKE_NO_MEMORY. *out is NULL then.
yoke_status yoke__fmi_binary_open(const char* path, const char* identifier, int version,
                                  unsigned parts, yoke_fmi_binary** out, const yoke_sink* sink);
// The libraries stay in memory for good when it is closed: of an instance that must not be touched any more, threads may live.
void yoke__fmi_binary_leave(yoke_fmi_binary* binary);
// Unloads it; NULL is accepted. No instance of it may be left.
void yoke__fmi_binary_close(yoke_fmi_binary** binary);

#endif
