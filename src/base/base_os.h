// The operating system, in one place: clocks, threads, signals, files, floating-point mode.
#ifndef YOKE_BASE_OS_H
#define YOKE_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "yoke/message.h"
#include "yoke/status.h"

// Monotonic and per-thread processor time in nanoseconds.
int64_t yoke__os_now_ns(void);
int64_t yoke__os_cpu_ns(void);
void yoke__os_sleep_ns(int64_t ns);
int yoke__os_n_processors(void);

// Threads. fn runs in the new thread; join waits for its end.
typedef struct yoke_thread yoke_thread;
yoke_status yoke__os_thread_start(void (*fn)(void*), void* arg, yoke_thread** out);
void yoke__os_thread_join(yoke_thread** thread);
bool yoke__os_thread_is_this(const yoke_thread* thread);
// This thread gives way to others from now on (nice), as far as the system knows threads one by one.
void yoke__os_lower_priority(int nice);

// word points to 32 bits. Waits while *word == expected (may wake early); wake wakes all waiters.
void yoke__os_futex_wait(void* word, uint32_t expected, int64_t timeout_ns);
void yoke__os_futex_wake(void* word);
static inline void yoke__os_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
  __asm__ __volatile__("yield");
#endif
}

// 32-bit ARM keeps mode, comparison and exceptions in one register; these are the bits of the mode
#define YOKE_ARM_FLOAT_MODE 0x07f79f00u

// Flushes denormals to zero in this thread and returns the old mode; restore gives it back.
uint64_t yoke__os_float_mode_set(void);
void yoke__os_float_mode_restore(uint64_t mode);
// The mode as it is now, without the flags of past exceptions: for foreign code that may change it.
static inline uint64_t yoke__os_float_mode(void) {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr() & ~0x3fu;
#elif defined(__aarch64__)
  uint64_t mode;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(mode));
  return mode;
#elif defined(__ARM_FP)
  uint32_t mode;
  __asm__ __volatile__("vmrs %0, fpscr" : "=r"(mode));
  return mode & YOKE_ARM_FLOAT_MODE;
#else
  return 0;
#endif
}

// Back to this mode if foreign code has changed it.
static inline void yoke__os_float_mode_keep(uint64_t mode) {
  if (yoke__os_float_mode() != mode) {
    yoke__os_float_mode_restore(mode);
  }
}

// 0 if arithmetic shows nothing but the usual mode: round to nearest, denormals flushed. Reading the mode takes some 15 cycles
// on x86, which this does not; it cannot see which exceptions would raise a signal. Elsewhere it is always 1: ask for the mode.
static inline double yoke__os_float_oddity(void) {
#if defined(__x86_64__)
  double half = 0.5, large = 0x1p600;
  __asm__ __volatile__("" : "+x"(half), "+x"(large));  // to be computed here and now
  // a quarter of the last digit is rounded down and three quarters up; the smallest normal number halved is 0; a denormal
  // number is read as 0
  const double digit = (half + 0x1.8p-54) - (half + 0x1p-55) - 0x1p-53;
  return digit + (half * 0x1p-1022 + large * 0x1p-1074);
#else
  return 1;
#endif
}

// SIGINT and SIGTERM are noted instead of ending the process; a second one ends it as usual. One that was ignored when
// the process started (nohup, a job in the background of a script) stays ignored. Where crashes are watched (base_crash.h) the
// watching thread does this, for SIGHUP too.
void yoke__os_catch_interrupt(void);
bool yoke__os_is_interrupted(void);

// Files. Messages name the path in their text: where it was asked for is the caller's to know.
yoke_status yoke__os_make_directory(const char* path, const yoke_sink* sink);  // with parents
// Remembers the umask of the process; restore gives it back, should foreign code have changed it. Does nothing if none is
// remembered.
void yoke__os_note_umask(void);
void yoke__os_restore_umask(void);
// "directory/name" with one slash between them, cut to size; returns its whole length (to may be NULL if size is 0).
size_t yoke__os_path_join(const char* directory, const char* name, char* to, size_t size);
// The path from the root, so that it means the same after a change of the working folder; as it is if that would be too long.
// `to` may be `path`.
void yoke__os_path_absolute(const char* path, char* to, size_t size);
// Signals whose handler is no longer there, since the library it belonged to was unloaded, are handled by default again.
void yoke__os_drop_lost_handlers(void);
yoke_status yoke__os_rename(const char* from, const char* to, const yoke_sink* sink);
// The whole file, NUL behind it, malloc'ed. Refuses more than max_size bytes and directories. name: what messages call it;
// "the file" where their place names it already.
yoke_status yoke__os_read_file_as(const char* path, const char* name, size_t max_size, char** bytes,
                                  size_t* n, const yoke_sink* sink);
static inline yoke_status yoke__os_read_file(const char* path, size_t max_size, char** bytes,
                                             size_t* n, const yoke_sink* sink) {
  return yoke__os_read_file_as(path, path, max_size, bytes, n, sink);
}
// Takes a folder for this process alone until unlock; YOKE_IO if another one has it, or a shortage. *lock is -1 where the
// file system knows no locks.
yoke_status yoke__os_lock_directory(const char* path, int* lock);
void yoke__os_unlock(int* lock);
// Bytes of a file that is there. The message is the reason alone.
yoke_status yoke__os_file_size(const char* path, uint64_t* size, const yoke_sink* sink);
bool yoke__os_is_terminal(FILE* file);
bool yoke__os_is_directory(const char* path);
bool yoke__os_is_file(const char* path);     // anything that can be read like one
bool yoke__os_is_regular(const char* path);  // no pipe, device or folder

// Writes a whole file, under PATH.part first, so that a reader never finds half of one. "cannot write NAME: reason"; name:
// what messages call it.
yoke_status yoke__os_write_file_as(const char* path, const char* name, const void* bytes, size_t n,
                                   const yoke_sink* sink);
static inline yoke_status yoke__os_write_file(const char* path, const void* bytes, size_t n,
                                              const yoke_sink* sink) {
  return yoke__os_write_file_as(path, path, bytes, n, sink);
}
// The same for directory/name; the directory is made if missing.
yoke_status yoke__os_write_into(const char* directory, const char* name, const void* bytes,
                                size_t n, const yoke_sink* sink);

// Files written piece by piece, by descriptor. Messages are the reason alone ("No space left on device").
yoke_status yoke__os_file_create(const char* path, int* file, const yoke_sink* sink);
yoke_status yoke__os_file_open(const char* path, int* file, const yoke_sink* sink);  // to read
// All n bytes, or a failure; *n_done counts those that went out.
yoke_status yoke__os_file_write(int file, const void* bytes, size_t n, size_t* n_done,
                                const yoke_sink* sink);
yoke_status yoke__os_file_read(int file, void* bytes, size_t n, uint64_t offset,
                               const yoke_sink* sink);
yoke_status yoke__os_file_truncate(int file, uint64_t size, const yoke_sink* sink);
// Makes sure that the file can grow to `size` bytes; its size stays. File systems that cannot promise say yes.
yoke_status yoke__os_file_reserve(int file, uint64_t size, const yoke_sink* sink);
// Closes; a failure if earlier writes turn out to have failed. *file becomes -1; -1 is accepted.
yoke_status yoke__os_file_close(int* file, const yoke_sink* sink);
void yoke__os_file_remove(const char* path);

// Name of a system file without folder and ending, *n characters: the default of `name` and of the folder of results.
// "system" where only dots would be left.
const char* yoke__os_path_stem(const char* path, size_t* n);

#endif
