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
  FORM,
  LEVEL,
  SHAPE,
  FORGETTING,
  START_VARIANCE,
  GUARD,
  N_PARAMETERS
};

_Static_assert((int)N_PARAMETERS == (int)YOKE_MPSM_N_PARAMETERS, "as the header says");

// of `form` and `level`
enum { AUTO, PUBLISHED, IMPROVED };

// condition of the coupled models from which on they are not used: half of the digits are gone
#define COND_MAX 1e10
// of models with memory: as many as an oscillator has states
#define N_LAGS 2
// good exchanges before a model is used again after a fallback: the published method has no hysteresis
#define N_BACK 1
// exchanges from the copy of the samples to the use of a subspace model: its solution takes milliseconds
#define RENEW 10
// samples that a subspace model without forgetting counts as
#define MOST_SAMPLES 1e6

static const char* const jacobian_items[] = {"rls", "moesp", "provided", NULL};
static const char* const ede_items[] = {"off", "on", "reset", NULL};
static const char* const form_items[] = {"auto", "published", "memory", NULL};
static const char* const level_items[] = {"auto", "end", "mean", NULL};
static const char* const shape_items[] = {"constant", "ramp", NULL};
static const char* const switch_items[] = {"off", "on", NULL};

// clang-format off
#define SETTINGS(ede_default)                                                                      \
  {                                                                                                \
    [LEARNING] = {"learning", "exchanges before an identified model is used",                      \
                  220, 0, 1e9, NULL},                                                              \
    [SWITCHING] = {"switching",                                                                    \
                   "exchanges over which inputs are blended from extrapolated to predicted",       \
                   5, 0, 1e9, NULL},                                                               \
    [TH_SIGNAL] = {"th_signal", "model error above which mpsm falls back to extrapolation",        \
                   3.54, 0, (double)INFINITY, NULL},                                               \
    [TH_MODIFIED] = {"th_modified", "model error above which step 3 is left out",                  \
                     0.21, 0, (double)INFINITY, NULL},                                             \
    [JACOBIANS] = {"jacobians", "source of the models: least squares, subspaces, the units",       \
                   0, 0, 2, jacobian_items},                                                       \
    [EDE] = {"ede", "correction of past coupling errors (step 1)", ede_default, 0, 2, ede_items},  \
    [FORM] = {"form", "least squares: one lag as published, or two (memory); auto: memory, with "  \
              "ede published",                                                                     \
              0, 0, 2, form_items},                                                                \
    [LEVEL] = {"level", "a held input is the coupled signal at the end of the step, or its mean "  \
               "over the step; auto: mean, with ede or moesp end",                                 \
               0, 0, 2, level_items},                                                              \
    [SHAPE] = {"shape", "inputs over a step; ramp: with provided models and several calls",        \
               0, 0, 1, shape_items},                                                              \
    [FORGETTING] = {"forgetting", "weight of a sample against the next one in identification",     \
                    0.996, 0.5, 1, NULL},                                                          \
    [START_VARIANCE] = {"start_variance",                                                          \
                        "variance of the models at the start; 0: 1e6, or 1e2 if they are loaded",  \
                        0, 0, 1e12, NULL},                                                         \
    [GUARD] = {"guard", "also fall back when the error or the motion keeps growing, or an input "  \
               "is implausible",                                                                   \
               1, 0, 1, switch_items},                                                             \
  }
// clang-format on

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

// Where nothing is named: what was measured to be better. Step 1 is made for the published form, it has no memory and aims at
// the end of the step; with subspace models means are worse.
static bool has_memory(const double v[]) {
  return v[FORM] == IMPROVED || (v[FORM] == AUTO && v[EDE] == 0);
}

static bool is_levelled(const double v[]) {
  return v[LEVEL] == IMPROVED ||
         (v[LEVEL] == AUTO && v[EDE] == 0 && source_of(v) != YOKE_MPSM_BY_MOESP);
}

