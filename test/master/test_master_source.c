// What a unit is told of its inputs (set_input_info): which values are new, valid, and of what time; in every scheme, through
// delays and slow connections, on any thread, and after a saved state. Units without the operation have no entry.
#include "base/base_map.h"
#include "pace_helper.h"
#include "support/sim.h"
#include "unit/unit_models.h"
#include "yoke/yoke.h"

// ---- a unit that shows what it is told, in every call

typedef struct listener {
  double a[2], b, open;  // inputs
  double sequence[4], stamp[4], age[4], valid[4];
  double told[16];  // the same before the step: sequence, stamp, age, valid of each input
} listener;

#define LISTENED(label, member, n_, direction)                                                     \
  {                                                                                                \
    .name = (label), .causality = (direction), .n_rows = (n_),                                     \
    .flags = (direction) == YOKE_INPUT ? YOKE_VARIABLE_HAS_START : 0,                              \
    .offset = offsetof(listener, member)                                                           \
  }
static const yoke_variable listener_variables[] = {
    LISTENED("a", a, 2, YOKE_INPUT),          LISTENED("b", b, 1, YOKE_INPUT),
    LISTENED("open", open, 1, YOKE_INPUT),    LISTENED("sequence", sequence, 4, YOKE_OUTPUT),
    LISTENED("stamp", stamp, 4, YOKE_OUTPUT), LISTENED("age", age, 4, YOKE_OUTPUT),
    LISTENED("valid", valid, 4, YOKE_OUTPUT),
};
static const yoke_unit_info listener_info = {.variables = listener_variables,
                                             .n_variables = YOKE_COUNT(listener_variables),
                                             .flags = YOKE_UNIT_FLAT | YOKE_UNIT_SAMPLED,
                                             .self_size = sizeof(listener)};

static yoke_status listen(void* self, const yoke_sample_info info[], size_t n_u) {
  listener* l = self;
  assert_int_equal(n_u, 4);
  for (size_t i = 0; i < n_u; i++) {
    const double told[] = {(double)info[i].sequence, info[i].time_stamp, info[i].age,
                           info[i].is_valid};
    memcpy(l->told + 4 * i, told, sizeof told);
  }
  return YOKE_OK;
}

static yoke_status listener_step(void* self, double t, double h, yoke_step_result* result) {
  listener* l = self;
  (void)t, (void)h, (void)result;
  for (size_t i = 0; i < 4; i++) {
    l->sequence[i] = l->told[4 * i];
    l->stamp[i] = l->told[4 * i + 1];
    l->age[i] = l->told[4 * i + 2];
    l->valid[i] = l->told[4 * i + 3];
  }
  return YOKE_OK;
}

static const yoke_unit_ops listener_ops = {
    YOKE_UNIT_HEAD,         .name = "listener",    .text = "shows what it is told of its inputs",
    .info = &listener_info, .step = listener_step, .set_input_info = listen};

// ---- a sensor: every third sample is lost, time stamps are half a step old

typedef struct sensor {
  double y, t, h;
  int64_t k;
} sensor;

static const yoke_variable sensor_variables[] = {
    {.name = "y", .causality = YOKE_OUTPUT, .offset = offsetof(sensor, y)},
};
static const yoke_unit_info sensor_info = {.variables = sensor_variables,
                                           .n_variables = YOKE_COUNT(sensor_variables),
                                           .flags = YOKE_UNIT_FLAT,
                                           .self_size = sizeof(sensor)};

static yoke_status sensor_step(void* self, double t, double h, yoke_step_result* result) {
  sensor* s = self;
  (void)result;
  s->k++;
  s->t = t + h;
  s->h = h;
  s->y = (double)s->k;
  return YOKE_OK;
}

static yoke_status sensor_sample(const void* self, size_t output, yoke_sample_info* info) {
  const sensor* s = self;
  assert_int_equal(output, 0);
  *info = (yoke_sample_info){.time_stamp = s->t - 0.5 * s->h,
                             .age = 0.5 * s->h,
                             .sequence = 100 + (uint64_t)s->k,
                             .is_valid = s->k % 3 != 2};
  return YOKE_OK;
}

static const yoke_unit_ops sensor_ops = {YOKE_UNIT_HEAD,          .name = "sensor",
                                         .text = "loses samples", .info = &sensor_info,
                                         .step = sensor_step,     .sample_info = sensor_sample};

