// FMUs in a process of their own: the same numbers as in this process, and faults of a foreign binary (crash, abort, exit,
// hang, leak; in a step and elsewhere) as messages, with nothing left behind.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "support/check.h"
#include "support/heard.h"
#include "unit/host/unit_host.h"
#include "unit/unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
// for the sanitizers of the other process
#define SIGNALS_ALONE "handle_segv=0:handle_abort=0"

// ---------------------------------------------------------------------------------------------------------
// one FMU

typedef struct subject {
  yoke_arena arena;
  yoke_unit_store* store;
  char path[1024];
  yoke_unit_file_settings settings;
  yoke_unit unit;
} subject;

static yoke_status try_open(subject* s, const char* name, int version,
                            const yoke_unit_file_settings* settings, const yoke_sink* sink) {
  const char* folder = getenv("YOKE_FMUS");
  assert_non_null(folder);
  *s = (subject){.settings = *settings};
  snprintf(s->path, sizeof s->path, "%s/%s%d.fmu", folder, name, version);
  s->settings.kind = YOKE_KIND_FMU;
  s->settings.path = s->path;
  s->settings.name = settings->name != NULL ? settings->name : "unit";
  yoke_messages messages = {0};
  const yoke_unit_ops* ops = NULL;
  check_ok(yoke__unit_store_create(&s->store));
  yoke_status status = yoke__unit_store_open(s->store, &s->settings, &messages, &ops);
  for (size_t i = 0; i < messages.n; i++) {
    yoke_send(sink, &messages.all[i]);
  }
  yoke__messages_free(&messages);
  if (status >= 0) {
    const yoke_unit_args args = {s->settings.name, ".", NULL, 0, ops->context};
    status = yoke__unit_create(ops, &args, &s->arena, &s->unit, sink);
  }
  return status;
}

static void open_as(subject* s, const char* name, int version,
                    const yoke_unit_file_settings* settings) {
  YOKE_CATCH(err);
  if (try_open(s, name, version, settings, &err.sink) < 0) {
    fail_msg("%s%d: %s", name, version, err.text);
  }
}

static void close_subject(subject* s) {
  if (s->unit.self != NULL) {
    yoke__unit_terminate(&s->unit);
  }
  yoke__unit_close(&s->unit);
  yoke__unit_store_destroy(&s->store);
  yoke__arena_free(&s->arena);
}

static int pid_of(const subject* s) {
  yoke_host_statistics statistics;
  yoke__host_statistics(s->unit.self, &statistics);
  return statistics.pid;
}

static void initialise(const subject* s) {
  YOKE_CATCH(err);
  if (yoke__unit_enter_init(&s->unit, 0, 1e6, &err.sink) < 0) {
    fail_msg("initialisation: %s", err.text);
  }
  check_ok(yoke__unit_exit_init(&s->unit));
}

static yoke_status step(const subject* s, double t, double h, yoke_step_result* result) {
  *result = (yoke_step_result){.t_reached = t + h};
  return s->unit.ops->step(s->unit.self, t, h, result);
}

// a step that must succeed
static void step_well(const subject* s, double t, double h, yoke_step_result* result) {
  if (step(s, t, h, result) < 0) {
    fail_msg("%s at %g s: %s", s->path, t, result->message == NULL ? "(none)" : result->message);
  }
}

// by the name of the item
static void choose(const subject* s, const char* variable, const char* item) {
  const size_t i = yoke__unit_find(&s->unit, variable);
  assert_true(i != (size_t)-1);
  int64_t value = 0;
  while (strcmp(s->unit.info->variables[i].items[value], item) != 0) {
    value++;
  }
  check_ok(yoke__unit_set(&s->unit, i, &value, sizeof value));
}

static void check_gone(int pid) {
  for (int i = 0; i < 3000 && kill(pid, 0) == 0; i++) {
    yoke__os_sleep_ns(10000000);
  }
  assert_int_equal(kill(pid, 0), -1);
  assert_int_equal(errno, ESRCH);
}

// ---------------------------------------------------------------------------------------------------------
// the same numbers

typedef struct pair {
  subject here, there;
} pair;

static void open_pair(pair* p, const char* name, int version) {
  open_as(&p->here, name, version, &(yoke_unit_file_settings){0});
  open_as(&p->there, name, version, &(yoke_unit_file_settings){.is_isolated = true});
  assert_int_equal(p->there.unit.info->n_variables, p->here.unit.info->n_variables);
  assert_int_equal(yoke__unit_image_size(&p->there.unit), yoke__unit_image_size(&p->here.unit));
}

