// The runtime inside exported FMUs under importers that do everything wrong: order of calls, references, types, values,
// tokens, places, states, memory. Each fault must be an error with a message, and the instance must go on where it can.
#include <math.h>
#include <stdint.h>

#include "exported.h"
#include "support/failing_heap.h"

static const char oscillator_start[] = "start: {x: 0.5, v: 1}";

// Variables of oscillator.force by their index, which is their reference too: all are scalars.
enum { X_OTHER, V_OTHER, F, X, V, E, M, K, C, KC, CC, SPRING };

static void expect(fmu_instance* f, int got, int want, const char* message) {
  if (got != want || (message[0] != '\0' && strstr(f->log, message) == NULL)) {
    fail_msg("FMI %d: status %d, expected %d with '%s'; messages: %s", f->from->job.fmi, got, want,
             message, f->log);
  }
  f->log[0] = '\0';
}

static int set_real(fmu_instance* f, uint32_t reference, double value) {
  return fmu_set_reals(f, reference, &value, 1);
}

static int get_real(fmu_instance* f, uint32_t reference, double* value) {
  const yoke_fmi_binary* b = f->from->binary;
  return f->from->job.fmi == 2 ? (int)b->f2.GetReal(f->c, &reference, 1, value)
                               : (int)b->f3.GetFloat64(f->c, &reference, 1, value, 1);
}

static double real_of(fmu_instance* f, uint32_t reference) {
  double value = (double)NAN;
  expect(f, get_real(f, reference, &value), FMU_OK, "");
  return value;
}

static int set_whole(fmu_instance* f, uint32_t reference, int value) {
  const yoke_fmi_binary* b = f->from->binary;
  const int64_t wide = value;
  return f->from->job.fmi == 2 ? (int)b->f2.SetInteger(f->c, &reference, 1, &value)
                               : (int)b->f3.SetInt64(f->c, &reference, 1, &wide, 1);
}

static void start(fmu_instance* f) {
  expect(f, fmu_enter(f, 0.0), FMU_OK, "");
  expect(f, fmu_exit(f), FMU_OK, "");
}

// ---- instantiation

static void check_refused(const exported* e, const char* token, const char* resources,
                          const char* message) {
  fmu_instance f;
  fmu_try(&f, e, token, resources);
  if (f.c != NULL || strstr(f.log, message) == NULL) {
    fail_msg("FMI %d: instance %p, expected none with '%s'; messages: %s", e->job.fmi, f.c, message,
             f.log);
  }
}

// The same folder, written in the ways that importers have.
static void check_places(const exported* e) {
  char folder[4096], text[8400];
  snprintf(folder, sizeof folder, "%.*s", (int)strlen(e->resources) - 1, e->resources);
  const char* const prefixes[] = {"", "file://", "file:", "file://localhost"};
  for (size_t i = 0; i < (e->job.fmi == 3 ? 1 : YOKE_COUNT(prefixes)); i++) {
    snprintf(text, sizeof text, "%s%s", prefixes[i], folder);
    if (i == 1) {
      // any character may be written by its code
      const char* slash = strchr(folder + 1, '/');
      snprintf(text, sizeof text, "file://%.*s%%2F%s", (int)(slash - folder), folder, slash + 1);
    }
    fmu_instance f;
    fmu_try(&f, e, NULL, text);
    if (f.c == NULL) {
      fail_msg("resources at %s: %s", text, f.log);
    }
    fmu_close(&f);
  }
}

static void check_instantiation(int fmi) {
  exported e;
  exported_open(&e, "oscillator.force", oscillator_start, fmi);
  check_refused(&e, "{00000000-0000-0000-0000-000000000000}", NULL, "the token is '{0000");
  check_refused(&e, NULL, fmi == 2 ? "file:///nowhere/at/all" : "/nowhere/at/all/",
                "the resources cannot be used: /nowhere/at/all");
  check_places(&e);
  exported_close(&e);
}

static void test_instantiation(void** state) {
  (void)state;
  check_instantiation(2);
  check_instantiation(3);
}

