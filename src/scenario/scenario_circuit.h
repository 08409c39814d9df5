// A netlist in the place of a system file: one unit, with the times of its `.tran`.
#ifndef YOKE_SCENARIO_CIRCUIT_H
#define YOKE_SCENARIO_CIRCUIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base_message.h"
#include "scenario/scenario_reader.h"

// The tree of the system file that somebody would write for it; s->netlist keeps what was read. The texts of --set are
// looked at where they change what the times follow from: parameters of the netlist, the solver's step.
// stop: the end of the run [s]; 0: as `.tran` says. Either is reached: where it is no multiple of
// the rows' interval, the run goes on to the next one, and a note says so. Errors go to the reader's messages.
yoke_status yoke__circuit_tree(yoke_scenario* s, const char* const sets[], size_t n_sets,
                               double stop, yoke_reader* reader, yoke_node** root);

// The name that a circuit has for v(Out), I(L1): in small letters, in arena. All others, and those of
// other units, as they are.
const char* yoke__scenario_quantity(const yoke_scenario* s, const char* unit, const char* variable,
                                    yoke_arena* arena);

#endif
