// Means of outputs over exchange intervals and the balance of flows: the rule, the formula, schemes, laws, delays, threads,
// saved states (trust specification, section 6).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "system/system_fixture.h"

#define PI 3.14159265358979323846

// ---------------------------------------------------------------------------------------------------------
// units: a source of one signal in many dimensions, y = 1 - cos(2 pi t), and one that gives its integrals too

enum { N_OUTPUTS = 12 };

typedef struct source {
  double u, y[N_OUTPUTS];
  double integrals[N_OUTPUTS];
} source;

#define OUTPUT(i, name_, dim_)                                                                     \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .type = YOKE_REAL, .causality = YOKE_OUTPUT,                   \
    .offset = offsetof(source, y[i])                                                               \
  }
static const yoke_variable source_variables[] = {
    {.name = "u",
     .type = YOKE_REAL,
     .causality = YOKE_INPUT,
     .flags = YOKE_VARIABLE_HAS_START,
     .offset = offsetof(source, u)},
    OUTPUT(0, "w", "W"),
    OUTPUT(1, "kw", "kW"),
    OUTPUT(2, "a", "A"),
    OUTPUT(3, "q", "m3/s"),
    OUTPUT(4, "m", "kg/s"),
    OUTPUT(5, "n", "mol/s"),
    OUTPUT(6, "r", "1/s"),
    OUTPUT(7, "omega", "rad/s"),
    OUTPUT(8, "hz", "Hz"),
    OUTPUT(9, "f", "N"),
    OUTPUT(10, "v", "V"),
    OUTPUT(11, "x", NULL),
};

static yoke_status source_refresh(void* self, double t) {
  source* s = self;
  for (size_t i = 0; i < N_OUTPUTS; i++) {
    s->y[i] = 1 - cos(2 * PI * t);
  }
  return YOKE_OK;
}

static yoke_status source_step(void* self, double t, double h, yoke_step_result* result) {
  source* s = self;
  const double integral = h - (sin(2 * PI * (t + h)) - sin(2 * PI * t)) / (2 * PI);
  for (size_t i = 0; i < N_OUTPUTS; i++) {
    s->integrals[i] = integral;
  }
  return source_refresh(self, result->t_reached);
}

// The numbers asked for, to be seen by the test.
static size_t n_asked;

static yoke_status source_choose(void* self, const size_t outputs[], size_t n) {
  (void)self;
  n_asked = n;
  return n > 0 && outputs[0] < N_OUTPUTS ? YOKE_OK : YOKE_BAD_ARG;
}

static yoke_status source_integrals(const void* self, double integrals[], size_t n) {
  memcpy(integrals, ((const source*)self)->integrals, n * sizeof *integrals);
  return YOKE_OK;
}

