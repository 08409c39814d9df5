// Bohl exponents of a recorded run; see study_stability_run.h.
//
//   beta(K) = max over windows of ||M_{l+K-1} ... M_l||^(1/K),  norm in units of the signals' ranges
//
// If one beta(K) is below 1, every product of many steps is one of contracting pieces and a bounded rest: the run is
// exponentially stable, whatever the others say; beta(K) of a stable run comes below 1 once K is long enough.
// A unit that is linear by its nature enters with its own model, solved as in the run. Of any other one only its behaviour
// at the exchanges is known, y^{k+1} = Sy y^k + S0 u^k + S1 u^{k+1} as identified, and that stands for it.
// Source: S. Genser, thesis, Graz 2020, section 3.3.2. Page: docs/analyse.md, "A run that was recorded".
// Assumes that nothing was lost or announced as a jump during the run.
#include "study/study_stability_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_status.h"
#include "couple/couple_mpsm.h"
#include "linalg/linalg_dense.h"
#include "study/study_run.h"

#define MAX_BYTES ((size_t)512 << 20)  // of all step matrices

static const yoke_place nowhere = {0};

// One unit with its model.
typedef struct member {
  const yoke_coupling_unit* about;
  yoke_jacobian_discrete served;  // of its signals only; the last ones that could be assembled
  size_t first_u;                 // in the inputs of all units, those from outside included
  double *A, *B;                  // of an identified unit
  bool is_own;
} member;

typedef struct replay {
  yoke_system* system;
  const yoke_group* group;
  const yoke_coupling_setup* setup;
  const yoke_coupling_cluster* cluster;
  const yoke_csv* csv;
  yoke_messages* messages;
  yoke_stability_run* out;
  yoke_arena* arena;
  const double** columns;  // per Y of the system; NULL: not needed
  void* method;            // its memory
  double *sample, *inputs, *g;
  yoke_mpsm_models* models;
  yoke_mpsm bare;  // for the models, which look for the units in it
  yoke_coupling_worker worker;
  bool wants_worker;
  double *u, *u_last, *y_last;  // s, s, p
  size_t s;                     // inputs of all units, those from outside included
  double *low, *high;           // p + n_signals: outputs, then inputs
  double health[YOKE_RUN_N_HEALTH], health_last[YOKE_RUN_N_HEALTH];
  size_t n_health;
  size_t at_phase, at_alarms;  // first of the counters of phases, the alarms, in health
  double t_learning, t_switch, t_back;
  bool has_guard, is_fallen, is_prepared;
  size_t n_errors;
  member* members;
  yoke_stability_unit* parts;
  yoke_stability_solver* solvers;
  yoke_jacobian_discrete* served;
  const double* L;  // signals x outputs
  double *matrices, *scale;
  size_t room;  // steps
} replay;

static void* take(replay* r, size_t n, size_t size) {
  return yoke__arena_array(r->arena, n, size);
}

// ---- what the run was

static size_t find_name(const char* const names[], size_t n, const char* name) {
  size_t i = 0;
  while (i < n && strcmp(names[i], name) != 0) {
    i++;
  }
  return i;
}

static double parameter(const replay* r, const char* name, double otherwise) {
  const yoke_coupling_ops* ops = r->group->ops;
  for (size_t i = 0; i < ops->n_parameters; i++) {
    if (strcmp(ops->parameters[i].name, name) == 0) {
      return r->setup->parameters[i];
    }
  }
  return otherwise;
}

