// Model-based pre-step stabilisation of a cluster: the coupled solution is estimated from models of the units, carried
// one step ahead, and the inputs are chosen so that each unit lands on it.
//
//   learn     signals are extrapolated; recursive least squares collect models of the units
//   switch    inputs go over to those of the models
//   run       step 1 to 3 (couple_mpsm_predict.h); where the models miss the last step, or the coupling error grows, the
//             signals are extrapolated again
//
// Inputs of a unit are the signals that the method serves, then what comes from outside the cluster: that is not ours to
// choose, but the models must know it. Source: mpsm specification 3, 6, 7.1, after S. Genser, thesis, Graz 2020.
// Assumes explicit Jacobi, one exchange interval, units without memory of the exchange grid.
#include "couple/couple_mpsm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "couple/couple_mpsm_phase.h"
#include "couple/couple_mpsm_predict.h"
#include "couple/couple_polynomial.h"
#include "identify/identify_quality.h"
#include "identify/identify_rls.h"

enum {
  LEARNING,
  SWITCHING,
  TH_SIGNAL,
  TH_MODIFIED,
  EDE,
  FORGETTING,
  START_VARIANCE,
  Y_LAGS,
  U_LAGS,
  FORM,
  N_BACK,
  COND_MAX,
  GUARD,
  N_PARAMETERS
};

static const char* const ede_items[] = {"off", "on", "reset", NULL};
static const char* const form_items[] = {"gilbert", "direct", NULL};
static const char* const switch_items[] = {"off", "on", NULL};

static const yoke_coupling_parameter parameters[N_PARAMETERS] = {
    [LEARNING] = {"learning", "time before a model is used, in exchange intervals", 220, 1, 1e9,
                  NULL},
    [SWITCHING] = {"switching",
                   "time in which the inputs go over to the model's, in exchange intervals", 5, 0,
                   1e9, NULL},
    [TH_SIGNAL] = {"th_signal", "error of the models from which on signals are extrapolated", 3.54,
                   0, (double)INFINITY, NULL},
    [TH_MODIFIED] = {"th_modified", "error from which on the inputs are not optimised", 0.21, 0,
                     (double)INFINITY, NULL},
    [EDE] = {"ede", "correction of past coupling errors (step 1)", 0, 0, 2, ede_items},
    [FORGETTING] = {"forgetting", "of the least squares: weight of a sample one exchange older",
                    0.996, 0.5, 1, NULL},
    [START_VARIANCE] = {"start_variance", "of the parameters of the models, at the start",
                        YOKE_RLS_P0, 1e-12, 1e12, NULL},
    [Y_LAGS] = {"y_lags", "past outputs in a model", 1, 1, YOKE_RLS_MAX_LAGS, NULL},
    [U_LAGS] = {"u_lags", "past inputs in a model", 1, 1, YOKE_RLS_MAX_LAGS, NULL},
    [FORM] = {"form", "how a model with several lags becomes Jacobians", 0, 0, 1, form_items},
    [N_BACK] = {"n_back", "good exchanges before a model is used again after a fallback", 1, 1, 1e6,
                NULL},
    [COND_MAX] = {"cond_max",
                  "condition of the coupled models from which on signals are extrapolated", 1e10, 1,
                  (double)INFINITY, NULL},
    [GUARD] = {"guard", "signals are extrapolated too where the coupling error grows", 1, 0, 1,
               switch_items},
};

static const char* const health_names[] = {
    "n_learn",   "n_signal", "n_modified", "n_full",    "n_no_model", "n_not_finite", "n_condition",
    "n_quality", "n_guard",  "error_mean", "error_max", "condition",  "n_alarms",     "n_resets",
};
enum { N_HEALTH = sizeof health_names / sizeof health_names[0] };

typedef struct member {
  yoke_rls rls;
  yoke_jacobian_discrete jacobian;
  yoke_identify_range range;
  size_t first_y, first_u;  // in the vectors of the cluster
} member;

