// The benchmark problems as whole systems: right-hand sides, energies and exact solutions that the
// models, which are pieces of them, are measured against. Written apart from the models.
#ifndef YOKE_TEST_MECHANICS_WHOLE_H
#define YOKE_TEST_MECHANICS_WHOLE_H

#include <stdbool.h>

// Two masses in line; x = (eta1, eta1', eta2, eta2').
typedef struct whole_oscillator {
  double m1, m2, k1, kc, k2, c1, cc, c2;
  bool has_root_springs;       // force k sgn(e) sqrt|e|
  bool has_quadratic_dampers;  // force c sgn(e') e'^2
} whole_oscillator;

extern const whole_oscillator whole_lo1, whole_lo2, whole_nlo1, whole_nlo2;
extern const double whole_oscillator_start[4];

void whole_oscillator_rhs(const whole_oscillator* o, const double x[4], double dx[4]);
double whole_oscillator_energy(const whole_oscillator* o, const double x[4]);
// x := exp(Theta t) x, linear oscillators only.
void whole_oscillator_exact(const whole_oscillator* o, double t, double x[4]);
// n steps of semi-implicit Euler on the whole system.
void whole_oscillator_sie(const whole_oscillator* o, double h, int n, double x[4]);

// Two pendula joined at the tips; x = (theta1, theta1', theta2, theta2').
extern const double whole_pendula_start[4];
void whole_pendula_rhs(const double x[4], double dx[4]);
double whole_pendula_energy(const double x[4]);

// Hydraulic crane; x = (theta1, theta2, theta1', theta2', p1, p2), pressures in MPa.
typedef double (*whole_opening)(double t);  // kappa
double whole_crane_kappa0(void);
double whole_crane_m1(double t);
double whole_crane_m2(double t);
double whole_crane_rest(double t);  // kappa0
void whole_crane_start(double x[6]);
void whole_crane_rhs(double kappa, const double x[6], double dx[6]);
double whole_crane_energy(const double x[6]);
// Length of the cylinder, its speed and its force.
void whole_crane_cylinder(const double x[6], double* s, double* v, double* f_h);

// Two rotating inertias; x = (phi1, omega1, phi2, omega2); x := exp(A t) x.
extern const double whole_rotor_start[4];
void whole_rotor_exact(double t, double x[4]);

#endif
