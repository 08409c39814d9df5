// Crashes and ends of the process in foreign code: noted with unit, operation and time, handed to the watching thread; and
// what a process has started is found wherever it went. Each case lives in a process of its own.
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base_call.h"
#include "base/base_crash.h"
#include "base/base_family.h"
#include "base/base_os.h"
#include "base/base_process.h"
#include "support/check.h"

enum { GOOD = 41, BAD_NAME, BAD_REASON, RETURNED, INSISTED };

static int expected_signal;
static const char* expected_function;

static void crashed(const yoke_crash* crash) {
  const bool is_named = strcmp(crash->unit, "pump") == 0 && crash->operation != NULL &&
                        strcmp(crash->operation, "step") == 0 && crash->t == 0.25;
  const bool is_reason = crash->signal_number == expected_signal &&
                         (expected_signal != 0 || strcmp(crash->function, expected_function) == 0);
  yoke__crash_end(!is_named ? BAD_NAME : !is_reason ? BAD_REASON : GOOD);
}

static void insisted(int number) {
  yoke__crash_end(number == SIGTERM ? INSISTED : BAD_REASON);
}

static const yoke_crash_hooks hooks = {.crashed = crashed, .insisted = insisted};

typedef struct trial {
  const char* name;
  void (*act)(void);
  int signal_number;
  const char* function;
  bool is_in_thread;
} trial;

static void fault(void) {
  raise(SIGSEGV);
}
static void give_up(void) {
  abort();
}
static void leave(void) {
  exit(0);
}
static void leave_thread(void) {
  pthread_exit(NULL);
}

static void act_named(void* context) {
  const trial* t = context;
  yoke_call* call = yoke__call_here();
  yoke__call_prepare(call, "step", 0.25);
  yoke__call_name(call, "pump");
  t->act();
  yoke__call_name(call, NULL);
}

static int end_of(const trial* t) {
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    expected_signal = t->signal_number;
    expected_function = t->function;
    yoke_thread* thread = NULL;
    trial copy = *t;
    // the test program has handlers of its own
    signal(SIGSEGV, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    if (yoke__crash_watch(&hooks) < 0) {
      _exit(RETURNED);
    }
    if (!t->is_in_thread) {
      act_named(&copy);
    } else if (yoke__os_thread_start(act_named, &copy, &thread) >= 0) {
      yoke__os_thread_join(&thread);
    }
    yoke__os_sleep_ns(2000000000);
    _exit(RETURNED);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_ends(void** state) {
  (void)state;
  static const trial trials[] = {
      {"fault", fault, SIGSEGV, NULL, false},
      {"fault in a worker", fault, SIGSEGV, NULL, true},
      {"abort", give_up, SIGABRT, NULL, false},
      {"exit", leave, 0, "exit", false},
      {"exit in a worker", leave, 0, "exit", true},
      {"pthread_exit in a worker", leave_thread, 0, "pthread_exit", true},
  };
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    if (YOKE_HAS_SANITIZER && trials[i].signal_number != 0) {
      continue;
    }
    const int end = end_of(&trials[i]);
    if (end != GOOD) {
      fail_msg("%s: ended with %d", trials[i].name, end);
    }
  }
}

// Waits for a condition that another thread brings about.
static bool wait_until(bool (*is_so)(void)) {
  for (int i = 0; i < 2000 && !is_so(); i++) {
    yoke__os_sleep_ns(5000000);
  }
  return is_so();
}

// A signal arrives although its handler was taken away, and the mask and the handlers come back.
static int interrupted_child(void) {
  if (yoke__crash_watch(&hooks) < 0) {
    return 1;
  }
  yoke__os_catch_interrupt();
  sigset_t all, now;
  sigfillset(&all);
  signal(SIGTERM, SIG_IGN);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  kill(getpid(), SIGTERM);
  if (!wait_until(yoke__os_is_interrupted)) {
    return 2;
  }
  yoke__crash_restore();
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  struct sigaction action;
  sigaction(SIGTERM, NULL, &action);
  if (sigismember(&now, SIGUSR1) != 0 || action.sa_handler == SIG_IGN) {
    return 3;
  }
  kill(getpid(), SIGTERM);
  yoke__os_sleep_ns(10000000000);
  return 4;
}

static void test_interrupt(void** state) {
  (void)state;
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    _exit(interrupted_child());
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), INSISTED);
}

static void complete_slowly(int number) {
  (void)number;
  yoke__os_sleep_ns(500000000);
  yoke__crash_end(INSISTED);
}

static void never_complete(int number) {
  (void)number;
  for (;;) {
    yoke__os_sleep_ns(1000000000);
  }
}

