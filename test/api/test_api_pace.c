// Runs by the clock through the public interface: figures, states from another thread, emergency stop, lost rows, and that
// nothing of what was taken from the system stays taken.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api_helper.h"

static void nap(double s) {
  const struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
  nanosleep(&t, NULL);
}

#define SHORT                                                                                      \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.2, step: 0.01%s}\n%sunits:\n"                  \
  "  a: {model: plant, budget: 10}\n  b: {model: plant, start: {x: 0.5}}\n"                        \
  "connections: [a.x -> b.f, b.x -> a.f]\n"

static yoke_simulation* open_with(const yoke_registry* registry, const yoke_sink* sink,
                                  const char* time, const char* more) {
  char text[1024];
  snprintf(text, sizeof text, SHORT, time, more);
  return api_open(registry, sink, text);
}

static long read_locked(void) {
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  long n = -1;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "VmLck:", 6) == 0) {
      n = strtol(line + 6, NULL, 10);
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return n;
}

static void test_figures(void** state) {
  (void)state;
  HEAR(said);
  yoke_registry* registry = api_registry();
  yoke_simulation* s = open_with(registry, &said.sink, "", "");
  yoke_pace_info pace;
  check_ok(yoke_simulation_get_pace(s, &pace));
  assert_true(pace.factor == 0 && pace.n_steps == 0);
  assert_int_equal(yoke_simulation_state(s), YOKE_RUN_INIT);
  check_ok(yoke_simulation_start(s));
  assert_int_equal(yoke_simulation_state(s), YOKE_RUN_READY);

  int policy_before = 0;
  struct sched_param param_before;
  cpu_set_t set_before;
  pthread_getschedparam(pthread_self(), &policy_before, &param_before);
  sched_getaffinity(0, sizeof set_before, &set_before);
  const long locked_before = read_locked();

  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  yoke_run_info info;
  const yoke_run_settings settings = {.pace = 2};
  assert_int_equal(yoke_simulation_run(s, &settings, &info), YOKE_OK);
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double wall =
      (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  assert_true(wall >= 0.1);  // 0.2 s at twice the speed: never earlier, whatever the machine does
  check_ok(yoke_simulation_get_pace(s, &pace));
  print_message("20 steps of 5 ms: %.4f s, %lld late, released at most %.1f us late; %s\n", wall,
                (long long)pace.n_late, 1e6 * pace.release.max, pace.grade);
  assert_true(pace.factor == 2 && pace.n_steps == 20 && pace.release.n == 20 && pace.step.n == 20);
  check_near(pace.period, 5e-3, 1e-15);
  assert_true(pace.n_missed >= pace.n_late && pace.n_behind == pace.n_missed);
  assert_int_equal(info.is_late, pace.is_beyond);
  assert_true(strlen(pace.grade) > 0);
  assert_int_equal(yoke_simulation_state(s), YOKE_RUN_SAFE);

  yoke_unit_pace unit;
  check_ok(yoke_simulation_get_unit_pace(s, 1, &unit));
  assert_true(unit.step.n == 20 && unit.step.max >= unit.step.p50 && unit.n_over == 0);
  assert_true(!unit.has_own_thread && unit.n_due == 0 && unit.n_late == 0);
  assert_int_equal(yoke_simulation_get_unit_pace(s, 2, &unit), YOKE_NO_SUCH_NAME);
  assert_int_equal(yoke_simulation_get_unit_pace(NULL, 0, &unit), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_unit_pace(s, 0, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_pace(s, NULL), YOKE_BAD_ARG);

  // everything was given back
  int policy = 0;
  struct sched_param param;
  cpu_set_t set;
  pthread_getschedparam(pthread_self(), &policy, &param);
  sched_getaffinity(0, sizeof set, &set);
  assert_int_equal(policy, policy_before);
  assert_int_equal(param.sched_priority, param_before.sched_priority);
  assert_true(CPU_EQUAL(&set, &set_before));
  assert_int_equal(read_locked(), locked_before);
  api_close(&s);
  yoke_registry_destroy(&registry);
}

// the file's pace is followed unless it is taken back
static void test_file_says(void** state) {
  (void)state;
  HEAR(said);
  yoke_registry* registry = api_registry();
  for (int i = 0; i < 2; i++) {
    yoke_simulation* s = open_with(registry, &said.sink, ", pace: 1000", "");
    const yoke_run_settings settings = {.pace = i == 0 ? 0 : -1};
    yoke_pace_info pace;
    check_ok(yoke_simulation_run(s, &settings, NULL));
    check_ok(yoke_simulation_get_pace(s, &pace));
    check_near(pace.factor, i == 0 ? 1000 : 0, 0);
    api_close(&s);
  }
  yoke_simulation* s = open_with(registry, &said.sink, "", "");
  assert_int_equal(yoke_simulation_run(s, &(yoke_run_settings){.pace = 1e7}, NULL), YOKE_BAD_ARG);
  api_close(&s);
  yoke_registry_destroy(&registry);
}

// ---- other threads

typedef struct helper {
  yoke_simulation* s;
  void (*act)(yoke_simulation* s);
  atomic_bool is_done;
  unsigned seen;  // states, as bits
} helper;

static void* watch(void* argument) {
  helper* h = argument;
  while (yoke_simulation_state(h->s) != YOKE_RUN_RUN) {
    nap(1e-3);
  }
  nap(0.03);
  h->act(h->s);
  while (!atomic_load(&h->is_done)) {
    h->seen |= 1u << yoke_simulation_state(h->s);
    nap(1e-3);
  }
  return NULL;
}

static yoke_status run_with(yoke_simulation* s, void (*act)(yoke_simulation*), unsigned* seen) {
  helper h = {.s = s, .act = act};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, watch, &h), 0);
  const yoke_status status = yoke_simulation_run(s, &(yoke_run_settings){.pace = 1}, NULL);
  atomic_store(&h.is_done, true);
  pthread_join(thread, NULL);
  *seen = h.seen;
  return status;
}

