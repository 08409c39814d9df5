// Models of a cluster for model-based pre-step stabilisation: memory, interface Jacobians, and what
// is computed from them before a step.
//
//   A~ = Jy + Ju L    B~ = Ju    C~ = Jd L    D~ = Jd    R = (I - C~)^-1    K = R A~
//   step 1   P = A~ R,  Q = P D~ + B~
//   step 2   e^{KH},  drive of g: h phi1(KH) R Ju, h phi2(KH) R Ju, phi1(KH) R Jd
//   step 3   Sy = e^{Jy H}, S0 = -Sy Jd, S1 = Sy Jd + h phi1(Jy H) Ju
//            ramp: phi_C + phi_D = h (h phi2(Jy H)) Ju + h phi1(Jy H) Jd
//
// with Sy, S0, S1 in place of Jy, Ju, Jd in discrete time. What the steps do with them is in
// couple_mpsm_step.c. Source: S. Genser, thesis, Graz 2020, sections 2.1 and 2.2.
// Assumes a constant step and no algebraic loop through the units.
#include "couple/couple_mpsm_predict.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/base_check.h"
#include "couple/couple_mpsm_matrix.h"
#include "couple/couple_pieces.h"
#include "identify/identify_jacobian.h"
#include "linalg/linalg_dense.h"

// beyond these the block would be gigabytes; keeps all products below far from overflow in 32 bits
enum { MAX_SIGNALS = YOKE_MPSM_MAX_SIGNALS, MAX_SAMPLES = 1 << 20 };

// of a power iteration that is stopped early: its bound is then at most some 20 % too large
enum { CONDITION_STEPS = 6, SQUARINGS = 6 };
// loop gain up to which the mean of an input is taken from a parabola: that is explicit in part
#define MILD 0.5

yoke_mpsm_options yoke__mpsm_options_default(void) {
  return (yoke_mpsm_options){
      .time = YOKE_MPSM_CONTINUOUS,
      .shape = YOKE_MPSM_CONSTANT,
      .between = YOKE_MPSM_LINEAR,
      .keeps_ramp_jump = true,
      .rank_cut = 1e-10,
      .cond_max = 1e10,
  };
}

// ---- memory: one walk over all arrays, first to count, then to place

static double* take_doubles(yoke_pieces* at, size_t n) {
  return yoke__take(at, n, sizeof(double));
}

// Doubles that the largest of the computations of assemble and set_* needs at once.
static size_t work_size(const yoke_mpsm_options* options, size_t p, size_t s, size_t largest) {
  // upper bounds: assembly, exponentials of size 3 p (phi) or N, inverses of one unit
  const size_t wide = p > s ? p : s;
  size_t size = 8 * wide * wide + 8 * wide;
  if (options->time == YOKE_MPSM_CONTINUOUS) {
    size += yoke__mpsm_phi_work_size(p) + 3 * p * p;
    if (options->between == YOKE_MPSM_MODEL) {
      const size_t N = 2 * p + 2 * s;
      size += 2 * N * N + N + yoke__expm_work_size(N);
    }
  }
  return size + yoke__jacobian_hold_work_size(largest) + 5 * largest * largest +
         yoke__pseudo_inverse_work_size(largest, largest);
}

static void lay_unit(yoke_pieces* at, const yoke_mpsm_setup* setup, size_t i,
                     yoke_mpsm_unit* unit) {
  const size_t n = setup->n_outputs[i], m = setup->n_inputs[i];
  unit->n = n;
  unit->m = m;
  unit->sy = take_doubles(at, n * n);
  unit->s0 = take_doubles(at, n * m);
  unit->s1 = take_doubles(at, n * m);
  unit->reach_inverse = take_doubles(at, m * n);

  // in discrete time the Jacobians of steps 1 and 2 are those of step 3
  unit->jac_y = unit->sy;
  unit->jac_u = unit->s0;
  unit->jac_d = unit->s1;
  unit->reach = unit->s1;
  if (setup->options.time == YOKE_MPSM_CONTINUOUS) {
    unit->jac_y = take_doubles(at, n * n);
    unit->jac_u = take_doubles(at, n * m);
    unit->jac_d = take_doubles(at, n * m);
  }
  if (setup->options.shape != YOKE_MPSM_CONSTANT) {
    unit->reach = take_doubles(at, n * m);
  }
}

static void lay_units(yoke_pieces* at, const yoke_mpsm_setup* setup, yoke_mpsm* self) {
  yoke_mpsm_unit* units = yoke__take(at, setup->n_units, sizeof *units);
  self->units = units;
  size_t first_y = 0, first_u = 0;
  for (size_t i = 0; i < setup->n_units; i++) {
    yoke_mpsm_unit unit = {.first_y = first_y, .first_u = first_u};
    lay_unit(at, setup, i, &unit);
    first_y += unit.n;
    first_u += unit.m;
    if (units != NULL) {
      units[i] = unit;
    }
  }
}

