// The exchange interval as a matrix: equations (H4) and (H5), published radii, and the growth of loops that are stepped.
#include "synth/synth_macro.h"

#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/sim.h"

// Two masses, cut at spring and damper: force one way, speed the other (HINF specification 1.1). States x1, v1, x2c | x2, v2.
typedef struct masses {
  double A1[9], B1[3], C1[3], D1[1], A2[4], B2[2], C2[2], D2[1];
  double F1[9], G1[3], F2[4], G2[2], L[4];
  yoke_synth_unit units[2];
} masses;

static void cut(double m1, double m2, double k1, double kc, double k2, double d1, double dc,
                double d2, double step, double micro, masses* to) {
  *to = (masses){
      .A1 = {0, 1, 0, -(k1 + kc) / m1, -(d1 + dc) / m1, kc / m1, 0, 0, 0},
      .B1 = {0, dc / m1, 1},
      .C1 = {kc, dc, -kc},
      .D1 = {-dc},
      .A2 = {0, 1, -k2 / m2, -d2 / m2},
      .B2 = {0, 1 / m2},
      .C2 = {0, 1},
      .L = {0, 1, 1, 0},
  };
  check_ok(yoke__synth_discretise(3, 1, to->A1, to->B1, step, micro, to->F1, to->G1));
  check_ok(yoke__synth_discretise(2, 1, to->A2, to->B2, step, micro, to->F2, to->G2));
  to->units[0] = (yoke_synth_unit){3, 1, 1, to->F1, to->G1, to->C1, to->D1};
  to->units[1] = (yoke_synth_unit){2, 1, 1, to->F2, to->G2, to->C2, to->D2};
}

static yoke_synth_radius radius_of(const masses* m, yoke_synth_path path, size_t n_calls,
                                   const yoke_synth_element* element, bool is_fresh, size_t delay) {
  const yoke_synth_path paths[] = {path, path};
  const size_t delays[] = {delay, delay};
  const yoke_synth_loop loop = {m->units, 2, m->L, paths, delays, element, n_calls, is_fresh};
  yoke_synth_radius radius;
  check_ok(yoke__synth_macro_radius(&loop, &radius));
  return radius;
}

// Spectral radius of (H4) or (H5) with E and K over the whole interval.
static double published_radius(const masses* m, double interval, bool is_fresh) {
  double E1[9], K1[3], E2[4], K2[2], A[49] = {0}, radius = 0;
  check_ok(yoke__synth_discretise(3, 1, m->A1, m->B1, interval, 0, E1, K1));
  check_ok(yoke__synth_discretise(2, 1, m->A2, m->B2, interval, 0, E2, K2));
  const double dc = m->D1[0];
  // stale: x+ = E x + K y, y+ = C x+ + D y, y = (F, v2), u = (v2, F); fresh: F = C1 x1 + D v2 with v2 = C2 x2
  const size_t n = is_fresh ? 5 : 7;
  for (size_t i = 0; i < 3; i++) {
    for (size_t j = 0; j < 3; j++) {
      A[i * n + j] = E1[i * 3 + j];
    }
    A[i * n + (is_fresh ? 4 : 6)] = K1[i];
  }
  for (size_t i = 0; i < 2; i++) {
    for (size_t j = 0; j < 2; j++) {
      A[(3 + i) * n + 3 + j] = E2[i * 2 + j];
    }
    for (size_t j = 0; j < 3 && is_fresh; j++) {
      A[(3 + i) * n + j] += K2[i] * m->C1[j];
    }
    A[(3 + i) * n + (is_fresh ? 4 : 5)] += is_fresh ? K2[i] * dc : K2[i];
  }
  for (size_t j = 0; j < n && !is_fresh; j++) {
    for (size_t i = 0; i < 3; i++) {
      A[5 * n + j] += m->C1[i] * A[i * n + j];
    }
    A[6 * n + j] = A[4 * n + j];
  }
  if (!is_fresh) {
    A[5 * n + 6] += dc;
  }
  check_ok(yoke__spectral_radius(n, A, &radius));
  return radius;
}

// HI-06: the probed map has the radius of (H4) and (H5); with coupling by speed one eigenvalue is 1.
static void test_HI_06_published_matrices(void** state) {
  (void)state;
  masses m;
  cut(5, 1, 197.4, 50, 39.48, 31.4, 5, 6.28, 0.005, 0, &m);
  for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
    const yoke_synth_radius got = radius_of(&m, YOKE_SYNTH_PATH_HOLD, 10, NULL, is_fresh == 1, 0);
    check_near(got.largest, published_radius(&m, 0.05, is_fresh == 1), 1e-10);
    assert_true(got.has_one);
    check_near(got.largest, 1, 1e-9);
    assert_true(got.next < 1);
  }
}

// HI-03: a loop gain below 1 and unstable all the same, radius 1.1240 stale and fresh (HINF specification 4.5).
static void test_HI_03_counter_example(void** state) {
  (void)state;
  const double pi = acos(-1.0), w1 = 2 * pi * 0.78921, w2 = 2 * pi * 9.79544, m1 = 32.124,
               m2 = 42.931;
  masses m;
  cut(m1, m2, m1 * w1 * w1, 8354.9, m2 * w2 * w2, 2 * 0.20022 * w1 * m1, 0.2178,
      2 * 0.045879 * w2 * m2, 0.138322 / 8, 0, &m);
  for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
    const yoke_synth_radius got = radius_of(&m, YOKE_SYNTH_PATH_HOLD, 8, NULL, is_fresh == 1, 0);
    check_near(got.largest, 1.1240, 5e-4);
    check_near(got.largest, published_radius(&m, 0.138322, is_fresh == 1), 1e-9);
  }
}

