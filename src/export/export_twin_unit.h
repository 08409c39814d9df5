// From the unit of a twin to the filter that is written as C.
#ifndef YOKE_EXPORT_TWIN_UNIT_H
#define YOKE_EXPORT_TWIN_UNIT_H

#include "base/base_message.h"
#include "export/export_fmu.h"
#include "export/export_twin.h"

// Starts the unit and fills what the job has beside its texts. Errors, with names and places, go to messages: the unit is no twin,
// or one that fixed constants do not describe. Arrays lie in arena; the filter is the unit's.
yoke_status yoke__export_twin_of_unit(const yoke_export_job* unit, yoke_arena* arena,
                                      yoke_messages* messages, yoke_export_twin_job* job);

#endif
