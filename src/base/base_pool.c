// Broadcast of a job to worker threads.
//
// Invariants: (1) job and context are written before `round` is raised and not touched until `n_running` is 0 again;
// (2) a worker lowers n_running exactly once per round; (3) both words are futexes, so nobody waits on a lock.
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

struct yoke_pool {
  _Alignas(64) _Atomic uint32_t round;
  _Alignas(64) _Atomic uint32_t n_running;
  _Alignas(64) yoke_pool_job job;
  void* context;
  atomic_bool is_ending;
  int n_threads;
  int n_spin;
  worker* workers;  // n_threads - 1
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

void yoke__pool_run(yoke_pool* pool, yoke_pool_job job, void* context) {
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
  atomic_store(&(*pool)->is_ending, true);
  start_round(*pool);
  for (int i = 0; i + 1 < (*pool)->n_threads; i++) {
    yoke__os_thread_join(&(*pool)->workers[i].thread);
  }
  free((*pool)->workers);
  free(*pool);
  *pool = NULL;
}
