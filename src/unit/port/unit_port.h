// A unit at the other end of a port: here its variables, there its steps.
//
// Its kind and settings stand in the system file as if it ran here, so that names, types and start values are known, and `yoke rig`
// can play it from the same file. In lock-step the peer advances by exactly one step for each datagram and this end waits for the
// answer.
#ifndef YOKE_UNIT_PORT_H
#define YOKE_UNIT_PORT_H

#include "base/base_arena.h"
#include "base/base_message.h"
#include "unit/port/port_carrier.h"
#include "unit/port/port_signals.h"
#include "yoke/port.h"
#include "yoke/unit.h"

// What an input may be when it is sent.
typedef struct yoke_port_bounds {
  const char* name;
  yoke_place place;        // in the system file
  double min, max, slope;  // slope: change per second; infinite: not limited
} yoke_port_bounds;

typedef struct yoke_port_settings {
  const yoke_port_signals* signals;  // of a machine; NULL: values travel as they lie in memory
  yoke_carrier_kind carrier;
  const char* peer;  // address of the other end
  const char* bind;  // where this end listens; NULL: any free port of loopback
  double timeout_s;  // for an answer; 0: 1 s
  double hello_s;    // for the first answer: the other end may still be starting; 0: 10 s
  const yoke_port_bounds* limits;
  size_t n_limits;
  int64_t most_lost;  // answers missing in a row that end the run; 0: 3
  bool is_paced;      // both ends follow the clock: nobody waits for an answer
  bool has_frames;    // the frames of the unit (yoke_unit_frames) in place of its variables
} yoke_port_settings;

// A table for a unit that `inner` describes and that runs elsewhere. Lives in the arena, which must outlive it. NULL: no memory.
const yoke_unit_ops* yoke__port_wrap(const yoke_unit_ops* inner, const yoke_port_settings* settings,
                                     yoke_arena* arena);
// The run is over: an end that goes by its own clock is told to come to rest, before anything else takes time. Nothing happens if
// the unit has no port.
void yoke__port_halt(const yoke_unit_ops* ops, void* self);
// What the port of a unit has seen; false: the unit has none.
bool yoke__port_look(const yoke_unit_ops* ops, const void* self, yoke_port_info* info);

#endif
