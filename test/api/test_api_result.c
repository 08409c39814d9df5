// Results: recording begun and ended in the middle, sinks of the user's own, reading as columns.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "api/api_helper.h"
#include "base/base_os.h"

#define SIZE 4096

static char folder[64];

static int make_folder(void** state) {
  (void)state;
  snprintf(folder, sizeof folder, "result-XXXXXX");
  return mkdtemp(folder) == NULL;
}

static int remove_folder(void** state) {
  (void)state;
  static const char* const files[] = {"results.csv", "results.h5", "results.mat", "summary.json"};
  for (size_t i = 0; i < 4; i++) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, files[i]);
    remove(path);
  }
  return rmdir(folder);
}

// ---- a sink of the user's own: keeps all rows, and who called

typedef struct kept {
  int n_open, n_write, n_flush, n_close;
  int fail_at_open, fail_at_row, fail_at_close;
  pthread_t threads[3];  // of open, write, close
  size_t n_columns, n_rows, n_texts;
  char names[16][32];
  double times[256], x[256];
  int64_t counts[256];
  char directory[64];
} kept;

static yoke_status kept_open(const void* context, const char* directory,
                             const yoke_record_column columns[], size_t n_columns, void** self,
                             const yoke_sink* sink) {
  kept* k = (kept*)(uintptr_t)context;  // NOLINT(performance-no-int-to-ptr)
  k->n_open++;
  if (k->fail_at_open) {
    return yoke_fail(sink, YOKE_IO, "no room for %zu columns", n_columns);
  }
  k->threads[0] = pthread_self();
  snprintf(k->directory, sizeof k->directory, "%s", directory);
  k->n_columns = n_columns;
  for (size_t i = 0; i < n_columns; i++) {
    snprintf(k->names[i], sizeof k->names[i], "%s", columns[i].name);
    k->n_texts += columns[i].type == YOKE_INTEGER && columns[i].size == 8;
  }
  *self = k;
  return YOKE_OK;
}

static yoke_status kept_write(void* self, const void* rows, size_t n, size_t stride,
                              const yoke_sink* sink) {
  kept* k = self;
  k->n_write++;
  k->threads[1] = pthread_self();
  for (size_t i = 0; i < n; i++) {
    if (k->fail_at_row > 0 && k->n_rows + 1 == (size_t)k->fail_at_row) {
      return yoke_fail(sink, YOKE_IO, "the tape is at its end");
    }
    const char* row = (const char*)rows + i * stride;
    memcpy(&k->times[k->n_rows], row, 8);
    memcpy(&k->x[k->n_rows], row + 8, 8);
    memcpy(&k->counts[k->n_rows], row + 16, 8);
    k->n_rows++;
  }
  return YOKE_OK;
}

static yoke_status kept_flush(void* self, const yoke_sink* sink) {
  (void)sink;
  ((kept*)self)->n_flush++;
  return YOKE_OK;
}

static yoke_status kept_close(void* self, const yoke_sink* sink) {
  kept* k = self;
  k->n_close++;
  k->threads[2] = pthread_self();
  return k->fail_at_close ? yoke_fail(sink, YOKE_IO, "the lid is stuck") : YOKE_OK;
}

static yoke_result_ops ops_of(const kept* k, const char* name) {
  return (yoke_result_ops){
      YOKE_RESULT_HEAD,    .name = name,        .text = "keeps rows", .open = kept_open,
      .write = kept_write, .flush = kept_flush, .close = kept_close,  .context = (const void*)k};
}

#define SYSTEM                                                                                     \
  "yoke: 1\ntime: {stop: 1, step: 0.01}\nunits:\n  a: {model: integrator, start: {u: 2}}\n"        \
  "  c: {model: counter}\nrecord: {signals: [a.y, c.count]%s}\n"

static yoke_simulation* open_system(const yoke_registry* registry, const yoke_sink* sink,
                                    const char* record) {
  char text[SIZE];
  snprintf(text, sizeof text, SYSTEM, record);
  return api_open(registry, sink, text);
}

static void check_kept_in(const kept* k, const char* directory, size_t n_rows) {
  assert_int_equal(k->n_open, 1);
  assert_int_equal(k->n_close, 1);
  assert_int_equal(k->n_columns, 2);
  assert_string_equal(k->names[0], "a.y");
  assert_string_equal(k->names[1], "c.count");
  assert_string_equal(k->directory, directory);
  assert_int_equal(k->n_rows, n_rows);
  for (size_t i = 0; i < n_rows; i++) {
    check_near(k->times[i], 0.01 * (double)i, 1e-15);
    check_near(k->x[i], 0.02 * (double)i, 1e-12);
    assert_int_equal(k->counts[i], i);
  }
  // one thread, and not this one
  assert_true(pthread_equal(k->threads[0], k->threads[1]));
  assert_true(pthread_equal(k->threads[0], k->threads[2]));
  assert_false(pthread_equal(k->threads[0], pthread_self()));
}

