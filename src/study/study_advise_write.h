// A copy of a system file with settings written into it: only lines that are added or changed differ.
#ifndef YOKE_STUDY_ADVISE_WRITE_H
#define YOKE_STUDY_ADVISE_WRITE_H

#include <stddef.h>

#include "yoke/message.h"
#include "yoke/status.h"

// sets: n texts "path=value". The copy is read back and must describe the same system as the file with these settings.
// YOKE_BAD_INPUT with a message: a setting cannot be written, or the copy could not be run from where it stands.
yoke_status yoke__advise_write(const char* path, const char* const sets[], size_t n, const char* to,
                               const yoke_sink* sink);

// Whether a copy of the file could be run from where `to` stands; before a search, with a message if not.
yoke_status yoke__advise_check_write(const char* path, const char* to, const yoke_sink* sink);

#endif
