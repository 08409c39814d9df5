// The shared library of an FMU as a file.
//
// Two things are asked here that dlopen does not tell. What the file is: the loader says "No such file or directory" of a
// library for another machine, and maps one that was cut short unseen, so that touching its missing pages kills the
// process. And which libraries are missing: dlopen names the first one only, and would run code of the others.
// The layout of the headers is that of <elf.h>; beyond them nothing of the file is read.
#include "fmi/fmi_library.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_process.h"

enum {
  LIST_TIMEOUT_S = 10,
  LIST_SIZE = 65536,  // bytes; a long list of libraries has 20 kB
};

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#elif defined(__arm__)
enum { OWN_MACHINE = EM_ARM };
#else
enum { OWN_MACHINE = EM_NONE };  // not known: every machine is taken for this one
#endif

typedef ElfW(Ehdr) file_header;
typedef ElfW(Phdr) segment_header;

#define OWN_CLASS (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32)

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

static const char* machine_name(unsigned machine) {
  switch (machine) {
  case EM_386:
    return "x86 (32 bit)";
  case EM_MIPS:
    return "MIPS";
  case EM_PPC:
    return "PowerPC";
  case EM_PPC64:
    return "PowerPC (64 bit)";
  case EM_ARM:
    return "ARM (32 bit)";
  case EM_X86_64:
    return "x86-64";
  case EM_AARCH64:
    return "AArch64";
  case EM_RISCV:
    return "RISC-V";
  default:
    return NULL;
  }
}

static const char* name_other(const unsigned char* head, size_t n) {
  // the thin, the 32-bit and the fat form of macOS
  static const char* const macs[] = {"\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe"};
  for (size_t i = 0; i < 3; i++) {
    if (n >= 4 && memcmp(head, macs[i], 4) == 0) {
      return "a macOS library";
    }
  }
  return n >= 2 && memcmp(head, "MZ", 2) == 0 ? "a Windows library" : "no shared library";
}

static void name_machine(const file_header* header, char* kind, size_t kind_size) {
  // the machine's number in the order of its own bytes
  unsigned char bytes[2];
  memcpy(bytes, &header->e_machine, sizeof bytes);
  const bool is_big = header->e_ident[EI_DATA] == ELFDATA2MSB;
  const unsigned machine = (unsigned)bytes[is_big ? 1 : 0] | (unsigned)bytes[is_big ? 0 : 1] << 8;
  const char* name = machine_name(machine);
  if (name != NULL) {
    (void)snprintf(kind, kind_size, "for %s%s", name, is_big ? " (big-endian)" : "");
  } else {
    (void)snprintf(kind, kind_size, "for a machine with ELF number %u", machine);
  }
}

// Do all segments end inside of the file?
static bool is_whole(FILE* file, const file_header* header) {
  const long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (end < 0 || header->e_phentsize != sizeof(segment_header) || header->e_phoff > (uint64_t)end ||
      fseek(file, (long)header->e_phoff, SEEK_SET) != 0) {
    return false;
  }
  for (unsigned i = 0; i < header->e_phnum; i++) {
    segment_header segment;
    if (fread(&segment, sizeof segment, 1, file) != 1 ||
        (segment.p_type == PT_LOAD && (segment.p_offset > (uint64_t)end ||
                                       segment.p_filesz > (uint64_t)end - segment.p_offset))) {
      return false;
    }
  }
  return true;
}

bool yoke__fmi_library_is_native(FILE* file, char* kind, size_t kind_size) {
  file_header header = {0};
  rewind(file);
  const size_t n = fread(&header, 1, sizeof header, file);
  if (n < sizeof header || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    (void)snprintf(kind, kind_size, "%s", name_other(header.e_ident, n));
    return false;
  }
  const bool is_own_machine = OWN_MACHINE == EM_NONE || header.e_machine == OWN_MACHINE;
  if (header.e_ident[EI_DATA] != OWN_ORDER || header.e_ident[EI_CLASS] != OWN_CLASS ||
      !is_own_machine) {
    name_machine(&header, kind, kind_size);
    return false;
  }
  if (header.e_type != ET_DYN) {
    (void)snprintf(kind, kind_size, "a program or an object file, not a shared library");
    return false;
  }
  if (!is_whole(file, &header)) {
    (void)snprintf(kind, kind_size, "cut short or damaged");
    return false;
  }
  return true;
}

// ---- missing libraries

// Names of the lines "<tab>NAME => not found".
static size_t read_list(char* list, yoke_fmi_library_name each, void* to) {
  size_t n = 0;
  for (char* line = list; line != NULL;) {
    char* next = strchr(line, '\n');
    if (next != NULL) {
      *next++ = '\0';
    }
    char* end = strstr(line, " => not found");
    if (end != NULL) {
      *end = '\0';
      each(to, line + strspn(line, "\t "));
      n++;
    }
    line = next;
  }
  return n;
}

size_t yoke__fmi_library_missing(const char* path, yoke_fmi_library_name each, void* to) {
  static char option[] = "--library-path", only_list[] = "LD_TRACE_LOADED_OBJECTS=1";
  char loader[4096], file[4096], folders[8192], list[LIST_SIZE];
  yoke__process_loader(loader, sizeof loader);
  const char* slash = strrchr(path, '/');
  const char* others = getenv("LD_LIBRARY_PATH");
  const int n_file = snprintf(file, sizeof file, "%s%s", slash == NULL ? "./" : "", path);
  const int n_folders =
      snprintf(folders, sizeof folders, "%.*s%s%s", slash == NULL ? 1 : (int)(slash - path),
               slash == NULL ? "." : path, others == NULL ? "" : ":", others == NULL ? "" : others);
  if (loader[0] == '\0' || n_file < 0 || (size_t)n_file >= sizeof file || n_folders < 0 ||
      (size_t)n_folders >= sizeof folders) {
    return 0;
  }
  // as `ldd` does it: the libraries are mapped, nothing of them is executed
  char *const argv[] = {loader, option, folders, file, NULL}, *const environment[] = {only_list,
                                                                                      NULL};
  if (!yoke__process_read(loader, argv, environment, LIST_TIMEOUT_S * INT64_C(1000000000), list,
                          sizeof list)) {
    return 0;
  }
  return read_list(list, each, to);
}
