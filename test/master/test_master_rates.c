// Several rates in one system: three-rate chain against the two-rate golden runs and a monolithic reference; exchange
// intervals below and above the macro step; exact time.
#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/sim.h"

// The golden pair 1 / 0.1 ms with a third unit at 0.5 ms that listens to it: the pair must not notice.
static void test_three_rates_keep_two_rate_golden(void** state) {
  (void)state;
  static const double want[3][4] = {{-4.344937061, 98.13074599, -1.390469902, -218.5731844},
                                    {-4.448572088, 94.69283288, -1.288086278, -168.9149112},
                                    {-4.450871523, 94.70649376, -1.252275927, -168.9810298}};
  for (int order = 0; order < 3; order++) {
    sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 10, step: 1e-3}\nunits:\n"
                     "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: "
                     "0, v: 100}, step: 1e-3}\n"
                     "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: "
                     "-100}, step: 1e-4}\n"
                     "  third: {model: oscillator.mass, with: {m: 2, k: 50}, step: 5e-4}\n"
                     "  slow: {model: oscillator.mass, with: {m: 2, k: 50}, step: 4e-3}\n"
                     "connections:\n"
                     "  - right.x -> left.x_other\n  - right.v -> left.v_other\n"
                     "  - {from: left.f, to: right.f, order: %d}\n"
                     "  - {from: left.f, to: third.f, order: 1}\n"
                     "  - left.f -> slow.f\n",
                     order);
    sim_run(&s);
    check_relative(sim_read(&s, "left.x"), want[order][0], 1e-7);
    check_relative(sim_read(&s, "left.v"), want[order][1], 1e-7);
    check_relative(sim_read(&s, "right.x"), want[order][2], 1e-7);
    check_relative(sim_read(&s, "right.v"), want[order][3], 1e-7);
    sim_close(&s);
  }
}

// Three masses in a line, springs as laws of the master, steps H, H/2, H/10.
static double chain_error(const char* step, const char* h2, const char* h3, int order) {
  sim s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 2, step: %s}\nunits:\n"
      "  m1: {model: oscillator.mass, with: {m: 1, k: 10, sign: -1}, start: {x: 1, v: 0}}\n"
      "  m2: {model: oscillator.mass, with: {m: 2, k: 0}, start: {x: 0, v: 0}, step: %s}\n"
      "  m3: {model: oscillator.mass, with: {m: 1, k: 100}, start: {x: 0, v: 1}, step: %s}\n"
      "laws:\n"
      "  s12: {law: spring_damper, with: {k: 50, c: 0.5}}\n"
      "  s23: {law: spring_damper, with: {k: 80, c: 0.5}}\n"
      "  net: {law: sum, with: {signs: [1, -1]}}\n"
      "connections:\n"
      "  - m1.x -> s12.x1\n  - m1.v -> s12.v1\n  - m2.x -> s12.x2\n  - m2.v -> s12.v2\n"
      "  - m2.x -> s23.x1\n  - m2.v -> s23.v1\n  - m3.x -> s23.x2\n  - m3.v -> s23.v2\n"
      "  - s12.f -> net.u1\n  - s23.f -> net.u2\n"
      "  - s12.f -> m1.f\n"
      "  - {from: net.y, to: m2.f, order: %d}\n"
      "  - {from: s23.f, to: m3.f, order: %d}\n",
      step, h2, h3, order, order);
  sim_run(&s);

  // x' = A x, states x1 v1 x2 v2 x3 v3
  const double A[36] = {0,   1,    0,   0,    0,    0,     //
                        -60, -0.5, 50,  0.5,  0,    0,     //
                        0,   0,    0,   1,    0,    0,     //
                        25,  0.25, -65, -0.5, 40,   0.25,  //
                        0,   0,    0,   0,    0,    1,     //
                        0,   0,    80,  0.5,  -180, -0.5};
  double E[36], At[36];
  for (int i = 0; i < 36; i++) {
    At[i] = A[i] * 2;
  }
  check_ok(yoke__expm(6, At, E));
  const double x0[6] = {1, 0, 0, 0, 0, 1};
  double x[6];
  yoke__mat_vec(6, 6, E, x0, x);
  const double got[3] = {sim_read(&s, "m1.x"), sim_read(&s, "m2.x"), sim_read(&s, "m3.x")};
  double most = 0;
  for (size_t i = 0; i < 3; i++) {
    most = fmax(most, fabs(got[i] - x[2 * i]));
  }
  sim_close(&s);
  return most;
}

static void test_three_rate_chain_converges(void** state) {
  (void)state;
  static const char* const steps[][3] = {{"4e-3", "2e-3", "4e-4"},
                                         {"2e-3", "1e-3", "2e-4"},
                                         {"1e-3", "5e-4", "1e-4"},
                                         {"5e-4", "2.5e-4", "5e-5"}};
  for (int order = 0; order < 2; order++) {
    double last = 0;
    for (int i = 0; i < 4; i++) {
      const double error = chain_error(steps[i][0], steps[i][1], steps[i][2], order);
      print_message("three rates, order %d, H = %s s: error %.3g m\n", order, steps[i][0], error);
      if (i > 0) {
        check_near(log2(last / error), 1,
                   0.15);  // first order: semi-implicit Euler and held forces
      }
      last = error;
    }
  }
}

