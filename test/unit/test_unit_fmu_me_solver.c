// Model exchange: the solver around models that are told apart from files, see me_toy.h: orders, events, inputs, failures.
#define _POSIX_C_SOURCE 200809L
#include "base/base_message.h"
#include "me_toy.h"

#include "support/failing_heap.h"

#define G 9.81

// ---------------------------------------------------------------------------------------------------------
// order

static void decay(const toy* m, double dx[]) {
  dx[0] = -m->now.x[0];
}

static double decay_error(const char* solver, double h) {
  static const toy_model model = {.n_x = 1, .x0 = {1}, .rhs = decay};
  toy* m = toy_open(&model, (yoke_unit_file_settings){.solver = solver, .solver_step = h});
  toy_run(m, 0, 0.5, 2);
  const double error = fabs(m->now.x[0] - exp(-1));
  toy_close(m);
  return error;
}

static void test_order_of_fixed_steps(void** state) {
  (void)state;
  static const struct {
    const char* name;
    double order;
  } methods[] = {{"euler", 1}, {"trapezoidal", 2}, {"rk4", 4}};
  for (size_t i = 0; i < 3; i++) {
    double coarse = decay_error(methods[i].name, 1.0 / 8);
    for (int k = 4; k <= 6; k++) {
      const double fine = decay_error(methods[i].name, 1.0 / (1 << k));
      print_message("%s, internal step 2^-%d: error %.3g, order %.3f\n", methods[i].name, k, fine,
                    log2(coarse / fine));
      check_near(log2(coarse / fine), methods[i].order, 0.15);
      coarse = fine;
    }
  }
}

// the internal step: as wished, rounded so that it divides; the experiment's if it divides; else a tenth
static void test_number_of_internal_steps(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .x0 = {1}, .rhs = decay};
  static const struct {
    double wanted, experiment, h;
    int64_t n;
  } cases[] = {{0, 0, 1, 10},      {0.1, 0, 1, 10},    {0.3, 0, 1, 4}, {5, 0, 1, 1},
               {0, 0.01, 0.1, 10}, {0, 0.04, 0.12, 3}, {0, 3, 1, 10},  {0, 0.3, 1, 10},
               {0, 1e-7, 1, 10},   {1e-3, 0, 0.7, 700}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    toy* m = toy_create(
        &model, (yoke_unit_file_settings){.solver = "euler", .solver_step = cases[i].wanted});
    m->description.experiment.has_step = cases[i].experiment > 0;
    m->description.experiment.step = cases[i].experiment;
    YOKE_CATCH(err);
    check_ok(yoke__fmu_open_me(&m->f, &err.sink));
    check_ok(m->ops.exit_init(&m->f));
    m->n_derivatives = 0;
    toy_step(m, 0, cases[i].h);
    if (m->n_derivatives != cases[i].n) {
      fail_msg("case %zu: %lld internal steps, expected %lld", i, (long long)m->n_derivatives,
               (long long)cases[i].n);
    }
    toy_close(m);
  }
}

static void test_too_many_internal_steps_are_refused(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .x0 = {1}, .rhs = decay};
  toy* m = toy_open(&model, (yoke_unit_file_settings){.solver_step = 1e-9});
  yoke_step_result result;
  assert_int_equal(toy_try_step(m, 0, 1, &result), YOKE_BAD_ARG);
  check_contains(result.message, "internal steps");
  toy_close(m);
}

static void constant_rate(const toy* m, double dx[]) {
  (void)m;
  dx[0] = 1;
}

// a step keeps its length far from zero, where t + h has lost digits of h
static void test_length_of_steps_at_large_times(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = constant_rate};
  static const double starts[] = {0, 1e6, 1e9};
  double x[3];
  for (int i = 0; i < 3; i++) {
    toy* m = toy_open_at(&model, (yoke_unit_file_settings){.solver_step = 1e-5}, starts[i]);
    toy_run(m, starts[i], 1e-4, 10000);
    x[i] = m->now.x[0];
    toy_close(m);
  }
  print_message("x after 1 s: 1%+.2g\n", x[0] - 1);
  assert_true(x[1] == x[0] && x[2] == x[0]);
  check_near(x[0], 1, 1e5 * 1.2e-16);  // 1e5 additions
}

