// A copy of a system file with settings written into it: only lines that are added or changed differ.
#ifndef YOKE_STUDY_COPY_H
#define YOKE_STUDY_COPY_H

#include <stddef.h>

#include "yoke/message.h"
#include "yoke/status.h"

// Whether a copy of the file with n settings "path=value" could be run from where `to` stands. Files that it names are looked
// for there, so the system is built in both places if their folders differ. YOKE_OK also if the file is bad itself: whoever
// reads it next reports that.
yoke_status yoke__copy_check(const char* path, const char* const sets[], size_t n, const char* to,
                             const yoke_sink* sink);

// Writes the copy. It is read back first and must describe the same system as the file with these settings: YOKE_NO_SUPPORT
// with a message if not.
yoke_status yoke__copy_write(const char* path, const char* const sets[], size_t n, const char* to,
                             const yoke_sink* sink);

#endif
