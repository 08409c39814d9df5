// Units in a process of their own, with native models: an isolated run equals the one in this process bit for bit, and
// whatever happens to the other process becomes a message. Faults of foreign binaries are in test_unit_host_fmu.c.
#define _POSIX_C_SOURCE 200809L
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
#include "unit/unit_models.h"

// ---------------------------------------------------------------------------------------------------------
// one model twice: here and in another process

typedef struct pair {
  yoke_arena arena;
  yoke_unit_file_settings settings;
  yoke_host_plan plan;
  yoke_unit_ops isolated;
  yoke_unit here, there;
} pair;

static void open_pair(pair* p, const yoke_unit_file_settings* settings,
                      const yoke_argument* arguments, size_t n_arguments) {
  *p = (pair){.settings = *settings};
  p->settings.kind = YOKE_KIND_MODEL;
  p->settings.name = "unit";
  p->plan.settings = &p->settings;
  const yoke_unit_ops* inner = yoke__models_find(NULL, settings->path);
  assert_non_null(inner);
  yoke__host_fill_ops(inner, &p->isolated);
  yoke_unit_args args = {"unit", ".", arguments, n_arguments, NULL};
  YOKE_CATCH(err);
  if (yoke__unit_create(inner, &args, &p->arena, &p->here, &err.sink) < 0) {
    fail_msg("%s: %s", settings->path, err.text);
  }
  args.context = &p->plan;
  if (yoke__unit_create(&p->isolated, &args, &p->arena, &p->there, &err.sink) < 0) {
    fail_msg("%s isolated: %s", settings->path, err.text);
  }
}

static void open_model(pair* p, const char* name) {
  const yoke_unit_file_settings settings = {.path = name};
  open_pair(p, &settings, NULL, 0);
}

static void close_pair(pair* p) {
  yoke__unit_terminate(&p->there);
  yoke__unit_close(&p->there);
  yoke__unit_close(&p->here);
  yoke__arena_free(&p->arena);
}

static int pid_of(const pair* p) {
  yoke_host_statistics statistics;
  yoke__host_statistics(p->there.self, &statistics);
  return statistics.pid;
}

// gone, not even a zombie
static void check_gone(int pid) {
  for (int i = 0; i < 3000 && kill(pid, 0) == 0; i++) {
    yoke__os_sleep_ns(10000000);
  }
  assert_int_equal(kill(pid, 0), -1);
  assert_int_equal(errno, ESRCH);
}

static void check_bytes(const void* got, const void* want, size_t n, const char* what, int k) {
  if (memcmp(got, want, n) != 0) {
    fail_msg("%s differs after step %d", what, k);
  }
}

// every variable, bit by bit
static void check_variables(const pair* p, int k) {
  for (size_t i = 0; i < p->here.info->n_variables; i++) {
    unsigned char here[256] = {0}, there[256] = {0};
    const size_t size = yoke__variable_size(&p->here.info->variables[i]);
    assert_true(size <= sizeof here);
    check_ok(yoke__unit_get(&p->here, i, here, size));
    check_ok(yoke__unit_get(&p->there, i, there, size));
    check_bytes(there, here, size, p->here.info->variables[i].name, k);
  }
}

static void initialise(const pair* p) {
  const yoke_unit* const units[] = {&p->here, &p->there};
  for (int i = 0; i < 2; i++) {
    YOKE_CATCH(err);
    check_ok(yoke__unit_enter_init(units[i], 0, 10, &err.sink));
    check_ok(yoke__unit_exit_init(units[i]));
    if (units[i]->ops->refresh != NULL) {
      check_ok(units[i]->ops->refresh(units[i]->self, 0));
    }
  }
}

