// Iterative Jacobi and Gauss-Seidel: a macro step is repeated from its saved start until the outputs at its end settle.
//
//   u_end = route(y_old)
//   restore; step every unit with inputs that go from u_start to u_end (system_iterate.c: each call gets their mean, their
//   value at its start, or u_end); outputs with direct feedthrough are evaluated with u_end
//   done when for every unit max_i |y_new - y_old| <= tolerance * max(1, |y_new|)
//
// The mean is of second order: over a call of length h, exact minus held is the trapezoid error -h^3 u''/12 plus
// -A B h^3 u'/12. Values at the start reproduce the monolithic result for explicit Euler solvers; hold-end takes the iterated
// scheme literally, as it is mostly published, and dissipates. The next y_old is y_new (fixed point), a mean of both
// (relaxation, Aitken), or the quasi-Newton point, which also finds solutions that fixed-point iteration runs away from.
#include <math.h>
#include <string.h>

#include "base/base_call.h"
#include "linalg/linalg_anderson.h"
#include "master/master.h"
#include "master/master_pace.h"

struct yoke_iterate {
  size_t n;       // outputs that are connected
  size_t* index;  // into Y
  double *x, *g, *weight, *r, *r_last;
  double* change;  // as Y: work of units whose derivatives are asked for
  double omega;    // Aitken's factor
  yoke_anderson anderson;
};

static size_t list_connected(const yoke_system* system, size_t index[], bool is_listed[]) {
  size_t n = 0;
  for (size_t i = 0; i < system->n_taps; i++) {
    if (!is_listed[system->taps[i].from]) {
      is_listed[system->taps[i].from] = true;
      index[n++] = system->taps[i].from;
    }
  }
  return n;
}

