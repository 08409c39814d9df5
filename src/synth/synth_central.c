// Central element by two Riccati equations, with a general D11.
//
// With D12 = [0; I], D21 = [0 I], D11 = [D1111 D1112; D1121 D1122], B = [B1 B2], C = [C1; C2], D1. = [D11 D12], D.1 = [D11; D21]:
//
//   X: state feedback     Q = C1'C1,  S = C1'D1.,   R = D1.'D1. - diag(gamma^2 I, 0)       F = [F11; F12; F2] of X
//   Y: output injection   Q = B1 B1', S = B1 D.1',  R = D.1 D.1' - diag(gamma^2 I, 0)      L = [L11 L12 L2] of Y (the dual)
//
// There is an element with norm < gamma if and only if gamma > max(|D1111 D1112|, |D1111; D1121|), X and Y are stabilising and
// not negative, and the spectral radius of X Y is below gamma^2. With Z = (I - Y X / gamma^2)^-1 the central one is
//
//   DK = -D1121 D1111' (gamma^2 I - D1111 D1111')^-1 D1112 - D1122
//   BK = -Z L2 + Z (B2 + L12) DK        CK = F2 - DK (C2 + F12)        AK = A + B F - BK (C2 + F12)
//
// D22 is left out: the caller brings it back by K (I + D22 K)^-1.
//
// Sources: K. Glover, J. Doyle, Syst. Control Lett. 11 (1988) 167-172; Zhou, Doyle, Glover, Robust and Optimal Control, 1996,
// section 17.1.
#include "synth/synth_central.h"

#include <math.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"
#include "synth/synth_riccati.h"

#define RANK      1e-10  // of D12 and D21 beside the plant's other numbers
#define NEAR      1e-8  // real part of an eigenvalue on the axis, relative to |A|: the root of rounding
#define UNMOVED   1e-9  // least gain of a pencil without rank, relative to |A|
#define NOT_BELOW 1e-8  // of an eigenvalue of X below 0, relative to the largest element

static yoke_matrix t(yoke_arena* w, yoke_matrix A) {
  return yoke__matrix_transpose(w, A);
}

// ---- regularity

// Least gain of [A - lambda I, B / |B| |A|] by its real form, relative to |A|.
static double distance_from_fixed(yoke_arena* w, yoke_matrix A, yoke_matrix B, double re,
                                  double im) {
  const size_t n = A.n_rows, m = B.n_columns;
  const double size = fmax(yoke__matrix_norm(w, A), 1e-300), gain = yoke__matrix_norm(w, B);

  // A - (re + j im) I = X - j Y in its real form [X Y; -Y X]
  const yoke_matrix X = yoke__matrix_add(w, A, yoke__matrix_identity(w, n, re), -1);
  const yoke_matrix Y = yoke__matrix_identity(w, n, im);

  // B in the size of A: the least gain then does not depend on units of u
  const yoke_matrix unit = yoke__matrix_scale(w, B, gain > 0 ? size / gain : 0);
  const yoke_matrix no = yoke__matrix_zero(w, n, m);
  const yoke_matrix pencil =
      yoke__matrix_beside(w, yoke__matrix_blocks(w, X, Y, yoke__matrix_scale(w, Y, -1), X),
                          yoke__matrix_blocks(w, unit, no, no, unit));
  return yoke__matrix_least_gain(w, pencil) / size;
}

typedef enum place { ON_AXIS, NOT_LEFT, NOT_INSIDE } place;

static bool is_at(place where, double re, double im, double size) {
  switch (where) {
  case ON_AXIS:
    return fabs(re) <= NEAR * size;
  case NOT_LEFT:
    return re >= -NEAR * size;
  default:
    return hypot(re, im) >= 1 - NEAR;
  }
}

