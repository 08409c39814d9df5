// The on-line error estimate on random loops: runs without companions, their bands against the true error (TR-21).
#ifndef YOKE_TEST_TRUST_ONLINE_CHECKS_H
#define YOKE_TEST_TRUST_ONLINE_CHECKS_H

#include "bench/trust_study.h"
#include "support/check.h"

typedef struct online_tally {
  int n_runs, n_signals;           // of runs that are at most three times as large as the truth
  int n_estimates, n_covered;      // signals with an estimate; true error within it
  int n_trusted, n_trusted_false;  // runs called trustworthy; of these off by more than 5 %
  int n_wrong, n_wrong_false;      // runs called wrong; of these off by at most 5 %
  int n_doubtful, n_not_judged;
  int n_noisy;
  double* ratios;  // true error over rms(e)
  size_t n_ratios;
} online_tally;

// One run with --trust none; the same system stepped without anything gives its signals.
static inline void online_run(const study_problem* p, study_method method, study_run* out,
                              double* size) {
  static study_text text;
  *out = (study_run){.n_signals = p->n_signals};
  p->print(p->self, method, p->n, p->H, study_divide(p->H, p->n_calls), &text);
  double* y = study_allocate((size_t)(p->n + 1) * (p->n_signals + 1));
  double* column = &y[(size_t)(p->n + 1) * p->n_signals];
  out->is_failed = !study_step_through(p, &text, y);
  yoke_system* system = NULL;
  yoke_simulation* sim = study_open(p, &text, &system);
  yoke_run_trust trust;
  const bool is_failed = yoke_simulation_run(sim, NULL, NULL) < 0;
  assert_int_equal(is_failed, out->is_failed);
  check_ok(yoke_simulation_judge(sim, NULL));
  check_ok(yoke_simulation_get_trust(sim, &trust));
  out->verdict = trust.verdict;
  *size = 0;
  for (size_t i = 0; i < p->n_signals; i++) {
    study_signal* g = &out->signals[i];
    study_read_signal(sim->trust, p->names[i], g);
    double most = 0, most_true = 0;
    for (int64_t k = 0; k <= p->n; k++) {
      column[k] = y[(size_t)k * p->n_signals + i];
      most = fmax(most, fabs(column[k]));
      most_true = fmax(most_true, fabs(p->truth[(size_t)k * p->n_signals + i]));
    }
    *size = fmax(*size, isfinite(most) ? most / most_true : HUGE_VAL);
    study_true_error(p, i, column, g);
    out->error = fmax(out->error, g->relative_error);
  }
  free(y);
  yoke_simulation_destroy(&sim);
  yoke_system_destroy(&system);
}

static inline void online_add(online_tally* t, const study_problem* p, study_method method,
                              const char* name) {
  static study_run run;
  double size = 0;
  online_run(p, method, &run, &size);
  if (run.is_failed || size > 3) {
    return;  // the growth alarm's task
  }
  t->n_runs++;
  t->n_signals += (int)run.n_signals;
  for (size_t i = 0; i < run.n_signals; i++) {
    const study_signal* g = &run.signals[i];
    const bool is_covered = g->is_judged && study_is_covered(g);
    t->n_estimates += g->is_judged;
    t->n_covered += is_covered;
    if (g->is_judged && !is_covered) {
      print_message("%s %s: band %.3g, error %.3g of scale %.3g\n", name, p->names[i],
                    g->band / g->scale, g->error / g->scale, g->scale);
    }
    if (g->is_judged && g->error > STUDY_ROUNDING * g->scale) {
      t->ratios = realloc(t->ratios, (t->n_ratios + 1) * sizeof *t->ratios);
      assert_non_null(t->ratios);
      t->ratios[t->n_ratios++] = g->error / (2 * g->low);  // low: half of the estimate
    }
  }
  t->n_trusted += run.verdict == YOKE_TRUSTWORTHY;
  t->n_wrong += run.verdict == YOKE_WRONG;
  t->n_doubtful += run.verdict == YOKE_DOUBTFUL;
  t->n_not_judged += run.verdict == YOKE_VERDICT_NONE;
  if ((run.verdict == YOKE_TRUSTWORTHY && run.error > 0.05) ||
      (run.verdict == YOKE_WRONG && run.error <= 0.05)) {
    t->n_trusted_false += run.verdict == YOKE_TRUSTWORTHY;
    t->n_wrong_false += run.verdict == YOKE_WRONG;
    print_message("%s: %s, off by %.3g\n", name, yoke_verdict_text(run.verdict), run.error);
  }
}

// 0.1, 0.3 and 0.9 of the limit of held signals, the four methods of TR-21
static inline void online_study(online_tally* t, int64_t first, int count, size_t n_units) {
  static const study_method methods[] = {STUDY_HELD, STUDY_LINEAR, STUDY_FRESH, STUDY_GAUSS_SEIDEL};
  for (int64_t seed = first; seed < first + count; seed++) {
    static loop system;
    loop_make(&system, seed, n_units);
    for (int k = 0; k < 3; k++) {
      study_problem p;
      study_make_linear(&p, &system, study_shares[k], 10);
      for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        char name[64];
        snprintf(name, sizeof name, "seed %" PRId64 ", %g, %s", seed, study_shares[k],
                 study_ways[methods[m]].name);
        online_add(t, &p, methods[m], name);
      }
      study_free(&p);
    }
  }
}

static inline void online_print(online_tally* t) {
  static const double shares[] = {0.1, 0.5, 0.9, 0.975};
  qsort(t->ratios, t->n_ratios, sizeof *t->ratios, study_compare);
  print_message("%d runs: %d of %d signals have an estimate, %.2f %% covered; true / estimate",
                t->n_runs, t->n_estimates, t->n_signals, 100.0 * t->n_covered / t->n_estimates);
  for (size_t i = 0; i < 4 && t->n_ratios > 0; i++) {
    print_message(" %.2f", t->ratios[(size_t)(shares[i] * (double)(t->n_ratios - 1))]);
  }
  print_message("\ntrustworthy %d, %d off by > 5 %%; wrong %d, %d off by <= 5 %%; doubtful %d; not "
                "judged %d\n",
                t->n_trusted, t->n_trusted_false, t->n_wrong, t->n_wrong_false, t->n_doubtful,
                t->n_not_judged);
}

static inline void online_free(online_tally* t) {
  free(t->ratios);
  *t = (online_tally){0};
}

#endif
