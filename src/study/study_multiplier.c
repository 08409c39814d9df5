// The largest multiplier of a motion; see study_multiplier.h.
#include "study/study_multiplier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_status.h"
#include "linalg/linalg_dense.h"

#define HEIGHT    64     // rows of H, about
#define WIDTH     120    // columns at most
#define ROUND_OFF 1e-15  // of a signal, relative to the largest value it has had
#define CLEAR     1e-9   // share of round-off in a column, at most
#define RANK_DROP 1e-9
// Differences of a large constant keep its round-off, up to CLEAR in a column: 100 times that.
#define RANK_DROP_DIFFERENCE 1e-7
#define FREE_WITHIN          1e-5  // a defective multiplier of 1 is seen this far off
#define LEAST_WINDOW         4

typedef struct window {
  size_t m, n;   // signals; rows left
  double* rows;  // n x m, scaled; differences if motions without force are left out
  double* size;  // n: largest of a row
  double*
      before;  // n: largest of the signals up to the row, where their differences are looked at; else 0
  size_t q, first, n_columns;
  double rank_drop;
} window;

// Signals on one scale; *size of each row.
static void scale_rows(window* w, const double rows[], size_t n, bool is_difference) {
  for (size_t j = 0; j < w->m; j++) {
    // each signal relative to its largest value, so that its unit does not weigh
    double largest = 0, so_far = 0;
    for (size_t k = 0; k < n; k++) {
      largest = fmax(largest, fabs(rows[k * w->m + j]));
    }
    for (size_t k = 0; k < w->n; k++) {
      const double now = rows[k * w->m + j], next = is_difference ? rows[(k + 1) * w->m + j] : 0;
      const double by = largest > 0 ? 1 / largest : 0;
      // a difference carries the round-off of its two values; so_far is the largest
      // value up to here, on the same scale
      so_far = is_difference ? fmax(so_far, fmax(fabs(now), fabs(next)) * by) : 0;
      w->before[k] = fmax(w->before[k], so_far);
      w->rows[k * w->m + j] = (is_difference ? next - now : now) * by;
      w->size[k] = fmax(w->size[k], fabs(w->rows[k * w->m + j]));
    }
  }
}

// The last columns in which motion stands above round-off.
static void choose_window(window* w) {
  size_t n_clear = 0;

  // size CLEAR >= before ROUND_OFF: round-off is at most the share CLEAR of a row;
  // motion that dies out ends the window
  while (n_clear < w->n && w->size[n_clear] > 0 &&
         w->size[n_clear] * CLEAR >= w->before[n_clear] * ROUND_OFF) {
    n_clear++;
  }
  w->q = HEIGHT / w->m > 1 ? HEIGHT / w->m : 2;

  // at least two columns per row of delays, or the rows tell nothing about the modes
  while (w->q > 1 && 3 * w->q > n_clear) {
    w->q--;
  }
  // a column ends with the row behind its q rows
  const size_t end = n_clear > w->q ? n_clear - w->q : 0;

  // from the end: fast modes have died out there, and the slowest one, which
  // has the largest |z|, stands alone
  w->first = end > WIDTH ? end - WIDTH : 0;
  w->n_columns = end - w->first;
}

static double column_size(const window* w, size_t k) {
  double sum = 0;
  for (size_t i = 0; i < w->q * w->m; i++) {
    const double x = w->rows[k * w->m + i];
    sum += x * x;
  }
  return sqrt(sum);
}

// H0 and H1, height x n_columns; each column of H0 has the length 1.
static void fill(const window* w, double H0[], double H1[]) {
  const size_t height = w->q * w->m;

  // columns of length 1 weigh alike, however far the motion has grown or died out; the
  // same factor in H1 keeps H1 = A H0
  for (size_t c = 0; c < w->n_columns; c++) {
    const double size = column_size(w, w->first + c), by = size > 0 ? 1 / size : 0;
    for (size_t i = 0; i < height; i++) {
      H0[i * w->n_columns + c] = by * w->rows[(w->first + c) * w->m + i];
      H1[i * w->n_columns + c] = by * w->rows[(w->first + c + 1) * w->m + i];
    }
  }
}

