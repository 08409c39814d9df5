// Two units coupled by the kernels of method `mpsm` themselves, u = L y + g: a second way to the figures of
// the system files, without master, units or reader, and the way to forms of the literature that the method does not have:
// several lags by Gilbert's realisation or read off, subspace models over a moving window. The models start from zero or
// from those of another run, resampled to this step.
#ifndef YOKE_TEST_MPSM_LOOP_H
#define YOKE_TEST_MPSM_LOOP_H

#include "base/base_arena.h"
#include "base/base_message.h"
#include "couple/couple_mpsm_phase.h"
#include "couple/couple_mpsm_predict.h"
#include "identify/identify_file.h"
#include "identify/identify_moesp.h"
#include "identify/identify_quality.h"
#include "identify/identify_rls.h"
#include "scenarios/scenario_run.h"
#include "support/mpsm_rules.h"
#include "support/rls_forms.h"

enum { LOOP_UNITS = 2, LOOP_MAX = 6, LOOP_ALL = 10, LOOP_PARAMETERS = LOOP_MAX * (1 + LOOP_MAX) };
enum { LOOP_SAMPLES = 1024 };  // of a subspace model, at most

// Parameters of the units' models at some time, those of each output one after another.
typedef struct loop_models {
  double step;  // [s]
  double p[LOOP_UNITS][LOOP_PARAMETERS];
} loop_models;

typedef struct loop_case {
  size_t n[LOOP_UNITS], m[LOOP_UNITS];  // outputs, inputs
  const double* L;                      // inputs x outputs
  double step;                          // exchange interval [s]
  double t_learning, t_switch;          // [s]
  double variance;                      // P0
  const loop_models* models;            // NULL: from zero
  void* context;
  void (*start)(void* context, double y[]);
  void (*drive)(void* context, double t, double g[]);  // g is zero before; NULL: stays so
  void (*advance)(void* context, double t, const double u[], double y[]);  // over one exchange
  bool uses_ede;
  // 0: as published, N = M = 1, least squares
  size_t n_y_lags, n_u_lags;
  bool is_direct;  // the second lag of the inputs goes to S0
  size_t window;   // samples of a subspace model
  double th_signal, th_modified;
  double t_models;       // when the models are taken ...
  loop_models* take_to;  // ... NULL: never
} loop_case;

typedef struct loop_unit {
  size_t n, m, first_y, first_u;
  yoke_rls rls;
  void* block;
  yoke_jacobian_discrete jacobian;
  yoke_identify_range range;
  double Sy[LOOP_MAX * LOOP_MAX], S0[LOOP_MAX * LOOP_MAX], S1[LOOP_MAX * LOOP_MAX];
  double low[LOOP_MAX], high[LOOP_MAX];
  yoke_moesp* solver;
  double samples[LOOP_SAMPLES * 2 * LOOP_MAX], work[1024];
  size_t n_samples;
} loop_unit;

typedef struct loop {
  const loop_case* about;
  size_t p, s;
  loop_unit units[LOOP_UNITS];
  void* memory;
  yoke_mpsm* cluster;
  yoke_mpsm_rules rules;
  yoke_mpsm_course course;
  double y[LOOP_ALL], y_last[LOOP_ALL], g[LOOP_ALL], w[LOOP_ALL], u[LOOP_ALL], u_last[LOOP_ALL];
} loop;

static inline void loop_load(loop_unit* unit, const double from[], double ratio, double variance) {
  double to[LOOP_PARAMETERS];
  const size_t q = 1 + unit->m;
  for (size_t i = 0; i < unit->n; i++) {
    check_ok(yoke__rls_resample(from[i * q], unit->m, from + i * q + 1, ratio, &to[i * q],
                                to + i * q + 1));
  }
  check_ok(yoke__rls_load(&unit->rls, to, variance));
}

static inline void loop_open_unit(loop* self, size_t k) {
  const loop_case* c = self->about;
  loop_unit* unit = &self->units[k];
  YOKE_CATCH(err);
  unit->n = c->n[k];
  unit->m = c->m[k];
  unit->first_y = self->p;
  unit->first_u = self->s;
  self->p += unit->n;
  self->s += unit->m;
  const size_t N = c->n_y_lags > 0 ? c->n_y_lags : 1, M = c->n_u_lags > 0 ? c->n_u_lags : 1;
  const yoke_rls_setup setup = {unit->n, unit->m, N, M, 0.996, c->variance};
  unit->block = aligned_alloc(64, (yoke__rls_size(&setup) + 63) / 64 * 64);
  check_ok(yoke__rls_prepare(&unit->rls, &setup, unit->block, &err.sink));
  unit->jacobian = (yoke_jacobian_discrete){unit->n, unit->m, unit->Sy, unit->S0, unit->S1};
  unit->range = (yoke_identify_range){unit->n, unit->low, unit->high};
  yoke__identify_range_start(&unit->range);
  if (c->window > 0) {
    const yoke_moesp_setup moesp = {
        .n = unit->n, .m = unit->m, .order = unit->n, .window = c->window};
    check_ok(yoke__moesp_create(&moesp, &unit->solver, &err.sink));
    assert_true(yoke__moesp_jacobian_work_size(unit->n, unit->m, unit->n) <=
                sizeof unit->work / sizeof unit->work[0]);
  }
  if (c->models != NULL) {
    loop_load(unit, c->models->p[k], c->step / c->models->step, c->variance);
  }
}

