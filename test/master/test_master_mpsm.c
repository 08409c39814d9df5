// Method `mpsm` in the loop: a cluster of two units that is served as a whole. The kernel is tested in test/couple; here
// it must get the right samples and give the right inputs.
#define _DEFAULT_SOURCE  // mkstemp, usleep
#include <stdlib.h>
#include <unistd.h>

#include "base/base_message.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/dual_mass.h"
#include "support/dual_mass_rows.h"
#include "support/heard.h"
#include "support/sim.h"

#define UNITS                                                                                      \
  "units:\n"                                                                                       \
  "  left: {model: state_space, " DUAL_MASS_LEFT ", micro_steps: %d}}\n"                           \
  "  right: {model: state_space, " DUAL_MASS_RIGHT ", micro_steps: %d}}\n"
#define CONNECTIONS DUAL_MASS_CONNECTIONS

static sim open_cluster(double step_ms, double stop, const char* coupling) {
  const int n = (int)(step_ms * 100 + 0.5);
  return sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: %g, step: %ge-3}\n" UNITS CONNECTIONS "%s",
      stop, step_ms, n, n, coupling);
}

static double largest(sim* s, int64_t n) {
  double peak = 0;
  for (int64_t k = 0; k < n; k++) {
    sim_steps(s, 1);
    peak = fmax(peak, fabs(sim_read(s, "left.x")));
  }
  return peak;
}

// While it learns nothing happens to the inputs, to the last bit.
static void learning_is_holding(void** state) {
  (void)state;
  sim plain = open_cluster(1, 0.2, "");
  sim served = open_cluster(
      1, 0.2, "couplings: {loop: {method: mpsm, members: [left, right], learning: 1e6}}\n");
  for (int k = 0; k < 200; k++) {
    sim_steps(&plain, 1);
    sim_steps(&served, 1);
    for (size_t i = 0; i < plain.system->n_y; i++) {
      assert_true(plain.state->y[i] == served.state->y[i]);
    }
  }
  sim_close(&plain);
  sim_close(&served);
}

// At 3 ms the held signals make the oscillator explode within 0.3 s. The models are learnt in 20 steps of that.
static void stabilises_what_holding_does_not(void** state) {
  (void)state;
  static const char* const forms[] = {"auto, level: auto", "published, level: end"};
  sim plain = open_cluster(3, 0.3, "");
  const double peak_held = largest(&plain, 100);
  assert_true(peak_held > 10);
  sim_close(&plain);
  for (size_t i = 0; i < 2; i++) {
    char coupling[256];
    snprintf(coupling, sizeof coupling,
             "couplings: {loop: {method: mpsm, members: [left, right], learning: 20, "
             "switching: 1, form: %s}}\n",
             forms[i]);
    sim served = open_cluster(3, 0.3, coupling);
    (void)largest(&served, 50);
    const double peak_served = largest(&served, 50);
    print_message("3 ms: held up to %.3g m, mpsm (form: %s) %.3g m in the second half\n", peak_held,
                  forms[i], peak_served);
    assert_true(peak_served < 0.2);
    sim_close(&served);
  }
}

// CS-28 with a cluster: no heap call in the loop
static void takes_no_heap(void** state) {
  (void)state;
  if (!IS_HEAP_COUNTED) {
    skip();
  }
  static const char* const couplings[] = {
      "couplings: {loop: {method: mpsm, members: [left, right], learning: 20}}\n",
      "couplings: {loop: {method: mpsm, members: [left, right], learning: 20, ede: on}}\n",
      "couplings: {loop: {method: mpsm, members: [left, right], jacobians: provided}}\n",
      "couplings: {loop: {method: mbcorr, members: [left, right], jacobians: provided}}\n",
      "couplings: {loop: {method: mbcorr, members: [left, right], learning: 20}}\n",
  };
  for (size_t i = 0; i < sizeof couplings / sizeof couplings[0]; i++) {
    sim s = open_cluster(1, 10, couplings[i]);
    sim_steps(&s, 10);
    const long before = atomic_load(&n_heap_calls);
    sim_steps(&s, 2000);
    assert_int_equal(atomic_load(&n_heap_calls) - before, 0);
    sim_close(&s);
  }
  check_heap_is_counted();
}

// closes the simulation
static void check_rows(sim s, const dual_mass_row rows[], size_t n) {
  check_dual_mass_rows(&s, NULL, rows, n);
  sim_close(&s);
}

