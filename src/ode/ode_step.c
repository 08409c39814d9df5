// One step of a fixed-step integrator.
//
//   Euler                x+ = x + h f(t, x)
//   semi-implicit Euler  v+ = v + h a(t, q, v),   q+ = q + h v+
//   RK4                  x+ = x + h/6 (k1 + 2 k2 + 2 k3 + k4), slopes at t, t + h/2 (two), t + h
//   trapezoidal          x+ = x + h/2 (f(t, x) + f(t + h, x+))
//
// For second-order systems the trapezoidal rule on (q, v) is Newmark's method with beta = 1/4 and
// gamma = 1/2 (constant average acceleration); the acceleration at the start is computed anew in
// every step, because nothing is kept between calls. Both forms are written as one equation
//
//   z = g(z) = base + h/2 rate(t + h, z),   base = x + h/2 rate(t, x)
//
// with z = x+ (first order) or z = v+ and q+ = q + h/2 (v + v+) (second order). It is solved by
// fixed-point iteration, which contracts while h/2 times the Lipschitz constant is below 1, or by
// simplified Newton iteration with a finite-difference Jacobian, which stiff problems need.
//
// Sources: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (2nd ed.), II.1
// (RK4); Hairer, Wanner, II (2nd ed.), IV.3 and IV.8 (A-stability, simplified Newton); Hairer,
// Lubich, Wanner, Geometric Numerical Integration (2nd ed.), I.1.2 (symplectic Euler);
// N. M. Newmark, A method of computation for structural dynamics, J. Eng. Mech. Div. 85 (1959).
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base_check.h"
#include "ode/ode.h"

const char* const yoke__ode_method_names[] = {"euler", "semi-implicit-euler", "rk4", "trapezoidal",
                                              NULL};

size_t yoke__ode_work_size(yoke_ode_method method, size_t n) {
  switch (method) {
  case YOKE_ODE_EULER:
  case YOKE_ODE_SEMI_IMPLICIT_EULER:
    // x+ = x + h f(t, x)
    return n;
  case YOKE_ODE_RK4:
    return 5 * n;
  case YOKE_ODE_TRAPEZOIDAL:
    // base, z, g, q_end, dz; matrix and inverse
    return 5 * n + 2 * n * n;
  }
  return 0;
}

// y := x + s d
static void add_scaled(size_t n, const double x[], double s, const double d[], double y[]) {
  for (size_t i = 0; i < n; i++) {
    y[i] = x[i] + s * d[i];
  }
}

static double max_abs(size_t n, const double x[]) {
  double largest = 0.0;
  for (size_t i = 0; i < n; i++) {
    // `!(a <= b)` lets a NaN in, which then ends the search
    if (!(fabs(x[i]) <= largest)) {
      largest = fabs(x[i]);
    }
    if (isnan(x[i])) {
      break;
    }
  }
  return largest;
}

// RK4, first order. work: 3 n.
static void step_rk4(yoke_ode_rhs f, void* self, double t, double h, size_t n, double x[],
                     double work[]) {
  double *k = work, *sum = k + n, *stage = sum + n;

  // k1 = f(t, x), weight 1
  f(self, t, x, k);
  memcpy(sum, k, n * sizeof *k);

  // k2 and k3 from the middle, weight 2
  for (int i = 0; i < 2; i++) {
    add_scaled(n, x, 0.5 * h, k, stage);
    f(self, t + 0.5 * h, stage, k);
    add_scaled(n, sum, 2.0, k, sum);
  }

  // k4 = f(t + h, x + h k3), weight 1
  add_scaled(n, x, h, k, stage);
  f(self, t + h, stage, k);
  add_scaled(n, sum, 1.0, k, sum);

  // x+ = x + h/6 (k1 + 2 k2 + 2 k3 + k4)
  add_scaled(n, x, h / 6.0, sum, x);
}

