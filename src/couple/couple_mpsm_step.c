// The three steps of model-based pre-step stabilisation at one exchange point.
//
//   step 1, continuous   d(delta_v)/dt = P delta_v + Q eps,  delta = R (delta_v + D~ eps)
//           discrete     delta^k = R (A~ delta^{k-1} + B~ eps^{k-1} + D~ eps^k)
//   step 2, continuous   y^ = e^{KH} y~ + drive of g
//           discrete     y^ = R (A~ y~ + B~ g^k + D~ g^{k+1})
//   step 3, held         S1 u = y^ - Sy y - S0 u^k
//           ramp         (phi_C + phi_D) s = y^ - Sy y - S0 u^k - S1 u_0,  u_0 = (L y + g)_i
//
// Step 3 is solved as u = u* + M^+ (rhs - M u*) with the target u* = (L y^ + g')_i, which is the
// inverse, least squares, or the smallest deviation from the target, whatever M allows.
// delta_v is continuous where the inputs jump, so that no derivative of the coupling error eps is
// needed. Source: S. Genser, thesis, Graz 2020, section 2.2. Page: docs/couple_mpsm.md, "Equation".
// Assumes a constant step.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "couple/couple_mpsm_predict.h"
#include "linalg/linalg_dense.h"

// y (p) += blkdiag(J_i) u, with the Jacobians of u or those of its derivative.
static void add_blocks(const yoke_mpsm* self, bool is_direct, const double u[], double y[]) {
  for (size_t i = 0; i < self->n_units; i++) {
    const yoke_mpsm_unit* unit = &self->units[i];
    yoke__mat_vec_add(unit->n, unit->m, is_direct ? unit->jac_d : unit->jac_u, u + unit->first_u,
                      y + unit->first_y);
  }
}

// w (s) := L y + g.
static void couple(const yoke_mpsm* self, const double y[], const double g[], double w[]) {
  yoke__mat_vec(self->s, self->p, self->L, y, w);
  for (size_t i = 0; i < self->s && g != NULL; i++) {
    w[i] += g[i];
  }
}

static const double* next_g(const yoke_mpsm_sample* now) {
  return now->g_next != NULL ? now->g_next : now->g;
}

void yoke__mpsm_start(yoke_mpsm* self, const double y[], const double u[], const double g[]) {
  memset(self->state, 0, self->n_state * sizeof *self->state);
  memcpy(self->y_last, y, self->p * sizeof *y);
  if (g != NULL) {
    memcpy(self->g_last, g, self->s * sizeof *g);
  }
  couple(self, y, g, self->u_last);
  if (u != NULL) {
    for (size_t i = 0; i < self->s; i++) {
      // eps at the start: w - u
      self->eps_last[i] = self->u_last[i] - u[i];
      self->u_last[i] = u[i];
    }
  }
  memcpy(self->eps, self->eps_last, self->s * sizeof *self->eps);
  memcpy(self->y_tilde, y, self->p * sizeof *y);
  self->has_past = true;
  yoke__mpsm_forget(self);
}

void yoke__mpsm_break(yoke_mpsm* self) {
  self->has_past = false;
  yoke__mpsm_forget(self);
}

void yoke__mpsm_error(yoke_mpsm* self, const yoke_mpsm_sample* now) {
  couple(self, now->y, now->g, self->eps);
  for (size_t i = 0; i < self->s; i++) {
    self->eps[i] -= now->u[i];
  }
}

// delta_v of delta = 0 is -D~ eps, eps that of the last exchange point.
static void start_delta_v(yoke_mpsm* self) {
  double* eps = self->work;
  for (size_t i = 0; i < self->s; i++) {
    eps[i] = -self->eps_last[i];
  }
  memset(self->delta_v, 0, self->p * sizeof *self->delta_v);
  add_blocks(self, true, eps, self->delta_v);
}

void yoke__mpsm_forget(yoke_mpsm* self) {
  memset(self->delta, 0, self->p * sizeof *self->delta);
  start_delta_v(self);
}

// ---- step 1

