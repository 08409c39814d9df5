// Extended Kalman filter of an ARX(2,2) model: the derivatives in its covariance, exactness, a covariance that stays symmetric
// and positive, equality with least squares, less noise in what it filters.
#include "identify/identify_ekf.h"

#include "support/check.h"
#include "support/normal_noise.h"

static const yoke_ekf_setup exact = {1e3, 0, 1};

// an under-damped oscillator, sampled
static const double theta[4] = {-1.8, 0.9, 0.3, 0.1};

typedef struct plant {
  double y[2], u[2];
  normal_noise noise;
} plant;

static double next_of(plant* p) {
  const double y =
      -theta[0] * p->y[0] - theta[1] * p->y[1] + theta[2] * p->u[0] + theta[3] * p->u[1];
  p->y[1] = p->y[0];
  p->y[0] = y;
  return y;
}

static void take_input(plant* p) {
  p->u[1] = p->u[0];
  p->u[0] = noise_even(&p->noise);
}

static void run(yoke_ekf* ekf, const yoke_ekf_setup* setup, int n, double deviation) {
  plant p = {.noise = {.seed = 3}};
  normal_noise noise = {.seed = 8};
  yoke__ekf_start(ekf, setup);
  yoke__ekf_enter(ekf, setup, 0);
  take_input(&p);
  yoke__ekf_enter(ekf, setup, next_of(&p));
  for (int k = 2; k < n; k++) {
    take_input(&p);
    yoke__ekf_predict(ekf, setup, p.u[0], p.u[1]);
    assert_true(yoke__ekf_update(ekf, setup, next_of(&p) + deviation * noise_next(&noise)));
  }
}

// Without noise the parameters are those of the plant, but for what P0 = 1e3 leaves of the start at 0.
static void test_exact(void** state) {
  (void)state;
  yoke_ekf ekf;
  run(&ekf, &exact, 400, 0);
  for (int i = 0; i < 4; i++) {
    check_near(ekf.z[2 + i], theta[i], 1e-3);
  }
}

// P- = F P F^T + Q against F by differences of the prediction.
static void test_derivatives(void** state) {
  (void)state;
  yoke_ekf ekf;
  run(&ekf, &exact, 20, 0);
  const double u1 = 0.7, u2 = -0.4, step = 1e-6;
  double F[6][6];
  for (int j = 0; j < 6; j++) {
    yoke_ekf up = ekf, down = ekf;
    up.z[j] += step;
    down.z[j] -= step;
    yoke__ekf_predict(&up, &exact, u1, u2);
    yoke__ekf_predict(&down, &exact, u1, u2);
    for (int i = 0; i < 6; i++) {
      F[i][j] = (up.z[i] - down.z[i]) / (2 * step);
    }
  }
  yoke_ekf next = ekf;
  yoke__ekf_predict(&next, &exact, u1, u2);
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      double want = i == 1 && j == 1 ? 1 : 0;
      for (int a = 0; a < 36; a++) {
        want += F[i][a / 6] * ekf.P[a / 6][a % 6] * F[j][a % 6];
      }
      check_near(next.P[i][j], want, 1e-6 * (1 + fabs(want)));
    }
  }
}

// Cholesky of P with what round-off may take on the diagonal.
static void check_positive(const yoke_ekf* ekf) {
  double L[6][6] = {{0}};
  for (int j = 0; j < 6; j++) {
    for (int i = j; i < 6; i++) {
      assert_true(ekf->P[i][j] == ekf->P[j][i]);
      double sum = ekf->P[i][j];
      for (int k = 0; k < j; k++) {
        sum -= L[i][k] * L[j][k];
      }
      if (i == j) {
        assert_true(sum >= -1e-12 * (1 + ekf->P[j][j]));
        L[j][j] = sqrt(fmax(sum, 1e-300));
      } else {
        L[i][j] = L[j][j] > 1e-140 ? sum / L[j][j] : 0;
      }
    }
  }
}

// Symmetric and positive after many samples, with and without noise and forgetting.
static void test_covariance(void** state) {
  (void)state;
  static const yoke_ekf_setup setups[] = {
      {1e3, 0.1, 1}, {1e3, 1e-6, 0.98}, {1e9, 10, 0.9}, {1e-3, 0.5, 1}};
  for (size_t i = 0; i < sizeof setups / sizeof *setups; i++) {
    yoke_ekf ekf;
    run(&ekf, &setups[i], 20000, i % 2 == 0 ? 0.1 : 0);
    check_positive(&ekf);
    for (int j = 2; j < 6; j++) {
      assert_true(ekf.P[j][j] <= setups[i].start_variance * (1 + 1e-9));
    }
  }
}

// What it filters is nearer to the truth than the samples.
static void test_filters_noise(void** state) {
  (void)state;
  const yoke_ekf_setup setup = {1e3, 100, 1};
  const double deviation = 0.5;
  plant p = {.noise = {.seed = 21}};
  normal_noise noise = {.seed = 22};
  yoke_ekf ekf;
  yoke__ekf_start(&ekf, &setup);
  yoke__ekf_enter(&ekf, &setup, 0);
  take_input(&p);
  yoke__ekf_enter(&ekf, &setup, next_of(&p));
  double filtered = 0, raw = 0;
  for (int k = 2; k < 4000; k++) {
    take_input(&p);
    const double y = next_of(&p), e = deviation * noise_next(&noise);
    yoke__ekf_predict(&ekf, &setup, p.u[0], p.u[1]);
    assert_true(yoke__ekf_update(&ekf, &setup, y + e));
    if (k >= 2000) {
      filtered += (ekf.z[1] - y) * (ekf.z[1] - y);
      raw += e * e;
    }
  }
  print_message("error of the filtered over the raw signal: %.3f\n", sqrt(filtered / raw));
  assert_true(filtered < raw);
}

// Numbers that are not finite are refused and change nothing.
static void test_refuses_infinity(void** state) {
  (void)state;
  yoke_ekf ekf;
  run(&ekf, &exact, 20, 0);
  const yoke_ekf before = ekf;
  assert_false(yoke__ekf_update(&ekf, &exact, (double)NAN));
  assert_false(yoke__ekf_update(&ekf, &exact, (double)INFINITY));
  assert_memory_equal(&ekf, &before, sizeof ekf);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_covariance),
      cmocka_unit_test(test_filters_noise),
      cmocka_unit_test(test_refuses_infinity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