// RK4 for q' = v, v' = a: the slope of q in a stage is the v of that stage. work: 5 n.
static void step_rk4_second(yoke_ode_acceleration a, void* self, double t, double h, size_t n,
                            double q[], double v[], double work[]) {
  static const double reach[] = {0.5, 0.5, 1.0}, weight[] = {2.0, 2.0, 1.0};
  double *k = work, *sum_q = k + n, *sum_v = sum_q + n, *q_stage = sum_v + n,
         *v_stage = q_stage + n;

  // slopes at the start: q' = v, v' = a(t, q, v)
  a(self, t, q, v, k);
  memcpy(sum_q, v, n * sizeof *v);
  memcpy(sum_v, k, n * sizeof *k);
  memcpy(v_stage, v, n * sizeof *v);
  for (int i = 0; i < 3; i++) {
    // the positions of a stage use the velocities of the stage before, so q goes first
    add_scaled(n, q, reach[i] * h, v_stage, q_stage);
    add_scaled(n, v, reach[i] * h, k, v_stage);
    a(self, t + reach[i] * h, q_stage, v_stage, k);
    add_scaled(n, sum_q, weight[i], v_stage, sum_q);
    add_scaled(n, sum_v, weight[i], k, sum_v);
  }

  // q+ = q + h/6 sum, v+ = v + h/6 sum
  add_scaled(n, q, h / 6.0, sum_q, q);
  add_scaled(n, v, h / 6.0, sum_v, v);
}

// The equation z = g(z) of one implicit step, in either form, and what its solution needs.
typedef struct implicit {
  size_t n;
  void* self;
  yoke_ode_rhs f;            // first order, or NULL
  yoke_ode_acceleration a;   // second order, or NULL
  double t_end, half;        // t + h, h / 2
  const double *q, *x;       // at the start of the step: positions (second order), and x or v
  double *base, *z, *g;      // n each
  double *q_end, *dz;        // n each
  double *matrix, *inverse;  // n x n each
} implicit;

static implicit implicit_lay(size_t n, void* self, double t, double h, double work[]) {
  implicit p = {.n = n, .self = self, .t_end = t + h, .half = 0.5 * h};
  p.base = work;
  p.z = p.base + n;
  p.g = p.z + n;
  p.q_end = p.g + n;
  p.dz = p.q_end + n;
  p.matrix = p.dz + n;
  p.inverse = p.matrix + n * n;
  return p;
}

// out := g(z)
static void implicit_apply(const implicit* p, const double z[], double out[]) {
  if (p->a != NULL) {
    // q_end = q + h/2 (v + v+): the second-order form has unknowns v+ only
    for (size_t i = 0; i < p->n; i++) {
      p->q_end[i] = p->q[i] + p->half * (p->x[i] + z[i]);
    }
    p->a(p->self, p->t_end, p->q_end, z, out);
  } else {
    p->f(p->self, p->t_end, z, out);
  }

  // g(z) = base + h/2 rate(t + h, z)
  add_scaled(p->n, p->base, p->half, out, out);
}

// The change dz of an iteration, relative to max(1, |x|); q changes by h/2 dz.
static double implicit_change(const implicit* p) {
  // relative to the state, absolute below 1: states near 0 need no relative digits
  double size = fmax(1.0, max_abs(p->n, p->z)), weight = 1.0;
  if (p->a != NULL) {
    // dz of a velocity moves the position by h/2 dz: the larger of the two counts
    size = fmax(size, max_abs(p->n, p->q_end));
    weight = fmax(1.0, p->half);
  }
  return weight * max_abs(p->n, p->dz) / size;
}

// matrix := I - dg/dz at z by forward differences; g holds g(z) and keeps it. n evaluations.
static void difference_matrix(const implicit* p) {
  const size_t n = p->n;
  for (size_t j = 0; j < n; j++) {
    // half the digits for the step, half for the difference; divide by what was really added
    const double z_j = p->z[j];
    p->z[j] = z_j + sqrt(DBL_EPSILON) * fmax(1.0, fabs(z_j));
    const double delta = p->z[j] - z_j;
    implicit_apply(p, p->z, p->dz);
    p->z[j] = z_j;
    // column j of I - dg/dz
    for (size_t i = 0; i < n; i++) {
      p->matrix[i * n + j] = (i == j ? 1.0 : 0.0) - (p->dz[i] - p->g[i]) / delta;
    }
  }
}

// Row operation on [matrix | inverse]: row i -= factor * row k.
static void subtract_row(const implicit* p, size_t i, size_t k, double factor) {
  for (size_t j = 0; j < p->n; j++) {
    p->matrix[i * p->n + j] -= factor * p->matrix[k * p->n + j];
    p->inverse[i * p->n + j] -= factor * p->inverse[k * p->n + j];
  }
}

