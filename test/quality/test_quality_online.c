// The on-line error estimate on systems whose error is known: the golden loop (TR-20), feedthrough, gains and offsets,
// sources, inputs that nothing feeds.
#include <math.h>
#include <string.h>

#include "quality/quality_online.h"
#include "quality/quality_trust.h"
#include "support/check.h"

// x1' = -x1 + u1, x2' = -2 x2 + u2, y1 = x1 + d u1, y2 = x2, u1 = -4 y2, u2 = y1, x(0) = (1, 0); held inputs, exact units.
enum { N_EXCHANGES = 40, N_CALLS = 4, N_ROWS = N_EXCHANGES * N_CALLS };
static const double H = 0.1;

typedef struct golden {
  double d;
  double rows[2][N_ROWS][2], start[2][2];  // y, u
  double D[2];
  yoke_online_unit units[2];
  yoke_online_link links[2];
} golden;

static void run_golden(golden* g, double d, double offset) {
  const double h = H / N_CALLS, rate[2] = {1, 2};
  double x[2] = {1, 0}, u[2] = {0};
  *g = (golden){.d = d, .D = {d, 0}};
  // consistent start
  double y[2] = {x[0] + d * (-4 * x[1] + offset), x[1]};
  for (int j = 0; j < N_ROWS; j++) {
    if (j % N_CALLS == 0) {
      u[0] = -4 * y[1] + offset;
      u[1] = y[0];
    }
    for (int i = 0; i < 2; i++) {
      if (j == 0) {
        g->start[i][0] = y[i];
        g->start[i][1] = u[i];
      }
    }
    for (int i = 0; i < 2; i++) {
      const double decay = exp(-rate[i] * h);
      x[i] = decay * x[i] + (1 - decay) / rate[i] * u[i];
      y[i] = x[i] + (i == 0 ? d * u[0] : 0);
      g->rows[i][j][0] = y[i];
      g->rows[i][j][1] = u[i];
    }
  }
  for (int i = 0; i < 2; i++) {
    g->units[i] = (yoke_online_unit){
        .n_y = 1, .n_u = 1, .D = &g->D[i], .start = g->start[i], .rows = g->rows[i][0]};
  }
  g->links[0] = (yoke_online_link){.from = 1, .to = 0, .gain = -4, .offset = offset};
  g->links[1] = (yoke_online_link){.from = 0, .to = 1, .gain = 1};
}

// e: N_EXCHANGES + 1 pairs
static void estimate(const golden* g, size_t n_lags, double e[][2], yoke_online** keep) {
  yoke_online* o = NULL;
  assert_int_equal(yoke__online_create(g->units, 2, g->links, 2, n_lags, &o), YOKE_OK);
  assert_int_equal(yoke__online_fit(o, N_ROWS, NULL), YOKE_OK);
  for (int64_t k = 0; k <= N_EXCHANGES; k++) {
    yoke__online_advance(o, k * N_CALLS);
    yoke__online_error(o, NULL, e[k]);
  }
  if (keep != NULL) {
    *keep = o;
  } else {
    yoke__online_destroy(&o);
  }
}

static double rms(double e[][2], int i) {
  double sum = 0;
  for (int k = 0; k <= N_EXCHANGES; k++) {
    sum += e[k][i] * e[k][i];
  }
  return sqrt(sum / (N_EXCHANGES + 1));
}

static void test_golden_TR_20(void** state) {
  (void)state;
  static golden g;
  double e[N_EXCHANGES + 1][2];
  yoke_online* o = NULL;
  run_golden(&g, 0, 0);
  estimate(&g, 1, e, &o);
  static const double A[2] = {0.975309912, 0.9512294245}, B[2] = {0.024690088, 0.0243852877};
  for (size_t i = 0; i < 2; i++) {
    const double *a = NULL, *b = NULL;
    yoke__online_model(o, i, &a, &b);
    check_near(a[0], A[i], 1e-9);
    check_near(b[0], B[i], 1e-9);
    check_between(yoke__online_residual(o, i), 0, 1e-9);
  }
  check_relative(rms(e, 0), 0.0264896139, 1e-8);
  check_relative(rms(e, 1), 0.0128939790, 1e-8);
  check_relative(e[10][0], -0.048542551, 1e-8);
  check_relative(e[10][1], 0.0159123057, 1e-8);
  yoke__online_destroy(&o);
}

