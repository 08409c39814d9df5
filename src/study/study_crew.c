// Runs lie in slots. Two rings hold numbers of slots:
//
//   queue   put by the owner, read by the threads:  [5, 2, 7, ...]   next <= n_put
//   order   put by the threads, read by the owner:  [2 + 1, 5 + 1, 0, ...]   0: nothing yet
//
// 1. A slot is free, or it was put and not taken: never more than `room` of the latter, so that
//    neither ring is overrun.
// 2. A thread reads queue[next] before it moves `next` on. If moving succeeds, the entry was still
//    the one of `next`: the owner writes over an entry only after `next` has passed it.
#include "study/study_crew.h"

#include <stdlib.h>

#include "base/base_os.h"

typedef struct slot {
  yoke_study_case run;
  yoke_status status;
} slot;

struct yoke_crew {
  const yoke_study_plan* plan;
  slot* slots;
  size_t room;
  size_t* free;  // numbers of free slots, a stack of the owner
  size_t n_free;
  atomic_size_t* queue;
  atomic_size_t* order;
  atomic_size_t n_put, next, n_ended;
  size_t n_taken;
  _Atomic uint32_t work, news;  // futexes: raised with every put and every end
  atomic_bool is_cancelled;
  yoke_thread** threads;
  size_t n_jobs;
};

// ---- threads

// The slot of the next run; false: there is none at the moment.
static bool find_work(yoke_crew* c, size_t* number) {
  size_t at = atomic_load(&c->next);
  while (at < atomic_load(&c->n_put)) {
    *number = atomic_load(&c->queue[at % c->room]);
    if (atomic_compare_exchange_weak(&c->next, &at, at + 1)) {
      return true;
    }
  }
  return false;
}

static void work(void* argument) {
  yoke_crew* c = argument;
  while (!atomic_load(&c->is_cancelled)) {
    const uint32_t seen = atomic_load(&c->work);
    size_t number = 0;
    if (!find_work(c, &number)) {
      if (!atomic_load(&c->is_cancelled)) {
        yoke__os_futex_wait(&c->work, seen, 0);
      }
      continue;
    }
    slot* s = &c->slots[number];
    s->status =
        yoke__study_run(c->plan, s->run.point, s->run.repeat, &c->is_cancelled, s->run.result);
    atomic_store(&c->order[atomic_fetch_add(&c->n_ended, 1) % c->room], number + 1);
    atomic_fetch_add(&c->news, 1);
    yoke__os_futex_wake(&c->news);
  }
}

// ---- open and close

static yoke_status start(yoke_crew* c) {
  yoke_status status = YOKE_NO_MEMORY;
  for (size_t i = 0; i < c->room; i++) {
    c->free[c->n_free++] = c->room - 1 - i;
  }
  for (size_t i = 0; i < c->n_jobs; i++) {
    const yoke_status started = yoke__os_thread_start(work, c, &c->threads[i]);
    status = started >= 0 ? YOKE_OK : status;
  }
  return status;
}

yoke_status yoke__crew_open(const yoke_study_plan* plan, int n_jobs, size_t room, yoke_crew** out) {
  yoke_crew* c = calloc(1, sizeof *c);
  *out = c;
  YOKE_TRY_MEMORY(c);
  c->plan = plan;
  c->room = room;
  c->n_jobs = (size_t)n_jobs;
  c->slots = calloc(room, sizeof *c->slots);
  c->free = calloc(room, sizeof *c->free);
  c->queue = calloc(room, sizeof *c->queue);
  c->order = calloc(room, sizeof *c->order);
  c->threads = calloc(c->n_jobs, sizeof(yoke_thread*));
  yoke_status status = YOKE_NO_MEMORY;
  if (c->slots != NULL && c->free != NULL && c->queue != NULL && c->order != NULL &&
      c->threads != NULL) {
    status = start(c);
  }
  if (status < 0) {
    yoke__crew_close(out);
  }
  return status;
}

void yoke__crew_stop(yoke_crew* c) {
  atomic_store(&c->is_cancelled, true);
  atomic_fetch_add(&c->work, 1);
  yoke__os_futex_wake(&c->work);
  for (size_t i = 0; c->threads != NULL && i < c->n_jobs; i++) {
    yoke__os_thread_join(&c->threads[i]);
  }
}

void yoke__crew_close(yoke_crew** crew) {
  yoke_crew* c = *crew;
  if (c == NULL) {
    return;
  }
  yoke__crew_stop(c);
  free((void*)c->threads);
  free(c->order);
  free(c->queue);
  free(c->free);
  free(c->slots);
  free(c);
  *crew = NULL;
}

// ---- the owner's side

bool yoke__crew_put(yoke_crew* c, const yoke_study_case* run) {
  if (c->n_free == 0) {
    return false;
  }
  const size_t number = c->free[--c->n_free];
  c->slots[number].run = *run;
  const size_t at = atomic_load(&c->n_put);
  atomic_store(&c->queue[at % c->room], number);
  atomic_store(&c->n_put, at + 1);
  atomic_fetch_add(&c->work, 1);
  yoke__os_futex_wake(&c->work);
  return true;
}

bool yoke__crew_take(yoke_crew* c, yoke_study_case* run, yoke_status* status) {
  const size_t number = atomic_exchange(&c->order[c->n_taken % c->room], 0);
  if (number == 0) {
    return false;
  }
  c->n_taken++;
  *run = c->slots[number - 1].run;
  *status = c->slots[number - 1].status;
  c->free[c->n_free++] = number - 1;
  return true;
}

size_t yoke__crew_n_left(const yoke_crew* c) {
  return atomic_load(&c->n_put) - c->n_taken;
}

size_t yoke__crew_n_jobs(const yoke_crew* c) {
  return c->n_jobs;
}

uint32_t yoke__crew_news(const yoke_crew* c) {
  return atomic_load(&c->news);
}

void yoke__crew_wait(yoke_crew* c, uint32_t seen, int64_t timeout_ns) {
  yoke__os_futex_wait(&c->news, seen, timeout_ns);
}

void yoke__crew_drop(const yoke_study_case* run) {
  free(run->result->reason);
  run->result->reason = NULL;
  run->result->status = YOKE_RUN_PENDING;
}
