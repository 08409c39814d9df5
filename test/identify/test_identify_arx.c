// Prediction by an ARX(2,2) model: exact several steps ahead, equal to plain least squares, missing samples, signals that stand
// still, limits, numbers that are not finite, copies.
#include "identify/identify_arx.h"

#include "base/base_message.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/normal_noise.h"

static _Alignas(64) unsigned char block[4096];
static const double theta[4] = {-1.8, 0.9, 0.3, 0.1};

static yoke_arx open_arx(yoke_arx_model model, double forgetting) {
  const yoke_arx_setup setup = {.model = model,
                                .has_input = true,
                                .forgetting = forgetting,
                                .start_variance = 1e6,
                                .noise = 0,
                                .limit = 10};
  yoke_arx arx;
  assert_true(yoke__arx_size(&setup) <= sizeof block);
  check_ok(yoke__arx_prepare(&arx, &setup, block, NULL));
  return arx;
}

typedef struct plant {
  double y[2], u[2];
  normal_noise noise;
} plant;

// u_{k} for the next sample, then that sample
static double next_of(plant* p) {
  p->u[1] = p->u[0];
  p->u[0] = noise_even(&p->noise);
  const double y =
      -theta[0] * p->y[0] - theta[1] * p->y[1] + theta[2] * p->u[0] + theta[3] * p->u[1];
  p->y[1] = p->y[0];
  p->y[0] = y;
  return y;
}

static void feed(yoke_arx* arx, plant* p, int n) {
  for (int k = 0; k < n; k++) {
    const double y = next_of(p);
    yoke__arx_update(arx, y, p->u[0]);
  }
}

// Error of predictions n steps ahead with the inputs that will come.
static double error_ahead(yoke_arx* arx, plant p, int n) {
  yoke_arx_ahead ahead;
  yoke__arx_ahead_start(arx, &ahead);
  double error = 0;
  for (int i = 0; i < n; i++) {
    const double y = next_of(&p);
    error = fmax(error, fabs(yoke__arx_ahead_step(arx, &ahead, p.u[0]) - y));
  }
  return error;
}

static void test_exact(void** state) {
  (void)state;
  for (yoke_arx_model model = YOKE_ARX_RLS; model <= YOKE_ARX_EKF; model++) {
    yoke_arx arx = open_arx(model, 1);
    plant p = {.noise = {.seed = 5}};
    feed(&arx, &p, 300);
    double found[4];
    yoke__arx_read(&arx, found);
    for (int i = 0; i < 4; i++) {
      check_near(found[i], theta[i], 1e-6);
    }
    check_near(error_ahead(&arx, p, 10), 0, 1e-5);
  }
}

// theta by the formulas of the source, with a full matrix.
static void test_equals_plain_form(void** state) {
  (void)state;
  static const double lambdas[] = {1, 0.98};
  for (size_t l = 0; l < 2; l++) {
    const double lambda = lambdas[l];
    yoke_arx arx = open_arx(YOKE_ARX_RLS, lambda), filtered;
    static _Alignas(64) unsigned char other[4096];
    const yoke_arx_setup ekf = {YOKE_ARX_EKF, true, lambda, 1e6, 0, 10};
    check_ok(yoke__arx_prepare(&filtered, &ekf, other, NULL));
    plant p = {.noise = {.seed = 6}};
    double t[4] = {0}, P[4][4] = {{0}}, y1 = 0, y2 = 0, u2 = 0;
    for (int i = 0; i < 4; i++) {
      P[i][i] = 1e6;
    }
    for (int k = 0; k < 100; k++) {
      const double y = next_of(&p), u1 = p.u[0];
      yoke__arx_update(&arx, y, u1);
      yoke__arx_update(&filtered, y, u1);
      const double phi[4] = {-y1, -y2, u1, u2};
      double Pphi[4] = {0}, below = lambda, error = y;
      for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
          Pphi[i] += P[i][j] * phi[j];
        }
      }
      for (int i = 0; i < 4; i++) {
        below += phi[i] * Pphi[i];
        error -= phi[i] * t[i];
      }
      for (int i = 0; i < 4 && k >= 2; i++) {
        t[i] += Pphi[i] / below * error;
        for (int j = 0; j < 4; j++) {
          P[i][j] = (P[i][j] - Pphi[i] * Pphi[j] / below) / lambda;
        }
      }
      y2 = y1;
      y1 = y;
      u2 = u1;
    }
    double found[4], by_filter[4];
    yoke__arx_read(&arx, found);
    yoke__arx_read(&filtered, by_filter);
    for (int i = 0; i < 4; i++) {
      check_near(found[i], t[i], 1e-8);
      // R = 0 and Q = 1: the filter is least squares
      check_near(by_filter[i], t[i], lambda == 1 ? 1e-6 : 1e-3);
    }
  }
}

// A gap is bridged by the model: exactly, as the model is; learning goes on behind it.
static void test_gap(void** state) {
  (void)state;
  for (yoke_arx_model model = YOKE_ARX_RLS; model <= YOKE_ARX_EKF; model++) {
    yoke_arx arx = open_arx(model, 1);
    plant p = {.noise = {.seed = 7}};
    feed(&arx, &p, 300);
    for (int k = 0; k < 7; k++) {
      next_of(&p);
      yoke__arx_skip(&arx, p.u[0]);
    }
    assert_true(yoke__arx_is_ready(&arx));
    check_near(error_ahead(&arx, p, 3), 0, 1e-4);
    feed(&arx, &p, 10);
    check_near(error_ahead(&arx, p, 10), 0, 1e-4);
    // a sample that is no number is a missing one
    next_of(&p);
    yoke__arx_update(&arx, (double)NAN, p.u[0]);
    check_near(error_ahead(&arx, p, 3), 0, 1e-4);
  }
}