// ---------------------------------------------------------------------------------------------------------
// inputs

static void integrator(const toy* m, double dx[]) {
  dx[0] = m->now.u[0];
}

// RK4 integrates cubic inputs exactly: all three derivatives are used, in the right place
static void test_input_derivatives_exact(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = integrator};
  for (int degree = 0; degree <= 3; degree++) {
    toy* m = toy_open(&model, (yoke_unit_file_settings){.solver_step = 0.25});
    for (int k = 0; k < 4; k++) {
      const double t = 0.5 * k;
      double factor = 1;
      const double u[3] = {pow(t, degree), 0, 0};
      check_ok(m->ops.set_inputs(&m->f, u, 3));
      for (int order = 1; order <= degree; order++) {
        factor *= degree - order + 1;
        const double du[3] = {factor * pow(t, degree - order), 0, 0};
        check_ok(m->ops.set_input_derivatives(&m->f, order, du, 3));
      }
      toy_step(m, t, 0.5);
      // the outputs belong to the input at the end of the step
      double y[2];
      check_ok(m->ops.get_outputs(&m->f, y, 2));
      check_near(y[0], pow(t + 0.5, degree + 1) / (degree + 1), 1e-14);
      check_near(y[1], pow(t + 0.5, degree), 1e-14);
    }
    toy_close(m);
  }
}

// derivatives are good for one step
static void test_input_derivatives_end_with_the_step(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = integrator};
  toy* m = toy_open(&model, (yoke_unit_file_settings){0});
  const double u[3] = {1, 0, 0}, du[3] = {1, 0, 0}, u_end[3] = {2, 0, 0};
  check_ok(m->ops.set_inputs(&m->f, u, 3));
  check_ok(m->ops.set_input_derivatives(&m->f, 1, du, 3));
  toy_step(m, 0, 1);
  check_near(m->now.x[0], 1.5, 1e-14);
  check_ok(m->ops.set_inputs(&m->f, u_end, 3));
  toy_step(m, 1, 1);
  check_near(m->now.x[0], 3.5, 1e-14);
  assert_int_equal(m->ops.set_input_derivatives(&m->f, 4, du, 3), YOKE_NO_SUPPORT);
  toy_close(m);
}

// outputs follow new inputs at once, and states do not move
static void test_refresh(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = integrator};
  toy* m = toy_open(&model, (yoke_unit_file_settings){0});
  const double u[3] = {1, 0, 0}, other[3] = {7, 0, 0};
  double y[2];
  check_ok(m->ops.set_inputs(&m->f, u, 3));
  toy_step(m, 0, 1);
  check_ok(m->ops.set_inputs(&m->f, other, 3));
  check_ok(m->ops.refresh(&m->f, 1));
  check_ok(m->ops.get_outputs(&m->f, y, 2));
  assert_true(y[0] == m->now.x[0] && y[1] == 7);
  check_near(y[0], 1, 1e-14);
  toy_close(m);
}

// discrete inputs and parameters reach the FMU in event mode only (the toy insists), and only if they changed
static void test_discrete_inputs_wait_for_an_event(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = integrator};
  toy* m = toy_open(&model, (yoke_unit_file_settings){0});
  const double u[3] = {1, 2, 5};
  const int64_t n = 3;
  const double p = 0.5;
  check_ok(m->ops.set_inputs(&m->f, u, 3));
  check_ok(m->ops.set(&m->f, TOY_N, &n, sizeof n));
  assert_true(m->now.u[0] == 1 && m->now.u[1] == 2 && m->now.u[2] == 0 && m->now.n == 0);
  assert_true((toy_step(m, 0, 1) & YOKE_STEP_EVENT_NEEDED) != 0);
  assert_true(m->now.u[2] == 5 && m->now.n == 3);
  assert_int_equal(m->now.n_events, 1);

  // the same values again are no event
  check_ok(m->ops.set_inputs(&m->f, u, 3));
  check_ok(m->ops.set(&m->f, TOY_N, &n, sizeof n));
  assert_int_equal(toy_step(m, 1, 1), 0);
  assert_int_equal(m->now.n_events, 1);

  // a parameter takes an event, but makes nobody forget anything
  check_ok(m->ops.set(&m->f, TOY_P, &p, sizeof p));
  assert_int_equal(toy_step(m, 2, 1), 0);
  assert_true(m->now.p == 0.5);
  assert_int_equal(m->now.n_events, 2);
  assert_int_equal(m->ops.set(&m->f, TOY_Y0, &p, sizeof p), YOKE_NO_SUPPORT);
  toy_close(m);
}

