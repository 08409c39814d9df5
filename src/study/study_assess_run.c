// One configuration on one circuit: errors, time, stages; see study_assess.h.
//
// A run is made from the same saved state each time: once to compare (the samples are read between
// the steps), then for the time, where nothing is done but stepping. The least time of several runs
// is taken, because a machine with other work on it adds to a time and never takes from it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "study/study_assess_system.h"

// A sample lies on the grid if it is off by this part of a step, or by this part of its time (written
// with ten digits, it is), but never by more than a thousandth of a step.
#define GRID_TOLERANCE 1e-6
#define TIME_TOLERANCE 1e-9
#define GRID_MOST      1e-3
#define STAGE_STEPS    2000  // steps measured for the stages
#define STAGE_RUNS     7
#define WORST_STEPS    4000  // among which the slowest is looked for
#define WORST_RUNS     8

// A circuit that stands at its start, with an image to go back to.
typedef struct trial {
  yoke_circuit* circuit;
  void* image;
} trial;

static void end_trial(trial* t) {
  yoke__circuit_destroy(&t->circuit);
  free(t->image);
  t->image = NULL;
}

// The reason of a failure: the first error among the messages, else what the status says.
static void explain(const yoke_messages* messages, yoke_status status, yoke_assess_result* r) {
  size_t i = 0;
  while (i < messages->n && messages->all[i].severity != YOKE_ERROR) {
    i++;
  }
  if (i < messages->n) {
    yoke_message_format(&messages->all[i], r->reason, sizeof r->reason);
  } else {
    snprintf(r->reason, sizeof r->reason, "%s", yoke_status_text(status));
  }
}

static yoke_status begin_trial(const yoke_network* network, const yoke_circuit_options* options,
                               yoke_messages* messages, trial* t) {
  *t = (trial){0};
  yoke_status status = yoke__circuit_create(network, options, messages, &t->circuit);
  if (status >= 0) {
    status = yoke__circuit_start(t->circuit, 0, messages);
  }
  if (status >= 0) {
    t->image = calloc(1, yoke__circuit_image_size(t->circuit) + 1);
    status = t->image == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  }
  if (status >= 0) {
    yoke__circuit_save(t->circuit, t->image);
  } else {
    end_trial(t);
  }
  return status;
}

// ---- the grid of the samples

static uint64_t step_of(double t, double h) {
  return (uint64_t)llround(t / h);
}

bool yoke__assess_fits(const yoke_assess_problem* problem, double step) {
  if (!(step > 0) || problem->stop / step > 1e15) {
    return false;
  }
  for (size_t i = 0; i < problem->n_samples; i++) {
    const double k = problem->t[i] / step;
    const double allowed = fmin(GRID_MOST, fmax(GRID_TOLERANCE, TIME_TOLERANCE * k));
    if (fabs(k - round(k)) > allowed || round(k) < 1) {
      return false;
    }
  }
  return true;
}

yoke_assess_level yoke__assess_judge(const yoke_assess_problem* problem, const double error[]) {
  yoke_assess_level level = yoke__assess_is_judged(problem) ? YOKE_LEVEL_HIGH : YOKE_LEVEL_NONE;
  for (size_t i = 0; i < problem->n_monitors; i++) {
    // NaN is below nothing
    while (level > YOKE_LEVEL_NONE && !(error[i] < problem->monitors[i].limit[level])) {
      level--;
    }
  }
  return level;
}

// ---- comparing

static yoke_status advance(yoke_circuit* circuit, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    YOKE_TRY(yoke__circuit_step(circuit));
  }
  return YOKE_OK;
}

static yoke_status compare(const yoke_assess_problem* problem, yoke_circuit* circuit, double h,
                           double error[]) {
  double squares[YOKE_ASSESS_MAX_MONITORS] = {0};
  uint64_t k = 0;
  for (size_t i = 0; i < problem->n_samples; i++) {
    const uint64_t next = step_of(problem->t[i], h);
    YOKE_TRY(advance(circuit, next - k));
    k = next;
    for (size_t j = 0; j < problem->n_monitors; j++) {
      const yoke_assess_monitor* m = &problem->monitors[j];
      const double d = yoke__circuit_probe(circuit, &m->probe) - m->reference[i];
      squares[j] += d * d;
    }
  }
  for (size_t j = 0; j < problem->n_monitors; j++) {
    error[j] = sqrt(squares[j] / (double)problem->n_samples);
    if (!yoke__is_finite(error[j])) {
      return YOKE_DIVERGED;
    }
  }
  return YOKE_OK;
}

