// A netlist in the place of a system file: one unit, with the times of its `.tran`.
#ifndef YOKE_SCENARIO_CIRCUIT_H
#define YOKE_SCENARIO_CIRCUIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base_message.h"
#include "scenario/scenario.h"

// True if the name ends as netlists do: .cir, .ckt, .net, .sp, .spice, in any case.
bool yoke__scenario_is_circuit(const char* path);
// The system file that somebody would write for it, malloc'ed. The texts of --set are looked at
// where they change what the times follow from: parameters of the netlist, the solver's step.
// stop: the end of the run [s]; 0: as `.tran` says. Either is reached: where it is no multiple of
// the rows' interval, the run goes on to the next one, and a note says so. Errors go to messages.
yoke_status yoke__scenario_circuit_text(const char* path, const char* const sets[], size_t n_sets,
                                        double stop, yoke_messages* messages, char** text,
                                        size_t* n);

// The name that a circuit has for v(Out), I(L1): in small letters, in arena. All others, and those of
// other units, as they are.
const char* yoke__scenario_quantity(const yoke_scenario* s, const char* unit, const char* variable,
                                    yoke_arena* arena);

#endif
