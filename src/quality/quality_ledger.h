// The energy ledger: what every bond of a system exchanged, how much of it the coupling invented, and whether that is
// too much. Plain numbers in, plain numbers out: it knows vectors of outputs Y and inputs U and nothing of units.
//
// Two residuals are kept side by side, because they answer different questions (docs/ledger.md):
//   samples   dP = B_k . A_k+1 - B_k+1 . A_k of the outputs at exchange points; mu dP H is the energy a step created
//   ter       dP = e_in . f_out - f_in . e_out of inputs as applied and outputs as returned, on the union of the steps
//             of both units; its magnitude summed up is the total energy residual (TER)
//
// After create nothing here allocates; work per slot is bounded by the number of bonds.
#ifndef YOKE_QUALITY_LEDGER_H
#define YOKE_QUALITY_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_arena.h"
#include "base/base_image.h"
#include "energy/energy_monitor.h"
#include "energy/energy_ter.h"
#include "energy/energy_window.h"
#include "yoke/status.h"
#include "yoke/trust.h"

typedef enum yoke_bond_kind {
  YOKE_BOND_POWER,  // the product is a power
  YOKE_BOND_HEAT,   // heat flow and temperature: their product is not, the heat is balanced instead
} yoke_bond_kind;

typedef enum yoke_residual_kind {
  YOKE_RESIDUAL_SAMPLES,
  YOKE_RESIDUAL_HELD,  // action rebuilt by a law, with the partner's old samples and with the new ones
} yoke_residual_kind;

// Where mu comes from, or why there is none.
typedef enum yoke_mu_origin {
  YOKE_MU_AUTOMATIC,
  YOKE_MU_GIVEN,
  YOKE_MU_BOTH_FEEDTHROUGH,
  YOKE_MU_IMPLICIT,
  YOKE_MU_GAUSS_SEIDEL,
  YOKE_MU_ITERATIVE,
  YOKE_MU_MODEL,
  YOKE_MU_MEANS,
  YOKE_MU_NO_POWER,
} yoke_mu_origin;

// What can be limited.
typedef enum yoke_indicator {
  YOKE_INDICATOR_RHO,  // |dP| relative to the peaks of action and rate: is the exchange fast enough?
  YOKE_INDICATOR_EPS,   // energy created within the window relative to the bond's energy
  YOKE_INDICATOR_RTER,  // TER within the window relative to the transferred energy
  YOKE_N_INDICATORS,
} yoke_indicator;

typedef struct yoke_ledger_limits {
  double value[YOKE_N_INDICATORS];  // INFINITY: none
} yoke_ledger_limits;

// How a bond is watched. Defaults in brackets.
typedef struct yoke_ledger_watch {
  yoke_ledger_limits warn;  // [rho 0.25, eps 0.01, rter 0.05]
  yoke_ledger_limits stop;  // [none]
  bool is_given
      [YOKE_N_INDICATORS];  // warn limits of the user: a violation changes the exit status, as those of stop do
  double period;      // of the signals [s]; 0: as the action shows it (quality_period.h) [0]
  double window;      // [s]; 0: 10 periods [0]
  double settle;      // not judged before [s]; negative: 5 periods [-1]
  int64_t persist;    // stop.rho: more samples than this within the window [10]
  double hysteresis;  // a warning ends below this share of its limit [0.8]
} yoke_ledger_watch;

// One of the two units of a bond: n received and n given numbers.
typedef struct yoke_ledger_end {
  const size_t *in, *out;              // indices into U and Y
  const double *in_scale, *out_scale;  // to SI, the bond's sign in those of the action
  int64_t n_steps;  // calls of the unit per slot; above 1 its values come from a strip
  size_t strip;     // first number of the strip: per call n received, then n given (raw)
  int64_t n_slots;  // slots per call, above 1 for slow units
  bool is_law;      // evaluated at the exchange: its values are read after it
  bool is_ahead;    // slow unit: what it gives lies in y_ahead until its step ends
} yoke_ledger_end;

typedef struct yoke_ledger_bond {
  const char* name;
  yoke_bond_kind kind;
  yoke_residual_kind residual;
  size_t n;                                 // components
  int64_t every;                            // slots between two exchanges
  double interval;                          // the same [s]
  double longest;                           // the longest one, where the residual chooses it [s]
  const size_t *action, *rate;              // indices into Y
  const double *action_scale, *rate_scale;  // to SI, the bond's sign in the action's
  double mu;                                // NaN if unknown
  yoke_mu_origin mu_origin;
  bool has_ter;
  yoke_ledger_end ends[2];  // [0] gets the action and returns the rate, [1] the other way round
  double energy;            // reference energy [J]; 0: the range of what has passed so far
  bool is_adaptive;         // the interval is the shortest one: the residual chooses it
  bool is_autonomous;       // no unit of its loop has an input from elsewhere or depends on time
  bool is_corrected;        // a coupling method removes energy: see yoke__ledger_remainder
  yoke_ledger_watch watch;
} yoke_ledger_bond;

// What a bond shows at exchange points, in the order of the recorded columns bond.NAME.*
typedef enum yoke_ledger_value {
  YOKE_LEDGER_P,    // power that passes: action . rate [W]
  YOKE_LEDGER_DP,   // residual power of samples [W]
  YOKE_LEDGER_DE,   // its sum over the steps [J]
  YOKE_LEDGER_RHO,  // [1]
  YOKE_LEDGER_TER,  // [J]
  YOKE_LEDGER_N_VALUES,
} yoke_ledger_value;
extern const char* const yoke__ledger_value_names[YOKE_LEDGER_N_VALUES];
extern const char* const yoke__ledger_value_dims[YOKE_LEDGER_N_VALUES];

