// From a system file to the linear model of its loops: wiring, laws, calls; what is judged is what runs.
#include "linalg/linalg_dense.h"
#include "study/study_linear.h"
#include "support/check.h"
#include "support/dual_mass.h"
#include "support/sim.h"

typedef struct opened {
  sim s;
  yoke_messages messages;
  yoke_linear_loops loops;
} opened;

static void open_text(opened* o, const char* text) {
  *o = (opened){.s = sim_open("%s", text)};
  check_ok(yoke__linear_open(o->s.system, o->s.state, &o->messages, &o->loops));
  assert_int_equal(o->messages.n_errors, 0);
}

static void close_text(opened* o) {
  yoke__linear_free(&o->loops);
  yoke__messages_free(&o->messages);
  sim_close(&o->s);
}

// The dual mass oscillator. unit: keys of both units, e.g. ", step: 1e-4"; last: lines behind the connections.
static void dual_mass_text(double ck, double dk, double step, const char* solver, const char* unit,
                           const char* order, const char* last, char* to, size_t size) {
  snprintf(
      to, size,
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: %.17g}\nunits:\n"
      "  left: {model: state_space, with: {A: [[0, 1], [-1e5, -0.1]], B: [[0], [0.1]], inputs: "
      "[f], outputs: [x, v], x0: [0.1, 0]%s}%s}\n"
      "  right: {model: state_space, with: {A: [[0, 1], [%.17g, %.17g]], B: [[0, 0], [%.17g, "
      "%.17g]], C: [[%.17g, %.17g]], D: [[%.17g, %.17g]], inputs: [x, v], outputs: [f], x0: "
      "[0, 0]%s}%s}\n"
      "connections:\n"
      "  - {from: left.x, to: right.x%s}\n  - {from: left.v, to: right.v%s}\n"
      "  - {from: right.f, to: left.f%s}\n%s",
      step, solver, unit, -(1e7 + ck) / 10, -(2 + dk) / 10, ck / 10, dk / 10, ck, dk, -ck, -dk,
      solver, unit, order, order, order, last);
}

// ---- wiring

static void test_dual_mass_is_found(void** state) {
  (void)state;
  char text[2048];
  opened o;
  dual_mass mass;
  dual_mass_open(&mass, 1e5, 1e3);
  dual_mass_text(1e5, 1e3, 1e-3, ", solver: euler, micro_steps: 100", "", "", "", text,
                 sizeof text);
  open_text(&o, text);
  assert_int_equal(o.loops.n_members, 2);
  assert_int_equal(o.loops.p, 3);
  assert_int_equal(o.loops.s, 3);
  for (size_t i = 0; i < 9; i++) {
    check_near(o.loops.L[i], dual_mass_L[i], 0);
  }
  check_near(o.loops.units[0].solver.micro_step, 1e-5, 1e-18);
  assert_string_equal(o.loops.file.text, "hold, order 0");
  check_near(o.loops.direct, 0, 0);

  // the coupled system: eigenvalues of the two masses joined, from the matrix of the whole
  const double A[16] = {0, 1, 0, 0, -1.1e5, -100.1, 1e4,     100,
                        0, 0, 0, 1, 1e4,    100,    -1.01e6, -100.2};
  double re[4], im[4], growth = -1e9;
  check_ok(yoke__eigenvalues(4, A, re, im));
  for (size_t i = 0; i < 4; i++) {
    growth = fmax(growth, re[i]);
  }
  check_relative(o.loops.growth, growth, 1e-9);

  // the same radii as from the matrices by hand, printed in the specification (11.3) at 1 ms
  static const struct {
    yoke_linear_method method;
    double radius;
  } want[] = {{YOKE_LINEAR_HOLD, 0.96165562}, {YOKE_LINEAR_HOLD_1, 0.95227676},
              {YOKE_LINEAR_MPSM, 0.95589697}, {YOKE_LINEAR_MODIFIED, 0.95634965},
              {YOKE_LINEAR_RAMP, 0.95558395}, {YOKE_LINEAR_FILE, 0.96165562}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    yoke_stability_case c;
    double radius = 0;
    assert_true(yoke__linear_case(&o.loops, want[i].method, 1e-3, &c));
    check_ok(yoke__stability_radius(&c, &radius));
    check_near(radius, want[i].radius, 1e-6);
  }
  close_text(&o);
}