// What the description denies: other interfaces, event mode, intermediate values.
static void test_interfaces(void** state) {
  (void)state;
  exported e;
  fmu_instance f = {0};
  exported_open(&e, "gain", "", 2);
  f.callbacks = (fmi2CallbackFunctions){.logger = fmu_log2, .componentEnvironment = &f};
  const char* token = e.package->description->token;
  assert_null(e.binary->f2.Instantiate("u", fmi2ModelExchange, token, e.uri, &f.callbacks, 0, 0));
  check_contains(f.log, "co-simulation only");
  assert_null(e.binary->f2.Instantiate("u", fmi2CoSimulation, token, e.uri, NULL, 0, 0));
  assert_string_equal(e.binary->f2.GetVersion(), "2.0");
  assert_string_equal(e.binary->f2.GetTypesPlatform(), "default");
  exported_close(&e);

  exported_open(&e, "gain", "", 3);
  token = e.package->description->token;
  const yoke_fmi3* f3 = &e.binary->f3;
  const uint32_t one = 0;
  f.log[0] = '\0';
  assert_null(f3->InstantiateModelExchange("u", token, e.resources, false, true, &f, fmu_log3));
  check_contains(f.log, "co-simulation only");
  assert_null(f3->InstantiateCoSimulation("u", token, e.resources, false, true, true, false, NULL,
                                          0, &f, fmu_log3, NULL));
  check_contains(f.log, "no event mode");
  assert_null(f3->InstantiateCoSimulation("u", token, e.resources, false, true, false, false, &one,
                                          1, &f, fmu_log3, NULL));
  check_contains(f.log, "no intermediate update");
  // nobody to tell is no reason to fail
  void* c = f3->InstantiateCoSimulation("u", token, e.resources, false, true, false, true, NULL, 0,
                                        NULL, NULL, NULL);
  assert_non_null(c);
  assert_int_equal(f3->ExitInitializationMode(c), fmi3Error);
  f3->FreeInstance(c);
  assert_string_equal(f3->GetVersion(), "3.0");
  exported_close(&e);
}

// ---- order of calls

static void check_order(int fmi) {
  exported e;
  exported_open(&e, "oscillator.force", oscillator_start, fmi);
  fmu_instance f;
  fmu_open(&f, &e);
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_ERROR, "DoStep is not allowed now");
  expect(&f, fmu_exit(&f), FMU_ERROR, "ExitInitializationMode is not allowed now");
  expect(&f, fmu_terminate(&f), FMU_ERROR, "Terminate is not allowed now");
  if (fmi == 2) {
    expect(&f, (int)e.binary->f2.EnterInitializationMode(f.c), FMU_ERROR,
           "fmi2SetupExperiment comes before");
  }
  expect(&f, fmu_enter(&f, (double)NAN), FMU_ERROR, "is not possible");
  expect(&f, fmu_enter(&f, 0.0), FMU_OK, "");
  expect(&f, fmu_enter(&f, 0.0), FMU_ERROR, "is not allowed now");
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_ERROR, "in its initialisation");
  expect(&f, fmu_exit(&f), FMU_OK, "");
  expect(&f, fmu_enter(&f, 0.0), FMU_ERROR, "between steps");

  // steps that cannot be, then one that can
  expect(&f, fmu_step(&f, 0.0, 0.0), FMU_ERROR, "is not possible");
  expect(&f, fmu_step(&f, 0.0, -1e-3), FMU_ERROR, "is not possible");
  expect(&f, fmu_step(&f, 0.0, (double)INFINITY), FMU_ERROR, "is not possible");
  expect(&f, fmu_step(&f, 0.5, 1e-3), FMU_ERROR, "the instance stands at 0");
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_OK, "");
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_ERROR, "the step starts at 0");
  expect(&f, fmu_terminate(&f), FMU_OK, "");
  expect(&f, fmu_step(&f, 1e-3, 1e-3), FMU_ERROR, "terminated");
  expect(&f, set_real(&f, X_OTHER, 1.0), FMU_ERROR, "terminated");
  assert_true(isfinite(real_of(&f, X)));
  fmu_close(&f);
  exported_close(&e);
}

static void test_order(void** state) {
  (void)state;
  check_order(2);
  check_order(3);
}

