// FMUs of co-simulation whose outputs are needed with new inputs: exchange: fresh and iterative schemes. The FMU is strict
// (test/fmus/reread): a read after a set without a step is an error. Trial steps, event mode and model exchange against the
// native unit of the same equations; refusals, with every remedy that they name tried; binaries that do not cope.
#include "master/master.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/heard.h"
#include "support/sim.h"
#include "unit/fmu/unit_fmu.h"
#include "yoke/yoke.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// y(t + d) in place of y(t): the part of a step that a trial takes
#define SHARE 0x1p-20

static const char* folder(void) {
  const char* path = getenv("YOKE_FMUS");
  assert_non_null(path);
  return path;
}

#define NATIVE    "model: oscillator.force"
#define FRESH     "exchange: fresh\n"
#define ITERATIVE "scheme: iterative-jacobi\n"

// The two-mass oscillator with its action on the left; unit: what the left side is, "fmu: NAME..." a test FMU.
typedef struct setup {
  const char* lines;  // at the top
  const char* unit;
  const char* with;   // more parameters of it
  const char* right;  // of the other
} setup;

static void write_system(const setup* s, double h, char* to, size_t size) {
  char unit[512];
  if (strncmp(s->unit, "fmu: ", 5) == 0) {
    snprintf(unit, sizeof unit, "fmu: %s/%s", folder(), s->unit + 5);
  } else {
    snprintf(unit, sizeof unit, "%s", s->unit);
  }
  snprintf(to, size,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 2, step: %g}\n%s"
           "units:\n"
           "  left: {%s, with: {m: 1, k: 10, kc: 100, cc: 0.2%s}, start: {x: 0, v: 10}}\n"
           "  right: {model: oscillator.mass, with: {m: 1, k: 1000%s}, start: {x: 0, v: -10}}\n"
           "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n",
           h, s->lines, unit, s->with, s->right);
}

static sim open_case(const setup* s, double h) {
  char text[2048];
  write_system(s, h, text, sizeof text);
  return sim_open("%s", text);
}

static const char* const signals[] = {"left.x", "left.v", "left.f", "right.x", "right.v"};

// The largest difference of a signal over the run, relative to its largest value.
static double compare(const setup* a, const setup* b, double h) {
  sim one = open_case(a, h), two = open_case(b, h);
  double most[COUNT(signals)] = {0}, size[COUNT(signals)] = {0}, worst = 0;
  while (one.state->n_slots < one.system->n_slots) {
    sim_steps(&one, 1);
    sim_steps(&two, 1);
    for (size_t i = 0; i < COUNT(signals); i++) {
      const double x = sim_read(&one, signals[i]);
      most[i] = fmax(most[i], fabs(x - sim_read(&two, signals[i])));
      size[i] = fmax(size[i], fabs(x));
    }
  }
  for (size_t i = 0; i < COUNT(signals); i++) {
    worst = fmax(worst, most[i] / size[i]);
  }
  sim_close(&one);
  sim_close(&two);
  return worst;
}

// ---------------------------------------------------------------------------------------------------------
// fresh exchange

