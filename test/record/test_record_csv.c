// results.csv: exact text, all types, quoting, gaps, temporary name, waiting on a small ring, round
// trip.
#define _POSIX_C_SOURCE 200809L

#include "base/base_csv.h"
#include "base/base_os.h"
#include "record/record_fixture.h"
#include "record/record_read.h"
#include "support/heard.h"

static void text_is_exact(void** state) {
  (void)state;
  const yoke_record_column columns[] = {
      {.name = "a.x", .dim = "m", .type = YOKE_REAL, .size = 8},
      {.name = "b.der(x), \"raw\"", .dim = "", .type = YOKE_INTEGER, .size = 8},
      {.name = "b.on", .dim = "", .type = YOKE_BOOLEAN, .size = 8},
      {.name = "b.mode", .dim = "", .type = YOKE_ENUMERATION, .size = 8},
      {.name = "b.s", .dim = "", .type = YOKE_STRING, .size = 16},
  };
  struct {
    double time, x;
    int64_t n, on, mode;
    char s[16];
  } row;
  HEAR(err);
  yoke_record* record = NULL;
  const yoke_record_settings settings = {.directory = folder, .formats = YOKE_RECORD_CSV};
  check_ok(yoke__record_open(&settings, columns, 5, &record, &err.sink));
  assert_true(fixture_exists(folder, "results.csv.part"));
  for (int k = 0; k < 4; k++) {
    static const char* const texts[] = {"plain", "a,b \"c\"", "", "0123456789abcdef"};
    memset(&row, 0, sizeof row);
    row.time = 0.1 * k;
    row.x = k == 1 ? (double)NAN : k == 2 ? -HUGE_VAL : 1.0 / 3;
    row.n = k == 1 ? INT64_MIN : k;
    row.on = k == 2 ? 17 : 0;
    row.mode = k;
    memcpy(row.s, texts[k], strlen(texts[k]));  // the last one fills its cell without NUL
    if (k == 3) {
      yoke__record_note_lost(record);
      yoke__record_note_lost(record);
    }
    memcpy(yoke__record_row(record), &row, sizeof row);
    yoke__record_commit(record);
  }
  yoke__record_note_lost(record);
  yoke_record_info info;
  check_ok(yoke__record_close(&record, &info, &err.sink));
  assert_null(record);
  assert_int_equal(info.n_rows, 4);
  assert_int_equal(info.n_lost, 3);
  assert_int_equal(info.formats, YOKE_RECORD_CSV);
  assert_false(fixture_exists(folder, "results.csv.part"));
  size_t n = 0;
  char* text = fixture_read(folder, "results.csv", &n);
  assert_string_equal(text, "time,a.x,\"b.der(x), \"\"raw\"\"\",b.on,b.mode,b.s\n"
                            "0,0.3333333333333333,0,0,0,plain\n"
                            "0.1,nan,-9223372036854775808,0,1,\"a,b \"\"c\"\"\"\n"
                            "0.2,-inf,2,1,2,\n"
                            "0.2,,,,,\n"
                            "0.30000000000000004,0.3333333333333333,3,0,3,0123456789abcdef\n"
                            "0.30000000000000004,,,,,\n");
  free(text);
}

// Rows through a ring much smaller than the run come back bitwise; waits are counted; the reader
// drops gap marks.
static void everything_comes_back(void** state) {
  (void)state;
  enum { N = 20000 };
  HEAR(err);
  yoke_record* record = NULL;
  const yoke_record_settings settings = {
      .directory = folder, .formats = YOKE_RECORD_CSV, .n_ring_rows = 37};
  check_ok(yoke__record_open(&settings, fixture_columns, FIXTURE_N_COLUMNS, &record, &err.sink));
  fixture_record(record, 0, N / 2);
  yoke__record_note_lost(record);
  fixture_record(record, N / 2, N / 2);
  yoke_record_info info;
  check_ok(yoke__record_close(&record, &info, &err.sink));
  assert_int_equal(info.n_rows, N);
  assert_int_equal(info.n_ring_rows, 37);
  assert_true(info.n_waits > 0);

  yoke_csv table;
  check_ok(yoke__record_read(folder, &table, &err.sink));
  assert_int_equal(table.n_rows, N);
  assert_int_equal(table.n_columns, FIXTURE_N_COLUMNS + 1);
  assert_true(table.columns[5].is_text);
  assert_int_equal(table.columns[1].n_missing, 0);
  for (size_t k = 0; k < N; k++) {
    fixture_row row;
    fixture_fill(&row, k);
    check_near(table.columns[0].values[k], row.time, 0);
    check_near(table.columns[1].values[k], row.f, 0);
    check_near(table.columns[2].values[k], (double)row.count, 0);
    check_near(table.columns[3].values[k], (double)row.is_on, 0);
    check_near(table.columns[4].values[k], (double)row.mode, 0);
  }
  yoke__csv_free(&table);
}

