// The filters against slow and plain ones in long double: rows and their derivatives against the full set of equations (E-04), the
// linear filter against the textbook, and estimation errors against the covariance that the filter claims.
#include "base/base_message.h"
#include "estimate/estimate_filter_part.h"
#include "estimate/estimate_innovation.h"
#include "estimate/estimate_kalman.h"
#include "estimate_random.h"
#include "estimate_scenario.h"
#include "oracle/tableau.h"
#include "support/check.h"

static YOKE_CATCH(err);
static yoke_arena arena;

static int close_arena(void** state) {
  (void)state;
  yoke__arena_free(&arena);
  return 0;
}

// ---- E-04: rows of the filter with derivatives

enum { MAX_ROWS = 24 };

// Readings and heat balances at q, from the tableau.
static void rows_plainly(const yoke_estimate* f, const double q[], const double g0[],
                         const double c0[], const double v0[], real rows[]) {
  const yoke_heat_network* w = f->setup.network;
  double g[64], c[64], R[64], v[16];
  memcpy(g, g0, w->n_resistors * sizeof *g);
  memcpy(c, c0, w->n_capacities * sizeof *c);
  memcpy(v, v0, w->n_inputs * sizeof *v);
  real offsets[MAX_ROWS] = {0};
  for (size_t j = 0; j < f->n_rho; j++) {
    const yoke_unknown* u = &f->setup.unknowns[j];
    const double theta = q[f->rho_at + j];
    for (size_t t = 0; t < u->n_targets; t++) {
      const uint32_t target = u->targets[t];
      if (u->kind == YOKE_UNKNOWN_RESISTANCE) {
        g[target] = 1 / (u->factors[t] * theta);
      } else if (u->kind == YOKE_UNKNOWN_CONDUCTANCE) {
        g[target] = theta / u->factors[t];
      } else if (u->kind == YOKE_UNKNOWN_CAPACITY) {
        c[target] = u->factors[t] * theta;
      } else if (u->kind == YOKE_UNKNOWN_INPUT) {
        v[target] = u->factors[t] * theta;
      } else {
        offsets[target] = (real)(u->factors[t] * theta);
      }
    }
  }
  for (size_t e = 0; e < w->n_resistors; e++) {
    R[e] = 1 / g[e];
  }
  tableau t = tableau_make(w, R, c);
  real x[128] = {0};
  for (size_t k = 0; k < t.n; k++) {
    for (size_t i = 0; i < t.p; i++) {
      x[k] += t.T[k * t.p + i] * (real)q[i];
    }
    for (size_t i = 0; i < t.r; i++) {
      x[k] += t.B[k * t.r + i] * (real)v[i];
    }
  }
  for (size_t i = 0; i < f->setup.n_sensors; i++) {
    const yoke_heat_row row = f->setup.sensors[i].row;
    rows[i] = offsets[i] + (row.kind == YOKE_ROW_TEMPERATURE  ? x[row.index]
                            : row.kind == YOKE_ROW_DIFFERENCE ? x[row.index] - x[row.other]
                            : row.kind == YOKE_ROW_FLOW       ? x[tableau_resistor(&t, row.index)]
                                                              : (real)v[row.index]);
  }
  for (size_t i = 0; i < t.p; i++) {
    rows[f->setup.n_sensors + i] = x[tableau_capacity(&t, i)] - (real)c[i] * (real)q[t.p + i];
  }
  tableau_free(&t);
}