// Names of the counters that must be there: phases in their order, alarms of the guard.
static yoke_status check_method(replay* r) {
  const yoke_coupling_ops* ops = r->group->ops;
  r->n_health = ops->n_health < YOKE_RUN_N_HEALTH ? ops->n_health : YOKE_RUN_N_HEALTH;
  r->at_phase = find_name(ops->health_names, r->n_health, "n_learn");
  r->at_alarms = find_name(ops->health_names, r->n_health, "n_alarms");
  if (ops->form != YOKE_FORM_PRE_STEP || ops->parameters != yoke__couple_mpsm.parameters ||
      r->at_phase + YOKE_MPSM_N_PHASES > r->n_health || r->at_alarms == r->n_health) {
    return yoke__error(r->messages, nowhere, "%s: method '%s' cannot be judged; expected mpsm",
                       r->system->methods[r->group->method].owner, ops->name);
  }
  if (parameter(r, "jacobians", 0) == YOKE_MPSM_PROVIDED) {
    return yoke__error(
        r->messages, nowhere,
        "%s: the units provided the models, none was identified; yoke analyse SYSTEM judges "
        "that",
        r->system->methods[r->group->method].owner);
  }
  if (yoke__mpsm_samples(r->setup) > 1) {
    return yoke__error(r->messages, nowhere,
                       "%s: with ede the method saw outputs between exchanges, which are not "
                       "recorded",
                       r->system->methods[r->group->method].owner);
  }
  if (!yoke__couple_mpsm_is_published(r->setup->parameters)) {
    return yoke__error(
        r->messages, nowhere,
        "%s: runs with form: memory or level: mean are not supported, because their steps depend "
        "on earlier steps. Both are the default: run it with form: published and level: end",
        r->system->methods[r->group->method].owner);
  }
  r->t_learning = parameter(r, "learning", 0) * r->setup->interval;
  r->t_switch = parameter(r, "switching", 0) * r->setup->interval;
  r->has_guard = parameter(r, "guard", 0) > 0;
  r->out->uses_ede = parameter(r, "ede", 0) > 0;
  r->out->resets_ede = parameter(r, "ede", 0) > 1;
  return YOKE_OK;
}

static void find_column(replay* r, size_t y) {
  char name[1024];
  if (r->columns[y] != NULL) {
    return;
  }
  yoke__study_output_name(r->system, y, name, sizeof name);
  const size_t i = yoke__csv_find(r->csv, name);
  if (i < r->csv->n_columns && r->csv->columns[i].is_text) {
    yoke__error(r->messages, nowhere,
                "the column '%s' holds text; expected numbers, since the coupling saw it at every "
                "exchange",
                name);
    r->columns[y] = r->csv->columns[0].values;
    return;
  }
  if (i == r->csv->n_columns) {
    yoke__error(
        r->messages, nowhere,
        "the recording lacks '%s', which the coupling saw at every exchange; record it, for "
        "example with --set 'record.signals=[\"**\"]', and run again",
        name);
    r->columns[y] = r->csv->columns[0].values;
    return;
  }
  r->columns[y] = r->csv->columns[i].values;
  for (size_t k = 0; k < r->csv->n_rows; k++) {
    if (!yoke__is_finite(r->columns[y][k])) {
      yoke__error(r->messages, nowhere, "'%s' is %s at %.9g s; expected a number at every exchange",
                  name, yoke__csv_is_missing(r->columns[y][k]) ? "empty" : "not finite",
                  r->csv->columns[0].values[k]);
      return;
    }
  }
}

static yoke_status find_columns(replay* r) {
  const double* time = r->csv->columns[0].values;
  r->columns = take(r, r->system->n_y, sizeof *r->columns);
  YOKE_TRY_MEMORY(r->columns);
  for (size_t i = 0; i < r->setup->n_signals; i++) {
    find_column(r, r->group->taps[i].from);
  }
  for (size_t i = 0; i < r->setup->n_probes; i++) {
    find_column(r, r->group->probes[i]);
  }
  const double H = r->setup->interval;
  for (size_t k = 0; k < r->csv->n_rows; k++) {
    const double want = r->system->t_start + (double)k * H;
    // the models count steps of one length: each row must be one exchange after the last
    if (fabs(time[k] - want) > 1e-6 * H) {
      yoke__error(r->messages, nowhere,
                  "row %zu of the recording is at %.9g s, expected %.9g s: a row at every exchange "
                  "(%.6g s) from the start; record with every: 1 and from the start on",
                  k + 1, time[k], want, H);
      break;
    }
  }
  return r->messages->n_errors > 0 ? YOKE_BAD_INPUT : YOKE_OK;
}

// The unit that an output belongs to.
static size_t unit_of(const yoke_system* system, size_t y) {
  size_t k = 0;
  while (k + 1 < system->n_units &&
         !(y >= system->units[k].y && y < system->units[k].y + system->units[k].unit.n_y)) {
    k++;
  }
  return k;
}

// Marks every unit that hears, directly or not, of a marked one.
static void spread(const yoke_system* system, bool is_marked[]) {
  bool has_changed = true;

  // reachability by repetition: each pass goes at least one link further, so that it ends after as
  // many passes as there are units
  while (has_changed) {
    has_changed = false;
    for (size_t i = 0; i < system->n_links; i++) {
      const yoke_system_link* link = &system->links[i];
      if (is_marked[link->from_unit] && !is_marked[link->to_unit]) {
        is_marked[link->to_unit] = has_changed = true;
      }
    }
  }
}