// Event mode is for an importer that asks for it, of an FMU that offers it: outputs after new inputs, and no steps.
static void test_event_mode(void** state) {
  (void)state;
  exported e;
  exported_open_as(&e, "gain", "with: {k: 3}", 3, true);
  const yoke_fmi3* f3 = &e.binary->f3;
  const char* token = e.package->description->token;
  fmu_instance f = {.from = &e};
  fmi3Boolean needed, end, nominals, states, next;
  double t_next = 0.0;
  f.c = f3->InstantiateCoSimulation("unit", token, e.resources, false, true, true, true, NULL, 0,
                                    &f, fmu_log3, NULL);
  assert_non_null(f.c);
  expect(&f, (int)f3->EnterEventMode(f.c), FMU_ERROR, "before its initialisation");
  expect(&f, fmu_enter(&f, 0.0), FMU_OK, "");
  expect(&f, fmu_exit(&f), FMU_OK, "");

  // after the initialisation it is in event mode
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_ERROR, "not allowed in event mode");
  expect(&f, (int)f3->EnterEventMode(f.c), FMU_ERROR, "is in event mode already");
  expect(&f, set_real(&f, 0, 2.0), FMU_OK, "");
  check_near(real_of(&f, 1), 6.0, 0.0);
  expect(&f, set_real(&f, 0, 5.0), FMU_OK, "");
  check_near(real_of(&f, 1), 15.0, 0.0);
  expect(&f, (int)f3->UpdateDiscreteStates(f.c, &needed, &end, &nominals, &states, &next, &t_next),
         FMU_OK, "");
  assert_false(needed || end || nominals || states || next);

  // the mode belongs to the state
  fmi3FMUState saved = NULL;
  expect(&f, (int)f3->GetFMUState(f.c, &saved), FMU_OK, "");
  expect(&f, (int)f3->EnterStepMode(f.c), FMU_OK, "");
  expect(&f, (int)f3->EnterStepMode(f.c), FMU_ERROR, "is not in event mode");
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_OK, "");
  expect(&f, (int)f3->SetFMUState(f.c, saved), FMU_OK, "");
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_ERROR, "not allowed in event mode");
  expect(&f, (int)f3->FreeFMUState(f.c, &saved), FMU_OK, "");
  fmu_close(&f);

  // the same FMU without it
  fmu_open(&f, &e);
  expect(&f, fmu_enter(&f, 0.0), FMU_OK, "");
  expect(&f, fmu_exit(&f), FMU_OK, "");
  expect(&f, (int)f3->EnterEventMode(f.c), FMU_ERROR, "was made without event mode");
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_OK, "");
  fmu_close(&f);
  exported_close(&e);
}

// NULL instances are an error, not the end of the importer.
static void test_no_instance(void** state) {
  (void)state;
  exported e;
  double value = 0.0;
  const uint32_t one = 0;
  exported_open(&e, "gain", "", 2);
  assert_int_equal(e.binary->f2.DoStep(NULL, 0.0, 1.0, 1), fmi2Error);
  assert_int_equal(e.binary->f2.GetReal(NULL, &one, 1, &value), fmi2Error);
  assert_int_equal(e.binary->f2.SetReal(NULL, &one, 1, &value), fmi2Error);
  assert_int_equal(e.binary->f2.Reset(NULL), fmi2Error);
  e.binary->f2.FreeInstance(NULL);
  exported_close(&e);
  exported_open(&e, "gain", "", 3);
  assert_int_equal(e.binary->f3.GetFloat64(NULL, &one, 1, &value, 1), fmi3Error);
  assert_int_equal(e.binary->f3.SetFloat64(NULL, &one, 1, &value, 1), fmi3Error);
  assert_int_equal(e.binary->f3.EnterEventMode(NULL), fmi3Error);
  e.binary->f3.FreeInstance(NULL);
  exported_close(&e);
}

// ---- variables

static void check_variables(int fmi) {
  exported e;
  exported_open(&e, "oscillator.force", oscillator_start, fmi);
  fmu_instance f;
  fmu_open(&f, &e);
  double value = 0.0;
  expect(&f, get_real(&f, 4711, &value), FMU_ERROR, "there is no value reference 4711");
  expect(&f, get_real(&f, SPRING, &value), FMU_ERROR, "'spring' (value reference 11)");
  expect(&f, set_real(&f, SPRING, 1.0), FMU_ERROR, "is of another type");
  expect(&f, set_whole(&f, SPRING, -1), FMU_ERROR, "'spring' is -1, expected 0 to 1");
  expect(&f, set_whole(&f, SPRING, 2), FMU_ERROR, "'spring' is 2, expected 0 to 1");
  expect(&f, set_whole(&f, SPRING, 0), FMU_OK, "");
  expect(&f, set_real(&f, F, 1.0), FMU_ERROR, "'f' cannot be set");
  expect(&f, get_real(&f, F, &value), FMU_ERROR, "'f' has no value before the initialisation");
  assert_true(real_of(&f, X) == 0.5);
  expect(&f, set_real(&f, X, 0.25), FMU_OK, "");
  start(&f);
  assert_true(real_of(&f, X) == 0.25);
  expect(&f, set_real(&f, K, 1.0), FMU_ERROR, "'k' cannot be set after the initialisation");
  expect(&f, set_real(&f, X, 1.0), FMU_ERROR, "'x' cannot be set after the initialisation");
  expect(&f, set_real(&f, X_OTHER, 1.0), FMU_OK, "");

  // an output that depends on the input follows it at once: f = kc (x - x_other)
  check_near(real_of(&f, F), 100.0 * (0.25 - 1.0), 0.0);
  fmu_close(&f);
  exported_close(&e);
}

