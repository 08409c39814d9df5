// What nobody reads is not fetched: counted inside of FMUs that count (test/fmus/echo), with nothing recorded, with something
// recorded, with limits and with texts that change. And whoever does look at a value sees the same as with everything recorded.
#include "api/api_helper.h"

typedef struct counts {
  double calls, values, texts, spares;
} counts;

enum { N_STEPS = 20, N_COUNTERS = 4 };

// The FMUs `echo` in a ring, their main outputs connected; %d: version of FMI.
#define UNITS(version, more)                                                                       \
  "units:\n"                                                                                       \
  "  a: {fmu: '%1$s/echo" version ".fmu', start: {real_in: 1.5, integer_in: 3, text_in: "          \
  "hello}" more "}\n"                                                                              \
  "  b: {fmu: '%1$s/echo" version ".fmu'" more "}\n"
#define RING                                                                                       \
  "connections:\n"                                                                                 \
  "  - a.real_out -> b.real_in\n  - b.real_out -> a.real_in\n"                                     \
  "  - a.other_out -> b.other_in\n  - b.other_out -> a.other_in\n"                                 \
  "  - a.integer_out -> b.integer_in\n  - b.integer_out -> a.integer_in\n"                         \
  "  - a.boolean_out -> b.boolean_in\n  - b.boolean_out -> a.boolean_in\n"                         \
  "  - a.text_out -> b.text_in\n  - b.text_out -> a.text_in\n"
#define HEAD                                                                                       \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.01}\nquality: {find: false}\n"

static yoke_simulation* open_text(const char* format) {
  char text[8192];
  assert_true(snprintf(text, sizeof text, format, getenv("YOKE_FMUS")) < (int)sizeof text);
  return api_open(NULL, NULL, text);
}

// reading a counter is a call with one value itself
static counts count(const yoke_simulation* s) {
  return (counts){api_read(s, "a.calls"), api_read(s, "a.values"), api_read(s, "a.texts"),
                  api_read(s, "a.spares")};
}

static void steps(yoke_simulation* s, int n) {
  for (int i = 0; i < n; i++) {
    check_ok(yoke_simulation_step(s));
  }
}

// What N_STEPS macro steps ask of unit a, per step.
static void check_counts(const char* what, yoke_simulation* s, counts want) {
  steps(s, 2);  // the first step sends every input, the second has settled
  const counts before = count(s);
  steps(s, N_STEPS);
  const counts after = count(s);
  const counts got = {(after.calls - before.calls - N_COUNTERS) / N_STEPS,
                      (after.values - before.values - N_COUNTERS) / N_STEPS,
                      (after.texts - before.texts) / N_STEPS,
                      (after.spares - before.spares) / N_STEPS};
  print_message("%s: per step %g calls, %g values, %g texts copied, %g spare values\n", what,
                got.calls, got.values, got.texts, got.spares);
  if (got.calls != want.calls || got.values != want.values || got.texts != want.texts ||
      got.spares != want.spares) {
    fail_msg("%s: expected %g calls, %g values, %g texts, %g spare values", what, want.calls,
             want.values, want.texts, want.spares);
  }
}

static void count_text(const char* what, const char* format, counts want) {
  yoke_simulation* s = open_text(format);
  check_counts(what, s, want);
  api_close(&s);
}

// The bare loop sets and gets 2 reals, an integer, a boolean and a text: 8 calls, 10 values, 2 texts copied. A text that
// is the same as before need not be set.
static void test_nothing_recorded(void** state) {
  (void)state;
  const counts steady = {7, 9, 1, 0}, restless = {8, 10, 2, 0};
  count_text("FMI 2.0", HEAD UNITS("2", "") RING, steady);
  count_text("FMI 3.0", HEAD UNITS("3", "") RING, steady);
  count_text("FMI 2.0, texts change", HEAD UNITS("2", ", with: {restless: true}") RING, restless);
  count_text("FMI 3.0, texts change", HEAD UNITS("3", ", with: {restless: true}") RING, restless);
  // what goes round once per step is negated twice: the boolean of a stays as it is
  count_text("Gauss-Seidel", HEAD "scheme: gauss-seidel\n" UNITS("3", "") RING,
             (counts){6, 8, 1, 0});
  count_text("two threads", HEAD "threads: 2\n" UNITS("2", "") RING, steady);
}

// all real inputs are set in one call; of the outputs one is read, or none
static void test_little_connected(void** state) {
  (void)state;
  count_text("one real", HEAD UNITS("2", "") "connections: [a.real_spare -> b.real_in]\n",
             (counts){2, 3, 0, 1});
  count_text("one real, FMI 3.0", HEAD UNITS("3", "") "connections: [a.other_out -> b.real_in]\n",
             (counts){2, 3, 0, 0});
  count_text("one text", HEAD UNITS("3", "") "connections: [a.text_out -> b.text_in]\n",
             (counts){2, 3, 1, 0});
  count_text("nothing", HEAD UNITS("2", ""), (counts){1, 2, 0, 0});
}

static void test_limits_and_judged_signals(void** state) {
  (void)state;
  count_text("a limit", HEAD UNITS("2", "") RING, (counts){7, 9, 1, 0});
  count_text("a limit",
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.01}\n"
             "quality: {find: false, stop: {above: {a.other_spare: 1e9}}}\n" UNITS("2", "") RING,
             (counts){7, 10, 1, 1});
  count_text("a judged signal", HEAD "trust: {signals: [a.real_spare]}\n" UNITS("3", "") RING,
             (counts){7, 10, 1, 1});
}

