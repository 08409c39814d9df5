// Out of memory at every request while something is made: an error with a text, nothing left behind.
#include "base/base_message.h"
#include "base/base_temp.h"
#include "identify/identify_file.h"
#include "identify/identify_moesp.h"
#include "support/check.h"
#include "support/failing_heap.h"

#if HAS_OWN_MALLOC

static YOKE_CATCH(err);

static yoke_status write_and_read(void);

// Calls make() with the k-th request failing, k = 0, 1, ..., until it needs no more than k. fails_onwards: and all that come
// after it.
static void check_all_requests(yoke_status (*make)(void), bool fails_onwards, const char* what) {
  for (long k = 0; k < 1000; k++) {
    err.text[0] = '\0';
    heap = (failing_heap){.is_on = true, .fails_at = k, .fails_onwards = fails_onwards};
    const yoke_status status = make();
    heap.is_on = false;
    if (heap.n_blocks != 0) {
      fail_msg("%s: %ld blocks left when request %ld fails", what, heap.n_blocks, k);
    }
    if (heap.n_requests <= k) {
      check_ok(status);
      assert_true(k >= 1);
      return;
    }
    // the C library may do without a buffer of its own
    if (status < 0) {
      // opening a file takes memory; jansson cuts a long text where a single request fails, and notices nothing
      const bool is_file = make == write_and_read, is_cut = is_file && !fails_onwards;
      if (status != YOKE_NO_MEMORY && !(is_file && status == YOKE_IO) &&
          !(is_cut && status == YOKE_BAD_INPUT)) {
        fail_msg("%s: request %ld failed: status %d, %s", what, k, status, err.text);
      }
      assert_true(strlen(err.text) > 0);
    }
  }
  fail_msg("%s: more than 1000 requests", what);
}

static yoke_status make_moesp(void) {
  yoke_moesp* moesp = NULL;
  const yoke_moesp_setup setup = {.n = 2, .m = 1, .order = 2, .window = 100};
  const yoke_status status = yoke__moesp_create(&setup, &moesp, &err.sink);
  if (status < 0 && moesp != NULL) {
    return YOKE_BAD_ARG;
  }
  yoke__moesp_destroy(&moesp);
  return status;
}

static double one[] = {-1.0}, half[] = {0.5}, zero[] = {0.0};

static yoke_status check_rank(void) {
  yoke_jacobian_sight sight;
  const yoke_identify_states unit = {1, 1, 1, one, half, half, zero};
  return yoke__jacobian_check_rank(&unit, "a", &sight, NULL, &err.sink);
}

static yoke_status check_growth(void) {
  const yoke_jacobian_continuous units[] = {{1, 1, one, half, zero}, {1, 1, one, half, zero}};
  return yoke__jacobian_check_growth(2, units, (const double[]){0, 1, 1, 0}, NULL, &err.sink);
}

static char path[512];

static yoke_status write_and_read(void) {
  static const char *outputs[] = {"y"}, *inputs[] = {"u"};
  static double parameters[] = {0.5, 0.5}, variances[] = {1.0};
  yoke_identified_unit unit = {"a", 0.1, 1.0, 1, 1, outputs, inputs, 1, 1, parameters, variances};
  const yoke_identified models = {1, &unit};
  yoke_identified back;
  yoke_arena arena = {0};
  yoke_status status = yoke__identified_write(path, &models, &err.sink);
  if (status >= 0) {
    status = yoke__identified_read(path, &arena, &back, &err.sink);
  }
  yoke__arena_free(&arena);
  return status;
}

static void test_every_request(void** state) {
  (void)state;
  yoke_temp* temp = NULL;
  check_ok(yoke__temp_create(&temp, &err.sink));
  snprintf(path, sizeof path, "%s/m.json", yoke__temp_path(temp));
  for (int i = 0; i < 2; i++) {
    check_all_requests(make_moesp, i == 1, "moesp");
    check_all_requests(check_rank, i == 1, "rank");
    check_all_requests(check_growth, i == 1, "growth");
    check_all_requests(write_and_read, i == 1, "file");
  }
  yoke__temp_remove(&temp);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_request)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
  printf("skipped: sanitizers bring their own allocator\n");
  return 77;
}

#endif
