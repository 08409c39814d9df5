// What happens when a file cannot be written: the message, complete rows before it, the other files
// go on. Full disks: a file-size limit (no privileges needed), /dev/full, and a small tmpfs where
// mounting is allowed.
#define _GNU_SOURCE

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "record/record_fixture.h"
#include "record/record_read.h"
#include "record/record_writer.h"
#include "support/heard.h"

// What a child process tells its parent.
typedef struct outcome {
  int code;  // 0 the run went as described by the rest; 77 not possible here
  yoke_status status;
  bool has_failed;  // before close
  char message[8192];
} outcome;

// The run of a child: all the rows it can record with the formats given, into `where`.
static void run_child(const char* where, uint32_t formats, size_t n_rows, outcome* out) {
  yoke_record* record = NULL;
  HEAR(told);
  const yoke_record_settings settings = {
      .directory = where, .formats = formats, .flush_ns = 5000000};
  out->status =
      yoke__record_open(&settings, fixture_columns, FIXTURE_N_COLUMNS, &record, &told.sink);
  if (out->status < 0) {
    snprintf(out->message, sizeof out->message, "%s", told.text);
    return;
  }

  // goes on after a failure, so that the formats that still can take everything
  for (size_t k = 0; k < n_rows;) {
    fixture_row* row = yoke__record_row(record);
    if (row == NULL) {
      yoke__os_sleep_ns(100000);
      continue;
    }
    fixture_fill(row, k++);
    yoke__record_commit(record);
  }
  for (int i = 0; i < 3000 && !yoke__record_has_failed(record); i++) {
    yoke__os_sleep_ns(10000000);
  }
  out->has_failed = yoke__record_has_failed(record);
  out->status = yoke__record_close(&record, NULL, &told.sink);
  snprintf(out->message, sizeof out->message, "%s", told.text);
}

// Rows of the file named in "... FILE: reason (N rows written)"; -1 if the message does not name
// it.
static long rows_in_message(const char* message, const char* file) {
  const char* at = strstr(message, file);
  at = at != NULL ? strstr(at, " (") : NULL;
  return at != NULL ? strtol(at + 2, NULL, 10) : -1;
}

// results.csv ends with a complete row and holds as many as the message says.
static void check_csv(const char* where, long n_rows) {
  size_t n = 0;
  YOKE_CATCH(err);
  char* text = fixture_read(where, "results.csv", &n);
  assert_true(n > 0);
  assert_int_equal(text[n - 1], '\n');
  free(text);
  yoke_csv table;
  const yoke_status status = yoke__record_read(where, &table, &err.sink);
  if (status < 0) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(table.n_rows, n_rows);
  for (size_t k = 0; k < table.n_rows; k++) {
    check_near(table.columns[1].values[k], fixture_f(k), 0);
  }
  yoke__csv_free(&table);
}

#ifdef YOKE_HAVE_HDF5
static void check_hdf5(const char* path, long n_rows) {
  YOKE_CATCH(err);
  yoke_csv table;
  const yoke_status status = yoke__record_read(path, &table, &err.sink);
  if (status < 0) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(table.n_rows, n_rows);
  for (size_t k = 0; k < table.n_rows; k++) {
    check_near(table.columns[1].values[k], fixture_f(k), 0);
  }
  yoke__csv_free(&table);
}
#endif

static uint32_t all_formats(void) {
  uint32_t formats = YOKE_RECORD_CSV;
#ifdef YOKE_HAVE_HDF5
  formats |= YOKE_RECORD_HDF5;
#endif
#ifdef YOKE_HAVE_MATIO
  formats |= YOKE_RECORD_MAT;
#endif
  return formats;
}

// Runs fn in a child and gives what it reported.
static outcome in_child(void (*fn)(outcome*)) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    close(ends[0]);
    outcome out = {.code = 0};
    fn(&out);
    const ssize_t n = write(ends[1], &out, sizeof out);
    // exit, not _exit: the libraries' own clean-up at the end of the process must survive, too
    exit(n == (ssize_t)sizeof out ? 0 : 1);
  }
  close(ends[1]);
  outcome out = {.code = 1};
  const ssize_t n = read(ends[0], &out, sizeof out);
  close(ends[0]);
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (n != (ssize_t)sizeof out || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail_msg("the child ended with wait status %d: %s", status, out.message);
  }
  return out;
}

