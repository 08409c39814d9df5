// The test FMUs of FMI 2.0, driven by hand: their numbers are right and their faults are the ones they promise, so that
// tests of the importer can rely on them.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmus/drive.h"
#include "models/oscillator/oscillator.h"
#include "yoke/unit.h"

// ---- the oscillators against the native units
static double* native(const yoke_unit_info* info, void* self, const char* name) {
  for (size_t i = 0; i < info->n_variables; i++) {
    if (strcmp(info->variables[i].name, name) == 0) {
      return (double*)((char*)self + info->variables[i].offset);
    }
  }
  fail_msg("no variable %s", name);
  return NULL;
}

// A native unit with its start values.
static void* native_create(const yoke_unit_ops* ops) {
  char* self = calloc(1, ops->info->self_size);
  assert_non_null(self);
  for (size_t i = 0; i < ops->info->n_variables; i++) {
    const yoke_variable* v = &ops->info->variables[i];
    if (v->type == YOKE_REAL) {
      memcpy(self + v->offset, &v->start, sizeof v->start);
    } else {
      const int64_t whole = (int64_t)v->start;
      memcpy(self + v->offset, &whole, sizeof whole);
    }
  }
  return self;
}

// CS-27 for one unit: the same inputs give the same bytes, step for step.
static void oscillators_equal_the_native_units(void** state) {
  static const char* const force_names[] = {"x_other", "v_other", "f", "x",  "v", "E",
                                            "m",       "k",       "c", "kc", "cc"};
  static const char* const mass_names[] = {"f", "x", "v", "E", "m", "k", "c", "sign"};
  const struct {
    const char* name;
    const yoke_unit_ops* ops;
    const char* const* names;
    size_t n_names, n_inputs;
  } cases[] = {{"oscillator_force", &yoke__model_oscillator_force, force_names, 11, 2},
               {"oscillator_mass", &yoke__model_oscillator_mass, mass_names, 8, 1}};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    const yoke_unit_info* info = cases[i].ops->info;
    void* self = native_create(cases[i].ops);
    drive d;
    drive_make2(&d, cases[i].name, "a", NULL, fmi2CoSimulation);
    assert_non_null(d.c);

    // defaults agree, then numbers that are not round
    for (size_t j = 0; j < cases[i].n_names; j++) {
      if (strcmp(cases[i].names[j], "f") != 0 && strcmp(cases[i].names[j], "E") != 0) {
        check_near(drive_real2(&d, (unsigned)j + 1), *native(info, self, cases[i].names[j]), 0.0);
        const double value = strcmp(cases[i].names[j], "sign") == 0 ? -1.0 : 0.3 + 0.7 * (double)j;
        drive_set2(&d, (unsigned)j + 1, value);
        *native(info, self, cases[i].names[j]) = value;
      }
    }
    drive_init2(&d, 0.0);
    check_ok(cases[i].ops->enter_init(self, 0.0, 1.0, NULL));
    for (int k = 0; k < 1000; k++) {
      for (size_t j = 0; j < cases[i].n_inputs; j++) {
        const double u = sin(0.1 * (double)k + (double)j);
        drive_set2(&d, (unsigned)j + 1, u);
        *native(info, self, cases[i].names[j]) = u;
      }
      yoke_step_result result = {0};
      assert_int_equal(d.f2->DoStep(d.c, 1e-3 * k, 1e-3, fmi2True), fmi2OK);
      check_ok(cases[i].ops->step(self, 1e-3 * k, 1e-3, &result));
      for (size_t j = 0; j < cases[i].n_names; j++) {
        check_near(drive_real2(&d, (unsigned)j + 1), *native(info, self, cases[i].names[j]), 0.0);
      }
    }
    drive_end(&d, true);
    free(self);
  }
}

