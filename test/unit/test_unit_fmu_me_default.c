// Model exchange: what is taken where the system file names no solver, and the solver dopri5. A rectifier as FMUs of both
// versions, with CVODE and without; models of the test for tolerance, stiffness, bounds and failures.
#define _POSIX_C_SOURCE 200809L
#include "base/base_message.h"
#include "me_toy.h"

#include "support/failing_heap.h"
#include "support/trial.h"

static char companion[4096];  // set once in main; empty: missing

static void set_companion(const char* place) {
  if (place == NULL) {
    unsetenv("YOKE_CVODE");
  } else {
    setenv("YOKE_CVODE", place, 1);
  }
}

// ---------------------------------------------------------------------------------------------------------
// the rectifier

enum { N_STEPS = 100 };  // of 1 ms: five periods

typedef struct rectified {
  double i[N_STEPS];
  uint32_t flags;
} rectified;

static rectified run_rectifier(int version, yoke_unit_file_settings settings) {
  char path[4096];
  snprintf(path, sizeof path, "%s/rectifier%d.fmu", getenv("YOKE_FMUS"), version);
  yoke_messages messages = {0};
  const yoke_unit_ops* ops = NULL;
  yoke_unit_store* store = NULL;
  settings.kind = YOKE_KIND_FMU;
  settings.path = path;
  settings.name = "unit";
  check_ok(yoke__unit_store_create(&store));
  check_ok(yoke__unit_store_open(store, &settings, &messages, &ops));
  assert_int_equal(messages.n_warnings, 0);
  yoke__messages_free(&messages);
  trial unit;
  trial_open(&unit, ops, NULL, 0);
  trial_start(&unit, 0);
  rectified all = {.flags = 0};
  for (int k = 0; k < N_STEPS; k++) {
    all.flags |= trial_step(&unit, 1e-3 * k, 1e-3).flags;
    all.i[k] = trial_get(&unit, "i");
  }
  trial_close(&unit);
  yoke__unit_store_destroy(&store);
  return all;
}

// largest distance from the reference, in parts of its largest value
static double distance(const rectified* a, const rectified* b) {
  double worst = 0, size = 0;
  for (int k = 0; k < N_STEPS; k++) {
    worst = fmax(worst, fabs(a->i[k] - b->i[k]));
    size = fmax(size, fabs(b->i[k]));
  }
  return worst / size;
}

static void test_rectifier(void** state) {
  (void)state;
  // two methods, two ways to choose steps, one answer
  const rectified fine =
      run_rectifier(2, (yoke_unit_file_settings){.solver = "dopri5", .solver_tolerance = 1e-11});
  const rectified fixed =
      run_rectifier(2, (yoke_unit_file_settings){.solver = "rk4", .solver_step = 1e-6});
  print_message("references: apart by %.2g of the peak\n", distance(&fixed, &fine));
  check_near(distance(&fixed, &fine), 0, 1e-8);

  // ten steps of 0.1 ms are 2.5 time constants each: near the bound of stability of rk4
  const rectified tenth = run_rectifier(2, (yoke_unit_file_settings){.solver = "rk4"});
  print_message("rk4, a tenth of the step: off by %.2g %%\n", 100 * distance(&tenth, &fine));
  assert_true(distance(&tenth, &fine) > 0.1);

  // the default, with CVODE in reserve and without: not stiff enough to need it
  for (int is_there = 0; is_there < 2 && (!is_there || companion[0] != '\0'); is_there++) {
    set_companion(is_there ? companion : NULL);
    const rectified own = run_rectifier(2, (yoke_unit_file_settings){0});
    const rectified named = run_rectifier(2, (yoke_unit_file_settings){.solver = "dopri5"});
    const rectified third = run_rectifier(3, (yoke_unit_file_settings){0});
    print_message("default: off by %.2g %%\n", 100 * distance(&own, &fine));
    check_near(distance(&own, &fine), 0, 0.01);
    assert_true((own.flags & YOKE_STEP_EVENT_NEEDED) != 0);
    assert_memory_equal(&own, &named, sizeof own);
    assert_memory_equal(&own, &third, sizeof own);
  }
  if (companion[0] != '\0') {
    const rectified named = run_rectifier(2, (yoke_unit_file_settings){.solver = "cvode"});
    print_message("cvode: off by %.2g %%\n", 100 * distance(&named, &fine));
    check_near(distance(&named, &fine), 0, 0.01);
  }
  set_companion(companion[0] == '\0' ? NULL : companion);
}

// ---------------------------------------------------------------------------------------------------------
// which solver it is

static void swing(const toy* m, double dx[]) {
  dx[0] = m->now.x[1];
  dx[1] = -m->now.x[0] + m->now.u[0];
}

static const toy_model oscillator = {.n_x = 2, .x0 = {0, 1}, .rhs = swing};

