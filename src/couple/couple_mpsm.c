// Model-based pre-step stabilisation of a cluster: the coupled solution is estimated from models of the units, carried
// one step ahead, and the inputs are chosen so that each unit lands on it.
//
//   learn     signals are extrapolated; models of the units are identified (couple_mpsm_models.h)
//   switch    inputs go over to those of the models
//   run       step 1 to 3 (couple_mpsm_predict.h); where the models miss the last step, or the coupling error grows, the
//             signals are extrapolated again
//
// Jacobians that the units provide need no learning and are used from the first step on.
// Inputs of a unit are the signals that the method serves, then what comes from outside the cluster: that is not ours to
// choose, but the models must know it. The same machine with another last step is `mbcorr` (couple_mpsm_mbcorr.h).
// Source: S. Genser, Model-based Pre-Step Stabilization Method for Non-Iterative Co-Simulation, thesis, Graz 2020, chapter 2.
// Page: docs/couple_mpsm.md.
// Assumes explicit Jacobi, one exchange interval, units without memory of the exchange grid.
#include "couple/couple_mpsm.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "couple/couple_image.h"
#include "couple/couple_mpsm_image.h"
#include "couple/couple_mpsm_mbcorr.h"
#include "couple/couple_mpsm_models.h"
#include "couple/couple_mpsm_settings.h"
#include "couple/couple_pieces.h"
#include "couple/couple_polynomial.h"

static const char* const trace_names[] = {"phase", "weight", "error", "condition", "worst"};
enum { PHASE, WEIGHT, ERROR, CONDITION, WORST, N_TRACE };

static const char* const health_names[] = {
    "n_learn",      "n_signal",    "n_modified", "n_full",   "n_no_model",
    "n_not_finite", "n_condition", "n_quality",  "n_guard",  "error_mean",
    "error_max",    "condition",   "n_alarms",   "n_resets", "n_models",
    "n_late",       "n_failed",    "is_refused", "growth",   "n_surrogates",
};
enum { N_HEALTH = sizeof health_names / sizeof health_names[0] };

typedef struct mpsm {
  const yoke_coupling_sink* sinks;
  const int* orders;
  const double* offset;
  double interval;
  size_t n_signals, n_exogenous, n_units, p, s;
  size_t size;  // of the whole block
  bool has_guard, is_corrector;
  yoke_mpsm_models* models;
  yoke_mpsm* cluster;  // the one in use: first or spare
  yoke_mpsm* first;
  yoke_mpsm* spare;  // for identified models, if provided ones are refused; NULL: not needed
  yoke_mpsm_rules rules;
  yoke_mpsm_course course;
  yoke_mpsm_guard guard;
  yoke_mpsm_guard_rules guard_rules;
  yoke_mpsm_decision decision;
  yoke_polynomial* signals;       // n_signals
  size_t *slot, *exogenous_slot;  // where a signal, an input from outside stands among the s inputs
  bool* is_end;                   // s: inputs that are end values whatever `level` says
  double* L;                      // s x p
  double *g, *u, *u_last, *y_last;  // s, s, s, p
  double *g_next, *signal_last;     // s: g at the end of the next step; n_signals
  double *model, *slope;        // s: inputs by the model at the end of the step, their rise [1/s]
  double *given, *given_start;  // n_signals: inputs at the end of the step and at its start
  double* u_start;              // s
  double *eps, *reached;        // n_signals: coupling error; inputs by the model
  double *corrector, *work;     // s: w~ of the last exchange
  double* inner;                // n_samples x p: outputs between exchanges
  size_t *inner_output, n_samples;  // n_signals: the output that a signal tells; p: none
  bool has_slopes, has_past;
  double error_sum, error_max;
  int64_t n_errors;
  double trace[N_TRACE];
} mpsm;

// ---------------------------------------------------------------------------------------------------------
// set-up