static void lay_step_1(yoke_pieces* at, yoke_mpsm* self) {
  const size_t p = self->p, s = self->s;
  if (!self->options.uses_ede || self->options.time != YOKE_MPSM_CONTINUOUS) {
    return;
  }
  self->P = take_doubles(at, p * p);
  self->Q = take_doubles(at, p * s);
  self->ede = take_doubles(at, p * p);
  self->ede_0 = take_doubles(at, p * s);
  self->ede_1 = take_doubles(at, p * s);
  if (self->options.between == YOKE_MPSM_MODEL) {
    self->ede_y = take_doubles(at, p * p);
    self->ede_u = take_doubles(at, p * s);
    self->ede_slope = take_doubles(at, p * s);
  }
}

static void lay_state(yoke_pieces* at, yoke_mpsm* self) {
  const size_t p = self->p, s = self->s;
  self->n_state = 3 * p + 3 * s;
  self->state = take_doubles(at, self->n_state);
  if (self->state == NULL) {
    return;
  }
  self->y_last = self->state;
  self->u_last = self->y_last + p;
  self->g_last = self->u_last + s;
  self->eps_last = self->g_last + s;
  self->delta = self->eps_last + s;
  self->delta_v = self->delta + p;
}

// Places everything behind the struct itself; returns the bytes used. self is filled in full only
// if at->base is not NULL.
static size_t lay(yoke_pieces* at, const yoke_mpsm_setup* setup, yoke_mpsm* self, size_t largest) {
  const size_t p = self->p, s = self->s;
  (void)yoke__take(at, 1, sizeof *self);
  lay_units(at, setup, self);
  self->L = take_doubles(at, s * p);
  self->scale_y = take_doubles(at, p);
  self->scale_u = take_doubles(at, s);
  if (self->options.is_levelled) {
    self->lead = take_doubles(at, s);
    self->level = take_doubles(at, s);
    self->is_end = yoke__take(at, s, sizeof *self->is_end);
  }
  self->A = take_doubles(at, p * p);
  self->I_C = take_doubles(at, p * p);
  self->R = take_doubles(at, p * p);
  self->K = take_doubles(at, p * p);
  // in discrete time K itself carries one step ahead
  const bool is_discrete = self->options.time == YOKE_MPSM_DISCRETE;
  self->extrapolate = is_discrete ? self->K : take_doubles(at, p * p);
  if (self->has_exogenous) {
    self->drive_0 = take_doubles(at, p * s);
    self->drive_1 = take_doubles(at, p * s);
  }
  lay_step_1(at, self);
  lay_state(at, self);
  self->eps = take_doubles(at, s);
  self->y_tilde = take_doubles(at, p);
  self->y_hat = take_doubles(at, p);
  self->mean_tilde = take_doubles(at, p);
  self->start_tilde = take_doubles(at, p);
  self->work = take_doubles(at, work_size(&self->options, p, s, largest));
  self->pivots = yoke__take(at, 3 * p + 2 * s, sizeof *self->pivots);
  return at->used;
}

// Checks the set-up and fills the sizes of self. False if it makes no sense.
static bool measure(const yoke_mpsm_setup* setup, yoke_mpsm* self, size_t* largest) {
  const yoke_mpsm_options* options = &setup->options;
  const bool is_ramp = options->shape != YOKE_MPSM_CONSTANT;
  if (setup->n_units == 0 || setup->n_units > MAX_SIGNALS || !(setup->step > 0) ||
      setup->n_samples > MAX_SAMPLES || (is_ramp && options->time == YOKE_MPSM_DISCRETE) ||
      (options->is_levelled && (options->uses_ede || options->time != YOKE_MPSM_DISCRETE))) {
    return false;
  }
  *self = (yoke_mpsm){
      .options = *options,
      .n_units = setup->n_units,
      .n_samples = setup->n_samples > 1 ? setup->n_samples : 1,
      .step = setup->step,
      .has_exogenous = setup->has_exogenous,
  };
  *largest = 0;
  for (size_t i = 0; i < setup->n_units; i++) {
    const size_t n = setup->n_outputs[i], m = setup->n_inputs[i];
    if (n == 0 || m == 0 || n > MAX_SIGNALS || m > MAX_SIGNALS) {
      return false;
    }
    self->p += n;
    self->s += m;
    *largest = n > *largest ? n : *largest;
    *largest = m > *largest ? m : *largest;
  }
  return self->p <= MAX_SIGNALS && self->s <= MAX_SIGNALS;
}