// Connections with method: hold from a member or a law to a member, of which the method hears as of signals from outside.
// is_told: units that they start from.
static void report_held(replay* r, const bool is_member[], const bool is_marked[], bool is_told[]) {
  const yoke_system* system = r->system;
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    const size_t from = link->from_unit;
    const bool is_inside = is_member[from] || (system->units[from].is_law && is_marked[from]);
    if (!link->is_held || !is_inside || !is_member[link->to_unit]) {
      continue;
    }
    yoke__error(
        r->messages, nowhere,
        "%s: the connection %s.%s -> %s.%s inside the cluster has `method: hold`, so the loop "
        "through it is not stabilised; this is not supported. Remove it from the connection",
        system->methods[r->group->method].owner, link->source->from.unit,
        link->source->from.variable, link->source->to.unit, link->source->to.variable);
    is_told[from] = true;
  }
}

// What comes from outside must not come back from the members: the method does not serve that way, so the steps of the
// cluster alone say nothing about it.
static yoke_status check_outside(replay* r) {
  const yoke_system* system = r->system;
  bool* is_member = take(r, 3 * system->n_units, sizeof *is_member);
  YOKE_TRY_MEMORY(is_member);
  bool *is_marked = is_member + system->n_units, *is_told = is_marked + system->n_units;
  for (size_t k = 0; k < r->cluster->n_units; k++) {
    const size_t unit = yoke__map_find(&system->unit_index, r->cluster->units[k].name);
    is_member[unit] = is_marked[unit] = true;
  }
  spread(system, is_marked);
  if (r->cluster->n_exogenous > 0) {
    report_held(r, is_member, is_marked, is_told);
  }
  for (size_t i = 0; i < r->cluster->n_exogenous; i++) {
    const size_t from = unit_of(system, r->group->probes[r->cluster->n_outputs + i]);
    if (is_marked[from] && !is_told[from]) {
      yoke__error(r->messages, nowhere,
                  "%s: '%s' is outside the cluster but in a loop with its members, and the method "
                  "does not stabilise that loop: add it to `members`",
                  system->methods[r->group->method].owner, system->units[from].name);
    }
  }
  return r->messages->n_errors > 0 ? YOKE_BAD_INPUT : YOKE_OK;
}

// ---- memory

static bool lay_jacobian(replay* r, size_t n, size_t m, yoke_jacobian_discrete* to) {
  *to = (yoke_jacobian_discrete){n, m, take(r, n * n, sizeof(double)),
                                 take(r, n * m, sizeof(double)), take(r, n * m, sizeof(double))};
  return to->Sy != NULL && to->S0 != NULL && to->S1 != NULL;
}

// Work beside the steps, done at once: when its result counts does not depend on it.
static void do_at_once(void* context, void (*work)(void* argument), void* argument) {
  (void)context;
  work(argument);
}

static bool is_done(void* context) {
  (void)context;
  return true;
}

// The models with the settings of the method, beside its own ones.
static yoke_status lay_models(replay* r) {
  yoke_mpsm_models_setup setup = yoke__couple_mpsm_models(r->setup);
  setup.L = r->L;
  const yoke_sink sink = yoke__messages_sink(r->messages);
  void* block = yoke__arena_take(r->arena, yoke__mpsm_models_size(&setup) + 64);
  r->bare.p = r->cluster->n_outputs;
  r->bare.units = take(r, r->cluster->n_units, sizeof *r->bare.units);
  YOKE_TRY_MEMORY(block && r->bare.units);
  return yoke__mpsm_models_prepare(block, &setup, &r->models, &sink);
}

// The unit's own model with what travels in the cluster.
static yoke_status take_own(replay* r, size_t k, size_t unit, const yoke_linear_unit* model) {
  const yoke_coupling_unit* about = r->members[k].about;
  const yoke_system_unit* of = &r->system->units[unit];
  size_t* list = take(r, about->n_outputs + about->n_signals + 1, sizeof *list);
  YOKE_TRY_MEMORY(list);
  for (size_t i = 0; i < about->n_outputs; i++) {
    list[i] = r->group->probes[about->first_output + i] - of->y;
  }
  for (size_t i = 0; i < about->n_signals; i++) {
    list[about->n_outputs + i] = r->group->taps[about->first_signal + i].to - of->u;
  }

  // the solver as the coupling sees it: inputs without derivatives are held over a call
  r->solvers[k] = model->solver;
  if (of->derivative_order == 0) {
    const double H = r->setup->interval;
    // called once per exchange: one call lasts longer than any step, the whole part is one
    r->solvers[k].call_step = of->step < H * (1 - 1e-9) ? of->step : (double)INFINITY;
  }
  return yoke__linear_select(model, list, about->n_outputs, list + about->n_outputs,
                             about->n_signals, r->arena, &r->parts[k]);
}

