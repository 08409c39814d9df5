// results.h5: layout, values, names, gaps, killed process, several files at once. Without the
// library: a clear refusal.
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <sys/wait.h>

#include "base/base_os.h"
#include "record/record_fixture.h"
#include "record/record_hdf5.h"
#include "record/record_read.h"
#include "support/heard.h"

#ifdef YOKE_HAVE_HDF5

#include <hdf5.h>

// rows first..first+n-1 of a table read back
static void check_rows(const yoke_csv* table, size_t first, size_t n) {
  assert_int_equal(table->n_rows, n);
  assert_int_equal(table->n_columns, 5);
  assert_string_equal(table->columns[0].name, "time");
  assert_string_equal(table->columns[1].name, "left.f");
  assert_string_equal(table->columns[4].name, "right.mode");
  for (size_t k = 0; k < n; k++) {
    fixture_row row;
    fixture_fill(&row, first + k);
    check_near(table->columns[0].values[k], row.time, 0);
    check_near(table->columns[1].values[k], row.f, 0);
    check_near(table->columns[2].values[k], (double)row.count, 0);
    check_near(table->columns[3].values[k], (double)row.is_on, 0);
    check_near(table->columns[4].values[k], (double)row.mode, 0);
  }
}

// one string of a dataset of variable-length strings
static void check_text(hid_t file, const char* name, size_t index, const char* want) {
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(set >= 0);
  const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  char* texts[8] = {NULL};
  assert_true(H5Sget_simple_extent_npoints(space) <= 8);
  assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0);
  assert_string_equal(texts[index], want);
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts);
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(set);
}