// MP-03 in the loop: the units tell their linear models, the first step already uses them
static void test_MP_03_provided(void** state) {
  (void)state;
  check_rows(
      open_cluster(
          1, 0.1,
          "couplings: {loop: {method: mpsm, members: [left, right], jacobians: provided}}\n"),
      dual_mass_full, DUAL_MASS_N_ROWS);
  check_rows(
      open_cluster(1, 0.1,
                   "couplings: {loop: {method: mpsm, members: [left, right], jacobians: provided, "
                   "th_modified: 0}}\n"),
      dual_mass_modified, DUAL_MASS_N_ROWS);
}

// Step 1 with what the units gave between exchanges, units of 0.01 ms and exchange every 1 ms: what the matrices of the
// steps say. (The table has them with samples that are held in between: test/study/test_study_stability.c.)
static void test_MP_03_inner(void** state) {
  (void)state;
  sim s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.1, step: 1e-3}\n"
      "units:\n"
      "  left: {model: state_space, " DUAL_MASS_LEFT "}, step: 1e-5}\n"
      "  right: {model: state_space, " DUAL_MASS_RIGHT "}, step: 1e-5}\n" CONNECTIONS
      "couplings: {loop: {method: mpsm, members: [left, right], jacobians: provided, ede: on}}\n");
  dual_mass mass;
  dual_mass_open(&mass, 1e5, 1e3);
  yoke_stability_case c = dual_mass_case(&mass, YOKE_STABILITY_MPSM, 1e-3);
  c.options.uses_ede = true;
  c.sees_inside = true;
  yoke_stability* steps;
  double z[64], y[3];
  check_ok(yoke__stability_open(&c, &steps));
  assert_true(yoke__stability_size(steps) <= 64);
  check_ok(yoke__stability_start(steps, dual_mass_start, z));
  for (int k = 1; k <= 100; k++) {
    sim_steps(&s, 1);
    yoke__stability_step(steps, z, y, NULL);
    const dual_mass_row row = {k, y[0], y[1], y[2]};
    check_relative(sim_read(&s, "left.x"), row.x, 1e-8);
    check_relative(sim_read(&s, "left.v"), row.v, 1e-8);
    check_relative(sim_read(&s, "right.f"), row.f, 1e-8);
  }
  yoke__stability_close(&steps);
  sim_close(&s);
}

// A law on the way is a wire: f through a gain of -1 and a sum that turns it back, beside a source that adds a constant.
static void looks_through_laws(void** state) {
  (void)state;
  const char* method =
      "couplings: {loop: {method: mpsm, members: [left, right, turn, add], learning: 20}}\n";
  sim plain = open_cluster(
      1, 0.2, "couplings: {loop: {method: mpsm, members: [left, right], learning: 20}}\n");
  sim wired =
      sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.2, step: 1e-3}\n" UNITS
               "  rest: {model: constant}\n"
               "laws: {turn: {law: gain, with: {k: -1}}, add: {law: sum, with: {signs: [-1, 1]}}}\n"
               "connections: [left.x -> right.x, left.v -> right.v, right.f -> turn.u,\n"
               "  turn.y -> add.u1, rest.y -> add.u2, add.y -> left.f]\n"
               "%s",
               100, 100, method);
  double worst = 0;
  for (int k = 0; k < 200; k++) {
    sim_steps(&plain, 1);
    sim_steps(&wired, 1);
    worst = fmax(worst, fabs(sim_read(&plain, "left.x") - sim_read(&wired, "left.x")));
  }
  print_message("through two laws: %.2g m apart\n", worst);
  assert_true(worst < 1e-12);  // of 0.1 m: round-off, which the loop does not amplify
  sim_close(&plain);
  sim_close(&wired);
}

// Models in a thread of their own give the same bits as without: when they are taken over is a matter of counting.
static void subspace_models_do_not_depend_on_time(void** state) {
  (void)state;
  const char* method = "couplings: {loop: {method: mpsm, members: [left, right], jacobians: moesp, "
                       "learning: 60}}\n";
  sim one = open_cluster(1, 0.4, method), other = open_cluster(1, 0.4, method);
  for (int k = 0; k < 400; k++) {
    sim_steps(&one, 1);
    sim_steps(&other, 1);
    if (k % 7 == 0) {
      usleep(300);
    }
    assert_true(one.state->y[0] == other.state->y[0]);
  }
  print_message("%.2g m at the end\n", fabs(one.state->y[0]));
  assert_true(fabs(one.state->y[0]) < 1e-6);  // of 0.1 m at the start
  sim_close(&one);
  sim_close(&other);
}