#define LONG                                                                                       \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1e6, step: 2e-3}\nunits:\n"                      \
  "  a: {model: plant}\n  b: {model: plant, start: {x: 0.5}}\n"                                    \
  "connections: [a.x -> b.f, b.x -> a.f]\nsafe: [{set: a.f, to: 0, over: 0.1}]\n"

static void test_emergency_stop(void** state) {
  (void)state;
  HEAR(said);
  yoke_registry* registry = api_registry();
  yoke_simulation* s = api_open(registry, &said.sink, LONG);
  unsigned seen = 0;
  assert_int_equal(run_with(s, yoke_simulation_emergency_stop, &seen), YOKE_STOPPED);
  assert_int_equal(yoke_simulation_state(s), YOKE_RUN_FAULT);
  assert_true((seen >> YOKE_RUN_STOPPING & 1) != 0);
  check_contains(yoke_simulation_failure(s)->text, "emergency stop");
  check_contains(said.text, "emergency stop");
  // latched
  assert_int_equal(yoke_simulation_run(s, &(yoke_run_settings){.pace = 1}, NULL), YOKE_BAD_ARG);
  check_contains(said.text, "it must be reset first");
  check_ok(yoke_simulation_reset(s));
  assert_int_equal(yoke_simulation_reset(s), YOKE_BAD_ARG);
  assert_int_equal(run_with(s, yoke_simulation_cancel, &seen), YOKE_INTERRUPTED);
  assert_int_equal(yoke_simulation_state(s), YOKE_RUN_SAFE);
  assert_true((seen >> YOKE_RUN_STOPPING & 1) != 0);
  // SAFE needs no reset; a run without a clock ends as by cancel
  char* json = NULL;
  check_ok(yoke_simulation_summary(s, &json));
  check_contains(json, "\"state\": \"SAFE\"");
  yoke_text_free(&json);
  api_close(&s);
  yoke_registry_destroy(&registry);
  yoke_simulation_emergency_stop(NULL);
  assert_int_equal(yoke_simulation_state(NULL), YOKE_RUN_INIT);
  assert_int_equal(yoke_simulation_reset(NULL), YOKE_BAD_ARG);
}

