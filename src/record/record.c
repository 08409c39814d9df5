// The stepping thread's side of recording: layout of a row, the ring, start and end of the writer.
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base_arena.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "record/record_ring.h"
#include "record/record_sink.h"
#include "record/record_writer.h"

#define RING_SIZE     (8u << 20)  // bytes of the ring by default
#define MIN_RING_ROWS 1024u
#define WAIT_NS       20000  // between two looks for room

struct yoke_record {
  yoke_record_ring ring;  // first: it wants cache lines of its own
  yoke_record_layout layout;
  yoke_record_writer writer;
  yoke_thread* thread;
  yoke_arena arena;  // owns everything, this struct included

  int lock;  // the folder is ours while it is open
  const char*
      stale[YOKE_RECORD_N_FILES + 1];  // files of an earlier run that this one does not replace
  size_t n_stale;

  // the stepping thread's counters
  uint64_t n_committed, n_lost, n_waits;
  uint64_t n_lost_since_commit;
};

static yoke_status refuse(const yoke_record_column* column, const char* what, yoke_status status,
                          const yoke_sink* sink) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  snprintf(text, sizeof text, "%s: %s", what, column->name != NULL ? column->name : "");
  const yoke_message message = {.severity = YOKE_ERROR,
                                .status = status,
                                .variable = column->name,
                                .time = (double)NAN,
                                .text = text};
  yoke_send(sink, &message);
  return status;
}

static yoke_status check_column(const yoke_record_column* column, const yoke_sink* sink) {
  if (column->name == NULL || column->size == 0 || column->size % 8 != 0) {
    return refuse(column, "a column to record needs a name and a size in steps of 8", YOKE_BAD_ARG,
                  sink);
  }
  if (column->type == YOKE_BINARY) {
    return refuse(column, "binary variables cannot be recorded", YOKE_NO_SUPPORT, sink);
  }
  if (column->type != YOKE_STRING && column->size != 8) {
    return refuse(column, "a number to record takes 8 bytes", YOKE_BAD_ARG, sink);
  }
  return YOKE_OK;
}

static const char* keep_text(yoke_arena* arena, const char* text) {
  const char* source = text != NULL ? text : "";
  return yoke__arena_text(arena, source, strlen(source));
}

// A copy of the names of an enumeration.
static yoke_status copy_items(yoke_arena* arena, yoke_record_column* column) {
  if (column->items == NULL) {
    return YOKE_OK;
  }
  size_t n = 0;
  while (column->items[n] != NULL) {
    n++;
  }
  const char** items = yoke__arena_array(arena, n + 1, sizeof items[0]);
  YOKE_TRY_MEMORY(items);
  for (size_t i = 0; i < n; i++) {
    items[i] = keep_text(arena, column->items[i]);
    YOKE_TRY_MEMORY(items[i]);
  }
  column->items = items;
  return YOKE_OK;
}

// Copies the columns, so that the caller's may go, and lays them one behind the other.
static yoke_status lay_out(yoke_record* record, const yoke_record_settings* settings,
                           const yoke_record_column columns[], size_t n_columns,
                           const yoke_sink* sink) {
  yoke_record_column* copies = yoke__arena_array(&record->arena, n_columns, sizeof copies[0]);
  size_t* offsets = yoke__arena_array(&record->arena, n_columns, sizeof offsets[0]);
  const char* title = keep_text(&record->arena, settings->title);
  YOKE_TRY_MEMORY(copies && offsets && title);
  size_t stride = YOKE_ROW_TIME + sizeof(double);
  for (size_t i = 0; i < n_columns; i++) {
    YOKE_TRY(check_column(&columns[i], sink));
    copies[i] = columns[i];
    copies[i].name = keep_text(&record->arena, columns[i].name);
    copies[i].dim = keep_text(&record->arena, columns[i].dim);
    YOKE_TRY_MEMORY(copies[i].name && copies[i].dim);
    YOKE_TRY(copy_items(&record->arena, &copies[i]));
    offsets[i] = stride;
    stride += columns[i].size;
  }
  record->layout = (yoke_record_layout){copies, offsets, n_columns, stride + YOKE_ROW_LOST, title};
  return YOKE_OK;
}

static yoke_status make_ring(yoke_record* record, size_t n_rows) {
  const size_t stride = record->layout.stride;
  if (n_rows == 0) {
    n_rows = RING_SIZE / stride > MIN_RING_ROWS ? RING_SIZE / stride : MIN_RING_ROWS;
  }
  unsigned char* rows = yoke__arena_array(&record->arena, n_rows, stride);
  YOKE_TRY_MEMORY(rows);
  yoke__ring_init(&record->ring, rows, n_rows, stride);
  return YOKE_OK;
}

static char* join_path(yoke_arena* arena, const char* directory, const char* file,
                       const char* end) {
  const size_t n = yoke__os_path_join(directory, file, NULL, 0);
  char* path = yoke__arena_take(arena, n + strlen(end) + 1);
  if (path != NULL) {
    yoke__os_path_join(directory, file, path, n + 1);
    memcpy(path + n, end, strlen(end) + 1);
  }
  return path;
}

