// `exchange: fresh` with coupling methods (hinf.md 6): a unit is evaluated anew with what its method says at that instant, at every
// exchange and after every call between two. The deterministic case of the dual mass-spring-damper, hinf.md 9.5 (HI-08).
#include <math.h>
#include <stdlib.h>

#include "support/check.h"
#include "support/sim.h"
#include "yoke/yoke.h"

#define N_STEPS 5000  // of 1 ms

// m1 = 40, m2 = 20, k1 = 300, kc = 600, k2 = 200, d1 = 80, dc = 150, d2 = 60; 1000 N for 0.1 s at 0.5 and 2.5 s. The spring
// belongs to `left`, which integrates the speed of the other mass itself. Calls and exchange as given.
static sim open_masses(const char* exchange, const char* step, const char* coupling) {
  return sim_open(
      "yoke: 1\ntime: {stop: 5, step: %s}\ninputs: start\nexchange: %s\nunits:\n"
      "  left: {model: state_space, step: 0.001, with: {solver: euler,\n"
      "    A: [[0, 1, 0], [-22.5, -5.75, 15], [0, 0, 0]], B: [[0], [3.75], [1]],\n"
      "    C: [[600, 150, -600], [1, 0, 0]], D: [[-150], [0]], inputs: [v], outputs: [f, x]}}\n"
      "  right: {model: state_space, step: 0.001, with: {solver: euler,\n"
      "    A: [[0, 1], [-10, -3]], B: [[0, 0, 0, 0, 0], [0.05, 0.05, 0.05, 0.05, 0.05]],\n"
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
      step, exchange, coupling, coupling);
}

// The undivided system by explicit Euler: v2 and F_c at every millisecond.
static void reference(double v[], double f[]) {
  double x1 = 0, v1 = 0, x2 = 0, v2 = 0;
  for (int k = 0; k <= N_STEPS; k++) {
    const double h = 1e-3, F = 600 * (x1 - x2) + 150 * (v1 - v2);
    const double p = (k >= 500 && k < 600) || (k >= 2500 && k < 2600) ? 1000 : 0;
    v[k] = v2;
    f[k] = F;
    const double a1 = (-300 * x1 - 80 * v1 - F) / 40, a2 = (-200 * x2 - 60 * v2 + F + p) / 20;
    x1 += h * v1;
    v1 += h * a1;
    x2 += h * v2;
    v2 += h * a2;
  }
}

typedef struct figures {
  double v_error, f_error;  // root mean squares
  double v, f;              // at 1 s
} figures;

static figures run(const char* exchange, const char* coupling) {
  double* v = malloc((N_STEPS + 1) * sizeof *v);
  double* f = malloc((N_STEPS + 1) * sizeof *f);
  assert_true(v != NULL && f != NULL);
  reference(v, f);
  check_near(v[600], 3.052940, 1e-6);
  check_near(f[600], -458.2745, 1e-4);
  check_near(v[5000], 0.091738, 1e-6);
  figures got = {0, 0, 0, 0};
  sim s = open_masses(exchange, "0.001", coupling);
  for (int k = 0; k <= N_STEPS; k++) {
    if (k > 0) {
      sim_steps(&s, 1);
    }
    const double dv = sim_read(&s, "right.v") - v[k], df = sim_read(&s, "left.f") - f[k];
    got.v_error += dv * dv / (N_STEPS + 1);
    got.f_error += df * df / (N_STEPS + 1);
    if (k == 1000) {
      got.v = sim_read(&s, "right.v");
      got.f = sim_read(&s, "left.f");
    }
  }
  got.v_error = sqrt(got.v_error);
  got.f_error = sqrt(got.f_error);
  sim_close(&s);
  free(v);
  free(f);
  return got;
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
      cmocka_unit_test(test_calls_are_slots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
