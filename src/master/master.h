// The stepping loop. `yoke_system` says what there is, `yoke_state` holds all that changes.
//
// One slot (free-running), in the order of yoke__master_slot (master_step.c):
//   1  every unit that is due advances: inputs (extrapolated), step, outputs       parallel under Jacobi
//      (samples of its calls are kept if somebody asked for them)
//   2  the ledger accounts for what was given and received (TER), before anything changes
//   3  time moves on: tick = slot counter * slot length
//   4  outputs of slow units that end here become visible
//   5  exchange: laws and fresh units, then copies, then samples for the coupling groups
//   6  the ledger observes the samples (residual power), alarms; the residual may choose the next step; at the end of a macro
//      step the growth of the judged signals is observed, limits of signals are checked, and values are kept if somebody asked
//      for them
//   7  a row for the recorder, if one is due
#ifndef YOKE_MASTER_H
#define YOKE_MASTER_H

#include <stdatomic.h>

#include "base/base_image.h"
#include "couple/couple_polynomial.h"
#include "quality/quality_growth.h"
#include "system/system.h"

// Why a run ended early: a message with its texts. Zeroed: it did not.
typedef struct yoke_failure {
  yoke_message message;  // points to the texts below
  size_t unit;           // YOKE_NOT_FOUND if no unit is to blame
  char text[768], file[512], name[128], variable[128], hint[384];
} yoke_failure;

typedef struct yoke_iteration_info {
  int64_t n_steps, n_iterations;
  int64_t n_not_converged;  // macro steps that used all iterations
  int64_t n_unchanged;      // macro steps whose first iterate stood and whose inputs did not change
  int most;                 // iterations of the worst step
} yoke_iteration_info;

#define YOKE_ITERATION_IDLE                                                                        \
  0.95  // share of macro steps without a change: beyond it nothing was gained

static inline bool yoke__iteration_is_effective(const yoke_iteration_info* info) {
  return !((double)info->n_unchanged > YOKE_ITERATION_IDLE * (double)info->n_steps);
}

// One number of a coupling group's sample.
typedef struct yoke_hot_inlet {
  size_t from;  // index into Y
  double gain, offset;
} yoke_hot_inlet;

// What a coupling group needs that takes a sample in every slot, side by side.
typedef struct yoke_hot_group {
  void (*take_input)(void* self, size_t sink, double tau, double u[]);
  void (*take_mean)(void* self, size_t sink, double tau, double h, double u[]);  // NULL: take_input
  double h;   // of a call of the unit
  double* u;  // take_mean writes straight to its signals in U, which are neighbours; NULL: to input
  bool is_open;  // its signals are yoke_open_signal: neither observe nor take_mean need be called
  void (*observe)(void* self, const yoke_coupling_moment* now, const double y[],
                  const double u_applied[]);
  void* self;
  size_t sink;
  double* input;   // n_signals
  double* sample;  // n_inlets
  const yoke_hot_inlet* inlets;
  size_t n_inlets;  // signals, then probes
  const yoke_tap* taps;
  size_t n_signals;
  yoke_coupling_moment now;  // of the last sample
  const yoke_group* group;
  bool is_sampled, has_validities;
} yoke_hot_group;

// A signal of method hold that is sampled at every call of a unit which gets its mean, by direct ways.
typedef struct yoke_open_signal {
  yoke_polynomial* signal;  // in the memory of the method
  const double* from;       // in Y
  double *u, *sample;
  int order;
  bool is_scaled;  // gain is not 1, or offset not 0
  double gain, offset;
} yoke_open_signal;

// One number of D where everything is exchanged in every slot.
typedef struct yoke_hot_term {
  const double *D, *from, *u;  // from: in Y; u: what the output at hand belongs to
  double gain, offset;
  bool is_scaled;  // gain is not 1, or offset not 0
} yoke_hot_term;

// What the step of a common unit needs, side by side, the most common first. advance and step NULL: the unit is not a
// common one.
typedef struct yoke_hot {
  // everything in one call (FMUs), or NULL
  yoke_status (*advance)(void* self, double t, double h, const double u[], double y[],
                         yoke_step_result* result);
  void* self;
  double h;
  const double* u_from;
  double* y_to;
  size_t n_y;
  size_t n_groups;   // coupling groups that feed it
  const char* name;  // of the unit
  size_t unit;
  yoke_status (*step)(void* self, double t, double h, yoke_step_result* result);
  // values go through operations of the unit, or NULL: by copying
  yoke_status (*set_inputs)(void* self, const double u[], size_t n_u);
  yoke_status (*get_outputs)(const void* self, double y[], size_t n_y);
  double* u_to;
  const double* y_from;
  size_t n_u;
  size_t first_group;
  const yoke_hot_group* groups;  // its groups if all take a sample in every slot; else NULL
  const yoke_open_signal *opens, *opens_end;  // instead, if all of them are open
  // with other values than real ones, in one call too, or NULL
  yoke_status (*advance_values)(void* self, double t, double h, const double u[], double y[],
                                yoke_step_values* values, yoke_step_result* result);
  yoke_step_values* values;
} yoke_hot;

