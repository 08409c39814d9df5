// Temporary folders: removed by their owner with whatever lies in them, by the watcher when the owner is killed, by the
// next process when the watcher is gone too; nobody else's folder is touched and no zombie stays. Works with TMPDIR in a
// folder of its own below the present one.
#define _GNU_SOURCE
#include "base/base_message.h"
#include "base/base_temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base_os.h"
#include "support/check.h"
#include "support/heard.h"

#define PATIENCE 30.0  // s until a watcher must have had its turn on a busy machine

static char root[PATH_MAX];
static bool fork_fails;
static int64_t setsid_delay_ns;

// stands in front of libc's, so that a machine without room for another process can be played
YOKE_API pid_t fork(void) {
  if (fork_fails) {
    errno = EAGAIN;
    return -1;
  }
  return _Fork();
}

// the watcher stays in the process group of its owner for a while, as on a machine that is busy with other things
YOKE_API pid_t setsid(void) {
  yoke__os_sleep_ns(setsid_delay_ns);
  return (pid_t)syscall(SYS_setsid);
}

static int make_root(void** state) {
  (void)state;
  char name[64] = "temp_test_XXXXXX";
  return mkdtemp(name) == NULL || realpath(name, root) == NULL || setenv("TMPDIR", root, 1) != 0;
}

static int remove_root(void** state) {
  (void)state;
  return rmdir(root);  // every test leaves it empty
}

static size_t count_files(const char* path) {
  DIR* list = opendir(path);
  assert_non_null(list);
  size_t n = 0;
  while (readdir(list) != NULL) {
    n++;
  }
  closedir(list);
  return n - 2;
}

static void check_empty_root(void) {
  const size_t n = count_files(root);
  if (n != 0) {
    fail_msg("%zu folders are left in %s", n, root);
  }
}

// true once nothing is left in root, within the time
static bool becomes_empty(double seconds) {
  const int64_t end = yoke__os_now_ns() + (int64_t)(1e9 * seconds);
  while (count_files(root) > 0) {
    if (yoke__os_now_ns() > end) {
      return false;
    }
    yoke__os_sleep_ns(2000000);
  }
  return true;
}

// no child of this process is left, alive or dead
static void check_no_children(void) {
  errno = 0;
  const pid_t pid = waitpid(-1, NULL, WNOHANG);
  if (pid != -1 || errno != ECHILD) {
    fail_msg("waitpid = %d: a child is left", (int)pid);
  }
}

