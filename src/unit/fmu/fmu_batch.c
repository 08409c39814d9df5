// Variables that are neither real inputs nor real outputs, fetched together: one call of the binary per type.
//
// A list of places is sorted into batches when it is first seen, which is never during a step; there are as many lists as
// there are answers to how much is read. Binary values and clocks are fetched one by one, and so is everything of FMI 3.0 with
// event mode, where our side knows some values better than the binary (fmu_events.c), and of FMI 1.0.
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
  size_t n;     // numbers
  void* raw;    // as the binary has them
  fmu_way way;  // that all of them go
} batch;

typedef struct fmu_batches {
  struct fmu_batches* next;
  const yoke_value_place* places;
  size_t n_places;
  batch* items;  // those that have members
  size_t n_items;
  batch_member* alone;  // what is fetched one by one
  size_t n_alone;
  bool has_arrays;  // or other long values, but for texts: nobody looks whether they have changed
} fmu_batches;

static bool is_batched(const fmu* f, const fmu_slot* slot) {
  const bool has_events = f->events != NULL && f->events->is_used;
  return f->version->get_raw != NULL && !has_events && slot->type != YOKE_FMI_BINARY &&
         slot->type != YOKE_FMI_CLOCK;
}

static yoke_status lay_batch(fmu* f, batch* b, size_t n_members, size_t n) {
  b->refs = yoke__arena_array(&f->arena, n_members, sizeof *b->refs);
  b->members = yoke__arena_array(&f->arena, n_members, sizeof *b->members);
  b->raw = yoke__arena_array(&f->arena, n, sizeof(double));  // the widest type
  return b->refs == NULL || b->members == NULL || b->raw == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

static void append_member(const fmu* f, const yoke_value_place* place, batch_member to[],
                          size_t* n) {
  to[(*n)++] = (batch_member){&f->layout.slots[place->variable],
                              &f->layout.info.variables[place->variable], place->at};
}

// The way that all members go.
static fmu_way way_of(const batch* b) {
  const fmu_way way = (fmu_way)b->members[0].slot->way;
  for (size_t i = 1; i < b->n_members; i++) {
    if (b->members[i].slot->way != way) {
      return FMU_ANY_WAY;
    }
  }
  return way;
}

static yoke_status make_batches(fmu* f, const yoke_value_place places[], size_t n) {
  fmu_batches* all = yoke__arena_take(&f->arena, sizeof *all);
  YOKE_TRY_MEMORY(all);
  *all = (fmu_batches){.next = f->batches,
                       .places = places,
                       .n_places = n,
                       .items = yoke__arena_array(&f->arena, YOKE_FMI_N_TYPES, sizeof(batch)),
                       .alone = yoke__arena_array(&f->arena, n + 1, sizeof(batch_member))};
  YOKE_TRY_MEMORY(all->items && all->alone);
  size_t n_members[YOKE_FMI_N_TYPES] = {0}, n_numbers[YOKE_FMI_N_TYPES] = {0};
  for (size_t i = 0; i < n; i++) {
    const fmu_slot* slot = &f->layout.slots[places[i].variable];
    if (is_batched(f, slot)) {
      n_members[slot->type]++;
      n_numbers[slot->type] += slot->n;
    } else {
      append_member(f, &places[i], all->alone, &all->n_alone);
    }
  }
  for (size_t type = 0; type < YOKE_FMI_N_TYPES; type++) {
    if (n_members[type] == 0) {
      continue;
    }
    batch* b = &all->items[all->n_items++];
    b->type = (yoke_fmi_type)type;
    YOKE_TRY(lay_batch(f, b, n_members[type], n_numbers[type]));
    for (size_t i = 0; i < n; i++) {
      const fmu_slot* slot = &f->layout.slots[places[i].variable];
      if (slot->type == type) {
        b->refs[b->n_members] = slot->reference;
        append_member(f, &places[i], b->members, &b->n_members);
        b->n += slot->n;
      }
    }
    all->has_arrays = all->has_arrays || (b->n > b->n_members && type != YOKE_FMI_STRING);
    b->way = way_of(b);
  }
  all->has_arrays = all->has_arrays || all->n_alone > 0;
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

size_t yoke__fmu_fitting(const fmu* f, const char* text, size_t n, size_t room) {
  if (n <= room) {
    return n;
  }
  size_t kept = room;
  // FMI 3.0 has UTF-8: a character of several bytes is never cut in two
  while (f->description->version == 3 && kept > 0 && ((unsigned char)text[kept] & 0xC0u) == 0x80u) {
    kept--;
  }
  return kept;
}

// The bytes behind a text are 0, and stay as they are with a text that has not changed. True if none has.
static bool put_texts(fmu* f, const batch_member* m, const char* const texts[], char* to) {
  bool are_same = true;
  const size_t room = m->variable->max_size;
  for (size_t i = 0; i < m->slot->n; i++, to += room) {
    const char* text = texts[i] == NULL ? "" : texts[i];
    if (strcmp(to, text) == 0) {
      continue;
    }
    const size_t n = strlen(text), n_kept = yoke__fmu_fitting(f, text, n, room - 1);
    f->n_cut += n_kept < n;
    memcpy(to, text, n_kept);
    memset(to + n_kept, 0, room - n_kept);
    are_same = false;
  }
  return are_same;
}

// one call, and each number as 64 bits
#define FETCH(version, Name, type, value, ...)                                                     \
  YOKE_TRY(FMU_CALL##version(f, Get##Name, f->instance, b->refs, b->n, __VA_ARGS__));              \
  for (const batch_member *m = b->members, *last = m + b->n - 1; m <= last; m++) {                 \
    const type raw = ((const type*)b->raw)[m - b->members];                                        \
    const int64_t whole = (value);                                                                 \
    memcpy(base + m->at, &whole, sizeof whole);                                                    \
  }                                                                                                \
  break

static yoke_status fetch_texts(fmu* f, const batch* b, char* base, bool* are_same) {
  const char** text = b->raw;
  // a binary that forgets one leaves NULL behind
  if (b->n == 1) {
    text[0] = NULL;
  } else {
    memset(text, 0, b->n * sizeof *text);
  }
  YOKE_TRY(f->description->version == 3
               ? FMU_CALL3(f, GetString, f->instance, b->refs, b->n_members, text, b->n)
               : FMU_CALL2(f, GetString, f->instance, b->refs, b->n_members, text));
  for (const batch_member* m = b->members; m < b->members + b->n_members; m++) {
    *are_same = put_texts(f, m, text, base + m->at) && *are_same;
    text += m->slot->n;
  }
  return YOKE_OK;
}

static yoke_status fetch_any(fmu* f, const batch* b, char* base) {
  YOKE_TRY(f->version->get_raw(f, b->type, b->refs, b->n_members, b->raw, b->n));
  size_t first = 0;
  for (const batch_member* m = b->members; m < b->members + b->n_members; m++) {
    put_member(f, b, m, first, base + m->at);
    first += m->slot->n;
  }
  return YOKE_OK;
}

static inline yoke_status fetch_batch(fmu* f, const batch* b, char* base, bool* are_same) {
  switch (b->way) {
  case FMU_INTEGER2:
    FETCH(2, Integer, int32_t, raw, b->raw);
  case FMU_BOOLEAN2:
    FETCH(2, Boolean, int32_t, raw != 0, b->raw);
  case FMU_INT32:
    FETCH(3, Int32, int32_t, raw, b->raw, b->n);
  case FMU_BOOLEAN3:
    FETCH(3, Boolean, unsigned char, raw != 0, b->raw, b->n);
  case FMU_TEXTS:
    return fetch_texts(f, b, base, are_same);
  case FMU_ANY_WAY:
    return fetch_any(f, b, base);
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

// are_same: whether the long ones are as they were, as far as that is known
static yoke_status fetch_all(fmu* f, const fmu_batches* all, char* base, bool* are_same) {
  *are_same = !all->has_arrays;
  const batch* end = all->items + all->n_items;
  for (const batch* b = all->items; b < end; b++) {
    YOKE_TRY(fetch_batch(f, b, base, are_same));
  }
  for (size_t i = 0; i < all->n_alone; i++) {
    const batch_member* m = &all->alone[i];
    YOKE_TRY(f->version->get(f, m->slot, m->variable, base + m->at));
  }
  return YOKE_OK;
}

static const fmu_batches* find_batches(const fmu* f, const yoke_value_place places[], size_t n) {
  const fmu_batches* all = f->batches;
  while (all != NULL && (all->places != places || all->n_places != n)) {
    all = all->next;
  }
  return all;
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
  const fmu_batches* all = find_batches(f, places, n);
  if (all == NULL) {
    YOKE_TRY(make_batches(f, places, n));
    all = f->batches;
  }
  // before the run FMI 2.0 shows outputs only; nobody needs more of it then
  if (f->phase == FMU_INITIALISING && f->description->version < 3) {
    return get_outputs_alone(f, places, n, base);
  }
  bool are_same = false;
  return fetch_all(f, all, base, &are_same);
}

// One input, by the shortest way that there is for it.
static inline yoke_status set_input(fmu* f, size_t variable, const unsigned char given[]) {
  const fmu_slot* slot = &f->layout.slots[variable];
  int64_t whole = 0;
  memcpy(&whole, given, sizeof whole);
  const int32_t number = (int32_t)whole;
  const fmi2Boolean old_flag = whole != 0 ? fmi2True : fmi2False;
  const fmi3Boolean flag = whole != 0;
  switch (number != whole || f->is_set_late ? FMU_ANY_WAY : slot->way) {
  case FMU_INTEGER2:
    return FMU_CALL2(f, SetInteger, f->instance, &slot->reference, 1, &number);
  case FMU_BOOLEAN2:
    return FMU_CALL2(f, SetBoolean, f->instance, &slot->reference, 1, &old_flag);
  case FMU_INT32:
    return FMU_CALL3(f, SetInt32, f->instance, &slot->reference, 1, &number, 1);
  case FMU_BOOLEAN3:
    return FMU_CALL3(f, SetBoolean, f->instance, &slot->reference, 1, &flag, 1);
  default:
    f->message[0] = '\0';
    return f->version->set(f, slot, &f->layout.info.variables[variable], given);
  }
}

// True if the input differs from what the unit has, which it then is. Most are single numbers.
static inline bool take_news(const unsigned char given[], unsigned char known[], size_t size) {
  if (size != sizeof(int64_t)) {
    const bool is_same = memcmp(given, known, size) == 0;
    if (!is_same) {
      memcpy(known, given, size);
    }
    return !is_same;
  }
  int64_t left, right;
  memcpy(&left, given, sizeof left);
  memcpy(&right, known, sizeof right);
  memcpy(known, &left, sizeof left);
  return left != right;
}

yoke_status yoke__fmu_advance_values(void* self, double t, double h, const double u[], double y[],
                                     yoke_step_values* values, yoke_step_result* result) {
  fmu* f = self;
  if (f->phase != FMU_RUNNING) {
    result->message = f->message;
    return YOKE_UNIT_FAILED;
  }
  const unsigned char* given = values->given;
  unsigned char* known = values->known;
  const bool are_same = values->are_inputs_same;
  const yoke_value_place* end = values->inputs + values->n_inputs;
  for (const yoke_value_place* in = values->inputs; in < end; in++) {
    if (are_same && in->size != sizeof(int64_t)) {
      continue;
    }
    if (take_news(given + in->at, known + in->at, in->size)) {
      const yoke_status status = set_input(f, in->variable, given + in->at);
      if (status < 0) {
        values->refused = (size_t)(in - values->inputs);
        return status;
      }
    }
  }
  YOKE_TRY(f->file->bare.advance(f, t, h, u, y, result));
  // a step that was not done ends the run
  const bool is_done = (result->flags & (YOKE_STEP_DISCARDED | YOKE_STEP_EARLY_RETURN)) == 0;
  if (values->n_outputs == 0 || !is_done) {
    return YOKE_OK;
  }
  const fmu_batches* all = find_batches(f, values->outputs, values->n_outputs);
  const yoke_status status =
      all == NULL ? yoke__fmu_get_values(f, values->outputs, values->n_outputs, values->to)
                  : fetch_all(f, all, (char*)values->to, &values->are_outputs_same);
  if (status < 0) {
    result->message = f->message;
  }
  return status;
}