size_t yoke__mpsm_size(const yoke_mpsm_setup* setup) {
  yoke_mpsm self;
  size_t largest;
  if (!measure(setup, &self, &largest)) {
    return 0;
  }
  yoke_pieces at = {NULL, 0};
  return lay(&at, setup, &self, largest);
}

yoke_status yoke__mpsm_prepare(void* memory, const yoke_mpsm_setup* setup, yoke_mpsm** out) {
  yoke_mpsm* self = memory;
  size_t largest;
  *out = NULL;
  if (memory == NULL || !measure(setup, self, &largest)) {
    return YOKE_BAD_ARG;
  }
  yoke_pieces at = {memory, 0};
  const size_t used = lay(&at, setup, self, largest);
  assert(used == yoke__mpsm_size(setup));
  (void)used;
  memcpy(self->L, setup->L, self->s * self->p * sizeof *self->L);
  for (size_t i = 0; i < self->p; i++) {
    self->scale_y[i] = setup->output_scale == NULL ? 1 : setup->output_scale[i];
  }
  for (size_t i = 0; i < self->s; i++) {
    self->scale_u[i] = setup->input_scale == NULL ? 1 : setup->input_scale[i];
  }
  for (size_t i = 0; i < self->s && self->is_end != NULL; i++) {
    self->is_end[i] = setup->is_end != NULL && setup->is_end[i];
  }
  self->condition = (double)INFINITY;
  *out = self;
  return YOKE_OK;
}

// ---- one unit

static void copy(size_t n, const double from[], double to[]) {
  // most units have one signal each way: a call would cost more than the number
  if (n == 1) {
    to[0] = from[0];
  } else {
    memcpy(to, from, n * sizeof *to);
  }
}

// One output, one input: M^+ = 1 / M, as below.
static yoke_status invert_number(double M, double wy, double wu, double* inverse) {
  // W_u (W_y^-1 M W_u)^-1 W_y^-1
  const double weighted = M / wy * wu;
  *inverse = weighted != 0 ? 1 / weighted * wu / wy : 0;
  return yoke__is_finite(weighted) && yoke__is_finite(*inverse) ? YOKE_OK : YOKE_BAD_ARG;
}

// Mp := W_u (W_y^-1 M W_u)^+ W_y^-1, so that the least squares of step 3 weigh in the given units.
static yoke_status invert_reach(yoke_mpsm* self, const yoke_mpsm_unit* unit) {
  const size_t n = unit->n, m = unit->m;
  const double *wy = self->scale_y + unit->first_y, *wu = self->scale_u + unit->first_u;
  double* M = self->work;
  if (n == 1 && m == 1) {
    return invert_number(unit->reach[0], wy[0], wu[0], unit->reach_inverse);
  }
  for (size_t i = 0; i < n; i++) {
    // rows in units of outputs, columns in units of inputs
    for (size_t j = 0; j < m; j++) {
      M[i * m + j] = unit->reach[i * m + j] / wy[i] * wu[j];
    }
  }

  // one row or one column needs no decomposition: M^+ = M^T / |M|^2
  double* inverse = unit->reach_inverse;
  if (n == 1 || m == 1) {
    double largest = 0, sum = 0;
    for (size_t i = 0; i < n * m; i++) {
      largest = fmax(largest, fabs(M[i]));
    }
    // scaled by the largest element: no square over- or underflows
    for (size_t i = 0; i < n * m && largest > 0; i++) {
      sum += M[i] / largest * (M[i] / largest);
    }
    for (size_t i = 0; i < n * m; i++) {
      inverse[i] = largest > 0 ? M[i] / largest / sum / largest : 0;
    }
  } else {
    double* rest = M + n * m;
    YOKE_TRY(yoke__pseudo_inverse(n, m, M, self->options.rank_cut, inverse, NULL, rest));
  }

  // scaling undone
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      inverse[i * n + j] = inverse[i * n + j] * wu[i] / wy[j];
    }
  }
  return yoke__are_finite(n * m, inverse) ? YOKE_OK : YOKE_BAD_ARG;
}

