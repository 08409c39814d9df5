// Settings written into the text of a system file: comments, order and layout stay, only the lines of the change differ.
#ifndef YOKE_SCENARIO_EDIT_H
#define YOKE_SCENARIO_EDIT_H

#include "base/base_text.h"
#include "yoke/message.h"

// The text (n bytes, a sound file) with one "path=value" of `--set` applied. YOKE_NO_SUPPORT with a message: the place cannot
// be changed in the text. The caller reads the result and compares: nothing is checked here.
yoke_status yoke__scenario_edit(const char* bytes, size_t n, const char* set, yoke_text* out,
                                const yoke_sink* sink);

#endif
