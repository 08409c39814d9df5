// Crashes and ends of the process that are not ours, and signals from outside: noticed, named, handed to a thread of its own.
// For programs of ours: nothing of this happens unless yoke__crash_watch is called.
//
//   a thread in foreign code        SIGSEGV, exit, pthread_exit ...
//        |  notes what happened, wakes the watching thread, never goes on
//   the watching thread             calls `crashed`, which completes the results and ends the process
//
// SIGINT, SIGTERM and SIGHUP are blocked in all threads of ours; the watching thread waits for them. So they arrive whatever
// foreign code does with handlers; should it unblock them, the handler passes them on. Handlers are looked at every 100 ms.
#ifndef YOKE_BASE_CRASH_H
#define YOKE_BASE_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/status.h"

// Sanitizers have handlers of their own, which stay.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define YOKE_HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define YOKE_HAS_SANITIZER 1
#endif
#endif
#ifndef YOKE_HAS_SANITIZER
#define YOKE_HAS_SANITIZER 0
#endif

enum { YOKE_CRASH_NAME_SIZE = 256 };

typedef struct yoke_crash {
  int signal_number;       // 0: the process or the thread was to end
  const char* function;    // then: "exit", "_exit", "quick_exit", "pthread_exit"
  int exit_status;         // of exit and the like; -1: unknown
  bool is_stack_overflow;  // signal 11 at the end of the stack
  int sender;              // process that sent the signal; 0: none, this one, or the kernel
  char unit[YOKE_CRASH_NAME_SIZE];  // whose code it was; "": unknown, as in its own threads
  uintptr_t code;                   // where it happened; 0: unknown
  const char* operation;            // NULL: unknown
  double t;                         // simulation time [s]; NaN: unknown
} yoke_crash;

// Called by the watching thread.
typedef struct yoke_crash_hooks {
  // Foreign code crashed or ended the process. It stands still; ends the process, with status 1 if it returns.
  void (*crashed)(const yoke_crash* crash);
  // About a second after the first signal from outside the process still lives. May be NULL.
  void (*waiting)(void);
  // A second signal from outside after yoke__os_catch_interrupt. Ends the process; if it returns the signal does. Further
  // signals change nothing for two seconds, then they end the process whatever this does.
  void (*insisted)(int signal_number);
} yoke_crash_hooks;

// Begins to watch, in the main thread and before others are started. Signals that are ignored stay so. The hooks are kept.
yoke_status yoke__crash_watch(const yoke_crash_hooks* hooks);
bool yoke__crash_is_watched(void);
// From now on exit is meant. Crashes are still reported.
void yoke__crash_unwatch(void);
// The watching thread is about to end the process: other threads that ask do not go on.
void yoke__crash_take_over(void);
void yoke__crash_hold(void);
// Handlers and the mask of this thread as they were when it began, should foreign code have changed them.
void yoke__crash_restore(void);
// SIGINT, SIGTERM and SIGHUP are noted (yoke__os_is_interrupted) instead of ending the process.
void yoke__crash_catch_interrupt(void);
bool yoke__crash_is_interrupted(void);

// Every thread of ours: its stack for handlers. Nothing happens while nobody watches.
void yoke__crash_enter_thread(void);
void yoke__crash_leave_thread(void);

// Foreign code calls `function`: never returns if that is watched.
void yoke__crash_exit_called(const char* function, int status);
// From now on `exit` is noticed before handlers that were registered until now run: those of libraries that close files.
void yoke__crash_exit_first(void);
// Foreign code, in this thread, wants another handler: it does not get it for signals from outside, nor none at all
// (is_none: SIG_DFL, SIG_IGN) for a fault.
bool yoke__crash_keeps_handler(int signal_number, bool is_none);
// Ends the process at once, without handlers.
_Noreturn void yoke__crash_end(int status);
// "crashed with signal 11 (segmentation fault) during step" and the like, without unit and time.
void yoke__crash_text(const yoke_crash* crash, char* to, size_t size);

#endif
