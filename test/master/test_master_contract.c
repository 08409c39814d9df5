// What the master promises a unit: the order of calls, one thread per unit, input derivatives, and
// what happens to everything that a step can report. A spy writes down each call.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <regex.h>

#include "master/master_run.h"
#include "support/check.h"
#include "support/sim.h"
#include "unit/unit_models.h"

// ---------------------------------------------------------------------------------------------------------
// the notebook

typedef struct entry {
  char unit[16];
  char call;  // see the table of operations
  pthread_t thread;
  double t, h;
  int order;
  double value[2];
} entry;

enum { MAX_ENTRIES = 20000 };

static struct {
  pthread_mutex_t lock;
  entry entries[MAX_ENTRIES];
  size_t n;
  int n_open;
  int n_raised;  // one-time flags raised so far
} notes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note(const char* unit, entry e) {
  pthread_mutex_lock(&notes.lock);
  snprintf(e.unit, sizeof e.unit, "%s", unit);
  e.thread = pthread_self();
  if (notes.n < MAX_ENTRIES) {
    notes.entries[notes.n++] = e;
  }
  pthread_mutex_unlock(&notes.lock);
}

static void forget(void) {
  notes.n = 0;
  notes.n_raised = 0;
  notes.n_open = 0;
}

// ---------------------------------------------------------------------------------------------------------
// the spy: y is a polynomial of time; something goes wrong in step `at`

enum trouble {
  NO_TROUBLE,
  DISCARD,
  EARLY,
  EVENT,
  EVENT_FAILS,
  EVENT_ENDS,
  END,
  END_ONCE,
  FAIL,
  FAIL_SILENTLY,
  DIVERGE,
  NEWS,
  NAN_OUTPUT,
  INF_OUTPUT,
  ENTER_FAILS,
  ENTER_FAILS_SILENTLY,
  EXIT_FAILS,
  CREATE_FAILS,
  NAN_AT_START,
  TYPED_FAILS,
  DERIVATIVES_FAIL,
  SET_INPUTS_FAILS,
};

static const char* const troubles[] = {
    "none",
    "discard",
    "early",
    "event",
    "event-fails",
    "event-ends",
    "end",
    "end-once",
    "fail",
    "fail-silently",
    "diverge",
    "news",
    "nan",
    "inf",
    "enter-fails",
    "enter-fails-silently",
    "exit-fails",
    "create-fails",
    "nan-at-start",
    "typed-fails",
    "derivatives-fail",
    "set-inputs-fails",
    NULL,
};

typedef struct spy {
  char name[16];
  double u[2];
  double y, y_more[2];
  int64_t whole, trouble, at, n;
  double c[4];
} spy;

enum { U, Y, Y_MORE, WHOLE, AT, C, X };

static const yoke_variable spy_variables[] = {
    [U] = {.name = "u",
           .causality = YOKE_INPUT,
           .flags = YOKE_VARIABLE_HAS_START,
           .n_rows = 2,
           .offset = offsetof(spy, u)},
    [Y] = {.name = "y", .causality = YOKE_OUTPUT, .offset = offsetof(spy, y)},
    [Y_MORE] = {.name = "more",
                .causality = YOKE_OUTPUT,
                .n_rows = 2,
                .offset = offsetof(spy, y_more)},
    [WHOLE] = {.name = "whole",
               .type = YOKE_INTEGER,
               .causality = YOKE_OUTPUT,
               .offset = offsetof(spy, whole)},
    [AT] = {.name = "at",
            .type = YOKE_INTEGER,
            .causality = YOKE_PARAMETER,
            .offset = offsetof(spy, at)},
    [C] = {.name = "c", .causality = YOKE_PARAMETER, .n_rows = 4, .offset = offsetof(spy, c)},
    [X] = {.name = "x", .causality = YOKE_STATE, .offset = offsetof(spy, y_more)},
};

static const yoke_variable spy_structure[] = {
    {.name = "trouble", .type = YOKE_ENUMERATION, .causality = YOKE_PARAMETER, .items = troubles},
};

static const yoke_unit_info spy_info = {
    .variables = spy_variables, .n_variables = 7, .image_size = sizeof(spy)};
static const yoke_unit_info rig_info = {.variables = spy_variables,
                                        .n_variables = 7,
                                        .flags = YOKE_UNIT_PHYSICAL,
                                        .image_size = sizeof(spy)};
static const yoke_feedthrough through[] = {{Y, U}};
static const yoke_unit_info through_info = {.variables = spy_variables,
                                            .n_variables = 7,
                                            .feedthrough = through,
                                            .n_feedthrough = 1,
                                            .flags = YOKE_UNIT_ALGEBRAIC,
                                            .image_size = sizeof(spy)};