// A saved, a serialised and a restored state give the same future; the derivative is that of differences.
static void states_and_derivatives_are_right(void** state) {
  drive d;
  (void)state;
  drive_make2(&d, "oscillator_force", "a", NULL, fmi2CoSimulation);
  drive_set2(&d, 5, 100.0);
  drive_set2(&d, 11, 3.0);
  drive_init2(&d, 0.0);
  assert_int_equal(d.f2->DoStep(d.c, 0.0, 1e-3, fmi2False), fmi2OK);
  fmi2FMUstate saved = NULL;
  fmi2FMUstate copy = NULL;
  size_t size = 0;
  assert_int_equal(d.f2->GetFMUstate(d.c, &saved), fmi2OK);
  assert_int_equal(d.f2->SerializedFMUstateSize(d.c, saved, &size), fmi2OK);
  char* bytes = malloc(size);
  assert_non_null(bytes);
  assert_int_equal(d.f2->SerializeFMUstate(d.c, saved, bytes, size), fmi2OK);
  assert_int_equal(d.f2->DoStep(d.c, 1e-3, 1e-3, fmi2False), fmi2OK);
  const double x = drive_real2(&d, 4);
  assert_int_equal(d.f2->SetFMUstate(d.c, saved), fmi2OK);
  assert_int_equal(d.f2->DoStep(d.c, 1e-3, 1e-3, fmi2False), fmi2OK);
  check_near(drive_real2(&d, 4), x, 0.0);
  assert_int_equal(d.f2->DeSerializeFMUstate(d.c, bytes, size, &copy), fmi2OK);
  assert_int_equal(d.f2->SetFMUstate(d.c, copy), fmi2OK);
  assert_int_equal(d.f2->DoStep(d.c, 1e-3, 1e-3, fmi2False), fmi2OK);
  check_near(drive_real2(&d, 4), x, 0.0);
  assert_int_equal(d.f2->FreeFMUstate(d.c, &saved), fmi2OK);
  assert_int_equal(d.f2->FreeFMUstate(d.c, &copy), fmi2OK);
  assert_null(saved);
  free(bytes);

  // f is linear in its inputs: differences are exact but for round-off
  const fmi2ValueReference f = 3;
  const fmi2ValueReference inputs[] = {1, 2};
  const double seed[] = {2.0, -5.0};
  double slope = 0.0;
  assert_int_equal(d.f2->GetDirectionalDerivative(d.c, &f, 1, inputs, 2, seed, &slope), fmi2OK);
  check_near(slope, -2.0 * 100.0 + 5.0 * 3.0, 1e-12);
  const double before = drive_real2(&d, 3);
  drive_set2(&d, 1, 2.0);
  drive_set2(&d, 2, -5.0);
  check_near(drive_real2(&d, 3) - before, slope, 1e-9);
  drive_end(&d, true);
}

// ---- strictness
static void wrong_calls_are_errors_with_messages(void** state) {
  drive d;
  (void)state;
  drive_make2(&d, "oscillator_mass", "a", "wrong", fmi2CoSimulation);
  assert_null(d.c);
  check_contains(d.log, "wrong guid \"wrong\"");
  yoke__fmi_binary_close(&d.binary);

  const fmi2ValueReference k = 6;
  const fmi2ValueReference nothing = 99;
  double value = 1.0;
  drive_make2(&d, "oscillator_mass", "a", NULL, fmi2CoSimulation);
  assert_int_equal(d.f2->DoStep(d.c, 0.0, 0.1, fmi2True), fmi2Error);
  check_contains(d.log, "fmi2DoStep must not be called now");
  drive_init2(&d, 1.0);
  assert_int_equal(d.f2->SetReal(d.c, &k, 1, &value), fmi2Error);
  check_contains(d.log, "variable 6 must not be set now");
  assert_int_equal(d.f2->GetReal(d.c, &nothing, 1, &value), fmi2Error);
  check_contains(d.log, "reference 99");
  assert_int_equal(d.f2->GetInteger(d.c, &k, 1, &(int){0}), fmi2Error);
  assert_int_equal(d.f2->DoStep(d.c, 1.0 + 1e-8, 0.1, fmi2True), fmi2Error);
  check_contains(d.log, "is asked for at 1");
  assert_int_equal(d.f2->DoStep(d.c, 1.0, 0.1, fmi2True), fmi2OK);
  assert_int_equal(d.f2->EnterInitializationMode(d.c), fmi2Error);
  drive_end(&d, true);
}