#define SOURCE_INFO(...)                                                                           \
  {                                                                                                \
    .variables = source_variables, .n_variables = COUNT(source_variables),                         \
    .flags = YOKE_UNIT_FLAT, .self_size = sizeof(source), .solver = {                              \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }
static const yoke_unit_info unknown_info = SOURCE_INFO(0);
static const yoke_unit_info euler_info = SOURCE_INFO(.method = YOKE_SOLVER_EULER);
static const yoke_unit_ops plain_ops = {YOKE_UNIT_HEAD, .name = "my.plain", .info = &euler_info,
                                        .step = source_step, .refresh = source_refresh};
static const yoke_unit_ops opaque_ops = {YOKE_UNIT_HEAD, .name = "my.opaque", .info = &unknown_info,
                                         .step = source_step, .refresh = source_refresh};
static const yoke_unit_ops whole_ops = {
    YOKE_UNIT_HEAD,
    .name = "my.whole",
    .info = &unknown_info,
    .step = source_step,
    .refresh = source_refresh,
    .choose_integrals = source_choose,
    .get_integrals = source_integrals,
};

// Takes flows, and adds up what it gets.
typedef struct sink {
  double u[2], sum;
} sink;

static const yoke_variable sink_variables[] = {
    {.name = "u",
     .type = YOKE_REAL,
     .causality = YOKE_INPUT,
     .flags = YOKE_VARIABLE_HAS_START,
     .offset = offsetof(sink, u[0])},
    {.name = "v",
     .type = YOKE_REAL,
     .causality = YOKE_INPUT,
     .flags = YOKE_VARIABLE_HAS_START,
     .offset = offsetof(sink, u[1])},
    {.name = "sum", .type = YOKE_REAL, .causality = YOKE_OUTPUT, .offset = offsetof(sink, sum)},
};
static const yoke_unit_info sink_info = {.variables = sink_variables,
                                         .n_variables = COUNT(sink_variables),
                                         .flags = YOKE_UNIT_FLAT,
                                         .self_size = sizeof(sink)};

static yoke_status sink_step(void* self, double t, double h, yoke_step_result* result) {
  (void)t;
  (void)result;
  sink* s = self;
  s->sum += h * s->u[0];
  return YOKE_OK;
}

static yoke_status sink_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

static const yoke_unit_ops sink_ops = {YOKE_UNIT_HEAD, .name = "my.sink", .info = &sink_info,
                                       .step = sink_step, .refresh = sink_refresh};

static yoke_registry* all_models(void) {
  static const yoke_unit_ops* const all[] = {&plain_ops, &opaque_ops, &whole_ops, &sink_ops};
  return fixture_models(all, COUNT(all));
}

static double input(const sim* s, const char* unit) {
  return s->state->u[s->system->units[fixture_unit(s, unit)].u];
}

static yoke_flow_result flow_of(const sim* s, size_t i) {
  yoke_flow_result r;
  assert_true(i < s->system->n_flows);
  yoke__master_flow(s->system, s->state, i, &r);
  return r;
}

// ---------------------------------------------------------------------------------------------------------
// the rule (6.1)

// By dimension, from a fast to a slow unit.
static void test_rule_of_dimensions(void** state) {
  (void)state;
  static const struct {
    const char* output;
    bool is_averaged;
  } cases[] = {{"w", true},   {"kw", true}, {"a", true},  {"q", true},
               {"m", true},   {"n", true},  {"r", true},  {"omega", false},
               {"hz", false}, {"f", false}, {"v", false}, {"x", false}};
  yoke_registry* models = all_models();
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[512];
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n  a: {model: "
             "my.plain, step: 0.05}\n"
             "  b: {model: my.sink}\nconnections: [{from: a.%s, to: b.u, gain: 1}]\n",
             cases[i].output);
    sim s = fixture_open(models, text);
    assert_int_equal(s.system->links[0].flow,
                     cases[i].is_averaged ? YOKE_FLOW_AVERAGED : YOKE_FLOW_NONE);
    sim_close(&s);
  }
  yoke_registry_destroy(&models);
}

