// Mean inputs with feedthrough brought up to date (`inputs: mean`): the convergence table of the prediction specification, section
// 6 (PR-04), on its system G1; who takes part and who does not; the same bits after a saved state.
#define _POSIX_C_SOURCE 200809L  // mkdtemp
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/sim.h"
#include "yoke/yoke.h"

// Force-displacement with feedthrough: x' = A x of the undivided system, states of a, then of b.
static const double whole[16] = {0,   1,   0,   0,    //
                                 -70, -1,  40,  0.6,  //
                                 0,   0,   0,   1,    //
                                 20,  0.3, -25, -0.4};
static const double start[4] = {1, 0, 0, 0.5};

static sim open_g1(const char* inputs, const char* step, const char* call, int order,
                   const char* rest) {
  return sim_open(
      "yoke: 1\ntime: {stop: 4, step: %s}\ninputs: %s\nunits:\n"
      "  a: {model: state_space, step: %s, with: {A: [[0, 1], [-70, -1]], B: [[0, 0], [40, 0.6]],\n"
      "      C: [[40, 0.6]], D: [[-40, -0.6]], x0: [1, 0]}}\n"
      "  b: {model: state_space, step: %s, with: {A: [[0, 1], [-5, -0.1]], B: [[0], [0.5]],\n"
      "      C: [[1, 0], [0, 1]], x0: [0, 0.5]}}\n"
      "connections:\n"
      "  - {from: a.y1, to: b.u1, order: %d}\n  - {from: b.y1, to: a.u1, order: %d}\n"
      "  - {from: b.y2, to: a.u2, order: %d}\n%s",
      step, inputs, call, call, order, order, order, rest);
}

// The state of the undivided system at time t, of either sign.
static void exact(double t, double x[4]) {
  double A[16], E[16];
  for (int i = 0; i < 16; i++) {
    A[i] = whole[i] * t;
  }
  check_ok(yoke__expm(4, A, E));
  yoke__mat_vec(4, 4, E, start, x);
}

static double exact_output(const sim* s, size_t y, const double x[4]) {
  return y == sim_index(s, "a.y1")   ? 40 * (x[0] - x[2]) + 0.6 * (x[1] - x[3])
         : y == sim_index(s, "b.y1") ? x[2]
                                     : x[3];
}

// Samples before the start, as the undivided system had them: the order of a method shows from the first exchange on.
static void give_past(sim* s, double H) {
  for (size_t g = 0; g < s->system->n_groups; g++) {
    const yoke_group* group = &s->system->groups[g];
    void* self = s->state->group_memory + group->self;
    group->ops->reset(self, YOKE_RESET_MODE_SWITCH, NULL);
    for (int k = -3; k <= 0; k++) {
      double x[4], sample[4];
      exact(k * H, x);
      for (size_t i = 0; i < group->setup.n_signals; i++) {
        sample[i] = exact_output(s, group->taps[i].from, x);
      }
      group->ops->observe(self, &(yoke_coupling_moment){.k = k + 3, .h_last = H, .h_next = H},
                          sample, NULL);
    }
  }
}

static double read_state(const sim* s, size_t unit, const char* name) {
  const yoke_unit* u = &s->system->units[unit].unit;
  double value = (double)NAN;
  for (size_t v = 0; v < u->info->n_variables; v++) {
    if (strcmp(u->info->variables[v].name, name) == 0) {
      check_ok(yoke__unit_get(u, v, &value, sizeof value));
    }
  }
  return value;
}

typedef enum kind { START, MEAN_STALE, MEAN, NEPCE, RAMP, N_KINDS } kind;
static const char* const kind_couplings[N_KINDS] = {
    [START] = "",
    [MEAN_STALE] = "",
    [MEAN] = "",
    [NEPCE] = "couplings: {loop: {method: nepce, members: [a, b]}}\n",
    [RAMP] = "couplings: {loop: {method: interpolate, members: [a, b]}}\n"};

// Error of all states over all exchange points, relative to the states.
static double error_of(kind what, int order, double H, int n_calls) {
  char step[32], call[32];
  snprintf(step, sizeof step, "%.12g", H);
  snprintf(call, sizeof call, "%.12g", H / n_calls);
  sim s = open_g1(what == START ? "start" : "mean", step, call, order, kind_couplings[what]);
  if (what == MEAN_STALE) {
    memset(s.state->D, 0, s.system->n_through_terms * sizeof(double));
  }
  give_past(&s, H);
  double wrong = 0, all = 0;
  const int n = (int)lround(4 / H);
  for (int k = 1; k <= n; k++) {
    double x[4];
    sim_steps(&s, 1);
    exact(k * H, x);
    const double got[4] = {read_state(&s, 0, "x1"), read_state(&s, 0, "x2"),
                           read_state(&s, 1, "x1"), read_state(&s, 1, "x2")};
    for (int i = 0; i < 4; i++) {
      wrong += (got[i] - x[i]) * (got[i] - x[i]);
      all += x[i] * x[i];
    }
  }
  sim_close(&s);
  return sqrt(wrong / all);
}

typedef struct row {
  int n_calls, order;
  kind what;
  double want[5];
} row;

