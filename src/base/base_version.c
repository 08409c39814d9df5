// Version, commit and build of this library. YOKE_COMMIT and YOKE_FLAGS come from the build system and
// reach this file only, so that a new commit recompiles one file.
#include "base/base_version.h"

#include "yoke/version.h"

#ifndef YOKE_COMMIT
#define YOKE_COMMIT "unknown"
#endif
#ifndef YOKE_FLAGS
#define YOKE_FLAGS "unknown flags"
#endif

// clang also defines __GNUC__, so it is asked for first
#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif

#if defined(__x86_64__)
#define PROCESSOR "x86-64"
#elif defined(__aarch64__)
#define PROCESSOR "aarch64"
#elif defined(__arm__)
#define PROCESSOR "32-bit ARM"
#else
#define PROCESSOR "other processor"
#endif

const char* yoke_version(void) {
  return YOKE_VERSION;
}

const char* yoke__commit(void) {
  return YOKE_COMMIT;
}

const char* yoke__build(void) {
  return COMPILER ", " YOKE_FLAGS ", " PROCESSOR;
}