static void above_half(const toy* m, double z[]) {
  z[0] = m->now.u[0] - 0.5;
}

// an input that jumps across a threshold between two steps is an event at the start of the step
static void test_input_jump_crosses_an_indicator(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .n_z = 1, .rhs = integrator, .indicators = above_half};
  toy* m = toy_open(&model, (yoke_unit_file_settings){0});
  const double low[3] = {0.4, 0, 0}, high[3] = {0.6, 0, 0};
  check_ok(m->ops.set_inputs(&m->f, low, 3));
  assert_int_equal(toy_step(m, 0, 1), 0);
  check_ok(m->ops.set_inputs(&m->f, high, 3));
  assert_true((toy_step(m, 1, 1) & YOKE_STEP_EVENT_NEEDED) != 0);
  assert_int_equal(m->now.n_events, 1);
  assert_true(m->now.events[0] == 1);
  assert_int_equal(toy_step(m, 2, 1), 0);
  assert_int_equal(m->now.n_events, 1);
  toy_close(m);
}

// ---------------------------------------------------------------------------------------------------------
// state events

// A ball whose FMU does nothing for the importer: the height is not put back above the ground after a bounce.
static void fall(const toy* m, double dx[]) {
  dx[0] = m->now.x[1];
  dx[1] = -G;
}

static void height(const toy* m, double z[]) {
  z[0] = m->now.x[0];
}

static void bounce(toy* m, fmu_event* event) {
  if (m->now.x[0] <= 0 && m->now.x[1] < 0) {
    m->now.x[1] *= -0.7;
    m->now.mode++;  // bounces
    event->are_states_changed = true;
    if (m->now.mode <= 32) {
      m->now.events[31 + m->now.mode] =
          m->now.t;  // beyond those of the toy itself, which counts all events
    }
  }
}

static const toy_model ball = {
    .n_x = 2, .n_z = 1, .x0 = {1, 0}, .rhs = fall, .indicators = height, .update = bounce};

// time of bounce k = 0, 1, ... from height 1: t0 (1 + 2 (e + ... + e^k))
static double bounce_time(int k) {
  const double t0 = sqrt(2 / G);
  double t = t0, e = 1;
  for (int i = 1; i <= k; i++) {
    e *= 0.7;
    t += 2 * e * t0;
  }
  return t;
}

// t: of the macro step. Heights and bounce times are exact with RK4: the flight is a parabola.
static void test_ball(void** state) {
  (void)state;
  static const double steps[] = {0.05, 0.01, 1e-3};
  for (size_t i = 0; i < 3; i++) {
    toy* m = toy_open(&ball, (yoke_unit_file_settings){.solver_step = steps[i]});
    toy_run(m, 0, 0.05,
            46);  // to 2.3 s
    int n = 0;
    while (bounce_time(n) < 2.3) {
      n++;
    }
    assert_int_equal(m->now.mode, n);
    double worst = 0;
    for (int k = 0; k < n; k++) {
      worst = fmax(worst, fabs(m->now.events[32 + k] - bounce_time(k)));
    }
    // the energy after n bounces is 0.7^(2n) of what it was
    const double energy = G * m->now.x[0] + m->now.x[1] * m->now.x[1] / 2;
    const double left = energy / (G * pow(0.7, 2 * n));
    print_message("ball, internal step %g: %d bounces, times off by %.2g s, energy 1%+.2g\n",
                  steps[i], n, worst, left - 1);
    // located to 1e-12 s, and each error is carried on by the next flights
    check_near(worst, 0, 2e-11);
    check_near(left, 1, 1e-9);
    toy_close(m);
  }
}