// the same inputs for both, one step, the same outputs from both
static void step_both(const pair* p, int k, double h) {
  double u[16] = {0}, y_here[16] = {0}, y_there[16] = {0};
  assert_true(p->here.n_u <= 16 && p->here.n_y <= 16);
  for (size_t i = 0; i < p->here.n_u; i++) {
    u[i] = sin(0.01 * k + (double)i) * 3.0;
  }
  const yoke_unit* const units[] = {&p->here, &p->there};
  double* const ys[] = {y_here, y_there};
  for (int i = 0; i < 2; i++) {
    yoke_step_result result = {.t_reached = k * h + h};
    check_ok(yoke__unit_set_inputs(units[i], u));
    check_ok(units[i]->ops->step(units[i]->self, k * h, h, &result));
    assert_true(result.t_reached == k * h + h);
    check_ok(yoke__unit_get_outputs(units[i], ys[i]));
  }
  check_bytes(y_there, y_here, p->here.n_y * sizeof(double), "an output", k);
}

// ---------------------------------------------------------------------------------------------------------
// equivalence

static void run_long(const char* model) {
  pair p;
  open_model(&p, model);
  initialise(&p);
  check_variables(&p, 0);
  for (int k = 0; k < 10000; k++) {
    step_both(&p, k, 1e-3);
  }
  check_variables(&p, 10000);
  close_pair(&p);
}

static void equals_the_unit_here_bit_for_bit_over_10000_steps(void** state) {
  (void)state;
  run_long("gain");
  run_long("integrator");
  run_long("oscillator.force");
  run_long("oscillator.displacement");
}

// a model whose variables follow from its settings; strings, integers and booleans read along with the steps
static void carries_settings_and_all_types(void** state) {
  (void)state;
  static const int64_t n[] = {3};
  const yoke_argument size[] = {{"n", YOKE_INTEGER, 1, 1, n}};
  const yoke_unit_file_settings channel = {.path = "channel"};
  pair p;
  open_pair(&p, &channel, size, 1);
  assert_int_equal(p.there.info->n_variables, p.here.info->n_variables);
  assert_int_equal(p.there.n_u, 3);
  const double noise[3] = {0.1, 0.2, 0.3};
  const size_t at = yoke__unit_find(&p.there, "noise");
  check_ok(yoke__unit_set(&p.here, at, noise, sizeof noise));
  check_ok(yoke__unit_set(&p.there, at, noise, sizeof noise));
  initialise(&p);
  for (int k = 0; k < 200; k++) {
    step_both(&p, k, 1e-2);
    check_variables(&p, k);
  }
  close_pair(&p);

  static const char* const words[] = {"cold", "warm", "a long way beyond hot"};
  const yoke_argument labels[] = {{"labels", YOKE_STRING, 3, 1, words}};
  const yoke_unit_file_settings label = {.path = "label"};
  open_pair(&p, &label, labels, 1);
  initialise(&p);
  for (int64_t k = 0; k < 6; k++) {
    const size_t index = yoke__unit_find(&p.there, "index");
    check_ok(yoke__unit_set(&p.here, index, &k, sizeof k));
    check_ok(yoke__unit_set(&p.there, index, &k, sizeof k));
    step_both(&p, (int)k, 1e-2);
    check_variables(&p, (int)k);
  }
  close_pair(&p);
}

// what the table offers is what the model offers
static void offers_what_the_unit_offers(void** state) {
  (void)state;
  for (size_t i = 0; i < yoke__models_count(NULL); i++) {
    const yoke_unit_ops* inner = yoke__models_at(NULL, i);
    yoke_unit_ops ops;
    yoke__host_fill_ops(inner, &ops);
    assert_string_equal(ops.name, inner->name);
    assert_int_equal(ops.step == NULL, inner->step == NULL);
    assert_int_equal(ops.refresh == NULL, inner->refresh == NULL);
    assert_int_equal(ops.derivative == NULL, inner->derivative == NULL);
    assert_int_equal(ops.linearise == NULL, inner->linearise == NULL);
    assert_int_equal(ops.sample_info == NULL, inner->sample_info == NULL);
    assert_int_equal(ops.serialise == NULL, inner->serialise == NULL);
    assert_int_equal(ops.event_update == NULL, inner->event_update == NULL);
    assert_int_equal(ops.set_input_derivatives == NULL, inner->set_input_derivatives == NULL);
    assert_ptr_equal(ops.structure, inner->structure);
  }
}

