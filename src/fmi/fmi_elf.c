// Shared libraries of other people, looked at without loading them.
//
// Reads the ELF header, the program headers and the dynamic section of 64-bit little-endian files; the layout is that of
// the System V ABI (gABI 4.1, chapters 4 and 5). Every offset is checked against the length: any bytes are allowed.
#include "fmi/fmi_elf.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"

enum {
  ET_DYN_TYPE = 3,
  PT_LOAD_TYPE = 1,
  PT_DYNAMIC_TYPE = 2,
  TAG_END = 0,
  TAG_STRING_TABLE = 5,
  TAG_STRING_SIZE = 10,
  MAX_SEGMENTS = 1024,
  MAX_ENTRIES = 65536,
  MAX_NAME = 512,
  MAX_SEEN = 512,  // libraries of one walk
};
#define MAX_FILE ((size_t)2 << 30)

#if defined(__x86_64__)
enum { THIS_MACHINE = 62 };
#elif defined(__aarch64__)
enum { THIS_MACHINE = 183 };
#elif defined(__arm__)
enum { THIS_MACHINE = 40 };
#else
enum { THIS_MACHINE = 0 };
#endif

// what is laid out differently for addresses of 32 and of 64 bits: sizes, and the places of fields inside
#if UINTPTR_MAX > UINT32_MAX
#define MAGIC "\177ELF\2\1"
enum {
  THIS_CLASS = 2,
  WORD = 8,
  HEADER_SIZE = 64,
  HEADER_FIRST = 32,
  HEADER_SEGMENT_SIZE = 54,
  HEADER_N_SEGMENTS = 56,
  SEGMENT_SIZE = 56,
  SEGMENT_OFFSET = 8,
  SEGMENT_ADDRESS = 16,
  SEGMENT_LENGTH = 32,
};
#else
#define MAGIC "\177ELF\1\1"
enum {
  THIS_CLASS = 1,
  WORD = 4,
  HEADER_SIZE = 52,
  HEADER_FIRST = 28,
  HEADER_SEGMENT_SIZE = 42,
  HEADER_N_SEGMENTS = 44,
  SEGMENT_SIZE = 32,
  SEGMENT_OFFSET = 4,
  SEGMENT_ADDRESS = 8,
  SEGMENT_LENGTH = 16,
};
#endif
enum { ENTRY_SIZE = 2 * WORD };  // a tag and its value

typedef struct bytes_view {
  const unsigned char* at;
  uint64_t n;
} bytes_view;

// A number of `width` bytes; the caller has checked that they are there.
static uint64_t number(bytes_view v, uint64_t offset, int width) {
  uint64_t value = 0;
  for (int i = width - 1; i >= 0; i--) {
    value = value << 8 | v.at[offset + (uint64_t)i];
  }
  return value;
}

static bool has(bytes_view v, uint64_t offset, uint64_t size) {
  return offset <= v.n && size <= v.n - offset;
}

static const char* machine_name(unsigned machine) {
  switch (machine) {
  case 3:
    return "x86 (32 bit)";
  case 8:
    return "MIPS";
  case 20:
    return "PowerPC";
  case 21:
    return "PowerPC (64 bit)";
  case 40:
    return "ARM (32 bit)";
  case 62:
    return "x86-64";
  case 183:
    return "AArch64";
  case 243:
    return "RISC-V";
  default:
    return NULL;
  }
}

static bool begins(bytes_view v, const char* magic, size_t n) {
  return v.n >= n && memcmp(v.at, magic, n) == 0;
}

// The program headers; false if the bytes are no little-endian ELF file with addresses of our size.
static bool find_segments(bytes_view v, uint64_t* first, uint64_t* n_segments) {
  if (v.n < HEADER_SIZE || memcmp(v.at, MAGIC, 6) != 0) {
    return false;
  }
  *first = number(v, HEADER_FIRST, WORD);
  *n_segments = number(v, HEADER_N_SEGMENTS, 2);
  return number(v, HEADER_SEGMENT_SIZE, 2) == SEGMENT_SIZE && *n_segments <= MAX_SEGMENTS &&
         has(v, *first, *n_segments * SEGMENT_SIZE);
}

// Do all segments end inside of a file with n bytes? The loader maps them unseen, and touching a page behind the end of
// the file kills the process.
static bool is_whole(bytes_view segments, uint64_t n_segments, uint64_t n) {
  for (uint64_t i = 0; i < n_segments; i++) {
    const uint64_t offset = number(segments, i * SEGMENT_SIZE + SEGMENT_OFFSET, WORD);
    const uint64_t size = number(segments, i * SEGMENT_SIZE + SEGMENT_LENGTH, WORD);
    if (number(segments, i * SEGMENT_SIZE, 4) == PT_LOAD_TYPE &&
        (offset > n || size > n - offset)) {
      return false;
    }
  }
  return true;
}