// Sy, S0, S1 of a unit, and phi_C + phi_D, what a ramp reaches, from continuous matrices.
static yoke_status discretise(yoke_mpsm* self, yoke_mpsm_unit* unit,
                              const yoke_jacobian_continuous* from) {
  const size_t n = unit->n, m = unit->m;
  const double H = self->step;
  yoke_jacobian_discrete to = {n, m, unit->sy, unit->s0, unit->s1};
  double* work = self->work;
  YOKE_TRY(yoke__jacobian_hold(from, H, &to, work, self->pivots));
  if (self->options.shape == YOKE_MPSM_CONSTANT) {
    return YOKE_OK;
  }
  yoke_jacobian_phi phi = {work, work + n * n, work + n * n + n * m, work + n * n + 2 * n * m};
  double* rest = work + n * n + 3 * n * m;
  YOKE_TRY(yoke__jacobian_phi_of(from, H, &phi, rest, self->pivots));

  // phi_C + phi_D
  for (size_t i = 0; i < n * m; i++) {
    unit->reach[i] = phi.C[i] + phi.D[i];
  }

  // without the refinement the jump from the old input to the start of the ramp is left out
  if (!self->options.keeps_ramp_jump) {
    memset(unit->s0, 0, n * m * sizeof *unit->s0);
    memcpy(unit->s1, phi.B, n * m * sizeof *unit->s1);
  }
  return YOKE_OK;
}

static bool fits(const yoke_mpsm* self, size_t unit, size_t n, size_t m) {
  return unit < self->n_units && self->units[unit].n == n && self->units[unit].m == m;
}

yoke_status yoke__mpsm_set_continuous(yoke_mpsm* self, size_t i,
                                      const yoke_jacobian_continuous* from) {
  self->is_ready = false;
  const size_t n = from->n, m = from->m;
  if (!fits(self, i, n, m) || !yoke__are_finite(n * n, from->Jy) ||
      !yoke__are_finite(n * m, from->Ju) || !yoke__are_finite(n * m, from->Jd)) {
    return YOKE_BAD_ARG;
  }
  yoke_mpsm_unit* unit = &self->units[i];
  YOKE_TRY(discretise(self, unit, from));
  if (self->options.time == YOKE_MPSM_CONTINUOUS) {
    memcpy(unit->jac_y, from->Jy, n * n * sizeof *unit->jac_y);
    memcpy(unit->jac_u, from->Ju, n * m * sizeof *unit->jac_u);
    memcpy(unit->jac_d, from->Jd, n * m * sizeof *unit->jac_d);
  }
  return invert_reach(self, unit);
}

yoke_status yoke__mpsm_set_discrete(yoke_mpsm* self, size_t i, const yoke_jacobian_discrete* from) {
  if (self->options.time != YOKE_MPSM_DISCRETE) {
    return YOKE_NO_SUPPORT;
  }
  self->is_ready = false;
  const size_t n = from->n, m = from->m;
  if (!fits(self, i, n, m) || !yoke__are_finite(n * n, from->Sy) ||
      !yoke__are_finite(n * m, from->S0) || !yoke__are_finite(n * m, from->S1)) {
    return YOKE_BAD_ARG;
  }
  yoke_mpsm_unit* unit = &self->units[i];
  copy(n * n, from->Sy, unit->sy);
  copy(n * m, from->S0, unit->s0);
  copy(n * m, from->S1, unit->s1);
  return invert_reach(self, unit);
}

// ---- the cluster

// out (p x c) := X (p x p) blkdiag(J_i), J_i n_i x m_i; c = s. out is not added to.
static void times_blocks(const yoke_mpsm* self, const double X[], bool is_direct, double out[]) {
  for (size_t i = 0; i < self->n_units; i++) {
    const yoke_mpsm_unit* unit = &self->units[i];
    const double* J = is_direct ? unit->jac_d : unit->jac_u;
    for (size_t r = 0; r < self->p; r++) {
      for (size_t c = 0; c < unit->m; c++) {
        double sum = 0;
        // block i of X J: columns of unit i
        for (size_t k = 0; k < unit->n; k++) {
          sum += X[r * self->p + unit->first_y + k] * J[k * unit->m + c];
        }
        out[r * self->s + unit->first_u + c] = sum;
      }
    }
  }
}

// Row r of a unit: A~ = Jy + Ju L, I - C~ = I - Jd L.
static void assemble_row(const yoke_mpsm* self, const yoke_mpsm_unit* unit, size_t r) {
  const size_t p = self->p, m = unit->m, at = unit->first_y + r;
  const double *ju = unit->jac_u + r * m, *jd = unit->jac_d + r * m;
  const double *jy = unit->jac_y + r * unit->n, *L = self->L + unit->first_u * p;
  double *A = self->A + at * p, *I_C = self->I_C + at * p;
  for (size_t c = 0; c < p; c++) {
    double a = 0, d = 0;
    // (Ju L)_rc and (Jd L)_rc
    for (size_t k = 0; k < m; k++) {
      a += ju[k] * L[k * p + c];
      d += jd[k] * L[k * p + c];
    }
    // outputs of the unit itself; wraps around for those before it
    const size_t own = c - unit->first_y;
    A[c] = own < unit->n ? a + jy[own] : a;
    I_C[c] = (c == at ? 1 : 0) - d;
  }
}

