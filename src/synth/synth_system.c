// State-space algebra: interconnections, changes of variable, frequency response.
//
// Bilinear map with the factor k, s = k (z - 1) / (z + 1), M = (I - A / k)^-1:
//
//   A_z = M (I + A / k)    B_z = sqrt(2 / k) M B    C_z = sqrt(2 / k) C M    D_z = D + C M B / k
//
// and back, M = (A + I)^-1:  A_s = k M (A - I)   B_s = sqrt(2 k) M B   C_s = sqrt(2 k) C M   D_s = D - C M B.
// The roots share the factor between input and output, so that Gramians stay.
//
// Source: Zhou, Doyle, Glover, Robust and Optimal Control, 1996, chapters 10 and 21.
#include "synth/synth_system.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"

#define SWEEPS 20

yoke_synth_system yoke__system_copy(yoke_arena* w, yoke_synth_system G) {
  return (yoke_synth_system){G.is_discrete, yoke__matrix_copy(w, G.A), yoke__matrix_copy(w, G.B),
                             yoke__matrix_copy(w, G.C), yoke__matrix_copy(w, G.D)};
}

yoke_synth_system yoke__system_gain(yoke_arena* w, bool is_discrete, yoke_matrix D) {
  return (yoke_synth_system){is_discrete, yoke__matrix_zero(w, 0, 0),
                             yoke__matrix_zero(w, 0, D.n_columns),
                             yoke__matrix_zero(w, D.n_rows, 0), yoke__matrix_copy(w, D)};
}

yoke_synth_system yoke__system_rational(yoke_arena* w, bool is_discrete, size_t n,
                                        const double numerator[], const double denominator[]) {
  const yoke_synth_system G = {is_discrete, yoke__matrix_zero(w, n, n), yoke__matrix_zero(w, n, 1),
                               yoke__matrix_zero(w, 1, n), yoke__matrix_zero(w, 1, 1)};
  if (!(G.A.a && G.B.a && G.C.a && G.D.a)) {
    return G;
  }

  // controllable canonical form: direct = lim G, C = rest of the numerator
  const double lead = denominator[0], direct = numerator[0] / lead;
  for (size_t i = 0; i < n; i++) {
    G.A.a[i] = -denominator[i + 1] / lead;
    G.C.a[i] = (numerator[i + 1] - direct * denominator[i + 1]) / lead;
    if (i > 0) {
      G.A.a[i * n + i - 1] = 1;
    }
  }
  if (n > 0) {
    G.B.a[0] = 1;
  }
  G.D.a[0] = direct;
  return G;
}

yoke_synth_system yoke__system_series(yoke_arena* w, yoke_synth_system first,
                                      yoke_synth_system second) {
  const size_t nf = first.A.n_rows, ng = second.A.n_rows;

  // x2' = A2 x2 + B2 (C1 x1 + D1 u), y = C2 x2 + D2 (C1 x1 + D1 u)
  return (yoke_synth_system){
      first.is_discrete,
      yoke__matrix_blocks(w, first.A, yoke__matrix_zero(w, nf, ng),
                          yoke__matrix_mul(w, second.B, first.C), second.A),
      yoke__matrix_above(w, first.B, yoke__matrix_mul(w, second.B, first.D)),
      yoke__matrix_beside(w, yoke__matrix_mul(w, second.D, first.C), second.C),
      yoke__matrix_mul(w, second.D, first.D)};
}

// [A 0; 0 B]
static yoke_matrix diagonal(yoke_arena* w, yoke_matrix A, yoke_matrix B) {
  return yoke__matrix_blocks(w, A, yoke__matrix_zero(w, A.n_rows, B.n_columns),
                             yoke__matrix_zero(w, B.n_rows, A.n_columns), B);
}

yoke_synth_system yoke__system_apart(yoke_arena* w, yoke_synth_system G, yoke_synth_system H) {
  return (yoke_synth_system){G.is_discrete, diagonal(w, G.A, H.A), diagonal(w, G.B, H.B),
                             diagonal(w, G.C, H.C), diagonal(w, G.D, H.D)};
}

