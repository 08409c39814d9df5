// The triangular factor of the data of MOESP, one sample after the other.
//
//   row k of the data   x_k = [u_k .. u_{k+r-1}, y_k .. y_{k+r-1}],  pairs (u, y) as the pairing says
//   factor              R := qr([sqrt(lambda) R; x_k]) by plane rotations, K = r (n + m) columns
//   scales              weight := lambda weight + 1, mean and sum of squares about it with the same weights (West 1979)
//
// With lambda = 1 that is the factor, and are the deviations, of the batch over the same samples.
// Source: D. H. D. West, Comm. ACM 22 (1979) 532-535, for the scales. Page: docs/identify.md, "MOESP".
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "identify/identify_moesp.h"

size_t yoke__moesp_factor_size(const yoke_moesp_setup* setup) {
  const size_t width = setup->n + setup->m, K = yoke__moesp_rows(setup) * width;
  return K > YOKE_MOESP_MAX_COLUMNS ? 0 : K * K + 2 * K + 2 * width;
}

void yoke__moesp_factor_prepare(yoke_moesp_factor* factor, const yoke_moesp_setup* setup,
                                double forgetting, double memory[]) {
  const size_t width = setup->n + setup->m, r = yoke__moesp_rows(setup), K = r * width;
  *factor = (yoke_moesp_factor){.n = setup->n,
                                .m = setup->m,
                                .n_rows = r,
                                .pairing = setup->pairing,
                                .root = sqrt(forgetting),
                                .forgetting = forgetting};
  factor->triangle = memory;
  factor->recent = memory + K * K;
  factor->row = factor->recent + K;
  factor->mean = factor->row + K;
  factor->squares = factor->mean + width;
  yoke__moesp_factor_reset(factor);
}

void yoke__moesp_factor_reset(yoke_moesp_factor* factor) {
  const size_t width = factor->n + factor->m, K = factor->n_rows * width;
  factor->n_recent = factor->n_added = 0;
  factor->weight = 0.0;
  memset(factor->triangle, 0, K * K * sizeof(double));
  memset(factor->mean, 0, width * sizeof(double));
  memset(factor->squares, 0, width * sizeof(double));
}

void yoke__moesp_factor_break(yoke_moesp_factor* factor) {
  factor->n_recent = 0;
}

// triangle := qr([root triangle; row]), row by row; the row is used up
static void rotate_in(size_t K, double root, double T[], double x[]) {
  for (size_t i = 0; i < K; i++) {
    double* t = T + i * K;
    // rotation that takes x_i to 0 against root t_ii
    const double a = root * t[i], b = x[i];
    const double length = hypot(a, b);
    const double c = length > 0.0 ? a / length : 1.0, sn = length > 0.0 ? b / length : 0.0;
    // elements before i of the row are 0 already
    for (size_t j = i; j < K; j++) {
      const double old = root * t[j];
      t[j] = c * old + sn * x[j];
      x[j] = c * x[j] - sn * old;
    }
  }
}

// A pair is complete: it counts for the scales, and with the r - 1 before it for the factor.
static void take_pair(yoke_moesp_factor* f, int64_t n_pairs) {
  const size_t n = f->n, m = f->m, width = n + m, r = f->n_rows;
  const double* pair = f->recent + (r - 1) * width;

  // weighted mean and sum of squares about it: m := m + d / w, s := lambda s + d d'
  f->weight = f->forgetting * f->weight + 1.0;
  for (size_t i = 0; i < width; i++) {
    const double d = pair[i] - f->mean[i];
    f->mean[i] += d / f->weight;
    f->squares[i] = f->forgetting * f->squares[i] + d * (pair[i] - f->mean[i]);
  }
  if (n_pairs < (int64_t)r) {
    return;
  }

  // [u_k .. u_(k+r-1), y_k .. y_(k+r-1)]
  for (size_t b = 0; b < r; b++) {
    memcpy(f->row + b * m, f->recent + b * width + n, m * sizeof(double));
    memcpy(f->row + r * m + b * n, f->recent + b * width, n * sizeof(double));
  }
  rotate_in(r * width, f->root, f->triangle, f->row);
  f->n_added++;
}

void yoke__moesp_factor_add(yoke_moesp_factor* factor, const double y[], const double u[]) {
  yoke_moesp_factor* f = factor;
  const size_t n = f->n, m = f->m, width = n + m, r = f->n_rows;
  if (!yoke__are_finite(n, y) || !yoke__are_finite(m, u)) {
    yoke__moesp_factor_reset(f);
    return;
  }
  const bool is_shifted = f->pairing == YOKE_MOESP_SHIFTED;
  double* newest = f->recent + (r - 1) * width;

  // shifted: the input completes the pair that the last output opened
  if (is_shifted && f->n_recent > 0) {
    memcpy(newest + n, u, m * sizeof *u);
    take_pair(f, f->n_recent);
  }

  // the window moves on by one pair
  memmove(f->recent, f->recent + width, (r - 1) * width * sizeof *y);
  memcpy(newest, y, n * sizeof *y);
  f->n_recent++;
  if (!is_shifted) {
    memcpy(newest + n, u, m * sizeof *u);
    take_pair(f, f->n_recent);
  }
}

void yoke__moesp_factor_copy(const yoke_moesp_factor* from, yoke_moesp_factor* to) {
  const size_t width = from->n + from->m, K = from->n_rows * width;
  to->n_recent = from->n_recent;
  to->n_added = from->n_added;
  to->weight = from->weight;
  memcpy(to->triangle, from->triangle, K * K * sizeof(double));
  memcpy(to->recent, from->recent, K * sizeof(double));
  memcpy(to->mean, from->mean, width * sizeof(double));
  memcpy(to->squares, from->squares, width * sizeof(double));
}
