// Linear probing over at most half-full tables; FNV-1a hash.
#include "base/base_map.h"

#include <string.h>

struct yoke_map_slot {
  const char* name;
  size_t index;
  uint64_t hash;
};

static uint64_t hash_of(const char* name) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (; *name != '\0'; name++) {
    hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
  }
  return hash;
}

yoke_status yoke__map_create(size_t n, yoke_arena* arena, yoke_map* map) {
  size_t size = 16;
  while (size < 2 * n) {
    size *= 2;
  }
  map->slots = yoke__arena_array(arena, size, sizeof *map->slots);
  map->mask = size - 1;
  return map->slots == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

static struct yoke_map_slot* slot_of(const yoke_map* map, const char* name, uint64_t hash) {
  size_t at = (size_t)hash & map->mask;
  while (map->slots[at].name != NULL &&
         (map->slots[at].hash != hash || strcmp(map->slots[at].name, name) != 0)) {
    at = (at + 1) & map->mask;
  }
  return &map->slots[at];
}

size_t yoke__map_add(yoke_map* map, const char* name, size_t index) {
  const uint64_t hash = hash_of(name);
  struct yoke_map_slot* slot = slot_of(map, name, hash);
  if (slot->name != NULL) {
    return slot->index;
  }
  *slot = (struct yoke_map_slot){name, index, hash};
  return YOKE_NOT_FOUND;
}

size_t yoke__map_find(const yoke_map* map, const char* name) {
  const struct yoke_map_slot* slot = slot_of(map, name, hash_of(name));
  return slot->name == NULL ? YOKE_NOT_FOUND : slot->index;
}