// ---- time

// The least thread time of up to n runs of n_steps steps; no further one after `seconds`.
static yoke_status time_runs(const trial* t, uint64_t n_steps, int n, double seconds, double* ns) {
  double spent = 0;
  *ns = (double)INFINITY;
  for (int i = 0; i < n && (i == 0 || spent < seconds); i++) {
    yoke__circuit_restore(t->circuit, t->image);
    const int64_t start = yoke__os_cpu_ns();
    YOKE_TRY(advance(t->circuit, n_steps));
    const double elapsed = (double)(yoke__os_cpu_ns() - start);
    *ns = fmin(*ns, elapsed);
    spent += elapsed * 1e-9;
  }
  return YOKE_OK;
}

yoke_status yoke__assess_time(const yoke_network* network, const yoke_circuit_options* options,
                              uint64_t n_steps, int n, double* ns_per_step) {
  trial t;
  yoke_messages messages = {0};
  yoke_status status = begin_trial(network, options, &messages, &t);
  yoke__messages_free(&messages);
  YOKE_TRY(status);
  // one run to warm up
  double ns = 0;
  status = advance(t.circuit, n_steps);
  if (status >= 0) {
    status = time_runs(&t, n_steps, n, (double)INFINITY, &ns);
  }
  *ns_per_step = ns / (double)n_steps;
  end_trial(&t);
  return status;
}

// ---- stages

// The least of each stage over several runs: an interrupt falls into one stage of one run.
static yoke_status split(const trial* t, uint64_t n_steps, double share[]) {
  double ns[YOKE_COST_N], least[YOKE_COST_N], sum = 0;
  const uint64_t n = n_steps < STAGE_STEPS ? n_steps : STAGE_STEPS;
  yoke_status status = YOKE_OK;
  yoke__circuit_measure(t->circuit, true);
  for (int run = 0; status >= 0 && run < STAGE_RUNS; run++) {
    yoke__circuit_restore(t->circuit, t->image);
    yoke__circuit_get_costs(t->circuit, ns);  // begin at 0
    status = advance(t->circuit, n);
    yoke__circuit_get_costs(t->circuit, ns);
    for (size_t i = 0; i < YOKE_COST_N; i++) {
      least[i] = run == 0 ? ns[i] : fmin(least[i], ns[i]);
    }
  }
  yoke__circuit_measure(t->circuit, false);
  for (size_t i = 0; i < YOKE_COST_N; i++) {
    sum += least[i];
  }
  for (size_t i = 0; i < YOKE_COST_N; i++) {
    share[i] = sum > 0 ? least[i] / sum : (double)NAN;
  }
  return status;
}

// ---- the slowest step