static bool has_reserve;  // of the unit that was asked for last

static fmu_solver_kind kind_of(yoke_unit_file_settings settings) {
  toy* m = toy_open(&oscillator, settings);
  const fmu_solver_kind kind = m->f.solver->kind;
  has_reserve = kind == FMU_DOPRI5 && m->f.solver->cvode != NULL;
  // the parent of a unit in a process of its own says the same
  assert_int_equal(yoke__fmu_me_method(&settings, NULL),
                   yoke__fmu_me_method(&settings, m->f.solver));
  toy_close(m);
  return kind;
}

static void test_choice(void** state) {
  (void)state;
  set_companion(NULL);
  assert_int_equal(kind_of((yoke_unit_file_settings){0}), FMU_DOPRI5);
  assert_int_equal(kind_of((yoke_unit_file_settings){.solver_tolerance = 1e-4}), FMU_DOPRI5);
  assert_int_equal(kind_of((yoke_unit_file_settings){.solver_step = 0.1}), FMU_FIXED);
  assert_int_equal(kind_of((yoke_unit_file_settings){.solver_step = 0.1, .solver_tolerance = 1e-4}),
                   FMU_DOPRI5);
  assert_int_equal(kind_of((yoke_unit_file_settings){.solver = "dopri5"}), FMU_DOPRI5);
  assert_false(has_reserve);
  if (companion[0] != '\0') {
    set_companion(companion);
    assert_int_equal(kind_of((yoke_unit_file_settings){0}), FMU_DOPRI5);
    assert_true(has_reserve);
    assert_int_equal(kind_of((yoke_unit_file_settings){.solver_tolerance = 1e-4}), FMU_DOPRI5);
    assert_true(has_reserve);
    // by name it stays what it is; by the clock the work of a step must be bounded, unless CVODE is asked for
    assert_int_equal(kind_of((yoke_unit_file_settings){.solver = "dopri5"}), FMU_DOPRI5);
    assert_false(has_reserve);
    assert_int_equal(kind_of((yoke_unit_file_settings){.is_paced = true}), FMU_DOPRI5);
    assert_false(has_reserve);
    assert_int_equal(kind_of((yoke_unit_file_settings){.is_paced = true, .solver = "cvode"}),
                     FMU_CVODE);
  }
}

// a companion that cannot be loaded is no reason to fail, but one to say what is done instead
static void test_broken_companion(void** state) {
  (void)state;
  set_companion("/nowhere/yoke-cvode.so");
  toy* m = toy_open(&oscillator, (yoke_unit_file_settings){0});
  assert_int_equal(m->f.solver->kind, FMU_DOPRI5);
  YOKE_CATCH(said);
  yoke__fmu_log_report(&m->f.log, &said.sink);
  check_contains(said.text, "a stiff model cannot be handed over to CVODE");
  check_contains(said.text, "/nowhere");
  toy_close(m);
  set_companion(companion[0] == '\0' ? NULL : companion);
}

// ---------------------------------------------------------------------------------------------------------
// dopri5

static const yoke_unit_file_settings dopri5 = {.solver = "dopri5"};

// the error follows the tolerance, and the steps follow the motion, not the step of the unit
static void test_tolerance(void** state) {
  (void)state;
  static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
  double last = 1;
  for (int i = 0; i < 4; i++) {
    toy* m = toy_open(&oscillator, (yoke_unit_file_settings){.solver = "dopri5",
                                                             .solver_tolerance = tolerances[i]});
    m->n_derivatives = 0;
    toy_run(m, 0, 10, 1);
    const double error = hypot(m->now.x[0] - sin(10), m->now.x[1] - cos(10));
    print_message("tolerance %g: error %.2g with %lld evaluations\n", tolerances[i], error,
                  (long long)m->n_derivatives);
    // ten seconds: the local errors add up
    check_between(error, 1e-3 * tolerances[i], 30 * tolerances[i]);
    assert_true(error < last / 20);
    last = error;
    toy_close(m);
  }
}

// without events a short step of the unit is one internal step: seven evaluations, the first of them for the new inputs
static void test_short_steps_cost_little(void** state) {
  (void)state;
  toy* m = toy_open(&oscillator, dopri5);
  toy_run(m, 0, 1e-3, 20);
  m->n_derivatives = 0;
  toy_run(m, 0.02, 1e-3, 10);
  assert_int_equal(m->n_derivatives, 70);
  toy_close(m);
}

static void stiff(const toy* m, double dx[]) {
  dx[0] = -1e6 * (m->now.x[0] - cos(m->now.t));
}

