// Whole systems of the benchmark problems, straight from their equations of motion; see
// models/*/README.md for the sources. No model code is used here.
#include "support/mechanics_whole.h"

#include <math.h>

#include "linalg/linalg_dense.h"
#include "support/check.h"

static const double pi = 3.14159265358979323846;

const whole_oscillator whole_lo1 = {1, 1, 10, 100, 1000, 0, 0, 0, false, false};
const whole_oscillator whole_lo2 = {1, 1, 10, 100, 1000, 0.1, 0.1, 0.1, false, false};
const whole_oscillator whole_nlo1 = {1, 1, 10, 100, 1000, 0, 0, 0, true, false};
const whole_oscillator whole_nlo2 = {1, 1, 10, 100, 1000, 0.001, 0.001, 0.001, false, true};
const double whole_oscillator_start[4] = {0.0, 100.0, 0.0, -100.0};

static double spring(const whole_oscillator* o, double k, double e) {
  if (!o->has_root_springs) {
    return k * e;
  }
  return e < 0.0 ? -k * sqrt(-e) : k * sqrt(e);
}

static double damper(const whole_oscillator* o, double c, double rate) {
  return o->has_quadratic_dampers ? c * rate * fabs(rate) : c * rate;
}

static double stored(const whole_oscillator* o, double k, double e) {
  return o->has_root_springs ? 2.0 / 3.0 * k * pow(fabs(e), 1.5) : 0.5 * k * e * e;
}

void whole_oscillator_rhs(const whole_oscillator* o, const double x[4], double dx[4]) {
  const double f = spring(o, o->kc, x[0] - x[2]) + damper(o, o->cc, x[1] - x[3]);
  dx[0] = x[1];
  dx[1] = (-spring(o, o->k1, x[0]) - damper(o, o->c1, x[1]) - f) / o->m1;
  dx[2] = x[3];
  dx[3] = (-spring(o, o->k2, x[2]) - damper(o, o->c2, x[3]) + f) / o->m2;
}

double whole_oscillator_energy(const whole_oscillator* o, const double x[4]) {
  return 0.5 * (o->m1 * x[1] * x[1] + o->m2 * x[3] * x[3]) + stored(o, o->k1, x[0]) +
         stored(o, o->k2, x[2]) + stored(o, o->kc, x[0] - x[2]);
}

// x := exp(A t) x, n x n with n <= 4
static void propagate(int n, const double A[], double t, double x[]) {
  double scaled[16];
  double E[16];
  double start[4];
  assert_true(n <= 4);
  for (int i = 0; i < n * n; i++) {
    scaled[i] = A[i] * t;
  }
  for (int i = 0; i < n; i++) {
    start[i] = x[i];
  }
  assert_int_equal(yoke__expm((size_t)n, scaled, E), YOKE_OK);
  yoke__mat_vec((size_t)n, (size_t)n, E, start, x);
}

void whole_oscillator_exact(const whole_oscillator* o, double t, double x[4]) {
  const double k1 = o->k1 + o->kc;
  const double k2 = o->k2 + o->kc;
  const double c1 = o->c1 + o->cc;
  const double c2 = o->c2 + o->cc;
  const double Theta[16] = {0,
                            1,
                            0,
                            0,  //
                            -k1 / o->m1,
                            -c1 / o->m1,
                            o->kc / o->m1,
                            o->cc / o->m1,  //
                            0,
                            0,
                            0,
                            1,  //
                            o->kc / o->m2,
                            o->cc / o->m2,
                            -k2 / o->m2,
                            -c2 / o->m2};
  assert_false(o->has_root_springs || o->has_quadratic_dampers);
  propagate(4, Theta, t, x);
}

void whole_oscillator_sie(const whole_oscillator* o, double h, int n, double x[4]) {
  for (int i = 0; i < n; i++) {
    double dx[4];
    whole_oscillator_rhs(o, x, dx);
    x[1] += h * dx[1];
    x[3] += h * dx[3];
    x[0] += h * x[1];
    x[2] += h * x[3];
  }
}

// pendula: m 1, 2 kg; l 2.5, 3.5 m; pins at (0, 0), (7, 0); spring 6 N/m
const double whole_pendula_start[4] = {0.78539816339744831, 0.0, 0.17453292519943295, 0.0};

void whole_pendula_rhs(const double x[4], double dx[4]) {
  // spring vector from tip 1 to tip 2
  const double ex = 7.0 + 3.5 * sin(x[2]) - 2.5 * sin(x[0]);
  const double ey = -3.5 * cos(x[2]) + 2.5 * cos(x[0]);
  dx[0] = x[1];
  dx[1] = (6.0 * (ex * cos(x[0]) + ey * sin(x[0])) - 1.0 * 9.81 * sin(x[0])) / (1.0 * 2.5);
  dx[2] = x[3];
  dx[3] = (-6.0 * (ex * cos(x[2]) + ey * sin(x[2])) - 2.0 * 9.81 * sin(x[2])) / (2.0 * 3.5);
}

double whole_pendula_energy(const double x[4]) {
  const double ex = 7.0 + 3.5 * sin(x[2]) - 2.5 * sin(x[0]);
  const double ey = -3.5 * cos(x[2]) + 2.5 * cos(x[0]);
  const double kinetic = 0.5 * 1.0 * pow(2.5 * x[1], 2) + 0.5 * 2.0 * pow(3.5 * x[3], 2);
  return kinetic - 9.81 * (1.0 * 2.5 * cos(x[0]) + 2.0 * 3.5 * cos(x[2])) +
         0.5 * 6.0 * (ex * ex + ey * ey);
}