// companions do not know of safe actions: a run that they ended early is not compared
static void test_stopped_runs_are_not_compared(void** state) {
  (void)state;
  HEAR(said);
  yoke_registry* registry = api_registry();
  yoke_simulation* s = open_with(registry, &said.sink, ", pace: {factor: 1e6, overrun: hold}",
                                 "safe: [{set: a.f, to: 0, over: 5e-8}]\n");
  const yoke_run_settings settings = {.trust = YOKE_TRUST_BOTH};
  yoke_run_info info;
  assert_int_equal(yoke_simulation_run(s, &settings, &info), YOKE_LATE);
  assert_true(info.is_late && info.n_steps > 3);
  check_contains(said.text, "3 steps in a row ended late (limit 3, overrun: hold)");
  check_ok(yoke_simulation_judge(s, NULL));
  char* json = NULL;
  check_ok(yoke_simulation_summary(s, &json));
  check_contains(json, "safe actions changed inputs");
  check_contains(json, "\"status\": \"stopped by missed deadlines\"");
  yoke_text_free(&json);
  api_close(&s);
  yoke_registry_destroy(&registry);
}

// ---- rows that the writer cannot take

typedef struct slow_sink {
  atomic_bool is_open;
  uint64_t n_rows, n_lost;
} slow_sink;

static slow_sink the_sink;

static yoke_status slow_open(const void* context, const char* directory,
                             const yoke_record_column columns[], size_t n_columns, void** self,
                             const yoke_sink* sink) {
  (void)context, (void)directory, (void)columns, (void)n_columns, (void)sink;
  *self = &the_sink;
  return YOKE_OK;
}

static yoke_status slow_write(void* self, const void* rows, size_t n, size_t stride,
                              const yoke_sink* sink) {
  slow_sink* s = self;
  (void)sink;
  if (!atomic_load(&s->is_open)) {
    nap(0.1);
  }
  for (size_t i = 0; i < n; i++) {
    uint64_t lost = 0;
    memcpy(&lost, (const char*)rows + i * stride + stride - sizeof lost, sizeof lost);
    s->n_lost += lost;
    s->n_rows++;
  }
  return YOKE_OK;
}

static yoke_status slow_close(void* self, const yoke_sink* sink) {
  (void)self, (void)sink;
  return YOKE_OK;
}

static void test_rows_are_lost_not_waited_for(void** state) {
  (void)state;
  static const yoke_result_ops ops = {YOKE_RESULT_HEAD, .name = "slow", .open = slow_open,
                                      .write = slow_write, .close = slow_close};
  const yoke_result_ops* const sinks[] = {&ops};
  const yoke_record_settings record = {.sinks = sinks, .n_sinks = 1, .n_ring_rows = 4};
  HEAR(said);
  yoke_registry* registry = api_registry();
  for (int i = 0; i < 2; i++) {
    yoke_simulation* s = open_with(registry, &said.sink, "", "");
    const yoke_run_settings settings = {.record = &record, .pace = i == 0 ? 100 : 0};
    yoke_run_info info;
    the_sink = (slow_sink){0};
    check_ok(yoke_simulation_run(s, &settings, &info));
    print_message("%s: %llu rows, %llu lost, %llu waits\n", i == 0 ? "paced" : "free",
                  (unsigned long long)info.record.n_rows, (unsigned long long)info.record.n_lost,
                  (unsigned long long)info.record.n_waits);
    assert_int_equal(info.record.n_rows + info.record.n_lost, 21);
    assert_int_equal(the_sink.n_rows, info.record.n_rows);
    assert_true(info.n_steps == 20);
    if (i == 0) {
      // 20 steps of 0.1 ms while the first row takes 100 ms
      assert_true(info.record.n_lost > 0 && info.record.n_waits == 0 && info.is_late);
    } else {
      assert_true(info.record.n_lost == 0 && info.record.n_waits > 0 && !info.is_late);
    }
    api_close(&s);
  }
  yoke_registry_destroy(&registry);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_figures),
      cmocka_unit_test(test_file_says),
      cmocka_unit_test(test_emergency_stop),
      cmocka_unit_test(test_stopped_runs_are_not_compared),
      cmocka_unit_test(test_rows_are_lost_not_waited_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