static void test_PR_04_convergence(void** state) {
  (void)state;
  static const row rows[] = {
      {10, 0, START, {1.97e+00, 6.76e-01, 2.74e-01, 1.23e-01, 5.87e-02}},
      {10, 0, MEAN, {1.08e+00, 3.93e-01, 1.70e-01, 7.96e-02, 3.86e-02}},
      {10, 1, START, {8.04e-01, 1.38e-01, 3.73e-02, 1.33e-02, 5.84e-03}},
      {10, 1, MEAN_STALE, {7.79e-01, 1.30e-01, 3.11e-02, 8.11e-03, 2.39e-03}},
      {10, 1, MEAN, {4.25e-01, 8.77e-02, 2.11e-02, 5.22e-03, 1.30e-03}},
      {10, 2, START, {2.39e-01, 1.99e-02, 1.82e-02, 1.07e-02, 5.54e-03}},
      {10, 2, MEAN_STALE, {2.95e-01, 3.70e-02, 5.07e-03, 2.52e-03, 1.38e-03}},
      {10, 2, MEAN, {2.05e-01, 2.90e-02, 3.73e-03, 4.69e-04, 5.87e-05}},
      {10, 3, START, {1.17e-01, 4.11e-02, 2.26e-02, 1.13e-02, 5.62e-03}},
      {10, 3, MEAN_STALE, {1.88e-01, 1.45e-02, 5.66e-03, 2.86e-03, 1.43e-03}},
      {10, 3, MEAN, {1.45e-01, 9.90e-03, 6.36e-04, 4.72e-05, 4.94e-06}},
      {1, 1, START, {1.97e+00, 6.76e-01, 2.74e-01, 1.23e-01, 5.87e-02}},
      {1, 1, MEAN_STALE, {7.43e-01, 1.86e-01, 6.97e-02, 3.10e-02, 1.48e-02}},
      {1, 1, MEAN, {3.26e-01, 6.99e-02, 1.69e-02, 4.18e-03, 1.04e-03}},
      {1, 2, START, {1.97e+00, 6.76e-01, 2.74e-01, 1.23e-01, 5.87e-02}},
      {1, 2, MEAN_STALE, {3.15e-01, 1.24e-01, 6.07e-02, 2.97e-02, 1.46e-02}},
      {1, 2, MEAN, {1.69e-01, 2.97e-02, 5.52e-03, 1.19e-03, 2.81e-04}},
  };
  static const double steps[5] = {0.08, 0.04, 0.02, 0.01, 0.005};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const row* r = &rows[i];
    double got[5];
    for (int k = 0; k < 5; k++) {
      got[k] = error_of(r->what, r->order, steps[k], r->n_calls);
    }
    const double slope = log2(got[3] / got[4]);
    printf("calls %2d order %d kind %d: %.3g %.3g %.3g %.3g %.3g, slope %.2f\n", r->n_calls,
           r->order, (int)r->what, got[0], got[1], got[2], got[3], got[4], slope);
    for (int k = 0; k < 5; k++) {
      check_relative(got[k], r->want[k], 0.02);
    }
    if (r->what == START) {
      assert_true(slope <= 1.2);
    } else if (r->what == MEAN && r->order > 0) {
      assert_true(slope >= (r->order >= 2 && r->n_calls == 10 ? 2.9 : 1.9));
    }
  }
}

// nepce and interpolate with samples between exchanges, which are brought up to date as those at exchanges are: second order at
// least. Without that the slope of nepce with order 1 is 0.88, and its last error 17 times as large.
static void test_between_exchanges(void** state) {
  (void)state;
  static const struct {
    int n_calls, order;
    kind what;
  } rows[] = {{1, 0, NEPCE}, {10, 0, NEPCE}, {10, 1, NEPCE}, {10, 1, RAMP}};
  static const double steps[5] = {0.08, 0.04, 0.02, 0.01, 0.005};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double got[5];
    for (int k = 0; k < 5; k++) {
      got[k] = error_of(rows[i].what, rows[i].order, steps[k], rows[i].n_calls);
    }
    const double slope = log2(got[3] / got[4]);
    printf("calls %2d order %d kind %d: %.3g %.3g %.3g %.3g %.3g, slope %.2f\n", rows[i].n_calls,
           rows[i].order, (int)rows[i].what, got[0], got[1], got[2], got[3], got[4], slope);
    check_between(slope, 1.9, 3.1);
  }
}

// Both units pass their input on at once: x1' = -x1 + u1, y1 = x1 + 0.5 u1, x2' = -2 x2 + u2, y2 = x2 + 0.4 u2, u1 = -y2, u2 = y1.
static double closed_error(double H) {
  char step[32];
  snprintf(step, sizeof step, "%.12g", H);
  sim s = sim_open("yoke: 1\ntime: {stop: 1, step: %s}\ninputs: mean\nunits:\n"
                   "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}}\n"
                   "  b: {model: state_space, with: {A: [[-2]], B: [[1]], D: [[0.4]], x0: [0.3]}}\n"
                   "connections:\n  - {from: a.y1, to: b.u1, order: 1}\n"
                   "  - {from: b.y1, to: a.u1, order: 1, gain: -1}\n",
                   step);
  assert_int_equal(s.system->n_through_loops, 1);
  assert_int_equal(s.system->n_throughs, 2);
  check_near(s.state->D[0], 0.5, 1e-12);
  check_near(s.state->D[1], 0.4, 1e-12);
  sim_run(&s);
  // u1 = -(x2 + 0.4 u2), u2 = x1 + 0.5 u1: u1 = -(x2 + 0.4 x1) / 1.2, u2 = (x1 - 0.5 x2) / 1.2
  const double A[4] = {-1 - 0.4 / 1.2, -1 / 1.2, 1 / 1.2, -2 - 0.5 / 1.2};
  double E[4];
  check_ok(yoke__expm(2, A, E));
  const double x1 = E[0] * 1 + E[1] * 0.3, x2 = E[2] * 1 + E[3] * 0.3;
  const double error = hypot(read_state(&s, 0, "x1") - x1, read_state(&s, 1, "x1") - x2);
  sim_close(&s);
  return error;
}

