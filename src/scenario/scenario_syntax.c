// What libyaml says about a broken file, in our words.
//
// libyaml gives a problem ("did not find expected key"), often a context ("while parsing a block
// mapping"), and a mark for each. Users of a system file think in keys, lists and indentation, so
// each problem has a sentence of its own; where the cause stands at the start of the construct and
// not where the parser gave up, the position is that of the context.
#include "scenario/scenario_syntax.h"

#include <stdio.h>
#include <string.h>

#include "scenario/scenario_reader.h"

// How the position, and what is filled in for %s, is chosen.
typedef enum report_style {
  AT_PROBLEM,     // where the parser gave up
  AT_CONTEXT,     // where the construct starts
  WITH_START,     // where the parser gave up; %s names the start of the construct
  WITH_CHARACTER  // where the parser gave up; %s is the character there
} report_style;

typedef struct wording {
  const char* problem;  // start of libyaml's text
  const char* context;  // part of libyaml's context, or "" for any
  report_style style;
  const char* text;
} wording;

static const char tab_text[] = "a tab cannot be used for indentation here; use spaces";

// libyaml looks for the ':' of a key that far and takes a later one for misplaced
#define MAX_KEY 1024
static const char long_key_text[] =
    "expected 'key: value' with a key of at most 1024 characters; a text with ': ' needs quotes";

static const wording wordings[] = {
    {"found a tab character", "", AT_PROBLEM, tab_text},
    {"found character that cannot start any token", "", WITH_CHARACTER,
     "the character '%s' cannot start a value; put the text into quotes"},
    {"could not find expected ':'", "", AT_CONTEXT,
     "expected 'key: value': no ':' follows this text"},
    {"mapping values are not allowed", "", AT_PROBLEM,
     "a ':' cannot stand here; start a new line for a new key, or put a text with ': ' into "
     "quotes"},
    {"mapping keys are not allowed", "", AT_PROBLEM,
     "a key cannot stand here; check the indentation"},
    {"block sequence entries are not allowed", "", AT_PROBLEM,
     "a list entry '- ' cannot stand here; start it on a line of its own"},
    {"did not find expected key", "", WITH_START,
     "expected a key of the map that starts at %s; check the indentation"},
    {"did not find expected '-' indicator", "", WITH_START,
     "expected an entry '- ' of the list that starts at %s; check the indentation"},
    {"did not find expected ',' or ']'", "", WITH_START,
     "expected ',' or ']' in the list that starts at %s; texts with brackets or commas need "
     "quotes"},
    {"did not find expected ',' or '}'", "", WITH_START,
     "expected ',' or '}' in the map that starts at %s; texts with brackets or commas need quotes"},
    {"did not find expected node content", "", AT_PROBLEM, "expected a key or a value here"},
    {"did not find expected <document start>", "", AT_PROBLEM,
     "the text goes on behind its end; check the indentation"},
    {"found unexpected end of stream", "", AT_CONTEXT,
     "the quotes that open here are never closed"},
    {"found unexpected document indicator", "", AT_CONTEXT,
     "the quotes that open here are not closed before the document ends"},
    {"found unknown escape character", "", AT_PROBLEM,
     "unknown escape behind a backslash; use '\\\\' for a backslash, or single quotes"},
    {"did not find expected hexdecimal number", "", AT_PROBLEM,
     "expected hexadecimal digits behind the escape \\x, \\u or \\U"},
    {"found invalid Unicode character escape code", "", AT_PROBLEM,
     "the escape names no Unicode character"},
    {"found an indentation indicator equal to 0", "", AT_PROBLEM,
     "the indentation behind '|' or '>' must be from 1 to 9"},
    {"did not find expected comment or line break", "block scalar", AT_PROBLEM,
     "the text behind '|' or '>' must start on a new line"},
    {"", "anchor", AT_CONTEXT,
     "anchors ('&name') are not supported; to write a '&' put the text into quotes"},
    {"", "alias", AT_CONTEXT,
     "aliases ('*name') are not supported; to write a '*' put the text into quotes"},
    {"found undefined tag handle", "", AT_CONTEXT, "tags ('!name') are not supported"},
    {"", "tag", AT_CONTEXT,
     "tags ('!name') are not supported; to write a '!' put the text into quotes"},
    {"found incompatible YAML document", "", AT_PROBLEM,
     "this YAML version is not supported; use 1.1 or 1.2"},
    {"", "directive", AT_CONTEXT, "the line starting with '%%' is no valid directive; remove it"},
    {"found duplicate %YAML directive", "", AT_PROBLEM, "the %%YAML line is given twice"},
};

