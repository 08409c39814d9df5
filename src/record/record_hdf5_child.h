// A result file is read in a child process with limits: the HDF5 library crashes or runs without end on some damaged files.
#ifndef YOKE_RECORD_HDF5_CHILD_H
#define YOKE_RECORD_HDF5_CHILD_H

#include <stdint.h>

#include "base/base_csv.h"
#include "yoke/message.h"

typedef struct yoke_child_limits {
  uint64_t memory;  // bytes of address space beyond what this process has taken
  int cpu_s;        // processor time
  int wall_s;       // time on the clock, for a file that never answers
} yoke_child_limits;

// Generous for a file of that many bytes, also one that is compressed 10 to 1.
yoke_child_limits yoke__child_limits(uint64_t file_size);

// Calls read(path, ...) in a copy of this process and brings its table back. read may crash, end the process, run without end
// or take any memory: YOKE_BAD_INPUT with a message then. The copy ends with this process, however that ends. Its own failures come back with status and message. prepare, if not
// NULL, is called in the child first. YOKE_NO_MEMORY, YOKE_SHORTAGE: also if no process can be started.
typedef yoke_status (*yoke_child_read)(const char* path, yoke_csv* out, const yoke_sink* errors);
yoke_status yoke__read_in_child(yoke_child_read read, void (*prepare)(void), const char* path,
                                const yoke_child_limits* limits, yoke_csv* out,
                                const yoke_sink* errors);

#endif
