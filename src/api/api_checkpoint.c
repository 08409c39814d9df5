// Checkpoints: the state of a simulation in a file, for another process on a machine of the same kind.
//
//   file    head | the numbers of api_state.c | per unit: its number of bytes (uint64), the bytes
//
// The fingerprint in the head is of everything that gives the numbers their meaning: names, types, sizes, settings of the units,
// values that were written before the start, steps, connections and methods. The stop time is not part of it: a run may go on for longer than it was meant to. The checksum finds damage.
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/base_hash.h"
#include "base/base_os.h"
#include "base/base_version.h"

#define MAGIC           "yoke-checkpoint"
#define FORMAT          3u
#define BYTE_ORDER_MARK 0x01020304u
#define MAX_SIZE        (SIZE_MAX > UINT32_MAX ? (size_t)16 << 30 : SIZE_MAX / 2)

typedef struct head {
  char magic[16];
  uint32_t format, byte_order;
  char version[32];
  uint64_t fingerprint;
  uint64_t size;       // of the file
  uint64_t n_numbers;  // bytes
  uint64_t n_units;
  int64_t n_slots;    // where the run stands
  uint64_t checksum;  // of the file with 0 here
} head;

// ---- fingerprint

static uint64_t hash_text(uint64_t from, const char* text) {
  return yoke__hash_text(from, text == NULL ? "" : text);
}

#define HASH(from, value) yoke__hash_bytes((from), &(value), sizeof(value))

// What a file gives a setting, at most as deep as a file may be nested.
// NOLINTNEXTLINE(misc-no-recursion)
static uint64_t hash_node(uint64_t h, const yoke_node* node) {
  h = hash_text(h, node->text);
  for (const yoke_node* at = node->first; at != NULL; at = at->next) {
    h = hash_node(hash_text(h, at->key), at);
  }
  return h;
}

static uint64_t hash_settings(uint64_t h, const yoke_setting settings[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    h = hash_text(h, settings[i].name);
    h = settings[i].value == NULL ? h : hash_node(h, settings[i].value);
  }
  return h;
}

static uint64_t hash_unit(uint64_t h, const yoke_system_unit* unit) {
  const yoke_unit_info* info = unit->unit.info;
  h = hash_text(hash_text(h, unit->name), unit->unit.ops->name);
  h = HASH(h, unit->period);
  h = HASH(h, unit->is_law);
  h = hash_settings(h, unit->source->with, unit->source->n_with);
  h = hash_settings(h, unit->source->values, unit->source->n_values);
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    const size_t size = yoke__variable_size(v);
    h = hash_text(h, v->name);
    h = HASH(h, v->type);
    h = HASH(h, v->causality);
    h = HASH(h, size);
  }
  return h;
}

static uint64_t hash_connections(uint64_t h, const yoke_system* system) {
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    const uint64_t numbers[] = {link->from_unit,
                                link->from_variable,
                                link->from_element,
                                link->to_unit,
                                link->to_variable,
                                link->to_element,
                                link->n,
                                (uint64_t)link->interval,
                                (uint64_t)link->delay,
                                (uint64_t)link->order,
                                (uint64_t)link->flow};
    h = HASH(h, numbers);
    h = HASH(h, link->gain);
    h = HASH(h, link->offset);
  }
  for (size_t i = 0; i < system->n_groups; i++) {
    const yoke_group* group = &system->groups[i];
    const size_t n = group->ops->n_parameters;
    h = hash_text(h, group->ops->name);
    h = HASH(h, group->setup.n_signals);
    h = n == 0 ? h : yoke__hash_bytes(h, group->setup.parameters, n * sizeof(double));
  }
  for (size_t i = 0; i < system->n_bonds; i++) {
    h = hash_text(h, system->bonds[i].name);
    h = HASH(h, system->bonds[i].ledger.watch.window);
    h = HASH(h, system->bonds[i].ledger.watch.period);
  }
  for (size_t i = 0; i < system->n_judged; i++) {
    const uint64_t numbers[] = {system->judged[i].y, (uint64_t)system->judged[i].every};
    h = HASH(h, numbers);
  }
  return h;
}