// A bond with a method that knows how much of the created energy is still there.
typedef struct yoke_corrected {
  double* to;  // where the ledger reads it
  double (*remainder)(const void* self);
  const void* self;
} yoke_corrected;

// A value written from outside: one element of a real, integer, boolean or enumeration.
typedef struct yoke_mail {
  uint32_t unit, variable, element;
  int64_t bits;  // as it is stored
} yoke_mail;

typedef struct yoke_mail_cell {
  _Atomic uint64_t turn;
  yoke_mail mail;
} yoke_mail_cell;

#define YOKE_MAIL_SIZE 1024   // writes that may wait
#define YOKE_MAIL_ROOM 4096u  // bytes of an array of which one element may be written

typedef struct yoke_mailbox {
  _Atomic uint64_t next;  // ticket of the next writer
  uint64_t n_taken;
  yoke_mail_cell* cells;
} yoke_mailbox;

// Values of signals at the ends of macro steps, every `thin` of them: row k holds those of macro step k * thin.
typedef struct yoke_trace {
  size_t n;                // signals
  size_t* y;               // their indices into Y
  int64_t n_room, n_kept;  // rows
  int64_t thin;
  double* values;  // n_room rows of n
  double* times;   // of the rows, if the residual chooses the step; else NULL
  bool has_gap;    // a state was restored that lies beyond the rows kept so far
} yoke_trace;

// What became of a limit of a signal.
typedef struct yoke_limit {
  int64_t n_beyond;       // macro steps at whose end the value was beyond it, the start included
  double t, value;        // the first of them [s]
  double t_worst, worst;  // the value furthest beyond
} yoke_limit;

// What is seen of signals at the ends of macro steps.
typedef struct yoke_watch {
  int64_t wait;     // slots to the end of the macro step
  int64_t n_steps;  // macro steps done
  yoke_growth*
      plain;  // if nothing but the growth of signals exchanged in every macro step is to be observed; else NULL
  const size_t* plain_y;  // their places in Y
  yoke_trace*
      plain_trace;  // if the same signals are kept, all of them in every macro step; else NULL
  struct yoke_watch_group* groups;
  size_t n_groups;
  size_t* places;  // per judged signal: where it is in its group
  double
      times[YOKE_GROWTH_LATE];  // of the last macro steps, by their number, where they are needed
  double*
      t_latched;  // per judged signal, if the residual chooses the step: when its alarm came; NaN: never
  size_t stopped_by;   // the judged signal whose growth ended the run; YOKE_NOT_FOUND: none
  yoke_trace* trace;   // NULL: nobody asked
  yoke_limit* limits;  // as system->limits
  size_t limited_by;   // the stop limit that was exceeded first; YOKE_NOT_FOUND: none
} yoke_watch;

// Fallbacks of one loop that are kept: each is twice as long as the one before, so there are never more.
#define YOKE_FALLBACK_ROOM 48

// A loop grew, and its signals were held from then on for a while.
typedef struct yoke_fallback {
  double t;              // [s]
  size_t group, signal;  // the one that grew
  double factor;         // by so much
} yoke_fallback;

// Loops whose methods fall back when they grow (master_fallback.c).
typedef struct yoke_guard {
  struct yoke_guard_grid* grids;
  size_t n_grids;
  size_t* n_fallbacks;       // per loop
  yoke_fallback* fallbacks;  // per loop YOKE_FALLBACK_ROOM
  bool* is_affected;         // per signal of all groups: work of one fallback
} yoke_guard;

// What is counted of a flow; amounts in units of its output times seconds. All of it is a saved state.
typedef struct yoke_flow {
  double window;     // integral of the output since the last exchange,
  int64_t ticks;     // and the time that it covers
  double mean;       // that the receiver has now
  double last;       // output at the last slot, if a law gives it
  double early;      // sent before the exchange at the start
  double sent;       // from there to the last exchange
  double sent_size;  // the same of magnitudes: of single calls
  double
      unsure;  // what trapezoids can be off by: half the change of the output in each call times its length
  double arrived;      // by the inputs that acted
  double known;        // the same without the first intervals, in which the initial value acts
  double known_size;   // and of magnitudes
  double due_sent;     // at the last exchange: what had to have arrived,
  double due_arrived;  // and what had;
  double due_size;     // the larger of both in magnitudes
  int64_t n_taken;     // exchanges
  int64_t at_slot;     // of the last one
  int64_t seen_slot;   // at which a law was looked at last
} yoke_flow;