// Event mode and model exchange give the native numbers to rounding. Trial steps are d late, where stale exchange is H late
// the other way: the two errors are alike but for the share d / H and the speeds of the two ends, which differ by less than 4.
static void test_fresh(void** state) {
  (void)state;
  static const char* const schemes[] = {"", "scheme: gauss-seidel\n"};
  static const char* const dampers[] = {"", ", damper: quadratic"};
  for (size_t i = 0; i < 2 * COUNT(schemes); i++) {
    char fresh[64];
    const char* damper = dampers[i % 2];
    snprintf(fresh, sizeof fresh, FRESH "%s", schemes[i / 2]);
    const setup native = {fresh, NATIVE, damper, ""}, jacobi = {FRESH, NATIVE, damper, ""},
                stale = {"", NATIVE, damper, ""};
    const double late = compare(&jacobi, &stale, 1e-3);
    for (int version = 2; version <= 3; version++) {
      const setup fmu = {fresh, version == 2 ? "fmu: reread2.fmu" : "fmu: reread3.fmu", damper, ""};
      const double off = compare(&native, &fmu, 1e-3);
      print_message("fresh, FMI %d, %s%s: trial steps off by %.3g, stale by %.3g\n", version,
                    schemes[i / 2], damper, off, late);
      check_between(off, 0.01 * SHARE * late, 4 * SHARE * late);
    }
    const setup events = {fresh, "fmu: reread_events3.fmu", damper, ""};
    check_near(compare(&native, &events, 1e-3), 0, 1e-12);
  }
  // model exchange with the solver of the native unit
  for (int version = 2; version <= 3; version++) {
    const setup native = {"exchange: fresh\n", NATIVE, ", solver: rk4", ""};
    const setup fmu = {"exchange: fresh\n",
                       version == 2 ? "fmu: reread_both2.fmu, interface: model-exchange, "
                                      "solver: {method: rk4, step: 1e-3}"
                                    : "fmu: reread_both3.fmu, interface: model-exchange, "
                                      "solver: {method: rk4, step: 1e-3}",
                       "", ""};
    check_near(compare(&native, &fmu, 1e-3), 0, 1e-12);
  }
}

// Everything that is read of the unit belongs to the same instant: the boolean to the force, and the force to the positions.
static void test_typed(void** state) {
  (void)state;
  static const char* const units[] = {"fmu: reread2.fmu", "fmu: reread3.fmu",
                                      "fmu: reread_events3.fmu",
                                      "fmu: reread2.fmu, isolate: process"};
  for (size_t i = 0; i < COUNT(units); i++) {
    const setup c = {"exchange: fresh\n", units[i], "", ""};
    sim s = open_case(&c, 1e-3);
    const yoke_unit* left = &s.system->units[0].unit;
    const size_t pulls = yoke__unit_find(left, "pulls"), slope = yoke__unit_find(left, "der(x)");
    int n[2] = {0};
    for (int k = 0; k < 2000; k++) {
      sim_steps(&s, 1);
      int64_t flag = -1;
      double rate = 0;
      check_ok(yoke__unit_get(left, pulls, &flag, sizeof flag));
      check_ok(yoke__unit_get(left, slope, &rate, sizeof rate));
      assert_int_equal(flag, sim_read(&s, "left.f") > 0);
      check_near(rate, sim_read(&s, "left.v"), 0);
      n[flag]++;
    }
    assert_true(n[0] > 100 && n[1] > 100);
    sim_close(&s);
  }
}

// The saved state is used again: no heap calls after the first trial, here and in the binary.
static void test_heap(void** state) {
  (void)state;
  static const char* const lines[] = {FRESH, ITERATIVE};
  static const char* const units[] = {"fmu: reread2.fmu", "fmu: reread3.fmu"};
  check_heap_is_counted();
  for (size_t i = 0; i < 4; i++) {
    const setup c = {lines[i / 2], units[i % 2], "", ""};
    sim s = open_case(&c, 1e-3);
    sim_steps(&s, 10);
    const long before = atomic_load(&n_heap_calls);
    sim_steps(&s, 1000);
    assert_int_equal(atomic_load(&n_heap_calls) - before, 0);
    sim_close(&s);
  }
}

// In a process of its own: the same bits.
static void test_isolated(void** state) {
  (void)state;
  const setup here = {"exchange: fresh\n", "fmu: reread2.fmu", "", ""};
  const setup there = {"exchange: fresh\n", "fmu: reread2.fmu, isolate: process", "", ""};
  check_near(compare(&here, &there, 1e-2), 0, 0);
}

static double read_value(const yoke_simulation* s, const char* name) {
  yoke_handle handle;
  double value = (double)NAN;
  check_ok(yoke_simulation_find(s, name, &handle));
  check_ok(yoke_simulation_read(s, handle, &value));
  return value;
}

