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
// Source: mpsm specification 2 to 8, after S. Genser, thesis, Graz 2020.
// Assumes explicit Jacobi, one exchange interval, units without memory of the exchange grid.
#include "couple/couple_mpsm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "couple/couple_mpsm_change.h"
#include "couple/couple_mpsm_mbcorr.h"
#include "couple/couple_mpsm_models.h"
#include "couple/couple_mpsm_phase.h"
#include "couple/couple_pieces.h"
#include "couple/couple_polynomial.h"

enum {
  LEARNING,
  SWITCHING,
  TH_SIGNAL,
  TH_MODIFIED,
  JACOBIANS,
  EDE,
  TIME,
  SHAPE,
  GOAL,
  EDE_SOLVER,
  EDE_STEPS,
  BETWEEN,
  EXTRAPOLATION,
  EXTRAPOLATION_STEPS,
  QUADRATURE_STEPS,
  INNER,
  RATES,
  FORGETTING,
  START_VARIANCE,
  Y_LAGS,
  U_LAGS,
  FORM,
  KEEP_AT,
  WINDOW,
  MODEL_ORDER,
  BLOCK_ROWS,
  PAIRING,
  RENEW,
  N_BACK,
  COND_MAX,
  GUARD,
  N_PARAMETERS
};

static const char* const jacobian_items[] = {"rls", "moesp", "provided", NULL};
static const char* const ede_items[] = {"off", "on", "reset", NULL};
static const char* const time_items[] = {"auto", "discrete", "continuous", NULL};
static const char* const shape_items[] = {"constant", "ramp", "ramp-mean", NULL};
static const char* const goal_items[] = {"end", "trapezoid", NULL};
static const char* const solver_items[] = {"exact", "euler", NULL};
static const char* const between_items[] = {"linear", "held", "model", NULL};
static const char* const rate_items[] = {"exchange", "own", NULL};
static const char* const form_items[] = {"gilbert", "direct", NULL};
static const char* const pairing_items[] = {"shifted", "aligned", NULL};
static const char* const switch_items[] = {"off", "on", NULL};