static void test_variables(void** state) {
  (void)state;
  check_variables(2);
  check_variables(3);
}

// Tunable parameters may change between steps: y = k u.
static void check_tunable(int fmi) {
  exported e;
  exported_open(&e, "gain", "", fmi);
  fmu_instance f;
  fmu_open(&f, &e);
  start(&f);
  expect(&f, set_real(&f, 0, 3.0), FMU_OK, "");
  expect(&f, set_real(&f, 2, 5.0), FMU_OK, "");
  expect(&f, fmu_step(&f, 0.0, 0.1), FMU_OK, "");
  check_near(real_of(&f, 1), 15.0, 0.0);
  fmu_close(&f);
  exported_close(&e);
}

static void test_tunable(void** state) {
  (void)state;
  check_tunable(2);
  check_tunable(3);
}

// Arrays: one reference and all elements in FMI 3.0, one reference each in FMI 2.0; and the time.
static void test_arrays(void** state) {
  (void)state;
  exported e;
  fmu_instance f;
  exported_open(&e, "channel", "with: {n: 3}", 3);
  fmu_open(&f, &e);
  start(&f);
  const uint32_t u = 0, y = 3, inside = 4;
  const double sent[3] = {1.0, 2.0, 3.0};
  double got[4] = {0.0};
  expect(&f, (int)e.binary->f3.SetFloat64(f.c, &u, 1, sent, 3), FMU_OK, "");
  expect(&f, (int)e.binary->f3.GetFloat64(f.c, &y, 1, got, 3), FMU_OK, "");
  assert_memory_equal(got, sent, sizeof sent);
  expect(&f, (int)e.binary->f3.GetFloat64(f.c, &y, 1, got, 2), FMU_ERROR, "fewer values");
  expect(&f, (int)e.binary->f3.GetFloat64(f.c, &y, 1, got, 4), FMU_ERROR, "more values");
  expect(&f, (int)e.binary->f3.SetFloat64(f.c, &u, 1, sent, 2), FMU_ERROR, "fewer values");
  expect(&f, (int)e.binary->f3.GetFloat64(f.c, &inside, 1, got, 1), FMU_ERROR,
         "'y' has the value reference 3");
  const uint32_t both[2] = {y, fmu_reference(e.unit, e.unit->info->n_variables)};
  expect(&f, fmu_step(&f, 0.0, 0.25), FMU_OK, "");
  expect(&f, (int)e.binary->f3.GetFloat64(f.c, both, 2, got, 4), FMU_OK, "");
  assert_true(got[3] == 0.25);

  // types that it does not have
  int8_t small = 0;
  expect(&f, (int)e.binary->f3.GetInt8(f.c, &u, 1, &small, 1), FMU_ERROR,
         "no variable of this type");
  expect(&f, (int)e.binary->f3.GetInt8(f.c, NULL, 0, NULL, 0), FMU_OK, "");
  expect(&f, (int)e.binary->f3.EnterConfigurationMode(f.c), FMU_ERROR, "structural parameters");
  fmu_close(&f);
  exported_close(&e);

  exported_open(&e, "channel", "with: {n: 3}", 2);
  fmu_open(&f, &e);
  start(&f);
  const uint32_t elements[3] = {2, 0, 1}, outputs[3] = {3, 4, 5};
  expect(&f, (int)e.binary->f2.SetReal(f.c, elements, 3, sent), FMU_OK, "");
  expect(&f, (int)e.binary->f2.GetReal(f.c, outputs, 3, got), FMU_OK, "");
  assert_true(got[0] == 2.0 && got[1] == 3.0 && got[2] == 1.0);
  assert_int_equal(yoke__fmi_find(e.package->description, "u[2]"), 2);
  fmu_close(&f);
  exported_close(&e);
}

