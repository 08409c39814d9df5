// Models of the units of a cluster: identified by least squares or by subspaces, or provided by the units.
//
// Provided ones come as x' = A x + B u, y = C x + D u and become Jy = C A C+ and so on; with more states than outputs
// that is a surrogate, which is reported, and it is refused if it grows when it is coupled. Source: S. Genser, thesis,
// Graz 2020, sections 2.1 and 2.3. Page: docs/couple_mpsm.md, "Where the models come from".
#include "couple/couple_mpsm_models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_arena.h"
#include "base/base_check.h"
#include "couple/couple_pieces.h"
#include "identify/identify_file.h"

// ---------------------------------------------------------------------------------------------------------
// memory

static size_t inputs_of(const yoke_coupling_unit* unit) {
  return unit->n_signals + unit->n_exogenous;
}

static yoke_rls_setup rls_of(const yoke_mpsm_models_setup* setup, const yoke_coupling_unit* unit) {
  yoke_rls_setup rls = setup->rls;
  rls.n = unit->n_outputs;
  rls.m = inputs_of(unit);
  return rls;
}

// As many states as outputs: more would be left out by the pseudo inverse.
static yoke_moesp_setup moesp_of(const yoke_moesp_setup* all, const yoke_coupling_unit* unit) {
  yoke_moesp_setup moesp = *all;
  moesp.n = unit->n_outputs;
  moesp.m = inputs_of(unit);
  moesp.order = unit->n_outputs;
  moesp.n_rows = yoke__moesp_rows(&moesp);
  return moesp;
}

static yoke_identify_states states_of(const yoke_mpsm_member* member, const double linear[]) {
  const size_t n_x = member->about->n_states, n = member->n, m = member->m;

  // one behind the other as the unit writes them: A, B, C, D, each by rows
  return (yoke_identify_states){.n_states = n_x,
                                .n = n,
                                .m = m,
                                .A = linear,
                                .B = linear + n_x * n_x,
                                .C = linear + n_x * (n_x + m),
                                .D = linear + n_x * (n_x + m) + n * n_x};
}

static yoke_jacobian_discrete take_discrete(yoke_pieces* from, size_t n, size_t m) {
  return (yoke_jacobian_discrete){.n = n,
                                  .m = m,
                                  .Sy = yoke__take(from, n * n, sizeof(double)),
                                  .S0 = yoke__take(from, n * m, sizeof(double)),
                                  .S1 = yoke__take(from, n * m, sizeof(double))};
}

static void lay_provided(yoke_pieces* from, yoke_mpsm_member* to) {
  const size_t n = to->n, m = to->m, n_x = to->about->n_states;

  // numbers of [A, B; C, D]
  to->n_linear = (n_x + n) * (n_x + m);
  to->provided = (yoke_jacobian_continuous){.n = n,
                                            .m = m,
                                            .Jy = yoke__take(from, n * n, sizeof(double)),
                                            .Ju = yoke__take(from, n * m, sizeof(double)),
                                            .Jd = yoke__take(from, n * m, sizeof(double))};
  to->linear_used = yoke__take(from, to->n_linear, sizeof(double));
  const yoke_identify_states states = {.n_states = n_x, .n = n, .m = m};
  to->states_work = yoke__take(from, yoke__jacobian_states_work_size(&states), sizeof(double));
}

static void lay_subspace(yoke_pieces* from, const yoke_moesp_setup* setup, double forgetting,
                         yoke_mpsm_member* to) {
  const size_t n_factor = yoke__moesp_factor_size(setup);
  double* factor = yoke__take(from, n_factor, sizeof(double));
  double* copy = yoke__take(from, n_factor, sizeof(double));
  to->found = take_discrete(from, to->n, to->m);
  to->found_work =
      yoke__take(from, yoke__moesp_jacobian_work_size(to->n, to->m, setup->order), sizeof(double));
  if (from->base != NULL && n_factor > 0) {
    yoke__moesp_factor_prepare(&to->factor, setup, forgetting, factor);
    yoke__moesp_factor_prepare(&to->factor_copy, setup, forgetting, copy);
  }
}

