// An FMU that stands in front of another one, hands every call on and writes it down, for tests of the order of calls.
//
// The other binary lies beside this one as inner.so. One line per call goes to the end of the file that the environment
// variable YOKE_FMU_CALLS names:
//     <unit> <function> <status> <number> <number> <n> <reference> ...
// YOKE_FMU_FAIL = "<function> <n> <status>" makes the n-th call of a function (0: every one) return a status that the other binary did not
// give; it is not called then.
#ifndef YOKE_TEST_FMUS_RECORDER_H
#define YOKE_TEST_FMUS_RECORDER_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 16 };

static void* inner_library;
static struct {
  const void* instance;
  char name[64];
} names[MAX_NAMES];
static long n_calls_to_fail;

// the function of the other binary, as its bytes: C has no cast from an object to a function
static void find_inner(const char* function, void* to) {
  if (inner_library == NULL) {
    Dl_info info;
    char path[4096] = "";
    if (dladdr((const void*)&names, &info) != 0) {
      const char* slash = strrchr(info.dli_fname, '/');
      (void)snprintf(path, sizeof path, "%.*s/inner.so", (int)(slash - info.dli_fname),
                     info.dli_fname);
    }
    inner_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (inner_library == NULL) {
      (void)fprintf(stderr, "recorder: %s\n", dlerror());
      abort();
    }
  }
  void* symbol = dlsym(inner_library, function);
  memcpy(to, &symbol, sizeof symbol);
}

static const char* name_of(const void* instance) {
  for (int i = 0; i < MAX_NAMES; i++) {
    if (names[i].instance == instance && instance != NULL) {
      return names[i].name;
    }
  }
  return "?";
}

static void keep_name(const void* instance, const char* name) {
  for (int i = 0; i < MAX_NAMES && instance != NULL; i++) {
    if (names[i].instance == NULL) {
      names[i].instance = instance;
      (void)snprintf(names[i].name, sizeof names[i].name, "%s", name);
      return;
    }
  }
}

static void forget_name(const void* instance) {
  for (int i = 0; i < MAX_NAMES; i++) {
    if (names[i].instance == instance) {
      names[i].instance = NULL;
    }
  }
}

static void write_call(const char* unit, const char* function, int status, double a, double b,
                       const uint32_t references[], size_t n) {
  const char* path = getenv("YOKE_FMU_CALLS");
  FILE* file = path == NULL ? NULL : fopen(path, "a");
  if (file == NULL) {
    return;
  }
  (void)fprintf(file, "%s %s %d %.17g %.17g %zu", unit, function, status, a, b, n);
  for (size_t i = 0; i < n; i++) {
    (void)fprintf(file, " %u", (unsigned)references[i]);
  }
  (void)fputc('\n', file);
  (void)fclose(file);
}

// A number for each state that an FMU gave out, 1, 2, ...; 0: there are too many.
static double number_of(const void* state) {
  static const void* known[16];
  for (int i = 0; i < 16; i++) {
    if (known[i] == NULL || known[i] == state) {
      known[i] = state;
      return i + 1;
    }
  }
  return 0;
}

// the status that this call is to return, or -1
static int told_status(const char* function) {
  const char* told = getenv("YOKE_FMU_FAIL");
  const size_t n = strlen(function);
  if (told == NULL || strncmp(told, function, n) != 0 || told[n] != ' ') {
    return -1;
  }
  char* end = NULL;
  const long which = strtol(told + n, &end, 10);
  const long status = strtol(end, NULL, 10);
  return which == 0 || ++n_calls_to_fail == which ? (int)status : -1;
}

#endif
