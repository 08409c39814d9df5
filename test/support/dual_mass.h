// Dual mass oscillator with force-displacement coupling: the linear test system of pre-step
// stabilisation.
//
//   unit 1: mass with spring and damper to the wall; input F, outputs x1, v1
//   unit 2: mass with spring and damper to the wall and the coupling spring-damper; inputs x1, v1,
//           output F = ck (x2 - x1) + dk (v2 - v1)
//   m = 10 kg each, c1 = 1e6, c2 = 1e7 N/m, d1 = 1, d2 = 2 Ns/m; x1(0) = 0.1 m
// Source: MPSM specification 10.1.
#ifndef YOKE_TEST_DUAL_MASS_H
#define YOKE_TEST_DUAL_MASS_H

#include "study/study_stability.h"

#define DUAL_MASS_MICRO 1e-5  // explicit Euler step of both units and of the reference [s]

extern const double dual_mass_start[4];  // x1, v1, x2, v2
extern const double dual_mass_L[9];      // u = (F, x1, v1), y = (x1, v1, F)

typedef struct dual_mass {
  double ck, dk;
  double A1[4], B1[2], C1[4], D1[2];
  double A2[4], B2[4], C2[2], D2[2];
  yoke_stability_unit units[2];
} dual_mass;

// units points into self: do not copy it.
void dual_mass_open(dual_mass* self, double ck, double dk);
// Interface Jacobians: Jy1 (2 x 2), Ju1, Jd1 (2 x 1), Jy2 (1 x 1), Ju2, Jd2 (1 x 2) into the arrays
// that the two structs J[0] and J[1] point to.
void dual_mass_jacobians(const dual_mass* self, yoke_jacobian_continuous* J);
// A case with micro step DUAL_MASS_MICRO; outputs inside the step are seen where the method uses
// them.
yoke_stability_case dual_mass_case(const dual_mass* self, yoke_stability_method method,
                                   double step);
// Monolithic system: x (4) over one step, by explicit Euler with DUAL_MASS_MICRO or exactly; y (3).
void dual_mass_whole(const dual_mass* self, double step, bool is_exact, double x[4], double y[3]);
// Error measure over `duration` [s] of a case against the monolithic Euler solution: per output the
// mean over all exchange points of |y - y_whole| / (range of y_whole so far + 1e-12), mean over the
// outputs of a unit, Euclidean norm over the units. Infinite if it overflows.
double dual_mass_error(const dual_mass* self, const yoke_stability_case* c, double duration);
// The same of anything that gives the outputs y (3) at the end of each step.
double dual_mass_error_of(const dual_mass* self, double step, double duration,
                          void (*advance)(void* context, double y[3]), void* context);

#endif
