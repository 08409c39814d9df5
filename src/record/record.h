// Recording: the stepping thread puts rows into a preallocated ring; a writer thread turns them
// into files. Between open and close the stepping thread makes no heap call and no system call
// here.
#ifndef YOKE_RECORD_H
#define YOKE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/message.h"
#include "yoke/result.h"

typedef struct yoke_record yoke_record;

// settings->formats 0: rows are accepted and dropped (benchmarks, and runs that record no signal); a directory is made all the
// same, and results of an earlier run are removed from it. The names of the formats are in base/base_format.h.
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

// Whether the caller is the writer's thread: a sink of the user's program.
bool yoke__record_is_writer(const yoke_record* record);

// Writes what is left, closes the files and gives them their final names. Sends what went wrong in
// the writer thread, if anything did, one message per file; what could be written stays. info may be
// NULL. *record becomes NULL.
yoke_status yoke__record_close(yoke_record** record, yoke_record_info* info, const yoke_sink* sink);
// The same from another thread while the one that steps stands still or hangs: frees nothing and waits at most that long.
// The record may not be closed any more. YOKE_IO: the files are not complete.
yoke_status yoke__record_abandon(yoke_record* record, int64_t timeout_ns, yoke_record_info* info,
                                 const yoke_sink* sink);

#endif
