// The page: three embedded files and the JSON of one or two runs put together. page/report.html has a mark {{name}} for each
// piece. No text of the user can end a script element or start a tag: in the JSON every '<' is written \u003c, and what
// stands in the HTML itself is escaped.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "record/record_read.h"
#include "report/report_parts.h"

#define PAGE_SIZE       1900000u  // characters aimed at; the limit is 2 MB
#define MIN_SERIES_SIZE 300000u   // for the signals, however long the rest is
#define MAX_FILE_SIZE   200000u   // characters of the system file on the page

typedef struct page {
  char* text;
  size_t n, room;
  yoke_status status;
} page;

static void put(page* p, const char* bytes, size_t n) {
  if (p->status < 0 || n == 0) {
    return;
  }
  if (n > p->room - p->n) {
    // doubling keeps the copying linear in the final size
    const size_t room = 2 * (p->n + n) + 4096;
    char* text = realloc(p->text, room);
    if (text == NULL) {
      p->status = YOKE_NO_MEMORY;
      return;
    }
    p->text = text;
    p->room = room;
  }
  memcpy(p->text + p->n, bytes, n);
  p->n += n;
}

// special is replaced, everything else copied
static void put_replaced(page* p, const char* text, const char* special,
                         const char* const replacements[]) {
  while (*text != '\0') {
    const size_t n = strcspn(text, special);
    put(p, text, n);
    text += n;
    if (*text != '\0') {
      const char* with = replacements[strchr(special, *text) - special];
      put(p, with, strlen(with));
      text++;
    }
  }
}

