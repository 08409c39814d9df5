// Quasi-Newton acceleration: exact for linear problems in n + 2 evaluations, also where plain iteration runs away; bounded
// memory; several scales in one problem.
#include "linalg/linalg_anderson.h"
#include "support/check.h"

enum { MAX_N = 40 };

static double uniform(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / (double)(UINT64_C(1) << 53) * 2 - 1;
}

// g(x) = A x + b, spectral radius well above 1
static int solve_linear(size_t n, double scale, uint64_t seed, const double weights[],
                        double* error) {
  double A[MAX_N * MAX_N], b[MAX_N], x[MAX_N] = {0}, g[MAX_N], want[MAX_N];
  for (size_t i = 0; i < n * n; i++) {
    A[i] = scale * uniform(&seed);
  }
  // the solution is chosen, b follows
  for (size_t i = 0; i < n; i++) {
    want[i] = uniform(&seed) / weights[i];
  }
  for (size_t i = 0; i < n; i++) {
    b[i] = want[i];
    for (size_t j = 0; j < n; j++) {
      A[i * n + j] *= weights[j] / weights[i];  // the same problem in other units
      b[i] -= A[i * n + j] * want[j];
    }
  }
  double* memory = calloc(yoke__anderson_size(n), sizeof *memory);
  assert_non_null(memory);
  yoke_anderson anderson;
  yoke__anderson_init(&anderson, n, memory);
  int n_evaluations = 0;
  for (*error = 1; *error > 1e-9 && n_evaluations < 200; n_evaluations++) {
    *error = 0;
    for (size_t i = 0; i < n; i++) {
      g[i] = b[i];
      for (size_t j = 0; j < n; j++) {
        g[i] += A[i * n + j] * x[j];
      }
      *error = fmax(*error, fabs(g[i] - x[i]) * weights[i]);
    }
    yoke__anderson_next(&anderson, x, g, weights, 0.5);
  }
  free(memory);
  return n_evaluations;
}

static void test_linear_problems(void** state) {
  (void)state;
  for (size_t n = 1; n <= 10; n++) {
    double weights[MAX_N], error = 0;
    for (size_t i = 0; i < n; i++) {
      weights[i] = 1;
    }
    for (uint64_t seed = 1; seed <= 20; seed++) {
      const int k = solve_linear(n, 3, seed, weights, &error);
      // n + 2 in exact arithmetic; rounding in badly conditioned draws costs a few more
      if (k > (int)n + 6) {
        fail_msg("n = %zu, seed %d: %d evaluations, error %.2g", n, (int)seed, k, error);
      }
    }
  }
}

// pressures and displacements in one interface: weights make them equal
static void test_different_scales(void** state) {
  (void)state;
  const double weights[4] = {1e-6, 1, 1e3, 1e-2};
  for (uint64_t seed = 1; seed <= 20; seed++) {
    double error = 0;
    assert_true(solve_linear(4, 2, seed, weights, &error) <= 10);
    assert_true(error <= 1e-9);
  }
}

// more unknowns than remembered differences: still converges where plain iteration does
static void test_memory_is_bounded(void** state) {
  (void)state;
  double weights[MAX_N], error = 0;
  for (size_t i = 0; i < MAX_N; i++) {
    weights[i] = 1;
  }
  const int k = solve_linear(MAX_N, 0.1, 7, weights, &error);
  print_message("40 unknowns, 12 differences: %d evaluations\n", k);
  assert_true(error <= 1e-9);
}

static void test_nothing_to_do(void** state) {
  (void)state;
  double memory[64];
  yoke_anderson anderson;
  assert_true(yoke__anderson_size(0) <= 64);
  yoke__anderson_init(&anderson, 0, memory);
  yoke__anderson_next(&anderson, NULL, NULL, NULL, 0.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear_problems),
      cmocka_unit_test(test_different_scales),
      cmocka_unit_test(test_memory_is_bounded),
      cmocka_unit_test(test_nothing_to_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
