// `exchange: fresh` with coupling methods (hinf.md 6): a unit is evaluated anew with what its method says at that instant, at every
// exchange and after every call between two. The deterministic case of the dual mass-spring-damper, hinf.md 9.5 (HI-08).
#include <math.h>
#include <stdlib.h>

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_HI_08_dual_mass),
      cmocka_unit_test(test_HI_09_random_masses),
      cmocka_unit_test(test_calls_are_slots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
