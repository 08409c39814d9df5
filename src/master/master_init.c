// Consistent initial values: outputs at t0 may depend on inputs at t0, so the first exchange is repeated until nothing
// changes any more. Units are visited in the order of their feedthrough, so a system without closed loops settles in
// one pass (and a second one that shows it). Closed loops are iterated; where that fails, a quasi-Newton method tries.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_call.h"
#include "base/base_check.h"
#include "base/base_number.h"
#include "linalg/linalg_anderson.h"
#include "master/master.h"

#define TOLERANCE   1e-12  // relative to the largest value a signal has had so far
#define GOOD_ENOUGH 1e-8   // a loop that amplifies by 1e4 and more amplifies rounding too
#define MAX_PASSES  50
#define MAX_CHAIN   1000  // beside loops, chains longer than this are not waited for

typedef struct init_job {
  yoke_system* system;
  yoke_state* state;
  yoke_messages* messages;
  const size_t* order;  // units to call
  size_t first, last;   // those of one thread
  size_t unit;          // the one being called
  yoke_context about;   // messages about it
  yoke_sink list;       // where they go
  size_t n_errors;      // before the call
  bool is_strict;
  bool
      is_running;  // after exit_init: a unit that cannot refresh takes its inputs with the first step
  yoke_status status;
  yoke_pool_job run;
} init_job;

// A machine may let everybody wait: what it notes meanwhile is reported while it is true.
static void tell_live(void* to, const yoke_message* message) {
  const init_job* job = to;
  if (message->severity == YOKE_NOTE) {
    yoke_send(job->messages->live, message);
  } else {
    yoke__messages_add(job->messages, message);
  }
}

// Calls to a unit come from its own thread; nothing else runs meanwhile. Neighbours in the order that share a thread are
// served in one go.
static void on_thread(void* context, int thread) {
  init_job* job = context;
  for (size_t k = job->first; k < job->last && job->system->units[job->order[k]].thread == thread;
       k++) {
    job->unit = job->order[k];
    const yoke_system_unit* su = &job->system->units[job->unit];
    const bool is_live =
        job->messages->live != NULL && (su->unit.info->flags & YOKE_UNIT_PHYSICAL) != 0;
    job->list = is_live ? (yoke_sink){tell_live, job} : yoke__messages_sink(job->messages);
    job->n_errors = job->messages->n_errors;
    yoke__context_init(&job->about, &job->list, su->source->place, su->name, (double)NAN);
    job->run(job, thread);
    if (job->status < 0 && job->is_strict) {
      return;
    }
  }
}

// run() for all units in the given order. is_strict: the first failure ends it.
static yoke_status call_units(init_job* job, const size_t order[], yoke_pool_job run,
                              bool is_strict) {
  const size_t n = job->system->n_units;
  job->order = order;
  job->run = run;
  job->is_strict = is_strict;
  for (job->first = 0; job->first < n; job->first = job->last) {
    const int thread = job->system->units[order[job->first]].thread;
    job->last = job->first;
    while (job->last < n && job->system->units[order[job->last]].thread == thread) {
      job->last++;
    }
    yoke__pool_run(job->system->pool, on_thread, job);
    if (job->status < 0 && is_strict) {
      return job->status;
    }
  }
  return job->status;
}

// ---------------------------------------------------------------------------------------------------------

// A failure of the unit being called that nobody has explained yet.
static void explain(const init_job* job, yoke_status status) {
  if (job->messages->n_errors == job->n_errors) {
    yoke__unit_reason(&job->system->units[job->unit].unit, &job->about.sink);
  }
  if (job->messages->n_errors == job->n_errors) {
    yoke_fail(&job->about.sink, status, "cannot be initialised: %s", yoke_status_text(status));
  }
}

