// Thermal networks reduced by elimination against the full set of equations (oracle/tableau.h), against closed forms and against
// the published numbers: E-01, E-02, E-03.
#include "base/base_message.h"
#include "estimate/estimate_model.h"
#include "estimate_benchmarks.h"
#include "estimate_random.h"
#include "linalg/linalg_dense.h"
#include "oracle/tableau.h"
#include "support/check.h"

static YOKE_CATCH(err);
static yoke_arena arena;

static yoke_heat_model open_model(const yoke_heat_network* network, const double g[],
                                  const double c[]) {
  yoke_heat_model model;
  const yoke_status status = yoke__heat_model_prepare(network, g, c, &arena, &model, &err.sink);
  if (status < 0) {
    fail_msg("%s", err.text);
  }
  return model;
}

static int close_arena(void** state) {
  (void)state;
  yoke__arena_free(&arena);
  return 0;
}

static void check_matrix(size_t n, const double got[], const double want[], double tolerance) {
  for (size_t i = 0; i < n; i++) {
    check_near(got[i], want[i], tolerance);
  }
}

// One step with held inputs.
static void discretise(const yoke_heat_model* m, double h, double E[], double G[]) {
  double Psi1[64], Psi2[64], work[256];
  assert_true(m->p <= 8);
  check_ok(yoke__discrete(m->p, m->Fc, h, E, Psi1, Psi2, work));
  yoke__mat_mul(m->p, m->p, m->r, Psi1, m->Gc, G);
}

// ---- E-01: sizes and matrices of the circuit

static void test_circuit_E_01(void** state) {
  (void)state;
  const yoke_heat_sizes sizes = yoke__heat_network_sizes(&rc_network);
  assert_int_equal(sizes.n, 10);
  assert_int_equal(sizes.m, 8);
  assert_int_equal(sizes.p, 2);
  assert_int_equal(sizes.r, 2);
  const yoke_heat_model m = open_model(&rc_network, rc_g, rc_c);
  static const double Fc[] = {-5, 5, 2.5, -25.0 / 6}, Gc[] = {10, 0, 0, 5.0 / 3};
  check_matrix(4, m.Fc, Fc, 1e-9);
  check_matrix(4, m.Gc, Gc, 1e-9);

  static const double F[] = {0.9950186998, 0.0049771463, 0.0024885731, 0.9958482241};
  static const double G[] = {9.9750623743e-3, 4.1539614e-6, 1.24618843e-5, 1.6632027226e-3};
  double E[4], Gd[4];
  discretise(&m, 1e-3, E, Gd);
  check_matrix(4, E, F, 1e-10);
  check_matrix(4, Gd, G, 1e-10);
  check_matrix(4, E, F, 1e-9);

  // T1 = T2 + Q0 R1
  double x[4];
  yoke__heat_model_temperatures(&m, rc_z0, rc_v, x);
  check_near(x[0], 309.0, 1e-12);
  check_near(x[3], 300.0, 0.0);
}

// ---- E-02: trajectories of the circuit

static void test_circuit_constant_heat_E_02(void** state) {
  (void)state;
  static const double table[][4] = {
      {0.05, 313.854535, 303.854535, 300.993865}, {0.1, 317.694084, 307.694084, 301.473896},
      {0.2, 323.462818, 313.462818, 303.209113},  {0.5, 334.154816, 324.154816, 309.641576},
      {1, 344.586541, 334.586541, 317.744518},    {2, 354.461319, 344.461319, 325.594902},
      {5, 359.742887, 349.742887, 329.795509},    {10, 359.998458, 349.998458, 329.998774}};
  const yoke_heat_model m = open_model(&rc_network, rc_g, rc_c);
  double E[4], G[4], z[2] = {299, 301}, x[4];
  discretise(&m, 1e-3, E, G);
  size_t row = 0;
  for (int k = 1; k <= 10000; k++) {
    double next[2];
    yoke__mat_vec(2, 2, E, z, next);
    yoke__mat_vec_add(2, 2, G, rc_v, next);
    memcpy(z, next, sizeof z);
    if (row < YOKE_COUNT(table) && k == lround(1000 * table[row][0])) {
      yoke__heat_model_temperatures(&m, z, rc_v, x);
      check_matrix(3, x, table[row++] + 1, 1e-6);
    }
  }
  assert_int_equal(row, YOKE_COUNT(table));

  // and rest
  static const double rest[] = {360, 350, 330};
  check_ok(yoke__heat_model_rest(&m, rc_v, z));
  yoke__heat_model_temperatures(&m, z, rc_v, x);
  check_matrix(3, x, rest, 1e-10);
}

