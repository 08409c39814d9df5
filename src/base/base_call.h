// Which call into foreign code a thread is in, noted by plain stores: whoever looks at a crash or a hang can name unit,
// operation and time. No system call, no lock; nobody reads the note while all goes well.
#ifndef YOKE_BASE_CALL_H
#define YOKE_BASE_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Of one thread. Texts live as long as the call.
typedef struct yoke_call {
  _Atomic(const char*) unit;       // NULL: in no foreign code
  _Atomic(const char*) operation;  // "step"
  double t;                        // simulation time [s], read by the thread itself; NaN: none
  uint64_t float_mode;             // that the thread was last given (base_os.h); 0: never
  uint64_t n_slots;                // of foreign code, since the thread began
} yoke_call;

// The note of this thread.
yoke_call* yoke__call_here(void);

static inline void yoke__call_name(yoke_call* call, const char* unit) {
  atomic_store_explicit(&call->unit, unit, memory_order_relaxed);
}

// What the calls that follow do, and when.
static inline void yoke__call_prepare(yoke_call* call, const char* operation, double t) {
  atomic_store_explicit(&call->operation, operation, memory_order_relaxed);
  call->t = t;
}

// A call inside of another one: gives back what it found.
typedef struct yoke_call_scope {
  yoke_call* call;
  const char *unit, *operation;
} yoke_call_scope;

static inline yoke_call_scope yoke__call_begin(const char* unit, const char* operation) {
  yoke_call* call = yoke__call_here();
  const yoke_call_scope scope = {call, atomic_load_explicit(&call->unit, memory_order_relaxed),
                                 atomic_load_explicit(&call->operation, memory_order_relaxed)};
  yoke__call_name(call, unit);
  atomic_store_explicit(&call->operation, operation, memory_order_relaxed);
  return scope;
}

// The same at a time [s]; NaN: none.
static inline yoke_call_scope yoke__call_begin_at(const char* unit, const char* operation,
                                                  double t) {
  const yoke_call_scope scope = yoke__call_begin(unit, operation);
  scope.call->t = t;
  return scope;
}

static inline void yoke__call_end(const yoke_call_scope* scope) {
  yoke__call_name(scope->call, scope->unit);
  atomic_store_explicit(&scope->call->operation, scope->operation, memory_order_relaxed);
}

// Notes that other threads may look for: of threads that enter and, before their end, leave. Beyond 512 they are not found.
void yoke__call_enter_thread(void);
void yoke__call_leave_thread(void);
// The file that the code of a unit is in, for crashes in threads that it starts itself. The first 256 are kept.
void yoke__call_add_binary(const char* unit, const char* path);
// The unit whose code is at an address; false if there is none, or more than one. Takes no lock.
bool yoke__call_find_binary(uintptr_t code, char* unit, size_t size);
// The note of a thread that is in foreign code now; NULL: there is none.
const yoke_call* yoke__call_find(void);

#endif