static uint64_t fingerprint(const yoke_simulation* simulation) {
  const yoke_system* system = simulation->system;
  const yoke_scheme scheme = system->scenario->scheme;
  const double step = yoke__clock_seconds(&system->clock, system->macro);
  uint64_t h = HASH(YOKE_HASH_START, scheme);
  const yoke_inputs inputs = system->scenario->inputs;
  h = HASH(h, inputs);
  for (size_t i = 0; i < simulation->n_starts; i++) {
    h ^= simulation->starts[i].hash;  // in whatever order they were written
  }
  h = HASH(h, step);
  h = HASH(h, system->slot);
  h = HASH(h, system->macro);
  h = HASH(h, system->t_start);
  h = HASH(h, system->is_adaptive);
  for (size_t i = 0; i < system->n_units; i++) {
    h = hash_unit(h, &system->units[i]);
    if (system->units[i].inputs != inputs) {
      h = HASH(h, system->units[i].inputs);
    }
  }
  return hash_connections(h, system);
}

static uint64_t checksum(head own, const void* rest, size_t n) {
  own.checksum = 0;
  return yoke__hash_bytes(HASH(YOKE_HASH_START, own), rest, n);
}

static size_t count_numbers(yoke_simulation* simulation) {
  yoke_image image = {0};
  yoke__api_image(simulation, &image);
  return image.used;
}

static head make_head(yoke_simulation* simulation) {
  head own = {.magic = MAGIC,
              .format = FORMAT,
              .byte_order = BYTE_ORDER_MARK,
              .fingerprint = fingerprint(simulation),
              .n_numbers = count_numbers(simulation),
              .n_units = simulation->system->n_units,
              .n_slots = simulation->state->n_slots};
  snprintf(own.version, sizeof own.version, "%s %s", yoke_version(), yoke__commit());
  return own;
}

// ---- units

typedef struct unit_bytes {
  const yoke_system* system;
  unsigned char** bytes;        // per unit: what it wrote
  const unsigned char** found;  // per unit: what it reads
  size_t* sizes;
} unit_bytes;

static yoke_status write_unit(void* context, size_t i) {
  unit_bytes* all = context;
  const yoke_unit* unit = &all->system->units[i].unit;
  size_t size = 0;
  yoke_status status = yoke__unit_serialise(unit, NULL, &size);
  if (status != YOKE_FULL) {
    return status;  // it has nothing to write, or failed
  }
  // a state may grow between two calls, but not for ever
  for (int attempt = 0; attempt < 3 && status == YOKE_FULL; attempt++) {
    all->sizes[i] = size;
    free(all->bytes[i]);
    all->bytes[i] = calloc(1, size);
    status =
        all->bytes[i] == NULL ? YOKE_NO_MEMORY : yoke__unit_serialise(unit, all->bytes[i], &size);
  }
  all->sizes[i] = status < 0 ? 0 : size;
  return status;
}

static yoke_status read_unit(void* context, size_t i) {
  const unit_bytes* all = context;
  return all->sizes[i] == 0
             ? YOKE_OK
             : yoke__unit_deserialise(&all->system->units[i].unit, all->found[i], all->sizes[i]);
}

// ---- writing

// Everything behind the head.
static yoke_status write_body(yoke_simulation* simulation, const unit_bytes* units, head* own,
                              unsigned char** out) {
  const size_t n_units = simulation->system->n_units;
  size_t size = sizeof *own + own->n_numbers;
  for (size_t i = 0; i < n_units; i++) {
    size += sizeof(uint64_t) + units->sizes[i];
  }
  unsigned char* file = calloc(1, size);
  if (file == NULL) {
    return YOKE_NO_MEMORY;
  }
  yoke_image image = {.to = file + sizeof *own};
  yoke__api_image(simulation, &image);
  for (size_t i = 0; i < n_units; i++) {
    uint64_t n = units->sizes[i];
    YOKE_IMAGE_VALUE(&image, n);
    yoke__image_part(&image, units->bytes[i], units->sizes[i]);
  }
  own->size = size;
  own->checksum = checksum(*own, file + sizeof *own, size - sizeof *own);
  memcpy(file, own, sizeof *own);
  *out = file;
  return YOKE_OK;
}