#define SETTINGS(ede_default)                                                                      \
  {                                                                                                \
    [LEARNING] = {"learning", "time before an identified model is used, in exchange intervals",    \
                  220,        0,                                                                   \
                  1e9,        NULL},                                                               \
    [SWITCHING] = {"switching",                                                                    \
                   "time in which the inputs go over to the model's, in exchange intervals",       \
                   5,                                                                              \
                   0,                                                                              \
                   1e9,                                                                            \
                   NULL},                                                                          \
    [TH_SIGNAL] = {"th_signal",                                                                    \
                   "error of the models from which on signals are extrapolated",                   \
                   3.54,                                                                           \
                   0,                                                                              \
                   (double)INFINITY,                                                               \
                   NULL},                                                                          \
    [TH_MODIFIED] = {"th_modified",                                                                \
                     "error from which on the inputs are not optimised",                           \
                     0.21,                                                                         \
                     0,                                                                            \
                     (double)INFINITY,                                                             \
                     NULL},                                                                        \
    [JACOBIANS] = {"jacobians", "where the models come from", 0, 0, 2, jacobian_items},            \
    [EDE] = {"ede", "correction of past coupling errors (step 1)", ede_default, 0, 2, ede_items},  \
    [TIME] = {"time", "steps 1 and 2; continuous only with provided models, and then the default", \
              0,      0,                                                                           \
              2,      time_items},                                                                 \
    [SHAPE] = {"shape",    "of the inputs over a step; ramps in continuous time only", 0, 0, 2,    \
               shape_items},                                                                       \
    [GOAL] = {"goal", "what step 3 aims at", 0, 0, 1, goal_items},                                 \
    [EDE_SOLVER] = {"ede_solver", "of step 1 in continuous time", 0, 0, 1, solver_items},          \
    [EDE_STEPS] = {"ede_steps", "of the Euler solver of step 1", 1, 1, 1e6, NULL},                 \
    [BETWEEN] = {"between", "the coupling error inside a step, for step 1 in continuous time",     \
                 0,         0,                                                                     \
                 2,         between_items},                                                        \
    [EXTRAPOLATION] = {"extrapolation", "solver of step 2 in continuous time", 0, 0, 1,            \
                       solver_items},                                                              \
    [EXTRAPOLATION_STEPS] =                                                                        \
        {"extrapolation_steps", "of the Euler solver of step 2", 1000, 1, 1e6, NULL},              \
    [QUADRATURE_STEPS] = {"quadrature_steps",                                                      \
                          "Riemann sums in place of the matrix exponential; 0: exact",             \
                          0,                                                                       \
                          0,                                                                       \
                          1e6,                                                                     \
                          NULL},                                                                   \
    [INNER] =                                                                                      \
        {"inner", "step 1 uses what the units gave between exchanges", 0, 0, 1, switch_items},     \
    [RATES] = {"rates",                                                                            \
               "samples that a model is learnt from: one per exchange, or one per call of "        \
               "its unit (experimental)",                                                          \
               0,                                                                                  \
               0,                                                                                  \
               1,                                                                                  \
               rate_items},                                                                        \
    [FORGETTING] = {"forgetting",                                                                  \
                    "of the least squares: weight of a sample one exchange older",                 \
                    0.996,                                                                         \
                    0.5,                                                                           \
                    1,                                                                             \
                    NULL},                                                                         \
    [START_VARIANCE] = {"start_variance",                                                          \
                        "of the parameters of the models, at the start; 0: 1e6, or 1e2 if models " \
                        "are loaded",                                                              \
                        0,                                                                         \
                        0,                                                                         \
                        1e12,                                                                      \
                        NULL},                                                                     \
    [Y_LAGS] = {"y_lags", "past outputs in a model", 1, 1, YOKE_RLS_MAX_LAGS, NULL},               \
    [U_LAGS] = {"u_lags", "past inputs in a model", 1, 1, YOKE_RLS_MAX_LAGS, NULL},                \
    [FORM] = {"form", "how a model with several lags becomes Jacobians", 0, 0, 1, form_items},     \
    [KEEP_AT] = {"keep_at", "exchange whose models are written with the results; 0: the last one", \
                 0,         0,                                                                     \
                 1e15,      NULL},                                                                 \
    [WINDOW] = {"window", "samples of a subspace identification", 778, 10, 1e6, NULL},             \
    [MODEL_ORDER] =                                                                                \
        {"model_order", "states of a subspace model; 0: as many as outputs", 0, 0, 100, NULL},     \
    [BLOCK_ROWS] =                                                                                 \
        {"block_rows", "of a subspace identification; 0: order + 2, at least 4", 0, 0, 100, NULL}, \
    [PAIRING] = {"pairing",    "which input belongs to an output in a subspace model", 0, 0, 1,    \
                 pairing_items},                                                                   \
    [RENEW] = {"renew",                                                                            \
               "exchanges from the end of a window to the use of its model; 0: computed in the "   \
               "step",                                                                             \
               10,                                                                                 \
               0,                                                                                  \
               1e6,                                                                                \
               NULL},                                                                              \
    [N_BACK] =                                                                                     \
        {                                                                                          \
            "n_back", "good exchanges before a model is used again after a fallback", 1, 1, 1e6,   \
            NULL},                                                                                 \
    [COND_MAX] = {"cond_max",                                                                      \
                  "condition of the coupled models from which on signals are extrapolated",        \
                  1e10,                                                                            \
                  1,                                                                               \
                  (double)INFINITY,                                                                \
                  NULL},                                                                           \
    [GUARD] = {                                                                                    \
        "guard",     "signals are extrapolated too where the coupling error grows", 1, 0, 1,       \
        switch_items},                                                                             \
  }

static const yoke_coupling_parameter mpsm_parameters[N_PARAMETERS] = SETTINGS(0);
static const yoke_coupling_parameter mbcorr_parameters[N_PARAMETERS] = SETTINGS(2);

static const yoke_coupling_file files[] = {
    {"models", "models of an earlier run to start from (jacobians: rls)"},
};
enum { MODELS, N_FILES };

static const char* const trace_names[] = {"phase", "weight", "error", "condition"};
enum { PHASE, WEIGHT, ERROR, CONDITION, N_TRACE };

static const char* const health_names[] = {
    "n_learn",     "n_signal",   "n_modified", "n_full",     "n_no_model", "n_not_finite",
    "n_condition", "n_quality",  "n_guard",    "error_mean", "error_max",  "condition",
    "n_alarms",    "n_resets",   "n_changes",  "n_relearnt", "n_models",   "n_late",
    "n_failed",    "is_refused", "growth",
};
enum { N_HEALTH = sizeof health_names / sizeof health_names[0] };

