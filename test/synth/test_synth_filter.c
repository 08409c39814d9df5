// General elements at run time: the same output as the system they are made from, rest, cost, what is refused.
#include "support/check.h"
#include "support/heard.h"
#include "synth/synth_filter.h"

static HEAR(err);
static uint64_t seed;

static double random_number(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(seed >> 11) / 4503599627370496.0 - 1.0;
}

static yoke_matrix random_matrix(yoke_arena* w, size_t n, size_t m) {
  const yoke_matrix M = yoke__matrix_zero(w, n, m);
  for (size_t i = 0; i < n * m; i++) {
    M.a[i] = random_number();
  }
  return M;
}

// Stable; poles up to 200 rad/s.
static yoke_synth_system random_element(yoke_arena* w, size_t n) {
  yoke_synth_system K = {false, yoke__matrix_scale(w, random_matrix(w, n, n), 100),
                         random_matrix(w, n, 1), random_matrix(w, 1, n), random_matrix(w, 1, 1)};
  double instability = 0;
  check_ok(yoke__system_instability(K, &instability));
  if (n > 0) {
    K.A = yoke__matrix_add(w, K.A, yoke__matrix_identity(w, n, instability + 5), -1);
  }
  return K;
}

// Step by step beside y = C x + D u, x+ = A x + B u with the full matrices of Tustin's rule; an output asked for twice is the same,
// and the step returns it.
static void test_equivalence(void** state) {
  (void)state;
  const double h = 1e-3;
  for (size_t k = 0; k < 36; k++) {
    yoke_arena w = {0};
    seed = 60000 + k;
    const size_t n = k % (YOKE_SYNTH_ORDER_MAX + 1);
    const yoke_synth_system K = random_element(&w, n);
    bool is_singular = false;
    const yoke_synth_system G = yoke__system_tustin(&w, K, h, &is_singular);
    assert_false(is_singular);
    yoke_synth_filter filter;
    yoke_synth_filter_state memory;
    check_ok(yoke__synth_filter_init(&filter, K, h, &err.sink));
    yoke__synth_filter_start(&filter, 0, &memory);
    yoke_matrix x = yoke__matrix_zero(&w, n, 1);
    for (size_t i = 0; i < 300; i++) {
      const yoke_matrix u = yoke__matrix_identity(&w, 1, random_number());
      const yoke_matrix y =
          yoke__matrix_add(&w, yoke__matrix_mul(&w, G.C, x), yoke__matrix_mul(&w, G.D, u), 1);
      x = yoke__matrix_add(&w, yoke__matrix_mul(&w, G.A, x), yoke__matrix_mul(&w, G.B, u), 1);
      const double once = yoke__synth_filter_output(&filter, &memory, u.a[0]);
      const double again = yoke__synth_filter_output(&filter, &memory, u.a[0]);
      assert_true(once == again);
      assert_true(yoke__synth_filter_step(&filter, &memory, u.a[0]) == once);
      check_near(once, y.a[0], 1e-11 * (1 + fabs(y.a[0])));
    }

    // its response is that of K at Tustin's frequency (2 / h) tan(w h / 2)
    const double at = 150;
    const double complex s = 2 / h * tan(at * h / 2) * (double complex)I;
    const double complex z = cexp(at * h * (double complex)I);
    const double complex want = yoke__system_response(K, 0, 0, s);
    assert_true(cabs(yoke__system_response(G, 0, 0, z) - want) <= 1e-10 * (1 + cabs(want)));
    yoke__arena_free(&w);
  }
}

// A constant goes through with the gain at frequency 0 from the first step on.
static void test_rest(void** state) {
  (void)state;
  for (size_t k = 0; k < 18; k++) {
    yoke_arena w = {0};
    seed = 61000 + k;
    const yoke_synth_system K = random_element(&w, k % (YOKE_SYNTH_ORDER_MAX + 1));
    const double gain = creal(yoke__system_response(K, 0, 0, 0));
    yoke_synth_filter filter;
    yoke_synth_filter_state memory;
    check_ok(yoke__synth_filter_init(&filter, K, 2e-3, &err.sink));
    yoke__synth_filter_start(&filter, -7, &memory);
    for (size_t i = 0; i < 1000; i++) {
      check_near(yoke__synth_filter_step(&filter, &memory, -7), -7 * gain,
                 1e-10 * (1 + fabs(gain)));
    }
    yoke__arena_free(&w);
  }
}

// n (n + 1) / 2 + pairs + 2 n + 1, counted from the eigenvalues; of the largest order below the 60 of HINF specification HI-13.
static void test_cost(void** state) {
  (void)state;
  for (size_t k = 0; k < 36; k++) {
    yoke_arena w = {0};
    seed = 62000 + k;
    const size_t n = k % (YOKE_SYNTH_ORDER_MAX + 1);
    const yoke_synth_system K = random_element(&w, n);
    double re[YOKE_SYNTH_ORDER_MAX], im[YOKE_SYNTH_ORDER_MAX];
    check_ok(yoke__system_poles(K, re, im));
    size_t pairs = 0;
    for (size_t i = 0; i < n; i++) {
      pairs += im[i] > 0;
    }
    yoke_synth_filter filter;
    check_ok(yoke__synth_filter_init(&filter, K, 1e-3, &err.sink));
    assert_int_equal(yoke__synth_filter_cost(&filter), n * (n + 1) / 2 + pairs + 2 * n + 1);
    assert_true(yoke__synth_filter_cost(&filter) < 60);
    yoke__arena_free(&w);
  }
}

static void test_refused(void** state) {
  (void)state;
  yoke_arena w = {0};
  yoke_synth_filter filter;
  seed = 63000;
#define REFUSE(element, h, words)                                                                  \
  do {                                                                                             \
    assert_int_equal(yoke__synth_filter_init(&filter, element, h, &err.sink), YOKE_BAD_INPUT);     \
    check_contains(err.text, words);                                                               \
  } while (0)
  REFUSE(random_element(&w, YOKE_SYNTH_ORDER_MAX + 1), 1e-3,
         "expected an element of order 8 at most, found 9: reduce it first");
  yoke_synth_system K = random_element(&w, 2);
  REFUSE(K, 0, "expected a step h above 0 [s], found 0");
  REFUSE(yoke__system_apart(&w, K, K), 1e-3,
         "expected an element with one input and one output, found 2 and 2");
  K.A = yoke__matrix_identity(&w, 2, 4);
  REFUSE(K, 1e-3, "only a stable element can run: this one has a pole at Re = 4");
  K.is_discrete = true;
  REFUSE(K, 0, "only a stable element can run: this one has a pole at |z| = 4");
  yoke__arena_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equivalence),
      cmocka_unit_test(test_rest),
      cmocka_unit_test(test_cost),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
