// The page about a run: what is in it, that peaks survive, that no name breaks out of it, and what it says when there is
// nothing to read. The page's own behaviour is in test_report_browser.sh.
#define _POSIX_C_SOURCE 200809L

#include "api/api.h"
#include "base/base_message.h"
#include "record/record_fixture.h"
#include "report/report.h"
#include "report/report_parts.h"
#include "support/heard.h"

// two masses and a spring; name is replaced where a test needs another one
#define OSCILLATOR                                                                                 \
  "yoke: 1\n"                                                                                      \
  "name: %s\n"                                                                                     \
  "time: {stop: 1, step: 1e-3}\n"                                                                  \
  "units:\n"                                                                                       \
  "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}\n"       \
  "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}\n"             \
  "connections:\n"                                                                                 \
  "  - right.x -> left.x_other\n"                                                                  \
  "bonds:\n"                                                                                       \
  "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}\n"

// A simulation of a text, which is the file system.yaml of the folder.
static yoke_simulation* load(const char* format, const char* name) {
  char path[FIXTURE_PATH_SIZE];
  FILE* to = fopen(fixture_path(path, folder, "system.yaml"), "w");
  assert_non_null(to);
  fprintf(to, format, name);
  fclose(to);
  static HEAR(told);  // the simulation uses it until its end
  heard_clear(&told);
  yoke_simulation* simulation = NULL;
  if (yoke_simulation_load(path, &(yoke_load_settings){.sink = &told.sink}, &simulation) < 0) {
    fail_msg("not loaded: %s", told.text);
  }
  return simulation;
}

static void run(yoke_simulation* simulation, const char* command) {
  const yoke_record_settings record = {.directory = folder, .formats = YOKE_RECORD_CSV};
  const yoke_run_settings settings = {.record = &record, .command = command};
  yoke_simulation_run(simulation, &settings, NULL);
}

// The results of a whole run in the folder.
static void run_text(const char* format, const char* name) {
  yoke_simulation* simulation = load(format, name);
  run(simulation, "yoke run system.yaml --report");
  yoke_simulation_destroy(&simulation);
}

// The page as a text, to be freed.
static char* write_page(size_t* n) {
  HEAR(err);
  const yoke_status status = yoke__report_write(folder, &err.sink);
  if (status < 0) {
    fail_msg("no page: %s", err.text);
  }
  return fixture_read(folder, "report.html", n);
}

static size_t count(const char* text, const char* part) {
  size_t n = 0;
  for (const char* at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
    n++;
  }
  return n;
}

// A result file in place of that of a run: time and n_signals sines, one of them with a spike.
static void write_rows(size_t n_rows, size_t n_signals, size_t spike, double peak) {
  char path[FIXTURE_PATH_SIZE];
  FILE* to = fopen(fixture_path(path, folder, "results.csv"), "w");
  assert_non_null(to);
  fprintf(to, "time");
  for (size_t i = 0; i < n_signals; i++) {
    fprintf(to, ",u%zu.y", i);
  }
  for (size_t k = 0; k < n_rows; k++) {
    fprintf(to, "\n%.9g", (double)k * 1e-4);
    for (size_t i = 0; i < n_signals; i++) {
      const double value = sin(1e-3 * (double)(k * (i + 1)));
      fprintf(to, ",%.17g", i == 0 && k == spike ? peak : value);
    }
  }
  fprintf(to, "\n");
  fclose(to);
}

// ---------------------------------------------------------------------------------------------------------
// what is on the page

