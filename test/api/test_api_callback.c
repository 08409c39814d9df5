// What a simulation calls may call back: functions that move, save, record or destroy it answer YOKE_BUSY from there, and
// nothing happens; progress may read and write. Units, methods, sinks of results and of messages are tried, with one thread
// and with two.
#include <stdatomic.h>
#include <stdlib.h>

#include "api/api_helper.h"
#include "base/base_os.h"

typedef enum place {
  IN_INIT = 1u << 0,
  IN_STEP = 1u << 1,
  IN_SAVE = 1u << 2,
  IN_GET = 1u << 3,
  IN_END = 1u << 4,
  IN_METHOD = 1u << 5,
  IN_ROWS = 1u << 6,
  IN_PROGRESS = 1u << 7,
  IN_MESSAGE = 1u << 8,
  IN_CLOSE = 1u << 9,
} place;

// One trial at a time. Threads of the simulation count; the test looks when they are done.
static struct {
  yoke_simulation* simulation;
  yoke_system* system;
  yoke_handle k;  // a value that only the unit has
  atomic_uint seen;
  atomic_int n_wrong;
  atomic_bool is_meddling;
  char wrong[256];
} trial;

static void expect(bool is_right, const char* what) {
  if (!is_right && atomic_fetch_add(&trial.n_wrong, 1) == 0) {
    snprintf(trial.wrong, sizeof trial.wrong, "%s", what);
  }
}

#define BUSY(call) expect((call) == YOKE_BUSY, #call)

// Everything that is refused, once per place.
static void meddle(place at) {
  yoke_simulation* s = trial.simulation;
  if (s == NULL || (atomic_load(&trial.seen) & at) != 0 ||
      atomic_exchange(&trial.is_meddling, true)) {
    return;
  }
  atomic_fetch_or(&trial.seen, at);
  const yoke_result_ops* const no_sinks[] = {NULL};
  char image[16] = "";
  double value = 0;
  yoke_run_info info = {0};
  yoke_simulation* copy = s;
  yoke_system* system = trial.system;
  yoke_simulation_destroy(&copy);
  expect(copy == s, "destroy");
  yoke_system_destroy(&system);
  expect(system == trial.system, "system_destroy");
  BUSY(yoke_simulation_start(s));
  BUSY(yoke_simulation_step(s));
  BUSY(yoke_simulation_run_to(s, 10));
  BUSY(yoke_simulation_run(s, NULL, &info));
  expect(info.status == YOKE_BUSY, "info");
  BUSY(yoke_simulation_save(s, image, sizeof image));
  BUSY(yoke_simulation_restore(s, image, sizeof image));
  BUSY(yoke_simulation_checkpoint(s, "/dev/null"));
  BUSY(yoke_simulation_resume(s, "/dev/null"));
  BUSY(yoke_simulation_record(s, &(yoke_record_settings){.sinks = no_sinks, .n_sinks = 1}));
  BUSY(yoke_simulation_record_stop(s, NULL));
  expect(yoke_simulation_image_size(s) == 0, "image_size");
  if (at == IN_PROGRESS) {
    expect(yoke_simulation_read(s, trial.k, &value) == YOKE_OK && value == 10, "read");
    expect(yoke_simulation_report(s) == YOKE_OK, "report");
    expect(yoke_simulation_declare_discontinuity(s) == YOKE_OK, "discontinuity");
  } else {
    BUSY(yoke_simulation_read(s, trial.k, &value));
    BUSY(yoke_simulation_read_value(s, trial.k, &value, sizeof value));
    if (!yoke_simulation_is_done(s)) {
      BUSY(yoke_simulation_write_value(s, trial.k, &(double){20}, sizeof value));
    }
    BUSY(yoke_simulation_report(s));
    BUSY(yoke_simulation_declare_discontinuity(s));
  }
  atomic_store(&trial.is_meddling, false);
}

// ---- what is called

static yoke_status meddle_enter(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  (void)self;
  (void)t_start;
  (void)t_stop;
  (void)sink;
  meddle(IN_INIT);
  return YOKE_OK;
}

static yoke_status meddle_step(void* self, double t, double h, yoke_step_result* result) {
  yoke__os_sleep_ns(3000000);  // long enough for progress
  meddle(IN_STEP);
  return plant_step(self, t, h, result);
}

