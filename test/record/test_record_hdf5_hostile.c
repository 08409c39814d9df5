// Hostile results.h5: whatever the HDF5 library does with one (crash, loop, endless memory), it does it in a child process, and
// what comes back is a status and a message.
#define _POSIX_C_SOURCE 200809L

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base_os.h"
#include "base/base_process.h"
#include "record/record_fixture.h"
#include "record/record_hdf5.h"
#include "record/record_hdf5_child.h"
#include "record/record_read.h"
#include "support/failing_heap.h"  // tells whether a sanitizer brings its own allocator
#include "support/heard.h"

// ---- readers that misbehave

static yoke_status crash(const char* path, yoke_csv* out, const yoke_sink* errors) {
  (void)path, (void)out, (void)errors;
  raise(SIGSEGV);
  return YOKE_OK;
}

static yoke_status leave(const char* path, yoke_csv* out, const yoke_sink* errors) {
  (void)path, (void)out, (void)errors;
  _exit(3);
}

static yoke_status loop(const char* path, yoke_csv* out, const yoke_sink* errors) {
  (void)path, (void)out, (void)errors;
  for (volatile unsigned i = 0; i < 2; i ^= 1) {
  }
  return YOKE_OK;
}

static yoke_status wait_for_signal(const char* path, yoke_csv* out, const yoke_sink* errors) {
  (void)path, (void)out, (void)errors;
  while (pause() != 0) {
  }
  return YOKE_OK;
}

static int pipe_ends[2];

static yoke_status tell_and_wait(const char* path, yoke_csv* out, const yoke_sink* errors) {
  return write(pipe_ends[1], "x", 1) == 1 ? wait_for_signal(path, out, errors) : YOKE_IO;
}

#if HAS_OWN_MALLOC
static yoke_status hoard(const char* path, yoke_csv* out, const yoke_sink* errors) {
  (void)path, (void)out, (void)errors;
  // a compiler may leave out an allocation whose block nobody looks at
  for (void* volatile block = malloc(1 << 20); block != NULL;) {
    block = malloc(1 << 20);
  }
  return YOKE_NO_MEMORY;
}
#endif

