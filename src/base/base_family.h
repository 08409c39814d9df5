// What a process has started, and what that has started, wherever it went (Linux, by way of /proc).
#ifndef YOKE_BASE_FAMILY_H
#define YOKE_BASE_FAMILY_H

#include <stdint.h>

// Variable in the environment of a process that is to be found again, and of all that comes of it.
#define YOKE_FAMILY_VARIABLE "YOKE_FAMILY"
// Name (PR_SET_NAME) of a process that ends by itself and has to outlive the others.
#define YOKE_FAMILY_EXEMPT "yoke-temp"

// Ends the descendants of `root` (0: of none), but not root itself, and those whose environment holds `mark` ("YOKE_FAMILY=..."; NULL:
// none) and that were started at `since` or later. Until none is left, or it gives up on one that forks without end.
void yoke__family_end(int root, const char* mark, uint64_t since);
// When a process was started, in the unit of `since`; 0 if it is gone.
uint64_t yoke__family_start_time(int pid);

#endif