yoke_status yoke__api_checkpoint_write(yoke_simulation* simulation, unsigned char** file,
                                       size_t* size) {
  const yoke_system* system = simulation->system;
  unit_bytes units = {.system = system,
                      .bytes = calloc(system->n_units + 1, sizeof *units.bytes),
                      .sizes = calloc(system->n_units + 1, sizeof *units.sizes)};
  head own = make_head(simulation);
  yoke_status status = units.bytes == NULL || units.sizes == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  if (status >= 0) {
    const uint64_t mode = yoke__os_float_mode_set();
    status = yoke__master_each_unit(system, simulation->state, write_unit, &units,
                                    "the state could not be saved");
    yoke__os_float_mode_restore(mode);
    yoke__api_failed(simulation, status);
    yoke__master_clear_failure(system, simulation->state);
  }
  if (status >= 0) {
    status = write_body(simulation, &units, &own, file);
    *size = own.size;
  }
  for (size_t i = 0; units.bytes != NULL && i < system->n_units; i++) {
    free(units.bytes[i]);
  }
  free((void*)units.bytes);
  free(units.sizes);
  return status;
}

static yoke_status check_path(const yoke_simulation* simulation, const char* path) {
  return path != NULL && path[0] != '\0'
             ? YOKE_OK
             : yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL,
                                "a checkpoint needs the name of a file");
}

static yoke_status checkpoint(yoke_simulation* simulation, const char* path) {
  YOKE_TRY(check_path(simulation, path));
  YOKE_TRY(yoke__api_begin_save(simulation, true));
  unsigned char* file = NULL;
  size_t size = 0;
  yoke_status status = yoke__api_checkpoint_write(simulation, &file, &size);
  if (status >= 0) {
    yoke_context about;
    yoke__context_init(&about, &simulation->outer, (yoke_place){.source = path}, NULL, (double)NAN);
    status = yoke__os_write_file_as(path, "the checkpoint", file, size, &about.sink);
  }
  free(file);
  return status;
}

yoke_status yoke_simulation_checkpoint(yoke_simulation* simulation, const char* path) {
  YOKE_TRY(yoke__api_enter(simulation, true));
  return yoke__api_leave(simulation, checkpoint(simulation, path));
}

// ---- reading

// Why a file does not fit; NULL: it does. room: for a text with numbers.
static const char* find_fault(yoke_simulation* simulation, const unsigned char* file, size_t size,
                              char* room, size_t room_size) {
  const yoke_system* system = simulation->system;
  const head wanted = make_head(simulation);
  head own;
  if (size < sizeof own || memcmp(file, MAGIC, sizeof MAGIC) != 0) {
    return "this is not a checkpoint of Yoke";
  }
  memcpy(&own, file, sizeof own);
  if (own.byte_order != BYTE_ORDER_MARK) {
    return "the checkpoint comes from a machine with another order of bytes";
  }
  if (own.format != FORMAT || memcmp(own.version, wanted.version, sizeof own.version) != 0) {
    return "the checkpoint was written by another version of Yoke";
  }
  if (own.size != size || own.checksum != checksum(own, file + sizeof own, size - sizeof own)) {
    return "the checkpoint is damaged";
  }
  if (own.fingerprint != wanted.fingerprint || own.n_numbers != wanted.n_numbers ||
      own.n_units != wanted.n_units || own.n_numbers > size - sizeof own) {
    return "the checkpoint is of another system, or of one with other settings";
  }
  if (own.n_slots > system->n_slots) {
    snprintf(room, room_size, "the checkpoint is of t = %g s, after the stop time %g s",
             yoke__clock_time(&system->clock, own.n_slots * system->slot), system->t_stop);
    return room;
  }
  return NULL;
}