typedef struct mpsm {
  const yoke_coupling_sink* sinks;
  const int* orders;
  const double* offset;
  double interval;
  size_t n_signals, n_exogenous, n_units, p, s;
  bool has_guard;
  member* members;
  yoke_mpsm* cluster;
  yoke_mpsm_rules rules;
  yoke_mpsm_course course;
  yoke_mpsm_guard guard;
  yoke_mpsm_guard_rules guard_rules;
  yoke_mpsm_decision decision;
  yoke_polynomial* signals;       // n_signals
  size_t *slot, *exogenous_slot;  // where a signal, an input from outside stands among the s inputs
  double *g, *u, *u_last, *y_last;  // s, s, s, p
  double* model;                    // s: inputs by the model
  double* given;  // n_signals: inputs at the end of the step that they were given for
  double *eps, *y_bar, *errors;  // n_signals; p; n_units
  double error_sum, error_max;
  int64_t n_errors;
} mpsm;

// ---------------------------------------------------------------------------------------------------------
// memory

static size_t round_up(size_t size) {
  return (size + 63) / 64 * 64;
}

// Takes pieces of a block; with base NULL it only counts.
typedef struct pieces {
  char* base;
  size_t used;
} pieces;

static void* take(pieces* from, size_t count, size_t size) {
  void* piece = from->base == NULL ? NULL : from->base + from->used;
  from->used += round_up(count * size);
  return piece;
}

static yoke_rls_setup rls_of(const yoke_coupling_setup* setup, size_t unit) {
  const yoke_coupling_unit* about = &setup->cluster->units[unit];
  const double* v = setup->parameters;
  return (yoke_rls_setup){.n = about->n_outputs,
                          .m = about->n_signals + about->n_exogenous,
                          .n_y_lags = (size_t)v[Y_LAGS],
                          .n_u_lags = (size_t)v[U_LAGS],
                          .forgetting = v[FORGETTING],
                          .start_variance = v[START_VARIANCE],
                          .form = (yoke_rls_form)(int)v[FORM]};
}

#define MAX_UNITS 64

// The cluster as the prediction wants it. n_outputs, n_inputs: MAX_UNITS each.
static yoke_mpsm_setup predict_of(const yoke_coupling_setup* setup, size_t n_outputs[],
                                  size_t n_inputs[], const double L[], const double scale[]) {
  const yoke_coupling_cluster* c = setup->cluster;
  for (size_t k = 0; k < c->n_units && k < MAX_UNITS; k++) {
    n_outputs[k] = c->units[k].n_outputs;
    n_inputs[k] = c->units[k].n_signals + c->units[k].n_exogenous;
  }
  yoke_mpsm_options options = yoke__mpsm_options_default();
  options.time = YOKE_MPSM_DISCRETE;
  options.uses_ede = setup->parameters[EDE] > 0;
  options.resets_ede = setup->parameters[EDE] > 1;
  options.cond_max = setup->parameters[COND_MAX];
  return (yoke_mpsm_setup){.n_units = c->n_units < MAX_UNITS ? c->n_units : MAX_UNITS,
                           .n_outputs = n_outputs,
                           .n_inputs = n_inputs,
                           .L = L,
                           .step = setup->interval,
                           .has_exogenous = true,
                           .input_scale = scale,
                           .options = options};
}

static void lay_member(pieces* from, const yoke_coupling_setup* setup, size_t k, member* to,
                       void** rls_block) {
  const yoke_rls_setup rls = rls_of(setup, k);
  const size_t n = rls.n, m = rls.m;
  *to = (member){.jacobian = {.n = n, .m = m}, .range = {.n = n}};
  *rls_block = take(from, yoke__rls_size(&rls), 1);
  to->jacobian.Sy = take(from, n * n, sizeof(double));
  to->jacobian.S0 = take(from, n * m, sizeof(double));
  to->jacobian.S1 = take(from, n * m, sizeof(double));
  to->range.low = take(from, n, sizeof(double));
  to->range.high = take(from, n, sizeof(double));
}

// Everything but the struct, its members and the prediction.
static void lay_vectors(pieces* from, mpsm* self) {
  const size_t n = self->n_signals, p = self->p, s = self->s;
  self->signals = take(from, n, sizeof *self->signals);
  self->slot = take(from, n, sizeof(size_t));
  self->exogenous_slot = take(from, self->n_exogenous, sizeof(size_t));
  self->g = take(from, s, sizeof(double));
  self->u = take(from, s, sizeof(double));
  self->u_last = take(from, s, sizeof(double));
  self->y_last = take(from, p, sizeof(double));
  self->model = take(from, s, sizeof(double));
  self->given = take(from, n, sizeof(double));
  self->eps = take(from, n, sizeof(double));
  self->y_bar = take(from, p, sizeof(double));
  self->errors = take(from, self->n_units, sizeof(double));
}

