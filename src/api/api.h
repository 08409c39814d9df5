// The handle of a simulation, between the files of this folder.
#ifndef YOKE_API_API_H
#define YOKE_API_API_H

#include "base/base_histogram.h"
#include "master/master_run.h"
#include "yoke/yoke.h"

struct yoke_simulation {
  yoke_system* system;
  bool owns_system;
  bool is_netlist;             // the system is one netlist
  _Atomic(yoke_state*) state;  // NULL until the start; other threads look at it
  yoke_sink sink;              // of the caller, by way of `messages`
  yoke_sink outer;             // of the caller
  yoke_messages messages;      // what was said while it ran, for the summary
  yoke_loop_info loop;         // of the run, or of the steps so far
  yoke_ledger_result result;   // of the bond that was asked for last
  char* directory;             // of the results being recorded; NULL: none
  bool is_recorded;            // something was
  atomic_bool is_cancelled;
  atomic_bool is_over;  // ended, stopped or failed, for other threads
};

// The present time as any thread may ask for it [s].
double yoke__api_time(const yoke_simulation* simulation);
// Sends an error about a variable, or about nothing in particular (name NULL), and returns the status.
yoke_status yoke__api_refuse(const yoke_simulation* simulation, yoke_status status,
                             const char* unit, const char* variable, const char* format, ...)
    YOKE_PRINTF(5, 6);
// Takes over written values now, from the thread that steps; a refused one is reported.
yoke_status yoke__api_take_mail(const yoke_simulation* simulation);
// The status, after a message that says no more than the status does if none was sent since there were n_errors.
yoke_status yoke__api_told(yoke_simulation* simulation, yoke_status status, size_t n_errors);
// Files that belong to the results beside the rows: summary.json, and what coupling methods have learnt. sink: who is told of
// what cannot be written.
yoke_status yoke__api_write_files(yoke_simulation* simulation, const char* directory,
                                  const yoke_sink* sink);
// The message as it is told: the one unit of a netlist on its own has no name of its own.
yoke_message yoke__api_reword(const yoke_simulation* simulation, const yoke_message* message);

#endif
