// Two masses on the ground, joined by a spring and damper that is cut: side 1 holds the joint and sends its force, side 2
// sends its velocity (HINF specification 4.3).
//
//   side 1: x1, v1, x2c   u = v2    y = F_c = kc (x1 - x2c) + dc (v1 - v2)   x2c' = v2: its copy of the partner's position
//   side 2: x2, v2        u = F_c   y = v2
#ifndef YOKE_TEST_DUAL_MASS_LOOP_H
#define YOKE_TEST_DUAL_MASS_LOOP_H

#include "synth/synth_loop.h"

#define PI 3.14159265358979323846

typedef struct loop_masses {
  double m1, m2, f1, f2, zeta1, zeta2, kc, dc;  // kg, Hz, N/m, N s/m
} loop_masses;

typedef struct mass_loop {
  double A1[9], B1[3], C1[3], D1[1], A2[4], B2[2], C2[2], D2[1];
} mass_loop;

// Of side 1 or 2; the matrices are in `to`.
static inline yoke_synth_loop mass_loop_make(const loop_masses* m, double step, mass_loop* to) {
  const double w1 = 2 * PI * m->f1, w2 = 2 * PI * m->f2;
  const double k1 = m->m1 * w1 * w1, d1 = 2 * m->zeta1 * w1 * m->m1;
  *to = (mass_loop){
      .A1 = {0, 1, 0, -(k1 + m->kc) / m->m1, -(d1 + m->dc) / m->m1, m->kc / m->m1, 0, 0, 0},
      .B1 = {0, m->dc / m->m1, 1},
      .C1 = {m->kc, m->dc, -m->kc},
      .D1 = {-m->dc},
      .A2 = {0, 1, -w2 * w2, -2 * m->zeta2 * w2},
      .B2 = {0, 1 / m->m2},
      .C2 = {0, 1},
      .D2 = {0},
  };
  return (yoke_synth_loop){
      .sides = {{3, 1, 1, to->A1, to->B1, to->C1, to->D1},
                {2, 1, 1, to->A2, to->B2, to->C2, to->D2}},
      .step = step,
      .exchange = YOKE_SYNTH_FRESH,
      .power = -1,  // F_c pushes side 2: F_c v2 flows into side 2
  };
}

// All that is nominal in section 5.
static inline loop_masses mass_loop_nominal(void) {
  return (loop_masses){1, 1, 1, 1, 0.5, 0.5, 50, 5};
}

#endif