// Central differences of every row by every state, at a point that is far from any solution.
static void check_rows(const yoke_estimate_setup* setup, const double v[], uint64_t* seed,
                       double tolerance) {
  yoke_estimate* f = filter_make(setup, &arena, &err);
  double q[32], z[16];
  for (size_t i = 0; i < f->p; i++) {
    z[i] = random_between(seed, 280, 380);
  }
  check_ok(yoke__estimate_start(f, z, v));
  memcpy(q, yoke__estimate_mean(f), f->n * sizeof *q);
  for (size_t i = f->p; i < f->n; i++) {
    q[i] *= random_between(seed, 0.5, 2);
  }
  check_ok(yoke__estimate_set_mean(f, q, NULL));

  // a correction without readings leaves its rows behind
  double readings[MAX_ROWS];
  for (size_t i = 0; i < setup->n_sensors; i++) {
    readings[i] = (double)NAN;
  }
  check_ok(yoke__estimate_correct(f, v, readings, NULL));
  const size_t n_rows = setup->n_sensors + f->p;
  assert_true(n_rows <= MAX_ROWS);
  real at[MAX_ROWS], high[MAX_ROWS], low[MAX_ROWS];
  rows_plainly(f, q, setup->g, setup->c, v, at);
  for (size_t i = 0; i < n_rows; i++) {
    check_near(f->expected[i], (double)at[i], 1e-8 * (1 + fabs((double)at[i])));
  }
  for (size_t j = 0; j < f->n; j++) {
    const double before = q[j], step = 1e-5 * fabs(before);
    q[j] = before + step;
    rows_plainly(f, q, setup->g, setup->c, v, high);
    q[j] = before - step;
    rows_plainly(f, q, setup->g, setup->c, v, low);
    q[j] = before;

    // relative to the largest one of the column, of sensors and of balances apart
    double most[2] = {0, 0}, off[2] = {0, 0}, size[2] = {0, 0};
    for (size_t i = 0; i < n_rows; i++) {
      const int part = i < setup->n_sensors ? 0 : 1;
      const double slope = (double)((high[i] - low[i]) / (2 * (real)step));
      size[part] = fmax(size[part], fabs((double)at[i]));
      most[part] = fmax(most[part], fabs(slope));
      off[part] = fmax(off[part], fabs(slope - f->H[i * f->n + j]));
    }
    for (int part = 0; part < 2; part++) {
      // elements are rounded to double
      const double rounding = 1e-14 * size[part] / step;
      check_between(off[part], 0, tolerance * most[part] + rounding);
    }
  }
}

static void test_rows_of_circuit_E_04(void** state) {
  (void)state;
  static const double factors[] = {1, 2};
  static const yoke_sensor sensors[] = {{"T1", {YOKE_ROW_TEMPERATURE, 0, 0}, 0.5},
                                        {"T3", {YOKE_ROW_TEMPERATURE, 2, 0}, 0.5},
                                        {"T1 - T3", {YOKE_ROW_DIFFERENCE, 0, 2}, 0.5},
                                        {"Q_R2", {YOKE_ROW_FLOW, 1, 0}, 0.1},
                                        {"Q0", {YOKE_ROW_INPUT, 0, 0}, 0.1}};
  yoke_unknown unknowns[] = {unknown_of(YOKE_UNKNOWN_RESISTANCE, "R1", 0, 1, 1),
                             unknown_of(YOKE_UNKNOWN_CONDUCTANCE, "R2, R3", 1, 2, 1),
                             unknown_of(YOKE_UNKNOWN_CAPACITY, "C1, C2", 0, 0.1, 0.1),
                             unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 10, 1),
                             unknown_of(YOKE_UNKNOWN_INPUT, "T_AIR", 1, 300, 1),
                             unknown_of(YOKE_UNKNOWN_OFFSET, "offset", 1, 0.5, 1)};
  unknowns[1].n_targets = unknowns[2].n_targets = 2;
  unknowns[1].factors = unknowns[2].factors = factors;
  static const double z_sd[] = {1, 1};
  const yoke_estimate_setup setup = {.network = &rc_network,
                                     .g = rc_g,
                                     .c = rc_c,
                                     .sensors = sensors,
                                     .n_sensors = 5,
                                     .unknowns = unknowns,
                                     .n_unknowns = 6,
                                     .h = 1e-3,
                                     .z_sd = z_sd,
                                     .rate_walk = 30};
  uint64_t seed = 4;
  for (int i = 0; i < 10; i++) {
    check_rows(&setup, rc_v, &seed, 1e-7);
  }
}