// What was sent up to an exchange.
typedef struct yoke_flow_lag {
  double sent, size;
} yoke_flow_lag;

// The balance of a flow in SI units.
typedef struct yoke_flow_result {
  double sent, arrived;  // up to now
  double size;           // sent, magnitudes of single calls added
  double unsure;         // share of it that its calls do not settle; 0: the sender integrates
  double due_sent, due_arrived;  // sent early enough to have arrived by the last exchange, arrived
  double balance;  // their difference over the larger of both; NaN: nothing to compare
} yoke_flow_result;

// Where the samples of one unit go (master_tape.c): after its calls, between exchanges too. Row j: the outputs, then the mean of
// the inputs of the calls that it covers, and if these are several, the inputs of the last one.
typedef struct yoke_tape_unit {
  size_t n_y, n_u;
  size_t* y;            // indices into Y
  const double** from;  // or where the unit itself holds them; NULL: they must be asked for
  size_t u;             // first index into U
  int64_t every;        // calls per row
  int64_t n_left;       // of the present row
  double* rows;         // NULL: nothing is kept of this unit
  double *to, *end;
  double* start;  // outputs and inputs before the first call
  double* sum;    // n_u: of the inputs of the present row
} yoke_tape_unit;

// Samples of units for an error estimate while the run goes on.
typedef struct yoke_tape {
  yoke_tape_unit* units;  // all of the system's
  size_t n_units;
  int64_t n_room;       // rows of each unit; the run goes on when they are full
  int64_t n_rows_step;  // rows of a macro step
  _Atomic int64_t
      n_steps;     // macro steps whose rows, and those of the trace, may be read by other threads
  bool is_broken;  // a state was restored: rows do not follow each other
} yoke_tape;

// The growth alarm of a judged signal and the times of its window; both the present if it has none.
typedef struct yoke_signal_growth {
  yoke_growth_alarm alarm;
  double t_from, t_to;  // [s]
} yoke_signal_growth;