static void close_pair(pair* p) {
  close_subject(&p->here);
  close_subject(&p->there);
}

static void check_variables(const pair* p, int k) {
  const yoke_unit_info* info = p->here.unit.info;
  for (size_t i = 0; i < info->n_variables; i++) {
    const size_t size = yoke__variable_size(&info->variables[i]);
    unsigned char* here = calloc(2, size);
    assert_non_null(here);
    unsigned char* there = here + size;
    const yoke_status status_here = yoke__unit_get(&p->here.unit, i, here, size);
    const yoke_status status_there = yoke__unit_get(&p->there.unit, i, there, size);
    if (status_here != status_there || memcmp(here, there, size) != 0) {
      fail_msg("%s differs after step %d (status %d and %d)", info->variables[i].name, k,
               (int)status_here, (int)status_there);
    }
    free(here);
  }
}

static void step_both(const pair* p, int k, double h) {
  const subject* const both[] = {&p->here, &p->there};
  double u[64] = {0}, y[2][64] = {{0}};
  yoke_step_result results[2];
  assert_true(p->here.unit.n_u <= 64 && p->here.unit.n_y <= 64);
  for (size_t i = 0; i < p->here.unit.n_u; i++) {
    u[i] = sin(0.01 * k + (double)i);
  }
  for (int i = 0; i < 2; i++) {
    check_ok(yoke__unit_set_inputs(&both[i]->unit, u));
    step_well(both[i], k * h, h, &results[i]);
    if (both[i]->unit.ops->event_update != NULL &&
        (results[i].flags & YOKE_STEP_EVENT_NEEDED) != 0) {
      yoke_step_result event = {.t_reached = results[i].t_reached};
      check_ok(both[i]->unit.ops->event_update(both[i]->unit.self, results[i].t_reached, &event));
    }
    check_ok(yoke__unit_get_outputs(&both[i]->unit, y[i]));
  }
  assert_int_equal(results[0].flags, results[1].flags);
  assert_memory_equal(&results[0].t_reached, &results[1].t_reached, sizeof(double));
  assert_memory_equal(y[0], y[1], sizeof y[0]);
}

static void run_both(const char* name, int version, int n) {
  pair p;
  open_pair(&p, name, version);
  initialise(&p.here);
  initialise(&p.there);
  check_variables(&p, 0);
  for (int k = 0; k < n; k++) {
    step_both(&p, k, 1e-2);
  }
  check_variables(&p, n);
  close_pair(&p);
}

static void equals_the_fmu_here(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    run_both("oscillator_force", version, 2000);
    run_both("oscillator_mass", version, 300);
    run_both("feedthrough", version, 100);
    run_both("trivial", version, 300);
  }
  run_both("stairs", 3, 300);
}

static void saves_restores_and_differentiates(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    pair p;
    open_pair(&p, "oscillator_force", version);
    initialise(&p.here);
    initialise(&p.there);
    const yoke_unit* there = &p.there.unit;
    const size_t size = yoke__unit_image_size(there);
    assert_true(size > 0);
    unsigned char image_here[4096] = {0}, image_there[4096] = {0}, image_other[4096] = {0};
    assert_true(size <= sizeof image_here);
    for (int k = 0; k < 50; k++) {
      step_both(&p, k, 1e-2);
    }
    check_ok(yoke__unit_save(&p.here.unit, image_here, size));
    check_ok(yoke__unit_save(there, image_there, size));
    // a second image does not touch the first
    for (int k = 50; k < 55; k++) {
      step_both(&p, k, 1e-2);
    }
    check_ok(yoke__unit_save(there, image_other, size));
    for (int k = 55; k < 60; k++) {
      step_both(&p, k, 1e-2);
    }
    check_ok(yoke__unit_restore(&p.here.unit, image_here, size));
    check_ok(yoke__unit_restore(there, image_there, size));
    for (int k = 50; k < 100; k++) {
      step_both(&p, k, 1e-2);
    }

    // the state as bytes that another process can read: here is another process
    assert_non_null(there->ops->serialise);
    unsigned char bytes[65536];
    size_t n = sizeof bytes;
    check_ok(there->ops->serialise(there->self, bytes, &n));
    assert_true(n > 0 && n < sizeof bytes);
    step_both(&p, 100, 1e-2);
    check_ok(p.here.unit.ops->deserialise(p.here.unit.self, bytes, n));
    check_ok(there->ops->deserialise(there->self, bytes, n));
    for (int k = 100; k < 120; k++) {
      step_both(&p, k, 1e-2);
    }

    const size_t unknown = yoke__unit_find(there, "f"), known = yoke__unit_find(there, "x_other");
    const double seed = 2;
    double out_here = 0, out_there = 0;
    assert_non_null(there->ops->derivative);
    check_ok(
        p.here.unit.ops->derivative(p.here.unit.self, &unknown, 1, &known, 1, &seed, &out_here));
    check_ok(there->ops->derivative(there->self, &unknown, 1, &known, 1, &seed, &out_there));
    assert_true(out_here != 0 && out_here == out_there);
    close_pair(&p);
  }
}

