// The writer thread: takes rows out of the ring and hands them to the files.
#ifndef YOKE_RECORD_WRITER_H
#define YOKE_RECORD_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_message.h"
#include "record/record_ring.h"
#include "record/record_sink.h"

#define YOKE_RECORD_N_FILES 3  // formats there are

// A file, or a sink of the user's program.
typedef struct yoke_record_sink {
  const yoke_record_sink_ops* ops;
  const yoke_result_ops* own;  // of the user's program; NULL: a file
  void* self;
  bool is_failed;
  const char* path;  // final name, with folder; of the user's: its name
  char* part_path;   // name while it is written; NULL: no file
} yoke_record_sink;

typedef struct yoke_record_writer {
  yoke_record_ring* ring;
  yoke_record_sink* sinks;  // files first, then the user's
  size_t n_files, n_sinks;
  const yoke_record_layout* layout;
  const char* directory;  // of the results, for the user's sinks
  int64_t flush_ns;
  uint64_t n_lost_at_end;  // set before is_stopping
  yoke_messages failures;  // what went wrong; read and freed after the thread has ended
  _Atomic bool is_open;    // the user's sinks were opened, or one has_failed to
  _Atomic bool is_stopping;
  _Atomic bool is_abandoned;  // set before is_stopping: final names come as early as possible
  _Atomic bool is_finished;   // all files have their final names
  _Atomic uint64_t n_rows;    // taken out of the ring
  _Atomic bool has_failed;
} yoke_record_writer;

// Opens every file; on failure closes and removes those already open.
yoke_status yoke__writer_open(yoke_record_writer* writer, const yoke_sink* errors);
// Undoes open when the thread could not be started, or has ended because a sink of the user could not be opened.
void yoke__writer_discard(yoke_record_writer* writer);
// The thread (arg is the writer): opens the user's sinks, runs until is_stopping is set and the ring is empty, then completes
// and renames the files.
void yoke__writer_main(void* arg);

// Opens a sink of the user's program (record_own.c).
yoke_status yoke__own_open(yoke_record_sink* sink, const yoke_record_layout* layout,
                           const char* directory, const yoke_sink* errors);

#endif
