// Child processes and shared memory (Linux): memfd, futex, posix_spawn, pidfd.
//
// The death of the parent is watched by a thread that waits on a descriptor of the parent's process. The signal that
// prctl offers for this comes when the *thread* that started the child ends, and units are made by worker threads.
#define _GNU_SOURCE
#include "base/base_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base_check.h"
#include "base/base_crash.h"
#include "base/base_family.h"
#include "base/base_os.h"
#include "base/base_status.h"

#define NS_PER_S INT64_C(1000000000)

// ---------------------------------------------------------------------------------------------------------
// shared memory

static yoke_status map_whole(yoke_shared* shared, size_t size) {
  void* bytes = shared->bytes == NULL
                    ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, shared->file, 0)
                    : mremap(shared->bytes, shared->size, size, MREMAP_MAYMOVE);
  if (bytes == MAP_FAILED) {
    return YOKE_NO_MEMORY;
  }
  shared->bytes = bytes;
  shared->size = size;
  return YOKE_OK;
}

// 0 if unknown
static size_t file_size(int file) {
  struct stat info;
  return fstat(file, &info) == 0 && info.st_size > 0 ? (size_t)info.st_size : 0;
}

yoke_status yoke__shared_create(size_t size, yoke_shared* out) {
  *out = (yoke_shared){.file = memfd_create("yoke", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (out->file >= 0 && out->file <= STDERR_FILENO) {
    // the program has closed its standard files: their places are filled anew in a process that is started
    const int low = out->file;
    out->file = fcntl(low, F_DUPFD_CLOEXEC, YOKE_PROCESS_FILE);
    close(low);
  }
  if (out->file < 0) {
    const yoke_status status = yoke__status_of_errno(errno);
    return yoke__status_is_shortage(status) ? status : YOKE_NO_MEMORY;
  }
  // a foreign binary that cuts the file must not end the parent with a bus error
  const bool is_made =
      ftruncate(out->file, (off_t)size) == 0 && fcntl(out->file, F_ADD_SEALS, F_SEAL_SHRINK) == 0;
  const yoke_status status = is_made ? map_whole(out, size) : YOKE_NO_MEMORY;
  if (status < 0) {
    yoke__shared_close(out);
  }
  return status;
}

yoke_status yoke__shared_open(int file, yoke_shared* out) {
  *out = (yoke_shared){.file = file};
  const size_t size = file_size(file);
  if (size == 0) {
    out->file = -1;
    return YOKE_BAD_ARG;
  }
  return map_whole(out, size);
}

yoke_status yoke__shared_grow(yoke_shared* shared, size_t size) {
  if (size <= shared->size) {
    return YOKE_OK;
  }
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (size > SIZE_MAX / 4) {
    return YOKE_NO_MEMORY;
  }
  const size_t whole = (size + page - 1) / page * page;
  if (file_size(shared->file) < whole && ftruncate(shared->file, (off_t)whole) != 0) {
    return YOKE_NO_MEMORY;
  }
  return map_whole(shared, whole);
}

yoke_status yoke__shared_follow(yoke_shared* shared, size_t size) {
  if (size <= shared->size) {
    return YOKE_OK;
  }
  return file_size(shared->file) < size ? YOKE_BAD_ARG : map_whole(shared, size);
}

yoke_status yoke__shared_update(yoke_shared* shared) {
  const size_t size = file_size(shared->file);
  return size <= shared->size ? YOKE_OK : map_whole(shared, size);
}

void yoke__shared_close(yoke_shared* shared) {
  if (shared->bytes != NULL) {
    munmap(shared->bytes, shared->size);
  }
  if (shared->file >= 0) {
    close(shared->file);
  }
  *shared = (yoke_shared){.file = -1};
}

void yoke__shared_wait(void* word, uint32_t expected, int64_t timeout_ns) {
  const struct timespec timeout = {(time_t)(timeout_ns / NS_PER_S), (long)(timeout_ns % NS_PER_S)};
  syscall(SYS_futex, word, FUTEX_WAIT, expected, timeout_ns > 0 ? &timeout : NULL, NULL, 0);
}

void yoke__shared_wake(void* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

// ---------------------------------------------------------------------------------------------------------
// starting and ending

// standard files, and the one that is handed over; a file that is in its place already loses its close-on-exec mark
static int set_files(posix_spawn_file_actions_t* files, int file) {
  int code = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (code == 0 && fcntl(STDERR_FILENO, F_GETFD) < 0) {
    code = posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  code = code != 0 ? code : posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
  return code != 0 ? code : posix_spawn_file_actions_adddup2(files, file, YOKE_PROCESS_FILE);
}

// A group of its own: an interrupt from the terminal is for the parent, which ends its units in order. Worker threads
// block all signals and the program ignores some; neither is for the new process.
static int set_attributes(posix_spawnattr_t* attributes) {
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  static const int changed[] = {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGCHLD};
  for (size_t i = 0; i < YOKE_COUNT(changed); i++) {
    sigaddset(&usual, changed[i]);
  }
  posix_spawnattr_setpgroup(attributes, 0);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setsigdefault(attributes, &usual);
  return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETSIGDEF);
}

// The environment with a mark that is nobody else's; malloc'ed, NULL without memory.
static char** mark_environment(char mark[64]) {
  extern char** environ;
  static atomic_uint n_started;
  size_t n = 0;
  while (environ != NULL && environ[n] != NULL) {
    n++;
  }
  char** marked = calloc(n + 2, sizeof *marked);
  snprintf(mark, 64, "%s=%d-%u-%lld", YOKE_FAMILY_VARIABLE, (int)getpid(),
           atomic_fetch_add(&n_started, 1), (long long)yoke__os_now_ns());
  if (marked == NULL) {
    return NULL;
  }
  size_t used = 0;
  marked[used++] = mark;
  for (size_t i = 0; i < n; i++) {
    // one that this process carries itself is its maker's
    if (strncmp(environ[i], YOKE_FAMILY_VARIABLE "=", sizeof YOKE_FAMILY_VARIABLE) != 0) {
      marked[used++] = environ[i];
    }
  }
  return marked;
}

yoke_status yoke__process_start(const char* program, char* const argv[], int file,
                                yoke_process* out, const yoke_sink* sink) {
  *out = (yoke_process){0};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  pid_t pid = 0;
  // asked for first: posix_spawn tells a failed start through memory that it shares with the new process, which an
  // emulator or a checker may give it a copy of
  int code = access(program, X_OK) == 0 ? 0 : errno;
  char** environment = mark_environment(out->mark);
  code = environment == NULL ? ENOMEM : code;
  if (code == 0) {
    code = posix_spawn_file_actions_init(&files);
  }
  if (code == 0) {
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
      code = set_files(&files, file);
      code = code != 0 ? code : set_attributes(&attributes);
      code = code != 0 ? code : posix_spawn(&pid, program, &files, &attributes, argv, environment);
      posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
  }
  free((void*)environment);
  if (code != 0) {
    return yoke_fail(sink, yoke__status_of_errno(code), "cannot start %s: %s", program,
                     yoke__errno_text(code));
  }
  out->pid = pid;
  out->start_time = yoke__family_start_time(pid);
  return YOKE_OK;
}

yoke_status yoke__process_fork(int (*run)(const void* argument), const void* argument,
                               yoke_process* out, const yoke_sink* sink) {
  *out = (yoke_process){0};
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGINT, SIGTERM};
    for (size_t i = 0; i < YOKE_COUNT(deadly); i++) {
      signal(deadly[i], SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    yoke__process_limit(0);
    // what waits in buffers is written by the parent alone, also if `run` calls exit
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) {
      dup2(nowhere, STDOUT_FILENO);
    }
    _exit(run(argument));
  }
  if (pid < 0) {
    const int code = errno;
    return yoke_fail(sink, yoke__status_of_errno(code), "cannot start a process: %s",
                     yoke__errno_text(code));
  }
  setpgid(pid, pid);
  out->pid = pid;
  return YOKE_OK;
}

// The group first: while its leader has not been waited for, nobody else can get its number. Then who has left it.
static void reap(yoke_process* process) {
  kill(-process->pid, SIGKILL);
  if (process->mark[0] != '\0') {
    // once it has ended its children have another parent: only the mark shows which of them removes its files
    siginfo_t info;
    while (waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    yoke__family_end(0, process->mark, process->start_time);
  }
  int status = 0;
  struct rusage usage = {0};
  pid_t got = 0;
  do {
    got = wait4(process->pid, &status, 0, &usage);
  } while (got < 0 && errno == EINTR);
  process->is_ended = true;
  if (got == process->pid) {
    process->is_known = true;
    process->signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    process->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    process->peak_memory = (uint64_t)usage.ru_maxrss * 1024;
  }
}

bool yoke__process_has_ended(yoke_process* process) {
  if (process->pid == 0 || process->is_ended) {
    return true;
  }
  siginfo_t info = {0};
  const int code = waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT);
  if (code != 0 && errno == ECHILD) {
    process->is_ended = true;  // the program around us waits for all its children
  } else if (code == 0 && info.si_pid == process->pid) {
    reap(process);
  }
  return process->is_ended;
}

bool yoke__process_wait(yoke_process* process, int64_t timeout_ns) {
  const int64_t end = yoke__os_now_ns() + timeout_ns;
  for (int64_t pause = 50000; !yoke__process_has_ended(process);) {
    if (yoke__os_now_ns() >= end) {
      return false;
    }
    yoke__os_sleep_ns(pause);
    pause += pause < 5000000 ? pause / 4 : 0;
  }
  return true;
}

void yoke__process_kill(yoke_process* process) {
  if (!yoke__process_has_ended(process)) {
    if (process->mark[0] != '\0') {
      yoke__family_end(process->pid, process->mark, process->start_time);
    }
    kill(process->pid, SIGKILL);
    reap(process);
  }
}

// What yoke__process_read starts.
typedef struct reading {
  const char* program;
  char *const *argv, *const *environment;
  int file;
} reading;

static int run_program(const void* argument) {
  const reading* r = argument;
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0 ||
      dup2(r->file, STDOUT_FILENO) < 0) {
    return 1;
  }
  execve(r->program, r->argv, r->environment);
  return 1;
}

bool yoke__process_read(const char* program, char* const argv[], char* const environment[],
                        int64_t timeout_ns, char* to, size_t size) {
  yoke_shared output;
  yoke_process child;
  to[0] = '\0';
  // a file in memory never fills up, as a pipe does
  if (yoke__shared_create(size, &output) < 0) {
    return false;
  }
  const reading r = {program, argv, environment, output.file};
  bool is_done = yoke__process_fork(run_program, &r, &child, NULL) >= 0;
  if (is_done && !yoke__process_wait(&child, timeout_ns)) {
    yoke__process_kill(&child);
    is_done = false;
  }
  if (is_done) {
    memcpy(to, output.bytes, size);
    to[size - 1] = '\0';
  }
  yoke__shared_close(&output);
  return is_done;
}

bool yoke__process_is_out_of_time(const yoke_process* process) {
  return process->signal_number == SIGXCPU;
}

bool yoke__process_is_killed(const yoke_process* process) {
  return process->signal_number == SIGKILL;
}

const char* yoke__signal_text(int signal_number) {
  switch (signal_number) {
  case SIGSEGV:
    return "segmentation fault";
  case SIGABRT:
    return "abort";
  case SIGFPE:
    return "arithmetic error";
  case SIGBUS:
    return "bus error";
  case SIGILL:
    return "illegal instruction";
  case SIGKILL:
    return "killed from outside, or the machine ran out of memory";
  case SIGTERM:
    return "asked to end";
  case SIGSYS:
    return "forbidden system call";
  case SIGTRAP:
    return "trap";
  case SIGXCPU:
    return "limit of computing time";
  case SIGALRM:
  case SIGVTALRM:
  case SIGPROF:
    return "a timer ran out";
  case SIGUSR1:
  case SIGUSR2:
    return "user-defined signal";
  default:
    return "no usual one";
  }
}

// ---------------------------------------------------------------------------------------------------------
// in the new process

typedef struct watch {
  int parent;
  int descriptor;  // of the parent's process; -1 where the kernel offers none
  void (*tick)(void*);
  void* context;
} watch;

#define TICK_MS 50

// The descriptor only wakes the thread; whether the parent has ended is asked of the kernel. The unit may close the
// descriptor, and its number may become that of another file: then the thread looks now and then.
static void watch_parent(void* argument) {
  const watch* w = argument;
  struct pollfd wanted = {.fd = w->descriptor, .events = POLLIN};
  for (;;) {
    const int timeout = w->tick != NULL || wanted.fd < 0 ? TICK_MS : -1;
    const int n = poll(&wanted, 1, timeout);
    if (getppid() != w->parent) {
      yoke__family_end((int)getpid(), NULL, 0);
      kill(0, SIGKILL);
    } else if (n > 0) {
      wanted.fd = -1;
    } else if (w->tick != NULL) {
      w->tick(w->context);
    }
  }
}

yoke_status yoke__process_attach(int parent, int file, void (*tick)(void*), void* context) {
#ifdef SYS_close_range
  syscall(SYS_close_range, (unsigned)file + 1, ~0u, 0);
#else
  (void)file;
#endif
  // for programs that foreign code starts there is nothing in it; copies of this process that leave it stay its children
  if (file > STDERR_FILENO) {
    fcntl(file, F_SETFD, FD_CLOEXEC);
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  int descriptor = -1;
#ifdef SYS_pidfd_open
  descriptor = (int)syscall(SYS_pidfd_open, parent, 0);
#endif
  // it may have ended before; asked for after the descriptor was made, so that it is nobody else's
  if (getppid() != parent) {
    return YOKE_IO;
  }
  watch* w = malloc(sizeof *w);
  yoke_thread* thread = NULL;
  YOKE_TRY_MEMORY(w);
  *w = (watch){parent, descriptor, tick, context};
  const yoke_status status = yoke__os_thread_start(watch_parent, w, &thread);
  if (status < 0) {
    free(w);
  }
  // both live as long as the process
  return status;  // NOLINT(clang-analyzer-unix.Malloc)
}

void yoke__process_stay_with(int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // asked for after that: it may have ended before
  if (getppid() != parent) {
    _exit(EXIT_FAILURE);
  }
  // reports of a sanitizer are for people
  const int nowhere = YOKE_HAS_SANITIZER ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, STDERR_FILENO);
  }
}

