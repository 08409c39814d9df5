// Version of the library. The build system reads its version from this file: there is no second place.
#ifndef YOKE_VERSION_H
#define YOKE_VERSION_H

#include "yoke/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of the headers the caller was compiled with.
#define YOKE_VERSION_MAJOR 0
#define YOKE_VERSION_MINOR 1
#define YOKE_VERSION_PATCH 0
#define YOKE_VERSION       "0.1.0"

// Of the tables of operations that units, coupling methods and result sinks are made of. Fields may be added at the end of a
// table without changing it, since a table begins with its size; it changes when old tables cannot be used any more.
#define YOKE_CONTRACT_VERSION 1u

// Of the library the caller is running with, as "major.minor.patch"; static text.
YOKE_API const char* yoke_version(void);

#ifdef __cplusplus
}
#endif
#endif