// With a base of NULL it only counts.
static void lay_member(yoke_pieces* from, const yoke_mpsm_models_setup* setup, size_t k,
                       yoke_mpsm_member* to, void** rls_block) {
  const yoke_coupling_unit* about = &setup->cluster->units[k];
  const yoke_rls_setup rls = rls_of(setup, about);
  const size_t n = rls.n, m = rls.m;
  *to = (yoke_mpsm_member){.about = about, .n = n, .m = m, .range = {.n = n}};
  *rls_block = yoke__take(from, yoke__rls_size(&rls), 1);
  to->jacobian = take_discrete(from, n, m);
  to->range.low = yoke__take(from, n, sizeof(double));
  to->range.high = yoke__take(from, n, sizeof(double));
  to->loaded = yoke__take(from, n * (rls.n_y_lags + rls.n_u_lags * m), sizeof(double));
  if (setup->source == YOKE_MPSM_PROVIDED && about->has_linear) {
    lay_provided(from, to);
  }
  if (setup->source == YOKE_MPSM_BY_MOESP) {
    const yoke_moesp_setup moesp = moesp_of(&setup->moesp, about);
    lay_subspace(from, &moesp, rls.forgetting, to);
  }
}

static void lay_rest(yoke_pieces* from, const yoke_mpsm_models_setup* setup, yoke_mpsm_models* to) {
  const yoke_coupling_cluster* c = setup->cluster;
  const bool has_memory = setup->source != YOKE_MPSM_BY_MOESP && setup->rls.n_y_lags > 1;
  to->y_bar = yoke__take(from, c->n_outputs, sizeof(double));
  to->errors = yoke__take(from, c->n_units, sizeof(double));
  to->bias = yoke__take(from, c->n_outputs, sizeof(double));
  to->spread = yoke__take(from, c->n_outputs, sizeof(double));
  to->known = has_memory ? yoke__take(from, c->n_outputs, sizeof(double)) : NULL;
}

size_t yoke__mpsm_models_size(const yoke_mpsm_models_setup* setup) {
  yoke_pieces count = {NULL, 0};
  yoke_mpsm_models models;
  (void)yoke__take(&count, 1, sizeof models);
  (void)yoke__take(&count, setup->cluster->n_units, sizeof(yoke_mpsm_member));
  for (size_t k = 0; k < setup->cluster->n_units; k++) {
    yoke_mpsm_member one;
    void* block = NULL;
    lay_member(&count, setup, k, &one, &block);
  }
  lay_rest(&count, setup, &models);
  return count.used;
}

// ---------------------------------------------------------------------------------------------------------
// saved models

static yoke_status load_unit(yoke_mpsm_member* member, const yoke_mpsm_models_setup* setup,
                             const yoke_identified* models, const yoke_sink* sink) {
  const yoke_rls_setup* rls = &member->rls.setup;
  const yoke_identified_want want = {.name = member->about->name,
                                     .step = setup->step,
                                     .n = member->n,
                                     .m = member->m,
                                     .outputs = member->about->output_names,
                                     .inputs = member->about->input_names,
                                     .n_y_lags = rls->n_y_lags,
                                     .n_u_lags = rls->n_u_lags};
  YOKE_TRY(yoke__identified_fit(models, setup->path, &want, member->loaded, sink));
  return yoke__rls_load(&member->rls, member->loaded, rls->start_variance);
}

static yoke_status load(yoke_mpsm_models* models, const yoke_mpsm_models_setup* setup,
                        const yoke_sink* sink) {
  if (setup->path == NULL) {
    return YOKE_OK;
  }
  yoke_arena arena = {0};
  yoke_identified saved = {0};
  yoke_status status = yoke__identified_read(setup->path, &arena, &saved, sink);
  for (size_t k = 0; k < models->n_units && status >= 0; k++) {
    status = load_unit(&models->members[k], setup, &saved, sink);
  }
  yoke__arena_free(&arena);
  // a file that cannot be opened is bad input, too
  return status == YOKE_IO ? YOKE_BAD_INPUT : status;
}