static mpsm outline(const yoke_coupling_setup* setup) {
  const yoke_coupling_cluster* c = setup->cluster;
  return (mpsm){.sinks = setup->sinks,
                .orders = setup->orders,
                .offset = c->offset,
                .interval = setup->interval,
                .n_signals = setup->n_signals,
                .n_exogenous = c->n_exogenous,
                .n_units = c->n_units < MAX_UNITS ? c->n_units : MAX_UNITS,
                .p = c->n_outputs,
                .s = setup->n_signals + c->n_exogenous,
                .has_guard = setup->parameters[GUARD] > 0};
}

static size_t mpsm_size(const yoke_coupling_setup* setup) {
  size_t n_outputs[MAX_UNITS], n_inputs[MAX_UNITS];
  mpsm self = outline(setup);
  pieces count = {NULL, 0};
  (void)take(&count, 1, sizeof self);
  (void)take(&count, self.n_units, sizeof(member));
  for (size_t k = 0; k < self.n_units; k++) {
    member one;
    void* block = NULL;
    lay_member(&count, setup, k, &one, &block);
  }
  lay_vectors(&count, &self);
  (void)take(&count, self.s * self.p, sizeof(double));  // L
  (void)take(&count, self.s, sizeof(double));           // scale
  (void)take(&count, yoke__mpsm_guard_size(self.n_signals), sizeof(double));
  const double one = 1;
  const yoke_mpsm_setup predict = predict_of(setup, n_outputs, n_inputs, &one, &one);
  (void)take(&count, yoke__mpsm_size(&predict), 1);
  return count.used;
}

// Inputs from outside are not ours to change: in the least squares of step 3 a change of them costs 1e9 times as much.
#define FIXED 1e-9

static void place_inputs(const yoke_coupling_setup* setup, mpsm* self, double L[], double scale[]) {
  const yoke_coupling_cluster* c = setup->cluster;
  size_t at = 0;
  for (size_t k = 0; k < self->n_units; k++) {
    const yoke_coupling_unit* unit = &c->units[k];
    self->members[k].first_y = unit->first_output;
    self->members[k].first_u = at;
    for (size_t i = 0; i < unit->n_signals; i++, at++) {
      const size_t signal = unit->first_signal + i;
      self->slot[signal] = at;
      self->g[at] = c->offset[signal];
      scale[at] = 1;
      L[at * self->p + c->from[signal]] = c->gain[signal];
    }
    for (size_t i = 0; i < unit->n_exogenous; i++, at++) {
      self->exogenous_slot[unit->first_exogenous + i] = at;
      scale[at] = FIXED;
    }
  }
}

static yoke_status check(const yoke_coupling_setup* setup, char* err, size_t err_size) {
  const yoke_coupling_cluster* c = setup->cluster;
  const double* v = setup->parameters;
  if (c->n_units > MAX_UNITS) {
    snprintf(err, err_size, "%zu units; it serves at most %d", c->n_units, MAX_UNITS);
    return YOKE_BAD_ARG;
  }
  for (size_t k = 0; k < c->n_units; k++) {
    if (c->units[k].n_signals == 0 || c->units[k].n_outputs == 0) {
      snprintf(err, err_size,
               "'%s' %s the other members; leave it out, or its unit stays a mere source or sink",
               c->units[k].name,
               c->units[k].n_outputs == 0 ? "gives nothing to" : "takes nothing from");
      return YOKE_BAD_ARG;
    }
  }
  if (v[TH_MODIFIED] > v[TH_SIGNAL]) {
    snprintf(err, err_size, "th_modified (%g) must not be above th_signal (%g)", v[TH_MODIFIED],
             v[TH_SIGNAL]);
    return YOKE_BAD_ARG;
  }
  return YOKE_OK;
}