static void passes_input_derivatives_on(void** state) {
  (void)state;
  pair p;
  open_pair(&p, "derivatives", 2);
  initialise(&p.here);
  initialise(&p.there);
  assert_non_null(p.there.unit.ops->set_input_derivatives);
  for (int k = 0; k < 20; k++) {
    const double du[64] = {0.5 * k, 0.25};
    const double zero[64] = {0};
    const subject* const both[] = {&p.here, &p.there};
    for (int i = 0; i < 2; i++) {
      const yoke_unit* unit = &both[i]->unit;
      check_ok(yoke__unit_set_inputs(unit, zero));
      check_ok(unit->ops->set_input_derivatives(unit->self, 1, du, unit->n_u));
      yoke_step_result result;
      step_well(both[i], k * 0.1, 0.1, &result);
    }
    check_variables(&p, k);
  }
  close_pair(&p);
}

// global variables of the binary are not shared between processes
static void runs_two_of_a_kind_that_allows_one(void** state) {
  (void)state;
  subject first, second;
  const yoke_unit_file_settings settings = {.is_isolated = true};
  open_as(&first, "only_once", 2, &settings);
  open_as(&second, "only_once", 2, &settings);
  initialise(&first);
  initialise(&second);
  close_subject(&first);
  close_subject(&second);
}

// ---------------------------------------------------------------------------------------------------------
// faults in a step

// steps of 0.1 s until the fault at 0.35 s
static void run_to_fault(const subject* s, const char* part) {
  yoke_step_result result;
  for (int k = 0; k < 3; k++) {
    step_well(s, 0.1 * k, 0.1, &result);
  }
  assert_int_equal(step(s, 0.3, 0.1, &result), YOKE_UNIT_FAILED);
  check_contains(result.message == NULL ? "(none)" : result.message, part);
  yoke_host_statistics statistics;
  yoke__host_statistics(s->unit.self, &statistics);
  if (!statistics.is_failed) {
    return;  // the FMU has failed, its process has not
  }
  // from now on it says the same
  assert_int_equal(step(s, 0.4, 0.1, &result), YOKE_UNIT_FAILED);
  check_contains(result.message == NULL ? "(none)" : result.message, part);
}

static void faults_in_a_step_are_messages(void** state) {
  (void)state;
  static const struct {
    const char *what, *text;
  } faults[] = {
      {"crash", "its process was ended by signal 11 (segmentation fault) during step at t = 0.3 s"},
      {"abort", "its process was ended by signal 6 (abort) during step at t = 0.3 s"},
      {"exit", "its process ended itself with status 3 during step at t = 0.3 s"},
      {"hang", "did not answer for 2 s during step at t = 0.3 s; its process was killed"},
      {"error", "told to fail at"},
      {"fatal", "told to die at"},
  };
  for (int version = 2; version <= 3; version++) {
    for (size_t i = 0; i < COUNT(faults); i++) {
      // nothing may be called after fmi2Fatal, free neither
      const bool is_fatal = strcmp(faults[i].what, "fatal") == 0;
      setenv("ASAN_OPTIONS", is_fatal ? "detect_leaks=0" : SIGNALS_ALONE, 1);
      // enough to start a process on a busy machine; all but the hang end by themselves
      const double timeout_s = strcmp(faults[i].what, "hang") == 0 ? 2 : 60;
      subject s;
      open_as(&s, "faulty", version,
              &(yoke_unit_file_settings){.is_isolated = true, .timeout_s = timeout_s});
      choose(&s, "what", faults[i].what);
      const double at = 0.35;
      check_ok(yoke__unit_set(&s.unit, yoke__unit_find(&s.unit, "at"), &at, sizeof at));
      initialise(&s);
      const int pid = pid_of(&s);
      run_to_fault(&s, faults[i].text);
      close_subject(&s);
      check_gone(pid);
    }
  }
  setenv("ASAN_OPTIONS", SIGNALS_ALONE, 1);
}

