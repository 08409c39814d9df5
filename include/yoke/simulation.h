// A simulation: a system that moves. Step it, read and write its variables, save it and go back.
//
//   yoke_simulation* sim = NULL;
//   if (yoke_simulation_load("system.yaml", NULL, &sim) < 0) { return 2; }
//   yoke_handle x;
//   yoke_simulation_find(sim, "left.x", &x);
//   while (!yoke_simulation_is_done(sim) && yoke_simulation_step(sim) >= 0) {
//     double value;
//     yoke_simulation_read(sim, x, &value);
//     printf("%g %g\n", yoke_simulation_time(sim), value);
//   }
//   yoke_simulation_destroy(&sim);
//
// Nothing is global: any number of simulations may live in one process, each used by one thread at a time. Once it has started
// any thread may call yoke_simulation_write; yoke_simulation_cancel, _emergency_stop, _state and _get_progress at any time. A refused
// write sends its message from the thread that wrote.
// What a simulation calls (units, methods, sinks, progress) cannot start, step, run, save, restore, record or destroy it: that
// is YOKE_BUSY, and nothing happens. From progress everything may be read and written; elsewhere outputs may be read, numbers
// written (yoke_simulation_write), and the run cancelled.
// After the start yoke_simulation_step makes no heap call, no system call, and prints nothing.
#ifndef YOKE_SIMULATION_H
#define YOKE_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/message.h"
#include "yoke/result.h"
#include "yoke/status.h"
#include "yoke/system.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_simulation yoke_simulation;

// ---- life

// A simulation of a system, not yet started: parameters, inputs and start values may be written. A system has one simulation
// at a time (YOKE_BAD_ARG for a second one) and must outlive it. sink may be NULL; it is used until destroy.
YOKE_API yoke_status yoke_simulation_create(yoke_system* system, const yoke_sink* sink,
                                            yoke_simulation** out);
// Loads a system and makes its simulation, which then owns it.
YOKE_API yoke_status yoke_simulation_load(const char* path, const yoke_load_settings* settings,
                                          yoke_simulation** out);
// Initialises all units and makes the first exchange: the simulation stands at its start time. Step, run, record and
// save do this by themselves where it has not been done. YOKE_OK if it was started before.
YOKE_API yoke_status yoke_simulation_start(yoke_simulation* simulation);
// Ends recording, terminates the units, frees everything. NULL and a pointer to NULL are fine; *simulation becomes NULL. Called
// from inside a callback it does nothing but send the message of YOKE_BUSY, and *simulation stays.
YOKE_API void yoke_simulation_destroy(yoke_simulation** simulation);

// ---- moving on

// One macro step (time.step). YOKE_ENDED: a unit asked to end. YOKE_STOPPED: a quality limit. YOKE_BAD_ARG: it is over
// already. Other negative ones: yoke_simulation_failure says which unit, when and why; the simulation can still be read and
// destroyed.
YOKE_API yoke_status yoke_simulation_step(yoke_simulation* simulation);
// Macro steps until the time is not below t any more. Results as of yoke_simulation_step.
YOKE_API yoke_status yoke_simulation_run_to(yoke_simulation* simulation, double t);

// Where a run stands.
typedef struct yoke_progress {
  double time, t_start, t_stop;  // simulation time [s]
  double share;                  // done, 0 to 1
  double wall_s;                 // since the run began [s]
  const char* bond;              // whose alarm began last; NULL: none
  const char*
      signal;       // with the largest error band so far, where the run itself tells it; NULL: none
  double relative;  // that band, over the size of the signal's movement
} yoke_progress;

// The same system computed once more beside the run, to see how far the result depends on how it was computed: with half the
// steps (A) and with another coupling method (B). They never change the run.
typedef enum yoke_trust_mode {
  YOKE_TRUST_NONE,  // no companion
  YOKE_TRUST_FILE,  // as `trust: {companions: ...}` of the system file says, else auto
  YOKE_TRUST_AUTO,  // both, unless they would take more than 60 s of computing time: then B, then A is left out
  YOKE_TRUST_BOTH,   // A and B
  YOKE_TRUST_HALF,   // A
  YOKE_TRUST_CHEAP,  // A, and B without halving the exchange
} yoke_trust_mode;