static void everything_comes_back(void** state) {
  (void)state;
  enum { N = 12345 };
  char path[FIXTURE_PATH_SIZE];
  HEAR(err);
  yoke_record* record = fixture_open(folder, YOKE_RECORD_HDF5);
  fixture_record(record, 0, 5000);
  yoke__record_note_lost(record);
  yoke__record_note_lost(record);
  fixture_record(record, 5000, N - 5000);
  yoke__record_note_lost(record);
  check_ok(yoke__record_close(&record, NULL, &err.sink));
  assert_false(fixture_exists(folder, "results.h5.part"));

  yoke_csv table;
  check_ok(yoke__record_read(folder, &table, &err.sink));  // finds results.h5 in the folder
  check_rows(&table, 0, N);
  yoke__csv_free(&table);

  // the parts that the reader leaves out
  const hid_t file = H5Fopen(fixture_path(path, folder, "results.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  check_text(file, "real/units", 0, "s");
  check_text(file, "real/units", 1, "N");
  check_text(file, "integer/types", 1, "boolean");
  check_text(file, "integer/items", 2, "off,on,fault");
  check_text(file, "text/names", 0, "right.text");
  uint64_t gaps[2][2] = {{0}};
  hid_t set = H5Dopen2(file, "gaps", H5P_DEFAULT);
  assert_true(H5Dread(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, gaps) >= 0);
  H5Dclose(set);
  assert_int_equal(gaps[0][0], 5000);
  assert_int_equal(gaps[0][1], 2);
  assert_int_equal(gaps[1][0], N);
  assert_int_equal(gaps[1][1], 1);
  set = H5Dopen2(file, "text/values", H5P_DEFAULT);
  const hid_t type = H5Dget_type(set);
  assert_int_equal(H5Tget_size(type), 24);
  char* texts = calloc(N, 24);
  assert_non_null(texts);
  assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0);
  for (size_t k = 0; k < N; k++) {
    fixture_row row;
    fixture_fill(&row, k);
    assert_string_equal(texts + 24 * k, row.text);
  }
  free(texts);
  H5Tclose(type);
  H5Dclose(set);
  H5Fclose(file);
}

// 150 reals: several chunks side by side, and an empty run
static void wide_and_empty_tables(void** state) {
  (void)state;
  enum { N_COLUMNS = 150, N_ROWS = 1000 };
  static yoke_record_column columns[N_COLUMNS];
  static char names[N_COLUMNS][16];
  for (size_t i = 0; i < N_COLUMNS; i++) {
    snprintf(names[i], sizeof names[i], "u.v%zu", i);
    columns[i] = (yoke_record_column){.name = names[i], .dim = "m", .type = YOKE_REAL, .size = 8};
  }
  HEAR(err);
  for (size_t n = 0; n <= N_ROWS; n += N_ROWS) {
    yoke_record* record = NULL;
    const yoke_record_settings settings = {.directory = folder, .formats = YOKE_RECORD_HDF5};
    check_ok(yoke__record_open(&settings, columns, N_COLUMNS, &record, &err.sink));
    for (size_t k = 0; k < n; k++) {
      check_ok(yoke__record_wait(record));
      double* row = yoke__record_row(record);
      for (size_t i = 0; i <= N_COLUMNS; i++) {
        row[i] = (double)(k * 1000 + i);
      }
      yoke__record_commit(record);
    }
    check_ok(yoke__record_close(&record, NULL, &err.sink));
    yoke_csv table;
    check_ok(yoke__record_read(folder, &table, &err.sink));
    assert_int_equal(table.n_rows, n);
    assert_int_equal(table.n_columns, N_COLUMNS + 1);
    assert_string_equal(table.columns[150].name, "u.v149");
    for (size_t k = 0; k < n; k++) {
      for (size_t i = 0; i <= N_COLUMNS; i++) {
        check_near(table.columns[i].values[k], (double)(k * 1000 + i), 0);
      }
    }
    yoke__csv_free(&table);
  }
}

// The same run twice gives the same bytes: no time stamps, no stray memory.
static void same_run_same_bytes(void** state) {
  (void)state;
  HEAR(err);
  char* first = NULL;
  size_t n_first = 0;
  for (int i = 0; i < 2; i++) {
    const yoke_record_settings settings = {
        .directory = folder, .formats = YOKE_RECORD_HDF5, .flush_ns = INT64_C(60000000000)};
    yoke_record* record = NULL;
    check_ok(yoke__record_open(&settings, fixture_columns, FIXTURE_N_COLUMNS, &record, &err.sink));
    fixture_record(record, 0, 3000);
    check_ok(yoke__record_close(&record, NULL, &err.sink));
    size_t n = 0;
    char* bytes = fixture_read(folder, "results.h5", &n);
    if (i == 0) {
      first = bytes;
      n_first = n;
      yoke__os_sleep_ns(INT64_C(1100000000));  // time stamps have seconds
      continue;
    }
    assert_int_equal(n, n_first);
    assert_memory_equal(bytes, first, n);
    free(bytes);
  }
  free(first);
}

// Rows that a copy of the .part of a running process holds; 0 if a flush is just under way. The original is locked.
static size_t rows_flushed(void) {
  char path[FIXTURE_PATH_SIZE];
  size_t n = 0;
  if (!fixture_exists(folder, "results.h5.part")) {
    return 0;
  }
  char* bytes = fixture_read(folder, "results.h5.part", &n);
  FILE* file = fopen(fixture_path(path, folder, "copy.h5"), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
  free(bytes);
  yoke_csv table;
  if (yoke__record_hdf5_read(path, &table, NULL) < 0) {
    return 0;
  }
  const size_t n_rows = table.n_rows;
  yoke__csv_free(&table);
  return n_rows;
}

// A process killed after a flush leaves a .part that opens and holds complete rows.
static void killed_run_leaves_readable_part(void** state) {
  (void)state;
  char path[FIXTURE_PATH_SIZE];
  HEAR(err);
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    char byte = 0;
    yoke_record* record = fixture_open(folder, YOKE_RECORD_HDF5 | YOKE_RECORD_CSV);
    fixture_record(record, 0, 10000);
    close(ends[1]);
    if (read(ends[0], &byte, 1) == 1) {    // a flush has been seen
      fixture_record(record, 10000, 100);  // may or may not arrive
    }
    kill(getpid(), SIGKILL);
  }
  close(ends[0]);
  for (int i = 0; i < 3000 && rows_flushed() < 10000; i++) {
    yoke__os_sleep_ns(10000000);
  }
  assert_int_equal(write(ends[1], "x", 1), 1);
  close(ends[1]);
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  assert_false(fixture_exists(folder, "results.h5"));
  assert_true(fixture_exists(folder, "results.csv.part"));

  yoke_csv table;
  fixture_path(path, folder, "results.h5.part");
  const yoke_status read = yoke__record_hdf5_read(path, &table, &err.sink);
  if (read < 0) {
    fail_msg("%s: %s", path, err.text);
  }
  assert_true(table.n_rows >= 10000);
  check_rows(&table, 0, table.n_rows);
  yoke__csv_free(&table);
}

// Two records in one process, each with its own writer thread, while a third thread reads.
static void two_records_share_the_library(void** state) {
  (void)state;
  char other[FIXTURE_PATH_SIZE];
  HEAR(err);
  fixture_folder(other);
  yoke_record* a = fixture_open(folder, YOKE_RECORD_HDF5);
  yoke_record* b = fixture_open(other, YOKE_RECORD_HDF5);
  for (size_t k = 0; k < 20000; k += 100) {
    fixture_record(a, k, 100);
    fixture_record(b, k + 7, 100);
  }
  check_ok(yoke__record_close(&a, NULL, &err.sink));
  yoke_csv table;
  check_ok(yoke__record_read(folder, &table, &err.sink));
  check_rows(&table, 0, 20000);
  yoke__csv_free(&table);
  check_ok(yoke__record_close(&b, NULL, &err.sink));
  check_ok(yoke__record_read(other, &table, &err.sink));
  check_rows(&table, 7, 20000);
  yoke__csv_free(&table);
  fixture_remove(other);
}

static void bad_files_are_refused(void** state) {
  (void)state;
  char path[FIXTURE_PATH_SIZE];
  HEAR(err);
  yoke_csv table;
  assert_true(yoke__record_read("no/such/file.h5", &table, &err.sink) < 0);
  check_contains(err.text, "no/such/file.h5: error: No such file or directory");
  FILE* file = fopen(fixture_path(path, folder, "bad.h5"), "wb");
  assert_non_null(file);
  fputs("this is no HDF5 file", file);
  fclose(file);
  assert_true(yoke__record_read(path, &table, &err.sink) < 0);
  const hid_t empty = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(empty);
  assert_int_equal(yoke__record_read(path, &table, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "not a result file");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_FOLDER(everything_comes_back),         IN_FOLDER(wide_and_empty_tables),
      IN_FOLDER(same_run_same_bytes),           IN_FOLDER(killed_run_leaves_readable_part),
      IN_FOLDER(two_records_share_the_library), IN_FOLDER(bad_files_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void missing_library_is_named(void** state) {
  (void)state;
  char place[FIXTURE_PATH_SIZE];
  HEAR(err);
  fixture_folder(place);
  yoke_record* record = NULL;
  const yoke_record_settings settings = {.directory = place,
                                         .formats = YOKE_RECORD_CSV | YOKE_RECORD_HDF5};
  assert_int_equal(
      yoke__record_open(&settings, fixture_columns, FIXTURE_N_COLUMNS, &record, &err.sink),
      YOKE_NO_SUPPORT);
  check_contains(err.text, "HDF5");
  assert_null(record);
  assert_false(fixture_exists(place, "results.csv.part"));  // what was open before it is gone again
  fixture_remove(place);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(missing_library_is_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