// The cluster as the prediction wants it. n_outputs, n_inputs: YOKE_MPSM_MAX_UNITS each.
static yoke_mpsm_setup predict_of(const yoke_coupling_setup* setup, bool is_corrector,
                                  bool is_provided, size_t n_outputs[], size_t n_inputs[]) {
  const yoke_coupling_cluster* c = setup->cluster;
  for (size_t k = 0; k < c->n_units && k < YOKE_MPSM_MAX_UNITS; k++) {
    n_outputs[k] = c->units[k].n_outputs;
    n_inputs[k] = c->units[k].n_signals + c->units[k].n_exogenous;
  }

  // placeholders for L and scales: sizes do not depend on them, prepare() sets its own
  static const double one = 1;
  return (yoke_mpsm_setup){
      .n_units = c->n_units < YOKE_MPSM_MAX_UNITS ? c->n_units : YOKE_MPSM_MAX_UNITS,
      .n_outputs = n_outputs,
      .n_inputs = n_inputs,
      .L = &one,
      .step = setup->interval,
      .n_samples = yoke__mpsm_settings(setup).n_samples,
      .has_exogenous = true,
      .input_scale = &one,
      .options = yoke__couple_mpsm_options(setup->parameters, is_corrector, is_provided)};
}

static mpsm outline(const yoke_coupling_setup* setup, bool is_corrector) {
  const yoke_coupling_cluster* c = setup->cluster;
  const yoke_mpsm_settings settings = yoke__mpsm_settings(setup);
  mpsm self = {.sinks = setup->sinks,
               .orders = setup->orders,
               .offset = c->offset,
               .interval = setup->interval,
               .n_signals = setup->n_signals,
               .n_exogenous = c->n_exogenous,
               .n_units = c->n_units < YOKE_MPSM_MAX_UNITS ? c->n_units : YOKE_MPSM_MAX_UNITS,
               .p = c->n_outputs,
               .s = setup->n_signals + c->n_exogenous,
               .has_guard = settings.has_guard,
               .is_corrector = is_corrector,
               .rules = settings.rules,
               .n_samples = settings.n_samples,
               .guard_rules = yoke__mpsm_guard_rules_default(),
               .has_slopes = settings.is_ramp};
  for (size_t i = 0; i < setup->n_signals; i++) {
    self.has_slopes = self.has_slopes || setup->orders[i] > 0;
  }
  return self;
}

static void lay_vectors(yoke_pieces* from, mpsm* self) {
  const size_t n = self->n_signals, p = self->p, s = self->s;
  self->signals = yoke__take(from, n, sizeof *self->signals);
  self->slot = yoke__take(from, n, sizeof(size_t));
  self->exogenous_slot = yoke__take(from, self->n_exogenous, sizeof(size_t));
  self->is_end = yoke__take(from, s, sizeof *self->is_end);
  self->inner_output = yoke__take(from, n, sizeof(size_t));
  double** const of_s[] = {&self->g,       &self->u,         &self->u_last,
                           &self->model,   &self->g_next,    &self->slope,
                           &self->u_start, &self->corrector, &self->work};
  for (size_t i = 0; i < sizeof of_s / sizeof of_s[0]; i++) {
    *of_s[i] = yoke__take(from, s, sizeof(double));
  }
  self->L = yoke__take(from, s * p, sizeof(double));
  self->y_last = yoke__take(from, p, sizeof(double));
  self->given = yoke__take(from, n, sizeof(double));
  self->given_start = yoke__take(from, n, sizeof(double));
  self->eps = yoke__take(from, n, sizeof(double));
  self->signal_last = yoke__take(from, n, sizeof(double));
  self->reached = yoke__take(from, n, sizeof(double));
  self->inner = yoke__take(from, self->n_samples * p, sizeof(double));
}

static size_t size_of(const yoke_coupling_setup* setup, bool is_corrector) {
  size_t n_outputs[YOKE_MPSM_MAX_UNITS], n_inputs[YOKE_MPSM_MAX_UNITS];
  mpsm self = outline(setup, is_corrector);
  const yoke_mpsm_models_setup models = yoke__couple_mpsm_models(setup);
  const bool is_provided = models.source == YOKE_MPSM_PROVIDED;
  yoke_pieces count = {NULL, 0};
  (void)yoke__take(&count, 1, sizeof self);
  lay_vectors(&count, &self);
  (void)yoke__take(&count, self.s, sizeof(double));  // scale
  (void)yoke__take(&count, yoke__mpsm_guard_size(self.n_signals), sizeof(double));
  (void)yoke__take(&count, yoke__mpsm_models_size(&models), 1);

  // with provided models there is a second cluster, for learning where they are refused
  for (int i = 0; i < (is_provided ? 2 : 1); i++) {
    const yoke_mpsm_setup predict =
        predict_of(setup, is_corrector, is_provided && i == 0, n_outputs, n_inputs);
    (void)yoke__take(&count, yoke__mpsm_size(&predict), 1);
  }
  return count.used;
}

