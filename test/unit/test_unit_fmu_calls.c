// The order of calls: an FMU that writes down every call (test/fmus/recorder) stands in front of others, and an automaton made
// from the standards' state machines (FMI 2.0.4, 3.2.3 and 4.2.4; FMI 3.0.1, 2.3, 3.2 and 4.2) reads what it wrote. Plain
// runs, typed values, rollback, events, model exchange, and a failure in each phase, here and in a process of their own.
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/heard.h"
#include "yoke/yoke.h"

// ---------------------------------------------------------------------------------------------------------
// folders

static char root[256];  // of this program, below the working folder of the test
static int n_folders;

static void copy_file(const char* from, const char* to) {
  FILE* in = fopen(from, "rb");
  FILE* out = fopen(to, "wb");
  if (in == NULL || out == NULL) {
    fail_msg("%s -> %s", from, to);
  }
  char bytes[65536];
  for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;) {
    assert_int_equal(fwrite(bytes, 1, n, out), n);
  }
  fclose(in);
  assert_int_equal(fclose(out), 0);
}

static void make_folder(char* to, size_t size, const char* in, const char* name) {
  snprintf(to, size, "%s/%s", in, name);
  mkdir(to, 0777);
}

// the only entry of a folder
static void only_entry(const char* folder, char to[256]) {
  DIR* dir = opendir(folder);
  assert_non_null(dir);
  to[0] = '\0';
  for (const struct dirent* e; (e = readdir(dir)) != NULL;) {
    if (e->d_name[0] != '.') {
      snprintf(to, 256, "%s", e->d_name);
    }
  }
  closedir(dir);
}

static void copy_into(const char* folder, const char* name, const char* from) {
  char to[4096];
  snprintf(to, sizeof to, "%s/%s", folder, name);
  copy_file(from, to);
}

// A new FMU in `folder`: the recorder in front of the test FMU `name`.
static void make_recorded(const char* folder, const char* name, int version) {
  const char* fmus = getenv("YOKE_FMUS");
  char from[4096], platform[256], own[1024], binaries[1280], there[1792], file[80];
  snprintf(from, sizeof from, "%s/%s%d/binaries", fmus, name, version);
  only_entry(from, platform);
  make_folder(own, sizeof own, folder, name);
  make_folder(binaries, sizeof binaries, own, "binaries");
  make_folder(there, sizeof there, binaries, platform);
  snprintf(from, sizeof from, "%s/%s%d/modelDescription.xml", fmus, name, version);
  copy_into(own, "modelDescription.xml", from);
  snprintf(from, sizeof from, "%s/%s%d/binaries/%s/%s.so", fmus, name, version, platform, name);
  copy_into(there, "inner.so", from);
  snprintf(from, sizeof from, "%s/recorder/recorder%d.so", fmus, version);
  snprintf(file, sizeof file, "%s.so", name);
  copy_into(there, file, from);
}

// ---------------------------------------------------------------------------------------------------------
// the automaton

typedef enum phase {
  NONE,
  MADE,
  CONFIGURING,
  INITIALISING,
  STEPPING,
  EVENT,
  CONTINUOUS,
  ENDED,
  FREED
} phase;

enum { MAX_STATES = 16 };

typedef struct saved_state {
  bool is_there, is_set;
  double t;
} saved_state;

typedef struct unit {
  char name[32];
  int version;
  phase phase;
  bool is_exchange, has_events;
  bool is_error, is_fatal;
  bool is_set;        // since the last step, in step mode: outputs must not be read
  bool is_updated;    // discrete states, since event mode was entered
  double t, t_event;  // where it stands; of the last event
  bool has_saved;
  saved_state saved[MAX_STATES];
  int n_terminate, n_free, n_steps, n_events, n_rollbacks;
} unit;

typedef struct call {
  char unit[32], function[64];
  const char* verb;  // the function without "fmi2", "fmi3"
  int status;
  double a, b;
  int n;
} call;