double whole_crane_kappa0(void) {
  // the quadratic as it stands; Newton's method takes out what its formula loses
  const double r = 8829.0 / (65e-4 * 7.5e6);
  double k = (-(2.0 - 2.0 * r) + sqrt((2.0 - 2.0 * r) * (2.0 - 2.0 * r) - 8.0 * r * (r - 1.0))) /
             (4.0 * r);
  for (int i = 0; i < 3; i++) {
    k -= (2.0 * r * k * k + (2.0 - 2.0 * r) * k + (r - 1.0)) / (4.0 * r * k + 2.0 - 2.0 * r);
  }
  return k;
}

double whole_crane_rest(double t) {
  (void)t;
  return whole_crane_kappa0();
}

double whole_crane_m1(double t) {
  double change = 0.0;
  if (t > 2.0) {
    change -= t < 2.001 ? 0.01 * (t - 2.0) / 0.001 : 0.01;
  }
  if (t > 6.0) {
    change += t < 6.002 ? 0.03 * (t - 6.0) / 0.002 : 0.03;  // ends at +0.02
  }
  return whole_crane_kappa0() + change;
}

double whole_crane_m2(double t) {
  double A = 0.0;
  if (t < 1.0) {
    A = 0.1 * t;
  } else if (t < 8.0) {
    A = 0.1;
  } else if (t < 9.0) {
    A = 0.1 * (9.0 - t);
  }
  return whole_crane_kappa0() * (1.0 - A * sin(2.0 * pi * 2.0 * t));
}

void whole_crane_start(double x[6]) {
  const double k = whole_crane_kappa0();
  const double w = k * k / (k * k + (1.0 - k) * (1.0 - k));
  x[0] = pi / 6.0;
  x[1] = -pi / 2.0;
  x[2] = x[3] = 0.0;
  x[4] = w * 7.6 + (1.0 - w) * 0.1;
  x[5] = (1.0 - w) * 7.6 + w * 0.1;
}

void whole_crane_cylinder(const double x[6], double* s, double* v, double* f_h) {
  *s = sqrt(1.0 - sqrt(3.0) / 2.0 * cos(x[0]));
  *v = sqrt(3.0) * sin(x[0]) / (4.0 * *s) * x[2];
  *f_h = 65e-4 * 1e6 * (x[5] - x[4]) - 1e5 * *v;
}

static double orifice(double area, double drop) {
  return drop > 0.0 ? area * 0.67 * sqrt(2.0 * drop / 850.0) : 0.0;
}

static double bulk_modulus(double p) {
  return (1.0 + 6.53e-10 * p - 1.19e-18 * p * p) / (6.53e-10 - 2.0 * 1.19e-18 * p);
}

void whole_crane_rhs(double kappa, const double x[6], double dx[6]) {
  double s;
  double v;
  double f_h;
  whole_crane_cylinder(x, &s, &v, &f_h);

  // mechanics
  const double M11 = 200.0 / 3.0 + 350.0;
  const double M12 = 50.0 * cos(x[0] - x[1]);
  const double M22 = 25.0;
  const double r1 = -9.81 * 450.0 * cos(x[0]) + f_h * sqrt(3.0) * sin(x[0]) / (4.0 * s) -
                    50.0 * sin(x[0] - x[1]) * x[3] * x[3];
  const double r2 = -9.81 * 50.0 * cos(x[1]) + 50.0 * sin(x[0] - x[1]) * x[2] * x[2];
  const double det = M11 * M22 - M12 * M12;
  dx[0] = x[2];
  dx[1] = x[3];
  dx[2] = (M22 * r1 - M12 * r2) / det;
  dx[3] = (M11 * r2 - M12 * r1) / det;

  // hydraulics; states in MPa
  const double p1 = 1e6 * x[4];
  const double p2 = 1e6 * x[5];
  const double ai = 5e-4 * kappa;
  const double ao = 5e-4 * (1.0 - kappa);
  const double q1 = 65e-4 * v + orifice(ai, 7.6e6 - p1) - orifice(ao, p1 - 0.1e6);
  const double q2 = -65e-4 * v + orifice(ao, 7.6e6 - p2) - orifice(ai, p2 - 0.1e6);
  dx[4] = 1e-6 * bulk_modulus(p1) / (65e-4 * (0.221 + 0.5 - s)) * q1;
  dx[5] = 1e-6 * bulk_modulus(p2) / (65e-4 * (0.221 + s - 0.5)) * q2;
}

double whole_crane_energy(const double x[6]) {
  const double M11 = 200.0 / 3.0 + 350.0;
  const double M12 = 50.0 * cos(x[0] - x[1]);
  return 0.5 * M11 * x[2] * x[2] + 0.5 * 25.0 * x[3] * x[3] + M12 * x[2] * x[3] +
         9.81 * 450.0 * sin(x[0]) + 9.81 * 50.0 * sin(x[1]);
}

// rotor: J 10, 10; c 1, 1; d 1, 2; shaft ck 1, dk 2
const double whole_rotor_start[4] = {0.1, 0.1, 0.2, 0.1};

void whole_rotor_exact(double t, double x[4]) {
  const double A[16] = {0,    1,    0,    0,    //
                        -0.2, -0.3, 0.1,  0.2,  //
                        0,    0,    0,    1,    //
                        0.1,  0.2,  -0.2, -0.4};
  propagate(4, A, t, x);
}