// An eigenvalue of A in this place that B cannot move.
static yoke_status find_mode(yoke_matrix A, yoke_matrix B, place where, bool* is_found, double* re,
                             double* im) {
  const size_t n = A.n_rows;
  yoke_arena w = {0};
  *is_found = false;
  double* parts = yoke__arena_array(&w, 2 * n + 1, sizeof *parts);
  yoke_status status = parts == NULL ? YOKE_NO_MEMORY : yoke__eigenvalues(n, A.a, parts, parts + n);
  const double size = yoke__matrix_norm(&w, A);
  status = status == YOKE_OK ? yoke__arena_status(&w) : status;
  for (size_t i = 0; status == YOKE_OK && i < n && !*is_found; i++) {
    // one eigenvalue of each pair; distance from being immovable
    *re = parts[i];
    *im = parts[n + i];
    if (*im >= 0 && is_at(where, *re, *im, size)) {
      *is_found = distance_from_fixed(&w, A, B, *re, *im) <= UNMOVED;
      status = yoke__arena_status(&w);
    }
  }
  yoke__arena_free(&w);
  return status;
}

yoke_status yoke__find_fixed_mode(yoke_matrix A, yoke_matrix B, bool is_discrete, bool* is_found,
                                  double* re, double* im) {
  *is_found = false;
  if (A.a == NULL || B.a == NULL) {
    return YOKE_NO_MEMORY;
  }
  return find_mode(A, B, is_discrete ? NOT_INSIDE : NOT_LEFT, is_found, re, im);
}

// Zeros of P12 on the axis: what remains of A when u keeps the last outputs at 0, A - B2 C12, has an eigenvalue there that the other
// outputs do not see. P21: the same of the dual.
static yoke_status find_zero(yoke_arena* w, yoke_matrix A, yoke_matrix B2, yoke_matrix C1,
                             bool* is_found, double* frequency) {
  const size_t n = A.n_rows, m2 = B2.n_columns, p1 = C1.n_rows;
  const yoke_matrix C12 = yoke__matrix_block(w, C1, p1 - m2, 0, m2, n);
  const yoke_matrix rest = yoke__matrix_block(w, C1, 0, 0, p1 - m2, n);

  // A - B2 C12
  const yoke_matrix A0 = yoke__matrix_add(w, A, yoke__matrix_mul(w, B2, C12), -1);
  YOKE_TRY(yoke__arena_status(w));
  double re = 0;
  return find_mode(t(w, A0), t(w, rest), ON_AXIS, is_found, &re, frequency);
}

// ---- coordinates

// For D of full column rank: D = to_z [0; I] from_u, i.e. new outputs z~ = turn' z and inputs u = scale u~. false without rank.
static bool normalise(yoke_arena* w, yoke_matrix D, double size, yoke_matrix* turn,
                      yoke_matrix* scale) {
  const size_t p = D.n_rows, m = D.n_columns;
  yoke_matrix U, values, V;

  // D = U S V': turn puts the m columns of U that matter last, scale = V S^-1
  yoke__matrix_svd(w, D, &U, &values, &V);
  *turn = yoke__matrix_beside(w, yoke__matrix_block(w, U, 0, m, p, p - m),
                              yoke__matrix_block(w, U, 0, 0, p, m));
  *scale = yoke__matrix_copy(w, V);
  if (values.a == NULL || scale->a == NULL) {
    return true;  // without memory: found out later
  }
  for (size_t j = 0; j < m; j++) {
    // full column rank beside the other numbers of the plant
    if (!(values.a[j] > RANK * (values.a[0] + size))) {
      return false;
    }
    for (size_t i = 0; i < m; i++) {
      scale->a[i * m + j] /= values.a[j];
    }
  }
  return true;
}

// max(|D1111 D1112|, |D1111; D1121|)
static double least_gamma(yoke_arena* w, const yoke_central* c) {
  const yoke_matrix rows = yoke__matrix_block(w, c->D11, 0, 0, c->p1 - c->m2, c->m1);
  const yoke_matrix columns = yoke__matrix_block(w, c->D11, 0, 0, c->p1, c->m1 - c->p2);
  return fmax(yoke__matrix_norm(w, rows), yoke__matrix_norm(w, columns));
}

static double inverse_size(yoke_arena* w, yoke_matrix A) {
  const double size = yoke__matrix_norm(w, A);
  return size > 0 ? 1 / size : 1;
}