typedef struct mpsm {
  const yoke_coupling_sink* sinks;
  const int* orders;
  const double* offset;
  double interval;
  size_t n_signals, n_exogenous, n_units, p, s;
  bool has_guard, is_corrector;
  yoke_mpsm_models* models;
  yoke_mpsm* cluster;  // the one in use
  yoke_mpsm* spare;    // for identified models, if provided ones are refused; NULL: not needed
  yoke_mpsm_rules rules;
  yoke_mpsm_course course;
  yoke_mpsm_guard guard;
  yoke_mpsm_guard_rules guard_rules;
  yoke_mpsm_change change;
  yoke_mpsm_decision decision;
  yoke_polynomial* signals;       // n_signals
  size_t *slot, *exogenous_slot;  // where a signal, an input from outside stands among the s inputs
  double* L;                      // s x p
  double *g, *u, *u_last, *y_last;  // s, s, s, p
  double *model, *slope;        // s: inputs by the model at the end of the step, their rise [1/s]
  double *given, *given_start;  // n_signals: inputs at the end of the step and at its start
  double* u_start;              // s
  double *eps, *corrector, *work;   // n_signals; s, s: w~ of the last exchange
  double* inner;                    // n_rows x p: outputs between exchanges
  size_t n_rows;                    // of them
  size_t *inner_output, n_samples;  // n_signals: the output that a signal tells; p: none
  bool has_slopes;
  double error_sum, error_max;
  int64_t n_errors;
  double trace[N_TRACE];
} mpsm;

// ---------------------------------------------------------------------------------------------------------
// set-up

#define MAX_UNITS 64

static yoke_mpsm_source source_of(const double v[]) {
  return (yoke_mpsm_source)(int)v[JACOBIANS];
}

// Samples that the prediction gets per step: one, or as many as the units are called.
static size_t samples_of(const yoke_coupling_setup* setup) {
  return setup->parameters[INNER] > 0 && setup->n_signals > 0 ? (size_t)setup->n_sends[0] : 1;
}

// Rows of outputs that are kept between exchanges.
static size_t rows_of(const yoke_coupling_setup* setup) {
  size_t most = 1;
  const bool is_kept = setup->parameters[INNER] > 0 || setup->parameters[RATES] > 0;
  for (size_t i = 0; i < setup->n_signals && is_kept; i++) {
    most = (size_t)setup->n_sends[i] > most ? (size_t)setup->n_sends[i] : most;
  }
  return most;
}

yoke_mpsm_options yoke__couple_mpsm_options(const double parameters[], bool is_corrector,
                                            bool is_provided) {
  const double* v = parameters;
  yoke_mpsm_options o = yoke__mpsm_options_default();
  o.time = !is_provided || v[TIME] == 1 ? YOKE_MPSM_DISCRETE : YOKE_MPSM_CONTINUOUS;
  o.shape = o.time == YOKE_MPSM_DISCRETE ? YOKE_MPSM_CONSTANT : (yoke_mpsm_shape)(int)v[SHAPE];
  o.uses_ede = v[EDE] > 0;
  o.resets_ede = v[EDE] > 1;
  o.between = (yoke_mpsm_between)(int)v[BETWEEN];
  o.n_ede_steps = v[EDE_SOLVER] > 0 ? (size_t)v[EDE_STEPS] : 0;
  o.n_extrapolation_steps = v[EXTRAPOLATION] > 0 ? (size_t)v[EXTRAPOLATION_STEPS] : 0;
  o.n_quadrature_steps = (size_t)v[QUADRATURE_STEPS];
  o.is_trapezoid = v[GOAL] > 0;
  o.cond_max = v[COND_MAX];
  o.wants_mean = is_corrector;
  return o;
}

