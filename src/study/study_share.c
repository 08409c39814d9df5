// Messages between the ranks of a study, and what a follower does with them; see study_share.h.
// The leader's part is study_batch.c.
//
//   message   [head | text or runs | values | text]
#include "study/study_share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "study/study_crew.h"
#include "study/study_journal.h"

// In front of every message; a multiple of 8 bytes, so that numbers behind it are aligned.
typedef struct head {
  uint32_t kind;
  int32_t status;
  int64_t ended;
  yoke_share_run run;
  uint64_t n, n_text;
  double t;
} head;

// ---- sending

static char* reserve(char** bytes, size_t* room, size_t n) {
  if (n > *room) {
    char* grown = realloc(*bytes, n);
    if (grown == NULL) {
      return NULL;
    }
    *bytes = grown;
    *room = n;
  }
  return *bytes;
}

// head, n_body bytes, text with its NUL (n_text of the head counts it)
static yoke_status send(yoke_share* s, int to, head h, const void* body, size_t n_body,
                        const char* text) {
  const size_t n_text = text == NULL ? 0 : strlen(text) + 1;
  char* bytes = reserve(&s->out, &s->out_room, sizeof h + n_body + n_text);
  YOKE_TRY_MEMORY(bytes);
  h.n_text = n_text;
  memcpy(bytes, &h, sizeof h);
  if (n_body > 0) {
    memcpy(bytes + sizeof h, body, n_body);
  }
  if (n_text > 0) {
    memcpy(bytes + sizeof h + n_body, text, n_text);
  }
  s->link->send(s->link->self, to, bytes, sizeof h + n_body + n_text);
  return YOKE_OK;
}

// A message that is a head alone needs no memory.
static void send_word(yoke_share* s, int to, yoke_share_kind kind, int status, size_t n) {
  const head h = {.kind = (uint32_t)kind, .status = status, .n = n};
  s->link->send(s->link->self, to, &h, sizeof h);
}

// ---- receiving

// Bytes between head and text, or SIZE_MAX for a message that no rank sends.
static size_t body_size(const head* h) {
  const uint64_t most = SIZE_MAX / 64;
  if (h->n > most || h->n_text > most) {
    return SIZE_MAX;
  }
  switch (h->kind) {
  case YOKE_SHARE_WORK:
    return (size_t)h->n * sizeof(yoke_share_run);
  case YOKE_SHARE_RESULT:
    return (size_t)h->n * sizeof(double);
  default:
    return h->kind >= YOKE_SHARE_START && h->kind <= YOKE_SHARE_BYE ? 0 : SIZE_MAX;
  }
}

static bool read_message(const char* bytes, size_t n, yoke_share_message* m) {
  head h;
  if (n < sizeof h) {
    return false;
  }
  memcpy(&h, bytes, sizeof h);
  const size_t n_body = body_size(&h);
  if (n_body == SIZE_MAX || n != sizeof h + n_body + (size_t)h.n_text ||
      (h.n_text > 0 && bytes[n - 1] != '\0')) {
    return false;
  }
  const void* body = bytes + sizeof h;
  m->kind = (yoke_share_kind)h.kind;
  m->status = h.status;
  m->ended = h.ended == YOKE_RUN_SAFE || h.ended == YOKE_RUN_FAULT ? (int)h.ended : YOKE_RUN_INIT;
  m->run = h.run;
  m->t = h.t;
  m->n = (size_t)h.n;
  m->runs = body;
  m->values = body;
  m->text = h.n_text > 0 ? bytes + sizeof h + n_body : "";
  return true;
}

yoke_status yoke__share_next(yoke_share* s, yoke_share_message* m, bool* is_there) {
  *is_there = false;
  int from = 0;
  size_t n = 0;
  while (!*is_there && s->link->look(s->link->self, &from, &n)) {
    if (reserve(&s->bytes, &s->room, n + 1) == NULL) {
      return YOKE_NO_MEMORY;
    }
    s->link->receive(s->link->self, from, s->bytes, n);
    *is_there = read_message(s->bytes, n, m);
    m->from = from;
  }
  if (*is_there && m->kind == YOKE_SHARE_BYE) {
    s->n_byes++;
  }
  return YOKE_OK;
}

void yoke__share_free(yoke_share* s) {
  free(s->bytes);
  free(s->out);
  free(s->wants);
  free(s->identity);
  *s = (yoke_share){0};
}

size_t yoke__share_chunk(size_t n_left, size_t n_workers) {
  const size_t n = n_left / (4 * n_workers);
  return n < YOKE_SHARE_MAX_CHUNK ? n : YOKE_SHARE_MAX_CHUNK;
}

// ---- leader