yoke_status yoke__central_init(yoke_arena* w, const yoke_synth_general_plant* plant,
                               yoke_central* c, yoke_irregular* why, double* frequency) {
  yoke_synth_system G = plant->system;
  *c = (yoke_central){.m2 = plant->n_u, .p2 = plant->n_y, .unit = 1};
  c->m1 = G.D.n_columns - c->m2;
  c->p1 = G.D.n_rows - c->p2;
  *why = YOKE_REGULAR;
  *frequency = 0;

  // units of states and time in which all numbers are mild
  G = yoke__system_balance(w, G);

  // time in units of the fastest motion
  YOKE_TRY(yoke__arena_status(w));
  const double norm = yoke__matrix_norm(w, G.A);
  c->unit = norm > 0 ? norm : 1;
  G = yoke__system_rescale_time(w, G, c->unit);
  const size_t n = G.A.n_rows, m1 = c->m1, m2 = c->m2, p1 = c->p1, p2 = c->p2;
  c->A = G.A;
  yoke_matrix B1 = yoke__matrix_block(w, G.B, 0, 0, n, m1);
  const yoke_matrix B2 = yoke__matrix_block(w, G.B, 0, m1, n, m2);
  yoke_matrix C1 = yoke__matrix_block(w, G.C, 0, 0, p1, n);
  const yoke_matrix C2 = yoke__matrix_block(w, G.C, p1, 0, p2, n);
  yoke_matrix D11 = yoke__matrix_block(w, G.D, 0, 0, p1, m1);
  yoke_matrix D12 = yoke__matrix_block(w, G.D, 0, m1, p1, m2);
  yoke_matrix D21 = yoke__matrix_block(w, G.D, p1, 0, p2, m1);
  c->D22 = yoke__matrix_block(w, G.D, p1, m1, p2, m2);
  YOKE_TRY(yoke__arena_status(w));

  // units of z and w in which |C1| = |B1| = 1: X and Y, unless they are 0, are near 1
  const double z_unit = inverse_size(w, C1), w_unit = inverse_size(w, B1);
  c->gain = z_unit * w_unit;
  C1 = yoke__matrix_scale(w, C1, z_unit);
  D12 = yoke__matrix_scale(w, D12, z_unit);
  B1 = yoke__matrix_scale(w, B1, w_unit);
  D21 = yoke__matrix_scale(w, D21, w_unit);
  D11 = yoke__matrix_scale(w, D11, c->gain);

  yoke_matrix turn_z, turn_w, to_y_t;
  const double size12 = yoke__matrix_norm(w, C1) * yoke__matrix_norm(w, B2);
  const double size21 = yoke__matrix_norm(w, C2) * yoke__matrix_norm(w, B1);
  if (m2 > p1 || !normalise(w, D12, size12, &turn_z, &c->to_u)) {
    *why = YOKE_D12_WITHOUT_RANK;
    return yoke__arena_status(w);
  }
  if (p2 > m1 || !normalise(w, t(w, D21), size21, &turn_w, &to_y_t)) {
    *why = YOKE_D21_WITHOUT_RANK;
    return yoke__arena_status(w);
  }
  c->to_y = t(w, to_y_t);
  c->B1 = yoke__matrix_mul(w, B1, turn_w);
  c->B2 = yoke__matrix_mul(w, B2, c->to_u);

  // [0; I] and [0 I] for D12 and D21
  c->C1 = yoke__matrix_mul(w, t(w, turn_z), C1);
  c->C2 = yoke__matrix_mul(w, c->to_y, C2);
  c->D11 = yoke__matrix_mul3(w, t(w, turn_z), D11, turn_w);

  // gamma in the plant's own units
  c->least_gamma = least_gamma(w, c) / c->gain;
  YOKE_TRY(yoke__arena_status(w));

  bool is_found = false;

  // P12 and, by duality, P21
  YOKE_TRY(find_zero(w, c->A, c->B2, c->C1, &is_found, frequency));
  if (is_found) {
    *why = YOKE_P12_WITH_ZERO;
  } else {
    YOKE_TRY(find_zero(w, t(w, c->A), t(w, c->C2), t(w, c->B1), &is_found, frequency));
    *why = is_found ? YOKE_P21_WITH_ZERO : YOKE_REGULAR;
  }
  *frequency *= c->unit;
  return YOKE_OK;
}

// ---- one gamma