// The cluster as the prediction wants it. n_outputs, n_inputs: MAX_UNITS each.
static yoke_mpsm_setup predict_of(const yoke_coupling_setup* setup, bool is_corrector,
                                  bool is_provided, size_t n_outputs[], size_t n_inputs[]) {
  const yoke_coupling_cluster* c = setup->cluster;
  for (size_t k = 0; k < c->n_units && k < MAX_UNITS; k++) {
    n_outputs[k] = c->units[k].n_outputs;
    n_inputs[k] = c->units[k].n_signals + c->units[k].n_exogenous;
  }
  static const double one = 1;
  return (yoke_mpsm_setup){
      .n_units = c->n_units < MAX_UNITS ? c->n_units : MAX_UNITS,
      .n_outputs = n_outputs,
      .n_inputs = n_inputs,
      .L = &one,
      .step = setup->interval,
      .n_samples = samples_of(setup),
      .has_exogenous = true,
      .input_scale = &one,
      .options = yoke__couple_mpsm_options(setup->parameters, is_corrector, is_provided)};
}

yoke_mpsm_models_setup yoke__couple_mpsm_models(const yoke_coupling_setup* setup) {
  const double* v = setup->parameters;
  const char* path = setup->files == NULL ? NULL : setup->files[MODELS];
  const double variance = path == NULL ? YOKE_RLS_P0 : YOKE_RLS_P0_LOAD;
  return (yoke_mpsm_models_setup){
      .cluster = setup->cluster,
      .source = source_of(v),
      .rls = {.n_y_lags = (size_t)v[Y_LAGS],
              .n_u_lags = (size_t)v[U_LAGS],
              .forgetting = v[FORGETTING],
              .start_variance = v[START_VARIANCE] > 0 ? v[START_VARIANCE] : variance,
              .form = (yoke_rls_form)(int)v[FORM]},
      .moesp = {.n_rows = (size_t)v[BLOCK_ROWS],
                .order = (size_t)v[MODEL_ORDER],
                .window = (size_t)v[WINDOW],
                .rule = YOKE_MOESP_FIXED,
                .pairing = (yoke_moesp_pairing)(int)v[PAIRING]},
      .delay = (size_t)v[RENEW],
      .first_use = (size_t)ceil(v[LEARNING]),
      .path = path,
      .step = setup->interval,
      .sinks = v[RATES] > 0 ? setup->sinks : NULL,
      .n_sinks = setup->n_sinks,
      .keep_at = (int64_t)v[KEEP_AT]};
}

static yoke_mpsm_rules rules_of(const yoke_coupling_setup* setup) {
  const double* v = setup->parameters;
  return (yoke_mpsm_rules){.is_identified = source_of(v) != YOKE_MPSM_PROVIDED,
                           .t_learning = v[LEARNING] * setup->interval,
                           .t_switch = v[SWITCHING] * setup->interval,
                           .th_signal = v[TH_SIGNAL],
                           .th_modified = v[TH_MODIFIED],
                           .cond_max = v[COND_MAX],
                           .n_back = (size_t)v[N_BACK],
                           .is_blended = true};
}

static mpsm outline(const yoke_coupling_setup* setup, bool is_corrector) {
  const yoke_coupling_cluster* c = setup->cluster;
  mpsm self = {.sinks = setup->sinks,
               .orders = setup->orders,
               .offset = c->offset,
               .interval = setup->interval,
               .n_signals = setup->n_signals,
               .n_exogenous = c->n_exogenous,
               .n_units = c->n_units < MAX_UNITS ? c->n_units : MAX_UNITS,
               .p = c->n_outputs,
               .s = setup->n_signals + c->n_exogenous,
               .has_guard = setup->parameters[GUARD] > 0,
               .is_corrector = is_corrector,
               .rules = rules_of(setup),
               .n_samples = samples_of(setup),
               .n_rows = rows_of(setup),
               .guard_rules = yoke__mpsm_guard_rules_default(),
               .has_slopes = setup->parameters[SHAPE] == 1};
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
  self->inner_output = yoke__take(from, n, sizeof(size_t));
  double** const of_s[] = {&self->g,     &self->u,       &self->u_last,    &self->model,
                           &self->slope, &self->u_start, &self->corrector, &self->work};
  for (size_t i = 0; i < sizeof of_s / sizeof of_s[0]; i++) {
    *of_s[i] = yoke__take(from, s, sizeof(double));
  }
  self->L = yoke__take(from, s * p, sizeof(double));
  self->y_last = yoke__take(from, p, sizeof(double));
  self->given = yoke__take(from, n, sizeof(double));
  self->given_start = yoke__take(from, n, sizeof(double));
  self->eps = yoke__take(from, n, sizeof(double));
  self->inner = yoke__take(from, self->n_rows * p, sizeof(double));
}