// States (y, u) of an identified unit; filled anew at every step.
static yoke_status take_identified(replay* r, size_t k) {
  member* to = &r->members[k];
  const size_t n = to->about->n_outputs, m = to->about->n_signals, N = n + m;
  double *C = take(r, n * N, sizeof *C), *D = take(r, n * m, sizeof *D);
  to->A = take(r, N * N, sizeof *to->A);
  to->B = take(r, N * m, sizeof *to->B);
  YOKE_TRY_MEMORY(C && D && to->A && to->B);

  // x = (y_k, u_k): outputs are the first of them, C = [I, 0], and u_k+1 is taken along,
  // B = [S1; I]; A = [Sy, S0; 0, 0]
  for (size_t i = 0; i < n; i++) {
    C[i * N + i] = 1;
  }
  for (size_t i = 0; i < m; i++) {
    to->B[(n + i) * m + i] = 1;
  }
  r->parts[k] = (yoke_stability_unit){N, m, n, to->A, to->B, C, D};
  r->solvers[k] = (yoke_stability_solver){.is_discrete = true};
  return YOKE_OK;
}

static yoke_status lay_members(replay* r) {
  const size_t n = r->cluster->n_units;
  r->members = take(r, n, sizeof *r->members);
  r->parts = take(r, n, sizeof *r->parts);
  r->solvers = take(r, n, sizeof *r->solvers);
  r->served = take(r, n, sizeof *r->served);
  r->out->names = take(r, n, sizeof *r->out->names);
  r->out->is_own = take(r, n, sizeof *r->out->is_own);
  r->out->solvers = take(r, n, sizeof *r->out->solvers);
  YOKE_TRY_MEMORY(r->members && r->parts && r->solvers && r->served && r->out->names &&
                  r->out->is_own && r->out->solvers);
  for (size_t k = 0; k < n; k++) {
    yoke_linear_unit model;
    r->members[k].about = &r->cluster->units[k];
    const char* name = r->cluster->units[k].name;
    const size_t unit = yoke__map_find(&r->system->unit_index, name);
    if (!lay_jacobian(r, r->cluster->units[k].n_outputs, r->cluster->units[k].n_signals,
                      &r->members[k].served)) {
      return YOKE_NO_MEMORY;
    }
    r->members[k].first_u = r->s;
    r->s += r->cluster->units[k].n_signals + r->cluster->units[k].n_exogenous;
    YOKE_TRY(yoke__linear_unit_of(r->system, unit, r->arena, &model));
    const bool is_own = model.has_model && yoke__unit_is_linear(&r->system->units[unit].unit);
    YOKE_TRY(is_own ? take_own(r, k, unit, &model) : take_identified(r, k));
    r->members[k].is_own = r->out->is_own[k] = is_own;
    r->out->solvers[k] = model.solver_text;
    r->out->names[k] = yoke__arena_text(r->arena, name, strlen(name));
    r->served[k] = r->members[k].served;
  }
  return YOKE_OK;
}

static yoke_status lay_all(replay* r) {
  const size_t n = r->setup->n_signals, p = r->cluster->n_outputs;
  const size_t bytes = r->group->ops->size(r->setup);
  const yoke_sink sink = yoke__messages_sink(r->messages);
  YOKE_TRY(lay_members(r));
  r->method = yoke__arena_take(r->arena, bytes + 64);
  r->sample = take(r, n + r->setup->n_probes, sizeof(double));
  r->inputs = take(r, n, sizeof(double));
  r->g = take(r, r->cluster->n_exogenous, sizeof(double));
  r->u = take(r, r->s, sizeof(double));
  r->u_last = take(r, r->s, sizeof(double));
  r->y_last = take(r, p, sizeof(double));
  r->low = take(r, p + n, sizeof(double));
  r->high = take(r, p + n, sizeof(double));
  YOKE_TRY_MEMORY(r->method && r->sample && r->inputs && r->g && r->u && r->u_last && r->y_last &&
                  r->low && r->high);
  r->L = r->cluster->L;
  r->worker = (yoke_coupling_worker){NULL, do_at_once, is_done};
  r->wants_worker = r->group->ops->wants != NULL &&
                    (r->group->ops->wants(r->setup->parameters) & YOKE_WANTS_WORKER) != 0;
  YOKE_TRY(lay_models(r));

  // lowest and highest value so far, of outputs and inputs
  for (size_t i = 0; i < p + n; i++) {
    r->low[i] = (double)INFINITY;
    r->high[i] = -(double)INFINITY;
  }
  YOKE_TRY(r->group->ops->prepare(r->method, r->setup, &sink));
  r->is_prepared = true;
  return YOKE_OK;
}

