// Folders on the disk, for FMUs that somebody has unpacked.
#ifndef YOKE_FMI_FOLDER_H
#define YOKE_FMI_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_arena.h"
#include "yoke/status.h"

// The names in a folder without those that begin with a dot, sorted, in the arena; none if it cannot be read.
yoke_status yoke__fmi_folder_names(const char* path, yoke_arena* arena, const char*** names,
                                   size_t* n);
// The absolute path without links, in the arena; NULL if there is no such thing (or no memory).
const char* yoke__fmi_folder_real(const char* path, yoke_arena* arena);
// Bytes of a file; 0 if it cannot be read or is none.
uint64_t yoke__fmi_file_size(const char* path);

#endif