static double polynomial(const spy* s, double t) {
  return s->c[0] + t * (s->c[1] + t * (s->c[2] + t * s->c[3]));
}

static yoke_status spy_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  note(args->name, (entry){.call = 'c'});
  const int64_t trouble =
      args->n_arguments > 0 ? *(const int64_t*)args->arguments[0].value : NO_TROUBLE;
  if (trouble == CREATE_FAILS) {
    return yoke_fail(sink, YOKE_UNIT_FAILED, "no licence");
  }
  spy* s = calloc(1, sizeof *s);
  if (s == NULL) {
    return YOKE_NO_MEMORY;
  }
  snprintf(s->name, sizeof s->name, "%s", args->name);
  s->trouble = trouble;
  pthread_mutex_lock(&notes.lock);
  notes.n_open++;
  pthread_mutex_unlock(&notes.lock);
  *self = s;
  return YOKE_OK;
}

static const yoke_unit_info* describe(const void* self, const yoke_unit_info* info) {
  note(((const spy*)self)->name, (entry){.call = 'd'});
  return info;
}
static const yoke_unit_info* spy_describe(const void* self) {
  return describe(self, &spy_info);
}
static const yoke_unit_info* rig_describe(const void* self) {
  return describe(self, &rig_info);
}
static const yoke_unit_info* through_describe(const void* self) {
  return describe(self, &through_info);
}

static yoke_status spy_set(void* self, size_t variable, const void* value, size_t size) {
  spy* s = self;
  note(s->name, (entry){.call = 's', .order = (int)variable});
  memcpy((char*)s + spy_variables[variable].offset, value, size);
  return YOKE_OK;
}

static yoke_status spy_get(const void* self, size_t variable, void* value, size_t size) {
  const spy* s = self;
  memcpy(value, (const char*)s + spy_variables[variable].offset, size);
  return s->trouble == TYPED_FAILS && variable == WHOLE && s->n == s->at ? YOKE_UNIT_FAILED
                                                                         : YOKE_OK;
}

static yoke_status spy_enter(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  const spy* s = self;
  note(s->name, (entry){.call = 'e', .t = t_start, .h = t_stop});
  if (s->trouble == ENTER_FAILS) {
    return yoke_fail(sink, YOKE_UNIT_FAILED, "the valve is stuck");
  }
  return s->trouble == ENTER_FAILS_SILENTLY ? YOKE_UNIT_FAILED : YOKE_OK;
}

static yoke_status spy_exit(void* self) {
  const spy* s = self;
  note(s->name, (entry){.call = 'x'});
  return s->trouble == EXIT_FAILS ? YOKE_SINGULAR : YOKE_OK;
}

static yoke_status spy_set_inputs(void* self, const double u[], size_t n_u) {
  spy* s = self;
  assert_int_equal(n_u, 2);
  note(s->name, (entry){.call = 'i', .value = {u[0], u[1]}});
  memcpy(s->u, u, sizeof s->u);
  return s->trouble == SET_INPUTS_FAILS && s->n == s->at ? YOKE_BAD_ARG : YOKE_OK;
}

static yoke_status spy_get_outputs(const void* self, double y[], size_t n_y) {
  const spy* s = self;
  assert_int_equal(n_y, 3);
  note(s->name, (entry){.call = 'g'});
  memcpy(y, &s->y, 3 * sizeof *y);
  return YOKE_OK;
}

static yoke_status spy_derivatives(void* self, int order, const double du[], size_t n_u) {
  const spy* s = self;
  assert_int_equal(n_u, 2);
  note(s->name, (entry){.call = 'D', .order = order, .value = {du[0], du[1]}});
  return s->trouble == DERIVATIVES_FAIL ? YOKE_BAD_ARG : YOKE_OK;
}

// what the step reports in the trouble that was asked for
static yoke_status spoil(spy* s, yoke_step_result* result) {
  switch (s->trouble) {
  case DISCARD:
    result->flags = YOKE_STEP_DISCARDED;
    result->message = "too long for me";
    break;
  case EARLY:
    result->flags = YOKE_STEP_EARLY_RETURN;
    result->t_reached = 0;
    break;
  case EVENT:
  case EVENT_FAILS:
  case EVENT_ENDS:
    result->flags = YOKE_STEP_EVENT_NEEDED;
    break;
  case END:
    result->flags = YOKE_STEP_END_WANTED;
    break;
  case END_ONCE:
    result->flags = notes.n_raised++ == 0 ? YOKE_STEP_END_WANTED : 0;
    break;
  case FAIL:
    result->message = "the belt broke";
    return YOKE_UNIT_FAILED;
  case FAIL_SILENTLY:
    return YOKE_NO_CONVERGENCE;
  case DIVERGE:
    s->y = (double)NAN;
    result->message = "lost the track";
    return YOKE_DIVERGED;
  case NEWS:
    return YOKE_LATE;
  case NAN_OUTPUT:
    s->y_more[1] = (double)NAN;
    break;
  case INF_OUTPUT:
    s->y = -(double)INFINITY;
    break;
  default:
    break;
  }
  return YOKE_OK;
}

