// Going back: images of a simulation in memory.
//
//   image   head | counters of the loop, then all that the master lists | one image per unit, each aligned
//
// A unit may keep things of its own beside its image (the states of an FMU), so an image belongs to one simulation. Files
// for other processes are in api_checkpoint.c.
#include <string.h>

#include "api/api.h"
#include "base/base_os.h"

#define MAGIC UINT64_C(0x31676d49656b6f59)  // "YokeImg1"

typedef struct head {
  uint64_t magic, owner, size;
} head;

// Where the images of the units begin.
static size_t units_at(const yoke_simulation* simulation) {
  yoke_image image = {.used = sizeof(head)};
  // it only counts; NOLINTNEXTLINE(performance-no-int-to-ptr)
  yoke__api_image((yoke_simulation*)(uintptr_t)simulation, &image);
  yoke__image_align(&image);
  return image.used;
}

static bool is_ours(const yoke_simulation* simulation, const void* image, size_t size) {
  head own;
  memcpy(&own, image, sizeof own);
  return own.magic == MAGIC && own.owner == simulation->id && own.size == size;
}

void yoke__api_image(yoke_simulation* simulation, yoke_image* image) {
  YOKE_IMAGE_VALUE(image, simulation->loop.n_steps);
  YOKE_IMAGE_VALUE(image, simulation->loop.t_reached);
  YOKE_IMAGE_VALUE(image, simulation->loop.status);
  YOKE_IMAGE_VALUE(image, simulation->loop.iteration);
  yoke__master_image(simulation->system, simulation->state, image);
}

// ---- before and after

yoke_status yoke__api_begin_save(yoke_simulation* simulation, bool is_file) {
  YOKE_TRY(yoke__api_start(simulation));
  if (simulation->state->failure.message.status < 0) {
    return yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL,
                            "the run has failed: there is no state to save");
  }
  YOKE_TRY(yoke__master_check_image(simulation->system, is_file, &simulation->outer));
  const uint64_t mode = yoke__os_float_mode_set();
  const yoke_status status = yoke__master_take_mail(simulation->system, simulation->state);
  yoke__os_float_mode_restore(mode);
  return yoke__api_failed(simulation, status);
}

yoke_status yoke__api_begin_restore(yoke_simulation* simulation) {
  if (simulation->state->record != NULL) {
    return yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL,
                            "it records: end the recording before going back in time");
  }
  yoke__trust_destroy(&simulation->trust);  // a verdict is of the run that is left
  yoke__master_drop_mail(simulation->state);
  yoke__master_clear_failure(simulation->system, simulation->state);
  simulation->loop.failure = (yoke_failure){0};
  return YOKE_OK;
}

yoke_status yoke__api_failed(yoke_simulation* simulation, yoke_status status) {
  if (status < 0 && simulation->state->failure.message.status < 0) {
    yoke_send(&simulation->sink, &simulation->state->failure.message);
  }
  return status;
}

// ---- units

typedef struct unit_images {
  const yoke_system* system;
  unsigned char* to;
  const unsigned char* from;
} unit_images;

static yoke_status save_unit(void* context, size_t i) {
  const unit_images* images = context;
  const yoke_system_unit* unit = &images->system->units[i];
  return yoke__unit_save(&unit->unit, images->to + unit->image, unit->image_size);
}

static yoke_status restore_unit(void* context, size_t i) {
  const unit_images* images = context;
  const yoke_system_unit* unit = &images->system->units[i];
  return yoke__unit_restore(&unit->unit, images->from + unit->image, unit->image_size);
}

// ---- the interface

size_t yoke_simulation_image_size(yoke_simulation* simulation) {
  if (yoke__api_enter(simulation, true) < 0) {
    return 0;
  }
  const bool has_image =
      yoke__api_start(simulation) >= 0 &&
      yoke__master_check_image(simulation->system, false, &simulation->outer) >= 0;
  const size_t size = has_image ? units_at(simulation) + simulation->system->n_image_bytes : 0;
  yoke__api_leave(simulation, YOKE_OK);
  return size;
}

static yoke_status save(yoke_simulation* simulation, void* image, size_t size) {
  YOKE_TRY(yoke__api_begin_save(simulation, false));
  const size_t at = units_at(simulation), wanted = at + simulation->system->n_image_bytes;
  if (image == NULL || size != wanted) {
    return yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL,
                            "an image of this simulation has %zu bytes", wanted);
  }
  // an image that was used before knows what its units keep beside it; any other starts at zero
  if (!is_ours(simulation, image, size)) {
    memset(image, 0, size);
  }
  unit_images units = {.system = simulation->system, .to = (unsigned char*)image + at};
  const uint64_t mode = yoke__os_float_mode_set();
  yoke_status status = yoke__master_each_unit(simulation->system, simulation->state, save_unit,
                                              &units, "the state could not be saved");
  yoke__os_float_mode_restore(mode);
  if (status < 0) {
    yoke__api_failed(simulation, status);
    yoke__master_clear_failure(simulation->system, simulation->state);
    return status;
  }
  const head own = {MAGIC, simulation->id, size};
  memcpy(image, &own, sizeof own);
  yoke_image numbers = {.to = image, .used = sizeof own};
  yoke__api_image(simulation, &numbers);
  return YOKE_OK;
}

yoke_status yoke_simulation_save(yoke_simulation* simulation, void* image, size_t size) {
  YOKE_TRY(yoke__api_enter(simulation, true));
  return yoke__api_leave(simulation, save(simulation, image, size));
}

static yoke_status restore(yoke_simulation* simulation, const void* image, size_t size) {
  if (image == NULL || size < sizeof(head) || simulation->state == NULL ||
      !is_ours(simulation, image, size)) {
    return yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL,
                            "this is not an image of this simulation");
  }
  YOKE_TRY(yoke__api_begin_restore(simulation));
  const size_t at = units_at(simulation);
  unit_images units = {.system = simulation->system, .from = (const unsigned char*)image + at};
  const uint64_t mode = yoke__os_float_mode_set();
  const yoke_status status =
      yoke__master_each_unit(simulation->system, simulation->state, restore_unit, &units,
                             "the state could not be restored");
  yoke__os_float_mode_restore(mode);
  YOKE_TRY(yoke__api_failed(simulation, status));
  yoke_image numbers = {.from = image, .used = sizeof(head)};
  yoke__api_image(simulation, &numbers);
  atomic_store(&simulation->is_over, yoke_simulation_is_done(simulation));
  return YOKE_OK;
}

yoke_status yoke_simulation_restore(yoke_simulation* simulation, const void* image, size_t size) {
  YOKE_TRY(yoke__api_enter(simulation, true));
  return yoke__api_leave(simulation, restore(simulation, image, size));
}