static size_t mpsm_size(const yoke_coupling_setup* setup) {
  return size_of(setup, false);
}

static size_t mbcorr_size(const yoke_coupling_setup* setup) {
  return size_of(setup, true);
}

// Inputs from outside are not ours to change: in the least squares of step 3 a change of them costs 1e9 times as much.
#define FIXED 1e-9

static void place_inputs(const yoke_coupling_setup* setup, mpsm* self, double scale[]) {
  const yoke_coupling_cluster* c = setup->cluster;
  size_t at = 0;
  for (size_t k = 0; k < self->n_units; k++) {
    const yoke_coupling_unit* unit = &c->units[k];
    for (size_t i = 0; i < unit->n_signals; i++, at++) {
      const size_t signal = unit->first_signal + i;
      self->slot[signal] = at;
      self->g[at] = self->g_next[at] = isnan(c->offset[signal]) ? 0 : c->offset[signal];
      scale[at] = 1;
      // what an output follows at once is read at the end of the step
      self->is_end[at] = unit->is_direct != NULL && unit->is_direct[i];
      // row of L for this input: u = L y + g
      memcpy(self->L + at * self->p, c->L + signal * self->p, self->p * sizeof(double));
    }
    // inputs of a unit: signals first, then what comes from outside
    for (size_t i = 0; i < unit->n_exogenous; i++, at++) {
      self->exogenous_slot[unit->first_exogenous + i] = at;
      // what comes from outside is known at the end of the step
      self->is_end[at] = true;
      scale[at] = FIXED;
    }
  }
}

static yoke_status prepare(void* memory, const yoke_coupling_setup* setup, bool is_corrector,
                           const yoke_sink* sink) {
  YOKE_TRY(yoke__mpsm_check(setup, is_corrector, sink));
  size_t n_outputs[YOKE_MPSM_MAX_UNITS], n_inputs[YOKE_MPSM_MAX_UNITS];
  yoke_pieces from = {memory, 0};
  mpsm* self = yoke__take(&from, 1, sizeof *self);
  *self = outline(setup, is_corrector);
  lay_vectors(&from, self);
  double* scale = yoke__take(&from, self->s, sizeof(double));
  double* guard = yoke__take(&from, yoke__mpsm_guard_size(self->n_signals), sizeof(double));
  place_inputs(setup, self, scale);
  for (size_t i = 0; i < self->n_signals; i++) {
    self->inner_output[i] = yoke__mpsm_told_output(setup->cluster, i);
  }
  yoke__mpsm_guard_prepare(&self->guard, self->n_signals, guard);
  yoke_mpsm_models_setup models = yoke__couple_mpsm_models(setup);
  models.L = self->L;
  void* block = yoke__take(&from, yoke__mpsm_models_size(&models), 1);
  const bool is_provided = models.source == YOKE_MPSM_PROVIDED;
  for (int i = 0; i < (is_provided ? 2 : 1); i++) {
    yoke_mpsm_setup predict =
        predict_of(setup, is_corrector, is_provided && i == 0, n_outputs, n_inputs);
    predict.L = self->L;
    predict.input_scale = scale;
    predict.is_end = self->is_end;
    void* part = yoke__take(&from, yoke__mpsm_size(&predict), 1);
    YOKE_TRY(yoke__mpsm_prepare(part, &predict, i == 0 ? &self->first : &self->spare));
  }
  self->cluster = self->first;
  self->size = from.used;
  assert(self->size == size_of(setup, is_corrector));
  // last, since it takes memory of its own
  return yoke__mpsm_models_prepare(block, &models, &self->models, sink);
}

static yoke_status mpsm_prepare(void* memory, const yoke_coupling_setup* setup,
                                const yoke_sink* sink) {
  return prepare(memory, setup, false, sink);
}

static yoke_status mbcorr_prepare(void* memory, const yoke_coupling_setup* setup,
                                  const yoke_sink* sink) {
  return prepare(memory, setup, true, sink);
}

static void mpsm_close(void* memory) {
  mpsm* self = memory;
  yoke__mpsm_models_close(self->models);
}

// ---------------------------------------------------------------------------------------------------------
// at an exchange