static void test_rows_of_inverter_E_04(void** state) {
  (void)state;
  static const yoke_sensor sensors[] = {{"T1", {YOKE_ROW_TEMPERATURE, 0, 0}, 0.5},
                                        {"T7", {YOKE_ROW_TEMPERATURE, 6, 0}, 0.5},
                                        {"T10", {YOKE_ROW_TEMPERATURE, 9, 0}, 0.5},
                                        {"Q_sp", {YOKE_ROW_FLOW, 9, 0}, 1}};
  double g[12], c[5];
  inverter_elements(&inverter_guess, g, c);
  static const double z_sd[] = {1, 1, 1, 1, 1};
  for (int kind = 0; kind < 2; kind++) {
    const yoke_unknown_kind of = kind == 0 ? YOKE_UNKNOWN_RESISTANCE : YOKE_UNKNOWN_CONDUCTANCE;
    yoke_unknown unknowns[] = {unknown_of(of, "R_die", 0, inverter_guess.die, 1e-3),
                               unknown_of(of, "R_dbc", 6, inverter_guess.dbc, 1e-3),
                               unknown_of(of, "R_sp", 9, inverter_guess.sp, 1e-3),
                               unknown_of(of, "R_hs", 10, inverter_guess.hs, 1e-3),
                               unknown_of(of, "R_w", 11, inverter_guess.w, 1e-3),
                               unknown_of(YOKE_UNKNOWN_CAPACITY, "C_dbc", 0, 1.32, 1),
                               unknown_of(YOKE_UNKNOWN_CAPACITY, "C_hs", 3, 14.97, 1),
                               unknown_of(YOKE_UNKNOWN_INPUT, "Q", 0, 208, 1),
                               unknown_of(YOKE_UNKNOWN_INPUT, "T_refrigerant", 6, 343.15, 1)};
    unknowns[0].n_targets = unknowns[7].n_targets = 6;
    unknowns[1].n_targets = unknowns[5].n_targets = 3;
    const yoke_estimate_setup setup = {.network = &inverter_network,
                                       .g = g,
                                       .c = c,
                                       .sensors = sensors,
                                       .n_sensors = 4,
                                       .unknowns = unknowns,
                                       .n_unknowns = YOKE_COUNT(unknowns),
                                       .h = 1e-3,
                                       .z_sd = z_sd,
                                       .rate_walk = 30};
    uint64_t seed = 5;
    for (int i = 0; i < 5; i++) {
      check_rows(&setup, inverter_v, &seed, 1e-6);
    }
  }
}

// ---- the linear filter is the textbook's

enum { MAX_N = 16, MAX_W = MAX_N + 2 * N_INPUTS };

typedef struct textbook {
  size_t p, n, w;  // w: [z; rho; v; v']
  real F[MAX_N * MAX_N], Q[MAX_N * MAX_N], G[MAX_N * MAX_W];
  real q[MAX_N], P[MAX_N * MAX_N];
} textbook;

// Q of a short step by one exponential of twice the size (Van Loan: exp([-A W; 0 A'] h) = [. N; 0 F'], Q = F N), and then
// Q := Q + F Q F' for twice the step: its exp(-A h) has no digits left where A is stiff.
static void noise_plainly(size_t n, const real A[], const real W[], double h, real Q[]) {
  enum { DOUBLINGS = 24 };
  static real big[4 * MAX_N * MAX_N], exponential[4 * MAX_N * MAX_N];
  static real F[MAX_N * MAX_N], FQ[MAX_N * MAX_N];
  const size_t w = 2 * n;
  memset(big, 0, sizeof big);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      big[i * w + j] = -ldexpl((real)h, -DOUBLINGS) * A[i * n + j];
      big[i * w + n + j] = ldexpl((real)h, -DOUBLINGS) * W[i * n + j];
      big[(n + i) * w + n + j] = ldexpl((real)h, -DOUBLINGS) * A[j * n + i];
    }
  }
  real_expm(w, big, exponential);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      F[i * n + j] = exponential[(n + j) * w + n + i];
      Q[i * n + j] = 0;
      for (size_t k = 0; k < n; k++) {
        Q[i * n + j] += exponential[(n + k) * w + n + i] * exponential[k * w + n + j];
      }
    }
  }
  for (int d = 0; d < DOUBLINGS; d++) {
    real_mul(n, n, n, F, Q, FQ);
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < n; k++) {
          Q[i * n + j] += FQ[i * n + k] * F[j * n + k];
        }
      }
    }
    real_mul(n, n, n, F, F, FQ);
    memcpy(F, FQ, n * n * sizeof *F);
  }
}