static bool is_long_key(const yaml_parser_t* parser) {
  const char* problem = parser->problem == NULL ? "" : parser->problem;
  if (parser->problem_mark.column <= MAX_KEY) {
    return false;
  }
  return strncmp(problem, "mapping values are not allowed", 30) == 0 ||
         (strcmp(problem, "could not find expected ':'") == 0 &&
          parser->problem_mark.line == parser->context_mark.line);
}

static const wording* find_wording(const yaml_parser_t* parser) {
  const char* problem = parser->problem == NULL ? "" : parser->problem;
  const char* context = parser->context == NULL ? "" : parser->context;
  for (size_t i = 0; i < sizeof wordings / sizeof wordings[0]; i++) {
    const wording* w = &wordings[i];
    if (strncmp(problem, w->problem, strlen(w->problem)) == 0 &&
        strstr(context, w->context) != NULL) {
      return w;
    }
  }
  return NULL;
}

static yoke_place place_of(yaml_mark_t mark, yoke_place origin) {
  if (origin.line == 0) {
    return origin;
  }
  return (yoke_place){origin.source, (int)mark.line + 1, (int)mark.column + 1};
}

// The character with number `index` of the text as a string of its own, "" behind its end.
static void character_at(const char* bytes, size_t n, size_t index, char to[5]) {
  to[0] = '\0';
  size_t i = 0;
  uint32_t code = 0;
  for (size_t k = 0; i < n; k++) {
    const size_t length = yoke__utf8_next(bytes + i, n - i, &code);
    if (length == 0) {
      return;
    }
    if (k == index) {
      memcpy(to, bytes + i, length);
      to[length] = '\0';
      return;
    }
    i += length;
  }
}

// Puts `insert` in place of %s; a %% of the pattern is one percent sign.
static void fill(const char* pattern, const char* insert, char* to, size_t size) {
  size_t used = 0;
  for (const char* at = pattern; *at != '\0' && used + 1 < size; at++) {
    if (*at == '%' && at[1] == 's') {
      const int n = snprintf(to + used, size - used, "%s", insert);
      used += n < 0 ? 0 : (size_t)n;
      at++;
    } else {
      at += *at == '%' && at[1] == '%';
      to[used++] = *at;
    }
  }
  to[used < size ? used : size - 1] = '\0';
}

void yoke__syntax_report(const yaml_parser_t* parser, const char* bytes, size_t n,
                         yoke_place origin, yoke_messages* messages) {
  const wording* w = find_wording(parser);
  const yoke_place problem = place_of(parser->problem_mark, origin);
  if (w == NULL) {
    yoke__error(messages, problem, "this is not valid YAML (%s)",
                parser->problem == NULL ? "no reason known" : parser->problem);
    return;
  }

  // what the sentence mentions
  char insert[64] = "";
  const yoke_place context = place_of(parser->context_mark, origin);
  if (w->style == WITH_START && origin.line == 0) {
    snprintf(insert, sizeof insert, "character %d", (int)parser->context_mark.column + 1);
  } else if (w->style == WITH_START) {
    snprintf(insert, sizeof insert, "line %d, column %d", context.line, context.column);
  } else if (w->style == WITH_CHARACTER) {
    character_at(bytes, n, parser->problem_mark.index, insert);
  }

  char text[256];
  const bool is_tab = w->style == WITH_CHARACTER && strcmp(insert, "\t") == 0;
  const char* pattern = is_long_key(parser) ? long_key_text : w->text;
  fill(is_tab ? tab_text : pattern, insert, text, sizeof text);
  yoke__error(messages, w->style == AT_CONTEXT ? context : problem, "%s", text);
}
