// Saved states: everything that changes between two macro steps. What is constant after the start (tables, pointers, what
// is recorded) is not in them, so an image fits any simulation of the same system. Units have images of their own.
#include "base/base_check.h"
#include "master/master.h"

yoke_status yoke__master_check_image(const yoke_system* system, bool is_file,
                                     const yoke_sink* sink) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_unit* unit = &system->units[i].unit;
    const char* why = (unit->info->flags & YOKE_UNIT_PHYSICAL) != 0 ? "it is a real machine"
                      : is_file ? "it has no state that another process can read"
                                : "it has no operations for that";
    if (is_file ? !yoke__unit_is_portable(unit) : yoke__unit_image_size(unit) == 0) {
      char text[128];
      snprintf(text, sizeof text, "cannot be saved: %s", why);
      const yoke_message message = {.severity = YOKE_ERROR,
                                    .status = YOKE_NO_SUPPORT,
                                    .unit = system->units[i].name,
                                    .time = (double)NAN,
                                    .text = text};
      yoke_send(sink, &message);
      return YOKE_NO_SUPPORT;
    }
  }
  for (size_t i = 0; i < system->n_groups; i++) {
    const yoke_coupling_ops* ops = system->groups[i].ops;
    if (ops->image_size == NULL || ops->save == NULL || ops->restore == NULL) {
      return yoke_fail(sink, YOKE_NO_SUPPORT, "%s (%s) cannot be saved",
                       system->methods[system->groups[i].method].owner, ops->name);
    }
  }
  return YOKE_OK;
}

static void image_flag(atomic_bool* flag, yoke_image* image) {
  unsigned char value = atomic_load_explicit(flag, memory_order_relaxed);
  YOKE_IMAGE_VALUE(image, value);
  atomic_store_explicit(flag, value != 0, memory_order_relaxed);
}

static void image_groups(const yoke_system* system, yoke_state* state, yoke_image* image) {
  for (size_t i = 0; i < system->n_groups; i++) {
    const yoke_group* group = &system->groups[i];
    void* self = state->group_memory + group->self;
    if (group->role == YOKE_GROUP_MEMBER) {
      continue;
    }
    // what is computed beside the steps belongs to the state
    if (state->workers[i] != NULL) {
      (void)state->workers[i]->finish(state->workers[i]->context);
    }
    yoke__image_align(image);
    if (image->to != NULL) {
      group->ops->save(self, image->to + image->used);
    } else if (image->from != NULL) {
      group->ops->restore(self, image->from + image->used);
    }
    image->used += group->ops->image_size(self);
  }
}

static void image_iteration(const yoke_system* system, yoke_state* state, yoke_image* image) {
  if (state->iterate != NULL) {
    yoke__image_part(image, state->u_start, system->n_u * sizeof(double));
    yoke__image_part(image, state->u_end, system->n_u * sizeof(double));
    yoke__image_part(image, state->y_old, system->n_y * sizeof(double));
  }
  YOKE_IMAGE_VALUE(image, state->iteration);
}

static void image_step(const yoke_system* system, yoke_state* state, yoke_image* image) {
  YOKE_IMAGE_VALUE(image, state->stretch);
  YOKE_IMAGE_VALUE(image, state->stretch_next);
  YOKE_IMAGE_VALUE(image, state->slot_h);
  YOKE_IMAGE_VALUE(image, state->slot_h_next);
  YOKE_IMAGE_VALUE(image, state->omega_seen);
  YOKE_IMAGE_VALUE(image, state->h_least);
  YOKE_IMAGE_VALUE(image, state->h_most);
  YOKE_IMAGE_VALUE(image, state->n_adaptive);
  for (size_t i = 0; i < system->n_units - system->n_laws; i++) {
    YOKE_IMAGE_VALUE(image, state->hot[i].h);
  }
}

static void image_ledger(const yoke_system* system, yoke_state* state, yoke_image* image) {
  if (state->ledger != NULL) {
    yoke__image_part(image, state->strips, system->n_strip_numbers * sizeof(double));
    yoke__master_image_held(system, state, image);
    yoke__ledger_image(state->ledger, image);
  }
  size_t watched = atomic_load_explicit(&state->watched, memory_order_relaxed);
  YOKE_IMAGE_VALUE(image, watched);
  atomic_store_explicit(&state->watched, watched, memory_order_relaxed);
  YOKE_IMAGE_VALUE(image, state->is_stopped);
}

