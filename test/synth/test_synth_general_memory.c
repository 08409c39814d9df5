// Out of memory at every request of synthesis, reduction and filter: a status with a text, nothing left behind.
#include "base/base_message.h"
#include "support/check.h"
#include "support/failing_heap.h"
#include "synth/synth_design.h"
#include "synth/synth_plant.h"
#include "synth/synth_reduce.h"

#if HAS_OWN_MALLOC

static YOKE_CATCH(err);

// A coarse synthesis of the coupling problem, then all that follows; the plant without requests of its own.
static yoke_status make_all(void) {
  yoke_arena w = {0};
  const yoke_synth_coupling coupling = yoke__synth_coupling_default(0.05);
  yoke_synth_general_settings s = yoke__synth_general_default();
  yoke_synth_general_plant plant;
  yoke_synth_general_result found;
  yoke_synth_reduction less;
  yoke_synth_filter filter;
  s.penalty = 1e-4;
  s.gamma = 0.0139;
  yoke_status status = yoke__synth_coupling_plant(&w, &coupling, &plant, &err.sink);
  if (status == YOKE_OK) {
    status = yoke__synth_general(&w, &plant, &s, &found, &err.sink);
  }
  if (status == YOKE_OK) {
    status = yoke__synth_reduce(&w, found.K, 4, 0, &less, &err.sink);
  }
  if (status == YOKE_OK) {
    status = yoke__synth_filter_init(&filter, less.system, 1e-3, &err.sink);
  }
  yoke__arena_free(&w);
  return status;
}

// False: there are no more than k requests.
static bool check_request(yoke_status (*make)(void), long k, bool fails_onwards) {
  err.text[0] = '\0';
  heap = (failing_heap){.is_on = true, .fails_at = k, .fails_onwards = fails_onwards};
  const yoke_status status = make();
  heap.is_on = false;
  if (heap.n_blocks != 0) {
    fail_msg("%ld blocks left when request %ld fails", heap.n_blocks, k);
  }
  if (heap.n_requests <= k) {
    check_ok(status);
    return false;
  }
  if (status != YOKE_NO_MEMORY || err.text[0] == '\0') {
    fail_msg("request %ld failed: status %d, '%s'", k, status, err.text);
  }
  return true;
}

static void check_all_requests(yoke_status (*make)(void), bool fails_onwards) {
  for (long k = 0; k < 20000; k++) {
    if (!check_request(make, k, fails_onwards)) {
      print_message("%ld requests\n", k);
      return;
    }
  }
  fail_msg("too many requests");
}

static void test_one_fails(void** state) {
  (void)state;
  check_all_requests(make_all, false);
}

static void test_all_fail(void** state) {
  (void)state;
  check_all_requests(make_all, true);
}

static yoke_synth_design design;

static yoke_status design_all(void) {
  const yoke_synth_settings s = yoke__synth_settings_default(YOKE_RECIPE_GENERAL, 0.05, 1e-3);
  return yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &design, &err.sink);
}

static yoke_status assess(void) {
  return yoke__synth_assess_model(&design, &err.sink);
}

// Recipe general: every request of what follows the search; some of the search and all that come last.
static void test_recipe(void** state) {
  (void)state;
  heap = (failing_heap){.is_on = true, .fails_at = -1};
  check_ok(design_all());
  heap.is_on = false;
  const long n = heap.n_requests;
  check_all_requests(assess, false);
  for (long k = 0; k < n - 150; k += n / 30) {
    assert_true(check_request(design_all, k, true));
  }
  for (long k = n - 150; k < n; k++) {
    assert_true(check_request(design_all, k, false));
  }
  print_message("%ld requests\n", n);
}

#endif

int main(void) {
#if HAS_OWN_MALLOC
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_fails),
      cmocka_unit_test(test_all_fail),
      cmocka_unit_test(test_recipe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
#else
  printf("skipped: the allocator is the sanitizer's\n");
  return 77;
#endif
}
