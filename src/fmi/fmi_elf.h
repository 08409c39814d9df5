// Shared libraries of other people, looked at without loading them: what they are for and what they need.
#ifndef YOKE_FMI_ELF_H
#define YOKE_FMI_ELF_H

#include <stdbool.h>
#include <stddef.h>

typedef void (*yoke_fmi_library_name)(void* to, const char* name);

// True if this program's kind of machine can load the bytes as a shared library. kind: what they are, in words
// that follow "it is": "for AArch64", "a Windows library", "no shared library".
bool yoke__fmi_elf_is_native(const void* bytes, size_t n, char* kind, size_t kind_size);

// True if the file is a shared library whose end is missing: loading it would kill the process. Reads its headers only.
bool yoke__fmi_elf_is_cut(const char* path);

typedef enum yoke_fmi_elf_tag {
  YOKE_FMI_ELF_NEEDED = 1,    // libraries it asks for
  YOKE_FMI_ELF_RPATH = 15,    // where it looks for them, names separated by ':'
  YOKE_FMI_ELF_RUNPATH = 29,  // the same, newer form
  YOKE_FMI_ELF_SONAME = 14,   // its own name
} yoke_fmi_elf_tag;

// Calls `each` for every text of that tag and returns how many there were; 0 if the bytes are no little-endian
// ELF file with addresses of this machine's size, or are broken. Any bytes are allowed. each NULL: only counts.
size_t yoke__fmi_elf_texts(const void* bytes, size_t n, yoke_fmi_elf_tag tag,
                           yoke_fmi_library_name each, void* to);

// Libraries that the file at `path` asks for.
size_t yoke__fmi_elf_needed(const char* path, yoke_fmi_library_name each, void* to);
// Those of them, and of the libraries that they bring along, that are neither on this machine nor beside the file; each
// once. Loads libraries of this machine to find out, never the file itself or what lies beside it.
size_t yoke__fmi_elf_missing(const char* path, yoke_fmi_library_name each, void* to);

#endif
