// The handle of a simulation, between the files of this folder.
#ifndef YOKE_API_API_H
#define YOKE_API_API_H

#include "base/base_histogram.h"
#include "base/base_json.h"
#include "master/master_run.h"
#include "trust/trust.h"
#include "yoke/yoke.h"

// What a simulation is in the middle of; 0: nothing.
enum {
  YOKE_API_RUNNING = 1u << 0,  // a run: it may not be moved, only read and written between steps
  YOKE_API_CALLING = 1u << 1,  // units, methods or sinks are being called
};

// A variable that was written before the start; the fingerprint of checkpoints wants to know.
typedef struct yoke_start_value {
  uint32_t unit, variable;
  uint64_t hash;  // of both and the value
} yoke_start_value;

struct yoke_simulation {
  yoke_system* system;
  bool owns_system;
  bool is_netlist;             // the system is one netlist
  int rank;                    // of its first thread among those that want a processor of their own
  _Atomic(yoke_state*) state;  // NULL until the start; other threads look at it
  yoke_sink sink;              // of the caller, by way of `messages`
  yoke_sink outer;             // of the caller
  yoke_messages messages;      // what was said while it ran, for the summary
  yoke_loop_info loop;         // of the run, or of the steps so far
  yoke_ledger_result result;   // of the bond that was asked for last
  char flow_from[512], flow_to[512];  // ends of the flow that was asked for last
  char* directory;                    // of the results being recorded; NULL: none
  char* results;             // where those of the last run lie, for the verdict; NULL: nowhere
  yoke_trust* trust;         // of the last run; NULL: nothing was asked for
  int64_t run_cpu_ns;        // computing time of the thread that ran it
  char* command;             // that the user typed; NULL: unknown
  yoke_start_value* starts;  // parameters and start values written before the start
  size_t n_starts;
  uint64_t id;        // of its images
  atomic_uint phase;  // YOKE_API_*
  atomic_bool is_cancelled;
  atomic_bool is_abandoned;     // by another thread, which completes the results
  atomic_bool is_back;          // the run has come back all the same
  atomic_bool is_closing;       // its results are being completed
  atomic_bool is_written;       // values came from outside: the system file does not know them
  atomic_bool is_over;          // ended, stopped or failed, for other threads
  atomic_bool is_stop_wanted;   // emergency stop of a paced run
  _Atomic(yoke_pace*) pace;     // of the last paced run, or the present one; NULL: none
  struct yoke_api_pace* paced;  // what it takes from the system while it runs
  char grade[128];              // of the last paced run
};

// The work of yoke_simulation_start, for those who have entered.
yoke_status yoke__api_start(yoke_simulation* simulation);

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
// summary.json alone.
yoke_status yoke__api_write_summary(const yoke_simulation* simulation, const char* directory,
                                    const yoke_sink* sink);
// summary.json once more, now with the verdict, and the bands over time if the system file wants them.
yoke_status yoke__api_write_trust(yoke_simulation* simulation, const char* directory,
                                  const yoke_sink* sink);
// What companions say of the amount of flow i; all 0: nothing, or nothing yet.
yoke_flow_check yoke__api_check_flow(const yoke_simulation* simulation, size_t i);
// The sentence of bond i, if heat passes through it and is counted.
void yoke__api_explain_heat(const yoke_simulation* simulation, size_t i,
                            yoke_ledger_result* result);
// "trust" of the summary.
void yoke__api_json_trust(const yoke_trust* trust, yoke_json* json);
// The message as it is printed: the one unit of a netlist on its own has no name of its own.
yoke_message yoke__api_reword(const yoke_simulation* simulation, const yoke_message* message);

