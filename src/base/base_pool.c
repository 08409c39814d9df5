// Broadcast of a job to worker threads, and threads beside them that each have a job of their own.
//
// Invariants: (1) job and context are written before `round` is raised and not touched until `n_running` is 0 again;
// (2) a worker lowers n_running exactly once per round; (3) both words are futexes, so nobody waits on a lock. A thread
// beside them has one word: who gives it a job sets it, the thread clears it; nothing of the job is touched in between.
#include "base/base_pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/base_os.h"

#define SPIN 2000  // about 10 us: longer than a wake-up would be saved for light work

typedef struct worker {
  struct yoke_pool* pool;
  yoke_thread* thread;
  int index;
} worker;

typedef struct aside {
  _Alignas(64) _Atomic uint32_t is_busy;
  struct yoke_pool* pool;
  yoke_pool_job job;
  void* context;
  yoke_thread* thread;
  int index;
  bool is_lost;  // nobody waits for its job any more
} aside;

struct yoke_pool {
  _Alignas(64) _Atomic uint32_t round;
  _Alignas(64) _Atomic uint32_t n_running;
  _Alignas(64) yoke_pool_job job;
  void* context;
  atomic_bool is_ending;
  int n_threads;
  int n_spin;
  worker* workers;  // n_threads - 1
  aside* asides;    // n_asides
  int n_asides;
};

// waits until *word differs from value
static void wait_change(_Atomic uint32_t* word, uint32_t value, int n_spin) {
  for (int i = 0; i < n_spin; i++) {
    if (atomic_load_explicit(word, memory_order_acquire) != value) {
      return;
    }
    yoke__os_relax();
  }
  while (atomic_load_explicit(word, memory_order_acquire) == value) {
    yoke__os_futex_wait(word, value, 0);
  }
}

static void worker_main(void* argument) {
  const worker* self = argument;
  yoke_pool* pool = self->pool;
  yoke__os_float_mode_set();
  uint32_t seen = 0;
  for (;;) {
    wait_change(&pool->round, seen, pool->n_spin);
    seen++;
    if (atomic_load(&pool->is_ending)) {
      return;
    }
    pool->job(pool->context, self->index);
    if (atomic_fetch_sub(&pool->n_running, 1) == 1) {
      yoke__os_futex_wake(&pool->n_running);
    }
  }
}

yoke_status yoke__pool_create(int n, yoke_pool** out) {
  *out = NULL;
  yoke_pool* pool = aligned_alloc(64, sizeof *pool);
  worker* workers = calloc((size_t)(n > 1 ? n - 1 : 1), sizeof *workers);
  if (n < 1 || pool == NULL || workers == NULL) {
    free(pool);
    free(workers);
    return n < 1 ? YOKE_BAD_ARG : YOKE_NO_MEMORY;
  }
  *pool = (yoke_pool){.n_threads = 1, .workers = workers};
  // with more threads than processors spinning only takes time from those that work
  pool->n_spin = n <= yoke__os_n_processors() ? SPIN : 0;
  for (int i = 1; i < n; i++) {
    workers[i - 1] = (worker){pool, NULL, i};
    if (yoke__os_thread_start(worker_main, &workers[i - 1], &workers[i - 1].thread) < 0) {
      yoke__pool_destroy(&pool);
      return YOKE_NO_MEMORY;
    }
    pool->n_threads++;
  }
  *out = pool;
  return YOKE_OK;
}

static void start_round(yoke_pool* pool) {
  atomic_fetch_add(&pool->round, 1);
  yoke__os_futex_wake(&pool->round);
}

// ---- threads beside the others

static void aside_main(void* argument) {
  aside* self = argument;
  yoke__os_float_mode_set();
  for (;;) {
    wait_change(&self->is_busy, 0, 0);
    if (atomic_load(&self->pool->is_ending)) {
      return;
    }
    self->job(self->context, self->index);
    atomic_store_explicit(&self->is_busy, 0, memory_order_release);
    yoke__os_futex_wake(&self->is_busy);
  }
}

static void give(aside* a, yoke_pool_job job, void* context) {
  a->job = job;
  a->context = context;
  atomic_store_explicit(&a->is_busy, 1, memory_order_release);
  yoke__os_futex_wake(&a->is_busy);
}