static void test_closed_chain(void** state) {
  (void)state;
  double coarse = closed_error(0.02);
  for (int i = 1; i <= 3; i++) {
    const double fine = closed_error(0.02 / (1 << i));
    check_between(log2(coarse / fine), 1.9, 2.1);
    coarse = fine;
  }
}

// Two that only pass on what they get: no solution, so outputs are sent as they are, and nothing blows up.
static void test_chain_without_solution(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ntime: {stop: 1, step: 0.1}\ninputs: mean\nunits:\n"
                   "  a: {model: state_space, with: {A: [[-1]], B: [[1]], C: [[0]], D: [[1]]}}\n"
                   "  b: {model: state_space, with: {A: [[-1]], B: [[1]], C: [[0]], D: [[1]]}}\n"
                   "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n");
  assert_true(s.state->is_closed_singular[0]);
  sim_run(&s);
  check_near(sim_read(&s, "a.y1"), 0, 0);
  sim_close(&s);
}

// The same bits with two threads, and after going back to a saved state.
static void test_same_bits(void** state) {
  (void)state;
  static const char text[] =
      "yoke: 1\ntime: {stop: 1, step: 0.01}\ninputs: mean\nthreads: %d\nunits:\n"
      "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100, c: 0.2}, start: {v: 1}}\n"
      "  right: {model: oscillator.mass, with: {m: 1, k: 100}, step: 0.002}\n"
      "connections:\n  - {from: right.x, to: left.x_other, order: 2}\n"
      "  - {from: right.v, to: left.v_other, order: 2}\n  - {from: left.f, to: right.f, order: "
      "1}\n";
  double want[2] = {0};
  for (int n_threads = 1; n_threads <= 2; n_threads++) {
    sim s = sim_open(text, n_threads);
    assert_int_equal(s.system->n_throughs, 1);
    sim_run(&s);
    const double got[2] = {sim_read(&s, "left.f"), sim_read(&s, "right.x")};
    if (n_threads == 1) {
      memcpy(want, got, sizeof want);
    }
    assert_memory_equal(got, want, sizeof want);
    sim_close(&s);
  }
  // the same through the public interface
  char file[1024];
  const int n = snprintf(file, sizeof file, text, 1);
  yoke_system* system = NULL;
  yoke_simulation* simulation = NULL;
  check_ok(yoke_system_parse(file, (size_t)n, "text", NULL, &system));
  check_ok(yoke_simulation_create(system, NULL, &simulation));
  check_ok(yoke_simulation_run_to(simulation, 0.37));
  const size_t size = yoke_simulation_image_size(simulation);
  void* image = calloc(1, size);
  assert_non_null(image);
  check_ok(yoke_simulation_save(simulation, image, size));
  for (int turn = 0; turn < 2; turn++) {
    yoke_handle handle;
    double again[2];
    check_ok(yoke_simulation_run_to(simulation, 1));
    check_ok(yoke_simulation_find(simulation, "left.f", &handle));
    check_ok(yoke_simulation_read(simulation, handle, &again[0]));
    check_ok(yoke_simulation_find(simulation, "right.x", &handle));
    check_ok(yoke_simulation_read(simulation, handle, &again[1]));
    assert_memory_equal(again, want, sizeof want);
    check_ok(yoke_simulation_restore(simulation, image, size));
  }
  free(image);
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
}

// Every output after every step with 1, 2 and 4 threads: `auto` with feedthrough one way and in a closed chain, nepce and
// interpolate with samples between exchanges.
static void test_same_bits_for_all_threads(void** state) {
  (void)state;
  static const char* const couplings[] = {
      "", "couplings: {all: {method: nepce, order: 1, members: [a, b, c, d]}}\n",
      "couplings: {all: {method: interpolate, members: [a, b, c, d]}}\n"};
  enum { N_STEPS = 200, N_MOST = 8 };
  static double want[N_STEPS][N_MOST];
  for (size_t i = 0; i < sizeof couplings / sizeof couplings[0]; i++) {
    for (int n_threads = 1; n_threads <= 4; n_threads *= 2) {
      const char* step = i == 0 ? "" : "step: 0.002, ";
      sim s = sim_open(
          "yoke: 1\ntime: {stop: 2, step: 0.01}\nthreads: %d\nunits:\n"
          "  a: {model: state_space, %swith: {A: [[0, 1], [-70, -1]], B: [[0, 0], [40, 0.6]],\n"
          "      C: [[40, 0.6]], D: [[-40, -0.6]], x0: [1, 0]}}\n"
          "  b: {model: state_space, %swith: {A: [[0, 1], [-5, -0.1]], B: [[0], [0.5]], x0: [0, "
          "0.5]}}\n"
          "  c: {model: state_space, %swith: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}}\n"
          "  d: {model: state_space, %swith: {A: [[-2]], B: [[1]], D: [[0.4]], x0: [0.3]}}\n"
          "connections: [a.y1 -> b.u1, b.y1 -> a.u1, b.y2 -> a.u2, c.y1 -> d.u1,\n"
          "  {from: d.y1, to: c.u1, gain: -1}]\n%s",
          n_threads, step, step, step, step, couplings[i]);
      assert_int_equal(s.system->n_threads, n_threads);
      assert_int_equal(s.system->n_throughs, 3);
      assert_true(s.system->n_y <= N_MOST);
      for (int k = 0; k < N_STEPS; k++) {
        sim_steps(&s, 1);
        if (n_threads == 1) {
          memcpy(want[k], s.state->y, s.system->n_y * sizeof(double));
        }
        assert_memory_equal(s.state->y, want[k], s.system->n_y * sizeof(double));
      }
      // something moved
      assert_true(want[N_STEPS - 1][0] != want[N_STEPS - 2][0]);
      sim_close(&s);
    }
  }
}

