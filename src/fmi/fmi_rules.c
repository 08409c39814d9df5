// One message per rule, with the first place in the file and how many more there are.
#include "fmi/fmi_rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct row {
  const char* id;
  yoke_severity severity;
  const char* remedy;
} row;

static const row rules[YOKE_FMI_N_RULES] = {
#define RULE_ROW(name, id, severity, text) {id, YOKE_##severity, text},
    YOKE_FMI_RULE_LIST(RULE_ROW)
#undef RULE_ROW
};

void yoke__fmi_find_fault(yoke_fmi_findings* findings, yoke_fmi_rule rule, int line, size_t n_more,
                          const char* format, ...) {
  const size_t n_before = findings->of[rule].n;
  findings->of[rule].n += 1 + n_more;

  // a million faults cost a comparison each: the text is made for the first line only
  if (n_before > 0 && line >= findings->of[rule].line) {
    return;
  }
  findings->of[rule].line = line;
  char* text = findings->of[rule].text;
  const size_t size = sizeof findings->of[rule].text;
  va_list args;
  va_start(args, format);
  const int length = vsnprintf(text, size, format, args);
  va_end(args);
  if (length >= (int)size) {
    // not in the middle of a character
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) {
      end--;
    }
    memcpy(text + end, "...", 4);
  }

  // names come from strangers: nothing in them may move the cursor
  for (; *text != '\0'; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c < 0x20 || c == 0x7f) {
      *text = '?';
    }
  }
}

void yoke__fmi_tell_faults(const yoke_fmi_findings* findings, const char* source,
                           yoke_messages* messages) {
  for (size_t i = 0; i < YOKE_FMI_N_RULES; i++) {
    const size_t n = findings->of[i].n;
    if (n == 0) {
      continue;
    }
    char more[40] = "";
    if (n > 1) {
      snprintf(more, sizeof more, " (and %zu more)", n - 1);
    }
    const yoke_place place = {source, findings->of[i].line, 0};
    yoke__message_add(messages, rules[i].severity, place, "%s%s; %s [%s]", findings->of[i].text,
                      more, rules[i].remedy, rules[i].id);
  }
}
