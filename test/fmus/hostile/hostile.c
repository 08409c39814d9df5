// Turns against the process that it lives in: `what` happens in the step that holds the time `at`, or, if `where` says so,
// elsewhere. Parameters are not known yet when the FMU is instantiated: for that the instance's name says what to do, as in
// "instantiate_crash"; while the library is loaded, the environment variable YOKE_HOSTILE_LOAD. Until then y counts the steps.
#define _GNU_SOURCE
#undef NDEBUG
#include "skeleton.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

typedef struct values {
  double u, y;
  double at;
  fmu_text what, where;
} values;

static const fmu_variable variables[] = {
    {1, REAL, INPUT, offsetof(values, u), 1},     {2, REAL, READ, offsetof(values, y), 1},
    {3, REAL, START, offsetof(values, at), 1},    {4, TEXT, START, offsetof(values, what), 1},
    {5, TEXT, START, offsetof(values, where), 1},
};

// ---- what no compiler may see through

static int* volatile nowhere;
static void (*volatile no_function)(void);
static volatile int zero;
static char* volatile block;
static char* volatile next_block;

static void crash(void) {
  *nowhere = 1;
}

static void write_constant(void) {
  static const char text[] = "constant";
  // NOLINTNEXTLINE(performance-no-int-to-ptr): only so the constant can be written
  char* volatile to = (char*)(uintptr_t)text;
  to[0] = 'k';
}

static void jump_nowhere(void) {
  no_function();
}

static void divide(void) {
#if defined(__x86_64__) || defined(__i386__)
  zero = 1 / zero;
#endif
  (void)raise(SIGFPE);
}

// a page behind the end of its file
static void read_behind_file(void) {
  const int file = memfd_create("hostile", 0);
  volatile unsigned char* page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
  zero = page[0];
}

// NOLINTNEXTLINE(misc-no-recursion): it is to overflow the stack
static int deeper(const volatile char* above) {
  volatile char room[4096];
  room[0] = (char)(above[0] + 1);
  return zero == 0 ? deeper(room) + room[0] : 0;
}

static void overflow_stack(void) {
  volatile char first = 0;
  zero = deeper(&first);
}

static void free_twice(void) {
  block = malloc(2000);
  next_block = block;
  free(block);
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): that is what is to happen
  free(next_block);
}

// what the allocator keeps behind a block is overwritten; it notices at a later request, while it holds its lock
static void overwrite_heap(void) {
  block = malloc(100000);
  memset(block + 100000, 0x41, 64);
  for (int i = 0; i < 1000; i++) {
    next_block = malloc(100000);
  }
  abort();
}

static void* crash_thread(void* argument) {
  (void)argument;
  crash();
  return NULL;
}

static void* exit_thread(void* argument) {
  (void)argument;
  exit(0);
}

static void start_thread(void* (*work)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) == 0) {
    (void)pthread_join(thread, NULL);
  }
}

static void* crash_later(void* argument) {
  (void)usleep(20000);
  return crash_thread(argument);
}

// between two calls, or in a call of somebody else
static void start_late_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, crash_later, NULL) == 0) {
    (void)pthread_detach(thread);
  }
}

static void let_timer_run_out(void) {
  const struct itimerval soon = {.it_value = {.tv_usec = 1000}};
  (void)setitimer(ITIMER_REAL, &soon, NULL);
  for (;;) {
    (void)usleep(1000);
  }
}

static void hang(void) {
  for (;;) {
    (void)sleep(1);
  }
}

static void spin(void) {
  while (zero == 0) {
  }
}

