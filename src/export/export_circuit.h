// A netlist as the unit that an FMU of it is: the unit of src/unit/circuit, or the twin of
// src/unit/twin, with its `.param` values as variables behind the others, so that importers can set
// them. Used by the exporter, which describes it, and by the runtime, which runs it.
#ifndef YOKE_EXPORT_CIRCUIT_H
#define YOKE_EXPORT_CIRCUIT_H

#include "base/base_message.h"
#include "unit/unit.h"
#include "unit/unit_file.h"

#define YOKE_EXPORT_NETLIST "circuit.cir"  // its name in the resources
#define YOKE_EXPORT_CIRCUIT "circuit"      // the word for it in yoke.txt
#define YOKE_EXPORT_TWIN    "twin"         // the same of a twin

typedef struct yoke_export_circuit yoke_export_circuit;

// Opens the netlist; settings are copied, their texts and those of settings->twin must live as long.
yoke_status yoke__export_circuit_open(const yoke_unit_file_settings* settings,
                                      yoke_export_circuit** out, const yoke_sink* sink);
// No unit of it may be left.
void yoke__export_circuit_close(yoke_export_circuit** file);
const yoke_unit_ops* yoke__export_circuit_ops(const yoke_export_circuit* file);

// ---- export_circuit_text.c, not in the runtime
// The settings that a unit of a netlist, or a twin, was opened with; false: it is no such unit, or
// one in a process of its own.
bool yoke__export_circuit_settings(const yoke_unit* unit, yoke_unit_file_settings* out);
// The netlist with all files that it includes in their places, malloc'ed, NUL behind it.
yoke_status yoke__export_circuit_text(const char* path, char** out, size_t* n,
                                      const yoke_sink* sink);

#endif
