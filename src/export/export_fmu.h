// A unit as an FMU: model description, prebuilt runtime, settings and C sources in one archive.
//
//   modelDescription.xml                what importers read              export_describe.c
//   binaries/<platform>/<name>.so       yoke-fmu.so, the same for all    cmake/export.cmake
//   resources/yoke.txt                  which model, with what settings  export_fmu.c
//   resources/<file>                    files that the settings name: a table, a netlist
//   resources/unit.so                   the shared library that the unit comes from
//   sources/*.c, *.h                    the runtime again, as text       yoke-fmu-sources.zip
#ifndef YOKE_EXPORT_FMU_H
#define YOKE_EXPORT_FMU_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base_arena.h"
#include "base/base_message.h"
#include "scenario/scenario.h"
#include "unit/unit.h"
#include "yoke/status.h"

// Names of the two files that an export needs beside the program.
#define YOKE_EXPORT_RUNTIME "yoke-fmu.so"
#define YOKE_EXPORT_SOURCES "yoke-fmu-sources.zip"

// What is exported. Everything belongs to the caller and is not changed.
typedef struct yoke_export_job {
  int fmi;                   // 2 or 3
  bool has_event_mode;       // 3: offered, so that outputs may be read after new inputs
  const char* name;          // modelName; its C identifier names the binary
  const char* text;          // one line for people; NULL: that of the model
  const yoke_unit_ops* ops;  // the native model (yoke__models_find), or that of a netlist's unit
  const yoke_unit* unit;     // an instance with its settings, not yet initialised: parameters
                             // and start values are read from it; NULL: those of the model.
                             // Of a netlist it must be there
  const yoke_argument* arguments;  // what it was made with (yoke__export_arguments)
  size_t n_arguments;
  const yoke_argument* starts;  // start values of a netlist's unit, which cannot be read from it
  size_t n_starts;              // (yoke__export_starts)
  const char* directory;        // where relative paths in the arguments start
  const char* library;          // path of the shared library that has the model; NULL: none
  const char* library_model;    // its name there; NULL: the only one
  bool has_experiment;          // of the system it comes from
  double start, stop, step;
  const char* runtime;  // path of yoke-fmu.so
  const char* sources;  // path of yoke-fmu-sources.zip; NULL: an FMU without sources
} yoke_export_job;

// The arguments of create that a unit of a system file gives under `with` and `values`, in arena. Errors go to messages.
yoke_status yoke__export_arguments(const yoke_scenario_unit* source, const yoke_unit_ops* ops,
                                   yoke_arena* arena, yoke_messages* messages,
                                   const yoke_argument** arguments, size_t* n);

// The start values that it gives under `start` and `values`: real scalars, in arena.
yoke_status yoke__export_starts(const yoke_scenario_unit* source, const yoke_unit_ops* ops,
                                yoke_arena* arena, yoke_messages* messages,
                                const yoke_argument** starts, size_t* n);

// Where the model of such a unit comes from: the two fields of the job that say so.
yoke_status yoke__export_library(const yoke_scenario_unit* source, yoke_arena* arena,
                                 yoke_export_job* job);

// Writes the FMU; path gets its content at the end or not at all. The same job gives the same bytes. YOKE_NO_SUPPORT: this
// unit cannot be such an FMU; YOKE_BAD_INPUT: its settings are refused by the model; YOKE_IO.
yoke_status yoke__export_fmu(const yoke_export_job* job, const char* path, const yoke_sink* sink);

// name as a C identifier: other characters become '_'.
void yoke__export_identifier(const char* name, char* to, size_t size);

// Looks for the runtime and the sources: what YOKE_FMU_RUNTIME (`given`, NULL if it is not set) names, a file or a folder;
// else beside the running program, ../libexec/yoke and ../lib/yoke from there. Paths go into arena; *sources is NULL if
// there are none. YOKE_IO: not found.
yoke_status yoke__export_find_runtime(const char* given, yoke_arena* arena, const char** runtime,
                                      const char** sources, const yoke_sink* sink);

#endif