static bool begins(const char* text, const char* with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static bool is_get(const char* verb) {
  static const char* const kinds[] = {"GetReal",  "GetInteger", "GetBoolean", "GetString",
                                      "GetFloat", "GetInt",     "GetUInt",    "GetBinary"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (begins(verb, kinds[i]) && strstr(verb, "Status") == NULL &&
        strstr(verb, "Interval") == NULL && strstr(verb, "Derivatives") == NULL) {
      return true;
    }
  }
  return false;
}

static bool is_set(const char* verb) {
  static const char* const kinds[] = {"SetReal",  "SetInteger", "SetBoolean", "SetString",
                                      "SetFloat", "SetInt",     "SetUInt",    "SetBinary"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (begins(verb, kinds[i]) && strstr(verb, "Interval") == NULL) {
      return true;
    }
  }
  return false;
}

static bool is_real(const char* verb) {
  return strstr(verb, "Real") != NULL || strstr(verb, "Float") != NULL;
}

#define ILLEGAL(u, c, why)                                                                         \
  fail_msg("line %d: unit '%s': %s (status %d, %.17g, %.17g): %s", line, (u)->name, (c)->function, \
           (c)->status, (c)->a, (c)->b, why)
#define DEMAND(condition, why)                                                                     \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      ILLEGAL(u, c, why);                                                                          \
    }                                                                                              \
  } while (0)

static void take_life(unit* u, const call* c, int line) {
  if (strcmp(c->verb, "EnterInitializationMode") == 0) {
    DEMAND(u->phase == MADE, "initialisation begins once, after instantiation");
    u->phase = INITIALISING;
    if (u->version == 3) {
      u->t = c->a;
    }
  } else if (strcmp(c->verb, "ExitInitializationMode") == 0) {
    DEMAND(u->phase == INITIALISING, "not in initialisation mode");
    u->phase = u->is_exchange || u->has_events ? EVENT : STEPPING;
    u->t_event = u->t;
    u->is_updated = false;
  } else if (strcmp(c->verb, "SetupExperiment") == 0) {
    DEMAND(u->phase == MADE, "only before initialisation");
    u->t = c->a;
  } else if (strcmp(c->verb, "EnterConfigurationMode") == 0) {
    DEMAND(u->phase == MADE, "only before initialisation");
    u->phase = CONFIGURING;
  } else if (strcmp(c->verb, "ExitConfigurationMode") == 0) {
    DEMAND(u->phase == CONFIGURING, "not in configuration mode");
    u->phase = MADE;
  } else if (strcmp(c->verb, "Terminate") == 0) {
    DEMAND(u->phase == STEPPING || u->phase == EVENT || u->phase == CONTINUOUS,
           "only a unit that runs can be terminated");
    u->phase = ENDED;
    u->n_terminate++;
  }
}

static void take_event(unit* u, const call* c, int line) {
  if (strcmp(c->verb, "EnterEventMode") == 0) {
    DEMAND(u->phase == (u->is_exchange ? CONTINUOUS : STEPPING), "from where it may be entered");
    DEMAND(u->is_exchange || u->has_events, "instantiated without event mode");
    u->phase = EVENT;
    u->is_set = u->is_updated = false;
    u->t_event = u->t;
    u->n_events++;
  } else if (strcmp(c->verb, "NewDiscreteStates") == 0 ||
             strcmp(c->verb, "UpdateDiscreteStates") == 0) {
    DEMAND(u->phase == EVENT, "not in event mode");
    u->is_updated = true;
  } else if (strcmp(c->verb, "EnterContinuousTimeMode") == 0) {
    DEMAND(u->phase == EVENT && u->is_exchange && u->is_updated, "after an update in event mode");
    u->phase = CONTINUOUS;
  } else if (strcmp(c->verb, "EnterStepMode") == 0) {
    DEMAND(u->phase == EVENT && !u->is_exchange && u->is_updated, "after an update in event mode");
    u->phase = STEPPING;
  } else if (strcmp(c->verb, "SetClock") == 0 || strcmp(c->verb, "GetClock") == 0) {
    DEMAND(u->phase == EVENT, "clocks live in event mode");
  }
}

