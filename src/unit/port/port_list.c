// What travels through a port; see port_list.h.
#include "unit/port/port_list.h"

#include "base/base_hash.h"
#include "unit/port/port_frame.h"

static bool is_sent(const yoke_variable* v) {
  return v->causality == YOKE_INPUT || v->causality == YOKE_TUNABLE;
}

static uint64_t add_to(uint64_t hash, const yoke_variable* v) {
  const uint64_t shape[] = {(uint64_t)v->type, (uint64_t)is_sent(v), yoke__variable_count(v)};
  return yoke__hash_bytes(yoke__hash_text(hash, v->name), shape, sizeof shape);
}

yoke_status yoke__port_list_make(const yoke_unit_info* info, uint32_t without, yoke_arena* arena,
                                 yoke_port_list* list, const yoke_sink* sink) {
  size_t* sent = yoke__arena_array(arena, info->n_variables + 1, sizeof *sent);
  size_t* received = yoke__arena_array(arena, info->n_variables + 1, sizeof *received);
  YOKE_TRY_MEMORY(sent && received);
  *list = (yoke_port_list){.sent = sent, .received = received, .fingerprint = YOKE_HASH_START};
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    const bool is_text = v->type == YOKE_STRING || v->type == YOKE_BINARY;
    if ((!is_sent(v) && v->causality != YOKE_OUTPUT) || (v->flags & without) != 0) {
      continue;
    }
    if (is_text && v->causality == YOKE_TUNABLE) {
      continue;  // it keeps the value of the file
    }
    if (is_text) {
      return yoke_fail(sink, YOKE_NO_SUPPORT, "'%s' is a %s, which cannot go through a port",
                       v->name, v->type == YOKE_STRING ? "text" : "binary");
    }
    list->fingerprint = add_to(list->fingerprint, v);
    if (is_sent(v)) {
      sent[list->n_sent++] = i;
      list->sent_size += yoke__variable_size(v);
    } else {
      received[list->n_received++] = i;
      list->received_size += yoke__variable_size(v);
    }
  }
  const size_t most = (size_t)8 * YOKE_PORT_MAX_VALUES;
  if (list->sent_size > most || list->received_size > most) {
    return yoke_fail(sink, YOKE_NO_SUPPORT, "more than %d numbers cannot go through a port",
                     YOKE_PORT_MAX_VALUES);
  }
  return YOKE_OK;
}

uint64_t yoke__port_list_settings(const yoke_unit* unit, bool is_paced, bool has_frames) {
  const uint64_t talk[] = {is_paced, has_frames};
  uint64_t hash = yoke__hash_bytes(YOKE_HASH_START, talk, sizeof talk);
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    double number = 0;
    if (v->causality == YOKE_PARAMETER && v->type != YOKE_STRING && v->type != YOKE_BINARY &&
        yoke__variable_count(v) == 1 && yoke__unit_get(unit, i, &number, sizeof number) >= 0) {
      hash = yoke__hash_bytes(hash, &number, sizeof number);
    }
  }
  return hash;
}
