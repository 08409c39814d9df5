// How `yoke circuit` speaks of the system that it makes of a netlist: not at all.
#ifndef YOKE_APP_CIRCUIT_TELL_H
#define YOKE_APP_CIRCUIT_TELL_H

#include "app/app_system.h"
#include "circuit/circuit_netlist.h"

// What the user wrote, and the unit that it became.
typedef struct yoke_circuit_words {
  const char* path;
  const char* unit;
  const yoke_netlist_parameter* parameters;  // of --set
  size_t n_parameters;
} yoke_circuit_words;

// A `retell` of yoke_app_voice with a yoke_circuit_words as context.
//   --set units.rc.with.r, units.rc.solver.step, time.stop  ->  --set r, --step, --stop
//   unit 'rc' (rc.cir) cannot be initialised: ./rc.cir: error: ...  ->  rc.cir:4: error: ...
// A message without a line gets that of the element or node that it names: 'R1', node 'a', else v(a), i(r1).
void yoke__app_circuit_retell(const yoke_app_voice* voice, yoke_messages* messages);
// A `locate` of it.
void yoke__app_circuit_locate(const yoke_app_voice* voice, const char* text, char* to, size_t size);

#endif
