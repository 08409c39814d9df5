// What the name of a file says about it.
#include "base/base_path.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base_check.h"
#include "base/base_os.h"

#define MAX_PATH 4096

bool yoke__path_is_netlist(const char* path) {
  static const char* const endings[] = {".cir", ".ckt", ".net", ".sp", ".spice"};
  const char* dot = strrchr(path, '.');
  for (size_t i = 0; dot != NULL && i < YOKE_COUNT(endings); i++) {
    if (strcasecmp(dot, endings[i]) == 0) {
      return true;
    }
  }
  return false;
}

bool yoke__path_is_fmu(const char* path) {
  const size_t n = strlen(path);
  char inner[MAX_PATH];
  return (n >= 4 && strcasecmp(path + n - 4, ".fmu") == 0) ||
         (yoke__os_is_directory(path) &&
          yoke__os_path_join(path, "modelDescription.xml", inner, sizeof inner) < sizeof inner &&
          yoke__os_is_file(inner));
}

bool yoke__path_is_library(const char* path) {
  const size_t n = strlen(path);
  if ((n > 3 && strcmp(path + n - 3, ".so") == 0) || strstr(path, ".so.") != NULL) {
    return true;
  }
  char head[4] = "";
  FILE* file = yoke__os_is_file(path) ? fopen(path, "rb") : NULL;
  const bool is_elf =
      file != NULL && fread(head, 1, 4, file) == 4 && memcmp(head, "\177ELF", 4) == 0;
  if (file != NULL) {
    fclose(file);
  }
  return is_elf;
}

// the file's name as the name of a unit: letters, digits, '_' and '-'
void yoke__path_unit_name(const char* path, const char* other, char* to, size_t size) {
  size_t n = 0;
  const char* stem = yoke__os_path_stem(path, &n);
  size_t k = 0;
  for (size_t i = 0; i < n && k + 2 < size; i++) {
    const bool is_plain = isalnum((unsigned char)stem[i]) || stem[i] == '_' || stem[i] == '-';
    if (k == 0 && !isalpha((unsigned char)stem[i]) && stem[i] != '_') {
      to[k++] = '_';
    }
    to[k] = stem[i];
    if (!is_plain) {
      to[k] = '_';
    }
    k++;
  }
  to[k] = '\0';
  if (k == 0 || strcmp(to, "bond") == 0) {
    snprintf(to, size, "%s", other);
  }
}
