// The writer thread. It polls: the producer must not pay a system call to wake it, and a sleep of
// at most 2 ms is short against the ring (20000 rows of 50 reals, one second at 20 kHz). A file
// that fails is left as it is, reported once, and does not hold up the others.
#include "record/record_writer.h"

#include "base/base_crash.h"
#include "base/base_os.h"

#define SHORTEST_SLEEP_NS 100000   // right after a row was seen
#define LONGEST_SLEEP_NS  2000000  // after a while without rows
#define BLOCK_SIZE                                                                                 \
  262144u  // bytes handed on at once: stays in the second-level cache for all files

static void fail_sink(yoke_record_writer* writer, yoke_record_sink* sink, yoke_status status,
                      uint64_t n_rows, const yoke_caught* why) {
  const yoke_sink errors = yoke__messages_sink(&writer->failures);
  yoke__fail_at(&errors, status, (yoke_place){.source = sink->path},
                "cannot be written: %s (%llu rows written)",
                why->text[0] == '\0' ? yoke_status_text(status) : why->text,
                (unsigned long long)n_rows);
  sink->is_failed = true;
  atomic_store_explicit(&writer->has_failed, true, memory_order_release);
}

yoke_status yoke__writer_open(yoke_record_writer* writer, const yoke_sink* errors) {
  for (size_t i = 0; i < writer->n_files; i++) {
    yoke_record_sink* sink = &writer->sinks[i];
    yoke_context about;
    yoke__os_restore_umask();
    yoke__context_init(&about, errors, (yoke_place){.source = sink->path}, NULL, (double)NAN);
    // what cannot be renamed at the end is better known now
    const yoke_status status =
        yoke__os_is_directory(sink->path)
            ? yoke_fail(&about.sink, YOKE_IO, "a folder of that name is in the way")
            : sink->ops->open(writer->layout, sink->part_path, &sink->self, &about.sink);
    if (status < 0) {
      sink->self = NULL;
      yoke__writer_discard(writer);
      return status;
    }
  }
  yoke__crash_exit_first();
  return YOKE_OK;
}

void yoke__writer_discard(yoke_record_writer* writer) {
  for (size_t i = 0; i < writer->n_files; i++) {
    yoke_record_sink* sink = &writer->sinks[i];
    if (sink->self != NULL) {
      sink->ops->discard(sink->self);
      sink->self = NULL;
      yoke__os_file_remove(sink->part_path);
    }
  }
}

// Takes what is ready, at most a block. Returns the number of rows.
static size_t drain_block(yoke_record_writer* writer) {
  size_t n = 0;
  const unsigned char* rows = yoke__ring_peek(writer->ring, &n);
  const size_t most = BLOCK_SIZE / writer->ring->stride + 1;
  n = n < most ? n : most;
  if (n == 0) {
    return 0;
  }
  for (size_t i = 0; i < writer->n_sinks; i++) {
    yoke_record_sink* sink = &writer->sinks[i];
    YOKE_CATCH(why);
    const yoke_status status =
        sink->is_failed ? YOKE_OK : sink->ops->write(sink->self, rows, n, &why.sink);
    if (status < 0) {
      fail_sink(writer, sink, status, sink->ops->n_rows(sink->self), &why);
    }
  }
  yoke__ring_release(writer->ring, n);
  atomic_fetch_add_explicit(&writer->n_rows, n, memory_order_relaxed);
  return n;
}

static void flush_sink(yoke_record_writer* writer, yoke_record_sink* sink) {
  YOKE_CATCH(why);
  const yoke_status status = sink->is_failed ? YOKE_OK : sink->ops->flush(sink->self, &why.sink);
  if (status < 0) {
    fail_sink(writer, sink, status, sink->ops->n_rows(sink->self), &why);
  }
}

static void flush_sinks(yoke_record_writer* writer) {
  for (size_t i = 0; i < writer->n_sinks; i++) {
    flush_sink(writer, &writer->sinks[i]);
  }
}

