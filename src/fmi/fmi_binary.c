// The shared library of an FMU: loaded, its functions found, or a message that says what is in the way.
//
// The system's loader does the work (dlopen with RTLD_NOW, so that a missing symbol is found here and not in the middle of a
// step, and RTLD_LOCAL, so that two FMUs never see each other). Only when it refuses is the file looked at to find out why.
// Vendors ship libraries beside the binary and rely on their being found there, as on Windows; the loader does not look
// there by itself, so that they are loaded first: it then finds them by their own name (DT_SONAME).
#include "fmi/fmi_binary.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "base/base_status.h"
#include "fmi/fmi_elf.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_FILE     ((size_t)2 << 30)

// ---- functions by name
typedef struct function_row {
  const char* name;
  unsigned needed_for;
  size_t offset;  // of its pointer in the table
} function_row;

#define ROW1(name, needed_for) {"fmi" #name, (needed_for), offsetof(yoke_fmi1, name)},
#define ROW2(name, needed_for) {"fmi2" #name, (needed_for), offsetof(yoke_fmi2, name)},
#define ROW3(name, needed_for) {"fmi3" #name, (needed_for), offsetof(yoke_fmi3, name)},
static const function_row rows1[] = {YOKE_FMI1_FUNCTIONS(ROW1)};
static const function_row rows2[] = {YOKE_FMI2_FUNCTIONS(ROW2)};
static const function_row rows3[] = {YOKE_FMI3_FUNCTIONS(ROW3)};

// ---- stand-ins for get and set of types that a binary does not know
#define STAND_INS(v, type)                                                                         \
  static v##Status v##_no_get_##type(v##Component c, const v##ValueReference references[],         \
                                     size_t n, v##type values[]) {                                 \
    (void)c, (void)references;                                                                     \
    for (size_t i = 0; i < n; i++) {                                                               \
      values[i] = 0;                                                                               \
    }                                                                                              \
    return n == 0 ? v##OK : v##Error;                                                              \
  }                                                                                                \
  static v##Status v##_no_set_##type(v##Component c, const v##ValueReference references[],         \
                                     size_t n, const v##type values[]) {                           \
    (void)c, (void)references, (void)values;                                                       \
    return n == 0 ? v##OK : v##Error;                                                              \
  }
#define FOR_TYPES2(X, v) X(v, Real) X(v, Integer) X(v, Boolean) X(v, String)
FOR_TYPES2(STAND_INS, fmi1)
FOR_TYPES2(STAND_INS, fmi2)

#define STAND_INS3(v, type)                                                                        \
  static v##Status v##_no_get_##type(v##Instance c, const v##ValueReference references[],          \
                                     size_t n, v##type values[], size_t n_values) {                \
    (void)c, (void)references;                                                                     \
    for (size_t i = 0; i < n_values; i++) {                                                        \
      values[i] = 0;                                                                               \
    }                                                                                              \
    return n == 0 ? v##OK : v##Error;                                                              \
  }                                                                                                \
  static v##Status v##_no_set_##type(v##Instance c, const v##ValueReference references[],          \
                                     size_t n, const v##type values[], size_t n_values) {          \
    (void)c, (void)references, (void)values, (void)n_values;                                       \
    return n == 0 ? v##OK : v##Error;                                                              \
  }
#define FOR_TYPES3(X, v)                                                                           \
  X(v, Float32)                                                                                    \
  X(v, Float64)                                                                                    \
  X(v, Int8)                                                                                       \
  X(v, UInt8)                                                                                      \
  X(v, Int16)                                                                                      \
  X(v, UInt16) X(v, Int32) X(v, UInt32) X(v, Int64) X(v, UInt64) X(v, Boolean) X(v, String)
FOR_TYPES3(STAND_INS3, fmi3)

static fmi3Status fmi3_no_get_Binary(fmi3Instance c, const fmi3ValueReference references[],
                                     size_t n, size_t sizes[], fmi3Binary values[],
                                     size_t n_values) {
  (void)c, (void)references;
  for (size_t i = 0; i < n_values; i++) {
    sizes[i] = 0;
    values[i] = NULL;
  }
  return n == 0 ? fmi3OK : fmi3Error;
}

static fmi3Status fmi3_no_set_Binary(fmi3Instance c, const fmi3ValueReference references[],
                                     size_t n, const size_t sizes[], const fmi3Binary values[],
                                     size_t n_values) {
  (void)c, (void)references, (void)sizes, (void)values, (void)n_values;
  return n == 0 ? fmi3OK : fmi3Error;
}

