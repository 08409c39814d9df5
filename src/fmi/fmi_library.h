// The shared library of an FMU as a file: can this machine load it, and what does it need? Nothing of it is executed.
#ifndef YOKE_FMI_LIBRARY_H
#define YOKE_FMI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef void (*yoke_fmi_library_name)(void* to, const char* name);

// True if a program of this machine can load the file as a shared library. If not, kind says what it is, in words that
// follow "it is": "for AArch64", "a Windows library", "cut short or damaged". Any bytes are allowed.
bool yoke__fmi_library_is_native(FILE* file, char* kind, size_t kind_size);

// Calls `each` for every library that the one at `path` needs, directly or not, and that is neither on this machine nor
// beside the file; returns their number. Asks the system's loader in a process of its own; 0 if that is not possible.
size_t yoke__fmi_library_missing(const char* path, yoke_fmi_library_name each, void* to);

#endif
