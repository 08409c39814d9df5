// The caller's end of an isolated unit: the other process and how to call it.
#ifndef YOKE_UNIT_HOST_HOST_LINK_H
#define YOKE_UNIT_HOST_HOST_LINK_H

#include "base/base_histogram.h"
#include "unit/host/host.h"
#include "unit/host/unit_host.h"

// Where a variable lies that is read along with every step; kept here, since shared memory can be overwritten.
typedef struct host_slot {
  uint32_t number;  // in channel.wanted, from 1; 0: none
  uint32_t offset;  // in channel.slots
} host_slot;

typedef struct host_link {
  // what every step touches
  host_channel channel;
  uint32_t n_calls;
  uint32_t applies;    // inputs and derivatives that the unit has not got yet
  bool is_y_known;     // channel.y is what get_outputs would give
  uint32_t n_fetched;  // wanted variables that are up to date
  bool is_after_step;
  bool is_failed;  // nothing can be asked any more
  host_wait wait;
  int64_t timeout_ns;
  double t;  // of the last call that has a time
  // the rest
  yoke_unit_info info;
  yoke_arena arena;
  size_t n_u, n_y;
  host_slot* slots;  // per variable
  uint32_t n_wanted;
  uint32_t slots_used;
  uint32_t known_orders;  // input derivatives that the unit takes: 1u << order
  yoke_process process;
  uint64_t max_memory;
  bool is_cost_told;
  bool is_end_untold;  // failed in terminate: nobody has asked why
  uint64_t n_sleeps;
  yoke_histogram steps, inner;  // [ns]
  yoke_messages messages;       // why the last call failed
} host_link;

// Starts the process, makes the unit in it and agrees on the layout. On failure the sink got the reason; close is still needed.
yoke_status yoke__host_link_open(host_link* link, const yoke_host_plan* plan,
                                 const yoke_unit_args* args, const yoke_sink* sink);
// Asks the process to end, and ends it if it does not.
void yoke__host_link_close(host_link* link);

// One call: gives what is pending to the unit, then the request, and waits for the answer. A negative status of the unit,
// or YOKE_UNIT_FAILED if the process does not answer any more; link->messages say why then.
yoke_status yoke__host_link_call(host_link* link, host_call call, double t, double h, uint64_t a,
                                 uint64_t b);
// Messages that came with the last answer.
void yoke__host_link_receive(const host_link* link, const yoke_sink* sink);
// The same into link->messages; of a failure near the limit of memory also that.
void yoke__host_link_keep(host_link* link, yoke_status status);
// Sends link->messages.
void yoke__host_link_explain(const host_link* link, const yoke_sink* sink);

#endif
