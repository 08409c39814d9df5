// Model exchange against closed forms: the medley of events of test/fmus (several at the same time, on communication points,
// one at the start), an oscillator whose input jumps, and an FMU that wants to end before it began. All solvers.
#define _POSIX_C_SOURCE 200809L
#include "support/check.h"
#include "support/sim.h"

#define G 9.81

// ---------------------------------------------------------------------------------------------------------
// the medley; t counts from the start

static double relay(double t) {
  const double phase = fmod(t + 1e-13, 1.5);
  return phase <= 1 ? phase : 1 - 2 * (phase - 1);
}

// height of a ball dropped from 1 m; *n: bounces so far
static double height(double t, double e, double* n) {
  double from = sqrt(2 / G), v = G * from;
  *n = 0;
  if (t < from) {
    return 1 - 0.5 * G * t * t;
  }
  for (;;) {
    v *= e;
    ++*n;
    const double flight = 2 * v / G;
    if (v < 0.1) {
      return 0;
    }
    if (t < from + flight) {
      return v * (t - from) - 0.5 * G * (t - from) * (t - from);
    }
    from += flight;
  }
}

typedef struct medley_case {
  const char* solver;
  double step;
  double tolerance;  // of relay and balls; the solver's own and that of the location of events
  double t_event;    // how exactly turns are known, at t near 0
} medley_case;

// parabolas are exact for rk4, dopri5 and the trapezoidal rule: what is left is the location of some twenty events, to 1e-12 s at
// speeds up to 4.4 m/s; at 1e6 s times are known to four roundings, 4.7e-10 s
static void check_medley(const medley_case* c, int version, double start) {
  const int n_steps = (int)floor(4.2 / c->step);
  const double far = start > 0 ? 20 * 4.7e-10 : 0;
  sim s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {start: %.17g, stop: %.12g, step: %.12g}\nunits:\n"
      "  a: {fmu: %s/medley%d.fmu, solver: %s}\n",
      start, start + n_steps * c->step, c->step, getenv("YOKE_FMUS"), version, c->solver);
  for (int k = 0; k <= n_steps; k++) {
    const double t = k * c->step, tolerance = c->tolerance + far;
    double n1 = 0, n2 = 0;
    const double h1 = height(t, 0.7, &n1), h2 = height(t, 0.5, &n2);
    check_near(sim_read(&s, "a.c"), t, 1e-9);
    check_near(sim_read(&s, "a.s"), relay(t), tolerance);
    check_near(sim_read(&s, "a.h1"), h1, tolerance);
    check_near(sim_read(&s, "a.h2"), h2, tolerance);
    check_near(sim_read(&s, "a.n1"), n1, 0);
    check_near(sim_read(&s, "a.n2"), n2, 0);
    // time events: the one at the start belongs to the start
    check_near(sim_read(&s, "a.n"), floor(t / 0.25 + 1e-9) + 1, 0);
    if (k < n_steps) {
      sim_steps(&s, 1);
    }
  }
  const double t_end = n_steps * c->step;
  check_near(sim_read(&s, "a.t_half"), 0.5, c->t_event + far);
  // a turn that is due at the end itself may be a little later
  const double n_turns = sim_read(&s, "a.n_turns");
  check_between(n_turns, t_end - c->t_event > 4 ? 5 : 4, t_end + c->t_event > 4 ? 5 : 4);
  check_near(sim_read(&s, "a.t_turn"), n_turns > 4 ? 4 : 3, c->t_event + far);
  sim_close(&s);
}

static void test_medley(void** state) {
  (void)state;
  // internal steps of a tenth, of one step, of many
  static const medley_case cases[] = {
      {"rk4", 0.1, 2e-10, 2e-11},
      {"rk4", 0.25, 2e-10, 2e-11},
      {"{method: rk4, step: 0.5}", 0.5, 2e-10, 2e-11},
      {"{method: rk4, step: 1e-3}", 0.07, 2e-10, 2e-11},
      {"trapezoidal", 0.3, 2e-10, 2e-11},
      {"dopri5", 0.1, 2e-10, 2e-11},
      {"{method: dopri5, step: 0.5}", 0.5, 2e-10, 2e-11},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int version = 2; version <= 3; version++) {
      check_medley(&cases[i], version, 0);
      check_medley(&cases[i], version, 1e6);
    }
  }
}