// ---- the run again

static void widen(replay* r, size_t i, double x) {
  r->low[i] = fmin(r->low[i], x);
  r->high[i] = fmax(r->high[i], x);
}

static void observe(replay* r, size_t k) {
  const yoke_group* group = r->group;
  const size_t n = r->setup->n_signals, p = r->cluster->n_outputs;
  const double H = r->setup->interval;
  const yoke_coupling_moment now = {.k = (int64_t)k,
                                    .h_last = k == 0 ? 0 : H,
                                    .h_next = H,
                                    .worker = r->wants_worker ? &r->worker : NULL};
  for (size_t i = 0; i < n; i++) {
    const yoke_tap* tap = &group->taps[i];
    // what the coupling saw: raw value times gain plus offset
    r->sample[i] = r->columns[tap->from][k] * tap->gain + tap->offset;
  }
  for (size_t i = 0; i < r->setup->n_probes; i++) {
    r->sample[n + i] =
        r->columns[group->probes[i]][k] * group->probe_scale[i] + group->probe_offset[i];
  }
  for (size_t i = 0; i < p; i++) {
    widen(r, i, r->sample[n + i]);
  }
  memcpy(r->health_last, r->health, sizeof r->health);
  group->ops->observe(r->method, &now, r->sample, k == 0 ? NULL : r->inputs);
  group->ops->health(r->method, r->health);
}

// Inputs of the step that ended: signals as they were given for it, the others as they were at its start.
static void collect_inputs(replay* r, size_t k) {
  const double* exogenous = r->sample + r->setup->n_signals + r->cluster->n_outputs;
  for (size_t j = 0; j < r->cluster->n_units; j++) {
    const yoke_coupling_unit* about = r->members[j].about;
    double* u = r->u + r->members[j].first_u;
    for (size_t i = 0; i < about->n_signals; i++) {
      const size_t s = about->first_signal + i;
      u[i] = k == 0 ? r->sample[s] : r->inputs[s];
    }
    for (size_t i = 0; i < about->n_exogenous; i++) {
      const size_t e = about->first_exogenous + i;
      u[about->n_signals + i] = k == 0 ? exogenous[e] : r->g[e];
    }
  }

  // g_k drives the step that begins now: what comes from outside is held
  memcpy(r->g, exogenous, r->cluster->n_exogenous * sizeof *r->g);
}

static void learn(replay* r, size_t k) {
  const size_t p = r->cluster->n_outputs;
  const double* y = r->sample + r->setup->n_signals;
  collect_inputs(r, k);
  if (k == 0) {
    yoke__mpsm_models_start(r->models, r->L, y, r->u, NULL);
  } else {
    // an alarm throws the models away, as it did in the run
    if (r->has_guard && r->health[r->at_alarms] > r->health_last[r->at_alarms]) {
      yoke__mpsm_models_relearn(r->models);
    }
    // the models see what they saw in the run, in the same order, so that they end the same
    const yoke_mpsm_passed passed = {.y_last = r->y_last, .u_last = r->u_last, .u = r->u, .y = y};
    (void)yoke__mpsm_models_observe(r->models, &r->bare, &r->worker, &passed);
  }
  memcpy(r->u_last, r->u, r->s * sizeof *r->u);
  memcpy(r->y_last, y, p * sizeof *y);
  const double error = r->models->error;

  // mean and largest error after the time of learning
  if (k > 0 && (double)k * r->setup->interval >= r->t_learning && yoke__is_finite(error)) {
    r->out->error_mean += error;
    r->out->error_max = fmax(r->out->error_max, error);
    r->n_errors++;
  }
}

// The inputs that the method gives for the next step.
static void give(replay* r) {
  const size_t p = r->cluster->n_outputs;
  for (size_t i = 0; i < r->setup->n_sinks; i++) {
    r->group->ops->input(r->method, i, r->setup->interval, r->inputs + r->setup->sinks[i].first);
  }
  for (size_t i = 0; i < r->setup->n_signals; i++) {
    widen(r, p + i, r->inputs[i]);
  }
}

