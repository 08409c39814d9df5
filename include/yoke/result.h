// Results: reading a finished one as named columns, and sinks that receive rows while a simulation runs.
#ifndef YOKE_RESULT_H
#define YOKE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/message.h"
#include "yoke/status.h"
#include "yoke/unit.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- reading

typedef struct yoke_result yoke_result;

// One column. Texts and numbers live as long as the result.
typedef struct yoke_result_column {
  const char* name;      // "time", "unit.variable", "bond.spring.dP"
  const double* values;  // one per row; NaN where the cell is empty or no number
  bool is_text;          // some cell is neither empty nor a number
} yoke_result_column;

// Opens results.csv, results.h5, or a folder that holds one of them. Errors carry file and line.
YOKE_API yoke_status yoke_result_open(const char* path, const yoke_sink* sink, yoke_result** out);
// NULL and a pointer to NULL are fine; *result becomes NULL.
YOKE_API void yoke_result_close(yoke_result** result);
// Rows and columns; column 0 is the time. 0 for NULL.
YOKE_API size_t yoke_result_n_rows(const yoke_result* result);
YOKE_API size_t yoke_result_n_columns(const yoke_result* result);
// YOKE_BAD_ARG if there is no such column.
YOKE_API yoke_status yoke_result_get(const yoke_result* result, size_t i, yoke_result_column* out);
// The column of that name.
YOKE_API yoke_status yoke_result_find(const yoke_result* result, const char* name, size_t* i);

// ---- recording

// What a row holds: `double time`, then the columns one after another, `size` bytes each.
typedef struct yoke_record_column {
  const char* name;  // "unit.variable", "bond.spring.dP"; one element of an array is "u.v[0]"
  const char* dim;   // physical unit or ""
  yoke_type type;
  size_t size;  // a multiple of 8: 8 for real (double), integer, boolean and enumeration (int64_t);
                // strings are NUL-terminated and padded
  const char* const* items;  // enumeration names or NULL
} yoke_record_column;

// A sink of your own for rows, named in `record: {formats: [name]}` or in yoke_record_settings. All calls come from the
// writer's thread, never from the one that steps. A failure ends the run with YOKE_IO; what was sent to `sink` is its reason.
typedef struct yoke_result_ops {
  size_t table_size;       // bytes of this table: YOKE_RESULT_HEAD
  uint32_t table_version;  // of the contract
  const char* name;
  const char* text;  // one line for people
  // directory: the folder of the results; "" if there is none. context: of this table.
  yoke_status (*open)(const void* context, const char* directory,
                      const yoke_record_column columns[], size_t n_columns, void** self,
                      const yoke_sink* sink);
  // n rows, one every `stride` bytes, each beginning as described above. They are only there during the call.
  yoke_status (*write)(void* self, const void* rows, size_t n, size_t stride,
                       const yoke_sink* sink);
  yoke_status (*flush)(void* self, const yoke_sink* sink);  // NULL: nothing to do
  yoke_status (*close)(void* self, const yoke_sink* sink);  // frees self, also on failure
  const void* context;
} yoke_result_ops;
#define YOKE_RESULT_HEAD                                                                           \
  .table_size = sizeof(yoke_result_ops), .table_version = YOKE_CONTRACT_VERSION

enum { YOKE_RECORD_CSV = 1u << 0, YOKE_RECORD_HDF5 = 1u << 1, YOKE_RECORD_MAT = 1u << 2 };

// How a simulation records (zeroed: the formats of the system file, else CSV, to `directory`).
typedef struct yoke_record_settings {
  const char*
      directory;  // made if missing; files results.csv, results.h5, results.mat. NULL: only `sinks`
  uint32_t formats;  // YOKE_RECORD_*; 0: as the system file says, its sinks included
  const yoke_result_ops* const* sinks;  // further ones, called beside the files
  size_t n_sinks;
  size_t
      n_ring_rows;  // rows between the loop and the writer; 0: as many as fit in about 8 MB, at least 1024
  int64_t flush_ns;   // 0: every second
  const char* title;  // metadata where the format has room for it; NULL: the system's name
} yoke_record_settings;

// What recording did.
typedef struct yoke_record_info {
  uint64_t n_rows, n_lost, n_waits;
  size_t n_ring_rows;
  uint32_t formats;
} yoke_record_info;

#ifdef __cplusplus
}
#endif
#endif
