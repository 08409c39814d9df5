// Turns an element into the run-time form of synth_filter.h.
#include "synth/synth_filter.h"

#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_schur.h"

static yoke_status check(yoke_synth_system K, double h, const yoke_sink* sink) {
  double instability = 0;
  if (!(K.A.a && K.B.a && K.C.a && K.D.a)) {
    return YOKE_NO_MEMORY;
  }
  if (K.D.n_rows != 1 || K.D.n_columns != 1) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "expected an element with one input and one output, found %zu and %zu",
                     K.D.n_columns, K.D.n_rows);
  }
  if (K.A.n_rows > YOKE_SYNTH_ORDER_MAX) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "expected an element of order %d at most, found %zu: reduce it first",
                     YOKE_SYNTH_ORDER_MAX, K.A.n_rows);
  }
  if (!K.is_discrete && !(h > 0 && yoke__is_finite(h))) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "expected a step h above 0 [s], found %g", h);
  }
  YOKE_TRY(yoke__system_instability(K, &instability));
  if (!(instability < 0)) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT, "only a stable element can run: this one has a pole at %s %.6g",
        K.is_discrete ? "|z| =" : "Re =", K.is_discrete ? instability + 1 : instability);
  }
  return YOKE_OK;
}

// x = Z x~ with A = Z T Z'; the state at rest solves (I - T) x = B.
static yoke_status fill(yoke_arena* w, yoke_synth_system K, yoke_synth_filter* self) {
  const size_t n = K.A.n_rows;
  const yoke_matrix T = yoke__matrix_zero(w, n, n), Z = yoke__matrix_zero(w, n, n);
  YOKE_TRY(yoke__arena_status(w));

  // real Schur form: multiplying by T costs half of multiplying by A
  YOKE_TRY(yoke__schur(n, K.A.a, T.a, Z.a));
  const yoke_matrix B = yoke__matrix_mul(w, yoke__matrix_transpose(w, Z), K.B);
  const yoke_matrix C = yoke__matrix_mul(w, K.C, Z);
  bool is_singular = false;  // no: it is stable

  // state at rest for an input of 1: (I - T)^-1 B
  const yoke_matrix gap = yoke__matrix_add(w, yoke__matrix_identity(w, n, 1), T, -1);
  const yoke_matrix rest = yoke__matrix_solve(w, gap, B, &is_singular);
  YOKE_TRY(yoke__arena_status(w));
  if (is_singular) {
    return YOKE_SINGULAR;
  }
  self->n = n;
  self->D = K.D.a[0];
  for (size_t i = 0; i < n; i++) {
    // first nonzero of row i: one below the diagonal in the second row of a pair
    self->first[i] = i > 0 && T.a[i * n + i - 1] != 0 ? i - 1 : i;
    memcpy(self->A[i], T.a + i * n, n * sizeof(double));
    self->B[i] = B.a[i];
    self->C[i] = C.a[i];
    self->rest[i] = rest.a[i];
  }
  return YOKE_OK;
}

yoke_status yoke__synth_filter_init(yoke_synth_filter* self, yoke_synth_system K, double h,
                                    const yoke_sink* sink) {
  yoke_arena w = {0};
  bool is_singular = false;
  *self = (yoke_synth_filter){0};
  yoke_status status = check(K, h, sink);
  if (status < 0) {
    return status == YOKE_NO_MEMORY ? yoke_fail(sink, status, "%s", yoke_status_text(status))
                                    : status;
  }
  const yoke_synth_system discrete =
      K.is_discrete ? K : yoke__system_tustin(&w, yoke__system_balance(&w, K), h, &is_singular);
  status = is_singular ? YOKE_SINGULAR : yoke__arena_status(&w);
  if (status == YOKE_OK) {
    status = fill(&w, discrete, self);
  }
  yoke__arena_free(&w);
  if (status == YOKE_SINGULAR) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "the element has no form at the step h = %g s: a pole is too close to the boundary of "
        "stability",
        h);
  }
  return status < 0 ? yoke_fail(sink, status, "%s", yoke_status_text(status)) : status;
}

double complex yoke__synth_filter_response(const yoke_synth_filter* self, double complex z) {
  // (z I - A) x = B from the last row up; the two rows of a pair of poles together
  double complex x[YOKE_SYNTH_ORDER_MAX] = {0}, y = self->D;
  for (size_t i = self->n; i-- > 0;) {
    const size_t first = self->first[i];
    double complex r[2] = {self->B[first], self->B[i]};
    for (size_t k = i + 1; k < self->n; k++) {
      r[0] += self->A[first][k] * x[k];
      r[1] += self->A[i][k] * x[k];
    }
    if (first == i) {
      x[i] = r[1] / (z - self->A[i][i]);
    } else {
      // 2 x 2 block by Cramer's rule
      const double complex a = z - self->A[first][first], d = z - self->A[i][i];
      const double b = self->A[first][i], c = self->A[i][first];
      const double complex det = a * d - b * c;
      x[i] = (a * r[1] + c * r[0]) / det;
      x[first] = (d * r[0] + b * r[1]) / det;
      i = first;
    }
  }
  for (size_t i = 0; i < self->n; i++) {
    y += self->C[i] * x[i];
  }
  return y;
}

size_t yoke__synth_filter_cost(const yoke_synth_filter* self) {
  // multiplications per step: B and C, D, and the upper triangle
  size_t cost = 2 * self->n + 1;
  for (size_t i = 0; i < self->n; i++) {
    cost += self->n - self->first[i];
  }
  return cost;
}

void yoke__synth_filter_start(const yoke_synth_filter* self, double value,
                              yoke_synth_filter_state* state) {
  *state = (yoke_synth_filter_state){0};
  for (size_t i = 0; i < self->n; i++) {
    state->x[i] = self->rest[i] * value;
  }
}