// Inputs of the last step, and what comes from outside now.
static void take_sample(mpsm* self, const double y[], const double exogenous[]) {
  const double* outputs = y + self->n_signals;
  const bool is_levelled = self->cluster->lead != NULL;
  for (size_t i = 0; i < self->n_exogenous; i++) {
    // what was there at the last exchange has acted since
    const size_t at = self->exogenous_slot[i];
    self->u[at] = self->u_start[at] = self->g[at];
    self->g[at] = self->g_next[at] = exogenous[i];
  }
  for (size_t i = 0; i < self->n_signals; i++) {
    const size_t at = self->slot[i];
    self->u[at] = self->given[i];
    self->u_start[at] = self->given_start[i];
    // an input that is a mean is measured by the mean of the signal
    const bool is_mean = is_levelled && !self->is_end[at] && self->has_past;
    // eps = w - u; for a mean w is the trapezoid of its two ends
    self->eps[i] = (is_mean ? 0.5 * (y[i] + self->signal_last[i]) : y[i]) - self->given[i];
    self->signal_last[i] = y[i];
    yoke__polynomial_observe(&self->signals[i], y[i]);
    // g_i = y_i - (L y)_i: the part of a signal that no member's output makes
    if (isnan(self->offset[i])) {
      const double last = self->g[at];
      self->g[at] = y[i];
      for (size_t j = 0; j < self->p; j++) {
        self->g[at] -= self->L[at * self->p + j] * outputs[j];
      }
      // held, what comes from outside would lag behind a mean by half a step
      const double rise = is_levelled && self->has_past ? self->g[at] - last : 0;
      self->g_next[at] = self->g[at] + rise;
    }
  }
  self->has_past = true;
}

// What the prediction needs to know.
static yoke_mpsm_sample sample_of(const mpsm* self, const double outputs[]) {
  return (yoke_mpsm_sample){.y = outputs,
                            .u = self->u,
                            .u_start = self->has_slopes ? self->u_start : NULL,
                            .g = self->g,
                            .g_next = self->cluster->lead != NULL ? self->g_next : NULL,
                            .known = self->models->source == YOKE_MPSM_BY_RLS ? self->models->known
                                                                              : NULL,
                            .inner = self->n_samples > 1 ? self->inner : NULL};
}

// Provided models are refused, or fail: the cluster is learnt from here on.
static void learn_instead(mpsm* self, const double outputs[]) {
  self->cluster = self->spare;
  self->rules.is_identified = true;
  yoke__mpsm_start(self->cluster, outputs, self->u, self->g);
}

// Provided models are good for the first step already.
static void predict_first(mpsm* self, const double outputs[]) {
  const yoke_mpsm_sample sample = sample_of(self, outputs);
  if (yoke__mpsm_models_renew(self->models, self->cluster) < 0 || self->is_corrector) {
    return;
  }
  yoke__mpsm_start(self->cluster, outputs, self->u, self->g);
  yoke__mpsm_extrapolate(self->cluster, &sample);
  bool is_finite = true;
  if (self->rules.th_modified <= 0) {
    yoke__mpsm_pass_on(self->cluster, &sample, self->model, self->slope);
  }
  for (size_t k = 0; k < self->n_units && self->rules.th_modified > 0; k++) {
    const size_t first = self->models->members[k].first_u;
    yoke__mpsm_optimise(self->cluster, k, &sample, self->model + first, self->slope + first);
  }
  for (size_t i = 0; i < self->s; i++) {
    is_finite = is_finite && yoke__is_finite(self->model[i]);
  }
  self->decision.weight = is_finite ? 1 : 0;
}

static void start(mpsm* self, const double y[]) {
  const double* outputs = y + self->n_signals;

  // at the start every input is what is seen: the coupling error is 0
  for (size_t i = 0; i < self->n_signals; i++) {
    self->given[i] = self->given_start[i] = y[i];
  }
  for (size_t i = 0; i < self->n_exogenous; i++) {
    self->g[self->exogenous_slot[i]] = outputs[self->p + i];
  }
  take_sample(self, y, outputs + self->p);
  yoke__mpsm_models_start(self->models, self->L, outputs, self->u,
                          outputs + self->p + self->n_exogenous);
  const bool is_provided = self->models->source == YOKE_MPSM_PROVIDED;
  if (!is_provided && self->spare != NULL) {
    learn_instead(self, outputs);
  }
  yoke__mpsm_start(self->cluster, outputs, self->u, self->g);
  for (size_t i = 0; i < self->n_signals; i++) {
    self->corrector[self->slot[i]] = y[i];
  }
  if (is_provided) {
    predict_first(self, outputs);
  }
}