// flights that get shorter and shorter: none is missed, down to some microseconds inside internal steps of 50 ms
static void test_short_flights(void** state) {
  (void)state;
  enum { N = 35 };
  toy* m = toy_open(&ball, (yoke_unit_file_settings){.solver_step = 0.05});
  toy_run(m, 0, 0.05, 51);
  const double end = 0.5 * (bounce_time(N - 1) + bounce_time(N));
  toy_step(m, 2.55, end - 2.55);
  print_message("last flight %.2g s: %lld bounces, height %.3g m\n",
                bounce_time(N) - bounce_time(N - 1), (long long)m->now.mode, m->now.x[0]);
  assert_int_equal(m->now.mode, N);
  assert_true(m->now.x[0] > 0);
  toy_close(m);
}

// x' = -x until x = 1/2, then x' = -2 x: the event lies inside an internal step and must not cost the order
static void two_rates(const toy* m, double dx[]) {
  dx[0] = m->now.mode != 0 ? -2 * m->now.x[0] : -m->now.x[0];
}

static void half(const toy* m, double z[]) {
  z[0] = m->now.x[0] - 0.5;
}

static void next_rate(toy* m, fmu_event* event) {
  (void)event;
  m->now.mode = m->now.x[0] <= 0.5;
}

static double error_across_event(const char* solver, double h) {
  static const toy_model model = {
      .n_x = 1, .n_z = 1, .x0 = {1}, .rhs = two_rates, .indicators = half, .update = next_rate};
  toy* m = toy_open(&model, (yoke_unit_file_settings){.solver = solver, .solver_step = h});
  toy_run(m, 0, 0.5, 2);
  assert_int_equal(m->now.n_events, 1);
  const double error = fabs(m->now.x[0] - 0.5 * exp(-2 * (1 - log(2))));
  toy_close(m);
  return error;
}

static void test_order_across_an_event(void** state) {
  (void)state;
  static const struct {
    const char* name;
    double order;
  } methods[] = {{"euler", 1}, {"trapezoidal", 2}, {"rk4", 4}};
  for (size_t i = 0; i < 3; i++) {
    // the pieces before and after the event change with h: the mean slope counts
    const double coarse = error_across_event(methods[i].name, 1.0 / 8);
    const double fine = error_across_event(methods[i].name, 1.0 / 128);
    const double order = log2(coarse / fine) / 4;
    print_message("%s across an event: error %.3g, order %.3f\n", methods[i].name, fine, order);
    check_near(order, methods[i].order, 0.2);
  }
}

// a relay without hysteresis: each event is undone by the next
static void relay(const toy* m, double dx[]) {
  dx[0] = m->now.mode != 0 ? -1 : 1;
}

static void relay_side(const toy* m, double z[]) {
  z[0] = m->now.x[0] - 0.5;
}

static void relay_switch(toy* m, fmu_event* event) {
  (void)event;
  m->now.mode = m->now.x[0] > 0.5;
}

static void test_chattering_is_not_hidden(void** state) {
  (void)state;
  static const toy_model model = {
      .n_x = 1, .n_z = 1, .rhs = relay, .indicators = relay_side, .update = relay_switch};
  toy* m = toy_open(&model, (yoke_unit_file_settings){0});
  yoke_step_result result;
  assert_int_equal(toy_try_step(m, 0, 1, &result), YOKE_UNIT_FAILED);
  check_contains(result.message, "more than 10000 events in one step at t = 0.5");
  check_contains(result.message, "Zeno behaviour?");
  check_near(m->now.x[0], 0.5, 1e-6);
  toy_close(m);
}

