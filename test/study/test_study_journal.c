// The journal: what is written is read back, what is torn does not count, another study is refused.
#include <unistd.h>

#include "study/study_fixture.h"
#include "study/study_journal.h"
#include "study/study_store.h"
#include "support/heard.h"

static const char system_text[] = "yoke: 1\n"
                                  "time: {stop: 1, step: 1e-2}\n"
                                  "units:\n"
                                  "  i: {model: integrator, start: {x: 1}}\n"
                                  "  g: {model: gain, with: {k: -1}}\n"
                                  "connections: [g.y -> i.u, i.y -> g.u]\n";
static const char* const vary[] = {"units.g.with.k=-2:2:5", "time.step=1e-2,2e-2", NULL};
static const char* const measures[] = {"end:i.y", "rms:i.y", NULL};
static const char* const limits[] = {"max:i.y<=4", NULL};
#define N_POINTS 10

// ---- lines

typedef struct rows {
  size_t n;
  yoke_journal_row row[16];
  double values[16][2];
  char reasons[16][128];
} rows;

static yoke_status keep(void* context, const yoke_journal_row* row) {
  rows* r = context;
  memcpy(r->values[r->n], row->values, sizeof r->values[0]);
  snprintf(r->reasons[r->n], sizeof r->reasons[0], "%s", row->reason);
  r->row[r->n++] = *row;
  return YOKE_OK;
}

static yoke_status parse(const char* bytes, size_t n, rows* r, yoke_journal_info* info) {
  char* identity = NULL;
  HEAR(err);
  *r = (rows){0};
  const yoke_status status =
      yoke__journal_parse(bytes, n, 2, 2, keep, r, &identity, info, &err.sink);
  free(identity);
  return status;
}

static void add_lines(const fixture* f, yoke_text* text) {
  double good[] = {0.1, -1.5e-300}, bad[] = {(double)NAN, (double)NAN};
  char reason[] = "a \"quoted\", reason\nin two lines ";
  const yoke_study_result results[] = {
      {.status = YOKE_RUN_DONE,
       .t = 1,
       .values = good,
       .began = YOKE_RUN_SAFE,
       .ended = YOKE_RUN_SAFE},
      {.status = YOKE_RUN_DIVERGED,
       .t = 0.25,
       .values = bad,
       .reason = reason,
       .ended = YOKE_RUN_FAULT},
      {.status = YOKE_RUN_REFUSED, .t = (double)NAN, .values = bad}};
  yoke__journal_identity(&f->plan, text);
  yoke__text_add(text, "\n");
  yoke__journal_header(&f->plan, text);
  for (size_t i = 0; i < 3; i++) {
    yoke__journal_line(&f->plan, 3 * i, i, &results[i], text);
  }
}

static void test_round_trip(void** state) {
  (void)state;
  fixture f;
  yoke_text text = {0};
  rows r;
  yoke_journal_info info;
  fixture_open(&f, system_text, vary, measures, limits);
  add_lines(&f, &text);
  check_ok(parse(text.bytes, text.n, &r, &info));
  assert_int_equal(r.n, 3);
  assert_int_equal(info.n_damaged, 0);
  assert_int_equal(r.row[0].status, YOKE_RUN_DONE);
  check_near(r.values[0][0], 0.1, 0);
  check_near(r.values[0][1], -1.5e-300, 0);
  assert_int_equal(r.row[1].point, 3);
  assert_int_equal(r.row[1].repeat, 1);
  assert_true(isnan(r.values[1][0]));
  check_near(r.row[1].t, 0.25, 0);
  assert_string_equal(r.reasons[1], "a \"quoted\", reason in two lines ");
  assert_true(isnan(r.row[2].t));
  assert_int_equal(r.row[0].began, YOKE_RUN_SAFE);
  assert_int_equal(r.row[0].ended, YOKE_RUN_SAFE);
  assert_int_equal(r.row[1].began, YOKE_RUN_INIT);
  assert_int_equal(r.row[1].ended, YOKE_RUN_FAULT);
  assert_int_equal(r.row[2].ended, YOKE_RUN_INIT);
  yoke__text_free(&text);
  fixture_close(&f);
}

