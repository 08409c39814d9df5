// A fixed set of threads that run one function together and meet at its end. Thread 0 is the caller.
// A meeting spins briefly, then waits on a futex; with one thread a run is a plain call.
#ifndef YOKE_BASE_POOL_H
#define YOKE_BASE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "yoke/status.h"

typedef struct yoke_pool yoke_pool;
typedef void (*yoke_pool_job)(void* context, int thread);

// n threads in all, the caller included. Stepping threads flush denormals.
yoke_status yoke__pool_create(int n, yoke_pool** out);
// n more threads beside those, numbered behind them, once. They sleep until they are given something.
yoke_status yoke__pool_add(yoke_pool* pool, int n);
// job(context, thread) once on every thread; returns when all are done. No heap, no lock.
void yoke__pool_run(yoke_pool* pool, yoke_pool_job job, void* context);
// The same on the threads of yoke__pool_create alone.
void yoke__pool_run_crew(yoke_pool* pool, yoke_pool_job job, void* context);

// A thread of yoke__pool_add that has nothing to do gets a job; nobody waits. One system call.
void yoke__pool_start(yoke_pool* pool, int thread, yoke_pool_job job, void* context);
// A futex: 1 while it works, then 0; what the job wrote may be read then.
_Atomic uint32_t* yoke__pool_busy(const yoke_pool* pool, int thread);
void yoke__pool_join(const yoke_pool* pool, int thread);
// A job on one thread of any kind; returns when it is done. False: that thread is at work, and may_wait is false, or it was lost.
bool yoke__pool_run_on(yoke_pool* pool, int thread, bool may_wait, yoke_pool_job job,
                       void* context);
// Its job may never end: from here on nobody waits for it. yoke__pool_run leaves it out, and nothing that it may touch can be
// freed, until it has come back.
void yoke__pool_lose(yoke_pool* pool, int thread);
bool yoke__pool_has_lost(const yoke_pool* pool);
void yoke__pool_destroy(yoke_pool** pool);

#endif