// All of it from the tableau: [Fc D Gc 0; 0; 0 0 0 I; 0] over z, rho, known inputs and their slopes.
static void make_textbook(const yoke_estimate* f, const tableau* t, textbook* b) {
  const size_t p = t->p, n = f->n, r = t->r, w = n + 2 * r;
  static real A[MAX_W * MAX_W], E[MAX_W * MAX_W], small[MAX_N * MAX_N], W[MAX_N * MAX_N];
  memset(A, 0, sizeof A);
  memset(small, 0, sizeof small);
  memset(W, 0, sizeof W);
  *b = (textbook){.p = p, .n = n, .w = w};
  for (size_t i = 0; i < p; i++) {
    for (size_t j = 0; j < p; j++) {
      A[i * w + j] = t->Fc[i * p + j];
    }
    for (size_t j = 0; j < r; j++) {
      A[i * w + n + j] = f->is_unknown_input[j] ? 0 : t->Gc1[i * r + j];
    }
    for (size_t j = 0; j < f->n_rho; j++) {
      const yoke_unknown* u = &f->setup.unknowns[j];
      for (size_t k = 0; k < u->n_targets && u->kind == YOKE_UNKNOWN_INPUT; k++) {
        A[i * w + p + j] += (real)u->factors[k] * t->Gc1[i * r + u->targets[k]];
      }
    }
    W[i * n + i] = (real)f->setup.z_walk * (real)f->setup.z_walk;
  }
  for (size_t j = 0; j < r; j++) {
    A[(n + j) * w + n + r + j] = 1;
  }
  for (size_t j = 0; j < f->n_rho; j++) {
    W[(p + j) * (n + 1)] = (real)f->setup.unknowns[j].walk * (real)f->setup.unknowns[j].walk;
  }
  for (size_t i = 0; i < n; i++) {
    memcpy(small + i * n, A + i * w, n * sizeof *small);
  }
  noise_plainly(n, small, W, f->setup.h, b->Q);
  for (size_t i = 0; i < w * w; i++) {
    A[i] *= (real)f->setup.h;
  }
  real_expm(w, A, E);
  for (size_t i = 0; i < n; i++) {
    memcpy(b->F + i * n, E + i * w, n * sizeof *E);
    memcpy(b->G + i * 2 * r, E + i * w + n, 2 * r * sizeof *E);
  }
}

static void textbook_predict(textbook* b, size_t r, const double v[], const double slope[]) {
  const size_t n = b->n;
  real q[MAX_N], FP[MAX_N * MAX_N];
  real_mul(n, n, 1, b->F, b->q, q);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < r; j++) {
      q[i] += b->G[i * 2 * r + j] * (real)v[j] + b->G[i * 2 * r + r + j] * (real)slope[j];
    }
  }
  memcpy(b->q, q, sizeof q);
  real_mul(n, n, n, b->F, b->P, FP);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      b->P[i * n + j] = b->Q[i * n + j];
      for (size_t k = 0; k < n; k++) {
        b->P[i * n + j] += FP[i * n + k] * b->F[j * n + k];
      }
    }
  }
}

// K = P H' (H P H' + R)^-1, q += K (y - H q - N v), P = (I - K H) P.
static void textbook_correct(textbook* b, size_t n_y, const real H[], const real e[],
                             const real R[]) {
  const size_t n = b->n;
  real PH[MAX_N * MAX_N], S[MAX_N * MAX_N], K[MAX_N * MAX_N], KH[MAX_N * MAX_N];
  real P[MAX_N * MAX_N];
  for (size_t i = 0; i < n; i++) {
    for (size_t l = 0; l < n_y; l++) {
      PH[i * n_y + l] = 0;
      for (size_t k = 0; k < n; k++) {
        PH[i * n_y + l] += b->P[i * n + k] * H[l * n + k];
      }
    }
  }
  real_mul(n_y, n, n_y, H, PH, S);
  for (size_t l = 0; l < n_y; l++) {
    S[l * n_y + l] += R[l];
  }
  real_invert(n_y, S);
  real_mul(n, n_y, n_y, PH, S, K);
  real_mul(n, n_y, n, K, H, KH);
  real_mul(n, n, n, KH, b->P, P);
  for (size_t i = 0; i < n; i++) {
    for (size_t l = 0; l < n_y; l++) {
      b->q[i] += K[i * n_y + l] * e[l];
    }
    for (size_t j = 0; j < n; j++) {
      P[i * n + j] = b->P[i * n + j] - P[i * n + j];
    }
  }
  memcpy(b->P, P, sizeof P);
}

