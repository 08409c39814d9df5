// XML text, piece by piece into a growing buffer: two spaces per level, attributes in the order given. Whatever the caller
// passes, the result is well-formed as long as the names are XML names and every element is closed: what XML 1.0 forbids
// (control characters, bytes that are not UTF-8) becomes '?'.
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_xml.h"

static void append(yoke_xml_writer* xml, const char* text, size_t n) {
  if (xml->has_failed != 0) {
    return;
  }
  if (xml->room - xml->n < n + 1) {
    const size_t room = 2 * xml->room + n + 1024;
    char* larger = realloc(xml->text, room);
    if (larger == NULL) {
      xml->has_failed = 1;
      return;
    }
    xml->text = larger;
    xml->room = room;
  }
  memcpy(xml->text + xml->n, text, n);
  xml->n += n;
  xml->text[xml->n] = '\0';
}

static void append_text(yoke_xml_writer* xml, const char* text) {
  append(xml, text, strlen(text));
}

// Bytes of the UTF-8 character at s that XML may hold, 0 if there is none: overlong forms, surrogates, U+FFFE, U+FFFF and
// what lies beyond U+10FFFF are out. A NUL ends the text and fits into no character, so nothing behind it is read.
static size_t character_length(const unsigned char* s) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
  if (n < 2 || s[0] >= 0xf8) {
    return n == 1 ? 1 : 0;
  }
  uint32_t code = s[0] & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80) {
      return 0;
    }
    code = code << 6 | (s[i] & 0x3fu);
  }
  const int is_bad = code < least[n] || (code >= 0xd800 && code < 0xe000) || code == 0xfffe ||
                     code == 0xffff || code > 0x10ffff;
  return is_bad ? 0 : n;
}

// what stands for an ASCII character, or NULL for itself; readers turn plain line ends and tabs in attributes into spaces
static const char* escape_of(unsigned char c, int is_attribute) {
  switch (c) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return is_attribute ? "&quot;" : NULL;
  case '\t':
    return is_attribute ? "&#9;" : NULL;
  case '\n':
    return is_attribute ? "&#10;" : NULL;
  case '\r':
    return "&#13;";
  default:
    return c < 0x20 ? "?" : NULL;
  }
}

static void append_escaped(yoke_xml_writer* xml, const char* text, int is_attribute) {
  const unsigned char *at = (const unsigned char*)text, *begin = at;
  while (*at != '\0') {
    const size_t n = character_length(at);
    const char* escape = n == 0 ? "?" : n == 1 ? escape_of(*at, is_attribute) : NULL;
    if (escape != NULL) {
      append(xml, (const char*)begin, (size_t)(at - begin));
      append_text(xml, escape);
      begin = at + 1;
    }
    at += escape != NULL ? 1 : n;
  }
  append(xml, (const char*)begin, (size_t)(at - begin));
}

// a line of its own, two spaces per level
static void append_indent(yoke_xml_writer* xml) {
  append_text(xml, "\n");
  for (int i = 0; i < xml->depth; i++) {
    append_text(xml, "  ");
  }
}

// the start tag gets its end before content comes
static void end_tag(yoke_xml_writer* xml) {
  if (xml->is_open != 0) {
    append_text(xml, ">");
  }
  xml->is_open = 0;
}

void yoke__xml_open(yoke_xml_writer* xml, const char* name) {
  end_tag(xml);
  if (xml->n == 0) {
    append_text(xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
  }
  append_indent(xml);
  append_text(xml, "<");
  append_text(xml, name);
  xml->depth++;
  xml->is_open = 1;
  xml->has_text = 0;
}

void yoke__xml_put(yoke_xml_writer* xml, const char* attribute, const char* value) {
  if (xml->is_open == 0) {
    xml->has_failed = 1;
    return;
  }
  append_text(xml, " ");
  append_text(xml, attribute);
  append_text(xml, "=\"");
  append_escaped(xml, value, 1);
  append_text(xml, "\"");
}

void yoke__xml_put_number(yoke_xml_writer* xml, const char* attribute, double value) {
  char text[YOKE_NUMBER_SIZE];
  if (yoke__is_finite(value)) {
    yoke__number_format(value, text);
    yoke__xml_put(xml, attribute, text);
  } else {
    // the words of XML schema
    yoke__xml_put(xml, attribute, value > 0 ? "INF" : value < 0 ? "-INF" : "NaN");
  }
}

void yoke__xml_put_integer(yoke_xml_writer* xml, const char* attribute, long long value) {
  char text[YOKE_NUMBER_SIZE];
  yoke__number_format_integer(value, text);
  yoke__xml_put(xml, attribute, text);
}

void yoke__xml_put_text(yoke_xml_writer* xml, const char* text) {
  if (xml->depth == 0) {
    xml->has_failed = 1;
    return;
  }
  end_tag(xml);
  append_escaped(xml, text, 0);
  xml->has_text = 1;
}

void yoke__xml_close(yoke_xml_writer* xml, const char* name) {
  if (xml->depth == 0) {
    xml->has_failed = 1;
    return;
  }
  xml->depth--;
  if (xml->is_open != 0) {
    append_text(xml, "/>");
  } else {
    // behind text a new line would become part of it
    if (xml->has_text == 0) {
      append_indent(xml);
    }
    append_text(xml, "</");
    append_text(xml, name);
    append_text(xml, ">");
  }
  xml->is_open = 0;
  xml->has_text = 0;
  if (xml->depth == 0) {
    append_text(xml, "\n");
  }
}

void yoke__xml_free(yoke_xml_writer* xml) {
  free(xml->text);
  memset(xml, 0, sizeof *xml);
}
