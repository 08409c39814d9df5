// A fixed set of threads that run one function together and meet at its end. Thread 0 is the caller.
// A meeting spins briefly, then waits on a futex; with one thread a run is a plain call.
#ifndef YOKE_BASE_POOL_H
#define YOKE_BASE_POOL_H

#include "yoke/status.h"

typedef struct yoke_pool yoke_pool;
typedef void (*yoke_pool_job)(void* context, int thread);

// n threads in all, the caller included. Stepping threads flush denormals.
yoke_status yoke__pool_create(int n, yoke_pool** out);
// job(context, thread) once on every thread; returns when all are done. No heap, no lock.
void yoke__pool_run(yoke_pool* pool, yoke_pool_job job, void* context);
void yoke__pool_destroy(yoke_pool** pool);

#endif