// A stiff model is slow, not wrong; and where the bound on steps stops it, it is said what to do.
static void test_stiff(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = stiff};
  toy* m = toy_open(&model, dopri5);
  toy_run(m, 0, 5e-3, 4);
  print_message("stiff: error %.2g, %lld evaluations\n", m->now.x[0] - cos(0.02),
                (long long)m->n_derivatives);
  check_near(m->now.x[0], cos(0.02), 1e-6);
  yoke_step_result result;
  assert_int_equal(toy_try_step(m, 0.02, 1, &result), YOKE_NO_CONVERGENCE);
  print_message("%s\n", result.message);
  check_contains(result.message, "after 10000 internal steps in one step of 1 s");
  check_contains(result.message, "the model is stiff (its fastest motion takes about 1e-06 s)");
  check_contains(result.message, "solver: cvode");
  check_contains(result.message, "trapezoidal");
  assert_true(m->n_derivatives < 7 * (2 * FMU_MAX_TRIALS + 40000));
  toy_close(m);
}

// with CVODE in reserve the default hands such a model over and goes on, also after a state is restored
static void test_stiff_is_handed_over(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = stiff};
  if (companion[0] == '\0') {
    print_message("skipped: SUNDIALS is missing\n");
    skip();
  }
  set_companion(companion);
  toy* m = toy_open(&model, (yoke_unit_file_settings){0});
  unsigned char image[2 * sizeof(void*)] = {0};
  check_ok(m->ops.save(&m->f, image, sizeof image));
  double first = 0;
  for (int i = 0; i < 2; i++) {
    m->n_derivatives = 0;
    toy_run(m, 0, 1, 3);
    print_message("handed over at %.2g s: error %.2g, %lld evaluations\n", m->f.solver->t_stiff,
                  m->now.x[0] - cos(3), (long long)m->n_derivatives);
    assert_true(m->f.solver->now->is_stiff);
    check_between(m->f.solver->t_stiff, 1e-5, 1e-3);
    check_near(m->now.x[0], cos(3), 1e-4);
    assert_true(m->n_derivatives < 4000);
    assert_true(i == 0 || m->now.x[0] == first);
    first = m->now.x[0];
    check_ok(m->ops.restore(&m->f, image, sizeof image));
    assert_false(m->f.solver->now->is_stiff);
  }
  toy_close(m);
}

// inputs that jump at every step: short steps of a model that is not stiff stay with dopri5, and their errors do not add up
static void test_many_short_steps(void** state) {
  (void)state;
  toy* m = toy_open(&oscillator, (yoke_unit_file_settings){0});
  double x[2] = {0, 1}, worst = 0;
  for (int k = 0; k < 20000; k++) {
    const double h = 1e-3, u[3] = {sin(0.001 * k), 0, 0}, a = x[0] - u[0], b = x[1];
    check_ok(m->ops.set_inputs(&m->f, u, 3));
    toy_step(m, h * k, h);
    x[0] = u[0] + a * cos(h) + b * sin(h);
    x[1] = b * cos(h) - a * sin(h);
    worst = fmax(worst, fabs(m->now.x[0] - x[0]));
  }
  print_message("20000 steps: off by %.2g\n", worst);
  assert_false(m->f.solver->now->is_stiff);
  // a tolerance of 1e-6 per step would allow far more
  check_near(worst, 0, 1e-9);
  toy_close(m);
}

static void fast(const toy* m, double dx[]) {
  dx[0] = 1e5 * m->now.x[1];
  dx[1] = -1e5 * m->now.x[0];
}

// a motion that is only fast is not called stiff
static void test_fast(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 2, .x0 = {0, 1}, .rhs = fast};
  toy* m = toy_open(&model, dopri5);
  yoke_step_result result;
  assert_int_equal(toy_try_step(m, 0, 10, &result), YOKE_NO_CONVERGENCE);
  print_message("%s\n", result.message);
  check_contains(result.message, "the tolerance 1e-06 asks for internal steps of about");
  toy_close(m);
}

static void wall(const toy* m, double dx[]) {
  dx[0] = 1;
  dx[1] = sqrt(0.5 - m->now.x[0]);
}

// evaluations outside of the model are tried again with shorter steps; the message names the state at last
static void test_nan_names_the_state(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 2, .rhs = wall};
  toy* m = toy_open(&model, dopri5);
  yoke_step_result result;
  assert_int_equal(toy_try_step(m, 0, 1, &result), YOKE_DIVERGED);
  print_message("%s\n", result.message);
  check_contains(result.message, "derivative of state 'x1' is not a number at t = 0.5");
  toy_close(m);
}

static void blow_up(const toy* m, double dx[]) {
  dx[0] = m->now.x[0] * m->now.x[0];
}

static void test_explosion(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .x0 = {1}, .rhs = blow_up};
  toy* m = toy_open(&model, dopri5);
  yoke_step_result result;
  const yoke_status status = toy_try_step(m, 0, 2, &result);
  print_message("%s\n", result.message);
  assert_true(status == YOKE_NO_CONVERGENCE || status == YOKE_DIVERGED);
  check_contains(result.message, "t = 1");
  toy_close(m);
}

