// Designs the lead of a coupling element off line: the numerator that makes lead, hold and smoother together come nearest to
// 1 in a band of frequencies.
//
//   minimise  gamma = max over w of | W_f (1 - K2 H K1) |      K1 = sum over i = 0 .. n of c_i (a / (s + a))^i
//
// W_f is a low-pass of second order, H the exact hold as the receiver sees it every h, with the delay of the transmission.
// All poles of K1 are at -a, so it is stable and no faster than wanted, and the problem is convex in c. Constraints:
//   gain 1 at frequency 0            a constant arrives unchanged
//   slope 0 at frequency 0           no net delay of a slow signal
//   D1 D2 = 1, if transparent        a jump passes at the instant of exchange: needed in a loop with feedthrough
//
// Recipes:  T       f2 = 5 / Dt, a = 15 / Dt, n = 4, transparent: the robust default
//           L       low gain: a = 40 rad/s, n = 2, not transparent; little noise, good with a delay, may excite a resonance
//           custom  everything is given
//           general the optimum of all stable K1 with poles right of -P, of the hold's Pade model (synth_plant.h), with fewer states if
//                   wanted and gain 1 at frequency 0; P = 0.5 / h, f2 = 5 / Dt or 0.1 / h, the lower. Neither slope 0 nor
//                   transparent
// Source: W. Chen, licentiate thesis, Chalmers 2019, paper III, for the problem; constraints and recipes are ours. Page:
// docs/synth.md.
#ifndef YOKE_SYNTH_DESIGN_H
#define YOKE_SYNTH_DESIGN_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

#include "synth/synth_element.h"
#include "yoke/message.h"
#include "yoke/status.h"

#define YOKE_SYNTH_DAMPING                                                                         \
  0.7071  // of the smoother and of W_f; sqrt(1/2) would make other elements
#define YOKE_SYNTH_SWEEPS 300
#define YOKE_SYNTH_RATIO  1000000  // of Dt to h, at most
// of recipe general
#define YOKE_SYNTH_PADE           2     // order of the hold's model
#define YOKE_SYNTH_PENALTY        1e-4  // eps that the search of its region starts from
#define YOKE_SYNTH_OPTIMUM_STATES 6     // W_f, hold and smoother
#define YOKE_SYNTH_HOLD_POLE      3.0   // -Re of the poles of the hold's model, times Dt
#define YOKE_SYNTH_SMOOTHER_POLE                                                                   \
  (YOKE_SYNTH_DAMPING * 6.28318530717958648)  // -Re of the smoother's poles, over f2

typedef enum yoke_synth_recipe {
  YOKE_RECIPE_T,
  YOKE_RECIPE_L,
  YOKE_RECIPE_CUSTOM,
  YOKE_RECIPE_GENERAL,
} yoke_synth_recipe;

typedef struct yoke_synth_settings {
  double interval, step;  // Dt: between exchanges; h: between calls of both ends [s]
  yoke_synth_recipe recipe;
  double smoother_hz;   // f2 of K2
  double pole;          // a of K1 [rad/s]; general: P, all poles have a real part above -P
  double band_hz;       // f_w of W_f: where the error matters
  double delay;         // of the transmission [s]
  size_t order;         // n of K1; general: states that are kept
  bool is_transparent;  // D1 D2 = 1
} yoke_synth_settings;

// K1 of recipe general as it was designed, y = C x + D u, x' = A x + B u with n states; its filter is made from it.
typedef struct yoke_synth_model {
  size_t n;                                               // 0: another recipe
  double A[YOKE_SYNTH_ORDER_MAX * YOKE_SYNTH_ORDER_MAX];  // n x n, row by row
  double B[YOKE_SYNTH_ORDER_MAX], C[YOKE_SYNTH_ORDER_MAX], D;
} yoke_synth_model;

// Where K1 of recipe general comes from; not in its file.
typedef struct yoke_synth_optimum {
  double norm;        // max | W_f (1 - K2 H* K1) | with all states
  double gain;        // K1(0) before it was made 1
  double least_real;  // of the poles of K1, smoother and hold [rad/s]
  double bound;       // reduction: || K1 - K1 with n states ||_inf is at most this
} yoke_synth_optimum;

typedef struct yoke_synth_design {
  yoke_synth_settings settings;
  yoke_synth_element element;
  double gamma;
  double direct_gain;   // D1 D2
  double largest_gain;  // max |K1|: how much noise of the signal is amplified
  double net_delay;  // of a slow signal behind lead, hold and smoother [s]; below 0: it runs ahead
  // of recipe general
  yoke_synth_model model;
  double model_gamma;  // gamma with the hold's model in place of the hold, over all frequencies
  yoke_synth_optimum optimum;
} yoke_synth_design;

// T, L, custom, general, and back; false for another text.
const char* yoke__synth_recipe_name(yoke_synth_recipe recipe);
bool yoke__synth_recipe_find(const char* name, yoke_synth_recipe* recipe);

// What the recipe says for these two times; of custom, smoother_hz and pole are 0 and have to be set.
yoke_synth_settings yoke__synth_settings_default(yoke_synth_recipe recipe, double interval,
                                                 double step);
// YOKE_BAD_INPUT with a message that says which number is wrong and what is expected; also for numbers that the recipe
// does not allow.
yoke_status yoke__synth_settings_check(const yoke_synth_settings* settings, const yoke_sink* sink);

// Lawson's iteration, n_sweeps of it (YOKE_SYNTH_SWEEPS), or general synthesis. Takes memory. YOKE_BAD_INPUT if the settings are
// wrong or no element meets the constraints within 1e-9; general: no element has its poles there, before or after reduction.
yoke_status yoke__synth_design(const yoke_synth_settings* settings, size_t n_sweeps,
                               yoke_synth_design* design, const yoke_sink* sink);

// gamma, direct and largest gain of given coefficients c (order + 1): design->settings is set, the rest is filled in.
void yoke__synth_assess(yoke_synth_design* design, const double c[]);
// The same of design->model, with the filter. YOKE_BAD_INPUT with a message: it is not stable, or has poles outside of the region, or its
// gain at frequency 0 is not 1.
yoke_status yoke__synth_assess_model(yoke_synth_design* design, const yoke_sink* sink);
// The model of recipe general (synth_design_general.c): design->settings is set and checked; fills in model, optimum and, if there are not
// so many states, the order.
yoke_status yoke__synth_optimise(yoke_synth_design* design, const yoke_sink* sink);
// By how much c misses the three constraints, relative to their sizes: gain, slope, D1 D2 (0 if not transparent).
void yoke__synth_constraints(const yoke_synth_settings* settings, const double c[],
                             double misses[3]);

// At w [rad/s]: lead K1, hold H with the delay, smoother K2; the error |1 - K1 K2 H| is what the element leaves.
typedef struct yoke_synth_point {
  double complex lead, hold, smoother;
} yoke_synth_point;
yoke_synth_point yoke__synth_response(const yoke_synth_design* design, double w);

#endif
