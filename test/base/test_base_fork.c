// Copies made later from a quiet one: how they end is known, nothing outlives its maker, and busy threads do not matter.
#define _GNU_SOURCE
#include "base/base_fork.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "support/check.h"

enum { RETURN, CRASH, HANG, ALLOCATE };

// What copies tell, in memory that they share with this process.
typedef struct shared {
  _Atomic int copy, server;  // their processes
  _Atomic int n_done;
} shared;

static shared* share(yoke_shared* memory) {
  check_ok(yoke__shared_create(sizeof(shared), memory));
  return (shared*)(void*)memory->bytes;
}

// Blocks of all sizes, so that every lock of the heap is met.
static void allocate(void) {
  for (size_t size = 1; size < 100000; size = size * 3 / 2 + 1) {
    char* volatile block = malloc(size);
    free(block);
  }
}

static int work(const void* argument, int number, int parent) {
  shared* s = *(shared* const*)argument;
  atomic_store(&s->server, parent);
  atomic_store(&s->copy, yoke__process_id());
  if (number == CRASH) {
    raise(SIGKILL);
  }
  if (number == HANG) {
    for (;;) {
      pause();
    }
  }
  if (number == ALLOCATE) {
    allocate();
  }
  atomic_fetch_add(&s->n_done, 1);
  return 40 + number;
}

static bool is_gone(int process) {
  for (int i = 0; i < 2000; i++) {
    if (kill(process, 0) != 0 && errno == ESRCH) {
      return true;
    }
    yoke__os_sleep_ns(5000000);
  }
  return false;
}

static void await(yoke_fork_server* server, yoke_process* out) {
  while (!yoke__fork_server_wait(server, 20000000, out)) {
  }
}

static void await_number(_Atomic int* number) {
  while (atomic_load(number) == 0) {
    yoke__os_sleep_ns(1000000);
  }
}

static void test_ends_are_known(void** state) {
  (void)state;
  YOKE_CATCH(why);
  yoke_shared memory;
  shared* s = share(&memory);
  yoke_fork_server server;
  yoke_process ended;
  check_ok(yoke__fork_server_start(work, &s, &server, &why.sink));
  for (int k = 0; k < 3; k++) {
    check_ok(yoke__fork_server_run(&server, RETURN));
    await(&server, &ended);
    assert_true(ended.is_known && ended.is_ended);
    assert_int_equal(ended.exit_status, 40 + RETURN);
    assert_int_equal(ended.signal_number, 0);
    check_ok(yoke__fork_server_run(&server, CRASH));
    await(&server, &ended);
    assert_true(ended.is_known);
    assert_int_equal(ended.signal_number, SIGKILL);
  }
  assert_int_equal(atomic_load(&s->n_done), 3);
  assert_int_equal(atomic_load(&s->server), server.process.pid);
  yoke__fork_server_stop(&server);
  assert_true(is_gone(atomic_load(&s->server)));
  yoke__fork_server_stop(&server);  // twice is once
  yoke__shared_close(&memory);
}

static void test_stop_ends_a_copy_that_hangs(void** state) {
  (void)state;
  YOKE_CATCH(why);
  yoke_shared memory;
  shared* s = share(&memory);
  yoke_fork_server server;
  yoke_process ended;
  check_ok(yoke__fork_server_start(work, &s, &server, &why.sink));
  check_ok(yoke__fork_server_run(&server, HANG));
  await_number(&s->copy);
  assert_false(yoke__fork_server_wait(&server, 20000000, &ended));
  yoke__fork_server_stop(&server);
  // it was waited for: gone at once
  assert_true(kill(atomic_load(&s->copy), 0) != 0);
  yoke__shared_close(&memory);
}