yoke_status yoke__pool_add(yoke_pool* pool, int n) {
  if (n == 0) {
    return YOKE_OK;
  }
  pool->asides = aligned_alloc(64, (size_t)n * sizeof *pool->asides);
  if (pool->asides == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (; pool->n_asides < n; pool->n_asides++) {
    aside* a = &pool->asides[pool->n_asides];
    *a = (aside){.pool = pool, .index = pool->n_threads + pool->n_asides};
    if (yoke__os_thread_start(aside_main, a, &a->thread) < 0) {
      return YOKE_NO_MEMORY;
    }
  }
  return YOKE_OK;
}

static aside* aside_of(const yoke_pool* pool, int thread) {
  return &pool->asides[thread - pool->n_threads];
}

void yoke__pool_start(yoke_pool* pool, int thread, yoke_pool_job job, void* context) {
  give(aside_of(pool, thread), job, context);
}

_Atomic uint32_t* yoke__pool_busy(const yoke_pool* pool, int thread) {
  return &aside_of(pool, thread)->is_busy;
}

void yoke__pool_join(const yoke_pool* pool, int thread) {
  wait_change(yoke__pool_busy(pool, thread), 1, 0);
}

void yoke__pool_lose(yoke_pool* pool, int thread) {
  aside_of(pool, thread)->is_lost = true;
}

// One that was given up and came back after all takes part again.
static bool is_gone(aside* a) {
  a->is_lost = a->is_lost && atomic_load_explicit(&a->is_busy, memory_order_acquire) != 0;
  return a->is_lost;
}

bool yoke__pool_has_lost(const yoke_pool* pool) {
  for (int i = 0; pool != NULL && i < pool->n_asides; i++) {
    if (is_gone(&pool->asides[i])) {
      return true;
    }
  }
  return false;
}

bool yoke__pool_run_on(yoke_pool* pool, int thread, bool may_wait, yoke_pool_job job,
                       void* context) {
  if (thread < pool->n_threads) {
    yoke__pool_run_crew(pool, job, context);
    return true;
  }
  aside* a = aside_of(pool, thread);
  const bool is_busy = atomic_load_explicit(&a->is_busy, memory_order_acquire) != 0;
  if (is_gone(a) || (is_busy && !may_wait)) {
    return false;
  }
  wait_change(&a->is_busy, 1, 0);
  give(a, job, context);
  wait_change(&a->is_busy, 1, 0);
  return true;
}

// ---- together

void yoke__pool_run(yoke_pool* pool, yoke_pool_job job, void* context) {
  for (int i = 0; i < pool->n_asides; i++) {
    if (!is_gone(&pool->asides[i])) {
      wait_change(&pool->asides[i].is_busy, 1, 0);
      give(&pool->asides[i], job, context);
    }
  }
  yoke__pool_run_crew(pool, job, context);
  for (int i = 0; i < pool->n_asides; i++) {
    if (!pool->asides[i].is_lost) {
      wait_change(&pool->asides[i].is_busy, 1, 0);
    }
  }
}

void yoke__pool_run_crew(yoke_pool* pool, yoke_pool_job job, void* context) {
  if (pool->n_threads == 1) {
    job(context, 0);
    return;
  }
  pool->job = job;
  pool->context = context;
  atomic_store(&pool->n_running, (uint32_t)(pool->n_threads - 1));
  start_round(pool);
  job(context, 0);
  for (;;) {
    const uint32_t left = atomic_load_explicit(&pool->n_running, memory_order_acquire);
    if (left == 0) {
      return;
    }
    wait_change(&pool->n_running, left, pool->n_spin);
  }
}

void yoke__pool_destroy(yoke_pool** pool) {
  if (*pool == NULL) {
    return;
  }
  const bool has_lost = yoke__pool_has_lost(*pool);
  atomic_store(&(*pool)->is_ending, true);
  start_round(*pool);
  for (int i = 0; i + 1 < (*pool)->n_threads; i++) {
    yoke__os_thread_join(&(*pool)->workers[i].thread);
  }
  for (int i = 0; i < (*pool)->n_asides; i++) {
    aside* a = &(*pool)->asides[i];
    if (!a->is_lost) {
      give(a, NULL, NULL);
      yoke__os_thread_join(&a->thread);
    }
  }
  if (has_lost) {
    *pool = NULL;  // what a thread may still look at stays
    return;
  }
  free((*pool)->asides);
  free((*pool)->workers);
  free(*pool);
  *pool = NULL;
}
