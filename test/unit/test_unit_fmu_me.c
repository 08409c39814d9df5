// Model exchange FMUs of both versions as units: orders, exact solutions, events, inputs, rollback, linear models. The test FMUs
// check on their side that every call comes in the right mode. What FMI 2.0 and 3.0 say of one model must be the same bytes.
#include "base/base_message.h"
#include "support/check.h"
#include "support/sim.h"
#include "support/trial.h"
#include "unit/unit_file.h"

#define G 9.81

typedef struct bench {
  yoke_unit_store* store;
  trial unit;
} bench;

// name with 2 or 3 at its end
static void open_unit(bench* b, const char* name, int version, yoke_unit_file_settings settings) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s%d.fmu", getenv("YOKE_FMUS"), name, version);
  yoke_messages messages = {0};
  const yoke_unit_ops* ops = NULL;
  settings.kind = YOKE_KIND_FMU;
  settings.path = path;
  settings.name = "unit";
  if (settings.interface_type == YOKE_INTERFACE_AUTO) {
    settings.interface_type = YOKE_INTERFACE_MODEL_EXCHANGE;
  }
  check_ok(yoke__unit_store_create(&b->store));
  if (yoke__unit_store_open(b->store, &settings, &messages, &ops) < 0) {
    yoke__messages_print(&messages, stderr);
    fail_msg("%s cannot be opened", path);
  }
  assert_int_equal(messages.n_warnings, 0);
  yoke__messages_free(&messages);
  trial_open(&b->unit, ops, NULL, 0);
}

static void close_unit(bench* b) {
  trial_close(&b->unit);
  yoke__unit_store_destroy(&b->store);
}

static uint32_t run(bench* b, double t0, double h, int n) {
  uint32_t flags = 0;
  for (int k = 0; k < n; k++) {
    flags |= trial_step(&b->unit, t0 + k * h, h).flags;
  }
  return flags;
}

// a variable after a run from 0 with ten steps; parameter: set before if not NULL
static double value_after(const char* name, int version, const char* solver, double internal,
                          const char* variable, double t_end) {
  bench b;
  open_unit(&b, name, version,
            (yoke_unit_file_settings){.solver = solver, .solver_step = internal});
  trial_start(&b.unit, 0);
  run(&b, 0, t_end / 10, 10);
  const double value = trial_get(&b.unit, variable);
  close_unit(&b);
  return value;
}

static const struct {
  const char* name;
  double order;
} methods[] = {{"euler", 1}, {"trapezoidal", 2}, {"rk4", 4}};

static void test_order_dahlquist(void** state) {
  (void)state;
  for (size_t i = 0; i < 3; i++) {
    double coarse = 0;
    for (int k = 4; k <= 7; k++) {
      const double h = 1.0 / (1 << k);
      const double x2 = value_after("dahlquist", 2, methods[i].name, h, "x", 2.5);
      const double x3 = value_after("dahlquist", 3, methods[i].name, h, "x", 2.5);
      assert_true(x2 == x3);
      const double fine = fabs(x2 - exp(-2.5));
      if (k > 4) {
        print_message("dahlquist, %s, 2^-%d: error %.3g, order %.3f\n", methods[i].name, k, fine,
                      log2(coarse / fine));
        check_near(log2(coarse / fine), methods[i].order, 0.15);
      }
      coarse = fine;
    }
  }
}

// against a solution with much smaller steps of the best method
static void test_order_vanderpol(void** state) {
  (void)state;
  const double exact = value_after("vanderpol", 2, "rk4", 1.0 / 4096, "x0", 5);
  for (size_t i = 0; i < 3; i++) {
    double coarse = 0;
    for (int k = 6; k <= 9; k++) {
      const double h = 1.0 / (1 << k);
      const double x2 = value_after("vanderpol", 2, methods[i].name, h, "x0", 5);
      const double x3 = value_after("vanderpol", 3, methods[i].name, h, "x0", 5);
      assert_true(x2 == x3);
      const double fine = fabs(x2 - exact);
      if (k > 6) {
        print_message("van der Pol, %s, 2^-%d: error %.3g, order %.3f\n", methods[i].name, k, fine,
                      log2(coarse / fine));
        check_near(log2(coarse / fine), methods[i].order, 0.15);
      }
      coarse = fine;
    }
  }
}