// ---- feedthrough
static void feedthrough_copies_every_type(void** state) {
  drive d;
  (void)state;
  drive_make2(&d, "feedthrough", "a", NULL, fmi2CoSimulation);
  const fmi2ValueReference in[] = {7, 14};
  const fmi2ValueReference out[] = {107, 114};
  const fmi2ValueReference flag[] = {11, 111, 211};
  const fmi2ValueReference text[] = {12, 112, 212};
  int numbers[2] = {-12345678, 10};
  int flags[1] = {1};
  fmi2String texts[1] = {"gr\xc3\xbc\xc3\x9f dich"};
  assert_int_equal(d.f2->SetInteger(d.c, in, 2, numbers), fmi2OK);
  assert_int_equal(d.f2->SetBoolean(d.c, flag, 1, flags), fmi2OK);
  assert_int_equal(d.f2->SetString(d.c, text, 1, texts), fmi2OK);
  drive_init2(&d, 0.0);
  drive_set2(&d, 1, -2.5);
  drive_set2(&d, 300, 0.25);
  assert_int_equal(d.f2->DoStep(d.c, 0.0, 1.0, fmi2True), fmi2OK);
  check_near(drive_real2(&d, 101), -2.25, 0.0);
  check_near(drive_real2(&d, 0), 1.0, 0.0);
  numbers[0] = numbers[1] = flags[0] = 0;
  assert_int_equal(d.f2->GetInteger(d.c, out, 2, numbers), fmi2OK);
  assert_int_equal(numbers[0], -12345678);
  assert_int_equal(numbers[1], 10);
  assert_int_equal(d.f2->GetBoolean(d.c, &flag[1], 1, flags), fmi2OK);
  assert_int_equal(flags[0], 1);
  assert_int_equal(d.f2->GetString(d.c, &text[1], 1, texts), fmi2OK);
  assert_string_equal(texts[0], "gr\xc3\xbc\xc3\x9f dich");
  assert_int_equal(d.f2->GetString(d.c, &text[2], 1, texts), fmi2OK);
  assert_string_equal(texts[0], "a parameter");
  drive_end(&d, true);
}

// ---- faults
enum { AT = 6, WHAT, WHERE };

static void make_faulty(drive* d, int what, int where) {
  const fmi2ValueReference references[] = {WHAT, WHERE};
  const int values[] = {what, where};
  drive_make2(d, "faulty", "a", NULL, fmi2CoSimulation);
  assert_int_equal(d->f2->SetInteger(d->c, references, 2, values), fmi2OK);
  drive_set2(d, AT, 0.2);
}

// Status of the step from 0.2 to 0.3, after two good ones.
static fmi2Status third_step(drive* d) {
  drive_init2(d, 0.0);
  assert_int_equal(d->f2->DoStep(d->c, 0.0, 0.1, fmi2False), fmi2OK);
  assert_int_equal(d->f2->DoStep(d->c, 0.1, 0.1, fmi2False), fmi2OK);
  return d->f2->DoStep(d->c, 0.2, 0.1, fmi2False);
}

static void faults_come_at_their_time(void** state) {
  static const struct {
    int what;
    fmi2Status status;
    const char* log;
  } cases[] = {{0, fmi2OK, ""},
               {1, fmi2Discard, ""},
               {2, fmi2Error, "told to fail at 0.2"},
               {3, fmi2Fatal, "told to die"},
               {4, fmi2Warning, "told to warn"},
               {5, fmi2Pending, ""},
               {12, fmi2OK, "(null): 50 % of #r1# done at 0.5 s: half"},
               {15, fmi2OK, ""}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    drive d;
    make_faulty(&d, cases[i].what, 0);
    assert_int_equal(third_step(&d), cases[i].status);
    check_contains(d.log, cases[i].log);
    double time = 0.0;
    assert_int_equal(d.f2->GetRealStatus(d.c, fmi2LastSuccessfulTime, &time), fmi2OK);
    check_near(time, cases[i].status == fmi2Discard ? 0.2 : 0.3, 1e-15);
    if (cases[i].status == fmi2Pending) {
      fmi2Status status = fmi2OK;
      for (int j = 0; j < 4; j++) {
        assert_int_equal(d.f2->GetStatus(d.c, fmi2DoStepStatus, &status), fmi2OK);
        assert_int_equal(status, j < 3 ? fmi2Pending : fmi2OK);
      }
    }
    drive_end(&d, cases[i].status <= fmi2Warning);
  }
}

