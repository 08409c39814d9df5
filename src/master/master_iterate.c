// Iterative Jacobi and Gauss-Seidel: a macro step is repeated from its saved start until the outputs at its end settle.
//
//   u_end = route(y_old)
//   restore; step every unit with inputs that go from u_start to u_end (interpolate) or stay at u_end (hold-end);
//   outputs with direct feedthrough are evaluated with u_end
//   done when for every unit max_i |y_new - y_old| <= tolerance * max(1, |y_new|)
//
// Interpolating reproduces the monolithic result for explicit unit solvers; hold-end is the literal reading of
// the source and dissipates. The next y_old is y_new (fixed point), a mean of both (relaxation, Aitken), or the quasi-Newton
// point, which also finds solutions that fixed-point iteration runs away from.
#include <math.h>
#include <string.h>

#include "linalg/linalg_anderson.h"
#include "master/master.h"

struct yoke_iterate {
  size_t n;       // outputs that are connected
  size_t* index;  // into Y
  double *x, *g, *weight, *r, *r_last;
  double omega;  // Aitken's factor
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
  YOKE_TRY_MEMORY(it && is_listed && index && state->u_start && state->u_end && state->y_old &&
                  state->images);
  it->index = index;
  it->n = list_connected(system, index, is_listed);
  double* numbers = yoke__arena_array(arena, 5 * it->n + 1, sizeof(double));
  double* memory = yoke__arena_array(arena, yoke__anderson_size(it->n), sizeof(double));
  YOKE_TRY_MEMORY(numbers && memory);
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

static void blend_inputs(const yoke_system* system, yoke_state* state, const yoke_system_unit* su,
                         double s) {
  const bool is_held = system->scenario->iteration.mode == YOKE_ITERATE_HOLD_END;
  for (size_t i = su->u; i < su->u + su->unit.n_u; i++) {
    state->u[i] =
        is_held ? state->u_end[i] : state->u_start[i] + s * (state->u_end[i] - state->u_start[i]);
  }
}

// outputs at the end of the step, those with feedthrough with the inputs there
static yoke_status read_end(const yoke_system* system, yoke_state* state, size_t unit,
                            yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  const double t = yoke__clock_time(&system->clock, (state->n_slots + 1) * system->slot);
  if (su->unit.info->n_feedthrough > 0) {
    yoke_status status = yoke__unit_set_inputs(&su->unit, state->u_end + su->u);
    if (status >= 0) {
      status = su->unit.ops->refresh(su->unit.self, t);
    }
    if (status < 0) {
      return yoke__master_fail(failure, system, unit, status, t, "outputs could not be refreshed");
    }
  }
  YOKE_TRY(yoke__master_get_outputs(system, unit, t, state->y + su->y, failure));
  return yoke__master_get_typed(system, state, unit, t, state->y, failure);
}

static yoke_status repeat_step(const yoke_system* system, yoke_state* state, size_t unit,
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
    blend_inputs(system, state, su, (double)j / (double)su->n_steps);
    status = yoke__unit_set_inputs(&su->unit, state->u + su->u);
    if (status < 0) {
      return yoke__master_fail(failure, system, unit, status, t, "inputs were refused");
    }
    YOKE_TRY(yoke__master_call_step(system, state, unit, t, su->step, failure));
  }
  return read_end(system, state, unit, failure);
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
  state->iteration.most = n > state->iteration.most ? n : state->iteration.most;
  return YOKE_OK;
}