// MP-06 through the system: first unstable step [ms] on a grid of 0.05; 99: stable beyond 12 ms.
static void test_MP_06_limits(void** state) {
  (void)state;
  static const double pairs[5][2] = {{1e5, 1e3}, {2e5, 200}, {1e3, 1e3}, {1e4, 1e4}, {1e3, 1e5}};
  static const yoke_linear_method methods[8] = {
      YOKE_LINEAR_HOLD, YOKE_LINEAR_HOLD_1,   YOKE_LINEAR_NEPCE, YOKE_LINEAR_MPSM,
      YOKE_LINEAR_EDE,  YOKE_LINEAR_MODIFIED, YOKE_LINEAR_RAMP,  YOKE_LINEAR_MBCORR};
  static const double want[5][8] = {{2.30, 2.75, 2.75, 9.65, 99, 9.95, 9.95, 4.35},
                                    {0.60, 2.00, 2.00, 9.40, 9.95, 9.95, 9.20, 2.40},
                                    {2.80, 2.85, 2.85, 9.55, 99, 9.95, 9.80, 7.75},
                                    {0.50, 0.50, 0.50, 9.05, 99, 9.90, 8.75, 2.50},
                                    {0.10, 0.10, 0.10, 9.65, 99, 9.85, 1.25, 0.10}};
  for (size_t i = 0; i < 5; i++) {
    char text[2048];
    opened o;
    dual_mass_text(pairs[i][0], pairs[i][1], 1e-3, ", solver: euler, micro_steps: 100", "", "", "",
                   text, sizeof text);
    open_text(&o, text);
    for (size_t j = 0; j < 8; j++) {
      double first = 0;
      check_ok(
          yoke__linear_limit(&o.loops, methods[j], &(yoke_linear_grid){5e-5, 12e-3, 0}, &first));
      if (want[i][j] > 90) {
        check_between(first, 12e-3, (double)INFINITY);
      } else {
        // below the grid the search goes on to smaller steps, which the table does not
        check_near(fmax(first, 5e-5) * 1e3, want[i][j], 0.05 + 1e-9);
      }
    }
    close_text(&o);
  }
}

// Bisection finds the same limit to within its own width.
static void test_bisection_of_the_limit(void** state) {
  (void)state;
  char text[2048];
  opened o;
  dual_mass_text(1e5, 1e3, 1e-3, ", solver: euler, micro_steps: 100", "", "", "", text,
                 sizeof text);
  open_text(&o, text);
  double coarse, fine, before, after;
  const double width = 5e-4 / 64;  // what six halvings leave
  const yoke_linear_grid halved = {5e-4, 12e-3, width}, whole = {width, 12e-3, 0};
  check_ok(yoke__linear_limit(&o.loops, YOKE_LINEAR_HOLD, &halved, &fine));
  check_ok(yoke__linear_limit(&o.loops, YOKE_LINEAR_HOLD, &whole, &coarse));
  check_near(fine, coarse, 1e-12);
  yoke_stability_case c;
  assert_true(yoke__linear_case(&o.loops, YOKE_LINEAR_HOLD, fine, &c));
  check_ok(yoke__stability_radius(&c, &after));
  assert_true(yoke__linear_case(&o.loops, YOKE_LINEAR_HOLD, fine - width, &c));
  check_ok(yoke__stability_radius(&c, &before));
  check_between(after, 1, 2);
  check_between(before, 0, 1);
  close_text(&o);
}