static void outputs_go_wrong_as_told(void** state) {
  const fmi2ValueReference text = 4;
  fmi2String value = "";
  drive d;
  (void)state;
  make_faulty(&d, 10, 0);
  assert_int_equal(third_step(&d), fmi2OK);
  assert_true(isnan(drive_real2(&d, 2)));
  drive_end(&d, true);

  make_faulty(&d, 13, 0);
  assert_int_equal(third_step(&d), fmi2OK);
  assert_int_equal(d.f2->GetString(d.c, &text, 1, &value), fmi2OK);
  assert_null(value);
  drive_end(&d, true);

  // the clock of the FMU is half a step behind
  make_faulty(&d, 11, 0);
  assert_int_equal(third_step(&d), fmi2OK);
  check_near(drive_real2(&d, 0), 0.25, 1e-15);
  double time = 0.0;
  assert_int_equal(d.f2->GetRealStatus(d.c, fmi2LastSuccessfulTime, &time), fmi2OK);
  check_near(time, 0.25, 1e-15);
  drive_end(&d, true);

  // FMI 2.0 asks for the end of a run by discarding a step
  fmi2Boolean is_end = fmi2False;
  make_faulty(&d, 16, 0);
  assert_int_equal(third_step(&d), fmi2Discard);
  assert_int_equal(d.f2->GetBooleanStatus(d.c, fmi2Terminated, &is_end), fmi2OK);
  assert_int_equal(is_end, fmi2True);
  drive_end(&d, true);

  // steps short enough are not discarded
  make_faulty(&d, 1, 0);
  drive_set2(&d, 9, 0.05);
  assert_int_equal(third_step(&d), fmi2Discard);
  assert_int_equal(d.f2->DoStep(d.c, 0.2, 0.05, fmi2False), fmi2OK);
  check_near(drive_real2(&d, 2), 3.0, 0.0);
  drive_end(&d, true);
}

static void initialisation_fails_as_told(void** state) {
  drive d;
  (void)state;
  make_faulty(&d, 2, 1);
  assert_int_equal(d.f2->SetupExperiment(d.c, 0, 0.0, 0.0, 0, 0.0), fmi2OK);
  assert_int_equal(d.f2->EnterInitializationMode(d.c), fmi2OK);
  assert_int_equal(d.f2->ExitInitializationMode(d.c), fmi2Error);
  drive_end(&d, false);
  drive_make2(&d, "faulty", "instantiate_error", NULL, fmi2CoSimulation);
  assert_null(d.c);
  yoke__fmi_binary_close(&d.binary);
}

// How a process of its own ends that does the third step (or, where says so, something else).
static int end_of_process(int what, int where) {
  (void)fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    // a sanitizer's handlers would turn signals into messages
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGABRT, SIG_DFL);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    (void)alarm(what == 8 ? 1 : 60);  // only a hang is cut short
    drive d;
    make_faulty(&d, what, where);
    const fmi2Status status = third_step(&d);
    (void)drive_real2(&d, 2);
    (void)d.f2->Terminate(d.c);
    d.f2->FreeInstance(d.c);
    _exit(100 + (int)status);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void deadly_faults_are_real(void** state) {
  (void)state;
  assert_int_equal(end_of_process(0, 0), 100);
  for (int where = 0; where <= 4; where++) {
    assert_int_equal(end_of_process(6, where), -SIGSEGV);
    assert_int_equal(end_of_process(14, where), 3);
  }
  assert_int_equal(end_of_process(7, 0), -SIGABRT);
  assert_int_equal(end_of_process(8, 0), -SIGALRM);
  assert_int_equal(end_of_process(9, 0), 100);
}

