// Copies of this process that are made later, from one that was made while all was quiet.
//
// A copy of a process with threads inherits their locks and the middle of whatever foreign code was doing, and may wait for
// them for ever. So a first copy is made when nothing else runs. It has no threads, waits, and makes further copies of itself
// on request, one at a time. It ends as soon as the other side of its socket is closed, and what it runs with it.
#ifndef YOKE_BASE_FORK_H
#define YOKE_BASE_FORK_H

#include "base/base_process.h"

typedef struct yoke_fork_server {
  yoke_process process;
  int socket;
  bool is_up;
} yoke_fork_server;

// What a copy does; its result is the exit status. parent: the process that it is a copy of.
typedef int (*yoke_fork_job)(const void* argument, int number, int parent);

// argument must keep its place; what it points to is seen as it is now, shared memory apart.
yoke_status yoke__fork_server_start(yoke_fork_job run, const void* argument, yoke_fork_server* out,
                                    const yoke_sink* sink);
// Starts job `number` in a copy. Not while another one runs.
yoke_status yoke__fork_server_run(yoke_fork_server* server, int number);
// Waits at most that long for the end of the copy. True: it has ended, out says how; not known if the server has ended too.
bool yoke__fork_server_wait(yoke_fork_server* server, int64_t timeout_ns, yoke_process* out);
// Ends it, and the copy that runs. Of a zeroed struct nothing.
void yoke__fork_server_stop(yoke_fork_server* server);

#endif