bool yoke__fmi_elf_is_native(const void* bytes, size_t n, char* kind, size_t kind_size) {
  const bytes_view v = {bytes, n};
  if (!begins(v, "\177ELF", 4) || n < HEADER_SIZE) {
    // the thin, the 32-bit and the fat form of macOS
    const bool is_mac = begins(v, "\xcf\xfa\xed\xfe", 4) || begins(v, "\xce\xfa\xed\xfe", 4) ||
                        begins(v, "\xca\xfe\xba\xbe", 4);
    (void)snprintf(kind, kind_size, "%s",
                   begins(v, "MZ", 2) ? "a Windows library"
                   : is_mac           ? "a macOS library"
                                      : "no shared library");
    return false;
  }
  const bool is_little = v.at[5] == 1;
  const unsigned machine =
      is_little ? (unsigned)(v.at[18] | v.at[19] << 8) : (unsigned)(v.at[19] | v.at[18] << 8);
  const char* name = machine_name(machine);
  if (name != NULL) {
    (void)snprintf(kind, kind_size, "for %s%s", name, is_little ? "" : " (big-endian)");
  } else {
    (void)snprintf(kind, kind_size, "for a machine with ELF number %u", machine);
  }
  if (is_little && machine == THIS_MACHINE && v.at[4] == THIS_CLASS &&
      number(v, 16, 2) != ET_DYN_TYPE) {
    (void)snprintf(kind, kind_size, "a program or an object file, not a shared library");
    return false;
  }
  if (!is_little || v.at[4] != THIS_CLASS || machine != THIS_MACHINE) {
    return false;
  }
  uint64_t first = 0, n_segments = 0;
  if (!find_segments(v, &first, &n_segments) ||
      !is_whole((bytes_view){v.at + first, n_segments * SEGMENT_SIZE}, n_segments, v.n)) {
    (void)snprintf(kind, kind_size, "cut short or damaged");
    return false;
  }
  return true;
}

// The headers of a file, as far as they are needed; false if it is no ELF file as above.
static bool read_segments(FILE* file, unsigned char header[HEADER_SIZE], unsigned char** segments,
                          uint64_t* n_segments) {
  if (fread(header, 1, HEADER_SIZE, file) != HEADER_SIZE || memcmp(header, MAGIC, 6) != 0) {
    return false;
  }
  const bytes_view v = {header, HEADER_SIZE};
  const uint64_t first = number(v, HEADER_FIRST, WORD);
  const size_t n = (size_t)number(v, HEADER_N_SEGMENTS, 2);
  if (number(v, HEADER_SEGMENT_SIZE, 2) != SEGMENT_SIZE || n > MAX_SEGMENTS || first >= MAX_FILE) {
    return false;
  }
  *n_segments = n;
  *segments = calloc(n + 1, SEGMENT_SIZE);
  return *segments != NULL && fseek(file, (long)first, SEEK_SET) == 0 &&
         fread(*segments, SEGMENT_SIZE, n, file) == n;
}

bool yoke__fmi_elf_is_cut(const char* path) {
  FILE* file = fopen(path, "rb");
  unsigned char header[HEADER_SIZE], *segments = NULL;
  uint64_t n_segments = 0;
  bool is_cut = false;
  if (file != NULL && read_segments(file, header, &segments, &n_segments) &&
      fseek(file, 0, SEEK_END) == 0) {
    const long size = ftell(file);
    const bytes_view v = {segments, n_segments * SEGMENT_SIZE};
    is_cut = size >= 0 && !is_whole(v, n_segments, (uint64_t)size);
  }
  free(segments);
  if (file != NULL) {
    fclose(file);
  }
  return is_cut;
}

// Where the bytes of a virtual address lie in the file; n on failure.
static uint64_t file_offset(bytes_view v, uint64_t first, uint64_t n_segments, uint64_t address) {
  for (uint64_t i = 0; i < n_segments; i++) {
    const uint64_t at = first + i * SEGMENT_SIZE;
    const uint64_t start = number(v, at + SEGMENT_ADDRESS, WORD);
    if (number(v, at, 4) == PT_LOAD_TYPE && address >= start &&
        address - start < number(v, at + SEGMENT_LENGTH, WORD)) {
      const uint64_t offset = number(v, at + SEGMENT_OFFSET, WORD);
      return offset <= v.n && address - start <= v.n - offset ? offset + (address - start) : v.n;
    }
  }
  return v.n;
}