yoke_synth_system yoke__system_difference(yoke_arena* w, yoke_synth_system G, yoke_synth_system H) {
  // one input, outputs subtracted: [C_G, -C_H]
  return (yoke_synth_system){G.is_discrete, diagonal(w, G.A, H.A), yoke__matrix_above(w, G.B, H.B),
                             yoke__matrix_beside(w, G.C, yoke__matrix_scale(w, H.C, -1)),
                             yoke__matrix_add(w, G.D, H.D, -1)};
}

yoke_synth_system yoke__system_loop(yoke_arena* w, yoke_synth_system G, yoke_synth_system K,
                                    bool* is_singular) {
  const size_t n = G.A.n_rows, nu = K.D.n_rows, ny = K.D.n_columns;
  const size_t m = G.D.n_columns - nu, p = G.D.n_rows - ny;
  const yoke_matrix B1 = yoke__matrix_block(w, G.B, 0, 0, n, m);
  const yoke_matrix B2 = yoke__matrix_block(w, G.B, 0, m, n, nu);
  const yoke_matrix C1 = yoke__matrix_block(w, G.C, 0, 0, p, n);
  const yoke_matrix C2 = yoke__matrix_block(w, G.C, p, 0, ny, n);
  const yoke_matrix D11 = yoke__matrix_block(w, G.D, 0, 0, p, m);
  const yoke_matrix D12 = yoke__matrix_block(w, G.D, 0, m, p, nu);
  const yoke_matrix D21 = yoke__matrix_block(w, G.D, p, 0, ny, m);
  const yoke_matrix D22 = yoke__matrix_block(w, G.D, p, m, ny, nu);

  // u = Ck xk + Dk y, y = C2 x + D21 w + D22 u:  u = E (Dk C2 x + Ck xk + Dk D21 w),  E = (I - Dk D22)^-1
  const yoke_matrix E = yoke__matrix_inverse(
      w, yoke__matrix_add(w, yoke__matrix_identity(w, nu, 1), yoke__matrix_mul(w, K.D, D22), -1),
      is_singular);
  const yoke_matrix states =
      yoke__matrix_mul(w, E, yoke__matrix_beside(w, yoke__matrix_mul(w, K.D, C2), K.C));
  const yoke_matrix inputs = yoke__matrix_mul3(w, E, K.D, D21);
  const yoke_matrix C2_all = yoke__matrix_beside(w, C2, yoke__matrix_zero(w, ny, K.A.n_rows));

  // y = C2 x + D22 u + D21 w
  const yoke_matrix y_states = yoke__matrix_add(w, C2_all, yoke__matrix_mul(w, D22, states), 1);
  const yoke_matrix y_inputs = yoke__matrix_add(w, D21, yoke__matrix_mul(w, D22, inputs), 1);
  const yoke_matrix C1_all = yoke__matrix_beside(w, C1, yoke__matrix_zero(w, p, K.A.n_rows));
  const yoke_matrix from_u = yoke__matrix_above(w, B2, yoke__matrix_zero(w, K.A.n_rows, nu));
  const yoke_matrix from_y = yoke__matrix_above(w, yoke__matrix_zero(w, n, ny), K.B);
  const yoke_matrix from_w = yoke__matrix_above(w, B1, yoke__matrix_zero(w, K.A.n_rows, m));

  // x' = A x + B2 u + B1 w, xk' = Ak xk + Bk y
  const yoke_matrix feed_a = yoke__matrix_add(w, yoke__matrix_mul(w, from_u, states),
                                              yoke__matrix_mul(w, from_y, y_states), 1);
  const yoke_matrix feed_b = yoke__matrix_add(w, yoke__matrix_mul(w, from_u, inputs),
                                              yoke__matrix_mul(w, from_y, y_inputs), 1);
  return (yoke_synth_system){G.is_discrete, yoke__matrix_add(w, diagonal(w, G.A, K.A), feed_a, 1),
                             yoke__matrix_add(w, from_w, feed_b, 1),
                             yoke__matrix_add(w, C1_all, yoke__matrix_mul(w, D12, states), 1),
                             yoke__matrix_add(w, D11, yoke__matrix_mul(w, D12, inputs), 1)};
}

yoke_synth_system yoke__system_feed_through(yoke_arena* w, yoke_synth_system K, yoke_matrix D,
                                            bool* is_singular) {
  // u = K (y - D u): a loop around a plant of gains
  const size_t n_u = K.D.n_rows, n_y = K.D.n_columns;
  const yoke_matrix gains =
      yoke__matrix_blocks(w, yoke__matrix_zero(w, n_u, n_y), yoke__matrix_identity(w, n_u, 1),
                          yoke__matrix_identity(w, n_y, 1), yoke__matrix_scale(w, D, -1));
  return yoke__system_loop(w, yoke__system_gain(w, K.is_discrete, gains), K, is_singular);
}