static yoke_status meddle_save(const void* self, void* image, size_t size) {
  meddle(IN_SAVE);
  memcpy(image, self, size);
  return YOKE_OK;
}

static yoke_status meddle_restore(void* self, const void* image, size_t size) {
  meddle(IN_SAVE);
  memcpy(self, image, size);
  return YOKE_OK;
}

static yoke_status meddle_get(const void* self, size_t variable, void* value, size_t size) {
  meddle(IN_GET);
  memcpy(value, (const char*)self + plant_variables[variable].offset, size);
  return YOKE_OK;
}

static void meddle_terminate(void* self) {
  (void)self;
  meddle(IN_END);
}

static yoke_status make_plant(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  (void)args;
  (void)sink;
  plant* p = calloc(1, sizeof *p);
  *self = p;
  if (p == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < 8; i++) {
    memcpy((char*)p + plant_variables[i].offset, &plant_variables[i].start, sizeof(double));
  }
  return YOKE_OK;
}

// The system is being destroyed by whoever closes its units.
static void meddle_close(void* self) {
  if (trial.system != NULL) {
    atomic_fetch_or(&trial.seen, IN_CLOSE);
    yoke_system* system = trial.system;
    yoke_simulation* none = NULL;
    yoke_system_destroy(&system);
    expect(system == trial.system, "system_destroy in close");
    expect(yoke_simulation_create(system, NULL, &none) == YOKE_BAD_ARG, "create in close");
  }
  free(self);
}

static const yoke_unit_info meddler_info = {
    .variables = plant_variables, .n_variables = 8, .image_size = sizeof(plant)};
static const yoke_unit_ops meddler_ops = {YOKE_UNIT_HEAD,
                                          .name = "plant",
                                          .info = &meddler_info,
                                          .create = make_plant,
                                          .get = meddle_get,
                                          .enter_init = meddle_enter,
                                          .step = meddle_step,
                                          .refresh = plant_refresh,
                                          .save = meddle_save,
                                          .restore = meddle_restore,
                                          .terminate = meddle_terminate,
                                          .close = meddle_close};

static const yoke_coupling_ops* nepce;  // under another name it meddles

static void meddle_observe(void* self, const yoke_coupling_moment* now, const double y[],
                           const double u_applied[]) {
  meddle(IN_METHOD);
  nepce->observe(self, now, y, u_applied);
}

static yoke_status open_rows(const void* context, const char* directory,
                             const yoke_record_column columns[], size_t n_columns, void** self,
                             const yoke_sink* sink) {
  (void)context;
  (void)directory;
  (void)columns;
  (void)n_columns;
  (void)sink;
  *self = &trial;
  return YOKE_OK;
}

static yoke_status write_rows(void* self, const void* rows, size_t n, size_t stride,
                              const yoke_sink* sink) {
  (void)self;
  (void)rows;
  (void)n;
  (void)stride;
  (void)sink;
  meddle(IN_ROWS);
  return YOKE_OK;
}

static yoke_status close_rows(void* self, const yoke_sink* sink) {
  (void)self;
  (void)sink;
  meddle(IN_ROWS);
  return YOKE_OK;
}

static const yoke_result_ops rows_ops = {YOKE_RESULT_HEAD, .name = "rows", .open = open_rows,
                                         .write = write_rows, .close = close_rows};

static bool meddle_progress(void* to, const yoke_progress* progress) {
  (void)to;
  (void)progress;
  meddle(IN_PROGRESS);
  return true;
}

static void meddle_message(void* to, const yoke_message* message) {
  (void)to;
  expect(message->status == YOKE_BUSY || message->severity != YOKE_ERROR, message->text);
  if (message->status == YOKE_BUSY) {
    expect(strstr(message->text, "a callback cannot") != NULL, message->text);
    atomic_fetch_or(&trial.seen, IN_MESSAGE);
  }
}

// ---- tests

static void open_trial(yoke_registry* registry, const char* more, const yoke_sink* sink) {
  char text[1024];
  snprintf(text, sizeof text,
           "yoke: 1\ntime: {stop: 1, step: 0.01}\n%sunits: {a: {model: plant}, b: {model: plant}}\n"
           "connections: [a.x -> b.f, b.x -> a.f]\n",
           more);
  memset(&trial, 0, sizeof trial);
  yoke_simulation* s = api_open(registry, sink, text);
  trial.k = api_find(s, "a.k");
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  trial.system = (yoke_system*)(uintptr_t)yoke_simulation_system(s);
  trial.simulation = s;
}