// ---------------------------------------------------------------------------------------------------------
// against the undivided system

// y1 = x1 + d u1, u1 = -4 x2 + offset, u2 = y1
static void rates(const double x[2], double d, double offset, double dx[2]) {
  const double u1 = -4 * x[1] + offset;
  dx[0] = -x[0] + u1;
  dx[1] = -2 * x[1] + x[0] + d * u1;
}

static void step_truth(double x[2], double d, double offset, double h) {
  double k[4][2], z[2];
  static const double at[4] = {0, 0.5, 0.5, 1};
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < 2; i++) {
      z[i] = x[i] + (s == 0 ? 0 : at[s] * h * k[s - 1][i]);
    }
    rates(z, d, offset, k[s]);
  }
  for (int i = 0; i < 2; i++) {
    x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

// rms of the true error at the exchange points
static void true_rms(const golden* g, double d, double offset, double out[2]) {
  enum { FINE = 100 };
  double x[2] = {1, 0}, sum[2] = {0};
  for (int k = 1; k <= N_EXCHANGES; k++) {
    for (int s = 0; s < FINE; s++) {
      step_truth(x, d, offset, H / FINE);
    }
    const double y[2] = {x[0] + d * (-4 * x[1] + offset), x[1]};
    for (int i = 0; i < 2; i++) {
      const double e = g->rows[i][k * N_CALLS - 1][0] - y[i];
      sum[i] += e * e;
    }
  }
  for (int i = 0; i < 2; i++) {
    out[i] = sqrt(sum[i] / (N_EXCHANGES + 1));
  }
}

// Feedthrough, and connections with an offset: the estimate is within 1 % of the error, in the golden loop 0.3 %, for one
// lag and for six.
static void test_true_errors(void** state) {
  (void)state;
  static const double cases[][2] = {{0, 0}, {0.1, 0}, {-0.2, 0}, {0, 3}, {0.1, -2}};
  static golden g;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    double truth[2];
    run_golden(&g, cases[c][0], cases[c][1]);
    true_rms(&g, cases[c][0], cases[c][1], truth);
    for (size_t n_lags = 1; n_lags <= YOKE_ONLINE_LAGS; n_lags += YOKE_ONLINE_LAGS - 1) {
      double e[N_EXCHANGES + 1][2];
      estimate(&g, n_lags, e, NULL);
      for (int i = 0; i < 2; i++) {
        check_between(rms(e, i) / truth[i], 0.99, 1.01);
      }
    }
  }
}

// Nothing depends on units of measure: signals of one unit times 1e12, of the other times 1e-9.
static void test_scaling(void** state) {
  (void)state;
  static golden g, scaled;
  static const double by[2] = {1e12, 1e-9};
  double e[N_EXCHANGES + 1][2], other[N_EXCHANGES + 1][2];
  run_golden(&g, 0.1, 0.5);
  estimate(&g, 6, e, NULL);
  scaled = g;
  for (int i = 0; i < 2; i++) {
    const double in = by[1 - i];  // what comes from the partner
    for (int j = 0; j < N_ROWS; j++) {
      scaled.rows[i][j][0] *= by[i];
      scaled.rows[i][j][1] *= in;
    }
    scaled.start[i][0] *= by[i];
    scaled.start[i][1] *= in;
    scaled.D[i] *= by[i] / in;
    scaled.units[i].D = &scaled.D[i];
    scaled.units[i].rows = scaled.rows[i][0];
    scaled.units[i].start = scaled.start[i];
  }
  scaled.links[0].offset *= by[1];
  estimate(&scaled, 6, other, NULL);
  for (int i = 0; i < 2; i++) {
    check_relative(rms(other, i), by[i] * rms(e, i), 1e-6);
  }
}