static void take_exchange(unit* u, const call* c, int line) {
  if (strcmp(c->verb, "SetTime") == 0) {
    DEMAND(u->phase == CONTINUOUS || (u->phase == EVENT && u->version == 2), "not in that mode");
    DEMAND(c->a >= u->t_event, "a time before the last event");
    u->t = c->a;
    u->n_steps++;
  } else if (strcmp(c->verb, "SetContinuousStates") == 0) {
    DEMAND(u->phase == CONTINUOUS, "not in continuous time");
  } else if (strcmp(c->verb, "CompletedIntegratorStep") == 0) {
    DEMAND(u->phase == CONTINUOUS, "not in continuous time");
  } else if (strcmp(c->verb, "GetDerivatives") == 0 || strcmp(c->verb, "GetEventIndicators") == 0 ||
             strcmp(c->verb, "GetContinuousStates") == 0 ||
             strcmp(c->verb, "GetContinuousStateDerivatives") == 0) {
    DEMAND(u->phase == CONTINUOUS || u->phase == EVENT || u->phase == INITIALISING,
           "not in that mode");
  }
}

static void take_value(unit* u, const call* c, int line) {
  if (is_get(c->verb)) {
    DEMAND(u->phase != MADE && u->phase != CONFIGURING, "nothing can be read yet");
    DEMAND(!u->is_set, "read after an input was set, without a step in between");
  } else if (is_set(c->verb)) {
    DEMAND(u->phase != ENDED, "after its end");
    // continuous inputs in step mode and continuous time; all others in event mode, where there is one
    DEMAND(is_real(c->verb) || (u->phase != CONTINUOUS && !(u->phase == STEPPING && u->has_events)),
           "discrete variables change in event mode only");
    u->is_set = u->phase == STEPPING;
  }
}

static void take_step(unit* u, const call* c, int line) {
  DEMAND(u->phase == STEPPING && !u->is_exchange, "not in step mode");
  DEMAND(fabs(c->a - u->t) <= 1e-12 * fmax(1, fabs(u->t)), "does not begin where it stands");
  DEMAND(c->b > 0, "a step without length");
  // a reference stands for noSetFMUStatePriorToCurrentPoint
  DEMAND(!(u->has_saved && c->n == 1), "promises not to roll back, but states are saved");
  u->is_set = false;
  u->n_steps++;
  if (c->status <= 1) {
    u->t = c->a + c->b;
  }
}

static void take_state(unit* u, const call* c, int line) {
  if (begins(c->verb, "GetFMU")) {
    DEMAND(c->a >= 1 && c->a <= MAX_STATES, "more states than the test counts");
    u->saved[(int)c->a - 1] = (saved_state){true, u->is_set, u->t};
    u->has_saved = true;
  } else if (begins(c->verb, "SetFMU")) {
    DEMAND(c->a >= 1 && u->saved[(int)c->a - 1].is_there, "this state was not saved");
    const saved_state* saved = &u->saved[(int)c->a - 1];
    u->t = u->t_event = saved->t;
    u->is_set = saved->is_set;  // inputs belong to the state
    u->n_rollbacks++;
  }
}

static void take_call(unit* u, const call* c, int line) {
  DEMAND(u->phase != FREED, "after it was freed");
  DEMAND(!u->is_fatal, "after it returned fatal");
  if (strcmp(c->verb, "FreeInstance") == 0) {
    u->phase = FREED;
    u->n_free++;
    return;
  }
  if (begins(c->verb, "FreeFMU")) {
    return;
  }
  DEMAND(!u->is_error, "after it returned an error");
  u->is_error = c->status == 3;
  u->is_fatal = c->status == 4;
  if (c->status > 2) {
    return;  // the transition is not taken
  }
  if (strcmp(c->verb, "DoStep") == 0) {
    take_step(u, c, line);
  } else if (strstr(c->verb, "FMU") != NULL) {
    take_state(u, c, line);
  } else {
    take_life(u, c, line);
    take_event(u, c, line);
    take_exchange(u, c, line);
    take_value(u, c, line);
  }
}

enum { MAX_UNITS = 4 };

typedef struct record {
  unit units[MAX_UNITS];
  size_t n_units;
  int n_lines;
} record;