// Runs that follow the clock (api_pace.c). The factor that a run is asked for; 0: it does not follow the clock.
double yoke__api_pace_factor(const yoke_simulation* simulation, const yoke_run_settings* settings);
// Whether it can: takes the memory for it, and refuses with a message.
yoke_status yoke__api_pace_check(yoke_simulation* simulation, const yoke_run_settings* settings);
// A run that does not follow the clock: refused where the other end of a port does.
yoke_status yoke__api_pace_need(yoke_simulation* simulation);
// Before the loop: the pacer, memory, priority, processor, watchdog. After it: all of that is given back.
void yoke__api_pace_begin(yoke_simulation* simulation, const yoke_run_settings* settings);
void yoke__api_pace_end(yoke_simulation* simulation);
// A run that was stopped early by its safe actions cannot be compared with companions.
void yoke__api_pace_settle(yoke_simulation* simulation, yoke_status status);
// Deadlines beyond the limit, rows lost; a sentence about it, and about units that exceeded their budget.
bool yoke__api_is_late(const yoke_simulation* simulation);
void yoke__api_report_pace(yoke_simulation* simulation);
// "pace" of the summary; nothing if the run did not follow the clock.
void yoke__api_json_pace(const yoke_simulation* simulation, yoke_json* json);
void yoke__api_pace_free(yoke_simulation* simulation);

// How a run ended (api_status.c): has a signal diverged, and what is said of it? False while it goes on or after a failure.
typedef struct yoke_divergence {
  char text[512];
  const char* hint;
} yoke_divergence;
bool yoke__api_is_diverged(const yoke_simulation* simulation, yoke_divergence* out);
// A signal grows at the end, whether or not that is right.
bool yoke__api_is_growing(const yoke_simulation* simulation);
void yoke__api_report_divergence(yoke_simulation* simulation);
// An iterative scheme (api_iteration.c): a member of the summary, and a warning if it changed nothing.
void yoke__api_iteration_json(const yoke_system* system, const yoke_iteration_info* info,
                              yoke_json* json);
void yoke__api_report_iteration(yoke_simulation* simulation);
yoke_message yoke__api_divergence_message(const yoke_divergence* divergence);
// The word of the summary.
const char* yoke__api_status_word(const yoke_simulation* simulation);

// Saved states. All numbers of a simulation, units aside; what comes before saving and restoring; the message of the failure
// that the state has, if status is one.
void yoke__api_image(yoke_simulation* simulation, yoke_image* image);
yoke_status yoke__api_begin_save(yoke_simulation* simulation, bool is_file);
yoke_status yoke__api_begin_restore(yoke_simulation* simulation);
yoke_status yoke__api_failed(yoke_simulation* simulation, yoke_status status);
// A checkpoint as bytes (malloc'ed); reading names it in messages.
yoke_status yoke__api_checkpoint_write(yoke_simulation* simulation, unsigned char** file,
                                       size_t* size);
yoke_status yoke__api_checkpoint_read(yoke_simulation* simulation, const char* name,
                                      const unsigned char* file, size_t size);

// ---- calls that may call back

yoke_status yoke__api_refuse_entry(const yoke_simulation* simulation, bool is_move);

static inline atomic_uint* yoke__api_phase(const yoke_simulation* simulation) {
  // who is inside is no part of what a simulation is; NOLINTNEXTLINE(performance-no-int-to-ptr)
  return (atomic_uint*)(uintptr_t)&simulation->phase;
}

// Every function that calls units, methods or sinks enters first and leaves at its end: what is called may call back. Returns
// YOKE_BAD_ARG for NULL, or YOKE_BUSY with a message. is_move: it moves, saves, records or destroys the simulation.
static inline yoke_status yoke__api_enter(const yoke_simulation* simulation, bool is_move) {
  const unsigned held = is_move ? YOKE_API_RUNNING | YOKE_API_CALLING : YOKE_API_CALLING;
  if (simulation != NULL) {
    const unsigned phase = atomic_load_explicit(&simulation->phase, memory_order_relaxed);
    const yoke_state* state = simulation->state;
    // a sink of rows has a thread of its own
    if ((phase & held) == 0 &&
        (state == NULL || state->record == NULL || !yoke__record_is_writer(state->record))) {
      atomic_store_explicit(yoke__api_phase(simulation), phase | YOKE_API_CALLING,
                            memory_order_relaxed);
      return YOKE_OK;
    }
  }
  return yoke__api_refuse_entry(simulation, is_move);
}

static inline yoke_status yoke__api_leave(const yoke_simulation* simulation, yoke_status status) {
  const unsigned phase = atomic_load_explicit(&simulation->phase, memory_order_relaxed);
  atomic_store_explicit(yoke__api_phase(simulation), phase & YOKE_API_RUNNING,
                        memory_order_relaxed);
  return status;
}

#endif
