// Copies of a system file with settings written into them: `yoke advise --write`, `yoke run --pin`.
#ifndef YOKE_APP_COPY_H
#define YOKE_APP_COPY_H

#include "app/app.h"
#include "base/base_arena.h"
#include "yoke/system.h"

// Whether the file that `option` names can be written and could be run from where it stands; true also if the option is not
// given. False after a message. instead: what to do where the system is no file in YAML.
bool yoke__app_can_copy(const yoke_options* options, const char* option, const char* instead);

// The calls that `calls: auto` has chosen, as texts for --set behind n given ones; *n becomes their number. NULL: out of memory.
const char** yoke__app_pins(const yoke_system* system, const char* const given[], size_t* n,
                            yoke_arena* arena);

#endif