// Saved, gone on, restored: the same bits again, also of what is read between saving and the next step.
static void test_restore(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    const setup c = {"exchange: fresh\n", version == 2 ? "fmu: reread2.fmu" : "fmu: reread3.fmu",
                     "", ""};
    char text[2048];
    write_system(&c, 1e-3, text, sizeof text);
    HEAR(told);
    yoke_system* system = NULL;
    yoke_simulation* s = NULL;
    const yoke_load_settings settings = {.sink = &told.sink};
    check_ok(yoke_system_parse(text, strlen(text), "test.yaml", &settings, &system));
    check_ok(yoke_simulation_create(system, &told.sink, &s));
    const size_t size = yoke_simulation_image_size(s);
    void* image = calloc(1, size);
    assert_non_null(image);
    for (int k = 0; k < 300; k++) {
      check_ok(yoke_simulation_step(s));
    }
    const double before = read_value(s, "left.der(v)");
    check_ok(yoke_simulation_save(s, image, size));
    const double after = read_value(s, "left.der(v)");
    assert_memory_equal(&before, &after, sizeof before);
    double want[COUNT(signals)] = {0};
    for (int round = 0; round < 2; round++) {
      for (int k = 0; k < 300; k++) {
        check_ok(yoke_simulation_step(s));
      }
      for (size_t i = 0; i < COUNT(signals); i++) {
        const double got = read_value(s, signals[i]);
        want[i] = round == 0 ? got : want[i];
        assert_memory_equal(&want[i], &got, sizeof got);
      }
      check_ok(yoke_simulation_restore(s, image, size));
      const double rate = read_value(s, "left.der(v)");
      assert_memory_equal(&before, &rate, sizeof rate);
    }
    free(image);
    yoke_simulation_destroy(&s);
    yoke_system_destroy(&system);
  }
}

// ---------------------------------------------------------------------------------------------------------
// iteration

// The fixed point of the native units, and the order of the scheme. Without trial steps the output is that of the mean inputs.
static void test_iteration(void** state) {
  (void)state;
  static const char* const schemes[] = {
      "scheme: iterative-jacobi\niteration: {tolerance: 1e-12, max: 50}\n",
      "scheme: iterative-gauss-seidel\niteration: {tolerance: 1e-12, max: 50}\n",
      "scheme: iterative-jacobi\niteration: {update: quasi-newton, tolerance: 1e-12, max: 50}\n"};
  static const char* const fmus[] = {"fmu: reread2.fmu", "fmu: reread3.fmu"};
  for (size_t i = 0; i < COUNT(schemes); i++) {
    const setup native = {schemes[i], NATIVE, ", damper: quadratic", ", solver: rk4"};
    const setup blind = {schemes[i], "fmu: reread_fixed2.fmu", ", damper: quadratic",
                         ", solver: rk4"};
    const double late = compare(&native, &blind, 5e-3);
    for (size_t k = 0; k < COUNT(fmus); k++) {
      const setup fmu = {schemes[i], fmus[k], ", damper: quadratic", ", solver: rk4"};
      const double off = compare(&native, &fmu, 5e-3);
      print_message("%s%s: off by %.3g; without trial steps %.3g\n", schemes[i], fmus[k], off,
                    late);
      // the mean is H / 2 late
      check_between(off, 0.01 * SHARE * late, 8 * SHARE * late);
    }
  }
}

// Iterations end: as many of them as with native units.
static void test_convergence(void** state) {
  (void)state;
  const char* lines = "scheme: iterative-jacobi\niteration: {tolerance: 1e-10, max: 50}\n";
  const setup native = {lines, NATIVE, "", ""}, fmu = {lines, "fmu: reread2.fmu", "", ""};
  sim a = open_case(&native, 5e-3), b = open_case(&fmu, 5e-3);
  sim_run(&a);
  sim_run(&b);
  print_message("iterations: native %lld, trial steps %lld in %lld steps\n",
                (long long)a.state->iteration.n_iterations,
                (long long)b.state->iteration.n_iterations, (long long)a.state->iteration.n_steps);
  assert_int_equal(b.state->iteration.n_not_converged, 0);
  check_near((double)b.state->iteration.n_iterations, (double)a.state->iteration.n_iterations,
             0.02 * (double)a.state->iteration.n_iterations);
  sim_close(&a);
  sim_close(&b);
}

// ---------------------------------------------------------------------------------------------------------
// refusals

