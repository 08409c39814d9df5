// Subspace models of method `mpsm`: work beside the steps, lost samples. On the nonlinear dual mass oscillator with impulses
// (specification 10.2), with the settings of its best run (11.4).
#include "support/counting_heap.h"
#include "support/dual_mass_pulsed.h"

enum { N_MODELS = 14, N_LATE = 15, N_FAILED = 16 };  // in the health record

static pulsed_run run, other;

static void run_into(pulsed_run* to) {
  const setting settings[] = {{"jacobians", 1},      {"learning", 290},
                              {"switching", 4},      {"th_signal", 4.22},
                              {"th_modified", 1.72}, {"forgetting", 1 - 1 / 778.0}};
  run_pulsed(settings, sizeof settings / sizeof settings[0], -1, to);
}

// ---- work beside the steps, as late as it can be

typedef struct slow_worker {
  yoke_coupling_worker face;
  void (*work)(void* argument);
  void* argument;
  int n_refusals;  // how often the end is denied, as in a run that does not wait
  int n_left;
  long n_heap;  // calls in the work
} slow_worker;

static void start_slowly(void* context, void (*work)(void* argument), void* argument) {
  slow_worker* w = context;
  w->work = work;
  w->argument = argument;
  w->n_left = w->n_refusals;
}

static bool finish_slowly(void* context) {
  slow_worker* w = context;
  if (w->n_left-- > 0) {
    return false;
  }
  const long before = atomic_load(&n_heap_calls);
  w->work(w->argument);
  w->n_heap += atomic_load(&n_heap_calls) - before;
  return true;
}

static slow_worker* worker_of(slow_worker* w, int n_refusals) {
  *w = (slow_worker){.n_refusals = n_refusals};
  w->face = (yoke_coupling_worker){w, start_slowly, finish_slowly};
  return w;
}

// The same bits whether a model is computed when its samples are complete or when it is due, after ten more of them.
static void test_results_do_not_depend_on_time(void** state) {
  (void)state;
  slow_worker w;
  run = (pulsed_run){0};
  other = (pulsed_run){.worker = &worker_of(&w, 0)->face};
  run_into(&run);
  run_into(&other);
  assert_memory_equal(run.y, other.y, sizeof run.y);
  assert_memory_equal(run.health, other.health, sizeof run.health);
  assert_true(run.health[N_MODELS] > 50 && run.health[N_LATE] == 0);
  assert_true(run.health[N_FAILED] == 0);
}

// Who is late is counted, and until then all is as if there were no new model.
static void test_late_models(void** state) {
  (void)state;
  slow_worker w;
  run = (pulsed_run){0};
  other = (pulsed_run){.worker = &worker_of(&w, 30)->face};
  run_into(&run);
  run_into(&other);
  // the first model is due when learning ends, at 290, and comes at 320; the others follow every 40 exchanges
  assert_memory_equal(run.y, other.y, 290 * sizeof run.y[0]);
  size_t n_other = 0;
  for (size_t k = 290; k < sizeof run.y / sizeof run.y[0]; k++) {
    n_other += run.y[k][0] != other.y[k][0];
  }
  assert_true(n_other > 0);
  print_message("%g models, late %g times\n", other.health[N_MODELS], other.health[N_LATE]);
  assert_true(other.health[N_MODELS] == 18 && other.health[N_LATE] == 18 * 30);
  assert_true(run.health[N_MODELS] == 72 && run.health[N_LATE] == 0);
}

static void test_takes_no_heap(void** state) {
  (void)state;
  if (!IS_HEAP_COUNTED) {
    skip();
  }
  check_heap_is_counted();
  slow_worker w;
  run = (pulsed_run){.worker = &worker_of(&w, 0)->face, .n_heap_calls = &n_heap_calls};
  run_into(&run);
  assert_true(run.health[N_MODELS] > 50);
  assert_int_equal(run.n_heap - w.n_heap, 0);
}

// After a lost sample the factor keeps what it knows, and the work on a copy of it goes on.
static void test_lost_sample(void** state) {
  (void)state;
  run = (pulsed_run){0};
  other = (pulsed_run){.k_lost = 506};
  run_into(&run);
  run_into(&other);
  assert_true(run.health[N_MODELS] == other.health[N_MODELS]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_results_do_not_depend_on_time),
      cmocka_unit_test(test_late_models),
      cmocka_unit_test(test_takes_no_heap),
      cmocka_unit_test(test_lost_sample),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
