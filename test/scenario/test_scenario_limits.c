// Limits and large files. Times are printed; only counts and messages decide.
#include "base/base_os.h"
#include "scenario_helper.h"

#define HEAD "yoke: 1\ntime: {stop: 1, step: 1}\nunits: {a: {model: m}}\n"
#define MB   ((size_t)1024 * 1024)

// A text that grows; room for the largest file and a little more.
typedef struct writer {
  char* bytes;
  size_t n, size;
} writer;

static writer writer_new(size_t size) {
  writer w = {malloc(size), 0, size};
  assert_non_null(w.bytes);
  return w;
}

static void put(writer* w, const char* format, ...) YOKE_PRINTF(2, 3);
static void put(writer* w, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(w->bytes + w->n, w->size - w->n, format, args);
  va_end(args);
  assert_true(n >= 0 && (size_t)n < w->size - w->n);
  w->n += (size_t)n;
}

static void repeat(writer* w, const char* text, size_t count) {
  const size_t n = strlen(text);
  assert_true(n * count <= w->size - w->n);
  for (size_t i = 0; i < count; i++, w->n += n) {
    memcpy(w->bytes + w->n, text, n);
  }
}

// Reads and prints how long it took.
static reading* read_timed(const writer* w, const char* what) {
  const int64_t start = yoke__os_now_ns();
  reading* r = reading_of_bytes(w->bytes, w->n, NULL, 0);
  print_message("%-40s %10zu bytes %9.3f ms\n", what, w->n,
                (double)(yoke__os_now_ns() - start) * 1e-6);
  return r;
}

#define TOO_DEEP "nested too deeply: at most 64 maps and lists inside each other"

// Ten megabytes of any kind of nesting.
static void test_deep_nesting_is_refused(void** state) {
  (void)state;
  static const struct {
    const char *unit, *message;
  } cases[] = {
      {"[", TOO_DEEP},
      {"{", TOO_DEEP},
      {"[\n", TOO_DEEP},
      {"- ", TOO_DEEP},
      {"? ", TOO_DEEP},
      {"{a: ", TOO_DEEP},
      {"[a, ", TOO_DEEP},
      {"{? ", TOO_DEEP},
      {"? - ", TOO_DEEP},
      {"[{a: ", TOO_DEEP},
      {"- [\n", "t.yaml:65:3: error: " TOO_DEEP},
      {"['", TOO_DEEP},
      {"!a ", "indentation"},
      {"['']", "indentation"},
      // the bracket inside of the quotes closes nothing
      {"[']', ", TOO_DEEP},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    writer w = writer_new(11 * MB);
    repeat(&w, cases[i].unit, 10 * MB / strlen(cases[i].unit));
    char what[64];
    snprintf(what, sizeof what, "nesting of '%.*s'", (int)strcspn(cases[i].unit, "\n"),
             cases[i].unit);
    reading* r = read_timed(&w, what);
    assert_int_equal(r->status, YOKE_BAD_INPUT);
    check_contains(r->text, cases[i].message);
    reading_free(r);
    free(w.bytes);
  }
}

// Block nesting by indentation: a line for each level, each longer than the one before.
static void test_deep_indentation_is_refused(void** state) {
  (void)state;
  writer w = writer_new(11 * MB);
  for (size_t level = 0; w.n < 10 * MB; level++) {
    repeat(&w, " ", level);
    put(&w, "a:\n");
  }
  reading* r = read_timed(&w, "nesting by indentation");
  assert_int_equal(r->n_errors, 1);
  check_contains(r->text, "t.yaml:65:65: error: " TOO_DEEP);
  reading_free(r);
  free(w.bytes);
}

// 64 levels are read, 65 are not; the file itself, units, the unit and `with` are four of them.
static void test_the_limit_is_exact(void** state) {
  (void)state;
  for (int n_lists = 60; n_lists <= 61; n_lists++) {
    writer w = writer_new(4096);
    put(&w, "yoke: 1\ntime: {stop: 1, step: 1}\nunits: {a: {model: m, with: {k: ");
    repeat(&w, "[", (size_t)n_lists);
    repeat(&w, "]", (size_t)n_lists);
    put(&w, "}}}\n");
    reading* r = reading_of_bytes(w.bytes, w.n, NULL, 0);
    assert_int_equal(r->status, n_lists == 60 ? YOKE_OK : YOKE_BAD_INPUT);
    if (n_lists > 60) {
      assert_string_equal(r->text, "dir/t.yaml:3:93: error: " TOO_DEEP "\n");
    }
    reading_free(r);
    free(w.bytes);
  }
}