// Who takes part: not sampled units, not those behind laws; elsewhere the key has no effect and says so.
static void test_who_takes_part(void** state) {
  (void)state;
  sim s =
      sim_open("yoke: 1\ntime: {stop: 1, step: 0.1}\ninputs: mean\ncalls: 1\nunits:\n"
               "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[1]]}}\n"
               "  late: {model: channel}\n  m: {model: oscillator.mass}\n"
               "laws: {twice: {law: gain, with: {k: 2}}}\n"
               "connections: [m.x -> twice.u, twice.y -> a.u1, a.y1 -> late.u, late.y -> m.f]\n");
  assert_true(s.system->units[0].takes_means);
  assert_false(s.system->units[1].takes_means);
  assert_int_equal(s.system->n_throughs, 3);  // a.y1 hears a law, which hears the input of late
  sim_close(&s);
}

// D where it is a number to count on: near 0 as elsewhere, by a circuit as at once and not in its steady state, and not of a
// spring that bends at its start value.
static void test_D(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ntime: {stop: 1, step: 0.1}\ninputs: mean\nunits:\n"
                   "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[-40]]}}\n"
                   "  b: {model: state_space, with: {A: [[-1]], B: [[1]], x0: [1e-15]}}\n"
                   "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n");
  check_relative(s.state->D[0], -40, 1e-12);
  sim_close(&s);
  s = sim_open(
      "yoke: 1\ntime: {stop: 1, step: 0.1}\ninputs: mean\nunits:\n"
      "  spring: {model: spring_damper.nonlinear, with: {k: 100, c: 1}, start: {x2: 0, v2: 0}}\n"
      "  m: {model: oscillator.mass}\n"
      "connections: [m.x -> spring.x1, m.v -> spring.v1, spring.f -> m.f]\n");
  assert_int_equal(s.system->n_through_terms, 2);
  check_near(s.state->D[0], 0, 0);               // a square root of the stretch
  assert_false(s.system->units[1].takes_means);  // semi-implicit Euler
  sim_close(&s);
}

// Closed chains whose connections have different intervals are left alone, and that is said.
static void test_closed_chain_of_several_rates(void** state) {
  (void)state;
  static const char text[] =
      "yoke: 1\ntime: {stop: 1, step: 0.1}\ninputs: mean\nunits:\n"
      "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}}\n"
      "  b: {model: state_space, with: {A: [[-2]], B: [[1]], D: [[0.4]]}}\n"
      "connections: [a.y1 -> b.u1, {from: b.y1, to: a.u1, exchange: 0.5}]\n";
  sim s;
  char messages[4096];
  check_ok(sim_try(NULL, text, &s, messages, sizeof messages));
  check_contains(messages, "2 outputs in a closed chain of feedthrough are sent as the last step "
                           "returned them: their connections have different exchange intervals");
  assert_false(s.system->through_loops[0].is_solved);
  sim_close(&s);
}

// ---- what is known of feedthrough

static void check_known(const sim* s, size_t link, yoke_through_kind want, const char* how) {
  const yoke_through through = yoke__master_feedthrough(s->system, s->state, link);
  assert_string_equal(yoke__through_kind_words[through.kind], yoke__through_kind_words[want]);
  assert_string_equal(yoke__through_how_words[through.how], how);
}

#define PAIR                                                                                       \
  "yoke: 1\ntime: {stop: 1, step: 0.1}\ninputs: mean\nunits:\n"                                    \
  "  a: {model: state_space, %swith: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}}\n"                \
  "  b: {model: state_space, with: {A: [[-2]], B: [[1]]}}\n"                                       \
  "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n"

