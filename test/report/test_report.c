// The page about a run: what is in it, that peaks survive, that no name breaks out of it, and what it says when there is
// nothing to read. The page's own behaviour is in test_report_browser.sh.
#define _POSIX_C_SOURCE 200809L

#include "base/base_message.h"
#include "master/master_run.h"
#include "record/record_fixture.h"
#include "report/report_parts.h"
#include "support/heard.h"
#include "support/sim.h"

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

static yoke_loop_info info;  // large: histogram

static void run(sim* s) {
  const yoke_record_settings settings = {.directory = folder, .formats = YOKE_RECORD_CSV};
  memset(&info, 0, sizeof info);
  yoke__master_run(s->system, s->state, &settings, NULL, &info);
}

static yoke_report_input input_of(const sim* s) {
  return (yoke_report_input){.system = s->system,
                             .info = &info,
                             .ledger = s->state->ledger,
                             .state = s->state,
                             .directory = folder,
                             .settings_text = "yoke: 1\n",
                             .command = "yoke run system.yaml --report"};
}

// The page as a text, to be freed.
static char* write_page(const yoke_report_input* input, size_t* n) {
  YOKE_CATCH(err);
  const yoke_status status = yoke__report_write(input, &err.sink);
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
  sim s = sim_open(OSCILLATOR, "two masses");
  run(&s);
  size_t n = 0;
  const yoke_report_input input = input_of(&s);
  char* page = write_page(&input, &n);

  check_contains(page, "<title>two masses</title>");
  check_contains(page, "\"scheme\": \"jacobi\"");
  check_contains(page, "\"exchange\": \"stale\"");
  check_contains(page, "\"model\": \"oscillator.force\"");
  check_contains(page, "\"name\": \"spring\"");
  check_contains(page, "\"name\": \"bond.spring.dP\"");
  check_contains(page, "\"command\": \"yoke run system.yaml --report\"");
  check_contains(page, "\"n_steps\": 1000");
  // nothing of the frame is left open, and nothing is loaded from anywhere
  assert_int_equal(count(page, "{{"), 0);
  assert_int_equal(count(page, "<link"), 0);
  assert_int_equal(count(page, " src="), 0);
  assert_int_equal(count(page, "https://"), 0);

  // the verdict is the ledger's, word by word
  yoke_ledger_result result;
  yoke__ledger_result(s.state->ledger, 0, &result);
  char verdict[64];
  snprintf(verdict, sizeof verdict, "\"verdict\": \"%s\"", yoke__verdict_names[result.verdict]);
  check_contains(page, verdict);
  check_contains(page, result.reason);
  free(page);
  sim_close(&s);
}

// each class of the histogram holds the times that its bounds promise
static void histogram_has_its_bounds(void** state) {
  (void)state;
  static const int64_t times[] = {3, 17, 1000, 123456, 40000000};
  sim s = sim_open(OSCILLATOR, "times");
  run(&s);
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    memset(&info.step_ns, 0, sizeof info.step_ns);
    yoke__histogram_add(&info.step_ns, times[i]);
    const yoke_report_input input = input_of(&s);
    yoke_json json = {0};
    yoke__json_begin_object(&json, NULL);
    yoke__report_put_run(&input, &json);
    yoke__json_end_object(&json);
    check_ok(yoke__json_finish(&json));
    const char* at = strstr(json.text.bytes, "\"classes\": [");
    assert_non_null(at);
    char* end = NULL;
    const double low = strtod(at + strlen("\"classes\": ["), &end);
    const double high = strtod(end + 2, &end);
    check_between((double)times[i], low, high);
    // 16 classes per factor of two, and one each below 16 ns
    check_between(high - low, 1, 1 + low / 16);
    assert_int_equal(strtol(end + 2, NULL, 10), 1);
    yoke__json_free(&json);
  }
  sim_close(&s);
}

static void no_bonds(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\nname: alone\ntime: {stop: 0.1, step: 1e-2}\n"
                   "units:\n  right: {model: oscillator.mass, start: {x: 1, f: 0}}\n");
  run(&s);
  size_t n = 0;
  const yoke_report_input input = input_of(&s);
  char* page = write_page(&input, &n);
  check_contains(page, "The system has no bonds");
  check_contains(page, "\"verdict\": \"not judged\"");
  check_contains(page, "\"bonds\": []");
  free(page);
  sim_close(&s);
}

// a run that fails half-way still has its page, with the reason first
static void failed_run(void** state) {
  (void)state;
  sim s = sim_open(OSCILLATOR, "failing");
  run(&s);
  info.status = YOKE_DIVERGED;
  info.t_reached = 0.5;
  const yoke_message failure = {.severity = YOKE_ERROR,
                                .status = YOKE_DIVERGED,
                                .unit = "left",
                                .time = 0.5,
                                .text = "'x' is not finite"};
  yoke__failure_set(&info.failure, &failure, 0);
  size_t n = 0;
  const yoke_report_input input = input_of(&s);
  char* page = write_page(&input, &n);
  check_contains(page, "\"status\": \"failed\"");
  check_contains(page, "\"is_failed\": true");
  check_contains(page,
                 "\"sentence\": \"The run failed: unit 'left' at t = 0.5 s: 'x' is not finite\"");
  free(page);
  sim_close(&s);
}

