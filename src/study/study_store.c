// Results in memory and on disk; see study_store.h.
//
// Only the thread that calls complete writes the journal: one line, then a flush, per run. A line that a kill has torn is
// dropped when the journal is opened again: the sound lines are written anew before anything is added.
#include "study/study_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "base/base_status.h"
#include "study/study_journal.h"

// A result that is not on the grid of first runs.
typedef struct repetition {
  struct repetition* next;
  size_t point, repeat;
  yoke_study_result result;
  double values[];
} repetition;

struct yoke_study {
  const yoke_study_plan* plan;
  char* directory;
  char* path;  // of the journal
  int lock;
  FILE* journal;
  size_t n_first;            // points of the grid, and the current setting
  yoke_study_result* first;  // n_first
  double* values;            // of them
  repetition* repetitions;   // newest first
  size_t n_known, n_damaged;
  yoke_text line;
};

// ---- results

static yoke_study_result* find(const yoke_study* study, size_t point, size_t repeat) {
  if (point >= study->n_first) {
    return NULL;
  }
  if (repeat == 0) {
    return &study->first[point];
  }
  for (repetition* r = study->repetitions; r != NULL; r = r->next) {
    if (r->point == point && r->repeat == repeat) {
      return &r->result;
    }
  }
  return NULL;
}

// The place of a result, made if need be. NULL: out of memory or no such point.
static yoke_study_result* take(yoke_study* study, size_t point, size_t repeat) {
  yoke_study_result* result = find(study, point, repeat);
  if (result != NULL || point >= study->n_first) {
    return result;
  }
  repetition* r = calloc(1, sizeof *r + study->plan->n_measures * sizeof(double));
  if (r == NULL) {
    return NULL;
  }
  r->point = point;
  r->repeat = repeat;
  r->result.values = r->values;
  r->next = study->repetitions;
  study->repetitions = r;
  return &r->result;
}

const yoke_study_result* yoke__study_find(const yoke_study* study, size_t point, size_t repeat) {
  const yoke_study_result* result = find(study, point, repeat);
  return result == NULL || result->status == YOKE_RUN_PENDING ? NULL : result;
}

void yoke__study_count(const yoke_study* study, size_t n_by_status[YOKE_RUN_N_STATUSES]) {
  memset(n_by_status, 0, YOKE_RUN_N_STATUSES * sizeof *n_by_status);
  for (size_t i = 0; i < study->plan->grid->n_points; i++) {
    n_by_status[study->first[i].status]++;
  }
}

void yoke__study_count_states(const yoke_study* study, size_t* n_safe, size_t* n_fault) {
  *n_safe = *n_fault = 0;
  for (size_t i = 0; i < study->n_first; i++) {
    *n_safe += study->first[i].ended == YOKE_RUN_SAFE;
    *n_fault += study->first[i].ended == YOKE_RUN_FAULT;
  }
}

void yoke__study_resumed(const yoke_study* study, size_t* n_known, size_t* n_damaged) {
  *n_known = study->n_known;
  *n_damaged = study->n_damaged;
}

const char* yoke__study_directory(const yoke_study* study) {
  return study->directory;
}

const yoke_study_plan* yoke__study_plan_of(const yoke_study* study) {
  return study->plan;
}

// ---- the journal that is there

static yoke_status keep_row(void* context, const yoke_journal_row* row) {
  yoke_study* study = context;
  if (row->point >= study->n_first) {
    study->n_damaged++;  // sound, but of no point: not ours to count
    return YOKE_OK;
  }
  if (yoke__run_is_void(row->status)) {
    return YOKE_OK;  // still to be run; a later line may have its result
  }
  yoke_study_result* result = take(study, row->point, row->repeat);
  YOKE_TRY_MEMORY(result);
  if (result->status != YOKE_RUN_PENDING) {
    return YOKE_OK;
  }
  // whether the setting or the machine was to blame is not known before it has happened twice
  if (row->status == YOKE_RUN_FAILED && row->ended == YOKE_RUN_FAULT && result->n_faults++ == 0) {
    return YOKE_OK;
  }
  study->n_known++;
  result->began = row->began;
  result->ended = row->ended;
  return yoke__study_result_set(result, row->status, row->t, row->values, study->plan->n_measures,
                                row->reason);
}

static yoke_status refuse_journal(const yoke_study* study, const char* why, const yoke_sink* sink) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  snprintf(text, sizeof text, "the journal belongs to another study: %.900s", why);
  const yoke_message message = {
      .severity = YOKE_ERROR,
      .status = YOKE_BAD_INPUT,
      .file = study->path,
      .time = (double)NAN,
      .text = text,
      .hint = "choose another folder with --out, or start again with --restart"};
  yoke_send(sink, &message);
  return YOKE_BAD_INPUT;
}