static unit* unit_of(record* r, const call* c) {
  for (size_t i = 0; i < r->n_units; i++) {
    if (strcmp(r->units[i].name, c->unit) == 0) {
      return &r->units[i];
    }
  }
  assert_true(r->n_units < MAX_UNITS);
  unit* u = &r->units[r->n_units++];
  snprintf(u->name, sizeof u->name, "%s", c->unit);
  return u;
}

// a failed instantiation leaves nothing behind
static void instantiate(unit* u, const call* c) {
  u->version = c->function[3] == '2' ? 2 : 3;
  u->is_exchange = strstr(c->verb, "ModelExchange") != NULL || (u->version == 2 && c->a == 0);
  u->has_events = u->version == 3 && !u->is_exchange && c->a != 0;
  u->phase = c->status == 0 ? MADE : NONE;
}

// unit, function, status, two numbers, how many references
static void read_line(char* text, call* c) {
  char* rest = NULL;
  snprintf(c->unit, sizeof c->unit, "%s", strtok_r(text, " ", &rest));
  snprintf(c->function, sizeof c->function, "%s", strtok_r(NULL, " ", &rest));
  c->status = (int)strtol(rest, &rest, 10);
  c->a = strtod(rest, &rest);
  c->b = strtod(rest, &rest);
  c->n = (int)strtol(rest, &rest, 10);
}

static void read_calls(const char* path, record* r) {
  *r = (record){.n_lines = 0};
  FILE* file = fopen(path, "r");
  if (file == NULL) {
    fail_msg("%s: no call was written down", path);
  }
  char text[4096];
  while (fgets(text, sizeof text, file) != NULL) {
    call c = {0};
    const int line = ++r->n_lines;
    read_line(text, &c);
    c.verb = c.function + 4;
    unit* u = unit_of(r, &c);
    if (begins(c.verb, "Instantiate")) {
      instantiate(u, &c);
    } else {
      if (u->phase == NONE) {
        ILLEGAL(u, &c, "before it was instantiated");
      }
      take_call(u, &c, line);
    }
  }
  fclose(file);
}

