// The outer loop; that of a free-running simulation.
#include "master/master_run.h"

#include "base/base_os.h"

#define N_TIMED_FIRST 64         // steps timed one by one before the sampling is chosen
#define HEAVY_NS      5000       // above this every step is timed: two clock readings are 1 % of it
#define SAMPLE_MASK   63         // otherwise one in 64
#define SHOW_NS       100000000  // between two calls of `progress`

static int64_t choose_mask(const yoke_loop_info* info) {
  if (info->n_steps < N_TIMED_FIRST) {
    return 0;
  }
  return yoke__histogram_quantile(&info->step_ns, 0.5) > HEAVY_NS ? 0 : SAMPLE_MASK;
}

yoke_status yoke__master_timed_step(const yoke_system* system, yoke_state* state,
                                    yoke_loop_info* info) {
  yoke_status status;
  if ((info->n_steps & info->mask) == 0) {
    const int64_t start = yoke__os_now_ns();
    if (info->begin_ns == 0) {
      info->begin_ns = start;
    }
    status = yoke__master_step(system, state);
    const int64_t end = yoke__os_now_ns();
    yoke__histogram_add(&info->step_ns, end - start);
    info->wall_s = (double)(end - info->begin_ns) * 1e-9;
    info->mask = info->mask == 0 ? choose_mask(info) : info->mask;
  } else {
    status = yoke__master_step(system, state);
  }
  if (status >= 0) {
    info->n_steps++;
    info->t_reached = state->t;
    atomic_store_explicit(&state->progress, state->n_slots, memory_order_relaxed);
  }
  return status;
}

// macro steps until the end, a failure or a cancel
static yoke_status run_steps(const yoke_system* system, yoke_state* state,
                             const yoke_loop_settings* settings, yoke_loop_info* info) {
  double shown_s = info->wall_s;
  while (state->n_slots < system->n_slots) {
    if (settings->is_cancelled != NULL &&
        atomic_load_explicit(settings->is_cancelled, memory_order_relaxed)) {
      return YOKE_INTERRUPTED;
    }
    if (settings->progress != NULL && info->wall_s - shown_s > SHOW_NS * 1e-9) {
      shown_s = info->wall_s;
      if (!settings->progress(settings->to)) {
        return YOKE_INTERRUPTED;
      }
    }
    if (settings->each != NULL && !settings->each(settings->to)) {
      return YOKE_INTERRUPTED;
    }
    const yoke_status status = yoke__master_timed_step(system, state, info);
    if (status != YOKE_OK) {
      return status;
    }
  }
  return YOKE_OK;
}

yoke_status yoke__master_loop(const yoke_system* system, yoke_state* state,
                              const yoke_loop_settings* settings, yoke_loop_info* info) {
  const int64_t start = yoke__os_now_ns();
  if (info->begin_ns == 0) {
    info->begin_ns = start;
  }
  info->status = settings->pace != NULL ? yoke__master_paced_loop(system, state, settings, info)
                                        : run_steps(system, state, settings, info);
  if (info->status < 0 && info->status != YOKE_INTERRUPTED && info->failure.message.text == NULL) {
    yoke__failure_copy(&info->failure, &state->failure);
  }
  info->iteration = state->iteration;
  info->wall_s = (double)(yoke__os_now_ns() - info->begin_ns) * 1e-9;
  return info->status;
}
