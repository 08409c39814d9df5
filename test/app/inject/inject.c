// A library to preload: the n-th call of a kind fails with a chosen errno; built and used by test_app_injected.sh.
//
//   INJECT="alloc 12 ENOMEM"   the 12th allocation, from 1; kinds: alloc, open, write, rename, sync, mkdir
//   INJECT="alloc 12+ ENOMEM"  that one and all behind it
//   INJECT_COUNTS=FILE         at the end a line "KIND CALLS" per kind is added to FILE
//
// Calls count from the start of the program on, in all its threads. A process that it forks goes on counting by itself; a
// program that it starts is left alone. Standard output and error never fail: what is said must be heard.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ALLOC, OPEN, WRITE, RENAME, SYNC, MKDIR, N_KINDS };
static const char* const kinds[N_KINDS] = {"alloc", "open", "write", "rename", "sync", "mkdir"};

static atomic_long counts[N_KINDS];
static atomic_bool is_on;
static int chosen = -1, code = EIO;
static long fails_at;
static bool fails_onwards;
static char count_file[4096];
static pid_t owner;

// NOLINTBEGIN(bugprone-reserved-identifier)
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
// NOLINTEND(bugprone-reserved-identifier)

static bool fails(int kind) {
  if (!atomic_load(&is_on)) {
    return false;
  }
  const long n = atomic_fetch_add(&counts[kind], 1) + 1;
  if (kind != chosen || (fails_onwards ? n < fails_at : n != fails_at)) {
    return false;
  }
  errno = code;
  return true;
}

static int code_of(const char* name) {
  static const struct {
    const char* name;
    int code;
  } known[] = {{"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}, {"EIO", EIO},
               {"EMFILE", EMFILE}, {"ENFILE", ENFILE}, {"EDQUOT", EDQUOT}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(known[i].name, name) == 0) {
      return known[i].code;
    }
  }
  return EIO;
}

__attribute__((constructor)) static void begin(void) {
  const char* what = getenv("INJECT");
  const char* file = getenv("INJECT_COUNTS");
  char kind[16] = "", name[16] = "", plus = ' ';
  owner = getpid();
  if (file != NULL) {
    snprintf(count_file, sizeof count_file, "%s", file);
  }
  if (what != NULL && (sscanf(what, "%15s %ld+ %15s", kind, &fails_at, name) == 3 ||
                       sscanf(what, "%15s %ld%c%15s", kind, &fails_at, &plus, name) == 4)) {
    fails_onwards = strchr(what, '+') != NULL;
    code = code_of(name);
    for (int i = 0; i < N_KINDS; i++) {
      chosen = strcmp(kinds[i], kind) == 0 ? i : chosen;
    }
  }
  unsetenv("LD_PRELOAD");
  atomic_store(&is_on, true);
}

__attribute__((destructor)) static void end(void) {
  atomic_store(&is_on, false);
  if (count_file[0] == '\0' || getpid() != owner) {
    return;
  }
  FILE* to = fopen(count_file, "a");
  for (int i = 0; to != NULL && i < N_KINDS; i++) {
    fprintf(to, "%s %ld\n", kinds[i], atomic_load(&counts[i]));
  }
  if (to != NULL) {
    fclose(to);
  }
}

// ---- memory

#ifndef INJECT_WITHOUT_ALLOC  // a sanitizer brings its own
void* malloc(size_t size) {
  return fails(ALLOC) ? NULL : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  return fails(ALLOC) ? NULL : __libc_calloc(count, size);
}

void* realloc(void* block, size_t size) {
  return fails(ALLOC) ? NULL : __libc_realloc(block, size);
}

void* memalign(size_t alignment, size_t size) {
  return fails(ALLOC) ? NULL : __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return fails(ALLOC) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = fails(ALLOC) ? NULL : __libc_memalign(alignment, size);
  return *block == NULL ? ENOMEM : 0;
}
#endif

// ---- files

