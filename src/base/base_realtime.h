// What the operating system grants to a thread that keeps time: locked memory, a real-time priority, a processor of its own.
// Everything is asked for, nothing is needed; the answers are kept, and all of it can be given back.
#ifndef YOKE_BASE_REALTIME_H
#define YOKE_BASE_REALTIME_H

#include <stdbool.h>
#include <stdint.h>

#define YOKE_REALTIME_PRIORITY 80

typedef enum yoke_grant {
  YOKE_GRANT_NOT_ASKED,
  YOKE_GRANTED,
  YOKE_REFUSED,
} yoke_grant;

extern const char* const yoke__grant_words[];  // "not asked for", "granted", "refused"

// The process: all its memory stays in RAM. Memory that was locked before is left alone, and not given back.
yoke_grant yoke__realtime_lock_memory(void);
void yoke__realtime_unlock_memory(yoke_grant lock);

// The calling thread, and what it had before.
typedef struct yoke_realtime_thread {
  yoke_grant priority;  // SCHED_FIFO
  yoke_grant affinity;  // one processor
  int processor;        // that one
  int old_policy, old_priority;
  uint64_t old_processors[16];
} yoke_realtime_thread;

// rank: 0 for the first thread, whose processor is the last one, 1 for the next. Touches the stack.
void yoke__realtime_enter(yoke_realtime_thread* thread, int rank, bool with_priority);
void yoke__realtime_leave(const yoke_realtime_thread* thread);

// Sleeps until the monotonic clock shows `time_ns`; one system call. A time that is past: returns at once, without one.
void yoke__realtime_sleep_until_ns(int64_t time_ns);

#endif