static void test_server_killed(void** state) {
  (void)state;
  YOKE_CATCH(why);
  yoke_shared memory;
  shared* s = share(&memory);
  yoke_fork_server server;
  yoke_process ended;
  check_ok(yoke__fork_server_start(work, &s, &server, &why.sink));
  kill((pid_t)server.process.pid, SIGKILL);
  while (yoke__fork_server_run(&server, RETURN) >= 0 &&
         !yoke__fork_server_wait(&server, 20000000, &ended)) {
  }
  yoke__fork_server_stop(&server);
  assert_false(server.is_up);
  assert_int_equal(atomic_load(&s->n_done), 0);
  yoke__shared_close(&memory);
}

// A process that starts a server with a job that hangs, and ends without a word.
static int abandon(const void* argument) {
  YOKE_CATCH(why);
  yoke_fork_server server;
  shared* s = *(shared* const*)argument;
  if (yoke__fork_server_start(work, argument, &server, &why.sink) >= 0) {
    yoke__fork_server_run(&server, HANG);
    await_number(&s->copy);
  }
  return 0;
}

static void test_ends_with_its_client(void** state) {
  (void)state;
  YOKE_CATCH(why);
  yoke_shared memory;
  shared* s = share(&memory);
  yoke_process client;
  check_ok(yoke__process_fork(abandon, &s, &client, &why.sink));
  while (!yoke__process_wait(&client, 20000000)) {
  }
  assert_int_not_equal(atomic_load(&s->copy), 0);
  assert_true(is_gone(atomic_load(&s->server)));
  assert_true(is_gone(atomic_load(&s->copy)));
  yoke__shared_close(&memory);
}

static atomic_bool is_over;

static void hammer(void* argument) {
  (void)argument;
  while (!atomic_load(&is_over)) {
    allocate();
  }
}

// Threads of this process that allocate all the time leave no lock in copies of the server, which was made before them.
static void test_busy_threads(void** state) {
  (void)state;
  YOKE_CATCH(why);
  enum { N_THREADS = 3, N_JOBS = 200 };
  yoke_shared memory;
  shared* s = share(&memory);
  yoke_fork_server server;
  yoke_thread* threads[N_THREADS] = {0};
  check_ok(yoke__fork_server_start(work, &s, &server, &why.sink));
  for (size_t i = 0; i < N_THREADS; i++) {
    check_ok(yoke__os_thread_start(hammer, NULL, &threads[i]));
  }
  for (int k = 0; k < N_JOBS; k++) {
    yoke_process ended;
    check_ok(yoke__fork_server_run(&server, ALLOCATE));
    await(&server, &ended);
    assert_int_equal(ended.exit_status, 40 + ALLOCATE);
  }
  atomic_store(&is_over, true);
  for (size_t i = 0; i < N_THREADS; i++) {
    yoke__os_thread_join(&threads[i]);
  }
  assert_int_equal(atomic_load(&s->n_done), N_JOBS);
  yoke__fork_server_stop(&server);
  yoke__shared_close(&memory);
}

// What a program writes, cut where there is no more room; a program that hangs or cannot be started gives nothing.
static void test_output_is_read(void** state) {
  (void)state;
  static char shell[] = "/bin/sh", option[] = "-c";
  static char speaks[] = "echo one; echo two >&2; exit 3", hangs[] = "echo one; sleep 60";
  const int64_t second = INT64_C(1000000000);
  char text[16] = "x";
  char *argv[] = {shell, option, speaks, NULL}, *none[] = {NULL};
  assert_true(yoke__process_read(shell, argv, none, 60 * second, text, sizeof text));
  assert_string_equal(text, "one\n");
  assert_true(yoke__process_read(shell, argv, none, 60 * second, text, 3));
  assert_string_equal(text, "on");
  argv[2] = hangs;
  assert_false(yoke__process_read(shell, argv, none, second / 5, text, sizeof text));
  assert_true(yoke__process_read("/nowhere/program", argv, none, 60 * second, text, sizeof text));
  assert_string_equal(text, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ends_are_known), cmocka_unit_test(test_stop_ends_a_copy_that_hangs),
      cmocka_unit_test(test_server_killed),  cmocka_unit_test(test_ends_with_its_client),
      cmocka_unit_test(test_busy_threads),   cmocka_unit_test(test_output_is_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
