// Gaussian elimination row by row with the largest entry of each reduced row as its pivot, so that
// rank is seen where it ends and rows given earlier win.
//
// Kept rows have the pivot 1 and no entry above 1 among the unknowns; the factor with which one is
// subtracted is then the size of what cancels, and a row whose rest is below TOLERANCE times the
// largest of them is dependent. Assumes columns scaled so that entries are of order 1.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "circuit/linear/circuit_linear.h"

#define TOLERANCE 1e-11  // rounding leaves about n * 1e-16

yoke_status yoke__elimination_create(size_t n, size_t n_columns, yoke_elimination* out) {
  *out = (yoke_elimination){.n = n, .n_columns = n_columns};
  if (n_columns > 0 && n > SIZE_MAX / sizeof(double) / n_columns) {
    return YOKE_NO_MEMORY;
  }
  out->rows = malloc((n * n_columns + 1) * sizeof *out->rows);
  out->pivots = malloc((n + 1) * sizeof *out->pivots);
  if (out->rows == NULL || out->pivots == NULL) {
    yoke__elimination_free(out);
    return YOKE_NO_MEMORY;
  }
  return YOKE_OK;
}

void yoke__elimination_free(yoke_elimination* self) {
  free(self->rows);
  free(self->pivots);
  *self = (yoke_elimination){0};
}

static size_t largest_of(const double row[], size_t n) {
  size_t at = 0;
  for (size_t j = 1; j < n; j++) {
    at = fabs(row[j]) > fabs(row[at]) ? j : at;
  }
  return at;
}

static void subtract(double to[], const double from[], double factor, size_t n) {
  for (size_t j = 0; j < n; j++) {
    to[j] -= factor * from[j];
  }
}

bool yoke__elimination_add(yoke_elimination* self, double row[]) {
  if (self->n == 0) {
    return false;
  }

  // largest entry among the unknowns becomes 1
  const double size = fabs(row[largest_of(row, self->n)]);
  double largest = 1.0;
  if (size > 0.0) {
    for (size_t j = 0; j < self->n_columns; j++) {
      row[j] /= size;
    }
  }

  // unknowns of the kept rows are taken out in their order
  for (size_t r = 0; r < self->n_rows; r++) {
    const double factor = row[self->pivots[r]];
    if (factor != 0.0) {
      subtract(row, self->rows + r * self->n_columns, factor, self->n_columns);
      row[self->pivots[r]] = 0.0;
      largest = fmax(largest, fabs(factor));
    }
  }

  // what is left, measured by the largest factor: that is how much has cancelled
  const size_t pivot = largest_of(row, self->n);
  if (!(fabs(row[pivot]) > TOLERANCE * largest) || self->n_rows == self->n) {
    memset(row, 0, self->n * sizeof *row);
    return false;
  }
  double* to = self->rows + self->n_rows * self->n_columns;

  // pivot 1: the factor of a later subtraction is the entry itself
  for (size_t j = 0; j < self->n_columns; j++) {
    to[j] = row[j] / row[pivot];
  }
  to[pivot] = 1.0;
  self->pivots[self->n_rows++] = pivot;
  return true;
}

void yoke__elimination_solve(yoke_elimination* self, double solution[]) {
  const size_t n_known = self->n_columns - self->n;
  // the last row holds its pivot alone; each row above loses the pivots below it
  for (size_t r = self->n_rows; r-- > 0;) {
    const double* known = self->rows + r * self->n_columns + self->n;
    for (size_t above = 0; above < r; above++) {
      double* row = self->rows + above * self->n_columns;
      const double factor = row[self->pivots[r]];
      if (factor != 0.0) {
        subtract(row + self->n, known, factor, n_known);
      }
    }
    double* to = solution + self->pivots[r] * n_known;
    for (size_t k = 0; k < n_known; k++) {
      // row: x_pivot + known = 0
      to[k] = -known[k];
    }
  }
}
