// The pool: every job runs exactly once on every thread in every round, always by the same thread,
// and what it wrote is visible when run returns. Meant to be run under the thread sanitizer too.
#include "base/base_pool.h"

#include <float.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/base_os.h"
#include "support/check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define N_ROUNDS 20000
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define N_ROUNDS 20000
#endif
#endif
#ifndef N_ROUNDS
#define N_ROUNDS 100000
#endif

enum { MAX_THREADS = 16 };

// plain numbers on purpose: the meeting alone must order them
typedef struct slot {
  _Alignas(64) int64_t n_calls;
  int64_t last_round;
} slot;

typedef struct work {
  int64_t round;  // written by the caller between two runs

  slot slots[MAX_THREADS];
} work;

static _Thread_local int own_index = -1;

static void count_call(void* context, int thread) {
  work* w = context;
  slot* s = &w->slots[thread];
  s->n_calls++;
  s->last_round = w->round;
  if (own_index == -1) {
    own_index = thread;
  }
  if (own_index != thread) {
    s->n_calls += 1000000000;  // two threads took turns: shows as a wrong count
  }
}

static void test_every_thread_once_per_round(void** state) {
  (void)state;
  static const int counts[] = {1, 2, 4, 8};  // more than there are processors, too
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
    const int n = counts[c];
    yoke_pool* pool = NULL;
    check_ok(yoke__pool_create(n, &pool));
    static work w;
    w = (work){0};
    // with more threads than processors every round goes to sleep and wakes: fewer show as much
    const int64_t n_rounds = n <= yoke__os_n_processors() ? N_ROUNDS : N_ROUNDS / 4;
    const int64_t start = yoke__os_now_ns();
    for (w.round = 1; w.round <= n_rounds; w.round++) {
      yoke__pool_run(pool, count_call, &w);
      for (int i = 0; i < n; i++) {
        if (w.slots[i].n_calls != w.round || w.slots[i].last_round != w.round) {
          fail_msg("round %lld: thread %d of %d was called %lld times, last in round %lld",
                   (long long)w.round, i, n, (long long)w.slots[i].n_calls,
                   (long long)w.slots[i].last_round);
        }
      }
    }
    assert_int_equal(w.slots[n].n_calls, 0);
    print_message("%d threads: %.2f us per round\n", n,
                  (double)(yoke__os_now_ns() - start) * 1e-3 / (double)n_rounds);
    yoke__pool_destroy(&pool);
    assert_null(pool);
  }
}

// threads of one round run at the same time: nobody gets past the middle before all are there
static void meet(void* context, int thread) {
  (void)thread;
  atomic_int* n_here = context;
  atomic_fetch_add(n_here, 1);
  while (atomic_load(n_here) < 3) {
    (void)sched_yield();
  }
}

static void test_threads_run_side_by_side(void** state) {
  (void)state;
  yoke_pool* pool = NULL;
  check_ok(yoke__pool_create(3, &pool));
  for (int i = 0; i < 200; i++) {
    atomic_int n_here = 0;
    yoke__pool_run(pool, meet, &n_here);
    assert_int_equal(atomic_load(&n_here), 3);
  }
  yoke__pool_destroy(&pool);
}

// jobs of uneven length and pauses between rounds: spinning ends, threads sleep and wake
static void work_unevenly(void* context, int thread) {
  int64_t* done = context;
  yoke__os_sleep_ns(thread == 1 ? 300000 : 0);
  done[thread]++;
}

static void test_waits_that_sleep(void** state) {
  (void)state;
  yoke_pool* pool = NULL;
  check_ok(yoke__pool_create(2, &pool));
  int64_t done[2] = {0};
  for (int64_t i = 1; i <= 100; i++) {
    yoke__os_sleep_ns(i % 2 == 0 ? 200000 : 0);
    yoke__pool_run(pool, work_unevenly, done);
    assert_true(done[0] == i && done[1] == i);
  }
  yoke__pool_destroy(&pool);
}

static void flush_denormal(void* context, int thread) {
  volatile double small = DBL_MIN;
  ((double*)context)[thread] = small / 4;
}

static void test_workers_flush_denormals(void** state) {
  (void)state;
  yoke_pool* pool = NULL;
  check_ok(yoke__pool_create(3, &pool));
  double left[3] = {1, 1, 1};
  yoke__pool_run(pool, flush_denormal, left);
  assert_true(left[1] == 0 && left[2] == 0);
  assert_true(left[0] == DBL_MIN / 4);  // the caller's mode is the caller's business
  yoke__pool_destroy(&pool);
}

static void do_nothing(void* context, int thread) {
  (void)context;
  (void)thread;
}