static void put_html(page* p, const char* text) {
  static const char* const replacements[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  put_replaced(p, text, "&<>\"'", replacements);
}

static void put_json(page* p, const yoke_json* json) {
  static const char* const replacements[] = {"\\u003c"};
  put_replaced(p, json->text.bytes, "<", replacements);
}

// ---------------------------------------------------------------------------------------------------------

// One tab of the page.
typedef struct run {
  json_t* summary;
  yoke_csv table;
  yoke_json data, series, reference;
} run;

enum { MAX_RUNS = 2 };

typedef struct pieces {
  run runs[MAX_RUNS];  // the run, and the one before; without a summary there is none
  yoke_csv reference;
} pieces;

// The run in one sentence, for those who see no more of the page.
static void put_sentence(page* p, const json_t* summary) {
  const json_t* trust = json_object_get(summary, "trust");
  const char* reason = yoke__json_find_text(trust, "reason", "");
  const char* status = yoke__json_find_text(summary, "status", "");
  const bool is_judged = json_array_size(json_object_get(trust, "signals")) > 0;
  const char* twin = yoke__json_find_text(json_object_get(summary, "twin"), "sentence", "");
  if (twin[0] != '\0' && strcmp(status, "failed") != 0) {
    put_html(p, twin);
    return;
  }
  if (!is_judged || reason[0] == '\0' || strcmp(status, "failed") == 0) {
    put_html(p, yoke__json_find_text(summary, "sentence", ""));
    return;
  }
  put_html(p, yoke__json_find_text(trust, "verdict", "not judged"));
  put_html(p, ": ");
  put_html(p, reason);
}

// JSON in an element of its own, which the script finds by its id.
static void put_element(page* p, const char* id, const char* suffix, const yoke_json* json) {
  char tag[128];
  if (json->text.n == 0) {
    return;
  }
  snprintf(tag, sizeof tag, "<script type=\"application/json\" id=\"%s%s\">\n", id, suffix);
  put(p, tag, strlen(tag));
  put_json(p, json);
  put(p, "</script>\n", strlen("</script>\n"));
}

static void put_runs(page* p, const pieces* all) {
  static const char* const suffixes[MAX_RUNS] = {"", "-before"};
  for (size_t i = 0; i < MAX_RUNS; i++) {
    put_element(p, "data", suffixes[i], &all->runs[i].data);
    put_element(p, "series", suffixes[i], &all->runs[i].series);
    put_element(p, "reference", suffixes[i], &all->runs[i].reference);
  }
}

// name: the text of a mark, n characters
static void put_piece(page* p, const pieces* all, const char* name, size_t n) {
  static const char* const names[] = {"title", "sentence", "style", "script", "runs"};
  size_t i = 0;
  while (i < YOKE_COUNT(names) && (strlen(names[i]) != n || memcmp(names[i], name, n) != 0)) {
    i++;
  }
  switch (i) {
  case 0:
    put_html(p, yoke__json_find_text(all->runs[0].summary, "name", ""));
    break;
  case 1:
    put_sentence(p, all->runs[0].summary);
    break;
  case 2:
    put(p, (const char*)yoke__report_css, yoke__report_css_size);
    break;
  case 3:
    put(p, (const char*)yoke__report_js, yoke__report_js_size);
    break;
  case 4:
    put_runs(p, all);
    break;
  default:
    break;
  }
}

// the frame ends with a NUL behind its last byte
static void fill_frame(page* p, const pieces* all) {
  const char* at = (const char*)yoke__report_html;
  for (const char* mark = strstr(at, "{{"); mark != NULL; mark = strstr(at, "{{")) {
    const char* end = strstr(mark, "}}");
    if (end == NULL) {
      break;
    }
    put(p, at, (size_t)(mark - at));
    put_piece(p, all, mark + 2, (size_t)(end - mark) - 2);
    at = end + 2;
  }
  put(p, at, strlen(at));
}

// ---------------------------------------------------------------------------------------------------------

static yoke_status read_results(const char* directory, yoke_csv* table, const yoke_sink* sink) {
  static const char* const files[] = {"results.csv", "results.h5"};
  char path[4096];
  bool is_there = false;
  for (size_t i = 0; i < YOKE_COUNT(files); i++) {
    is_there =
        is_there || (yoke__os_path_join(directory, files[i], path, sizeof path) < sizeof path &&
                     yoke__os_is_file(path));
  }
  if (!is_there) {
    const yoke_message missing = {.severity = YOKE_ERROR,
                                  .status = YOKE_BAD_INPUT,
                                  .file = directory,
                                  .time = (double)NAN,
                                  .text = "there is no results.csv or results.h5 in this folder",
                                  .hint = "a report needs --format csv or hdf5, and a recorded "
                                          "signal"};
    yoke_send(sink, &missing);
    return YOKE_BAD_INPUT;
  }
  return yoke__record_read(directory, table, sink);
}

// DIRECTORY/summary.json, if it is one from which a page can be made.
static yoke_status read_summary(const char* directory, json_t** out, const yoke_sink* sink) {
  char path[4096], *bytes = NULL;
  size_t n = 0;
  yoke_context context;
  *out = NULL;
  yoke__os_path_join(directory, "summary.json", path, sizeof path);
  if (!yoke__os_is_file(path)) {
    return yoke__fail_at(sink, YOKE_BAD_INPUT, (yoke_place){directory, 0, 0},
                         "there is no summary.json in this folder: it holds no result of Yoke");
  }
  YOKE_TRY(yoke__os_read_file(path, YOKE_JSON_MAX_SIZE, &bytes, &n, sink));
  yoke__context_init(&context, sink, (yoke_place){path, 0, 0}, NULL, (double)NAN);
  const yoke_status status = yoke__json_parse(bytes, n, out, &context.sink);
  free(bytes);
  YOKE_TRY(status);
  if (strcmp(yoke__json_find_text(*out, "format", ""), "yoke-summary") != 0) {
    return yoke_fail(&context.sink, YOKE_BAD_INPUT, "this is no summary of a run of Yoke");
  }
  const double version = yoke__json_find_number(*out, "version", 0);
  if (version != 1) {
    return yoke_fail(&context.sink, YOKE_BAD_INPUT,
                     "this summary has version %g, this Yoke reads version 1", version);
  }
  if (!json_is_object(json_object_get(*out, "system")) ||
      yoke__json_find_text(*out, "sentence", NULL) == NULL) {
    return yoke_fail(&context.sink, YOKE_BAD_INPUT,
                     "an older version of Yoke wrote this summary: run the system again");
  }
  json_error_t error;
  if (json_unpack_ex(*out, &error, JSON_VALIDATE_ONLY,
                     "{s:{s:[]}, s?{s:[], s:[]}, s?{s?[], s?[], s?[]}, s?[], s?[]}", "system",
                     "units", "ledger", "bonds", "alarms", "trust", "signals", "loops",
                     "companions", "messages", "columns") != 0) {
    return json_error_code(&error) == json_error_out_of_memory
               ? YOKE_NO_MEMORY
               : yoke_fail(&context.sink, YOKE_BAD_INPUT, "this summary is not valid: %s",
                           error.text);
  }
  return YOKE_OK;
}

// Drops what the page does not show: large units have thousands of variables, and nobody reads a long file on a page.
static void shorten(json_t* summary) {
  json_t* unit = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(json_object_get(summary, "system"), "units"), i, unit) {
    json_object_del(unit, "variables");
  }
  json_object_del(json_object_get(summary, "system"), "limits");
  if (json_string_length(json_object_get(summary, "file_text")) > MAX_FILE_SIZE) {
    json_object_del(summary, "file_text");
  }
  json_object_del(summary, "format");
  json_object_del(summary, "version");
}