yoke_status yoke__share_begin(yoke_share* s, const yoke_study_plan* plan) {
  yoke_text identity = {0};
  yoke__journal_identity(plan, &identity);
  yoke_status status = identity.status;
  s->wants = malloc((size_t)s->link->size * sizeof *s->wants);
  if (s->wants == NULL) {
    status = YOKE_NO_MEMORY;
  }
  for (int i = 1; status >= 0 && i < s->link->size; i++) {
    s->wants[i] = -1;
    status = send(s, i, (head){.kind = YOKE_SHARE_START}, NULL, 0, identity.bytes);
  }
  s->has_begun = status >= 0;
  yoke__text_free(&identity);
  return status;
}

yoke_status yoke__share_give(yoke_share* s, int to, const yoke_share_run runs[], size_t n) {
  return send(s, to, (head){.kind = YOKE_SHARE_WORK, .n = n}, runs, n * sizeof *runs, NULL);
}

void yoke__share_stop(yoke_share* s) {
  for (int i = 1; !s->is_stopped && i < s->link->size; i++) {
    send_word(s, i, YOKE_SHARE_STOP, 0, 0);
  }
  s->is_stopped = true;
}

bool yoke__share_is_alone(const yoke_share* s) {
  return s->n_byes >= s->link->size - 1;
}

void yoke__share_end(yoke_share* s) {
  yoke__share_stop(s);
  while (!yoke__share_is_alone(s)) {
    yoke_share_message m;
    bool is_there = false;
    if (yoke__share_next(s, &m, &is_there) < 0) {
      return;  // what is left unheard ends with the processes
    }
    if (!is_there) {
      yoke__os_sleep_ns(YOKE_SHARE_POLL_NS);
    }
  }
}

// ---- follower

static void say_bye(yoke_share* s) {
  s->is_stopped = true;
  send_word(s, 0, YOKE_SHARE_BYE, 0, 0);
}

// The next message, however long it takes. Without memory nothing can be heard: stop.
static yoke_share_kind wait_message(yoke_share* s, yoke_share_message* m) {
  bool is_there = false;
  for (;;) {
    if (yoke__share_next(s, m, &is_there) < 0) {
      return YOKE_SHARE_STOP;
    }
    if (is_there) {
      return m->kind;
    }
    yoke__os_sleep_ns(YOKE_SHARE_POLL_NS);
  }
}

static void wait_stop(yoke_share* s) {
  yoke_share_message m;
  while (!s->is_stopped) {
    if (wait_message(s, &m) == YOKE_SHARE_STOP) {
      say_bye(s);
    }
  }
}

void yoke__share_leave(yoke_share* s) {
  char text[400];
  snprintf(text, sizeof text, "rank %d on %.200s cannot take part", s->link->rank, s->link->host);
  if (send(s, 0, (head){.kind = YOKE_SHARE_REFUSE}, NULL, 0, text) < 0) {
    send_word(s, 0, YOKE_SHARE_FAIL, YOKE_NO_MEMORY, 0);
  }
  wait_stop(s);
}

bool yoke__share_wait(yoke_share* s) {
  yoke_share_message m = {0};
  while (!s->has_begun && !s->is_stopped) {
    const yoke_share_kind kind = wait_message(s, &m);
    if (kind == YOKE_SHARE_STOP) {
      say_bye(s);
    } else if (kind == YOKE_SHARE_START) {
      s->identity = malloc(strlen(m.text) + 1);
      s->has_begun = true;
      if (s->identity != NULL) {
        memcpy(s->identity, m.text, strlen(m.text) + 1);
      }
    }
  }
  return !s->is_stopped;
}

// A follower at work. Results lie in a block of their own, one per place.
typedef struct follower {
  yoke_share* share;
  const yoke_study_plan* plan;
  yoke_crew* crew;
  size_t room;
  yoke_study_result* results;
  double* values;
  uint64_t* indices;  // of the leader's list, per place
  size_t* free;       // free places, a stack
  size_t n_free, n_chunk;
  int n_told;  // idle threads that the leader knows of; -1: it has answered
} follower;

// Whatever the leader answers to must fit: a chunk for every number of idle threads it was told.
static size_t room_for(int n_jobs) {
  const size_t n = (size_t)n_jobs;
  return (n + 2) * (n > YOKE_SHARE_MAX_CHUNK ? n : YOKE_SHARE_MAX_CHUNK);
}

static yoke_status open_follower(follower* f, int n_jobs) {
  const size_t n_measures = f->plan->n_measures;
  f->room = room_for(n_jobs);
  f->n_told = -1;
  f->results = calloc(f->room, sizeof *f->results);
  f->values = calloc(f->room * n_measures + 1, sizeof *f->values);
  f->indices = calloc(f->room, sizeof *f->indices);
  f->free = calloc(f->room, sizeof *f->free);
  YOKE_TRY_MEMORY(f->results && f->values && f->indices && f->free);
  for (size_t i = 0; i < f->room; i++) {
    f->results[i].values = f->values + i * n_measures;
    f->free[f->n_free++] = i;
  }
  return yoke__crew_open(f->plan, n_jobs, f->room, &f->crew);
}