static void limited_child(outcome* out) {
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit = {1000000, 1000000};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
    out->code = 77;
    return;
  }
  run_child(folder, all_formats(), 60000, out);
}

// Each file ends at 1 MB: complete rows up to there, in every format.
static void size_limit_keeps_complete_rows(void** state) {
  (void)state;
  const outcome out = in_child(limited_child);
  assert_int_equal(out.code, 0);
  assert_int_equal(out.status, YOKE_IO);
  assert_true(out.has_failed);
  const long n_csv = rows_in_message(out.message, "results.csv");
  check_contains(out.message, "record-");
  check_contains(out.message, "/results.csv: error: cannot be written: File too large (");
  assert_true(n_csv > 10000);
  check_csv(folder, n_csv);
  struct stat info;
  char path[FIXTURE_PATH_SIZE];
  assert_int_equal(stat(fixture_path(path, folder, "results.csv"), &info), 0);
  assert_in_range(info.st_size, 1000000 - 200, 1000000);  // a row has less than 200 bytes
#ifdef YOKE_HAVE_HDF5
  const long n_hdf5 = rows_in_message(out.message, "results.h5");
  assert_true(n_hdf5 > 1000);
  check_hdf5(fixture_path(path, folder, "results.h5"), n_hdf5);
#endif
#ifdef YOKE_HAVE_MATIO
  assert_true(rows_in_message(out.message, "results.mat") > 1000);
  assert_true(fixture_exists(folder, "results.mat"));
  assert_false(fixture_exists(folder, "results.mat.part.rows"));
#endif
}

static void full_device_child(outcome* out) {
  run_child(folder, YOKE_RECORD_CSV, 10, out);
}

static void full_device_is_named_at_open(void** state) {
  (void)state;
  char path[FIXTURE_PATH_SIZE];
  assert_int_equal(symlink("/dev/full", fixture_path(path, folder, "results.csv.part")), 0);
  const outcome out = in_child(full_device_child);
  assert_int_equal(out.status, YOKE_SHORTAGE);
  check_contains(out.message, "/results.csv: error: No space left on device");
}

static void tmpfs_child(outcome* out) {
  // a namespace of its own: nobody else sees the mount, and it goes with the process
  if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("tmpfs", folder, "tmpfs", 0, "size=2m") != 0) {
    out->code = 77;
    return;
  }
  run_child(folder, all_formats(), 60000, out);
  if (out->status != YOKE_SHORTAGE) {
    return;
  }
  const long n_csv = rows_in_message(out->message, "results.csv");
  if (n_csv >= 0) {
    check_csv(folder, n_csv);
  }
#ifdef YOKE_HAVE_HDF5
  char path[FIXTURE_PATH_SIZE];
  const long n_hdf5 = rows_in_message(out->message, "results.h5");
  check_hdf5(fixture_path(path, folder, "results.h5"), n_hdf5 >= 0 ? n_hdf5 : 60000);
#endif
}

// A file system of 2 MB that all files share.
static void full_disk_keeps_complete_rows(void** state) {
  (void)state;
  const outcome out = in_child(tmpfs_child);
  if (out.code == 77) {
    print_message("mounting is not allowed here\n");
    skip();
  }
  assert_int_equal(out.status, YOKE_SHORTAGE);
  assert_true(out.has_failed);
  check_contains(out.message, "No space left on device (");
  check_contains(out.message, " rows written)");
  print_message("%s\n", out.message);
}

// A file format that fails at its third block, and one that counts.
typedef struct fake_sink {
  size_t n_rows, n_calls, n_closed;
} fake_sink;

static fake_sink fakes[2];

static yoke_status fake_write(void* self, const unsigned char* rows, size_t n,
                              const yoke_sink* errors) {
  (void)rows;
  fake_sink* sink = self;
  if (sink == &fakes[0] && ++sink->n_calls == 3) {
    return yoke_fail(errors, YOKE_IO, "No space left on device");
  }
  sink->n_rows += n;
  return YOKE_OK;
}

