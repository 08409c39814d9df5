// The operating system's part: folders, whole files with limits, renaming, clocks, interrupts. Works
// in a folder of its own below the present one.
#define _GNU_SOURCE
#include "base/base_message.h"
#include "base/base_os.h"

#include <float.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

static char root[64];

static int make_root(void** state) {
  (void)state;
  snprintf(root, sizeof root, "os_test_XXXXXX");
  return mkdtemp(root) == NULL;
}

static int remove_root(void** state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  return system(command);  // NOLINT(cert-env33-c): a name made here
}

static const char* path_of(const char* name) {
  static char paths[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(paths[turn], sizeof paths[turn], "%s/%s", root, name);
  return paths[turn];
}

static void write_file(const char* path, size_t n) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  for (size_t i = 0; i < n; i++) {
    fputc((int)(i * 31 % 256), file);
  }
  assert_int_equal(fclose(file), 0);
}

// ---------------------------------------------------------------------------------------------------------
// folders

static void test_folders_with_parents(void** state) {
  (void)state;
  YOKE_CATCH(err);
  check_ok(yoke__os_make_directory(path_of("a/b/c"), &err.sink));
  assert_true(yoke__os_is_directory(path_of("a/b/c")));
  check_ok(yoke__os_make_directory(path_of("a/b/c"), &err.sink));  // is there already
  check_ok(yoke__os_make_directory(path_of("a//d/"), &err.sink));
  assert_true(yoke__os_is_directory(path_of("a/d")));
  check_ok(yoke__os_make_directory(path_of("./a/../e"), &err.sink));
  assert_true(yoke__os_is_directory(path_of("e")));
  check_ok(yoke__os_make_directory("/", &err.sink));
  check_ok(yoke__os_make_directory(".", &err.sink));
  char whole[PATH_MAX + 128];
  assert_non_null(getcwd(whole, PATH_MAX));
  snprintf(whole + strlen(whole), 128, "/%s/f/g", root);
  check_ok(yoke__os_make_directory(whole, &err.sink));
  assert_true(yoke__os_is_directory(path_of("f/g")));
  assert_string_equal(err.text, "");
}

static void test_folders_that_cannot_be(void** state) {
  (void)state;
  YOKE_CATCH(err);
  write_file(path_of("file"), 3);
  assert_int_equal(yoke__os_make_directory(path_of("file"), &err.sink), YOKE_IO);
  check_contains(err.text, "file");
  check_contains(err.text, "in the way");
  assert_int_equal(yoke__os_make_directory(path_of("file/below"), &err.sink), YOKE_IO);
  check_contains(err.text, "in the way");
  assert_int_equal(yoke__os_make_directory("", &err.sink), YOKE_IO);
  check_contains(err.text, "not a usable folder name");

  // names and paths that are too long
  static char name[PATH_MAX + 100];
  memset(name, 'n', sizeof name - 1);
  assert_int_equal(yoke__os_make_directory(name, &err.sink), YOKE_IO);
  check_contains(err.text, "not a usable folder name");
  name[NAME_MAX + 1] = '\0';
  assert_int_equal(yoke__os_make_directory(name, &err.sink), YOKE_IO);
  check_contains(err.text, "File name too long");

  // a link to nowhere is in the way, too
  assert_int_equal(symlink("nowhere/at/all", path_of("link")), 0);
  assert_int_equal(yoke__os_make_directory(path_of("link"), &err.sink), YOKE_IO);
  assert_false(yoke__os_is_directory(path_of("file")));
  assert_false(yoke__os_is_directory(path_of("missing")));
}

// ---------------------------------------------------------------------------------------------------------
// whole files