// The file goes before everything: values, names of inputs, none; outputs that it does not name stay as they are.
static void test_file_says_feedthrough(void** state) {
  (void)state;
  sim s = sim_open(PAIR, "");
  check_known(&s, 0, YOKE_THROUGH_KNOWN, "derivatives at the start");
  check_known(&s, 1, YOKE_THROUGH_ZERO, "declared by the unit");
  check_near(s.state->D[0], 0.5, 0);
  sim_close(&s);
  s = sim_open(PAIR, "feedthrough: {y1: {u1: 0.25}}, ");
  check_known(&s, 0, YOKE_THROUGH_KNOWN, "declared by the file");
  check_near(s.state->D[0], 0.25, 0);
  sim_close(&s);
  s = sim_open(PAIR, "feedthrough: {y1: [u1]}, ");
  check_known(&s, 0, YOKE_THROUGH_KNOWN, "derivatives at the start");
  check_near(s.state->D[0], 0.5, 0);
  sim_close(&s);
  static const char* const nothing[] = {"feedthrough: none, ", "feedthrough: {y1: none}, ",
                                        "feedthrough: {y1: []}, ", "feedthrough: {y1: {u1: 0}}, "};
  for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
    s = sim_open(PAIR, nothing[i]);
    check_known(&s, 0, YOKE_THROUGH_ZERO, "declared by the file");
    assert_int_equal(s.system->n_throughs, 0);
    assert_int_equal(s.system->units[0].unit.info->n_feedthrough, 0);
    sim_close(&s);
  }
  // single elements of arrays
  s = sim_open("yoke: 1\ntime: {stop: 1, step: 0.1}\ninputs: mean\nunits:\n"
               "  a: {model: state_space, feedthrough: {y2: {u1: 3}}, with: {A: [[-1]], B: [[1, "
               "0]], C: [[1], [1]], D: [[0.5, 0.25], [0, 0]]}}\n"
               "  b: {model: state_space, with: {A: [[-2]], B: [[1, 1]], C: [[1], [2]]}}\n"
               "connections: [a.y1 -> b.u1, a.y2 -> b.u2, b.y1 -> a.u1, b.y2 -> a.u2]\n");
  check_known(&s, 0, YOKE_THROUGH_KNOWN, "derivatives at the start");
  check_known(&s, 1, YOKE_THROUGH_KNOWN, "declared by the file");
  assert_int_equal(s.system->n_through_terms, 3);
  sim_close(&s);
}

static void test_file_is_wrong(void** state) {
  (void)state;
  static const struct {
    const char *said, *want;
  } cases[] = {
      {"{y1: {u9: 1}}", "test.yaml:5:46: error: feedthrough: 'a' (state_space) has no input 'u9'"},
      {"{y9: none}", "test.yaml:5:41: error: feedthrough: 'a' (state_space) has no output 'y9'"},
      {"{u1: {u1: 1}}", "5:41: error: feedthrough: 'a.u1' is an input, not a real output"},
      {"{y1: [y1]}", "5:46: error: feedthrough: 'a.y1' is an output, not a real input"},
      {"{y1: [u1, u1]}", "5:50: error: feedthrough: the input 'u1' is named twice"},
      {"{y1: {u1: stiff}}", "5:50: error: 'u1': expected a number, found the text 'stiff'"},
      {"{y1: {u1: .inf}}", "5:50: error: 'u1': expected a number"},
      {"{y1: 3}", "5:45: error: 'feedthrough' of 'y1': expected none, a list of inputs or a map of "
                  "inputs and numbers, found 3"},
      {"all", "5:40: error: 'feedthrough': expected none or a map of outputs"},
      {"{x1: none}", "5:41: error: feedthrough: 'a.x1' is neither an input nor an output"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[1024], messages[4096];
    snprintf(
        text, sizeof text,
        "yoke: 1\ntime: {stop: 1, step: 0.1}\ninputs: mean\nunits:\n"
        "  a: {model: state_space, feedthrough: %s, with: {A: [[-1]], B: [[1]]}, start: {u1: 0}}\n"
        "connections: []\n",
        cases[i].said);
    sim s;
    assert_true(sim_try(NULL, text, &s, messages, sizeof messages) < 0);
    check_contains(messages, cases[i].want);
  }
  char messages[4096];
  sim s;
  assert_true(sim_try(NULL,
                      "yoke: 1\ntime: {stop: 1, step: 0.1}\nunits: {b: {model: oscillator.mass}}\n"
                      "laws: {g: {law: gain, feedthrough: none}}\nconnections: []\n",
                      &s, messages, sizeof messages) < 0);
  check_contains(messages, "4:23: error: a law has no 'feedthrough'");
}

// After every exchange what b gets is what a gives for the inputs that a has got just now: u_b = C x_a + D u_a.
static void check_up_to_date(sim* s, double D, double gain, double tolerance) {
  const yoke_system_unit* a = &s->system->units[0];
  const yoke_system_unit* b = &s->system->units[1];
  double most = 0;
  for (int k = 0; k < 20; k++) {
    sim_steps(s, 1);
    const double x = read_state(s, 0, "x1");
    most = fmax(most, fabs(s->state->u[b->u] - gain * (x + D * s->state->u[a->u])));
    assert_true(fabs(s->state->u[a->u]) > 1e-6);
  }
  check_near(most, 0, tolerance);
  sim_close(s);
}

#define LOOP(laws, connections)                                                                    \
  "yoke: 1\ntime: {stop: 2, step: 0.1}\ninputs: mean\nunits:\n"                                    \
  "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}}\n"                  \
  "  b: {model: state_space, with: {A: [[-2]], B: [[1]], x0: [0.3]}}\n" laws                       \
  "\nconnections: [" connections "]\n"

static void test_inputs_of_every_kind_are_seen(void** state) {
  (void)state;
  sim s = sim_open(LOOP("", "a.y1 -> b.u1, b.y1 -> a.u1"));
  check_up_to_date(&s, 0.5, 1, 1e-14);
  // through a linear law, and one that only its refresh shows to be linear
  s = sim_open(
      LOOP("laws: {g: {law: gain, with: {k: -3}}}", "a.y1 -> b.u1, b.y1 -> g.u, g.y -> a.u1"));
  assert_int_equal(s.system->n_throughs, 2);
  check_up_to_date(&s, 0.5, 1, 1e-14);
  s = sim_open(
      LOOP("laws: {k: {law: spring_damper, with: {k: 2, c: 0}, start: {v1: 0, x2: 0, v2: 0}}}",
           "a.y1 -> b.u1, b.y1 -> k.x1, k.f -> a.u1"));
  check_known(&s, 0, YOKE_THROUGH_KNOWN, "derivatives at the start");
  check_up_to_date(&s, 0.5, 1, 1e-14);
  // two laws one behind the other, with gains
  s = sim_open(LOOP("laws: {g: {law: gain, with: {k: -3}}, h: {law: gain, with: {k: 0.5}}}",
                    "a.y1 -> b.u1, {from: b.y1, to: g.u, gain: 2}, g.y -> h.u, "
                    "{from: h.y, to: a.u1, gain: 0.5, offset: 1}"));
  assert_int_equal(s.system->n_throughs, 3);
  check_up_to_date(&s, 0.5, 1, 1e-14);
  // a closed chain through a law: a.y1 -> g -> a.u1
  s = sim_open(
      LOOP("laws: {g: {law: gain, with: {k: -1.5}}}", "a.y1 -> b.u1, a.y1 -> g.u, g.y -> a.u1"));
  assert_int_equal(s.system->n_through_loops, 1);
  check_up_to_date(&s, 0.5, 1, 1e-14);
  // a connection with a delay
  s = sim_open(LOOP("", "a.y1 -> b.u1, {from: b.y1, to: a.u1, delay: 0.3, gain: -1}"));
  check_up_to_date(&s, 0.5, 1, 1e-14);
  // a fresh unit with feedthrough in between
  s = sim_open("yoke: 1\ntime: {stop: 2, step: 0.1}\ninputs: mean\nunits:\n"
               "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}}\n"
               "  b: {model: state_space, with: {A: [[-2]], B: [[1]], x0: [0.3]}}\n"
               "  f: {model: state_space, exchange: fresh, with: {A: [[-3]], B: [[1]], D: [[2]]}}\n"
               "connections: [a.y1 -> b.u1, b.y1 -> f.u1, f.y1 -> a.u1]\n");
  check_known(&s, 2, YOKE_THROUGH_KNOWN, "evaluated at every exchange");
  check_up_to_date(&s, 0.5, 1, 1e-14);
}

// Of a law that is not linear, or follows something else than real inputs, nobody knows in advance what it will give: the output is sent as it is, which is
// said, and it is not made worse.
static void test_laws_that_hide(void** state) {
  (void)state;
  static const char* const laws[] = {
      LOOP("laws: {p: {law: spring_damper.nonlinear, with: {k: 2}, start: {v1: 0, x2: -1, v2: 0}}}",
           "a.y1 -> b.u1, b.y1 -> p.x1, p.f -> a.u1"),
      LOOP("laws: {p: {law: constant, with: {value: 1}}}", "a.y1 -> b.u1, p.y -> a.u1"),
  };
  for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) {
    sim s;
    char messages[4096];
    check_ok(sim_try(NULL, laws[i], &s, messages, sizeof messages));
    check_contains(messages, "note: the feedthrough of 'a.y1' is unknown: an input comes from a "
                             "law whose feedthrough is unknown");
    check_known(&s, 0, YOKE_THROUGH_UNKNOWN,
                "an input comes from a law whose feedthrough is unknown");
    sim_steps(&s, 5);
    const yoke_system_unit* b = &s.system->units[1];
    check_near(s.state->u[b->u], sim_read(&s, "a.y1"), 0);
    sim_close(&s);
  }
}