typedef struct slow_work {
  atomic_bool may_end, is_done;
} slow_work;

static void work_slowly(void* argument) {
  slow_work* work = argument;
  while (!atomic_load(&work->may_end)) {
    usleep(1000);
  }
  usleep(50000);
  atomic_store(&work->is_done, true);
}

// Who may not wait is told that the work is not done, at once, and later that it is.
static void work_beside_the_step_is_not_waited_for(void** state) {
  (void)state;
  slow_work work = {false, false};
  const yoke_coupling_worker* w = yoke__master_worker_create(false);
  assert_non_null(w);
  assert_true(w->finish(w->context));
  w->start(w->context, work_slowly, &work);
  assert_false(w->finish(w->context));  // nor would it ever be if this waited
  atomic_store(&work.may_end, true);
  while (!w->finish(w->context)) {
    usleep(1000);
  }
  assert_true(atomic_load(&work.is_done));
  yoke__master_worker_destroy(w);

  w = yoke__master_worker_create(true);
  atomic_store(&work.is_done, false);
  w->start(w->context, work_slowly, &work);
  assert_true(w->finish(w->context) && atomic_load(&work.is_done));
  yoke__master_worker_destroy(w);
}

// Provided models whose surrogate grows are refused, and the cluster is learnt instead: an unstable plant with a
// controller that sees one of its two states.
static void refuses_a_surrogate_that_grows(void** state) {
  (void)state;
  sim s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 4, step: 0.01}\n"
      "units:\n"
      "  plant: {model: state_space, with: {A: [[0.5, 4], [-4, -3]], B: [[0], [1]], C: [[1, 0]],\n"
      "          inputs: [u], outputs: [y], x0: [1, 0]}}\n"
      "  control: {model: state_space, with: {A: [[-1]], B: [[0.1]], C: [[-0.1]], inputs: [e],\n"
      "            outputs: [u]}}\n"
      "connections: [plant.y -> control.e, control.u -> plant.u]\n"
      "couplings: {loop: {method: mpsm, members: [plant, control], jacobians: provided, "
      "learning: 20}}\n");
  sim_steps(&s, 400);
  const yoke_group* group = &s.system->groups[0];
  double health[64];
  HEAR(told);
  group->ops->health(s.state->group_memory + group->self, health);
  group->ops->report(s.state->group_memory + group->self, &told.sink);
  print_message("%s", told.text);
  assert_true(health[17] == 1 && health[18] > 0);
  check_contains(told.text, "would grow");
  assert_true(fabs(sim_read(&s, "plant.y")) < 0.1);
  sim_close(&s);
}

enum { TEXT_SIZE = 8192 };

// What the coupling says at the end, and a number of its health; n steps are made.
static double ask_after(sim* s, int64_t n, const char* name, char text[TEXT_SIZE]) {
  sim_steps(s, n);
  const yoke_group* group = &s->system->groups[0];
  double health[64];
  group->ops->health(s->state->group_memory + group->self, health);
  HEAR(told);
  group->ops->report(s->state->group_memory + group->self, &told.sink);
  snprintf(text, TEXT_SIZE, "%s", told.text);
  for (size_t i = 0; i < group->ops->n_health; i++) {
    if (strcmp(group->ops->health_names[i], name) == 0) {
      return health[i];
    }
  }
  fail_msg("no %s", name);
  return 0;
}

// Two states and one output: the Jacobians are a surrogate, and that is said.
static void tells_a_surrogate(void** state) {
  (void)state;
  char text[TEXT_SIZE];
  sim s = open_cluster(1, 0.1,
                       "couplings: {loop: {method: mpsm, members: [left, right], jacobians: "
                       "provided, learning: 20}}\n");
  assert_true(ask_after(&s, 100, "n_surrogates", text) == 1);
  print_message("%s\n", text);
  check_contains(text,
                 "; 'right' has 2 states and 1 output, so that its Jacobians are a surrogate");
  sim_close(&s);
}