typedef struct yoke_state {
  yoke_arena arena;
  int64_t n_slots;  // done
  double t;         // [s]
  double* unit_t;   // Gauss-Seidel: the time of each unit's newest outputs [s]

  double* y;  // outputs as everybody sees them
  double*
      y_work;  // where units that run ahead of the others put theirs (same as y if there are none)
  double* y_seen;               // what exchange reads: y, or y_work under Gauss-Seidel
  yoke_reading reading;         // how much of the outputs was asked for last,
  unsigned char* unit_reading;  // and per unit how much is fetched
  // per unit, of its typed values longer than a number: those in V are as they were at the exchange before, those in W as at
  // its step before; false: not known
  bool *are_outputs_same, *are_inputs_same;
  double* u;
  double* du;  // input derivatives
  double* fifo;
  // of system->sources: as it is now; exchanges so far; samples on their way
  yoke_sample_info* infos;
  int64_t* n_renewed;
  yoke_sample_info* info_ring;
  unsigned char *v, *v_work;  // typed outputs as everybody sees them, and of units that run ahead
  unsigned char *w, *w_set;   // typed inputs, now and as the units know them
  unsigned char* group_memory;
  double* group_numbers;
  const yoke_coupling_worker** workers;  // per group; NULL: it wants none
  size_t n_prepared;                     // groups whose method is ready
  const double** traces;                 // per group: what its method shows; NULL: nothing
  unsigned char* images;

  int64_t* intake_wait;   // slots until due
  int64_t* intake_count;  // exchanges so far
  bool* intake_due;
  int64_t* unit_wait;
  int64_t* group_since;  // ticks since the last sample

  // iterative schemes
  double *u_start, *u_end, *y_old;
  double*
      y_call;  // outputs as the last call returned them, before those with feedthrough are read with u_end
  struct yoke_iterate* iterate;
  yoke_iteration_info iteration;

  // energy ledger; NULL without bonds
  yoke_ledger* ledger;
  const double* ledger_values;
  yoke_ledger_view view_before, view_after;  // what it is shown, before and after the exchange
  yoke_corrected* corrected;                 // bonds whose method removes energy
  size_t n_corrected;
  double* strips;          // what units received and gave in each call of the slot
  struct yoke_held* held;  // bonds whose action a law rebuilds
  size_t n_held;
  double* held_actions;
  bool is_stopped;  // a quality limit ends the run

  yoke_flow* flows;          // as system->flows
  yoke_flow_lag* lags;       // per flow a ring
  double* D;                 // of through_terms, from the initialisation on; unknown: 0
  yoke_through* known;       // per number of D
  double* ahead;             // per output in throughs: what the inputs of this exchange add to it
  yoke_hot_term* hot_terms;  // as through_terms
  double*
      u_followed;  // as U: where derivatives have led the inputs at the end of a call; NULL: none are brought up to date
  double* closed;  // I - D L of the closed chains, factored, one behind the other
  size_t* closed_pivots;       // per output in throughs
  bool* is_closed_singular;    // per closed chain: its outputs are sent as they are
  double *before, *integrals;  // per output, of one call: at its start, over it

  yoke_watch watch;  // of the judged signals
  yoke_guard guard;  // of loops served by a method that can fall back
  yoke_tape* tape;   // of units, for an on-line error estimate; NULL: nobody asked

  // the step: fixed, or chosen by the residual as so many slots
  int64_t stretch, stretch_next;
  double slot_h, slot_h_next;  // [s]
  double omega_seen;           // how fast the bonds were lately, rho per second [1/s]
  double h_least, h_most;
  int64_t n_adaptive;

  yoke_hot* hot;                 // by thread, as system->thread_units
  yoke_step_values* hot_values;  // by unit
  bool has_foreign;              // some of them run code that is not ours
  yoke_hot_group* hot_groups;    // as system->groups
  yoke_open_signal* opens;       // of open groups
  size_t n_opens, n_closed;      // signals that are open; groups that are sampled and not open
  yoke_failure* failures;        // one per thread
  yoke_failure failure;          // the one that counts
  atomic_bool is_end_wanted;
  atomic_bool has_events;  // some unit's outputs have jumped since the last exchange:
  bool* is_jumped;         // per unit
  bool has_tap_jumps;      // some is_tap_jumped has been set
  bool* is_output_jumped;  // per output, work of one exchange
  bool* is_tap_jumped;     // per tap into a law or fresh unit: a jump waits for its next exchange
  bool* is_reset_due;      // per signal of the coupling groups: a jump comes with its next sample
  bool* is_lost;           // per signal: work of one exchange
  double* ages;            // per signal [s]: as long as the samples of an exchange are observed
  bool*
      is_due_signal;  // per signal, work of one exchange: it is observed by this call, or comes after a jump
  bool* is_seen_signal;  // and it has been at this exchange point
  bool* is_fifo_jump;    // per number in the delay lines: it comes after a jump

  yoke_mailbox mail;  // values written from outside

  struct yoke_pace* pace;  // of a run that follows the clock; NULL: it does not
  struct yoke_own* owns;   // units on threads of their own, by thread (master_own.c)
  size_t n_owns;
  bool is_behind;  // some of them stand at an earlier time than the rest

  yoke_record* record;
  int64_t record_wait;
  int64_t n_rows;
  _Atomic int64_t progress;  // slots done, for whoever watches
  atomic_size_t watched;     // 1 + the bond whose alarm began last; 0: none
  _Atomic uint64_t
      estimated;  // the worst on-line estimate: 1 + judged signal, then its relative band as float; 0: none
  const char** judged_names;  // of the judged signals, where there is an estimate
} yoke_state;

// As yoke__system_build, for a run: `calls: auto` is as many as the loops of the system ask for at the start (master_scout.c).
yoke_status yoke__master_build(yoke_scenario* scenario, const yoke_registry* registry,
                               yoke_messages* messages, yoke_system** out);
// Memory and consistent initial values: the system stands at its start time. Errors go to messages.
yoke_status yoke__master_create(yoke_system* system, yoke_messages* messages, yoke_state** out);
void yoke__master_destroy(yoke_system* system, yoke_state** state);

// Copies of a message and of a failure.
void yoke__failure_set(yoke_failure* failure, const yoke_message* message, size_t unit);
void yoke__failure_copy(yoke_failure* to, const yoke_failure* from);
// A sink that keeps the first message.
yoke_sink yoke__failure_sink(yoke_failure* failure);

// One slot, or all slots of one macro step. YOKE_ENDED if a unit asked to end; negative: state->failure.
yoke_status yoke__master_slot(const yoke_system* system, yoke_state* state);
yoke_status yoke__master_step(const yoke_system* system, yoke_state* state);
// One slot while a paced run stops: the ledger and the watch do not look.
yoke_status yoke__master_stopping_slot(const yoke_system* system, yoke_state* state);

// How much of the outputs every step fetches from the units; at the start all. Units that are slower than the exchange, have
// a thread of their own or are iterated stay with all. What nobody has read before is read now. Between two steps; a failure
// is the state's.
yoke_status yoke__master_set_reading(const yoke_system* system, yoke_state* state,
                                     yoke_reading reading);
// Whether a step brings a real output to where the loop keeps it; else the unit must be asked.
bool yoke__master_is_read(const yoke_system* system, const yoke_state* state, size_t unit,
                          size_t variable);
