// A loop at one frequency; see synth_loop.h.
//
//   S1 = (I - Q1 Q2)^-1, S2 = (I - Q2 Q1)^-1; h_i, phi_i = h_i - 1: hold by which side i gets its input, at s = j w
//
//   xi_y1 = (I - h1 h2 Q1 Q2)^-1 (phi2 h1 Q1 Q2 y1 + phi1 Q1 y2), and with 1 and 2 exchanged
//
//   [y2; y1] = [ S2 Q2 Q1, S2 Q2 ; S1 Q1, S1 Q1 Q2 ] [e1; e2],   e_i = delta_i |phi_i| y of the other side, |delta_i| <= 1
//   mu = min over d of the norm of [M11, d M12; M21 / d, M22]    exact for two blocks; for scalars d = sqrt(|M21| / |M12|)
//      = max over theta of the spectral radius of M diag(1, e^(j theta)) for scalars
//
// Source: W. Chen, licentiate thesis, Chalmers 2019, paper III; A. Packard, J. Doyle, The complex structured
// singular value, Automatica 29 (1993).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_complex.h"
#include "linalg/linalg_dense.h"
#include "synth/synth_loop_part.h"

#define PI       3.14159265358979323846
#define GOLDEN   0.61803398874989485
#define N_ANGLES 24  // theta is looked at before it is refined
#define RANGE    6   // of log d
#define SECTIONS 44  // of it: log d to 1e-8, and mu, whose slope over log d is 1 at most, likewise

typedef double complex number;

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

static number* numbers(yoke_synth_loop_eval* self, size_t n) {
  return yoke__arena_array(&self->arena, n, sizeof(number));
}

static yoke_status hold_sides(yoke_synth_loop_eval* self) {
  for (int i = 0; i < 2; i++) {
    const yoke_linear* side = &self->loop->sides[i];
    const size_t n = side->n_states, m = side->n_inputs;
    self->held[i] = *side;
    self->held[i].A = yoke__arena_array(&self->arena, n * n, sizeof(double));
    self->held[i].B = yoke__arena_array(&self->arena, n * m, sizeof(double));
    YOKE_TRY(yoke__arena_status(&self->arena));
    YOKE_TRY(yoke__synth_loop_hold(side, self->loop->step, self->held[i].A, self->held[i].B));
  }
  return YOKE_OK;
}

yoke_status yoke__synth_loop_open(const yoke_synth_loop* loop, yoke_synth_loop_eval* self) {
  const yoke_linear* s = loop->sides;
  *self = (yoke_synth_loop_eval){.loop = loop};
  YOKE_TRY(yoke__synth_loop_check(s));
  if (!(loop->step > 0) || !yoke__is_finite(loop->step) ||
      (size_t)loop->holds[0] >= YOKE_SYNTH_N_HOLDS ||
      (size_t)loop->holds[1] >= YOKE_SYNTH_N_HOLDS || loop->power < -1 || loop->power > 1) {
    return YOKE_BAD_ARG;
  }
  const size_t a = s[0].n_outputs, b = s[1].n_outputs, both = a + b;
  const size_t n = larger(s[0].n_states, s[1].n_states);
  self->n_1 = a;
  self->n_2 = b;
  self->is_scalar = a == 1 && b == 1;
  self->big = numbers(self, larger(n * n, both * both));
  self->column = numbers(self, larger(n, both));
  self->Q1 = numbers(self, a * b);
  self->Q2 = numbers(self, a * b);
  self->Q1d = numbers(self, a * b);
  self->Q2d = numbers(self, a * b);
  self->L1 = numbers(self, a * a);
  self->L2 = numbers(self, b * b);
  self->H = numbers(self, a * a);
  self->T = numbers(self, both * both);
  self->M = numbers(self, both * both);
  self->norm_work = yoke__arena_array(
      &self->arena, yoke__complex_norm_work_size(both, both) + 2 * both, sizeof(double));
  self->pivots = yoke__arena_array(&self->arena, larger(n, both), sizeof(size_t));
  YOKE_TRY(yoke__arena_status(&self->arena));
  return hold_sides(self);
}