// the same FMU through its own co-simulation, which takes the same Runge-Kutta steps of 1 ms
static void test_equals_co_simulation(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    bench cs;
    open_unit(&cs, "vanderpol", version,
              (yoke_unit_file_settings){.interface_type = YOKE_INTERFACE_CO_SIMULATION});
    YOKE_CATCH(err);
    check_ok(yoke__unit_enter_init(&cs.unit.unit, 0, 5, &err.sink));
    check_ok(yoke__unit_exit_init(&cs.unit.unit));
    run(&cs, 0, 0.5, 10);
    check_near(trial_get(&cs.unit, "x0"), value_after("vanderpol", version, "rk4", 1e-3, "x0", 5),
               1e-12);
    close_unit(&cs);
  }
}

// ---------------------------------------------------------------------------------------------------------
// events

// height and speed at time t, from the exact parabolas
static void exact_ball(double t, double* h, double* v, int* n) {
  double start = -sqrt(2 / G), speed = sqrt(2 * G);  // as if it had been thrown up before 0
  *n = 0;
  while (t - start > 2 * speed / G) {
    start += 2 * speed / G;
    speed *= 0.7;
    (*n)++;
  }
  *h = speed * (t - start) - G / 2 * (t - start) * (t - start);
  *v = speed - G * (t - start);
}

static void test_ball(void** state) {
  (void)state;
  static const double steps[] = {0.05, 0.01, 0.3};
  for (int i = 0; i < 3; i++) {
    double end[2] = {0, 0};
    for (int version = 2; version <= 3; version++) {
      bench b;
      open_unit(&b, "ball", version, (yoke_unit_file_settings){.solver_step = 0.05});
      trial_start(&b.unit, 0);
      double worst_h = 0, worst_v = 0;
      int n_before = 0;
      for (int k = 0; (k + 1) * steps[i] < 2.4; k++) {
        const uint32_t flags = trial_step(&b.unit, k * steps[i], steps[i]).flags;
        double h, v;
        int n;
        exact_ball((k + 1) * steps[i], &h, &v, &n);
        assert_int_equal(trial_get_whole(&b.unit, "n_bounces"), n);
        // an event is announced in the step that has it, and in no other
        assert_int_equal((flags & YOKE_STEP_EVENT_NEEDED) != 0, n > n_before);
        n_before = n;
        worst_h = fmax(worst_h, fabs(trial_get(&b.unit, "h") - h));
        worst_v = fmax(worst_v, fabs(trial_get(&b.unit, "v") - v));
      }
      print_message("ball%d, step %g: %d bounces, height off by %.2g m, speed by %.2g m/s\n",
                    version, steps[i], n_before, worst_h, worst_v);
      assert_true(n_before >= 5);
      // A bounce that is d = 1e-12 s late is G d too fast; the speed is too high by 0.7/0.3 G d at most, so each flight ends
      // up to (1 + 2 * 0.7/0.3) d late, and at a given time the speed is off by G times the delay so far.
      check_near(worst_v, 0, G * (2.4 + 5.7 * n_before) * 1e-12);
      check_near(worst_h, 0, 5.7 * sqrt(2 * G) * 2 * 1e-12);  // 0.7^n n is below 1.03
      end[version - 2] = trial_get(&b.unit, "v");
      close_unit(&b);
    }
    assert_true(end[0] == end[1]);
  }
}

// below v_min it lies still: the run goes on without events
static void test_ball_comes_to_rest(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    bench b;
    open_unit(&b, "ball", version, (yoke_unit_file_settings){0});
    trial_start(&b.unit, 0);
    run(&b, 0, 0.1, 30);
    assert_int_equal(run(&b, 3, 0.1, 10), 0);
    assert_true(trial_get(&b.unit, "h") == 0 && trial_get(&b.unit, "v") == 0);
    // 4.43 m/s * 0.7^n < 0.1
    assert_int_equal(trial_get_whole(&b.unit, "n_bounces"), 11);
    close_unit(&b);
  }
}

// energy falls by e^2 at a bounce and by nothing else
static void test_ball_energy(void** state) {
  (void)state;
  bench b;
  open_unit(&b, "ball", 2, (yoke_unit_file_settings){.solver = "dopri5"});
  trial_start(&b.unit, 0);
  double worst = 0;
  for (int k = 0; k < 200; k++) {
    trial_step(&b.unit, 0.01 * k, 0.01);
    const double h = trial_get(&b.unit, "h"), v = trial_get(&b.unit, "v");
    const double left = pow(0.49, (double)trial_get_whole(&b.unit, "n_bounces"));
    worst = fmax(worst, fabs((G * h + v * v / 2) / (G * left) - 1));
  }
  print_message("energy of the ball: off by a relative %.2g\n", worst);
  check_near(worst, 0, 1e-10);
  close_unit(&b);
}