static yoke_status read_journal(yoke_study* study, const char* identity, const yoke_sink* sink) {
  char *bytes = NULL, *theirs = NULL;
  size_t n = 0;
  YOKE_CATCH(why);
  yoke_journal_info info;
  YOKE_TRY(yoke__os_read_file(study->path, YOKE_JOURNAL_MAX_SIZE, &bytes, &n, sink));
  const yoke_status status =
      yoke__journal_parse(bytes, n, study->plan->grid->n_axes, study->plan->n_measures, keep_row,
                          study, &theirs, &info, &why.sink);
  free(bytes);
  if (status >= 0) {
    study->n_damaged += info.n_damaged;
    yoke__journal_difference(identity, theirs, why.text, sizeof why.text);
    free(theirs);
  }
  return why.text[0] == '\0' ? status : refuse_journal(study, why.text, sink);
}

// ---- a journal to go on with

static void add_known(const yoke_study* study, yoke_text* text) {
  for (size_t i = 0; i < study->n_first; i++) {
    if (study->first[i].status != YOKE_RUN_PENDING) {
      yoke__journal_line(study->plan, i, 0, &study->first[i], text);
    }
  }
  for (const repetition* r = study->repetitions; r != NULL; r = r->next) {
    if (r->result.status != YOKE_RUN_PENDING) {
      yoke__journal_line(study->plan, r->point, r->repeat, &r->result, text);
    }
  }
}

static yoke_status fail_write(const yoke_study* study, const yoke_sink* sink) {
  const int code = errno;
  return yoke__fail_at(sink, yoke__status_of_errno(code), (yoke_place){.source = study->path},
                       "cannot be written: %s", yoke__errno_text(code));
}

// Writes the whole journal under a temporary name first, unless the one that is there can be continued.
static yoke_status begin_journal(yoke_study* study, const char* identity, bool is_sound,
                                 const yoke_sink* sink) {
  yoke_status status = YOKE_OK;
  if (!is_sound) {
    yoke_text text = {0};
    yoke__text_add(&text, "%s\n", identity);
    yoke__journal_header(study->plan, &text);
    add_known(study, &text);
    status = text.status < 0 ? text.status
                             : yoke__os_write_into(study->directory, YOKE_JOURNAL_NAME, text.bytes,
                                                   text.n, sink);
    yoke__text_free(&text);
  }
  YOKE_TRY(status);
  study->journal = fopen(study->path, "ab");
  if (study->journal == NULL) {
    return fail_write(study, sink);
  }
  return YOKE_OK;
}

static yoke_status open_journal(yoke_study* study, bool is_restart, const yoke_sink* sink) {
  yoke_text identity = {0};
  yoke__journal_identity(study->plan, &identity);
  if (identity.status < 0) {
    yoke__text_free(&identity);
    return YOKE_NO_MEMORY;
  }
  const bool is_old = !is_restart && yoke__os_is_file(study->path);
  yoke_status status = is_old ? read_journal(study, identity.bytes, sink) : YOKE_OK;
  if (status >= 0) {
    status = begin_journal(study, identity.bytes, is_old && study->n_damaged == 0, sink);
  }
  yoke__text_free(&identity);
  return status;
}

// ---- open and close

static yoke_status lay(yoke_study* study, const char* directory) {
  const yoke_study_plan* plan = study->plan;
  const size_t size = yoke__os_path_join(directory, YOKE_JOURNAL_NAME, NULL, 0) + 1;
  study->n_first = plan->grid->n_points + 1;
  study->directory = malloc(strlen(directory) + 1);
  study->path = malloc(size);
  study->first = calloc(study->n_first, sizeof *study->first);
  study->values = calloc(study->n_first * plan->n_measures + 1, sizeof *study->values);
  YOKE_TRY_MEMORY(study->directory && study->path && study->first && study->values);
  memcpy(study->directory, directory, strlen(directory) + 1);
  yoke__os_path_join(directory, YOKE_JOURNAL_NAME, study->path, size);
  for (size_t i = 0; i < study->n_first; i++) {
    study->first[i].values = study->values + i * plan->n_measures;
  }
  return YOKE_OK;
}

static yoke_status open_folder(yoke_study* study, bool is_restart, const yoke_sink* sink) {
  YOKE_TRY(yoke__os_make_directory(study->directory, sink));
  const yoke_status locked = yoke__os_lock_directory(study->directory, &study->lock);
  if (locked < 0) {
    return yoke__fail_at(sink, locked, (yoke_place){.source = study->directory}, "%s",
                         yoke__status_is_shortage(locked)
                             ? yoke_status_text(locked)
                             : "another process is writing to this folder");
  }
  return open_journal(study, is_restart, sink);
}

yoke_status yoke__study_open(const yoke_study_plan* plan, const char* directory, bool is_restart,
                             yoke_study** out, const yoke_sink* sink) {
  *out = NULL;
  yoke_study* study = calloc(1, sizeof *study);
  YOKE_TRY_MEMORY(study);
  study->plan = plan;
  study->lock = -1;
  yoke_status status = lay(study, directory);
  status = status < 0 ? status : open_folder(study, is_restart, sink);
  if (status < 0) {
    yoke__study_close(&study);
  }
  *out = study;
  return status;
}