#if HAS_OWN_MALLOC
// Emulators run programs without the limits of memory that these set for themselves.
static bool has_memory_limit(void) {
  const pid_t child = fork();
  if (child == 0) {
    yoke__process_limit(64u << 20);
    void* volatile block = malloc((size_t)512 << 20);
    _exit(block == NULL ? 1 : 0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 1;
}
#endif

static yoke_status refuse(const char* path, yoke_csv* out, const yoke_sink* errors) {
  (void)out;
  return yoke_fail(errors, YOKE_NO_SUPPORT, "no way to read %s", path);
}

static yoke_status die_of_outside(const char* path, yoke_csv* out, const yoke_sink* errors) {
  (void)path, (void)out, (void)errors;
  raise(SIGKILL);
  return YOKE_OK;
}

// A table with n_rows given in place of the path.
static yoke_status fill(const char* n_rows, yoke_csv* out, const yoke_sink* errors) {
  (void)errors;
  out->n_rows = strtoul(n_rows, NULL, 10);
  out->n_columns = 2;
  out->columns = yoke__arena_array(&out->arena, 2, sizeof out->columns[0]);
  YOKE_TRY_MEMORY(out->columns);
  for (size_t i = 0; i < 2; i++) {
    out->columns[i].name = i == 0 ? "time" : "";
    out->columns[i].values =
        out->n_rows == 0 ? NULL : yoke__arena_array(&out->arena, out->n_rows, sizeof(double));
    for (size_t k = 0; k < out->n_rows; k++) {
      out->columns[i].values[k] = (double)(k + i * 1000000);
    }
  }
  return YOKE_OK;
}

static void misbehaviour_is_a_message(void** state) {
  (void)state;
  static const struct {
    yoke_child_read read;
    yoke_status status;
    const char* text;
  } cases[] = {
    {crash, YOKE_BAD_INPUT, "reading it crashes (segmentation fault)"},
    {leave, YOKE_BAD_INPUT, "reading it ends the process (exit status 3)"},
    {loop, YOKE_BAD_INPUT, "reading it takes more than 1 s of processor time"},
    {die_of_outside, YOKE_NO_MEMORY, "reading it was ended"},
    {refuse, YOKE_NO_SUPPORT, "no way to read x.h5"},
#if HAS_OWN_MALLOC
    {hoard, YOKE_NO_MEMORY, "out of memory: reading it needs more than 64 MB"},
#endif
  };
  const yoke_child_limits limits = {.memory = 64u << 20, .cpu_s = 1, .wall_s = 600};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
#if HAS_OWN_MALLOC
    if (cases[i].read == hoard && !has_memory_limit()) {
      print_message("skipped: a limit of memory, which the emulator does not know\n");
      continue;
    }
#endif
    YOKE_CATCH(err);
    yoke_csv table;
    assert_int_equal(yoke__read_in_child(cases[i].read, NULL, "x.h5", &limits, &table, &err.sink),
                     cases[i].status);
    check_contains(err.text, cases[i].text);
    assert_null(table.columns);
  }
  YOKE_CATCH(err);
  yoke_csv table;
  const yoke_child_limits brief = {.memory = 64u << 20, .cpu_s = 60, .wall_s = 1};
  assert_int_equal(yoke__read_in_child(wait_for_signal, NULL, "x.h5", &brief, &table, &err.sink),
                   YOKE_BAD_INPUT);
  check_contains(err.text, "reading it takes more than 1 s");
}

// Killed or interrupted, the process that waits for the child takes it along: nobody is left that holds the pipe.
static void child_ends_with_its_parent(void** state) {
  (void)state;
  static const int signals[] = {SIGKILL, SIGINT, SIGTERM};
  const yoke_child_limits limits = {.memory = 64u << 20, .cpu_s = 60, .wall_s = 600};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    assert_int_equal(pipe(pipe_ends), 0);
    const pid_t parent = fork();
    assert_true(parent >= 0);
    if (parent == 0) {
      yoke_csv table;
      signal(SIGINT, SIG_DFL);
      signal(SIGTERM, SIG_DFL);
      _exit(yoke__read_in_child(tell_and_wait, NULL, "x.h5", &limits, &table, NULL) < 0);
    }
    close(pipe_ends[1]);
    char byte = 0;
    assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
    assert_int_equal(kill(parent, signals[i]), 0);
    int status = 0;
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_true(WIFSIGNALED(status));
    struct pollfd end = {.fd = pipe_ends[0], .events = POLLIN};
    assert_int_equal(poll(&end, 1, 60000), 1);
    assert_int_equal(read(pipe_ends[0], &byte, 1), 0);
    close(pipe_ends[0]);
  }
}

// Tables of no row, one row and 16 MB come back as they were.
static void tables_come_back(void** state) {
  (void)state;
  static const char* const sizes[] = {"0", "1", "1000000"};
  const yoke_child_limits limits = yoke__child_limits(0);
  for (size_t i = 0; i < 3; i++) {
    YOKE_CATCH(err);
    yoke_csv table;
    check_ok(yoke__read_in_child(fill, NULL, sizes[i], &limits, &table, &err.sink));
    assert_int_equal(table.n_rows, strtoul(sizes[i], NULL, 10));
    assert_int_equal(table.n_columns, 2);
    assert_string_equal(table.columns[0].name, "time");
    assert_string_equal(table.columns[1].name, "");
    for (size_t k = 0; k < table.n_rows; k++) {
      if (table.columns[0].values[k] != (double)k ||
          table.columns[1].values[k] != (double)(k + 1000000)) {
        fail_msg("row %zu of %s differs", k, sizes[i]);
      }
    }
    yoke__csv_free(&table);
  }
}

