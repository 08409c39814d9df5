// Names in the text of netlists and expressions: SPICE ignores case.
#include "circuit/expression/circuit_expression_compile.h"

bool yoke__span_is(yoke_span span, const char* text) {
  for (size_t i = 0; i < span.n; i++) {
    if (text[i] == '\0' || yoke__lower(span.text[i]) != text[i]) {
      return false;
    }
  }
  return text[span.n] == '\0';
}

size_t yoke__span_among(yoke_span span, const char* const words[], size_t n) {
  size_t i = 0;
  while (i < n && !yoke__span_is(span, words[i])) {
    i++;
  }
  return i;
}

bool yoke__span_equals(yoke_span a, yoke_span b) {
  if (a.n != b.n) {
    return false;
  }
  for (size_t i = 0; i < a.n; i++) {
    if (yoke__lower(a.text[i]) != yoke__lower(b.text[i])) {
      return false;
    }
  }
  return true;
}

bool yoke__is_name_start(char c) {
  const char l = yoke__lower(c);
  return (l >= 'a' && l <= 'z') || c == '_' || (unsigned char)c >= 0x80;
}

bool yoke__is_name_part(char c) {
  return yoke__is_name_start(c) || (c >= '0' && c <= '9') || c == '.' || c == '#' || c == '$';
}