// Does the coupling error grow? Models that led there again are learnt anew; after a first alarm they go on: most of those are
// pulses from outside, and to relearn from their transient costs more accuracy than it brings.
static bool ask_guard(mpsm* self, const double y[]) {
  const int64_t n_alarms = self->guard.n_alarms;
  const bool is_guarded = yoke__mpsm_guard_observe(&self->guard, &self->guard_rules, self->eps, y,
                                                   self->decision.weight > 0);

  // an alarm soon after another one (its wait has grown): the models are at fault, no pulse
  if (self->has_guard && self->guard.n_alarms > n_alarms &&
      self->guard.n_wait > self->guard_rules.n_wait) {
    yoke__mpsm_models_relearn(self->models);
  }
  return is_guarded && self->has_guard;
}

// Are the model's inputs farther from the signals than can be?
static bool is_out_of_reach(mpsm* self) {
  for (size_t i = 0; i < self->n_signals; i++) {
    self->reached[i] = self->model[self->slot[i]];
  }
  return yoke__mpsm_guard_refuses(&self->guard, &self->guard_rules, self->reached);
}

// The model's inputs for the next step.
static yoke_status predict(mpsm* self, const yoke_mpsm_sample* sample, double error) {
  if (self->is_corrector) {
    return yoke__mbcorr_step(self->cluster, sample, self->corrector, self->model, self->work);
  }
  // without step 3 where that is what the error allows
  const bool is_full = error < self->rules.th_modified;
  return yoke__mpsm_step(self->cluster, sample, is_full, self->model, self->slope);
}

// The member whose model misses most, from 1; 0: all fit.
static double worst_of(const yoke_mpsm_models* models) {
  size_t worst = 0;
  double largest = 0;
  for (size_t k = 0; k < models->n_units; k++) {
    if (models->errors[k] > largest) {
      largest = models->errors[k];
      worst = k + 1;
    }
  }
  return (double)worst;
}

// Phase, weight and the model's inputs.
static void decide(mpsm* self, const yoke_coupling_moment* now, const double y[]) {
  const double* outputs = y + self->n_signals;
  const yoke_mpsm_sample sample = sample_of(self, outputs);
  yoke_mpsm_evidence seen = {.t = (double)now->k * self->interval, .step = self->interval};
  seen.is_guarded = ask_guard(self, y);
  const yoke_mpsm_passed passed = {
      .y_last = self->y_last, .u_last = self->u_last, .u = self->u, .y = outputs};
  const bool is_sound =
      yoke__mpsm_models_observe(self->models, self->cluster, now->worker, &passed);
  const double error = self->models->error;
  const bool is_learning = self->rules.is_identified && seen.t < self->rules.t_learning;
  yoke_status status = YOKE_OK;

  // while learning the least squares go on, but no cluster is made of them
  if (is_sound && !is_learning) {
    status = yoke__mpsm_models_renew(self->models, self->cluster);
    if (yoke__mpsm_models_give_up(self->models)) {
      learn_instead(self, outputs);
      // learning begins now: it ends as long after this as after a start
      self->rules.t_learning += seen.t;
    }
  }
  if (self->cluster->is_ready && status >= 0) {
    status = predict(self, &sample, error);
    // provided models are no guess
    seen.is_guarded = seen.is_guarded || (self->has_guard && self->rules.is_identified &&
                                          status >= 0 && is_out_of_reach(self));
  } else {
    yoke__mpsm_error(self->cluster, &sample);
    yoke__mpsm_accept(self->cluster, &sample);
  }

  // singular or not finite is a failing model; anything else means that there is none
  seen.has_model = is_sound && (status >= 0 || status == YOKE_SINGULAR || status == YOKE_DIVERGED);
  seen.is_finite = status != YOKE_DIVERGED && status != YOKE_BAD_ARG;
  seen.condition = is_sound && !is_learning ? self->cluster->condition : 1;
  seen.e_glob = error;
  self->decision = yoke__mpsm_decide(&self->rules, &self->course, &seen);
  self->trace[PHASE] = (double)self->decision.phase;
  self->trace[WEIGHT] = self->decision.weight;
  self->trace[ERROR] = is_sound && yoke__is_finite(error) ? error : (double)NAN;
  self->trace[CONDITION] = yoke__is_finite(seen.condition) ? seen.condition : (double)NAN;
  self->trace[WORST] = worst_of(self->models);

  // while no model counts there is no past of its errors
  if (self->decision.weight <= 0) {
    yoke__mpsm_forget(self->cluster);
  }
  if (is_sound && !is_learning && yoke__is_finite(error)) {
    self->error_sum += error;
    self->error_max = fmax(self->error_max, error);
    self->n_errors++;
  }
}

