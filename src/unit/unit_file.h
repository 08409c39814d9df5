// Units that come out of a file: FMUs, netlists (as circuits or twins) and shared libraries. Opening a file gives a table of operations like that of a native
// model, with the settings that shape the unit (`structure`) read from the file.
#ifndef YOKE_UNIT_FILE_H
#define YOKE_UNIT_FILE_H

#include "base/base_message.h"
#include "yoke/unit.h"

typedef enum yoke_unit_interface {
  YOKE_INTERFACE_AUTO,  // co-simulation where there is one, else model exchange
  YOKE_INTERFACE_CO_SIMULATION,
  YOKE_INTERFACE_MODEL_EXCHANGE,
  YOKE_INTERFACE_SCHEDULED_EXECUTION,
} yoke_unit_interface;

typedef enum yoke_unit_wait { YOKE_WAIT_AUTO, YOKE_WAIT_SPIN, YOKE_WAIT_SLEEP } yoke_unit_wait;

// What the system file says about a unit beside `with` and `start`. Texts live as long as the unit.
typedef struct yoke_unit_file_settings {
  yoke_unit_kind kind;  // a model or law only if it is to be isolated
  const char* path;     // absolute, or relative to the working directory; of a model its name
  const char* model;    // library: name of the unit in it; NULL: the only one
  const char* name;     // of the unit, for messages
  yoke_place place;     // of the path in the system file
  yoke_place model_place;
  yoke_unit_interface interface_type;
  const char*
      solver;  // model exchange: "dopri5", "cvode", "rk4", "euler", "trapezoidal"; NULL: chosen by the unit
  double
      solver_step;  // [s]; of a fixed step 0: the experiment's step, else the unit's step / 10; else the longest step
  double solver_tolerance;  // dopri5, cvode; 0: the experiment's, else 1e-6
  bool is_paced;            // the run follows the clock: the default solver does bounded work
  // circuits: `solver` is one of their methods, `solver_step` 0 means that of the netlist
  const char* solver_formulation;  // NULL: that of the netlist, else "nodal"
  const struct yoke_netlist*
      netlist;  // what was read of the file before, for as long as the unit; NULL: nothing
  int solver_iterations;   // fixed number in each stage; 0: that of the netlist
  double call_step;        // [s] at which the unit will be called; 0: not known
  int64_t n_calls;         // by which a macro step was divided to make it; 0: not known
  bool has_internal_step;  // co-simulation FMUs:
  double internal_step;    // of their own solver [s]; 0: exact
  bool is_logging;         // FMU log messages of all categories
  bool is_strict;          // faults that are lived with otherwise are refused
  bool is_event_mode_off;  // FMI 3.0: never use event mode
  bool is_fresh;           // outputs that follow inputs at once are read again with new ones
  bool is_iterated;        // the same at the end of every step of an iterative scheme
  // a process of its own
  bool is_isolated;
  yoke_unit_wait wait;
  double timeout_s;                       // longest call; 0: 60 s
  uint64_t max_memory;                    // bytes of address space; 0: no limit
  const struct yoke_twin_settings* twin;  // of a twin (unit/twin/unit_twin.h)
  // of a trial: where that process works, and nobody sees what it prints; NULL: as everywhere
  const char* trial_folder;
} yoke_unit_file_settings;

// An open file. Several units may use one file: the heavy parts are shared by whoever opened it through one store.
typedef struct yoke_unit_file {
  const yoke_unit_ops* ops;            // ops->context leads back to the file
  const struct yoke_netlist* netlist;  // of a circuit: other units of the same file use it too
  void (*close)(struct yoke_unit_file* file);
} yoke_unit_file;

typedef struct yoke_unit_store yoke_unit_store;
yoke_status yoke__unit_store_create(yoke_unit_store** out);
// Closes all files opened through it; no unit of theirs may be left.
void yoke__unit_store_destroy(yoke_unit_store** store);
// A shared library, loaded once; it lives as long as the store.
struct yoke_shared_library;
yoke_status yoke__unit_store_library(yoke_unit_store* store, const char* path,
                                     const struct yoke_shared_library** library,
                                     const yoke_sink* sink);
// Opens a file. Errors and warnings go to messages. The ops live as long as the store.
yoke_status yoke__unit_store_open(yoke_unit_store* store, const yoke_unit_file_settings* settings,
                                  yoke_messages* messages, const yoke_unit_ops** ops);

#endif