static yoke_mpsm_phase phase_of(const replay* r) {
  // every exchange raises one counter, that of its phase
  for (int i = 0; i < YOKE_MPSM_N_PHASES; i++) {
    if (r->health[r->at_phase + (size_t)i] > r->health_last[r->at_phase + (size_t)i]) {
      return (yoke_mpsm_phase)i;
    }
  }
  return YOKE_MPSM_LEARN;
}

// Share of held signals in the inputs of the step: 1 in a fallback, falling after it.
static double held_share(replay* r, double t, yoke_mpsm_phase phase) {
  if (phase == YOKE_MPSM_SIGNAL || phase == YOKE_MPSM_LEARN) {
    r->is_fallen = phase == YOKE_MPSM_SIGNAL;
    return 1;
  }
  if (r->is_fallen) {
    r->is_fallen = false;
    r->t_back = t;
  }

  // from the return on models take over along w, the switching function: share 1 - w(t / t_switch);
  // the tolerance is for the round-off of t
  const double since = t - r->t_back;
  return since < r->t_switch - 1e-6 * r->setup->interval
             ? 1 - yoke__mpsm_switch(since / r->t_switch)
             : 0;
}

// ---- matrices

// Of the present models what concerns the signals, into the Jacobians of the case.
static void take_models(replay* r) {
  for (size_t k = 0; k < r->cluster->n_units; k++) {
    const member* m = &r->members[k];
    const yoke_jacobian_discrete* from = &r->models->members[k].jacobian;
    const size_t n = m->served.n, s = m->served.m;
    memcpy(m->served.Sy, from->Sy, n * n * sizeof(double));
    // columns of the signals only: what comes from outside moves the
    // cluster, but does not feed back
    for (size_t i = 0; i < n; i++) {
      memcpy(m->served.S0 + i * s, from->S0 + i * from->m, s * sizeof(double));
      memcpy(m->served.S1 + i * s, from->S1 + i * from->m, s * sizeof(double));
    }
    // A = [Sy, S0; 0, 0], B = [S1; I]: see take_identified
    const size_t N = n + s;
    for (size_t i = 0; i < n && !m->is_own; i++) {
      memcpy(m->A + i * N, m->served.Sy + i * n, n * sizeof(double));
      memcpy(m->A + i * N + n, m->served.S0 + i * s, s * sizeof(double));
      memcpy(m->B + i * s, m->served.S1 + i * s, s * sizeof(double));
    }
  }
}

static yoke_stability_case case_of(const replay* r, yoke_mpsm_phase phase, double held) {
  yoke_stability_case c = yoke__stability_case_default();
  c.units = r->parts;
  c.n_units = r->cluster->n_units;
  c.L = r->L;
  c.step = r->setup->interval;
  c.solvers = r->solvers;
  c.discrete = r->served;
  c.is_modified = phase == YOKE_MPSM_MODIFIED;
  c.held_share = held;
  c.options.time = YOKE_MPSM_DISCRETE;
  c.options.uses_ede = r->out->uses_ede;
  c.options.resets_ede = r->out->resets_ede;
  c.options.cond_max = (double)INFINITY;  // the method decided that already
  return c;
}

// Memory for the matrices of the steps from `first` on; as many as there is room for.
static yoke_status lay_matrices(replay* r, size_t n) {
  yoke_stability_run* out = r->out;
  const size_t wanted = out->n_rows - 1 - out->first;

  // n x n numbers per step have to fit into MAX_BYTES; if not all do, the last steps are kept
  r->room = MAX_BYTES / (n * n * sizeof(double));
  r->room = r->room < wanted ? r->room : wanted;
  out->size = n;
  out->n_left_out = wanted - r->room;
  out->first += out->n_left_out;
  r->matrices = malloc((r->room * n * n + 1) * sizeof *r->matrices);
  out->radii = take(r, r->room, sizeof *out->radii);
  out->phases = take(r, r->room, sizeof *out->phases);
  r->scale = take(r, n, sizeof *r->scale);
  return r->matrices == NULL || out->radii == NULL || out->phases == NULL || r->scale == NULL
             ? YOKE_NO_MEMORY
             : YOKE_OK;
}