// Two first-order lags a and b with a law between them: b gets 3 (2 y_a - y_b), a gets 0.5 y_b, gains of the connections
// included. By hand x_a' = -x_a + 0.5 x_b, x_b' = -2 x_b + 3 (2 x_a - x_b).
static void test_laws_are_folded_in(void** state) {
  (void)state;
  opened o;
  open_text(&o, "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n"
                "units:\n"
                "  a: {model: state_space, with: {A: [[-1]], B: [[1]]}}\n"
                "  b: {model: state_space, with: {A: [[-2]], B: [[1]]}}\n"
                "  idle: {model: state_space, with: {A: [[-7]], B: [[1]]}}\n"
                "laws:\n"
                "  sum: {law: sum, with: {signs: [1, -1]}}\n"
                "  gain: {law: gain, with: {k: 3}}\n"
                "connections:\n"
                "  - {from: a.y1, to: sum.u1, gain: 2}\n  - b.y1 -> sum.u2\n  - sum.y -> gain.u\n"
                "  - gain.y -> b.u1\n  - {from: b.y1, to: a.u1, gain: 0.5}\n  - a.y1 -> idle.u1\n");
  static const double L[4] = {0, 0.5, 6, -3};
  assert_int_equal(o.loops.n_members, 2);
  assert_false(o.loops.units[2].is_in_loop);
  for (size_t i = 0; i < 4; i++) {
    check_near(o.loops.L[i], L[i], 1e-15);
  }
  // eigenvalues of [[-1, 0.5], [6, -5]]
  check_near(o.loops.growth, -3 + sqrt(9 - 2), 1e-12);
  close_text(&o);
}

// Feedthrough both ways: gain around the loop is 0.6 * 2, and held signals cannot be stable at any step.
static void test_feedthrough_around_a_loop(void** state) {
  (void)state;
  opened o;
  open_text(&o, "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n"
                "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.6]]}}\n"
                "  b: {model: state_space, with: {A: [[-2]], B: [[1]], D: [[-2]]}}\n"
                "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n");
  check_near(o.loops.direct, sqrt(1.2), 1e-12);
  double first = 1;
  check_ok(yoke__linear_limit(&o.loops, YOKE_LINEAR_HOLD, &(yoke_linear_grid){0.01, 1, 0}, &first));
  check_near(first, 0, 0);
  close_text(&o);
}

// An undamped loop: exact units and exact models keep the energy, so mpsm is not called unstable for its round-off; held
// signals feed energy in at every step.
static void test_conservative_loop(void** state) {
  (void)state;
  opened o;
  open_text(&o, "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-3}\nunits:\n"
                "  a: {model: state_space, with: {A: [[0, 1], [-10, 0]], B: [[0], [1]]}}\n"
                "  b: {model: state_space, with: {A: [[0, 1], [-110, 0]], B: [[0], [100]], C: "
                "[[100, 0]], D: [[-100]]}}\n"
                "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n");
  yoke_stability_case c;
  double radius = 0;
  assert_true(yoke__linear_case(&o.loops, YOKE_LINEAR_MPSM, 1e-3, &c));
  check_between(c.margin, 1e-12, 1e-5);
  assert_true(yoke__linear_case(&o.loops, YOKE_LINEAR_HOLD, 1e-3, &c));
  check_ok(yoke__stability_radius(&c, &radius));
  check_between(radius, 1 + 1e-6, 1.1);
  close_text(&o);
}

// A unit without state under exact models: what its output misses is kept for ever, a radius of 1 that round-off must not
// call unstable. Held signals are judged as ever.
static void test_unit_without_state(void** state) {
  (void)state;
  static const yoke_linear_method methods[] = {YOKE_LINEAR_MPSM, YOKE_LINEAR_EDE};
  opened o;
  open_text(&o, "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.01}\nunits:\n"
                "  a: {model: state_space, with: {A: [[-1]], B: [[1]]}}\n"
                "  b: {model: gain, with: {k: -2}}\n"
                "connections: [a.y1 -> b.u, b.y -> a.u1]\n");
  const yoke_linear_grid grid = {0.04 / 240, 0.04, 0};
  assert_int_equal(o.loops.n_kept, 1);
  for (size_t i = 0; i < YOKE_COUNT(methods); i++) {
    yoke_stability_case c;
    double radius = 0, first = 0;
    assert_true(yoke__linear_case(&o.loops, methods[i], 0.01, &c));
    check_ok(yoke__stability_radius(&c, &radius));
    check_near(radius, 1, 1e-12);
    check_ok(yoke__linear_limit(&o.loops, methods[i], &grid, &first));
    assert_true(isinf(first));
  }
  yoke_stability_case c;
  assert_true(yoke__linear_case(&o.loops, YOKE_LINEAR_HOLD, 0.01, &c));
  check_near(c.margin, 0, 0);
  close_text(&o);
}