// One state and two outputs, y and 2 y: the outputs depend on each other, but they tell the state, and the Jacobians are
// exact. Compared with held signals at a 500th of the step.
static void redundant_outputs_tell_the_state(void** state) {
  (void)state;
  static const char units[] =
      "units:\n"
      "  a: {model: state_space, with: {A: [[-1]], B: [[1, 0.5]], C: [[1], [2]],\n"
      "      inputs: [u, v], outputs: [y, z], x0: [1]}}\n"
      "  b: {model: state_space, with: {A: [[-2, 1], [0, -3]], B: [[1, 1], [0, 2]],\n"
      "      inputs: [u, v], outputs: [y, z]}}\n"
      "connections: [a.y -> b.u, a.z -> b.v, {from: b.y, to: a.u, gain: -6},\n"
      "  {from: b.z, to: a.v, gain: -6}]\n";
  sim whole = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-4}\n%s", units);
  sim_steps(&whole, 10000);
  const double want = sim_read(&whole, "a.y");
  sim_close(&whole);
  char text[TEXT_SIZE];
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.05}\n%s"
                   "couplings: {loop: {method: mpsm, members: [a, b], jacobians: provided, "
                   "learning: 20}}\n",
                   units);
  assert_true(ask_after(&s, 20, "is_refused", text) == 0);
  const double off = fabs(sim_read(&s, "a.y") - want);
  print_message("off by %.2g of %.2g; %s\n", off, want, text);
  assert_true(off < 1e-3);  // what the held signals are off by, and some room
  sim_close(&s);
}

// Two states, and the force twice: neither do the outputs tell the states nor are they free.
static void refuses_a_surrogate_with_redundant_outputs(void** state) {
  (void)state;
  char text[TEXT_SIZE];
  sim s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.1, step: 1e-3}\n"
      "units:\n"
      "  left: {model: state_space, with: {A: [[0, 1], [-1e5, -0.1]],\n"
      "         B: [[0, 0], [0.05, 0.05]], inputs: [f, g], outputs: [x, v], x0: [0.1, 0]}}\n"
      "  right: {model: state_space, with: {A: [[0, 1], [-1.01e6, -100.2]],\n"
      "          B: [[0, 0], [1e4, 100]], C: [[1e5, 1e3], [1e5, 1e3]],\n"
      "          D: [[-1e5, -1e3], [-1e5, -1e3]], inputs: [x, v], outputs: [f, g]}}\n"
      "connections: [left.x -> right.x, left.v -> right.v, right.f -> left.f,\n"
      "  right.g -> left.g]\n"
      "couplings: {loop: {method: mpsm, members: [left, right], jacobians: provided,\n"
      "  learning: 20}}\n");
  assert_true(ask_after(&s, 100, "is_refused", text) == 1);
  print_message("%s\n", text);
  check_contains(text, "'right' has 2 states and 2 outputs with an output matrix of rank 1");
  sim_close(&s);
}

// A unit with a constant part has a rest that Jacobians do not know: they are given up, and the loop finds its end.
static void gives_up_provided_models_that_miss_a_constant(void** state) {
  (void)state;
  static const char text[] =
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 60, step: 0.1}\n"
      "units:\n"
      "  a: {model: state_space, with: {A: [[-1]], B: [[1, 1]], inputs: [u, e], outputs: [y]},\n"
      "      start: {e: 1}}\n"
      "  b: {model: state_space, with: {A: [[-2]], B: [[1]], inputs: [u], outputs: [y]}}\n"
      "connections: [a.y -> b.u, {from: b.y, to: a.u, gain: -2}]\n"
      "couplings: {loop: {method: mpsm, members: [a, b], jacobians: provided, learning: 20}}\n";
  sim s = sim_open("%s", text);
  sim_steps(&s, 600);
  const yoke_group* group = &s.system->groups[0];
  HEAR(told);
  group->ops->report(s.state->group_memory + group->self, &told.sink);
  print_message("ends at %.6f, %.6f (0.5, 0.25): %s\n", sim_read(&s, "a.y"), sim_read(&s, "b.y"),
                told.text);
  check_contains(told.text, "constant part");
  assert_true(fabs(sim_read(&s, "a.y") - 0.5) < 1e-3 && fabs(sim_read(&s, "b.y") - 0.25) < 1e-3);
  sim_close(&s);
}

