// Everything that asks the operating system for something (Linux).
#define _GNU_SOURCE
#include "base/base_os.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base_call.h"
#include "base/base_check.h"
#include "base/base_crash.h"
#include "base/base_message.h"
#include "base/base_status.h"

#define NS_PER_S INT64_C(1000000000)

// the call whose times are as wide as ours; 32-bit machines have two
#if defined(SYS_futex_time64) && defined(_TIME_BITS) && _TIME_BITS == 64
#define FUTEX_CALL SYS_futex_time64
#else
#define FUTEX_CALL SYS_futex
#endif

static int64_t clock_ns(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t yoke__os_now_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

int64_t yoke__os_cpu_ns(void) {
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void yoke__os_sleep_ns(int64_t ns) {
  struct timespec left = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
  while (ns > 0 && nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

int yoke__os_n_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return CPU_COUNT(&set);
  }
  return 1;
}

struct yoke_thread {
  pthread_t id;
  void (*fn)(void*);
  void* arg;
};

static void* thread_main(void* self) {
  yoke_thread* thread = self;
  yoke__crash_enter_thread();
  thread->fn(thread->arg);
  yoke__crash_leave_thread();
  return NULL;
}

yoke_status yoke__os_thread_start(void (*fn)(void*), void* arg, yoke_thread** out) {
  *out = NULL;
  yoke_thread* thread = calloc(1, sizeof *thread);
  YOKE_TRY_MEMORY(thread);
  thread->fn = fn;
  thread->arg = arg;

  // signals are for the main thread, but for faults: blocked, they end the process whatever handler there is
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
  sigset_t all, old;
  sigfillset(&all);
  for (size_t i = 0; i < YOKE_COUNT(faults); i++) {
    sigdelset(&all, faults[i]);
  }
  pthread_sigmask(SIG_SETMASK, &all, &old);
  const int code = pthread_create(&thread->id, NULL, thread_main, thread);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (code != 0) {
    free(thread);
    return YOKE_NO_MEMORY;
  }
  *out = thread;
  return YOKE_OK;
}

void yoke__os_thread_join(yoke_thread** thread) {
  if (*thread != NULL) {
    pthread_join((*thread)->id, NULL);
    free(*thread);
    *thread = NULL;
  }
}

bool yoke__os_thread_is_this(const yoke_thread* thread) {
  return thread != NULL && pthread_equal(thread->id, pthread_self()) != 0;
}

void yoke__os_lower_priority(int nice) {
  // Linux counts threads as processes here
  (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice);
}

void yoke__os_futex_wait(void* word, uint32_t expected, int64_t timeout_ns) {
  const struct timespec timeout = {(time_t)(timeout_ns / NS_PER_S), (long)(timeout_ns % NS_PER_S)};
  syscall(FUTEX_CALL, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns > 0 ? &timeout : NULL, NULL,
          0);
}

void yoke__os_futex_wake(void* word) {
  syscall(FUTEX_CALL, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#if defined(__ARM_FP) && !defined(__aarch64__)
static void arm_float_mode(uint32_t mode) {
  uint32_t all;
  __asm__ __volatile__("vmrs %0, fpscr" : "=r"(all));
  all = (all & ~YOKE_ARM_FLOAT_MODE) | (mode & YOKE_ARM_FLOAT_MODE);
  __asm__ __volatile__("vmsr fpscr, %0" ::"r"(all));
}
#endif

// What flushes denormals, and what yoke__os_float_mode shows of a mode.
#if defined(__x86_64__)
#define FLOAT_FLUSH UINT64_C(0x8040)  // results to zero, arguments are zero
#define FLOAT_SHOWN UINT64_C(0xffffffc0)
#elif defined(__aarch64__)
#define FLOAT_FLUSH (UINT64_C(1) << 24)
#define FLOAT_SHOWN UINT64_MAX
#elif defined(__ARM_FP)
#define FLOAT_FLUSH (UINT64_C(1) << 24)
#define FLOAT_SHOWN ((uint64_t)YOKE_ARM_FLOAT_MODE)
#else
#define FLOAT_FLUSH UINT64_C(0)
#define FLOAT_SHOWN UINT64_C(0)
#endif

void yoke__os_float_mode_restore(uint64_t mode) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr((unsigned)mode);
#elif defined(__aarch64__)
  __asm__ __volatile__("msr fpcr, %0" ::"r"(mode));
#elif defined(__ARM_FP)
  arm_float_mode((uint32_t)mode);
#endif
  yoke__call_here()->float_mode = mode & FLOAT_SHOWN;
}

uint64_t yoke__os_float_mode_set(void) {
#if defined(__x86_64__)
  const uint64_t old = __builtin_ia32_stmxcsr();
#else
  const uint64_t old = yoke__os_float_mode();
#endif
  yoke__os_float_mode_restore(old | FLOAT_FLUSH);
  return old;
}

static volatile sig_atomic_t interrupt_seen;

static void note_interrupt(int signal_number) {
  interrupt_seen = 1;
  signal(signal_number, SIG_DFL);  // the second one ends the process
}

// who started the process may have wanted it to live on
static void catch_unless_ignored(int signal_number, const struct sigaction* action) {
  struct sigaction old;
  if (sigaction(signal_number, NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
    sigaction(signal_number, action, NULL);
  }
}

void yoke__os_catch_interrupt(void) {
  interrupt_seen = 0;
  if (yoke__crash_is_watched()) {
    yoke__crash_catch_interrupt();
  } else {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_interrupt;
    sigemptyset(&action.sa_mask);
    catch_unless_ignored(SIGINT, &action);
    catch_unless_ignored(SIGTERM, &action);
  }

  // a full disk or a closed pipe is reported by write, not by a signal
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
}

bool yoke__os_is_interrupted(void) {
  return interrupt_seen != 0 || yoke__crash_is_interrupted();
}

static bool is_handler_lost(const struct sigaction* action) {
  void* address = NULL;
  Dl_info info;
  if ((action->sa_flags & SA_SIGINFO) != 0) {
    memcpy(&address, &action->sa_sigaction, sizeof address);
  } else if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
    memcpy(&address, &action->sa_handler, sizeof address);
  }
  return address != NULL && dladdr(address, &info) == 0;
}

void yoke__os_drop_lost_handlers(void) {
  for (int number = 1; number < NSIG; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && is_handler_lost(&action)) {
      signal(number, SIG_DFL);
    }
  }
}

static atomic_int noted_umask = -1;

void yoke__os_note_umask(void) {
  const mode_t mask = umask(0);
  umask(mask);
  atomic_store(&noted_umask, (int)mask);
}

void yoke__os_restore_umask(void) {
  const int mask = atomic_load(&noted_umask);
  if (mask >= 0) {
    umask((mode_t)mask);
  }
}

yoke_status yoke__os_make_directory(const char* path, const yoke_sink* sink) {
  char part[PATH_MAX];
  const size_t n = strlen(path);
  yoke__os_restore_umask();
  if (n == 0 || n >= sizeof part) {
    return yoke_fail(sink, YOKE_IO, "'%.100s' is not a usable folder name", path);
  }
  for (size_t i = 1; i <= n; i++) {
    if (path[i] != '/' && path[i] != '\0') {
      continue;
    }
    memcpy(part, path, i);
    part[i] = '\0';
    struct stat info;
    if (mkdir(part, 0777) != 0 &&
        (errno != EEXIST || stat(part, &info) != 0 || !S_ISDIR(info.st_mode))) {
      const int code = errno;
      return yoke_fail(sink, yoke__status_of_errno(code), "cannot make folder %s: %s", part,
                       code == EEXIST ? "a file of that name is in the way"
                                      : yoke__errno_text(code));
    }
  }
  return YOKE_OK;
}

void yoke__os_path_absolute(const char* path, char* to, size_t size) {
  char folder[PATH_MAX], whole[2 * PATH_MAX];
  const bool is_relative = path[0] != '/' && path[0] != '\0';
  if (!is_relative || getcwd(folder, sizeof folder) == NULL ||
      yoke__os_path_join(folder, path, whole, sizeof whole) >= size) {
    snprintf(whole, sizeof whole, "%s", path);
  }
  snprintf(to, size, "%s", whole);
}

size_t yoke__os_path_join(const char* directory, const char* name, char* to, size_t size) {
  const size_t n = strlen(directory);
  const char* slash = n > 0 && directory[n - 1] == '/' ? "" : "/";
  snprintf(to, size, "%s%s%s", directory, slash, name);
  return n + strlen(slash) + strlen(name);
}

yoke_status yoke__os_rename(const char* from, const char* to, const yoke_sink* sink) {
  if (rename(from, to) != 0) {
    const int code = errno;
    return yoke_fail(sink, yoke__status_of_errno(code), "cannot rename %s to %s: %s", from, to,
                     yoke__errno_text(code));
  }
  return YOKE_OK;
}

static yoke_status read_whole(FILE* file, const char* name, size_t max_size, char** bytes,
                              size_t* n, const yoke_sink* sink) {
  struct stat info;
  if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode)) {
    return yoke_fail(sink, YOKE_IO, "%s is a folder, a file was expected", name);
  }

  // sizes of pipes are not known beforehand: grow by doubling up to the limit
  size_t room = 65536, used = 0;
  char* data = malloc(room + 1);
  while (data != NULL) {
    used += fread(data + used, 1, room - used, file);
    if (used < room) {
      break;
    }
    if (room > max_size) {
      break;
    }
    room *= 2;
    char* larger = realloc(data, room + 1);
    if (larger == NULL) {
      free(data);
    }
    data = larger;
  }
  const int code = errno;
  if (data == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s: out of memory", name);
  }
  if (ferror(file) != 0 || used > max_size) {
    free(data);
    return used > max_size ? yoke_fail(sink, YOKE_IO, "%s is larger than %zu bytes", name, max_size)
                           : yoke_fail(sink, yoke__status_of_errno(code), "cannot read %s: %s",
                                       name, yoke__errno_text(code));
  }
  data[used] = '\0';
  *bytes = data;
  *n = used;
  return YOKE_OK;
}