// two thresholds inside one internal step, and one at its very end: each once, in order, at its time
static void thresholds(const toy* m, double z[]) {
  z[0] = m->now.x[0] - 0.61;
  z[1] = m->now.x[0] - 0.55;
  z[2] = 1 - m->now.x[0];
  z[3] = m->now.x[0] - 1.5;
}

static void test_order_of_several_events(void** state) {
  (void)state;
  static const toy_model model = {
      .n_x = 1, .n_z = 4, .rhs = constant_rate, .indicators = thresholds};
  static const char* const solvers[] = {"euler", "trapezoidal", "rk4"};
  for (size_t s = 0; s < 3; s++) {
    toy* m = toy_open(&model, (yoke_unit_file_settings){.solver = solvers[s], .solver_step = 0.5});
    toy_run(m, 0, 0.5, 6);
    assert_int_equal(m->now.n_events, 4);
    static const double times[] = {0.55, 0.61, 1.0, 1.5};
    for (int i = 0; i < 4; i++) {
      // after the crossing by no more than the tolerance
      check_between(m->now.events[i] - times[i], -1e-15, 2e-12);
    }
    check_near(m->now.x[0], 3, 1e-12);
    toy_close(m);
  }
}

// ---------------------------------------------------------------------------------------------------------
// time events and events after internal steps

// every 0.1 s the mode counts up; as 0.1 is no binary number, roundings on both sides occur
static void tick(toy* m, fmu_event* event) {
  if (m->now.n_updates > 1 && m->now.t >= 0.1 * (double)(m->now.mode + 1)) {
    m->now.mode++;
  }
  event->has_next = true;
  event->t_next = 0.1 * (double)(m->now.mode + 1);
}

static void staircase(const toy* m, double dx[]) {
  dx[0] = (double)m->now.mode;
}

static void test_time_events_are_hit(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = staircase, .update = tick};
  static const double steps[] = {0.1, 0.03, 0.25, 1, 0.1 / 3};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    for (int has_states = 0; has_states < 2; has_states++) {
      toy_model variant = model;
      variant.n_x = (size_t)has_states;
      toy* m = toy_open(&variant, (yoke_unit_file_settings){0});
      const int64_t n = llround(3 / steps[i]);
      toy_run(m, 0, steps[i], n);
      assert_int_equal(m->now.mode, 30);
      assert_int_equal(m->now.n_events, 30);
      for (int k = 0; k < 30; k++) {
        check_between(m->now.events[k] - 0.1 * (k + 1), 0, 1.1e-12);
      }
      // a staircase integrated piece by piece has no error
      check_near(m->now.x[0], has_states ? 0.1 * 29 * 30 / 2 : 0, 1e-11);
      toy_close(m);
    }
  }
}

// at 1e6 s a rounding is 1e-10 s
static void tick_late(toy* m, fmu_event* event) {
  if (m->now.n_updates > 1 && m->now.t >= 1e6 + 0.1 * (double)(m->now.mode + 1)) {
    m->now.mode++;
  }
  event->has_next = true;
  event->t_next = 1e6 + 0.1 * (double)(m->now.mode + 1);
}

static void test_time_events_at_large_times(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = staircase, .update = tick_late};
  toy* m = toy_open_at(&model, (yoke_unit_file_settings){0}, 1e6);
  toy_run(m, 1e6, 0.1 / 3, 90);
  assert_int_equal(m->now.mode, 30);
  assert_int_equal(m->now.n_events, 30);
  toy_close(m);
}

static bool every_third(toy* m) {
  return m->now.n_calls % 3 == 0;
}

static void test_step_events(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = decay, .x0 = {1}, .completed = every_third};
  toy* m = toy_open(&model, (yoke_unit_file_settings){.solver_step = 0.1});
  assert_true((toy_step(m, 0, 1) & YOKE_STEP_EVENT_NEEDED) != 0);
  assert_int_equal(m->now.n_calls, 10);
  assert_int_equal(m->now.n_events, 3);
  check_near(m->now.events[1], 0.6, 1e-15);
  toy_close(m);
}

static void stop_at_third(toy* m, fmu_event* event) {
  event->is_end_wanted = m->now.n_events == 3;
}