// CVODE starts anew at every event, often exactly where an indicator is zero
static void test_medley_with_cvode(void** state) {
  (void)state;
  if (getenv("YOKE_CVODE") == NULL) {
    print_message("skipped: SUNDIALS is missing\n");
    skip();
  }
  static const medley_case cases[] = {
      {"{method: cvode, tolerance: 1e-8}", 0.1, 1e-5, 1e-9},
      {"{method: cvode, tolerance: 1e-10}", 0.25, 1e-7, 1e-9},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_medley(&cases[i], 2, 0);
    check_medley(&cases[i], 3, 1e6);
  }
}

// ---------------------------------------------------------------------------------------------------------
// an input that jumps at exchange points: x1' = x2, x2' = -x1 + u, from (0, 1); u is a staircase one exchange late

static void swing(double x[2], double u, double h) {
  const double a = x[0] - u, b = x[1];
  x[0] = u + a * cos(h) + b * sin(h);
  x[1] = -a * sin(h) + b * cos(h);
}

static double jump_error(const char* solver, double step) {
  sim s =
      sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 0, stop: 2, step: %.12g}\nunits:\n"
               "  a: {fmu: %s/stairs_me2.fmu}\n  b: {fmu: %s/sine_me2.fmu, solver: %s}\n"
               "connections:\n  - a.counter -> b.u\n",
               step, getenv("YOKE_FMUS"), getenv("YOKE_FMUS"), solver);
  double x[2] = {0, 1}, worst = 0;
  const int n = (int)lround(2 / step);
  for (int k = 0; k < n; k++) {
    swing(x, floor(k * step / 0.2 + 1e-9), step);
    sim_steps(&s, 1);
    worst = fmax(worst, fabs(sim_read(&s, "b.x1") - x[0]));
    worst = fmax(worst, fabs(sim_read(&s, "b.x2") - x[1]));
  }
  sim_close(&s);
  return worst;
}

static void test_jumping_input(void** state) {
  (void)state;
  // rk4 turns a rotation of radius |x - u| < 15 by t h^4 / 120 too little
  const double h = 0.005;
  check_between(jump_error("{method: rk4, step: 0.005}", 0.05), 0, 15 * 2 * pow(h, 4) / 120);
  // order 4 in the internal step, jumps and all
  const double coarse = jump_error("{method: rk4, step: 0.1}", 0.1);
  const double fine = jump_error("{method: rk4, step: 0.05}", 0.1);
  check_near(log2(coarse / fine), 4, 0.15);
  if (getenv("YOKE_CVODE") != NULL) {
    check_between(jump_error("{method: cvode, tolerance: 1e-9}", 0.05), 0, 3e-6);
  }
}

// ---------------------------------------------------------------------------------------------------------

// a run whose end is wanted in the event at its start ends with the first step, and without a failure
static void test_end_at_start(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    sim s =
        sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {start: 0, stop: 2, step: 0.1}\nunits:\n"
                 "  a: {fmu: %s/stairs_me%d.fmu, with: {last: 1}, start: {counter: 1}}\n",
                 getenv("YOKE_FMUS"), version);
    yoke_status status = YOKE_OK;
    int n = 0;
    while (status == YOKE_OK && n < 20) {
      status = yoke__master_step(s.system, s.state);
      n++;
    }
    if (status != YOKE_ENDED || n != 1) {
      fail_msg("status %d after %d steps: %s", (int)status, n, sim_failure(&s));
    }
    sim_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_medley),
      cmocka_unit_test(test_medley_with_cvode),
      cmocka_unit_test(test_jumping_input),
      cmocka_unit_test(test_end_at_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
