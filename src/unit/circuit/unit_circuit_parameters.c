// The parameters that a system file may set: what stands in `.param` lines outside of subcircuits.
//
// Only names are wanted here, before anything is evaluated; the reader of netlists
// (circuit/circuit_netlist.h) takes new values for them. The first line is a title, `+` continues a
// line, `*yoke ` uncovers one.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_number.h"
#include "base/base_os.h"
#include "unit/circuit/unit_circuit_part.h"

#define MAX_FILE     ((size_t)256 << 20)  // as the reader of netlists has it
#define MAX_WORD     128
#define MAX_COMPARED 1000  // parameters among which a second definition is looked for

// -------------------------------------------------------------------------------------------------
// numbers

typedef struct suffix {
  const char* text;
  double factor;
} suffix;

// "meg" and "mil" before "m"
static const suffix suffixes[] = {{"meg", 1e6}, {"mil", 25.4e-6}, {"t", 1e12}, {"g", 1e9},
                                  {"k", 1e3},   {"m", 1e-3},      {"u", 1e-6}, {"n", 1e-9},
                                  {"p", 1e-12}, {"f", 1e-15},     {"a", 1e-18}};

static bool begins(const char* text, const char* word) {
  size_t i = 0;
  while (word[i] != '\0' && tolower((unsigned char)text[i]) == word[i]) {
    i++;
  }
  return word[i] == '\0';
}

bool yoke__unit_circuit_number(const char* text, double* out) {
  const char* end = text + strlen(text);
  const char* at = yoke__number_scan(text, end, out);
  if (at == NULL) {
    return false;
  }
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
    if (begins(at, suffixes[i].text)) {
      *out *= suffixes[i].factor;
      break;
    }
  }
  // letters behind it name a unit
  while (isalpha((unsigned char)*at)) {
    at++;
  }
  return *at == '\0';
}

// -------------------------------------------------------------------------------------------------
// lines

typedef struct scan {
  yoke_arena* arena;
  yoke_variable* variables;
  size_t n, room;
  int depth;         // of .subckt
  bool is_in_param;  // the line before was a .param: "+" goes on with it
  yoke_status status;
} scan;

static bool has_variable(const scan* s, const char* name) {
  for (size_t i = 0; i < s->n && i < MAX_COMPARED; i++) {
    if (strcmp(s->variables[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

static void add_variable(scan* s, const char* name, const char* value) {
  if (s->status < 0 || has_variable(s, name)) {
    return;
  }
  if (s->n == s->room) {
    const size_t room = s->room == 0 ? 16 : 2 * s->room;
    yoke_variable* larger = yoke__arena_array(s->arena, room, sizeof *larger);
    if (larger == NULL) {
      s->status = YOKE_NO_MEMORY;
      return;
    }
    if (s->n > 0) {
      memcpy(larger, s->variables, s->n * sizeof *larger);
    }
    s->variables = larger;
    s->room = room;
  }
  double start = 0;
  if (!yoke__unit_circuit_number(value, &start)) {
    start = (double)NAN;
  }
  const char* kept = yoke__arena_text(s->arena, name, strlen(name));
  const char* text = yoke__arena_text(s->arena, value, strlen(value));
  s->status = kept == NULL || text == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  s->variables[s->n++] = (yoke_variable){.name = kept,
                                         .text = text,
                                         .type = YOKE_REAL,
                                         .causality = YOKE_PARAMETER,
                                         .start = start,
                                         .offset = YOKE_NO_OFFSET};
}

static const char* skip_blanks(const char* at, const char* end) {
  while (at < end && (isspace((unsigned char)*at) || *at == ',')) {
    at++;
  }
  return at;
}

// the end of a value: a blank outside of braces, parentheses and quotes
static const char* skip_value(const char* at, const char* end) {
  int depth = 0;
  bool is_quoted = false;
  for (; at < end; at++) {
    const char c = *at;
    is_quoted = is_quoted != (c == '\'');
    depth += (c == '{' || c == '(') - (c == '}' || c == ')');
    if (!is_quoted && depth <= 0 && (isspace((unsigned char)c) || c == ';' || c == '$')) {
      break;
    }
  }
  return at;
}

static void copy_word(const char* from, const char* end, bool is_lower, char to[MAX_WORD]) {
  size_t n = 0;
  for (; from < end && n + 1 < MAX_WORD; from++) {
    to[n] = *from;
    if (is_lower) {
      to[n] = (char)tolower((unsigned char)*from);
    }
    n++;
  }
  to[n] = '\0';
}

static bool is_name_character(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// name=value ...; what is no assignment of a plain name is passed over
static void scan_assignments(scan* s, const char* at, const char* end) {
  while ((at = skip_blanks(at, end)) < end && *at != ';' && *at != '$') {
    const char* name = at;
    while (at < end && is_name_character(*at)) {
      at++;
    }
    const char* name_end = at;
    at = skip_blanks(at, end);
    if (name_end == name || at >= end || *at != '=') {
      at = skip_value(at, end);
      at += at < end;
      continue;
    }
    const char* value = skip_blanks(at + 1, end);
    at = skip_value(value, end);
    char name_text[MAX_WORD], value_text[MAX_WORD];
    copy_word(name, name_end, true, name_text);
    copy_word(value, at, false, value_text);
    add_variable(s, name_text, value_text);
  }
}

static void scan_line(scan* s, const char* at, const char* end) {
  if ((size_t)(end - at) > 6 && begins(at, "*yoke ")) {
    at += 6;
  }
  at = skip_blanks(at, end);
  if (at >= end || *at == '*') {
    return;
  }
  if (*at == '+') {
    if (s->is_in_param) {
      scan_assignments(s, at + 1, end);
    }
    return;
  }
  const size_t left = (size_t)(end - at);
  const size_t word = left > 7 && begins(at, ".params") ? 7 : 6;
  s->is_in_param =
      left > word && s->depth == 0 && begins(at, ".param") && !is_name_character(at[word]);
  if (s->is_in_param) {
    scan_assignments(s, at + word, end);
  } else if (left >= 7 && begins(at, ".subckt")) {
    s->depth++;
  } else if (left >= 5 && begins(at, ".ends")) {
    s->depth -= s->depth > 0;
  }
}

yoke_status yoke__circuit_parameters(const char* path, yoke_arena* arena, yoke_variable** out,
                                     size_t* n) {
  char* bytes = NULL;
  char err[256];
  size_t size = 0;
  *out = NULL;
  *n = 0;
  YOKE_TRY(yoke__os_read_file(path, MAX_FILE, &bytes, &size, err, sizeof err));
  scan s = {.arena = arena};
  const char *at = bytes, *end = bytes + size;
  for (bool is_title = true; at < end; is_title = false) {
    const char* line_end = memchr(at, '\n', (size_t)(end - at));
    line_end = line_end == NULL ? end : line_end;
    if (!is_title) {
      scan_line(&s, at, line_end);
    }
    at = line_end + (line_end < end);
  }
  free(bytes);
  *out = s.variables;
  *n = s.n;
  return s.status;
}