yoke_status yoke__master_prepare_iteration(const yoke_system* system, yoke_state* state) {
  yoke_arena* arena = &state->arena;
  struct yoke_iterate* it = yoke__arena_take(arena, sizeof *it);
  bool* is_listed = yoke__arena_array(arena, system->n_y + 1, sizeof *is_listed);
  size_t* index = yoke__arena_array(arena, system->n_y + 1, sizeof *index);
  state->u_start = yoke__arena_array(arena, system->n_u + 1, sizeof(double));
  state->u_end = yoke__arena_array(arena, system->n_u + 1, sizeof(double));
  state->y_old = yoke__arena_array(arena, system->n_y + 1, sizeof(double));
  state->images = yoke__arena_take(arena, system->n_image_bytes + 64);
  state->y_call = yoke__arena_array(arena, system->n_y + 1, sizeof(double));
  YOKE_TRY_MEMORY(it && is_listed && index && state->u_start && state->u_end && state->y_old &&
                  state->images && state->y_call);
  it->index = index;
  it->n = list_connected(system, index, is_listed);
  it->change = yoke__arena_array(arena, system->n_y + 1, sizeof(double));
  double* numbers = yoke__arena_array(arena, 5 * it->n + 1, sizeof(double));
  double* memory = yoke__arena_array(arena, yoke__anderson_size(it->n), sizeof(double));
  YOKE_TRY_MEMORY(it->change && numbers && memory);
  it->x = numbers;
  it->g = it->x + it->n;
  it->weight = it->g + it->n;
  it->r = it->weight + it->n;
  it->r_last = it->r + it->n;
  yoke__anderson_init(&it->anderson, it->n, memory);
  state->iterate = it;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// one unit over one macro step

// the unit's inputs at place s of the step: 0 at its start, 1 at its end
static void blend_inputs(yoke_state* state, const yoke_system_unit* su, double s) {
  for (size_t i = su->u; i < su->u + su->unit.n_u; i++) {
    state->u[i] =
        s == 1 ? state->u_end[i] : state->u_start[i] + s * (state->u_end[i] - state->u_start[i]);
  }
}

// inputs of call j, as values that act or with their slope
static yoke_status set_inputs(const yoke_system* system, yoke_state* state,
                              const yoke_system_unit* su, int64_t j) {
  blend_inputs(state, su, yoke__system_call_place(system, su, j));
  YOKE_TRY(yoke__unit_set_inputs(&su->unit, state->u + su->u));
  YOKE_TRY(yoke__master_tell_sources(su, state->infos + su->first_source));
  if (!su->takes_slope) {
    return YOKE_OK;
  }
  for (size_t i = su->u; i < su->u + su->unit.n_u; i++) {
    state->du[i] = (state->u_end[i] - state->u_start[i]) / state->slot_h;
  }
  return su->unit.ops->set_input_derivatives(su->unit.self, 1, state->du + su->u, su->unit.n_u);
}

// y + D (u_end - applied): outputs as they would be with the inputs at the end
static void add_feedthrough(const yoke_system* system, yoke_state* state, size_t unit) {
  const yoke_system_unit* su = &system->units[unit];
  const size_t n_x = su->n_states, n_u = su->unit.n_u, n_y = su->unit.n_y;
  yoke__master_linearise(system, state, unit);
  const double* D = state->y + system->n_y + su->linear + n_x * (n_x + n_u) + n_y * n_x;
  for (size_t i = 0; i < n_y; i++) {
    double change = 0;
    for (size_t j = 0; j < n_u; j++) {
      change += D[i * n_u + j] * (state->u_end[su->u + j] - state->u[su->u + j]);
    }
    // a unit that cannot tell its linear model here says so itself
    state->y[su->y + i] += change * 0 == 0 ? change : 0;
  }
}

// the same by the directional derivatives of the unit
static yoke_status follow_inputs(const yoke_system* system, yoke_state* state, size_t unit) {
  const yoke_system_unit* su = &system->units[unit];
  const size_t n = su->n_through;
  double* seed = state->du + su->u;  // a unit that is asked gets no slopes
  double* change = state->iterate->change + su->y;
  for (size_t i = 0; i < su->unit.n_u; i++) {
    seed[i] = state->u_end[su->u + i] - state->u[su->u + i];
  }
  YOKE_TRY(su->unit.ops->derivative(su->unit.self, su->through, n, su->through + n, su->unit.n_u,
                                    seed, change));
  for (size_t i = 0; i < n; i++) {
    state->y[su->y + su->unit.dense[su->through[i]]] += change[i] * 0 == 0 ? change[i] : 0;
  }
  return YOKE_OK;
}

// outputs at the end of the step, those with feedthrough with the inputs there
static yoke_status read_end(const yoke_system* system, yoke_state* state, size_t unit,
                            yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  const double t = yoke__clock_time(&system->clock, (state->n_slots + 1) * system->slot);
  if (su->unit.info->n_feedthrough > 0 && yoke__unit_can_refresh(&su->unit)) {
    yoke_status status = yoke__unit_set_inputs(&su->unit, state->u_end + su->u);
    if (status >= 0) {
      status = su->unit.ops->refresh(su->unit.self, t);
    }
    if (status < 0) {
      return yoke__master_fail_unit(failure, system, unit, status, t,
                                    "outputs could not be refreshed");
    }
  }
  YOKE_TRY(yoke__master_get_outputs(system, unit, t, state->y + su->y, failure));
  if (su->has_linear) {
    add_feedthrough(system, state, unit);
  } else if (su->through != NULL) {
    const yoke_status status = follow_inputs(system, state, unit);
    if (status < 0) {
      return yoke__master_fail_unit(failure, system, unit, status, t,
                                    "the derivatives of its outputs could not be read");
    }
  }
  return yoke__master_get_typed(system, state, unit, t, state->y, failure);
}

// what the ledger wants to know of a call: the inputs that acted, and the outputs as the call returned them
static yoke_status keep_call(const yoke_system* system, yoke_state* state, size_t unit, int64_t j,
                             yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  const int64_t tick = state->n_slots * system->slot + (j + 1) * su->period;
  double* y = state->y_call;
  if (state->ledger == NULL || (su->n_strips == 0 && j + 1 < su->n_steps)) {
    return YOKE_OK;
  }
  YOKE_TRY(yoke__master_get_outputs(system, unit, yoke__clock_time(&system->clock, tick), y + su->y,
                                    failure));
  yoke__master_keep_call(system, state, su, j, y);
  return YOKE_OK;
}

static yoke_status repeat_calls(const yoke_system* system, yoke_state* state, size_t unit,
                                yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  const int64_t tick = state->n_slots * system->slot;
  yoke_status status = yoke__unit_restore(&su->unit, state->images + su->image, su->image_size);
  if (status < 0) {
    return yoke__master_fail(failure, system, unit, status, state->t,
                             "the state could not be restored");
  }
  for (int64_t j = 0; j < su->n_steps; j++) {
    const double t = yoke__clock_time(&system->clock, tick + j * su->period);
    status = set_inputs(system, state, su, j);
    if (status < 0) {
      return yoke__master_fail(failure, system, unit, status, t, "inputs were refused");
    }
    YOKE_TRY(yoke__master_call_step(system, state, unit, t, su->step, failure));
    YOKE_TRY(keep_call(system, state, unit, j, failure));
  }
  return read_end(system, state, unit, failure);
}

static yoke_status repeat_step(const yoke_system* system, yoke_state* state, size_t unit,
                               yoke_failure* failure) {
  yoke_pace* pace = state->pace;
  const int64_t before = pace == NULL ? 0 : pace->clock.now_ns(pace->clock.self);
  const yoke_call_scope scope = yoke__call_begin_at(system->units[unit].name, "step", state->t);
  const yoke_status status = repeat_calls(system, state, unit, failure);
  yoke__call_end(&scope);
  if (pace != NULL) {
    pace->units[unit].step_ns += pace->clock.now_ns(pace->clock.self) - before;
  }
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// one pass over all units

typedef struct pass_job {
  const yoke_system* system;
  yoke_state* state;
} pass_job;

static void save_thread(void* context, int thread) {
  const pass_job* job = context;
  const yoke_system* system = job->system;
  for (size_t i = system->thread_first[thread]; i < system->thread_first[thread + 1]; i++) {
    const size_t unit = system->thread_units[i];
    const yoke_system_unit* su = &system->units[unit];
    yoke_failure* failure = &job->state->failures[thread];
    if (yoke__master_set_typed(system, job->state, unit, failure) < 0) {
      return;
    }
    const yoke_status status =
        yoke__unit_save(&su->unit, job->state->images + su->image, su->image_size);
    if (status < 0) {
      yoke__master_fail(failure, system, unit, status, job->state->t,
                        "the state could not be saved");
      return;
    }
  }
}

static void repeat_thread(void* context, int thread) {
  const pass_job* job = context;
  const yoke_system* system = job->system;
  for (size_t i = system->thread_first[thread]; i < system->thread_first[thread + 1]; i++) {
    if (repeat_step(system, job->state, system->thread_units[i], &job->state->failures[thread]) <
        0) {
      return;
    }
  }
}

// those laws of a list of refreshed units from the newest outputs, at the end of the step
static yoke_status evaluate_laws(const yoke_system* system, yoke_state* state, const size_t units[],
                                 size_t n) {
  const double t = yoke__clock_time(&system->clock, (state->n_slots + 1) * system->slot);
  for (size_t k = 0; k < n; k++) {
    const size_t unit = units[k];
    const yoke_system_unit* su = &system->units[unit];
    if (!su->is_law) {
      continue;
    }
    yoke__master_gather(system, state, unit, state->y, state->u_end);
    yoke_status status = yoke__unit_set_inputs(&su->unit, state->u_end + su->u);
    if (status >= 0) {
      status = su->unit.ops->refresh(su->unit.self, t);
    }
    if (status < 0) {
      return yoke__master_fail(&state->failure, system, unit, status, t,
                               "outputs could not be refreshed");
    }
    YOKE_TRY(yoke__master_get_outputs(system, unit, t, state->y + su->y, &state->failure));
  }
  return YOKE_OK;
}

static yoke_status pass_jacobi(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < system->n_units; i++) {
    yoke__master_gather(system, state, i, state->y_old, state->u_end);
  }
  pass_job job = {system, state};
  yoke__pool_run(system->pool, repeat_thread, &job);
  YOKE_TRY(yoke__master_collect_failures(system, state));
  return evaluate_laws(system, state, system->refresh_order, system->n_refresh);
}

// units see what earlier ones have just given, and the old estimate of the rest
static yoke_status pass_gauss_seidel(const yoke_system* system, yoke_state* state) {
  memcpy(state->y, state->y_old, system->n_y * sizeof(double));
  for (size_t k = 0; k < system->n_gs; k++) {
    const size_t unit = system->gs_order[k], first = system->unit_refresh_first[unit];
    YOKE_TRY(evaluate_laws(system, state, system->unit_refresh + first,
                           system->unit_refresh_first[unit + 1] - first));
    yoke__master_gather(system, state, unit, state->y, state->u_end);
    YOKE_TRY(repeat_step(system, state, unit, &state->failure));
  }
  return evaluate_laws(system, state, system->refresh_order, system->n_refresh);
}

static bool has_converged(const yoke_system* system, const yoke_state* state) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* su = &system->units[i];
    for (size_t j = su->y; j < su->y + su->unit.n_y; j++) {
      const double size = fabs(state->y[j]) > 1 ? fabs(state->y[j]) : 1;
      if (fabs(state->y[j] - state->y_old[j]) > su->tolerance * size) {
        return false;
      }
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------
// the next estimate

// Aitken: omega := -omega r_last.(r - r_last) / |r - r_last|^2
static void update_omega(struct yoke_iterate* it) {
  double top = 0, bottom = 0;
  for (size_t i = 0; i < it->n; i++) {
    const double w = it->weight[i] * it->weight[i], d = it->r[i] - it->r_last[i];
    top += w * it->r_last[i] * d;
    bottom += w * d * d;
  }
  if (bottom > 0) {
    it->omega *= -top / bottom;
  }
}

static void improve(const yoke_system* system, yoke_state* state, int iteration) {
  struct yoke_iterate* it = state->iterate;
  const yoke_scenario_iteration* settings = &system->scenario->iteration;
  if (settings->update == YOKE_UPDATE_FIXED_POINT) {
    memcpy(state->y_old, state->y, system->n_y * sizeof(double));
    return;
  }
  for (size_t i = 0; i < it->n; i++) {
    it->x[i] = state->y_old[it->index[i]];
    it->g[i] = state->y[it->index[i]];
    it->r[i] = it->g[i] - it->x[i];
    if (iteration == 1) {
      it->weight[i] = 1 / (fabs(it->g[i]) > 1e-12 ? fabs(it->g[i]) : 1);
    }
  }
  memcpy(state->y_old, state->y, system->n_y * sizeof(double));
  if (settings->update == YOKE_UPDATE_QUASI_NEWTON) {
    if (iteration == 1) {
      yoke__anderson_reset(&it->anderson);
    }
    yoke__anderson_next(&it->anderson, it->x, it->g, it->weight, settings->relaxation);
  } else {
    if (iteration == 1 || settings->update == YOKE_UPDATE_RELAXATION) {
      it->omega = settings->relaxation;
    } else {
      update_omega(it);
    }
    for (size_t i = 0; i < it->n; i++) {
      it->x[i] += it->omega * it->r[i];
      it->r_last[i] = it->r[i];
    }
  }
  for (size_t i = 0; i < it->n; i++) {
    state->y_old[it->index[i]] = it->x[i];
  }
}

// Did any input that acts change by more than its unit's tolerance from the predictor, which held those of the start?
static bool have_inputs_changed(const yoke_system* system, const yoke_state* state) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* su = &system->units[i];
    const double share = su->takes_slope ? 1 : yoke__system_call_place(system, su, su->n_steps - 1);
    for (size_t j = su->u; j < su->u + su->unit.n_u && !su->is_law; j++) {
      const double size = fabs(state->u_end[j]) > 1 ? fabs(state->u_end[j]) : 1;
      if (share * fabs(state->u_end[j] - state->u_start[j]) > su->tolerance * size) {
        return true;
      }
    }
  }
  return false;
}