// A = U^T H1 V S^-1 (rank x rank), and what U A S V^T leaves of H1, relative. work: rank x n_columns.
static double reduce(size_t height, size_t width, size_t k, size_t rank, const double U[],
                     const double s[], const double V[], const double H1[], double A[],
                     double work[]) {
  // work = U^T H1
  for (size_t i = 0; i < rank; i++) {
    for (size_t c = 0; c < width; c++) {
      double sum = 0;
      for (size_t r = 0; r < height; r++) {
        sum += U[r * k + i] * H1[r * width + c];
      }
      work[i * width + c] = sum;
    }
  }

  // times V S^-1: the map of the modes in coordinates of U
  for (size_t i = 0; i < rank; i++) {
    for (size_t j = 0; j < rank; j++) {
      double sum = 0;
      for (size_t c = 0; c < width; c++) {
        sum += work[i * width + c] * V[c * k + j];
      }
      A[i * rank + j] = sum / s[j];
    }
  }
  double whole = 0, left = 0;

  // residual = |H1 - U A S V^T| / |H1| in the Frobenius norm
  for (size_t c = 0; c < width; c++) {
    for (size_t r = 0; r < height; r++) {
      double sum = H1[r * width + c];
      whole += sum * sum;
      for (size_t i = 0; i < rank; i++) {
        double told = 0;
        for (size_t j = 0; j < rank; j++) {
          told += A[i * rank + j] * s[j] * V[c * k + j];
        }
        sum -= U[r * k + i] * told;
      }
      left += sum * sum;
    }
  }
  return whole > 0 ? sqrt(left / whole) : 0;
}

static yoke_status find_radius(size_t rank, const double A[], size_t n_free, double* radius) {
  double* re = calloc(2 * rank + 1, sizeof *re);
  YOKE_TRY_MEMORY(re);
  double* im = re + rank;
  const yoke_status status = yoke__eigenvalues(rank, A, re, im);

  // multipliers of 1 are left out as often as there are free motions
  for (size_t i = 0; i < rank && status >= 0; i++) {
    if (n_free > 0 && hypot(re[i] - 1, im[i]) < FREE_WITHIN) {
      n_free--;
    } else {
      *radius = fmax(*radius, hypot(re[i], im[i]));
    }
  }
  free(re);
  return status;
}

// By the largest rows of the first and the last third.
static double find_growth(const window* w) {
  const size_t third = w->n / 3;
  double early = 0, late = 0;

  // largest values instead of single ones, since an oscillation passes through 0
  for (size_t k = 0; k < third; k++) {
    early = fmax(early, w->size[k]);
    late = fmax(late, w->size[w->n - third + k]);
  }

  // the thirds lie n - third rows apart: growth = (late / early)^(1 / (n - third))
  return early > 0 && third > 0 ? pow(late / early, 1 / (double)(w->n - third)) : 0;
}

// ---- singular values of a wide matrix

// The reflection that brings column j of T (width x height) to its row j, applied to the columns behind. T keeps the vector.
static void reflect(size_t width, size_t height, size_t j, double T[], double* diagonal) {
  double size = 0;

  // hypot instead of a sum of squares: no overflow
  for (size_t i = j; i < width; i++) {
    size = hypot(size, T[i * height + j]);
  }

  // the sign against that of x_j: x_j - diagonal does not cancel
  *diagonal = T[j * height + j] > 0 ? -size : size;
  if (size == 0) {
    return;
  }
  // v = x - diagonal e_j, scaled so that v^T v = 2
  const double scale = 1 / sqrt(size * (size + fabs(T[j * height + j])));
  T[j * height + j] -= *diagonal;
  for (size_t i = j; i < width; i++) {
    T[i * height + j] *= scale;
  }

  // I - v v^T, with v^T v = 2 a reflection
  for (size_t c = j + 1; c < height; c++) {
    double sum = 0;
    for (size_t i = j; i < width; i++) {
      sum += T[i * height + j] * T[i * height + c];
    }
    for (size_t i = j; i < width; i++) {
      T[i * height + c] -= sum * T[i * height + j];
    }
  }
}

// The column of T with the largest rest from row j on comes to j.
static void bring_largest(size_t width, size_t height, size_t j, double T[], size_t order[]) {
  size_t best = j;
  double largest = -1;
  for (size_t c = j; c < height; c++) {
    // pivoting: the diagonal falls in size, and small singular values come last
    double sum = 0;
    for (size_t i = j; i < width; i++) {
      sum += T[i * height + c] * T[i * height + c];
    }
    best = sum > largest ? c : best;
    largest = fmax(largest, sum);
  }
  for (size_t i = 0; i < width; i++) {
    const double swapped = T[i * height + j];
    T[i * height + j] = T[i * height + best];
    T[i * height + best] = swapped;
  }
  const size_t swapped = order[j];
  order[j] = order[best];
  order[best] = swapped;
}