// By rates, keys, methods and bonds. %s: keys of the file, step of a, model of a, the connection.
static void test_rule_of_rates(void** state) {
  (void)state;
  static const struct {
    const char *head, *step, *model, *connection;
    yoke_flow_use use;
    bool is_sampled;
  } cases[] = {
      // called once: only samples exist; a unit with one known inner step has nothing else to show
      {"", "0.1", "my.opaque", "a.w -> b.u", YOKE_FLOW_NONE, true},
      {"", "0.1", "my.plain", "a.w -> b.u", YOKE_FLOW_NONE, false},
      {"", "0.1", "my.whole", "a.w -> b.u", YOKE_FLOW_AVERAGED, false},
      {"", "0.1", "my.opaque", "{from: a.w, to: b.u, average: false}", YOKE_FLOW_NONE, false},
      {"", "0.1", "my.opaque", "{from: a.x, to: b.u, average: true}", YOKE_FLOW_AVERAGED, false},
      {"", "0.05", "my.plain", "{from: a.w, to: b.u, average: false}", YOKE_FLOW_METERED, false},
      {"", "0.05", "my.plain", "{from: a.f, to: b.u, average: false}", YOKE_FLOW_NONE, false},
      {"", "0.05", "my.plain", "{from: a.f, to: b.u, average: true}", YOKE_FLOW_AVERAGED, false},
      // what is extrapolated on purpose is no mean, but it is counted
      {"", "0.05", "my.plain", "{from: a.w, to: b.u, order: 1}", YOKE_FLOW_METERED, false},
      {"", "0.05", "my.plain", "{from: a.w, to: b.u, order: 0}", YOKE_FLOW_AVERAGED, false},
      {"", "0.05", "my.plain", "{from: a.w, to: b.u, method: hold}", YOKE_FLOW_AVERAGED, false},
      // a coupling over all units leaves means alone
      {"couplings: {all: {method: nepce, members: [a, b]}}\n", "0.05", "my.plain", "a.w -> b.u",
       YOKE_FLOW_AVERAGED, false},
      {"scheme: gauss-seidel\n", "0.05", "my.plain", "a.w -> b.u", YOKE_FLOW_AVERAGED, false},
      // iterative schemes exchange no means
      {"scheme: iterative-jacobi\n", "0.1", "my.whole", "a.w -> b.u", YOKE_FLOW_NONE, true},
      {"scheme: iterative-jacobi\n", "0.1", "my.plain", "a.w -> b.u", YOKE_FLOW_NONE, false},
      {"scheme: iterative-jacobi\n", "0.1", "my.whole", "{from: a.w, to: b.u, average: false}",
       YOKE_FLOW_NONE, false},
  };
  yoke_registry* models = all_models();
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[1024], messages[4096];
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n%sunits:\n  a: {model: "
             "%s, step: %s}\n"
             "  b: {model: my.sink}\nconnections: [%s]\n",
             cases[i].head, cases[i].model, cases[i].step, cases[i].connection);
    sim s;
    if (sim_try(models, text, &s, messages, sizeof messages) < 0) {
      fail_msg("%s\n%s", messages, text);
    }
    const yoke_system_link* link = &s.system->links[0];
    if (link->flow != cases[i].use || link->is_flow_sampled != cases[i].is_sampled ||
        (strstr(messages, "samples of a fast signal") != NULL) != cases[i].is_sampled ||
        link->method != 0) {
      fail_msg("case %zu: use %d, sampled %d, method %zu\n%s\n%s", i, (int)link->flow,
               link->is_flow_sampled, link->method, messages, text);
    }
    sim_close(&s);
  }
  yoke_registry_destroy(&models);
}

static void test_power_bonds_keep_samples(void** state) {
  (void)state;
  yoke_registry* models = all_models();
  // A with V is a bond found from dimensions, W with nothing back is none
  sim s =
      fixture_open(models, "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n"
                           "  a: {model: my.plain, step: 0.05}\n  b: {model: my.plain}\n"
                           "connections: [a.a -> b.u, b.v -> a.u]\n");
  assert_int_equal(s.system->n_bonds, 1);
  assert_int_equal(s.system->n_flows, 0);
  sim_close(&s);
  yoke_registry_destroy(&models);
}

static void test_refusals(void** state) {
  (void)state;
  static const struct {
    const char *head, *connection, *part;
  } cases[] = {
      {"", "{from: a.w, to: b.u, average: true, order: 1}", "a mean is held, not extrapolated"},
      {"scheme: iterative-jacobi\n", "{from: a.w, to: b.u, average: true}",
       "iterative schemes exchange samples, not means"},
      {"laws: {l: {law: gain}}\n", "{from: a.w, to: l.u, average: true}",
       "a law passes on its inputs at once"},
      {"", "{from: a.w, to: b.u, average: maybe}", "average"},
      {"", "{from: a.w, to: b.u, average: true, gain: 0}", "its gain is 0"},
  };
  yoke_registry* models = all_models();
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n%sunits:\n  a: {model: "
             "my.plain, step: 0.05}\n"
             "  b: {model: my.sink}\nconnections: [%s]\n",
             cases[i].head, cases[i].connection);
    refuse(models, text, cases[i].part);
  }
  yoke_registry_destroy(&models);
}

