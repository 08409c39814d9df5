// Reading results.h5 back; see record_hdf5.c for the layout.
#ifndef YOKE_RECORD_HDF5_H
#define YOKE_RECORD_HDF5_H

#include <stddef.h>

#include "base/base_csv.h"
#include "yoke/message.h"

// Real and integer columns of a file that record_hdf5.c wrote, as one table, reals first. Text
// columns are left out. YOKE_IO; YOKE_NO_SUPPORT if this build has no HDF5.
//
// The library does not withstand damaged files, so it reads in a child process with limits on time and memory: what crashes,
// loops or takes too much there is YOKE_BAD_INPUT with a message here.
yoke_status yoke__record_hdf5_read(const char* path, yoke_csv* out, const yoke_sink* errors);

#endif