static yoke_status spy_step(void* self, double t, double h, yoke_step_result* result) {
  spy* s = self;
  assert_true(result->flags == 0 && result->message == NULL && result->t_reached == t + h);
  note(s->name, (entry){.call = 'S', .t = t, .h = h, .value = {s->u[0], s->u[1]}});
  s->n++;
  s->whole = s->n;
  s->y = polynomial(s, t + h);
  return s->n == s->at ? spoil(s, result) : YOKE_OK;
}

static yoke_status spy_refresh(void* self, double t) {
  spy* s = self;
  note(s->name, (entry){.call = 'r', .t = t});
  s->y = s->trouble == NAN_AT_START ? (double)NAN : polynomial(s, t);
  return YOKE_OK;
}

static yoke_status spy_event(void* self, double t, yoke_step_result* result) {
  spy* s = self;
  note(s->name, (entry){.call = 'v', .t = t});
  s->y = -1;  // outputs after the event
  if (s->trouble == EVENT_FAILS) {
    result->message = "no way back";
    return YOKE_UNIT_FAILED;
  }
  result->flags = s->trouble == EVENT_ENDS ? YOKE_STEP_END_WANTED : 0;
  return YOKE_OK;
}

static yoke_status spy_save(const void* self, void* image, size_t size) {
  note(((const spy*)self)->name, (entry){.call = 'V'});
  memcpy(image, self, size);
  return YOKE_OK;
}

static yoke_status spy_restore(void* self, const void* image, size_t size) {
  note(((const spy*)self)->name, (entry){.call = 'R'});
  memcpy(self, image, size);
  return YOKE_OK;
}

static void spy_terminate(void* self) {
  note(((const spy*)self)->name, (entry){.call = 't'});
}

static void spy_close(void* self) {
  note(((const spy*)self)->name, (entry){.call = 'z'});
  pthread_mutex_lock(&notes.lock);
  notes.n_open--;
  pthread_mutex_unlock(&notes.lock);
  free(self);
}

#define SPY_OPS(name_, describe_, derivatives_)                                                    \
  {                                                                                                \
    YOKE_UNIT_HEAD, .name = (name_), .structure = spy_structure, .n_structure = 1,                 \
                    .create = spy_create, .describe = (describe_), .set = spy_set, .get = spy_get, \
                    .enter_init = spy_enter, .exit_init = spy_exit, .set_inputs = spy_set_inputs,  \
                    .get_outputs = spy_get_outputs, .set_input_derivatives = (derivatives_),       \
                    .step = spy_step, .refresh = spy_refresh, .event_update = spy_event,           \
                    .save = spy_save, .restore = spy_restore, .terminate = spy_terminate,          \
                    .close = spy_close                                                             \
  }

static const yoke_unit_ops spy_ops = SPY_OPS("spy", spy_describe, NULL);
static const yoke_unit_ops smooth_ops = SPY_OPS("spy.smooth", spy_describe, spy_derivatives);
static const yoke_unit_ops rig_ops = SPY_OPS("spy.rig", rig_describe, NULL);
static const yoke_unit_ops through_ops = SPY_OPS("spy.through", through_describe, NULL);

// ---------------------------------------------------------------------------------------------------------

static yoke_registry* models;

static int make_models(void** state) {
  (void)state;
  return yoke_registry_create(&models) < 0 || yoke_registry_add_unit(models, &spy_ops, NULL) < 0 ||
         yoke_registry_add_unit(models, &smooth_ops, NULL) < 0 ||
         yoke_registry_add_unit(models, &rig_ops, NULL) < 0 ||
         yoke_registry_add_unit(models, &through_ops, NULL) < 0;
}

static int free_models(void** state) {
  (void)state;
  yoke_registry_destroy(&models);
  return 0;
}

static char refusal[4096];

// false: the system was refused, for the reasons in `refusal`
static bool try_spies(sim* s, const char* format, va_list args) {
  static char text[4096];
  vsnprintf(text, sizeof text, format, args);
  forget();
  return sim_try(models, text, s, refusal, sizeof refusal) >= 0;
}