static void check_kept(const kept* k, size_t n_rows) {
  check_kept_in(k, folder, n_rows);
}

// given with the settings, beside the file
static void test_sink_of_settings(void** state) {
  (void)state;
  kept k = {0};
  const yoke_result_ops ops = ops_of(&k, "kept");
  const yoke_result_ops* const sinks[] = {&ops};
  yoke_simulation* sim = open_system(NULL, NULL, "");
  const yoke_record_settings record = {
      .directory = folder, .sinks = sinks, .n_sinks = 1, .flush_ns = 1};
  yoke_run_info info;
  check_ok(yoke_simulation_run(sim, &(yoke_run_settings){.record = &record}, &info));
  assert_int_equal(info.record.n_rows, 101);
  assert_int_equal(info.record.formats, YOKE_RECORD_CSV);
  api_close(&sim);
  check_kept(&k, 101);
  assert_true(k.n_flush > 0 && k.n_texts == 1);

  // the file holds the same rows
  yoke_result* result = NULL;
  check_ok(yoke_result_open(folder, NULL, &result));
  assert_int_equal(yoke_result_n_rows(result), 101);
  assert_int_equal(yoke_result_n_columns(result), 3);
  size_t i = 99;
  yoke_result_column column;
  check_ok(yoke_result_find(result, "a.y", &i));
  check_ok(yoke_result_get(result, i, &column));
  assert_memory_equal(column.values, k.x, 101 * sizeof(double));
  check_ok(yoke_result_get(result, 0, &column));
  assert_string_equal(column.name, "time");
  assert_false(column.is_text);
  assert_memory_equal(column.values, k.times, 101 * sizeof(double));
  yoke_result_close(&result);
  assert_null(result);
}

// named in the file, instead of all files
static void test_sink_of_registry(void** state) {
  (void)state;
  kept k = {0}, more = {0};
  const yoke_result_ops ops = ops_of(&k, "kept"), other = ops_of(&more, "more");
  const yoke_result_ops* const sinks[] = {&other};
  HEAR(told);
  yoke_registry* registry = NULL;
  check_ok(yoke_registry_create(&registry));
  check_ok(yoke_registry_add_result(registry, &ops, &told.sink));
  yoke_simulation* sim = open_system(registry, &told.sink, ", formats: [kept]");
  yoke_system_info system;
  check_ok(yoke_system_get_info(yoke_simulation_system(sim), &system));
  assert_int_equal(system.formats, 0);
  const yoke_record_settings record = {.directory = folder, .sinks = sinks, .n_sinks = 1};
  yoke_run_info info;
  check_ok(yoke_simulation_run(sim, &(yoke_run_settings){.record = &record}, &info));
  assert_int_equal(info.record.formats, 0);
  api_close(&sim);
  check_kept(&k, 101);
  check_kept(&more, 101);
  char path[128];
  snprintf(path, sizeof path, "%s/results.csv", folder);
  assert_int_not_equal(access(path, F_OK), 0);

  // formats of the settings replace those of the file
  k = (kept){0};
  sim = open_system(registry, NULL, ", formats: [kept, csv]");
  const yoke_record_settings only = {.directory = folder, .formats = YOKE_RECORD_CSV};
  check_ok(yoke_simulation_run(sim, &(yoke_run_settings){.record = &only}, NULL));
  assert_int_equal(k.n_open, 0);
  assert_int_equal(access(path, F_OK), 0);
  api_close(&sim);
  yoke_registry_destroy(&registry);
}

// without a folder: no file at all, whatever formats are named
static void test_sink_without_folder(void** state) {
  (void)state;
  for (int round = 0; round < 2; round++) {
    kept k = {0};
    const yoke_result_ops ops = ops_of(&k, "kept");
    const yoke_result_ops* const sinks[] = {&ops};
    yoke_simulation* sim = open_system(NULL, NULL, ", formats: [csv, hdf5]");
    const yoke_record_settings record = {
        .formats = round == 0 ? 0 : YOKE_RECORD_CSV, .sinks = sinks, .n_sinks = 1};
    check_ok(yoke_simulation_record(sim, &record));
    assert_int_equal(yoke_simulation_record(sim, &record), YOKE_BAD_ARG);
    check_ok(yoke_simulation_run(sim, NULL, NULL));
    yoke_record_info info;
    check_ok(yoke_simulation_record_stop(sim, &info));
    assert_int_equal(info.n_rows, 101);
    assert_int_equal(info.formats, 0);
    check_ok(yoke_simulation_record_stop(sim, NULL));
    api_close(&sim);
    check_kept_in(&k, "", 101);
  }
  assert_int_not_equal(access("results.csv", F_OK), 0);
  assert_int_not_equal(access("summary.json", F_OK), 0);
}

