// Fuzz target: any bytes as an FMU, archive and all; bytes that are no archive are looked at as the binary of one.
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi_library.h"
#include "fmi/fmi_package.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void look_at_binary(const uint8_t* bytes, size_t n) {
  char kind[64] = "";
  // a copy, since memory that is read as a file must not be const
  void* copy = malloc(n + 1);
  FILE* file = copy == NULL || n == 0 ? NULL : fmemopen(memcpy(copy, bytes, n), n, "rb");
  if (file != NULL) {
    if (!yoke__fmi_library_is_native(file, kind, sizeof kind) && kind[0] == '\0') {
      abort();
    }
    fclose(file);
  }
  free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  yoke_messages messages = {0};
  yoke_fmi_package* package = NULL;
  const yoke_status status = yoke__fmi_open_memory(bytes, n, "fuzz.fmu", &messages, &package);
  if ((status == YOKE_OK) != (package != NULL) ||
      (status == YOKE_BAD_INPUT && messages.n_errors == 0)) {
    abort();
  }
  if (package == NULL) {
    look_at_binary(bytes, n);
  } else {
    // nothing of it goes to the disk
    for (size_t i = 0; i < package->n_platforms; i++) {
      if (strchr(package->platforms[i], '/') != NULL) {
        abort();
      }
    }
    if (package->description == NULL || yoke__fmi_unpack(package, &messages) >= 0) {
      abort();
    }
  }
  yoke__fmi_close(&package);
  yoke__messages_free(&messages);
  return 0;
}