static fmi3Status fmi3_no_get_Clock(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                    fmi3Clock values[]) {
  (void)c, (void)references;
  for (size_t i = 0; i < n; i++) {
    values[i] = fmi3ClockInactive;
  }
  return n == 0 ? fmi3OK : fmi3Error;
}

static fmi3Status fmi3_no_set_Clock(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                    const fmi3Clock values[]) {
  (void)c, (void)references, (void)values;
  return n == 0 ? fmi3OK : fmi3Error;
}

// Puts the stand-ins where the library had nothing.
static void fill_in(yoke_fmi_binary* b) {
#define FILL(table, v, type)                                                                       \
  if ((table)->Get##type == NULL) {                                                                \
    (table)->Get##type = v##_no_get_##type;                                                        \
  }                                                                                                \
  if ((table)->Set##type == NULL) {                                                                \
    (table)->Set##type = v##_no_set_##type;                                                        \
  }
#define FILL1(v, type) FILL(&b->f1, v, type)
#define FILL2(v, type) FILL(&b->f2, v, type)
#define FILL3(v, type) FILL(&b->f3, v, type)
  if (b->version == 1) {
    FOR_TYPES2(FILL1, fmi1)
  } else if (b->version == 2) {
    FOR_TYPES2(FILL2, fmi2)
  } else {
    FOR_TYPES3(FILL3, fmi3)
    FILL3(fmi3, Binary)
    FILL3(fmi3, Clock)
  }
}

// ---- texts
// Adds to a list "a, b, c" in to; a list that is too long ends in "...".
static void append(char* to, size_t size, const char* separator, const char* text) {
  const size_t used = strlen(to);
  const int n = snprintf(to + used, size - used, "%s%s", used > 0 ? separator : "", text);
  if (n >= 0 && (size_t)n >= size - used && size > 4) {
    (void)snprintf(to + size - 4, 4, "...");
  }
}

static void append_missing(void* to, const char* name) {
  append(to, 1024, ", ", name);
}

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

// ---- loading

// NULL: see dlerror, and errno for a shortage.
static void* load(const char* path) {
  errno = 0;
  return yoke__fmi_elf_is_cut(path) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// Why dlopen refused the file: the machine, missing libraries, a missing symbol, else its own words (reason).
static yoke_status explain(const char* path, const char* reason, const yoke_sink* sink) {
  const char* name = base_name(path);
  char* bytes = NULL;
  size_t n = 0;
  const yoke_status read = yoke__os_read_file(path, MAX_FILE, &bytes, &n, sink);
  if (read < 0) {
    return yoke__status_is_shortage(read) ? read : YOKE_BAD_INPUT;
  }
  char kind[80];
  const bool is_native = yoke__fmi_elf_is_native(bytes, n, kind, sizeof kind);
  free(bytes);
  if (!is_native) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "%s does not run on this machine: it is %s", name, kind);
  }

  char missing[1024] = "";
  if (yoke__fmi_elf_missing(path, append_missing, missing) > 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "%s needs %s, which this machine lacks", name, missing);
  }
  const char* symbol = strstr(reason, "undefined symbol: ");
  if (symbol != NULL) {
    symbol += strlen("undefined symbol: ");
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "%s needs the symbol %.*s, which none of its libraries has", name,
                     (int)strcspn(symbol, " ,\t("), symbol);
  }
  return yoke_fail(sink, YOKE_BAD_INPUT, "%s cannot be loaded: %s", name, reason);
}

// ---- libraries shipped beside the binary
typedef struct shipped {
  yoke_fmi_binary* binary;
  const char* directory;
  int depth;
} shipped;

// Loads the library `name` if it lies beside the binary, what it needs itself first. Failures show when the binary is
// tried again.
static void load_part(void* to, const char* name) {
  const shipped* from = to;
  yoke_fmi_binary* b = from->binary;
  char path[4096];
  if (strchr(name, '/') != NULL || from->depth > 8 || b->n_parts >= YOKE_FMI_MAX_PARTS) {
    return;
  }
  const int length = snprintf(path, sizeof path, "%s/%s", from->directory, name);
  if (length < 0 || (size_t)length >= sizeof path || !yoke__os_is_file(path)) {
    return;
  }
  shipped below = {b, from->directory, from->depth + 1};
  (void)yoke__fmi_elf_needed(path, load_part, &below);
  void* part = b->n_parts < YOKE_FMI_MAX_PARTS ? load(path) : NULL;
  if (part != NULL) {
    b->parts[b->n_parts++] = part;
  }
}