static double value_at(const mpsm* self, size_t i, double tau) {
  const yoke_polynomial* p = &self->signals[i];
  const yoke_polynomial_weights w = yoke__polynomial_at(tau / self->interval);

  // extrapolated signal at tau
  const double signal = yoke__polynomial_sum(p, self->orders[i], w, p->u);
  const double weight = self->decision.weight;
  if (weight <= 0) {
    return signal;
  }
  const size_t at = self->slot[i];

  // u(tau) = u(H) - slope (H - tau)
  const double model = self->model[at] - self->slope[at] * (self->interval - tau);

  // blended during the switch phase
  return weight >= 1 ? model : weight * model + (1 - weight) * signal;
}

static void mpsm_observe(void* memory, const yoke_coupling_moment* now, const double y[],
                         const double u_applied[]) {
  mpsm* self = memory;
  const double* outputs = y + self->n_signals;
  (void)u_applied;
  if (now->k == 0) {
    start(self, y);
  } else {
    for (size_t k = 0; k < self->n_units; k++) {
      // linear models stand behind outputs and what comes from outside
      yoke_mpsm_member* member = &self->models->members[k];
      member->linear = outputs + self->p + self->n_exogenous + member->about->first_linear;
    }
    take_sample(self, y, outputs + self->p);
    if (self->n_samples > 1) {
      memcpy(self->inner + (self->n_samples - 1) * self->p, outputs, self->p * sizeof(double));
    }
    decide(self, now, y);
  }
  memcpy(self->u_last, self->u, self->s * sizeof(double));
  memcpy(self->y_last, outputs, self->p * sizeof(double));
  for (size_t i = 0; i < self->n_signals; i++) {
    // ends of the input over the next step, for the coupling error at the next exchange
    self->given[i] = value_at(self, i, self->interval);
    self->given_start[i] = value_at(self, i, 0);
  }
}

// ---------------------------------------------------------------------------------------------------------
// between exchanges

static void mpsm_send(void* memory, size_t signal, int64_t j, double y) {
  mpsm* self = memory;
  const size_t at = self->slot[signal], output = self->inner_output[signal];

  // samples 1 .. n - 1 lie between the exchanges, the last one at the exchange
  if (j >= 1 && (size_t)j < self->n_samples && output < self->p) {
    // y of the member: (signal - offset) / L_ij
    self->inner[((size_t)j - 1) * self->p + output] =
        (y - self->offset[signal]) / self->L[at * self->p + output];
  }
}

static void mpsm_input(void* memory, size_t sink, double tau, double u[]) {
  const mpsm* self = memory;
  const size_t first = self->sinks[sink].first;
  for (size_t i = 0; i < self->sinks[sink].n; i++) {
    u[i] = value_at(self, first + i, tau);
  }
}

static void mpsm_input_derivatives(void* memory, size_t sink, double tau, int order, double du[]) {
  const mpsm* self = memory;
  const size_t first = self->sinks[sink].first;
  const yoke_polynomial_weights w =
      yoke__polynomial_slope(tau / self->interval, self->interval, order);
  const double weight = self->decision.weight;
  for (size_t i = 0; i < self->sinks[sink].n; i++) {
    const yoke_polynomial* p = &self->signals[first + i];
    const double slope = order == 1 ? self->slope[self->slot[first + i]] : 0;
    // d/d tau of the blend
    du[i] = weight * slope + (1 - weight) * yoke__polynomial_sum(p, self->orders[first + i], w, 0);
  }
}

// ---------------------------------------------------------------------------------------------------------
// what it says

static yoke_status mpsm_started(const void* memory) {
  const mpsm* self = memory;
  return self->models->is_short ? YOKE_NO_MEMORY : YOKE_OK;
}

