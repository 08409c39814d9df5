// Takes liberties with the process that it lives in: `what` is done in the first step,
// and what concerns the floating-point unit in every call. It computes right all the same: x' = -x by Euler steps.
#define _GNU_SOURCE
#include "skeleton.h"

#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum what { NONE, PRINTS, CLOSES_FILES, TAKES_SIGNALS, FORKS, MOVES, ROUNDS, TRAPS, SPEAKS };

typedef struct values {
  double u, x;
  int64_t what;
  bool is_done;
} values;

static const fmu_variable variables[] = {
    {1, REAL, INPUT, offsetof(values, u), 1},
    {2, REAL, READ, offsetof(values, x), 1},
    {3, ENUM, START, offsetof(values, what), 1},
};

static void ignore(int number) {
  (void)number;
}

static void print_all(void) {
  for (int i = 0; i < 1000; i++) {
    (void)printf("rude: line %d on standard output\n", i);
    (void)fprintf(stderr, "rude: line %d on standard error\n", i);
  }
  (void)fflush(stdout);
}

static void take_signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGSEGV, SIGCHLD, SIGALRM, SIGUSR1, SIGPIPE};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    (void)signal(numbers[i], ignore);
  }
}

// a child that ends at once, one that stays, and all children waited for that are there to wait for
static void fork_some(void) {
  const pid_t first = fork();
  if (first == 0) {
    _exit(0);
  }
  if (fork() == 0) {
    (void)sleep(600);
    _exit(0);
  }
  (void)waitpid(first, NULL, 0);
}

static void be_rude(fmu* m, int64_t what) {
  switch (what) {
  case PRINTS:
    print_all();
    break;
  case CLOSES_FILES:
    for (int i = 0; i < 3; i++) {
      (void)close(i);
    }
    break;
  case TAKES_SIGNALS:
    take_signals();
    break;
  case FORKS:
    fork_some();
    break;
  case MOVES:
    (void)!chdir("/");
    break;
  case SPEAKS:
    for (int i = 0; i < 5000; i++) {
      fmu_log(m, FMU_WARNING, "logStatusWarning", "message %d", i);
    }
    break;
  default:
    break;
  }
}

// what lasts until somebody restores it
static void spoil_numbers(int64_t what) {
  if (what == ROUNDS) {
    (void)fesetround(FE_UPWARD);
  } else if (what == TRAPS) {
    (void)feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  }
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  (void)t, (void)result;
  if (!v->is_done) {
    be_rude(m, v->what);
  }
  v->is_done = true;
  v->x += h * (v->u - v->x);
  spoil_numbers(v->what);
  return FMU_OK;
}

static int initialise(fmu* m) {
  spoil_numbers(((values*)m->values)->what);
  return FMU_OK;
}

static void outputs(fmu* m) {
  if (m->mode == STEP || m->mode == INITIALISATION) {
    spoil_numbers(((values*)m->values)->what);
  }
}

static void start(fmu* m) {
  ((values*)m->values)->x = 1.0;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-rude",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .initialise = initialise,
    .outputs = outputs,
    .step = step,
};
