// Names of the result formats.
#include "base/base_format.h"

#include <stddef.h>

const char* const yoke__format_names[YOKE_N_FORMATS + 1] = {"csv", "hdf5", "mat", NULL};