typedef struct yoke_run_settings {
  const yoke_record_settings*
      record;  // NULL: nothing is recorded (unless yoke_simulation_record began it)
  // Called between macro steps, about ten times a second, by the thread that runs; also while yoke_simulation_judge waits. It
  // may read and write variables. False ends the run, or the wait. NULL: none.
  bool (*progress)(void* to, const yoke_progress* progress);
  void* to;
  // Called before every macro step, when it is released, also while safe actions are done: a controller of yours in the loop. What
  // it takes counts as computing time. It may read and write variables. False ends the run. NULL: none.
  bool (*each)(void* to);
  const char* command;  // what the user typed, for the summary; NULL: nothing
  // Companions, begun with the run; yoke_simulation_judge (trust.h) waits for them. Only for runs from the start time into
  // which nothing is written.
  yoke_trust_mode trust;
  // Simulated seconds per second of the clock: steps are released by it (docs/pace.md). 0: as the system file says; negative:
  // as fast as it goes, whatever the file says. Companions then start when the run has ended.
  double pace;
  // A step of a paced run has taken longer than its watchdog allows. Called once, by a thread of its own, while the thread
  // that steps is still in there. NULL: only the state tells (YOKE_RUN_FAULT).
  void (*overdue)(void* to);
} yoke_run_settings;

typedef struct yoke_run_info {
  // YOKE_OK, YOKE_ENDED, YOKE_STOPPED, YOKE_LATE (missed deadlines stopped it), YOKE_INTERRUPTED or a failure
  yoke_status status;
  int64_t n_steps;   // macro steps
  double t_reached;  // [s]
  double wall_s;
  bool is_violated;  // a quality limit that the system file gives was exceeded
  // a signal grew without bounds; with companions that is known once it is judged. A value that is not finite is a failure.
  bool is_diverged;
  // a signal still grew when the run ended: right if the plant is unstable by itself, which companions tell
  bool is_growing;
  // a paced run missed deadlines beyond its limit, or lost rows
  bool is_late;
  yoke_record_info record;
} yoke_run_info;

// Runs to the stop time, a failure, a cancel or a stop; recorded results are complete to the last whole step in every case.
// settings and info may be NULL. Returns info->status, or YOKE_IO or YOKE_SHORTAGE if results could not be written.
YOKE_API yoke_status yoke_simulation_run(yoke_simulation* simulation,
                                         const yoke_run_settings* settings, yoke_run_info* info);
// Ends a run of another thread after its present macro step, with YOKE_INTERRUPTED. Safe in a signal handler. If nothing runs,
// the next run ends after its first step.
YOKE_API void yoke_simulation_cancel(yoke_simulation* simulation);
// Ends the recording of a run that does not come back, from another thread: it hangs in a unit, or a signal handler keeps the
// thread that steps. The rows so far are written, the files get their final names, the summary tells `why`, whose status is
// that of the run (YOKE_UNIT_FAILED, YOKE_INTERRUPTED). Nothing is freed: afterwards only yoke_simulation_summary may be
// called, and the process should end. Should the run come back it returns YOKE_INTERRUPTED and touches nothing. sink: who is
// told of what cannot be written. YOKE_BUSY: the run is completing its results by itself. YOKE_OK if there is nothing to do.
YOKE_API yoke_status yoke_simulation_abandon(yoke_simulation* simulation, const yoke_message* why,
                                             const yoke_sink* sink);
// Where it stands, from any thread.
YOKE_API yoke_status yoke_simulation_get_progress(const yoke_simulation* simulation,
                                                  yoke_progress* out);

// Nothing is left to step: the stop time is reached, a unit ended the run, a limit stopped it or it failed. True for NULL.
YOKE_API bool yoke_simulation_is_done(const yoke_simulation* simulation);
YOKE_API double yoke_simulation_time(const yoke_simulation* simulation);  // [s]; NaN for NULL
YOKE_API const yoke_system* yoke_simulation_system(const yoke_simulation* simulation);
// Why it failed or was stopped; NULL: it was not. Lives as long as the simulation.
YOKE_API const yoke_message* yoke_simulation_failure(const yoke_simulation* simulation);
// Signals have jumped for a reason the units do not know: extrapolation starts anew at the next exchange.
YOKE_API yoke_status yoke_simulation_declare_discontinuity(yoke_simulation* simulation);