// X and F of the plant, or, given the dual (A', C', B'), Y and L'. Where gamma is large, w is taken in the unit of gamma, so that R is not
// ill-conditioned: B1 / unit, D11 / unit, diag((gamma / unit)^2, 0).
static yoke_status solve_side(yoke_arena* w, yoke_matrix A, yoke_matrix B1, yoke_matrix B2,
                              yoke_matrix C1, yoke_matrix D11, double gamma,
                              yoke_riccati_solution* s) {
  const size_t p1 = C1.n_rows, m1 = B1.n_columns, m2 = B2.n_columns;

  // gamma above 1: w in units of gamma, so that R has numbers near 1
  const double unit = fmax(gamma, 1), level = gamma / unit;
  const yoke_matrix D12 =
      yoke__matrix_above(w, yoke__matrix_zero(w, p1 - m2, m2), yoke__matrix_identity(w, m2, 1));
  const yoke_matrix D = yoke__matrix_beside(w, yoke__matrix_scale(w, D11, 1 / unit), D12);

  // R = D'D - diag(gamma^2 I, 0)
  const yoke_matrix square = yoke__matrix_blocks(
      w, yoke__matrix_identity(w, m1, level * level), yoke__matrix_zero(w, m1, m2),
      yoke__matrix_zero(w, m2, m1), yoke__matrix_zero(w, m2, m2));
  const yoke_riccati problem = {
      .A = A,
      .B = yoke__matrix_beside(w, yoke__matrix_scale(w, B1, 1 / unit), B2),
      .Q = yoke__matrix_mul(w, t(w, C1), C1),
      .S = yoke__matrix_mul(w, t(w, C1), D),
      .R = yoke__matrix_add(w, yoke__matrix_mul(w, t(w, D), D), square, -1)};
  const yoke_status status = yoke__riccati_solve(w, &problem, s);
  for (size_t i = 0; status == YOKE_OK && i < m1 * A.n_rows; i++) {
    // F11, F12 back in the unit of w
    s->F.a[i] /= unit;
  }
  return status;
}

static bool is_not_negative(const yoke_riccati_solution* s) {
  return s->least >= -NOT_BELOW * s->size;
}

// The formulas at the top; K in normalised coordinates.
static yoke_synth_system central_element(yoke_arena* w, const yoke_central* c, double gamma,
                                         const yoke_riccati_solution* x,
                                         const yoke_riccati_solution* y, bool* is_singular) {
  const size_t n = c->A.n_rows, m1 = c->m1, m2 = c->m2, p1 = c->p1, p2 = c->p2;
  const size_t a = p1 - m2, b = m1 - p2;
  const yoke_matrix D1111 = yoke__matrix_block(w, c->D11, 0, 0, a, b);
  const yoke_matrix D1112 = yoke__matrix_block(w, c->D11, 0, b, a, p2);
  const yoke_matrix D1121 = yoke__matrix_block(w, c->D11, a, 0, m2, b);
  const yoke_matrix D1122 = yoke__matrix_block(w, c->D11, a, b, m2, p2);
  const yoke_matrix F12 = yoke__matrix_block(w, x->F, b, 0, p2, n);
  const yoke_matrix F2 = yoke__matrix_block(w, x->F, m1, 0, m2, n);
  const yoke_matrix L = t(w, y->F);
  const yoke_matrix L12 = yoke__matrix_block(w, L, 0, a, n, m2);
  const yoke_matrix L2 = yoke__matrix_block(w, L, 0, p1, n, p2);

  // gamma^2 I - D1111 D1111'
  const yoke_matrix gap = yoke__matrix_add(w, yoke__matrix_identity(w, a, gamma * gamma),
                                           yoke__matrix_mul(w, D1111, t(w, D1111)), -1);
  const yoke_matrix inner = yoke__matrix_solve(w, gap, D1112, is_singular);

  // DK = -D1121 D1111' (..)^-1 D1112 - D1122
  const yoke_matrix through = yoke__matrix_mul(w, yoke__matrix_mul(w, D1121, t(w, D1111)), inner);
  const yoke_matrix DK = yoke__matrix_scale(w, yoke__matrix_add(w, through, D1122, 1), -1);

  const yoke_matrix YX = yoke__matrix_mul(w, y->X, x->X);

  // Z^-1 = I - Y X / gamma^2
  const yoke_matrix coupling =
      yoke__matrix_add(w, yoke__matrix_identity(w, n, 1), YX, -1 / (gamma * gamma));

  // (B2 + L12) DK - L2; BK = Z times it
  const yoke_matrix inputs =
      yoke__matrix_add(w, yoke__matrix_mul(w, yoke__matrix_add(w, c->B2, L12, 1), DK), L2, -1);
  const yoke_matrix BK = yoke__matrix_solve(w, coupling, inputs, is_singular);
  const yoke_matrix seen = yoke__matrix_add(w, c->C2, F12, 1);

  // CK = F2 - DK (C2 + F12)
  const yoke_matrix CK = yoke__matrix_add(w, F2, yoke__matrix_mul(w, DK, seen), -1);
  const yoke_matrix BF = yoke__matrix_mul(w, yoke__matrix_beside(w, c->B1, c->B2), x->F);

  // AK = A + B F - BK (C2 + F12)
  const yoke_matrix AK =
      yoke__matrix_add(w, yoke__matrix_add(w, c->A, BF, 1), yoke__matrix_mul(w, BK, seen), -1);
  return (yoke_synth_system){false, AK, BK, CK, DK};
}

