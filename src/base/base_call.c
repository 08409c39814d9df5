// Notes of calls into foreign code, one per thread.
#define _GNU_SOURCE
#include "base/base_call.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_check.h"

static _Thread_local yoke_call here = {.t = (double)NAN};
static _Atomic(yoke_call*) threads[512];

yoke_call* yoke__call_here(void) {
  return &here;
}

static void replace(yoke_call* from, yoke_call* to) {
  for (size_t i = 0; i < YOKE_COUNT(threads); i++) {
    yoke_call* found = from;
    if (atomic_compare_exchange_strong(&threads[i], &found, to)) {
      return;
    }
  }
}

void yoke__call_enter_thread(void) {
  replace(NULL, &here);
}

void yoke__call_leave_thread(void) {
  replace(&here, NULL);
}

const yoke_call* yoke__call_find(void) {
  for (size_t i = 0; i < YOKE_COUNT(threads); i++) {
    const yoke_call* call = atomic_load(&threads[i]);
    if (call != NULL && atomic_load_explicit(&call->unit, memory_order_relaxed) != NULL) {
      return call;
    }
  }
  return NULL;
}

// ---- code

static struct {
  atomic_bool is_there;
  uint64_t inode;
  char unit[64];
} binaries[256];
static atomic_size_t n_binaries;

void yoke__call_add_binary(const char* unit, const char* path) {
  struct stat info;
  const size_t i = stat(path, &info) == 0 ? atomic_fetch_add(&n_binaries, 1) : SIZE_MAX;
  if (i < YOKE_COUNT(binaries)) {
    binaries[i].inode = (uint64_t)info.st_ino;
    snprintf(binaries[i].unit, sizeof binaries[i].unit, "%s", unit);
    atomic_store(&binaries[i].is_there, true);
  }
}

// The number of the file of a mapping that holds an address; 0: none, or another mapping.
// A line: "first-last rights offset device inode path".
static uint64_t match_mapping(const char* line, uintptr_t code) {
  char *at = NULL, *end = NULL;
  const unsigned long long first = strtoull(line, &at, 16);
  if (at == line || *at != '-') {
    return 0;
  }
  const unsigned long long last = strtoull(at + 1, &end, 16);
  if (end == at + 1 || code < first || code >= last) {
    return 0;
  }
  for (int i = 0; i < 3; i++) {
    end += strspn(end, " ");
    end += strcspn(end, " ");
  }
  return strtoull(end, NULL, 10);
}

// The file that is mapped at an address, by its number; 0: none.
static uint64_t find_mapped(uintptr_t code) {
  char text[4096];
  size_t used = 0;
  uint64_t found = 0;
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  for (ssize_t n = 1; file >= 0 && found == 0 && n > 0;) {
    n = read(file, text + used, sizeof text - 1 - used);
    used += n > 0 ? (size_t)n : 0;
    text[used] = '\0';
    char* line = text;
    for (char* end = strchr(line, '\n'); end != NULL; end = strchr(line, '\n')) {
      *end = '\0';
      const uint64_t inode = match_mapping(line, code);
      found = inode != 0 ? inode : found;
      line = end + 1;
    }
    used = strlen(line) < sizeof text / 2 ? strlen(line) : 0;
    memmove(text, line, used);
  }
  if (file >= 0) {
    close(file);
  }
  return found;
}

bool yoke__call_find_binary(uintptr_t code, char* unit, size_t size) {
  const uint64_t inode = code == 0 ? 0 : find_mapped(code);
  size_t n_found = 0;
  for (size_t i = 0; inode != 0 && i < YOKE_COUNT(binaries); i++) {
    if (atomic_load(&binaries[i].is_there) && binaries[i].inode == inode) {
      snprintf(unit, size, "%s", binaries[i].unit);
      n_found++;
    }
  }
  return n_found == 1;
}
