// JSON text (RFC 8259) into a growing buffer.
// Strings leave as valid UTF-8 with quotes, backslashes and control characters escaped. "</" is
// written "<\/", so that the text may stand inside an HTML script element.
// Not jansson, which reads our JSON: it prints 0.1 as 0.10000000000000001, here numbers are as short as they can be.
#include "base/base_json.h"

#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"

static void put(yoke_json* json, const char* text) {
  yoke__text_string(&json->text, text);
}

static void put_line(yoke_json* json) {
  put(json, "\n");
  for (int i = 0; i < json->depth; i++) {
    put(json, "  ");
  }
}

static void put_escape(yoke_json* json, unsigned char c) {
  static const char hex[] = "0123456789abcdef";
  static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt";  // character, letter behind the backslash
  for (size_t i = 0; i + 1 < sizeof names; i += 2) {
    if ((unsigned char)names[i] == c) {
      const char pair[2] = {'\\', names[i + 1]};
      yoke__text_append(&json->text, pair, sizeof pair);
      return;
    }
  }
  const char code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
  yoke__text_append(&json->text, code, sizeof code);
}

static void put_string(yoke_json* json, const char* text) {
  put(json, "\"");
  const unsigned char* at = (const unsigned char*)text;
  while (*at != '\0') {
    const size_t n = yoke__utf8_length((const char*)at);
    if (n == 0) {
      put(json, "\xef\xbf\xbd");  // U+FFFD in place of the byte
    } else if (*at < 0x20 || *at == '"' || *at == '\\') {
      put_escape(json, *at);
    } else if (*at == '<' && at[1] == '/') {
      put(json, "<\\");
    } else {
      yoke__text_append(&json->text, (const char*)at, n);
    }
    at += n == 0 ? 1 : n;
  }
  put(json, "\"");
}

static void fail(yoke_json* json) {
  json->text.status = json->text.status < 0 ? json->text.status : YOKE_BAD_ARG;
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
    put(json, has_line ? "," : ", ");
  }
  if (has_line) {
    put_line(json);
  }
  if (key != NULL) {
    put_string(json, key);
    put(json, ": ");
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
  put(json, is_array ? "[" : "{");
}

static void end(yoke_json* json, bool is_array) {
  if (json->text.status < 0 || json->depth == 0 || json->is_array[json->depth - 1] != is_array) {
    fail(json);
    return;
  }
  json->depth--;
  const int d = json->depth;
  if (json->has_element[d] && (!is_array || json->has_container[d])) {
    put_line(json);
  }
  put(json, is_array ? "]" : "}");
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
    put(json, "null");
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
  put(json, text);
}

void yoke__json_integer(yoke_json* json, const char* key, int64_t value) {
  char text[YOKE_NUMBER_SIZE];
  yoke__number_format_integer(value, text);
  begin_value(json, key, false);
  put(json, text);
}

void yoke__json_boolean(yoke_json* json, const char* key, bool value) {
  begin_value(json, key, false);
  put(json, value ? "true" : "false");
}

void yoke__json_null(yoke_json* json, const char* key) {
  begin_value(json, key, false);
  put(json, "null");
}

yoke_status yoke__json_finish(yoke_json* json) {
  if (json->depth != 0 || !json->has_root) {
    fail(json);
  }
  put(json, "\n");
  return json->text.status;
}

void yoke__json_free(yoke_json* json) {
  yoke__text_free(&json->text);
  memset(json, 0, sizeof *json);
}
