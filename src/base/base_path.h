// What the name of a file says about it.
#ifndef YOKE_BASE_PATH_H
#define YOKE_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

// True if the name ends as netlists do: .cir, .ckt, .net, .sp, .spice, in any case.
bool yoke__path_is_netlist(const char* path);
// True if the name ends in ".fmu", in any case, or is that of a folder with a modelDescription.xml.
bool yoke__path_is_fmu(const char* path);
// True if it is a shared library: by its name, or because it is a file of the loader.
bool yoke__path_is_library(const char* path);
// The name of the unit in a system that is made of one file: its stem with letters, digits, '_' and '-' only;
// `other` where that is nothing or reserved.
void yoke__path_unit_name(const char* path, const char* other, char* to, size_t size);

#endif