static void assemble_blocks(const yoke_mpsm* self) {
  for (size_t i = 0; i < self->n_units; i++) {
    for (size_t r = 0; r < self->units[i].n; r++) {
      assemble_row(self, &self->units[i], r);
    }
  }
}

// Inputs that are means: I - C~ has the weights of their ends, I - S1 diag(lead) L, and the inputs of the last step are known
// as they were given, so that A~ is Sy alone. With S0 L in it step 3 would answer to what a mean differs from an end value.
static void assemble_lead(const yoke_mpsm* self) {
  const size_t p = self->p;
  memset(self->I_C, 0, p * p * sizeof *self->I_C);
  memset(self->A, 0, p * p * sizeof *self->A);
  for (size_t i = 0; i < self->n_units; i++) {
    const yoke_mpsm_unit* unit = &self->units[i];
    for (size_t r = 0; r < unit->n; r++) {
      double* I_C = self->I_C + (unit->first_y + r) * p;
      double* A = self->A + (unit->first_y + r) * p + unit->first_y;
      // A~ = Sy, block diagonal
      memcpy(A, unit->sy + r * unit->n, unit->n * sizeof *A);
      for (size_t k = 0; k < unit->m; k++) {
        const size_t at = unit->first_u + k;
        // lead times S1
        const double weight = unit->s1[r * unit->m + k] * self->lead[at];
        for (size_t c = 0; c < p; c++) {
          I_C[c] -= weight * self->L[at * p + c];
        }
      }
      I_C[unit->first_y + r] += 1;
    }
  }
}

// The largest eigenvalue of |R| |I - C~| for two outputs: the root of a quadratic.
static double condition_of_two(const double R[], const double I_C[]) {
  const double r[] = {fabs(R[0]), fabs(R[1]), fabs(R[2]), fabs(R[3])};
  const double c[] = {fabs(I_C[0]), fabs(I_C[1]), fabs(I_C[2]), fabs(I_C[3])};
  const double a = r[0] * c[0] + r[1] * c[2], b = r[0] * c[1] + r[1] * c[3];
  const double d = r[2] * c[0] + r[3] * c[2], e = r[2] * c[1] + r[3] * c[3];

  // (a + e)/2 + sqrt(((a - e)/2)^2 + b d)
  const double root = 0.5 * (a + e + sqrt((a - e) * (a - e) + 4 * b * d));
  return yoke__is_finite(root) ? root : (double)INFINITY;
}

// Condition of I - C~ in the units of the signals that suit it best: the largest eigenvalue of
// |R| |I - C~| (F. L. Bauer, Numer. Math. 5 (1963) 73-87). A plain norm would call a cluster
// without any loop singular because it mixes metres and newtons: feedthrough of 1e5 N/m alone has
// 1e10. Bounded from above by the largest growth of an element in a power iteration; v: 2 p.
static double loop_condition(const yoke_mpsm* self, double v[]) {
  const size_t p = self->p;
  if (p == 2) {
    return condition_of_two(self->R, self->I_C);
  }
  double *w = v + p, condition = (double)INFINITY;
  for (size_t i = 0; i < p; i++) {
    v[i] = 1;
  }
  for (int step = 0; step < CONDITION_STEPS; step++) {
    // w = |I - C~| v, v := |R| w
    for (size_t i = 0; i < p; i++) {
      w[i] = 0;
      for (size_t j = 0; j < p; j++) {
        w[i] += fabs(self->I_C[i * p + j]) * v[j];
      }
    }
    double growth = 0, largest = 0;
    for (size_t i = 0; i < p; i++) {
      double sum = 0;
      for (size_t j = 0; j < p; j++) {
        sum += fabs(self->R[i * p + j]) * w[j];
      }
      // Collatz and Wielandt: for v > 0 the largest eigenvalue is at most max_i (M v)_i / v_i
      const double ratio = sum / v[i];
      growth = ratio > growth || isnan(ratio) ? ratio : growth;
      largest = sum > largest ? sum : largest;
      v[i] = sum;
    }
    condition = growth < condition ? growth : condition;
    // only the direction counts: rescaled against overflow
    for (size_t i = 0; i < p; i++) {
      v[i] /= largest;
    }
  }
  return condition;
}