// NOLINTNEXTLINE(readability-non-const-parameter): the type is the table's
static yoke_status fake_flush(void* self, const yoke_sink* errors) {
  (void)self;
  (void)errors;
  return YOKE_OK;
}

static uint64_t fake_n_rows(const void* self) {
  return ((const fake_sink*)self)->n_rows;
}

// NOLINTNEXTLINE(readability-non-const-parameter)
static yoke_status fake_close(void* self, uint64_t n_lost, uint64_t* n_rows,
                              const yoke_sink* errors) {
  (void)n_lost;
  (void)errors;
  fake_sink* sink = self;
  sink->n_closed++;
  *n_rows = sink->n_rows;
  return YOKE_OK;
}

static void one_failure_does_not_stop_the_others(void** state) {
  (void)state;
  enum { N = 64, STRIDE = 32768 };  // nine rows make a block of the writer
  static const yoke_record_sink_ops ops = {.file = "x",
                                           .write = fake_write,
                                           .flush = fake_flush,
                                           .n_rows = fake_n_rows,
                                           .close = fake_close};
  unsigned char* rows = malloc((size_t)N * STRIDE);
  assert_non_null(rows);
  yoke_record_ring ring;
  yoke__ring_init(&ring, rows, N, STRIDE);
  char from[2][FIXTURE_PATH_SIZE], to[2][FIXTURE_PATH_SIZE];
  yoke_record_sink sinks[2] = {{0}};
  yoke_record_writer writer = {
      .ring = &ring, .sinks = sinks, .n_files = 2, .n_sinks = 2, .flush_ns = 1000000};
  for (size_t i = 0; i < 2; i++) {
    fixture_path(from[i], folder, i == 0 ? "a.part" : "b.part");
    fixture_path(to[i], folder, i == 0 ? "a" : "b");
    FILE* file = fopen(from[i], "wb");
    assert_non_null(file);
    fclose(file);
    fakes[i] = (fake_sink){0};
    writer.sinks[i] =
        (yoke_record_sink){.ops = &ops, .self = &fakes[i], .path = to[i], .part_path = from[i]};
  }
  for (int i = 0; i < N; i++) {
    assert_non_null(yoke__ring_slot(&ring));
    yoke__ring_commit(&ring);
  }
  atomic_store(&writer.is_stopping, true);
  yoke__writer_main(&writer);
  free(rows);

  assert_true(atomic_load(&writer.has_failed));
  assert_int_equal(fakes[0].n_rows, 18);  // two blocks before the failure, nothing behind it
  assert_int_equal(fakes[1].n_rows, N);
  assert_int_equal(fakes[0].n_closed, 1);
  assert_int_equal(fakes[1].n_closed, 1);
  assert_int_equal(writer.failures.n, 1);
  const yoke_message* failure = &writer.failures.all[0];
  assert_string_equal(failure->file, to[0]);
  assert_string_equal(failure->text,
                      "cannot be written: No space left on device (18 rows written)");
  assert_int_equal(failure->status, YOKE_IO);
  yoke__messages_free(&writer.failures);
  assert_true(fixture_exists(folder, "a") && fixture_exists(folder, "b"));
}

// The folder disappears under a run: everything is reported, nothing crashes.
static void vanished_folder_is_reported(void** state) {
  (void)state;
  char inner[FIXTURE_PATH_SIZE], path[FIXTURE_PATH_SIZE];
  YOKE_CATCH(err);
  fixture_path(inner, folder, "inner");
  yoke_record* record = fixture_open(inner, YOKE_RECORD_CSV);
  fixture_record(record, 0, 10);
  assert_int_equal(unlink(fixture_path(path, inner, "results.csv.part")), 0);
  assert_int_equal(rmdir(inner), 0);
  assert_int_equal(yoke__record_close(&record, NULL, &err.sink), YOKE_IO);
  check_contains(err.text, "cannot rename");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_FOLDER(size_limit_keeps_complete_rows), IN_FOLDER(full_device_is_named_at_open),
      IN_FOLDER(full_disk_keeps_complete_rows),  IN_FOLDER(one_failure_does_not_stop_the_others),
      IN_FOLDER(vanished_folder_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
