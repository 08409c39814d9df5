// Temporary folders that do not outlive their process (Linux).
//
//   $TMPDIR/yoke-XXXXXX/   mode 0700
//     yoke-temp.lock       flock()ed by the owner as long as it lives
//     files/               what yoke__temp_path names
//
// Three ways to the end of a folder:
//   1. remove: the owner deletes it.
//   2. The owner dies: a watcher process, forked by the owner, waits on one end of a socket pair whose other end only the
//      owner has, and on the owner itself where the kernel offers that (pidfd), because a child of the owner may have
//      inherited the socket. Then it becomes `rm -rf`.
//   3. Both died (the machine went down): the next create, of any process of the same user, finds a folder whose lock
//      is free.
//
// Invariants: (1) The lock file appears under its name only when it is locked already, so a free lock means a dead owner.
// (2) Nothing is deleted that does not hold such a lock file: a folder of the user that happens to be called yoke-backup
// stays. (3) Removal opens folders below their parents and never through links. (4) The watcher makes the folder, after it
// has left the process group of the owner: a signal that ends the whole group never leaves a folder without a watcher.
#define _GNU_SOURCE
#include "base/base_temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base_family.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "base/base_status.h"

#define PREFIX        "yoke-"
#define LOCK          "yoke-temp.lock"
#define LOCK_NEW      "yoke-temp.lock.new"
#define MAX_PASSES    10000  // over one folder; somebody may be filling it all the time
#define MAX_NAMES     60     // tried for one folder
#define N_LETTERS     6      // behind the prefix
#define FILES         "files"
#define MAX_STALE     64     // folders removed per call: a start must not take minutes
#define MIN_AGE_S     60     // a folder without lock may just be in the making
#define MAX_CLOSE     65536  // descriptors closed one by one where close_range is missing
#define OPEN_FOLDER   (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define FIRST_FREE_FD 4  // 0 to 2 are /dev/null, 3 is the socket

struct yoke_temp {
  char folder[PATH_MAX];  // .../yoke-XXXXXX
  char files[PATH_MAX];   // .../yoke-XXXXXX/files
  pid_t owner, watcher;   // watcher is -1 if there is none
  int lock, socket;
};

// ---------------------------------------------------------------------------------------------------------
// removal