static yoke_status describe(run* r) {
  const char* key = NULL;
  json_t* value = NULL;
  shorten(r->summary);
  YOKE_TRY(yoke__report_shorten_trust(r->summary, &r->table));
  yoke__json_begin_document(&r->data, "report");
  json_object_foreach(r->summary, key, value) {
    // the columns stand with their signals
    if (strcmp(key, "columns") != 0) {
      yoke__json_value(&r->data, key, value);
    }
  }
  yoke__json_end_object(&r->data);
  return yoke__json_finish(&r->data);
}

static yoke_status describe_series(run* r, size_t n_chars) {
  yoke__json_begin_document(&r->series, "report-series");
  YOKE_TRY(yoke__report_put_series(&r->table, r->summary, n_chars, &r->series));
  yoke__json_end_object(&r->series);
  return yoke__json_finish(&r->series);
}

static yoke_status read_run(const char* directory, run* r, const yoke_sink* sink) {
  YOKE_TRY(read_summary(directory, &r->summary, sink));
  return read_results(directory, &r->table, sink);
}

static yoke_status read_all(const yoke_report_settings* settings, pieces* all,
                            const yoke_sink* sink) {
  YOKE_TRY(read_run(settings->directory, &all->runs[0], sink));
  if (settings->before != NULL) {
    YOKE_TRY(read_run(settings->before, &all->runs[1], sink));
  }
  return settings->reference == NULL
             ? YOKE_OK
             : yoke__record_read(settings->reference, &all->reference, sink);
}

// Signals and references share what the rest leaves of the page, equally.
static yoke_status describe_all(const yoke_report_settings* settings, pieces* all,
                                const yoke_sink* sink) {
  const bool has_reference = settings->reference != NULL;
  size_t used = yoke__report_html_size + yoke__report_css_size + yoke__report_js_size;
  for (size_t i = 0; i < MAX_RUNS && all->runs[i].summary != NULL; i++) {
    YOKE_TRY(describe(&all->runs[i]));
    used += all->runs[i].data.text.n;
  }
  const size_t n_runs = settings->before == NULL ? 1 : 2;
  const size_t n_parts = has_reference ? 2 * n_runs : n_runs;
  const size_t left = used < PAGE_SIZE ? PAGE_SIZE - used : 0;
  const size_t room = (left > MIN_SERIES_SIZE ? left : MIN_SERIES_SIZE) / n_parts;
  for (size_t i = 0; i < MAX_RUNS && all->runs[i].summary != NULL; i++) {
    run* r = &all->runs[i];
    size_t n_shared = 0;
    YOKE_TRY(describe_series(r, room));
    if (!has_reference) {
      continue;
    }
    YOKE_TRY(yoke__report_put_reference(settings->reference, &all->reference, &r->table, room,
                                        &n_shared, &r->reference));
    if (i == 0 && n_shared == 0) {
      return yoke__fail_at(sink, YOKE_BAD_INPUT, (yoke_place){settings->reference, 0, 0},
                           "the reference has no signal in common with '%s'", settings->directory);
    }
  }
  return YOKE_OK;
}

static yoke_status write_page(const char* directory, const pieces* all, const yoke_sink* sink) {
  page p = {0};
  fill_frame(&p, all);
  yoke_status status = p.status;
  if (status >= 0) {
    status = yoke__os_write_into(directory, "report.html", p.text, p.n, sink);
  }
  free(p.text);
  return status;
}

yoke_status yoke__report_make(const yoke_report_settings* settings, const yoke_sink* sink) {
  pieces all = {0};
  yoke_status status = read_all(settings, &all, sink);
  if (status >= 0) {
    status = describe_all(settings, &all, sink);
  }
  if (status >= 0) {
    status = write_page(settings->directory, &all, sink);
  }
  for (size_t i = 0; i < MAX_RUNS; i++) {
    run* r = &all.runs[i];
    yoke__csv_free(&r->table);
    yoke__json_free(&r->data);
    yoke__json_free(&r->series);
    yoke__json_free(&r->reference);
    json_decref(r->summary);
  }
  yoke__csv_free(&all.reference);
  return status;
}

yoke_status yoke__report_write(const char* directory, const yoke_sink* sink) {
  return yoke__report_make(&(yoke_report_settings){.directory = directory}, sink);
}
