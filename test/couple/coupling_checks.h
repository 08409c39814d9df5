// What `auto` must keep on random systems, against plain holding: the same for any number of systems. IS_SAMPLE, defined before:
// whether they are a part of the final systems.
#ifndef YOKE_TEST_COUPLING_CHECKS_H
#define YOKE_TEST_COUPLING_CHECKS_H

#include "bench/coupling_study.h"
#include "support/check.h"

#define MOST_LOST  0.01  // lost where holding is not
#define MOST_WORSE 0.03  // error above 1.1 times that of holding
#define MOST_NOISY 0.1   // the same with noise of 1 %

static const double least_within[COUPLING_SHARES] = {0, 0, 0.75, 0.55, 0.35};  // an error of 1 %

// The most that n draws of probability p exceed once in a thousand sets.
static inline int most_of(int n, double p) {
  double term = pow(1 - p, n), sum = term;
  int k = 0;
  while (sum < 0.999) {
    term *= (double)(n - k) / (k + 1) * p / (1 - p);
    sum += term;
    k++;
  }
  return k;
}

// A set that is a sample of all final systems may miss a limit by what chance explains.
static inline double allowed(int n, double p, bool is_sample) {
  return is_sample ? most_of(n, p) : p * n;
}

// Levels of noise that are tried: none and 1 %.
enum { CLEAN = 0, NOISY = COUPLING_NOISES - 1 };

static inline void run_final(coupling_table* t, int count, int pairs_count) {
  coupling_plan plan = {.first = COUPLING_FINAL,
                        .count = count,
                        .pairs_first = COUPLING_PAIRS_FINAL,
                        .pairs_count = pairs_count,
                        .is_run = {false, true, true, true, true}};
  plan.is_used[CLEAN][COUPLING_HOLD] = plan.is_used[CLEAN][COUPLING_AUTO] = true;
  plan.is_used[NOISY][COUPLING_HOLD] = plan.is_used[NOISY][COUPLING_AUTO] = true;
  coupling_fill(t, &plan);
}

static inline void print_worse(const coupling_table* t, int noise) {
  for (size_t i = 0; i < t->n; i++) {
    const coupling_row* row = &t->rows[i];
    const coupling_result* results = row->results[noise];
    if (coupling_is_worse(results, COUPLING_AUTO) ||
        coupling_is_lost_alone(results, COUPLING_AUTO)) {
      print_message("%s %" PRId64 " at %g: error %.3g, held %.3g\n",
                    coupling_class_names[row->class], row->seed, coupling_shares[row->share],
                    results[COUPLING_AUTO].error, results[COUPLING_HOLD].error);
    }
  }
}

static inline void check_auto(const coupling_table* t, int noise, bool is_sample) {
  print_worse(t, noise);
  for (int s = 1; s < COUPLING_SHARES; s++) {
    const coupling_count c = coupling_tally(t, noise, COUPLING_AUTO, s, -1);
    print_message("noise %g, H/H_z %g, %d systems: within 1 %% %d, 5 %% %d; lost %d, where holding "
                  "is not %d; worse than holding %d\n",
                  coupling_noise_levels[noise], coupling_shares[s], c.n, c.n_1, c.n_5, c.n_lost,
                  c.n_lost_alone, c.n_worse);
    check_between(c.n_lost_alone, 0, allowed(c.n, MOST_LOST, is_sample));
    check_between(c.n_worse, 0, allowed(c.n, noise == CLEAN ? MOST_WORSE : MOST_NOISY, is_sample));
    if (noise == CLEAN && least_within[s] > 0) {
      check_between(c.n - c.n_1, 0, allowed(c.n, 1 - least_within[s], is_sample));
    }
  }
}

// ---- the same on as many systems as a test has run

static coupling_table final_table;

static void test_clean(void** state) {
  (void)state;
  check_auto(&final_table, CLEAN, IS_SAMPLE);
}

static void test_noisy(void** state) {
  (void)state;
  check_auto(&final_table, NOISY, IS_SAMPLE);
}

static int free_final(void** state) {
  (void)state;
  coupling_free_table(&final_table);
  return 0;
}

#endif
