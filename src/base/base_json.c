// JSON text (RFC 8259) into a growing buffer.
// Strings leave as valid UTF-8 with quotes, backslashes and control characters escaped. "</" is
// written "<\/", so that the text may stand inside an HTML script element.
// Not jansson, which reads our JSON: it prints 0.1 as 0.10000000000000001, here numbers are as short as they can be.
#include "base/base_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"

// n bytes behind the text; after a failure nothing happens
static void put(yoke_json* json, const char* bytes, size_t n) {
  if (json->status < 0) {
    return;
  }
  if (n + 1 > json->room - json->n) {
    // doubling keeps the copying linear in the final size
    const size_t room = 2 * (json->n + n + 256);
    char* larger = realloc(json->text, room);
    if (larger == NULL) {
      json->status = YOKE_NO_MEMORY;
      return;
    }
    json->text = larger;
    json->room = room;
  }
  memcpy(json->text + json->n, bytes, n);
  json->n += n;
  json->text[json->n] = '\0';
}

static void put_text(yoke_json* json, const char* text) {
  put(json, text, strlen(text));
}

static void put_line(yoke_json* json) {
  put(json, "\n", 1);
  for (int i = 0; i < json->depth; i++) {
    put(json, "  ", 2);
  }
}

// Bytes of the UTF-8 character at s, 0 if it is none (overlong, surrogate, beyond U+10FFFF, cut
// off). Reads no further than a NUL.
static size_t utf8_length(const unsigned char* s) {
  if (s[0] < 0x80) {
    return 1;
  }
  const size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
  if (s[0] < 0xc2 || s[0] > 0xf4) {
    return 0;
  }
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool is_overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
  const bool is_outside = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
  return is_overlong || is_outside ? 0 : n;
}

static void put_escape(yoke_json* json, unsigned char c) {
  static const char hex[] = "0123456789abcdef";
  static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt";  // character, letter behind the backslash
  for (size_t i = 0; i + 1 < sizeof names; i += 2) {
    if ((unsigned char)names[i] == c) {
      const char pair[2] = {'\\', names[i + 1]};
      put(json, pair, 2);
      return;
    }
  }
  const char code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
  put(json, code, 6);
}

static void put_string(yoke_json* json, const char* text) {
  put(json, "\"", 1);
  const unsigned char* at = (const unsigned char*)text;
  while (*at != '\0') {
    const size_t n = utf8_length(at);
    if (n == 0) {
      put(json, "\xef\xbf\xbd", 3);  // U+FFFD in place of the byte
    } else if (*at < 0x20 || *at == '"' || *at == '\\') {
      put_escape(json, *at);
    } else if (*at == '<' && at[1] == '/') {
      put(json, "<\\", 2);
    } else {
      put(json, (const char*)at, n);
    }
    at += n == 0 ? 1 : n;
  }
  put(json, "\"", 1);
}

static void fail(yoke_json* json) {
  json->status = json->status < 0 ? json->status : YOKE_BAD_ARG;
}

// Comma, line and key in front of a value.
static void begin_value(yoke_json* json, const char* key, bool is_container) {
  if (json->depth == 0) {
    if (json->has_root || key != NULL) {
      fail(json);
    }
    json->has_root = true;
    return;
  }
  const int d = json->depth - 1;
  if ((key != NULL) == json->is_array[d]) {
    fail(json);
    return;
  }
  const bool has_line = !json->is_array[d] || is_container;
  if (json->has_element[d]) {
    put_text(json, has_line ? "," : ", ");
  }
  if (has_line) {
    put_line(json);
  }
  if (key != NULL) {
    put_string(json, key);
    put_text(json, ": ");
  }
  json->has_element[d] = true;
  json->has_container[d] = is_container;
}

static void begin(yoke_json* json, const char* key, bool is_array) {
  begin_value(json, key, true);
  if (json->depth >= YOKE_JSON_DEPTH) {
    fail(json);
    return;
  }
  json->is_array[json->depth] = is_array;
  json->has_element[json->depth] = false;
  json->has_container[json->depth] = false;
  json->depth++;
  put_text(json, is_array ? "[" : "{");
}

static void end(yoke_json* json, bool is_array) {
  if (json->status < 0 || json->depth == 0 || json->is_array[json->depth - 1] != is_array) {
    fail(json);
    return;
  }
  json->depth--;
  const int d = json->depth;
  if (json->has_element[d] && (!is_array || json->has_container[d])) {
    put_line(json);
  }
  put_text(json, is_array ? "]" : "}");
}

void yoke__json_begin_object(yoke_json* json, const char* key) {
  begin(json, key, false);
}

void yoke__json_begin_document(yoke_json* json, const char* noun) {
  char format[64];
  snprintf(format, sizeof format, "yoke-%s", noun);
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "format", format);
  yoke__json_integer(json, "version", 1);
}

void yoke__json_end_object(yoke_json* json) {
  end(json, false);
}

void yoke__json_begin_array(yoke_json* json, const char* key) {
  begin(json, key, true);
}

void yoke__json_end_array(yoke_json* json) {
  end(json, true);
}

void yoke__json_string(yoke_json* json, const char* key, const char* text) {
  begin_value(json, key, false);
  if (text == NULL) {
    put_text(json, "null");
  } else {
    put_string(json, text);
  }
}

void yoke__json_number(yoke_json* json, const char* key, double value) {
  char text[YOKE_NUMBER_SIZE] = "null";
  if (yoke__is_finite(value)) {
    yoke__number_format(value, text);
  }
  begin_value(json, key, false);
  put_text(json, text);
}

void yoke__json_integer(yoke_json* json, const char* key, int64_t value) {
  char text[YOKE_NUMBER_SIZE];
  yoke__number_format_integer(value, text);
  begin_value(json, key, false);
  put_text(json, text);
}

void yoke__json_boolean(yoke_json* json, const char* key, bool value) {
  begin_value(json, key, false);
  put_text(json, value ? "true" : "false");
}

void yoke__json_null(yoke_json* json, const char* key) {
  begin_value(json, key, false);
  put_text(json, "null");
}

yoke_status yoke__json_finish(yoke_json* json) {
  if (json->depth != 0 || !json->has_root) {
    fail(json);
  }
  put(json, "\n", 1);
  return json->status;
}

void yoke__json_free(yoke_json* json) {
  free(json->text);
  memset(json, 0, sizeof *json);
}