bool yoke__couple_mpsm_is_published(const double v[]) {
  switch (source_of(v)) {
  case YOKE_MPSM_PROVIDED:
    return true;
  case YOKE_MPSM_BY_MOESP:
    return !is_levelled(v);
  case YOKE_MPSM_BY_RLS:
    break;
  }
  return !is_levelled(v) && !has_memory(v);
}

// The output that a signal tells between exchanges: signal = L outputs + offset with one output in it.
size_t yoke__mpsm_told_output(const yoke_coupling_cluster* c, size_t signal) {
  size_t n = 0, which = c->n_outputs;
  for (size_t j = 0; j < c->n_outputs; j++) {
    n += c->L[signal * c->n_outputs + j] != 0;
    which = c->L[signal * c->n_outputs + j] != 0 ? j : which;
  }
  return n == 1 && !isnan(c->offset[signal]) ? which : c->n_outputs;
}

static bool is_told(const yoke_coupling_setup* setup, size_t output) {
  for (size_t i = 0; i < setup->n_signals; i++) {
    if (yoke__mpsm_told_output(setup->cluster, i) == output) {
      return true;
    }
  }
  return false;
}

// Step 1 uses what the units gave between exchanges where all of them are called equally often and every output
// arrives without a law in between.
size_t yoke__mpsm_samples(const yoke_coupling_setup* setup) {
  if (setup->parameters[EDE] == 0 || setup->n_signals == 0) {
    return 1;
  }
  for (size_t i = 1; i < setup->n_signals; i++) {
    if (setup->n_sends[i] != setup->n_sends[0]) {
      return 1;
    }
  }
  for (size_t j = 0; j < setup->cluster->n_outputs; j++) {
    if (!is_told(setup, j)) {
      return 1;
    }
  }
  return setup->n_sends[0] > 1 ? (size_t)setup->n_sends[0] : 1;
}

yoke_mpsm_options yoke__couple_mpsm_options(const double parameters[], bool is_corrector,
                                            bool is_provided) {
  const double* v = parameters;
  yoke_mpsm_options o = yoke__mpsm_options_default();
  o.time = is_provided ? YOKE_MPSM_CONTINUOUS : YOKE_MPSM_DISCRETE;
  o.shape = is_provided && v[SHAPE] > 0 ? YOKE_MPSM_RAMP : YOKE_MPSM_CONSTANT;
  o.uses_ede = v[EDE] > 0;
  o.resets_ede = v[EDE] > 1;
  o.is_levelled = is_levelled(v) && !is_provided;
  o.cond_max = COND_MAX;
  o.wants_mean = is_corrector;
  return o;
}

// How many samples a forgetting memory is worth.
static size_t samples_of(double forgetting) {
  // 1 / (1 - lambda): the sum of the weights lambda^j
  return (size_t)fmin(floor(1 / (1 - forgetting) + 0.5), MOST_SAMPLES);
}

yoke_mpsm_models_setup yoke__couple_mpsm_models(const yoke_coupling_setup* setup) {
  const double* v = setup->parameters;
  const char* path = setup->files == NULL ? NULL : setup->files[MODELS];
  const double variance = path == NULL ? YOKE_RLS_P0 : YOKE_RLS_P0_LOAD;
  const size_t n_lags = has_memory(v) ? N_LAGS : 1;
  return (yoke_mpsm_models_setup){
      .cluster = setup->cluster,
      .source = source_of(v),
      .rls = {.n_y_lags = n_lags,
              .n_u_lags = n_lags,
              .forgetting = v[FORGETTING],
              .start_variance = v[START_VARIANCE] > 0 ? v[START_VARIANCE] : variance},
      .moesp = {.window = samples_of(v[FORGETTING]), .is_recursive = true},
      .delay = RENEW,
      .first_use = (size_t)ceil(v[LEARNING]),
      .path = path,
      .step = setup->interval};
}

