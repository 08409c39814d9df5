// Messages about input: collected, so that all errors of a file are reported in one go.
// A message says where (file:line:column), what is wrong and what was expected.
#ifndef YOKE_BASE_MESSAGE_H
#define YOKE_BASE_MESSAGE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/base_arena.h"
#include "yoke/message.h"

// Where something was read. line 0: no position inside the source; column 0: no column.
typedef struct yoke_place {
  const char* source;  // file name or "--set path"; NULL if unknown
  int line, column;    // from 1
} yoke_place;

// Zeroed is empty.
typedef struct yoke_messages {
  yoke_arena arena;
  yoke_message* all;  // in the order in which they came
  size_t n, room;
  size_t n_errors, n_warnings, n_notes;
  size_t n_dropped;  // errors and warnings beyond the first 1000, and notes beyond theirs
  // the first shortage among the errors (base_status.h), also of one that was dropped; YOKE_OK: none
  yoke_status shortage;
  // Where notes of a unit that waits for somebody go at once, instead of into the list; NULL: nowhere.
  const yoke_sink* live;
} yoke_messages;

// Adds a copy of a message; the texts are copied too.
void yoke__messages_add(yoke_messages* list, const yoke_message* message);
// Adds the messages of another list that are not there yet: what two units of one file have to say of it is said once.
void yoke__messages_merge(yoke_messages* list, const yoke_messages* others);
// Hands every message to a sink, sorted by file and position, and a note of how many were dropped. Returns how many were
// errors: without memory none may be left.
size_t yoke__messages_send(const yoke_messages* list, const yoke_sink* sink);
// A sink that adds to the list.
yoke_sink yoke__messages_sink(yoke_messages* list);
void yoke__message_add(yoke_messages* list, yoke_severity severity, yoke_place place,
                       const char* format, ...) YOKE_PRINTF(4, 5);
void yoke__message_addv(yoke_messages* list, yoke_severity severity, yoke_place place,
                        const char* format, va_list args);
// An error with a status of its own, which it returns.
yoke_status yoke__messages_fail(yoke_messages* list, yoke_status status, yoke_place place,
                                const char* format, ...) YOKE_PRINTF(4, 5);
// Shorthand for errors; returns YOKE_BAD_INPUT.
yoke_status yoke__error(yoke_messages* list, yoke_place place, const char* format, ...)
    YOKE_PRINTF(3, 4);
// The same about a name that is not known; the hint is the one that was probably meant (NULL: none).
yoke_status yoke__error_near(yoke_messages* list, yoke_place place, const char* nearest,
                             const char* format, ...) YOKE_PRINTF(4, 5);

// The status of work that sends its messages to the list: a shortage that it reported goes before YOKE_BAD_INPUT and the like.
// What ran out of something may have drawn false conclusions afterwards.
yoke_status yoke__messages_status(const yoke_messages* list, yoke_status status);

// Sends a note or a warning of a run, without a time.
void yoke__notify(const yoke_sink* sink, yoke_severity severity, const char* format, ...)
    YOKE_PRINTF(3, 4);

// True once further messages are only counted: no need to search for hints.
bool yoke__messages_is_full(const yoke_messages* list);

// "file:3:7: error: text" per line, sorted by source and position.
void yoke__messages_print(const yoke_messages* list, FILE* to);
// The same into a buffer; says how many lines did not fit.
void yoke__messages_format(const yoke_messages* list, char* to, size_t size);
void yoke__messages_free(yoke_messages* list);

// A sink that stands between: what a message does not say of its place, unit and time is filled in on its way.
typedef struct yoke_context {
  yoke_sink sink;  // give this one away
  const yoke_sink* outer;
  yoke_place place;
  const char* unit;
  double time;  // NaN: none
} yoke_context;
yoke_context* yoke__context_init(yoke_context* context, const yoke_sink* outer, yoke_place place,
                                 const char* unit, double time);

// A sink that keeps the text of the last message, for a caller who puts it into words of its own:
//   YOKE_CATCH(why);
//   if (f(x, &why.sink) < 0) { printf("%s", why.text); }
typedef struct yoke_caught {
  yoke_sink sink;
  char text[YOKE_MESSAGE_TEXT_SIZE];
} yoke_caught;
void yoke__caught_receive(void* to, const yoke_message* message);
#define YOKE_CATCH(name) yoke_caught name = {.sink = {yoke__caught_receive, &(name)}}

// An error at a place; returns its status.
yoke_status yoke__fail_at(const yoke_sink* sink, yoke_status status, yoke_place place,
                          const char* format, ...) YOKE_PRINTF(4, 5);

// The name among names[0..n-1] nearest to `name` (edit distance, at most a third of its length, at least 1
// and ignoring case first); NULL if none is near.
const char* yoke__nearest_name(const char* name, const char* const names[], size_t n);
// "; did you mean 'x'?" of the nearest name, or nothing; returns to.
#define YOKE_NEAREST_SIZE 160
const char* yoke__nearest_hint(const char* name, const char* const names[], size_t n,
                               char to[YOKE_NEAREST_SIZE]);
// The same one by one: best is what was found so far, NULL at first.
const char* yoke__nearer_name(const char* name, const char* best, const char* other);

#endif
