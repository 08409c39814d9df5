// XML text, piece by piece into a growing buffer: two spaces per level, attributes in the order given. Whatever the caller
// passes, the result is well-formed as long as the names are XML names and every element is closed: what XML 1.0 forbids
// (control characters, bytes that are not UTF-8) becomes '?'.
#include <stdbool.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_xml.h"

static void append(yoke_xml_writer* xml, const char* text) {
  yoke__text_string(&xml->text, text);
}

static void fail(yoke_xml_writer* xml) {
  xml->text.status = xml->text.status < 0 ? xml->text.status : YOKE_BAD_ARG;
}

// Bytes of the UTF-8 character at s that XML may hold, 0 if there is none: U+FFFE and U+FFFF are out.
static size_t character_length(const unsigned char* s) {
  const bool is_out = s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe;
  return is_out ? 0 : yoke__utf8_length((const char*)s);
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
      yoke__text_append(&xml->text, (const char*)begin, (size_t)(at - begin));
      append(xml, escape);
      begin = at + 1;
    }
    at += escape != NULL ? 1 : n;
  }
  yoke__text_append(&xml->text, (const char*)begin, (size_t)(at - begin));
}

// a line of its own, two spaces per level
static void append_indent(yoke_xml_writer* xml) {
  append(xml, "\n");
  for (int i = 0; i < xml->depth; i++) {
    append(xml, "  ");
  }
}

// the start tag gets its end before content comes
static void end_tag(yoke_xml_writer* xml) {
  if (xml->is_open != 0) {
    append(xml, ">");
  }
  xml->is_open = 0;
}

void yoke__xml_open(yoke_xml_writer* xml, const char* name) {
  end_tag(xml);
  if (xml->text.n == 0) {
    append(xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
  }
  append_indent(xml);
  append(xml, "<");
  append(xml, name);
  xml->depth++;
  xml->is_open = 1;
  xml->has_text = 0;
}

void yoke__xml_put(yoke_xml_writer* xml, const char* attribute, const char* value) {
  if (xml->is_open == 0) {
    fail(xml);
    return;
  }
  append(xml, " ");
  append(xml, attribute);
  append(xml, "=\"");
  append_escaped(xml, value, 1);
  append(xml, "\"");
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
    fail(xml);
    return;
  }
  end_tag(xml);
  append_escaped(xml, text, 0);
  xml->has_text = 1;
}

void yoke__xml_close(yoke_xml_writer* xml, const char* name) {
  if (xml->depth == 0) {
    fail(xml);
    return;
  }
  xml->depth--;
  if (xml->is_open != 0) {
    append(xml, "/>");
  } else {
    // behind text a new line would become part of it
    if (xml->has_text == 0) {
      append_indent(xml);
    }
    append(xml, "</");
    append(xml, name);
    append(xml, ">");
  }
  xml->is_open = 0;
  xml->has_text = 0;
  if (xml->depth == 0) {
    append(xml, "\n");
  }
}

void yoke__xml_free(yoke_xml_writer* xml) {
  yoke__text_free(&xml->text);
  memset(xml, 0, sizeof *xml);
}
