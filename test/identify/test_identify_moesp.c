// MOESP: exact on data without noise (MP-10), both pairings, order from the data, recursive form,
// window, refusals.
#include <float.h>

#include "base/base_message.h"
#include "identify/identify_moesp.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/counting_heap.h"

enum { N_SAMPLES = 400, MAX = 8 };

static YOKE_CATCH(err);

static double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

// x^{k+1} = A x^k + B u, y^k = C x^k + D u
typedef struct discrete {
  size_t n_states, n, m;
  double A[MAX * MAX], B[MAX * MAX], C[MAX * MAX], D[MAX * MAX];
} discrete;

// S2 of the dual mass oscillator (mpsm.md 10.1), input held over 1 ms
static void oscillator_2(discrete* s) {
  *s = (discrete){.n_states = 2, .n = 1, .m = 2, .C = {1e5, 1e3}, .D = {-1e5, -1e3}};
  double A[4] = {0, 1e-3, -(1e7 + 1e5) / 10 * 1e-3, -(2 + 1e3) / 10 * 1e-3};
  double M[16] = {A[0], A[1], 0, 0, A[2], A[3], 1e4 * 1e-3, 1e2 * 1e-3}, E[16];
  check_ok(yoke__expm(4, M, E));
  for (size_t i = 0; i < 4; i++) {
    s->A[i] = E[i / 2 * 4 + i % 2];
    s->B[i] = E[i / 2 * 4 + 2 + i % 2];
  }
}

// Records y^k, u^k in the order of the samples. Aligned: u^k enters y^k by D and x^{k+1} by B.
// Shifted: x^k = A x^{k-1} + B u^k, y^k = C x^k.
static void record(const discrete* s, bool is_aligned, uint64_t seed, double noise, size_t n,
                   double samples[]) {
  const size_t width = s->n + s->m;
  double x[MAX] = {0}, next[MAX];
  for (size_t k = 0; k < n; k++) {
    double *y = samples + k * width, *u = y + s->n;
    for (size_t j = 0; j < s->m; j++) {
      // sizes of displacement and speed of the oscillator
      u[j] = (j == 0 ? 0.1 : 10.0) * (random_number(&seed) + 0.5 * sin(0.3 * (double)k));
    }
    if (!is_aligned) {
      yoke__mat_vec(s->n_states, s->n_states, s->A, x, next);
      yoke__mat_vec_add(s->n_states, s->m, s->B, u, next);
      memcpy(x, next, sizeof x);
    }
    yoke__mat_vec(s->n, s->n_states, s->C, x, y);
    if (is_aligned) {
      yoke__mat_vec_add(s->n, s->m, s->D, u, y);
      yoke__mat_vec(s->n_states, s->n_states, s->A, x, next);
      yoke__mat_vec_add(s->n_states, s->m, s->B, u, next);
      memcpy(x, next, sizeof x);
    }
    for (size_t i = 0; i < s->n; i++) {
      y[i] += noise * random_number(&seed);
    }
  }
}

// largest distance of the model's poles to the system's, sorted as they come in pairs
static double pole_distance(const discrete* s, const yoke_moesp_model* model) {
  double re[MAX], im[MAX], re_m[MAX], im_m[MAX], most = 0.0;
  check_ok(yoke__eigenvalues(s->n_states, s->A, re, im));
  check_ok(yoke__eigenvalues(model->order, model->A, re_m, im_m));
  for (size_t i = 0; i < s->n_states; i++) {
    double nearest = HUGE_VAL;
    for (size_t j = 0; j < model->order; j++) {
      nearest = fmin(nearest, hypot(re[i] - re_m[j], im[i] - im_m[j]));
    }
    most = fmax(most, nearest);
  }
  return most;
}