// what fails says so, ends the run with YOKE_IO and is closed all the same
static void test_failing_sinks(void** state) {
  (void)state;
  for (int what = 0; what < 3; what++) {
    kept k = {
        .fail_at_open = what == 0, .fail_at_row = what == 1 ? 40 : 0, .fail_at_close = what == 2};
    kept good = {0};
    const yoke_result_ops ops = ops_of(&k, "kept"), other = ops_of(&good, "good");
    const yoke_result_ops* const sinks[] = {&other, &ops};
    HEAR(told);
    yoke_simulation* sim = open_system(NULL, &told.sink, "");
    const yoke_record_settings record = {.directory = folder, .sinks = sinks, .n_sinks = 2};
    assert_int_equal(yoke_simulation_run(sim, &(yoke_run_settings){.record = &record}, NULL),
                     YOKE_IO);
    static const char* const parts[] = {"no room for 2 columns", "the tape is at its end",
                                        "the lid is stuck"};
    check_contains(told.text, parts[what]);
    check_contains(told.text, "kept");
    // the document has the reason where it says how the run ended
    char* json = NULL;
    check_ok(yoke_simulation_summary(sim, &json));
    char* failure = strstr(json, "\"failure\": {");
    assert_non_null(failure);
    *strchr(failure, '}') = '\0';
    check_contains(failure, parts[what]);
    check_contains(failure, "\"status\": \"YOKE_IO\"");
    yoke_text_free(&json);
    assert_int_equal(k.n_open, 1);
    assert_int_equal(k.n_close, what == 0 ? 0 : 1);
    assert_int_equal(good.n_open, 1);
    assert_int_equal(good.n_close, 1);
    api_close(&sim);
  }
}

static void test_bad_tables(void** state) {
  (void)state;
  kept k = {0};
  HEAR(told);
  yoke_registry* registry = NULL;
  check_ok(yoke_registry_create(&registry));
  yoke_result_ops ops = ops_of(&k, "kept");
  check_ok(yoke_registry_add_result(registry, &ops, &told.sink));
  assert_int_equal(yoke_registry_add_result(registry, &ops, &told.sink), YOKE_BAD_ARG);
  check_contains(told.text, "already");
  static const char* const taken[] = {"csv", "hdf5", "mat"};
  for (size_t i = 0; i < 3; i++) {
    const yoke_result_ops same = ops_of(&k, taken[i]);
    assert_int_equal(yoke_registry_add_result(registry, &same, &told.sink), YOKE_BAD_ARG);
  }
  assert_int_equal(yoke_registry_add_result(registry, NULL, &told.sink), YOKE_BAD_ARG);
  assert_int_equal(yoke_registry_add_result(NULL, &ops, NULL), YOKE_BAD_ARG);

  yoke_simulation* sim = open_system(registry, &told.sink, "");
  for (int i = 0; i < 6; i++) {
    yoke_result_ops bad = ops;
    bad.table_size = i == 0 ? 8 : bad.table_size;
    bad.table_version = i == 1 ? 99 : bad.table_version;
    bad.name = i == 2 ? NULL : bad.name;
    bad.write = i == 3 ? NULL : bad.write;
    const yoke_result_ops* const one[] = {i == 4 ? NULL : &bad};
    const yoke_record_settings record = {
        .directory = folder, .sinks = i == 5 ? NULL : one, .n_sinks = 1};
    heard_clear(&told);
    assert_int_equal(yoke_simulation_record(sim, &record), YOKE_BAD_ARG);
    check_contains(told.text, "result sink 0 is not usable");
  }
  assert_int_equal(k.n_open, 0);
  check_ok(yoke_simulation_step(sim));
  api_close(&sim);

  // a name that nobody has
  char text[SIZE];
  snprintf(text, sizeof text, SYSTEM, ", formats: [csv, kepd]");
  heard_clear(&told);
  const yoke_load_settings settings = {.registry = registry, .sink = &told.sink};
  yoke_system* system = NULL;
  assert_int_equal(yoke_system_parse(text, strlen(text), "x.yaml", &settings, &system),
                   YOKE_BAD_INPUT);
  assert_null(system);
  check_contains(told.text, "x.yaml:6:50: error: expected csv, hdf5, mat, kept, found the text "
                            "'kepd'; did you mean 'kept'?");
  yoke_registry_destroy(&registry);
}

// ---- in the middle

