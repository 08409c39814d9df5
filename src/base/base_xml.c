// XML through expat, with bounds. Expat is run without its namespace processing: prefixes are cut off here by moving a
// pointer, which costs nothing, while expat would build a new name for every element.
//
// Bounds: depth 64, 1000 attributes per element, and no declarations inside DOCTYPE, so that neither entities (the
// "billion laughs") nor default attributes can multiply the input. External files are never read.
#include "base/base_xml.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include <expat.h>

#define MAX_ATTRIBUTES 1000
#define CHUNK          (1 << 30)  // expat counts in int; one piece where possible, so that nothing is copied

typedef struct parsing {
  XML_Parser parser;
  const yoke_xml_handler* handler;
  void* context;
  const char* source;
  yoke_messages* messages;
  yoke_status status;  // the first failure; ends all callbacks
  int depth;
  const char* attributes[2 * MAX_ATTRIBUTES + 1];
} parsing;

static int line_of(const parsing* p) {
  const XML_Size line = XML_GetCurrentLineNumber(p->parser);
  return line > INT_MAX ? INT_MAX : (int)line;
}

static yoke_place place_of(const parsing* p) {
  const XML_Size column = XML_GetCurrentColumnNumber(p->parser);
  return (yoke_place){p->source, line_of(p), column >= INT_MAX ? INT_MAX : (int)column + 1};
}

// Ends the parsing; expat may still deliver a callback or two, which see the status.
static void stop(parsing* p, yoke_status status) {
  p->status = status;
  XML_StopParser(p->parser, XML_FALSE);
}

// Cuts off a prefix if what follows begins with an ASCII letter or '_' and has no further colon; any other name stays
// whole. So a name that was cut off, or left whole, comes out the same when it is written and read again.
static const char* without_prefix(const char* name) {
  const char* colon = strchr(name, ':');
  if (colon == NULL || colon == name || strchr(colon + 1, ':') != NULL ||
      strcmp(colon + 1, "xmlns") == 0) {
    return name;
  }
  const char c = colon[1];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ? colon + 1 : name;
}

// declarations of prefixes and hints where a schema lies
static bool is_dropped(const char* name) {
  return name[0] == 'x' && (strcmp(name, "xmlns") == 0 || strncmp(name, "xmlns:", 6) == 0 ||
                            strncmp(name, "xsi:", 4) == 0);
}

// true if an attribute without prefix has this name: it is the one that counts
static bool has_plain(const XML_Char* const* attributes, const char* name) {
  for (; *attributes != NULL; attributes += 2) {
    if (strcmp(*attributes, name) == 0) {
      return true;
    }
  }
  return false;
}

// Copies the pointers of expat's list with prefixes cut off.
static const char* const* clean_attributes(parsing* p, const XML_Char* const* from) {
  size_t n = 0;
  for (const XML_Char* const* at = from; *at != NULL; at += 2) {
    const char* name = without_prefix(at[0]);
    if (is_dropped(at[0]) || (name != at[0] && has_plain(from, name))) {
      continue;
    }
    p->attributes[n++] = name;
    p->attributes[n++] = at[1];
  }
  p->attributes[n] = NULL;
  return p->attributes;
}

static void XMLCALL on_open(void* self, const XML_Char* name, const XML_Char** attributes) {
  parsing* p = self;
  if (p->status < 0) {
    return;
  }
  if (++p->depth > YOKE_XML_MAX_DEPTH) {
    yoke__error(p->messages, place_of(p), "elements are nested deeper than %d", YOKE_XML_MAX_DEPTH);
    stop(p, YOKE_BAD_INPUT);
    return;
  }
  if (XML_GetSpecifiedAttributeCount(p->parser) > 2 * MAX_ATTRIBUTES) {
    yoke__error(p->messages, place_of(p), "an element has more than %d attributes", MAX_ATTRIBUTES);
    stop(p, YOKE_BAD_INPUT);
    return;
  }
  const char* const* cleaned = clean_attributes(p, (const XML_Char* const*)attributes);
  const yoke_status status =
      p->handler->open == NULL
          ? YOKE_OK
          : p->handler->open(p->context, without_prefix(name), cleaned, line_of(p));
  if (status < 0) {
    stop(p, status);
  }
}

