// Fuzz target: any bytes as an FMU, archive and all; bytes that are no archive are looked at as the binary of one.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi_elf.h"
#include "fmi/fmi_package.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void use_name(void* to, const char* name) {
  *(size_t*)to += strlen(name);
}

static void look_at_binary(const uint8_t* bytes, size_t n) {
  static const yoke_fmi_elf_tag tags[] = {YOKE_FMI_ELF_NEEDED, YOKE_FMI_ELF_RPATH,
                                          YOKE_FMI_ELF_RUNPATH, YOKE_FMI_ELF_SONAME};
  char kind[64] = "";
  size_t n_chars = 0;
  (void)yoke__fmi_elf_is_native(bytes, n, kind, sizeof kind);
  for (size_t i = 0; i < 4; i++) {
    (void)yoke__fmi_elf_texts(bytes, n, tags[i], use_name, &n_chars);
  }
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