static yoke_status mpsm_prepare(void* memory, const yoke_coupling_setup* setup, char* err,
                                size_t err_size) {
  YOKE_TRY(check(setup, err, err_size));
  size_t n_outputs[MAX_UNITS], n_inputs[MAX_UNITS];
  const double* v = setup->parameters;
  pieces from = {memory, 0};
  mpsm* self = take(&from, 1, sizeof *self);
  *self = outline(setup);
  self->members = take(&from, self->n_units, sizeof *self->members);
  for (size_t k = 0; k < self->n_units; k++) {
    const yoke_rls_setup rls = rls_of(setup, k);
    void* block = NULL;
    lay_member(&from, setup, k, &self->members[k], &block);
    YOKE_TRY(yoke__rls_prepare(&self->members[k].rls, &rls, block, err, err_size));
    yoke__identify_range_start(&self->members[k].range);
  }
  lay_vectors(&from, self);
  double* L = take(&from, self->s * self->p, sizeof(double));
  double* scale = take(&from, self->s, sizeof(double));
  double* guard = take(&from, yoke__mpsm_guard_size(self->n_signals), sizeof(double));
  place_inputs(setup, self, L, scale);
  yoke__mpsm_guard_prepare(&self->guard, self->n_signals, guard);
  self->guard_rules = yoke__mpsm_guard_rules_default();
  self->rules = (yoke_mpsm_rules){.is_identified = true,
                                  .t_learning = v[LEARNING] * setup->interval,
                                  .t_switch = v[SWITCHING] * setup->interval,
                                  .th_signal = v[TH_SIGNAL],
                                  .th_modified = v[TH_MODIFIED],
                                  .cond_max = v[COND_MAX],
                                  .n_back = (size_t)v[N_BACK],
                                  .is_blended = true};
  const yoke_mpsm_setup predict = predict_of(setup, n_outputs, n_inputs, L, scale);
  void* block = take(&from, yoke__mpsm_size(&predict), 1);
  return yoke__mpsm_prepare(block, &predict, &self->cluster);
}

// ---------------------------------------------------------------------------------------------------------
// at an exchange

// The models learn from the step that ended; e_glob (21) is how far they miss it. False: there is no sound one yet.
static bool learn(mpsm* self, const double y[], double* error) {
  bool is_sound = true;
  for (size_t k = 0; k < self->n_units; k++) {
    member* m = &self->members[k];
    yoke__identify_range_observe(&m->range, y + m->first_y);
    yoke__rls_update(&m->rls, y + m->first_y, self->u + m->first_u);
    yoke__rls_jacobian(&m->rls, &m->jacobian);
    yoke__jacobian_predict(&m->jacobian, self->y_last + m->first_y, self->u_last + m->first_u,
                           self->u + m->first_u, self->y_bar + m->first_y);
    self->errors[k] = yoke__identify_error(&m->range, y + m->first_y, self->y_bar + m->first_y);
    is_sound = is_sound && yoke__rls_is_sound(&m->rls);
  }
  *error = yoke__identify_error_of_all(self->n_units, self->errors);
  return is_sound;
}

// The models into the prediction. *condition: of the coupled ones.
static yoke_status renew(mpsm* self, double* condition) {
  for (size_t k = 0; k < self->n_units; k++) {
    YOKE_TRY(yoke__mpsm_set_discrete(self->cluster, k, &self->members[k].jacobian));
  }
  const yoke_status status = yoke__mpsm_assemble(self->cluster);
  *condition = self->cluster->condition;
  return status;
}

// Inputs of the last step, and what comes from outside now.
static void take_sample(mpsm* self, const double y[], const double exogenous[]) {
  for (size_t i = 0; i < self->n_exogenous; i++) {
    // what was there at the last exchange has acted since
    self->u[self->exogenous_slot[i]] = self->g[self->exogenous_slot[i]];
    self->g[self->exogenous_slot[i]] = exogenous[i];
  }
  for (size_t i = 0; i < self->n_signals; i++) {
    self->u[self->slot[i]] = self->given[i];
    self->eps[i] = y[i] - self->given[i];
    yoke__polynomial_observe(&self->signals[i], y[i]);
  }
}

static void start(mpsm* self, const double y[]) {
  const double* outputs = y + self->n_signals;
  for (size_t i = 0; i < self->n_exogenous; i++) {
    self->g[self->exogenous_slot[i]] = outputs[self->p + i];
    self->u[self->exogenous_slot[i]] = outputs[self->p + i];
  }
  for (size_t i = 0; i < self->n_signals; i++) {
    self->u[self->slot[i]] = y[i];
    yoke__polynomial_observe(&self->signals[i], y[i]);
  }
  yoke__mpsm_start(self->cluster, outputs, self->u, self->g);
  for (size_t k = 0; k < self->n_units; k++) {
    member* m = &self->members[k];
    yoke__identify_range_observe(&m->range, outputs + m->first_y);
    yoke__rls_update(&m->rls, outputs + m->first_y, self->u + m->first_u);
  }
}