static void XMLCALL on_close(void* self, const XML_Char* name) {
  parsing* p = self;
  if (p->status < 0) {
    return;
  }
  p->depth--;
  if (p->handler->close != NULL) {
    const yoke_status status = p->handler->close(p->context, without_prefix(name), line_of(p));
    if (status < 0) {
      stop(p, status);
    }
  }
}

static void XMLCALL on_text(void* self, const XML_Char* text, int n) {
  parsing* p = self;
  if (p->status < 0) {
    return;
  }
  const yoke_status status = p->handler->text(p->context, text, (size_t)n, line_of(p));
  if (status < 0) {
    stop(p, status);
  }
}

static void XMLCALL on_doctype(void* self, const XML_Char* name, const XML_Char* system_id,
                               const XML_Char* public_id, int has_declarations) {
  (void)name, (void)system_id, (void)public_id;
  parsing* p = self;
  if (has_declarations != 0 && p->status >= 0) {
    yoke__error(p->messages, place_of(p),
                "DOCTYPE with declarations (entities and the like) is not accepted");
    stop(p, YOKE_BAD_INPUT);
  }
}

// What expat found wrong, once.
static yoke_status report_syntax(const parsing* p) {
  const enum XML_Error code = XML_GetErrorCode(p->parser);
  if (code == XML_ERROR_NO_MEMORY) {
    yoke__error(p->messages, (yoke_place){p->source, 0, 0}, "out of memory");
    return YOKE_NO_MEMORY;
  }
  yoke__error(p->messages, place_of(p), "not well-formed XML: %s", XML_ErrorString(code));
  return YOKE_BAD_INPUT;
}

static yoke_status feed(parsing* p, const char* bytes, size_t n) {
  enum XML_Status state = XML_STATUS_OK;
  bool is_last = false;
  while (state == XML_STATUS_OK && !is_last) {
    const int piece = n > CHUNK ? CHUNK : (int)n;
    is_last = (size_t)piece == n;
    state = XML_Parse(p->parser, bytes, piece, is_last ? XML_TRUE : XML_FALSE);
    bytes += piece;
    n -= (size_t)piece;
  }
  if (p->status < 0 || state == XML_STATUS_OK) {
    return p->status;
  }
  return report_syntax(p);
}

// Tools on Windows like to write its own alphabet, which expat does not know: ISO-8859-1 with signs of 0x80 to 0x9f.
static int on_unknown_encoding(void* data, const XML_Char* name, XML_Encoding* info) {
  // clang-format off
  static const int signs[] = {
      0x20ac, -1, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
      0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, -1, 0x017d, -1,
      -1, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
      0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, -1, 0x017e, 0x0178,
  };
  // clang-format on
  static const char known[] = "windows-1252";
  (void)data;
  for (size_t i = 0; i < sizeof known; i++) {
    const bool is_capital = name[i] >= 'A' && name[i] <= 'Z';
    if ((is_capital ? name[i] - 'A' + 'a' : name[i]) != known[i]) {
      return XML_STATUS_ERROR;
    }
  }
  for (int i = 0; i < 256; i++) {
    info->map[i] = i < 0x80 || i > 0x9f ? i : signs[i - 0x80];
  }
  info->data = NULL;
  info->convert = NULL;
  info->release = NULL;
  return XML_STATUS_OK;
}

yoke_status yoke__xml_parse(const char* bytes, size_t n, const char* source,
                            const yoke_xml_handler* handler, void* context,
                            yoke_messages* messages) {
  parsing p = {.handler = handler, .context = context, .source = source, .messages = messages};
  p.parser = XML_ParserCreate(NULL);
  if (p.parser == NULL) {
    yoke__error(messages, (yoke_place){source, 0, 0}, "out of memory");
    return YOKE_NO_MEMORY;
  }
  XML_SetUserData(p.parser, &p);
  XML_SetElementHandler(p.parser, on_open, on_close);
  XML_SetStartDoctypeDeclHandler(p.parser, on_doctype);
  XML_SetUnknownEncodingHandler(p.parser, on_unknown_encoding, NULL);
  if (handler->text != NULL) {
    XML_SetCharacterDataHandler(p.parser, on_text);
  }
  const yoke_status status = feed(&p, bytes, n);
  XML_ParserFree(p.parser);
  return status;
}

const char* yoke__xml_attribute(const char* const* attributes, const char* name) {
  for (; *attributes != NULL; attributes += 2) {
    if (strcmp(*attributes, name) == 0) {
      return attributes[1];
    }
  }
  return NULL;
}
