// Total energy residual: |dP| added up over intervals, for signals that are held or straight lines.
//
//   dP = e_in . f_out - f_in . e_out = d_e . f_out - e_out . d_f       so TER <= effort part + flow part
//
// Compensated sums; an interval with a value that is not finite is counted and left out as a whole, so that all sums
// cover the same time. The integral of the magnitude of a parabola is split at its roots, taken from the form without
// cancellation (textbook). Source: energy_ter.h. Page: docs/meter.md, "Equation".
#include "energy/energy_ter.h"

#include <math.h>
#include <string.h>

#include "energy/energy_vector.h"

// Mean values over an interval.
typedef struct means {
  double power, power_size;
  double passed, passed_size;
  double flow, effort;
  double flow_defect, effort_defect;
} means;

double yoke__ter_power(size_t n, const yoke_ter_sample* sample) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += sample->e_in[i] * sample->f_out[i] - sample->f_in[i] * sample->e_out[i];
  }
  return sum;
}

static void add_means(yoke_ter* ter, double dt, const means* m) {
  yoke__ter_add_means(ter, dt, m->power, m->power_size, m->passed, m->passed_size, m->flow,
                      m->effort, m->flow_defect, m->effort_defect);
}

void yoke__ter_add(yoke_ter* ter, double dt, size_t n, const yoke_ter_sample* sample) {
  if (n == 1) {
    yoke__ter_add_one(ter, dt, sample->e_in[0], sample->f_out[0], sample->f_in[0],
                      sample->e_out[0]);
    return;
  }
  means m = {.power = yoke__ter_power(n, sample)};
  for (size_t i = 0; i < n; i++) {
    // d_e = e_in - e_out, d_f = f_in - f_out
    const double d_e = sample->e_in[i] - sample->e_out[i];
    const double d_f = sample->f_in[i] - sample->f_out[i];
    // passed = e_in . f_in; parts e_out . d_f and d_e . f_out
    m.passed += sample->e_in[i] * sample->f_in[i];
    m.flow += sample->e_out[i] * d_f;
    m.effort += d_e * sample->f_out[i];
    m.flow_defect = i == 0 ? fabs(d_f) : hypot(m.flow_defect, d_f);
    m.effort_defect = i == 0 ? fabs(d_e) : hypot(m.effort_defect, d_e);
  }
  m.power_size = fabs(m.power);
  m.passed_size = fabs(m.passed);
  m.flow = fabs(m.flow);
  m.effort = fabs(m.effort);
  add_means(ter, dt, &m);
}

// ---------------------------------------------------------------------------------------------------------
// straight lines

// Integral of the polynomial from a to b, degree at most 2.
static double integrate(const double c[3], double a, double b) {
  // (b - a) times the mean, not a difference of antiderivatives: no cancellation for short pieces
  const double sum = a + b;
  return (b - a) * (c[0] + c[1] * sum / 2 + c[2] * (sum * sum - a * b) / 3);
}

// Roots of the parabola inside (0, 1), in order; their number.
static size_t find_roots(const double c[3], double roots[2]) {
  // discriminant c1^2 - 4 c2 c0
  const double disc = c[1] * c[1] - 4 * c[2] * c[0];
  if (!(disc > 0)) {
    return 0;  // none, or one that only touches
  }
  // the sum without cancellation gives one root, the product the other
  const double q = -(c[1] + copysign(sqrt(disc), c[1])) / 2;

  // x1 = q / c2, x2 = c0 / q; c2 = 0 gives an infinite root, which lies outside
  const double candidates[2] = {q / c[2], c[0] / q};
  size_t n = 0;
  for (size_t i = 0; i < 2; i++) {
    if (candidates[i] > 0 && candidates[i] < 1) {
      roots[n++] = candidates[i];
    }
  }

  // in ascending order
  if (n == 2 && roots[1] < roots[0]) {
    const double swap = roots[0];
    roots[0] = roots[1];
    roots[1] = swap;
  }
  return n;
}

double yoke__ter_integrate_magnitude(const double c[3]) {
  double largest = fmax(fmax(fabs(c[0]), fabs(c[1])), fabs(c[2]));
  if (!(largest > 0) || !yoke__is_finite(c[0] + c[1] + c[2])) {
    return largest == 0 ? 0 : (double)NAN;
  }
  // scaled, so that the discriminant neither overflows nor vanishes
  const double scaled[3] = {c[0] / largest, c[1] / largest, c[2] / largest};
  double ends[2], sum = 0, a = 0;
  const size_t n = find_roots(scaled, ends);

  // pieces between the roots: the sign of dP is constant in each
  for (size_t i = 0; i <= n; i++) {
    const double b = i < n ? ends[i] : 1;
    sum += fabs(integrate(scaled, a, b));
    a = b;
  }
  return largest * sum;
}