// Texts: read, and refused where they are inputs that do not fit (no native model has one, so this is the read side).
static void check_label(int fmi) {
  exported e;
  exported_open(&e, "label", "with: {labels: [cold, warm, \"100 % too hot\"], input: enumeration}",
                fmi);
  fmu_instance f;
  fmu_open(&f, &e);
  start(&f);
  const size_t input = yoke__unit_find(e.unit, "index"), output = yoke__unit_find(e.unit, "text");
  assert_true(input != (size_t)-1 && output != (size_t)-1);
  expect(&f, set_whole(&f, (uint32_t)input, 2), FMU_OK, "");
  char text[64] = "";
  expect(&f, fmu_get(&f, output, text), FMU_OK, "");
  assert_string_equal(text, "100 % too hot");
  fmu_close(&f);
  exported_close(&e);
}

static void test_texts(void** state) {
  (void)state;
  check_label(2);
  check_label(3);
}

// ---- start values during initialisation

// A parameter that is set after outputs were read counts as if it had been set before: the pressures of a crane at rest
// follow from the load. Inputs set meanwhile stay.
static void check_late_start(int fmi) {
  exported e;
  exported_open(&e, "crane.hydraulics", "", fmi);
  fmu_instance early, late;
  fmu_open(&early, &e);
  fmu_open(&late, &e);
  const uint32_t s = fmu_reference(e.unit, yoke__unit_find(e.unit, "s"));
  const uint32_t p1 = fmu_reference(e.unit, yoke__unit_find(e.unit, "p1"));
  const uint32_t load = fmu_reference(e.unit, yoke__unit_find(e.unit, "f_start"));
  const uint32_t force = fmu_reference(e.unit, yoke__unit_find(e.unit, "f_h"));
  expect(&early, set_real(&early, load, 5000.0), FMU_OK, "");
  expect(&early, fmu_enter(&early, 0.0), FMU_OK, "");
  expect(&early, set_real(&early, s, 0.51), FMU_OK, "");
  expect(&late, fmu_enter(&late, 0.0), FMU_OK, "");
  expect(&late, set_real(&late, s, 0.51), FMU_OK, "");
  const double before = real_of(&late, p1);
  expect(&late, set_real(&late, load, 5000.0), FMU_OK, "");
  assert_true(real_of(&late, p1) != before);
  assert_true(real_of(&late, p1) == real_of(&early, p1));
  assert_true(real_of(&late, s) == 0.51);
  assert_true(real_of(&late, force) == real_of(&early, force));
  expect(&late, fmu_exit(&late), FMU_OK, "");
  expect(&early, fmu_exit(&early), FMU_OK, "");
  expect(&late, fmu_step(&late, 0.0, 1e-4), FMU_OK, "");
  expect(&early, fmu_step(&early, 0.0, 1e-4), FMU_OK, "");
  assert_true(real_of(&late, force) == real_of(&early, force));
  fmu_close(&early);
  fmu_close(&late);
  exported_close(&e);
}

static void test_late_start(void** state) {
  (void)state;
  check_late_start(2);
  check_late_start(3);
}

// A parameter that the model refuses: an error with the model's own words; a reset mends it.
static void check_bad_parameter(int fmi) {
  exported e;
  exported_open(&e, "oscillator.force", oscillator_start, fmi);
  fmu_instance f;
  fmu_open(&f, &e);
  expect(&f, set_real(&f, M, 0.0), FMU_OK, "");
  expect(&f, fmu_enter(&f, 0.0), FMU_ERROR, "m must be above 0");
  expect(&f, fmu_exit(&f), FMU_ERROR, "in the state 'error'");
  expect(&f, fmu_reset(&f), FMU_OK, "");
  assert_true(real_of(&f, M) == 1.0);
  start(&f);
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_OK, "");
  fmu_close(&f);
  exported_close(&e);
}

static void test_bad_parameter(void** state) {
  (void)state;
  check_bad_parameter(2);
  check_bad_parameter(3);
}

// ---- the end of a run, failures of a step

static void check_end(int fmi) {
  exported e;
  exported_open(&e, "playback", "with: {file: table.csv, end: stop}", fmi);
  fmu_instance f;
  fmu_open(&f, &e);
  start(&f);
  expect(&f, fmu_step(&f, 0.0, 0.2), FMU_OK, "");
  assert_false(f.is_end_wanted);
  expect(&f, fmu_step(&f, 0.2, 0.2), FMU_OK, "");
  assert_true(f.is_end_wanted);
  fmu_close(&f);
  exported_close(&e);
}

static void test_end(void** state) {
  (void)state;
  check_end(2);
  check_end(3);
}

