// Subspace models of method `mpsm`: recursive in place of a window, order from the data, work beside the steps. On the
// nonlinear dual mass oscillator with impulses (specification 10.2), with the settings of its best run (11.4).
#include "support/counting_heap.h"
#include "support/dual_mass_pulsed.h"

enum { FIXED, GAP, TOLERANCE };
enum { N_MODELS = 14, N_LATE = 15, N_FAILED = 16, MODEL_ORDER = 19 };  // in the health record

static pulsed_run run, other;

static void run_with(double update, double rule, double order, double renew, pulsed_run* to) {
  const setting settings[] = {
      {"jacobians", 1},      {"learning", 290},      {"switching", 4},    {"th_signal", 4.22},
      {"th_modified", 1.72}, {"window", 778},        {"update", update},  {"order_rule", rule},
      {"renew", renew},      {"model_order", order}, {"block_rows", 4.0},
  };
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
  for (int update = 0; update <= 1; update++) {
    for (int rule = FIXED; rule <= TOLERANCE; rule++) {
      run = (pulsed_run){0};
      other = (pulsed_run){.worker = &worker_of(&w, 0)->face};
      run_with(update, rule, 3, 10, &run);
      run_with(update, rule, 3, 10, &other);
      assert_memory_equal(run.y, other.y, sizeof run.y);
      assert_memory_equal(run.health, other.health, sizeof run.health);
      assert_true(run.health[N_MODELS] > 50 && run.health[N_LATE] == 0);
    }
  }
}

// Who is late is counted, and until then all is as if there were no new model.
static void test_late_models(void** state) {
  (void)state;
  slow_worker w;
  for (int update = 0; update <= 1; update++) {
    run = (pulsed_run){0};
    other = (pulsed_run){.worker = &worker_of(&w, 30)->face};
    run_with(update, FIXED, 0, 10, &run);
    run_with(update, FIXED, 0, 10, &other);
    // the first model is due when learning ends, at 290, and comes at 320; the others follow every 40 exchanges
    assert_memory_equal(run.y, other.y, 290 * sizeof run.y[0]);
    size_t n_other = 0;
    for (size_t k = 290; k < sizeof run.y / sizeof run.y[0]; k++) {
      n_other += run.y[k][0] != other.y[k][0];
    }
    assert_true(n_other > 0);
    print_message("update %d: %g models, late %g times\n", update, other.health[N_MODELS],
                  other.health[N_LATE]);
    assert_true(other.health[N_MODELS] == 18 && other.health[N_LATE] == 18 * 30);
    assert_true(run.health[N_MODELS] == 72 && run.health[N_LATE] == 0);
  }
}

static void test_takes_no_heap(void** state) {
  (void)state;
  if (!IS_HEAP_COUNTED) {
    skip();
  }
  check_heap_is_counted();
  slow_worker w;
  for (int update = 0; update <= 1; update++) {
    for (int rule = FIXED; rule <= TOLERANCE; rule++) {
      run = (pulsed_run){.worker = &worker_of(&w, 0)->face, .n_heap_calls = &n_heap_calls};
      run_with(update, rule, 3, 10, &run);
      assert_true(run.health[N_MODELS] > 50);
      assert_int_equal(run.n_heap - w.n_heap, 0);
    }
  }
}

// A lost sample empties a window; a factor keeps what it knows, and the work on it goes on.
static void test_lost_sample(void** state) {
  (void)state;
  for (int update = 0; update <= 1; update++) {
    run = (pulsed_run){0};
    other = (pulsed_run){.k_lost = 506};
    run_with(update, FIXED, 0, 10, &run);
    run_with(update, FIXED, 0, 10, &other);
    const double n_lost = run.health[N_MODELS] - other.health[N_MODELS];
    print_message("update %d: %g models lost with the sample\n", update, n_lost);
    assert_true(update == 0 ? n_lost >= 2 : n_lost == 0);
  }
}

// ---- orders

// The order never leaves 1 .. model_order, which memory was laid for.
static void test_order_from_data(void** state) {
  (void)state;
  static const double most[] = {0, 1, 2, 3};
  for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
    for (int rule = FIXED; rule <= TOLERANCE; rule++) {
      const double limit = most[i] == 0 ? 2 : most[i];
      run = (pulsed_run){0};
      run_with(1, rule, most[i], 10, &run);
      print_message("at most %g states, rule %d: %g in the last models, %g made, %g failed\n",
                    limit, rule, run.health[MODEL_ORDER], run.health[N_MODELS],
                    run.health[N_FAILED]);
      assert_true(run.health[MODEL_ORDER] >= 1 && run.health[MODEL_ORDER] <= limit);
      assert_true(rule != FIXED || run.health[MODEL_ORDER] == limit);
      assert_true(run.health[N_MODELS] > 0 && run.health[N_FAILED] == 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_results_do_not_depend_on_time),
      cmocka_unit_test(test_late_models),
      cmocka_unit_test(test_takes_no_heap),
      cmocka_unit_test(test_lost_sample),
      cmocka_unit_test(test_order_from_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
