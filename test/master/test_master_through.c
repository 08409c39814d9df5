// Mean inputs with feedthrough brought up to date (`inputs: mean`): the convergence table of the prediction specification, section
// 6 (PR-04), on its system G1; who takes part and who does not; the same bits after a saved state.
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

static sim open_g1(const char* inputs, const char* step, const char* call, int order) {
  return sim_open(
      "yoke: 1\ntime: {stop: 4, step: %s}\ninputs: %s\nunits:\n"
      "  a: {model: state_space, step: %s, with: {A: [[0, 1], [-70, -1]], B: [[0, 0], [40, 0.6]],\n"
      "      C: [[40, 0.6]], D: [[-40, -0.6]], x0: [1, 0]}}\n"
      "  b: {model: state_space, step: %s, with: {A: [[0, 1], [-5, -0.1]], B: [[0], [0.5]],\n"
      "      C: [[1, 0], [0, 1]], x0: [0, 0.5]}}\n"
      "connections:\n"
      "  - {from: a.y1, to: b.u1, order: %d}\n  - {from: b.y1, to: a.u1, order: %d}\n"
      "  - {from: b.y2, to: a.u2, order: %d}\n",
      step, inputs, call, call, order, order, order);
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

typedef enum kind { START, MEAN_STALE, MEAN } kind;

// Error of all states over all exchange points, relative to the states.
static double error_of(kind what, int order, double H, int n_calls) {
  char step[32], call[32];
  snprintf(step, sizeof step, "%.12g", H);
  snprintf(call, sizeof call, "%.12g", H / n_calls);
  sim s = open_g1(what == START ? "start" : "mean", step, call, order);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_PR_04_convergence),
      cmocka_unit_test(test_closed_chain),
      cmocka_unit_test(test_chain_without_solution),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_who_takes_part),
      cmocka_unit_test(test_D),
      cmocka_unit_test(test_closed_chain_of_several_rates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
