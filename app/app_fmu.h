// What `yoke info` says about an FMU.
#ifndef YOKE_APP_FMU_H
#define YOKE_APP_FMU_H

#include <stdbool.h>

#include "base/base_json.h"
#include "fmi/fmi_package.h"

// Prints it: sections for people or JSON; is_all: all variables with their whole descriptions. Returns the exit status.
int yoke__app_show_fmu(const char* path, bool is_json, bool is_all);

// What a run would use, as far as it can be known without one.
typedef struct yoke_fmu_view {
  const yoke_fmi_package* package;
  const yoke_fmi_description* d;
  const yoke_fmi_interface* chosen;  // NULL: nothing that Yoke can run
  bool is_model_exchange;
  const char* binary;          // below binaries/, NULL: none for this machine
  char obstacle[512];          // why it cannot be run here; "" if nothing is known against it
  const char* const* missing;  // libraries that this machine lacks
  size_t n_missing;
  size_t n_inputs, n_states;      // variables; numbers of the states
  const bool* is_state;           // per variable
  const yoke_messages* messages;  // of the importer
} yoke_fmu_view;

void yoke__app_fmu_text(const yoke_fmu_view* view, bool is_all);
void yoke__app_fmu_json(const yoke_fmu_view* view, yoke_json* json);

// "co-simulation" and so on.
const char* yoke__app_fmu_interface_name(const yoke_fmu_view* view,
                                         const yoke_fmi_interface* interface_type);
// The name of the item that the start value means, or NULL.
const char* yoke__app_fmu_start_item(const yoke_fmu_view* view, const yoke_fmi_variable* v);

#endif
