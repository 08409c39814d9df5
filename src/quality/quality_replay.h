// Total energy residual of recorded signals: what a meter between two units would have said, and
// how far the power of a bond was from that of a reference. The concept pages are docs/meter.md and
// docs/compare.md.
//
// Between two rows k and k+1 of a recording each of the four signals of a bond has one value: that
// of row k (as a meter takes it at the start of its step) or that of row k+1 (as a step returns it
// at its end), or it is a straight line.
#ifndef YOKE_QUALITY_REPLAY_H
#define YOKE_QUALITY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_arena.h"
#include "energy/energy_ter.h"
#include "energy/energy_window.h"
#include "yoke/message.h"

#define YOKE_REPLAY_N_SIGNALS 4

// One of the four signals.
typedef struct yoke_replay_signal {
  const double* const*
      columns;          // one per component, n_rows each; an empty cell (base_csv.h) is no sample
  const double* scale;  // per component, to SI; NULL: all 1
  bool is_at_end;       // the value over an interval is that of the row at its end
} yoke_replay_signal;

// A recorded bond.
typedef struct yoke_replay_bond {
  const double* t;  // never decreasing [s]
  size_t n_rows;
  size_t n;                                           // components
  yoke_replay_signal signals[YOKE_REPLAY_N_SIGNALS];  // in the order of yoke_ter_signal
} yoke_replay_bond;

typedef struct yoke_replay_settings {
  double window;    // [s]
  double floor;     // least throughput to divide by [J]
  double from, to;  // only this part [s]; -INFINITY and INFINITY: all
  bool is_linear;   // straight lines between the rows
} yoke_replay_settings;
// As the meter unit: 1 s, 1e-9 J, everything, held.
extern const yoke_replay_settings yoke__replay_defaults;

// What the meter shows after an interval; the first nine are named and ordered as its outputs.
typedef struct yoke_replay_values {
  double ter, dP, dE, throughput, rter, ter_window, rter_window, flow_part, effort_part;
  double flow_defect, effort_defect;  // sum of |d_f| dt and |d_e| dt
  uint64_t n_bad;
} yoke_replay_values;

typedef struct yoke_replay {
  const yoke_replay_bond* bond;
  yoke_replay_settings settings;
  double step;           // of all rows; 0 if they are not equally spaced
  size_t row;            // the next interval begins here
  double* columns;       // 4 n columns of n_rows: scaled, without empty cells
  double *left, *right;  // 4 n numbers each
  yoke_ter sums;
  yoke_window recent;
  yoke_replay_values values;
  double t_first, t;  // from and to what has been accounted [s]; equal: nothing yet
  size_t n_intervals;
  double ter_window_worst, t_ter_window_worst;
  double rter_window_worst, t_rter_window_worst;
} yoke_replay;

// The step of equally spaced times: the decimal number with the fewest digits that explains all of
// them to a few roundings, 0 if there is none. Times in a file are rounded, so that their
// differences are not: with it the sums have the bits of a unit that was stepped by that number.
double yoke__replay_step(const double t[], size_t n);

// Prepares; everything is allocated in the arena, the bond must live on. YOKE_BAD_INPUT:
// fewer than two rows, a time that is not finite or goes back, nothing between from
// and to, a window or floor that is not positive.
yoke_status yoke__replay_start(yoke_replay* replay, const yoke_replay_bond* bond,
                               const yoke_replay_settings* settings, yoke_arena* arena,
                               const yoke_sink* sink);
// Accounts the next interval; false: there is none.
bool yoke__replay_next(yoke_replay* replay);

// -------------------------------------------------------------------------------------------------
// error energy

// Power of the reference at its own times, never decreasing; NaN: unknown there.
typedef struct yoke_power_reference {
  const double *t, *p;
  size_t n;
} yoke_power_reference;

typedef struct yoke_error_energy {
  double total;            // sum of |p~ - p| dt [J]
  double t_first, t_last;  // what it covers [s]
  size_t n_intervals;
  size_t n_bad;  // intervals left out because a power was not finite
} yoke_error_energy;

// p~ [W]: n_rows - 1 numbers, the power over each interval of t; p is the polygon through the
// reference, taken at the end of each interval, where the outputs belong. Intervals that the
// reference does not reach are left out. YOKE_BAD_INPUT: no interval in
// common, times that are not finite or go back.
yoke_status yoke__replay_error_energy(const double t[], size_t n_rows, const double power[],
                                      const yoke_power_reference* reference, yoke_error_energy* out,
                                      const yoke_sink* sink);

#endif