void yoke__master_image(const yoke_system* system, yoke_state* state, yoke_image* image) {
  memset(state->are_outputs_same, false, system->n_units * sizeof(bool));
  memset(state->are_inputs_same, false, system->n_units * sizeof(bool));
  const struct {
    void* part;
    size_t size;
  } parts[] = {
      {&state->n_slots, sizeof state->n_slots},
      {&state->t, sizeof state->t},
      {&state->has_tap_jumps, sizeof state->has_tap_jumps},
      {state->unit_t, system->n_units * sizeof(double)},
      {state->y, (system->n_y + system->n_linear) * sizeof(double)},
      {state->y_work, system->has_slow_units ? system->n_y * sizeof(double) : 0},
      {state->u, system->n_u * sizeof(double)},
      {state->du, system->n_u * sizeof(double)},
      {state->u_followed, state->u_followed == NULL ? 0 : system->n_u * sizeof(double)},
      {state->fifo, system->n_fifo * sizeof(double)},
      {state->v, system->n_typed_out},
      {state->v_work, system->has_slow_units ? system->n_typed_out : 0},
      {state->w, system->n_typed_in},
      {state->w_set, system->n_typed_in},
      {state->group_numbers, system->n_group_numbers * sizeof(double)},
      {state->intake_wait, system->n_intakes * sizeof(int64_t)},
      {state->intake_count, system->n_intakes * sizeof(int64_t)},
      {state->intake_due, system->n_intakes * sizeof(bool)},
      {state->unit_wait, system->n_units * sizeof(int64_t)},
      {state->group_since, system->n_groups * sizeof(int64_t)},
      {state->is_jumped, system->n_units * sizeof(bool)},
      {state->is_output_jumped, system->n_y * sizeof(bool)},
      {state->is_tap_jumped, system->n_taps * sizeof(bool)},
      {state->is_reset_due, system->n_signals * sizeof(bool)},
      {state->is_lost, system->n_signals * sizeof(bool)},
      {state->is_fifo_jump, system->n_fifo * sizeof(bool)},
  };
  for (size_t i = 0; i < YOKE_COUNT(parts); i++) {
    yoke__image_part(image, parts[i].part, parts[i].size);
  }
  image_flag(&state->is_end_wanted, image);
  image_flag(&state->has_events, image);
  image_iteration(system, state, image);
  image_step(system, state, image);
  image_ledger(system, state, image);
  yoke__master_image_flows(system, state, image);
  yoke__master_image_sources(system, state, image);
  yoke__master_image_watch(system, state, image);
  yoke__master_image_guard(system, state, image);
  yoke__master_image_own(state, image);
  image_groups(system, state, image);
  atomic_store_explicit(&state->progress, state->n_slots, memory_order_relaxed);
}

// ---- units

typedef struct unit_job {
  const yoke_system* system;
  yoke_state* state;
  yoke_status (*call)(void* context, size_t unit);
  void* context;
  const char* what;
} unit_job;

static void call_thread(void* context, int thread) {
  const unit_job* job = context;
  for (size_t i = 0; i < job->system->n_units; i++) {
    if (job->system->units[i].thread != thread) {
      continue;
    }
    const yoke_status status = job->call(job->context, i);
    if (status < 0) {
      yoke__master_fail_unit(&job->state->failures[thread], job->system, i, status, job->state->t,
                             "%s", job->what);
      return;
    }
  }
}

yoke_status yoke__master_each_unit(const yoke_system* system, yoke_state* state,
                                   yoke_status (*call)(void* context, size_t unit), void* context,
                                   const char* what) {
  unit_job job = {system, state, call, context, what};
  yoke__pool_run(system->pool, call_thread, &job);
  return yoke__master_collect_failures(system, state);
}

void yoke__master_clear_failure(const yoke_system* system, yoke_state* state) {
  state->failure = (yoke_failure){0};
  for (int i = 0; i < system->n_threads; i++) {
    state->failures[i] = (yoke_failure){0};
  }
}
