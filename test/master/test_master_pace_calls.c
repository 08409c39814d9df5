// B-26: a run by the clock makes no heap call, and one system call per step, which is the sleep; counted by replacing the
// allocator and by a filter that traps every system call of the stepping thread.
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "base/base_message.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/sim.h"
#include "support/trapped_calls.h"

enum { N_STEPS = 100 };

static const char* const systems[] = {
    "yoke: 1\ncalls: 1\ntime: {stop: 0.1, step: 1e-3, pace: {overrun: %s}}\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}, budget: 1e-4}\n  right: {model: "
    "oscillator.mass}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n",
    "yoke: 1\nscheme: gauss-seidel\ntime: {stop: 0.1, step: 1e-3, pace: {overrun: %s}}\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}, step: 2e-4}\n  right: {model: "
    "oscillator.mass, step: 1e-3}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n"
    "safe: [{set: right.f, to: 0, over: 5e-3}]\n",
};
static const char* const policies[] = {"continue", "hold", "skip", "catch-up"};

typedef struct job {
  sim s;
  yoke_pace* pace;
  yoke_loop_info info;
} job;

static void open_job(job* j, size_t system, size_t policy) {
  YOKE_CATCH(err);
  char text[1024];
  snprintf(text, sizeof text, systems[system], policies[policy]);
  *j = (job){.s = sim_open("%s", text)};
  j->pace = yoke__pace_create(j->s.system->n_units, j->s.system->n_y);
  assert_non_null(j->pace);
  yoke__master_prepare_pace(j->s.system, 1, &yoke__pace_monotonic, j->pace);
  j->pace->limit = 1000;  // a busy machine does not end it
  const yoke_record_settings settings = {.formats = 0, .n_ring_rows = 1024};
  check_ok(yoke__record_open(&settings, j->s.system->columns, j->s.system->n_columns,
                             &j->s.state->record, &err.sink));
}

static yoke_status run_job(job* j) {
  const yoke_loop_settings settings = {.pace = j->pace};
  return yoke__master_loop(j->s.system, j->s.state, &settings, &j->info);
}

static void close_job(job* j) {
  YOKE_CATCH(err);
  check_ok(yoke__record_close(&j->s.state->record, NULL, &err.sink));
  sim_close(&j->s);
  free(j->pace);
}

static void test_no_heap_call_B_26(void** state) {
  (void)state;
  if (!IS_HEAP_COUNTED) {
    skip();
  }
  for (size_t i = 0; i < 2; i++) {
    for (size_t k = 0; k < 4; k++) {
      job j;
      open_job(&j, i, k);
      const long before = atomic_load(&n_heap_calls);
      const yoke_status status = run_job(&j);
      const long after = atomic_load(&n_heap_calls);
      assert_int_equal(status, YOKE_OK);
      assert_int_equal(after - before, 0);
      assert_int_equal(j.info.n_steps, N_STEPS);
      close_job(&j);
    }
  }
  check_heap_is_counted();
}

// exit status of a child: number of calls, 250 if there is no filter here, 251 if the run did not end well
static int count_in_child(size_t system, size_t policy) {
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    job j;
    open_job(&j, system, policy);
    if (!trap_system_calls()) {
      _exit(250);
    }
    const yoke_status status = run_job(&j);
    _exit(status != YOKE_OK ? 251 : n_system_calls > 240 ? 240 : (int)n_system_calls);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_one_system_call_per_step_B_26(void** state) {
  (void)state;
  if (!IS_HEAP_COUNTED || count_in_child(0, 0) == 250) {
    skip();
  }
  for (size_t i = 0; i < 2; i++) {
    for (size_t k = 0; k < 4; k++) {
      const int n = count_in_child(i, k);
      print_message("system %zu, %s: %d system calls in %d steps\n", i, policies[k], n, N_STEPS);
      // one per step at most, one at the end, and one per step of the safe action; late steps have none
      assert_in_range(n, 1, N_STEPS + 1 + 5);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_heap_call_B_26),
      cmocka_unit_test(test_one_system_call_per_step_B_26),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