yoke_status yoke__master_iterate(const yoke_system* system, yoke_state* state) {
  const bool is_jacobi = system->scenario->scheme == YOKE_ITERATIVE_JACOBI;
  pass_job job = {system, state};
  yoke__pool_run(system->pool, save_thread, &job);
  YOKE_TRY(yoke__master_collect_failures(system, state));

  // predictor: one explicit pass with the inputs held
  memcpy(state->u_start, state->u, system->n_u * sizeof(double));
  memcpy(state->u_end, state->u, system->n_u * sizeof(double));
  yoke__pool_run(system->pool, repeat_thread, &job);
  YOKE_TRY(yoke__master_collect_failures(system, state));
  YOKE_TRY(evaluate_laws(system, state, system->refresh_order, system->n_refresh));
  memcpy(state->y_old, state->y, system->n_y * sizeof(double));

  const int most = (int)system->scenario->iteration.max;
  int n = 0;
  bool is_done = false;
  while (n < most && !is_done) {
    state->is_end_wanted = false;  // only the attempt that stays counts
    YOKE_TRY(is_jacobi ? pass_jacobi(system, state) : pass_gauss_seidel(system, state));
    n++;
    is_done = has_converged(system, state);
    if (!is_done && n < most) {
      improve(system, state, n);
    }
  }
  state->iteration.n_steps++;
  state->iteration.n_iterations += n;
  state->iteration.n_not_converged += !is_done;
  state->iteration.n_unchanged += is_done && n == 1 && !have_inputs_changed(system, state);
  state->iteration.most = n > state->iteration.most ? n : state->iteration.most;
  return YOKE_OK;
}