// Heat 10 (1 + sin 10 pi t) by an oscillator beside the network: one exponential for the whole time.
static void test_circuit_sinusoidal_heat_E_02(void** state) {
  (void)state;
  static const double table[][4] = {
      {0.05, 326.774550, 306.774550, 301.122541}, {0.1, 322.768879, 312.768879, 302.087072},
      {0.2, 321.863944, 311.863944, 303.844298},  {0.5, 338.094458, 328.094458, 310.362227},
      {1, 342.021860, 332.021860, 318.076287},    {2, 351.572961, 341.572961, 325.669929},
      {5, 356.681626, 346.681626, 329.733021}};
  const yoke_heat_model m = open_model(&rc_network, rc_g, rc_c);
  const double w = 31.41592653589793;

  // states: T2 T3, sin, cos, 1
  double A[25] = {0};
  for (size_t i = 0; i < 2; i++) {
    A[i * 5] = m.Fc[2 * i];
    A[i * 5 + 1] = m.Fc[2 * i + 1];
    A[i * 5 + 2] = 10 * m.Gc[2 * i];
    A[i * 5 + 4] = 10 * m.Gc[2 * i] + 300 * m.Gc[2 * i + 1];
  }
  A[2 * 5 + 3] = w;
  A[3 * 5 + 2] = -w;
  static const double start[] = {299, 301, 0, 1, 1};
  for (size_t row = 0; row < YOKE_COUNT(table); row++) {
    double E[25], Psi1[25], Psi2[25], work[100], y[5], x[4];
    check_ok(yoke__discrete(5, A, table[row][0], E, Psi1, Psi2, work));
    yoke__mat_vec(5, 5, E, start, y);
    const double v[] = {10 * (1 + y[2]), 300};
    yoke__heat_model_temperatures(&m, y, v, x);
    check_matrix(3, x, table[row] + 1, 1e-6);
  }
}

// ---- E-03: the inverter