// Brackets in texts and comments are no nesting.
static void test_brackets_in_texts_are_free(void** state) {
  (void)state;
  writer w = writer_new(1 * MB);
  put(&w, HEAD "name: \"");
  repeat(&w, "[{\\\"\\\\", 2000);
  put(&w, "\"\n# ");
  repeat(&w, "[{'\"", 2000);
  put(&w, "\nrecord: {signals: ['");
  repeat(&w, "[{''", 2000);
  put(&w, "']}\ntext: x\n");
  reading* r = reading_of_bytes(w.bytes, w.n, NULL, 0);
  check_ok(r->status);
  assert_int_equal(strlen(r->scenario->name), 8000);
  assert_string_equal(r->scenario->text, "x");
  reading_free(r);
  free(w.bytes);
}

static void test_many_directives_are_refused(void** state) {
  (void)state;
  writer w = writer_new(11 * MB);
  for (int i = 0; w.n < 10 * MB; i++) {
    put(&w, "%%TAG !t%d! x\n", i);
  }
  reading* r = read_timed(&w, "%TAG lines");
  check_contains(r->text, "t.yaml:1:1: error: tags are not supported");
  reading_free(r);
  free(w.bytes);
}

// 64 MB are read, one byte more is not.
static void test_size_limit(void** state) {
  (void)state;
  writer w = writer_new(64 * MB + 2);
  put(&w, HEAD);
  memset(w.bytes + w.n, '#', w.size - w.n);
  w.n = 64 * MB;
  reading* r = read_timed(&w, "a comment up to 64 MB");
  check_ok(r->status);
  reading_free(r);
  w.n++;
  r = reading_of_bytes(w.bytes, w.n, NULL, 0);
  assert_string_equal(r->text, "dir/t.yaml: error: the file is larger than 64 MB\n");
  reading_free(r);

  // the same from a file
  FILE* file = fopen("test_scenario_limits.yaml", "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(w.bytes, 1, w.n, file), w.n);
  assert_int_equal(fclose(file), 0);
  yoke_messages messages = {0};
  yoke_scenario* s = NULL;
  assert_int_equal(yoke__scenario_read_file("test_scenario_limits.yaml", NULL, 0, &messages, &s),
                   YOKE_IO);
  assert_int_equal(messages.n_errors, 1);
  assert_int_equal(messages.all[0].status, YOKE_IO);
  yoke__messages_free(&messages);
  remove("test_scenario_limits.yaml");
  free(w.bytes);
}

static void test_number_of_values_is_bounded(void** state) {
  (void)state;
  writer w = writer_new(9 * MB);
  put(&w, HEAD "order: [");
  repeat(&w, "a, ", 2000001);
  put(&w, "a]\n");
  reading* r = read_timed(&w, "two million values");
  check_contains(r->text, "error: too many values: at most 2000000");
  reading_free(r);
  free(w.bytes);
}

// A large plant: 2000 units, 10 000 connections in both forms, 500 bonds.
static void test_large_system(void** state) {
  (void)state;
  enum { N_UNITS = 2000, N_CONNECTIONS = 10000, N_BONDS = 500 };
  writer w = writer_new(4 * MB);
  put(&w, "yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits:\n");
  for (int i = 0; i < N_UNITS; i++) {
    put(&w, "  unit_%d: {model: oscillator.force, with: {m: %d, k: 10, c: 0.1}, start: {x: 1}}\n",
        i, i + 1);
  }
  put(&w, "connections:\n");
  for (int i = 0; i < N_CONNECTIONS; i++) {
    if (i % 2 == 0) {
      put(&w, "  - unit_%d.x -> unit_%d.u[%d]\n", i % N_UNITS, (i + 1) % N_UNITS, i);
    } else {
      put(&w, "  - {from: unit_%d.f, to: 'unit_%d.u[%d]', gain: 2, order: 1}\n", i % N_UNITS,
          (i + 1) % N_UNITS, i);
    }
  }
  put(&w, "bonds:\n");
  for (int i = 0; i < N_BONDS; i++) {
    put(&w, "  bond_%d: {action: unit_%d.f, rate: unit_%d.v}\n", i, i, i);
  }
  reading* r = read_timed(&w, "2000 units, 10 000 connections");
  if (r->status != YOKE_OK) {
    fail_msg("%s", r->text);
  }
  assert_int_equal(r->scenario->n_units, N_UNITS);
  assert_int_equal(r->scenario->n_connections, N_CONNECTIONS);
  assert_int_equal(r->scenario->n_bonds, N_BONDS);
  assert_string_equal(r->scenario->units[N_UNITS - 1].name, "unit_1999");
  assert_string_equal(r->scenario->connections[9999].to.variable, "u[9999]");
  reading_free(r);
  free(w.bytes);
}

// Duplicates among many keys: found, each with the place of the first, and not pair by pair.
static void test_duplicates_among_many_keys(void** state) {
  (void)state;
  enum { N = 200000 };
  writer w = writer_new(8 * MB);
  put(&w, "yoke: 1\ntime: {stop: 1, step: 1}\nunits:\n  a:\n    model: m\n    with:\n");
  for (int i = 0; i < N; i++) {
    put(&w, "      k%d: 1\n", i);
  }
  put(&w, "      k0: 2\n      k%d: 2\n      k7: 2\n      k7: 2\n", N - 1);
  reading* r = read_timed(&w, "200 000 keys");
  char want[512];
  snprintf(want, sizeof want,
           "dir/t.yaml:%d:7: error: the key 'k0' was given before at line 7, column 7\n"
           "dir/t.yaml:%d:7: error: the key 'k%d' was given before at line %d, column 7\n"
           "dir/t.yaml:%d:7: error: the key 'k7' was given before at line 14, column 7\n"
           "dir/t.yaml:%d:7: error: the key 'k7' was given before at line 14, column 7\n",
           N + 7, N + 8, N - 1, N + 6, N + 9, N + 10);
  assert_string_equal(r->text, want);
  reading_free(r);
  free(w.bytes);
}

// More mistakes than anybody reads: the list is cut, the count goes on.
static void test_many_errors(void** state) {
  (void)state;
  writer w = writer_new(4 * MB);
  put(&w, HEAD);
  for (int i = 0; i < 50000; i++) {
    put(&w, "wrong%d: 1\n", i);
  }
  reading* r = read_timed(&w, "50 000 unknown keys");
  assert_int_equal(r->n_errors, 50000);
  check_contains(r->text, "t.yaml:4:1: error: unknown key 'wrong0'");
  check_contains(r->text, " more\n");
  reading_free(r);
  free(w.bytes);
}

// One key or text of many megabytes.
static void test_long_texts(void** state) {
  (void)state;
  static const char* const starts[] = {"name: ", "name: '", "? ", "connections: [a.", "record: {x"};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
    writer w = writer_new(6 * MB);
    put(&w, HEAD "%s", starts[i]);
    repeat(&w, "y", 5 * MB);
    put(&w, "%s\n", i == 1 ? "'" : i == 3 ? " -> b.c]" : i == 4 ? "}" : "");
    reading* r = read_timed(&w, starts[i]);
    assert_int_equal(r->status, i == 2 || i == 4 ? YOKE_BAD_INPUT : YOKE_OK);
    assert_true(strlen(r->text) < 500);
    reading_free(r);
    free(w.bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_deep_nesting_is_refused),
      cmocka_unit_test(test_deep_indentation_is_refused),
      cmocka_unit_test(test_the_limit_is_exact),
      cmocka_unit_test(test_brackets_in_texts_are_free),
      cmocka_unit_test(test_many_directives_are_refused),
      cmocka_unit_test(test_size_limit),
      cmocka_unit_test(test_number_of_values_is_bounded),
      cmocka_unit_test(test_large_system),
      cmocka_unit_test(test_duplicates_among_many_keys),
      cmocka_unit_test(test_many_errors),
      cmocka_unit_test(test_long_texts),
  };
  return cmocka_run_group_tests_name("scenario_limits", tests, NULL, NULL);
}