static void enter_unit(void* context, int thread) {
  (void)thread;
  init_job* job = context;
  const yoke_system_unit* su = &job->system->units[job->unit];
  const yoke_call_scope scope =
      yoke__call_begin_at(su->name, "initialisation", job->system->t_start);
  yoke_status status = YOKE_OK;
  if (su->n_integrals > 0) {
    status = su->unit.ops->choose_integrals(su->unit.self, su->integrals, su->n_integrals);
  }
  status = status < 0 ? status
                      : yoke__unit_enter_init(&su->unit, job->system->t_start, job->system->t_stop,
                                              &job->about.sink);
  yoke__call_end(&scope);
  if (status < 0) {
    explain(job, status);
    job->status = status;
    return;
  }
  // unconnected inputs keep their start values
  for (size_t v = 0; v < su->unit.info->n_variables; v++) {
    const yoke_variable* variable = &su->unit.info->variables[v];
    if (variable->causality == YOKE_INPUT && su->unit.dense[v] != YOKE_NOT_DENSE) {
      yoke__unit_get(&su->unit, v, job->state->u + su->u + su->unit.dense[v],
                     yoke__variable_size(variable));
    }
  }
}

static void exit_unit(void* context, int thread) {
  (void)thread;
  init_job* job = context;
  const yoke_system_unit* su = &job->system->units[job->unit];
  const yoke_call_scope scope =
      yoke__call_begin_at(su->name, "the end of initialisation", job->system->t_start);
  const yoke_status status = yoke__unit_exit_init(&su->unit);
  yoke__call_end(&scope);
  if (status < 0) {
    explain(job, status);
    job->status = status;
  }
}

static void probe_unit(void* context, int thread) {
  (void)thread;
  init_job* job = context;
  const yoke_system_unit* su = &job->system->units[job->unit];
  const yoke_call_scope scope =
      yoke__call_begin_at(su->name, "initialisation", job->system->t_start);
  const yoke_status status =
      yoke__master_find_through(job->system, job->state, job->unit, job->is_running);
  yoke__call_end(&scope);
  if (status < 0) {
    explain(job, status);
    job->status = status;
  }
}

static void linearise_unit(void* context, int thread) {
  (void)thread;
  init_job* job = context;
  if (job->system->units[job->unit].has_linear) {
    yoke__master_linearise(job->system, job->state, job->unit);
  }
}

// inputs from the outputs at the start; before the start every delayed signal had its initial value
static void gather_start(const yoke_system* system, yoke_state* state, size_t unit) {
  const yoke_system_unit* su = &system->units[unit];
  for (const yoke_tap* tap = system->taps + su->first_tap;
       tap < system->taps + su->first_tap + su->n_taps; tap++) {
    state->u[tap->to] = state->y[tap->from] * tap->gain + tap->offset;
  }
}

// outputs of one unit with the inputs at hand
static void evaluate_unit(void* context, int thread) {
  (void)thread;
  init_job* job = context;
  yoke_state* state = job->state;
  const yoke_system_unit* su = &job->system->units[job->unit];
  gather_start(job->system, state, job->unit);
  yoke__master_run_moves(job->system, state, job->unit, state->y);
  const yoke_call_scope scope =
      yoke__call_begin_at(su->name, "initialisation", job->system->t_start);
  const bool takes_inputs = !job->is_running || su->unit.ops->refresh != NULL;
  yoke_status status = YOKE_OK;
  if (takes_inputs) {
    status = yoke__master_set_typed(job->system, state, job->unit, &state->failure);
  }
  if (status >= 0 && takes_inputs) {
    status = yoke__unit_set_inputs(&su->unit, state->u + su->u);
  }
  if (status >= 0 && su->unit.ops->refresh != NULL) {
    status = su->unit.ops->refresh(su->unit.self, job->system->t_start);
  }
  if (status >= 0) {
    status = yoke__master_get_outputs(job->system, job->unit, job->system->t_start,
                                      state->y + su->y, &state->failure);
  }
  if (status >= 0) {
    status = yoke__master_get_typed(job->system, state, job->unit, job->system->t_start, state->y,
                                    &state->failure);
  }
  yoke__call_end(&scope);
  if (status < 0) {
    if (state->failure.message.status < 0) {
      yoke_send(&job->about.sink, &state->failure.message);
    }
    explain(job, status);
  }
  job->status = status < 0 ? status : job->status;
}

// ---------------------------------------------------------------------------------------------------------
// passes

// What the passes need beside the state: memory of the initialisation only.
typedef struct passes {
  double* scale;   // largest magnitude of each output so far
  double* before;  // outputs before the pass
  double* weight;
  double* loop_x;  // outputs that take part in closed loops
  double* loop_g;
  double* best_x;  // the point with the least change
  size_t* loop_index;
  size_t n_loop;
  double* anderson;
} passes;