// eps at a share (0 to 1) of the last step. y_start: outputs just after the inputs jumped.
static void error_at(const yoke_mpsm* self, const yoke_mpsm_sample* now, const double y_start[],
                     double share, double y[], double eps[]) {
  // the outputs are lines between what is known of them
  const size_t p = self->p, n = now->inner == NULL ? 1 : self->n_samples;
  size_t part = (size_t)(share * (double)n);
  part = part < n ? part : n - 1;
  const double* a = part == 0 ? y_start : now->inner + (part - 1) * p;
  const double* b = now->inner == NULL ? now->y : now->inner + part * p;
  const double weight = share * (double)n - (double)part;
  for (size_t i = 0; i < p; i++) {
    y[i] = a[i] + weight * (b[i] - a[i]);
  }
  yoke__mat_vec(self->s, p, self->L, y, eps);

  // eps = L y + g - u, each part a line over the step
  for (size_t i = 0; i < self->s; i++) {
    const double u_0 = now->u_start != NULL ? now->u_start[i] : now->u[i];
    const double g_1 = now->g != NULL ? now->g[i] : 0;
    eps[i] += self->g_last[i] + share * (g_1 - self->g_last[i]);
    eps[i] -= u_0 + share * (now->u[i] - u_0);
  }
}

// y~ = y + R (delta_v + D~ eps), with its weight into the mean over the step.
static void add_to_mean(yoke_mpsm* self, const double y[], const double eps[], double weight,
                        double sum[], double out[]) {
  // y~ = y + R (delta_v + D~ eps)
  memcpy(sum, self->delta_v, self->p * sizeof *sum);
  add_blocks(self, true, eps, sum);
  yoke__mat_vec(self->p, self->p, self->R, sum, out);
  for (size_t i = 0; i < self->p; i++) {
    out[i] += y[i];
    self->mean_tilde[i] += weight * out[i];
  }
}

// delta_v over one part of the step; eps_0 and eps_1 at its ends. next: p.
static void advance_exact(yoke_mpsm* self, const double eps_0[], double eps_1[], double next[]) {
  const size_t p = self->p, s = self->s;

  // delta_v := E delta_v + F1 Q eps_0 + F2 Q (eps_1 - eps_0)
  yoke__mat_vec(p, p, self->ede, self->delta_v, next);
  yoke__mat_vec_add(p, s, self->ede_0, eps_0, next);
  if (self->options.between != YOKE_MPSM_HELD) {
    for (size_t i = 0; i < s; i++) {
      eps_1[i] -= eps_0[i];
    }
    yoke__mat_vec_add(p, s, self->ede_1, eps_1, next);
    for (size_t i = 0; i < s; i++) {
      eps_1[i] += eps_0[i];
    }
  }
  memcpy(self->delta_v, next, p * sizeof *next);
}

// What the units' models say between two samples beyond a straight line: outputs y_0 and inputs at
// the start of the part.
static void advance_model(yoke_mpsm* self, const yoke_mpsm_sample* now, const double y_0[],
                          double share, double u[], double slope[]) {
  // u and u' at the start of the part
  for (size_t i = 0; i < self->s; i++) {
    const double u_0 = now->u_start != NULL ? now->u_start[i] : now->u[i];
    u[i] = u_0 + share * (now->u[i] - u_0);
    slope[i] = (now->u[i] - u_0) / self->step;
  }
  yoke__mat_vec_add(self->p, self->p, self->ede_y, y_0, self->delta_v);
  yoke__mat_vec_add(self->p, self->s, self->ede_u, u, self->delta_v);
  yoke__mat_vec_add(self->p, self->s, self->ede_slope, slope, self->delta_v);
}

// Outputs just after the inputs jumped at T^{k-1}: y^{k-1} + Jd (u(T^{k-1}+) - u^{k-1}).
static void start_of_step(const yoke_mpsm* self, const yoke_mpsm_sample* now, double jump[],
                          double y[]) {
  const double* u_0 = now->u_start != NULL ? now->u_start : now->u;
  for (size_t i = 0; i < self->s; i++) {
    jump[i] = u_0[i] - self->u_last[i];
  }
  memcpy(y, self->y_last, self->p * sizeof *y);
  add_blocks(self, true, jump, y);
}