typedef enum yoke_alarm_level {
  YOKE_ALARM_NONE,
  YOKE_ALARM_WARN,
  YOKE_ALARM_STOP
} yoke_alarm_level;

typedef struct yoke_alarm {
  size_t bond;
  yoke_indicator indicator;
  yoke_alarm_level level;
  double t;             // when it began [s]
  double t_end;         // when it ended; NaN: not yet
  double value, limit;  // value when it began
  double worst;
  bool is_given;  // the user gave this limit
} yoke_alarm;

#define YOKE_LEDGER_MAX_ALARMS 256  // kept one by one; beyond that they are only counted

typedef struct yoke_ledger yoke_ledger;

// Lays everything into the arena. bonds must live as long as the ledger. slot: length of a slot [s].
yoke_status yoke__ledger_create(yoke_arena* arena, const yoke_ledger_bond bonds[], size_t n_bonds,
                                double slot, yoke_ledger** out);
// The consistent initial values at t.
void yoke__ledger_start(yoke_ledger* ledger, double t, const double y[]);
// What the units gave and got: outputs (y_ahead: of units in the middle of a long step), inputs as applied, and strips of
// units with several calls per slot.
typedef struct yoke_ledger_view {
  const double *y, *y_ahead, *u, *strips;
} yoke_ledger_view;
// TER of the slot of length h that just ended, before anything is exchanged.
void yoke__ledger_account(yoke_ledger* ledger, double h, const yoke_ledger_view* view);
// Residuals and alarms after the exchange at t. held: per bond with that residual n numbers, the action rebuilt with the
// partner's old samples (raw), in bond order. Returns the worst level now.
yoke_alarm_level yoke__ledger_observe(yoke_ledger* ledger, double t, double h,
                                      const yoke_ledger_view* view, const double held[]);
// How a bond's own monitor is set; NULL if its times follow the signals.
const yoke_monitor_settings* yoke__ledger_monitor_settings(const yoke_ledger* ledger, size_t bond);
// A method that watches the same samples of a bond with these settings lends its monitor, updated before each observe.
void yoke__ledger_share_monitor(yoke_ledger* ledger, size_t bond, yoke_monitor* monitor);
// A value was written from outside: no loop is left to itself any more.
void yoke__ledger_note_write(yoke_ledger* ledger);
// Where a method that corrects a bond says before observe how much of the created energy is still there [J].
double* yoke__ledger_remainder(yoke_ledger* ledger, size_t bond);
// YOKE_LEDGER_N_VALUES numbers per bond; with more than one bond, then the same of the total.
const double* yoke__ledger_values(const yoke_ledger* ledger);
// All that changes from one exchange to the next.
void yoke__ledger_image(yoke_ledger* ledger, yoke_image* image);
// Largest rho of all bonds at the last exchange, for step control.
double yoke__ledger_rho(const yoke_ledger* ledger);

// ---------------------------------------------------------------------------------------------------------
// the outcome

extern const char* const yoke__verdict_names[];  // "not judged", "trustworthy", "doubtful", "wrong"
// Why a bond without any sign of an energy error is not judged.
extern const char* const yoke__ledger_no_sign;

// One bond, or the total of all power bonds (then mu is NaN and rho, eps, rter are the worst).
typedef struct yoke_ledger_result {
  const yoke_ledger_bond* bond;   // NULL: the total
  double duration;                // [s]
  double period, window, settle;  // as they are now [s]
  int64_t n_samples;
  double residual;  // sum of dP H [J]
  double created;   // sum of mu dP~ H: energy the coupling created [J]; NaN if mu is unknown
  double energy;    // what it is compared with [J]
  double eps;       // created / energy over the whole run; NaN if mu is unknown
  double eps_worst, t_eps_worst;  // of the windows
  double rho_mean, rho_worst, t_rho_worst;
  double rho_share;  // share of judged samples above 0.25
  bool has_ter;
  double ter, net, throughput, rter, rter_worst;  // [J], [J], [J], [1], [1] of the windows
  double flow, effort, flow_defect, effort_defect;
  uint64_t n_bad;
  double
      passed;  // sum of action . rate H [J]; heat bonds: heat given minus heat received is `residual`
  // given to the unit that receives the action, by the inputs that acted: sum over its calls of the action applied times the
  // integral of its rate (trapezoid) [J]; NaN if nobody receives it
  double given;
  size_t n_warnings, n_stops;
  bool is_persistent;  // rho stayed above its bound: an artefact or an instability
  yoke_verdict verdict;
  bool is_proven;         // `created` is energy that the coupling made, and no mere mismatch
  char reason[320];       // of the verdict, one sentence
  char explanation[320];  // what the figures mean, whoever gives the verdict
} yoke_ledger_result;

// i == number of bonds: the total.
void yoke__ledger_result(const yoke_ledger* ledger, size_t i, yoke_ledger_result* out);
size_t yoke__ledger_count(const yoke_ledger* ledger);
// Alarms in the order they began.
const yoke_alarm* yoke__ledger_alarms(const yoke_ledger* ledger, size_t* n, size_t* n_more);
// "bond 'spring' at t = 1.92 s: rho = 0.61, limit 0.5".
void yoke__ledger_alarm_text(const yoke_ledger* ledger, const yoke_alarm* alarm, char* to,
                             size_t size);
// True if a limit that the user gave was violated.
bool yoke__ledger_is_violated(const yoke_ledger* ledger);

#endif