// A fast pair exchanges at its own interval, below the macro step: equal to running it alone with that step.
static void test_exchange_below_macro_step(void** state) {
  (void)state;
  static const char pair[] =
      "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {v: 100}, step: "
      "1e-4}\n"
      "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -100}, step: 1e-4}\n";
  sim a = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-4}\nunits:\n%s"
      "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n",
      pair);
  sim b = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-2}\nunits:\n%s"
                   "  thermal: {model: oscillator.mass, step: 0.1}\n"
                   "connections:\n"
                   "  - {from: right.x, to: left.x_other, exchange: 1e-4}\n"
                   "  - {from: right.v, to: left.v_other, exchange: 1e-4}\n"
                   "  - {from: left.f, to: right.f, exchange: 1e-4}\n"
                   "  - left.f -> thermal.f\n",
                   pair);
  sim_run(&a);
  sim_run(&b);
  static const char* const names[] = {"left.x", "left.v", "right.x", "right.v", "left.f"};
  for (int i = 0; i < 5; i++) {
    assert_true(sim_read(&a, names[i]) == sim_read(&b, names[i]));
  }
  sim_close(&a);
  sim_close(&b);
}

// outputs of a slow unit become visible at the end of its step, not when it was computed
static void test_slow_unit_is_published_on_time(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n"
                   "  slow: {model: ramp, with: {slope: 1}, step: 0.3}\n"
                   "  fast: {model: ramp, with: {slope: 1}}\n");
  for (int k = 1; k <= 9; k++) {
    sim_steps(&s, 1);
    check_near(sim_read(&s, "fast.y"), 0.1 * k, 1e-12);
    const int n_ended = k / 3;
    check_near(sim_read(&s, "slow.y"), 0.3 * n_ended, 1e-12);
  }
  sim_close(&s);
}

static void test_delay(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n"
                   "  source: {model: ramp, with: {slope: 1}}\n"
                   "  sink: {model: gain, with: {k: 1}}\n"
                   "  direct: {model: gain, with: {k: 1}}\n"
                   "connections:\n"
                   "  - {from: source.y, to: sink.u, delay: 0.3}\n"
                   "  - source.y -> direct.u\n");
  for (int k = 1; k <= 10; k++) {
    sim_steps(&s, 1);
    // a stale unit shows what it was given at the start of its step
    check_near(sim_read(&s, "direct.y"), 0.1 * (k - 1), 1e-12);
    check_near(sim_read(&s, "sink.y"), k > 4 ? 0.1 * (k - 4) : 0, 1e-12);
  }
  sim_close(&s);
}

// A jump announced by its unit is not extrapolated: order 1 and 2 see the step as order 0 does, and never overshoot.
static void test_history_is_reset_at_a_jump(void** state) {
  (void)state;
  for (int scheme = 0; scheme < 2; scheme++) {
    for (int order = 0; order < 4; order++) {
      sim s = sim_open(
          "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nscheme: %s\nunits:\n"
          "  source: {model: step, with: {before: 1, after: 2, time: 0.5}}\n"
          "  sink: {model: gain, with: {k: 1}, step: 0.01}\n"
          "connections: [{from: source.y, to: sink.u, order: %d}]\n",
          scheme == 0 ? "jacobi" : "gauss-seidel\norder: [source, sink]", order);
      for (int k = 1; k <= 10; k++) {
        sim_steps(&s, 1);
        const int jump =
            scheme == 0 ? 6 : 5;  // the earlier unit's new output serves the later one at once
        check_near(sim_read(&s, "sink.y"), k >= jump ? 2 : 1, 0);
      }
      sim_close(&s);
    }
  }
  // declared by the caller: a ramp restarts as a hold
  sim s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n"
      "  source: {model: ramp, with: {slope: 1}}\n  sink: {model: gain, with: {k: 1}, step: 0.05}\n"
      "connections: [{from: source.y, to: sink.u, order: 1}]\n");
  sim_steps(&s, 5);
  check_near(sim_read(&s, "sink.y"), 0.45, 1e-12);
  yoke__master_declare_discontinuity(s.system, s.state);
  sim_steps(&s, 2);
  check_near(sim_read(&s, "sink.y"), 0.6, 1e-12);
  sim_steps(&s, 1);
  check_near(sim_read(&s, "sink.y"), 0.75, 1e-12);
  sim_close(&s);
}

// time comes from an integer: bitwise k * step as a correctly rounded decimal
static void test_time_is_exact(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 0, stop: 100, step: "
                   "0.1}\nunits: {a: {model: constant}}\n");
  for (int k = 1; k <= 1000; k++) {
    sim_steps(&s, 1);
    assert_true(s.state->t == k / 10.0);
  }
  sim_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_three_rates_keep_two_rate_golden),
      cmocka_unit_test(test_three_rate_chain_converges),
      cmocka_unit_test(test_exchange_below_macro_step),
      cmocka_unit_test(test_slow_unit_is_published_on_time),
      cmocka_unit_test(test_delay),
      cmocka_unit_test(test_history_is_reset_at_a_jump),
      cmocka_unit_test(test_time_is_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