// ---------------------------------------------------------------------------------------------------------
// faults elsewhere

static void faults_in_instantiation_are_messages(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    subject s;
    YOKE_CATCH(err);
    const yoke_unit_file_settings crash = {.is_isolated = true, .name = "instantiate_crash"};
    assert_true(try_open(&s, "faulty", version, &crash, &err.sink) < 0);
    check_contains(err.text,
                   "its process was ended by signal 11 (segmentation fault) during creation");
    close_subject(&s);
    const yoke_unit_file_settings hang = {
        .is_isolated = true, .name = "instantiate_hang", .timeout_s = 0.5};
    assert_true(try_open(&s, "faulty", version, &hang, &err.sink) < 0);
    check_contains(err.text, "did not answer for 0.5 s during creation");
    close_subject(&s);
  }
}

static void faults_in_initialisation_are_messages(void** state) {
  (void)state;
  subject s;
  open_as(&s, "faulty", 2, &(yoke_unit_file_settings){.is_isolated = true});
  choose(&s, "what", "crash");
  choose(&s, "where", "initialise");
  YOKE_CATCH(err);
  yoke_status status = yoke__unit_enter_init(&s.unit, 0, 1, &err.sink);
  status = status < 0 ? status : yoke__unit_exit_init(&s.unit);
  assert_int_equal(status, YOKE_UNIT_FAILED);
  HEAR(why);
  yoke__unit_reason(&s.unit, &why.sink);
  check_contains(why.text, "signal 11 (segmentation fault) during");
  close_subject(&s);
}

static void faults_at_the_end_do_not_hurt(void** state) {
  (void)state;
  static const char* const places[] = {"terminate", "free"};
  for (size_t i = 0; i < COUNT(places); i++) {
    subject s;
    open_as(&s, "faulty", 2, &(yoke_unit_file_settings){.is_isolated = true});
    choose(&s, "what", "crash");
    choose(&s, "where", places[i]);
    initialise(&s);
    yoke_step_result result;
    step_well(&s, 0, 0.1, &result);
    const int pid = pid_of(&s);
    yoke__unit_terminate(&s.unit);
    HEAR(t);
    s.unit.ops->report(s.unit.self, &t.sink);
    if (i == 0) {
      check_contains(t.text, "warning: its process was ended by signal 11 (segmentation fault)");
      check_contains(t.text, "during termination");
    }
    close_subject(&s);
    check_gone(pid);
  }
}

// messages of the binary come through
static void forwards_messages(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    subject s;
    open_as(&s, "faulty", version, &(yoke_unit_file_settings){.is_isolated = true});
    choose(&s, "what", "warning");
    initialise(&s);
    yoke_step_result result;
    for (int k = 0; k < 8; k++) {
      step_well(&s, 0.1 * k, 0.1, &result);
    }
    HEAR(t);
    s.unit.ops->report(s.unit.self, &t.sink);
    check_contains(t.text, "told to warn at");
    heard_clear(&t);
    s.unit.ops->report(s.unit.self, &t.sink);
    assert_int_equal(t.n, 0);
    close_subject(&s);
  }
}

// ---------------------------------------------------------------------------------------------------------
// memory

// bytes of address space of a process
static double memory_of(int pid) {
  char path[64], text[128] = "";
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(fgets(text, sizeof text, file));
  fclose(file);
  return strtod(text, NULL) * (double)sysconf(_SC_PAGESIZE);
}