yoke_status yoke__os_read_file_as(const char* path, const char* name, size_t max_size, char** bytes,
                                  size_t* n, const yoke_sink* sink) {
  *bytes = NULL;
  *n = 0;
  FILE* file = fopen(path, "rbe");
  if (file == NULL) {
    const int code = errno;
    return yoke_fail(sink, yoke__status_of_errno(code), "cannot open %s: %s", name,
                     yoke__errno_text(code));
  }
  const yoke_status status = read_whole(file, name, max_size, bytes, n, sink);
  fclose(file);
  return status;
}

yoke_status yoke__os_lock_directory(const char* path, int* lock) {
  *lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const yoke_status opened = *lock < 0 ? yoke__status_of_errno(errno) : YOKE_OK;
  if (yoke__status_is_shortage(opened)) {
    return opened;
  }
  if (*lock < 0 || flock(*lock, LOCK_EX | LOCK_NB) == 0) {
    return YOKE_OK;
  }
  const bool is_taken = errno == EWOULDBLOCK;
  yoke__os_unlock(lock);
  return is_taken ? YOKE_IO : YOKE_OK;
}

void yoke__os_unlock(int* lock) {
  if (*lock >= 0) {
    close(*lock);
  }
  *lock = -1;
}

bool yoke__os_is_terminal(FILE* file) {
  return isatty(fileno(file)) != 0;
}

