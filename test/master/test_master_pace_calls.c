// B-26: a run by the clock makes no heap call, and one system call per step, which is the sleep; with a port that follows the clock
// one send and one receive more, and a unit on a thread of its own costs the call that wakes it, and those of the wait for it.
// Counted by replacing the allocator and by a filter that traps every system call of the stepping thread.
#define _GNU_SOURCE
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base_message.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/sim.h"
#include "support/trapped_calls.h"
#include "unit/port/port_frame.h"

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
    "yoke: 1\ntime: {stop: 0.1, step: 1e-3, pace: {overrun: %s}}\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}, step: 2e-4}\n  right: {model: "
    "oscillator.mass, step: 5e-3, thread: own}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n"
    "safe: [{set: right.f, to: 0, over: 5e-3}]\n",
};
enum { N_SYSTEMS = sizeof systems / sizeof systems[0], OWN = 2 };
#ifdef __x86_64__
enum { N_TRAPPED = N_SYSTEMS };
#else
enum { N_TRAPPED = OWN };  // the registers of a call that is done again are known there only
#endif
static const char* const policies[] = {"continue", "hold", "skip", "catch-up"};

typedef struct job {
  sim s;
  yoke_pace* pace;
  yoke_loop_info info;
} job;

static void open_text(job* j, const char* text) {
  YOKE_CATCH(err);
  *j = (job){.s = sim_open("%s", text)};
  j->pace = yoke__pace_create(j->s.system->n_units, j->s.system->n_y);
  assert_non_null(j->pace);
  yoke__master_prepare_pace(j->s.system, 1, &yoke__pace_monotonic, j->pace);
  j->pace->limit = 1000;  // a busy machine does not end it
  const yoke_record_settings settings = {.formats = 0, .n_ring_rows = 1024};
  check_ok(yoke__record_open(&settings, j->s.system->columns, j->s.system->n_columns,
                             &j->s.state->record, &err.sink));
}

static void open_job(job* j, size_t system, size_t policy) {
  char text[1024];
  snprintf(text, sizeof text, systems[system], policies[policy]);
  open_text(j, text);
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
  for (size_t i = 0; i < N_SYSTEMS; i++) {
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

// beside sleeps, waits and wakes
static int n_others(void) {
  return n_system_calls - n_calls_of[SYS_clock_nanosleep] - n_calls_of[SYS_futex];
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
    _exit(status != YOKE_OK      ? 251
          : n_others() > 0       ? 252
          : n_system_calls > 240 ? 240
                                 : (int)n_system_calls);
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
  for (size_t i = 0; i < N_TRAPPED; i++) {
    for (size_t k = 0; k < 4; k++) {
      const int n = count_in_child(i, k);
      print_message("system %zu, %s: %d system calls in %d steps\n", i, policies[k], n, N_STEPS);
      // one per step at most, one at the end, and one per step of the safe action; late steps have none. Of the unit with a
      // thread of its own 20 steps begin, and each is waited for once or, where a wake of its start meets the wait, twice
      assert_in_range(n, 1, N_STEPS + 1 + 5 + (i == OWN ? 20 * 3 : 0));
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// a port

// Answers the first hello, then is silent.
static void* greet(void* argument) {
  const int at = *(const int*)argument;
  uint8_t bytes[YOKE_PORT_MAX_SIZE];
  struct sockaddr_storage from;
  socklen_t size = sizeof from;
  const ssize_t n = recvfrom(at, bytes, sizeof bytes, 0, (struct sockaddr*)&from, &size);
  yoke_port_frame frame;
  if (n > 0 && yoke__port_read(bytes, (size_t)n, &frame) == YOKE_PORT_OK) {
    const double outputs[3] = {0, 0, 0};  // x, v, E of a mass
    const yoke_port_frame answer = {.kind = YOKE_PORT_ANSWER,
                                    .session = frame.session,
                                    .sequence = frame.sequence,
                                    .signals = frame.signals,
                                    .values = (const uint8_t*)outputs,
                                    .size = sizeof outputs};
    const size_t length = yoke__port_write(&answer, bytes, sizeof bytes);
    (void)sendto(at, bytes, length, 0, (struct sockaddr*)&from, size);
  }
  return NULL;
}

static int open_peer(int* number) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof at;
  const int peer = socket(AF_INET, SOCK_DGRAM, 0);
  assert_true(peer >= 0 && bind(peer, (struct sockaddr*)&at, size) == 0);
  getsockname(peer, (struct sockaddr*)&at, &size);
  *number = ntohs(at.sin_port);
  return peer;
}

// What a run with a port did, as the exit status of a child can tell it.
enum {
  PORT_FINE = 42,
  PORT_NO_FILTER,
  PORT_BAD_END,
  PORT_HEAP,
  PORT_SENDS,
  PORT_RECEIVES,
  PORT_SLEEPS,
  PORT_OTHERS
};

static int run_port(void) {
  int number = 0, peer = open_peer(&number);
  pthread_t thread;
  pthread_create(&thread, NULL, greet, &peer);
  char text[1024];
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.1, step: 1e-3, pace: 1}\nunits:\n"
           "  left: {model: oscillator.force, start: {v: 1}}\n"
           "  right: {model: oscillator.mass, port: udp, peer: '127.0.0.1:%d', clock: paced, lost: "
           "1000000}\n"
           "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n",
           number);
  job j;
  open_text(&j, text);
  pthread_join(thread, NULL);
  if (!trap_system_calls()) {
    return PORT_NO_FILTER;
  }
  const long before = atomic_load(&n_heap_calls);
  const yoke_status status = run_job(&j);
  const long n_heap = atomic_load(&n_heap_calls) - before;
  const int n_sent = n_calls_of[SYS_sendto], n_received = n_calls_of[SYS_recvmmsg];
  const int n_slept = n_calls_of[SYS_clock_nanosleep];
  return status != YOKE_OK                                 ? PORT_BAD_END
         : n_heap != 0                                     ? PORT_HEAP
         : n_sent != N_STEPS                               ? PORT_SENDS
         : n_received != N_STEPS                           ? PORT_RECEIVES
         : n_slept > N_STEPS + 1                           ? PORT_SLEEPS
         : n_system_calls != n_sent + n_received + n_slept ? PORT_OTHERS
                                                           : PORT_FINE;
}

static void test_port_by_the_clock_B_26(void** state) {
  (void)state;
  if (!IS_HEAP_COUNTED) {
    skip();
  }
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    _exit(run_port());
  }
  int status = 0;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == PORT_NO_FILTER) {
    skip();
  }
  assert_int_equal(WEXITSTATUS(status), PORT_FINE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_heap_call_B_26),
      cmocka_unit_test(test_one_system_call_per_step_B_26),
      cmocka_unit_test(test_port_by_the_clock_B_26),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
