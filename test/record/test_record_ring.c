// The ring between stepping and writing thread: order, wrap-around, full and empty, two threads.
#include <sched.h>

#include "record/record_ring.h"

#include "base/base_os.h"
#include "support/check.h"

static void full_and_empty(void** state) {
  (void)state;
  unsigned char rows[3 * 8];
  yoke_record_ring ring;
  yoke__ring_init(&ring, rows, 3, 8);
  size_t n = 1;
  yoke__ring_peek(&ring, &n);
  assert_int_equal(n, 0);

  // the same slot until it is committed; exactly n_rows fit
  unsigned char* first = yoke__ring_slot(&ring);
  assert_ptr_equal(first, rows);
  assert_ptr_equal(yoke__ring_slot(&ring), first);
  for (int i = 0; i < 3; i++) {
    unsigned char* slot = yoke__ring_slot(&ring);
    assert_non_null(slot);
    slot[0] = (unsigned char)i;
    yoke__ring_commit(&ring);
  }
  assert_null(yoke__ring_slot(&ring));

  // released rows make room; the rest is read in two pieces because of the end of the block
  assert_int_equal(yoke__ring_peek(&ring, &n)[0], 0);
  assert_int_equal(n, 3);
  yoke__ring_release(&ring, 2);
  yoke__ring_slot(&ring)[0] = 3;
  yoke__ring_commit(&ring);
  assert_int_equal(yoke__ring_peek(&ring, &n)[0], 2);
  assert_int_equal(n, 1);
  yoke__ring_release(&ring, 1);
  assert_int_equal(yoke__ring_peek(&ring, &n)[0], 3);
  assert_int_equal(n, 1);
  yoke__ring_release(&ring, 1);
  yoke__ring_peek(&ring, &n);
  assert_int_equal(n, 0);
}

enum { N_WORDS = 5, N_ROWS = 300000 };

static void produce(void* arg) {
  yoke_record_ring* ring = arg;
  for (uint64_t k = 0; k < N_ROWS;) {
    uint64_t* slot = (uint64_t*)(void*)yoke__ring_slot(ring);
    if (slot == NULL) {
      (void)sched_yield();
      continue;
    }
    for (uint64_t i = 0; i < N_WORDS; i++) {
      slot[i] = k * N_WORDS + i;
    }
    yoke__ring_commit(ring);
    k++;
  }
}

// Every word of every row arrives, in order, whatever the two threads' relative speed.
static void rows_cross_threads_in_order(void** state) {
  (void)state;
  static uint64_t rows[7 * N_WORDS];
  yoke_record_ring ring;
  yoke__ring_init(&ring, (unsigned char*)rows, 7, N_WORDS * sizeof(uint64_t));
  yoke_thread* producer = NULL;
  check_ok(yoke__os_thread_start(produce, &ring, &producer));
  uint64_t expected = 0, n_wrong = 0;
  while (expected < (uint64_t)N_ROWS * N_WORDS) {
    size_t n = 0;
    const uint64_t* at = (const uint64_t*)(const void*)yoke__ring_peek(&ring, &n);
    if (n == 0) {
      (void)sched_yield();
    }
    for (size_t i = 0; i < n * N_WORDS; i++) {
      n_wrong += at[i] != expected++;
    }
    yoke__ring_release(&ring, n);
  }
  yoke__os_thread_join(&producer);
  assert_int_equal(n_wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(full_and_empty),
      cmocka_unit_test(rows_cross_threads_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