static void test_inverter_E_03(void** state) {
  (void)state;
  const yoke_heat_sizes sizes = yoke__heat_network_sizes(&inverter_network);
  assert_int_equal(sizes.n, 37);
  assert_int_equal(sizes.m, 32);
  assert_int_equal(sizes.p, 5);
  assert_int_equal(sizes.r, 8);
  double g[12], c[5], z[5], x[14];
  inverter_elements(&inverter_plant, g, c);
  const yoke_heat_model m = open_model(&inverter_network, g, c);
  static const double Fc[] = {
      -21.88623893, 1.45109286,  1.45109286,  18.98405321, 0,          1.45109286,
      -21.88623893, 1.45109286,  18.98405321, 0,           1.45109286, 1.45109286,
      -21.88623893, 18.98405321, 0,           0.78303825,  0.78303825, 0.78303825,
      -4.89641492,  2.54730018,  0,           0,           0,          0.68546908,
      -5.78747190};
  check_matrix(25, m.Fc, Fc, 1e-7);
  for (size_t i = 0; i < 6; i++) {
    check_near(m.Gc[(i / 2) * 8 + i], 0.78740157, 1e-7);
  }
  check_near(m.Gc[4 * 8 + 6], 5.10200281, 1e-7);

  // rest
  check_ok(yoke__heat_model_rest(&m, inverter_v, z));
  yoke__heat_model_temperatures(&m, z, inverter_v, x);
  static const double rest[] = {379.528, 379.528, 379.528, 379.528, 379.528, 379.528,
                                378.454, 378.454, 378.454, 364.418, 361.200, 345.288};
  check_matrix(12, x, rest, 1e-3);

  // step response of case 1: T1 T7 T11 T12
  static const double table[][5] = {
      {0.05, 354.9824, 353.9085, 343.8147, 343.1577}, {0.1, 359.8089, 358.7350, 345.0843, 343.1947},
      {0.2, 364.3689, 363.2950, 347.7640, 343.3532},  {0.5, 371.0481, 369.9742, 353.5572, 344.0219},
      {1, 376.1824, 375.1085, 358.1806, 344.7652},    {2, 379.0025, 377.9286, 360.7254, 345.2052},
      {5, 379.5261, 378.4522, 361.1980, 345.2875}};
  for (size_t row = 0; row < YOKE_COUNT(table); row++) {
    const double start[] = {343.15, 343.15, 343.15, 343.15, 343.15};
    double E[25], G[40];
    discretise(&m, table[row][0], E, G);
    yoke__mat_vec(5, 5, E, start, z);
    yoke__mat_vec_add(5, 8, G, inverter_v, z);
    yoke__heat_model_temperatures(&m, z, inverter_v, x);
    const double got[] = {x[0], x[6], x[10], x[11]};
    check_matrix(4, got, table[row] + 1, 1e-4);
  }
}

// ---- elimination is the tableau

// Largest difference relative to the largest element.
static double difference(size_t n, const double got[], const real want[]) {
  double most = 0, size = 0;
  for (size_t i = 0; i < n; i++) {
    most = fmax(most, fabs(got[i] - (double)want[i]));
    size = fmax(size, fabs((double)want[i]));
  }
  return size > 0 ? most / size : most;
}

static void compare(const yoke_heat_network* network, const double g[], const double c[],
                    double tolerance) {
  double R[64];
  for (size_t e = 0; e < network->n_resistors; e++) {
    R[e] = 1.0 / g[e];
  }
  const yoke_heat_model m = open_model(network, g, c);
  tableau t = tableau_make(network, R, c);
  check_between(difference(m.n_nodes * m.p, m.T, t.T), 0, tolerance);
  check_between(difference(m.n_nodes * m.r, m.B, t.B), 0, tolerance);
  check_between(difference(m.p * m.p, m.Fc, t.Fc), 0, tolerance);
  check_between(difference(m.p * m.r, m.Gc, t.Gc1), 0, tolerance);
  for (size_t i = 0; i < m.p * m.r; i++) {
    check_near((double)t.Gc2[i], 0, 1e-12);
  }
  tableau_free(&t);
}

static void test_inverter_is_tableau_E_03(void** state) {
  (void)state;
  const inverter_parameters* sets[] = {&inverter_plant, &inverter_guess, &inverter_tuned};
  for (size_t i = 0; i < 3; i++) {
    double g[12], c[5];
    inverter_elements(sets[i], g, c);
    compare(&inverter_network, g, c, 1e-10);
  }
  compare(&rc_network, rc_g, rc_c, 1e-10);
}

// ---- random networks

static void test_random_networks_are_tableau_E_03(void** state) {
  (void)state;
  uint64_t seed = 1;
  for (int i = 0; i < 50; i++) {
    random_network w;
    make_random(&w, &seed);
    compare(&w.network, w.g, w.c, 1e-10);
    yoke__arena_free(&arena);
  }
}

