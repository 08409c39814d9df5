// Rows that change beside constant ones (circuit_border.h). V H V^T + Dv is symmetric and positive
// definite, as H projects: it is factored without pivots.
#include "circuit/equations/circuit_border.h"

#include <string.h>

#include "base/base_check.h"

#define MAX_ROWS    8
#define MAX_TOUCHED 32
// vectors are padded to blocks of this many, which compilers turn into vector instructions
#define BLOCK     4U
#define BLOCKS(n) (((n) + BLOCK - 1) / BLOCK * BLOCK)

typedef struct place {
  uint32_t entry;    // of Ahat
  uint32_t touched;  // its unknown, as an index into `touched`
} place;

struct yoke_border {
  uint32_t n, n_rows, n_touched;
  uint32_t stride;  // of columns: n, padded
  uint32_t rows[MAX_ROWS], starts[MAX_ROWS + 1];
  uint32_t touched[MAX_TOUCHED];            // unknowns, ascending
  place* places;                            // row by row
  double* columns;                          // of H, n_touched of `stride`
  double among[MAX_TOUCHED * MAX_TOUCHED];  // H at the touched unknowns
  double scale[MAX_ROWS];
  double* sum;  // H V^T mu, `stride`
};

static bool is_varying(const yoke_sparse_pattern* p, int32_t entry) {
  return p->varying == NULL || p->varying[entry] != 0;
}

static uint32_t row_index(const yoke_border* self, uint32_t row) {
  uint32_t v = 0;
  while (v < self->n_rows && self->rows[v] != row) {
    v++;
  }
  return v;
}

bool yoke__border_has_row(const yoke_border* self, uint32_t row) {
  return row_index(self, row) < self->n_rows;
}

// false: too many rows
static bool find_rows(yoke_border* self, const yoke_sparse_pattern* p) {
  // rows of Ahat with an entry that varies
  for (int32_t k = 0; k < p->starts[p->n]; k++) {
    if (!is_varying(p, k) || yoke__border_has_row(self, (uint32_t)p->rows[k])) {
      continue;
    }
    if (self->n_rows == MAX_ROWS) {
      return false;
    }
    self->rows[self->n_rows++] = (uint32_t)p->rows[k];
  }
  return self->n_rows > 0;
}

// Unknowns in these rows, constant entries too, and how many entries each row has. false: too many
static bool find_touched(yoke_border* self, const yoke_sparse_pattern* p) {
  for (int32_t j = 0; j < p->n; j++) {
    bool is_touched = false;
    // columns with an entry in one of these rows
    for (int32_t k = p->starts[j]; k < p->starts[j + 1]; k++) {
      const uint32_t v = row_index(self, (uint32_t)p->rows[k]);
      if (v < self->n_rows) {
        self->starts[v + 1]++;
        is_touched = true;
      }
    }
    if (is_touched && self->n_touched == MAX_TOUCHED) {
      return false;
    }
    if (is_touched) {
      self->touched[self->n_touched++] = (uint32_t)j;
    }
  }
  return true;
}

static void fill_places(yoke_border* self, const yoke_sparse_pattern* p) {
  // starts by summing up; columns ascending within a row
  for (uint32_t v = 0; v < self->n_rows; v++) {
    self->starts[v + 1] += self->starts[v];
  }
  uint32_t at[MAX_ROWS];
  memcpy(at, self->starts, sizeof at);
  for (uint32_t t = 0; t < self->n_touched; t++) {
    const uint32_t j = self->touched[t];
    for (int32_t k = p->starts[j]; k < p->starts[j + 1]; k++) {
      const uint32_t v = row_index(self, (uint32_t)p->rows[k]);
      if (v < self->n_rows) {
        self->places[at[v]++] = (place){(uint32_t)k, t};
      }
    }
  }
}