static void check_failing_step(int fmi) {
  exported e;
  exported_open(&e, "crane.hydraulics", "", fmi);
  fmu_instance f;
  fmu_open(&f, &e);
  start(&f);
  void* before = NULL;
  expect(&f, fmu_get_state(&f, &before), FMU_OK, "");
  expect(&f, set_real(&f, 0, 10.0), FMU_OK, "");
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_ERROR, "the piston has left the cylinder");
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_ERROR, "in the state 'error'");

  // going back is allowed
  expect(&f, fmu_set_state(&f, before), FMU_OK, "");
  expect(&f, fmu_step(&f, 0.0, 1e-3), FMU_OK, "");
  expect(&f, fmu_free_state(&f, &before), FMU_OK, "");
  fmu_close(&f);
  exported_close(&e);
}

static void test_failing_step(void** state) {
  (void)state;
  check_failing_step(2);
  check_failing_step(3);
}

// ---- states

static void check_states(int fmi) {
  exported e, stranger;
  exported_open(&e, "oscillator.force", oscillator_start, fmi);
  exported_open(&stranger, "oscillator.force", "start: {x: 0.6}", fmi);
  fmu_instance f, g;
  fmu_open(&f, &e);
  fmu_open(&g, &stranger);
  start(&f);
  start(&g);
  void* own = NULL;
  expect(&f, fmu_get_state(&f, &own), FMU_OK, "");
  expect(&g, fmu_set_state(&g, own), FMU_ERROR, "not one of this FMU");
  expect(&f, fmu_set_state(&f, NULL), FMU_ERROR, "not one of this FMU");

  // every byte counts
  size_t size = 0;
  unsigned char* bytes = fmu_write_state(&f, own, &size);
  void* read = NULL;
  for (size_t i = 0; i < size; i++) {
    bytes[i] ^= 0x10;
    assert_int_equal(fmu_read_state(&f, bytes, size, &read), FMU_ERROR);
    assert_null(read);
    bytes[i] ^= 0x10;
    f.log[0] = '\0';
  }
  expect(&f, fmu_read_state(&f, bytes, size - 1, &read), FMU_ERROR, "not those of a state");
  expect(&g, fmu_read_state(&g, bytes, size, &read), FMU_ERROR, "another FMU");
  expect(&f, fmu_read_state(&f, bytes, size, &read), FMU_OK, "");
  expect(&f, fmu_set_state(&f, read), FMU_OK, "");
  expect(&f, fmu_get_state(&f, &read), FMU_OK, "");
  expect(&f, fmu_free_state(&f, &read), FMU_OK, "");
  expect(&f, fmu_free_state(&f, &own), FMU_OK, "");
  expect(&f, fmu_free_state(&f, &own), FMU_OK, "");
  free(bytes);
  fmu_close(&f);
  fmu_close(&g);
  exported_close(&e);
  exported_close(&stranger);
}

static void test_states(void** state) {
  (void)state;
  check_states(2);
  check_states(3);
}

// A state of the initialisation keeps what belongs to it: start values can still be set after going back.
static void check_initial_state(int fmi) {
  exported e;
  exported_open(&e, "crane.hydraulics", "", fmi);
  fmu_instance f;
  fmu_open(&f, &e);
  const uint32_t p1 = fmu_reference(e.unit, yoke__unit_find(e.unit, "p1"));
  const uint32_t load = fmu_reference(e.unit, yoke__unit_find(e.unit, "f_start"));
  expect(&f, fmu_enter(&f, 0.0), FMU_OK, "");
  const double before = real_of(&f, p1);
  void* saved = NULL;
  expect(&f, fmu_get_state(&f, &saved), FMU_OK, "");
  expect(&f, set_real(&f, load, 5000.0), FMU_OK, "");
  const double changed = real_of(&f, p1);
  expect(&f, fmu_exit(&f), FMU_OK, "");
  expect(&f, fmu_set_state(&f, saved), FMU_OK, "");
  assert_true(real_of(&f, p1) == before && before != changed);
  expect(&f, set_real(&f, load, 5000.0), FMU_OK, "");
  assert_true(real_of(&f, p1) == changed);
  expect(&f, fmu_exit(&f), FMU_OK, "");
  expect(&f, fmu_free_state(&f, &saved), FMU_OK, "");
  fmu_close(&f);
  exported_close(&e);
}

static void test_initial_state(void** state) {
  (void)state;
  check_initial_state(2);
  check_initial_state(3);
}

// ---- derivatives, messages