// largest difference of the Markov parameters C A^i B, i = 0 .. 9, relative to the largest of them
static double markov_distance(const discrete* s, const yoke_moesp_model* model) {
  double X[MAX * MAX], Y[MAX * MAX], T[MAX * MAX], H[MAX * MAX], G[MAX * MAX];
  double most = 0.0, largest = 0.0;
  memcpy(X, s->B, sizeof X);
  memcpy(Y, model->B, model->order * s->m * sizeof *Y);
  for (int i = 0; i < 10; i++) {
    yoke__mat_mul(s->n, s->n_states, s->m, s->C, X, H);
    yoke__mat_mul(s->n, model->order, s->m, model->C, Y, G);
    for (size_t e = 0; e < s->n * s->m; e++) {
      most = fmax(most, fabs(H[e] - G[e]));
      largest = fmax(largest, fabs(H[e]));
    }
    yoke__mat_mul(s->n_states, s->n_states, s->m, s->A, X, T);
    memcpy(X, T, sizeof X);
    yoke__mat_mul(model->order, model->order, s->m, model->A, Y, T);
    memcpy(Y, T, sizeof Y);
  }
  return most / largest;
}

static yoke_moesp* open_moesp(const yoke_moesp_setup* setup) {
  yoke_moesp* moesp = NULL;
  err.text[0] = '\0';
  if (yoke__moesp_create(setup, &moesp, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  return moesp;
}

// MP-10, first part: S2 without noise, r = 6, 400 samples: poles, D and Markov parameters to 1e-8;
// singular values beyond the order at round-off
static void test_oscillator_MP_10(void** state) {
  (void)state;
  discrete s;
  static double samples[N_SAMPLES * 3];
  oscillator_2(&s);
  record(&s, true, 5, 0.0, N_SAMPLES, samples);
  yoke_moesp* moesp = open_moesp(&(yoke_moesp_setup){
      .n = 1, .m = 2, .n_rows = 6, .order = 2, .window = N_SAMPLES, .pairing = YOKE_MOESP_ALIGNED});
  yoke_moesp_model model;
  check_ok(yoke__moesp_solve(moesp, N_SAMPLES, samples, &model));
  check_between(pole_distance(&s, &model), 0.0, 1e-8);
  check_between(markov_distance(&s, &model), 0.0, 1e-8);
  check_relative(model.D[0], -1e5, 1e-8);
  check_relative(model.D[1], -1e3, 1e-8);
  assert_int_equal(model.n_values, 6);
  check_between(model.values[2] / model.values[0], 0.0, 1e-12);
  check_between(model.values[1] / model.values[0], 1e-6, 1.0);

  // S0 and S1 in its Jacobians: D in S1, and the prediction of a state that C can see
  double Sy[1], S0[2], S1[2], work[256];
  yoke_jacobian_discrete j = {1, 2, Sy, S0, S1};
  assert_true(yoke__moesp_jacobian_work_size(1, 2, 2) <= 256);
  check_ok(yoke__moesp_jacobian(&model, YOKE_MOESP_ALIGNED, &j, work));
  check_relative(S1[0], -1e5, 1e-8);
  double CB[2];
  yoke__mat_mul(1, 2, 2, s.C, s.B, CB);
  check_relative(S0[1], CB[1] - Sy[0] * -1e3, 1e-6);
  yoke__moesp_destroy(&moesp);
  yoke__moesp_destroy(&moesp);
}

// Shifted: a plant without feedthrough whose outputs are its states; Jacobians are A and B, in any
// basis.
static void test_shifted_pairing(void** state) {
  (void)state;
  const discrete s = {.n_states = 2,
                      .n = 2,
                      .m = 1,
                      .A = {0.95, 1e-3, -98, 0.94},
                      .B = {5e-3, 9.8},
                      .C = {1, 0, 0, 1}};
  static double samples[300 * 3];
  record(&s, false, 9, 0.0, 300, samples);
  yoke_moesp* moesp = open_moesp(&(yoke_moesp_setup){.n = 2, .m = 1, .order = 2, .window = 300});
  yoke_moesp_model model;
  check_ok(yoke__moesp_solve(moesp, 300, samples, &model));
  double Sy[4], S0[2], S1[2], work[256];
  yoke_jacobian_discrete j = {2, 1, Sy, S0, S1};
  check_ok(yoke__moesp_jacobian(&model, YOKE_MOESP_SHIFTED, &j, work));
  for (size_t i = 0; i < 4; i++) {
    check_relative(Sy[i], s.A[i], 1e-8);
  }
  check_relative(S1[0], 5e-3, 1e-8);
  check_relative(S1[1], 9.8, 1e-8);
  assert_true(S0[0] == 0 && S0[1] == 0 && model.D[0] == 0);
  yoke__moesp_destroy(&moesp);
}

static void random_system(discrete* s, uint64_t* seed) {
  *s = (discrete){.n_states = 3, .n = 2, .m = 2};
  for (size_t i = 0; i < 9; i++) {
    s->A[i] = random_number(seed);
  }
  double radius = 0.0;
  check_ok(yoke__spectral_radius(3, s->A, &radius));
  for (size_t i = 0; i < 9; i++) {
    s->A[i] *= 0.8 / radius;
  }
  for (size_t i = 0; i < 6; i++) {
    s->B[i] = random_number(seed);
    s->C[i] = random_number(seed);
  }
  for (size_t i = 0; i < 4; i++) {
    s->D[i] = random_number(seed);
  }
}

// The order from the data, by both rules, on ten random systems; a light noise leaves it in place
// and moves poles by a few times its size.
static void test_order_from_data(void** state) {
  (void)state;
  static double samples[600 * 4];
  uint64_t seed = 100;
  for (int trial = 0; trial < 10; trial++) {
    discrete s;
    random_system(&s, &seed);
    record(&s, true, seed, 0.0, 600, samples);
    for (int rule = YOKE_MOESP_TOLERATED; rule <= YOKE_MOESP_GAP; rule++) {
      yoke_moesp* moesp = open_moesp(&(yoke_moesp_setup){.n = 2,
                                                         .m = 2,
                                                         .n_rows = 5,
                                                         .order = 8,
                                                         .window = 600,
                                                         .tolerance = 1e-6,
                                                         .rule = (yoke_moesp_rule)rule,
                                                         .pairing = YOKE_MOESP_ALIGNED});
      yoke_moesp_model model;
      check_ok(yoke__moesp_solve(moesp, 600, samples, &model));
      assert_int_equal(model.order, 3);
      check_between(pole_distance(&s, &model), 0.0, 1e-7);
      yoke__moesp_destroy(&moesp);
    }
  }
}

// An input that never moves is no reason to lose the others. 0.1: the mean of 600 of them is not 0.1.
static void test_input_at_rest(void** state) {
  (void)state;
  static double samples[600 * 4];
  uint64_t seed = 40;
  discrete s;
  random_system(&s, &seed);
  record(&s, true, seed, 0.0, 600, samples);
  double x[MAX] = {0}, next[MAX];
  for (size_t k = 0; k < 600; k++) {
    double *y = samples + k * 4, *u = y + 2;
    u[1] = 0.1;
    yoke__mat_vec(2, 3, s.C, x, y);
    yoke__mat_vec_add(2, 2, s.D, u, y);
    yoke__mat_vec(3, 3, s.A, x, next);
    yoke__mat_vec_add(3, 2, s.B, u, next);
    memcpy(x, next, sizeof x);
  }
  yoke_moesp* moesp = open_moesp(&(yoke_moesp_setup){
      .n = 2, .m = 2, .n_rows = 5, .order = 3, .window = 600, .pairing = YOKE_MOESP_ALIGNED});
  yoke_moesp_model model;
  check_ok(yoke__moesp_solve(moesp, 600, samples, &model));
  check_between(pole_distance(&s, &model), 0.0, 1e-8);
  check_near(model.D[0], s.D[0], 1e-8);
  check_near(model.D[2], s.D[2], 1e-8);
  yoke__moesp_destroy(&moesp);
}

static double factor_memory[2][2000];

static yoke_moesp_factor open_factor(const yoke_moesp_setup* setup, double forgetting, int which) {
  yoke_moesp_factor factor;
  assert_true(yoke__moesp_factor_size(setup) <= 2000);
  yoke__moesp_factor_prepare(&factor, setup, forgetting, factor_memory[which]);
  return factor;
}

static void add_all(yoke_moesp_factor* factor, size_t n, const double samples[]) {
  const size_t width = factor->n + factor->m;
  for (size_t k = 0; k < n; k++) {
    yoke__moesp_factor_add(factor, samples + k * width, samples + k * width + factor->n);
  }
}

// Recursive form: exact without noise, forgets, starts anew after a NaN; the step path takes no heap.
static void test_recursive_form(void** state) {
  (void)state;
  check_heap_is_counted();
  enum { N_LONG = 25 * 500 };
  static double samples[N_LONG * 4];
  uint64_t seed = 7;
  for (int pairing = YOKE_MOESP_SHIFTED; pairing <= YOKE_MOESP_ALIGNED; pairing++) {
    discrete s;
    random_system(&s, &seed);
    record(&s, pairing == YOKE_MOESP_ALIGNED, seed, 0.0, 500, samples);
    const yoke_moesp_setup setup = {.n = 2,
                                    .m = 2,
                                    .n_rows = 5,
                                    .order = 3,
                                    .window = 500,
                                    .pairing = (yoke_moesp_pairing)pairing,
                                    .is_recursive = true};
    yoke_moesp* moesp = open_moesp(&setup);
    yoke_moesp_factor factor = open_factor(&setup, 1.0 - 1.0 / 500, 0);
    yoke_moesp_factor copy = open_factor(&setup, 1.0 - 1.0 / 500, 1);
    yoke_moesp_model model;
    assert_int_equal(yoke__moesp_solve_factor(moesp, &factor, &model), YOKE_BAD_ARG);
    assert_int_equal(yoke__moesp_solve(moesp, 500, samples, &model), YOKE_BAD_ARG);
    const long before = atomic_load(&n_heap_calls);
    add_all(&factor, 500, samples);
    yoke__moesp_factor_copy(&factor, &copy);
    const long after = atomic_load(&n_heap_calls);
    assert_int_equal(after - before, 0);
    check_ok(yoke__moesp_solve_factor(moesp, &copy, &model));
    check_between(pole_distance(&s, &model), 0.0, 1e-8);
    check_between(markov_distance(&s, &model), 0.0, 1e-8);

    // another system from now on: after 25 windows e^-25 = 1e-11 of the old data is left
    discrete other;
    random_system(&other, &seed);
    record(&other, pairing == YOKE_MOESP_ALIGNED, seed, 0.0, N_LONG, samples);
    add_all(&factor, N_LONG, samples);
    check_ok(yoke__moesp_solve_factor(moesp, &factor, &model));
    check_between(pole_distance(&other, &model), 0.0, 1e-7);

    // the copy knows nothing of that
    check_ok(yoke__moesp_solve_factor(moesp, &copy, &model));
    check_between(pole_distance(&s, &model), 0.0, 1e-8);
    yoke__moesp_factor_add(&factor, (const double[]){(double)NAN, 0}, samples);
    assert_int_equal(yoke__moesp_solve_factor(moesp, &factor, &model), YOKE_BAD_ARG);
    yoke__moesp_destroy(&moesp);
  }
}

// Jacobians of a batch and of a factor that forgets nothing, over the same noisy samples far from 0: the same to
// round-off, whose size here is that of the data times the condition of the least squares.
static void test_recursive_form_is_the_batch(void** state) {
  (void)state;
  static double samples[400 * 4];
  uint64_t seed = 21;
  double most = 0.0;
  for (int trial = 0; trial < 20; trial++) {
    discrete s;
    random_system(&s, &seed);
    const bool is_aligned = trial % 2 == 1;
    record(&s, is_aligned, seed, 0.05, 400, samples);
    for (size_t k = 0; k < 400; k++) {
      samples[4 * k] += 3.0;
    }
    yoke_moesp_setup setup = {
        .n = 2,
        .m = 2,
        .n_rows = 5,
        .order = (size_t)(1 + trial % 4),
        .window = 400,
        .pairing = is_aligned ? YOKE_MOESP_ALIGNED : YOKE_MOESP_SHIFTED,
        .rule = (yoke_moesp_rule)(trial % 3),
    };
    yoke_moesp* batch = open_moesp(&setup);
    setup.is_recursive = true;
    yoke_moesp* recursive = open_moesp(&setup);
    yoke_moesp_factor factor = open_factor(&setup, 1.0, 0);
    yoke_moesp_model one, other;
    double a[12], b[12], work[256];
    yoke_jacobian_discrete j = {2, 2, a, a + 4, a + 8}, i = {2, 2, b, b + 4, b + 8};
    add_all(&factor, 400, samples);
    check_ok(yoke__moesp_solve(batch, 400, samples, &one));
    check_ok(yoke__moesp_solve_factor(recursive, &factor, &other));
    check_ok(yoke__moesp_jacobian(&one, setup.pairing, &j, work));
    check_ok(yoke__moesp_jacobian(&other, setup.pairing, &i, work));
    assert_int_equal(one.order, other.order);
    double largest = 0.0, distance = 0.0;
    for (size_t e = 0; e < 12; e++) {
      largest = fmax(largest, fabs(a[e]));
      distance = fmax(distance, fabs(a[e] - b[e]));
    }
    most = fmax(most, distance / largest);
    yoke__moesp_destroy(&batch);
    yoke__moesp_destroy(&recursive);
  }
  print_message("recursive and batch: %.2g apart\n", most);
  check_between(most, 0.0, 1e-10);
}

// A gap in the samples: what is known stays, and no row of data reaches over it.
static void test_recursive_form_with_a_gap(void** state) {
  (void)state;
  static double samples[400 * 4];
  uint64_t seed = 3;
  discrete s;
  random_system(&s, &seed);
  const yoke_moesp_setup setup = {
      .n = 2, .m = 2, .n_rows = 5, .order = 3, .window = 400, .is_recursive = true};
  for (int is_told = 0; is_told <= 1; is_told++) {
    yoke_moesp* moesp = open_moesp(&setup);
    yoke_moesp_factor factor = open_factor(&setup, 1.0 - 1.0 / 400, 0);
    yoke_moesp_model model;
    record(&s, false, seed, 0.0, 400, samples);
    add_all(&factor, 200, samples);
    if (is_told) {
      yoke__moesp_factor_break(&factor);
    }
    add_all(&factor, 190, samples + (size_t)10 * 4);
    assert_int_equal(factor.n_added, is_told ? 195 + 185 : 385);
    check_ok(yoke__moesp_solve_factor(moesp, &factor, &model));
    check_between(pole_distance(&s, &model), is_told ? 0.0 : 1e-6, is_told ? 1e-8 : 1.0);
    yoke__moesp_destroy(&moesp);
  }
}

static void test_refusals(void** state) {
  (void)state;
  yoke_moesp* moesp = NULL;
  const struct {
    yoke_moesp_setup setup;
    const char* text;
  } bad[] = {
      {{.n = 0, .m = 1, .order = 1, .window = 99}, "at least one output"},
      {{.n = 1, .m = 0, .order = 1, .window = 99}, "at least one output"},
      {{.n = 1, .m = 1, .order = 0, .window = 99}, "an order from 1"},
      {{.n = 1, .m = 1, .n_rows = 3, .order = 3, .window = 99}, "an order from 1"},
      {{.n = 1, .m = 1, .n_rows = 1, .order = 1, .window = 99}, "2 block rows"},
      {{.n = 1, .m = 1, .n_rows = 4, .order = 1, .window = 13}, "14 samples or more"},
      {{.n = 1, .m = 1, .order = 1, .window = 99, .tolerance = 2}, "a tolerance"},
      {{.n = 100, .m = 100, .order = 20, .window = 99999}, "up to 2000"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(yoke__moesp_create(&bad[i].setup, &moesp, &err.sink), YOKE_BAD_ARG);
    assert_null(moesp);
    check_contains(err.text, bad[i].text);
  }

  // signals that never moved, too few samples, NaN
  double samples[40] = {0};
  yoke_moesp_model model;
  moesp = open_moesp(&(yoke_moesp_setup){.n = 1, .m = 1, .n_rows = 4, .order = 1, .window = 20});
  assert_int_equal(yoke__moesp_solve(moesp, 20, samples, &model), YOKE_SINGULAR);
  assert_int_equal(yoke__moesp_solve(moesp, 11, samples, &model), YOKE_BAD_ARG);
  assert_int_equal(yoke__moesp_solve(moesp, 21, samples, &model), YOKE_BAD_ARG);
  samples[7] = (double)NAN;
  assert_int_equal(yoke__moesp_solve(moesp, 20, samples, &model), YOKE_BAD_ARG);
  yoke__moesp_destroy(&moesp);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_oscillator_MP_10),
      cmocka_unit_test(test_shifted_pairing),
      cmocka_unit_test(test_order_from_data),
      cmocka_unit_test(test_recursive_form),
      cmocka_unit_test(test_input_at_rest),
      cmocka_unit_test(test_recursive_form_is_the_batch),
      cmocka_unit_test(test_recursive_form_with_a_gap),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
