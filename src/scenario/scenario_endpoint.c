// Ends of connections: "unit.variable" and "a.x -> b.y".
//
// A unit's name ends at the first dot, the rest is the variable's name verbatim. In the short form
// a name with spaces, quotes or "->" stands in double quotes, either the variable alone or the
// whole end:
//   a."odd name" -> b.u        "a.odd name" -> b.u
// with \" and \\ inside. In the long form nothing is special, since YAML's own quotes do the work.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario_reader.h"

static const char arrow_hint[] =
    "; names with spaces, quotes or '->' go into double quotes or the long form";

static bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool yoke__name_is_valid(const char* name) {
  if (!is_letter(name[0])) {
    return false;
  }
  for (const char* at = name + 1; *at != '\0'; at++) {
    if (!is_letter(*at) && !(*at >= '0' && *at <= '9') && *at != '-') {
      return false;
    }
  }
  return true;
}

void yoke__name_check(yoke_reader* reader, const yoke_node* node, const char* what) {
  char cut[YOKE_FOUND_SIZE];
  if (!yoke__name_is_valid(node->key)) {
    yoke__error(
        reader->messages, node->key_place,
        "'%s' is no name for a %s: expected a letter or '_', then letters, digits, '_' or '-'",
        yoke__text_cut(node->key, cut), what);
  } else if (strcmp(node->key, "bond") == 0) {
    yoke__error(reader->messages, node->key_place,
                "the name 'bond' is reserved; choose another for this %s", what);
  }
}

typedef struct ranked_name {
  const yoke_scenario_name* name;
  size_t rank;
} ranked_name;

static int compare_names(const void* left, const void* right) {
  const ranked_name *a = left, *b = right;
  const int order = strcmp(a->name->text, b->name->text);
  return order != 0 ? order : a->rank < b->rank ? -1 : a->rank > b->rank;
}

void yoke__names_check_twice(yoke_reader* reader, const yoke_scenario_name* names, size_t n,
                             const char* what) {
  if (n < 2) {
    return;
  }
  ranked_name* all = malloc(n * sizeof *all);
  if (all == NULL) {
    reader->is_out_of_memory = true;
    return;
  }
  for (size_t i = 0; i < n; i++) {
    all[i] = (ranked_name){&names[i], i};
  }
  qsort(all, n, sizeof *all, compare_names);
  for (size_t i = 1, first = 0; i < n; i++) {
    char cut[YOKE_FOUND_SIZE];
    const yoke_scenario_name *a = all[first].name, *b = all[i].name;
    if (strcmp(a->text, b->text) != 0) {
      first = i;
    } else if (a->place.line > 0) {
      yoke__error(reader->messages, b->place, "the %s '%s' was named before at line %d, column %d",
                  what, yoke__text_cut(b->text, cut), a->place.line, a->place.column);
    } else {
      yoke__error(reader->messages, b->place, "the %s '%s' is named twice", what,
                  yoke__text_cut(b->text, cut));
    }
  }
  free(all);
}

// Place of the character at byte `offset` of a scalar's text, as exact as it is known.
static yoke_place place_inside(const yoke_node* node, size_t offset) {
  yoke_place place = node->place;
  if (node->text_column > 0) {
    place.column = node->text_column;
    for (size_t i = 0; i < offset; i++) {
      place.column += ((unsigned char)node->text[i] & 0xc0u) != 0x80u;
    }
  }
  return place;
}

// "unit.variable" without any quoting, split at the first dot. text is changed and becomes part of
// the result.
static bool split_endpoint(yoke_reader* reader, char* text, yoke_place place,
                           yoke_scenario_endpoint* out) {
  char cut[YOKE_FOUND_SIZE];
  char* dot = strchr(text, '.');
  if (dot == NULL || dot == text || dot[1] == '\0') {
    yoke__error(reader->messages, place, "expected 'unit.variable', found '%s'",
                yoke__text_cut(text, cut));
    return false;
  }
  *dot = '\0';
  if (!yoke__name_is_valid(text)) {
    yoke__error(
        reader->messages, place,
        "'%s' is no name of a unit: expected a letter or '_', then letters, digits, '_' or '-'",
        yoke__text_cut(text, cut));
    return false;
  }
  if (strcmp(text, "bond") == 0) {
    yoke__error(reader->messages, place, "the name 'bond' is reserved; expected 'unit.variable'");
    return false;
  }
  *out = (yoke_scenario_endpoint){.unit = text, .variable = dot + 1, .place = place};
  return true;
}