static void close_follower(follower* f) {
  yoke__crew_close(&f->crew);
  for (size_t i = 0; f->results != NULL && i < f->room; i++) {
    free(f->results[i].reason);
  }
  free(f->results);
  free(f->values);
  free(f->indices);
  free(f->free);
}

static yoke_status put_runs(follower* f, const yoke_share_message* m) {
  f->n_told = -1;
  f->n_chunk = m->n;
  for (size_t i = 0; i < m->n; i++) {
    if (f->n_free == 0) {
      return YOKE_FULL;
    }
    const size_t place = f->free[--f->n_free];
    const yoke_study_case run = {(size_t)m->runs[i].point, (size_t)m->runs[i].repeat,
                                 &f->results[place]};
    f->indices[place] = m->runs[i].index;
    yoke__crew_put(f->crew, &run);
  }
  return YOKE_OK;
}

// Sends what has ended.
static yoke_status send_results(follower* f) {
  yoke_study_case run;
  yoke_status status = YOKE_OK;
  while (yoke__crew_take(f->crew, &run, &status)) {
    YOKE_TRY(status);
    const yoke_study_result* result = run.result;
    const size_t place = (size_t)(result - f->results);
    const head h = {.kind = YOKE_SHARE_RESULT,
                    .status = (int32_t)result->status,
                    .ended = result->ended,
                    .run = {f->indices[place], run.point, run.repeat},
                    .n = f->plan->n_measures,
                    .t = result->t};
    YOKE_TRY(
        send(f->share, 0, h, result->values, f->plan->n_measures * sizeof(double), result->reason));
    yoke__crew_drop(&run);
    f->free[f->n_free++] = place;
  }
  return YOKE_OK;
}

// Asks for more in time: while half of the last chunk still waits, and when threads go idle.
static void ask(follower* f) {
  const size_t n_left = yoke__crew_n_left(f->crew), n_jobs = yoke__crew_n_jobs(f->crew);
  const int n_idle = n_left < n_jobs ? (int)(n_jobs - n_left) : 0;
  const size_t n_waiting = n_left < n_jobs ? 0 : n_left - n_jobs;
  if (n_waiting <= f->n_chunk / 2 && n_idle != f->n_told) {
    f->n_told = n_idle;
    send_word(f->share, 0, YOKE_SHARE_WANT, 0, (size_t)n_idle);
  }
}

// Until STOP, or until something failed.
static yoke_status follow(follower* f, bool (*is_interrupted)(void)) {
  for (;;) {
    const uint32_t seen = yoke__crew_news(f->crew);
    yoke_share_message m;
    bool is_there = false;
    YOKE_TRY(send_results(f));
    YOKE_TRY(yoke__share_next(f->share, &m, &is_there));
    if (is_there && m.kind == YOKE_SHARE_STOP) {
      say_bye(f->share);
      return YOKE_OK;
    }
    if (is_there && m.kind == YOKE_SHARE_WORK) {
      YOKE_TRY(put_runs(f, &m));
    }
    ask(f);
    if (is_interrupted != NULL && is_interrupted()) {
      return YOKE_INTERRUPTED;
    }
    if (!is_there) {
      yoke__crew_wait(f->crew, seen, YOKE_SHARE_POLL_NS);
    }
  }
}

// Is this the study of the leader?
static yoke_status check_study(const yoke_share* s, const yoke_study_plan* plan,
                               const yoke_sink* sink) {
  yoke_text mine = {0};
  char why[512] = "out of memory";
  yoke__journal_identity(plan, &mine);
  if (mine.status >= 0 && s->identity != NULL) {
    yoke__journal_difference(s->identity, mine.bytes, why, sizeof why);
  }
  yoke__text_free(&mine);
  return why[0] == '\0' ? YOKE_OK
                        : yoke_fail(sink, YOKE_BAD_INPUT, "rank %d on %.200s has another study: %s",
                                    s->link->rank, s->link->host, why);
}

void yoke__share_follow(yoke_share* s, const yoke_study_plan* plan, int n_jobs,
                        bool (*is_interrupted)(void)) {
  follower f = {.share = s, .plan = plan};
  YOKE_CATCH(why);
  yoke_status status = check_study(s, plan, &why.sink);
  if (status < 0) {
    status = send(s, 0, (head){.kind = YOKE_SHARE_REFUSE}, NULL, 0, why.text);
  } else {
    status = open_follower(&f, n_jobs);
    status = status < 0 ? status : follow(&f, is_interrupted);
  }
  if (f.crew != NULL) {
    yoke__crew_stop(f.crew);
  }
  if (status < 0) {
    send_word(s, 0, YOKE_SHARE_FAIL, status, 0);
  }
  wait_stop(s);
  close_follower(&f);
}