// ---- large systems

// A chain of n masses that send their position and velocity to their neighbours.
static void write_chain(size_t n, char* text, size_t size) {
  size_t at = (size_t)snprintf(
      text, size, "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 5e-3}\nunits:\n");
  for (size_t i = 0; i < n; i++) {
    const double k = 1000 * (3 + 0.3 * (double)(i % 5)), c = 12 + 0.1 * (double)(i % 7);
    at += (size_t)snprintf(
        text + at, size - at,
        "  m%zu: {model: state_space, with: {A: [[0, 1], [%.9g, %.9g]], B: [[0, 0, 0, 0], "
        "[1000, 5, 1000, 5]], C: [[1, 0], [0, 1]], inputs: [a, av, b, bv], outputs: [x, v]}, "
        "start: "
        "{a: 0, av: 0, b: 0, bv: 0}}\n",
        i, -k, -c);
  }
  at += (size_t)snprintf(text + at, size - at, "connections:\n");
  for (size_t i = 0; i + 1 < n; i++) {
    at += (size_t)snprintf(text + at, size - at,
                           "  - m%zu.x -> m%zu.a\n  - m%zu.v -> m%zu.av\n  - m%zu.x -> m%zu.b\n"
                           "  - m%zu.v -> m%zu.bv\n",
                           i, i + 1, i, i + 1, i + 1, i, i + 1, i);
  }
  assert_true(at < size);
}

// The core of a step matrix is a part of it with the same radius, for every method.
static void test_core_has_the_radius(void** state) {
  (void)state;
  static char text[1 << 14];
  opened o;
  write_chain(10, text, sizeof text);
  open_text(&o, text);
  for (int method = 0; method < YOKE_LINEAR_N_METHODS; method++) {
    yoke_stability_case c;
    yoke_stability* self = NULL;
    assert_true(yoke__linear_case(&o.loops, (yoke_linear_method)method, 5e-3, &c));
    check_ok(yoke__stability_open(&c, &self));
    const size_t n = yoke__stability_size(self);
    double *M = calloc(n * n, sizeof *M), whole = 0, core = 0;
    size_t n_core = 0;
    assert_non_null(M);
    yoke__stability_matrix(self, M);
    check_ok(yoke__spectral_radius(n, M, &whole));
    check_ok(yoke__stability_core(self, M, &n_core));
    check_ok(yoke__spectral_radius(n_core, M, &core));
    // held signals remember nothing but the states
    assert_true(method == YOKE_LINEAR_HOLD ? n_core == 20 : n_core < n);
    check_near(core, whole, 1e-9);
    free(M);
    yoke__stability_close(&self);
  }
  // two passes find what one fine pass finds
  double fine = 0, coarse = 0;
  check_ok(yoke__linear_limit(&o.loops, YOKE_LINEAR_HOLD_2,
                              &(yoke_linear_grid){0.02 / 240, 0.02, 0}, &fine));
  check_ok(yoke__linear_limit(&o.loops, YOKE_LINEAR_HOLD_2,
                              &(yoke_linear_grid){0.02 / 15, 0.02, 0.02 / 240}, &coarse));
  check_between(fine, 0.005, 0.019);
  check_near(coarse, fine, 1e-12);
  close_text(&o);
}

// ---- what is judged is what runs

// The outputs of n_steps exchanges, by the step of the analysis and by the master.
static void check_same_run(const char* text, int n_steps, double tolerance) {
  static const double start[4] = {0.1, 0, 0, 0};
  opened o;
  open_text(&o, text);
  yoke_stability_case c;
  yoke_stability* self = NULL;
  assert_true(yoke__linear_case(&o.loops, YOKE_LINEAR_FILE, o.loops.step, &c));
  check_ok(yoke__stability_open(&c, &self));
  double z[128], y[3], size[3] = {0};
  assert_true(yoke__stability_size(self) <= 128);
  check_ok(yoke__stability_start(self, start, z));
  for (int k = 0; k < n_steps; k++) {
    sim_steps(&o.s, 1);
    yoke__stability_step(self, z, y, NULL);
    for (size_t i = 0; i < 3; i++) {
      const double run = o.s.state->y[o.loops.outputs[i]];
      size[i] = fmax(size[i], fabs(run));
      if (!(fabs(y[i] - run) <= tolerance * size[i])) {
        fail_msg("step %d, output %zu: %.15g instead of %.15g\n%s", k + 1, i, y[i], run, text);
      }
    }
  }
  yoke__stability_close(&self);
  close_text(&o);
}