static size_t size_of(const yoke_coupling_setup* setup, bool is_corrector) {
  size_t n_outputs[MAX_UNITS], n_inputs[MAX_UNITS];
  mpsm self = outline(setup, is_corrector);
  const bool is_provided = source_of(setup->parameters) == YOKE_MPSM_PROVIDED;
  yoke_pieces count = {NULL, 0};
  (void)yoke__take(&count, 1, sizeof self);
  lay_vectors(&count, &self);
  (void)yoke__take(&count, self.s, sizeof(double));  // scale
  (void)yoke__take(&count, yoke__mpsm_guard_size(self.n_signals), sizeof(double));
  const yoke_mpsm_models_setup models = yoke__couple_mpsm_models(setup);
  (void)yoke__take(&count, yoke__mpsm_models_size(&models), 1);
  for (int i = 0; i < (is_provided ? 2 : 1); i++) {
    const yoke_mpsm_setup predict =
        predict_of(setup, is_corrector, is_provided && i == 0, n_outputs, n_inputs);
    (void)yoke__take(&count, yoke__mpsm_size(&predict), 1);
  }
  (void)yoke__take(&count, yoke__mpsm_change_size(self.n_units, n_outputs, n_inputs), 1);
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
      self->g[at] = isnan(c->offset[signal]) ? 0 : c->offset[signal];
      scale[at] = 1;
      memcpy(self->L + at * self->p, c->L + signal * self->p, self->p * sizeof(double));
    }
    for (size_t i = 0; i < unit->n_exogenous; i++, at++) {
      self->exogenous_slot[unit->first_exogenous + i] = at;
      scale[at] = FIXED;
    }
  }
}

// The output that a signal tells between exchanges: signal = L outputs + offset with one output in it.
static size_t told_output(const yoke_coupling_cluster* c, size_t signal) {
  size_t n = 0, which = c->n_outputs;
  for (size_t j = 0; j < c->n_outputs; j++) {
    n += c->L[signal * c->n_outputs + j] != 0;
    which = c->L[signal * c->n_outputs + j] != 0 ? j : which;
  }
  return n == 1 && !isnan(c->offset[signal]) ? which : c->n_outputs;
}

static yoke_status check_told(const yoke_coupling_setup* setup, char* err, size_t err_size) {
  const yoke_coupling_cluster* c = setup->cluster;
  for (size_t j = 0; j < c->n_outputs; j++) {
    bool is_told = false;
    for (size_t i = 0; i < setup->n_signals; i++) {
      is_told = is_told || told_output(c, i) == j;
    }
    if (!is_told) {
      snprintf(err, err_size, "inner: on and rates: own need connections without a law in between");
      return YOKE_BAD_ARG;
    }
  }
  return YOKE_OK;
}

static yoke_status check_inner(const yoke_coupling_setup* setup, char* err, size_t err_size) {
  for (size_t i = 1; i < setup->n_signals; i++) {
    if (setup->n_sends[i] != setup->n_sends[0]) {
      snprintf(err, err_size,
               "inner: on needs units that are called equally often between exchanges (%lld and "
               "%lld)",
               (long long)setup->n_sends[0], (long long)setup->n_sends[i]);
      return YOKE_BAD_ARG;
    }
  }
  return YOKE_OK;
}

