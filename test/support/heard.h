// A sink for tests: keeps what a person would read, "file:3:7: error: unit 'a' at t = 0.5 s: text", a line per message.
#ifndef YOKE_TEST_HEARD_H
#define YOKE_TEST_HEARD_H

#include <stdbool.h>
#include <string.h>

#include "yoke/message.h"

typedef struct heard {
  yoke_sink sink;
  size_t n, n_of[3];   // messages; those of each severity
  yoke_status status;  // of the last message
  bool has_hint;       // the last message has one
  char text[8192];
} heard;

static inline void heard_receive(void* to, const yoke_message* message) {
  heard* h = to;
  yoke_message m = *message;
  const size_t used = strlen(h->text);
  // a place in a text that has no name
  m.file = m.file == NULL && m.line > 0 ? "?" : m.file;
  h->n++;
  h->n_of[message->severity]++;
  h->status = message->status;
  h->has_hint = message->hint != NULL;
  // cut where there is no room
  const size_t n = yoke_message_format(&m, h->text + used, sizeof h->text - used);
  if (used + n + 1 < sizeof h->text) {
    h->text[used + n] = '\n';
    h->text[used + n + 1] = '\0';
  }
}

//   HEAR(told);
//   f(x, &told.sink);
//   check_contains(told.text, "a.yaml:3:7: error: ");
#define HEAR(name) heard name = {.sink = {heard_receive, &(name)}}

static inline void heard_clear(heard* h) {
  *h = (heard){.sink = h->sink};
}

#endif