// The same sums as elimination with a pivot, column by column.
static yoke_status invert_two(const double M[], double R[]) {
  // the larger of the two elements of the first column is the pivot
  const int top = fabs(M[2]) > fabs(M[0]) ? 2 : 0, low = 2 - top;
  const double pivot = M[top], right = M[top + 1];
  const double factor = M[low] / pivot, rest = M[low + 1] - factor * right;

  // no usable pivot: 0, NaN or infinite
  if (pivot == 0 || !yoke__is_finite(pivot) || rest == 0 || !yoke__is_finite(rest)) {
    return YOKE_SINGULAR;
  }
  // columns of the rows that became the first and the second one
  const int first = top / 2, second = 1 - first;

  // back substitution of both columns of the identity
  R[2 + first] = (0 - factor) / rest;
  R[2 + second] = 1 / rest;
  R[first] = (1 - right * R[2 + first]) / pivot;
  R[second] = (0 - right * R[2 + second]) / pivot;
  return YOKE_OK;
}

static yoke_status invert(size_t p, const double M[], double R[], double work[], size_t pivots[]) {
  if (p == 2) {
    return invert_two(M, R);
  }
  double *lu = work, *column = lu + p * p;
  memcpy(lu, M, p * p * sizeof *lu);
  YOKE_TRY(yoke__lu_factor(p, lu, pivots));
  for (size_t j = 0; j < p; j++) {
    memset(column, 0, p * sizeof *column);
    column[j] = 1;
    yoke__lu_solve(p, lu, pivots, column);
    for (size_t i = 0; i < p; i++) {
      R[i * p + j] = column[i];
    }
  }
  return YOKE_OK;
}

// R = (I - C~)^-1: needed as a matrix, so that its condition costs little more.
static yoke_status invert_loop(yoke_mpsm* self) {
  const size_t p = self->p;
  self->condition = (double)INFINITY;
  YOKE_TRY(invert(p, self->I_C, self->R, self->work, self->pivots));
  if (yoke__are_finite(p * p, self->R)) {
    self->condition = loop_condition(self, self->work);
  }

  // near-singular loops multiply every deviation: above cond_max the models are refused
  return self->condition <= self->options.cond_max ? YOKE_OK : YOKE_SINGULAR;
}

// In discrete time y^ = R A~ y~ + R B~ g^k + R D~ g^{k+1}.
void yoke__mpsm_drive(yoke_mpsm* self) {
  if (self->is_drive_due) {
    times_blocks(self, self->R, false, self->drive_0);
    times_blocks(self, self->R, true, self->drive_1);
    // means: only the share lead of g at the end of the step is unknown here; S0 u^k is added as it
    // was given
    for (size_t i = 0; i < self->p * self->s && self->lead != NULL; i++) {
      self->drive_0[i] = 0;
      self->drive_1[i] *= self->lead[i % self->s];
    }
    self->is_drive_due = false;
  }
}

// Drive of g over one step: with g a line from g^k to g^{k+1} the integral is
// F1 R Ju g^k + (F2 R Ju + F1 R Jd / H) (g^{k+1} - g^k).
static void drive_continuous(yoke_mpsm* self, const double F1[], const double F2[], double T[]) {
  const size_t p = self->p, s = self->s;
  yoke__mat_mul(p, p, p, F1, self->R, T);
  times_blocks(self, T, true, self->drive_1);
  times_blocks(self, T, false, self->drive_0);
  double *FR = T, *part = T + p * p;
  yoke__mat_mul(p, p, p, F2, self->R, FR);
  times_blocks(self, FR, false, part);

  // coefficient of g^{k+1}, then of g^k: g is a line between them
  for (size_t i = 0; i < p * s; i++) {
    self->drive_1[i] = self->drive_1[i] / self->step + part[i];
    self->drive_0[i] -= self->drive_1[i];
  }
}

static yoke_status extrapolate_continuous(yoke_mpsm* self) {
  const size_t p = self->p;
  double *E = self->extrapolate, *F1 = self->work, *F2 = F1 + p * p, *rest = F2 + p * p;
  YOKE_TRY(yoke__mpsm_phi(p, self->K, self->step, E, F1, F2, rest, self->pivots));
  if (self->has_exogenous) {
    drive_continuous(self, F1, F2, rest);
  }
  return YOKE_OK;
}