// ---- the rest
static void lags_step_right(void** state) {
  static const char* const names[] = {"trivial", "needs_tool", "only_once"};
  (void)state;
  for (size_t i = 0; i < 3; i++) {
    drive d;
    drive_make2(&d, names[i], "a", NULL, fmi2CoSimulation);
    assert_non_null(d.c);
    drive_init2(&d, 0.0);
    drive_set2(&d, 1, 3.0);
    assert_int_equal(d.f2->DoStep(d.c, 0.0, 0.5, fmi2True), fmi2OK);
    assert_int_equal(d.f2->DoStep(d.c, 0.5, 0.5, fmi2True), fmi2OK);
    check_near(drive_real2(&d, 2), 2.25, 0.0);

    // a second instance in the same process
    drive e;
    drive_make2(&e, names[i], "b", NULL, fmi2CoSimulation);
    assert_int_equal(e.c == NULL, i == 2);
    if (e.c == NULL) {
      check_contains(e.log, "only one instance");
      yoke__fmi_binary_close(&e.binary);
    } else {
      drive_end(&e, false);
    }
    drive_end(&d, true);
  }
}

static void wide_ones_copy_all(void** state) {
  static const char* const names[] = {"narrow", "wide", "broad"};
  static const int sizes[] = {16, 64, 256};
  (void)state;
  for (size_t i = 0; i < 3; i++) {
    drive d;
    d.binary = drive_load(names[i], 2, YOKE_FMI_CS);
    d = (drive){.binary = d.binary, .f2 = &d.binary->f2};
    d.callbacks = (fmi2CallbackFunctions){drive_log2, calloc, free, NULL, NULL};
    d.c = d.f2->Instantiate("a", fmi2CoSimulation, "yoke-test-wide", "", &d.callbacks, 0, 0);
    assert_non_null(d.c);
    drive_init2(&d, 0.0);
    for (int j = 0; j < sizes[i]; j++) {
      drive_set2(&d, (unsigned)j + 1, 0.5 + j);
    }
    assert_int_equal(d.f2->DoStep(d.c, 0.0, 0.5, fmi2True), fmi2OK);
    for (int j = 0; j < sizes[i]; j++) {
      check_near(drive_real2(&d, (unsigned)j + 2001), 0.5 + j, 0.0);
    }
    drive_end(&d, true);
  }
}

static void resources_are_read_by_uri(void** state) {
  drive d;
  (void)state;
  drive_make2(&d, "resources", "a", NULL, fmi2CoSimulation);
  assert_non_null(d.c);
  drive_init2(&d, 0.0);
  check_near(drive_real2(&d, 1), 42.5, 0.0);
  drive_end(&d, true);
}

// y' = u with u = 1 + 2 t + 3 t^2: exact with two derivatives, y = t + t^2 + t^3.
static void input_derivatives_are_used(void** state) {
  const fmi2ValueReference u[] = {1, 1};
  const fmi2ValueReference y[] = {2, 2};
  const int orders[] = {1, 2};
  drive d;
  (void)state;
  drive_make2(&d, "derivatives", "a", NULL, fmi2CoSimulation);
  drive_init2(&d, 0.0);
  for (int k = 0; k < 4; k++) {
    const double t = 0.25 * k;
    const double derivatives[] = {2.0 + 6.0 * t, 6.0};
    double slopes[2];
    drive_set2(&d, 1, 1.0 + t * (2.0 + 3.0 * t));
    assert_int_equal(d.f2->SetRealInputDerivatives(d.c, u, 2, orders, derivatives), fmi2OK);
    assert_int_equal(d.f2->DoStep(d.c, t, 0.25, fmi2True), fmi2OK);
    assert_int_equal(d.f2->GetRealOutputDerivatives(d.c, y, 2, orders, slopes), fmi2OK);
    const double end = t + 0.25;
    check_near(drive_real2(&d, 2), end * (1.0 + end * (1.0 + end)), 1e-15 * 16.0);
    check_near(slopes[0], 1.0 + end * (2.0 + 3.0 * end), 1e-14);
    check_near(slopes[1], 2.0 + 6.0 * end, 1e-14);
  }
  drive_end(&d, true);
}

