// An exchange by mpsm takes no memory from the heap (MP-16): ten outputs and ten inputs, one signal each way; models by least
// squares, provided, and by subspaces. How long it takes: bench/bench_mpsm_cost.c.
#include "bench/mpsm_plant.h"
#include "support/check.h"
#include "support/counting_heap.h"

// A worker that does its work when it is asked for it, aside from what is counted.
typedef struct lazy {
  yoke_coupling_worker face;
  void (*work)(void* argument);
  void* argument;
  long n_calls;  // of the heap, by the work
  int n_pieces;
} lazy;

static void start_work(void* context, void (*work)(void* argument), void* argument) {
  lazy* w = context;
  w->work = work;
  w->argument = argument;
}

static bool finish_work(void* context) {
  lazy* w = context;
  const long before = atomic_load(&n_heap_calls);
  w->work(w->argument);
  w->n_calls += atomic_load(&n_heap_calls) - before;
  w->n_pieces++;
  return true;
}

static void check_case(size_t n, size_t m, int source) {
  enum { N = 600 };
  static plant p;
  lazy worker = {.n_calls = 0};
  worker.face = (yoke_coupling_worker){&worker, start_work, finish_work};
  double u[PLANT_SIGNALS] = {0};
  plant_open(&p, "heap", n, m, source, N);
  plant_prepare(&p);
  long n_calls = 0;
  for (int k = 0; k < N; k++) {
    plant_tell(&p, k);
    const long before = atomic_load(&n_heap_calls), by_work = worker.n_calls;
    plant_exchange(&p, k, source == 1 ? &worker.face : NULL, u);
    // the first one may: provided models are judged there
    n_calls += k == 0 ? 0 : atomic_load(&n_heap_calls) - before - (worker.n_calls - by_work);
    plant_advance(&p, u);
  }
  const double n_full = plant_health_of(&p, "n_full");
  print_message(
      "%zu and %zu outputs, source %d: %g of %d exchanges by the full method, %d models\n", n, m,
      source, n_full, N, worker.n_pieces);
  assert_int_equal(n_calls, 0);
  assert_true(n_full > 0.9 * (source == 2 ? N : N - 220));
  assert_true(source != 1 || worker.n_pieces > 30);
  yoke__couple_mpsm.close(p.self);
  plant_close(&p);
}

static void test_MP_16_no_heap(void** state) {
  (void)state;
  check_heap_is_counted();
  for (int source = 0; source < 3; source++) {
    check_case(1, 1, source);
    check_case(4, 6, source);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_MP_16_no_heap)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
