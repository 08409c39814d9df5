// One direction of the link between bench and rig: datagrams that are lost, late, doubled or overtaken, by seed.
//
// Everything about datagram k follows from (seed, stream, k), so that two runs are the same and a copy is a saved link.
#ifndef YOKE_MODELS_RIG_LINK_H
#define YOKE_MODELS_RIG_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/rig/rig_frame.h"

enum { YOKE_RIG_LINK_SLOTS = 32 };

typedef struct yoke_rig_link_settings {
  double loss, duplicate, reorder;  // probabilities
  int64_t delay_ns, jitter_ns;      // constant; and uniform from 0 to jitter
  int64_t reorder_ns;               // what an overtaken datagram waits on top
  int64_t seed, stream;
} yoke_rig_link_settings;

typedef struct yoke_rig_link_slot {
  int64_t due_ns, order;  // order 0: empty
  size_t size;
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
} yoke_rig_link_slot;

typedef struct yoke_rig_link {
  yoke_rig_link_settings settings;
  int64_t n_sent, n_lost, n_doubled, n_reordered, n_full;  // full: lost for want of a slot
  int64_t n_order;
  yoke_rig_link_slot slots[YOKE_RIG_LINK_SLOTS];
} yoke_rig_link;

// What is wrong with settings; NULL if nothing is.
const char* yoke__rig_link_find_fault(const yoke_rig_link_settings* s);
// Empties the link; the settings stay.
void yoke__rig_link_start(yoke_rig_link* link);
// Takes a datagram at time now; is_down: the bus is lost.
void yoke__rig_link_send(yoke_rig_link* link, int64_t now_ns, const uint8_t bytes[], size_t n,
                         bool is_down);
// The next datagram that is due by now; its size, 0 if there is none. Bounded: every datagram comes once.
size_t yoke__rig_link_receive(yoke_rig_link* link, int64_t now_ns,
                              uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE]);

#endif