bool yoke__read_endpoint(yoke_reader* reader, const yoke_node* node, yoke_scenario_endpoint* out) {
  const char* text = NULL;
  if (!yoke__read_text(reader, node, &text)) {
    return false;
  }
  char* copy = yoke__arena_text(reader->arena, text, strlen(text));
  reader->is_out_of_memory |= copy == NULL;
  return copy != NULL && split_endpoint(reader, copy, node->place, out);
}

void yoke__key_endpoint(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  (void)rule;
  yoke__read_endpoint(reader, node, field);
}

// One end of the short form while it is read.
typedef struct cursor {
  const yoke_node* node;
  const char* at;
} cursor;

static void skip_spaces(cursor* c) {
  while (*c->at == ' ' || *c->at == '\t' || *c->at == '\n') {
    c->at++;
  }
}

static void report_at(yoke_reader* reader, const cursor* c, const char* expected,
                      const char* hint) {
  char cut[YOKE_FOUND_SIZE];
  const yoke_place place = place_inside(c->node, (size_t)(c->at - c->node->text));
  if (*c->at == '\0') {
    yoke__error(reader->messages, place, "expected %s, found the end of '%s'%s", expected,
                yoke__text_cut(c->node->text, cut), hint);
  } else {
    yoke__error(reader->messages, place, "expected %s, found '%s'%s", expected,
                yoke__text_cut(c->at, cut), hint);
  }
}

// Copies a quoted part without its quotes and escapes. c stands on the opening quote.
static bool take_quoted(yoke_reader* reader, cursor* c, char** to) {
  const cursor open = *c;
  for (c->at++; *c->at != '"'; c->at++) {
    if (*c->at == '\\' && (c->at[1] == '"' || c->at[1] == '\\')) {
      c->at++;
    }
    if (*c->at == '\0') {
      report_at(reader, &open, "closing quotes", "");
      return false;
    }
    *(*to)++ = *c->at;
  }
  c->at++;
  return true;
}

// Takes one end of the short form: up to a space, an arrow or the end of the text; quotes hold
// names together.
static bool take_endpoint(yoke_reader* reader, cursor* c, yoke_scenario_endpoint* out) {
  skip_spaces(c);
  char* text = yoke__reader_array(reader, strlen(c->at) + 1, 1);
  if (text == NULL) {
    return false;
  }
  const char* start = c->at;
  char* to = text;
  bool may_quote = true;  // at the start and behind the first dot
  while (*c->at != '\0' && *c->at != ' ' && *c->at != '\t' && *c->at != '\n' &&
         strncmp(c->at, "->", 2) != 0) {
    if (*c->at == '"') {
      if (!may_quote) {
        report_at(reader, c, "a name", arrow_hint);
        return false;
      }
      if (!take_quoted(reader, c, &to)) {
        return false;
      }
      break;
    }
    may_quote = *c->at == '.' && memchr(start, '.', (size_t)(c->at - start)) == NULL;
    *to++ = *c->at++;
  }
  *to = '\0';
  if (to == text) {
    c->at = start;
    report_at(reader, c, "'unit.variable'", "");
    return false;
  }
  return split_endpoint(reader, text, place_inside(c->node, (size_t)(start - c->node->text)), out);
}

bool yoke__read_pair(yoke_reader* reader, const yoke_node* node, yoke_scenario_endpoint* from,
                     yoke_scenario_endpoint* to, bool* has_to) {
  const char* text = NULL;
  if (!yoke__read_text(reader, node, &text)) {
    return false;
  }
  cursor c = {.node = node, .at = text};
  if (!take_endpoint(reader, &c, from)) {
    return false;
  }
  skip_spaces(&c);
  if (has_to != NULL) {
    *has_to = *c.at != '\0';
    if (!*has_to) {
      return true;
    }
  }
  if (strncmp(c.at, "->", 2) != 0) {
    report_at(reader, &c, "'->'", arrow_hint);
    return false;
  }
  c.at += 2;
  if (!take_endpoint(reader, &c, to)) {
    return false;
  }
  skip_spaces(&c);
  if (*c.at != '\0') {
    report_at(reader, &c, "the end of the connection", arrow_hint);
    return false;
  }
  return true;
}
