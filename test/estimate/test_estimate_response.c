// Models of low order from step responses: exact where the unit is linear, whatever its time constants are.
#include "estimate/estimate_response.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/normal_noise.h"

enum { N = 6, P = 4, M = 2 };

typedef struct linear {
  size_t n, p, m;
  double A[N * N], B[N * M], C[P * N];  // discrete A and B
} linear;

// x' = A x + B u, y = C x in steps of h.
static linear sample(size_t n, size_t p, size_t m, const double A[], const double B[],
                     const double C[], double h) {
  linear s = {.n = n, .p = p, .m = m};
  const size_t all = n + m;
  double block[(N + M) * (N + M)] = {0};
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      block[i * all + j] = h * A[i * n + j];
    }
    for (size_t j = 0; j < m; j++) {
      block[i * all + n + j] = h * B[i * m + j];
    }
  }
  check_ok(yoke__expm(all, block, block));
  for (size_t i = 0; i < n; i++) {
    memcpy(s.A + i * n, block + i * all, n * sizeof *block);
    memcpy(s.B + i * m, block + i * all + n, m * sizeof *block);
  }
  memcpy(s.C, C, p * n * sizeof *C);
  return s;
}

// One step with input u at 1.
static void step(const linear* s, size_t u, double x[]) {
  double to[N];
  yoke__mat_vec(s->n, s->n, s->A, x, to);
  for (size_t i = 0; i < s->n; i++) {
    x[i] = to[i] + s->B[i * s->m + u];
  }
}

// Largest error of all models from level `from` on; order: of the last one.
static double learn(const linear* s, unsigned max_level, int from, double noise, size_t* order) {
  yoke_arena arena = {0};
  yoke_response* r = yoke__response_prepare(s->p, s->m, max_level, &arena);
  yoke_realise* work = yoke__realise_prepare(r, 10, &arena);
  yoke_low_model model = yoke__low_model_prepare(r, 10, &arena);
  check_ok(yoke__arena_status(&arena));
  normal_noise random = {.seed = 1};
  double x[M][N] = {{0}}, y[P * M], worst = 0;
  int level = -1;
  for (uint64_t k = 1; k <= UINT64_C(2) << max_level; k++) {
    for (size_t u = 0; u < s->m; u++) {
      double row[P];
      step(s, u, x[u]);
      yoke__mat_vec(s->p, s->n, s->C, x[u], row);
      for (size_t o = 0; o < s->p; o++) {
        y[o * s->m + u] = row[o] * (1 + noise * noise_even(&random));
      }
    }
    yoke__response_add(r, y);
    if (yoke__response_level(r) > level) {
      level = yoke__response_level(r);
      const yoke_status status =
          yoke__realise(work, r, (unsigned)level, fmax(10 * noise, 1e-6), 10, false, &model);
      if (level >= from) {
        check_ok(status);
        worst = fmax(worst, model.error);
      }
    }
  }
  *order = model.order;
  yoke__arena_free(&arena);
  return worst;
}

static linear rc(void) {
  static const double A[] = {-5, 5, 2.5, -25.0 / 6}, B[] = {10, 0}, C[] = {1, 0, 0, 1};
  return sample(2, 2, 1, A, B, C, 1e-3);
}

static void test_two_masses(void** state) {
  (void)state;
  const linear s = rc();
  size_t order;
  check_between(learn(&s, 14, 1, 0, &order), 0, 1e-11);
  assert_int_equal(order, 2);
  check_between(learn(&s, 14, 4, 1e-6, &order), 0, 3e-5);
  assert_int_equal(order, 2);
}

// Time constants of 10, 1000 and 100000 steps side by side.
static void test_time_constants_far_apart(void** state) {
  (void)state;
  static const double A[] = {-100, 0, 0, 0, -1, 0, 0, 0, -0.01}, B[] = {100, 1, 0.01},
                      C[] = {1, 2, 3, 0, 1, 5};
  const linear s = sample(3, 2, 1, A, B, C, 1e-3);
  size_t order;
  check_between(learn(&s, 17, 8, 0, &order), 0, 1e-10);
  assert_int_equal(order, 3);
  check_between(learn(&s, 17, 9, 1e-6, &order), 0, 3e-5);
  assert_int_equal(order, 3);
}

// A weakly damped oscillation, and its integral, which never comes to rest.
static void test_oscillation_and_integral(void** state) {
  (void)state;
  static const double w = 31.4;
  const double A[] = {0, 1, 0, -w * w, -0.02 * w, 0, 1, 0, 0}, B[] = {0, w * w, 0},
               C[] = {1, 0, 0, 0, 0, 1};
  const linear s = sample(3, 2, 1, A, B, C, 1e-3);
  size_t order;
  check_between(learn(&s, 14, 4, 0, &order), 0, 1e-9);
  assert_int_equal(order, 3);
  check_between(learn(&s, 14, 4, 1e-6, &order), 0, 1e-4);
  assert_int_equal(order, 3);
}