static void test_derivatives(void** state) {
  (void)state;
  exported e;
  fmu_instance f;
  const uint32_t y = 1, u = 0, none = 99;
  const double seed = 1.0;
  double out = 0.0;
  exported_open(&e, "delay1", "", 2);
  assert_false(e.package->description->co_simulation.has_directional_derivatives);
  fmu_open(&f, &e);
  start(&f);
  expect(&f, (int)e.binary->f2.GetDirectionalDerivative(f.c, &y, 1, &u, 1, &seed, &out), FMU_ERROR,
         "no directional derivatives");
  const int order = 1;
  expect(&f, (int)e.binary->f2.SetRealInputDerivatives(f.c, &u, 1, &order, &seed), FMU_ERROR,
         "canInterpolateInputs is false");
  expect(&f, (int)e.binary->f2.GetRealOutputDerivatives(f.c, &y, 1, &order, &out), FMU_ERROR,
         "maxOutputDerivativeOrder is 0");
  expect(&f, (int)e.binary->f2.CancelStep(f.c), FMU_ERROR, "no step is pending");
  fmu_close(&f);
  exported_close(&e);
  exported_open(&e, "gain", "with: {k: 7}", 2);
  assert_true(e.package->description->co_simulation.has_directional_derivatives);
  fmu_open(&f, &e);
  start(&f);
  expect(&f, (int)e.binary->f2.GetDirectionalDerivative(f.c, &y, 1, &u, 1, &seed, &out), FMU_OK,
         "");
  check_near(out, 7.0, 0.0);
  expect(&f, (int)e.binary->f2.GetDirectionalDerivative(f.c, &none, 1, &u, 1, &seed, &out),
         FMU_ERROR, "no value reference 99");
  expect(&f, (int)e.binary->f2.GetDirectionalDerivative(f.c, &u, 1, &y, 1, &seed, &out), FMU_ERROR,
         "not of these variables");
  fmu_close(&f);
  exported_close(&e);
}

static void test_log_categories(void** state) {
  (void)state;
  exported e;
  fmu_instance f;
  exported_open(&e, "gain", "", 2);
  fmu_open(&f, &e);
  const char* warnings = "logStatusWarning";
  const char* unknown = "logEverything";
  const yoke_fmi2* f2 = &e.binary->f2;
  expect(&f, (int)f2->SetDebugLogging(f.c, 1, 1, &unknown), FMU_WARNING, "unknown log category");

  // nothing is chosen now, then warnings only: errors are not said
  expect(&f, (int)f2->SetDebugLogging(f.c, 1, 1, &warnings), FMU_OK, "");
  assert_int_equal(fmu_exit(&f), FMU_ERROR);
  assert_string_equal(f.log, "");

  // logging off: failures are said all the same
  expect(&f, (int)f2->SetDebugLogging(f.c, 0, 0, NULL), FMU_OK, "");
  expect(&f, fmu_exit(&f), FMU_ERROR, "logStatusError: fmi2ExitInitializationMode");
  fmu_close(&f);
  exported_close(&e);
}

// ---- memory

#if HAS_OWN_MALLOC
static void check_quiet(int fmi) {
  exported e;
  exported_open(&e, "state_space",
                "with: {A: [[0, 1], [-4, 0]], B: [0, 1], C: [[1, 0]], D: [[0.5]]}", fmi);
  fmu_instance f;
  fmu_open(&f, &e);
  start(&f);
  double y = 0.0;
  heap = (failing_heap){.is_on = true, .fails_at = -1};
  for (int k = 0; k < 100; k++) {
    (void)set_real(&f, 0, (double)k);
    (void)fmu_step(&f, (double)k * 0.125, 0.125);
    (void)get_real(&f, 1, &y);
  }
  const long n = heap.n_requests;
  heap.is_on = false;
  if (n != 0) {
    fail_msg("FMI %d: %ld heap calls in 100 steps", fmi, n);
  }
  assert_true(isfinite(y));
  fmu_close(&f);
  exported_close(&e);
}

// The n-th request fails, for all n: no instance, nothing left behind.
static void check_no_memory(int fmi) {
  exported e;
  exported_open(&e, "channel", "with: {n: 3, noise: [0.1, 0, 0.2]}", fmi);
  bool is_made = false;
  for (long n = 0; n < 1000 && !is_made; n++) {
    fmu_instance f;
    heap = (failing_heap){.is_on = true, .fails_at = n};
    fmu_try(&f, &e, NULL, NULL);
    is_made = f.c != NULL;
    if (is_made) {
      fmu_close(&f);
    }
    const long n_left = heap.n_blocks;
    heap.is_on = false;
    if (n_left != 0) {
      fail_msg("FMI %d: %ld blocks left after request %ld failed", fmi, n_left, n);
    }
    assert_true(is_made || n < 999);
    assert_true(n > 3 || !is_made);
  }
  exported_close(&e);
}
#endif