static sim open_spies(const char* format, ...) YOKE_PRINTF(1, 2);

static sim open_spies(const char* format, ...) {
  sim s;
  va_list args;
  va_start(args, format);
  const bool is_open = try_spies(&s, format, args);
  va_end(args);
  if (!is_open) {
    fail_msg("refused:\n%s", refusal);
  }
  return s;
}

static void check_refused(const char* message, const char* format, ...) YOKE_PRINTF(2, 3);

static void check_refused(const char* message, const char* format, ...) {
  sim s;
  va_list args;
  va_start(args, format);
  const bool is_open = try_spies(&s, format, args);
  va_end(args);
  if (is_open) {
    fail_msg("accepted; expected: %s", message);
  }
  check_contains(refusal, message);
  assert_int_equal(notes.n_open, 0);  // whatever was made is closed again
}

// the calls of one unit as one word
static void calls_of(const char* unit, char* to, size_t size) {
  size_t n = 0;
  for (size_t i = 0; i < notes.n && n + 1 < size; i++) {
    if (strcmp(notes.entries[i].unit, unit) == 0) {
      to[n++] = notes.entries[i].call;
    }
  }
  to[n] = '\0';
}

static void check_order(const char* unit, const char* pattern) {
  static char calls[MAX_ENTRIES];
  calls_of(unit, calls, sizeof calls);
  regex_t expression;
  assert_int_equal(regcomp(&expression, pattern, REG_EXTENDED | REG_NOSUB), 0);
  const bool is_match = regexec(&expression, calls, 0, NULL, 0) == 0;
  regfree(&expression);
  if (!is_match) {
    fail_msg("calls of '%s' are %s, expected %s", unit, calls, pattern);
  }
}

// ---------------------------------------------------------------------------------------------------------
// order of calls

#define INIT "cd+s*e(irg)+x(irg)*"

static void test_order_of_calls(void** state) {
  (void)state;
  static const char pair[] =
      "units:\n  a: {model: spy, with: {c: [1, 2, 0, 0]}, start: {u: [3, 4]}}\n"
      "  b: {model: spy}\nconnections: [{from: a.y, to: \"b.u[0]\"}]\n";
  static const char* const schemes[] = {"jacobi", "gauss-seidel"};
  for (int i = 0; i < 2; i++) {
    sim s = open_spies(
        "yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 1, stop: 1.3, step: 0.1}\nscheme: %s\n%s",
        schemes[i], pair);
    assert_true(notes.entries[0].call == 'c');
    sim_run(&s);
    sim_close(&s);
    check_order("a", "^cdsse(irg)+x(irg)*(iSg){3}tz$");
    check_order("b", "^cde(irg)+x(irg)*(iSg){3}tz$");
    assert_int_equal(notes.n_open, 0);
  }

  // the times and lengths that were told
  int64_t k = 0;
  for (size_t i = 0; i < notes.n; i++) {
    const entry* e = &notes.entries[i];
    if (e->call == 'e') {
      assert_true(e->t == 1 && e->h == 1.3);
    } else if (e->call == 'S' && e->unit[0] == 'a') {
      assert_true(e->t == 1 + (double)k++ / 10 && e->h == 0.1);
      assert_true(e->value[0] == 3 && e->value[1] == 4);  // start values of unconnected inputs
    }
  }
  assert_int_equal(k, 3);
}

static void test_order_of_calls_fresh_and_laws(void** state) {
  (void)state;
  static const char* const schemes[] = {"jacobi", "gauss-seidel"};
  for (int i = 0; i < 2; i++) {
    sim s = open_spies(
        "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.5, step: 0.1}\nscheme: %s\nunits:\n"
        "  a: {model: spy}\n  b: {model: spy.through, exchange: fresh}\n"
        "laws: {l: {law: spy.through}}\n"
        "connections:\n  - {from: a.y, to: \"l.u[0]\"}\n"
        "  - {from: l.y, to: \"b.u[0]\"}\n  - {from: b.y, to: \"a.u[0]\"}\n",
        schemes[i]);
    sim_run(&s);
    sim_close(&s);
    check_order("a", "^cde(irg)+x(irg)*(iSg){5}tz$");
    check_order("b", "^cde(irg)+x(irg)*((irg)*iSg(irg)*){5}tz$");
    check_order("l", "^cde(irg)+x(irg)+tz$");  // a law is never stepped
    assert_int_equal(notes.n_open, 0);
  }
}