static void mpsm_health(const void* memory, double values[]) {
  const mpsm* self = memory;
  const yoke_mpsm_course* c = &self->course;
  size_t n = 0;
  for (int i = 0; i < YOKE_MPSM_N_PHASES; i++) {
    values[n++] = (double)c->n_steps[i];
  }
  for (int i = YOKE_MPSM_NO_MODEL; i <= YOKE_MPSM_GUARD; i++) {
    values[n++] = (double)c->n_fallbacks[i];
  }
  values[n++] = self->n_errors > 0 ? self->error_sum / (double)self->n_errors : 0;
  values[n++] = self->error_max;
  values[n++] = self->cluster->condition;
  values[n++] = (double)self->guard.n_alarms;
  double n_resets = 0;
  for (size_t k = 0; k < self->n_units; k++) {
    n_resets += (double)self->models->members[k].rls.counts->n_resets;
  }
  values[n++] = n_resets;
  values[n++] = (double)self->models->n_models;
  values[n++] = (double)self->models->n_late;
  values[n++] = (double)self->models->n_failed;
  values[n++] = self->models->is_refused;
  values[n++] = self->models->growth;
  values[n] = (double)self->models->n_surrogates;
}

static const double* mpsm_trace(const void* memory) {
  const mpsm* self = memory;
  return self->trace;
}

// "2 states and 1 output"
static void count_states(const yoke_mpsm_member* m, char* to, size_t size) {
  const size_t n_x = m->about->n_states;
  snprintf(to, size, "%zu state%s and %zu output%s", n_x, n_x == 1 ? "" : "s", m->n,
           m->n == 1 ? "" : "s");
}

// Provided models that are used although they leave something out.
static void append_surrogates(const yoke_mpsm_models* models, char* to, size_t size) {
  if (models->source != YOKE_MPSM_PROVIDED || models->n_surrogates == 0) {
    return;
  }
  char counts[64], others[64] = "";
  count_states(models->unseen, counts, sizeof counts);
  if (models->n_surrogates > 1) {
    snprintf(others, sizeof others, " (and those of %zu more)", models->n_surrogates - 1);
  }
  snprintf(to, size, "; '%s' has %s, so that its Jacobians%s are a surrogate",
           models->unseen->about->name, counts, others);
}

static void append_refusal(const yoke_mpsm_models* models, char* to, size_t size) {
  char counts[64];
  switch (models->refusal) {
  case YOKE_MPSM_NOT_REFUSED:
    append_surrogates(models, to, size);
    break;
  case YOKE_MPSM_UNSEEN:
    count_states(models->unseen, counts, sizeof counts);
    snprintf(to, size,
             "; identified, since '%s' has %s with an output matrix of rank %zu: all three would "
             "have to be equal",
             models->unseen->about->name, counts, models->unseen->rank);
    break;
  case YOKE_MPSM_LACKING:
    snprintf(to, size, "; identified, since '%s' provides no linear model", models->lacking);
    break;
  case YOKE_MPSM_GROWS:
    snprintf(to, size, "; identified, since what the units provide would grow with %.2g 1/s",
             models->growth);
    break;
  case YOKE_MPSM_LOOP:
    snprintf(to, size, "; identified, since what the units provide has an algebraic loop");
    break;
  case YOKE_MPSM_BIASED:
    snprintf(to, size,
             "; identified, since what the units provide misses in one direction: a unit has a "
             "constant part that Jacobians do not have");
    break;
  }
}

static void mpsm_report(const void* memory, const yoke_sink* sink) {
  const mpsm* self = memory;
  char to[YOKE_MESSAGE_TEXT_SIZE];
  const size_t size = sizeof to;
  const yoke_mpsm_course* c = &self->course;
  const int64_t n_model = c->n_steps[YOKE_MPSM_FULL] + c->n_steps[YOKE_MPSM_MODIFIED];
  const int64_t n_signal = c->n_steps[YOKE_MPSM_SIGNAL];
  int64_t n_falls = 0;
  for (int i = 0; i < YOKE_MPSM_N_REASONS; i++) {
    n_falls += c->n_fallbacks[i];
  }
  size_t n = (size_t)snprintf(to, size, "%lld exchanges by models", (long long)n_model);
  if (c->n_steps[YOKE_MPSM_LEARN] > 0 && n < size) {
    n += (size_t)snprintf(to + n, size - n, " after %lld of learning",
                          (long long)c->n_steps[YOKE_MPSM_LEARN]);
  }
  if (n_falls > 0 && n < size) {
    n += (size_t)snprintf(to + n, size - n, ", %lld by signals in %lld fallback%s",
                          (long long)n_signal, (long long)n_falls, n_falls == 1 ? "" : "s");
  }
  if (n_model == 0 && c->n_fallbacks[YOKE_MPSM_NO_MODEL] > 0 && n < size) {
    n += (size_t)snprintf(to + n, size - n, "; no model was ever complete (%s)",
                          self->models->source == YOKE_MPSM_BY_MOESP
                              ? "too few samples, or none that fits"
                              : "events or lost samples break the past that it needs");
  }
  if (self->n_errors > 0 && n < size) {
    n += (size_t)snprintf(to + n, size - n, "; the models miss a step by %.2g on average",
                          self->error_sum / (double)self->n_errors);
  }
  size_t n_ends = 0;
  for (size_t i = 0; i < self->n_signals; i++) {
    n_ends += self->is_end[self->slot[i]];
  }
  if (self->cluster->lead != NULL && n_ends > 0 && n < size) {
    n += (size_t)snprintf(to + n, size - n,
                          "; %zu of %zu inputs stay end values (direct feedthrough)", n_ends,
                          self->n_signals);
  }
  if (n < size) {
    append_refusal(self->models, to + n, size - n);
  }
  yoke_send(sink, &(yoke_message){.severity = YOKE_NOTE, .time = (double)NAN, .text = to});
}

