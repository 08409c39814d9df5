// The cheapest configuration that is good enough, and the largest circuit in real time; see
// study_assess.h.
//
// Candidates are the steps that divide the sample spacing, from large to small. A step whose
// converged solution is not good enough is of no use with fewer iterations either, so each step is
// first run until convergence; then the smallest number of iterations is looked for that keeps the
// error. Steps smaller than the first good one may still be cheaper with fewer iterations: they are
// tried as long as their steps alone do not cost more iterations than the best has.
#include <math.h>
#include <stdio.h>

#include "study/study_assess.h"

#define REACH_PRECISION 1.02
#define REACH_STEPS     60  // per timed run of a ladder
#define REACH_RUNS      7
#define REACH_FIRST     64

// ---- cheapest

static bool is_good(const yoke_assess_result* r, yoke_assess_level level) {
  return r->status >= 0 && r->level >= level;
}

static bool is_fixed(const yoke_assess_search* search) {
  for (size_t i = 0; i < search->n_iterations; i++) {
    if (search->iterations[i] > 0) {
      return true;
    }
  }
  return false;
}

// The fewest iterations that keep the level at this step; r becomes that run, or stays without a
// level if there is none below the limit.
static yoke_status fewest(const yoke_assess_problem* problem, const yoke_assess_search* search,
                          const yoke_assess_effort* effort, yoke_circuit_options options,
                          double limit, yoke_assess_result* r) {
  const double n_steps = (double)r->n_steps;
  r->level = YOKE_LEVEL_NONE;
  for (size_t i = 0; i < search->n_iterations; i++) {
    options.iterations = search->iterations[i];
    if (options.iterations == 0) {
      continue;
    }
    if (options.iterations * n_steps > limit) {
      break;
    }
    yoke_assess_result tried;
    YOKE_TRY(yoke__assess_run(problem, &options, effort, &tried));
    if (is_good(&tried, search->level)) {
      *r = tried;
      break;
    }
  }
  return YOKE_OK;
}

// Iterations of a whole run: what a step costs whoever runs it.
static double work_of(const yoke_assess_result* r) {
  return (double)r->counts.n_iterations;
}

static bool is_cheaper(const yoke_assess_result* a, const yoke_assess_result* b) {
  const bool is_timed = !isnan(a->ns_per_step) && !isnan(b->ns_per_step);
  return is_timed ? a->ns_per_step * (double)a->n_steps < b->ns_per_step * (double)b->n_steps
                  : work_of(a) < work_of(b);
}

static yoke_status try_step(const yoke_assess_problem* problem, const yoke_assess_search* search,
                            const yoke_assess_effort* effort, const yoke_circuit_options* options,
                            double limit, yoke_assess_result* r) {
  const yoke_assess_effort glance = {.max_steps = effort->max_steps};
  yoke_circuit_options converged = *options;
  converged.iterations = 0;
  converged.max_iterations = converged.max_iterations > 0 ? converged.max_iterations : 50;
  YOKE_TRY(yoke__assess_run(problem, &converged, &glance, r));
  if (!is_good(r, search->level)) {
    return YOKE_OK;
  }
  if (is_fixed(search)) {
    YOKE_TRY(fewest(problem, search, &glance, converged, limit, r));
    if (!is_good(r, search->level)) {
      return YOKE_OK;
    }
  }
  // once more with the clock
  const yoke_circuit_options chosen = r->options;
  return yoke__assess_run(problem, &chosen, effort, r);
}

yoke_status yoke__assess_find(const yoke_assess_problem* problem,
                              const yoke_circuit_options* options, const yoke_assess_search* search,
                              const yoke_assess_effort* effort, yoke_assess_result* result,
                              bool* is_found) {
  *is_found = false;
  for (size_t i = 0; i < search->max_candidates; i++) {
    yoke_circuit_options candidate = *options;
    candidate.step = yoke__assess_step(problem, i);
    const double n_steps = candidate.step > 0 ? problem->stop / candidate.step : (double)INFINITY;
    const double limit = *is_found ? work_of(result) : (double)INFINITY;
    if (candidate.step == 0 || n_steps >= limit ||
        (effort->max_steps > 0 && n_steps > 1.000001 * (double)effort->max_steps)) {
      break;
    }
    yoke_assess_result tried;
    YOKE_TRY(try_step(problem, search, effort, &candidate, limit, &tried));
    if (is_good(&tried, search->level) && (!*is_found || is_cheaper(&tried, result))) {
      *result = tried;
      *is_found = true;
    } else if (!*is_found) {
      *result = tried;
    }
  }
  return YOKE_OK;
}

// ---- largest

static yoke_status cost_of(const yoke_circuit_options* options, size_t n_loops, double* ns) {
  yoke_messages messages = {0};
  yoke_assess_problem* problem = NULL;
  char name[32];
  snprintf(name, sizeof name, "ladder-%zu", n_loops);
  yoke_status status = yoke__assess_load(name, &messages, &problem);
  if (status >= 0) {
    status = yoke__assess_time(problem->network, options, REACH_STEPS, REACH_RUNS, ns);
  }
  yoke__assess_destroy(&problem);
  yoke__messages_free(&messages);
  return status;
}

yoke_status yoke__assess_find_reach(const yoke_circuit_options* options, size_t max,
                                    yoke_assess_reach* reach) {
  const double budget = options->step * 1e9;
  size_t good = 0, bad = max + 1, n = max < REACH_FIRST ? max : REACH_FIRST;
  *reach = (yoke_assess_reach){.ns_per_step = (double)NAN, .ns_per_unknown = (double)NAN};
  while (n > good && n < bad) {
    double ns = 0;
    YOKE_TRY(cost_of(options, n, &ns));
    if (ns < budget) {
      good = n;
      reach->ns_per_step = ns;
    } else {
      bad = n;
      reach->is_bounded = true;
    }
    // the cost is about proportional to the size: aim at the budget, but stay between what is known
    const double aim = (double)n * budget / fmax(ns, 1);
    const double low = (double)good * REACH_PRECISION + 1, high = (double)bad / REACH_PRECISION;
    if (reach->is_bounded && low > high) {
      break;
    }
    n = (size_t)fmin(fmax(fmin(aim, 8 * (double)n), low), reach->is_bounded ? high : (double)max);
  }
  const double iterations = options->iterations > 0 ? options->iterations : 1;
  reach->n_loops = good;
  reach->n = (uint32_t)(3 + 5 * good);
  reach->ns_per_unknown = reach->ns_per_step / (iterations * (double)reach->n);
  return YOKE_OK;
}