// counter and integral of a staircase, with steps that divide its period and steps that do not; also far from zero
static void test_stairs(void** state) {
  (void)state;
  static const double steps[] = {0.1, 0.07, 0.45, 0.2 / 3}, starts[] = {0, 1e6};
  for (int i = 0; i < 8; i++) {
    const double h = steps[i / 2], start = starts[i % 2];
    double end[2];
    for (int version = 2; version <= 3; version++) {
      bench b;
      open_unit(&b, "stairs_me", version, (yoke_unit_file_settings){0});
      trial_start(&b.unit, start);
      for (int k = 0; k < 40; k++) {
        trial_step(&b.unit, start + k * h, h);
        const double t = (k + 1) * h, n = floor(t / 0.2 + 1e-9);
        assert_int_equal(trial_get_whole(&b.unit, "counter"), (int64_t)n);
        // sum of 0.2 i, and the part of the last stair
        check_near(trial_get(&b.unit, "x"), 0.2 * n * (n - 1) / 2 + n * (t - 0.2 * n),
                   start == 0 ? 1e-10 : 1e-6);
      }
      end[version - 2] = trial_get(&b.unit, "x");
      close_unit(&b);
    }
    assert_true(end[0] == end[1]);
  }
}

static void test_end_wanted(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    bench b;
    open_unit(&b, "stairs_me", version, (yoke_unit_file_settings){0});
    trial_set_whole(&b.unit, "last", 3);
    trial_start(&b.unit, 0);
    assert_int_equal(run(&b, 0, 0.1, 5) & YOKE_STEP_END_WANTED, 0);
    assert_true((trial_step(&b.unit, 0.5, 0.1).flags & YOKE_STEP_END_WANTED) != 0);
    assert_int_equal(trial_get_whole(&b.unit, "counter"), 3);
    close_unit(&b);
  }
}

// ---------------------------------------------------------------------------------------------------------
// inputs

// x1'' = -x1 + sin 2t, x1(0) = 0, x1'(0) = 1
static double exact_sine(double t) {
  return 5.0 / 3 * sin(t) - sin(2 * t) / 3;
}

// error at t = 5 with inputs and their derivatives up to `order` at each step
static double sine_error(int version, double h, int order, double* last) {
  bench b;
  open_unit(&b, "sine_me", version, (yoke_unit_file_settings){.solver_step = h / 10});
  trial_start(&b.unit, 0);
  const yoke_unit* u = &b.unit.unit;
  for (int k = 0; k < llround(5 / h); k++) {
    const double t = k * h;
    const double all[] = {sin(2 * t), 2 * cos(2 * t), -4 * sin(2 * t), -8 * cos(2 * t)};
    check_ok(u->ops->set_inputs(u->self, &all[0], 1));
    for (int i = 1; i <= order; i++) {
      check_ok(u->ops->set_input_derivatives(u->self, i, &all[i], 1));
    }
    trial_step(&b.unit, t, h);
  }
  *last = trial_get(&b.unit, "x1");
  close_unit(&b);
  return fabs(*last - exact_sine(5));
}

// an input known to order n makes an error of h^(n+1)
static void test_input_derivatives_raise_the_order(void** state) {
  (void)state;
  for (int order = 0; order <= 3; order++) {
    double coarse = 0;
    for (int k = 0; k < 3; k++) {
      const double h = 0.125 / (1 << k);
      double x2 = 0, x3 = 0;
      const double fine = sine_error(2, h, order, &x2);
      sine_error(3, h, order, &x3);
      assert_true(x2 == x3);
      if (k > 0) {
        print_message("%d input derivatives, h = %g: error %.3g, order %.2f\n", order, h, fine,
                      log2(coarse / fine));
        check_near(log2(coarse / fine), order + 1, 0.2);
      }
      coarse = fine;
    }
  }
}

static void test_feedthrough_and_refresh(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    bench b;
    open_unit(&b, "sine_me", version, (yoke_unit_file_settings){0});
    trial_start(&b.unit, 0);
    run(&b, 0, 0.1, 7);
    const double x1 = trial_get(&b.unit, "x1");
    trial_check_feedthrough(&b.unit, 0.7);
    trial_check_derivative(&b.unit, 0.7, 1e-9);
    assert_true(trial_get(&b.unit, "x1") == x1);
    close_unit(&b);
  }
}

