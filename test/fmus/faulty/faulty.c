// Misbehaves as it is told: `what` happens in the step that holds the time `at`, or, if `where` says so, elsewhere.
// Parameters are not known yet when the FMU is instantiated: for that the instance's name says what to do, as in
// "instantiate_crash". Until then y counts the steps, z is the input.
#define _POSIX_C_SOURCE 200809L
#include "skeleton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum what {
  NONE,
  DISCARDS,
  FAILS,
  DIES,
  WARNS,
  PENDS,
  CRASHES,
  ABORTS,
  HANGS,
  LEAKS,
  GIVES_NAN,
  IS_LATE,
  LOGS,
  GIVES_NULL,
  EXITS,
  ALLOCATES,
  ENDS,
  N_WHAT,
};
static const char* const words[N_WHAT] = {
    "none", "discard", "error",     "fatal", "warning",     "pending", "crash",     "abort", "hang",
    "leak", "nan",     "late-time", "log",   "null-string", "exit",    "allocates", "end"};
enum where { IN_STEP, IN_INITIALISE, IN_TERMINATE, IN_FREE, IN_GET };
enum { LEAK = 65536 };

typedef struct values {
  double u, y, z;
  double at, max_step;
  int64_t what, where;
  int32_t n_steps;
  fmu_text text;
} values;

static const fmu_variable variables[] = {
    {1, REAL, INPUT, offsetof(values, u), 1},        {2, REAL, READ, offsetof(values, y), 1},
    {3, REAL, READ, offsetof(values, z), 1},         {4, TEXT, READ, offsetof(values, text), 1},
    {5, INT32, READ, offsetof(values, n_steps), 1},  {6, REAL, START, offsetof(values, at), 1},
    {7, ENUM, START, offsetof(values, what), 1},     {8, ENUM, START, offsetof(values, where), 1},
    {9, REAL, START, offsetof(values, max_step), 1},
};

// NULL, but no compiler may rely on it
static int* volatile nowhere;
static char* volatile newest_block;

static void crash(void) {
  *nowhere = 1;
}

// 1000 s, in short sleeps.
static void hang(void) {
  for (int i = 0; i < 1000; i++) {
    (void)sleep(1);
  }
}

static void take_memory(bool is_kept) {
  char* block = malloc(LEAK);
  if (block != NULL) {
    memset(block, 1, LEAK);
    newest_block = block;
    if (!is_kept) {
      newest_block = NULL;
      free(block);
    }
  }
}

// Status that follows; what stays for the outputs is done there.
static int misbehave(fmu* m, int64_t what) {
  switch (what) {
  case DISCARDS:
  case ENDS:
    return FMU_DISCARD;
  case FAILS:
    fmu_log(m, FMU_ERROR, "logStatusError", "told to fail at %g s", m->time);
    return FMU_ERROR;
  case DIES:
    fmu_log(m, FMU_FATAL, "logStatusFatal", "told to die at %g s", m->time);
    return FMU_FATAL;
  case WARNS:
    fmu_log(m, FMU_WARNING, "logStatusWarning", "told to warn at %g s", m->time);
    return FMU_WARNING;
  case PENDS:
    return FMU_PENDING;
  case CRASHES:
    crash();
    return FMU_OK;
  case ABORTS:
    abort();
  case HANGS:
    hang();
    return FMU_OK;
  case EXITS:
    exit(3);
  case LOGS:
    fmu_log_oddly(m);
    return FMU_OK;
  default:
    return FMU_OK;
  }
}

static bool is_time(const values* v, double t, double h) {
  // half a step of room for round-off at its beginning
  return v->at >= t - 0.5 * h * 1e-6 && v->at < t + h * (1.0 - 0.5e-6);
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  int status = FMU_OK;
  if (v->what == LEAKS || v->what == ALLOCATES) {
    take_memory(v->what == LEAKS);
  }
  if (v->where == IN_STEP && is_time(v, t, h) &&
      !(v->what == DISCARDS && v->max_step > 0.0 && h <= v->max_step)) {
    status = misbehave(m, v->what);
    if (v->what == ENDS) {
      result->is_end_wanted = true;
      status = fmu_version == 2 ? FMU_DISCARD : FMU_OK;
    }
  }
  if (status == FMU_DISCARD) {
    result->t = t;
    return status;
  }
  if (v->what == IS_LATE && t + h > v->at) {
    // from then on the time it tells is not the time it was asked for
    m->clock_error = -0.5 * h;
  }
  v->n_steps++;
  return status;
}

static const char* word(int64_t what) {
  return what >= 0 && what < N_WHAT ? words[what] : "unknown";
}

static void outputs(fmu* m) {
  values* v = m->values;
  const bool is_after = m->time > v->at;
  if (v->where == IN_GET && is_after && m->mode == STEP) {
    (void)misbehave(m, v->what);
  }
  v->y = is_after && v->what == GIVES_NAN ? nan("") : (double)v->n_steps;
  v->z = v->u;
  (void)snprintf(v->text.at, sizeof v->text.at, "%s",
                 is_after && v->what == GIVES_NULL ? "\1" : word(v->what));
}

static int initialise(fmu* m) {
  const values* v = m->values;
  if (v->what < 0 || v->what >= N_WHAT) {
    fmu_log(m, FMU_ERROR, "logStatusError", "what = %d is not known", (int)v->what);
    return FMU_ERROR;
  }
  return v->where == IN_INITIALISE ? misbehave(m, v->what) : FMU_OK;
}

static int instantiate(fmu* m) {
  const char* told = strstr(m->name, "instantiate_");
  for (int i = 0; told != NULL && i < N_WHAT; i++) {
    if (strcmp(told + strlen("instantiate_"), words[i]) == 0) {
      return misbehave(m, i);
    }
  }
  return FMU_OK;
}

static void terminate(fmu* m) {
  const values* v = m->values;
  if (v->where == IN_TERMINATE) {
    (void)misbehave(m, v->what);
  }
}

static void release(fmu* m) {
  const values* v = m->values;
  if (v->where == IN_FREE) {
    (void)misbehave(m, v->what);
  }
}

static void start(fmu* m) {
  ((values*)m->values)->at = 0.5;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-faulty",
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
