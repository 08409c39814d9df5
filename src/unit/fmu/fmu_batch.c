// Variables that are neither real inputs nor real outputs, fetched together: one call of the binary per type.
//
// The list of places never changes during a run, so it is sorted into batches when it is first seen, which is during
// initialisation. Texts, binary values and clocks are fetched one by one, and so is everything of FMI 3.0 with event mode,
// where our side knows some values better than the binary (fmu_events.c), and of FMI 1.0.
#include <string.h>

#include "unit/fmu/fmu.h"
#include "unit/fmu/fmu_events.h"

typedef struct batch_member {
  const fmu_slot* slot;
  const yoke_variable* variable;
  size_t at;
} batch_member;

typedef struct batch {
  yoke_fmi_type type;
  uint32_t* refs;
  batch_member* members;
  size_t n_members;
  size_t n;   // numbers
  void* raw;  // as the binary has them
} batch;

typedef struct fmu_batches {
  const yoke_value_place* places;
  size_t n_places;
  batch items[YOKE_FMI_N_TYPES];  // by type
} fmu_batches;

static bool is_batched(const fmu* f, const fmu_slot* slot) {
  const bool has_events = f->events != NULL && f->events->is_used;
  return f->version->get_raw != NULL && !has_events && slot->type != YOKE_FMI_STRING &&
         slot->type != YOKE_FMI_BINARY && slot->type != YOKE_FMI_CLOCK;
}

static yoke_status lay_batch(fmu* f, batch* b, size_t n_members, size_t n) {
  b->refs = yoke__arena_array(&f->arena, n_members, sizeof *b->refs);
  b->members = yoke__arena_array(&f->arena, n_members, sizeof *b->members);
  b->raw = yoke__arena_array(&f->arena, n, sizeof(double));  // the widest type
  return b->refs == NULL || b->members == NULL || b->raw == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

static yoke_status make_batches(fmu* f, const yoke_value_place places[], size_t n) {
  fmu_batches* all = yoke__arena_take(&f->arena, sizeof *all);
  YOKE_TRY_MEMORY(all);
  *all = (fmu_batches){.places = places, .n_places = n};
  size_t n_members[YOKE_FMI_N_TYPES] = {0}, n_numbers[YOKE_FMI_N_TYPES] = {0};
  for (size_t i = 0; i < n; i++) {
    const fmu_slot* slot = &f->layout.slots[places[i].variable];
    if (is_batched(f, slot)) {
      n_members[slot->type]++;
      n_numbers[slot->type] += slot->n;
    }
  }
  for (size_t type = 0; type < YOKE_FMI_N_TYPES; type++) {
    all->items[type].type = (yoke_fmi_type)type;
    YOKE_TRY(lay_batch(f, &all->items[type], n_members[type], n_numbers[type]));
  }
  for (size_t i = 0; i < n; i++) {
    const fmu_slot* slot = &f->layout.slots[places[i].variable];
    if (is_batched(f, slot)) {
      batch* b = &all->items[slot->type];
      b->refs[b->n_members] = slot->reference;
      b->members[b->n_members++] =
          (batch_member){slot, &f->layout.info.variables[places[i].variable], places[i].at};
      b->n += slot->n;
    }
  }
  f->batches = all;
  return YOKE_OK;
}

// one number of the binary as a 64-bit integer
static int64_t read_whole(const fmu* f, yoke_fmi_type type, const void* raw, size_t i) {
  const bool is_old = f->description->version < 3;
  switch (type) {
  case YOKE_FMI_INT8:
    return ((const int8_t*)raw)[i];
  case YOKE_FMI_UINT8:
    return ((const uint8_t*)raw)[i];
  case YOKE_FMI_INT16:
    return ((const int16_t*)raw)[i];
  case YOKE_FMI_UINT16:
    return ((const uint16_t*)raw)[i];
  case YOKE_FMI_INT32:
    return ((const int32_t*)raw)[i];
  case YOKE_FMI_UINT32:
    return ((const uint32_t*)raw)[i];
  case YOKE_FMI_BOOLEAN:
    // a byte that is neither 0 nor 1 must not be read as a bool
    return is_old ? ((const int32_t*)raw)[i] != 0 : ((const unsigned char*)raw)[i] != 0;
  case YOKE_FMI_ENUMERATION:
    return is_old ? ((const int32_t*)raw)[i] : ((const int64_t*)raw)[i];
  default:
    return ((const int64_t*)raw)[i];
  }
}

static void put_member(const fmu* f, const batch* b, const batch_member* m, size_t first,
                       char* to) {
  for (size_t i = 0; i < m->slot->n; i++, to += sizeof(double)) {
    if (m->variable->type == YOKE_REAL) {
      const double x = b->type == YOKE_FMI_FLOAT32 ? (double)((const float*)b->raw)[first + i]
                                                   : ((const double*)b->raw)[first + i];
      memcpy(to, &x, sizeof x);
    } else {
      int64_t whole = read_whole(f, b->type, b->raw, first + i);
      whole = m->variable->type == YOKE_ENUMERATION ? yoke__fmu_find_item(m->slot, whole) : whole;
      memcpy(to, &whole, sizeof whole);
    }
  }
}

static yoke_status fetch_batch(fmu* f, const batch* b, char* base) {
  YOKE_TRY(f->version->get_raw(f, b->type, b->refs, b->n_members, b->raw, b->n));
  size_t first = 0;
  for (size_t i = 0; i < b->n_members; i++) {
    put_member(f, b, &b->members[i], first, base + b->members[i].at);
    first += b->members[i].slot->n;
  }
  return YOKE_OK;
}

static yoke_status get_outputs_alone(fmu* f, const yoke_value_place places[], size_t n,
                                     char* base) {
  for (size_t i = 0; i < n; i++) {
    const yoke_variable* v = &f->layout.info.variables[places[i].variable];
    if (v->causality == YOKE_OUTPUT) {
      YOKE_TRY(f->version->get(f, &f->layout.slots[places[i].variable], v, base + places[i].at));
    }
  }
  return YOKE_OK;
}

yoke_status yoke__fmu_get_values(const void* self, const yoke_value_place places[], size_t n,
                                 void* base) {
  fmu* f = yoke__fmu_of(self);
  if (n == 0) {
    return YOKE_OK;
  }
  if (f->phase == FMU_FAILED || f->phase == FMU_DEAD) {
    return YOKE_UNIT_FAILED;
  }
  if (f->batches == NULL || f->batches->places != places || f->batches->n_places != n) {
    YOKE_TRY(make_batches(f, places, n));
  }
  // before the run FMI 2.0 shows outputs only; nobody needs more of it then
  if (f->phase == FMU_INITIALISING && f->description->version < 3) {
    return get_outputs_alone(f, places, n, base);
  }
  for (size_t type = 0; type < YOKE_FMI_N_TYPES; type++) {
    if (f->batches->items[type].n_members > 0) {
      YOKE_TRY(fetch_batch(f, &f->batches->items[type], base));
    }
  }
  for (size_t i = 0; i < n; i++) {
    const fmu_slot* slot = &f->layout.slots[places[i].variable];
    if (!is_batched(f, slot)) {
      YOKE_TRY(f->version->get(f, slot, &f->layout.info.variables[places[i].variable],
                               (char*)base + places[i].at));
    }
  }
  return YOKE_OK;
}