static void page_is_complete(void** state) {
  (void)state;
  yoke_simulation* s = load(OSCILLATOR, "two masses");
  run(s, "yoke run system.yaml --report");
  size_t n = 0;
  char* page = write_page(&n);

  check_contains(page, "<title>two masses</title>");
  check_contains(page, "\"scheme\": \"jacobi\"");
  check_contains(page, "\"exchange\": \"stale\"");
  check_contains(page, "\"model\": \"oscillator.force\"");
  check_contains(page, "\"name\": \"spring\"");
  check_contains(page, "\"name\": \"bond.spring.dP\"");
  check_contains(page, "\"command\": \"yoke run system.yaml --report\"");
  check_contains(page, "\"steps\": 1000");
  check_contains(page, "\"file_text\": \"yoke: 1\\nname: two masses\\n");
  // nothing of the frame is left open, and nothing is loaded from anywhere
  assert_int_equal(count(page, "{{"), 0);
  assert_int_equal(count(page, "<link"), 0);
  assert_int_equal(count(page, " src="), 0);
  assert_int_equal(count(page, "https://"), 0);

  // the verdict is the ledger's, word by word
  yoke_ledger_result result;
  yoke__ledger_result(s->state->ledger, 0, &result);
  char verdict[64];
  snprintf(verdict, sizeof verdict, "\"verdict\": \"%s\"", yoke__verdict_names[result.verdict]);
  check_contains(page, verdict);
  check_contains(page, result.reason);
  free(page);
  yoke_simulation_destroy(&s);
}

// each class of the histogram holds the times that its bounds promise
static void histogram_has_its_bounds(void** state) {
  (void)state;
  static const int64_t times[] = {3, 17, 1000, 123456, 40000000};
  yoke_simulation* s = load(OSCILLATOR, "times");
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    char* summary = NULL;
    memset(&s->loop.step_ns, 0, sizeof s->loop.step_ns);
    yoke__histogram_add(&s->loop.step_ns, times[i]);
    check_ok(yoke_simulation_summary(s, &summary));
    const char* at = strstr(summary, "\"classes_ns\": [");
    assert_non_null(at);
    char* end = NULL;
    const double low = strtod(at + strlen("\"classes_ns\": ["), &end);
    const double high = strtod(end + 2, &end);
    check_between((double)times[i], low, high);
    // 16 classes per factor of two, and one each below 16 ns
    check_between(high - low, 1, 1 + low / 16);
    assert_int_equal(strtol(end + 2, NULL, 10), 1);
    yoke_text_free(&summary);
  }
  yoke_simulation_destroy(&s);
}

static void no_bonds(void** state) {
  (void)state;
  run_text("yoke: 1\nname: %s\ntime: {stop: 0.1, step: 1e-2}\n"
           "units:\n  right: {model: oscillator.mass, start: {x: 1, f: 0}}\n",
           "alone");
  size_t n = 0;
  char* page = write_page(&n);
  check_contains(page, "The system has no bonds");
  check_contains(page, "\"verdict\": \"not judged\"");
  check_contains(page, "\"bonds\": []");
  free(page);
}

// a run that fails half-way still has its page, with the reason first
static void failed_run(void** state) {
  (void)state;
  yoke_simulation* s = load(OSCILLATOR, "failing");
  run(s, NULL);
  const yoke_message failure = {.severity = YOKE_ERROR,
                                .status = YOKE_DIVERGED,
                                .file = "left.c",
                                .unit = "left",
                                .time = 0.5,
                                .text = "'x' is not finite"};
  s->loop.status = YOKE_DIVERGED;
  yoke__failure_set(&s->state->failure, &failure, 0);
  check_ok(yoke__api_write_files(s, folder, NULL));
  yoke_simulation_destroy(&s);
  size_t n = 0;
  char* page = write_page(&n);
  check_contains(page, "\"status\": \"failed\"");
  check_contains(page,
                 "\"sentence\": \"The run failed: unit 'left' at t = 0.5 s: 'x' is not finite\"");
  free(page);
}

// a system that diverges by itself: its message is on the page, once
static void diverged_run(void** state) {
  (void)state;
  static const char growing[] = "yoke: 1\nname: %s\ntime: {stop: 1000, step: 1}\nunits:\n"
                                "  a: {model: state_space, with: {A: [[9]], B: [[1]], inputs: [u], "
                                "outputs: [x]}, start: {u: 1}}\n";
  run_text(growing, "growing");
  size_t n = 0;
  char* page = write_page(&n);
  check_contains(page, "\"status\": \"failed\"");
  check_contains(page, "\"sentence\": \"The run failed: unit 'a' at t = ");
  const char* messages = strstr(page, "\"messages\": [");
  assert_non_null(messages);
  check_contains(messages, "\"severity\": \"error\"");
  assert_int_equal(count(messages, "\"unit\": \"a\""), 1);
  free(page);
}

