// Where this build came from: written into every result, so that a number can be traced to its code.
#ifndef YOKE_BASE_VERSION_H
#define YOKE_BASE_VERSION_H

// Short id of the commit the tree was configured at, or "unknown"; static text.
const char* yoke__commit(void);
// Compiler, its version, the flags that can change numbers, and the processor family; static text.
const char* yoke__build(void);

#endif
