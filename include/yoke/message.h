// Messages as data: everything the library has to say to a person is one of these structs, handed to a sink.
// Nobody parses text: file and line, unit, variable and time are fields.
#ifndef YOKE_MESSAGE_H
#define YOKE_MESSAGE_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "yoke/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum yoke_severity { YOKE_NOTE, YOKE_WARNING, YOKE_ERROR } yoke_severity;

// One message. Texts belong to the sender and live until the sink returns.
typedef struct yoke_message {
  yoke_severity severity;
  yoke_status status;  // of an error: what kind of failure; YOKE_OK otherwise
  const char*
      file;  // what it is about: a file, or an option such as "--set time.step"; NULL: unknown
  int line, column;      // in that file, from 1; 0: no position
  const char* unit;      // name of the unit it is about; NULL: none
  const char* variable;  // name of the variable it is about; NULL: none
  double time;           // simulation time [s]; NaN: none
  const char* text;      // what happened, one sentence without a full stop
  const char* hint;      // what to do about it; NULL: nothing to add
} yoke_message;

// Where messages go. A NULL sink, and a sink without `receive`, drops them.
typedef struct yoke_sink {
  void (*receive)(void* to, const yoke_message* message);
  void* to;
} yoke_sink;

#define YOKE_MESSAGE_TEXT_SIZE 1024  // room of a formatted text, NUL included; longer ones are cut

// Hands a message to a sink.
static inline void yoke_send(const yoke_sink* sink, const yoke_message* message) {
  if (sink != NULL && sink->receive != NULL) {
    sink->receive(sink->to, message);
  }
}

// Hands an error with a formatted text to a sink and returns its status:
//   return yoke_fail(sink, YOKE_BAD_INPUT, "gain must be positive, found %g", gain);
// Inline, so that a unit in a shared library of its own needs nothing from the library but headers.
static inline yoke_status yoke_fail(const yoke_sink* sink, yoke_status status, const char* format,
                                    ...) YOKE_PRINTF(3, 4);
static inline yoke_status yoke_fail(const yoke_sink* sink, yoke_status status, const char* format,
                                    ...) {
  if (sink != NULL && sink->receive != NULL) {
    char text[YOKE_MESSAGE_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const yoke_message message = {
        .severity = YOKE_ERROR, .status = status, .time = (double)NAN, .text = text};
    sink->receive(sink->to, &message);
  }
  return status;
}

// The message as one line of text, cut to `size` bytes with its NUL; control characters become spaces:
//   "crane.yaml:12:7: error: unit 'pump' at t = 0.25 s: output 'p' became nan; reduce the step"
// Returns the length of the whole line; 0, and an empty text, for a message without text. to may be NULL: it only counts.
YOKE_API size_t yoke_message_format(const yoke_message* message, char* to, size_t size);

#ifdef __cplusplus
}
#endif
#endif