static void no_rows(void** state) {
  (void)state;
  run_text(OSCILLATOR, "empty");
  write_rows(0, 2, 0, 0);
  size_t n = 0;
  char* page = write_page(&n);
  check_contains(page, "\"n_rows\": 0");
  free(page);
}

static void refuse(const char* text) {
  HEAR(err);
  assert_int_equal(yoke__report_write(folder, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, text);
  check_contains(err.text, folder);
  assert_false(fixture_exists(folder, "report.html"));
}

static void write_file(const char* name, const char* text) {
  char path[FIXTURE_PATH_SIZE];
  FILE* to = fopen(fixture_path(path, folder, name), "w");
  assert_non_null(to);
  fputs(text, to);
  fclose(to);
}

static void missing_results(void** state) {
  (void)state;
  char path[FIXTURE_PATH_SIZE];
  run_text(OSCILLATOR, "nothing to read");
  unlink(fixture_path(path, folder, "results.csv"));
  refuse("there is no results.csv or results.h5 in");
}

static void damaged_results(void** state) {
  (void)state;
  run_text(OSCILLATOR, "damaged");
  write_file("results.csv", "time,left.x\n0,1\n1\n");
  refuse("results.csv:3: error: 1 cell");
}

// a system from memory whose name is that of some file: what that file holds is another matter
static void text_of_another_file(void** state) {
  (void)state;
  static const char text[] = "yoke: 1\nname: alone\ntime: {stop: 0.1, step: 1e-2}\n"
                             "units:\n  right: {model: oscillator.mass, start: {x: 1, f: 0}}\n";
  char path[FIXTURE_PATH_SIZE];
  yoke_system* system = NULL;
  yoke_simulation* s = NULL;
  write_file("system.yaml", "something else");
  check_ok(yoke_system_parse(text, strlen(text), fixture_path(path, folder, "system.yaml"), NULL,
                             &system));
  check_ok(yoke_simulation_create(system, NULL, &s));
  run(s, NULL);
  yoke_simulation_destroy(&s);
  yoke_system_destroy(&system);
  size_t n = 0;
  char* page = write_page(&n);
  assert_int_equal(count(page, "\"file_text\":"), 0);
  assert_int_equal(count(page, "something else"), 0);
  free(page);
}

// no summary, one that is no JSON, none of ours, one from before the page was made from it
static void bad_summaries(void** state) {
  (void)state;
  refuse("there is no summary.json in");
  write_file("summary.json", "{\n\"format\": ");
  refuse("summary.json:2");
  write_file("summary.json", "[1, 2]");
  refuse("summary.json: error: this is no summary of a run of Yoke");
  write_file("summary.json", "{\"format\": \"yoke-sweep\", \"version\": 1}");
  refuse("summary.json: error: this is no summary of a run of Yoke");
  write_file("summary.json", "{\"format\": \"yoke-summary\", \"version\": 1}");
  refuse("summary.json: error: an older version of Yoke wrote this summary");
}

#define SUMMARY "{\"format\": \"yoke-summary\", \"version\": 1, \"sentence\": \"x\", "

// members that have another type than ours, and a tree deeper than ours: what the page is made of is refused, all else is
// shown as it is
static void odd_summaries(void** state) {
  (void)state;
  static const char* const refused[] = {
      SUMMARY "\"system\": {}}",
      SUMMARY "\"system\": {\"units\": 3}}",
      SUMMARY "\"system\": {\"units\": []}, \"columns\": {\"a\": 1}}",
      SUMMARY "\"system\": {\"units\": []}, \"messages\": 3}",
      SUMMARY "\"system\": {\"units\": []}, \"ledger\": {\"bonds\": {}, \"alarms\": []}}",
      SUMMARY "\"system\": {\"units\": []}, \"trust\": {\"loops\": 1}}",
      SUMMARY "\"system\": {\"units\": []}, \"trust\": []}",
      "{\"format\": \"yoke-summary\", \"sentence\": \"x\", \"system\": {\"units\": []}}",
      "{\"format\": \"yoke-summary\", \"version\": 99, \"system\": {\"units\": []}}",
  };
  static const char* const shown[] = {
      SUMMARY "\"system\": {\"units\": [3, null, {}]}, \"recorded\": [], \"name\": 7, "
              "\"file_text\": {}}",
      SUMMARY "\"system\": {\"units\": []}, \"columns\": [1, {\"name\": \"left.x\", \"items\": 1, "
              "\"dimension\": []}]}",
  };
  write_file("results.csv", "time,left.x\n0,1\n1,2\n");
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    HEAR(told);
    write_file("summary.json", refused[i]);
    assert_int_equal(yoke__report_write(folder, &told.sink), YOKE_BAD_INPUT);
    check_contains(told.text, "summary.json: error: this ");
  }
  for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
    write_file("summary.json", shown[i]);
    size_t n = 0;
    char* page = write_page(&n);
    check_contains(page, "content=\"x\"");
    free(page);
  }
  char deep[1024] = SUMMARY "\"system\": {\"units\": []}, \"a\": ";
  memset(deep + strlen(deep), '[', 100);
  memset(deep + strlen(deep), ']', 100);
  deep[strlen(deep)] = '}';
  write_file("summary.json", deep);
  assert_true(yoke__report_write(folder, NULL) < 0);
}

