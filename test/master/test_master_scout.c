// `calls: auto`: as many calls as the fastest mode of the loops asks for, and what does not count. The modes come from formulas
// and from matrices that are written down here as one system.
#include "support/check.h"
#include "support/failing_heap.h"
#include "support/heard.h"

#include "linalg/linalg_dense.h"
#include "master/master.h"
#include "yoke/yoke.h"

static yoke_registry* models;

// ---- a unit x' = k u, y = x that counts its instances: with a model; without; a machine; with a fixed step of 1/60 s

typedef struct slope {
  double k, u, x, y;
} slope;

static int n_alive, n_made;

static const yoke_variable slope_variables[] = {
    {.name = "u", .causality = YOKE_INPUT, .offset = offsetof(slope, u)},
    {.name = "y", .causality = YOKE_OUTPUT, .offset = offsetof(slope, y)},
    {.name = "k", .causality = YOKE_PARAMETER, .offset = offsetof(slope, k)},
};
static const yoke_unit_info slope_info = {.variables = slope_variables, .n_variables = 3};
static const yoke_unit_info rig_info = {
    .variables = slope_variables, .n_variables = 3, .flags = YOKE_UNIT_PHYSICAL};
static const yoke_unit_info fixed_info = {.variables = slope_variables,
                                          .n_variables = 3,
                                          .flags = YOKE_UNIT_FIXED_STEP,
                                          .solver = {.step = 1.0 / 60.0}};

static yoke_status slope_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  (void)args, (void)sink;
  *self = calloc(1, sizeof(slope));
  n_alive += *self != NULL;
  n_made += *self != NULL;
  return *self == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

static yoke_status slope_refresh(void* self, double t) {
  (void)t;
  slope* s = self;
  s->y = s->x;
  return YOKE_OK;
}

static yoke_status slope_step(void* self, double t, double h, yoke_step_result* result) {
  (void)result;
  slope* s = self;
  s->x += h * s->k * s->u;
  return slope_refresh(self, t);
}

static yoke_status slope_linearise(void* self, yoke_linear* model) {
  const slope* s = self;
  model->n_states = model->n_inputs = model->n_outputs = 1;
  double* const matrices[] = {model->A, model->B, model->C, model->D};
  const double values[] = {0, s->k, 1, 0};
  for (int i = 0; i < 4; i++) {
    if (matrices[i] != NULL) {
      *matrices[i] = values[i];
    }
  }
  return YOKE_OK;
}

static void slope_close(void* self) {
  n_alive--;
  free(self);
}

#define SLOPE(name_, info_, linearise_)                                                            \
  {                                                                                                \
    YOKE_UNIT_HEAD, .name = (name_), .info = (info_), .create = slope_create, .step = slope_step,  \
                    .refresh = slope_refresh, .linearise = (linearise_), .close = slope_close      \
  }
static const yoke_unit_ops slope_ops[] = {
    SLOPE("slope", &slope_info, slope_linearise),
    SLOPE("dumb", &slope_info, NULL),
    SLOPE("rig", &rig_info, slope_linearise),
    SLOPE("fixed", &fixed_info, slope_linearise),
};

// ---- building

static char said[4096];

static yoke_status try_build(const char* text, const char* const sets[], size_t n_sets,
                             yoke_system** out) {
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  *out = NULL;
  yoke_status status =
      yoke__scenario_read(text, strlen(text), "test.yaml", sets, n_sets, &messages, &scenario);
  if (status >= 0) {
    status = yoke__master_build(scenario, models, &messages, out);
  }
  yoke__messages_format(&messages, said, sizeof said);
  yoke__messages_free(&messages);
  return status;
}

static yoke_system* build(const char* text, const char* set) {
  yoke_system* system = NULL;
  if (try_build(text, &set, set == NULL ? 0 : 1, &system) < 0 || system == NULL) {
    fail_msg("refused:\n%s\n%s", said, text);
    exit(1);
  }
  return system;
}

// Calls of the first unit; what was found for the system goes to *pace.
static int64_t calls_of(const char* text, const char* set, yoke_scenario_pace* pace) {
  yoke_system* system = build(text, set);
  const int64_t n = system->units[0].n_calls;
  *pace = system->scenario->pace;
  yoke__system_destroy(&system);
  return n;
}

// The rule again: of the system written as one matrix.
static int64_t rule(double step, double fastest) {
  int64_t calls = 10;
  while (calls < 200 && step * fastest / (double)calls > 0.4 * (1 + 1e-9)) {
    calls += 2;
  }
  return calls;
}

// ---- the DC link: L di/dt = E - R i - V, C dV/dt = i - G V

