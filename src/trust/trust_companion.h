// A companion: the same system computed in another way, beside the run and without any effect on it. Its judged signals are
// kept at the points in time at which the run keeps its own.
#ifndef YOKE_TRUST_COMPANION_H
#define YOKE_TRUST_COMPANION_H

#include <stdatomic.h>

#include "base/base_fork.h"
#include "master/master.h"
#include "scenario/scenario_companion.h"

typedef enum yoke_companion_status {
  YOKE_COMPANION_WAITING,    // not run yet
  YOKE_COMPANION_DONE,       // has all points
  YOKE_COMPANION_REFUSED,    // the system cannot be built or started that way
  YOKE_COMPANION_FAILED,     // a unit failed or ended early
  YOKE_COMPANION_DIVERGED,   // a value is not finite
  YOKE_COMPANION_LIMITED,    // needed too many calls of units
  YOKE_COMPANION_CANCELLED,  // the run failed or was interrupted
  YOKE_COMPANION_LEFT_OUT,   // would have taken too long
} yoke_companion_status;
extern const char* const yoke__companion_status_names[];

// One way to compute a companion.
typedef struct yoke_companion_way {
  const char* what;  // for people: "half the steps"
  yoke_companion_recipe recipe;
  bool is_strict;  // units that want equal steps keep theirs
} yoke_companion_way;

#define YOKE_MAX_WAYS           5
#define YOKE_COMPANION_PRIORITY 10  // nice: the run comes first

// What all companions of a run have in common.
typedef struct yoke_companion_plan {
  const yoke_system* system;                    // of the run
  const yoke_companion_unit* units;             // what their steps allow,
  const yoke_companion_unit* strict;            // and where units that want equal steps keep theirs
  const yoke_scenario_connection* connections;  // one per link, with `average` as it acts
  size_t n;                                     // signals
  int64_t n_rows;                               // points in time kept of each
  int64_t thin;                                 // macro steps of the run between two points
  const double* times;                          // of the points; NULL: thin macro steps apart
  bool is_apart;                                // foreign code: in a process of its own
  struct yoke_companion_store*
      store;        // of companions that other runs have had (trust_store.h); NULL: none
  int64_t n_calls;  // of units, planned for the run
} yoke_companion_plan;

// What a companion leaves; in memory that its process shares with this one.
typedef struct yoke_companion_result {
  atomic_bool is_cancelled;    // asked for from outside
  _Atomic int64_t most_calls;  // it may make
  yoke_companion_status status;
  int64_t n_rows;  // complete
  int64_t n_calls;
  double wall_s;
  double t;              // reached [s]
  char why[320];         // it is not done
  yoke_status shortage;  // that kept it from being done (base_status.h); YOKE_OK: none
  double values[];       // n_rows * n of the signals, then the totals at its end
} yoke_companion_result;

// Totals: the energy given through each bond of the run, then three numbers per flow of the run: what was sent, the same of
// magnitudes, and the step at which its sender is called [s] (NaN: the companion does not count that flow).
#define YOKE_FLOW_TOTALS 3
size_t yoke__companion_n_totals(const yoke_system* system);
double yoke__companion_sender_step(const yoke_system* system, size_t flow);

typedef struct yoke_companion {
  const char* name;  // "A", "B"
  yoke_companion_way ways[YOKE_MAX_WAYS];
  size_t n_ways, way;               // the one that was run last
  const yoke_companion_plan* plan;  // that its server knows
  yoke_fork_server server;          // makes the processes that it runs in; is_up: there is one
  yoke_shared memory;
  yoke_companion_result* result;
  int64_t n_calls_made;       // of units, by all ways that were run for it
  atomic_bool* cancelled_by;  // ends it as its own result does; NULL: none
  bool is_left_out;           // it would have taken too long
  bool is_grown;              // it diverges where the run does not
  bool is_usable;
  char why[320];  // it is not usable
} yoke_companion;

// Memory for its result. YOKE_NO_MEMORY.
yoke_status yoke__companion_create(const yoke_companion_plan* plan, yoke_companion* companion);
void yoke__companion_destroy(yoke_companion* companion);
// For companions in processes of their own: prepares for them while this process is quiet. Its ways and the plan are as they
// will be. Without it they are copies of this process as it is when they start.
void yoke__companion_prepare(const yoke_companion_plan* plan, yoke_companion* companion);
// Runs its present way.
void yoke__companion_run_way(const yoke_companion_plan* plan, yoke_companion* companion);
// Notes that it would need too many calls of units.
void yoke__companion_limit(yoke_companion_result* result);
// Runs one way after the other, from `way` on, until one is done or it is cancelled.
void yoke__companion_run(const yoke_companion_plan* plan, yoke_companion* companion);
// Calls of units in a whole run of a system, iterations not counted.
int64_t yoke__companion_calls(const yoke_system* system);
// Those that were made so far, iterations included.
int64_t yoke__companion_calls_made(const yoke_system* system, const yoke_state* state);
// The same that a way of computing it will make, from the calls of the run.
double yoke__companion_cost(const yoke_companion_plan* plan, const yoke_companion_way* way);

#endif
