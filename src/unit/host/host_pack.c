// Values one after another in a block of bytes, in the byte order of the machine: both sides are on it.
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/host/host.h"

void yoke__host_put(host_writer* to, const void* bytes, size_t n) {
  if (to->is_failed || n > SIZE_MAX / 4 - to->used) {
    to->is_failed = true;
    return;
  }
  if (to->used + n > to->room) {
    const size_t room = 2 * (to->used + n) + 256;
    unsigned char* larger = realloc(to->bytes, room);
    if (larger == NULL) {
      to->is_failed = true;
      return;
    }
    to->bytes = larger;
    to->room = room;
  }
  if (n > 0) {
    memcpy(to->bytes + to->used, bytes, n);
  }
  to->used += n;
}

void yoke__host_put_number(host_writer* to, uint64_t number) {
  yoke__host_put(to, &number, sizeof number);
}

void yoke__host_put_double(host_writer* to, double number) {
  yoke__host_put(to, &number, sizeof number);
}

// length + 1, then the characters; 0 for NULL
void yoke__host_put_text(host_writer* to, const char* text) {
  const size_t n = text == NULL ? 0 : strlen(text);
  yoke__host_put_number(to, text == NULL ? 0 : (uint64_t)n + 1);
  yoke__host_put(to, text, n);
}

void yoke__host_writer_free(host_writer* writer) {
  free(writer->bytes);
  *writer = (host_writer){0};
}

const void* yoke__host_take(host_reader* from, size_t n) {
  if (from->is_failed || n > from->size - from->used) {
    from->is_failed = true;
    return NULL;
  }
  const void* bytes = from->bytes + from->used;
  from->used += n;
  return bytes;
}

uint64_t yoke__host_take_number(host_reader* from) {
  uint64_t number = 0;
  const void* bytes = yoke__host_take(from, sizeof number);
  if (bytes != NULL) {
    memcpy(&number, bytes, sizeof number);
  }
  return number;
}

double yoke__host_take_double(host_reader* from) {
  double number = 0;
  const void* bytes = yoke__host_take(from, sizeof number);
  if (bytes != NULL) {
    memcpy(&number, bytes, sizeof number);
  }
  return number;
}

const char* yoke__host_take_text(host_reader* from, yoke_arena* arena) {
  const uint64_t n = yoke__host_take_number(from);
  const char* bytes = n == 0 ? NULL : yoke__host_take(from, (size_t)n - 1);
  const char* text = bytes == NULL ? NULL : yoke__arena_text(arena, bytes, (size_t)n - 1);
  from->is_failed = from->is_failed || (n != 0 && text == NULL);
  return text;
}

void yoke__host_put_message(host_writer* to, const yoke_message* message) {
  const char* const texts[] = {message->text, message->file, message->unit, message->variable,
                               message->hint};
  yoke__host_put_number(to, (uint64_t)message->severity);
  yoke__host_put_number(to, (uint64_t)message->status);
  yoke__host_put_number(to, (uint64_t)message->line);
  yoke__host_put_number(to, (uint64_t)message->column);
  yoke__host_put_double(to, message->time);
  for (size_t i = 0; i < YOKE_COUNT(texts); i++) {
    yoke__host_put_text(to, texts[i]);
  }
}

void yoke__host_take_messages(host_reader* from, const yoke_sink* sink) {
  yoke_arena arena = {0};
  while (from->used < from->size && !from->is_failed) {
    const uint64_t severity = yoke__host_take_number(from);
    yoke_message m = {.severity = severity < YOKE_ERROR ? (yoke_severity)severity : YOKE_ERROR};
    m.status = (yoke_status)yoke__host_take_number(from);
    m.line = (int)yoke__host_take_number(from);
    m.column = (int)yoke__host_take_number(from);
    m.time = yoke__host_take_double(from);
    const char** const texts[] = {&m.text, &m.file, &m.unit, &m.variable, &m.hint};
    for (size_t i = 0; i < YOKE_COUNT(texts); i++) {
      *texts[i] = yoke__host_take_text(from, &arena);
    }
    if (m.text != NULL && !from->is_failed) {
      yoke_send(sink, &m);
    }
  }
  yoke__arena_free(&arena);
}