static void correct_continuous(yoke_mpsm* self, const yoke_mpsm_sample* now) {
  const size_t p = self->p, s = self->s;
  const bool wants_mean = self->options.wants_mean;
  const size_t N = self->n_samples;
  double *y_start = self->work, *y = y_start + p, *eps_0 = y + p, *eps_1 = eps_0 + s;
  double *a = eps_1 + s, *b = a + (p > s ? p : s);

  // delta_v goes on from the last step, or starts from y~ = y
  if (self->options.resets_ede) {
    start_delta_v(self);
  }
  start_of_step(self, now, a, y_start);
  error_at(self, now, y_start, 0, y, eps_0);
  memset(self->mean_tilde, 0, p * sizeof *self->mean_tilde);
  if (wants_mean) {
    // trapezoid: weight 1/2 at the ends, 1 in between
    add_to_mean(self, y, eps_0, 0.5 / (double)N, a, self->start_tilde);
  }
  for (size_t j = 0; j < N; j++) {
    const double share = (double)j / (double)N, end = (double)(j + 1) / (double)N;
    memcpy(b, y, p * sizeof *b);
    error_at(self, now, y_start, end, y, eps_1);
    advance_exact(self, eps_0, eps_1, a);
    if (self->options.between == YOKE_MPSM_MODEL) {
      // b holds the outputs at the start of the part; a and eps_0 are free now
      double* slope = b + (p > s ? p : s);
      advance_model(self, now, b, share, a, slope);
    }
    if (wants_mean) {
      add_to_mean(self, y, eps_1, (j + 1 < N ? 1.0 : 0.5) / (double)N, a, self->y_tilde);
    }
    memcpy(eps_0, eps_1, s * sizeof *eps_0);
  }

  // delta = R (delta_v + D~ eps^k)
  memcpy(a, self->delta_v, p * sizeof *a);
  add_blocks(self, true, self->eps, a);
  yoke__mat_vec(p, p, self->R, a, self->delta);
}

// The two end errors, moved so that their mean is that of the samples.
static void shift_to_mean(const yoke_mpsm* self, const yoke_mpsm_sample* now, double eps_0[],
                          double eps_1[], double y[], double eps[]) {
  const size_t s = self->s, n = self->n_samples;
  if (now->inner == NULL || n < 2) {
    return;
  }
  double* sum = eps + s;
  memset(sum, 0, s * sizeof *sum);
  for (size_t j = 0; j < n; j++) {
    error_at(self, now, self->y_last, (double)(j + 1) / (double)n, y, eps);
    for (size_t i = 0; i < s; i++) {
      sum[i] += eps[i];
    }
  }
  for (size_t i = 0; i < s; i++) {
    // moved as a whole: their difference is known from the ends
    const double shift = sum[i] / (double)n - 0.5 * (eps_0[i] + eps_1[i]);
    eps_0[i] += shift;
    eps_1[i] += shift;
  }
}

static void correct_discrete(yoke_mpsm* self, const yoke_mpsm_sample* now) {
  const size_t p = self->p, s = self->s;
  double *eps_0 = self->work, *eps_1 = eps_0 + s, *sum = eps_1 + s, *rest = sum + p;
  memcpy(eps_0, self->eps_last, s * sizeof *eps_0);
  memcpy(eps_1, self->eps, s * sizeof *eps_1);
  shift_to_mean(self, now, eps_0, eps_1, rest, rest + p);
  if (self->options.resets_ede) {
    memset(sum, 0, p * sizeof *sum);
  } else {
    // A~ delta^{k-1} + B~ eps^{k-1} + D~ eps^k, then R times it
    yoke__mat_vec(p, p, self->A, self->delta, sum);
  }
  // between the ends nothing is known: the mean is that of them
  for (size_t i = 0; i < p && self->options.wants_mean; i++) {
    self->start_tilde[i] = self->y_last[i] + (self->options.resets_ede ? 0 : self->delta[i]);
  }
  add_blocks(self, false, eps_0, sum);
  add_blocks(self, true, eps_1, sum);
  yoke__mat_vec(p, p, self->R, sum, self->delta);
  for (size_t i = 0; i < p && self->options.wants_mean; i++) {
    self->mean_tilde[i] = 0.5 * (self->start_tilde[i] + now->y[i] + self->delta[i]);
  }
}

