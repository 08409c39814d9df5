// H-infinity norm by level sets (Boyd-Balakrishnan, Bruinsma-Steinbuch).
//
// A singular value of G(lambda) is gamma on the axis (the circle) exactly where lambda is an eigenvalue there of the pencil M - lambda N
// in the variables x, q, u, y,
//
//   lambda x = A x + B u       continuous: -lambda q = A'q + C'y         0 = C x + D u - gamma y
//                              discrete:   q = lambda (A'q + C'y)        0 = B'q + D'y - gamma u
//
// These frequencies bound the intervals in which the largest gain is above gamma. gamma is raised to the largest gain at the
// middles of the intervals until no frequency is left: convergence is quadratic. Eigenvalues carry rounding errors, so that those
// near the axis count too: each only names a frequency, and the gain there is computed.
//
// Sources: S. Boyd, V. Balakrishnan, Syst. Control Lett. 15 (1990) 1-7; N. Bruinsma, M. Steinbuch, Syst. Control Lett. 14 (1990)
// 287-293.
#include "synth/synth_norm.h"

#include <math.h>

#include "base/base_check.h"
#include "linalg/linalg_schur.h"

#define PI        3.14159265358979323846
#define MAX_STEPS 60
// distance of a pole from the axis (|A| = 1) or the circle that is rounding
#define ON_BOUNDARY 1e-15
// An eigenvalue this near to the axis or circle, relative to its size, names a frequency. Wide: where the gain is nearly flat, as that
// of an optimal loop, the crossings of a level are double eigenvalues, which rounding moves far.
#define NEAR 1e-2

typedef struct search {
  yoke_arena* w;
  yoke_synth_system G;
  yoke_matrix M, N;  // with gamma = 0
  double *re, *im, *beta, *frequencies;
  size_t n_frequencies;
  yoke_synth_norm best;
} search;

static void try_frequency(search* s, double w) {
  double gain = yoke__system_gain_at(s->w, s->G, w);
  if (isnan(gain)) {
    gain = (double)INFINITY;  // a pole
  }
  if (gain > s->best.norm) {
    s->best.norm = gain;
    s->best.frequency = w;
  }
}

// The frequencies where peaks are likely: the ends, and those of the poles.
static yoke_status try_poles(search* s, yoke_arena* w) {
  const size_t n = s->G.A.n_rows;
  double* parts = yoke__arena_array(w, 2 * n + 1, sizeof *parts);
  YOKE_TRY_MEMORY(parts);
  YOKE_TRY(yoke__system_poles(s->G, parts, parts + n));
  try_frequency(s, 0);
  try_frequency(s, s->G.is_discrete ? PI : (double)INFINITY);

  // peaks lie near the frequencies of light poles: |p| or Im p in continuous time
  for (size_t i = 0; i < n; i++) {
    const double re = parts[i], im = parts[n + i];
    const double turn = s->G.is_discrete ? atan2(im, re) : im;
    // a pole on the boundary: infinite norm
    if (fabs(s->G.is_discrete ? hypot(re, im) - 1 : re) <= ON_BOUNDARY) {
      s->best = (yoke_synth_norm){.norm = (double)INFINITY, .frequency = fabs(turn)};
      return YOKE_OK;
    }
    if (im >= 0) {
      try_frequency(s, turn);
      try_frequency(s, s->G.is_discrete ? turn : hypot(re, im));
    }
  }
  return YOKE_OK;
}

// The pencil with gamma = 0; rows and columns x, q, u, y.
static void build(search* s, yoke_arena* w) {
  const yoke_synth_system* G = &s->G;
  const size_t n = G->A.n_rows, m = G->D.n_columns, p = G->D.n_rows;
  const yoke_matrix O = yoke__matrix_zero(w, n, n), one = yoke__matrix_identity(w, n, 1);
  const yoke_matrix A_t = yoke__matrix_transpose(w, G->A), B_t = yoke__matrix_transpose(w, G->B);
  const yoke_matrix C_t = yoke__matrix_transpose(w, G->C), D_t = yoke__matrix_transpose(w, G->D);
  const yoke_matrix nm = yoke__matrix_zero(w, n, m), np = yoke__matrix_zero(w, n, p);
  const yoke_matrix states = yoke__matrix_blocks(w, G->A, O, O, G->is_discrete ? one : A_t);
  const yoke_matrix inputs = yoke__matrix_blocks(w, G->B, np, nm, G->is_discrete ? np : C_t);
  const yoke_matrix outputs =
      yoke__matrix_blocks(w, G->C, yoke__matrix_zero(w, p, n), yoke__matrix_zero(w, m, n), B_t);
  const yoke_matrix direct =
      yoke__matrix_blocks(w, G->D, yoke__matrix_zero(w, p, p), yoke__matrix_zero(w, m, m), D_t);
  s->M = yoke__matrix_blocks(w, states, inputs, outputs, direct);

  // N = [I 0; 0 -I] or [I 0; 0 A'] for the states
  const yoke_matrix left =
      yoke__matrix_blocks(w, one, O, O, G->is_discrete ? A_t : yoke__matrix_identity(w, n, -1));
  const yoke_matrix right = yoke__matrix_blocks(w, nm, np, nm, G->is_discrete ? C_t : np);
  s->N = yoke__matrix_blocks(w, left, right, yoke__matrix_zero(w, m + p, 2 * n),
                             yoke__matrix_zero(w, m + p, m + p));
}