static void passes_free(passes* p) {
  free(p->scale);
  free(p->before);
  free(p->weight);
  free(p->loop_x);
  free(p->loop_g);
  free(p->best_x);
  free(p->loop_index);
  free(p->anderson);
}

static yoke_status passes_allocate(passes* p, const yoke_system* system) {
  size_t n = 1;
  for (size_t i = 0; i < system->n_loops; i++) {
    for (size_t j = 0; j < system->loops[i].n; j++) {
      const yoke_system_variable* v = &system->loops[i].variables[j];
      n += yoke__variable_count(&system->units[v->unit].unit.info->variables[v->variable]);
    }
  }
  *p = (passes){.scale = calloc(system->n_y + 1, sizeof(double)),
                .before = calloc(system->n_y + 1, sizeof(double)),
                .weight = calloc(n, sizeof(double)),
                .loop_x = calloc(n, sizeof(double)),
                .loop_g = calloc(n, sizeof(double)),
                .best_x = calloc(n, sizeof(double)),
                .loop_index = calloc(n, sizeof(size_t)),
                .anderson = calloc(yoke__anderson_size(n), sizeof(double))};
  YOKE_TRY_MEMORY(p->scale && p->before && p->weight && p->loop_x && p->loop_g && p->best_x &&
                  p->loop_index && p->anderson);
  for (size_t i = 0; i < system->n_loops; i++) {
    for (size_t j = 0; j < system->loops[i].n; j++) {
      const yoke_system_variable* v = &system->loops[i].variables[j];
      const yoke_system_unit* su = &system->units[v->unit];
      const yoke_variable* variable = &su->unit.info->variables[v->variable];
      const size_t dense = su->unit.dense[v->variable];
      for (size_t e = 0; variable->causality == YOKE_OUTPUT && dense != YOKE_NOT_DENSE &&
                         e < yoke__variable_count(variable);
           e++) {
        p->loop_index[p->n_loop++] = su->y + dense + e;
      }
    }
  }
  return YOKE_OK;
}

// One visit of every unit, in order of feedthrough; later ones see what earlier ones just gave.
static yoke_status run_pass(init_job* job) {
  return call_units(job, job->system->init_order, evaluate_unit, true);
}

// the largest change of an output since `before`, relative to its scale
static double measure_change(const yoke_system* system, const yoke_state* state, passes* p) {
  double most = 0;
  for (size_t i = 0; i < system->n_y; i++) {
    const double size = fabs(state->y[i]), moved = fabs(state->y[i] - p->before[i]);
    p->scale[i] = size > p->scale[i] ? size : p->scale[i];
    const double change = moved == 0 ? 0 : moved / p->scale[i];
    most = change > most ? change : most;
  }
  return most;
}

// A chain of feedthrough may pass a unit many times, once per output: that many passes carry it through. Loops
// get their share on top.
static yoke_status iterate_plainly(init_job* job, passes* p, double* change) {
  const yoke_system* system = job->system;
  const size_t n_chain = system->n_y + 2;
  const size_t most = system->n_loops == 0  ? n_chain
                      : n_chain < MAX_CHAIN ? n_chain + MAX_PASSES
                                            : MAX_CHAIN + MAX_PASSES;
  for (size_t i = 0; i < most; i++) {
    memcpy(p->before, job->state->y, system->n_y * sizeof(double));
    YOKE_TRY(run_pass(job));
    *change = measure_change(system, job->state, p);
    if (*change <= TOLERANCE) {
      break;
    }
  }
  return YOKE_OK;
}

// The same for a quasi-Newton point, relative to the values as they are now: searching may lead through very large ones,
// which say nothing about the solution. Below the rounding of the largest value in a loop nothing can be said.
static double measure_residual(const yoke_system* system, const yoke_state* state, passes* p) {
  double largest = 0, most = 0;
  for (size_t i = 0; i < p->n_loop; i++) {
    largest = fmax(largest, fabs(state->y[p->loop_index[i]]));
  }
  for (size_t i = 0; i < system->n_y; i++) {
    const double moved = fabs(state->y[i] - p->before[i]);
    p->scale[i] = fmax(fabs(state->y[i]), fabs(p->before[i]));
    if (moved > DBL_EPSILON * largest) {
      most = fmax(most, moved / p->scale[i]);
    }
  }
  return most;
}