// What follows from the outputs of the units' own models that is not a line between the ends: the
// response of delta_v to it, as matrices on (y, u, du/dt) at the start of the step.
//
//   d/dt (delta_v, y, u, r) = [[P, QL, 0, 0], [0, Jy, Ju, Jd], [0, 0, 0, I], [0, 0, 0, 0]] (...)
static yoke_status model_between(yoke_mpsm* self) {
  const size_t p = self->p, s = self->s, N = 2 * p + 2 * s;
  const double h = self->step / (double)self->n_samples;
  double *big = self->work, *E = big + N * N, *d = E + N * N, *rest = d + N;

  // units of the signals from the coupled model; an input has those of the outputs it is made of
  yoke__mpsm_balance(p, self->K, d);
  memcpy(d + p, d, p * sizeof *d);
  for (size_t i = 0; i < s; i++) {
    double sum = 0;
    for (size_t j = 0; j < p; j++) {
      sum += fabs(self->L[i * p + j]) * d[j];
    }
    int e = 0;
    (void)frexp(sum, &e);
    d[2 * p + i] = d[2 * p + s + i] = sum > 0 ? ldexp(1, e) : 1;
  }
  memset(big, 0, N * N * sizeof *big);
  yoke__mat_mul(p, s, p, self->Q, self->L, rest);
  for (size_t i = 0; i < p; i++) {
    for (size_t j = 0; j < p; j++) {
      big[i * N + j] = self->P[i * p + j] * h;
      big[i * N + p + j] = rest[i * p + j] * h;
    }
  }

  // rows of y: y' = Jy y + Ju u + Jd r
  for (size_t k = 0; k < self->n_units; k++) {
    const yoke_mpsm_unit* unit = &self->units[k];
    for (size_t i = 0; i < unit->n; i++) {
      double* row = big + (p + unit->first_y + i) * N;
      for (size_t j = 0; j < unit->n; j++) {
        row[p + unit->first_y + j] = unit->jac_y[i * unit->n + j] * h;
      }
      for (size_t j = 0; j < unit->m; j++) {
        row[2 * p + unit->first_u + j] = unit->jac_u[i * unit->m + j] * h;
        row[2 * p + s + unit->first_u + j] = unit->jac_d[i * unit->m + j] * h;
      }
    }
  }

  // rows of u: u' = r, r constant
  for (size_t i = 0; i < s; i++) {
    big[(2 * p + i) * N + 2 * p + s + i] = h;
  }
  YOKE_TRY(yoke__mpsm_expm(N, big, d, E, rest, self->pivots));

  // response to the model's output less that to the line between its ends
  double *line_0 = big, *line_1 = line_0 + p * p;  // of L y at the start, and of its rise

  // what ede_0 and ede_1 take into account already: a line between the ends of L y
  yoke__mat_mul(p, s, p, self->ede_0, self->L, line_0);
  yoke__mat_mul(p, s, p, self->ede_1, self->L, line_1);

  // response of delta_v to the true course of y, less that to the line
  for (size_t i = 0; i < p; i++) {
    for (size_t j = 0; j < p + 2 * s; j++) {
      double sum = E[i * N + p + j];
      for (size_t k = 0; k < p; k++) {
        sum -= line_1[i * p + k] * (E[(p + k) * N + p + j] - (j == k ? 1 : 0));
      }
      if (j < p) {
        self->ede_y[i * p + j] = sum - line_0[i * p + j];
      } else if (j < p + s) {
        self->ede_u[i * s + j - p] = sum;
      } else {
        self->ede_slope[i * s + j - p - s] = sum;
      }
    }
  }
  return YOKE_OK;
}

// Step 1 in continuous time: P, Q, and the exact propagation over one part of the step.
static yoke_status correct_continuous(yoke_mpsm* self) {
  const size_t p = self->p, s = self->s;
  double *F1 = self->work, *F2 = F1 + p * p, *rest = F2 + p * p;

  // P = A~ R
  yoke__mat_mul(p, p, p, self->A, self->R, self->P);

  // Q = P D~ + B~
  times_blocks(self, self->P, true, self->Q);
  for (size_t i = 0; i < self->n_units; i++) {
    const yoke_mpsm_unit* unit = &self->units[i];
    for (size_t r = 0; r < unit->n; r++) {
      for (size_t c = 0; c < unit->m; c++) {
        self->Q[(unit->first_y + r) * s + unit->first_u + c] += unit->jac_u[r * unit->m + c];
      }
    }
  }
  const double h = self->step / (double)self->n_samples;
  YOKE_TRY(yoke__mpsm_phi(p, self->P, h, self->ede, F1, F2, rest, self->pivots));

  // delta_v over one part of the step: E delta_v + F1 Q eps_0 + F2 Q (eps_1 - eps_0)
  yoke__mat_mul(p, p, s, F1, self->Q, self->ede_0);
  yoke__mat_mul(p, p, s, F2, self->Q, self->ede_1);
  return self->options.between == YOKE_MPSM_MODEL ? model_between(self) : YOKE_OK;
}

