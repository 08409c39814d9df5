// FMUs as units: FMI 2.0 and 3.0, co-simulation and model exchange. See docs/fmu.md.
#ifndef YOKE_UNIT_FMU_H
#define YOKE_UNIT_FMU_H

#include "fmi/fmi_package.h"
#include "unit/unit_file.h"

// A unit's view of a package, which must outlive it. Errors and warnings go to messages.
yoke_status yoke__fmu_file_open(yoke_fmi_package* package, const yoke_unit_file_settings* settings,
                                yoke_messages* messages, yoke_unit_file** out);

// --- of the table of an FMU (src/unit/fmu/fmu_trial.c)
// Gives trial steps up if no output follows an input at once; info: what the system knows of the unit.
void yoke__fmu_settle_trial(const yoke_unit_ops* ops, const yoke_unit_info* info);
// Length of the trial steps by which its outputs are read again with new inputs [s]; 0: there are none.
double yoke__fmu_trial_step(const yoke_unit_ops* ops);
// Why there is no `refresh`, as a sentence without its end; and what would help, beside exchange: stale.
void yoke__fmu_no_refresh(const yoke_unit_ops* ops, char* why, size_t why_size, char* help,
                          size_t help_size);
// The same of save and restore, beside explicit schemes; help may be empty.
void yoke__fmu_no_rollback(const yoke_unit_ops* ops, char* why, size_t why_size, char* help,
                           size_t help_size);

#endif