// The function behind ours.
#define BEHIND(type, name, arguments)                                                              \
  static type(*behind) arguments;                                                                  \
  if (behind == NULL) {                                                                            \
    const bool was_on = atomic_exchange(&is_on, false);                                            \
    *(void**)(&behind) = dlsym(RTLD_NEXT, #name);                                                  \
    atomic_store(&is_on, was_on);                                                                  \
  }

#define OPEN_FILE(name)                                                                            \
  int name(const char* path, int flags, ...) {                                                     \
    BEHIND(int, name, (const char*, int, ...))                                                     \
    va_list args;                                                                                  \
    va_start(args, flags);                                                                         \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;           \
    va_end(args);                                                                                  \
    return fails(OPEN) ? -1 : behind(path, flags, mode);                                           \
  }
OPEN_FILE(open)
OPEN_FILE(open64)

#define OPEN_AT(name)                                                                              \
  int name(int folder, const char* path, int flags, ...) {                                         \
    BEHIND(int, name, (int, const char*, int, ...))                                                \
    va_list args;                                                                                  \
    va_start(args, flags);                                                                         \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;           \
    va_end(args);                                                                                  \
    return fails(OPEN) ? -1 : behind(folder, path, flags, mode);                                   \
  }
OPEN_AT(openat)
OPEN_AT(openat64)

#define OPEN_STREAM(name)                                                                          \
  FILE* name(const char* path, const char* mode) {                                                 \
    BEHIND(FILE*, name, (const char*, const char*))                                                \
    return fails(OPEN) ? NULL : behind(path, mode);                                                \
  }
OPEN_STREAM(fopen)
OPEN_STREAM(fopen64)

#define OPEN_TEMPORARY(name)                                                                       \
  int name(char* path) {                                                                           \
    BEHIND(int, name, (char*))                                                                     \
    return fails(OPEN) ? -1 : behind(path);                                                        \
  }
OPEN_TEMPORARY(mkstemp)
OPEN_TEMPORARY(mkstemp64)

int memfd_create(const char* name, unsigned flags) {
  BEHIND(int, memfd_create, (const char*, unsigned))
  return fails(OPEN) ? -1 : behind(name, flags);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
  BEHIND(int, socketpair, (int, int, int, int*))
  return fails(OPEN) ? -1 : behind(domain, type, protocol, ends);
}

static bool is_heard(int file) {
  return file == STDOUT_FILENO || file == STDERR_FILENO;
}

ssize_t write(int file, const void* bytes, size_t n) {
  BEHIND(ssize_t, write, (int, const void*, size_t))
  return !is_heard(file) && fails(WRITE) ? -1 : behind(file, bytes, n);
}

#define WRITE_AT(name, offset_type)                                                                \
  ssize_t name(int file, const void* bytes, size_t n, offset_type offset) {                        \
    BEHIND(ssize_t, name, (int, const void*, size_t, offset_type))                                 \
    return fails(WRITE) ? -1 : behind(file, bytes, n, offset);                                     \
  }
WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

ssize_t writev(int file, const struct iovec* parts, int n) {
  BEHIND(ssize_t, writev, (int, const struct iovec*, int))
  return !is_heard(file) && fails(WRITE) ? -1 : behind(file, parts, n);
}

size_t fwrite(const void* bytes, size_t size, size_t n, FILE* file) {
  BEHIND(size_t, fwrite, (const void*, size_t, size_t, FILE*))
  return !is_heard(fileno(file)) && fails(WRITE) ? 0 : behind(bytes, size, n, file);
}

int fflush(FILE* file) {
  BEHIND(int, fflush, (FILE*))
  const bool is_file = file != NULL && !is_heard(fileno(file)) && __fwriting(file) != 0;
  return is_file && fails(WRITE) ? EOF : behind(file);
}

int fclose(FILE* file) {
  BEHIND(int, fclose, (FILE*))
  const bool is_lost = !is_heard(fileno(file)) && __fwriting(file) != 0 && fails(WRITE);
  const int result = behind(file);
  if (is_lost) {
    errno = code;
  }
  return is_lost ? EOF : result;
}

#define RESIZE(name, offset_type)                                                                  \
  int name(int file, offset_type size) {                                                           \
    BEHIND(int, name, (int, offset_type))                                                          \
    return fails(WRITE) ? -1 : behind(file, size);                                                 \
  }
RESIZE(ftruncate, off_t)
RESIZE(ftruncate64, off64_t)

#define RESERVE(name, offset_type)                                                                 \
  int name(int file, int mode, offset_type offset, offset_type size) {                             \
    BEHIND(int, name, (int, int, offset_type, offset_type))                                        \
    return fails(WRITE) ? -1 : behind(file, mode, offset, size);                                   \
  }
RESERVE(fallocate, off_t)
RESERVE(fallocate64, off64_t)

// ---- names

int rename(const char* from, const char* to) {
  BEHIND(int, rename, (const char*, const char*))
  return fails(RENAME) ? -1 : behind(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  BEHIND(int, renameat, (int, const char*, int, const char*))
  return fails(RENAME) ? -1 : behind(from_folder, from, to_folder, to);
}

int fsync(int file) {
  BEHIND(int, fsync, (int))
  return fails(SYNC) ? -1 : behind(file);
}

int fdatasync(int file) {
  BEHIND(int, fdatasync, (int))
  return fails(SYNC) ? -1 : behind(file);
}

int mkdir(const char* path, mode_t mode) {
  BEHIND(int, mkdir, (const char*, mode_t))
  return fails(MKDIR) ? -1 : behind(path, mode);
}

int mkdirat(int folder, const char* path, mode_t mode) {
  BEHIND(int, mkdirat, (int, const char*, mode_t))
  return fails(MKDIR) ? -1 : behind(folder, path, mode);
}
