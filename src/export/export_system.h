// What is exported of a file: one unit, made as a run would make it, or a whole system.
#ifndef YOKE_EXPORT_SYSTEM_H
#define YOKE_EXPORT_SYSTEM_H

#include "base/base_message.h"
#include "yoke/system.h"

// A file that is read for one of its units.
typedef struct yoke_export_unit yoke_export_unit;

// Reads a system file, an SSP, a netlist, or a system of one native model. sets: "path=value" texts. *out is NULL only
// without memory: messages (below) say why it could not be read.
yoke_status yoke__export_unit_open(const char* what, const yoke_unit_ops* model,
                                   const char* const sets[], size_t n_sets, yoke_export_unit** out);
// NULL and a pointer to NULL are fine.
void yoke__export_unit_close(yoke_export_unit** unit);
// What there is to say so far.
yoke_messages* yoke__export_unit_messages(yoke_export_unit* unit);
// Units and laws to choose from: name, kind and is_law are filled in. False beyond the last one.
bool yoke__export_unit_get(const yoke_export_unit* unit, size_t i, yoke_unit_view* out);

// Makes one of them, in this process, without its neighbours. sets NULL: as the file was opened; else it is read again
// with these. step: of a circuit's solver as it was asked for [s]; 0: not given.
yoke_status yoke__export_unit_make(yoke_export_unit* unit, const char* name,
                                   const char* const sets[], size_t n_sets, double step);

// What an FMU of it has.
typedef struct yoke_export_counts {
  const char* name;
  size_t causality[YOKE_STATE + 1];  // variables of each
  size_t n_readable;                 // more that can be read only
  bool has_sources;
} yoke_export_counts;
// The name of the FMU's model.
const char* yoke__export_unit_model(const yoke_export_unit* unit);
// Event mode of FMI 3.0 is offered by what is written next: importers may then read outputs after new inputs (fresh exchange).
void yoke__export_unit_offer_events(yoke_export_unit* unit);
// Writes the FMU. fmi: 2 or 3. The environment's YOKE_FMU_RUNTIME is looked at, see yoke__export_find_runtime.
yoke_status yoke__export_unit_write(yoke_export_unit* unit, int fmi, const char* path,
                                    yoke_export_counts* counts, const yoke_sink* sink);

// What the C of a linear twin has and needs.
typedef struct yoke_export_c_counts {
  size_t n_states, n_inputs, n_sensors, n_outputs, n_unknowns;
  size_t flash, ram;  // bytes: constants, one instance
} yoke_export_c_counts;
// Writes directory/NAME.h and NAME.c of a twin, NAME being that of the unit. settings: of the command line, for the comment. What
// cannot be written so goes to messages: YOKE_NO_SUPPORT; YOKE_IO.
yoke_status yoke__export_unit_write_c(yoke_export_unit* unit, const char* directory,
                                      const char* settings, yoke_export_c_counts* counts,
                                      const yoke_sink* sink);

// Writes an SSP of a loaded system. fmi: of native units. Status as of yoke__export_ssp; YOKE_IO also if the runtime is
// missing.
yoke_status yoke__export_system(const yoke_system* system, int fmi, const char* path,
                                yoke_messages* messages);

#endif