// cut anywhere: the lines before the cut count, the torn one never does
static void test_torn(void** state) {
  (void)state;
  fixture f;
  yoke_text text = {0};
  rows r;
  yoke_journal_info info;
  fixture_open(&f, system_text, vary, measures, limits);
  add_lines(&f, &text);
  for (size_t n = 0; n <= text.n; n++) {
    size_t n_ends = 0;
    for (size_t i = 0; i < n; i++) {
      n_ends += text.bytes[i] == '\n';
    }
    const yoke_status status = parse(text.bytes, n, &r, &info);
    if (n_ends == 0) {
      assert_int_equal(status, YOKE_BAD_INPUT);
      continue;
    }
    check_ok(status);
    if (r.n != (n_ends < 2 ? 0 : n_ends - 2)) {
      fail_msg("%zu of %zu bytes: %zu rows, %zu line ends", n, text.n, r.n, n_ends);
    }
  }
  yoke__text_free(&text);
  fixture_close(&f);
}

// any changed byte of a row is noticed
static void test_changed_bytes(void** state) {
  (void)state;
  fixture f;
  yoke_text text = {0};
  rows r;
  yoke_journal_info info;
  fixture_open(&f, system_text, vary, measures, limits);
  add_lines(&f, &text);
  size_t first = 0;
  for (size_t i = 0, n = 0; n < 2; i++) {
    n += text.bytes[i] == '\n';
    first = i + 1;
  }
  for (size_t i = first; i < text.n; i++) {
    const char before = text.bytes[i];
    text.bytes[i] = (char)(before ^ 1);
    check_ok(parse(text.bytes, text.n, &r, &info));
    if (r.n >= 3) {
      fail_msg("byte %zu was '%c', now '%c': all rows still count", i, before, text.bytes[i]);
    }
    text.bytes[i] = before;
  }
  yoke__text_free(&text);
  fixture_close(&f);
}

// every part of a plan that decides the numbers is told apart
static void test_identity(void** state) {
  (void)state;
  static const char* const other_vary[] = {"units.g.with.k=-2:2:5", "time.step=1e-2,4e-2", NULL};
  static const char* const other_measures[] = {"end:i.y", NULL};
  static const char* const sets[] = {"time.stop=2"};
  fixture f, g;
  yoke_text mine = {0}, theirs = {0};
  char why[256];
  fixture_open(&f, system_text, vary, measures, limits);
  yoke__journal_identity(&f.plan, &mine);
  yoke__journal_difference(mine.bytes, mine.bytes, why, sizeof why);
  assert_string_equal(why, "");
  for (int i = 0; i < 6; i++) {
    static const char* const want[] = {"the system file has changed", "--vary is different",
                                       "the measures are different",  "--limit is different",
                                       "--set is different",          "--seed is different"};
    fixture_open(&g, i == 0 ? "yoke: 1\n" : system_text, i == 1 ? other_vary : vary,
                 i == 2 ? other_measures : measures, i == 3 ? NULL : limits);
    g.plan.sets = sets;
    g.plan.n_sets = i == 4;
    g.plan.seed = i == 5 ? "a.b" : NULL;
    yoke__text_clear(&theirs);
    yoke__journal_identity(&g.plan, &theirs);
    yoke__journal_difference(mine.bytes, theirs.bytes, why, sizeof why);
    assert_string_equal(why, want[i]);
    fixture_close(&g);
  }
  yoke__text_free(&mine);
  yoke__text_free(&theirs);
  fixture_close(&f);
}

// ---- the file

typedef struct folder {
  char path[64], journal[96], table[96];
} folder;

static void folder_open(folder* f) {
  snprintf(f->path, sizeof f->path, "journal-%ld", (long)getpid());
  snprintf(f->journal, sizeof f->journal, "%s/journal.csv", f->path);
  snprintf(f->table, sizeof f->table, "%s/table.csv", f->path);
}

static void folder_close(const folder* f) {
  yoke__os_file_remove(f->journal);
  yoke__os_file_remove(f->table);
  rmdir(f->path);
}