// ----

static void add_both(yoke_registry* models) {
  check_ok(yoke_registry_add_unit(models, &listener_ops, NULL));
  check_ok(yoke_registry_add_unit(models, &sensor_ops, NULL));
}

static sim open_listening(const char* format, ...) YOKE_PRINTF(1, 2);
static sim open_listening(const char* format, ...) {
  yoke_registry* models = NULL;
  char text[2048], messages[4096];
  sim s;
  va_list rest;
  va_start(rest, format);
  vsnprintf(text, sizeof text, format, rest);
  va_end(rest);
  check_ok(yoke_registry_create(&models));
  add_both(models);
  const yoke_status status = sim_try(models, text, &s, messages, sizeof messages);
  yoke_registry_destroy(&models);
  if (status < 0) {
    fail_msg("%s\n%s", messages, text);
  }
  return s;
}

// What the listener was told of input i in its last call.
static void check_told(const sim* s, int i, double sequence, double stamp, double age,
                       double valid) {
  const double want[] = {sequence, stamp, age, valid};
  static const char* const names[] = {"sequence", "stamp", "age", "valid"};
  for (int k = 0; k < 4; k++) {
    char name[64];
    snprintf(name, sizeof name, "ear.%s[%d]", names[k], i);
    const double got = sim_read(s, name);
    if (!(fabs(got - want[k]) <= 1e-12)) {
      fail_msg("t = %g s: %s = %.17g, expected %.17g", s->state->t, name, got, want[k]);
    }
  }
}

#define HEAD "yoke: 1\ncalls: 1\ntime: {stop: 1, step: 0.01}\n"
#define UNITS                                                                                      \
  "units:\n  ear: {model: listener}\n  eye: {model: sensor%s}\n  wave: {model: sine%s}\n"

static void test_told_in_every_call(void** state) {
  (void)state;
  sim s =
      open_listening(HEAD UNITS "connections: ['wave.y -> ear.a[0]', eye.y -> ear.b]\n", "", "");
  assert_int_equal(s.system->n_sources, 4);
  assert_false(s.system->is_exchange_plain);
  for (int k = 0; k < 50; k++) {
    const double t = 0.01 * k;
    sim_steps(&s, 1);
    check_told(&s, 0, k + 1, t, 0, 1);
    // not connected: it may be written from outside at any time
    check_told(&s, 1, k + 1, t, 0, 1);
    check_told(&s, 3, k + 1, t, 0, 1);
    check_told(&s, 2, 100 + k, k == 0 ? 0 : t - 0.005, k == 0 ? 0 : 0.005, k % 3 != 2);
  }
  sim_close(&s);
}

// a slow source is new once in each of its steps, and so is a slow connection
static void test_slow_sources(void** state) {
  (void)state;
  sim s = open_listening(HEAD UNITS "connections: ['wave.y -> ear.a[0]', eye.y -> ear.b,\n"
                                    "  {from: wave.y, to: 'ear.a[1]', exchange: 0.2}]\n",
                         ", step: 0.1", ", step: 0.05");
  for (int k = 0; k < 60; k++) {
    sim_steps(&s, 1);
    const int n_wave = k / 5, n_late = k / 20, n_eye = k / 10;
    check_told(&s, 0, n_wave + 1, 0.05 * n_wave, 0, 1);
    check_told(&s, 1, n_late + 1, 0.2 * n_late, 0, 1);
    check_told(&s, 2, 100 + n_eye, n_eye == 0 ? 0 : 0.1 * n_eye - 0.05, n_eye == 0 ? 0 : 0.05,
               n_eye % 3 != 2);
  }
  sim_close(&s);
}

// a slow listener is told of what is there when its step begins
static void test_slow_listener(void** state) {
  (void)state;
  sim s =
      open_listening("yoke: 1\ntime: {stop: 1, step: 0.01}\nunits:\n"
                     "  ear: {model: listener, step: 0.04}\n  eye: {model: sensor, step: 0.01}\n"
                     "connections: [eye.y -> ear.b]\n");
  for (int k = 0; k < 10; k++) {
    sim_steps(&s, 4);
    check_told(&s, 2, 100 + 4 * k, k == 0 ? 0 : 0.04 * k - 0.005, k == 0 ? 0 : 0.005,
               4 * k % 3 != 2);
  }
  sim_close(&s);
}