// ---------------------------------------------------------------------------------------------------------
// the other operations

static void saves_and_restores(void** state) {
  (void)state;
  pair p;
  open_model(&p, "oscillator.force");
  initialise(&p);
  const size_t size = yoke__unit_image_size(&p.there);
  assert_int_equal(size, yoke__unit_image_size(&p.here));
  assert_true(size > 0 && size <= 4096);
  unsigned char image[4096], again[4096];
  for (int k = 0; k < 100; k++) {
    step_both(&p, k, 1e-3);
  }
  check_ok(yoke__unit_save(&p.there, image, size));
  check_ok(yoke__unit_save(&p.here, again, size));
  check_bytes(image, again, size, "the image", 100);

  // inputs that no step has used yet belong to the image
  const double u[16] = {7, 8, 9};
  check_ok(yoke__unit_set_inputs(&p.here, u));
  check_ok(yoke__unit_set_inputs(&p.there, u));
  unsigned char with_inputs[4096];
  check_ok(yoke__unit_save(&p.there, with_inputs, size));
  check_ok(yoke__unit_save(&p.here, again, size));
  check_bytes(with_inputs, again, size, "the image with new inputs", 100);
  assert_true(memcmp(with_inputs, image, size) != 0);

  // away, back, and the same way again
  for (int k = 100; k < 150; k++) {
    step_both(&p, k, 1e-3);
  }
  check_ok(yoke__unit_restore(&p.there, image, size));
  check_ok(yoke__unit_restore(&p.here, image, size));
  check_variables(&p, 100);
  for (int k = 100; k < 200; k++) {
    step_both(&p, k, 1e-3);
  }
  assert_int_equal(yoke__unit_save(&p.there, image, size - 1), YOKE_BAD_ARG);
  close_pair(&p);
}

static void gives_derivatives_and_linear_models(void** state) {
  (void)state;
  pair p;
  open_model(&p, "gain");
  const double k = 2.5;
  check_ok(yoke__unit_set(&p.there, yoke__unit_find(&p.there, "k"), &k, sizeof k));
  initialise(&p);
  const size_t unknown = yoke__unit_find(&p.there, "y"), known = yoke__unit_find(&p.there, "u");
  const double seed = 3;
  double out = 0;
  check_ok(p.there.ops->derivative(p.there.self, &unknown, 1, &known, 1, &seed, &out));
  assert_true(out == 7.5);
  // a pair without meaning is refused there and here
  assert_int_equal(p.there.ops->derivative(p.there.self, &known, 1, &unknown, 1, &seed, &out),
                   YOKE_BAD_ARG);
  close_pair(&p);

  open_model(&p, "oscillator.force");
  initialise(&p);
  yoke_linear here = {0}, there = {0};
  check_ok(p.here.ops->linearise(p.here.self, &here));
  check_ok(p.there.ops->linearise(p.there.self, &there));
  assert_int_equal(there.n_states, here.n_states);
  assert_int_equal(there.n_inputs, here.n_inputs);
  assert_int_equal(there.n_outputs, here.n_outputs);
  double here_numbers[4][64] = {0}, there_numbers[4][64] = {0};
  here.A = here_numbers[0], here.B = here_numbers[1], here.D = here_numbers[3];
  there.A = there_numbers[0], there.B = there_numbers[1], there.D = there_numbers[3];
  check_ok(p.here.ops->linearise(p.here.self, &here));
  check_ok(p.there.ops->linearise(p.there.self, &there));
  check_bytes(there_numbers, here_numbers, sizeof here_numbers, "the linear model", 0);
  assert_true(there_numbers[0][1] != 0);
  close_pair(&p);

  // how it is solved, with its present parameters
  open_model(&p, "rotor.load");
  const int64_t euler = 1, n_parts = 4;
  check_ok(yoke__unit_set(&p.there, yoke__unit_find(&p.there, "solver"), &euler, sizeof euler));
  check_ok(
      yoke__unit_set(&p.there, yoke__unit_find(&p.there, "micro_steps"), &n_parts, sizeof n_parts));
  initialise(&p);
  double step = 0;
  assert_int_equal(yoke__unit_solver(&p.there, 1e-3, &step), YOKE_SOLVER_EULER);
  assert_true(step == 2.5e-4);
  assert_true(yoke__unit_is_linear(&p.there));
  close_pair(&p);
}