// Does the coupling error grow? Models that led there are learnt anew.
static bool ask_guard(mpsm* self, const double y[]) {
  const int64_t n_alarms = self->guard.n_alarms;
  const bool is_guarded = yoke__mpsm_guard_observe(&self->guard, &self->guard_rules, self->eps, y,
                                                   self->decision.weight > 0);
  for (size_t k = 0; k < self->n_units && self->has_guard && self->guard.n_alarms > n_alarms; k++) {
    yoke_rls* rls = &self->members[k].rls;
    yoke__rls_restart(rls, rls->setup.start_variance);
  }
  return is_guarded && self->has_guard;
}

// Phase, weight and the model's inputs.
static void decide(mpsm* self, const yoke_coupling_moment* now, const double y[]) {
  const double* outputs = y + self->n_signals;
  const yoke_mpsm_sample sample = {.y = outputs, .u = self->u, .g = self->g};
  double error = 0, condition = 1;
  yoke_mpsm_evidence seen = {.t = (double)now->k * self->interval, .step = self->interval};
  seen.is_guarded = ask_guard(self, y);
  const bool is_sound = learn(self, outputs, &error);
  yoke_status status = YOKE_OK;
  if (is_sound && seen.t >= self->rules.t_learning) {
    status = renew(self, &condition);
  }
  if (self->cluster->is_ready && status >= 0) {
    // without step 3 where that is what the error allows
    const bool is_full = error < self->rules.th_modified;
    status = yoke__mpsm_step(self->cluster, &sample, is_full, self->model, NULL);
  } else {
    yoke__mpsm_error(self->cluster, &sample);
    yoke__mpsm_accept(self->cluster, &sample);
  }
  seen.has_model = is_sound && (status >= 0 || status == YOKE_SINGULAR || status == YOKE_DIVERGED);
  seen.is_finite = status != YOKE_DIVERGED && status != YOKE_BAD_ARG;
  seen.condition = condition;
  seen.e_glob = error;
  self->decision = yoke__mpsm_decide(&self->rules, &self->course, &seen);
  if (self->decision.weight <= 0) {
    yoke__mpsm_forget(self->cluster);
  }
  if (seen.t >= self->rules.t_learning && yoke__is_finite(error)) {
    self->error_sum += error;
    self->error_max = fmax(self->error_max, error);
    self->n_errors++;
  }
}

static double value_at(const mpsm* self, size_t i, double tau) {
  const yoke_polynomial* p = &self->signals[i];
  const yoke_polynomial_weights w = yoke__polynomial_at(tau / self->interval);
  const double signal = yoke__polynomial_sum(p, self->orders[i], w, p->u);
  const double weight = self->decision.weight;
  if (weight <= 0) {
    return signal;
  }
  const double model = self->model[self->slot[i]];
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
    take_sample(self, y, outputs + self->p);
    decide(self, now, y);
  }
  memcpy(self->u_last, self->u, self->s * sizeof(double));
  memcpy(self->y_last, outputs, self->p * sizeof(double));
  for (size_t i = 0; i < self->n_signals; i++) {
    self->given[i] = value_at(self, i, self->interval);
  }
}

// ---------------------------------------------------------------------------------------------------------
// between exchanges

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
  for (size_t i = 0; i < self->sinks[sink].n; i++) {
    const yoke_polynomial* p = &self->signals[first + i];
    // the model's inputs are held
    du[i] = (1 - self->decision.weight) * yoke__polynomial_sum(p, self->orders[first + i], w, 0);
  }
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
    n_resets += (double)self->members[k].rls.counts->n_resets;
  }
  values[n] = n_resets;
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
  for (size_t k = 0; k < self->n_units; k++) {
    yoke__rls_forget_history(&self->members[k].rls);
  }
  yoke__mpsm_forget(self->cluster);
}

const yoke_coupling_ops yoke__couple_mpsm = {
    .name = "mpsm",
    .text = "model-based pre-step stabilisation of a cluster, models identified while running",
    .flags = YOKE_COUPLING_CLUSTER | YOKE_COUPLING_JACOBI,
    .parameters = parameters,
    .n_parameters = N_PARAMETERS,
    .health_names = health_names,
    .n_health = N_HEALTH,
    .size = mpsm_size,
    .prepare = mpsm_prepare,
    .observe = mpsm_observe,
    .input = mpsm_input,
    .input_derivatives = mpsm_input_derivatives,
    .health = mpsm_health,
    .reset = mpsm_reset,
};