// An output at rest says nothing about the models of the others.
static void an_output_at_rest_does_not_count(void** state) {
  (void)state;
  sim s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.3, step: 3e-3}\n"
      "units:\n"
      "  left: {model: state_space, with: {A: [[0, 1], [-1e5, -0.1]], B: [[0, 0], [0.1, 0.1]],\n"
      "         inputs: [f, w], outputs: [x, v], x0: [0.1, 0], solver: euler, micro_steps: 300}}\n"
      "  right: {model: state_space, with: {A: [[0, 1], [-1.01e6, -100.2]],\n"
      "          B: [[0, 0], [1e4, 100]], C: [[1e5, 1e3]], D: [[-1e5, -1e3]],\n"
      "          inputs: [x, v], outputs: [f], x0: [0, 0], solver: euler, micro_steps: 300}}\n"
      "  rest: {model: state_space, with: {A: [[0]], B: [[0]], inputs: [u], outputs: [y],\n"
      "         x0: [1.3]}}\n"
      "connections: [left.x -> right.x, left.v -> right.v, right.f -> left.f, left.x -> rest.u,\n"
      "  rest.y -> left.w]\n"
      "couplings: {loop: {method: mpsm, members: [left, right, rest], learning: 20,\n"
      "  switching: 1}}\n");
  (void)largest(&s, 50);
  const double peak = largest(&s, 50);
  print_message("with a unit at rest: %.3g m in the second half\n", peak);
  assert_true(peak < 0.2);
  sim_close(&s);
}

// Fourteen sums behind each other, each of six equal inputs: what they follow is worked out once.
static void many_laws_are_quick(void** state) {
  (void)state;
  char laws[2048] = "", links[8192] = "", members[512] = "left, right";
  for (int i = 0; i < 14; i++) {
    const size_t n = strlen(laws), m = strlen(members);
    snprintf(laws + n, sizeof laws - n, "  s%d: {law: sum, with: {signs: [1, 1, 1, 1, 1, 1]}}\n",
             i);
    snprintf(members + m, sizeof members - m, ", s%d", i);
    for (int j = 1; j <= 6; j++) {
      const size_t at = strlen(links);
      if (i == 0) {
        snprintf(links + at, sizeof links - at, ", right.f -> s0.u%d", j);
      } else {
        snprintf(links + at, sizeof links - at, ", s%d.y -> s%d.u%d", i - 1, i, j);
      }
    }
  }
  const double gain = 1 / pow(6, 14);
  sim s =
      sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.1, step: 1e-3}\n" UNITS "laws:\n%s"
               "connections: [left.x -> right.x, left.v -> right.v%s, {from: s13.y, to: "
               "left.f, gain: %.17g}]\n"
               "couplings: {loop: {method: mpsm, members: [%s], learning: 20}}\n",
               100, 100, laws, links, gain, members);
  const yoke_coupling_cluster* c = s.system->groups[0].setup.cluster;
  check_relative(c->L[2], 1.0, 1e-12);
  sim_steps(&s, 100);
  assert_true(fabs(sim_read(&s, "left.x")) < 0.01);
  sim_close(&s);
}

// What one run has learnt another one starts from, at another step: published models and those with memory, to longer steps,
// whole or not, and to a shorter one. Models that are learnt at the new step need 20 exchanges of held signals, which explode
// from 3 ms on.
static void starts_from_saved_models(void** state) {
  (void)state;
  static const struct {
    const char* form;
    double step;  // [ms]
  } cases[] = {{"published, level: end", 4},
               {"published, level: end", 1.5},
               {"memory", 4},
               {"memory", 2.5},
               {"memory", 0.5}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char path[] = "/tmp/yoke-models-XXXXXX", text[1024];
    YOKE_CATCH(err);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    snprintf(text, sizeof text,
             "couplings: {loop: {method: mpsm, members: [left, right], learning: 20, form: %s}}\n",
             cases[i].form);
    sim first = open_cluster(1, 0.3, text);
    sim_steps(&first, 100);
    const yoke_group* group = &first.system->groups[0];
    check_ok(group->ops->write(first.state->group_memory + group->self, path, &err.sink));
    sim_close(&first);
    snprintf(text, sizeof text,
             "couplings: {loop: {method: mpsm, members: [left, right], models: %s, learning: 0,\n"
             "  switching: 0, start_variance: 1e-6, form: %s}}\n",
             path, cases[i].form);
    const int64_t n = (int64_t)(400 / cases[i].step);
    sim second = open_cluster(cases[i].step, 0.4, text);
    const double peak = largest(&second, n);
    print_message("%s: %g ms with the models of a run at 1 ms: up to %.3g m, %.3g m at the end\n",
                  cases[i].form, cases[i].step, peak, fabs(sim_read(&second, "left.x")));
    assert_true(peak < 0.11 && fabs(sim_read(&second, "left.x")) < 0.01);
    sim_close(&second);
    remove(path);
  }
}

