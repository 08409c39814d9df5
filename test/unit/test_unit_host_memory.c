// Memory of the caller of an isolated unit: none is taken while it steps, and when it runs out while the unit is made,
// nothing is left behind, neither blocks nor processes.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <sys/wait.h>

#include "base/base_message.h"
#include "support/check.h"
#include "support/failing_heap.h"
#include "unit/host/unit_host.h"
#include "unit/unit.h"
#include "unit/unit_models.h"

#if HAS_OWN_MALLOC
static const yoke_unit_file_settings settings = {
    .kind = YOKE_KIND_MODEL, .path = "channel", .name = "unit"};
static const yoke_host_plan plan = {.settings = &settings};
static const yoke_unit_args args = {"unit", ".", NULL, 0, &plan};

static void takes_nothing_while_it_steps(void** state) {
  (void)state;
  yoke_unit_ops ops;
  yoke_arena arena = {0};
  yoke_unit unit;
  YOKE_CATCH(err);
  yoke__host_fill_ops(yoke__models_find(NULL, "channel"), &ops);
  if (yoke__unit_create(&ops, &args, &arena, &unit, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  check_ok(yoke__unit_enter_init(&unit, 0, 1, &err.sink));
  check_ok(yoke__unit_exit_init(&unit));
  const size_t n_lost = yoke__unit_find(&unit, "n_lost"), size = yoke__unit_image_size(&unit);
  unsigned char image[4096];
  assert_true(size > 0 && size <= sizeof image);

  heap = (failing_heap){.is_on = true, .fails_at = -1};
  for (int k = 0; k < 1000; k++) {
    const double u = k;
    double y = 0;
    int64_t lost = 0;
    yoke_step_result result = {.t_reached = k + 1};
    check_ok(yoke__unit_set_inputs(&unit, &u));
    check_ok(unit.ops->step(unit.self, k, 1, &result));
    check_ok(yoke__unit_get_outputs(&unit, &y));
    check_ok(yoke__unit_get(&unit, n_lost, &lost, sizeof lost));
    check_ok(yoke__unit_save(&unit, image, size));
    check_ok(yoke__unit_restore(&unit, image, size));
    assert_true(y == u);
  }
  heap.is_on = false;
  assert_int_equal(heap.n_requests, 0);
  yoke__unit_close(&unit);
  yoke__arena_free(&arena);
}

static void leaves_nothing_when_memory_is_out(void** state) {
  (void)state;
  bool is_made = false;
  for (long i = 0; !is_made; i++) {
    void* self = NULL;
    YOKE_CATCH(err);
    heap = (failing_heap){.is_on = true, .fails_at = i, .fails_onwards = i % 2 == 1};
    const yoke_status status = yoke__host_create(&plan, &args, &self, &err.sink);
    const bool was_refused = heap.n_requests > i;
    heap.is_on = false;
    is_made = status >= 0 && !was_refused;
    if (status >= 0) {
      heap.is_on = true;
      yoke_unit_ops ops;
      yoke__host_fill_ops(yoke__models_find(NULL, "channel"), &ops);
      ops.close(self);
      heap.is_on = false;
    } else {
      assert_null(self);
      if (status != YOKE_NO_MEMORY) {
        fail_msg("request %ld failed: status %d, %s", i, status, err.text);
      }
    }
    if (heap.n_blocks != 0) {
      fail_msg("%ld blocks are left after request %ld failed (%s)", heap.n_blocks, i, err.text);
    }
    // no child, not even a dead one
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_true(i < 1000);
  }
}
#endif

int main(void) {
#if HAS_OWN_MALLOC
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(takes_nothing_while_it_steps),
      cmocka_unit_test(leaves_nothing_when_memory_is_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
#else
  printf("skipped: memory of isolated units: the sanitizer brings its own allocator\n");
  return 77;
#endif
}