// 64 kB per step
static void a_leak_ends_at_the_limit(void** state) {
  (void)state;
  const char* sanitizers = getenv("YOKE_SANITIZE");
  if (sanitizers != NULL &&
      (strstr(sanitizers, "address") != NULL || strstr(sanitizers, "thread") != NULL)) {
    print_message("skipped: a limit of memory, which sanitizers cannot work with\n");
    return;
  }
#if !defined(__x86_64__)
  print_message("skipped: a limit of memory, which the emulator does not pass on\n");
  return;
#endif
  const double limit = 40e6;
  subject s;
  open_as(&s, "faulty", 2,
          &(yoke_unit_file_settings){.is_isolated = true, .max_memory = (uint64_t)limit});
  choose(&s, "what", "leak");
  initialise(&s);
  const int pid = pid_of(&s);
  const double before = memory_of(pid);
  yoke_step_result result;
  for (int k = 0; k < 2000; k++) {
    step_well(&s, 0.1 * k, 0.1, &result);
  }
  // 131 MB were asked for
  check_between(memory_of(pid) - before, 0.5 * limit, limit);

  // the limit is named if the process ends near it
  assert_int_equal(kill(pid, SIGABRT), 0);
  assert_int_equal(step(&s, 300, 0.1, &result), YOKE_UNIT_FAILED);
  check_contains(result.message == NULL ? "(none)" : result.message, "signal 6 (abort)");
  check_contains(result.message, "of 0.04 GB of memory allowed");
  close_subject(&s);
}

// ---------------------------------------------------------------------------------------------------------
// what stays behind

static int count_entries(const char* folder) {
  DIR* list = opendir(folder);
  assert_non_null(list);
  int n = 0;
  for (const struct dirent* entry = readdir(list); entry != NULL; entry = readdir(list)) {
    n += entry->d_name[0] != '.';
  }
  closedir(list);
  return n;
}

static void check_empty(const char* folder) {
  int n = count_entries(folder);
  for (int i = 0; i < 3000 && n > 0; i++) {
    yoke__os_sleep_ns(10000000);
    n = count_entries(folder);
  }
  if (n > 0) {
    fail_msg("%d files or folders are left in %s", n, folder);
  }
}

// a parent whose unit hangs or waits is killed: process and unpacked files go with it
static void nothing_is_left_after_a_kill(void** state) {
  (void)state;
  char folder[] = "/tmp/yoke-test-host-XXXXXX";
  assert_non_null(mkdtemp(folder));
  setenv("TMPDIR", folder, 1);
  for (int is_stuck = 0; is_stuck < 2; is_stuck++) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t parent = fork();
    if (parent == 0) {
      subject s;
      open_as(&s, "faulty", 2, &(yoke_unit_file_settings){.is_isolated = true});
      choose(&s, "what", "hang");
      initialise(&s);
      const int pid = pid_of(&s);
      yoke_step_result result;
      if (write(ends[1], &pid, sizeof pid) == sizeof pid && is_stuck != 0) {
        (void)step(&s, 0.5, 0.1, &result);
      }
      _exit(pause());
    }
    int pid = 0;
    assert_int_equal(read(ends[0], &pid, sizeof pid), sizeof pid);
    yoke__os_sleep_ns(50000000);
    assert_true(count_entries(folder) > 0);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    check_gone(pid);
    check_empty(folder);
    close(ends[0]);
    close(ends[1]);
  }

  // the same after a crash that the parent survives
  subject s;
  open_as(&s, "faulty", 2, &(yoke_unit_file_settings){.is_isolated = true});
  choose(&s, "what", "crash");
  initialise(&s);
  yoke_step_result result;
  assert_int_equal(step(&s, 0.5, 0.1, &result), YOKE_UNIT_FAILED);
  close_subject(&s);
  check_empty(folder);
  assert_int_equal(rmdir(folder), 0);
  unsetenv("TMPDIR");
}

int main(void) {
  setenv("ASAN_OPTIONS", SIGNALS_ALONE, 1);
  setenv("TSAN_OPTIONS", SIGNALS_ALONE ":atexit_sleep_ms=0:report_thread_leaks=0", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equals_the_fmu_here),
      cmocka_unit_test(saves_restores_and_differentiates),
      cmocka_unit_test(passes_input_derivatives_on),
      cmocka_unit_test(runs_two_of_a_kind_that_allows_one),
      cmocka_unit_test(faults_in_a_step_are_messages),
      cmocka_unit_test(faults_in_instantiation_are_messages),
      cmocka_unit_test(faults_in_initialisation_are_messages),
      cmocka_unit_test(faults_at_the_end_do_not_hurt),
      cmocka_unit_test(forwards_messages),
      cmocka_unit_test(a_leak_ends_at_the_limit),
      cmocka_unit_test(nothing_is_left_after_a_kill),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