static void test_order_of_calls_iterative(void** state) {
  (void)state;
  static const char* const schemes[] = {"iterative-jacobi", "iterative-gauss-seidel"};
  for (int i = 0; i < 2; i++) {
    sim s = open_spies(
        "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.4, step: 0.1}\nscheme: %s\nunits:\n"
        "  a: {model: spy, with: {c: [0, 1, 0, 0]}, step: 0.05}\n"
        "  b: {model: spy.through}\n"
        "connections: [{from: a.y, to: \"b.u[0]\"}, {from: b.y, to: \"a.u[0]\"}]\n",
        schemes[i]);
    sim_run(&s);
    sim_close(&s);
    // saved once per step, restored before each attempt
    check_order("a", "^cdse(irg)+x(irg)*(V(R(iS){2}g)+){4}tz$");
    check_order("b", "^cde(irg)+x(irg)*(V(RiSirg)+){4}tz$");
    assert_int_equal(notes.n_open, 0);
  }
}

// ---------------------------------------------------------------------------------------------------------
// threads

static void check_threads(int n_threads, const char* settings, const char* unit_settings) {
  sim s = open_spies(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nthreads: %d\n%sunits:\n"
      "  u1: {model: spy%s}\n  u2: {model: spy.smooth}\n"
      "  u3: {model: spy.through%s}\n  u4: {model: spy, step: 0.05}\n"
      "  u5: {model: spy}\n"
      "laws: {l: {law: spy.through}}\n"
      "connections:\n  - {from: u1.y, to: \"u3.u[0]\"}\n"
      "  - {from: u3.y, to: \"u2.u[1]\"}\n  - {from: u4.y, to: \"l.u[0]\"}\n"
      "  - {from: l.y, to: \"u5.u[0]\"}\n  - {from: u5.y, to: \"u1.u[0]\"}\n",
      n_threads, settings, unit_settings, unit_settings);
  assert_int_equal(s.system->n_threads, n_threads);
  sim_run(&s);
  sim_close(&s);
  static const char* const names[] = {"u1", "u2", "u3", "u4", "u5", "l"};
  pthread_t threads[6] = {0};
  int n_seen = 0;
  for (int u = 0; u < 6; u++) {
    size_t n = 0;
    for (size_t i = 0; i < notes.n; i++) {
      const entry* e = &notes.entries[i];
      if (strcmp(e->unit, names[u]) != 0) {
        continue;
      }
      threads[u] = n == 0 ? e->thread : threads[u];
      if (!pthread_equal(threads[u], e->thread)) {
        fail_msg("%d threads, %s: call %zu ('%c') of '%s' came from another thread", n_threads,
                 settings, n, e->call, names[u]);
      }
      n++;
    }
    assert_true(n > 20);
    bool is_new = true;
    for (int i = 0; i < u; i++) {
      is_new = is_new && !pthread_equal(threads[i], threads[u]);
    }
    n_seen += is_new;
  }
  assert_int_equal(n_seen, n_threads);  // and all threads have work
  assert_int_equal(notes.n_open, 0);
}

static void test_all_calls_of_a_unit_from_one_thread(void** state) {
  (void)state;
  for (int n = 1; n <= 3; n++) {
    check_threads(n, "", "");
    check_threads(n, "", ", exchange: fresh");
    check_threads(n, "scheme: iterative-jacobi\n", "");
  }
  check_threads(1, "scheme: gauss-seidel\n", ", exchange: fresh");
}

// ---------------------------------------------------------------------------------------------------------
// input derivatives

