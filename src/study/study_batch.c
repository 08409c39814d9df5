// Many runs, on the threads of this process and, where a study is shared, on those of other ranks.
//
// The calling thread hands out runs and is the only one that hears of their ends (journal,
// progress). Own threads and other ranks get them in the same way: a chunk that shrinks towards the
// end (guided self-scheduling), in time before the last chunk is used up.
#include "base/base_os.h"
#include "study/study_crew.h"
#include "study/study_share.h"

#define WAIT_NS 100000000  // an interrupt is noticed within this time

typedef struct batch {
  const yoke_study_plan* plan;
  const yoke_study_case* cases;
  size_t n_cases;
  size_t n_given, n_done;
  yoke_crew* crew;
  size_t n_chunk;     // last one of the own threads
  yoke_share* share;  // NULL: alone
  size_t n_workers;   // threads of all ranks; each rank has as many
  const yoke_batch_calls* calls;
} batch;

// ---- handing out

static size_t limit_left(const batch* b, size_t n) {
  const size_t n_left = b->n_cases - b->n_given;
  return n < n_left ? n : n_left;
}

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

static size_t chunk_now(const batch* b) {
  return yoke__share_chunk(b->n_cases - b->n_given, b->n_workers);
}

static void feed_crew(batch* b) {
  const size_t n_busy = yoke__crew_n_left(b->crew), n_jobs = yoke__crew_n_jobs(b->crew);
  const size_t n_idle = n_busy < n_jobs ? n_jobs - n_busy : 0;
  const size_t n_waiting = n_busy < n_jobs ? 0 : n_busy - n_jobs;
  if (n_waiting > b->n_chunk / 2) {
    return;
  }
  const size_t n = limit_left(b, larger(chunk_now(b), n_idle));
  for (size_t i = 0; i < n && yoke__crew_put(b->crew, &b->cases[b->n_given]); i++) {
    b->n_given++;
  }
  b->n_chunk = n > 0 ? n : b->n_chunk;
}

// What other ranks have asked for. A rank that only wants to be early gets nothing once the runs
// become few.
static yoke_status feed_ranks(batch* b) {
  yoke_share_run runs[YOKE_SHARE_MAX_CHUNK];
  for (int rank = 1; b->share != NULL && rank < b->share->link->size; rank++) {
    const int n_idle = b->share->wants[rank];
    size_t n = n_idle < 0 ? 0 : limit_left(b, larger(chunk_now(b), (size_t)n_idle));
    n = n < YOKE_SHARE_MAX_CHUNK ? n : YOKE_SHARE_MAX_CHUNK;
    for (size_t i = 0; i < n; i++) {
      const yoke_study_case* c = &b->cases[b->n_given + i];
      runs[i] = (yoke_share_run){b->n_given + i, c->point, c->repeat};
    }
    if (n > 0) {
      YOKE_TRY(yoke__share_give(b->share, rank, runs, n));
      b->share->wants[rank] = -1;
      b->n_given += n;
    }
  }
  return YOKE_OK;
}

// ---- hearing of ends

static yoke_status report(batch* b, const yoke_study_case* c) {
  b->n_done++;
  return b->calls->finished(b->calls->context, c);
}

static yoke_status hear_crew(batch* b) {
  yoke_study_case run;
  yoke_status status = YOKE_OK;
  while (yoke__crew_take(b->crew, &run, &status)) {
    if (status < 0) {
      yoke__crew_drop(&run);
      return status;
    }
    YOKE_TRY(report(b, &run));
  }
  return YOKE_OK;
}

// A result of another rank; one that belongs to no run that was given away is left out.
static yoke_status keep_result(batch* b, const yoke_share_message* m) {
  const yoke_study_case* c = m->run.index < b->n_given ? &b->cases[m->run.index] : NULL;
  if (c == NULL || c->point != m->run.point || c->repeat != m->run.repeat ||
      c->result->status != YOKE_RUN_PENDING || m->n != b->plan->n_measures ||
      m->status <= YOKE_RUN_PENDING || m->status >= YOKE_RUN_N_STATUSES) {
    return YOKE_OK;
  }
  YOKE_TRY(yoke__study_result_set(c->result, (yoke_run_status)m->status, m->t, m->values, m->n,
                                  m->text));
  c->result->ended = (yoke_run_state)m->ended;
  return report(b, c);
}