static yoke_status check(const yoke_coupling_setup* setup, bool is_corrector, char* err,
                         size_t err_size) {
  const yoke_coupling_cluster* c = setup->cluster;
  const double* v = setup->parameters;
  const char* wrong = NULL;
  if (c->n_units > MAX_UNITS) {
    snprintf(err, err_size, "%zu units; it serves at most %d", c->n_units, MAX_UNITS);
    return YOKE_BAD_ARG;
  }
  if (c->n_outputs > YOKE_MPSM_MAX_SIGNALS ||
      setup->n_signals + c->n_exogenous > YOKE_MPSM_MAX_SIGNALS) {
    snprintf(err, err_size, "%zu outputs and %zu inputs; it serves at most %d of each",
             c->n_outputs, setup->n_signals + c->n_exogenous, YOKE_MPSM_MAX_SIGNALS);
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
  const bool is_provided = source_of(v) == YOKE_MPSM_PROVIDED;
  if (v[TH_MODIFIED] > v[TH_SIGNAL]) {
    snprintf(err, err_size, "th_modified (%g) must not be above th_signal (%g)", v[TH_MODIFIED],
             v[TH_SIGNAL]);
    return YOKE_BAD_ARG;
  }
  if (v[TIME] == 2 && !is_provided) {
    wrong = "time: continuous needs jacobians: provided; identified models are discrete";
  } else if (v[SHAPE] > 0 && (!is_provided || v[TIME] == 1)) {
    wrong = "shape: ramp and ramp-mean need jacobians: provided and continuous time";
  } else if (v[RATES] > 0 && (source_of(v) != YOKE_MPSM_BY_RLS || v[Y_LAGS] > 1 || v[U_LAGS] > 1)) {
    wrong = "rates: own needs jacobians: rls with one lag";
  } else if (is_corrector && v[SHAPE] > 0) {
    wrong = "mbcorr holds its inputs: shape must be constant";
  } else if (is_corrector && v[EDE] == 0) {
    wrong = "mbcorr is made of step 1: ede must be on or reset";
  } else if (source_of(v) != YOKE_MPSM_BY_RLS && setup->files != NULL &&
             setup->files[MODELS] != NULL) {
    wrong = "models of a file are for jacobians: rls";
  }
  for (size_t i = 0; i < setup->n_sinks && v[SHAPE] == 1 && wrong == NULL; i++) {
    if (setup->sinks[i].step > 0.75 * setup->interval) {
      wrong = "shape: ramp needs units that are called several times between exchanges";
    }
  }
  if (wrong != NULL) {
    snprintf(err, err_size, "%s", wrong);
    return YOKE_BAD_ARG;
  }
  if (v[INNER] > 0 || v[RATES] > 0) {
    YOKE_TRY(check_told(setup, err, err_size));
  }
  return v[INNER] > 0 ? check_inner(setup, err, err_size) : YOKE_OK;
}

static yoke_status prepare(void* memory, const yoke_coupling_setup* setup, bool is_corrector,
                           char* err, size_t err_size) {
  YOKE_TRY(check(setup, is_corrector, err, err_size));
  size_t n_outputs[MAX_UNITS], n_inputs[MAX_UNITS];
  yoke_pieces from = {memory, 0};
  mpsm* self = yoke__take(&from, 1, sizeof *self);
  *self = outline(setup, is_corrector);
  lay_vectors(&from, self);
  double* scale = yoke__take(&from, self->s, sizeof(double));
  double* guard = yoke__take(&from, yoke__mpsm_guard_size(self->n_signals), sizeof(double));
  place_inputs(setup, self, scale);
  for (size_t i = 0; i < self->n_signals; i++) {
    self->inner_output[i] = told_output(setup->cluster, i);
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
    void* part = yoke__take(&from, yoke__mpsm_size(&predict), 1);
    YOKE_TRY(yoke__mpsm_prepare(part, &predict, i == 0 ? &self->cluster : &self->spare));
  }
  void* watched = yoke__take(&from, yoke__mpsm_change_size(self->n_units, n_outputs, n_inputs), 1);
  YOKE_TRY(yoke__mpsm_change_prepare(&self->change, self->n_units, n_outputs, n_inputs, watched,
                                     err, err_size));
  // last, since it takes memory of its own
  return yoke__mpsm_models_prepare(block, &models, &self->models, err, err_size);
}

static yoke_status mpsm_prepare(void* memory, const yoke_coupling_setup* setup, char* err,
                                size_t err_size) {
  return prepare(memory, setup, false, err, err_size);
}

static yoke_status mbcorr_prepare(void* memory, const yoke_coupling_setup* setup, char* err,
                                  size_t err_size) {
  return prepare(memory, setup, true, err, err_size);
}

static void mpsm_close(void* memory) {
  mpsm* self = memory;
  yoke__mpsm_models_close(self->models);
}

static uint32_t mpsm_wants(const double v[]) {
  const yoke_mpsm_source source = source_of(v);
  return (source == YOKE_MPSM_PROVIDED ? YOKE_WANTS_LINEAR : 0) |
         (source == YOKE_MPSM_BY_MOESP && v[RENEW] > 0 ? YOKE_WANTS_WORKER : 0) |
         (v[INNER] > 0 || v[RATES] > 0 ? YOKE_WANTS_SENDS : 0);
}

static const char* mpsm_warn(const double v[]) {
  if (source_of(v) == YOKE_MPSM_BY_MOESP && v[RENEW] == 0) {
    return "renew: 0 computes subspace models in the step, which then takes milliseconds";
  }
  return source_of(v) == YOKE_MPSM_BY_MOESP
             ? "subspace identification is fragile: most settings are worse than held signals; "
               "jacobians: rls is the safer choice"
             : NULL;
}

// ---------------------------------------------------------------------------------------------------------
// at an exchange

// Inputs of the last step, and what comes from outside now.
static void take_sample(mpsm* self, const double y[], const double exogenous[]) {
  const double* outputs = y + self->n_signals;
  for (size_t i = 0; i < self->n_exogenous; i++) {
    // what was there at the last exchange has acted since
    const size_t at = self->exogenous_slot[i];
    self->u[at] = self->u_start[at] = self->g[at];
    self->g[at] = exogenous[i];
  }
  for (size_t i = 0; i < self->n_signals; i++) {
    const size_t at = self->slot[i];
    self->u[at] = self->given[i];
    self->u_start[at] = self->given_start[i];
    self->eps[i] = y[i] - self->given[i];
    yoke__polynomial_observe(&self->signals[i], y[i]);
    if (isnan(self->offset[i])) {
      self->g[at] = y[i];
      for (size_t j = 0; j < self->p; j++) {
        self->g[at] -= self->L[at * self->p + j] * outputs[j];
      }
    }
  }
}

// What the prediction is told.
static yoke_mpsm_sample sample_of(const mpsm* self, const double outputs[]) {
  return (yoke_mpsm_sample){.y = outputs,
                            .u = self->u,
                            .u_start = self->has_slopes ? self->u_start : NULL,
                            .g = self->g,
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

// Does the coupling error grow? Models that led there are learnt anew.
static bool ask_guard(mpsm* self, const double y[]) {
  const int64_t n_alarms = self->guard.n_alarms;
  const bool is_guarded = yoke__mpsm_guard_observe(&self->guard, &self->guard_rules, self->eps, y,
                                                   self->decision.weight > 0);
  if (self->has_guard && self->guard.n_alarms > n_alarms) {
    yoke__mpsm_models_relearn(self->models);
  }
  return is_guarded && self->has_guard;
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

// Phase, weight and the model's inputs.
static void decide(mpsm* self, const yoke_coupling_moment* now, const double y[]) {
  const double* outputs = y + self->n_signals;
  const yoke_mpsm_sample sample = sample_of(self, outputs);
  yoke_mpsm_evidence seen = {.t = (double)now->k * self->interval, .step = self->interval};
  seen.is_guarded = ask_guard(self, y);
  const yoke_mpsm_passed passed = {.y_last = self->y_last,
                                   .u_last = self->u_last,
                                   .u = self->u,
                                   .y = outputs,
                                   .u_start = self->u_start,
                                   .between = self->inner};
  const bool is_sound =
      yoke__mpsm_models_observe(self->models, self->cluster, now->worker, &passed);
  const double error = self->models->error;
  const bool is_learning = self->rules.is_identified && seen.t < self->rules.t_learning;
  // provided models know changes by themselves
  if (self->models->source != YOKE_MPSM_PROVIDED) {
    yoke__mpsm_change_observe(&self->change, outputs, self->u, is_learning);
  }
  yoke_status status = YOKE_OK;
  if (is_sound && !is_learning) {
    status = yoke__mpsm_models_renew(self->models, self->cluster);
    if (yoke__mpsm_models_give_up(self->models)) {
      learn_instead(self, outputs);
      self->rules.t_learning += seen.t;
    }
  }
  if (self->cluster->is_ready && status >= 0) {
    status = predict(self, &sample, error);
  } else {
    yoke__mpsm_error(self->cluster, &sample);
    yoke__mpsm_accept(self->cluster, &sample);
  }
  seen.has_model = is_sound && (status >= 0 || status == YOKE_SINGULAR || status == YOKE_DIVERGED);
  seen.is_finite = status != YOKE_DIVERGED && status != YOKE_BAD_ARG;
  seen.condition = is_sound && !is_learning ? self->cluster->condition : 1;
  seen.e_glob = error;
  self->decision = yoke__mpsm_decide(&self->rules, &self->course, &seen);
  self->trace[PHASE] = (double)self->decision.phase;
  self->trace[WEIGHT] = self->decision.weight;
  self->trace[ERROR] = yoke__is_finite(error) ? error : (double)NAN;
  self->trace[CONDITION] = yoke__is_finite(seen.condition) ? seen.condition : (double)NAN;
  if (self->decision.weight <= 0) {
    yoke__mpsm_forget(self->cluster);
  }
  if (!is_learning && yoke__is_finite(error)) {
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
  const size_t at = self->slot[i];
  const double model = self->model[at] - self->slope[at] * (self->interval - tau);
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
    self->given[i] = value_at(self, i, self->interval);
    self->given_start[i] = value_at(self, i, 0);
  }
}

// ---------------------------------------------------------------------------------------------------------
// between exchanges

static void mpsm_send(void* memory, size_t signal, int64_t j, double y) {
  mpsm* self = memory;
  const size_t at = self->slot[signal], output = self->inner_output[signal];
  if (j >= 1 && (size_t)j < self->n_rows && output < self->p) {
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
    du[i] = weight * slope + (1 - weight) * yoke__polynomial_sum(p, self->orders[first + i], w, 0);
  }
}

// ---------------------------------------------------------------------------------------------------------
// what it says

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
  values[n++] = (double)self->change.n_changes;
  values[n++] = (double)self->change.n_relearnt;
  values[n++] = (double)self->models->n_models;
  values[n++] = (double)self->models->n_late;
  values[n++] = (double)self->models->n_failed;
  values[n++] = self->models->is_refused;
  values[n] = self->models->growth;
}

static const double* mpsm_trace(const void* memory) {
  const mpsm* self = memory;
  return self->trace;
}

static void tell_refusal(const yoke_mpsm_models* models, char* to, size_t size) {
  switch (models->refusal) {
  case YOKE_MPSM_NOT_REFUSED:
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

static void mpsm_tell(const void* memory, char* to, size_t size) {
  const mpsm* self = memory;
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
  if (self->n_errors > 0 && n < size) {
    n += (size_t)snprintf(to + n, size - n, "; the models miss a step by %.2g on average",
                          self->error_sum / (double)self->n_errors);
  }
  if (self->change.n_changes > 0 && n < size) {
    n += (size_t)snprintf(to + n, size - n, ", %lld times a unit changed, %lld times relearnt",
                          (long long)self->change.n_changes, (long long)self->change.n_relearnt);
  }
  if (n < size) {
    tell_refusal(self->models, to + n, size - n);
  }
}

static yoke_status mpsm_write(const void* memory, const char* path, char* err, size_t err_size) {
  const mpsm* self = memory;
  return yoke__mpsm_models_write(self->models, path, err, err_size);
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
  yoke__mpsm_change_forget(&self->change);
  yoke__mpsm_forget(self->cluster);
}

#define TABLE                                                                                      \
  .flags = YOKE_COUPLING_CLUSTER | YOKE_COUPLING_JACOBI, .n_parameters = N_PARAMETERS,             \
  .files = files, .n_files = N_FILES, .health_names = health_names, .n_health = N_HEALTH,          \
  .trace_names = trace_names, .n_trace = N_TRACE, .trace = mpsm_trace, .close = mpsm_close,        \
  .wants = mpsm_wants, .observe = mpsm_observe, .send = mpsm_send, .input = mpsm_input,            \
  .input_derivatives = mpsm_input_derivatives, .health = mpsm_health, .reset = mpsm_reset,         \
  .warn = mpsm_warn, .tell = mpsm_tell, .write = mpsm_write

const yoke_coupling_ops yoke__couple_mpsm = {
    .name = "mpsm",
    .text = "model-based pre-step stabilisation of a cluster",
    .parameters = mpsm_parameters,
    .size = mpsm_size,
    .prepare = mpsm_prepare,
    TABLE,
};

const yoke_coupling_ops yoke__couple_mbcorr = {
    .name = "mbcorr",
    .text = "model-based corrector of a cluster: a reconstruction, for comparison",
    .parameters = mbcorr_parameters,
    .size = mbcorr_size,
    .prepare = mbcorr_prepare,
    TABLE,
};