// the folder may stand elsewhere, and the system file may be gone
static void page_needs_only_the_folder(void** state) {
  (void)state;
  char path[FIXTURE_PATH_SIZE];
  size_t n_first = 0, n_second = 0;
  run_text(OSCILLATOR, "two masses");
  char* first = write_page(&n_first);
  unlink(fixture_path(path, folder, "system.yaml"));
  unlink(fixture_path(path, folder, "report.html"));
  char* second = write_page(&n_second);
  assert_int_equal(n_first, n_second);
  assert_memory_equal(first, second, n_first);
  free(first);
  free(second);
}

// ---------------------------------------------------------------------------------------------------------
// error bands, a reference, a second run

// Puts a "trust" into the summary of the folder.
static void add_trust(const char* trust) {
  char path[FIXTURE_PATH_SIZE];
  json_t* summary = json_load_file(fixture_path(path, folder, "summary.json"), 0, NULL);
  assert_non_null(summary);
  assert_int_equal(json_object_set_new(summary, "trust", json_loads(trust, 0, NULL)), 0);
  assert_int_equal(json_dump_file(summary, path, 0), 0);
  json_decref(summary);
}

#define TRUST(signals)                                                                             \
  "{\"version\": 1, \"verdict\": \"doubtful\", \"reason\": \"left.x may be off by up to 3 m\", "   \
  "\"companions\": [], \"loops\": [], \"signals\": [" signals "]}"