static void swap_rows(double A[], size_t n, size_t i, size_t k) {
  for (size_t j = 0; j < n; j++) {
    const double a = A[i * n + j];
    A[i * n + j] = A[k * n + j];
    A[k * n + j] = a;
  }
}

// inverse := matrix^-1 by Gauss-Jordan with row exchanges; matrix is lost. An explicit inverse is
// good enough here: Newton corrects its errors in the next iteration, and it needs no integer
// pivots inside the caller's doubles. False if the matrix is singular.
static bool invert(const implicit* p) {
  const size_t n = p->n;
  for (size_t i = 0; i < n * n; i++) {
    p->inverse[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
  }

  // Gauss-Jordan: column k of the matrix becomes that of I, the same operations turn I into the
  // inverse
  for (size_t k = 0; k < n; k++) {
    size_t best = k;
    for (size_t i = k + 1; i < n; i++) {
      if (fabs(p->matrix[i * n + k]) > fabs(p->matrix[best * n + k])) {
        best = i;
      }
    }
    const double pivot = p->matrix[best * n + k];
    if (pivot == 0.0 || !yoke__is_finite(pivot)) {
      return false;
    }
    // whole rows: left of column k the matrix has zeros, the inverse has not
    swap_rows(p->matrix, n, best, k);
    swap_rows(p->inverse, n, best, k);
    for (size_t j = 0; j < n; j++) {
      p->matrix[k * n + j] /= pivot;
      p->inverse[k * n + j] /= pivot;
    }
    for (size_t i = 0; i < n; i++) {
      if (i != k) {
        subtract_row(p, i, k, p->matrix[i * n + k]);
      }
    }
  }
  return true;
}

// z := g(z) until it stands still. Gives up early (automatic) when the contraction seen so far
// cannot reach the tolerance within the iterations left.
static yoke_status iterate_fixed_point(const implicit* p, yoke_ode_corrector* c, int limit,
                                       double tolerance) {
  double previous = 0.0;
  while (c->n_iterations < limit) {
    implicit_apply(p, p->z, p->g);
    for (size_t i = 0; i < p->n; i++) {
      // dz = g(z) - z
      p->dz[i] = p->g[i] - p->z[i];
      p->z[i] = p->g[i];
    }
    c->n_iterations++;
    const double change = implicit_change(p);
    if (change <= tolerance) {
      return YOKE_OK;
    }
    if (!yoke__is_finite(change)) {
      return YOKE_DIVERGED;
    }
    // with contraction rate q the change after m more iterations is change q^m
    if (c->kind == YOKE_ODE_CORRECT_AUTO && c->n_iterations > 1) {
      const double ratio = change / previous;
      if (ratio >= 1.0 || change * pow(ratio, limit - c->n_iterations) > tolerance) {
        return YOKE_NO_CONVERGENCE;
      }
    }
    previous = change;
  }
  return YOKE_NO_CONVERGENCE;
}

// z := z + (I - dg/dz)^-1 (g(z) - z). The matrix is renewed when it no longer contracts well.
static yoke_status iterate_newton(const implicit* p, yoke_ode_corrector* c, int limit,
                                  double tolerance) {
  const double slow = 0.1;  // a correct matrix gives quadratic convergence near the solution
  double previous = 0.0;
  bool is_matrix_wanted = true;
  while (c->n_iterations < limit) {
    implicit_apply(p, p->z, p->g);
    if (!yoke__is_finite(max_abs(p->n, p->g))) {
      return YOKE_DIVERGED;
    }
    if (is_matrix_wanted) {
      // simplified Newton: the matrix of the first iterate serves until it contracts by less than
      // 10
      difference_matrix(p);
      c->n_jacobians++;
      if (!invert(p)) {
        return YOKE_NO_CONVERGENCE;
      }
    }

    // g takes the residual, dz the correction
    for (size_t i = 0; i < p->n; i++) {
      p->g[i] -= p->z[i];
    }
    // dz = (I - dg/dz)^-1 (g(z) - z)
    for (size_t i = 0; i < p->n; i++) {
      p->dz[i] = 0.0;
      for (size_t j = 0; j < p->n; j++) {
        p->dz[i] += p->inverse[i * p->n + j] * p->g[j];
      }
    }
    add_scaled(p->n, p->z, 1.0, p->dz, p->z);
    c->n_iterations++;
    const double change = implicit_change(p);
    if (change <= tolerance) {
      return YOKE_OK;
    }
    if (!yoke__is_finite(change)) {
      return YOKE_DIVERGED;
    }
    // the change fell by less than a factor of ten: new matrix
    is_matrix_wanted = previous > 0.0 && change > slow * previous;
    previous = change;
  }
  return YOKE_NO_CONVERGENCE;
}

// Solves z = g(z). Before: z holds the rate at the start, base nothing.
static yoke_status implicit_solve(const implicit* p, double h, yoke_ode_corrector* c) {
  const int limit = c->max_iterations > 0 ? c->max_iterations : 10;
  const double tolerance = c->tolerance > 0.0 ? c->tolerance : 1e-12;
  c->n_iterations = 0;
  c->n_jacobians = 0;

  // base = x + h/2 rate(t, x); predictor z = x + h rate(t, x)
  // fixed point from the Euler step
  add_scaled(p->n, p->x, p->half, p->z, p->base);
  add_scaled(p->n, p->x, h, p->z, p->z);
  if (c->kind != YOKE_ODE_CORRECT_NEWTON) {
    const yoke_status status = iterate_fixed_point(p, c, limit, tolerance);
    if (status == YOKE_OK || c->kind == YOKE_ODE_CORRECT_FIXED_POINT || c->n_iterations >= limit) {
      return status;
    }
  }

  // Newton from the start of the step: in a stiff problem the Euler step is far off
  memcpy(p->z, p->x, p->n * sizeof *p->z);
  return iterate_newton(p, c, limit, tolerance);
}

yoke_status yoke__ode_step(yoke_ode_method method, yoke_ode_rhs f, void* self, double t, double h,
                           size_t n, double x[], double work[], yoke_ode_corrector* corrector) {
  switch (method) {
  case YOKE_ODE_EULER:
    f(self, t, x, work);
    add_scaled(n, x, h, work, x);
    return YOKE_OK;
  case YOKE_ODE_RK4:
    step_rk4(f, self, t, h, n, x, work);
    return YOKE_OK;
  case YOKE_ODE_TRAPEZOIDAL: {
    yoke_ode_corrector defaults = {0};
    implicit p = implicit_lay(n, self, t, h, work);
    p.f = f;
    p.x = x;
    // rate at the start, kept in z until the solver takes it
    f(self, t, x, p.z);
    const yoke_status status = implicit_solve(&p, h, corrector != NULL ? corrector : &defaults);
    memcpy(x, p.z, n * sizeof *x);
    return status;
  }
  case YOKE_ODE_SEMI_IMPLICIT_EULER:
    break;
  }
  return YOKE_BAD_ARG;
}

yoke_status yoke__ode_step2(yoke_ode_method method, yoke_ode_acceleration a, void* self, double t,
                            double h, size_t n, double q[], double v[], double work[],
                            yoke_ode_corrector* corrector) {
  switch (method) {
  case YOKE_ODE_EULER:
    a(self, t, q, v, work);
    add_scaled(n, q, h, v, q);
    // explicit Euler: q with the old v
    add_scaled(n, v, h, work, v);
    return YOKE_OK;
  case YOKE_ODE_SEMI_IMPLICIT_EULER:
    a(self, t, q, v, work);
    // symplectic: v first, q with the new v
    add_scaled(n, v, h, work, v);
    add_scaled(n, q, h, v, q);
    return YOKE_OK;
  case YOKE_ODE_RK4:
    step_rk4_second(a, self, t, h, n, q, v, work);
    return YOKE_OK;
  case YOKE_ODE_TRAPEZOIDAL: {
    yoke_ode_corrector defaults = {0};
    implicit p = implicit_lay(n, self, t, h, work);
    p.a = a;
    p.q = q;
    p.x = v;
    // acceleration at the start, kept in z
    a(self, t, q, v, p.z);
    const yoke_status status = implicit_solve(&p, h, corrector != NULL ? corrector : &defaults);
    // q+ = q + h/2 (v + v+)
    for (size_t i = 0; i < n; i++) {
      q[i] += p.half * (v[i] + p.z[i]);
    }
    memcpy(v, p.z, n * sizeof *v);
    return status;
  }
  }
  return YOKE_BAD_ARG;
}