// unused, used once, or asleep for a while: a pool ends at once
static void test_destroy_while_idle(void** state) {
  (void)state;
  for (int i = 0; i < 300; i++) {
    yoke_pool* pool = NULL;
    check_ok(yoke__pool_create(1 + i % 6, &pool));
    if (i % 3 == 1) {
      yoke__pool_run(pool, do_nothing, NULL);
    }
    if (i % 50 == 2) {
      yoke__os_sleep_ns(2000000);
    }
    yoke__pool_destroy(&pool);
    assert_null(pool);
    yoke__pool_destroy(&pool);  // nothing there: nothing happens
  }
}

// ---- threads beside the others

typedef struct gate {
  _Atomic uint32_t is_open;
  atomic_int n_here;
  int thread;
} gate;

static void pass_gate(void* context, int thread) {
  gate* g = context;
  g->thread = thread;
  while (atomic_load(&g->is_open) == 0) {
    yoke__os_futex_wait(&g->is_open, 0, 0);
  }
  atomic_fetch_add(&g->n_here, 1);
}

static void note_thread(void* context, int thread) {
  atomic_fetch_or((atomic_int*)context, 1 << thread);
}

static void open_gate(gate* g) {
  atomic_store(&g->is_open, 1);
  yoke__os_futex_wake(&g->is_open);
}

// one that works keeps nobody from working; jobs for all of them wait for it
static void test_a_thread_aside_works_alone(void** state) {
  (void)state;
  for (int n = 1; n <= 3; n++) {
    yoke_pool* pool = NULL;
    check_ok(yoke__pool_create(n, &pool));
    check_ok(yoke__pool_add(pool, 2));
    atomic_int seen = 0;
    yoke__pool_run(pool, note_thread, &seen);
    assert_int_equal(seen, (1 << (n + 2)) - 1);
    for (int i = 0; i < 100; i++) {
      gate g = {.thread = -1};
      yoke__pool_start(pool, n + i % 2, pass_gate, &g);
      assert_int_equal(atomic_load(yoke__pool_busy(pool, n + i % 2)), 1);
      seen = 0;
      yoke__pool_run_crew(pool, note_thread, &seen);
      assert_int_equal(seen, (1 << n) - 1);
      assert_false(yoke__pool_run_on(pool, n + i % 2, false, note_thread, &seen));
      assert_int_equal(g.n_here, 0);
      open_gate(&g);
      yoke__pool_join(pool, n + i % 2);
      assert_true(g.n_here == 1 && g.thread == n + i % 2);
      seen = 0;
      assert_true(yoke__pool_run_on(pool, n + i % 2, false, note_thread, &seen));
      assert_int_equal(seen, 1 << (n + i % 2));
    }
    yoke__pool_destroy(&pool);
  }
}

// one that does not come back is left alone until it does
static void test_a_lost_thread_is_left_out(void** state) {
  (void)state;
  yoke_pool* pool = NULL;
  check_ok(yoke__pool_create(2, &pool));
  check_ok(yoke__pool_add(pool, 2));
  gate g = {.thread = -1};
  yoke__pool_start(pool, 2, pass_gate, &g);
  yoke__pool_lose(pool, 2);
  assert_true(yoke__pool_has_lost(pool));
  atomic_int seen = 0;
  yoke__pool_run(pool, note_thread, &seen);
  assert_int_equal(seen, 1 << 0 | 1 << 1 | 1 << 3);
  assert_false(yoke__pool_run_on(pool, 2, true, note_thread, &seen));
  open_gate(&g);
  yoke__pool_join(pool, 2);
  assert_false(yoke__pool_has_lost(pool));
  seen = 0;
  yoke__pool_run(pool, note_thread, &seen);
  assert_int_equal(seen, 15);
  yoke__pool_destroy(&pool);
}

static void test_no_threads_are_refused(void** state) {
  (void)state;
  yoke_pool* pool = NULL;
  assert_int_equal(yoke__pool_create(0, &pool), YOKE_BAD_ARG);
  assert_null(pool);
  assert_int_equal(yoke__pool_create(-3, &pool), YOKE_BAD_ARG);
  assert_null(pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_thread_once_per_round),
      cmocka_unit_test(test_threads_run_side_by_side),
      cmocka_unit_test(test_waits_that_sleep),
      cmocka_unit_test(test_workers_flush_denormals),
      cmocka_unit_test(test_destroy_while_idle),
      cmocka_unit_test(test_a_thread_aside_works_alone),
      cmocka_unit_test(test_a_lost_thread_is_left_out),
      cmocka_unit_test(test_no_threads_are_refused),
  };
  return cmocka_run_group_tests_name("base_pool", tests, NULL, NULL);
}