// ---- changes of variable

static yoke_synth_system to_discrete(yoke_arena* w, yoke_synth_system G, double k,
                                     bool* is_singular) {
  const size_t n = G.A.n_rows;
  const yoke_matrix one = yoke__matrix_identity(w, n, 1);

  // M = (I - A / k)^-1
  const yoke_matrix M = yoke__matrix_inverse(w, yoke__matrix_add(w, one, G.A, -1 / k), is_singular);
  const yoke_matrix MB = yoke__matrix_mul(w, M, G.B), CM = yoke__matrix_mul(w, G.C, M);
  return (yoke_synth_system){true, yoke__matrix_mul(w, M, yoke__matrix_add(w, one, G.A, 1 / k)),
                             yoke__matrix_scale(w, MB, sqrt(2 / k)),
                             yoke__matrix_scale(w, CM, sqrt(2 / k)),
                             yoke__matrix_add(w, G.D, yoke__matrix_mul(w, G.C, MB), 1 / k)};
}

static yoke_synth_system to_continuous(yoke_arena* w, yoke_synth_system G, double k,
                                       bool* is_singular) {
  const size_t n = G.A.n_rows;
  const yoke_matrix one = yoke__matrix_identity(w, n, 1);

  // M = (A + I)^-1
  const yoke_matrix M = yoke__matrix_inverse(w, yoke__matrix_add(w, G.A, one, 1), is_singular);
  const yoke_matrix MB = yoke__matrix_mul(w, M, G.B), CM = yoke__matrix_mul(w, G.C, M);
  const yoke_matrix A = yoke__matrix_mul(w, M, yoke__matrix_add(w, G.A, one, -1));
  return (yoke_synth_system){false, yoke__matrix_scale(w, A, k),
                             yoke__matrix_scale(w, MB, sqrt(2 * k)),
                             yoke__matrix_scale(w, CM, sqrt(2 * k)),
                             yoke__matrix_add(w, G.D, yoke__matrix_mul(w, G.C, MB), -1)};
}

yoke_synth_system yoke__system_bilinear(yoke_arena* w, yoke_synth_system G, bool* is_singular) {
  return G.is_discrete ? to_continuous(w, G, 1, is_singular) : to_discrete(w, G, 1, is_singular);
}

yoke_synth_system yoke__system_tustin(yoke_arena* w, yoke_synth_system G, double h,
                                      bool* is_singular) {
  return to_discrete(w, G, 2 / h, is_singular);
}

// Sum of |elements| of row i (column i if not is_row) without the one on the diagonal.
static double weight(yoke_matrix A, size_t i, bool is_row, bool has_diagonal) {
  double sum = 0;
  const size_t n = is_row ? A.n_columns : A.n_rows;
  for (size_t k = 0; k < n; k++) {
    if (!has_diagonal || k != i) {
      sum += fabs(is_row ? A.a[i * A.n_columns + k] : A.a[k * A.n_columns + i]);
    }
  }
  return sum;
}

static void scale_row(yoke_matrix A, size_t i, double factor) {
  for (size_t k = 0; k < A.n_columns; k++) {
    A.a[i * A.n_columns + k] *= factor;
  }
}

static void scale_column(yoke_matrix A, size_t i, double factor) {
  for (size_t k = 0; k < A.n_rows; k++) {
    A.a[k * A.n_columns + i] *= factor;
  }
}

// Another unit for state i; false if it is good.
static bool balance_state(yoke_synth_system G, size_t i) {
  // off-diagonal sums of the row (with B) and of the column (with C)
  const double in = weight(G.A, i, true, true) + weight(G.B, i, true, false);
  const double out = weight(G.A, i, false, true) + weight(G.C, i, false, false);
  if (!(in > 0 && out > 0)) {
    return false;
  }

  // nearest power of two to sqrt(in / out): exact
  const double d = exp2(round(log2(in / out) / 2));
  if (d == 1 || !yoke__is_finite(d)) {
    return false;
  }
  scale_row(G.A, i, 1 / d);
  scale_row(G.B, i, 1 / d);
  scale_column(G.A, i, d);
  scale_column(G.C, i, d);
  return true;
}

