// A system: what a file describes, with its units made and wired. Load it, look at it, make a simulation of it.
#ifndef YOKE_PUBLIC_SYSTEM_H
#define YOKE_PUBLIC_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/message.h"
#include "yoke/registry.h"
#include "yoke/status.h"
#include "yoke/unit.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_system yoke_system;

typedef struct yoke_load_settings {
  const yoke_registry* registry;  // NULL: the built-in units and methods
  const char* const* sets;        // "path=value" texts that change the file's settings
  size_t n_sets;
  const yoke_sink* sink;  // where messages go; NULL: nowhere
  // of a netlist on its own; ignored for other files
  double netlist_stop;  // end of the run [s], in whole rows; 0: that of its .tran
  bool
      has_short_names;  // columns are v(out), i(l1): voltages, currents and probes without the unit's name
  // Nothing is stepped while it is loaded: `calls: auto` then makes ten calls of an FMU, whatever they cost (docs/time.md).
  bool has_no_trials;
  // The unit of this name alone, without connections, as the other end of its port runs it ("": the only one with a port). NULL:
  // the whole system.
  const char* only;
} yoke_load_settings;

// Reads and wires a system file (.yaml), an SSP (.ssp), a netlist (.cir) or an FMU (.fmu). settings may be NULL.
// On failure *out is NULL and the sink got every error of the file, with file, line and column.
YOKE_API yoke_status yoke_system_load(const char* path, const yoke_load_settings* settings,
                                      yoke_system** out);
// The same from n bytes of YAML in memory; path names them in messages and is the base of relative paths.
YOKE_API yoke_status yoke_system_parse(const char* bytes, size_t n, const char* path,
                                       const yoke_load_settings* settings, yoke_system** out);
// NULL and a pointer to NULL are fine; *system becomes NULL. Its simulation must be gone: otherwise, and while
// its units are being closed, nothing happens and *system stays.
YOKE_API void yoke_system_destroy(yoke_system** system);

// ---- what is in it; texts live as long as the system

typedef struct yoke_system_info {
  const char *name, *path, *text;
  double t_start, t_stop, step;  // [s]; t_stop as whole steps reach it
  const char* scheme;    // "jacobi", "gauss-seidel", "iterative-jacobi", "iterative-gauss-seidel"
  const char* exchange;  // "stale" or "fresh"
  int n_threads;
  uint32_t formats;  // of the results (YOKE_RECORD_*)
  size_t n_units;    // units and laws; the laws are the last n_laws of them
  size_t n_laws, n_connections, n_bonds, n_couplings, n_columns;
  double pace;  // seconds of the system per second, by `time.pace`; 0: it does not follow the clock
} yoke_system_info;
// The system as a whole.
YOKE_API yoke_status yoke_system_get_info(const yoke_system* system, yoke_system_info* out);

typedef struct yoke_unit_view {
  const char* name;
  const char* type;  // name of the model, or path of the file
  yoke_unit_kind kind;
  bool is_law, is_fresh, is_isolated;
  double step;  // interval at which it is called [s]
  int thread;
  const char* file;  // where it stands in the system file
  int line, column;
  const yoke_unit_info* info;  // its variables, feedthrough, capabilities
  int64_t n_calls;             // in a macro step, by `calls`; 0: it has a step of its own
  bool has_auto_calls;         // their number was chosen by `calls: auto`
  const char* peer;            // address of the other end of its port; NULL: it has none
  bool is_paced;               // the other end follows the clock: a run has to, too
} yoke_unit_view;
// Units and laws in the order of the file. YOKE_BAD_ARG beyond the last one.
YOKE_API yoke_status yoke_system_get_unit(const yoke_system* system, size_t i, yoke_unit_view* out);

// One connection: n elements of an output to as many of an input.
typedef struct yoke_connection_view {
  size_t from_unit, from_variable, from_element;
  size_t to_unit, to_variable, to_element;
  size_t n;
  double gain, offset;
  int order;          // of the extrapolation
  double interval;    // between two exchanges [s]
  double delay;       // [s]
  size_t coupling;    // what serves it: index for yoke_system_get_coupling
  bool is_from_bond;  // written in a bond, not in `connections`
  bool is_averaged;   // it carries means over the interval, not samples
} yoke_connection_view;
// Connections, those of bonds last. YOKE_BAD_ARG beyond the last one.
YOKE_API yoke_status yoke_system_get_connection(const yoke_system* system, size_t i,
                                                yoke_connection_view* out);

typedef struct yoke_bond_view {
  const char* name;
  size_t action_unit, rate_unit;  // who gives the action, who gives the rate
  size_t n;                       // components
  double sign;
  double interval;  // between two exchanges [s]
  bool is_found;    // not written in the file: found from dimensions
  bool is_heat;     // heat flow and temperature
} yoke_bond_view;
// Bonds of the file, then those that were found. YOKE_BAD_ARG beyond the last one.
YOKE_API yoke_status yoke_system_get_bond(const yoke_system* system, size_t i, yoke_bond_view* out);

// A coupling method at work, with the settings that were resolved. The first one is what serves all connections that name
// none.
typedef struct yoke_coupling_view {
  const char* name;   // of the bond or coupling; "" for the first one
  const char* owner;  // "bond 'spring'", "coupling 'loop'"; "" for the first one
  const yoke_coupling_ops* ops;
  const double* parameters;  // ops->n_parameters
  const char* const* files;  // ops->n_files; NULL where none is given
} yoke_coupling_view;
// YOKE_BAD_ARG beyond the last one.
YOKE_API yoke_status yoke_system_get_coupling(const yoke_system* system, size_t i,
                                              yoke_coupling_view* out);

// ---- documents: JSON, freed with yoke_text_free

// The resolved system, {"format": "yoke-system", "version": 1, ...}: units with their settings, wiring, orders, bonds, methods.
YOKE_API yoke_status yoke_system_describe(const yoke_system* system, char** json);
// What there is under a name: NULL: all models and coupling methods ("yoke-models"); a model ("yoke-model"); a coupling method
// ("yoke-method"); an FMU ("yoke-fmu"); a netlist ("yoke-circuit"); a shared library ("yoke-library"); a system file or SSP
// ("yoke-system", as above). settings may be NULL; its sets change a system or the parameters of a netlist ("name=value"), its
// registry adds models and methods. Remarks about an FMU or a netlist are part of its document; the sink gets those about a
// system, and every error. On failure *json is NULL; YOKE_NO_SUCH_NAME: nothing has this name.
YOKE_API yoke_status yoke_describe(const char* what, const yoke_load_settings* settings,
                                   char** json);
// Frees a document. NULL and a pointer to NULL are fine, *text becomes NULL.
YOKE_API void yoke_text_free(char** text);

#ifdef __cplusplus
}
#endif
#endif