// Derivatives by reciprocity against equation (15).
static void test_slopes_are_tableau(void** state) {
  (void)state;
  uint64_t seed = 2;
  for (int trial = 0; trial < 20; trial++) {
    random_network w;
    make_random(&w, &seed);
    double R[N_RESISTORS];
    for (size_t e = 0; e < w.network.n_resistors; e++) {
      R[e] = 1 / w.g[e];
    }
    const yoke_heat_model m = open_model(&w.network, w.g, w.c);
    tableau t = tableau_make(&w.network, R, w.c);
    real* dT = calloc(t.n * t.p, sizeof *dT);
    real* dB = calloc(t.n * t.r, sizeof *dB);
    double z[N_NODES] = {0}, v[N_INPUTS] = {0}, x[N_NODES];
    for (size_t i = 0; i < m.p; i++) {
      z[i] = random_between(&seed, 280, 400);
    }
    for (size_t i = 0; i < m.r; i++) {
      v[i] = random_between(&seed, 0, 400);
    }
    yoke__heat_model_temperatures(&m, z, v, x);

    for (size_t e = 0; e < w.network.n_resistors; e++) {
      tableau_slope(&t, e, dT, dB);
      double dq[N_NODES] = {0};
      yoke__heat_model_slope(&m, e, x, -w.g[e] * w.g[e], dq);
      for (size_t k = 0; k < t.n; k++) {
        real want = 0;
        for (size_t i = 0; i < t.p; i++) {
          want += dT[k * t.p + i] * (real)z[i];
        }
        for (size_t i = 0; i < t.r; i++) {
          want += dB[k * t.r + i] * (real)v[i];
        }
        const double per_R = -w.g[e] * w.g[e];
        double got = (double)want;
        if (k < m.n_nodes) {
          const yoke_heat_row row = {YOKE_ROW_TEMPERATURE, (uint32_t)k, 0};
          got = per_R * yoke__heat_row_slope(&m, row, e, x);
        } else if (k >= tableau_resistor(&t, 0) && k < tableau_capacity(&t, 0)) {
          const yoke_heat_row row = {YOKE_ROW_FLOW, (uint32_t)(k - tableau_resistor(&t, 0)), 0};
          got = per_R * yoke__heat_row_slope(&m, row, e, x);
        } else if (k >= tableau_capacity(&t, 0)) {
          got = dq[k - tableau_capacity(&t, 0)];
        }
        // differences of temperatures up to 400 K, conductances up to 100 W/K
        check_near(got, (double)want, 1e-10 * (1 + 4e4 * w.g[e]));
      }
    }
    free(dT);
    free(dB);
    tableau_free(&t);
    yoke__arena_free(&arena);
  }
}

// Every kind of row: its value is its line times z and v.
static void test_rows(void** state) {
  (void)state;
  double g[12], c[5], x[14], z[] = {350, 351, 353, 347, 344};
  inverter_elements(&inverter_plant, g, c);
  const yoke_heat_model m = open_model(&inverter_network, g, c);
  yoke__heat_model_temperatures(&m, z, inverter_v, x);
  static const yoke_heat_row rows[] = {{YOKE_ROW_TEMPERATURE, 0, 0},  {YOKE_ROW_TEMPERATURE, 9, 0},
                                       {YOKE_ROW_TEMPERATURE, 12, 0}, {YOKE_ROW_DIFFERENCE, 9, 2},
                                       {YOKE_ROW_FLOW, 9, 0},         {YOKE_ROW_INPUT, 3, 0}};
  for (size_t i = 0; i < YOKE_COUNT(rows); i++) {
    double over_z[5], over_v[8];
    yoke__heat_row_line(&m, rows[i], over_z, over_v);
    double sum = 0;
    for (size_t j = 0; j < 5; j++) {
      sum += over_z[j] * z[j];
    }
    for (size_t j = 0; j < 8; j++) {
      sum += over_v[j] * inverter_v[j];
    }
    check_near(yoke__heat_row_value(&m, rows[i], x, inverter_v), sum, 1e-9);
    yoke__heat_row_line(&m, rows[i], NULL, over_v);
    yoke__heat_row_line(&m, rows[i], over_z, NULL);
  }
  // heat through the silver is all that three branches carry
  check_near(yoke__heat_row_value(&m, rows[4], x, inverter_v),
             g[6] * (x[6] + x[7] + x[8] - 3 * x[9]), 1e-9);

  // heat into the capacities is c z'
  double q[5], rate[5];
  yoke__heat_model_heat(&m, z, inverter_v, q);
  yoke__mat_vec(5, 5, m.Fc, z, rate);
  yoke__mat_vec_add(5, 8, m.Gc, inverter_v, rate);
  for (size_t i = 0; i < 5; i++) {
    check_near(q[i], c[i] * rate[i], 1e-9);
  }
}