static inline size_t yoke__master_n_typed(const yoke_system* system, const yoke_state* state,
                                          size_t unit) {
  return system->units[unit].n_typed_read[state->unit_reading[unit]];
}

// Values from outside (master_mail.c): posted by any thread without waiting (YOKE_FULL: no room), taken over by the one that
// steps, before a macro step.
yoke_status yoke__master_post(yoke_state* state, const yoke_mail* mail);
yoke_status yoke__master_take_mail(const yoke_system* system, yoke_state* state);
static inline bool yoke__master_has_mail(const yoke_state* state) {
  return atomic_load_explicit(&state->mail.next, memory_order_relaxed) != state->mail.n_taken;
}

// Forgets what is waiting.
void yoke__master_drop_mail(yoke_state* state);

// Saved states (master_image.c). A message names the unit or method that cannot be saved; is_file: for another process.
yoke_status yoke__master_check_image(const yoke_system* system, bool is_file,
                                     const yoke_sink* sink);
// Everything but the units.
void yoke__master_image(const yoke_system* system, yoke_state* state, yoke_image* image);
// Calls something for each unit, from its own thread; what: "the state could not be saved". A failure is the state's.
yoke_status yoke__master_each_unit(const yoke_system* system, yoke_state* state,
                                   yoke_status (*call)(void* context, size_t unit), void* context,
                                   const char* what);
void yoke__master_clear_failure(const yoke_system* system, yoke_state* state);

// The balance of a flow so far (master_flow.c).
void yoke__master_flow(const yoke_system* system, const yoke_state* state, size_t flow,
                       yoke_flow_result* out);

// The growth of a judged signal so far.
void yoke__master_growth(const yoke_system* system, const yoke_state* state, size_t signal,
                         yoke_signal_growth* out);
// All fallbacks so far. The k-th of loop `loop`; NULL: there are not so many.
size_t yoke__master_count_fallbacks(const yoke_system* system, const yoke_state* state);
const yoke_fallback* yoke__master_fallback(const yoke_state* state, size_t loop, size_t k);
// "u0.f -> u1.f grew 130 times up to t = 0.5 s: its loop falls back to zero-order hold for a while".
void yoke__master_fallback_text(const yoke_system* system, const yoke_fallback* fallback, char* to,
                                size_t size);
// The signal that has diverged first (rule 1 of the verdict) and its growth; YOKE_NOT_FOUND: none. relative: per judged
// signal its error band over its scale, NaN where there is none; NULL: for none of them.
size_t yoke__master_find_diverged(const yoke_system* system, const yoke_state* state,
                                  const double relative[], yoke_signal_growth* out);
// A sentence about it, with its name.
void yoke__master_growth_text(const yoke_system* system, size_t signal,
                              const yoke_signal_growth* growth, char* to, size_t size);
// Limits of signals (master_limit.c): whether any was exceeded; a sentence about one that was.
bool yoke__master_is_limited(const yoke_system* system, const yoke_state* state);
void yoke__master_limit_text(const yoke_system* system, const yoke_state* state, size_t i, char* to,
                             size_t size);
// From here on the values of n signals (indices into Y; NULL: all judged signals) are kept in state->watch.trace, every so many
// macro steps and at most so many bytes, else a multiple of these. Before the first step, with memory of its own that is
// freed with the state; YOKE_BAD_ARG after it, YOKE_NO_MEMORY.
yoke_status yoke__master_keep(const yoke_system* system, yoke_state* state, const size_t y[],
                              size_t n, int64_t every, size_t max_bytes);

// From here on samples of units are kept in state->tape after their calls, and the judged signals as by yoke__master_keep.
// grid: ticks between two rows, a multiple of the period of every unit named and a part of the macro step; is_kept: per unit.
// No more than max_bytes, all of them touched here. Before the first step; not with iterative schemes or a step that the
// residual chooses. YOKE_BAD_ARG, YOKE_NO_MEMORY.
yoke_status yoke__master_tape(const yoke_system* system, yoke_state* state, int64_t grid,
                              const bool is_kept[], size_t max_bytes);
void yoke__master_end_tape(yoke_state* state);

// Gives the recorder a row for the present time. Waits for room, unless the run is paced: then the row is lost and counted.
yoke_status yoke__master_record(const yoke_system* system, yoke_state* state);

// --- between the files of this folder ---

yoke_status yoke__master_initialise(yoke_system* system, yoke_state* state,
                                    yoke_messages* messages);