static const char** names_or_numbers(yoke_arena* arena, const char* const names[], size_t n,
                                     char letter) {
  const char** to = yoke__arena_array(arena, n + 1, sizeof *to);
  for (size_t i = 0; to != NULL && i < n; i++) {
    char text[32];
    snprintf(text, sizeof text, "%c%zu", letter, i + 1);
    to[i] = names != NULL ? names[i] : yoke__arena_text(arena, text, strlen(text));
  }
  return to;
}

static yoke_status describe_unit(const yoke_mpsm_models* models, size_t k, yoke_arena* arena,
                                 yoke_identified_unit* to) {
  const yoke_mpsm_member* member = &models->members[k];
  const yoke_rls_setup* rls = &member->rls.setup;
  const size_t n = member->n, count = n * member->rls.n_parameters;
  *to = (yoke_identified_unit){
      .name = member->about->name,
      .step = models->step,
      .time = (double)models->k * models->step,
      .n = n,
      .m = member->m,
      .outputs = names_or_numbers(arena, member->about->output_names, n, 'y'),
      .inputs = names_or_numbers(arena, member->about->input_names, member->m, 'u'),
      .n_y_lags = rls->n_y_lags,
      .n_u_lags = rls->n_u_lags,
      .parameters = yoke__arena_array(arena, count, sizeof(double)),
      .variances = yoke__arena_array(arena, n, sizeof(double))};
  YOKE_TRY(yoke__arena_status(arena));
  yoke__rls_read(&member->rls, to->parameters);
  for (size_t i = 0; i < n; i++) {
    to->variances[i] = yoke__rls_mean_variance(&member->rls, i);
  }
  return YOKE_OK;
}