static int compare_doubles(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Each step has the least time of several runs, so that what is left belongs to the step and not to
// the machine.
static yoke_status slowest(const trial* t, uint64_t n_all, double* ratio) {
  const uint64_t n_steps = n_all < WORST_STEPS ? n_all : WORST_STEPS;
  double* least = calloc((size_t)n_steps, sizeof *least);
  YOKE_TRY_MEMORY(least);
  yoke_status status = YOKE_OK;
  for (int run = 0; status >= 0 && run < WORST_RUNS; run++) {
    yoke__circuit_restore(t->circuit, t->image);
    int64_t before = yoke__os_now_ns();
    for (uint64_t k = 0; status >= 0 && k < n_steps; k++) {
      status = yoke__circuit_step(t->circuit);
      const int64_t now = yoke__os_now_ns();
      const double ns = (double)(now - before);
      least[k] = run == 0 ? ns : fmin(least[k], ns);
      before = now;
    }
  }
  qsort(least, (size_t)n_steps, sizeof *least, compare_doubles);
  *ratio = least[n_steps - 1] / fmax(least[n_steps / 2], 1);
  free(least);
  return status;
}

// ---- all of it

static void clear(yoke_assess_result* r) {
  for (size_t i = 0; i < YOKE_ASSESS_MAX_MONITORS; i++) {
    r->error[i] = (double)NAN;
  }
  for (size_t i = 0; i < YOKE_COST_N; i++) {
    r->share[i] = (double)NAN;
  }
  r->ns_per_step = r->real_time_factor = r->worst_ratio = (double)NAN;
}

static yoke_status measure(const yoke_assess_problem* problem, const trial* t,
                           const yoke_assess_effort* effort, yoke_assess_result* r) {
  double ns = 0;
  if (effort->n_repetitions > 0) {
    YOKE_TRY(time_runs(t, r->n_steps, effort->n_repetitions, effort->seconds, &ns));
    r->ns_per_step = ns / (double)r->n_steps;
    r->real_time_factor = problem->stop / (fmax(ns, 1) * 1e-9);
  }
  if (effort->has_stages) {
    YOKE_TRY(split(t, r->n_steps, r->share));
  }
  return effort->has_worst ? slowest(t, r->n_steps, &r->worst_ratio) : YOKE_OK;
}

static yoke_status run_trial(const yoke_assess_problem* problem, const yoke_assess_effort* effort,
                             trial* t, yoke_assess_result* r) {
  yoke__circuit_get_sizes(t->circuit, &r->sizes);
  const yoke_status status = compare(problem, t->circuit, r->options.step, r->error);
  yoke__circuit_get_counts(t->circuit, &r->counts);
  YOKE_TRY(status);
  r->level = yoke__assess_judge(problem, r->error);
  return measure(problem, t, effort, r);
}

static yoke_status run_circuit(const yoke_assess_problem* problem, const yoke_assess_effort* effort,
                               yoke_assess_result* r) {
  trial t;
  yoke_messages messages = {0};
  yoke_status status = begin_trial(problem->network, &r->options, &messages, &t);
  if (status >= 0) {
    status = run_trial(problem, effort, &t, r);
    const yoke_sink list = yoke__messages_sink(&messages);
    yoke_context about;
    yoke__context_init(&about, &list, (yoke_place){0}, NULL, yoke__circuit_time(t.circuit));
    if (status < 0) {
      yoke__circuit_reason_send(yoke__circuit_reason(t.circuit), status, &about.sink);
    }
    end_trial(&t);
  }
  if (status < 0) {
    explain(&messages, status, r);
  }
  yoke__messages_free(&messages);
  return status;
}

yoke_status yoke__assess_run(const yoke_assess_problem* problem,
                             const yoke_circuit_options* options, const yoke_assess_effort* effort,
                             yoke_assess_result* result) {
  *result = (yoke_assess_result){.options = *options, .problem = problem->name};
  clear(result);
  if (!yoke__assess_fits(problem, options->step)) {
    result->status = YOKE_BAD_ARG;
    snprintf(result->reason, sizeof result->reason,
             "a step of %.9g s does not divide the distance of the samples, %.9g s", options->step,
             problem->spacing);
    return YOKE_OK;
  }
  result->n_steps = step_of(problem->stop, options->step);
  if (effort->max_steps > 0 && result->n_steps > effort->max_steps) {
    result->status = YOKE_FULL;
    snprintf(result->reason, sizeof result->reason, "left out: %.3g steps",
             (double)result->n_steps);
    return YOKE_OK;
  }
  result->status = run_circuit(problem, effort, result);
  if (result->status < 0) {
    clear(result);
    result->level = YOKE_LEVEL_NONE;
  }
  return yoke__status_is_shortage(result->status) ? result->status : YOKE_OK;
}

// ---- systems

yoke_status yoke__assess_run_system(const yoke_assess_problem* problem, double step,
                                    const yoke_assess_effort* effort, yoke_assess_result* result) {
  yoke_messages messages = {0};
  const yoke_assess_result nothing = {.options = {.step = step}, .problem = problem->name};
  *result = nothing;
  clear(result);
  const yoke_status status = yoke__assess_system(problem, step, effort, &messages, result);
  if (status < 0) {
    *result = nothing;
    clear(result);
    explain(&messages, status, result);
  } else {
    result->level = yoke__assess_judge(problem, result->error);
    result->real_time_factor =
        problem->stop / (fmax(result->ns_per_step, 1e-3) * (double)result->n_steps * 1e-9);
  }
  result->status = status;
  yoke__messages_free(&messages);
  return yoke__status_is_shortage(status) ? status : YOKE_OK;
}