static void test_memory(void** state) {
  (void)state;
#if HAS_OWN_MALLOC
  check_quiet(2);
  check_quiet(3);
  check_no_memory(2);
  check_no_memory(3);
#else
  skip();
#endif
}

// ---- settings that somebody has spoiled

static void check_settings(exported* e, const char* text, const char* message) {
  char path[4200];
  snprintf(path, sizeof path, "%s/yoke.txt", yoke__temp_path(e->temp));
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
  check_refused(e, "t", yoke__temp_path(e->temp), message);
}

static void test_spoiled_settings(void** state) {
  (void)state;
  exported e;
  exported_open(&e, "gain", "", 3);
  check_settings(&e, "", "not the settings of an exported unit");
  check_settings(&e, "yoke-export 1", "not the settings of an exported unit");
  check_settings(&e, "yoke-export 2\nmodel gain\ntoken t\n", "not the settings");
  check_settings(&e, "yoke-export 1\n", "no token of the model ''");
  check_settings(&e, "yoke-export 1\nmodel gain\n", "no token of the model 'gain'");
  check_settings(&e, "yoke-export 1\nmodel gain\ntoken t", "yoke.txt:3: the line does not end");
  check_settings(&e, "yoke-export 1\nmodel loss\ntoken t\n", "no model 'loss'");
  check_settings(&e, "yoke-export 1\nmodel gain loss\ntoken t\n",
                 "yoke.txt:2: the line cannot be read");
  check_settings(&e, "yoke-export 1\n\nmodel gain\ntoken t\n",
                 "yoke.txt:2: the line cannot be read");
#define HEAD(model) "yoke-export 1\nmodel " model "\ntoken t\n"
  check_settings(&e, HEAD("gain") "setting q 1\n", "no such variable 'q'");
  check_settings(&e, HEAD("gain") "setting k 1 2\n", "no such variable 'k'");
  check_settings(&e, HEAD("gain") "setting k true\n", "the value of 'k' cannot be read");
  check_settings(&e, HEAD("gain") "setting k \n", "the value of 'k' cannot be read");
  check_settings(&e, HEAD("gain") "setting\n", "yoke.txt:4: the line cannot be read");
  check_settings(&e, HEAD("gain") "setting %6b%0\n", "yoke.txt:4: the line cannot be read");
  check_settings(&e, HEAD("gain") "setting k%00\n", "yoke.txt:4: the line cannot be read");
  check_settings(&e, HEAD("gain") "setting %71%20 1\n", "no such variable 'q '");
  check_settings(&e, HEAD("channel") "argument n\n", "yoke.txt:4: the line cannot be read");
  check_settings(&e, HEAD("channel") "argument n whole 1 1 1\n",
                 "yoke.txt:4: the line cannot be read");
  check_settings(&e, HEAD("channel") "argument n integer 1 2 1\n",
                 "yoke.txt:4: the line cannot be read");
  check_settings(&e, HEAD("channel") "argument n integer 1 1 0\n",
                 "channel cannot be made: n is 0");
  check_settings(&e, HEAD("oscillator.force") "setting spring 9\n",
                 "the value of 'spring' is refused");
  check_settings(&e, HEAD("gain") "circuit circuit.cir   0 0 0 0\n",
                 "yoke.txt:4: the line cannot be read");
  check_settings(&e, HEAD("circuit"), "no model 'circuit'");
  check_settings(&e, HEAD("circuit") "circuit ../circuit.cir   0 0 0 0\n",
                 "yoke.txt:4: the line cannot be read");
  check_settings(&e, HEAD("circuit") "circuit circuit.cir   nan 0 0 0\n",
                 "yoke.txt:4: the line cannot be read");
  check_settings(&e, HEAD("circuit") "circuit nowhere.cir   0 0 0 0\n", "nowhere.cir");
  exported_close(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_instantiation),
      cmocka_unit_test(test_interfaces),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_event_mode),
      cmocka_unit_test(test_no_instance),
      cmocka_unit_test(test_variables),
      cmocka_unit_test(test_tunable),
      cmocka_unit_test(test_arrays),
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_late_start),
      cmocka_unit_test(test_bad_parameter),
      cmocka_unit_test(test_end),
      cmocka_unit_test(test_failing_step),
      cmocka_unit_test(test_states),
      cmocka_unit_test(test_initial_state),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_log_categories),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_spoiled_settings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