// Of a run whose process is about to end: the heap may be in any state, and closing a file uses it, as most formats do
// anyway. What is in the files is written and gets its final name first, CSV before the others.
static void hurry(yoke_record_writer* writer) {
  for (size_t i = 0; i < writer->n_files; i++) {
    yoke_record_sink* sink = &writer->sinks[i];
    flush_sink(writer, sink);
    if (yoke__os_rename(sink->part_path, sink->path, NULL) >= 0) {
      sink->part_path = NULL;
    }
  }
}

// Completes every file and gives it its final name, also the ones that failed: what is in them is
// good.
static void finish_sinks(yoke_record_writer* writer) {
  for (size_t i = 0; i < writer->n_sinks; i++) {
    yoke_record_sink* sink = &writer->sinks[i];
    YOKE_CATCH(why);
    uint64_t n_rows = 0;
    const yoke_status status =
        sink->ops->close(sink->self, writer->n_lost_at_end, &n_rows, &why.sink);
    sink->self = NULL;
    if (status < 0 && !sink->is_failed) {
      fail_sink(writer, sink, status, n_rows, &why);
    }
    const yoke_sink errors = yoke__messages_sink(&writer->failures);
    if (sink->part_path != NULL && yoke__os_rename(sink->part_path, sink->path, &errors) < 0) {
      atomic_store_explicit(&writer->has_failed, true, memory_order_release);
    }
  }
}

// Sinks of the user's program are opened by the thread that calls them later. False: one failed, and those before it are
// closed again.
static bool open_own(yoke_record_writer* writer) {
  for (size_t i = writer->n_files; i < writer->n_sinks; i++) {
    yoke_record_sink* sink = &writer->sinks[i];
    YOKE_CATCH(why);
    yoke_status status = yoke__own_open(sink, writer->layout, writer->directory, &why.sink);
    if (status >= 0) {
      continue;
    }
    const yoke_sink errors = yoke__messages_sink(&writer->failures);
    yoke__fail_at(&errors, status, (yoke_place){.source = sink->path}, "cannot be opened: %s",
                  why.text[0] == '\0' ? yoke_status_text(status) : why.text);
    while (i-- > writer->n_files) {
      uint64_t n_rows = 0;
      writer->sinks[i].ops->close(writer->sinks[i].self, 0, &n_rows, NULL);
    }
    return false;
  }
  return true;
}

void yoke__writer_main(void* arg) {
  yoke_record_writer* writer = arg;
  const bool is_open = open_own(writer);
  atomic_store_explicit(&writer->has_failed, !is_open, memory_order_relaxed);
  atomic_store_explicit(&writer->is_open, true, memory_order_release);
  if (!is_open) {
    return;
  }
  int64_t sleep_ns = SHORTEST_SLEEP_NS;
  int64_t flushed_ns = yoke__os_now_ns();
  bool is_dirty = false;
  for (;;) {
    // looked at before the ring: what was committed before the stop is seen in this turn or a later
    // one
    const bool is_stopping = atomic_load_explicit(&writer->is_stopping, memory_order_acquire);
    const size_t n = drain_block(writer);
    is_dirty |= n > 0;

    // flushed also while rows keep coming
    const int64_t now_ns = yoke__os_now_ns();
    if (is_dirty && now_ns - flushed_ns >= writer->flush_ns) {
      flush_sinks(writer);
      flushed_ns = now_ns;
      is_dirty = false;
    }
    if (n > 0) {
      sleep_ns = SHORTEST_SLEEP_NS;
      continue;
    }
    if (is_stopping) {
      break;
    }
    yoke__os_sleep_ns(sleep_ns < writer->flush_ns ? sleep_ns : writer->flush_ns);
    sleep_ns = 2 * sleep_ns < LONGEST_SLEEP_NS ? 2 * sleep_ns : LONGEST_SLEEP_NS;
  }
  if (atomic_load(&writer->is_abandoned)) {
    hurry(writer);
  }
  finish_sinks(writer);
  atomic_store_explicit(&writer->is_finished, true, memory_order_release);
}
