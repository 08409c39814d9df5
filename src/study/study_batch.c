// Many runs on several threads.
//
// Workers take the next case, run it and put its number into `order`, a list that only grows. The calling thread reads the
// list, so that everything but the runs themselves (journal, progress) happens in one thread and needs no lock.
//
//   next     >= number of cases that were taken
//   order    [3, 1, 2, 0, 0, ...]    case number + 1 in the order in which they ended; 0: not yet
#include <stdlib.h>

#include "base/base_os.h"
#include "study/study_run.h"

#define WAIT_NS 100000000  // an interrupt is noticed within this time

typedef struct batch {
  const yoke_study_plan* plan;
  const yoke_study_case* cases;
  size_t n_cases;
  atomic_size_t next, n_ended;
  atomic_size_t* order;
  yoke_status* statuses;  // of yoke__study_run, one per case
  size_t n_done;          // of order, reported
  _Atomic uint32_t news;  // futex: raised with every end
  atomic_bool is_cancelled;
} batch;

static void work(void* argument) {
  batch* b = argument;
  while (!atomic_load(&b->is_cancelled)) {
    const size_t i = atomic_fetch_add(&b->next, 1);
    if (i >= b->n_cases) {
      return;
    }
    const yoke_study_case* c = &b->cases[i];
    b->statuses[i] = yoke__study_run(b->plan, c->point, c->repeat, &b->is_cancelled, c->result);
    atomic_store(&b->order[atomic_fetch_add(&b->n_ended, 1)], i + 1);
    atomic_fetch_add(&b->news, 1);
    yoke__os_futex_wake(&b->news);
  }
}

// The result of a run that nobody will hear of.
static void drop(const yoke_study_case* c) {
  free(c->result->reason);
  c->result->reason = NULL;
  c->result->status = YOKE_RUN_PENDING;
}

// Reports the cases that have ended since the last time.
static yoke_status report(batch* b, const yoke_batch_calls* calls) {
  while (b->n_done < b->n_cases) {
    const size_t number = atomic_load(&b->order[b->n_done]);
    if (number == 0) {
      break;
    }
    b->n_done++;
    const yoke_study_case* c = &b->cases[number - 1];
    if (b->statuses[number - 1] < 0) {
      drop(c);
      return b->statuses[number - 1];
    }
    YOKE_TRY(calls->finished(calls->context, c));
  }
  return YOKE_OK;
}

static yoke_status collect(batch* b, const yoke_batch_calls* calls) {
  yoke_status status = YOKE_OK;
  while (status >= 0 && b->n_done < b->n_cases) {
    const uint32_t seen = atomic_load(&b->news);
    status = report(b, calls);
    if (calls->progress != NULL) {
      calls->progress(calls->context, b->n_done);
    }
    if (status >= 0 && calls->is_interrupted != NULL && calls->is_interrupted()) {
      status = YOKE_INTERRUPTED;
    }
    if (status >= 0 && b->n_done < b->n_cases && atomic_load(&b->news) == seen) {
      yoke__os_futex_wait(&b->news, seen, WAIT_NS);
    }
  }
  return status;
}

// After an early end, with all threads gone: an interrupt loses no run that had ended; after a failure nothing counts.
static void collect_rest(batch* b, const yoke_batch_calls* calls, yoke_status why) {
  while (b->n_done < atomic_load(&b->n_ended)) {
    if (why != YOKE_INTERRUPTED) {
      drop(&b->cases[atomic_load(&b->order[b->n_done++]) - 1]);
    } else if (report(b, calls) < 0) {
      // runs cut off by the interrupt are dropped one by one
      continue;
    }
  }
}

yoke_status yoke__study_batch(const yoke_study_plan* plan, const yoke_study_case cases[],
                              size_t n_cases, int n_jobs, const yoke_batch_calls* calls) {
  batch b = {.plan = plan, .cases = cases, .n_cases = n_cases};
  if (n_cases == 0) {
    return YOKE_OK;
  }
  const size_t n_threads = (size_t)n_jobs < n_cases ? (size_t)n_jobs : n_cases;
  b.order = calloc(n_cases, sizeof *b.order);
  b.statuses = calloc(n_cases, sizeof *b.statuses);
  yoke_thread** threads = calloc(n_threads, sizeof(yoke_thread*));
  yoke_status status = YOKE_NO_MEMORY;
  if (b.order != NULL && b.statuses != NULL && threads != NULL) {
    // fewer threads than wanted are slower, none is a failure
    for (size_t i = 0; i < n_threads; i++) {
      const yoke_status started = yoke__os_thread_start(work, &b, &threads[i]);
      status = started >= 0 ? YOKE_OK : status;
    }
    status = status < 0 ? status : collect(&b, calls);
    atomic_store(&b.is_cancelled, true);
    for (size_t i = 0; i < n_threads; i++) {
      yoke__os_thread_join(&threads[i]);
    }
    collect_rest(&b, calls, status);
  }
  free((void*)threads);
  free(b.statuses);
  free(b.order);
  return status;
}