// Before it knows anything, and behind a restart, it holds.
static void test_holds_without_model(void** state) {
  (void)state;
  yoke_arx arx = open_arx(YOKE_ARX_RLS, 1);
  yoke_arx_ahead ahead;
  plant p = {.noise = {.seed = 9}};
  yoke__arx_restart(&arx, 0.25);
  yoke__arx_ahead_start(&arx, &ahead);
  assert_true(!yoke__arx_is_ready(&arx) && yoke__arx_ahead_step(&arx, &ahead, 3) == 0.25);
  feed(&arx, &p, 100);
  assert_true(yoke__arx_is_ready(&arx));
  yoke__arx_restart(&arx, 50);
  yoke__arx_ahead_start(&arx, &ahead);
  for (int i = 0; i < 5; i++) {
    assert_true(yoke__arx_ahead_step(&arx, &ahead, 1) == 50);
  }
}

// theta and what is known of it stay while nothing moves, though older samples are forgotten.
static void test_frozen_without_excitation(void** state) {
  (void)state;
  for (yoke_arx_model model = YOKE_ARX_RLS; model <= YOKE_ARX_EKF; model++) {
    yoke_arx arx = open_arx(model, 0.95);
    plant p = {.noise = {.seed = 11}};
    feed(&arx, &p, 300);
    double before[4], after[4];
    for (int k = 0; k < 10; k++) {
      yoke__arx_update(&arx, 0.5, 0.2);
    }
    yoke__arx_read(&arx, before);
    const int64_t n_frozen = arx.state->counts.n_frozen;
    const double variance = yoke__rls_mean_variance(&arx.rls, 0) + arx.state->ekf.P[4][4];
    for (int k = 0; k < 5000; k++) {
      yoke__arx_update(&arx, 0.5, 0.2);
    }
    yoke__arx_read(&arx, after);
    assert_memory_equal(before, after, sizeof before);
    assert_true(arx.state->counts.n_frozen == n_frozen + 5000);
    assert_true(yoke__rls_mean_variance(&arx.rls, 0) + arx.state->ekf.P[4][4] == variance);
  }
}

// An unstable model does not leave the range by more than the limit.
static void test_bounded(void** state) {
  (void)state;
  for (yoke_arx_model model = YOKE_ARX_RLS; model <= YOKE_ARX_EKF; model++) {
    yoke_arx arx = open_arx(model, 1);
    double y = 1;
    for (int k = 0; k < 20; k++) {
      yoke__arx_update(&arx, y, 0);
      y *= 1.3;
    }
    yoke_arx_ahead ahead;
    yoke__arx_ahead_start(&arx, &ahead);
    const double range = arx.state->high - arx.state->low;
    double most = 0;
    for (int i = 0; i < 1000; i++) {
      most = fmax(most, yoke__arx_ahead_step(&arx, &ahead, 0));
    }
    check_near(most, arx.state->high + 10 * range, 1e-9 * most);
    assert_true(arx.state->counts.n_limited > 0);
  }
}

// Numbers whose squares overflow start it anew.
static void test_overflow(void** state) {
  (void)state;
  for (yoke_arx_model model = YOKE_ARX_RLS; model <= YOKE_ARX_EKF; model++) {
    yoke_arx arx = open_arx(model, 1);
    plant p = {.noise = {.seed = 13}};
    feed(&arx, &p, 50);
    for (int k = 0; k < 5; k++) {
      yoke__arx_update(&arx, k % 2 == 0 ? 1e300 : -1e300, 1e300);
    }
    feed(&arx, &p, 500);
    check_near(error_ahead(&arx, p, 5), 0, 1e-4);
  }
}

// A copy of the block is a saved state; the step takes no heap.
static void test_copy(void** state) {
  (void)state;
  for (yoke_arx_model model = YOKE_ARX_RLS; model <= YOKE_ARX_EKF; model++) {
    yoke_arx arx = open_arx(model, 0.99);
    plant p = {.noise = {.seed = 17}};
    feed(&arx, &p, 50);
    static unsigned char saved[sizeof block], first[sizeof block];
    memcpy(saved, block, sizeof block);
    plant again = p;
    const long before = atomic_load(&n_heap_calls);
    feed(&arx, &p, 50);
    assert_true(atomic_load(&n_heap_calls) == before);
    memcpy(first, block, sizeof block);
    memcpy(block, saved, sizeof block);
    feed(&arx, &again, 50);
    assert_memory_equal(first, block, sizeof block);
  }
}

static void test_refusals(void** state) {
  (void)state;
  YOKE_CATCH(why);
  yoke_arx arx;
  yoke_arx_setup setup = {YOKE_ARX_RLS, true, 0, 1e3, 0, 1};
  assert_true(yoke__arx_prepare(&arx, &setup, block, &why.sink) == YOKE_BAD_ARG);
  check_contains(why.text, "forgetting");
  setup.forgetting = 1;
  setup.limit = -1;
  assert_true(yoke__arx_prepare(&arx, &setup, block, &why.sink) == YOKE_BAD_ARG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact),
      cmocka_unit_test(test_equals_plain_form),
      cmocka_unit_test(test_gap),
      cmocka_unit_test(test_holds_without_model),
      cmocka_unit_test(test_frozen_without_excitation),
      cmocka_unit_test(test_bounded),
      cmocka_unit_test(test_overflow),
      cmocka_unit_test(test_copy),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