// all units ended as they should
static void check_ends(const record* r) {
  for (size_t i = 0; i < r->n_units; i++) {
    const unit* u = &r->units[i];
    const int n_free = u->is_fatal || u->phase == NONE ? 0 : 1;
    if (u->n_free != n_free) {
      fail_msg("unit '%s' was freed %d times", u->name, u->n_free);
    }
    if (u->n_terminate > 1) {
      fail_msg("unit '%s' was terminated %d times", u->name, u->n_terminate);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// runs

typedef struct outcome {
  record record;
  yoke_status status;
  char message[8192];
  double t;
} outcome;

typedef struct trial {
  const char* fmus[3];  // name and version, as in "ball2"
  const char* system;   // fmu: <name>
  const char* failure;  // of YOKE_FMU_FAIL, or NULL
} trial;

static void run(const trial* t, outcome* out) {
  char folder[300], number[16], path[600], calls[600];
  *out = (outcome){.status = YOKE_OK};
  snprintf(number, sizeof number, "%d", ++n_folders);
  make_folder(folder, sizeof folder, root, number);
  for (size_t i = 0; i < 3 && t->fmus[i] != NULL; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s", t->fmus[i]);
    const size_t n = strlen(name) - 1;
    const int version = name[n] - '0';
    name[n] = '\0';
    make_recorded(folder, name, version);
  }
  snprintf(path, sizeof path, "%s/system.yaml", folder);
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(t->system, file);
  fclose(file);
  snprintf(calls, sizeof calls, "%s/calls", folder);
  setenv("YOKE_FMU_CALLS", calls, 1);
  unsetenv("YOKE_FMU_FAIL");
  if (t->failure != NULL) {
    setenv("YOKE_FMU_FAIL", t->failure, 1);
  }
  yoke_simulation* simulation = NULL;
  HEAR(told);
  const yoke_load_settings settings = {.sink = &told.sink};
  out->status = yoke_simulation_load(path, &settings, &simulation);
  while (simulation != NULL && out->status >= 0 && !yoke_simulation_is_done(simulation)) {
    out->status = yoke_simulation_step(simulation);
  }
  if (simulation != NULL) {
    out->t = yoke_simulation_time(simulation);
    heard_clear(&told);
    if (yoke_simulation_failure(simulation) != NULL) {
      yoke_send(&told.sink, yoke_simulation_failure(simulation));
    }
  }
  snprintf(out->message, sizeof out->message, "%s", told.text);
  yoke_simulation_destroy(&simulation);
  read_calls(calls, &out->record);
  check_ends(&out->record);
}

static const unit* find_unit(const outcome* o, const char* name) {
  for (size_t i = 0; i < o->record.n_units; i++) {
    if (strcmp(o->record.units[i].name, name) == 0) {
      return &o->record.units[i];
    }
  }
  fail_msg("no unit '%s' among the calls", name);
  return NULL;
}

static void run_well(const trial* t, outcome* out) {
  run(t, out);
  if (out->status < 0) {
    fail_msg("%s: %s", yoke_status_text(out->status), out->message);
  }
  for (size_t i = 0; i < out->record.n_units; i++) {
    const unit* u = &out->record.units[i];
    assert_int_equal(u->n_terminate, 1);
    assert_int_equal(u->n_free, 1);
    assert_true(u->n_steps > 0);
  }
}

// ---------------------------------------------------------------------------------------------------------
// tests

#define TYPED(fmu)                                                                                 \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 0, stop: 0.1, step: 0.01}\nunits:\n"            \
  "  a: {fmu: " fmu ", start: {Float64_in: 1.5, Int32_in: 3, Boolean_in: true, Enumeration_in: "   \
  "high}, with: {Float64_parameter: 2}}\n"                                                         \
  "  b: {fmu: " fmu "}\n"                                                                          \
  "connections:\n  - a.Int32_out -> b.Int32_in\n  - a.Boolean_out -> b.Boolean_in\n"               \
  "  - a.String_out -> b.String_in\n  - a.Enumeration_out -> b.Enumeration_in\n"                   \
  "  - a.Float64_out -> b.Float64_in\n  - a.Float64_out -> b.bias\n  - b.Float64_out -> a.bias\n"  \
  "record: {signals: [\"*\", a.bias, b.Int32_in, b.Float64_in, a.Float64_parameter]}\n"

static void test_typed_values(void** state) {
  (void)state;
  outcome o;
  run_well(&(trial){{"feedthrough2"}, TYPED("feedthrough"), NULL}, &o);
  assert_int_equal(find_unit(&o, "b")->n_steps, 10);
  run_well(&(trial){{"feedthrough3"}, TYPED("feedthrough"), NULL}, &o);
  assert_int_equal(find_unit(&o, "b")->n_steps, 10);
  run_well(&(trial){{"feedthrough2"}, TYPED("feedthrough, isolate: process"), NULL}, &o);
  assert_int_equal(find_unit(&o, "a")->n_steps, 10);
}

#define RATES(left, right, scheme)                                                                 \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 1e6, stop: 1000000.3, step: "                   \
  "0.03}\nscheme: " scheme "\nunits:\n"                                                            \
  "  left: {" left ", start: {x: 1, v: 2}, step: 0.01}\n  right: {" right "}\n"                    \
  "connections:\n  - right.x -> left.x_other\n  - right.v -> left.v_other\n  - {from: left.f, "    \
  "to: right.f, order: 1}\n"

// units at different rates, from a late start, with extrapolation, each scheme
static void test_rates(void** state) {
  (void)state;
  static const trial trials[] = {
      {{"oscillator_force2", "oscillator_mass2"},
       RATES("fmu: oscillator_force", "fmu: oscillator_mass", "jacobi"),
       NULL},
      {{"oscillator_force3", "oscillator_mass3"},
       RATES("fmu: oscillator_force", "fmu: oscillator_mass", "jacobi"),
       NULL},
      {{"oscillator_force2", "oscillator_mass2"},
       RATES("fmu: oscillator_force", "fmu: oscillator_mass", "gauss-seidel"),
       NULL},
      {{"oscillator_force3", "oscillator_mass3"},
       RATES("fmu: oscillator_force, isolate: process", "fmu: oscillator_mass", "gauss-seidel"),
       NULL},
  };
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    outcome o;
    run_well(&trials[i], &o);
    assert_int_equal(find_unit(&o, "left")->n_steps, 30);
    assert_int_equal(find_unit(&o, "right")->n_steps, 10);
  }
}

#define ROLLBACK(right, scheme)                                                                    \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 0, stop: 0.1, step: 0.01}\nscheme: " scheme     \
  "\nunits:\n"                                                                                     \
  "  left: {model: oscillator.force, start: {x: 1, v: 2}}\n  right: {" right "}\n"                 \
  "connections:\n  - right.x -> left.x_other\n  - right.v -> left.v_other\n  - left.f -> "         \
  "right.f\n"

static void test_rollback(void** state) {
  (void)state;
  static const trial trials[] = {
      {{"oscillator_mass2"}, ROLLBACK("fmu: oscillator_mass", "iterative-jacobi"), NULL},
      {{"oscillator_mass3"}, ROLLBACK("fmu: oscillator_mass", "iterative-jacobi"), NULL},
      {{"oscillator_mass2"}, ROLLBACK("fmu: oscillator_mass", "iterative-gauss-seidel"), NULL},
      {{"oscillator_mass3"},
       ROLLBACK("fmu: oscillator_mass, isolate: process", "iterative-gauss-seidel"),
       NULL},
  };
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    outcome o;
    run_well(&trials[i], &o);
    // each of the ten steps is repeated at least once
    assert_true(find_unit(&o, "right")->n_rollbacks >= 20);
  }
}

#define FRESH(left, top)                                                                           \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 0, stop: 0.1, step: 0.01}\n" top "\nunits:\n"   \
  "  left: {" left ", with: {usual: 1e-2}, start: {x: 1, v: 2}}\n"                                 \
  "  right: {model: oscillator.mass}\n"                                                            \
  "connections:\n  - right.x -> left.x_other\n  - right.v -> left.v_other\n  - left.f -> "         \
  "right.f\n"

// Outputs that are read again with new inputs: after a trial step only.
static void test_trial_steps(void** state) {
  (void)state;
  static const trial trials[] = {
      {{"reread2"}, FRESH("fmu: reread", "exchange: fresh"), NULL},
      {{"reread3"}, FRESH("fmu: reread", "exchange: fresh"), NULL},
      {{"reread2"}, FRESH("fmu: reread", "exchange: fresh\nscheme: gauss-seidel"), NULL},
      {{"reread3"}, FRESH("fmu: reread, isolate: process", "exchange: fresh"), NULL},
      {{"reread2"}, FRESH("fmu: reread", "scheme: iterative-jacobi"), NULL},
      {{"reread3"}, FRESH("fmu: reread", "scheme: iterative-gauss-seidel"), NULL},
      {{"reread3"}, FRESH("fmu: reread", "scheme: iterative-jacobi\nexchange: fresh"), NULL},
  };
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    outcome o;
    run_well(&trials[i], &o);
    // the ten steps begin where a trial was taken back
    assert_true(find_unit(&o, "left")->n_rollbacks >= 10);
    assert_true(find_unit(&o, "left")->n_steps >= 20);
  }
}