static void imperfect_one_runs(void** state) {
  const fmi2ValueReference text = 5;
  fmi2String value = "";
  drive d;
  (void)state;
  drive_make2(&d, "imperfect", "a", NULL, fmi2CoSimulation);
  drive_init2(&d, 0.0);
  drive_set2(&d, 1, 3.0);
  drive_set2(&d, 2, 4.0);
  assert_int_equal(d.f2->DoStep(d.c, 0.0, 1.0, fmi2True), fmi2OK);
  check_near(drive_real2(&d, 3), 14.0, 0.0);
  check_near(drive_real2(&d, 4), 12.0, 0.0);
  assert_int_equal(d.f2->GetString(d.c, &text, 1, &value), fmi2OK);
  assert_null(value);
  drive_end(&d, true);
}

// Height of the ball at time t by the closed solution: parabolas between impacts.
static double height(double t) {
  const double g = 9.81;
  double from = sqrt(2.0 / g);
  double v = g * from;
  if (t <= from) {
    return 1.0 - 0.5 * g * t * t;
  }
  v *= 0.7;
  while (t > from + 2.0 * v / g) {
    from += 2.0 * v / g;
    v *= 0.7;
  }
  return v * (t - from) - 0.5 * g * (t - from) * (t - from);
}

static void ball_bounces(void** state) {
  drive d;
  (void)state;
  drive_make2(&d, "ball", "a", NULL, fmi2CoSimulation);
  drive_init2(&d, 0.0);
  for (int k = 0; k < 200; k++) {
    assert_int_equal(d.f2->DoStep(d.c, 0.01 * k, 0.01, fmi2True), fmi2OK);
    // round-off of 200 steps, a speed of 4 m/s
    check_near(drive_real2(&d, 1), height(0.01 * (k + 1)), 1e-12);
  }
  drive_end(&d, true);

  // model exchange: the event reverses the speed
  fmi2EventInfo info;
  const double falling[] = {-1e-9, -2.0};
  double x[2];
  double z = 0.0;
  drive_make2(&d, "ball", "a", NULL, fmi2ModelExchange);
  drive_init2(&d, 0.0);
  assert_int_equal(d.f2->NewDiscreteStates(d.c, &info), fmi2OK);
  assert_int_equal(info.valuesOfContinuousStatesChanged, fmi2False);
  assert_int_equal(d.f2->EnterContinuousTimeMode(d.c), fmi2OK);
  assert_int_equal(d.f2->SetTime(d.c, 0.5), fmi2OK);
  assert_int_equal(d.f2->SetContinuousStates(d.c, falling, 2), fmi2OK);
  assert_int_equal(d.f2->GetEventIndicators(d.c, &z, 1), fmi2OK);
  assert_true(z < 0.0);
  assert_int_equal(d.f2->EnterEventMode(d.c), fmi2OK);
  assert_int_equal(d.f2->NewDiscreteStates(d.c, &info), fmi2OK);
  assert_int_equal(info.valuesOfContinuousStatesChanged, fmi2True);
  assert_int_equal(d.f2->EnterContinuousTimeMode(d.c), fmi2OK);
  assert_int_equal(d.f2->GetContinuousStates(d.c, x, 2), fmi2OK);
  check_near(x[0], 0.0, 0.0);
  check_near(x[1], 1.4, 1e-15);
  assert_int_equal(d.f2->GetEventIndicators(d.c, &z, 1), fmi2OK);
  assert_true(z > 0.0);
  assert_int_equal(d.f2->GetDerivatives(d.c, x, 2), fmi2OK);
  check_near(x[1], -9.81, 0.0);
  drive_end(&d, true);
}