// The dynamic section as a range of the file, in whole entries.
static bool find_dynamic(bytes_view v, uint64_t first, uint64_t n_segments, uint64_t* offset,
                         uint64_t* n_entries) {
  for (uint64_t i = 0; i < n_segments; i++) {
    const uint64_t at = first + i * SEGMENT_SIZE;
    if (number(v, at, 4) == PT_DYNAMIC_TYPE) {
      *offset = number(v, at + SEGMENT_OFFSET, WORD);
      *n_entries = number(v, at + SEGMENT_LENGTH, WORD) / ENTRY_SIZE;
      return *n_entries <= MAX_ENTRIES && has(v, *offset, *n_entries * ENTRY_SIZE);
    }
  }
  return false;
}

// First value with the tag, else 0.
static uint64_t value_of(bytes_view v, uint64_t offset, uint64_t n_entries, uint64_t tag) {
  for (uint64_t i = 0; i < n_entries && number(v, offset + i * ENTRY_SIZE, WORD) != TAG_END; i++) {
    if (number(v, offset + i * ENTRY_SIZE, WORD) == tag) {
      return number(v, offset + i * ENTRY_SIZE + WORD, WORD);
    }
  }
  return 0;
}

size_t yoke__fmi_elf_texts(const void* bytes, size_t n, yoke_fmi_elf_tag tag,
                           yoke_fmi_library_name each, void* to) {
  const bytes_view v = {bytes, n};
  uint64_t first = 0;
  uint64_t n_segments = 0;
  uint64_t dynamic = 0;
  uint64_t n_entries = 0;
  if (!find_segments(v, &first, &n_segments) ||
      !find_dynamic(v, first, n_segments, &dynamic, &n_entries)) {
    return 0;
  }

  // names are offsets into a table of texts, which is given by its address in memory
  const uint64_t table =
      file_offset(v, first, n_segments, value_of(v, dynamic, n_entries, TAG_STRING_TABLE));
  const uint64_t table_size = value_of(v, dynamic, n_entries, TAG_STRING_SIZE);
  if (!has(v, table, table_size)) {
    return 0;
  }
  size_t count = 0;
  for (uint64_t i = 0; i < n_entries; i++) {
    const uint64_t at = dynamic + i * ENTRY_SIZE;
    const uint64_t text = number(v, at + WORD, WORD);
    if (number(v, at, WORD) == TAG_END) {
      break;
    }
    if (number(v, at, WORD) != (uint64_t)tag || text >= table_size ||
        memchr(v.at + table + text, 0, (size_t)(table_size - text)) == NULL) {
      continue;
    }
    count++;
    if (each != NULL) {
      each(to, (const char*)(v.at + table + text));
    }
  }
  return count;
}

static bool read_library(const char* path, char** bytes, size_t* n) {
  return yoke__os_read_file(path, MAX_FILE, bytes, n, NULL) >= 0;
}

size_t yoke__fmi_elf_needed(const char* path, yoke_fmi_library_name each, void* to) {
  char* bytes = NULL;
  size_t n = 0;
  if (!read_library(path, &bytes, &n)) {
    return 0;
  }
  const size_t count = yoke__fmi_elf_texts(bytes, n, YOKE_FMI_ELF_NEEDED, each, to);
  free(bytes);
  return count;
}

// ---- the walk to missing libraries
typedef struct walk {
  char* seen[MAX_SEEN];  // paths and names that were looked at
  size_t n_seen;
  size_t n_missing;
  yoke_fmi_library_name each;
  void* to;
} walk;

// One file of the walk.
typedef struct node {
  walk* all;
  char directory[4096];
  char run_path[4096];  // "" if none
  char** names;         // of the libraries it needs
  size_t n_names;
} node;

// True the first time; a full table or no memory ends the walk early.
static bool is_new(walk* w, const char* name) {
  for (size_t i = 0; i < w->n_seen; i++) {
    if (strcmp(w->seen[i], name) == 0) {
      return false;
    }
  }
  const size_t size = strlen(name) + 1;
  char* copy = w->n_seen < MAX_SEEN ? malloc(size) : NULL;
  if (copy == NULL) {
    return false;
  }
  memcpy(copy, name, size);
  w->seen[w->n_seen++] = copy;
  return true;
}

static void report(walk* w, const char* name) {
  char key[MAX_NAME + 16];
  (void)snprintf(key, sizeof key, "missing %.*s", MAX_NAME, name);
  if (is_new(w, key)) {
    w->n_missing++;
    if (w->each != NULL) {
      w->each(w->to, name);
    }
  }
}