#define ALONE(fmu, time)                                                                           \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {" time "}\nunits:\n  a: {fmu: " fmu "}\n"

// event mode: discrete inputs, early returns, time events, clocks
static void test_event_mode(void** state) {
  (void)state;
  outcome o;
  run_well(&(trial){{"stairs3"}, ALONE("stairs", "start: 0, stop: 1, step: 0.03"), NULL}, &o);
  assert_true(find_unit(&o, "a")->has_events);
  assert_true(find_unit(&o, "a")->n_events >= 4);
  run_well(
      &(trial){{"stairs3"}, ALONE("stairs, events: false", "start: 0, stop: 1, step: 0.05"), NULL},
      &o);
  assert_false(find_unit(&o, "a")->has_events);
  assert_int_equal(find_unit(&o, "a")->n_steps, 20);
  run_well(&(trial){{"clocks3"}, ALONE("clocks", "start: 0, stop: 1, step: 0.03"), NULL}, &o);
  assert_true(find_unit(&o, "a")->n_events >= 9);
  run_well(&(trial){{"clocks3"},
                    ALONE("clocks, isolate: process", "start: 0, stop: 1, step: 0.25"),
                    NULL},
           &o);
  assert_true(find_unit(&o, "a")->n_events >= 9);
}

// state events, time events, events on communication points, inputs that follow a polynomial
static void test_model_exchange(void** state) {
  (void)state;
  static const char* const times[] = {"start: 0, stop: 2, step: 0.1",
                                      "start: 0, stop: 2, step: 0.07",
                                      "start: 1e6, stop: 1000002, step: 0.05"};
  static const char* const solvers[] = {"rk4", "euler", "trapezoidal"};
  for (size_t i = 0; i < 3; i++) {
    for (int version = 2; version <= 3; version++) {
      char system[512];
      outcome o;
      snprintf(system, sizeof system,
               "yoke: 1\ninputs: start\ncalls: 1\ntime: {%s}\nunits:\n"
               "  a: {fmu: ball, interface: model-exchange, solver: %s}\n"
               "  b: {fmu: stairs_me, solver: %s}\n",
               i == 1 ? "start: 0, stop: 2.1, step: 0.07" : times[i], solvers[i], solvers[i]);
      run_well(
          &(trial){{version == 2 ? "ball2" : "ball3", version == 2 ? "stairs_me2" : "stairs_me3"},
                   system,
                   NULL},
          &o);
      assert_true(find_unit(&o, "a")->n_events >= 2);
      assert_true(find_unit(&o, "b")->n_events >= 9);
    }
  }
}