// Where the bytes of each unit lie. False if the lengths do not add up.
static bool find_units(const unsigned char* file, size_t size, size_t at, size_t n_units,
                       unit_bytes* units) {
  for (size_t i = 0; i < n_units; i++) {
    uint64_t n = 0;
    if (size - at < sizeof n) {
      return false;
    }
    memcpy(&n, file + at, sizeof n);
    at += sizeof n;
    if (n > size - at) {
      return false;
    }
    units->found[i] = file + at;
    units->sizes[i] = (size_t)n;
    at += (size_t)n;
  }
  return at == size;
}

// A unit with a portable image reads all of it or nothing.
static bool fits_units(const yoke_system* system, const unit_bytes* units) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_unit* unit = &system->units[i].unit;
    const bool is_image = unit->ops->serialise == NULL || unit->ops->deserialise == NULL;
    if (is_image && units->sizes[i] != yoke__unit_image_size(unit)) {
      return false;
    }
  }
  return true;
}

static yoke_status take_over(yoke_simulation* simulation, const unsigned char* file,
                             unit_bytes* units) {
  YOKE_TRY(yoke__api_begin_restore(simulation));
  const uint64_t mode = yoke__os_float_mode_set();
  const yoke_status status = yoke__master_each_unit(
      simulation->system, simulation->state, read_unit, units, "the state could not be restored");
  yoke__os_float_mode_restore(mode);
  YOKE_TRY(yoke__api_failed(simulation, status));
  yoke_image numbers = {.from = file + sizeof(head)};
  yoke__api_image(simulation, &numbers);
  atomic_store(&simulation->is_over, yoke_simulation_is_done(simulation));
  return YOKE_OK;
}

yoke_status yoke__api_checkpoint_read(yoke_simulation* simulation, const char* name,
                                      const unsigned char* file, size_t size) {
  const yoke_system* system = simulation->system;
  const yoke_place place = {.source = name};
  char room[128];
  const char* fault = find_fault(simulation, file, size, room, sizeof room);
  if (fault != NULL) {
    return yoke__fail_at(&simulation->outer, YOKE_BAD_INPUT, place, "%s", fault);
  }
  unit_bytes units = {.system = system,
                      .found = calloc(system->n_units + 1, sizeof *units.found),
                      .sizes = calloc(system->n_units + 1, sizeof *units.sizes)};
  yoke_status status = YOKE_NO_MEMORY;
  if (units.found != NULL && units.sizes != NULL) {
    const size_t at = sizeof(head) + count_numbers(simulation);
    const bool fits =
        find_units(file, size, at, system->n_units, &units) && fits_units(system, &units);
    status = fits ? take_over(simulation, file, &units)
                  : yoke__fail_at(&simulation->outer, YOKE_BAD_INPUT, place,
                                  "the states of the units do not fit");
  }
  free((void*)units.found);
  free(units.sizes);
  return status;
}

static yoke_status resume(yoke_simulation* simulation, const char* path) {
  YOKE_TRY(check_path(simulation, path));
  YOKE_TRY(yoke__api_start(simulation));
  YOKE_TRY(yoke__master_check_image(simulation->system, true, &simulation->outer));
  char* file = NULL;
  size_t size = 0;
  yoke_context about;
  yoke__context_init(&about, &simulation->outer, (yoke_place){.source = path}, NULL, (double)NAN);
  YOKE_TRY(yoke__os_read_file_as(path, "the checkpoint", MAX_SIZE, &file, &size, &about.sink));
  const yoke_status status =
      yoke__api_checkpoint_read(simulation, path, (const unsigned char*)file, size);
  free(file);
  return status;
}

yoke_status yoke_simulation_resume(yoke_simulation* simulation, const char* path) {
  YOKE_TRY(yoke__api_enter(simulation, true));
  return yoke__api_leave(simulation, resume(simulation, path));
}
