// The kernels of the filters against the textbook in long double: prediction, corrections one by one and all at once, symmetry,
// measurements without noise, square root.
#include <float.h>

#include "base/base_check.h"
#include "estimate/estimate_kalman.h"
#include "estimate_benchmarks.h"
#include "oracle/tableau.h"
#include "support/check.h"

enum { MAX_N = 15 };

typedef struct problem {
  size_t n;
  double P[MAX_N * MAX_N], F[MAX_N * MAX_N], q[MAX_N];
} problem;

// P = root root', states of sizes over `decades` powers of ten.
static void make(problem* t, size_t n, double decades, uint64_t* seed) {
  double root[MAX_N * MAX_N], size[MAX_N];
  t->n = n;
  for (size_t i = 0; i < n; i++) {
    size[i] = pow(10, random_between(seed, -decades / 2, decades / 2));
    t->q[i] = size[i] * random_normal(seed);
  }
  for (size_t i = 0; i < n * n; i++) {
    root[i] = size[i / n] * random_normal(seed);
    t->F[i] = random_uniform(seed) < 0.3 ? 0 : random_normal(seed) * size[i / n] / size[i % n];
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++) {
      double sum = 0;
      for (size_t k = 0; k < n; k++) {
        sum += root[i * n + k] * root[j * n + k];
      }
      t->P[i * n + j] = t->P[j * n + i] = sum;
    }
  }
}

static void check_symmetric(size_t n, const double P[]) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) {
      assert_true(P[i * n + j] == P[j * n + i]);
    }
  }
}

// Relative to the standard deviations of both.
static void check_covariance(size_t n, const double got[], const real want[], double tolerance) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      const double size = sqrt((double)(want[i * n + i] * want[j * n + j]));
      check_near(got[i * n + j], (double)want[i * n + j], tolerance * size);
    }
  }
}

// F P F' + Q, only the first m rows of F differing from the unit matrix.
static void predict_plainly(size_t n, size_t m, const double F[], const double Q[],
                            const double P[], real to[]) {
  real whole[MAX_N * MAX_N], other[MAX_N * MAX_N], turned[MAX_N * MAX_N], p[MAX_N * MAX_N];
  for (size_t i = 0; i < n * n; i++) {
    whole[i] = i / n < m ? (real)F[i] : i % (n + 1) == 0 ? 1 : 0;
    p[i] = (real)P[i];
  }
  for (size_t i = 0; i < n * n; i++) {
    turned[i] = whole[i % n * n + i / n];
  }
  real_mul(n, n, n, whole, p, other);
  real_mul(n, n, n, other, turned, to);
  for (size_t i = 0; i < n * n; i++) {
    to[i] += Q != NULL ? (real)Q[i] : 0;
  }
}

static void test_predict(void** state) {
  (void)state;
  uint64_t seed = 1;
  for (size_t n = 1; n <= MAX_N; n++) {
    for (size_t m = 0; m <= n; m += n > 4 ? 3 : 1) {
      problem t, noise;
      make(&t, n, 4, &seed);
      make(&noise, n, 4, &seed);
      const double* Q = m % 2 == 0 ? noise.P : NULL;
      real want[MAX_N * MAX_N];
      double work[2 * MAX_N * MAX_N];
      predict_plainly(n, m, t.F, Q, t.P, want);
      yoke__kalman_predict_rows(n, m, t.F, Q, t.P, work);
      check_covariance(n, t.P, want, 1e-13 * (double)n);
      check_symmetric(n, t.P);
      if (m == n) {
        predict_plainly(n, n, t.F, NULL, noise.P, want);
        yoke__kalman_predict(n, t.F, NULL, noise.P, work);
        check_covariance(n, noise.P, want, 1e-13 * (double)n);
      }
    }
  }
}