// ---------------------------------------------------------------------------------------------------------
// the formula (6.2)

// y = t: trapezoids are exact, the mean of an interval is its middle. %s: scheme, keys, step of a, step of b, connection keys
#define RAMP                                                                                       \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1.2, step: 0.1}\n%sunits:\n"                     \
  "  a: {model: integrator, start: {u: 1}, step: %s}\n  b: {model: gain, step: %s}\n"              \
  "connections: [{from: a.y, to: b.u, average: true%s}]\n"

static void test_means_of_a_ramp(void** state) {
  (void)state;
  static const struct {
    const char *head, *a, *b, *keys;
    double now;  // what b has at t = 1.2
  } cases[] = {
      {"", "0.01", "0.1", "", 1.15},
      {"", "0.01", "0.05", "", 1.15},  // called twice with the same mean
      {"", "0.01", "0.4", "", 1.0},    // several macro steps
      {"", "0.1", "0.4", "", 1.0},     // a call in each slot
      {"", "0.2", "0.4", "", 1.0},     // a call over several slots
      {"", "0.01", "0.1", ", exchange: 0.3", 1.05},
      {"", "0.01", "0.1", ", gain: 2, offset: 3", 5.3},
      {"", "0.01", "0.1", ", delay: 0.3", 0.85},
      {"", "0.01", "0.1", ", gain: -2, offset: 3, delay: 0.2", 1.1},
      {"threads: 2\n", "0.01", "0.1", "", 1.15},
      // the sender first: at its turn the receiver has the mean of the very interval that it steps over
      {"scheme: gauss-seidel\norder: [a, b]\n", "0.01", "0.1", "", 1.15},
      {"scheme: gauss-seidel\norder: [b, a]\n", "0.01", "0.1", "", 1.05},
      // the sender is one call ahead at the receiver's turn
      {"scheme: gauss-seidel\norder: [a, b]\n", "0.1", "0.4", "", 0.8 + 0.1 - 0.2},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    sim s = sim_open(RAMP, cases[i].head, cases[i].a, cases[i].b, cases[i].keys);
    sim_run(&s);
    check_near(input(&s, "b"), cases[i].now, 1e-12);
    // nothing is lost, whatever is done to the signal on its way
    check_near(flow_of(&s, 0).balance, 0, 1e-12);
    sim_close(&s);
  }
}

// The first interval has the initial value; what arrives is what was sent one interval before.
static void test_first_interval_and_amounts(void** state) {
  (void)state;
  yoke_registry* models = all_models();
  sim s =
      fixture_open(models, "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 3, step: 0.5}\nunits:\n"
                           "  a: {model: my.whole}\n  b: {model: my.sink}\n"
                           "connections: [{from: a.kw, to: b.u, gain: 1}]\n");
  assert_int_equal(n_asked, 1);
  check_near(input(&s, "b"), 0, 0);
  sim_steps(&s, 1);
  // the integral of the unit, from one call: of 1 - cos over half a turn it is 0.5
  check_near(input(&s, "b"), 1, 1e-12);
  check_near(sim_read(&s, "b.sum"), 0, 0);
  sim_steps(&s, 5);
  check_near(sim_read(&s, "b.sum"), 2.5, 1e-12);
  const yoke_flow_result r = flow_of(&s, 0);
  assert_string_equal(s.system->flows[0].dim, "J");
  check_near(r.sent, 3000, 1e-9);
  check_near(r.arrived, 2500, 1e-9);
  check_near(r.due_sent, 2500, 1e-9);
  check_near(r.balance, 0, 1e-13);
  sim_close(&s);
  yoke_registry_destroy(&models);
}