static void free_results(yoke_study* study) {
  for (size_t i = 0; study->first != NULL && i < study->n_first; i++) {
    free(study->first[i].reason);
  }
  while (study->repetitions != NULL) {
    repetition* r = study->repetitions;
    study->repetitions = r->next;
    free(r->result.reason);
    free(r);
  }
  free(study->values);
  free(study->first);
}

void yoke__study_close(yoke_study** study) {
  yoke_study* s = *study;
  if (s == NULL) {
    return;
  }
  if (s->journal != NULL) {
    fclose(s->journal);  // every line was flushed and checked
  }
  yoke__os_unlock(&s->lock);
  free_results(s);
  yoke__text_free(&s->line);
  free(s->path);
  free(s->directory);
  free(s);
  *study = NULL;
}

// ---- runs

// What the batch calls back with.
typedef struct completion {
  yoke_study* study;
  const yoke_study_calls* calls;
  const yoke_sink* sink;
  yoke_study_progress progress;
  int64_t start_ns;
} completion;

// No run follows one that left a machine in FAULT.
static yoke_status fail_latched(const yoke_study_result* result, const yoke_sink* sink) {
  return yoke_fail(
      sink, YOKE_UNIT_FAILED,
      "the machine is in FAULT (%.300s): check the machine; the same command then continues there",
      result->reason == NULL ? "it failed during its safe actions" : result->reason);
}

static yoke_status append_line(void* context, const yoke_study_case* run) {
  const completion* c = context;
  yoke_study* study = c->study;
  yoke_text* line = &study->line;
  yoke__text_clear(line);
  yoke__journal_line(study->plan, run->point, run->repeat, run->result, line);
  YOKE_TRY(line->status);
  errno = 0;
  if (fwrite(line->bytes, 1, line->n, study->journal) != line->n || fflush(study->journal) != 0) {
    return fail_write(study, c->sink);
  }
  return run->result->is_latched ? fail_latched(run->result, c->sink) : YOKE_OK;
}

static void pass_progress(void* context, size_t n_done) {
  completion* c = context;
  c->progress.n_done = n_done;
  c->progress.elapsed = (double)(yoke__os_now_ns() - c->start_ns) * 1e-9;
  if (c->calls->progress != NULL) {
    c->calls->progress(c->calls->context, &c->progress);
  }
}

static yoke_status run_missing(yoke_study* study, const yoke_study_case cases[], size_t n_cases,
                               size_t n_wanted, int n_jobs, const yoke_study_calls* calls,
                               const yoke_sink* sink) {
  completion c = {study, calls, sink, {.n_known = n_wanted - n_cases, .n_cases = n_wanted}, 0};
  c.start_ns = yoke__os_now_ns();
  const yoke_batch_calls batch = {.finished = append_line,
                                  .progress = pass_progress,
                                  .is_interrupted = calls->is_interrupted,
                                  .context = &c,
                                  .share = calls->share,
                                  .sink = sink};
  return yoke__study_batch(study->plan, cases, n_cases, n_jobs, &batch);
}

yoke_status yoke__study_complete(yoke_study* study, const size_t points[], const size_t repeats[],
                                 size_t n, int n_jobs, const yoke_study_calls* calls,
                                 const yoke_sink* sink) {
  yoke_study_case* cases = calloc(n + 1, sizeof *cases);
  size_t n_cases = 0;
  yoke_status status = cases == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  for (size_t i = 0; i < n && status >= 0; i++) {
    const size_t point = points == NULL ? i : points[i], repeat = repeats == NULL ? 0 : repeats[i];
    yoke_study_result* result = take(study, point, repeat);
    if (result == NULL) {
      status = YOKE_NO_MEMORY;
    } else if (result->status == YOKE_RUN_PENDING) {
      cases[n_cases++] = (yoke_study_case){point, repeat, result};
    }
  }
  if (status >= 0) {
    status = run_missing(study, cases, n_cases, n, n_jobs, calls, sink);
  }
  free(cases);
  return status;
}

// ---- the table

yoke_status yoke__study_write_table(const yoke_study* study, const char* name,
                                    const yoke_sink* sink) {
  yoke_text text = {0};
  yoke__journal_titles(study->plan, &text);
  for (size_t point = 0; point < study->plan->grid->n_points; point++) {
    yoke__text_add(&text, "\n");
    yoke__journal_cells(study->plan, point, &study->first[point], &text);
  }
  yoke__text_add(&text, "\n");
  const yoke_status status =
      text.status < 0 ? text.status
                      : yoke__os_write_into(study->directory, name, text.bytes, text.n, sink);
  yoke__text_free(&text);
  return status;
}