static yoke_status add_step(replay* r, size_t k, yoke_mpsm_phase phase, double held) {
  yoke_stability_run* out = r->out;
  yoke_stability* s = NULL;

  // in a fallback the models rest, and the step is judged with those of the one before
  if (phase != YOKE_MPSM_SIGNAL || out->n_steps == 0) {
    take_models(r);
  }
  const yoke_stability_case c = case_of(r, phase, held);
  const yoke_status status = yoke__stability_open(&c, &s);
  if (status < 0) {
    yoke__error(r->messages, nowhere, "the models of the step at %.9g s cannot be connected: %s",
                (double)k * c.step, yoke_status_text(status));
    return yoke__status_is_shortage(status) ? status : YOKE_BAD_INPUT;
  }
  const size_t n = yoke__stability_size(s);
  const yoke_status laid = r->matrices == NULL ? lay_matrices(r, n) : YOKE_OK;
  if (laid >= 0 && k >= out->first) {
    yoke__stability_matrix(s, r->matrices + out->n_steps * n * n);
    out->phases[out->n_steps++] = (uint8_t)phase;
    out->n_phases[phase]++;
  }
  yoke__stability_close(&s);
  return laid;
}

// All rows in their order. A step begins at each but the last.
static yoke_status replay_rows(replay* r) {
  yoke_stability_run* out = r->out;
  const double H = r->setup->interval;

  // the first step after learning and switching; the tolerance keeps a whole number of
  // intervals from being rounded up
  out->first = (size_t)fmax(ceil((r->t_learning + r->t_switch) / H - 1e-6), 1);
  r->t_back = r->t_learning;
  if (out->n_rows < out->first + 2) {
    return yoke__error(
        r->messages, nowhere,
        "the recording has %zu rows; expected more than %zu, which learning and switching use up",
        out->n_rows, out->first + 1);
  }
  const size_t first = out->first;
  for (size_t k = 0; k < out->n_rows; k++) {
    // in the order of the run: the inputs of a step are made from the models
    // that its first row has changed
    observe(r, k);
    learn(r, k);
    give(r);
    const yoke_mpsm_phase phase = k == 0 ? YOKE_MPSM_LEARN : phase_of(r);
    const double held = held_share(r, (double)k * H, phase);
    if (k >= first && k + 1 < out->n_rows) {
      YOKE_TRY(add_step(r, k, phase, held));
    }
  }
  out->error_mean = r->n_errors > 0 ? out->error_mean / (double)r->n_errors : 0;
  memcpy(out->health, r->health, sizeof out->health);
  return YOKE_OK;
}

// ---- norms

static double range(const replay* r, size_t i) {
  const double d = r->high[i] - r->low[i];
  return d > 0 ? d : 1;
}

// A state in units of the outputs that show it; 1 if none does.
static void scale_states(const replay* r, size_t k, double scale[]) {
  const yoke_stability_unit* unit = &r->parts[k];
  const size_t first = r->members[k].about->first_output;
  const size_t first_u = r->cluster->n_outputs + r->members[k].about->first_signal;
  for (size_t j = 0; j < unit->n_states; j++) {
    double size = (double)INFINITY;
    // |c| x of a state x of size range / |c| is the range of the output; the
    // output that shows it best counts
    for (size_t i = 0; i < unit->n_outputs; i++) {
      const double c = fabs(unit->C[i * unit->n_states + j]);
      size = c > 0 ? fmin(size, range(r, first + i) / c) : size;
    }
    if (!r->members[k].is_own && j >= unit->n_outputs) {
      size = range(r, first_u + j - unit->n_outputs);  // a past input
    }
    scale[j] = yoke__is_finite(size) ? size : 1;
  }
}

// Ranges of what a step carries along: states, then outputs, inputs, inputs from outside, coupling errors (as inputs),
// corrections (as outputs).
static void fill_scale(replay* r) {
  const size_t p = r->cluster->n_outputs, s = r->setup->n_signals;
  size_t at = 0;
  for (size_t k = 0; k < r->cluster->n_units; k++) {
    scale_states(r, k, r->scale + at);
    at += r->parts[k].n_states;
  }

  // y, u and what comes from outside, coupling errors, two blocks of corrections
  for (size_t block = 0; block < 6; block++) {
    const bool is_output = block == 0 || block > 3;
    for (size_t i = 0; i < (is_output ? p : s) && at < r->out->size; i++) {
      r->scale[at++] = range(r, is_output ? i : p + i);
    }
  }
  for (; at < r->out->size; at++) {
    r->scale[at] = 1;
  }
}