// refusals come with the words of the unit
static void passes_refusals_on(void** state) {
  (void)state;
  static const int64_t n[] = {0};
  const yoke_argument size[] = {{"n", YOKE_INTEGER, 1, 1, n}};
  yoke_unit_file_settings settings = {.kind = YOKE_KIND_MODEL, .path = "channel", .name = "unit"};
  const yoke_host_plan plan = {.settings = &settings};
  const yoke_unit_args args = {"unit", ".", size, 1, NULL};
  void* self = NULL;
  YOKE_CATCH(err);
  YOKE_CATCH(err_here);
  assert_true(yoke__models_find(NULL, "channel")->create(&args, &self, &err_here.sink) < 0);
  assert_true(yoke__host_create(&plan, &args, &self, &err.sink) < 0);
  assert_null(self);
  assert_string_equal(err.text, err_here.text);

  settings.path = "no.such.model";
  assert_true(yoke__host_create(&plan, &args, &self, &err.sink) < 0);
  check_contains(err.text, "no.such.model");

  pair p;
  open_model(&p, "channel");
  const double noise = -1;
  check_ok(yoke__unit_set(&p.there, yoke__unit_find(&p.there, "noise"), &noise, sizeof noise));
  assert_true(yoke__unit_enter_init(&p.there, 0, 1, &err.sink) < 0);
  check_contains(err.text, "not negative");
  close_pair(&p);
}

static void names_the_missing_program(void** state) {
  (void)state;
  const char* host = getenv("YOKE_HOST");
  char* kept = host == NULL ? NULL : strdup(host);
  const yoke_unit_file_settings settings = {
      .kind = YOKE_KIND_MODEL, .path = "gain", .name = "unit"};
  const yoke_host_plan plan = {.settings = &settings};
  const yoke_unit_args args = {"unit", ".", NULL, 0, NULL};
  void* self = NULL;
  YOKE_CATCH(err);
  YOKE_CATCH(none_of_ours);
  setenv("YOKE_HOST", "/no/such/yoke-host", 1);
  const yoke_status missing = yoke__host_create(&plan, &args, &self, &err.sink);
  setenv("YOKE_HOST", "/bin/false", 1);
  const yoke_status foreign = yoke__host_create(&plan, &args, &self, &none_of_ours.sink);
  // for the other tests, before anything can fail
  if (kept != NULL) {
    setenv("YOKE_HOST", kept, 1);
    free(kept);
  }
  assert_true(missing < 0);
  check_contains(err.text, "/no/such/yoke-host: No such file");
  // a program that is none of ours ends or says nothing
  assert_true(foreign < 0);
  check_contains(none_of_ours.text, "its process ended itself with status 1 during creation");
}

// ---------------------------------------------------------------------------------------------------------
// cost