static linear chain(void) {
  double A[N * N] = {0}, B[N * M] = {0}, C[P * N] = {0};
  for (size_t i = 0; i < N; i++) {
    const double c = 0.05 * pow(3, (double)i);
    A[i * N + i] = -(i == 0 ? 1 : 2) / c;
    if (i > 0) {
      A[i * N + i - 1] = 1 / c;
    }
    if (i + 1 < N) {
      A[i * N + i + 1] = 1 / c;
    }
  }
  B[0] = 1 / 0.05;
  B[M + 1] = 1 / 0.15;
  for (size_t o = 0; o < P; o++) {
    C[o * N + (o < 3 ? 2 * o : 5)] = 1;
  }
  return sample(N, P, M, A, B, C, 1e-3);
}

// Two inputs, four outputs, six states.
static void test_chain_of_two_inputs(void** state) {
  (void)state;
  const linear s = chain();
  size_t order;
  check_between(learn(&s, 15, 8, 0, &order), 0, 1e-9);
  assert_int_equal(order, N);
  // noise of the readings is a millionth; slow modes are hidden in it until the responses are long enough
  check_between(learn(&s, 15, 13, 1e-6, &order), 0, 1e-4);
}

// What follows at once, in the step in which the input moves: a state that is gone in the next step.
static void test_direct_part(void** state) {
  (void)state;
  linear s = {.n = 2, .p = 1, .m = 1, .A = {0, 0, 0, 0.99}, .B = {1, 0.01}, .C = {3, 1}};
  size_t order;
  check_between(learn(&s, 12, 2, 0, &order), 0, 1e-10);
  assert_int_equal(order, 2);
}

// The state after k steps, and its change of basis, are those of the unit.
static void test_state_after_and_transfer(void** state) {
  (void)state;
  const linear s = chain();
  yoke_arena arena = {0};
  yoke_response* r = yoke__response_prepare(P, M, 12, &arena);
  yoke_realise* work = yoke__realise_prepare(r, 10, &arena);
  yoke_low_model early = yoke__low_model_prepare(r, 10, &arena),
                 late = yoke__low_model_prepare(r, 10, &arena);
  double x[M][N] = {{0}}, y[P * M];
  for (uint64_t k = 1; k <= 8192; k++) {
    for (size_t u = 0; u < M; u++) {
      double row[P];
      step(&s, u, x[u]);
      yoke__mat_vec(P, N, s.C, x[u], row);
      for (size_t o = 0; o < P; o++) {
        y[o * M + u] = row[o];
      }
    }
    yoke__response_add(r, y);
  }
  check_ok(yoke__realise(work, r, 10, 1e-9, 10, false, &early));
  check_ok(yoke__realise(work, r, 12, 1e-9, 10, false, &late));
  assert_int_equal(early.order, N);
  assert_int_equal(late.order, N);

  // outputs after 777 steps, by both
  double from[10 * M], to[10 * M], moved[10 * M], T[100], y1[P * M], y2[P * M], room[1000];
  yoke__low_model_after(&early, 777, from, room);
  yoke__low_model_after(&late, 777, to, room);
  check_ok(yoke__low_model_transfer(work, &early, &late, T));
  yoke__mat_mul(N, N, M, T, from, moved);
  yoke__mat_mul(P, N, M, late.C, to, y1);
  yoke__mat_mul(P, N, M, late.C, moved, y2);
  for (size_t i = 0; i < (size_t)P * M; i++) {
    check_near(y2[i], y1[i], 1e-6 * fabs(y1[0]));
  }
  double z[M][N] = {{0}};
  for (int k = 0; k < 777; k++) {
    step(&s, 0, z[0]);
  }
  yoke__mat_vec(P, N, s.C, z[0], y2);
  for (size_t o = 0; o < P; o++) {
    check_near(y1[o * M], y2[o], 1e-8 * fabs(y2[0]));
  }
  yoke__arena_free(&arena);
}

static void test_nothing_moves(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_response* r = yoke__response_prepare(2, 1, 5, &arena);
  yoke_realise* work = yoke__realise_prepare(r, 4, &arena);
  yoke_low_model model = yoke__low_model_prepare(r, 4, &arena);
  const double y[2] = {0, 0};
  for (int k = 0; k < 64; k++) {
    yoke__response_add(r, y);
  }
  assert_int_equal(yoke__response_level(r), 5);
  assert_int_equal(yoke__realise(work, r, 5, 1e-6, 4, false, &model), YOKE_SINGULAR);
  yoke__arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_masses),
      cmocka_unit_test(test_time_constants_far_apart),
      cmocka_unit_test(test_oscillation_and_integral),
      cmocka_unit_test(test_chain_of_two_inputs),
      cmocka_unit_test(test_direct_part),
      cmocka_unit_test(test_state_after_and_transfer),
      cmocka_unit_test(test_nothing_moves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