#define R 0.0584706
#define L 2e-6
#define C 500e-6
#define G 1e-3

// without more_connections: capacitor.y1 -> battery.u1
static const char* dc_link(const char* more_units, const char* more_connections) {
  static char text[4096];
  snprintf(text, sizeof text,
           "yoke: 1\ntime: {stop: 1, step: 1e-3}\ninputs: mean\nunits:\n"
           "  battery: {model: state_space, with: {A: [[%.17g]], B: [[%.17g, %.17g]]}, "
           "start: {u1: 385.584, u2: 385.584}}\n"
           "  capacitor: {model: state_space, with: {A: [[%.17g]], B: [[%.17g]], x0: [385.584]}}\n"
           "%sconnections:\n  - battery.y1 -> capacitor.u1\n%s",
           -R / L, -1 / L, 1 / L, -G / C, 1 / C, more_units,
           more_connections == NULL ? "  - capacitor.y1 -> battery.u1\n" : more_connections);
  return text;
}

static void test_dc_link(void** state) {
  (void)state;
  // a conjugate pair: |lambda|^2 is the determinant
  const double fastest = sqrt(R / L * G / C + 1 / (L * C));
  const struct {
    const char* set;
    double step;
  } cases[] = {{"time.step=1e-4", 1e-4}, {"time.step=1.3e-4", 1.3e-4},
               {"time.step=3e-4", 3e-4}, {"time.step=1e-3", 1e-3},
               {"time.step=2e-3", 2e-3}, {"time.step=2.5e-3", 2.5e-3},
               {"time.step=3e-3", 3e-3}, {"time.step=1", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    yoke_scenario_pace pace;
    const int64_t calls = calls_of(dc_link("", NULL), cases[i].set, &pace);
    print_message("%s: %lld calls of %lld wanted, fastest mode %.6g 1/s\n", cases[i].set,
                  (long long)calls, (long long)pace.wanted, pace.fastest);
    check_relative(pace.fastest, fastest, 1e-12);
    assert_int_equal(calls, rule(cases[i].step, fastest));
    assert_int_equal(pace.wanted, (int64_t)ceil(cases[i].step * fastest / 0.4));
    assert_int_equal(strstr(said, "needs") != NULL, pace.wanted > 200);
  }
  yoke_scenario_pace pace;
  assert_int_equal(calls_of(dc_link("", NULL), NULL, &pace), 80);
  assert_int_equal(calls_of(dc_link("", NULL), "time.step=1e-4", &pace), 10);
  calls_of(dc_link("", NULL), "time.step=3e-3", &pace);
  check_contains(said,
                 "the fastest mode of the loops (3.16e+04 1/s) needs 238 calls per step, but at "
                 "most 200 are made: use a step of at most 0.0025 s");
}

// What the file says itself is not looked into.
static void test_not_asked(void** state) {
  (void)state;
  const struct {
    const char* set;
    int64_t calls;
  } cases[] = {{"calls=7", 7},
               {"inputs=start", 1},
               {"scheme=gauss-seidel", 1},
               {"scheme=iterative-jacobi", 1},
               {"units.battery.calls=5", 5},
               // into the first unit, and out of it
               {"connections[1]={from: capacitor.y1, to: battery.u1, order: 1}", 1},
               {"connections[0]={from: battery.y1, to: capacitor.u1, order: 1}", 80}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    yoke_scenario_pace pace;
    assert_int_equal(calls_of(dc_link("", NULL), cases[i].set, &pace), cases[i].calls);
  }
  yoke_scenario_pace pace;
  static char text[4096];
  snprintf(text, sizeof text, "%s", dc_link("", ""));
  char* const connections = strstr(text, "connections:");
  snprintf(connections, 200, "%s",
           "bonds: {link: {action: capacitor.y1 -> battery.u1, "
           "rate: battery.y1 -> capacitor.u1}}\n");
  assert_int_equal(calls_of(text, NULL, &pace), 80);
  assert_int_equal(calls_of(text, "time.step={min: 1e-4, max: 1e-2}", &pace), 1);
  assert_int_equal(pace.calls, 0);
}

// ---- what does not count

static void test_modes_outside(void** state) {
  (void)state;
  const double fastest = sqrt(R / L * G / C + 1 / (L * C));
  yoke_scenario_pace pace;
  // a fast unit behind the loop, one in front of it, and a chain of equal lags
  const char* const beyond =
      "  behind: {model: state_space, with: {A: [[-1e7]], B: [[1e7]]}}\n"
      "  front: {model: state_space, with: {A: [[-1e6]], B: [[1e6]]}, start: {u1: 385.584}}\n";
  assert_int_equal(calls_of(dc_link(beyond, "  - capacitor.y1 -> battery.u1\n"
                                            "  - capacitor.y1 -> behind.u1\n"
                                            "  - front.y1 -> battery.u2\n"),
                            NULL, &pace),
                   rule(1e-3, fastest));
  check_relative(pace.fastest, fastest, 1e-12);
  // a fast state of the battery that the voltage does not see, and one that does not see it
  const char* const hidden =
      "yoke: 1\ntime: {stop: 1, step: 1e-3}\ninputs: mean\nunits:\n"
      "  a: {model: state_space, with: {A: [[-100, 0, 3], [0, -1e6, 0], [0, 0, -2e6]], "
      "B: [[-1e5], [7], [0]], C: [[1, 0, 0]]}}\n"
      "  b: {model: state_space, with: {A: [[-50]], B: [[1e5]]}}\n"
      "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n";
  calls_of(hidden, NULL, &pace);
  check_relative(pace.fastest, sqrt(1e10 + 5000), 1e-9);
  // cut by a delay, or not closed at all
  assert_int_equal(
      calls_of(dc_link("", "  - {from: capacitor.y1, to: battery.u1, delay: 1e-3}\n"), NULL, &pace),
      10);
  assert_true(pace.fastest == 0);
  assert_int_equal(calls_of(dc_link("", ""), NULL, &pace), 10);
  assert_int_equal(pace.calls, 0);
}

// ---- feedthrough and laws

// Force-displacement: a: x'' = -70 x - v + 40 u1 + 0.6 u2, F = 40 (x - u1) + 0.6 (v - u2); b: x'' = -5 x - 0.1 v + 0.5 F.
static void test_feedthrough(void** state) {
  (void)state;
  const double whole[] = {0, 1, 0, 0, -70, -1, 40, 0.6, 0, 0, 0, 1, 20, 0.3, -25, -0.4};
  double re[4], im[4], fastest = 0;
  check_ok(yoke__eigenvalues(4, whole, re, im));
  for (int i = 0; i < 4; i++) {
    fastest = fmax(fastest, hypot(re[i], im[i]));
  }
  yoke_scenario_pace pace;
  const int64_t calls = calls_of(
      "yoke: 1\ntime: {stop: 4, step: 1.7}\ninputs: mean\nunits:\n"
      "  a: {model: state_space, with: {A: [[0, 1], [-70, -1]], B: [[0, 0], [40, 0.6]], "
      "C: [[40, 0.6]], D: [[-40, -0.6]], x0: [1, 0]}}\n"
      "  b: {model: state_space, with: {A: [[0, 1], [-5, -0.1]], B: [[0], [0.5]], x0: [0, 0.5]}}\n"
      "connections: [a.y1 -> b.u1, b.y1 -> a.u1, b.y2 -> a.u2]\n",
      NULL, &pace);
  check_relative(pace.fastest, fastest, 1e-9);
  assert_int_equal(calls, rule(1.7, fastest));
}

// Two free masses of 1 and 2 kg with a spring of 5000 N/m as laws between them: omega^2 = 5000 (1 + 1/2).
static void test_laws(void** state) {
  (void)state;
  yoke_scenario_pace pace;
  const int64_t calls = calls_of(
      "yoke: 1\ntime: {stop: 1, step: 0.1}\ninputs: mean\nunits:\n"
      "  a: {model: state_space, with: {A: [[0, 1], [0, 0]], B: [[0], [-1]], x0: [1, 0]}}\n"
      "  b: {model: state_space, with: {A: [[0, 1], [0, 0]], B: [[0], [0.5]], x0: [0, 0]}}\n"
      "laws: {strain: {law: sum, with: {signs: [1, -1]}}, spring: {law: gain, with: {k: 2500}}}\n"
      "connections: [a.y1 -> strain.u1, b.y1 -> strain.u2, strain.y -> spring.u,\n"
      "  {from: spring.y, to: a.u1, gain: 2}, {from: spring.y, to: b.u1, gain: 2}]\n",
      NULL, &pace);
  check_relative(pace.fastest, sqrt(5000 * 1.5), 1e-9);
  assert_int_equal(calls, rule(0.1, sqrt(5000 * 1.5)));
}

// ---- units of others

static const char* slopes(const char* second, double step) {
  static char text[1024];
  snprintf(text, sizeof text,
           "yoke: 1\ntime: {stop: 10, step: %g}\ninputs: mean\nunits:\n"
           "  a: {model: slope, with: {k: -50}}\n  b: {model: %s, with: {k: 50}}\n"
           "  wave: {model: sine}\n  out: {model: state_space, with: {A: [[-1]], B: [[1]]}}\n"
           "connections: [a.y -> b.u, b.y -> a.u, wave.y -> out.u1]\n",
           step, second);
  return text;
}

static void test_units_of_others(void** state) {
  (void)state;
  yoke_scenario_pace pace;
  n_made = 0;
  // |lambda| = 50: 25 are wanted. Sources without a model do not matter: they are in no loop.
  assert_int_equal(calls_of(slopes("slope", 0.2), NULL, &pace), 26);
  assert_int_equal(n_alive, 0);
  assert_int_equal(n_made, 4);
  // no model, and a machine: made once
  for (int i = 0; i < 2; i++) {
    n_made = 0;
    const int64_t calls = calls_of(slopes(i == 0 ? "dumb" : "rig", 0.2), NULL, &pace);
    assert_int_equal(calls, 10);
    assert_int_equal(pace.calls, 0);
    assert_int_equal(n_made, 2);
    assert_int_equal(n_alive, 0);
  }
  // 125 are wanted; of 130 a unit that makes 60 steps of its own can follow 10
  yoke_system* system = build(slopes("fixed", 1), NULL);
  assert_int_equal(system->scenario->pace.wanted, 125);
  assert_int_equal(system->units[0].n_calls, 130);
  assert_int_equal(system->units[1].n_calls, 10);
  yoke__system_destroy(&system);
  assert_int_equal(n_alive, 0);
}

// A first system is closed before the second one is made, also with threads.
static void test_threads(void** state) {
  (void)state;
  yoke_scenario_pace pace;
  assert_int_equal(calls_of(slopes("slope", 0.2), "threads=2", &pace), 26);
  assert_int_equal(n_alive, 0);
}

// A closed chain of feedthrough that has no solution.
static void test_singular(void** state) {
  (void)state;
  yoke_system* system = build("yoke: 1\ntime: {stop: 1, step: 1e-2}\ninputs: mean\nunits:\n"
                              "  a: {model: state_space, with: {A: [[-1e5]], B: [[1]], D: [[1]]}}\n"
                              "  b: {model: state_space, with: {A: [[-1e5]], B: [[1]], D: [[1]]}}\n"
                              "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n",
                              NULL);
  assert_int_equal(system->scenario->pace.calls, 0);
  assert_int_equal(system->units[0].n_calls, 10);
  yoke__system_destroy(&system);
}

// ---- memory

#if HAS_OWN_MALLOC
static void test_memory(void** state) {
  (void)state;
  static char text[1024];
  snprintf(text, sizeof text, "%s", slopes("slope", 0.2));
  yoke_system* system = NULL;
  for (int i = 0; i < 2; i++) {
    check_ok(try_build(text, NULL, 0, &system));
    yoke__system_destroy(&system);
  }
  for (int mode = 0; mode < 2; mode++) {
    long k = 0, n_failed = 0;
    for (bool is_done = false; !is_done; k++) {
      heap = (failing_heap){.is_on = true, .fails_onwards = mode == 1, .fails_at = k};
      const yoke_status status = try_build(text, NULL, 0, &system);
      is_done = heap.n_requests <= k;
      // what was built is what is built with enough memory
      const int64_t calls = system == NULL ? 26 : system->units[0].n_calls;
      yoke__system_destroy(&system);
      heap.is_on = false;
      n_failed += status < 0;
      if (heap.n_blocks != 0 || n_alive != 0 || calls != 26) {
        fail_msg("request %ld refused: status %d, %ld blocks and %d units left, %lld calls", k,
                 (int)status, heap.n_blocks, n_alive, (long long)calls);
      }
    }
    print_message("%ld requests refused in turn, %ld builds failed\n", k, n_failed);
    assert_true(n_failed > k / 2);
  }
}
#else
static void test_memory(void** state) {
  (void)state;
  skip();
}
#endif

static int make_models(void** state) {
  (void)state;
  int failed = yoke_registry_create(&models) < 0;
  for (size_t i = 0; i < sizeof slope_ops / sizeof *slope_ops; i++) {
    failed = failed || yoke_registry_add_unit(models, &slope_ops[i], NULL) < 0;
  }
  return failed;
}

static int free_models(void** state) {
  (void)state;
  yoke_registry_destroy(&models);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dc_link),       cmocka_unit_test(test_not_asked),
      cmocka_unit_test(test_modes_outside), cmocka_unit_test(test_feedthrough),
      cmocka_unit_test(test_laws),          cmocka_unit_test(test_units_of_others),
      cmocka_unit_test(test_threads),       cmocka_unit_test(test_singular),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests_name("master_scout", tests, make_models, free_models);
}