#ifdef YOKE_HAVE_HDF5

#include <hdf5.h>

static uint64_t next_random(uint64_t* x) {
  *x ^= *x << 13;
  *x ^= *x >> 7;
  return *x ^= *x << 17;
}

// Bytes of a small file are changed at random places, in its head more often than elsewhere, or it is cut.
static void damaged_files_are_refused_or_read(void** state) {
  (void)state;
  enum { N_FILES = 150, HEAD = 6000 };
  char path[FIXTURE_PATH_SIZE];
  size_t size = 0;
  HEAR(told);
  yoke_record* record = fixture_open(folder, YOKE_RECORD_HDF5);
  fixture_record(record, 0, 40);
  check_ok(yoke__record_close(&record, NULL, &told.sink));
  char* good = fixture_read(folder, "results.h5", &size);
  char* bytes = malloc(size + 1);
  assert_non_null(bytes);
  uint64_t random = 20261117;
  size_t n_read = 0, n_refused = 0;
  for (int i = 0; i < N_FILES; i++) {
    memcpy(bytes, good, size);
    const size_t n_changes = 1 + next_random(&random) % 16;
    for (size_t k = 0; k < n_changes; k++) {
      const bool is_head = next_random(&random) % 4 != 0;
      const size_t at = next_random(&random) % (is_head && size > HEAD ? HEAD : size);
      bytes[at] = (char)(next_random(&random) % 3 == 0 ? 0xff : next_random(&random));
    }
    const size_t n = i % 10 == 9 ? next_random(&random) % size : size;
    FILE* file = fopen(fixture_path(path, folder, "damaged.h5"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    YOKE_CATCH(err);
    yoke_csv table;
    const yoke_status status = yoke__record_read(path, &table, &err.sink);
    if (status < 0 && err.text[0] == '\0') {
      fail_msg("file %d: status %d without a message", i, (int)status);
    }
    n_read += status >= 0;
    n_refused += status < 0;
    yoke__csv_free(&table);
  }
  print_message("%zu damaged files: %zu refused, %zu read\n", (size_t)N_FILES, n_refused, n_read);
  assert_true(n_refused > 0);
  free(bytes);
  free(good);
}

// A file of a few kilobytes may declare any table: the values are then all fill values.
static void write_promises(const char* path, hsize_t n_rows, hsize_t n_columns) {
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(file, "real", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t size[2] = {n_rows, n_columns}, chunk[2] = {1000, 1};
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(list, 2, chunk);
  const hid_t space = H5Screate_simple(2, size, NULL);
  const hid_t values =
      H5Dcreate2(group, "values", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const hid_t line = H5Screate_simple(1, &n_columns, NULL);
  const hid_t names = H5Dcreate2(group, "names", type, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(values >= 0 && names >= 0);
  H5Dclose(names);
  H5Sclose(line);
  H5Tclose(type);
  H5Dclose(values);
  H5Sclose(space);
  H5Pclose(list);
  H5Gclose(group);
  H5Fclose(file);
}

static void large_promises_are_refused(void** state) {
  (void)state;
  char path[FIXTURE_PATH_SIZE];
  write_promises(fixture_path(path, folder, "promise.h5"), (hsize_t)1 << 40, 4);
  YOKE_CATCH(err);
  yoke_csv table;
#if HAS_OWN_MALLOC
  assert_int_equal(yoke__record_read(path, &table, &err.sink), YOKE_NO_MEMORY);
  check_contains(err.text, "out of memory");
#else
  assert_true(yoke__record_read(path, &table, &err.sink) < 0);  // the allocator ends the child
#endif
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(misbehaviour_is_a_message),
      cmocka_unit_test(child_ends_with_its_parent),
      cmocka_unit_test(tables_come_back),
#ifdef YOKE_HAVE_HDF5
      cmocka_unit_test_setup_teardown(damaged_files_are_refused_or_read, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(large_promises_are_refused, make_folder, remove_folder),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