static void put_loop(yoke_state* state, const passes* p, const double x[]) {
  for (size_t i = 0; i < p->n_loop; i++) {
    state->y[p->loop_index[i]] = x[i];
  }
}

static bool is_finite(const double x[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!yoke__is_finite(x[i])) {
      return false;
    }
  }
  return true;
}

// Newton-like search for the loop variables: x -> g(x) is one pass. Leaves the best x in the outputs, not g(x): where g
// amplifies, each further pass from g(x) would lead away again.
static yoke_status iterate_quasi_newton(init_job* job, passes* p, double* change) {
  const yoke_system* system = job->system;
  yoke_state* state = job->state;
  yoke_anderson anderson;
  yoke__anderson_init(&anderson, p->n_loop, p->anderson);

  // plain passes may have run away: start afresh
  memset(state->y, 0, system->n_y * sizeof(double));
  YOKE_TRY(run_pass(job));
  for (size_t i = 0; i < p->n_loop; i++) {
    p->loop_x[i] = state->y[p->loop_index[i]];
  }
  *change = HUGE_VAL;
  for (size_t k = 0; k < MAX_PASSES + 2 * p->n_loop && is_finite(p->loop_x, p->n_loop); k++) {
    put_loop(state, p, p->loop_x);
    memcpy(p->before, state->y, system->n_y * sizeof(double));
    YOKE_TRY(run_pass(job));
    const double now = measure_residual(system, state, p);
    if (now < *change) {
      *change = now;
      memcpy(p->best_x, p->loop_x, p->n_loop * sizeof *p->best_x);
    }
    if (*change <= TOLERANCE) {
      break;
    }
    for (size_t i = 0; i < p->n_loop; i++) {
      p->loop_g[i] = state->y[p->loop_index[i]];
      const double scale = p->scale[p->loop_index[i]];
      p->weight[i] = scale > 0 ? 1 / scale : 1;
    }
    yoke__anderson_next(&anderson, p->loop_x, p->loop_g, p->weight, 0.5);
  }
  if (*change <= GOOD_ENOUGH) {
    *change = 0;
    put_loop(state, p, p->best_x);
  }
  return YOKE_OK;
}

// names the variables of the loops that still move
static void report_loops(init_job* job, const passes* p) {
  const yoke_system* system = job->system;
  for (size_t i = 0; i < system->n_loops; i++) {
    const yoke_system_loop* loop = &system->loops[i];
    char text[640] = "";
    size_t used = 0;
    double most = 0;
    for (size_t j = 0; j < loop->n && used < sizeof text; j++) {
      const yoke_system_unit* su = &system->units[loop->variables[j].unit];
      const yoke_variable* variable = &su->unit.info->variables[loop->variables[j].variable];
      const int n = snprintf(text + used, sizeof text - used, "%s%s.%s", j == 0 ? "" : ", ",
                             su->name, variable->name);
      used += n > 0 ? (size_t)n : 0;
      const size_t dense = su->unit.dense[loop->variables[j].variable];
      if (variable->causality == YOKE_OUTPUT && dense != YOKE_NOT_DENSE) {
        const size_t at = su->y + dense;
        const double moved =
            fabs(job->state->y[at] - p->before[at]) / (p->scale[at] > 0 ? p->scale[at] : 1);
        most = moved > most ? moved : most;
      }
    }
    if (most > TOLERANCE) {
      char number[YOKE_NUMBER_SIZE];
      snprintf(number, sizeof number, "%.2g", most);
      yoke__error(
          job->messages, system->units[loop->variables[0].unit].source->place,
          "algebraic loop does not converge at the start: %s (relative change %s after the last "
          "pass)",
          text, number);
    }
  }
}

// Plain passes with messages of their own; true if another method is worth a try: then what they said is forgotten.
static bool try_plainly(init_job* job, passes* p, double* change, yoke_status* status) {
  yoke_messages attempt = {0};
  yoke_messages* all = job->messages;
  job->messages = &attempt;
  *status = iterate_plainly(job, p, change);
  job->messages = all;

  // a loop that runs away to infinity is worth another try as well
  const bool is_worth = job->system->n_loops > 0 &&
                        (*status == YOKE_DIVERGED || (*status >= 0 && *change > TOLERANCE));
  for (size_t i = 0; i < attempt.n && !is_worth; i++) {
    yoke__messages_add(all, &attempt.all[i]);
  }
  yoke__messages_free(&attempt);
  return is_worth;
}