// ---- by the clock

// States of a paced run. FAULT is left by a reset only.
typedef enum yoke_run_state {
  YOKE_RUN_INIT,       // it has not been started
  YOKE_RUN_CALIBRATE,  // reserved for units that have to be calibrated; passed at once
  YOKE_RUN_READY,      // the first step can be released
  YOKE_RUN_RUN,
  YOKE_RUN_STOPPING,  // the safe actions of the system file are being done, the loop goes on
  YOKE_RUN_SAFE,      // they are done, or there was nothing to do
  YOKE_RUN_FAULT,  // the same after a failure, an emergency stop or a step that did not come back
  YOKE_N_RUN_STATES,
} yoke_run_state;

// Times in seconds.
typedef struct yoke_times {
  int64_t n;
  double p50, p99, p999, max;
} yoke_times;

// How a paced run kept its deadlines, its safe actions included. All 0: there was none.
typedef struct yoke_pace_info {
  double factor, period;     // simulated seconds per second; seconds of the clock between two steps
  int64_t n_steps, n_late;   // macro steps; releases whose step ended after the next one was due
  int64_t n_missed;          // slots of the grid in which nothing could be released
  int64_t n_held;            // steps computed without the physical units
  int64_t longest_run;       // late ones in a row
  int64_t n_behind;          // slots by which simulated time ended behind the clock
  double longest;            // how long after its deadline a step ended at worst [s]
  yoke_times release, step;  // begin behind its grid time; computing time of a step
  bool is_beyond;            // more than the limit of the system file allows
  bool has_priority, has_memory,
      has_processor;  // SCHED_FIFO, locked memory, a processor of its own
  const char* grade;  // in words; lives until the next run
} yoke_pace_info;

// Figures of the last paced run, or of the present one from `progress`.
YOKE_API yoke_status yoke_simulation_get_pace(const yoke_simulation* simulation,
                                              yoke_pace_info* out);
// One unit in that run.
typedef struct yoke_unit_pace {
  yoke_times step;      // computing time of a macro step
  int64_t n_over;       // how many of these took longer than its `budget`
  bool has_own_thread;  // `thread: own`; then:
  int64_t n_due;        // exchanges at which its outputs were due,
  int64_t n_late;       // and were not there in time,
  int64_t longest_run;  // at most so many in a row
} yoke_unit_pace;

// Of unit i, as yoke_system_get_unit counts them. YOKE_NO_SUCH_NAME: there is no unit i.
YOKE_API yoke_status yoke_simulation_get_unit_pace(const yoke_simulation* simulation, size_t i,
                                                   yoke_unit_pace* out);
// From any thread.
YOKE_API yoke_run_state yoke_simulation_state(const yoke_simulation* simulation);
// Stops a paced run from any thread, also from a signal handler: the safe actions are done, the run ends with YOKE_STOPPED and
// the state is FAULT until it is reset. Any other run ends as by yoke_simulation_cancel.
YOKE_API void yoke_simulation_emergency_stop(yoke_simulation* simulation);
// Leaves FAULT. What made the run fail is not repaired: go back to a saved state, or make a new simulation. YOKE_BAD_ARG: it
// is not in FAULT.
YOKE_API yoke_status yoke_simulation_reset(yoke_simulation* simulation);

// ---- variables

// One variable, or one element of an array. Found once by name, valid for the life of the simulation.
typedef struct yoke_handle {
  uint32_t unit;      // index of the unit
  uint32_t variable;  // index among its variables
  uint32_t element;   // first element
  uint32_t n;         // number of elements
} yoke_handle;

// "unit.variable", "unit.variable[i]" or "unit.variable[i,j]". YOKE_NO_SUCH_NAME, with the nearest name as a hint.
YOKE_API yoke_status yoke_simulation_find(const yoke_simulation* simulation, const char* name,
                                          yoke_handle* out);
// What a handle stands for; NULL for a wrong handle.
YOKE_API const yoke_variable* yoke_simulation_variable(const yoke_simulation* simulation,
                                                       yoke_handle handle);