static void block_all(void) {
  sigset_t all;
  sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void ignore(int number) {
  (void)number;
}

static void set_all(void (*handler)(int)) {
  for (int i = 1; i < 32; i++) {
    (void)signal(i, handler);
  }
}

// a process that leaves group, session and parent behind, with all descriptors that it finds
static void detach(void) {
  if (fork() == 0) {
    (void)setsid();
    if (fork() != 0) {
      _exit(0);
    }
    (void)setpgid(0, 0);
    hang();
  }
  (void)usleep(20000);
}

// the same with a program
static void detach_program(void) {
  if (fork() == 0) {
    (void)setsid();
    if (fork() != 0) {
      _exit(0);
    }
    (void)execl("/bin/sleep", "sleep", "987", (char*)NULL);
    _exit(1);
  }
  (void)usleep(20000);
}

static void limit_files(void) {
  const struct rlimit none = {0, 0};
  (void)setrlimit(RLIMIT_FSIZE, &none);
}

static void close_all(void) {
  for (int i = 3; i < 1024; i++) {
    (void)close(i);
  }
}

static void take_memory(void) {
  for (;;) {
    block = malloc(1 << 20);
    memset(block, 1, 1 << 20);  // without a look whether it was given
  }
}

// ---- by name

static void exit_0(void) {
  exit(0);
}
static void exit_3(void) {
  exit(3);
}
static void underscore_exit(void) {
  _exit(0);
}
static void capital_exit(void) {
  _Exit(0);
}
static void quick(void) {
  quick_exit(0);
}
static void end_thread(void) {
  pthread_exit(NULL);
}
static void raw_exit(void) {
  (void)syscall(SYS_exit_group, 0);
}
static void trap(void) {
  (void)raise(SIGTRAP);
}
static void no_call(void) {
  (void)raise(SIGSYS);
}
static void user_signal(void) {
  (void)raise(SIGUSR1);
}
static void illegal(void) {
  __builtin_trap();
}
static void assertion(void) {
  assert(zero == 1);
}
static void thread_crashes(void) {
  start_thread(crash_thread);
}
static void thread_exits(void) {
  start_thread(exit_thread);
}
static void kill_own(void) {
  (void)kill(getpid(), SIGKILL);
}
static void default_and_crash(void) {
  set_all(SIG_DFL);
}
static void print_and_exit(void) {
  (void)printf("hostile: a line without an end");
  exit(1);
}
static void crash_while_printing(void) {
  flockfile(stdout);
  flockfile(stderr);
  crash();
}
static void take_handlers(void) {
  set_all(ignore);
}
static void ignore_all(void) {
  set_all(SIG_IGN);
}
static void no_rights(void) {
  (void)umask(0777);
}
static void crash_at_exit(void) {
  (void)atexit(crash);
}

static const struct {
  const char* name;
  void (*act)(void);
} acts[] = {
    {"crash", crash},
    {"write-constant", write_constant},
    {"jump", jump_nowhere},
    {"divide", divide},
    {"bus", read_behind_file},
    {"illegal", illegal},
    {"abort", abort},
    {"assert", assertion},
    {"stack", overflow_stack},
    {"free-twice", free_twice},
    {"heap", overwrite_heap},
    {"trap", trap},
    {"sys", no_call},
    {"user-signal", user_signal},
    {"timer", let_timer_run_out},
    {"exit-0", exit_0},
    {"exit-3", exit_3},
    {"_exit", underscore_exit},
    {"_Exit", capital_exit},
    {"quick-exit", quick},
    {"pthread-exit", end_thread},
    {"raw-exit", raw_exit},
    {"print-exit", print_and_exit},
    {"print-crash", crash_while_printing},
    {"thread-crash", thread_crashes},
    {"thread-exit", thread_exits},
    {"late-thread", start_late_thread},
    {"kill", kill_own},
    {"hang", hang},
    {"spin", spin},
    {"memory", take_memory},
    {"detach", detach},
    {"detach-program", detach_program},
    {"files", limit_files},
    {"close", close_all},
    {"handlers", take_handlers},
    {"ignore", ignore_all},
    {"default", default_and_crash},
    {"mask", block_all},
    {"umask", no_rights},
    {"at-exit", crash_at_exit},
};

static int misbehave(fmu* m, const char* what) {
  if (strcmp(what, "error") == 0) {
    fmu_log(m, FMU_ERROR, "logStatusError", "told to fail");
    return FMU_ERROR;
  }
  if (strcmp(what, "fatal") == 0) {
    return FMU_FATAL;
  }
  if (strcmp(what, "pending") == 0) {
    m->n_pending = 1 << 30;
    return FMU_PENDING;
  }
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
    if (strcmp(what, acts[i].name) == 0) {
      acts[i].act();
    }
  }
  return FMU_OK;
}

// "default+crash": the first part during initialisation, the rest where `where` says
static const char* later_part(const char* what) {
  const char* plus = strchr(what, '+');
  return plus == NULL ? what : plus + 1;
}

static bool is_where(const fmu* m, const char* where) {
  return strcmp(((const values*)m->values)->where.at, where) == 0;
}

static int act(fmu* m) {
  return misbehave(m, later_part(((const values*)m->values)->what.at));
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  (void)result;
  int status = FMU_OK;
  const bool is_time = v->at >= t - 0.5e-6 * h && v->at < t + h * (1.0 - 0.5e-6);
  if ((is_where(m, "step") && is_time) || (is_where(m, "steps") && t >= v->at)) {
    status = act(m);
  }
  v->y += 1.0;
  return status;
}

static void outputs(fmu* m) {
  const values* v = m->values;
  if (is_where(m, "get") && m->time > v->at && m->mode == STEP) {
    (void)act(m);
  }
}

static int initialise(fmu* m) {
  const values* v = m->values;
  char first[sizeof v->what.at];
  const size_t n = strcspn(v->what.at, "+");
  if (v->what.at[n] == '+') {
    memcpy(first, v->what.at, n);
    first[n] = '\0';
    (void)misbehave(m, first);
  }
  return is_where(m, "initialise") ? act(m) : FMU_OK;
}

static int instantiate(fmu* m) {
  const char* told = strstr(m->name, "instantiate_");
  return told == NULL ? FMU_OK : misbehave(m, told + strlen("instantiate_"));
}

static void terminate(fmu* m) {
  if (is_where(m, "terminate")) {
    (void)act(m);
  }
}

static void release(fmu* m) {
  if (is_where(m, "free")) {
    (void)act(m);
  }
}

__attribute__((constructor)) static void load(void) {
  const char* what = getenv("YOKE_HOSTILE_LOAD");
  for (size_t i = 0; what != NULL && i < sizeof acts / sizeof *acts; i++) {
    if (strcmp(what, acts[i].name) == 0) {
      acts[i].act();
    }
  }
}

static void start(fmu* m) {
  values* v = m->values;
  v->at = 0.5;
  (void)snprintf(v->what.at, sizeof v->what.at, "none");
  (void)snprintf(v->where.at, sizeof v->where.at, "step");
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-hostile",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .instantiate = instantiate,
    .initialise = initialise,
    .outputs = outputs,
    .step = step,
    .terminate = terminate,
    .free = release,
};