static void test_model_exchange_inputs(void** state) {
  (void)state;
  static const trial trials[] = {
      {{"sine_me2"},
       "yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 0, stop: 1, step: 0.1}\nunits:\n  a: {fmu: "
       "sine_me}\n  b: {fmu: "
       "sine_me}\nconnections:\n  - {from: a.y, to: b.u, order: 2}\n",
       NULL},
      {{"sine_me3"},
       "yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 0, stop: 1, step: 0.1}\nexchange: "
       "fresh\nunits:\n  a: {fmu: "
       "sine_me}\n  b: {fmu: sine_me, isolate: process}\nconnections:\n  - a.y -> b.u\n",
       NULL},
  };
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    outcome o;
    run_well(&trials[i], &o);
  }
}

// A failure of each function, as error and as fatal: what follows is legal, and the message names unit and function.
static void check_failure(const char* fmu, const char* system, const char* function, int n,
                          const char* when) {
  for (int status = 3; status <= 4; status++) {
    char failure[96];
    outcome o;
    snprintf(failure, sizeof failure, "%s %d %d", function, n, status);
    run(&(trial){{fmu}, system, failure}, &o);
    if (o.status >= 0) {
      fail_msg("%s: the run went on", failure);
    }
    check_contains(o.message, "'a'");
    check_contains(o.message, function);
    if (strstr(function, "Instantiate") == NULL) {
      check_contains(o.message, status == 3 ? "error" : "fatal");
    }
    if (when != NULL) {
      check_contains(o.message, when);
    }
  }
}

static void test_failures_of_co_simulation(void** state) {
  (void)state;
  static const char system2[] =
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 0, stop: 0.1, step: 0.01}\nunits:\n  a: "
      "{fmu: oscillator_mass, start: "
      "{x: 1}, with: {m: 2}}\nrecord: {signals: [\"*\", a.m]}\n";
  static const char* const functions[] = {"Instantiate", "SetupExperiment",
                                          "EnterInitializationMode", "ExitInitializationMode"};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    char name[64];
    snprintf(name, sizeof name, "fmi2%s", functions[i]);
    check_failure("oscillator_mass2", system2, name, i == 0 ? 0 : 1, NULL);
    snprintf(name, sizeof name, "fmi3%s%s", functions[i], i == 0 ? "CoSimulation" : "");
    if (i != 1) {
      check_failure("oscillator_mass3", system2, name, i == 0 ? 0 : 1, NULL);
    }
  }
  check_failure("oscillator_mass2", system2, "fmi2SetReal", 1, NULL);
  check_failure("oscillator_mass3", system2, "fmi3SetFloat64", 1, NULL);
  check_failure("oscillator_mass2", system2, "fmi2DoStep", 4, "t = 0.03 s");
  check_failure("oscillator_mass3", system2, "fmi3DoStep", 4, "t = 0.03 s");
}