// Rows of the sensors that have a reading: H, and reading less expectation.
static size_t textbook_rows(const yoke_estimate* f, const tableau* t, const textbook* b,
                            const double v[], const double y[], const bool have[], real H[],
                            real e[], real R[]) {
  size_t n_y = 0;
  for (size_t i = 0; i < f->setup.n_sensors; i++) {
    if (!have[i]) {
      continue;
    }
    const size_t k = f->setup.sensors[i].row.index;
    real* row = H + n_y * f->n;
    memset(row, 0, f->n * sizeof *row);
    e[n_y] = (real)y[i];
    for (size_t j = 0; j < t->p; j++) {
      row[j] = t->T[k * t->p + j];
    }
    for (size_t j = 0; j < t->r; j++) {
      e[n_y] -= f->is_unknown_input[j] ? 0 : t->B[k * t->r + j] * (real)v[j];
    }
    for (size_t j = 0; j < f->n_rho; j++) {
      const yoke_unknown* u = &f->setup.unknowns[j];
      for (size_t l = 0; l < u->n_targets; l++) {
        row[t->p + j] += u->kind == YOKE_UNKNOWN_INPUT
                             ? (real)u->factors[l] * t->B[k * t->r + u->targets[l]]
                         : u->targets[l] == i ? (real)u->factors[l]
                                              : 0;
      }
    }
    for (size_t j = 0; j < f->n; j++) {
      e[n_y] -= row[j] * b->q[j];
    }
    R[n_y++] = (real)f->setup.sensors[i].sigma * (real)f->setup.sensors[i].sigma;
  }
  return n_y;
}

static void compare_with_textbook(const yoke_estimate_setup* setup, const tableau* t,
                                  uint64_t* seed) {
  yoke_estimate* f = filter_make(setup, &arena, &err);
  assert_int_equal(yoke__estimate_method_of(f), YOKE_ESTIMATE_LINEAR);
  static textbook b;
  make_textbook(f, t, &b);
  double z[MAX_N], v[N_INPUTS], slope[N_INPUTS], y[8];
  for (size_t i = 0; i < f->p; i++) {
    z[i] = random_between(seed, 290, 310);
  }
  for (size_t i = 0; i < t->r; i++) {
    v[i] = random_between(seed, 280, 320);
  }
  check_ok(yoke__estimate_start(f, z, v));
  for (size_t i = 0; i < f->n * f->n; i++) {
    b.q[i / f->n] = (real)f->q[i / f->n];
    b.P[i] = (real)f->P[i];
  }
  for (int k = 0; k < 100; k++) {
    bool have[8] = {false};
    for (size_t i = 0; i < setup->n_sensors; i++) {
      have[i] = random_uniform(seed) < 0.7;
      y[i] = 300 + 5 * random_normal(seed);
    }
    for (size_t i = 0; i < t->r; i++) {
      v[i] += random_between(seed, -1, 1);  // jumps
      slope[i] = random_between(seed, -1, 1);
    }
    real H[8 * MAX_N], e[8], R[8];
    const size_t n_y = textbook_rows(f, t, &b, v, y, have, H, e, R);
    textbook_correct(&b, n_y, H, e, R);
    check_ok(yoke__estimate_correct(f, v, y, have));
    textbook_predict(&b, t->r, v, slope);
    check_ok(yoke__estimate_predict(f, v, slope));
    for (size_t i = 0; i < t->r; i++) {
      v[i] += setup->h * slope[i];
    }
  }
  for (size_t i = 0; i < f->n; i++) {
    const double sd = sqrt((double)b.P[i * (f->n + 1)]);
    check_near(f->q[i], (double)b.q[i], ORACLE_BLUR * 1e-10 * (fabs((double)b.q[i]) + sd));
    for (size_t j = 0; j < f->n; j++) {
      assert_true(f->P[i * f->n + j] == f->P[j * f->n + i]);
      check_near(f->P[i * f->n + j], (double)b.P[i * f->n + j],
                 ORACLE_BLUR * 1e-10 * sd * sqrt((double)b.P[j * (f->n + 1)]));
    }
  }
}

