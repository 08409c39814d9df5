// Two masses joined by a spring and damper, cut there: force one way, velocity the other (HINF specification 9).
//
//   unit 1: m1 with k1, d1 to the wall and the joint kc, dc; input v2, from which it integrates a copy of x2;
//           output F = kc (x1 - x2c) + dc (v1 - v2)
//   unit 2: m2 with k2, d2 to the wall; input F and the outer force; output v2
//   outer force on m2: 1000 N for 0.1 s from 0.5 s and from 2.5 s; zero initial state; 5 s
//
// Both by explicit Euler, 1 ms. Per step, fresh: record v2; send it; F with the v2 that arrives; record and send it; then
// all states from old values. Stale: F with the v2 that arrived a step before.
#ifndef YOKE_TEST_DUAL_MASS_CUT_H
#define YOKE_TEST_DUAL_MASS_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "synth/synth_element.h"

#define CUT_STEP 1e-3
#define CUT_N    5001  // samples, 0 to 5 s

typedef struct cut_masses {
  double m1, m2, k1, kc, k2, d1, dc, d2;
} cut_masses;

// One drawn at random: stiffnesses in 0 .. 1000 N/m, masses in 0 .. 100 kg, damping ratios in 0.3 .. 1.3.
cut_masses cut_draw(uint64_t* seed);

typedef struct cut_signals {
  double v2[CUT_N], force[CUT_N];
} cut_signals;
void cut_whole(const cut_masses* m, cut_signals* to);

typedef enum cut_method { CUT_ZOH, CUT_FOH, CUT_SOH, CUT_ELEMENT, CUT_N_METHODS } cut_method;

typedef struct cut_coupling {
  cut_method method;
  size_t ratio;                       // steps between exchanges
  bool is_stale;                      // else fresh
  const yoke_synth_element* element;  // of CUT_ELEMENT
  double euler_hz;                    // above 0: the smoother by explicit Euler with this frequency
} cut_coupling;
void cut_run(const cut_masses* m, const cut_coupling* by, cut_signals* to);

// A smooth case: 10 sin 2t N on m2, steps of CUT_FINE_STEP (ratio counts them). The largest error of v2 over 5 s against the
// whole system in the same steps. The smoother by its own steps only (euler_hz 0).
#define CUT_FINE_STEP 1e-4
double cut_smooth_error(const cut_masses* m, const cut_coupling* by);

// Root of the mean of the squares of a - b.
double cut_rms(const double a[], const double b[]);

// Over n_cases drawn from a seed: how often a method is more than factor[i] times worse than the best of the four in v2 or force,
// and how often |v2| at the end is more than growth[i] times that of the whole system.
typedef struct cut_counts {
  size_t inaccurate[CUT_N_METHODS][4];  // 1.5, 3, 5, 10
  size_t unstable[CUT_N_METHODS][4];    // 5, 10, 100, 1000
} cut_counts;
void cut_count(size_t n_cases, uint64_t seed, const cut_coupling* coupling, cut_counts* to);

#endif