yoke_status yoke__border_create(const yoke_sparse_pattern* ahat, yoke_arena* arena,
                                yoke_border** out) {
  yoke_border found = {.n = (uint32_t)ahat->n};
  *out = NULL;
  if (!find_rows(&found, ahat) || !find_touched(&found, ahat)) {
    return YOKE_OK;
  }
  size_t n_places = 0;
  for (uint32_t v = 0; v < found.n_rows; v++) {
    n_places += found.starts[v + 1];
  }
  yoke_border* self = yoke__arena_take(arena, sizeof *self);
  found.places = yoke__arena_array(arena, n_places, sizeof *found.places);
  found.stride = BLOCKS(found.n);
  found.columns = yoke__arena_array(arena, (size_t)found.n_touched * found.stride, sizeof(double));
  found.sum = yoke__arena_array(arena, found.stride, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  fill_places(&found, ahat);
  *self = found;
  *out = self;
  return YOKE_OK;
}

void yoke__border_learn(yoke_border* self, yoke_sparse* constant, const double scale[],
                        double work[]) {
  const size_t n = self->n;

  // columns of H at the touched unknowns: H e_t, once
  for (uint32_t t = 0; t < self->n_touched; t++) {
    memset(work, 0, 2 * n * sizeof(double));
    work[self->touched[t]] = 1.0;
    yoke__sparse_solve(constant, 0, work);
    memcpy(self->columns + (size_t)t * self->stride, work, n * sizeof(double));
    for (uint32_t s = 0; s < self->n_touched; s++) {
      self->among[t * MAX_TOUCHED + s] = work[self->touched[s]];
    }
  }
  for (uint32_t v = 0; v < self->n_rows; v++) {
    self->scale[v] = scale[self->rows[v]];
  }
}

void yoke__border_clear(const yoke_border* self, double values[]) {
  for (uint32_t v = 0; v < self->n_rows; v++) {
    values[self->rows[v]] = 0.0;
  }
}

// y += a x, n padded
static void add_scaled(uint32_t n, double a, const double* restrict x, double* restrict y) {
  for (uint32_t i = 0; i < n; i += BLOCK, x += BLOCK, y += BLOCK) {
    y[0] += a * x[0];
    y[1] += a * x[1];
    y[2] += a * x[2];
    y[3] += a * x[3];
  }
}

// S := V H V^T + Dv, its lower half
static void make_small(const yoke_border* self, const double ahat[],
                       double small[MAX_ROWS][MAX_ROWS]) {
  const uint32_t n_padded = BLOCKS(self->n_touched);
  double row[MAX_TOUCHED];  // of V H
  for (uint32_t v = 0; v < self->n_rows; v++) {
    // row v of V H, gathered from H at the touched unknowns
    memset(row, 0, n_padded * sizeof(double));
    for (uint32_t k = self->starts[v]; k < self->starts[v + 1]; k++) {
      add_scaled(n_padded, ahat[self->places[k].entry],
                 self->among + (size_t)self->places[k].touched * MAX_TOUCHED, row);
    }
    // S_vu = (V H) V^T + Dv on the diagonal
    for (uint32_t u = 0; u <= v; u++) {
      double sum = u == v ? self->scale[v] : 0.0;
      for (uint32_t k = self->starts[u]; k < self->starts[u + 1]; k++) {
        sum += row[self->places[k].touched] * ahat[self->places[k].entry];
      }
      small[v][u] = sum;
    }
  }
}

// w := S \ w by S = L D L^T; false if a pivot is not positive
static bool solve_small(uint32_t n, double small[MAX_ROWS][MAX_ROWS], double w[]) {
  // S = L D L^T, w := L^-1 w alongside
  for (uint32_t j = 0; j < n; j++) {
    if (!(small[j][j] > 0.0)) {
      return false;
    }
    const double inverse = 1.0 / small[j][j];
    for (uint32_t i = j + 1; i < n; i++) {
      const double l = small[i][j] * inverse;
      for (uint32_t k = j + 1; k <= i; k++) {
        small[i][k] -= l * small[k][j];
      }
      w[i] -= l * w[j];
    }
    // of the column, only what the way back needs
    for (uint32_t i = j + 1; i < n; i++) {
      small[i][j] *= inverse;
    }
    small[j][j] = inverse;
  }

  // w := L^-T D^-1 w
  for (uint32_t j = n; j-- > 0;) {
    w[j] *= small[j][j];
    for (uint32_t i = j + 1; i < n; i++) {
      w[j] -= small[i][j] * w[i];
    }
  }
  return true;
}

yoke_status yoke__border_apply(yoke_border* self, const double ahat[], const double bhat[],
                               double y[]) {
  double small[MAX_ROWS][MAX_ROWS];
  double mu[MAX_ROWS];
  make_small(self, ahat, small);

  // mu = S^-1 (V y + b_v)
  for (uint32_t v = 0; v < self->n_rows; v++) {
    mu[v] = bhat[self->rows[v]];
    for (uint32_t k = self->starts[v]; k < self->starts[v + 1]; k++) {
      mu[v] += ahat[self->places[k].entry] * y[self->touched[self->places[k].touched]];
    }
  }
  if (!solve_small(self->n_rows, small, mu)) {
    return YOKE_SINGULAR;
  }

  // y := y - H V^T mu
  double pull[MAX_TOUCHED] = {0};  // V^T mu
  double sum = 0.0;
  for (uint32_t v = 0; v < self->n_rows; v++) {
    for (uint32_t k = self->starts[v]; k < self->starts[v + 1]; k++) {
      pull[self->places[k].touched] += ahat[self->places[k].entry] * mu[v];
    }
    sum += mu[v];
  }
  if (!yoke__is_finite(sum)) {
    return YOKE_SINGULAR;
  }
  memset(self->sum, 0, self->stride * sizeof(double));
  for (uint32_t t = 0; t < self->n_touched; t++) {
    add_scaled(self->stride, pull[t], self->columns + (size_t)t * self->stride, self->sum);
  }
  for (uint32_t i = 0; i < self->n; i++) {
    y[i] -= self->sum[i];
  }
  return YOKE_OK;
}
