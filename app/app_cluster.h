// What is reported and written of coupling methods over a cluster after a run.
#ifndef YOKE_APP_CLUSTER_H
#define YOKE_APP_CLUSTER_H

#include "master/master.h"

// Models that the methods have learnt, each to directory/NAME.models.json. False after a message.
bool yoke__app_write_models(const yoke_system* system, const yoke_state* state,
                            const char* directory, const char* command);
// How it went, "" if there is nothing to say.
#define YOKE_CLUSTER_TEXT 1024
const char* yoke__app_cluster_text(const yoke_group* group, const yoke_state* state,
                                   char to[YOKE_CLUSTER_TEXT]);
// The same, a line per method.
void yoke__app_print_clusters(const yoke_system* system, const yoke_state* state);

#endif
