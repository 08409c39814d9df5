// Two windows of samples: F against a slow twin, its mean where theory has it, what a change makes of it, and blocks that go.
#include "bench/mpsm_loop.h"
#include "couple/couple_mpsm_window.h"
#include "support/check.h"

enum { Q = 3, BLOCKS = 4, ROWS = 25, N_SAMPLES = BLOCKS * ROWS };

typedef struct samples {
  double rows[N_SAMPLES][Q + 1];
} samples;

static void open_window(yoke_mpsm_window* w, double least_share, void** memory) {
  const yoke_mpsm_window_setup setup = {
      .n = 1, .q = Q, .n_blocks = BLOCKS, .least_share = least_share};
  yoke_pieces count = {NULL, 0};
  yoke__mpsm_window_lay(&count, &setup, w);
  *memory = aligned_alloc(64, count.used);
  assert_non_null(*memory);
  memset(*memory, 0, count.used);
  yoke_pieces from = {*memory, 0};
  yoke__mpsm_window_lay(&from, &setup, w);
}

// Regressors and normal errors of standard deviation 1; in the second half the first parameter is larger by shift.
static void draw(samples* s, uint64_t seed, double shift, double noise) {
  for (int k = 0; k < N_SAMPLES; k++) {
    double* row = s->rows[k];
    for (size_t j = 0; j < Q; j++) {
      row[j] = loop_normal(seed, j, k);
    }
    const double first = k < N_SAMPLES / 2 ? 1 : 1 + shift;
    row[Q] = first * row[0] - 2 * row[1] + 0.5 * row[2] + noise * loop_normal(seed, Q, k);
  }
}

static void fill(yoke_mpsm_window* w, const samples* s) {
  for (int k = 0; k < N_SAMPLES; k++) {
    yoke__mpsm_window_add(w, 0, s->rows[k], 1);
    if (k % ROWS == ROWS - 1) {
      yoke__mpsm_window_next(w);
    }
  }
}

// What least squares leave of samples from to to - 1: regressors made orthogonal one by one.
static double left_by_twin(const samples* s, int from, int to) {
  samples t = *s;
  for (size_t j = 0; j < Q; j++) {
    for (size_t c = j + 1; c <= Q; c++) {
      double dot = 0, square = 0;
      for (int k = from; k < to; k++) {
        dot += t.rows[k][j] * t.rows[k][c];
        square += t.rows[k][j] * t.rows[k][j];
      }
      for (int k = from; k < to; k++) {
        t.rows[k][c] -= dot / square * t.rows[k][j];
      }
    }
  }
  double sum = 0;
  for (int k = from; k < to; k++) {
    sum += t.rows[k][Q] * t.rows[k][Q];
  }
  return sum;
}

static void test_twin(void** state) {
  (void)state;
  static const double shifts[] = {0, 0.3, 2};
  for (int i = 0; i < 3; i++) {
    yoke_mpsm_window w;
    void* memory;
    samples s;
    open_window(&w, 0.01, &memory);
    draw(&s, 7, shifts[i], 1);
    fill(&w, &s);
    const double least = 0.01 * N_SAMPLES;
    const double one = left_by_twin(&s, 0, N_SAMPLES / 2);
    const double two = left_by_twin(&s, N_SAMPLES / 2, N_SAMPLES);
    const double both = left_by_twin(&s, 0, N_SAMPLES);
    const double F = ((both - one - two) / Q) / ((one + two + least) / (N_SAMPLES - 2 * Q));
    // the ridge moves r by some 1e-10 of the squares of the parts
    check_near(yoke__mpsm_window_compare(&w, 0, 2, 2), F, 1e-7);
    free(memory);
  }
}

// One model, normal errors: F has q and n - 2 q degrees of freedom, mean d / (d - 2) and variance
// 2 d^2 (q + d - 2) / (q (d - 2)^2 (d - 4)).
static void test_mean(void** state) {
  (void)state;
  enum { N_DRAWS = 1000 };
  const double d = N_SAMPLES - 2 * Q, mean = d / (d - 2);
  const double variance = 2 * d * d * (Q + d - 2) / (Q * (d - 2) * (d - 2) * (d - 4));
  double sum = 0;
  for (uint64_t seed = 0; seed < N_DRAWS; seed++) {
    yoke_mpsm_window w;
    void* memory;
    samples s;
    open_window(&w, 0, &memory);
    draw(&s, 1000003 * seed + 17, 0, 1);
    fill(&w, &s);
    sum += yoke__mpsm_window_compare(&w, 0, 2, 2) / N_DRAWS;
    free(memory);
  }
  // four standard errors
  check_near(sum, mean, 4 * sqrt(variance / N_DRAWS));
}

// Exact models leave round-off: no change without one, and one that is far beyond any limit.
static void test_exact(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    yoke_mpsm_window w;
    void* memory;
    samples s;
    open_window(&w, 1e-6, &memory);
    draw(&s, 3, i == 0 ? 0 : 0.1, 0);
    fill(&w, &s);
    const double F = yoke__mpsm_window_compare(&w, 0, 2, 2);
    check_between(F, i == 0 ? -1e-3 : 1e4, i == 0 ? 0.1 : HUGE_VAL);
    free(memory);
  }
}

// Old blocks go; too few samples, and what never moves, are no evidence.
static void test_blocks(void** state) {
  (void)state;
  yoke_mpsm_window w;
  void* memory;
  samples s, next;
  open_window(&w, 1e-6, &memory);
  assert_true(yoke__mpsm_window_compare(&w, 0, 2, 2) < 0);
  draw(&s, 3, 2, 1);
  draw(&next, 5, 0, 1);
  fill(&w, &s);
  assert_true(yoke__mpsm_window_compare(&w, 0, 2, 2) > 10);
  fill(&w, &next);
  assert_int_equal(w.n_whole, BLOCKS);
  yoke_mpsm_window alone;
  void* other;
  open_window(&alone, 1e-6, &other);
  fill(&alone, &next);
  check_near(yoke__mpsm_window_compare(&w, 0, 2, 2), yoke__mpsm_window_compare(&alone, 0, 2, 2), 0);
  yoke__mpsm_window_clear(&w);
  assert_int_equal(w.n_whole, 0);
  memset(&s, 0, sizeof s);
  for (int k = 0; k < N_SAMPLES; k++) {
    yoke__mpsm_window_add(&w, 0, s.rows[k], 0);
    if (k % ROWS == ROWS - 1) {
      yoke__mpsm_window_next(&w);
    }
  }
  assert_true(yoke__mpsm_window_compare(&w, 0, 2, 2) < 0);
  free(memory);
  free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_twin),
      cmocka_unit_test(test_mean),
      cmocka_unit_test(test_exact),
      cmocka_unit_test(test_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
