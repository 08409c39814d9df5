// Balanced realisation (linalg_balance.h) and singular perturbation: the weakest states follow at once instead of being cut off.
//
//   x1' = A11 x1 + A12 x2 + B1 u       A = A11 - A12 A22^-1 A21     B = B1 - A12 A22^-1 B2
//   0   = A21 x1 + A22 x2 + B2 u       C = C1 - C2 A22^-1 A21       D = D - C2 A22^-1 B2
//
// The error is 0 at frequency 0 and at most twice the sum of the Hankel singular values of x2 at any other. A discrete system goes
// through z = (1 + s) / (1 - s), which keeps these values, the norm, and frequency 0.
//
// Source: Y. Liu, B. Anderson, Singular perturbation approximation of balanced systems, Int. J. Control 50 (1989) 1379-1405.
#include "synth/synth_reduce.h"

#include <math.h>

#include "base/base_check.h"
#include "linalg/linalg_balance.h"

// The smallest order whose bound, twice the sum of the values behind it, is at most the tolerance.
static size_t choose_order(const double hankel[], size_t n, double tolerance) {
  double bound = 0;
  size_t order = n;

  // the weakest values are dropped first, each costs twice its value
  while (order > 0 && bound + 2 * hankel[order - 1] <= tolerance) {
    order--;
    bound += 2 * hankel[order];
  }
  return order;
}

// The last states of a balanced system become functions of the first r.
static yoke_synth_system perturb(yoke_arena* w, yoke_synth_system G, size_t r, bool* is_singular) {
  const size_t n = G.A.n_rows, k = n - r, m = G.D.n_columns, p = G.D.n_rows;
  const yoke_matrix A11 = yoke__matrix_block(w, G.A, 0, 0, r, r);
  const yoke_matrix A12 = yoke__matrix_block(w, G.A, 0, r, r, k);
  const yoke_matrix A21 = yoke__matrix_block(w, G.A, r, 0, k, r);
  const yoke_matrix A22 = yoke__matrix_block(w, G.A, r, r, k, k);
  const yoke_matrix B1 = yoke__matrix_block(w, G.B, 0, 0, r, m);
  const yoke_matrix B2 = yoke__matrix_block(w, G.B, r, 0, k, m);
  const yoke_matrix C1 = yoke__matrix_block(w, G.C, 0, 0, p, r);
  const yoke_matrix C2 = yoke__matrix_block(w, G.C, 0, r, p, k);

  // x2 = -A22^-1 (A21 x1 + B2 u)
  const yoke_matrix from_x = yoke__matrix_solve(w, A22, A21, is_singular);
  const yoke_matrix from_u = yoke__matrix_solve(w, A22, B2, is_singular);
  return (yoke_synth_system){false, yoke__matrix_add(w, A11, yoke__matrix_mul(w, A12, from_x), -1),
                             yoke__matrix_add(w, B1, yoke__matrix_mul(w, A12, from_u), -1),
                             yoke__matrix_add(w, C1, yoke__matrix_mul(w, C2, from_x), -1),
                             yoke__matrix_add(w, G.D, yoke__matrix_mul(w, C2, from_u), -1)};
}

// G continuous and stable.
static yoke_status reduce(yoke_arena* w, yoke_synth_system G, size_t order, double tolerance,
                          yoke_synth_reduction* result, bool* is_singular) {
  const size_t n = G.A.n_rows;
  const yoke_balance_model model = {n, G.D.n_columns, G.D.n_rows, G.A.a, G.B.a, G.C.a};
  yoke_reduction all;

  // balanced form of all states that count
  YOKE_TRY(yoke__balance_reduce(&model, n, 0, w, &all));
  *is_singular = all.n_apart > 0;
  const yoke_synth_system balanced = {false, yoke__matrix_from(w, all.n, all.n, all.A),
                                      yoke__matrix_from(w, all.n, G.D.n_columns, all.B),
                                      yoke__matrix_from(w, G.D.n_rows, all.n, all.C), G.D};
  result->hankel = yoke__matrix_from(w, all.n_hankel, 1, all.hankel);
  YOKE_TRY(yoke__arena_status(w));

  // states beyond all.n were not worth keeping in a balanced form either
  size_t r = order > 0 ? order : choose_order(all.hankel, all.n_hankel, tolerance);
  r = r < all.n ? r : all.n;
  result->bound = 0;

  // smallest first
  for (size_t i = all.n_hankel; i-- > r;) {
    result->bound += 2 * all.hankel[i];
  }
  result->system = perturb(w, balanced, r, is_singular);
  return YOKE_OK;
}

static yoke_status run(yoke_arena* w, yoke_synth_system G, size_t order, double tolerance,
                       yoke_synth_reduction* result, const yoke_sink* sink) {
  const size_t n = G.A.n_rows, m = G.D.n_columns, p = G.D.n_rows;
  double instability = 0;
  *result = (yoke_synth_reduction){0};
  if (!(G.A.a && G.B.a && G.C.a && G.D.a)) {
    return YOKE_NO_MEMORY;
  }
  if (!yoke__are_finite(n * n, G.A.a) || !yoke__are_finite(n * m, G.B.a) ||
      !yoke__are_finite(p * n, G.C.a) || !yoke__are_finite(p * m, G.D.a)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "a number of the element is NaN or infinite");
  }
  YOKE_TRY(yoke__system_instability(G, &instability));
  if (!(instability < 0)) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "only a stable element can be reduced: this one has a pole at %s %.6g",
        G.is_discrete ? "|z| =" : "Re =", G.is_discrete ? instability + 1 : instability);
  }
  if (n == 0) {
    result->system = yoke__system_copy(w, G);
    result->hankel = yoke__matrix_zero(w, 0, 1);
    return yoke__arena_status(w);
  }
  bool is_singular = false;
  const yoke_synth_system continuous =
      G.is_discrete ? yoke__system_bilinear(w, G, &is_singular) : G;
  YOKE_TRY(yoke__arena_status(w));
  if (!is_singular) {
    YOKE_TRY(reduce(w, continuous, order, tolerance, result, &is_singular));
  }
  if (!is_singular && G.is_discrete) {
    result->system = yoke__system_bilinear(w, result->system, &is_singular);
  }
  if (is_singular) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "the element cannot be reduced: a pole is too close to the boundary of stability");
  }
  return yoke__arena_status(w);
}

yoke_status yoke__synth_reduce(yoke_arena* w, yoke_synth_system G, size_t order, double tolerance,
                               yoke_synth_reduction* result, const yoke_sink* sink) {
  const yoke_status status = run(w, G, order, tolerance, result, sink);
  return status == YOKE_NO_MEMORY ? yoke_fail(sink, status, "%s", yoke_status_text(status))
                                  : status;
}
