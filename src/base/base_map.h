// Names to indices: an open-addressing hash table of fixed size, allocated in an arena.
#ifndef YOKE_BASE_MAP_H
#define YOKE_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/base_arena.h"
#include "yoke/status.h"

#define YOKE_NOT_FOUND ((size_t)-1)

typedef struct yoke_map {
  struct yoke_map_slot* slots;
  size_t mask;
} yoke_map;

// Room for n names.
yoke_status yoke__map_create(size_t n, yoke_arena* arena, yoke_map* map);
// The text must live as long as the map. Returns the index stored earlier under this name, or YOKE_NOT_FOUND if it is new.
size_t yoke__map_add(yoke_map* map, const char* name, size_t index);
size_t yoke__map_find(const yoke_map* map, const char* name);

#endif