yoke_status yoke__mpsm_models_write(const yoke_mpsm_models* models, const char* path,
                                    const yoke_sink* sink) {
  if (models->source != YOKE_MPSM_BY_RLS || models->k == 0) {
    return YOKE_NO_SUPPORT;
  }
  yoke_arena arena = {0};
  yoke_identified all = {models->n_units,
                         yoke__arena_array(&arena, models->n_units, sizeof *all.units)};
  yoke_status status = yoke__arena_status(&arena);
  for (size_t k = 0; k < models->n_units && status >= 0; k++) {
    status = describe_unit(models, k, &arena, &all.units[k]);
  }
  if (status >= 0) {
    status = yoke__identified_write(path, &all, sink);
  }
  yoke__arena_free(&arena);
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// start and end

static yoke_status prepare_member(yoke_mpsm_models* models, const yoke_mpsm_models_setup* setup,
                                  size_t k, void* rls_block, const yoke_sink* sink) {
  yoke_mpsm_member* member = &models->members[k];
  const yoke_rls_setup rls = rls_of(setup, member->about);
  YOKE_TRY(yoke__rls_prepare(&member->rls, &rls, rls_block, sink));
  yoke__identify_range_start(&member->range);
  if (setup->source != YOKE_MPSM_BY_MOESP) {
    return YOKE_OK;
  }
  const yoke_moesp_setup moesp = moesp_of(&setup->moesp, member->about);

  // fewer samples than this leave the data matrix rank deficient
  const size_t n_least = (moesp.n_rows + 1) * (moesp.n + moesp.m) + moesp.n_rows;
  if (moesp.window < n_least) {
    return yoke_fail(sink, YOKE_BAD_ARG,
                     "jacobians: moesp needs forgetting: %.6g or more for the %zu outputs and %zu "
                     "inputs of '%s'",
                     1 - 1 / (double)n_least, moesp.n, moesp.m, member->about->name);
  }
  return yoke__moesp_create(&moesp, &member->solver, sink);
}

yoke_status yoke__mpsm_models_prepare(void* memory, const yoke_mpsm_models_setup* setup,
                                      yoke_mpsm_models** out, const yoke_sink* sink) {
  const yoke_coupling_cluster* c = setup->cluster;
  yoke_pieces from = {memory, 0};
  yoke_mpsm_models* self = yoke__take(&from, 1, sizeof *self);
  *self = (yoke_mpsm_models){.source = setup->source,
                             .n_units = c->n_units,
                             .moesp = setup->moesp,
                             .step = setup->step,
                             .delay = setup->delay,
                             .first_use = setup->first_use};
  self->members = yoke__take(&from, c->n_units, sizeof *self->members);
  size_t first_u = 0;
  yoke_status status = YOKE_OK;
  for (size_t k = 0; k < c->n_units; k++) {
    void* block = NULL;
    lay_member(&from, setup, k, &self->members[k], &block);
    self->members[k].first_y = c->units[k].first_output;
    self->members[k].first_u = first_u;
    first_u += inputs_of(&c->units[k]);
    // the first unit without a linear model is named
    self->lacking =
        c->units[k].has_linear || self->lacking != NULL ? self->lacking : c->units[k].name;
    status = status < 0 ? status : prepare_member(self, setup, k, block, sink);
  }
  lay_rest(&from, setup, self);
  status = status < 0 ? status : load(self, setup, sink);
  if (status < 0) {
    yoke__mpsm_models_close(self);
    return status;
  }
  *out = self;
  return YOKE_OK;
}

void yoke__mpsm_models_close(yoke_mpsm_models* models) {
  for (size_t k = 0; k < models->n_units; k++) {
    yoke__moesp_destroy(&models->members[k].solver);
  }
}

// ---------------------------------------------------------------------------------------------------------
// provided

#define MOST_WITHOUT 10    // exchanges in a row without a sound model
#define BIAS_SAMPLES 50    // exchanges over which the misses of provided models are averaged
#define BIAS_LEAST   1e-4  // average miss, in ranges of the output, from which on its sign is asked
#define BIAS_SHARE   0.9   // of the misses that must have one sign

// Jacobians of the linear models in the last sample. True: they differ from those in use.
static bool take_provided(yoke_mpsm_models* models, yoke_status* status) {
  bool has_changed = false;
  for (size_t k = 0; k < models->n_units && *status >= 0; k++) {
    yoke_mpsm_member* m = &models->members[k];
    // bytes are compared: the matrices are recomputed only if the unit changed them
    if (memcmp(m->linear, m->linear_used, m->n_linear * sizeof(double)) == 0) {
      continue;
    }
    const yoke_identify_states states = states_of(m, m->linear);
    *status = yoke__jacobian_of_states(&states, &m->provided, NULL, m->states_work);
    if (*status >= 0) {
      memcpy(m->linear_used, m->linear, m->n_linear * sizeof(double));
    } else {
      models->lacking = m->about->name;
    }
    has_changed = true;
  }
  return has_changed;
}

// First rule for provided models: the outputs of a unit tell its states. With more outputs than states they may depend on
// each other and the Jacobians are exact still; with fewer they are a surrogate; with both they are refused.
static yoke_mpsm_refusal judge_rank(yoke_mpsm_models* models) {
  yoke_mpsm_refusal refusal = YOKE_MPSM_NOT_REFUSED;
  for (size_t k = 0; k < models->n_units; k++) {
    yoke_mpsm_member* m = &models->members[k];
    const yoke_identify_states states = states_of(m, m->linear);
    yoke_jacobian_sight sight;
    const yoke_status status =
        yoke__jacobian_check_rank(&states, m->about->name, &sight, &m->rank, NULL);
    if (status < 0) {
      models->is_short = status == YOKE_NO_MEMORY;
      models->lacking = m->about->name;
      return YOKE_MPSM_LACKING;
    }
    const bool is_refused = sight == YOKE_JACOBIAN_PART_TWICE;
    const bool is_surrogate = is_refused || sight == YOKE_JACOBIAN_PART;
    models->n_surrogates += is_surrogate;
    if (is_refused && refusal == YOKE_MPSM_NOT_REFUSED) {
      models->unseen = m;
      refusal = YOKE_MPSM_UNSEEN;
    } else if (is_surrogate && models->unseen == NULL) {
      models->unseen = m;
    }
  }
  return refusal;
}

// Second rule: the surrogate, ideally coupled, must not grow.
static yoke_mpsm_refusal judge(yoke_mpsm_models* models, const double L[]) {
  if (models->lacking != NULL) {
    return YOKE_MPSM_LACKING;
  }
  const yoke_mpsm_refusal refusal = judge_rank(models);
  if (refusal != YOKE_MPSM_NOT_REFUSED) {
    return refusal;
  }
  yoke_status status = YOKE_OK;
  (void)take_provided(models, &status);
  yoke_jacobian_continuous* units = calloc(models->n_units, sizeof *units);
  if (units == NULL) {
    models->is_short = true;
    return YOKE_MPSM_LACKING;
  }
  for (size_t k = 0; k < models->n_units; k++) {
    units[k] = models->members[k].provided;
  }
  status = status < 0
               ? status
               : yoke__jacobian_check_growth(models->n_units, units, L, &models->growth, NULL);
  free(units);
  models->is_short = status == YOKE_NO_MEMORY;
  return status >= 0                ? YOKE_MPSM_NOT_REFUSED
         : status == YOKE_BAD_INPUT ? YOKE_MPSM_GROWS
         : status == YOKE_SINGULAR  ? YOKE_MPSM_LOOP
                                    : YOKE_MPSM_LACKING;
}

static void point_to_linear(yoke_mpsm_models* models, const double linear[]) {
  for (size_t k = 0; k < models->n_units; k++) {
    models->members[k].linear = linear + models->members[k].about->first_linear;
  }
}

// ---------------------------------------------------------------------------------------------------------
// subspace

// Beside the steps: touches what belongs to the work only.
static void find_models(void* argument) {
  yoke_mpsm_models* models = argument;
  for (size_t k = 0; k < models->n_units; k++) {
    yoke_mpsm_member* m = &models->members[k];
    yoke_moesp_model model;
    m->found_status = yoke__moesp_solve_factor(m->solver, &m->factor_copy, &model);
    if (m->found_status >= 0) {
      m->found_status =
          yoke__moesp_jacobian(&model, models->moesp.pairing, &m->found, m->found_work);
    }
  }
}

static void copy_jacobian(const yoke_jacobian_discrete* from, yoke_jacobian_discrete* to) {
  memcpy(to->Sy, from->Sy, from->n * from->n * sizeof(double));
  memcpy(to->S0, from->S0, from->n * from->m * sizeof(double));
  memcpy(to->S1, from->S1, from->n * from->m * sizeof(double));
}

// A model that could not be made leaves the old ones in place.
static void take_over(yoke_mpsm_models* models) {
  bool is_good = !models->is_stale;
  for (size_t k = 0; k < models->n_units; k++) {
    is_good = is_good && models->members[k].found_status >= 0;
  }
  for (size_t k = 0; k < models->n_units && is_good; k++) {
    copy_jacobian(&models->members[k].found, &models->members[k].jacobian);
  }
  models->has_model = models->has_model || is_good;
  models->n_models += is_good;
  models->n_failed += !is_good && !models->is_stale;
  models->is_working = false;
  models->is_stale = false;
}

static bool has_samples(const yoke_mpsm_models* models) {
  for (size_t k = 0; k < models->n_units; k++) {
    const yoke_mpsm_member* m = &models->members[k];
    // a data matrix with at least as many columns as rows
    if (m->factor.n_added < (int64_t)((m->factor.n_rows + 1) * (m->n + m->m))) {
      return false;
    }
  }
  return true;
}

static void identify_subspace(yoke_mpsm_models* models, const yoke_coupling_worker* worker,
                              const double u[], const double y[]) {
  for (size_t k = 0; k < models->n_units; k++) {
    yoke_mpsm_member* m = &models->members[k];
    yoke__moesp_factor_add(&m->factor, y + m->first_y, u + m->first_u);
  }

  // used at a fixed exchange, whenever the work was done: results do not depend on timing
  if (models->is_working && models->k >= models->due) {
    if (worker == NULL || worker->finish(worker->context)) {
      take_over(models);
    } else {
      models->n_late++;
    }
  }

  // the first work starts so early that its model is there at first_use
  if (models->is_working || models->k + (int64_t)models->delay < (int64_t)models->first_use ||
      !has_samples(models)) {
    return;
  }
  // the samples go on while the work is done
  // a copy of the triangular factor, which is all that the solution needs
  for (size_t k = 0; k < models->n_units; k++) {
    yoke__moesp_factor_copy(&models->members[k].factor, &models->members[k].factor_copy);
  }
  models->is_working = true;
  models->due = models->k + (int64_t)models->delay;
  if (worker != NULL) {
    worker->start(worker->context, find_models, models);
  } else {
    find_models(models);
  }
}

// ---------------------------------------------------------------------------------------------------------
// at an exchange

void yoke__mpsm_models_start(yoke_mpsm_models* models, const double L[], const double y[],
                             const double u[], const double linear[]) {
  if (models->source == YOKE_MPSM_PROVIDED) {
    point_to_linear(models, linear);
    models->refusal = judge(models, L);
    models->is_refused = models->refusal != YOKE_MPSM_NOT_REFUSED;
    models->source = models->is_refused ? YOKE_MPSM_BY_RLS : YOKE_MPSM_PROVIDED;
  }
  for (size_t k = 0; k < models->n_units; k++) {
    yoke_mpsm_member* m = &models->members[k];
    yoke__identify_range_observe(&m->range, y + m->first_y);
    yoke__rls_update(&m->rls, y + m->first_y, u + m->first_u);
  }
}

static bool is_sound(const yoke_mpsm_models* models) {
  bool is_every = true;
  for (size_t k = 0; k < models->n_units && models->source == YOKE_MPSM_BY_RLS; k++) {
    // one model that is not sound makes the whole cluster unsound: its solution needs all of them
    is_every = is_every && yoke__rls_is_sound(&models->members[k].rls);
  }
  return models->source == YOKE_MPSM_BY_MOESP ? models->has_model : is_every;
}

static void learn(yoke_mpsm_models* models, const yoke_coupling_worker* worker,
                  const yoke_mpsm_passed* step) {
  if (models->source == YOKE_MPSM_BY_MOESP) {
    identify_subspace(models, worker, step->u, step->y);
  }
  for (size_t k = 0; k < models->n_units && models->source == YOKE_MPSM_BY_RLS; k++) {
    yoke_mpsm_member* m = &models->members[k];
    yoke__rls_update(&m->rls, step->y + m->first_y, step->u + m->first_u);
    yoke__rls_jacobian(&m->rls, &m->jacobian);
  }
}

// Running means of what provided models miss.
static void watch_bias(yoke_mpsm_models* models, const double y[]) {
  // mean over the last 50 exchanges (all of them while there are fewer)
  const double n = models->k < BIAS_SAMPLES ? (double)models->k : BIAS_SAMPLES;
  for (size_t k = 0; k < models->n_units; k++) {
    const yoke_mpsm_member* m = &models->members[k];
    for (size_t i = 0; i < m->n; i++) {
      const size_t at = m->first_y + i;
      const double range = m->range.high[i] - m->range.low[i];
      // y - y_bar in ranges of the output
      const double miss = range > 0 ? (y[at] - models->y_bar[at]) / range : 0;
      // mean += (value - mean) / n: with n fixed at 50 it forgets like 1 - 1/50
      models->bias[at] += (miss - models->bias[at]) / n;
      models->spread[at] += (fabs(miss) - models->spread[at]) / n;
    }
  }
}

// Models with memory: what they say of this exchange, and what they know of the next one.
static void recall(const yoke_mpsm_models* models, const yoke_mpsm_member* m, const double y[]) {
  for (size_t i = 0; i < m->n; i++) {
    // y_bar = y - e, e: what the least squares missed
    models->y_bar[m->first_y + i] = y[m->first_y + i] - m->rls.residual[i];
  }
  yoke__rls_memory(&m->rls, models->known + m->first_y);
}

bool yoke__mpsm_models_observe(yoke_mpsm_models* models, const yoke_mpsm* cluster,
                               const yoke_coupling_worker* worker, const yoke_mpsm_passed* step) {
  const double *u = step->u, *y = step->y;
  models->k++;
  learn(models, worker, step);
  for (size_t k = 0; k < models->n_units; k++) {
    yoke_mpsm_member* m = &models->members[k];
    const yoke_mpsm_unit* unit = &cluster->units[k];
    const yoke_jacobian_discrete provided = {m->n, m->m, unit->sy, unit->s0, unit->s1};
    const yoke_jacobian_discrete* jacobian =
        models->source == YOKE_MPSM_PROVIDED ? &provided : &m->jacobian;
    yoke__identify_range_observe(&m->range, y + m->first_y);
    if (models->known != NULL && models->source == YOKE_MPSM_BY_RLS) {
      recall(models, m, y);
    } else {
      // y_bar = Sy y_last + S0 u_last + S1 u
      yoke__jacobian_predict(jacobian, step->y_last + m->first_y, step->u_last + m->first_u,
                             u + m->first_u, models->y_bar + m->first_y);
    }
    models->errors[k] = yoke__identify_error(&m->range, y + m->first_y, models->y_bar + m->first_y);
  }
  models->error = yoke__identify_error_of_all(models->n_units, models->errors);
  if (models->source == YOKE_MPSM_PROVIDED) {
    watch_bias(models, y);
  }
  return is_sound(models);
}

static yoke_status set_models(const yoke_mpsm_models* models, yoke_mpsm* cluster) {
  for (size_t k = 0; k < models->n_units; k++) {
    const yoke_mpsm_member* m = &models->members[k];
    YOKE_TRY(models->source == YOKE_MPSM_PROVIDED
                 ? yoke__mpsm_set_continuous(cluster, k, &m->provided)
                 : yoke__mpsm_set_discrete(cluster, k, &m->jacobian));
  }
  return yoke__mpsm_assemble(cluster);
}

yoke_status yoke__mpsm_models_renew(yoke_mpsm_models* models, yoke_mpsm* cluster) {
  if (models->source == YOKE_MPSM_PROVIDED) {
    yoke_status status = YOKE_OK;
    const bool has_changed = take_provided(models, &status);
    if (status >= 0 && !has_changed && models->is_set) {
      return YOKE_OK;
    }
    models->is_set = false;
    YOKE_TRY(status);
  }
  const yoke_status status = set_models(models, cluster);
  models->is_set = status >= 0;
  return status;
}

// Do the models miss an output in one direction all the time?
static bool is_biased(const yoke_mpsm_models* models) {
  for (size_t k = 0; k < models->n_units && models->k >= BIAS_SAMPLES; k++) {
    const yoke_mpsm_member* m = &models->members[k];
    for (size_t i = m->first_y; i < m->first_y + m->n; i++) {
      // a miss with one sign all the time: a constant part that Jacobians do not have
      if (models->spread[i] > BIAS_LEAST &&
          fabs(models->bias[i]) > BIAS_SHARE * models->spread[i]) {
        return true;
      }
    }
  }
  return false;
}

bool yoke__mpsm_models_give_up(yoke_mpsm_models* models) {
  models->n_without = models->is_set ? 0 : models->n_without + 1;
  if (models->source != YOKE_MPSM_PROVIDED) {
    return false;
  }
  models->refusal = models->n_without >= MOST_WITHOUT ? YOKE_MPSM_LACKING
                    : is_biased(models)               ? YOKE_MPSM_BIASED
                                                      : YOKE_MPSM_NOT_REFUSED;
  if (models->refusal == YOKE_MPSM_NOT_REFUSED) {
    return false;
  }
  models->source = YOKE_MPSM_BY_RLS;
  models->is_refused = true;
  models->lacking = models->lacking == NULL ? models->members[0].about->name : models->lacking;
  return true;
}

void yoke__mpsm_models_relearn(yoke_mpsm_models* models) {
  for (size_t k = 0; k < models->n_units; k++) {
    yoke_mpsm_member* m = &models->members[k];
    yoke__rls_restart(&m->rls, m->rls.setup.start_variance);
  }
  models->is_stale = models->is_working;
}

void yoke__mpsm_models_forget(yoke_mpsm_models* models) {
  for (size_t k = 0; k < models->n_units; k++) {
    yoke__rls_forget_history(&models->members[k].rls);
    yoke__moesp_factor_break(&models->members[k].factor);
  }
}