// Random networks of capacities from 0.1 to 1000 J/K with steps up to several of their time constants; unknown inputs that walk,
// an offset, sensors anywhere that are not always there, inputs that jump and rise.
static void test_linear_is_textbook(void** state) {
  (void)state;
  uint64_t seed = 7;
  for (int trial = 0; trial < 30; trial++) {
    random_network w;
    make_random(&w, &seed);
    double R[N_RESISTORS], z_sd[N_NODES];
    for (size_t e = 0; e < w.network.n_resistors; e++) {
      R[e] = 1 / w.g[e];
    }
    for (size_t i = 0; i < N_NODES; i++) {
      z_sd[i] = random_between(&seed, 0.1, 5);
    }
    yoke_sensor sensors[4];
    for (size_t i = 0; i < 4; i++) {
      sensors[i] = sensor_of("sensor", random_below(&seed, w.network.n_nodes),
                             random_between(&seed, 0.1, 1));
    }
    static const double factors[] = {1, -0.5};
    yoke_unknown unknowns[] = {unknown_of(YOKE_UNKNOWN_INPUT, "Q1", 1, 300, 10),
                               unknown_of(YOKE_UNKNOWN_INPUT, "Q3, Q4", 3, 290, 5),
                               unknown_of(YOKE_UNKNOWN_OFFSET, "offset", 2, 0.1, 1)};
    unknowns[1].n_targets = 2;
    unknowns[1].factors = factors;
    unknowns[0].walk = 3;
    unknowns[2].walk = trial % 2 == 0 ? 0 : 0.01;
    const yoke_estimate_setup setup = {.network = &w.network,
                                       .g = w.g,
                                       .c = w.c,
                                       .sensors = sensors,
                                       .n_sensors = 4,
                                       .unknowns = unknowns,
                                       .n_unknowns = (size_t)trial % 4,
                                       .h = random_log(&seed, 1e-3, 1),
                                       .z_sd = z_sd,
                                       .z_walk = 0.1};
    tableau t = tableau_make(&w.network, R, w.c);
    compare_with_textbook(&setup, &t, &seed);
    tableau_free(&t);
    yoke__arena_free(&arena);
  }
}

// ---- errors are as large as the filter says

enum { N_RUNS = 100, N_STEPS = 400, N_FINE = 20 };

// (truth - q)' P^-1 (truth - q)
static double squared_error(const yoke_estimate* f, const double truth[]) {
  const size_t n = f->n;
  real P[MAX_N * MAX_N], e[MAX_N];
  for (size_t i = 0; i < n * n; i++) {
    P[i] = (real)f->P[i];
  }
  real_invert(n, P);
  real sum = 0;
  for (size_t i = 0; i < n; i++) {
    e[i] = (real)truth[i] - (real)f->q[i];
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      sum += e[i] * P[i * n + j] * e[j];
    }
  }
  return (double)sum;
}

// The circuit with noise on its temperatures and a heat that walks all the time: N_FINE small steps in a step of the filter.
static double run_noisy(const yoke_estimate_setup* setup, uint64_t seed, int n_steps) {
  yoke_arena own = {0};
  yoke_estimate* f = filter_make(setup, &own, &err);
  const double h = setup->h, fine = h / N_FINE;
  double truth[3] = {299, 301, 10}, v[2] = {10, 300};
  check_ok(yoke__estimate_start(f, truth, v));
  for (size_t i = 0; i < f->n && i < 3; i++) {
    truth[i] += sqrt(f->P[i * (f->n + 1)]) * random_normal(&seed);
  }
  plant rc = plant_make(&rc_network, rc_g, rc_c, truth, fine, &own);
  for (int k = 0; k < n_steps; k++) {
    for (int i = 0; i < N_FINE; i++) {
      v[0] = truth[2];
      plant_step(&rc, v, NULL);
      rc.z[0] += setup->z_walk * sqrt(fine) * random_normal(&seed);
      rc.z[1] += setup->z_walk * sqrt(fine) * random_normal(&seed);
      truth[2] +=
          setup->n_unknowns > 0 ? setup->unknowns[0].walk * sqrt(fine) * random_normal(&seed) : 0;
    }
    v[0] = truth[2];
    const double* x = plant_read(&rc, v);
    double y[2];
    for (size_t i = 0; i < setup->n_sensors; i++) {
      y[i] = x[setup->sensors[i].row.index] + setup->sensors[i].sigma * random_normal(&seed);
    }
    check_ok(yoke__estimate_predict(f, rc_v, NULL));
    check_ok(yoke__estimate_correct(f, rc_v, y, NULL));
  }
  truth[0] = rc.z[0];
  truth[1] = rc.z[1];
  const double sum = squared_error(f, truth);
  yoke__arena_free(&own);
  return sum;
}