static bool is_dots(const char* name) {
  return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

// A folder below `parent`, made readable if its owner forgot to; -1 if it is none.
static int open_folder(int parent, const char* name) {
  int folder = openat(parent, name, OPEN_FOLDER);
  struct stat info;
  if (folder < 0 && errno == EACCES && fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(info.st_mode) && fchmodat(parent, name, 0700, 0) == 0) {
    folder = openat(parent, name, OPEN_FOLDER);
  }
  if (folder >= 0) {
    (void)fchmod(folder, 0700);
  }
  return folder;
}

// Empties the folder `name` below top; the folders in it move up into top under names of their own, so that two
// descriptors are enough for any depth. Then removes it.
static bool remove_folder(int top, const char* name, unsigned long* n_moved) {
  const int folder = open_folder(top, name);
  DIR* list = folder < 0 ? NULL : fdopendir(folder);
  if (list == NULL) {
    if (folder >= 0) {
      close(folder);
    }
    return false;
  }
  const struct dirent* entry = NULL;
  while ((entry = readdir(list)) != NULL) {
    if (is_dots(entry->d_name) || unlinkat(folder, entry->d_name, 0) == 0 || errno != EISDIR) {
      continue;
    }
    char moved[64];
    snprintf(moved, sizeof moved, ".yoke-moved-%lu", (*n_moved)++);
    // one that is not writable cannot move; where this fails, the move may still succeed
    const int failed = fchmodat(folder, entry->d_name, 0700, 0);
    (void)failed;
    (void)renameat(folder, entry->d_name, top, moved);
  }
  closedir(list);
  return unlinkat(top, name, AT_REMOVEDIR) == 0;
}

// Removes all that is in the folder. Goes over it again until nothing is left or nothing more can be removed.
static void empty_folder(int top) {
  unsigned long n_moved = 0;
  bool has_progress = true;
  for (int pass = 0; has_progress && pass < MAX_PASSES; pass++) {
    has_progress = false;
    const int again = openat(top, ".", OPEN_FOLDER);
    DIR* list = again < 0 ? NULL : fdopendir(again);
    if (list == NULL) {
      if (again >= 0) {
        close(again);
      }
      return;
    }
    const struct dirent* entry = NULL;
    while ((entry = readdir(list)) != NULL) {
      if (!is_dots(entry->d_name) &&
          (unlinkat(top, entry->d_name, 0) == 0 || remove_folder(top, entry->d_name, &n_moved))) {
        has_progress = true;
      }
    }
    closedir(list);
  }
}

// What lies in the folder goes first and its lock last: as long as something is left, the lock tells whose it is.
static void remove_all(int parent, const char* name) {
  const int folder = open_folder(parent, name);
  if (folder < 0) {
    return;
  }
  const int files = open_folder(folder, FILES);
  if (files >= 0) {
    empty_folder(files);
    close(files);
  }
  empty_folder(folder);
  close(folder);
  (void)unlinkat(parent, name, AT_REMOVEDIR);
}

// ---------------------------------------------------------------------------------------------------------
// folders left behind

// True if the owner of a folder made here is dead. Takes its lock, so that only one process removes it.
static bool take_lock(int folder, int* lock) {
  struct stat info;
  *lock = openat(folder, LOCK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  return *lock >= 0 && fstat(*lock, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0 &&
         flock(*lock, LOCK_EX | LOCK_NB) == 0;
}

// A folder whose making was cut short holds at most a lock file without its final name.
static bool remove_unfinished(int parent, int folder, const char* name) {
  struct stat info;
  if (fstatat(folder, LOCK_NEW, &info, AT_SYMLINK_NOFOLLOW) == 0 && info.st_size == 0) {
    (void)unlinkat(folder, LOCK_NEW, 0);
  }
  return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

static bool remove_if_stale(int parent, const char* name) {
  const int folder = openat(parent, name, OPEN_FOLDER);
  struct stat info;
  bool is_removed = false;
  int lock = -1;
  if (folder >= 0 && fstat(folder, &info) == 0 && info.st_uid == geteuid()) {
    if (take_lock(folder, &lock)) {
      remove_all(parent, name);
      is_removed = true;
    } else if (lock < 0 && time(NULL) - info.st_mtime > MIN_AGE_S) {
      is_removed = remove_unfinished(parent, folder, name);
    }
  }
  if (lock >= 0) {
    close(lock);
  }
  if (folder >= 0) {
    close(folder);
  }
  return is_removed;
}

static bool has_our_form(const char* name) {
  return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && strlen(name) == strlen(PREFIX) + N_LETTERS;
}

static void remove_stale(const char* directory) {
  DIR* list = opendir(directory);
  if (list == NULL) {
    return;
  }
  int n_removed = 0;
  const struct dirent* entry = NULL;
  while (n_removed < MAX_STALE && (entry = readdir(list)) != NULL) {
    if (has_our_form(entry->d_name)) {
      n_removed += remove_if_stale(dirfd(list), entry->d_name);
    }
  }
  closedir(list);
}

// ---------------------------------------------------------------------------------------------------------
// the watcher

// All descriptors from `first` on.
static void close_from(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) {
    return;
  }
#endif
  const long limit = sysconf(_SC_OPEN_MAX);
  const int n = limit < 0 || limit > MAX_CLOSE ? MAX_CLOSE : (int)limit;
  for (int file = first; file < n; file++) {
    close(file);
  }
}

// The life of the watcher. Only async-signal-safe calls: other threads of the owner may hold any lock. Interrupts are for
// the owner; the watcher ends by itself when the owner does. Makes the folder and sends errno, 0 if it is made.
static _Noreturn void watch(const char* folder, int socket_end, int owner) {
  setsid();
  prctl(PR_SET_NAME, YOKE_FAMILY_EXEMPT);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  for (int i = 1; i < 32; i++) {
    action.sa_handler = i == SIGINT || i == SIGTERM || i == SIGHUP || i == SIGQUIT || i == SIGPIPE
                            ? SIG_IGN
                            : SIG_DFL;
    sigaction(i, &action, NULL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (chdir("/") != 0) {
    _exit(1);
  }

  // keep the socket and the owner's handle, out of the way of 0 to 4, then only these
  const int high = fcntl(socket_end, F_DUPFD, FIRST_FREE_FD + 1);
  const int high_owner = owner < 0 ? -1 : fcntl(owner, F_DUPFD, FIRST_FREE_FD + 1);
  if (high < 0 || dup2(high, 3) != 3) {
    _exit(1);
  }
  if (high_owner >= 0) {
    dup2(high_owner, FIRST_FREE_FD);
  }
  close_from(high_owner >= 0 ? FIRST_FREE_FD + 1 : FIRST_FREE_FD);
  const int null = open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; i++) {
    null < 0 ? close(i) : dup2(null, i);
  }
  const int code = mkdir(folder, 0700) == 0 ? 0 : errno;
  (void)send(3, &code, sizeof code, MSG_NOSIGNAL);
  if (code != 0) {
    _exit(1);
  }

  // a byte says that the folder is gone already; the end of the socket or of the owner, that it is not
  struct pollfd events[] = {{3, POLLIN, 0}, {high_owner >= 0 ? FIRST_FREE_FD : -1, POLLIN, 0}};
  while (poll(events, 2, -1) < 0 && errno == EINTR) {
  }
  char byte = 0;
  if (recv(3, &byte, 1, MSG_DONTWAIT) == 1) {
    _exit(0);
  }
  // without the environment, by which what the owner started is found and ended; again and again, since such a process may
  // still write into it
  static char* const nothing[] = {NULL};
  static const char remove[] =
      "n=0; while [ $n -lt 25 ]; do rm -rf -- \"$0\"; [ -e \"$0\" ] || exit 0; "
      "n=$((n + 1)); sleep 0.2; done";
  execle("/bin/sh", "sh", "-c", remove, folder, (char*)NULL, nothing);
  execle("/bin/rm", "rm", "-rf", "--", folder, (char*)NULL, nothing);
  execle("/usr/bin/rm", "rm", "-rf", "--", folder, (char*)NULL, nothing);
  _exit(1);
}

// A folder that could not be removed here, for want of memory or descriptors, is left to the watcher.
static void stop_watcher(yoke_temp* temp) {
  struct stat info;
  if (temp->socket >= 0) {
    if (lstat(temp->folder, &info) != 0) {
      (void)send(temp->socket, "x", 1, MSG_NOSIGNAL);
    }
    close(temp->socket);
    temp->socket = -1;
  }
  while (temp->watcher > 0 && waitpid(temp->watcher, NULL, 0) < 0 && errno == EINTR) {
  }
  temp->watcher = -1;
}

// Starts the watcher, which makes the folder (invariant 4). Returns 0 or the errno of the watcher's mkdir; -1 if there is
// no watcher.
static int start_watcher(yoke_temp* temp) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return -1;
  }
#ifdef SYS_pidfd_open
  const int owner = (int)syscall(SYS_pidfd_open, getpid(), 0);
#else
  const int owner = -1;
#endif
  // no handler of the owner may run in the child
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  temp->watcher = fork();
  if (temp->watcher == 0) {
    watch(temp->folder, ends[1], owner);
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  close(ends[1]);
  if (owner >= 0) {
    close(owner);
  }
  temp->socket = ends[0];
  int code = -1;  // stays if the watcher was ended
  while (temp->watcher > 0 && recv(temp->socket, &code, sizeof code, MSG_WAITALL) < 0 &&
         errno == EINTR) {
  }
  if (code != 0) {
    stop_watcher(temp);
  }
  return code;
}

// ---------------------------------------------------------------------------------------------------------
// life of a folder

// The lock gets its name when it is locked (invariant 1).
static bool lay_out(yoke_temp* temp) {
  const int folder = open(temp->folder, OPEN_FOLDER);
  if (folder < 0) {
    return false;
  }
  temp->lock = openat(folder, LOCK_NEW, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  const bool is_done = temp->lock >= 0 && flock(temp->lock, LOCK_EX | LOCK_NB) == 0 &&
                       renameat(folder, LOCK_NEW, folder, LOCK) == 0 &&
                       mkdirat(folder, FILES, 0700) == 0;
  const int code = errno;
  close(folder);
  errno = code;
  return is_done;
}

static void release(yoke_temp* temp) {
  if (temp->socket >= 0) {
    close(temp->socket);
  }
  if (temp->lock >= 0) {
    close(temp->lock);
  }
  free(temp);
}

static void fill_random(char name[N_LETTERS]) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) < 0) {
    bits = (uint64_t)time(NULL) * (uint64_t)getpid();
  }
  for (int i = 0; i < N_LETTERS; i++, bits /= sizeof letters - 1) {
    name[i] = letters[bits % (sizeof letters - 1)];
  }
}

// Makes the folder under a name that nothing has yet. Without a watcher it waits for the next run after a kill.
static yoke_status new_folder(const char* directory, yoke_temp* temp, const yoke_sink* sink) {
  temp->owner = getpid();
  temp->watcher = -1;
  temp->lock = temp->socket = -1;
  const char* parent = directory[1] == '\0' ? "" : directory;  // "/" brings its own slash
  const size_t room = sizeof temp->folder - sizeof "/" FILES;
  const int n = snprintf(temp->folder, room, "%s/" PREFIX "XXXXXX", parent);
  if (n < 0 || (size_t)n >= room) {
    return yoke__fail_at(sink, YOKE_IO, (yoke_place){.source = directory},
                         "the name of this temporary folder is too long");
  }
  int code = EEXIST;
  for (int i = 0; code == EEXIST && i < MAX_NAMES; i++) {
    fill_random(temp->folder + n - N_LETTERS);
    code = start_watcher(temp);
    if (code < 0) {
      code = mkdir(temp->folder, 0700) == 0 ? 0 : errno;
    }
  }
  if (code != 0) {
    return yoke__fail_at(sink, yoke__status_of_errno(code), (yoke_place){.source = directory},
                         "cannot make a temporary folder here: %s", yoke__errno_text(code));
  }
  memcpy(temp->files, temp->folder, (size_t)n);
  memcpy(temp->files + n, "/" FILES, sizeof "/" FILES);
  return YOKE_OK;
}

yoke_status yoke__temp_create(yoke_temp** out, const yoke_sink* sink) {
  yoke__os_restore_umask();
  *out = NULL;
  const char* wanted = getenv("TMPDIR");
  wanted = wanted == NULL || wanted[0] == '\0' ? "/tmp" : wanted;
  char directory[PATH_MAX];
  if (realpath(wanted, directory) == NULL) {
    const int code = errno;
    return yoke__fail_at(sink, yoke__status_of_errno(code), (yoke_place){.source = wanted},
                         "cannot use this temporary folder: %s", yoke__errno_text(code));
  }
  remove_stale(directory);
  yoke_temp* temp = calloc(1, sizeof *temp);
  if (temp == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  const yoke_status status = new_folder(directory, temp, sink);
  if (status < 0) {
    free(temp);
    return status;
  }
  if (!lay_out(temp)) {
    const int code = errno;
    const yoke_status failed =
        yoke__fail_at(sink, yoke__status_of_errno(code), (yoke_place){.source = temp->folder},
                      "cannot use this temporary folder: %s", yoke__errno_text(code));
    remove_all(AT_FDCWD, temp->folder);
    stop_watcher(temp);
    release(temp);
    return failed;
  }
  *out = temp;
  return YOKE_OK;
}

const char* yoke__temp_path(const yoke_temp* temp) {
  return temp->files;
}

void yoke__temp_remove(yoke_temp** temp) {
  yoke_temp* own = *temp;
  *temp = NULL;
  if (own == NULL) {
    return;
  }
  // a copy in a forked child is not the owner
  if (own->owner == getpid()) {
    remove_all(AT_FDCWD, own->folder);
    stop_watcher(own);
  }
  release(own);
}