// Trapezoids over calls: of second order.
static void test_order_of_trapezoids(void** state) {
  (void)state;
  yoke_registry* models = all_models();
  double errors[3];
  for (int i = 0; i < 3; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.5, step: 0.25}\nunits:\n  a: "
             "{model: my.plain, step: %s}\n"
             "  b: {model: my.sink}\nconnections: [{from: a.w, to: b.u, gain: 1}]\n",
             i == 0   ? "0.025"
             : i == 1 ? "0.0125"
                      : "0.00625");
    sim s = fixture_open(models, text);
    sim_steps(&s, 1);
    errors[i] = fabs(input(&s, "b") - (1 - 4 / (2 * PI)));
    sim_close(&s);
  }
  check_between(errors[0] / errors[1], 3.9, 4.1);
  check_between(errors[1] / errors[2], 3.9, 4.1);
  yoke_registry_destroy(&models);
}

// A law is seen where it is evaluated; it feeds the mean of twice the ramp.
static void test_laws(void** state) {
  (void)state;
  static const char* const heads[] = {"", "scheme: gauss-seidel\norder: [b, a]\n",
                                      "scheme: gauss-seidel\norder: [a, b]\n"};
  for (size_t i = 0; i < COUNT(heads); i++) {
    sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1.2, step: 0.01}\n%sunits:\n"
                     "  a: {model: integrator, start: {u: 1}}\n  b: {model: gain, step: 0.1}\n"
                     "laws: {l: {law: gain, with: {k: 2}}}\n"
                     "connections: [a.y -> l.u, {from: l.y, to: b.u, average: true}]\n",
                     heads[i]);
    sim_run(&s);
    // under Gauss-Seidel it takes its input when its turn comes, at the start of an interval
    check_near(input(&s, "b"), i == 0 ? 2.3 : 2.1, 1e-12);
    check_near(flow_of(&s, 0).balance, 0, 1e-12);
    sim_close(&s);
  }
}

// A fresh receiver is shown the mean when it is evaluated again.
static void test_fresh_receiver(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n"
                   "  a: {model: integrator, start: {u: 1}, step: 0.01}\n"
                   "  b: {model: gain, exchange: fresh}\n"
                   "connections: [{from: a.y, to: b.u, average: true}]\n");
  sim_run(&s);
  check_near(sim_read(&s, "b.y"), 0.95, 1e-12);
  sim_close(&s);
}

// Two receivers have windows of their own; several senders, in another order than their receivers, with delays.
static void test_several(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1.2, step: 0.1}\nunits:\n"
                   "  a: {model: integrator, start: {u: 1}, step: 0.01}\n"
                   "  b: {model: gain}\n  c: {model: gain, step: 0.4}\n"
                   "connections: [{from: a.y, to: b.u, average: true}, "
                   "{from: a.y, to: c.u, average: true}]\n");
  assert_int_equal(s.system->n_flows, 2);
  sim_run(&s);
  check_near(input(&s, "b"), 1.15, 1e-12);
  check_near(input(&s, "c"), 1.0, 1e-12);
  sim_close(&s);

  s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1.2, step: 0.1}\nunits:\n"
               "  a: {model: integrator, start: {u: 1}, step: 0.01}\n"
               "  b: {model: integrator, start: {u: 2}, step: 0.02}\n"
               "  c: {model: gain}\n  d: {model: gain}\n  e: {model: gain}\n"
               "connections: [{from: b.y, to: c.u, average: true, delay: 0.2}, "
               "{from: a.y, to: d.u, average: true, delay: 0.3}, "
               "{from: b.y, to: e.u, average: true}]\n");
  sim_run(&s);
  check_near(input(&s, "c"), 1.9, 1e-12);
  check_near(input(&s, "d"), 0.85, 1e-12);
  check_near(input(&s, "e"), 2.3, 1e-12);
  for (size_t i = 0; i < 3; i++) {
    check_near(flow_of(&s, i).balance, 0, 1e-12);
  }
  sim_close(&s);
}