// All n_y numbers at once: K = P H' (H P H' + R)^-1, q + K (y - H q), (I - K H) P.
static void correct_at_once(size_t n, size_t n_y, const double P[], const double q[],
                            const double H[], const double r[], const double y[], real to_P[],
                            real to_q[]) {
  real p[MAX_N * MAX_N], h[MAX_N * MAX_N], ht[MAX_N * MAX_N], pht[MAX_N * MAX_N];
  real s[MAX_N * MAX_N], K[MAX_N * MAX_N], KH[MAX_N * MAX_N];
  for (size_t i = 0; i < n * n; i++) {
    p[i] = (real)P[i];
  }
  for (size_t i = 0; i < n_y * n; i++) {
    h[i] = (real)H[i];
    ht[i % n * n_y + i / n] = (real)H[i];
  }
  real_mul(n, n, n_y, p, ht, pht);
  real_mul(n_y, n, n_y, h, pht, s);
  for (size_t i = 0; i < n_y; i++) {
    s[i * n_y + i] += (real)r[i];
  }
  real_invert(n_y, s);
  real_mul(n, n_y, n_y, pht, s, K);
  real_mul(n, n_y, n, K, h, KH);
  for (size_t i = 0; i < n * n; i++) {
    KH[i] = (i % (n + 1) == 0 ? 1 : 0) - KH[i];
  }
  real_mul(n, n, n, KH, p, to_P);
  for (size_t i = 0; i < n; i++) {
    to_q[i] = (real)q[i];
    for (size_t l = 0; l < n_y; l++) {
      real e = (real)y[l];
      for (size_t j = 0; j < n; j++) {
        e -= h[l * n + j] * (real)q[j];
      }
      to_q[i] += K[i * n_y + l] * e;
    }
  }
}

static void correct_one_by_one(problem* t, size_t n_y, const double H[], const double r[],
                               const double y[]) {
  const size_t n = t->n;
  for (size_t l = 0; l < n_y; l++) {
    double PH[MAX_N], work[MAX_N], e = y[l];
    for (size_t i = 0; i < n; i++) {
      e -= H[l * n + i] * t->q[i];
    }
    const double s = yoke__kalman_variance(n, t->P, H + l * n, r[l], PH);
    check_ok(yoke__kalman_correct(n, t->q, t->P, H + l * n, r[l], e, s, PH, work));
    check_symmetric(n, t->P);
  }
}

static void test_one_by_one_is_all_at_once(void** state) {
  (void)state;
  uint64_t seed = 2;
  for (size_t n = 1; n <= MAX_N; n++) {
    const size_t n_y = 1 + n / 2;
    problem t;
    make(&t, n, 3, &seed);
    double H[MAX_N * MAX_N] = {0}, r[MAX_N], y[MAX_N];
    for (size_t l = 0; l < n_y; l++) {
      r[l] = exp(random_between(&seed, -3, 3));
      y[l] = random_normal(&seed);
      for (size_t i = 0; i < n; i++) {
        H[l * n + i] =
            random_uniform(&seed) < 0.3 ? 0 : random_normal(&seed) / sqrt(t.P[i * n + i]);
      }
    }
    real P[MAX_N * MAX_N], q[MAX_N];
    correct_at_once(n, n_y, t.P, t.q, H, r, y, P, q);
    correct_one_by_one(&t, n_y, H, r, y);
    check_covariance(n, t.P, P, 1e-10);
    for (size_t i = 0; i < n; i++) {
      check_near(t.q[i], (double)q[i], 1e-10 * (sqrt((double)P[i * n + i]) + fabs((double)q[i])));
    }
  }
}

// Without noise nothing is left along H, relative to what there was: the rounding of one pass would leave 1e-16 of it, and more
// with each further measurement.
static void test_no_noise(void** state) {
  (void)state;
  uint64_t seed = 3;
  for (int trial = 0; trial < 20; trial++) {
    enum { N = 9, N_Y = 4 };
    problem t;
    make(&t, N, 6, &seed);
    double H[N_Y * N], before[N_Y], variances[N], PH[N], L[N * N];
    static const double r[N_Y] = {0};
    double y[N_Y];
    for (size_t i = 0; i < N; i++) {
      variances[i] = t.P[i * N + i];
    }
    for (size_t l = 0; l < N_Y; l++) {
      y[l] = random_normal(&seed);
      for (size_t i = 0; i < N; i++) {
        H[l * N + i] = random_normal(&seed) / sqrt(t.P[i * N + i]);
      }
      before[l] = yoke__kalman_variance(N, t.P, H + l * N, 0, PH);
    }
    correct_one_by_one(&t, N_Y, H, r, y);
    for (size_t l = 0; l < N_Y; l++) {
      double got = 0;
      for (size_t i = 0; i < N; i++) {
        got += H[l * N + i] * t.q[i];
      }
      check_near(got, y[l], 1e-9);
      check_near(yoke__kalman_variance(N, t.P, H + l * N, 0, PH), 0, 1e-15 * before[l]);
    }

    // no variance below 0 beyond the rounding of what was there
    for (size_t i = 0; i < N; i++) {
      t.P[i * N + i] += 1e-14 * variances[i];
    }
    check_ok(yoke__kalman_root(N, t.P, L));
  }
}

