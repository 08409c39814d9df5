// Model exchange with CVODE, which lives in a companion library of its own (fmu_cvode.h).
//
// Variable steps and order, tolerance instead of step size, roots of the indicators found by CVODE itself. The end of the
// unit's step is a stop time: running past it would integrate with inputs that are about to change. Whatever breaks the
// solution (an event, a jump or a new slope of an input, a restored state) starts CVODE anew at order 1. Without inputs it runs on
// from step to step, and its time counts from the last start.
#include "unit/fmu/fmu_cvode.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_status.h"
#include "unit/fmu/fmu_solver.h"

struct fmu_cvode {
  void* library;
  const yoke_cvode_api* api;
  void* solver;
  double t_origin;    // where CVODE's time is 0
  bool is_forgotten;  // must start anew
  yoke_caught why;    // CVODE's own words on a failure
};

// ---------------------------------------------------------------------------------------------------------
// what CVODE asks

// seen from CVODE, times count from its start; tau counts from the start of the unit's step
static double tau_of(const fmu_solver* s, double t) {
  return t - (s->t_step - s->cvode->t_origin);
}

// A refused or broken evaluation may be one that lies outside of the model: a shorter step may avoid it.
static int judge(const fmu* f, yoke_status status) {
  return status >= 0 ? 0 : f->phase == FMU_RUNNING ? 1 : -1;
}

static int right_side(void* self, double t, const double x[], double dx[]) {
  fmu* f = self;
  return judge(f, yoke__fmu_me_derivatives(f, tau_of(f->solver, t), x, dx));
}

// To FMI zero lies on the side of the negative numbers; to CVODE it lies on neither: an indicator that is zero where CVODE starts
// would be looked at only once it is something else, and its way up from zero would be missed.
#define BELOW (-1e-100)

static int roots(void* self, double t, const double x[], double z[]) {
  fmu* f = self;
  yoke_status status = yoke__fmu_me_put(f, tau_of(f->solver, t), x);
  status = status < 0 ? status : yoke__fmu_me_indicators(f, z);
  for (size_t i = 0; i < f->solver->n_z; i++) {
    z[i] = z[i] <= 0 && z[i] > BELOW ? BELOW : z[i];
  }
  return judge(f, status);
}

// ---------------------------------------------------------------------------------------------------------
// the companion

#define COMPANION "yoke-cvode.so"

// The first of the usual places that has it; $ORIGIN is where this code lies, the linker fills it in. *is_absent: none of
// them has such a file. A shortage says nothing about the file.
static yoke_status find_library(void** library, bool* is_absent, const yoke_sink* sink) {
  static const char* const places[] = {"$ORIGIN/" COMPANION, "$ORIGIN/../libexec/yoke/" COMPANION,
                                       "$ORIGIN/../../libexec/yoke/" COMPANION};
  const char* own = getenv("YOKE_CVODE");
  const bool has_own = own != NULL && own[0] != '\0';
  const size_t n = has_own ? 1 : sizeof places / sizeof places[0];
  const char* fault = NULL;
  for (size_t i = 0; i < n; i++) {
    errno = 0;
    *library = dlopen(has_own ? own : places[i], RTLD_NOW | RTLD_LOCAL);
    const int code = errno;
    const yoke_status status = yoke__status_of_errno(code);
    if (*library != NULL) {
      return YOKE_OK;
    }
    if (yoke__status_is_shortage(status)) {
      return yoke_fail(sink, status, "solver 'cvode' cannot be loaded: %s", yoke__errno_text(code));
    }
    // a file that is there but cannot be loaded says what it lacks; one that is not there has nothing to say
    const char* text = dlerror();
    const bool is_there = text != NULL && strstr(text, COMPANION ": cannot open") == NULL;
    fault = is_there || has_own ? text : fault;
  }
  *is_absent = fault == NULL;
  if (has_own) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "solver 'cvode': YOKE_CVODE leads nowhere: %s", fault);
  }
  return yoke_fail(
      sink, YOKE_BAD_INPUT,
      "solver 'cvode' needs " COMPANION ", which %s%s; it is built where SUNDIALS is installed "
      "(Debian package libsundials-dev)",
      fault == NULL ? "was not found beside the program or in libexec/yoke" : "cannot be loaded: ",
      fault == NULL ? "" : fault);
}

bool yoke__fmu_cvode_is_there(void) {
  YOKE_CATCH(why);
  void* library = NULL;
  bool is_absent = false;
  const bool is_there = find_library(&library, &is_absent, &why.sink) >= 0;
  if (is_there) {
    dlclose(library);
  }
  return is_there;
}

static yoke_status load(struct fmu_cvode* c, bool* is_absent, const yoke_sink* sink) {
  YOKE_TRY(find_library(&c->library, is_absent, sink));
  c->api = dlsym(c->library, YOKE_CVODE_SYMBOL);
  if (c->api == NULL || c->api->version != YOKE_CVODE_VERSION) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "solver 'cvode': " COMPANION " is of another version of Yoke");
  }
  return YOKE_OK;
}

