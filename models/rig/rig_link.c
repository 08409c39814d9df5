// One direction of the link between bench and rig; see rig_link.h.
#include "models/rig/rig_link.h"

#include <math.h>
#include <string.h>

#include "models/models_random.h"

enum { STREAM_LOSS, STREAM_DOUBLE, STREAM_REORDER, STREAM_JITTER, STREAM_JITTER_COPY, N_STREAMS };

static bool is_share(double x) {
  return x >= 0.0 && x <= 1.0;
}

const char* yoke__rig_link_find_fault(const yoke_rig_link_settings* s) {
  if (!is_share(s->loss) || !is_share(s->duplicate) || !is_share(s->reorder)) {
    return "loss, duplicate and reorder are probabilities from 0 to 1";
  }
  if (s->delay_ns < 0 || s->jitter_ns < 0 || s->reorder_ns < 0) {
    return "delay, jitter and latency must not be negative";
  }
  return NULL;
}

void yoke__rig_link_start(yoke_rig_link* link) {
  *link = (yoke_rig_link){.settings = link->settings};
}

static double draw(const yoke_rig_link* link, uint64_t stream) {
  const yoke_rig_link_settings* s = &link->settings;
  return yoke__random_uniform(s->seed, (uint64_t)s->stream * N_STREAMS + stream,
                              (uint64_t)link->n_sent);
}

static void store(yoke_rig_link* link, int64_t due_ns, const uint8_t bytes[], size_t n) {
  for (size_t i = 0; i < YOKE_RIG_LINK_SLOTS; i++) {
    yoke_rig_link_slot* slot = &link->slots[i];
    if (slot->order == 0) {
      slot->order = ++link->n_order;
      slot->due_ns = due_ns;
      slot->size = n;
      memcpy(slot->bytes, bytes, n);
      return;
    }
  }
  link->n_full++;
}

void yoke__rig_link_send(yoke_rig_link* link, int64_t now_ns, const uint8_t bytes[], size_t n,
                         bool is_down) {
  const yoke_rig_link_settings* s = &link->settings;
  link->n_sent++;
  if (n == 0 || n > YOKE_DATAGRAM_MAX_SIZE || is_down || draw(link, STREAM_LOSS) < s->loss) {
    link->n_lost++;
    return;
  }
  int64_t due = now_ns + s->delay_ns;
  const bool is_late = draw(link, STREAM_REORDER) < s->reorder;
  due += is_late ? s->reorder_ns : 0;
  link->n_reordered += is_late;
  const double jitter = (double)s->jitter_ns;
  store(link, due + (int64_t)(jitter * draw(link, STREAM_JITTER)), bytes, n);
  if (draw(link, STREAM_DOUBLE) < s->duplicate) {
    link->n_doubled++;
    store(link, due + (int64_t)(jitter * draw(link, STREAM_JITTER_COPY)), bytes, n);
  }
}

size_t yoke__rig_link_receive(yoke_rig_link* link, int64_t now_ns,
                              uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE]) {
  yoke_rig_link_slot* next = NULL;
  for (size_t i = 0; i < YOKE_RIG_LINK_SLOTS; i++) {
    yoke_rig_link_slot* slot = &link->slots[i];
    const bool is_due = slot->order != 0 && slot->due_ns <= now_ns;
    if (is_due && (next == NULL || slot->due_ns < next->due_ns ||
                   (slot->due_ns == next->due_ns && slot->order < next->order))) {
      next = slot;
    }
  }
  if (next == NULL) {
    return 0;
  }
  memcpy(bytes, next->bytes, next->size);
  next->order = 0;
  return next->size;
}
