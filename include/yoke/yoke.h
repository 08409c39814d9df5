// Yoke: real-time co-simulation that can be trusted. All public headers in one.
//
//   status.h, version.h   codes and their texts; versions
//   message.h             everything the library says, as data
//   unit.h, coupling.h    the contracts of units and of coupling methods
//   registry.h            units, methods and result sinks of your own
//   system.h              load a system and look at it
//   simulation.h          step it, read and write it, save it and go back
//   port.h                units in other processes, and the other end of their ports
//   trust.h               how far to trust the result
//   result.h              results as named columns; sinks for rows
// The page docs/api.md walks through them; examples/ has programs.
#ifndef YOKE_YOKE_H
#define YOKE_YOKE_H

#include "yoke/coupling.h"
#include "yoke/message.h"
#include "yoke/port.h"
#include "yoke/registry.h"
#include "yoke/result.h"
#include "yoke/simulation.h"
#include "yoke/status.h"
#include "yoke/system.h"
#include "yoke/trust.h"
#include "yoke/unit.h"
#include "yoke/version.h"

#endif