void yoke__synth_loop_close(yoke_synth_loop_eval* self) {
  yoke__arena_free(&self->arena);
}

// to := C (p I - A)^-1 B + delay D at the point p; YOKE_SINGULAR at a pole.
static yoke_status respond(yoke_synth_loop_eval* self, const yoke_linear* s, number p, number delay,
                           number to[]) {
  const size_t n = s->n_states, m = s->n_inputs;

  // (p I - A) x = B_j
  for (size_t i = 0; i < n * n; i++) {
    self->big[i] = (i % (n + 1) == 0 ? p : 0) - s->A[i];
  }
  YOKE_TRY(yoke__complex_lu_factor(n, self->big, self->pivots));
  for (size_t j = 0; j < m; j++) {
    for (size_t i = 0; i < n; i++) {
      self->column[i] = s->B[i * m + j];
    }
    yoke__complex_lu_solve(n, self->big, self->pivots, self->column);
    // column j of C x + delay D
    for (size_t i = 0; i < s->n_outputs; i++) {
      number sum = delay * s->D[i * m + j];
      for (size_t k = 0; k < n; k++) {
        sum += s->C[i * n + k] * self->column[k];
      }
      to[i * m + j] = sum;
    }
  }
  return YOKE_OK;
}

static yoke_status norm_of(yoke_synth_loop_eval* self, size_t m, size_t n, const number A[],
                           double* norm) {
  return yoke__complex_norm(m, n, A, norm, NULL, self->norm_work);
}

// X (n x k) := (I - factor L)^-1 X; *det, if wanted: of I - factor L. Uses T.
static yoke_status close_loop(yoke_synth_loop_eval* self, size_t n, const number L[], number factor,
                              size_t k, number X[], number* det) {
  // I - factor L
  for (size_t i = 0; i < n * n; i++) {
    self->T[i] = (i % (n + 1) == 0 ? 1 : 0) - factor * L[i];
  }
  YOKE_TRY(yoke__complex_lu_factor(n, self->T, self->pivots));
  if (det != NULL) {
    *det = yoke__complex_lu_determinant(n, self->T, self->pivots);
  }
  for (size_t j = 0; j < k; j++) {
    for (size_t i = 0; i < n; i++) {
      self->column[i] = X[i * k + j];
    }
    yoke__complex_lu_solve(n, self->T, self->pivots, self->column);
    for (size_t i = 0; i < n; i++) {
      X[i * k + j] = self->column[i];
    }
  }
  return YOKE_OK;
}

// ---- the sampled loop

static yoke_status add_sampled(yoke_synth_loop_eval* self, double w, yoke_synth_loop_point* to) {
  const size_t a = self->n_1, b = self->n_2;

  // z = exp(j w Dt); a stale output is one exchange old
  const number z = cexp((number)I * (w * self->loop->step));
  const number delay = self->loop->exchange == YOKE_SYNTH_STALE ? 1 / z : 1;
  number det = 1, det_open = 1;
  double smallest = 0;
  YOKE_TRY(respond(self, &self->held[0], z, delay, self->Q1d));
  YOKE_TRY(respond(self, &self->held[1], z, delay, self->Q2d));

  // H = Q1d Q2d
  yoke__complex_mul(a, b, a, self->Q1d, self->Q2d, self->H);
  YOKE_TRY(norm_of(self, a, a, self->H, &to->sampled_gain));
  YOKE_TRY(close_loop(self, a, self->L1, 1, 0, NULL, &det));
  YOKE_TRY(close_loop(self, a, self->H, 1, 0, NULL, &det_open));

  // 1 - det(I - L) and 1 - det(I - H): the loops of the coupled and of the sampled system
  to->loop = 1 - det;
  to->open = 1 - det_open;
  to->distortion = det / det_open;
  for (size_t i = 0; i < a * a; i++) {
    // 1 / smallest singular value of I - H
    self->T[i] = (i % (a + 1) == 0 ? 1 : 0) - self->H[i];
  }
  YOKE_TRY(yoke__complex_norm(a, a, self->T, NULL, &smallest, self->norm_work));
  to->sensitivity = 1 / smallest;
  return YOKE_OK;
}