static void check_trial(unsigned places) {
  if (trial.n_wrong > 0) {
    fail_msg("%d wrong answers, the first one: %s", trial.n_wrong, trial.wrong);
  }
  assert_int_equal(trial.seen & places, places);
}

static void close_trial(void) {
  yoke_simulation* s = trial.simulation;
  yoke_system* system = trial.system;
  yoke_simulation_destroy(&s);
  assert_null(s);
  trial.simulation = NULL;
  check_trial(IN_END | IN_MESSAGE);
  yoke_system_destroy(&system);
  assert_null(system);
  trial.system = NULL;
  check_trial(IN_CLOSE);
}

static void test_meddlers(void** state) {
  (void)state;
  yoke_registry* registry = NULL;
  for (size_t i = 0; nepce == NULL || strcmp(nepce->name, "nepce") != 0; i++) {
    nepce = yoke_registry_coupling(NULL, i);
    assert_non_null(nepce);
  }
  yoke_coupling_ops method = *nepce;
  method.table_size = sizeof method;
  method.table_version = YOKE_CONTRACT_VERSION;
  method.name = "meddle";
  method.observe = meddle_observe;
  check_ok(yoke_registry_create(&registry));
  check_ok(yoke_registry_add_unit(registry, &meddler_ops, NULL));
  check_ok(yoke_registry_add_coupling(registry, &method, NULL));
  static const char* const more[] = {
      "couplings: {all: {method: meddle, members: [a, b]}}\n",
      "threads: 2\ncouplings: {all: {method: meddle, members: [a, b]}}\n"};
  for (size_t i = 0; i < 2; i++) {
    const yoke_sink sink = {meddle_message, NULL};
    open_trial(registry, more[i], &sink);
    yoke_simulation* s = trial.simulation;
    check_ok(yoke_simulation_step(s));
    // at rest nothing is refused
    const size_t size = yoke_simulation_image_size(s);
    void* image = malloc(size);
    check_ok(yoke_simulation_save(s, image, size));
    check_ok(yoke_simulation_restore(s, image, size));
    free(image);
    check_near(api_read(s, "a.k"), 10, 0);
    check_trial(IN_SAVE | IN_GET);
    const yoke_result_ops* const sinks[] = {&rows_ops};
    const yoke_record_settings record = {.sinks = sinks, .n_sinks = 1};
    yoke_run_info info;
    check_ok(yoke_simulation_run(
        s, &(yoke_run_settings){.record = &record, .progress = meddle_progress}, &info));
    assert_int_equal(info.n_steps, 100);
    assert_int_equal(info.record.n_rows, 100);
    assert_true(yoke_simulation_is_done(s));
    check_trial(IN_INIT | IN_STEP | IN_METHOD | IN_ROWS | IN_PROGRESS);
    close_trial();
  }
  yoke_registry_destroy(&registry);
}

// A sink of rows has a thread of its own, which may be at work while the simulation rests.
static void test_rows_at_rest(void** state) {
  (void)state;
  yoke_registry* registry = api_registry();
  const yoke_sink sink = {meddle_message, NULL};
  open_trial(registry, "", &sink);
  const yoke_result_ops* const sinks[] = {&rows_ops};
  check_ok(yoke_simulation_record(trial.simulation,
                                  &(yoke_record_settings){.sinks = sinks, .n_sinks = 1}));
  for (int i = 0; i < 5000 && (atomic_load(&trial.seen) & IN_ROWS) == 0; i++) {
    yoke__os_sleep_ns(1000000);
  }
  while (atomic_load(&trial.is_meddling)) {
    yoke__os_sleep_ns(1000000);
  }
  check_trial(IN_ROWS | IN_MESSAGE);
  yoke_record_info info;
  check_ok(yoke_simulation_step(trial.simulation));
  check_ok(yoke_simulation_record_stop(trial.simulation, &info));
  assert_int_equal(info.n_rows, 2);
  api_close(&trial.simulation);
  yoke_registry_destroy(&registry);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_meddlers),
      cmocka_unit_test(test_rows_at_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