static yoke_mpsm_rules rules_of(const yoke_coupling_setup* setup) {
  const double* v = setup->parameters;
  return (yoke_mpsm_rules){.is_identified = source_of(v) != YOKE_MPSM_PROVIDED,
                           .t_learning = v[LEARNING] * setup->interval,
                           .t_switch = v[SWITCHING] * setup->interval,
                           .th_signal = v[TH_SIGNAL],
                           .th_modified = v[TH_MODIFIED],
                           .cond_max = COND_MAX,
                           .n_back = N_BACK,
                           .is_blended = true};
}

yoke_mpsm_settings yoke__mpsm_settings(const yoke_coupling_setup* setup) {
  const double* v = setup->parameters;
  return (yoke_mpsm_settings){.source = source_of(v),
                              .rules = rules_of(setup),
                              .n_samples = yoke__mpsm_samples(setup),
                              .has_guard = v[GUARD] > 0,
                              .is_ramp = v[SHAPE] > 0};
}

uint32_t yoke__mpsm_wants(const double v[]) {
  const yoke_mpsm_source source = source_of(v);
  return (source == YOKE_MPSM_PROVIDED ? YOKE_WANTS_LINEAR : 0) |
         (source == YOKE_MPSM_BY_MOESP ? YOKE_WANTS_WORKER : 0) |
         (v[EDE] > 0 ? YOKE_WANTS_SENDS : 0);
}

const char* yoke__mpsm_warn(const double v[]) {
  return source_of(v) == YOKE_MPSM_BY_MOESP
             ? "subspace identification is fragile: most settings are worse than held signals; "
               "jacobians: rls is the safer choice"
             : NULL;
}

// ---------------------------------------------------------------------------------------------------------
// what does not go together

static yoke_status check_size(const yoke_coupling_setup* setup, const yoke_sink* sink) {
  const yoke_coupling_cluster* c = setup->cluster;
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
  return YOKE_OK;
}

static const char* contradiction_of(const yoke_coupling_setup* setup, bool is_corrector) {
  const double* v = setup->parameters;
  if (v[FORM] == IMPROVED && v[EDE] > 0) {
    return "form: memory needs ede: off; step 1 has no memory";
  }
  if (v[LEVEL] == IMPROVED && v[EDE] > 0) {
    return "level: mean needs ede: off; step 1 aims at the end of the step";
  }
  if (v[SHAPE] > 0 && source_of(v) != YOKE_MPSM_PROVIDED) {
    return "shape: ramp needs jacobians: provided";
  }
  if (is_corrector && v[SHAPE] > 0) {
    return "mbcorr holds its inputs: shape must be constant";
  }
  if (is_corrector && v[EDE] == 0) {
    return "mbcorr is made of step 1: ede must be on or reset";
  }
  if (source_of(v) != YOKE_MPSM_BY_RLS && setup->files != NULL && setup->files[MODELS] != NULL) {
    return "models of a file are for jacobians: rls";
  }
  for (size_t i = 0; i < setup->n_sinks && v[SHAPE] > 0; i++) {
    if (setup->sinks[i].step > 0.75 * setup->interval) {
      return "shape: ramp needs units that are called several times between exchanges";
    }
  }
  return NULL;
}

yoke_status yoke__mpsm_check(const yoke_coupling_setup* setup, bool is_corrector,
                             const yoke_sink* sink) {
  const double* v = setup->parameters;
  YOKE_TRY(check_size(setup, sink));
  if (v[TH_MODIFIED] > v[TH_SIGNAL]) {
    return yoke_fail(sink, YOKE_BAD_ARG, "th_modified (%g) must not be above th_signal (%g)",
                     v[TH_MODIFIED], v[TH_SIGNAL]);
  }
  const char* wrong = contradiction_of(setup, is_corrector);
  return wrong == NULL ? YOKE_OK : yoke_fail(sink, YOKE_BAD_ARG, "%s", wrong);
}