static void test_end_of_simulation(void** state) {
  (void)state;
  static const toy_model model = {
      .n_x = 1, .n_z = 4, .rhs = constant_rate, .indicators = thresholds, .update = stop_at_third};
  toy* m = toy_open(&model, (yoke_unit_file_settings){0});
  yoke_step_result result;
  check_ok(toy_try_step(m, 0, 2, &result));
  assert_true((result.flags & YOKE_STEP_END_WANTED) != 0);
  check_near(m->now.x[0], 1, 1e-11);
  assert_int_equal(m->now.phase, TOY_EVENT);
  assert_int_equal(toy_try_step(m, 2, 2, &result), YOKE_UNIT_FAILED);
  toy_close(m);
}

static void never_settle(toy* m, fmu_event* event) {
  event->is_again_needed = m->now.n_events > 0;
}

static void test_event_that_does_not_settle(void** state) {
  (void)state;
  static const toy_model model = {
      .n_x = 1, .n_z = 4, .rhs = constant_rate, .indicators = thresholds, .update = never_settle};
  toy* m = toy_open(&model, (yoke_unit_file_settings){0});
  yoke_step_result result;
  assert_int_equal(toy_try_step(m, 0, 1, &result), YOKE_UNIT_FAILED);
  check_contains(result.message, "does not settle");
  assert_int_equal(m->now.n_updates, 1 + FMU_MAX_UPDATES);
  toy_close(m);
}

// ---------------------------------------------------------------------------------------------------------
// failure

static void broken(const toy* m, double dx[]) {
  dx[0] = 1;
  dx[1] = m->now.t > 0.5 ? sqrt(0.5 - m->now.x[0]) : 0;
}

static void test_nan_names_the_state(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 2, .rhs = broken};
  static const char* const solvers[] = {"euler", "trapezoidal", "rk4"};
  for (size_t i = 0; i < 3; i++) {
    toy* m = toy_open(&model, (yoke_unit_file_settings){.solver = solvers[i]});
    yoke_step_result result;
    assert_int_equal(toy_try_step(m, 0, 1, &result), YOKE_DIVERGED);
    check_contains(result.message, "derivative of state 'x1' is not a number at t = 0.");
    toy_close(m);
  }
}

static void explode(const toy* m, double dx[]) {
  dx[0] = m->now.x[0] * m->now.x[0];
}

static void test_explosion(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .x0 = {1e200}, .rhs = explode};
  toy* m = toy_open(&model, (yoke_unit_file_settings){.solver = "euler"});
  yoke_step_result result;
  assert_int_equal(toy_try_step(m, 0, 1, &result), YOKE_DIVERGED);
  check_contains(result.message, "state 'x0'");
  toy_close(m);
}

static void nan_indicator(const toy* m, double z[]) {
  z[0] = m->now.t > 0.5 ? sqrt(-1.0) : 1;
}

static void test_nan_indicator(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .n_z = 1, .rhs = decay, .indicators = nan_indicator};
  toy* m = toy_open(&model, (yoke_unit_file_settings){0});
  yoke_step_result result;
  assert_int_equal(toy_try_step(m, 0, 1, &result), YOKE_DIVERGED);
  check_contains(result.message, "event indicator 1 of 1");
  toy_close(m);
}