static inline void loop_open(loop* self, const loop_case* c) {
  *self = (loop){.about = c};
  for (size_t k = 0; k < LOOP_UNITS; k++) {
    loop_open_unit(self, k);
  }
  yoke_mpsm_options options = yoke__mpsm_options_default();
  options.time = YOKE_MPSM_DISCRETE;
  options.uses_ede = c->uses_ede;
  const yoke_mpsm_setup setup = {.n_units = LOOP_UNITS,
                                 .n_outputs = c->n,
                                 .n_inputs = c->m,
                                 .L = c->L,
                                 .step = c->step,
                                 .has_exogenous = true,
                                 .options = options};
  self->memory = calloc(1, yoke__mpsm_size(&setup));
  assert_non_null(self->memory);
  check_ok(yoke__mpsm_prepare(self->memory, &setup, &self->cluster));
  self->rules = mpsm_rules();
  self->rules.t_learning = c->t_learning;
  self->rules.t_switch = c->t_switch;
  self->rules.is_blended = c->t_switch > 0;
  self->rules.th_signal = c->th_signal > 0 ? c->th_signal : self->rules.th_signal;
  self->rules.th_modified = c->th_modified > 0 ? c->th_modified : self->rules.th_modified;
  c->start(c->context, self->y);
}

static inline void loop_close(loop* self) {
  for (size_t k = 0; k < LOOP_UNITS; k++) {
    free(self->units[k].block);
    yoke__moesp_destroy(&self->units[k].solver);
  }
  free(self->memory);
}

// g, and w = L y + g.
static inline void loop_couple(loop* self, double t) {
  memset(self->g, 0, sizeof self->g);
  if (self->about->drive != NULL) {
    self->about->drive(self->about->context, t, self->g);
  }
  for (size_t i = 0; i < self->s; i++) {
    self->w[i] = self->g[i];
    for (size_t j = 0; j < self->p; j++) {
      self->w[i] += self->about->L[i * self->p + j] * self->y[j];
    }
  }
}

// A subspace model of the last samples, from the end of learning on.
static inline void loop_find_subspace(loop* self, loop_unit* unit, double t, const double y[],
                                      const double u[]) {
  const size_t width = unit->n + unit->m;
  assert_true(unit->n_samples < LOOP_SAMPLES);
  memcpy(unit->samples + unit->n_samples * width, y, unit->n * sizeof *y);
  memcpy(unit->samples + unit->n_samples * width + unit->n, u, unit->m * sizeof *u);
  unit->n_samples++;
  if (t < self->rules.t_learning) {
    return;
  }
  const size_t window = self->about->window;
  const size_t n = unit->n_samples < window ? unit->n_samples : window;
  yoke_moesp_model model;
  check_ok(
      yoke__moesp_solve(unit->solver, n, unit->samples + (unit->n_samples - n) * width, &model));
  check_ok(yoke__moesp_jacobian(&model, YOKE_MOESP_SHIFTED, &unit->jacobian, unit->work));
}

static inline void loop_identify(loop* self, loop_unit* unit, double t, const double y[],
                                 const double u[]) {
  if (unit->solver != NULL) {
    loop_find_subspace(self, unit, t, y, u);
    return;
  }
  yoke__rls_update(&unit->rls, y, u);
  if (self->about->is_direct) {
    rls_direct(&unit->rls, &unit->jacobian);
  } else {
    rls_gilbert(&unit->rls, &unit->jacobian);
  }
}

// The models learn; how far they miss the step that ended (21).
static inline double loop_learn(loop* self, double t) {
  double errors[LOOP_UNITS], y_bar[LOOP_MAX];
  for (size_t k = 0; k < LOOP_UNITS; k++) {
    loop_unit* unit = &self->units[k];
    const double *y = self->y + unit->first_y, *u = self->u + unit->first_u;
    yoke__identify_range_observe(&unit->range, y);
    loop_identify(self, unit, t, y, u);
    yoke__jacobian_predict(&unit->jacobian, self->y_last + unit->first_y,
                           self->u_last + unit->first_u, u, y_bar);
    errors[k] = yoke__identify_error(&unit->range, y, y_bar);
    check_ok(yoke__mpsm_set_discrete(self->cluster, k, &unit->jacobian));
  }
  return yoke__identify_error_of_all(LOOP_UNITS, errors);
}