static yoke_status load_library(yoke_fmi_binary* b, const char* path, const yoke_sink* sink) {
  b->library = load(path);
  if (b->library != NULL) {
    return YOKE_OK;
  }
  const int code = errno;
  const yoke_status status = yoke__status_of_errno(code);
  if (yoke__status_is_shortage(status)) {
    return yoke_fail(sink, status, "%s cannot be loaded: %s", base_name(path),
                     yoke__errno_text(code));
  }
  char reason[1024];
  const char* said = dlerror();
  (void)snprintf(reason, sizeof reason, "%s", said == NULL ? "" : said);

  // with what lies beside it
  char directory[4096];
  const size_t n_directory = (size_t)(base_name(path) - path);
  if (n_directory > 1 && n_directory < sizeof directory) {
    memcpy(directory, path, n_directory - 1);
    directory[n_directory - 1] = '\0';
    shipped from = {b, directory, 0};
    (void)yoke__fmi_elf_needed(path, load_part, &from);
    if (b->n_parts > 0) {
      b->library = load(path);
      said = b->library == NULL ? dlerror() : NULL;
      (void)snprintf(reason, sizeof reason, "%s", said == NULL ? "" : said);
    }
  }
  return b->library != NULL ? YOKE_OK : explain(path, reason, sink);
}

// ---- finding functions
// identifier_name and name, in the order that the version makes likely.
static void* find(void* library, const char* identifier, int version, const char* name) {
  char prefixed[512];
  const int n = snprintf(prefixed, sizeof prefixed, "%s_%s", identifier, name);
  const bool has_prefixed = n > 0 && (size_t)n < sizeof prefixed;
  void* symbol = NULL;
  if (version == 1 && has_prefixed) {
    symbol = dlsym(library, prefixed);
  }
  if (symbol == NULL) {
    symbol = dlsym(library, name);
  }
  if (symbol == NULL && version != 1 && has_prefixed) {
    symbol = dlsym(library, prefixed);
  }
  return symbol;
}

// Fills the table; names of needed functions that are absent go to missing.
static void find_all(yoke_fmi_binary* b, const char* identifier, unsigned parts, char* missing,
                     size_t size) {
  static const struct {
    const function_row* rows;
    size_t n;
  } lists[] = {{rows1, COUNT(rows1)}, {rows2, COUNT(rows2)}, {rows3, COUNT(rows3)}};
  const function_row* rows = lists[b->version - 1].rows;
  char* table = b->version == 1 ? (char*)&b->f1 : b->version == 2 ? (char*)&b->f2 : (char*)&b->f3;
  for (size_t i = 0; i < lists[b->version - 1].n; i++) {
    void* symbol = find(b->library, identifier, b->version, rows[i].name);
    const unsigned mask = rows[i].needed_for;
    if (symbol == NULL && (mask & (parts | YOKE_FMI_COMMON)) != 0 &&
        (mask & (YOKE_FMI_OPTIONAL | YOKE_FMI_ACCESS)) == 0) {
      append(missing, size, ", ", rows[i].name);
    }
    // C has no cast from an object pointer to a function pointer; POSIX promises that the bytes are the same
    memcpy(table + rows[i].offset, &symbol, sizeof symbol);
  }
  fill_in(b);
}

yoke_status yoke__fmi_binary_open(const char* path, const char* identifier, int version,
                                  unsigned parts, yoke_fmi_binary** out, const yoke_sink* sink) {
  *out = NULL;
  if (version < 1 || version > 3) {
    return yoke_fail(sink, YOKE_BAD_ARG, "FMI %d.0 is not known", version);
  }
  yoke_fmi_binary* b = calloc(1, sizeof *b);
  if (b == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  b->version = version;
  yoke_status status = load_library(b, path, sink);
  char missing[1024] = "";
  if (status >= 0) {
    find_all(b, identifier, parts, missing, sizeof missing);
  }
  if (missing[0] != '\0') {
    status =
        yoke_fail(sink, YOKE_BAD_INPUT, "%s lacks functions that %s needs: %s", base_name(path),
                  (parts & YOKE_FMI_ME) != 0 ? "model exchange" : "co-simulation", missing);
  }
  if (status < 0) {
    yoke__fmi_binary_close(&b);
    return status;
  }
  *out = b;
  return YOKE_OK;
}

void yoke__fmi_binary_leave(yoke_fmi_binary* binary) {
  binary->library = NULL;
  binary->n_parts = 0;
}

void yoke__fmi_binary_close(yoke_fmi_binary** binary) {
  yoke_fmi_binary* b = *binary;
  if (b == NULL) {
    return;
  }
  if (b->library != NULL) {
    (void)dlclose(b->library);
  }
  while (b->n_parts > 0) {
    (void)dlclose(b->parts[--b->n_parts]);
  }
  // a library that takes its code along may leave signals behind that lead into it
  yoke__os_drop_lost_handlers();
  free(b);
  *binary = NULL;
}