static void check_errors(const yoke_estimate_setup* setup, size_t n) {
  static const int lengths[] = {1, 10, 100, N_STEPS};
  for (size_t l = 0; l < YOKE_COUNT(lengths); l++) {
    double sum = 0;
    for (uint64_t run = 0; run < N_RUNS; run++) {
      sum += run_noisy(setup, 1000 * run + l, lengths[l]);
    }
    const double k = (double)(N_RUNS * n);
    check_between(sum, yoke__chi_square_quantile(0.001, k), yoke__chi_square_quantile(0.999, k));
  }
}

static void test_errors_are_as_claimed(void** state) {
  (void)state;
  static const yoke_sensor sensors[] = {{"T1", {YOKE_ROW_TEMPERATURE, 0, 0}, 0.5},
                                        {"T3", {YOKE_ROW_TEMPERATURE, 2, 0}, 0.3}};
  static const double z_sd[] = {1, 2};
  yoke_unknown heat = unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 10, 3);
  heat.walk = 5;
  yoke_estimate_setup setup = {.network = &rc_network,
                               .g = rc_g,
                               .c = rc_c,
                               .sensors = sensors,
                               .n_sensors = 2,
                               .unknowns = &heat,
                               .h = 0.02,
                               .z_sd = z_sd,
                               .z_walk = 0.5};
  check_errors(&setup, 2);
  setup.n_unknowns = 1;
  check_errors(&setup, 3);
}

// ---- linear problems have one answer

// Extended and unscented filters on unknown inputs and offsets that do not walk.
static void test_others_are_linear_filter(void** state) {
  (void)state;
  static const yoke_sensor sensors[] = {{"T1", {YOKE_ROW_TEMPERATURE, 0, 0}, 0.5},
                                        {"T3", {YOKE_ROW_TEMPERATURE, 2, 0}, 0.3}};
  static const double z_sd[] = {1, 2};
  const yoke_unknown unknowns[] = {unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 10, 3),
                                   unknown_of(YOKE_UNKNOWN_OFFSET, "offset", 1, 0, 1)};
  yoke_estimate_setup setup = {.network = &rc_network,
                               .g = rc_g,
                               .c = rc_c,
                               .sensors = sensors,
                               .n_sensors = 2,
                               .unknowns = unknowns,
                               .n_unknowns = 2,
                               .h = 0.01,
                               .z_sd = z_sd};
  yoke_estimate* linear = filter_make(&setup, &arena, &err);
  setup.method = YOKE_ESTIMATE_EXTENDED;
  yoke_estimate* extended = filter_make(&setup, &arena, &err);
  setup.method = YOKE_ESTIMATE_UNSCENTED;
  yoke_estimate* unscented = filter_make(&setup, &arena, &err);
  yoke_estimate* all[] = {linear, extended, unscented};
  for (int m = 0; m < 3; m++) {
    uint64_t seed = 3;
    check_ok(yoke__estimate_start(all[m], rc_z0, rc_v));
    for (int k = 0; k < 300; k++) {
      const double y[] = {320 + random_normal(&seed), 305 + random_normal(&seed)};
      const double v[] = {0, 300 + random_normal(&seed)}, slope[] = {3, 1};
      check_ok(yoke__estimate_correct(all[m], v, y, NULL));
      check_ok(yoke__estimate_predict(all[m], v, slope));
    }
  }
  for (int m = 1; m < 3; m++) {
    for (size_t i = 0; i < 4; i++) {
      check_near(all[m]->q[i], linear->q[i], 1e-7);
    }
    for (size_t i = 0; i < 16; i++) {
      const double size = sqrt(linear->P[i / 4 * 5] * linear->P[i % 4 * 5]);
      check_near(all[m]->P[i], linear->P[i], 1e-7 * size);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_rows_of_circuit_E_04, close_arena),
      cmocka_unit_test_teardown(test_rows_of_inverter_E_04, close_arena),
      cmocka_unit_test_teardown(test_linear_is_textbook, close_arena),
      cmocka_unit_test_teardown(test_errors_are_as_claimed, close_arena),
      cmocka_unit_test_teardown(test_others_are_linear_filter, close_arena),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