yoke_synth_system yoke__system_balance(yoke_arena* w, yoke_synth_system G) {
  const yoke_synth_system H = yoke__system_copy(w, G);
  const bool is_there = H.A.a && H.B.a && H.C.a;
  bool is_changing = is_there;
  for (size_t sweep = 0; is_changing && sweep < SWEEPS; sweep++) {
    is_changing = false;
    for (size_t i = 0; i < H.A.n_rows; i++) {
      is_changing = balance_state(H, i) || is_changing;
    }
  }
  return H;
}

yoke_synth_system yoke__system_rescale_time(yoke_arena* w, yoke_synth_system G, double unit) {
  // B and C share the factor, so that Gramians stay
  const double root = 1 / sqrt(unit);
  return (yoke_synth_system){G.is_discrete, yoke__matrix_scale(w, G.A, 1 / unit),
                             yoke__matrix_scale(w, G.B, root), yoke__matrix_scale(w, G.C, root),
                             yoke__matrix_copy(w, G.D)};
}

// ---- poles and gains

yoke_status yoke__system_poles(yoke_synth_system G, double re[], double im[]) {
  if (G.A.a == NULL) {
    return YOKE_NO_MEMORY;
  }
  return yoke__eigenvalues(G.A.n_rows, G.A.a, re, im);
}

yoke_status yoke__system_instability(yoke_synth_system G, double* instability) {
  const size_t n = G.A.n_rows;
  yoke_arena w = {0};
  double* parts = yoke__arena_array(&w, 2 * n + 1, sizeof *parts);
  yoke_status status = YOKE_NO_MEMORY;
  *instability = n == 0 ? -1 : -(double)INFINITY;
  if (parts != NULL) {
    status = yoke__system_poles(G, parts, parts + n);
    for (size_t i = 0; status == YOKE_OK && i < n; i++) {
      // distance beyond the boundary of stability: |z| - 1 or Re s
      const double side = G.is_discrete ? hypot(parts[i], parts[n + i]) - 1 : parts[i];
      *instability = fmax(*instability, side);
    }
  }
  yoke__arena_free(&w);
  return status;
}

// [Re -Im; Im Re] of D + C (lambda I - A)^-1 B: twice each singular value of the complex matrix. No elements at a pole.
static yoke_matrix response(yoke_arena* w, yoke_synth_system G, double complex lambda) {
  const size_t n = G.A.n_rows;

  // (lambda I - A) in real form
  const yoke_matrix X = yoke__matrix_add(w, yoke__matrix_identity(w, n, creal(lambda)), G.A, -1);
  const yoke_matrix Y = yoke__matrix_identity(w, n, cimag(lambda));
  const yoke_matrix pole = yoke__matrix_blocks(w, X, yoke__matrix_scale(w, Y, -1), Y, X);
  const yoke_matrix states = yoke__matrix_solve_any(w, pole, diagonal(w, G.B, G.B));
  return yoke__matrix_add(w, yoke__matrix_mul(w, diagonal(w, G.C, G.C), states),
                          diagonal(w, G.D, G.D), 1);
}

double yoke__system_gain_at(yoke_arena* w, yoke_synth_system G, double at) {
  if (isinf(at)) {
    return yoke__matrix_norm(w, G.D);
  }
  yoke_arena scratch = {0};
  const double complex turn = cos(at) + sin(at) * (double complex)I;
  const yoke_matrix R = response(&scratch, G, G.is_discrete ? turn : at * (double complex)I);
  const double gain = R.a == NULL ? (double)NAN : yoke__matrix_norm(w, R);
  if (w != NULL && scratch.has_failed) {
    w->has_failed = true;
  }
  yoke__arena_free(&scratch);
  return gain;
}

double complex yoke__system_response(yoke_synth_system G, size_t i, size_t j,
                                     double complex lambda) {
  yoke_arena w = {0};
  const yoke_matrix R = response(&w, G, lambda);
  const size_t p = G.D.n_rows, m = G.D.n_columns;
  const double complex value =
      R.a == NULL ? (double)NAN : R.a[i * 2 * m + j] + R.a[(p + i) * 2 * m + j] * (double complex)I;
  yoke__arena_free(&w);
  return value;
}