void yoke__mpsm_correct(yoke_mpsm* self, const yoke_mpsm_sample* now) {
  yoke__mpsm_error(self, now);
  if (!self->options.uses_ede) {
    memset(self->delta, 0, self->p * sizeof *self->delta);
  } else if (self->options.time == YOKE_MPSM_CONTINUOUS) {
    correct_continuous(self, now);
  } else {
    correct_discrete(self, now);
  }
  if (!self->options.uses_ede || self->options.time == YOKE_MPSM_DISCRETE) {
    memset(self->delta_v, 0, self->p * sizeof *self->delta_v);  // of continuous time only
  }
  for (size_t i = 0; i < self->p; i++) {
    self->y_tilde[i] = now->y[i] + self->delta[i];
  }
}

// ---- step 2

// The part of the targets that is known.
static void find_level(yoke_mpsm* self, const yoke_mpsm_sample* now, double last[]) {
  couple(self, now->y, now->g, self->level);
  couple(self, self->y_last, self->g_last, last);
  for (size_t i = 0; i < self->s; i++) {
    // level = (1 - lead - past) (L y^k + g^k) + past (L y^{k-1} + g^{k-1})
    const double past = self->has_past && !self->is_end[i] ? self->past : 0;
    self->level[i] = (1 - self->lead[i] - past) * self->level[i] + past * last[i];
  }
}

// y^ += R (known + S1 level + S0 u^k), the last two with inputs that are means.
static void add_known(yoke_mpsm* self, const yoke_mpsm_sample* now, double sum[]) {
  if (now->known != NULL) {
    memcpy(sum, now->known, self->p * sizeof *sum);
  } else {
    memset(sum, 0, self->p * sizeof *sum);
  }
  if (self->level != NULL) {
    find_level(self, now, sum + self->p);
    add_blocks(self, true, self->level, sum);
    add_blocks(self, false, now->u, sum);
  }
  yoke__mat_vec_add(self->p, self->p, self->R, sum, self->y_hat);
}

// g is 0 in most clusters.
static bool is_zero(size_t n, const double x[]) {
  for (size_t i = 0; i < n && x != NULL; i++) {
    if (x[i] != 0) {
      return false;
    }
  }
  return true;
}

void yoke__mpsm_extrapolate(yoke_mpsm* self, const yoke_mpsm_sample* now) {
  // y^ = e^{KH} y~ (continuous) or R A~ y~ (discrete)
  yoke__mat_vec(self->p, self->p, self->extrapolate, self->y_tilde, self->y_hat);
  const bool is_driven = !is_zero(self->s, now->g) || !is_zero(self->s, now->g_next);
  if (self->has_exogenous && now->g != NULL && is_driven) {
    yoke__mpsm_drive(self);
    // drive of g
    yoke__mat_vec_add(self->p, self->s, self->drive_0, now->g, self->y_hat);
    yoke__mat_vec_add(self->p, self->s, self->drive_1, next_g(now), self->y_hat);
  }
  if (now->known != NULL || self->level != NULL) {
    add_known(self, now, self->work);
  }
}

// ---- step 3

// Row i of L y + g.
static double coupled(const yoke_mpsm* self, size_t i, const double y[], const double g[]) {
  double sum = g == NULL ? 0 : g[i];
  for (size_t j = 0; j < self->p; j++) {
    sum += self->L[i * self->p + j] * y[j];
  }
  return sum;
}

// The input of the coupled solution: L y^ + g at the end of the step, or its mean over it.
static double target_of(const yoke_mpsm* self, size_t i, const yoke_mpsm_sample* now) {
  const double end = coupled(self, i, self->y_hat, next_g(now));

  // u* = L y^ + g', or lead (L y^ + g') + level
  return self->level == NULL ? end : self->lead[i] * end + self->level[i];
}