static char* read_text(const char* path) {
  HEAR(err);
  char* bytes = NULL;
  size_t n = 0;
  if (yoke__os_read_file(path, 1 << 20, &bytes, &n, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  return bytes;
}

static size_t count_lines(const char* path) {
  char* text = read_text(path);
  size_t n = 0;
  for (const char* c = text; *c != '\0'; c++) {
    n += *c == '\n';
  }
  free(text);
  return n;
}

static yoke_study* open_study(const fixture* f, const folder* d, bool is_restart) {
  HEAR(err);
  yoke_study* study = NULL;
  if (yoke__study_open(&f->plan, d->path, is_restart, &study, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  return study;
}

static void complete(yoke_study* study, size_t first, size_t n) {
  size_t points[N_POINTS], repeats[N_POINTS] = {0};
  HEAR(err);
  const yoke_study_calls calls = {0};
  for (size_t i = 0; i < n; i++) {
    points[i] = first + i;
  }
  if (yoke__study_complete(study, points, repeats, n, 2, &calls, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
}

static void damage(const char* path) {
  FILE* file = fopen(path, "ab");
  assert_non_null(file);
  fputs("9,0,2,0.02,done,1,0.36", file);
  fclose(file);
}

// half, torn, the rest: every point once in the journal, and the table of a study in one go
static void test_resume(void** state) {
  (void)state;
  fixture f;
  folder d;
  HEAR(err);
  size_t n_known = 0, n_damaged = 0, counts[YOKE_RUN_N_STATUSES];
  folder_open(&d);
  fixture_open(&f, system_text, vary, measures, limits);
  yoke_study* study = open_study(&f, &d, true);
  complete(study, 0, N_POINTS);
  check_ok(yoke__study_write_table(study, "table.csv", &err.sink));
  yoke__study_count(study, counts);
  assert_int_equal(counts[YOKE_RUN_DONE] + counts[YOKE_RUN_LIMIT], N_POINTS);
  assert_true(counts[YOKE_RUN_LIMIT] > 0);  // exp(2) is above 4
  yoke__study_close(&study);
  char* whole = read_text(d.table);

  study = open_study(&f, &d, true);
  complete(study, 3, 4);
  yoke__study_close(&study);
  assert_int_equal(count_lines(d.journal), 2 + 4);
  damage(d.journal);
  study = open_study(&f, &d, false);
  yoke__study_resumed(study, &n_known, &n_damaged);
  assert_int_equal(n_known, 4);
  assert_int_equal(n_damaged, 1);
  assert_non_null(yoke__study_find(study, 3, 0));
  assert_null(yoke__study_find(study, 9, 0));
  complete(study, 0, N_POINTS);
  check_ok(yoke__study_write_table(study, "table.csv", &err.sink));
  yoke__study_close(&study);
  assert_int_equal(count_lines(d.journal), 2 + N_POINTS);
  char* resumed = read_text(d.table);
  assert_string_equal(resumed, whole);
  free(resumed);
  free(whole);
  fixture_close(&f);
  folder_close(&d);
}

// a point that ran into a shortage is in the journal and still missing; its later result counts, also after two such lines
static void test_shortage(void** state) {
  (void)state;
  fixture f;
  folder d;
  HEAR(err);
  double none[FIXTURE_MAX];
  char reason[] = "error: No space left on device";
  size_t n_known = 0, n_damaged = 0;
  const yoke_study_result lacking = {
      .status = YOKE_RUN_SHORTAGE, .t = (double)NAN, .values = none, .reason = reason};
  for (size_t i = 0; i < FIXTURE_MAX; i++) {
    none[i] = (double)NAN;
  }
  folder_open(&d);
  fixture_open(&f, system_text, vary, measures, limits);
  yoke_study* study = open_study(&f, &d, true);
  complete(study, 0, 2);
  yoke__study_close(&study);
  for (int round = 0; round < 2; round++) {
    yoke_text line = {0};
    yoke__journal_line(&f.plan, 5, 0, &lacking, &line);
    FILE* file = fopen(d.journal, "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(line.bytes, 1, line.n, file), line.n);
    fclose(file);
    yoke__text_free(&line);
  }
  study = open_study(&f, &d, false);
  yoke__study_resumed(study, &n_known, &n_damaged);
  assert_int_equal(n_known, 2);
  assert_int_equal(n_damaged, 0);
  assert_null(yoke__study_find(study, 5, 0));
  complete(study, 0, N_POINTS);
  assert_non_null(yoke__study_find(study, 5, 0));
  check_ok(yoke__study_write_table(study, "table.csv", &err.sink));
  yoke__study_close(&study);
  char* table = read_text(d.table);
  assert_null(strstr(table, "shortage"));
  free(table);
  study = open_study(&f, &d, false);
  yoke__study_resumed(study, &n_known, &n_damaged);
  assert_int_equal(n_known, N_POINTS);
  yoke__study_close(&study);
  fixture_close(&f);
  folder_close(&d);
}

// FAULT of a machine: its run is done once more, and counts as failed if that ends there too (TE-12: marked, not zero)
static void test_fault(void** state) {
  (void)state;
  fixture f;
  folder d;
  double none[FIXTURE_MAX] = {(double)NAN, (double)NAN};
  char reason[] = "error: unit 'm': no answer";
  size_t n_safe = 0, n_fault = 0;
  const yoke_study_result faulty = {.status = YOKE_RUN_FAILED,
                                    .t = 0.5,
                                    .values = none,
                                    .reason = reason,
                                    .began = YOKE_RUN_SAFE,
                                    .ended = YOKE_RUN_FAULT};
  folder_open(&d);
  fixture_open(&f, system_text, vary, measures, limits);
  yoke_study* study = open_study(&f, &d, true);
  yoke__study_close(&study);
  for (int round = 0; round < 2; round++) {
    yoke_text line = {0};
    yoke__journal_line(&f.plan, 5, 0, &faulty, &line);
    FILE* file = fopen(d.journal, "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(line.bytes, 1, line.n, file), line.n);
    fclose(file);
    yoke__text_free(&line);
    study = open_study(&f, &d, false);
    const yoke_study_result* found = yoke__study_find(study, 5, 0);
    assert_true((found != NULL) == (round == 1));
    yoke__study_count_states(study, &n_safe, &n_fault);
    assert_int_equal(n_fault, round);
    if (found != NULL) {
      assert_int_equal(found->status, YOKE_RUN_FAILED);
      assert_true(isnan(found->values[0]));
    }
    yoke__study_close(&study);
  }
  fixture_close(&f);
  folder_close(&d);
}

static void test_other_study(void** state) {
  (void)state;
  static const char* const other_measures[] = {"min:i.y", NULL};
  fixture f, g;
  folder d;
  HEAR(err);
  yoke_study *study = NULL, *second = NULL;
  folder_open(&d);
  fixture_open(&f, system_text, vary, measures, limits);
  fixture_open(&g, system_text, vary, other_measures, limits);
  study = open_study(&f, &d, true);
  // a second process would find the folder taken; within one process the lock is the same
  assert_int_equal(yoke__study_open(&f.plan, d.path, false, &second, &err.sink), YOKE_IO);
  check_contains(err.text, "another process is writing");
  complete(study, 0, 1);
  yoke__study_close(&study);
  assert_int_equal(yoke__study_open(&g.plan, d.path, false, &study, &err.sink), YOKE_BAD_INPUT);
  assert_null(study);
  check_contains(err.text, "belongs to another study: the measures are different");
  check_contains(err.text, "--restart");
  study = open_study(&g, &d, true);
  assert_null(yoke__study_find(study, 0, 0));
  yoke__study_close(&study);
  assert_int_equal(count_lines(d.journal), 2);

  // a file that is no journal is not touched
  FILE* file = fopen(d.journal, "wb");
  fputs("my notes\n", file);
  fclose(file);
  assert_int_equal(yoke__study_open(&g.plan, d.path, false, &study, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "not the journal of a study");
  char* notes = read_text(d.journal);
  assert_string_equal(notes, "my notes\n");
  free(notes);
  fixture_close(&f);
  fixture_close(&g);
  folder_close(&d);
}

// failed points have empty cells in the table (TE-12)
static void test_table(void** state) {
  (void)state;
  fixture f;
  folder d;
  HEAR(err);
  folder_open(&d);
  fixture_open(&f, system_text, vary, measures, limits);
  yoke_study* study = open_study(&f, &d, true);
  complete(study, 0, N_POINTS);
  check_ok(yoke__study_write_table(study, "table.csv", &err.sink));
  yoke__study_close(&study);
  char* table = read_text(d.table);
  check_contains(table,
                 "units.g.with.k,time.step,status,t_reached,end:i.y,rms:i.y,reason\n-2,0.01,");
  check_contains(table, "\n0,0.01,done,1,1,1,\n");
  check_contains(table, "\n2,0.02,limit,0.7");
  check_contains(table, ",,,max:i.y is 4.");
  free(table);
  fixture_close(&f);
  folder_close(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_torn),
      cmocka_unit_test(test_changed_bytes), cmocka_unit_test(test_identity),
      cmocka_unit_test(test_resume),        cmocka_unit_test(test_other_study),
      cmocka_unit_test(test_shortage),      cmocka_unit_test(test_fault),
      cmocka_unit_test(test_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
