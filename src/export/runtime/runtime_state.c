// Saved states.
//
// A state is one block: head, image of the unit, image of its start (used while initialising only). As bytes it is the
// same block with a checksum; it is understood by the same FMU on a machine with the same data layout.
#include <stdlib.h>
#include <string.h>

#include "export/runtime/runtime.h"

#define MAGIC UINT64_C(0x31554d46656b6f59)  // "YokeFMU1"

typedef struct head {
  uint64_t magic;
  uint64_t token;  // hash of the FMU's token: states of another FMU are refused
  uint64_t checksum;
  uint64_t image_size;
  uint64_t phase, flags;
  double time, t_start, t_stop, t_reached, first_step;
} head;

typedef struct saved {
  head head;
  char images[];  // the unit, its start
} saved;

enum {
  IS_DIRTY = 1u << 0,
  IS_STARTED = 1u << 1,
  IS_END_WANTED = 1u << 2,
  IS_SET_UP = 1u << 3,
  IS_EVENT = 1u << 4
};

// Fowler, Noll, Vo: FNV-1a, 64 bits.
static uint64_t hash(const void* bytes, size_t n, uint64_t from) {
  const unsigned char* at = bytes;
  for (size_t i = 0; i < n; i++) {
    from = (from ^ at[i]) * UINT64_C(0x100000001b3);
  }
  return from;
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

static uint64_t token_hash(const yoke_runtime* rt) {
  return hash(rt->config.token, strlen(rt->config.token), HASH_START);
}

static size_t state_size(const yoke_runtime* rt) {
  return sizeof(saved) + 2 * rt->image_size;
}

static uint64_t checksum(const saved* s) {
  head copy = s->head;
  copy.checksum = 0;
  const uint64_t of_head = hash(&copy, sizeof copy, HASH_START);
  return hash(s->images, 2 * (size_t)s->head.image_size, of_head);
}

static yoke_runtime_status refuse(const yoke_runtime* rt, const char* why) {
  return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "a saved state: %s", why);
}

static bool can_save(const yoke_runtime* rt) {
  return rt->unit.self != NULL && rt->image_size > 0;
}

// Belongs this state to an FMU like this one?
static bool is_ours(const yoke_runtime* rt, const saved* s) {
  return s != NULL && s->head.magic == MAGIC && s->head.token == token_hash(rt) &&
         s->head.image_size == rt->image_size;
}

yoke_runtime_status yoke__runtime_state_get(yoke_runtime* rt, void** state) {
  if (!can_save(rt)) {
    return refuse(rt, "this unit cannot save its state");
  }
  saved* s = *state;
  if (s != NULL && !is_ours(rt, s)) {
    return refuse(rt, "it belongs to another FMU");
  }
  const bool is_new = s == NULL;
  s = is_new ? calloc(1, state_size(rt)) : s;
  if (s == NULL) {
    return refuse(rt, "out of memory");
  }
  const yoke_status status = yoke__unit_save(&rt->unit, s->images, rt->image_size);
  if (status < 0) {
    if (is_new) {
      free(s);
    }
    return refuse(rt, yoke_status_text(status));
  }
  if (rt->phase == YOKE_RUNTIME_INITIALISING) {
    memcpy(s->images + rt->image_size, rt->start_image, rt->image_size);
  }
  s->head = (head){.magic = MAGIC,
                   .token = token_hash(rt),
                   .image_size = rt->image_size,
                   .phase = (uint64_t)rt->phase,
                   .flags = (rt->is_dirty ? IS_DIRTY : 0u) | (rt->is_started ? IS_STARTED : 0u) |
                            (rt->is_end_wanted ? IS_END_WANTED : 0u) |
                            (rt->is_experiment_set ? IS_SET_UP : 0u) |
                            (rt->is_in_event_mode ? IS_EVENT : 0u),
                   .time = rt->time,
                   .t_start = rt->t_start,
                   .t_stop = rt->t_stop,
                   .t_reached = rt->t_reached,
                   .first_step = rt->first_step};
  *state = s;
  return YOKE_RUNTIME_OK;
}

yoke_runtime_status yoke__runtime_state_set(yoke_runtime* rt, const void* state) {
  const saved* s = state;
  if (!can_save(rt) || !is_ours(rt, s)) {
    return refuse(rt, "it is not one of this FMU");
  }
  const yoke_status status = yoke__unit_restore(&rt->unit, s->images, rt->image_size);
  if (status < 0) {
    return refuse(rt, yoke_status_text(status));
  }
  if (s->head.phase == YOKE_RUNTIME_INITIALISING) {
    memcpy(rt->start_image, s->images + rt->image_size, rt->image_size);
  }
  rt->phase = (yoke_runtime_phase)s->head.phase;
  rt->is_dirty = (s->head.flags & IS_DIRTY) != 0;
  rt->is_started = (s->head.flags & IS_STARTED) != 0;
  rt->is_end_wanted = (s->head.flags & IS_END_WANTED) != 0;
  rt->is_experiment_set = (s->head.flags & IS_SET_UP) != 0;
  // an instance without event mode is never in it, whoever saved the state
  rt->is_in_event_mode = rt->uses_events && (s->head.flags & IS_EVENT) != 0;
  rt->time = s->head.time;
  rt->t_start = s->head.t_start;
  rt->t_stop = s->head.t_stop;
  rt->t_reached = s->head.t_reached;
  rt->first_step = s->head.first_step;
  return YOKE_RUNTIME_OK;
}

yoke_runtime_status yoke__runtime_state_free(yoke_runtime* rt, void** state) {
  (void)rt;
  if (state != NULL) {
    free(*state);
    *state = NULL;
  }
  return YOKE_RUNTIME_OK;
}

// ---- as bytes

yoke_runtime_status yoke__runtime_state_size(const yoke_runtime* rt, const void* state,
                                             size_t* size) {
  if (!is_ours(rt, state)) {
    return refuse(rt, "it is not one of this FMU");
  }
  *size = state_size(rt);
  return YOKE_RUNTIME_OK;
}

yoke_runtime_status yoke__runtime_state_write(const yoke_runtime* rt, const void* state,
                                              void* bytes, size_t size) {
  const saved* s = state;
  if (!is_ours(rt, s)) {
    return refuse(rt, "it is not one of this FMU");
  }
  if (size < state_size(rt)) {
    return refuse(rt, "the room for its bytes is too small");
  }
  head copy = s->head;
  copy.checksum = checksum(s);
  memcpy(bytes, &copy, sizeof copy);
  memcpy((char*)bytes + sizeof copy, s->images, 2 * rt->image_size);
  return YOKE_RUNTIME_OK;
}

yoke_runtime_status yoke__runtime_state_read(yoke_runtime* rt, const void* bytes, size_t size,
                                             void** state) {
  if (!can_save(rt) || size != state_size(rt)) {
    return refuse(rt, "its bytes are not those of a state of this FMU");
  }
  saved* s = malloc(size);
  if (s == NULL) {
    return refuse(rt, "out of memory");
  }
  memcpy(s, bytes, size);
  if (!is_ours(rt, s) || s->head.checksum != checksum(s)) {
    free(s);
    return refuse(rt, "its bytes are damaged or those of another FMU");
  }
  free(*state);
  *state = s;
  return YOKE_RUNTIME_OK;
}
