// Handlers, the watching thread, and what a crashed thread leaves behind.
//
// A handler runs on a stack of its own, does nothing but plain stores and system calls, and never returns: what foreign code
// left half done is not touched again. The watching thread has its own part of the heap, so that a crash inside malloc does
// not stop it. If it cannot finish all the same, the crashed thread ends the process after a while.
#define _GNU_SOURCE
#include "base/base_crash.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/base_call.h"
#include "base/base_check.h"
#include "base/base_os.h"
#include "base/base_process.h"

#define TICK_NS      100000000  // between two looks at the handlers
#define N_WAITING    10         // ticks after an interrupt
#define STACK_SIZE   65536u     // of a handler; frames of wide registers take some 4 kB
#define FINISH_S     20         // that the watching thread has to complete the results
#define INSIST_MS    2000  // the same after a second interrupt, before a further one ends the process
#define NEAR_STACK   262144  // a fault that near to the stack pointer is one of the stack
#define STATUS_CRASH 1

// signals of faults, which a thread must not block; then those that end a process by default and that nobody sends us
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
static const int others[] = {SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGUSR1, SIGUSR2};
static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};

static struct {
  yoke_crash_hooks hooks;
  int pid;            // of the process that is watched: those that it forks are not
  int thread;         // that watches
  atomic_int heeds;   // the thread that gets interrupts
  int wake;           // signal that wakes it
  sigset_t awaited;   // by the watching thread
  sigset_t outside;   // interrupts that were not ignored at the start
  pthread_key_t key;  // its destructor runs when a thread ends
} watch;
static atomic_bool is_watching, is_exit_watched;
static atomic_bool is_caught, is_interrupted, is_ending;
static atomic_int stage;  // 0: all is well, 1: a crash is being noted, 2: it is noted
static yoke_crash crash;
static _Thread_local void* handler_stack;
static _Thread_local sigset_t own_mask;  // of this thread when it began

_Noreturn void yoke__crash_end(int status) {
  for (;;) {
    syscall(SYS_exit_group, status);
  }
}