static inline void loop_start(loop* self) {
  memcpy(self->u, self->w, sizeof self->u);
  yoke__mpsm_start(self->cluster, self->y, self->u, self->g);
  for (size_t k = 0; k < LOOP_UNITS; k++) {
    loop_unit* unit = &self->units[k];
    yoke__identify_range_observe(&unit->range, self->y + unit->first_y);
    yoke__rls_update(&unit->rls, self->y + unit->first_y, self->u + unit->first_u);
    yoke__rls_jacobian(&unit->rls, &unit->jacobian);
    check_ok(yoke__mpsm_set_discrete(self->cluster, k, &unit->jacobian));
  }
  memcpy(self->u_last, self->u, sizeof self->u);
}

// Inputs of the next step.
static inline void loop_decide(loop* self, double t, double error) {
  double model[LOOP_ALL] = {0}, next[LOOP_ALL] = {0};
  const yoke_mpsm_sample now = {.y = self->y, .u = self->u, .g = self->g};
  yoke_status status = yoke__mpsm_assemble(self->cluster);
  if (status >= 0) {
    status = yoke__mpsm_step(self->cluster, &now, error < self->rules.th_modified, model, NULL);
  }
  const yoke_mpsm_evidence seen = {.t = t,
                                   .step = self->about->step,
                                   .has_model = true,
                                   .is_finite = status >= 0,
                                   .condition = self->cluster->condition,
                                   .e_glob = error};
  const yoke_mpsm_decision d = yoke__mpsm_decide(&self->rules, &self->course, &seen);
  for (size_t i = 0; i < self->s; i++) {
    next[i] = d.weight <= 0   ? self->w[i]
              : d.weight >= 1 ? model[i]
                              : d.weight * model[i] + (1 - d.weight) * self->w[i];
  }
  if (d.weight <= 0) {
    yoke__mpsm_forget(self->cluster);
  }
  memcpy(self->u_last, self->u, sizeof self->u);
  memcpy(self->u, next, sizeof self->u);
}

static inline void loop_take_models(const loop* self) {
  self->about->take_to->step = self->about->step;
  for (size_t i = 0; i < LOOP_UNITS; i++) {
    yoke__rls_read(&self->units[i].rls, self->about->take_to->p[i]);
  }
}

// Outputs at all exchange points.
static inline scenario_run loop_run(const loop_case* c, size_t n_steps) {
  static loop self;
  loop_open(&self, c);
  scenario_run run = scenario_run_make(self.p, n_steps + 1);
  for (size_t k = 0; k <= n_steps; k++) {
    const double t = (double)k * c->step;
    for (size_t i = 0; i < self.p && run.y[i] != NULL; i++) {
      run.y[i][k] = self.y[i];
    }
    loop_couple(&self, t);
    if (k == 0) {
      loop_start(&self);
    } else {
      loop_decide(&self, t, loop_learn(&self, t));
    }
    if (c->take_to != NULL && (size_t)lround(c->t_models / c->step) == k) {
      loop_take_models(&self);
    }
    memcpy(self.y_last, self.y, sizeof self.y);
    c->advance(c->context, t, self.u, self.y);
  }
  loop_close(&self);
  return run;
}

// A file of models against those of a loop. The least squares start from next to nothing, and magnify the
// order of summation of the outputs accordingly: every parameter to 1e-7 of itself.
static inline void loop_check_models(const loop_models* models, const size_t n[], const size_t m[],
                                     const char* name) {
  char path[1024];
  YOKE_CATCH(err);
  yoke_arena arena = {0};
  yoke_identified file;
  if (yoke__identified_read(scenario_path(name, path, sizeof path), &arena, &file, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(file.n_units, LOOP_UNITS);
  for (size_t k = 0; k < LOOP_UNITS; k++) {
    assert_true(file.units[k].n == n[k] && file.units[k].m == m[k]);
    check_relative(file.units[k].step, models->step, 1e-12);
    for (size_t i = 0; i < n[k] * (1 + m[k]); i++) {
      check_relative(file.units[k].parameters[i], models->p[k][i], 1e-7);
    }
  }
  yoke__arena_free(&arena);
}

// Largest difference of two runs over the largest value of a signal.
static inline double loop_difference(const scenario_run* one, const scenario_run* two) {
  double worst = 0;
  for (size_t i = 0; i < one->n_signals; i++) {
    double most = 0, largest = 0;
    for (size_t k = 0; k < one->n; k++) {
      most = fmax(most, fabs(one->y[i][k] - two->y[i][k]));
      largest = fmax(largest, fabs(one->y[i][k]));
    }
    worst = fmax(worst, most / largest);
  }
  return worst;
}

#endif
