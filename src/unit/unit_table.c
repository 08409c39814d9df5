// Tables of operations that were compiled elsewhere: of the contract's version, complete with zeros where they are shorter.
#include <string.h>

#include "base/base_message.h"
#include "unit/unit_library.h"

// The beginning that all tables share.
typedef struct table_head {
  size_t size;
  uint32_t version;
} table_head;

const void* yoke__table_accept(yoke_arena* arena, const void* table, size_t size, const char* what,
                               const yoke_sink* sink) {
  if (table == NULL) {
    yoke_fail(sink, YOKE_BAD_ARG, "the table of a %s is NULL", what);
    return NULL;
  }
  table_head head;
  memcpy(&head, table, sizeof head);
  if (head.version != YOKE_CONTRACT_VERSION) {
    yoke_fail(sink, YOKE_BAD_ARG,
              "the table of a %s was made for version %u of the contract, this Yoke has %u: "
              "compile it again with the present headers",
              what, head.version, YOKE_CONTRACT_VERSION);
    return NULL;
  }
  if (head.size < sizeof head) {
    yoke_fail(sink, YOKE_BAD_ARG, "the table of a %s has no sound size (%zu bytes)", what,
              head.size);
    return NULL;
  }
  if (head.size >= size) {
    return table;
  }
  void* full = yoke__arena_take(arena, size);
  if (full == NULL) {
    yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
    return NULL;
  }
  memcpy(full, table, head.size);
  return memcpy(full, &size, sizeof size);
}
