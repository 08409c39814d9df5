// `exchange: fresh` with coupling methods (hinf.md 6): a unit is evaluated anew with what its method says at that instant, at every
// exchange and after every call between two. The deterministic case of the dual mass-spring-damper, hinf.md 9.5 (HI-08).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/dual_mass_cut.h"
#include "support/sim.h"
#include "synth/synth_design.h"
#include "yoke/yoke.h"

// m1 = 40, m2 = 20, k1 = 300, kc = 600, k2 = 200, d1 = 80, dc = 150, d2 = 60; 1000 N for 0.1 s at 0.5 and 2.5 s. The spring
// belongs to `left`, which integrates the speed of the other mass itself. Calls and exchange as given.
static sim open_masses(const cut_masses* c, const char* exchange, const char* coupling) {
  return sim_open("yoke: 1\ntime: {stop: 5, step: 0.001}\ninputs: start\nexchange: %s\nunits:\n"
                  "  left: {model: state_space, step: 0.001, with: {solver: euler,\n"
                  "    A: [[0, 1, 0], [%.17g, %.17g, %.17g], [0, 0, 0]], B: [[0], [%.17g], [1]],\n"
                  "    C: [[%.17g, %.17g, %.17g]], D: [[%.17g]], inputs: [v], outputs: [f]}}\n"
                  "  right: {model: state_space, step: 0.001, with: {solver: euler,\n"
                  "    A: [[0, 1], [%.17g, %.17g]], B: [[0, 0, 0, 0, 0], [%.17g, %.17g, %.17g, "
                  "%.17g, %.17g]],\n"
                  "    C: [[0, 1]], inputs: [f, p1, p2, p3, p4], outputs: [v]}}\n"
                  "  p1: {model: step, step: 0.001, with: {time: 0.5, after: 1000}}\n"
                  "  p2: {model: step, step: 0.001, with: {time: 0.6, after: -1000}}\n"
                  "  p3: {model: step, step: 0.001, with: {time: 2.5, after: 1000}}\n"
                  "  p4: {model: step, step: 0.001, with: {time: 2.6, after: -1000}}\n"
                  "connections:\n"
                  "  - {from: p1.y, to: right.p1, exchange: 0.001}\n"
                  "  - {from: p2.y, to: right.p2, exchange: 0.001}\n"
                  "  - {from: p3.y, to: right.p3, exchange: 0.001}\n"
                  "  - {from: p4.y, to: right.p4, exchange: 0.001}\n"
                  "  - {from: left.f, to: right.f, exchange: 0.05, coupling: {%s}}\n"
                  "  - {from: right.v, to: left.v, exchange: 0.05, coupling: {%s}}\n",
                  exchange, -(c->k1 + c->kc) / c->m1, -(c->d1 + c->dc) / c->m1, c->kc / c->m1,
                  c->dc / c->m1, c->kc, c->dc, -c->kc, -c->dc, -c->k2 / c->m2, -c->d2 / c->m2,
                  1 / c->m2, 1 / c->m2, 1 / c->m2, 1 / c->m2, 1 / c->m2, coupling, coupling);
}

static void run_engine(const cut_masses* masses, const char* exchange, const char* coupling,
                       cut_signals* to) {
  sim s = open_masses(masses, exchange, coupling);
  const size_t v = sim_index(&s, "right.v"), f = sim_index(&s, "left.f");
  for (size_t k = 0; k < CUT_N; k++) {
    if (k > 0) {
      sim_steps(&s, 1);
    }
    to->v2[k] = s.state->y[v];
    to->force[k] = s.state->y[f];
  }
  sim_close(&s);
}

typedef struct figures {
  double v_error, f_error;  // root mean squares
  double v, f;              // at 1 s
} figures;

static const cut_masses regression = {40, 20, 300, 600, 200, 80, 150, 60};

static figures run(const char* exchange, const char* coupling) {
  static cut_signals whole, got;
  cut_whole(&regression, &whole);
  check_near(whole.v2[600], 3.052940, 1e-6);
  check_near(whole.force[600], -458.2745, 1e-4);
  check_near(whole.v2[5000], 0.091738, 1e-6);
  run_engine(&regression, exchange, coupling, &got);
  return (figures){cut_rms(got.v2, whole.v2), cut_rms(got.force, whole.force), got.v2[1000],
                   got.force[1000]};
}