// Asks the machine's loader. Its reason may name a library further down: "libb.so: cannot open shared object file: ...".
static void ask_loader(walk* w, const char* name) {
  void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library != NULL) {
    (void)dlclose(library);
    return;
  }
  const char* reason = dlerror();
  const char* end = reason == NULL ? NULL : strstr(reason, ": cannot open shared object file");
  if (end == NULL || end - reason > MAX_NAME) {
    report(w, name);
    return;
  }
  char other[MAX_NAME + 1];
  (void)snprintf(other, sizeof other, "%.*s", (int)(end - reason), reason);
  report(w, other);
}

static void keep_name(void* to, const char* name) {
  node* file = to;
  char** grown = realloc(file->names, (file->n_names + 1) * sizeof *grown);
  if (grown == NULL) {
    return;
  }
  file->names = grown;
  const size_t size = strlen(name) + 1;
  char* copy = malloc(size);
  if (copy != NULL) {
    memcpy(copy, name, size);
    file->names[file->n_names++] = copy;
  }
}

static void keep_run_path(void* to, const char* text) {
  node* file = to;
  (void)snprintf(file->run_path, sizeof file->run_path, "%s", text);
}

// One folder of a search path with $ORIGIN replaced by the folder of the file, then "/name". False: too long.
static bool expand(const node* file, const char* part, size_t n_part, const char* name, char* path,
                   size_t size) {
  static const char* const origins[] = {"$ORIGIN", "${ORIGIN}"};
  const char* front = "";
  for (size_t i = 0; i < 2; i++) {
    const size_t n_origin = strlen(origins[i]);
    if (n_part >= n_origin && strncmp(part, origins[i], n_origin) == 0) {
      front = file->directory;
      part += n_origin;
      n_part -= n_origin;
      break;
    }
  }
  const int n = snprintf(path, size, "%s%.*s/%s", front, (int)n_part, part, name);
  return n > 0 && (size_t)n < size;
}

// The library among the folders the file names, and beside it.
static bool find_file(const node* file, const char* name, char* path, size_t size) {
  if (strchr(name, '/') != NULL) {
    const int n = snprintf(path, size, "%s", name);
    return n > 0 && (size_t)n < size && yoke__os_is_file(path);
  }
  for (const char* part = file->run_path; *part != '\0';) {
    const size_t n_part = strcspn(part, ":");
    if (n_part > 0 && expand(file, part, n_part, name, path, size) && yoke__os_is_file(path)) {
      return true;
    }
    part += n_part + (part[n_part] == ':');
  }
  return expand(file, "$ORIGIN", strlen("$ORIGIN"), name, path, size) && yoke__os_is_file(path);
}

// Fills `file` from the library at path; false: it cannot be read.
static bool open_node(walk* w, const char* path, node* file) {
  char* bytes = NULL;
  size_t n = 0;
  *file = (node){.all = w};
  if (!read_library(path, &bytes, &n)) {
    return false;
  }
  const char* slash = strrchr(path, '/');
  const size_t n_directory = slash == NULL ? 0 : (size_t)(slash - path);
  (void)snprintf(file->directory, sizeof file->directory, "%.*s",
                 slash == NULL ? 1 : (int)n_directory, slash == NULL ? "." : path);
  (void)yoke__fmi_elf_texts(bytes, n, YOKE_FMI_ELF_RPATH, keep_run_path, file);
  (void)yoke__fmi_elf_texts(bytes, n, YOKE_FMI_ELF_RUNPATH, keep_run_path, file);
  (void)yoke__fmi_elf_texts(bytes, n, YOKE_FMI_ELF_NEEDED, keep_name, file);
  free(bytes);
  return true;
}

size_t yoke__fmi_elf_missing(const char* path, yoke_fmi_library_name each, void* to) {
  walk* w = calloc(1, sizeof *w);
  node* file = calloc(1, sizeof *file);
  size_t n_missing = 0;
  if (w == NULL || file == NULL) {
    free(w);
    free(file);
    return 0;
  }
  w->each = each;
  w->to = to;

  // `seen` is also the list of files still to look into: entries that are paths of files
  (void)is_new(w, path);
  for (size_t i = 0; i < w->n_seen; i++) {
    if (strchr(w->seen[i], '/') == NULL && i > 0) {
      continue;
    }
    if (!open_node(w, w->seen[i], file)) {
      continue;
    }
    for (size_t j = 0; j < file->n_names; j++) {
      char found[4096];
      if (find_file(file, file->names[j], found, sizeof found)) {
        (void)is_new(w, found);
      } else if (is_new(w, file->names[j])) {
        ask_loader(w, file->names[j]);
      }
      free(file->names[j]);
    }
    free(file->names);
  }
  n_missing = w->n_missing;
  for (size_t i = 0; i < w->n_seen; i++) {
    free(w->seen[i]);
  }
  free(w);
  free(file);
  return n_missing;
}