static void test_files_are_read_whole(void** state) {
  (void)state;
  // around the sizes at which the room grows
  static const size_t sizes[] = {0,     1,      4096,   65535,  65536, 65537,
                                 70000, 131071, 131072, 131073, 300000};
  YOKE_CATCH(err);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const size_t n = sizes[i];
    write_file(path_of("data"), n);
    static const size_t more[] = {0, 1, 1000000};  // room beyond the file's size
    for (size_t k = 0; k < 3; k++) {
      char* bytes = NULL;
      size_t got = 0;
      check_ok(yoke__os_read_file(path_of("data"), n + more[k], &bytes, &got, &err.sink));
      assert_int_equal(got, n);
      assert_int_equal(bytes[n], 0);
      for (size_t j = 0; j < n; j++) {
        assert_int_equal((unsigned char)bytes[j], j * 31 % 256);
      }
      free(bytes);
    }
    if (n > 0) {
      char* bytes = NULL;
      size_t got = 1;
      assert_int_equal(yoke__os_read_file(path_of("data"), n - 1, &bytes, &got, &err.sink),
                       YOKE_IO);
      assert_null(bytes);
      assert_int_equal(got, 0);
      char want[64];
      snprintf(want, sizeof want, "is larger than %zu bytes", n - 1);
      check_contains(err.text, want);
    }
  }
}

static void test_files_that_cannot_be_read(void** state) {
  (void)state;
  YOKE_CATCH(err);
  char* bytes = NULL;
  size_t n = 7;
  assert_int_equal(yoke__os_read_file(path_of("missing.yaml"), 100, &bytes, &n, &err.sink),
                   YOKE_IO);
  check_contains(err.text, "missing.yaml");
  check_contains(err.text, "No such file");
  assert_true(bytes == NULL && n == 0);
  assert_int_equal(yoke__os_read_file(root, 100, &bytes, &n, &err.sink), YOKE_IO);
  check_contains(err.text, "is a folder");
  assert_true(bytes == NULL && n == 0);
  assert_int_equal(yoke__os_read_file("", 100, &bytes, &n, &err.sink), YOKE_IO);
  write_file(path_of("plain"), 3);
  assert_int_equal(yoke__os_read_file(path_of("plain/below"), 100, &bytes, &n, &err.sink),
                   YOKE_IO);
  assert_true(bytes == NULL && n == 0);

  // a device that never ends is cut off by the limit
  assert_int_equal(yoke__os_read_file("/dev/zero", 100000, &bytes, &n, &err.sink), YOKE_IO);
  check_contains(err.text, "is larger than 100000 bytes");
  assert_null(bytes);
}

static void test_path_join(void** state) {
  (void)state;
  static const struct {
    const char *directory, *whole;
  } cases[] = {{"a", "a/name"}, {"a/b/", "a/b/name"}, {"/", "/name"}, {".", "./name"}};
  char path[16];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const size_t n = strlen(cases[i].whole);
    assert_int_equal(yoke__os_path_join(cases[i].directory, "name", NULL, 0), n);
    assert_int_equal(yoke__os_path_join(cases[i].directory, "name", path, sizeof path), n);
    assert_string_equal(path, cases[i].whole);
  }
  assert_int_equal(yoke__os_path_join("a", "name", path, 4), 6);  // cut
  assert_string_equal(path, "a/n");

  write_file(path_of("is_file"), 1);
  assert_true(yoke__os_is_file(path_of("is_file")));
  assert_false(yoke__os_is_file(root));
  assert_false(yoke__os_is_file(path_of("missing")));
}

static void test_rename(void** state) {
  (void)state;
  YOKE_CATCH(err);
  write_file(path_of("new"), 10);
  write_file(path_of("old"), 20);
  check_ok(yoke__os_rename(path_of("new"), path_of("old"), &err.sink));  // replaces
  char* bytes = NULL;
  size_t n = 0;
  check_ok(yoke__os_read_file(path_of("old"), 100, &bytes, &n, &err.sink));
  assert_int_equal(n, 10);
  free(bytes);

  assert_int_equal(yoke__os_rename(path_of("new"), path_of("x"), &err.sink), YOKE_IO);
  check_contains(err.text, "cannot rename");
  check_contains(err.text, "No such file");
  check_ok(yoke__os_make_directory(path_of("folder/inside"), &err.sink));
  assert_int_equal(yoke__os_rename(path_of("old"), path_of("folder"), &err.sink), YOKE_IO);
  check_contains(err.text, "folder");
  assert_int_equal(yoke__os_rename(path_of("old"), path_of("no/way"), &err.sink), YOKE_IO);
  // a caller that wants no message
  assert_int_equal(yoke__os_rename(path_of("new"), path_of("x"), NULL), YOKE_IO);
}