// A source that nothing feeds has no error; what it feeds has that of a held input. x' = -x + sin t.
static void test_source(void** state) {
  (void)state;
  enum { N = 400, CALLS = 5 };
  static double source[N * CALLS], unit[N * CALLS][2];
  const double h = 0.1 / CALLS, decay = exp(-h);
  double x = 0, u = 0, squares = 0;
  for (int j = 0; j < N * CALLS; j++) {
    u = j % CALLS == 0 ? sin(j * h) : u;
    x = decay * x + (1 - decay) * u;
    source[j] = sin((j + 1) * h);
    unit[j][0] = x;
    unit[j][1] = u;
    if (j % CALLS == CALLS - 1) {
      const double t = (j + 1) * h, e = x - 0.5 * (sin(t) - cos(t) + exp(-t));
      squares += e * e;
    }
  }
  static const double zero[2] = {0}, D[1] = {0};
  const yoke_online_unit units[2] = {
      {.n_y = 1, .n_u = 0, .D = D, .start = zero, .rows = source},
      {.n_y = 1, .n_u = 1, .D = D, .start = zero, .rows = unit[0]},
  };
  const yoke_online_link link = {.from = 0, .to = 0, .gain = 1};
  yoke_online* o = NULL;
  check_ok(yoke__online_create(units, 2, &link, 1, YOKE_ONLINE_LAGS, &o));
  check_ok(yoke__online_fit(o, (int64_t)N * CALLS, NULL));
  double sum = 0;
  for (int64_t k = 1; k <= N; k++) {
    double e[2];
    yoke__online_advance(o, k * CALLS);
    yoke__online_error(o, NULL, e);
    assert_true(e[0] == 0);
    sum += e[1] * e[1];
  }
  check_relative(sqrt(sum), sqrt(squares), 0.01);
  yoke__online_destroy(&o);
}

// Noise shows in the residual; too few rows, and a loop of feedthrough without a solution, in the status.
static void test_no_model(void** state) {
  (void)state;
  static golden g;
  double e[N_EXCHANGES + 1][2];
  yoke_online* o = NULL;
  run_golden(&g, 0, 0);
  uint64_t random = 1;
  for (int j = 0; j < N_ROWS; j++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    g.rows[0][j][0] += 1e-3 * ((double)(random >> 40) / (1 << 24) - 0.5);
  }
  estimate(&g, 6, e, &o);
  check_between(yoke__online_residual(o, 0), YOKE_ONLINE_NOISE, 1);
  check_between(yoke__online_residual(o, 1), 0, 1e-2);
  assert_int_equal(yoke__online_fit(o, 10, NULL), YOKE_NO_SUPPORT);
  atomic_bool is_cancelled = true;
  assert_int_equal(yoke__online_fit(o, N_ROWS, &is_cancelled), YOKE_INTERRUPTED);
  yoke__online_destroy(&o);
  // y1 = x1 + u1, y2 = x2 - u2 / 4 with u1 = -4 y2, u2 = y1: I - D L is singular
  run_golden(&g, 1, 0);
  g.D[1] = -0.25;
  check_ok(yoke__online_create(g.units, 2, g.links, 2, 1, &o));
  assert_int_equal(yoke__online_fit(o, N_ROWS, NULL), YOKE_NO_SUPPORT);
  yoke__online_destroy(&o);
}

// ---------------------------------------------------------------------------------------------------------
// bands