// reading variables after each step is part of the round trip from the second time on
static void a_step_is_one_round_trip(void** state) {
  (void)state;
  pair p;
  open_model(&p, "counter");
  initialise(&p);
  yoke_host_statistics before, after;
  int64_t count = 0, limit = 0;
  for (int k = 0; k < 100; k++) {
    if (k == 2) {
      yoke__host_statistics(p.there.self, &before);
    }
    yoke_step_result result = {.t_reached = k + 1};
    check_ok(yoke__unit_set_inputs(&p.there, NULL));
    check_ok(p.there.ops->step(p.there.self, k, 1, &result));
    check_ok(yoke__unit_get(&p.there, 0, &count, sizeof count));
    check_ok(yoke__unit_get(&p.there, 2, &limit, sizeof limit));
    assert_int_equal(count, k + 1);
    assert_int_equal(limit, 10);
  }
  yoke__host_statistics(p.there.self, &after);
  assert_int_equal(after.n_calls - before.n_calls, 98);
  assert_int_equal(after.n_steps, 100);

  // a change makes what was read before void
  const int64_t seven = 7;
  check_ok(yoke__unit_set(&p.there, 2, &seven, sizeof seven));
  check_ok(yoke__unit_get(&p.there, 2, &limit, sizeof limit));
  assert_int_equal(limit, 7);
  close_pair(&p);
}

static void reports_its_cost_once(void** state) {
  (void)state;
  static const yoke_unit_wait waits[] = {YOKE_WAIT_AUTO, YOKE_WAIT_SPIN, YOKE_WAIT_SLEEP};
  for (int i = 0; i < 3; i++) {
    const yoke_unit_file_settings settings = {.path = "gain", .wait = waits[i]};
    pair p;
    open_pair(&p, &settings, NULL, 0);
    initialise(&p);
    HEAR(t);
    p.there.ops->report(p.there.self, &t.sink);
    assert_int_equal(t.n, 0);
    for (int k = 0; k < 50; k++) {
      step_both(&p, k, 1e-3);
    }
    p.there.ops->report(p.there.self, &t.sink);
    p.there.ops->report(p.there.self, &t.sink);
    assert_int_equal(t.n, 1);
    check_contains(t.text, "a step in its own process took");
    close_pair(&p);
  }
}

// ---------------------------------------------------------------------------------------------------------
// failures

static yoke_status step_there(const pair* p, double t, yoke_step_result* result) {
  *result = (yoke_step_result){.t_reached = t + 1};
  const double u[16] = {0};
  const yoke_status status = yoke__unit_set_inputs(&p->there, u);
  return status < 0 ? status : p->there.ops->step(p->there.self, t, 1, result);
}

// words of a failed step
static const char* words_of(const yoke_step_result* result) {
  return result->message == NULL ? "(none)" : result->message;
}

// every operation says no, without a call to the other process, without sleep and without spinning
static void check_dead(const pair* p) {
  yoke_host_statistics before, after;
  yoke__host_statistics(p->there.self, &before);
  const int64_t start = yoke__os_cpu_ns();
  const double u[16] = {0};
  double y[16];
  unsigned char image[4096];
  YOKE_CATCH(err);
  yoke_step_result result = {0};
  assert_int_equal(yoke__unit_set_inputs(&p->there, u), YOKE_UNIT_FAILED);
  assert_int_equal(yoke__unit_get_outputs(&p->there, y), YOKE_UNIT_FAILED);
  assert_int_equal(yoke__unit_get(&p->there, 0, y, sizeof *y), YOKE_UNIT_FAILED);
  assert_int_equal(yoke__unit_set(&p->there, 0, u, sizeof *u), YOKE_UNIT_FAILED);
  assert_int_equal(p->there.ops->step(p->there.self, 0, 1, &result), YOKE_UNIT_FAILED);
  assert_non_null(result.message);
  assert_int_equal(p->there.ops->refresh(p->there.self, 0), YOKE_UNIT_FAILED);
  const size_t size = yoke__unit_image_size(&p->there);
  assert_int_equal(yoke__unit_save(&p->there, image, size), YOKE_UNIT_FAILED);
  assert_int_equal(yoke__unit_restore(&p->there, image, size), YOKE_UNIT_FAILED);
  assert_int_equal(p->there.ops->enter_init == NULL
                       ? YOKE_UNIT_FAILED
                       : p->there.ops->enter_init(p->there.self, 0, 1, &err.sink),
                   YOKE_UNIT_FAILED);
  check_between((double)(yoke__os_cpu_ns() - start) * 1e-9, 0, 0.1);
  yoke__host_statistics(p->there.self, &after);
  assert_int_equal(after.n_calls, before.n_calls);
  assert_int_equal(after.n_sleeps, before.n_sleeps);
}

