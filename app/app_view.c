// Documents of the library, read for printing them.
#include "app/app_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "yoke/system.h"

json_t* yoke__view_open(const char* command, char** document) {
  json_error_t error = {.text = ""};
  json_t* root = json_loads(*document, 0, &error);
  yoke_text_free(document);
  if (root == NULL) {
    const bool is_memory =
        json_error_code(&error) == json_error_out_of_memory || error.text[0] == '\0';
    yoke__app_error(command, "%s", is_memory ? "out of memory" : error.text);
  }
  return root;
}

const char* yoke__view_text(const json_t* object, const char* key) {
  return yoke__json_find_text(object, key, "");
}

bool yoke__view_is(const json_t* object, const char* key) {
  return json_is_true(json_object_get(object, key));
}

long long yoke__view_count(const json_t* object, const char* key) {
  return json_integer_value(json_object_get(object, key));
}

const char* yoke__view_value(const json_t* value, char room[YOKE_NUMBER_SIZE]) {
  room[0] = '\0';
  if (json_is_integer(value)) {
    yoke__number_format_integer(json_integer_value(value), room);
  } else if (json_is_real(value)) {
    yoke__number_format(json_real_value(value), room);
  }
  return json_is_string(value) ? json_string_value(value) : room;
}

// ---- patterns

static bool is_given(const json_t* value) {
  return json_is_true(value) || json_object_size(value) > 0 || json_array_size(value) > 0 ||
         (json_is_string(value) && json_string_length(value) > 0) ||
         (json_is_number(value) && json_number_value(value) != 0);
}

// The brace that closes the one at `open`.
static const char* find_closing(const char* open) {
  int depth = 0;
  const char* at = open;
  do {
    depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
  } while (depth > 0 && *++at != '\0');
  return at;
}

static void write_pattern(yoke_text* to, const json_t* object, const char* at, const char* end);

// What stands in braces: the key, and what is behind it.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the braces of our own patterns
static void write_member(yoke_text* to, const json_t* object, const char* at, const char* end) {
  char key[64], room[YOKE_NUMBER_SIZE];
  const size_t n = strcspn(at, ":?!@#}");
  const char* behind = at + n;
  snprintf(key, sizeof key, "%.*s", (int)n, at);
  const json_t* value = json_object_get(object, key);
  if (*behind == '?' || *behind == '!' || *behind == '@') {
    const bool is_there = value != NULL && !json_is_null(value);
    if (*behind == '@' ? is_there : is_given(value) == (*behind == '?')) {
      write_pattern(to, object, behind + 1, end);
    }
  } else if (*behind == '#') {
    yoke__text_string(to, json_integer_value(value) == 1 ? "" : "s");
  } else {
    const int width = *behind == ':' ? (int)strtol(behind + 1, NULL, 10) : 0;
    yoke__text_add(to, "%-*s", width, yoke__view_value(value, room));
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the braces of our own patterns
static void write_pattern(yoke_text* to, const json_t* object, const char* at, const char* end) {
  while (at < end) {
    const char* open = memchr(at, '{', (size_t)(end - at));
    yoke__text_append(to, at, (size_t)((open == NULL ? end : open) - at));
    if (open == NULL) {
      return;
    }
    const char* close = find_closing(open);
    write_member(to, object, open + 1, close);
    at = close + 1;
  }
}

void yoke__view_write(yoke_text* to, const json_t* object, const char* pattern) {
  write_pattern(to, object, pattern, pattern + strlen(pattern));
}

void yoke__view_print(const json_t* object, const char* pattern) {
  yoke_text text = {0};
  yoke__view_write(&text, object, pattern);
  fputs(text.bytes == NULL ? "" : text.bytes, stdout);
  yoke__text_free(&text);
}

void yoke__view_print_all(const json_t* list, const char* pattern) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    yoke__view_print(json_array_get(list, i), pattern);
  }
}

// ---- messages

void yoke__view_messages(const json_t* document, yoke_messages* to) {
  static const char* const words[] = {"note", "warning", "error"};
  size_t i = 0;
  const json_t* m = NULL;
  json_array_foreach(json_object_get(document, "messages"), i, m) {
    yoke_message message = {.file = yoke__json_find_text(m, "file", NULL),
                            .line = (int)yoke__view_count(m, "line"),
                            .column = (int)yoke__view_count(m, "column"),
                            .unit = yoke__json_find_text(m, "unit", NULL),
                            .variable = yoke__json_find_text(m, "variable", NULL),
                            .time = yoke__json_find_number(m, "time", (double)NAN),
                            .text = yoke__view_text(m, "text"),
                            .hint = yoke__json_find_text(m, "hint", NULL)};
    while (message.severity < YOKE_ERROR &&
           strcmp(words[message.severity], yoke__view_text(m, "severity")) != 0) {
      message.severity++;
    }
    yoke__messages_add(to, &message);
  }
  to->n_dropped = (size_t)yoke__view_count(document, "messages_not_listed");
}
