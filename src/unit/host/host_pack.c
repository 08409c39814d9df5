// Values one after another in a block of bytes, as they lie in memory: both sides are on one machine, from one build.
#include <string.h>

#include "base/base_check.h"
#include "unit/host/host.h"

void yoke__host_part(host_pack* pack, void* part, size_t n) {
  if (n == 0) {
    return;
  }
  if (pack->to != NULL) {
    yoke__text_append(pack->to, part, n);
  } else if (pack->is_failed || n > pack->size - pack->used) {
    pack->is_failed = true;
  } else {
    memcpy(part, pack->from + pack->used, n);
    pack->used += n;
  }
}

// length + 1, then the characters; 0 for NULL
void yoke__host_text(host_pack* pack, const char** text) {
  uint64_t n = pack->to == NULL || *text == NULL ? 0 : (uint64_t)strlen(*text) + 1;
  HOST_VALUE(pack, n);
  if (pack->to != NULL) {
    yoke__text_string(pack->to, n == 0 ? "" : *text);
    return;
  }
  *text = NULL;
  if (n == 0 || pack->is_failed || n - 1 > pack->size - pack->used) {
    pack->is_failed = pack->is_failed || n != 0;
    return;
  }
  *text = yoke__arena_text(pack->arena, (const char*)pack->from + pack->used, (size_t)n - 1);
  pack->used += (size_t)n - 1;
  pack->is_failed = *text == NULL;
}

void yoke__host_message(host_pack* pack, yoke_message* m) {
  const char** const texts[] = {&m->text, &m->file, &m->unit, &m->variable, &m->hint};
  HOST_VALUE(pack, m->severity);
  HOST_VALUE(pack, m->status);
  HOST_VALUE(pack, m->line);
  HOST_VALUE(pack, m->column);
  HOST_VALUE(pack, m->time);
  for (size_t i = 0; i < YOKE_COUNT(texts); i++) {
    yoke__host_text(pack, texts[i]);
  }
}

void yoke__host_take_messages(host_pack* pack, const yoke_sink* sink) {
  yoke_arena arena = {0};
  pack->arena = &arena;
  while (pack->used < pack->size && !pack->is_failed) {
    yoke_message m = {0};
    yoke__host_message(pack, &m);
    m.severity = m.severity < YOKE_ERROR ? m.severity : YOKE_ERROR;
    if (m.text != NULL && !pack->is_failed) {
      yoke_send(sink, &m);
    }
  }
  yoke__arena_free(&arena);
}