// The value of a real, integer, boolean or enumeration (its index), as a number, at the present time. Outputs as others see
// them; inputs as the next step will be given them. *value stays as it is on failure.
YOKE_API yoke_status yoke_simulation_read(const yoke_simulation* simulation, yoke_handle handle,
                                          double* value);
// n single numbers in one call; stops at the first failure.
YOKE_API yoke_status yoke_simulation_read_many(const yoke_simulation* simulation,
                                               const yoke_handle handles[], size_t n,
                                               double values[]);
// The value as it is stored (see yoke_type): handle.n elements. size: bytes of `value`; a string needs room for max_size.
YOKE_API yoke_status yoke_simulation_read_value(const yoke_simulation* simulation,
                                                yoke_handle handle, void* value, size_t size);

// Writes a number: an input that no connection feeds, or a tunable parameter, at any time; a fixed parameter or a start value
// before the start. Takes effect at the next exchange, that is before the next step; no heap, no lock, any thread. Refused:
// YOKE_READ_ONLY (fed by a connection, an output, a fixed parameter after the start), YOKE_WRONG_TYPE, YOKE_NOT_FINITE, YOKE_FULL
// (1024 writes are waiting), YOKE_BAD_ARG (wrong handle, or the run is over), YOKE_NO_SUPPORT (one element of an array of more than
// 512 that is no real input: write it whole).
YOKE_API yoke_status yoke_simulation_write(yoke_simulation* simulation, yoke_handle handle,
                                           double value);
// The same for a value as it is stored, arrays, strings and binaries included. Only from the thread that steps.
YOKE_API yoke_status yoke_simulation_write_value(yoke_simulation* simulation, yoke_handle handle,
                                                 const void* value, size_t size);

// ---- going back

// Bytes of a saved state, the same for the life of the simulation; 0 with a message to the sink that names the unit or method
// that cannot be saved.
YOKE_API size_t yoke_simulation_image_size(yoke_simulation* simulation);
// The complete state between two steps, to and from an image of this simulation (aligned as malloc does). Writes that wait
// are applied before it is saved, and forgotten where it is restored. Use images again: FMUs keep a state of their own for
// each one, also beyond its end, and a copy of an image shares it. Restoring while recording is refused (YOKE_BAD_ARG): rows
// would go back in time. No heap, but for what an FMU takes. A failed or finished run goes on from where it was saved.
YOKE_API yoke_status yoke_simulation_save(yoke_simulation* simulation, void* image, size_t size);
YOKE_API yoke_status yoke_simulation_restore(yoke_simulation* simulation, const void* image,
                                             size_t size);
// The same to and from a file, for another process with the same Yoke. Resume wants the same system with the same settings and
// the same parameters and start values written before the start; the stop time may differ, but not lie before the state. It
// answers YOKE_BAD_INPUT where the file does not fit; then nothing has changed. Trust the file as you trust a program: its
// checksum finds damage, not intent.
YOKE_API yoke_status yoke_simulation_checkpoint(yoke_simulation* simulation, const char* path);
YOKE_API yoke_status yoke_simulation_resume(yoke_simulation* simulation, const char* path);

// ---- recording

// Begins to record into a folder: the present values, then a row as often as the system file says. YOKE_BAD_ARG if it records
// already.
YOKE_API yoke_status yoke_simulation_record(yoke_simulation* simulation,
                                            const yoke_record_settings* settings);
// Writes what is left and gives the files their names. info may be NULL. YOKE_OK if nothing was recorded.
YOKE_API yoke_status yoke_simulation_record_stop(yoke_simulation* simulation,
                                                 yoke_record_info* info);
// What the units and coupling methods have to say since they were asked last, to the simulation's sink; also after a start
// that failed. YOKE_BAD_ARG before the start.
YOKE_API yoke_status yoke_simulation_report(yoke_simulation* simulation);
// How the run went as a JSON document ("yoke-summary"), which is also what summary.json holds. Freed with yoke_text_free.
YOKE_API yoke_status yoke_simulation_summary(const yoke_simulation* simulation, char** json);

#ifdef __cplusplus
}
#endif
#endif
