// The loops of a system cut in two: what lies on either side of some connections, everything else coupled without error.
//
//   u = L_int y + L_cut y            rows of L: inputs whose connection is cut, or not
//   side:  y = W (C x + D v),  W = (I - D L_int)^-1,  v = L_cut y of the other side
//
// So a cut of many units is a loop of two (synth_loop.h), with its gain, margins and largest stable step.
#ifndef YOKE_STUDY_CUT_H
#define YOKE_STUDY_CUT_H

#include "study/study_linear.h"
#include "synth/synth_loop.h"

#define YOKE_CUT_NAME 96

typedef struct yoke_cut {
  yoke_arena arena;  // owns the matrices
  yoke_linear sides[2];
  char names[2][YOKE_CUT_NAME];  // units of a side: "left", "chassis, wheel"
  char name[YOKE_CUT_NAME];      // of the cut: a bond, or connections
  size_t action_side;            // that sends the action of the bond that is cut; 2: there is none
  int power;                     // as of yoke_synth_loop
  bool is_whole;                 // all connections are cut,
  bool
      is_blurred;  // a unit is known by differences: motions that nothing calls back are not exactly that
  int orders[2];  // extrapolation of what a side receives, the largest
} yoke_cut;

// name: a bond, connections "a.f->b.f,b.v->a.v", or NULL: all connections of loops of two units. YOKE_BAD_INPUT after an error in
// messages: no such thing, or it does not part the loops in two. cut: to be freed in any case.
yoke_status yoke__cut_open(const yoke_linear_loops* loops, const char* name,
                           yoke_messages* messages, yoke_cut* cut);
void yoke__cut_free(yoke_cut* cut);

// The loop as it is exchanged every `step`.
yoke_synth_loop yoke__cut_loop(const yoke_cut* cut, double step, bool is_fresh);

// Its numbers at a step, and the largest stable step of held signals.
typedef struct yoke_cut_report {
  yoke_synth_loop_report loop;
  yoke_synth_loop_radius radius;  // of held signals
  yoke_synth_loop_limit limit;
} yoke_cut_report;
// As yoke__synth_loop_analyse. Radius and limit of a blurred loop are those of the loops as they are run, if it is the whole;
// else NaN.
yoke_status yoke__cut_look(const yoke_cut* cut, yoke_linear_loops* loops, double step,
                           bool is_fresh, double resolution, double largest, yoke_cut_report* out);

// The better of n cuts: the one with the larger stable step (by more than a tenth), else with the smaller mu. reason: a
// sentence.
size_t yoke__cut_best(const yoke_cut cuts[], const yoke_cut_report reports[], size_t n,
                      char reason[], size_t size);
// The better of two causalities of a joint, both with an action side (yoke__synth_causality_compare).
yoke_status yoke__cut_causality(const yoke_cut cuts[2], double step, bool is_fresh,
                                double resolution, double largest, size_t* best, char reason[],
                                size_t size);

#endif
