// The shared library of an FMU: loaded, its functions found, or a message that says what is in the way.
//
// The system's loader does the work (dlopen with RTLD_NOW, so that a missing symbol is found here and not in the middle of a
// step, and RTLD_LOCAL, so that two FMUs never see each other). A file that it could not load is refused before.
// Vendors ship libraries beside the binary and rely on their being found there, as on Windows; the loader does not look
// there by itself, so that one it misses is loaded first: it then finds it by its own name (DT_SONAME).
#include "fmi/fmi_binary.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "base/base_status.h"
#include "fmi/fmi_library.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_DEPTH    8  // of libraries beside the binary that need each other

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

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

// ---- loading

// The name that starts the words of the loader if it is that of a library it looked for in vain: "libb.so: cannot open
// shared object file: ...". What follows may be translated. False: the words are about a file.
static bool find_missing(const char* reason, char* name, size_t size) {
  const size_t n = strcspn(reason, ":/ ");
  if (n == 0 || n >= size || reason[n] != ':') {
    return false;
  }
  (void)snprintf(name, size, "%.*s", (int)n, reason);
  return true;
}

// Why dlopen refused the file: a missing library, a missing symbol, else its own words (reason).
static yoke_status explain(const char* path, const char* reason, const yoke_sink* sink) {
  const char* name = base_name(path);
  char missing[256];
  if (find_missing(reason, missing, sizeof missing)) {
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

static yoke_status check_file(const char* path, const yoke_sink* sink) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    const int code = errno;
    const yoke_status status = yoke__status_of_errno(code);
    return yoke_fail(sink, yoke__status_is_shortage(status) ? status : YOKE_BAD_INPUT, "%s: %s",
                     path, yoke__errno_text(code));
  }
  char kind[80];
  const bool is_native = yoke__fmi_library_is_native(file, kind, sizeof kind);
  fclose(file);
  return is_native ? YOKE_OK
                   : yoke_fail(sink, YOKE_BAD_INPUT, "%s does not run on this machine: it is %s",
                               base_name(path), kind);
}

// The library that the loader missed, if it lies beside the file at path.
static bool find_beside(const char* path, const char* reason, char* to, size_t size) {
  char name[256];
  if (!find_missing(reason, name, sizeof name)) {
    return false;
  }
  const int n = snprintf(to, size, "%.*s%s", (int)(base_name(path) - path), path, name);
  return n > 0 && (size_t)n < size && yoke__os_is_file(to);
}

// Loads a library. One that the loader misses and that lies beside it is loaded first, with what that one needs in turn.
// NOLINTNEXTLINE(misc-no-recursion): at most MAX_DEPTH
static yoke_status load_library(yoke_fmi_binary* b, const char* path, int depth, void** out,
                                const yoke_sink* sink) {
  YOKE_TRY(check_file(path, sink));
  for (;;) {
    errno = 0;
    *out = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*out != NULL) {
      return YOKE_OK;
    }
    const int code = errno;
    const yoke_status status = yoke__status_of_errno(code);
    if (yoke__status_is_shortage(status)) {
      return yoke_fail(sink, status, "%s cannot be loaded: %s", base_name(path),
                       yoke__errno_text(code));
    }
    char reason[1024], beside[4096];
    const char* said = dlerror();
    (void)snprintf(reason, sizeof reason, "%s", said == NULL ? "" : said);
    if (depth == MAX_DEPTH || !find_beside(path, reason, beside, sizeof beside)) {
      return explain(path, reason, sink);
    }
    void* part = NULL;
    YOKE_TRY(load_library(b, beside, depth + 1, &part, sink));
    if (b->n_parts == YOKE_FMI_MAX_PARTS) {
      (void)dlclose(part);
      return explain(path, reason, sink);
    }
    b->parts[b->n_parts++] = part;
  }
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
  yoke_status status = load_library(b, path, 0, &b->library, sink);
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