// Back to the plant's coordinates.
static yoke_synth_system denormalise(yoke_arena* w, const yoke_central* c, yoke_synth_system K) {
  // y~ = to_y y, u = to_u u~
  const yoke_synth_system own = {false, K.A, yoke__matrix_mul(w, K.B, c->to_y),
                                 yoke__matrix_mul(w, c->to_u, K.C),
                                 yoke__matrix_mul3(w, c->to_u, K.D, c->to_y)};
  return yoke__system_rescale_time(w, own, 1 / c->unit);
}

// Whether a status only says that there is no solution for this gamma (BAD_ARG: numbers overflowed).
static bool is_no(yoke_status status) {
  return status == YOKE_SINGULAR || status == YOKE_NO_CONVERGENCE || status == YOKE_BAD_ARG;
}

static yoke_status try_gamma(yoke_arena* w, const yoke_central* c, double gamma, bool* is_possible,
                             yoke_synth_system* K) {
  yoke_riccati_solution x, y;

  // three conditions: gamma above the static bound, X and Y exist and are
  // not negative, rho(XY) < gamma^2
  if (!(gamma > c->least_gamma)) {
    return YOKE_OK;
  }
  gamma *= c->gain;
  yoke_status status = solve_side(w, c->A, c->B1, c->B2, c->C1, c->D11, gamma, &x);
  if (is_no(status) || (status == YOKE_OK && !is_not_negative(&x))) {
    return YOKE_OK;
  }
  YOKE_TRY(status);
  status =
      solve_side(w, t(w, c->A), t(w, c->C1), t(w, c->C2), t(w, c->B1), t(w, c->D11), gamma, &y);
  if (is_no(status) || (status == YOKE_OK && !is_not_negative(&y))) {
    return YOKE_OK;
  }
  YOKE_TRY(status);

  const yoke_matrix XY = yoke__matrix_mul(w, x.X, y.X);
  double radius = 0;
  YOKE_TRY(yoke__arena_status(w));
  status = yoke__spectral_radius(c->A.n_rows, XY.a, &radius);
  if (is_no(status) || !(radius < gamma * gamma)) {
    return YOKE_OK;
  }
  YOKE_TRY(status);
  *is_possible = true;
  if (K != NULL) {
    bool is_singular = false;
    *K = denormalise(w, c, central_element(w, c, gamma, &x, &y, &is_singular));
    *is_possible = !is_singular;
  }
  return YOKE_OK;
}

yoke_status yoke__central_try(yoke_arena* w, const yoke_central* c, double gamma, bool* is_possible,
                              yoke_synth_system* K) {
  *is_possible = false;
  yoke_arena scratch = {0};
  yoke_synth_system found = {0};
  yoke_status status = try_gamma(&scratch, c, gamma, is_possible, K == NULL ? NULL : &found);
  if (K != NULL && status == YOKE_OK && *is_possible) {
    *K = yoke__system_copy(w, found);
    status = yoke__arena_status(w);
  }
  yoke__arena_free(&scratch);
  return status;
}
