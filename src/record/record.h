// Recording: the stepping thread puts rows into a preallocated ring; a writer thread turns them
// into files. Between open and close the stepping thread makes no heap call and no system call
// here.
#ifndef YOKE_RECORD_H
#define YOKE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/message.h"
#include "yoke/unit.h"

// One column. A row is `double time` and then the columns one after another, each `size` bytes (a
// multiple of 8): 8 for real (double), integer, boolean, enumeration (int64_t); for strings the
// NUL-terminated text padded.
typedef struct yoke_record_column {
  const char* name;  // "unit.variable", "bond.spring.dP"; one element of an array is "u.v[0]"
  const char* dim;   // physical unit or ""
  yoke_type type;
  size_t size;
  const char* const* items;  // enumeration names or NULL
} yoke_record_column;

// Their names, in this order, are in base/base_format.h.
enum { YOKE_RECORD_CSV = 1u << 0, YOKE_RECORD_HDF5 = 1u << 1, YOKE_RECORD_MAT = 1u << 2 };

typedef struct yoke_record_settings {
  const char* directory;  // made if missing; files results.csv, results.h5, results.mat
  uint32_t formats;       // YOKE_RECORD_*; 0: rows are accepted and dropped (benchmarks)
  size_t n_ring_rows;     // 0: as many as fit in about 8 MB, at least 1024
  int64_t flush_ns;       // 0: every second
  const char* title;      // written as metadata where the format has room for it
} yoke_record_settings;

typedef struct yoke_record yoke_record;

yoke_status yoke__record_open(const yoke_record_settings* settings,
                              const yoke_record_column columns[], size_t n_columns,
                              yoke_record** out, const yoke_sink* sink);
// The next free row, or NULL if the ring is full. Stepping thread only. Never waits.
void* yoke__record_row(yoke_record* record);
// The row is complete and belongs to the writer now.
void yoke__record_commit(yoke_record* record);
// Waits until there is room (unpaced runs; counted). YOKE_IO if the writer has failed.
yoke_status yoke__record_wait(yoke_record* record);
// True once the writer has met an error: the run should end.
bool yoke__record_has_failed(const yoke_record* record);
void yoke__record_note_lost(yoke_record* record);  // a paced run had no room for a row

typedef struct yoke_record_info {
  uint64_t n_rows, n_lost, n_waits;
  size_t n_ring_rows;
  uint32_t formats;
} yoke_record_info;

// Writes what is left, closes the files and gives them their final names. Sends what went wrong in
// the writer thread, if anything did, one message per file; what could be written stays. info may be
// NULL. *record becomes NULL.
yoke_status yoke__record_close(yoke_record** record, yoke_record_info* info, const yoke_sink* sink);

#endif