// ---------------------------------------------------------------------------------------------------------
// clocks, modes, signals

static void test_clocks(void** state) {
  (void)state;
  const int64_t wall = yoke__os_now_ns(), cpu = yoke__os_cpu_ns();
  yoke__os_sleep_ns(20000000);
  const int64_t wall_passed = yoke__os_now_ns() - wall, cpu_passed = yoke__os_cpu_ns() - cpu;
  assert_true(wall_passed >= 20000000);
  assert_true(cpu_passed >= 0 && cpu_passed < wall_passed);
  yoke__os_sleep_ns(0);
  yoke__os_sleep_ns(-5);
  assert_true(yoke__os_n_processors() >= 1);
}

static void test_float_mode(void** state) {
  (void)state;
  // volatile results, too: a compiler may divide after the mode has changed back
  volatile double small = DBL_MIN, flushed = 1, still_flushed = 1;
  assert_true(small / 2 > 0);
  const uint64_t mode = yoke__os_float_mode_set();
  flushed = small / 2;
  const uint64_t inner = yoke__os_float_mode_set();  // calls may nest
  yoke__os_float_mode_restore(inner);
  still_flushed = small / 2;
  yoke__os_float_mode_restore(mode);
  assert_true(flushed == 0 && still_flushed == 0);
  assert_true(small / 2 > 0);
}

// the first interrupt is noted, the second one ends the process
static void test_interrupt(void** state) {
  (void)state;
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    yoke__os_catch_interrupt();
    if (yoke__os_is_interrupted()) {
      _exit(1);
    }
    raise(SIGINT);
    if (!yoke__os_is_interrupted()) {
      _exit(2);
    }
    raise(SIGPIPE);  // of no importance
    raise(SIGINT);
    _exit(3);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFSIGNALED(status)) {
    fail_msg("the child ended with exit status %d", WEXITSTATUS(status));
  }
  assert_int_equal(WTERMSIG(status), SIGINT);
}

// what was ignored at the start stays ignored, the other one is noted
static void test_ignored_interrupt(void** state) {
  (void)state;
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGINT, SIG_IGN);
    yoke__os_catch_interrupt();
    raise(SIGINT);
    raise(SIGINT);
    if (yoke__os_is_interrupted()) {
      _exit(1);
    }
    raise(SIGTERM);
    _exit(yoke__os_is_interrupted() ? 0 : 2);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void note_run(void* context) {
  *(int*)context = 42;
}

static void test_thread(void** state) {
  (void)state;
  int value = 0;
  yoke_thread* thread = NULL;
  check_ok(yoke__os_thread_start(note_run, &value, &thread));
  assert_non_null(thread);
  yoke__os_thread_join(&thread);
  assert_null(thread);
  assert_int_equal(value, 42);
  yoke__os_thread_join(&thread);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_folders_with_parents),
      cmocka_unit_test(test_folders_that_cannot_be),
      cmocka_unit_test(test_files_are_read_whole),
      cmocka_unit_test(test_files_that_cannot_be_read),
      cmocka_unit_test(test_path_join),
      cmocka_unit_test(test_rename),
      cmocka_unit_test(test_clocks),
      cmocka_unit_test(test_float_mode),
      cmocka_unit_test(test_interrupt),
      cmocka_unit_test(test_ignored_interrupt),
      cmocka_unit_test(test_thread),
  };
  return cmocka_run_group_tests_name("base_os", tests, make_root, remove_root);
}