// All messages that have come. *n counts them.
static yoke_status hear_ranks(batch* b, size_t* n) {
  yoke_share_message m;
  bool is_there = b->share != NULL;
  while (is_there) {
    YOKE_TRY(yoke__share_next(b->share, &m, &is_there));
    if (!is_there) {
      break;
    }
    ++*n;
    if (m.kind == YOKE_SHARE_RESULT) {
      YOKE_TRY(keep_result(b, &m));
    } else if (m.kind == YOKE_SHARE_WANT) {
      b->share->wants[m.from] = m.n > 1000 ? 1000 : (int)m.n;
    } else if (m.kind == YOKE_SHARE_FAIL) {
      return m.status < 0 ? (yoke_status)m.status : YOKE_IO;
    } else if (m.kind == YOKE_SHARE_REFUSE) {
      return yoke_fail(b->calls->sink, YOKE_BAD_INPUT, "%s", m.text);
    }
  }
  return YOKE_OK;
}

// ---- the whole

static yoke_status run_all(batch* b) {
  const yoke_batch_calls* calls = b->calls;
  while (b->n_done < b->n_cases) {
    const uint32_t seen = yoke__crew_news(b->crew);
    size_t n_heard = 0;
    YOKE_TRY(hear_crew(b));
    YOKE_TRY(hear_ranks(b, &n_heard));
    feed_crew(b);
    YOKE_TRY(feed_ranks(b));
    if (calls->progress != NULL) {
      calls->progress(calls->context, b->n_done);
    }
    if (calls->is_interrupted != NULL && calls->is_interrupted()) {
      return YOKE_INTERRUPTED;
    }
    if (b->n_done < b->n_cases && n_heard == 0) {
      yoke__crew_wait(b->crew, seen, b->share == NULL ? WAIT_NS : YOKE_SHARE_POLL_NS);
    }
  }
  return YOKE_OK;
}

// After an early end, with all threads gone: an interrupt loses no run that had ended; after a
// failure nothing counts.
static void collect_rest(batch* b, yoke_status why) {
  yoke_study_case run;
  yoke_status status = YOKE_OK;
  while (yoke__crew_take(b->crew, &run, &status)) {
    // runs cut off by the interrupt are dropped one by one
    if (why != YOKE_INTERRUPTED || status < 0) {
      yoke__crew_drop(&run);
    } else if (report(b, &run) < 0) {
      why = YOKE_IO;
    }
  }
  while (b->share != NULL && why == YOKE_INTERRUPTED && !yoke__share_is_alone(b->share)) {
    size_t n_heard = 0;
    const yoke_status heard = hear_ranks(b, &n_heard);
    if (heard < 0 && heard != YOKE_INTERRUPTED) {
      return;  // whoever ends the sharing drops what still comes
    }
    if (n_heard == 0) {
      yoke__os_sleep_ns(YOKE_SHARE_POLL_NS);
    }
  }
}

yoke_status yoke__study_batch(const yoke_study_plan* plan, const yoke_study_case cases[],
                              size_t n_cases, int n_jobs, const yoke_batch_calls* calls) {
  yoke_share* share = calls->share;
  batch b = {.plan = plan, .cases = cases, .n_cases = n_cases, .share = share, .calls = calls};
  if (n_cases == 0) {
    return YOKE_OK;
  }
  const bool has_few = share == NULL && n_cases < (size_t)n_jobs;
  const int n_threads = has_few ? (int)n_cases : n_jobs;
  b.n_workers = (size_t)n_threads * (size_t)(share == NULL ? 1 : share->link->size);
  YOKE_TRY(yoke__crew_open(plan, n_threads, (size_t)n_threads + 2 * YOKE_SHARE_MAX_CHUNK, &b.crew));
  const yoke_status status = run_all(&b);
  if (status < 0 && share != NULL) {
    yoke__share_stop(share);
  }
  yoke__crew_stop(b.crew);
  if (status < 0) {
    collect_rest(&b, status);
  }
  yoke__crew_close(&b.crew);
  return status;
}