// courses of recorded signals share their times; those of others, and those that are no courses, are left out
static void bands_are_on_the_page(void** state) {
  (void)state;
  run_text(OSCILLATOR, "two masses");
  add_trust(TRUST("{\"name\": \"left.x\", \"course\": {\"t\": [0, 1], \"band\": [1, null]}},"
                  "{\"name\": \"right.v\", \"course\": {\"t\": [0, 1], \"band\": [1, 1]}},"
                  "{\"name\": \"left.f\", \"course\": {\"t\": [0, 1], \"band\": [1]}},"
                  "{\"name\": \"right.x\", \"course\": {\"t\": [1, 0], \"band\": [1, 1]}},"
                  "{\"name\": \"left.v\", \"course\": 3}, 3, null,"
                  "{\"name\": \"hidden.x\", \"course\": {\"t\": [0, 1], \"band\": [1, 1]}}"));
  size_t n = 0;
  char* page = write_page(&n);
  check_contains(page, "content=\"doubtful: left.x may be off by up to 3 m\"");
  // 0 and 1, once for both signals
  check_contains(page, "\"times\": [\"AAAAAAAAAAAAAAAAAADwPw==\"]");
  check_contains(page, "\"band\": \"AAAAAAAA8D8AAAAAAAD4fw==\"");  // 1 and NaN
  check_contains(page, "\"band\": \"AAAAAAAA8D8AAAAAAADwPw==\"");
  assert_int_equal(count(page, "\"course\":"), 2);
  check_contains(page, "\"name\": \"hidden.x\"");
  free(page);

  add_trust("{\"signals\": 3}");
  HEAR(told);
  assert_int_equal(yoke__report_write(folder, &told.sink), YOKE_BAD_INPUT);
  check_contains(told.text, "this summary is not valid");
}

// The numbers of a base 64 text, to be freed.
static double* decode(const char* text, size_t* n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned char* bytes = malloc(strlen(text) + 8);
  size_t n_bytes = 0, n_bits = 0;
  uint32_t bits = 0;
  assert_non_null(bytes);
  for (; *text != '\0' && *text != '='; text++) {
    bits = bits << 6 | (uint32_t)(strchr(digits, *text) - digits);
    n_bits += 6;
    if (n_bits >= 8) {
      n_bits -= 8;
      bytes[n_bytes++] = (unsigned char)(bits >> n_bits & 255);
    }
  }
  *n = n_bytes / 8;
  double* x = malloc((*n + 1) * sizeof *x);
  assert_non_null(x);
  memcpy(x, bytes, *n * sizeof *x);
  free(bytes);
  return x;
}

// what is left of a long band lies nowhere below it
static void thinned_band_is_a_bound(void** state) {
  (void)state;
  enum { N = 100000 };
  json_t *t = json_array(), *band = json_array();
  double* full = malloc(N * sizeof *full);
  uint32_t seed = 7;
  for (size_t i = 0; i < N; i++) {
    seed = seed * 1664525u + 1013904223u;
    full[i] = (double)(seed >> 8) * (i % 997 == 0 ? 50 : 1);
    json_array_append_new(t, json_real((double)i));
    json_array_append_new(band, json_real(full[i]));
  }
  json_t* summary = json_pack("{s:{s:[{s:s, s:{s:o, s:o}}]}}", "trust", "signals", "name", "a.x",
                              "course", "t", t, "band", band);
  assert_non_null(summary);
  yoke_csv_column columns[] = {{.name = "time"}, {.name = "a.x"}};
  check_ok(yoke__report_shorten_trust(summary, &(yoke_csv){.columns = columns, .n_columns = 2}));
  const json_t* trust = json_object_get(summary, "trust");
  const json_t* course =
      json_object_get(json_array_get(json_object_get(trust, "signals"), 0), "course");
  size_t n = 0, n_times = 0;
  double* b = decode(json_string_value(json_object_get(course, "band")), &n);
  double* times =
      decode(json_string_value(json_array_get(json_object_get(trust, "times"), 0)), &n_times);
  assert_int_equal(n, n_times);
  check_between((double)n, 0.3 * 46875, 46875 + 1);
  check_near(times[0], 0, 0);
  check_near(times[n - 1], N - 1, 0);
  for (size_t i = 0, k = 0; i < N; i++) {
    while (k + 2 < n && times[k + 1] <= (double)i) {
      k++;
    }
    const double w = ((double)i - times[k]) / (times[k + 1] - times[k]);
    assert_true((1 - w) * b[k] + w * b[k + 1] >= full[i] * (1 - 1e-12));
  }
  free(full);
  free(b);
  free(times);
  json_decref(summary);
}

