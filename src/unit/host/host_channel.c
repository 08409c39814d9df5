// The shared memory between a caller and the process of its unit: layout, sending, waiting.
//
// The flag and the word follow Dekker's pattern: the sleeper sets its flag, then looks at the word once more; the other one
// raises the word, then looks at the flag. Both pairs are sequentially consistent, so at least one of them sees the other.
//
// How long to spin. A side that had to wake the other one is patient with it; otherwise both could fall into a rhythm in
// which each goes to sleep just before the other one has woken up, and never get out of it. An adaptive side that has spun
// three times in vain (the unit is slow, or all processors are busy) sleeps at once for a number of waits, then tries again;
// each failed try doubles that number, each success halves it.
#include <assert.h>

#include "base/base_os.h"
#include "unit/host/host.h"

#define SPIN_CHECK 32  // looks at the word per look at the clock
// a processor that sleeps takes up to that long to start, a virtual one above all
#define WAKE_NS  INT64_C(300000)
#define MAX_VAIN 3
#define MIN_SKIP 64
#define MAX_SKIP 4096

static size_t align(size_t size) {
  return (size + 63) / 64 * 64;
}

// sizes of the parts in their order
static void size_parts(const host_layout* layout, size_t sizes[5]) {
  sizes[0] = align((size_t)layout->n_u * sizeof(double));
  sizes[1] = align((size_t)layout->n_y * sizeof(double));
  sizes[2] = HOST_MAX_ORDER * sizes[0];
  sizes[3] = align((size_t)layout->n_wanted * sizeof(host_wanted));
  sizes[4] = align((size_t)layout->slots_size);
}

size_t yoke__host_fixed_size(const host_layout* layout) {
  size_t sizes[5], sum = HOST_CONTROL_SIZE;
  size_parts(layout, sizes);
  for (int i = 0; i < 5; i++) {
    sum += sizes[i];
  }
  return sum;
}

void yoke__host_lay_out(host_channel* channel, const host_layout* layout) {
  size_t sizes[5];
  size_parts(layout, sizes);
  channel->layout = *layout;
  unsigned char* at = channel->shared.bytes;
  channel->control = (host_control*)(void*)at;
  at += HOST_CONTROL_SIZE;
  channel->u = (double*)(void*)at;
  channel->y = (double*)(void*)(at + sizes[0]);
  at += sizes[0] + sizes[1];
  for (int i = 0; i < HOST_MAX_ORDER; i++, at += sizes[0]) {
    channel->du[i] = (double*)(void*)at;
  }
  channel->wanted = (host_wanted*)(void*)at;
  channel->slots = at + sizes[3];
  channel->bulk = channel->slots + sizes[4];
  assert(channel->bulk == channel->shared.bytes + yoke__host_fixed_size(layout) &&
         yoke__host_fixed_size(layout) <= channel->shared.size);
  channel->bulk_size = channel->shared.size - yoke__host_fixed_size(layout);
}

yoke_status yoke__host_grow_bulk(host_channel* channel, size_t size) {
  if (size <= channel->bulk_size) {
    return YOKE_OK;
  }
  if (size > SIZE_MAX / 8) {
    return YOKE_NO_MEMORY;
  }
  const host_layout layout = channel->layout;
  YOKE_TRY(yoke__shared_grow(&channel->shared, yoke__host_fixed_size(&layout) + size));
  yoke__host_lay_out(channel, &layout);
  return YOKE_OK;
}

yoke_status yoke__host_follow(host_channel* channel, uint64_t size) {
  if (size <= channel->shared.size) {
    return YOKE_OK;
  }
  const host_layout layout = channel->layout;
  YOKE_TRY(yoke__shared_follow(&channel->shared, (size_t)size));
  yoke__host_lay_out(channel, &layout);
  return YOKE_OK;
}

static bool is_there(_Atomic uint32_t* word, uint32_t wanted) {
  return atomic_load_explicit(word, memory_order_acquire) == wanted;
}

static bool spin(_Atomic uint32_t* word, uint32_t wanted, int64_t spin_ns) {
  // the clock is asked only if the first looks are in vain
  for (int64_t end = 0;;) {
    for (int i = 0; i < SPIN_CHECK; i++) {
      if (is_there(word, wanted)) {
        return true;
      }
      yoke__os_relax();
    }
    const int64_t now = yoke__os_now_ns();
    end = end == 0 ? now + spin_ns : end;
    if (now >= end) {
      return is_there(word, wanted);
    }
  }
}

bool yoke__host_spin(host_wait* wait, _Atomic uint32_t* word, uint32_t wanted) {
  if (wait->spin_ns == 0 || wait->n_to_skip > 0) {
    wait->n_to_skip -= wait->n_to_skip > 0;
    return is_there(word, wanted);
  }
  const bool is_done =
      spin(word, wanted, wait->is_other_woken ? wait->spin_ns + WAKE_NS : wait->spin_ns);
  if (is_done) {
    wait->n_vain = 0;
    wait->n_skip /= 2;
  } else if (wait->is_adaptive && ++wait->n_vain >= MAX_VAIN) {
    wait->n_vain = MAX_VAIN - 1;  // one try after the pause
    wait->n_skip = wait->n_skip < MIN_SKIP ? MIN_SKIP : wait->n_skip * 2;
    wait->n_skip = wait->n_skip < MAX_SKIP ? wait->n_skip : MAX_SKIP;
    wait->n_to_skip = wait->n_skip;
  }
  return is_done;
}

void yoke__host_raise(host_wait* wait, _Atomic uint32_t* word, uint32_t value,
                      _Atomic uint32_t* is_asleep) {
  atomic_store(word, value);
  wait->is_other_woken = atomic_load(is_asleep) != 0;
  if (wait->is_other_woken) {
    yoke__shared_wake(word);
  }
}

void yoke__host_sleep(_Atomic uint32_t* word, uint32_t wanted, _Atomic uint32_t* is_asleep,
                      int64_t timeout_ns) {
  atomic_store(is_asleep, 1);
  const uint32_t seen = atomic_load(word);
  if (seen != wanted) {
    yoke__shared_wait(word, seen, timeout_ns);
  }
  atomic_store(is_asleep, 0);
}