// A polynomial of degree n is continued exactly by order n: derivatives at the start of each call are
// those of the polynomial. Differences of n + 1 samples lose eps |y| 2^n, and division by H^n scales it.
static void check_derivatives(int order, int n_calls) {
  static const double c[4] = {2, -3, 5, -7};
  const double H = 0.1, gain = -2.5;
  char coefficients[64];
  snprintf(coefficients, sizeof coefficients, "[%g, %g, %g, %g]", c[0], c[1],
           order >= 2 ? c[2] : 0.0, order >= 3 ? c[3] : 0.0);
  sim s = open_spies("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n"
                     "  a: {model: spy, with: {c: %s}}\n"
                     "  b: {model: spy.smooth, step: %g, start: {u: [0, 9]}}\n"
                     "connections: [{from: a.y, to: \"b.u[0]\", order: %d, gain: %g, offset: 4}]\n",
                     coefficients, H / n_calls, order, gain);
  sim_run(&s);
  sim_close(&s);
  check_order("b", order == 1   ? "^cdse(irg)+x(irg)*(iDS)+g"
                   : order == 2 ? "^cdse(irg)+x(irg)*(iDDS)+g"
                                : "^cdse(irg)+x(irg)*(iDDDS)+g");
  double du[4] = {0};
  int call = 0, n_checked = 0;
  for (size_t i = 0; i < notes.n; i++) {
    const entry* e = &notes.entries[i];
    if (e->unit[0] != 'b') {
      continue;
    }
    if (e->call == 'D') {
      assert_true(e->order >= 1 && e->order <= order);
      assert_true(e->value[1] == 0);  // nobody feeds the other input
      du[e->order] = e->value[0];
    }
    if (e->call != 'S') {
      continue;
    }
    // fewer samples allow a polynomial of lower degree only
    const int n_samples = call / n_calls + 1;
    const double t = call++ * H / n_calls;
    if (n_samples == 1) {
      assert_true(du[1] == 0 && du[order] == 0);
    }
    if (n_samples <= order) {
      continue;
    }
    const double c2 = order >= 2 ? c[2] : 0, c3 = order >= 3 ? c[3] : 0;
    const double want[4] = {4 + gain * (c[0] + t * (c[1] + t * (c2 + t * c3))),
                            gain * (c[1] + t * (2 * c2 + t * 3 * c3)), gain * (2 * c2 + t * 6 * c3),
                            gain * 6 * c3};
    check_near(e->value[0], want[0], 1e-13);
    for (int n = 1; n <= order; n++) {
      check_near(du[n], want[n], 4e-15 * 8 * pow(1 / H, n) * 4);
    }
    n_checked++;
  }
  assert_int_equal(n_checked, (10 - order) * n_calls);
}

static void test_input_derivatives(void** state) {
  (void)state;
  for (int order = 1; order <= 3; order++) {
    check_derivatives(order, 1);
    check_derivatives(order, 4);
  }
}

// a held input has no derivatives worth a call; a unit that refuses them ends the run
static void test_input_derivatives_not_wanted(void** state) {
  (void)state;
  sim s = open_spies("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n"
                     "units: {a: {model: spy}, b: {model: spy.smooth}}\n"
                     "connections: [{from: a.y, to: \"b.u[0]\"}]\n");
  sim_run(&s);
  sim_close(&s);
  check_order("b", "^cde(irg)+x(irg)*(iSg)+tz$");

  s = open_spies(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n"
      "units: {a: {model: spy}, b: {model: spy.smooth, with: {trouble: derivatives-fail}}}\n"
      "connections: [{from: a.y, to: \"b.u[0]\", order: 1}]\n");
  assert_int_equal(sim_run_on(&s), YOKE_BAD_ARG);
  check_contains(sim_failure(&s), "error: unit 'b' at t = 0 s: inputs were refused");
  sim_close(&s);
}

// ---------------------------------------------------------------------------------------------------------
// what a step reports

static sim open_trouble(const char* trouble, const char* settings) {
  return open_spies("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n%sunits:\n"
                    "  a: {model: spy, with: {c: [1, 1, 0, 0]}}\n"
                    "  b: {model: spy, with: {trouble: %s, at: 3}}\n  c: {model: spy}\n"
                    "connections: [{from: a.y, to: \"b.u[0]\"}, {from: b.y, to: \"c.u[0]\"}]\n",
                    settings, trouble);
}

static const char* const all_schemes[] = {
    "",
    "threads: 3\n",
    "scheme: gauss-seidel\n",
    "scheme: iterative-jacobi\n",
    "scheme: iterative-jacobi\nthreads: 2\n",
    "scheme: iterative-gauss-seidel\n",
};
enum { N_SCHEMES = sizeof all_schemes / sizeof all_schemes[0] };

// two good steps, then this status and this message; the state stays readable
static void check_failure(const char* trouble, yoke_status status, const char* message) {
  for (int i = 0; i < N_SCHEMES; i++) {
    sim s = open_trouble(trouble, all_schemes[i]);
    const yoke_status got = sim_run_on(&s);
    if (got != status || strcmp(sim_failure(&s), message) != 0) {
      fail_msg("%s, %s: status %d, '%s', expected %d, '%s'", trouble, all_schemes[i], (int)got,
               sim_failure(&s), (int)status, message);
    }
    assert_int_equal(s.state->failure.unit, 1);
    assert_true(s.state->t == 0.2);
    sim_close(&s);
    check_order("b", "tz$");  // terminated and closed also after a failure
    assert_int_equal(notes.n_open, 0);
  }
}

