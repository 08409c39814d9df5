// Out of memory at every request of a loop analysis: said so, nothing left behind.
#include "dual_mass_loop.h"
#include "support/check.h"
#include "support/failing_heap.h"
#include "synth/synth_causality.h"

#if HAS_OWN_MALLOC

static mass_loop matrices;
static yoke_synth_loop loop;

static yoke_status analyse(void) {
  yoke_synth_loop_report report;
  return yoke__synth_loop_analyse(&loop, &report);
}

static yoke_status list_frequencies(void) {
  double* w;
  size_t n;
  const yoke_status status = yoke__synth_loop_frequencies(&loop, &w, &n);
  free(w);
  return status;
}

static yoke_status find_limit(void) {
  yoke_synth_loop_limit limit;
  return yoke__synth_loop_limit_of(loop.sides, YOKE_SYNTH_STALE, 0.5, 1, &limit);
}

static yoke_status compare(void) {
  static const yoke_synth_causality_settings settings = {
      .step = 0.05, .resolution = 0.5, .largest = 1, .power = -1};
  const yoke_synth_causality_case cases[2] = {{"a", {loop.sides[0], loop.sides[1]}},
                                              {"b", {loop.sides[0], loop.sides[1]}}};
  yoke_synth_choice choice;
  return yoke__synth_causality_compare(cases, &settings, &choice);
}

// The k-th request fails, k = 0, stride, 2 stride, ..., until no more than k are made.
static void check_requests(yoke_status (*make)(void), long stride, const char* what) {
  long n_done = 0;
  for (long k = 0; k < 1000; k += stride) {
    heap = (failing_heap){.is_on = true, .fails_at = k};
    const yoke_status status = make();
    heap.is_on = false;
    if (heap.n_blocks != 0) {
      fail_msg("%s: %ld blocks left when request %ld fails", what, heap.n_blocks, k);
    }
    if (heap.n_requests <= k) {
      check_ok(status);
      // qsort sorts in place where it gets no memory, once per grid of an analysis
      assert_true(k >= 1 && n_done <= 4);
      return;
    }
    n_done += status == YOKE_OK;
    if (status != YOKE_NO_MEMORY && status != YOKE_OK) {
      fail_msg("%s: status %d when request %ld fails", what, (int)status, k);
    }
  }
  fail_msg("%s: more than 1000 requests", what);
}

static void test_out_of_memory(void** state) {
  (void)state;
  const loop_masses m = mass_loop_nominal();
  loop = mass_loop_make(&m, 0.05, &matrices);
  // the first call of LAPACK takes memory for good
  check_ok(analyse());
  check_requests(analyse, 1, "analyse");
  check_requests(list_frequencies, 1, "frequencies");
  check_requests(find_limit, 1, "limit");
  check_requests(compare, 7, "causality");  // twice the same requests as above
}

#else

static void test_out_of_memory(void** state) {
  (void)state;
  skip();
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_out_of_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