// the text of a JSON member behind a mark, as a number
static double number_behind(const char* page, const char* mark) {
  const char* at = strstr(page, mark);
  assert_non_null(at);
  return strtod(at + strlen(mark), NULL);
}

static void reference_beside_the_curves(void** state) {
  (void)state;
  char path[FIXTURE_PATH_SIZE];
  run_text(OSCILLATOR, "two masses");
  write_file("results.csv", "time,left.x,left.v,name\n0,1,5,a\n1,2,5,b\n2,3,5,c\n");
  // half the rows, other columns, one of texts: straight lines in between
  write_file("other.csv", "time,right.x,left.x,name\n0,1,1,1\n2,0,1.5,2\n");
  const yoke_report_settings settings = {.directory = folder,
                                         .reference = fixture_path(path, folder, "other.csv")};
  check_ok(yoke__report_make(&settings, NULL));
  size_t n = 0;
  char* page = fixture_read(folder, "report.html", &n);
  const char* part = strstr(page, "id=\"reference\"");
  assert_non_null(part);
  check_near(number_behind(part, "\"max\": "), 1.5, 1e-12);
  check_near(number_behind(part, "\"t_max\": "), 2, 0);
  assert_int_equal(count(part, "\"name\": \"left.x\""), 2);  // its difference and its curve
  assert_int_equal(count(part, "\"name\": \"right.x\""), 0);
  free(page);

  // nothing in common; no file
  unlink(fixture_path(path, folder, "report.html"));
  write_file("other.csv", "time,right.x,name\n0,1,1\n2,0,2\n");
  fixture_path(path, folder, "other.csv");
  HEAR(told);
  assert_int_equal(yoke__report_make(&settings, &told.sink), YOKE_BAD_INPUT);
  check_contains(told.text, "other.csv: error: the reference has no signal in common with '");
  unlink(path);
  assert_true(yoke__report_make(&settings, &told.sink) < 0);
  assert_false(fixture_exists(folder, "report.html"));
}

static void run_before_in_a_tab(void** state) {
  (void)state;
  run_text(OSCILLATOR, "two masses");
  const yoke_report_settings settings = {.directory = folder, .before = folder};
  check_ok(yoke__report_make(&settings, NULL));
  size_t n = 0, n_alone = 0;
  char* page = fixture_read(folder, "report.html", &n);
  assert_int_equal(count(page, "id=\"data\""), 1);
  assert_int_equal(count(page, "id=\"series\""), 1);
  assert_int_equal(count(page, "id=\"data-before\""), 1);
  assert_int_equal(count(page, "id=\"series-before\""), 1);
  free(page);
  // alone it is the page without anything beside it
  free(write_page(&n_alone));
  assert_true(n_alone < n);
  HEAR(told);
  const yoke_report_settings missing = {.directory = folder, .before = "/nowhere"};
  assert_int_equal(yoke__report_make(&missing, &told.sink), YOKE_BAD_INPUT);
  check_contains(told.text, "there is no summary.json in this folder");
}

// ---------------------------------------------------------------------------------------------------------
// no text can leave its place

static void texts_stay_texts(void** state) {
  (void)state;
  run_text(OSCILLATOR, "plain");
  size_t n = 0;
  char* page = write_page(&n);
  const size_t n_scripts = count(page, "<script"), n_ends = count(page, "</script"),
               n_comments = count(page, "<!--"), n_images = count(page, "<img");
  free(page);

  // an end of the element, the start of a comment that would swallow the real end, markup, quotes
  static const char evil[] =
      "</script><script>alert(1)</script><!--<script><img src=x> \\\"'&amp;{{data}}";
  char name[512];
  snprintf(name, sizeof name, "'%s'",
           "</script><script>alert(1)</script><!--<script><img> &amp;{{data}}");
  yoke_simulation* s = load(OSCILLATOR, name);
  run(s, evil);
  const yoke_message failure = {.severity = YOKE_ERROR,
                                .status = YOKE_UNIT_FAILED,
                                .file = evil,
                                .unit = evil,
                                .time = (double)NAN,
                                .text = evil};
  yoke__failure_set(&s->state->failure, &failure, 0);
  s->loop.status = YOKE_UNIT_FAILED;
  write_file("system.yaml", evil);
  check_ok(yoke__api_write_files(s, folder, NULL));
  yoke_simulation_destroy(&s);
  page = write_page(&n);
  assert_int_equal(count(page, "<script"), n_scripts);
  assert_int_equal(count(page, "</script"), n_ends);
  assert_int_equal(count(page, "<!--"), n_comments);
  assert_int_equal(count(page, "<img"), n_images);
  check_contains(page, "&lt;/script&gt;");
  check_contains(page, "\\u003c");
  free(page);
}