static yoke_status judge(replay* r) {
  static const size_t lengths[YOKE_RUN_N_LENGTHS] = {25, 50, 100, 200, 400};
  yoke_stability_run* out = r->out;
  const size_t n = out->size;
  fill_scale(r);
  for (size_t i = 0; i < out->n_steps; i++) {
    // the radius of a single step says nothing about their product; it is for the eye
    YOKE_TRY(yoke__spectral_radius(n, r->matrices + i * n * n, &out->radii[i]));
  }

  // beta(1), the largest norm of a single step
  YOKE_TRY(yoke__stability_bohl(n, r->matrices, out->n_steps, 1, r->scale, &out->largest));
  out->is_below = true;
  for (size_t i = 0; i < YOKE_RUN_N_LENGTHS && lengths[i] <= out->n_steps; i++) {
    out->lengths[i] = lengths[i];
    out->n_windows[i] = out->n_steps - lengths[i] + 1;
    out->n_lengths++;
    YOKE_TRY(
        yoke__stability_bohl(n, r->matrices, out->n_steps, lengths[i], r->scale, &out->values[i]));
    // one K with beta(K) < 1 is enough for stability, whatever shorter windows do
    const bool is_below = out->values[i] < 1;
    out->contracts_after = is_below && !out->is_stable ? lengths[i] : out->contracts_after;
    out->is_stable = out->is_stable || is_below;
    out->is_below = out->is_below && is_below;
  }
  if (out->n_lengths == 0) {
    return yoke__error(r->messages, nowhere,
                       "%zu steps after learning and switching; expected at least %zu",
                       out->n_steps, lengths[0]);
  }
  return YOKE_OK;
}

static yoke_status open(replay* r) {
  YOKE_TRY(check_method(r));
  YOKE_TRY(check_outside(r));
  YOKE_TRY(find_columns(r));
  YOKE_TRY(lay_all(r));
  YOKE_TRY(replay_rows(r));
  return judge(r);
}

yoke_status yoke__stability_run_find(const yoke_system* system, const char* name, const char* file,
                                     size_t* group, const yoke_sink* sink) {
  size_t n = 0;
  char all[256] = "";
  for (size_t g = 0; g < system->n_groups; g++) {
    if (system->groups[g].role != YOKE_GROUP_CLUSTER) {
      continue;
    }
    const char* called = system->methods[system->groups[g].method].name;
    const size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%.60s", used == 0 ? "" : ", ", called);
    if (name == NULL || strcmp(called, name) == 0) {
      *group = g;
      n++;
    }
  }
  if (n == 1) {
    return YOKE_OK;
  }
  if (all[0] == '\0') {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "%s has no coupling over a cluster; expected one with method mpsm. Its step "
                     "is judged by: yoke analyse %s",
                     file, file);
  }
  return n == 0 ? yoke_fail(sink, YOKE_BAD_INPUT, "--cluster: no coupling '%.60s'; there is: %s",
                            name, all)
                : yoke_fail(sink, YOKE_BAD_INPUT,
                            "%zu couplings over clusters (%s); choose one with --cluster", n, all);
}

yoke_status yoke__stability_run_open(yoke_system* system, size_t group, const yoke_csv* csv,
                                     yoke_messages* messages, yoke_stability_run* out) {
  const yoke_group* of = &system->groups[group];
  const size_t n_health = of->ops->n_health;
  *out =
      (yoke_stability_run){.cluster = system->methods[of->method].owner,
                           .n_units = of->setup.cluster->n_units,
                           .health_names = of->ops->health_names,
                           .n_health = n_health < YOKE_RUN_N_HEALTH ? n_health : YOKE_RUN_N_HEALTH,
                           .t_start = system->t_start,
                           .interval = of->setup.interval,
                           .n_rows = csv->n_rows};
  replay* r = calloc(1, sizeof *r);
  YOKE_TRY_MEMORY(r);
  r->system = system;
  r->group = of;
  r->setup = &of->setup;
  r->cluster = of->setup.cluster;
  r->csv = csv;
  r->messages = messages;
  r->out = out;
  r->arena = &out->arena;
  const yoke_status status = open(r);
  if (r->models != NULL) {
    yoke__mpsm_models_close(r->models);
  }
  if (r->is_prepared && of->ops->close != NULL) {
    of->ops->close(r->method);
  }
  free(r->matrices);
  free(r);
  return status;
}

void yoke__stability_run_free(yoke_stability_run* run) {
  yoke__arena_free(&run->arena);
  *run = (yoke_stability_run){0};
}