static void sleep_ms(long ms) {
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

static bool is_watched_process(void) {
  return atomic_load(&is_watching) && (int)syscall(SYS_getpid) == watch.pid;
}

// ---- what happened

// Only the first thread goes on; the others, and those that come later, wait for the end.
static bool claim(void) {
  int well = 0;
  return atomic_compare_exchange_strong(&stage, &well, 1);
}

_Noreturn static void wait_for_end(void) {
  if ((int)syscall(SYS_gettid) == watch.thread) {
    yoke__crash_end(STATUS_CRASH);  // nobody else is left to complete anything
  }
  for (int i = 0; i < FINISH_S * 100; i++) {
    sleep_ms(10);
  }
  static const char text[] = "error: the results could not be completed\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  yoke__crash_end(STATUS_CRASH);
}

static void copy_name(const char* from) {
  size_t n = 0;
  for (; from != NULL && from[n] != '\0' && n + 1 < sizeof crash.unit; n++) {
    crash.unit[n] = from[n];
  }
  crash.unit[n] = '\0';
}

// A thread that foreign code started has no note.
static void note_place(void) {
  const yoke_call* call = yoke__call_here();
  crash.t = (double)NAN;
  if (atomic_load(&call->unit) != NULL) {
    copy_name(atomic_load(&call->unit));
    crash.operation = atomic_load(&call->operation);
    crash.t = call->t;
  }
}

_Noreturn static void hand_over(void) {
  atomic_store(&stage, 2);
  syscall(SYS_tgkill, watch.pid, watch.thread, watch.wake);
  wait_for_end();
}

// the stack pointer where it happened; 0: unknown
static uintptr_t stack_pointer(const void* context) {
  const ucontext_t* u = context;
#if defined(__x86_64__)
  return (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
  return (uintptr_t)u->uc_mcontext.sp;
#elif defined(__arm__)
  return (uintptr_t)u->uc_mcontext.arm_sp;
#else
  (void)u;
  return 0;
#endif
}

static uintptr_t code_address(const void* context) {
  const ucontext_t* u = context;
#if defined(__x86_64__)
  return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)u->uc_mcontext.pc;
#elif defined(__arm__)
  return (uintptr_t)u->uc_mcontext.arm_pc;
#else
  (void)u;
  return 0;
#endif
}

static bool is_of_stack(const siginfo_t* info, const void* context) {
  const uintptr_t at = (uintptr_t)info->si_addr, top = stack_pointer(context);
  return info->si_signo == SIGSEGV && top != 0 && at + NEAR_STACK > top && at < top + NEAR_STACK;
}

static void on_crash(int number, siginfo_t* info, void* context) {
  if (!is_watched_process()) {
    signal(number, SIG_DFL);  // a process that foreign code has forked
    raise(number);
    return;
  }
  if (!claim()) {
    wait_for_end();
  }
  crash.signal_number = number;
  crash.is_stack_overflow = is_of_stack(info, context);
  crash.code = code_address(context);
  crash.sender = info->si_code <= 0 && info->si_code != SI_TIMER && info->si_pid != watch.pid
                     ? (int)info->si_pid
                     : 0;
  note_place();
  hand_over();
}

void yoke__crash_exit_called(const char* function, int status) {
  if (!atomic_load(&is_exit_watched) || !is_watched_process()) {
    return;
  }
  if (!claim()) {
    wait_for_end();
  }
  crash.function = function;
  crash.exit_status = status;
  note_place();
  hand_over();
}

static void on_exit_called(int status, void* argument) {
  (void)argument;
  yoke__crash_exit_called("exit", status & 0xff);
}

void yoke__crash_exit_first(void) {
  static atomic_int
      n_registered;  // libraries register once; a long study opens files again and again
  if (is_watched_process() && atomic_fetch_add(&n_registered, 1) < 16) {
    on_exit(on_exit_called, NULL);
  }
}

static void on_quick_exit(void) {
  yoke__crash_exit_called("quick_exit", -1);
}

// a thread of ours ends in the middle of a call
static void on_thread_end(void* value) {
  (void)value;
  if (atomic_load(&yoke__call_here()->unit) != NULL) {
    yoke__crash_exit_called("pthread_exit", -1);
  }
}

// ---- handlers

// Foreign code has unblocked it: the watching thread gets it.
static void on_interrupt(int number) {
  const int code = errno;
  if (is_watched_process()) {
    syscall(SYS_tgkill, watch.pid, atomic_load(&watch.heeds), number);
  } else {
    signal(number, SIG_DFL);
    raise(number);
  }
  errno = code;
}

bool yoke__crash_keeps_handler(int number, bool is_none) {
  if (atomic_load(&yoke__call_here()->unit) == NULL || !is_watched_process()) {
    return false;
  }
  for (size_t i = 0; is_none && i < YOKE_COUNT(faults); i++) {
    if (faults[i] == number) {
      return true;
    }
  }
  return sigismember(&watch.outside, number) == 1;
}

static void set_crash_handler(int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

static bool is_default(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
}

// A handler of a run-time system (Java and others live on SIGSEGV) stays; none at all does not.
static void set_handlers(void) {
  for (size_t i = 0; !YOKE_HAS_SANITIZER && i < YOKE_COUNT(faults); i++) {
    if (is_default(faults[i])) {
      set_crash_handler(faults[i]);
    }
  }
  struct sigaction action, now;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < YOKE_COUNT(interrupts); i++) {
    const int number = interrupts[i];
    if (sigismember(&watch.outside, number) == 1 && sigaction(number, NULL, &now) == 0 &&
        now.sa_handler != on_interrupt) {
      sigaction(number, &action, NULL);
    }
  }
}

// ---- threads

void yoke__crash_enter_thread(void) {
  if (!atomic_load(&is_watching)) {
    return;
  }
  yoke__call_enter_thread();
  pthread_sigmask(SIG_SETMASK, NULL, &own_mask);
  pthread_setspecific(watch.key, &watch);
  if (YOKE_HAS_SANITIZER) {
    return;
  }
  void* bytes = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes != MAP_FAILED) {
    handler_stack = bytes;
    sigaltstack(&(stack_t){.ss_sp = bytes, .ss_size = STACK_SIZE}, NULL);
  }
}

void yoke__crash_leave_thread(void) {
  if (!atomic_load(&is_watching)) {
    return;
  }
  yoke__call_leave_thread();
  pthread_setspecific(watch.key, NULL);
  if (handler_stack != NULL) {
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    munmap(handler_stack, STACK_SIZE);
    handler_stack = NULL;
  }
}

// ---- the watching thread

// ends as if nobody had caught the signal
_Noreturn static void die_by(int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  signal(number, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &one, NULL);
  raise(number);
  yoke__crash_end(128 + number);
}

// Further interrupts change nothing while the results are completed; should that not come to its end, they do.
static void* await_third(void* argument) {
  int number = SIGTERM;
  (void)argument;
  atomic_store(&watch.heeds, (int)syscall(SYS_gettid));
  sleep_ms(INSIST_MS);
  sigwait(&watch.outside, &number);
  die_by(number);
}

// A thread of its own: the watching one is about to write files and to print, which may take for ever.
static void heed_third(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, await_third, NULL) == 0) {
    pthread_detach(thread);
    return;
  }
  for (size_t i = 0; i < YOKE_COUNT(interrupts); i++) {
    if (sigismember(&watch.outside, interrupts[i]) == 1) {
      signal(interrupts[i], SIG_DFL);
    }
  }
  pthread_sigmask(SIG_UNBLOCK, &watch.outside, NULL);
}

static void take_interrupt(int number) {
  if (!atomic_load(&is_caught)) {
    die_by(number);
  }
  if (!atomic_exchange(&is_interrupted, true)) {
    return;
  }
  heed_third();
  if (watch.hooks.insisted != NULL) {
    watch.hooks.insisted(number);
  }
  die_by(number);
}