// ---- refusals

static void check_refused(const yoke_heat_network* network, const double g[], const double c[],
                          const char* what) {
  yoke_heat_model m;
  assert_true(yoke__heat_model_prepare(network, g, c, &arena, &m, &err.sink) < 0);
  check_contains(err.text, what);
}

static void test_refusals(void** state) {
  (void)state;
  yoke_heat_network w = rc_network;
  static const double no_g[] = {0, 0.5, 0.3}, bad_g[] = {-1, 0.5, 0.3}, bad_c[] = {0.1, 0};
  check_refused(&w, no_g, rc_c, "node '1' floats");
  check_refused(&w, bad_g, rc_c, "resistor 'R1' must be 0 or more");
  check_refused(&w, rc_g, bad_c, "'C2' must be positive");

  static const yoke_heat_capacity twice[] = {{"C1", 1}, {"C2", 1}};
  w.capacities = twice;
  check_refused(&w, rc_g, rc_c, "'C1' and 'C2' sit on the same node '2'");
  static const yoke_heat_capacity on_air[] = {{"C1", 1}, {"C2", 3}};
  w.capacities = on_air;
  check_refused(&w, rc_g, rc_c, "'C2' sits on node 'air', whose temperature is imposed");
  w.n_capacities = 0;
  check_refused(&w, rc_g, rc_c, "no heat capacity");
  w = rc_network;
  static const yoke_heat_resistor far[] = {{"R1", 0, 1}, {"R2", 1, 2}, {"R3", 2, 9}};
  w.resistors = far;
  check_refused(&w, rc_g, rc_c, "'R3' is connected to node 9");
  static const yoke_heat_resistor loop[] = {{"R1", 0, 1}, {"R2", 1, 2}, {"R3", 2, 2}};
  w.resistors = loop;
  check_refused(&w, rc_g, rc_c, "'R3' has both ends on node '3'");

  // adrift: it can be simulated, but does not come to rest
  static const double adrift[] = {1, 0.5, 0};
  const yoke_heat_model m = open_model(&rc_network, adrift, rc_c);
  double z[2];
  assert_int_equal(yoke__heat_model_rest(&m, rc_v, z), YOKE_SINGULAR);

  // what can no longer be solved is said in the step, too
  m.g[0] = 0;
  yoke_heat_model again = m;
  assert_int_equal(yoke__heat_model_update(&again), YOKE_SINGULAR);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_circuit_E_01, close_arena),
      cmocka_unit_test_teardown(test_circuit_constant_heat_E_02, close_arena),
      cmocka_unit_test_teardown(test_circuit_sinusoidal_heat_E_02, close_arena),
      cmocka_unit_test_teardown(test_inverter_E_03, close_arena),
      cmocka_unit_test_teardown(test_inverter_is_tableau_E_03, close_arena),
      cmocka_unit_test_teardown(test_random_networks_are_tableau_E_03, close_arena),
      cmocka_unit_test_teardown(test_slopes_are_tableau, close_arena),
      cmocka_unit_test_teardown(test_rows, close_arena),
      cmocka_unit_test_teardown(test_refusals, close_arena),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
