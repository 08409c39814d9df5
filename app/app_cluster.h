// What is told and written of coupling methods over a cluster after a run.
#ifndef YOKE_APP_CLUSTER_H
#define YOKE_APP_CLUSTER_H

#include "master/master.h"

// Models that the methods have learnt, each to directory/NAME.models.json. False after a message.
bool yoke__app_write_models(const yoke_system* system, const yoke_state* state,
                            const char* directory, const char* command);
// A line per method: how it went.
void yoke__app_print_clusters(const yoke_system* system, const yoke_state* state);

#endif