// Units that are called at different rates meet at the exchanges of the slower one.
static void learns_at_several_rates(void** state) {
  (void)state;
  // held signals at 3 ms explode
  sim mixed = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.6, step: 1e-3}\n"
      "units:\n"
      "  left: {model: state_space, with: {A: [[0, 1], [-1e5, -0.1]], B: [[0], [0.1]],\n"
      "         inputs: [f], outputs: [x, v], x0: [0.1, 0], solver: euler, micro_steps: 100}}\n"
      "  right: {model: state_space, with: {A: [[0, 1], [-1.01e6, -100.2]],\n"
      "          B: [[0, 0], [1e4, 100]], C: [[1e5, 1e3]], D: [[-1e5, -1e3]],\n"
      "          inputs: [x, v], outputs: [f], x0: [0, 0], solver: euler, micro_steps: 300},\n"
      "          step: 3e-3}\n" CONNECTIONS
      "couplings: {loop: {method: mpsm, members: [left, right], learning: 20, switching: 1}}\n");
  (void)largest(&mixed, 500);
  const double peak = largest(&mixed, 100);
  print_message("left at 1 ms, right at 3 ms: %.2g m in the last 0.1 s\n", peak);
  assert_true(peak < 1e-4);
  sim_close(&mixed);
}

// A slower unit beside a pair stays outside of the cluster: the pair exchanges as often as without it, and that is said. A
// connection with a longer interval of its own does too.
static void slower_units_stay_outside(void** state) {
  (void)state;
  static const char head[] =
      "yoke: 1\ninputs: %s\ncalls: 1\ntime: {stop: 0.1, step: 1e-3}\nunits:\n"
      "  left: {model: dual_mass.left, with: {micro_steps: 100}, start: {x: 0.1}}\n"
      "  right: {model: dual_mass.right, with: {micro_steps: 100}}\n"
      "  slow: {model: state_space, with: {A: [[-1]], B: [[1]]}, step: 5e-3}\n"
      "connections:\n"
      "  - {from: left.x, to: right.x%s}\n  - left.v -> right.v\n  - right.f -> left.f\n"
      "  - left.x -> slow.u1\n"
      "couplings: {loop: {method: mpsm, members: [left, right, slow]}}\n";
  static const char* const inputs[] = {"start", "mean"};
  for (size_t i = 0; i < 2; i++) {
    char text[2048], messages[4096];
    sim s;
    snprintf(text, sizeof text, head, inputs[i], "");
    check_ok(sim_try(NULL, text, &s, messages, sizeof messages));
    check_contains(messages, "coupling 'loop': unit 'slow' exchanges every 0.005 s, the cluster "
                             "every 0.001 s: it is left out of the cluster");
    const yoke_system* system = s.system;
    for (size_t k = 0; k < 3; k++) {
      assert_int_equal(system->links[k].interval, system->macro);
      assert_string_equal(system->methods[system->links[k].method].ops->name, "mpsm");
    }
    assert_int_equal(system->links[3].interval, 5 * system->macro);
    assert_string_equal(system->methods[system->links[3].method].ops->name,
                        i == 0 ? "hold" : "auto");
    sim_steps(&s, 50);
    sim_close(&s);
    snprintf(text, sizeof text, head, inputs[i], ", exchange: 2e-3");
    check_ok(sim_try(NULL, text, &s, messages, sizeof messages));
    check_contains(messages, "coupling 'loop': left.x -> right.x exchanges every 0.002 s");
    assert_int_equal(s.system->links[1].interval, s.system->macro);
    sim_steps(&s, 50);
    sim_close(&s);
  }
}

