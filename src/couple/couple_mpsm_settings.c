// Settings of `mpsm` and `mbcorr`: their table, what they mean, and what does not go together.
#include "couple/couple_mpsm_settings.h"

#include <math.h>

#include "base/base_check.h"

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
  LEVEL,
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
  UPDATE,
  MODEL_ORDER,
  ORDER_RULE,
  BLOCK_ROWS,
  PAIRING,
  RENEW,
  RANK,
  N_BACK,
  COND_MAX,
  GUARD,
  N_PARAMETERS
};

_Static_assert((int)N_PARAMETERS == (int)YOKE_MPSM_N_PARAMETERS, "as the header says");

static const char* const jacobian_items[] = {"rls", "moesp", "provided", NULL};
static const char* const ede_items[] = {"off", "on", "reset", NULL};
static const char* const time_items[] = {"auto", "discrete", "continuous", NULL};
static const char* const shape_items[] = {"constant", "ramp", "ramp-mean", NULL};
static const char* const goal_items[] = {"end", "trapezoid", NULL};
static const char* const level_items[] = {"end", "mean", NULL};
static const char* const solver_items[] = {"exact", "euler", NULL};
static const char* const between_items[] = {"linear", "held", "model", NULL};
static const char* const rate_items[] = {"exchange", "own", NULL};
static const char* const form_items[] = {"gilbert", "direct", "memory", NULL};
static const char* const update_items[] = {"window", "recursive", NULL};
static const char* const rule_items[] = {"fixed", "gap", "tolerance", NULL};
static const char* const pairing_items[] = {"shifted", "aligned", NULL};
static const char* const rank_items[] = {"warn", "refuse", "ignore", NULL};
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
    [LEVEL] = {"level",                                                                            \
               "what a held input stands for: the coupled signal at the end of the step, or its "  \
               "mean over the step",                                                               \
               0,                                                                                  \
               0,                                                                                  \
               1,                                                                                  \
               level_items},                                                                       \
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
    [Y_LAGS] = {"y_lags",                                                                          \
                "past outputs in a model; 0: 1, with form: memory 2",                              \
                0,                                                                                 \
                0,                                                                                 \
                YOKE_RLS_MAX_LAGS,                                                                 \
                NULL},                                                                             \
    [U_LAGS] = {"u_lags",                                                                          \
                "past inputs in a model; 0: as many as of outputs",                                \
                0,                                                                                 \
                0,                                                                                 \
                YOKE_RLS_MAX_LAGS,                                                                 \
                NULL},                                                                             \
    [FORM] = {"form", "how a model with several lags becomes Jacobians", 0, 0, 2, form_items},     \
    [KEEP_AT] = {"keep_at", "exchange whose models are written with the results; 0: the last one", \
                 0,         0,                                                                     \
                 1e15,      NULL},                                                                 \
    [WINDOW] = {"window", "samples of a subspace identification", 778, 10, 1e6, NULL},             \
    [UPDATE] =                                                                                     \
        {"update",                                                                                 \
         "of a subspace identification: over a moving window, or sample by sample, with as "       \
         "long a memory",                                                                          \
         0,                                                                                        \
         0,                                                                                        \
         1,                                                                                        \
         update_items},                                                                            \
    [MODEL_ORDER] =                                                                                \
        {"model_order",                                                                            \
         "states of a subspace model, the most of them unless order_rule is fixed; 0: "            \
         "as many as outputs",                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         100,                                                                                      \
         NULL},                                                                                    \
    [ORDER_RULE] = {"order_rule",                                                                  \
                    "states as given, up to the largest gap of the singular values, or down to "   \
                    "0.001 of the first one",                                                      \
                    0,                                                                             \
                    0,                                                                             \
                    2,                                                                             \
                    rule_items},                                                                   \
    [BLOCK_ROWS] = {"block_rows",                                                                  \
                    "of a subspace identification; 0: model_order + 2, at least 4",                \
                    0,                                                                             \
                    0,                                                                             \
                    100,                                                                           \
                    NULL},                                                                         \
    [PAIRING] = {"pairing",    "which input belongs to an output in a subspace model", 0, 0, 1,    \
                 pairing_items},                                                                   \
    [RENEW] = {"renew",                                                                            \
               "exchanges from the end of a window to the use of its model; 0: computed in the "   \
               "step",                                                                             \
               10,                                                                                 \
               0,                                                                                  \
               1e6,                                                                                \
               NULL},                                                                              \
    [RANK] = {"rank",                                                                              \
              "what is done if the outputs of a unit with provided models do not tell its states", \
              0,                                                                                   \
              0,                                                                                   \
              2,                                                                                   \
              rank_items},                                                                         \
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
    [GUARD] = {"guard", "signals also where error or motion grow, or an input is out of reach",    \
               1,       0,                                                                         \
               1,       switch_items},                                                             \
  }