static yoke_temp* create(void) {
  HEAR(err);
  yoke_temp* temp = NULL;
  if (yoke__temp_create(&temp, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  return temp;
}

static void write_text(const char* folder, const char* name, const char* text) {
  char path[PATH_MAX + 256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static void owner_removes_its_folder(void** state) {
  (void)state;
  yoke_temp* temp = create();
  struct stat info;
  assert_int_equal(stat(yoke__temp_path(temp), &info), 0);
  assert_true(S_ISDIR(info.st_mode));
  assert_int_equal(info.st_mode & 0777, 0700);
  assert_int_equal(count_files(yoke__temp_path(temp)), 0);
  assert_memory_equal(yoke__temp_path(temp), root, strlen(root));

  // two at a time are two folders
  yoke_temp* other = create();
  assert_string_not_equal(yoke__temp_path(temp), yoke__temp_path(other));
  write_text(yoke__temp_path(temp), "a", "x");
  yoke__temp_remove(&temp);
  assert_null(temp);
  assert_int_equal(count_files(root), 1);
  assert_int_equal(count_files(yoke__temp_path(other)), 0);
  yoke__temp_remove(&other);
  yoke__temp_remove(&other);
  check_empty_root();
  check_no_children();
}

// files, links to folders outside, folders nobody may read, and a depth beyond the number of descriptors
static void everything_inside_goes(void** state) {
  (void)state;
  yoke_temp* temp = create();
  yoke_temp* outside = create();
  write_text(yoke__temp_path(outside), "stays", "x");
  const int top = open(yoke__temp_path(temp), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_true(top >= 0);
  assert_int_equal(symlinkat(yoke__temp_path(outside), top, "link"), 0);
  assert_int_equal(mkdirat(top, "closed", 0700), 0);
  assert_int_equal(mkdirat(top, "closed/in", 0700), 0);
  assert_int_equal(symlinkat("../../..", top, "closed/in/up"), 0);
  assert_int_equal(fchmodat(top, "closed/in", 0, 0), 0);
  assert_int_equal(fchmodat(top, "closed", 0, 0), 0);
  assert_int_equal(mkfifoat(top, "pipe", 0600), 0);
  int folder = dup(top);
  for (int i = 0; i < 200; i++) {
    assert_int_equal(mkdirat(folder, "d", 0700), 0);
    assert_int_equal(close(openat(folder, "f", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
    const int next = openat(folder, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(next >= 0);
    close(folder);
    folder = next;
  }
  close(folder);
  close(top);
  struct rlimit old;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
  const struct rlimit few = {64, old.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  yoke__temp_remove(&temp);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
  assert_int_equal(count_files(root), 1);
  assert_int_equal(count_files(yoke__temp_path(outside)), 1);
  yoke__temp_remove(&outside);
  check_empty_root();
}

// Starts a process that owns n folders with something in them and waits; returns when they are there.
static pid_t start_owner(int n) {
  int ready[2];
  assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
  fflush(stdout);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    YOKE_CATCH(err);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a failing test leaves none behind
    signal(SIGSEGV, SIG_DFL);          // cmocka catches it
    for (int i = 0; i < n; i++) {
      yoke_temp* temp = NULL;
      if (yoke__temp_create(&temp, &err.sink) < 0) {
        _exit(1);
      }
      char path[PATH_MAX + 16];
      snprintf(path, sizeof path, "%s/file", yoke__temp_path(temp));
      close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
    if (write(ready[1], "x", 1) != 1) {
      _exit(1);
    }
    for (;;) {
      pause();
    }
  }
  close(ready[1]);
  char byte = 0;
  assert_int_equal(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  return pid;
}

// pid: of the owner, or minus that of its group
static void end_owner(pid_t pid, int signal_number) {
  assert_int_equal(kill(pid, signal_number), 0);
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), abs(pid));
  assert_true(WIFSIGNALED(status));
}

static void killed_owner_leaves_nothing(void** state) {
  (void)state;
  static const int signals[] = {SIGKILL, SIGTERM, SIGSEGV};
  for (size_t i = 0; i < 3; i++) {
    const pid_t pid = start_owner(3);
    assert_int_equal(count_files(root), 3);
    end_owner(pid, signals[i]);
    const int64_t begin = yoke__os_now_ns();
    if (!becomes_empty(PATIENCE)) {
      fail_msg("%zu of 3 folders are left after signal %d", count_files(root), signals[i]);
    }
    print_message("signal %d: gone after %.1f ms\n", signals[i],
                  1e-6 * (double)(yoke__os_now_ns() - begin));
  }
}

// A signal to the whole process group of the owner, which ends the watcher too as long as that belongs to it: before the
// folder is there, and as soon as it is there.
static void killed_group_leaves_nothing(void** state) {
  (void)state;
  static const int pauses_ms[] = {0, 100, -1};  // -1: when the owner has its folder
  for (size_t i = 0; i < 3; i++) {
    int ready[2];
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    fflush(stdout);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      YOKE_CATCH(err);
      yoke_temp* temp = NULL;
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      setpgid(0, 0);
      setsid_delay_ns = pauses_ms[i] < 0 ? INT64_C(300000000) : INT64_C(10000000000);
      if (pauses_ms[i] >= 0 && write(ready[1], "x", 1) != 1) {
        _exit(1);
      }
      if (yoke__temp_create(&temp, &err.sink) < 0 || write(ready[1], "x", 1) != 1) {
        _exit(1);
      }
      for (;;) {
        pause();
      }
    }
    close(ready[1]);
    char byte = 0;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    yoke__os_sleep_ns(pauses_ms[i] > 0 ? pauses_ms[i] * INT64_C(1000000) : 0);
    end_owner(-pid, SIGKILL);
    if (!becomes_empty(PATIENCE)) {
      fail_msg("a folder is left after a kill of the group %d ms after the start", pauses_ms[i]);
    }
  }
}

// a process that ends without removing its folder
static void forgotten_folder_goes(void** state) {
  (void)state;
  fflush(stdout);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    YOKE_CATCH(err);
    yoke_temp* temp = NULL;
    _exit(yoke__temp_create(&temp, &err.sink) < 0);
  }
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  assert_true(becomes_empty(PATIENCE));
}

// A child of the owner inherits everything, but the folder ends with the owner; nor can the child remove it.
static void children_are_not_owners(void** state) {
  (void)state;
  yoke_temp* temp = create();
  fflush(stdout);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    yoke__temp_remove(&temp);
    _exit(temp == NULL ? 0 : 1);
  }
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  assert_true(yoke__os_is_directory(yoke__temp_path(temp)));
  yoke__temp_remove(&temp);
  check_empty_root();

  // an owner whose child lives on with all its descriptors
  int ready[2];
  assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    YOKE_CATCH(err);
    const yoke_status made = yoke__temp_create(&temp, &err.sink);
    const pid_t child = made < 0 ? -1 : fork();
    if (child == 0) {
      for (;;) {
        pause();
      }
    }
    _exit(write(ready[1], &child, sizeof child) != (ssize_t)sizeof child);
  }
  close(ready[1]);
  pid_t child = -1;
  assert_int_equal(read(ready[0], &child, sizeof child), sizeof child);
  close(ready[0]);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  const bool is_gone = becomes_empty(PATIENCE);
  if (child > 0) {
    kill(child, SIGKILL);
  }
  assert_true(is_gone);
}

// The watcher keeps no file of its owner open: who reads the owner's output sees its end at once.
static void watcher_holds_nothing(void** state) {
  (void)state;
  int output[2];
  assert_int_equal(pipe2(output, O_CLOEXEC), 0);
  yoke_temp* temp = create();
  close(output[1]);
  char byte = 0;
  const int flags = fcntl(output[0], F_GETFL);
  assert_int_equal(fcntl(output[0], F_SETFL, flags | O_NONBLOCK), 0);
  ssize_t got = -1;
  for (int i = 0; i < 1000 && got != 0; i++) {
    got = read(output[0], &byte, 1);  // EAGAIN as long as somebody could write
    yoke__os_sleep_ns(1000000);
  }
  assert_int_equal(got, 0);
  close(output[0]);
  yoke__temp_remove(&temp);
}

// ---------------------------------------------------------------------------------------------------------
// folders left behind

// the process group of a watcher is its own; it is the child of the owner
static void kill_children_of(pid_t owner) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)owner, (int)owner);
  FILE* file = fopen(path, "r");
  if (file == NULL) {
    skip();  // a kernel without the list
  }
  char text[512] = "";
  const size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = '\0';
  char* at = text;
  size_t n_killed = 0;
  for (long child = strtol(at, &at, 10); child > 0; child = strtol(at, &at, 10)) {
    assert_int_equal(kill((pid_t)child, SIGKILL), 0);
    n_killed++;
  }
  assert_int_equal(n_killed, 2);
}

static void stale_folders_are_removed(void** state) {
  (void)state;
  const pid_t alive = start_owner(1);
  const pid_t pid = start_owner(2);
  kill_children_of(pid);
  end_owner(pid, SIGKILL);
  yoke__os_sleep_ns(20000000);
  assert_int_equal(count_files(root), 3);  // two of them without owner and watcher

  yoke_temp* temp = create();
  assert_int_equal(count_files(root), 2);  // the living one and the new one
  yoke__temp_remove(&temp);
  assert_int_equal(count_files(root), 1);
  end_owner(alive, SIGKILL);
  assert_true(becomes_empty(PATIENCE));
}

static void make_old(const char* path) {
  const struct timespec times[2] = {{time(NULL) - 100, 0}, {time(NULL) - 100, 0}};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

// Folders of that name which were not made here, or may just be in the making, stay.
static void other_folders_stay(void** state) {
  (void)state;
  static const char* const names[] = {"yoke-backup", "yoke-young1", "yoke-locked",
                                      "yoke-unfin1", "yoke-unfin2", "yoke-results"};
  static const bool stays[] = {true, true, true, false, false, true};
  char paths[6][PATH_MAX + 64];
  for (size_t i = 0; i < 6; i++) {
    snprintf(paths[i], sizeof paths[i], "%s/%s", root, names[i]);
    assert_int_equal(mkdir(paths[i], 0700), 0);
  }
  write_text(paths[0], "thesis", "three years of work");
  char lock[PATH_MAX + 128];
  snprintf(lock, sizeof lock, "%s/yoke-temp.lock", paths[2]);
  const int held = open(lock, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  assert_int_equal(flock(held, LOCK_EX), 0);
  write_text(paths[4], "yoke-temp.lock.new", "");
  for (size_t i = 0; i < 6; i++) {
    if (i != 1) {
      make_old(paths[i]);
    }
  }
  char link[PATH_MAX + 64];
  snprintf(link, sizeof link, "%s/yoke-abcdef", root);
  assert_int_equal(symlink("yoke-backup", link), 0);

  yoke_temp* temp = create();
  yoke__temp_remove(&temp);
  for (size_t i = 0; i < 6; i++) {
    if (yoke__os_is_directory(paths[i]) != stays[i]) {
      fail_msg("%s %s", names[i], stays[i] ? "is gone" : "is still there");
    }
  }
  assert_int_equal(count_files(paths[0]), 1);
  assert_int_equal(unlink(link), 0);

  // with its lock free it was made here, and goes
  close(held);
  temp = create();
  yoke__temp_remove(&temp);
  assert_false(yoke__os_is_directory(paths[2]));
  char thesis[PATH_MAX + 128];
  snprintf(thesis, sizeof thesis, "%s/thesis", paths[0]);
  assert_int_equal(unlink(thesis), 0);
  assert_int_equal(rmdir(paths[0]), 0);
  assert_int_equal(rmdir(paths[1]), 0);
  assert_int_equal(rmdir(paths[5]), 0);
}

// 64 at a time: a start does not take minutes
static void stale_removal_is_bounded(void** state) {
  (void)state;
  for (int i = 0; i < 100; i++) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/yoke-%06d", root, i);
    assert_int_equal(mkdir(path, 0700), 0);
    write_text(path, "yoke-temp.lock", "");
  }
  yoke_temp* temp = create();
  assert_int_equal(count_files(root), 100 - 64 + 1);
  yoke__temp_remove(&temp);
  temp = create();
  yoke__temp_remove(&temp);
  check_empty_root();
}

static void places_that_do_not_work(void** state) {
  (void)state;
  HEAR(err);
  yoke_temp* temp = NULL;
  setenv("TMPDIR", "/nowhere/at/all", 1);
  assert_int_equal(yoke__temp_create(&temp, &err.sink), YOKE_IO);
  assert_null(temp);
  check_contains(err.text, "/nowhere/at/all");
  setenv("TMPDIR", "/dev/null", 1);
  assert_int_equal(yoke__temp_create(&temp, &err.sink), YOKE_IO);
  check_contains(err.text, "/dev/null");

  // a relative one is resolved at once: the process may change its folder
  const char* last = strrchr(root, '/') + 1;
  setenv("TMPDIR", last, 1);
  temp = create();
  assert_memory_equal(yoke__temp_path(temp), root, strlen(root));
  yoke__temp_remove(&temp);
  setenv("TMPDIR", root, 1);
  check_empty_root();
}

static size_t count_descriptors(void) {
  return count_files("/proc/self/fd");
}

// Without another process there is a folder all the same; if its owner is killed, the next one removes it.
static void works_without_watcher(void** state) {
  (void)state;
  fork_fails = true;
  yoke_temp* temp = create();
  fork_fails = false;
  check_no_children();
  assert_int_equal(count_files(yoke__temp_path(temp)), 0);
  yoke__temp_remove(&temp);
  check_empty_root();

  fflush(stdout);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    YOKE_CATCH(err);
    fork_fails = true;
    _exit(yoke__temp_create(&temp, &err.sink) < 0);
  }
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  assert_int_equal(count_files(root), 1);
  temp = create();
  yoke__temp_remove(&temp);
  check_empty_root();
}

static void nothing_piles_up(void** state) {
  (void)state;
  const size_t n = count_descriptors();
  const int64_t begin = yoke__os_now_ns();
  for (int i = 0; i < 50; i++) {
    yoke_temp* temp = create();
    yoke__temp_remove(&temp);
  }
  print_message("one folder: %.2f ms\n", 1e-6 / 50 * (double)(yoke__os_now_ns() - begin));
  assert_int_equal(count_descriptors(), n);
  check_empty_root();
  check_no_children();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(owner_removes_its_folder),
      cmocka_unit_test(everything_inside_goes),
      cmocka_unit_test(killed_owner_leaves_nothing),
      cmocka_unit_test(killed_group_leaves_nothing),
      cmocka_unit_test(forgotten_folder_goes),
      cmocka_unit_test(children_are_not_owners),
      cmocka_unit_test(watcher_holds_nothing),
      cmocka_unit_test(stale_folders_are_removed),
      cmocka_unit_test(other_folders_stay),
      cmocka_unit_test(stale_removal_is_bounded),
      cmocka_unit_test(places_that_do_not_work),
      cmocka_unit_test(works_without_watcher),
      cmocka_unit_test(nothing_piles_up),
  };
  return cmocka_run_group_tests(tests, make_root, remove_root);
}
