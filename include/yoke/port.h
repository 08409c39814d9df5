// Ports: units that run in another process or are real machines, and the process at the other end.
//
// A unit with `port: udp` or `port: shm` in the system file exchanges its inputs and outputs with a peer, over UDP or through shared
// memory. `yoke_port_serve` is that peer: it takes the unit from the same file and runs it, one step for each datagram or by the
// clock. The concept page is docs/port.md.
#ifndef YOKE_PORT_H
#define YOKE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/message.h"
#include "yoke/simulation.h"
#include "yoke/status.h"
#include "yoke/system.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a port has seen since the run began.
typedef struct yoke_port_info {
  const char* address;  // where this end listens; lives as long as the unit
  uint64_t n_sent, n_received;
  uint64_t n_lost;       // exchanges without an answer in time: the last values were held
  uint64_t n_missing;    // answers that never came, by their numbers (clock: paced)
  uint64_t n_stale;      // datagrams of an earlier step or an earlier run
  uint64_t n_duplicate;  // the same answer once more
  uint64_t n_refused;    // damaged, cut, or none of ours
  uint64_t n_foreign;    // from an address that is not the peer's
  uint64_t n_overflow;   // lost because nobody read them in time
  uint64_t n_clipped;    // values that `limits` of the file held back
  uint64_t n_round_trips;
  double round_trip_s, round_trip_p99_s, round_trip_max_s;  // median, p99, largest
  double jitter_s, jitter_p99_s,
      jitter_max_s;  // how much longer than the fastest answers took to come
} yoke_port_info;

// What the port of unit i has seen, after the start. YOKE_NO_SUPPORT: the unit has none; YOKE_BAD_ARG: there is no such unit.
YOKE_API yoke_status yoke_simulation_get_port(const yoke_simulation* simulation, size_t unit,
                                              yoke_port_info* out);

typedef struct yoke_serve_settings {
  const char* unit;  // of the system file; NULL: the only one with a port
  const char* bind;  // where to listen; NULL: the `peer` of the file
  bool is_once;      // return after the first run
  double
      pace;  // `clock: paced`: seconds of the unit per second of the clock; 0: as the file says, or 1
  const char*
      directory;  // records every run of the unit here, the last one stays; NULL: nothing is recorded
  // Called about ten times a second, and once when it listens (is_listening) with its address. False ends it. NULL: none.
  bool (*progress)(void* to, const char* address, uint64_t n_steps);
  void* to;
} yoke_serve_settings;

// Plays the unit of a system file at the other end of its port, run after run, until progress says no. YOKE_OK then; YOKE_BAD_INPUT or
// YOKE_IO if it cannot begin. Runs that fail are reported to the peer and to the sink of `load`; serving goes on.
YOKE_API yoke_status yoke_port_serve(const char* path, const yoke_load_settings* load,
                                     const yoke_serve_settings* settings);

#ifdef __cplusplus
}
#endif
#endif