// ---------------------------------------------------------------------------------------------------------
// the balance (6.3)

// Samples of 1 - cos(2 pi t) once per period are 0: all of it is lost. Half a period later they are twice the mean.
static void test_balance_of_samples(void** state) {
  (void)state;
  yoke_registry* models = all_models();
  sim s =
      fixture_open(models, "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 20, step: 1}\nunits:\n"
                           "  a: {model: my.plain, step: 0.1}\n  b: {model: my.sink}\n"
                           "connections: [{from: a.w, to: b.u, average: false}]\n");
  yoke_flow_result r = flow_of(&s, 0);
  assert_true(isnan(r.balance));
  sim_steps(&s, 1);
  assert_true(isnan(flow_of(&s, 0).balance));
  sim_run(&s);
  r = flow_of(&s, 0);
  check_near(r.sent, 20, 1e-9);
  check_near(r.arrived, 0, 1e-9);
  check_near(r.balance, 1, 1e-9);
  sim_close(&s);

  // a signal that does not change arrives as it was sent, from the first interval on, also with a delay
  s = fixture_open(
      models,
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 5, step: 1}\nunits:\n"
      "  a: {model: my.plain, step: 1}\n  b: {model: constant, with: {value: 3}, step: 0.5}\n"
      "  c: {model: my.sink}\n"
      "connections: [{from: b.y, to: c.u, average: true, delay: 2}]\n");
  sim_run(&s);
  r = flow_of(&s, 0);
  check_near(r.sent, 15, 1e-12);
  check_near(r.arrived, 15, 1e-12);
  check_near(r.balance, 0, 1e-14);
  sim_close(&s);
  yoke_registry_destroy(&models);
}

// Nothing sent, nothing arrived: nothing to judge.
static void test_balance_of_nothing(void** state) {
  (void)state;
  sim s = sim_open(RAMP, "", "0.01", "0.1", "");
  const size_t u = s.system->units[0].u;
  s.state->u[u] = 0;
  sim_run(&s);
  assert_true(isnan(flow_of(&s, 0).balance));
  sim_close(&s);
}

// ---------------------------------------------------------------------------------------------------------
// saved states

static unsigned char* save(const sim* s, size_t* size) {
  yoke_image count = {0};
  yoke__master_image_flows(s->system, s->state, &count);
  unsigned char* bytes = calloc(1, count.used);
  assert_non_null(bytes);
  yoke_image image = {.to = bytes};
  yoke__master_image_flows(s->system, s->state, &image);
  assert_int_equal(image.used, count.used);
  *size = count.used;
  return bytes;
}

static void test_image(void** state) {
  (void)state;
  sim a = sim_open(RAMP, "", "0.2", "0.4", ", delay: 0.4");
  sim_steps(&a, 7);
  size_t size = 0, size_end = 0, size_again = 0;
  unsigned char* middle = save(&a, &size);
  sim_run(&a);
  unsigned char* end = save(&a, &size_end);
  // counters go back to the middle and are the same again
  yoke_image image = {.from = middle};
  yoke__master_image_flows(a.system, a.state, &image);
  unsigned char* again = save(&a, &size_again);
  assert_int_equal(size, size_again);
  assert_memory_equal(middle, again, size);
  assert_memory_not_equal(middle, end, size);
  free(middle);
  free(end);
  free(again);
  sim_close(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rule_of_dimensions),
      cmocka_unit_test(test_rule_of_rates),
      cmocka_unit_test(test_power_bonds_keep_samples),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_means_of_a_ramp),
      cmocka_unit_test(test_first_interval_and_amounts),
      cmocka_unit_test(test_order_of_trapezoids),
      cmocka_unit_test(test_laws),
      cmocka_unit_test(test_fresh_receiver),
      cmocka_unit_test(test_several),
      cmocka_unit_test(test_balance_of_samples),
      cmocka_unit_test(test_balance_of_nothing),
      cmocka_unit_test(test_image),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