// A chain without a solution is named, and does not hinder another one.
static void test_singular_chain_is_said(void** state) {
  (void)state;
  static const char text[] =
      "yoke: 1\ntime: {stop: 2, step: 0.1}\ninputs: mean\nunits:\n"
      "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}}\n"
      "  b: {model: state_space, with: {A: [[-2]], B: [[1]], D: [[0.4]], x0: [1]}}\n"
      "  c: {model: state_space, with: {A: [[-1]], B: [[1]], C: [[0]], D: [[1]]}}\n"
      "  d: {model: state_space, with: {A: [[-1]], B: [[1]], C: [[0]], D: [[1]]}}\n"
      "connections: [a.y1 -> b.u1, {from: b.y1, to: a.u1, gain: -1}, c.y1 -> d.u1, d.y1 -> "
      "c.u1]\n";
  sim s;
  char messages[4096];
  check_ok(sim_try(NULL, text, &s, messages, sizeof messages));
  check_contains(messages, "warning: 'inputs: mean': the closed chain of feedthrough through ");
  check_contains(messages,
                 "has no unique solution (I - L D is singular); these outputs are sent as "
                 "the last step returned them");
  assert_int_equal(s.system->n_through_loops, 2);
  assert_true(s.state->is_closed_singular[0] != s.state->is_closed_singular[1]);
  const size_t good = s.state->is_closed_singular[0] ? 1 : 0;
  assert_int_equal(s.system->throughs[s.system->through_loops[good].first].unit < 2, true);
  check_up_to_date(&s, 0.5, 1, 1e-14);
}

// ---- FMUs