// Not with parabolas: a run has no third sample at its start and begins with a line.
static void test_matrix_is_the_run(void** state) {
  (void)state;
  static const char euler[] = ", solver: euler, micro_steps: 10";
  static const char nepce[] = "couplings: {loop: {method: nepce, members: [left, right]}}\n";
  static const char provided[] =
      "couplings: {loop: {method: mpsm, members: [left, right], jacobians: provided, guard: off, "
      "th_modified: 1e9, th_signal: 1e9%s}}\n";
  static const struct {
    const char *solver, *unit, *order, *last;
  } cases[] = {
      {"", "", "", ""},                           // held, exact
      {euler, "", "", ""},                        // held, Euler
      {"", "", ", order: 1", ""},                 // a line that nobody sees: one call
      {"", ", step: 1e-4", ", order: 1", ""},     // a line, held from call to call
      {euler, ", step: 1e-4", ", order: 1", ""},  // the same with Euler in each call
      {"", "", "", nepce},                        // means of the ends
      {"", ", step: 1e-4", "", nepce},            // means of ten calls
  };
  char text[4096], last[512];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    dual_mass_text(1e5, 1e3, 1e-3, cases[i].solver, cases[i].unit, cases[i].order, cases[i].last,
                   text, sizeof text);
    check_same_run(text, 60, 1e-9);
  }

  // models that the units provide, without and with step 1, which sees outputs between the exchanges if there are any
  static const char* const settings[] = {"", ", ede: on", ", ede: reset"};
  for (size_t i = 0; i < 2 * sizeof settings / sizeof *settings; i++) {
    snprintf(last, sizeof last, provided, settings[i / 2]);
    dual_mass_text(1e5, 1e3, 1e-3, "", i % 2 == 0 ? "" : ", step: 1e-4", "", last, text,
                   sizeof text);
    check_same_run(text, 60, 1e-7);
  }
}

// The same with means and feedthrough brought up to date. auto: its order has the samples it needs from the third exchange on,
// so that its growth is compared, not its start.
static void test_matrix_is_the_run_with_means(void** state) {
  (void)state;
  static const char euler[] = ", solver: euler, micro_steps: 10";
  static const char mean[] = {'i', 'n', 'p', 'u', 't', 's', ':', ' ', 'm', 'e', 'a', 'n', ' '};
  static const struct {
    const char *solver, *unit, *order;
  } cases[] = {
      {"", "", ", order: 0"},
      {"", "", ", order: 1"},
      {euler, "", ", order: 1"},
      {"", ", step: 1e-4", ", order: 1"},
      {euler, ", step: 1e-4", ", order: 1"},
  };
  char text[4096];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    dual_mass_text(1e5, 1e3, 1e-3, cases[i].solver, cases[i].unit, cases[i].order, "", text,
                   sizeof text);
    char* inputs = strstr(text, "inputs: start");
    assert_non_null(inputs);
    memcpy(inputs, mean, sizeof mean);
    check_same_run(text, 60, 1e-9);
  }
}

// The largest |y| of the first output over exchanges, in two windows of n.
static double measure_growth(sim* s, size_t y, int n_before, int n) {
  double most[2] = {0, 0};
  sim_steps(s, n_before);
  for (int k = 0; k < 2 * n; k++) {
    sim_steps(s, 1);
    most[k / n] = fmax(most[k / n], fabs(s->state->y[y]));
  }
  return pow(most[1] / most[0], 1.0 / n);
}