// Everything due at the present slot: laws, fresh units, copies, samples.
yoke_status yoke__master_exchange(const yoke_system* system, yoke_state* state);
// Gauss-Seidel: marks what is due; then, per unit, its own inputs from the newest outputs.
void yoke__master_mark_due(const yoke_system* system, yoke_state* state);
void yoke__master_take_in(const yoke_system* system, yoke_state* state, size_t unit);
// Laws and fresh units, in order: those listed (n of them), as far as they are due.
yoke_status yoke__master_refresh(const yoke_system* system, yoke_state* state, const size_t units[],
                                 size_t n);
// Laws have no turn of their own under Gauss-Seidel: what they get with a delay is taken once per slot, at its start, before
// they are evaluated (open), and their delay lines move on after that (close).
void yoke__master_open_laws(const yoke_system* system, yoke_state* state);
void yoke__master_close_laws(const yoke_system* system, yoke_state* state);
// The value that a tap delivers now, from the outputs y.
double yoke__master_tap(const yoke_state* state, const yoke_tap* tap, const double y[],
                        int64_t count);
// All taps of a unit from y straight into u, whatever their interval.
void yoke__master_gather(const yoke_system* system, const yoke_state* state, size_t unit,
                         const double y[], double u[]);
// Typed connections into a unit, whatever their interval.
void yoke__master_run_moves(const yoke_system* system, yoke_state* state, size_t unit,
                            const double y[]);
// Typed inputs that changed go to the unit; typed outputs are fetched to where y (or y_work) has the real ones.
yoke_status yoke__master_set_typed(const yoke_system* system, yoke_state* state, size_t unit,
                                   yoke_failure* failure);
yoke_status yoke__master_get_typed(const yoke_system* system, yoke_state* state, size_t unit,
                                   double t, const double y[], yoke_failure* failure);
// The same with values that lie elsewhere, at the same offsets.
yoke_status yoke__master_set_typed_from(const yoke_system* system, const unsigned char w[],
                                        unsigned char w_set[], size_t unit, double t,
                                        yoke_failure* failure);
yoke_status yoke__master_get_typed_to(const yoke_system* system, unsigned char v[], size_t unit,
                                      size_t n, double t, yoke_failure* failure);
// The unit's linear model to where coupling methods look for it.
void yoke__master_linearise(const yoke_system* system, yoke_state* state, size_t unit);
// The same to another place; how many numbers these are.
void yoke__master_linearise_to(const yoke_system_unit* su, double A[]);
static inline size_t yoke__master_count_linear(const yoke_system_unit* su) {
  return su->has_linear ? (su->n_states + su->unit.n_y) * (su->n_states + su->unit.n_u) : 0;
}
// A thread for work beside the steps, asleep until there is some. may_wait: whoever asks for the end of the work gets it,
// so that results do not depend on time; a run that is paced by the clock must not wait. NULL: none could be made.
const yoke_coupling_worker* yoke__master_worker_create(bool may_wait);
// Between two steps: whether it waits from now on.
void yoke__master_worker_let_wait(const yoke_coupling_worker* face, bool may_wait);
void yoke__master_worker_destroy(const yoke_coupling_worker* face);
// Outputs into y; a number that is not finite is a failure.
yoke_status yoke__master_get_outputs(const yoke_system* system, size_t unit, double t, double y[],
                                     yoke_failure* failure);
// All calls of one unit that start in this slot; the units of one thread.
yoke_status yoke__master_advance(const yoke_system* system, yoke_state* state, size_t unit,
                                 yoke_failure* failure);
yoke_status yoke__master_advance_units(const yoke_system* system, yoke_state* state, int thread);
// Inputs that follow a polynomial, at the start of the call that begins `ticks` after the slot.
void yoke__master_extrapolate(const yoke_system* system, yoke_state* state, size_t first_group,
                              size_t n_groups, int64_t ticks);
// Paced runs (master_paced.c). What the safe actions make of the inputs of a unit, in u or, is_slope, in their derivatives.
void yoke__master_steer(const yoke_system* system, const yoke_state* state,
                        const yoke_system_unit* su, double u[], bool is_slope);
// The same of inputs that are no reals, straight to the unit.
yoke_status yoke__master_steer_typed(const yoke_system* system, const yoke_state* state,
                                     const yoke_system_unit* su);
// A unit has failed: whether the slot goes on without it, its last outputs held.
bool yoke__master_keep_unit(const yoke_system* system, yoke_state* state, size_t unit);
// What others want to know of call j: strips for the ledger, values for coupling methods.
// What a method says for its unit between exchanges, so many ticks after the present slot.
void yoke__master_ask(const yoke_system* system, yoke_state* state, const yoke_group* group,
                      int64_t ticks);
void yoke__master_send_value(const yoke_system* system, yoke_state* state,
                             const yoke_group_send* send, int64_t count, double y);