static void death_of_the_process_is_a_message(void** state) {
  (void)state;
  static const struct {
    int signal_number;
    const char* text;
  } ends[] = {
      {SIGSEGV, "its process was ended by signal 11 (segmentation fault) during step at t = 0.5 s"},
      {SIGABRT, "its process was ended by signal 6 (abort) during step at t = 0.5 s"},
      {SIGKILL, "its process was ended by signal 9"}};
  for (int i = 0; i < 3; i++) {
    pair p;
    open_model(&p, "integrator");
    initialise(&p);
    yoke_step_result result;
    check_ok(step_there(&p, 0, &result));
    const int pid = pid_of(&p);
    assert_int_equal(kill(pid, ends[i].signal_number), 0);
    assert_int_equal(step_there(&p, 0.5, &result), YOKE_UNIT_FAILED);
    check_contains(words_of(&result), ends[i].text);
    HEAR(why);
    yoke__unit_reason(&p.there, &why.sink);
    check_contains(why.text, ends[i].text);
    check_gone(pid);
    check_dead(&p);
    close_pair(&p);
  }
}

#define N_CHANCES                                                                                  \
  5  // for an upper limit of time: another program may have the processors just then

// Nobody answers: the process is stopped. Two seconds are enough to start a process on a busy machine.
static void a_hang_ends_after_the_time_allowed(void** state) {
  (void)state;
  const yoke_unit_file_settings settings = {.path = "integrator", .timeout_s = 2};
  double took = HUGE_VAL;
  for (int chance = 0; chance < N_CHANCES && took > 3; chance++) {
    pair p;
    open_pair(&p, &settings, NULL, 0);
    initialise(&p);
    const int pid = pid_of(&p);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    yoke_step_result result;
    const int64_t start = yoke__os_now_ns();
    assert_int_equal(step_there(&p, 2, &result), YOKE_UNIT_FAILED);
    took = (double)(yoke__os_now_ns() - start) * 1e-9;
    check_contains(words_of(&result),
                   "did not answer for 2 s during step at t = 2 s; its process was killed");
    check_gone(pid);
    check_dead(&p);
    close_pair(&p);
  }
  check_between(took, 2, 3);
}

// a slow answer is an answer
static void a_pause_is_no_failure(void** state) {
  (void)state;
  pair p;
  open_model(&p, "integrator");
  initialise(&p);
  const int pid = pid_of(&p);
  yoke_host_statistics before, after;
  yoke__host_statistics(p.there.self, &before);
  after = before;
  // the process may go on before this one has begun to wait
  for (int k = 0; k < N_CHANCES && after.n_sleeps == before.n_sleeps; k++) {
    assert_int_equal(kill(pid, SIGSTOP), 0);
    const pid_t waker = fork();
    if (waker == 0) {
      yoke__os_sleep_ns(100000000);
      kill(pid, SIGCONT);
      _exit(0);
    }
    yoke_step_result result;
    check_ok(step_there(&p, k, &result));
    assert_int_equal(waitpid(waker, NULL, 0), waker);
    yoke__host_statistics(p.there.self, &after);
  }
  assert_true(after.n_sleeps > before.n_sleeps);
  close_pair(&p);
}