bool yoke__os_is_directory(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool yoke__os_is_file(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

bool yoke__os_is_regular(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

// the reason of a failed call, as text
static yoke_status io_failure(int code, const yoke_sink* sink) {
  return yoke_fail(sink, yoke__status_of_errno(code), "%s", yoke__errno_text(code));
}

yoke_status yoke__os_file_size(const char* path, uint64_t* size, const yoke_sink* sink) {
  struct stat info;
  *size = 0;
  if (stat(path, &info) != 0) {
    return io_failure(errno, sink);
  }
  *size = info.st_size > 0 ? (uint64_t)info.st_size : 0;
  return YOKE_OK;
}

yoke_status yoke__os_file_create(const char* path, int* file, const yoke_sink* sink) {
  yoke__os_restore_umask();
  *file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return *file >= 0 ? YOKE_OK : io_failure(errno, sink);
}

yoke_status yoke__os_file_open(const char* path, int* file, const yoke_sink* sink) {
  *file = open(path, O_RDONLY | O_CLOEXEC);
  return *file >= 0 ? YOKE_OK : io_failure(errno, sink);
}

yoke_status yoke__os_file_write(int file, const void* bytes, size_t n, size_t* n_done,
                                const yoke_sink* sink) {
  const char* from = bytes;
  *n_done = 0;
  while (*n_done < n) {
    const ssize_t done = write(file, from + *n_done, n - *n_done);
    if (done > 0) {
      *n_done += (size_t)done;
    } else if (done == 0 || errno != EINTR) {
      return io_failure(done == 0 ? EIO : errno, sink);
    }
  }
  return YOKE_OK;
}

yoke_status yoke__os_file_read(int file, void* bytes, size_t n, uint64_t offset,
                               const yoke_sink* sink) {
  char* to = bytes;
  for (size_t n_done = 0; n_done < n;) {
    const ssize_t done = pread(file, to + n_done, n - n_done, (off_t)(offset + n_done));
    if (done > 0) {
      n_done += (size_t)done;
    } else if (done == 0 || errno != EINTR) {
      return io_failure(done == 0 ? EIO : errno, sink);
    }
  }
  return YOKE_OK;
}

yoke_status yoke__os_file_truncate(int file, uint64_t size, const yoke_sink* sink) {
  return ftruncate(file, (off_t)size) == 0 ? YOKE_OK : io_failure(errno, sink);
}

yoke_status yoke__os_file_reserve(int file, uint64_t size, const yoke_sink* sink) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      size > limit.rlim_cur) {
    return io_failure(EFBIG, sink);
  }
  int code = 0;
  do {
    code = fallocate(file, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) == 0 ? 0 : errno;
  } while (code == EINTR);
  return code == ENOSPC || code == EFBIG || code == EDQUOT ? io_failure(code, sink) : YOKE_OK;
}

yoke_status yoke__os_file_close(int* file, const yoke_sink* sink) {
  const int old = *file;
  *file = -1;
  return old < 0 || close(old) == 0 ? YOKE_OK : io_failure(errno, sink);
}

void yoke__os_file_remove(const char* path) {
  unlink(path);
}

static yoke_status write_whole(const char* path, const void* bytes, size_t n,
                               const yoke_sink* sink) {
  int file = -1;
  size_t n_done = 0;
  YOKE_TRY(yoke__os_file_create(path, &file, sink));
  const yoke_status status = yoke__os_file_write(file, bytes, n, &n_done, sink);
  const yoke_status closed = yoke__os_file_close(&file, status < 0 ? NULL : sink);
  return status < 0 ? status : closed;
}

yoke_status yoke__os_write_file_as(const char* path, const char* name, const void* bytes, size_t n,
                                   const yoke_sink* sink) {
  const size_t size = strlen(path) + sizeof ".part";
  char* part = malloc(size);
  YOKE_CATCH(why);
  if (part == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "cannot write %s: out of memory", name);
  }
  snprintf(part, size, "%s.part", path);
  yoke_status status = write_whole(part, bytes, n, &why.sink);
  if (status < 0) {
    yoke_fail(sink, status, "cannot write %s: %s", name, why.text);
  } else if (rename(part, path) != 0) {
    const int code = errno;
    status = yoke_fail(sink, yoke__status_of_errno(code), "cannot write %s: %s", name,
                       yoke__errno_text(code));
  }
  if (status < 0) {
    unlink(part);
  }
  free(part);
  return status;
}

yoke_status yoke__os_write_into(const char* directory, const char* name, const void* bytes,
                                size_t n, const yoke_sink* sink) {
  YOKE_TRY(yoke__os_make_directory(directory, sink));
  const size_t size = yoke__os_path_join(directory, name, NULL, 0) + 1;
  char* path = malloc(size);
  if (path == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "cannot write %s: out of memory", name);
  }
  yoke__os_path_join(directory, name, path, size);
  const yoke_status status = yoke__os_write_file(path, bytes, n, sink);
  free(path);
  return status;
}

const char* yoke__os_path_stem(const char* path, size_t* n) {
  const char* slash = strrchr(path, '/');
  const char* file = slash == NULL ? path : slash + 1;
  const char* dot = strrchr(file, '.');
  *n = dot == NULL || dot == file ? strlen(file) : (size_t)(dot - file);

  // "..." without its ending is the folder above
  if (strspn(file, ".") >= *n) {
    *n = strlen("system");
    return "system";
  }
  return file;
}