// A connection with a method of its own is not the cluster's: its sink gets what the source gave, the models know it as an input
// from outside, and the rest is served.
static void a_connection_may_stay_held(void** state) {
  (void)state;
  static const char system[] =
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.4, step: 1e-3}\n"
      "units:\n"
      "  left: {model: dual_mass.left, with: {micro_steps: 100}, start: {x: 0.1}}\n"
      "  right: {model: dual_mass.right, with: {micro_steps: 100}}\n"
      "connections:\n"
      "  - {from: left.x, to: right.x%s}\n  - left.v -> right.v\n  - right.f -> left.f\n"
      "couplings: {loop: {method: mpsm, members: [left, right], learning: 50}}\n";
  for (int is_held = 0; is_held < 2; is_held++) {
    sim s = sim_open(system, is_held == 1 ? ", method: hold" : "");
    int n_x = 0, n_v = 0;
    sim_steps(&s, 100);
    for (int k = 0; k < 300; k++) {
      const double x = sim_read(&s, "left.x"), v = sim_read(&s, "left.v");
      sim_steps(&s, 1);
      const double* u = s.system->units[1].unit.self;  // it begins with its inputs
      n_x += u[0] == x;
      n_v += u[1] == v;
    }
    assert_int_equal(n_x, is_held == 1 ? 300 : 0);
    assert_int_equal(n_v, 0);
    sim_close(&s);
  }
}

static void refuses_what_it_cannot_serve(void** state) {
  (void)state;
  static const struct {
    const char *coupling, *part;
  } cases[] = {
      {"scheme: gauss-seidel\ncouplings: {loop: {method: mpsm, members: [left, right]}}\n",
       "valid for scheme: jacobi only"},
      {"couplings: {loop: {method: mpsm, members: [left, right], th_modified: 5}}\n",
       "must not be above th_signal"},
      {"couplings: {loop: {method: mpsm, members: [left, right], lambda: 5}}\n", "no parameter"},
      {"couplings: {loop: {method: mpsm, members: [left, right], models: /nowhere.json}}\n",
       "/nowhere.json"},
      {"couplings: {loop: {method: mpsm, members: [left, right], models: [1]}}\n",
       "expected the name of a file"},
      {"couplings: {loop: {method: mpsm, members: [left, right], shape: ramp}}\n",
       "shape: ramp needs jacobians: provided"},
      {"couplings: {loop: {method: mpsm, members: [left, right], jacobians: provided, "
       "shape: ramp}}\n",
       "called several times"},
      {"couplings: {loop: {method: mpsm, members: [left, right], form: memory, ede: on}}\n",
       "form: memory needs ede: off"},
      {"couplings: {loop: {method: mpsm, members: [left, right], level: mean, ede: on}}\n",
       "level: mean needs ede: off"},
      {"couplings: {loop: {method: mpsm, members: [left, right], jacobians: moesp, "
       "models: m.json}}\n",
       "models of a file are for jacobians: rls"},
      {"couplings: {loop: {method: mbcorr, members: [left, right], ede: off}}\n", "ede must be"},
      {"couplings: {loop: {method: mpsm, members: [left, right], jacobians: moesp, "
       "forgetting: 0.9}}\n",
       "jacobians: moesp needs forgetting: 0.947368 or more for the 2 outputs and 1 inputs"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[2048], messages[4096] = "";
    sim s;
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-3}\n" UNITS CONNECTIONS
             "%s",
             100, 100, cases[i].coupling);
    assert_true(sim_try(NULL, text, &s, messages, sizeof messages) < 0);
    check_contains(messages, cases[i].part);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(learning_is_holding),
      cmocka_unit_test(stabilises_what_holding_does_not),
      cmocka_unit_test(test_MP_03_provided),
      cmocka_unit_test(test_MP_03_inner),
      cmocka_unit_test(looks_through_laws),
      cmocka_unit_test(subspace_models_do_not_depend_on_time),
      cmocka_unit_test(work_beside_the_step_is_not_waited_for),
      cmocka_unit_test(refuses_a_surrogate_that_grows),
      cmocka_unit_test(tells_a_surrogate),
      cmocka_unit_test(redundant_outputs_tell_the_state),
      cmocka_unit_test(refuses_a_surrogate_with_redundant_outputs),
      cmocka_unit_test(gives_up_provided_models_that_miss_a_constant),
      cmocka_unit_test(an_output_at_rest_does_not_count),
      cmocka_unit_test(many_laws_are_quick),
      cmocka_unit_test(starts_from_saved_models),
      cmocka_unit_test(learns_at_several_rates),
      cmocka_unit_test(slower_units_stay_outside),
      cmocka_unit_test(takes_no_heap),
      cmocka_unit_test(a_connection_may_stay_held),
      cmocka_unit_test(refuses_what_it_cannot_serve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
