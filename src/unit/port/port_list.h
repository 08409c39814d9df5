// Which variables of a unit travel through a port, and how: inputs and tunable parameters one way, outputs the other, in the order
// of the variables; reals as doubles, all others as 64-bit integers. Texts and binaries do not travel.
#ifndef YOKE_UNIT_PORT_LIST_H
#define YOKE_UNIT_PORT_LIST_H

#include "base/base_arena.h"
#include "unit/unit.h"

typedef struct yoke_port_list {
  const size_t *sent, *received;  // variables
  size_t n_sent, n_received;
  size_t sent_size, received_size;  // bytes
  uint64_t fingerprint;             // of names, types and sizes
} yoke_port_list;

// without: flags of variables that stay at home. YOKE_NO_SUPPORT after a message: something cannot travel, or there is too much.
yoke_status yoke__port_list_make(const yoke_unit_info* info, uint32_t without, yoke_arena* arena,
                                 yoke_port_list* list, const yoke_sink* sink);

// Fingerprint of the numbers that its fixed parameters have, and of how both ends talk: they must agree about it, too.
uint64_t yoke__port_list_settings(const yoke_unit* unit, bool is_paced, bool has_frames);

#endif