// In a system with fresh exchange the output at each exchange belongs to the input of the same time.
static void test_fresh_exchange(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
      sim s =
          sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                   "time: {stop: 2, step: 0.1}\n"
                   "exchange: %s\n"
                   "units:\n"
                   "  drive: {model: oscillator.mass, with: {k: 10}, start: {x: 1, v: 0, f: 0}}\n"
                   "  sine: {fmu: '%s/sine_me%d.fmu'}\n"
                   "connections:\n"
                   "  - drive.x -> sine.u\n",
                   is_fresh ? "fresh" : "stale", getenv("YOKE_FMUS"), version);
      double worst = 0;
      for (int k = 0; k < 20; k++) {
        sim_steps(&s, 1);
        const double u = sim_read(&s, "sine.y") - sim_read(&s, "sine.x1");
        worst = fmax(worst, fabs(u - sim_read(&s, "drive.x")));
      }
      print_message("sine_me%d, %s: y is off by %.2g\n", version, is_fresh ? "fresh" : "stale",
                    worst);
      assert_true(is_fresh ? worst < 1e-12 : worst > 1e-2);
      sim_close(&s);
    }
  }
}

// x1 at t = 2 in a system that extrapolates the input with a polynomial of this order
static double system_value(double h, int order) {
  sim s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 2, step: %g}\n"
      "units:\n"
      "  drive: {model: oscillator.mass, with: {k: 10}, start: {x: 1, v: 0, f: 0}, step: 1e-3}\n"
      "  sine: {fmu: '%s/sine_me2.fmu', solver: dopri5}\n"
      "connections:\n"
      "  - {from: drive.x, to: sine.u, order: %d, exchange: %g}\n",
      h, getenv("YOKE_FMUS"), order, h);
  sim_run(&s);
  const double x1 = sim_read(&s, "sine.x1");
  sim_close(&s);
  return x1;
}

// The master hands the derivatives of extrapolated inputs to the solver: a higher order pays without smaller steps.
static void test_extrapolated_inputs_in_a_system(void** state) {
  (void)state;
  const double fine = system_value(1e-3, 2);
  double last = HUGE_VAL;
  for (int order = 0; order <= 2; order++) {
    const double error = fabs(system_value(0.02, order) - fine);
    print_message("input of order %d: x1 is off by %.2g\n", order, error);
    assert_true(error < last / 4);
    last = error;
  }
}

// ---------------------------------------------------------------------------------------------------------
// rollback, linear models

static void test_rollback(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    bench b, other;
    open_unit(&b, "ball", version, (yoke_unit_file_settings){0});
    open_unit(&other, "ball", version, (yoke_unit_file_settings){0});
    trial_start(&b.unit, 0);
    trial_start(&other.unit, 0);
    const yoke_unit* u = &b.unit.unit;
    unsigned char image[256] = {0}, bytes[8192];
    size_t size = sizeof bytes;
    const size_t image_size = yoke__unit_image_size(u);
    assert_true(image_size > 0 && image_size <= sizeof image);
    run(&b, 0, 0.1, 4);
    check_ok(yoke__unit_save(u, image, image_size));
    check_ok(u->ops->serialise(u->self, bytes, &size));
    run(&b, 0.4, 0.1, 10);  // three bounces
    const double h = trial_get(&b.unit, "h");
    assert_int_equal(trial_get_whole(&b.unit, "n_bounces"), 2);
    for (int pass = 0; pass < 2; pass++) {
      check_ok(yoke__unit_restore(u, image, image_size));
      assert_int_equal(trial_get_whole(&b.unit, "n_bounces"), 0);
      run(&b, 0.4, 0.1, 10);
      assert_true(trial_get(&b.unit, "h") == h);
    }
    // bytes of one instance in another one
    check_ok(other.unit.unit.ops->deserialise(other.unit.unit.self, bytes, size));
    run(&other, 0.4, 0.1, 10);
    assert_true(trial_get(&other.unit, "h") == h);
    close_unit(&b);
    close_unit(&other);
  }
}