// Sinks of the user's program, behind the files.
static yoke_status append_own(yoke_record* record, const yoke_record_settings* settings,
                              const yoke_sink* errors) {
  yoke_record_writer* writer = &record->writer;
  for (size_t i = 0; i < settings->n_sinks; i++) {
    const yoke_result_ops* own = settings->sinks == NULL ? NULL : settings->sinks[i];
    if (own == NULL || own->table_size < sizeof *own ||
        own->table_version != YOKE_CONTRACT_VERSION || own->name == NULL || own->open == NULL ||
        own->write == NULL || own->close == NULL) {
      return yoke_fail(errors, YOKE_BAD_ARG, "the table of result sink %zu is not usable", i);
    }
    const char* name = keep_text(&record->arena, own->name);
    YOKE_TRY_MEMORY(name);
    writer->sinks[writer->n_sinks++] = (yoke_record_sink){.own = own, .path = name};
  }
  writer->directory = keep_text(&record->arena, settings->directory);
  return writer->directory == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// The folder and one sink per format asked for; nothing is opened yet.
static yoke_status choose_sinks(yoke_record* record, const yoke_record_settings* settings,
                                const yoke_sink* errors) {
  static const yoke_record_sink_ops* const known[YOKE_RECORD_N_FILES] = {
      &yoke__record_csv_ops, &yoke__record_hdf5_ops, &yoke__record_mat_ops};
  yoke_record_writer* writer = &record->writer;
  writer->ring = &record->ring;
  writer->layout = &record->layout;
  writer->flush_ns = settings->flush_ns > 0 ? settings->flush_ns : INT64_C(1000000000);
  if (settings->formats == 0 && settings->n_sinks == 0 && settings->directory == NULL) {
    return YOKE_OK;
  }
  writer->sinks = yoke__arena_array(&record->arena, YOKE_RECORD_N_FILES + settings->n_sinks,
                                    sizeof *writer->sinks);
  YOKE_TRY_MEMORY(writer->sinks);
  if (settings->directory == NULL && settings->formats == 0) {
    return append_own(record, settings, errors);  // no files
  }
  if (settings->directory == NULL || settings->directory[0] == '\0') {
    return yoke_fail(errors, YOKE_BAD_ARG, "no folder for the results was given");
  }
  YOKE_TRY(yoke__os_make_directory(settings->directory, errors));
  const yoke_status locked = yoke__os_lock_directory(settings->directory, &record->lock);
  if (locked < 0) {
    return yoke__fail_at(errors, locked, (yoke_place){.source = settings->directory}, "%s",
                         yoke__status_is_shortage(locked)
                             ? yoke_status_text(locked)
                             : "another run is writing its results to this folder");
  }
  record->stale[record->n_stale++] =
      join_path(&record->arena, settings->directory, "summary.json", "");
  for (size_t i = 0; i < YOKE_RECORD_N_FILES; i++) {
    if ((settings->formats & known[i]->format) == 0) {
      record->stale[record->n_stale++] =
          join_path(&record->arena, settings->directory, known[i]->file, "");
      continue;
    }
    yoke_record_sink* sink = &writer->sinks[writer->n_files++];
    sink->ops = known[i];
    sink->path = join_path(&record->arena, settings->directory, known[i]->file, "");
    sink->part_path = join_path(&record->arena, settings->directory, known[i]->file, ".part");
    YOKE_TRY_MEMORY(sink->path && sink->part_path);
  }
  writer->n_sinks = writer->n_files;
  return append_own(record, settings, errors);
}

// Hands on what went wrong in the writer, once its thread has ended: YOKE_IO, or the shortage that it was.
static yoke_status send_failures(yoke_record* record, const yoke_sink* sink) {
  const yoke_status status = yoke__messages_status(&record->writer.failures, YOKE_IO);
  for (size_t i = 0; i < record->writer.failures.n; i++) {
    yoke_send(sink, &record->writer.failures.all[i]);
  }
  yoke__messages_free(&record->writer.failures);
  return status;
}

// Waits until the writer's thread runs and has opened the sinks of the user's program.
static yoke_status wait_for_own(yoke_record* record, const yoke_sink* sink) {
  while (!atomic_load_explicit(&record->writer.is_open, memory_order_acquire)) {
    yoke__os_sleep_ns(WAIT_NS);
  }
  if (!yoke__record_has_failed(record)) {
    return YOKE_OK;
  }
  yoke__os_thread_join(&record->thread);
  yoke__writer_discard(&record->writer);
  return send_failures(record, sink);
}

// Everything that can fail; what it takes lies in record->arena, except open files and the thread.
static yoke_status start(yoke_record* record, const yoke_record_settings* settings,
                         const yoke_record_column columns[], size_t n_columns,
                         const yoke_sink* sink) {
  YOKE_TRY(lay_out(record, settings, columns, n_columns, sink));
  YOKE_TRY(make_ring(record, settings->n_ring_rows));
  YOKE_TRY(choose_sinks(record, settings, sink));
  YOKE_TRY(yoke__writer_open(&record->writer, sink));
  const yoke_status status =
      yoke__os_thread_start(yoke__writer_main, &record->writer, &record->thread);
  if (status < 0) {
    yoke__writer_discard(&record->writer);
    return yoke_fail(sink, status, "the writer thread could not be started");
  }
  // from here on it waits for rows: whoever copies this process finds it quiet
  return wait_for_own(record, sink);
}

yoke_status yoke__record_open(const yoke_record_settings* settings,
                              const yoke_record_column columns[], size_t n_columns,
                              yoke_record** out, const yoke_sink* sink) {
  *out = NULL;
  yoke_arena arena = {0};
  yoke_record* record = yoke__arena_take(&arena, sizeof *record);
  YOKE_TRY_MEMORY(record);
  record->arena = arena;
  record->lock = -1;
  const yoke_status status = start(record, settings, columns, n_columns, sink);
  if (status < 0) {
    yoke__os_unlock(&record->lock);
    arena = record->arena;  // the struct itself lies in it
    yoke__arena_free(&arena);
    return status;
  }
  *out = record;
  return YOKE_OK;
}

void* yoke__record_row(yoke_record* record) {
  return yoke__ring_slot(&record->ring);
}

void yoke__record_commit(yoke_record* record) {
  unsigned char* slot = yoke__ring_slot(&record->ring);
  if (slot == NULL) {
    return;  // commit without row
  }
  memcpy(slot + record->layout.stride - YOKE_ROW_LOST, &record->n_lost_since_commit,
         sizeof record->n_lost_since_commit);
  record->n_lost_since_commit = 0;
  record->n_committed++;
  yoke__ring_commit(&record->ring);
}

bool yoke__record_has_failed(const yoke_record* record) {
  return atomic_load_explicit(&record->writer.has_failed, memory_order_acquire);
}

yoke_status yoke__record_wait(yoke_record* record) {
  bool has_waited = false;
  for (;;) {
    if (yoke__record_has_failed(record)) {
      return YOKE_IO;
    }
    if (yoke__ring_slot(&record->ring) != NULL) {
      return YOKE_OK;
    }
    record->n_waits += !has_waited;
    has_waited = true;
    yoke__os_sleep_ns(WAIT_NS);
  }
}

void yoke__record_note_lost(yoke_record* record) {
  record->n_lost++;
  record->n_lost_since_commit++;
}

bool yoke__record_is_writer(const yoke_record* record) {
  return yoke__os_thread_is_this(record->thread);
}

static yoke_record_info describe(const yoke_record* self, uint64_t n_rows) {
  uint32_t formats = 0;
  for (size_t i = 0; i < self->writer.n_sinks; i++) {
    formats |= self->writer.sinks[i].ops->format;
  }
  return (yoke_record_info){.n_rows = n_rows,
                            .n_lost = self->n_lost,
                            .n_waits = self->n_waits,
                            .n_ring_rows = self->ring.n_rows,
                            .formats = formats};
}

// What an earlier run left would be taken for this one's.
static void remove_stale(const yoke_record* self) {
  for (size_t i = 0; i < self->n_stale; i++) {
    if (self->stale[i] != NULL) {
      yoke__os_file_remove(self->stale[i]);
    }
  }
}

yoke_status yoke__record_abandon(yoke_record* record, int64_t timeout_ns, yoke_record_info* info,
                                 const yoke_sink* sink) {
  const int64_t end = yoke__os_now_ns() + timeout_ns;
  record->writer.n_lost_at_end = record->n_lost_since_commit;
  atomic_store(&record->writer.is_abandoned, true);
  atomic_store_explicit(&record->writer.is_stopping, true, memory_order_release);
  while (!atomic_load_explicit(&record->writer.is_finished, memory_order_acquire)) {
    if (yoke__os_now_ns() > end) {
      *info = describe(record, atomic_load(&record->writer.n_rows));
      return yoke_fail(sink, YOKE_IO, "the files of the results are not complete");
    }
    yoke__os_sleep_ns(WAIT_NS);
  }
  remove_stale(record);
  *info = describe(record, atomic_load(&record->writer.n_rows));
  for (size_t i = 0; i < record->writer.failures.n; i++) {
    yoke_send(sink, &record->writer.failures.all[i]);
  }
  return yoke__record_has_failed(record) ? YOKE_IO : YOKE_OK;
}

yoke_status yoke__record_close(yoke_record** record, yoke_record_info* info,
                               const yoke_sink* sink) {
  yoke_record* self = *record;
  if (self == NULL) {
    return YOKE_OK;
  }
  *record = NULL;

  // the writer empties the ring, completes the files and ends
  self->writer.n_lost_at_end = self->n_lost_since_commit;
  atomic_store_explicit(&self->writer.is_stopping, true, memory_order_release);
  yoke__os_thread_join(&self->thread);

  remove_stale(self);
  yoke__os_unlock(&self->lock);

  if (info != NULL) {
    *info = describe(self, self->n_committed);
  }
  const bool has_failed = yoke__record_has_failed(self);
  const yoke_status failure = send_failures(self, sink);
  yoke_arena arena = self->arena;  // the struct itself lies in it
  yoke__arena_free(&arena);
  return has_failed ? failure : YOKE_OK;
}