// Four signals one after another, to a process that ends by `on_second`; how it ended, as waitpid says.
static int end_of_insisted(void (*on_second)(int)) {
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const yoke_crash_hooks own = {.crashed = crashed, .insisted = on_second};
    if (yoke__crash_watch(&own) < 0) {
      _exit(RETURNED);
    }
    yoke__os_catch_interrupt();
    kill(getpid(), SIGTERM);
    (void)wait_until(yoke__os_is_interrupted);
    for (int i = 0; i < 3; i++) {
      kill(getpid(), SIGTERM);
      yoke__os_sleep_ns(50000000);
    }
    yoke__os_sleep_ns(30000000000);
    _exit(RETURNED);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

// A third signal does not keep the second one from completing the results; should that hang, it ends the process after 2 s.
static void test_third(void** state) {
  (void)state;
  const int slow = end_of_insisted(complete_slowly);
  assert_true(WIFEXITED(slow));
  assert_int_equal(WEXITSTATUS(slow), INSISTED);
  const int64_t begin = yoke__os_now_ns();
  const int stuck = end_of_insisted(never_complete);
  assert_true(WIFSIGNALED(stuck));
  assert_int_equal(WTERMSIG(stuck), SIGTERM);
  assert_true(yoke__os_now_ns() - begin >= 1900000000);
}

// Without a watch the library notes calls and touches nothing.
static void test_no_watch(void** state) {
  (void)state;
  struct sigaction before, after;
  sigaction(SIGBUS, NULL, &before);
  assert_false(yoke__crash_is_watched());
  yoke__crash_restore();
  yoke__crash_enter_thread();
  yoke__crash_leave_thread();
  yoke__crash_exit_called("exit", 0);
  assert_false(yoke__crash_keeps_handler(SIGINT, true));
  sigaction(SIGBUS, NULL, &after);
  assert_true(before.sa_handler == after.sa_handler);
  const yoke_call_scope outer = yoke__call_begin_at("a", "step", 1);
  const yoke_call_scope inner = yoke__call_begin("b", "reading of outputs");
  assert_string_equal(atomic_load(&yoke__call_here()->unit), "b");
  yoke__call_end(&inner);
  assert_string_equal(atomic_load(&yoke__call_here()->unit), "a");
  assert_string_equal(atomic_load(&yoke__call_here()->operation), "step");
  yoke__call_end(&outer);
  assert_null(atomic_load(&yoke__call_here()->unit));
}

static void test_words(void** state) {
  (void)state;
  char text[128];
  const yoke_crash crash = {.signal_number = SIGSEGV, .operation = "step"};
  yoke__crash_text(&crash, text, sizeof text);
  assert_string_equal(text, "crashed with signal 11 (segmentation fault) during step");
  const yoke_crash end = {.function = "exit", .exit_status = 0};
  yoke__crash_text(&end, text, sizeof text);
  assert_string_equal(text, "called exit(0)");
}

static void* sleep_on(void* none) {
  sleep(60);
  return none;
}

// A grandchild in another session is ended; a process that is no relative is not. The process between them is gone, or only
// its first thread is.
static void check_family(bool is_thread_left) {
  if (prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) != 0) {
    print_message("skipped: adopted processes, which the emulator does not know\n");
    return;
  }
  fflush(NULL);
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t stranger = fork();
  if (stranger == 0) {
    sleep(60);
    _exit(0);
  }
  const pid_t root = fork();
  if (root == 0) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (fork() == 0) {
      setsid();
      if (fork() != 0) {
        pthread_t thread;
        if (is_thread_left && pthread_create(&thread, NULL, sleep_on, NULL) == 0) {
          pthread_exit(NULL);
        }
        _exit(0);
      }
      const pid_t own = getpid();
      _exit(write(ends[1], &own, sizeof own) == sizeof own && sleep(60) == 0);
    }
    wait(NULL);
    sleep(60);
    _exit(0);
  }
  assert_true(stranger > 0 && root > 0);
  pid_t distant = 0;
  assert_int_equal(read(ends[0], &distant, sizeof distant), sizeof distant);
  close(ends[0]);
  close(ends[1]);
  yoke__family_end(root, NULL, 0);
  assert_int_equal(kill(root, 0), 0);
  assert_int_equal(kill(stranger, 0), 0);
  assert_true(yoke__family_start_time(root) > 0);
  // ended, if not yet waited for; on a busy machine that may take a while
  for (int i = 0; i < 3000 && yoke__family_start_time(distant) != 0; i++) {
    usleep(10000);
  }
  assert_true(yoke__family_start_time(distant) == 0);
  kill(root, SIGKILL);
  kill(stranger, SIGKILL);
  waitpid(root, NULL, 0);
  waitpid(stranger, NULL, 0);
  assert_true(yoke__family_start_time(root) == 0);
}

static void test_family(void** state) {
  (void)state;
  check_family(false);
}

static void test_family_of_a_thread(void** state) {
  (void)state;
  check_family(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_watch),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_ends),
      cmocka_unit_test(test_interrupt),
      cmocka_unit_test(test_third),
      cmocka_unit_test(test_family),
      cmocka_unit_test(test_family_of_a_thread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
