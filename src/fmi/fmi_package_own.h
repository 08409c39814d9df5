// The inside of a package, for the two files that know it.
#ifndef YOKE_FMI_PACKAGE_OWN_H
#define YOKE_FMI_PACKAGE_OWN_H

#include "base/base_temp.h"
#include "base/base_zip.h"
#include "fmi/fmi_package.h"

#define YOKE_FMI_MAX_PATH 4096

// A library below binaries/.
typedef struct yoke_fmi_library {
  const char *platform, *name;
} yoke_fmi_library;

struct yoke_fmi_package_private {
  yoke_arena arena;
  yoke_zip* zip;       // NULL: a folder
  const char* source;  // "engine.fmu/modelDescription.xml"
  const char* file;    // "engine.fmu"
  bool is_memory;
  yoke_fmi_library* libraries;  // that lie directly in a folder of binaries/
  size_t n_libraries;
  yoke_temp* temp;
  const char* platform;       // the folder in use, once unpacked
  const char* resources;      // with '/' at its end, once unpacked
  bool is_without_resources;  // only the binaries were wanted
};

// The only library of a platform (NULL: of any), or NULL.
const yoke_fmi_library* yoke__fmi_only_library(const struct yoke_fmi_package_private* own,
                                               const char* platform);

#endif
