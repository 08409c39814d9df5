// Any bytes as a zip archive: no crash, no read beyond the input, every refusal has its message. What is accepted keeps
// the promises of base_zip.h: names without ways out, no name twice, sizes within the limits and true.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "base/base_zip.h"

#define MAX_READ (1u << 20)  // per entry, so that a run stays short

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void demand(int is_true) {
  if (!is_true) {
    abort();
  }
}

static void check_name(const char* name) {
  demand(name[0] != '\0' && name[0] != '/' && strchr(name, '\\') == NULL);
  for (const char* part = name; part != NULL; part = strchr(part, '/')) {
    part += part != name;
    demand(strcmp(part, "..") != 0 && strncmp(part, "../", 3) != 0);
  }
}

static void check_entry(yoke_zip* zip, size_t i) {
  const yoke_zip_entry* entry = yoke__zip_entry(zip, i);
  check_name(entry->name);
  demand(yoke__zip_find(zip, entry->name) == i);
  demand(!entry->is_directory || entry->size == 0);
  YOKE_CATCH(err);
  char* content = NULL;
  size_t length = 0;
  if (yoke__zip_read(zip, i, MAX_READ, &content, &length, &err.sink) < 0) {
    demand(err.text[0] != '\0' && content == NULL);
  } else {
    demand(length == entry->size && length <= MAX_READ && content[length] == '\0');
  }
  free(content);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  YOKE_CATCH(err);
  yoke_zip* zip = NULL;
  if (yoke__zip_open_memory(bytes, n, &zip, &err.sink) < 0) {
    demand(err.text[0] != '\0' && zip == NULL);
    return 0;
  }
  uint64_t total = 0;
  for (size_t i = 0; i < yoke__zip_count(zip); i++) {
    check_entry(zip, i);
    total += yoke__zip_entry(zip, i)->size;
  }
  demand(total <= YOKE_ZIP_MAX_SIZE);
  demand(total <= YOKE_ZIP_FREE_SIZE || total / YOKE_ZIP_MAX_RATIO <= n);
  yoke__zip_close(&zip);
  return 0;
}
