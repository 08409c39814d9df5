// Text of strangers on a terminal: counted in characters, cut, wrapped, without control characters.
#include "app/app_fmu_print.h"

#include <stdio.h>
#include <string.h>

// Bytes of the next character, which counts as one column; control characters (also those of two bytes) have none.
static size_t next_char(const char* text, bool* is_control) {
  const unsigned char c = (unsigned char)text[0], d = (unsigned char)text[c != '\0'];
  *is_control = c < 0x20 || c == 0x7f || (c == 0xc2 && d < 0xa0);
  size_t n = 1;
  while (c >= 0xc0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
    n++;
  }
  return n;
}

size_t yoke__app_fmu_width(const char* text) {
  size_t n = 0;
  for (bool is_control = false; *text != '\0'; n++) {
    text += next_char(text, &is_control);
  }
  return n;
}

size_t yoke__app_fmu_put(const char* text, size_t width) {
  const size_t whole = yoke__app_fmu_width(text);
  const size_t kept = whole <= width ? whole : width < 4 ? width : width - 3;
  for (size_t i = 0; i < kept; i++) {
    bool is_control = false;
    const size_t n = next_char(text, &is_control);
    if (is_control) {
      fputc(' ', stdout);
    } else {
      fwrite(text, 1, n, stdout);
    }
    text += n;
  }
  if (kept < whole && width >= 4) {
    fputs("...", stdout);
    return width;
  }
  return kept;
}

void yoke__app_fmu_put_cell(const char* text, size_t width) {
  const size_t used = yoke__app_fmu_put(text, width);
  printf("%*s", (int)(width - used), "");
}

void yoke__app_fmu_put_line(const char* label, const char* text) {
  printf("  ");
  yoke__app_fmu_put_cell(label, YOKE_FMU_LABEL - 2);
  size_t column = YOKE_FMU_LABEL;
  bool is_first = true;
  while (*text != '\0') {
    const size_t n = strcspn(text, " \n\t\r");
    char word[YOKE_FMU_LINE_SIZE];
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), text);
    const size_t width = yoke__app_fmu_width(word);
    if (!is_first && column + 1 + width > YOKE_FMU_WIDTH) {
      printf("\n%*s", YOKE_FMU_LABEL, "");
      column = YOKE_FMU_LABEL;
    } else if (!is_first) {
      fputc(' ', stdout);
      column++;
    }
    column += yoke__app_fmu_put(word, YOKE_FMU_LINE_SIZE);
    is_first = false;
    text += n + strspn(text + n, " \n\t\r");
  }
  fputc('\n', stdout);
}