// ---- errors xi of the outputs

// Of one side: Q (n x k) from the other's output to its own, loop L (n x n) as this side sees it.
static yoke_status add_errors(yoke_synth_loop_eval* self, size_t n, size_t k, const number Q[],
                              const number L[], number h, number phi, number h_other,
                              number phi_other, double* by_own, double* by_other) {
  // phi_other h L y_own
  for (size_t i = 0; i < n * n; i++) {
    self->M[i] = phi_other * h * L[i];
  }
  YOKE_TRY(close_loop(self, n, L, h * h_other, n, self->M, NULL));
  YOKE_TRY(norm_of(self, n, n, self->M, by_own));

  // phi Q y_other
  for (size_t i = 0; i < n * k; i++) {
    self->M[i] = phi * Q[i];
  }
  YOKE_TRY(close_loop(self, n, L, h * h_other, k, self->M, NULL));
  return norm_of(self, n, k, self->M, by_other);
}

// ---- mu

// Norm of [M11, d M12; M21 / d, M22]; blocks of b and a rows. Uses big.
static yoke_status scaled_norm(yoke_synth_loop_eval* self, double d, double* norm) {
  const size_t a = self->n_1, b = self->n_2, both = a + b;
  for (size_t i = 0; i < both; i++) {
    for (size_t j = 0; j < both; j++) {
      const double factor = i < b && j >= b ? d : i >= b && j < b ? 1 / d : 1;
      self->big[i * both + j] = factor * self->M[i * both + j];
    }
  }
  return norm_of(self, both, both, self->big, norm);
}

// The norm of blocks is convex in log d: golden section around the value that makes both blocks equal.
static yoke_status search_scale(yoke_synth_loop_eval* self, double d, double* mu) {
  // convex: golden section over log d +- 6, a factor of 400 both ways
  double low = log(d) - RANGE, high = log(d) + RANGE, norm[2];
  double at[2] = {high - GOLDEN * (high - low), low + GOLDEN * (high - low)};
  YOKE_TRY(scaled_norm(self, d, mu));
  YOKE_TRY(scaled_norm(self, exp(at[0]), &norm[0]));
  YOKE_TRY(scaled_norm(self, exp(at[1]), &norm[1]));
  for (int i = 0; i < SECTIONS; i++) {
    const int k = norm[0] <= norm[1] ? 0 : 1;  // the point that stays
    *mu = fmin(*mu, norm[k]);
    *(k == 0 ? &high : &low) = at[1 - k];
    at[1 - k] = at[k];
    norm[1 - k] = norm[k];
    at[k] = k == 0 ? high - GOLDEN * (high - low) : low + GOLDEN * (high - low);
    YOKE_TRY(scaled_norm(self, exp(at[k]), &norm[k]));
  }
  return YOKE_OK;
}

// Spectral radius of M diag(1, e^(j theta)), 2 x 2.
static double turned_radius(const number M[], double theta) {
  const number turn = cexp((number)I * theta);

  // eigenvalues of M diag(1, e^(j theta)): half the trace and the determinant
  const number half = (M[0] + M[3] * turn) / 2, det = (M[0] * M[3] - M[1] * M[2]) * turn;
  const number root = csqrt(half * half - det);
  return fmax(cabs(half + root), cabs(half - root));
}