static void test_linearise(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    bench b;
    open_unit(&b, "sine_me", version, (yoke_unit_file_settings){0});
    trial_set(&b.unit, "w", 3);
    trial_start(&b.unit, 0);
    const yoke_unit* u = &b.unit.unit;
    double A[4], B[2], C[6], D[3];
    yoke_linear model = {0};
    check_ok(u->ops->linearise(u->self, &model));
    assert_true(model.n_states == 2 && model.n_inputs == 1 && model.n_outputs == 3);
    model.A = A;
    model.B = B;
    model.C = C;
    model.D = D;
    check_ok(u->ops->linearise(u->self, &model));
    static const double a[] = {0, 3, -3, 0}, b_[] = {0, 1}, c[] = {1, 0, 1, 0, 0, 1},
                        d[] = {1, 0, 0};
    assert_memory_equal(A, a, sizeof a);
    assert_memory_equal(B, b_, sizeof b_);
    assert_memory_equal(C, c, sizeof c);
    assert_memory_equal(D, d, sizeof d);
    close_unit(&b);
    // an FMU without directional derivatives has no linear model
    open_unit(&b, "dahlquist", version, (yoke_unit_file_settings){0});
    assert_true(b.unit.unit.ops->linearise == NULL);
    close_unit(&b);
  }
}

// ---------------------------------------------------------------------------------------------------------
// the rest

static void test_failure_names_the_state(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    bench b;
    open_unit(&b, "dahlquist", version, (yoke_unit_file_settings){.solver = "dopri5"});
    trial_set(&b.unit, "k", 1e308);
    trial_start(&b.unit, 0);
    yoke_step_result result = {.t_reached = 0.1};
    const yoke_status status = b.unit.unit.ops->step(b.unit.unit.self, 0, 0.1, &result);
    assert_int_equal(status, YOKE_DIVERGED);
    check_contains(result.message, "state 'x'");
    close_unit(&b);
  }
}

static void test_cvode(void** state) {
  (void)state;
  if (getenv("YOKE_CVODE") == NULL) {
    print_message("skipped: SUNDIALS is missing\n");
    skip();
  }
  for (int version = 2; version <= 3; version++) {
    bench b;
    open_unit(&b, "dahlquist", version,
              (yoke_unit_file_settings){.solver = "cvode", .solver_tolerance = 1e-9});
    trial_start(&b.unit, 0);
    run(&b, 0, 0.25, 10);
    print_message("dahlquist%d, cvode: error %.2g\n", version, trial_get(&b.unit, "x") - exp(-2.5));
    check_near(trial_get(&b.unit, "x"), exp(-2.5), 1e-7);
    close_unit(&b);
    open_unit(&b, "ball", version,
              (yoke_unit_file_settings){.solver = "cvode", .solver_tolerance = 1e-9});
    trial_start(&b.unit, 0);
    run(&b, 0, 0.05, 47);
    double h, v;
    int n;
    exact_ball(47 * 0.05, &h, &v, &n);
    assert_int_equal(trial_get_whole(&b.unit, "n_bounces"), n);
    check_near(trial_get(&b.unit, "h"), h, 1e-6);
    check_near(trial_get(&b.unit, "v"), v, 1e-6);
    run(&b, 2.35, 0.05, 10);
    assert_true(trial_get(&b.unit, "v") == 0);
    close_unit(&b);
    open_unit(&b, "stairs_me", version, (yoke_unit_file_settings){.solver = "cvode"});
    trial_start(&b.unit, 0);
    run(&b, 0, 0.07, 40);
    assert_int_equal(trial_get_whole(&b.unit, "counter"), 14);
    close_unit(&b);
  }
}

int main(void) {
  if (getenv("YOKE_FMUS") == NULL) {
    print_message("skipped: YOKE_FMUS names no folder with test FMUs\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_dahlquist),
      cmocka_unit_test(test_order_vanderpol),
      cmocka_unit_test(test_equals_co_simulation),
      cmocka_unit_test(test_ball),
      cmocka_unit_test(test_ball_comes_to_rest),
      cmocka_unit_test(test_ball_energy),
      cmocka_unit_test(test_stairs),
      cmocka_unit_test(test_end_wanted),
      cmocka_unit_test(test_input_derivatives_raise_the_order),
      cmocka_unit_test(test_feedthrough_and_refresh),
      cmocka_unit_test(test_fresh_exchange),
      cmocka_unit_test(test_extrapolated_inputs_in_a_system),
      cmocka_unit_test(test_rollback),
      cmocka_unit_test(test_linearise),
      cmocka_unit_test(test_failure_names_the_state),
      cmocka_unit_test(test_cvode),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
