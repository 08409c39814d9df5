// How good the inputs are, for units that want to know it (yoke_unit_ops.set_input_info). At every exchange that renews an input
// its source is asked, or the master says what it knows itself: the time, and that the value is new.
//
//   exchange k of an input    source says (or: time now, sequence k + 1)  ->  delay line  ->  infos[i]
//
// An input that is not connected may be written from outside at any time: it is new in every slot.
#include "master/master.h"

yoke_status yoke__master_layout_sources(const yoke_system* system, yoke_state* state) {
  const size_t n = system->n_sources;
  state->infos = yoke__arena_array(&state->arena, n + 1, sizeof *state->infos);
  state->n_renewed = yoke__arena_array(&state->arena, n + 1, sizeof *state->n_renewed);
  state->info_ring =
      yoke__arena_array(&state->arena, system->n_source_ring + 1, sizeof *state->info_ring);
  YOKE_TRY_MEMORY(state->infos && state->n_renewed && state->info_ring);
  return YOKE_OK;
}

// Bytes between the members stay as they are: images are compared.
static void copy_info(yoke_sample_info* to, const yoke_sample_info* from) {
  to->time_stamp = from->time_stamp;
  to->age = from->age;
  to->sequence = from->sequence;
  to->is_valid = from->is_valid;
  to->is_held = from->is_held;
  to->is_mean = from->is_mean;
}

// The value that is sent now. Under Gauss-Seidel outputs are as new as their units.
static yoke_sample_info ask(const yoke_system* system, const yoke_state* state,
                            const yoke_system_source* source, int64_t count) {
  const bool is_connected = source->unit != YOKE_NOT_FOUND;
  const bool is_gs = system->scenario->scheme == YOKE_GAUSS_SEIDEL;
  yoke_sample_info info = {.time_stamp =
                               is_gs && is_connected ? state->unit_t[source->unit] : state->t,
                           .sequence = (uint64_t)count + 1,
                           .is_valid = true};
  if (!is_connected) {
    return info;
  }
  const yoke_sample_info plain = info;
  const yoke_unit* unit = &system->units[source->unit].unit;
  if (source->has_info && unit->ops->sample_info(unit->self, source->variable, &info) < 0) {
    info = plain;
  }
  if (system->units[source->unit].is_own && yoke__master_is_held(state, source->unit)) {
    info.is_valid = false;
  }
  // a sender that has moved already gives the mean of the step that the receiver is going to make
  const bool is_ahead = is_gs && state->unit_t[source->unit] > state->t;
  info.is_held = source->is_held || (source->is_mean && is_ahead);
  info.is_mean = source->is_mean && !is_ahead;
  return info;
}

static void note(const yoke_system* system, yoke_state* state, size_t i) {
  const yoke_system_source* source = &system->sources[i];
  if (state->n_slots % source->every != 0) {
    return;
  }
  const int64_t count = state->n_renewed[i]++;
  const yoke_sample_info sent = ask(system, state, source, count);
  if (source->delay == 0) {
    copy_info(&state->infos[i], &sent);
    return;
  }
  // before the first sample arrives there is only the initial value
  const yoke_sample_info none = {.time_stamp = state->t};
  yoke_sample_info* place = &state->info_ring[source->ring + (size_t)(count % source->delay)];
  copy_info(&state->infos[i], count < source->delay ? &none : place);
  copy_info(place, &sent);
}

void yoke__master_note_sources(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < system->n_sources; i++) {
    note(system, state, i);
  }
}

void yoke__master_note_unit_sources(const yoke_system* system, yoke_state* state, size_t unit) {
  const yoke_system_unit* su = &system->units[unit];
  for (size_t i = su->first_source; i < su->first_source + su->n_sources; i++) {
    note(system, state, i);
  }
}

void yoke__master_image_sources(const yoke_system* system, yoke_state* state, yoke_image* image) {
  yoke__image_part(image, state->infos, system->n_sources * sizeof *state->infos);
  yoke__image_part(image, state->n_renewed, system->n_sources * sizeof *state->n_renewed);
  yoke__image_part(image, state->info_ring, system->n_source_ring * sizeof *state->info_ring);
}
