// Estimation over a record: a twin of a system file, fed by columns of recorded data in place of the other units (docs/twin.md).
//
//   system file      rig.t1 -> twin.sensor.t(s1)          data: time, rig.t1, rig.q
//   what is run      unit rig plays the columns rig.t1 and rig.q, the twin is as the file says
#ifndef YOKE_STUDY_TWIN_H
#define YOKE_STUDY_TWIN_H

#include "base/base_csv.h"
#include "scenario/scenario.h"
#include "yoke/registry.h"
#include "yoke/system.h"

typedef struct yoke_twin_task {
  const char* path;  // system file
  const char* const* sets;
  size_t n_sets;
  const char* unit;  // the twin; NULL: the only one
  const char* data;  // CSV or HDF5 file, or a folder with results
} yoke_twin_task;

// A column that the twin reads: cells that are empty or say nan are left out.
typedef struct yoke_twin_column {
  const char *unit, *variable;  // that the file connects
  const char* name;             // in the data
  bool is_sensor;  // readings, which are taken as they are; else it goes straight from row to row
  double *t, *y;   // n values, strictly increasing times
  size_t n;
  size_t n_missing, n_gaps,
      longest_gap;  // rows without value; how many stretches of them; rows of the longest
} yoke_twin_column;

typedef struct yoke_twin_data {
  const char* path;
  yoke_csv csv;
  const double* t;  // of the rows
  size_t n_rows;
  double interval;  // median distance of the rows [s]
  yoke_twin_column* columns;
  size_t n_columns;
} yoke_twin_data;

// The data of a file with the columns that the connections into unit `twin` of the scenario need. All that is wrong with it goes
// to the sink, with file and line. Everything but the csv belongs to the arena.
yoke_status yoke__twin_data_read(const char* path, const yoke_scenario* s, const char* twin,
                                 yoke_arena* arena, yoke_twin_data* out, const yoke_sink* sink);
void yoke__twin_data_free(yoke_twin_data* data);
// The value at time t: of a sensor that of the last row, else on the line between rows. count: rows so far (may be NULL).
double yoke__twin_data_value(const yoke_twin_column* column, double t, size_t* count);

// The unit type that plays data; its table goes into a registry with the data as context.
extern const char yoke__twin_player_name[];
yoke_unit_ops yoke__twin_player_ops(const yoke_twin_data* data);

// A twin and its data. Zeroed is closed.
typedef struct yoke_twin_study {
  yoke_arena arena;
  yoke_twin_task task;
  const char* unit;  // name of the twin
  size_t n_twins;
  yoke_twin_data data;
  double step;  // [s]
  yoke_unit_ops player;
  yoke_registry* registry;
} yoke_twin_study;

// Reads both. The task and its texts live as long as the study.
yoke_status yoke__twin_study_open(const yoke_twin_task* task, yoke_twin_study* out,
                                  const yoke_sink* sink);
// Systems made of it must be gone.
void yoke__twin_study_close(yoke_twin_study* study);
// The system of the twin and its data from time `from` to `to` (NaN: the first and last row), with n more settings.
yoke_status yoke__twin_study_system(const yoke_twin_study* study, const char* const sets[],
                                    size_t n, double from, double to, const yoke_sink* sink,
                                    yoke_system** out);

#endif