yoke_status yoke__fmu_cvode_load(fmu* f, bool* is_absent, const yoke_sink* sink) {
  struct fmu_cvode* c = yoke__arena_take(&f->arena, sizeof *c);
  YOKE_TRY_MEMORY(c);
  c->why.sink = (yoke_sink){yoke__caught_receive, &c->why};
  c->is_forgotten = true;
  *is_absent = false;
  const yoke_status status = load(c, is_absent, sink);
  if (status < 0 && c->library != NULL) {
    dlclose(c->library);
  }
  f->solver->cvode = status < 0 ? NULL : c;
  return status;
}

yoke_status yoke__fmu_cvode_open(fmu* f, const yoke_sink* sink) {
  fmu_solver* s = f->solver;
  struct fmu_cvode* c = s->cvode;
  const yoke_cvode_problem problem = {
      .self = f,
      .n_x = s->n_x,
      .n_z = s->n_z,
      .rhs = right_side,
      .roots = roots,
      .tolerance = s->tolerance,
      .nominals = s->nominals,
  };
  const yoke_status status = c->api->open(&problem, &c->solver, &c->why.sink);
  return status < 0 ? yoke_fail(sink, status, "CVODE does not start: %s", c->why.text) : YOKE_OK;
}

void yoke__fmu_cvode_close(fmu* f) {
  struct fmu_cvode* c = f->solver->cvode;
  if (c == NULL) {
    return;
  }
  if (c->solver != NULL) {
    c->api->close(c->solver);
  }
  if (c->library != NULL) {
    dlclose(c->library);
  }
  f->solver->cvode = NULL;
}

void yoke__fmu_cvode_forget(fmu* f) {
  if (f->solver->cvode != NULL) {
    f->solver->cvode->is_forgotten = true;
  }
}

// ---------------------------------------------------------------------------------------------------------
// the step

// a failure of the FMU explains itself; else CVODE's words
static yoke_status fail(fmu* f) {
  const fmu_solver* s = f->solver;
  char own[400];
  snprintf(own, sizeof own, "%.390s", f->message);
  return yoke__fmu_me_fail(f, own[0] == '\0' ? YOKE_NO_CONVERGENCE : YOKE_UNIT_FAILED,
                           "CVODE gave up at t = %.15g s: %.150s%s%.300s", s->now->t_now,
                           s->cvode->why.text, own[0] == '\0' ? "" : "; ", own);
}

// from *tau to stop or to a root before it, through internal steps that the FMU hears of
static yoke_status run_to(fmu* f, double* tau, double stop, int64_t* n_steps, bool* is_event) {
  fmu_solver* s = f->solver;
  struct fmu_cvode* c = s->cvode;
  yoke_cvode_outcome outcome = YOKE_CVODE_STEP;
  f->message[0] = '\0';
  while (outcome == YOKE_CVODE_STEP && !*is_event && !s->now->is_over) {
    if (++*n_steps > FMU_MAX_INTERNAL) {
      return yoke__fmu_me_fail(f, YOKE_NO_CONVERGENCE,
                               "CVODE took more than %d internal steps in one step of %g s",
                               FMU_MAX_INTERNAL, s->h);
    }
    const double t_stop = (s->t_step - c->t_origin) + stop;
    double t = 0;
    outcome = c->api->advance(c->solver, t_stop, s->longest, &t, s->x, &c->why.sink);
    if (outcome == YOKE_CVODE_FAILED) {
      return fail(f);
    }
    *tau = outcome == YOKE_CVODE_STOP ? stop : tau_of(s, t);
    YOKE_TRY(yoke__fmu_me_put(f, *tau, s->x));
    YOKE_TRY(yoke__fmu_me_complete(f, is_event));
    YOKE_TRY(yoke__fmu_me_indicators(f, s->z));
    *is_event = *is_event || outcome == YOKE_CVODE_ROOT || yoke__fmu_me_is_crossed(s, s->z);
  }
  return YOKE_OK;
}

static yoke_status start(fmu* f, double tau) {
  fmu_solver* s = f->solver;
  struct fmu_cvode* c = s->cvode;
  c->t_origin = s->t_step;
  c->is_forgotten = false;
  return c->api->restart(c->solver, tau, s->x, &c->why.sink) < 0 ? fail(f) : YOKE_OK;
}

yoke_status yoke__fmu_me_run_cvode(fmu* f, double tau) {
  fmu_solver* s = f->solver;
  int64_t n_steps = 0;
  while (tau < s->h && !s->now->is_over) {
    double stop = s->h;
    bool is_due = yoke__fmu_me_find_stop(s, tau, s->h, &stop);
    bool is_event = false;
    const double planned = stop;
    // a rounding is no step for CVODE
    if (stop - tau > s->tolerance_s) {
      if (s->cvode->is_forgotten) {
        YOKE_TRY(start(f, tau));
      }
      YOKE_TRY(run_to(f, &tau, stop, &n_steps, &is_event));
    } else {
      tau = stop;
      YOKE_TRY(yoke__fmu_me_put(f, tau, s->x));
    }
    is_due = is_due && tau == planned;
    if (!s->now->is_over && (is_event || is_due)) {
      YOKE_TRY(yoke__fmu_me_event(f, is_due ? fmax(s->now->t_now, s->now->t_next) : s->now->t_now));
    }
  }
  return YOKE_OK;
}