static void* watch_signals(void* argument) {
  atomic_int* id = argument;
  free(malloc(64));  // its own part of the heap
  int n_ticks = 0;   // since the first interrupt
  atomic_store(id, (int)syscall(SYS_gettid));
  for (;;) {
    const struct timespec tick = {0, TICK_NS};
    siginfo_t info;
    const int number = sigtimedwait(&watch.awaited, &info, &tick);
    if (atomic_load(&stage) == 2) {
      atomic_store(&is_ending, true);
      watch.hooks.crashed(&crash);
      yoke__crash_end(STATUS_CRASH);
    }
    if (number > 0 && sigismember(&watch.outside, number) == 1) {
      take_interrupt(number);
    } else if (number < 0 && errno == EAGAIN) {
      set_handlers();
      n_ticks = atomic_load(&is_interrupted) ? n_ticks + 1 : 0;
      if (n_ticks == N_WAITING && watch.hooks.waiting != NULL) {
        watch.hooks.waiting();
      }
    }
  }
  return NULL;
}

static yoke_status start_thread(void) {
  // not of base_os: it lives as long as the process and waits for what the others block
  static atomic_int id;
  pthread_t thread;
  sigset_t all, old;
  sigfillset(&all);
  for (size_t i = 0; i < YOKE_COUNT(faults); i++) {
    sigdelset(&all, faults[i]);
  }
  pthread_sigmask(SIG_SETMASK, &all, &old);
  const int code = pthread_create(&thread, NULL, watch_signals, &id);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (code != 0) {
    return YOKE_NO_MEMORY;
  }
  pthread_detach(thread);
  while (atomic_load(&id) == 0) {
    sleep_ms(0);
  }
  watch.thread = atomic_load(&id);
  atomic_store(&watch.heeds, watch.thread);
  return YOKE_OK;
}

static bool is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == SIG_IGN;
}

yoke_status yoke__crash_watch(const yoke_crash_hooks* hooks) {
  watch.hooks = *hooks;
  watch.pid = (int)getpid();
  watch.wake = SIGRTMAX - 1;
  sigemptyset(&watch.outside);
  for (size_t i = 0; i < YOKE_COUNT(interrupts); i++) {
    if (!is_ignored(interrupts[i])) {
      sigaddset(&watch.outside, interrupts[i]);
    }
  }
  watch.awaited = watch.outside;
  sigaddset(&watch.awaited, watch.wake);
  if (pthread_key_create(&watch.key, on_thread_end) != 0) {
    return YOKE_NO_MEMORY;
  }
  pthread_sigmask(SIG_BLOCK, &watch.outside, NULL);
  YOKE_TRY(start_thread());
  atomic_store(&is_watching, true);
  atomic_store(&is_exit_watched, true);
  yoke__crash_enter_thread();
  for (size_t i = 0; !YOKE_HAS_SANITIZER && i < YOKE_COUNT(others); i++) {
    if (is_default(others[i]) && !is_ignored(others[i])) {
      set_crash_handler(others[i]);
    }
  }
  set_handlers();
  on_exit(on_exit_called, NULL);
  at_quick_exit(on_quick_exit);
  return YOKE_OK;
}

bool yoke__crash_is_watched(void) {
  return is_watched_process();
}

void yoke__crash_unwatch(void) {
  atomic_store(&is_exit_watched, false);
}

void yoke__crash_take_over(void) {
  atomic_store(&is_ending, true);
}

void yoke__crash_hold(void) {
  while (atomic_load(&is_ending) || atomic_load(&stage) != 0) {
    sleep_ms(10);
  }
}

void yoke__crash_restore(void) {
  if (is_watched_process()) {
    pthread_sigmask(SIG_SETMASK, &own_mask, NULL);
    set_handlers();
  }
}

void yoke__crash_catch_interrupt(void) {
  atomic_store(&is_interrupted, false);
  atomic_store(&is_caught, true);
}

bool yoke__crash_is_interrupted(void) {
  return atomic_load(&is_interrupted);
}

// ---- words

void yoke__crash_text(const yoke_crash* c, char* to, size_t size) {
  char how[128];
  if (c->signal_number == 0 && c->exit_status >= 0) {
    snprintf(how, sizeof how, "called %s(%d)", c->function, c->exit_status);
  } else if (c->signal_number == 0) {
    snprintf(how, sizeof how, "called %s", c->function);
  } else if (c->is_stack_overflow) {
    snprintf(how, sizeof how, "crashed with signal %d (stack overflow)", c->signal_number);
  } else {
    snprintf(how, sizeof how, "crashed with signal %d (%s)", c->signal_number,
             yoke__signal_text(c->signal_number));
  }
  char sender[48] = "";
  if (c->sender != 0) {
    snprintf(sender, sizeof sender, " sent by process %d", c->sender);
  }
  snprintf(to, size, "%s%s%s%s", how, sender, c->operation == NULL ? "" : " during ",
           c->operation == NULL ? "" : c->operation);
}