static void test_unknown_solver(void** state) {
  (void)state;
  static const toy_model model = {.n_x = 1, .rhs = decay};
  toy* m = toy_create(&model, (yoke_unit_file_settings){.solver = "semi-implicit-euler"});
  YOKE_CATCH(err);
  assert_int_equal(yoke__fmu_open_me(&m->f, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "semi-implicit-euler");
  check_contains(err.text, "expected dopri5, cvode, rk4, euler or trapezoidal");
  toy_close(m);
}

// ---------------------------------------------------------------------------------------------------------
// state images, heap

// a run that goes back and repeats has the same bytes; events, sides and inputs included
static void test_save_and_restore(void** state) {
  (void)state;
  toy* m = toy_open(&ball, (yoke_unit_file_settings){.solver_step = 0.01});
  unsigned char image[2 * sizeof(void*)] = {0};
  toy_run(m, 0, 0.05, 9);  // the first bounce is at 0.4515
  check_ok(m->ops.save(&m->f, image, sizeof image));
  unsigned char bytes[4096];
  size_t size = sizeof bytes;
  check_ok(m->ops.serialise(&m->f, bytes, &size));
  toy_run(m, 0.45, 0.05, 20);
  const toy_memory first = m->now;
  for (int way = 0; way < 2; way++) {
    check_ok(way == 0 ? m->ops.restore(&m->f, image, sizeof image)
                      : m->ops.deserialise(&m->f, bytes, size));
    assert_true(m->now.mode == 0);
    toy_run(m, 0.45, 0.05, 20);
    assert_true(m->now.mode > 1);
    assert_memory_equal(&first, &m->now, sizeof first);
  }
  // a second save goes into the same state
  check_ok(m->ops.save(&m->f, image, sizeof image));
  unsigned char foreign[2 * sizeof(void*)] = {1};  // the size of an image, not its contents
  assert_int_equal(m->ops.restore(&m->f, foreign, sizeof foreign), YOKE_BAD_ARG);
  size = 8;
  assert_int_equal(m->ops.serialise(&m->f, bytes, &size), YOKE_FULL);
  toy_close(m);
}

static void test_no_heap_in_the_step(void** state) {
  (void)state;
#if HAS_OWN_MALLOC
  static const char* const solvers[] = {"euler", "trapezoidal", "rk4"};
  for (size_t s = 0; s < 3; s++) {
    toy* m = toy_open(&ball, (yoke_unit_file_settings){.solver = solvers[s], .solver_step = 0.01});
    heap = (failing_heap){.is_on = true, .fails_at = 0, .fails_onwards = true};
    double y[2];
    for (int k = 0; k < 40; k++) {
      const double u[3] = {k, 0, floor(k / 10.0)}, du[3] = {1, 0, 0};
      check_ok(m->ops.set_inputs(&m->f, u, 3));
      check_ok(m->ops.set_input_derivatives(&m->f, 1, du, 3));
      toy_step(m, 0.05 * k, 0.05);
      check_ok(m->ops.get_outputs(&m->f, y, 2));
    }
    const long n = heap.n_requests;
    heap.is_on = false;
    assert_true(m->now.mode > 3);  // with events
    assert_int_equal(n, 0);
    toy_close(m);
  }
#else
  skip();
#endif
}

int main(void) {
  unsetenv("YOKE_CVODE");  // where no solver is named it is dopri5
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_of_fixed_steps),
      cmocka_unit_test(test_number_of_internal_steps),
      cmocka_unit_test(test_too_many_internal_steps_are_refused),
      cmocka_unit_test(test_length_of_steps_at_large_times),
      cmocka_unit_test(test_input_derivatives_exact),
      cmocka_unit_test(test_input_derivatives_end_with_the_step),
      cmocka_unit_test(test_refresh),
      cmocka_unit_test(test_discrete_inputs_wait_for_an_event),
      cmocka_unit_test(test_input_jump_crosses_an_indicator),
      cmocka_unit_test(test_ball),
      cmocka_unit_test(test_short_flights),
      cmocka_unit_test(test_order_across_an_event),
      cmocka_unit_test(test_chattering_is_not_hidden),
      cmocka_unit_test(test_order_of_several_events),
      cmocka_unit_test(test_time_events_are_hit),
      cmocka_unit_test(test_time_events_at_large_times),
      cmocka_unit_test(test_step_events),
      cmocka_unit_test(test_end_of_simulation),
      cmocka_unit_test(test_event_that_does_not_settle),
      cmocka_unit_test(test_nan_names_the_state),
      cmocka_unit_test(test_explosion),
      cmocka_unit_test(test_nan_indicator),
      cmocka_unit_test(test_unknown_solver),
      cmocka_unit_test(test_save_and_restore),
      cmocka_unit_test(test_no_heap_in_the_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
