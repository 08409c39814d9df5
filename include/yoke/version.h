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

// Of the library the caller is running with, as "major.minor.patch"; static text.
YOKE_API const char* yoke_version(void);

#ifdef __cplusplus
}
#endif
#endif