static void try_system(const setup* c, sim* s, char* messages, size_t size) {
  char text[2048];
  write_system(c, 1e-3, text, sizeof text);
  sim_try(NULL, text, s, messages, size);
}

static void check_accepted(const setup* c) {
  char messages[4096] = "";
  sim s;
  try_system(c, &s, messages, sizeof messages);
  if (s.state == NULL) {
    fail_msg("%s%s: refused\n%s", c->lines, c->unit, messages);
  }
  sim_run(&s);
  sim_close(&s);
}

static void check_refused(const setup* c, const char* const parts[3]) {
  char messages[4096] = "";
  sim s;
  try_system(c, &s, messages, sizeof messages);
  if (s.state != NULL) {
    sim_close(&s);
    fail_msg("%s%s: accepted, expected '%s'", c->lines, c->unit, parts[0]);
  }
  for (size_t i = 0; i < 3 && parts[i] != NULL; i++) {
    check_contains(messages, parts[i]);
  }
}

static void test_refused(void** state) {
  (void)state;
#define STATELESS2 "its description does not set canGetAndSetFMUstate"
#define STATELESS3 "its description does not set canGetAndSetFMUState"
#define STALE      "Use exchange: stale for this unit, or "
#define JACOBI     "use scheme: jacobi or gauss-seidel"
  static const struct {
    const char *lines, *unit;
    const char* parts[3];
    setup remedies[3];
  } cases[] = {
      {FRESH,
       "fmu: reread_plain2.fmu",
       {STATELESS2, STALE "an export for model exchange"},
       {{FRESH, "fmu: reread_plain2.fmu, exchange: stale", "", ""},
        {FRESH, "fmu: reread_both2.fmu, interface: model-exchange", "", ""}}},
      {FRESH,
       "fmu: reread_plain3.fmu",
       {STATELESS3, STALE "an export with event mode or for model exchange"},
       {{FRESH, "fmu: reread_plain3.fmu, exchange: stale", "", ""},
        {FRESH, "fmu: reread_events3.fmu", "", ""}}},
      {FRESH,
       "fmu: reread_fixed2.fmu",
       {"its description does not set canHandleVariableCommunicationStepSize", STALE},
       {{FRESH, "fmu: reread_fixed2.fmu, exchange: stale", "", ""}}},
      {FRESH,
       "fmu: reread_fixed3.fmu",
       {"its own solver has a fixed step of 0.001 s", STALE},
       {{FRESH, "fmu: reread_fixed3.fmu, exchange: stale", "", ""}}},
      {FRESH,
       "fmu: reread_both2.fmu",
       {STATELESS2, STALE "interface: model-exchange"},
       {{FRESH, "fmu: reread_both2.fmu, exchange: stale", "", ""},
        {FRESH, "fmu: reread_both2.fmu, interface: model-exchange", "", ""}}},
      {FRESH,
       "fmu: reread_events3.fmu, events: false",
       {STATELESS3, STALE "leave out events: false"},
       {{FRESH, "fmu: reread_events3.fmu, events: false, exchange: stale", "", ""},
        {FRESH, "fmu: reread_events3.fmu", "", ""}}},
      {ITERATIVE,
       "fmu: reread_plain2.fmu",
       {"iterative-jacobi repeats steps, but unit 'left'",
        "cannot save and restore its state: " STATELESS2, JACOBI},
       {{"scheme: jacobi\n", "fmu: reread_plain2.fmu", "", ""},
        {"scheme: gauss-seidel\n", "fmu: reread_plain2.fmu", "", ""}}},
      {ITERATIVE,
       "fmu: reread_both3.fmu",
       {STATELESS3, JACOBI ", or interface: model-exchange"},
       {{"scheme: jacobi\n", "fmu: reread_both3.fmu", "", ""},
        {"scheme: gauss-seidel\n", "fmu: reread_both3.fmu", "", ""},
        {ITERATIVE, "fmu: reread_both3.fmu, interface: model-exchange", "", ""}}},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    check_refused(&(setup){cases[i].lines, cases[i].unit, "", ""}, cases[i].parts);
    for (size_t k = 0; k < 3 && cases[i].remedies[k].unit != NULL; k++) {
      check_accepted(&cases[i].remedies[k]);
    }
  }
}