static void test_failures_of_others(void** state) {
  (void)state;
  static const char stairs[] = ALONE("stairs", "start: 0, stop: 1, step: 0.05");
  check_failure("stairs3", stairs, "fmi3UpdateDiscreteStates", 1, NULL);
  check_failure("stairs3", stairs, "fmi3UpdateDiscreteStates", 3, "t = ");
  check_failure("stairs3", stairs, "fmi3EnterStepMode", 2, "t = ");
  check_failure("stairs3", stairs, "fmi3EnterEventMode", 3, "t = ");
  static const char ball[] =
      ALONE("ball, interface: model-exchange", "start: 0, stop: 2, step: 0.05");
  check_failure("ball2", ball, "fmi2NewDiscreteStates", 1, NULL);
  check_failure("ball2", ball, "fmi2NewDiscreteStates", 2, "t = ");
  check_failure("ball2", ball, "fmi2GetDerivatives", 30, "t = ");
  check_failure("ball3", ball, "fmi3GetEventIndicators", 30, "t = ");
  check_failure("ball3", ball, "fmi3EnterContinuousTimeMode", 2, "t = ");
  check_failure("ball3", ball, "fmi3SetContinuousStates", 60, "t = ");
  static const char away[] =
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 0, stop: 0.1, step: 0.01}\nunits:\n"
      "  a: {fmu: oscillator_mass, isolate: process}\n";
  check_failure("oscillator_mass2", away, "fmi2DoStep", 4, "t = 0.03 s");
  check_failure("oscillator_mass3", away, "fmi3ExitInitializationMode", 1, NULL);
}

// a step that is discarded ends the run, and the unit is still terminated and freed
static void test_discard(void** state) {
  (void)state;
  outcome o;
  run(&(trial){{"oscillator_mass2"},
               ALONE("oscillator_mass", "start: 0, stop: 0.1, step: 0.01"),
               "fmi2DoStep 3 2"},
      &o);
  assert_int_equal(o.status, YOKE_DISCARDED);
  check_contains(o.message, "'a'");
  check_contains(o.message, "fmi2DoStep");
  assert_int_equal(o.record.units[0].n_terminate, 1);
  run(&(trial){{"oscillator_mass3"},
               ALONE("oscillator_mass, isolate: process", "start: 0, stop: 0.1, step: 0.01"),
               "fmi3DoStep 3 2"},
      &o);
  assert_int_equal(o.status, YOKE_DISCARDED);
  check_contains(o.message, "fmi3DoStep");
  assert_int_equal(o.record.units[0].n_terminate, 1);
}

static int remove_entry(const char* path, const struct stat* info, int kind, struct FTW* place) {
  (void)info, (void)kind, (void)place;
  return remove(path);
}

static int set_up(void** state) {
  (void)state;
  const char* folder = getenv("TMPDIR");
  snprintf(root, sizeof root, "%.200s/yoke-calls-XXXXXX", folder == NULL ? "/tmp" : folder);
  return mkdtemp(root) == NULL ? -1 : 0;
}

static int tear_down(void** state) {
  (void)state;
  return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_typed_values),
      cmocka_unit_test(test_rates),
      cmocka_unit_test(test_rollback),
      cmocka_unit_test(test_trial_steps),
      cmocka_unit_test(test_event_mode),
      cmocka_unit_test(test_model_exchange),
      cmocka_unit_test(test_model_exchange_inputs),
      cmocka_unit_test(test_failures_of_co_simulation),
      cmocka_unit_test(test_failures_of_others),
      cmocka_unit_test(test_discard),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