// a(s) . b(s) of two straight lines, added to c.
static void multiply_lines(double a_left, double a_right, double b_left, double b_right,
                           double sign, double c[3]) {
  const double da = a_right - a_left, db = b_right - b_left;

  // (a + s da)(b + s db) = a b + s (a db + da b) + s^2 da db
  c[0] += sign * (a_left * b_left);
  c[1] += sign * (a_left * db + da * b_left);
  c[2] += sign * (da * db);
}

// Mean length of a vector that goes straight from a to a + g: x from the foot of the perpendicular of length p.
static double mean_length(double a_a, double a_g, double g_g) {
  const double g = sqrt(g_g), a = sqrt(a_a);
  if (g <= 1e-3 * a) {
    // almost constant, where the closed form cancels: Simpson's rule, error below 1e-12
    const double middle = sqrt(fmax(a_a + a_g + g_g / 4, 0));
    return (a + 4 * middle + sqrt(fmax(a_a + 2 * a_g + g_g, 0))) / 6;
  }
  if (!(g > 0)) {
    return a;
  }

  // |a + s g|^2 = (x0 + s |g|)^2 + p^2 with x0 = a.g / |g|
  const double x0 = a_g / g, x1 = x0 + g;
  const double p = sqrt(fmax(a_a - x0 * x0, 0));

  // integral of sqrt(x^2 + p^2) = (x sqrt(x^2 + p^2) + p^2 asinh(x / p)) / 2
  const double area = x1 * hypot(x1, p) - x0 * hypot(x0, p);
  return (area + (p > 0 ? p * p * (asinh(x1 / p) - asinh(x0 / p)) : 0)) / (2 * g);
}

// The sums of products that the lengths of one defect need.
typedef struct defect {
  double a_a, a_g, g_g;
} defect;

static void add_defect(defect* d, double left, double right) {
  // products a.a, a.g, g.g of the start a and the change g
  const double g = right - left;
  d->a_a += left * left;
  d->a_g += left * g;
  d->g_g += g * g;
}

static double mean_defect(const defect* d, size_t n, double left, double right) {
  // one component is a line through 0: exact by its root
  return n == 1 ? yoke__ter_integrate_magnitude((const double[3]){left, right - left})
                : mean_length(d->a_a, d->a_g, d->g_g);
}

void yoke__ter_add_linear(yoke_ter* ter, double dt, size_t n, const yoke_ter_sample* left,
                          const yoke_ter_sample* right) {
  double power[3] = {0}, passed[3] = {0}, flow[3] = {0}, effort[3] = {0};
  defect e = {0}, f = {0};
  double e_left = 0, e_right = 0, f_left = 0, f_right = 0;
  for (size_t i = 0; i < n; i++) {
    const double e_in0 = left->e_in[i], e_in1 = right->e_in[i];
    const double f_in0 = left->f_in[i], f_in1 = right->f_in[i];
    const double e_out0 = left->e_out[i], e_out1 = right->e_out[i];
    const double f_out0 = left->f_out[i], f_out1 = right->f_out[i];
    e_left = e_in0 - e_out0;
    e_right = e_in1 - e_out1;
    f_left = f_in0 - f_out0;
    f_right = f_in1 - f_out1;
    // power = e_in f_out - f_in e_out along the lines
    multiply_lines(e_in0, e_in1, f_out0, f_out1, 1, power);
    multiply_lines(f_in0, f_in1, e_out0, e_out1, -1, power);
    multiply_lines(e_in0, e_in1, f_in0, f_in1, 1, passed);
    multiply_lines(e_out0, e_out1, f_left, f_right, 1, flow);
    multiply_lines(e_left, e_right, f_out0, f_out1, 1, effort);
    add_defect(&e, e_left, e_right);
    add_defect(&f, f_left, f_right);
  }
  const means m = {
      .power = integrate(power, 0, 1),
      .power_size = yoke__ter_integrate_magnitude(power),
      .passed = integrate(passed, 0, 1),
      .passed_size = yoke__ter_integrate_magnitude(passed),
      .flow = yoke__ter_integrate_magnitude(flow),
      .effort = yoke__ter_integrate_magnitude(effort),
      .flow_defect = mean_defect(&f, n, f_left, f_right),
      .effort_defect = mean_defect(&e, n, e_left, e_right),
  };
  add_means(ter, dt, &m);
}
