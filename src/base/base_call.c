// Notes of calls into foreign code, one per thread.
#include "base/base_call.h"

#include <math.h>

#include "base/base_check.h"

static _Thread_local yoke_call here = {.t = (double)NAN};
static _Atomic(yoke_call*) threads[512];

yoke_call* yoke__call_here(void) {
  return &here;
}

static void replace(yoke_call* from, yoke_call* to) {
  for (size_t i = 0; i < YOKE_COUNT(threads); i++) {
    yoke_call* found = from;
    if (atomic_compare_exchange_strong(&threads[i], &found, to)) {
      return;
    }
  }
}

void yoke__call_enter_thread(void) {
  replace(NULL, &here);
}

void yoke__call_leave_thread(void) {
  replace(&here, NULL);
}

const yoke_call* yoke__call_find(void) {
  for (size_t i = 0; i < YOKE_COUNT(threads); i++) {
    const yoke_call* call = atomic_load(&threads[i]);
    if (call != NULL && atomic_load_explicit(&call->unit, memory_order_relaxed) != NULL) {
      return call;
    }
  }
  return NULL;
}