// A copy of the FMU `settled` whose description is changed: what stands there, and what is to stand there instead.
static void make_settled(const char* folder, const char* const changes[][2], size_t n) {
  const char* fmus = getenv("YOKE_FMUS");
  char command[2048];
  assert_non_null(fmus);
  snprintf(command, sizeof command, "rm -rf '%s' && cp -r '%s/settled2' '%s'", folder, fmus,
           folder);
  assert_int_equal(system(command), 0);
  for (size_t i = 0; i < n; i++) {
    snprintf(command, sizeof command, "sed -i 's/%s/%s/' '%s/modelDescription.xml'", changes[i][0],
             changes[i][1], folder);
    assert_int_equal(system(command), 0);
  }
}

static sim open_settled(const char* folder, const char* more, const char* with) {
  return sim_open("yoke: 1\ntime: {stop: 1, step: 0.1}\ninputs: mean\nunits:\n"
                  "  a: {fmu: %s, %swith: {%s}}\n"
                  "  b: {model: state_space, with: {A: [[-2]], B: [[1]], x0: [0.3]}}\n"
                  "connections: [a.y -> b.u1, b.y1 -> a.u]\n",
                  folder, more, with);
}

static void test_FMU_feedthrough(void** state) {
  (void)state;
  static const char* const no_derivatives[][2] = {{"providesDirectionalDerivative=\"true\"", ""}};
  static const char* const no_dependencies[][2] = {{"providesDirectionalDerivative=\"true\"", ""},
                                                   {"dependencies=\"1\"", ""}};
  static const char* const silent[][2] = {{"dependencies=\"1\"", ""}};
  char folder[] = "/tmp/yoke-test-through-XXXXXX";
  char path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/f", folder);

  // 1.5 is how it settles, 0.5 how it follows at once
  make_settled(path, NULL, 0);
  sim s = open_settled(path, "", "");
  check_known(&s, 0, YOKE_THROUGH_KNOWN, "derivatives at the start");
  check_near(s.state->D[0], 0.5, 0);
  sim_close(&s);
  s = open_settled(path, "isolate: process, ", "");
  check_near(s.state->D[0], 0.5, 0);
  sim_close(&s);
  // derivatives that are no numbers
  s = open_settled(path, "", "d: 0");
  check_known(&s, 0, YOKE_THROUGH_UNKNOWN, "the output bends or jumps at its start value");
  check_near(s.state->D[0], 0, 0);
  sim_close(&s);

  // derivatives count without declared dependencies, too
  make_settled(path, silent, 1);
  s = open_settled(path, "", "");
  check_known(&s, 0, YOKE_THROUGH_KNOWN, "derivatives at the start");
  check_near(s.state->D[0], 0.5, 0);
  sim_close(&s);

  // the probe is all there is
  make_settled(path, no_derivatives, 1);
  s = open_settled(path, "", "");
  check_known(&s, 0, YOKE_THROUGH_KNOWN, "measured at the start");
  check_near(s.state->D[0], 1.5, 1e-12);
  sim_close(&s);
  s = open_settled(path, "", "lazy: 1");
  check_known(&s, 0, YOKE_THROUGH_UNKNOWN, "the output does not react while it is initialised");
  sim_close(&s);
  s = open_settled(path, "feedthrough: {y: {u: 0.5}}, ", "");
  check_known(&s, 0, YOKE_THROUGH_KNOWN, "declared by the file");
  check_near(s.state->D[0], 0.5, 0);
  sim_close(&s);

  // nothing is said: unknown, not dependent
  make_settled(path, no_dependencies, 2);
  s = open_settled(path, "", "");
  check_known(&s, 0, YOKE_THROUGH_UNKNOWN, "the FMU does not say");
  assert_int_equal(s.system->n_throughs, 0);
  sim_close(&s);
  s = open_settled(path, "feedthrough: {y: [u]}, ", "");
  check_known(&s, 0, YOKE_THROUGH_KNOWN, "measured at the start");
  sim_close(&s);
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  assert_int_equal(system(command), 0);
}

// ---- units that take derivatives of their inputs

// 1 ohm into 0.5 F: i follows v at once. The other side is an oscillator.
static sim open_branch(const char* netlist, const char* exchange, double H, int order) {
  return sim_open("yoke: 1\ntime: {stop: 4, step: %.12g}\ncalls: 1\nunits:\n"
                  "  branch: {circuit: %s, exchange: %s}\n"
                  "  tank: {model: state_space, with: {A: [[0, 1], [-9, -0.2]], B: [[0], [2]],\n"
                  "      C: [[1, 0]], x0: [1, 0]}}\n"
                  "connections:\n  - {from: \"branch.i(v1)\", to: tank.u1, order: %d}\n"
                  "  - {from: tank.y1, to: branch.v, order: %d}\n",
                  H, netlist, exchange, order, order);
}

static double branch_error(const char* netlist, double H, int order) {
  sim s = open_branch(netlist, "stale", H, order);
  sim fresh = open_branch(netlist, "fresh", H, order);
  assert_int_equal(s.system->n_throughs, 1);
  assert_int_equal(s.system->units[0].derivative_order, order);
  check_near(s.state->D[0], -1, 1e-9);
  const int n_steps = (int)lround(4 / H);
  for (int i = 0; i < n_steps; i++) {
    sim_steps(&s, 1);
    sim_steps(&fresh, 1);
    // what is sent is what the circuit gives once it has the new voltage
    check_near(sim_read(&s, "branch.i(v1)"), sim_read(&fresh, "branch.i(v1)"), 1e-9);
  }
  // vc' = 2 (v - vc), v' = w, w' = -9 v - 0.2 w + 2 i; i, into the source, is vc - v
  const double A[9] = {-2 * 4, 2 * 4, 0, 0, 0, 1 * 4, 2 * 4, -11 * 4, -0.2 * 4};
  double E[9];
  check_ok(yoke__expm(3, A, E));
  const double error = fabs(sim_read(&s, "tank.y1") - E[4]);
  sim_close(&s);
  sim_close(&fresh);
  return error;
}