static void check_close(double got, double want) {
  if (!(fabs(got - want) <= 1e-4 * fabs(want))) {
    fail_msg("%.10g, expected %.10g", got, want);
  }
}

static void test_HI_08_dual_mass(void** state) {
  static const struct {
    const char *exchange, *coupling;
    figures want;
  } rows[] = {
      {"fresh", "method: hold", {0.083123, 38.25542, -0.329268, 34.86578}},
      {"fresh", "method: hold, order: 1", {0.064294, 45.81045, -0.307592, 28.84310}},
      {"fresh", "method: hold, order: 2", {0.066010, 61.45634, -0.316322, 30.15622}},
      {"fresh", "method: hinf", {0.058688, 44.47110, -0.317030, 26.77250}},
      {"stale", "method: hold", {0.308480, 67.27571, -0.267289, 20.90232}},
      {"stale", "method: hold, order: 1", {0.869523, 257.67491, 1.589977, -432.28931}},
      {"stale", "method: hinf", {0.270152, 83.33597, -0.437086, 41.32407}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const figures got = run(rows[i].exchange, rows[i].coupling);
    check_close(got.v_error, rows[i].want.v_error);
    check_close(got.f_error, rows[i].want.f_error);
    check_close(got.v, rows[i].want.v);
    check_close(got.f, rows[i].want.f);
  }
  // parabolas of stale values diverge
  assert_true(run("stale", "method: hold, order: 2").v_error > 1e6);
}

// HI-09, the arithmetic behind it: random masses, by the engine and by a loop that knows nothing of it.
static void test_HI_09_random_masses(void** state) {
  static const struct {
    cut_method method;
    const char* coupling;
  } methods[] = {{CUT_ZOH, "method: hold"},
                 {CUT_FOH, "method: hold, order: 1"},
                 {CUT_ELEMENT, "method: hinf"}};
  static cut_signals got, want;
  (void)state;
  yoke_synth_design design;
  const yoke_synth_settings settings = yoke__synth_settings_default(YOKE_RECIPE_T, 0.05, CUT_STEP);
  check_ok(yoke__synth_design(&settings, YOKE_SYNTH_SWEEPS, &design, NULL));
  const char* full = getenv("YOKE_FULL");
  const int n = full != NULL && full[0] == '1' ? 200 : 20;
  uint64_t seed = 19;
  double worst = 0;
  for (int i = 0; i < n; i++) {
    const cut_masses masses = cut_draw(&seed);
    for (size_t m = 0; m < 6; m++) {
      const bool is_stale = m % 2 == 1;
      const cut_coupling coupling = {.method = methods[m / 2].method,
                                     .ratio = 50,
                                     .is_stale = is_stale,
                                     .element = &design.element};
      cut_run(&masses, &coupling, &want);
      if (!(fabs(want.v2[CUT_N - 1]) < 1e3)) {
        continue;  // it diverges: rounding grows with it
      }
      run_engine(&masses, is_stale ? "stale" : "fresh", methods[m / 2].coupling, &got);
      double size_v = 0, size_f = 0, v = 0, f = 0;
      for (size_t k = 0; k < CUT_N; k++) {
        size_v = fmax(size_v, fabs(want.v2[k]));
        size_f = fmax(size_f, fabs(want.force[k]));
        v = fmax(v, fabs(got.v2[k] - want.v2[k]));
        f = fmax(f, fabs(got.force[k] - want.force[k]));
      }
      worst = fmax(worst, fmax(v / size_v, f / size_f));
    }
  }
  print_message("%d systems, six couplings each: engine and loop agree to %.2g\n", n, worst);
  assert_true(worst < 1e-8);
}

// The same masses, set in motion: both are called every millisecond, as slots of their own or fifty times in one.
static sim open_moving(const char* step, const char* coupling) {
  return sim_open(
      "yoke: 1\ntime: {stop: 2, step: %s}\ninputs: start\nexchange: fresh\nunits:\n"
      "  left: {model: state_space, step: 0.001, with: {solver: euler,\n"
      "    A: [[0, 1, 0], [-22.5, -5.75, 15], [0, 0, 0]], B: [[0], [3.75], [1]],\n"
      "    C: [[600, 150, -600]], D: [[-150]], inputs: [v], outputs: [f]}}\n"
      "  right: {model: state_space, step: 0.001, with: {solver: euler, A: [[0, 1], [-10, -3]],\n"
      "    B: [[0], [0.05]], C: [[0, 1]], inputs: [f], outputs: [v], x0: [0, 3]}}\n"
      "connections:\n"
      "  - {from: left.f, to: right.f, exchange: 0.05, coupling: {%s}}\n"
      "  - {from: right.v, to: left.v, exchange: 0.05, coupling: {%s}}\n",
      step, coupling, coupling);
}

static void test_calls_are_slots(void** state) {
  static const char* const couplings[] = {"method: hold", "method: hold, order: 1", "method: hinf"};
  (void)state;
  for (size_t c = 0; c < 3; c++) {
    sim slots = open_moving("0.001", couplings[c]), calls = open_moving("0.05", couplings[c]);
    for (int k = 0; k < 40; k++) {
      assert_true(sim_read(&slots, "left.f") == sim_read(&calls, "left.f"));
      assert_true(sim_read(&slots, "right.v") == sim_read(&calls, "right.v"));
      sim_steps(&slots, 50);
      sim_steps(&calls, 1);
    }
    sim_close(&slots);
    sim_close(&calls);
  }
}

// ---- the contract of methods that know of fresh exchange (YOKE_COUPLING_FRESH), hinf.md 6

#define AHEAD 0.25  // the method says more than its sample, so that both are told apart

typedef struct watching {
  double sample, sent, said;
  bool has_said;
} watching;

// Over all signals: observations, those in two phases, those of the value that was sent just before, and inputs asked again.
static int n_observed, n_in_phases, n_refreshed, n_again;

static size_t watching_size(const yoke_coupling_setup* setup) {
  assert_int_equal(setup->n_signals, 1);
  return sizeof(watching);
}

static yoke_status watching_prepare(void* self, const yoke_coupling_setup* setup,
                                    const yoke_sink* sink) {
  (void)setup, (void)sink;
  *(watching*)self = (watching){.sent = (double)NAN};
  return YOKE_OK;
}

static void watching_observe(void* self, const yoke_coupling_moment* now, const double y[],
                             const double u[]) {
  watching* w = self;
  (void)u;
  n_observed++;
  n_in_phases += now->is_due != NULL;
  if (now->is_due == NULL || now->is_due[0]) {
    w->sample = y[0];
    n_refreshed += w->sent == y[0];
  }
  w->has_said = false;
}

static void watching_send(void* self, size_t signal, int64_t j, double y) {
  (void)signal, (void)j;
  ((watching*)self)->sent = y;
}

static void watching_input(void* self, size_t sink, double tau, double u[]) {
  watching* w = self;
  (void)sink;
  u[0] = w->sample + AHEAD;
  n_again += w->has_said && tau == 0;
  w->said = u[0];
  w->has_said = tau == 0;
}

static void watching_reset(void* self, yoke_coupling_reset why, const bool is_affected[]) {
  (void)self, (void)why, (void)is_affected;
}

// f follows v at once, and only `left` is fresh.
static const char* const follower =
    "yoke: 1\ntime: {stop: 2, step: 0.1}\ninputs: start\nunits:\n"
    "  left: {model: state_space, exchange: fresh, with: {A: [[-1]], B: [[0]], C: [[0]], "
    "D: [[-2]], inputs: [v], outputs: [f], solver: exact}}\n"
    "  right: {model: state_space, with: {A: [[-1]], B: [[1]], C: [[1]], inputs: [f], "
    "outputs: [v], x0: [1], solver: exact}}\n"
    "connections:\n"
    "  - {from: left.f, to: right.f, coupling: {method: watching}}\n"
    "  - {from: right.v, to: left.v, coupling: {method: watching}}\n";

static sim open_with(const yoke_coupling_ops* ops, const char* text) {
  yoke_registry* models = NULL;
  char messages[4096];
  sim s;
  check_ok(yoke_registry_create(&models));
  check_ok(yoke_registry_add_coupling(models, ops, NULL));
  if (sim_try(models, text, &s, messages, sizeof messages) < 0) {
    fail_msg("%s", messages);
  }
  yoke_registry_destroy(&models);
  return s;
}

// A method with the flag is observed in two phases and asked at tau = 0 for what the unit is evaluated with; one without is not.
static void test_HI_08_two_phases(void** state) {
  (void)state;
  for (int has_flag = 0; has_flag < 2; has_flag++) {
    const yoke_coupling_ops ops = {YOKE_COUPLING_HEAD,
                                   .name = "watching",
                                   .text = "says a quarter more than its sample",
                                   .flags = has_flag ? YOKE_COUPLING_FRESH : 0,
                                   .size = watching_size,
                                   .prepare = watching_prepare,
                                   .observe = watching_observe,
                                   .send = watching_send,
                                   .input = watching_input,
                                   .reset = watching_reset};
    sim s = open_with(&ops, follower);
    n_observed = n_in_phases = n_refreshed = n_again = 0;
    for (int k = 0; k < 20; k++) {
      sim_steps(&s, 1);
      const double given = sim_read(&s, "right.v") + (has_flag ? AHEAD : 0);
      assert_true(sim_read(&s, "left.f") == -2 * given);
    }
    // 20 exchanges of two signals; the input of the fresh unit is asked for by the exchange, and again by its step
    assert_true(n_observed >= 40);
    assert_int_equal(n_in_phases > 0, has_flag);
    assert_int_equal(n_again > 0, has_flag);
    // 20 observations of `right`, whose step sends what is observed; of `left` it is what the exchange has evaluated
    assert_int_equal(n_refreshed, has_flag ? 40 : 20);
    sim_close(&s);
  }
}

static const yoke_coupling_ops* base;

static void input_twice(void* self, size_t sink, double tau, double u[]) {
  double again = 0;
  base->input(self, sink, tau, u);
  base->input(self, sink, tau, &again);
  assert_true(u[0] == again);
}

// `input` may be called more than once for an instant: the same number, and the run that follows keeps its bits.
static void test_input_again(void** state) {
  static const char* const methods[] = {"hold", "hinf", "adaptive"};
  (void)state;
  for (size_t m = 0; m < 3; m++) {
    for (size_t i = 0; yoke_registry_coupling(NULL, i) != NULL; i++) {
      base = strcmp(yoke_registry_coupling(NULL, i)->name, methods[m]) == 0
                 ? yoke_registry_coupling(NULL, i)
                 : base;
    }
    assert_string_equal(base->name, methods[m]);
    assert_true((base->flags & YOKE_COUPLING_FRESH) != 0);
    yoke_coupling_ops ops = *base;
    ops.table_size = sizeof ops;
    ops.table_version = YOKE_CONTRACT_VERSION;
    ops.name = "twice";
    ops.input = input_twice;
    char text[2][4096];
    for (int k = 0; k < 2; k++) {
      const char* name = k == 0 ? methods[m] : "twice";
      snprintf(text[k], sizeof text[k],
               "yoke: 1\ntime: {stop: 2, step: 0.05}\ninputs: start\nexchange: fresh\nunits:\n"
               "  left: {model: state_space, step: 0.001, with: {solver: euler,\n"
               "    A: [[0, 1, 0], [-22.5, -5.75, 15], [0, 0, 0]], B: [[0], [3.75], [1]],\n"
               "    C: [[600, 150, -600]], D: [[-150]], inputs: [v], outputs: [f]}}\n"
               "  right: {model: state_space, step: 0.001, with: {solver: euler, A: [[0, 1], "
               "[-10, -3]],\n"
               "    B: [[0], [0.05]], C: [[0, 1]], inputs: [f], outputs: [v], x0: [0, 3]}}\n"
               "connections:\n"
               "  - {from: left.f, to: right.f, coupling: {method: %s%s}}\n"
               "  - {from: right.v, to: left.v, coupling: {method: %s%s}}\n",
               name, m == 0 ? ", order: 1" : "", name, m == 0 ? ", order: 1" : "");
    }
    sim once = open_with(&ops, text[0]), twice = open_with(&ops, text[1]);
    for (int k = 0; k < 40; k++) {
      sim_steps(&once, 1);
      sim_steps(&twice, 1);
      assert_true(sim_read(&once, "left.f") == sim_read(&twice, "left.f"));
      assert_true(sim_read(&once, "right.v") == sim_read(&twice, "right.v"));
    }
    sim_close(&once);
    sim_close(&twice);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_HI_08_dual_mass), cmocka_unit_test(test_HI_09_random_masses),
      cmocka_unit_test(test_calls_are_slots), cmocka_unit_test(test_HI_08_two_phases),
      cmocka_unit_test(test_input_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