// M with this gamma.
static yoke_matrix at_level(const search* s, yoke_arena* w, double gamma) {
  const size_t n = 2 * s->G.A.n_rows, m = s->G.D.n_columns, p = s->G.D.n_rows;
  const yoke_matrix M = yoke__matrix_copy(w, s->M);

  // C x + D u - gamma y, B'q + D'y - gamma u
  for (size_t i = 0; M.a != NULL && i < p; i++) {
    M.a[(n + i) * M.n_columns + n + m + i] = -gamma;
  }
  for (size_t i = 0; M.a != NULL && i < m; i++) {
    M.a[(n + p + i) * M.n_columns + n + i] = -gamma;
  }
  return M;
}

static void insert(search* s, double w) {
  size_t i = s->n_frequencies++;
  for (; i > 0 && s->frequencies[i - 1] > w; i--) {
    s->frequencies[i] = s->frequencies[i - 1];
  }
  s->frequencies[i] = w;
}

// The frequencies at which a gain is gamma, ascending, 0 or more.
static yoke_status find_level(search* s, double gamma) {
  yoke_arena w = {0};
  const size_t n = s->M.n_rows;
  const yoke_matrix M = at_level(s, &w, gamma);
  yoke_status status = yoke__arena_status(&w);
  if (status == YOKE_OK) {
    status = yoke__pencil_eigenvalues(n, M.a, s->N.a, s->re, s->im, s->beta);
  }
  yoke__arena_free(&w);
  YOKE_TRY(status);
  s->n_frequencies = 0;
  for (size_t i = 0; i < n; i++) {
    // lambda = (re + j im) / beta
    const double size = hypot(s->re[i], s->im[i]);
    if (!(s->beta[i] > 1e-14 * size) || s->im[i] < 0) {
      continue;  // at infinity, or the other one of a pair
    }
    // distance from the axis or the circle, relative to the size
    const double off = s->G.is_discrete ? fabs(size - s->beta[i]) : fabs(s->re[i]);
    if (off <= NEAR * size) {
      insert(s, s->G.is_discrete ? atan2(s->im[i], s->re[i]) : s->im[i] / s->beta[i]);
    }
  }
  return YOKE_OK;
}

static yoke_status raise_level(search* s, double tolerance) {
  for (size_t step = 0; step < MAX_STEPS; step++) {
    const double level = s->best.norm;
    s->best.n_steps = step + 1;
    // above the level by the tolerance: when no gain reaches it, the norm is known to the tolerance
    YOKE_TRY(find_level(s, level * (1 + tolerance)));
    for (size_t i = 0; i < s->n_frequencies; i++) {
      try_frequency(s, s->frequencies[i]);
      // between two crossings the gain is above or below the level throughout
      if (i + 1 < s->n_frequencies) {
        try_frequency(s, (s->frequencies[i] + s->frequencies[i + 1]) / 2);
      }
    }
    YOKE_TRY(yoke__arena_status(s->w));
    if (!(s->best.norm > level * (1 + tolerance)) || isinf(s->best.norm)) {
      return YOKE_OK;
    }
  }
  return YOKE_NO_CONVERGENCE;
}

static yoke_status run(search* s, yoke_arena* w, double tolerance) {
  YOKE_TRY(try_poles(s, w));
  YOKE_TRY(yoke__arena_status(w));
  build(s, w);
  const size_t n = s->M.n_rows;
  double* room = yoke__arena_array(w, 4 * n + 1, sizeof *room);
  YOKE_TRY(yoke__arena_status(w));
  s->re = room;
  s->im = s->re + n;
  s->beta = s->im + n;
  s->frequencies = s->beta + n;
  // a gain of exactly 0 at all these frequencies is that of a system that passes nothing
  if (isinf(s->best.norm) || s->best.norm == 0 || s->G.A.n_rows == 0) {
    return YOKE_OK;
  }
  return raise_level(s, tolerance);
}

yoke_status yoke__synth_norm(yoke_synth_system G, double tolerance, yoke_synth_norm* result) {
  yoke_arena w = {0};
  *result = (yoke_synth_norm){0};
  if (!(G.A.a && G.B.a && G.C.a && G.D.a)) {
    return YOKE_NO_MEMORY;
  }
  const size_t n = G.A.n_rows, m = G.D.n_columns, p = G.D.n_rows;
  if (!yoke__are_finite(n * n, G.A.a) || !yoke__are_finite(n * m, G.B.a) ||
      !yoke__are_finite(p * n, G.C.a) || !yoke__are_finite(p * m, G.D.a)) {
    return YOKE_BAD_ARG;
  }
  if (m == 0 || p == 0) {
    return YOKE_OK;
  }

  // time in the unit of the fastest pole: LAPACK sees no extreme numbers
  double unit = 1;
  if (!G.is_discrete && n > 0) {
    const double size = yoke__matrix_norm(&w, G.A);
    unit = size > 0 ? size : 1;
    G = yoke__system_rescale_time(&w, G, unit);
  }
  search s = {.w = &w, .G = yoke__system_balance(&w, G)};
  yoke_status status = yoke__arena_status(&w);
  if (status == YOKE_OK) {
    status = run(&s, &w, tolerance);
  }
  *result = s.best;
  result->frequency *= unit;
  yoke__arena_free(&w);
  return status;
}