static yoke_status mpsm_write(const void* memory, const char* path, const yoke_sink* sink) {
  const mpsm* self = memory;
  return yoke__mpsm_models_write(self->models, path, sink);
}

// What the models know stays; what they saw last does not fit to what comes next.
static void mpsm_reset(void* memory, yoke_coupling_reset reason, const bool is_affected[]) {
  (void)reason;
  mpsm* self = memory;
  for (size_t i = 0; i < self->n_signals; i++) {
    if (is_affected == NULL || is_affected[i]) {
      yoke__polynomial_reset(&self->signals[i]);
    }
  }
  yoke__mpsm_models_forget(self->models);
  yoke__mpsm_break(self->cluster);
  self->has_past = false;
}

// Everything but pointers. Work beside the steps is done before this is called.
static void walk(void* memory, yoke_image* image) {
  mpsm* self = memory;
  bool is_spare = self->cluster == self->spare;
  yoke_image_block block = yoke__image_open(image, self, self->size);
  YOKE_IMAGE_SKIP(&block, self, sinks, offset);
  YOKE_IMAGE_SKIP(&block, self, models, spare);
  yoke__mpsm_guard_skip(&block, &self->guard);
  YOKE_IMAGE_SKIP(&block, self, signals, inner);
  YOKE_IMAGE_SKIP(&block, self, inner_output, inner_output);
  yoke__mpsm_models_skip(&block, self->models);
  yoke__mpsm_cluster_skip(&block, self->first);
  if (self->spare != NULL) {
    yoke__mpsm_cluster_skip(&block, self->spare);
  }
  yoke__image_close(&block);
  YOKE_IMAGE_VALUE(image, is_spare);
  self->cluster = is_spare ? self->spare : self->first;
}
YOKE_COUPLING_IMAGE(mpsm, walk)

#define TABLE                                                                                      \
  .flags = YOKE_COUPLING_CLUSTER | YOKE_COUPLING_JACOBI, .n_parameters = YOKE_MPSM_N_PARAMETERS,   \
  .files = yoke__mpsm_files, .n_files = YOKE_MPSM_N_FILES, .health_names = health_names,           \
  .n_health = N_HEALTH, .trace_names = trace_names, .n_trace = N_TRACE, .trace = mpsm_trace,       \
  .close = mpsm_close, .wants = yoke__mpsm_wants, .observe = mpsm_observe, .send = mpsm_send,      \
  .input = mpsm_input, .input_derivatives = mpsm_input_derivatives, .health = mpsm_health,         \
  .reset = mpsm_reset, .warn = yoke__mpsm_warn, .report = mpsm_report, .write = mpsm_write,        \
  .image_size = mpsm_image_size, .save = mpsm_save, .restore = mpsm_restore,                       \
  .started = mpsm_started

const yoke_coupling_ops yoke__couple_mpsm = {
    .name = "mpsm",
    .form = YOKE_FORM_PRE_STEP,
    .text = "model-based pre-step stabilisation of a cluster",
    .parameters = yoke__mpsm_parameters,
    .size = mpsm_size,
    .prepare = mpsm_prepare,
    TABLE,
};

const yoke_coupling_ops yoke__couple_mbcorr = {
    .name = "mbcorr",
    .form = YOKE_FORM_CORRECTOR,
    .text = "model-based corrector of a cluster: a reconstruction, for comparison",
    .parameters = yoke__mbcorr_parameters,
    .size = mbcorr_size,
    .prepare = mbcorr_prepare,
    TABLE,
};
