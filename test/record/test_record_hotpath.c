// Between open and close the stepping thread makes no heap call and no system call: counted, not
// promised. Heap: malloc and its relatives are replaced in this program (not under sanitizers,
// which replace them, too). System calls: a filter of the kernel ends the process at the first one,
// where such filters are allowed.
#define _GNU_SOURCE

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "record/record_fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_SANITIZER)
#define HAS_COUNTER 1

// calls of this thread
static _Thread_local size_t n_heap_calls;

// the C library's own entries under their second names
// NOLINTBEGIN(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name)
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t n, size_t size);
void* __libc_realloc(void* old, size_t size);
void __libc_free(void* block);

void* malloc(size_t size) {
  n_heap_calls++;
  return __libc_malloc(size);
}

void* calloc(size_t n, size_t size) {
  n_heap_calls++;
  return __libc_calloc(n, size);
}

void* realloc(void* old, size_t size) {
  n_heap_calls++;
  return __libc_realloc(old, size);
}

void free(void* block) {
  n_heap_calls++;
  __libc_free(block);
}
// NOLINTEND(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name)
#endif

#ifndef HAS_SANITIZER
// What the stepping thread of a paced run does: rows where there is room, else a note.
static void step_rows(yoke_record* record, size_t n) {
  for (size_t k = 0; k < n; k++) {
    fixture_row* row = yoke__record_row(record);
    if (row == NULL || yoke__record_has_failed(record)) {
      yoke__record_note_lost(record);
      continue;
    }
    row->time = (double)k;
    row->f = (double)k;
    row->text[0] = '\0';
    yoke__record_commit(record);
  }
}

#endif

static void no_heap_calls(void** state) {
  (void)state;
#ifdef HAS_COUNTER
  // the counter counts
  size_t before = n_heap_calls;
  void* volatile block = malloc(10);
  free(block);
  assert_int_equal(n_heap_calls - before, 2);

  YOKE_CATCH(err);
  yoke_record* record = fixture_open(folder, YOKE_RECORD_CSV);
  before = n_heap_calls;
  step_rows(record, 300000);
  const size_t n_calls = n_heap_calls - before;
  yoke_record_info info;
  yoke__record_close(&record, &info, &err.sink);
  assert_int_equal(n_calls, 0);
  assert_int_equal(info.n_rows + info.n_lost, 300000);
#else
  print_message("heap calls cannot be counted in this build\n");
  skip();
#endif
}

#ifndef HAS_SANITIZER
typedef struct stepping {
  yoke_record* record;
  bool is_spoiled;  // makes a system call on purpose
  _Atomic int progress;
} stepping;

enum { NOT_POSSIBLE = 1, DONE = 2 };

// Only the end of the thread is allowed from here on; anything else ends the process with SIGSYS.
static bool forbid_system_calls(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // number of the call
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog program = {.len = 4, .filter = code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static void step_without_calls(void* arg) {
  stepping* self = arg;
  if (!forbid_system_calls()) {
    atomic_store(&self->progress, NOT_POSSIBLE);
    return;
  }
  step_rows(self->record, 100000);
  if (self->is_spoiled) {
    (void)sched_yield();
  }
  atomic_store(&self->progress, DONE);
  syscall(SYS_exit, 0);
}

// Exit code of a child that steps under the filter: DONE, NOT_POSSIBLE, or minus the signal that
// ended it.
static int run_filtered(bool is_spoiled) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    stepping self = {.record = fixture_open(folder, YOKE_RECORD_CSV), .is_spoiled = is_spoiled};
    yoke_thread* thread = NULL;
    if (yoke__os_thread_start(step_without_calls, &self, &thread) < 0) {
      _exit(NOT_POSSIBLE);
    }
    while (atomic_load(&self.progress) == 0) {
      yoke__os_sleep_ns(1000000);
    }
    _exit(atomic_load(&self.progress));
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

#endif

static void no_system_calls(void** state) {
  (void)state;
#ifdef HAS_SANITIZER
  print_message("sanitizers make system calls of their own\n");
  skip();
#else
  const int spoiled = run_filtered(true);
  if (spoiled == NOT_POSSIBLE) {
    print_message("filters of system calls are not allowed here\n");
    skip();
  }
  assert_int_equal(spoiled, -31);  // SIGSYS: the filter works
  assert_int_equal(run_filtered(false), DONE);
#endif
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_FOLDER(no_heap_calls),
      IN_FOLDER(no_system_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
