// A system as SSP: every unit an FMU, the structure as an SSD, what SSP cannot say in our own annotation.
//
//   SystemStructure.ssd       components, connectors, connections, times   export_ssp_system.c
//                             and the annotation org.yoke.system           export_ssp_annotation.c
//   resources/<unit>.fmu      native units as FMUs, FMUs as they are       export_ssp.c
//   resources/<unit>.ssv      what the system file sets                    export_ssp_values.c
#ifndef YOKE_EXPORT_SSP_H
#define YOKE_EXPORT_SSP_H

#include "base/base_message.h"
#include "scenario/scenario.h"
#include "unit/unit.h"

// Everything belongs to the caller and is not changed.
typedef struct yoke_export_ssp_job {
  const yoke_scenario* scenario;  // without errors
  const yoke_unit* const*
      units;            // for each of its units an instance with its settings, not initialised
  int fmi;              // of native units: 2 or 3
  const char* runtime;  // path of yoke-fmu.so
  const char* sources;  // path of yoke-fmu-sources.zip; NULL: FMUs without sources
} yoke_export_ssp_job;

// Writes the archive; path gets its content at the end or not at all. The same system gives the same bytes. Errors, and
// warnings of what other tools will not understand, go to messages. YOKE_BAD_INPUT or YOKE_NO_SUPPORT: the system cannot
// be written so; YOKE_IO, YOKE_NO_MEMORY.
yoke_status yoke__export_ssp(const yoke_export_ssp_job* job, const char* path,
                             yoke_messages* messages);

#endif