static yoke_status settle(init_job* job) {
  passes p;
  yoke_status status = passes_allocate(&p, job->system);
  double change = 0;
  if (status >= 0 && try_plainly(job, &p, &change, &status)) {
    job->status = YOKE_OK;
    job->state->failure = (yoke_failure){0};
    status = iterate_quasi_newton(job, &p, &change);
  }
  if (status >= 0 && change > TOLERANCE) {
    report_loops(job, &p);
    if (job->messages->n_errors == 0) {
      yoke__error(job->messages, (yoke_place){job->system->scenario->path, 0, 0},
                  "initial values do not settle");
    }
    status = YOKE_NO_CONVERGENCE;
  }
  passes_free(&p);
  return status;
}

// ---------------------------------------------------------------------------------------------------------

// before the start every delayed signal had its initial value
static void fill_delays(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < system->n_taps; i++) {
    const yoke_tap* tap = &system->taps[i];
    for (int64_t j = 0; j < tap->delay; j++) {
      state->fifo[tap->fifo + (size_t)j] = state->y[tap->from] * tap->gain + tap->offset;
    }
  }
}

static yoke_status start_exchange(const yoke_system* system, yoke_state* state) {
  if (system->scenario->scheme == YOKE_GAUSS_SEIDEL) {
    yoke__master_mark_due(system, state);
    yoke__master_open_laws(system, state);
    YOKE_TRY(yoke__master_refresh(system, state, system->refresh_order, system->n_refresh));
    yoke__master_close_laws(system, state);
    yoke__master_meter_laws(system, state);
    return YOKE_OK;
  }
  return yoke__master_exchange(system, state);
}

// Whether the coupling methods have all that they wanted of the first exchange.
static yoke_status ask_methods(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < system->n_groups; i++) {
    const yoke_group* group = &system->groups[i];
    const yoke_status status = group->role == YOKE_GROUP_MEMBER || group->ops->started == NULL
                                   ? YOKE_OK
                                   : group->ops->started(state->group_memory + group->self);
    if (status < 0) {
      return yoke__master_fail(&state->failure, system, YOKE_NOT_FOUND, status, state->t,
                               "coupling method '%s': %s", group->ops->name,
                               yoke_status_text(status));
    }
  }
  return YOKE_OK;
}

yoke_status yoke__master_initialise(yoke_system* system, yoke_state* state,
                                    yoke_messages* messages) {
  init_job job = {.system = system, .state = state, .messages = messages};
  state->t = system->t_start;
  state->record_wait = system->record_from > 0 ? system->record_from : system->record_every;

  // typed inputs are sent once, whatever the unit's own start value is
  memset(state->w_set, 0xa5, system->n_typed_in);
  YOKE_TRY(call_units(&job, system->init_order, enter_unit, false));
  YOKE_TRY(settle(&job));
  if (system->n_throughs > 0) {
    YOKE_TRY(call_units(&job, system->init_order, probe_unit, true));
  }
  YOKE_TRY(call_units(&job, system->init_order, exit_unit, true));
  job.is_running = true;
  YOKE_TRY(run_pass(&job));
  if (system->n_throughs > 0) {
    YOKE_TRY(call_units(&job, system->init_order, probe_unit, true));
    yoke__master_factor_through(system, state, messages);
  }
  if (system->n_linear > 0) {
    YOKE_TRY(call_units(&job, system->init_order, linearise_unit, true));
  }
  if (state->y_work != state->y) {
    memcpy(state->y_work, state->y, system->n_y * sizeof(double));
    memcpy(state->v_work, state->v, system->n_typed_out);
  }
  fill_delays(system, state);
  yoke_status status = start_exchange(system, state);
  status = status >= 0 ? ask_methods(system, state) : status;
  if (status < 0) {
    yoke_context about;
    const yoke_sink list = yoke__messages_sink(messages);
    yoke__context_init(&about, &list, (yoke_place){system->scenario->path, 0, 0}, NULL,
                       (double)NAN);
    yoke_send(&about.sink, &state->failure.message);
    return status;
  }
  yoke__master_start_ledger(system, state);
  yoke__master_start_watch(system, state);
  yoke__master_start_limits(system, state, messages);
  yoke__master_start_guard(state);
  return status;
}
