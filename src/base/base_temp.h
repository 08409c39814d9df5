// Folders that live as long as the process at most: removed by their owner, or, if the process is killed, by a small
// watcher process that waits for its end. Folders left behind by a machine that went down are removed by the next run.
#ifndef YOKE_BASE_TEMP_H
#define YOKE_BASE_TEMP_H

#include <stddef.h>

#include "yoke/message.h"
#include "yoke/status.h"

typedef struct yoke_temp yoke_temp;

// A new empty folder below $TMPDIR (else /tmp), for this user alone (0700). First removes folders of dead owners. Each one
// costs a sleeping process: share one folder where many are needed. YOKE_IO, YOKE_NO_MEMORY.
yoke_status yoke__temp_create(yoke_temp** out, const yoke_sink* sink);
const char* yoke__temp_path(const yoke_temp* temp);
// Removes the folder with all that is in it; NULL is accepted. In a forked child of the owner the folder stays.
void yoke__temp_remove(yoke_temp** temp);

#endif
