// Which way round to couple: the two causalities of a cut beside each other.
//
// A bond carries an action (force, torque, voltage) one way and a rate (velocity, speed, current) the other. Whoever receives the
// action sends the rate. Rule: the action goes to the side of higher impedance, the one that moves less per unit of action;
// here it is judged by what the loops do. Source: W. Chen, licentiate thesis, Chalmers 2019, paper I. Page:
// docs/loop.md, "Which way round".
#ifndef YOKE_SYNTH_CAUSALITY_H
#define YOKE_SYNTH_CAUSALITY_H

#include "synth/synth_loop.h"

// One causality: side 1 sends the action, side 2 receives it and sends the rate.
typedef struct yoke_synth_causality_case {
  const char* receiver;  // name of side 2, for the sentence
  yoke_linear sides[2];
} yoke_synth_causality_case;

typedef struct yoke_synth_causality_settings {
  double step;  // exchange interval at which margins and mu are taken [s]
  yoke_synth_exchange exchange;
  yoke_synth_hold holds[2];
  double resolution, largest;  // steps that are searched for the limit [s]
  int power;                   // as of yoke_synth_loop
} yoke_synth_causality_settings;

typedef struct yoke_synth_causality {
  yoke_synth_loop_report report;
  yoke_synth_loop_radius radius[2];  // stale, fresh
  yoke_synth_loop_limit limit[2];    // stale, fresh; of held signals
  double
      mobility;  // largest rate of the receiver per unit of action between 1e-4 pi / Dt and pi / Dt: 1 / impedance
} yoke_synth_causality;

typedef struct yoke_synth_choice {
  yoke_synth_causality of[2];
  int better;        // 0 or 1
  char reason[480];  // one sentence
} yoke_synth_choice;

// The better one has the larger stable step (by more than a tenth), else the smaller mu. Fails as
// yoke__synth_loop_analyse; of a stale exchange whose fresh one has no solution, too.
yoke_status yoke__synth_causality_compare(const yoke_synth_causality_case cases[2],
                                          const yoke_synth_causality_settings* settings,
                                          yoke_synth_choice* out);

#endif