// Loop G1 of the prediction specification: decay below the limit that the radius shows, growth above, with that radius.
static void test_limit_of_means_is_that_of_runs(void** state) {
  (void)state;
  static const char loop[] =
      "yoke: 1\ntime: {stop: 1000, step: %.6g}\ninputs: %s\ncalls: 1\nunits:\n"
      "  a: {model: state_space, with: {A: [[0, 1], [-70, -1]], B: [[0, 0], [40, 0.6]], C: [[40, "
      "0.6]], D: [[-40, -0.6]], x0: [1, 0]}}\n"
      "  b: {model: state_space, with: {A: [[0, 1], [-5, -0.1]], B: [[0], [0.5]], x0: [0, 0.5]}}\n"
      "connections:\n  - {from: a.y1, to: b.u1%s}\n  - {from: b.y1, to: a.u1%s}\n"
      "  - {from: b.y2, to: a.u2%s}\n";
  // first unstable step of the loop, to 3 digits
  static const struct {
    const char *inputs, *order;
    yoke_linear_method row;
    double limit;
  } cases[] = {
      {"start", ", order: 0", YOKE_LINEAR_HOLD, 0.01365},
      {"mean", ", order: 0", YOKE_LINEAR_MEAN, 0.1032},
      {"mean", ", order: 2", YOKE_LINEAR_FILE, 0.176},
      // the fastest mode turns by a radian: parabolas foretell it worse than holding does, and held signals are unstable
      {"mean", "", YOKE_LINEAR_AUTO, 0.1055}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double first[2] = {0, 0};
    for (int above = 0; above < 2; above++) {
      // `auto` goes to and fro between both before it is lost
      const double more = cases[i].row == YOKE_LINEAR_AUTO ? 1.15 : 1.03;
      char text[2048];
      opened o;
      yoke_stability_case c;
      double radius = 0;
      snprintf(text, sizeof text, loop, cases[i].limit * (above ? more : 0.97), cases[i].inputs,
               cases[i].order, cases[i].order, cases[i].order);
      open_text(&o, text);
      assert_true(yoke__linear_case(&o.loops, YOKE_LINEAR_FILE, o.loops.step, &c));
      check_ok(yoke__stability_radius(&c, &radius));
      check_between(radius, above ? 1 : 0, above ? 2 : 1);
      // within 0.2 %: what two windows of 300 exchanges of a swing tell
      const double growth = measure_growth(&o.s, o.loops.outputs[1], 300, 300);
      if (cases[i].row == YOKE_LINEAR_AUTO) {
        check_between(growth, above ? 1 : 0, above ? 2 : 1);
      } else {
        check_near(growth, radius, 2e-3);
      }
      // the row of the method is that of the file
      assert_true(yoke__linear_case(&o.loops, cases[i].row, o.loops.step, &c));
      check_ok(yoke__stability_radius(&c, &first[above]));
      check_near(first[above], radius, 1e-9);
      close_text(&o);
    }
  }
}

// ---- what cannot be treated

static void refuse(const char* text, yoke_status want, const char* message) {
  sim s = sim_open("%s", text);
  yoke_messages messages = {0};
  yoke_linear_loops loops;
  char all[2048] = "";
  const yoke_status status = yoke__linear_open(s.system, s.state, &messages, &loops);
  yoke__messages_format(&messages, all, sizeof all);
  if (status != want || (message != NULL && strstr(all, message) == NULL)) {
    fail_msg("status %d, messages: %s", (int)status, all);
  }
  yoke__linear_free(&loops);
  yoke__messages_free(&messages);
  sim_close(&s);
}

static void test_refusals(void** state) {
  (void)state;
  // a unit without a linear model matters only in a loop
  refuse("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n"
         "  a: {model: state_space, with: {A: [[-1]], B: [[1]]}}\n"
         "  b: {model: delay1}\n"
         "  c: {model: sine}\n"
         "connections: [c.y -> a.u1, a.y1 -> b.u]\n",
         YOKE_OK, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dual_mass_is_found),
      cmocka_unit_test(test_MP_06_limits),
      cmocka_unit_test(test_bisection_of_the_limit),
      cmocka_unit_test(test_laws_are_folded_in),
      cmocka_unit_test(test_feedthrough_around_a_loop),
      cmocka_unit_test(test_unit_without_state),
      cmocka_unit_test(test_core_has_the_radius),
      cmocka_unit_test(test_conservative_loop),
      cmocka_unit_test(test_matrix_is_the_run),
      cmocka_unit_test(test_matrix_is_the_run_with_means),
      cmocka_unit_test(test_limit_of_means_is_that_of_runs),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
