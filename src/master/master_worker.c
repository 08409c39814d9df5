// A thread for work that is too long for an exchange. It sleeps on a semaphore; starting work and asking for its end are
// one operation on a semaphore each, without heap and, while nobody sleeps, without a system call.
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

#include "base/base_os.h"
#include "master/master.h"

typedef struct worker {
  yoke_coupling_worker face;
  yoke_thread* thread;
  sem_t is_wanted, is_done;
  void (*work)(void* argument);  // NULL: the end
  void* argument;
  bool is_running, may_wait;
} worker;

static void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0 && errno == EINTR) {
  }
}

static void serve(void* context) {
  worker* w = context;
  yoke__os_float_mode_set();
  for (;;) {
    wait_for(&w->is_wanted);
    if (w->work == NULL) {
      return;
    }
    w->work(w->argument);
    sem_post(&w->is_done);
  }
}

static void end_work(worker* w) {
  if (w->is_running) {
    wait_for(&w->is_done);
    w->is_running = false;
  }
}

static bool finish(void* context) {
  worker* w = context;
  if (w->may_wait) {
    end_work(w);
  } else if (w->is_running && sem_trywait(&w->is_done) == 0) {
    w->is_running = false;
  }
  return !w->is_running;
}

static void start(void* context, void (*work)(void* argument), void* argument) {
  worker* w = context;
  end_work(w);
  w->work = work;
  w->argument = argument;
  w->is_running = true;
  sem_post(&w->is_wanted);
}

const yoke_coupling_worker* yoke__master_worker_create(bool may_wait) {
  worker* w = calloc(1, sizeof *w);
  if (w == NULL) {
    return NULL;
  }
  w->face = (yoke_coupling_worker){w, start, finish};
  w->may_wait = may_wait;
  sem_init(&w->is_wanted, 0, 0);
  sem_init(&w->is_done, 0, 0);
  if (yoke__os_thread_start(serve, w, &w->thread) < 0) {
    sem_destroy(&w->is_wanted);
    sem_destroy(&w->is_done);
    free(w);
    return NULL;
  }
  return &w->face;
}

void yoke__master_worker_let_wait(const yoke_coupling_worker* face, bool may_wait) {
  if (face != NULL) {
    ((worker*)face->context)->may_wait = may_wait;
  }
}

void yoke__master_worker_destroy(const yoke_coupling_worker* face) {
  if (face == NULL) {
    return;
  }
  worker* w = face->context;
  end_work(w);
  w->work = NULL;
  sem_post(&w->is_wanted);
  yoke__os_thread_join(&w->thread);
  sem_destroy(&w->is_wanted);
  sem_destroy(&w->is_done);
  free(w);
}