void yoke__master_keep_call(const yoke_system* system, yoke_state* state,
                            const yoke_system_unit* su, int64_t j, const double y[]);
// Units on threads of their own (master_own.c), which have a way of their own in a run by the clock alone. Memory; the start of
// such a run; at the start of a slot those that are due begin their steps; at its end those whose outputs are due are waited
// for until their deadline.
yoke_status yoke__master_lay_own(const yoke_system* system, yoke_state* state);
void yoke__master_open_own(const yoke_system* system, yoke_state* state);
void yoke__master_start_own(const yoke_system* system, yoke_state* state);
yoke_status yoke__master_join_own(const yoke_system* system, yoke_state* state);
// A unit that has not come back `watchdog` after its outputs were due; YOKE_NOT_FOUND: none. It takes no part any more.
size_t yoke__master_find_hung(const yoke_system* system, yoke_state* state, int64_t now_ns);
// The end of such a run: waits for those at work, but not for ever. Negative: one has failed (state->failures), or does not
// come back (state->failure).
yoke_status yoke__master_settle_own(const yoke_system* system, yoke_state* state);
// Afterwards, without a clock: units that were left behind make up for what they missed before the others go on.
yoke_status yoke__master_catch_up(const yoke_system* system, yoke_state* state);
// Its outputs are not those of the present time.
bool yoke__master_is_held(const yoke_state* state, size_t unit);
// By the clock: for the next step of the unit; false: no room now.
bool yoke__master_post_own(yoke_state* state, const yoke_mail* mail);
void yoke__master_image_own(yoke_state* state, yoke_image* image);
// A value written from outside, to the unit.
yoke_status yoke__master_deliver(const yoke_unit* unit, const yoke_mail* mail);

// One call of step with all its outcomes checked; quietly: what the others have to know of it is given back, and noted later.
yoke_status yoke__master_call_step(const yoke_system* system, yoke_state* state, size_t unit,
                                   double t, double h, yoke_failure* failure);
yoke_status yoke__master_call_quietly(const yoke_system* system, size_t unit, double t, double h,
                                      uint32_t* flags, yoke_failure* failure);
void yoke__master_note_flags(yoke_state* state, size_t unit, uint32_t flags);
// The derivatives of one order of all inputs at the start of a call, in state->du; orders in turn, from 1.
void yoke__master_find_derivatives(const yoke_system* system, yoke_state* state,
                                   const yoke_system_unit* su, int64_t ticks, int order);
// A failure of an operation of a unit: what it means here, with the unit's own reason behind it.
yoke_status yoke__master_fail_unit(yoke_failure* failure, const yoke_system* system, size_t unit,
                                   yoke_status status, double t, const char* format, ...)
    YOKE_PRINTF(6, 7);
yoke_status yoke__master_fail(yoke_failure* failure, const yoke_system* system, size_t unit,
                              yoke_status status, double t, const char* format, ...)
    YOKE_PRINTF(6, 7);
// The unit's own reason with a text in front; an output that is no number; a unit that noticed it itself.
yoke_status yoke__master_fail_not_finite(const yoke_system* system, size_t unit, double t,
                                         const double y[], yoke_failure* failure);
yoke_status yoke__master_fail_diverged(const yoke_system* system, size_t unit, double t,
                                       const char* said, yoke_failure* failure);
yoke_status yoke__master_fail_with(yoke_failure* failure, const yoke_system* system, size_t unit,
                                   yoke_status status, double t, const char* what, const char* said,
                                   const char* or_else);
// The failure of the lowest unit, so that the message does not depend on threads.
yoke_status yoke__master_collect_failures(const yoke_system* system, yoke_state* state);

// How good inputs are, for units that want to know it (master_source.c): memory; after an exchange, of all or of one unit;
// before a step; saved states.
yoke_status yoke__master_layout_sources(const yoke_system* system, yoke_state* state);
void yoke__master_note_sources(const yoke_system* system, yoke_state* state);
void yoke__master_note_unit_sources(const yoke_system* system, yoke_state* state, size_t unit);
static inline yoke_status yoke__master_tell_sources(const yoke_system_unit* su,
                                                    const yoke_sample_info infos[]) {
  return su->n_sources == 0 ? YOKE_OK
                            : su->unit.ops->set_input_info(su->unit.self, infos, su->n_sources);
}
void yoke__master_image_sources(const yoke_system* system, yoke_state* state, yoke_image* image);