// A full ring gives no row; the row given twice is the same; nothing waits.
static void full_ring_gives_null(void** state) {
  (void)state;
  HEAR(err);
  yoke_record* record = NULL;
  const yoke_record_settings settings = {.formats = 0, .n_ring_rows = 2};
  check_ok(yoke__record_open(&settings, fixture_columns, FIXTURE_N_COLUMNS, &record, &err.sink));
  size_t n_full = 0;
  for (size_t k = 0; k < 200000 && n_full == 0; k++) {
    void* row = yoke__record_row(record);
    if (row == NULL) {
      n_full++;
      yoke__record_note_lost(record);
      continue;
    }
    assert_ptr_equal(yoke__record_row(record), row);
    yoke__record_commit(record);
  }
  assert_int_equal(n_full, 1);
  yoke_record_info info;
  check_ok(yoke__record_close(&record, &info, &err.sink));
  assert_int_equal(info.n_lost, 1);
}

// A flush brings the rows to the file while the run goes on.
static void rows_are_flushed_while_running(void** state) {
  (void)state;
  char path[FIXTURE_PATH_SIZE];
  HEAR(err);
  yoke_record* record = fixture_open(folder, YOKE_RECORD_CSV);
  fixture_record(record, 0, 10);
  fixture_path(path, folder, "results.csv.part");
  struct stat info = {0};
  // 20 ms after the first row; later on a busy machine
  for (int i = 0; i < 3000 && info.st_size < 300; i++) {
    yoke__os_sleep_ns(10000000);
    assert_int_equal(stat(path, &info), 0);
  }
  size_t n = 0;
  char* text = fixture_read(folder, "results.csv.part", &n);
  check_contains(text, "0.009,");
  assert_int_equal(text[n - 1], '\n');
  free(text);
  check_ok(yoke__record_close(&record, NULL, &err.sink));
}

static void bad_columns_are_refused(void** state) {
  (void)state;
  static const yoke_record_column bad[] = {
      {.name = NULL, .type = YOKE_REAL, .size = 8},
      {.name = "a.b", .type = YOKE_REAL, .size = 16},
      {.name = "a.s", .type = YOKE_STRING, .size = 13},
      {.name = "a.bin", .type = YOKE_BINARY, .size = 16},
  };
  const yoke_record_settings settings = {.directory = folder, .formats = YOKE_RECORD_CSV};
  for (size_t i = 0; i < 4; i++) {
    HEAR(err);
    yoke_record* record = NULL;
    assert_true(yoke__record_open(&settings, &bad[i], 1, &record, &err.sink) < 0);
    assert_null(record);
    assert_true(strlen(err.text) > 10);
  }
  assert_false(fixture_exists(folder, "results.csv.part"));

  // a folder that cannot be made
  HEAR(err);
  yoke_record* record = NULL;
  const yoke_record_settings nowhere = {.directory = "/dev/null/results",
                                        .formats = YOKE_RECORD_CSV};
  assert_int_equal(yoke__record_open(&nowhere, fixture_columns, 1, &record, &err.sink), YOKE_IO);
  check_contains(err.text, "/dev/null");
}

// A folder where the file should go is found before the run, not at its end.
static void folder_in_the_way_is_refused(void** state) {
  (void)state;
  char path[FIXTURE_PATH_SIZE];
  HEAR(err);
  assert_int_equal(mkdir(fixture_path(path, folder, "results.csv"), 0777), 0);
  yoke_record* record = NULL;
  const yoke_record_settings settings = {.directory = folder, .formats = YOKE_RECORD_CSV};
  assert_int_equal(yoke__record_open(&settings, fixture_columns, 1, &record, &err.sink), YOKE_IO);
  check_contains(err.text, "results.csv: error: a folder of that name is in the way");
  assert_false(fixture_exists(folder, "results.csv.part"));
  assert_int_equal(rmdir(path), 0);
}

static void reader_wants_time(void** state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {{"x,y\n1,2\n", "not called time"},
               {"time,y\na,2\n", "no numbers"},
               {"time,y\n,2\n", "no numbers"},
               {"time,y\n1,2,3\n", "bad.csv:2: error: more than 2 cells"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char path[FIXTURE_PATH_SIZE];
    HEAR(err);
    FILE* file = fopen(fixture_path(path, folder, "bad.csv"), "wb");
    assert_non_null(file);
    fputs(cases[i].text, file);
    fclose(file);
    yoke_csv table;
    assert_int_equal(yoke__record_read(path, &table, &err.sink), YOKE_BAD_INPUT);
    check_contains(err.text, cases[i].message);
    check_contains(err.text, "bad.csv:");
  }
  HEAR(err);
  yoke_csv table;
  assert_int_equal(yoke__record_read("no/such/file.csv", &table, &err.sink), YOKE_IO);
  check_contains(err.text, "no/such/file.csv");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_FOLDER(text_is_exact),
      IN_FOLDER(everything_comes_back),
      IN_FOLDER(full_ring_gives_null),
      IN_FOLDER(rows_are_flushed_while_running),
      IN_FOLDER(bad_columns_are_refused),
      IN_FOLDER(reader_wants_time),
      IN_FOLDER(folder_in_the_way_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
