// Real-time means of Linux. Refusals are answers here, not errors.
#define _GNU_SOURCE
#include "base/base_realtime.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/base_check.h"
#include "base/base_os.h"

#define NS_PER_S   INT64_C(1000000000)
#define STACK_SIZE (256u * 1024u)  // touched before the first step

const char* const yoke__grant_words[] = {
    [YOKE_GRANT_NOT_ASKED] = "not asked for",
    [YOKE_GRANTED] = "granted",
    [YOKE_REFUSED] = "refused",
};

// Bytes that somebody has locked already [kB].
static long count_locked(void) {
  FILE* file = fopen("/proc/self/status", "re");
  char line[256];
  long n = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    (void)sscanf(line, "VmLck: %ld", &n);  // NOLINT(cert-err34-c): a missing number leaves 0
  }
  if (file != NULL) {
    fclose(file);
  }
  return n;
}

yoke_grant yoke__realtime_lock_memory(void) {
  if (count_locked() > 0) {
    return YOKE_GRANT_NOT_ASKED;
  }
  // what is there now: locking all that comes later would make allocations of others fail
  return mlockall(MCL_CURRENT) == 0 ? YOKE_GRANTED : YOKE_REFUSED;
}

void yoke__realtime_unlock_memory(yoke_grant lock) {
  if (lock == YOKE_GRANTED) {
    munlockall();
  }
}

static YOKE_NOINLINE void touch_stack(void) {
  volatile char room[STACK_SIZE];
  for (size_t i = 0; i < sizeof room; i += 1024) {
    room[i] = 0;
  }
}

static yoke_grant take_processor(yoke_realtime_thread* thread, int rank) {
  cpu_set_t allowed, one;
  _Static_assert(sizeof allowed <= sizeof thread->old_processors, "room for the old set");
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return YOKE_REFUSED;
  }
  memcpy(thread->old_processors, &allowed, sizeof allowed);
  // a lone processor is shared with everybody anyway
  int left = CPU_COUNT(&allowed) - 1 - rank;
  if (left < 0 || CPU_COUNT(&allowed) < 2) {
    return YOKE_GRANT_NOT_ASKED;
  }
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE; i++) {
    if (CPU_ISSET(i, &allowed) && left-- == 0) {
      thread->processor = (int)i;
      CPU_SET(i, &one);
    }
  }
  return sched_setaffinity(0, sizeof one, &one) == 0 ? YOKE_GRANTED : YOKE_REFUSED;
}

static yoke_grant take_priority(yoke_realtime_thread* thread) {
  struct sched_param param;
  if (pthread_getschedparam(pthread_self(), &thread->old_policy, &param) != 0) {
    return YOKE_REFUSED;
  }
  thread->old_priority = param.sched_priority;
  if (thread->old_policy == SCHED_FIFO || thread->old_policy == SCHED_RR) {
    return YOKE_GRANT_NOT_ASKED;  // whoever started us knows better
  }
  param.sched_priority = YOKE_REALTIME_PRIORITY;
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0 ? YOKE_GRANTED
                                                                        : YOKE_REFUSED;
}

void yoke__realtime_enter(yoke_realtime_thread* thread, int rank, bool with_priority) {
  *thread = (yoke_realtime_thread){.processor = -1};
  touch_stack();
  thread->affinity = take_processor(thread, rank);
  thread->priority = with_priority ? take_priority(thread) : YOKE_GRANT_NOT_ASKED;
}

void yoke__realtime_leave(const yoke_realtime_thread* thread) {
  if (thread->priority == YOKE_GRANTED) {
    const struct sched_param param = {.sched_priority = thread->old_priority};
    (void)pthread_setschedparam(pthread_self(), thread->old_policy, &param);
  }
  if (thread->affinity == YOKE_GRANTED) {
    cpu_set_t allowed;
    memcpy(&allowed, thread->old_processors, sizeof allowed);
    (void)sched_setaffinity(0, sizeof allowed, &allowed);
  }
}

void yoke__realtime_sleep_until_ns(int64_t time_ns) {
  const struct timespec until = {(time_t)(time_ns / NS_PER_S), (long)(time_ns % NS_PER_S)};
  while (yoke__os_now_ns() < time_ns &&
         clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}