// states of very different sizes: each is held to its own nominal value
static void two_sizes(const toy* m, double dx[]) {
  dx[0] = cos(m->now.t);
  dx[1] = 1e-9 * cos(20 * m->now.t);
}

static fmu_version with_nominals;

static yoke_status small_nominals(fmu* f, double x[], size_t n) {
  (void)f, (void)n;
  x[0] = 1;
  x[1] = 1e-9;
  return YOKE_OK;
}

static void test_nominals(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 2, .rhs = two_sizes};
  double errors[2];
  for (int has_nominals = 0; has_nominals < 2; has_nominals++) {
    toy* m = toy_create(&model, dopri5);
    with_nominals = *m->f.version;
    with_nominals.get_nominals = has_nominals ? small_nominals : with_nominals.get_nominals;
    m->f.version = &with_nominals;
    YOKE_CATCH(err);
    check_ok(yoke__fmu_open_me(&m->f, &err.sink));
    m->f.phase = FMU_INITIALISING;
    check_ok(m->ops.exit_init(&m->f));
    toy_run(m, 0, 5, 1);
    errors[has_nominals] = fabs(m->now.x[1] - 1e-9 * sin(100) / 20);
    toy_close(m);
  }
  print_message("the small state is off by %.2g without, %.2g with its nominal value\n", errors[0],
                errors[1]);
  check_near(errors[1], 0, 30 * 1e-6 * 1e-9);
  assert_true(errors[0] > 100 * errors[1]);
}

// a ball with flights down to microseconds, by the default step bound: a tenth of the step
static void fall(const toy* m, double dx[]) {
  dx[0] = m->now.x[1];
  dx[1] = -9.81;
}

static void height(const toy* m, double z[]) {
  z[0] = m->now.x[0];
}

static void bounce(toy* m, fmu_event* event) {
  if (m->now.x[0] <= 0 && m->now.x[1] < 0) {
    m->now.x[1] *= -0.7;
    m->now.mode++;
    event->are_states_changed = true;
  }
}

static const toy_model ball = {
    .n_x = 2, .n_z = 1, .x0 = {1, 0}, .rhs = fall, .indicators = height, .update = bounce};

// bytes of a run that goes back and repeats are the same: the length of the next step is part of the state
static void test_save_and_restore(void** state) {
  (void)state;
  toy* m = toy_open(&ball, dopri5);
  unsigned char image[2 * sizeof(void*)] = {0};
  toy_run(m, 0, 0.05, 9);
  check_ok(m->ops.save(&m->f, image, sizeof image));
  toy_run(m, 0.45, 0.05, 35);
  const toy_memory first = m->now;
  assert_true(m->now.mode > 4);
  for (int i = 0; i < 2; i++) {
    check_ok(m->ops.restore(&m->f, image, sizeof image));
    toy_run(m, 0.45, 0.05, 35);
    assert_memory_equal(&first, &m->now, sizeof first);
  }
  toy_close(m);
}

static void test_no_heap_in_the_step(void** state) {
  (void)state;
#if HAS_OWN_MALLOC
  toy* m = toy_open(&ball, dopri5);
  heap = (failing_heap){.is_on = true, .fails_at = 0, .fails_onwards = true};
  for (int k = 0; k < 40; k++) {
    const double u[3] = {k, 0, floor(k / 10.0)}, du[3] = {1, 0, 0};
    check_ok(m->ops.set_inputs(&m->f, u, 3));
    check_ok(m->ops.set_input_derivatives(&m->f, 1, du, 3));
    toy_step(m, 0.05 * k, 0.05);
  }
  const long n = heap.n_requests;
  heap.is_on = false;
  assert_true(m->now.mode > 3);
  assert_int_equal(n, 0);
  toy_close(m);
#else
  skip();
#endif
}

int main(void) {
  if (getenv("YOKE_FMUS") == NULL) {
    print_message("skipped: YOKE_FMUS names no folder with test FMUs\n");
    return 77;
  }
  const char* place = getenv("YOKE_CVODE");
  snprintf(companion, sizeof companion, "%s", place == NULL ? "" : place);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rectifier),
      cmocka_unit_test(test_choice),
      cmocka_unit_test(test_broken_companion),
      cmocka_unit_test(test_tolerance),
      cmocka_unit_test(test_short_steps_cost_little),
      cmocka_unit_test(test_stiff),
      cmocka_unit_test(test_stiff_is_handed_over),
      cmocka_unit_test(test_many_short_steps),
      cmocka_unit_test(test_fast),
      cmocka_unit_test(test_nan_names_the_state),
      cmocka_unit_test(test_explosion),
      cmocka_unit_test(test_nominals),
      cmocka_unit_test(test_save_and_restore),
      cmocka_unit_test(test_no_heap_in_the_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