// B := |S1 L|, p x p.
static void absolute_loop(const yoke_mpsm* self, double B[]) {
  const size_t p = self->p;
  for (size_t k = 0; k < self->n_units; k++) {
    const yoke_mpsm_unit* unit = &self->units[k];
    double* rows = B + unit->first_y * p;
    yoke__mat_mul(unit->n, unit->m, p, unit->s1, self->L + unit->first_u * p, rows);
    for (size_t i = 0; i < unit->n * p; i++) {
      rows[i] = fabs(rows[i]);
    }
  }
}

// Largest eigenvalue of |S1 L|: how much the coupled inputs of a step answer to themselves, whatever
// the units of the signals. The 64th root of the norm of its 64th power: a power iteration would not
// settle in a ring, and metres beside newtons cost a factor of 1.4 only. B, C: p x p.
static double loop_gain(const yoke_mpsm* self, double B[], double C[]) {
  const size_t p = self->p;
  long exponent = 0;
  absolute_loop(self, B);

  // B := B^2 scaled; 6 squarings are the 64th power
  for (int i = 0; i < SQUARINGS; i++) {
    double largest = 0;
    int e = 0;
    for (size_t j = 0; j < p * p; j++) {
      largest = B[j] > largest ? B[j] : largest;
    }
    if (!(largest > 0) || !yoke__is_finite(largest)) {
      return largest > 0 ? largest : 0;
    }
    // powers of two: exact
    (void)frexp(largest, &e);
    const double scale = ldexp(1, -e);
    for (size_t j = 0; j < p * p; j++) {
      B[j] *= scale;
    }
    exponent = 2 * (exponent + e);
    yoke__mat_mul(p, p, p, B, B, C);
    memcpy(B, C, p * p * sizeof *B);
  }
  double norm = 0;
  for (size_t i = 0; i < p; i++) {
    double sum = 0;
    for (size_t j = 0; j < p; j++) {
      sum += B[i * p + j];
    }
    norm = sum > norm ? sum : norm;
  }

  // (2^exponent norm)^(1/64)
  return norm > 0 ? exp2(((double)exponent + log2(norm)) / (1 << SQUARINGS)) : 0;
}

// Weights of the target of a held input, its mean over the step: from the parabola through the last,
// the present and the next coupled value where the loop is mild; else from the line
// through the last two, with so much of the next one that the answer of a stiff loop has no
// overshoot: 1 - 1/gain (the theta method of a decay).
static void choose_level(yoke_mpsm* self) {
  const double gain = loop_gain(self, self->work, self->work + self->p * self->p);
  const bool is_mild = gain <= MILD;

  // parabola through -1, 0, 1: mean over 0 .. 1 is 5/12 next + 8/12 present - 1/12 past
  const double lead = is_mild ? 5.0 / 12 : fmax(0.5, 1 - 1 / gain);
  self->past = is_mild ? -1.0 / 12 : 0;

  // an end value is the next value itself
  for (size_t i = 0; i < self->s; i++) {
    self->lead[i] = self->is_end[i] ? 1 : lead;
  }
}

// delta_v belongs to the matrices: with new ones it is made again from delta, which stays.
static void carry_delta(const yoke_mpsm* self) {
  // delta_v = (I - C~) delta - D~ eps
  yoke__mat_vec(self->p, self->p, self->I_C, self->delta, self->delta_v);
  for (size_t i = 0; i < self->n_units; i++) {
    const yoke_mpsm_unit* unit = &self->units[i];
    for (size_t r = 0; r < unit->n; r++) {
      for (size_t c = 0; c < unit->m; c++) {
        self->delta_v[unit->first_y + r] -=
            unit->jac_d[r * unit->m + c] * self->eps_last[unit->first_u + c];
      }
    }
  }
}

yoke_status yoke__mpsm_assemble(yoke_mpsm* self) {
  self->is_ready = false;
  if (self->options.is_levelled) {
    choose_level(self);
  }
  assemble_blocks(self);
  if (self->options.is_levelled) {
    assemble_lead(self);
  }
  YOKE_TRY(invert_loop(self));

  // K = R A~
  yoke__mat_mul(self->p, self->p, self->p, self->R, self->A, self->K);
  if (self->options.time == YOKE_MPSM_DISCRETE) {
    self->is_drive_due = self->has_exogenous;
  } else {
    YOKE_TRY(extrapolate_continuous(self));
    if (self->options.uses_ede) {
      YOKE_TRY(correct_continuous(self));
      carry_delta(self);
    }
  }
  self->is_ready = yoke__are_finite(self->p * self->p, self->extrapolate);
  return self->is_ready ? YOKE_OK : YOKE_DIVERGED;
}