// The ledger: memory; the consistent start; after an exchange, the actions that laws rebuild, and what an alarm does.
yoke_status yoke__master_lay_ledger(const yoke_system* system, yoke_state* state);
void yoke__master_start_ledger(const yoke_system* system, yoke_state* state);
yoke_status yoke__master_rebuild(const yoke_system* system, yoke_state* state);
void yoke__master_image_held(const yoke_system* system, yoke_state* state, yoke_image* image);
void yoke__master_take_alarm(yoke_state* state, yoke_alarm_level level);
// The judged signals (master_watch.c): memory, the consistent start, the end of a macro step, saved states, the end.
yoke_status yoke__master_layout_watch(const yoke_system* system, yoke_state* state);
void yoke__master_start_watch(const yoke_system* system, yoke_state* state);
void yoke__master_watch(const yoke_system* system, yoke_state* state);
void yoke__master_image_watch(const yoke_system* system, yoke_state* state, yoke_image* image);
void yoke__master_end_watch(yoke_state* state);
// Limits of signals (master_limit.c): memory; the consistent start, with a warning about those that are exceeded there; the end
// of a macro step; saved states.
yoke_status yoke__master_layout_limits(const yoke_system* system, yoke_state* state);
void yoke__master_start_limits(const yoke_system* system, yoke_state* state,
                               yoke_messages* messages);
void yoke__master_check_limits(const yoke_system* system, yoke_state* state);
void yoke__master_image_limits(const yoke_system* system, yoke_state* state, yoke_image* image);
// Loops that fall back (master_fallback.c): memory, the consistent start, after an exchange, saved states.
yoke_status yoke__master_layout_guard(const yoke_system* system, yoke_state* state);
void yoke__master_start_guard(yoke_state* state);
void yoke__master_guard(const yoke_system* system, yoke_state* state);
void yoke__master_image_guard(const yoke_system* system, yoke_state* state, yoke_image* image);
// Feedthrough (master_through.c): memory; D of one unit, while it is initialised and once it runs; closed chains, with a warning
// about those that have no solution; before outputs are sent.
yoke_status yoke__master_layout_through(const yoke_system* system, yoke_state* state);
yoke_status yoke__master_find_through(const yoke_system* system, yoke_state* state, size_t unit,
                                      bool is_running);
void yoke__master_factor_through(const yoke_system* system, yoke_state* state,
                                 yoke_messages* messages);
// What is known of the feedthrough of the output that a connection carries, now that the system is initialised.
yoke_through yoke__master_feedthrough(const yoke_system* system, const yoke_state* state,
                                      size_t link);
void yoke__master_look_ahead(const yoke_system* system, yoke_state* state);
// The same where everything is exchanged in every slot, without laws and fresh units: outputs are brought up to date in Y.
void yoke__master_bring_up_to_date(const yoke_system* system, yoke_state* state);
// Flows (master_flow.c): memory; before and after a call of a unit that feeds or receives some; the exchange of those into a
// unit that are due, or of all; laws, at the end of a slot; saved states.
yoke_status yoke__master_layout_flows(const yoke_system* system, yoke_state* state);
void yoke__master_receive(const yoke_system* system, yoke_state* state, size_t unit, double h);
yoke_status yoke__master_send(const yoke_system* system, yoke_state* state, size_t unit, double t,
                              double h, const double y[], yoke_failure* failure);
// The two parts of yoke__master_send, for calls that another thread made. Outputs before and after a call, and its integrals, are
// those of the unit alone.
typedef struct yoke_sent {
  double t, h;
  int64_t ticks;
  const double *before, *after, *integrals;
} yoke_sent;
yoke_status yoke__master_read_integrals(const yoke_system* system, size_t unit, double t,
                                        double integrals[], yoke_failure* failure);
yoke_status yoke__master_count_sent(const yoke_system* system, yoke_state* state, size_t unit,
                                    const yoke_sent* sent, yoke_failure* failure);
void yoke__master_take_flows(const yoke_system* system, yoke_state* state, const size_t flows[],
                             size_t n);
void yoke__master_meter_laws(const yoke_system* system, yoke_state* state);
void yoke__master_image_flows(const yoke_system* system, yoke_state* state, yoke_image* image);
// Adaptive step: the first one, and the next ones after each exchange.
void yoke__master_start_step(const yoke_system* system, yoke_state* state);
void yoke__master_choose_step(const yoke_system* system, yoke_state* state);

// Every signal may have jumped: coupling methods forget their history at the next exchange.
void yoke__master_declare_discontinuity(const yoke_system* system, yoke_state* state);
yoke_status yoke__master_layout_mail(yoke_state* state);
yoke_status yoke__master_lay_hot(const yoke_system* system, yoke_state* state);
// One of them anew: how much is read of the unit has changed.
void yoke__master_renew_hot(const yoke_system* system, yoke_state* state, size_t unit);
yoke_status yoke__master_prepare_iteration(const yoke_system* system, yoke_state* state);
yoke_status yoke__master_iterate(const yoke_system* system, yoke_state* state);

#endif
