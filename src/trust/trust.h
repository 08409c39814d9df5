// How far to trust a run: its companions while it runs, bands and verdicts when they have ended.
//
//   begin    companions start on free processors; samples of the run are kept
//   watch    now and then while the run goes on: leaves out what would take too long
//   finish   the run has ended: waits for the companions and judges
#ifndef YOKE_TRUST_TRUST_H
#define YOKE_TRUST_TRUST_H

#include "base/base_os.h"
#include "quality/quality_trust.h"
#include "trust/trust_companion.h"
#include "trust/trust_online.h"
#include "trust/trust_store.h"
#include "yoke/trust.h"

enum { YOKE_COMPANION_A, YOKE_COMPANION_B, YOKE_N_COMPANIONS };

typedef struct yoke_trust {
  yoke_arena arena;
  const yoke_system* system;
  yoke_state* state;
  yoke_trust_mode mode;  // as it was resolved
  yoke_companion_plan plan;
  yoke_companion companions[YOKE_N_COMPANIONS];
  size_t n_companions;  // asked for, A first
  char none[160];       // why there is none although the caller might want one; "" if nobody asked
  size_t order[YOKE_N_COMPANIONS];
  atomic_size_t next;        // of the order: to be run by the next worker that is free
  _Atomic uint32_t n_ended;  // companions
  yoke_thread* workers[YOKE_N_COMPANIONS];
  bool is_started;
  bool is_alone;              // one companion at a time, and not beside the run
  char left_out[320];         // what `auto` left out, and how to have it
  yoke_trust_online* online;  // without companions: the estimate of the run itself; NULL: none
  // the outcome
  bool is_judged;
  bool is_bound;               // the bands are the least that they can be
  bool has_grown;              // the run: a growth alarm came
  yoke_trust_signal* signals;  // in the order of the system,
  size_t* ranked;              // and worst first
  size_t n_signals;
  const double* samples;  // of the run: row k, signal i at k * n_signals + i
  int64_t n_rows;
  yoke_trust_loop* loops;
  size_t n_loops;
  yoke_trust_loop run;
} yoke_trust;

// What the steps of the units of a system allow, one per unit and law.
void yoke__trust_units(const yoke_system* system, yoke_companion_unit units[]);
// Before the first step. mode: none of those that have to be resolved. YOKE_NO_MEMORY.
yoke_status yoke__trust_begin(const yoke_system* system, yoke_state* state, yoke_trust_mode mode,
                              yoke_trust** out);
// The same where many runs share the processors: companions wait for the end of the run, and for each other.
yoke_status yoke__trust_begin_alone(const yoke_system* system, yoke_state* state,
                                    yoke_trust_mode mode, yoke_trust** out);
// The same for one of several runs of a description: companions start with yoke__trust_finish, and those that do not depend
// on the method of the run are kept in the store, which must outlive the trust.
yoke_status yoke__trust_begin_stored(const yoke_system* system, yoke_state* state,
                                     yoke_trust_mode mode, yoke_companion_store* store,
                                     yoke_trust** out);
// The run has ended well: judges it by the least that its bands can be, from companion B alone as the store knows it. Nothing
// is run, and yoke__trust_finish may follow. YOKE_NO_SUPPORT: the store does not know enough.
yoke_status yoke__trust_bound(yoke_trust* trust);
// Calls of units that a companion would make; 0: there is none, or the store knows it.
double yoke__trust_cost(const yoke_trust* trust, size_t companion);
// share: done of the run, 0 to 1; cpu_s: computing time so far.
void yoke__trust_watch(yoke_trust* trust, double share, double cpu_s);
// Ends the companions without a verdict.
void yoke__trust_cancel(yoke_trust* trust);
// The run is judged without companions; those that go on end.
void yoke__trust_give_up(yoke_trust* trust, const char* why);
// The shortage that kept a companion from being done; YOKE_OK: none. What is said of the run is then not what it would be
// elsewhere.
yoke_status yoke__trust_shortage(const yoke_trust* trust);
// Waits for the companions and judges. status: how the run ended. YOKE_INTERRUPTED once goes_on says no.
yoke_status yoke__trust_finish(yoke_trust* trust, yoke_status status, double cpu_s,
                               bool (*goes_on)(void* to), void* to);
void yoke__trust_destroy(yoke_trust** handle);

// Bands and verdicts, once the companions have ended. Between the files of this folder.
yoke_status yoke__trust_judge(yoke_trust* trust);
// The time of a row of samples [s].
double yoke__trust_time(const yoke_trust* trust, int64_t row);
// The first signal that diverged, of those that decide; NULL: none. Once it is judged.
const yoke_trust_signal* yoke__trust_find_diverged(const yoke_trust* trust);
// Whether some signal has an error band.
bool yoke__trust_has_bands(const yoke_trust* trust);
// What companions say of the amount of a flow; all 0: nothing.
yoke_flow_check yoke__trust_check(const yoke_trust* trust, size_t flow);
// Energy given through a bond by companion A up to where the run ended [J]; NaN: not known.
double yoke__trust_given_half(const yoke_trust* trust, size_t bond);
// Where the largest difference of signal i is [s]; NaN if there is none.
double yoke__trust_worst_time(const yoke_trust* trust, size_t i);
// The band of signal i at every row of samples. YOKE_NO_SUPPORT: it has none.
yoke_status yoke__trust_course(const yoke_trust* trust, size_t i, double out[]);

#endif