// ---- against the engine

static sim open_engine(const masses* m, const char* exchange, const char* coupling, int delay) {
  return sim_open("yoke: 1\ntime: {stop: 1000, step: 0.05}\ninputs: start\nexchange: %s\nunits:\n"
                  "  left: {model: state_space, step: 0.001, with: {solver: euler,\n"
                  "    A: [[0, 1, 0], [%.17g, %.17g, %.17g], [0, 0, 0]], B: [[0], [%.17g], [1]],\n"
                  "    C: [[%.17g, %.17g, %.17g]], D: [[%.17g]], inputs: [v], outputs: [f]}}\n"
                  "  right: {model: state_space, step: 0.001, with: {solver: euler,\n"
                  "    A: [[0, 1], [%.17g, %.17g]], B: [[0], [%.17g]], C: [[0, 1], [1, 0]],\n"
                  "    inputs: [f], outputs: [v, x], x0: [0.1, 3]}}\n"
                  "connections:\n"
                  "  - {from: left.f, to: right.f, delay: %g, coupling: {%s}}\n"
                  "  - {from: right.v, to: left.v, delay: %g, coupling: {%s}}\n",
                  exchange, m->A1[3], m->A1[4], m->A1[5], m->B1[1], m->C1[0], m->C1[1], m->C1[2],
                  m->D1[0], m->A2[2], m->A2[3], m->B2[1], 0.05 * delay, coupling, 0.05 * delay,
                  coupling);
}

// Growth per exchange of the speed, the constant part left out by differences, over blocks of exchanges late in the run.
static double growth_of(sim* s, int n_settle, int n_block) {
  double size[2] = {0, 0}, last = 0;
  sim_steps(s, n_settle);
  for (int b = 0; b < 2; b++) {
    for (int k = 0; k < n_block; k++) {
      sim_steps(s, 1);
      const double v = sim_read(s, "right.v");
      size[b] += (v - last) * (v - last);
      last = v;
    }
    if (b == 0) {
      size[0] = size[0] > 0 ? size[0] : 1;
    }
  }
  return pow(size[1] / size[0], 0.5 / n_block);
}

// Loops of all kinds grow or decay per exchange as the matrix says.
static void test_radius_is_that_of_runs(void** state) {
  static const struct {
    yoke_synth_path path;
    const char* coupling;
    int delay;
  } rows[] = {
      {YOKE_SYNTH_PATH_HOLD, "method: hold", 0},
      {YOKE_SYNTH_PATH_LINE, "method: hold, order: 1", 0},
      {YOKE_SYNTH_PATH_ELEMENT, "method: hinf, recipe: T", 0},
      {YOKE_SYNTH_PATH_HOLD, "method: hold", 2},
      {YOKE_SYNTH_PATH_ELEMENT, "method: hinf", 2},
  };
  (void)state;
  masses m;
  cut(4, 6, 700, 900, 300, 20, 12, 10, 0.001, 0.001, &m);
  int n_grow = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    yoke_synth_settings set = yoke__synth_settings_default(
        rows[i].delay > 0 ? YOKE_RECIPE_L : YOKE_RECIPE_T, 0.05, 0.001);
    set.delay = 0.05 * rows[i].delay;
    yoke_synth_design design;
    check_ok(yoke__synth_design(&set, YOKE_SYNTH_SWEEPS, &design, NULL));
    for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
      const yoke_synth_radius want =
          radius_of(&m, rows[i].path, 50, &design.element, is_fresh == 1, (size_t)rows[i].delay);
      sim s = open_engine(&m, is_fresh == 1 ? "fresh" : "stale", rows[i].coupling, rows[i].delay);
      const double radius = want.has_one ? want.next : want.largest;
      // as long as numbers carry it, from 1e-10 to 1e10 of the start
      const int n = (int)fmin(400, 20 / fabs(log10(radius) + 1e-6));
      const double got = growth_of(&s, n / 2, n / 4);
      print_message("%s, delay %d, %s: radius %.6f, run %.6f\n", rows[i].coupling, rows[i].delay,
                    is_fresh == 1 ? "fresh" : "stale", radius, got);
      check_relative(got, radius, 0.02);
      n_grow += radius > 1;
      sim_close(&s);
    }
  }
  assert_true(n_grow > 0 && n_grow < 10);
}

// Feedthrough round the loop has no order of evaluation.
static void test_fresh_loop_is_refused(void** state) {
  (void)state;
  const double C[1] = {0}, D[] = {0.5}, L[] = {0, 1, 1, 0};
  const yoke_synth_unit units[] = {{0, 1, 1, NULL, NULL, C, D}, {0, 1, 1, NULL, NULL, C, D}};
  const yoke_synth_path paths[] = {YOKE_SYNTH_PATH_HOLD, YOKE_SYNTH_PATH_HOLD};
  yoke_synth_loop loop = {units, 2, L, paths, NULL, NULL, 4, true};
  yoke_synth_radius radius;
  assert_int_equal(yoke__synth_macro_radius(&loop, &radius), YOKE_SINGULAR);
  loop.is_fresh = false;
  check_ok(yoke__synth_macro_radius(&loop, &radius));
  check_near(radius.largest, 0.5, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_HI_06_published_matrices),
      cmocka_unit_test(test_HI_03_counter_example),
      cmocka_unit_test(test_radius_is_that_of_runs),
      cmocka_unit_test(test_fresh_loop_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