static void test_failed_steps(void** state) {
  (void)state;
  check_failure("fail", YOKE_UNIT_FAILED,
                "error: unit 'b' at t = 0.2 s: step failed: the belt broke");
  check_failure("fail-silently", YOKE_NO_CONVERGENCE,
                "error: unit 'b' at t = 0.2 s: step failed: an iteration did not converge");
  check_failure("discard", YOKE_DISCARDED,
                "error: unit 'b' at t = 0.2 s: the step of 0.1 s was discarded: too long for me");
  check_failure("early", YOKE_DISCARDED,
                "error: unit 'b' at t = 0.2 s: the step of 0.1 s was not finished");
}

// the time is that of the outputs, as a user would write it
static void test_outputs_that_are_no_numbers(void** state) {
  (void)state;
  check_failure("nan", YOKE_DIVERGED, "error: unit 'b' at t = 0.3 s: output 'more[1]' became nan");
  check_failure("inf", YOKE_DIVERGED, "error: unit 'b' at t = 0.3 s: output 'y' became -inf");
  check_failure("diverge", YOKE_DIVERGED,
                "error: unit 'b' at t = 0.3 s: lost the track: output 'y' is nan");
  check_failure("event-fails", YOKE_UNIT_FAILED,
                "error: unit 'b' at t = 0.3 s: event update failed: no way back");
  check_failure("typed-fails", YOKE_UNIT_FAILED,
                "error: unit 'b' at t = 0.3 s: 'whole' could not be read");
}

static void test_inputs_that_are_refused(void** state) {
  (void)state;
  // counted in steps done: the inputs of the fourth step
  sim s = open_trouble("set-inputs-fails", "");
  assert_int_equal(sim_run_on(&s), YOKE_BAD_ARG);
  check_contains(sim_failure(&s), "error: unit 'b' at t = 0.3 s: inputs were refused");
  sim_close(&s);
}

// news are no failure
static void test_positive_status(void** state) {
  (void)state;
  for (int i = 0; i < N_SCHEMES; i++) {
    sim s = open_trouble("news", all_schemes[i]);
    for (int k = 0; k < 10; k++) {
      assert_int_equal(yoke__master_step(s.system, s.state), YOKE_OK);
    }
    assert_true(s.state->t == 1);
    sim_close(&s);
  }
}

static void test_event_update_is_called(void** state) {
  (void)state;
  for (int i = 0; i < N_SCHEMES; i++) {
    sim s = open_trouble("event", all_schemes[i]);
    sim_steps(&s, 2);
    assert_true(sim_read(&s, "b.y") == 0);
    sim_steps(&s, 1);
    assert_true(sim_read(&s, "b.y") == -1);  // outputs as they are after the event
    sim_steps(&s, 7);
    sim_close(&s);
    check_order("b", i < 3 ? "^[^S]*(iSg){2}iSvg(iSg){7}tz$"
                           : "^[^S]*(V(RiSg)+){2}V(RiSvg)+(V(RiSg)+){7}tz$");
    for (size_t k = 0; k < notes.n; k++) {
      if (notes.entries[k].call == 'v') {
        check_near(notes.entries[k].t, 0.3, 1e-16);
        assert_string_equal(notes.entries[k].unit, "b");
      }
    }
  }
}

static void check_end(const char* trouble) {
  for (int i = 0; i < N_SCHEMES; i++) {
    sim s = open_trouble(trouble, all_schemes[i]);
    assert_int_equal(yoke__master_step(s.system, s.state), YOKE_OK);
    assert_int_equal(yoke__master_step(s.system, s.state), YOKE_OK);
    const yoke_status status = yoke__master_step(s.system, s.state);
    if (status != YOKE_ENDED) {
      fail_msg("%s, %s: status %d", trouble, all_schemes[i], (int)status);
    }
    check_near(s.state->t, 0.3, 1e-16);  // the step was finished by everybody
    check_near(sim_read(&s, "a.y"), 1.3, 1e-15);
    sim_close(&s);

    // a whole run ends there, with everything recorded
    s = open_trouble(trouble, all_schemes[i]);
    static yoke_loop_info info;
    assert_int_equal(sim_record(&s, NULL, &info), YOKE_ENDED);
    assert_int_equal(info.n_steps, 3);
    check_near(info.t_reached, 0.3, 1e-16);
    assert_null(info.failure.message.text);
    sim_close(&s);
    assert_int_equal(notes.n_open, 0);
  }
}

static void test_end_wanted(void** state) {
  (void)state;
  check_end("end");
  check_end("event-ends");
}