// What a circuit returns belongs to the end of the polynomial that it was given: with order n of both ways the loop is of order
// two, as with held signals, and the outputs are those of `exchange: fresh`.
static void test_circuit_with_slopes(void** state) {
  (void)state;
  char path[] = "/tmp/yoke-test-through-XXXXXX";
  const int file = mkstemp(path);
  static const char netlist[] = "* branch\n.input v=1 V\nv1 in 0 {v}\nr1 in n 1\nc1 n 0 0.5 ic=0\n"
                                ".probe i(v1)\n.tran 1e-3 1 uic\n.end\n";
  assert_true(file >= 0);
  FILE* out = fdopen(file, "w");
  assert_non_null(out);
  assert_true(fputs(netlist, out) >= 0);
  assert_int_equal(fclose(out), 0);
  for (int order = 1; order <= 2; order++) {
    double coarse = branch_error(path, 0.05, order);
    for (int i = 1; i <= 2; i++) {
      const double fine = branch_error(path, 0.05 / (1 << i), order);
      printf("circuit, order %d: %.3g, then %.3g\n", order, coarse, fine);
      check_between(log2(coarse / fine), 1.7, 3.2);
      coarse = fine;
    }
  }
  assert_int_equal(remove(path), 0);
}

// ---- a real machine

typedef struct machine {
  double u, y;
} machine;

static int n_machine_calls;

static yoke_status machine_refresh(void* self, double t) {
  machine* m = self;
  (void)t;
  n_machine_calls++;
  assert_true(m->u == 0 || m->u == 0.25);  // nothing but what is really sent
  m->y = 2 * m->u;
  return YOKE_OK;
}

static yoke_status machine_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return machine_refresh(self, t);
}

static const yoke_variable machine_variables[] = {
    {.name = "u", .type = YOKE_REAL, .causality = YOKE_INPUT, .offset = offsetof(machine, u)},
    {.name = "y", .type = YOKE_REAL, .causality = YOKE_OUTPUT, .offset = offsetof(machine, y)},
};
static const yoke_feedthrough machine_pairs[] = {{1, 0}};
static const yoke_unit_info machine_info = {.variables = machine_variables,
                                            .n_variables = 2,
                                            .feedthrough = machine_pairs,
                                            .n_feedthrough = 1,
                                            .flags = YOKE_UNIT_PHYSICAL | YOKE_UNIT_FLAT,
                                            .self_size = sizeof(machine)};
static const yoke_unit_ops machine_ops = {YOKE_UNIT_HEAD, .name = "test.machine",
                                          .info = &machine_info, .step = machine_step,
                                          .refresh = machine_refresh};

static void test_machine_is_not_probed(void** state) {
  (void)state;
  yoke_registry* models = NULL;
  check_ok(yoke_registry_create(&models));
  check_ok(yoke_registry_add_unit(models, &machine_ops, NULL));
  static const char* const said[] = {"", ", feedthrough: {y: [u]}", ", feedthrough: {y: {u: 2}}"};
  for (size_t i = 0; i < 3; i++) {
    char text[1024], messages[4096];
    snprintf(text, sizeof text,
             "yoke: 1\ntime: {stop: 1, step: 0.1}\ninputs: mean\nunits:\n"
             "  m: {model: test.machine%s}\n  b: {model: state_space, with: {A: [[0]], B: [[0]], "
             "x0: [0.25]}}\nconnections: [m.y -> b.u1, b.y1 -> m.u]\n",
             said[i]);
    sim s;
    n_machine_calls = 0;
    check_ok(sim_try(models, text, &s, messages, sizeof messages));
    assert_true(n_machine_calls > 0);
    if (i < 2) {
      check_known(&s, 0, YOKE_THROUGH_UNKNOWN, "a real machine is not probed");
      assert_int_equal(s.system->n_throughs, 0);
    } else {
      check_known(&s, 0, YOKE_THROUGH_KNOWN, "declared by the file");
      check_near(s.state->D[0], 2, 0);
    }
    sim_steps(&s, 3);
    sim_close(&s);
  }
  yoke_registry_destroy(&models);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_PR_04_convergence),
      cmocka_unit_test(test_between_exchanges),
      cmocka_unit_test(test_closed_chain),
      cmocka_unit_test(test_chain_without_solution),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_same_bits_for_all_threads),
      cmocka_unit_test(test_who_takes_part),
      cmocka_unit_test(test_D),
      cmocka_unit_test(test_closed_chain_of_several_rates),
      cmocka_unit_test(test_file_says_feedthrough),
      cmocka_unit_test(test_file_is_wrong),
      cmocka_unit_test(test_inputs_of_every_kind_are_seen),
      cmocka_unit_test(test_laws_that_hide),
      cmocka_unit_test(test_singular_chain_is_said),
      cmocka_unit_test(test_FMU_feedthrough),
      cmocka_unit_test(test_circuit_with_slopes),
      cmocka_unit_test(test_machine_is_not_probed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