// what is said of a sample travels with it; before the first one arrives there is none
static void test_delay(void** state) {
  (void)state;
  sim s = open_listening(HEAD UNITS "connections: [{from: wave.y, to: 'ear.a[0]', delay: 0.03},\n"
                                    "  {from: eye.y, to: ear.b, delay: 0.02}]\n",
                         "", "");
  for (int k = 0; k < 40; k++) {
    const double t = 0.01 * k;
    sim_steps(&s, 1);
    const bool is_here[] = {k >= 3, k >= 2};
    check_told(&s, 0, is_here[0] ? k - 2 : 0, is_here[0] ? t - 0.03 : t, 0, is_here[0]);
    const int n = k - 2;
    if (is_here[1]) {
      check_told(&s, 2, 100 + n, n == 0 ? 0 : t - 0.025, n == 0 ? 0 : 0.005, n % 3 != 2);
    } else {
      check_told(&s, 2, 0, t, 0, 0);
    }
  }
  sim_close(&s);
}

// those that are called before the listener give newer samples
static void test_gauss_seidel(void** state) {
  (void)state;
  sim s = open_listening("yoke: 1\ncalls: 1\nscheme: gauss-seidel\norder: [wave, ear, eye]\n"
                         "time: {stop: 1, step: 0.01}\n" UNITS
                         "connections: ['wave.y -> ear.a[0]', eye.y -> ear.b]\n",
                         "", "");
  for (int k = 0; k < 20; k++) {
    const double t = 0.01 * k;
    sim_steps(&s, 1);
    check_told(&s, 0, k + 1, t + 0.01, 0, 1);
    check_told(&s, 2, 100 + k, k == 0 ? 0 : t - 0.005, k == 0 ? 0 : 0.005, k % 3 != 2);
  }
  sim_close(&s);
}

// every attempt of a macro step is told the same
static void test_iteration(void** state) {
  (void)state;
  sim s = open_listening("yoke: 1\nscheme: iterative-jacobi\ntime: {stop: 1, step: 0.01}\n" UNITS
                         "connections: ['wave.y -> ear.a[0]', eye.y -> ear.b]\n",
                         "", "");
  for (int k = 0; k < 20; k++) {
    sim_steps(&s, 1);
    check_told(&s, 0, k + 1, 0.01 * k, 0, 1);
    assert_true(s.state->iteration.most >= 1);
  }
  sim_close(&s);
}

// ---- the same bytes on any thread, and from a saved state

static const char mixed[] =
    "yoke: 1\ncalls: 1\nthreads: %d\ntime: {stop: 0.5, step: 0.01%s}\nunits:\n"
    "  ear: {model: listener%s}\n  eye: {model: sensor, step: 0.02}\n  wave: {model: sine}\n"
    "connections: ['wave.y -> ear.a[0]', {from: eye.y, to: ear.b, delay: 0.06}]\n";

static void test_threads(void** state) {
  (void)state;
  double want[64];
  for (int n_threads = 1; n_threads <= 3; n_threads++) {
    sim s = open_listening(mixed, n_threads, "", "");
    assert_true(s.system->n_y <= YOKE_COUNT(want));
    sim_run(&s);
    if (n_threads == 1) {
      memcpy(want, s.state->y, s.system->n_y * sizeof *want);
    }
    assert_memory_equal(s.state->y, want, s.system->n_y * sizeof *want);
    sim_close(&s);
  }
}

static void test_own_thread(void** state) {
  (void)state;
  double want[64];
  for (int is_own = 0; is_own < 2; is_own++) {
    char text[1024];
    snprintf(text, sizeof text, mixed, 1, ", pace: {overrun: continue}",
             is_own ? ", thread: own" : "");
    add_models = add_both;
    paced p = paced_open(text);
    check_ok(paced_run(&p));
    if (!is_own) {
      memcpy(want, p.s.state->y, p.s.system->n_y * sizeof *want);
    }
    assert_memory_equal(p.s.state->y, want, p.s.system->n_y * sizeof *want);
    paced_close(&p);
  }
  add_models = NULL;
}