static double search_turn(const number M[]) {
  // coarse search, then golden section around the best angle
  const double part = 2 * PI / N_ANGLES;
  double best = 0, at = 0;
  for (int i = 0; i < N_ANGLES; i++) {
    const double radius = turned_radius(M, i * part);
    at = radius > best ? i * part : at;
    best = fmax(best, radius);
  }
  double low = at - part, high = at + part;
  double angle[2] = {high - GOLDEN * (high - low), low + GOLDEN * (high - low)};
  double radius[2] = {turned_radius(M, angle[0]), turned_radius(M, angle[1])};
  // flat at the top: an angle to 1e-8 gives the radius to all digits
  for (int i = 0; i < 36; i++) {
    const int k = radius[0] >= radius[1] ? 0 : 1;  // stays
    best = fmax(best, radius[k]);
    *(k == 0 ? &high : &low) = angle[1 - k];
    angle[1 - k] = angle[k];
    radius[1 - k] = radius[k];
    angle[k] = k == 0 ? high - GOLDEN * (high - low) : low + GOLDEN * (high - low);
    radius[k] = turned_radius(M, angle[k]);
  }
  return best;
}

// Block of M at (row, column) := weight * X (n x k).
static void set_block(yoke_synth_loop_eval* self, size_t row, size_t column, size_t n, size_t k,
                      const number X[], double weight) {
  const size_t both = self->n_1 + self->n_2;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < k; j++) {
      self->M[(row + i) * both + column + j] = weight * X[i * k + j];
    }
  }
}

static yoke_status add_mu(yoke_synth_loop_eval* self, const number phi[2], bool is_bound_enough,
                          yoke_synth_loop_point* to) {
  const size_t a = self->n_1, b = self->n_2;
  number *X = self->Q1d, *Y = self->H;  // no longer needed; b x a or a x b, and a x a
  double n_12 = 0, n_21 = 0;
  const double w_1 = cabs(phi[0]), w_2 = cabs(phi[1]);
  memcpy(X, self->Q2, a * b * sizeof *X);
  YOKE_TRY(close_loop(self, b, self->L2, 1, a, X, NULL));  // S2 Q2, b x a

  // [S2 Q2 Q1 w1, S2 Q2 w2; S1 Q1 w1, S1 Q1 Q2 w2]
  YOKE_TRY(norm_of(self, b, a, X, &n_12));
  set_block(self, 0, b, b, a, X, w_2);
  yoke__complex_mul(b, a, b, X, self->Q1, self->big);
  set_block(self, 0, 0, b, b, self->big, w_1);
  memcpy(X, self->Q1, a * b * sizeof *X);
  YOKE_TRY(close_loop(self, a, self->L1, 1, b, X, NULL));  // S1 Q1, a x b
  YOKE_TRY(norm_of(self, a, b, X, &n_21));
  set_block(self, b, 0, a, b, X, w_1);
  yoke__complex_mul(a, b, a, X, self->Q2, Y);
  set_block(self, b, b, a, a, Y, w_2);
  // |M21| / |M12| with the weights
  const double ratio = n_21 * w_1 / (n_12 * w_2);
  const double d = ratio > 0 && yoke__is_finite(ratio) ? sqrt(ratio) : 1;
  to->mu_turned = self->is_scalar ? search_turn(self->M) : (double)NAN;
  return self->is_scalar || is_bound_enough ? scaled_norm(self, d, &to->mu)
                                            : search_scale(self, d, &to->mu);
}

// ---- passivity

// Smallest eigenvalue of the Hermitian part of X (n x n): of the real symmetric matrix [R, -J; J, R], which has each twice.
static yoke_status smallest_power(yoke_synth_loop_eval* self, size_t n, const number X[],
                                  double* least) {
  double *K = self->norm_work, *re = K + 4 * n * n, *im = re + 2 * n;
  if (n == 1) {
    *least = creal(X[0]);
    return YOKE_OK;
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      // Hermitian part (X + X^H) / 2
      const number k = (X[i * n + j] + conj(X[j * n + i])) / 2;
      K[i * 2 * n + j] = K[(n + i) * 2 * n + n + j] = creal(k);
      K[(n + i) * 2 * n + j] = cimag(k);
      // an imaginary part of a Hermitian matrix is skew: the real form is symmetric
      K[i * 2 * n + n + j] = -cimag(k);
    }
  }
  YOKE_TRY(yoke__eigenvalues(2 * n, K, re, im));
  *least = re[0];
  for (size_t i = 1; i < 2 * n; i++) {
    *least = fmin(*least, re[i]);
  }
  return YOKE_OK;
}