// One step of co-simulation against the Taylor series of order 4 at (2, 0) with mu = 1:
// x' = 0, x'' = -2, x''' = 6, x'''' = -16.
static void van_der_pol_starts_right(void** state) {
  const double h = 1e-3;
  drive d;
  (void)state;
  drive_make2(&d, "vanderpol", "a", NULL, fmi2CoSimulation);
  drive_init2(&d, 0.0);
  assert_int_equal(d.f2->DoStep(d.c, 0.0, h, fmi2True), fmi2OK);
  check_near(drive_real2(&d, 1), 2.0 - h * h + h * h * h - 16.0 / 24.0 * h * h * h * h, 1e-13);
  check_near(drive_real2(&d, 3), -2.0 * h + 3.0 * h * h - 16.0 / 6.0 * h * h * h, 1e-10);
  drive_end(&d, true);
}

static void exchange_models_have_their_derivatives(void** state) {
  drive d;
  double dx[2];
  (void)state;
  drive_make2(&d, "dahlquist", "a", NULL, fmi2ModelExchange);
  drive_set2(&d, 3, 4.0);
  drive_init2(&d, 0.0);
  assert_int_equal(d.f2->GetDerivatives(d.c, dx, 1), fmi2OK);
  check_near(dx[0], -4.0, 0.0);
  assert_int_equal(d.f2->GetDerivatives(d.c, dx, 2), fmi2Error);
  drive_end(&d, true);

  drive_make2(&d, "sine_me", "a", NULL, fmi2ModelExchange);
  drive_set2(&d, 7, 2.0);
  drive_init2(&d, 0.0);
  drive_set2(&d, 1, 5.0);
  assert_int_equal(d.f2->GetDerivatives(d.c, dx, 2), fmi2OK);
  check_near(dx[0], 2.0, 0.0);
  check_near(dx[1], 5.0, 0.0);
  check_near(drive_real2(&d, 2), 5.0, 0.0);
  const fmi2ValueReference unknowns[] = {2, 6};
  const fmi2ValueReference knowns[] = {1, 3};
  const double seed[] = {1.0, 10.0};
  double slopes[2];
  assert_int_equal(d.f2->GetDirectionalDerivative(d.c, unknowns, 2, knowns, 2, seed, slopes),
                   fmi2OK);
  check_near(slopes[0], 11.0, 0.0);
  check_near(slopes[1], 1.0 - 20.0, 0.0);
  drive_end(&d, true);
}

static void time_events_are_told_in_advance(void** state) {
  const fmi2ValueReference counter = 1;
  fmi2EventInfo info;
  int value = -1;
  drive d;
  (void)state;
  drive_make2(&d, "stairs_me", "a", NULL, fmi2ModelExchange);
  drive_init2(&d, 1.0);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(d.f2->NewDiscreteStates(d.c, &info), fmi2OK);
    assert_int_equal(info.nextEventTimeDefined, fmi2True);
    check_near(info.nextEventTime, 1.0 + 0.2 * (k + 1), 1e-15 * 4.0);
    assert_int_equal(d.f2->GetInteger(d.c, &counter, 1, &value), fmi2OK);
    assert_int_equal(value, k);
    assert_int_equal(d.f2->EnterContinuousTimeMode(d.c), fmi2OK);
    assert_int_equal(d.f2->SetTime(d.c, info.nextEventTime), fmi2OK);
    assert_int_equal(d.f2->EnterEventMode(d.c), fmi2OK);
  }
  drive_end(&d, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(oscillators_equal_the_native_units),
      cmocka_unit_test(states_and_derivatives_are_right),
      cmocka_unit_test(wrong_calls_are_errors_with_messages),
      cmocka_unit_test(feedthrough_copies_every_type),
      cmocka_unit_test(faults_come_at_their_time),
      cmocka_unit_test(outputs_go_wrong_as_told),
      cmocka_unit_test(initialisation_fails_as_told),
      cmocka_unit_test(deadly_faults_are_real),
      cmocka_unit_test(lags_step_right),
      cmocka_unit_test(wide_ones_copy_all),
      cmocka_unit_test(resources_are_read_by_uri),
      cmocka_unit_test(input_derivatives_are_used),
      cmocka_unit_test(imperfect_one_runs),
      cmocka_unit_test(ball_bounces),
      cmocka_unit_test(van_der_pol_starts_right),
      cmocka_unit_test(exchange_models_have_their_derivatives),
      cmocka_unit_test(time_events_are_told_in_advance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