// H = U S V^T of height <= width, by P H = R^T Q^T first: the triangle is smaller, and nearly diagonal already, so that the
// rotations of yoke__svd soon end. Takes memory.
static yoke_status svd_wide(size_t height, size_t width, const double H[], double U[], double s[],
                            double V[]) {
  const size_t square = height * height;
  double* T =
      calloc(width * height + 3 * square + height + yoke__svd_work_size(height, height), sizeof *T);
  size_t* order = calloc(height + 1, sizeof *order);
  yoke_status status = T == NULL || order == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  if (status >= 0) {
    double *L = T + width * height, *turned = L + square, *W = turned + square,
           *diagonal = W + square, *work = diagonal + height;
    // T = H^T, whose columns are the rows of H
    for (size_t i = 0; i < height; i++) {
      order[i] = i;
      for (size_t c = 0; c < width; c++) {
        T[c * height + i] = H[i * width + c];
      }
    }
    for (size_t j = 0; j < height; j++) {
      bring_largest(width, height, j, T, order);
      reflect(width, height, j, T, &diagonal[j]);
    }
    // L = R^T, lower triangular: the rows of P H in terms of Q
    for (size_t i = 0; i < height; i++) {
      for (size_t j = 0; j <= i; j++) {
        L[i * height + j] = i == j ? diagonal[j] : T[j * height + i];
      }
    }
    status = yoke__svd(height, height, L, turned, s, W, work);
    // rows of U back in order; V = Q W, the last reflection first
    memset(V, 0, width * height * sizeof *V);
    memcpy(V, W, square * sizeof *V);
    for (size_t i = 0; i < height; i++) {
      memcpy(U + order[i] * height, turned + i * height, height * sizeof *U);
    }
    for (size_t j = height; j-- > 0;) {
      for (size_t c = 0; c < height && diagonal[j] != 0; c++) {
        double sum = 0;
        for (size_t i = j; i < width; i++) {
          sum += T[i * height + j] * V[i * height + c];
        }
        for (size_t i = j; i < width; i++) {
          V[i * height + c] -= sum * T[i * height + j];
        }
      }
    }
  }
  free(T);
  free(order);
  return status;
}

static yoke_status decompose(const window* w, size_t n_free, double* room, yoke_multiplier* out) {
  const size_t height = w->q * w->m, width = w->n_columns, k = height < width ? height : width;
  double *H0 = room, *H1 = H0 + height * width, *U = H1 + height * width, *s = U + height * k,
         *V = s + k, *A = V + width * k, *work = A + k * k;
  fill(w, H0, H1);
  YOKE_TRY(height <= width ? svd_wide(height, width, H0, U, s, V)
                           : yoke__svd(height, width, H0, U, s, V, work));

  // singular values below rank_drop are noise: with them A would have modes that are not there
  while (out->rank < k && s[out->rank] > w->rank_drop * s[0]) {
    out->rank++;
  }
  out->is_full = out->rank == k;
  out->residual = reduce(height, width, k, out->rank, U, s, V, H1, A, work);

  // the eigenvalues of A are the multipliers
  return find_radius(out->rank, A, n_free, &out->radius);
}

static yoke_status look_at_rows(size_t m, size_t n, const double rows[], size_t n_free,
                                yoke_multiplier* out) {
  *out = (yoke_multiplier){0};
  const bool is_difference = n_free > 0;

  // differences of n rows are n - 1 rows
  window w = {.m = m,
              .n = is_difference && n > 0 ? n - 1 : n,
              .rank_drop = is_difference ? RANK_DROP_DIFFERENCE : RANK_DROP};
  if (m == 0 || w.n < LEAST_WINDOW) {
    return YOKE_BAD_ARG;
  }
  w.rows = calloc(w.n * (m + 2), sizeof *w.rows);
  YOKE_TRY_MEMORY(w.rows);
  w.size = w.rows + w.n * m;
  w.before = w.size + w.n;
  scale_rows(&w, rows, n, is_difference);
  choose_window(&w);
  out->growth = find_growth(&w);
  yoke_status status = YOKE_OK;
  if (w.n_columns > 0) {
    const size_t height = w.q * m, width = w.n_columns, k = height < width ? height : width;
    const size_t n_svd = yoke__svd_work_size(height, width);
    double* room = calloc(2 * height * width + (height + width) * k + k + k * k +
                              (n_svd > k * width ? n_svd : k * width),
                          sizeof *room);
    // one multiplier of 1 went with the differences
    status = room == NULL ? YOKE_NO_MEMORY : decompose(&w, n_free > 0 ? n_free - 1 : 0, room, out);
    free(room);
  }
  free(w.rows);
  return status;
}

yoke_status yoke__multiplier(size_t m, size_t n, const double rows[], size_t n_free,
                             yoke_multiplier* out) {
  YOKE_TRY(look_at_rows(m, n, rows, n_free, out));
  // beside a free motion all others may have died away before the last rows: then they show in the first ones
  while (n_free > 0 && out->rank > 0 && out->radius == 0 && n / 2 > LEAST_WINDOW) {
    n /= 2;
    YOKE_TRY(look_at_rows(m, n, rows, n_free, out));
  }
  return YOKE_OK;
}