static yoke_status add_passivity(yoke_synth_loop_eval* self, const number h[2],
                                 yoke_synth_loop_point* to) {
  const size_t n = self->n_1;
  const int power = self->loop->power;
  const number* const sides[2] = {self->Q1, self->Q2};
  for (int k = 0; k < 2; k++) {
    to->passivity[k] = (double)NAN;
    if (power != 0 && self->n_1 == self->n_2) {
      for (size_t i = 0; i < n * n; i++) {
        // sign of the power that flows into side k
        self->T[i] = (k == 0 ? power : -power) * h[k] * sides[k][i];
      }
      YOKE_TRY(smallest_power(self, n, self->T, &to->passivity[k]));
    }
  }
  return YOKE_OK;
}

// ---- all of it

static yoke_status try_at(yoke_synth_loop_eval* self, double w, yoke_synth_loop_part part,
                          yoke_synth_loop_point* to) {
  const size_t a = self->n_1, b = self->n_2;
  const number s = (number)I * w;
  number h[2], phi[2];
  *to = (yoke_synth_loop_point){.w = w, .mu = (double)NAN, .mu_turned = (double)NAN};
  YOKE_TRY(respond(self, &self->loop->sides[0], s, 1, self->Q1));
  YOKE_TRY(respond(self, &self->loop->sides[1], s, 1, self->Q2));
  yoke__complex_mul(a, b, a, self->Q1, self->Q2, self->L1);

  // h = 1 + phi: phi is the error of the hold at s Dt
  for (int i = 0; i < 2; i++) {
    phi[i] = yoke__synth_hold_error(self->loop->holds[i], s * self->loop->step);
    h[i] = 1 + phi[i];
  }
  YOKE_TRY(norm_of(self, a, a, self->L1, &to->gain));
  to->held_gain = to->gain * cabs(h[0] * h[1]);
  if (part == YOKE_SYNTH_LOOP_GAINS) {
    return YOKE_OK;
  }
  YOKE_TRY(norm_of(self, a, b, self->Q1, &to->side_gain[0]));
  YOKE_TRY(norm_of(self, b, a, self->Q2, &to->side_gain[1]));
  yoke__complex_mul(b, a, b, self->Q2, self->Q1, self->L2);
  YOKE_TRY(add_sampled(self, w, to));
  YOKE_TRY(add_errors(self, a, b, self->Q1, self->L1, h[0], phi[0], h[1], phi[1], &to->error[0][0],
                      &to->error[0][1]));
  YOKE_TRY(add_errors(self, b, a, self->Q2, self->L2, h[1], phi[1], h[0], phi[0], &to->error[1][1],
                      &to->error[1][0]));
  YOKE_TRY(add_passivity(self, h, to));
  return part == YOKE_SYNTH_LOOP_SAMPLED ? YOKE_OK
                                         : add_mu(self, phi, part == YOKE_SYNTH_LOOP_BOUND, to);
}

yoke_status yoke__synth_loop_at(yoke_synth_loop_eval* self, double w, yoke_synth_loop_part part,
                                yoke_synth_loop_point* to) {
  // exactly on the pole of an undamped side: a little beside it
  yoke_status status = try_at(self, w, part, to);
  for (int i = 1; i <= 3 && status == YOKE_SINGULAR; i++) {
    status = try_at(self, w * (1 - i * 1e-12), part, to);
  }
  to->w = w;
  return status;
}

yoke_status yoke__synth_loop_direct(yoke_synth_loop_eval* self, double* gain) {
  const yoke_linear* s = self->loop->sides;
  const size_t a = self->n_1, b = self->n_2;
  for (size_t i = 0; i < a * b; i++) {
    self->Q1[i] = s[0].D[i];
    // C (s I - A)^-1 B vanishes at infinite frequency
    self->Q2[i] = s[1].D[i];
  }
  yoke__complex_mul(a, b, a, self->Q1, self->Q2, self->L1);
  return norm_of(self, a, a, self->L1, gain);
}