// Two readings of nearly the same, 1e9 times as exact as what was known: the classical loss of digits.
static void test_stays_positive(void** state) {
  (void)state;
  double P[4] = {1e9, 0, 0, 1e9}, q[2] = {0, 0};
  const double H[2][2] = {{1, 1e-5}, {1, -1e-5}};
  for (int l = 0; l < 2; l++) {
    double PH[2], work[2];
    const double s = yoke__kalman_variance(2, P, H[l], 1e-9, PH);
    check_ok(yoke__kalman_correct(2, q, P, H[l], 1e-9, 1 - H[l][0] * q[0] - H[l][1] * q[1], s, PH,
                                  work));
  }
  // variance of the sum is that of two readings, of the difference likewise divided by (2e-5)^2
  check_relative(P[0], 0.5e-9, 1e-6);
  check_relative(P[3], 0.5e-9 / 1e-10, 1e-6);
  double L[4];
  check_ok(yoke__kalman_root(2, P, L));
}

static void test_refusals(void** state) {
  (void)state;
  double P[4] = {1, 0, 0, 0}, q[2] = {0, 7}, PH[2], work[2], L[4];
  const double H[2] = {0, 1};
  double s = yoke__kalman_variance(2, P, H, 0, PH);
  check_near(s, 0, 0);
  assert_int_equal(yoke__kalman_correct(2, q, P, H, 0, 1, s, PH, work), YOKE_SINGULAR);
  assert_int_equal(yoke__kalman_correct(2, q, P, H, 0, 1, (double)NAN, PH, work), YOKE_SINGULAR);

  // a state without variance does not move
  const double both[2] = {1, 1};
  s = yoke__kalman_variance(2, P, both, 0.5, PH);
  check_ok(yoke__kalman_correct(2, q, P, both, 0.5, 3, s, PH, work));
  check_near(q[0], 2, 1e-15);
  assert_true(q[1] == 7 && P[1] == 0 && P[2] == 0 && P[3] == 0);

  const double indefinite[4] = {1, 2, 2, 1};
  assert_int_equal(yoke__kalman_root(2, indefinite, L), YOKE_SINGULAR);
  const double bad[4] = {(double)NAN, 0, 0, 1};
  assert_int_equal(yoke__kalman_root(2, bad, L), YOKE_SINGULAR);
}

static void test_root(void** state) {
  (void)state;
  uint64_t seed = 4;
  for (size_t n = 1; n <= MAX_N; n++) {
    problem t;
    make(&t, n, 6, &seed);

    // one state that is known
    const size_t known = n / 2;
    for (size_t i = 0; i < n; i++) {
      t.P[i * n + known] = t.P[known * n + i] = 0;
    }
    double L[MAX_N * MAX_N];
    check_ok(yoke__kalman_root(n, t.P, L));
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        real sum = 0;
        for (size_t k = 0; k < n; k++) {
          sum += (real)L[i * n + k] * (real)L[j * n + k];
        }
        check_near((double)sum, t.P[i * n + j],
                   1e-13 * sqrt(t.P[i * n + i] * t.P[j * n + j]) + DBL_MIN);
        assert_true(j <= i || L[i * n + j] == 0);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_predict),  cmocka_unit_test(test_one_by_one_is_all_at_once),
      cmocka_unit_test(test_no_noise), cmocka_unit_test(test_stays_positive),
      cmocka_unit_test(test_refusals), cmocka_unit_test(test_root),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