void yoke__mpsm_optimise(yoke_mpsm* self, size_t i, const yoke_mpsm_sample* now, double u[],
                         double slope[]) {
  const yoke_mpsm_unit* unit = &self->units[i];
  const size_t n = unit->n, m = unit->m;
  const bool is_ramp = self->options.shape != YOKE_MPSM_CONSTANT;
  double *rhs = self->work, *u_0 = rhs + n, *target = u_0 + m, *miss = target + m;

  // target: the coupled value of the extrapolated outputs; of a ramp, the slope that leads there
  for (size_t j = 0; j < m; j++) {
    target[j] = target_of(self, unit->first_u + j, now);
    u_0[j] = is_ramp ? coupled(self, unit->first_u + j, now->y, now->g) : 0;
    target[j] = is_ramp ? (target[j] - u_0[j]) / self->step : target[j];
  }

  // what the input must add to the unit's own motion so that it lands on y^
  const double *y = now->y + unit->first_y, *u_k = now->u + unit->first_u;
  for (size_t r = 0; r < n; r++) {
    double sum = self->y_hat[unit->first_y + r];
    sum -= now->known != NULL ? now->known[unit->first_y + r] : 0;
    for (size_t c = 0; c < n; c++) {
      // rhs = y^ - known - Sy y - S0 u^k - [S1 u_0] - M u*
      sum -= unit->sy[r * n + c] * y[c];
    }
    for (size_t c = 0; c < m; c++) {
      sum -= unit->s0[r * m + c] * u_k[c] + (is_ramp ? unit->s1[r * m + c] * u_0[c] : 0) +
             unit->reach[r * m + c] * target[c];
    }
    rhs[r] = sum;
  }

  // u = u* + M^+ (rhs - M u*): least change of the target that lands on y^
  yoke__mat_vec(m, n, unit->reach_inverse, rhs, miss);
  for (size_t j = 0; j < m; j++) {
    const double best = target[j] + miss[j];
    u[j] = is_ramp ? u_0[j] + best * self->step : best;
    if (slope != NULL) {
      slope[j] = is_ramp ? best : 0;
    }
  }
}

void yoke__mpsm_pass_on(const yoke_mpsm* self, const yoke_mpsm_sample* now, double u[],
                        double slope[]) {
  // without step 3 the target itself is the input
  couple(self, self->y_hat, next_g(now), u);
  for (size_t i = 0; i < self->s && self->level != NULL; i++) {
    u[i] = self->lead[i] * u[i] + self->level[i];
  }
  for (size_t i = 0; i < self->s && slope != NULL; i++) {
    const bool is_ramp = self->options.shape == YOKE_MPSM_RAMP;
    slope[i] = is_ramp ? (u[i] - coupled(self, i, now->y, now->g)) / self->step : 0;
  }
}

// ---- the whole step

void yoke__mpsm_accept(yoke_mpsm* self, const yoke_mpsm_sample* now) {
  memcpy(self->y_last, now->y, self->p * sizeof *now->y);
  memcpy(self->u_last, now->u, self->s * sizeof *now->u);
  memcpy(self->eps_last, self->eps, self->s * sizeof *self->eps);
  if (now->g != NULL) {
    memcpy(self->g_last, now->g, self->s * sizeof *now->g);
  } else {
    memset(self->g_last, 0, self->s * sizeof *self->g_last);
  }
  self->has_past = true;
}

yoke_status yoke__mpsm_step(yoke_mpsm* self, const yoke_mpsm_sample* now, bool is_full, double u[],
                            double slope[]) {
  if (!self->is_ready) {
    return YOKE_SINGULAR;
  }
  yoke__mpsm_correct(self, now);
  yoke__mpsm_extrapolate(self, now);
  if (is_full) {
    for (size_t i = 0; i < self->n_units; i++) {
      const size_t first = self->units[i].first_u;
      yoke__mpsm_optimise(self, i, now, u + first, slope == NULL ? NULL : slope + first);
    }
  } else {
    yoke__mpsm_pass_on(self, now, u, slope);
  }
  yoke__mpsm_accept(self, now);
  return yoke__are_finite(self->s, u) ? YOKE_OK : YOKE_DIVERGED;
}