// ---------------------------------------------------------------------------------------------------------
// decimation

static void size_is_limited(void** state) {
  (void)state;
  run_text(OSCILLATOR, "long");
  write_rows(100000, 12, 77777, 1.5);
  size_t n = 0;
  char* page = write_page(&n);
  printf("1e5 rows of 12 signals: %zu bytes\n", n);
  check_between((double)n, 1e6, 2e6);
  check_contains(page, "\"n_rows\": 100000");
  check_contains(page, "\"max\": 1.5");
  check_contains(page, "\"t_max\": 7.7777");
  free(page);
}

// a short run is not decimated
static void short_runs_keep_all_rows(void** state) {
  (void)state;
  run_text(OSCILLATOR, "short");
  write_rows(10000, 3, 5, 2);
  size_t n = 0;
  char* page = write_page(&n);
  check_contains(page, "\"n_classes\": 0");
  free(page);
}

enum { N_ROWS = 54321, N_CLASSES = 1000 };

// Decimates one signal with a spike at a row; checks both peaks, the ends, the order of time and the places.
static void check_spike(size_t spike, double peak) {
  double* t = malloc(N_ROWS * sizeof *t);
  double* v = malloc(N_ROWS * sizeof *v);
  double values[2 * N_CLASSES];
  uint16_t places[2 * N_CLASSES];
  for (size_t i = 0; i < N_ROWS; i++) {
    t[i] = 0.1 * (double)i + 1e-3 * sin((double)i);  // not equally spaced
    v[i] = sin(0.01 * (double)i);
  }
  v[spike] = peak;
  yoke__report_decimate(t, v, N_ROWS, N_CLASSES, values, places);
  size_t at = 0;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    at = fabs(values[i]) > fabs(values[at]) ? i : at;
  }
  // the value bit by bit, its time to the 32767th part of a class
  assert_memory_equal(&values[at], &peak, sizeof peak);
  const size_t k = at / 2;
  const double start = t[yoke__report_class_start(N_ROWS, N_CLASSES, k)];
  const size_t next = yoke__report_class_start(N_ROWS, N_CLASSES, k + 1);
  const double end = t[next < N_ROWS ? next : N_ROWS - 1];
  check_near(start + (end - start) * (places[at] & 32767) / 32767, t[spike],
             (end - start) / 65534 + 1e-12);

  // the first and the last row are kept as they are
  assert_memory_equal(&values[0], &v[0], sizeof v[0]);
  assert_memory_equal(&values[2 * N_CLASSES - 1], &v[N_ROWS - 1], sizeof v[0]);
  for (size_t i = 0; i < N_CLASSES; i++) {
    assert_true((places[2 * i] & 32767) <= (places[2 * i + 1] & 32767));
  }
  free(t);
  free(v);
}

static void peaks_survive(void** state) {
  (void)state;
  check_spike(0, 3.0000000000000004);
  check_spike(1, -7.1);
  check_spike(12345, 1.0000000000000002);
  check_spike(12346, -1e300);
  check_spike(N_ROWS - 2, 4.9);
  check_spike(N_ROWS - 1, -1.1);
}

