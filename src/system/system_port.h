// Ports of the system file as the units behind them take them.
#ifndef YOKE_SYSTEM_PORT_H
#define YOKE_SYSTEM_PORT_H

#include "base/base_arena.h"
#include "scenario/scenario.h"
#include "unit/port/port_signals.h"

// The signals of a port without a model. NULL: no memory.
const yoke_port_signals* yoke__system_port_signals(const yoke_scenario_port* port,
                                                   yoke_arena* arena);

#endif
