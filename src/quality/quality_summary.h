// What summary.json says about the bonds of a recorded run: their energies, the conventions these
// were computed by, and which columns of the results hold their signals. Numbers computed by
// different conventions must not be compared. And a recorded result as a whole.
#ifndef YOKE_QUALITY_SUMMARY_H
#define YOKE_QUALITY_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base_arena.h"
#include "base/base_csv.h"
#include "base/base_map.h"
#include "energy/energy_ter.h"
#include "yoke/message.h"

#define YOKE_SUMMARY_FILE "summary.json"

// What an output that depends on an input at the same instant was computed with when it was sent.
typedef enum yoke_feedthrough_use {
  YOKE_FEEDTHROUGH_NONE,  // the output does not depend on the partner's
  // the partner's value of the last exchange: stale Jacobi; Gauss-Seidel, first of the two
  YOKE_FEEDTHROUGH_OLD,
  // the partner's newest: fresh Jacobi, laws; Gauss-Seidel, second of the two; iteration
  YOKE_FEEDTHROUGH_NEW,
} yoke_feedthrough_use;

// One of the two units of a bond.
typedef struct yoke_summary_end {
  const char* unit;
  bool is_law;
  bool is_fresh;  // its outputs were read again after the exchange
  // where the inputs that acted in a step lie between its two rows, on the mean: 0 in the row at its start, 1 in the one at
  // its end
  double input_share;
  double step;  // [s]
  yoke_feedthrough_use use;
} yoke_summary_end;

// Components of a bond: names of the columns in the order of yoke_ter_signal, and factors to SI
// with the bond's sign.
typedef struct yoke_summary_component {
  const char* columns[4];  // NULL: nothing is moved, so nobody receives it
  double scale[4];
} yoke_summary_component;

typedef struct yoke_summary_bond {
  const char* name;
  bool is_heat, has_ter;
  double interval;  // between two exchanges [s]; NaN: not said
  // of the whole run [J], NaN if not said; defects [SI s]
  double ter, net, throughput, rter, flow, effort, flow_defect, effort_defect;
  yoke_summary_end ends[2];  // [0] gets the action and gives the rate, [1] the other way round
  yoke_summary_component* components;  // in the order of the bond
  size_t n;                            // 0: the signals are not known
} yoke_summary_bond;

typedef struct yoke_summary {
  bool has_ledger;
  const char *scheme, *exchange;  // "jacobi", "fresh"; "" if not said
  const char *residual, *ter;     // conventions of the ledger in words
  double t_start, t_reached, step;
  yoke_summary_bond* bonds;
  size_t n_bonds;
} yoke_summary;

// Reads the n bytes of a summary.json; all texts go to the arena. What is missing stays NaN, "" or
// 0. YOKE_BAD_INPUT if it is no JSON or no object, or YOKE_NO_MEMORY.
yoke_status yoke__summary_parse(const char* bytes, size_t n, yoke_arena* arena, yoke_summary* out,
                                const yoke_sink* sink);
// The bond of that name, or NULL.
const yoke_summary_bond* yoke__summary_find(const yoke_summary* summary, const char* name);

// A recorded result: its table, and the summary of the run that made it.
typedef struct yoke_recorded {
  const char* path;  // as given
  yoke_csv csv;      // column 0 is the time
  yoke_map names;    // of the columns behind it
  bool has_summary;
  yoke_summary summary;  // empty without one
} yoke_recorded;

// Values of a column of numbers; NULL if it is missing or text, or name is NULL.
const double* yoke__recorded_column(const yoke_recorded* result, const char* name);

#endif