const yoke_coupling_parameter yoke__mpsm_parameters[YOKE_MPSM_N_PARAMETERS] = SETTINGS(0);
const yoke_coupling_parameter yoke__mbcorr_parameters[YOKE_MPSM_N_PARAMETERS] = SETTINGS(2);

const yoke_coupling_file yoke__mpsm_files[YOKE_MPSM_N_FILES] = {
    {"models", "models of an earlier run to start from (jacobians: rls)"},
};

enum { MODELS };

// ---------------------------------------------------------------------------------------------------------
// what they mean

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
  o.is_levelled = v[LEVEL] > 0 && o.time == YOKE_MPSM_DISCRETE;
  o.cond_max = v[COND_MAX];
  o.wants_mean = is_corrector;
  return o;
}

static size_t y_lags_of(const double v[]) {
  return v[Y_LAGS] > 0 ? (size_t)v[Y_LAGS] : v[FORM] == YOKE_RLS_MEMORY ? 2 : 1;
}

static size_t u_lags_of(const double v[]) {
  return v[U_LAGS] > 0 ? (size_t)v[U_LAGS] : y_lags_of(v);
}

yoke_mpsm_models_setup yoke__couple_mpsm_models(const yoke_coupling_setup* setup) {
  const double* v = setup->parameters;
  const char* path = setup->files == NULL ? NULL : setup->files[MODELS];
  const double variance = path == NULL ? YOKE_RLS_P0 : YOKE_RLS_P0_LOAD;
  static const yoke_moesp_rule rules[] = {YOKE_MOESP_FIXED, YOKE_MOESP_GAP, YOKE_MOESP_TOLERATED};
  return (yoke_mpsm_models_setup){
      .cluster = setup->cluster,
      .source = source_of(v),
      .rls = {.n_y_lags = y_lags_of(v),
              .n_u_lags = u_lags_of(v),
              .forgetting = v[FORGETTING],
              .start_variance = v[START_VARIANCE] > 0 ? v[START_VARIANCE] : variance,
              .form = (yoke_rls_form)(int)v[FORM]},
      .moesp = {.n_rows = (size_t)v[BLOCK_ROWS],
                .order = (size_t)v[MODEL_ORDER],
                .window = (size_t)v[WINDOW],
                .rule = rules[(int)v[ORDER_RULE]],
                .pairing = (yoke_moesp_pairing)(int)v[PAIRING],
                .is_recursive = v[UPDATE] > 0},
      .delay = (size_t)v[RENEW],
      .rank = (yoke_mpsm_rank_rule)(int)v[RANK],
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

yoke_mpsm_settings yoke__mpsm_settings(const yoke_coupling_setup* setup) {
  const double* v = setup->parameters;
  return (yoke_mpsm_settings){.source = source_of(v),
                              .rules = rules_of(setup),
                              .n_samples = samples_of(setup),
                              .n_rows = rows_of(setup),
                              .has_guard = v[GUARD] > 0,
                              .is_ramp = v[SHAPE] == 1};
}

uint32_t yoke__mpsm_wants(const double v[]) {
  const yoke_mpsm_source source = source_of(v);
  return (source == YOKE_MPSM_PROVIDED ? YOKE_WANTS_LINEAR : 0) |
         (source == YOKE_MPSM_BY_MOESP && v[RENEW] > 0 ? YOKE_WANTS_WORKER : 0) |
         (v[INNER] > 0 || v[RATES] > 0 ? YOKE_WANTS_SENDS : 0);
}

const char* yoke__mpsm_warn(const double v[]) {
  if (source_of(v) == YOKE_MPSM_BY_MOESP && v[RENEW] == 0) {
    return "renew: 0 computes subspace models in the step, which then takes milliseconds";
  }
  return source_of(v) == YOKE_MPSM_BY_MOESP
             ? "subspace identification is fragile: most settings are worse than held signals; "
               "jacobians: rls is the safer choice"
             : NULL;
}

// ---------------------------------------------------------------------------------------------------------
// what does not go together

// The output that a signal tells between exchanges: signal = L outputs + offset with one output in it.
size_t yoke__mpsm_told_output(const yoke_coupling_cluster* c, size_t signal) {
  size_t n = 0, which = c->n_outputs;
  for (size_t j = 0; j < c->n_outputs; j++) {
    n += c->L[signal * c->n_outputs + j] != 0;
    which = c->L[signal * c->n_outputs + j] != 0 ? j : which;
  }
  return n == 1 && !isnan(c->offset[signal]) ? which : c->n_outputs;
}

static yoke_status check_told(const yoke_coupling_setup* setup, const yoke_sink* sink) {
  const yoke_coupling_cluster* c = setup->cluster;
  for (size_t j = 0; j < c->n_outputs; j++) {
    bool is_told = false;
    for (size_t i = 0; i < setup->n_signals; i++) {
      is_told = is_told || yoke__mpsm_told_output(c, i) == j;
    }
    if (!is_told) {
      return yoke_fail(sink, YOKE_BAD_ARG,
                       "inner: on and rates: own need connections without a law in between");
    }
  }
  return YOKE_OK;
}

static yoke_status check_inner(const yoke_coupling_setup* setup, const yoke_sink* sink) {
  for (size_t i = 1; i < setup->n_signals; i++) {
    if (setup->n_sends[i] != setup->n_sends[0]) {
      return yoke_fail(
          sink, YOKE_BAD_ARG,
          "inner: on needs units that are called equally often between exchanges (%lld and "
          "%lld)",
          (long long)setup->n_sends[0], (long long)setup->n_sends[i]);
    }
  }
  return YOKE_OK;
}

static yoke_status check_counts(const double v[], const yoke_sink* sink) {
  static const int counts[] = {
      EDE_STEPS, EXTRAPOLATION_STEPS, QUADRATURE_STEPS, Y_LAGS, U_LAGS, KEEP_AT,
      WINDOW,    MODEL_ORDER,         BLOCK_ROWS,       RENEW,  N_BACK};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    const double value = v[counts[i]];
    if (value != floor(value)) {
      return yoke_fail(sink, YOKE_BAD_ARG, "%s must be a whole number, not %g",
                       yoke__mpsm_parameters[counts[i]].name, value);
    }
  }
  return YOKE_OK;
}

yoke_status yoke__mpsm_check(const yoke_coupling_setup* setup, bool is_corrector,
                             const yoke_sink* sink) {
  const yoke_coupling_cluster* c = setup->cluster;
  const double* v = setup->parameters;
  const char* wrong = NULL;
  if (c->n_units > YOKE_MPSM_MAX_UNITS) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%zu units; it serves at most %d", c->n_units,
                     YOKE_MPSM_MAX_UNITS);
  }
  if (c->n_outputs > YOKE_MPSM_MAX_SIGNALS ||
      setup->n_signals + c->n_exogenous > YOKE_MPSM_MAX_SIGNALS) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%zu outputs and %zu inputs; it serves at most %d of each",
                     c->n_outputs, setup->n_signals + c->n_exogenous, YOKE_MPSM_MAX_SIGNALS);
  }
  for (size_t k = 0; k < c->n_units; k++) {
    if (c->units[k].n_signals == 0 || c->units[k].n_outputs == 0) {
      return yoke_fail(
          sink, YOKE_BAD_ARG,
          "'%s' %s the other members; leave it out, or its unit stays a mere source or sink",
          c->units[k].name, c->units[k].n_outputs == 0 ? "gives nothing to" : "takes nothing from");
    }
  }
  const bool is_provided = source_of(v) == YOKE_MPSM_PROVIDED;
  YOKE_TRY(check_counts(v, sink));
  if (v[TH_MODIFIED] > v[TH_SIGNAL]) {
    return yoke_fail(sink, YOKE_BAD_ARG, "th_modified (%g) must not be above th_signal (%g)",
                     v[TH_MODIFIED], v[TH_SIGNAL]);
  }
  if (v[TIME] == 2 && !is_provided) {
    wrong = "time: continuous needs jacobians: provided; identified models are discrete";
  } else if (v[SHAPE] > 0 && (!is_provided || v[TIME] == 1)) {
    wrong = "shape: ramp and ramp-mean need jacobians: provided and continuous time";
  } else if (v[RATES] > 0 && (source_of(v) != YOKE_MPSM_BY_RLS || y_lags_of(v) > 1 ||
                              u_lags_of(v) > 1 || v[FORM] == YOKE_RLS_MEMORY)) {
    wrong = "rates: own needs jacobians: rls with one lag, without form: memory";
  } else if (v[FORM] == YOKE_RLS_MEMORY && v[EDE] > 0) {
    wrong = "form: memory needs ede: off; step 1 has no memory";
  } else if (v[LEVEL] > 0 && (v[EDE] > 0 || v[GOAL] > 0)) {
    wrong = "level: mean needs ede: off and goal: end; steps 1 and 3 aim at the end of the step";
  } else if (v[LEVEL] > 0 && is_provided && v[TIME] != 1) {
    wrong =
        "level: mean needs identified models or time: discrete; in continuous time step 3 finds "
        "the level by itself";
  } else if (v[UPDATE] > 0 && source_of(v) != YOKE_MPSM_BY_MOESP) {
    wrong = "update: recursive needs jacobians: moesp";
  } else if (v[ORDER_RULE] > 0 && source_of(v) != YOKE_MPSM_BY_MOESP) {
    wrong = "order_rule: gap and tolerance need jacobians: moesp";
  } else if (v[RANK] > 0 && !is_provided) {
    wrong = "rank: refuse and ignore need jacobians: provided";
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
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", wrong);
  }
  if (v[INNER] > 0 || v[RATES] > 0) {
    YOKE_TRY(check_told(setup, sink));
  }
  return v[INNER] > 0 ? check_inner(setup, sink) : YOKE_OK;
}