static void no_rows(void** state) {
  (void)state;
  sim s = sim_open(OSCILLATOR, "empty");
  run(&s);
  write_rows(0, 2, 0, 0);
  size_t n = 0;
  const yoke_report_input input = input_of(&s);
  char* page = write_page(&input, &n);
  check_contains(page, "\"n_rows\": 0");
  free(page);
  sim_close(&s);
}

static void missing_results(void** state) {
  (void)state;
  sim s = sim_open(OSCILLATOR, "nothing to read");
  memset(&info, 0, sizeof info);
  const yoke_report_input input = input_of(&s);
  HEAR(err);
  assert_int_equal(yoke__report_write(&input, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "there is no results.csv or results.h5 in");
  check_contains(err.text, folder);
  assert_false(fixture_exists(folder, "report.html"));
  sim_close(&s);
}

static void damaged_results(void** state) {
  (void)state;
  char path[FIXTURE_PATH_SIZE];
  FILE* to = fopen(fixture_path(path, folder, "results.csv"), "w");
  assert_non_null(to);
  fprintf(to, "time,left.x\n0,1\n1\n");
  fclose(to);
  sim s = sim_open(OSCILLATOR, "damaged");
  memset(&info, 0, sizeof info);
  const yoke_report_input input = input_of(&s);
  HEAR(err);
  assert_int_equal(yoke__report_write(&input, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "results.csv:3: error: 1 cell");
  assert_false(fixture_exists(folder, "report.html"));
  sim_close(&s);
}

// ---------------------------------------------------------------------------------------------------------
// no text can leave its place

static void texts_stay_texts(void** state) {
  (void)state;
  sim plain = sim_open(OSCILLATOR, "plain");
  run(&plain);
  size_t n = 0;
  yoke_report_input input = input_of(&plain);
  char* page = write_page(&input, &n);
  const size_t n_scripts = count(page, "<script"), n_ends = count(page, "</script"),
               n_comments = count(page, "<!--"), n_images = count(page, "<img");
  free(page);
  sim_close(&plain);

  // an end of the element, the start of a comment that would swallow the real end, markup, quotes
  static const char evil[] =
      "</script><script>alert(1)</script><!--<script><img src=x> \\\"'&amp;{{data}}";
  char name[512];
  snprintf(name, sizeof name, "'%s'",
           "</script><script>alert(1)</script><!--<script><img> &amp;{{data}}");
  sim s = sim_open(OSCILLATOR, name);
  run(&s);
  input = input_of(&s);
  input.settings_text = evil;
  input.command = evil;
  const yoke_message failure = {
      .severity = YOKE_ERROR, .file = evil, .unit = evil, .time = (double)NAN, .text = evil};
  yoke__failure_set(&info.failure, &failure, 0);
  info.status = YOKE_UNIT_FAILED;
  page = write_page(&input, &n);
  assert_int_equal(count(page, "<script"), n_scripts);
  assert_int_equal(count(page, "</script"), n_ends);
  assert_int_equal(count(page, "<!--"), n_comments);
  assert_int_equal(count(page, "<img"), n_images);
  check_contains(page, "&lt;/script&gt;");
  check_contains(page, "\\u003c");
  free(page);
  sim_close(&s);
}

// ---------------------------------------------------------------------------------------------------------
// decimation

static void size_is_limited(void** state) {
  (void)state;
  sim s = sim_open(OSCILLATOR, "long");
  run(&s);
  write_rows(100000, 12, 77777, 1.5);
  size_t n = 0;
  const yoke_report_input input = input_of(&s);
  char* page = write_page(&input, &n);
  printf("1e5 rows of 12 signals: %zu bytes\n", n);
  check_between((double)n, 1e6, 2e6);
  check_contains(page, "\"n_rows\": 100000");
  check_contains(page, "\"max\": 1.5");
  check_contains(page, "\"t_max\": 7.7777");
  free(page);
  sim_close(&s);
}

// a short run is not decimated
static void short_runs_keep_all_rows(void** state) {
  (void)state;
  sim s = sim_open(OSCILLATOR, "short");
  run(&s);
  write_rows(10000, 3, 5, 2);
  size_t n = 0;
  const yoke_report_input input = input_of(&s);
  char* page = write_page(&input, &n);
  check_contains(page, "\"n_classes\": 0");
  free(page);
  sim_close(&s);
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
      WITH_FOLDER(no_rows),
      WITH_FOLDER(missing_results),
      WITH_FOLDER(damaged_results),
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