// y = sin, e = 1 % of it: factor, lower bound, place of the largest; a part of the run; errors of which e says nothing
static void test_bands(void** state) {
  (void)state;
  enum { N = 400 };
  static double y[N], e[N];
  for (int k = 0; k < N; k++) {
    y[k] = 3 * sin(0.1 * k);
    e[k] = 0.03 * sin(0.1 * k);
  }
  yoke_band b;
  assert_true(yoke__band_estimate(y, e, N, N, 1, YOKE_BAND_ESTIMATE, &b));
  assert_true(b.has_estimate && !b.is_partial && !b.is_rough && !b.is_exact);
  check_relative(b.relative, 0.02 / 0.99, 1e-2);  // of s(y - e)
  check_relative(b.low, b.band / 4, 1e-12);
  check_relative(b.band_max, 0.06, 1e-3);
  check_near(fabs(e[b.at]), b.band_max / 2, 1e-15);
  assert_int_equal(b.digits, 2);
  // noise
  yoke_band rough;
  assert_true(yoke__band_estimate(y, e, N, N, 1, YOKE_BAND_NOISY_ESTIMATE, &rough));
  assert_true(rough.is_rough);
  check_relative(rough.band, 1.5 * b.band, 1e-12);
  // half of it
  assert_true(yoke__band_estimate(y, e, N, N / 2, 1, YOKE_BAND_ESTIMATE, &b));
  assert_true(b.is_partial);
  // a settled tail does not count: neither for the rms, nor for what must be known
  for (int k = 100; k < N; k++) {
    y[k] = e[k] = 0;
  }
  double whole = 0;
  assert_true(yoke__band_estimate(y, e, N, N, 1, YOKE_BAND_ESTIMATE, &b));
  whole = b.band;
  assert_true(yoke__band_estimate(y, e, N, 150, 1, YOKE_BAND_ESTIMATE, &b));
  assert_false(b.is_partial);
  check_relative(b.band, whole, 1e-12);
  // none
  for (int k = 0; k < N; k++) {
    e[k] = 40 * e[k];
  }
  assert_false(yoke__band_estimate(y, e, N, N, 1, YOKE_BAND_ESTIMATE, &b));
  assert_true(!b.has_estimate && isnan(b.band));
  e[3] = (double)NAN;
  assert_false(yoke__band_estimate(y, e, N, N, 1, YOKE_BAND_ESTIMATE, &b));
  assert_false(yoke__band_estimate(y, e, N, 0, 1, YOKE_BAND_ESTIMATE, &b));
}

// Rule 5 with an estimate: rel <= 0.05 trustworthy, above doubtful, rms(e) / s > 0.2 wrong; partial: doubtful at best; rough:
// doubtful; a signal that grows at its end is wrong without companions.
static void test_verdicts(void** state) {
  (void)state;
  static const struct {
    double share;  // rms(e) / s
    bool is_partial, is_rough, is_growing;
    yoke_verdict verdict;
  } cases[] = {
      {0.024, false, false, false, YOKE_TRUSTWORTHY}, {0.026, false, false, false, YOKE_DOUBTFUL},
      {0.19, false, false, false, YOKE_DOUBTFUL},     {0.21, false, false, false, YOKE_WRONG},
      {0.01, true, false, false, YOKE_DOUBTFUL},      {0.01, false, true, false, YOKE_DOUBTFUL},
      {0.01, false, false, true, YOKE_WRONG},         {0.3, true, false, false, YOKE_WRONG},
      {0.3, false, true, false, YOKE_DOUBTFUL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double rms_e = cases[i].share;
    yoke_trust_signal s = {.name = "a.x",
                           .dim = "m",
                           .limits = yoke__trust_default_limits(),
                           .growth = {.is_active = cases[i].is_growing},
                           .band = {.has_estimate = true,
                                    .is_partial = cases[i].is_partial,
                                    .is_rough = cases[i].is_rough,
                                    .scale = 1,
                                    .band = 2 * rms_e,
                                    .relative = 2 * rms_e,
                                    .low = rms_e / 2,
                                    .low_relative = rms_e / 2,
                                    .band_max = 4 * rms_e,
                                    .digits = 2}};
    yoke__trust_judge_signal(&s);
    assert_int_equal(s.verdict, cases[i].verdict);
    if (!cases[i].is_growing) {
      check_contains(s.reason, cases[i].is_partial ? "; estimated from the first part of the run"
                                                   : "; estimated from the run itself");
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden_TR_20), cmocka_unit_test(test_true_errors),
      cmocka_unit_test(test_scaling),      cmocka_unit_test(test_source),
      cmocka_unit_test(test_no_model),     cmocka_unit_test(test_bands),
      cmocka_unit_test(test_verdicts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
