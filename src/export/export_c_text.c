// Numbers, names and comments of generated C.
#include "export/export_c_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/base_number.h"
#include "base/base_os.h"

#define MAX_PATH 4096
#define MAX_STEM 120

// ---- names

// Words of C and C++, and what the generated files use themselves.
static bool is_reserved(const char* name) {
  static const char words[] =
      " alignas alignof and asm auto bool break case catch char class const continue default "
      "delete do double else enum "
      "explicit export extern false float for friend goto if inline int long namespace new not "
      "nullptr operator or private "
      "protected public register restrict return short signed sizeof static struct switch template "
      "this throw true try "
      "typedef typename union unsigned using virtual void volatile while xor "
      "ad b bd bd_end bounded c combine_rows copy d dot dot_pairs expect f free_node g h "
      "judge_numbers judge_readings "
      "keep_bounds lower move n noise number p_start psi q q_start remove_rounding root spread "
      "start t take take_inputs "
      "take_reading upper variance_of self u u_end x y v ";
  char lower[YOKE_EXPORT_C_MAX_NAME + 2] = " ";
  size_t n = 1;
  for (const char* c = name; *c != '\0' && n + 2 < sizeof lower; c++) {
    lower[n++] = (char)tolower((unsigned char)*c);
  }
  lower[n++] = ' ';
  lower[n] = '\0';
  return strstr(words, lower) != NULL;
}

yoke_export_c_identifier yoke__export_c_identifier(const char* name) {
  yoke_export_c_identifier to;
  size_t n = 0;
  if (!isalpha((unsigned char)name[0]) || is_reserved(name)) {
    to.lower[n++] = 'm';
    to.lower[n++] = '_';
  }
  for (; *name != '\0' && n + 1 < sizeof to.lower; name++) {
    to.lower[n++] = '_';
    if (isalnum((unsigned char)*name)) {
      to.lower[n - 1] = (char)tolower((unsigned char)*name);
    }
  }
  to.lower[n] = '\0';
  for (size_t i = 0; i <= n; i++) {
    to.upper[i] = (char)toupper((unsigned char)to.lower[i]);
  }
  return to;
}

static bool is_taken(const yoke_export_c_name names[], size_t n, const char* identifier) {
  for (size_t i = 0; i < n; i++) {
    if (strcmp(names[i].identifier, identifier) == 0) {
      return true;
    }
  }
  return false;
}

yoke_status yoke__export_c_name(yoke_arena* arena, yoke_export_c_name names[], size_t n,
                                const char* shown, const char* dim, double start) {
  char text[MAX_STEM + 16], stem[MAX_STEM];
  size_t length = 0;
  for (const char* c = shown; *c != '\0' && length + 1 < sizeof stem; c++) {
    const bool is_plain = isalnum((unsigned char)*c) != 0;
    if (is_plain || (length > 0 && stem[length - 1] != '_')) {
      stem[length++] = '_';
      if (is_plain) {
        stem[length - 1] = (char)toupper((unsigned char)*c);
      }
    }
  }
  while (length > 0 && stem[length - 1] == '_') {
    length--;
  }
  stem[length] = '\0';
  snprintf(text, sizeof text, "%s", length == 0 ? "X" : stem);
  for (unsigned i = 2; is_taken(names, n, text); i++) {
    snprintf(text, sizeof text, "%s_%u", length == 0 ? "X" : stem, i);
  }
  dim = dim == NULL ? "" : dim;
  names[n] = (yoke_export_c_name){.shown = yoke__arena_text(arena, shown, strlen(shown)),
                                  .dim = yoke__arena_text(arena, dim, strlen(dim)),
                                  .identifier = yoke__arena_text(arena, text, strlen(text)),
                                  .start = start};
  return names[n].shown == NULL || names[n].dim == NULL || names[n].identifier == NULL
             ? YOKE_NO_MEMORY
             : YOKE_OK;
}

// ---- text

void yoke__export_c_put_shown(yoke_text* text, const char* shown) {
  char line[200];
  size_t n = 0;
  for (const char* c = shown; *c != '\0' && n + 1 < sizeof line; c++) {
    const bool is_plain = (unsigned char)*c >= ' ' && *c != '\\' && *c != 0x7f;
    // no "*/", no "/*" and no "??/"
    const bool is_end = n > 0 && ((line[n - 1] == '*' && *c == '/') || *c == '?' ||
                                  (line[n - 1] == '/' && *c == '*'));
    line[n++] = ' ';
    if (is_plain && !is_end) {
      line[n - 1] = *c;
    }
  }
  line[n] = '\0';
  yoke__text_string(text, line);
}

void yoke__export_c_put_number(yoke_text* text, bool is_float, double x) {
  char digits[YOKE_NUMBER_SIZE];
  if (!is_float) {
    yoke__number_format(x, digits);
    yoke__text_add(text, strpbrk(digits, ".e") == NULL ? "%s.0" : "%s", digits);
    return;
  }
  // nine digits name every float
  snprintf(digits, sizeof digits, "%.9g", (double)(float)x);
  yoke__text_add(text, strpbrk(digits, ".e") == NULL ? "%s.0f" : "%sf", digits);
}

void yoke__export_c_put_array(yoke_text* text, bool is_float, const char* name,
                              const double numbers[], size_t n_rows, size_t n_cols) {
  const size_t n = n_rows * n_cols;
  if (n == 0) {
    return;
  }
  yoke__text_add(text, "static const %s %s[%zu] = {\n", is_float ? "float" : "double", name, n);
  size_t line = text->n;
  yoke__text_string(text, "   ");
  for (size_t i = 0; i < n; i++) {
    // a new line for a new row, and where one gets long
    if (i > 0 && (i % n_cols == 0 || text->n - line > 80)) {
      yoke__text_string(text, "\n");
      line = text->n;
      yoke__text_string(text, "   ");
    }
    yoke__text_string(text, " ");
    yoke__export_c_put_number(text, is_float, numbers[i]);
    yoke__text_string(text, ",");
  }
  yoke__text_string(text, "\n};\n");
}

void yoke__export_c_put_names(yoke_text* text, const char* prefix, const char* kind,
                              const yoke_export_c_name names[], size_t n, size_t first,
                              bool has_start, bool is_float) {
  if (n == 0) {
    return;
  }
  yoke__text_string(text, "\nenum {\n");
  for (size_t i = 0; i < n; i++) {
    yoke__text_add(text, "  %s_%s_%s = %zu,  /* ", prefix, kind, names[i].identifier, first + i);
    yoke__export_c_put_shown(text, names[i].shown);
    if (names[i].dim[0] != '\0') {
      yoke__text_string(text, " [");
      yoke__export_c_put_shown(text, names[i].dim);
      yoke__text_string(text, "]");
    }
    if (has_start) {
      yoke__text_string(text, ", starts at ");
      yoke__export_c_put_number(text, is_float, names[i].start);
    }
    yoke__text_string(text, " */\n");
  }
  yoke__text_string(text, "};\n");
}

// ---- files

yoke_status yoke__export_c_save(const yoke_text* text, const char* directory, const char* name,
                                const char* ending, const yoke_sink* sink) {
  char file[YOKE_EXPORT_C_MAX_NAME + 16], path[MAX_PATH];
  if (text->status < 0) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  snprintf(file, sizeof file, "%.*s%s", YOKE_EXPORT_C_MAX_NAME, name, ending);
  if (yoke__os_path_join(directory, file, path, sizeof path) >= sizeof path) {
    return yoke_fail(sink, YOKE_IO, "the path of '%.100s' is too long", file);
  }
  return yoke__os_write_file(path, text->bytes, text->n, sink);
}