// FMI 1.0 has nothing to save.
static void test_refused_fmi1(void** state) {
  (void)state;
  static const char* const lines[] = {FRESH, ITERATIVE};
  for (int k = 0; k < 2; k++) {
    char text[1024], messages[4096] = "";
    sim s;
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n%sunits: {a: {fmu: "
             "'%s/trivial1.fmu', feedthrough: {y: {u: 1}}}, c: {model: sine}}\nconnections: [c.y "
             "-> a.u]\n",
             lines[k], folder());
    assert_true(sim_try(NULL, text, &s, messages, sizeof messages) < 0);
    check_contains(messages, "FMI 1.0 cannot save and restore states");
  }
}

// A description that promises what the binary lacks, in this process and in another one.
static void test_refused_promise(void** state) {
  (void)state;
  static const char* const lines[] = {FRESH, ITERATIVE};
  for (int k = 0; k < 4; k++) {
    char text[1024], messages[4096] = "";
    sim s;
    snprintf(text, sizeof text,
             "yoke: 1\ncalls: 1\ntime: {stop: 1, step: 0.1}\n%sunits: {a: {fmu: "
             "'%s/promising2.fmu', feedthrough: {y: [u]}%s}}\n",
             lines[k % 2], folder(), k < 2 ? "" : ", isolate: process");
    assert_true(sim_try(NULL, text, &s, messages, sizeof messages) < 0);
    check_contains(messages, k % 2 == 0 ? "Use exchange: stale for this unit"
                                        : "use scheme: jacobi or gauss-seidel");
    check_contains(messages, "its binary lacks the functions that save and restore states");
  }
}

// A solver with a fixed step: accepted in an iteration, with the reason why it is of first order.
static void test_warned(void** state) {
  (void)state;
  char messages[4096] = "";
  sim s;
  try_system(&(setup){ITERATIVE, "fmu: reread_fixed2.fmu", "", ""}, &s, messages, sizeof messages);
  sim_close(&s);
  check_contains(messages, "so the scheme is only of first order (no step can be tried and taken "
                           "back: its description does not set "
                           "canHandleVariableCommunicationStepSize)");
}

// ---------------------------------------------------------------------------------------------------------
// binaries that do not cope

static void test_bad_binaries(void** state) {
  (void)state;
  static const struct {
    const char *lines, *unit, *with;
    const char* parts[3];
    setup remedy;
  } cases[] = {
      {FRESH,
       "fmu: reread2.fmu",
       ", what: short-error",
       {"it refused a trial step of 9.54e-10 s: fmi2DoStep returned error",
        "steps below 0.0005 s are too short; use exchange: stale for this unit"},
       {FRESH, "fmu: reread2.fmu, exchange: stale", ", what: short-error", ""}},
      {FRESH,
       "fmu: reread3.fmu",
       ", what: short-discard",
       {"it refused a trial step of 9.54e-10 s: fmi3DoStep got as far as t = 0 s",
        "use exchange: stale for this unit"},
       {FRESH, "fmu: reread3.fmu, exchange: stale", ", what: short-discard", ""}},
      {FRESH,
       "fmu: reread2.fmu",
       ", what: short-long",
       {"it does not keep to a trial step of 9.54e-10 s: its own clock went from 0 to 0.001 s",
        "use exchange: stale for this unit"},
       {FRESH, "fmu: reread2.fmu, exchange: stale", ", what: short-long", ""}},
      {FRESH,
       "fmu: reread3.fmu",
       ", what: short-long",
       {"its own clock went from 0 to 0.001 s"},
       {FRESH, "fmu: reread3.fmu, exchange: stale", ", what: short-long", ""}},
      {ITERATIVE,
       "fmu: reread2.fmu",
       ", what: short-error",
       {"it refused a trial step", "use scheme: jacobi, or iteration: {mode: hold-end}"},
       {"scheme: jacobi\n", "fmu: reread2.fmu", ", what: short-error", ""}},
      {ITERATIVE,
       "fmu: reread2.fmu",
       ", what: short-error",
       {"it refused a trial step"},
       {ITERATIVE "iteration: {mode: hold-end}\n", "fmu: reread2.fmu", ", what: short-error", ""}},
      {ITERATIVE FRESH,
       "fmu: reread2.fmu",
       ", what: short-error",
       {"use exchange: stale for this unit and scheme: jacobi"},
       {"scheme: jacobi\n" FRESH, "fmu: reread2.fmu, exchange: stale", ", what: short-error", ""}},
      {FRESH,
       "fmu: reread_events3.fmu",
       ", what: event-error",
       {"fmi3GetFloat64 returned error",
        "it was read in event mode: use events: false, and exchange: stale, for this unit"},
       {FRESH, "fmu: reread_events3.fmu, events: false, exchange: stale", ", what: event-error",
        ""}},
      {FRESH,
       "fmu: reread_events3.fmu",
       ", what: event-discard",
       {"fmi3GetFloat64 returned discard", "use events: false, and exchange: stale"},
       {FRESH, "fmu: reread_events3.fmu, events: false, exchange: stale", ", what: event-discard",
        ""}},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    check_refused(&(setup){cases[i].lines, cases[i].unit, cases[i].with, ""}, cases[i].parts);
    check_accepted(&cases[i].remedy);
  }
}

// One that computes nothing in a trial is stale, and that is said at the end.
static void test_silent_binary(void** state) {
  (void)state;
  static const char* const whats[] = {"", ", what: short-nothing"};
  static const char* const ends[] = {"The result is that of exchange: stale",
                                     "They are read with the inputs of the last call: the scheme "
                                     "is of first order"};
  for (size_t i = 0; i < 2 * COUNT(whats); i++) {
    const setup c = {i < 2 ? FRESH : ITERATIVE, "fmu: reread2.fmu", whats[i % 2], ""};
    sim s = open_case(&c, 1e-3);
    sim_run(&s);
    HEAR(told);
    const yoke_unit* left = &s.system->units[0].unit;
    left->ops->report(left->self, &told.sink);
    char line[512];
    snprintf(line, sizeof line,
             "warning: no output ever followed new inputs in a trial step: it seems to compute "
             "outputs in longer steps only. %s",
             ends[i / 2]);
    assert_int_equal(strstr(told.text, line) != NULL, i % 2 == 1);
    sim_close(&s);
  }
  const setup lazy = {FRESH, "fmu: reread2.fmu", whats[1], ""}, old = {"", NATIVE, "", ""};
  check_near(compare(&old, &lazy, 1e-3), 0, 1e-12);
}

// Where there is nothing to read again, nothing is tried.
static void test_not_needed(void** state) {
  (void)state;
  static const char* const units[] = {
      "fmu: '%s/oscillator_mass2.fmu'", "fmu: '%s/settled2.fmu', feedthrough: none",
      "fmu: '%s/settled2.fmu', exchange: stale", "fmu: '%s/settled2.fmu'"};
  static const char* const lines[] = {FRESH, FRESH, FRESH,
                                      ITERATIVE "iteration: {mode: hold-end}\n"};
  for (size_t i = 0; i < COUNT(units); i++) {
    char format[512];
    snprintf(format, sizeof format, "yoke: 1\ntime: {stop: 1, step: 0.1}\n%sunits: {a: {%s}}\n",
             lines[i], units[i]);
    sim s = sim_open(format, folder());
    assert_null(s.system->units[0].unit.ops->refresh);
    check_near(yoke__fmu_trial_step(s.system->units[0].unit.ops), 0, 0);
    sim_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fresh),         cmocka_unit_test(test_typed),
      cmocka_unit_test(test_heap),          cmocka_unit_test(test_isolated),
      cmocka_unit_test(test_restore),       cmocka_unit_test(test_iteration),
      cmocka_unit_test(test_convergence),   cmocka_unit_test(test_refused),
      cmocka_unit_test(test_refused_fmi1),  cmocka_unit_test(test_refused_promise),
      cmocka_unit_test(test_warned),        cmocka_unit_test(test_bad_binaries),
      cmocka_unit_test(test_silent_binary), cmocka_unit_test(test_not_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