void yoke__process_limit(uint64_t max_memory) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  struct rlimit limit;
  if (max_memory > 0 && getrlimit(RLIMIT_AS, &limit) == 0) {
    const rlim_t wanted = (rlim_t)(yoke__process_memory() + max_memory);
    if (limit.rlim_max == RLIM_INFINITY || wanted < limit.rlim_max) {
      limit.rlim_cur = limit.rlim_max = wanted;
      setrlimit(RLIMIT_AS, &limit);
    }
  }
}

void yoke__process_limit_time(int seconds) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_CPU, &limit) == 0 &&
      (limit.rlim_cur == RLIM_INFINITY || (rlim_t)seconds < limit.rlim_cur)) {
    // the second limit ends a process that ignores the first
    limit.rlim_cur = (rlim_t)seconds;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > limit.rlim_cur + 5) {
      limit.rlim_max = limit.rlim_cur + 5;
    }
    signal(SIGXCPU, SIG_DFL);
    setrlimit(RLIMIT_CPU, &limit);
  }
}

uint64_t yoke__process_memory(void) {
  char text[128] = "";
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const ssize_t n = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0) {
    close(file);
  }
  return n > 0 ? strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

int yoke__process_id(void) {
  return (int)getpid();
}

// cuts the last part of a path
static void keep_directory(char* path) {
  char* slash = strrchr(path, '/');
  *(slash == NULL ? path : slash) = '\0';
}

void yoke__process_directory(char* to, size_t size) {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  path[n > 0 ? n : 0] = '\0';
  keep_directory(path);
  snprintf(to, size, "%s", path);
}

void yoke__process_library_directory(char* to, size_t size) {
  // any object of this file will do: it tells which library holds it
  static const char here;
  char path[PATH_MAX] = "";
  Dl_info info;
  if (dladdr(&here, &info) != 0 && info.dli_fname != NULL &&
      realpath(info.dli_fname, path) == NULL) {
    path[0] = '\0';
  }
  keep_directory(path);
  snprintf(to, size, "%s", path);
}

void yoke__process_loader(char* to, size_t size) {
  Dl_info info;
  const uintptr_t base = getauxval(AT_BASE);  // 0: a static program
  const void* address = NULL;
  memcpy(&address, &base, sizeof address);
  const bool is_known = address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL;
  snprintf(to, size, "%s", is_known ? info.dli_fname : "");
}

bool yoke__process_is_program(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}
