// An FMU file: opened (description read, nothing unpacked), then unpacked as far as running it needs.
#ifndef YOKE_FMI_PACKAGE_H
#define YOKE_FMI_PACKAGE_H

#include "base/base_message.h"
#include "fmi/fmi_description.h"

typedef struct yoke_fmi_package {
  const char* path;  // of the .fmu file, or of a folder that holds an unpacked FMU
  yoke_fmi_description* description;
  const char* const* platforms;  // folders below binaries/: "linux64", "x86_64-windows", ...
  size_t n_platforms;
  bool has_sources, has_resources, has_documentation;
  uint64_t file_size;
  const char* directory;  // where it is unpacked; NULL before unpack
  struct yoke_fmi_package_private* own;
} yoke_fmi_package;

// Reads the archive's directory, modelDescription.xml and the terminals. Errors and warnings go to messages; their source
// is "<file name>/modelDescription.xml". YOKE_BAD_INPUT after an error, and *out is NULL then.
yoke_status yoke__fmi_open(const char* path, yoke_messages* messages, yoke_fmi_package** out);
// The same from memory, for tests and fuzzing; it cannot be unpacked.
yoke_status yoke__fmi_open_memory(const void* bytes, size_t n, const char* name,
                                  yoke_messages* messages, yoke_fmi_package** out);
// Binaries of this platform and the resources into a temporary folder that goes with the package. Does nothing the second
// time. A missing binary for this platform is an error that names the platforms there are.
yoke_status yoke__fmi_unpack(yoke_fmi_package* package, yoke_messages* messages);
// The same without the resources, for looking at the binaries; it cannot be run then.
yoke_status yoke__fmi_unpack_binaries(yoke_fmi_package* package, yoke_messages* messages);
// Absolute path of the shared library of an interface (co_simulation or model_exchange) once unpacked.
yoke_status yoke__fmi_binary_path(const yoke_fmi_package* package,
                                  const yoke_fmi_interface* interface_type, char* to, size_t size);
// Absolute path of the resources folder, with a '/' at its end; it exists, even if the FMU has none.
void yoke__fmi_resources_path(const yoke_fmi_package* package, char* to, size_t size);
void yoke__fmi_close(yoke_fmi_package** package);

// The folder names of this machine's binaries: "linux64" in FMI 1.0 and 2.0, "x86_64-linux" in FMI 3.0.
const char* yoke__fmi_platform(int version);

#endif