// every row belongs to one class, the first and the last to one of their own
static void classes_cover_all_rows(void** state) {
  (void)state;
  static const size_t cases[][2] = {{3, 3}, {4, 3}, {150, 150}, {151, 150}, {100000, 4567}};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    const size_t n = cases[c][0], n_classes = cases[c][1];
    assert_int_equal(yoke__report_class_start(n, n_classes, 0), 0);
    assert_int_equal(yoke__report_class_start(n, n_classes, 1), 1);
    assert_int_equal(yoke__report_class_start(n, n_classes, n_classes - 1), n - 1);
    assert_int_equal(yoke__report_class_start(n, n_classes, n_classes), n);
    size_t widest = 0, narrowest = n;
    for (size_t k = 1; k + 1 < n_classes; k++) {
      const size_t width =
          yoke__report_class_start(n, n_classes, k + 1) - yoke__report_class_start(n, n_classes, k);
      widest = width > widest ? width : widest;
      narrowest = width < narrowest ? width : narrowest;
    }
    assert_true(narrowest >= 1 && widest - narrowest <= 1);
  }
}

static void missing_values_are_marked(void** state) {
  (void)state;
  enum { N = 40, K = 10 };
  double t[N], v[N], values[2 * K];
  uint16_t places[2 * K];
  for (size_t i = 0; i < N; i++) {
    t[i] = (double)i;
    v[i] = 1;
  }
  // one value of a class, all of another, an infinite one in a third
  const size_t a = yoke__report_class_start(N, K, 2), b = yoke__report_class_start(N, K, 4),
               c = yoke__report_class_start(N, K, 5), d = yoke__report_class_start(N, K, 6);
  v[a] = (double)NAN;
  for (size_t i = b; i < c; i++) {
    v[i] = (double)NAN;
  }
  v[d] = -(double)INFINITY;
  yoke__report_decimate(t, v, N, K, values, places);
  for (size_t k = 0; k < K; k++) {
    const bool is_marked = k == 2 || k == 4 || k == 6;
    assert_int_equal(places[2 * k + 1] >> 15, is_marked);
    assert_int_equal(places[2 * k] >> 15, 0);
    assert_int_equal(isnan(values[2 * k]) != 0, k == 4);
    assert_int_equal(isnan(values[2 * k + 1]) != 0, k == 4);
  }
}

static void numbers_are_encoded(void** state) {
  (void)state;
  // RFC 4648 of 00 00 00 00 00 00 f0 3f, and of 01 00 ff 7f
  const double one = 1;
  const uint16_t shorts[] = {1, 32767};
  char* text = yoke__report_encode_doubles(&one, 1);
  assert_string_equal(text, "AAAAAAAA8D8=");
  free(text);
  text = yoke__report_encode_shorts(shorts, 2);
  assert_string_equal(text, "AQD/fw==");
  free(text);
  text = yoke__report_encode_doubles(NULL, 0);
  assert_string_equal(text, "");
  free(text);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_FOLDER(page_is_complete),
      WITH_FOLDER(histogram_has_its_bounds),
      WITH_FOLDER(no_bonds),
      WITH_FOLDER(failed_run),
      WITH_FOLDER(diverged_run),
      WITH_FOLDER(no_rows),
      WITH_FOLDER(missing_results),
      WITH_FOLDER(damaged_results),
      WITH_FOLDER(text_of_another_file),
      WITH_FOLDER(bad_summaries),
      WITH_FOLDER(odd_summaries),
      WITH_FOLDER(page_needs_only_the_folder),
      WITH_FOLDER(bands_are_on_the_page),
      cmocka_unit_test(thinned_band_is_a_bound),
      WITH_FOLDER(reference_beside_the_curves),
      WITH_FOLDER(run_before_in_a_tab),
      WITH_FOLDER(texts_stay_texts),
      WITH_FOLDER(size_is_limited),
      WITH_FOLDER(short_runs_keep_all_rows),
      cmocka_unit_test(peaks_survive),
      cmocka_unit_test(classes_cover_all_rows),
      cmocka_unit_test(missing_values_are_marked),
      cmocka_unit_test(numbers_are_encoded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
