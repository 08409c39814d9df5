// An FMU in the place of a system file: one unit, with the times of its default experiment.
#ifndef YOKE_SCENARIO_FMU_H
#define YOKE_SCENARIO_FMU_H

#include <stdbool.h>

#include "base/base_message.h"

// True if the name ends in ".fmu", in any case, or is that of a folder with a modelDescription.xml.
bool yoke__scenario_is_fmu(const char* path);
// The system file that somebody would write for it, malloc'ed. Errors go to messages.
yoke_status yoke__scenario_fmu_text(const char* path, yoke_messages* messages, char** text,
                                    size_t* n);

#endif