static void a_stopped_process_does_not_hold_up_the_end(void** state) {
  (void)state;
  double took = HUGE_VAL;
  for (int chance = 0; chance < N_CHANCES && took > 2.5; chance++) {
    pair p;
    open_model(&p, "integrator");
    initialise(&p);
    const int pid = pid_of(&p);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    const int64_t start = yoke__os_now_ns();
    yoke__unit_terminate(&p.there);
    HEAR(t);
    p.there.ops->report(p.there.self, &t.sink);
    check_contains(t.text, "did not answer for 1 s during termination");
    close_pair(&p);
    took = (double)(yoke__os_now_ns() - start) * 1e-9;
    check_gone(pid);
  }
  check_between(took, 1, 2.5);
}

static void nothing_is_left_after_close(void** state) {
  (void)state;
  double took = HUGE_VAL;
  for (int chance = 0; chance < N_CHANCES && took > 0.9; chance++) {
    pair p;
    open_model(&p, "integrator");
    const int pid = pid_of(&p);
    assert_int_equal(kill(pid, 0), 0);
    // an interrupt from a terminal goes to the group of the parent only
    assert_int_equal(getpgid(pid), pid);
    const int64_t start = yoke__os_now_ns();
    close_pair(&p);
    took = (double)(yoke__os_now_ns() - start) * 1e-9;
    check_gone(pid);
  }
  check_between(took, 0, 0.9);
}

// also when this process is killed
static void the_process_ends_with_its_parent(void** state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    pair p;
    open_model(&p, "integrator");
    initialise(&p);
    const int pid = pid_of(&p);
    _exit(write(ends[1], &pid, sizeof pid) == sizeof pid && pause() == 0);
  }
  // the only writer is the other process: if that fails, the pipe ends
  close(ends[1]);
  int pid = 0;
  assert_int_equal(read(ends[0], &pid, sizeof pid), sizeof pid);
  assert_true(pid > 0);
  assert_int_equal(kill(pid, 0), 0);
  assert_int_equal(kill(parent, SIGKILL), 0);
  assert_int_equal(waitpid(parent, NULL, 0), parent);
  check_gone(pid);
  close(ends[0]);
}

// ---------------------------------------------------------------------------------------------------------
// threads

static void make_unit(void* to) {
  open_model(to, "integrator");
}

// the thread that made the unit may end before the unit does
static void outlives_the_thread_that_made_it(void** state) {
  (void)state;
  pair p;
  yoke_thread* thread = NULL;
  check_ok(yoke__os_thread_start(make_unit, &p, &thread));
  yoke__os_thread_join(&thread);
  initialise(&p);
  yoke__os_sleep_ns(20000000);
  for (int k = 0; k < 100; k++) {
    step_both(&p, k, 1e-3);
  }
  close_pair(&p);
}

int main(void) {
  // the sanitizers of the other process leave signals alone
  setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0", 1);
  setenv("TSAN_OPTIONS", "handle_segv=0:handle_abort=0:atexit_sleep_ms=0:report_thread_leaks=0", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equals_the_unit_here_bit_for_bit_over_10000_steps),
      cmocka_unit_test(carries_settings_and_all_types),
      cmocka_unit_test(offers_what_the_unit_offers),
      cmocka_unit_test(saves_and_restores),
      cmocka_unit_test(gives_derivatives_and_linear_models),
      cmocka_unit_test(passes_refusals_on),
      cmocka_unit_test(names_the_missing_program),
      cmocka_unit_test(a_step_is_one_round_trip),
      cmocka_unit_test(reports_its_cost_once),
      cmocka_unit_test(death_of_the_process_is_a_message),
      cmocka_unit_test(a_hang_ends_after_the_time_allowed),
      cmocka_unit_test(a_pause_is_no_failure),
      cmocka_unit_test(a_stopped_process_does_not_hold_up_the_end),
      cmocka_unit_test(nothing_is_left_after_close),
      cmocka_unit_test(the_process_ends_with_its_parent),
      cmocka_unit_test(outlives_the_thread_that_made_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