// an attempt that is thrown away does not count
static void test_end_wanted_in_a_repeated_step(void** state) {
  (void)state;
  for (int i = 3; i < N_SCHEMES; i++) {
    sim s = open_trouble("end-once", all_schemes[i]);
    for (int k = 0; k < 10; k++) {
      assert_int_equal(yoke__master_step(s.system, s.state), YOKE_OK);
    }
    assert_true(s.state->t == 1);
    assert_true(notes.n_raised > 1);
    sim_close(&s);
  }
}

// several units fail in the same step: the message is that of the first one, whatever the threads
static void test_lowest_unit_is_blamed(void** state) {
  (void)state;
  for (int threads = 1; threads <= 5; threads++) {
    for (int scheme = 0; scheme < 2; scheme++) {
      sim s = open_spies("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nthreads: "
                         "%d\nscheme: %s\nunits:\n"
                         "  a: {model: spy}\n  b: {model: spy, with: {trouble: nan, at: 3}}\n"
                         "  c: {model: spy, with: {trouble: fail, at: 3}}\n  d: {model: spy}\n"
                         "  e: {model: spy, with: {trouble: discard, at: 3}, cost: 1}\n",
                         threads, scheme == 0 ? "jacobi" : "iterative-jacobi");
      assert_int_equal(sim_run_on(&s), YOKE_DIVERGED);
      assert_string_equal(sim_failure(&s),
                          "error: unit 'b' at t = 0.3 s: output 'more[1]' became nan");
      sim_close(&s);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// before the first step

#define BAD_START(trouble)                                                                         \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nthreads: 2\nunits:\n"             \
  "  a: {model: spy}\n  b: {model: spy, with: {trouble: " trouble "}}\n  c: {model: spy}\n"

static void test_units_that_cannot_start(void** state) {
  (void)state;
  check_refused("test.yaml:8:3: error: unit 'b': the valve is stuck\n", BAD_START("enter-fails"));
  check_order("a", "^cde[^S]*z$");
  check_order("b", "^cdez$");  // after a failed enter_init only close may follow
  check_refused("unit 'b': cannot be initialised: a unit reported a failure\n",
                BAD_START("enter-fails-silently"));
  check_refused("unit 'b': cannot be initialised: a matrix is singular\n", BAD_START("exit-fails"));
  check_refused("error: unit 'b': no licence\n", BAD_START("create-fails"));
  check_order("b", "^c$");
  check_refused("error: unit 'b' at t = 0 s: output 'y' became nan", BAD_START("nan-at-start"));
}

static void test_real_machines_do_not_roll_back(void** state) {
  (void)state;
  static const char* const schemes[] = {"iterative-jacobi", "iterative-gauss-seidel"};
  for (int i = 0; i < 2; i++) {
    char message[256];
    snprintf(
        message, sizeof message,
        "test.yaml:8:3: error: %s repeats steps, but unit 'rig' (spy.rig) is a real machine; use "
        "scheme: jacobi or gauss-seidel\n",
        schemes[i]);
    check_refused(message,
                  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nscheme: "
                  "%s\nunits:\n  a: {model: spy}\n"
                  "  rig: {model: spy.rig}\n",
                  schemes[i]);
  }
  // explicit schemes neither save nor restore
  static const char* const explicit_schemes[] = {"jacobi", "gauss-seidel"};
  for (int i = 0; i < 2; i++) {
    sim s = open_spies(
        "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nscheme: %s\nunits:\n"
        "  a: {model: spy}\n  rig: {model: spy.rig}\n",
        explicit_schemes[i]);
    sim_run(&s);
    sim_close(&s);
    check_order("rig", "^cde(irg)+x(irg)*(iSg){10}tz$");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_of_calls),
      cmocka_unit_test(test_order_of_calls_fresh_and_laws),
      cmocka_unit_test(test_order_of_calls_iterative),
      cmocka_unit_test(test_all_calls_of_a_unit_from_one_thread),
      cmocka_unit_test(test_input_derivatives),
      cmocka_unit_test(test_input_derivatives_not_wanted),
      cmocka_unit_test(test_failed_steps),
      cmocka_unit_test(test_outputs_that_are_no_numbers),
      cmocka_unit_test(test_inputs_that_are_refused),
      cmocka_unit_test(test_positive_status),
      cmocka_unit_test(test_event_update_is_called),
      cmocka_unit_test(test_end_wanted),
      cmocka_unit_test(test_end_wanted_in_a_repeated_step),
      cmocka_unit_test(test_lowest_unit_is_blamed),
      cmocka_unit_test(test_units_that_cannot_start),
      cmocka_unit_test(test_real_machines_do_not_roll_back),
  };
  return cmocka_run_group_tests_name("master_contract", tests, make_models, free_models);
}
