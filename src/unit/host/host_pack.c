// Values one after another in a block of bytes, in the byte order of the machine: both sides are on it.
#include <stdlib.h>
#include <string.h>

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