static void read_all(yoke_simulation* simulation, double to[16]) {
  static const char* const names[] = {"sequence", "stamp", "age", "valid"};
  for (int k = 0; k < 16; k++) {
    char name[32];
    yoke_handle handle;
    snprintf(name, sizeof name, "ear.%s[%d]", names[k / 4], k % 4);
    check_ok(yoke_simulation_find(simulation, name, &handle));
    check_ok(yoke_simulation_read(simulation, handle, &to[k]));
  }
}

// samples on their way in a delay line are part of the state
static void test_saved_state(void** state) {
  (void)state;
  char text[1024];
  const int n = snprintf(text, sizeof text, mixed, 1, "", "");
  yoke_load_settings settings = {0};
  yoke_registry* models = NULL;
  yoke_system* system = NULL;
  yoke_simulation* simulation = NULL;
  check_ok(yoke_registry_create(&models));
  add_both(models);
  settings.registry = models;
  check_ok(yoke_system_parse(text, (size_t)n, "text", &settings, &system));
  check_ok(yoke_simulation_create(system, NULL, &simulation));
  check_ok(yoke_simulation_run_to(simulation, 0.05));
  const size_t size = yoke_simulation_image_size(simulation);
  void* image = calloc(1, size);
  assert_non_null(image);
  check_ok(yoke_simulation_save(simulation, image, size));
  for (int k = 6; k < 20; k++) {
    const double t = 0.01 * k;
    double want[16], again[16];
    check_ok(yoke_simulation_run_to(simulation, t));
    read_all(simulation, want);
    check_ok(yoke_simulation_restore(simulation, image, size));
    check_ok(yoke_simulation_run_to(simulation, t));
    read_all(simulation, again);
    assert_memory_equal(again, want, sizeof want);
  }
  free(image);
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
  yoke_registry_destroy(&models);
}

// a signal is held if the file says so, or if another unit holds it
static void test_held(void** state) {
  (void)state;
  static const struct {
    const char *head, *connections;
    bool is_held;
  } cases[] = {
      {"", "['wave.y -> ear.a[0]']", false},
      {"", "[{from: wave.y, to: 'ear.a[0]', method: hold}]", true},
      {"", "['wave.y -> ear.a[0]', wave.y -> plant.u1]", false},
      {"", "['wave.y -> ear.a[0]', {from: wave.y, to: plant.u1, method: hold}]", true},
      {"inputs: start\n", "['wave.y -> ear.a[0]', wave.y -> plant.u1]", true},
      {"inputs: start\n", "['wave.y -> ear.a[0]', {from: wave.y, to: plant.u1, order: 1}]", false},
      {"inputs: start\n", "['wave.y -> ear.a[0]', eye.y -> plant.u1]", false},
  };
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    sim s = open_listening(
        "%s" HEAD UNITS
        "  plant: {model: state_space, with: {A: [[-1]], B: [[1]]}, start: {u1: 0}}\n"
        "connections: %s\n",
        cases[i].head, "", "", cases[i].connections);
    sim_steps(&s, 3);
    if (s.state->infos[0].is_held != cases[i].is_held || s.state->infos[1].is_held) {
      fail_msg("case %zu: held %d", i, s.state->infos[0].is_held);
    }
    sim_close(&s);
  }
}

// nothing is kept for units that do not ask, and the short path stays open to them
static void test_others_do_not_pay(void** state) {
  (void)state;
  sim s = open_listening("yoke: 1\ncalls: 1\ntime: {stop: 1, step: 0.01}\nunits:\n"
                         "  eye: {model: sensor}\n  late: {model: channel}\n"
                         "connections: [eye.y -> late.u]\n");
  assert_int_equal(s.system->n_sources, 0);
  assert_true(s.system->is_exchange_plain);
  for (size_t i = 0; i < s.system->n_units; i++) {
    assert_int_equal(s.system->units[i].n_sources, 0);
  }
  sim_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_told_in_every_call),
      cmocka_unit_test(test_slow_sources),
      cmocka_unit_test(test_slow_listener),
      cmocka_unit_test(test_delay),
      cmocka_unit_test(test_gauss_seidel),
      cmocka_unit_test(test_iteration),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_own_thread),
      cmocka_unit_test(test_saved_state),
      cmocka_unit_test(test_held),
      cmocka_unit_test(test_others_do_not_pay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
