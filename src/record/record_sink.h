// What a file format must offer the writer thread, and how a row lies in memory.
#ifndef YOKE_RECORD_SINK_H
#define YOKE_RECORD_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "record/record.h"
#include "yoke/message.h"

// A stored row, `stride` bytes:
//
//   | double time | column 0 | column 1 | ... | uint64 rows lost before it |
//   0             offsets[0] offsets[1]       stride - 8
//
// Everything here is constant and lives as long as the record.
typedef struct yoke_record_layout {
  const yoke_record_column* columns;
  const size_t* offsets;  // from the start of the stored row
  size_t n_columns;
  size_t stride;
  const char* title;  // never NULL
} yoke_record_layout;

#define YOKE_ROW_TIME 0  // offset of time in a stored row
#define YOKE_ROW_LOST 8  // bytes at its end: rows lost before it

static inline uint64_t yoke__row_lost(const yoke_record_layout* layout, const unsigned char* row) {
  uint64_t n;
  memcpy(&n, row + layout->stride - YOKE_ROW_LOST, sizeof n);
  return n;
}

static inline double yoke__row_real(const unsigned char* row, size_t offset) {
  double x;
  memcpy(&x, row + offset, sizeof x);
  return x;
}

static inline int64_t yoke__row_integer(const unsigned char* row, size_t offset) {
  int64_t x;
  memcpy(&x, row + offset, sizeof x);
  return x;
}

// One file. All calls come from one thread at a time: open and discard from the one that opens the
// record, the others from the writer. A failure sends the reason alone, without the file; after a
// failed write or flush only n_rows and close follow, and the file holds n_rows complete rows.
typedef struct yoke_record_sink_ops {
  const char* file;  // final name; `path` has ".part" behind it
  uint32_t format;   // YOKE_RECORD_*

  yoke_status (*open)(const yoke_record_layout* layout, const char* path, void** self,
                      const yoke_sink* errors);
  yoke_status (*write)(void* self, const unsigned char* rows, size_t n, const yoke_sink* errors);
  // what was written so far survives the end of the process
  yoke_status (*flush)(void* self, const yoke_sink* errors);
  // rows in the file, or on their way into it as long as nothing fails
  uint64_t (*n_rows)(const void* self);
  // Completes the file; n_lost rows were lost behind the last one. Frees self, also on failure;
  // *n_rows is what the file holds then.
  yoke_status (*close)(void* self, uint64_t n_lost, uint64_t* n_rows, const yoke_sink* errors);
  // Frees self without completing anything; the caller removes the file at path.
  void (*discard)(void* self);
} yoke_record_sink_ops;

extern const yoke_record_sink_ops yoke__record_csv_ops;
extern const yoke_record_sink_ops yoke__record_hdf5_ops;
extern const yoke_record_sink_ops yoke__record_mat_ops;

#endif
