// Functions of the standard library that foreign code must not have for itself. Foreign libraries find these before those of
// the standard library; for our own code, and for processes that foreign code forks, they do what they always do. Sanitizers
// have their own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/base_crash.h"

#if !YOKE_HAS_SANITIZER
#define EXPORTED __attribute__((visibility("default")))

// ---- the end of the process without handlers

void _exit(int status);
void _Exit(int status);

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
EXPORTED _Noreturn void _exit(int status) {
  yoke__crash_exit_called("_exit", status & 0xff);
  yoke__crash_end(status);
}

EXPORTED _Noreturn void _Exit(int status) {
  yoke__crash_exit_called("_Exit", status & 0xff);
  yoke__crash_end(status);
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

// ---- handlers: what ends a run stays ours, and nobody makes a fault end the process without a word

// Own names in C: the library's declarations stay its own.
EXPORTED int keep_action(int number, const struct sigaction* action,
                         struct sigaction* old) __asm__("sigaction");
EXPORTED __sighandler_t keep_handler(int number, __sighandler_t handler) __asm__("signal");

typedef int sigaction_function(int, const struct sigaction*, struct sigaction*);

static sigaction_function* find_real(void) {
  static sigaction_function* real;
  if (real == NULL) {
    void* found = dlsym(RTLD_NEXT, "sigaction");
    memcpy(&real, &found, sizeof real);
  }
  return real;
}

int keep_action(int number, const struct sigaction* action, struct sigaction* old) {
  const bool is_none = action != NULL && (action->sa_flags & SA_SIGINFO) == 0 &&
                       (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
  if (action != NULL && yoke__crash_keeps_handler(number, is_none)) {
    if (old != NULL) {
      memset(old, 0, sizeof *old);  // SIG_DFL
    }
    return 0;
  }
  sigaction_function* real = find_real();
  if (real == NULL) {
    errno = ENOSYS;
    return -1;
  }
  return real(number, action, old);
}

// as the C library has it: the handler stays, calls of the system go on
__sighandler_t keep_handler(int number, __sighandler_t handler) {
  struct sigaction action, old;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, number);
  return keep_action(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}
#endif