static void test_recorded(void** state) {
  (void)state;
  static const struct {
    const char *what, *keys;
    counts want;
  } cases[] = {
      {"all outputs", "", {7, 14, 2, 5}},
      {"a spare text", "record: {signals: [a.text_spare]}\n", {7, 10, 2, 1}},
      {"a spare integer and a real",
       "record: {signals: [a.integer_spare, a.other_spare]}\n",
       {7, 11, 1, 2}},
      {"no signal", "record: {signals: []}\n", {7, 9, 1, 0}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[8192];
    snprintf(text, sizeof text, "%s%s%s", HEAD, cases[i].keys, UNITS("3", "") RING);
    yoke_simulation* s = open_text(text);
    const yoke_record_settings settings = {.directory = "reading"};
    yoke_record_info info;
    check_ok(yoke_simulation_record(s, &settings));
    check_counts(cases[i].what, s, cases[i].want);
    check_ok(yoke_simulation_record_stop(s, &info));
    assert_int_equal(info.n_rows, strstr(cases[i].keys, "[]") != NULL ? 0 : N_STEPS + 3);
    check_counts("and after the recording", s, (counts){7, 9, 1, 0});
    api_close(&s);
  }
}

// ---- whoever looks sees what is there

static void read_text(const yoke_simulation* s, const char* name, char to[256]) {
  check_ok(yoke_simulation_read_value(s, api_find(s, name), to, 256));
}

static void look(const yoke_simulation* s) {
  char main_text[256], spare_text[256];
  assert_true(api_read(s, "a.real_spare") == api_read(s, "a.real_out"));
  assert_true(api_read(s, "a.other_spare") == api_read(s, "a.other_out"));
  assert_true(api_read(s, "a.integer_spare") == api_read(s, "a.integer_out"));
  assert_true(api_read(s, "a.boolean_spare") == api_read(s, "a.boolean_out"));
  read_text(s, "a.text_out", main_text);
  read_text(s, "a.text_spare", spare_text);
  assert_string_equal(main_text, spare_text);
}

typedef struct onlooker {
  yoke_simulation* simulation;
  int n_looks;
} onlooker;

static bool look_each(void* to) {
  onlooker* o = to;
  look(o->simulation);
  o->n_looks++;
  return true;
}

static void test_values_that_are_not_fetched_can_be_read(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    yoke_simulation* s = open_text(version == 2 ? HEAD UNITS("2", ", with: {restless: true}") RING
                                                : HEAD UNITS("3", ", with: {restless: true}") RING);
    check_ok(yoke_simulation_start(s));
    look(s);
    for (int i = 0; i < 10; i++) {
      steps(s, 1);
      look(s);
    }
    assert_true(api_read(s, "a.integer_spare") > 3);
    onlooker o = {s, 0};
    const yoke_run_settings settings = {.each = look_each, .to = &o, .trust = YOKE_TRUST_NONE};
    check_ok(yoke_simulation_run(s, &settings, NULL));
    assert_int_equal(o.n_looks, 90);
    look(s);
    api_close(&s);
  }
}

// ---- a recording that begins later has the rows of one that was there from the start

static char* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    fail_msg("no %s", path);
  }
  char* bytes = calloc(1, 1 << 20);
  assert_true(fread(bytes, 1, (1 << 20) - 1, file) > 0);
  fclose(file);
  return bytes;
}

static void record_from(const char* text, int n_before, bool is_restored, const char* folder) {
  yoke_simulation* s = open_text(text);
  void* image = NULL;
  steps(s, n_before);
  if (is_restored) {
    const size_t size = yoke_simulation_image_size(s);
    image = malloc(size);
    check_ok(yoke_simulation_save(s, image, size));
    steps(s, 7);
    check_ok(yoke_simulation_restore(s, image, size));
  }
  const yoke_record_settings settings = {.directory = folder};
  check_ok(yoke_simulation_record(s, &settings));
  check_ok(yoke_simulation_run_to(s, 1));
  check_ok(yoke_simulation_record_stop(s, NULL));
  free(image);
  api_close(&s);
}

static void test_a_late_recording_is_complete(void** state) {
  (void)state;
  static const char* const systems[] = {
      HEAD UNITS("2", ", with: {restless: true}") RING,
      HEAD UNITS("3", ", with: {restless: true}") RING,
      HEAD "scheme: gauss-seidel\n" UNITS("2", ", with: {restless: true}") RING,
      HEAD UNITS("3", ", step: 0.02") RING,
      HEAD "scheme: gauss-seidel\n" UNITS("3", ", step: 0.02") RING,
      HEAD "threads: 2\n" UNITS("3", ", step: 0.005") RING,
      HEAD UNITS("2", ", isolate: process") RING,
  };
  for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
    record_from(systems[i], 0, false, "reading_whole");
    char* whole = read_file("reading_whole/results.csv");
    for (int n_before = 40; n_before <= 41; n_before++) {
      record_from(systems[i], n_before, n_before == 41, "reading_late");
      char* late = read_file("reading_late/results.csv");
      const char* rows = strchr(late, '\n') + 1;
      const size_t n = strlen(rows);
      if (n >= strlen(whole) || strcmp(whole + strlen(whole) - n, rows) != 0) {
        fail_msg("system %zu, recorded from step %d on: other rows", i, n_before);
      }
      free(late);
    }
    free(whole);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_recorded),
      cmocka_unit_test(test_little_connected),
      cmocka_unit_test(test_limits_and_judged_signals),
      cmocka_unit_test(test_recorded),
      cmocka_unit_test(test_values_that_are_not_fetched_can_be_read),
      cmocka_unit_test(test_a_late_recording_is_complete),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
