// A look at the raw bytes before libyaml sees them.
//
// Checks that the text is UTF-8 without control characters, so that a binary file gives one clear
// message with a position, and that two things stay far from where libyaml takes quadratic time:
// open flow brackets (each token visits all of them) and %TAG directives (each is compared with all
// before).
//
// Assumption: quotes and comments are recognised by their first character and what stands before
// it, as YAML does outside of block texts (`|`, `>`). Inside of block texts the count may go wrong,
// so the bound is wide; the exact limit on the depth is kept on the events (scenario_tree.c).
#include "scenario/scenario_reader.h"

#include <string.h>

#define MAX_OPEN_BRACKETS 1000  // 40 000 take seconds, 1000 some milliseconds

typedef enum scan_state { SCAN_OUTSIDE, SCAN_SINGLE, SCAN_DOUBLE, SCAN_COMMENT } scan_state;

typedef struct scanner {
  yoke_place place;  // of the next character
  scan_state state;
  size_t n_open;      // brackets
  yoke_place deep;    // of the bracket that went beyond the allowed depth
  uint32_t previous;  // character before; a line break counts as '\n'
} scanner;

static bool is_trail(unsigned char c) {
  return (c & 0xc0u) == 0x80u;
}

size_t yoke__utf8_next(const char* bytes, size_t n, uint32_t* code) {
  const unsigned char* b = (const unsigned char*)bytes;
  if (b[0] < 0x80) {
    *code = b[0];
    return 1;
  }
  const size_t length = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
  if (b[0] < 0xc2 || b[0] > 0xf4 || length > n) {
    return 0;
  }
  uint32_t value = b[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if (!is_trail(b[i])) {
      return 0;
    }
    value = value << 6 | (b[i] & 0x3fu);
  }

  // overlong forms, surrogates, beyond the last code point
  if ((length == 3 && value < 0x800) || (length == 4 && value < 0x10000) ||
      (value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) {
    return 0;
  }
  *code = value;
  return length;
}

size_t yoke__break_length(const char* bytes, size_t n) {
  if (n == 0) {
    return 0;
  }
  if (bytes[0] == '\n') {
    return 1;
  }
  if (bytes[0] == '\r') {
    return n > 1 && bytes[1] == '\n' ? 2 : 1;
  }
  if (n >= 2 && memcmp(bytes, "\xc2\x85", 2) == 0) {
    return 2;
  }
  return n >= 3 && (memcmp(bytes, "\xe2\x80\xa8", 3) == 0 || memcmp(bytes, "\xe2\x80\xa9", 3) == 0)
             ? 3
             : 0;
}

// the characters that YAML allows
static bool is_printable(uint32_t code) {
  return code == '\t' || (code >= 0x20 && code <= 0x7e) ||
         (code >= 0xa0 && code != 0xfeff && code <= 0xfffd) || code >= 0x10000;
}

// a quote opens a text and '#' a comment only where a token may start
static bool starts_token(uint32_t previous) {
  return previous == '\n' || previous == ' ' || previous == '\t';
}

static bool starts_quote(uint32_t previous) {
  return starts_token(previous) ||
         (previous < 0x80 && previous != 0 && strchr("[{,:", (int)previous) != NULL);
}

// Moves the state over one character. Returns how many more characters belong to it (an escape).
static size_t follow(scanner* scan, uint32_t code, char next) {
  switch (scan->state) {
  case SCAN_COMMENT:
    return 0;
  case SCAN_SINGLE:
    if (code == '\'' && next == '\'') {
      return 1;
    }
    scan->state = code == '\'' ? SCAN_OUTSIDE : SCAN_SINGLE;
    return 0;
  case SCAN_DOUBLE:
    if (code == '\\' && (next == '"' || next == '\\')) {
      return 1;
    }
    scan->state = code == '"' ? SCAN_OUTSIDE : SCAN_DOUBLE;
    return 0;
  case SCAN_OUTSIDE:
    break;
  }
  if (code == '#' && starts_token(scan->previous)) {
    scan->state = SCAN_COMMENT;
  } else if ((code == '\'' || code == '"') && starts_quote(scan->previous)) {
    scan->state = code == '"' ? SCAN_DOUBLE : SCAN_SINGLE;
  } else if (code == '[' || code == '{') {
    scan->n_open++;
    scan->deep = scan->n_open == YOKE_SCENARIO_MAX_DEPTH + 1 ? scan->place : scan->deep;
  } else if ((code == ']' || code == '}') && scan->n_open > 0) {
    scan->n_open--;
  }
  return 0;
}

static void next_line(scanner* scan) {
  scan->place.line++;
  scan->place.column = 1;
  scan->previous = '\n';
  if (scan->state == SCAN_COMMENT) {
    scan->state = SCAN_OUTSIDE;
  }
}

// Places inside of the text of --set are not shown.
static yoke_place shown_place(yoke_place place, yoke_place origin) {
  return origin.line == 0 ? origin : place;
}

// Says what is wrong with the bytes at hand, which are no allowed character.
static void report_bytes(const char* bytes, size_t length, yoke_place place,
                         yoke_messages* messages) {
  const unsigned char byte = (unsigned char)bytes[0];
  const char* subject = place.line == 0 ? "value" : "file";
  if (length == 0 && place.line == 1 && place.column == 1 && (byte == 0xff || byte == 0xfe)) {
    yoke__error(messages, place,
                "the file is not UTF-8 text (it looks like UTF-16); save it as UTF-8");
  } else if (length == 0) {
    yoke__error(messages, place, "the %s is not UTF-8 text: unexpected byte 0x%02x", subject, byte);
  } else if (length == 1) {
    yoke__error(messages, place, "the %s is not text: it contains the control character 0x%02x",
                subject, byte);
  } else {
    yoke__error(messages, place, "the %s contains a character that YAML does not allow", subject);
  }
}

bool yoke__bytes_check(const char* bytes, size_t n, yoke_place origin, yoke_messages* messages) {
  scanner scan = {.place = {origin.source, 1, 1}, .previous = '\n'};
  size_t i = 0;
  while (i < n) {
    const size_t n_break = yoke__break_length(bytes + i, n - i);
    if (n_break > 0) {
      next_line(&scan);
      i += n_break;
      continue;
    }

    // one character that may stand in a YAML file
    uint32_t code = 0;
    const size_t length = yoke__utf8_next(bytes + i, n - i, &code);
    if (length == 0 || !is_printable(code)) {
      report_bytes(bytes + i, length, shown_place(scan.place, origin), messages);
      return false;
    }
    if (scan.place.column == 1 && n - i >= 4 && memcmp(bytes + i, "%TAG", 4) == 0) {
      yoke__error(messages, shown_place(scan.place, origin),
                  "tags are not supported: remove the %%TAG line");
      return false;
    }

    // an escaped quote is one ASCII character more
    char next = '\0';
    if (i + length < n) {
      next = bytes[i + length];
    }
    const size_t n_more = follow(&scan, code, next);
    if (scan.n_open > MAX_OPEN_BRACKETS) {
      yoke__error(messages, shown_place(scan.deep, origin),
                  "nested too deeply: at most %d maps and lists inside each other",
                  YOKE_SCENARIO_MAX_DEPTH);
      return false;
    }
    scan.previous = code;
    scan.place.column += 1 + (int)n_more;
    i += length + n_more;
  }
  return true;
}