static void test_record_in_the_middle(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = open_system(NULL, &told.sink, "");
  check_ok(yoke_simulation_run_to(sim, 0.2));
  const yoke_record_settings record = {.directory = folder, .formats = YOKE_RECORD_CSV};
  for (int round = 0; round < 2; round++) {
    const double from = yoke_simulation_time(sim);
    check_ok(yoke_simulation_record(sim, &record));
    assert_int_equal(yoke_simulation_record(sim, &record), YOKE_BAD_ARG);
    check_contains(told.text, "it records already");
    check_ok(yoke_simulation_run_to(sim, from + 0.25));
    yoke_record_info info;
    check_ok(yoke_simulation_record_stop(sim, &info));
    assert_int_equal(info.n_rows, 26);
    assert_int_equal(info.n_lost, 0);
    check_ok(yoke_simulation_record_stop(sim, NULL));
    yoke_result* result = NULL;
    check_ok(yoke_result_open(folder, NULL, &result));
    assert_int_equal(yoke_result_n_rows(result), 26);
    yoke_result_column time, y;
    check_ok(yoke_result_get(result, 0, &time));
    check_ok(yoke_result_get(result, 1, &y));
    for (size_t i = 0; i < 26; i++) {
      check_near(time.values[i], from + 0.01 * (double)i, 1e-12);
      check_near(y.values[i], 2 * time.values[i], 1e-12);
    }
    yoke_result_close(&result);
    check_ok(yoke_simulation_step(sim));  // without recording
  }
  api_close(&sim);
}

// destroyed while it records: complete as far as it came
static void test_destroy_while_recording(void** state) {
  (void)state;
  yoke_simulation* sim = open_system(NULL, NULL, "");
  check_ok(yoke_simulation_record(
      sim, &(yoke_record_settings){.directory = folder, .formats = YOKE_RECORD_CSV}));
  check_ok(yoke_simulation_run_to(sim, 0.1));
  api_close(&sim);
  yoke_result* result = NULL;
  check_ok(yoke_result_open(folder, NULL, &result));
  assert_int_equal(yoke_result_n_rows(result), 11);
  yoke_result_close(&result);
}

static void test_bad_arguments(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = open_system(NULL, &told.sink, "");
  assert_int_equal(yoke_simulation_record(NULL, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_record(sim, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_record(sim, &(yoke_record_settings){0}), YOKE_BAD_ARG);
  check_contains(told.text, "needs the name of a folder");
  assert_int_equal(yoke_simulation_record_stop(NULL, NULL), YOKE_BAD_ARG);
  check_ok(yoke_simulation_record_stop(sim, NULL));
  api_close(&sim);

  yoke_result* result = (yoke_result*)&told;
  assert_int_equal(yoke_result_open("no_such_place", &told.sink, &result), YOKE_IO);
  assert_null(result);
  assert_int_equal(yoke_result_open(NULL, &told.sink, &result), YOKE_BAD_ARG);
  assert_int_equal(yoke_result_open(folder, &told.sink, NULL), YOKE_BAD_ARG);
  yoke_result_close(NULL);
  yoke_result_close(&result);
  assert_int_equal(yoke_result_n_rows(NULL), 0);
  assert_int_equal(yoke_result_n_columns(NULL), 0);
  yoke_result_column column;
  size_t i = 7;
  assert_int_equal(yoke_result_get(NULL, 0, &column), YOKE_BAD_ARG);
  assert_int_equal(yoke_result_find(NULL, "x", &i), YOKE_BAD_ARG);
  sim = open_system(NULL, NULL, "");
  const yoke_record_settings record = {.directory = folder, .formats = YOKE_RECORD_CSV};
  check_ok(yoke_simulation_run(sim, &(yoke_run_settings){.record = &record}, NULL));
  api_close(&sim);
  check_ok(yoke_result_open(folder, NULL, &result));
  assert_int_equal(yoke_result_get(result, 3, &column), YOKE_BAD_ARG);
  assert_int_equal(yoke_result_get(result, SIZE_MAX, &column), YOKE_BAD_ARG);
  assert_int_equal(yoke_result_get(result, 0, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_result_find(result, "x", &i), YOKE_NO_SUCH_NAME);
  assert_int_equal(yoke_result_find(result, NULL, &i), YOKE_BAD_ARG);
  assert_int_equal(yoke_result_find(result, "a.y", NULL), YOKE_BAD_ARG);
  assert_int_equal(i, 7);
  yoke_result_close(&result);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_sink_of_settings),
      IN_FOLDER(test_sink_of_registry),
      IN_FOLDER(test_sink_without_folder),
      IN_FOLDER(test_failing_sinks),
      IN_FOLDER(test_bad_tables),
      IN_FOLDER(test_record_in_the_middle),
      IN_FOLDER(test_destroy_while_recording),
      IN_FOLDER(test_bad_arguments),
  };
  return cmocka_run_group_tests_name("api_result", tests, NULL, NULL);
}
